#include "src/store/sim_internal.h"

void sim_media_copy(struct sim_media *to, const struct sim_media *from)
{
	*to = (struct sim_media){.random = from->random,
		.unordered = from->unordered,
		.n_files = from->n_files,
		.cap_files = from->n_files};
	to->files = xmalloc(to->n_files * sizeof(*to->files));
	for (size_t i = 0; i < to->n_files; i++) {
		const struct sim_file *f = &from->files[i];

		to->files[i] = (struct sim_file){
			.same = f->same, .unsafe = f->unsafe, .unsafe_to = f->unsafe_to};
		if (!f->links)
			continue;
		to->files[i].now = sim_bytes_share(&f->now);
		to->files[i].kept = sim_bytes_share(&f->kept);
	}
	sim_table_copy(to, &to->now, &from->now);
	sim_table_copy(to, &to->kept, &from->kept);
	sim_table_copy(to, &to->folders, &from->folders);
	sim_copy_changes(to, from);
}

void sim_media_release(struct sim_media *m)
{
	sim_clear_changes(m);
	sim_table_clear(m, &m->now);
	sim_table_clear(m, &m->kept);
	sim_table_clear(m, &m->folders);
	for (size_t i = 0; i < m->n_files; i++) {
		sim_bytes_drop(&m->files[i].now);
		sim_bytes_drop(&m->files[i].kept);
	}
	free(m->now.v);
	free(m->kept.v);
	free(m->folders.v);
	free(m->changes);
	free(m->files);
	*m = (struct sim_media){0};
}

/* splitmix64 */
size_t sim_media_random(struct sim_media *m, size_t n)
{
	uint64_t z = m->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % n;
}

void sim_media_restart(struct sim_media *m, bool power)
{
	for (size_t i = 0; i < m->n_files; i++) {
		m->files[i].opens = 0;
		sim_put_down(m, i);
	}
	if (!power)
		return;
	if (m->n_changes)
		sim_lose_names(m);
	for (size_t i = 0; i < m->n_files; i++) {
		if (!m->files[i].links)
			continue;
		sim_lose_bytes(m, &m->files[i]);
		sim_media_sync(m, i);
	}
}
