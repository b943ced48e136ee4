/*
 * rows.h: the table of a kind of resource: one row a field. It reads the YAML into a struct, makes
 * the JSON Schema, the pages of docs/resources.md and what `resources show` prints. For this room
 * and its tests.
 */
#ifndef DT_RESOURCE_ROWS_H
#define DT_RESOURCE_ROWS_H

#include "src/base/json.h"
#include "src/config/resource.h"

/* What a text may be; forms.c has the predicate, the pattern and the words for each. */
enum form {
	FORM_TEXT,    /* one line */
	FORM_LINES,   /* several */
	FORM_NAME,    /* of a resource */
	FORM_ID,      /* of a stage, an agent, a tenant */
	FORM_ENV,     /* name of an environment variable */
	FORM_BRANCH,  /* a git branch */
	FORM_PATTERN, /* a git branch with placeholders in braces */
	FORM_MODEL,
	FORM_ZONE,
	FORM_HOURS,
	FORM_DAYS,
	FORM_DATE,
	FORM_ROOT,  /* an absolute path, or one below ~ */
	FORM_BELOW, /* a relative path */
	FORM_DURATION,
};

struct form_facts {
	bool (*good)(struct str text);
	const char *pattern; /* of the schema; says the same as `good` but for the length */
	unsigned max;        /* characters */
	const char *says;    /* "must be ..." */
	bool secret;         /* what is there instead may be a secret: it is not shown */
};
const struct form_facts *form_facts(enum form f);

enum row_kind {
	ROW_TEXT,      /* const char * */
	ROW_WORD,      /* enum, in the order of `words` */
	ROW_WORD_TEXT, /* const char *, one of `words` */
	ROW_SWITCH,    /* bool: the second of two `words` is true */
	ROW_COUNT,     /* unsigned, min..max */
	ROW_WHOLE,     /* int64_t, min..max */
	ROW_NUMBER,    /* double, min..max */
	ROW_BOOL,
	ROW_DURATION, /* int64_t seconds, at least min */
	ROW_TEXTS,    /* struct words of `form`, or of `words`; at most max of them */
	ROW_GROUP,    /* map, its rows in the same struct */
	ROW_LIST,     /* list of maps, each a struct of `size` bytes; `count_at` is its length */
	ROW_OPEN,     /* map or list of anything: const struct yml * */
	ROW_LABELS,   /* map of texts */
	ROW_REFUSED,  /* a key of the wider format; `hint` says why it is not taken */
};

#define NOWHERE ((size_t)-1) /* it is checked and not kept */

struct row {
	const char *key;
	enum row_kind kind;
	enum form form;
	bool needed;
	bool above;      /* greater than min, not equal */
	bool once;       /* ROW_TEXTS: none twice */
	bool list;       /* ROW_OPEN: a list, not a map */
	bool inert;      /* taken, and not acted on */
	bool apart;      /* ROW_GROUP: its defaults stand for nothing where it is missing */
	size_t at;       /* in the struct; NOWHERE */
	size_t seen_at;  /* a bool that tells that it was written; 0: there is none */
	size_t count_at; /* ROW_LIST */
	size_t size;     /* ROW_LIST */
	double min, max; /* max 0: there is none */
	const char *const *words; /* NULL-ended */
	const struct row *rows;   /* of a group or list; ended by a NULL key */
	const char *needed_when;  /* needed when that key of the same map is one of `needed_is` */
	const char *const *needed_is; /* NULL-ended */
	const char *otherwise;        /* default, as it would be written; NULL: none */
	const char *derived;          /* where the default comes from, when it is made of others */
	const char *inherits; /* key of the pipeline's spec that stands for it when missing */
	const char *hint;     /* stands behind what is said of a fault */
	const char *about;
};

struct resource_kind {
	const char *name;
	const struct row *rows; /* of the whole document */
	size_t size;            /* of the struct */
	void (*settle)(struct arena *a, const struct yml *tree, void *of); /* defaults of others */
	size_t list_at, count_at;                                          /* in struct resources */
	const char *about;
};
extern const struct resource_kind resource_kinds[]; /* ended by a NULL name */
const struct resource_kind *resource_kind(const char *name);
/* Kinds of the same format that other programs read. */
bool resource_kind_other(const char *name);

extern const char *const harness_words[], *const capability_words[];
extern const struct row pipeline_rows[], worktree_pool_rows[], subscription_plan_rows[],
	database_pool_rows[];

/* What a plain scalar is: as in JSON. A quoted one is a text. */
enum scalar { SCALAR_TEXT, SCALAR_NULL, SCALAR_BOOL, SCALAR_NUMBER };
enum scalar scalar_of(const struct yml *node);
/* The tree as JSON. */
json *yml_json(const struct yml *node);
/* The node that keys with a `.` between lead to, also `[N]` of a list; NULL. */
const struct yml *yml_at(const struct yml *tree, const char *path);
size_t utf8_count(struct str s); /* characters */

struct faults {
	struct arena *arena;
	struct error *list;
	size_t n, cap;
};
void fault_add(struct faults *f, const char *file, const struct yml *at, const char *fmt, ...)
	PRINTF(4, 5);

/* A document by its table alone: what the schema says too. *of is a struct of the kind, defaults in
 * it. */
void document_read(struct faults *f, const char *file, const struct resource_kind *kind,
	const struct yml *tree, void *of);
/* What only the room can see: durations of nothing, days that are not, references, names twice,
 * rules of pipelines that run in parallel. Faults are sorted by file and place after. */
void rules_check(struct arena *a, const struct resources *r, struct faults *f);

#endif
