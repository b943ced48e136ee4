#include "src/base/clock.h"
#include "src/review/classifier.h"

struct asked {
	const struct feedback *f;
	const char *artifacts;
	struct str hit; /* the line in the text */
	json *line;     /* the same, read */
};

/* The number in pr.json; 0: there is none. */
static int64_t pr_of_issue(const char *artifacts, const char *issue)
{
	CLEANUP(json_free) json *pr = NULL;
	struct error none;

	if (artifact_read(artifacts, issue, "pr.json", &pr, &none) < 0)
		return 0;
	return json_get_int(pr, "number", 0);
}

static bool concerns(const struct asked *q, const json *line)
{
	const char *issue = json_get_str(line, "issueId");
	int64_t pr = json_get_int(line, "prNumber", 0);

	if (!issue || (q->f->issue && strcmp(q->f->issue, issue) != 0))
		return false;
	if (q->f->issue)
		return true;
	return pr ? pr == q->f->pr : pr_of_issue(q->artifacts, issue) == q->f->pr;
}

/* The newest one; lines that are none are left as they are. */
static void find_line(struct asked *q, struct str text)
{
	while (text.n) {
		CLEANUP(json_free) json *j = NULL;
		size_t end = str_find(text, STR("\n"));
		struct str line = str_sub(text, 0, end);
		struct error odd;

		text = str_sub(text, end < text.n ? end + 1 : end, text.n);
		if (json_parse(&j, line, &odd) < 0 || !json_is_object(j) || !concerns(q, j))
			continue;
		json_free(&q->line);
		q->line = j;
		q->hit = line;
		j = NULL;
	}
}

static json *note_json(const struct feedback *f)
{
	json *j = json_object();
	char now[CLOCK_TEXT];

	clock_text(clock_now(), now);
	json_put_str(j, "addedReviewer", str_of(reviewer_word(f->added)));
	json_put_str(j, "reason", str_of(f->reason));
	if (f->pr)
		json_put_int(j, "prNumber", f->pr);
	else
		json_put_null(j, "prNumber");
	json_put_str(j, "attributedAt", str_of(now));
	return j;
}

/* The number that is known of the issue already must be the one that is given. */
static int check_pr(const struct asked *q, struct error *err)
{
	const char *issue = json_get_str(q->line, "issueId");
	int64_t known = json_get_int(q->line, "prNumber", 0);

	if (!known)
		known = pr_of_issue(q->artifacts, issue);
	if (!q->f->pr || !known || known == q->f->pr)
		return 0;
	return error_set(err, ERR_STATE, "pull request %u is not the one of '%s': that is %lld",
		q->f->pr, issue, (long long)known);
}

static int edit(void *data, struct str old, struct buf *fresh, struct error *err)
{
	struct asked *q = data;
	const json *note;
	size_t at;

	find_line(q, old);
	if (!q->line && q->f->issue)
		return error_set(err, ERR_STATE, "no classification of '%s'", q->f->issue);
	if (!q->line)
		return error_set(err, ERR_STATE, "no classification of pull request %u", q->f->pr);
	if (check_pr(q, err) < 0)
		return -1;
	note = json_get(q->line, "humanOverrideAfterMerge");
	if (note && !json_is_null(note))
		return error_set(err, ERR_STATE,
			"the newest classification of '%s' has its feedback already",
			json_get_str(q->line, "issueId"));
	at = (size_t)(q->hit.p - old.p);
	json_set(q->line, "humanOverrideAfterMerge", note_json(q->f));
	buf_add(fresh, str_sub(old, 0, at));
	json_print(fresh, q->line);
	buf_add(fresh, str_sub(old, at + q->hit.n, old.n));
	return 0;
}

int classifier_feedback(const char *artifacts, const struct feedback *f, struct error *err)
{
	struct asked q = {.f = f, .artifacts = artifacts};
	int rc;

	if (!f->issue && !f->pr)
		return error_set(err, ERR_USAGE, "feedback needs an issue or a pull request");
	rc = artifact_edit(artifacts, CLASSIFIER_SCOPE, CALIBRATION_LOG, edit, &q, err);

	json_free(&q.line);
	return rc;
}
