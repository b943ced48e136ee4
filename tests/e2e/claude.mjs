// Runs the real Claude Code in an empty environment and stops it by its process group.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { LIMIT, timer } from './sync.mjs';

// The environment of a run; nothing is inherited from the caller.
export function claudeEnvironment({ home, binaries, extra = {} }) {
  const tmp = path.join(home, 'tmp');
  fs.mkdirSync(tmp, { recursive: true });
  return {
    PATH: [...binaries, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home, TMPDIR: tmp, TERM: 'xterm', LANG: 'C.UTF-8', SHELL: '/bin/bash',
    GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'file:ssh',
    DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '1',
    BASH_DEFAULT_TIMEOUT_MS: String(LIMIT), BASH_MAX_TIMEOUT_MS: String(LIMIT), API_TIMEOUT_MS: String(LIMIT),
    ...extra,
  };
}

// Kills a running client. Each is a process group of its own, which an interrupt at the terminal does not reach.
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    for (const kill of running) kill();
    process.exit(1);
  });

const lines = (file) => fs.existsSync(file)
  ? fs.readFileSync(file, 'utf8').split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)) : [];

// Starts `claude -p`. `done` resolves when it has ended; `kill()` kills its process group; `moves()`: it has made a request. `host`: see permissionHost().
export function startClaude(file, args, { cwd, env, directory, host = null, user }) {
  fs.mkdirSync(directory, { recursive: true });
  const out = path.join(directory, 'out.jsonl');
  const err = path.join(directory, 'err.txt');
  const errFile = fs.openSync(err, 'w');
  const outFile = fs.openSync(out, 'w');
  const child = spawn(file, [...args, '--output-format', 'stream-json', '--verbose'], {
    cwd, env, detached: true, uid: user, gid: user, stdio: [host ? 'pipe' : 'ignore', host ? 'pipe' : outFile, errFile],
  });
  if (host) host(child, (line) => fs.writeSync(outFile, `${line}\n`));
  let timedOut = false;
  const kill = () => {
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has exited */ }
  };
  running.add(kill);
  const limit = timer(() => { timedOut = true; kill(); });
  const done = new Promise((resolve) => {
    child.on('close', (code, signal) => {
      limit.stop();
      running.delete(kill);
      fs.closeSync(outFile);
      fs.closeSync(errFile);
      const events = lines(out);
      resolve({ code, signal, timedOut, events, err: fs.readFileSync(err, 'utf8'),
        result: events.filter((event) => event.type === 'result').at(-1) });
    });
  });
  return { pid: child.pid, done, kill, moves: limit.restart };
}

// The arguments of a client that has a host.
export const HOSTED = ['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'];

// A host of the client's control protocol: sends the prompts, each when the turn before has ended, and answers each permission
// request with `decide(tool, input)`. `waits(result)`: a turn without a prompt follows.
export function permissionHost([first, ...prompts], decide, waits = () => false) {
  return (child, log) => {
    const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
    const type = (content) => send({ type: 'user', message: { role: 'user', content } });
    readline.createInterface({ input: child.stdout }).on('line', (line) => {
      log(line);
      if (!line.startsWith('{')) return;
      const event = JSON.parse(line);
      if (event.type === 'control_request' && event.request.subtype === 'can_use_tool')
        send({ type: 'control_response', response: { subtype: 'success', request_id: event.request_id,
          response: decide(event.request.tool_name, event.request.input) } });
      if (event.type === 'result' && prompts.length) type(prompts.shift());
      else if (event.type === 'result' && !waits(event)) child.stdin.end();
    });
    type(first);
  };
}
