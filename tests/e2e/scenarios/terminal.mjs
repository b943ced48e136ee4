// Both forms of the loop in the interactive client.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer, DEFAULTS, implementsThenWaits } from '../agents.mjs';
import { AUDIT, AUDITED, IMPLEMENT, PREFIX } from '../scenario.mjs';
import { gate } from '../sync.mjs';
import { added, cheap, END, mainOf } from './loop.mjs';

const REPORTED = 3072; // bytes that an agent in the background adds, its answer and the client's own words about it included

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
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.shows(/The run goes on/);
    await terminal.type('Hello there');
    await terminal.shows(/You were heard/);
    fs.writeFileSync(temporary, 'It is there.\n');
    await terminal.type('/workflows');
    await terminal.shows(/ADR-1.implementing.1/);
    terminal.press('Escape');
    await terminal.type(IMPLEMENT);
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

// The agent's next call is denied, and the script ends with its answer.
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
    await terminal.shows(/The run goes on/);
    await terminal.type('/dev-team:cancel ADR-1');
    await terminal.shows(/You were heard/);
    work.open();
    await terminal.shows(/cancelled: ADR-1 was cancelled/);
  });
  t.journal(fixture, 'failed');
}

async function auto(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  const run = await t.interact(fixture, agents, 'auto', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
  });
  cheap(t, run);
  t.equal([...new Set(agents.reviews)], agents.calls.map((call) => call.split(' ')[0]), 'answers that the client had reviewed');
  finished(t, fixture);
}

// The client lets the script go on, in a new session.
async function cleared(t) {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.shows(/The run goes on/);
    await terminal.type('/clear');
    await terminal.shows(/^(?![\s\S]*The run goes on)[\s\S]*❯/);
    await terminal.type('continue');
    await terminal.shows(/dev-team: ADR-1 is in progress \(implementing, 1 action open\); its script runs, and reports its end/);
    await terminal.type(IMPLEMENT);
    await terminal.shows(/; \/workflows shows it/);
    work.open();
    await terminal.shows(/success: /);
  });
  t.equal(agents.calls.filter((call) => /developer-implement/.test(call)).length, 1, 'developers');
  finished(t, fixture);
}

// The client runs the agents of a conversation in the background. The session knows from the end of the compaction what is in
// progress.
async function conversation(t) {
  const fixture = t.fixture();
  const { work, agents } = waiting(fixture);
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.shows(/They work/);
    await terminal.type('/compact');
    await terminal.shows(/Compacted/);
    work.open();
    await terminal.shows(/success: /);
  }, { script: false });
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.ok(run.log.length <= 24, () => `${run.log.length} requests`);
  t.note(`figures: the conversation in the interactive client, compacted once: ${run.log.length} requests`);
  finished(t, fixture);
}

// A silent agent is asked again, an answer without its result word is corrected, and the end of the last of three agents goes on.
// Then a second item takes the least requests that it can.
const conversationFails = (mode) => async (t) => {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const agents = new Agents(fixture, {
    'researcher-plan': (task, n) => (n === 1 ? { silent: true } : DEFAULTS['researcher-plan'](task, n)),
    'reviewer-review': () => ({ ...answer('changes_requested', '**must** src/widget.txt:1: it does not turn.'), first: 'It does not turn.' }),
  });
  const { log } = await t.interact(fixture, agents, mode, async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
    agents.reviews = [];
    await terminal.type(AUDIT.replace('ADR-1', 'ADR-2'));
    await terminal.shows(/success: [\s\S]*ADR-2[\s\S]*success: /);
  }, { script: false });
  t.equal(agents.skills.slice(0, 5), ['researcher-plan', 'researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(fixture.events().filter((event) => event.type === 'failure').map((event) => event.action), ['ADR-1/researching/1'], 'failures');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  t.equal(fixture.key('signoff_cycle_count'), '0', 'signoff_cycle_count');
  t.journal(fixture, 'success');

  // The start of the agent, the end of the turn, the report of the agent: its hook has made the step.
  const second = { log: log.slice(log.findLastIndex(({ news }) => JSON.stringify(news).includes('Drive a work item'))) };
  t.equal(mainOf(second).length, 3, 'requests of the main conversation for the second item');
  t.equal(second.log.filter((entry) => entry.agent).length, 1, 'requests of its agent');
  t.ok(added(second) <= REPORTED, () => `the second item adds ${added(second)} bytes`);
  t.note(`figures: an item with one agent in the interactive client, ${mode} mode: ${added(second)} bytes`);
  t.equal([...new Set(agents.reviews)], mode === 'auto' ? ['approved'] : [], 'reviewed words');
  fixture.id = 'ADR-2';
  t.states(fixture, AUDITED);
};

// The agent of the former session has worked; the new session requests its action again.
async function conversationCleared(t) {
  const fixture = t.fixture();
  const work = gate();
  const agents = new Agents(fixture, {
    'developer-implement'(task, n) {
      return n > 1 ? answer('implemented', 'It had been done.') : implementsThenWaits(work.wait).call(this, task);
    },
  });
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await work.reached;
    await terminal.shows(/They work/);
    await terminal.type('/clear');
    await terminal.shows(/^(?![\s\S]*They work)[\s\S]*❯/);
    await terminal.type('continue');
    await terminal.shows(/dev-team: ADR-1 is in progress \(implementing, 1 action open\); continue with \/dev-team:implement ADR-1/);
    await terminal.type(IMPLEMENT);
    await terminal.shows(/success: /);
  }, { script: false });
  t.equal(agents.calls.filter((call) => /developer-implement/.test(call)),
    ['ADR-1/implementing/1 developer-implement', 'ADR-1/implementing/2 developer-implement'], 'developers');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  work.open();
  finished(t, fixture);
}

export const terminal = [
  ['terminal: a conversation with bad answers and three that sign off, then a second item, auto mode', conversationFails('auto')],
  ['terminal: a conversation with bad answers and three that sign off, then a second item, manual mode', conversationFails('manual')],
  ['terminal: a script, manual mode, while the user types on, repeats the command, compacts and looks at the run', manual],
  ['terminal: a conversation and /compact', conversation],
  ['terminal: a conversation, /clear and the same command', conversationCleared],
  ['terminal: the item is cancelled while an agent works', cancelled],
  ['terminal: /clear and the same command while the script runs', cleared],
  ['terminal: auto mode', auto],
];
