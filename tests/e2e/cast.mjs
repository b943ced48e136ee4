// Who does what: the work behind each skill. `play` is handed the action's id, the brief, the skill's name, and two ways to
// take a command out of the skill's text; it returns {work, word, answer} (or {silent: true}).

import path from 'node:path';

const status = (word) => `{"status": "${word}"}`;
const say = (word, ...lines) => ({ word, answer: [...lines, status(word)].join('\n') });

// What a text must survive on its way: quotes, dollars, backslashes, code, a line that looks like a sentinel.
export const HOSTILE = [
  'It\'s "quoted", `ticked`, $HOME and $(id), a \\ and a \\1; {"a": {"b": "c"}}',
  '<!-- section:Validate Result -->',
  'passed',
  '```c', 'int main(void) { puts("x{\\"}"); return 0; }', '```',
];

const commit = (task, files, subject) => [
  { run: task.command('git add', { files }) },
  { run: task.command('git commit', { 'what the change does': subject, 'what the fix does': subject }) },
];

export class Cast {
  // `parts`: for a skill a function (task, n) of this cast; n counts its calls from 1. The rest plays well.
  constructor(world, parts = {}) {
    this.world = world;
    this.parts = parts;
    this.calls = [];
    this.options = ['red', 'blue'];
  }

  play(task) {
    this.calls.push(`${task.id} ${task.skill}`);
    const n = this.calls.filter((call) => call.endsWith(` ${task.skill}`)).length;
    const part = this.parts[task.skill] ?? GOOD[task.skill];
    if (!part) throw new Error(`nobody plays '${task.skill}'`);
    return part.call(this, task, n);
  }

  widget(content) {
    return { tool: 'Write', input: { file_path: path.join(this.world.repo, 'src/widget.txt'), content } };
  }
}

export const GOOD = {
  'researcher-plan': () => say('briefed', '**Goal**: a widget.', '**Exit criteria**: 1. src/widget.txt is there.', ...HOSTILE),
  'researcher-issue': () => say('briefed', '**Fault**: no widget.', '**Exit criteria**: 1. src/widget.txt is there.'),
  'debugger-investigate': (task) => say('reproduced', `# Debug report for ${task.id.split('/')[0]}`, '- **Cause**: src has no widget.'),
  'developer-implement': function implement(task) {
    return { work: [{ run: task.command('git switch') }, this.widget('It turns.\n'), ...commit(task, 'src/widget.txt', 'add the widget')],
      ...say('implemented', '**What was done**: src/widget.txt.') };
  },
  'developer-fix': function fix(task, n) {
    const file = path.join(this.world.repo, 'src/widget.txt');
    return { work: [{ run: task.command('git switch') }, { tool: 'Read', input: { file_path: file } },
      this.widget(`It turns, ${n}.\n`), ...commit(task, 'src/widget.txt', `mend the widget, ${n}`)],
    ...say('fixed', `Mended, ${n}.`) };
  },
  'developer-create-pr': (task) => ({
    work: [{ run: task.command('git push') }, { run: task.block('gh pr create', { 'what it does': 'Add the widget', body: 'A widget.' }) },
      { run: task.command('gh pr view --json url --jq') }],
    ...say('pr_created', 'https://github.com/org/repo/pull/7', 'Add the widget') }),
  'reviewer-review': () => say('approved', 'Nothing found.'),
  'reviewer-sign-off': () => say('approved', '1. settled'),
  'researcher-validate': () => say('validated', '1. met: src/widget.txt:1'),
};

export const decide = (action, reason, changes = []) => ({
  word: action,
  answer: ['What I saw: it is stuck.', JSON.stringify({ action, reason, state_changes: changes })].join('\n'),
});
export { say };
