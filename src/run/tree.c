/*
 * tree.c: one step of a work item and of the children that its outstanding actions wait for. The
 * item is stepped first; each child then has its own step, and the array has the actions of all. A
 * child that has ended is the answer to its action, so that the item can go on in the same call.
 *
 * A child is an item like any other, next to the document of its parent. It is made, or found
 * again, by its id, and its document names the action that waits for it. So whatever is killed, the
 * next call finds the same children and records the same answers.
 */
#include "context/lease.h"
#include "src/base/clock.h"
#include "src/base/number.h"
#include "src/graph/manifest.h"
#include "src/machine/answer.h"
#include "src/machine/wait.h"
#include "src/merge/land.h"
#include "src/run/run_internal.h"
#include "src/run/status.h"
#include "src/sys/path.h"

struct tree {
	struct arena *arena;
	const struct run_step_call *call; /* of the item */
	json *own, *below;                /* actions to print: of the item, of its children */
	json *waits;                      /* the `done` of each child that waits */
	json *stepped;                    /* ids of the children that had their step */
	bool again;                       /* a child has ended: the item may go on */
};

static void tree_free(struct tree *t)
{
	json_free(&t->own);
	json_free(&t->below);
	json_free(&t->waits);
	json_free(&t->stepped);
}

/* ---- what belongs to whom ---- */

/* Those of the ids in `returned` that are of this item, or, with `below`, of it or its children;
 * NULL: none is. "" stands for all. */
static const char *select_returned(
	struct arena *a, const char *returned, const char *id, bool below)
{
	CLEANUP(buf_release) struct buf some = BUF_INIT;
	struct str rest = str_of(returned ? returned : ""), one;
	size_t n = strlen(id);

	if (!rest.n)
		return returned;
	while (str_next_item(&rest, &one))
		if (one.n > n && str_starts(one, id) &&
			(one.p[n] == '/' || (below && one.p[n] == '.')))
			buf_addf(&some, "%s%.*s", some.len ? "," : "", (int)one.n, one.p);
	return some.len ? arena_dup(a, buf_str(&some)) : NULL;
}

char *run_child_document(struct arena *a, const char *document, const char *item)
{
	return arena_printf(a, "%s/%s.md", arena_dup(a, path_dir(document)), item);
}

int run_child_workflow(struct arena *a, const char *parent, const char *name, const char *root,
	const char *repo, const char **path, struct error *err)
{
	bool relative = strchr(name, '/') || str_ends(str_of(name), ".md") ||
			manifest_is_path(str_of(name));

	while (str_starts(str_of(name), "./"))
		name += 2;
	return locate_workflow(a,
		relative ? path_join(a, arena_dup(a, path_dir(path_absolute(a, parent))), name)
			 : name,
		root, repo, path, err);
}

/* The item that the action `id` is of. */
static char *item_of(struct arena *a, const char *id)
{
	return arena_dup(a, (struct str){id, strcspn(id, "/")});
}

const char *run_parent_action(struct arena *a, const char *document)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct str parent, id;
	size_t n;

	if (!path_exists(document) || context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0)
		return NULL;
	parent = context_get(&f.doc, "parent");
	id = context_get(&f.doc, "work_item_id");
	n = strcspn(parent.p, "/");
	/* A longer name, so that nothing is above itself. */
	return parent.n && str_is(id, f.name) && id.n > n && id.p[n] == '.' &&
			       strncmp(id.p, parent.p, n) == 0
		       ? arena_dup(a, parent)
		       : NULL;
}

/* Of the item that waits for the item of this document; NULL: none does. */
static const char *document_above(struct arena *a, const char *document)
{
	const char *action = run_parent_action(a, document);

	return action ? run_child_document(a, document, item_of(a, action)) : NULL;
}

const char *run_above(struct arena *a, const char *document)
{
	const char *above = document_above(a, document),
		   *found = above ? run_above(a, above) : NULL;

	return found || !above || !status_run_active(a, above)
		       ? found
		       : item_of(a, run_parent_action(a, document));
}

const char *run_top_document(struct arena *a, const struct context_file *f)
{
	struct str parent = context_get(&f->doc, "parent");
	const char *top = arena_dup(a, str_of(f->path)), *above = NULL;

	if (parent.n)
		above = run_child_document(a, top, item_of(a, parent.p));
	for (; above; above = document_above(a, above))
		top = above;
	return top;
}

/* The document of `item`, if that is below the item of the call; else that of the call, to which
 * its actions are foreign. */
static const char *document_below(
	struct arena *a, const struct run_step_call *call, const char *item)
{
	const char *document = run_child_document(a, call->context_file, item), *at = document,
		   *action;

	while ((action = run_parent_action(a, at))) {
		const char *above = item_of(a, action);

		if (strcmp(above, call->id) == 0)
			return document;
		at = run_child_document(a, at, above);
	}
	return call->context_file;
}

/* Ids of one item that follow each other read its document once. */
struct returned_check {
	struct arena *arena;
	const struct run_step_call *call;
	struct context_file file;
	const char *item; /* of the file; NULL: none is open */
};

static int open_returned(struct returned_check *k, const char *item, struct error *err)
{
	if (k->item && strcmp(k->item, item) == 0)
		return 0;
	if (k->item)
		context_close(&k->file);
	k->item = item;
	return context_open(&k->file, document_below(k->arena, k->call, item), CONTEXT_READ_ONLY,
		       err) < 0
		       ? -1
		       : context_read_counts(&k->file, err);
}

static int check_returned_one(struct returned_check *k, const char *id, struct error *err)
{
	const char *item = item_of(k->arena, id);
	struct str part;

	if (!path_is_id(str_of(item)) || !action_number(id, &part))
		return error_set(err, ERR_USAGE,
			"--returned: '%.60s' is not an action id: use "
			"--returned=ITEM/PART/N[,...], "
			"or --returned alone for all outstanding actions",
			id);
	if (!path_exists(k->call->context_file))
		return error_set(err, ERR_STATE, "'%s' does not exist yet: nothing is outstanding",
			k->call->context_file);
	return open_returned(k, item, err) < 0 ? -1 : answer_check_requested(&k->file, id, err);
}

int run_check_returned(struct arena *a, const struct run_step_call *call, struct error *err)
{
	struct returned_check k = {.arena = a, .call = call};
	struct str rest = str_of(call->returned), one;
	int rc = 0;

	if (!rest.n)
		return 0;
	while (rc == 0 && str_next_item(&rest, &one))
		rc = check_returned_one(&k, arena_dup(a, one), err);
	if (k.item)
		context_close(&k.file);
	return rc;
}

/* ---- the beginning of a child ---- */

static int check_depth(struct tree *t, const char *item, struct error *err)
{
	const char *document = t->call->context_file;
	unsigned depth = 1;
	unsigned cap;

	if (run_read_cap(RUN_DEPTH_VARIABLE, &cap, err) < 0)
		return -1;
	cap = cap < RUN_DEPTH_MAX ? cap : RUN_DEPTH_MAX;
	for (; depth <= cap && (document = document_above(t->arena, document)); depth++)
		;
	return depth > cap ? error_set(err, ERR_INPUT,
				     "'%s' would be a child at depth %u: at most %u are allowed",
				     item, depth, cap)
			   : 0;
}

/* What the child works on: its task, else what its parent works on, and the sections that it reads.
 */
static int tree_write_spec(struct tree *t, const json *action, const char **spec, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	const char *task = json_get_str(action, "task");

	if (context_open(&f, t->call->context_file, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	buf_add(&text, task ? str_of(task) : context_section(&f.doc, CONTEXT_SPEC));
	for (const json *r = json_first(json_get(action, "read_sections")); r; r = json_next(r)) {
		struct str section = context_section(&f.doc, json_text(r));

		if (section.n)
			buf_addf(&text, "%s## %s\n\n%s", text.len ? "\n\n" : "", json_text(r),
				section.p);
	}
	if (!text.len)
		return error_set(err, ERR_INPUT,
			"the child '%s' gets no task: '%s' has neither a section '" CONTEXT_SPEC
			"' nor what it reads",
			json_get_str(action, "item"), t->call->context_file);
	*spec = arena_dup(t->arena, buf_str(&text));
	return 0;
}

/* ---- the end of a child ---- */

/* What the agents that go on need to know: why, the branch, and what failed last; of a node of a
 * manifest (else NULL) its answer. */
static int describe_end(struct arena *a, const struct run_step_call *child, const char *node,
	const json *done, struct buf *text, bool *hard, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct item_place place;
	struct str failure, payload = {0};

	if (context_open(&f, child->context_file, CONTEXT_READ_ONLY, err) < 0 ||
		place_load(a, &f, &place, err) < 0)
		return -1;
	buf_addf(text, "%s: %s\n", child->id, json_get_str(done, "reason"));
	if (place.branch)
		buf_addf(text, "Branch: %s\n", place.branch);
	*hard = context_get(&f.doc, "failed_node").n > 0;
	failure = context_section(&f.doc, CONTEXT_LAST_FAILURE);
	if (json_str_is(done, "result", "failed"))
		payload = failure;
	else if (node)
		payload = context_section(&f.doc, node);
	if (payload.n)
		buf_addf(text, "\n%s\n", payload.p);
	return 0;
}

void run_return_worktree(struct arena *a, const struct run_step_call *call, struct str landed)
{
	CLEANUP(pool_close) struct pool pool = {0};
	const struct pool_choice choice = {.repo = call->repo,
		.resources = call->worktree ? call->worktree->resources : NULL,
		.artifacts = call->worktree ? call->worktree->artifacts : NULL};
	const char *target = arena_dup(a, str_sub(landed, 0, str_find(landed, STR(" as ")))),
		   *kept = NULL;
	struct item_place place;
	struct error err = {0};
	bool removed;

	if (place_read(a, call->context_file, &place, &err) < 0 || !place.branch ||
		place.in_place || locate_pool(a, &choice, &pool, &err) < 0)
		return;
	if (!landed.n)
		(void)pool_reclaim(a, &pool, place.branch, false, &removed, &err);
	else if (land_return(a, &pool, place.branch, target, &kept, &err) < 0 || kept)
		error_log("dev-team: the worktree of '%s' stays: %s", call->id,
			kept ? kept : err.text);
}

static int record_end(struct tree *t, const struct run_step_call *child, const json *action,
	const json *done, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct answer_offer offer = {.id = child->parent, .owner = t->call->owner, .ran = true};
	bool hard;

	if (describe_end(t->arena, child, json_get_str(action, "node"), done, &text, &hard, err) <
			0 ||
		context_open(&f, t->call->context_file, CONTEXT_MUST_EXIST, err) < 0)
		return -1;
	offer.text = buf_str(&text);
	/* The failure of a node that works in a worktree of its own is one of the manifest. */
	offer.word = hard && action_accepts(action, STR("failure")) ? "failure"
								    : json_get_str(done, "result");
	t->again = true;
	if (answer_record(&f, &offer, err) < 0)
		return -1;
	if (json_get(action, "node") && json_str_is(done, "result", "success"))
		run_return_worktree(t->arena, child, (struct str){0});
	return 0;
}

/* ---- the step of a child ---- */

static void tree_add_wait(json *waits, const struct run_step_call *child, const json *done)
{
	json *wait = JSON_OBJECT(JSON_TEXT("item", child->id));

	for (const json *m = json_first(done); m; m = json_next(m))
		if (strcmp(json_key(m), "action") != 0 && strcmp(json_key(m), "result") != 0)
			json_set(wait, json_key(m), json_copy(m));
	json_set(wait, "context_file", json_string(str_of(child->context_file)));
	if (!json_get(wait, "until") && !json_get(wait, "for"))
		json_put_str(wait, "for", STR("answer"));
	json_push(waits, wait);
}

/* Another session may go on with it. */
static bool tree_is_held(const struct run_step_call *child, const struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct lease_holder h;

	return err->code == ERR_STATE &&
	       context_open(&f, child->context_file, CONTEXT_READ_ONLY, &ignored) == 0 &&
	       context_open_keys(&f, &ignored) == 0 && lease_read(&f, &h, &ignored) == 0 &&
	       h.live && !run_step_holds(child, &h);
}

int run_step_shared(struct arena *a, const struct run_step_call *call, json *actions, json *waits,
	json **done, struct error *err)
{
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	CLEANUP(json_free) json *array = NULL, *held = NULL;

	*done = NULL;
	if (run_step(a, call, &line, err) < 0) {
		if (!tree_is_held(call, err))
			return -1;
		held = JSON_OBJECT(JSON_TEXT("reason", err->text), JSON_TEXT("for", "owner"));
		tree_add_wait(waits, call, held);
		*err = (struct error){0};
		return 0;
	}
	if (json_parse(&array, buf_str(&line), err) < 0)
		return -1;
	if (!json_str_is(json_first(array), "action", "done"))
		for (const json *i = json_first(array); i; i = json_next(i))
			json_push(actions, json_copy(i));
	else if (*call->ended)
		*done = json_copy(json_first(array));
	else
		tree_add_wait(waits, call, json_first(array));
	return 0;
}

static struct run_step_call child_call(struct tree *t, const json *action)
{
	struct run_step_call child = *t->call;

	child.id = json_dup(t->arena, action, "item");
	child.parent = json_dup(t->arena, action, "id");
	child.context_file = run_child_document(t->arena, t->call->context_file, child.id);
	child.returned = select_returned(t->arena, t->call->returned, child.id, true);
	child.own_worktree = true;
	child.in_place = child.allow_dirty = child.idle = false;
	child.workflow = child.base = child.spec = NULL;
	child.results = NULL;
	child.worktree = NULL;
	child.ended = child.ordered = NULL;
	child.remedy = NULL;
	return child;
}

/* The work of a node begins at that of its parent, or of its last attempt. */
static int tree_find_base(struct tree *t, const json *action, const char **base, struct error *err)
{
	const char *item = json_get_str(action, "item"), *dot = strrchr(item, '.');
	struct item_place place = {0};
	uint64_t n = 0;

	if (dot && number_parse(str_of(dot + 1), 2, RUN_ATTEMPTS_MAX, &n)) {
		const char *last = arena_printf(t->arena, n > 2 ? "%.*s.%u" : "%.*s",
			(int)(dot - item), item, (unsigned)n - 1);

		const char *document = run_child_document(t->arena, t->call->context_file, last);

		if (path_exists(document) && place_read(t->arena, document, &place, err) < 0)
			return -1;
	}
	if (!place.branch && place_read(t->arena, t->call->context_file, &place, err) < 0)
		return -1;
	*base = place.branch;
	return 0;
}

static int step_child(struct tree *t, const json *action, struct error *err)
{
	CLEANUP(json_free) json *done = NULL;
	const struct run_worktree *up = t->call->worktree;
	struct run_step_call child = child_call(t, action);
	struct run_worktree worktree = {0};
	bool ended = false;

	if (up) /* nobody holds it: the run of the parent does */
		worktree = (struct run_worktree){.pool = up->pool,
			.resources = up->resources,
			.artifacts = up->artifacts,
			.target = up->target};
	child.worktree = up ? &worktree : NULL;
	child.ended = &ended;
	if (json_get(action, "node")) {
		worktree.parent = up && up->of.path ? up->of.branch : NULL;
		if (tree_find_base(t, action, &child.base, err) < 0)
			return -1;
	}
	if (run_child_workflow(t->arena, t->call->workflow, json_get_str(action, "workflow"),
		    child.plugin_root, child.repo, &child.workflow, err) < 0)
		return error_prefix(err, "child '%s'", child.id);
	if (!path_exists(child.context_file) &&
		(check_depth(t, child.id, err) < 0 ||
			tree_write_spec(t, action, &child.spec, err) < 0))
		return -1;
	if (run_step_shared(t->arena, &child, t->below, t->waits, &done, err) < 0)
		return -1;
	return done ? record_end(t, &child, action, done, err) : 0;
}

/* ---- the step of the item ---- */

/* The lease is not taken before it is known that something can be carried out. */
static int step_own(struct tree *t, bool first, struct buf *line, struct error *err)
{
	struct run_step_call call = *t->call;

	call.returned = first ? select_returned(t->arena, call.returned, call.id, false) : NULL;
	call.idle = first;
	if (!first) {
		call.results = NULL;
		call.take_over = false;
	}
	buf_clear(line);
	return run_step_item(t->arena, &call, line, err);
}

static int step_children(struct tree *t, struct str line, struct error *err)
{
	CLEANUP(json_free) json *array = NULL;

	if (json_parse(&array, line, err) < 0)
		return -1;
	json_free(&t->own);
	t->own = json_array();
	for (const json *a = json_first(array); a; a = json_next(a)) {
		const char *item = json_get_str(a, "item");

		if (action_kind(a) != ACTION_CHILD) {
			json_push(t->own, json_copy(a));
		} else if (!json_get(t->stepped, item)) {
			json_put_bool(t->stepped, item, true);
			if (step_child(t, a, err) < 0)
				return -1;
		}
	}
	return 0;
}

json *run_waiting(const json *waits, size_t unlisted)
{
	CLEANUP(buf_release) struct buf reason = BUF_INIT;
	const char *until = NULL, *first = json_get_str(json_first(waits), "for");

	for (const json *w = json_first(waits); w; w = json_next(w)) {
		const char *time = json_get_str(w, "until");

		buf_adds(&reason, reason.len ? "; " : "");
		if (!json_str_is(w, "for", "owner")) /* it names the item itself */
			buf_addf(&reason, "'%s': ", json_get_str(w, "item"));
		buf_adds(&reason, json_get_str(w, "reason"));
		if (time && (!until || strcmp(time, until) < 0))
			until = time;
	}
	if (unlisted)
		buf_addf(&reason, "; %zu others have not begun: 'dev-team status' says why",
			unlisted);
	return JSON_OBJECT(JSON_TEXT("action", "done"), JSON_TEXT("result", "waiting"),
		JSON_TEXT("reason", reason.s), JSON_IF(until, JSON_TEXT("until", until)),
		JSON_IF(!until, JSON_TEXT("for", first)), JSON_VALUE("children", json_copy(waits)));
}

bool run_still_waits(const char *document, const json *done)
{
	CLEANUP(context_close) struct context_file f = {0};
	const json *children = json_get(done, "children");
	bool approval = json_str_is(done, "for", "approval"), asks = json_get(done, "question");
	struct error ignored;

	for (const json *c = json_first(children); c; c = json_next(c))
		if (!run_still_waits(json_get_str(c, "context_file"), c))
			return false;
	if (children || (json_get(done, "for") && !approval && !asks))
		return true;
	if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0)
		return false;
	if (approval)
		return action_awaits_approval(&f.doc);
	return asks ? context_get(&f.doc, "question").n &&
			       !context_get(&f.doc, "troubleshooter_input").n
		    : wait_is_open(&f.doc, clock_now());
}

/* Nothing can be done but what people, time or other sessions do. */
static void print_waiting(struct tree *t, struct buf *out)
{
	CLEANUP(json_free) json *array = json_array();
	json *done = run_waiting(t->waits, 0);
	bool until = json_get(done, "until");
	const char *next = until ? run_step_continuation(t->arena, t->call, NULL)
				 : json_get_str(json_first(t->waits), "continue");

	JSON_ADD(done, JSON_IF(next && !(until && t->call->in_run), JSON_TEXT("continue", next)));
	json_push(array, done);
	json_print(out, array);
	if (t->call->owner)
		run_step_release_lease(t->call);
}

/* Takes the lease, if that was left until now. */
static int hold(struct tree *t, struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct run_step_call call = *t->call;
	struct lease_holder h;

	if (!call.owner)
		return 0;
	if (context_open(&f, call.context_file, CONTEXT_READ_ONLY, err) < 0 ||
		lease_read(&f, &h, err) < 0)
		return -1;
	call.returned = NULL;
	call.results = NULL;
	return h.owner ? 0 : run_step_item(t->arena, &call, &line, err);
}

static int print_all(struct tree *t, struct buf *out, struct error *err)
{
	for (const json *a = json_first(t->below); a; a = json_next(a))
		json_push(t->own, json_copy(a));
	if (!json_len(t->own)) {
		print_waiting(t, out);
		return 0;
	}
	json_print(out, t->own);
	return hold(t, err);
}

int run_step(struct arena *a, const struct run_step_call *call, struct buf *out, struct error *err)
{
	struct run_step_call own = *call;
	CLEANUP(tree_free)
	struct tree t = {.arena = a,
		.call = &own,
		.below = json_array(),
		.waits = json_array(),
		.stepped = json_object()};
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	bool first = true;

	if (!call->in_run && !call->run && !call->cancel &&
		run_quota_session(a, call, &own.run, err) < 0)
		return -1;
	do {
		t.again = false;
		if (step_own(&t, first, &line, err) < 0)
			return -1;
		if (!strstr(line.s, action_rows[ACTION_CHILD].name)) {
			buf_add(out, buf_str(&line));
			return 0;
		}
		if (step_children(&t, buf_str(&line), err) < 0)
			return -1;
		first = false;
	} while (t.again);
	return print_all(&t, out, err);
}

/* ---- what is outstanding ---- */

struct outstanding_walk {
	struct run_outstanding *out;
	struct arena arena;
	struct str owner; /* of the item at the top; empty: none */
	size_t due;       /* a step would change something */
	size_t held;      /* children that wait for others */
};

/* `item`: the item whose document this must be; NULL: at the top. Without the check, a copied
 * document that names itself as its child would be read for ever. `held`: another session carries
 * out the actions. */
static int walk_item(struct outstanding_walk *w, const char *document, const char *item, bool held,
	struct error *err);

static int walk_actions(
	struct outstanding_walk *w, struct context_file *f, bool held, struct error *err)
{
	CLEANUP(json_free) json *all = NULL;
	struct item_place place;

	if (action_load(&f->doc, &all, err) < 0 || place_load(&w->arena, f, &place, err) < 0)
		return -1;
	for (const json *i = json_first(all); i; i = json_next(i)) {
		bool answered = action_answered(&f->doc, i);

		w->due += answered && !held && !json_get(i, "carried");
		if (action_kind(i) == ACTION_CHILD && !answered) {
			const char *item = json_get_str(i, "item");

			if (walk_item(w, run_child_document(&w->arena, f->path, item), item, held,
				    err) < 0)
				return -1;
			continue;
		}
		if (action_kind(i) == ACTION_CHILD)
			continue;
		json_push(answered || held ? w->out->rest : w->out->open,
			action_complete(f, &place, i));
	}
	w->due += !held && !json_len(all);
	return 0;
}

static bool is_held_up(struct outstanding_walk *w, struct context_file *f)
{
	struct error ignored;
	struct lease_holder h;

	return context_get(&f->doc, "question").n || wait_is_open(&f->doc, f->now) ||
	       action_awaits_approval(&f->doc) ||
	       (lease_read(f, &h, &ignored) == 0 && h.live && !str_is(w->owner, h.owner));
}

static int walk_item(struct outstanding_walk *w, const char *document, const char *item, bool held,
	struct error *err)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct lease_holder h;
	struct str id;

	if (item && !path_exists(document)) {
		w->due++;
		return 0;
	}
	if (context_open(&f, document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	id = context_get(&f.doc, "work_item_id");
	if (item && !str_is(id, item))
		return error_set(err, ERR_STATE, "'%s' belongs to work item '%s', not to '%s'",
			document, id.p, item);
	if (!item) {
		if (lease_read(&f, &h, err) < 0)
			return -1;
		if (h.owner)
			w->owner = arena_str(&w->arena, str_of(h.owner));
	} else if (!held && is_held_up(w, &f)) {
		w->held++;
		held = true;
	}
	return walk_actions(w, &f, held, err);
}

int run_outstanding_load(const char *document, struct run_outstanding *o, struct error *err)
{
	struct outstanding_walk w = {.out = o};
	int rc;

	*o = (struct run_outstanding){.open = json_array(), .rest = json_array()};
	rc = walk_item(&w, document, NULL, false, err);
	/* A step that found nothing to do has released the lease. */
	o->waits = w.held && !json_len(o->open) && (!w.due || !w.owner.n);
	arena_release(&w.arena);
	return rc;
}

void run_outstanding_free(struct run_outstanding *o)
{
	json_free(&o->open);
	json_free(&o->rest);
}

bool run_is_outstanding(const char *document, const char *id)
{
	CLEANUP(run_outstanding_free) struct run_outstanding o = {0};
	struct error ignored;

	return run_outstanding_load(document, &o, &ignored) < 0 || action_find(o.open, id) ||
	       action_find(o.rest, id);
}

/* ---- children that have begun ---- */

/* Of one name: `ID.NAME`, `ID.NAME.2` and so on. */
static void add_attempts(struct arena *a, const struct context_file *f, const char *first,
	unsigned long n, struct run_begun_list *out)
{
	unsigned long from = n > RUN_ATTEMPTS_MAX ? n - RUN_ATTEMPTS_MAX + 1 : 1;

	for (unsigned long i = from; i <= n; i++) {
		const char *id = i == 1 ? first : arena_printf(a, "%s.%lu", first, i);
		const char *document = run_child_document(a, f->path, id);
		const char *action = run_parent_action(a, document);

		if (action && str_is(context_get(&f->doc, "work_item_id"), item_of(a, action)))
			vec_push_in(a, out, ((struct run_begun){id, document, action}));
	}
}

struct run_begun_list run_begun_children(struct arena *a, const struct context_file *f)
{
	static const char prefix[] = "child.";
	CLEANUP(json_free) json *attempts = context_attempts_json(&f->doc);
	struct str id = context_get(&f->doc, "work_item_id");
	struct run_begun_list list = {0};

	for (const json *n = json_first(attempts); n; n = json_next(n))
		if (str_starts(str_of(json_key(n)), prefix))
			add_attempts(a, f,
				arena_printf(a, "%s.%s", id.p, json_key(n) + strlen(prefix)),
				(unsigned long)json_number(n, 0), &list);
	return list;
}

/* ---- cancel ---- */

static int end_child(struct tree *t, const struct run_begun *c, struct error *err)
{
	CLEANUP(json_free)
	json *of = JSON_OBJECT(JSON_TEXT("item", c->id), JSON_TEXT("id", c->action));
	CLEANUP(context_close) struct context_file f = {0};
	CLEANUP(buf_release) struct buf line = BUF_INIT;
	struct run_step_call child = child_call(t, of);

	child.cancel = true;
	child.returned = NULL;
	child.accept_workflow = false;
	if (context_open(&f, c->document, CONTEXT_READ_ONLY, err) < 0)
		return -1;
	if (context_get(&f.doc, "outcome").n) /* it has ended already */
		return 0;
	return run_step_workflow(t->arena, c->document, child.repo, &child.workflow, err) < 0 ||
			       locate_workflow(t->arena, child.workflow, child.plugin_root,
				       child.repo, &child.workflow, err) < 0
		       ? -1
		       : run_step_item(t->arena, &child, &line, err);
}

static void log_unneeded(
	const struct run_step_call *call, const struct run_begun *c, const struct error *why)
{
	CLEANUP(buf_release) struct buf how = BUF_INIT;

	status_add_address(&how, c->id, c->document, call->repo);
	status_add_repository(&how, call->repo);
	error_log(
		"dev-team: nothing waits for the child '%s' any more, and it cannot be ended: %s; "
		"to end it: dev-team cancel %s",
		c->id, why->text, how.s);
}

int run_end_children(struct arena *a, const struct run_step_call *call,
	const struct context_file *f, bool all, struct error *err)
{
	struct run_begun_list begun = run_begun_children(a, f);
	struct tree t = {.arena = a, .call = call};
	CLEANUP(json_free) json *outstanding = NULL;
	struct error why;

	if (action_load(&f->doc, &outstanding, err) < 0)
		return -1;
	for (size_t i = 0; i < begun.n; i++) {
		const struct run_begun *c = &begun.items[i];

		if (all && end_child(&t, c, err) < 0)
			return -1;
		if (!all && !action_find(outstanding, c->action) && end_child(&t, c, &why) < 0)
			log_unneeded(call, c, &why);
	}
	return 0;
}

bool run_is_cancelled(const char *document, const char *id)
{
	CLEANUP(context_close) struct context_file f = {0};
	struct error ignored;
	struct str rest, one;

	if (context_open(&f, document, CONTEXT_READ_ONLY, &ignored) < 0)
		return false;
	rest = context_get(&f.doc, "cancelled");
	while (arena_shell_word(&f.arena, &rest, &one))
		if (str_is(one, id))
			return true;
	return false;
}
