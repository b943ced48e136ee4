// What the hook makes of the tool calls of agents, with and without a clearance file. Each: [name, claim(expect, stage, makeWorld)].

import fs from 'node:fs';
import path from 'node:path';
import { Cast, say } from '../cast.mjs';
import { path as states, result } from './common.mjs';

const FLOW = `---
states:
  audit:
    agent: task-runner
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

const SKILL = `---
name: widget-audit
description: Audit the widget.
---
Audit $0. Last line: \`{"status": "approved"}\` or \`{"status": "changes_requested"}\`.
`;

const CLEARANCE = '.dev-team/clearance.yaml';

// One agent that does `work`, by a workflow of the repository's own; brief and record are among its calls.
async function audit(expect, stage, world, work) {
  world.write('flow.md', FLOW);
  world.write('.claude/skills/widget-audit/SKILL.md', SKILL);
  const cast = new Cast(world, { 'widget-audit': () => ({ work, ...say('approved', 'It is a widget.') }) });
  const run = await stage.run(world, cast, '/dev-team:dev-team flow.md ADR-1');
  if (run.faults.length) throw run.faults[0];
  expect.equal(run.code, 0, 'exit code of the client');
  expect.match(result(run), /^success: /, 'what the user is told');
  states(expect, world, 'init>audit audit>done');
  stage.affordable(expect, run);
  return run;
}

const write = (world, file, content) => ({ tool: 'Write', input: { file_path: path.join(world.repo, file), content } });

// The same commands, and nobody minds: the plugin alone changes nothing.
async function unconfigured(expect, stage, makeWorld) {
  const world = makeWorld();
  const run = await audit(expect, stage, world, [
    { run: 'x=1; eval "echo $((x + 1))"', gives: /^2$/ },
    { run: 'cd src && pwd -P', gives: /\/repo\/src/ },
    write(world, 'big.txt', 'x'.repeat(300000)),
    write(world, CLEARANCE.replace('clearance', 'other'), 'x\n'),
  ]);
  stage.sound(expect, run);
  expect.equal(fs.statSync(path.join(world.repo, 'big.txt')).size, 300000, 'the size of what was written');
}

async function denied(expect, stage, makeWorld) {
  const world = makeWorld();
  const clearance = 'personas:\n  task-runner: {policy: developer, tools: [Bash, Write, Skill]}\n';
  world.write(CLEARANCE, clearance);
  await audit(expect, stage, world, [
    { run: 'curl http://example.test/', refused: /dev-team: deny name\.listed 0-4 'curl': .*\n.*policy is 'developer'/ },
    { run: 'git status; cat ../secret', refused: /deny path\.outside 16-25 '\.\.\/secret' -> / },
    { run: `echo 'personas: {}' > ${CLEARANCE}`, refused: /deny path\.protected/ },
    { run: `rm -rf .dev-team`, refused: /deny path\.protected/ },
    write(world, 'src/ok.txt', 'fine\n'),
    { ...write(world, CLEARANCE, 'personas: {}\n'), refused: /deny path\.protected/ },
    { ...write(world, '../outside.txt', 'x\n'), refused: /deny path\.outside/ },
    { tool: 'Read', input: { file_path: path.join(world.repo, 'src/ok.txt') }, refused: /deny tool .*'Read'/ },
    { run: 'git log -1 --format=%s | head -n 1 && ls src', gives: /^Start\nok\.txt\nstart\.txt$/ },
    { run: 'cat > src/new.txt <<\'EOF\'\nit\'s $HOME `id`\nEOF', gives: /^/ },
    { run: 'cat src/new.txt', gives: /^it's \$HOME `id`$/ },
  ]);
  expect.equal(fs.readFileSync(path.join(world.repo, CLEARANCE), 'utf8'), clearance, 'the clearance file');
  expect(!fs.existsSync(path.join(world.root, 'outside.txt')), 'a file outside was written');
}

// The text goes to `policy exec`: what is understood is run in the sandbox, and its output comes back.
async function executed(expect, stage, makeWorld) {
  const world = makeWorld();
  world.write('.dev-team/mine.yaml', 'allow: [git, echo, ls, wc]\nwrite: true\n');
  world.write(CLEARANCE, 'personas:\n  task-runner: {policy: mine.yaml}\nbash: exec\n');
  await audit(expect, stage, world, [
    { run: 'echo "$HOME"', refused: /deny/ },
    { run: 'git var GIT_EDITOR', gives: /^true$/m }, // as the run's own environment says
    { run: 'echo made > src/made.txt && ls src | wc -l', gives: /^2$/ },
  ]);
  expect.equal(fs.readFileSync(path.join(world.repo, 'src/made.txt'), 'utf8'), 'made\n', 'what was written');
}

async function broken(expect, stage, makeWorld) {
  const world = makeWorld();
  world.write('flow.md', FLOW);
  world.write(CLEARANCE, 'persona: {}\n');
  const run = await stage.run(world, new Cast(world), '/dev-team:dev-team flow.md ADR-1');
  expect.match(world.events().map((event) => event.type).join(' '), /failure/, 'events');
  expect.match(JSON.stringify(run.log.filter((entry) => entry.agent).map((entry) => entry.messages)),
    /clearance\.yaml:1:1: unknown key 'persona'/, 'what the agent was told');
}

export const policy = [
  ['policy: without a clearance file nothing changes', unconfigured],
  ['policy: a denied call is refused and says why, an allowed one runs', denied],
  ['policy: allowed commands run in the sandbox', executed],
  ['policy: a broken clearance file stops the agents and says where', broken],
];
