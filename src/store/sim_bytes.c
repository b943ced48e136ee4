#include "src/store/sim_bytes.h"

/* Each who shares it sees the first so many bytes, `used` at most. */
struct sim_blob {
	size_t refs, used, cap;
	char data[];
};

struct str sim_bytes_str(const struct sim_bytes *b)
{
	return (struct str){b->n ? b->blob->data : "", b->n};
}

struct sim_bytes sim_bytes_share(const struct sim_bytes *b)
{
	if (b->blob)
		b->blob->refs++;
	return *b;
}

void sim_bytes_drop(struct sim_bytes *b)
{
	if (b->blob && --b->blob->refs == 0)
		free(b->blob);
	*b = (struct sim_bytes){0};
}

/* A file that is written once gets what it needs; one that grows gets room to. */
static void move(struct sim_bytes *b, size_t cap)
{
	struct sim_blob *blob = xmalloc(sizeof(*blob) + cap);
	size_t n = b->n;

	*blob = (struct sim_blob){.refs = 1, .used = n, .cap = cap};
	if (n)
		memcpy(blob->data, b->blob->data, n);
	sim_bytes_drop(b);
	*b = (struct sim_bytes){blob, n};
}

static char *room(struct sim_bytes *b, size_t more)
{
	size_t need = b->n + more;

	if (!b->blob || b->blob->cap < need || (b->blob->used != b->n && b->blob->refs > 1))
		move(b, b->n ? 2 * need : need);
	b->n = b->blob->used = need;
	return b->blob->data + need - more;
}

void sim_bytes_append(struct sim_bytes *b, struct str text)
{
	if (text.n)
		memcpy(room(b, text.n), text.p, text.n);
}

void sim_bytes_cut(struct sim_bytes *b, size_t n)
{
	if (n > b->n)
		memset(room(b, n - b->n), 0, n - b->n);
	b->n = n;
}

char *sim_bytes_own(struct sim_bytes *b)
{
	if (!b->blob || b->blob->refs > 1)
		move(b, b->n);
	return b->blob->data;
}
