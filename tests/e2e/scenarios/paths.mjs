// The ways through the two workflows, to each of their ends. Each: [name, claim(expect, stage, makeWorld)].

import { Cast, decide, GOOD, say } from '../cast.mjs';
import { barrier } from '../meeting.mjs';
import { asked, IMPLEMENT, journal, path, prefix, result, subjects, types } from './common.mjs';

async function happy(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world);
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast), ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  expect.equal(types(run), ['researcher', 'developer', 'script-runner', 'developer', 'reviewer'], 'agent types');
  path(expect, world, `${prefix} validating>reviewing reviewing>done`);
  journal(expect, world, 'success');
  expect.equal(world.key('state'), 'done', 'state');
  expect.equal(world.key('spec_path'), '_spec_Widget.md', 'spec_path');
  expect.equal(world.key('pr_url'), 'https://github.com/org/repo/pull/7', 'pr_url');
  expect.match(world.section('Researcher Brief'), /It's "quoted", `ticked`, \$HOME and \$\(id\), a \\ and a \\1; {"a": {"b": "c"}}/, 'the hostile text');
  expect.match(world.section('Researcher Brief'), /<!-- \\section:Validate Result -->/, 'the forged sentinel');
  expect.equal(subjects(world), ['ADR-1: add the widget'], 'commits on origin');
  expect.equal(world.origin('show', 'dev-team/ADR-1:src/widget.txt'), 'It turns.', 'the work on origin');
  expect.equal(world.git('status', '--short'), '', 'the work tree');
  const most = stage.affordable(expect, run);
  stage.tap.note(`figures: bytes an iteration adds to the main conversation: ${run.iterations.map((one) => one.bytes).join(' ')} (most with one agent: ${most.bytes})`);
  const shown = await stage.run(world, cast, '/dev-team:status ADR-1');
  stage.sound(expect, shown);
  expect.match(result(shown), /^state: done\npr_url: https:.*\/pull\/7\n[\s\S]*done/, 'what status shows');
  stage.tap.note(`figures: happy path in the real client: ${run.log.length} requests, ${run.seconds.toFixed(1)} s`);
}

async function changesRequested(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, { 'reviewer-review': () => say('changes_requested', '**must** src/widget.txt:1: it does not turn.') });
  const meeting = barrier(3);
  cast.meet = (id) => (/\/signoff\//.test(id) ? meeting.arrive() : null);
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  path(expect, world, `${prefix} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  expect.equal(asked(cast).slice(4).sort(), ['developer-fix', 'researcher-validate', 'reviewer-sign-off'], 'agents');
  expect.equal(types(run).slice(-4), ['developer', 'reviewer', 'researcher', 'script-runner'], 'agent types');
  expect.equal(meeting.most, 3, 'sign-off agents at work at the same time');
  expect(Math.max(...run.log.filter((entry) => entry.agent).map((entry) => entry.inFlight)) >= 3, 'fewer than three sub-agent requests in flight');
  expect.equal(run.iterations.map((one) => one.agents), [1, 1, 1, 1, 1, 1, 3, 0], 'agents of each iteration');
  expect.equal(subjects(world), ['ADR-1: add the widget', 'ADR-1: mend the widget, 1'], 'commits on origin');
  expect(world.gh().some((line) => /^pr checks .*--watch/.test(line)), 'nobody waited for the checks');
  expect.equal(world.key('signoff_cycle_count'), '0', 'signoff_cycle_count');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function signoffRefused(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'reviewer-review': () => say('changes_requested', '**must** it does not turn.'),
    'researcher-validate': (task, n) => (n === 1 ? say('failed', '1. not met: no test') : say('validated', '1. met')),
  });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  path(expect, world, `${prefix} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>fixing-pr fixing-pr>signoff signoff>done`);
  expect.equal(world.key('review_fix_iteration'), '2', 'review_fix_iteration');
  journal(expect, world, 'success');
}

async function validationFails(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'developer-implement'(task) {
      const good = GOOD['developer-implement'].call(this, task);
      return { ...good, work: good.work.map((step) => (step.tool === 'Write' ? this.widget('BROKEN\n') : step)) };
    },
    'developer-fix'(task, n) {
      if (!/BROKEN|\.log/.test(task.brief)) throw new Error(`the brief does not say what failed:\n${task.brief}`);
      return GOOD['developer-fix'].call(this, task, n);
    },
  });
  const run = await stage.run(world, cast, '/dev-team:dev-team implement-task ADR-1');
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  path(expect, world, `${prefix} validating>fixing fixing>validating validating>reviewing reviewing>done`);
  expect.equal(world.key('fix_iteration'), '1', 'fix_iteration');
  expect.match(world.section('Fix 1'), /Mended, 1/, 'Fix 1');
  expect.equal(subjects(world), ['ADR-1: add the widget', 'ADR-1: mend the widget, 1'], 'commits on origin');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

// Two sign-offs refuse; the troubleshooter rules on the demand and sends the work back to be signed off.
async function deadlock(expect, stage, makeWorld) {
  const world = makeWorld();
  const cast = new Cast(world, {
    'reviewer-review': () => say('changes_requested', '**must** it does not turn.'),
    'reviewer-sign-off': (task, n) => (n <= 2 ? say('changes_requested', '1. open: paint it') : say('approved', '1. settled by the ruling')),
    troubleshooter(task) {
      expect.match(task.brief, /^Trigger: signoff_deadlock$/m, 'the brief of the troubleshooter');
      return decide('continue', 'paint is outside the spec', [
        { section: 'Researcher Brief', text: `${world.section('Researcher Brief')}\nRuling: no paint.` },
        { key: 'state', value: 'signoff' },
      ]);
    },
  });
  const run = await stage.run(world, cast, IMPLEMENT);
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast).filter((skill) => skill === 'troubleshooter').length, 1, 'calls of the troubleshooter');
  expect.match(world.section('Researcher Brief'), /Ruling: no paint\.$/, 'Researcher Brief');
  expect.equal(world.transitions().slice(-4), ['fixing-pr>signoff', 'signoff>fixing-pr', 'fixing-pr>signoff', 'signoff>done'], 'the last states');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function fix(expect, stage, makeWorld) {
  const world = makeWorld({ id: '444' });
  const cast = new Cast(world);
  const run = await stage.run(world, cast, '/dev-team:fix 444');
  stage.sound(expect, run);
  expect.match(result(run), /^success: /, 'what the user is told');
  expect.equal(asked(cast).slice(0, 3), ['debugger-investigate', 'researcher-issue', 'developer-implement'], 'agents');
  path(expect, world, 'init>debugging debugging>researching researching>implementing implementing>validating validating>reviewing reviewing>done');
  expect.equal(subjects(world, 'dev-team/444'), ['444: add the widget'], 'commits on origin');
  stage.affordable(expect, run);
  journal(expect, world, 'success');
}

async function fixNotReproduced(expect, stage, makeWorld) {
  const world = makeWorld({ id: '444' });
  const cast = new Cast(world, { 'debugger-investigate': () => say('not_reproduced', 'Tried it: nothing.') });
  const run = await stage.run(world, cast, '/dev-team:fix 444');
  stage.sound(expect, run);
  expect.match(result(run), /^failed: /, 'what the user is told');
  path(expect, world, 'init>debugging debugging>failed');
}

export const paths = [
  ['implement: the happy path', happy],
  ['implement: changes requested, then three sign off at once', changesRequested],
  ['implement: a sign-off that fails is fixed and signed off again', signoffRefused],
  ['dev-team: a validation that fails is fixed', validationFails],
  ['implement: a sign-off deadlock is ruled upon', deadlock],
  ['fix: from the debugger to done', fix],
  ['fix: not reproduced', fixNotReproduced],
];
