// The scripted model. It does what the texts that it was sent say and nothing else: command lines, tool
// names, agent types, prompts, words and order come out of the command's body, the agent's system
// prompt, the brief and the skill. A text that lacks one of them, or has it wrong, fails the run. Only what a
// person would call the work (the code, the findings, the verdict) comes from the scenario's agents.

import { blocksOf, text, textOf, use } from './apis.mjs';

// The one capture of `pattern` in `source`, or an error that names what is missing.
export function find(source, pattern, what) {
  const match = pattern.exec(source);
  if (!match) throw new Error(`the text does not say ${what} (${pattern}):\n${source.slice(0, 4000)}`);
  return match[1];
}

export const fill = (template, values) =>
  template.replace(/<([a-z_ ]+)>/g, (whole, name) => (name in values ? values[name] : whole));

// A command in backticks, with its placeholders filled.
export const command = (source, start, values = {}) =>
  fill(find(source, new RegExp(`\`(${start}[^\`]*)\``), `a command '${start}'`), values);

// The fenced shell block that holds `start`, less its indentation.
export function block(source, start, values = {}) {
  const fenced = [...source.matchAll(/^([ \t]*)```sh\n([\s\S]*?)^[ \t]*```/gm)].find((match) => match[2].includes(start));
  if (!fenced) throw new Error(`the text has no shell block with '${start}':\n${source}`);
  return fill(fenced[2].replace(new RegExp(`^${fenced[1]}`, 'gm'), '').trimEnd(), values);
}

const texts = (blocks) => blocks.filter((block) => block.type === 'text').map((block) => block.text);

// Makes calls, waits for their results: [{text, error}] in the order of the calls.
function* calls(blocks, words = '') {
  const news = yield words ? [text(words), ...blocks] : blocks;
  return blocks.map((block) => {
    const result = news.find((one) => one.type === 'tool_result' && one.tool_use_id === block.id);
    if (!result) throw new Error(`no result for ${block.name} ${JSON.stringify(block.input)}`);
    return { text: textOf(result.content), error: result.is_error === true, news };
  });
}

function* call(name, input) {
  return (yield* calls([use(name, input)]))[0];
}

// What the body of a loop command says, as data.
function readLoop(body, values) {
  const say = (pattern, what) => find(body, pattern, what);
  return {
    step: say(/STEP: `(dev-team step [^`]+)`/, 'the step command'),
    returned: say(/run STEP with `( --returned[^`]+)` added/, 'how to pass --returned'),
    takeOver: [say(/if they are `([^`]+)`, save nothing/, 'the words that take over'),
      say(/add `( --take-over)` to the first STEP/, 'how to take over')],
    answer: say(/ANSWER:\s+```sh\n([\s\S]*?)```/, 'how to save an answer').trimEnd(),
    end: say(/If the item is `(\w+)`/, 'when it ends'),
    tell: [say(/report its `(\w+)`/, 'what to tell'), say(/report its `\w+` and `(\w+)`/, 'what to tell')],
    question: say(/if it has a `(\w+)`/, 'what a question is'),
    ask: say(/ask the user with (\w+)/, 'how to ask'),
    tool: say(/call the (\w+) tool once for every item of the array, all in one message/, 'how to dispatch'),
    types: {
      spawn_agent: say(/`([^`]+)` for `spawn_agent`/, 'the type of an agent'),
      run_script: say(/`([^`]+)` for `run_script`/, 'the type of a script'),
      other: say(/`([^`]+)` if there is no such type/, 'the type when there is none'),
    },
    prompt: [say(/`prompt`: two lines, the item's `(\w+)`/, 'the prompt'),
      say(/`prompt`: two lines, the item's `\w+` and its `(\w+)`/, 'the prompt')],
    aloud: say(/say each item's `(\w+)`/, 'what to say meanwhile'),
    description: say(/`description`: the item's `(\w+)`/, 'the description'),
    background: say(/`run_in_background`: (true|false)/, 'foreground or background') === 'true',
    ...values,
  };
}

function dispatch(loop, item, type = loop.types[item.action]) {
  if (!type) throw new Error(`the command knows no action '${item.action}'`);
  return use(loop.tool, {
    subagent_type: fill(type, item),
    description: item[loop.description],
    prompt: loop.prompt.map((field) => item[field]).join('\n'),
    run_in_background: loop.background,
  });
}

function* save(loop, answer) {
  const saved = yield* call('Bash', { command: fill(loop.answer, { answer }) });
  if (saved.error) throw new Error(`the answer was not saved: ${saved.text}`);
}

function* status(body) {
  const id = find(body, /The user asks about: *(\S+)/, 'what the user asks');
  const shown = yield* call('Bash', { command: block(body, 'dev-team events', { id }) });
  return [text(shown.text)];
}

function* mainLoop(request, agents) {
  const body = texts(request.news).find((part) => part.includes('STEP: '));
  if (!body) return yield* status(texts(request.news).join('\n'));
  const loop = readLoop(body);
  const id = find(loop.step, /step '([^']+)'/, 'the work item');
  const words = find(body, /The user typed: (.*)/, 'what the user typed');
  const answer = words.slice(words.indexOf(id) + id.length).trim();
  const [taking, option] = loop.takeOver;
  if (answer && answer !== taking) yield* save(loop, answer);

  let line = answer === taking ? loop.step + option : loop.step;
  for (;;) {
    const step = yield* call('Bash', { command: line });
    if (step.error) return [text(`The step failed: ${step.text}`)];
    const array = JSON.parse(step.text);
    const [first] = array;
    if (first.action !== loop.end) {
      const back = yield* calls(array.map((item) => dispatch(loop, item)), array.map((item) => item[loop.aloud]).join('\n'));
      const unknown = array.filter((_, i) => back[i].error && /Agent type .* not found/.test(back[i].text));
      if (unknown.length) yield* calls(unknown.map((item) => dispatch(loop, item, loop.types.other)));
      line = loop.step + loop.returned.replace(/<id of the first item>/, first.id);
      continue;
    }
    const question = first[loop.question];
    if (!question) return [text(loop.tell.map((field) => first[field]).join(': '))];
    if (!request.tools.includes(loop.ask)) return [text(question)];
    const reply = yield* call(loop.ask, { questions: [{ question, header: 'dev-team', multiSelect: false,
      options: agents.options.map((label) => ({ label, description: label })) }] });
    yield* save(loop, find(reply.text, /"="([^"]*)"/, "the user's answer"));
    line = loop.step;
  }
}

function* runScript(system, values) {
  const line = command(system, 'dev-team exec', values);
  const timeout = Number(find(system, /timeout (\d+)/, 'the timeout'));
  const again = find(system, /If it prints `(\w+)`/, 'when to call again');
  find(system, /(only the first word)/, 'what to return');
  for (;;) {
    const run = yield* call('Bash', { command: line, timeout });
    if (run.error) return [text(run.text)];
    if (!run.text.startsWith(again)) return [text(run.text.split(' ')[0])];
  }
}

// The record command of a brief, heredoc and all, with the answer in it.
export function recordCommand(brief, word, answer) {
  const shown = find(brief, /^(dev-team record [^\n]*<<'(?:\w+)'\n[\s\S]*?^\w+)$/m, 'how to record the answer');
  for (const blank of ['WORD', 'YOUR ANSWER']) find(brief, new RegExp(`(${blank})`), 'what to replace in that command');
  return shown.replace(/ WORD /, () => ` ${word} `).replace(/^YOUR ANSWER$/m, () => answer);
}

function* useSkill(system, brief) {
  const template = find(system, /`(dev-team:<skill>)`/, 'how the skill is called');
  const skill = find(brief, /^Skill: (\S+)$/m, 'the skill');
  const args = find(brief, /^Arguments: (.*)$/m, 'the arguments');
  let loaded = yield* call('Skill', { skill: fill(template, { skill }), args });
  if (loaded.error) {
    const plain = find(system, /plain `(<skill>)` if there is no such skill/, 'what to do when there is no such skill');
    loaded = yield* call('Skill', { skill: fill(plain, { skill }), args });
  }
  if (loaded.error) throw new Error(`skill '${skill}': ${loaded.text}`);
  return { name: skill, text: texts(loaded.news).join('\n') };
}

function* act(request, agents) {
  const { system } = request;
  const [file, id] = find(texts(request.news).join('\n\n'), /^(\/[^\n]+\n[^\n]+)$/m, 'a context file and an id').split('\n');
  const values = { context_file: file, id };
  const pause = agents.before?.(id);
  if (pause) yield pause;
  if (system.includes('You run one script')) return yield* runScript(system, values);

  const briefed = yield* call('Bash', { command: command(system, 'dev-team brief', values) });
  if (briefed.error) return [text(briefed.text)];
  const brief = briefed.text;
  const loaded = system.includes('There is no skill to load') ? { name: 'troubleshooter', text: system } : yield* useSkill(system, brief);
  const skill = loaded.text;
  const part = agents.act({ id, brief, skill: loaded.name, file,
    command: (start, more) => command(skill, start, { ...values, ...more }),
    block: (start, more) => block(skill, start, { ...values, ...more }) });
  for (const step of part.work ?? []) {
    if (step.wait) yield step.wait();
    else {
      const done = yield* call(step.tool ?? 'Bash', step.input ?? { command: step.run });
      if (done.error !== Boolean(step.refused) || !(step.refused ?? step.gives ?? /^/).test(done.text))
        throw new Error(`${id}: ${JSON.stringify(step)} ${step.refused ?? step.gives ?? ''}: ${done.text}`);
    }
  }
  if (part.silent) return [text('I am done.')];
  find(skill, new RegExp(`"status": "(${part.word})"|\`(${part.word})\``), `the result word '${part.word}'`);
  const recorded = yield* call('Bash', { command: recordCommand(brief, part.word, part.answer) });
  return [text(recorded.text)];
}

// One conversation, one script; a request of the conversation is the next value of its script.
export function createModel(agents) {
  const conversations = new Map();
  return async (request) => {
    const key = `${request.session}/${request.agent}`;
    let script = conversations.get(key);
    let turn;
    if (!script) {
      script = request.agent ? act(request, agents) : mainLoop(request, agents);
      conversations.set(key, script);
      turn = script.next();
    } else {
      turn = script.next(request.news);
    }
    while (turn.value instanceof Promise) {
      await turn.value;
      turn = script.next();
    }
    return turn.value;
  };
}

// Bytes that the requests of one conversation carry for a stretch of blocks: what the model wrote in its
// calls, and what the client put into their results.
export function bytesOf(blocks) {
  let bytes = 0;
  for (const block of blocks)
    for (const part of block.type === 'tool_use' ? [JSON.stringify(block.input)] : block.type === 'text' ? [block.text]
      : blocksOf(block.content).map((one) => one.text ?? ''))
      bytes += Buffer.byteLength(part);
  return bytes;
}
