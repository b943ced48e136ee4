/*
 * binary.h: what is known of each program: its options and operands as data, and for the few that
 * data cannot describe (git, sed, find, make, xargs ...) a function. A program without a row cannot
 * be allowed; an option that the row does not have is denied.
 *
 * Notation, the same in the tables and under `programs:` of a policy. OPTIONS are words between
 * blanks, each `NAME[,NAME...][VALUE][@write]`:
 *   -a            a letter, may be joined with others: -la
 *   -n:KIND       needs a value, joined or the next word        -i?KIND  a joined value or none
 *   --name        exact; abbreviations are denied               --name:KIND  --name=V or --name V
 *   --name?KIND   --name or --name=V                            -#       a number: -5
 *   -word:KIND    with more than one letter behind one dash: a word as it stands (gcc, find)
 *   @write        only where the policy may write
 *   +             options end at the first operand
 *   =             letters are not joined: -la is one option
 *
 * OPERANDS are kinds between blanks, in order; the last may carry `*` (any number) or `+` (one or
 * more), also before a last kind (`read+ write`); `KIND(-e,-f)`: not there when one of these
 * options was given. Empty: none.
 *
 * Fewer operands than that are the program's own affair; more are denied.
 *
 * KINDS: text (anything, not a file), number, mode (for chmod), name ([A-Za-z0-9._+-], no leading
 * dash), read, write (a file), tree (a file or directory and all below it is written), entry (the
 * name itself is removed or moved, with all below it), folder (is written into), enter (becomes the
 * working directory), rev (a git revision or range); `word{a,b,c}` one of these.
 */
#ifndef DT_POLICY_BINARY_H
#define DT_POLICY_BINARY_H

#include "src/policy/check.h"

enum {
	BINARY_BUILTIN = 1,   /* done by the shell itself (cd, read, export, set, :) */
	BINARY_RUNS_CODE = 2, /* runs what the repository says: only the kernel's layers bound it */
	BINARY_OWN = 4,       /* the policy itself describes it */
};

struct binary {
	const char *name;
	const char *options, *operands;
	unsigned flags;
	/* NULL: options and operands say all. Else it is asked instead, and may use
	 * check_options(). */
	int (*check)(struct check *c, const struct call *call);
};

/* Tables, each ended by a NULL name; src/policy/bin_*.c. */
extern const struct binary binaries_text[], binaries_files[], binaries_build[], binaries_wrap[],
	binaries_shell[], binaries_git[], binaries_gh[];

/* The row of `name`, from the policy's own programs first; NULL: none. */
const struct binary *binary_find(struct arena *a, const struct policy *p, struct str name);

/* An option that was given, in the order of the command line. */
struct given {
	struct str name; /* with its dashes; the first of its aliases */
	struct arg value;
	bool has_value;
	size_t arg; /* index in call->args */
};

struct parsed {
	struct given *options;
	size_t n;
	struct arg *operands; /* not yet checked */
	size_t n_operands;
	size_t n_before;      /* how many of them stand before a `--`; without one: all */
	size_t first_operand; /* index in call->args; call->n when there is none */
};
bool given_any(const struct parsed *p, const char *name);

/* All that the row says of one call: check_options() and check_operands(), or its function. */
int check_binary(struct check *c, const struct call *call, const struct binary *b);
/* Values of CFLAGS and the like, of make as of the environment: words between blanks, each of them
 * an option that the compiler's row has. `c` only holds what is asked; no path is below `call`. */
int check_flags(struct check *c, struct str value, struct str cwd, struct span at);
/* A compiler's command line in one text, as in CC='gcc -m64': a known name, then such words. */
int check_compiler(struct check *c, struct str value, struct str cwd, struct span at);

/* Splits args[first..] by the notation and checks the options' values. 0 or -1 with c->v. */
int check_options(struct check *c, const struct call *call, size_t first, const char *options,
	struct parsed *out);
/* Checks operands by the notation. */
int check_operands(
	struct check *c, const struct call *call, const struct parsed *p, const char *operands);
/* A value by its kind's name. */
int check_value(struct check *c, const struct call *call, const struct arg *value, struct str kind);
/* Faults of a notation (of a policy's own programs): 0, or -1 with what and where. */
int notation_check(const char *options, const char *operands, struct error *err);

/* The call that begins at args[first], as a wrapper starts it (with the same feeder). */
int check_inner(struct check *c, const struct call *call, size_t first, size_t n);

/*
 * `call` is a git that puts out nothing but names of commits, or of branches and tags of which none
 * begins with a dash now.
 */
bool git_puts_commits(const struct check *c, const struct call *call);

#endif
