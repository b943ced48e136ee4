// The scripted model. It does what the texts that it was sent say and nothing else: command lines, tool
// names, agent types, prompts, words and order come out of the command's body, the agent's system
// prompt, the brief and the skill. A text that lacks one of them, or has it wrong, fails the run. Only what a
// person would call the work (the code, the findings, the verdict) comes from the scenario's agents.

import { blocksOf, text, textOf, use } from './apis.mjs';
import { portable } from './fixture.mjs';

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

// The client asks an agent that works long for a few words to show.
const isAskedForWords = ({ news }) => news.some((one) => /^Describe your most recent action in /.test(one.text ?? ''));

const isAskedForSummary = ({ news }) => news.some((one) => /Respond with TEXT ONLY/.test(one.text ?? ''));

export const isConductor = (request) => !isAskedForWords(request) && !isAskedForSummary(request) &&  request.system.includes('You conduct one work item');

const BACKLOG = '`dev-team tick'; // of the commands that drive its tasks

// The step command when no hook has filled it; null: the user typed more than it may take.
function readStep(body) {
  const typed = find(body, /^ARGUMENTS: (.*)$/m, 'what the user typed').split(' ');
  const form = find(body, /STEP has the form `(dev-team (?:step|tick) [^`]+)`/, 'the form of the step');
  const word = new RegExp(`^${find(body, /hooks are off or too slow: then the user may have typed only the ID, after the WORKFLOW if STEP has that word, each like `([^`]+)`\. Run STEP/, 'what to do without hooks')}$`);
  if (typed.length !== (form.includes("'WORKFLOW'") ? 2 : 1) || !typed.every((each) => word.test(each)))
    return null;
  const values = form.includes("'WORKFLOW'") ? { WORKFLOW: typed[0], ID: typed[1] } : { ID: typed[0] };
  return form.replace(/\b(WORKFLOW|ID)\b/g, (word) => values[word]);
}

// What the body of a loop command and the context of the plugin's hook say, as data.
function readLoop(body, context) {
  const say = (pattern, what) => find(body, pattern, what);
  const hooked = context.includes('STEP: ');
  return {
    hooked,
    step: hooked ? find(context, /^STEP: `(dev-team (?:step|tick) [^`]+)`$/m, 'the step command') : readStep(body),
    array: hooked && !context.includes('you conduct') ? find(context, /^ARRAY: (.*)$/m, 'the first array') : null,
    added: say(/As soon as a hook adds (?:a line )?(ARRAY), go to 1/, 'what a hook adds') + say(/(?:If it adds|At) `(FAILED): ...`, show it/, 'what a hook adds'),
    later: say(/(a later notice without (?:one|it) needs nothing)/, 'what a report needs that comes after the step'),
    waits: say(/(While agents (?:still )?work in the background, end your turn)/, 'what to do meanwhile'),
    returned: say(/run STEP with `( --returned[^`]*)`/, 'how to pass --returned'),
    end: say(/If the (?:array's )?item is `(\w+)`/, 'when it ends'),
    tell: [say(/report its `(\w+)`/, 'what to tell'), say(/report its `\w+` and `(\w+)`/, 'what to tell')],
    question: body.includes(BACKLOG) ? 'question' : say(/if it has a `(\w+)`, end with the question/, 'what a question is'),
    next: body.includes(BACKLOG) && / end with the line `(next): N`, its `(\w+)`/.exec(body),
    tool: say(/call the (\w+) tool (?:once )?for every item(?: of the array, all in one message)?/, 'how to dispatch'),
    types: {
      spawn_agent: say(/`subagent_type`: `([^`]+)`/, 'the type of an agent'),
      run_script: say(/`([^`]+)` for `run_script`/, 'the type of a script'),
      other: say(/`([^`]+)` if there is no such type/, 'the type when there is none'),
    },
    prompt: [say(/`prompt`: two lines[,:] (?:the item's|its) `(\w+)`/, 'the prompt'),
      say(/`prompt`: two lines[,:] (?:the item's|its) `\w+`(?: and|,) its `(\w+)`/, 'the prompt')],
    aloud: say(/say each item's `(\w+)`/, 'what to say meanwhile'),
    description: say(/`description`: (?:the item's|its) `(\w+)`/, 'the description'),
    background: say(/`run_in_background`: (true|false)/, 'foreground or background') === 'true',
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

const NOTIFICATION = '[SYSTEM NOTIFICATION';

const EXPANDED = /UserPromptExpansion hook additional context: ([\s\S]*)/;

// The body of the command with the script. The client begins another turn when the script has ended; meanwhile the user may type
// other things, and the command for another item.
function* startScript(body, context) {
  const say = (pattern, what) => find(body, pattern, what);
  if (!context) return [text(say(/hooks are off or too slow, and the script cannot run: say that `([^`]+)` does without it/, 'what to do without hooks'))];
  const end = (item) => item[say(/if it has a `(\w+)`, end with the question/, 'what a question is')]
    ?? [say(/Report the item's `(\w+)`/, 'what to tell'), say(/Report the item's `\w+` and `(\w+)`/, 'what to tell')].map((field) => item[field]).join(': ');
  let running = 0;
  for (;;) {
    const id = find(context, /^STEP: `dev-team step '?([^' ]+)/m, 'the id');
    const array = JSON.parse(find(context, /^ARRAY: (.*)$/m, 'the first array'));
    if (array[0].action === say(/If the first item of ARRAY is `(\w+)`, go to 3/, 'when it has ended')) return [text(end(array[0]))];
    const input = { name: say(/with the `name` `([^`]+)`/, 'which script runs the loop'),
      args: JSON.parse(say(/and the `args` `([^`]+)`/, 'the arguments of the script').replace('<ID>', id)) };
    const message = array.map((item) => item[say(/say each item's `(\w+)`, and end your turn/, 'what to say')]).join('\n');
    const [started] = yield* calls([use(say(/Otherwise call (\w+) with/, 'which tool runs the loop'), input)], message);
    if (started.error) return [text(`${started.text} ${say(/and that `(\/dev-team:continue) <ID>` goes on without it/, 'how to go on')}`)];
    running++;
    let answer = 'The run goes on.';
    for (context = ''; !context;) {
      const news = textOf(yield [text(answer)]);
      const ended = news.includes(NOTIFICATION) ? [...news.matchAll(/(\{"(?:action|result)":.*\})/g)] : [];
      answer = ended.map(([one]) => end(JSON.parse(one))).join('\n') || 'You were heard.';
      running -= ended.length;
      if (!running) return [text(answer)];
      context = EXPANDED.exec(news)?.[1] ?? '';
    }
  }
}

// The client's own `/loop`, with minutes: the model schedules the prompt. What the plugin's hook has said about it comes next.
function* schedule(body, context) {
  const say = (pattern, what) => find(body, pattern, what);
  const [minutes, prompt] = say(/^## Input\n\n(\d+m .*)$/m, 'what is repeated').split(/m (.*)/);
  const tool = say(/Call (Cron\w+) with: `cron` [^`]*, `prompt` [^`]*, `recurring: true`/, 'how to schedule');
  find(context, /(has run the prompt of \/loop: schedule it as it is, and do not run it)/, 'who runs the prompt at first');
  yield* call('ToolSearch', { query: `select:${tool}` });
  const made = yield* call(tool, { cron: say(/`Nm` where N ≤ 59 *\| `(\*\/N[^`]*)`/, 'the schedule').replace('N', minutes), prompt, recurring: true });
  if (made.error) throw new Error(made.text);
  return yield* startConductor(context);
}

// What the hook adds to a prompt of `/loop`, or to one that is due.
function* startConductor(context) {
  const call = /call the (\w+) tool once: `subagent_type` `([^`]+)`, `description` `([^`]+)`, `prompt` `([^`]+)`\. When it ends, report its last message/.exec(context);
  if (!call) return [text(context)];
  const [, tool, subagent_type, description, prompt] = call;
  const [{ text: result, error }] = yield* calls([use(tool, { subagent_type, description, prompt })]);
  if (error) throw new Error(result);
  return [text('It works.')];
}

// A prompt of the user, or one of a conductor. The client puts what the plugin's hook adds at the end of a system message.
function* mainLoop(request, agents) {
  const resumed = / is in progress \(.* or with `(dev-team step [^`]*)` and the array that it prints/.exec(texts(request.news).join('\n'))?.[1];
  const news = texts(resumed ? request.messages.flatMap((message) => message.blocks) : request.news);
  const body = news.find((part) => part.includes('Drive a work item') || part.includes(BACKLOG));
  const scripted = news.find((part) => part.includes('Run the script of a work item'));
  const context = EXPANDED.exec(news.join('\n'))?.[1]
    ?? /^(?:SessionStart hook additional context: )?(dev-team: you conduct [\s\S]*)/m.exec(news.join('\n'))?.[1] // compacted, or begun by a schedule
    ?? '';
  const failed = /^FAILED: (.*)$/m.exec(context);
  if (failed) return [text(failed[1])];
  // After /clear: what the plugin says about the item, and the end of a script that had been started before.
  const before = /"result":"([^"]*)","reason":"([^"]*)"/.exec(news.join('\n'))?.slice(1).join(': ')
    ?? /<summary>Agent "(?:\/dev-team:|the backlog)[\s\S]*<result>([\s\S]*)<\/result>/.exec(news.join('\n'))?.[1] // of a conductor
    ?? /SessionStart hook additional context: (dev-team: .*)/.exec(news.join('\n'))?.[1];
  if (scripted) return yield* startScript(scripted, context);
  const repeated = /UserPromptSubmit hook additional context: (dev-team: [\s\S]*)/.exec(news.join('\n'))?.[1];
  const timer = news.find((part) => part.startsWith('# /loop '));
  if (timer) return yield* schedule(timer, repeated);
  if (repeated) return yield* startConductor(repeated);
  if (!body) return [text(context || before || 'Hello.')];
  find(body, /(If (?:the hook added a line|it added) `FAILED: ...`(?: instead)?, show it and stop)/, 'what to do with a failure');
  const loop = readLoop(body, context);
  if (!loop.step) return [text(find(body, /end with the line: `([^`]+)`/, 'what to say about words'))];
  let step = loop.array && !resumed ? { text: loop.array } : yield* call('Bash', { command: resumed ?? loop.step });
  for (;;) {
    if (step.error) return [text(`The step failed: ${step.text}`)];
    const array = JSON.parse(find(step.text, /^(\[.*)$/m, 'the array')); // notices of the first step may precede it
    const [first] = array;
    if (first.action !== loop.end && first.result === undefined) {
      const started = array.map((item) => dispatch(loop, item));
      const aloud = array.map((item) => item[loop.aloud]).join('\n');
      let back;
      for (const message of agents.start?.(started) ?? [started]) back = yield* calls(message, aloud);
      const unknown = array.filter((_, i) => back[i].error && /Agent type .* not found/.test(back[i].text));
      if (unknown.length) yield* calls(unknown.map((item) => dispatch(loop, item, loop.types.other)));
      let news = texts(back[0].news ?? []).join('\n');
      const working = new Set(back.map((one) => /^Async agent launched[^]*?agentId: (\w+)/.exec(one.text)?.[1]).filter(Boolean));
      const note = () => { // a report may come with the results, and that of an earlier agent after the step
        if (!/: other agents of \S+ still work: end your turn/.test(news))
          for (const [, id, from] of news.matchAll(/<task-id>(\w+)<\/task-id>|<agent-message from="(\w+)"/g)) working.delete(id ?? from);
      };
      const added = () => /^(?:PostToolBatch|UserPromptSubmit) hook additional context: (ARRAY|FAILED): (.*)/m.exec(news);
      const sentBack = () => /dev-team: \S+ has not ended; run `(dev-team (?:step|tick) [^`]*)`/.exec(news)?.[1];
      for (note(); !added() && !sentBack() && working.size; note()) news = texts(yield [text('They work.')]).join('\n');
      const [, kind, line] = added() ?? [];
      if (kind === 'FAILED') return [text(line)];
      step = kind ? { text: line }
        : yield* call('Bash', { command: sentBack() ?? loop.step + loop.returned.replace(/<id of the first item>/, first.id) });
      continue;
    }
    const next = loop.next && first[loop.next[2]] ? `\n${loop.next[1]}: ${first[loop.next[2]]}` : '';
    return [text(first[loop.question] ?? loop.tell.map((field) => first[field]).join(': ') + next)];
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

// The brief has the skill, between its sections and how to answer.
// An agent of a manifest has a role in its place, and is known by its node.
const skillOf = (brief) => (!brief.includes('\n## Your skill\n')
  ? { name: find(brief, /^Your answer becomes section '([^']+)'/m, 'the node'),
    text: find(brief, /^(## Your role\n\n[\s\S]*)/m, 'what the role is').replace(/\b(?:success|validation_fail|failure)\b/g, '`$&`') }
  : { name: find(brief, /^Skill: (\S+)$/m, 'the skill'),
    text: find(brief, /^## Your skill\n\n([\s\S]*)^## How you answer$/m, 'what the skill is') });

// Does what the scenario's agents decide about the task.
function* work(request, agents, { file, id, brief, name, skill }) {
  const values = { context_file: file, id };
  const directory = find(brief, /^Directory: (.*)$/m, 'where the agent works');
  const enter = find(brief, /begin each shell command with `([^`]*)`/, 'how a shell command begins');
  const part = agents.act({ id, brief, skill: name, file, directory,
    command: (start, more) => command(skill, start, { ...values, ...more }),
    block: (start, more) => block(skill, start, { ...values, ...more }) });
  for (const step of part.work ?? []) {
    if (step.wait) yield step.wait();
    else {
      const done = yield* call(step.tool ?? 'Bash', step.input ?? { command: enter + step.run });
      if (done.error !== Boolean(step.refused) || !(step.refused ?? step.gives ?? /^/).test(done.text))
        throw new Error(`${id}: ${JSON.stringify(step)} ${step.refused ?? step.gives ?? ''}: ${done.text}`);
    }
  }
  if (!part.silent) find(skill, new RegExp(`"status": "(${part.word})"|\`(${part.word})\``), `the result word '${part.word}'`);
  return { part };
}

// The call that ends an agent of the script. `refused`: what it has wrong at first, and the pattern of the message with which
// that is refused; `also`: what a second call at the same time has.
function* answerScript(request, input, { refused = [], also } = {}) {
  const { properties } = request.body.tools.find((tool) => tool.name === 'StructuredOutput').input_schema;
  for (const name of Object.keys(properties)) find(Object.keys(input).join(), new RegExp(`\\b(${name})\\b`), `what '${name}' is`);
  for (const [wrong, pattern] of refused) {
    const said = yield* call('StructuredOutput', { ...input, ...wrong });
    if (!said.error || !pattern.test(said.text)) throw new Error(`the answer ${JSON.stringify(wrong)} gave: ${said.text}`);
  }
  yield* calls([input, ...(also ? [{ ...input, ...also }] : [])].map((one) => use('StructuredOutput', one)));
  return [text('The answer was given.')];
}

// An agent of the script: the brief and the skill came with its prompt, or it asks for them as any other does.
function* actInScript(request, agents) {
  const prompt = texts(request.news).join('\n\n');
  const returned = /Call StructuredOutput at once: id (\S+), word (\w+)\./.exec(prompt);
  if (returned) return yield* answerScript(request, { id: returned[1], word: returned[2] });
  const [file, id] = find(prompt, /^ *(\/[^\n]+\n[^\n]+)$/m, 'a context file and an id').split('\n').map((line) => line.trim());
  const pause = agents.before?.(id);
  if (pause) yield pause;
  const brief = /SubagentStart hook additional context: (If your prompt names the action (\S+): this is its brief[\s\S]*)/.exec(prompt);
  if (!brief || brief[2] !== id) {
    const last = yield* act(request, agents, { file, id });
    const line = textOf(last);
    return yield* answerScript(request, { id, word: find(line, /^(?:recorded \S+: )?(\w+)/, 'the recorded word'), text: line });
  }
  find(brief[1], /(by one call of StructuredOutput: `word` is your result word, `text` your whole answer)/, 'how to answer');
  const skill = request.system.includes('There is no skill to load') ? { name: 'troubleshooter', text: request.system } : skillOf(brief[1]);
  const { part } = yield* work(request, agents, { file, id, brief: brief[1], name: skill.name, skill: skill.text });
  while (part.dies || part.silent) yield part.dies ?? [text('I am done.')]; // the client asks it again
  if (part.prose) yield [text(part.prose)];
  return yield* answerScript(request, { id, word: part.word, text: part.answer }, part);
}

// The answer is the agent's last message. The hook sends an agent back that gave none.
function* sayAnswer(request, brief, part) {
  find(brief, /(the last message that you write is taken as your answer, as it is)/, 'how to answer');
  while (part.dies) yield part.dies;
  const first = part.silent ? 'I am done.' : part.first;
  const wrong = part.wrong ?? /must be .* in the last line of the answer/;
  if (request.tools.includes('SubagentHandback')) {
    while (part.silent) yield [text(first)]; // the client asks it again
    if (first) yield* handBack(first, wrong);
    return yield* handBack(part.answer);
  }
  if (first) {
    const news = texts(yield [text(first)]).join('\n');
    if (!wrong.test(news)) throw new Error(`'${first}' gave: ${news}`);
    find(news, /(End with your whole answer, corrected)/, 'what to do now');
  }
  return [text(part.silent ? first : part.answer)];
}

// In auto mode an agent in the background ends with this call. `wrong`: why it is denied.
function* handBack(message, wrong) {
  const done = yield* call('SubagentHandback', { message });
  if (done.error !== Boolean(wrong) || !(wrong ?? /^/).test(done.text)) throw new Error(`SubagentHandback: ${done.text}`);
  return [text('Delivered.')];
}

const promptOf = (request) => {
  const [file, id] = find(texts(request.news).join('\n\n'), /^(\/[^\n]+\n[^\n]+)$/m, 'a context file and an id').split('\n');
  return { file, id };
};

function* act(request, agents, { file, id } = promptOf(request)) {
  const { system } = request;
  const values = { context_file: file, id };
  const pause = agents.before?.(id);
  if (pause) yield pause;
  if (system.includes('You run one script')) return yield* runScript(system, values);

  const brought = texts(request.news).map((one) => one.split(`\n${id}\n\n# ${id}\n`)[1]).find(Boolean);
  if (brought) find(system, /(Your brief may be in your prompt already, under the heading `# <id>`)/, 'where the brief is');
  const briefed = brought ? { text: brought } : yield* call('Bash', { command: command(system, 'dev-team brief', values) });
  if (briefed.error) return [text(briefed.text)];
  const brief = briefed.text;
  const loaded = system.includes('There is no skill to load') ? { name: 'troubleshooter', text: system } : skillOf(brief);
  const { part } = yield* work(request, agents, { file, id, brief, name: loaded.name, skill: loaded.text });
  if (brought) return yield* sayAnswer(request, brief, part);
  if (part.silent) return [text('I am done.')];
  const recorded = yield* call('Bash', { command: recordCommand(brief, part.word, part.answer) });
  return [text(recorded.text)];
}

// The main conversation: one prompt of the user after the other.
function* converse(request, agents) {
  for (let { news } = request; ;) news = yield yield* mainLoop({ ...request, news }, agents);
}

// In auto mode the client asks a model about calls that no rule decides, and about what an agent hands back. The plugin's hook
// leaves nothing to decide, and lets nothing but ids, types and words be handed back.
function review(request, agents) {
  const asked = request.messages.flatMap((one) => one.blocks).map((one) => one.text).join('');
  const word = /\{"SubagentHandback":"hand-back [^"]*\): ([^"]*)"\}\n<\/transcript>/.exec(asked)?.[1];
  if (word !== undefined) {
    if (!/^\w+$/.test(word)) throw new Error(`an agent hands back '${word}'`);
    agents.reviews.push(word);
    return [text('<severity>0</severity>')];
  }
  const end = /<subagent_hand_back>\\n *((?:success|failed): [^\n]*)\\n<\/subagent_hand_back>/.exec(asked)?.[1]; // of a conductor
  if (end) return [text('<severity>0</severity>')];
  const back = JSON.parse(JSON.parse(`"${find(asked, /<subagent_hand_back>\\n([\s\S]*)\\n<\/subagent_hand_back>/, 'what is handed back')}"`));
  const words = JSON.stringify({ ...back, done: undefined }).match(/"[^"]*"/g).map((one) => one.slice(1, -1));
  const bad = words.find((word) => !/^[\w:\/-]*$/.test(word));
  if (bad) throw new Error(`an agent hands back '${bad}'`);
  agents.reviews.push(back.id);
  return [text('<severity>0</severity>')];
}

// One conversation, one script; a request of the conversation is the next value of its script.
export function createModel(agents) {
  const conversations = new Map();
  return async (request) => {
    if (request.system.includes('You are a security monitor')) return review(request, agents);
    if (isAskedForWords(request)) return [text('Working on it')];
    if (isAskedForSummary(request)) return [text('A work item is in progress.')];
    const service = await agents.service?.(request) ?? {};
    if (service.status) return service;
    const conducts = isConductor(request);
    // After /clear an agent goes on in another session; with -p a conductor is not named.
    const key = request.agent || `${request.session}${conducts ? ' conductor' : ''}`;
    let script = conversations.get(key);
    let turn;
    if (!script || (conducts && request.messages.every(({ role }) => role !== 'assistant'))) {
      script = !request.agent || conducts ? converse(request, agents)
        : request.tools.includes('StructuredOutput') ? actInScript(request, agents) : act(request, agents);
      conversations.set(key, script);
      turn = script.next();
    } else {
      turn = script.next(request.news);
    }
    while (turn.value instanceof Promise) {
      await turn.value;
      turn = script.next();
    }
    return service.usage ? { blocks: turn.value, ...service } : turn.value;
  };
}

// Bytes that the requests of one conversation carry for a stretch of blocks: what the model wrote in its
// calls, and what the client put into their results.
export function bytesOf(blocks) {
  let bytes = 0;
  for (const block of blocks)
    for (const part of block.type === 'tool_use' ? [JSON.stringify(block.input)] : block.type === 'text' ? [block.text]
      : blocksOf(block.content).map((one) => one.text ?? ''))
      bytes += Buffer.byteLength(portable(part));
  return bytes;
}
