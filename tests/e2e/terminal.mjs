// Runs the interactive client in a terminal of tmux, types, and reads the screen. Waiting means for what the screen shows: it is
// read again whenever the client has written.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { LIMIT } from './sync.mjs';

const [COLUMNS, ROWS] = [120, 40];
export const DIALOG = /Do you want|1\. Yes|Auto mode can't check/; // the client asks the user

// What the client asks before the first prompt is answered in its own file.
function answerOnboarding(home, directory, key) {
  fs.writeFileSync(path.join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true, lastOnboardingVersion: '9.9.9', theme: 'dark',
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] }, projects: { [directory]: { hasTrustDialogAccepted: true } } }));
}

let opened = 0;
const running = new Set();
process.on('exit', () => { for (const terminal of running) terminal.close(); });

export class Terminal {
  screens = []; // that were waited for, oldest first: what the user saw

  // `user`: a number; `prepare()` is called when all files are there.
  constructor(program, args, { cwd, env, directory, user, prepare }) {
    answerOnboarding(env.HOME, cwd, env.ANTHROPIC_API_KEY);
    fs.mkdirSync(directory, { recursive: true });
    prepare?.();
    Object.assign(this, { as: { env, uid: user, gid: user }, file: path.join(directory, 'screens.txt'), socket: path.join(env.HOME, `t${++opened}`), waiting: new Set() });
    running.add(this);
    this.tmux('-f', '/dev/null', 'new-session', '-d', '-x', COLUMNS, '-y', ROWS, '-c', cwd, program, ...args, ';',
      'set-option', '-g', 'window-size', 'manual', ';', 'set-option', '-g', 'remain-on-exit', 'on');
    this.control = spawn('tmux', ['-S', this.socket, '-C', 'attach'], { ...this.as, stdio: ['pipe', 'pipe', 'ignore'] });
    this.control.stdout.on('data', () => { for (const waiter of this.waiting) waiter.check(); });
  }

  tmux(...args) {
    return execFileSync('tmux', ['-S', this.socket, ...args], { ...this.as, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  get screen() {
    return this.tmux('capture-pane', '-p').trimEnd();
  }

  // Resolves with the first screen that `pattern` matches. Nobody answers a dialog, unless one is `expected`. The time runs again from
  // each request of the client, because a whole run may be waited for: see moves().
  shows(pattern, expected = false) {
    return new Promise((resolve, reject) => {
      let timer;
      const finish = (settle, value) => {
        clearTimeout(timer);
        this.waiting.delete(waiter);
        settle(value);
      };
      const keep = () => {
        const { screen } = this;
        fs.appendFileSync(this.file, `==== ${pattern}\n${screen}\n`);
        this.screens.push(screen);
        return screen;
      };
      const restart = () => {
        clearTimeout(timer);
        timer = setTimeout(() => waiter.fail(new Error(`the screen does not show ${pattern} within ${LIMIT / 1000} s:\n${keep()}`)), LIMIT);
      };
      const waiter = { restart, fail: (error) => finish(reject, error), check: () => {
        const { screen } = this;
        if (pattern.test(screen)) finish(resolve, keep());
        else if (!expected && DIALOG.test(screen)) waiter.fail(new Error(`the user is asked:\n${keep()}`));
      } };
      restart();
      this.waiting.add(waiter);
      waiter.check();
    });
  }

  // The client has made a request.
  moves() {
    for (const waiter of this.waiting) waiter.restart();
  }

  // Ends all waiting.
  fail(error) {
    for (const waiter of this.waiting) waiter.fail(error);
  }

  // Types a line into the prompt, which is below a ruler. A dialog may still be on the screen.
  async type(line) {
    await this.shows(/─\n❯/);
    this.tmux('send-keys', '-l', '--', line);
    await this.shows(new RegExp(`─\n❯.${line.replace(/[^\w ]/g, '.')}`));
    this.press('Enter');
  }

  press(...keys) {
    this.tmux('send-keys', ...keys);
  }

  // Answers the dialog on the screen, which takes no key at first.
  async accept() {
    for (const until = Date.now() + LIMIT; DIALOG.test(this.screen); await new Promise((resolve) => { setTimeout(resolve, 200); })) {
      if (Date.now() > until) throw new Error(`the dialog stays:\n${this.screen}`);
      this.press('Enter');
    }
  }

  close() {
    running.delete(this);
    try {
      process.kill(Number(this.tmux('display-message', '-p', '#{pane_pid}')), 'SIGKILL');
      this.tmux('kill-server');
    } catch { /* it has ended */ }
  }
}
