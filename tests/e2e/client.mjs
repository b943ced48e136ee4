// The real client: installs the pinned version once, runs it in an empty environment, stops it by pid.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export const VERSION = '2.1.329';
const PACKAGE = '@anthropic-ai/claude-code';

// The native program wherever this npm put it: with or without the package's postinstall.
function program(folder) {
  const scope = path.join(folder, 'node_modules', '@anthropic-ai');
  const places = fs.existsSync(scope)
    ? fs.readdirSync(scope).filter((name) => name.startsWith('claude-code-')).map((name) => path.join(scope, name, 'claude'))
    : [];
  places.push(path.join(scope, 'claude-code', 'bin', 'claude.exe'));
  return places.find((file) => fs.existsSync(file) && fs.statSync(file).size > 1e6);
}

function answersVersion(file) {
  if (!file) return false;
  const run = spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 30000 });
  return run.status === 0 && run.stdout.startsWith(VERSION);
}

// Returns {file} or {skip: reason}. The version is pinned: an unpinned install takes another one under an old node.
export function install(folder) {
  const found = program(folder);
  if (answersVersion(found)) return { file: found };
  if (spawnSync('npm', ['--version']).status !== 0) return { skip: 'npm is not installed' };
  fs.mkdirSync(folder, { recursive: true });
  const run = spawnSync('npm', ['install', '--no-fund', '--no-audit', '--no-save', '--prefix', folder, `${PACKAGE}@${VERSION}`],
    { encoding: 'utf8', timeout: 180000 });
  const file = program(folder);
  if (run.status !== 0 || !answersVersion(file))
    return { skip: `npm cannot install ${PACKAGE}@${VERSION}: ${(run.stderr || '').trim().split('\n').at(-1)}` };
  return { file };
}

// Nothing of the caller's environment but what a program needs to start.
export function cleanEnvironment({ home, binaries, extra = {} }) {
  const tmp = path.join(home, 'tmp');
  fs.mkdirSync(tmp, { recursive: true });
  return {
    PATH: [...binaries, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home, TMPDIR: tmp, TERM: 'xterm', LANG: 'C.UTF-8', SHELL: '/bin/bash',
    GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0',
    DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '1',
    ...extra,
  };
}

// Clients that run now. Each is a process group of its own, so an interrupt at the terminal does not reach it.
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    for (const kill of running) kill();
    process.exit(1);
  });

const lines = (file) => fs.existsSync(file)
  ? fs.readFileSync(file, 'utf8').split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)) : [];

// Starts `claude -p`. `done` resolves with how it ended; `kill()` takes the client and all its children at once.
export function start(file, args, { cwd, env, folder, timeout = 60000, host = null }) {
  fs.mkdirSync(folder, { recursive: true });
  const out = path.join(folder, 'out.jsonl');
  const err = path.join(folder, 'err.txt');
  const errFile = fs.openSync(err, 'w');
  const outFile = fs.openSync(out, 'w');
  const child = spawn(file, [...args, '--output-format', 'stream-json', '--verbose'], {
    cwd, env, detached: true, stdio: [host ? 'pipe' : 'ignore', host ? 'pipe' : outFile, errFile],
  });
  if (host) host(child, (line) => fs.writeSync(outFile, `${line}\n`));
  let timedOut = false;
  const kill = () => {
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
  };
  running.add(kill);
  const timer = setTimeout(() => { timedOut = true; kill(); }, timeout);
  const done = new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(kill);
      fs.closeSync(outFile);
      fs.closeSync(errFile);
      const events = lines(out);
      resolve({ code, signal, timedOut, events, err: fs.readFileSync(err, 'utf8'),
        result: events.filter((event) => event.type === 'result').at(-1) });
    });
  });
  return { pid: child.pid, done, kill };
}
