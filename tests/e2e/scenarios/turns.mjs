// A spec that is written with the user, and a work item that continues. A host of the client answers for the user.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Agents } from '../agents.mjs';
import { text, use } from '../apis.mjs';
import { HOSTED, permissionHost } from '../claude.mjs';
import { plugin } from '../fixture.mjs';
import { find } from '../model.mjs';
import { AUDIT, AUDITED } from '../scenario.mjs';

// The user types `prompts`, one after the other, and answers every question with `words`. `asked` gets the tools that the client
// asks the user for.
const host = (prompts, asked, words) => ({
  args: HOSTED,
  host: () => permissionHost(prompts, (tool, input) => {
    asked.push(tool);
    return tool === 'AskUserQuestion'
      ? { behavior: 'allow', updatedInput: { ...input, answers: { [input.questions[0].question]: words } } }
      : { behavior: 'deny', message: 'no' };
  }),
});

// The hooks are off: the step finds the item's workflow.
async function continuedWithoutHooks(t) {
  const fixture = t.fixture();
  fixture.addAuditWorkflow('reviewer');
  t.sound(await t.run(fixture, () => [text('Shall I go on?')], AUDIT));
  t.states(fixture, 'init>audit');
  const run = await t.run(fixture, new Agents(fixture), '/dev-team:continue ADR-1', { hooks: false });
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
  ['spec: written with the user, read by an agent, found by the step', spec],
  ['conductor: /dev-team:continue where hooks are off', continuedWithoutHooks],
];
