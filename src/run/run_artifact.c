#include "src/event/artifact.h"
#include "src/run/run_artifact.h"

/* The layout knows three reviewers: the stage's name says which one, else it is the general one. */
static const char *review_name(struct arena *a, const char *stage)
{
	static const char *const reviewers[] = {"testing", "security"};

	for (size_t i = 0; i < COUNT(reviewers); i++)
		if (strstr(stage, reviewers[i]))
			return arena_printf(a, "review/%s.json", reviewers[i]);
	return "review/critic.json";
}

bool run_artifact_wanted(struct arena *a, const struct stage_spec *stage, const char *version,
	const char *dir, const char *issue, struct artifact_target *out)
{
	if (!stage || !stage->artifact)
		return false;
	*out = (struct artifact_target){.dir = dir,
		.issue = issue,
		.stage = stage->name,
		.name = strcmp(stage->artifact, "review") == 0
				? review_name(a, stage->name)
				: arena_printf(a, "%s.json", stage->artifact),
		.schema = stage->artifact,
		.version = version};
	return true;
}

/* `plan.json` of `review/critic.json`. */
static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static void add_block_form(const struct artifact_target *want, struct buf *prompt)
{
	buf_addf(prompt,
		"Where you may not write that file, put the JSON into your last message instead, "
		"before its last line, between a line ```json %s and a line ```.\n",
		last_part(want->name));
}

int run_artifact_ask(
	struct arena *a, const struct artifact_target *want, struct buf *prompt, struct error *err)
{
	if (artifact_remove(want->dir, want->issue, want->name, err) < 0)
		return -1;
	buf_adds(prompt, "\n## Your artifact\n\n");
	buf_adds(prompt, artifact_prompt(a, want));
	add_block_form(want, prompt);
	return 0;
}

/* From the line behind the opening one up to the closing one; the last such block counts. */
static bool find_block(
	struct str text, const char *name, struct str *block, size_t *from, size_t *to)
{
	struct str rest = text, line;
	bool open = false, found = false;
	size_t began = 0;

	while (str_line(&rest, &line)) {
		struct str word = str_trim(line);
		size_t at = (size_t)(line.p - text.p), behind = text.n - rest.n;

		if (!open && str_starts(word, "```json ") &&
			str_is(str_trim(str_sub(word, strlen("```json "), word.n)), name)) {
			open = true;
			began = at;
			*block = str_sub(text, behind, behind);
		} else if (open && str_is(word, "```")) {
			block->n = (size_t)(line.p - block->p);
			*from = began;
			*to = behind;
			open = false;
			found = true;
		}
	}
	return found;
}

int run_artifact_take(struct arena *a, const struct artifact_target *want, struct str message,
	struct str *rest, struct error *err)
{
	struct str block;
	size_t from, to;

	*rest = message;
	if (!find_block(message, last_part(want->name), &block, &from, &to))
		return 0;
	*rest = str_of(arena_printf(
		a, "%.*s%.*s", (int)from, message.p, (int)(message.n - to), message.p + to));
	return artifact_write_text(want->dir, want->issue, want->name, block, err);
}

void run_artifact_again(const struct artifact_target *want, const char *sharpened,
	struct str message, struct buf *prompt)
{
	struct str line;

	buf_adds(
		prompt, "You have just ended a task. Nothing of the work is to be done again.\n\n");
	buf_adds(prompt, sharpened);
	add_block_form(want, prompt);
	buf_adds(prompt, "\nYour last message was:\n\n");
	while (str_line(&message, &line)) {
		buf_adds(prompt, line.n ? "> " : ">");
		buf_add(prompt, line);
		buf_addc(prompt, '\n');
	}
}

int run_artifact_narrate(
	struct arena *a, const struct artifact_target *want, struct str message, struct error *err)
{
	int stem = (int)(strlen(want->name) - strlen(".json"));

	return artifact_write_text(want->dir, want->issue,
		arena_printf(a, "%.*s.md", stem, want->name),
		str_of(arena_printf(a, "%.*s\n", (int)str_trim(message).n, str_trim(message).p)),
		err);
}
