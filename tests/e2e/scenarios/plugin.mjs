// The plugin's files, without a conversation.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer } from '../agents.mjs';
import { use } from '../apis.mjs';
import { plugin, portable } from '../fixture.mjs';
import { bytesOf } from '../model.mjs';
import { LIMIT } from '../sync.mjs';

const read = (...parts) => fs.readFileSync(path.join(plugin, ...parts), 'utf8');
const body = (text) => text.replace(/^---\n[\s\S]*?\n---\n/, '');
const names = (directory) => fs.readdirSync(path.join(plugin, directory));
const field = (text, name) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1];

// Result words of the action protocol, by skill.
const WORDS = {
  'debugger-investigate': ['reproduced', 'not_reproduced'],
  'researcher-plan': ['briefed', 'needs_clarification', 'failed'],
  'researcher-issue': ['briefed', 'needs_clarification', 'failed'],
  'researcher-validate': ['validated', 'failed'],
  'developer-implement': ['implemented', 'needs_clarification', 'failed'],
  'developer-create-pr': ['pr_created', 'failed'],
  'developer-fix': ['fixed', 'needs_clarification', 'failed'],
  'reviewer-review': ['approved', 'changes_requested'],
  'reviewer-sign-off': ['approved', 'changes_requested'],
  'reviewer-test': ['approved', 'changes_requested'],
  'reviewer-security': ['approved', 'changes_requested'],
};

// Without `tools` an agent has those of the session, with its MCP servers and the web; these are taken away.
// The hook denies SendMessage, which the client offers by a search only: each word is paid for by every session.
const [ALL, NO_EDITS] = ['Agent', 'Agent, Edit, Write'];
const DENIED = { debugger: ALL, developer: ALL, 'task-runner': ALL, researcher: NO_EDITS, reviewer: NO_EDITS };
const REVIEWERS = ['code-reviewer', 'test-reviewer', 'security-reviewer']; // of the tasks of a backlog
const each = (value) => Object.fromEntries(REVIEWERS.map((name) => [name, value]));
const EFFORT = { ...each('high'), debugger: 'high', researcher: 'high', reviewer: 'high', troubleshooter: 'high', 'script-runner': 'low' };
const TOOLS = { ...each('Bash, Read, Grep, WebFetch'), conductor: 'Bash, Agent', 'script-runner': 'Bash', troubleshooter: 'Bash, Read' };

async function validates(t) {
  t.match(await t.tool(t.fixture(), 'plugin', 'validate', '--strict', plugin), /Validation passed/, 'verdict');
}

const [IDLE_LIMIT, EACH_LIMIT] = [900, 80];

// What the plugin adds to the first request of a session that does not use it; its commands are listed to the user only.
async function idle(t) {
  const first = async (options) => {
    const fixture = t.fixture();
    const run = await t.run(fixture, new Agents(fixture), 'hello', options);
    t.sound(run);
    return run;
  };
  const size = ({ log: [{ body, messages }] }) => Buffer.byteLength(portable(JSON.stringify([body.system, body.tools])))
    + messages.reduce((sum, message) => sum + bytesOf(message.blocks), 0);
  const used = await first({});
  const bytes = size(used) - size(await first({ plugin: null }));
  t.note(`an idle session pays ${bytes} bytes`);
  t.ok(bytes > 0 && bytes <= IDLE_LIMIT, `an idle session pays ${bytes} bytes for the plugin`);
  // Each is a line: its name, description and tools, as the frontmatter has them.
  const lines = used.log[0].messages.flatMap((message) => message.blocks).flatMap((block) => (block.text ?? '').split('\n')).filter((line) => line.startsWith('- dev-team:'));
  t.equal(lines.map((line) => /^- dev-team:([^:]*)/.exec(line)[1]).sort(), [...names('agents').map((name) => name.replace('.md', '')), 'loop'].sort(), 'what is listed');
  for (const line of lines) t.ok(Buffer.byteLength(line) + 1 <= EACH_LIMIT, `${Buffer.byteLength(line) + 1} bytes: ${line}`);
  const larger = t.fixture().copyPlugin();
  const copies = { 'agents/examiner.md': read('agents/reviewer.md').replace('name: reviewer', 'name: examiner'), 'commands/examine.md': read('commands/fix.md') };
  for (const [file, content] of Object.entries(copies)) fs.writeFileSync(path.join(larger, file), content);
  const more = size(await first({ plugin: larger })) - size(used);
  t.ok(more > 0 && more <= EACH_LIMIT, `another agent and another command add ${more} bytes`);
  const { slash_commands: commands } = used.events.find((event) => event.subtype === 'init');
  t.equal(commands.filter((name) => name.startsWith('dev-team:')).sort(),
    [...names('commands'), 'loop'] // the client lists the script of the loop, too
      .map((name) => `dev-team:${name.replace('.md', '')}`).sort(), 'slash commands');
}

// The agents that work have the session's MCP servers and the web; the hook allows their calls.
async function servers(t) {
  const fixture = t.fixture();
  const config = JSON.stringify({ mcpServers: { tracker: { command: process.execPath, args: [path.join(fixture.bin, 'tracker.mjs')] } } });
  const agents = new Agents(fixture, { 'reviewer-review': () => ({
    work: [{ tool: 'mcp__tracker__issue', input: {}, gives: /The issue is open/ },
      { tool: 'ToolSearch', input: { query: 'select:SendMessage', max_results: 1 } },
      { tool: 'SendMessage', input: { to: 'main', summary: 'Hello', message: 'Hello.' }, refused: /ends with its answer, and sends no messages/ }], ...answer('approved', 'Nothing found.') }) });
  const run = await t.run(fixture, agents, '/dev-team:implement ADR-1', { args: ['--mcp-config', config] });
  t.sound(run, 1);
  for (const role of ['You are the researcher', 'You are the developer', 'You are the reviewer']) {
    const entry = run.log.find(({ system }) => system.includes(role));
    t.ok(entry, `no request of '${role}'`);
    for (const tool of ['mcp__tracker__issue', 'WebFetch']) t.ok(JSON.stringify(entry?.body).includes(tool), `${role}: ${tool}`);
  }
}

async function sizes(t) {
  for (const name of names('commands'))
    t.ok(Buffer.byteLength(read('commands', name)) <= 3072, `commands/${name} is over 3 KB`);
  const backlog = ['orchestrator-tick', 'execute', 'poll'].map((name) => Buffer.byteLength(read('commands', `${name}.md`)));
  t.ok(backlog.reduce((sum, bytes) => sum + bytes) <= 5120, 'the commands of the backlog are over 5 KB');
  t.ok(Buffer.byteLength(read('agents/task-runner.md')) <= 2560, 'agents/task-runner.md is over 2.5 KB');
}

// These commands carry the same loop, each with its own workflow.
async function oneLoop(t) {
  const loop = (name) => body(read('commands', name)).replace(/ --workflow '[^']*'/, '');
  t.equal(loop('implement.md'), loop('dev-team.md'), 'the loop of implement.md');
  t.equal(loop('fix.md'), loop('dev-team.md'), 'the loop of fix.md');
  t.equal(loop('continue.md'), loop('dev-team.md'), 'the loop of continue.md');
}

async function agents(t) {
  const all = names('agents').map((name) => name.replace('.md', ''));
  t.equal([...all].sort(), Object.keys({ ...TOOLS, ...DENIED }).sort(), 'agents');
  for (const name of all) {
    const text = read('agents', `${name}.md`);
    t.equal(field(text, 'tools'), TOOLS[name], `tools of ${name}`);
    t.equal(field(text, 'disallowedTools'), DENIED[name], `tools that ${name} has not`);
    t.equal(field(text, 'effort'), EFFORT[name], `effort of ${name}`);
    t.ok(field(text, 'color'), `${name} has no color`);
    t.equal(field(text, 'model') === undefined, name === 'conductor', `${name} has a model`); // its agents would inherit it
  }
}

async function skills(t) {
  t.equal(names('skills').sort(), Object.keys(WORDS).sort(), 'skills');
  for (const [name, words] of Object.entries(WORDS)) {
    const text = read('skills', name, 'SKILL.md');
    const last = /^Last line: `\{"status": "WORD"\}`, WORD being (.*)$/m.exec(text)?.[1] ?? '';
    t.equal([...last.matchAll(/`(\w+)`/g)].map((match) => match[1]).sort(), [...words].sort(), `result words of ${name}`);
    t.match(last, /other words, use the one that means the same/, `${name}: words of another workflow`);
    t.match(text, /^ {4}\S/m, `${name}: an example`);
    for (const key of ['user-invocable: false', 'disable-model-invocation: true']) t.ok(text.includes(`\n${key}\n`), `${name} is listed`);
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

// Without the program the hook says so and blocks nobody; with a clearance file, agents are blocked until there is a program.
// A session that drives no item starts no program.
async function hookLauncher(t) {
  const directory = path.join(t.directory, 'hook');
  const project = path.join(directory, 'project');
  const record = path.join(directory, '.dev-team/sessions/s.events.jsonl');
  fs.mkdirSync(path.join(directory, 'bin'), { recursive: true });
  fs.mkdirSync(path.join(project, 'src'), { recursive: true });
  fs.writeFileSync(path.join(directory, 'bin/dev-team'), read('bin/dev-team'), { mode: 0o755 });
  const { command, args } = JSON.parse(read('hooks/hooks.json')).hooks.PreToolUse[0].hooks[0];
  const ask = (input) => spawnSync(command.replace('${CLAUDE_PLUGIN_ROOT}', directory), args, { encoding: 'utf8', input, timeout: LIMIT,
    env: { PATH: '/usr/bin:/bin', HOME: directory, CLAUDE_PLUGIN_ROOT: directory, CLAUDE_PROJECT_DIR: path.join(project, 'src'), CLAUDE_CODE_SESSION_ID: 's' } });
  const [agent, session] = ['{"agent_id":"1","agent_type":"x","tool_name":"Bash"}', '{"tool_name":"Bash"}'];
  const outcome = (run) => [run.status, run.stdout, run.stderr !== ''];

  const begin = () => spawnSync(path.join(directory, 'bin/dev-team'), ['hook', 'SessionStart'], { encoding: 'utf8', timeout: LIMIT,
    env: { PATH: '/usr/bin:/bin', HOME: directory, CLAUDE_PLUGIN_ROOT: directory, CLAUDE_PROJECT_DIR: project, CLAUDE_CODE_SESSION_ID: 'new' } });
  t.equal(outcome(ask(agent)), [0, '', false], 'where nothing is in progress');
  t.equal(outcome(begin()), [0, '', false], 'a session that begins where nothing is in progress');
  fs.mkdirSync(path.dirname(record), { recursive: true });
  fs.writeFileSync(record, '');
  t.equal(outcome(ask(agent)), [1, '', true], 'without a clearance file');
  t.equal(outcome(begin())[0], 1, 'a session that begins after another one, without a program');
  fs.mkdirSync(path.join(project, '.dev-team'));
  fs.writeFileSync(path.join(project, '.dev-team/clearance.yaml'), 'personas: {}\n');
  t.equal(outcome(ask(session)), [1, '', true], 'the session, with a clearance file and without a program');
  t.equal(outcome(ask(agent)), [2, '', true], 'an agent, with a clearance file and without a program');
}

// The real client starts the launcher with its arguments, and tells it the session; not for a command of the user with the name of
// one of ours. What the launcher does not read of a long call disturbs nobody.
async function hookStarted(t) {
  const fixture = t.fixture();
  const copy = fixture.copyPlugin();
  const log = path.join(fixture.root, 'hook.log');
  const launcher = path.join(copy, 'bin/dev-team');
  fs.renameSync(launcher, `${launcher}.real`);
  fs.writeFileSync(launcher, `#!/bin/sh\necho "$* $CLAUDE_CODE_SESSION_ID" >>'${log}'\n. '${launcher}.real'\n`, { mode: 0o755 });
  fs.mkdirSync(path.join(fixture.repo, '.claude/commands'), { recursive: true });
  fs.writeFileSync(path.join(fixture.repo, '.claude/commands/fix.md'), 'Write it.\n');
  const model = ({ news, session }) => {
    t.session = session;
    return news.some((block) => block.type === 'tool_result') ? 'It is written.'
      : [use('Write', { file_path: path.join(fixture.repo, 'long.txt'), content: 'x'.repeat(400000) })];
  };
  const run = await t.run(fixture, model, '/fix', { plugin: copy, args: ['--allowedTools', 'Write'] });
  t.sound(run);
  t.equal(fs.statSync(path.join(fixture.repo, 'long.txt')).size, 400000, 'size of the written file');
  t.equal(fs.readFileSync(log, 'utf8'), ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolBatch', 'Stop'].map((event) => `hook ${event} ${t.session}\n`).join(''), 'calls of the launcher');
  t.ok(!/hook/i.test(run.err), `the client complains: ${run.err}`);
}

export const pluginFiles = [
  ['plugin: claude plugin validate --strict', validates, { versions: true }],
  ['plugin: an idle session pays at most 900 bytes', idle],
  ['plugin: agents reach the MCP servers of the session', servers],
  ['plugin: commands and task-runner keep their size', sizes],
  ['plugin: the commands carry one loop', oneLoop],
  ['plugin: agents have exactly their tools', agents],
  ['plugin: skills are not listed and offer exactly the result words of their actions', skills],
  ['plugin: the launcher finds the program or says how to build it', launcher],
  ['plugin: the hook blocks only where something is configured', hookLauncher],
  ['plugin: the client starts the hook with its arguments and its session', hookStarted],
];
