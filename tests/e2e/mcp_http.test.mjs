// MCP servers that are reached by streamable HTTP: the server of the official SDK, and scripted ones that misbehave.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, makeHome, needs, reply, say, startModel } from './lib/codex.mjs';
import { idToken, inSeconds, jwt } from './lib/issuer.mjs';
import { startProto } from './lib/proto.mjs';

const echo = (n) => ({ item: { type: 'function_call', call_id: `c${n}`, namespace: 'mcp__web', name: 'echo', arguments: '{"text":"hi"}' } });

/** A server on a free port; handle(request, response, message) gets the parsed body. Resolves to its URL and requests. */
async function serve(t, handle) {
	const seen = [];
	const server = http.createServer((request, response) => {
		let body = '';
		request.on('data', (bytes) => (body += bytes));
		request.on('end', () => {
			const message = body ? JSON.parse(body) : undefined;
			seen.push({ method: request.method, url: request.url, headers: request.headers, message });
			Promise.resolve(handle(request, response, message)).catch((error) => response.destroy(error));
		});
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => { server.closeAllConnections(); server.close(); });
	return { url: `http://127.0.0.1:${server.address().port}`, seen, calls: () => seen.filter(({ message }) => message?.method === 'tools/call') };
}

const json = (response, body, headers = {}, status = 200) =>
	response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const result = (id, value) => ({ jsonrpc: '2.0', id, result: value });
const said = (text) => ({ content: [{ type: 'text', text }] });
const TOOLS = { tools: [{ name: 'echo', description: 'e', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] };

/** Answers a well-behaved server would give; onCall(response, message, request) answers tools/call. */
function polite(onCall, headers = {}) {
	return (request, response, message) => {
		if (request.method === 'GET') return response.writeHead(405).end();
		if (request.method === 'DELETE') return response.writeHead(200).end();
		if (message.id === undefined || !message.method) return response.writeHead(202).end();
		if (message.method === 'initialize')
			return json(response, result(message.id, { protocolVersion: '2025-06-18', capabilities: { tools: {} },
				serverInfo: { name: 's', version: '1' } }), headers);
		if (message.method === 'tools/list') return json(response, result(message.id, TOOLS));
		return onCall(response, message, request);
	};
}

/** Runs one call of the tool; resolves to the output that the model got. */
async function callTool(t, url, { config = [], calls = 1, env } = {}) {
	const steps = Array.from({ length: calls }, (_, n) => reply(echo(n)));
	const model = await startModel(t, [...steps, say('done')]);
	const run = await codexExec(t, model, ['-c', `mcp_servers.web.url="${url}"`, '-c', 'mcp_servers.web.required=true',
		...config.flatMap((text) => ['-c', text]), 'go'], { env });
	const { body } = run.code === 0 ? (await model.requests()).at(-1) : { body: { input: [] } };
	const outputs = body.input.filter(({ type }) => type === 'function_call_output').map(({ output }) => JSON.stringify(output));
	return { ...run, outputs, output: outputs.at(-1) ?? '' };
}

/** Resolves to the reason why the server did not start. */
async function startFailure(t, url, config = []) {
	const proto = startProto(t, await startModel(t, [say('unused')]),
		{ args: [`mcp_servers.web.url="${url}"`, ...config].flatMap((text) => ['-c', text]) });
	const { msg } = await proto.next('mcp_startup_complete');
	return msg.failed[0]?.error;
}

const event = (message, id, retry) => `${id ? `id: ${id}\n` : ''}${retry !== undefined ? `retry: ${retry}\n` : ''}data: ${
	message ? JSON.stringify(message) : ''}\n\n`;
const stream = (response, headers = {}) => response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });

test('auth = "chatgpt" sends the token of that login to its own origin, and to no other', needs('exec'), async (t) => {
	const { url, seen } = await serve(t, polite((response, { id }) => json(response, result(id, said('x')))));
	const token = jwt({ exp: inSeconds(3600) });
	for (const [base, keys, expected] of [[`${url}/backend-api`, 'auth = "chatgpt"', [`Bearer ${token}`, 'acc-1']],
		[`${url.replace('127.0.0.1', 'localhost')}/backend-api`, 'auth = "chatgpt"', [undefined, undefined]],
		[`${url}/backend-api`, 'auth = "oauth"', [undefined, undefined]],
		[`${url}/backend-api`, 'auth = "chatgpt"\nhttp_headers = {Authorization = "own"}', ['own', undefined]]]) {
		const model = await startModel(t, [say('done')]);
		const home = makeHome(t, model, `chatgpt_base_url = "${base}"\n[mcp_servers.web]\nurl = "${url}/mcp"\nrequired = true\n${keys}\n`);
		writeFileSync(path.join(home, 'auth.json'), JSON.stringify({ auth_mode: 'chatgpt', last_refresh: new Date().toISOString(),
			tokens: { id_token: idToken({ account: 'acc-1' }), access_token: token, refresh_token: 'r', account_id: 'acc-1' } }), { mode: 0o600 });
		seen.length = 0;
		const { code, stderr } = await codexExec(t, model, ['go'], { home });
		assert.equal(code, 0, stderr);
		const posts = seen.filter(({ method }) => method === 'POST');
		assert.ok(posts.length >= 3);
		for (const { headers } of posts)
			assert.deepEqual([headers.authorization, headers['chatgpt-account-id']], expected, keys);
	}
});

test('the SDK server is used in a session', needs('exec'), async (t) => {
	const sessions = new Map();
	const { url, seen, calls } = await serve(t, async (request, response, message) => {
		let transport = sessions.get(request.headers['mcp-session-id']);
		if (!transport) {
			const server = new McpServer({ name: 'sdk', version: '1.0.0' });
			server.registerTool('echo', { inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
				async ({ text }) => said(`echo ${text}`));
			transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID,
				onsessioninitialized: (id) => { sessions.set(id, transport); } });
			await server.connect(transport);
		}
		await transport.handleRequest(request, response, message);
	});
	const { output, code } = await callTool(t, url);
	assert.equal(code, 0);
	assert.match(output, /echo hi/);
	const [id] = sessions.keys();
	const [call] = calls();
	assert.equal(call.headers['mcp-session-id'], id);
	assert.match(call.headers['mcp-protocol-version'], /^2025-/);
	assert.match(call.headers['user-agent'], /^codex-mcp-client\//);
	assert.ok(seen.some(({ method }) => method === 'GET'));
});

const farewells = ({ seen }) => seen.filter(({ method }) => method === 'DELETE')
	.map(({ headers }) => [headers['mcp-session-id'], headers['mcp-protocol-version']]);

test('a session ends with DELETE before the process exits', needs('exec'), async (t) => {
	const server = await serve(t, polite((response, { id }) => json(response, result(id, said('x'))), { 'mcp-session-id': 'session-1' }));
	await callTool(t, server.url);
	assert.deepEqual(farewells(server), [['session-1', '2025-06-18']]);
	const other = await serve(t, polite((response, { id }) => json(response, result(id, said('x'))), { 'mcp-session-id': 'session-2' }));
	const client = await startAppServer(t, await startModel(t, [say('unused')]), { config: `[mcp_servers.web]\nurl = "${other.url}"\nrequired = true\n` });
	await client.request('thread/start', {});
	await client.end();
	assert.deepEqual(farewells(other), [['session-2', '2025-06-18']]);
});

test('a process exits although a server does not answer the end of its session', needs('exec'), async (t) => {
	const handle = polite((response, { id }) => json(response, result(id, said('x'))), { 'mcp-session-id': 'session-1' });
	const server = await serve(t, (request, response, message) => (request.method === 'DELETE' ? undefined : handle(request, response, message)));
	assert.match((await callTool(t, server.url)).output, /x/);
	assert.equal(farewells(server).length, 1);
});

test('a session ends with DELETE when the last thread that uses it is closed', needs('app-server'), async (t) => {
	let deleted;
	const gone = new Promise((resolve) => { deleted = resolve; });
	const handle = polite((response, { id }) => json(response, result(id, said('x'))), { 'mcp-session-id': 'session-1' });
	const { url } = await serve(t, (request, response, message) => {
		if (request.method === 'DELETE') deleted(request.headers);
		return handle(request, response, message);
	});
	const model = await startModel(t, [say('done')]);
	const server = await startAppServer(t, model, { config: `[mcp_servers.web]\nurl = "${url}"\nrequired = true\n` });
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('turn/completed');
	await server.request('thread/archive', { threadId: thread.id });
	const headers = await gone;
	assert.equal(headers['mcp-session-id'], 'session-1');
	assert.equal(headers['mcp-protocol-version'], '2025-06-18');
	await server.end();
});

test('tokens and headers are sent, and a variable that is not set fails the start', needs('exec'), async (t) => {
	const { url, seen } = await serve(t, polite((response, { id }) => json(response, result(id, said('ok')))));
	const config = ['mcp_servers.web.bearer_token_env_var="CODEX_TEST_TOKEN"', 'mcp_servers.web.http_headers={X-One="1"}'];
	const { output } = await callTool(t, url, { config, env: { CODEX_TEST_TOKEN: 'tok' } });
	assert.match(output, /ok/);
	assert.ok(seen.every(({ headers }) => headers.authorization === 'Bearer tok' && headers['x-one'] === '1'));
	assert.match(await startFailure(t, url, config), /Environment variable CODEX_TEST_TOKEN for MCP server 'web' is not set/);
});

test('a lost session is opened again, and the call sent once more', needs('exec'), async (t) => {
	let opened = 0;
	const handle = polite((response, { id }, { headers }) => (headers['mcp-session-id'] === 'session-2'
		? json(response, result(id, said('in the second'))) : json(response, { error: 'gone' }, {}, 404)));
	const { url, seen, calls } = await serve(t, (request, response, message) => {
		if (message?.method !== 'initialize') return handle(request, response, message);
		return json(response, result(message.id, { protocolVersion: '2025-06-18', capabilities: { tools: {} },
			serverInfo: { name: 's', version: '1' } }), { 'mcp-session-id': `session-${++opened}` });
	});
	const { output } = await callTool(t, url);
	assert.match(output, /in the second/);
	assert.equal(opened, 2);
	assert.equal(calls().length, 2);
	const again = seen.filter(({ message }) => message?.method === 'initialize')[1];
	assert.equal(again.headers['mcp-session-id'], undefined);
	assert.equal(seen.filter(({ message }) => message?.method === 'notifications/initialized').length, 2);
});

test('a server that forgets every session fails the call', needs('exec'), async (t) => {
	const { url, calls } = await serve(t, polite((response) => json(response, {}, {}, 404), { 'mcp-session-id': 's' }));
	const { output } = await callTool(t, url);
	assert.match(output, /404/);
	assert.equal(calls().length, 2);
});

test('a stream that breaks off is continued after its last event', needs('exec'), async (t) => {
	let pending;
	const handle = polite((response, { id }) => {
		pending = id;
		stream(response).end(event(null, 'e1', 150));
	});
	const { url, seen, calls } = await serve(t, (request, response, message) => {
		if (request.method !== 'GET' || pending === undefined) return handle(request, response, message);
		if (!request.headers['last-event-id']) return response.writeHead(405).end();
		return stream(response).end(event(result(pending, said('the rest')), 'e2'));
	});
	const { output } = await callTool(t, url);
	assert.match(output, /the rest/);
	assert.equal(calls().length, 1);
	assert.equal(seen.find(({ headers }) => headers['last-event-id']).headers['last-event-id'], 'e1');
});

test('a message that is too long is skipped on the stream without a request, which is continued after it', needs('exec'), async (t) => {
	const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
	const gets = [];
	let heard, lists = 0;
	const isHeard = new Promise((resolve) => { heard = resolve; });
	const handle = polite(async (response, { id }) => {
		await isHeard;
		json(response, result(id, said('ok')));
	});
	const { url } = await serve(t, (request, response, message) => {
		if (message?.method === 'tools/list') lists++;
		if (request.method !== 'GET') return handle(request, response, message);
		gets.push(request.headers['last-event-id']);
		if (gets.length === 1) {
			const long = { jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(17 << 20) } };
			return stream(response).end(event(null, '1', 100) + event(long, '2') + event(changed, '3'));
		}
		heard();
		return stream(response).write(event(null, '4'));
	});
	assert.match((await callTool(t, url)).output, /ok/);
	assert.deepEqual(gets, [undefined, '3']);
	assert.equal(lists, 2, 'the message after the long one has arrived');
});

test('a stream without a request whose event is beyond all limits is not fetched again and again', needs('exec'), async (t) => {
	let gets = 0, gone;
	const isGone = new Promise((resolve) => { gone = resolve; });
	const handle = polite(async (response, { id }) => {
		await isGone;
		json(response, result(id, said('ok')));
	});
	const { url } = await serve(t, (request, response, message) => {
		if (request.method !== 'GET') return handle(request, response, message);
		if (++gets > 1) gone();
		response.on('close', () => setTimeout(gone, 500)); // five times the pause
		return stream(response).end(event(null, '1', 100) + `data: ${'x'.repeat(65 << 20)}\n\n`);
	});
	const { output } = await callTool(t, url);
	assert.match(output, /ok/);
	assert.equal(gets, 1);
});

test('a stream that ends without an id fails its call, and the next one works', needs('exec'), async (t) => {
	let count = 0;
	const { url, calls } = await serve(t, polite((response, { id }) =>
		(++count === 1 ? stream(response).end(': nothing\n\n') : stream(response).end(event(result(id, said('second')))))));
	const { outputs } = await callTool(t, url, { calls: 2 });
	assert.match(outputs[0], /tool call failed/);
	assert.match(outputs[1], /second/);
	assert.equal(calls().length, 2);
});

for (const status of [400, 429, 500, 503])
	test(`HTTP ${status} fails its call only`, needs('exec'), async (t) => {
		let count = 0;
		const { url } = await serve(t, polite((response, { id }) => (++count === 1
			? json(response, { jsonrpc: '2.0', error: { code: -1, message: 'why' }, id: null }, {}, status)
			: json(response, result(id, said('second'))))));
		const { outputs } = await callTool(t, url, { calls: 2 });
		assert.match(outputs[0], new RegExp(`HTTP ${status}.*why`));
		assert.match(outputs[1], /second/);
	});

test('a call whose kept-alive connection ends is not sent again, and the next one works', needs('exec'), async (t) => {
	let isFirst = true;
	const { url, calls } = await serve(t, polite((response, { id }) => {
		if (!isFirst) return json(response, result(id, said('fine')));
		isFirst = false;
		response.socket.destroy();
	}));
	const { outputs } = await callTool(t, url, { calls: 2 });
	assert.match(outputs[0], /tool call failed/);
	assert.match(outputs[1], /fine/);
	assert.equal(calls().length, 2, 'the tool ran twice for one call');
});

test('a server that is overloaded at first is asked again', needs('exec'), async (t) => {
	let count = 0;
	const handle = polite((response, { id }) => json(response, result(id, said('ok'))));
	const { url } = await serve(t, (request, response, message) =>
		(message?.method === 'initialize' && ++count < 3 ? response.writeHead(503).end() : handle(request, response, message)));
	assert.match((await callTool(t, url)).output, /ok/);
	assert.equal(count, 3);
});

test('failures of the start name their reason', needs('exec'), async (t) => {
	for (const [status, reason] of [[500, /HTTP 500/], [401, /The web MCP server is not logged in\. Run `codex mcp login web`\./],
		[405, /HTTP 405/]]) {
		const { url } = await serve(t, (request, response) => response.writeHead(status).end());
		assert.match(await startFailure(t, url), reason);
	}
});

test('credentials do not follow a redirect to another origin', needs('exec'), async (t) => {
	const thief = await serve(t, polite((response, { id }) => json(response, result(id, said('stolen')))));
	const { url } = await serve(t, (request, response) => response.writeHead(307, { location: `${thief.url}/mcp` }).end());
	const reason = await startFailure(t, url, ['mcp_servers.web.http_headers={Authorization="Bearer secret"}']);
	assert.match(reason, /only redirects within the same origin are followed/);
	assert.equal(thief.seen.length, 0);
});

test('a redirect within the origin is followed', needs('exec'), async (t) => {
	const handle = polite((response, { id }) => json(response, result(id, said('ok'))));
	const { url, seen } = await serve(t, (request, response, message) =>
		(request.url === '/mcp' ? response.writeHead(307, { location: '/mcp/' }).end() : handle(request, response, message)));
	assert.match((await callTool(t, `${url}/mcp`)).output, /ok/);
	assert.equal(seen.filter((request) => request.url === '/mcp').length, 1);
	const loop = await serve(t, (request, response) => response.writeHead(307, { location: '/again' }).end());
	assert.match(await startFailure(t, `${loop.url}/mcp`), /HTTP 307/);
	assert.ok(loop.seen.length < 10);
});

for (const [status, second] of [[302, '/mcp'], [307, '/mcp'], [301, '/other'], [308, '/other']])
	test(`a redirect of a call with ${status} applies to the next call: ${second === '/other'}`, needs('exec'), async (t) => {
		const { url, calls } = await serve(t, polite((response, { id }, request) => (calls().length === 1
			? response.writeHead(status, { location: '/other' }).end() : json(response, result(id, said('ok'))))));
		assert.match((await callTool(t, `${url}/mcp`, { calls: 2 })).output, /ok/);
		assert.deepEqual(calls().map((call) => call.url), ['/mcp', '/other', second]);
	});

test('a redirect of the stream without a request is followed', needs('exec'), async (t) => {
	const gets = [];
	let heard;
	const isHeard = new Promise((resolve) => { heard = resolve; });
	const handle = polite(async (response, { id }) => {
		await isHeard;
		json(response, result(id, said('ok')));
	});
	const { url } = await serve(t, (request, response, message) => {
		if (request.method !== 'GET') return handle(request, response, message);
		gets.push(request.url);
		if (request.url === '/mcp') return response.writeHead(307, { location: '/stream' }).end();
		if (gets.length > 5) heard();
		return stream(response).end(event(null, null, 100));
	});
	assert.match((await callTool(t, `${url}/mcp`)).output, /ok/);
	assert.deepEqual(gets.slice(0, 3), ['/mcp', '/stream', '/stream']);
});

test('requests of the server inside an answer are answered', needs('exec'), async (t) => {
	let pong;
	const handle = polite((response, { id }) => {
		pong = () => response.end(event(result(id, said('after ping'))));
		stream(response).write(event({ jsonrpc: '2.0', id: 'p1', method: 'ping' }));
	});
	const { url, seen } = await serve(t, (request, response, message) => {
		handle(request, response, message);
		if (message?.id === 'p1' && message.result) pong();
	});
	assert.match((await callTool(t, url)).output, /after ping/);
	assert.ok(seen.some(({ message }) => message?.id === 'p1'));
});

test('garbage, a wrong type and an empty answer fail their calls only', needs('exec'), async (t) => {
	const answers = [
		(response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":'),
		(response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
		(response) => response.writeHead(202).end(),
		(response, id) => json(response, result(id, said('at last'))),
	];
	const { url } = await serve(t, polite((response, { id }) => answers.shift()(response, id)));
	const { outputs } = await callTool(t, url, { calls: 4 });
	for (const output of outputs.slice(0, 3)) assert.match(output, /tool call failed/);
	assert.match(outputs[3], /at last/);
});
