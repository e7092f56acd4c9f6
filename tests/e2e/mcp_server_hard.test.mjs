// `codex mcp-server`: the official conformance suite, many calls at once, limits, wrong messages, clients that vanish.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

import { cleanEnv, codexBin, launch, makeHome, needs, reply, run, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('mcp-server');
const MIB = 1024 * 1024;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const SUITE = here('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const ASKING = { 'approval-policy': 'untrusted', sandbox: 'danger-full-access' };

// --- the official suite, which speaks HTTP ----------------------------------------------------------------------------

/** Passes each session of an HTTP client on to a `codex mcp-server` of its own; resolves to the URL. */
async function bridge(t, home) {
	const sessions = new Map();
	const open = async () => {
		const server = new StdioClientTransport({ command: codexBin, args: ['mcp-server'], cwd: home, env: { ...cleanEnv(), CODEX_HOME: home } });
		const client = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID,
			onsessioninitialized: (id) => { sessions.set(id, client); } });
		client.onmessage = (message) => server.send(message);
		server.onmessage = (message) => client.send(message).catch(() => {});
		client.onclose = () => server.close();
		await Promise.all([server.start(), client.start()]);
		t.after(() => server.close());
		return client;
	};
	const listener = http.createServer(async (request, response) => {
		const client = sessions.get(request.headers['mcp-session-id']) ?? await open();
		await client.handleRequest(request, response);
	});
	await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
	t.after(() => { listener.closeAllConnections(); listener.close(); });
	return `http://127.0.0.1:${listener.address().port}/mcp`;
}

// The other scenarios are about tools of the suite, resources, prompts, completions and logging, which this server does not announce.
for (const scenario of ['server-initialize', 'ping', 'tools-list']) {
	test(`the official suite passes: ${scenario}`, options, async (t) => {
		const url = await bridge(t, makeHome(t, await startModel(t, [say('Unused.')])));
		const { done } = launch(t, process.execPath, ['--import', here('lib/glob_sync.mjs'), SUITE, 'server', '--url', url, '--scenario', scenario],
			{ cwd: tempDir(t), env: cleanEnv('/') });
		const { code, stdout, stderr } = await done;
		assert.equal(code, 0, stdout + stderr);
		assert.match(stdout, /Passed: ([1-9]\d*)\/\1, 0 failed/);
	});
}

// --- raw messages -----------------------------------------------------------------------------------------------------

/** A server that has been initialised; `elicit` answers its questions. */
async function start(t, model, { capabilities = {}, elicit } = {}) {
	const cwd = tempDir(t, 'cwd');
	const { child, done, result } = launch(t, codexBin, ['mcp-server'], { cwd, env: { ...cleanEnv(), CODEX_HOME: makeHome(t, model) } });
	const messages = [], watchers = new Set();
	let rest = '';
	const write = (message) => child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
	child.stdout.on('data', (bytes) => {
		const lines = (rest + bytes).split('\n');
		rest = lines.pop();
		for (const message of lines.map((it) => JSON.parse(it))) {
			messages.push(message);
			if (message.method === 'elicitation/create' && elicit) elicit(message, write);
		}
		for (const look of [...watchers]) look();
	});
	done.then(() => [...watchers].forEach((look) => look()));
	const until = (test) => new Promise((resolve, reject) => {
		const look = () => {
			const found = messages.find(test);
			if (found) resolve(found);
			else if (child.exitCode !== null || child.signalCode !== null) reject(new Error(`it ended: ${result.stderr}`));
			else return;
			watchers.delete(look);
		};
		watchers.add(look);
		look();
	});
	const request = (id, method, params) => {
		write({ jsonrpc: '2.0', id, method, params });
		return until((it) => it.id === id && !it.method);
	};
	const call = (id, name, args) => request(id, 'tools/call', { name, arguments: args });
	const end = async () => {
		child.stdin.end();
		assert.equal((await done).code, 0);
	};
	await request('init', 'initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'tests', version: '1' } });
	write({ jsonrpc: '2.0', method: 'notifications/initialized' });
	return { child, done, cwd, messages, until, write, request, call, end };
}

const accept = (message, write) => write({ jsonrpc: '2.0', id: message.id, result: { action: 'accept', content: {} } });

test('24 calls at once are approved and answered each on its own', options, async (t) => {
	const names = Array.from({ length: 24 }, (_, i) => `job${i}x`);
	const model = await startModel(t, names.flatMap((name) => [{ when: { contains: [name] }, ...run(`touch ${name}`) },
		{ when: { contains: [name, 'function_call_output'] }, ...say(`did ${name}`) }]));
	const server = await start(t, model, { capabilities: { elicitation: {} }, elicit: accept });
	const answers = await Promise.all(names.map((name, i) => server.call(i, 'codex', { prompt: name, ...ASKING })));
	assert.deepEqual(answers.map(({ result }) => result.content[0].text), names.map((name) => `did ${name}`));
	assert.deepEqual(fs.readdirSync(server.cwd).sort(), [...names].sort());
	const threads = new Map(answers.map(({ id, result }) => [id, result.structuredContent.threadId]));
	assert.equal(new Set(threads.values()).size, names.length);
	for (const { params } of server.messages.filter(({ method }) => method === 'codex/event'))
		assert.equal(params._meta.threadId, threads.get(params._meta.requestId));
	for (const { params } of server.messages.filter(({ method }) => method === 'elicitation/create'))
		assert.ok(params.message.includes(names[params.codex_mcp_tool_call_id ?? -1] ?? 'touch'));
	await server.end();
});

test('64 threads are kept; the one that was idle for the longest time makes room', options, async (t) => {
	const model = await startModel(t, [{ ...say('Hello.'), times: 'forever' }]);
	const server = await start(t, model);
	const ids = [];
	for (let i = 0; i < 65; i++) ids.push((await server.call(i, 'codex', { prompt: 'hi' })).result.structuredContent.threadId);
	const gone = await server.call('gone', 'codex-reply', { threadId: ids[0], prompt: 'more' });
	assert.deepEqual([gone.result.isError, gone.result.content[0].text], [true, `Session not found for thread_id: ${ids[0]}`]);
	const kept = await server.call('kept', 'codex-reply', { threadId: ids[1], prompt: 'more' });
	assert.equal(kept.result.content[0].text, 'Hello.');
	await server.end();
});

test('wrong messages are answered, and the server goes on', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'more' }, { delta: ' done.' })]);
	const server = await start(t, model);
	const { write, until, request } = server;
	const errors = () => server.messages.filter(({ error }) => error).map(({ id, error }) => [id, error.code]);
	write({ jsonrpc: '2.0', id: 'same', method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'hi' } } });
	await until(({ params }) => params?.msg?.type === 'agent_message_content_delta' || params?.msg?.type === 'agent_message_delta');
	write({ jsonrpc: '2.0', id: 'same', method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'again' } } });
	write('['.repeat(200) + ']'.repeat(200));
	write('\u0000\u0001');
	write(`{"jsonrpc":"2.0","id":5,"method":"ping","x":"${'x'.repeat(17 * MIB)}"}`);
	write({ jsonrpc: '2.0', id: true, method: 'ping' });
	write({ jsonrpc: '2.0', id: 'x'.repeat(2000), method: 'ping' });
	write({ jsonrpc: '2.0', id: 6, method: 'tools/call', params: [] });
	write({ jsonrpc: '2.0', id: 7, method: 'tools/call' });
	for (const requestId of ['unknown', 5, null, {}]) write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
	for (const id of [1, -1, 'x', 1e300]) write({ jsonrpc: '2.0', id, result: { action: 'accept' } });
	assert.deepEqual((await request(8, 'ping', {})).result, {});
	assert.deepEqual(errors(), [['same', -32600], [null, -32700], [null, -32600], [null, -32600], [6, -32602], [7, -32602]]);
	await model.openGate('more');
	assert.equal((await until(({ id, result }) => id === 'same' && result)).result.content[0].text, 'Half done.');
	await server.end();
});

for (const [name, answer] of [['an unknown action', { result: { action: 'maybe' } }], ['no action', { result: {} }], ['null', { result: null }],
	['a list', { result: ['accept'] }], ['an error', { error: { code: -1, message: 'no' } }]]) {
	test(`an elicitation that is answered by ${name} denies, and a later answer has no effect`, options, async (t) => {
		const model = await startModel(t, [run('touch made'), say('then not')]);
		const server = await start(t, model, { capabilities: { elicitation: { form: {} } }, elicit: (message, write) => {
			write({ jsonrpc: '2.0', id: message.id, ...answer });
			accept(message, write);
		} });
		const { result } = await server.call(1, 'codex', { prompt: 'go', ...ASKING });
		assert.equal(result.content[0].text, 'then not');
		assert.deepEqual(fs.readdirSync(server.cwd), []);
		await server.end();
	});
}

test('a client that opens pages alone is not asked', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('then not')]);
	const server = await start(t, model, { capabilities: { elicitation: { url: {} } }, elicit: accept });
	assert.equal((await server.call(1, 'codex', { prompt: 'go', ...ASKING })).result.content[0].text, 'then not');
	assert.ok(!server.messages.some(({ method }) => method === 'elicitation/create'));
	assert.deepEqual(fs.readdirSync(server.cwd), []);
	await server.end();
});

test('cancelling a call withdraws its question', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('again')]);
	const server = await start(t, model, { capabilities: { elicitation: {} } });
	server.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'go', ...ASKING } } });
	const question = await server.until(({ method }) => method === 'elicitation/create');
	server.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
	await server.until(({ params }) => params?.msg?.type === 'turn_aborted');
	accept(question, server.write);
	const { threadId } = question.params;
	assert.equal((await server.call(2, 'codex-reply', { threadId, prompt: 'on' })).result.content[0].text, 'again');
	assert.deepEqual(fs.readdirSync(server.cwd), []);
	assert.ok(!server.messages.some(({ id, method }) => id === 1 && !method), 'a cancelled call has no result');
	await server.end();
});

test('a client that vanishes in the middle of a question ends the server', options, async (t) => {
	const model = await startModel(t, [run('touch made')]);
	const server = await start(t, model, { capabilities: { elicitation: {} } });
	server.write({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'codex', arguments: { prompt: 'go', ...ASKING } } });
	await server.until(({ method }) => method === 'elicitation/create');
	server.child.stdin.destroy();
	server.child.stdout.destroy();
	assert.equal((await server.done).code, 0);
	assert.deepEqual(fs.readdirSync(server.cwd), []);
});
