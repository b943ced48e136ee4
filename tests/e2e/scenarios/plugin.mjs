// The plugin's files, without a conversation.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { plugin } from '../fixture.mjs';
import { LIMIT } from '../sync.mjs';

const read = (...parts) => fs.readFileSync(path.join(plugin, ...parts), 'utf8');
const body = (text) => text.replace(/^---\n[\s\S]*?\n---\n/, '');
const names = (directory) => fs.readdirSync(path.join(plugin, directory));
const toolsOf = (text) => /^tools: (.*)$/m.exec(text)[1].split(', ');

// Result words of the action protocol, by skill.
const WORDS = {
  'debugger-investigate': ['reproduced', 'not_reproduced'],
  'researcher-plan': ['briefed', 'failed'],
  'researcher-issue': ['briefed', 'failed'],
  'researcher-validate': ['validated', 'failed'],
  'developer-implement': ['implemented', 'failed', 'needs_clarification'],
  'developer-create-pr': ['pr_created', 'failed'],
  'developer-fix': ['fixed', 'failed'],
  'reviewer-review': ['approved', 'changes_requested'],
  'reviewer-sign-off': ['approved', 'changes_requested'],
};

const TOOLS = {
  'task-runner': 'Bash, Read, Edit, Write, Skill', 'script-runner': 'Bash', troubleshooter: 'Bash, Read',
  researcher: 'Bash, Read, Skill', developer: 'Bash, Read, Edit, Write, Skill', reviewer: 'Bash, Read, Skill',
  debugger: 'Bash, Read, Write, Skill',
};

async function validates(t) {
  t.match(await t.tool(t.fixture(), 'plugin', 'validate', '--strict', plugin), /Validation passed/, 'verdict');
}

async function sizes(t) {
  for (const name of ['dev-team.md', 'implement.md', 'fix.md'])
    t.ok(Buffer.byteLength(read('commands', name)) <= 3072, `commands/${name} is over 3 KB`);
  t.ok(Buffer.byteLength(read('agents/task-runner.md')) <= 2560, 'agents/task-runner.md is over 2.5 KB');
}

// The three commands carry the same loop, each with its own step line and id.
async function oneLoop(t) {
  const loop = (name) => body(read('commands', name)).replace(/STEP: .*/, '').replace(/context path '\$\d'/, '');
  t.equal(loop('implement.md'), loop('dev-team.md'), 'the loop of implement.md');
  t.equal(loop('fix.md'), loop('dev-team.md'), 'the loop of fix.md');
}

async function agents(t) {
  t.equal(names('agents').map((name) => name.replace('.md', '')).sort(), Object.keys(TOOLS).sort(), 'agents');
  const allowed = /^allowed-tools: (.*)$/m.exec(read('commands/dev-team.md'))[1].split(', ');
  for (const [name, tools] of Object.entries(TOOLS)) {
    const text = read('agents', `${name}.md`);
    t.equal(toolsOf(text).join(', '), tools, `tools of ${name}`);
    for (const tool of toolsOf(text)) t.ok(allowed.includes(tool), `the commands do not allow ${tool}, which ${name} uses`);
  }
}

async function skills(t) {
  t.equal(names('skills').sort(), Object.keys(WORDS).sort(), 'skills');
  for (const [name, words] of Object.entries(WORDS)) {
    const offered = [...read('skills', name, 'SKILL.md').matchAll(/`\{"status": "(\w+)"\}`/g)].map((match) => match[1]);
    t.equal(offered, words, `result words of ${name}`);
  }
}

async function launcher(t) {
  const directory = path.join(t.directory, 'launcher');
  const place = (at, text) => {
    fs.mkdirSync(path.dirname(path.join(directory, at)), { recursive: true });
    fs.writeFileSync(path.join(directory, at), text, { mode: 0o755 });
  };
  const start = (PATH, file = 'a b/bin/dev-team') =>
    spawnSync(path.join(directory, file), ['--version', 'x y'], { encoding: 'utf8', env: { PATH }, timeout: LIMIT });
  const both = `${directory}/a b/bin:${directory}/other/bin:/usr/bin:/bin`;

  place('a b/bin/dev-team', read('bin/dev-team'));
  place('other/bin/dev-team', read('bin/dev-team'));
  const missing = start(both);
  t.equal(missing.status, 5, 'exit code without a program');
  t.match(missing.stderr, /run 'make' in '.*\/a b'/, 'message without a program');

  place('installed/bin/dev-team', '#!/bin/sh\necho "installed $#"\n');
  t.equal(start(`${both}:${directory}/installed/bin`).stdout, 'installed 2\n', 'an installed program');
  place('a b/build/dev-team', '#!/bin/sh\necho "built $#"\n');
  t.equal(start(`${directory}/installed/bin:${both}`).stdout, 'built 2\n', 'the built program');
  fs.symlinkSync('../../a b/bin/dev-team', path.join(directory, 'other/bin/link'));
  t.equal(start(both, 'other/bin/link').stdout, 'built 2\n', 'by a symbolic link');
  t.ok((fs.statSync(path.join(plugin, 'bin/dev-team')).mode & 0o111) === 0o111, 'bin/dev-team is not executable');
}

// Without a clearance file the hook needs no program and prints nothing; with one, agents are blocked until there is a program.
async function hookLauncher(t) {
  const directory = path.join(t.directory, 'hook');
  const project = path.join(directory, 'project');
  fs.mkdirSync(path.join(directory, 'bin'), { recursive: true });
  fs.mkdirSync(path.join(project, 'src'), { recursive: true });
  fs.writeFileSync(path.join(directory, 'bin/dev-team'), read('bin/dev-team'), { mode: 0o755 });
  const { command } = JSON.parse(read('hooks/hooks.json')).hooks.PreToolUse[0].hooks[0];
  const ask = (input) => spawnSync('sh', ['-c', command], { encoding: 'utf8', input, timeout: LIMIT,
    env: { PATH: '/usr/bin:/bin', CLAUDE_PLUGIN_ROOT: directory, CLAUDE_PROJECT_DIR: path.join(project, 'src') } });
  const [agent, session] = ['{"agent_id":"1","agent_type":"x","tool_name":"Bash"}', '{"tool_name":"Bash"}'];
  const outcome = (run) => [run.status, run.stdout, run.stderr !== ''];

  t.equal(outcome(ask(agent)), [0, '', false], 'without a clearance file');
  fs.mkdirSync(path.join(project, '.dev-team'));
  fs.writeFileSync(path.join(project, '.dev-team/clearance.yaml'), 'personas: {}\n');
  t.equal(outcome(ask(session)), [0, '', false], 'the session, with a clearance file and without a program');
  t.equal(outcome(ask(agent)), [2, '', true], 'an agent, with a clearance file and without a program');
}

export const pluginFiles = [
  ['plugin: claude plugin validate --strict', validates],
  ['plugin: loop commands and task-runner keep their size', sizes],
  ['plugin: the three commands carry one loop', oneLoop],
  ['plugin: agents have exactly their tools, and the commands allow them', agents],
  ['plugin: skills offer exactly the result words of their actions', skills],
  ['plugin: the launcher finds the program or says how to build it', launcher],
  ['plugin: the hook blocks only where something is configured', hookLauncher],
];
