// Later turns of a session, and questions in it. A host of the client answers for the user.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Agents, asking } from '../agents.mjs';
import { use } from '../apis.mjs';
import { HOSTED, permissionHost } from '../claude.mjs';
import { plugin } from '../fixture.mjs';
import { find } from '../model.mjs';
import { AUDIT, AUDITED, IMPLEMENT } from '../scenario.mjs';
import { END } from './loop.mjs';

const script = { script: true };

// The user types `prompts`, one after the other, and answers every question with `words`. `asked` gets the tools that the client
// asks the user for.
const host = (prompts, asked, words) => ({
  args: HOSTED,
  host: () => permissionHost(prompts, (tool, input) => {
    asked.push(tool);
    return tool === 'AskUserQuestion'
      ? { behavior: 'allow', updatedInput: { ...input, answers: { [input.questions[0].question]: words } } }
      : { behavior: 'deny', message: 'no' };
  }, ({ result }) => result === 'The run goes on.'), // the script has been started
});

// The session ends its turn too early, with a question. In the next turn "continue" is all that the user types: what the slash
// command allowed is not allowed any more, but the user is asked for nothing. Then the loop asks the user, and goes on in the same turn.
const nextTurn = (form) => async (t) => {
  const fixture = t.fixture();
  const words = "sky 'blue' $(id)";
  const agents = new Agents(fixture, asking(words));
  agents.pause = 'Shall I go on?';
  const asked = [];
  const run = await t.run(fixture, agents, IMPLEMENT, { ...form, ...host([IMPLEMENT, 'continue'], asked, words) });
  t.sound(run);
  t.equal(asked, ['AskUserQuestion'], 'what the client asks the user');
  t.equal(run.events.find((event) => event.type === 'result').result, agents.pause, 'result of the first turn');
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, END);
  t.journal(fixture, 'success');
};

// The hooks are off: the step finds the item's workflow.
async function continuedWithoutHooks(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  const agents = new Agents(fixture);
  agents.pause = 'Shall I go on?';
  t.sound(await t.run(fixture, agents, AUDIT, script));
  t.states(fixture, 'init>audit');
  agents.pause = null;
  const run = await t.run(fixture, agents, '/dev-team:continue ADR-1', { ...script, hooks: false });
  t.sound(run);
  t.match(run.text, /^success: /, 'result for the user');
  t.states(fixture, AUDITED);
}

// The model does what the command says: it asks, writes, has the file read by an agent that knows only its path, and ends with a
// command. The step of that command finds the spec.
async function spec(t) {
  const fixture = t.fixture();
  const file = path.join(fixture.repo, '_spec_Greeting.md');
  const [asked, read] = [[], []];
  const model = ({ agent, messages, results, tools }) => {
    const texts = messages.flatMap((one) => one.blocks).map((one) => one.text ?? '').join('\n');
    if (agent) return read.push(texts) && 'ready';
    const said = (pattern) => find(texts, pattern, 'what the command says');
    const [question, written, ready] = results;
    if (!question) {
      said(/(Ask one question at a time)/);
      return [use(said(/with (\w+) if you have it/), { questions: [{ question: 'In which language?', header: 'spec', multiSelect: false,
        options: ['English', 'German'].map((label) => ({ label, description: label })) }] })];
    }
    if (!written) {
      const title = said(/Its title is `([^`]*)`/).replace('<ID>', 'ADR-7').replace('<what it does>', 'greet by name');
      return [use('Write', { file_path: file, content: `${title}\n\n${find(question, /(German)/, 'the answer')}.\n` })];
    }
    if (ready) return `${find(ready, /(ready)/, 'the review')}: ${said(/, and the command `([^`]*)`\./).replace('<ID>', 'ADR-7')}`;
    t.ok(tools.includes('Agent'), 'there is no tool Agent');
    return [use(said(/call the (\w+) tool, `subagent_type`/), { subagent_type: said(/`subagent_type` `([^`]*)`/), description: 'Read the spec',
      prompt: said(/with this prompt and nothing else:\s*`([^`]*)`/).replace('<path>', file), run_in_background: false })];
  };
  const run = await t.run(fixture, model, '/dev-team:spec', host(['/dev-team:spec ADR-7 greet by name'], asked, 'German'));
  t.sound(run);
  t.equal(asked, ['AskUserQuestion'], 'permission prompts');
  t.equal(run.text, 'ready: /dev-team:implement ADR-7', 'result for the user');
  t.match(read.join(), new RegExp(`Read '${file}'.*without guessing the expected value`), 'the prompt of the agent that reads');
  t.match(execFileSync(path.join(plugin, 'build/dev-team'), ['step', 'ADR-7', '--workflow', 'implement-task', '--repo', fixture.repo],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...t.environment(fixture, 'http://127.0.0.1:9') } }), /"args":"ADR-7 _spec_Greeting\.md"/, 'the step');
}

export const turns = [
  ['loop: "continue" in the next turn, and a question that is asked in the session', nextTurn(script)],
  ['conversation: "continue" in the next turn, and a question that is asked in the session', nextTurn({})],
  ['spec: written with the user, read by an agent, found by the step', spec],
  ['loop: /dev-team:continue where hooks are off', continuedWithoutHooks],
];
