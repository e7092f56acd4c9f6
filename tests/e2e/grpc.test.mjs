// codex proto --listen http:// as a gRPC service. The client here writes messages and frames by itself, on Node's HTTP/2;
// python3-grpcio checks that a real library agrees.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http2 from 'node:http2';
import path from 'node:path';
import test from 'node:test';
import { cleanEnv, codexBin, launch, makeHome, needs, reply, run, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { userInput } from './lib/proto.mjs';

const proto = needs('proto');
const token = 'a-token-of-the-tests-0123456789';

async function serve(t, replies = [], { config, args = [] } = {}) {
	const model = await startModel(t, replies.length ? replies : [say('Unused.')]);
	const cwd = tempDir(t, 'cwd');
	const program = launch(t, codexBin, ['proto', '--listen', 'http://127.0.0.1:0', ...args],
		{ cwd, env: cleanEnv(makeHome(t, model, config)) });
	const url = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	return { ...program, url, cwd };
}

function connect(t, server) {
	const client = http2.connect(server.url);
	client.on('error', () => {}); // the program may end first; calls report their own errors
	t.after(() => client.destroy());
	return client;
}

// ---- Protocol Buffers ----

const varint = (number) => (number < 128 ? [number] : [number % 128 | 128, ...varint(Math.floor(number / 128))]);
const text = (field, value) => Buffer.concat([Buffer.from(varint(field << 3 | 2)),
	Buffer.from(varint(Buffer.byteLength(value))), Buffer.from(value)]);
const number = (field, value) => Buffer.from([...varint(field << 3), ...varint(value)]);

/** The fields of a message: {number: value}; bytes stay a Buffer, repeated fields become a list. */
function decode(message) {
	const fields = {};
	let at = 0;
	const next = () => {
		let value = 0;
		for (let scale = 1; ; scale *= 128) {
			const byte = message[at++];
			value += (byte & 127) * scale;
			if (byte < 128) return value;
		}
	};
	while (at < message.length) {
		const tag = next();
		const value = next();
		fields[tag >> 3] = tag & 7 ? message.subarray(at, at += value) : value;
	}
	return fields;
}

function frame(message, flag = 0) {
	const head = Buffer.alloc(5);
	head[0] = flag;
	head.writeUInt32BE(message.length, 1);
	return Buffer.concat([head, message]);
}

const submission = (id, op) => Buffer.concat([text(1, id), text(2, typeof op === 'string' ? op : JSON.stringify(op))]);

// ---- calls ----

/** Starts a call: {stream, messages, headers, until, end}; end resolves to {status, message}. */
function begin(client, method, headers = {}, { hold = false } = {}) {
	const stream = client.request({ ':method': 'POST', ':path': method, 'content-type': 'application/grpc',
		te: 'trailers', ...headers });
	const call = { stream, messages: [] };
	let input = Buffer.alloc(0), trailers, response;
	stream.on('response', (head) => {
		response = head;
		stream.emit('news');
	});
	stream.on('trailers', (fields) => (trailers = fields));
	if (!hold) stream.on('data', (bytes) => {
		input = Buffer.concat([input, bytes]);
		while (input.length >= 5 && input.length >= 5 + input.readUInt32BE(1)) {
			const length = input.readUInt32BE(1);
			call.messages.push(decode(input.subarray(5, 5 + length)));
			input = input.subarray(5 + length);
		}
		stream.emit('news');
	});
	stream.on('error', () => {}); // a reset, after which `end` has no status
	call.send = (...messages) => messages.forEach((message) => stream.write(frame(message)));
	call.end = new Promise((resolve) => stream.on('close', () => {
		const fields = { ...response, ...trailers };
		resolve({ status: Number(fields['grpc-status'] ?? NaN), message: decodeURIComponent(fields['grpc-message'] ?? ''),
			http: fields[':status'], rst: stream.rstCode });
	}));
	call.until = (wanted) => new Promise((resolve, reject) => {
		call.end.then((end) => reject(new Error(`the call has ended: ${JSON.stringify(end)}`)));
		const look = () => wanted(call, response) && resolve(call);
		stream.on('news', look);
		look();
	});
	return call;
}

async function unary(client, method, message = Buffer.alloc(0), headers = {}) {
	const call = begin(client, method, headers);
	call.stream.end(frame(message));
	return { ...await call.end, answer: call.messages[0] };
}

const service = '/codex.v1.Codex/';
const types = (call) => call.messages.map((message) => String(message[3]));
const hasType = (type) => (call) => types(call).includes(type);

async function open(client, headers) {
	const { status, answer } = await unary(client, `${service}OpenSession`, undefined, headers);
	assert.equal(status, 0);
	return String(answer[1]);
}

test('a Session stream carries submissions and numbered events', proto, async (t) => {
	const server = await serve(t, [say('Hello.')]);
	const call = begin(connect(t, server), `${service}Session`);
	call.send(submission('1', userInput('hi')));
	await call.until(hasType('task_complete'));
	call.stream.end();
	assert.equal((await call.end).status, 0);
	assert.equal(types(call)[0], 'session_configured');
	assert.equal(types(call).at(-1), 'shutdown_complete');
	assert.deepEqual(call.messages.map((message) => message[1]), call.messages.map((_, i) => i + 1));
	const complete = call.messages.find((message) => String(message[3]) === 'task_complete');
	assert.equal(String(complete[2]), '1');
	assert.equal(JSON.parse(complete[4]).last_agent_message, 'Hello.');
});

test('a message that is no submission is an error event, and the stream goes on', proto, async (t) => {
	const server = await serve(t, [say('Hello.')]);
	const call = begin(connect(t, server), `${service}Session`);
	const bad = ['[]', '{', '{"type":"no_such_op"}', '{"type":"interrupt"},"id":"x"', ''];
	call.send(...bad.map((op, i) => submission(`bad ${i}`, op)), Buffer.from([0x0f]), submission('good', userInput('hi')));
	await call.until(hasType('task_complete'));
	const errors = call.messages.filter((message) => String(message[3]) === 'error');
	assert.deepEqual(errors.map((message) => String(message[2] ?? '')), [...bad.map((_, i) => `bad ${i}`), '']);
	assert.ok(errors.every((message) => JSON.parse(message[4]).codex_error_info === 'bad_request'));
	call.stream.end();
	assert.equal((await call.end).status, 0);
});

for (const [name, cancel] of [
	['END_STREAM and then RST_STREAM', (call) => call.stream.end(() => call.stream.close(http2.constants.NGHTTP2_CANCEL))],
	['RST_STREAM', (call) => call.stream.close(http2.constants.NGHTTP2_CANCEL)],
])
	test(`a cancel by ${name} ends the task and its commands`, proto, async (t) => {
		const server = await serve(t, [run('echo $$ > pid; exec sleep 1000'), say('Never.')],
			{ config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' });
		const call = begin(connect(t, server), `${service}Session`);
		call.send(submission('1', userInput('go')));
		const file = path.join(server.cwd, 'pid');
		while (!fs.existsSync(file) || !fs.readFileSync(file, 'utf8').trim()) await new Promise((r) => setTimeout(r, 20));
		const pid = Number(fs.readFileSync(file, 'utf8'));
		cancel(call);
		for (let isAlive = true; isAlive;) {
			await new Promise((r) => setTimeout(r, 20));
			try {
				process.kill(pid, 0);
			} catch {
				isAlive = false;
			}
		}
	});

test('a kept session is watched, joined and closed; a repeated submission is a duplicate', proto, async (t) => {
	const server = await serve(t, [say('Hello.')]);
	const client = connect(t, server);
	const id = await open(client);
	const submit = () => unary(client, `${service}Submit`,
		Buffer.concat([text(1, id), text(2, submission('1', userInput('hi')))]));
	assert.deepEqual((await submit()).answer, {});
	assert.deepEqual((await submit()).answer, { 1: 1 });
	const watcher = begin(client, `${service}Watch`);
	watcher.stream.end(frame(text(1, id)));
	await watcher.until(hasType('task_complete'));
	const joined = begin(client, `${service}Session`, { 'codex-session-id': id, 'codex-after-seq': '2' });
	await joined.until(hasType('task_complete'));
	assert.equal(joined.messages[0][1], 3);
	joined.stream.end();
	assert.equal((await joined.end).status, 0);
	const { answer } = await unary(client, `${service}ListSessions`);
	assert.equal(String(decode(answer[1])[1]), id);
	const closed = await unary(client, `${service}CloseSession`, text(1, id));
	assert.equal((await watcher.end).status, 0);
	assert.equal(types(watcher).at(-1), 'shutdown_complete');
	assert.equal(closed.answer[1], watcher.messages.at(-1)[1]);
	assert.equal((await unary(client, `${service}Watch`, text(1, id))).status, 5);
});

test('events that are no longer kept are out of range', proto, async (t) => {
	const server = await serve(t, [say('Hello.')], { args: ['--keep-events', '2'] });
	const client = connect(t, server);
	const id = await open(client);
	await unary(client, `${service}Submit`, Buffer.concat([text(1, id), text(2, submission('1', userInput('hi')))]));
	for (let info = {}; String(info[2]) !== 'idle' || info[4] < 6;)
		info = decode((await unary(client, `${service}ListSessions`)).answer[1]);
	const { status, message } = await unary(client, `${service}Watch`, text(1, id));
	assert.equal(status, 11);
	assert.match(message, /events before \d+ are no longer kept/);
});

test('deadlines end calls with status 4, and malformed ones with 3', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server);
	const id = await open(client);
	for (const timeout of ['0m', '1n', '50m'])
		assert.equal((await unary(client, `${service}Watch`, text(1, id), { 'grpc-timeout': timeout })).status, 4, timeout);
	for (const timeout of ['1', 'm', '123456789S', '-1S', '1x', '+1S'])
		assert.equal((await unary(client, `${service}ListSessions`, undefined, { 'grpc-timeout': timeout })).status, 3, timeout);
	assert.equal((await unary(client, `${service}ListSessions`, undefined, { 'grpc-timeout': '10S' })).status, 0);
});

test('malformed requests have the status that gRPC demands', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server);
	const raw = async (bytes, headers, method = `${service}ListSessions`) => {
		const call = begin(client, method, headers);
		call.stream.end(bytes);
		return (await call.end).status;
	};
	const none = frame(Buffer.alloc(0));
	assert.equal(await raw(none, {}, `${service}NoSuchMethod`), 12);
	assert.equal(await raw(none, {}, '/no.such.Service/List'), 12);
	assert.equal(await raw(Buffer.alloc(0)), 13, 'no message');
	assert.equal(await raw(Buffer.concat([none, none])), 13, 'two messages');
	assert.equal(await raw(none.subarray(0, 3)), 13, 'a cut frame');
	assert.equal(await raw(frame(Buffer.alloc(0), 1)), 13, 'compressed without an encoding');
	assert.equal(await raw(frame(Buffer.alloc(0), 1), { 'grpc-encoding': 'gzip' }), 12);
	assert.equal(await raw(none, { 'grpc-encoding': 'gzip' }), 0);
	assert.equal(await raw(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff])), 8, 'a length over 16 MiB');
	for (const bytes of [[0x0a], [0x0a, 5, 1], [0x08, 0x80], [0x02, 0], [0x0b], [0x0e, 0], [0xff]])
		assert.equal(await raw(frame(Buffer.from(bytes))), 13, String(bytes));
	assert.equal(await raw(frame(number(15, 7))), 0, 'an unknown field');
	assert.equal(await raw(frame(Buffer.from([0x0a, 1, 0xff])), {}, `${service}OpenSession`), 3, 'not UTF-8');
});

test('other content types and methods are answered in HTTP', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server);
	const status = async (headers) => {
		const stream = client.request({ ':path': `${service}Submit`, ...headers });
		const answered = new Promise((resolve) => stream.on('response', (head) => resolve(head[':status'])));
		stream.on('error', () => {}).resume().end();
		return answered;
	};
	for (const type of ['application/json', 'application/grpc+json', 'application/grpc-web', 'text/plain'])
		assert.equal(await status({ ':method': 'POST', 'content-type': type }), 415, type);
	assert.equal(await status({ ':method': 'GET' }), 405);
	assert.equal(await status({ ':method': 'POST', 'content-type': 'application/grpc', origin: 'http://localhost' }), 403);
});

test('without the token only health is served', proto, async (t) => {
	const file = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(file, token, { mode: 0o600 });
	const server = await serve(t, [], { args: ['--token-file', file] });
	const client = connect(t, server);
	for (const authorization of [undefined, 'Bearer x', `Basic ${token}`, `Bearer ${token}1`])
		assert.equal((await unary(client, `${service}ListSessions`, undefined, authorization && { authorization })).status, 16);
	assert.equal((await unary(client, `${service}ListSessions`, undefined, { authorization: `Bearer ${token}` })).status, 0);
	assert.deepEqual((await unary(client, '/grpc.health.v1.Health/Check')).answer, { 1: 1 });
});

test('health is reported, and its watchers learn of the end', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server);
	assert.deepEqual((await unary(client, '/grpc.health.v1.Health/Check', text(1, 'codex.v1.Codex'))).answer, { 1: 1 });
	assert.equal((await unary(client, '/grpc.health.v1.Health/Check', text(1, 'other'))).status, 5);
	const [known, unknown] = ['', 'other'].map((name) => {
		const call = begin(client, '/grpc.health.v1.Health/Watch');
		call.stream.end(frame(text(1, name)));
		return call;
	});
	await known.until(({ messages }) => messages.length);
	await unknown.until(({ messages }) => messages.length);
	assert.deepEqual([known.messages, unknown.messages], [[{ 1: 1 }], [{ 1: 3 }]]);
	server.child.kill('SIGTERM');
	await known.end;
	assert.deepEqual(known.messages, [{ 1: 1 }, { 1: 2 }]);
	assert.equal((await server.done).code, 0);
});

test('a Session stream that is not read holds its model and no other stream', proto, async (t) => {
	const server = await serve(t, [reply({ message: 'x' + ' y'.repeat(300_000) }), say('Quick.')]);
	const client = connect(t, server);
	const sleeper = begin(client, `${service}Session`, {}, { hold: true });
	sleeper.send(submission('1', userInput('hi')));
	await new Promise((resolve) => sleeper.stream.on('response', resolve));
	const quick = begin(client, `${service}Session`);
	quick.send(submission('1', userInput('hi')));
	await quick.until(hasType('task_complete'));
	sleeper.stream.close();
});

test('the description of the service is served and names every method', proto, async (t) => {
	const server = await serve(t);
	const answer = await fetch(`${server.url}/v1/codex.proto`);
	assert.equal(answer.headers.get('content-type'), 'text/plain');
	const names = [...(await answer.text()).matchAll(/rpc (\w+)\(/g)].map(([, name]) => name);
	assert.equal(names.length, 6);
	const client = connect(t, server);
	for (const name of names) // an invalid message: every method that exists refuses it
		assert.notEqual((await unary(client, service + name, Buffer.from([0x0a, 1, 0xff]))).status, 12, name);
});

test('python3-grpcio is served', proto, async (t) => {
	const server = await serve(t);
	const script = [
		'import sys',
		'try: import grpc',
		'except ImportError: sys.exit(42)',
		'same = lambda value: value',
		`channel = grpc.insecure_channel('${new URL(server.url).host}')`,
		`answer = channel.unary_unary('${service}OpenSession', same, same)(b'', timeout=20)`,
		`watch = channel.unary_stream('${service}Watch', same, same)(answer, timeout=20)`,
		"assert b'session_configured' in next(watch)",
		`channel.unary_unary('${service}CloseSession', same, same)(answer, timeout=20)`,
		"assert b'shutdown_complete' in list(watch)[-1]",
		'assert watch.code() == grpc.StatusCode.OK',
	].join('\n');
	const { code, stderr } = await new Promise((resolve) =>
		execFile('/usr/bin/python3', ['-c', script], (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr })));
	if (code === 42 || code === 'ENOENT') t.skip('python3-grpcio is not installed');
	else assert.equal(code, 0, stderr);
});
