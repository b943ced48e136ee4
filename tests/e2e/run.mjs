// End-to-end tests with the real client: `node tests/e2e/run.mjs [WORD...]` prints TAP; a WORD chooses scenarios by name.
// The client talks to a scripted Messages API on loopback, in a network of its own where the system lets it.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { install, VERSION } from './client.mjs';
import { installHarnesses, linkClient } from './harnesses.mjs';
import { Stage } from './stage.mjs';
import { statics } from './statics.mjs';
import { harness } from './scenarios/harness.mjs';
import { instructions } from './scenarios/instructions.mjs';
import { paths } from './scenarios/paths.mjs';
import { policy } from './scenarios/policy.mjs';
import { headlessRuns } from './scenarios/headless.mjs';
import { trouble } from './scenarios/trouble.mjs';
import { Tap } from './tap.mjs';
import { plugin } from './world.mjs';

const INSIDE = 'DEV_TEAM_E2E_INSIDE';
const folder = path.join(plugin, 'build/e2e');

// The whole run again, where there is no network but loopback. undefined: this system does not let us.
function isolated() {
  for (const flags of ['-n', '-rn']) {
    if (spawnSync('unshare', [flags, 'ip', 'link', 'set', 'lo', 'up']).status !== 0) continue;
    const script = 'ip link set lo up && exec "$@"';
    const again = [flags, 'sh', '-c', script, 'sh', process.execPath, ...process.argv.slice(1)];
    return spawnSync('unshare', again, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } }).status ?? 1;
  }
  return undefined;
}

function unavailable() {
  if (!fs.existsSync(path.join(plugin, 'build/dev-team'))) return 'build/dev-team is not built: run make';
  return null;
}

// The programs that the chosen scenarios need. They are fetched before the network is gone.
async function gather(chosen, client) {
  const names = [...new Set(chosen.map(([, , needs]) => needs).filter(Boolean))];
  const list = await installHarnesses(names, path.join(folder, 'harnesses'), Boolean(process.env[INSIDE]));
  return names.includes('claude-code') ? { ...list, 'claude-code': linkClient(client.file, VERSION, path.join(folder, 'harnesses')) } : list;
}

// Scenarios whose program could not be had are skipped; in CI that is a failure.
function present(chosen, harnesses, tap) {
  for (const { name, version, skip } of Object.values(harnesses))
    if (skip && process.env.CI) tap.report(false, `harness ${name} ${version}`, skip);
    else if (skip) tap.skip(`harness ${name} ${version}`, skip);
  return chosen.filter(([, , needs]) => !harnesses[needs]?.skip);
}

async function main() {
  const tap = new Tap();
  const missing = unavailable();
  if (missing) {
    tap.report(false, 'the program is built', missing);
    return tap.end() ? 0 : 1;
  }
  const client = install(path.join(folder, 'client'));
  if (client.skip) {
    if (process.env.CI) tap.report(false, `client ${VERSION}`, client.skip);
    else tap.skip(`client ${VERSION}`, client.skip);
    return tap.end() ? 0 : 1;
  }
  const words = process.argv.slice(2);
  const all = [...harness, ...statics, ...paths, ...trouble, ...instructions, ...policy, ...headlessRuns];
  const chosen = all.filter(([name]) => words.every((word) => name.includes(word)));
  const harnesses = await gather(chosen, client);
  if (!process.env[INSIDE]) {
    const code = isolated();
    if (code !== undefined) return code;
    tap.note('no network of our own here (unshare); the client is kept offline by its environment');
  }
  const began = Date.now();
  const stage = new Stage({ client: client.file, harnesses, folder: path.join(folder, 'runs'), tap });
  if (!chosen.length) tap.report(false, `a scenario with '${words.join("' and '")}' in its name`);
  await stage.perform(present(chosen, harnesses, tap));
  tap.note(`${((Date.now() - began) / 1000).toFixed(1)} s`);
  return tap.end() ? 0 : 1;
}

process.exitCode = await main();
