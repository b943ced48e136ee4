// The tasks of a backlog, driven by one conductor.

import { Agents, answer, DEFAULTS } from '../agents.mjs';
import { startDevTeam } from '../fixture.mjs';
import { barrier } from '../sync.mjs';

const TICK = '/dev-team:orchestrator-tick --max-concurrent 2';

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

function withBacklog(t) {
  const fixture = t.fixture({ id: 'T-1' });
  fixture.write('backlog/tasks/t-1 - widget.md', task('T-1'));
  fixture.write('backlog/tasks/t-2 - widget.md', task('T-2'));
  fixture.git('add', '-A');
  fixture.git('commit', '-q', '-m', 'The backlog');
  fixture.git('push', '-q');
  return fixture;
}

const ownPullRequests = {
  'developer-create-pr'(task, n) {
    const good = DEFAULTS['developer-create-pr'].call(this, task, n);
    return { ...good, answer: good.answer.replace('pull/7', task.id.startsWith('T-2') ? 'pull/8' : 'pull/7') };
  },
};

// The review of the first task that comes to it requests changes.
async function twoTasks(t) {
  const fixture = withBacklog(t);
  const agents = new Agents(fixture, {
    ...ownPullRequests,
    'reviewer-review': (task, n) => (n === 1 ? answer('changes_requested', '**must** src/widget.txt:1: it does not turn.')
      : DEFAULTS['reviewer-review']()),
  });
  const run = await t.run(fixture, agents, TICK);
  t.sound(run);
  t.match(run.text, /^success: 2 of 2 tasks are finished/, 'result for the user');
  for (const id of ['T-1', 'T-2'])
    t.equal(fixture.subjects(`dev-team/${id}`).filter((subject) => /mark the task as done/.test(subject)), [`${id}: mark the task as done`], 'commits');
  t.equal(agents.skills.filter((skill) => skill === 'developer-fix').length, 1, 'repairs');
  t.equal(agents.calls.filter((call) => /researching/.test(call)).map((call) => call.split(' ')[0]).sort(), ['T-1/researching/1', 'T-2/researching/1'], 'researchers');
}

// Two sessions take one task each from the board, and work at the same time.
async function twoSessions(t) {
  const fixture = withBacklog(t);
  const tool = async (...args) => (await startDevTeam(args, { cwd: fixture.repo, env: t.environment(fixture, 'http://127.0.0.1:9') }).done).out;
  t.match(await tool('tick', '--queue'), /'T-1\/researching\/1' waits on the board/, 'the array of the tick');
  t.equal(await tool('board', 'approve', 'T-1', 'T-2'), '2 requests approved\n', 'the approval');
  const both = barrier(2);
  const all = [1, 2].map(() => new Agents(fixture, { ...ownPullRequests,
    'researcher-plan': (task, n) => ({ ...DEFAULTS['researcher-plan'](task, n), work: [{ wait: () => both.wait() }] }) }));
  const runs = await Promise.all(all.map((agents) => t.run(fixture, agents, '/dev-team:poll')));
  for (const run of runs) {
    t.sound(run);
    t.match(run.text, /^(?:success: 2 of 2 tasks are finished|waiting: [^]*\nnext: \d+)/, 'result for the user');
  }
  t.equal(all.map((agents) => agents.calls.filter((call) => /researching/.test(call)).length), [1, 1], 'researchers of each session');
  for (const id of ['T-1', 'T-2'])
    t.equal(fixture.subjects(`dev-team/${id}`).filter((subject) => /mark the task as done/.test(subject)).length, 1, `commits of ${id}`);
  t.equal(await tool('board', 'list', '--json'), '[]\n', 'the board');
}

export const backlog = [
  ['backlog: two sessions take approved requests from the board', twoSessions],
  ['backlog: two tasks, and a review that requests changes', twoTasks],
];
