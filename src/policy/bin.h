/*
 * bin.h: the functions of the programs that a row alone cannot describe, and what they share.
 */
#ifndef DT_POLICY_BIN_H
#define DT_POLICY_BIN_H

#include "src/policy/binary.h"

extern const struct binary binaries_system[];

/* The denial of one argument; always -1. */
int bin_refuse(struct check *c, enum rule rule, const struct arg *arg, const char *why);
/* False for what is only known at run time or is another name. */
bool bin_is(const struct arg *arg, const char *text);
/* The last part of a path, without slashes behind it. */
struct str bin_base(struct str path);
/* A piece of an argument, where it was written. */
struct arg bin_part(const struct arg *arg, size_t from, size_t to);
/* A line that makes a link which climbs (made), and moves or copies files, is denied: the link may
 * be among them, and lead elsewhere then. */
int bin_links(struct check *c, const struct arg *arg, bool made);
/* [A-Za-z_][A-Za-z0-9_]* */
bool bin_is_variable(struct str s);
/* What `arg` leads to. -1 without a denial: it is not known, or leads outside. */
int bin_place(struct check *c, const struct call *call, const struct arg *arg, struct place *out);
/* The same call as it is seen from `directory`. 0, or -1 with the denial. */
int bin_enter(struct check *c, const struct call *call, const struct arg *folder, struct call *out);

int check_diff(struct check *c, const struct call *call);
int check_sed(struct check *c, const struct call *call);
int check_awk(struct check *c, const struct call *call);
int check_jq(struct check *c, const struct call *call);
int check_test(struct check *c, const struct call *call);
int check_find(struct check *c, const struct call *call);
int check_copy(struct check *c, const struct call *call);
int check_move(struct check *c, const struct call *call);
int check_install(struct check *c, const struct call *call);
int check_link(struct check *c, const struct call *call);
int check_chmod(struct check *c, const struct call *call);
int check_tar(struct check *c, const struct call *call);
int check_xargs(struct check *c, const struct call *call);
int check_make(struct check *c, const struct call *call);
int check_cc(struct check *c, const struct call *call);
int check_cmake(struct check *c, const struct call *call);
int check_objects(struct check *c, const struct call *call);
int check_ninja(struct check *c, const struct call *call);
int check_python(struct check *c, const struct call *call);
int check_nodejs(struct check *c, const struct call *call);
int check_npm(struct check *c, const struct call *call);
int check_cargo(struct check *c, const struct call *call);
int check_go(struct check *c, const struct call *call);
int check_pytest(struct check *c, const struct call *call);
int check_format(struct check *c, const struct call *call);
int check_ar(struct check *c, const struct call *call);

/* Only letters and digits of ASCII, and those in `more`. */
bool bin_has_only(struct str s, const char *more);

#endif
