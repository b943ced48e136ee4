// The tasks of a backlog, driven by one conductor.

import { Agents, answer, DEFAULTS } from '../agents.mjs';
import { startDevTeam } from '../fixture.mjs';
import { barrier, breakpoint } from '../sync.mjs';

import { withClaude } from './headless.mjs';
import { mainOf } from './loop.mjs';

const ONE_TICK = '/dev-team:orchestrator-tick';
const TICK = `${ONE_TICK} --max-concurrent 2`;

const task = (id, more = '') => `---
id: ${id}
title: A widget, ${id}
status: To Do
${more}---

## Description

The repository gets a widget: \`src/widget.txt\`.

## Acceptance Criteria

- [ ] #1 src/widget.txt is there
`;

function addTasks(fixture, ...ids) {
  for (const id of ids) fixture.write(`backlog/tasks/${id.toLowerCase()} - widget.md`, task(id));
  fixture.git('add', '-A');
  fixture.git('commit', '-q', '-m', 'The backlog');
  fixture.git('push', '-q');
}

function withBacklog(t, ...ids) {
  const fixture = t.fixture({ id: 'T-1' });
  addTasks(fixture, ...(ids.length ? ids : ['T-1', 'T-2']));
  return fixture;
}

function checkFinished(t, fixture) {
  for (const id of ['T-1', 'T-2'])
    t.equal(fixture.origin('log', '--format=%B', `main..dev-team/${id}`).split('\n').filter((line) => /mark the task as done/.test(line)),
      [`${id}: mark the task as done`], `messages of ${id}`);
}

// The review of the first task that comes to it requests changes.
async function twoTasks(t) {
  const fixture = withBacklog(t);
  const agents = new Agents(fixture, {
    'reviewer-review': (task, n) => (n === 1 ? answer('changes_requested', '**must** src/widget.txt:1: it does not turn.')
      : DEFAULTS['reviewer-review']()),
  });
  const run = await t.run(fixture, agents, TICK);
  t.sound(run);
  t.match(run.text, /^success: 2 of 2 tasks are finished/, 'result for the user');
  t.note(`figures: iterations of the tick: ${run.iterations.map((one) => `${one.agents} agents, ${one.bytes} bytes`).join('; ')}`);
  t.affordable(run, 1228);
  checkFinished(t, fixture);
  t.equal(agents.skills.filter((skill) => skill === 'developer-fix').length, 1, 'repairs');
  t.equal(agents.skills.includes('developer-create-pr'), false, 'whether an agent opens a pull request');
  t.equal(agents.calls.filter((call) => /researching/.test(call)).map((call) => call.split(' ')[0]).sort(), ['T-1/researching/1', 'T-2/researching/1'], 'researchers');
}

// Two sessions take one task each from the board, and work at the same time.
async function twoSessions(t) {
  const fixture = withBacklog(t);
  const tool = async (...args) => (await startDevTeam(args, { cwd: fixture.repo, env: t.environment(fixture, 'http://127.0.0.1:9') }).done).out;
  t.match(await tool('tick', '--queue'), /'T-1\/researching\/1' waits on the board/, 'the array of the tick');
  t.equal(await tool('board', 'approve', 'T-1', 'T-2'), '2 requests approved\n', 'the approval');
  const both = barrier(2);
  const all = [1, 2].map(() => new Agents(fixture, {
    'researcher-plan': (task, n) => ({ ...DEFAULTS['researcher-plan'](task, n), work: [{ wait: () => both.wait() }] }) }));
  const runs = await Promise.all(all.map((agents) => t.run(fixture, agents, '/dev-team:poll')));
  for (const run of runs) {
    t.sound(run);
    t.match(run.text, /^(?:success: 2 of 2 tasks are finished|waiting: [^]*\nnext: \d+)/, 'result for the user');
  }
  t.equal(all.map((agents) => agents.calls.filter((call) => /researching/.test(call)).length), [1, 1], 'researchers of each session');
  checkFinished(t, fixture);
  t.equal(await tool('board', 'list', '--json'), '[]\n', 'the board');
}

// The client is killed while an agent of the first task works; another session goes on, and starts the second task.
async function killedSession(t) {
  const fixture = withBacklog(t);
  const asked = breakpoint();
  const agents = new Agents(fixture, {
    'reviewer-review': (task, n) => (n === 1 ? { work: [{ wait: asked.block }] } : DEFAULTS['reviewer-review']()),
  });
  const first = await t.run(fixture, agents, ONE_TICK, { during: async (client) => {
    await asked.reached;
    process.kill(client.pid, 'SIGKILL');
  } });
  t.equal(first.signal, 'SIGKILL', 'how the first client ended');
  const run = await t.run(fixture, agents, ONE_TICK);
  t.sound(run);
  t.match(run.text, /^success: 2 of 2 tasks are finished/, 'result for the user');
  t.equal(agents.skills.filter((skill) => skill === 'developer-implement').length, 2, 'implementations');
  t.equal(agents.skills.filter((skill) => skill === 'reviewer-review').length, 3, 'reviews');
  checkFinished(t, fixture);
}

// The client's `/loop` begins at once, and again each minute. A prompt that is due while the conductor works, or when nothing is to
// be done, costs no request; the next one finds a task that was added meanwhile.
async function repeated(t) {
  const fixture = withBacklog(t, 'T-1');
  const agents = new Agents(fixture);
  const run = await t.interact(fixture, agents, 'manual', async (terminal, log) => {
    await terminal.type(`/loop 1m ${ONE_TICK}`);
    await terminal.shows(/type .\/loop 5m dev-team tick/);
    t.equal(log.length, 0, 'requests for a command that the client cannot repeat');
    await terminal.type('/loop 1m dev-team tick --max-concurrent 2');
    await terminal.shows(/success: 1 of 1 tasks/);
    await terminal.shows(/dev-team: success: 1 of 1 tasks/);
    addTasks(fixture, 'T-2');
    await terminal.shows(/success: 2 of 2 tasks/);
  });
  t.equal(mainOf(run).filter(({ answer }) => answer.some((block) => block.name === 'Agent')).length, 2, 'conductors');
  t.equal(agents.skills.filter((skill) => skill === 'developer-implement').length, 2, 'implementations');
  checkFinished(t, fixture);
}

// Unattended, with the login of the client: its key is not passed on.
async function headlessStart(t) {
  const fixture = withBacklog(t);
  const agents = new Agents(fixture);
  const run = await withClaude(t, fixture, agents, ['--spawner', 'harness', '--max-concurrent', '2', '--max-ticks', '100'],
    { verb: ['start'], extra: { CLAUDE_CODE_OAUTH_TOKEN: 'dummy-local-token' } });
  t.equal(run.code, 0, `exit code; ${run.err}`);
  t.match(run.err, /^dev-team: agents use the login of claude-code; not passed on: ANTHROPIC_API_KEY$/m, 'who pays');
  t.match(run.out, /"reason":"2 of 2 tasks are finished"/, 'stdout');
  t.equal(agents.skills.filter((skill) => skill === 'developer-implement').length, 2, 'implementations');
  checkFinished(t, fixture);
}

export const backlog = [
  ['backlog: a killed session is continued by another one', killedSession],
  ['backlog: repeated by the client', repeated],
  ['backlog: start --spawner harness, two tasks to their pull requests', headlessStart],
  ['backlog: two sessions take approved requests from the board', twoSessions],
  ['backlog: two tasks, and a review that requests changes', twoTasks],
];
