/*
 * git_index.c: reads the index, git's list of the files that it tracks: without libgit2, whose
 * loading takes longer than a step, and without a process where that is certain.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "src/sys/directory.h"
#include "src/sys/git.h"
#include "src/sys/git_internal.h"
#include "src/sys/path.h"

/* ---- entries ---- */

static uint32_t big_endian(const char *p, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | (unsigned char)p[i];
	return value;
}

enum {
	HEADER = 12,
	MODE = 24,
	FLAGS = 60,
	NAME = 62,
	SUBMODULE = 0160000, /* in place of the type of a file */
	ASSUME_UNCHANGED = 0x8000,
	EXTENDED = 0x4000,
	SKIP_WORKTREE = 0x4000, /* of the two bytes that follow then */
	LENGTH = 0xfff,
	CHECKSUM = 20
};

struct index_reader {
	struct str text;
	size_t at;       /* of the next entry */
	struct str last; /* the path before */
};

/* An entry: times and the like, an object of 20 bytes, flags, the path, and NULs up to a multiple
 * of 8. The paths are in order; with objects of another length they would not be. */
static bool read_entry(struct index_reader *r, struct git_tracked *e)
{
	const char *p = r->text.p + r->at;
	size_t left = r->text.n - r->at, skip, length;
	uint32_t flags;

	if (left < NAME + 8)
		return false;
	flags = big_endian(p + FLAGS, 2);
	skip = NAME + (flags & EXTENDED ? 2 : 0);
	length = strnlen(p + skip, left - skip);
	*e = (struct git_tracked){.entry = p,
		.path = {p + skip, length},
		.link = (big_endian(p + MODE, 4) & S_IFMT) == S_IFLNK,
		.submodule = (big_endian(p + MODE, 4) & S_IFMT) == SUBMODULE,
		.assume_unchanged = flags & ASSUME_UNCHANGED,
		.skip_worktree = flags & EXTENDED && big_endian(p + NAME, 2) & SKIP_WORKTREE};
	r->at += (skip + length + 8) & ~(size_t)7;
	if (!length || length == left - skip || r->at > r->text.n ||
		((flags & LENGTH) != LENGTH && (flags & LENGTH) != length) ||
		(r->last.n &&
			memcmp(r->last.p, e->path.p, r->last.n < length ? r->last.n : length) > 0))
		return false;
	r->last = e->path;
	return true;
}

/* Entries of a split index are in another file. */
static bool ends_whole(const struct index_reader *r)
{
	size_t at = r->at;

	for (; at + 8 + CHECKSUM <= r->text.n; at += 8 + big_endian(r->text.p + at + 4, 4))
		if (memcmp(r->text.p + at, "link", 4) == 0)
			return false;
	return at + CHECKSUM == r->text.n;
}

int git_index_each(
	struct str index, bool (*each)(void *data, const struct git_tracked *e), void *data)
{
	struct index_reader r = {.text = index, .at = HEADER};
	struct git_tracked entry;
	uint32_t version, n;

	if (index.n < HEADER + CHECKSUM || !str_starts(index, "DIRC"))
		return -1;
	version = big_endian(index.p + 4, 4);
	if (version != 2 && version != 3)
		return -1;
	for (n = big_endian(index.p + 8, 4); n; n--) {
		if (!read_entry(&r, &entry))
			return -1;
		if (!each(data, &entry))
			return 1;
	}
	return ends_whole(&r) ? 0 : -1;
}

/* ---- files with hidden changes ---- */

#define ATTRIBUTES ".gitattributes"

struct hidden_search {
	struct arena *arena;
	const char *root;
	bool sparse;
	struct git_hidden *out;
	struct str last;                       /* path of the entry before */
	VEC(const char *) attributes, tracked; /* files of that name that are there, and tracked */
};

static void add_attributes(struct hidden_search *s, struct str directory)
{
	const char *file = arena_printf(s->arena, "%.*s" ATTRIBUTES, (int)directory.n, directory.p);

	if (path_exists(path_join(s->arena, s->root, file)))
		vec_push_in(s->arena, &s->attributes, file);
}

/* Looks into each directory that the entry before was not below. */
static void find_attributes(struct hidden_search *s, struct str path)
{
	size_t same = 0;

	while (same < path.n && same < s->last.n && path.p[same] == s->last.p[same])
		same++;
	if (!s->last.n)
		add_attributes(s, STR(""));
	for (size_t n = same; n < path.n; n++)
		if (path.p[n] == '/')
			add_attributes(s, str_sub(path, 0, n + 1));
	if (str_is(path, ATTRIBUTES) || str_ends(path, "/" ATTRIBUTES))
		vec_push_in(s->arena, &s->tracked, arena_dup(s->arena, path));
	s->last = path;
}

static void add_untracked_attributes(struct hidden_search *s)
{
	for (size_t i = 0; i < s->attributes.n; i++) {
		size_t k = 0;

		while (k < s->tracked.n && strcmp(s->tracked.items[k], s->attributes.items[i]) != 0)
			k++;
		if (k == s->tracked.n)
			vec_push_in(s->arena, &s->out->attributes, s->attributes.items[i]);
	}
}

/* git looks for changes of a submodule in its repository only. A directory that cannot be read has
 * files. */
static bool hides_files(struct hidden_search *s, struct str path)
{
	const char *full = path_join(s->arena, s->root, arena_dup(s->arena, path));
	struct directory_names names;
	struct error ignored;
	bool missing;

	if (path_exists(path_join(s->arena, full, ".git")))
		return false;
	if (directory_list(s->arena, full, &names, &missing, &ignored) < 0)
		return !missing;
	return names.n > 0;
}

/* A sparse work tree lacks the files that it skips. */
static bool git_index_note_hidden(void *data, const struct git_tracked *e)
{
	struct hidden_search *s = data;

	find_attributes(s, e->path);
	if (e->submodule && hides_files(s, e->path))
		vec_push_in(s->arena, &s->out->submodules, arena_dup(s->arena, e->path));
	if (!e->assume_unchanged && !e->skip_worktree)
		return true;
	if (e->assume_unchanged || !s->sparse ||
		path_exists(path_join(s->arena, s->root, e->path.p)))
		vec_push_in(s->arena, &s->out->paths, arena_dup(s->arena, e->path));
	else
		vec_push_in(s->arena, &s->out->skipped, arena_dup(s->arena, e->path));
	return true;
}

static void git_index_forget(struct hidden_search *s)
{
	*s->out = (struct git_hidden){0};
	s->attributes.n = s->tracked.n = s->last.n = 0;
}

/* `TAG MODE OBJECT STAGE<TAB>PATH`: the tag in lower case for assume-unchanged, S for
 * skip-worktree.
 */
static int ask_for_hidden(struct hidden_search *s, struct error *err)
{
	static const char *const argv[] = {"git", "ls-files", "-v", "-s", "-z", NULL};
	const struct git_command c = {.dir = s->root, .name = "git ls-files", .argv = argv};
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	git_index_forget(s);
	if (git_command(&c, &out, NULL, err) < 0)
		return -1;
	for (size_t at = 0; at < out.len; at += strlen(out.s + at) + 1) {
		char tag = out.s[at];
		struct str entry = str_of(out.s + at);
		size_t tab = str_find(entry, STR("\t"));

		(void)git_index_note_hidden(
			s, &(struct git_tracked){.path = str_sub(entry, tab + 1, entry.n),
				   .submodule = str_starts(str_sub(entry, 2, entry.n), "160000 "),
				   .assume_unchanged = islower((unsigned char)tag),
				   .skip_worktree = toupper((unsigned char)tag) == 'S'});
	}
	s->last.n = 0; /* it was a part of `out` */
	return 0;
}

int git_find_hidden(
	struct arena *a, const char *root, bool sparse, struct git_hidden *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct hidden_search s = {.arena = a, .root = root, .sparse = sparse, .out = out};
	bool missing = false;
	char *own, *common;
	int rc = -1;

	*out = (struct git_hidden){0};
	if (git_directories(a, root, &own, &common) &&
		sys_read_file(&text, path_join(a, own, "index"), GIT_INDEX_MAX, &missing, err) == 0)
		rc = git_index_each(buf_str(&text), git_index_note_hidden, &s);
	if (rc < 0 && !missing && ask_for_hidden(&s, err) < 0)
		return -1;
	add_untracked_attributes(&s);
	return 0;
}

/* ---- files without changes ---- */

/* Numbers of 4 bytes at the beginning of an entry. */
enum { CTIME, CTIME_NS, MTIME, MTIME_NS, DEVICE, INODE, MODE_AT, USER, GROUP, SIZE };

/*
 * What git itself compares before it reads a file, and some more: device, nanoseconds. A file that
 * is not older than the index may have been changed since without a trace.
 */
static bool is_as_noted(const struct git_tracked *e, const struct stat *st, struct timespec index)
{
	const uint32_t want[] = {(uint32_t)st->st_ctim.tv_sec, (uint32_t)st->st_ctim.tv_nsec,
		(uint32_t)st->st_mtim.tv_sec, (uint32_t)st->st_mtim.tv_nsec, (uint32_t)st->st_dev,
		(uint32_t)st->st_ino,
		S_ISLNK(st->st_mode) ? S_IFLNK : S_IFREG | (st->st_mode & S_IXUSR ? 0755 : 0644),
		st->st_uid, st->st_gid, (uint32_t)st->st_size};

	if ((!S_ISREG(st->st_mode) && !S_ISLNK(st->st_mode)) || st->st_mtim.tv_sec > index.tv_sec ||
		(st->st_mtim.tv_sec == index.tv_sec && st->st_mtim.tv_nsec >= index.tv_nsec))
		return false;
	for (size_t i = 0; i < COUNT(want); i++)
		if (big_endian(e->entry + 4 * i, 4) != want[i])
			return false;
	return true;
}

struct unchanged_check {
	int root;
	struct timespec written; /* when the index was */
	const char *end;         /* of the entries that were seen */
	VEC(struct str) paths;   /* of the entries, in their order: by bytes */
	size_t found;            /* of them, in the work tree */
};

static bool is_unchanged(void *data, const struct git_tracked *e)
{
	struct unchanged_check *c = data;
	struct stat st;

	c->end = e->entry + ((NAME + e->path.n + 8) & ~(size_t)7);
	vec_push(&c->paths, e->path);
	/* of the flags only the length of the path is ordinary */
	return !(big_endian(e->entry + FLAGS, 2) & ~(uint32_t)LENGTH) &&
	       fstatat(c->root, e->path.p, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       is_as_noted(e, &st, c->written);
}

/* The tree that git has noted in `text`, the end of an index: NUL, `ENTRIES SUBTREES`, LF, the tree
 * of all entries. ENTRIES is -1 when one was changed since; then no tree follows. */
static bool index_tree(struct str text, char out[2 * CHECKSUM + 1])
{
	size_t at = 0, line;

	while (at + 8 < text.n && memcmp(text.p + at, "TREE", 4) != 0)
		at += 8 + big_endian(text.p + at + 4, 4);
	line = at + 8 < text.n ? at + 8 + str_find(str_sub(text, at + 8, text.n), STR("\n"))
			       : text.n;
	if (line + CHECKSUM >= text.n || text.p[at + 8] != '\0' || text.p[at + 9] == '-')
		return false;
	for (size_t i = 0; i < CHECKSUM; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", (unsigned char)text.p[line + 1 + i]);
	return true;
}

/* Below, at or above 0: an entry is before, at (in the directory: `inside`), or behind a path. */
static int index_compare(struct str entry, struct str path, bool inside)
{
	int order = memcmp(entry.p, path.p, entry.n < path.n ? entry.n : path.n);

	if (order || entry.n < path.n)
		return order ? order : -1;
	if (entry.n == path.n)
		return inside ? -1 : 0;
	return inside ? (unsigned char)entry.p[path.n] - '/' : 1;
}

/* Each file must be an entry, and each directory have one. */
static enum directory_visit index_visit(
	void *data, const struct directory_entry *e, struct error *err)
{
	struct unchanged_check *c = data;
	bool inside = e->type == FILE_DIRECTORY;
	size_t from = 0, to = c->paths.n;

	if (strcmp(e->path, ".git") == 0)
		return DIRECTORY_SKIP;
	while (from < to) {
		size_t at = (from + to) / 2;
		int order = index_compare(c->paths.items[at], str_of(e->path), inside);

		if (order == 0) {
			c->found += !inside;
			return DIRECTORY_CONTINUE;
		}
		from = order < 0 ? at + 1 : from;
		to = order < 0 ? to : at;
	}
	return (enum directory_visit)error_set(err, ERR_CHECK, "'%s' is untracked", e->path);
}

/* *written: when. */
static bool read_index(struct arena *a, const char *own, struct buf *text, struct timespec *written)
{
	const char *index = path_join(a, own, "index");
	struct error ignored;
	struct stat st;

	if (stat(index, &st) < 0 || sys_read_file(text, index, GIT_INDEX_MAX, NULL, &ignored) < 0)
		return false;
	*written = st.st_mtim;
	return true;
}

const char *git_unchanged_tree(struct arena *a, const char *root, bool alone)
{
	CLEANUP(base_close) int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct unchanged_check c = {.root = fd};
	char tree[2 * CHECKSUM + 1], *own, *common;
	struct error ignored;
	bool unchanged;

	if (fd < 0 || !git_directories(a, root, &own, &common) ||
		!read_index(a, own, &text, &c.written))
		return NULL;
	unchanged = git_index_each(buf_str(&text), is_unchanged, &c) == 0 && c.end &&
		    index_tree(str_sub(buf_str(&text), (size_t)(c.end - text.s), text.len), tree) &&
		    (!alone || (directory_walk(root, index_visit, &c, &ignored) == 0 &&
				       c.found == c.paths.n));
	vec_release(&c.paths);
	return unchanged ? arena_dup(a, str_of(tree)) : NULL;
}

/* ---- a directory without changes ---- */

struct directory_check {
	struct unchanged_check of; /* with paths below the directory */
	struct str dir;
	struct buf *out;
};

static bool put_unchanged(void *data, const struct git_tracked *e)
{
	struct directory_check *d = data;
	struct git_tracked below = *e;

	if (!str_starts(e->path, d->dir.p))
		return true;
	below.path = str_sub(e->path, d->dir.n, e->path.n);
	if (!below.path.n || !is_unchanged(&d->of, &below))
		return false;
	buf_addf(d->out, "H %06o ", (unsigned)big_endian(e->entry + MODE, 4));
	for (size_t i = 0; i < CHECKSUM; i++)
		buf_addf(d->out, "%02x", (unsigned char)e->entry[FLAGS - CHECKSUM + i]);
	buf_addf(d->out, " 0\t%.*s", (int)e->path.n, e->path.p);
	buf_addc(d->out, '\0');
	return true;
}

bool git_unchanged_directory(struct arena *a, const char *root, const char *dir, struct buf *out)
{
	const char *full = *dir ? path_join(a, root, dir) : root;
	CLEANUP(base_close) int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct directory_check d = {
		.of.root = fd, .dir = str_of(*dir ? arena_printf(a, "%s/", dir) : ""), .out = out};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t before = out->len;
	struct error ignored;
	char *own, *common;
	bool unchanged;

	unchanged = fd >= 0 && git_directories(a, root, &own, &common) &&
		    (!*dir || !path_exists(path_join(a, full, ".git"))) &&
		    read_index(a, own, &text, &d.of.written) &&
		    git_index_each(buf_str(&text), put_unchanged, &d) == 0 && d.of.paths.n &&
		    directory_walk(full, index_visit, &d.of, &ignored) == 0 &&
		    d.of.found == d.of.paths.n;
	vec_release(&d.of.paths);
	if (!unchanged)
		buf_cut(out, before);
	return unchanged;
}
