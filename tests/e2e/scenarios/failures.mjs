// Runs with failures: silent agents, killed clients, questions to the user.

import fs from 'node:fs';
import { Agents, decide, DEFAULTS, answer } from '../agents.mjs';
import { permissionHost } from '../claude.mjs';
import { IMPLEMENT, PREFIX } from '../scenario.mjs';
import { breakpoint, Fifo } from '../sync.mjs';

async function silentThenContinues(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'researcher-plan': (task, n) => (n <= 3 ? { silent: true } : DEFAULTS['researcher-plan'](task, n)),
    troubleshooter(task) {
      if (!task.brief.includes('consecutive_failures')) throw new Error(`the brief does not name the trigger:\n${task.brief}`);
      return { work: [{ run: task.command('dev-team context show') }, { run: task.command('dev-team events') }],
        ...decide('continue', 'the limit was over') };
    },
  });
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills.slice(0, 5), ['researcher-plan', 'researcher-plan', 'researcher-plan', 'troubleshooter', 'researcher-plan'], 'agents');
  t.equal(new Set(agents.calls).size, agents.calls.length, 'distinct ids');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 3, 'failures');
  t.match(fixture.section('Troubleshooter Log'), /the limit was over/, 'Troubleshooter Log');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
  t.affordable(run);
  t.journal(fixture, 'success');
}

async function silentThenTerminated(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, { 'researcher-plan': () => ({ silent: true }), troubleshooter: () => decide('terminate', 'the spec is empty') });
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^failed: .*the spec is empty/, 'result for the user');
  t.equal(fixture.key('state'), 'failed', 'state');
  t.journal(fixture, 'failed');
}

// A second session is refused; the message names the owner and how to take over.
async function refused(t, fixture) {
  const agents = new Agents(fixture);
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^The step failed: .*'ADR-1' is held by '[0-9a-f-]{36}' since .*, until .*; to take it over: --owner NAME --take-over/s,
    'result of the second session');
  t.equal(agents.calls, [], 'agents of the second session');
}

// The client is killed after the developer has committed and before it records; another session resumes from the disk.
async function killed(t) {
  const fixture = t.fixture();
  const committed = breakpoint();
  const agents = new Agents(fixture, {
    'developer-implement'(task) {
      const good = DEFAULTS['developer-implement'].call(this, task);
      return { ...good, work: [...good.work, { wait: committed.block }] };
    },
  });
  const first = await t.run(fixture, agents, IMPLEMENT, { during: async (client) => {
    await committed.reached;
    process.kill(client.pid, 'SIGKILL');
  } });
  t.equal(first.signal, 'SIGKILL', 'how the first client ended');
  t.equal(fixture.key('state'), 'implementing', 'state after the kill');
  const before = fixture.context();
  await refused(t, fixture);
  t.equal(fixture.context(), before, 'the context file after the refusal');

  const again = new Agents(fixture, {
    'developer-implement'(task) {
      return { work: [{ run: task.command('git switch') }], ...answer('implemented', 'It had been done.') };
    },
  });
  const run = await t.run(fixture, again, `${IMPLEMENT} take over`);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(again.calls[0], 'ADR-1/implementing/2 developer-implement', 'the first agent after the take-over');
  t.equal(fixture.events().filter((event) => event.type === 'lease').map((event) => [event.fence, event.reason]), [[2, 'taken over']], 'leases');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
  t.journal(fixture, 'success');
}

// The client is killed while the script runs. The script continues, and the next session waits for it.
async function killedInScript(t) {
  const fixture = t.fixture();
  const began = new Fifo(`${fixture.root}/began`);
  const go = new Fifo(`${fixture.root}/go`);
  fixture.write('scripts/validate.sh', 'echo run >>"$FAKE_ROOT/runs"; echo on >"$FAKE_ROOT/began"; read -r word <"$FAKE_ROOT/go"; echo "$word"\n');
  fixture.git('commit', '-q', '-am', 'Let the checks wait');
  fixture.git('push', '-q');
  try {
    const first = await t.run(fixture, new Agents(fixture), IMPLEMENT, { during: async (client) => {
      await began.read('the start of the script');
      process.kill(client.pid, 'SIGKILL');
    } });
    t.equal(first.signal, 'SIGKILL', 'how the first client ended');
    t.equal(fixture.key('state'), 'validating', 'state after the kill');
    const agents = new Agents(fixture);
    agents.before = (id) => (/\/validating\//.test(id) ? go.write() : null);
    const run = await t.run(fixture, agents, `${IMPLEMENT} take over`);
    t.sound(run);
    t.match(run.text, /^success: /, 'result for the user');
    t.equal(fs.readFileSync(`${fixture.root}/runs`, 'utf8'), 'run\n', 'runs of the script');
    t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
    t.journal(fixture, 'success');
  } finally {
    began.write();
    go.write();
  }
}

// The developer asks, the troubleshooter asks the user, and continues when there is an answer.
function askingAgents(fixture, words) {
  return new Agents(fixture, {
    'developer-implement'(task, n) {
      return n === 1 ? answer('needs_clarification', 'Red or blue?') : DEFAULTS['developer-implement'].call(this, task, n);
    },
    troubleshooter(task, n) {
      if (n === 1) return decide('needs_user_input', 'Shall the widget be red or blue?');
      if (!task.brief.includes(`> ${words}\n`)) throw new Error(`the brief lacks the user's answer:\n${task.brief}`);
      return decide('continue', 'the user says blue');
    },
  });
}

async function question(t) {
  const fixture = t.fixture();
  const words = 'sky "blue" $(id)';
  const agents = askingAgents(fixture, words);
  const first = await t.run(fixture, agents, IMPLEMENT);
  t.sound(first);
  t.equal(first.text, 'Shall the widget be red or blue?', 'result for the user');
  t.equal(fixture.key('state'), 'implementing', 'state');
  const run = await t.run(fixture, agents, `${IMPLEMENT} ${words}`);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(fixture.key('troubleshooter_input'), '', 'troubleshooter_input');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
}

async function questionInSession(t) {
  const fixture = t.fixture();
  const words = "sky 'blue' $(id)";
  const agents = askingAgents(fixture, words);
  const prompts = [];
  const run = await t.run(fixture, agents, IMPLEMENT, {
    args: ['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
    host: (prompt) => permissionHost(prompt, (tool, input) => {
      prompts.push(tool);
      return tool === 'AskUserQuestion'
        ? { behavior: 'allow', updatedInput: { ...input, answers: { [input.questions[0].question]: words } } }
        : { behavior: 'deny', message: 'no' };
    }),
  });
  t.sound(run);
  t.equal(prompts, ['AskUserQuestion'], 'permission prompts');
  t.match(run.text, /^success: /, 'result for the user');
}

export const failures = [
  ['implement: a silent agent, and the troubleshooter continues', silentThenContinues],
  ['implement: a silent agent, and the troubleshooter terminates', silentThenTerminated],
  ['implement: a killed client is started again and finishes', killed, { quick: true }],
  ['implement: a client killed while a script runs; the script is not run twice', killedInScript],
  ['implement: a question ends the run, its answer continues it', question],
  ['implement: a question is asked in the session', questionInSession],
];
