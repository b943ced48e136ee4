/* Programs that look at files as such, and make, move and remove them. */
#include "src/policy/bin.h"

/* tree takes values from the next word alone, and goes on with the letters. */
static int check_tree_list(struct check *c, const struct call *call)
{
	struct parsed p;
	const struct binary *row = binary_find(c->arena, c->policy, STR("tree"));

	for (size_t i = 1; i < call->n; i++) {
		struct str text = call->args[i].text;

		for (size_t k = 1; text.n > 2 && text.p[0] == '-' && text.p[1] != '-' && k < text.n;
			k++)
			if (strchr("LPIoHT", text.p[k]))
				return bin_refuse(c, RULE_OPTION, &call->args[i],
					"an option with a value must not be joined with others");
	}
	if (check_options(c, call, 1, row->options, &p) < 0)
		return -1;
	return check_operands(c, call, &p, row->operands);
}

/* What it makes is below the directory that is given, or where the template says; else in /tmp. */
static int check_mktemp(struct check *c, const struct call *call)
{
	struct parsed p;
	bool placed;

	if (check_options(c, call, 1,
		    "-d,--directory -u,--dry-run -q,--quiet --suffix:name -p:folder "
		    "--tmpdir?folder",
		    &p) < 0)
		return -1;
	placed = given_any(&p, "-p");
	for (size_t i = 0; i < p.n; i++)
		placed |= str_is(p.options[i].name, "--tmpdir") && p.options[i].has_value;
	if (!placed && (!p.n_operands || given_any(&p, "--tmpdir")))
		return bin_refuse(c, RULE_OPERAND, &call->args[0],
			"it would be outside the root: give a template or -p FOLDER");
	if (placed && p.n_operands && str_find(p.operands[0].text, STR("/")) < p.operands[0].text.n)
		return bin_refuse(c, RULE_OPERAND, &p.operands[0],
			"a template with a directory together with -p");
	return check_operands(c, call, &p, placed ? "text" : "write");
}

const struct binary binaries_files[] = {
	{"ls",
		"-a,--all -A,--almost-all --author -b,--escape --block-size:text "
		"-B,--ignore-backups "
		"-c -C --color?word{always,auto,never} -d,--directory -D,--dired -f "
		"-F,--classify?word{always,auto,never} --file-type --format:name --full-time -g "
		"--group-directories-first -G,--no-group -h,--human-readable --si --hide:text "
		"--hyperlink?word{always,auto,never} --indicator-style:name -i,--inode "
		"-I,--ignore:text -k,--kibibytes -l -m -n,--numeric-uid-gid -N,--literal -o -p "
		"-q,--hide-control-chars --show-control-chars -Q,--quote-name --quoting-style:name "
		"-r,--reverse -R,--recursive -s,--size -S --sort:name --time:name "
		"--time-style:text "
		"-t -T,--tabsize:number -u -U -v -w,--width:number -x -X -Z,--context --zero -1",
		"read*", 0, NULL},
	{"tree",
		"-a -d -f -i -s -h -p -u -g -D -F -n -C -x -q -N -Q -r -t -v -U -J -X -L:number "
		"-P:text -I:text --dirsfirst --filesfirst --noreport --prune --si --du "
		"--gitignore --charset:name --filelimit:number --sort:name --inodes --device",
		"read*", 0, check_tree_list},
	{"find", NULL, NULL, 0, check_find},
	{"stat", "-f,--file-system -c,--format:text --printf:text -t,--terse --cached:name",
		"read*", 0, NULL},
	{"file",
		"-b,--brief -i,--mime --mime-type --mime-encoding -0,--print0 -F,--separator:text "
		"-h,--no-dereference -k,--keep-going -r,--raw -N,--no-pad --extension -s "
		"-e,--exclude:name -n,--no-buffer",
		"read*", 0, NULL},
	{"du",
		"-0,--null -a,--all --apparent-size -B,--block-size:number -b,--bytes -c,--total "
		"-d,--max-depth:number -h,--human-readable --inodes -k -l,--count-links -m "
		"-P,--no-dereference -S,--separate-dirs --si -s,--summarize -t,--threshold:number "
		"--time?name --time-style:text -X,--exclude-from:read --exclude:text "
		"-x,--one-file-system",
		"read*", 0, NULL},
	{"df",
		"-a,--all -B,--block-size:number -h,--human-readable -H,--si -i,--inodes -k "
		"-l,--local -P,--portability -T,--print-type --total",
		"read*", 0, NULL},
	{"realpath",
		"-e,--canonicalize-existing -m,--canonicalize-missing -L,--logical -P,--physical "
		"-q,--quiet --relative-to:read --relative-base:read -s,--strip,--no-symlinks "
		"-z,--zero",
		"read*", 0, NULL},
	{"readlink",
		"-f,--canonicalize -e,--canonicalize-existing -m,--canonicalize-missing "
		"-n,--no-newline -q,--quiet -s,--silent -v,--verbose -z,--zero",
		"read*", 0, NULL},
	{"mkdir", "-m,--mode:mode -p,--parents -v,--verbose", "write*", 0, NULL},
	{"rmdir", "--ignore-fail-on-non-empty -v,--verbose", "entry*", 0, NULL},
	{"rm",
		"-f,--force -i -I --interactive?word{never,no,none,once,always,yes} "
		"--one-file-system --preserve-root?word{all} -r,-R,--recursive -d,--dir "
		"-v,--verbose",
		"entry*", 0, NULL},
	{"unlink", "", "entry", 0, NULL},
	{"touch",
		"-a -c,--no-create -d,--date:text -f -h,--no-dereference -m -r,--reference:read "
		"-t:text --time:name",
		"write*", 0, NULL},
	{"truncate", "-c,--no-create -o,--io-blocks -r,--reference:read -s,--size:text", "write*",
		0, NULL},
	{"mktemp", NULL, NULL, 0, check_mktemp},
	{"cp", NULL, NULL, 0, check_copy},
	{"mv", NULL, NULL, 0, check_move},
	{"install", NULL, NULL, 0, check_install},
	{"ln", NULL, NULL, 0, check_link},
	{"chmod", NULL, NULL, 0, check_chmod},
	{"tar", NULL, NULL, 0, check_tar},
	{NULL, NULL, NULL, 0, NULL},
};
