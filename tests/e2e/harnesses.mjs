// The programs of the harnesses beside Claude Code: pinned versions, installed once, each with a folder for PATH.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const ARCH = process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64';
const OPENCODE = ARCH === 'linux-x64' ? 'opencode-linux-x64-baseline' : 'opencode-linux-arm64';
const NODE = `node-${ARCH}`;
const oldNode = Number(process.versions.node.split('.')[0]) < 20; // Gemini CLI does not start with it

const native = (program, file) => (folder) => ({ program, file: path.join(folder, 'node_modules', file) });
const script = (program, file) => (folder) => ({ program, file: path.join(folder, 'node_modules', file),
  node: oldNode ? path.join(folder, 'node_modules', NODE, 'bin/node') : process.execPath });

// Downloads: Codex 167 MB, OpenCode 60 MB, Gemini CLI 21 MB. OpenCode's own package brings two programs.
const TOOLS = {
  codex: { version: '0.169.0', packages: ['@openai/codex@0.169.0'],
    place: (folder) => native('codex', path.join(`@openai/codex-${ARCH}`, 'vendor',
      ARCH === 'linux-x64' ? 'x86_64-unknown-linux-musl' : 'aarch64-unknown-linux-musl', 'bin/codex'))(folder) },
  'gemini-cli': { version: '0.61.0', packages: ['@google/gemini-cli@0.61.0', ...(oldNode ? [`${NODE}@22.23.3`] : [])],
    place: script('gemini', '@google/gemini-cli/bundle/gemini.js'), options: ['--omit=optional'] },
  opencode: { version: '1.18.33', packages: [`${OPENCODE}@1.18.33`], place: native('opencode', `${OPENCODE}/bin/opencode`) },
};

// A program that takes its node from where it was installed, whatever PATH says.
function link({ program, file, node }, bin) {
  const target = path.join(bin, program);
  fs.mkdirSync(bin, { recursive: true });
  fs.rmSync(target, { force: true });
  if (node) fs.writeFileSync(target, `#!/bin/sh\nexec '${node}' '${file}' "$@"\n`, { mode: 0o755 });
  else fs.symlinkSync(file, target);
  return target;
}

function answersVersion(tool, folder) {
  const place = tool.place(folder);
  if (!fs.existsSync(place.file)) return false;
  const run = spawnSync(link(place, path.join(folder, 'bin')), ['--version'], { encoding: 'utf8', timeout: 30000,
    env: { PATH: '/usr/bin:/bin', HOME: path.join(folder, 'home') } });
  return run.status === 0 && run.stdout.includes(tool.version);
}

function npm(tool, folder) {
  fs.mkdirSync(folder, { recursive: true });
  const args = ['install', '--no-fund', '--no-audit', '--no-save', ...(tool.options ?? []), '--prefix', folder, ...tool.packages];
  return new Promise((resolve) => {
    const child = spawn('npm', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 240000 });
    let said = '';
    child.stderr.on('data', (text) => { said += text; });
    child.on('error', (fault) => resolve(fault.message));
    child.on('close', () => resolve(said.split('\n').find((line) => /^npm err/i.test(line)) ?? said.trim().split('\n').at(-1)));
  });
}

async function installOne(name, folder, offline) {
  const tool = TOOLS[name];
  const found = { name, version: tool.version, bin: path.join(folder, 'bin') };
  if (answersVersion(tool, folder)) return found;
  const why = path.join(folder, 'fault.txt'); // for the run inside, which has no network to try again
  if (!offline) fs.writeFileSync(why, await npm(tool, folder));
  if (!offline && answersVersion(tool, folder)) return found;
  const fault = fs.existsSync(why) ? fs.readFileSync(why, 'utf8') : 'it is not there';
  return { ...found, skip: `npm cannot install ${tool.packages.join(' ')}: ${fault}` };
}

// {name: {version, bin}} or with {skip: reason}; `offline`: what is not there is not fetched.
export async function installHarnesses(names, folder, offline) {
  const list = await Promise.all(names.filter((name) => TOOLS[name]).map((name) => installOne(name, path.join(folder, name), offline)));
  return Object.fromEntries(list.map((one) => [one.name, one]));
}

// Claude Code is there already.
export function linkClient(file, version, folder) {
  const bin = path.join(folder, 'claude-code', 'bin');
  link({ program: 'claude', file }, bin);
  return { name: 'claude-code', version, bin };
}
