#include "src/workflow/layout.h"
#include "tests/lib/unit.h"

enum { NODES = 12, EDGES = 20 };

struct rect {
	int x, y, w, h; /* x, y: top left */
};

static struct lay_node nodes[NODES];
static struct lay_edge edges[EDGES];
static struct layout drawing = {.nodes = nodes, .edges = edges};

static unsigned next(unsigned *seed, unsigned below)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % below;
}

/* A graph made from `seed`: every shape of box, label and edge, circles and edges to itself. */
static void make(struct arena *a, unsigned seed)
{
	drawing.n_nodes = 2 + next(&seed, NODES - 1);
	drawing.n_edges = 1 + next(&seed, EDGES);
	for (size_t i = 0; i < drawing.n_nodes; i++)
		nodes[i] = (struct lay_node){
			.w = 100 + 2 * (int)next(&seed, 60), .h = 30 + (int)next(&seed, 20)};
	for (size_t i = 0; i < drawing.n_edges; i++)
		edges[i] = (struct lay_edge){.from = next(&seed, (unsigned)drawing.n_nodes),
			.to = next(&seed, (unsigned)drawing.n_nodes),
			.w = 10 + (int)next(&seed, 120),
			.h = 16 * (1 + (int)next(&seed, 2))};
	assert_true(layout_run(a, &drawing));
}

static struct rect box(size_t i)
{
	return (struct rect){nodes[i].x - nodes[i].w / 2, nodes[i].y, nodes[i].w, nodes[i].h};
}

static struct rect label(size_t i)
{
	return (struct rect){edges[i].label.x - edges[i].w / 2, edges[i].label.y - edges[i].h / 2,
		edges[i].w, edges[i].h};
}

static bool apart(struct rect a, struct rect b)
{
	return a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
}

TEST(boxes_and_labels_never_overlap)
{
	for (unsigned seed = 1; seed <= 300; seed++) {
		struct arena a = {0};
		struct rect all[NODES + EDGES];
		size_t n = 0;

		make(&a, seed);
		for (size_t i = 0; i < drawing.n_nodes; i++)
			all[n++] = box(i);
		for (size_t i = 0; i < drawing.n_edges; i++)
			if (edges[i].from != edges[i].to)
				all[n++] = label(i);
		for (size_t i = 0; i < n; i++) {
			assert_true(all[i].x >= 0 && all[i].x + all[i].w <= drawing.width);
			assert_true(all[i].y >= 0 && all[i].y + all[i].h <= drawing.height);
			for (size_t k = i + 1; k < n; k++)
				assert_true(apart(all[i], all[k]));
		}
		arena_release(&a);
	}
}

/* Straight or curved: the rectangle around each piece of a line is free. */
TEST(no_line_runs_through_a_box)
{
	for (unsigned seed = 1; seed <= 300; seed++) {
		struct arena a = {0};

		make(&a, seed);
		for (size_t e = 0; e < drawing.n_edges; e++)
			for (size_t p = 1; p < edges[e].n; p++) {
				struct lay_point one = edges[e].points[p - 1];
				struct lay_point two = edges[e].points[p];
				struct rect piece = {one.x < two.x ? one.x : two.x,
					one.y < two.y ? one.y : two.y, abs(one.x - two.x),
					abs(one.y - two.y)};

				for (size_t i = 0; i < drawing.n_nodes; i++)
					assert_true(apart(box(i), piece));
			}
		arena_release(&a);
	}
}

TEST(edges_lead_from_box_to_box_and_back_edges_lead_up)
{
	for (unsigned seed = 1; seed <= 300; seed++) {
		struct arena a = {0};

		make(&a, seed);
		for (size_t e = 0; e < drawing.n_edges; e++) {
			const struct lay_edge *at = &edges[e];
			struct rect from = box(at->from), to = box(at->to);
			struct lay_point first, last;

			if (at->from == at->to)
				continue;
			first = at->points[0];
			last = at->points[at->n - 1];
			assert_int_equal(first.y, at->back ? from.y : from.y + from.h);
			assert_int_equal(last.y, at->back ? to.y + to.h : to.y);
			assert_in_range(first.x, from.x, from.x + from.w);
			assert_in_range(last.x, to.x, to.x + to.w);
			assert_true(at->back ? from.y > to.y : from.y < to.y);
		}
		arena_release(&a);
	}
}

TEST(the_same_graph_gives_the_same_drawing)
{
	struct lay_node before[NODES];
	struct arena a = {0};

	make(&a, 7);
	memcpy(before, nodes, sizeof(before));
	make(&a, 8);
	make(&a, 7);
	assert_memory_equal(before, nodes, drawing.n_nodes * sizeof(*nodes));
	arena_release(&a);
}

TEST(what_is_too_large_to_be_looked_at_is_not_laid_out)
{
	enum { LONG = 400 };
	static struct lay_node row[LONG];
	static struct lay_edge way[2 * LONG];
	struct layout l = {.nodes = row, .edges = way, .n_nodes = LONG, .n_edges = LONG - 1};
	struct arena a = {0};

	for (size_t i = 0; i < LONG; i++) {
		row[i] = (struct lay_node){.w = 10, .h = 10};
		way[i] = (struct lay_edge){.from = i, .to = i + 1};
		way[LONG + i] = (struct lay_edge){.from = 0, .to = LONG - 1};
	}
	assert_true(layout_run(&a, &l));
	way[LONG - 1] = way[LONG];
	l.n_edges = 2 * LONG;
	assert_false(layout_run(&a, &l));
	arena_release(&a);
}
