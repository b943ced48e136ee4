// Runs follow the plugin's texts: other workflows, an installed plugin, wrong texts, a refused step.

import { Agents, answer, decide } from '../agents.mjs';
import { IMPLEMENT } from '../scenario.mjs';

// A state that the repository declares: there is no agent type of its name, and the skill is the repository's.
async function declared(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('auditor');
  const agents = new Agents(fixture, { 'widget-audit': () => answer('approved', 'It is a widget.') });
  const run = await t.run(fixture, agents, '/dev-team:dev-team flow.md ADR-1');
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, 'init>audit audit>done');
  t.equal(run.types, ['auditor', 'task-runner'], 'agent types');
}

// Installs the plugin from the repository as a marketplace, then runs without --plugin-dir.
async function installed(t) {
  const fixture = t.fixture();
  await t.tool(fixture, 'plugin', 'marketplace', 'add', fixture.copyPlugin());
  await t.tool(fixture, 'plugin', 'install', 'dev-team@dev-team');
  const run = await t.run(fixture, new Agents(fixture), IMPLEMENT, { plugin: null });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
}

// The negative control: the model does what the texts answer, so a wrong text must show.
async function wrongInstruction(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, { troubleshooter: () => decide('terminate', 'the agent never started') });
  const plugin = fixture.changePlugin('agents/researcher.md', '--action', '--id');
  const run = await t.run(fixture, agents, IMPLEMENT, { plugin });
  t.sound(run);
  t.match(run.text, /^failed: /, 'result for the user');
  t.equal(agents.skills, ['troubleshooter'], 'agents that reached their skill');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 3, 'failures');
}

async function refused(t) {
  const fixture = t.fixture();
  const run = await t.run(fixture, new Agents(fixture), '/dev-team:implement ADR-2');
  t.sound(run);
  t.match(run.text, /^The step failed: .*ADR-2/s, 'result for the user');
  t.equal(run.log.length, 2, 'requests');
}

export const instructions = [
  ['dev-team: a declared state, by the task-runner with a skill of the repository', declared],
  ['implement: installed from its marketplace', installed],
  ['implement: a wrong instruction in an agent file fails the run', wrongInstruction],
  ['implement: a refused step is shown and stops', refused],
];
