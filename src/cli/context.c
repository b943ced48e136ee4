#include "context/lease.h"
#include "src/cli/cli.h"
#include "src/machine/action.h"
#include "src/machine/failure.h"
#include "src/run/locate.h"
#include "src/sys/path.h"
#include "src/verify/history.h"

static int context_open_document(
	struct invocation *in, struct context_file *f, enum context_mode mode, struct error *err)
{
	const char *file;

	return cli_find_document(in, in->words[0], &file, err) < 0
		       ? -1
		       : context_open(f, file, mode, err);
}

struct context_path_options {
	const char *repo;
};

static const struct option path_options[] = {
	CLI_REPO(struct context_path_options),
	OPTION_END,
};

static int run_path(struct invocation *in, struct error *err)
{
	const struct context_path_options *o = in->values;
	const char *repo, *path;

	if (path_check_id(in->words[0], err) < 0 ||
		locate_repository(in->arena, o->repo, &repo, err) < 0 ||
		locate_document(in->arena, NULL, repo, in->words[0], &path, err) < 0)
		return -1;
	buf_addf(in->out, "%s\n", path);
	return 0;
}

struct context_list_options {
	bool json;
};

static const struct option list_options[] = {
	OPTION_FLAG(struct context_list_options, json, "json", "print JSON: one array"),
	OPTION_END,
};

/* A document that cannot be read has its error instead of its state. */
static json *list_item(const char *path)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error err;

	if (context_open(&f, path, CONTEXT_READ_ONLY, &err) < 0)
		return JSON_OBJECT(JSON_TEXT("file", path), JSON_TEXT("error", err.text));
	return JSON_OBJECT(JSON_TEXT("id", context_get(&f.doc, "work_item_id").p),
		JSON_TEXT("state", failure_state(&f.doc)),
		JSON_TEXT("last_updated", context_get(&f.doc, "last_updated").p),
		JSON_TEXT("file", path));
}

static void put_item(struct buf *out, const json *item)
{
	const char *fault = json_get_str(item, "error");

	if (fault)
		buf_addf(out, "%-20s  %-16s  %s\n", "?", "(broken)", fault);
	else
		buf_addf(out, "%-20s  %-16s  %-20s  %s\n", json_get_str(item, "id"),
			json_get_str(item, "state"), json_get_str(item, "last_updated"),
			json_get_str(item, "file"));
}

static int context_run_list(struct invocation *in, struct error *err)
{
	const struct context_list_options *o = in->values;
	CLEANUP(json_free) json *items = json_array();
	struct store_paths paths;
	char *dir;

	if (in->n && !path_is_directory(in->words[0]))
		return error_set(err, ERR_INPUT, "'%s' is not a directory", in->words[0]);
	if (in->n)
		dir = path_absolute(in->arena, in->words[0]);
	else if (context_state_directory(in->arena, &dir, err) < 0)
		return -1;
	if (store_documents(store_backend(), in->arena, dir, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.n; i++)
		json_push(items, list_item(paths.items[i]));
	for (const json *i = json_first(items); i; i = json_next(i))
		put_item(in->out, i);
	cli_put_json(in, o->json, json_copy(items));
	return 0;
}

static int run_get(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *key = in->words[1];

	if (context_open_document(in, &f, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (!context_has(&f.doc, key))
		return error_set(err, ERR_INPUT, "'%s' has no key '%.100s'", f.path, key);
	buf_add(in->out, context_get(&f.doc, key));
	buf_addc(in->out, '\n');
	return 0;
}

static int run_set(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str value;

	if (cli_read_input(&text, CONTEXT_MAX, err) < 0)
		return -1;
	value = str_trim(buf_str(&text));
	if (context_check_key(in->arena, in->words[1], &value, err) < 0 ||
		context_open_document(in, &f, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	return context_set_key(&f, in->words[1], value, err);
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

/* The frontmatter and every section that has text. */
static int context_show_all(struct invocation *in, const struct context_file *f, struct error *err)
{
	buf_add(in->out, str_sub(f->doc.text, 0, f->doc.head_end));
	buf_adds(in->out, "---\n");
	for (size_t i = 0; i < context_sections(&f->doc); i++) {
		struct str name = context_section_name(&f->doc, i);

		buf_addc(in->out, '\n');
		if (context_has_section(&f->doc, arena_dup(in->arena, name)) &&
			show_section(in, f, name, true, err) < 0)
			return -1;
	}
	return 0;
}

static int context_run_show(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};

	if (context_open_document(in, &f, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (in->n == 1)
		return context_show_all(in, &f, err);
	for (size_t i = 1; i < in->n; i++) {
		buf_adds(in->out, i > 1 ? "\n" : "");
		if (show_section(in, &f, str_of(in->words[i]), in->n > 2, err) < 0)
			return -1;
	}
	return 0;
}

static int context_run_check(struct invocation *in, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(json_free) json *actions = NULL;
	struct lease_holder h;

	if (context_open_document(in, &f, CONTEXT_READ_ONLY, err) < 0 ||
		action_load(&f.doc, &actions, err) < 0 || lease_read(&f, &h, err) < 0)
		return -1;
	buf_addf(in->out, "%s: good; %s is in '%s', %zu sections, %zu outstanding", f.path,
		context_get(&f.doc, "work_item_id").p, context_get(&f.doc, "state").p,
		context_sections(&f.doc), json_len(actions));
	if (h.live) {
		buf_adds(in->out, ", ");
		lease_describe(in->out, &h);
	}
	buf_addc(in->out, '\n');
	return 0;
}

static int run_restore(struct invocation *in, struct error *err)
{
	struct history_place place;
	struct history_restored done;
	const char *file;
	int64_t rev;

	if (history_split(in->arena, in->words[0], &file, &rev, err) < 0 ||
		(in->n == 2 && history_rev(in->words[1], &rev, err) < 0) ||
		cli_find_document(in, file, &file, err) < 0 ||
		history_find(in->arena, file, &place, err) < 0 ||
		history_restore(&place, rev, &done, err) < 0)
		return -1;
	if (!done.to)
		buf_addf(in->out,
			"%s: is valid; nothing to do (name a revision to restore that one)\n",
			place.path);
	else if (!done.replaced)
		buf_addf(in->out, "%s: is revision %lld already; nothing to do\n", place.path,
			(long long)done.to);
	else
		buf_addf(in->out,
			"%s: restored revision %lld; the replaced text is revision %lld\n",
			place.path, (long long)done.to, (long long)done.replaced);
	return 0;
}

static const struct verb *const subcommands[] = {
	CLI_SUBCOMMAND("path", "ID", run_path,
		"print where the document of a work item is, or would be",
		.options = {path_options}, .size = sizeof(struct context_path_options)),
	CLI_SUBCOMMAND("list", "[DIR]", context_run_list,
		"print the state of every work item in DIR and below; without DIR, in the state "
		"directory",
		.options = {list_options}, .size = sizeof(struct context_list_options)),
	CLI_SUBCOMMAND("get", "ID|FILE KEY", run_get, "print the value of a frontmatter key"),
	CLI_SUBCOMMAND("set", "ID|FILE KEY < VALUE", run_set,
		"set a frontmatter key to the text on standard input, under the lock; everything "
		"else stays byte for byte"),
	CLI_SUBCOMMAND("show", "ID|FILE [SECTION...]", context_run_show,
		"print the whole document, or the text of the named sections"),
	CLI_SUBCOMMAND("check", "ID|FILE", context_run_check,
		"parse the document and print its state and owner; a fault is printed as "
		"FILE:LINE:COL, exit status 3"),
	CLI_SUBCOMMAND("restore", "ID|FILE [N]", run_restore,
		"replace a broken or missing document by the last good revision, or any document "
		"by revision N; the replaced text stays in the history"),
	NULL,
};

const struct verb verb_context = {
	.name = "context",
	.group = "Workflows",
	.about = "read, edit and restore a work item's document",
	.also = "show cat",
	.examples = "dev-team context list\n"
		    "dev-team context check ADR-1\n"
		    "dev-team context show ADR-1 'Validate Result'\n"
		    "echo 'use the v2 API' | dev-team context set ADR-1 user_note",
	.subcommands = subcommands,
};
