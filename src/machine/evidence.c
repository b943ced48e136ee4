/*
 * evidence.c: checks what answers claim. A step's decide() names the claims. A contradiction makes
 * the answer a failed answer; for a script, a failed script.
 *
 * The key of the store:
 *
 *     {"at": {SECTION: {"head": COMMIT, "since": COMMIT, "fault": TEXT}},
 *      "checked": [ID], "validated": TREE, "pull": URL, "pushed": COMMIT, "done": KINDS,
 *      "approved": {"head": COMMIT, "base": COMMIT, "patch": DIGEST}, "scripts": "yes",
 *      "landed": {"patch": DIGEST, "tree": TREE, "target": COMMIT}}
 *
 * "declined": TEXT, the words of the remote's last refusal of a push, and "unpushed": COMMIT, whose
 * push was refused; "worked": COMMIT, `since` of the last work that was confirmed.
 *
 * `head`: HEAD at the last request of the answer; `since`: HEAD at its first request, or `worked`
 * if its push had just been refused: what corrects that may be no change of a file, but the work
 * must still be there; `fault`: uncommitted changes at the request; `pushed`: the last known commit
 * of the branch on the remote; `checked`: actions (of an answer without one, its section) whose
 * claims hold; `done`: what was verified for success; `scripts`: a script was requested, which may
 * have left files; `landed`: the receipt of what was merged: the approved changes, the validated
 * files, and a commit of the default branch that contains them.
 */
#include "src/base/json.h"
#include "src/machine/engine_internal.h"
#include "src/machine/verdict.h"
#include "src/sys/forge.h"

/* ---- in the journal ---- */

json *evidence_to_json(const struct evidence *e)
{
	json *faults = json_object();

	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if (e->faults[i])
			json_put_str(faults, evidence_name(1u << i), str_of(e->faults[i]));
	return JSON_OBJECT(JSON_IF(e->head, JSON_TEXT("head", e->head)),
		JSON_IF(e->tree, JSON_TEXT("tree", e->tree)),
		JSON_IF(e->base, JSON_TEXT("base", e->base)),
		JSON_IF(e->patch, JSON_TEXT("patch", e->patch)),
		JSON_IF(e->same_as, JSON_TEXT("same_as", e->same_as)),
		JSON_IF(e->landed, JSON_TEXT("landed", e->landed)),
		JSON_IF(e->left, JSON_TEXT("left", e->left)), JSON_VALUE("faults", faults));
}

static void evidence_from_json(struct arena *a, const json *j, struct evidence *out)
{
	*out = (struct evidence){.head = json_dup(a, j, "head"),
		.tree = json_dup(a, j, "tree"),
		.base = json_dup(a, j, "base"),
		.patch = json_dup(a, j, "patch"),
		.same_as = json_dup(a, j, "same_as"),
		.landed = json_dup(a, j, "landed"),
		.left = json_dup(a, j, "left")};
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		out->faults[i] = json_dup(a, json_get(j, "faults"), evidence_name(1u << i));
}

json *engine_evidence_names(unsigned kinds)
{
	json *names = json_array();

	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if (kinds >> i & 1)
			json_push_str(names, str_of(evidence_name(1u << i)));
	return names;
}

/* ---- what is required ---- */

unsigned engine_claims_of(const struct workflow *w, const struct step *step, const char *state)
{
	const struct workflow_state *st = workflow_state(w, state);
	unsigned kinds = 0;

	if (!st || !st->declared)
		return step ? step->evidence : 0;
	for (size_t i = 0; i < st->declared->n; i++)
		kinds |= st->declared->items[i].evidence.kinds;
	return kinds;
}

/* A declared state requires what it claims. For a built-in state the workflow may require less. */
static unsigned evidence_of(const struct workflow *w, const struct step *step, const char *state)
{
	const struct workflow_state *st = workflow_state(w, state);
	unsigned kinds = engine_claims_of(w, step, state);

	return st && st->declared ? kinds : kinds & w->evidence.kinds;
}

/* The kinds that the workflow names, and those that its states claim in any case. */
unsigned engine_evidence_required(const struct workflow *w,
	const struct step *(*step_for)(const struct workflow *w, const char *state))
{
	unsigned kinds = w->evidence.given ? w->evidence.kinds : 0;

	for (size_t i = 0; i < w->n_states; i++) {
		const struct declared_state *d = w->states[i].declared;
		const char *state = w->states[i].name;

		if (!d)
			kinds |= evidence_of(w, step_for(w, state), state);
		for (size_t k = 0; d && k < d->n; k++)
			if (!d->items[k].optional)
				kinds |= d->items[k].evidence.kinds;
	}
	return kinds & (EVIDENCE_ALL | (w->evidence.command ? EVIDENCE_COMMAND : 0));
}

/* ---- the facts ---- */

static int load_facts(struct engine_run *r, struct error *err)
{
	if (r->facts)
		return 0;
	if (context_get_json(r->e->file, EVIDENCE_KEY, &r->facts, err) < 0)
		return -1;
	if (!r->facts)
		r->facts = json_object();
	return 0;
}

int evidence_load_approved(
	struct arena *a, struct context_file *f, struct evidence_approved *out, struct error *err)
{
	CLEANUP(json_free) json *facts = NULL;
	const json *approved;

	*out = (struct evidence_approved){0};
	if (context_open_keys(f, err) < 0 || context_get_json(f, EVIDENCE_KEY, &facts, err) < 0)
		return -1;
	approved = json_get(facts, "approved");
	*out = (struct evidence_approved){json_dup(a, approved, "head"),
		json_dup(a, approved, "patch"), json_dup(a, approved, "base"),
		json_dup(a, facts, "pushed")};
	return 0;
}

static void store_facts(struct engine_run *r)
{
	context_put_json(r->e->file, EVIDENCE_KEY, r->facts);
}

static const json *fact_at(const struct engine_run *r, const char *section)
{
	return json_get(json_get(r->facts, "at"), section);
}

static int collect_evidence(
	struct engine_run *r, struct evidence_query *q, struct evidence *found, struct error *err)
{
	const struct environment *env = r->e->environment;
	const struct environment_input input = {.what = "evidence", .evidence = q, .always = true};
	struct item_place place = engine_place(r);
	json *answer = NULL;

	q->place = &place;
	q->forge = r->e->workflow->forge;
	q->later = r->e->workflow->evidence.command;
	context_note(r->e->file, "git and the forge");
	if (env->evidence(env->data, &r->arena, &input, &answer, err) < 0) {
		engine_keep_effect_events(r);
		return -1;
	}
	evidence_from_json(&r->arena, answer, found);
	context_seen(r->e->file, "evidence", answer);
	return 0;
}

static void note_request(
	struct engine_run *r, const char *section, const struct evidence *found, unsigned kinds)
{
	const json *before = fact_at(r, section);
	const char *since = json_get_str(before, "since");
	const char *fault = kinds & EVIDENCE_TREE ? found->faults[1] : NULL;

	if (!json_get(r->facts, "at"))
		json_put(r->facts, "at", json_object());
	if (!since && !json_get(before, "head"))
		since = found->head && json_str_is(r->facts, "unpushed", found->head)
				? json_get_str(r->facts, "worked")
				: found->head;
	json_set((json *)json_get(r->facts, "at"), section,
		JSON_OBJECT(JSON_IF(found->head, JSON_TEXT("head", found->head)),
			JSON_IF(since, JSON_TEXT("since", arena_dup(&r->arena, str_of(since)))),
			JSON_IF(fault, JSON_TEXT("fault", fault))));
}

int engine_evidence_checked(
	struct engine_run *r, const struct step *step, const json **checked, struct error *err)
{
	if (!evidence_of(r->e->workflow, step, engine_state(r)))
		return 0;
	if (load_facts(r, err) < 0)
		return -1;
	*checked = json_get(r->facts, "checked");
	return 0;
}

void engine_evidence_note_checked(struct engine_run *r, const struct step_context *c)
{
	json *checked = json_array();

	for (const json *id = json_first(json_get(r->facts, "checked")); id; id = json_next(id))
		if (action_find(r->outstanding, json_text(id)))
			json_push_str(checked, str_of(json_text(id)));
	for (size_t i = 0; i < c->claims.n; i++) {
		const char *section = c->claims.items[i].section;
		const json *action = action_writing(r->outstanding, section);

		json_push_str(checked, str_of(action ? json_get_str(action, "id") : section));
	}
	json_set(r->facts, "checked", checked);
	store_facts(r);
}

static int note_script(struct engine_run *r, const struct step_context *c, struct error *err)
{
	bool script = false;

	for (size_t i = 0; i < c->requests.n; i++)
		script |= c->requests.items[i].command != NULL;
	if (!script)
		return 0;
	if (load_facts(r, err) < 0)
		return -1;
	json_set(r->facts, "scripts", json_string(STR("yes")));
	store_facts(r);
	return 0;
}

int engine_evidence_requested(struct engine_run *r, const struct step *step,
	const struct step_context *c, struct error *err)
{
	unsigned kinds = evidence_of(r->e->workflow, step, engine_state(r));
	struct evidence_query q = {.kinds = kinds & EVIDENCE_TREE, .before = true};
	struct evidence found = {.head = r->head};

	if (!r->e->environment->evidence)
		return 0;
	if (note_script(r, c, err) < 0)
		return -1;
	if (!kinds)
		return 0;
	if (load_facts(r, err) < 0 ||
		((!r->head || (q.kinds && !r->clean)) && collect_evidence(r, &q, &found, err) < 0))
		return -1;
	for (size_t i = 0; i < c->requests.n; i++)
		note_request(r, c->requests.items[i].writes, &found, kinds);
	json_drop(r->facts, "unpushed");
	json_drop(r->facts, "done");
	store_facts(r);
	return 0;
}

/* ---- the remote's branch ---- */

int engine_evidence_before_push(struct engine_run *r, struct error *err)
{
	struct evidence_query q = {.before = true};
	struct evidence found = {.head = r->head};

	if (!r->e->environment->evidence)
		return 0;
	if (load_facts(r, err) < 0 || (!r->head && collect_evidence(r, &q, &found, err) < 0))
		return -1;
	r->head = found.head;
	r->place.pushed = json_dup(&r->arena, r->facts, "pushed");
	return 0;
}

bool engine_evidence_declined(struct engine_run *r, const char *words)
{
	const char *before = r->facts ? json_get_str(r->facts, "declined") : NULL;

	if (!r->facts || !strstr(words, "[remote rejected]"))
		return false;
	if (before && strcmp(before, words) == 0)
		return true;
	json_set(r->facts, "declined", json_string(str_of(words)));
	store_facts(r);
	return false;
}

void engine_evidence_unpushed(struct engine_run *r)
{
	if (!r->facts || !r->head)
		return;
	json_set(r->facts, "unpushed", json_string(str_of(r->head)));
	store_facts(r);
}

/* If HEAD has moved since it was read, the next push cannot replace a commit by force. */
void engine_evidence_pushed(struct engine_run *r)
{
	if (!r->facts || !r->head)
		return;
	json_set(r->facts, "pushed", json_string(str_of(r->head)));
	json_drop(r->facts, "declined");
	store_facts(r);
}

/* ---- the check ---- */

static const char *evidence_first_fault(const struct evidence *e, unsigned kinds)
{
	for (size_t i = 0; i < EVIDENCE_KINDS; i++)
		if (kinds >> i & 1 && e->faults[i])
			return e->faults[i];
	return NULL;
}

/* Compares HEAD with the reference values of the request. */
static const char *claim_fault(
	struct engine_run *r, const struct step_claim *claim, const struct evidence *found)
{
	const json *at = fact_at(r, claim->section);
	const char *head = json_get_str(at, "head"), *fault = json_get_str(at, "fault");
	unsigned kinds = claim->kinds & EVIDENCE_SHOWN ? EVIDENCE_REVIEW : claim->kinds;
	const char *unread = found->head ? NULL : evidence_first_fault(found, kinds);
	bool moved = !head || !found->head || strcmp(head, found->head) != 0;
	bool changed = moved && !(head && found->same_as && strcmp(head, found->same_as) == 0);

	if (unread) /* why HEAD is not known */
		return unread;
	if (claim->kinds & EVIDENCE_TREE && fault)
		return arena_printf(&r->arena, "%s (when the script was requested)", fault);
	if (claim->kinds & EVIDENCE_TREE && moved)
		return "HEAD is not the commit for which the script was requested";
	if (claim->kinds & EVIDENCE_SHOWN && changed)
		return "the branch has changed since the approval was requested";
	if (claim->kinds & EVIDENCE_REVIEW && changed)
		return "HEAD is not the commit that was reviewed, and its changes differ";
	return claim->kinds & EVIDENCE_SHOWN ? evidence_first_fault(found, kinds) : NULL;
}

/* A rebase that leaves the changes as they are keeps the approval. */
static bool evidence_is_approved(const json *approved, const struct evidence *found)
{
	return (found->head && json_str_is(approved, "head", found->head)) ||
	       (found->patch && json_str_is(approved, "patch", found->patch));
}

/* HEAD must still be what was validated and approved. */
static const char *evidence_end_fault(
	struct engine_run *r, unsigned kinds, const struct evidence *found)
{
	const char *tree = json_get_str(r->facts, "validated");
	const json *approved = json_get(r->facts, "approved");

	if (kinds & EVIDENCE_TREE && (!tree || !found->tree || strcmp(tree, found->tree) != 0))
		return tree ? "the files of HEAD are not those that were validated"
			    : "nothing was validated";
	if (kinds & EVIDENCE_REVIEW && !evidence_is_approved(approved, found))
		return approved ? "HEAD is not the commit that was approved, and its changes differ"
				: "nothing was approved";
	return NULL;
}

/* The check of a decision's claims. */
struct evidence_check {
	struct step_claim *claims;
	const char **faults; /* of each claim; NULL: it holds */
	const char *fault;   /* the first */
	size_t n;
	unsigned at_end; /* kinds that success requires; 0: the decision is not the end */
};

static void add_claim_query(
	struct engine_run *r, const struct step_claim *claim, struct evidence_query *q)
{
	struct evidence_named named = {.kinds = claim->kinds & (EVIDENCE_WORK | EVIDENCE_REVIEW)};
	struct forge_pull p;

	q->kinds |= claim->kinds;
	if (named.kinds)
		named.commit = verdict_commit(&r->arena, context_section(r->doc, claim->section));
	if (named.commit)
		vec_push_in(&r->arena, &q->named, named);
	if (claim->kinds & EVIDENCE_WORK && !q->since)
		q->since = json_get_str(fact_at(r, claim->section), "since");
	if (claim->kinds & (EVIDENCE_REVIEW | EVIDENCE_SHOWN) && !q->reviewed)
		q->reviewed = json_get_str(fact_at(r, claim->section), "head");
	if (claim->kinds & EVIDENCE_PULL &&
		forge_find_pull(context_section(r->doc, claim->section), &p))
		q->pr_url = arena_dup(&r->arena, p.url);
	if (claim->command)
		vec_push_in(&r->arena, &q->commands, claim->command);
}

static void add_end_query(struct engine_run *r, unsigned kinds, struct evidence_query *q)
{
	struct str url = context_get(r->doc, "pr_url");

	q->kinds |= kinds;
	if (!q->pr_url && url.n)
		q->pr_url = arena_dup(&r->arena, url);
	if (kinds)
		q->confirmed = json_get_str(r->facts, "pull");
	if (kinds & EVIDENCE_REVIEW && !q->reviewed)
		q->reviewed = json_get_str(json_get(r->facts, "approved"), "head");
	if (kinds & EVIDENCE_COMMAND)
		vec_push_in(&r->arena, &q->commands, r->e->workflow->evidence.command);
}

/* Stores a confirmed claim as a reference value. */
static void confirm_claim(struct engine_run *r, const struct step_claim *claim,
	const struct evidence_query *q, const struct evidence *found)
{
	if (claim->kinds & EVIDENCE_WORK && q->since)
		json_set(r->facts, "worked", json_string(str_of(q->since)));
	if (claim->kinds & EVIDENCE_TREE && found->tree)
		json_set(r->facts, "validated", json_string(str_of(found->tree)));
	if (claim->kinds & EVIDENCE_REVIEW && found->head)
		json_set(r->facts, "approved",
			JSON_OBJECT(JSON_TEXT("head", found->head),
				JSON_IF(found->base, JSON_TEXT("base", found->base)),
				JSON_IF(found->patch, JSON_TEXT("patch", found->patch))));
	if (claim->kinds & (EVIDENCE_PULL | EVIDENCE_REVIEW) && found->head)
		json_set(r->facts, "pushed", json_string(str_of(found->head)));
	if (claim->kinds & EVIDENCE_PULL && q->pr_url)
		json_set(r->facts, "pull", json_string(str_of(q->pr_url)));
	if (claim->kinds & EVIDENCE_PULL && claim->declared && q->pr_url)
		context_set(r->doc, "pr_url", str_of(q->pr_url));
}

static void note_confirmed(
	struct engine_run *r, const struct evidence_query *q, const struct evidence *found)
{
	JSON_ADD(context_event(r->e->file, "evidence"), JSON_TEXT("state", engine_state(r)),
		JSON_VALUE("confirmed", engine_evidence_names(q->kinds)),
		JSON_IF(found->head, JSON_TEXT("head", found->head)));
}

static void judge_claims(struct engine_run *r, struct evidence_check *k,
	const struct evidence_query *q, const struct evidence *found)
{
	k->fault = evidence_first_fault(found, k->at_end);
	for (size_t i = 0; i < k->n; i++) {
		k->faults[i] = claim_fault(r, &k->claims[i], found);
		if (!k->faults[i])
			k->faults[i] = evidence_first_fault(found, k->claims[i].kinds | k->at_end);
		k->fault = k->fault ? k->fault : k->faults[i];
	}
	for (size_t i = 0; i < k->n && !k->fault; i++)
		confirm_claim(r, &k->claims[i], q, found);
	if (k->fault)
		return;
	k->fault = evidence_end_fault(r, k->at_end, found);
	for (size_t i = 0; i < k->n; i++)
		k->faults[i] = k->fault;
}

/* Identifies what was verified: another workflow may require less, or use other programs. */
static const char *success_text(struct engine_run *r, unsigned kinds)
{
	const struct workflow *w = r->e->workflow;

	return arena_printf(&r->arena, "%u %s %s", kinds, w->forge ? w->forge : "",
		w->evidence.command ? w->evidence.command : "");
}

static void note_success(struct engine_run *r, unsigned kinds, const struct evidence *found)
{
	const char *patch = json_get_str(json_get(r->facts, "approved"), "patch");

	json_set(r->facts, "done", json_string(str_of(success_text(r, kinds))));
	if (found->landed)
		json_set(r->facts, "landed",
			JSON_OBJECT(JSON_IF(patch, JSON_TEXT("patch", patch)),
				JSON_IF(found->tree, JSON_TEXT("tree", found->tree)),
				JSON_TEXT("target", found->landed)));
}

static int examine_claims(struct engine_run *r, struct evidence_check *k, struct error *err)
{
	struct evidence_query q = {0};
	struct evidence found;

	if (load_facts(r, err) < 0)
		return -1;
	for (size_t i = 0; i < k->n; i++)
		add_claim_query(r, &k->claims[i], &q);
	add_end_query(r, k->at_end, &q);
	if (collect_evidence(r, &q, &found, err) < 0)
		return -1;
	judge_claims(r, k, &q, &found);
	if (k->fault && !k->n)
		return 0;
	if (!k->fault) {
		if (found.left)
			engine_say(r, found.left);
		r->head = found.head;
		r->clean = q.kinds & (EVIDENCE_WORK | EVIDENCE_TREE);
		for (size_t i = 0; i < k->n; i++)
			json_drop((json *)json_get(r->facts, "at"), k->claims[i].section);
		if (k->at_end)
			note_success(r, k->at_end, &found);
		note_confirmed(r, &q, &found);
	}
	store_facts(r);
	return 0;
}

/* ---- what a contradiction means ---- */

/* The script counts as failed, and its state decides what follows; false: it counts so already, and
 * its state has decided. A result that a person wrote into the document has no action. */
static bool fail_script(struct engine_run *r, const char *section, const char *fault)
{
	struct str text = context_section(r->doc, section);
	json *action = action_writing(r->outstanding, section);

	if (str_starts(text, arena_printf(&r->arena, "failed: %s\n", fault)))
		return false;
	context_put(r->doc, section,
		str_of(arena_printf(&r->arena, "failed: %s\n\n%s%s", fault, text.p,
			action ? "" : "\n\n{\"status\": \"failed\"}")));
	if (action)
		json_set(action, "answered", json_string(STR("failed")));
	action_store(r->doc, r->outstanding);
	JSON_ADD(context_event(r->e->file, "failure"),
		JSON_TEXT("action", action ? json_get_str(action, "id") : section),
		JSON_TEXT("reason", fault),
		JSON_INT("count", context_count(r->doc, "consecutive_failures")));
	return true;
}

/* Without a claim the fault applies to all answers of the state. */
static void claim_all(struct engine_run *r, struct evidence_check *k)
{
	k->claims = arena_alloc(&r->arena, (json_len(r->outstanding) + 1) * sizeof(*k->claims));
	k->faults = arena_alloc(&r->arena, (json_len(r->outstanding) + 1) * sizeof(*k->faults));
	for (const json *a = json_first(r->outstanding); a; a = json_next(a)) {
		const char *section =
			arena_dup(&r->arena, str_of(json_get_str(a, "write_section")));

		k->claims[k->n] = (struct step_claim){.section = section};
		k->faults[k->n++] = k->fault;
	}
}

/* The answer is requested again; of a void review, all its answers. A void sign-off counts as a
 * refused one, because answers that arrive one by one would never reach the limit of consecutive
 * failures. */
static void refuse_agent(
	struct engine_run *r, struct step_context *c, const struct evidence_check *k, size_t first)
{
	bool review = false;

	c->result = STEP_FAILED;
	c->section = k->claims[first].section;
	c->reason = k->faults[first];
	c->at_end = !k->claims[first].kinds;
	for (size_t i = 0; i < k->n; i++)
		review |= k->faults[i] && k->claims[i].kinds & EVIDENCE_REVIEW;
	if (!review)
		return;
	if (c->step->void_counter)
		context_set_count(r->doc, c->step->void_counter,
			context_count(r->doc, c->step->void_counter) + 1);
	for (size_t i = 0; i < k->n; i++)
		if (k->faults[i] && i != first) {
			context_remove(r->doc, k->claims[i].section);
			engine_drop_sections(r, &k->claims[i].section, 1);
		}
}

/* Drops a URL that was never confirmed, for example because somebody wrote it into the document.
 * The state then requests the pull request again. */
static void drop_unconfirmed_pull(struct engine_run *r)
{
	const char *pull = json_get_str(r->facts, "pull");

	if (!context_get(r->doc, "pr_url").n ||
		(pull && str_is(context_get(r->doc, "pr_url"), pull)))
		return;
	context_set(r->doc, "pr_url", (struct str){0});
	context_remove(r->doc, CONTEXT_PULL_REQUEST);
}

static void refuse_claims(struct engine_run *r, struct step_context *c, struct evidence_check *k)
{
	const struct environment *env = r->e->environment;
	bool changed = false;
	size_t first = 0;

	if (!k->n)
		claim_all(r, k);
	while (first < k->n && (!k->faults[first] || k->claims[first].script))
		first++;
	if (k->n && env->refuted)
		env->refuted(env->data, first < k->n ? k->faults[first] : k->fault);
	if (first < k->n) {
		refuse_agent(r, c, k, first);
		if (k->at_end & EVIDENCE_PULL && c->step->evidence & EVIDENCE_PULL)
			drop_unconfirmed_pull(r);
		return;
	}
	for (size_t i = 0; i < k->n; i++)
		changed |= k->faults[i] && fail_script(r, k->claims[i].section, k->faults[i]);
	if (!changed) { /* there is nothing to request again */
		context_put(r->doc, CONTEXT_LAST_FAILURE, str_of(k->fault));
		engine_enter(r, "failed", "evidence", k->fault);
	}
}

/* Of work, what is left is committed at once; of an approval, if it holds and the state says so. */
static int evidence_take_leftovers(struct engine_run *r, bool shown, struct error *err)
{
	if (load_facts(r, err) < 0)
		return -1;
	r->place.fresh = !json_get(r->facts, "scripts");
	r->place.shown = shown;
	return shown ? engine_load_marks(r, err) : engine_carry_out(r, EFFECT_COMMIT, err);
}

/* An effect was refused: the work cannot be committed or pushed as it is. */
static void note_effect_fault(struct engine_run *r, struct evidence_check *k)
{
	k->fault = r->fault;
	r->fault = NULL;
	for (size_t i = 0; i < k->n; i++)
		k->faults[i] = k->fault;
}

static bool leads_to_success(const struct engine_run *r, const struct step_context *c)
{
	const struct workflow *w = r->e->workflow;
	const char *to = c->result == STEP_TRANSITION
				 ? workflow_target(w, engine_state(r), c->trigger)
				 : NULL;

	return to && strcmp(to, "done") == 0 && engine_is_terminal(w, to);
}

static int examine_end(
	struct engine_run *r, unsigned kinds, struct evidence_check *k, struct error *err)
{
	struct evidence_check end = {.at_end = kinds};

	if (r->fault || !kinds || !r->e->environment->evidence)
		return 0;
	if (examine_claims(r, &end, err) < 0)
		return -1;
	k->fault = end.fault;
	for (size_t i = 0; i < k->n; i++)
		k->faults[i] = end.fault;
	return 0;
}

/* Success is about what an approval lets the effects commit and push: the end is verified after the
 * commit, and what it says about the remote after the push. Other claims are verified with the end:
 * they can be corrected before anything is pushed. */
static int evidence_examine_all(struct engine_run *r, unsigned effects, bool shown,
	struct evidence_check *k, struct error *err)
{
	static const unsigned remote = EVIDENCE_PULL | EVIDENCE_REVIEW;
	unsigned end = shown && effects ? k->at_end : 0, kinds = k->at_end &= ~end;

	for (size_t i = 0; i < k->n; i++)
		kinds |= k->claims[i].kinds;
	if (kinds && r->e->environment->evidence && examine_claims(r, k, err) < 0)
		return -1;
	if (k->fault)
		return 0;
	if (!end)
		return engine_carry_out(r, effects, err);
	if (engine_carry_out(r, effects & EFFECT_COMMIT, err) < 0 ||
		examine_end(r, end & ~remote, k, err) < 0)
		return -1;
	if (r->fault || k->fault)
		return 0;
	if (engine_carry_out(r, effects & ~(unsigned)EFFECT_COMMIT, err) < 0)
		return -1;
	return end & remote ? examine_end(r, end, k, err) : 0;
}

int engine_evidence_check(
	struct engine_run *r, struct step_context *c, bool *refused, struct error *err)
{
	struct evidence_check k = {.claims = c->claims.items, .n = c->claims.n};
	unsigned claimed = 0;

	*refused = false;
	if (leads_to_success(r, c))
		k.at_end = engine_evidence_required(r->e->workflow, r->e->step_for);
	k.faults = arena_alloc(&r->arena, (k.n + 1) * sizeof(*k.faults));
	for (size_t i = 0; i < k.n; i++) {
		claimed |= k.claims[i].kinds;
		if (!k.claims[i].declared)
			k.claims[i].kinds &= r->e->workflow->evidence.kinds;
	}
	if (claimed & (EVIDENCE_WORK | EVIDENCE_SHOWN) &&
		evidence_take_leftovers(r, claimed & EVIDENCE_SHOWN, err) < 0)
		return -1;
	if (!r->fault && evidence_examine_all(r, c->effects, claimed & EVIDENCE_SHOWN, &k, err) < 0)
		return -1;
	if (r->fault)
		note_effect_fault(r, &k);
	*refused = k.fault != NULL;
	if (*refused)
		refuse_claims(r, c, &k);
	return 0;
}

int engine_evidence_at_end(struct engine_run *r, const char **fault, struct error *err)
{
	struct evidence_check k = {
		.at_end = engine_evidence_required(r->e->workflow, r->e->step_for)};

	*fault = NULL;
	if (!r->e->environment->evidence || !k.at_end)
		return 0;
	if (load_facts(r, err) < 0)
		return -1;
	if (!r->place.directory && r->e->environment->enter && !json_get(r->facts, "done")) {
		*fault = "the item has no worktree yet"; /* a fork, or its state was set by hand */
		return 0;
	}
	if (!json_str_is(r->facts, "done", success_text(r, k.at_end)) &&
		examine_claims(r, &k, err) < 0)
		return -1;
	*fault = k.fault;
	return 0;
}
