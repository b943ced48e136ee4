// Puts a world, a cast, the API and the client together, runs them, and looks at the main conversation.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnvironment, start } from './client.mjs';
import { bytesOf, createModel } from './model.mjs';
import { startServer } from './server.mjs';
import { plugin as theirs, World } from './world.mjs';

const AT_ONCE = 2; // scenarios in parallel: as many as the smallest machine has cores
export const ITERATION_LIMIT = 1536;

export class Stage {
  constructor({ client, harnesses = {}, folder, tap }) {
    Object.assign(this, { client, harnesses, folder, tap });
    fs.rmSync(folder, { recursive: true, force: true });
  }

  // Each scenario is one test: [name, claim(expect, stage)].
  async perform(list) {
    const rest = [...list];
    const work = async () => {
      for (let next = rest.shift(); next; next = rest.shift()) {
        const [name, claim] = next;
        const worlds = [];
        const good = await this.tap.test(name, (expect) => claim(expect, this, (options) => {
          worlds.push(new World(name, options));
          return worlds.at(-1);
        }));
        for (const world of worlds) if (good || !process.env.E2E_KEEP) world.remove(); else this.tap.note(`kept ${world.root}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  environment(world, port) {
    return cleanEnvironment({ home: world.home, binaries: [world.bin], extra: {
      ...world.environment, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'dummy-local-key' } });
  }

  // A command of the client that needs no model.
  tool(world, ...args) {
    const run = spawnSync(this.client, args, { cwd: world.repo, env: this.environment(world, 9), encoding: 'utf8', timeout: 60000 });
    if (run.status !== 0) throw new Error(`claude ${args.join(' ')}: exit ${run.status}\n${run.stdout}${run.stderr}`);
    return run.stdout;
  }

  // One run of `claude -p PROMPT` in `world`. `during(client, server)` may interfere while it runs.
  async run(world, cast, prompt, { args = [], host = null, during = null, plugin = theirs } = {}) {
    const server = await startServer(createModel(cast));
    const env = this.environment(world, server.port);
    const folder = path.join(this.folder, `${world.name.replace(/[^a-z0-9]+/gi, '-')}-${++world.runs}`);
    const began = Date.now();
    const client = start(this.client, ['-p', ...(host ? [] : [prompt]), ...(plugin ? ['--plugin-dir', plugin] : []), ...args],
      { cwd: world.repo, env, folder, host: host && host(prompt) });
    server.onFault = client.kill;
    if (during) await during(client, server);
    const ended = await client.done;
    await server.stop();
    fs.writeFileSync(path.join(folder, 'requests.jsonl'),
      server.log.map((entry) => JSON.stringify({ ...entry, messages: undefined })).join('\n'));
    const run = { ...ended, log: server.log, faults: server.faults, paths: [...server.paths], seconds: (Date.now() - began) / 1000 };
    run.iterations = iterations(run.log);
    return run;
  }

  // What holds for every run that was not killed. After a fault of the model nothing else is worth saying.
  sound(expect, run) {
    if (run.faults.length) throw run.faults[0];
    expect(!run.timedOut, `the client was stopped after its time; stderr: ${run.err}`);
    expect.equal(run.code, 0, 'exit code of the client');
    expect.equal(run.result?.is_error, false, 'is_error');
    expect((run.result?.num_turns ?? 0) > 0, 'no turn was taken');
    expect.equal(run.result?.permission_denials, [], 'permission denials');
    expect.equal(run.paths, ['POST /v1/messages'], 'what the client asked for');
  }

  // The bytes that iterations with one agent added to the main conversation.
  affordable(expect, run) {
    const single = run.iterations.filter((one) => one.agents === 1);
    expect(single.length > 0, 'no iteration with one agent');
    const most = single.reduce((a, b) => (b.bytes > a.bytes ? b : a), { bytes: 0 });
    expect(most.bytes <= ITERATION_LIMIT, `an iteration adds ${most.bytes} bytes to the main conversation: ${most.what}`);
    return most;
  }
}

// From one step call to the next: how many agents, how many bytes, counted in the last request of the main conversation
// (it carries all the earlier ones).
export function iterations(log) {
  const last = log.filter((entry) => !entry.agent).at(-1);
  const found = [];
  let current = null;
  for (const message of last?.messages ?? []) {
    const calls = message.role === 'assistant' ? message.blocks.filter((one) => one.type === 'tool_use') : [];
    if (calls.some((one) => one.name === 'Bash' && / step /.test(one.input.command))) {
      current = { agents: 0, bytes: 0, what: calls[0].input.command };
      found.push(current);
    }
    if (!current) continue;
    current.agents += calls.filter((one) => one.name === 'Agent').length;
    current.bytes += bytesOf(message.blocks);
  }
  return found;
}
