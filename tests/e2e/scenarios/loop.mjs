// The loop as a script of the client's Workflow tool, and the same by a conductor.

import path from 'node:path';
import { Agents, answer, asking, DEFAULTS, HOSTILE_LINE, implementsThenWaits, writes } from '../agents.mjs';
import { use } from '../apis.mjs';
import { bytesOf } from '../model.mjs';
import { AUDIT, AUDITED, IMPLEMENT, PREFIX } from '../scenario.mjs';
import { barrier, breakpoint, gate } from '../sync.mjs';
import { silentThenContinues } from './failures.mjs';
import { showsSent } from './quota.mjs';

export const END = `${PREFIX} validating>reviewing reviewing>done`;
const REQUESTS = 3; // of the main conversation, however long the run is: the start, the launch, the end
const BYTES = 5120; // that a run adds to the main conversation
const script = { script: true, cheap };
const conductor = { terminal: 'manual' };

export const mainOf = (run) => run.log.filter((entry) => !entry.agent && entry.tools.length);

// What the run added to the main conversation: its last request, less the first one.
export function added(run) {
  const [first, last] = [mainOf(run)[0], mainOf(run).at(-1)].map((entry) => bytesOf(entry.messages.flatMap((message) => message.blocks)));
  return last + bytesOf(mainOf(run).at(-1).answer) - first;
}

export function cheap(t, run, requests = REQUESTS) {
  t.equal(mainOf(run).length, requests, 'requests of the main conversation');
  t.ok(added(run) <= BYTES, `the run adds ${added(run)} bytes to the main conversation`);
}

async function happy(t) {
  const fixture = t.fixture();
  const agents = new Agents(fixture);
  const run = await t.run(fixture, agents, IMPLEMENT, script);
  t.sound(run);
  cheap(t, run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills, ['researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(run.types, [], 'agents that the main conversation started');
  t.states(fixture, END);
  t.journal(fixture, 'success');
  t.match(fixture.section('Researcher Brief'), HOSTILE_LINE, 'the hostile text');
  t.equal(fixture.subjects(), ['ADR-1: add the widget'], 'commits on origin');
  // Six calls are the work: four of the developer's, two to make and read the pull request.
  t.note(`figures: the loop as a script: ${run.log.length} requests, ${mainOf(run).length} of them in the main conversation, ` +
    `to which the run adds ${added(run)} bytes; ${run.seconds.toFixed(1)} s`);
}

// Two validations fail, and the review asks for a change; two agents and a script sign off.
const longWay = (form) => async (t) => {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'developer-implement': writes('developer-implement', 'BROKEN\n'),
    'developer-fix'(task, n) {
      return (n === 1 ? writes('developer-fix', 'BROKEN too\n') : DEFAULTS['developer-fix']).call(this, task, n);
    },
    'reviewer-review': () => answer('changes_requested', '**must** src/widget.txt:1: it does not turn.'),
  });
  const both = barrier(2);
  agents.before = (id) => (/\/signoff\//.test(id) ? both.wait() : null);
  let n = 0;
  agents.service = ({ agent }) => (agent ? { usage: { input: 1000 + 7 * ++n, output: 10 + n * n, cached: 100 * n, written: 3 * n } } : {});
  const run = await t.finish(fixture, agents, IMPLEMENT, form);
  form.cheap?.(t, run);
  t.states(fixture, `${PREFIX} validating>fixing fixing>validating validating>fixing fixing>validating validating>reviewing ` +
    'reviewing>fixing-pr fixing-pr>signoff signoff>done');
  t.equal(agents.skills.slice(6).sort(), ['developer-fix', 'researcher-validate', 'reviewer-sign-off'], 'agents');
  t.equal(both.waiting, 2, 'sign-off agents that run at the same time');
  t.equal(fixture.events().filter((event) => event.type === 'answer' && /\/signoff\//.test(event.action)).length, 3, 'answers of the sign-off');
  t.equal(eventsOf(fixture, 'failure').length, 0, 'failures');
  t.journal(fixture, 'success');
  await showsSent(t, fixture, [fixture.id], run.log);
};

const eventsOf = (fixture, type) => fixture.events().filter((event) => event.type === type);
const dies = { status: 400, message: 'no', code: 'invalid_request_error' };
const OTHER = 'Something else.';

// The researcher dies, and the next one answers twice; the client runs both calls at once: either may be the one that is recorded.
// The others are refused, and correct what they said.
async function corrected(t) {
  const fixture = t.fixture();
  const at = (skill, part) => ({ [skill](task, n) { return { ...DEFAULTS[skill].call(this, task, n), ...part(n) }; } });
  const agents = new Agents(fixture, {
    ...at('researcher-plan', (n) => (n === 1 ? { dies } : { also: { text: `${OTHER}\n{"status": "briefed"}` } })),
    ...at('developer-implement', () => ({ refused: [
      [{ id: 'ADR-1/implementing/9' }, /must be equal to one of the allowed values: ."ADR-1.implementing.1"/],
      [{ word: 'splendid' }, /unknown result 'splendid': must be implemented \| /]] })),
    ...at('developer-create-pr', () => ({ refused: [[{ word: 'failed' }, /result 'failed' contradicts the answer's own 'pr_created'/]] })),
    ...at('reviewer-review', () => ({ prose: 'It is good.' })),
  });
  const run = await t.run(fixture, agents, IMPLEMENT, script);
  t.sound(run);
  cheap(t, run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(agents.skills, ['researcher-plan', 'researcher-plan', 'developer-implement', 'developer-create-pr', 'reviewer-review'], 'agents');
  t.equal(eventsOf(fixture, 'failure').map((event) => event.action), ['ADR-1/researching/1'], 'failures');
  const refused = eventsOf(fixture, 'refusal').map((event) => event.action.split('/')[1]);
  // The second of the two answers is refused, too, if both came before one was recorded.
  t.equal(refused.filter((state) => state !== 'researching'), ['implementing', 'implementing', 'reviewing'], 'refusals');
  t.ok(refused.length <= 4, 'refused answers of the researcher');
  t.ok(fixture.context().includes(OTHER) !== HOSTILE_LINE.test(fixture.context()), 'the document has both answers, or none');
  t.equal(eventsOf(fixture, 'answer').filter((event) => /researching/.test(event.action)).map((event) => event.action), ['ADR-1/researching/2'], 'recorded answers');
  t.equal(eventsOf(fixture, 'dispatch').filter((event) => /researching/.test(event.action)).length, 2, 'requests');
  t.states(fixture, END);
  t.journal(fixture, 'success');
}

// The same with a conductor. It starts an agent for an id that is not open, and the second researcher twice.
const correctedByConductor = (form) => async (t) => {
  const fixture = t.fixture();
  const agents = new Agents(fixture, {
    'researcher-plan': (task, n) => ({ ...DEFAULTS['researcher-plan'](task, n), ...(n === 1 ? { dies } : {}) }),
    'developer-implement'(task, n) {
      return { ...DEFAULTS['developer-implement'].call(this, task, n), first: 'Done.\n{"status": "splendid"}',
        wrong: /unknown result 'splendid': must be implemented \| / };
    },
    'reviewer-review': (task) => ({ ...DEFAULTS['reviewer-review'](task), first: 'It is good.' }),
  });
  agents.start = (calls) => {
    if (!calls[0].input.prompt.endsWith('/researching/2')) return [calls];
    const again = (input) => calls.map((one) => use(one.name, { ...one.input, ...input(one) }));
    return [again(({ input }) => ({ prompt: input.prompt.replace(/2$/, '9') })), [...calls, ...again(() => ({}))]];
  };
  const run = await t.finish(fixture, agents, IMPLEMENT, { ...form, denied: 1 });
  t.match(JSON.stringify(run.log.map(({ news }) => news)), /'ADR-1\/researching\/9' is no open action; open are: ADR-1\/researching\/2/, 'the denial');
  t.equal(eventsOf(fixture, 'failure').map((event) => event.action), ['ADR-1/researching/1'], 'failures');
  t.equal(eventsOf(fixture, 'answer').filter((event) => /researching/.test(event.action)).map((event) => event.action), ['ADR-1/researching/2'], 'recorded answers');
  t.match(fixture.section('Researcher Brief'), HOSTILE_LINE, 'Researcher Brief');
  if (run.iterations) t.affordable({ iterations: run.iterations.slice(2) }); // the first ones have the client's own words, which are long
  t.states(fixture, END);
  t.journal(fixture, 'success');
};

// Two clients are killed while an agent works. The same command continues in a new session, which is killed after its developer has
// committed. Then the client continues that session. While its agent works another session is refused.
const interrupted = (form) => async (t) => {
  const fixture = t.fixture();
  const killedIn = async (state, point, parts) => {
    const agents = new Agents(fixture, parts);
    const run = await t.run(fixture, agents, IMPLEMENT, { ...form, during: async (client) => {
      await point.reached;
      process.kill(client.pid, 'SIGKILL');
    } });
    t.equal(run.signal, 'SIGKILL', 'how the client ended');
    t.equal(fixture.key('state'), state, 'state after the kill');
    if (form.script) t.equal(mainOf(run).length, 2, 'requests of the main conversation');
    return agents.calls;
  };
  const [began, committed, works] = [breakpoint(), breakpoint(), gate()];
  await killedIn('researching', began, { 'researcher-plan': () => ({ work: [{ wait: began.block }] }) });
  const calls = await killedIn('implementing', committed, { 'developer-implement': implementsThenWaits(committed.block) });
  t.equal(calls, ['ADR-1/researching/2 researcher-plan', 'ADR-1/implementing/1 developer-implement'], 'agents after the first kill');
  t.equal(eventsOf(fixture, 'lease').map((event) => [event.fence, event.reason]), [[2, 'its client has ended']], 'leases');

  const agents = new Agents(fixture, {
    'developer-implement': () => ({ work: [{ wait: works.wait }], ...answer('implemented', 'It had been done.') }),
  });
  const run = await t.run(fixture, agents, IMPLEMENT, { ...form, args: ['--continue'], during: async () => {
    await works.reached;
    const before = fixture.context();
    const second = await t.run(fixture, new Agents(fixture), IMPLEMENT, form);
    t.sound(second);
    t.match(second.text, /'ADR-1' is held by '[-0-9a-f]{36}' since .*, until .*; to take it over: --owner NAME --take-over/, 'what the second session says');
    t.equal(second.log.length, 1, 'requests of the second session');
    t.equal(fixture.context(), before, 'the document after the refusal');
    works.open();
  } });
  t.sound(run);
  t.match(agents.calls[0], /^ADR-1\/implementing\/[12] developer-implement$/, 'the first agent of the continued session');
  t.equal(fixture.subjects(), ['ADR-1: add the widget'], 'commits on origin');
  t.equal(eventsOf(fixture, 'failure').length, 0, 'failures');
  t.states(fixture, END);
  t.journal(fixture, 'success');
};

async function question(t) {
  const fixture = t.fixture();
  const words = 'sky "blue" $(id)';
  const agents = new Agents(fixture, asking(words, 'researcher-plan'));
  const first = await t.run(fixture, agents, IMPLEMENT, script);
  t.sound(first);
  cheap(t, first);
  t.equal(first.text, 'Shall the widget be red or blue?', 'result for the user');
  t.equal(agents.skills, ['researcher-plan', 'troubleshooter'], 'agents before the answer');
  const run = await t.run(fixture, agents, `${IMPLEMENT} ${words}`, script);
  t.sound(run);
  cheap(t, run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, END);
}

// An agent that the plugin has no type for: the task-runner stands in.
async function standIn(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('auditor');
  const run = await t.run(fixture, new Agents(fixture), AUDIT, script);
  t.sound(run);
  cheap(t, run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, AUDITED);
}

// The tool with the name of the script, in a session that drives no work item.
async function strange(t) {
  const fixture = t.fixture();
  const model = ({ results }) => (results.length ? results.at(-1) : [use('Workflow', { name: 'dev-team:loop', args: { id: 'ADR-1' } })]);
  const run = await t.run(fixture, model, 'Go.', { ...script, args: ['--allowedTools', 'Workflow'] });
  if (run.errors.length) throw run.errors[0];
  t.match(JSON.stringify(mainOf(run).at(-1).messages), /the hook of the plugin did not answer/, 'what the script returns');
}

// The hooks are off: the command's text is all that there is. The agents that work have the session's MCP servers and the web; the
// one that only runs a script has neither.
async function withoutHooks(t) {
  const fixture = t.fixture();
  const config = JSON.stringify({ mcpServers: { tracker: { command: process.execPath, args: [path.join(fixture.bin, 'tracker.mjs')] } } });
  const run = await t.run(fixture, new Agents(fixture), IMPLEMENT, { hooks: false, args: ['--mcp-config', config] });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, END);
  t.note(`figures: the loop without hooks: ${run.log.length} requests, at most ${t.affordable(run, 1640)} bytes an iteration`);
  for (const [role, reaches] of [['You are the researcher', true], ['You are the developer', true], ['You are the reviewer', true],
    ['You run one script', false]]) {
    const entry = run.log.find(({ system }) => system.includes(role));
    t.ok(entry, `no request of '${role}'`);
    for (const tool of ['mcp__tracker__issue', 'WebFetch'])
      t.equal(JSON.stringify(entry?.body).includes(tool), reaches, `${role}: ${tool}`);
  }
}

// Another session takes the item while an agent works: its answer does not count, and its session steps no more.
async function takenOver(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const [began, taken, ended] = [barrier(2), barrier(2), barrier(2)];
  const waits = (...barriers) => new Agents(fixture, {
    'widget-audit': () => ({ work: barriers.map((one) => ({ wait: () => one.wait() })), ...answer('approved', 'It is there.') }) });
  let second;
  const first = await t.run(fixture, waits(began, taken), AUDIT, {
    during: async () => {
      await began.wait();
      second = t.run(fixture, waits(taken, ended), `${AUDIT} take over`);
    } });
  t.sound(first);
  t.match(first.text, /is held by/, 'result of the first session');
  await ended.wait();
  const run = await second;
  t.sound(run);
  t.match(run.text, /^success: /, 'result of the second session');
  t.equal(eventsOf(fixture, 'answer').map((event) => event.action), ['ADR-1/audit/2'], 'answers');
  t.states(fixture, AUDITED);
}

export const loop = [
  ['loop: the happy path', happy, { versions: true }],
  ['loop: two validations fail, changes are requested, then two agents and a script sign off at once', longWay(script)],
  ['conductor: two validations fail, changes are requested, then two agents and a script sign off at once', longWay({})],
  ['terminal: two validations fail, changes are requested, then two agents and a script sign off at once', longWay(conductor)],
  ['loop: a silent agent is asked again, then the troubleshooter continues', (t) => silentThenContinues(t, script)],
  ['loop: an agent that dies is asked again; two answers, another id, another word, a contradiction and prose alone are corrected', corrected],
  ['loop: killed clients: the same command continues, and so does the session; another one is refused', interrupted(script)],
  ['loop: a question of the researcher ends the run, its answer continues it', question],
  ['loop: an agent without a type of its own', standIn],
  ['loop: a script that nobody began', strange],
  ['conductor: an agent that dies is asked again; another word, prose alone, a wrong id and an answer given twice are corrected', correctedByConductor({})],
  ['terminal: an agent that dies is asked again; another word, prose alone, a wrong id and an answer given twice are corrected', correctedByConductor(conductor)],
  ['conductor: killed clients: the same command continues, and so does the session; another one is refused', interrupted({})],
  ['conductor: another session takes the item over', takenOver],
  ['conductor: the happy path without hooks, and agents that reach the MCP servers', withoutHooks, { versions: true }],
];
