// One scenario: its assertions, its fixtures, its runs of Claude Code against a scripted model, and checks of a finished run.

import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startApis } from './apis.mjs';
import { claudeEnvironment, startClaude } from './claude.mjs';
import { Fixture, plugin as ownPlugin } from './fixture.mjs';
import { bytesOf, createModel } from './model.mjs';
import { LIMIT } from './sync.mjs';
import { DIALOG, Terminal } from './terminal.mjs';

// What the client adds once, at the first call of the tool Agent.
const LISTING = /Available agent types for the Agent tool:[^]*?so they run concurrently\.\n*/;
const SETTINGS = '.claude/settings.json'; // of the user
const ITERATION_LIMIT = 1228; // 1.2 KiB that one agent may add to the main conversation

// The same command, with a script of the client.
const scripted = (prompt) => prompt?.replace(/^\/dev-team:(implement|dev-team|continue) /, '/dev-team:workflow ');

export const NOBODY = 65534; // a user without any rights of root
export const IMPLEMENT = '/dev-team:implement ADR-1';
export const SCRIPT = scripted(IMPLEMENT);
export const AUDIT = '/dev-team:dev-team flow.md ADR-1'; // see Fixture.addAuditWorkflow()
export const AUDIT_SCRIPT = scripted(AUDIT);
export const AUDITED = 'init>audit audit>done';
export const PREFIX = 'init>spec-finding spec-finding>researching researching>implementing implementing>validating';

export class Scenario {
  notes = [];
  failures = [];
  fixtures = [];
  runs = 0;

  constructor(name, clients, directory) {
    Object.assign(this, { name, clients, directory: path.join(directory, name.replace(/[^a-z0-9]+/gi, '-')) });
  }

  ok(good, what) {
    if (!good) this.failures.push(typeof what === 'function' ? what() : what);
  }

  equal(got, wanted, what) {
    const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
    this.ok(a === b, `${what}: got ${a}, wanted ${b}`);
  }

  match(got, pattern, what) {
    this.ok(pattern.test(String(got)), () => `${what}: ${JSON.stringify(got)} does not match ${pattern}`);
  }

  note(line) {
    this.notes.push(line);
  }

  // Runs `body(this)`. The scenario passes if no assertion failed and nothing was thrown.
  async perform(body) {
    try {
      await body(this);
    } catch (error) {
      this.failures.push(error.stack ?? String(error));
    }
    for (const fixture of this.fixtures)
      if (this.failures.length && process.env.E2E_KEEP) this.note(`kept ${fixture.root}`);
      else fixture.remove();
  }

  fixture(options) {
    this.fixtures.push(new Fixture(options));
    return this.fixtures.at(-1);
  }

  environment(fixture, url) {
    return claudeEnvironment({ home: fixture.home, binaries: [fixture.bin], extra: {
      ...fixture.environment, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'dummy-local-key',
      DEV_TEAM_LOCK_WAIT_MS: String(LIMIT), DEV_TEAM_PROBE_SECONDS: String(LIMIT / 1000) } });
  }

  // Runs a command of the client that needs no model; returns its stdout.
  async tool(fixture, ...args) {
    const { stdout } = await promisify(execFile)(this.clients['claude-code'].program, args,
      { cwd: fixture.repo, env: this.environment(fixture, 'http://127.0.0.1:9'), timeout: LIMIT });
    return stdout;
  }

  // The client has the plugin from now on, without an option.
  async install(fixture) {
    await this.tool(fixture, 'plugin', 'marketplace', 'add', fixture.copyPlugin());
    await this.tool(fixture, 'plugin', 'install', 'dev-team@dev-team');
  }

  // Runs `claude -p PROMPT` in the fixture's repository; `agents` may be a model of its own. `script`: the loop is a script. `hooks`: false turns them off. `user`: a number. `permissions`: rules of the user. `extra`: variables of the client. `during(client, server)` may interfere while it runs.
  async run(fixture, agents, prompt, { args = [], host = null, during = null, plugin = ownPlugin, script = false, hooks = true, user, permissions, extra = {} } = {}) {
    const model = typeof agents === 'function' ? agents : createModel(agents);
    let client;
    const server = await startApis((request) => {
      client.moves();
      return model(request);
    });
    const directory = path.join(this.directory, String(++this.runs));
    const began = Date.now();
    const env = { ...this.environment(fixture, server.url), ...extra };
    if (permissions) fixture.writeHome(SETTINGS, JSON.stringify({ permissions }));
    if (user) fixture.giveTo(user);
    client = startClaude(this.clients['claude-code'].program,
      ['-p', ...(host ? [] : [script ? scripted(prompt) : prompt]), ...(plugin ? ['--plugin-dir', plugin] : []),
        ...(hooks ? [] : ['--settings', '{"disableAllHooks": true}']), ...args],
      { cwd: fixture.repo, env, directory, host: host && host(prompt), user });
    server.onError = client.kill;
    const { log, errors, paths } = server;
    const early = () => { throw errors[0] ?? new Error(`the client ended too early: ${fs.readFileSync(path.join(directory, 'err.txt'), 'utf8')}`); };
    try {
      if (during) await Promise.race([during(client, server), client.done.then(early)]);
      await client.done;
    } finally {
      client.kill();
      await server.stop();
      keep(directory, log);
    }
    const ended = await client.done;
    return { ...ended, log, errors, paths: [...paths], text: ended.result?.result ?? '', types: agentTypes(log),
      iterations: iterations(log), seconds: (Date.now() - began) / 1000 };
  }

  // Runs the interactive client in the permission mode `mode`; `body(terminal, log)` types and looks. The user is asked nothing,
  // unless `permissions`, rules of the user, say so. `statusLine`: a command of the program. `hooks` and `user`: see run().
  async interact(fixture, agents, mode, body, { plugin = ownPlugin, args = [], permissions, statusLine, hooks = true, user } = {}) {
    const model = createModel(agents);
    const server = await startApis((request) => {
      terminal.moves();
      return model(request);
    });
    const directory = path.join(this.directory, String(++this.runs));
    const asked = path.join(fixture.root, 'asked');
    const line = statusLine && { type: 'command', command: `'${plugin}/build/dev-team' ${statusLine}`, refreshInterval: 1 };
    // Rules are read from the user's file, also by the hook.
    if (permissions) fixture.writeHome(SETTINGS, JSON.stringify({ permissions }));
    const settings = { disableAllHooks: !hooks, statusLine: line, hooks: { PermissionRequest: [{ hooks: [{ type: 'command', command: `cat >>'${asked}'` }] }] } };
    const terminal = new Terminal(this.clients['claude-code'].program,
      [...(plugin ? ['--plugin-dir', plugin] : []), '--permission-mode', mode, '--settings', JSON.stringify(settings), ...args],
      { cwd: fixture.repo, env: this.environment(fixture, server.url), directory, user, prepare: () => user && fixture.giveTo(user) });
    server.onError = () => terminal.fail(server.errors[0]);
    try {
      await terminal.shows(/❯/);
      await body(terminal, server.log);
    } finally {
      terminal.close();
      await server.stop();
      keep(directory, server.log);
    }
    if (permissions?.ask) return { log: server.log };
    this.ok(!fs.existsSync(asked), () => `the user was asked: ${fs.readFileSync(asked, 'utf8')}`);
    for (const screen of terminal.screens) this.ok(!DIALOG.test(screen), `the user is asked:\n${screen}`);
    return { log: server.log };
  }

  // Takes an item to its good end in one form of the loop. `terminal`: the permission mode of the interactive client; else it is `-p`.
  async finish(fixture, agents, prompt, { terminal: mode, denied, ...form } = {}) {
    if (mode)
      return this.interact(fixture, agents, mode, async (terminal) => {
        await terminal.type(form.script ? scripted(prompt) : prompt);
        await terminal.shows(/success: /);
      }, form);
    const run = await this.run(fixture, agents, prompt, form);
    this.sound(run, denied);
    this.match(run.text, /^success: /, 'result for the user');
    return run;
  }

  // Checks what holds for every run that was not killed. After an error of the model no other check is useful.
  sound(run, denied = 0) {
    if (run.errors.length) throw run.errors[0];
    this.ok(!run.timedOut, `the client ran into its timeout; stderr: ${run.err}`);
    this.equal(run.code, 0, 'exit code of the client');
    this.equal(run.result?.is_error, false, 'is_error');
    this.ok(run.log.length > 0, 'there was no request');
    this.equal(run.result?.permission_denials?.length, denied, 'permission denials');
    this.equal(run.paths, ['POST /v1/messages'], 'requests of the client');
  }

  // Checks the bytes that iterations with one agent added to the main conversation; returns the largest number.
  affordable(run, limit = ITERATION_LIMIT) {
    const single = run.iterations.filter((one) => one.agents === 1);
    this.ok(single.length > 0, 'no iteration has one agent');
    const most = single.reduce((a, b) => (b.bytes > a.bytes ? b : a), { bytes: 0 });
    this.ok(most.bytes <= limit, `an iteration adds ${most.bytes} bytes to the main conversation: ${most.command}`);
    return most.bytes;
  }

  states(fixture, wanted) {
    this.equal(fixture.transitions().join(' '), wanted, 'transitions');
  }

  // Checks that events are numbered in order and that the only end is `result`.
  journal(fixture, result) {
    const events = fixture.events();
    this.equal(events.map((event) => event.seq), events.map((_, i) => i + 1), 'seq');
    this.equal(events.filter((event) => event.type === 'done').map((event) => event.result), [result], 'done events');
  }
}

function keep(directory, log) {
  fs.writeFileSync(path.join(directory, 'requests.jsonl'), log.map((entry) => JSON.stringify({ ...entry, messages: undefined, body: undefined })).join('\n'));
}

// Types of the agents that the main conversation started, in order.
function agentTypes(log) {
  return log.filter((entry) => !entry.agent).flatMap((entry) => entry.answer ?? [])
    .filter((block) => block.name === 'Agent').map((block) => block.input.subagent_type.replace('dev-team:', ''));
}

// The number of agents and of bytes from one array to the next (the first comes with the prompt), counted in the last request of
// the main conversation, which contains all the earlier ones.
function iterations(log) {
  const last = log.filter((entry) => !entry.agent).at(-1);
  const found = [];
  let begins = true;
  let before = 0; // bytes of the array that the hook added
  for (const message of last?.messages ?? []) {
    const calls = message.role === 'assistant' ? message.blocks.filter((one) => one.type === 'tool_use') : [];
    if (calls.length && (begins || calls.some((one) => one.name === 'Bash' && / step /.test(one.input.command)))) {
      found.push({ agents: 0, bytes: before, command: calls[0].input.command ?? calls[0].input.description });
      begins = false;
      before = 0;
    }
    const current = found.at(-1);
    if (!current) continue;
    current.agents += calls.filter((one) => one.name === 'Agent').length;
    const blocks = message.blocks.map((one) => (one.text ? { ...one, text: one.text.replace(LISTING, '') } : one));
    const arrays = blocks.filter((one) => one.type === 'text' && one.text.includes(' hook additional context: ARRAY: '));
    current.bytes += bytesOf(blocks) - bytesOf(arrays);
    if (!arrays.length) continue;
    begins = true;
    before = bytesOf(arrays);
  }
  return found;
}
