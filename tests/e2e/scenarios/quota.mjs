// What agents of the real client use, in the quota ledger.

import { Agents, DEFAULTS } from '../agents.mjs';
import { startApis, text, use } from '../apis.mjs';
import { startDevTeam } from '../fixture.mjs';
import { isConductor } from '../model.mjs';
import { AUDIT, AUDITED } from '../scenario.mjs';
import { gate, LIMIT } from '../sync.mjs';

const PLAN = `apiVersion: dev-team/v1
kind: SubscriptionPlan
metadata: {name: max}
spec: {harness: claude-code, billingMode: session-window, windowDuration: PT5H, windowQuotaTokens: 10000000}
`;

const pipeline = (name) => `apiVersion: dev-team/v1
kind: Pipeline
metadata: {name: ${name}}
spec:
  accountId: team
  subscriptionPlans: [max]
  stages:
    - {name: audit, estimatedTokens: {input: 250000, output: 40000, frozen: true}}
`;

function withPlan(fixture) {
  fixture.write('.dev-team/config.yaml', 'pipeline: p\n');
  fixture.write('.dev-team/resources/plan.yaml', PLAN);
  fixture.write('.dev-team/resources/pipeline.yaml', pipeline('p'));
}

// What the n-th request costs: no two the same, and no sum of some the sum of others.
const usageOf = (n) => ({ input: 1000 + 2 ** n, output: 10 + n, cached: 100 * n, written: 3 * n });

async function printed(t, fixture, ...words) {
  const { out, err, code } = await startDevTeam(words, { cwd: fixture.repo, env: t.environment(fixture, 'http://127.0.0.1:9') }).done;
  t.equal(code, 0, `exit code of ${words.join(' ')}; ${err}`);
  return out;
}

const ledger = async (t, fixture) => JSON.parse(await printed(t, fixture, 'ledger', 'status', '--json'));

// What `status` shows of an item is what the API sent for it; returns that text.
async function shows(t, fixture, id, sent) {
  const [input, output, cached] = [(one) => one.input, (one) => one.output, (one) => one.cached + one.written]
    .map((part) => sent.reduce((sum, one) => sum + part(one), 0));
  const { usage } = JSON.parse(await printed(t, fixture, 'status', id, '--json'));
  t.equal([usage?.input_tokens, usage?.output_tokens, usage?.cache_tokens], [input, output, cached], `tokens of status ${id} --json`);
  const text = `${input} + ${output} tokens, ${cached} cached`;
  for (const words of [['status', id], ['status']]) t.ok((await printed(t, fixture, ...words)).includes(text), `${words.join(' ')} does not show '${text}'`);
  return text;
}

const totalOf = ({ input, written, output }) => input + written + output;

// What the API sent to agents: input, what was written to a cache, and output. The words that the client asks of an agent that
// works long belong to no conversation.
const usagesTo = (log) => log.filter((entry) => entry.agent && !isConductor(entry) && entry.answer?.usage).map(({ answer: { usage } }) => usage);
const sentTo = (log) => usagesTo(log).reduce((sum, usage) => sum + totalOf(usage), 0);

// What `status` shows of these items of a session is what the API sent to their agents.
export async function showsSent(t, fixture, ids, log) {
  const shown = [];
  for (const id of ids) shown.push(JSON.parse(await printed(t, fixture, 'status', id, '--json')).usage);
  const sum = (list, part) => list.reduce((all, one) => all + (one ? part(one) : 0), 0);
  const sent = usagesTo(log);
  t.equal(['input_tokens', 'output_tokens', 'cache_tokens'].map((key) => sum(shown, (one) => one[key])),
    [(one) => one.input, (one) => one.output, (one) => one.cached + one.written].map((part) => sum(sent, part)), `tokens of status ${ids.join(', ')} --json`);
}

// Resolves when the item has ended.
async function ended(fixture, id) {
  fixture.id = id;
  for (const until = Date.now() + LIMIT; fixture.transitions().join(' ') !== AUDITED;) {
    if (Date.now() > until) throw new Error(`${id} does not end: ${fixture.transitions().join(' ')}`);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}

// Two items whose agents work at the same time. The user stops one of them after its first request; its action is repeated.
async function toTheToken(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  withPlan(fixture);
  const [stopped, works] = [gate(), gate()];
  const agents = new Agents(fixture, { 'widget-audit'({ id }) {
    const work = { 'ADR-1/audit/1': [{ run: 'echo one' }, { wait: stopped.wait }], 'ADR-2/audit/1': [{ run: 'echo two' }, { wait: works.wait }, { run: 'echo three' }] };
    return { work: work[id], ...DEFAULTS['widget-audit']() };
  } });
  let n = 0;
  agents.service = () => ({ usage: usageOf(++n) });
  const { log } = await t.interact(fixture, agents, 'manual', async (terminal) => {
    for (const id of ['ADR-1', 'ADR-2']) await terminal.type(AUDIT.replace('ADR-1', id));
    await stopped.reached;
    await works.reached;
    await terminal.type('/tasks');
    for (;;) {
      const chosen = /❯ ● (.*)/.exec(await terminal.shows(/❯ ● /))[1];
      if (chosen.startsWith('ADR-1/audit/1')) break;
      terminal.press('Down');
      await terminal.shows(new RegExp(`^(?![\\s\\S]*❯ ● ${chosen.slice(0, 10).replace(/[^\w ]/g, '.')})[\\s\\S]*❯ ● `));
    }
    terminal.press('x');
    await terminal.shows(/^(?![\s\S]*ADR-1.audit.1)/);
    terminal.press('Escape');
    await ended(fixture, 'ADR-1');
    works.open();
    await ended(fixture, 'ADR-2');
  });
  // Which of the first two asks first is not determined.
  t.equal(agents.calls.slice(0, 2).sort(), ['ADR-1/audit/1 widget-audit', 'ADR-2/audit/1 widget-audit'], 'agents');
  t.equal(agents.calls.slice(2), ['ADR-1/audit/2 widget-audit'], 'the agent that was asked for again');
  const [entry] = await ledger(t, fixture);
  t.equal(entry.windows[0].consumedTokens, sentTo(log), 'tokens');
  t.equal(entry.windows[0].reservedTokens, 0, 'reserved tokens');
  await showsSent(t, fixture, ['ADR-1', 'ADR-2'], log);
}

// `dev-team run`. The API is at its limit when the agent begins, which is over a few seconds later. The run waits, says so once, and
// goes on by itself; all that the API sent is in the ledger.
async function limited(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  withPlan(fixture);
  const sent = [];
  let first;
  const server = await startApis(({ session }) => {
    first ??= session;
    if (session === first) return { status: 429, message: 'Usage limit reached, resets in 4 seconds', code: 'rate_limit_error' };
    sent.push(usageOf(sent.length));
    return { blocks: sent.length === 1 ? [use('Bash', { command: 'true' })] : [text('It is there.\n{"status": "approved"}')], usage: sent.at(-1) };
  });
  try {
    const env = t.environment(fixture, server.url);
    env.PATH = [t.clients['claude-code'].bin, env.PATH].join(':');
    const run = await startDevTeam(['run', 'ADR-1', '--workflow', 'flow.md', '--pipeline', 'p',
      ...['GIT_SSH', 'GIT_SSH_VARIANT', 'FAKE_ROOT', 'GIT_CONFIG_NOSYSTEM'].flatMap((name) => ['--pass-env', name])], { cwd: fixture.repo, env }).done;
    if (server.errors.length) throw server.errors[0];
    t.equal(run.code, 0, `exit code; ${run.err}`);
    t.match(run.out, /^\[{"action":"done","result":"success"/, 'stdout');
    t.equal(run.err.match(/^ *[\d.]+s +waits +usage limit/gm)?.length, 1, `lines about the wait; ${run.err}`);
    t.equal(fixture.events().filter((event) => event.type === 'failure').length, 0, 'failures');
    t.equal(sent.length, 2, 'answered requests');
    const [entry] = await ledger(t, fixture);
    t.equal(entry.windows[0].consumedTokens, sent.reduce((sum, one) => sum + totalOf(one), 0), 'tokens');
    t.equal(entry.windows[0].reservedTokens, 0, 'reserved tokens');
    const text = await shows(t, fixture, 'ADR-1', sent);
    t.ok(run.err.match(/^ *total .*/m)?.[0].includes(text), `the total is not '${text}'; ${run.err}`);
    t.states(fixture, AUDITED);
  } finally {
    await server.stop();
  }
}

export const quota = [
  ['quota: a limit in the middle of a run, the wait, and the run that goes on, to the token', limited],
  ['quota: two agents at the same time, one of them stopped by the user, to the token', toTheToken],
];
