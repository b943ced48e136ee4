/*
 * Programs that read text and put out text. Left out of the rows, and so denied: what runs another
 * program, takes names of files out of a file, or follows links on its own.
 */
#include "src/policy/bin.h"

#define GREP                                                                                       \
	"-E,--extended-regexp -F,--fixed-strings -G,--basic-regexp -P,--perl-regexp "              \
	"-e,--regexp:text "                                                                        \
	"-f,--file:read -i,--ignore-case -y --no-ignore-case -w,--word-regexp -x,--line-regexp "   \
	"-z,--null-data -s,--no-messages -v,--invert-match -m,--max-count:number "                 \
	"-b,--byte-offset "                                                                        \
	"-n,--line-number --line-buffered -H,--with-filename -h,--no-filename --label:text "       \
	"-o,--only-matching -q,--quiet,--silent --binary-files:word{binary,text,without-match} "   \
	"-a,--text -I -d,--directories:word{read,skip,recurse} -D,--devices:word{read,skip} "      \
	"-r,--recursive --include:text --exclude:text --exclude-from:read --exclude-dir:text "     \
	"-L,--files-without-match -l,--files-with-matches -c,--count -T,--initial-tab -Z,--null "  \
	"-B,--before-context:number -A,--after-context:number -C,--context:number -# "             \
	"--color?word{always,never,auto} --colour?word{always,never,auto} -U,--binary"
#define GREP_OPERANDS "text(-e,-f) read*"

#define SUM "-b,--binary -t,--text --tag -z,--zero"

/* A name that does not exist becomes NAME.gz and others. */
static int check_zcat(struct check *c, const struct call *call)
{
	struct parsed p;
	struct place place;

	if (check_options(c, call, 1, "-f,--force -q,--quiet -v,--verbose", &p) < 0 ||
		check_operands(c, call, &p, "read*") < 0)
		return -1;
	for (size_t i = 0; i < p.n_operands; i++)
		if (bin_place(c, call, &p.operands[i], &place) == 0 && !place.exists)
			return bin_refuse(c, RULE_OPERAND, &p.operands[i],
				"the file does not exist, and zcat would look for another");
	return 0;
}

const struct binary binaries_text[] = {
	{"cat",
		"-A,--show-all -b,--number-nonblank -e -E,--show-ends -n,--number "
		"-s,--squeeze-blank -t -T,--show-tabs -u -v,--show-nonprinting",
		"read*", 0, NULL},
	{"tac", "-b,--before -r,--regex -s,--separator:text", "read*", 0, NULL},
	{"nl",
		"-b,--body-numbering:text -d,--section-delimiter:text -f,--footer-numbering:text "
		"-h,--header-numbering:text -i,--line-increment:number "
		"-l,--join-blank-lines:number "
		"-n,--number-format:word{ln,rn,rz} -p,--no-renumber -s,--number-separator:text "
		"-v,--starting-line-number:number -w,--number-width:number",
		"read*", 0, NULL},
	{"rev", "", "read*", 0, NULL},
	{"head",
		"-c,--bytes:number -n,--lines:number -q,--quiet,--silent -v,--verbose "
		"-z,--zero-terminated -#",
		"read*", 0, NULL},
	{"tail",
		"-c,--bytes:number -f -F --follow?word{name,descriptor} -n,--lines:number "
		"--max-unchanged-stats:number --pid:number -q,--quiet,--silent --retry "
		"-s,--sleep-interval:number -v,--verbose -z,--zero-terminated -#",
		"read*", 0, NULL},
	{"wc", "-c,--bytes -m,--chars -l,--lines -L,--max-line-length -w,--words", "read*", 0,
		NULL},
	{"grep", GREP, GREP_OPERANDS, 0, NULL},
	{"egrep", GREP, GREP_OPERANDS, 0, NULL},
	{"fgrep", GREP, GREP_OPERANDS, 0, NULL},
	{"rg",
		"-e,--regexp:text -f,--file:read -i,--ignore-case -s,--case-sensitive "
		"-S,--smart-case "
		"-F,--fixed-strings -w,--word-regexp -x,--line-regexp -v,--invert-match -c,--count "
		"--count-matches -l,--files-with-matches --files-without-match --files "
		"-n,--line-number "
		"-N,--no-line-number -H,--with-filename -I,--no-filename -o,--only-matching "
		"-q,--quiet "
		"-A,--after-context:number -B,--before-context:number -C,--context:number "
		"-g,--glob:text --iglob:text -t,--type:name -T,--type-not:name --type-list "
		"-m,--max-count:number -d,--max-depth:number -u,--unrestricted -.,--hidden "
		"--no-hidden --no-ignore --no-ignore-vcs -U,--multiline --multiline-dotall "
		"-P,--pcre2 -a,--text -r,--replace:text --json --stats --trim --vimgrep --column "
		"--heading --no-heading -0,--null --color:word{never,auto,always,ansi} "
		"-p,--pretty --sort:word{none,path,modified,accessed,created} "
		"--sortr:word{none,path,modified,accessed,created} -j,--threads:number --no-config "
		"--no-messages --crlf -M,--max-columns:number --passthru --max-filesize:text "
		"--one-file-system --line-buffered",
		"text(-e,-f,--files) read*", 0, NULL},
	{"sort",
		"-b,--ignore-leading-blanks -d,--dictionary-order -f,--ignore-case "
		"-g,--general-numeric-sort -i,--ignore-nonprinting -M,--month-sort "
		"-h,--human-numeric-sort -n,--numeric-sort -R,--random-sort --random-source:read "
		"-r,--reverse "
		"--sort:word{general-numeric,human-numeric,month,numeric,random,version} "
		"-V,--version-sort --batch-size:number -c "
		"-C --check?word{quiet,silent,diagnose-first} --debug -k,--key:text -m,--merge "
		"-o,--output:write -s,--stable -S,--buffer-size:number -t,--field-separator:text "
		"-T,--temporary-directory:folder --parallel:number -u,--unique "
		"-z,--zero-terminated",
		"read*", 0, NULL},
	{"uniq",
		"-c,--count -d,--repeated -D --all-repeated?word{none,prepend,separate} "
		"-f,--skip-fields:number --group?word{separate,prepend,append,both} "
		"-i,--ignore-case "
		"-s,--skip-chars:number -u,--unique -z,--zero-terminated -w,--check-chars:number",
		"read write", 0, NULL},
	{"cut",
		"-b,--bytes:text -c,--characters:text -d,--delimiter:text -f,--fields:text -n "
		"--complement -s,--only-delimited --output-delimiter:text -z,--zero-terminated",
		"read*", 0, NULL},
	{"tr", "+ -c,-C,--complement -d,--delete -s,--squeeze-repeats -t,--truncate-set1",
		"text text", 0, NULL},
	{"paste", "-d,--delimiters:text -s,--serial -z,--zero-terminated", "read*", 0, NULL},
	{"join",
		"-a:number -e:text -i,--ignore-case -j:number -o:text -t:text -v:number -1:number "
		"-2:number --check-order --nocheck-order --header -z,--zero-terminated",
		"read read", 0, NULL},
	{"fold", "-b,--bytes -s,--spaces -w,--width:number -#", "read*", 0, NULL},
	{"fmt",
		"-c,--crown-margin -p,--prefix:text -s,--split-only -t,--tagged-paragraph "
		"-u,--uniform-spacing -w,--width:number -g,--goal:number -#",
		"read*", 0, NULL},
	{"expand", "-i,--initial -t,--tabs:text", "read*", 0, NULL},
	{"unexpand", "-a,--all --first-only -t,--tabs:text", "read*", 0, NULL},
	{"column",
		"-t,--table -s,--separator:text -o,--output-separator:text "
		"-c,--output-width:number "
		"-N,--table-columns:text -R,--table-right:text -J,--json -n,--table-name:text "
		"-x,--fillrows -e,--table-header-repeat -L,--keep-empty-lines "
		"-d,--table-noheadings -l,--table-columns-limit:number -H,--table-hide:text "
		"-T,--table-truncate:text -W,--table-wrap:text -E,--table-noextreme:text "
		"-O,--table-order:text",
		"read*", 0, NULL},
	{"shuf",
		"-e,--echo -i,--input-range:text -n,--head-count:number -o,--output:write "
		"--random-source:read -r,--repeat -z,--zero-terminated",
		"read*", 0, NULL},
	{"diff",
		"--normal -q,--brief -s,--report-identical-files -c -C:number --context?number -u "
		"-U:number --unified?number -e,--ed -n,--rcs -y,--side-by-side -W,--width:number "
		"--left-column --suppress-common-lines -p,--show-c-function "
		"-F,--show-function-line:text --label:text -t,--expand-tabs -T,--initial-tab "
		"--tabsize:number --suppress-blank-empty -r,--recursive --no-dereference "
		"-N,--new-file "
		"--unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case "
		"-x,--exclude:text -X,--exclude-from:read -S,--starting-file:text -i,--ignore-case "
		"-E,--ignore-tab-expansion -Z,--ignore-trailing-space -b,--ignore-space-change "
		"-w,--ignore-all-space -B,--ignore-blank-lines -I,--ignore-matching-lines:text "
		"-a,--text --strip-trailing-cr -D,--ifdef:text --line-format:text "
		"--old-line-format:text --new-line-format:text --unchanged-line-format:text "
		"--old-group-format:text --new-group-format:text --unchanged-group-format:text "
		"--changed-group-format:text -d,--minimal --horizon-lines:number "
		"--speed-large-files "
		"--color?word{always,never,auto} --palette:text -0,-1,-2,-3,-4,-5,-6,-7,-8,-9",
		"read read", 0, check_diff},
	{"cmp",
		"-b,--print-bytes -i,--ignore-initial:text -l,--verbose -n,--bytes:number "
		"-s,--quiet,--silent",
		"read read number number", 0, NULL},
	{"comm",
		"-1 -2 -3 --check-order --nocheck-order --output-delimiter:text --total "
		"-z,--zero-terminated",
		"read read", 0, NULL},
	{"tsort", "", "read", 0, NULL},
	{"sed", NULL, NULL, 0, check_sed},
	{"awk", NULL, NULL, 0, check_awk},
	{"gawk", NULL, NULL, 0, check_awk},
	{"mawk", NULL, NULL, 0, check_awk},
	{"jq", NULL, NULL, 0, check_jq},
	{"tee",
		"-a,--append -i,--ignore-interrupts -p "
		"--output-error?word{warn,warn-nopipe,exit,exit-nopipe}",
		"write*", 0, NULL},
	{"strings",
		"-a,--all -d,--data -f,--print-file-name -n,--bytes:number -t,--radix:word{o,d,x} "
		"-o "
		"-w,--include-all-whitespace -e,--encoding:name -s,--output-separator:text -#",
		"read*", 0, check_objects},
	{"od",
		"-A,--address-radix:word{d,o,x,n} --endian:word{big,little} -j,--skip-bytes:number "
		"-N,--read-bytes:number -S:number --strings?number -t,--format:text "
		"-v,--output-duplicates -w,--width?number --traditional -a -b -c -d -f -i -l -o -s "
		"-x",
		"read*", 0, NULL},
	{"xxd",
		"+ = -a,-autoskip -b,-bits -c,-cols:number -C,-capitalize -d -e -E,-EBCDIC "
		"-g,-groupsize:number -i,-include -l,-len:number -n,-name:text -o:number "
		"-p,-ps,-postscript,-plain -r,-revert -s,-seek:number -u",
		"read write", 0, NULL},
	{"hexdump",
		"-b,--one-byte-octal -c,--one-byte-char -C,--canonical -d,--two-bytes-decimal "
		"-o,--two-bytes-octal -x,--two-bytes-hex -e,--format:text -n,--length:number "
		"-s,--skip:number -v,--no-squeezing",
		"read*", 0, NULL},
	{"base64", "-d,--decode -i,--ignore-garbage -w,--wrap:number", "read", 0, NULL},
	{"md5sum", SUM, "read*", 0, NULL},
	{"sha1sum", SUM, "read*", 0, NULL},
	{"sha256sum", SUM, "read*", 0, NULL},
	{"sha512sum", SUM, "read*", 0, NULL},
	{"b2sum", SUM " -l,--length:number", "read*", 0, NULL},
	{"cksum", "-a,--algorithm:name --untagged --tag -z,--zero -l,--length:number", "read*", 0,
		NULL},
	{"zcat", NULL, NULL, 0, check_zcat},
	{"iconv", "-f,--from-code:text -t,--to-code:text -l,--list -c -s -o,--output:write",
		"read*", 0, NULL},
	{NULL, NULL, NULL, 0, NULL},
};
