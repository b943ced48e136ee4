/*
 * decode.h: the decoder of YAML. A static table of fields (key, kind, place in a struct, limits,
 * default) says how a map becomes a struct; the decoder fills in the struct and refuses unknown and
 * missing keys, nulls and values of the wrong kind at FILE:LINE:COL. Duplicate keys are refused by
 * yaml_parse(). JSON Schemas and docs/resources.md are printed from the same tables (describe.c).
 *
 * Messages: "'KEY' must be WHAT, not VALUE", "unknown key 'KEY'", "'KEY' is missing".
 *
 * Ownership: everything that is decoded lives in the reader's arena, and borrows the texts of the
 * tree.
 */
#ifndef DT_CONFIG_DECODE_H
#define DT_CONFIG_DECODE_H

#include "src/base/json.h"
#include "src/base/vec.h"
#include "src/base/yaml.h"

/* What a text may be. The resources' forms are below; other rooms have forms of their own. */
struct config_form {
	bool (*valid)(struct str text);
	const char *what;    /* "'KEY' must be WHAT" */
	const char *pattern; /* for a schema: accepts what valid() accepts, whatever the length */
	unsigned max;        /* characters; 0: valid() checks the length */
	bool secret;         /* the refused value may be a secret: it is not shown */
	bool ascii;          /* it may look like another text: it is shown with escapes */
	bool trim;           /* blanks around the text are dropped */
};

enum config_kind {
	CONFIG_TEXT,      /* const char *, of `form` */
	CONFIG_WORD,      /* enum, in the order of `words` */
	CONFIG_WORD_TEXT, /* const char *, one of `words` */
	CONFIG_SWITCH,    /* bool: whether it is the last of `words` */
	CONFIG_INTEGER,   /* unsigned or a 64-bit integer, min..max */
	CONFIG_NUMBER,    /* double, min..max */
	CONFIG_BOOL,
	CONFIG_DURATION, /* int64_t seconds, at least min */
	CONFIG_TEXTS,    /* list of at most max texts of `form` or `words`: pointer, count */
	CONFIG_GROUP,    /* map of `fields` or `variants` */
	CONFIG_LIST,     /* list of min..max structs: pointer, count */
	CONFIG_ENTRIES,  /* map of min..max structs; the first member of each is its key, of `form`
			  */
	CONFIG_OPEN,     /* map or list of anything: const struct yaml * */
	CONFIG_LABELS,   /* map of texts; only checked */
	CONFIG_REFUSED,  /* a key of the wider format; `hint` says why it is refused */
	CONFIG_CUSTOM,   /* read() does it */
};

struct config_reader;
struct config_field;

/* A value of the key `key` into its place. */
typedef void config_read_fn(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into);
/* A whole map whose fields have no fault. */
typedef void config_check_fn(struct config_reader *r, const struct yaml *map, void *of);

/* Forms of one map: the first whose key is there is the one that counts. */
struct config_variant {
	const char *key;
	const struct config_field *fields;
	config_check_fn *check; /* may be NULL */
};

struct config_field {
	const char *key; /* NULL ends a table */
	enum config_kind kind;
	const struct config_form *form;
	size_t at, size; /* of the member; size 0: it is checked and not kept */
	size_t count_at; /* TEXTS, LIST, ENTRIES: a size_t */
	size_t seen_at;  /* a bool that says that the key is there; 0: none */
	size_t place_at; /* two unsigned, line and column of the value (LIST: of each item,
			    ENTRIES: of each key, in its struct); 0: none */
	double min, max; /* max 0: none */
	bool required;
	bool above;               /* greater than min, not equal */
	bool none;                /* INTEGER: `none` is 0 */
	bool once;                /* TEXTS: none twice */
	bool sorted;              /* TEXTS: by bytes */
	bool null;                /* a null is as if the key were missing */
	bool list;                /* OPEN: a list, not a map */
	bool single;              /* LIST: also accepts a single item */
	bool inert;               /* for other programs, without effect here; see pipeline.c */
	bool optional;            /* GROUP: the defaults in it count only where it is there */
	const char *const *words; /* NULL-ended */
	const struct config_field *fields;     /* GROUP, LIST, ENTRIES */
	const struct config_variant *variants; /* GROUP: instead; ended by a NULL key */
	const struct config_field *item; /* LIST, ENTRIES: an item that is not a map of fields */
	size_t item_size;                /* LIST, ENTRIES: of the struct */
	config_read_fn *read;            /* CUSTOM */
	config_check_fn *check;          /* GROUP, LIST, ENTRIES: of each map of `fields` */
	const char *required_when;       /* required when that key of the map is one of ... */
	const char *const *required_is;  /* NULL-ended */
	const char *preset;   /* the default, as it would be written; NULL: the struct's own */
	const char *derived;  /* for people: where the default comes from when it is computed */
	const char *inherits; /* key of the pipeline's spec that is used when this one is missing */
	const char *hint;     /* behind the message of a refusal, in parentheses */
	const char *about;
};

#define CONFIG_AT(type, member)                                                                    \
	.at = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)
#define CONFIG_LIST_AT(type, member, count)                                                        \
	CONFIG_AT(type, member), .count_at = offsetof(struct type, count)
#define CONFIG_ITEMS_AT(type, member, count)                                                       \
	CONFIG_LIST_AT(type, member, count), .item_size = sizeof(*((struct type *)0)->member)
#define CONFIG_SEEN(type, member)  .seen_at = offsetof(struct type, member)
#define CONFIG_PLACE(type, member) .place_at = offsetof(struct type, member)
#define CONFIG_WORDS(...)                                                                          \
	.words = (const char *const[])                                                             \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define CONFIG_RANGE(least, most) .min = least, .max = most

struct config_reader {
	struct arena *arena;
	const char *file; /* NULL: messages have no place */
	bool json_types;  /* as in JSON: `1` is no text, `"1"` no number */
	size_t limit;     /* it stops after so many faults */
	VEC(struct error) faults;
};

/* A fault at a node; those beyond the limit are dropped. */
void config_fault(struct config_reader *r, const struct yaml *at, const char *fmt, ...)
	PRINTF(3, 4);
/* "'KEY' must be WHAT, not VALUE", with what the field says of it. False, for callers that return
 * it. */
bool config_refuse(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, const char *what);
/* 0, or -1 with the first fault. */
int config_result(const struct config_reader *r, struct error *err);

/* Fills in *into from a map. */
void config_fields(struct config_reader *r, const struct config_field *fields,
	const struct yaml *map, void *into);
/* One value as its field says; `key` is what messages call it. `into` is the field's struct. */
void config_value(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, void *into);
/* A text of the form. False: it was refused. */
bool config_text(struct config_reader *r, const struct config_field *f, const char *key,
	const struct yaml *v, const char **out);

/* A whole tree, up to the first fault. `what` is for the message: "a policy". -1: ERR_INPUT. */
int config_decode(struct arena *a, const char *file, const struct yaml *tree, const char *what,
	const struct config_field *fields, void *into, struct error *err);

/* What a plain scalar is: as in JSON. A quoted one is a text. */
enum config_scalar { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_NUMBER };
enum config_scalar config_scalar(const struct yaml *node);
json *config_json(const struct yaml *node);
/* The node that keys with a `.` between lead to, also `[N]` of a list; NULL: there is none. */
const struct yaml *config_node(const struct yaml *tree, const char *path);
/* The same, or the nearest node above it; cuts `path` to the path of that node. */
const struct yaml *config_node_above(const struct yaml *tree, char *path);

/* Forms of texts in resources. */
extern const struct config_form config_line, config_lines, config_name, config_id, config_variable,
	config_branch, config_branch_pattern, config_model, config_zone, config_hours, config_days,
	config_date, config_root, config_relative, config_duration;

/* Whether the first character is of one set and all others are of another. */
enum {
	CONFIG_LOWER = 1,
	CONFIG_UPPER = 2,
	CONFIG_DIGIT = 4,
	CONFIG_LETTER = CONFIG_LOWER | CONFIG_UPPER,
	CONFIG_ALNUM = CONFIG_LETTER | CONFIG_DIGIT
};
bool config_made_of(
	struct str s, unsigned first, const char *first_more, unsigned rest, const char *rest_more);

/* ISO 8601 duration P[nD][T[nH][nM][nS]], also nW; not empty; in seconds. -1: it is none. */
int config_parse_duration(struct str text, int64_t *seconds);

#endif
