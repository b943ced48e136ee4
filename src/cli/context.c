#include "context/lease.h"
#include "src/machine/actions.h"
#include "src/sys/path.h"
#include "src/cli/common.h"
#include "src/machine/engine.h"
#include "src/verify/restore.h"

enum { REPO };

static const struct option_spec options[] = {
	[REPO] = {"repo", "DIR",
		"for 'path': the repository; default: the one around the working directory", false},
	{0},
};

struct sub {
	const char *name;
	unsigned min, max; /* words after the name */
	int (*run)(struct invocation *in, struct error *err);
};

static int run_path(struct invocation *in, struct error *err)
{
	char *repo, *path;

	if (id_check(in->args->words[1], err) < 0)
		return -1;
	if (repo_root(in->arena, in->args->value[REPO], &repo, err) < 0)
		return -1;
	if (context_file_path(in->arena, NULL, repo, in->args->words[1], &path, err) < 0)
		return -1;
	buf_addf(in->out, "%s\n", path);
	return 0;
}

static int run_get(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *key = in->args->words[2];

	if (context_open(&f, in->args->words[1], CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (!context_has(&f.doc, key))
		return error_set(err, ERR_INPUT, "'%s' has no key '%.100s'", f.path, key);
	buf_add(in->out, context_get(&f.doc, key));
	buf_addc(in->out, '\n');
	return 0;
}

static bool key_valid(struct str key)
{
	return id_valid(key) && str_find(key, STR(".")) == key.n;
}

static int check_count(const char *key, struct str value, struct error *err)
{
	bool digits = value.n > 0;

	for (size_t i = 0; i < value.n; i++)
		digits = digits && value.p[i] >= '0' && value.p[i] <= '9';
	if (!digits)
		return error_set(
			err, ERR_INPUT, "'%s' must be a whole number, not '%.60s'", key, value.p);
	if (value.n > 9)
		return error_set(err, ERR_INPUT, "'%s' must be at most 999999999", key);
	return 0;
}

static int check_value(const char *key, struct str value, struct error *err)
{
	if (!key_valid(str_of(key)))
		return error_set(
			err, ERR_USAGE, "bad key '%.100s': must be letters, digits, '_', '-'", key);
	if (strcmp(key, "work_item_id") == 0 || strcmp(key, "revision") == 0 ||
		strcmp(key, "attempts") == 0)
		return error_set(err, ERR_INPUT, "'%s' is not to be set", key);
	if (utf8_fault(value))
		return error_set(
			err, ERR_INPUT, "the value is not UTF-8 text: byte %zu", utf8_fault(value));
	if (strcmp(key, "state") == 0 && !value.n)
		return error_set(err, ERR_INPUT, "'state' must not be empty");
	return context_is_counter(key) ? check_count(key, value, err) : 0;
}

static int run_set(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *key = in->args->words[2];
	struct str value;

	if (read_input(&text, CONTEXT_MAX, err) < 0)
		return -1;
	value = str_of(arena_dup(in->arena, str_trim(buf_str(&text))));
	if (memchr(text.s, 0, text.len))
		return error_set(err, ERR_INPUT, "the value has a NUL byte");
	if (check_value(key, value, err) < 0)
		return -1;
	if (context_open(&f, in->args->words[1], CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	return engine_set_key(&f, key, value, err);
}

static void show_head(struct invocation *in, const struct context_file *f)
{
	buf_add(in->out, str_sub(f->doc.text, 0, f->doc.head_end));
	buf_adds(in->out, "---\n");
}

static int show_section(struct invocation *in, const struct context_file *f, struct str name,
	bool headed, struct error *err)
{
	char *text = arena_dup(in->arena, name);

	if (!context_has_section(&f->doc, text))
		return error_set(err, ERR_INPUT, "'%s' has no section '%.80s'", f->path, text);
	if (headed)
		buf_addf(in->out, "## %s\n\n", text);
	buf_add(in->out, context_section(&f->doc, text));
	buf_addc(in->out, '\n');
	return 0;
}

static int run_show(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const struct args *args = in->args;

	if (context_open(&f, args->words[1], CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (args->n == 3)
		return show_section(in, &f, str_of(args->words[2]), false, err);
	if (args->n == 2)
		show_head(in, &f);
	for (size_t i = 0; args->n == 2 && i < context_sections(&f.doc); i++) {
		buf_addc(in->out, '\n');
		if (context_has_section(
			    &f.doc, arena_dup(in->arena, context_section_name(&f.doc, i))) &&
			show_section(in, &f, context_section_name(&f.doc, i), true, err) < 0)
			return -1;
	}
	for (size_t i = 2; i < args->n; i++) {
		buf_adds(in->out, i > 2 ? "\n" : "");
		if (show_section(in, &f, str_of(args->words[i]), true, err) < 0)
			return -1;
	}
	return 0;
}

static int add_holder(struct buf *out, struct context_file *f, struct error *err)
{
	struct holder h;

	if (lease_read(f, &h, err) < 0)
		return -1;
	if (h.live) {
		buf_adds(out, ", ");
		holder_say(out, &h);
	}
	return 0;
}

static int run_check(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *actions = NULL;

	if (context_open(&f, in->args->words[1], CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (actions_load(&f.doc, &actions, err) < 0)
		return -1;
	buf_addf(in->out, "%s: good; %s is in '%s', %zu sections, %zu outstanding", f.path,
		context_get(&f.doc, "work_item_id").p, context_get(&f.doc, "state").p,
		context_sections(&f.doc), json_len(actions));
	if (add_holder(in->out, &f, err) < 0)
		return -1;
	buf_addc(in->out, '\n');
	return 0;
}

static int run_restore(struct invocation *in, struct error *err)
{
	const struct args *args = in->args;
	struct history_place place;
	struct restored done;
	const char *file;
	int64_t rev;

	if (history_split(in->arena, args->words[1], &file, &rev, err) < 0 ||
		(args->n == 3 && history_rev(args->words[2], &rev, err) < 0) ||
		history_find(in->arena, file, &place, err) < 0 ||
		restore_document(&place, rev, &done, err) < 0)
		return -1;
	if (!done.to)
		buf_addf(in->out,
			"%s: is good, nothing to do; to put another in its place, say which "
			"revision\n",
			place.path);
	else if (!done.stood)
		buf_addf(in->out, "%s: is as it was at revision %lld; nothing to do\n", place.path,
			(long long)done.to);
	else
		buf_addf(in->out,
			"%s: as it was at revision %lld; what stood there is revision %lld\n",
			place.path, (long long)done.to, (long long)done.stood);
	return 0;
}

static const struct sub subs[] = {
	{"path", 1, 1, run_path},
	{"get", 2, 2, run_get},
	{"set", 2, 2, run_set},
	{"show", 1, MAX_WORDS, run_show},
	{"check", 1, 1, run_check},
	{"restore", 1, 2, run_restore},
};

static int run(struct invocation *in, struct error *err)
{
	const char *name = in->args->words[0];

	for (size_t i = 0; i < COUNT(subs); i++) {
		if (strcmp(subs[i].name, name) != 0)
			continue;
		if (in->args->n - 1 < subs[i].min || in->args->n - 1 > subs[i].max)
			return error_set(err, ERR_USAGE, "usage: dev-team context %s",
				verb_context.synopsis);
		return subs[i].run(in, err);
	}
	return error_set(
		err, ERR_USAGE, "context: unknown '%.60s' (see 'dev-team context --help')", name);
}

const struct verb verb_context = {
	.name = "context",
	.synopsis = "path ID | get FILE KEY | set FILE KEY < VALUE | show FILE [SECTION...] | "
		    "check FILE | restore FILE [N]",
	.about = "read and edit a work item's document",
	.details =
		"path   where the document of a work item is\n"
		"get    the value of a frontmatter key\n"
		"set    sets one, under the lock, to the text on standard input; all else stays "
		"byte for byte\n"
		"show   the whole document, or the text of sections\n"
		"check  parses it, and says who holds it; a fault is told as FILE:LINE:COL, exit "
		"status 3\n"
		"restore  puts the last good document in the place of one that is broken or gone, "
		"or the one of\n"
		"       revision N; what stood there is in the history (see 'dev-team history')",
	.options = options,
	.min_words = 1,
	.max_words = MAX_WORDS,
	.run = run,
};
