/*
 * brief.h: the text that an agent works from. A brief has everything that the agent of one action
 * needs, so that the loop passes it only a file and an id. A prompt is the same text for an agent
 * without the plugin: it includes the role and the skill, which come from Markdown files.
 *
 * Sections of the document are quoted line by line, because they are data, not instructions. At
 * most 20,000 bytes of them are included; a command shows the rest.
 *
 * Ownership: texts live in the arena.
 */
#ifndef DT_BRIEF_H
#define DT_BRIEF_H

#include "src/machine/action.h"

struct instructions {
	struct str text;          /* without frontmatter; empty if there is no such file */
	const char *const *tools; /* `tools:` of the frontmatter, NULL-ended; NULL if not given */
	const char *path;         /* of the file; NULL if there is none */
};

/*
 * Role `agent`: the first of ROOT/agents/NAME.md, REPO/.claude/agents/NAME.md and
 * ~/.claude/agents/NAME.md. -1: ERR_INPUT (not UTF-8, bad frontmatter, too long), ERR_SYSTEM.
 */
int instructions_agent(struct arena *a, const char *root, const char *repo, const char *agent,
	struct instructions *out, struct error *err);
/*
 * Skill `skill`: the first skills/NAME/SKILL.md in the same places. `$ARGUMENTS`, `$0`, `$1` ...
 * are replaced by the words of `args` (may be NULL); a number without a word stays as it is.
 */
int instructions_skill(struct arena *a, const char *root, const char *repo, const char *skill,
	const char *args, struct instructions *out, struct error *err);

/* -1: ERR_STATE if `id` is not outstanding, ERR_INPUT if it is a script. */
int brief_write(const struct context_file *f, const char *id, struct buf *out, struct error *err);
/* The agent's last message is the answer; it records nothing. `role` and `skill` may be empty. */
int brief_prompt(const struct context_file *f, const char *id, const struct instructions *role,
	const struct instructions *skill, struct buf *out, struct error *err);

#endif
