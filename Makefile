# One Makefile, no recursion; variants live in folders of their own: build/release, build/san.
CC      ?= gcc
PREFIX  ?= /usr/local
ifeq ($(SAN),1)
VARIANT := san
OPT     := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else
VARIANT := release
OPT     := -O2 -g
endif
WERROR  ?= -Werror
O       := build/$(VARIANT)

LIBGIT2_SO := $(notdir $(realpath $(shell pkg-config --variable=libdir libgit2 2>/dev/null)/libgit2.so))
WARN    := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
	-Wvla -Wformat=2 -Wpointer-arith -Wundef
CFLAGS  ?= $(OPT)
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -I. $(WARN) $(CFLAGS) $(shell pkg-config --cflags libgit2 yaml-0.1 libcjson 2>/dev/null)
LIBS    := $(shell pkg-config --libs yaml-0.1 libcjson 2>/dev/null) -ldl

SRC     := $(filter-out src/main.c,$(wildcard src/*.c src/*/*.c context/*.c steps/*.c))
LIB     := $(O)/libdev-team.a

all: build/dev-team
build/dev-team: $(O)/dev-team
	@mkdir -p build && cp -f $< $@.new && mv -f $@.new $@
$(O)/dev-team: $(O)/src/main.o $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(LIB): $(SRC:%.c=$(O)/%.o)
	@rm -f $@ && ar rcs $@ $^
$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MD -MP -c -o $@ $<
$(O)/src/base/git.o: ALL_CFLAGS += -DLIBGIT2_SO='"$(LIBGIT2_SO)"'

UNIT    := $(wildcard tests/unit/*.c)
$(O)/tests/unit/%: $(O)/tests/unit/%.o $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) $(shell pkg-config --libs cmocka)
unit: $(UNIT:%.c=$(O)/%)

-include $(patsubst %.c,$(O)/%.d,$(SRC) src/main.c $(UNIT))
.PHONY: all unit
.SECONDARY:
