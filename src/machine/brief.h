/*
 * brief.h: the text that an agent works from. A brief contains everything that the agent of an
 * action needs, including its skill, so the loop passes it only a file and an id. A prompt is the
 * same text for an agent without the plugin and also includes the role. Roles and skills are
 * Markdown files.
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
	struct str text; /* without frontmatter; empty if there is no such file */
	const char *const
		*tools;    /* `tools:`, or all but `disallowedTools:`; NULL: neither is given */
	bool listed;       /* `tools:` is given, so that it has no others, as of MCP servers */
	const char *model; /* `model:` of a role, unless it is `inherit`; else NULL */
	const char *path;  /* of the file; NULL if there is none */
	bool shipped;      /* the file is in ROOT */
};

/*
 * Role `agent`: the first of ROOT/agents/NAME.md, REPO/.claude/agents/NAME.md and
 * ~/.claude/agents/NAME.md. -1: ERR_INPUT (not UTF-8, bad frontmatter, too long), ERR_SYSTEM.
 */
int instructions_agent(struct arena *a, const char *root, const char *repo, const char *agent,
	struct instructions *out, struct error *err);
/* The tools of a role without `tools:`, for a program that needs a list. */
extern const char *const instructions_all_tools[];
/*
 * Skill `skill`: the first skills/NAME/SKILL.md in the same places. `$ARGUMENTS`, `$0`, `$1` ...
 * are replaced by the words of `args` (may be NULL); a number without a word stays as it is.
 */
int instructions_skill(struct arena *a, const char *root, const char *repo, const char *skill,
	const char *args, struct instructions *out, struct error *err);

/* The names of all roles, or skills, in these places: `a, b`, or `none`. */
const char *instructions_names(struct arena *a, const char *root, const char *repo, bool skills);

/* Role and skill of an action. -1: as above; ERR_STATE if `id` is not outstanding, ERR_INPUT if it
 * is a script. */
int brief_instructions(struct arena *a, const struct context_file *f, const char *id,
	const char *root, const char *repo, struct instructions *role, struct instructions *skill,
	struct error *err);

/* How the agent gives its answer. */
enum brief_form {
	BRIEF_RECORD,     /* it runs `dev-team record` */
	BRIEF_STRUCTURED, /* it calls the client's tool StructuredOutput */
	BRIEF_MESSAGE,    /* its last message is the answer */
	BRIEF_PROMPT,     /* the same, outside of the client */
};

/* A shipped role is left out except in a prompt, because the client's agent has it. `role` and
 * `skill` may be empty. -1: as brief_instructions(). */
int brief_add(struct buf *out, enum brief_form form, struct context_file *f, const char *id,
	const struct instructions *role, const struct instructions *skill, struct error *err);

#endif
