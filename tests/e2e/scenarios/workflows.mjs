// Each path through the two workflows, to each of their ends.

import { Agents, answer, decide, DEFAULTS, HOSTILE_LINE } from '../agents.mjs';
import { IMPLEMENT, PREFIX } from '../scenario.mjs';
import { barrier } from '../sync.mjs';

async function happy(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(run.types, ['researcher', 'developer', 'script-runner', 'developer', 'reviewer'], 'agent types');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
  t.journal(fixture, 'success');
  t.equal(fixture.key('state'), 'done', 'state');
  t.equal(fixture.key('spec_path'), '_spec_Widget.md', 'spec_path');
  t.equal(fixture.key('pr_url'), 'https://github.com/org/repo/pull/7', 'pr_url');
  t.match(fixture.section('Researcher Brief'), HOSTILE_LINE, 'the hostile text');
  t.match(fixture.section('Researcher Brief'), /<!-- \\section:Validate Result -->/, 'the forged sentinel');
  t.equal(fixture.subjects(), ['ADR-1: add the widget'], 'commits on origin');
  t.equal(fixture.origin('show', 'dev-team/ADR-1:src/widget.txt'), 'It turns.', 'the work on origin');
  t.equal(fixture.git('status', '--short'), '', 'the work tree');
  const most = t.affordable(run);
  t.note(`figures: bytes an iteration adds to the main conversation: ${run.iterations.map((one) => one.bytes).join(' ')} (most with one agent: ${most})`);
  const shown = await t.run(fixture, agents, '/dev-team:status ADR-1');
  t.sound(shown);
  t.match(shown.text, /^state: done\npr_url: https:.*\/pull\/7\n[\s\S]*done/, 'output of status');
  t.note(`figures: happy path in the real client: ${run.log.length} requests, ${run.seconds.toFixed(1)} s`);
}

async function changesRequested(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, { 'reviewer-review': () => answer('changes_requested', '**must** src/widget.txt:1: it does not turn.') });
  const signoff = barrier(3);
  agents.before = (id) => (/\/signoff\//.test(id) ? signoff.wait() : null);
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  t.equal(agents.skills.slice(4).sort(), ['developer-fix', 'researcher-validate', 'reviewer-sign-off'], 'agents');
  t.equal(run.types.slice(-4), ['developer', 'reviewer', 'researcher', 'script-runner'], 'agent types');
  t.equal(signoff.waiting, 3, 'sign-off agents that run at the same time');
  t.ok(Math.max(...run.log.filter((entry) => entry.agent).map((entry) => entry.inFlight)) >= 3, 'fewer than three sub-agent requests in flight');
  t.equal(run.iterations.map((one) => one.agents), [1, 1, 1, 1, 1, 1, 3, 0], 'agents of each iteration');
  t.equal(fixture.subjects(), ['ADR-1: add the widget', 'ADR-1: fix the widget, 1'], 'commits on origin');
  t.ok(fixture.gh().some((line) => /^pr checks .*--watch/.test(line)), 'no command waited for the checks');
  t.equal(fixture.key('signoff_cycle_count'), '0', 'signoff_cycle_count');
  t.affordable(run);
  t.journal(fixture, 'success');
}

async function signoffRefused(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'reviewer-review': () => answer('changes_requested', '**must** it does not turn.'),
    'researcher-validate': (task, n) => (n === 1 ? answer('failed', '1. not met: no test') : answer('validated', '1. met')),
  });
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>fixing-pr fixing-pr>signoff signoff>done`);
  t.equal(fixture.key('review_fix_iteration'), '2', 'review_fix_iteration');
  t.journal(fixture, 'success');
}

async function validationFails(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'developer-implement'(task) {
      const good = DEFAULTS['developer-implement'].call(this, task);
      return { ...good, work: good.work.map((step) => (step.tool === 'Write' ? this.writeWidget('BROKEN\n') : step)) };
    },
    'developer-fix'(task, n) {
      if (!/BROKEN|\.log/.test(task.brief)) throw new Error(`the brief does not say what failed:\n${task.brief}`);
      return DEFAULTS['developer-fix'].call(this, task, n);
    },
  });
  const run = await t.run(fixture, agents, '/dev-team:dev-team implement-task ADR-1');
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, `${PREFIX} validating>fixing fixing>validating validating>reviewing reviewing>done`);
  t.equal(fixture.key('fix_iteration'), '1', 'fix_iteration');
  t.match(fixture.section('Fix 1'), /Fixed, 1/, 'Fix 1');
  t.equal(fixture.subjects(), ['ADR-1: add the widget', 'ADR-1: fix the widget, 1'], 'commits on origin');
  t.affordable(run);
  t.journal(fixture, 'success');
}

// Two sign-offs fail after a refused review; the troubleshooter decides about the demand and returns the work to sign-off.
async function reviewLoop(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'reviewer-review': () => answer('changes_requested', '**must** it does not turn.'),
    'reviewer-sign-off': (task, n) => (n <= 2 ? answer('changes_requested', '1. open: paint it') : answer('approved', '1. settled by the ruling')),
    troubleshooter(task) {
      t.match(task.brief, /^Trigger: review_loop$/m, 'the brief of the troubleshooter');
      return decide('continue', 'paint is outside the spec', [
        { section: 'Researcher Brief', text: `${fixture.section('Researcher Brief')}\nRuling: no paint.` },
        { key: 'state', value: 'signoff' },
      ]);
    },
  });
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills.filter((skill) => skill === 'troubleshooter').length, 1, 'calls of the troubleshooter');
  t.match(fixture.section('Researcher Brief'), /Ruling: no paint\.$/, 'Researcher Brief');
  t.equal(fixture.transitions().slice(-4), ['fixing-pr>signoff', 'signoff>fixing-pr', 'fixing-pr>signoff', 'signoff>done'], 'the last states');
  t.affordable(run);
  t.journal(fixture, 'success');
}

async function fix(t) {
  const fixture = t.fixture({ id: '444' });
  const agents = new Agents(fixture);
  const run = await t.run(fixture, agents, '/dev-team:fix 444');
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills.slice(0, 3), ['debugger-investigate', 'researcher-issue', 'developer-implement'], 'agents');
  t.states(fixture, 'init>debugging debugging>researching researching>implementing implementing>validating validating>reviewing reviewing>done');
  t.equal(fixture.subjects('dev-team/444'), ['444: add the widget'], 'commits on origin');
  t.affordable(run);
  t.journal(fixture, 'success');
}

async function fixNotReproduced(t) {
  const fixture = t.fixture({ id: '444' });
  const agents = new Agents(fixture, { 'debugger-investigate': () => answer('not_reproduced', 'Tried it: nothing.') });
  const run = await t.run(fixture, agents, '/dev-team:fix 444');
  t.sound(run);
  t.match(run.text, /^failed: /, 'result for the user');
  t.states(fixture, 'init>debugging debugging>failed');
}

export const workflows = [
  ['implement: the happy path', happy, { quick: true }],
  ['implement: changes requested, then three sign off at once', changesRequested],
  ['implement: a sign-off that fails is fixed and signed off again', signoffRefused],
  ['dev-team: a validation that fails is fixed', validationFails],
  ['implement: a review loop is ruled upon', reviewLoop],
  ['fix: from the debugger to done', fix],
  ['fix: not reproduced', fixNotReproduced],
];
