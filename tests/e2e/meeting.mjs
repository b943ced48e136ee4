// Meeting points for a test and the agents that it plays: no sleeps, only promises.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const LIMIT = 20000;

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${LIMIT / 1000} s`)), LIMIT);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Nobody passes until `n` have arrived; `most` counts how many stood there at once.
export function barrier(n) {
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  const self = {
    most: 0,
    arrive() {
      if (++self.most === n) open();
      return within(opened, `the meeting of ${n}`);
    },
  };
  return self;
}

// `hold()` tells that somebody got here, and keeps him here for ever.
export function latch() {
  let tell;
  const told = new Promise((resolve) => { tell = resolve; });
  return {
    reached: within(told, 'the place where the client is killed'),
    hold() {
      tell();
      return new Promise(() => {});
    },
  };
}

// A pipe with a name, for a script of the repository to meet the test: either side may come first.
export class Pipe {
  constructor(file) {
    execFileSync('mkfifo', [file]);
    this.file = fs.openSync(file, 'r+');
  }

  tell() {
    fs.writeSync(this.file, 'go\n');
  }

  told(what) {
    return within(new Promise((resolve) => { fs.read(this.file, Buffer.alloc(3), 0, 3, null, resolve); }), what);
  }
}

// A host for the client's control protocol: sends one prompt, lets `decide(tool, input)` answer what it asks, and closes.
export function answerAtOnce(prompt, decide) {
  return (child, log) => {
    const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
    const take = (line) => {
      log(line);
      if (!line.startsWith('{')) return;
      const event = JSON.parse(line);
      if (event.type === 'control_request' && event.request.subtype === 'can_use_tool')
        send({ type: 'control_response', response: { subtype: 'success', request_id: event.request_id,
          response: decide(event.request.tool_name, event.request.input) } });
      if (event.type === 'result') child.stdin.end();
    };
    let rest = '';
    child.stdout.on('data', (part) => {
      const whole = (rest + part).split('\n');
      rest = whole.pop();
      whole.forEach(take);
    });
    send({ type: 'user', message: { role: 'user', content: prompt } });
  };
}
