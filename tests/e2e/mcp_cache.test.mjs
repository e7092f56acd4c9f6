// The tools that a server announced to an earlier process: they are offered without waiting for the server.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';

import { codexExec, makeHome, needs, outputOf, readLines, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { configOf, ECHO, itemCall, SERVER } from './lib/mcp.mjs';

const exec = needs('exec');
/** Longer than a test: a request that waits for a server fails the test. */
const PATIENT = 'mcp_optional_startup_grace_ms = 600000\nmodel = "gpt-5.2"\n';

/** A home whose server `s` can be changed between processes: link is what its settings name. */
function place(t, keys = '') {
	const dir = tempDir(t, 'cache'), log = path.join(dir, 'log'), link = path.join(dir, 'server.mjs');
	fs.symlinkSync(SERVER, link);
	const config = () => PATIENT + configOf({ s: { log, tools: [ECHO] } }, keys).replace(SERVER, link);
	const home = makeHome(t, { url: 'http://127.0.0.1:9/v1' }, '');
	/** Runs a process with these answers of the model; resolves to the requests. */
	const run = async (replies, more = '') => {
		const model = await startModel(t, replies);
		const fresh = makeHome(t, model, config() + more);
		fs.copyFileSync(path.join(fresh, 'config.toml'), path.join(home, 'config.toml'));
		const result = await codexExec(t, model, ['go'], { home, cwd: dir });
		assert.equal(result.code, 0, result.stderr);
		return model.requests();
	};
	const starts = () => readLines(log).filter(({ started }) => started).length;
	const entries = () => fs.readdirSync(path.join(home, 'cache/mcp')).map((name) => path.join(home, 'cache/mcp', name));
	/** The next processes start this program instead. */
	const replace = (text) => { fs.rmSync(link); fs.writeFileSync(link, text); };
	return { home, dir, run, starts, entries, replace };
}
const toolsOf = (request) => request.body.tools.find(({ name }) => name === 'mcp__s')?.tools.map(({ name }) => name);

test('known tools are in the first request, and the first call starts the server', exec, async (t) => {
	const { run, starts } = place(t);
	await run([say('first')]);
	assert.equal(starts(), 1);
	const [second] = await run([say('no call')]);
	assert.deepEqual(toolsOf(second), ['echo']);
	assert.equal(starts(), 1, 'a process without a call starts no server');
	const requests = await run([reply(itemCall('echo', { say: 'hello' })), say('done')]);
	assert.deepEqual(toolsOf(requests[0]), ['echo']);
	assert.match(outputOf(requests[1], 'c1'), /\{"say":"hello"\}$/);
	assert.equal(starts(), 2);
});

test('a changed list is stored and in the next request', exec, async (t) => {
	const { run, replace } = place(t);
	await run([say('first')]);
	replace(fs.readFileSync(SERVER, 'utf8').replace("const log = ", "script.tools.push({ ...script.tools[0], name: 'later' });\nconst log = "));
	const requests = await run([reply(itemCall('echo', {})), say('done')]);
	assert.deepEqual(requests.map(toolsOf), [['echo'], ['echo', 'later']]);
	assert.deepEqual(toolsOf((await run([say('third')]))[0]), ['echo', 'later']);
});

test('a known server that no longer starts fails its call, and its tools are gone', exec, async (t) => {
	const { run, replace } = place(t);
	await run([say('first')]);
	replace('process.exit(3);');
	const requests = await run([reply(itemCall('echo', {})), say('done')]);
	assert.match(outputOf(requests[1], 'c1'), /failed to start: .*connection closed: initialize response/);
	assert.deepEqual(requests.map(toolsOf), [['echo'], undefined]);
});

test('with startup_readiness = "connection" a known server is started with the session', exec, async (t) => {
	const { run, starts } = place(t, 'startup_readiness = "connection"');
	await run([say('first')]);
	const [second] = await run([say('no call')]);
	assert.deepEqual(toolsOf(second), ['echo']);
	assert.equal(starts(), 2);
});

test('a required server is started at once', exec, async (t) => {
	const { run, starts } = place(t, 'required = true');
	await run([say('first')]);
	await run([say('second')]);
	assert.equal(starts(), 2);
});

for (const [name, spoil] of Object.entries({
	'older than a day': (file) => { const old = new Date(Date.now() - 25 * 3600 * 1000); fs.utimesSync(file, old, old); },
	'of the future': (file) => { const late = new Date(Date.now() + 3600 * 1000); fs.utimesSync(file, late, late); },
	damaged: (file) => fs.writeFileSync(file, fs.readFileSync(file, 'utf8').slice(0, -5)),
	'without tools': (file) => fs.writeFileSync(file, '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}'),
	'too large': (file) => fs.appendFileSync(file, ' '.repeat(3 << 20)),
	'not a file': (file) => { fs.rmSync(file); fs.mkdirSync(file); },
}))
	test(`an entry that is ${name} is not used`, exec, async (t) => {
		const { run, starts, entries } = place(t);
		await run([say('first')]);
		spoil(entries()[0]);
		const [request] = await run([say('second')]);
		assert.deepEqual(toolsOf(request), ['echo']);
		assert.equal(starts(), 2);
	});

test('entries are private, hide the settings, and end after a day', exec, async (t) => {
	const { run, entries, home } = place(t, 'env = { TOKEN = "very-secret" }');
	await run([say('first')]);
	const [entry] = entries();
	assert.equal(fs.statSync(entry).mode & 0o777, 0o600);
	assert.ok(!fs.readFileSync(entry, 'utf8').includes('very-secret'));
	const old = path.join(home, 'cache/mcp', 'old.json');
	fs.writeFileSync(old, '{}');
	fs.utimesSync(old, new Date(0), new Date(0));
	fs.utimesSync(entry, new Date(0), new Date(0));
	await run([say('second')]);
	assert.deepEqual(entries(), [entry]);
});

test('other settings are another entry', exec, async (t) => {
	const { run, starts, entries } = place(t);
	await run([say('first')]);
	await run([say('second')], 'env = { MODE = "other" }\n');
	assert.equal(starts(), 2);
	assert.equal(entries().length, 2);
});

test('a known HTTP server that answers after the first request does not delay it', exec, async (t) => {
	let asked; // resolves when the server may answer
	const server = http.createServer((request, response) => {
		let body = '';
		request.on('data', (bytes) => (body += bytes));
		request.on('end', async () => {
			await asked;
			const { id, method } = JSON.parse(body || '{}');
			if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
			const result = method === 'initialize'
				? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } : { tools: [ECHO] };
			return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
		});
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => { server.closeAllConnections(); server.close(); });
	const model = await startModel(t, [say('first'), say('second')]);
	const home = makeHome(t, model, `${PATIENT}[mcp_servers.s]\nurl = "http://127.0.0.1:${server.address().port}/mcp"\n`);
	assert.equal((await codexExec(t, model, ['go'], { home })).code, 0);
	asked = new Promise(() => {}); // never
	const result = await codexExec(t, model, ['go'], { home });
	assert.equal(result.code, 0, result.stderr);
	assert.deepEqual(model.requests().map(toolsOf), [['echo'], ['echo']]);
});
