// Whole pipelines of `dev-team run --harness` with real clients and a scripted model.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer, DEFAULTS, HOSTILE_LINE } from '../agents.mjs';
import { startApis, text, textOf, use } from '../apis.mjs';
import { startDevTeam } from '../fixture.mjs';
import { block, command, find } from '../model.mjs';
import { PREFIX } from '../scenario.mjs';
import { breakpoint, LIMIT } from '../sync.mjs';

export const PASS = ['GIT_SSH', 'GIT_SSH_VARIANT', 'FAKE_ROOT', 'GIT_CONFIG_NOSYSTEM'].flatMap((name) => ['--pass-env', name]);

// Lets the agent of a prompt act. Like model.mjs it takes commands, words and names out of the prompt, which is all that the
// agent gets; its last message is the answer.
export function act(agents, prompt) {
  if (/dev-team record --context-file/.test(prompt)) throw new Error(`the prompt has a command that records:\n${prompt}`);
  const [, skill = ''] = prompt.split('\n## Your skill\n');
  const part = agents.act({
    id: find(prompt, /^# (\S+\/\S+\/\d+)$/m, 'which action it is'),
    brief: prompt,
    skill: find(prompt, /^Skill: (\S+)$/m, 'the skill'),
    file: find(prompt, /^Context file: (\/.+)$/m, 'the context file'),
    directory: find(prompt, /^Directory: (\/.+)$/m, 'where the agent works'),
    command: (start, more) => command(skill, start, more),
    block: (start, more) => block(skill, start, more),
  });
  const words = find(prompt, /Its result is one word: (.+)$/m, 'the words').split(' | ');
  if (part.word && !words.includes(part.word)) throw new Error(`'${part.word}' is none of ${words.join(', ')}`);
  return part;
}

export const isPrompt = (message) => message.includes('## How you answer');

function* conversation(request, agents) {
  const prompt = request.news.filter((one) => one.type === 'text').map((one) => one.text).find(isPrompt);
  if (!prompt) throw new Error('the first request has no prompt');
  const part = act(agents, prompt);
  for (const step of part.work ?? []) {
    if (step.wait) yield step.wait();
    const call = use(step.tool ?? 'Bash', step.input ?? { command: step.run });
    const result = (yield [call]).find((one) => one.type === 'tool_result' && one.tool_use_id === call.id);
    if (!result || Boolean(result.is_error) !== Boolean(step.refused))
      throw new Error(`${JSON.stringify(step)}: ${result ? textOf(result.content) : 'no result'}`);
  }
  return [text(part.silent ? '' : part.answer)];
}

// What the n-th request costs: no two the same.
const usageOf = (n) => ({ input: 1000 + 7 * n, output: 10 + n, cached: 100 * n, written: 3 * n });

export function createModel(agents) {
  const conversations = new Map();
  let n = 0;
  return (request) => {
    const known = conversations.get(request.session);
    const script = known ?? conversation(request, agents);
    if (!known) conversations.set(request.session, script);
    const turn = known ? script.next(request.news) : script.next();
    if (turn.done) conversations.delete(request.session);
    return turn.value instanceof Promise ? turn.value : { blocks: turn.value, usage: usageOf(++n) };
  };
}

// Runs `dev-team run`, or another `verb`, with Claude Code on the PATH. `during(run, server)` may interfere while it runs.
export async function withClaude(t, fixture, agents, args, { during = null, extra = {}, verb = ['run', fixture.id, '--workflow', 'implement-task'] } = {}) {
  const server = await startApis(createModel(agents));
  const env = { ...t.environment(fixture, server.url), ...extra };
  env.PATH = [...Object.values(t.clients).flatMap((client) => client.bin ?? []), env.PATH].join(':');
  const run = startDevTeam([...verb, '--timeout', String(LIMIT / 1000), ...PASS, ...args], { cwd: fixture.repo, env });
  server.onError = () => run.kill('SIGTERM');
  const early = (ended) => { throw server.errors[0] ?? new Error(`the run ended too early: ${ended.err}`); };
  try {
    if (during) await Promise.race([during(run, server), run.done.then(early)]);
  } finally {
    if (during) run.kill('SIGKILL');
  }
  const ended = await run.done;
  await server.stop();
  if (server.errors.length) throw new Error(`${server.errors[0].stack}\n${ended.err}`);
  return { ...ended, log: server.log };
}

const runtime = (fixture, issue = fixture.id) =>
  JSON.parse(fs.readFileSync(path.join(fixture.home, '.dev-team/org/repo/artifacts', issue, 'runtime.json'), 'utf8'));

// Of the client's model, a million tokens in USD.
const priceOf = (one) => 3 * one.input + 15 * one.output + 0.3 * one.cached + 3.75 * one.written;
const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);

// What the API sent is what the events have and what `status` shows, to the token.
async function checkCost(t, fixture, ran, log) {
  const sent = log.map((request) => request.answer.usage);
  const counts = { input_tokens: sum(sent, (one) => one.input), output_tokens: sum(sent, (one) => one.output),
    cache_tokens: sum(sent, (one) => one.cached + one.written) };
  const keys = Object.keys(counts);
  t.equal(Object.fromEntries(keys.map((key) => [key, sum(ran, (event) => event[key])])), counts, 'tokens of the events');
  const { out } = await startDevTeam(['status', fixture.id, '--json'], { cwd: fixture.repo, env: t.environment(fixture, 'http://127.0.0.1:9') }).done;
  const shown = JSON.parse(out);
  t.equal({ ...shown.usage, ms: 0, cost_usd: shown.usage.cost_usd.toFixed(8) },
    { calls: ran.length, ms: 0, input_tokens: counts.input_tokens, output_tokens: counts.output_tokens,
      cost_usd: (sum(sent, priceOf) / 1e6).toFixed(8), cache_tokens: counts.cache_tokens }, 'status');
}

async function toTheEnd(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'reviewer-review': () => answer('changes_requested', '**must** src/widget.txt:1: it does not turn.'),
    'developer-implement': (task, n) => {
      const part = DEFAULTS['developer-implement'].call(agents, task, n);
      return { ...part, work: [{ run: 'test -e /run/dev-team/broker' }, ...part.work] }; // contained
    },
  });
  const run = await withClaude(t, fixture, agents, ['--harness', 'claude-code']);
  t.equal(run.code, 0, `exit code; ${run.err}`);
  t.match(run.out, /^\[{"action":"done","result":"success"/, 'stdout');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  t.equal(agents.skills.slice(0, 5), ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review', 'developer-fix'], 'agents');
  t.equal(fixture.subjects(), ['ADR-1: add the widget', 'ADR-1: fix the widget, 1'], 'commits on origin');
  t.match(fixture.section('Researcher Brief'), HOSTILE_LINE, 'the hostile text');
  const ran = fixture.events().filter((event) => event.type === 'agent_run');
  t.equal(ran.map((event) => `${event.harness} ${event.status}`), Array(7).fill('claude-code success'), 'agent_run events');
  await checkCost(t, fixture, ran, run.log);
  t.equal(new Set(run.log.map((request) => request.session)).size, ran.length, 'conversations: of the agents, and no other');
  t.equal(runtime(fixture).stages.implementing.harness, 'claude-code', 'runtime.json');
  t.note(`figures: headless run in the real client: ${ran.length} agents, ${run.log.length} requests`);
}

// The run is killed and resumed; no answered action is requested again.
async function killedAndResumed(t) {
  const fixture = t.fixture();
  const asked = breakpoint(); // the killed client gets no answer, so it does nothing more
  const agents = new Agents(fixture, {
    'developer-create-pr': (task, n) => (n === 1 ? { work: [{ wait: asked.block }] } : DEFAULTS['developer-create-pr'](task, n)),
  });
  const first = await withClaude(t, fixture, agents, ['--harness', 'claude-code'], { during: async (run) => {
    await asked.reached;
    run.kill('SIGKILL');
  } });
  t.equal(first.signal, 'SIGKILL', 'how the first run ended');
  const second = await withClaude(t, fixture, agents, ['--harness', 'claude-code']);
  t.equal(second.code, 0, `exit code; ${second.err}`);
  t.equal(agents.skills.filter((skill) => skill === 'developer-implement').length, 1, 'implementations');
  t.equal(fixture.subjects(), ['ADR-1: add the widget'], 'commits on origin');
}

// Codex does the research; then its service is at its limit, and Claude Code does the rest.
async function fallsBack(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  const prompt = (body) => (body.input ?? []).flatMap((item) => (typeof item.content === 'string' ? [item.content] : (item.content ?? []).map((part) => part.text ?? '')))
    .find(isPrompt);
  const apis = await startApis(({ body }) => {
    const part = act(agents, prompt(body));
    if (part.word === 'briefed') return part.answer;
    agents.calls.pop(); // the API refuses the request
    return { status: 429, message: 'Rate limit reached', code: 'rate_limit_exceeded' };
  });
  try {
    const extra = { OPENAI_BASE_URL: `${apis.url}/v1`, OPENAI_API_KEY: 'dummy-local-key' };
    const run = await withClaude(t, fixture, agents, ['--harness', 'codex,claude-code'], { extra });
    if (apis.errors.length) throw apis.errors[0];
    t.equal(run.code, 0, `exit code; ${run.err}`);
    const ran = fixture.events().filter((event) => event.type === 'agent_run').map((event) => `${event.action} ${event.harness} ${event.status}`);
    t.equal(ran[0], 'ADR-1/researching/1 codex success', 'harness of the research');
    t.equal(ran.slice(1).map((line) => line.split(' ').slice(1).join(' ')), Array(3).fill('claude-code success'), 'harness of the rest');
    t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
    const events = fs.readFileSync(path.join(fixture.home, '.dev-team/org/repo/artifacts/_events.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    t.equal(events.filter((event) => event.type === 'HarnessFallback').map((event) => `${event.stage} ${event.from} ${event.to}`)[0], 'implementing codex claude-code', 'HarnessFallback');
    t.equal(runtime(fixture).stages.implementing.harness, 'claude-code', 'runtime.json');
    t.equal(fixture.subjects(), ['ADR-1: add the widget'], 'commits on origin');
  } finally {
    await apis.stop();
  }
}

export const headless = [
  ['headless: from Codex at its limit to Claude Code in the middle of a run', fallsBack],
  ['headless: a whole run with --harness claude-code, to done', toTheEnd, { quick: true }],
  ['headless: killed in the middle and resumed by the same command', killedAndResumed],
];
