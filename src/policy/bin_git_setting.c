/*
 * `git -c KEY=VALUE`. A list of what is harmless: what can run a program or lead elsewhere
 * (alias.*, core.sshCommand, core.pager, *.textconv, include.path, url.*, ...) does not end, and
 * grows with each version of git.
 */
#include <strings.h>
#include "src/policy/bin_git.h"

struct setting {
	const char *key; /* lower case; `color.*`: all of the section */
	const char
		*values; /* NULL: any; else these, `|` between them: all else could run something */
};

#define OFF "false|no|off|0|"

static const struct setting settings[] = {
	{"advice.*", NULL},
	{"am.threeway", NULL},
	{"apply.ignorewhitespace", NULL},
	{"apply.whitespace", NULL},
	{"author.email", NULL},
	{"author.name", NULL},
	{"blame.blankboundary", NULL},
	{"blame.coloring", NULL},
	{"blame.date", NULL},
	{"blame.showemail", NULL},
	{"blame.showroot", NULL},
	{"branch.autosetupmerge", NULL},
	{"branch.autosetuprebase", NULL},
	{"branch.sort", NULL},
	{"checkout.defaultremote", NULL},
	{"checkout.guess", NULL},
	{"checkout.workers", NULL},
	{"clean.requireforce", NULL},
	{"color.*", NULL},
	{"column.*", NULL},
	{"commit.cleanup", NULL},
	{"commit.gpgsign", NULL},
	{"commit.status", NULL},
	{"commit.verbose", NULL},
	{"committer.email", NULL},
	{"committer.name", NULL},
	{"core.abbrev", NULL},
	{"core.autocrlf", NULL},
	{"core.bigfilethreshold", NULL},
	{"core.checkstat", NULL},
	{"core.commentchar", NULL},
	{"core.commitgraph", NULL},
	{"core.compression", NULL},
	{"core.editor", "true|:|cat|/bin/true|/usr/bin/true"},
	{"core.eol", NULL},
	{"core.excludesfile", "/dev/null|"},
	{"core.filemode", NULL},
	{"core.fsmonitor", OFF},
	{"core.fsync", NULL},
	{"core.fsyncmethod", NULL},
	{"core.hookspath", "/dev/null"},
	{"core.ignorecase", NULL},
	{"core.logallrefupdates", NULL},
	{"core.longpaths", NULL},
	{"core.loosecompression", NULL},
	{"core.multipackindex", NULL},
	{"core.notesref", NULL},
	{"core.pager", "cat||/bin/cat|/usr/bin/cat"},
	{"core.precomposeunicode", NULL},
	{"core.preloadindex", NULL},
	{"core.quotepath", NULL},
	{"core.safecrlf", NULL},
	{"core.trustctime", NULL},
	{"core.untrackedcache", NULL},
	{"core.usereplacerefs", NULL},
	{"core.whitespace", NULL},
	{"credential.helper", ""},
	{"diff.algorithm", NULL},
	{"diff.autorefreshindex", NULL},
	{"diff.colormoved", NULL},
	{"diff.colormovedws", NULL},
	{"diff.context", NULL},
	{"diff.dirstat", NULL},
	{"diff.ignoresubmodules", NULL},
	{"diff.indentheuristic", NULL},
	{"diff.interhunkcontext", NULL},
	{"diff.mnemonicprefix", NULL},
	{"diff.noprefix", NULL},
	{"diff.relative", NULL},
	{"diff.renamelimit", NULL},
	{"diff.renames", NULL},
	{"diff.statgraphwidth", NULL},
	{"diff.submodule", NULL},
	{"diff.suppressblankempty", NULL},
	{"diff.wordregex", NULL},
	{"diff.wserrorhighlight", NULL},
	{"fetch.fsckobjects", NULL},
	{"fetch.parallel", NULL},
	{"fetch.prune", NULL},
	{"fetch.prunetags", NULL},
	{"fetch.recursesubmodules", OFF},
	{"fetch.writecommitgraph", NULL},
	{"format.signoff", NULL},
	{"gc.auto", NULL},
	{"gc.autodetach", NULL},
	{"grep.column", NULL},
	{"grep.extendedregexp", NULL},
	{"grep.fullname", NULL},
	{"grep.linenumber", NULL},
	{"grep.patterntype", NULL},
	{"grep.threads", NULL},
	{"http.lowspeedlimit", NULL},
	{"http.lowspeedtime", NULL},
	{"http.postbuffer", NULL},
	{"i18n.commitencoding", NULL},
	{"i18n.logoutputencoding", NULL},
	{"index.threads", NULL},
	{"index.version", NULL},
	{"init.defaultbranch", NULL},
	{"log.abbrevcommit", NULL},
	{"log.date", NULL},
	{"log.decorate", NULL},
	{"log.diffmerges", NULL},
	{"log.follow", NULL},
	{"log.mailmap", NULL},
	{"log.showroot", NULL},
	{"log.showsignature", OFF},
	{"maintenance.auto", NULL},
	{"merge.conflictstyle", NULL},
	{"merge.directoryrenames", NULL},
	{"merge.ff", NULL},
	{"merge.log", NULL},
	{"merge.renamelimit", NULL},
	{"merge.renames", NULL},
	{"merge.stat", NULL},
	{"merge.verbosity", NULL},
	{"notes.displayref", NULL},
	{"pack.threads", NULL},
	{"pack.window", NULL},
	{"pack.windowmemory", NULL},
	{"pager.*", OFF},
	{"protocol.version", NULL},
	{"pull.ff", NULL},
	{"pull.rebase", "true|false|merges|yes|no|1|0|on|off"},
	{"push.autosetupremote", NULL},
	{"push.default", NULL},
	{"push.followtags", NULL},
	{"push.gpgsign", NULL},
	{"rebase.autosquash", NULL},
	{"rebase.autostash", NULL},
	{"rebase.forkpoint", NULL},
	{"rebase.missingcommitscheck", NULL},
	{"rebase.stat", NULL},
	{"rebase.updaterefs", NULL},
	{"rerere.autoupdate", NULL},
	{"rerere.enabled", NULL},
	{"sequence.editor", "true|:|cat|/bin/true|/usr/bin/true"},
	{"stash.showincludeuntracked", NULL},
	{"stash.showpatch", NULL},
	{"stash.showstat", NULL},
	{"status.*", NULL},
	{"submodule.recurse", OFF},
	{"tag.gpgsign", NULL},
	{"tag.sort", NULL},
	{"transfer.fsckobjects", NULL},
	{"user.email", NULL},
	{"user.name", NULL},
	{"user.useconfigonly", NULL},
	{"versionsort.suffix", NULL},
	{"worktree.guessremote", NULL},
};

static bool same_key(struct str key, const char *row)
{
	size_t n = strlen(row);

	if (n > 1 && row[n - 1] == '*')
		return key.n >= n && !strncasecmp(key.p, row, n - 1);
	return key.n == n && !strncasecmp(key.p, row, n);
}

static bool key_fits(struct str key)
{
	for (size_t i = 0; i < key.n; i++) {
		char ch = key.p[i];

		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
			    (ch >= '0' && ch <= '9') || ch == '-' || ch == '.'))
			return false;
	}
	return key.n > 0;
}

static bool value_fits(const char *values, struct str value)
{
	for (;;) {
		const char *end = strchrnul(values, '|');

		if (str_eq(value, (struct str){values, (size_t)(end - values)}))
			return true;
		if (!*end)
			return false;
		values = end + 1;
	}
}

static const struct setting *find(struct str key)
{
	for (size_t i = 0; key_fits(key) && i < COUNT(settings); i++)
		if (same_key(key, settings[i].key))
			return &settings[i];
	return NULL;
}

/* The operator's own: exact, as only they know what is in them. */
static bool allowed_by_policy(const struct policy *p, struct str key)
{
	for (size_t i = 0; i < p->git_config.n; i++)
		if (key.n == strlen(p->git_config.p[i]) &&
			!strncasecmp(key.p, p->git_config.p[i], key.n))
			return true;
	return false;
}

static int no(struct check *c, enum rule rule, const struct arg *arg, const char *why)
{
	(void)deny_word(c->v, rule, arg->at, arg->text, STR(""), "%s", why);
	return asked(c, rule, arg->at, arg->text, STR(""), -1);
}

int git_setting(struct check *c, const struct arg *arg)
{
	size_t equals = str_find(arg->text, STR("="));
	struct str key = str_sub(arg->text, 0, equals);
	/* Without a value it is `true`. */
	struct str value =
		equals < arg->text.n ? str_sub(arg->text, equals + 1, arg->text.n) : STR("true");
	const struct setting *s = find(key);

	if (arg->origin != ARG_KNOWN && equals == arg->text.n)
		return no(c, RULE_VALUE_DYNAMIC, arg, "the setting is not known from the text");
	if (!s && !allowed_by_policy(c->policy, key))
		return no(c, RULE_GIT_CONFIG, arg,
			"this setting is not known to be harmless for any value");
	if (s && s->values && !allowed_by_policy(c->policy, key) &&
		(arg->origin != ARG_KNOWN || !value_fits(s->values, value)))
		return no(c, RULE_GIT_CONFIG, arg,
			"this setting can start a program, but for a few values");
	return asked(c, RULE_GIT_CONFIG, arg->at, arg->text, STR(""), 0);
}
