/* internal.h: the document's model, shared by the files of this room alone. */
#ifndef DT_CONTEXT_INTERNAL_H
#define DT_CONTEXT_INTERNAL_H

#include "context/context.h"
#include "src/base/yaml.h"

/* A frontmatter key. `from`..`to` is its value's range in the document's text. */
struct field {
	struct str key;
	struct yaml *node; /* NULL: added since */
	size_t from, to;
	struct str value;  /* what get() says; of a list or map: its text in the file */
	bool changed, raw; /* raw: the value is written as it is */
};

/* A section; sentinel line is from..body, content body..to. */
struct section {
	struct str name;
	size_t from, body, to;
	struct str text; /* trimmed, unescaped; valid when `known` */
	bool known, changed, added, removed;
};

/* KEY_ANY is not checked; STATE, ID and TIME are texts with a value in a new document. */
enum key_kind { KEY_ANY, KEY_TEXT, KEY_STATE, KEY_ID, KEY_TIME, KEY_COUNT, KEY_MAP, KEY_UNTIL };

/* Not in a new document; people must not set it. */
enum { KEY_LATER = 1, KEY_BY_MACHINE = 2 };

struct key_row {
	const char *name;
	enum key_kind kind;
	unsigned flags;
};

/* The keys that the machine owns, in the order of a new document. */
extern const struct key_row context_keys[];
extern const size_t context_n_keys;

/* True if the machine owns the key, and for the merge key `<<`, which would set such keys. */
bool context_owns(struct str key);
struct field *context_field(const struct context *c, const char *key);
struct field *context_add_field(struct context *c, struct str key);
struct section *context_find_section(const struct context *c, struct str name);
struct section *context_add_section(struct context *c, struct str name);

#endif
