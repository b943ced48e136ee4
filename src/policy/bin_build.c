/*
 * Compilers, builders, what looks into what they make, and the tools of languages. Those with
 * BINARY_RUNS_CODE run what the repository says, by design: their rows keep the command line from
 * adding to that, and the layers of the kernel bound the rest.
 */
#include "src/policy/bin.h"

/* The row alone; but the binutils take `@FILE` for more of the command line. */
int check_objects(struct check *c, const struct call *call)
{
	const struct binary *row = binary_find(c->arena, c->policy, bin_base(call->args[0].text));
	struct parsed p;

	for (size_t i = 1; i < call->n; i++)
		if (call->args[i].text.n && call->args[i].text.p[0] == '@')
			return bin_refuse(c, RULE_OPTION, &call->args[i], "options out of a file");
	if (check_options(c, call, 1, row->options, &p) < 0)
		return -1;
	return check_operands(c, call, &p, row->operands);
}

#define CTEST                                                                                      \
	"= -C,--build-config:name --progress -V,--verbose -VV,--extra-verbose --debug "            \
	"--output-on-failure --stop-on-failure --test-output-size-passed:number "                  \
	"--test-output-size-failed:number -F -j,--parallel:number -Q,--quiet "                     \
	"-O,--output-log:write "                                                                   \
	"--output-junit:write -N,--show-only?name -L,--label-regex:text -R,--tests-regex:text "    \
	"-E,--exclude-regex:text -LE,--label-exclude:text -FA,--fixture-exclude-any:text "         \
	"-FS,--fixture-exclude-setup:text -FC,--fixture-exclude-cleanup:text --preset:name "       \
	"--list-presets -I,--tests-information:text -U,--union --rerun-failed --repeat:text "      \
	"--repeat-until-fail:number --max-width:number --test-dir:enter --timeout:number "         \
	"--no-tests:word{error,ignore} --schedule-random --print-labels --no-label-summary"

const struct binary binaries_build[] = {
	{"make", NULL, NULL, BINARY_RUNS_CODE, check_make},
	{"gmake", NULL, NULL, BINARY_RUNS_CODE, check_make},
	{"ninja", NULL, NULL, BINARY_RUNS_CODE, check_ninja},
	{"cmake", NULL, NULL, BINARY_RUNS_CODE, check_cmake},
	{"ctest", CTEST, "", BINARY_RUNS_CODE, NULL},
	{"cc", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"c++", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"gcc", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"g++", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"cpp", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"clang", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"clang++", NULL, NULL, BINARY_RUNS_CODE, check_cc},
	{"ar", NULL, NULL, 0, check_ar},
	{"ranlib", "-D -U -t", "write*", 0, check_objects},
	{"nm",
		"-a,--debug-syms -A,-o,--print-file-name -B -C,--demangle?name --no-demangle "
		"-D,--dynamic -f,--format:name -g,--extern-only -j,--just-symbols "
		"-n,--numeric-sort "
		"-p,--no-sort -P,--portability -r,--reverse-sort -S,--print-size -s,--print-armap "
		"--quiet --size-sort --special-syms --synthetic -t,--radix:name "
		"-u,--undefined-only "
		"--defined-only -W,--no-weak --with-symbol-versions -V",
		"read*", 0, check_objects},
	{"size", "-A -B -d -o -x -t,--totals --format:name --radix:number --common -G", "read*", 0,
		check_objects},
	{"objdump",
		"-a,--archive-headers -f,--file-headers -p,--private-headers -h,--section-headers,"
		"--headers -x,--all-headers -d -D,--disassemble-all --disassemble?text "
		"-s,--full-contents -g,--debugging -t,--syms -T,--dynamic-syms -r,--reloc "
		"-R,--dynamic-reloc -i,--info -m,--architecture:name -j,--section:name "
		"-M,--disassembler-options:text -l,--line-numbers -F,--file-offsets "
		"-C,--demangle?name -w,--wide -z,--disassemble-zeroes --start-address:number "
		"--stop-address:number --no-addresses --no-show-raw-insn --show-raw-insn "
		"--visualize-jumps?name --inlines",
		"read*", 0, check_objects},
	{"readelf",
		"-a,--all -h,--file-header -l,--program-headers,--segments -S,--section-headers,"
		"--sections -g,--section-groups -t,--section-details -e,--headers "
		"-s,--syms,--symbols --dyn-syms -n,--notes -r,--relocs -u,--unwind -d,--dynamic "
		"-V,--version-info -A,--arch-specific -c,--archive-index -D,--use-dynamic "
		"-x,--hex-dump:name -p,--string-dump:name -I,--histogram -W,--wide "
		"-C,--demangle?name "
		"--lto-syms -T,--silent-truncation",
		"read*", 0, check_objects},
	{"strip",
		"-p,--preserve-dates -D,--enable-deterministic-archives "
		"-U,--disable-deterministic-archives -R,--remove-section:name -s,--strip-all "
		"-g,-S,-d,--strip-debug --strip-dwo --strip-unneeded --only-keep-debug "
		"-N,--strip-symbol:name --keep-section:name -K,--keep-symbol:name -w,--wildcard "
		"-x,--discard-all -X,--discard-locals -v,--verbose -o:write",
		"write*", 0, check_objects},
	{"c++filt", "-_,--strip-underscore -n,--no-strip-underscore -p,--no-params -t,--types -i",
		"text*", 0, check_objects},
	{"addr2line",
		"-a,--addresses -e,--exe:read -f,--functions -i,--inlines -p,--pretty-print "
		"-s,--basenames -C,--demangle?name",
		"text*", 0, check_objects},
	{"clang-format",
		"= -i@write --style:word{file,LLVM,GNU,Google,Chromium,Microsoft,Mozilla,WebKit} "
		"-style:word{file,LLVM,GNU,Google,Chromium,Microsoft,Mozilla,WebKit} -n,--dry-run "
		"-Werror,--Werror --verbose,-verbose --assume-filename:text -assume-filename:text "
		"--dump-config -dump-config --lines:text -lines:text --fallback-style:name "
		"--sort-includes --ferror-limit:number",
		"read*", 0, check_format},
	{"shellcheck",
		"-a,--check-sourced -C,--color?name -i,--include:text -e,--exclude:text "
		"-f,--format:name --norc -o,--enable:text -s,--shell:name -S,--severity:name "
		"-W,--wiki-link-count:number",
		"read*", 0, NULL},
	{"pkg-config",
		"--cflags --cflags-only-I --cflags-only-other --libs --libs-only-l --libs-only-L "
		"--libs-only-other --static --exists --modversion --print-errors --silence-errors "
		"--short-errors --list-all --variable:name --print-variables --print-requires "
		"--atleast-version:text --exact-version:text --max-version:text",
		"name*", 0, NULL},
	{"python3", NULL, NULL, BINARY_RUNS_CODE, check_python},
	{"node", NULL, NULL, BINARY_RUNS_CODE, check_nodejs},
	{"npm", NULL, NULL, BINARY_RUNS_CODE, check_npm},
	{"cargo", NULL, NULL, BINARY_RUNS_CODE, check_cargo},
	{"go", NULL, NULL, BINARY_RUNS_CODE, check_go},
	{"pytest", NULL, NULL, BINARY_RUNS_CODE, check_pytest},
	{NULL, NULL, NULL, 0, NULL},
};
