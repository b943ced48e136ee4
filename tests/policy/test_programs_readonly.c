/* A policy that does not write: what would write, with or without being told where. */
#include "tests/lib/programs_rig.h"

static const char *const allowed[] = {
	"gcc -E src/main.c",
	"gcc -fsyntax-only src/main.c",
	"gcc --version",
	"make --version",
	"ar t build/x.a",
	"sed -n 1,5p README.md",
	"find . -name '*.c' -exec grep -n main {} +",
	"git ls-files -z | xargs -0 wc -l",
	"sort README.md > /dev/null",
	"ls 2>/dev/null",
	"ls > /dev/null 2>&1",
	"tee /dev/null",
	"objdump -d build/app",
	"tar tf build/x.tar",
	"clang-format --dry-run src/main.c",
};

static const struct denied denied[] = {
	{"sort -o x README.md", "write"},
	{"tee x", "write"},
	{"touch x", "write"},
	{"sed -i s/a/b/ README.md", "write"},
	{"find . -name '*.o' -delete", "write"},
	{"find src -exec rm {} +", "write"},
	{"find src -exec touch x {} +", "write"},
	{"find src -name '*.c' -print0 | xargs -0 rm", "write"},
	{"uniq README.md x", "write"},
	{"xxd -r README.md x", "write"},
	{"mkdir x", "write"},
	{"cp README.md x", "write"},
	{"mv README.md x", "write"},
	{"ln -s README.md x", "write"},
	{"ln README.md x", "write"},
	{"rm x", "write"},
	{"rm -f x", "write"},
	{"chmod +x README.md", "write"},
	{"install -d x", "write"},
	{"tar cf x.tar src", "write"},
	{"tar xf x.tar -C build", "option"},
	{"xxd README.md -p", "write"},
	{"truncate -s0 x", "write"},
	{"mktemp x.XXX", "write"},
	{"shuf -o x README.md", "write"},
	{"iconv -o x README.md", "write"},
	{"gcc src/main.c", "write"},
	{"gcc -c src/main.c", "write"},
	{"gcc -E src/main.c -o x", "write"},
	{"gcc -save-temps -fsyntax-only src/main.c", "write"},
	{"gcc -MMD -E src/main.c", "write"},
	{"ar rcs x.a y.o", "write"},
	{"strip x", "write"},
	{"ranlib x.a", "write"},
	{"clang-format -i src/main.c", "write"},
	{"cmake -B build", "write"},
	{"cmake --build build", "write"},
	{"ninja -C build", "write"},
	{"make", "write"},
	{"ctest", "write"},
	{"npm test", "write"},
	{"pytest", "write"},
	{"timeout 5 touch x", "write"},
	{"env CC=gcc touch x", "write"},
	{"time -o x ls", "construct"},
	{"/usr/bin/time -o x ls", "write"},
	{"nohup ls", "write"},
	{"tree -o x", "option"},
	{"sort -T build README.md", "write"},
	{"git ls-files -z | xargs -0 tee", "write"},
	{"unlink README.md", "write"},
	{"rmdir build", "write"},
};

static int make_readonly(void **state)
{
	if (programs_make(state) < 0)
		return -1;
	rig_policy.write = false;
	return 0;
}

UNIT_TESTS
{
	return programs_run(make_readonly, allowed, COUNT(allowed), denied, COUNT(denied));
}
