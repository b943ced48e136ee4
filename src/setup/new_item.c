/*
 * new_item.c: the id and the spec of a new work item, from the words that say what is wanted.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "context/file.h"
#include "src/config/decode.h"
#include "src/local/local.h"
#include "src/setup/setup.h"
#include "src/store/disk.h"
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

enum {
	SPEC_MAX = 4 << 20,
	TITLE_MAX = 72, /* characters */
	NAME_LETTERS = 40,
	KEY_LETTERS = 8,
	NUMBER_DIGITS = 9,
	LOCK_WAIT_MS = 30000
};

/* ---- what is there ---- */

struct spec_file {
	const char *path; /* relative to the repository */
	struct str text;
};

struct known {
	struct arena *arena;
	const char *repo;
	VEC(struct spec_file) specs;
	const char *items; /* directory of the items' documents; NULL: no origin */
};

/* A file that cannot be read is found by its name alone. */
static int load_specs(struct known *k, struct error *err)
{
	char **paths;
	size_t n;

	if (git_find_files(k->arena, k->repo, environment_is_spec, &paths, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;
		struct error ignored;

		if (sys_read_file(&text, path_join(k->arena, k->repo, paths[i]), SPEC_MAX, NULL,
			    &ignored) < 0)
			buf_clear(&text);
		vec_push_in(k->arena, &k->specs,
			((struct spec_file){paths[i], arena_str(k->arena, buf_str(&text))}));
	}
	return 0;
}

static int load_known(struct arena *a, const char *repo, struct known *k, struct error *err)
{
	char *state, *slug;
	int named;

	*k = (struct known){.arena = a, .repo = repo};
	if (context_state_directory(a, &state, err) < 0)
		return -1;
	named = git_slug(a, repo, &slug, err);
	if (named < 0)
		return -1;
	if (named == 0)
		k->items = path_join(a, state, slug);
	return load_specs(k, err);
}

static const char *new_item_document_of(const struct known *k, const char *id)
{
	return k->items ? arena_printf(k->arena, "%s/%s.md", k->items, id) : NULL;
}

static bool new_item_has_item(const struct known *k, const char *id)
{
	const char *document = new_item_document_of(k, id);

	return document && path_exists(document);
}

/* The spec that names the id, in its name or, with `text`, anywhere; NULL: none does. */
static const struct spec_file *new_item_find_spec(const struct known *k, const char *id, bool text)
{
	for (size_t i = 0; i < k->specs.n; i++) {
		const struct spec_file *s = &k->specs.items[i];

		if (environment_spec_matches(path_base(s->path), str_of(id)) ||
			(text && environment_text_names(s->text, str_of(id))))
			return s;
	}
	return NULL;
}

/* Whether the first line is `# ID: TITLE`. */
static bool has_title(const struct spec_file *s, const char *title, struct str *id)
{
	struct str rest = s->text, line = {0};
	size_t colon;

	(void)str_line(&rest, &line);
	if (!str_starts(line, "# "))
		return false;
	line = str_sub(line, 2, line.n);
	colon = str_find(line, STR(": "));
	*id = str_sub(line, 0, colon);
	return colon < line.n && path_is_id(*id) &&
	       str_is(str_trim(str_sub(line, colon + 2, line.n)), title);
}

/* ---- ids ---- */

static bool all_digits(struct str s)
{
	return config_made_of(s, CONFIG_DIGIT, "", CONFIG_DIGIT, "");
}

/* KEY-NUMBER */
static bool has_id_form(struct str word)
{
	size_t dash = str_find(word, STR("-"));

	return dash < word.n && settings_key_valid(str_sub(word, 0, dash)) &&
	       all_digits(str_sub(word, dash + 1, word.n));
}

/* A spec that was written for the word alone has its name, and another id. */
static bool spec_names(const struct known *k, const char *word, bool text)
{
	const struct spec_file *s = new_item_find_spec(k, word, text);
	struct str id;

	return s && (!has_title(s, word, &id) || str_is(id, word));
}

int new_item_is_id(struct arena *a, const char *repo, const char *word, bool alone, bool *is_id,
	struct error *err)
{
	struct known k;

	*is_id = has_id_form(str_of(word)) || (alone && all_digits(str_of(word)));
	if (*is_id || !path_is_id(str_of(word)))
		return 0;
	if (load_known(a, repo, &k, err) < 0)
		return -1;
	*is_id = new_item_has_item(&k, word) ||
		 spec_names(&k, word, alone && strpbrk(word, "0123456789"));
	return 0;
}

/* SHOP of `acme/shop`, TASK if nothing is left of the name. */
int new_item_key(struct arena *a, const char *repo, const char **key, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct settings settings;
	struct str name;
	char *slug;
	int named;

	if (settings_load(a, repo, &settings, err) < 0)
		return -1;
	*key = settings.key;
	if (*key)
		return 0;
	named = git_slug(a, repo, &slug, err);
	if (named < 0)
		return -1;
	name = path_base(named ? repo : slug);
	for (size_t i = 0; i < name.n && out.len < KEY_LETTERS; i++)
		if (isalpha((unsigned char)name.p[i]))
			buf_addc(&out, (char)toupper((unsigned char)name.p[i]));
		else if (out.len)
			break;
	*key = out.len ? arena_dup(a, buf_str(&out)) : "TASK";
	return 0;
}

/* The greatest N of each `KEY-N` in the text. */
static void new_item_take_number(struct str text, const char *key, unsigned long *last)
{
	size_t n = strlen(key), at = 0;

	while ((at += str_find(str_sub(text, at, text.n), str_of(key))) < text.n) {
		size_t from = at + n + 1, to = from;

		while (to < text.n && isdigit((unsigned char)text.p[to]))
			to++;
		if (from < text.n && text.p[from - 1] == '-' && to > from &&
			to - from <= NUMBER_DIGITS) {
			unsigned long number = strtoul(text.p + from, NULL, 10);

			*last = number > *last ? number : *last;
		}
		at++;
	}
}

/* The names of task files begin with the id in small letters. */
static int take_tasks(
	struct known *k, const char *dir, const char *key, unsigned long *last, struct error *err)
{
	struct directory_names names = {0};
	bool missing;

	if (directory_list(k->arena, path_join(k->arena, k->repo, dir), &names, &missing, err) < 0)
		return missing ? 0 : -1;
	for (size_t i = 0; i < names.n; i++) {
		char *name = arena_dup(k->arena, str_of(names.items[i]));

		for (char *c = name; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		new_item_take_number(str_of(name), key, last);
	}
	return 0;
}

/* Items, specs, tasks and branches: also a branch whose item was deleted has its id. */
static int new_item_find_last(
	struct known *k, const char *key, unsigned long *last, struct error *err)
{
	CLEANUP(buf_release) struct buf branches = BUF_INIT;
	const char *const argv[] = {"git", "for-each-ref", "--format=%(refname)", "refs/heads/",
		"refs/remotes/origin/", NULL};
	const struct git_command c = {.dir = k->repo, .name = "git for-each-ref", .argv = argv};
	struct directory_names names = {0};
	bool missing;

	*last = 0;
	if (git_command(&c, &branches, NULL, err) < 0 ||
		take_tasks(k, "backlog/tasks", key, last, err) < 0 ||
		take_tasks(k, "backlog/completed", key, last, err) < 0 ||
		(k->items && directory_list(k->arena, k->items, &names, &missing, err) < 0 &&
			!missing))
		return -1;
	new_item_take_number(buf_str(&branches), key, last);
	for (size_t i = 0; i < names.n; i++)
		if (str_ends(str_of(names.items[i]), ".md")) /* a refused run leaves other files */
			new_item_take_number(str_of(names.items[i]), key, last);
	for (size_t i = 0; i < k->specs.n; i++) {
		new_item_take_number(str_of(k->specs.items[i].path), key, last);
		new_item_take_number(k->specs.items[i].text, key, last);
	}
	return 0;
}

static int new_item_next_id(struct known *k, const char **id, struct error *err)
{
	unsigned long last;
	const char *key;

	if (new_item_key(k->arena, k->repo, &key, err) < 0 ||
		new_item_find_last(k, key, &last, err) < 0)
		return -1;
	*id = arena_printf(k->arena, "%s-%lu", key, last + 1);
	return 0;
}

int new_item_last(
	struct arena *a, const char *repo, const char *key, unsigned long *last, struct error *err)
{
	struct known k;

	return load_known(a, repo, &k, err) < 0 ? -1 : new_item_find_last(&k, key, last, err);
}

/* ---- the spec ---- */

/* Another spec names it: with this text two would, and neither would be found. */
static int new_item_check_words(
	const struct known *k, const struct new_item *item, struct error *err)
{
	struct str rest = str_of(item->text);

	while (rest.n) {
		const struct spec_file *s;
		const char *word;
		size_t n = 0;

		while (n < rest.n && (isalnum((unsigned char)rest.p[n]) || strchr("_-", rest.p[n])))
			n++;
		word = arena_dup(k->arena, str_sub(rest, 0, n));
		rest = str_sub(rest, n + 1 < rest.n ? n + 1 : rest.n, rest.n);
		if (!has_id_form(str_of(word)) || (item->id && strcmp(item->id, word) == 0))
			continue;
		s = new_item_find_spec(k, word, true);
		if (s)
			return error_set(err, ERR_INPUT,
				"the text names '%s', whose spec is '%s', and an id may be in one "
				"spec only: leave the id out, or write it into that spec",
				word, s->path);
	}
	return 0;
}

/* How many bytes the letter or digit has that `text`, valid UTF-8, begins with; 0: it begins with
 * none. Beyond ASCII: the blocks of alphabets, syllables and ideographs, not those of signs. */
static size_t new_item_letter(const char *text)
{
	unsigned char c = (unsigned char)*text;
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	uint32_t code = c & (0x7fu >> n);

	if (n == 1)
		return isalnum(c) ? 1 : 0;
	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return (code >= 0xc0 && code < 0x2000 && code != 0xd7 && code != 0xf7) ||
			       (code >= 0x3040 && code < 0xe000) || code >= 0x20000
		       ? n
		       : 0;
}

/* "Say-hello" of "say hello!" */
static const char *new_item_name_of(struct arena *a, const char *title)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (struct str rest = str_of(title); rest.n && out.len < NAME_LETTERS;) {
		size_t n = new_item_letter(rest.p);

		if (n == 1)
			buf_addc(&out, (char)(out.len ? *rest.p : toupper(*rest.p)));
		else if (n)
			buf_add(&out, str_sub(rest, 0, n));
		else if (out.len && out.s[out.len - 1] != '-')
			buf_addc(&out, '-');
		rest = str_sub(rest, 1, rest.n);
		while (rest.n && ((unsigned char)*rest.p & 0xc0) == 0x80)
			rest = str_sub(rest, 1, rest.n);
	}
	while (out.len && out.s[out.len - 1] == '-')
		buf_cut(&out, out.len - 1);
	return out.len ? arena_dup(a, buf_str(&out)) : "Task";
}

char *new_item_slug(struct arena *a, const char *title)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (; *title && out.len < NEW_ITEM_SLUG_MAX; title++) {
		unsigned char c = (unsigned char)tolower((unsigned char)*title);

		if (c < 0x80 && isalnum(c))
			buf_addc(&out, (char)c);
		else if (out.len && out.s[out.len - 1] != '-')
			buf_addc(&out, '-');
	}
	while (out.len && out.s[out.len - 1] == '-')
		buf_cut(&out, out.len - 1);
	return arena_dup(a, buf_str(&out));
}

bool new_item_ended(const struct context *doc)
{
	struct str state = context_get(doc, "state");

	return context_get(doc, "outcome").n || str_is(state, "done") || str_is(state, "failed");
}

static bool new_item_has_ended(const struct known *k, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	const char *document = new_item_document_of(k, id);
	struct error ignored;

	return document && path_exists(document) &&
	       context_open(&f, document, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       new_item_ended(&f.doc);
}

/* Its first step was refused because no spec names it. */
static bool lacks_spec(const struct known *k, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;

	return context_open(&f, new_item_document_of(k, id), CONTEXT_READ_ONLY, &ignored) == 0 &&
	       str_is(context_get(&f.doc, "state"), "spec-finding") &&
	       !context_get(&f.doc, "spec_path").n && !new_item_find_spec(k, id, true);
}

/* The spec may have been edited since; words below the title must still be in it, or they would be
 * lost. */
static bool new_item_has_words(
	const struct spec_file *s, const struct new_item *item, struct str *id)
{
	return has_title(s, item->title, id) &&
	       (strcmp(item->text, item->title) == 0 ||
		       str_find(s->text, str_of(item->text)) < s->text.n);
}

/* A repeated command continues the item that it began. */
static bool find_same(const struct known *k, struct new_item *item)
{
	for (size_t i = 0; i < k->specs.n; i++) {
		struct str id;

		if (!new_item_has_words(&k->specs.items[i], item, &id) ||
			(item->id && !str_is(id, item->id)) ||
			new_item_has_ended(k, arena_dup(k->arena, id)))
			continue;
		item->id = arena_dup(k->arena, id);
		item->path = k->specs.items[i].path;
		item->existed = true;
		return true;
	}
	return false;
}

static const char *spec_text(struct arena *a, const struct new_item *item)
{
	return arena_printf(a,
		"# %s: %s\n"
		"\n"
		"## Goal\n"
		"\n"
		"%s\n"
		"\n"
		"## Scope\n"
		"\n"
		"What the goal needs, and nothing else.\n"
		"\n"
		"## Behaviour\n"
		"\n"
		"As the goal says. Where it leaves a choice: what fits the existing code with the "
		"smallest change.\n"
		"\n"
		"## Exit criteria\n"
		"\n"
		"1. The goal is met, and a test that fails without the change shows it, where a "
		"test is possible.\n"
		"2. The validation passes.\n"
		"\n"
		"## Decisions\n"
		"\n"
		"None yet.\n",
		item->id, item->title, item->text);
}

static int new_item_make_directory(const char *dir, struct error *err)
{
	if (mkdir(dir, 0777) == 0 || (errno == EEXIST && path_is_directory(dir)))
		return 0;
	return error_errno(err, "cannot make the directory '%s'", dir);
}

int setup_create_file(struct arena *a, const char *repo, const char *path, struct str text,
	mode_t mode, struct error *err)
{
	const char *file = path_join(a, repo, path);
	CLEANUP(base_close) int fd = -1;

	if (path_make_each(arena_dup(a, path_dir(file)), new_item_make_directory, err) < 0)
		return -1;
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0 && errno == EEXIST)
		return 1;
	if (fd < 0)
		return error_errno(err, "cannot write '%s'", file);
	return sys_write_all(fd, text, file, err);
}

static int new_item_write_spec(const struct known *k, struct new_item *item, struct error *err)
{
	const char *name = new_item_name_of(k->arena, item->title),
		   *text = spec_text(k->arena, item);
	struct settings settings;
	int rc = 1;

	if (settings_load(k->arena, k->repo, &settings, err) < 0)
		return -1;
	for (unsigned i = 1; rc > 0; i++) {
		const char *file = i == 1 ? arena_printf(k->arena, "_spec_%s.md", name)
					  : arena_printf(k->arena, "_spec_%s-%u.md", name, i);

		item->path = settings.specs && strcmp(settings.specs, ".") != 0
				     ? path_join(k->arena, settings.specs, file)
				     : file;
		rc = setup_create_file(k->arena, k->repo, item->path, str_of(text), 0666, err);
	}
	return rc;
}

static int new_item_check_text(struct arena *a, struct new_item *item, struct error *err)
{
	struct str text = str_trim(str_of(item->text)), line;
	size_t i = 0;

	while (i < text.n && !isalnum((unsigned char)text.p[i]) &&
		!((unsigned char)text.p[i] & 0x80))
		i++;
	if (i == text.n)
		return error_set(err, ERR_USAGE, "no words: say what is wanted");
	if (str_utf8_fault(text))
		return error_set(err, ERR_USAGE, "the words are not UTF-8");
	item->text = arena_dup(a, text);
	(void)str_line(&text, &line);
	item->title = arena_printable(a, str_trim(str_cut(line, TITLE_MAX)), SIZE_MAX);
	return 0;
}

/* What a run would refuse. */
static int new_item_check_branch(const char *id, struct error *err)
{
	if (preflight_is_branch_name(str_of(id)))
		return 0;
	return error_set(err, ERR_USAGE,
		"'%s' cannot be the name of a branch: choose another id, without '.lock' or '.' at "
		"its end",
		id);
}

/* Under a lock, or two calls could choose the same id. */
int new_item_write(struct arena *a, const char *repo, struct new_item *item, struct error *err)
{
	CLEANUP(disk_lock_drop) struct disk_lock *lock = NULL;
	struct known k;
	char *state;

	if ((item->id && (path_check_id(item->id, err) < 0 ||
				 new_item_check_branch(item->id, err) < 0)) ||
		new_item_check_text(a, item, err) < 0 ||
		context_state_directory(a, &state, err) < 0 || path_mkdirs(state, err) < 0 ||
		disk_lock_take(&lock, path_join(a, state, ".new.lock"), LOCK_WAIT_MS, err) < 0 ||
		load_known(a, repo, &k, err) < 0)
		return -1;
	if (find_same(&k, item))
		return 0;
	if (new_item_check_words(&k, item, err) < 0)
		return -1;
	if (item->id && ((new_item_has_item(&k, item->id) && !lacks_spec(&k, item->id)) ||
				new_item_find_spec(&k, item->id, true)))
		return error_set(err, ERR_STATE, "'%s' is taken by %s: choose another id", item->id,
			new_item_has_item(&k, item->id)
				? "a work item"
				: new_item_find_spec(&k, item->id, true)->path);
	if (!item->id && new_item_next_id(&k, &item->id, err) < 0)
		return -1;
	return new_item_write_spec(&k, item, err);
}

/* ---- the words of a command line ---- */

static const char *new_item_join(struct arena *a, const char *const *words, size_t n)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_addf(&out, "%s%s", i ? " " : "", words[i]);
	return arena_dup(a, buf_str(&out));
}

/* Each of the words is an id; false as soon as one is not. */
static int all_are_ids(struct arena *a, const char *repo, const char *const *words, size_t n,
	bool *first, bool *all, struct error *err)
{
	*all = true;
	for (size_t i = 0; i < n && *all; i++) {
		if (new_item_is_id(a, repo, words[i], n == 1, all, err) < 0)
			return -1;
		if (i == 0)
			*first = *all;
	}
	return 0;
}

/* One word that looks like a name is a mistyped id, and not what is wanted: agents would be paid
 * for it. */
static int check_lone_word(const char *word, struct error *err)
{
	struct str id = path_base(word);

	if (*word == '-' && word[1])
		return error_set(err, ERR_USAGE,
			"'%.200s' is neither an id, which begins with a letter or digit, nor what "
			"is "
			"wanted: options come before '--'",
			word);
	if (strpbrk(word, " \t\n") || !strpbrk(word, "0123456789/_."))
		return 0;
	id = str_sub(id, str_starts(id, "."), id.n);
	id = str_sub(id, 0, str_find(id, STR(".")));
	if (has_id_form(id) && !str_is(id, word)) /* a file of an item, such as `X-5.md` */
		return error_set(err, ERR_USAGE,
			"'%.200s' is not an id: give '%.*s', or say what is wanted in words", word,
			(int)id.n, id.p);
	return error_set(err, ERR_USAGE,
		"'%.200s' is no id (KEY-NUMBER), and no work item or spec has this name: correct "
		"it, or say "
		"what is wanted in several words",
		word);
}

int new_item_ids(struct arena *a, const char *repo, const char *const *words, size_t n,
	struct item_ids *ids, struct error *err)
{
	struct new_item item = {0};
	bool first, all;

	if (all_are_ids(a, repo, words, n, &first, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < n && all; i++)
		vec_push_in(a, ids, words[i]);
	if (all)
		return 0;
	if ((n == 1 || (*words[0] == '-' && words[0][1])) && check_lone_word(words[0], err) < 0)
		return -1;
	item.id = first ? words[0] : NULL;
	item.text = new_item_join(a, words + first, n - first);
	if (new_item_write(a, repo, &item, err) < 0)
		return -1;
	error_log("dev-team: %s: %s '%s'", item.id, item.existed ? "continues with" : "wrote",
		item.path);
	vec_push_in(a, ids, item.id);
	ids->are_words = true;
	return 0;
}
