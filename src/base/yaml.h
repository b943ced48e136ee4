/*
 * yaml.h: YAML text to a tree of nodes, each with its place and byte range. The only user of
 * libyaml.
 *
 * Refused, at their own line and column: syntax errors, anchors, aliases, tags, a second document,
 * duplicate keys, keys that are not scalars, more than 10000 keys in a map, nesting deeper than 16.
 * Scalars stay text: the reader of the tree decides what is a number or a null.
 *
 * Ownership: nodes and their text live in the arena that was passed in.
 */
#ifndef DT_YAML_H
#define DT_YAML_H

#include "src/base/buf.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
	enum yaml_kind kind;
	struct str text;       /* scalar: its value, escapes resolved, NUL-ended */
	bool plain;            /* scalar: written without quotes and not as a block */
	unsigned line, col;    /* 1-based, in the file */
	size_t from, to;       /* byte range of the node in the text that was parsed */
	struct yaml_pair *map; /* YAML_MAP: in the order of the file */
	struct yaml **list;    /* YAML_LIST */
	size_t n;              /* entries of map or list */
	unsigned *index;       /* of a map with many keys, for yaml_get(); else NULL */
	size_t n_index;
};

struct yaml_pair {
	struct yaml *key, *value;
};

/*
 * Parses `text`, which begins at line `line` (1-based) of `file`. An empty text gives an empty map.
 * 0, or -1 with the place.
 */
int yaml_parse(struct arena *a, struct str text, const char *file, unsigned line, struct yaml **out,
	struct error *err);

/*
 * The fast path of yaml_parse(), for yaml.c and its test: reads the simple form that this program
 * itself writes without libyaml, with which `history verify` takes 1.5 times as long. False for
 * anything that libyaml might read otherwise; what was allocated until then stays in the arena.
 */
bool yaml_plain(struct arena *a, struct str text, unsigned line, struct yaml **out);

/*
 * yaml_parse() for a map of several owners: below a key for which owned() is false, anchors,
 * aliases and tags are allowed, which the reader copies and does not interpret. The text of an
 * alias is
 * `*NAME`.
 */
int yaml_parse_owned(struct arena *a, struct str text, const char *file, unsigned line,
	bool (*owned)(struct str key), struct yaml **out, struct error *err);

/* The value of `key`, or NULL. */
struct yaml *yaml_get(const struct yaml *map, const char *key);

/* True for an empty plain scalar, `~` and `null`. */
bool yaml_is_null(const struct yaml *node);

/* A whole number from 0 to `max`; else -1 with the place and number_refuse()'s message about
 * `what`. */
int yaml_uint(const struct yaml *node, const char *file, const char *what, unsigned long max,
	unsigned long *out, struct error *err);

/* Cuts the frontmatter, a first line `---` and what follows it up to the next such line, off *text.
 * `front`: without these lines. False: there is none, or it is not closed. */
bool yaml_cut_front(struct str *text, struct str *front);

/* Adds `scalar`, as yaml_add_scalar() writes it, in place of the scalar at the bytes from..to of
 * `text`: with the blank behind its colon if it was empty, and the line break that a block has. */
void yaml_add_replaced(struct buf *b, struct str text, size_t from, size_t to, struct str scalar);

/* Adds `value` as a YAML scalar on one line: plain where that reads back the same, else quoted. */
void yaml_add_scalar(struct buf *b, struct str value);

#endif
