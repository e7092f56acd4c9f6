// codex proto --listen http://: sessions as resources, which outlive the connections of their clients.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { cleanEnv, codexBin, launch, makeHome, needs, reply, run, runCodex, say, startModel, tempDir,
	waitFor } from './lib/codex.mjs';
import { userInput } from './lib/proto.mjs';

const proto = needs('proto');
const token = 'a-token-of-the-tests-0123456789';

/** A test of requests, which both versions of HTTP must answer in the same way. */
function both(name, body) {
	for (const version of [1, 2])
		test(`${name} (HTTP/${version})`, proto, (t) => {
			t.version = version;
			return body(t);
		});
}

/** Starts a request on a connection of its own; resolves to a readable response {statusCode, headers} with close(). */
async function begin(server, method, target, headers, body) {
	if (server.version === 2) {
		const client = http2.connect(server.url);
		const { host, ...others } = headers;
		const stream = client.request({ ':method': method, ':path': target, ...(host && { ':authority': host }),
			...others }, { endStream: body === undefined });
		const answered = new Promise((resolve, reject) => {
			stream.on('response', resolve).on('error', reject);
			client.on('error', reject);
		});
		if (body !== undefined) stream.end(body);
		const close = () => client.destroy();
		stream.on('close', () => client.close());
		const { ':status': statusCode, ...rest } = await answered;
		return Object.assign(stream, { statusCode, headers: rest, close });
	}
	const request = http.request(server.url + target, { method, agent: false, headers });
	const answered = new Promise((resolve, reject) => request.on('response', resolve).on('error', reject));
	request.end(body);
	return Object.assign(await answered, { close: () => request.destroy() });
}

/** Starts the program; resolves to {url, home, child, done} once it listens. */
async function serve(t, replies, { config, args = [] } = {}) {
	const model = await startModel(t, replies.length ? replies : [say('Unused.')]);
	const home = makeHome(t, model, config);
	const program = launch(t, codexBin, ['proto', '--listen', 'http://127.0.0.1:0', ...args],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(home) });
	const url = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	return { ...program, home, url, version: t.version ?? 1 };
}

/** Sends one request; resolves to {status, headers, text, json}. */
async function call(server, method, target, { body, type = 'application/json', headers = {} } = {}) {
	const response = await begin(server, method, target,
		{ ...(body === undefined ? {} : { 'content-type': type }), ...headers }, body);
	let text = '';
	for await (const part of response.setEncoding('utf8')) text += part;
	const isJson = response.headers['content-type'] === 'application/json';
	return { status: response.statusCode, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

async function open(server, options) {
	const { status, json, headers } = await call(server, 'POST', '/v1/sessions',
		options && { body: JSON.stringify(options) });
	assert.equal(status, 201);
	assert.equal(headers.location, `/v1/sessions/${json.session_id}`);
	return headers.location;
}

const submit = (server, session, submission) =>
	call(server, 'POST', `${session}/submissions`, { body: JSON.stringify(submission) });

/** Watches a session from event after + 1 on: {events, until(test), close(), over}. */
async function watch(server, session, after = 0, headers = {}) {
	const response = await begin(server, 'GET', `${session}/events?after=${after}`, headers);
	assert.equal(response.statusCode, 200);
	const events = [];
	let rest = '';
	response.setEncoding('utf8').on('data', (more) => {
		const lines = (rest + more).split('\n');
		rest = lines.pop();
		events.push(...lines.map((line) => JSON.parse(line)));
		response.emit('news');
	});
	const over = new Promise((resolve) => response.on('close', resolve));
	return { events, over, response, close: response.close,
		until: (wanted) => new Promise((resolve) => {
			const look = () => events.some(wanted) && resolve(events.find(wanted));
			response.on('news', look);
			look();
		}) };
}

const isType = (type, id) => (event) => event.msg.type === type && (id === undefined || event.id === id);

both('a session outlives its watcher, and a replay is the same bytes', async (t) => {
	const server = await serve(t, [say('Hello.')]);
	const session = await open(server);
	const first = await watch(server, session);
	await first.until(isType('session_configured'));
	first.close();
	assert.deepEqual((await submit(server, session, { id: '1', op: userInput('hi') })).json,
		{ accepted: 1, duplicates: 0 });
	const second = await watch(server, session);
	await second.until(isType('task_complete', '1'));
	assert.deepEqual(second.events.map(({ seq }) => seq), second.events.map((_, i) => i + 1));
	const replay = () => call(server, 'GET', `${session}/events?after=2&follow=0`);
	const [one, two] = [await replay(), await replay()];
	assert.equal(one.text, two.text);
	assert.deepEqual(one.text.trim().split('\n').map((line) => JSON.parse(line)), second.events.slice(2));
	assert.equal(one.headers['content-type'], 'application/x-ndjson');
	assert.equal(one.headers['cache-control'], 'no-store');
});

both('watchers get the last event, and DELETE its number', async (t) => {
	const server = await serve(t, []);
	const session = await open(server);
	const watchers = [await watch(server, session), await watch(server, session)];
	await watchers[0].until(isType('session_configured'));
	const info = (await call(server, 'GET', session)).json;
	assert.equal(info.watchers, 2);
	assert.equal(info.state, 'idle');
	assert.deepEqual((await call(server, 'GET', '/v1/sessions')).json, { sessions: [info] });
	const { status, json } = await call(server, 'DELETE', session);
	assert.equal(status, 200);
	for (const { over, events } of watchers) {
		await over;
		assert.equal(events.at(-1).msg.type, 'shutdown_complete');
		assert.equal(events.at(-1).seq, json.last_seq);
	}
	assert.equal((await call(server, 'GET', session)).status, 404);
	assert.deepEqual((await call(server, 'GET', '/v1/sessions')).json, { sessions: [] });
});

both('a submission that was sent twice is carried out once', async (t) => {
	const server = await serve(t, [say('Hello.')]);
	const session = await open(server);
	const lines = ['a', 'a', 'b'].map((id) => JSON.stringify({ id, op: { type: 'interrupt' } })).join('\n\n');
	const batch = () => call(server, 'POST', `${session}/submissions`, { body: lines, type: 'application/x-ndjson' });
	assert.deepEqual((await batch()).json, { accepted: 2, duplicates: 1 });
	assert.deepEqual((await batch()).json, { accepted: 0, duplicates: 3 });
	const empty = { id: '', op: { type: 'interrupt' } };
	for (let i = 0; i < 2; i++)
		assert.deepEqual((await submit(server, session, empty)).json, { accepted: 1, duplicates: 0 });
});

both('a batch with one wrong line has no effect', async (t) => {
	const server = await serve(t, []);
	const session = await open(server);
	const good = JSON.stringify({ id: 'x', op: { type: 'interrupt' } });
	for (const bad of ['{', '[]', '{"id":"1"}', '{"op":{"type":"interrupt"}}', '{"id":1,"op":{"type":"interrupt"}}',
		'{"id":"1","op":{"type":"no_such_op"}}']) {
		const { status, json } = await call(server, 'POST', `${session}/submissions`,
			{ body: `${good}\n\n${bad}\n${good}`, type: 'application/x-ndjson' });
		assert.equal(status, 400, bad);
		assert.equal(json.error.code, 'bad_request');
		assert.equal(json.line, 2);
		assert.equal((await call(server, 'POST', `${session}/submissions`, { body: bad })).status, 400);
	}
	assert.deepEqual((await submit(server, session, JSON.parse(good))).json, { accepted: 1, duplicates: 0 });
});

both('an approval is answered over another connection than the one that asked', async (t) => {
	const server = await serve(t, [run('echo asked > asked'), say('Done.')], { config: 'approval_policy = "untrusted"' });
	const session = await open(server);
	await submit(server, session, { id: '1', op: userInput('go') });
	const first = await watch(server, session);
	const asked = await first.until(isType('exec_approval_request'));
	first.close();
	assert.equal((await call(server, 'GET', session)).json.state, 'blocked');
	await submit(server, session, { id: '2', op: { type: 'exec_approval', id: asked.id, decision: 'approved' } });
	const second = await watch(server, session, asked.seq);
	const end = await second.until(isType('exec_command_end'));
	assert.equal(end.msg.exit_code, 0);
	await second.until(isType('task_complete', '1'));
});

both('server-sent events have number, type and data', async (t) => {
	const server = await serve(t, []);
	const session = await open(server);
	await (await watch(server, session)).until(isType('session_configured'));
	const { text, headers } = await call(server, 'GET', `${session}/events?follow=0&after=7`,
		{ headers: { accept: 'text/event-stream', 'last-event-id': '0' } });
	assert.equal(headers['content-type'], 'text/event-stream');
	assert.match(text, /^id: 1\nevent: session_configured\ndata: \{"id":"","msg":\{"type":"session_configured".*\}\n\n/);
	const { last_seq: last } = (await call(server, 'GET', session)).json;
	const none = await call(server, 'GET', `${session}/events?follow=0&after=${last}`);
	assert.equal(none.text, '');
});

both('events that are no longer kept are gone, and the answer names the first that is there', async (t) => {
	const server = await serve(t, [say('Hello.')], { args: ['--keep-events', '3'] });
	const session = await open(server);
	await submit(server, session, { id: '1', op: userInput('hi') });
	for (let info; info?.state !== 'idle' || info.last_seq < 6;) info = (await call(server, 'GET', session)).json;
	const { status, json } = await call(server, 'GET', `${session}/events?follow=0`);
	assert.equal(status, 410);
	assert.equal(json.error.code, 'gone');
	const info = (await call(server, 'GET', session)).json;
	assert.equal(json.first_seq, info.last_seq - 2);
	const kept = await call(server, 'GET', `${session}/events?follow=0&after=${json.first_seq - 1}`);
	assert.equal(kept.text.trim().split('\n').length, 3);
});

both('a recorded session is resumed by its thread id', async (t) => {
	const server = await serve(t, [say('Hello.'), say('Again.')]);
	const session = await open(server);
	await submit(server, session, { id: '1', op: userInput('hi') });
	const watcher = await watch(server, session);
	await watcher.until(isType('task_complete', '1'));
	const thread = watcher.events[0].msg.session_id;
	await call(server, 'DELETE', session);
	const again = await open(server, { resume: thread });
	const configured = await (await watch(server, again)).until(isType('session_configured'));
	assert.equal(configured.msg.session_id, thread);
	const unknown = await call(server, 'POST', '/v1/sessions', { body: '{"resume":"no-such-session"}' });
	assert.equal(unknown.status, 404);
});

both('a session that the client configures emits nothing before', async (t) => {
	const server = await serve(t, []);
	const session = await open(server, { no_auto_configure: true });
	assert.equal((await call(server, 'GET', session)).json.last_seq, 0);
	for (const body of ['[]', '{', '{"resume":1}', '{"no_auto_configure":"yes"}'])
		assert.equal((await call(server, 'POST', '/v1/sessions', { body })).status, 400, body);
});

both('wrong requests are refused with a code', async (t) => {
	const server = await serve(t, []);
	const session = await open(server);
	const refused = async (status, code, method, target, options) => {
		const answer = await call(server, method, target, options);
		assert.equal(answer.status, status, `${method} ${target}`);
		assert.equal(answer.json.error.code, code);
		return answer;
	};
	await refused(404, 'not_found', 'GET', '/');
	await refused(404, 'not_found', 'GET', '/v1/sessions/');
	await refused(404, 'not_found', 'GET', `${session}/events/more`);
	await refused(404, 'not_found', 'GET', '/v1/sessions/00000000-0000-0000-0000-000000000000');
	const { headers } = await refused(405, 'method_not_allowed', 'PUT', session);
	assert.equal(headers.allow, 'GET, DELETE');
	await refused(415, 'unsupported_media_type', 'POST', `${session}/submissions`, { body: '{}', type: 'text/plain' });
	for (const query of ['after=x', 'after=-1', 'follow=2'])
		await refused(400, 'bad_request', 'GET', `${session}/events?${query}`);
	await refused(403, 'forbidden', 'GET', '/healthz', { headers: { origin: server.url } });
	await refused(403, 'forbidden', 'GET', '/v1/sessions', { headers: { host: 'attacker.example' } });
	assert.equal((await call(server, 'GET', '/readyz')).status, 200);
	assert.equal((await call(server, 'HEAD', '/healthz')).status, 200);
});

test('without the token nothing but health is served, and no body is read', proto, async (t) => {
	const file = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(file, token, { mode: 0o600 });
	const server = await serve(t, [], { args: ['--token-file', file] });
	for (const authorization of ['', 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`]) {
		const { status, json, headers } = await call(server, 'GET', '/v1/sessions', { headers: { authorization } });
		assert.equal(status, 401);
		assert.equal(json.error.code, 'unauthenticated');
		assert.equal(headers['www-authenticate'], 'Bearer');
	}
	assert.equal((await call(server, 'GET', '/healthz')).status, 200);
	const good = { headers: { authorization: `bearer ${token}` } };
	assert.deepEqual((await call(server, 'GET', '/v1/sessions', good)).json, { sessions: [] });

	// The answer comes although the announced body never does.
	const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
	socket.write('POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10000000\r\n\r\n');
	let text = '';
	for await (const part of socket.setEncoding('utf8')) text += part;
	assert.match(text, /^HTTP\/1\.1 401 /);
});

test('a body over 16 MiB is refused before it is sent', proto, async (t) => {
	const server = await serve(t, []);
	const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
	socket.write(`POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${(16 << 20) + 1}\r\n\r\n`);
	let text = '';
	for await (const part of socket.setEncoding('utf8')) text += part;
	assert.match(text, /^HTTP\/1\.1 413 /);
});

both('a watcher that does not read delays the others only briefly', async (t) => {
	const server = await serve(t, [reply({ message: 'x'.repeat(20) + ' y'.repeat(2_000_000) })]);
	const session = await open(server);
	const sleeper = await watch(server, session);
	sleeper.response.pause();
	const reader = await watch(server, session);
	await submit(server, session, { id: '1', op: userInput('hi') });
	await reader.until(isType('task_complete', '1'));
	sleeper.close();
});

both('SIGTERM ends the sessions, notifies their watchers and exits', async (t) => {
	const server = await serve(t, [reply({ message: 'Working.' }, { gate: 'never' })]);
	const session = await open(server);
	await submit(server, session, { id: '1', op: userInput('go') });
	const watcher = await watch(server, session);
	const sleeper = await watch(server, session);
	sleeper.response.pause();
	await watcher.until(isType('agent_message_delta'));
	server.child.kill('SIGTERM');
	await watcher.over;
	assert.equal(watcher.events.at(-1).msg.type, 'shutdown_complete');
	assert.equal((await server.done).code, 0);
});

test('an address that other machines reach is refused', proto, async (t) => {
	const home = makeHome(t, await startModel(t, [say('Unused.')]));
	const refused = async (pattern, ...args) => {
		const { code, stderr } = await runCodex(t, ['proto', ...args], { home });
		assert.equal(code, 2, stderr);
		assert.match(stderr, pattern);
	};
	for (const scheme of ['http', 'https']) await refused(/--token-file/, '--listen', `${scheme}://0.0.0.0:0`);
	await refused(/--tls-cert FILE and --tls-key FILE/, '--listen', 'https://127.0.0.1:0');
	await refused(/require --listen https/, '--listen', 'http://127.0.0.1:0', '--tls-client-ca', 'ca.pem');
	await refused(/require --listen https/, '--tls-cert', 'cert.pem');
	await refused(/IP:PORT/, '--listen', 'http://localhost:0');
	await refused(/from 1 to/, '--listen', 'http://127.0.0.1:0', '--keep-events', '0');
	await refused(/requires --listen http/, '--listen', 'tcp://127.0.0.1:0', '--keep-events', '5');
});

test('curl opens, uses and closes a session', proto, async (t) => {
	const curl = (...args) => promisify(execFile)('curl', ['-sS', '--http1.1', ...args]);
	try {
		await curl('--version');
	} catch {
		t.skip('curl is not installed');
		return;
	}
	const server = await serve(t, [say('Hello.')]);
	const { session_id: id } = JSON.parse((await curl('-X', 'POST', `${server.url}/v1/sessions`)).stdout);
	const session = `${server.url}/v1/sessions/${id}`;
	await curl('-H', 'content-type: application/json', '-d', JSON.stringify({ id: '1', op: userInput('hi') }),
		`${session}/submissions`);
	await (await watch(server, `/v1/sessions/${id}`)).until(isType('task_complete', '1'));
	const { stdout } = await curl(`${session}/events?follow=0`);
	assert.match(stdout, /"task_complete"/);
	assert.match((await curl('-X', 'DELETE', session)).stdout, /^\{"last_seq":\d+\}$/);
});
