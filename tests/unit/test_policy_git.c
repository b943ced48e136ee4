/* What git may do: lines of every day that must pass, and what was ever tried with its options. */
#include "tests/unit/unit.h"
#include "tests/unit/policy_rig.h"

#define ALLOW                                                                                      \
	"\"allow\":[\"git\",\"cd\",\"ls\",\"echo\",\"pwd\",\"cat\",\"xargs\",\"grep\",\"tail\"]"
static const char writes[] = "{\"name\":\"git\"," ALLOW ",\"write\":true}";
static const char reads[] = "{\"name\":\"look\"," ALLOW ",\"write\":false}";
static const char lonely[] = "{\"name\":\"lonely\"," ALLOW ",\"write\":true,\"network\":false}";
static const char listed[] =
	"{\"name\":\"readonly\"," ALLOW ",\"write\":false,\"git\":[\"status\",\"log\",\"diff\","
	"\"show\",\"blame\",\"ls-files\",\"rev-parse\",\"merge-base\",\"grep\",\"cat-file\","
	"\"describe\",\"shortlog\",\"stash list\"]}";
static const char pushes[] =
	"{\"name\":\"push\"," ALLOW ",\"write\":true,\"git\":[\"push\",\"commit\"]}";
static const char forces[] =
	"{\"name\":\"push\"," ALLOW ",\"write\":true,\"git\":[\"push\",\"push --force\"]}";

/* Lines that change nothing: for any policy that has git. */
static const char *const looking[] = {
	"git status --short --branch",
	"git status",
	"git status -sb",
	"git status --porcelain=v2 --untracked-files=all",
	"git status -uno -- src",
	"git --version",
	"git version",
	"git help",
	"git log -h",
	"git log --oneline -n 20",
	"git log --oneline -20",
	"git log -5 --stat",
	"git log -p -1 -- src/main.c",
	"git log --graph --decorate --all --oneline",
	"git log --left-right --cherry-pick origin/main...HEAD",
	"git log --since='2 weeks ago' --author=me --no-merges",
	"git log --format='%h %an %s' main..topic -- src/ ':!src/gen'",
	"git log --pretty=format:'%H%x09%s' --date=iso v1.0..",
	"git log -S'needle' --pickaxe-regex -- '*.c'",
	"git log -G '^int ' --oneline",
	"git log -L 1,20:src/main.c",
	"git log --grep 'fix|bug' -E -i",
	"git log --follow -- src/main.c",
	"git log --diff-filter=D --name-only",
	"git log HEAD~3..",
	"git log ..origin/main",
	"git log --reverse @{u}..",
	"git log $(git merge-base main HEAD)..HEAD --oneline",
	"git log $(git describe --tags --abbrev=0)..HEAD --oneline",
	"git log \"$(git merge-base main HEAD)\"..HEAD",
	"git show",
	"git show HEAD:src/main.c",
	"git show --stat HEAD~2",
	"git show HEAD^:../README.md",
	"git show --name-only --format= HEAD",
	"git show :/fix",
	"git show v1.0^{tree}",
	"git show stash@{0}",
	"git show -s --format=%ci HEAD",
	"git diff",
	"git diff HEAD~2..HEAD -- src/",
	"git diff --cached --stat",
	"git diff --staged -U10 src/main.c",
	"git diff main...HEAD --name-only --diff-filter=ACM",
	"git diff --word-diff=color -w",
	"git diff -M50% -C --summary HEAD~1",
	"git diff --exit-code --quiet",
	"git diff HEAD -- ':(exclude)build' '*.h'",
	"git diff $(git merge-base HEAD main)",
	"git diff --no-ext-diff --no-color --no-textconv HEAD",
	"git diff README.md src/main.c",
	"git diff HEAD:src/main.c HEAD~1:src/main.c",
	"git diff --color-words='[a-z]+' -- src",
	"git diff --check",
	"git diff-tree --no-commit-id --name-status -r HEAD",
	"git diff-index --quiet HEAD --",
	"git diff-files --name-only",
	"git range-diff main old new",
	"git blame -L 10,20 src/main.c",
	"git blame -w -C -C HEAD~3 -- src/main.c",
	"git annotate src/main.c",
	"git ls-files",
	"git ls-files -z '*.c'",
	"git ls-files --others --exclude-standard",
	"git ls-files -m -o --directory src",
	"git ls-tree -r --name-only HEAD src",
	"git ls-tree HEAD:src",
	"git rev-parse HEAD",
	"git rev-parse --abbrev-ref HEAD",
	"git rev-parse --short=8 HEAD~1",
	"git rev-parse --show-toplevel --git-dir",
	"git rev-parse --verify --quiet refs/heads/main",
	"git rev-parse --abbrev-ref --symbolic-full-name @{u}",
	"git rev-parse HEAD^{tree} main@{yesterday}",
	"git rev-list --count origin/main..HEAD",
	"git rev-list -n 1 HEAD -- src/main.c",
	"git rev-list --max-parents=0 HEAD",
	"git merge-base --is-ancestor main HEAD",
	"git merge-base main HEAD",
	"git grep -n TODO",
	"git grep -n -e 'a b' --and -e c -- '*.c' ':!sub'",
	"git grep -lz foo HEAD~2 -- src",
	"git grep -A3 -C 2 'rm -rf /' src",
	"git grep -E '(foo|bar)\\('",
	"git grep -c '/etc/passwd'",
	"git cat-file -p HEAD:src/main.c",
	"git cat-file -t HEAD",
	"git cat-file --batch-check",
	"git cat-file blob HEAD:README.md",
	"git describe --tags --always --dirty",
	"git shortlog -sn HEAD~10..",
	"git shortlog -sne --all",
	"git name-rev --name-only HEAD",
	"git for-each-ref --format='%(refname:short) %(objectname)' refs/heads",
	"git for-each-ref --sort=-committerdate --count=5",
	"git show-ref --heads",
	"git show-ref --verify --quiet refs/heads/x",
	"git symbolic-ref --short HEAD",
	"git symbolic-ref refs/remotes/origin/HEAD",
	"git branch",
	"git branch -a",
	"git branch -vv",
	"git branch --show-current",
	"git branch --list 'feature/*'",
	"git branch -r --contains HEAD",
	"git branch --merged main",
	"git branch --sort=-committerdate --format='%(refname:short)'",
	"git tag",
	"git tag -l 'v1.*' --sort=-v:refname",
	"git tag -n3",
	"git tag --points-at HEAD",
	"git tag --contains HEAD~3",
	"git remote",
	"git remote -v",
	"git remote get-url origin",
	"git remote show -n origin",
	"git worktree list --porcelain",
	"git stash list",
	"git stash show -p stash@{1}",
	"git stash show --stat",
	"git reflog",
	"git reflog -10",
	"git reflog show main",
	"git reflog HEAD@{2} --date=iso",
	"git config --get user.name",
	"git config user.email",
	"git config --local --list --show-origin",
	"git config --local --get-regexp '^branch\\.'",
	"git config -f .gitmodules --list",
	"git config --local --get remote.origin.url",
	"git config get user.name",
	"git submodule status --recursive",
	"git submodule",
	"git check-ignore -v build/x.o",
	"git check-attr -a -- src/main.c",
	"git count-objects -vH",
	"git var GIT_AUTHOR_IDENT",
	"git fsck --full",
	"git bisect log",
	"git notes show HEAD",
	"git notes --ref=review list",
	"git cherry -v main",
	"git apply --check --stat x.patch",
	"git format-patch --stdout -1 HEAD",
	"git clean -n -d",
	"git clean -ndx",
	"git hash-object src/main.c",
	"git archive --format=tar HEAD src",
	"git whatchanged -3",
	"git show-branch --all",
	"git --no-pager log -3",
	"git -P diff --stat",
	"git --no-optional-locks status",
	"git --literal-pathspecs ls-files -- 'a*b'",
	"git -C sub log -1",
	"git -C sub -C .. status",
	"git -C . status",
	"git -c color.ui=never diff --stat",
	"git -c Color.UI=always -c core.quotePath=false status",
	"git -c core.pager=cat log -1",
	"git -c core.pager= log -1",
	"git -c pager.log=false log -1",
	"git -c diff.renames log -1",
	"git -c advice.detachedHead=false status",
	"git -c core.fsmonitor=false status",
	"cd sub && git log -- ../src",
	"cd sub && git show HEAD:../README.md",
	"cd sub && git diff -- ../src/main.c :/src",
};

static const char *const changing[] = {
	"git add -A",
	"git add .",
	"git add src/main.c 'a b' \"sub/deep.txt\"",
	"git add -u -- src",
	"git add -N new.c",
	"git add '*.c'",
	"git add :/",
	"git add --chmod=+x src/main.c",
	"git add -- -weird-name",
	"git commit -q -m wip",
	"git commit -am 'all of it'",
	"git commit -m \"fix(parser): a && b | c; d > e\" -m \"second paragraph\"",
	"git commit -m '- a list: $(not run) `nor this`'",
	"git commit --message='--output=/etc/x'",
	"git commit --amend --no-edit",
	"git commit --amend --reset-author --no-edit",
	"git commit --allow-empty -m x",
	"git commit -F -",
	"git commit -F README.md",
	"git commit --fixup HEAD~2",
	"git commit --fixup=amend:HEAD~2",
	"git commit -C HEAD@{1}",
	"git commit --author='A B <a@example.com>' --date='2 days ago' -m x",
	"git commit -s -S -m signed",
	"git commit -m x -- src/main.c",
	"git commit --no-verify -m x",
	"git commit",
	"git commit -F - <<'EOF'\nsubject\n\nbody $(x)\nEOF",
	"GIT_AUTHOR_NAME='A B' GIT_AUTHOR_EMAIL=a@example.com git commit --allow-empty -m x",
	"git -c user.name='A B' -c user.email=a@example.com commit -m x",
	"git -c commit.gpgsign=false commit -m x",
	"git -c core.hooksPath=/dev/null commit -m x",
	"git checkout -b feature/x-1",
	"git checkout main",
	"git checkout -",
	"git checkout -- src/main.c",
	"git checkout HEAD~1 -- src",
	"git checkout .",
	"git checkout --ours src/main.c",
	"git checkout --theirs -- .",
	"git checkout -B topic origin/topic",
	"git checkout --detach HEAD~2",
	"git checkout --track origin/topic",
	"git checkout -f",
	"git checkout --orphan fresh",
	"git switch main",
	"git switch -c topic origin/main",
	"git switch -",
	"git switch --detach v1.0",
	"git restore src/main.c",
	"git restore --staged .",
	"git restore -SW -s HEAD~2 -- src",
	"git branch topic",
	"git branch topic HEAD~2",
	"git branch -D old",
	"git branch -d old older",
	"git branch -m new",
	"git branch -f main origin/main",
	"git branch -u origin/main",
	"git branch --set-upstream-to=origin/main topic",
	"git tag v1.0",
	"git tag -a v1.0 -m 'first one' HEAD~1",
	"git tag -d v1.0",
	"git tag -f v1.0 HEAD",
	"git stash",
	"git stash -u",
	"git stash push -m 'for later' -- src",
	"git stash pop",
	"git stash apply stash@{2}",
	"git stash drop",
	"git stash save 'for later'",
	"git stash branch again",
	"git stash -k -q",
	"git fetch",
	"git fetch --quiet origin",
	"git fetch -q origin; git log --oneline HEAD..origin/main; git diff origin/main",
	"git checkout main && git merge topic && git add -A",
	"git fetch --all --prune --tags",
	"git fetch origin main:refs/remotes/origin/main",
	"git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
	"git fetch --depth=1 https://example.com/a/b.git main",
	"git fetch . main:other",
	"git pull",
	"git pull --rebase",
	"git pull --ff-only origin main",
	"git pull --rebase=merges --autostash",
	"git push",
	"git push -u origin feature/x-1",
	"git push origin HEAD",
	"git push origin HEAD:refs/heads/x",
	"git push --force-with-lease origin topic",
	"git push --force origin main",
	"git push origin --delete topic",
	"git push origin :topic",
	"git push origin +main:main",
	"git push --tags",
	"git push --follow-tags -o ci.skip origin main",
	"git push git@example.com:a/b.git HEAD:main",
	"git push ssh://git@example.com:2222/a/b.git main",
	"git push --dry-run",
	"git merge topic",
	"git merge --no-ff -m 'Merge topic' topic",
	"git merge --abort",
	"git merge --ff-only origin/main",
	"git merge -X theirs -s ort topic",
	"git merge --squash topic",
	"git merge -",
	"git merge --no-commit --no-ff a b c",
	"git rebase main",
	"git rebase --onto main old topic",
	"git rebase --continue",
	"git rebase --abort",
	"git rebase --skip",
	"git -c core.editor=true rebase --continue",
	"git -c sequence.editor=: rebase --autosquash main",
	"git rebase --autosquash --autostash origin/main",
	"git rebase -X ours main",
	"git rebase HEAD~3",
	"git cherry-pick abc1234",
	"git cherry-pick -x -n HEAD~2..topic",
	"git cherry-pick --continue",
	"git cherry-pick -m 1 HEAD",
	"git revert --no-edit HEAD",
	"git revert -n HEAD~3..HEAD",
	"git revert --abort",
	"git reset",
	"git reset --hard HEAD~1",
	"git reset --soft HEAD^",
	"git reset HEAD -- src/main.c",
	"git reset -q --hard origin/main",
	"git reset src/main.c",
	"git rm src/util.c",
	"git rm -r --cached build",
	"git rm -rf sub",
	"git rm --cached -r .",
	"git rm esc",
	"git mv src/util.c src/helpers.c",
	"git mv src lib",
	"git mv sub/deep.txt .",
	"git clean -fd",
	"git clean -fdx build",
	"git clean -fdx -e build",
	"git clean -fd -e keep -- sub",
	"git init fresh",
	"git init -q -b main",
	"git clone https://example.com/a/b.git",
	"git clone --depth 1 -b v1 git@example.com:a/b.git vendor/b",
	"git remote add upstream https://example.com/a/b.git",
	"git remote add -f fork git@example.com:me/b.git",
	"git remote set-url origin ssh://git@example.com/a/b.git",
	"git remote remove upstream",
	"git remote show origin",
	"git remote prune origin",
	"git remote update -p",
	"git ls-remote --heads origin",
	"git ls-remote -t https://example.com/a/b.git 'v*'",
	"git worktree add build/wt",
	"git worktree add -b topic ./wt origin/main",
	"git worktree add --detach sub/wt HEAD~2",
	"git worktree prune",
	"git bisect start HEAD v1.0",
	"git bisect good",
	"git bisect bad HEAD~3",
	"git bisect skip",
	"git bisect reset",
	"git bisect start -- src",
	"git notes add -m reviewed HEAD",
	"git am --abort",
	"git apply none.patch",
	"git log -1 > /dev/null && git apply README.md",
	"git verify-commit HEAD",
	"git config --list --show-origin",
	"git log --show-signature -1",
	"git archive --format=zip -o build/x.zip HEAD",
	"git push -u origin \"$(git branch --show-current)\"",
	"git push origin $(git rev-parse --abbrev-ref HEAD)",
	"git format-patch -3 -o build/patches HEAD",
	"git format-patch origin/main",
	"git symbolic-ref HEAD refs/heads/main",
	"git update-index --assume-unchanged src/main.c",
	"git update-index --refresh -q",
	"git gc --auto",
	"git commit -m \"$(cat README.md)\"",
	"git ls-files -z '*.c' | xargs -0 git add --",
	"git checkout \"$(git rev-parse --abbrev-ref HEAD)\"",
	"git reset --hard $(git rev-parse HEAD~1)",
	"git add -A && git commit -q -m wip && git log -1 --format='%h %s'",
};

struct hostile {
	const char *line, *rule;
};

static const struct hostile hostile[] = {
	{"GIT_SSH_COMMAND='sh -c id' git fetch", "assign.name"},
	{"GIT_EXTERNAL_DIFF=./x.sh git diff", "assign.name"},
	{"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=./x git -p log",
		"assign.name"},
	{"GIT_DIR=/w/other/.git git log", "assign.name"},
	{"GIT_PAGER=./x git log", "assign.value"},
	{"GIT_EDITOR=./x git commit --amend", "assign.value"},
	{"GIT_SEQUENCE_EDITOR='sh -c id' git rebase main", "assign.value"},
	{"GIT_ASKPASS=./x git fetch", "assign.name"},
	{"GIT_PROXY_COMMAND=./x git fetch", "assign.name"},
	{"GIT_TEMPLATE_DIR=./t git init x", "assign.name"},
	{"GIT_EXEC_PATH=. git status", "assign.name"},
	{"GIT_INDEX_FILE=/tmp/x git add .", "assign.name"},
	{"GIT_OBJECT_DIRECTORY=/tmp git log", "assign.name"},
	{"GIT_ALLOW_PROTOCOL=ext git fetch", "assign.name"},
	{"GIT_TRACE=/etc/x git status", "assign.name"},
	{"PATH=.:$PATH git status", "value.dynamic"},
	{"BASH_ENV=./x.sh git status", "assign.name"},
	{"./git status", "name.trusted"},
	{"/tmp/git status", "name.trusted"},
	{"git -c core.sshCommand='sh -c id' fetch", "git.config"},
	{"git -c CORE.SSHCOMMAND='sh -c id' fetch", "git.config"},
	{"git -c alias.q='!id' q", "git.config"},
	{"git -c core.fsmonitor='id;' status", "git.config"},
	{"git -c core.fsmonitor=true status", "git.config"},
	{"git -c core.fsmonitor status", "git.config"},
	{"git -c core.pager='sh -c id' log", "git.config"},
	{"git -c core.pager='cat;id' log", "git.config"},
	{"git -c pager.log='sh -c id' log", "git.config"},
	{"git -c pager.log log", "git.config"},
	{"git -c core.editor='sh -c id' commit", "git.config"},
	{"git -c core.editor='true;id' commit", "git.config"},
	{"git -c sequence.editor='sh -c id' rebase main", "git.config"},
	{"git -c core.hooksPath=./h commit -m x", "git.config"},
	{"git -c core.askPass=./x fetch", "git.config"},
	{"git -c core.gitProxy=./x fetch", "git.config"},
	{"git -c core.worktree=/ status", "git.config"},
	{"git -c core.attributesFile=x log", "git.config"},
	{"git -c core.excludesFile=/etc/shadow status", "git.config"},
	{"git -c core.alternateRefsCommand=./x fetch", "git.config"},
	{"git -c diff.external=./x diff", "git.config"},
	{"git -c diff.x.textconv=./x diff", "git.config"},
	{"git -c diff.x.command=./x diff", "git.config"},
	{"git -c diff.orderFile=/etc/shadow diff", "git.config"},
	{"git -c filter.x.clean=./x add .", "git.config"},
	{"git -c filter.x.smudge=./x checkout .", "git.config"},
	{"git -c merge.x.driver=./x merge y", "git.config"},
	{"git -c gpg.program=./x commit -S -m x", "git.config"},
	{"git -c include.path=/etc/x status", "git.config"},
	{"git -c includeIf.gitdir:/.path=x status", "git.config"},
	{"git -c url.ext::sh.insteadOf=https fetch", "git.config"},
	{"git -c remote.origin.url='ext::sh -c id' fetch", "git.config"},
	{"git -c remote.origin.uploadpack=./x fetch", "git.config"},
	{"git -c protocol.ext.allow=always fetch", "git.config"},
	{"git -c protocol.allow=always fetch", "git.config"},
	{"git -c credential.helper='!id' fetch", "git.config"},
	{"git -c http.proxy=http://evil.example fetch", "git.config"},
	{"git -c http.sslVerify=false fetch", "git.config"},
	{"git -c safe.directory='*' status", "git.config"},
	{"git -c uploadpack.packObjectsHook=./x fetch .", "git.config"},
	{"git -c commit.template=/etc/shadow commit", "git.config"},
	{"git -c trailer.x.command=./x commit -m x", "git.config"},
	{"git -c interactive.diffFilter=./x add .", "git.config"},
	{"git -c rebase.instructionFormat=x rebase main", "git.config"},
	{"git -c 'color.ui\t=x' status", "git.config"},
	{"git -ccore.sshCommand=id fetch", "git.config"},
	{"git --config-env=core.pager=X log", "git.option"},
	{"git -p log", "git.option"},
	{"git --paginate log", "git.option"},
	{"git -C / log", "path.outside"},
	{"git -C .. log", "path.outside"},
	{"git -C sub -C ../.. log", "path.outside"},
	{"git -C esc log", "path.outside"},
	{"git -C \"$HOME\" log", "value.dynamic"},
	{"git --git-dir=/w/other/.git log", "git.option"},
	{"git --git-dir .git log", "git.option"},
	{"git --work-tree=/ add .", "git.option"},
	{"git --exec-path=. status", "git.option"},
	{"git --namespace=x log", "git.option"},
	{"git --super-prefix=x log", "git.option"},
	{"git --bare log", "git.option"},
	{"git --attr-source=x log", "git.option"},
	{"git --help log", "git.command"},
	{"git help log", "operand"},
	{"git log --help", "git.option"},
	{"git q", "git.command"},
	{"git 'stash list'", "git.command"},
	{"git $(echo push)", "value.dynamic"},
	{"git clone 'ext::sh -c id%' x", "git.remote"},
	{"git clone ext::id x", "git.remote"},
	{"git clone fd::17 x", "git.remote"},
	{"git clone file:///etc x", "git.remote"},
	{"git clone /etc x", "path.outside"},
	{"git clone ../tree-other x", "path.outside"},
	{"git clone https://example.com/x ../x", "path.outside"},
	{"git clone https://example.com/x .git/hooks", "path.protected"},
	{"git clone -c core.sshCommand=id https://example.com/x", "git.config"},
	{"git clone --config=core.fsmonitor=./x https://example.com/x", "git.config"},
	{"git clone -u ./x https://example.com/x", "git.option"},
	{"git clone --upload-pack=./x https://example.com/x", "git.option"},
	{"git clone --template=./t https://example.com/x", "git.option"},
	{"git clone --separate-git-dir=/tmp/g https://example.com/x", "git.option"},
	{"git clone --reference=/etc https://example.com/x", "git.option"},
	{"git clone --bare https://example.com/x", "git.option"},
	{"git clone ssh://-oProxyCommand=id/x", "git.remote"},
	{"git clone -- -oProxyCommand=id:x", "git.remote"},
	{"git clone user@-oProxyCommand=id:x", "git.remote"},
	{"git ls-remote --upload-pa='sh -c id' .", "git.option"},
	{"git ls-remote --upload-pack='sh -c id' .", "git.option"},
	{"git ls-remote --exec='sh -c id' .", "git.option"},
	{"git ls-remote ext::id", "git.remote"},
	{"git ls-remote ../tree-other", "path.outside"},
	{"git fetch --upload-pack='sh -c id' .", "git.option"},
	{"git fetch 'ext::sh -c id' x", "git.remote"},
	{"git fetch origin --upload-pack ./x", "git.option"},
	{"git fetch /etc", "path.outside"},
	{"git fetch --multiple origin ext::id", "git.remote"},
	{"git fetch --recurse-submodules", "git.option"},
	{"git fetch . HEAD:refs/tags/--output=x", "operand"},
	{"git push . HEAD:--output=x", "operand"},
	{"git fetch origin '+refs/heads/*:refs/tags/-*'", "operand"},
	{"git symbolic-ref refs/tags/--output=x refs/heads/main", "operand"},
	{"git branch x/-y", "operand"},
	{"git pull --upload-pack ./x", "git.option"},
	{"git pull ext::id", "git.remote"},
	{"git pull --rebase=interactive", "operand"},
	{"git pull -e", "git.option"},
	{"git push --receive-pack='sh -c id' .", "git.option"},
	{"git push --exec='sh -c id' .", "git.option"},
	{"git push --rece=id", "git.option"},
	{"git push --repo=ext::id", "git.remote"},
	{"git push ext::id main", "git.remote"},
	{"git push ../tree-other main", "path.outside"},
	{"git push ./sub main", "git.remote"},
	{"git push sub main", "git.remote"},
	{"git push --mirror", "git.option"},
	{"git push origin --output=x", "git.option"},
	{"git remote add x 'ext::sh -c id'", "git.remote"},
	{"git remote add x file:///etc", "git.remote"},
	{"git remote add --mirror=push x https://example.com/x", "git.option"},
	{"git remote set-url origin ext::id", "git.remote"},
	{"git remote set-url --push origin ../tree-other", "path.outside"},
	{"git remote update-fake", "git.command"},
	{"git rebase --exec 'id' HEAD~1", "git.option"},
	{"git rebase -x id HEAD~1", "git.option"},
	{"git rebase --exe id HEAD~1", "git.option"},
	{"git rebase -i HEAD~1", "git.option"},
	{"git rebase --interactive HEAD~1", "git.option"},
	{"git rebase --edit-todo", "git.option"},
	{"git rebase -s ./evil main", "operand"},
	{"git rebase -qx id main", "git.option"},
	{"git merge -s evil topic", "operand"},
	{"git merge --strategy=evil topic", "operand"},
	{"git merge -F /etc/shadow topic", "path.outside"},
	{"git merge -e topic", "git.option"},
	{"git cherry-pick --strategy=evil x", "operand"},
	{"git cherry-pick -e x", "git.option"},
	{"git revert --edit HEAD", "git.option"},
	{"git bisect run sh -c id", "git.command"},
	{"git bisect visualize", "git.command"},
	{"git bisect replay /etc/x", "git.command"},
	{"git submodule foreach 'id'", "git.command"},
	{"git submodule update --init", "git.command"},
	{"git submodule --quiet foreach id", "git.command"},
	{"git config core.hooksPath /tmp/h", "git.config"},
	{"git config --global alias.x '!id'", "git.config"},
	{"git config --add core.pager ./x", "git.option"},
	{"git config --unset core.pager", "git.option"},
	{"git config set core.pager ./x", "git.config"},
	{"git config edit", "git.config"},
	{"git config -e", "git.option"},
	{"git config --replace-all a.b c", "git.option"},
	{"git config --file /etc/gitconfig --list", "path.outside"},
	{"git config -f .git/config core.pager ./x", "git.config"},
	{"git config -f sub/x --includes --list", "git.option"},
	{"git config --rename-section a b", "git.option"},
	{"git diff --no-index /dev/null /etc/shadow", "git.option"},
	{"git diff /dev/null /etc/shadow", "path.outside"},
	{"git diff README.md ../secret", "path.outside"},
	{"git diff -- /etc/passwd README.md", "path.outside"},
	{"git diff esc/passwd README.md", "path.outside"},
	{"git diff :/../../secret README.md", "path.outside"},
	{"git diff --ext-diff", "git.option"},
	{"git diff --ext", "git.option"},
	{"git diff --textconv", "git.option"},
	{"git diff --output=/etc/x", "git.option"},
	{"git diff --output x", "git.option"},
	{"git diff --outp=x", "git.option"},
	{"git diff -O/etc/shadow", "git.option"},
	{"git diff -pO/etc/shadow", "git.option"},
	{"git diff $(cat x) README.md", "value.dynamic"},
	{"git log --output=.git/hooks/pre-commit", "git.option"},
	{"git log --ext-diff -p", "git.option"},
	{"git log $(cat x)", "value.dynamic"},
	{"git log $(git for-each-ref --format='--output=x')", "value.dynamic"},
	{"git log $(git rev-parse 'x --output=y')", "value.dynamic"},
	{"git log $(git log -1 --format=%s)", "value.dynamic"},
	{"git log $(git rev-parse -- --output=x)", "operand"},
	{"git log -- ../../etc/passwd", "path.outside"},
	{"git log --alternate-refs", "git.option"},
	{"git log -n --output=x", "operand"},
	{"git log -- -x ../secret", "path.outside"},
	{"git show --output=x HEAD", "git.option"},
	{"git show --textconv HEAD:x", "git.option"},
	{"git blame --contents /etc/shadow README.md", "path.outside"},
	{"git blame --ignore-revs-file=/etc/shadow README.md", "path.outside"},
	{"git blame -S /etc/shadow README.md", "path.outside"},
	{"git grep -O'sh -c id' x", "git.option"},
	{"git grep -Oid x", "git.option"},
	{"git grep --open-files-in-pager=./x x", "git.option"},
	{"git grep --open=./x x", "git.option"},
	{"git grep -nO./x x", "git.option"},
	{"git grep --no-index root /etc", "git.option"},
	{"git grep -f /etc/shadow", "path.outside"},
	{"git grep --textconv x", "git.option"},
	{"git grep x -- /etc", "path.outside"},
	{"git grep root ../tree-other", "path.outside"},
	{"git grep -e x /etc", "path.outside"},
	{"git cat-file --textconv HEAD:x", "git.option"},
	{"git cat-file --filters HEAD:x", "git.option"},
	{"git commit -F /etc/shadow", "path.outside"},
	{"git commit --file=../secret", "path.outside"},
	{"git commit -F ../secret", "path.outside"},
	{"git commit -t /etc/shadow", "git.option"},
	{"git commit --template=x", "git.option"},
	{"git commit -e -m x", "git.option"},
	{"git commit --interactive", "git.option"},
	{"git commit -p", "git.option"},
	{"git commit -c HEAD", "git.option"},
	{"git commit --pathspec-from-file=/etc/shadow -m x", "path.outside"},
	{"git commit --mess=x", "git.option"},
	{"git add -p", "git.option"},
	{"git add -i", "git.option"},
	{"git add -e", "git.option"},
	{"git add --edit", "git.option"},
	{"git add /etc/passwd", "path.outside"},
	{"git add --pathspec-from-file=/etc/shadow", "path.outside"},
	{"git add \"$(cat x)\"", "value.dynamic"},
	{"git checkout -p", "git.option"},
	{"git checkout HEAD -- .claude/settings.json", "path.protected"},
	{"git checkout HEAD -- ../x", "path.outside"},
	{"git checkout --recurse-submodules main", "git.option"},
	{"git restore -p .", "git.option"},
	{"git restore --source=evil .dev-team/clearance.yaml", "path.protected"},
	{"git rm -r .claude", "path.protected"},
	{"git mv README.md ../x", "path.outside"},
	{"git mv README.md .git/hooks/pre-commit", "path.protected"},
	{"git mv ../secret x", "path.outside"},
	{"git clean -i", "git.option"},
	{"git clean -fd ..", "path.outside"},
	{"git clean -fdx .dev-team", "path.protected"},
	{"git stash -p", "git.option"},
	{"git stash --all", "git.option"},
	{"git stash push -p", "git.option"},
	{"git branch --edit-description", "git.option"},
	{"git branch --del x", "git.option"},
	{"git tag -e v1", "git.option"},
	{"git tag -F /etc/shadow v1", "path.outside"},
	{"git worktree add ../other HEAD", "path.outside"},
	{"git worktree add /tmp/x", "path.outside"},
	{"git worktree remove ../other", "path.outside"},
	{"git worktree remove other", "operand"},
	{"git worktree move sub ../x", "operand"},
	{"git worktree repair", "git.command"},
	{"git init ../x", "path.outside"},
	{"git init --template=./t x", "git.option"},
	{"git init --separate-git-dir=/tmp/x", "git.option"},
	{"git init --bare x", "git.option"},
	{"git apply ../x.patch", "path.outside"},
	{"git apply --directory=.git/hooks x.patch", "path.protected"},
	{"git mv esc d", "path.outside"},
	{"git mv esc d && cat d/passwd", "path.outside"},
	{"git apply --unsafe-paths x.patch", "git.option"},
	{"git apply --directory=../x x.patch", "path.outside"},
	{"git apply --build-fake-ancestor=x x.patch", "git.option"},
	{"git am -i x.patch", "git.option"},
	{"git am --resolvemsg=x --continue", "git.option"},
	{"git format-patch -o /tmp HEAD~1", "path.outside"},
	{"git format-patch --output=x HEAD~1", "git.option"},
	{"git format-patch --signature-file=/etc/shadow -1", "path.outside"},
	{"git format-patch -o .git/hooks -1", "path.protected"},
	{"git notes edit", "git.command"},
	{"git notes add -F /etc/shadow", "path.outside"},
	{"git notes add -c HEAD", "git.option"},
	{"git reflog expire --all", "git.command"},
	{"git reflog delete HEAD@{1}", "git.command"},
	{"git rev-parse --parseopt -- x", "git.option"},
	{"git rev-parse --sq-quote x", "git.option"},
	{"git rev-parse --resolve-git-dir /etc", "git.option"},
	{"git ls-files -X /etc/shadow", "path.outside"},
	{"git ls-files --exclude-per-directory=../x", "operand"},
	{"git hash-object /etc/shadow", "path.outside"},
	{"git hash-object -w README.md", "git.option"},
	{"git update-index --cacheinfo 120000,abc,x", "git.option"},
	{"git read-tree HEAD", "git.command"},
	{"git checkout-index -a", "git.command"},
	{"git mktree", "git.command"},
	{"git rm --pathspec-from-file=list", "git.option"},
	{"git checkout HEAD --pathspec-from-file=list", "git.option"},
	{"git restore --pathspec-from-file=-", "git.option"},
	{"git stash push --pathspec-from-file=list", "git.option"},
	{"git apply -", "operand"},
	{"git apply", "operand"},
	{"cat README.md > p.patch && git apply p.patch", "operand"},
	{"git apply none.patch && git apply none.patch", "operand"},
	{"git apply <<'E'\n+++ b/x\nE", "operand"},
	{"git am", "operand"},
	{"git -c format.pretty=%G? log", "git.config"},
	{"git checkout other && cat new.txt", "path.outside"},
	{"git check-ignore /etc/shadow", "path.outside"},
	{"git filter-branch --tree-filter id", "git.command"},
	{"git difftool -x id", "git.command"},
	{"git mergetool", "git.command"},
	{"git send-email --smtp-server=./x y", "git.command"},
	{"git instaweb", "git.command"},
	{"git daemon", "git.command"},
	{"git shell -c id", "git.command"},
	{"git upload-pack .", "git.command"},
	{"git receive-pack .", "git.command"},
	{"git remote-ext x id", "git.command"},
	{"git hook run x", "git.command"},
	{"git for-each-repo --config=x", "git.command"},
	{"git maintenance start", "git.command"},
	{"git credential fill", "git.command"},
	{"git archive --remote=x --exec=id HEAD", "git.option"},
	{"git bundle create /tmp/x HEAD", "git.command"},
	{"git update-ref refs/tags/--output=x HEAD", "git.command"},
	{"git fast-import", "git.command"},
	{"git sh-i18n", "git.command"},
	{"git bugreport -o /tmp", "git.command"},
	{"git interpret-trailers --in-place x", "git.command"},
	{"git replace --edit HEAD", "git.command"},
	{"git column --command=x", "git.command"},
	{"git lfs install", "git.command"},
};

static void every_day_lines_pass(void **state)
{
	(void)state;
	rig_use_json(writes);
	for (size_t i = 0; i < COUNT(looking); i++)
		rig_allowed(looking[i]);
	for (size_t i = 0; i < COUNT(changing); i++)
		rig_allowed(changing[i]);
}

static void looking_needs_no_right_to_write(void **state)
{
	(void)state;
	rig_use_json(reads);
	for (size_t i = 0; i < COUNT(looking); i++)
		rig_allowed(looking[i]);
}

static void hostile_lines_are_denied_by_the_rule_that_is_meant(void **state)
{
	(void)state;
	rig_use_json(writes);
	for (size_t i = 0; i < COUNT(hostile); i++)
		rig_denied(hostile[i].line, hostile[i].rule);
}

static void what_changes_anything_needs_the_right_to_write(void **state)
{
	static const char *const lines[] = {"git add .", "git commit -m x", "git checkout main",
		"git branch topic", "git branch -D main", "git branch --list -D main",
		"git branch -m x", "git branch -u origin/main", "git tag v1", "git tag -d v1",
		"git tag -l -d v1", "git stash", "git stash pop", "git stash drop",
		"git reset --hard", "git rm README.md", "git mv README.md x", "git clean -fd",
		"git fetch", "git pull", "git push", "git merge x", "git rebase x", "git init",
		"git worktree add wt", "git worktree prune", "git remote add x https://e.example/x",
		"git remote remove x", "git remote prune x", "git apply x.patch",
		"git apply --stat --apply x.patch", "git format-patch -1",
		"git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD",
		"git notes add -m x", "git bisect start", "git gc", "git restore .", "git switch x",
		"git update-index --refresh", "git clone https://e.example/x"};

	(void)state;
	rig_use_json(reads);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "write");
}

static void what_talks_to_others_needs_the_network(void **state)
{
	static const char *const lines[] = {"git fetch", "git fetch origin", "git fetch --all",
		"git pull", "git push", "git push origin main", "git push -u origin x",
		"git clone https://example.com/x", "git ls-remote origin", "git remote show origin",
		"git remote prune origin", "git remote update", "git remote set-head origin -a",
		"git remote add -f x https://example.com/x", "git fetch --multiple a b"};

	(void)state;
	rig_use_json(lonely);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "network");
	rig_allowed("git fetch . main:other");
	rig_allowed("git clone ./sub copy");
	rig_allowed("git remote add x https://example.com/x");
	rig_allowed("git remote show -n origin");
	rig_allowed("git ls-remote .");
	rig_allowed("git commit -m x");
}

static void a_list_of_commands_is_the_limit(void **state)
{
	(void)state;
	rig_use_json(listed);
	rig_allowed("git log -1");
	rig_allowed("git stash list");
	rig_denied("git stash show", "git.command");
	rig_denied("git push --force origin main", "git.command");
	rig_denied("git branch -D main", "git.command");
	rig_denied("git branch", "git.command");
	rig_denied("git version", "git.command");
}

static void rewriting_what_others_have_is_listed_by_itself(void **state)
{
	static const char *const lines[] = {"git push --force origin main", "git push -f",
		"git push origin +main", "git push origin :topic", "git push --delete origin topic",
		"git push -d origin topic", "git push --force-with-lease",
		"git push --force-with-lease=main:abc", "git push --prune origin"};

	(void)state;
	rig_use_json(pushes);
	rig_allowed("git push origin main");
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "git.command");
	rig_use_json(forces);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_allowed(lines[i]);
}

static void the_policy_may_name_further_settings(void **state)
{
	(void)state;
	rig_use_json("{\"name\":\"x\"," ALLOW ",\"write\":true,"
		     "\"git_config\":[\"http.proxy\",\"Filter.LFS.clean\",\"core.pager\"]}");
	rig_allowed("git -c http.proxy=http://proxy.example:3128 fetch");
	rig_allowed("git -c filter.lfs.clean='git-lfs clean' add .");
	rig_allowed("git -c core.pager=less log");
	rig_denied("git -c http.proxyAuthMethod=x fetch", "git.config");
	rig_denied("git -c filter.lfs.smudge=x checkout .", "git.config");
}

/* git reads the settings of a folder that looks like a repository, whoever made it. */
static void a_folder_that_looks_like_a_repository_is_refused(void **state)
{
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	assert_int_equal(path_mkdirs(at("tree/evil/objects"), &err), 0);
	assert_int_equal(path_mkdirs(at("tree/evil/deep"), &err), 0);
	rig_file("tree/evil/HEAD", "ref: refs/heads/main\n");
	rig_denied("git -C evil status", "cwd");
	rig_denied("cd evil && git status", "cwd");
	rig_denied("git -C evil/deep log", "cwd");
	rig_allowed("git log -- evil");
}

static void a_repository_inside_has_nothing_of_its_own(void **state)
{
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	assert_int_equal(path_mkdirs(at("tree/in/.git/hooks"), &err), 0);
	rig_file("tree/in/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
					"[remote \"origin\"]\n\turl = https://example.com/x\n");
	rig_file("tree/in/.git/hooks/pre-commit.sample", "x\n");
	rig_allowed("git -C in status");
	rig_allowed("cd in && git log -1");
	rig_file("tree/in/.git/hooks/pre-commit", "id\n");
	rig_denied("git -C in commit -m x", "cwd");
	assert_int_equal(unlink(at("tree/in/.git/hooks/pre-commit")), 0);
	rig_file("tree/in/.git/config", "[core]\n\tfsmonitor = id\n");
	rig_denied("git -C in status", "cwd");
	rig_denied("cd in && git status", "cwd");
	rig_allowed("git status");
}

static void a_file_in_the_place_of_git_leads_to_the_own_repository(void **state)
{
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	assert_int_equal(path_mkdirs(at("tree/.git/worktrees/wt"), &err), 0);
	assert_int_equal(path_mkdirs(at("tree/wt/deep"), &err), 0);
	assert_int_equal(path_mkdirs(at("tree/evil"), &err), 0);
	rig_file("tree/wt/.git",
		arena_printf(&arena, "gitdir: %s/.git/worktrees/wt\n", rig_root.path));
	rig_allowed("git -C wt status");
	rig_allowed("cd wt/deep && git add .");
	rig_file("tree/wt/.git", "gitdir: ../.git/worktrees/wt\n");
	rig_allowed("git -C wt status");
	rig_file("tree/wt/.git", "gitdir: ../evil\n");
	rig_denied("git -C wt status", "cwd");
	rig_file("tree/wt/.git", "gitdir: ../.git/worktrees/../../evil\n");
	rig_denied("git -C wt status", "cwd");
	rig_file("tree/wt/.git", "gitdir: /etc\n");
	rig_denied("git -C wt/deep status", "cwd");
	rig_file("tree/wt/.git", "x\n");
	rig_denied("git -C wt status", "cwd");
}

static void a_worktree_is_removed_where_it_stands(void **state)
{
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	assert_int_equal(path_mkdirs(at("tree/wt"), &err), 0);
	rig_file("tree/wt/.git", "gitdir: ../.git/worktrees/wt\n");
	rig_allowed("git worktree remove wt");
	rig_allowed("git worktree lock --reason 'in use' ./wt");
	rig_allowed("git worktree move wt sub/wt");
	rig_denied("git worktree move wt ../wt", "path.outside");
	rig_denied("git worktree remove sub", "operand");
}

/* Who removes the settings decides what is asked of the next line. */
static void what_is_protected_and_not_tracked_is_not_cleaned_away(void **state)
{
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	rig_allowed("git clean -fdx");
	assert_int_equal(path_mkdirs(at("tree/.dev-team"), &err), 0);
	rig_file("tree/.dev-team/clearance.yaml", "x\n");
	rig_denied("git clean -fdx", "path.protected");
	rig_denied("git clean -fd .", "path.protected");
	rig_denied("git -C sub clean -fd ..", "path.protected");
	rig_denied("git clean -fd -e .dev-teams", "path.protected");
	rig_allowed("git clean -fdx -e .dev-team");
	rig_allowed("git clean -fdx build");
	rig_allowed("git clean -ndx");
}

static void what_a_patch_names_is_asked_about(void **state)
{
	static const struct hostile patches[] = {
		{"--- a/x\n+++ b/src/../../x\n", "path.outside"},
		{"--- /dev/null\n+++ b/.claude/settings.json\t2026\n", "path.protected"},
		{"--- a/x\n+++ b/deep/.claude/settings.json\n", "path.protected"},
		{"diff --git a/.dev-team/x b/.dev-team/x\ndeleted file mode 100644\n",
			"path.protected"},
		{"diff --git a/x b/y\nrename from x\nrename to .mcp.json\n", "path.protected"},
		{"diff --git a/x b/y\ncopy from x\ncopy to .git/hooks/x\n", "path.protected"},
		{"--- a/x\n+++ \"b/.cl\\141ude/settings.json\"\n", "operand"},
		{"--- a/x\n+++ /etc/passwd\n", "operand"},
		{"Content-Transfer-Encoding: base64\n\nKysr\n", "operand"},
	};

	(void)state;
	rig_use_json(writes);
	rig_file("tree/good.patch", "diff --git a/src/a b.c b/src/a b.c\nnew file mode 100644\n"
				    "--- /dev/null\n+++ b/src/a b.c\n@@ -0,0 +1 @@\n+x\n");
	rig_allowed("git apply good.patch");
	rig_allowed("git apply -R --index -p1 ./good.patch");
	rig_allowed("git am --3way good.patch");
	rig_denied("git apply --directory=.claude good.patch", "path.protected");
	for (size_t i = 0; i < COUNT(patches); i++) {
		rig_file("tree/evil.patch", patches[i].line);
		rig_denied("git apply evil.patch", patches[i].rule);
		rig_denied("git am good.patch evil.patch", patches[i].rule);
		rig_allowed("git apply --stat evil.patch");
	}
}

static void who_may_not_write_sees_no_settings_of_the_user_and_starts_no_gpg(void **state)
{
	static const struct hostile lines[] = {{"git config --global --list", "git.config"},
		{"git config --list", "git.config"}, {"git config -l", "git.config"},
		{"git config list", "git.config"}, {"git config --get-regexp .", "git.config"},
		{"git config http.extraHeader", "git.config"},
		{"git config --get credential.helper", "git.config"}, {"git var -l", "git.config"},
		{"git log --format=%G?", "git.option"}, {"git log --show-signature", "git.option"},
		{"git show --pretty=format:%GS", "git.option"},
		{"git verify-commit HEAD", "git.option"}, {"git tag -v v1", "git.option"}};

	(void)state;
	rig_use_json(reads);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i].line, lines[i].rule);
	rig_allowed("git config --local --list");
	rig_allowed("git config user.name");
}

/* `$(git describe)` puts out what somebody else has named so. */
static void a_ref_that_begins_with_a_dash_makes_names_unknown(void **state)
{
	static const char *const lines[] = {"git log $(git describe --tags --abbrev=0)..HEAD",
		"git diff $(git branch --show-current)", "git log $(git symbolic-ref --short HEAD)",
		"git push origin $(git rev-parse --abbrev-ref HEAD)"};
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_allowed(lines[i]);
	rig_denied("git fetch --tags && git log $(git describe --tags)", "value.dynamic");
	rig_file("tree/.git/HEAD", "ref: refs/heads/--output=x\n");
	for (size_t i = 0; i < COUNT(lines); i++)
		rig_denied(lines[i], "value.dynamic");
	rig_allowed("git log $(git merge-base main HEAD)..HEAD");
	rig_allowed("git log $(git rev-parse HEAD~2)..HEAD");
	rig_file("tree/.git/HEAD", "ref: refs/heads/main\n");
	rig_allowed(lines[0]);
	rig_file("tree/.git/packed-refs", "abc refs/tags/--output=x\n");
	rig_denied(lines[0], "value.dynamic");
	assert_int_equal(unlink(at("tree/.git/packed-refs")), 0);
	assert_int_equal(path_mkdirs(at("tree/.git/refs/tags/--output="), &err), 0);
	rig_denied(lines[0], "value.dynamic");
}

static void a_head_alone_may_be_a_repository(void **state)
{
	struct error err = {0};

	(void)state;
	rig_use_json(writes);
	assert_int_equal(path_mkdirs(at("tree/d"), &err), 0);
	rig_file("tree/d/HEAD", "ref: refs/heads/main\n");
	rig_file("tree/d/commondir", "../r\n");
	rig_denied("git -C d diff HEAD~1 HEAD", "cwd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_day_lines_pass, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			looking_needs_no_right_to_write, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			hostile_lines_are_denied_by_the_rule_that_is_meant, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			what_changes_anything_needs_the_right_to_write, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			what_talks_to_others_needs_the_network, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			a_list_of_commands_is_the_limit, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			rewriting_what_others_have_is_listed_by_itself, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			the_policy_may_name_further_settings, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			a_folder_that_looks_like_a_repository_is_refused, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			a_repository_inside_has_nothing_of_its_own, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			a_file_in_the_place_of_git_leads_to_the_own_repository, rig_make,
			rig_remove),
		cmocka_unit_test_setup_teardown(
			a_worktree_is_removed_where_it_stands, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			what_is_protected_and_not_tracked_is_not_cleaned_away, rig_make,
			rig_remove),
		cmocka_unit_test_setup_teardown(
			what_a_patch_names_is_asked_about, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			who_may_not_write_sees_no_settings_of_the_user_and_starts_no_gpg, rig_make,
			rig_remove),
		cmocka_unit_test_setup_teardown(
			a_ref_that_begins_with_a_dash_makes_names_unknown, rig_make, rig_remove),
		cmocka_unit_test_setup_teardown(
			a_head_alone_may_be_a_repository, rig_make, rig_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
