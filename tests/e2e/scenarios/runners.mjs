// Every action is carried out by the two types that know no role: agents by the task-runner, scripts by the script-runner.

import fs from 'node:fs';
import path from 'node:path';
import { Agents } from '../agents.mjs';
import { textOf, use } from '../apis.mjs';
import { AUDIT, IMPLEMENT, PREFIX } from '../scenario.mjs';
import { Fifo } from '../sync.mjs';

const TYPES = { 'You carry out one action': 'task-runner', 'You run one script': 'script-runner' };
const [AGENT, SCRIPT] = ['dev-team:task-runner', 'dev-team:script-runner'];

// The model asks for these types, whatever the action's agent is.
function runners(fixture) {
  const agents = new Agents(fixture);
  agents.start = (calls) => [calls.map(({ name, input }) => use(name, { ...input, subagent_type: input.subagent_type === SCRIPT ? SCRIPT : AGENT }))];
  return agents;
}

// The type of each agent that the client started, by its system prompt, and what `exec` printed.
function check(t, run, wanted) {
  const first = new Map();
  for (const entry of run.log) if (entry.agent && !entry.system.includes('You conduct one work item') && !first.has(entry.agent)) first.set(entry.agent, entry.system);
  t.equal([...first.values()].map((system) => Object.entries(TYPES).find(([text]) => system.includes(text))?.[1] ?? system.slice(0, 200)), wanted, 'agent types');
  const printed = run.log.filter(({ system }) => system.includes('You run one script')).flatMap(({ news }) => news)
    .filter((one) => one.type === 'tool_result').map((one) => textOf(one.content)).filter((text) => text.startsWith('passed'));
  t.equal(printed.length, 1, 'scripts that passed');
  t.match(printed[0], /^passed — log: \/\S+\.log$/, 'what exec printed');
  t.ok(fs.existsSync(String(printed[0]).split(': ')[1]), `there is no log: ${printed[0]}`);
}

// The loop's own text, which the hooks do not follow up: they would give each agent the type of its role, and run the script.
async function headless(t) {
  const fixture = t.fixture();
  const agents = runners(fixture);
  const run = await t.run(fixture, agents, IMPLEMENT, { hooks: false });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  check(t, run, ['task-runner', 'task-runner', 'script-runner', 'task-runner', 'task-runner']);
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
  t.journal(fixture, 'success');
}

// A script, then two agents at once whose roles have no type. The script ends when the script-runner has begun.
function declare(fixture) {
  fixture.addAuditWorkflow('auditor');
  const fifo = new Fifo(path.join(fixture.root, 'go'));
  const agent = 'agent: auditor, skill: widget-audit, args: [ID, widget]';
  fixture.write('flow.md', `---
evidence: []
states:
  check: {command: read -r go <${fixture.root}/go, writes: Check, results: {passed: ok, failed: bad}}
  audit:
    all:
${['One', 'Two'].map((name) => `      - {${agent}, writes: ${name}, results: {approved: ok, changes_requested: bad}}\n`).join('')}---
\`\`\`mermaid
stateDiagram-v2
  [*] --> init
  init --> check : start
  check --> audit : ok
  check --> failed : bad
  audit --> done : ok
  audit --> failed : bad
  done --> [*]
  failed --> [*]
\`\`\`
`);
  const agents = runners(fixture);
  agents.before = (id) => { if (id.includes('/check/')) fifo.write(); };
  return agents;
}

function finished(t, fixture, run) {
  check(t, run, ['script-runner', 'task-runner', 'task-runner']);
  t.states(fixture, 'init>check check>audit audit>done');
  t.journal(fixture, 'success');
}

async function conductor(t) {
  const fixture = t.fixture();
  const agents = declare(fixture);
  const run = await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type(AUDIT);
    await terminal.shows(/success: /);
  });
  finished(t, fixture, run);
}

// The hook of the tool Workflow waits for the script for a while, then leaves it to an agent.
async function script(t) {
  const fixture = t.fixture();
  const run = await t.run(fixture, declare(fixture), AUDIT, { script: true });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  finished(t, fixture, run);
}

export const runner = [
  ['runners: the loop without a terminal has task-runner and script-runner alone', headless],
  ['runners: the conductor in the terminal has task-runner and script-runner alone', conductor],
  ['runners: the loop as a script has task-runner and script-runner alone', script],
];
