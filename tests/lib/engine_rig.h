/*
 * engine_rig.h: the engine with a real document in a scratch directory and scripted effects.
 * Included by the tests of the engine alone.
 */
#ifndef DT_TESTS_ENGINE_RIG_H
#define DT_TESTS_ENGINE_RIG_H

#include "src/machine/engine.h"
#include "src/sys/path.h"
#include "src/machine/verdict.h"
#include "src/verify/replay.h"
#include "steps/steps.h"
#include "tests/lib/run.h"
#include "tests/lib/tree.h"
#include "tests/lib/unit.h"
#include "tests/lib/wire.h"

#define IMPLEMENT                                                                                  \
	"```mermaid\nstateDiagram-v2\n"                                                            \
	"[*] --> init\ninit --> spec-finding : start\nspec-finding --> researching : spec_found\n" \
	"researching --> implementing : research_done\nimplementing --> validating : impl_done\n"  \
	"validating --> fixing : build_failed\nvalidating --> reviewing : clean\n"                 \
	"fixing --> validating : fix_done\nfixing --> failed : max_retries\n"                      \
	"reviewing --> done : approved\nreviewing --> fixing-pr : changes_requested\n"             \
	"fixing-pr --> signoff : fix_done\nfixing-pr --> failed : max_retries\n"                   \
	"signoff --> done : approved\nsignoff --> fixing-pr : changes_requested\n"                 \
	"done --> [*]\nfailed --> [*]\n```\n"

struct engine_rig {
	const char *running; /* the script that is still running */
	const char *owner;   /* the caller of `step`; NULL: unnamed */
	bool take_over;
	bool diverges; /* replaying the journal gives other documents */
	struct arena arena;
	char *dir, *path;
	struct workflow workflow;
	struct buf out, messages;
	enum answer_outcome outcome; /* of the last answer */
	struct error err;
	/* the effects */
	char *specs[3];
	size_t n_specs;
	bool commit_fails, push_fails, checks_fail, comments_fail, nothing_to_commit, no_remote;
	const char *comments;           /* NULL: no program can read them */
	const char *checks, *push_ends; /* the time of their end; NULL: at once */
	unsigned commits, pushes;
	/* the evidence: everything is as claimed, but for `refuted` (enum evidence_kind) */
	const char *head, *tree, *patch, *same_as, *fault;
	const char *push_fault;   /* why the remote refuses the push */
	const char *pushed;       /* what the remote's branch was known to have then */
	const char *commit_fault; /* what an agent must correct before its work is committed */
	unsigned refuted;
	bool evidence_fails;
	unsigned collected; /* how often it was asked */
	unsigned asked;     /* kinds of the last question about claims */
	const char *since, *pr_asked, *confirmed, *named; /* of it */
	const char *commit_directory;                     /* of the last commit */
	/* the place */
	/* The answer about action `asked_about`; all others may be dispatched. */
	const char *asked_about;
	struct admission admission;
	const char *failed; /* the last text that a remedy was asked for */
	const char *enters; /* its directory; NULL: the environment has no places */
	bool enter_fails;
	unsigned entered;
};

extern struct engine_rig t;

void say(void *data, const char *text);
/* Without evidence, unless the test is about that. */
void workflow(const char *text);
void workflow_with_evidence(const char *text);
int engine_rig_setup(void **state);
/* Finds t.specs. */
environment_ask engine_rig_find_specs;
environment_ask engine_rig_evidence;
bool still_running(void *data, const struct context_file *f, const char *id);

/* Replaying the journal of a test gives the same documents. */
void engine_rig_replay(void);
int engine_rig_teardown(void **state);

/* The work item ADR-7 is a new one again. */
void engine_rig_forget(void);

/* For a test about the files of a work item, or about revisions without a gap. */
#define FILES_ONLY                                                                                 \
	do {                                                                                       \
		t.diverges = t.diverges || run_on_memory();                                        \
		if (run_on_memory())                                                               \
			skip();                                                                    \
	} while (0)

#define ENGINE_TEST(name) UNIT_TEST(name, engine_rig_setup, engine_rig_teardown)

int step_as(const char *id, bool returned, const char *returned_id);
int answer_as(const char *id, const char *word, const char *text);
/* Any offer; its outcome is in t.outcome. */
int answer_with(struct answer_offer offer);

/* The answer must be accepted. */
void answer(const char *id, const char *word, const char *text);

/* The printed actions: ids (and trigger:counter), or the result. */
char *summary(void);

/* One call, without and with `--returned`, and its output. */
#define steps_to(want)                                                                             \
	do {                                                                                       \
		assert_int_equal(step_as("ADR-7", false, NULL), 0);                                \
		assert_string_equal(summary(), want);                                              \
	} while (0)
#define returns_to(want)                                                                           \
	do {                                                                                       \
		assert_int_equal(step_as("ADR-7", true, NULL), 0);                                 \
		assert_string_equal(summary(), want);                                              \
	} while (0)
/* An answer that must be accepted, and the next array. */
#define answered(id, word, text, want)                                                             \
	do {                                                                                       \
		answer(id, word, text);                                                            \
		returns_to(want);                                                                  \
	} while (0)

char *read_all(const char *path);
char *document(void);

/* The events of the journal, without its documents and commits. */
char *events(void);
bool events_have(const char *text);
/* How often `what` is in the text. */
unsigned count(const char *text, const char *what);
bool document_has(const char *text);

/* Replaces the text of t.path as a user does. */
void write_by_hand(const char *text);

/* Writes a document as a user does; `keys` are lines of frontmatter. Removes the journal. */
void by_hand(const char *state, const char *keys, const char *sections);
char *value(const char *key);
char *section(const char *name);

/* Sets a key as a user does. */
void set(const char *key, const char *text);

#define assert_value(key, want)    assert_string_equal(value(key), want)
#define assert_count(key, n)       assert_int_equal(strtoul(value(key), NULL, 10), n)
#define assert_section(name, want) assert_string_equal(section(name), want)
/* A key for by_hand(): the item has a pull request. */
#define PR WIRE_PULL_REQUEST_KEY ": https://github.com/o/r/pull/7\n"

#endif
