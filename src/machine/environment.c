#include <ctype.h>
#include "src/machine/engine.h"
#include "src/machine/script.h"
#include "src/sys/git.h"
#include "src/sys/path.h"

/*
 * Ids are ASCII, but a letter of another script next to one makes another word. Punctuation and
 * spaces beyond ASCII (U+00A0..00BF, U+2000..2FFF, U+3000..303F) do not.
 */
static bool other_letter(struct str t, size_t i)
{
	unsigned char lead, next;

	if (!((unsigned char)t.p[i] & 0x80))
		return false;
	while (i && ((unsigned char)t.p[i] & 0xc0) == 0x80)
		i--;
	lead = (unsigned char)t.p[i];
	next = i + 1 < t.n ? (unsigned char)t.p[i + 1] : 0;
	return lead != 0xe2 && !(lead == 0xe3 && next == 0x80) && !(lead == 0xc2 && next >= 0xa0);
}

static bool id_char(struct str t, size_t i)
{
	return i < t.n && (isalnum((unsigned char)t.p[i]) || t.p[i] == '-' || t.p[i] == '_' ||
				  other_letter(t, i));
}

/* A dot joins only if something follows it: `ADR-1.2` is another id, `ADR-1.` ends a sentence. */
static bool ends_word(struct str t, size_t end)
{
	if (end < t.n && t.p[end] == '.')
		return !id_char(t, end + 1);
	return !id_char(t, end);
}

static bool begins_word(struct str t, size_t at)
{
	if (at && t.p[at - 1] == '.')
		return at < 2 || !id_char(t, at - 2);
	return at == 0 || !id_char(t, at - 1);
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

/* A file that cannot be read is ignored: it may belong to another user. */
static bool spec_file_names(const char *root, const char *path, struct str id)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct arena a = {0};
	struct error ignored;
	bool found =
		environment_spec_matches(path_base(path), id) ||
		(sys_read_file(&text, path_join(&a, root, path), SPEC_MAX, NULL, &ignored) == 0 &&
			environment_text_names(buf_str(&text), id));

	arena_release(&a);
	return found;
}

static int find_specs(
	void *data, struct arena *a, const char *id, char ***paths, size_t *n, struct error *err)
{
	const struct local_environment *w = data;
	size_t all, found = 0;

	if (git_find_files(a, w->repo, environment_is_spec, paths, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++)
		if (spec_file_names(w->repo, (*paths)[i], str_of(id)))
			(*paths)[found++] = (*paths)[i];
	*n = found;
	return 0;
}

/* Commits what is left over in the work tree. */
static int commit_rest(const char *repo, const char *id, bool *done, struct error *err)
{
	char branch[160], message[200];

	(void)snprintf(branch, sizeof(branch), "dev-team/%s", id);
	(void)snprintf(
		message, sizeof(message), "%s: commit what is left over after validation", id);
	return git_commit_all(repo, branch, message, done, err);
}

static int push(const char *repo, const char *id, bool *done, struct error *err)
{
	bool skipped;

	(void)id;
	if (git_push(repo, &skipped, err) < 0)
		return -1;
	*done = !skipped;
	return 0;
}

static const struct {
	enum effect effect;
	int (*carry_out)(const char *repo, const char *id, bool *done, struct error *err);
} effects[] = {
	{EFFECT_COMMIT, commit_rest},
	{EFFECT_PUSH, push},
};

static int carry_out(
	void *data, const struct effect_kind *kind, const char *id, bool *done, struct error *err)
{
	const struct local_environment *w = data;

	for (size_t i = 0; i < COUNT(effects); i++)
		if (effects[i].effect == kind->effect)
			return effects[i].carry_out(w->repo, id, done, err);
	return error_set(err, ERR_SYSTEM, "no function carries out '%s'", kind->name);
}

static int failing_checks(
	void *data, struct arena *a, const char *pr_url, char **text, struct error *err)
{
	const struct local_environment *w = data;

	return git_failing_checks(a, w->repo, pr_url, text, err);
}

static bool still_running(void *data, const struct context_file *f, const char *id)
{
	(void)data;
	return script_running(f, id);
}

static void say(void *data, const char *text)
{
	const struct local_environment *w = data;

	if (w->say)
		w->say(text);
}

void environment_local(struct environment *e, struct local_environment *data)
{
	*e = (struct environment){.find_specs = find_specs,
		.carry_out = carry_out,
		.failing_checks = failing_checks,
		.still_running = still_running,
		.say = say,
		.data = data};
}
