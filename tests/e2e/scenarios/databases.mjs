// Database branches of items in the real client, and the stand-in for Neon driven by Neon's own client.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Agents, answer } from '../agents.mjs';
import { plugin, startDevTeam } from '../fixture.mjs';

const pool = (spec) => `apiVersion: dev-team/v1
kind: DatabaseBranchPool
metadata: {name: app}
spec:
${spec.map((line) => `  ${line}\n`).join('')}`;

const POOL = `apiVersion: dev-team/v1
kind: WorktreePool
metadata: {name: p}
spec: {databaseBranchPools: [app]}
`;

const PIPELINE = `apiVersion: dev-team/v1
kind: Pipeline
metadata: {name: p}
spec:
  stages:
    - {name: change, databaseAccess: migrate}
    - {name: look, databaseAccess: read}
`;

const WORKFLOW = `---
security: {policy: developer}
states:
  change: {agent: reviewer, skill: change-database, args: [ID, it], writes: Change, results: {done: ok, failed: bad}}
  look: {agent: reviewer, skill: look-at-database, args: [ID, it], writes: Look, results: {done: ok, failed: bad}}
  talk: {agent: reviewer, skill: talk-of-it, args: [ID, it], writes: Talk, results: {done: ok, failed: bad}}
---
\`\`\`mermaid
stateDiagram-v2
  [*] --> init
  init --> change : start
  change --> look : ok
  look --> talk : ok
  talk --> done : ok
  change --> failed : bad
  look --> failed : bad
  talk --> failed : bad
  done --> [*]
  failed --> [*]
\`\`\`
`;

const skill = (name) => `---
name: ${name}
description: Work with the database.
---
Work with the database of $0. Last line: \`{"status": "done"}\` or \`{"status": "failed"}\`.
`;

// ---- three items ----

const PASSWORD = 's3cret/pw'; // of tests/spec/postgres
const URL_PASSWORD = encodeURIComponent(PASSWORD);
const base64 = (text) => Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1);

// Every form of the password that a program might write.
const FORMS = [PASSWORD, URL_PASSWORD, URL_PASSWORD.toLowerCase(), JSON.stringify(PASSWORD).slice(1, -1).replaceAll('/', '\\/'), PASSWORD.replaceAll('/', '\\u002f'),
  base64(PASSWORD), base64(`dev:${PASSWORD}`), base64(`dev:${URL_PASSWORD}`), Buffer.from(PASSWORD).toString('hex')];

const holders = (buffer) => FORMS.filter((form) => buffer.includes(form));

function* filesBelow(directory) {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* filesBelow(file);
    else if (entry.isFile()) yield file;
  }
}

// The command lines of all processes that can be seen.
const commandLines = () => fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((pid) => {
  try { return fs.readFileSync(`/proc/${pid}/cmdline`); } catch { return Buffer.alloc(0); }
});

// A server for this scenario; `sql(database, text)` asks it.
function startPostgres(root) {
  const script = path.join(plugin, 'tests/spec/postgres');
  const directory = path.join(root, 'pg');
  fs.mkdirSync(directory);
  const out = fs.openSync(path.join(directory, 'out'), 'w');
  const run = (verb) => execFileSync('sh', [script, verb, directory], { stdio: ['ignore', out, out] });
  run('start');
  const port = fs.readFileSync(path.join(directory, 'port'), 'utf8').trim();
  const env = { PATH: process.env.PATH, HOME: root, PGHOST: '127.0.0.1', PGPORT: port, PGUSER: 'dev', PGPASSWORD: PASSWORD };
  return { port, stop: () => { run('stop'); run('remove'); },
    sql: (database, text) => execFileSync('psql', ['-X', '-q', '-A', '-t', '-d', database, '-c', text], { env, encoding: 'utf8' }).trim() };
}

const TABLES = "SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE schemaname = 'public'";
const query = (text) => `psql -X -q -A -t -v ON_ERROR_STOP=1 -c "${text}"`;
const MIGRATION = "printf 'CREATE TABLE later (id integer);\\n' >>db/migrate.sql && git add db && git commit -qm 'A later table' && git push -q -u origin HEAD && psql -X -q -c 'CREATE TABLE later (id integer)'";

// Three clients at the same time, each with an item and its branch; one item has a migration. While an agent of each is at its
// database, the command lines of all processes are looked at.
async function threeItems(t) {
  const fixture = t.fixture();
  const server = startPostgres(fixture.root);
  const upstream = `postgresql://dev:${URL_PASSWORD}@127.0.0.1:${server.port}/app`;
  t.ok(holders(Buffer.from(upstream)).length > 0, 'the search does not find the secret where it is');
  try {
    server.sql('postgres', 'CREATE DATABASE app');
    server.sql('app', 'CREATE TABLE users (name text)');
    fixture.write('.dev-team/config.yaml', 'pipeline: p\n');
    fixture.write('.dev-team/resources/pipeline.yaml', PIPELINE);
    fixture.write('.dev-team/resources/pool.yaml', POOL);
    fixture.write('.dev-team/resources/app.yaml', pool(['adapter: pg-snapshot-restore', 'lifecycle: {maxConcurrent: 5}', 'upstream: {connectionStringEnv: DATABASE_URL_DEV}',
      'injection: {targetEnv: DATABASE_URL, additionalEnvs: [PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD]}',
      "migrations: {migrationCommand: 'psql -X -q -v ON_ERROR_STOP=1 -f db/migrate.sql'}"]));
    fixture.write('db/migrate.sql', 'CREATE TABLE common (id integer);\n');
    fixture.write('flow.md', WORKFLOW);
    for (const name of ['change-database', 'look-at-database', 'talk-of-it']) fixture.write(`.claude/skills/${name}/SKILL.md`, skill(name));
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'A database');
    fixture.git('push', '-q');

    const ids = ['ADR-1', 'ADR-2', 'ADR-3'];
    const table = (id) => `t_${id.replace('-', '').toLowerCase()}`;
    const extra = { DATABASE_URL_DEV: upstream };
    let looks = 0;
    const seen = () => {
      looks++;
      for (const line of commandLines()) t.ok(!holders(line).length, () => `a command line has the secret: ${line.toString().replaceAll('\0', ' ')}`);
    };
    // A command that goes on when the test has looked.
    const looked = (task) => [{ wait: async () => {
      const there = path.join(task.directory, 'there');
      const timer = setInterval(() => {
        if (!fs.existsSync(there)) return;
        clearInterval(timer);
        seen();
        fs.rmSync(there);
      }, 20);
    } }, { run: `touch there && psql -X -q -c 'SELECT 1' -c '\\! while test -e there; do sleep 0.05; done' >look.log && rm look.log` }];
    const runs = await Promise.all(ids.map((id) => t.run(fixture, new Agents(fixture, {
      'change-database': (task) => ({ work: [...looked(task), { run: query(`CREATE TABLE ${table(id)} (id integer)`) },
        ...(id === 'ADR-2' ? [{ run: MIGRATION }] : []), { run: 'echo "upstream:[$DATABASE_URL_DEV]"', gives: /^upstream:\[\]$/m }], ...answer('done', 'It has a table.') }),
      'look-at-database': () => ({ work: [{ run: query(TABLES), gives: new RegExp(`^common ${id === 'ADR-2' ? 'later ' : ''}${table(id)} users$`, 'm') },
        { run: `${query('CREATE TABLE never (id integer)')} 2>&1 || true` }], ...answer('done', 'It is there.') }),
      'talk-of-it': () => ({ work: [{ run: 'echo "[$DATABASE_URL$PGPASSWORD$DATABASE_URL_DEV]"', gives: /^\[\]$/m }], ...answer('done', 'Done.') }),
    }), `/dev-team:dev-team flow.md ${id}`, { extra })));
    for (const run of runs) {
      t.sound(run);
      t.match(run.text, /^success: /, 'result for the user');
      t.ok(!holders(Buffer.from(JSON.stringify(run.log.map((entry) => entry.body)))).length, 'a request has the secret');
    }
    t.equal(looks, ids.length, 'looks at the command lines');

    const devTeam = async (...args) => {
      const { out, err, code } = await startDevTeam(args, { cwd: fixture.repo, env: { ...t.environment(fixture, 'http://127.0.0.1:9'), ...extra } }).done;
      t.equal(code, 0, `exit code of ${args.join(' ')}; ${err}`);
      return out;
    };
    const branches = "SELECT count(*) FROM pg_database WHERE datname LIKE 'dt-%'";
    t.equal(server.sql('postgres', branches), '3', 'branches');
    t.equal(await devTeam('pool', 'audit'), 'nothing is orphaned\n', 'audit');
    t.equal(server.sql('app', TABLES), 'users', 'tables of the upstream');
    for (const id of ids) await devTeam('pool', 'reclaim', `dev-team/${id}`);
    t.equal(server.sql('postgres', branches), '0', 'branches after the reclaim');

    const objects = execFileSync('git', ['-C', fixture.repo, 'cat-file', '--batch', '--batch-all-objects'], { maxBuffer: 1 << 28 });
    t.ok(objects.length > 1000 && !holders(objects).length, 'an object of the repository has the secret');
    let files = 0;
    for (const directory of [fixture.root, t.directory])
      for (const file of filesBelow(directory)) {
        if (file.startsWith(path.join(fixture.root, 'pg'))) continue; // the server's
        files++;
        t.ok(!holders(fs.readFileSync(file)).length, `${file} has the secret`);
      }
    t.note(`three items on three branches: searched ${files} files and ${runs.reduce((n, run) => n + run.log.length, 0)} requests for ${FORMS.length} forms of the secret`);
  } finally {
    server.stop();
  }
}

// ---- Neon ----

const TOKEN = 'tok_Secret1';

async function startStandIn(root) {
  const directory = path.join(root, 'v');
  fs.mkdirSync(directory);
  const child = spawn(process.execPath, [path.join(plugin, 'tests/spec/vendors.mjs'), directory], { stdio: 'ignore' });
  while (!fs.existsSync(path.join(directory, 'port'))) await new Promise((resolve) => { setTimeout(resolve, 20); });
  const read = (name) => (fs.existsSync(path.join(directory, name)) ? fs.readFileSync(path.join(directory, name), 'utf8') : '');
  return { url: `http://127.0.0.1:${read('port')}`, read, stop: () => child.kill() };
}

// The client creates, lists and deletes at the stand-in, which refuses whatever the description does not allow; then it sees
// and deletes a branch that the program has made.
async function neon(t) {
  const fixture = t.fixture();
  const standIn = await startStandIn(fixture.root);
  const { createApiClient, EndpointType } = t.clients['neon-api-client'].load();
  const client = createApiClient({ apiKey: TOKEN, baseURL: standIn.url });
  const all = async (search) => {
    const found = [];
    let cursor;
    do {
      const { data } = await client.listProjectBranches({ projectId: 'prj-1', search, cursor, limit: 1 });
      found.push(...data.branches.map((branch) => branch.name));
      cursor = data.pagination?.next;
    } while (cursor);
    return found;
  };
  const status = (promise) => promise.then((answer) => answer.status, (error) => error.response?.status);
  try {
    const made = await client.createProjectBranch('prj-1', { branch: { parent_id: 'br-main-1', name: 'mine' }, endpoints: [{ type: EndpointType.ReadWrite }] });
    const id = made.data.branch.id;
    t.equal([made.status, made.data.branch.name], [201, 'mine'], 'create');
    t.equal(await all(), ['main', 'dt-other-branch', 'mine'], 'list, page by page');
    t.equal(await all('min'), ['mine'], 'list with a search');
    t.equal((await client.getProjectBranch('prj-1', id)).data.branch.current_state, 'init', 'state at first');
    t.equal((await client.getProjectBranch('prj-1', id)).data.branch.current_state, 'ready', 'state');
    const uri = await client.getConnectionUri({ projectId: 'prj-1', branch_id: id, database_name: 'shop', role_name: 'app' });
    t.equal(new URL(uri.data.uri).pathname, '/shop', 'connection string');
    t.equal(await status(client.createProjectBranch('prj-1', { branch: { parent_id: 'br-main-1', name: 'mine' }, endpoints: [{ type: EndpointType.ReadWrite }] })), 409, 'a name twice');
    t.equal(await status(client.deleteProjectBranch({ projectId: 'prj-1', branchId: id })), 200, 'delete');
    t.equal(await status(client.deleteProjectBranch({ projectId: 'prj-1', branchId: id })), 404, 'delete again');
    t.equal(await status(createApiClient({ apiKey: 'wrong', baseURL: standIn.url }).listProjectBranches({ projectId: 'prj-1' })), 401, 'a wrong token');
    t.equal(standIn.read('violations'), '', 'violations by the client');

    fixture.write('.dev-team/resources/pool.yaml', POOL);
    fixture.write('.dev-team/resources/app.yaml', pool(['adapter: neon', 'upstream: {connectionStringEnv: UPSTREAM, branchFrom: main}',
      'injection: {targetEnv: DATABASE_URL}', 'credentials: {apiTokenEnv: VENDOR_TOKEN, projectId: prj-1}']));
    const env = { ...t.environment(fixture, 'http://127.0.0.1:9'), UPSTREAM: 'postgresql://app:up@ep-main.aws.neon.tech/shop', VENDOR_TOKEN: TOKEN, DEV_TEAM_NEON_URL: standIn.url };
    const devTeam = async (wanted, ...args) => {
      const { out, err, code } = await startDevTeam(args, { cwd: fixture.repo, env }).done;
      t.equal(code, wanted, `exit code of ${args.join(' ')}; ${err}`);
      return out;
    };
    await devTeam(0, 'pool', 'allocate', 'feat/a');
    const [{ key }] = JSON.parse(await devTeam(0, 'db', 'list', '--json')).branches;
    t.equal(await all(key), [key], 'the branch that the program has made');
    const { data } = await client.listProjectBranches({ projectId: 'prj-1', search: key });
    await client.deleteProjectBranch({ projectId: 'prj-1', branchId: data.branches[0].id });
    t.match(await devTeam(1, 'pool', 'audit'), new RegExp(`^missing-branch {2}${key}`), 'audit after the delete');
    await devTeam(0, 'pool', 'reclaim', 'feat/a');
    t.equal(await all(), ['main', 'dt-other-branch'], 'what is left');
    t.equal(standIn.read('violations'), '', 'violations');
  } finally {
    standIn.stop();
  }
}

export const databases = [
  ['databases: three items on three branches, one with a migration, and no secret in what was written', threeItems],
  ["databases: Neon's own client at the stand-in", neon],
];
