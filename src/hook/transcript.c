/*
 * transcript.c: what the client writes about a session and its agents, one JSON object a line: the
 * prompt of an agent, which names its action, and how a conversation ended.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "src/base/clock.h"
#include "src/hook/loop.h"
#include "src/sys/directory.h"
#include "src/sys/path.h"

enum { START_MAX = 1 << 20, ROW_MAX = 4096, NOTES_MAX = 64 << 10, WAIT_MS = 3000 };

/* ---- the agent of a prompt ---- */

/* DIRECTORY/ID.md of a child, whose id begins with that of its item. */
static bool find_child(struct hook_agent *g, struct str line)
{
	const char *path = arena_dup(g->loop.arena, line);
	struct str id = path_base(path);

	if (!str_ends(id, ".md"))
		return false;
	id.n -= strlen(".md");
	path = arena_dup(g->loop.arena, id);
	return hook_loop_find(&g->loop, path) && str_is(line, hook_loop_document(&g->loop, path));
}

static bool find_document(struct hook_agent *g, struct str line)
{
	struct hook_items items;
	struct error ignored;

	if (!line.n || line.p[0] != '/' ||
		hook_session_items(g->loop.arena, g->loop.session, &items, &ignored) < 0)
		return false;
	for (size_t i = 0; i < items.n; i++)
		if (str_is(line, items.items[i].context_file)) {
			g->loop.item = items.items[i];
			return true;
		}
	return find_child(g, line);
}

/* The two lines, with the brief or without. */
static bool read_prompt(struct hook_agent *g, const char *prompt)
{
	struct str rest = str_of(prompt ? prompt : ""), line;

	while (str_line(&rest, &line)) {
		if (!find_document(g, str_trim(line)))
			continue;
		if (!str_line(&rest, &line))
			return false;
		g->id = arena_dup(g->loop.arena, str_trim(line));
		g->briefed =
			str_starts(str_trim(rest), arena_printf(g->loop.arena, "# %s\n", g->id));
		return strchr(g->id, '/') != NULL;
	}
	return false;
}

bool hook_agent_read(struct arena *a, const json *event, const char *prompt, struct hook_agent *g)
{
	*g = (struct hook_agent){
		.loop = {.arena = a, .session = json_get_str(event, "session_id")}};
	return g->loop.session && read_prompt(g, prompt);
}

/* ---- the agent of a transcript ---- */

static void read_start(const char *path, struct buf *out)
{
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char chunk[8192];
	ssize_t n;

	while (fd >= 0 && out->len < START_MAX && (n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(out, (struct str){chunk, (size_t)n});
}

/* `content` is a text, or blocks of which one has the prompt. */
static bool read_message(
	struct arena *a, const json *event, const json *content, struct hook_agent *g)
{
	if (json_is_string(content))
		return hook_agent_read(a, event, json_text(content), g);
	for (const json *b = json_first(content); b; b = json_next(b))
		if (hook_agent_read(a, event, json_get_str(b, "text"), g))
			return true;
	return false;
}

/* The prompt is the agent's first message. *written: messages are there. */
static bool read_rows(
	struct arena *a, const json *event, struct str text, bool *written, struct hook_agent *g)
{
	struct str line;

	while (str_line(&text, &line)) {
		CLEANUP(json_free) json *row = NULL;
		struct error ignored;

		if (json_parse_foreign(&row, line, &ignored) < 0)
			return false;
		*written |= json_str_is(row, "type", "assistant");
		if (json_str_is(row, "type", "user") &&
			read_message(a, event, json_get(json_get(row, "message"), "content"), g))
			return true;
	}
	return false;
}

/* The client keeps those of agents that a script started in a directory of the script. */
static const char *transcript_in(struct arena *a, const char *session, const char *agent)
{
	const char *path = arena_printf(a, "%s/subagents/agent-%s.jsonl", session, agent);
	const char *scripts = arena_printf(a, "%s/subagents/workflows", session), *other;
	struct directory_names names;
	struct error ignored;

	if (path_exists(path) || directory_list(a, scripts, &names, NULL, &ignored) < 0)
		return path;
	for (size_t i = 0; i < names.n; i++) {
		other = arena_printf(a, "%s/%s/agent-%s.jsonl", scripts, names.items[i], agent);
		if (path_exists(other))
			return other;
	}
	return path;
}

const char *hook_transcript_path(struct arena *a, const json *event, struct str agent)
{
	const char *session = json_get_str(event, "transcript_path");

	if (!session || !str_ends(str_of(session), ".jsonl") || !agent.n ||
		memchr(agent.p, '/', agent.n))
		return NULL;
	return transcript_in(a,
		arena_dup(a, str_sub(str_of(session), 0, strlen(session) - strlen(".jsonl"))),
		arena_dup(a, agent));
}

bool hook_agent_read_transcript(
	struct arena *a, const json *event, const char *path, int wait_ms, struct hook_agent *g)
{
	int64_t until = clock_ticks() + wait_ms;
	bool written = false;

	while (path) {
		CLEANUP(buf_release) struct buf text = BUF_INIT;

		read_start(path, &text);
		if (read_rows(a, event, buf_str(&text), &written, g))
			return true;
		if (written || clock_ticks() >= until)
			break;
		clock_pause(20);
	}
	return false;
}

bool hook_agent_find(struct arena *a, const json *event, const char *agent, struct hook_agent *g)
{
	const char *session = json_get_str(event, "transcript_path"), *projects;
	struct directory_names names;
	struct error ignored;

	projects = session ? arena_dup(a, path_dir(session)) : "/";
	if (hook_agent_read_transcript(
		    a, event, json_get_str(event, "agent_transcript_path"), WAIT_MS, g))
		return true;
	if (strchr(agent, '/') || directory_list(a, projects, &names, NULL, &ignored) < 0)
		return false;
	for (size_t i = 0; i < names.n; i++)
		if (hook_agent_read_transcript(a, event,
			    transcript_in(a, path_join(a, projects, names.items[i]), agent), 0, g))
			return true;
	return false;
}

bool hook_agent_has(struct arena *a, const json *call, const char *document, const char *id)
{
	const char *agent = json_get_str(call, "agent_id");
	int64_t until = clock_ticks() + WAIT_MS;
	struct hook_agent g;

	while (agent && !hook_agent_find(a, call, agent, &g)) {
		if (!json_get(call, "transcript_path") || clock_ticks() >= until)
			return false;
		clock_pause(20);
	}
	return agent && strcmp(g.id, id) == 0 &&
	       strcmp(hook_loop_document(&g.loop, id), document) == 0;
}

/* ---- the end of a transcript ---- */

int hook_transcript_end(const char *path, size_t max, struct buf *out)
{
	CLEANUP(base_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct error ignored;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	if (st.st_size > (off_t)max && lseek(fd, -(off_t)max, SEEK_END) < 0)
		return -1;
	return sys_read_all(out, fd, 2 * max, path, &ignored);
}

json *hook_transcript_notes(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	size_t stem = strlen(path) - strlen(".jsonl");
	json *notes = NULL;
	struct error ignored;

	if (sys_read_file(&text, arena_printf(a, "%.*s.meta.json", (int)stem, path), NOTES_MAX,
		    NULL, &ignored) < 0 ||
		json_parse_foreign(&notes, buf_str(&text), &ignored) < 0)
		return NULL;
	if (!json_is_true(json_get(notes, "finished")))
		json_free(&notes);
	return notes;
}

const char *hook_transcript_last_text(struct arena *a, const char *path)
{
	CLEANUP(buf_release) struct buf end = BUF_INIT;
	struct str rest, line, mark = STR("\"role\":\"assistant\"");
	const char *last = NULL;

	if (hook_transcript_end(path, START_MAX, &end) < 0)
		return NULL;
	for (rest = buf_str(&end); str_line(&rest, &line);) {
		CLEANUP(json_free) json *row = NULL;
		struct error ignored;

		if (str_find(line, mark) == line.n || json_parse_foreign(&row, line, &ignored) < 0)
			continue;
		for (const json *b = json_first(json_get(json_get(row, "message"), "content")); b;
			b = json_next(b))
			if (json_get_str(b, "text"))
				last = arena_dup(a, str_of(json_get_str(b, "text")));
	}
	return last;
}

bool hook_transcript_is_interrupted(const char *path)
{
	CLEANUP(buf_release) struct buf end = BUF_INIT;
	struct str rest, line, last = {0};

	if (hook_transcript_end(path, ROW_MAX, &end) < 0)
		return false;
	rest = buf_str(&end);
	while (str_line(&rest, &line))
		last = line;
	return str_find(last, STR(HOOK_INTERRUPTED)) < last.n;
}
