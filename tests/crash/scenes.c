#include "tests/crash/scenes.h"
#include "tests/lib/wire.h"

#define BOOT  "dev-team step T-1 --workflow implement >/dev/null\n"
#define NEXT  BOOT
#define OWNED "dev-team step T-1 --workflow implement --owner ann >/dev/null\n"
#define TAKEN                                                                                      \
	OWNED                                                                                      \
	"dev-team step T-1 --workflow implement --owner bob --take-over >/dev/null\n"
#define RECORD(action, word)                                                                       \
	"printf '" word ": text of %s\\n' " action " |"                                            \
	" dev-team record --context-file \"$STATE/T-1.md\" --action T-1/" action " --result " word \
	" >/dev/null\n"
#define TO_VALIDATING                                                                              \
	BOOT RECORD("researching/1", "briefed") NEXT RECORD("implementing/1", "implemented")
#define WORKFLOW                                                                                   \
	"cat >wf.md <<'END'\n"                                                                     \
	"---\n"                                                                                    \
	"states:\n"                                                                                \
	"  lint: {command: 'echo linted; echo done', timeout: 60, writes: Lint,\n"                 \
	"    results: {passed: clean, failed: bad}}\n"                                             \
	"  gates:\n"                                                                               \
	"    all:\n"                                                                               \
	"      - {agent: reviewer, skill: s, writes: A, results: {approved: ok, refused: bad}}\n"  \
	"      - {agent: reviewer, skill: s, writes: B, results: {approved: ok, refused: bad}}\n"  \
	"---\n"                                                                                    \
	"```mermaid\n"                                                                             \
	"stateDiagram-v2\n"                                                                        \
	"  [*] --> init\n"                                                                         \
	"  init --> lint : start\n"                                                                \
	"  lint --> gates : clean\n"                                                               \
	"  lint --> failed : bad\n"                                                                \
	"  gates --> done : ok\n"                                                                  \
	"  gates --> failed : bad\n"                                                               \
	"  done --> [*]\n"                                                                         \
	"  failed --> [*]\n"                                                                       \
	"```\n"                                                                                    \
	"END\n"                                                                                    \
	"git add wf.md && git commit -q -m flow\n"
#define FLOW       WORKFLOW "dev-team step G-1 --workflow wf.md >/dev/null\n"
#define OWNED_FLOW WORKFLOW "dev-team step G-1 --workflow wf.md --owner ann >/dev/null\n"
/* A script that its policy denies. */
#define BOUND                                                                                      \
	WORKFLOW                                                                                   \
	"sed -i -e '2i security: {policy: build}' -e 's,echo linted; echo done,cat /etc/shadow,' " \
	"wf.md\n"                                                                                  \
	"git commit -qam bound\n"                                                                  \
	"dev-team step G-1 --workflow wf.md >/dev/null\n"
#define GATE(action, word)                                                                         \
	"echo " word " | dev-team record --context-file \"$STATE/G-1.md\" --action G-1/" action    \
	" --result " word " >/dev/null\n"
#define TO_GATES FLOW GATE("lint/1", "passed") "dev-team step G-1 --workflow wf.md >/dev/null\n"

#define NO_JOURNAL BOOT "rm $STATE/T-1.events.jsonl\n"
#define EDIT       "sed -i 's/^" WIRE_INPUT_KEY ":.*/" WIRE_INPUT_KEY ": mine/' $STATE/T-1.md\n"
#define PLAY                                                                                       \
	"cat >two.md <<'END'\n"                                                                    \
	"---\n"                                                                                    \
	"states:\n"                                                                                \
	"  one: {agent: a, skill: s, writes: A, results: {good: ok, bad: bad}}\n"                  \
	"  two: {agent: a, skill: s, writes: B, results: {good: ok, bad: bad}}\n"                  \
	"---\n"                                                                                    \
	"```mermaid\n"                                                                             \
	"stateDiagram-v2\n"                                                                        \
	"  [*] --> init\n"                                                                         \
	"  init --> one : start\n"                                                                 \
	"  one --> two : ok\n"                                                                     \
	"  one --> failed : bad\n"                                                                 \
	"  two --> done : ok\n"                                                                    \
	"  two --> failed : bad\n"                                                                 \
	"  done --> [*]\n"                                                                         \
	"  failed --> [*]\n"                                                                       \
	"```\n"                                                                                    \
	"END\n"                                                                                    \
	"cat >agents.yaml <<'END'\n"                                                               \
	"answers:\n"                                                                               \
	"  A: {text: Good., result: good}\n"                                                       \
	"  B: {text: Good., result: good}\n"                                                       \
	"END\n"
#define IMPLEMENT "--workflow", "implement"
#define T1        "--context-file", "@T-1.md"

const struct scene scenes[] = {
	{.name = "step: a new work item",
		.setup = "",
		.words = {"step", "T-1", IMPLEMENT},
		.most = 60,
		.prints = true},
	{.name = "step: after an answer",
		.setup = BOOT RECORD("researching/1", "briefed"),
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step --returned: a silent agent",
		.full = true,
		.setup = BOOT,
		.words = {"step", "T-1", IMPLEMENT, "--returned=T-1/researching/1"},
		.prints = true},
	{.name = "step: to a script state",
		.full = true,
		.setup = TO_VALIDATING,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step: commit and push",
		.setup = TO_VALIDATING NEXT RECORD(
			"validating/1", "passed") "echo rest >left-over\n",
		.words = {"step", "T-1", IMPLEMENT},
		.most = 20,
		.sample = true,
		.varies = true,
		.prints = true,
		.probe = "git status --porcelain; git log --format=%s; git -C ../origin.git log "
			 "--format=%s --all"},
	{.name = "step: several at once, all answered, to the end",
		.full = true,
		.setup = TO_GATES GATE("gates/1", "approved") GATE("gates/2", "approved"),
		.words = {"step", "G-1", "--workflow", "wf.md"},
		.prints = true,
		.id = "G-1"},
	{.name = "step --returned: several at once, one answered",
		.full = true,
		.setup = TO_GATES GATE("gates/1", "approved"),
		.words = {"step", "G-1", "--workflow", "wf.md", "--returned=G-1/gates/1"},
		.prints = true,
		.id = "G-1"},
	{.name = "step --owner: a new work item",
		.gives_back = true,
		.full = true,
		.setup = "",
		.words = {"step", "T-1", IMPLEMENT, "--owner", "ann"},
		.prints = true},
	{.name = "step --owner: nothing new",
		.full = true,
		.setup = OWNED,
		.words = {"step", "T-1", IMPLEMENT, "--owner", "ann"},
		.prints = true},
	{.name = "step --take-over",
		.full = true,
		.setup = OWNED,
		.words = {"step", "T-1", IMPLEMENT, "--owner", "bob", "--take-over"},
		.prints = true},
	{.name = "step --take-over: after an answer",
		.setup = OWNED RECORD("researching/1", "briefed"),
		.words = {"step", "T-1", IMPLEMENT, "--owner", "bob", "--take-over"},
		.prints = true},
	{.name = "step: a document without a journal",
		.setup = NO_JOURNAL,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step: after an edit by hand",
		.full = true,
		.lax = true,
		.setup = BOOT EDIT,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step: after an answer and an edit by hand",
		.lax = true,
		.setup = BOOT RECORD("researching/1", "briefed") EDIT,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "record",
		.setup = BOOT,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed"},
		.input = "The brief.\n<!-- section:Forged -->\nEnd.\n"},
	{.name = "record: a long text",
		.full = true,
		.setup = BOOT,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed"},
		.input = "One line of a long text, of which there are many.\n",
		.repeat = 8000},
	{.name = "record --owner",
		.full = true,
		.setup = OWNED,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed",
			"--owner", "ann"},
		.input = "The brief.\n"},
	{.name = "record --owner: by one who was fenced",
		.setup = TAKEN,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed",
			"--owner", "ann"},
		.input = "The brief, too late.\n",
		.keeps = true,
		.status = 4},
	{.name = "record: a document without a journal",
		.full = true,
		.setup = NO_JOURNAL,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed"},
		.input = "The brief.\n"},
	{.name = "context set",
		.full = true,
		.setup = BOOT,
		.words = {"context", "set", "@T-1.md", WIRE_INPUT_KEY},
		.input = "two\nlines: #1"},
	{.name = "context restore",
		.lax = true,
		.setup = BOOT RECORD("researching/1", "briefed") "echo broken >$STATE/T-1.md\n",
		.words = {"context", "restore", "@T-1.md"}},
	{.name = "context restore: a revision",
		.full = true,
		.setup = BOOT RECORD("researching/1", "briefed") NEXT,
		.words = {"context", "restore", "@T-1.md", "2"}},
	{.name = "fork",
		.setup = BOOT RECORD("researching/1", "briefed"),
		.words = {"fork", "@T-1.md@2", "--to", "F-1"},
		.again = 4,
		.id = "F-1"},
	{.name = "exec",
		.setup = FLOW,
		.words = {"exec", "--context-file", "@G-1.md", "--action", "G-1/lint/1"},
		.varies = true,
		.id = "G-1"},
	{.name = "exec --owner",
		.full = true,
		.setup = OWNED_FLOW,
		.words = {"exec", "--context-file", "@G-1.md", "--action", "G-1/lint/1", "--owner",
			"ann"},
		.varies = true,
		.id = "G-1"},
	{.name = "exec: a denied script",
		.setup = BOUND,
		.words = {"exec", "--context-file", "@G-1.md", "--action", "G-1/lint/1"},
		.varies = true,
		.full = true,
		.id = "G-1"},
	{.name = "step: after a denied script",
		.full = true,
		.setup = BOUND "dev-team exec --context-file \"$STATE/G-1.md\" --action G-1/lint/1 "
			       ">/dev/null\n",
		.words = {"step", "G-1", "--workflow", "wf.md"},
		.prints = true,
		.id = "G-1"},
	{.name = "run",
		.full = true,
		.setup = PLAY,
		.words = {"run", "R-1", "--workflow", "two.md", "--agents", "agents.yaml"},
		.most = 40,
		.talks = true,
		.gives_back = true,
		.prints = true,
		.id = "R-1"},
	{0},
};
