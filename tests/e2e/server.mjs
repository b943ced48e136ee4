// A Messages API on loopback: hands every request to a model function, streams what it answers, and
// keeps a log of all requests. It knows the wire format and nothing about dev-team.

import http from 'node:http';

// What a request says, without the wire format around it.
export function readRequest(headers, body) {
  const messages = body.messages ?? [];
  let cut = messages.length;
  while (cut > 0 && messages[cut - 1].role !== 'assistant') cut--;
  return {
    session: headers['x-claude-code-session-id'] ?? '',
    agent: headers['x-claude-code-agent-id'] ?? '',
    tools: (body.tools ?? []).map((tool) => tool.name),
    system: blocksOf(body.system).map((block) => block.text ?? '').join('\n'),
    messages: messages.map((m) => ({ role: m.role, blocks: blocksOf(m.content) })),
    // Blocks after the last assistant message; client notes have the role `system`.
    news: messages.slice(cut).flatMap((m) => blocksOf(m.content)),
  };
}

export function blocksOf(content) {
  if (content === undefined || content === null) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

export function resultText(block) {
  return blocksOf(block.content).map((part) => part.text ?? '').join('\n');
}

let unique = 0;
export const text = (value) => ({ type: 'text', text: value });
export const use = (name, input) => ({ type: 'tool_use', id: `toolu_${++unique}`, name, input });

const USAGE = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 10 };

function* events(blocks, model) {
  yield { type: 'message_start', message: { id: `msg_${++unique}`, type: 'message', role: 'assistant', model,
    content: [], stop_reason: null, stop_sequence: null, usage: { ...USAGE, output_tokens: 1 } } };
  for (const [index, block] of blocks.entries()) {
    const tool = block.type === 'tool_use';
    yield { type: 'content_block_start', index, content_block: tool ? { ...block, input: {} } : text('') };
    yield { type: 'content_block_delta', index, delta: tool
      ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
      : { type: 'text_delta', text: block.text } };
    yield { type: 'content_block_stop', index };
  }
  const stop = blocks.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
  yield { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: USAGE };
  yield { type: 'message_stop' };
}

function read(request) {
  return new Promise((resolve, reject) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
    request.on('error', reject);
  });
}

// `model(request)` returns the blocks of the answer, or a promise of them. What it throws is kept in `errors`, and
// `onError` is called: the run is over.
export async function startServer(model) {
  const log = [];
  const errors = [];
  const paths = new Set();
  const self = { log, errors, paths, onError: () => {} };
  let inFlight = 0;
  const fail = (error) => {
    errors.push(error);
    self.onError();
  };

  const answer = async (request, response) => {
    paths.add(`${request.method} ${request.url.split('?')[0]}`);
    const raw = await read(request);
    if (request.method !== 'POST' || !request.url.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
      response.writeHead(request.method === 'HEAD' ? 200 : 404).end();
      return;
    }
    const body = JSON.parse(raw);
    const entry = { n: log.length, at: Date.now(), ...readRequest(request.headers, body), bytes: raw.length, blocks: null };
    log.push(entry);
    entry.inFlight = ++inFlight;
    try {
      entry.blocks = await model(entry);
    } catch (error) {
      fail(error);
      response.destroy();
      return;
    } finally {
      inFlight--;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events(entry.blocks, body.model))
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };

  const server = http.createServer((request, response) => {
    answer(request, response).catch((error) => {
      fail(error);
      response.destroy();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  Object.assign(self, {
    port: server.address().port,
    stop: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }),
  });
  return self;
}
