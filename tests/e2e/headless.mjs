// The scripted model of `dev-team run --harness`: one conversation an action. The prompt is all that it has; what it writes
// last is the answer. Like model.mjs it takes commands, words and names out of the texts that it was sent.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { block, command, find } from './model.mjs';
import { resultText, text, use } from './server.mjs';
import { plugin } from './world.mjs';

// What a prompt says, whichever harness carries it.
export function readPrompt(prompt) {
  const id = find(prompt, /^# (\S+\/\S+\/\d+)$/m, 'which action it is');
  const [, skill = ''] = prompt.split('\n## Your skill\n');
  if (/dev-team record --context-file/.test(prompt)) throw new Error(`the prompt has a command that records:\n${prompt}`);
  return { id, skill, name: find(prompt, /^Skill: (\S+)$/m, 'the skill'),
    file: find(prompt, /^Context file: (\/.+)$/m, 'the context file'),
    words: find(prompt, /Its result is one word: (.+)$/m, 'the words').split(' | ') };
}

export function play(cast, prompt) {
  const said = readPrompt(prompt);
  const part = cast.play({ id: said.id, brief: prompt, skill: said.name, file: said.file,
    command: (start, more) => command(said.skill, start, more),
    block: (start, more) => block(said.skill, start, more) });
  if (part.word && !said.words.includes(part.word)) throw new Error(`'${part.word}' is none of ${said.words.join(', ')}`);
  return part;
}

function* agent(request, cast) {
  const prompt = request.news.filter((one) => one.type === 'text').map((one) => one.text).find((one) => one.includes('## How you answer'));
  if (!prompt) throw new Error('no prompt came');
  const part = play(cast, prompt);
  for (const step of part.work ?? []) {
    const call = use(step.tool ?? 'Bash', step.input ?? { command: step.run });
    const result = (yield [call]).find((one) => one.type === 'tool_result' && one.tool_use_id === call.id);
    if (!result || Boolean(result.is_error) !== Boolean(step.refused))
      throw new Error(`${JSON.stringify(step)}: ${result ? resultText(result) : 'no result'}`);
  }
  return [text(part.silent ? '' : part.answer)];
}

export function createHeadless(cast) {
  const conversations = new Map();
  return (request) => {
    const going = conversations.get(request.session);
    const script = going ?? agent(request, cast);
    if (!going) conversations.set(request.session, script);
    const turn = going ? script.next(request.news) : script.next();
    if (turn.done) conversations.delete(request.session);
    return turn.value;
  };
}

// `dev-team run` in `world`, with only `env` around it: {code, out, err}.
export function headless(world, env, args, { timeout = 120000 } = {}) {
  const child = spawn(path.join(plugin, 'build/dev-team'), ['run', world.id, '--workflow', 'implement-task', ...args],
    { cwd: world.repo, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.on('data', (piece) => { said.out += piece; });
  child.stderr.on('data', (piece) => { said.err += piece; });
  const timer = setTimeout(() => child.kill('SIGTERM'), timeout);
  const done = new Promise((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, ...said });
    });
  });
  return { done, kill: (signal) => child.kill(signal) };
}

// A folder in which the client has the name that people call it by.
export function binaries(world, names) {
  for (const [name, file] of Object.entries(names)) {
    const link = path.join(world.bin, name);
    if (!fs.existsSync(link)) fs.symlinkSync(file, link);
  }
  return world.bin;
}
