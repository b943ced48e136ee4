// An agent manifest in the client: nodes that work at the same time, each with the tools of its persona.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer } from '../agents.mjs';
import { startApis, use } from '../apis.mjs';
import { startDevTeam } from '../fixture.mjs';
import { gate, LIMIT } from '../sync.mjs';
import { PASS } from './headless.mjs';

const commit = (name) => ({ run: `echo ${name} >src/${name}.txt && git add src/${name}.txt && git commit -q -m 'Make the ${name}'` });

// Each waits until all `n` have begun.
function together(n) {
  const all = gate();
  let began = 0;
  return () => {
    if (++began === n) all.open();
    return { wait: all.wait };
  };
}

// The shipped manifest: one worker is tried again, the reviewers overlap, and one asks for a tool that its persona lacks.
async function feature(t) {
  const fixture = t.fixture();
  const workers = together(2);
  const critics = together(3);
  const worker = (name) => (task, n) => (n === 1
    ? { work: [workers(), commit(name)], ...answer(name === 'core' ? 'validation_fail' : 'success', `${name}, at first.`) }
    : { work: [commit(`${name}2`)], ...answer('success', `${name}, again.`) });
  const critic = (...work) => () => ({ work: [critics(), ...work], ...answer('success', 'Nothing is wrong.') });
  const agents = new Agents(fixture, {
    plan: () => answer('success', 'core: src/core.txt. surface: src/surface.txt.'),
    core: worker('core'),
    surface: worker('surface'),
    correctness: critic(),
    security: critic({ tool: 'WebFetch', input: { url: 'http://127.0.0.1:9/', prompt: 'Read it.' }, refused: /the persona 'critic' of 'ADR-1\/security\/1' has no tool 'WebFetch'/ }),
    design: critic(),
    integrate: () => ({ work: ['core', 'core.2', 'surface'].map((name) => ({ run: `git merge -q --no-ff dev-team/ADR-1.${name}` })),
      ...answer('success', 'Both are in.') }),
  });
  const run = await t.run(fixture, agents, '/dev-team:graph feature ADR-1');
  t.sound(run, 1);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills.sort(), ['core', 'core', 'correctness', 'design', 'integrate', 'plan', 'security', 'surface'], 'agents');
  t.match(fixture.context(), /"core","action":"ADR-1\/core\/2"|ADR-1\.core\.2/, 'the second attempt');
}

const FAILING = `apiVersion: dev-team/v1
kind: AgentManifest
metadata: {name: failing}
spec:
  personas: [{name: worker, role: developer, systemPrompt: Do your part. End with success or failure.}]
  topology:
    blocks: [{name: both, kind: parallel}, {name: one, kind: sequential, within: both}]
  nodes:
    - {id: start, persona: worker}
    - {id: long, persona: worker, block: both}
    - {id: first, persona: worker, block: one}
    - {id: second, persona: worker, block: one}
  edges:
    - {from: start, to: long}
    - {from: start, to: first}
    - {from: first, to: second}
`;

// A failure in a sequential block ends the run while another agent works: that one's next call is denied, and its answer does
// not count.
async function cancelled(t) {
  const fixture = t.fixture();
  fixture.write('failing.yaml', FAILING);
  const [work, denied] = [gate(), gate()];
  const agents = new Agents(fixture, {
    start: () => answer('success', 'Go.'),
    long(task) {
      return { work: [{ wait: work.wait }, { ...this.writeWidget(task, 'It turns.\n'), refused: /dev-team: ADR-1 has ended: stop/ },
        { run: 'echo late >late.txt', refused: /dev-team: ADR-1 has ended: stop/ }, { wait: async () => { denied.wait(); } }], ...answer('success', 'Too late.') };
    },
    first: () => ({ work: [{ wait: () => work.reached }], ...answer('failure', 'The network is down.') }),
  });
  const cancellations = () => (fs.existsSync(fixture.contextFile) ? fixture.events() : []).filter((event) => event.type === 'cancelled').map((event) => event.actions);
  await t.interact(fixture, agents, 'manual', async (terminal) => {
    await terminal.type('/dev-team:graph failing.yaml ADR-1');
    for (const until = Date.now() + LIMIT; !cancellations().length; await new Promise((resolve) => { setTimeout(resolve, 100); }))
      if (Date.now() > until) throw new Error('the run does not end');
    work.open();
    await denied.reached;
  });
  denied.open();
  t.equal(agents.skills.sort(), ['first', 'long', 'start'], 'agents');
  t.equal(cancellations(), [['ADR-1/long/1']], 'cancelled actions');
  t.equal(fixture.events().filter((event) => event.type === 'answer').map((event) => event.action), ['ADR-1/start/1', 'ADR-1/first/1'], 'answers');
  t.ok(!fs.existsSync(path.join(fixture.worktree, 'src/widget.txt')) && !fs.existsSync(path.join(fixture.worktree, 'late.txt')), 'the cancelled agent wrote');
  t.journal(fixture, 'failed');
}

const BOUNDED = `apiVersion: dev-team/v1
kind: AgentManifest
metadata: {name: bounded}
spec:
  personas:
    - {name: lister, role: developer, systemPrompt: List the files., tools: [Bash, Write]}
    - {name: reader, role: reviewer, systemPrompt: Read the start., tools: [Bash, Read, Write]}
  nodes: [{id: list, persona: lister}, {id: read, persona: reader}]
  edges: [{from: list, to: read}]
`;

// Headless agents: the client has no tool but those that the manifest and the clearance file leave, also none of those that it
// permits by itself.
async function headlessTools(t) {
  const fixture = t.fixture();
  fixture.write('bounded.yaml', BOUNDED);
  fixture.write('.dev-team/clearance.yaml', 'personas:\n  developer: {policy: developer, tools: [Bash]}\n  reviewer: {policy: readonly, tools: [Read]}\n');
  const file_path = path.join(fixture.worktree, 'src/start.txt');
  const calls = { Bash: { command: 'cat src/start.txt' }, Read: { file_path }, Write: { file_path, content: 'x' }, Glob: { pattern: '*' },
    TodoWrite: { todos: [] }, ToolSearch: { query: 'select:WebFetch' }, Agent: { description: 'x', prompt: 'Read it.', subagent_type: 'general-purpose' } };
  const results = [];
  const apis = await startApis(({ tools, news }) => {
    const back = news.filter((block) => block.type === 'tool_result');
    if (!back.length) return Object.entries(calls).map(([name, input]) => use(name, input));
    results.push({ tools: tools.filter((name) => name in calls), done: back.filter((block) => !block.is_error).length, text: JSON.stringify(back) });
    return 'It is there.\n{"status": "success"}';
  });
  const env = t.environment(fixture, apis.url);
  env.PATH = `${t.clients['claude-code'].bin}:${env.PATH}`;
  const run = await startDevTeam(['run', 'ADR-1', '--workflow', 'bounded.yaml', '--harness', 'claude-code', '--timeout', String(LIMIT / 1000), ...PASS],
    { cwd: fixture.repo, env }).done;
  await apis.stop();
  if (apis.errors.length) throw apis.errors[0];
  t.match(run.out, /^\[{"action":"done","result":"success"/, `the run: ${run.err}`);
  t.equal(results.map(({ tools, done }) => `${tools}: ${done}`), ['Bash: 1', 'Read: 1'], 'tools of the agents, and calls that were carried out');
  for (const [i, denied] of [[0, 'Read'], [1, 'Bash']]) t.match(results[i]?.text, new RegExp(`No such tool available: ${denied}`), `${denied} is refused`);
}

export const graph = [
  ['graph: headless, the client has only the tools that the manifest and the clearance file leave', headlessTools, { versions: true }],
  ['graph: a failure ends the run, and the agent that still works is denied its next call', cancelled],
  ['graph: the shipped feature, agents at the same time, a retry, a tool that a persona lacks', feature],
];
