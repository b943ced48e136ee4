// Work items that a real client carries out side by side, and that land one at a time: commits, rebases and pushes arrive.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { answer, Agents } from '../agents.mjs';
import { startApis } from '../apis.mjs';
import { startDevTeam } from '../fixture.mjs';
import { LIMIT } from '../sync.mjs';
import { act, createModel, isPrompt, PASS } from './headless.mjs';

const ITEMS = ['A-1', 'B-1', 'C-1', 'D-1', 'E-1', 'F-1'];
const FILES = 2000;
const CHECK = '! grep -q "<<<" list && [ -z "$(sort list | uniq -d)" ]\n';
const URL = 'https://github.com/org/repo/pull/7';

// The directory that has `org/repo.git`, by git's HTTP: Codex's sandbox can write it by no other way.
async function startRemote(root) {
  const handle = (request, response) => {
    const [place, query = ''] = request.url.split('?');
    const backend = spawn('git', ['http-backend'], { env: { PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'dev', PATH_INFO: place, QUERY_STRING: query, REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '', HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol'] ?? '' } });
    const pieces = [];
    request.pipe(backend.stdin);
    backend.stdin.on('error', () => {}); // it may have ended without reading
    backend.stdout.on('data', (piece) => pieces.push(piece));
    backend.on('close', () => {
      const whole = Buffer.concat(pieces);
      const end = whole.indexOf('\r\n\r\n');
      const headers = Object.fromEntries(whole.subarray(0, end).toString().split('\r\n').map((line) => line.split(': ')));
      response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers);
      response.end(whole.subarray(end + 4));
    });
  };
  const server = http.createServer(handle);
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => { server.closeAllConnections(); server.close(); } };
}

// The conversations of Codex: one command after the other, each of which must succeed. A Codex that starts may remove
// the links of another that has just begun: none of that one's commands can run, and dev-team asks again.
function* conversation(first, agents) {
  const texts = first.body.input.flatMap((item) => (Array.isArray(item.content) ? item.content.map((part) => part.text ?? '') : [item.content ?? '']));
  const part = act(agents, texts.find(isPrompt));
  for (const step of part.work ?? []) {
    let result = (yield { name: 'exec_command', input: { cmd: step.run, yield_time_ms: 30000 } }).results.at(-1);
    for (let id; (id = /session ID (\d+)/.exec(result)?.[1]);)
      result = (yield { name: 'write_stdin', input: { session_id: Number(id), chars: '', yield_time_ms: 30000 } }).results.at(-1);
    if (/codex-linux-sandbox: No such file/.test(result)) return 'No command runs here.';
    if (!/exited with code 0\b/.test(result)) throw new Error(`${step.run}: ${result}`);
  }
  return part.answer;
}

function createCodexModel(agents) {
  const known = new Map();
  return (request) => {
    const key = request.body.prompt_cache_key;
    const talk = known.get(key) ?? conversation(request, agents);
    const turn = known.has(key) ? talk.next(request) : talk.next();
    known.set(key, talk);
    return turn.done ? turn.value : { text: 'Next.', calls: [turn.value] };
  };
}

// Codex may write nothing but what dev-team names: not /tmp, where the repository and its origin are.
const CODEX_SETTINGS = '[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n';

const CLIENTS = {
  'claude-code': { model: createModel, begin: () => ({ stop() {} }), env: () => ({}) },
  codex: {
    model: createCodexModel,
    async begin(fixture) {
      fixture.writeHome('.codex/config.toml', CODEX_SETTINGS);
      const remote = await startRemote(fixture.root);
      fixture.git('config', `url.${remote.url}.insteadOf`, 'git@github.com:');
      return remote;
    },
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy-local-key', GIT_ALLOW_PROTOCOL: 'file:http' }),
  },
};

const rebase = (id) => `{ git fetch -q || git fetch -q; } && { git rebase -q origin/main || {
git show origin/main:list >list && echo ${id} >>list && git add list && GIT_EDITOR=true git rebase --continue; }; }`;

const PARTS = {
  'developer-implement'(task) {
    const [id, state] = task.id.split('/');
    return state === 'rebasing' ? { work: [{ run: rebase(id) }], ...answer('implemented', 'Rebased.') }
      : { work: [{ run: `echo ${id} >>list && git add list` }, { run: task.command('git commit', { 'what the change does': 'add' }) }],
        ...answer('implemented', 'The line is there.') };
  },
  'developer-create-pr': (task) => ({ work: [{ run: task.command('git push') }], ...answer('pr_created', URL) }),
};

// All that a person writes to have six items worked on side by side and landed one at a time.
const resource = (kind, spec) => `apiVersion: dev-team/v1\nkind: ${kind}\nmetadata: {name: parallel}\nspec: ${spec}\n`;
const pipeline = (name) => `\n  defaultHarness: ${name}\n  parallelism: {maxConcurrent: 6}\n  stages: [{name: landing, holdsMergeGate: true}]`;

function prepare(fixture, name) {
  for (let n = 0; n < FILES; n++) fixture.write(`files/${n}`, `${n}\n`);
  for (const id of ITEMS) fixture.write(`_spec_${id[0]}.md`, `# ${id}: add a line\n\nAdd it to the list.\n`);
  fixture.write('list', 'first\n');
  fixture.write('scripts/validate.sh', CHECK);
  const forge = path.join(fixture.root, 'forge');
  fs.writeFileSync(forge, 'echo "{\\"state\\": \\"open\\", \\"branch\\": \\"$(git branch --show-current)\\", \\"head\\": \\"$(git rev-parse HEAD)\\"}"\n');
  const flow = fs.readFileSync(path.join(import.meta.dirname ?? path.dirname(new globalThis.URL(import.meta.url).pathname), '../../../workflows/implement-and-land.md'), 'utf8');
  fixture.write('.dev-team/workflows/own.md', flow.replace('---\n', `---\nforge: sh ${forge}\n`));
  fixture.write('.dev-team/resources/pool.yaml', resource('WorktreePool', '{}'));
  fixture.write('.dev-team/resources/pipeline.yaml', resource('Pipeline', pipeline(name)));
  fixture.git('add', '-A');
  fixture.git('commit', '-q', '-m', 'begin');
  fixture.git('push', '-q', 'origin', 'main');
}

async function land(t, name, items) {
  const fixture = t.fixture();
  const client = CLIENTS[name];
  prepare(fixture, name);
  const remote = await client.begin(fixture);
  const agents = new Agents(fixture, PARTS);
  const server = await startApis(client.model(agents), { models: ['gpt-5'] });
  const env = { ...t.environment(fixture, server.url), ...client.env(server.url) };
  env.PATH = [...Object.values(t.clients).flatMap((one) => one.bin ?? []), env.PATH].join(':');
  const run = startDevTeam(['run', ...items, '--workflow', 'own', '--pipeline', 'parallel', '--timeout', String(LIMIT / 1000), ...PASS,
    '--pass-env', 'GIT_ALLOW_PROTOCOL'], { cwd: fixture.repo, env });
  server.onError = () => run.kill('SIGTERM');
  const ended = await run.done;
  await server.stop();
  remote.stop();
  if (server.errors.length) throw new Error(`${server.errors[0].stack}\n${ended.err}`);
  t.equal(ended.code, 0, `exit code; ${ended.err}`);
  const subjects = fixture.origin('log', '--reverse', '--format=%s', 'main').split('\n').slice(2);
  t.equal(subjects.toSorted?.() ?? [...subjects].sort(), items.map((id) => `${id}: add`), 'what is on main: each item once');
  const lists = fixture.origin('log', '--reverse', '--format=%H', 'main').split('\n').slice(1).map((commit) => fixture.origin('show', `${commit}:list`));
  t.ok(lists.every((list, n) => list.split('\n').length === n + 1 && !/[<=>]{3}/.test(list)), () => `a line with each commit: ${JSON.stringify(lists)}`);
  t.equal(fixture.git('status', '--porcelain'), '', 'the checkout');
  const { out } = await startDevTeam(['pool', 'audit'], { cwd: fixture.repo, env }).done;
  t.match(out, /^nothing is orphaned/, 'pool audit');
  const harnesses = new Set(agents.calls.map((call) => call.split('/')[1]));
  t.ok(items.length === 1 || harnesses.has('rebasing'), 'no item was in conflict');
  t.note(`figures: ${items.length} items landed by the real ${name}: ${agents.calls.length} agents, ${server.log.length} requests`);
}

export const landing = [
  ['landing: six items in conflict, by the real Claude Code', (t) => land(t, 'claude-code', ITEMS)],
  ['landing: six items in conflict, by the real Codex', (t) => land(t, 'codex', ITEMS)],
  ['landing: the real Codex edits, commits and pushes in its sandbox', (t) => land(t, 'codex', ['A-1'])],
];
