// A state whose actions have an order, and work items below a work item.

import { Agents, answer } from '../agents.mjs';
import { isConductor } from '../model.mjs';
import { AUDIT } from '../scenario.mjs';
import { gate } from '../sync.mjs';
import { mainOf } from './loop.mjs';

const flow = (...items) => `---
evidence: []
states:
  build:
    all:
${items.map((item) => `      - {${item}, results: {${/child/.test(item) ? 'success: ok, failed: bad' : 'approved: ok, changes_requested: bad'}}}\n`).join('')}---
\`\`\`mermaid
stateDiagram-v2
  [*] --> init
  init --> build : start
  build --> done : ok
  build --> failed : bad
  done --> [*]
  failed --> [*]
\`\`\`
`;
const AGENT = 'agent: reviewer, skill: widget-audit, args: [ID, widget]';

// The short arm ends when the second part of the long one has begun: no action waits for the whole array.
async function diamond(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  fixture.write('flow.md', flow(`${AGENT}, writes: Plan`, `${AGENT}, after: [Plan], writes: Short`, `${AGENT}, after: [Plan], writes: Long 1`,
    `${AGENT}, after: [Long 1], writes: Long 2`, `${AGENT}, after: [Short, Long 2], writes: End`));
  const late = gate();
  const agents = new Agents(fixture, { 'widget-audit'(task) {
    if (task.id === 'ADR-1/build/4') late.open();
    return { work: task.id === 'ADR-1/build/2' ? [{ wait: late.wait }] : [], ...answer('approved', `${task.id} is good.`) };
  } });
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(AUDIT);
    await terminal.shows(/success: /);
  });
  t.equal(agents.calls.map((call) => call.split('/')[2].split(' ')[0]).sort(), ['1', '2', '3', '4', '5'], 'actions');
  t.match(fixture.section('Short'), /build\/2 is good/, 'the answer of the short arm');
  t.equal(mainOf(run).length, 1, 'requests of the main conversation');
  t.note(`figures: a diamond in the interactive client: ${run.log.filter(isConductor).length} requests of the conductor`);
  t.states(fixture, 'init>build build>done');
}

const parent = (fixture) => {
  fixture.addAuditWorkflow('reviewer');
  fixture.write('part.md', flow(`${AGENT}, writes: Text`));
  fixture.write('flow.md', flow(...['a', 'b'].map((name) => `child: ${name}, workflow: part.md, task: Look at ${name}., writes: Part ${name}`),
    `${AGENT}, after: [Part a, Part b], when: [success], writes: End`));
};

// The agents of both children are there at once; the second child's is asked again, because it was silent.
function twoChildren() {
  const both = gate();
  let began = 0;
  return { 'widget-audit'(task, n) {
    if (/\.[ab]\//.test(task.id) && ++began === 2) both.open();
    if (/\.b\/build\/1$/.test(task.id)) return { work: [{ wait: both.wait }], silent: true };
    return { work: /\.[ab]\//.test(task.id) ? [{ wait: both.wait }] : [], ...answer('approved', `${task.id} is good, ${n}.`) };
  } };
}

function checkChildren(t, fixture, agents) {
  t.equal([...new Set(agents.calls.map((call) => call.split(' ')[0].split('/')[0]))].sort(), ['ADR-1', 'ADR-1.a', 'ADR-1.b'], 'items');
  t.match(fixture.section('Part a'), /^ADR-1\.a: 'build' gave 'ok'/, 'the answer of the first child');
  t.match(fixture.section('Part b'), /^ADR-1\.b: 'build' gave 'ok'/, 'the answer of the second child');
  t.states(fixture, 'init>build build>done');
  t.journal(fixture, 'success');
}

async function childrenInTerminal(t) {
  const fixture = t.fixture();
  parent(fixture);
  const agents = new Agents(fixture, twoChildren());
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(AUDIT);
    await terminal.shows(/success: /);
  });
  t.equal(mainOf(run).length, 1, 'requests of the main conversation');
  checkChildren(t, fixture, agents);
}

async function childrenHeadless(t) {
  const fixture = t.fixture();
  parent(fixture);
  const agents = new Agents(fixture, twoChildren());
  const run = await t.run(fixture, agents, AUDIT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  checkChildren(t, fixture, agents);
}

export const order = [
  ['order: a diamond with arms of different length, in the terminal', diamond],
  ['children: two at once, one of them silent, in the terminal', childrenInTerminal],
  ['children: two at once, one of them silent, without a terminal', childrenHeadless],
];
