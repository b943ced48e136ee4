// Whole pipelines without a person: `dev-team run --harness`, real clients, a scripted API.

import fs from 'node:fs';
import path from 'node:path';
import { startApis } from '../apis.mjs';
import { Cast, say } from '../cast.mjs';
import { binaries, createHeadless, headless, play } from '../headless.mjs';
import { startServer } from '../server.mjs';
import { asked, path as states, prefix, subjects } from './common.mjs';

const PASS = ['GIT_SSH', 'GIT_SSH_VARIANT', 'FAKE_ROOT', 'GIT_CONFIG_NOSYSTEM'].flatMap((name) => ['--pass-env', name]);

async function withClaude(stage, world, cast, args, { during = null, extra = {} } = {}) {
  const server = await startServer(createHeadless(cast));
  binaries(world, { claude: stage.client });
  const run = headless(world, { ...stage.environment(world, server.port), ...extra }, [...PASS, ...args]);
  server.onFault = () => run.kill('SIGTERM');
  if (during) await during(run, server);
  const ended = await run.done;
  await server.stop();
  if (server.faults.length) throw new Error(`${server.faults[0].stack}\n${ended.err}`);
  return { ...ended, log: server.log };
}

const runtime = (world, issue = world.id) =>
  JSON.parse(fs.readFileSync(path.join(world.home, '.dev-team/org/repo/artifacts', issue, 'runtime.json'), 'utf8'));

async function toTheEnd(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { 'reviewer-review': () => say('changes_requested', '**must** src/widget.txt:1: it does not turn.') });
  const run = await withClaude(stage, world, cast, ['--harness', 'claude-code']);
  expect.equal(run.code, 0, `exit code; ${run.err}`);
  expect.match(run.out, /^\[{"action":"done","result":"success"/, 'what is printed');
  states(expect, world, `${prefix} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  expect.equal(asked(cast).slice(0, 5), ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review', 'developer-fix'], 'agents');
  expect.equal(subjects(world), ['ADR-1: add the widget', 'ADR-1: mend the widget, 1'], 'commits on origin');
  expect.match(world.section('Researcher Brief'), /It's "quoted", `ticked`, \$HOME and \$\(id\), a \\ and a \\1; {"a": {"b": "c"}}/, 'the hostile text');
  const ran = world.events().filter((event) => event.type === 'agent_run');
  expect.equal(ran.map((event) => `${event.harness} ${event.status}`), Array(7).fill('claude-code success'), 'what ran');
  expect(ran.every((event) => event.input_tokens > 0 && event.output_tokens > 0 && event.cost_usd >= 0), () => `tokens and cost: ${JSON.stringify(ran)}`);
  expect.equal(runtime(world).stages.implementing.harness, 'claude-code', 'runtime.json');
  const state = JSON.parse(fs.readFileSync(path.join(world.home, '.dev-team/org/repo/artifacts/ADR-1/state.json'), 'utf8'));
  expect.equal(state.status, 'success', 'state.json');
  stage.tap.note(`figures: headless run in the real client: ${ran.length} agents, ${run.log.length} requests`);
}

// Killed at its heart, and gone on with: nothing is asked twice that was answered.
async function killedAndResumed(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world);
  const whole = cast.play.bind(cast);
  let strike = null;
  cast.play = (task) => {
    if (strike && task.skill === 'developer-create-pr') {
      strike();
      strike = null;
    }
    return whole(task);
  };
  const first = await withClaude(stage, world, cast, ['--harness', 'claude-code'],
    { during: (run) => { strike = () => run.kill('SIGKILL'); } });
  expect.equal(first.signal, 'SIGKILL', 'how the first run ended');
  const second = await withClaude(stage, world, cast, ['--harness', 'claude-code']);
  expect.equal(second.code, 0, `exit code; ${second.err}`);
  expect.equal(asked(cast).filter((skill) => skill === 'developer-implement').length, 1, 'implementations paid for');
  expect.equal(subjects(world), ['ADR-1: add the widget'], 'commits on origin');
}

// Codex is the primary and does the research; then its service is at its limit, and Claude Code does the rest.
async function fallsBack(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world);
  const prompt = (body) => (body.input ?? []).flatMap((item) => (typeof item.content === 'string' ? [item.content] : (item.content ?? []).map((part) => part.text ?? '')))
    .find((text) => text.includes('## How you answer'));
  const apis = await startApis(({ body }) => {
    const part = play(cast, prompt(body));
    if (part.word === 'briefed') return part.answer;
    cast.calls.pop(); // it was not done
    return { status: 429, message: 'Rate limit reached', code: 'rate_limit_exceeded' };
  });
  binaries(world, { codex: path.join(stage.harnesses.codex.bin, 'codex') });
  try {
    const extra = { OPENAI_BASE_URL: `${apis.url}/v1`, OPENAI_API_KEY: 'dummy-local-key' };
    const run = await withClaude(stage, world, cast, ['--harness', 'codex,claude-code'], { extra });
    if (apis.faults.length) throw apis.faults[0];
    expect.equal(run.code, 0, `exit code; ${run.err}`);
    const ran = world.events().filter((event) => event.type === 'agent_run').map((event) => `${event.action} ${event.harness} ${event.status}`);
    expect.equal(ran[0], 'ADR-1/researching/1 codex success', 'who did the research');
    expect.equal(ran.slice(1).map((line) => line.split(' ').slice(1).join(' ')), Array(3).fill('claude-code success'), 'who did the rest');
    expect.equal(asked(cast), ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
    const told = fs.readFileSync(path.join(world.home, '.dev-team/org/repo/artifacts/_events.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    expect.equal(told.filter((event) => event.type === 'HarnessFallback').map((event) => `${event.stage} ${event.from} ${event.to}`)[0], 'implementing codex claude-code', 'what was told');
    expect.equal(runtime(world).stages.implementing.harness, 'claude-code', 'runtime.json');
    expect.equal(subjects(world), ['ADR-1: add the widget'], 'commits on origin');
  } finally {
    await apis.stop();
  }
}

export const headlessRuns = [
  ['headless: from Codex at its limit to Claude Code in the middle of a run', fallsBack, 'codex'],
  ['headless: a whole run with --harness claude-code, to done', toTheEnd],
  ['headless: killed in the middle, gone on with by the same command', killedAndResumed],
];
