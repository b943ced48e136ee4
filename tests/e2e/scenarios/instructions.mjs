// That the run follows the texts: other workflows, an installed plugin, wrong texts, a step that refuses. Each: [name, claim(expect, stage, makeWorld)].

import { Cast, decide, say } from '../cast.mjs';
import { asked, IMPLEMENT, path, result, types } from './common.mjs';

const AUDIT = `---
states:
  audit:
    agent: auditor
    skill: widget-audit
    args: [ID]
    writes: Audit
    results: {approved: clean, changes_requested: dirty}
---
\`\`\`mermaid
stateDiagram-v2
  [*] --> init
  init --> audit : start
  audit --> done : clean
  audit --> failed : dirty
  done --> [*]
  failed --> [*]
\`\`\`
`;

const AUDIT_SKILL = `---
name: widget-audit
description: Audit the widget.
---
Audit $0. Last line: \`{"status": "approved"}\` or \`{"status": "changes_requested"}\`.
`;

// A state of the repository's own: no agent type of that name, and the skill is the repository's.
async function declared(expect, stage, makeWorld) {
  const world = makeWorld();
  world.write('flow.md', AUDIT);
  world.write('.claude/skills/widget-audit/SKILL.md', AUDIT_SKILL);
  const cast = new Cast(world, { 'widget-audit': () => say('approved', 'It is a widget.') });
  const run = await stage.run(world, cast, '/dev-team:dev-team flow.md ADR-1');
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  path(expect, world, 'init>audit audit>done');
  expect.equal(types(run), ['auditor', 'task-runner'], 'agent types that were tried');
}

// As a user installs it: from the marketplace that the repository is, then without --plugin-dir.
async function installed(expect, stage, makeWorld) {
  const world = makeWorld();
  stage.tool(world, 'plugin', 'marketplace', 'add', world.copyPlugin());
  stage.tool(world, 'plugin', 'install', 'dev-team@dev-team');
  const run = await stage.run(world, new Cast(world), IMPLEMENT, { plugin: null });
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
}

// The negative control: the model does what the texts say, so a wrong text must show.
async function wrongInstruction(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { troubleshooter: () => decide('terminate', 'the agent never began') });
  const plugin = world.misleading('agents/researcher.md', '--action', '--id');
  const run = await stage.run(world, cast, IMPLEMENT, { plugin });
  stage.sound(expect, run);
  expect.match(result(run), /^failed: /, 'what the user is told');
  expect.equal(asked(cast), ['troubleshooter'], 'agents that got to work');
  expect.equal(world.events().filter((event) => event.type === 'failure').length, 3, 'failures');
}

async function refused(expect, stage, makeWorld) {
  const world = makeWorld();
  const run = await stage.run(world, new Cast(world), '/dev-team:implement ADR-2');
  stage.sound(expect, run);
  expect.match(result(run), /^The step failed: .*ADR-2/s, 'what the user is told');
  expect.equal(run.log.length, 2, 'requests');
}

export const instructions = [
  ['dev-team: a declared state, by the task-runner with a skill of the repository', declared],
  ['implement: installed from its marketplace', installed],
  ['implement: a wrong instruction in an agent file fails the run', wrongInstruction],
  ['implement: a refused step is shown and stops', refused],
];
