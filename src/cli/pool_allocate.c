#include "src/base/log.h"
#include "src/sys/path.h"
#include "src/cli/pool.h"

static int read_ask(struct invocation *in, struct allocate_ask *ask, struct error *err)
{
	const char *const *value = in->args->value;
	unsigned holder;

	*ask = (struct allocate_ask){.branch = in->args->words[1],
		.base = value[POOL_BASE],
		.target = value[POOL_TARGET],
		.sparse = value[POOL_SPARSE],
		.port = value[POOL_PORT],
		.parent = value[POOL_PARENT],
		.run = value[POOL_RUN],
		.issue = value[POOL_ISSUE]};
	if (ask->issue && id_check(ask->issue, err) < 0)
		return -1;
	if (pool_number(in, POOL_PORTS, 1, PORTS_MAX, 0, &ask->ports, err) < 0 ||
		pool_number(in, POOL_SLOTS, 0, SLOTS_MAX, 0, &ask->slots, err) < 0 ||
		pool_number(in, POOL_SLOT_PORTS, 1, PORTS_MAX, ask->slots ? 1 : 0, &ask->slot_ports,
			err) < 0 ||
		pool_number(in, POOL_HOLDER, 1, 1 << 22, 0, &holder, err) < 0)
		return -1;
	ask->holder = (pid_t)holder;
	return 0;
}

static void put_result(struct invocation *in, const struct allocation *of, bool created)
{
	if (in->args->value[POOL_JSON]) {
		json *j = allocation_json(of);

		json_put_bool(j, "created", created);
		if (of->warning)
			json_put_str(j, "warning", str_of(of->warning));
		put_line(in->out, j);
		return;
	}
	buf_addf(in->out, "%s '%s'\n  path   %s\n", created ? "allocated" : "adopted", of->branch,
		of->path);
	if (created && of->base)
		buf_addf(in->out, "  from   %s\n", of->base);
	if (of->sparse)
		buf_addf(in->out, "  only   %s\n", of->sparse);
	buf_adds(in->out, "  ports  ");
	ports_text(in->out, of);
	buf_addc(in->out, '\n');
	if (of->slots)
		buf_addf(in->out, "  slots  %u, each of %u ports\n", of->slots, of->slot_ports);
}

static int take(struct invocation *in, bool adopt, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	struct allocate_ask ask;
	struct allocation of;
	bool created = false;

	if (read_ask(in, &ask, err) < 0 || pool_of(in, &p, err) < 0)
		return -1;
	if (adopt ? pool_adopt(in->arena, &p, &ask, &of, err) < 0
		  : pool_allocate(in->arena, &p, &ask, &of, &created, err) < 0)
		return -1;
	if (of.warning)
		log_line("%s", of.warning);
	put_result(in, &of, created);
	return 0;
}

int pool_run_allocate(struct invocation *in, struct error *err)
{
	return take(in, false, err);
}

int pool_run_adopt(struct invocation *in, struct error *err)
{
	return take(in, true, err);
}

int pool_run_reclaim(struct invocation *in, struct error *err)
{
	CLEANUP(pool_close) struct pool p = {0};
	const char *what = in->args->words[1];
	bool removed;

	if (pool_of(in, &p, err) < 0 ||
		pool_reclaim(in->arena, &p, what, in->args->value[POOL_CONFIRM] != NULL, &removed,
			err) < 0)
		return -1;
	if (in->args->value[POOL_JSON]) {
		json *j = json_object();

		json_put_str(j, "what", str_of(what));
		json_put_bool(j, "removed", removed);
		put_line(in->out, j);
	} else {
		buf_addf(
			in->out, removed ? "reclaimed '%s'\n" : "nothing to reclaim: '%s'\n", what);
	}
	return 0;
}
