#include "src/base/clock.h"
#include "src/machine/engine.h"
#include "tests/model/sim_disk.h"
#include "steps/steps.h"
#include "tests/bench/bench.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

static const char flow[] =
	"---\nlimits: {max_actions: 100000}\nevidence: []\n"
	"states:\n"
	"  lint: {command: make lint, writes: Lint, results: {passed: clean, failed: bad}}\n"
	"---\n```mermaid\nstateDiagram-v2\n[*] --> init\ninit --> implementing : start\n"
	"implementing --> lint : impl_done\nlint --> implementing : bad\nlint --> done : clean\n"
	"done --> [*]\n```\n";

struct maker {
	struct arena arena;
	struct disk *disk;
	struct workflow workflow;
	const char *path;
	struct buf answer;
	int64_t now, events;
};

static void check(int rc, const struct error *err)
{
	if (rc < 0)
		die("cannot make a history: %s", err->text);
}

static void enter(struct maker *m, struct context_file *f)
{
	struct error err;

	clock_fix(m->now++);
	check(context_open_on(f, store_files(m->disk), m->path, CONTEXT_MAY_CREATE, &err), &err);
}

static void leave(struct maker *m, struct context_file *f)
{
	m->events = store_last_seq(f->store);
	context_close(f);
}

/* Nobody leaves anything uncommitted. */
static int carry_out(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	(void)data, (void)a, (void)input, (void)err;
	*answer = json_string(STR("no"));
	return 0;
}

/* The outstanding actions, in the arena. */
static const char *step(struct maker *m)
{
	struct context_file f = {0};
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(json_free) json *array = NULL;
	struct environment nothing = {.carry_out = carry_out};
	struct engine machine = {.file = &f,
		.workflow = &m->workflow,
		.step_for = steps_find,
		.environment = &nothing,
		.id = "H-1",
		.research_skill = "researcher-plan",
		.repo = "/repo",
		.returned = true};
	struct error err;

	enter(m, &f);
	check(engine_step(&machine, &out, &err), &err);
	leave(m, &f);
	check(json_parse(&array, buf_str(&out), &err), &err);
	return arena_dup(&m->arena, str_of(json_get_str(json_first(array), "id")));
}

static void record(struct maker *m, const char *id, const char *word, struct str text)
{
	struct context_file f = {0};
	struct answer_offer offer = {.id = id, .word = word, .text = text, .ran = true};
	struct error err;

	enter(m, &f);
	check(answer_record(&f, &offer, &err), &err);
	leave(m, &f);
}

static void lay(struct maker *m, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!sim_disk_get(m->disk, path, &text))
		die("no '%s' was made", path);
	tree_write(path, buf_str(&text));
}

void long_history(const char *path, unsigned events, size_t size)
{
	struct maker m = {.disk = sim_disk_new(1), .path = path, .now = 1800000000};
	struct error err;

	check(workflow_parse(&m.arena, "/flow.md", str_of(flow), &m.workflow, &err), &err);
	while (m.answer.len < size)
		buf_adds(&m.answer, "A line of an answer, as agents write them.\n");
	while (m.events < (int64_t)events) {
		record(&m, step(&m), "implemented", buf_str(&m.answer));
		record(&m, step(&m), "failed", STR("failed: one warning"));
	}
	lay(&m, path);
	lay(&m, arena_printf(&m.arena, "%.*s.events.jsonl", (int)strlen(path) - 3, path));
	clock_fix(-1);
	sim_disk_free(&m.disk);
	buf_release(&m.answer);
	arena_release(&m.arena);
}
