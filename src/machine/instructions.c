#include "src/sys/path.h"
#include "src/base/yml.h"
#include "src/machine/instructions.h"

enum { INSTRUCTIONS_MAX = 1 << 20, WORDS_MAX = 10 };

/* A plugin's name stands before the colon; what is no plain name is looked for nowhere. */
static const char *plain_name(struct arena *a, const char *name)
{
	const char *colon = strrchr(name, ':');
	struct str plain = str_of(colon ? colon + 1 : name);

	return id_valid(plain) ? arena_dup(a, plain) : NULL;
}

static int read_one(struct arena *a, const char *path, struct str *text, struct error *err)
{
	CLEANUP(buf_release) struct buf all = BUF_INIT;
	bool missing;

	*text = (struct str){0};
	if (file_read(&all, path, INSTRUCTIONS_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	if (utf8_fault(buf_str(&all)))
		return error_at(err, path, 1, 1, "not valid UTF-8");
	*text = arena_str(a, buf_str(&all));
	return 1;
}

/* 1: found. `rest` has a %s for the name. */
static int find(struct arena *a, const char *root, const char *repo, const char *folder,
	const char *name, const char *tail, struct instructions *out, struct error *err)
{
	const char *home = getenv("HOME");
	const char *const dirs[] = {root, arena_printf(a, "%s/.claude", repo),
		home && *home ? arena_printf(a, "%s/.claude", home) : NULL};

	for (size_t i = 0; i < COUNT(dirs); i++) {
		char *path;
		int rc;

		if (!dirs[i])
			continue;
		path = arena_printf(a, "%s/%s/%s%s", dirs[i], folder, name, tail);
		rc = read_one(a, path, &out->text, err);
		if (rc == 0)
			continue;
		out->path = path;
		return rc;
	}
	return 0;
}

/* Splits `---` YAML `---` off *text; an empty one where there is none. */
static struct str cut_frontmatter(struct str *text)
{
	struct str rest = *text, line, front;

	if (!str_line(&rest, &line) || !str_is(line, "---"))
		return (struct str){0};
	front = (struct str){rest.p, 0};
	while (str_line(&rest, &line)) {
		if (str_is(line, "---")) {
			front.n = (size_t)(line.p - front.p);
			*text = rest;
			return front;
		}
	}
	return (struct str){0};
}

/* `A, B, C`, or a list. */
static const char *const *tool_list(struct arena *a, const struct yml *tools)
{
	const char **list;
	size_t n = 0;
	struct str text;

	if (!tools || tools->kind == YML_MAP)
		return NULL;
	list = arena_alloc(
		a, (tools->kind == YML_LIST ? tools->n : tools->text.n / 2 + 1) * sizeof(*list) +
			   sizeof(*list));
	for (size_t i = 0; tools->kind == YML_LIST && i < tools->n; i++)
		list[n++] = arena_dup(a, tools->list[i]->text);
	text = tools->kind == YML_SCALAR ? tools->text : (struct str){0};
	while (text.n) {
		size_t comma = str_find(text, STR(","));
		struct str one = str_trim(str_sub(text, 0, comma));

		if (one.n)
			list[n++] = arena_dup(a, one);
		text = comma < text.n ? str_sub(text, comma + 1, text.n) : (struct str){0};
	}
	return list;
}

static int take_frontmatter(struct arena *a, struct instructions *out, struct error *err)
{
	struct str front = cut_frontmatter(&out->text);
	struct yml *map;

	out->text = str_trim(out->text);
	if (!front.n)
		return 0;
	if (yml_parse(a, front, out->path, 2, &map, err) < 0)
		return -1;
	if (map->kind == YML_MAP)
		out->tools = tool_list(a, yml_get(map, "tools"));
	return 0;
}

int instructions_agent(struct arena *a, const char *root, const char *repo, const char *agent,
	struct instructions *out, struct error *err)
{
	const char *name = plain_name(a, agent);
	int rc;

	*out = (struct instructions){0};
	if (!name)
		return 0;
	rc = find(a, root, repo, "agents", name, ".md", out, err);
	return rc > 0 ? take_frontmatter(a, out, err) : rc;
}

struct arguments {
	const char *all;
	struct str word[WORDS_MAX];
	size_t n;
};

/* Blanks part words; single quotes, as buf_add_shell() writes them, keep them together. */
static void split(struct arena *a, const char *args, struct arguments *out)
{
	CLEANUP(buf_release) struct buf word = BUF_INIT;
	const char *p = args;

	out->all = args;
	while (*p && out->n < WORDS_MAX) {
		bool quoted = false, any = false;

		p += strspn(p, " \t\n");
		buf_clear(&word);
		for (; *p && (quoted || !strchr(" \t\n", *p)); p++, any = true) {
			if (*p == '\'')
				quoted = !quoted;
			else if (*p == '\\' && !quoted && p[1])
				buf_addc(&word, *++p);
			else
				buf_addc(&word, *p);
		}
		if (any)
			out->word[out->n++] = arena_str(a, buf_str(&word));
	}
}

/* What `$...` at the head of `text` stands for; *used bytes of it. False: it stays. */
static bool value_of(const struct arguments *args, struct str text, size_t *used, struct str *value)
{
	if (str_starts(text, "$ARGUMENTS")) {
		*used = strlen("$ARGUMENTS");
		*value = str_of(args->all);
		return true;
	}
	if (text.n < 2 || text.p[1] < '0' || text.p[1] > '9')
		return false;
	*used = 2;
	if ((size_t)(text.p[1] - '0') >= args->n)
		return false;
	*value = args->word[text.p[1] - '0'];
	return true;
}

static struct str substitute(struct arena *a, struct str text, const struct arguments *args)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	size_t i = 0, used;
	struct str value;

	while (i < text.n) {
		if (text.p[i] == '$' && value_of(args, str_sub(text, i, text.n), &used, &value)) {
			buf_add(&out, value);
			i += used;
		} else {
			buf_addc(&out, text.p[i++]);
		}
	}
	return arena_str(a, buf_str(&out));
}

int instructions_skill(struct arena *a, const char *root, const char *repo, const char *skill,
	const char *args, struct instructions *out, struct error *err)
{
	const char *name = plain_name(a, skill);
	struct arguments words = {0};
	int rc;

	*out = (struct instructions){0};
	if (!name)
		return 0;
	rc = find(a, root, repo, "skills", name, "/SKILL.md", out, err);
	if (rc <= 0)
		return rc;
	if (take_frontmatter(a, out, err) < 0)
		return -1;
	split(a, args ? args : "", &words);
	out->text = substitute(a, out->text, &words);
	return 0;
}
