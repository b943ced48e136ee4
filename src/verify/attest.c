#include "context/file.h"
#include "src/base/clock.h"
#include "src/setup/setup.h"
#include "src/verify/attest.h"

enum { ATTEST_VERSION = 1 };

/* *line NULL: git failed, or printed nothing. */
#define GIT(line, ...)                                                                             \
	remote_git_line(a, repo, (const char *const[]){"git", __VA_ARGS__, NULL}, line, err)

/* ---- what the journal says ---- */

struct approval {
	json *answers, *agents; /* since the work was changed last; agents: by action */
	json *evidence;         /* what was confirmed */
	const char *head;       /* that it was confirmed of; NULL: nothing was */
	struct arena *arena;
};

static void verify_attest_take_answer(struct approval *p, const json *event)
{
	json_push(p->answers, JSON_OBJECT(JSON_TEXT("action", json_get_str(event, "action")),
				      JSON_TEXT("result", json_get_str(event, "result")),
				      JSON_TEXT("sum", json_get_str(event, "sum"))));
}

/* A context_visit, from the end. */
static bool verify_attest_read_event(const json *event, void *data)
{
	static const char *const work[] = {"implemented", "fixed", NULL};
	struct approval *p = data;
	const char *word = json_get_str(event, "result");

	if (json_str_is(event, "type", "answer")) {
		if (word && str_in(str_of(word), work))
			return false;
		verify_attest_take_answer(p, event);
	}
	if (json_str_is(event, "type", "dispatch"))
		json_set(p->agents, json_get_str(event, "action"),
			json_string(
				str_of(json_get_str(event, "agent") ? json_get_str(event, "agent")
								    : "script")));
	else if (json_str_is(event, "type", "evidence") && !p->head) {
		p->head = json_dup(p->arena, event, "head");
		for (const json *k = json_first(json_get(event, "confirmed")); k; k = json_next(k))
			json_push(p->evidence, json_copy(k));
	}
	return true;
}

static int read_approval(
	struct arena *a, const char *document, struct approval *p, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	p->arena = a;
	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0 ||
		context_read_events(&f, "\"type\"", verify_attest_read_event, p, err) < 0)
		return -1;
	if (!json_len(p->answers))
		return error_set(err, ERR_STATE, "the journal of '%s' has no approval", document);
	for (const json *it = json_first(p->answers); it; it = json_next(it)) {
		const char *agent = json_get_str(p->agents, json_get_str(it, "action"));

		json_put_str((json *)(uintptr_t)it, "agent", str_of(agent ? agent : "unknown"));
	}
	return 0;
}

/* ---- the note ---- */

static int sign(
	struct arena *a, const char *repo, const char *commit, const char *text, struct error *err)
{
	const char *name = arena_printf(a, "dev-team-attestation-%s", commit);
	char *signs = NULL, *line = NULL, *tag = NULL;

	if (GIT(&signs, "config", "--bool", "commit.gpgsign") < 0)
		return -1;
	if (!signs || strcmp(signs, "true") != 0)
		return 0;
	if (GIT(&line, "tag", "-f", "-s", "-m", text, name, commit) < 0 ||
		GIT(&tag, "rev-parse", "-q", "--verify", arena_printf(a, "refs/tags/%s", name)) < 0)
		return -1;
	if (!tag)
		return error_set(err, ERR_SYSTEM,
			"git cannot sign the attestation of %.12s: 'git tag -s' shows why", commit);
	if (GIT(&line, "update-ref", arena_printf(a, ATTEST_TAGS "/%s", commit), tag) < 0)
		return -1;
	return GIT(&line, "tag", "-d", name);
}

int attest_write(struct arena *a, const char *repo, const char *id, const char *document,
	const json *others, struct error *err)
{
	CLEANUP(json_free) json *answers = json_array();
	CLEANUP(json_free) json *agents = json_object();
	CLEANUP(json_free) json *evidence = json_array();
	struct approval p = {.answers = answers, .agents = agents, .evidence = evidence};
	char *tree = NULL, *line = NULL, *found = NULL, *tip = NULL;
	const char *text, *branch = arena_printf(a, "refs/heads/dev-team/%s", id);

	if (read_approval(a, document, &p, err) < 0 ||
		(!p.head && GIT(&tip, "rev-parse", "-q", "--verify", branch) < 0))
		return -1;
	if (!p.head)
		p.head = tip ? tip : branch;
	if (GIT(&tree, "rev-parse", "-q", "--verify", arena_printf(a, "%s^{tree}", p.head)) < 0)
		return -1;
	if (!tree)
		return error_set(err, ERR_STATE, "there is no commit '%s'", p.head);
	text = json_print_in(a,
		JSON_OBJECT(JSON_INT("version", ATTEST_VERSION), JSON_TEXT("taskId", id),
			JSON_TEXT("commit", p.head), JSON_TEXT("tree", tree),
			JSON_TIME("at", clock_now()), JSON_VALUE("evidence", json_copy(evidence)),
			JSON_VALUE("answers", json_copy(answers)),
			JSON_IF(json_len(others), JSON_VALUE("others", json_copy(others)))))
		       .p;
	if (GIT(&line, "notes", "--ref", ATTEST_REF, "add", "-f", "-m", text, p.head) < 0 ||
		GIT(&found, "notes", "--ref", ATTEST_REF, "list", p.head) < 0)
		return -1;
	return found ? sign(a, repo, p.head, text, err)
		     : error_set(err, ERR_SYSTEM, "git cannot write the note of %.12s", p.head);
}

/* ---- verification ---- */

static int compare(const json *note, const char *key, const char *wanted, struct error *err)
{
	const char *got = json_get_str(note, key);

	return got && strcmp(got, wanted) == 0
		       ? 0
		       : error_set(err, ERR_CHECK, "the attestation names the %s '%.80s', not '%s'",
				 key, got ? got : "(none)", wanted);
}

/* The signed text must be that of the note. */
static int verify_signature(struct arena *a, const char *repo, const char *commit, const char *text,
	bool *is_signed, struct error *err)
{
	const char *ref = arena_printf(a, ATTEST_TAGS "/%s", commit);
	char *tag = NULL, *subject = NULL, *of = NULL, *good = NULL;

	if (GIT(&tag, "rev-parse", "-q", "--verify", ref) < 0)
		return -1;
	*is_signed = tag != NULL;
	if (!tag)
		return 0;
	if (GIT(&subject, "for-each-ref", "--format=%(contents:subject)", ref) < 0 ||
		GIT(&of, "rev-parse", "-q", "--verify", arena_printf(a, "%s^{commit}", ref)) < 0 ||
		GIT(&good, "verify-tag", "--format=good", ref) < 0)
		return -1;
	if (!good || !subject || strcmp(subject, text) != 0 || !of || strcmp(of, commit) != 0)
		return error_set(err, ERR_CHECK,
			"the signature of the attestation of %.12s is not %s", commit,
			good ? "of this text" : "good");
	return 0;
}

static int check_note(
	struct arena *a, const char *repo, const char *commit, const json *note, struct error *err)
{
	char *tree = NULL;

	if (GIT(&tree, "rev-parse", "-q", "--verify", arena_printf(a, "%s^{tree}", commit)) < 0)
		return -1;
	if (json_get_int(note, "version", 0) != ATTEST_VERSION ||
		!json_len(json_get(note, "answers")))
		return error_set(err, ERR_CHECK,
			"the note of %.12s is no attestation of this version", commit);
	return compare(note, "commit", commit, err) < 0 ? -1 : compare(note, "tree", tree, err);
}

int attest_verify(struct arena *a, const char *repo, const char *commit, json **note,
	bool *is_signed, struct error *err)
{
	char *id = NULL, *text = NULL;
	struct error why;

	*note = NULL;
	if (*commit == '-' ||
		GIT(&id, "rev-parse", "-q", "--verify", arena_printf(a, "%s^{commit}", commit)) <
			0 ||
		!id)
		return error_set(err, ERR_INPUT, "there is no commit '%.100s'", commit);
	if (GIT(&text, "notes", "--ref", ATTEST_REF, "show", id) < 0)
		return -1;
	if (!text)
		return error_set(err, ERR_INPUT,
			"commit %.12s has no attestation: 'git fetch origin " ATTEST_REF
			":" ATTEST_REF "' brings those of others",
			id);
	if (json_parse(note, str_of(text), &why) < 0)
		return error_set(err, ERR_CHECK, "the note of %.12s is no attestation", id);
	return check_note(a, repo, id, *note, err) < 0
		       ? -1
		       : verify_signature(a, repo, id, text, is_signed, err);
}
