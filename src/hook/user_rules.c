/*
 * user_rules.c: the client compares the user's permission rules with the command that a hook puts
 * in place of the agent's. So the hook leaves a command alone to which a rule that denies or asks
 * may apply, and the client decides about it as it was written.
 */
#include <ctype.h>
#include "src/hook/hook_internal.h"
#include "src/sys/path.h"

enum { SETTINGS_MAX = 1 << 20 };

static bool is_inside_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* `open`: it may be the beginning of a word. */
static bool user_rules_has_words(struct str command, struct str words, bool open)
{
	for (size_t at = 0; at + words.n <= command.n; at++) {
		size_t end = at + words.n;

		if (memcmp(command.p + at, words.p, words.n) == 0 &&
			(!at || !is_inside_word(command.p[at - 1])) &&
			(open || end == command.n || !is_inside_word(command.p[end])))
			return true;
	}
	return false;
}

/* `Bash`, `Bash(git push:*)`, `Bash(npm *)`: the words before a star, anywhere in the command. */
static bool may_apply(struct str rule, struct str command)
{
	struct str text = str_sub(rule, strlen("Bash"), rule.n);
	size_t star;
	bool star_found, open;

	if (!str_starts(rule, "Bash") || (text.n && (text.p[0] != '(' || !str_ends(text, ")"))))
		return false;
	text = text.n ? str_sub(text, 1, text.n - 1) : text;
	star = str_find(text, STR("*"));
	star_found = star < text.n;
	text = str_sub(text, 0, star);
	open = star_found && !str_ends(text, ":") && !str_ends(text, " ");
	if (star_found && str_ends(text, ":"))
		text = str_sub(text, 0, text.n - 1);
	text = str_trim(text);
	return !text.n || user_rules_has_words(command, text, open);
}

static bool has_rule(const char *file, struct str command)
{
	static const char *const kinds[] = {"deny", "ask"};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(json_free) json *settings = NULL;
	struct error ignored;
	const json *rules;

	if (sys_read_file(&text, file, SETTINGS_MAX, NULL, &ignored) < 0 ||
		json_parse(&settings, buf_str(&text), &ignored) < 0)
		return false;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		rules = json_get(json_get(settings, "permissions"), kinds[i]);
		for (const json *r = json_first(rules); r; r = json_next(r))
			if (json_text(r) && may_apply(str_of(json_text(r)), command))
				return true;
	}
	return false;
}

bool hook_user_decides(struct arena *a, const char *project, const char *command)
{
	const char *home = getenv("HOME"), *config = getenv("CLAUDE_CONFIG_DIR");
	const char *const files[] = {"/etc/claude-code/managed-settings.json",
		config ? path_join(a, config, "settings.json")
		: home ? path_join(a, home, ".claude/settings.json")
		       : NULL,
		project ? path_join(a, project, ".claude/settings.json") : NULL,
		project ? path_join(a, project, ".claude/settings.local.json") : NULL};

	for (size_t i = 0; i < COUNT(files); i++)
		if (files[i] && has_rule(files[i], str_of(command)))
			return true;
	return false;
}
