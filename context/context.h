/*
 * context.h: the context document. Markdown with YAML frontmatter, then sections between sentinel
 * lines. People and agents edit it by hand, so every byte that a change does not name comes back as
 * it was: unknown keys, comments, order, blank lines, CR LF.
 *
 * Ownership: all texts that come out live until context_release(); all that go in are copied.
 */
#ifndef DT_CONTEXT_H
#define DT_CONTEXT_H

#include "src/base/buf.h"

#define CONTEXT_MAX     ((size_t)16 << 20) /* bytes of a whole document */
#define MAX_SECTIONS    10000              /* and no more can be added */
#define FIELD_MAX       1000000000ul       /* largest counter */
#define CONTEXT_ACTIONS "Actions"          /* the machine's own section */

struct context {
	struct arena arena;
	char *file;          /* for messages */
	struct buf own;      /* the bytes of the document as read */
	struct str text;     /* the same */
	const char *newline; /* "\n", or "\r\n" when the first line ends so */
	size_t head_end;     /* offset of the closing `---` line */
	struct field *fields;
	size_t n_fields, cap_fields;
	struct section *sections;
	size_t n_sections, cap_sections;
	bool changed;
	bool other_format; /* it was refused because another version wrote it */
};

/* `text` is copied. -1: ERR_INPUT with FILE:LINE:COL. Releasable either way. */
int context_parse(struct context *c, const char *file, struct str text, struct error *err);
/* The same, but takes the bytes over instead of copying them; *text is empty afterwards. */
int context_adopt(struct context *c, const char *file, struct buf *text, struct error *err);
/*
 * Would `text`, rendered from c, be read back? -1: ERR_INPUT. What is not is not to be written: no
 * later command could take it back.
 */
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
void context_set(struct context *c, const char *key, struct str value);
void context_set_count(struct context *c, const char *key, unsigned long value);

/* `attempts: {state: n}`; adds one for `state` and returns the new number. */
unsigned long context_attempts(const struct context *c, const char *state);
unsigned long context_next_attempt(struct context *c, const char *state);
/* Makes it at least n. */
void context_raise_attempt(struct context *c, const char *state, unsigned long n);
/* Makes them at least what the dispatches in `journal`, lines of JSON, say. */
void context_recall_attempts(struct context *c, struct str journal);

/* Text of a section: trimmed, sentinels unescaped, NUL-ended; empty when there is none. */
struct str context_section(const struct context *c, const char *name);
/* Line of the file on which the text of a section that was read begins; 1 when there is none. */
unsigned context_section_line(const struct context *c, const char *name);
bool context_has_section(const struct context *c, const char *name);
size_t context_sections(const struct context *c);
struct str context_section_name(const struct context *c, size_t i);
/* Replaces or appends. An empty text removes the section with its sentinel. */
void context_put(struct context *c, const char *name, struct str text);

/* 1 to 80 bytes of valid UTF-8, trimmed, no control characters, no `--`, no `<` or `>`. */
bool section_name_valid(struct str name);
/* True for the keys that hold counters. */
bool context_is_counter(const char *key);

struct delta;
/*
 * The document with the changes in it. `kept` (may be NULL) is told what of the text as read is in
 * it, and where. -1: ERR_INPUT when it would be over CONTEXT_MAX.
 */
int context_render(const struct context *c, struct buf *out, struct delta *kept, struct error *err);

/* `line`s of text that look like sentinels get one more or one less backslash. */
void sentinel_escape(struct buf *out, struct str text);
void sentinel_unescape(struct buf *out, struct str text);

#endif
