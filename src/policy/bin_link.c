/*
 * ln: the new name is written; what it leads to must be below the root as seen from where the link
 * is, and with a hard link it can be written through the new name.
 */
#include "src/policy/bin.h"

struct link {
	struct check *c;
	const struct call *call;
	struct parsed p;
	bool symbolic, relative;
};

static struct str folder_of(struct str path)
{
	struct str base = bin_base(path);
	size_t n = (size_t)(base.p - path.p);

	return n ? str_sub(path, 0, n) : STR(".");
}

/*
 * The text of a symbolic link, as it is read from the directory that has the link. What is written
 * through the link later on the same line is seen as a name that does not exist yet, so what it
 * leads to must be free to be written now.
 */
static int ask_target(struct link *l, const struct arg *target, const struct arg *folder)
{
	struct call from = *l->call;
	struct place place;

	if (!l->symbolic)
		return check_value(l->c, l->call, target, STR("write"));
	if (l->relative || (target->text.n && target->text.p[0] == '/'))
		return check_value(l->c, l->call, target, STR("write"));
	if (bin_place(l->c, l->call, folder, &place) < 0)
		return bin_refuse(l->c, RULE_PATH_OUTSIDE, folder,
			"the directory of the link cannot be followed");
	from.cwd = place.path;
	if (str_find(target->text, STR("..")) < target->text.n && bin_links(l->c, target, true) < 0)
		return -1;
	return check_value(l->c, &from, target, STR("write"));
}

static int ask_link(struct link *l, const struct arg *target, struct arg name, bool inside)
{
	struct arg folder = name;

	if (target->origin != ARG_KNOWN || name.origin != ARG_KNOWN || target->split || name.split)
		return bin_refuse(
			l->c, RULE_PATH_DYNAMIC, target, "a link must be known from the text");
	if (inside) {
		struct str base = bin_base(target->text);

		name.text = str_of(arena_printf(l->c->arena, "%.*s/%.*s", (int)folder.text.n,
			folder.text.p, (int)base.n, base.p));
	} else {
		folder.text = folder_of(name.text);
	}
	/* Without -n or -T a link that stands there is followed when it leads to a directory. */
	if (check_value(l->c, l->call, &name, STR("entry")) < 0 ||
		(!given_any(&l->p, "-n") && !given_any(&l->p, "-T") &&
			check_value(l->c, l->call, &folder, STR("write")) < 0) ||
		(!given_any(&l->p, "-n") && !given_any(&l->p, "-T") &&
			check_value(l->c, l->call, &name, STR("write")) < 0))
		return -1;
	return ask_target(l, target, &folder);
}

static bool leads_to_folder(struct link *l, const struct arg *name)
{
	struct place place;

	return !given_any(&l->p, "-T") && !given_any(&l->p, "-n") &&
	       bin_place(l->c, l->call, name, &place) == 0 && place.folder;
}

static int ask_links(struct link *l)
{
	const struct parsed *p = &l->p;
	struct arg last;
	size_t n = p->n_operands;

	for (size_t i = 0; i < p->n; i++)
		if (str_is(p->options[i].name, "-t")) {
			for (size_t k = 0; k < n; k++)
				if (ask_link(l, &p->operands[k], p->options[i].value, true) < 0)
					return -1;
			return 0;
		}
	if (!n)
		return bin_refuse(l->c, RULE_OPERAND, &l->call->args[0], "no operands");
	last = p->operands[n - 1];
	if (n == 1) {
		last.text = STR(".");
		return ask_link(l, &p->operands[0], last, true);
	}
	for (size_t k = 0; k + 1 < n; k++)
		if (ask_link(l, &p->operands[k], last, n > 2 || leads_to_folder(l, &last)) < 0)
			return -1;
	return 0;
}

int check_link(struct check *c, const struct call *call)
{
	struct link l = {.c = c, .call = call};

	if (check_options(c, call, 1,
		    "-b --backup?word{none,off,numbered,t,existing,nil,simple,never} -f,--force "
		    "-i,--interactive -n,--no-dereference -P,--physical -r,--relative "
		    "-s,--symbolic -t,--target-directory:text -T,--no-target-directory "
		    "-v,--verbose",
		    &l.p) < 0)
		return -1;
	l.symbolic = given_any(&l.p, "-s");
	l.relative = given_any(&l.p, "-r");
	return ask_links(&l);
}
