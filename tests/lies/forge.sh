#!/bin/sh
# Stands in for `gh` and `glab` (by the name that it is called by): answers from bare repositories
# below FORGE in the form of the real programs, as they write without a terminal. A pull request is
# a file OWNER/REPO.git/pulls/N of shell variables. Its branch and head are those of the repository
# that it is from. `forge.sh gh|glab|own create BRANCH` opens one as a person would in a browser, and
# `forge.sh gh|glab|own add KEY=VALUE...` one of any form; both print its URL. `forge.sh own view URL`
# is a command that a workflow names for another forge, `short` one that shortens ids.
set -eu
host=https://git.example
tool=${0##*/}
if [ "$tool" = forge.sh ]; then
	tool=$1 what=$2
	shift 2
else
	case "${1-} ${2-}" in
	'pr '* | 'mr '*) what=$2 && shift 2 ;;
	--version*) echo "$tool version 2.62.0" && exit ;;
	'api graphql') echo '{}' && exit ;; # nobody comments
	'auth status') echo "Logged in to ${host#*//}" && exit ;;
	*) echo "unknown command \"${1-}\" for \"$tool\"" >&2 && exit 1 ;;
	esac
fi
case $tool in gh) mark=/pull/ ;; glab) mark=/-/merge_requests/ ;; *) mark=/pulls/ ;; esac

here=acme/shop # the repository of the working directory
missing() { # as each says it
	case $tool in
	gh) echo "GraphQL: Could not resolve to a PullRequest with the number of ${number:-0}. (repository.pullRequest)" >&2 ;;
	own | short) echo '{"state":"missing"}' && exit ;;
	*) echo "GET $host/api/v4/projects/acme%2Fshop/merge_requests/${number:-0}: 404 {message: 404 Not found}" >&2 ;;
	esac
	exit 1
}
# Sets repo, number and the variables of the pull request; a branch that is gone closes it.
load() { # URL, number or branch
	repo=$here number=$1
	case $1 in
	"$host"/*"$mark"*)
		repo=${1#"$host"/}
		repo=${repo%%"$mark"*} number=${1##*/}
		;;
	http*) echo "none of the git remotes configured for this repository correspond to the host" >&2 && exit 1 ;;
	*[!0-9]*) number=$(cd "$FORGE/$here.git/pulls" && grep -lx "branch=$1" * 2>/dev/null | sort -n | tail -n 1) ;;
	esac
	if [ ! -d "$FORGE/$repo.git" ]; then
		case $tool in
		gh) echo "GraphQL: Could not resolve to a Repository with the name '$repo'. (repository)" >&2 ;;
		*) echo "GET $host/api/v4/projects/$repo: 404 {message: 404 Project Not Found}" >&2 ;;
		esac
		exit 1
	fi
	[ -n "$number" ] && [ -e "$FORGE/$repo.git/pulls/$number" ] || missing
	state=OPEN base=main from=$repo draft=false head=''
	. "$FORGE/$repo.git/pulls/$number"
	if [ "$state" = OPEN ]; then
		tip=$(git --git-dir="$FORGE/$from.git" rev-parse -q --verify "refs/heads/$branch") || state=CLOSED
		head=${tip:-$head}
	fi
}
add() { # KEY=VALUE...
	repo=$here
	for pair; do case $pair in repo=*) repo=${pair#*=} ;; esac; done
	pulls=$FORGE/$repo.git/pulls number=1
	mkdir -p "$pulls"
	until (set -C && : >"$pulls/$number") 2>/dev/null; do number=$((number + 1)); done
	printf '%s\n' "$@" >"$pulls/$number"
	echo "$host/$repo$mark$number"
}
create() { # BRANCH [BASE]
	for number in $(cd "$FORGE/$here.git/pulls" 2>/dev/null && grep -lx "branch=$1" * 2>/dev/null); do
		load "$number"
		if [ "$state" = OPEN ] && [ "$base" = "${2-main}" ] && [ "$from" = "$here" ]; then
			echo "$host/$here$mark$number"
			return
		fi
	done
	git --git-dir="$FORGE/$here.git" rev-parse -q --verify "refs/heads/$1" >/dev/null || {
		echo "pull request create failed: GraphQL: Head ref must be a branch (createPullRequest)" >&2
		exit 1
	}
	if git --git-dir="$FORGE/$here.git" merge-base --is-ancestor "refs/heads/$1" "refs/heads/${2-main}"; then
		echo "pull request create failed: GraphQL: No commits between ${2-main} and $1 (createPullRequest)" >&2
		exit 1
	fi
	add "branch=$1" "base=${2-main}" "head=$(git --git-dir="$FORGE/$here.git" rev-parse "refs/heads/$1")"
}
gh_field() { # NAME: one member
	case $1 in
	baseRefName) printf '"%s":"%s"' "$1" "$base" ;;
	headRefName) printf '"%s":"%s"' "$1" "$branch" ;;
	headRefOid) printf '"%s":"%s"' "$1" "$head" ;;
	headRepository) printf '"%s":{"id":"R_1","name":"%s"}' "$1" "${from#*/}" ;;
	headRepositoryOwner) printf '"%s":{"id":"O_1","login":"%s"}' "$1" "${from%/*}" ;;
	isCrossRepository) printf '"%s":%s' "$1" "$([ "$from" = "$repo" ] && echo false || echo true)" ;;
	mergedAt) printf '"%s":null' "$1" ;;
	isDraft) printf '"%s":%s' "$1" "$draft" ;;
	number) printf '"%s":%s' "$1" "$number" ;;
	state) printf '"%s":"%s"' "$1" "$state" ;;
	url) printf '"%s":"%s"' "$1" "$host/$repo$mark$number" ;;
	*)
		printf 'Unknown JSON field: "%s"\n' "$1" >&2
		exit 1
		;;
	esac
}
view_gh() { # FIELD,...
	separator='{' members=''
	for name in $(echo "$1" | tr , '\n' | sort); do
		members=$members$separator$(gh_field "$name") || exit 1
		separator=,
	done
	echo "$members}"
}
view_glab() {
	case $state in OPEN) state=opened ;; MERGED) state=merged ;; *) state=closed ;; esac
	printf '{"id":1%s,"iid":%s,"target_branch":"%s","source_branch":"%s","project_id":1,"title":"A change",' \
		"$number" "$number" "$base" "$branch"
	printf '"state":"%s","draft":%s,"source_project_id":1,"target_project_id":1,"sha":"%s","web_url":"%s",' \
		"$state" "$draft" "$head" "$host/$repo$mark$number"
	printf '"pipeline":null,"head_pipeline":%s}\n' "$(pipeline)"
}
# What the forge checks is what was pushed. A repository without CI has the file `no-ci`.
validate() {
	dir=$(mktemp -d)
	git clone -q --no-checkout "$FORGE/$from.git" "$dir/checks"
	result=pass
	(cd "$dir/checks" && git checkout -q "$head" && sh scripts/validate.sh) >/dev/null 2>&1 || result=fail
	rm -rf "$dir"
}
checks() {
	[ ! -e "$FORGE/$repo.git/no-ci" ] || { echo "no checks reported on the '$branch' branch" >&2 && exit 1; }
	validate
	printf 'validate\t%s\t1s\t%s/checks\t\n' $result "$host/$repo"
	[ $result = pass ]
}
pipeline() {
	[ ! -e "$FORGE/$repo.git/no-ci" ] || { echo null && return; }
	validate
	[ $result = pass ] && result=success || result=failed
	printf '{"id":1,"iid":1,"project_id":1,"status":"%s","source":"push","ref":"%s","sha":"%s","web_url":"%s/-/pipelines/1"}' \
		$result "$branch" "$head" "$host/$repo"
}

what_of='' fields='' branch='' base=main
case $what in
add | create) "$what" "$@" && exit ;;
esac
while [ $# -gt 0 ]; do
	case $1 in
	--json) fields=$2 && shift ;;
	--output | -F) shift ;;
	--repo | -R)
		here=${2#"$host"/} && shift
		here=${here%.git}
		;;
	--watch) ;;
	-*) echo "unknown flag: $1" >&2 && exit 1 ;;
	*) what_of=$1 ;;
	esac
	shift
done
case $what in
view)
	load "$what_of"
	case $tool in
	gh) view_gh "$fields" ;;
	glab) view_glab ;;
	short) printf '{"state":"%s","branch":"%s","head":"%.12s"}\n' "$state" "$branch" "$(echo "$head" | tr a-f A-F)" ;;
	*) printf '{"state":"%s","branch":"%s","head":"%s"}\n' "$(echo "$state" | tr A-Z a-z)" "$branch" "$head" ;;
	esac
	;;
checks) load "$what_of" && checks ;;
*) echo "unknown command \"$what\" for \"$tool\"" >&2 && exit 1 ;;
esac
