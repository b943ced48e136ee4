#include "tests/model/protocol_internal.h"
#include "tests/lib/wire.h"

static unsigned long number_of(const char *id)
{
	const char *slash = strrchr(id, '/');

	return slash ? strtoul(slash + 1, NULL, 10) : 0;
}

/* The highest number that was given out under the same name. */
static unsigned long last_number(const struct audit *a, const char *id)
{
	size_t n = (size_t)(strrchr(id, '/') - id) + 1;
	unsigned long last = 0;

	for (size_t i = 0; i < a->n; i++)
		if (strncmp(a->actions[i].id, id, n) == 0 && number_of(a->actions[i].id) > last)
			last = number_of(a->actions[i].id);
	return last;
}

/* An id by how many came after it. */
static void add_id(const struct audit *a, struct buf *out, const char *id)
{
	if (!strrchr(id, '/'))
		return;
	buf_add(out, (struct str){id, (size_t)(strrchr(id, '/') - id)});
	buf_addf(out, "-%lu ", last_number(a, id) - number_of(id));
}

static void add_actions(const struct audit *a, struct buf *out)
{
	size_t first = a->n > 4 ? a->n - 4 : 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct audit_action *x = &a->actions[i];

		if (i < first && !x->outstanding)
			continue;
		add_id(a, out, x->id);
		buf_addf(out, "%s%d%d%d,", x->owner, x->outstanding, x->answered, x->used);
	}
}

/* Keys of the frontmatter that decide nothing, or are told in another way. */
static bool passed_over(struct str line)
{
	static const char *const keys[] = {
		"started:", "last_updated:", "revision:", "actions_dispatched:", "attempts:"};

	for (size_t i = 0; i < COUNT(keys); i++)
		if (str_starts(line, keys[i]))
			return true;
	return false;
}

/* Numbers of actions and of logs do not decide. */
static void add_action_line(const struct audit *a, struct buf *out, struct str line)
{
	CLEANUP(json_free) json *j = NULL;
	struct error ignored;
	const char *answered;

	if (json_parse(&j, line, &ignored) < 0)
		return;
	answered = json_get_str(j, "answered");
	add_id(a, out, json_get_str(j, "id"));
	buf_addf(out, "%s%s%s;", json_get_str(j, WIRE_WRITES), answered ? "=" : "",
		answered ? answered : "");
	buf_addf(out, "%d ", json_get(j, "carried") != NULL);
}

static void add_document(const struct audit *a, struct str text, struct buf *out)
{
	struct str line;

	while (str_line(&text, &line)) {
		if (str_starts(line, "{\"action\":"))
			add_action_line(a, out, line);
		else if (!passed_over(line) && line.n) {
			buf_add(out, line);
			buf_addc(out, '\n');
		}
	}
}

/* What else lies on the disk: a document that a stopped call left behind, a torn journal. */
static void add_leftovers(const struct play *p, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, staged = BUF_INIT;
	struct disk *d = p->simulator->disk;
	const char *slash = strrchr(p->simulator->path, '/');
	char name[256];

	if (sim_disk_get(d, p->journal, &text))
		buf_addf(out, "torn %d ", text.len != p->audit.journal.len);
	buf_clear(&text);
	(void)snprintf(name, sizeof(name), "%.*s/.%s.new", (int)(slash - p->simulator->path),
		p->simulator->path, slash + 1);
	if (sim_disk_get(d, name, &staged))
		buf_addf(out, "staged %d ", str_eq(buf_str(&staged), buf_str(&p->audit.document)));
	if (simulator_document(p->simulator, &text) &&
		!str_eq(buf_str(&text), buf_str(&p->audit.document))) {
		buf_adds(out, "behind ");
		add_document(&p->audit, buf_str(&text), out);
	}
}

void state_key(const struct play *p, unsigned crashes, char out[DIGEST_TEXT])
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	const struct audit *a = &p->audit;

	buf_addf(&key, "%u %d%d '%s' %d ", crashes, p->crashed, a->acknowledged != a->journal.len,
		a->owner, p->simulator->now <= p->maybe);
	buf_addf(&key, "%d ", p->simulator->now < p->sure);
	add_id(a, &key, p->loops[0].last);
	add_id(a, &key, p->loops[1].last);
	add_actions(a, &key);
	add_document(a, buf_str(&a->document), &key);
	add_leftovers(p, &key);
	digest_text(buf_str(&key), out);
}
