// Runs follow the plugin's texts: other workflows, an installed plugin, wrong texts, a refused step.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, decide } from '../agents.mjs';
import { HOSTED, permissionHost } from '../claude.mjs';
import { plugin } from '../fixture.mjs';
import { AUDIT, AUDITED, IMPLEMENT } from '../scenario.mjs';

// A state that the repository declares; its agent and its skill are the repository's.
async function declared(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('auditor');
  const run = await t.run(fixture, new Agents(fixture), AUDIT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, AUDITED);
  t.equal(run.types, ['auditor'], 'agent types'); // the hook puts another type into the call
}

// The nodes are commands.
async function graph(t) {
  const fixture = t.fixture();
  fixture.write('.dev-team/workflows/notes.yaml', `apiVersion: dev-team/v1
kind: AgentManifest
metadata: {name: notes}
spec:
  topology:
    blocks:
      - {name: both, kind: parallel}
  nodes:
    - {id: collect, command: git log --oneline}
    - {id: one, command: echo one, block: both}
    - {id: two, command: echo two, block: both}
  edges:
    - {from: collect, to: one}
    - {from: collect, to: two}
`);
  const run = await t.run(fixture, new Agents(fixture), '/dev-team:graph notes ADR-1');
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(run.types, ['script-runner'], 'agent types'); // the hook runs the others
  t.equal(fixture.events().filter((event) => event.type === 'answer').map((event) => event.action.split('/').at(-2)).sort(), ['collect', 'one', 'two'], 'nodes');
}

// Installs the plugin from the repository as a marketplace, then runs without --plugin-dir.
async function installed(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  await t.install(fixture);
  const run = await t.run(fixture, new Agents(fixture), AUDIT, { plugin: null });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, AUDITED);
}

// The negative control: the model does what the texts answer, so a wrong text must show.
async function wrongInstruction(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, { troubleshooter: () => decide('terminate', 'the agent never started') });
  const plugin = fixture.changePlugin('agents/researcher.md', '--action', '--id');
  const run = await t.run(fixture, agents, IMPLEMENT, { plugin, hooks: false });
  t.sound(run);
  t.match(run.text, /^failed: /, 'result for the user');
  t.equal(agents.skills, ['troubleshooter'], 'agents that reached their skill');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 3, 'failures');
}

async function refused(t) {
  const fixture = t.fixture();
  const run = await t.run(fixture, new Agents(fixture), '/dev-team:implement ADR-2');
  t.sound(run);
  t.match(run.text, /ADR-2/, 'result for the user');
  t.equal(run.log.length, 1, 'requests');
}

// The arguments of each slash command, as hostile as a prompt can be, in one session; the client's own permission mode, no prompt.
async function hostileArguments(t) {
  const fixture = t.fixture();
  const before = fs.readdirSync(fixture.repo).sort();
  const commands = fs.readdirSync(path.join(plugin, 'commands')).map((file) => path.basename(file, '.md'));
  const prompts = commands.flatMap((command) =>
    [`x';touch p;'`, '"x"; touch p', '$(touch p)', '`touch p`', `x;\ntouch p\n`, `${'x'.repeat(10000)}'; touch p`]
      .map((words) => `/dev-team:${command} ${words}`));
  const run = await t.run(fixture, new Agents(fixture), null, { args: HOSTED, host: () => permissionHost(prompts, () => ({ behavior: 'deny', message: 'no' })) });
  t.sound(run);
  const results = run.events.filter((event) => event.type === 'result').map((event) => event.result);
  t.equal(results.length, prompts.length, 'results');
  for (const [i, prompt] of prompts.entries())
    t.match(results[i], /bad work item id|no workflow|usage: \/dev-team:(orchestrator-tick|execute|poll) /, prompt.slice(0, 40));
  t.equal(fs.readdirSync(fixture.repo).sort(), before, 'the files of the repository');
}

export const instructions = [
  ['dev-team: a declared state, by the task-runner with a skill of the repository', declared],
  ['graph: a manifest of commands', graph],
  ['dev-team: installed from its marketplace', installed, { versions: true }],
  ['implement: a wrong instruction in an agent file fails the run', wrongInstruction],
  ['implement: a refused step is shown and stops', refused],
  ['all commands: hostile arguments reach no shell', hostileArguments],
];
