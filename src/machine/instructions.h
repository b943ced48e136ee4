/*
 * instructions.h: the Markdown files that tell an agent who it is and how it works, for loops that
 * hand an agent one text instead of a plugin: agents/NAME.md and skills/NAME/SKILL.md.
 *
 * Ownership: texts live in the arena.
 */
#ifndef DT_INSTRUCTIONS_H
#define DT_INSTRUCTIONS_H

#include "src/base/buf.h"

struct instructions {
	struct str text;          /* without its frontmatter; empty: there is no such file */
	const char *const *tools; /* `tools:` of the frontmatter, NULL-ended; NULL: not said */
	const char *path;         /* of the file; NULL: none */
};

/*
 * Role `agent`: ROOT/agents/NAME.md, REPO/.claude/agents/NAME.md, ~/.claude/agents/NAME.md, the
 * first that there is. -1: ERR_INPUT (no text, no name, too long), ERR_SYSTEM.
 */
int instructions_agent(struct arena *a, const char *root, const char *repo, const char *agent,
	struct instructions *out, struct error *err);
/*
 * Skill `skill`, looked for as above in skills/NAME/SKILL.md, with `$ARGUMENTS`, `$0`, `$1` ...
 * replaced by the words of `args` (NULL: none); what has no word stays as it is.
 */
int instructions_skill(struct arena *a, const char *root, const char *repo, const char *skill,
	const char *args, struct instructions *out, struct error *err);

#endif
