#include "src/base/json_internal.h"

/*
 * Pieces are cut off a block one behind the other; a block whose pieces are all back is used anew
 * from its start. Trees are short-lived, so that is soon. One block is kept, the others go back.
 */
enum { BLOCK = 64 << 10, LARGEST = 4 << 10 };

struct block {
	size_t used, pieces;
	_Alignas(max_align_t) char data[BLOCK];
};

/* In front of each piece: where it came from; NULL: it is one of malloc()'s. */
struct piece {
	_Alignas(max_align_t) struct block *from;
};

static struct block *current;

static void *large(size_t n)
{
	struct piece *p = malloc(sizeof(*p) + n);

	if (!p)
		return NULL;
	p->from = NULL;
	return p + 1;
}

static struct block *block_with(size_t need)
{
	struct block *b = current;

	if (b && BLOCK - b->used >= need)
		return b;
	b = malloc(sizeof(*b));
	if (!b)
		return NULL;
	b->used = b->pieces = 0;
	current = b;
	return b;
}

void *pool_alloc(size_t n)
{
	size_t need = (sizeof(struct piece) + n + 15) & ~(size_t)15;
	struct block *b;
	struct piece *p;

	if (n > LARGEST)
		return large(n);
	b = block_with(need);
	if (!b)
		return NULL;
	p = (struct piece *)(void *)(b->data + b->used);
	p->from = b;
	b->used += need;
	b->pieces++;
	return p + 1;
}

void pool_free(void *memory)
{
	struct piece *p = memory;
	struct block *b;

	if (!p)
		return;
	p--;
	b = p->from;
	if (!b) {
		free(p);
	} else if (--b->pieces == 0) {
		b->used = 0;
		if (b != current)
			free(b);
	}
}
