// Whole pipelines without a person: `dev-team run --harness`, real clients, a scripted API.

import fs from 'node:fs';
import path from 'node:path';
import { Cast, say } from '../cast.mjs';
import { binaries, createHeadless, headless } from '../headless.mjs';
import { startServer } from '../server.mjs';
import { asked, path as states, prefix, subjects } from './common.mjs';

const PASS = ['GIT_SSH', 'GIT_SSH_VARIANT', 'FAKE_ROOT', 'GIT_CONFIG_NOSYSTEM'].flatMap((name) => ['--pass-env', name]);

async function withClaude(stage, world, cast, args, during = null) {
  const server = await startServer(createHeadless(cast));
  binaries(world, { claude: stage.client });
  const run = headless(world, stage.environment(world, server.port), [...PASS, ...args]);
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
  const first = await withClaude(stage, world, cast, ['--harness', 'claude-code'], (run) => { strike = () => run.kill('SIGKILL'); });
  expect.equal(first.signal, 'SIGKILL', 'how the first run ended');
  const second = await withClaude(stage, world, cast, ['--harness', 'claude-code']);
  expect.equal(second.code, 0, `exit code; ${second.err}`);
  expect.equal(asked(cast).filter((skill) => skill === 'developer-implement').length, 1, 'implementations paid for');
  expect.equal(subjects(world), ['ADR-1: add the widget'], 'commits on origin');
}

export const headlessRuns = [
  ['headless: a whole run with --harness claude-code, to done', toTheEnd],
  ['headless: killed in the middle, gone on with by the same command', killedAndResumed],
];
