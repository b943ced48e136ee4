// `dev-team harness` with the real programs and scripted APIs: probes, runs, and the reasons why a program cannot be used.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startApis } from '../apis.mjs';
import { startDevTeam } from '../fixture.mjs';
import { LIMIT } from '../sync.mjs';

const KEY = 'dummy-local-key-0123456789';
const DONE = 'All is done as the plan says.';
const CLOSED = 'http://127.0.0.1:9'; // no server listens there

const opencode = (url) => JSON.stringify({ autoupdate: false, share: 'disabled', provider: {
  dt: { npm: '@ai-sdk/openai-compatible', name: 'dt', options: { baseURL: `${url}/v1`, apiKey: '{env:OPENAI_API_KEY}' }, models: { m1: { name: 'm1' } } },
} });

// The API of each, the environment that directs it to loopback, and the tool call that writes a file.
const HARNESSES = {
  'claude-code': { api: 'messages', model: 'claude-sonnet-4-6', costs: true, reportsModel: true,
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '1' }),
    write: (file, content) => ({ name: 'Write', input: { file_path: file, content } }) },
  codex: { api: 'responses', model: 'gpt-5',
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY }),
    write: (file, content) => ({ name: 'exec_command', input: { cmd: `printf '%s' '${content}' >'${file}'` } }) },
  'gemini-cli': { api: 'generate', model: 'gemini-2.5-pro', reportsModel: true,
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY }),
    home: { '.gemini/settings.json': { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false } } },
    write: (file, content) => ({ name: 'write_file', input: { file_path: file, content } }) },
  opencode: { api: 'chat', model: 'dt/m1', costs: true,
    env: (url, home) => ({ OPENCODE_CONFIG_CONTENT: opencode(url), OPENAI_API_KEY: KEY, OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1', OPENCODE_MODELS_PATH: path.join(home, 'models.json') }), // halves its start-up time
    home: { 'models.json': {} },
    write: (file, content) => ({ name: 'write', input: { filePath: file, content } }) },
  'generic-api': { api: 'chat', model: 'm1', reportsModel: true,
    env: (url) => ({ DEV_TEAM_API_BASE_URL: `${url}/v1`, DEV_TEAM_API_KEY: KEY }) },
};

// A home, a repository and the environment of one run.
class Setup {
  constructor(name, tool) {
    this.name = name;
    this.harness = HARNESSES[name];
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'dt-h-'));
    this.repo = path.join(this.root, 'repo');
    this.home = path.join(this.root, 'home');
    for (const directory of [this.repo, this.home, path.join(this.root, 'tmp')]) fs.mkdirSync(directory);
    for (const [file, content] of Object.entries(this.harness.home ?? {})) {
      fs.mkdirSync(path.dirname(path.join(this.home, file)), { recursive: true });
      fs.writeFileSync(path.join(this.home, file), JSON.stringify(content));
    }
    fs.writeFileSync(path.join(this.repo, 'README.md'), 'A repository.\n');
    this.bins = [...(tool ? [tool.bin] : []), '/usr/local/bin', '/usr/bin', '/bin'];
  }

  environment(url) {
    return { PATH: this.bins.join(':'), HOME: this.home, TMPDIR: path.join(this.root, 'tmp'), LANG: 'C.UTF-8', TERM: 'dumb',
      DEV_TEAM_PROBE_SECONDS: String(LIMIT / 1000),
      DEV_TEAM_STATE_DIR: path.join(this.root, 'state'), ...this.harness.env(url, this.home) };
  }

  // Runs `dev-team harness ARGS`; the result has the parsed JSON.
  async call(args, url, input = '') {
    const run = await startDevTeam(['harness', ...args, '--json'], { cwd: this.repo, env: this.environment(url), input }).done;
    try {
      return { ...run, json: JSON.parse(run.out) };
    } catch {
      return { ...run, json: null };
    }
  }

  run(url, prompt, ...options) {
    return this.call(['run', this.name, '--model', this.harness.model, '--timeout', String(LIMIT / 1000), ...options], url, prompt);
  }

  remove() {
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}

// Runs `body(setup, apis)` with the APIs of `script`, and removes the setup.
async function withApis(name, tool, script, body) {
  const setup = new Setup(name, tool);
  const apis = await startApis(script, { models: [HARNESSES[name].model] });
  try {
    return await body(setup, apis);
  } finally {
    await apis.stop();
    setup.remove();
  }
}

const describe = (run) => `exit ${run.code}\n${run.out}${run.err}`;

async function probed(t, name, tool) {
  await withApis(name, tool, () => '', async (setup, apis) => {
    const run = await setup.call(['probe', name], apis.url);
    const seen = [run.json].flat()[0];
    t.ok(run.code === 0 && seen?.available === true, () => `${name} is not available: ${describe(run)}`);
    if (tool) t.equal(seen?.installedVersion, tool.version, 'version');
  });
}

// The prompt reaches the model, its tool writes a file unless that is not allowed, and its last message is printed.
async function answers(t, name, tool, allowed) {
  const { api, model, write, costs, reportsModel } = HARNESSES[name];
  const file = (setup) => path.join(setup.repo, 'plan.txt');
  let wanted;
  const script = (request) => (request.results.length || !write ? { text: DONE, usage: { input: 40, output: 4 } }
    : { text: 'I write it down.', calls: [write(wanted, 'the plan')], usage: { input: 100, output: 20 } });
  await withApis(name, tool, script, async (setup, apis) => {
    wanted = file(setup);
    const prompt = `Write the plan "down" for $HOME and ümläute.\n`;
    const run = await setup.run(apis.url, prompt, ...(allowed ? [] : ['--tools', 'Read']));
    if (apis.errors.length) throw apis.errors[0];
    t.ok(run.code === 0 && run.json?.status === 'success', () => `${allowed ? 'it may write' : 'it may read'}: ${describe(run)}`);
    t.equal(run.json?.text, DONE, 'last message');
    const log = apis.log;
    t.equal(log.map((one) => one.api), log.map(() => api), 'APIs of the requests');
    t.ok(log.every((one) => (one.key ?? '').replace('Bearer ', '') === KEY), () => `keys: ${log.map((one) => one.key)}`);
    t.equal([...new Set(log.map((one) => one.model))], [model.replace('dt/', '')], 'models');
    t.ok(JSON.stringify(log[0]?.body).includes('Write the plan \\"down\\" for $HOME and ümläute.'), 'the prompt is not in the first request');
    t.equal(run.json?.inputTokens, write ? 140 : 40, 'input tokens');
    t.equal(run.json?.outputTokens, write ? 24 : 4, 'output tokens');
    t.equal(typeof run.json?.costUsd === 'number', Boolean(costs), 'whether it reports a cost');
    if (reportsModel) t.equal(run.json?.model, model, 'model of the answer');
    if (!write) return;
    const results = JSON.stringify(log.at(-1)?.results);
    const written = fs.existsSync(wanted) ? fs.readFileSync(wanted, 'utf8') : null;
    t.equal(written, allowed ? 'the plan' : null, `the file that it ${allowed ? 'may' : 'may not'} write; tools got ${results}`);
  });
}

async function unavailable(t, name, tool, what, script, limited) {
  await withApis(name, tool, script, async (setup, apis) => {
    const run = await setup.run(what === 'unreachable' ? CLOSED : apis.url, 'Say hello.');
    t.ok(run.code === 5 && run.json?.status === 'unavailable', () => `${what}: ${describe(run)}`);
    t.equal(run.json?.rateLimited, limited, `${what}: rateLimited`);
    t.ok((run.json?.detail ?? '').length > 0 && !`${run.out}${run.err}`.includes(KEY), () => `${what}: detail ${describe(run)}`);
  });
}

const refusals = {
  limit: { status: 429, message: 'Rate limit reached for the model', code: 'rate_limit_exceeded' },
  login: { status: 401, message: 'the key is not accepted', code: 'invalid_api_key' },
};

async function works(t, name, tool) {
  await probed(t, name, tool);
  await answers(t, name, tool, true);
  if (HARNESSES[name].write) await answers(t, name, tool, false);
}

// These runs mostly wait, so they run in parallel.
async function reportsUnavailable(t, name, tool) {
  await Promise.all([
    unavailable(t, name, tool, 'limit', () => refusals.limit, true),
    unavailable(t, name, tool, 'login', () => refusals.login, false),
    unavailable(t, name, tool, 'unreachable', () => '', false),
  ]);
}

export const harness = Object.keys(HARNESSES).flatMap((name) => [
  [`harness ${name}: a limit, a refused login, no network`, (t) => reportsUnavailable(t, name, t.clients[name])],
  [`harness ${name}: probed, answers, writes where it may`, (t) => works(t, name, t.clients[name])],
]);
