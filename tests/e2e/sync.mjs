// Synchronisation of a test with its agents and scripts: promises, no sleeps.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

// Milliseconds that anything may take. It is a protection against hanging only, at least 20 times what anything takes on an idle
// machine.
export const LIMIT = 600000;

// Calls `expire` once nothing has restarted it within the LIMIT: of a run that takes long, each sign of progress does.
export function timer(expire) {
  let running = setTimeout(expire, LIMIT);
  return {
    stop: () => clearTimeout(running),
    restart() {
      clearTimeout(running);
      running = setTimeout(expire, LIMIT);
    },
  };
}

function within(promise, event) {
  let limit;
  const timeout = new Promise((_, reject) => {
    limit = timer(() => reject(new Error(`${event} did not happen within ${LIMIT / 1000} s`)));
  });
  return Promise.race([promise, timeout]).finally(() => limit.stop());
}

// `wait()` resolves when it has been called `n` times; `waiting` counts the calls.
export function barrier(n) {
  const { promise, resolve } = deferred();
  return {
    waiting: 0,
    wait() {
      if (++this.waiting === n) resolve();
      return within(promise, `the arrival of ${n} agents`);
    },
  };
}

// `reached` resolves when `block()` has been called, which never returns. Its time runs from when it is read.
export function breakpoint() {
  const { promise, resolve } = deferred();
  return {
    get reached() { return within(promise, 'the breakpoint'); },
    block() {
      resolve();
      return new Promise(() => {});
    },
  };
}

// `wait()` resolves `reached`, and resolves itself when `open()` is called. The time of `reached` runs from when it is read.
export function gate() {
  const [there, opened] = [deferred(), deferred()];
  return {
    get reached() { return within(there.promise, 'the gate'); },
    open: opened.resolve,
    wait() {
      there.resolve();
      return within(opened.promise, 'the opening of the gate');
    },
  };
}

function deferred() {
  let resolve;
  const promise = new Promise((settle) => { resolve = settle; });
  return { promise, resolve };
}

// A named pipe between the test and a script of the repository; either side may come first.
export class Fifo {
  constructor(file) {
    execFileSync('mkfifo', [file]);
    this.file = fs.openSync(file, 'r+');
  }

  write() {
    fs.writeSync(this.file, 'go\n');
  }

  read(event) {
    return within(new Promise((resolve) => { fs.read(this.file, Buffer.alloc(3), 0, 3, null, resolve); }), event);
  }
}
