// The real clients: pinned versions, each installed when a scenario first needs it, with a directory of its own for PATH. The
// directory is named after its packages and appears only when it is complete, so it is reused until a pin changes.
// Claude Code is pinned twice: some scenarios run with both versions. E2E_CLAUDE: one other version instead, such as the newest
// (`npm view @anthropic-ai/claude-code version`).

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { LIMIT } from './sync.mjs';

const arm = process.arch === 'arm64';
const arch = arm ? 'linux-arm64' : 'linux-x64';
const claude = `@anthropic-ai/claude-code-${arch}${process.report.getReport().header.glibcVersionRuntime ? '' : '-musl'}`;
const opencode = arm ? 'opencode-linux-arm64' : 'opencode-linux-x64-baseline';
export const CLAUDE_VERSIONS = process.env.E2E_CLAUDE ? [process.env.E2E_CLAUDE] : ['2.1.329', '2.1.332'];
const bundledNode = Number(process.versions.node.split('.')[0]) < 20; // Gemini CLI needs a newer node

// The packages of one platform, without the installers around them. Downloads: Claude Code twice 120 MB, Codex 167 MB, OpenCode
// 60 MB, Gemini CLI 21 MB, Neon's client 1 MB. The last one is a library, without a program.
const claudeCode = (version) => ({ program: 'claude', version, packages: [`${claude}@${version}`], file: `${claude}/claude` });
const CLIENTS = {
  'claude-code': claudeCode(CLAUDE_VERSIONS[0]),
  codex: { program: 'codex', version: '0.169.0', packages: [`codex@npm:@openai/codex@0.169.0-${arch}`],
    file: `codex/vendor/${arm ? 'aarch64' : 'x86_64'}-unknown-linux-musl/bin/codex` },
  'gemini-cli': { program: 'gemini', version: '0.61.0', packages: ['@google/gemini-cli@0.61.0', ...(bundledNode ? [`node-${arch}@22.23.3`] : [])],
    file: '@google/gemini-cli/bundle/gemini.js', node: bundledNode ? `node-${arch}/bin/node` : process.execPath },
  opencode: { program: 'opencode', version: '1.18.33', packages: [`${opencode}@1.18.33`], file: `${opencode}/bin/opencode` },
  'neon-api-client': { version: '2.7.3', packages: ['@neondatabase/api-client@2.7.3'], library: '@neondatabase/api-client' },
};

// Throws an error that says what is wrong.
function install({ program, version, packages, file, node }, directory, target) {
  const args = ['install', '--no-fund', '--no-audit', '--no-save', '--omit=optional', '--prefix', directory, ...packages];
  const run = spawnSync('npm', args, { encoding: 'utf8', timeout: LIMIT });
  if (run.status !== 0)
    throw new Error(`npm cannot install ${packages.join(' ')}: ${run.error?.message ?? run.stderr.trim().split('\n').find((line) => /^npm err/i.test(line)) ?? run.stderr}`);
  if (!program) return;
  const modules = (base, at) => path.resolve(base, 'node_modules', at);
  const command = (base) => `#!/bin/sh\nexec ${node ? `'${modules(base, node)}' ` : ''}'${modules(base, file)}' "$@"\n`;
  const link = path.join(directory, 'bin', program);
  fs.mkdirSync(path.dirname(link));
  fs.writeFileSync(link, command(directory), { mode: 0o755 });
  const answer = spawnSync(link, ['--version'], { encoding: 'utf8', timeout: LIMIT, env: { PATH: '/usr/bin:/bin', HOME: path.join(directory, 'home') } });
  if (answer.status !== 0 || !answer.stdout.includes(version)) throw new Error(`'${program} --version' does not answer ${version}: ${answer.stdout}${answer.stderr}`);
  fs.writeFileSync(link, command(target));
}

// Returns {name: {version, bin, program}} of the named clients, with Claude Code of the `claudeVersion`, or throws an error with the
// reason. A library has {version, load()}.
export function installClients(base, names = Object.keys(CLIENTS), claudeVersion = CLAUDE_VERSIONS[0]) {
  return Object.fromEntries(names.map((name) => {
    const client = name === 'claude-code' ? claudeCode(claudeVersion) : CLIENTS[name];
    const { version, program, packages, library } = client;
    const target = path.join(base, `${name}-${version}-${createHash('sha256').update(packages.join()).digest('hex').slice(0, 12)}`);
    if (!fs.existsSync(target)) {
      fs.rmSync(`${target}.new`, { recursive: true, force: true });
      fs.mkdirSync(`${target}.new`, { recursive: true });
      install(client, `${target}.new`, target);
      fs.renameSync(`${target}.new`, target);
    }
    if (library) return [name, { version, load: () => createRequire(path.join(target, 'load.js'))(library) }];
    const bin = path.join(target, 'bin');
    return [name, { version, bin, program: path.join(bin, program) }];
  }));
}
