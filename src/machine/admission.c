/*
 * admission.c: the question before a dispatch. The environment answers it for each request, by its
 * id; the journal has the answers, so that `history verify` repeats them.
 */
#include "src/base/clock.h"
#include "src/base/json.h"
#include "src/machine/engine_internal.h"
#include "src/machine/node.h"

static const char *const names[] = {[ADMISSION_YES] = "yes",
	[ADMISSION_WAIT] = "wait",
	[ADMISSION_NO] = "no",
	[ADMISSION_REMEDY] = "remedy"};

void admission_from_json(struct arena *a, const json *event, struct admission *out)
{
	const char *until = json_get_str(event, "until");
	const json *tools = json_get(event, "tools");
	struct text_list *list;

	*out = (struct admission){.reason = json_dup(a, event, "reason")};
	for (size_t i = ADMISSION_YES; i < COUNT(names); i++)
		if (json_str_is(event, "answer", names[i]))
			out->answer = i;
	if (until)
		(void)clock_parse(until, &out->until);
	if (!tools)
		return;
	list = arena_alloc(a, sizeof(*list));
	list->list = json_dup_texts(a, tools, &list->n);
	out->tools = list;
}

static void machine_admission_ask(struct engine_run *r, const char *id,
	const struct step_request *request, struct admission *out)
{
	const struct environment *env = r->e->environment;

	*out = (struct admission){0};
	if (env->may_dispatch)
		env->may_dispatch(env->data, &r->arena, r->e->file, id, request, out);
	if (out->answer == ADMISSION_FREE || out->answer == ADMISSION_FAILED)
		return;
	JSON_ADD(context_event(r->e->file, ADMISSION_EVENT), JSON_TEXT("action", id),
		JSON_TEXT("answer", names[out->answer]),
		JSON_IF(out->reason, JSON_TEXT("reason", out->reason)),
		JSON_IF(out->until && out->answer != ADMISSION_NO, JSON_TIME("until", out->until)),
		JSON_IF(out->tools,
			JSON_VALUE("tools", json_texts(out->tools->list, out->tools->n))));
}

static void wait_for_admission(struct engine_run *r, int64_t time, const char *reason)
{
	char until[CLOCK_TEXT];

	clock_text(time, until);
	engine_wait_begin(r->e->file, time, reason);
	engine_dispatch_waiting(r, reason, until);
}

/* Whatever the person does about it, the next step asks again. */
static void refuse_dispatch(struct engine_run *r, const char *id, const char *reason)
{
	json_put_texts(context_event(r->e->file, "failure"), "action", id, "reason", reason);
	context_set(r->doc, "question", str_of(reason));
	context_set(r->doc, "question_trigger", STR(ADMISSION_TRIGGER));
	engine_dispatch_done(
		r, "failed", arena_printf(&r->arena, "needs your answer: %s", reason), reason);
}

size_t engine_admit_requests(
	struct engine_run *r, const char *part, struct step_request *requests, size_t n, bool open)
{
	struct admission answer = {0};
	const char *id = NULL;
	size_t i = 0;

	for (; i < n; i++) {
		id = requests[i].node ? engine_next_id(r, requests[i].node->id, 0)
				      : engine_next_id(r, part, i);
		machine_admission_ask(r, id, &requests[i], &answer);
		if (answer.answer != ADMISSION_FREE && answer.answer != ADMISSION_YES)
			break;
		requests[i].tools = answer.tools;
	}
	if (answer.answer == ADMISSION_FAILED) {
		r->no_admission = memcpy(arena_alloc(&r->arena, sizeof(answer.error)),
			&answer.error, sizeof(answer.error));
		engine_dispatch_done(r, "failed", answer.error.text, NULL);
		return 0;
	}
	if (i)
		return i;
	if (answer.answer == ADMISSION_REMEDY)
		engine_troubleshooter_remedy(r, requests->trigger, &answer);
	if (answer.answer == ADMISSION_REMEDY && !answer.until)
		return 0;
	if (open)
		engine_dispatch_again(r, true);
	else if (answer.answer == ADMISSION_REMEDY)
		wait_for_admission(r, answer.until, "it is tried again later");
	else if (answer.answer == ADMISSION_WAIT)
		wait_for_admission(r, answer.until, answer.reason);
	else
		refuse_dispatch(r, id, answer.reason);
	return 0;
}

void engine_drop_question(struct engine_run *r)
{
	context_set(r->doc, "question", (struct str){0});
	context_set(r->doc, "question_trigger", (struct str){0});
	context_set(r->doc, "troubleshooter_input", (struct str){0});
}

bool engine_admit_again(struct engine_run *r)
{
	if (!str_is(context_get(r->doc, "question_trigger"), ADMISSION_TRIGGER))
		return false;
	engine_drop_question(r);
	return true;
}
