// Stand-ins for the APIs of Neon and Supabase, as far as branches go: node vendors.mjs DIR. They accept only what the vendors'
// descriptions allow (Neon: public-v2-for-users.gen.yaml of @neondatabase/api-client 2.7.3; Supabase: the types of
// supabase-management-js 2.0.2); anything else is answered with 400 and written to DIR/violations.
//
// Each line of DIR/faults, `METHOD PATH-PART WHAT`, is used up by the first request that it fits; WHAT is a status (`429`), or
// `cut-before` and `cut-after` (the connection ends before or after the effect) or `malformed`. Requests go to DIR/requests.
import fs from 'node:fs'
import http from 'node:http'

const dir = process.argv[2]
const at = name => `${dir}/${name}`
const read = name => (fs.existsSync(at(name)) ? fs.readFileSync(at(name), 'utf8') : '')

// ---- what is allowed ----

const text = v => typeof v === 'string'
const shape = (value, members) => value !== null && typeof value === 'object' && !Array.isArray(value) &&
	Object.keys(value).every(k => members[k]?.(value[k]))
const id = v => text(v) && /^[a-z0-9-]{1,60}$/.test(v)
const routes = [
	{ method: 'POST', path: /^\/projects\/([a-z0-9-]{1,60})\/branches$/, query: {}, act: neonCreate,
		body: v => shape(v, {
			branch: b => shape(b, { parent_id: id, name: n => text(n) && n.length >= 1 && n.length <= 256 }),
			endpoints: e => Array.isArray(e) && e.every(x => shape(x, { type: t => t === 'read_write' || t === 'read_only' }) && x.type),
		}) },
	{ method: 'GET', path: /^\/projects\/([a-z0-9-]{1,60})\/branches$/, act: neonList,
		query: { search: text, cursor: text, limit: v => /^\d+$/.test(v) && v >= 1 && v <= 10000 } },
	{ method: 'GET', path: /^\/projects\/([a-z0-9-]{1,60})\/branches\/([a-z0-9-]{1,60})$/, query: {}, act: neonGet },
	{ method: 'DELETE', path: /^\/projects\/([a-z0-9-]{1,60})\/branches\/([a-z0-9-]{1,60})$/, query: {}, act: neonDelete },
	{ method: 'GET', path: /^\/projects\/([a-z0-9-]{1,60})\/connection_uri$/, act: neonUri, needs: ['database_name', 'role_name'],
		query: { branch_id: id, database_name: text, role_name: text } },
	{ method: 'GET', path: /^\/v1\/projects\/([a-z0-9]+)\/branches$/, query: {}, act: supabaseList },
	{ method: 'POST', path: /^\/v1\/projects\/([a-z0-9]+)\/branches$/, query: {}, act: supabaseCreate,
		body: v => shape(v, { branch_name: n => text(n) && n.length >= 1, with_data: b => typeof b === 'boolean' }) && v.branch_name },
	{ method: 'GET', path: /^\/v1\/branches\/([^/]+)$/, query: {}, act: supabaseGet },
	{ method: 'DELETE', path: /^\/v1\/branches\/([^/]+)$/, query: {}, act: supabaseDelete },
]

// ---- Neon: pages of one branch ----

const neon = [{ id: 'br-main-1', name: 'main', current_state: 'ready' }, { id: 'br-old-2', name: 'dt-other-branch', current_state: 'ready' }]
let next = 3
const gone = what => [404, { code: '', message: `${what} not found` }]
function neonCreate(m, query, body) {
	if (m[1] !== 'prj-1') return gone('project')
	if (neon.some(b => b.name === body.branch.name)) return [409, { code: 'BRANCH_ALREADY_EXISTS', message: 'branch already exists' }]
	if (!neon.some(b => b.id === body.branch.parent_id)) return gone('parent')
	const made = { id: `br-new-${next++}`, name: body.branch.name, parent_id: body.branch.parent_id, current_state: 'init' }
	neon.push(made)
	return [201, { branch: { ...made }, endpoints: [], operations: [], roles: [], databases: [] }]
}
function neonList(m, query) {
	if (m[1] !== 'prj-1') return gone('project')
	const fits = neon.filter(b => !query.search || b.name.includes(query.search))
	const from = query.cursor ? Number(Buffer.from(query.cursor, 'base64')) : 0
	const end = from + 1 < fits.length ? { pagination: { next: Buffer.from(String(from + 1)).toString('base64'), sort_by: 'updated_at', sort_order: 'desc' } } : {}
	return [200, { branches: fits.slice(from, from + 1), annotations: {}, ...end }]
}
function neonGet(m) {
	const b = neon.find(x => x.id === m[2])
	if (!b) return gone('branch')
	const was = { ...b }
	b.current_state = 'ready'
	return [200, { branch: was }]
}
function neonDelete(m) {
	const i = neon.findIndex(x => x.id === m[2])
	if (i < 0) return gone('branch')
	return [200, { branch: neon.splice(i, 1)[0], operations: [] }]
}
function neonUri(m, query) {
	return [200, { uri: `postgresql://${query.role_name}:npg_Secret%2F1@ep-${query.branch_id}.aws.neon.tech/${query.database_name}?sslmode=require` }]
}

// ---- Supabase: no pages ----

const supabase = [{ id: 's-1', name: 'main', is_default: true, polls: 0 }]
function supabaseList(m) {
	if (m[1] !== 'prj1') return [404, { message: 'Project not found' }]
	return [200, supabase.map(b => ({ id: b.id, name: b.name, project_ref: b.id, parent_project_ref: 'prj1', is_default: b.is_default, persistent: false, status: 'MIGRATIONS_PASSED', created_at: '', updated_at: '', with_data: false }))]
}
function supabaseCreate(m, query, body) {
	const made = { id: `s-${next++}`, name: body.branch_name, is_default: false, polls: 0 }
	supabase.push(made)
	return [201, { id: made.id, name: made.name, project_ref: made.id, parent_project_ref: 'prj1', is_default: false, persistent: false, status: 'CREATING_PROJECT', created_at: '', updated_at: '', with_data: false }]
}
function supabaseGet(m) {
	const b = supabase.find(x => x.id === m[1])
	if (!b) return [404, { message: 'Branch not found' }]
	return [200, { ref: b.id, postgres_version: '17', postgres_engine: '17', release_channel: 'ga', status: b.polls++ ? 'ACTIVE_HEALTHY' : 'COMING_UP', db_host: `db.${b.id}.supabase.co`, db_port: 6543, db_user: 'postgres', db_pass: 'p@ss:word/1' }]
}
function supabaseDelete(m) {
	const i = supabase.findIndex(x => x.id === m[1])
	if (i < 0) return [404, { message: 'Branch not found' }]
	supabase.splice(i, 1)
	return [200, { message: 'ok' }]
}

// ---- the server ----

function takeFault(method, path) {
	const lines = read('faults').split('\n').filter(Boolean)
	const i = lines.findIndex(l => l.split(' ')[0] === method && path.includes(l.split(' ')[1]))
	if (i < 0) return ''
	const what = lines.splice(i, 1)[0].split(' ')[2]
	fs.writeFileSync(at('faults'), lines.map(l => l + '\n').join(''))
	return what
}

function answer(request, raw) {
	const url = new URL(request.url, 'http://h')
	const refuse = why => {
		fs.appendFileSync(at('violations'), `${request.method} ${request.url}: ${why}\n`)
		return [400, { code: 'BAD_REQUEST', message: why }]
	}
	if (request.headers.authorization !== 'Bearer tok_Secret1') return [401, { message: 'no such token' }]
	const route = routes.find(r => r.method === request.method && r.path.test(url.pathname))
	if (!route) return refuse('no such operation')
	const query = Object.fromEntries(url.searchParams)
	if (!Object.keys(query).every(k => route.query[k]?.(query[k])) || !(route.needs ?? []).every(k => k in query)) return refuse('query')
	let body
	if (raw) {
		if (request.headers['content-type'] !== 'application/json') return refuse('content type')
		try { body = JSON.parse(raw) } catch { return refuse('JSON') }
	}
	if (route.body ? !route.body(body) : raw) return refuse('body')
	return route.act(url.pathname.match(route.path), query, body)
}

const server = http.createServer((request, response) => {
	let raw = ''
	request.on('data', d => { raw += d })
	request.on('end', () => {
		fs.appendFileSync(at('requests'), `${request.method} ${request.url}\n`)
		const fault = takeFault(request.method, request.url)
		if (fault === 'cut-before') return request.socket.destroy()
		if (/^\d+$/.test(fault)) {
			response.writeHead(Number(fault), { 'content-type': 'application/json', 'retry-after': '1' })
			return response.end(JSON.stringify(fault === '422' ? { code: 'BRANCHES_LIMIT_EXCEEDED', message: 'branches limit exceeded' } : { message: 'as asked' }))
		}
		const [status, value] = answer(request, raw)
		if (fault === 'cut-after') return request.socket.destroy()
		response.writeHead(fault === 'exists' ? 409 : status, { 'content-type': 'application/json' })
		const text = fault === 'malformed' ? '{"branches": [' : JSON.stringify(value) ?? ''
		response.write(text.slice(0, 1))
		setTimeout(() => response.end(text.slice(1)), fault === 'slow' ? 300 : 0)
	})
})
server.listen(0, '127.0.0.1', () => { // whoever waits for the file finds the port in it
	fs.writeFileSync(at('port.new'), String(server.address().port))
	fs.renameSync(at('port.new'), at('port'))
})
setTimeout(() => process.exit(1), 600000).unref()
