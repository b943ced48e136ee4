// The real programs behind `dev-team harness`: probed, run against scripted APIs, and told apart when they cannot be used.
// Each: [name, claim(expect, stage), the harness it needs].

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startApis } from '../apis.mjs';
import { plugin } from '../world.mjs';

const KEY = 'dummy-local-key-0123456789';
const DONE = 'All is done as the plan says.';
const CLOSED = 'http://127.0.0.1:9'; // nobody listens there
const LIMIT = 100; // seconds for one run

const opencode = (url) => JSON.stringify({ autoupdate: false, share: 'disabled', provider: {
  dt: { npm: '@ai-sdk/openai-compatible', name: 'dt', options: { baseURL: `${url}/v1`, apiKey: '{env:OPENAI_API_KEY}' }, models: { m1: { name: 'm1' } } },
} });

// How each is pointed to an API on loopback, and the tool by which its model writes a file.
const HARNESSES = {
  'claude-code': { api: 'messages', model: 'claude-sonnet-4-6', costs: true, tellsModel: true,
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '1' }),
    write: (file, content) => ({ name: 'Write', input: { file_path: file, content } }) },
  codex: { api: 'responses', model: 'gpt-5', sandboxed: true,
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY }),
    write: (file, content) => ({ name: 'exec_command', input: { cmd: `printf '%s' '${content}' >'${file}'` } }) },
  'gemini-cli': { api: 'generate', model: 'gemini-2.5-pro', tellsModel: true,
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY }),
    home: { '.gemini/settings.json': { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false } } },
    write: (file, content) => ({ name: 'write_file', input: { file_path: file, content } }) },
  opencode: { api: 'chat', model: 'dt/m1', costs: true,
    env: (url) => ({ OPENCODE_CONFIG_CONTENT: opencode(url), OPENAI_API_KEY: KEY, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' }),
    write: (file, content) => ({ name: 'write', input: { filePath: file, content } }) },
  'generic-api': { api: 'chat', model: 'm1', tellsModel: true,
    env: (url) => ({ DEV_TEAM_API_BASE_URL: `${url}/v1`, DEV_TEAM_API_KEY: KEY }) },
};

// A home, a repository and the environment of one run.
class Desk {
  constructor(name, tool) {
    this.name = name;
    this.harness = HARNESSES[name];
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'dt-h-'));
    this.repo = path.join(this.root, 'repo');
    this.home = path.join(this.root, 'home');
    for (const folder of [this.repo, this.home, path.join(this.root, 'tmp')]) fs.mkdirSync(folder);
    for (const [file, content] of Object.entries(this.harness.home ?? {})) {
      fs.mkdirSync(path.dirname(path.join(this.home, file)), { recursive: true });
      fs.writeFileSync(path.join(this.home, file), JSON.stringify(content));
    }
    fs.writeFileSync(path.join(this.repo, 'README.md'), 'A repository.\n');
    this.bins = [...(tool ? [tool.bin] : []), '/usr/local/bin', '/usr/bin', '/bin'];
  }

  environment(url) {
    return { PATH: this.bins.join(':'), HOME: this.home, TMPDIR: path.join(this.root, 'tmp'), LANG: 'C.UTF-8', TERM: 'dumb',
      DEV_TEAM_PROBE_SECONDS: '60', // the machine may be busy
      DEV_TEAM_STATE_DIR: path.join(this.root, 'state'), ...this.harness.env(url) };
  }

  // `dev-team harness ...`; the result with its JSON.
  call(args, url, input = '') {
    const child = spawn(path.join(plugin, 'build/dev-team'), ['harness', ...args, '--json'],
      { cwd: this.repo, env: this.environment(url), stdio: ['pipe', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    child.stdout.on('data', (text) => { said.out += text; });
    child.stderr.on('data', (text) => { said.err += text; });
    child.stdin.end(input);
    const timer = setTimeout(() => child.kill('SIGTERM'), LIMIT * 1000);
    return new Promise((resolve) => {
      child.on('close', (code) => {
        clearTimeout(timer);
        let json = null;
        try { json = JSON.parse(said.out); } catch { /* told by who looks */ }
        resolve({ code, json, ...said });
      });
    });
  }

  run(url, prompt, ...options) {
    return this.call(['run', this.name, '--model', this.harness.model, '--timeout', String(LIMIT - 10), ...options], url, prompt);
  }

  remove() {
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}

// Runs `claim(desk, apis)` with an API that `script` plays, and tidies up.
async function at(name, tool, script, claim) {
  const desk = new Desk(name, tool);
  const apis = await startApis(script, { models: [HARNESSES[name].model] });
  try {
    return await claim(desk, apis);
  } finally {
    await apis.stop();
    desk.remove();
  }
}

const told = (run) => `exit ${run.code}\n${run.out}${run.err}`;

async function probed(expect, name, tool) {
  await at(name, tool, () => '', async (desk, apis) => {
    const run = await desk.call(['probe', name], apis.url);
    const seen = [run.json].flat()[0];
    expect(run.code === 0 && seen?.available === true, () => `${name} is not available: ${told(run)}`);
    if (tool) expect.equal(seen?.installedVersion, tool.version, 'version');
  });
}

// A prompt in, a file written by the model's tool, a last message out. Without leave the file is not written.
async function answers(expect, name, tool, allowed) {
  const { api, model, write, costs, tellsModel, sandboxed } = HARNESSES[name];
  const file = (desk) => path.join(desk.repo, 'plan.txt');
  let wanted;
  const script = (request) => (request.results.length || !write ? { text: DONE, usage: { input: 40, output: 4 } }
    : { text: 'I write it down.', calls: [write(wanted, 'the plan')], usage: { input: 100, output: 20 } });
  await at(name, tool, script, async (desk, apis) => {
    wanted = file(desk);
    const prompt = `Write the plan "down" for $HOME and ümläute.\n`;
    const run = await desk.run(apis.url, prompt, ...(allowed ? [] : ['--tools', 'Read']));
    if (apis.faults.length) throw apis.faults[0];
    expect(run.code === 0 && run.json?.status === 'success', () => `${allowed ? 'it may write' : 'it may read'}: ${told(run)}`);
    expect.equal(run.json?.text, DONE, 'last message');
    const log = apis.log;
    expect.equal(log.map((one) => one.api), log.map(() => api), 'APIs that were asked');
    expect(log.every((one) => (one.key ?? '').replace('Bearer ', '') === KEY), () => `keys: ${log.map((one) => one.key)}`);
    expect.equal([...new Set(log.map((one) => one.model))], [model.replace('dt/', '')], 'models');
    expect(JSON.stringify(log[0]?.body).includes('Write the plan \\"down\\" for $HOME and ümläute.'), 'the prompt is not in the first request');
    expect.equal(run.json?.inputTokens, write ? 140 : 40, 'input tokens');
    expect.equal(run.json?.outputTokens, write ? 24 : 4, 'output tokens');
    expect.equal(typeof run.json?.costUsd === 'number', Boolean(costs), 'whether it tells a cost');
    if (tellsModel) expect.equal(run.json?.model, model, 'the model that answered');
    if (!write) return;
    // Codex puts commands into a sandbox of its own, which not every kernel or container lets it have.
    const results = JSON.stringify(log.at(-1)?.results);
    if (allowed && sandboxed && /sandbox|landlock|bwrap|seccomp/i.test(results)) return;
    const there = fs.existsSync(wanted) ? fs.readFileSync(wanted, 'utf8') : null;
    expect.equal(there, allowed ? 'the plan' : null, `the file that it ${allowed ? 'may' : 'may not'} write; tools got ${results}`);
  });
}

async function unavailable(expect, name, tool, what, script, limited) {
  await at(name, tool, script, async (desk, apis) => {
    const run = await desk.run(what === 'unreachable' ? CLOSED : apis.url, 'Say hello.');
    expect(run.code === 5 && run.json?.status === 'unavailable', () => `${what}: ${told(run)}`);
    expect.equal(run.json?.rateLimited, limited, `${what}: rateLimited`);
    expect((run.json?.detail ?? '').length > 0 && !`${run.out}${run.err}`.includes(KEY), () => `${what}: detail ${told(run)}`);
  });
}

const faults = {
  limit: { status: 429, message: 'Rate limit reached for the model', code: 'rate_limit_exceeded' },
  login: { status: 401, message: 'the key is not accepted', code: 'invalid_api_key' },
};

async function works(name, expect, tool) {
  await probed(expect, name, tool);
  await answers(expect, name, tool, true);
  if (HARNESSES[name].write) await answers(expect, name, tool, false);
}

// They mostly wait: all at once.
async function cannot(name, expect, tool) {
  await Promise.all([
    unavailable(expect, name, tool, 'limit', () => faults.limit, true),
    unavailable(expect, name, tool, 'login', () => faults.login, false),
    unavailable(expect, name, tool, 'unreachable', () => '', false),
  ]);
}

export const harness = Object.keys(HARNESSES).flatMap((name) => [
  [`harness ${name}: a limit, a refused login, no network`, (expect, stage) => cannot(name, expect, stage.harnesses[name]), name],
  [`harness ${name}: probed, answers, writes where it may`, (expect, stage) => works(name, expect, stage.harnesses[name]), name],
]);
