#include <sys/stat.h>
#include "tests/lib/unit.h"
#include "tests/lib/policy_rig.h"

#define POLICY                                                                                     \
	"{\"name\":\"t\",\"write\":true,\"allow\":[\"git\",\"ls\",\"cat\",\"wc\",\"grep\","        \
	"\"find\",\"xargs\",\"mkdir\",\"rm\",\"mv\",\"cp\",\"ln\",\"echo\",\"printf\",\"test\","   \
	"\"[\",\"cd\",\"pwd\",\"true\",\"false\",\"make\",\"env\",\"timeout\",\"read\","           \
	"\"export\","                                                                              \
	"\"set\",\"sort\",\"head\",\"tail\"]}"

struct row {
	const char *line, *rule; /* no rule: allowed */
};

static void ask(const struct row *rows)
{
	rig_use_json(POLICY);
	for (; rows->line; rows++) {
		if (rows->rule)
			rig_denied(rows->line, rows->rule);
		else
			rig_allowed(rows->line);
	}
}

TEST(the_directory_is_followed)
{
	ask((const struct row[]){
		{"cd src && cat main.c", NULL},
		{"cd src && cat ../README.md", NULL},
		{"cd src; cat ../README.md", "path.outside"}, /* cd may fail */
		{"cd src && cd .. && cat README.md", NULL},
		{"cd src && cat ../../secret", "path.outside"},
		{"(cd src && ls) && cat README.md", NULL},
		{"(cd src); cat ../secret", "path.outside"},
		{"(cd src && ls); cat ../README.md", "path.outside"},
		{"cd src || exit", "name.listed"},
		{"cd src || true; cat README.md", NULL},
		{"{ cd src; } && cat ../README.md", NULL},
		{"if cd src; then cat ../README.md; else cat README.md; fi", NULL},
		{"if cd src; then ls; fi; cat ../README.md", "path.outside"},
		{"! cd src && cat ../README.md", "path.outside"},
		{"cd src & cat ../README.md", "path.outside"},
		{"cd src | cat ../README.md", "path.outside"},
		{"while cd src; do ls; done", "limit"},
		{"while true; do cd ..; done", "path.outside"},
		{"cd", "cwd"},
		{"cd -", "cwd"},
		{"cd -P src && ls", NULL},
		{"cd -- src && ls", NULL},
		{"cd -L src", "cwd"},
		{"cd src include", "cwd"},
		{"cd ..", "path.outside"},
		{"cd esc && ls", "path.outside"},
		{"cd up && ls", "path.outside"},
		{"cd inlink && cat deep.txt", NULL},
		{"cd inlink && cat ../README.md", NULL},
		{"cd inlink && cd .. && ls", "cwd"}, /* shells differ in where that is */
		{"cd inlink/.. && ls", NULL},
		{"cd inlink && cd . && cd .. && ls", "cwd"},
		{"cd src/../sub && ls", NULL},
		{"cd src && cd ../inlink && cd .. && ls", "cwd"},
		{"cd $PWD/src && cd .. && ls", NULL},
		{"mkdir -p new/deep && cd new/deep && cat ../../README.md", NULL},
		{"mkdir -p new && cd new && cat ../../secret", "path.outside"},
		{"mkdir new && cd new && cd .. && ls", NULL},
		{NULL, NULL},
	});
}

TEST(values_are_followed)
{
	ask((const struct row[]){
		{"f=src/main.c; cat $f", NULL},
		{"f=src/main.c; cat \"$f\"", NULL},
		{"f='../secret'; cat $f", "path.outside"},
		{"f=src/main.c; f=../secret; cat $f", "path.outside"},
		{"f=README.md; cat src/$f", NULL},
		{"f=..; cat $f/secret", "path.outside"},
		{"f='-f /etc/shadow'; grep $f README.md", "path.outside"},
		{"f='a b'; ls \"$f\"", NULL},
		{"true && f=../secret; cat \"$f\"", "path.outside"},
		{"f=README.md; true && f=src/main.c; cat \"$f\"", NULL},
		{"f=README.md; false || f=../secret; cat \"$f\"", "path.outside"},
		{"if true; then f=../secret; else f=README.md; fi; cat \"$f\"", "path.outside"},
		{"f=README.md; (f=../secret); cat $f", NULL},
		{"f=README.md; f=../secret true; cat $f", "assign.name"},
		{"for f in README.md src/main.c; do cat \"$f\"; done", NULL},
		{"for f in README.md ../secret; do cat \"$f\"; done", "path.outside"},
		{"for f in src/*.c; do wc -l \"$f\"; done", NULL},
		{"for f in esc/*; do wc -l \"$f\"; done", "path.glob"},
		{"for d in src sub; do (cd $d && ls); done", NULL},
		{"for d in src sub; do cd $d; done; cat ../README.md", "path.outside"},
		{"for c in ls cat; do $c README.md; done", "name.dynamic"},
		{"c=ls; $c", "name.dynamic"},
		{"c='*'; ls src/$c", NULL},
		{"c='*'; ls $c", "path.glob"} /* `up` and `esc` among them */,
		{"f=*; cat \"$f\"", NULL},
		{"echo $f", "value.dynamic"},
		{"echo $HOME", "value.dynamic"},
		{"read f < README.md; echo \"$f\"", NULL},
		{"read f < README.md; cat \"$f\"", "value.dynamic"},
		{"read f < README.md; cat -- \"$f\"", "path.dynamic"},
		{"read f < README.md; $f", "name.dynamic"},
		{"while read -r f; do echo \"$f\"; done < README.md", NULL},
		{"while read -r f; do cat \"./$f\"; done < README.md", "path.dynamic"},
		{"case x in x) cat ../secret;; esac", "path.outside"},
		{"case x in y) cat ../secret;; *) ls;; esac", "path.outside"},
		{"case x in x|y) ls;; *) cat README.md;; esac", NULL},
		{"f=x; case $f in x) ls;; esac", NULL},
		{"f=1 g=2; echo $f$g", NULL},
		{"export V=1 && make", NULL},
		{"export PATH=/tmp; make", "assign.name"},
		{"set -e; make", NULL},
		{"set -x; make", "option"},
		{NULL, NULL},
	});
}

TEST(unknown_output_goes_where_it_can_do_no_harm)
{
	ask((const struct row[]){
		{"echo \"$(cat README.md)\"", NULL},
		{"git commit -m \"$(cat README.md)\"", NULL},
		{"git commit -m $(cat README.md)", "value.dynamic"},
		{"cat \"$(cat README.md)\"", "value.dynamic"},
		{"cat -- \"$(cat README.md)\"", "path.dynamic"},
		{"cat $(git rev-parse HEAD)", "path.dynamic"},
		{"git log \"$(git merge-base main HEAD)\"..HEAD", NULL},
		{"git log $(git merge-base main HEAD)..HEAD --oneline", NULL},
		{"git log $(cat README.md)", "value.dynamic"},
		{"$(echo ls)", "name.dynamic"},
		{"echo $(curl http://x)", "name.listed"},
		{"echo $(cat ../secret)", "path.outside"},
		{"x=$(git rev-parse HEAD); git show \"$x\"", NULL},
		{"cd \"$(git rev-parse --show-toplevel)\" && ls", NULL},
		{"cat \"$(git rev-parse --show-toplevel)/../secret\"", "path.outside"},
		{"cat \"$(pwd)/README.md\" $PWD/src/main.c", NULL},
		{"cat $PWD/../secret", "path.outside"},
		{"[ $(ls | wc -l) -gt 3 ] && echo many", NULL},
		{"echo $(ls | wc -l)", NULL},
		{"make -j$(cat README.md | wc -l)", NULL},
		{"make -j$(wc -l | cat README.md)", "value.dynamic"},
		{"x=$(cat README.md); cat $x", "value.dynamic"},
		{"CFLAGS=$(cat README.md) make", "assign.value"},
		{"echo x > \"$(cat README.md)\"", "path.dynamic"},
		{"cat src/$(git rev-parse HEAD)", "path.dynamic"},
		{"cat \"src/$(git rev-parse HEAD)\"", "path.dynamic"},
		{"ls $(git rev-parse HEAD)*", "value.dynamic"},
		{NULL, NULL},
	});
}

TEST(names_lead_to_the_systems_programs)
{
	ask((const struct row[]){
		{"/usr/bin/git status", NULL},
		{"/bin/ls", NULL},
		{"/tmp/git status", "name.trusted"},
		{"./git status", "name.trusted"},
		{"src/../git status", "name.trusted"},
		{"../git status", "name.trusted"},
		{"\"git\" status", NULL},
		{"g\"i\"t status", NULL},
		{"/usr/bin/cd src", "name.trusted"},
		{"g\xd1\x96t status", "name.bytes"},
		{"curl x", "name.listed"},
		{"ls; curl x", "name.listed"},
		{"ls && (true || curl x)", "name.listed"},
		{"for i in 1; do curl x; done", "name.listed"},
		{"case a in b) curl x;; esac", "name.listed"},
		{"true | curl x", "name.listed"},
		{"'' x", "name.bytes"},
		{NULL, NULL},
	});
}

TEST(variables_that_run_something_are_not_set)
{
	ask((const struct row[]){
		{"CC=gcc make", NULL},
		{"CC=clang-15 make", NULL},
		{"CC='gcc -m64' V=1 make build/app", NULL},
		{"CC='ccache gcc' make", "option"},
		{"CC=./x make", "assign.value"},
		{"CC='gcc -wrapper ./x' make", "option"},
		{"CFLAGS='-O2 -Wall' make", NULL},
		{"CFLAGS='-DX=$(shell id)' make", "assign.value"},
		{"CFLAGS='-B/tmp' make", "option"},
		{"LC_ALL=C sort README.md", NULL},
		{"LC_ALL='C;id' sort README.md", "assign.value"},
		{"LC_ALL=../../x sort README.md", "assign.value"},
		{"LANG=/etc/x ls", "assign.value"},
		{"LANG=de_DE.UTF-8@euro ls", NULL},
		{"TZ=Europe/Berlin git log", NULL},
		{"TZ=UTC0 git log", NULL},
		{"TZ=:/etc/shadow git log", "assign.value"},
		{"TZ=/etc/shadow git log", "assign.value"},
		{"TZ=../x git log", "assign.value"},
		{"GIT_PAGER=cat git log", NULL},
		{"GIT_PAGER=./x git log", "assign.value"},
		{"GIT_EDITOR=true git commit", NULL},
		{"GIT_SSH_COMMAND=x git fetch", "assign.name"},
		{"PATH=. ls", "assign.name"},
		{"PATH=.; ls", "assign.name"},
		{"LD_PRELOAD=x ls", "assign.name"},
		{"IFS=x; ls", "assign.name"},
		{"PS4='$(id)'; ls", "assign.name"},
		{"HOME=. ls", "assign.name"},
		{"http_proxy=x; ls", "assign.name"},
		{"MAKEFLAGS=--eval=x make", "assign.name"},
		{"for PATH in . src; do ls; done", "assign.name"},
		{"read PATH", "assign.name"},
		{"env GIT_DIR=/x git log", "assign.name"},
		{"FILES='src/main.c src/util.c'; wc -l $FILES", NULL},
		{NULL, NULL},
	});
}

TEST(what_feeds_xargs_is_known_to_be_names)
{
	ask((const struct row[]){
		{"find . -name '*.c' -print0 | xargs -0 wc -l", NULL},
		{"find src -name '*.c' -print0 | sort -z | xargs -0 wc -l", NULL},
		{"find src -name '*.c' -print0 2>/dev/null | sort -z | head -z | xargs -0 wc -l",
			NULL},
		{"cat README.md | sort -z | xargs -0 cat", "wrapper"},
		{"find . -print0 | sort -z < README.md | xargs -0 cat", "wrapper"},
		{"find . -print0 2>&1 | xargs -0 cat", "wrapper"},
		{"find . -print0 |& xargs -0 cat", "wrapper"},
		{"find . -print0 > build/x | xargs -0 cat", "wrapper"},
		{"(find . -print0) | xargs -0 cat", "wrapper"},
		{"find . -print0 | xargs -0 cat < README.md", "wrapper"},
		{NULL, NULL},
	});
}

TEST(values_that_double_come_to_an_end)
{
	rig_use_json(POLICY);
	rig_denied(repeated("x=aaaaaaaa", "; x=$x$x", 160, "").p, "limit");
	rig_denied(repeated("x=aaaaaaaaaaaaaaaa; echo ", "$x", 30000, "").p, "limit");
}

TEST(a_directory_by_another_name_has_no_way_up)
{
	struct verdict v;
	struct node *tree;

	rig_use_json(POLICY);
	assert_int_equal(mkdir(at("tree/sub/d"), 0700), 0);
	assert_int_equal(symlink("sub/d", at("tree/deep")), 0);
	rig_denied("cd deep/.. && cat ../secret", "cwd");
	rig_denied("cd src/../deep/.. && ls", "cwd");
	assert_int_equal(policy_check(&arena, &rig_policy, &rig_root, at("tree/inlink"),
				 STR("cd .. && ls"), &tree, &v, NULL),
		-1);
	assert_int_equal(v.rule, RULE_CWD);
	assert_int_equal(policy_check(&arena, &rig_policy, &rig_root, at("tree/sub"),
				 STR("cd .. && ls"), &tree, &v, NULL),
		0);
}

TEST(the_directory_one_is_in_is_not_moved)
{
	ask((const struct row[]){
		{"mkdir -p g/h && cd g/h && mv ../h ../../h && ls", "cwd"},
		{"mkdir -p g/h && cd g/h && mv ../../g ../../k && ls", "cwd"},
		{"cd src && (cd .. && mv src other) && cat ../README.md", "cwd"},
		{"cd src && mv ../src ../other", "cwd"},
		{"cd src && mv main.c main2.c && cd .. && ls", NULL},
		{"cd src && mv ../sub ../other", NULL},
		{"mv sub other && cd other && ls", NULL},
		{"mkdir b && cd b && cd .. && rm -rf b", NULL},
		{NULL, NULL},
	});
}

TEST(settings_that_git_would_take_away_are_protected)
{
	rig_use_json(POLICY);
	rig_allowed("git stash -u");
	tree_mkdirs(at("tree/.claude"));
	rig_denied("git stash -u", "path.protected");
	rig_denied("git stash push --include-untracked -m x", "path.protected");
	rig_denied("git clean -fd", "path.protected");
	rig_allowed("git stash");
	rig_allowed("git clean -fd -e .claude");
}

TEST(patterns_come_to_an_end)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	rig_use_json(POLICY);
	for (int i = 0; i < 65; i++)
		buf_addf(&text, "ls src/%d*; ", i);
	rig_denied(text.s, "limit");
	rig_allowed(repeated("", "ls src/*; ", 65, "").p);
}

TEST(a_cd_that_may_fail_is_named)
{
	struct verdict v;

	rig_use_json(POLICY);
	v = rig_ask("cd src; make; cd ..");
	assert_true(v.denied);
	assert_non_null(strstr(v.reason, "join them with &&"));
	v = rig_ask("cat ../secret");
	assert_null(strstr(v.reason, "&&"));
	v = rig_ask("ls .*");
	assert_true(v.denied);
	assert_str(v.word, ".*");
}

TEST(files_by_the_hundred_need_no_names)
{
	rig_use_json(POLICY);
	tree_mkdirs(at("tree/many"));
	for (int i = 0; i < 300; i++)
		scratch_write(arena_printf(&arena, "tree/many/%d.c", i), "x\n");
	rig_allowed("for f in many/*.c; do wc -l \"$f\"; done | sort -n | tail -3");
	rig_denied("for f in many/*.c; do wc -l $f; done", "value.dynamic");
	rig_denied("for f in many/*.c; do cat -- \"$f/../../secret\"; done", "path.dynamic");
	rig_denied("for f in many/*.c; do \"$f\"; done", "name.dynamic");
	rig_denied("for f in many/*.c; do cd \"$f\"; done", "cwd");
	rig_denied("for f in many/*.c; do echo x > \"$f.bak\"; done", "path.dynamic");
}

TEST(loops_come_to_an_end)
{
	const char *loops = repeated("", "for v in 1 2 3 4 5 6 7 8 9 a b c; do ", 4, "ls; ").p;

	rig_use_json(POLICY);
	rig_denied(repeated(loops, "done; ", 4, "").p, "limit");
}

UNIT_GROUP(rig_make, rig_remove)
