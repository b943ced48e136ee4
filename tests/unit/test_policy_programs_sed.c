/*
 * sed: scripts that edit and print, and all the ways in which one can do more.
 */
#include "tests/unit/programs_rig.h"

static const char *const allowed[] = {
	"sed -n '10,40p' src/main.c",
	"sed -n 10,40p src/main.c",
	"sed -n '1,/^}/p' src/main.c",
	"sed -n '$p' README.md",
	"sed -n '/int/=' src/main.c",
	"sed 's/foo/bar/g' src/main.c",
	"sed 's/[^/]*$//' README.md",
	"sed 's|/usr/local|/opt|g; s/a/b/2' README.md",
	"sed -E 's/([a-z]+) ([a-z]+)/\\2 \\1/' README.md",
	"sed -i 's/foo/bar/g' src/main.c",
	"sed -i.bak -e 's/a/b/' -e '/^$/d' src/*.c",
	"sed -i '3,5d' README.md",
	"sed -i '/^#include/a #include <x.h>' src/main.c",
	"sed -i '1i // header' src/main.c",
	"sed -i '1i\\// header' src/main.c",
	"sed '$!N;s/\\n/ /' README.md",
	"sed ':a;N;$!ba;s/\\n/ /g' README.md",
	"sed -e '/start/,/end/{' -e 's/a/b/;}' README.md",
	"sed '/x/{n;d}' README.md",
	"sed '/x/!d' README.md",
	"sed 's/^[ \\t]*//;s/[ \\t]*$//' README.md",
	"sed = README.md | sed 'N;s/\\n/\\t/'",
	"sed '5q' README.md",
	"sed 5q README.md",
	"sed -n '2{p;q}' README.md",
	"sed 'y/abc/xyz/' README.md",
	"sed --expression='s/a/b/' README.md",
	"sed -ne '/a/p' README.md",
	"sed '1~2d' README.md",
	"sed '0,/re/s//x/' README.md",
	"sed 's/a/b/I' README.md",
	"sed 'c\\new text' README.md",
	"sed '/foo/c\\\nreplaced' README.md",
	"sed \"s/'/\\\"/g\" README.md",
	"sed 's/\\//-/g' README.md",
	"sed 's/a/\\n/g' README.md",
	"sed -z 's/\\n/,/g' README.md",
	"sed '/^---$/r src/h.h' README.md",
	"sed -s -n '1p' src/main.c src/util.c",
	"sed '# comment\ns/a/b/' README.md",
	"sed -i \"s#http://a/b#https://c/d#\" README.md",
	"sed ':a;$!{N;ba};s/\\n/ /g' README.md",
	"sed -e '/a/b' -e 's/x/y/' README.md",
	"sed -i~ s/a/b/ README.md",
	"sed -i.orig s/a/b/ README.md",
};

static const struct denied denied[] = {
	{"sed -f x.sed README.md", "option"},
	{"sed --file=x.sed README.md", "option"},
	{"sed -nf x.sed README.md", "option"},
	{"sed e README.md", "script"},
	{"sed 'e' README.md", "script"},
	{"sed '1!e id' README.md", "script"},
	{"sed '/x/e' README.md", "script"},
	{"sed '/x/ e id' README.md", "script"},
	{"sed -n '$e id' README.md", "script"},
	{"sed 's/a/b/ge' README.md", "script"},
	{"sed 's/a/b/eg' README.md", "script"},
	{"sed 's/a/b/3e' README.md", "script"},
	{"sed 's,a,b,e' README.md", "script"},
	{"sed 's|a|b|Ie' README.md", "script"},
	{"sed 's/a/b/w x' README.md", "script"},
	{"sed 's/a/b/gw /etc/x' README.md", "script"},
	{"sed 's/a/b/;e id' README.md", "script"},
	{"sed 's/[/]/x/;e id' README.md", "script"},
	{"sed 's/[^/]*$//;1e id' README.md", "script"},
	{"sed -e p -e 'e id' README.md", "script"},
	{"sed -ep -e'1e id' README.md", "script"},
	{"sed --expression='e id' README.md", "script"},
	{"sed 'p;w x' README.md", "script"},
	{"sed 'W x' README.md", "script"},
	{"sed 'w/etc/x' README.md", "script"},
	{"sed 'r /etc/passwd' README.md", "path.outside"},
	{"sed 'r/etc/passwd' README.md", "path.outside"},
	{"sed '$r ../secret' README.md", "path.outside"},
	{"sed 'R /etc/passwd' README.md", "path.outside"},
	{"sed '/x/{e id' README.md", "script"},
	{"sed '/x/{p;e id;}' README.md", "script"},
	{"sed '{{e id}}' README.md", "script"},
	{"sed ':a;N;$!ba;e id' README.md", "script"},
	{"sed 'y/abc/def/;e id' README.md", "script"},
	{"sed 'a\\' -e 'e id' README.md", "script"},
	{"sed -e 'a foo' -e 'e id' README.md", "script"},
	{"sed '1~2e id' README.md", "script"},
	{"sed '0,/x/e id' README.md", "script"},
	{"sed '2,+3e id' README.md", "script"},
	{"sed '\\,x,e id' README.md", "script"},
	{"sed '\\xaxe id' README.md", "script"},
	{"sed 's/a\\/b/c/e' README.md", "script"},
	{"sed 'sexeyee' README.md", "script"},
	{"sed '#n' -e 'e id'", "script"},
	{"sed 'v4.2;e id' README.md", "script"},
	{"sed -s -n '1p;w x' README.md", "script"},
	{"sed p /etc/passwd", "path.outside"},
	{"sed -n p ../secret", "path.outside"},
	{"sed -i s/a/b/ /etc/x", "path.outside"},
	{"sed -i s/a/b/ ../secret", "path.outside"},
	{"sed -i s/a/b/ .git/config", "path.protected"},
	{"sed --in-place=../x* s/a/b/ README.md", "operand"},
	{"sed '-i../x*' s/a/b/ README.md", "operand"},
	{"sed --in-plac s/a/b/ README.md", "option"},
	{"sed -n \"$(cat README.md)\" README.md", "value.dynamic"},
	{"sed 'ba#x;e id' README.md", "script"},
	{"sed ':a#x;e id' README.md", "script"},
	{"sed ':a;$!{N;ba};e id' README.md", "script"},
	{"sed -i.json s/a/b/ README.md", "operand"},
	{"sed -it s/a/b/ README.md", "operand"},
	{"sed --in-place=t s/a/b/ README.md", "operand"},
	{"sed -i.yml s/a/b/ README.md", "operand"},
};

static void lets_through(void **state)
{
	(void)state;
	programs_allowed(allowed, COUNT(allowed));
}

static void stops(void **state)
{
	(void)state;
	programs_denied(denied, COUNT(denied));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_through),
		cmocka_unit_test(stops),
	};

	return cmocka_run_group_tests(tests, programs_make, rig_remove);
}
