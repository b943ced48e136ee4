// Each path through the two workflows, to each of their ends.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer, decide, DEFAULTS, HOSTILE_LINE, writes } from '../agents.mjs';
import { IMPLEMENT, PREFIX } from '../scenario.mjs';
import { barrier } from '../sync.mjs';
import { mainOf } from './loop.mjs';

const REQUESTS = 13; // of the main conversation, without a terminal

async function happy(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(run.types, ['researcher', 'developer', 'developer', 'reviewer'], 'agent types');
  t.ok(run.log.length <= 24, `${run.log.length} requests`);
  t.ok(mainOf(run).length <= REQUESTS, `${mainOf(run).length} requests of the main conversation`);
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
  t.match(shown.text, /^ADR-1: done[^]*pull request +https:.*\/pull\/7/, 'output of status');
  t.note(`figures: happy path in the real client: ${run.log.length} requests, ${mainOf(run).length} of them in the main conversation; ${run.seconds.toFixed(1)} s`);
}

// A person's comment on a line reaches the reviewer and the developer, who answers it; then it is open no more.
async function commented(t) {
  const fixture = t.fixture();
  fs.writeFileSync(path.join(fixture.root, 'comment'), 'Paint it.');
  const seen = /^### Pull Request Comments\n\n> https:\/\/github\.com\/org\/repo\/pull\/7#discussion_r52: ada \(MEMBER\) on src\/widget\.txt:1\n> > Paint it\.\n/m;
  const agents = new Agents(fixture, {
    'reviewer-review'(task) {
      t.match(task.brief, seen, 'the brief of the reviewer');
      return answer('changes_requested', '1. **must** src/widget.txt:1: ada asks: "Paint it." (discussion_r52)');
    },
    'developer-fix'(task, n) {
      t.match(task.brief, seen, 'the brief of the developer');
      const good = DEFAULTS['developer-fix'].call(this, task, n);
      const reply = task.command("gh api 'repos").replace('NUMBER', 7).replace('ID', 52);
      const mark = task.command('<!-- dev-team').replace('ID', 52);
      return { ...good, work: [...good.work, { run: `printf 'It is painted.\\n\\n${mark}\\n' | ${reply}` }] };
    },
    'reviewer-sign-off'(task) {
      t.ok(!task.brief.includes('Paint it'), 'the answered comment is in the brief of the sign-off');
      return answer('approved', '1. resolved');
    },
  });
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>fixing-pr fixing-pr>signoff signoff>done`);
  t.equal(fs.readFileSync(path.join(fixture.root, 'reply'), 'utf8'), 'It is painted.\n\n<!-- dev-team: 52 -->\n', 'the reply');
}

// Two validations fail, the review asks for a change, two sign-offs fail, and the troubleshooter decides about the demand and
// returns the work to sign-off.
async function longWay(t) {
  const fixture = t.fixture();
  const both = barrier(2);
  const agents = new Agents(fixture, {
    'developer-implement': writes('developer-implement', 'BROKEN\n'),
    'developer-fix'(task, n) {
      if (n <= 2 && !/^> src is BROKEN$/m.test(task.brief)) throw new Error(`the brief does not say what failed:\n${task.brief}`);
      return (n === 1 ? writes('developer-fix', 'BROKEN too\n') : DEFAULTS['developer-fix']).call(this, task, n);
    },
    'reviewer-review': () => answer('changes_requested', '**must** src/widget.txt:1: it does not turn.'),
    'researcher-validate': (task, n) => (n === 1 ? answer('failed', '1. not met: no test') : answer('validated', '1. met')),
    'reviewer-sign-off': (task, n) => (n <= 2 ? answer('changes_requested', '1. open: paint it') : answer('approved', '1. settled')),
    troubleshooter(task) {
      t.match(task.brief, /^Trigger: signoff_deadlock$/m, 'the brief of the troubleshooter');
      return decide('continue', 'paint is outside the spec', [
        { section: 'Researcher Brief', text: `${fixture.section('Researcher Brief')}\nRuling: no paint.` },
        { key: 'state', value: 'signoff' },
      ]);
    },
  });
  agents.before = (id) => (/\/signoff\/[12]$/.test(id) ? both.wait() : null);
  const run = await t.run(fixture, agents, '/dev-team:dev-team implement-task ADR-1');
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, `${PREFIX} validating>fixing fixing>validating validating>fixing fixing>validating validating>reviewing ` +
    'reviewing>fixing-pr fixing-pr>signoff signoff>fixing-pr fixing-pr>signoff signoff>fixing-pr fixing-pr>signoff signoff>done');
  const signsOff = (skills) => skills.filter((skill) => /sign-off|researcher-validate/.test(skill)).length;
  t.equal(signsOff(agents.skills), 6, 'sign-offs');
  t.equal(both.waiting, 2, 'sign-off agents that run at the same time');
  t.equal(run.iterations.map((one) => one.agents), [1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 1, 2], 'agents of each iteration');
  t.ok(Math.max(...run.log.filter((entry) => entry.agent).map((entry) => entry.inFlight)) >= 2, 'fewer than two sub-agent requests in flight');
  t.equal(agents.skills.filter((skill) => skill === 'troubleshooter').length, 1, 'calls of the troubleshooter');
  t.equal(['fix_iteration', 'review_fix_iteration'].map((key) => fixture.key(key)), ['2', '2'], 'counters');
  t.match(fixture.section('Fix 1'), /Fixed, 1/, 'Fix 1');
  t.match(fixture.section('Researcher Brief'), /Ruling: no paint\.$/, 'Researcher Brief');
  t.equal(fixture.subjects(), ['ADR-1: add the widget', ...[1, 2, 3, 4].map((n) => `ADR-1: fix the widget, ${n}`)], 'commits on origin');
  t.ok(fixture.gh().filter((line) => /^pr checks /.test(line)).length > 3, 'the sign-off did not read the checks, only the three fixes did');
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
  ['implement: the happy path', happy, { quick: true, versions: true }],
  ['implement: a comment on the pull request is answered', commented],
  ['dev-team: two validations fail, changes are requested, two sign-offs fail, and the review loop is ruled upon', longWay],
  ['fix: from the debugger to done', fix],
  ['fix: not reproduced', fixNotReproduced],
];
