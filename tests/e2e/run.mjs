// End-to-end tests with the real clients: `node tests/e2e/run.mjs [--quick] [WORD...]` prints TAP; every WORD must occur in the
// name of a scenario that runs. --quick: only the scenarios of `make test`, which need one Claude Code only; otherwise those with
// the option `versions` run once with each pinned version of it. The clients talk to scripted APIs on loopback. Where the system
// allows it the scenarios have no other network, and a /tmp of their own. E2E_JOBS: scenarios at a time. E2E_KEEP: failed
// scenarios keep their directories.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CLAUDE_VERSIONS, installClients } from './clients.mjs';
import { plugin } from './fixture.mjs';
import { Scenario } from './scenario.mjs';
import { backlog } from './scenarios/backlog.mjs';
import { databases } from './scenarios/databases.mjs';
import { failures } from './scenarios/failures.mjs';
import { graph } from './scenarios/graph.mjs';
import { harness } from './scenarios/harness.mjs';
import { headless } from './scenarios/headless.mjs';
import { instructions } from './scenarios/instructions.mjs';
import { pluginFiles } from './scenarios/plugin.mjs';
import { landing } from './scenarios/landing.mjs';
import { loop } from './scenarios/loop.mjs';
import { order } from './scenarios/order.mjs';
import { policy } from './scenarios/policy.mjs';
import { quota } from './scenarios/quota.mjs';
import { runner } from './scenarios/runners.mjs';
import { sessions } from './scenarios/sessions.mjs';
import { terminal } from './scenarios/terminal.mjs';
import { turns } from './scenarios/turns.mjs';
import { workflows } from './scenarios/workflows.mjs';

const INSIDE = 'DEV_TEAM_E2E_INSIDE';
const directory = path.join(plugin, 'build/e2e');
const jobs = Number(process.env.E2E_JOBS) || Math.max(3, os.cpus().length); // the clients wait a lot

// Runs this program again in namespaces of its own. Some clients write to /tmp whatever TMPDIR says; a repository below /tmp
// has to stay visible. Returns the exit code, or undefined if the system does not allow namespaces.
function isolated() {
  const privateTmp = !plugin.startsWith('/tmp/');
  const tmp = fs.mkdtempSync(path.join(os.tmpdir(), 'dev-team-e2e-'));
  fs.chmodSync(tmp, 0o1777);
  const script = `ip link set lo up${privateTmp ? ' && mount --bind "$0" /tmp && export TMPDIR=/tmp' : ''} && exec "$@"`;
  try {
    for (const flags of ['-nm', '-rnm']) {
      const run = (...command) => spawnSync('unshare', [flags, 'sh', '-c', script, tmp, ...command],
        { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } }).status ?? 1;
      if (spawnSync('unshare', [flags, 'sh', '-c', script, tmp, 'true']).status === 0) return run(process.execPath, ...process.argv.slice(1));
    }
    return undefined;
  } finally {
    if (!process.env.E2E_KEEP) fs.rmSync(tmp, { recursive: true, force: true, maxRetries: 3 });
  }
}

// Runs the scenarios, several at a time, and reports each one when those before it have been reported.
async function runAll(list) {
  const runs = path.join(directory, 'runs');
  fs.rmSync(runs, { recursive: true, force: true });
  const scenarios = list.map(({ name, body, clients }) => ({ body, scenario: new Scenario(name, clients, runs) }));
  let next = 0;
  let reported = 0;
  const worker = async () => {
    while (next < scenarios.length) {
      const one = scenarios[next++];
      const began = Date.now();
      await one.scenario.perform(one.body);
      one.scenario.seconds = ((Date.now() - began) / 1000).toFixed(1);
      one.ended = true;
      for (; scenarios[reported]?.ended; reported++) report(reported + 1, scenarios[reported].scenario);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
}

function report(number, { name, notes, failures, seconds }) {
  for (const line of notes) console.log(`# ${line}`);
  console.log(`${failures.length ? 'not ok' : 'ok'} ${number} - ${name}${seconds ? ` # ${seconds} s` : ''}`);
  for (const line of failures.join('\n').split('\n')) if (failures.length) console.log(`#   ${line}`);
  if (failures.length) process.exitCode = 1;
}

// Reports one result for the whole suite.
function abort(name, reason, skip = false) {
  if (skip) console.log(`ok 1 - ${name} # SKIP ${reason}`);
  else report(1, { name, notes: [], failures: [reason] });
  console.log('1..1');
}

async function main() {
  if (!fs.existsSync(path.join(plugin, 'build/dev-team'))) return abort('the program is built', 'build/dev-team does not exist: run make');
  const quick = process.argv[2] === '--quick';
  const words = process.argv.slice(quick ? 3 : 2);
  // Those that take longest come first.
  const all = [...terminal, ...landing, ...backlog, ...headless, ...harness, ...workflows, ...loop, ...order, ...graph, ...databases, ...quota, ...runner, ...failures, ...turns, ...instructions, ...sessions, ...policy, ...pluginFiles];
  const list = all.filter(([, , options]) => !quick || options?.quick)
    .flatMap(([name, body, options]) => CLAUDE_VERSIONS.slice(0, options?.versions && !quick ? undefined : 1).map((version) =>
      ({ name: version === CLAUDE_VERSIONS[0] ? name : `${name}, Claude Code ${version}`, body, version })))
    .filter(({ name }) => words.every((word) => name.includes(word)));
  if (!list.length) return abort('scenarios are selected', `no scenario has '${words.join("' and '")}' in its name`);
  try {
    const clients = installClients(directory, quick ? ['claude-code'] : undefined);
    for (const one of list) one.clients = { ...clients, ...installClients(directory, ['claude-code'], one.version) };
  } catch (error) {
    return abort('the clients are installed', error.message, !process.env.CI);
  }
  if (!process.env[INSIDE]) {
    const code = isolated();
    if (code !== undefined) return process.exitCode = code;
    console.log('# this system allows no network namespace (unshare); the environment keeps the clients offline');
  }
  const began = Date.now();
  await runAll(list);
  console.log(`# ${((Date.now() - began) / 1000).toFixed(1)} s\n1..${list.length}`);
}

await main();
process.exit(); // without the timers of agents that wait for ever
