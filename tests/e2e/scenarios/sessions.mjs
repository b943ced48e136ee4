// Sessions beside and after each other, and sessions in which something is missing.

import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer } from '../agents.mjs';
import { text, use } from '../apis.mjs';
import { HOSTED, permissionHost } from '../claude.mjs';
import { find } from '../model.mjs';
import { AUDIT, AUDITED, IMPLEMENT, NOBODY } from '../scenario.mjs';
import { barrier, LIMIT } from '../sync.mjs';

const script = { script: true };
const conductor = { terminal: 'manual' };
const EDITS = ['--permission-mode', 'acceptEdits'];

const words = (news) => news.map((one) => one.text ?? '').join('\n');

// A conductor that does nothing is sent back three times, each time with the next step. The resumed session is told what is in
// progress.
async function stopsAndResumes(t) {
  const fixture = t.fixture();
  const lazy = await t.run(fixture, () => [text('I am done.')], IMPLEMENT);
  t.sound(lazy);
  const reasons = lazy.log.slice(1).map((entry) => /dev-team: ADR-1 has not ended; run `(dev-team step [^`]*)`/.exec(words(entry.news))?.[1]);
  t.equal(reasons.length, 3, 'requests after the first one');
  t.ok(reasons.every((step) => /^dev-team step 'ADR-1' --workflow 'implement-task' --owner '[-0-9a-f]+'$/.test(step)), () => `steps: ${reasons}`);

  const { session_id: session } = lazy.result;
  const resumed = await t.run(fixture, ({ news }) => [text(words(news))], 'continue', { args: ['--resume', session] });
  t.sound(resumed);
  t.equal(resumed.result.session_id, session, 'the resumed session');
  t.match(resumed.text, /dev-team: ADR-1 is in progress \(researching, 1 action open\); continue with \/dev-team:implement ADR-1, or with `dev-team step [^`]*` and the array that it prints$/m, 'what it knows');
  t.equal(resumed.log.length, 1, 'requests of the resumed session');
}

// Sessions of other processes find the workflow of the item, and end it.
async function continuesAndCancels(t) {
  const fixture = t.fixture();
  const asks = () => [text('Go on?')];
  t.sound(await t.run(fixture, asks, IMPLEMENT));
  const continued = await t.run(fixture, asks, '/dev-team:continue ADR-1 use C');
  t.sound(continued);
  t.ok(/ STEP: `dev-team step 'ADR-1' --workflow 'implement-task' --owner '[-0-9a-f]+'`$/m.test(words(continued.log[0].news)), 'the prompt has no STEP');
  const cancelled = await t.run(fixture, () => [text('Cancelled.')], '/dev-team:cancel ADR-1');
  t.sound(cancelled);
  t.ok(/ADR-1: cancelled by the user$/m.test(words(cancelled.log[0].news)), 'the prompt does not say that it is cancelled');
  t.equal(cancelled.log.length, 1, 'requests');
  t.journal(fixture, 'failed');
}

// Two sessions in one repository; the agents of both work at the same time.
const twoItems = (form) => async (t) => {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const both = barrier(2);
  await Promise.all(['ADR-1', 'ADR-2'].map((id) => {
    const agents = new Agents(fixture, { 'widget-audit': () => ({ work: [{ wait: () => both.wait() }], ...answer('approved', `${id} is there.`) }) });
    return t.finish(fixture, agents, `/dev-team:dev-team flow.md ${id}`, form);
  }));
  for (const id of ['ADR-1', 'ADR-2']) {
    fixture.id = id;
    t.match(fixture.section('Audit'), new RegExp(`^${id} is there`), `the answer of ${id}`);
    t.states(fixture, AUDITED);
  }
};

// In plan mode nothing is started, whatever the model would do.
const planMode = (form) => async (t) => {
  const fixture = t.fixture();
  const run = await t.run(fixture, () => [text('A plan.')], IMPLEMENT, { ...form, args: ['--permission-mode', 'plan'] });
  t.equal(run.log.length, 0, 'requests');
  t.match(JSON.stringify(run.events), /plan mode/, 'what the user is shown');
  t.ok(!fs.existsSync(fixture.contextFile), 'an item was begun');
};

async function planModeInTerminal(t) {
  const fixture = t.fixture();
  const run = await t.interact(fixture, new Agents(fixture), 'plan', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(/dev-team: in plan mode nothing is started/);
  });
  t.equal(run.log.length, 0, 'requests');
  t.ok(!fs.existsSync(fixture.contextFile), 'an item was begun');
}

const UNBUILT = /the program is missing: run 'make' in/;

// Without the program the hooks block nothing, and the command says what to do, with `-p` and in the interactive client.
async function noProgram(t) {
  const fixture = t.fixture();
  const plugin = fixture.copyPlugin();
  fs.rmSync(path.join(plugin, 'build/dev-team'));
  const run = await t.run(fixture, ({ results }) => [results.length ? text(results.at(-1)) : use('Bash', { command: 'echo it runs' })], 'Go.',
    { plugin, args: ['--allowedTools', 'Bash'] });
  t.sound(run);
  t.equal(run.text, 'it runs', 'the output of the tool');
  const asked = await t.run(fixture, ({ news }) => [text(find(words(news), /If the program is missing, see `(.*README.md)`/, 'where help is'))],
    IMPLEMENT, { plugin });
  t.sound(asked);
  t.equal(asked.text, path.join(plugin, 'README.md'), 'where the user finds help');
  const tried = await t.run(fixture, new Agents(fixture), IMPLEMENT, { plugin });
  t.sound(tried);
  t.match(tried.text, UNBUILT, 'what the command shows');
  await t.interact(fixture, new Agents(fixture), 'manual', async (terminal) => {
    await terminal.type(IMPLEMENT);
    await terminal.shows(UNBUILT);
    await terminal.type('Hello there');
    await terminal.shows(/Hello\./);
  }, { plugin });
}

// The client runs as a user without any rights of root.
const otherUser = (form) => async (t) => {
  const user = NOBODY;
  const fixture = t.fixture();
  if (process.getuid() !== 0) return t.note('every scenario runs as another user');
  fixture.addAuditWorkflow('reviewer');
  const run = await t.run(fixture, new Agents(fixture), AUDIT, { ...form, user });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.equal(fs.statSync(fixture.contextFile).uid, user, 'owner of the document');
  t.states(fixture, AUDITED);
  return undefined;
};

// The client runs no hooks. Then the command takes an id only.
const hooksOff = (form) => async (t) => {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const refused = await t.run(fixture, new Agents(fixture), `${AUDIT} greet $(touch p)`, { hooks: false });
  t.sound(refused);
  t.match(refused.text, /reads the text from standard input/, 'result for the user');
  t.equal(fs.existsSync(fixture.contextFile), false, 'a document was made');
  await t.finish(fixture, new Agents(fixture), AUDIT, { ...form, hooks: false });
  t.states(fixture, AUDITED);
};

// The user types the command for the second item when the first has ended.
async function oneAfterTheOther(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const prompts = [AUDIT, AUDIT.replace('ADR-1', 'ADR-2')];
  const run = await t.run(fixture, new Agents(fixture), null, { args: HOSTED, host: () => permissionHost(prompts, () => ({ behavior: 'deny', message: 'no' })) });
  t.sound(run);
  for (const [i, { result }] of run.events.filter((event) => event.type === 'result').entries()) t.match(result, /^success: /, prompts[i]);
  for (fixture.id of ['ADR-1', 'ADR-2']) t.states(fixture, AUDITED);
}

// The user's rules come before what the hook allows: one command is denied, and so is another, since there is nobody to ask.
async function userRules(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const agents = new Agents(fixture, { 'widget-audit': () => ({
    work: [{ run: 'echo one', refused: /denied/ }, { run: 'echo two', refused: /permission/ }], ...answer('approved', 'It is there.') }) });
  await t.finish(fixture, agents, AUDIT, { denied: 2, permissions: { deny: ['Bash(echo one)'], ask: ['Bash(echo two)'] } });
  t.states(fixture, AUDITED);
}

// Without hooks, or without the program, the script cannot run; its command says what does without.
async function scriptWithout(t) {
  const fixture = t.fixture();
  const plugin = fixture.copyPlugin();
  fs.rmSync(path.join(plugin, 'build/dev-team'));
  const model = ({ news }) => [text(find(words(news), /the script cannot run: say that `(.*) <ID>` does without it/, 'what the command says'))];
  for (const missing of [{ hooks: false }, { plugin }]) {
    const run = await t.run(fixture, model, IMPLEMENT, { ...script, ...missing });
    t.sound(run);
    t.equal(run.text, '/dev-team:implement', 'what the user hears');
    t.ok(!fs.existsSync(fixture.contextFile), 'an item was begun');
  }
}

// The hook of the command hangs, and the client ends it at its time limit. It tells nobody; the command's text says what to do.
async function hookHangs(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const plugin = fixture.changePlugin('hooks/hooks.json', '"UserPromptExpansion"], "timeout": 600', '"UserPromptExpansion"], "timeout": 1');
  const launcher = path.join(plugin, 'bin/dev-team');
  fs.renameSync(launcher, `${launcher}.real`);
  fs.writeFileSync(launcher, `#!/bin/sh\n[ "$2" != UserPromptExpansion ] || exec sleep ${LIMIT / 1000}\n. '${launcher}.real'\n`, { mode: 0o755 });
  const refused = await t.run(fixture, new Agents(fixture), `${AUDIT} greet $(touch p)`, { plugin });
  t.sound(refused);
  t.match(refused.text, /^no hook answered: .* reads the text from standard input/, 'result for the user');
  const run = await t.run(fixture, new Agents(fixture), AUDIT, { plugin });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, AUDITED);
}

export const sessions = [
  ['loop: two sessions work on two items', twoItems(script)],
  ['conductor: two sessions work on two items', twoItems({})],
  ['terminal: two sessions work on two items', twoItems(conductor)],
  ['conductor: two items in one session', oneAfterTheOther],
  ['conductor: rules of the user that deny and ask', userRules],
  ['loop: plan mode starts nothing', planMode(script)],
  ['conductor: plan mode starts nothing', planMode({})],
  ['terminal: plan mode starts nothing', planModeInTerminal],
  ['conductor: the program is missing, also in the terminal', noProgram],
  ['loop: another user than root', otherUser(script), { versions: true }],
  ['conductor: another user than root', otherUser({}), { versions: true }],
  ['loop: another user than root, edits accepted', otherUser({ ...script, args: EDITS }), { versions: true }],
  ['conductor: another user than root, edits accepted', otherUser({ args: EDITS }), { versions: true }],
  ['conductor: hooks are off', hooksOff({})],
  ['terminal: hooks are off', hooksOff(conductor)],
  ['loop: hooks are off, or the program is missing', scriptWithout],
  ['conductor: the hook of the command hangs', hookHangs],
  ['sessions: a turn that ends too early is continued, and a resumed session goes on', stopsAndResumes],
  ['sessions: an item is continued and cancelled by its id', continuesAndCancels],
];
