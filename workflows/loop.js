// The loop of the slash commands where the client has the Workflow tool (docs/loop.md). The plugin's hook decides: it fills `args`
// with the first actions, records each answer, and adds what comes next to the last one. So only ids and words pass through here.
export const meta = { name: 'loop', description: 'The work item of a dev-team command' }

const start = (id, words, agentType, prompt, text) => agent(prompt, { label: id, agentType, schema: {
  type: 'object', required: ['id', 'word', ...(text ? ['text'] : [])], additionalProperties: true,
  properties: { id: { type: 'string', enum: [id] }, word: { type: 'string', enum: words }, ...(text ? { text: { type: 'string', description: text } } : {}) } } })

const { file } = args
let { next, done } = args
while (next) {
  const got = await parallel(next.map((a) => () => start(a.id, a.words, a.agent, `${file}\n${a.id}`, 'the whole answer')))
  const last = got.find((one) => one?.next || one?.done) ??
    // An agent gave no answer. The hook counts that when this one says that all have returned.
    await start(next[0].id, ['returned'], 'dev-team:script-runner', `Run nothing. Call StructuredOutput at once: id ${next[0].id}, word returned.`)
  next = last?.next
  done = last?.done
}
return done ?? { result: 'stopped', reason: 'the hook of the plugin did not answer; the same command continues the work item' }
