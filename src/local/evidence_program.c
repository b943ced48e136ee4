/*
 * evidence_program.c: the programs of the repository that a workflow's commands run as evidence.
 * They are in the item's own directory, where the agent could replace them by others that confirm
 * its claims.
 */
#include "src/local/local.h"
#include "src/sys/path.h"

#define BLANKS " \t"

/* Not a parser of the shell: quotes are removed, and a word ends at a blank in any case. */
static char *evidence_program_next_word(struct arena *a, char **rest)
{
	char *word, *to;
	size_t n;

	*rest += strspn(*rest, BLANKS);
	n = strcspn(*rest, BLANKS);
	word = to = arena_dup(a, (struct str){*rest, n});
	*rest += n;
	for (const char *from = word; *from; from++)
		if (!strchr("\"'", *from))
			*to++ = *from;
	*to = '\0';
	return word;
}

static bool is_prefix(const char *word)
{
	static const char *const words[] = {"exec", "env", "command", "!", "time", NULL};

	return str_in(str_of(word), words) || (strchr(word, '=') && *word != '/' && *word != '.');
}

static bool is_interpreter(const char *word)
{
	static const char *const names[] = {"sh", "bash", "dash", "ksh", "zsh", "python", "python3",
		"perl", "ruby", "node", ".", "source", NULL};

	return str_in(path_base(word), names);
}

/* The path of the program of a simple command, as it is written; NULL: it is one that the shell
 * finds on its PATH. */
static const char *program_of(struct arena *a, char *command)
{
	char *word;

	do
		word = evidence_program_next_word(a, &command);
	while (*word && is_prefix(word));
	if (!is_interpreter(word))
		return strchr(word, '/') ? word : NULL;
	do
		word = evidence_program_next_word(a, &command);
	while (*word == '-');
	return *word ? word : NULL;
}

/* Relative to the directory; NULL: the text does not name a path in it. */
static const char *path_inside(struct arena *a, const char *directory, const char *path)
{
	static const char *const here[] = {"./", "$PWD/", "${PWD}/"};
	struct str rest = str_of(path), own = str_of(arena_printf(a, "%s/", directory));

	if (str_starts(rest, own.p))
		rest = str_sub(rest, own.n, rest.n);
	for (size_t i = 0; i < COUNT(here); i++)
		while (str_starts(rest, here[i]))
			rest = str_sub(rest, strlen(here[i]), rest.n);
	return rest.n && *rest.p != '/' && !memchr(rest.p, '$', rest.n) ? arena_dup(a, rest) : NULL;
}

/* No link leads to another file. */
static bool evidence_program_is_plain(struct arena *a, const char *directory, const char *path)
{
	CLEANUP(base_free) char *real = realpath(path_join(a, directory, path), NULL);
	CLEANUP(base_free) char *above = realpath(directory, NULL);

	return real && above && strcmp(real, path_join(a, above, path)) == 0;
}

/* *same: HEAD and the work tree have the file of the commit. */
static int compare_program(struct arena *a, const char *directory, const char *commit,
	const char *path, bool *same, struct error *err)
{
	const char *was, *head, *now = NULL;

	if (git_read_file_id(a, directory, commit, path, &was, err) < 0 ||
		git_read_file_id(a, directory, "HEAD", path, &head, err) < 0)
		return -1;
	*same = was && head && strcmp(was, head) == 0 &&
		evidence_program_is_plain(a, directory, path);
	if (*same && git_read_file_id(a, directory, NULL, path, &now, err) < 0)
		return -1;
	*same = *same && now && strcmp(was, now) == 0;
	return 0;
}

/* A path that neither HEAD nor the directory has is no program of the repository. */
static int is_of_repository(
	struct arena *a, const char *directory, const char *path, bool *yes, struct error *err)
{
	const char *head;

	if (git_read_file_id(a, directory, "HEAD", path, &head, err) < 0)
		return -1;
	*yes = head || path_exists(path_join(a, directory, path));
	return 0;
}

static int evidence_program_check_program(struct arena *a, const struct item_place *p,
	const char *upstream, const char *path, const char **fault, struct error *err)
{
	bool ours = false, same = false;

	path = path_inside(a, p->directory, path);
	if (!path || is_of_repository(a, p->directory, path, &ours, err) < 0)
		return path ? -1 : 0;
	if (!ours)
		return 0;
	if (compare_program(a, p->directory, p->base, path, &same, err) < 0 ||
		(!same && upstream &&
			compare_program(a, p->directory, upstream, path, &same, err) < 0))
		return -1;
	if (!same)
		*fault = arena_printf(a,
			"the workflow runs '%s' as evidence, but it is not that of the base "
			"%.12s: undo the change; a person must merge it into the default branch "
			"first",
			path, p->base);
	return 0;
}

int evidence_check_programs(struct arena *a, const struct item_place *p, const char *upstream,
	const char *command, const char **fault, struct error *err)
{
	char *rest = arena_dup(a, str_of(command)), *one;

	*fault = NULL;
	while (p->base && !*fault && (one = strsep(&rest, ";&|()`\n"))) {
		const char *path = program_of(a, one);

		if (path && evidence_program_check_program(a, p, upstream, path, fault, err) < 0)
			return -1;
	}
	return 0;
}
