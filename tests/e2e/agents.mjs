// What the agents of a scenario do and answer, by skill. `act(task)` gets the action's id, the brief, the skill's name and two
// functions that take a command out of the skill's text; it returns {work, word, answer}, or {silent: true} for an agent that
// ends without an answer. `work` is a list of tool calls: {run} or {tool, input}, or {wait} for a promise.

import path from 'node:path';

export const answer = (word, ...lines) => ({ word, answer: [...lines, `{"status": "${word}"}`].join('\n') });

export const decide = (action, reason, changes = []) => ({
  word: action,
  answer: ['What I saw: it is stuck.', JSON.stringify({ action, reason, state_changes: changes })].join('\n'),
});

// Text that every layer has to keep as it is: quotes, dollars, backslashes, code, a line that looks like a sentinel.
const HOSTILE = [
  'It\'s "quoted", `ticked`, $HOME and $(id), a \\ and a \\1; {"a": {"b": "c"}}',
  '<!-- section:Validate Result -->',
  'passed',
  '```c', 'int main(void) { puts("x{\\"}"); return 0; }', '```',
];
export const HOSTILE_LINE = /It's "quoted", `ticked`, \$HOME and \$\(id\), a \\ and a \\1; {"a": {"b": "c"}}/;

const commit = (task, files, subject) => [
  { run: task.command('git add', { files }) },
  { run: task.command('git commit', { 'what the change does': subject, 'what the fix does': subject }) },
];

const widgetFile = (task) => path.join(task.directory, 'src/widget.txt');

export class Agents {
  reviews = []; // ids of the answers that the client had reviewed
  calls = []; // 'ID SKILL' of each agent
  service = null; // (request): an error of the service, or the usage that it tells, or a promise of them

  // `parts`: for a skill a function (task, n), where n counts the skill's calls from 1. The other skills succeed.
  constructor(fixture, parts = {}) {
    Object.assign(this, { fixture, parts });
  }

  act(task) {
    this.calls.push(`${task.id} ${task.skill}`);
    const n = this.skills.filter((skill) => skill === task.skill).length;
    const part = this.parts[task.skill] ?? DEFAULTS[task.skill];
    if (!part) throw new Error(`no agent has the skill '${task.skill}'`);
    return part.call(this, task, n);
  }

  get skills() {
    return this.calls.map((call) => call.split(' ')[1]);
  }

  writeWidget(task, content) {
    return { tool: 'Write', input: { file_path: widgetFile(task), content } };
  }
}

export const DEFAULTS = {
  'researcher-plan': () => answer('briefed', '**Goal**: a widget.', '**Exit criteria**: 1. src/widget.txt is there.', ...HOSTILE),
  'researcher-issue': () => answer('briefed', '**Fault**: no widget.', '**Exit criteria**: 1. src/widget.txt is there.'),
  'debugger-investigate': (task) => answer('reproduced', `# Debug report for ${task.id.split('/')[0]}`, '- **Cause**: src has no widget.'),
  'developer-implement'(task) {
    return { work: [this.writeWidget(task, 'It turns.\n'), ...commit(task, 'src/widget.txt', 'add the widget')],
      ...answer('implemented', '**What was done**: src/widget.txt.') };
  },
  'developer-fix'(task, n) {
    return { work: [{ tool: 'Read', input: { file_path: widgetFile(task) } },
      this.writeWidget(task, `It turns, ${n}.\n`), ...commit(task, 'src/widget.txt', `fix the widget, ${n}`)],
    ...answer('fixed', `Fixed, ${n}.`) };
  },
  'developer-create-pr': (task) => ({
    work: [{ run: task.command('git push') }, { run: task.block('gh pr create', { 'what it does': 'Add the widget', body: 'A widget.' }) },
      { run: task.command('gh pr view --json url --jq') }],
    ...answer('pr_created', 'https://github.com/org/repo/pull/7', 'Add the widget') }),
  'reviewer-review': () => answer('approved', 'Nothing found.'),
  'reviewer-sign-off': () => answer('approved', '1. settled'),
  'reviewer-test': () => answer('approved', 'Nothing found.'),
  'reviewer-security': () => answer('approved', 'Nothing found.'),
  'researcher-validate': () => answer('validated', '1. met: src/widget.txt:1'),
  'widget-audit': () => answer('approved', 'It is there.'),
};

// Parts of a scenario. `skill` does its default work, but writes `content` into the widget.
export const writes = (skill, content) => function part(task, n) {
  const good = DEFAULTS[skill].call(this, task, n);
  return { ...good, work: good.work.map((step) => (step.tool === 'Write' ? this.writeWidget(task, content) : step)) };
};
// The developer does its default work, then waits for `promise` before it answers.
export const implementsThenWaits = (promise) => function part(task) {
  const good = DEFAULTS['developer-implement'].call(this, task);
  return { ...good, work: [...good.work, { wait: promise }] };
};
// An agent asks, the troubleshooter asks the user, and continues when the answer is `words`.
export const asking = (words, skill = 'developer-implement') => ({
  [skill](task, n) {
    return n === 1 ? answer('needs_clarification', 'Red or blue?') : DEFAULTS[skill].call(this, task, n);
  },
  troubleshooter(task, n) {
    if (n === 1) return decide('needs_user_input', 'Shall the widget be red or blue?');
    if (!task.brief.includes(`> ${words}\n`)) throw new Error(`the brief lacks the user's answer:\n${task.brief}`);
    return decide('continue', 'the user says blue');
  },
});
