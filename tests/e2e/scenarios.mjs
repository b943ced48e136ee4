// What the real client is driven through. Each: [name, claim(expect, stage, world)].

import { Cast, decide, GOOD, say } from './cast.mjs';
import fs from 'node:fs';
import { answerAtOnce, barrier, latch, Pipe } from './meeting.mjs';

const IMPLEMENT = '/dev-team:implement ADR-1';
const result = (run) => run.result?.result ?? '';
const asked = (cast) => cast.calls.map((call) => call.split(' ')[1]);
const prefix = 'init>spec-finding spec-finding>researching researching>implementing implementing>validating';

function subjects(world, branch = 'dev-team/ADR-1') {
  return world.origin('log', '--reverse', '--format=%s', `main..${branch}`).split('\n');
}

function path(expect, world, wanted) {
  expect.equal(world.transitions().join(' '), wanted, 'states');
}

// Every event has its number, in order, and the last is the end.
function journal(expect, world, end) {
  const events = world.events();
  expect.equal(events.map((event) => event.seq), events.map((_, i) => i + 1), 'seq');
  expect.equal(events.filter((event) => event.type === 'done').map((event) => event.result), [end], 'done events');
}

async function happy(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world);
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast), ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
  journal(expect, world, 'success');
  expect.equal(world.key('state'), 'done', 'state');
  expect.equal(world.key('spec_path'), '_spec_Widget.md', 'spec_path');
  expect.equal(world.key('pr_url'), 'https://github.com/org/repo/pull/7', 'pr_url');
  expect.match(world.section('Researcher Brief'), /It's "quoted", `ticked`, \$HOME and \$\(id\), a \\ and a \\1; {"a": {"b": "c"}}/, 'the hostile text');
  expect.match(world.section('Researcher Brief'), /<!-- \\section:Validate Result -->/, 'the forged sentinel');
  expect.equal(subjects(world), ['ADR-1: add the widget'], 'commits on origin');
  expect.equal(world.origin('show', 'dev-team/ADR-1:src/widget.txt'), 'It turns.', 'the work on origin');
  expect.equal(world.git('status', '--short'), '', 'the work tree');
  const most = stage.affordable(expect, run);
  stage.tap.note(`figures: bytes an iteration adds to the main conversation: ${run.iterations.map((one) => one.bytes).join(' ')} (most with one agent: ${most.bytes})`);
  const shown = await stage.run(world, cast, '/dev-team:status ADR-1');
  stage.sound(expect, shown);
  expect.match(result(shown), /^state: done\npr_url: https:.*\/pull\/7\n[\s\S]*done/, 'what status shows');
  stage.tap.note(`figures: happy path in the real client: ${run.log.length} requests, ${run.seconds.toFixed(1)} s`);
}

async function changesRequested(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { 'reviewer-review': () => say('changes_requested', '**must** src/widget.txt:1: it does not turn.') });
  const meeting = barrier(3);
  cast.meet = (id) => (/\/signoff\//.test(id) ? meeting.arrive() : null);
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  path(expect, world, `${prefix} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  expect.equal(asked(cast).slice(4).sort(), ['developer-fix', 'researcher-validate', 'reviewer-sign-off'], 'agents');
  expect.equal(meeting.most, 3, 'sign-off agents at work at the same time');
  expect(Math.max(...run.log.filter((entry) => entry.agent).map((entry) => entry.inFlight)) >= 3, 'fewer than three sub-agent requests in flight');
  expect.equal(run.iterations.map((one) => one.agents), [1, 1, 1, 1, 1, 1, 3, 0], 'agents of each iteration');
  expect.equal(subjects(world), ['ADR-1: add the widget', 'ADR-1: mend the widget, 1'], 'commits on origin');
  expect(world.gh().some((line) => /^pr checks .*--watch/.test(line)), 'nobody waited for the checks');
  expect.equal(world.key('signoff_cycle_count'), '0', 'signoff_cycle_count');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function signoffRefused(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'reviewer-review': () => say('changes_requested', '**must** it does not turn.'),
    'researcher-validate': (task, n) => (n === 1 ? say('failed', '1. not met: no test') : say('validated', '1. met')),
  });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  path(expect, world, `${prefix} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>fixing-pr fixing-pr>signoff signoff>done`);
  expect.equal(world.key('review_fix_iteration'), '2', 'review_fix_iteration');
  journal(expect, world, 'success');
}

async function validationFails(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'developer-implement'(task) {
      const good = GOOD['developer-implement'].call(this, task);
      return { ...good, work: good.work.map((step) => (step.tool === 'Write' ? this.widget('BROKEN\n') : step)) };
    },
    'developer-fix'(task, n) {
      if (!/BROKEN|\.log/.test(task.brief)) throw new Error(`the brief does not say what failed:\n${task.brief}`);
      return GOOD['developer-fix'].call(this, task, n);
    },
  });
  const run = await stage.run(world, cast, '/dev-team:dev-team implement-task ADR-1');
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  path(expect, world, `${prefix} validating>fixing fixing>validating validating>reviewing reviewing>done`);
  expect.equal(world.key('fix_iteration'), '1', 'fix_iteration');
  expect.match(world.section('Fix 1'), /Mended, 1/, 'Fix 1');
  expect.equal(subjects(world), ['ADR-1: add the widget', 'ADR-1: mend the widget, 1'], 'commits on origin');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function silentThenContinues(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'researcher-plan': (task, n) => (n <= 3 ? { silent: true } : GOOD['researcher-plan'](task, n)),
    troubleshooter(task) {
      if (!task.brief.includes('consecutive_failures')) throw new Error(`the brief does not name the trigger:\n${task.brief}`);
      return { work: [{ run: task.command('dev-team context show') }, { run: task.command('dev-team events') }],
        ...decide('continue', 'the limit was over') };
    },
  });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast).slice(0, 5), ['researcher-plan', 'researcher-plan', 'researcher-plan', 'troubleshooter', 'researcher-plan'], 'agents');
  expect.equal(new Set(cast.calls).size, cast.calls.length, 'distinct ids');
  expect.equal(world.events().filter((event) => event.type === 'failure').length, 3, 'failures');
  expect.match(world.section('Troubleshooter Log'), /the limit was over/, 'Troubleshooter Log');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function silentThenTerminated(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { 'researcher-plan': () => ({ silent: true }), troubleshooter: () => decide('terminate', 'the spec is empty') });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^failed: .*the spec is empty/, 'what the user is told');
  expect.equal(world.key('state'), 'failed', 'state');
  journal(expect, world, 'failed');
}

// Two sign-offs refuse; the troubleshooter rules on the demand and sends the work back to be signed off.
async function deadlock(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'reviewer-review': () => say('changes_requested', '**must** it does not turn.'),
    'reviewer-sign-off': (task, n) => (n <= 2 ? say('changes_requested', '1. open: paint it') : say('approved', '1. settled by the ruling')),
    troubleshooter(task) {
      expect.match(task.brief, /^Trigger: signoff_deadlock$/m, 'the brief of the troubleshooter');
      return decide('continue', 'paint is outside the spec', [
        { section: 'Researcher Brief', text: `${world.section('Researcher Brief')}\nRuling: no paint.` },
        { key: 'state', value: 'signoff' },
      ]);
    },
  });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast).filter((skill) => skill === 'troubleshooter').length, 1, 'calls of the troubleshooter');
  expect.match(world.section('Researcher Brief'), /Ruling: no paint\.$/, 'Researcher Brief');
  expect.equal(world.transitions().slice(-4), ['fixing-pr>signoff', 'signoff>fixing-pr', 'fixing-pr>signoff', 'signoff>done'], 'the last states');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

// The client dies while the developer has committed and not recorded; another session begins from the disk.
async function killed(expect, stage, makeWorld) {
  const world = makeWorld();
  const reached = latch();
  const cast = new Cast(world, {
    'developer-implement'(task) {
      const good = GOOD['developer-implement'].call(this, task);
      return { ...good, work: [...good.work, { wait: reached.hold }] };
    },
  });
  const first = await stage.run(world, cast, IMPLEMENT, { during: async (client) => {
    await reached.reached;
    process.kill(client.pid, 'SIGKILL');
  } });
  expect.equal(first.signal, 'SIGKILL', 'how the first client ended');
  expect.equal(world.key('state'), 'implementing', 'state after the kill');
  const before = world.context();

  const again = new Cast(world, {
    'developer-implement'(task) {
      expect.equal(world.context(), before, 'the context file before the second developer');
      return { work: [{ run: task.command('git switch') }], ...say('implemented', 'It was done already.') };
    },
  });
  const run = await stage.run(world, again, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(again.calls[0], 'ADR-1/implementing/1 developer-implement', 'the first agent asked again');
  expect.equal(world.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
  journal(expect, world, 'success');
}

// The client dies while the script runs. The script goes on, the next session waits for that same one.
async function killedInScript(expect, stage, makeWorld) {
  const world = makeWorld();
  const began = new Pipe(`${world.root}/began`);
  const go = new Pipe(`${world.root}/go`);
  world.write('scripts/validate.sh', 'echo run >>"$FAKE_ROOT/runs"; echo on >"$FAKE_ROOT/began"; read -r word <"$FAKE_ROOT/go"; echo "$word"\n');
  world.git('commit', '-q', '-am', 'Let the checks wait');
  world.git('push', '-q');
  try {
    const first = await stage.run(world, new Cast(world), IMPLEMENT, { during: async (client) => {
      await began.told('the start of the script');
      process.kill(client.pid, 'SIGKILL');
    } });
    expect.equal(first.signal, 'SIGKILL', 'how the first client ended');
    expect.equal(world.key('state'), 'validating', 'state after the kill');
    const cast = new Cast(world);
    cast.meet = (id) => (/\/validating\//.test(id) ? go.tell() : null);
    const run = await stage.run(world, cast, IMPLEMENT);
    stage.sound(expect, run);
    expect.match(result(run), /^success: /, 'what the user is told');
    expect.equal(fs.readFileSync(`${world.root}/runs`, 'utf8'), 'run\n', 'runs of the script');
    path(expect, world, `${prefix} validating>reviewing reviewing>done`);
    journal(expect, world, 'success');
  } finally {
    began.tell();
    go.tell();
  }
}

async function fix(expect, stage, makeWorld) {
  const world = makeWorld({ id: '444' });
  const cast = new Cast(world);
  const run = await stage.run(world, cast, '/dev-team:fix 444');
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast).slice(0, 3), ['debugger-investigate', 'researcher-issue', 'developer-implement'], 'agents');
  path(expect, world, 'init>debugging debugging>researching researching>implementing implementing>validating validating>reviewing reviewing>done');
  expect.equal(subjects(world, 'dev-team/444'), ['444: add the widget'], 'commits on origin');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function fixNotReproduced(expect, stage, makeWorld) {
  const world = makeWorld({ id: '444' });
  const cast = new Cast(world, { 'debugger-investigate': () => say('not_reproduced', 'Tried it: nothing.') });
  const run = await stage.run(world, cast, '/dev-team:fix 444');
  stage.sound(expect, run);
  expect.match(result(run), /^failed: /, 'what the user is told');
  path(expect, world, 'init>debugging debugging>failed');
}

// The developer asks, the troubleshooter passes it on, and once there is an answer lets it go on.
function undecided(world, answer) {
  return new Cast(world, {
    'developer-implement'(task, n) {
      return n === 1 ? say('needs_clarification', 'Red or blue?') : GOOD['developer-implement'].call(this, task, n);
    },
    troubleshooter(task, n) {
      if (n === 1) return decide('needs_user_input', 'Shall the widget be red or blue?');
      if (!task.brief.includes(`> ${answer}\n`)) throw new Error(`the brief lacks the user's answer:\n${task.brief}`);
      return decide('continue', 'the user says blue');
    },
  });
}

async function question(expect, stage, makeWorld) {
  const world = makeWorld();
  const answer = 'sky "blue" $(id)';
  const cast = undecided(world, answer);
  const first = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, first);
  expect.equal(result(first), 'Shall the widget be red or blue?', 'what the user is told');
  expect.equal(world.key('state'), 'implementing', 'state');
  const run = await stage.run(world, cast, `${IMPLEMENT} ${answer}`);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(world.key('troubleshooter_input'), '', 'troubleshooter_input');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
}

async function questionWithHost(expect, stage, makeWorld) {
  const world = makeWorld();
  const answer = "sky 'blue' $(id)";
  const cast = undecided(world, answer);
  const prompts = [];
  const run = await stage.run(world, cast, IMPLEMENT, {
    args: ['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
    host: (prompt) => answerAtOnce(prompt, (tool, input) => {
      prompts.push(tool);
      return tool === 'AskUserQuestion'
        ? { behavior: 'allow', updatedInput: { ...input, answers: { [input.questions[0].question]: answer } } }
        : { behavior: 'deny', message: 'no' };
    }),
  });
  stage.sound(expect, run);
  expect.equal(prompts, ['AskUserQuestion'], 'what the user was asked');
  expect.match(result(run), /^success: /, 'what the user is told');
}

const AUDIT = `---
states:
  audit:
    agent: auditor
    skill: widget-audit
    args: [ID]
    writes: Audit
    results: {approved: clean, changes_requested: dirty}
---
\`\`\`mermaid
stateDiagram-v2
  [*] --> init
  init --> audit : start
  audit --> done : clean
  audit --> failed : dirty
  done --> [*]
  failed --> [*]
\`\`\`
`;

const AUDIT_SKILL = `---
name: widget-audit
description: Audit the widget.
---
Audit $0. Last line: \`{"status": "approved"}\` or \`{"status": "changes_requested"}\`.
`;

// A state of the repository's own: no agent type of that name, and the skill is the repository's.
async function declared(expect, stage, makeWorld) {
  const world = makeWorld();
  world.write('flow.md', AUDIT);
  world.write('.claude/skills/widget-audit/SKILL.md', AUDIT_SKILL);
  const cast = new Cast(world, { 'widget-audit': () => say('approved', 'It is a widget.') });
  const run = await stage.run(world, cast, '/dev-team:dev-team flow.md ADR-1');
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  path(expect, world, 'init>audit audit>done');
  const types = run.log.filter((entry) => !entry.agent).flatMap((entry) => entry.blocks)
    .filter((one) => one.name === 'Agent').map((one) => one.input.subagent_type);
  expect.equal(types, ['dev-team:auditor', 'dev-team:task-runner'], 'agent types that were tried');
}

async function refused(expect, stage, makeWorld) {
  const world = makeWorld();
  const run = await stage.run(world, new Cast(world), '/dev-team:implement ADR-2');
  stage.sound(expect, run);
  expect.match(result(run), /^The step failed: .*ADR-2/s, 'what the user is told');
  expect.equal(run.log.length, 2, 'requests');
}

// As a user installs it: from the marketplace that the repository is, then without --plugin-dir.
async function installed(expect, stage, makeWorld) {
  const world = makeWorld();
  stage.tool(world, 'plugin', 'marketplace', 'add', world.copyPlugin());
  stage.tool(world, 'plugin', 'install', 'dev-team@dev-team');
  const run = await stage.run(world, new Cast(world), IMPLEMENT, { plugin: null });
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
}

// The negative control: the model does what the texts say, so a wrong text must show.
async function wrongInstruction(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { troubleshooter: () => decide('terminate', 'the agent never began') });
  const plugin = world.misleading('agents/researcher.md', '--action', '--id');
  const run = await stage.run(world, cast, IMPLEMENT, { plugin });
  stage.sound(expect, run);
  expect.match(result(run), /^failed: /, 'what the user is told');
  expect.equal(asked(cast), ['troubleshooter'], 'agents that got to work');
  expect.equal(world.events().filter((event) => event.type === 'failure').length, 3, 'failures');
}

export const scenarios = [
  ['implement: the happy path', happy],
  ['implement: changes requested, then three sign off at once', changesRequested],
  ['implement: a sign-off that fails is fixed and signed off again', signoffRefused],
  ['dev-team: a validation that fails is fixed', validationFails],
  ['implement: a silent agent, and the troubleshooter continues', silentThenContinues],
  ['implement: a silent agent, and the troubleshooter terminates', silentThenTerminated],
  ['implement: a sign-off deadlock is ruled upon', deadlock],
  ['implement: a killed client is started again and finishes', killed],
  ['implement: a client killed while a script runs; the script is not run twice', killedInScript],
  ['fix: from the debugger to done', fix],
  ['fix: not reproduced', fixNotReproduced],
  ['implement: a question ends the run, its answer continues it', question],
  ['implement: a question is asked in the session', questionWithHost],
  ['dev-team: a declared state, by the task-runner with a skill of the repository', declared],
  ['implement: installed from its marketplace', installed],
  ['implement: a wrong instruction in an agent file fails the run', wrongInstruction],
  ['implement: a refused step is shown and stops', refused],
];
