// Runs with failures: silent agents, killed clients, questions to the user.

import fs from 'node:fs';
import { Agents, answer, asking, decide, DEFAULTS } from '../agents.mjs';
import { IMPLEMENT, PREFIX } from '../scenario.mjs';
import { Fifo } from '../sync.mjs';

export async function silentThenContinues(t, form = { cheap: (_, done) => t.affordable(done) }) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'researcher-plan': (task, n) => (n <= 3 ? { silent: true } : DEFAULTS['researcher-plan'](task, n)),
    troubleshooter(task) {
      if (!task.brief.includes('consecutive_failures')) throw new Error(`the brief does not name the trigger:\n${task.brief}`);
      return { work: [{ run: task.command('dev-team context show') }, { run: task.command('dev-team events') }],
        ...decide('continue', 'the limit was over') };
    },
  });
  const run = await t.run(fixture, agents, IMPLEMENT, form);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills.slice(0, 5), ['researcher-plan', 'researcher-plan', 'researcher-plan', 'troubleshooter', 'researcher-plan'], 'agents');
  t.equal(new Set(agents.calls).size, agents.calls.length, 'distinct ids');
  t.equal(fixture.events().filter((event) => event.type === 'failure').length, 3, 'failures');
  t.match(fixture.section('Troubleshooter Log'), /the limit was over/, 'Troubleshooter Log');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
  form.cheap(t, run);
  t.journal(fixture, 'success');
}

async function silentThenTerminated(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture, { 'researcher-plan': () => ({ silent: true }), troubleshooter: () => decide('terminate', 'the spec is empty') });
  const run = await t.run(fixture, agents, IMPLEMENT);
  t.sound(run);
  t.match(run.text, /^failed: .*the spec is empty/, 'result for the user');
  t.equal(fixture.key('state'), 'failed', 'state');
  t.journal(fixture, 'failed');
}

// The client is killed while the script runs. The script continues, and the next session waits for it.
async function killedInScript(t) {
  const fixture = t.fixture();
  const began = new Fifo(`${fixture.root}/began`);
  const go = new Fifo(`${fixture.root}/go`);
  fixture.write('scripts/validate.sh', 'echo run >>"$FAKE_ROOT/runs"; echo on >"$FAKE_ROOT/began"; read -r word <"$FAKE_ROOT/go"; echo "$word"\n');
  fixture.git('commit', '-q', '-am', 'Let the checks wait');
  fixture.git('push', '-q');
  try {
    const first = await t.run(fixture, new Agents(fixture), IMPLEMENT, { during: async (client) => {
      await began.read('the start of the script');
      process.kill(client.pid, 'SIGKILL');
    } });
    t.equal(first.signal, 'SIGKILL', 'how the first client ended');
    t.equal(fixture.key('state'), 'validating', 'state after the kill');
    const agents = new Agents(fixture);
    agents.before = (id) => (/\/validating\//.test(id) ? go.write() : null);
    const run = await t.run(fixture, agents, IMPLEMENT);
    t.sound(run);
    t.match(run.text, /^success: /, 'result for the user');
    t.equal(fs.readFileSync(`${fixture.root}/runs`, 'utf8'), 'run\n', 'runs of the script');
    t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
    t.journal(fixture, 'success');
  } finally {
    began.write();
    go.write();
  }
}

async function question(t) {
  const fixture = t.fixture();
  const words = 'sky "blue" $(id)';
  const agents = new Agents(fixture, asking(words));
  const first = await t.run(fixture, agents, IMPLEMENT);
  t.sound(first);
  t.equal(first.text, 'Shall the widget be red or blue?', 'result for the user');
  t.equal(fixture.key('state'), 'implementing', 'state');
  const run = await t.run(fixture, agents, `${IMPLEMENT} ${words}`);
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(fixture.key('troubleshooter_input'), '', 'troubleshooter_input');
  t.states(fixture, `${PREFIX} validating>reviewing reviewing>done`);
}

export const failures = [
  ['implement: a silent agent, and the troubleshooter continues', (t) => silentThenContinues(t)],
  ['implement: a silent agent, and the troubleshooter terminates', silentThenTerminated],
  ['implement: a client killed while a script runs; the script is not run twice', killedInScript, { quick: true }],
  ['implement: a question ends the run, its answer continues it', question],
];
