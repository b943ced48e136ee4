// The four APIs that harnesses speak, on one loopback port: Anthropic's Messages, OpenAI's Responses and Chat Completions,
// Google's generateContent. `script(request)` returns the answer to each request in a form that is independent of the API:
//
//   'text'                                          the model's last message
//   [text(...), use(...)]                           blocks of the Messages API
//   { text, calls: [{ name, input }], usage }       a message with tool calls; usage: { input, output[, cached, written] }
//   { status, message, code, headers }              an error in the API's format
//   { drop: true }                                  the connection ends
//
// It may return a promise. `request`: { api, path, key, model, tools: [names], results: [texts of tools], body, bytes, inFlight };
// the Messages API adds { session, agent, system, messages: [{ role, blocks }], news: blocks after the model's last message }.

import http from 'node:http';

export const text = (value) => ({ type: 'text', text: value });
export const use = (name, input) => ({ type: 'tool_use', id: fresh('toolu'), name, input });
export const blocksOf = (content) => (typeof content === 'string' ? [text(content)] : content ?? []);
export const textOf = (content) => blocksOf(content).map((block) => block.text ?? '').join('\n');
const named = (tools, name = (tool) => tool.name) => (tools ?? []).map(name).filter(Boolean);

let unique = 0;
const fresh = (word) => `${word}_${++unique}`;

// Each: the pattern of its path, the content of a request, the events of an answer, and the body of an error.
const messages = {
  path: /\/v1\/messages$/,
  key: (headers) => headers['x-api-key'] ?? headers.authorization,
  read(body, headers) {
    const messages = (body.messages ?? []).map(({ role, content }) => ({ role, blocks: blocksOf(content) }));
    const last = messages.findLastIndex((one) => one.role === 'assistant');
    return {
      session: headers['x-claude-code-session-id'] ?? '',
      agent: headers['x-claude-code-agent-id'] ?? '',
      system: textOf(body.system),
      tools: named(body.tools),
      results: messages.flatMap((one) => one.blocks).filter((one) => one.type === 'tool_result').map((one) => textOf(one.content)),
      messages,
      news: messages.slice(last + 1).flatMap((one) => one.blocks),
    };
  },
  * events({ text: words, calls, usage, blocks = [...(words ? [text(words)] : []), ...calls.map((call) => use(call.name, call.input))] }, { model }) {
    const counts = { input_tokens: usage.input, output_tokens: usage.output, cache_creation_input_tokens: usage.written ?? 0,
      cache_read_input_tokens: usage.cached ?? 0 };
    yield { type: 'message_start', message: { id: fresh('msg'), type: 'message', role: 'assistant', model, content: [],
      stop_reason: null, stop_sequence: null, usage: { ...counts, output_tokens: 1 } } };
    for (const [index, block] of blocks.entries()) {
      const tool = block.type === 'tool_use';
      yield { type: 'content_block_start', index, content_block: tool ? { ...block, input: {} } : text('') };
      yield { type: 'content_block_delta', index, delta: tool
        ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } : { type: 'text_delta', text: block.text } };
      yield { type: 'content_block_stop', index };
    }
    yield { type: 'message_delta', delta: { stop_reason: blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: counts };
    yield { type: 'message_stop' };
  },
  error: ({ message, code }) => ({ type: 'error', error: { type: code ?? 'api_error', message } }),
};

const responses = {
  path: /\/responses$/,
  key: (headers) => headers.authorization,
  read: (body) => ({
    tools: named(body.tools),
    results: (body.input ?? []).filter((item) => /_output$/.test(item.type))
      .map((item) => (typeof item.output === 'string' ? item.output : JSON.stringify(item.output))),
  }),
  * events({ text, calls, usage }, { model }) {
    const items = [
      ...(text ? [{ type: 'message', id: fresh('msg'), role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] }] : []),
      ...calls.map((call) => ({ type: 'function_call', id: fresh('fc'), call_id: fresh('call'), name: call.name, arguments: JSON.stringify(call.input), status: 'completed' })),
    ];
    const response = { id: fresh('resp'), object: 'response', created_at: 1, status: 'completed', model, output: items, usage: {
      input_tokens: usage.input, input_tokens_details: { cached_tokens: 0 }, output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 }, total_tokens: usage.input + usage.output } };
    yield { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } };
    for (const [index, item] of items.entries()) {
      yield { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress', ...(item.content ? { content: [] } : { arguments: '' }) } };
      if (item.content) {
        const where = { item_id: item.id, output_index: index, content_index: 0 };
        yield { type: 'response.content_part.added', ...where, part: { type: 'output_text', text: '', annotations: [] } };
        yield { type: 'response.output_text.delta', ...where, delta: text };
        yield { type: 'response.output_text.done', ...where, text };
      }
      yield { type: 'response.output_item.done', output_index: index, item };
    }
    yield { type: 'response.completed', response };
  },
  error: ({ message, code }) => ({ error: { type: code ?? 'api_error', code: code ?? null, message } }),
};

const chat = {
  path: /\/chat\/completions$/,
  unnamed: true,
  key: (headers) => headers.authorization,
  read: (body) => ({
    tools: named(body.tools, (tool) => tool.function?.name),
    results: (body.messages ?? []).filter((one) => one.role === 'tool').map((one) => textOf(one.content)),
  }),
  * events({ text, calls, usage }, { model }) {
    const base = { id: fresh('chat'), object: 'chat.completion.chunk', created: 1, model };
    const delta = { role: 'assistant', content: text || null };
    if (calls.length)
      delta.tool_calls = calls.map((call, index) => ({ index, id: fresh('call'), type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.input) } }));
    yield { ...base, choices: [{ index: 0, delta, finish_reason: null }] };
    yield { ...base, choices: [{ index: 0, delta: {}, finish_reason: calls.length ? 'tool_calls' : 'stop' }] };
    yield { ...base, choices: [], usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output } };
    yield '[DONE]';
  },
  error: responses.error,
};

const STATUS = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 429: 'RESOURCE_EXHAUSTED', 503: 'UNAVAILABLE' };
const generate = {
  path: /\/models\/[^/]+:streamGenerateContent$/,
  unnamed: true,
  key: (headers) => headers['x-goog-api-key'],
  model: (path) => /\/models\/([^/:]+):/.exec(path)[1],
  read: (body) => ({
    tools: (body.tools ?? []).flatMap((tool) => named(tool.functionDeclarations)),
    results: (body.contents ?? []).flatMap((one) => one.parts ?? []).filter((part) => part.functionResponse)
      .map((part) => JSON.stringify(part.functionResponse.response)),
  }),
  * events({ text, calls, usage }, { model }) {
    const content = [...(text ? [{ text }] : []), ...calls.map((call) => ({ functionCall: { name: call.name, args: call.input } }))];
    yield { candidates: [{ content: { role: 'model', parts: content }, finishReason: 'STOP', index: 0 }], modelVersion: model,
      usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output, totalTokenCount: usage.input + usage.output } };
  },
  error: ({ status, message }) => ({ error: { code: status, message, status: STATUS[status] ?? 'INTERNAL' } }),
};

const APIS = { messages, responses, chat, generate };

async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

function send(response, api, request, answer) {
  if (answer.drop) return response.destroy();
  if (answer.status) {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    return response.end(JSON.stringify(api.error(answer)));
  }
  const given = Array.isArray(answer) ? { blocks: answer } : typeof answer === 'string' ? { text: answer } : answer;
  const whole = { text: '', calls: [], usage: { input: 100, output: 10 }, ...given };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of api.events(whole, request))
    response.write(`${api.unnamed ? '' : `event: ${event.type}\n`}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  return response.end();
}

// Codex first asks for a WebSocket. With status 426 it falls back to HTTP without a retry.
function sendOther(request, response, models) {
  if (request.method === 'GET' && request.url.endsWith('/models')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) }));
  }
  return response.writeHead(request.method === 'GET' && request.url.endsWith('/responses') ? 426 : 404).end();
}

// `log` has the requests with their answers, `paths` the paths of all requests, `errors` what the script threw; then `onError`
// is called.
export async function startApis(script, { models = ['m1'] } = {}) {
  const self = { log: [], errors: [], paths: new Set(), onError: () => {} };
  let inFlight = 0;
  const handle = async (request, response) => {
    const path = request.url.split('?')[0];
    const [name, api] = Object.entries(APIS).find(([, one]) => one.path.test(path)) ?? [];
    self.paths.add(`${request.method} ${path}`);
    if (request.method !== 'POST' || !api) {
      sendOther(request, response, models);
      return;
    }
    const raw = await read(request);
    const body = JSON.parse(raw);
    const entry = { api: name, path, key: api.key(request.headers), model: body.model ?? api.model?.(path), body, bytes: raw.length,
      inFlight: ++inFlight, ...api.read(body, request.headers) };
    self.log.push(entry);
    try {
      entry.answer = await script(entry);
    } finally {
      inFlight--;
    }
    send(response, api, entry, entry.answer);
  };
  const server = http.createServer((request, response) => {
    handle(request, response).catch((error) => {
      self.errors.push(error);
      self.onError();
      response.destroy();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(self, {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }),
  });
}
