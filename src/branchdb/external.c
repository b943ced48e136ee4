/* external.c: commands of the user's own make and remove branches. */
#include "src/branchdb/adapter.h"
#include "src/sys/process.h"

enum { COMMAND_S = 300, OUTPUT_MAX = 64 << 10 };

static bool external_take(void *data, bool errors, struct str piece)
{
	struct buf *out = data;

	if (!errors && out->len + piece.n <= OUTPUT_MAX)
		buf_add(out, piece);
	return true;
}

/* The key is an argument, never part of the command. Nothing that it prints is in an error: it may
 * be a connection string. */
static int external_run(struct adapter_call *c, const char *name, const char *key, struct buf *out,
	struct error *err)
{
	const char *command = database_credential(c->pool, name);
	const char *const argv[] = {
		"sh", "-c", arena_printf(c->arena, "%s \"$1\"", command), "sh", key, NULL};
	const struct process p = {.argv = argv,
		.cwd = c->site->repo,
		.output = -1,
		.on_output = external_take,
		.data = out,
		.timeout_s = COMMAND_S};
	struct process_end end;

	buf_adds(out, "");
	if (process_run(&p, &end, err) < 0)
		return -1;
	if (end.timed_out)
		return adapter_refuse(c, ADAPTER_UNAVAILABLE, err,
			"'%s' of '%s' took longer than %d s", name, c->pool->name, COMMAND_S);
	if (end.status)
		return adapter_refuse(c, ADAPTER_OTHER, err, "'%s' of '%s' ended with status %d",
			name, c->pool->name, end.status);
	return 0;
}

static int external_check(struct adapter_call *c, struct error *err)
{
	const char *yes = database_credential(c->pool, "acknowledgeUntrusted");

	return yes && strcmp(yes, "true") == 0
		       ? 0
		       : error_set(err, ERR_INPUT,
				 "the adapter 'external' runs commands of the resource: it needs "
				 "'credentials.acknowledgeUntrusted: true'");
}

static int external_reach(struct adapter_call *c, struct error *err)
{
	(void)c;
	(void)err;
	return 0;
}

/* The command prints the connection string, also when the branch exists. */
static int external_address(struct adapter_call *c, const char **out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str line;

	if (external_run(c, "allocateCommand", c->key, &text, err) < 0)
		return -1;
	line = str_trim(buf_str(&text));
	if (!line.n || memchr(line.p, '\n', line.n) || str_utf8_fault(line))
		return adapter_refuse(c, ADAPTER_OTHER, err,
			"'allocateCommand' of '%s' must print one line, the connection string",
			c->pool->name);
	*out = arena_dup(c->arena, line);
	adapter_keep_secret(*out);
	return 0;
}

static int external_create(struct adapter_call *c, struct error *err)
{
	const char *ignored;

	return external_address(c, &ignored, err);
}

static int external_drop(struct adapter_call *c, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	return external_run(c, "reclaimCommand", c->key, &text, err);
}

/* Without a command the records alone tell. */
static int external_list(struct adapter_call *c, struct adapter_keys *out, struct error *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct str rest, line;

	if (!database_credential(c->pool, "listCommand"))
		return 1;
	if (external_run(c, "listCommand", c->key, &text, err) < 0)
		return -1;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		if (str_starts(line, c->key))
			vec_push_in(c->arena, out, arena_dup(c->arena, str_trim(line)));
	return 0;
}

const struct adapter adapter_external = {.name = "external",
	.from_branch = true,
	.required = (const char *const[]){"allocateCommand", "reclaimCommand", NULL},
	.check = external_check,
	.reach = external_reach,
	.create = external_create,
	.drop = external_drop,
	.list = external_list,
	.address = external_address};
