/* Commands that only look: at files, the index, refs, objects, settings. */
#include "src/policy/bin_git.h"

/* The first operand is the pattern, unless -e or -f gave one. */
static int check_grep(struct git_use *u)
{
	if (!given_any(&u->p, "-e") && !given_any(&u->p, "-f"))
		u->operands = "text mixed*";
	return 0;
}

/* What comes out is put into other commands: nothing that could look like an option. */
static int check_rev_parse(struct git_use *u)
{
	for (size_t i = 0; i < u->p.n_operands; i++)
		if (u->p.operands[i].text.n && u->p.operands[i].text.p[0] == '-')
			return git_no(u, RULE_OPERAND, &u->p.operands[i],
				"no revision, and git would put it out as it is");
	return 0;
}

static int check_symbolic_ref(struct git_use *u)
{
	if (u->p.n_operands > 1 || given_any(&u->p, "--delete"))
		return git_writes(u);
	return 0;
}

#define REFS                                                                                       \
	" --format:text --sort:text --points-at:rev --merged?rev --no-merged?rev --contains?rev "  \
	"--no-contains?rev --ignore-case --color?text "

const struct git_command git_rows_look[] = {
	{"status",
		"-v,--verbose -s,--short -b,--branch --no-branch --show-stash --no-show-stash "
		"--ahead-behind --no-ahead-behind --porcelain?text --long -z,--null "
		"-u,--untracked-files?text --ignored?text --ignore-submodules?text --column?text "
		"--no-column --no-renames --renames -M?text --find-renames?text",
		"path*", 0, NULL, NULL},
	{"ls-files",
		"-z -t -v -f -c,--cached -d,--deleted -m,--modified -o,--others -i,--ignored "
		"-s,--stage -k,--killed --directory --eol --no-empty-directory --empty-directory "
		"-u,--unmerged --resolve-undo -x,--exclude:text -X,--exclude-from:read "
		"--exclude-per-directory:name --exclude-standard --full-name --recurse-submodules "
		"--error-unmatch --with-tree:rev --abbrev?number --debug --deduplicate --sparse "
		"--format:text",
		"path*", 0, NULL, NULL},
	{"ls-tree",
		"-d -r -t -z -l,--long --name-only --name-status --object-only --full-name "
		"--full-tree --format:text --abbrev?number",
		"rev path*", 0, NULL, NULL},
	{"grep",
		"--cached --untracked --exclude-standard --no-exclude-standard "
		"--recurse-submodules -v,--invert-match -i,--ignore-case -w,--word-regexp "
		"-a,--text "
		"-I --no-textconv -r,--recursive --no-recursive --max-depth:number "
		"-E,--extended-regexp -G,--basic-regexp -F,--fixed-strings -P,--perl-regexp "
		"-n,--line-number --no-line-number --column --no-column -h -H --full-name "
		"-l,--files-with-matches,--name-only -L,--files-without-match -z,--null "
		"-o,--only-matching -c,--count --color?text --no-color --break --heading "
		"-C,--context:number -B,--before-context:number -A,--after-context:number "
		"--threads:number -# -p,--show-function -W,--function-context -f:read -e:text "
		"--and --or --not -q,--quiet --all-match -m,--max-count:number",
		"mixed*", 0, check_grep, NULL},
	{"cat-file",
		"-e -p -t -s --allow-unknown-type --use-mailmap --mailmap --batch?text "
		"--batch-check?text -z --batch-command?text --batch-all-objects --buffer "
		"--follow-symlinks --unordered",
		"rev rev", 0, NULL, NULL},
	{"describe",
		"--contains --all --tags --long --first-parent --abbrev?number --exact-match "
		"--candidates:number --match:text --exclude:text --always --dirty?text "
		"--broken?text",
		"rev*", 0, NULL, NULL},
	{"merge-base", "-a,--all --octopus --independent --is-ancestor --fork-point", "rev*", 0,
		NULL, NULL},
	{"name-rev",
		"--name-only --tags --no-tags --refs:text --no-refs --exclude:text --no-exclude "
		"--all --stdin --annotate-stdin --undefined --no-undefined --always",
		"rev*", 0, NULL, NULL},
	{"rev-parse",
		"--revs-only --no-revs --flags --no-flags --default:rev --prefix:text --verify "
		"-q,--quiet --sq --short?number --not --abbrev-ref?text --symbolic "
		"--symbolic-full-name --all --branches?text --tags?text --remotes?text --glob?text "
		"--exclude?text --disambiguate?text --path-format?text --git-dir --git-common-dir "
		"--git-path:text --show-toplevel --show-superproject-working-tree "
		"--shared-index-path --absolute-git-dir --is-inside-git-dir --is-inside-work-tree "
		"--is-bare-repository --is-shallow-repository --show-cdup --show-prefix "
		"--show-object-format?text --since?text --after?text --until?text --before?text",
		"mixed*", 0, check_rev_parse, NULL},
	{"for-each-ref", "-s,--shell -p,--perl --python --tcl --count:number" REFS, "text*", 0,
		NULL, NULL},
	{"show-ref",
		"--tags --heads --branches --verify --head -d,--dereference -s,--hash?number "
		"--abbrev?number -q,--quiet --exists",
		"rev*", 0, NULL, NULL},
	{"show-branch",
		"-a,--all -r,--remotes --color?text --no-color --more?number --list --no-name "
		"--current --sha1-name --merge-base --independent --topo-order --topics --sparse "
		"--date-order -g,--reflog?text",
		"rev*", 0, NULL, NULL},
	{"symbolic-ref", "-q,--quiet --delete,-d --short --recurse --no-recurse -m:text", "ref ref",
		0, check_symbolic_ref, NULL},
	{"check-ignore", "-q,--quiet -v,--verbose --stdin -z -n,--non-matching --no-index", "path*",
		0, NULL, NULL},
	{"check-attr", "-a,--all --cached --stdin -z", "mixed*", 0, NULL, NULL},
	{"check-mailmap", "--stdin", "text*", 0, NULL, NULL},
	{"check-ref-format",
		"--normalize --allow-onelevel --no-allow-onelevel --refspec-pattern "
		"--branch",
		"rev", 0, NULL, NULL},
	{"count-objects", "-v,--verbose -H,--human-readable", "", 0, NULL, NULL},
	{"var", "-l", "name", 0, NULL, NULL},
	{"version", "--build-options", "", 0, NULL, NULL},
	{"help", "", "", 0, NULL, NULL},
	{"verify-commit", "-v,--verbose --raw", "rev*", 0, NULL, NULL},
	{"verify-tag", "-v,--verbose --raw --format:text", "rev*", 0, NULL, NULL},
	{"fsck",
		"-v,--verbose --unreachable --dangling --no-dangling --tags --root --cache "
		"--reflogs --no-reflogs --full --no-full --connectivity-only --strict --progress "
		"--no-progress --name-objects",
		"rev*", 0, NULL, NULL},
	{"hash-object", "-t:name --stdin --path:text --no-filters --literally", "file*", 0, NULL,
		NULL},
	{"archive",
		"--format:name --prefix:text -o,--output:write -l,--list -v,--verbose "
		"--worktree-attributes -0 -1 -2 -3 -4 -5 -6 -7 -8 -9",
		"rev path*", 0, NULL, NULL},
	{"config",
		"--global --system --local --worktree -f,--file:read --blob:rev --get --get-all "
		"--get-regexp --get-urlmatch --list,-l --fixed-value --get-color --get-colorbool "
		"-t,--type:name --bool --int --bool-or-int --bool-or-str --path --expiry-date "
		"-z,--null --name-only --no-includes --show-origin --show-scope --show-names "
		"--all --regexp --default:text",
		"", 0, git_check_config, NULL},
	{0},
};
