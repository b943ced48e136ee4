#include "tests/crash/stage.h"
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
#define EXEC(action)                                                                               \
	"dev-team exec --context-file \"$STATE/T-1.md\" --action T-1/" action " >/dev/null\n"
#define TO_VALIDATING                                                                              \
	BOOT RECORD("researching/1", "briefed") NEXT RECORD("implementing/1", "implemented")
/* What the agent has left in the item's worktree. */
#define LEFT "echo rest >.dev-team/worktrees/T-1/left-over\n"
/* The agent rewrites what was pushed, and it is to be validated again. */
#define AMENDED                                                                                    \
	"git -C .dev-team/worktrees/T-1 commit -q --amend -m amended\n"                            \
	"echo validating | dev-team context set \"$STATE/T-1.md\" state >/dev/null\n"
/* What the user has in the checkout. */
#define MESSY                                                                                      \
	"git init -q --template= ../sub && git -C ../sub commit -q --allow-empty -m sub\n"         \
	"git -c protocol.file.allow=always submodule --quiet add \"$PWD/../sub\" sub\n"            \
	"git commit -q -m submodule; echo inner >sub/inner\n"                                      \
	"echo stashed >>_spec_T.md; git stash -q\n"                                                \
	"git checkout -q -b topic; echo one >both; git add both; git commit -q -m one\n"           \
	"git checkout -q T-1; echo two >both; git add both; git commit -q -m two\n"                \
	"git rebase -q topic >/dev/null 2>&1 || :; test -d .git/rebase-merge\n"                    \
	"mkdir -p .git/info\n"                                                                     \
	"echo '*.log' >.git/info/exclude\n"                                                        \
	"echo ignored >a.log; echo KEY=1 >.env\n"                                                  \
	"echo staged >staged; git add staged; echo edited >>_spec_T.md\n"
#define CHECKOUT                                                                                   \
	"cksum .git/index .git/HEAD; find . -path ./.git -prune -o -path ./.dev-team -prune -o "   \
	"-type f -exec cksum {} + | "                                                              \
	"sort; find .git -path '.git/rebase-*' -type f -exec cksum {} + | sort; "                  \
	"git for-each-ref refs/heads/main refs/heads/T-1 refs/heads/topic refs/stash\n"
#define WORKTREES                                                                                  \
	"git worktree list | wc -l; git branch --list 'dev-team/*'; cat .git/info/exclude "        \
	"2>/dev/null || :\n"
#define VERIFIED                                                                                   \
	CHECKOUT WORKTREES                                                                         \
		"dev-team pool audit; git log --format=%s dev-team/T-1; git -C ../origin.git log " \
		"--format=%s --name-only --all; "                                                  \
		"dev-team events --json \"$STATE/T-1.md\" | grep -c '\"type\":\"evidence\"' || :"
/* An origin that can be asked, and a forge. */
#define REMOTE                                                                                     \
	"mkdir ../org && ln -s ../origin.git ../org/repo.git\n"                                    \
	"git remote set-url origin git@example.org:org/repo.git\n"
#define AHEAD                                                                                      \
	"git clone -q ../origin.git ../other; cd ../other\n"                                       \
	"git commit -q --allow-empty -m 'of another'; git push -q\n"                               \
	"cd ../work; rm -rf ../other\n"
#define FORGE                                                                                      \
	REMOTE                                                                                     \
	"cat >../forge.sh <<'END'\n"                                                               \
	"echo \"$1\" >>\"$HOME/" STAGE_ASKED "\"\n"                                                \
	"printf '{\"state\":\"open\",\"branch\":\"dev-team/T-1\",\"head\":\"%s\"}' "               \
	"$(git rev-parse HEAD)\n"                                                                  \
	"END\n"                                                                                    \
	"sed '1a forge: sh \"$HOME/forge.sh\" \"$1\"' "                                            \
	"\"$DEV_TEAM_ROOT/workflows/implement-task.md\" >../forge.md\n"
#define STEP_FORGE "dev-team step T-1 --workflow ../forge.md >/dev/null\n"
#define TO_PULL                                                                                    \
	FORGE STEP_FORGE RECORD("researching/1", "briefed")                                        \
		STEP_FORGE LEFT RECORD("implementing/1", "implemented")                            \
			STEP_FORGE EXEC("validating/1") STEP_FORGE                                 \
		"echo https://example.org/org/repo/pulls/1 | dev-team record --context-file "      \
		"\"$STATE/T-1.md\" --action T-1/reviewing/1 --result pr_created >/dev/null\n"
#define WORKFLOW                                                                                   \
	"cat >wf.md <<'END'\n"                                                                     \
	"---\n"                                                                                    \
	"states:\n"                                                                                \
	"  lint: {command: 'echo linted; echo done', timeout: 60, writes: Lint,\n"                 \
	"    results: {passed: clean, failed: bad}}\n"                                             \
	"  gates:\n"                                                                               \
	"    all:\n"                                                                               \
	"      - {agent: reviewer, skill: x:s, args: [it], writes: A, results: {approved: ok, "    \
	"refused: bad}}\n"                                                                         \
	"      - {agent: reviewer, skill: x:s, args: [it], writes: B, results: {approved: ok, "    \
	"refused: bad}}\n"                                                                         \
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
#define LINT     "dev-team exec --context-file \"$STATE/G-1.md\" --action G-1/lint/1 >/dev/null\n"
#define TO_GATES FLOW LINT "dev-team step G-1 --workflow wf.md >/dev/null\n"

/* ---- events of the client ---- */

#define HOOK(event, input) "printf '%s' '" input "' | dev-team hook " event " >/dev/null\n"
#define SLASH(name, words)                                                                         \
	"{\"command_name\":\"dev-team:" name "\",\"command_args\":\"" words                        \
	"\",\"session_id\":\"ann\"}"
#define START                                                                                      \
	"{\"session_id\":\"ann\",\"tool_name\":\"Workflow\",\"tool_input\":{\"name\":"             \
	"\"dev-team:loop\",\"args\":{\"id\":\"G-1\"}}}"
#define STRUCTURED_BY(session, action)                                                             \
	"{\"session_id\":\"" session "\",\"tool_name\":\"StructuredOutput\",\"agent_type\":"       \
	"\"dev-team:task-runner\",\"agent_id\":\"a1\",\"agent_transcript_path\":"                  \
	"\"../" action "\",\"tool_input\":{\"id\":\"G-1/" action                                   \
	"\",\"word\":\"approved\",\"text\":\"approved\\n\"}}"
#define STRUCTURED(action) STRUCTURED_BY("ann", action)
#define CLEAR              "{\"session_id\":\"bob\",\"source\":\"clear\"}"
#define AGENT(action)                                                                              \
	"{\"tool_name\":\"Agent\",\"tool_input\":{\"prompt\":\"@/G-1.md\\nG-1/" action "\"},"      \
	"\"tool_response\":\"approved\"}"
#define AGENT_ENDS                                                                                 \
	"{\"session_id\":\"ann\",\"agent_id\":\"a1\",\"agent_type\":"                              \
	"\"dev-team:task-runner\",\"agent_transcript_path\":\"../agent.jsonl\","                   \
	"\"last_assistant_message\":\"Good.\\n{\\\"status\\\": "                                   \
	"\\\"approved\\\"}\"}"
/* A turn may end: the script of the client has ended. */
#define SCRIPT_ENDED HOOK("Stop", "{\"session_id\":\"ann\",\"last_assistant_message\":\"Why?\"}")

#define STEP_DRIVEN "dev-team step G-1 --workflow wf.md --owner ann"
/* By a slash command, until two agents are requested. */
#define DRIVEN_GATES                                                                               \
	WORKFLOW                                                                                   \
	HOOK("UserPromptExpansion", SLASH("dev-team", "wf.md G-1"))                                \
	LINT STEP_DRIVEN " >/dev/null\n"
/* Until the last step. */
#define DRIVEN DRIVEN_GATES GATE("gates/1", "approved") GATE("gates/2", "approved")
#define PROMPT(action)                                                                             \
	"mkdir -p ../gates && printf "                                                             \
	"'{\"type\":\"user\",\"message\":{\"content\":\"%s/G-1.md\\\\n"                            \
	"G-1/" action "\"}}\\n' \"$STATE\" >../" action "\n"
#define SCRIPT_GATES PROMPT("gates/1") PROMPT("gates/2") DRIVEN_GATES HOOK("WorkflowStep", START)
/* The prompt that SubagentStop reads in the agent's transcript. */
#define TRANSCRIPT                                                                                 \
	"printf "                                                                                  \
	"'{\"type\":\"user\",\"message\":{\"content\":\"%s/G-1.md\\\\nG-1/gates/1\\\\n\\\\n"       \
	"# G-1/gates/1\\\\nBrief.\"}}\\n' \"$STATE\" >../agent.jsonl\n"                            \
	"printf '%s\\n' "                                                                          \
	"'{\"type\":\"assistant\",\"message\":{\"id\":\"1\",\"content\":[{\"type\":\"text\","      \
	"\"text\":\"Good.\\n{\\\"status\\\": \\\"approved\\\"}\"}],\"usage\":{\"input_tokens\":1," \
	"\"output_tokens\":1}}}' >>../agent.jsonl\n"

/* Prints the items that the session drives. */
#define SESSION(name) "printf '%s' '{\"session_id\":\"" name "\"}' | dev-team hook SessionStart\n"

#define NO_JOURNAL BOOT "rm $STATE/T-1.events.jsonl\n"
#define EDIT       "sed -i 's/^test_log:.*/test_log: mine/' $STATE/T-1.md\n"
#define PLAY                                                                                       \
	"cat >two.md <<'END'\n"                                                                    \
	"---\n"                                                                                    \
	"states:\n"                                                                                \
	"  one: {agent: x:a, skill: x:s, args: [it], writes: A, results: {good: ok, bad: bad}}\n"  \
	"  two: {agent: x:a, skill: x:s, args: [it], writes: B, results: {good: ok, bad: bad}}\n"  \
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
/* The first child of G-1 has ended, and the second one waits for that. */
#define CHILDREN                                                                                   \
	"cat >part.md <<'END'\n"                                                                   \
	"---\n"                                                                                    \
	"evidence: []\n"                                                                           \
	"states:\n"                                                                                \
	"  one: {agent: reviewer, skill: reviewer-review, reads: [Spec], writes: A, "              \
	"results: {good: ok, bad: bad}}\n"                                                         \
	"---\n"                                                                                    \
	"```mermaid\n"                                                                             \
	"stateDiagram-v2\n"                                                                        \
	"  [*] --> init\n"                                                                         \
	"  init --> one : start\n"                                                                 \
	"  one --> done : ok\n"                                                                    \
	"  one --> failed : bad\n"                                                                 \
	"  done --> [*]\n"                                                                         \
	"  failed --> [*]\n"                                                                       \
	"```\n"                                                                                    \
	"END\n"                                                                                    \
	"sed -e '/^  one:/c\\  one:\\n    all:\\n"                                                 \
	"      - {child: a, workflow: part.md, task: One., writes: A, "                            \
	"results: {success: ok, failed: bad}}\\n"                                                  \
	"      - {child: b, workflow: part.md, task: Two., after: [A], writes: B, "                \
	"results: {success: ok, failed: bad}}' part.md >tree.md\n"                                 \
	"dev-team step G-1 --workflow tree.md >/dev/null\n"                                        \
	"echo good | dev-team record --context-file \"$STATE/G-1.a.md\" --action G-1.a/one/1 "     \
	"--result good >/dev/null\n"
#define COUNT_EVENTS                                                                               \
	"for i in G-1 G-1.a G-1.b; do dev-team events --json \"$STATE/$i.md\" | grep -oE "         \
	"'\"type\":\"(started|dispatch|answer|done)\"' | sort | uniq -c; done; ls \"$STATE\"\n"
/* A node of a manifest has an answer that changes the project. */
#define MANIFEST                                                                                   \
	"cat >m.yaml <<'END'\n"                                                                    \
	"{apiVersion: dev-team/v1, kind: AgentManifest, metadata: {name: m}, spec: {"              \
	"personas: [{name: w, systemPrompt: Work.}], "                                             \
	"nodes: [{id: a, persona: w}, {id: b, persona: w}, {id: c, persona: w}], "                 \
	"edges: [{from: a, to: b, when: [{type: state_flag, flag: ready}]}, "                      \
	"{from: a, to: c, when: [{type: state_flag, flag: ready, is: false}]}]}}\n"                \
	"END\n"                                                                                    \
	"git add m.yaml && git commit -q -m manifest\n"                                            \
	"dev-team step T-1 --workflow m.yaml >/dev/null\n"                                         \
	"echo '{\"status\": \"success\", \"flags\": {\"ready\": true}}' | dev-team record "        \
	"--context-file \"$STATE/T-1.md\" --action T-1/a/1 >/dev/null\n"
/* It waits for children for long: it makes many calls, and not the same number each time. */
#define WAITS .most = 40, .varies = true
/* It starts git more than once, and each run of it takes long. */
#define GIT .most = 3, .slow = true, .varies = true, .talks = true, .prints = true
/* It also verifies a claim. */
#define VERIFIES GIT, .counts = true, .probe = VERIFIED

/* A plan, a pipeline, and what the ledger says of them. */
#define PLANNED                                                                                    \
	BOOT "mkdir -p .dev-team/resources\n"                                                      \
	     "cat >.dev-team/resources/plan.yaml <<'END'\n"                                        \
	     "{apiVersion: dev-team/v1, kind: SubscriptionPlan, metadata: {name: pro}, spec: "     \
	     "{harness: claude-code, billingMode: monthly-cap, windowQuotaTokens: 1000000}}\n"     \
	     "END\n"                                                                               \
	     "cat >.dev-team/resources/pipeline.yaml <<'END'\n"                                    \
	     "{apiVersion: dev-team/v1, kind: Pipeline, metadata: {name: ship}, spec: "            \
	     "{accountId: team, subscriptionPlans: [pro], stages: "                                \
	     "[{name: plan, estimatedTokens: {input: 50000, output: 10000, frozen: true}}]}}\n"    \
	     "END\n"
#define LEDGER "dev-team ledger status --json\n"
#define SHIP   "plan", "--pipeline", "ship", "--action", "T-1/plan/1"

#define IMPLEMENT "--workflow", "implement"
#define T1        "--context-file", "@T-1.md"
#define POOL      "dev-team pool allocate warm >/dev/null 2>&1\n"

/* A pool whose branches are files `.git/db-KEY`. */
#define DATABASE                                                                                   \
	"mkdir -p .dev-team/resources\n"                                                           \
	"cat >.dev-team/resources/pool.yaml <<'END'\n"                                             \
	"{apiVersion: dev-team/v1, kind: WorktreePool, metadata: {name: default}, spec: "          \
	"{databaseBranchPools: [app]}}\n"                                                          \
	"END\n"                                                                                    \
	"cat >.dev-team/resources/app.yaml <<'END'\n"                                              \
	"{apiVersion: dev-team/v1, kind: DatabaseBranchPool, metadata: {name: app}, spec: "        \
	"{adapter: external, upstream: {connectionStringEnv: HOME}, injection: {targetEnv: DB}, "  \
	"migrations: {migrationCommand: 'test -n \"$DB\"'}, credentials: {acknowledgeUntrusted: "  \
	"true, allocateCommand: 'f() { touch \".git/db-$1\" && echo \"x:$1\"; }; f', "             \
	"reclaimCommand: 'f() { rm -f \".git/db-$1\"; }; f', listCommand: 'f() { ls .git | sed "   \
	"-n \"s/^db-$1/$1/p\"; }; f'}}}\n"                                                         \
	"END\n"

/* Its branches are made at the first use, and one waits in advance. */
#define LIFECYCLE(more)                                                                            \
	"sed -i 's/migrations:/lifecycle: {" more "}, &/' .dev-team/resources/app.yaml\n"
#define EVENTS                                                                                     \
	"mkdir $STATE/artifacts; touch $STATE/artifacts/_events.jsonl $STATE/artifacts/.lock\n"
#define LAZY DATABASE LIFECYCLE("createOn: first-write-stage") BOOT EVENTS
#define WARM                                                                                       \
	DATABASE LIFECYCLE("createOn: first-write-stage, warmPoolSize: 1, maxConcurrent: 4")       \
		BOOT EVENTS "dev-team db refill >/dev/null\n"
/* The same with copies of an SQLite database. */
#define SQLITE(more)                                                                               \
	"sqlite3 $UPSTREAM 'CREATE TABLE t (a)'\n" DATABASE                                        \
	"sed -i -e 's/external/sqlite-copy/; s/HOME/UPSTREAM/; s/, credentials: .*/}}/' -e "       \
	"'s/test -n.*\"/sqlite3 \"$DB\" \"CREATE TABLE u (a)\"/' "                                 \
	".dev-team/resources/app.yaml\n" LIFECYCLE("createOn: first-write-stage" more) BOOT EVENTS
#define SQLITE_WARM SQLITE(", warmPoolSize: 1, maxConcurrent: 4") "dev-team db refill >/dev/null\n"
#define COPIES                                                                                     \
	"for d in $(find $DEV_TEAM_STATE_DIR/worktrees -path '*/.databases/*' -type f) "           \
	"$UPSTREAM; do sqlite3 $d .tables; done; dev-team db list | sed 's/.*  app  //'; "         \
	"dev-team pool audit\n"
/* The target has moved. */
#define TO_REBASE                                                                                  \
	REMOTE DATABASE BOOT EVENTS                                                                \
		"(cd \"$(git worktree list | sed -n 's/ .*dev-team.T-1.$//p')\"; "                 \
		"echo work >work; git add work; git commit -q -m work; git push -q -u origin "     \
		"HEAD)\n" AHEAD
/* It prints something else when it is run again. */
#define UNLIKE .most = 3, .slow = true, .varies = true, .talks = true
/* A removal that failed is tried again after a while, or by `db sweep`; one that was killed, by the
 * next command. */
#define DATABASES                                                                                  \
	"if dev-team db list | grep -q 'cannot be removed'; then dev-team db sweep >/dev/null; "   \
	"fi\n"                                                                                     \
	"ls .git | grep -c '^db-' || :; dev-team db list | sed 's/.*  app  //'; dev-team pool "    \
	"audit\n"

/* A task that is pushed. */
#define BACKLOG                                                                                    \
	REMOTE                                                                                     \
	"mkdir -p backlog/tasks $STATE/artifacts; git checkout -q main\n"                          \
	"printf '%s\\n' --- 'id: T-1' 'title: t' 'status: To Do' --- '- [ ] a' "                   \
	">backlog/tasks/t-1.md\n"                                                                  \
	"git add backlog && git commit -q -m backlog && git push -q origin main 2>/dev/null\n"     \
	"git fetch -q && git remote set-head origin main\n"

const struct scene scenes[] = {
	{.name = "tick: a task is started",
		.proof = true,
		.setup = BACKLOG,
		.words = {"tick"},
		GIT,
		.only_kills = true, /* what fails is in the tick's own record, and counts */
		.probe = "git worktree list | wc -l; sed 's/.*\"type\":\"\\([^\"]*\\).*/\\1/' "
			 "$STATE/artifacts/_events.jsonl | grep -v Tick | sort -u; "
			 "grep -o original $STATE/artifacts/T-1/triage-history.jsonl | sort -u"},
	{.name = "db allocate: a branch is made and migrated",
		.proof = true,
		.setup = LAZY,
		.words = {"db", "allocate", "dev-team/T-1"},
		UNLIKE,
		.prints = true,
		.lax = true,
		.probe = DATABASES},
	{.name = "db allocate: a branch made in advance is handed over",
		.proof = true,
		.setup = WARM,
		.words = {"db", "allocate", "dev-team/T-1"},
		UNLIKE,
		.prints = true,
		.lax = true,
		.probe = DATABASES},
	{.name = "db reclaim",
		.proof = true,
		.setup = LAZY "dev-team db allocate dev-team/T-1 >/dev/null\n",
		.words = {"db", "reclaim", "dev-team/T-1"},
		UNLIKE,
		.lax = true,
		.probe = DATABASES},
	{.name = "db allocate: an SQLite database is copied and migrated",
		.proof = true,
		.setup = SQLITE(""),
		.words = {"db", "allocate", "dev-team/T-1"},
		UNLIKE,
		.prints = true,
		.lax = true,
		.probe = COPIES},
	{.name = "db allocate: a copy of an SQLite database made in advance is handed over",
		.proof = true,
		.setup = SQLITE_WARM,
		.words = {"db", "allocate", "dev-team/T-1"},
		UNLIKE,
		.prints = true,
		.lax = true,
		.probe = COPIES},
	{.name = "db reclaim: a copy of an SQLite database",
		.proof = true,
		.setup = SQLITE("") "dev-team db allocate dev-team/T-1 >/dev/null\n",
		.words = {"db", "reclaim", "dev-team/T-1"},
		UNLIKE,
		.lax = true,
		.probe = COPIES},
	{.name = "gate rebase: the migrations are repeated on a fresh database branch",
		.proof = true,
		.setup = TO_REBASE,
		.words = {"gate", "rebase", "dev-team/T-1"},
		UNLIKE,
		.lax = true,
		.probe = DATABASES "git log --format=%s dev-team/T-1\n"},
	{.name = "land: a branch, rebased, checked and pushed with its target",
		.proof = true,
		.setup = REMOTE BOOT
		"git switch -q -c one; echo one >one; git add one; git commit -q "
		"-m one; git push -q origin one; git switch -q -\n" AHEAD,
		.words = {"land", "one", "--check", "test -e one"},
		UNLIKE,
		.lax = true,
		.probe = "git -C ../origin.git log --format=%s main; git -C ../origin.git log "
			 "--format=%s one; git worktree list | wc -l; ls -a .dev-team/worktrees | "
			 "grep -c landing || :; git for-each-ref refs/heads; git status --short\n"},
	{.name = "step: a new work item, with a database branch",
		.proof = true,
		.setup = DATABASE POOL,
		.words = {"step", "T-1", IMPLEMENT},
		GIT,
		.lax = true,
		.probe =
			"git worktree list | wc -l; ls .git | grep -c '^db-'; dev-team pool audit; "
			"dev-team db list | wc -l"},
	{.name = "step: a new work item",
		.setup = POOL,
		.words = {"step", "T-1", IMPLEMENT},
		GIT,
		.lax = true,
		.probe = "git status --porcelain; git worktree list | wc -l; git branch --list "
			 "'dev-team/*'; dev-team pool audit"},
	{.name = "step: after an answer",
		.setup = BOOT RECORD("researching/1", "briefed"),
		WAITS,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step --returned: a silent agent",
		.setup = BOOT,
		.words = {"step", "T-1", IMPLEMENT, "--returned=T-1/researching/1"},
		.prints = true},
	{.name = "step: a claim is refuted",
		.setup = MESSY TO_VALIDATING,
		.words = {"step", "T-1", IMPLEMENT},
		VERIFIES},
	{.name = "step: a new work item, whose base is fetched",
		.proof = true,
		.setup = MESSY REMOTE AHEAD,
		.words = {"step", "T-1", IMPLEMENT},
		GIT,
		.lax = true,
		.counts = true,
		.probe =
			CHECKOUT WORKTREES "dev-team pool audit; git log --format=%s dev-team/T-1"},
	{.name = "step --in-place: a new work item",
		.proof = true,
		.setup = "",
		.words = {"step", "T-1", IMPLEMENT, "--in-place"},
		GIT,
		.lax = true,
		.counts = true,
		.probe = CHECKOUT WORKTREES},
	{.name = "step: the forge knows the pull request",
		.proof = true,
		.setup = MESSY TO_PULL,
		.words = {"step", "T-1", "--workflow", "../forge.md"},
		VERIFIES},
	{.name = "step: all is verified once more, and the item is done",
		.setup = MESSY TO_PULL STEP_FORGE RECORD("reviewing/2", "approved"),
		.words = {"step", "T-1", "--workflow", "../forge.md"},
		VERIFIES},
	{.name = "step: work is committed and verified",
		.setup = MESSY TO_VALIDATING LEFT,
		.words = {"step", "T-1", IMPLEMENT},
		VERIFIES},
	{.name = "step: validated and pushed",
		.setup = MESSY TO_VALIDATING LEFT NEXT EXEC("validating/1"),
		.words = {"step", "T-1", IMPLEMENT},
		VERIFIES},
	{.name = "step: amended, validated and pushed over what was pushed before",
		.proof = true,
		.setup = MESSY TO_VALIDATING LEFT NEXT EXEC("validating/1")
			NEXT AMENDED NEXT EXEC("validating/2"),
		.words = {"step", "T-1", IMPLEMENT},
		GIT,
		.probe = VERIFIED},
	{.name = "step: several at once, all answered, to the end",
		.setup = TO_GATES GATE("gates/1", "approved") GATE("gates/2", "approved"),
		.words = {"step", "G-1", "--workflow", "wf.md"},
		.prints = true,
		.id = "G-1"},
	{.name = "step --returned: several at once, one answered",
		.setup = TO_GATES GATE("gates/1", "approved"),
		.words = {"step", "G-1", "--workflow", "wf.md", "--returned=G-1/gates/1"},
		.prints = true,
		.id = "G-1"},
	{.name = "step: a node ends and changes the project",
		.proof = true,
		.setup = MANIFEST,
		WAITS,
		.words = {"step", "T-1", "--workflow", "m.yaml"},
		.prints = true,
		.probe = "grep -o '\"flag/[a-z]*\"' $STATE/project/context.events.jsonl"},
	{.name = "step: a child has ended, and the next one begins",
		.proof = true,
		.setup = CHILDREN,
		.words = {"step", "G-1", "--workflow", "tree.md"},
		GIT,
		.lax = true,
		.id = "G-1",
		.probe = WORKTREES "dev-team pool audit\n" COUNT_EVENTS},
	{.name = "step --owner: the end of all that a session drives",
		.setup = DRIVEN,
		.most = 40,
		.words = {"step", "G-1", "--workflow", "wf.md", "--owner", "ann"},
		.prints = true,
		.id = "G-1",
		.probe = "ls \"$DEV_TEAM_STATE_DIR/sessions\" 2>/dev/null || :"},
	{.name = "step --owner: a new work item",
		.proof = true,
		.gives_back = true,
		.setup = POOL,
		GIT,
		.words = {"step", "T-1", IMPLEMENT, "--owner", "ann"}},
	{.name = "step --owner: nothing new",
		.setup = OWNED,
		.words = {"step", "T-1", IMPLEMENT, "--owner", "ann"},
		.prints = true},
	{.name = "step --take-over",
		.setup = OWNED,
		.words = {"step", "T-1", IMPLEMENT, "--owner", "bob", "--take-over"},
		.prints = true},
	{.name = "step --take-over: after an answer",
		.setup = OWNED RECORD("researching/1", "briefed"),
		WAITS,
		.words = {"step", "T-1", IMPLEMENT, "--owner", "bob", "--take-over"},
		.prints = true},
	{.name = "step: a document without a journal",
		.setup = NO_JOURNAL,
		WAITS,
		.talks = true,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step: after an edit by hand",
		.lax = true,
		.setup = BOOT EDIT,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "step: after an answer and an edit by hand",
		.lax = true,
		.setup = BOOT RECORD("researching/1", "briefed") EDIT,
		WAITS,
		.words = {"step", "T-1", IMPLEMENT},
		.prints = true},
	{.name = "cancel",
		.setup = BOOT,
		.words = {"cancel", "T-1", "--context-file", "@T-1.md"},
		.again = 4},
	{.name = "retry",
		.setup = BOOT
		"echo 2 | dev-team context set \"$STATE/T-1.md\" fix_iteration >/dev/null\n" RECORD(
			"researching/1", "briefed") NEXT
		"echo failed | dev-team context set \"$STATE/T-1.md\" state >/dev/null\n",
		.words = {"retry", "T-1", "--no-run", T1},
		.again = 4,
		.varies = true},
	{.name = "answer: to a question",
		.setup = BOOT
		"echo Which? | dev-team context set \"$STATE/T-1.md\" question >/dev/null\n",
		.words = {"answer", "T-1", T1, "In", "German."}},
	{.name = "reset",
		.setup = BOOT RECORD("researching/1", "briefed") NEXT,
		.words = {"reset", "T-1", T1},
		.varies = true},
	{.name = "record",
		.setup = BOOT,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed"},
		.input = "The brief.\n<!-- section:Forged -->\nEnd.\n"},
	{.name = "ledger admit: a reservation",
		.setup = PLANNED,
		.words = {"ledger", "admit", SHIP},
		.lax = true,
		.probe = LEDGER},
	{.name = "ledger record: a reservation is settled",
		.setup = PLANNED
		"dev-team ledger admit plan --pipeline ship --action T-1/plan/1 >/dev/null\n",
		.words = {"ledger", "record", SHIP, "--input", "70000", "--output", "5000"},
		.lax = true,
		.probe = LEDGER},
	/* Never an action that is printed without its reservation. */
	{.name = "step: with a plan",
		.setup = PLANNED RECORD(
			"researching/1", "briefed") "echo 'pipeline: ship' >.dev-team/config.yaml\n"
						    "sed -i 's/name: plan/name: implementing/' "
						    ".dev-team/resources/pipeline.yaml\n",
		WAITS,
		.words = {"step", "T-1", IMPLEMENT},
		.lax = true,
		.prints = true,
		.proof = true,
		.probe = LEDGER},
	{.name = "record: a long text",
		.setup = BOOT,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed"},
		.input = "One line of a long text, of which there are many.\n",
		.repeat = 8000},
	{.name = "record --owner",
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
		.setup = NO_JOURNAL,
		.words = {"record", T1, "--action", "T-1/researching/1", "--result", "briefed"},
		.input = "The brief.\n"},
	{.name = "context set",
		.setup = BOOT,
		.words = {"context", "set", "@T-1.md", "user_note"},
		.input = "two\nlines: #1"},
	{.name = "context restore",
		.lax = true,
		.setup = BOOT RECORD("researching/1", "briefed") "echo broken >$STATE/T-1.md\n",
		.words = {"context", "restore", "@T-1.md"}},
	{.name = "context restore: a revision",
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
		WAITS,
		.id = "G-1"},
	{.name = "exec --owner",
		.setup = OWNED_FLOW,
		.words = {"exec", "--context-file", "@G-1.md", "--action", "G-1/lint/1", "--owner",
			"ann"},
		WAITS,
		.id = "G-1"},
	{.name = "exec: a denied script",
		.setup = BOUND,
		.words = {"exec", "--context-file", "@G-1.md", "--action", "G-1/lint/1"},
		WAITS,
		.id = "G-1"},
	{.name = "step: after a denied script",
		.setup = BOUND "dev-team exec --context-file \"$STATE/G-1.md\" --action G-1/lint/1 "
			       ">/dev/null\n",
		.words = {"step", "G-1", "--workflow", "wf.md"},
		.prints = true,
		.explains = true,
		.id = "G-1"},
	/* The options of the run are noted for `retry`; the run itself does not need that. */
	{.name = "run",
		.proof = true,
		.lax = true,
		.setup = POOL PLAY,
		GIT,
		.words = {"run", "R-1", "--workflow", "two.md", "--agents", "agents.yaml"},
		.gives_back = true,
		.id = "R-1"},
	{.name = "hook UserPromptExpansion: a new work item",
		.proof = true,
		.setup = POOL WORKFLOW,
		.words = {"hook", "UserPromptExpansion"},
		.input = SLASH("dev-team", "wf.md G-1"),
		.most = 10,
		.slow = true,
		.varies = true,
		.talks = true,
		.gives_back = true,
		.id = "G-1",
		.told = "STEP: ",
		.probe = WORKTREES "dev-team pool audit; " SESSION("ann")},
	{.name = "hook WorkflowStep: the script begins",
		.setup = DRIVEN_GATES,
		.words = {"hook", "WorkflowStep"},
		.input = START,
		.id = "G-1",
		.told = "\"next\":",
		.next = SCRIPT_ENDED HOOK("WorkflowStep", START)},
	{.name = "hook WorkflowStep: an answer",
		.setup = SCRIPT_GATES,
		.words = {"hook", "WorkflowStep"},
		.input = STRUCTURED("gates/1"),
		.id = "G-1",
		.told = "\"recorded\"",
		.next = HOOK("WorkflowStep", STRUCTURED("gates/1")) STEP_DRIVEN},
	{.name = "hook WorkflowStep: the last answer, and the end of the session's record",
		.setup = SCRIPT_GATES GATE("gates/1", "approved"),
		.words = {"hook", "WorkflowStep"},
		.input = STRUCTURED("gates/2"),
		.most = 10,
		.slow = true,
		.id = "G-1",
		.told = "\"result\":\"success\"",
		/* The session's next turn finishes the array. */
		.next = SCRIPT_ENDED STEP_DRIVEN
		" >../array; ! grep -q gates/2 ../array || {\n" GATE("gates/2", "approved")
			STEP_DRIVEN " >/dev/null; }\n"},
	{.name = "hook SubagentStop: an answer",
		.setup = DRIVEN_GATES TRANSCRIPT,
		.words = {"hook", "SubagentStop"},
		.input = AGENT_ENDS,
		.most = 10,
		.slow = true,
		.id = "G-1",
		.told = "",
		.next = HOOK("SubagentStop", AGENT_ENDS) STEP_DRIVEN},
	{.name = "hook PostToolBatch: the step after all agents",
		.most = 10,
		.setup = DRIVEN,
		.words = {"hook", "PostToolBatch"},
		.input = "{\"session_id\":\"ann\",\"tool_calls\":[" AGENT("gates/1") "," AGENT(
			"gates/2") "]}",
		.id = "G-1",
		.told = "ARRAY: ",
		.next = STEP_DRIVEN},
	{.name = "hook SessionStart: a script goes on after /clear",
		.setup = SCRIPT_GATES,
		.words = {"hook", "SessionStart"},
		.input = CLEAR,
		.id = "G-1",
		.told = "its script runs",
		.next = "grep -qs 'item/.*sum' \"$DEV_TEAM_STATE_DIR/sessions/bob.events.jsonl\" "
			"|| " HOOK("SessionStart", CLEAR)
				HOOK("WorkflowStep", STRUCTURED_BY("bob", "gates/1"))
					HOOK("WorkflowStep", STRUCTURED_BY("bob", "gates/2"))},
	{.name = "hook Stop: a turn that ends too early, then cancelled",
		.setup = "export CLAUDE_CODE_ENTRYPOINT=sdk-cli\n" DRIVEN_GATES,
		.words = {"hook", "Stop"},
		.input = "{\"session_id\":\"ann\"}",
		.id = "G-1",
		.told = "\"block\"",
		.next = HOOK("UserPromptExpansion", SLASH("cancel", "G-1"))},
	{0},
};
