// Both forms of the loop in the interactive client.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer, asking, DEFAULTS, implementsThenWaits } from '../agents.mjs';
import { startDevTeam } from '../fixture.mjs';
import { bytesOf, isConductor } from '../model.mjs';
import { AUDIT, AUDIT_SCRIPT, AUDITED, IMPLEMENT, NOBODY, PREFIX, SCRIPT } from '../scenario.mjs';
import { barrier, gate, LIMIT } from '../sync.mjs';
import { cheap, END, mainOf } from './loop.mjs';

const BYTES = 2048; // that a run adds to the conversation

// A developer who works when the gate is opened, and does `more` first.
function waiting(fixture, ...more) {
  const work = gate();
  const agents = new Agents(fixture, {
    'developer-implement'(task, n) {
      if (n > 1) return answer('implemented', 'It had been done.');
      const good = DEFAULTS['developer-implement'].call(this, task);
      return { ...good, work: [{ wait: work.wait }, ...more, ...good.work] };
    },
  });
  return { work, agents };
}

function finished(t, fixture) {
  t.states(fixture, END);
  t.journal(fixture, 'success');
}

// The user types on, looks, repeats the command and compacts the conversation, while the run proceeds. The developer then reads a
// temporary file.
async function manual(t) {
  const fixture = t.fixture();
  const temporary = path.join(fixture.home, 'tmp/x.txt');
  const { work, agents } = waiting(fixture, { tool: 'Read', input: { file_path: temporary }, gives: /It is there/ });
  const run = await t.interact(fixture, agents, 'manual', async (terminal, log) => {
    await terminal.type(SCRIPT);
    await work.reached;
    await terminal.shows(/The run goes on/);
    await terminal.type('Hello there');
    await terminal.shows(/You were heard/);
    fs.writeFileSync(temporary, 'It is there.\n');
    await terminal.type('/workflows');
    await terminal.shows(/ADR-1.implementing.1/);
    terminal.press('Escape');
    await terminal.type(SCRIPT);
    await terminal.shows(/dev-team: ADR-1 is in progress \(implementing, 1 action open\); \/workflows shows it/);
    cheap(t, { log: [...log] }, 3);
    await terminal.type('/compact');
    await terminal.shows(/Compacted/);
    work.open();
    await terminal.shows(/success: /);
  });
  const main = mainOf(run).filter(({ news }) => !JSON.stringify(news).includes('Respond with TEXT ONLY')); // it is asked for a summary
  t.match(JSON.stringify(main.at(-1).body), /its script runs, and reports its end: start nothing/, 'what the session knows');
  t.equal(main.length, 4, 'requests of the main conversation');
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  finished(t, fixture);
}

// The conversation from the slash command on, as its last request has it, with the answer.
function grown(run) {
  const last = mainOf(run).at(-1);
  const blocks = last.messages.flatMap((message) => message.blocks);
  return bytesOf(blocks.slice(blocks.findIndex((one) => /^\/dev-team:/.test(one.text ?? '')))) + bytesOf(last.answer);
}

const conductorOf = (run) => run.log.filter(isConductor);

// The user is asked nothing. The conversation pays for the end of the run, the conductor one request for each array.
async function happyIn(t, mode, { user, installed } = {}) {
  const fixture = t.fixture();
  if (user && process.getuid() !== 0) return t.note('every scenario runs as another user');
  const agents = new Agents(fixture);
  if (installed) await t.install(fixture);
  const run = await t.interact(fixture, agents, mode, async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
  }, { user, ...(installed ? { plugin: null } : {}) });
  if (user) t.equal(fs.statSync(fixture.contextFile).uid, user, 'owner of the document');
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  finished(t, fixture);
  t.equal(mainOf(run).length, 1, 'requests of the main conversation');
  t.equal(conductorOf(run).length, 5, 'requests of the conductor');
  t.ok(grown(run) <= BYTES, () => `the run adds ${grown(run)} bytes to the conversation`);
  return t.note(`figures: the conductor in the interactive client: ${run.log.length} requests, 1 of them in the main conversation, to which the run adds ${grown(run)} bytes`);
}

// The user types on, repeats the command, adds a note and compacts the conversation, while the conductor works. A second session is
// refused.
async function conducted(t) {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.type('Hello there');
    await terminal.shows(/Hello\./);
    await terminal.type(IMPLEMENT);
    await terminal.shows(/dev-team: ADR-1 is in progress \(implementing, 1 action open\); \/tasks shows it/);
    await terminal.type(`${IMPLEMENT} paint it`);
    await terminal.shows(/the next agents get your note/);
    await t.interact(fixture, new Agents(fixture), 'manual', async (second) => {
      await second.type(IMPLEMENT);
      await second.shows(/'ADR-1' is held by/);
    });
    await terminal.type('/compact');
    await terminal.shows(/Compacted/);
    work.open();
    await terminal.shows(/success: /);
  });
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(conductorOf(run).length, 5, 'requests of the conductor');
  t.match(fixture.key('user_note'), /paint it/, 'user_note');
  finished(t, fixture);
}

// The agent's next call is denied, and the conductor ends with its answer.
async function cancelled(t) {
  const fixture = t.fixture();
  const work = gate();
  const agents = new Agents(fixture, { 'developer-implement'(task) {
    return { work: [{ wait: work.wait }, { ...this.writeWidget(task, 'It turns.\n'), refused: /dev-team: ADR-1 was cancelled: stop/ }],
      ...answer('implemented', 'Nothing was done.') };
  } });
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.type('/dev-team:cancel ADR-1');
    await terminal.shows(/ADR-1: cancelled by the user/);
    work.open();
    await terminal.shows(/finished/);
  });
  t.journal(fixture, 'failed');
}

async function auto(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  const run = await t.interact(fixture, agents, 'auto', async (terminal) => {
    await terminal.type(SCRIPT);
    await terminal.shows(/success: /);
  });
  cheap(t, run);
  t.equal([...new Set(agents.reviews)], agents.calls.map((call) => call.split(' ')[0]), 'answers that the client had reviewed');
  finished(t, fixture);
}

async function scriptAsOtherUser(t) {
  const fixture = t.fixture();
  if (process.getuid() !== 0) return t.note('every scenario runs as another user');
  const run = await t.interact(fixture, new Agents(fixture), 'acceptEdits', async (terminal) => {
    await terminal.type(SCRIPT);
    await terminal.shows(/success: /);
  }, { user: NOBODY });
  cheap(t, run);
  return finished(t, fixture);
}

// The client lets the script go on, in a new session.
async function cleared(t) {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(SCRIPT);
    await work.reached;
    await terminal.shows(/The run goes on/);
    await terminal.type('/clear');
    await terminal.shows(/^(?![\s\S]*The run goes on)[\s\S]*❯/);
    await terminal.type('continue');
    await terminal.shows(/dev-team: ADR-1 is in progress \(implementing, 1 action open\); its script runs, and reports its end/);
    await terminal.type(SCRIPT);
    await terminal.shows(/; \/workflows shows it/);
    work.open();
    await terminal.shows(/success: /);
  });
  t.equal(agents.calls.filter((call) => /developer-implement/.test(call)).length, 1, 'developers');
  finished(t, fixture);
}

// An older client does not know `context: fork`: the session starts the agents, which run in the background, and the hook makes
// the step when the client reports their end. The session knows from the end of the compaction what is in progress.
async function conversation(t) {
  const fixture = t.fixture();
  const plugin = fixture.changePlugin('commands/implement.md', 'context: fork\nagent: dev-team:conductor\n', '');
  const { work, agents } = waiting(fixture);
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.shows(/They work/);
    await terminal.type('/compact');
    await terminal.shows(/Compacted/);
    work.open();
    await terminal.shows(/success: /);
  }, { plugin });
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.ok(run.log.length <= 24, () => `${run.log.length} requests`);
  t.note(`figures: an older client, compacted once: ${run.log.length} requests`);
  finished(t, fixture);
}

// A silent agent is asked again, one dies, an answer without its result word is corrected, and the end of the last of three agents
// goes on. Then a second item takes the least requests that it can.
const fails = (mode) => async (t) => {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const agents = new Agents(fixture, {
    'researcher-plan': (task, n) => (n === 1 ? { silent: true } : DEFAULTS['researcher-plan'](task, n)),
    'developer-implement'(task, n) {
      return { ...DEFAULTS['developer-implement'].call(this, task), ...(n === 1 ? { work: [], dies: { status: 400, message: 'no', code: 'invalid_request_error' } } : {}) };
    },
    'reviewer-review': () => ({ ...answer('changes_requested', '**must** src/widget.txt:1: it does not turn.'), first: 'It does not turn.' }),
  });
  const { log } = await t.interact(fixture, agents, mode, async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
    agents.reviews = [];
    await terminal.type(AUDIT.replace('ADR-1', 'ADR-2'));
    await terminal.shows(/success: [\s\S]*ADR-2[\s\S]*success: /);
  });
  t.equal(agents.skills.slice(0, 6), ['researcher-plan', 'researcher-plan', 'developer-implement', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(fixture.events().filter((event) => event.type === 'failure').map((event) => event.action), ['ADR-1/researching/1', 'ADR-1/implementing/1'], 'failures');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  t.equal(fixture.key('signoff_cycle_count'), '0', 'signoff_cycle_count');
  t.journal(fixture, 'success');

  const second = { log: log.slice(log.findIndex(({ news }) => JSON.stringify(news).includes('ARGUMENTS: flow.md ADR-2'))) };
  t.equal(mainOf(second).length, 1, 'requests of the main conversation for the second item');
  t.equal(conductorOf(second).length, 2, 'requests of its conductor');
  t.equal(second.log.filter((entry) => entry.agent).length, 3, 'requests of its agents');
  fixture.id = 'ADR-2';
  t.states(fixture, AUDITED);
};

// The client lets the conductor go on, in a new session.
async function conductorCleared(t) {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.type('/clear');
    await terminal.shows(/^(?![\s\S]*Running in the background)[\s\S]*❯/);
    await terminal.type(IMPLEMENT);
    await terminal.shows(/is in progress/);
    work.open();
    await terminal.shows(/success: /);
  });
  t.equal(agents.calls.filter((call) => /developer-implement/.test(call)), ['ADR-1/implementing/1 developer-implement'], 'developers');
  finished(t, fixture);
}

// The question ends the conductor; the session passes it on, and the answer starts another conductor.
async function question(t) {
  const fixture = t.fixture();
  const words = 'sky "blue" $(id)';
  const agents = new Agents(fixture, asking(words));
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/● Shall the widget be red or blue\?/);
    await terminal.type(`${IMPLEMENT} ${words}`);
    await terminal.shows(/success: /);
  });
  finished(t, fixture);
}

// Two conductors, or scripts, in one session; their agents work at the same time.
const twoItems = (command) => async (t) => {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const both = barrier(2);
  const agents = new Agents(fixture, { 'widget-audit': (task) => ({ work: [{ wait: () => both.wait() }], ...answer('approved', `${task.id} is there.`) }) });
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    for (const id of ['ADR-1', 'ADR-2']) await terminal.type(command.replace('ADR-1', id));
    await terminal.shows(/success: [\s\S]*success: /);
  });
  for (const id of ['ADR-1', 'ADR-2']) {
    fixture.id = id;
    t.match(fixture.section('Audit'), new RegExp(`^${id}/audit/1 is there`), `the answer of ${id}`);
    t.states(fixture, AUDITED);
  }
};

// The conductor's conversation is compacted, with the text of the command in it; at another request the service is at its limit. The
// item waits, and the same command goes on when it waits no longer.
async function compactedAndLimited(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  let n = 0;
  agents.service = (request) => {
    n += isConductor(request);
    return !isConductor(request) ? {} : n === 1 ? { usage: { input: 990000, output: 10 } }
      : n === 4 || n === 5 ? { status: 429, message: 'This is the limit', code: 'rate_limit_error' } : {};
  };
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/failed: [\s\S]*limit/);
    await terminal.type(IMPLEMENT);
    await terminal.shows(/waiting: [\s\S]*This is the limit/);
    const set = await startDevTeam(['context', 'set', fixture.contextFile, 'wait_until'], { cwd: fixture.repo, env: process.env }).done;
    t.equal(set.code, 0, 'the wait is dropped');
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
  });
  t.match(agents.skills.join(), /^researcher-plan,developer-implement,(developer-implement,)?developer-create-pr/, 'agents');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  finished(t, fixture);
}

// The user's rules come before what the hook allows: one command is denied, the user is asked about another.
const userRules = (command) => async (t) => {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const agents = new Agents(fixture, { 'widget-audit': () => ({
    work: [{ run: 'echo one', refused: /denied/ }, { run: 'echo two', gives: /two/ }], ...answer('approved', 'It is there.') }) });
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(command);
    await terminal.shows(/echo two[\s\S]*1\. Yes/);
    await terminal.accept();
    await terminal.shows(/success: /, true);
  }, { permissions: { deny: ['Bash(echo one)'], ask: ['Bash(echo two)'] } });
  t.states(fixture, AUDITED);
};

// The client is killed; the same command goes on in a fresh session, or in the continued one, which knows what is in progress.
const killed = (command, ...args) => async (t) => {
  const fixture = t.fixture();
  const work = gate();
  const agents = new Agents(fixture, { 'developer-implement'(task, n) {
    return n > 1 ? answer('implemented', 'It had been done.') : implementsThenWaits(work.wait).call(this, task);
  } });
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(command);
    await work.reached;
  });
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    if (args.length) {
      await terminal.type('continue');
      await terminal.shows(/dev-team: ADR-1 is in progress \(implementing, 1 action open\); continue with \/dev-team:/);
    }
    await terminal.type(command);
    await terminal.shows(/success: /);
  }, { args });
  work.open();
  t.equal(agents.calls.filter((call) => /developer-implement/.test(call)),
    [1, args.length ? 1 : 2].map((n) => `ADR-1/implementing/${n} developer-implement`), 'developers'); // of another session: another action
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  finished(t, fixture);
};

// Esc twice at the idle prompt, which offers to rewind, and Esc while the model answers: the conductor, or the script, works on. The
// status line shows it.
const escaped = (command) => async (t) => {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  const held = gate();
  let hold = false;
  agents.service = async (request) => {
    if (!hold || request.agent) return {};
    hold = false;
    await held.wait();
    return { status: 400, message: 'nobody waits', code: 'invalid_request_error' };
  };
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(command);
    await work.reached;
    if (command === SCRIPT) await terminal.shows(/The run goes on/);
    await terminal.shows(/ADR-1 implementing: developer \d/);
    terminal.press('Escape', 'Escape');
    await terminal.shows(/Rewind/);
    terminal.press('Escape');
    await terminal.shows(/^(?![\s\S]*Rewind)/);
    hold = true;
    await terminal.type('Hello there');
    await held.reached;
    terminal.press('Escape');
    await terminal.shows(/❯.Hello there\s*\n─/); // the client gives the prompt back
    terminal.press('Enter');
    await terminal.shows(command === SCRIPT ? /You were heard/ : /Hello\./);
    work.open();
    await terminal.shows(/success: /);
    await terminal.shows(/^(?![\s\S]*ADR-1 \w+: developer \d)/);
  }, { statusLine: 'status --line' });
  held.open();
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(conductorOf(run).length, command === SCRIPT ? 0 : 5, 'requests of the conductor');
  finished(t, fixture);
};

// An agent that the user stops counts as a failure, and its action is requested again.
async function stopped(t) {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  agents.parts['developer-implement'] = function part(task, n) {
    const good = DEFAULTS['developer-implement'].call(this, task);
    return n === 1 ? { ...good, work: [{ wait: work.wait }] } : good;
  };
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.type('/tasks');
    await terminal.shows(/❯ ● ADR-1.implementing.1/);
    terminal.press('x');
    await terminal.shows(/1 background agent\b/);
    terminal.press('Escape');
    await terminal.shows(/success: /);
  });
  t.equal(fixture.events().filter((event) => event.type === 'failure').map((event) => event.action), ['ADR-1/implementing/1'], 'failures');
  work.open();
  finished(t, fixture);
}

// The hook that waits for the agents ends before they do: the conductor ends its turn, and goes on with the text of the command. An
// array takes at most four requests: its agents, the end of the turn, which is sent back if they have ended meanwhile, and the step.
async function hookTooShort(t) {
  const fixture = t.fixture();
  const plugin = fixture.changePlugin('hooks/hooks.json', '"PostToolBatch"], "timeout": 1800', '"PostToolBatch"], "timeout": 1');
  const { work, agents } = waiting(fixture);
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.shows(/waiting/);
    work.open();
    await terminal.shows(/success: /);
  }, { plugin });
  t.ok(conductorOf(run).length > 5 && conductorOf(run).length <= 20, () => `${conductorOf(run).length} requests of the conductor`);
  finished(t, fixture);
}

// The same, where each agent has ended before the conductor ends its turn: the client reports it with the results of the calls, or the
// conductor is sent back and the report comes when the next agents work.
async function endsEarlier(t) {
  const fixture = t.fixture();
  const plugin = fixture.changePlugin('hooks/hooks.json', '"PostToolBatch"], "timeout": 1800', '"PostToolBatch"], "timeout": 1');
  const agents = new Agents(fixture);
  agents.service = async (request) => {
    const launched = isConductor(request) && /Async agent launched/.test(JSON.stringify(request.news));
    const calls = request.messages.flatMap(({ blocks }) => blocks).filter((one) => one.type === 'tool_use' && one.name === 'Agent');
    const answered = (id) => fixture.events().some((event) => event.type === 'answer' && event.action === id);
    const open = () => calls.some((one) => !answered(one.input.description));
    for (const until = Date.now() + LIMIT; launched && open() && Date.now() < until;) await new Promise((resolve) => { setTimeout(resolve, 100); });
    return {};
  };
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
  }, { plugin });
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  t.ok(conductorOf(run).length <= 20, () => `${conductorOf(run).length} requests of the conductor`);
  finished(t, fixture);
}

// The hook that records answers is killed each time, or hangs until the client ends it: the hook that waits for the agents finds
// that they have ended, and records. An agent without an answer is asked again.
const withoutStop = (what) => async (t) => {
  const fixture = t.fixture();
  const plugin = fixture.changePlugin('hooks/hooks.json', '"SubagentStop"], "timeout": 30', '"SubagentStop"], "timeout": 1');
  const launcher = path.join(plugin, 'bin/dev-team');
  fs.renameSync(launcher, `${launcher}.real`);
  fs.writeFileSync(launcher, `#!/bin/sh\n[ "$2" != SubagentStop ] || ${what}\n. '${launcher}.real'\n`, { mode: 0o755 });
  const agents = new Agents(fixture, { 'researcher-plan': (task, n) => (n === 1 ? { silent: true } : DEFAULTS['researcher-plan'](task, n)) });
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
  }, { plugin });
  t.equal(agents.skills, ['researcher-plan', 'researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(fixture.events().filter((event) => event.type === 'failure').map((event) => event.action), ['ADR-1/researching/1'], 'failures');
  t.equal(conductorOf(run).length, 6, 'requests of the conductor');
  finished(t, fixture);
};

export const terminal = [
  ['terminal: the happy path', (t) => happyIn(t, 'manual'), { quick: true, versions: true }],
  ['terminal: bad answers, a dead agent and three that sign off, then a second item, auto mode', fails('auto')],
  ['terminal: bad answers, a dead agent and three that sign off, then a second item, manual mode', fails('manual')],
  ['terminal: the user types on, repeats the command and compacts', conducted],
  ['terminal: /clear while the conductor works', conductorCleared],
  ['terminal: a question and its answer', question],
  ['terminal: two items in one session', twoItems(AUDIT)],
  ['terminal: two items in one session, as scripts', twoItems(AUDIT_SCRIPT)],
  ['terminal: the conductor is compacted, and meets a usage limit', compactedAndLimited],
  ['terminal: rules of the user that deny and ask', userRules(AUDIT)],
  ['terminal: rules of the user that deny and ask, as a script', userRules(AUDIT_SCRIPT)],
  ['terminal: installed from its marketplace', (t) => happyIn(t, 'manual', { installed: true }), { versions: true }],
  ['terminal: edits accepted', (t) => happyIn(t, 'acceptEdits'), { versions: true }],
  ['terminal: another user than root', (t) => happyIn(t, 'manual', { user: NOBODY }), { versions: true }],
  ['terminal: another user than root, edits accepted', (t) => happyIn(t, 'acceptEdits', { user: NOBODY }), { versions: true }],
  ['terminal: a script, another user than root, edits accepted', scriptAsOtherUser, { versions: true }],
  ['terminal: a killed client, --continue and the same command', killed(IMPLEMENT, '--continue')],
  ['terminal: a killed client, and the same command in a fresh session', killed(IMPLEMENT)],
  ['terminal: a killed client, --continue and the same command, as a script', killed(SCRIPT, '--continue')],
  ['terminal: the user stops an agent', stopped],
  ['terminal: Esc while the conductor works, and the status line', escaped(IMPLEMENT)],
  ['terminal: Esc while a script works, and the status line', escaped(SCRIPT)],
  ['terminal: the hook does not wait long enough', hookTooShort],
  ['terminal: the hook does not wait long enough, and agents end before the conductor\'s turn', endsEarlier, { versions: true }],
  ['terminal: the hook of an agent that ends is killed each time', withoutStop('kill -9 $$'), { versions: true }],
  ['terminal: the hook of an agent that ends hangs each time', withoutStop(`exec sleep ${LIMIT / 1000}`)],
  ['terminal: a script, manual mode, while the user types on, repeats the command, compacts and looks at the run', manual, { versions: true }],
  ['terminal: an older client and /compact', conversation],
  ['terminal: the item is cancelled while an agent works', cancelled],
  ['terminal: /clear and the same command while the script runs', cleared],
  ['terminal: a script, auto mode', auto, { versions: true }],
];
