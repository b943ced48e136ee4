/*
 * escape_paths: programs of the repository that try to get out of it, under `policy exec`.
 *
 *     escape_paths DEV-TEAM
 *
 * Each attack is a shell script that the policy lets run, so that no rule about words is in its
 * way. Afterwards nothing of what lies outside may have been printed, and all of it must be as it
 * was. A result is good only where the attacker said that it ran. Each is run with all layers, and
 * with each of the two that bound files alone; a host that lacks one skips these with the reason.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/path.h"
#include "tests/lib/run.h"
#include "tests/lib/tap.h"
#include "tests/lib/tree.h"

struct escape {
	struct arena arena;
	const char *program, *dir;
	struct buf said; /* of the last run */
	int status;
	bool lacks_landlock, lacks_mounts;
};

static const struct layers {
	const char *name, *kernel;
	bool landlock, mounts;
} layers[] = {
	{"all layers", "{landlock: best_effort}", true, true},
	{"landlock", "{mounts: off, processes: off, cgroup: off, landlock: require}", true, false},
	{"mounts", "{landlock: off, mounts: require, processes: require}", false, true},
	{"no layer", "{landlock: off, mounts: off, processes: off, cgroup: off, seccomp: off}",
		false, false},
};

static const struct attack {
	const char *name, *script;
} attacks[] = {
	{"read by its name", "cat $W/secret ../secret"},
	{"through /proc/self/root", "cat /proc/self/root$W/secret /proc/thread-self/root$W/secret"},
	{"through /proc/self/cwd", "cat /proc/self/cwd/../secret"},
	{"through the first process", "cat /proc/1/root$W/secret /proc/1/cwd/secret"},
	{"through the parent", "cat /proc/$PPID/root$W/secret; ls /proc/$PPID/fd/"},
	{"through a process outside", "cat /proc/$OUT/root$W/secret /proc/$OUT/cwd/secret"},
	{"through descriptors of others",
		"for f in /proc/[0-9]*/fd/*; do cat $f/secret; done; cat /proc/$OUT/fd/*"},
	{"through descriptors that were inherited",
		"for i in 3 4 5 6 7 8 9; do eval \"cat <&$i; cat /proc/self/fd/$i/secret\"; done"},
	{"memory of a process outside", "cat /proc/$OUT/environ /proc/$OUT/cmdline"},
	{"a link that is made", "ln -s $W out; cat out/secret"},
	{"a link to /proc", "ln -s /proc/self/root door; cat door$W/secret"},
	{"a chain of links", "ln -s .. a; ln -s a/.. b; cat b/secret a/secret"},
	{"hard link in", "ln $W/secret mine; cat mine"},
	{"rename in", "mv $W/secret mine; cat mine"},
	{"copied in", "cp -r .. copy; cat copy/secret copy/other/secret"},
	{"bind mount", "mkdir m; mount --bind $W m; cat m/secret"},
	{"another mount namespace", "unshare -m cat $W/secret; unshare -rm cat $W/secret"},
	{"the namespaces of another", "nsenter -t $OUT -m cat $W/secret"},
	{"chroot", "chroot /proc/$OUT/root cat $W/secret; chroot $W/.. cat $W/secret"},
	{"written", "echo x >$W/secret; echo x >>../secret; cp mine ../secret"},
	{"written through a link", "ln -s ../secret s; echo x >s; echo x >>s"},
	{"truncated", "truncate -s 0 ../secret; true >$W/secret"},
	{"removed", "rm -rf ../secret ../other $W/secret"},
	{"made", "echo x >../new; mkdir ../folder; mkfifo ../pipe; ln -s x ../link"},
	{"made through /proc", "echo x >/proc/$OUT/cwd/new; echo x >/proc/self/cwd/../new"},
	{"hard link out", "echo x >x; ln x ../new; ln x $W/new"},
	{"rename out", "echo x >x; mv x ../new; mkdir d; mv d $W/new"},
	{"rename of what is outside", "mv ../other ../moved; mv $W/other $W/moved"},
	{"the root moved away", "mv $W/tree $W/moved; mv ../tree ../moved"},
	{"hard link in, then written",
		"ln ../secret h; echo x >h; ln -L $W/other/secret g; echo x >g"},
};

static const struct attack crimes[] = {
	{"hooks are made", "echo x >.git/hooks/pre-commit"},
	{"settings are written", "echo '[core]' >>.git/config; echo x >.git/config.worktree"},
	{"settings are replaced", "echo x >c; mv -f c .git/config"},
	{"hooks are replaced", "rm -rf .git/hooks; mkdir .git/hooks; echo x >.git/hooks/pre-push"},
	{"hooks become a link", "mv .git/hooks .git/h; ln -s ../other .git/hooks"},
	{"the whole folder is moved", "mv .git g; cp -r g .git; echo x >.git/hooks/pre-commit"},
	{"attributes are made", "mkdir -p .git/info; echo x >.git/info/attributes"},
	{"settings of agents are made",
		"mkdir .claude .codex; echo x >.codex/x; echo x >.mcp.json"},
	{"settings of agents are changed", "echo x >.gemini/settings.json; chmod 777 .gemini"},
	{"settings of agents are removed", "rm -rf .gemini"},
	{"settings become a link", "rm -rf .gemini; ln -s ../other .gemini; echo x >.gemini/x"},
	{"the clearance is made", "mkdir .dev-team; echo x >.dev-team/clearance.yaml"},
	{"a second name for the settings", "ln .git/config c && echo x >c"},
};

static const char *in_dir(struct escape *e, const char *name)
{
	return path_join(&e->arena, e->dir, name);
}

static void shell(struct escape *e, const char *script)
{
	const char *argv[] = {"sh", "-ec", script, NULL};
	struct run r = {.argv = argv, .cwd = e->dir};

	run(&r);
	if (r.status)
		die("%s: %s", script, r.err.s);
	run_release(&r);
}

static void execute(struct escape *e, const struct layers *l, const char *folder, const char *line)
{
	const char *policy = in_dir(e, "policy.yaml");
	const char *argv[] = {e->program, "policy", "exec", "--policy", policy, "--", line, NULL};
	struct run r = {.argv = argv, .cwd = in_dir(e, folder), .limit_s = 60};

	tree_write(policy,
		str_of(arena_printf(&e->arena,
			"name: escape\nallow: [cat, make, git]\nscripts: [attack, swap]\nwrite: "
			"true\nlimits: {timeout: 50}\nkernel: %s\n",
			l->kernel)));
	run(&r);
	buf_clear(&e->said);
	buf_add(&e->said, buf_str(&r.out));
	buf_add(&e->said, buf_str(&r.err));
	e->status = r.timed_out ? -1 : r.status;
	run_release(&r);
}

static void lay_out(struct escape *e)
{
	shell(e, "rm -rf tree other secret\n"
		 "mkdir -p tree/sub tree/.gemini other; echo OUTSIDE >secret; echo OUTSIDE "
		 ">other/secret\n"
		 "echo inside >tree/sub/secret; echo {} >tree/.gemini/settings.json\n"
		 "git init -q --template= tree; mkdir tree/.git/hooks tree/.git/info; echo x "
		 ">tree/.git/hooks/a.sample; printf 'all:\\n\\t./attack\\n' >tree/Makefile\n");
}

/* $OUT is a process of the same user that has what is outside open: this one. */
static void script(struct escape *e, const char *name, const char *text)
{
	const char *path = in_dir(e, name);

	tree_write(path, str_of(arena_printf(&e->arena, "#!/bin/sh\nW='%s' OUT=%d\n%s\n", e->dir,
				 (int)getpid(), text)));
	if (chmod(path, 0755) < 0)
		die("cannot make '%s' a program", path);
}

/* All that is outside the tree, or in it and protected: names, modes, texts. */
static void look(struct escape *e, const char *what, struct buf *out)
{
	const char *argv[] = {"sh", "-c", what, NULL};
	struct run r = {.argv = argv, .cwd = e->dir};

	run(&r);
	buf_clear(out);
	buf_add(out, buf_str(&r.out));
	run_release(&r);
}

static const char outside[] =
	"stat -c '%A %h %N' secret other other/*; ls -A; ls -A other; cat secret other/secret";
static const char protected[] =
	"cd tree; stat -c '%A %N' .git .git/hooks .git/config .gemini .gemini/*; ls -A .git/hooks "
	".gemini; cat .git/config .git/hooks/* .gemini/*; ls -A .git/info; ls -d .claude .codex "
	".mcp.json .dev-team .git/config.worktree; stat -c %h .git/config; ls -AR other; cat "
	"other/*";

static bool said_so(const struct buf *said, const char *text)
{
	return str_find(buf_str(said), str_of(text)) < said->len;
}

static void tell(const struct escape *e)
{
	tap_notef("status %d", e->status);
	tap_note(buf_str(&e->said));
}

/* All of a script was tried, and nothing of it was worth a word to `policy exec`. */
static bool tried(const struct escape *e)
{
	return e->status == 0 && said_so(&e->said, "attacked");
}

/*
 * The program saw its own failure, of which make tells; or what it did was undone, which is told.
 */
static bool punished(const struct escape *e)
{
	if (!said_so(&e->said, "attacked"))
		return false;
	return e->status == 1 ? said_so(&e->said, "changed the protected")
			      : e->status == 2 && said_so(&e->said, "***");
}

static const char *missing(const struct escape *e, const struct layers *l)
{
	if (l->landlock && e->lacks_landlock && (!l->mounts || e->lacks_mounts))
		return "landlock is not on this host";
	if (!l->landlock && l->mounts && e->lacks_mounts)
		return "mounts are not on this host";
	return NULL;
}

static bool skipped(const struct escape *e, const struct layers *l, const char *name)
{
	const char *why = missing(e, l);

	if (why)
		tap_skip(name, why);
	return why != NULL;
}

static void try_attack(struct escape *e, const struct layers *l, const struct attack *a)
{
	const char *name = arena_printf(&e->arena, "%s: %s", l->name, a->name);
	CLEANUP(buf_release) struct buf before = BUF_INIT;
	CLEANUP(buf_release) struct buf after = BUF_INIT;

	if (skipped(e, l, name))
		return;
	lay_out(e);
	script(e, "tree/attack", arena_printf(&e->arena, "%s; echo attacked", a->script));
	tree_write(in_dir(e, "policy.yaml"), STR(""));
	look(e, outside, &before);
	execute(e, l, "tree", "./attack");
	look(e, outside, &after);
	if (!tap(tried(e) && !said_so(&e->said, "OUTSIDE") &&
			    !said_so(&e->said, "policy/escape_paths") &&
			    strcmp(before.s, after.s) == 0,
		    "%s", name)) {
		tell(e);
		tap_note(buf_str(&after));
	}
}

/* The program that was started may fail at once, or what it did is undone and told. */
static void try_crime(struct escape *e, const struct layers *l, const struct attack *a)
{
	const char *name = arena_printf(&e->arena, "%s: %s", l->name, a->name);
	CLEANUP(buf_release) struct buf before = BUF_INIT;
	CLEANUP(buf_release) struct buf after = BUF_INIT;

	if (skipped(e, l, name))
		return;
	lay_out(e);
	script(e, "tree/attack", arena_printf(&e->arena, "echo attacked; %s", a->script));
	look(e, protected, &before);
	execute(e, l, "tree", "make");
	look(e, protected, &after);
	if (!tap(punished(e) && strcmp(before.s, after.s) == 0, "%s", name)) {
		tell(e);
		tap_note(buf_str(&before));
		tap_note(buf_str(&after));
	}
}

/* It was read before, and then while it was swapped, until that was denied or done. */
static bool swapped_in_vain(const struct escape *e)
{
	return (e->status == 0 || e->status == 1) && said_so(&e->said, "inside") &&
	       said_so(&e->said, "attacked") && !said_so(&e->said, "OUTSIDE");
}

/*
 * `sub` is a directory of the tree and a link to the outside by turns, while it is read. A run ends
 * where its check sees the link: only many runs come upon the moment behind the check.
 */
static void try_swap(struct escape *e, const struct layers *l)
{
	enum { ROUNDS = 6, READS = 150 };
	const char *name = arena_printf(&e->arena, "%s: a folder swapped for a link", l->name);
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	bool good = true;

	if (skipped(e, l, name))
		return;
	buf_adds(&line, "cat sub/secret; ./swap & for f in 1");
	for (int i = 2; i <= READS; i++)
		buf_addf(&line, " %d", i);
	buf_adds(&line, "; do cat sub/secret; done");
	for (int i = 0; good && i < ROUNDS; i++) {
		lay_out(e);
		script(e, "tree/swap",
			"echo attacked; i=0; while [ $i -lt 400 ]; do mv sub aside; ln -s .. sub; "
			"rm sub; mv aside sub; i=$((i+1)); done");
		execute(e, l, "tree", line.s);
		good = swapped_in_vain(e);
	}
	if (!tap(good, "%s", name))
		tell(e);
}

/* Worktrees whose git directory is elsewhere: git works there, and what it runs by stays. */
static const struct shelter {
	const char *name, *make; /* the worktree is `w` */
	const char *git;         /* the directory that has hooks and settings */
} shelters[] = {
	{"a linked worktree",
		"rm -rf main w; git init -q --template= main; cd main; mkdir .git/hooks .git/info; "
		"git config user.name a; git config user.email a@b; git commit -q --allow-empty -m "
		"x; git worktree add -q ../w",
		"main/.git"},
	{"a submodule",
		"rm -rf main w lib; git init -q --template= lib; cd lib; git config user.name a; "
		"git config user.email a@b; git commit -q --allow-empty -m x; git init -q "
		"--template= ../main; cd ../main; git -c protocol.file.allow=always submodule "
		"--quiet add ../lib sub; cd sub; git config user.name a; git config user.email "
		"a@b; mkdir -p ../.git/modules/sub/hooks ../.git/modules/sub/info; ln -s main/sub "
		"../../w",
		"main/.git/modules/sub"},
};

static void try_shelter(struct escape *e, const struct layers *l, const struct shelter *s)
{
	const char *name = arena_printf(&e->arena, "%s: %s", l->name, s->name);
	const char *look_at = arena_printf(
		&e->arena, "cd %s; ls -A hooks; cat config info/*; ls config.worktree", s->git);
	CLEANUP(buf_release) struct buf before = BUF_INIT;
	CLEANUP(buf_release) struct buf after = BUF_INIT;
	CLEANUP(buf_release) struct buf log = BUF_INIT;

	if (skipped(e, l, name))
		return;
	lay_out(e);
	shell(e, s->make);
	look(e, look_at, &before);
	script(e, "w/attack",
		arena_printf(&e->arena,
			"echo attacked; G=$W/%s; echo x >$G/hooks/pre-commit; git config "
			"core.fsmonitor x; echo x >$G/info/attributes; echo 'gitdir: /x' >.git",
			s->git));
	tree_write(in_dir(e, "w/file"), STR("x\n"));
	execute(e, l, "w", "git add file && git commit -q -m made-here");
	look(e, "git -C w log --format=%s", &log);
	if (!tap(e->status == 0 && said_so(&log, "made-here"), "%s: commits", name))
		tell(e);
	execute(e, l, "w", "./attack");
	look(e, look_at, &after);
	look(e, "git -C w log --format=%s", &log);
	if (!tap(said_so(&e->said, "attacked") && strcmp(before.s, after.s) == 0 &&
			    said_so(&log, "made-here"),
		    "%s: hooks and settings stay", name)) {
		tell(e);
		tap_note(buf_str(&after));
	}
}

static void probe(struct escape *e)
{
	const char *argv[] = {e->program, "policy", "layers", NULL};
	struct run r = {.argv = argv};

	run(&r);
	if (r.status)
		die("policy layers: %s", r.err.s);
	e->lacks_landlock = strstr(r.out.s, "landlock   absent") != NULL;
	e->lacks_mounts = strstr(r.out.s, "mounts     absent") != NULL ||
			  strstr(r.out.s, "processes  absent") != NULL;
	run_release(&r);
}

int main(int argc, char **argv)
{
	struct escape e = {.program = argc == 2 ? path_absolute(&e.arena, argv[1]) : NULL};
	CLEANUP(base_free) char *dir = NULL;

	if (!e.program)
		die("usage: escape_paths DEV-TEAM");
	probe(&e); /* which may end us: before there is anything to remove */
	e.dir = dir = tree_scratch("escape");
	if (chdir(dir) < 0 || open(dir, O_RDONLY | O_DIRECTORY) < 0)
		die("cannot enter '%s'", dir);
	for (size_t i = 0; i + 1 < COUNT(layers); i++) {
		for (size_t j = 0; j < COUNT(attacks); j++)
			try_attack(&e, &layers[i], &attacks[j]);
		try_swap(&e, &layers[i]);
	}
	for (size_t i = 0; i < COUNT(layers); i++) {
		for (size_t j = 0; j < COUNT(crimes); j++)
			try_crime(&e, &layers[i], &crimes[j]);
		for (size_t j = 0; j < COUNT(shelters); j++)
			try_shelter(&e, &layers[i], &shelters[j]);
	}
	(void)chdir("/");
	tree_remove(dir);
	buf_release(&e.said);
	arena_release(&e.arena);
	return tap_end();
}
