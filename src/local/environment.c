/* environment.c: what the engine needs from outside: the user's repository, git and forge. */
#include <errno.h>
#include <limits.h>
#include "src/graph/manifest.h"
#include "src/local/local.h"
#include "src/local/script.h"
#include "src/machine/verdict.h"
#include "src/sys/digest.h"
#include "src/sys/forge.h"
#include "src/sys/path.h"
#include "src/sys/process.h"

/* A dot joins only if something follows it: `ADR-1.2` is another id, `ADR-1.` ends a sentence. */
static bool ends_word(struct str t, size_t end)
{
	if (end < t.n && t.p[end] == '.')
		return !verdict_word_byte(t, end + 1);
	return !verdict_word_byte(t, end);
}

static bool begins_word(struct str t, size_t at)
{
	if (at && t.p[at - 1] == '.')
		return at < 2 || !verdict_word_byte(t, at - 2);
	return at == 0 || !verdict_word_byte(t, at - 1);
}

bool environment_text_names(struct str text, struct str id)
{
	size_t at = 0;

	while ((at += str_find(str_sub(text, at, text.n), id)) < text.n) {
		if (begins_word(text, at) && ends_word(text, at + id.n))
			return true;
		at++;
	}
	return false;
}

bool environment_is_spec(struct str name)
{
	return str_starts(name, "_spec_") && str_ends(name, ".md") && name.n > strlen("_spec_.md");
}

bool environment_spec_matches(struct str name, struct str id)
{
	return environment_is_spec(name) &&
	       environment_text_names(str_sub(name, strlen("_spec_"), name.n - strlen(".md")), id);
}

#define SPEC_MAX ((size_t)4 << 20) /* a larger file is not a spec that a person wrote */

/* A file that we may not read is ignored: it may belong to another user. A faulty disk is not. */
static int spec_file_names(
	const char *root, const char *path, struct str id, bool *names, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(arena_release) struct arena a = {0};
	const char *file = path_join(&a, root, path);

	*names = environment_spec_matches(path_base(path), id);
	if (*names)
		return 0;
	if (sys_read_file(&text, file, SPEC_MAX, NULL, err) < 0)
		return err->code == ERR_SYSTEM && (access(file, R_OK) == 0 || path_is_fault(errno))
			       ? -1
			       : 0;
	*names = environment_text_names(buf_str(&text), id);
	return 0;
}

static int search_specs(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	const char *const *repo = data;
	CLEANUP(json_free) json *found = json_array();
	char **paths;
	size_t n;

	if (git_find_files(a, *repo, environment_is_spec, &paths, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		bool names;

		if (spec_file_names(*repo, paths[i], str_of(input->text), &names, err) < 0)
			return -1;
		if (names)
			json_push_str(found, str_of(paths[i]));
	}
	*answer = json_copy(found);
	return 0;
}

/* A path that somebody has set must not lead out of the repository. */
static int local_environment_read_input(void *data, struct arena *a,
	const struct environment_input *input, json **answer, struct error *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	const char *const *repo = data, *what = input->what, *path = input->text;
	char real[PATH_MAX], sum[DIGEST_TEXT];
	bool missing;

	if (!realpath(path_join(a, *repo, path), real))
		return path_is_fault(errno)
			       ? error_errno(err, "cannot read the %s '%s'", what, path)
			       : 0;
	if (!str_starts(str_of(real), arena_printf(a, "%s/", *repo)))
		return 0;
	if (sys_read_file(&out, real, SPEC_MAX, &missing, err) < 0)
		return missing ? 0 : -1;
	if (str_utf8_fault(buf_str(&out)))
		return error_set(err, ERR_INPUT, "the %s '%s' is not UTF-8", what, path);
	digest_text(buf_str(&out), sum);
	*answer = JSON_OBJECT(JSON_TEXT("path", path), JSON_TEXT("digest", sum),
		JSON_VALUE("text", json_string(buf_str(&out))));
	return 0;
}

static int local_environment_commit_leftovers(
	const struct item_place *place, const char *id, bool *done, struct error *err)
{
	return place_commit_leftovers(place, id, place->marks, done, err);
}

static int read_marks(void *data, struct arena *a, const struct environment_input *input,
	json **answer, struct error *err)
{
	(void)data;
	return place_marks(a, input->place, answer, err);
}

static int local_environment_take_script(void *data, struct arena *a,
	const struct environment_input *input, json **answer, struct error *err)
{
	const char *const *repo = data;

	return place_copy_script(a, *repo, input->place, input->text, answer, err);
}

static int local_environment_push(
	const struct item_place *place, const char *id, bool *done, struct error *err)
{
	CLEANUP(arena_release) struct arena a = {0};
	const char *fault;
	bool skipped;

	(void)id;
	if (place_check_commits(&a, place, &fault, err) < 0)
		return -1;
	if (fault)
		return error_set(err, ERR_CHECK, "%s", fault);
	if (git_push(place->directory, place->in_place ? NULL : place->pushed, &skipped, err) < 0)
		return -1;
	*done = !skipped;
	return 0;
}

/* The effects that change something outside. */
static const struct {
	const char *name;
	/* In the item's place. */
	int (*carry_out)(
		const struct item_place *place, const char *id, bool *done, struct error *err);
} effects[] = {
	{"commit", local_environment_commit_leftovers},
	{"push", local_environment_push},
};

static int local_environment_carry_out(void *data, struct arena *a,
	const struct environment_input *input, json **answer, struct error *err)
{
	bool done;

	(void)data, (void)a;
	for (size_t i = 0; i < COUNT(effects); i++) {
		if (strcmp(effects[i].name, input->what) != 0)
			continue;
		if (effects[i].carry_out(input->place, input->text, &done, err) < 0)
			return -1;
		*answer = json_string(done ? STR("yes") : STR("no"));
		return 0;
	}
	return error_set(err, ERR_SYSTEM, "nothing carries out '%s'", input->what);
}

static int local_environment_read_forge(void *data, struct arena *a,
	const struct environment_input *input, json **answer, struct error *err)
{
	bool comments = strcmp(input->what, "comments") == 0;
	const char *const *repo = data;
	struct forge_checks checks;
	char *text = NULL;

	if ((comments ? forge_open_comments(a, *repo, input->text, &text, err)
		      : forge_checks(a, *repo, input->text, &checks, err)) < 0)
		return -1;
	if (!comments)
		text = checks.failed;
	if (text)
		*answer = json_string(str_of(str_utf8_fault(str_of(text)) ? "" : text));
	return 0;
}

static int local_environment_collect(void *data, struct arena *a,
	const struct environment_input *input, json **answer, struct error *err)
{
	struct evidence found = {0};

	(void)data;
	if (evidence_collect(a, input->evidence, &found, err) < 0)
		return -1;
	*answer = evidence_to_json(&found);
	return 0;
}

static bool local_environment_still_running(
	void *data, const struct context_file *f, const char *id)
{
	(void)data;
	return script_running(f, id);
}

static const char *local_environment_own_client(void *data, struct arena *a)
{
	(void)data;
	return process_client_name(a);
}

static bool local_environment_client_ended(void *data, struct arena *a, const char *client)
{
	(void)data;
	return process_name_ended(a, client);
}

static int local_environment_ask_project(void *data, struct arena *a,
	const struct environment_input *input, json **answer, struct error *err)
{
	(void)data;
	return project_ask(a, input->project, answer, err);
}

const struct environment environment_local = {.find_specs = search_specs,
	.read_input = local_environment_read_input,
	.marks = read_marks,
	.take_script = local_environment_take_script,
	.carry_out = local_environment_carry_out,
	.read_forge = local_environment_read_forge,
	.evidence = local_environment_collect,
	.project = local_environment_ask_project,
	.still_running = local_environment_still_running,
	.client = local_environment_own_client,
	.client_ended = local_environment_client_ended,
	.discard = script_discard};
