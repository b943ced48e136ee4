// What goes wrong on the way, and how it goes on. Each: [name, claim(expect, stage, makeWorld)].

import fs from 'node:fs';
import { Cast, decide, GOOD, say } from '../cast.mjs';
import { answerAtOnce, latch, Pipe } from '../meeting.mjs';
import { asked, IMPLEMENT, journal, path, prefix, result } from './common.mjs';

async function silentThenContinues(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'researcher-plan': (task, n) => (n <= 3 ? { silent: true } : GOOD['researcher-plan'](task, n)),
    troubleshooter(task) {
      if (!task.brief.includes('consecutive_failures')) throw new Error(`the brief does not name the trigger:\n${task.brief}`);
      return { work: [{ run: task.command('dev-team context show') }, { run: task.command('dev-team events') }],
        ...decide('continue', 'the limit was over') };
    },
  });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast).slice(0, 5), ['researcher-plan', 'researcher-plan', 'researcher-plan', 'troubleshooter', 'researcher-plan'], 'agents');
  expect.equal(new Set(cast.calls).size, cast.calls.length, 'distinct ids');
  expect.equal(world.events().filter((event) => event.type === 'failure').length, 3, 'failures');
  expect.match(world.section('Troubleshooter Log'), /the limit was over/, 'Troubleshooter Log');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function silentThenTerminated(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { 'researcher-plan': () => ({ silent: true }), troubleshooter: () => decide('terminate', 'the spec is empty') });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^failed: .*the spec is empty/, 'what the user is told');
  expect.equal(world.key('state'), 'failed', 'state');
  journal(expect, world, 'failed');
}

// A second session is told who holds the work item and how to take it over, and does nothing.
async function refused(expect, stage, world) {
  const cast = new Cast(world);
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^The step failed: .*'ADR-1' is held by '[0-9a-f-]{36}' since .*, until .*; to take it over: --owner NAME --take-over/s,
    'what the second session is told');
  expect.equal(cast.calls, [], 'agents of the second session');
}

// The client dies while the developer has committed and not recorded; another session begins from the disk.
async function killed(expect, stage, makeWorld) {
  const world = makeWorld();
  const reached = latch();
  const cast = new Cast(world, {
    'developer-implement'(task) {
      const good = GOOD['developer-implement'].call(this, task);
      return { ...good, work: [...good.work, { wait: reached.hold }] };
    },
  });
  const first = await stage.run(world, cast, IMPLEMENT, { during: async (client) => {
    await reached.reached;
    process.kill(client.pid, 'SIGKILL');
  } });
  expect.equal(first.signal, 'SIGKILL', 'how the first client ended');
  expect.equal(world.key('state'), 'implementing', 'state after the kill');
  const before = world.context();
  await refused(expect, stage, world);
  expect.equal(world.context(), before, 'the context file after the refusal');

  const again = new Cast(world, {
    'developer-implement'(task) {
      return { work: [{ run: task.command('git switch') }], ...say('implemented', 'It was done already.') };
    },
  });
  const run = await stage.run(world, again, `${IMPLEMENT} take over`);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(again.calls[0], 'ADR-1/implementing/2 developer-implement', 'the first agent asked anew');
  expect.equal(world.events().filter((event) => event.type === 'lease').map((event) => [event.fence, event.reason]), [[2, 'taken over']], 'leases');
  expect.equal(world.events().filter((event) => event.type === 'failure').length, 0, 'failures');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
  journal(expect, world, 'success');
}

// The client dies while the script runs. The script goes on, the next session waits for that same one.
async function killedInScript(expect, stage, makeWorld) {
  const world = makeWorld();
  const began = new Pipe(`${world.root}/began`);
  const go = new Pipe(`${world.root}/go`);
  world.write('scripts/validate.sh', 'echo run >>"$FAKE_ROOT/runs"; echo on >"$FAKE_ROOT/began"; read -r word <"$FAKE_ROOT/go"; echo "$word"\n');
  world.git('commit', '-q', '-am', 'Let the checks wait');
  world.git('push', '-q');
  try {
    const first = await stage.run(world, new Cast(world), IMPLEMENT, { during: async (client) => {
      await began.told('the start of the script');
      process.kill(client.pid, 'SIGKILL');
    } });
    expect.equal(first.signal, 'SIGKILL', 'how the first client ended');
    expect.equal(world.key('state'), 'validating', 'state after the kill');
    const cast = new Cast(world);
    cast.meet = (id) => (/\/validating\//.test(id) ? go.tell() : null);
    const run = await stage.run(world, cast, `${IMPLEMENT} take over`);
    stage.sound(expect, run);
    expect.match(result(run), /^success: /, 'what the user is told');
    expect.equal(fs.readFileSync(`${world.root}/runs`, 'utf8'), 'run\n', 'runs of the script');
    path(expect, world, `${prefix} validating>reviewing reviewing>done`);
    journal(expect, world, 'success');
  } finally {
    began.tell();
    go.tell();
  }
}

// The developer asks, the troubleshooter passes it on, and once there is an answer lets it go on.
function undecided(world, answer) {
  return new Cast(world, {
    'developer-implement'(task, n) {
      return n === 1 ? say('needs_clarification', 'Red or blue?') : GOOD['developer-implement'].call(this, task, n);
    },
    troubleshooter(task, n) {
      if (n === 1) return decide('needs_user_input', 'Shall the widget be red or blue?');
      if (!task.brief.includes(`> ${answer}\n`)) throw new Error(`the brief lacks the user's answer:\n${task.brief}`);
      return decide('continue', 'the user says blue');
    },
  });
}

async function question(expect, stage, makeWorld) {
  const world = makeWorld();
  const answer = 'sky "blue" $(id)';
  const cast = undecided(world, answer);
  const first = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, first);
  expect.equal(result(first), 'Shall the widget be red or blue?', 'what the user is told');
  expect.equal(world.key('state'), 'implementing', 'state');
  const run = await stage.run(world, cast, `${IMPLEMENT} ${answer}`);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(world.key('troubleshooter_input'), '', 'troubleshooter_input');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
}

async function questionWithHost(expect, stage, makeWorld) {
  const world = makeWorld();
  const answer = "sky 'blue' $(id)";
  const cast = undecided(world, answer);
  const prompts = [];
  const run = await stage.run(world, cast, IMPLEMENT, {
    args: ['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
    host: (prompt) => answerAtOnce(prompt, (tool, input) => {
      prompts.push(tool);
      return tool === 'AskUserQuestion'
        ? { behavior: 'allow', updatedInput: { ...input, answers: { [input.questions[0].question]: answer } } }
        : { behavior: 'deny', message: 'no' };
    }),
  });
  stage.sound(expect, run);
  expect.equal(prompts, ['AskUserQuestion'], 'what the user was asked');
  expect.match(result(run), /^success: /, 'what the user is told');
}

export const trouble = [
  ['implement: a silent agent, and the troubleshooter continues', silentThenContinues],
  ['implement: a silent agent, and the troubleshooter terminates', silentThenTerminated],
  ['implement: a killed client is started again and finishes', killed],
  ['implement: a client killed while a script runs; the script is not run twice', killedInScript],
  ['implement: a question ends the run, its answer continues it', question],
  ['implement: a question is asked in the session', questionWithHost],
];
