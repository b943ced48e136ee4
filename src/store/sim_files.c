#include "src/store/sim_internal.h"

enum { BLOCK = 512 };

void sim_put_down(struct sim_media *m, size_t file)
{
	struct sim_file *f = &m->files[file];

	if (f->links || f->opens)
		return;
	sim_bytes_drop(&f->now);
	sim_bytes_drop(&f->kept);
}

void sim_unlink_file(struct sim_media *m, size_t file)
{
	if (file == SIM_NO_FILE)
		return;
	m->files[file].links--;
	sim_put_down(m, file);
}

void sim_link_file(struct sim_media *m, size_t file)
{
	if (file != SIM_NO_FILE)
		m->files[file].links++;
}

size_t sim_new_file(struct sim_media *m)
{
	for (size_t i = 0; i < m->n_files; i++) {
		if (m->files[i].links || m->files[i].opens)
			continue;
		m->files[i] = (struct sim_file){0};
		return i;
	}
	m->files = sim_grow(m->files, m->n_files, &m->cap_files, sizeof(*m->files));
	m->files[m->n_files] = (struct sim_file){0};
	return m->n_files++;
}

void sim_media_open(struct sim_media *m, size_t file)
{
	m->files[file].opens++;
}

void sim_media_close(struct sim_media *m, size_t file)
{
	m->files[file].opens--;
	sim_put_down(m, file);
}

void sim_media_append(struct sim_media *m, size_t file, struct str text)
{
	sim_bytes_append(&m->files[file].now, text);
}

void sim_media_cut(struct sim_media *m, size_t file, size_t n)
{
	struct sim_file *f = &m->files[file];

	sim_bytes_cut(&f->now, n);
	f->same = n < f->same ? n : f->same;
	f->unsafe_to = n < f->unsafe_to ? n : f->unsafe_to;
	f->unsafe = f->unsafe < f->unsafe_to ? f->unsafe : f->unsafe_to;
}

void sim_media_sync(struct sim_media *m, size_t file)
{
	struct sim_file *f = &m->files[file];

	sim_bytes_drop(&f->kept);
	f->kept = sim_bytes_share(&f->now);
	f->same = f->now.n;
}

void sim_media_sync_failed(struct sim_media *m, size_t file)
{
	struct sim_file *f = &m->files[file];

	if (f->same == f->now.n)
		return;
	if (f->unsafe == f->unsafe_to)
		f->unsafe = f->same;
	f->unsafe_to = f->now.n;
}

/* Some of the blocks from `from` to `to` never reached the disk. */
static void lose_blocks(struct sim_media *m, struct sim_bytes *b, size_t from, size_t to)
{
	to = to < b->n ? to : b->n;
	for (size_t at = from; at < to;) {
		size_t end = (at / BLOCK + 1) * BLOCK;

		end = end < to ? end : to;
		if (sim_media_random(m, 2))
			memset(sim_bytes_own(b) + at, 0, end - at);
		at = end;
	}
}

void sim_lose_bytes(struct sim_media *m, struct sim_file *f)
{
	size_t choice = f->same == f->now.n && f->same == f->kept.n ? 1 : sim_media_random(m, 4);

	if (choice == 0) {
		sim_bytes_drop(&f->now);
		f->now = sim_bytes_share(&f->kept);
	}
	if (choice >= 2)
		sim_bytes_cut(&f->now, f->same + sim_media_random(m, f->now.n - f->same + 1));
	if (choice == 3)
		lose_blocks(m, &f->now, f->same, f->now.n);
	if (f->unsafe < f->unsafe_to)
		lose_blocks(m, &f->now, f->unsafe, f->unsafe_to);
	f->unsafe = f->unsafe_to = 0;
}
