#include "src/base/clock.h"
#include "src/verify/explore.h"
#include "src/verify/trace.h"

struct report {
	const struct walk *k;
	const struct findings *f;
	int64_t least, most;
	struct buf *out;
};

static void tell_figures(const struct report *r)
{
	const struct walk *k = r->k;
	const char *file = k->w->file;

	buf_addf(r->out, "%s: %u states, %u transitions; the engine was called %zu times\n", file,
		k->n_nodes, k->n_edges, k->plays);
	buf_addf(r->out,
		"%s: %zu answers were refused, as they must be; %zu changes by the troubleshooter "
		"were tried\n",
		file, k->refused, k->changes);
	buf_addf(r->out, "%s: the machine was stopped %zu times; another took over %zu times%s\n",
		file, k->crashes, k->takeovers, k->n_broken ? "" : "; nothing was lost");
	if (r->least >= 0)
		buf_addf(
			r->out, "%s: at least %lld actions to 'done'\n", file, (long long)r->least);
	if (r->most >= 0)
		buf_addf(r->out,
			"%s: at most %lld actions before a person is asked or the run is over\n",
			file, (long long)r->most);
	if (!k->complete)
		buf_addf(r->out, "%s: not finished: stopped at %u states (see --states)\n", file,
			k->n_nodes);
}

static void tell_findings(const struct report *r)
{
	const char *file = r->k->w->file;

	for (size_t i = 0; i < r->f->n_notes; i++)
		buf_addf(r->out, "%s: note: %s\n", file, r->f->notes[i]);
	for (size_t i = 0; i < r->f->n; i++) {
		const struct finding *f = &r->f->list[i];

		if (f->line)
			buf_addf(r->out, "%s:%u:%u: ", file, f->line, f->col);
		else
			buf_addf(r->out, "%s: ", file);
		buf_addf(r->out, "%s: %s%s\n", finding_name(f->kind), f->text,
			f->node == NONE ? ""
					: arena_printf((struct arena *)&r->k->arena,
						  " (--trace %zu)", i + 1));
	}
	if (!r->f->n && r->k->complete)
		buf_addf(r->out, "%s: free of findings\n", file);
}

static json *finding_json(const struct finding *f)
{
	json *j = json_object();

	json_put_str(j, "kind", str_of(finding_name(f->kind)));
	json_put_str(j, "text", str_of(f->text));
	if (f->line)
		json_put_int(j, "line", f->line);
	if (f->line)
		json_put_int(j, "col", f->col);
	json_put_bool(j, "trace", f->node != NONE);
	return j;
}

static void tell_json(const struct report *r)
{
	const struct walk *k = r->k;
	CLEANUP(json_free) json *j = json_object();
	json *findings = json_array(), *notes = json_array();

	json_put_str(j, "file", str_of(k->w->file));
	json_put_bool(j, "complete", k->complete);
	json_put_int(j, "states", k->n_nodes);
	json_put_int(j, "transitions", k->n_edges);
	json_put_int(j, "calls", (int64_t)k->plays);
	json_put_int(j, "refused", (int64_t)k->refused);
	json_put_int(j, "crashes", (int64_t)k->crashes);
	json_put_int(j, "take_overs", (int64_t)k->takeovers);
	json_put_int(j, "changes", (int64_t)k->changes);
	if (r->least >= 0)
		json_put_int(j, "least_actions", r->least);
	if (r->most >= 0)
		json_put_int(j, "most_actions", r->most);
	for (size_t i = 0; i < r->f->n; i++)
		json_push(findings, finding_json(&r->f->list[i]));
	for (size_t i = 0; i < r->f->n_notes; i++)
		json_push_str(notes, str_of(r->f->notes[i]));
	json_put(j, "findings", findings);
	json_put(j, "notes", notes);
	json_print(r->out, j);
	buf_addc(r->out, '\n');
}

static int tell(const struct walk *k, const struct findings *f, const struct explore_wish *wish,
	struct buf *out, struct error *err)
{
	struct report r = {.k = k, .f = f, .out = out};

	if (wish->trace > f->n)
		return error_set(err, ERR_INPUT, "no finding %lu: there %s %zu", wish->trace,
			f->n == 1 ? "is" : "are", f->n);
	if (wish->trace)
		return trace_write(k, &f->list[wish->trace - 1], wish->trace, out, err);
	r.least = graph_least(k);
	r.most = k->complete ? graph_cost(k, true) : -1;
	if (wish->json) {
		tell_json(&r);
	} else {
		tell_figures(&r);
		tell_findings(&r);
	}
	return f->n || !k->complete ? ERR_CHECK : 0;
}

int explore_workflow(const struct workflow *w, const struct explore_wish *wish, struct buf *out,
	struct error *err)
{
	struct arena a = {0};
	struct findings f;
	struct walk k;
	int rc;

	walk_init(&k, w, wish->changes, false, wish->states);
	walk_all(&k);
	findings_of(&k, &a, &f);
	rc = tell(&k, &f, wish, out, err);
	walk_drop(&k);
	arena_release(&a);
	clock_fix(-1);
	return rc;
}
