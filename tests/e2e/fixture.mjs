// A temporary directory with a repository that has a spec, its bare origin behind a fake ssh, a fake gh, and an empty home.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { timer } from './sync.mjs';

const here = path.dirname(new URL(import.meta.url).pathname);
export const plugin = path.resolve(here, '../..');

// Starts `dev-team ARGS` with only `env` as its environment; `done` resolves with {code, signal, out, err}.
export function startDevTeam(args, { cwd, env, input = '' }) {
  const child = spawn(path.join(plugin, 'build/dev-team'), args, { cwd, env });
  const output = { out: '', err: '' };
  const limit = timer(() => child.kill('SIGTERM'));
  for (const [stream, name] of [[child.stdout, 'out'], [child.stderr, 'err']])
    stream.on('data', (text) => {
      output[name] += text;
      limit.restart();
    });
  child.stdin.on('error', () => {}); // it may have ended without reading
  child.stdin.end(input);
  const done = new Promise((resolve) => {
    child.on('close', (code, signal) => {
      limit.stop();
      resolve({ code, signal, ...output });
    });
  });
  return { done, kill: (signal) => child.kill(signal) };
}

const VALIDATE = `#!/bin/sh
if grep -rq BROKEN src; then echo 'src is BROKEN'; exit 1; fi
echo 'all good'
`;

// The fixture lives as long as its scenario: git neither syncs nor tidies up.
const GIT_CONFIG = `[user]
	name = Dev
	email = dev@example.test
[core]
	fsync = none
[gc]
	auto = 0
[maintenance]
	auto = false
`;

const spec = (id) => `# ${id}: a widget

The repository gets a widget: \`src/widget.txt\` with one line that says what it does.
`;

const auditWorkflow = (agent) => `---
states:
  audit:
    agent: ${agent}
    skill: widget-audit
    args: [ID, widget]
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

function write(file, content, mode = 0o644) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content, { mode });
}

const PREFIX = path.join(os.tmpdir(), 'dt-');
const templates = new Map(); // id: directory that new fixtures are copies of

// A text without what differs between machines: the number of its bytes is the same on each.
export const portable = (text) => text.replaceAll(plugin, '/home/someone/.claude/plugins/dev-team')
  .replaceAll(new RegExp(`${PREFIX}\\w{6}\\b`, 'g'), '/home/someone');

export class Fixture {
  constructor({ id = 'ADR-1' } = {}) {
    this.id = id;
    if (!templates.has(id)) { // made once, because git starts many processes
      this.at(fs.mkdtempSync(`${PREFIX}template-`));
      this.makeRepository();
      templates.set(id, this.root);
      process.on('exit', () => fs.rmSync(templates.get(id), { recursive: true, force: true }));
    }
    this.at(fs.mkdtempSync(PREFIX));
    fs.cpSync(templates.get(id), this.root, { recursive: true });
  }

  at(root) {
    Object.assign(this, { root, home: path.join(root, 'h'), repo: path.join(root, 'repo'), bin: path.join(root, 'bin') });
  }

  write(file, content) {
    write(path.join(this.repo, file), content);
  }

  writeHome(file, content) {
    write(path.join(this.home, file), content);
  }

  // A copy of the plugin with the built program in it.
  copyPlugin() {
    const copy = path.join(this.root, 'plugin');
    for (const part of ['.claude-plugin', 'commands', 'agents', 'skills', 'hooks', 'bin', 'workflows', 'build/dev-team'])
      fs.cpSync(path.join(plugin, part), path.join(copy, part), { recursive: true });
    return copy;
  }

  // A copy of the plugin with one text replaced in one file.
  changePlugin(file, text, replacement) {
    const copy = this.copyPlugin();
    const before = fs.readFileSync(path.join(copy, file), 'utf8');
    const after = before.replace(text, replacement);
    if (after === before) throw new Error(`${file} does not contain '${text}'`);
    fs.writeFileSync(path.join(copy, file), after);
    return copy;
  }

  // Variables that make git and gh use the fakes.
  get environment() {
    return { GIT_SSH: path.join(this.bin, 'ssh'), GIT_SSH_VARIANT: 'simple', FAKE_ROOT: this.root };
  }

  git(...args) {
    return execFileSync('git', ['-C', this.repo, ...args], {
      encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: this.home, GIT_CONFIG_NOSYSTEM: '1', GIT_TEMPLATE_DIR: '', ...this.environment },
    }).trim();
  }

  origin(...args) {
    return execFileSync('git', ['-C', path.join(this.root, 'org/repo.git'), ...args],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  makeRepository() {
    const bare = path.join(this.root, 'org/repo.git');
    fs.mkdirSync(bare, { recursive: true });
    fs.cpSync(path.join(here, 'fakes'), this.bin, { recursive: true });
    write(path.join(this.home, '.gitconfig'), GIT_CONFIG);
    write(path.join(this.repo, '_spec_Widget.md'), spec(this.id));
    write(path.join(this.repo, 'src/start.txt'), 'start\n');
    write(path.join(this.repo, 'scripts/validate.sh'), VALIDATE, 0o755);
    this.git('init', '-q', '--bare', '-b', 'main', bare);
    this.git('init', '-q', '-b', 'main');
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'Start');
    this.git('remote', 'add', 'origin', 'git@github.com:org/repo.git');
    this.git('push', '-q', '-u', 'origin', 'main');
    this.git('remote', 'set-head', 'origin', 'main');
  }

  // Subjects of the commits that a branch of the origin has beyond main.
  subjects(branch = 'dev-team/ADR-1') {
    return this.origin('log', '--reverse', '--format=%s', `main..${branch}`).split('\n');
  }

  // A workflow with one state, `audit`, whose skill belongs to the repository.
  addAuditWorkflow(agent) {
    this.write('flow.md', auditWorkflow(agent));
    this.write('.claude/skills/widget-audit/SKILL.md', AUDIT_SKILL);
    if (agent === 'auditor')
      this.write('.claude/agents/auditor.md', '---\nname: auditor\ndescription: Audits widgets.\n---\n\nYou are the auditor.\n');
  }

  // Where the item is worked on.
  get worktree() {
    return path.join(this.repo, '.dev-team/worktrees', this.id);
  }

  get contextFile() {
    return path.join(this.home, '.dev-team/org/repo', `${this.id}.md`);
  }

  context() {
    return fs.readFileSync(this.contextFile, 'utf8');
  }

  key(name) {
    return (new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(this.context().split('\n---')[0]) ?? [])[1];
  }

  section(name) {
    const [, rest] = this.context().split(`<!-- section:${name} -->`);
    return rest === undefined ? undefined : rest.split(/^<!-- section:/m)[0].trim();
  }

  events() {
    const file = this.contextFile.replace(/\.md$/, '.events.jsonl');
    return fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line)).filter((line) => line.type);
  }

  // `from>to` of every transition, in order.
  transitions() {
    return this.events().filter((event) => event.type === 'transition').map((event) => `${event.from}>${event.to}`);
  }

  // The command lines of the fake gh.
  gh() {
    const log = path.join(this.root, 'gh.log');
    return fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\n') : [];
  }

  // Makes everything the property of the user with that number.
  giveTo(user) {
    execFileSync('chown', ['-R', `${user}:${user}`, this.root]);
    fs.chmodSync(this.root, 0o755);
  }

  remove() {
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}
