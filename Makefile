# One Makefile; variants live in directories of their own: build/release, build/san, build/fuzz.
#   make            build/dev-team            make check    lists, floors, unit tests, spec cases, fuzz inputs
#   make test       what protects a commit    make proof    everything else: make proof [SUITE...], SINCE=REV, SEED=N
#   make demo       a run to look at          make crash    kill and fail at every system call
#   make bench      a table of times          make e2e      all scenarios of the real client
#   make model      random faults and every order of two loops, on a simulated disk
#   make oracle     the shell parser against bash and shfmt, 200,000 generated texts
#   make faults     each fault of tests/model/faults.txt, planted in the engine, and what finds it
#   make conform    what every store must do; 8 processes at once
#   make mutants    mutation tests            make fuzz     60 s each fuzz target (clang)
#   make SAN=1 check  with sanitizers         make format   clang-format in place
#   make figures    sizes and names by room
#   make install PREFIX= DESTDIR=             make deps     install missing Debian packages
#   make help       this list                 make V=1      shows the commands
ifeq ($(origin CC),default)
CC      := gcc
endif
PREFIX  ?= /usr/local
SAN     ?= 0
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DSANITIZED
ifdef FUZZ
VARIANT := fuzz
OPT     := -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
else ifeq ($(SAN),1)
VARIANT := san
OPT     := -O0 -g1 $(SANITIZE)
else ifdef MUTANTS
# A shared library: a mutation compiles one file and links the library, not the programs (tools/mutate).
VARIANT := mutants
OPT     := -O1 -fPIC
else
VARIANT := release
# Line numbers and names of functions, which a backtrace needs, take a sixth less time than all of -g.
OPT     := -O2 -g1
endif
WERROR  ?= -Werror
# A compiler of its own name gets a folder of its own, so that two can be tried side by side.
O       := build/$(VARIANT)$(if $(FUZZ),,$(if $(findstring clang,$(CC)),-clang))

# Packages and what pkg-config says of them come from a file that make itself keeps up to date: it
# is made (and the packages installed) before anything below is used, and make then starts anew.
.DEFAULT_GOAL := all
GOALS   := $(or $(MAKECMDGOALS),all)
FOR     := $(if $(filter test proof check unit sanitized model e2e deps mutants $(O)/tests/%,$(GOALS)),test,build)
DEPS    := build/deps-$(FOR).mk
# On all processors, unless -j says otherwise; not `make clean all`, whose goals depend on their order.
ifeq ($(MAKELEVEL)$(filter clean,$(GOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
ifneq ($(filter-out clean uninstall format format-check figures help,$(GOALS)),)
include $(DEPS)
endif
$(DEPS): tools/deps $(shell tools/deps ok $(FOR) || echo FORCE)
	@tools/deps install $(FOR)
	@mkdir -p build && tools/deps flags >$@.new && mv -f $@.new $@

WARN    := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wvla -Wformat=2 -Wpointer-arith -Wundef
CFLAGS  ?= $(OPT)
LDFLAGS ?= -Wl,-O1,--as-needed$(if $(filter san,$(VARIANT)), -no-pie)
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -I. $(WARN) $(CFLAGS) $(PKG_CFLAGS)
LIBS    = $(PKG_LIBS) -ldl -lm
# One short line a file; V=1 shows the commands.
SAY     = $(if $(V),,@echo '$(1)' && )
LINK    = $(call SAY,LD $@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

SRC     := $(filter-out src/main.c src/sandbox/inner.c,$(wildcard src/*.c src/*/*.c src/*/*/*.c context/*.c steps/*.c))
LIB     := $(O)/libdev-team.$(if $(MUTANTS),so,a)
SHARE_OBJECTS = $(CC) -shared -Wl,-soname,$(abspath $(LIB)) $(LDFLAGS)

all: build/dev-team build/dev-team.1
build/dev-team: $(O)/dev-team
	@mkdir -p build && cp -f $< $@.new && mv -f $@.new $@
# At a fixed address: relocations would write to a third of the memory of each short command.
$(O)/dev-team: private LDFLAGS += -no-pie
$(O)/dev-team: $(O)/src/main.o $(LIB)
	$(LINK)
# The manual page: prose from the template, verbs and options from their tables.
build/dev-team.1: docs/dev-team.1.in $(O)/tools/manual
	@$(O)/tools/manual <$< >$@.new && mv -f $@.new $@
$(O)/tools/manual: $(O)/tools/manual.o $(LIB)
	$(LINK)
# The names of all sources. A source that is moved or deleted changes this file, and with it the archives and programs
# that would otherwise keep its object.
NAMES   := $(O)/names
$(NAMES): FORCE
	@mkdir -p $(@D) && echo '$(SRC) $(wildcard tests/*/*.c tests/*/*/*.c)' >$@.new && \
	if cmp -s $@.new $@; then rm $@.new; else mv -f $@.new $@; fi
ARCHIVE = @rm -f $@ && ar rcs $@ $(filter %.o,$^)
$(LIB): $(SRC:%.c=$(O)/%.o) $(NAMES)
	$(if $(MUTANTS),$(call SAY,LD $@)$(SHARE_OBJECTS) -o $@ $(filter %.o,$^) $(LIBS),$(ARCHIVE))
$(O)/libtests.a: $(patsubst %.c,$(O)/%.o,$(filter-out tests/lib/unit_main.c,$(wildcard tests/lib/*.c tests/model/sim_*.c))) $(NAMES)
	$(ARCHIVE)
# With sanitizers: what these rooms compute takes longer than their compilation; the others start programs.
COMPUTING := $(wildcard $(patsubst %,%/*.c,context steps src/base src/config src/machine src/schema src/store src/store/* src/verify src/workflow))
$(COMPUTING:%.c=$(O)/%.o): OPT := $(OPT:-O0=-O1)
$(O)/%.o: %.c Makefile $(DEPS)
	@mkdir -p $(@D)
	$(call SAY,CC $<)$(CC) $(ALL_CFLAGS) -MD -MP -c -o $@ $<
# The program of the sandbox's first process, which starts with every command: only what it uses, without sanitizers.
INNER   := $(patsubst %.c,$(O)/inner/%.o,$(wildcard src/base/*.c) $(patsubst %,src/%.c,$(patsubst %,sandbox/%,inner broker network \
	run seccomp) $(patsubst %,sys/%,directory path process process_table)))
$(O)/inner/%.o: %.c Makefile $(DEPS)
	@mkdir -p $(@D)
	$(call SAY,CC $< for the sandbox)$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(ALL_CFLAGS)) -ffunction-sections -fdata-sections -MD -MP -c -o $@ $<
$(O)/inner/program: $(INNER)
	$(call SAY,LD $@)$(CC) $(filter-out -no-pie,$(LDFLAGS)) -Wl,--gc-sections,-z,noseparate-code -s -o $@ $^
$(O)/src/sandbox/arguments.o: ALL_CFLAGS += -DSANDBOX_INNER='"$(O)/inner/program"'
$(O)/src/sandbox/arguments.o: $(O)/inner/program
# The compiler does not tell that these files take in others.
$(O)/src/policy/policy.o: $(wildcard policies/*.yaml)
$(O)/src/config/model.o: models/models.yaml
$(O)/src/tick/playbook.o: playbooks/failures.yaml
$(O)/src/event/artifact_schema.o: $(wildcard schemas/artifacts/*.json)
$(O)/src/sys/git.o: ALL_CFLAGS += -DLIBGIT2_SO='"$(LIBGIT2_SO)"'
$(O)/src/sys/crypto.o: ALL_CFLAGS += -DLIBCRYPTO_SO='"$(LIBCRYPTO_SO)"'
$(O)/src/sys/regex.o: ALL_CFLAGS += -DLIBPCRE2_SO='"$(LIBPCRE2_SO)"'
$(O)/src/sys/sqlite.o: ALL_CFLAGS += -DLIBSQLITE3_SO='"$(LIBSQLITE3_SO)"'
$(O)/src/sys/postgres.o: ALL_CFLAGS += -DLIBPQ_SO='"$(LIBPQ_SO)"'
$(O)/src/sys/http.o: ALL_CFLAGS += -DLIBCURL_SO='"$(LIBCURL_SO)"'

# Test programs. All of them may use tests/lib. The unit tests of a room are one program.
COMMA   := ,
PERCENT := %
ROOMS   := $(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/*/test_*.c))))
UNIT    := $(ROOMS:%=$(O)/tests/%/unit)
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
UNITLIB := $(O)/tests/lib/unit_main.o
SIMDISK := $(O)/tests/model/sim_disk.o $(O)/tests/model/sim_media.o
TESTLIB := $(O)/libtests.a $(LIB)
MODEL   := $(filter-out $(SIMDISK),$(patsubst %.c,$(O)/%.o,$(filter-out tests/model/main.c tests/model/test_% tests/model/proof_%,$(wildcard tests/model/*.c))))
# The programs of `make test` that have no sanitizers, and all.
TESTED  := $(patsubst %,$(O)/tests/%,spec/runner model/model model/unit crash/sweep worktree/crowd/crowd)
PROGRAMS := $(TESTED) $(UNIT) $(FUZZERS:%=$(O)/tests/fuzz/replay_%) \
	$(patsubst %,$(O)/tests/%,spec/memory/dev-team store/conform/conform store/conform/crowd crash/killat crash/torture \
	$(patsubst %,policy/live/%,oracle))

# Where tests/model/test_simulate.c plants its faults.
$(O)/tests/model/unit: LDFLAGS += $(patsubst %,-Wl$(COMMA)--wrap=%,lease_admit lease_refuse \
	context_keep answer_record context_next_attempt)
# Where tests/event/test_artifact_disk.c puts a simulated disk.
$(O)/tests/event/unit: LDFLAGS += -Wl,--wrap=disk_real
# --wrap does not reach into a shared library.
$(O)/tests/event/unit: $(if $(MUTANTS),$(O)/src/event/artifact.o)
.SECONDEXPANSION:
$(UNIT): $(O)/tests/%/unit: $$(patsubst $$(PERCENT).c,$(O)/$$(PERCENT).o,$$(wildcard tests/$$*/test_*.c tests/$$*/proof_*.c)) $(UNITLIB) $(TESTLIB)
	$(call SAY,LD $@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(TESTLIB) $(LIBS) $(CMOCKA_LIBS)
$(O)/tests/model/unit: $(MODEL)
$(O)/tests/model/model: $(O)/tests/model/main.o $(MODEL) $(TESTLIB)
	$(LINK)
$(O)/tests/spec/runner: $(O)/tests/spec/runner.o $(O)/tests/spec/cases.o $(TESTLIB)
	$(LINK)
# The program with its stores in memory instead of files.
$(O)/tests/spec/memory/dev-team: $(O)/src/main.o $(O)/tests/spec/memory_program.o $(TESTLIB)
	@mkdir -p $(@D)
	$(LINK)
CONFORM := $(filter-out tests/store/conform/crowd%,$(wildcard tests/store/conform/*.c))
$(O)/tests/store/conform/conform: $(CONFORM:%.c=$(O)/%.o) $(TESTLIB)
	$(LINK)
$(O)/tests/store/conform/crowd: $(patsubst %.c,$(O)/%.o,$(wildcard tests/store/conform/crowd*.c)) $(TESTLIB)
	$(LINK)
$(O)/tests/crash/torture: $(O)/tests/crash/torture.o $(O)/tests/crash/torture_audit.o $(TESTLIB)
	$(LINK)
$(O)/tests/crash/%: $(O)/tests/crash/%.o $(O)/tests/crash/trace.o $(O)/tests/crash/scenes.o $(O)/tests/crash/stage.o \
	$(O)/tests/crash/checks.o $(TESTLIB)
	$(LINK)
$(O)/tests/worktree/crowd/crowd: $(patsubst %.c,$(O)/%.o,$(wildcard tests/worktree/crowd/*.c)) $(O)/tests/crash/trace.o $(TESTLIB)
	$(LINK)
GENERATE := $(patsubst %.c,$(O)/%.o,$(wildcard tests/policy/live/generate*.c))
$(O)/tests/policy/live/oracle: $(O)/tests/policy/live/oracle.o $(patsubst %.c,$(O)/%.o,$(wildcard tests/policy/live/notes*.c)) \
	$(GENERATE) $(TESTLIB)
	$(LINK)
$(O)/tests/fuzz/replay_%: $(O)/tests/fuzz/fuzz_%.o $(O)/tests/fuzz/replay.o $(TESTLIB)
	$(LINK)
$(O)/tests/fuzz/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(SIMDISK) $(LIB)
	$(LINK) -fsanitize=fuzzer
BENCH := $(filter-out tests/bench/bare.c tests/bench/empty.c,$(wildcard tests/bench/*.c))
$(O)/tests/bench/bench: $(BENCH:%.c=$(O)/%.o) $(TESTLIB)
	$(LINK)
# What a step is measured against must carry no library of ours.
$(O)/tests/bench/bare $(O)/tests/bench/empty: $(O)/tests/%: $(O)/tests/%.o
	$(call SAY,LD $@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

unit: $(UNIT) $(O)/tests/store/conform/conform
# Unit tests, spec cases and fuzz corpora run in a build with sanitizers, by the other compiler; all other programs in
# the release build.
SANITIZED := build/san-clang
sanitized: $(filter-out $(O)/tests/model/unit,$(UNIT)) $(O)/tests/store/conform/conform $(O)/dev-team $(O)/tests/spec/runner \
	$(FUZZERS:%=$(O)/tests/fuzz/replay_%)
test: $(O)/dev-team all $(if $(filter 1,$(SAN)),$(PROGRAMS),$(TESTED))
	+@[ $(SAN) = 1 ] || $(MAKE) SAN=1 CC=clang sanitized
	@O=$(O) SAN=$(SAN) SANITIZED=$(if $(filter 1,$(SAN)),,$(SANITIZED)) tests/suites
# make proof [SUITE...]; SINCE=REV: the suites of the rooms that changed since then.
proof: $(O)/dev-team all $(PROGRAMS)
	@suites="$(SUITES)$(if $(SINCE),$$(tests/suites since '$(SINCE)'))" && if [ -n "$(SINCE)" ] && [ -z "$$suites" ]; then \
	echo 'nothing that changed since $(SINCE) has a suite of its own'; else O=$(O) tests/suites proof $$suites; fi
check: $(O)/dev-team all $(PROGRAMS)
	@O=$(O) SAN=$(SAN) tests/suites unit spec lists floors fuzz
floors: $(O)/dev-team
	@tools/floors $(O)
# Each fault is compiled into an object that precedes the library.
faults: $(O)/tests/model/model
	@O=$(O) COMPILE='$(CC) $(ALL_CFLAGS) -Wno-error' LIBS='$(LIBS)' \
	LINK='$(CC) $(CFLAGS) $(LDFLAGS)' OBJECTS='$(O)/tests/model/main.o $(MODEL) $(TESTLIB)' tests/model/faults
# The words after `make proof` are suites, not targets.
ifeq ($(firstword $(MAKECMDGOALS)),proof)
SUITES  := $(filter-out proof,$(MAKECMDGOALS))
.PHONY: $(SUITES)
$(SUITES):
	@:
else
crash: $(O)/dev-team $(O)/tests/crash/sweep $(O)/tests/worktree/crowd/crowd
	@O=$(O) SWEEP=full tests/suites proof crash pool
model: $(O)/tests/model/model $(O)/tests/model/unit
	@O=$(O) RUNS=$${RUNS-20000} DEPTH=$${DEPTH-4} tests/suites proof model
conform: $(O)/dev-team $(O)/tests/store/conform/conform $(O)/tests/store/conform/crowd
	@O=$(O) tests/suites proof store
oracle: $(O)/dev-team $(O)/tests/policy/live/oracle
	@O=$(O) ORACLE=full tests/suites proof policy
e2e: all
	@O=$(O) tests/suites proof e2e
demo: all
	@demo/run
endif
bench: $(O)/dev-team $(patsubst %,$(O)/tests/bench/%,bench bare empty)
	@$(O)/tests/bench/bench $(O)/dev-team
	@echo && O=$(O) tests/bench/git_calls
	@echo && O=$(O) tests/bench/landing
	@echo && if [ -s build/mutants/report ]; then echo 'the last `make mutants`' && tail -2 build/mutants/report; \
	else echo 'make mutants: not run in this tree'; fi
fuzz:
	@command -v clang >/dev/null || { echo 'fuzz: skipped: clang is not installed' >&2; exit 0; }; \
	$(MAKE) FUZZ=1 CC=clang fuzz-run
fuzz-run: $(FUZZERS:%=$(O)/tests/fuzz/fuzz_%)
	@tests/fuzz/run $(O) $(FUZZERS)

figures:
	@tools/figures
# SEED chooses the places; N is their number; J run at a time.
MUTATED := context steps src/local src/machine src/store src/workflow src/verify
mutants: $(DEPS)
	@mkdir -p build/mutants && tools/mutate list --seed $(or $(SEED),1) $(MUTATED) >build/mutants/list.tsv
	@tools/mutate run --count $(or $(N),200) --jobs $(or $(J),2) --scratch build/mutants $(if $(ONLY),--only $(ONLY)) build/mutants/list.tsv
# How tools/mutate compiles a file and links the objects that follow.
mutants-commands:
	@echo '$(CC) $(ALL_CFLAGS) -c'
	@echo '$(SHARE_OBJECTS)'
	@echo '$(LIBS)'
	@echo '$(SRC:%.c=$(O)/%.o)'
.PHONY: figures mutants mutants-commands

FORMATTED = $(filter-out %.new demo/%,$(shell git ls-files '*.c' '*.h'))
format:
	clang-format -i $(FORMATTED)
format-check:
	clang-format --dry-run --Werror $(FORMATTED)

# The folder is the user's to name: always quoted, and only what install made is ever removed.
TO      = $(DESTDIR)$(PREFIX)
SHARE   = $(TO)/share/dev-team
PARTS   = workflows policies resources models playbooks skills agents commands hooks .claude-plugin docs README.md LICENSE
# SHELL:FILE
COMPLETIONS := bash:bash-completion/completions/dev-team zsh:zsh/site-functions/_dev_team fish:fish/vendor_completions.d/dev-team.fish
install: all
	@install -D -m 755 build/dev-team "$(TO)/bin/dev-team"
	@install -D -m 644 build/dev-team.1 "$(TO)/share/man/man1/dev-team.1"
	@rm -rf "$(SHARE)" && mkdir -p "$(SHARE)/bin"
	@cp -R $(wildcard $(PARTS)) "$(SHARE)/"
	@install -m 755 bin/dev-team "$(SHARE)/bin/dev-team"
	@$(foreach c,$(COMPLETIONS),mkdir -p "$(TO)/share/$(dir $(lastword $(subst :, ,$c)))" && \
	build/dev-team completion $(firstword $(subst :, ,$c)) >"$(TO)/share/$(lastword $(subst :, ,$c))" &&) true
	@echo 'install: the program, its manual page and completions, and the plugin are in $(TO)'
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "install: $(PREFIX)/bin is not on your PATH: log in again, or add it" ;; esac
	@echo "install: next: 'dev-team init' in a repository; for Claude Code, once:"; echo '  claude plugin marketplace add "$(SHARE)"'; echo '  claude plugin install dev-team@dev-team'
uninstall:
	rm -rf "$(SHARE)"
	rm -f "$(TO)/bin/dev-team" "$(TO)/share/man/man1/dev-team.1" \
	$(foreach c,$(COMPLETIONS),"$(TO)/share/$(lastword $(subst :, ,$c))")
help:
	@sed -n 's/^#   make/make/p; /^ifeq/q' Makefile
deps:
	@echo 'deps: everything is there'
clean:
	rm -rf build

-include $(INNER:.o=.d) $(patsubst %.c,$(O)/%.d,$(SRC) src/main.c tools/manual.c $(wildcard tests/*/*.c tests/*/*/*.c))
.PHONY: all unit sanitized test proof check floors crash model faults conform oracle e2e demo bench fuzz fuzz-run format format-check install \
	uninstall deps clean help FORCE
.SECONDARY:
