// The hook's decisions on the tool calls of agents, with and without a clearance file.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, DEFAULTS } from '../agents.mjs';
import { AUDIT, AUDITED } from '../scenario.mjs';
import { LIMIT } from '../sync.mjs';

const CLEARANCE = '.dev-team/clearance.yaml';

// Runs one agent that does `work`, in a workflow of the repository. Its calls include brief and record.
async function audit(t, fixture, work, agent = 'task-runner') {
  fixture.addAuditWorkflow(agent);
  const agents = new Agents(fixture, { 'widget-audit': () => ({ work, ...DEFAULTS['widget-audit']() }) });
  const run = await t.run(fixture, agents, AUDIT);
  if (run.errors.length) throw run.errors[0];
  t.equal(run.code, 0, 'exit code of the client');
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, AUDITED);
  t.affordable(run);
  return run;
}

const write = (fixture, file, content) => ({ tool: 'Write', input: { file_path: path.join(fixture.worktree, file), content } });

// Without a clearance file commands in the item's worktree run contained under `developer`, whatever their text is.
async function contained(t) {
  const fixture = t.fixture();
  fs.writeFileSync(path.join(fixture.root, 'secret'), 'SECRET\n');
  const run = await audit(t, fixture, [
    { run: 'x=1; eval "echo $((x + 1))"', gives: /^2$/ },
    { run: 'cd src && pwd -P', gives: /worktrees\/ADR-1\/src/ },
    { run: 'git remote -v; sleep 9 & echo made >made.txt; git add made.txt && git commit -qm Made && git push -q -u origin HEAD && git log -1 --format=%s', gives: /^Made$/m },
    { run: `cat ${path.join(fixture.root, 'secret')} || echo none`, gives: /^none$/m },
    { run: 'git push --force', refused: /deny command 0-16 'git': .*push new commits/ },
    { run: 'gh pr merge 7 2>&1 || echo refused', refused: /deny command/ },
    { run: 'echo evil | tee .mcp.json; true', gives: /'\.mcp\.json' is protected: it was removed/ },
    write(fixture, 'big.txt', 'x'.repeat(300000)),
  ]);
  t.equal(fs.statSync(path.join(fixture.worktree, 'big.txt')).size, 300000, 'size of the written file');
  t.ok(!fs.existsSync(path.join(fixture.worktree, '.mcp.json')), 'a protected file was written');
  t.equal(fixture.subjects().join(), 'Made', 'commits at the origin');
}

// Projects in C and for Node, each with a test of what is not there yet.
const PROJECTS = {
  '.gitignore': '*.o\n/c/check\nnode_modules/\n/web/dist/\n',
  'c/Makefile': 'CFLAGS = -Wall -Werror\ntest: check\n\t./check\ncheck: check.o turns.o\n\t$(CC) -o $@ $^\ncheck.o turns.o: turns.h\n',
  'c/turns.h': 'int turns(int times);\n',
  'c/check.c': '#include <stdio.h>\n#include "turns.h"\nint main(void) { printf("turns %d\\n", turns(3)); return turns(3) != 6; }\n',
  'web/package.json': JSON.stringify({ name: 'web', version: '1.0.0', private: true, dependencies: { label: 'file:label' },
    scripts: { prepare: 'mkdir -p dist && cp turns.js dist', test: 'node check.js' } }), // `npm install` builds
  'web/label/package.json': JSON.stringify({ name: 'label', version: '1.0.0' }),
  'web/label/index.js': 'module.exports = (n) => `turns ${n}`;\n',
  'web/check.js': 'const text = require("./dist/turns")(3);\nconsole.log(text);\nif (text !== "turns 6") process.exit(1);\n',
};

// A developer works as people do. The client would ask about commands and edits: here that is a denial, and there is none.
async function develops(t) {
  const fixture = t.fixture();
  for (const [file, content] of Object.entries(PROJECTS)) fixture.write(file, content);
  fixture.git('add', '-A');
  fixture.git('commit', '-q', '-m', 'Projects');
  fixture.git('push', '-q');
  const run = await audit(t, fixture, [
    { run: 'test -e /run/dev-team/broker && git switch -c turns 2>&1; git status --short | wc -l', gives: /^Switched .*\n0$/ },
    write(fixture, 'c/turns.c', '#include "turns.h"\nint turns(int times) { return 2 * times; }\n'),
    { run: 'cd c && make -j2 test', gives: /^turns 6$/m },
    { run: "git add c && git commit -q -m 'c: turn' && git log -1 --format=%an:%s", gives: /^Dev:c: turn$/ },
    write(fixture, 'web/turns.js', 'module.exports = (times) => require("label")(2 * times);\n'),
    { run: 'cd web && npm install 2>&1 && npm test', gives: /^turns 6$/m },
    { run: "git add -A . && git commit -q -m 'web: turn' && git status --short && git push -u origin HEAD 2>&1", gives: /\* \[new branch\] +HEAD -> turns$/m },
    { run: 'git fetch -q && git status -sb && git diff --stat main...origin/turns | tail -n 1', gives: /^## turns\.\.\.origin\/turns\n 3 files changed/ },
  ], 'developer');
  t.sound(run);
  t.equal(fixture.subjects('turns'), ['c: turn', 'web: turn'], 'commits of the branch at the origin');
  t.match(fixture.origin('show', 'turns:web/turns.js'), /^module\.exports/, 'the work at the origin');
}

async function denied(t) {
  const fixture = t.fixture();
  const clearance = 'personas:\n  task-runner: {policy: developer, tools: [Bash, Write, Skill]}\n';
  fixture.write(CLEARANCE, clearance);
  await audit(t, fixture, [
    { run: 'git status; git push -f', refused: /dev-team: deny command 12-23 'git': .*\n.*policy is 'developer'/ },
    { run: `echo 'personas: {}' > ${CLEARANCE}`, refused: /deny path\.protected/ },
    write(fixture, 'src/ok.txt', 'fine\n'),
    { ...write(fixture, CLEARANCE, 'personas: {}\n'), refused: /deny path\.protected/ },
    { ...write(fixture, '../outside.txt', 'x\n'), refused: /deny path\.protected/ },
    { tool: 'Read', input: { file_path: path.join(fixture.worktree, 'src/ok.txt') }, refused: /deny tool .*'Read'/ },
    { run: 'git log -1 --format=%s | head -n 1 && ls src', gives: /^Start\nok\.txt\nstart\.txt$/ },
    { run: 'cat > src/new.txt <<\'EOF\'\nit\'s $HOME `id`\nEOF', gives: /^/ },
    { run: 'cat src/new.txt', gives: /^it's \$HOME `id`$/ },
  ]);
  t.equal(fs.readFileSync(path.join(fixture.repo, CLEARANCE), 'utf8'), clearance, 'the clearance file');
  t.ok(!fs.existsSync(path.join(fixture.worktree, '../outside.txt')), 'a file outside was written');
}

// A policy of the project that lists programs.
async function listed(t) {
  const fixture = t.fixture();
  fixture.write('.dev-team/mine.yaml', 'allow: [git, ls, wc]\nwrite: true\n');
  fixture.write(CLEARANCE, 'personas:\n  task-runner: {policy: mine.yaml}\n');
  await audit(t, fixture, [
    { run: 'cat src/start.txt', refused: /deny name\.listed 0-3 'cat'/ },
    { run: 'echo made > src/made.txt && ls src | wc -l', gives: /^2$/ },
  ]);
  t.equal(fs.readFileSync(path.join(fixture.worktree, 'src/made.txt'), 'utf8'), 'made\n', 'the written file');
}

async function broken(t) {
  const fixture = t.fixture();
  fixture.write(CLEARANCE, 'persona: {}\n');
  await audit(t, fixture, [{ run: 'ls', refused: /clearance\.yaml:1:1: unknown key 'persona'/ }]);
}

// What docs/policy.md says of a launcher that does not answer: the client goes on by the permissions of the user.
const withoutLauncher = (what) => async (t) => {
  const fixture = t.fixture();
  fixture.write(CLEARANCE, 'personas:\n  task-runner: {policy: readonly}\n');
  fixture.addAuditWorkflow('task-runner');
  const plugin = fixture.changePlugin('hooks/hooks.json', '"PreToolUse"], "timeout": 30', '"PreToolUse"], "timeout": 1');
  const launcher = path.join(plugin, 'bin/dev-team');
  fs.renameSync(launcher, `${launcher}.real`);
  fs.writeFileSync(launcher, `#!/bin/sh\n[ "$2" != PreToolUse ] || ${what}\n. '${launcher}.real'\n`, { mode: 0o755 });
  const work = [{ run: 'test -e /run/dev-team/broker || echo outside', gives: /^outside$/ }];
  const agents = new Agents(fixture, { 'widget-audit': () => ({ work, ...DEFAULTS['widget-audit']() }) });
  const run = await t.run(fixture, agents, AUDIT, { plugin, permissions: { allow: ['Bash', 'Skill'] } });
  t.sound(run);
  t.states(fixture, AUDITED);
};

export const policy = [
  ['policy: a developer builds, tests, commits and pushes a branch of a C and a Node project, contained', develops, { quick: true }],
  ['policy: commands run contained, and a branch is pushed without a prompt', contained],
  ['policy: a denied call is refused and says why, an allowed one runs', denied],
  ['policy: a policy of the project lists its programs', listed],
  ['policy: the client goes on when the launcher is killed', withoutLauncher('kill -9 $$'), { versions: true }],
  ['policy: the client goes on when the launcher hangs', withoutLauncher(`exec sleep ${LIMIT / 1000}`), { versions: true }],
  ['policy: a broken clearance file stops the agents and says where', broken],
];
