#include "src/sys/path.h"
#include "src/policy/binary.h"

enum { POLICY_MAX = 256 << 10, DEPTH = 16 };

/* What a policy has that says nothing of limits. */
static const struct policy_limits usual = {.timeout_s = 600,
	.file_size = (uint64_t)4 << 30,
	.processes = 512,
	.open_files = 1024,
	.output = (uint64_t)16 << 20};

static int by_name(const void *name, const void *item)
{
	const struct str *want = name;
	const char *text = *(const char *const *)item;
	int order = strncmp(want->p, text, want->n);

	return order ? order : -(text[want->n] != '\0');
}

bool texts_have(const struct texts *t, struct str text)
{
	/* strncmp() would stop at a NUL of the text. */
	if (!t->n || !text.n || memchr(text.p, '\0', text.n))
		return false;
	return bsearch(&text, t->p, t->n, sizeof(*t->p), by_name) != NULL;
}

const char *layer_name(enum layer l)
{
	static const char *const names[LAYERS] = {[LAYER_LANDLOCK] = "landlock",
		[LAYER_SECCOMP] = "seccomp",
		[LAYER_PROCESSES] = "processes",
		[LAYER_NETWORK] = "network",
		[LAYER_MOUNTS] = "mounts",
		[LAYER_CGROUP] = "cgroup"};

	return names[l];
}

/* What file a policy without a name gets its name from. */
static const char *name_of(struct arena *a, const char *file)
{
	struct str base = path_base(file);

	for (size_t i = base.n; i > 1; i--)
		if (base.p[i - 1] == '.') {
			base.n = i - 1;
			break;
		}
	return policy_name_valid(base) ? arena_dup(a, base) : "policy";
}

static int parse(struct arena *a, const char *file, struct str text, struct yaml **map,
	struct policy *out, struct error *err)
{
	*out = (struct policy){.limits = usual};
	if (yaml_parse(a, text, file, 1, map, err) < 0 ||
		config_decode(a, file, *map, "a policy", policy_fields, out, err) < 0)
		return -1;
	if (!out->name)
		out->name = name_of(a, file);
	return 0;
}

/* A name that nothing is known of would be allowed in vain. */
static int check_known(struct arena *a, const char *file, const struct yaml *map,
	const struct policy *p, struct error *err)
{
	const struct yaml *allow = yaml_get(map, "allow"), *own = yaml_get(map, "programs");
	const struct policy none = {0};

	for (size_t i = 0; i < allow->n; i++)
		if (!binary_find(a, p, allow->list[i]->text))
			return error_at(err, file, allow->list[i]->line, allow->list[i]->col,
				"nothing is known of the program '%s': describe it under "
				"'programs'",
				allow->list[i]->text.p);
	for (size_t i = 0; own && i < own->n; i++) {
		const struct yaml *key = own->map[i].key;
		const struct binary *b = binary_find(a, &none, key->text);

		if (b && (b->check || b->flags & BINARY_BUILTIN))
			return error_at(err, file, key->line, key->col,
				"the program '%s' has rules of its own: they cannot be replaced",
				b->name);
	}
	return 0;
}

int policy_parse(
	struct arena *a, const char *file, struct str text, struct policy *out, struct error *err)
{
	struct yaml *map;

	if (parse(a, file, text, &map, out, err) < 0)
		return -1;
	return check_known(a, file, map, out, err);
}

static struct yaml *node_of(struct arena *a, const json *j, unsigned depth);

static struct yaml *scalar_of(struct arena *a, const json *j)
{
	struct yaml *node = arena_alloc(a, sizeof(*node));
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	*node = (struct yaml){.kind = YAML_SCALAR, .plain = !json_is_string(j)};
	if (json_is_string(j))
		buf_adds(&text, json_text(j));
	else
		json_print(&text, j);
	node->text = str_of(arena_dup(a, buf_str(&text)));
	return node;
}

static struct yaml *map_of(struct arena *a, const json *j, unsigned depth)
{
	struct yaml *node = arena_alloc(a, sizeof(*node));

	node->kind = YAML_MAP;
	node->map = arena_alloc(a, (json_len(j) + 1) * sizeof(*node->map));
	for (const json *m = json_first(j); m; m = json_next(m)) {
		struct yaml *key = arena_alloc(a, sizeof(*key));

		*key = (struct yaml){
			.kind = YAML_SCALAR, .text = str_of(arena_dup(a, str_of(json_key(m))))};
		node->map[node->n++] = (struct yaml_pair){key, node_of(a, m, depth + 1)};
	}
	return node;
}

/* What is nested deeper than any policy is becomes a text, which is refused as such. */
static struct yaml *node_of(struct arena *a, const json *j, unsigned depth)
{
	struct yaml *node;

	if (depth > DEPTH || (!json_is_object(j) && !json_is_array(j)))
		return scalar_of(a, j);
	if (json_is_object(j))
		return map_of(a, j, depth);
	node = arena_alloc(a, sizeof(*node));
	node->kind = YAML_LIST;
	node->list = arena_alloc(a, (json_len(j) + 1) * sizeof(*node->list));
	for (const json *item = json_first(j); item; item = json_next(item))
		node->list[node->n++] = node_of(a, item, depth + 1);
	return node;
}

int policy_from_json(struct arena *a, const json *j, struct policy *out, struct error *err)
{
	*out = (struct policy){.limits = usual, .name = "row", .network = true};
	return config_decode(a, NULL, node_of(a, j, 0), "a policy", policy_fields, out, err);
}

static bool is_path(const char *name)
{
	return strchr(name, '/') || str_ends(str_of(name), ".yaml") ||
	       str_ends(str_of(name), ".yml");
}

static int fault_of_name(const char *name, struct error *err)
{
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	for (const char *const *p = policy_shipped(); *p; p++)
		buf_addf(&list, "%s%s", p == policy_shipped() ? "" : p[1] ? ", " : " and ", *p);
	return error_set(err, ERR_INPUT,
		"unknown policy '%.200s': there are %s, or give the path of a file", name, list.s);
}

/* A test looks after the names in these. */
static int load_shipped(
	struct arena *a, const char *name, struct str text, struct policy *out, struct error *err)
{
	struct yaml *map;

	return parse(a, arena_printf(a, "policies/%s.yaml", name), text, &map, out, err);
}

int policy_load(struct arena *a, const char *name, struct policy *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str shipped = policy_shipped_text(name);
	bool missing;

	if (shipped.p)
		return load_shipped(a, name, shipped, out, err);
	if (!is_path(name))
		return fault_of_name(name, err);
	if (sys_read_file(&text, name, POLICY_MAX, &missing, err) < 0) {
		if (missing)
			error_set(err, ERR_INPUT, "no policy '%.400s'", name);
		return -1;
	}
	/* Nodes of the tree have copies of what they say. */
	return policy_parse(a, arena_dup(a, str_of(name)), buf_str(&text), out, err);
}
