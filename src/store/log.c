#include "src/store/file/internal.h"
#include "src/store/log.h"

struct log_document {
	const char *key;
	struct buf text;
	bool there, known; /* known: false until its first whole text, in a compacted journal */
};

struct store_log {
	struct arena arena;
	struct buf text;
	const char *path;
	size_t at, end; /* of the next line; of the last commit */
	unsigned line;
	size_t begin; /* of what the next commit's checksum covers */
	unsigned begin_line;
	int64_t shift, rev;
	json *events, *head;
	VEC(struct log_document) documents;
	struct buf spare;
};

/* ---- open ---- */

static int load(struct store_log *l, struct disk_file *f, struct error *err)
{
	CLEANUP(journal_release) struct journal j = {.file = f, .path = l->path};
	int64_t size;
	struct str rest, line;

	if (f->ops->size(f, &size, err) < 0)
		return -1;
	if (!size)
		return 0;
	if (journal_find_tail(&j, size, err) < 0 ||
		f->ops->pread(f, 0, (size_t)size, &l->text, err) < 0)
		return -1;
	l->end = (size_t)j.end;
	/* A complete commit line with a wrong checksum is damage, not what a kill leaves. */
	for (rest = str_sub(buf_str(&l->text), l->end, l->text.len); str_line(&rest, &line);)
		if (str_starts(line, FILE_COMMIT) && rest.p[-1] == '\n')
			l->end = l->text.len - rest.n;
	return 0;
}

int store_log_open(struct store_log **out, struct disk *disk, const char *dir, const char *name,
	struct error *err)
{
	struct store_log *l = xmalloc(sizeof(*l));
	struct disk_file *f = NULL;
	bool there;
	int rc;

	*l = (struct store_log){0};
	*out = l;
	l->path = arena_printf(&l->arena, "%s/%s.events.jsonl", dir, name);
	rc = disk->ops->exists(disk, l->path, &there, err);
	if (rc == 0 && !there)
		rc = error_set(err, ERR_INPUT, "no journal '%s'", l->path);
	if (rc == 0)
		rc = disk->ops->open(disk, l->path, false, NULL, &f, err);
	if (rc == 0)
		rc = load(l, f, err);
	if (f)
		f->ops->close(f);
	if (rc < 0)
		store_log_close(out);
	return rc;
}

void store_log_close(struct store_log **l)
{
	if (!*l)
		return;
	for (size_t i = 0; i < (*l)->documents.n; i++)
		buf_release(&(*l)->documents.items[i].text);
	json_free(&(*l)->events);
	json_free(&(*l)->head);
	buf_release(&(*l)->text);
	buf_release(&(*l)->spare);
	arena_release(&(*l)->arena);
	free(*l);
	*l = NULL;
}

/* ---- documents ---- */

static struct log_document *document_of(struct store_log *l, const char *key)
{
	for (size_t i = 0; i < l->documents.n; i++)
		if (strcmp(l->documents.items[i].key, key) == 0)
			return &l->documents.items[i];
	vec_push_in(&l->arena, &l->documents,
		(struct log_document){
			.key = arena_dup(&l->arena, str_of(key)), .known = !l->shift});
	return &l->documents.items[l->documents.n - 1];
}

static bool has_sum(const struct buf *text, const char *sum)
{
	char is[DIGEST_TEXT];

	digest_text(buf_str(text), is);
	return strcmp(is, sum) == 0;
}

static bool is_whole(const json *delta)
{
	for (const json *i = json_first(delta); i; i = json_next(i))
		if (json_is_array(i))
			return false;
	return true;
}

static int change(struct store_log *l, const json *j, struct error *err)
{
	const char *key = json_get_str(j, "key"), *from = json_get_str(j, "from"),
		   *to = json_get_str(j, "to");
	const json *delta = json_get(j, "delta");
	struct log_document *d = key ? document_of(l, key) : NULL;
	struct buf swap;

	if (!d)
		return error_set(err, ERR_INPUT, "a change without a key");
	if (d->known && (d->there != (from != NULL) || (from && !has_sum(&d->text, from))))
		return error_set(err, ERR_INPUT,
			"a change of '%s' that does not start from its last text", key);
	d->there = to != NULL;
	buf_clear(&l->spare);
	if (to && (d->known || is_whole(delta))) {
		d->known = true;
		if (delta_apply(delta, buf_str(&d->text), &l->spare, err) < 0)
			return -1;
		if (!has_sum(&l->spare, to))
			return error_set(
				err, ERR_INPUT, "a change of '%s' with a wrong checksum", key);
	}
	swap = d->text;
	d->text = l->spare;
	l->spare = swap;
	return 0;
}

/* ---- lines ---- */

static int damaged(struct store_log *l, unsigned line, const char *what, struct error *err)
{
	return error_at(err, l->path, line, 1, "%s", what);
}

static int read_line(struct store_log *l, struct str text, unsigned line, struct error *err)
{
	CLEANUP(json_free) json *j = NULL;
	struct error why;

	if (json_parse(&j, text, &why) < 0)
		return damaged(l, line, why.text, err);
	if (str_starts(text, FILE_CHANGE)) {
		if (change(l, j, &why) < 0)
			return damaged(l, line, why.text, err);
	} else {
		json_push(l->events, j);
		j = NULL;
	}
	return 0;
}

/* The lines before the commit's own. */
static int read_lines(struct store_log *l, struct str lines, unsigned n, struct error *err)
{
	struct str line;

	for (; str_line(&lines, &line) && !str_starts(line, FILE_COMMIT); n++)
		if (!str_starts(line, FILE_HEADER) && read_line(l, line, n, err) < 0)
			return -1;
	return 0;
}

static unsigned count_lines(struct str s)
{
	struct str line;
	unsigned n = 0;

	while (str_line(&s, &line))
		n++;
	return n;
}

/* ---- a transaction ---- */

/* The next commit line, and where it ends; l->at when there is none. */
static size_t find_commit(const struct store_log *l, struct str *commit)
{
	struct str rest = str_sub(buf_str(&l->text), l->at, l->end);

	while (str_line(&rest, commit))
		if (str_starts(*commit, FILE_COMMIT))
			return l->end - rest.n;
	return l->at;
}

static int check_sum(struct store_log *l, struct str commit, struct error *err)
{
	char is[DIGEST_TEXT], what[160];
	size_t n;
	const char *sum = journal_line_sum(commit, &n);

	digest_text((struct str){l->text.s + l->begin,
			    (size_t)(commit.p - l->text.s) - l->begin + (sum ? n : 0)},
		is);
	if (sum && memcmp(is, sum, DIGEST_TEXT - 1) == 0)
		return 0;
	(void)snprintf(what, sizeof(what), "damaged: lines %u to %u have a wrong checksum",
		l->begin_line + 1, l->line);
	return damaged(l, l->line, what, err);
}

static int check_head(struct store_log *l, const json *head, struct str commit, struct error *err)
{
	int64_t rev = json_get_int(head, "commit", 0);
	int64_t from = json_get_int(head, "from", -1), at = json_get_int(head, "at", -1);

	if (rev <= l->rev)
		return damaged(l, l->line, "damaged: a revision is repeated", err);
	if (from != (int64_t)l->begin + l->shift || at != commit.p - l->text.s + l->shift)
		return damaged(l, l->line, "damaged: lines are missing before this one", err);
	l->rev = rev;
	return 0;
}

/* ---- what the reader gets ---- */

static const char *changed_document(const json *head)
{
	const json *put = json_first(json_get(head, "doc"));
	const char *key = put ? json_key(put) : NULL;

	for (const json *i = put ? NULL : json_first(json_get(head, "del")); i; i = json_next(i))
		if (json_text(i) && store_key_is_document(json_text(i)))
			key = json_text(i);
	return key;
}

static void fill(const struct store_log *l, struct store_commit *c, const json *head, size_t at)
{
	*c = (struct store_commit){.rev = l->rev,
		.head = head,
		.note = json_get(head, "note"),
		.ts = json_get_str(head, "ts"),
		.actor = json_get_str(head, "actor"),
		.document_key = changed_document(head),
		.lines = str_sub(buf_str(&l->text), at, l->at)};
	c->removed = c->document_key && !json_first(json_get(head, "doc"));
}

/* The first line of a compacted journal. */
static int read_header(struct store_log *l, struct error *err)
{
	CLEANUP(json_free) json *head = NULL;
	struct str rest = str_sub(buf_str(&l->text), 0, l->end), line;
	struct error ignored;
	int64_t kept;

	if (!str_line(&rest, &line) || json_parse(&head, line, &ignored) < 0)
		return 0;
	kept = json_get_int(head, "kept", 0);
	if (!kept)
		return 0;
	if (!str_starts(line, FILE_HEADER))
		return damaged(l, 1, "damaged: bad first line", err);
	l->at = l->begin = l->end - rest.n;
	l->line = l->begin_line = 1;
	l->shift = kept - (int64_t)l->begin;
	return 0;
}

int store_log_next_head(struct store_log *l, struct store_commit *c, json **head, struct error *err)
{
	struct error why;
	struct str commit;
	size_t at, to;

	*head = NULL;
	if (!l->at && read_header(l, err) < 0)
		return -1;
	at = l->at;
	to = find_commit(l, &commit);
	if (to == at)
		return 0;
	l->line += count_lines(str_sub(buf_str(&l->text), at, to));
	l->at = to;
	if (check_sum(l, commit, err) < 0)
		return -1;
	if (json_parse(head, commit, &why) < 0)
		return damaged(l, l->line, why.text, err);
	if (check_head(l, *head, commit, err) < 0) {
		json_free(head);
		return -1;
	}
	fill(l, c, *head, at);
	l->begin = to;
	l->begin_line = l->line;
	return 1;
}

int store_log_next(struct store_log *l, struct store_commit *c, struct error *err)
{
	unsigned line;
	int rc;

	json_free(&l->events);
	json_free(&l->head);
	l->events = json_array();
	rc = store_log_next_head(l, c, &l->head, err);
	if (rc <= 0)
		return rc;
	line = l->line - count_lines(c->lines) + 1;
	if (read_lines(l, c->lines, line, err) < 0)
		return -1;
	c->events = l->events;
	if (c->document_key && !c->removed)
		c->document = buf_str(&document_of(l, c->document_key)->text);
	return 1;
}
