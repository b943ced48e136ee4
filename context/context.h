/*
 * context.h: the context document. Markdown with YAML frontmatter, then sections between sentinel
 * lines. People and agents edit it by hand, so bytes that a change does not name are kept: unknown
 * keys, comments, order, blank lines, CR LF.
 *
 * Ownership: returned texts live until context_release(); texts that are passed in are copied.
 */
#ifndef DT_CONTEXT_H
#define DT_CONTEXT_H

#include "src/base/json.h"
#include "src/base/vec.h"

#define CONTEXT_MAX          ((size_t)16 << 20) /* bytes of a whole document */
#define CONTEXT_SECTIONS_MAX 10000              /* and no more can be added */
#define CONTEXT_COUNT_MAX    1000000000ul       /* largest counter */

/* The sections that more than one file names. */
#define CONTEXT_ACTIONS       "Actions" /* the machine's own */
#define CONTEXT_SPEC          "Spec"
#define CONTEXT_BRIEF         "Researcher Brief"
#define CONTEXT_COMMENTS      "Pull Request Comments"
#define CONTEXT_DEBUG_REPORT  "Debug Report"
#define CONTEXT_EARLIER       "Earlier "
#define CONTEXT_FAILED_ANSWER "Failed Answer"
#define CONTEXT_FIX           "Fix "
#define CONTEXT_LAST_FAILURE  "Last Failure"
#define CONTEXT_PULL_REQUEST  "PR URL"
#define CONTEXT_REVIEW_NOTES  "Review Notes"
#define CONTEXT_SUMMARY       "Implementation Summary"
#define CONTEXT_TROUBLE_LOG   "Troubleshooter Log"

struct field;
struct section;

struct context {
	struct arena arena;
	char *file;          /* for messages */
	struct buf own;      /* the bytes of the document as read */
	struct str text;     /* the same */
	const char *newline; /* "\n", or "\r\n" when the first line ends so */
	size_t head_end;     /* offset of the closing `---` line */
	VEC(struct field) fields;
	VEC(struct section) sections;
	bool changed;
	bool other_format; /* it was refused because another version wrote it */
};

/* `text` is copied. -1: ERR_INPUT with FILE:LINE:COL. Releasable either way. */
int context_parse(struct context *c, const char *file, struct str text, struct error *err);
/* The same, but takes *text, which is empty afterwards. */
int context_parse_buf(struct context *c, const char *file, struct buf *text, struct error *err);
/* Only the sections of a document that was saved; `text` must outlive c. */
int context_parse_sections(struct context *c, struct str text, struct error *err);
/* Whether `text`, rendered from c, can be parsed. -1: ERR_INPUT; it must not be written then,
 * because no later command could load it. */
int context_check(const struct context *c, struct str text, struct error *err);
/* A new document with the keys of the format in their order; `now` is a clock_text(). */
int context_new(struct context *c, const char *file, const char *id, const char *state,
	const char *now, struct error *err);
void context_release(struct context *c);

/* Value of a frontmatter key: empty when absent, empty or null. NUL-ended. */
struct str context_get(const struct context *c, const char *key);
bool context_has(const struct context *c, const char *key);
/* A counter; 0 when absent or empty. (Checked when the document was parsed.) */
unsigned long context_count(const struct context *c, const char *key);
/* Gives `to` each value of a key that differs from that in `before`, that `after` and `now` have,
 * and that only people write. A list or map must be on one line. */
void context_take_keys(struct context *to, const struct context *before,
	const struct context *after, const struct context *now);
/* How many fixes there were; the next one is the section `Fix N` with N = 1 + this. */
unsigned long context_fixes(const struct context *c);
void context_set(struct context *c, const char *key, struct str value);
void context_set_count(struct context *c, const char *key, unsigned long value);

/* `attempts: {state: n}`; adds one for `state` and returns the new number. */
unsigned long context_attempts(const struct context *c, const char *state);
unsigned long context_next_attempt(struct context *c, const char *state);
/* All of them as an object, the caller's. */
json *context_attempts_json(const struct context *c);
/* All of them, in one line of YAML whatever the style of the document. */
void context_attempts_text(const struct context *c, struct buf *out);
/* Raises them to those of such a text. */
void context_raise_attempts(struct context *c, struct str known);

/* `visits: {state: n}`: how often the run has entered a state that has a limit. */
unsigned long context_visits(const struct context *c, const char *state);
void context_add_visit(struct context *c, const char *state);

/* `failures: {section: n}`: how often an action of a state with an order has failed in a row, as an
 * object, the caller's. Only those that have failed are in it; NULL sets none. A failure at the
 * end of the state belongs to no single action, and counts under a name that no section has. */
#define CONTEXT_FAILURES_END "<end>"
json *context_failures(const struct context *c);
void context_set_failures(struct context *c, const json *counts);

/* Text of a section: trimmed, sentinels unescaped, NUL-ended; empty when there is none. */
struct str context_section(const struct context *c, const char *name);
/* Line of the file on which the text of a section that was read begins; 1 when there is none. */
unsigned context_section_line(const struct context *c, const char *name);
bool context_has_section(const struct context *c, const char *name);
size_t context_sections(const struct context *c);
struct str context_section_name(const struct context *c, size_t i);
/* Replaces or appends. An empty text removes the section with its sentinel. */
void context_put(struct context *c, const char *name, struct str text);
void context_remove(struct context *c, const char *name);

/* 1 to 80 bytes of valid UTF-8, trimmed, no control characters, no `--`, no `<` or `>`. */
bool section_name_valid(struct str name);
/* True for the keys that hold counters. */
bool context_is_counter(const char *key);
/* Whether a person may set `key` to *value, which becomes a NUL-ended copy. -1: ERR_USAGE for the
 * key, ERR_INPUT for the value. */
int context_check_key(struct arena *a, const char *key, struct str *value, struct error *err);

struct delta;
/* The document with its changes. `kept` (may be NULL) gets the ranges of the old text that are in
 * it. -1: ERR_INPUT when it would be over CONTEXT_MAX. */
int context_render(const struct context *c, struct buf *out, struct delta *kept, struct error *err);

/* Lines that resemble sentinels get one backslash more or one less. */
void context_escape(struct buf *out, struct str text);
void context_unescape(struct buf *out, struct str text);

#endif
