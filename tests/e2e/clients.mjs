// The real clients: pinned versions from one npm install, each with a directory of its own for PATH. The directory of the
// installation is named after its packages and appears only when it is complete, so it is reused until a pin changes.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const arm = process.arch === 'arm64';
const arch = arm ? 'linux-arm64' : 'linux-x64';
const claude = `@anthropic-ai/claude-code-${arch}${process.report.getReport().header.glibcVersionRuntime ? '' : '-musl'}`;
const opencode = arm ? 'opencode-linux-arm64' : 'opencode-linux-x64-baseline';
const bundledNode = Number(process.versions.node.split('.')[0]) < 20; // Gemini CLI needs a newer node

// The packages of one platform, without the installers around them. Downloads: Claude Code 120 MB, Codex 167 MB, OpenCode 60 MB,
// Gemini CLI 21 MB.
const CLIENTS = {
  'claude-code': { program: 'claude', version: '2.1.329', packages: [`${claude}@2.1.329`], file: `${claude}/claude` },
  codex: { program: 'codex', version: '0.169.0', packages: [`codex@npm:@openai/codex@0.169.0-${arch}`],
    file: `codex/vendor/${arm ? 'aarch64' : 'x86_64'}-unknown-linux-musl/bin/codex` },
  'gemini-cli': { program: 'gemini', version: '0.61.0', packages: ['@google/gemini-cli@0.61.0', ...(bundledNode ? [`node-${arch}@22.23.3`] : [])],
    file: '@google/gemini-cli/bundle/gemini.js', node: bundledNode ? `node-${arch}/bin/node` : process.execPath },
  opencode: { program: 'opencode', version: '1.18.33', packages: [`${opencode}@1.18.33`], file: `${opencode}/bin/opencode` },
};

// Returns null or what is wrong.
function npmInstall(packages, directory, target) {
  const args = ['install', '--no-fund', '--no-audit', '--no-save', '--omit=optional', '--prefix', directory, ...packages];
  const run = spawnSync('npm', args, { encoding: 'utf8', timeout: 400000 });
  if (run.status !== 0)
    return `npm cannot install ${packages.join(' ')}: ${run.error?.message ?? run.stderr.trim().split('\n').find((line) => /^npm err/i.test(line)) ?? run.stderr}`;
  for (const [name, { program, version, file, node }] of Object.entries(CLIENTS)) {
    const modules = (base, at) => path.resolve(base, 'node_modules', at);
    const command = (base) => `#!/bin/sh\nexec ${node ? `'${modules(base, node)}' ` : ''}'${modules(base, file)}' "$@"\n`;
    const link = path.join(directory, 'bin', name, program);
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.writeFileSync(link, command(directory), { mode: 0o755 });
    const answer = spawnSync(link, ['--version'], { encoding: 'utf8', timeout: 60000, env: { PATH: '/usr/bin:/bin', HOME: path.join(directory, 'home') } });
    if (answer.status !== 0 || !answer.stdout.includes(version)) return `'${program} --version' does not answer ${version}: ${answer.stdout}${answer.stderr}`;
    fs.writeFileSync(link, command(target));
  }
  return null;
}

// Returns {name: {version, bin, program}}, or throws an error with the reason.
export function installClients(base) {
  const packages = Object.values(CLIENTS).flatMap((client) => client.packages);
  const target = path.join(base, `clients-${createHash('sha256').update(packages.join()).digest('hex').slice(0, 12)}`);
  if (!fs.existsSync(target)) {
    fs.rmSync(base, { recursive: true, force: true });
    fs.mkdirSync(`${target}.new`, { recursive: true });
    const error = npmInstall(packages, `${target}.new`, target);
    if (error) throw new Error(error);
    fs.renameSync(`${target}.new`, target);
  }
  return Object.fromEntries(Object.entries(CLIENTS).map(([name, { version, program }]) => {
    const bin = path.join(target, 'bin', name);
    return [name, { version, bin, program: path.join(bin, program) }];
  }));
}
