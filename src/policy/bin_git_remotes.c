/* Commands about remotes. --upload-pack, --receive-pack and --exec name programs: not there. */
#include "src/policy/bin_git.h"

#define FETCHING                                                                                   \
	" -v,--verbose -q,--quiet --all --no-all -a,--append --atomic -f,--force -t,--tags "       \
	"--no-tags -p,--prune --no-prune --no-recurse-submodules --dry-run -k,--keep "             \
	"--depth:number "                                                                          \
	"--shallow-since:text --shallow-exclude:rev --deepen:number --unshallow --update-shallow " \
	"--refmap:text -o,--server-option:text -4,--ipv4 -6,--ipv6 --negotiation-tip:rev "         \
	"--show-forced-updates --no-show-forced-updates --set-upstream --progress --no-progress "

static int check_url(struct git_use *u)
{
	bool here;

	for (size_t i = 1; i < u->p.n_operands; i++)
		if (git_remote(u, &u->p.operands[i], false, &here) < 0)
			return -1;
	if (given_any(&u->p, "--fetch") && git_networks(u) < 0)
		return -1;
	u->operands = "name text text";
	return 0;
}

static int check_show(struct git_use *u)
{
	bool here;

	for (size_t i = 0; i < u->p.n_operands; i++)
		if (git_remote(u, &u->p.operands[i], false, &here) < 0)
			return -1;
	u->operands = "text*";
	return u->p.n_operands && !given_any(&u->p, "-n") ? git_networks(u) : 0;
}

static int check_head(struct git_use *u)
{
	return given_any(&u->p, "--auto") ? git_networks(u) : 0;
}

static int check_ls_remote(struct git_use *u)
{
	bool here = false;

	if (u->p.n_operands && git_remote(u, &u->p.operands[0], false, &here) < 0)
		return -1;
	u->operands = "text rev*";
	return here || given_any(&u->p, "--get-url") ? 0 : git_networks(u);
}

const struct git_command git_rows_remotes[] = {
	{"fetch",
		"--multiple,-m -n -j,--jobs:number --prefetch -P,--prune-tags --no-prune-tags "
		"--write-fetch-head --no-write-fetch-head -u,--update-head-ok --refetch "
		"--negotiate-only --filter:text --auto-maintenance --no-auto-maintenance --auto-gc "
		"--no-auto-gc --write-commit-graph --no-write-commit-graph --stdin "
		"--porcelain" FETCHING,
		"", GIT_WRITES | GIT_FILES, git_check_fetch, NULL},
	{"pull",
		"-r,--rebase?word{true,false,merges} --no-rebase -n --stat --no-stat --summary "
		"--log?number --no-log --signoff --no-signoff --squash --no-squash --commit "
		"--no-commit --no-edit "
		"--cleanup:word{strip,whitespace,verbatim,scissors,default} --ff --no-ff --ff-only "
		"--verify --no-verify --verify-signatures --no-verify-signatures --autostash "
		"--no-autostash -s,--strategy:" GIT_STRATEGY " -X,--strategy-option:text "
		"-S,--gpg-sign?text --no-gpg-sign --allow-unrelated-histories "
		"-j,--jobs?number" FETCHING,
		"", GIT_WRITES | GIT_FILES, git_check_fetch, NULL},
	{"push",
		"-v,--verbose -q,--quiet --repo:text --all --branches --delete,-d --tags "
		"-n,--dry-run --porcelain --force,-f --force-with-lease?text --no-force-with-lease "
		"--force-if-includes --no-force-if-includes "
		"--recurse-submodules:word{check,on-demand,only,no} --no-recurse-submodules "
		"--thin --no-thin -u,--set-upstream --progress --no-progress --prune --no-verify "
		"--verify --follow-tags --no-follow-tags --signed?text --no-signed --atomic "
		"--no-atomic -o,--push-option:text -4,--ipv4 -6,--ipv6",
		"", GIT_WRITES, git_check_push, NULL},
	{"clone",
		"-v,--verbose -q,--quiet --progress --no-progress --reject-shallow "
		"-n,--no-checkout "
		"-l,--local --no-local --no-hardlinks --recurse-submodules?text --recursive?text "
		"-j,--jobs:number -o,--origin:name -b,--branch:rev --depth:number "
		"--shallow-since:text --shallow-exclude:rev --single-branch --no-single-branch "
		"--no-tags --tags --shallow-submodules --no-shallow-submodules "
		"--config,-c:text --server-option:text -4,--ipv4 -6,--ipv6 --filter:text "
		"--also-filter-submodules --sparse",
		"", GIT_WRITES | GIT_FILES, git_check_clone, NULL},
	{"ls-remote",
		"-q,--quiet -t,--tags -h,--heads --branches -b --refs --get-url --sort:text "
		"--exit-code --symref -o,--server-option:text",
		"", 0, check_ls_remote, NULL},
	{"remote", "-v,--verbose", "", GIT_GROUP, NULL, "-v,--verbose"},
	{"remote show", "-n", "", 0, check_show, NULL},
	{"remote get-url", "--push --all", "name", 0, NULL, NULL},
	{"remote add", "-t,--track:rev -m,--master:rev --fetch,-f --tags --no-tags", "", GIT_WRITES,
		check_url, NULL},
	{"remote set-url", "--push --add --delete", "", GIT_WRITES, check_url, NULL},
	{"remote rename", "--progress --no-progress", "name name", GIT_WRITES, NULL, NULL},
	{"remote remove", "", "name", GIT_WRITES, NULL, NULL},
	{"remote rm", "", "name", GIT_WRITES, NULL, NULL},
	{"remote prune", "-n,--dry-run", "name*", GIT_WRITES | GIT_NETWORK, NULL, NULL},
	{"remote update", "-p,--prune", "name*", GIT_WRITES | GIT_NETWORK, NULL, NULL},
	{"remote set-head", "--auto,-a -d,--delete", "name rev", GIT_WRITES, check_head, NULL},
	{"remote set-branches", "--add", "name rev*", GIT_WRITES, NULL, NULL},
	{0},
};
