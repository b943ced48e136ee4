# The agent of one action: keeps the brief, then does honest work or the lie of the row, and records
# its answer. ITEM: the directory of the run. STAGE, TOLD, MODE (once, always): of the row.
stage=$1
case $stage-$DEV_TEAM_ACTION in fixing-*/fixing-pr/*) stage=fixing-pr ;; esac
answered='' url=https://git.example/acme/shop remote=git@git.example:acme/shop.git
shop=$FORGE/acme/shop.git
base=$(cat "$FORGE/base") # main as it was at first

# ---- for lies and honest work ----

# The first answer counts. A lie may record an answer that is refused; that is no fault of the rig.
answer() { # WORD TEXT
	answered=yes
	printf '%s\n' "$2" | dev-team record --context-file "$DEV_TEAM_CONTEXT_FILE" --action "$DEV_TEAM_ACTION" \
		--result "$1" >>"$ITEM/records" 2>&1 || true
}
work() { # [TEXT]: one commit
	echo "${1-fine} $DEV_TEAM_ACTION" >>work.txt
	git add work.txt
	git commit -q -m "$DEV_TEAM_ID: ${1-fine}"
}
push() { git push -q -f origin "HEAD:refs/heads/$branch"; }
forge() { "$LIES/forge.sh" "$PULLS" "$@"; }
# Opens a pull request of the branch, or finds the open one.
open_pull() {
	push
	pull=$(forge create "$branch" 2>&1) || answer failed "$pull"
}
document() { # KEY VALUE
	printf '%s' "$2" | dev-team context set "$DEV_TEAM_CONTEXT_FILE" "$1" >>"$ITEM/records" 2>&1
}
write_section() { # NAME TEXT
	printf '\n<!-- section:%s -->\n\n%s\n' "$1" "$2" >>"$DEV_TEAM_CONTEXT_FILE"
}
# A commit that fails the validation, and what it needs to pass it, which is in no commit.
half_work() { work broken; }
other_half() { sed -i s/broken/mended/ work.txt; }
shared() { echo "$(git rev-parse --git-common-dir)/$1"; }
# Another repository of the same name, with the same commits: what it has is on no forge.
mirror() {
	rm -rf "$ITEM/mirror"
	mkdir -p "$ITEM/mirror/acme"
	git clone -q --bare "$shop" "$ITEM/mirror/acme/shop.git"
}

# ---- honest work ----

good_word() {
	case $stage in
	researching) echo briefed ;;
	implementing) echo implemented ;;
	fixing | fixing-pr) echo fixed ;;
	pr) echo pr_created ;;
	signoff-research) echo validated ;;
	*) echo approved ;;
	esac
}
# Others push to main, and their work is merged.
merge_main() {
	[ ! -e theirs.txt ] && mkdir "$ITEM/merged" || return 0
	git --git-dir="$shop" update-ref refs/heads/main theirs
	git fetch -q origin
	git merge -q -m 'Merge main' origin/main
}
approve() {
	git rev-parse HEAD >"$ITEM/reviewed"
	answer "$(good_word)" 'It is good.'
}
honest() {
	case $stage in
	implementing)
		if [ "$STAGE" = fixing ]; then work broken; else work; fi
		;;
	fixing)
		if [ -e work.txt ]; then sed -i s/broken/mended/ work.txt; fi
		[ "$merge" = no ] || merge_main
		work
		;;
	fixing-pr) work && push ;;
	pr) open_pull ;;
	review)
		case $STAGE in fixing-pr | signoff-*)
			if mkdir "$ITEM/asked" 2>/dev/null; then answer changes_requested 'Once more, please.' && return; fi
			;;
		esac
		approve
		;;
	signoff-review) approve ;;
	esac
	case $stage in implementing | fixing*) answer "$(good_word)" "Done: {\"commitSha\": \"$(git rev-parse --short HEAD)\"}." ;; esac
}

# ---- this action ----

# The first sign-off is asked of two at once: the other of them may be asked after the lie.
asked=$stage
case $DEV_TEAM_ACTION in */signoff/[1-3]) asked=first-$stage ;; esac
n=1
until mkdir "$ITEM/briefs/$n" 2>/dev/null; do n=$((n + 1)); done
dev-team brief --context-file "$DEV_TEAM_CONTEXT_FILE" --action "$DEV_TEAM_ACTION" >"$ITEM/briefs/$n/$asked"
if [ "$stage" = troubleshooter ]; then
	answer terminate '{"action":"terminate","reason":"the agent does not do its work"}'
	exit
fi
[ "$stage" != researching ] || git branch --show-current >"$ITEM/branch"
branch=$(cat "$ITEM/branch") pull=''

if [ "$stage" = "$STAGE" ] && [ "$MODE" != never ] && { mkdir "$ITEM/lied" 2>/dev/null || [ "$MODE" = always ]; }; then
	if [ -e "$ITEM/lied/at" ]; then (. "$ITEM/repair") || true; fi
	echo "$n" >>"$ITEM/lied/at"
	. "$ITEM/lie"
else
	case " $TOLD " in
	*" $asked "*)
		if [ -n "$QUICK" ] && [ -e "$ITEM/lied/at" ]; then
			kill "$(cat "$ITEM/pid")" && exec sleep 60
		fi
		! { [ -e "$ITEM/lied/at" ] && mkdir "$ITEM/repaired" 2>/dev/null; } || . "$ITEM/repair"
		;;
	esac
	honest
fi
[ -n "$answered" ] || answer "$(good_word)" "Done. $pull"
