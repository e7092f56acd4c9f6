// codex proto --listen http:// over HTTP/2: many requests on one connection, and clients that abuse the protocol.
// http_proto.test.mjs has the endpoints.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import http2 from 'node:http2';
import net from 'node:net';
import test from 'node:test';
import { promisify } from 'node:util';
import { cleanEnv, codexBin, launch, makeHome, needs, reply, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { userInput } from './lib/proto.mjs';

const proto = needs('proto');
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PUSH_PROMISE = 5, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8, CONTINUATION = 9;
const END_STREAM = 1, END_HEADERS = 4, PADDED = 8;
const ENHANCE_YOUR_CALM = 11;
const CONNECTIONS = 1024; // LIMIT_HTTP_CONNECTIONS

function frame(type, flags, id, payload = Buffer.alloc(0)) {
	const head = Buffer.alloc(9);
	head.writeUIntBE(payload.length, 0, 3);
	head[3] = type;
	head[4] = flags;
	head.writeUInt32BE(id, 5);
	return Buffer.concat([head, payload]);
}

const uint32 = (...numbers) => Buffer.concat(numbers.map((number) => {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(number);
	return bytes;
}));
const literal = (name, value) => Buffer.concat([Buffer.from([0x00, name.length]), Buffer.from(name),
	Buffer.from([value.length]), Buffer.from(value)]);
/** The head of GET /healthz: indexed fields, and the path as a literal. */
const healthHead = Buffer.concat([Buffer.from([0x82, 0x86]), literal(':path', '/healthz'),
	literal(':authority', 'localhost')]);

async function serve(t, replies = [], { config } = {}) {
	const model = await startModel(t, replies.length ? replies : [say('Unused.')]);
	const program = launch(t, codexBin, ['proto', '--listen', 'http://127.0.0.1:0'],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(makeHome(t, model, config)) });
	const url = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	return { ...program, url, port: Number(new URL(url).port) };
}

/** A connection of raw frames: {send, closed}; closed resolves to the frames that the server sent. */
function raw(t, server, { opening = true } = {}) {
	const socket = net.connect(server.port, '127.0.0.1');
	t.after(() => socket.destroy());
	let input = Buffer.alloc(0);
	const frames = [];
	socket.on('data', (bytes) => {
		input = Buffer.concat([input, bytes]);
		while (input.length >= 9 && input.length >= 9 + input.readUIntBE(0, 3)) {
			const length = input.readUIntBE(0, 3);
			frames.push({ type: input[3], id: input.readUInt32BE(5), payload: input.subarray(9, 9 + length) });
			input = input.subarray(9 + length);
		}
	});
	socket.on('error', () => {}); // the server may reset the connection while this side still writes
	if (opening) socket.write(Buffer.concat([preface, frame(SETTINGS, 0, 0)]));
	return { socket, frames, send: (...parts) => socket.write(Buffer.concat(parts)),
		closed: new Promise((resolve) => socket.on('close', () => resolve(frames))) };
}

const codeOf = (frames) => frames.find(({ type }) => type === GOAWAY)?.payload.readUInt32BE(4);

function connect(t, server, options) {
	const client = http2.connect(server.url, options);
	client.on('error', () => {}); // the program may end first; requests report their own errors
	t.after(() => client.destroy());
	return client;
}

/** One request; resolves to {status, text}. */
async function call(client, headers, body) {
	const stream = client.request(headers, { endStream: body === undefined });
	if (body !== undefined) stream.end(body);
	const status = new Promise((resolve, reject) => stream.on('response', (h) => resolve(h[':status'])).on('error', reject));
	let text = '';
	for await (const part of stream.setEncoding('utf8')) text += part;
	return { status: await status, text };
}

const isServed = async (t, server) =>
	assert.equal((await call(connect(t, server), { ':path': '/healthz' })).status, 200);

async function openSession(client) {
	const { text } = await call(client, { ':method': 'POST', ':path': '/v1/sessions' });
	return `/v1/sessions/${JSON.parse(text).session_id}`;
}

const submit = (client, session, submission) => call(client, { ':method': 'POST', ':path': `${session}/submissions`,
	'content-type': 'application/json' }, JSON.stringify(submission));

/** Reads a stream of events until one has this type. */
async function until(stream, type) {
	let rest = '';
	for await (const part of stream.setEncoding('utf8')) {
		if ((rest + part).includes(`"type":"${type}"`)) return;
		rest = part.slice(-100);
	}
	assert.fail(`the stream ended without ${type}`);
}

test('HTTP/1.1 and HTTP/2 share the port, and a connection carries many requests', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server);
	const answers = await Promise.all(Array.from({ length: 200 }, () => call(client, { ':path': '/healthz' })));
	assert.ok(answers.every(({ status }) => status === 200));
	assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
});

test('a stream that is not read delays no other stream of its connection', proto, async (t) => {
	const long = () => reply({ message: 'x' + ' y'.repeat(1_000_000) });
	const server = await serve(t, [long(), long()]);
	const client = connect(t, server);
	const [first, second] = [await openSession(client), await openSession(client)];
	const sleeper = client.request({ ':path': `${first}/events` });
	await submit(client, first, { id: '1', op: userInput('go') });
	await submit(client, second, { id: '1', op: userInput('go') });
	await until(client.request({ ':path': `${second}/events` }), 'task_complete');
	sleeper.on('error', () => {}).close(); // it ends with the program at the latest
	client.destroy();
});

test('10,000 requests that are reset at once end their connection and no other', proto, async (t) => {
	const server = await serve(t);
	const other = connect(t, server);
	await call(other, { ':path': '/healthz' });
	const attack = raw(t, server);
	for (let id = 1; id < 20_000; id += 2)
		attack.send(frame(HEADERS, END_HEADERS, id, healthHead), frame(RST_STREAM, 0, id, uint32(8)));
	const frames = await attack.closed;
	assert.notEqual(codeOf(frames), undefined, 'no GOAWAY');
	assert.equal((await call(other, { ':path': '/healthz' })).status, 200);
	await isServed(t, server);
});

test('a connection whose requests are all errors is ended', proto, async (t) => {
	const server = await serve(t);
	const other = connect(t, server);
	await call(other, { ':path': '/healthz' });
	const attack = raw(t, server);
	const bad = Buffer.concat([healthHead, literal('UPPER', 'case')]);
	for (let id = 1; id < 4000; id += 2) attack.send(frame(HEADERS, END_STREAM | END_HEADERS, id, bad));
	const frames = await attack.closed;
	assert.equal(codeOf(frames), ENHANCE_YOUR_CALM);
	assert.equal((await call(other, { ':path': '/healthz' })).status, 200);
});

test('the bodies of a connection that are not complete are bounded together', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server, { maxSessionMemory: 1000 }); // Node drops answers while it stores more than 10 MB to send
	const session = await openSession(client);
	const part = Buffer.alloc(15 << 20, ' '); // each alone is within the limit
	const begin = (headers, bytes) => {
		const stream = client.request({ ':method': 'POST', ...headers });
		stream.on('error', () => {}).resume(); // the client ends first
		stream.write(bytes);
		return new Promise((resolve) => stream.on('response', resolve));
	};
	const bodies = Array.from({ length: 8 }, () => begin({ ':path': `${session}/submissions` }, part));
	assert.equal((await Promise.race(bodies))[':status'], 503);
	const head = Buffer.concat([Buffer.from([0]), uint32(16 << 20)]);
	const messages = Array.from({ length: 8 }, () =>
		begin({ ':path': '/codex.v1.Codex/Submit', 'content-type': 'application/grpc' }, Buffer.concat([head, part])));
	assert.equal((await Promise.race(messages))['grpc-status'], '8');
	await isServed(t, server);
});

const smuggling = {
	'a header of connections': [literal('connection', 'close')],
	'transfer-encoding': [literal('transfer-encoding', 'chunked')],
	'a second path': [literal(':path', '/other')],
	'a pseudo header after a header': [literal('a', 'b'), literal(':method', 'POST')],
	'a line end in a value': [literal('a', 'b\r\nc: d')],
	'two lengths': [literal('content-length', '0'), literal('content-length', '5')],
	'a length without a body': [literal('content-length', '5')],
	'te with another value': [literal('te', 'gzip')],
};
for (const [name, headers] of Object.entries(smuggling))
	test(`${name} ends the request alone`, proto, async (t) => {
		const server = await serve(t);
		const attack = raw(t, server);
		attack.send(frame(HEADERS, END_STREAM | END_HEADERS, 1, Buffer.concat([healthHead, ...headers])),
			frame(HEADERS, END_STREAM | END_HEADERS, 3, healthHead));
		const answered = (frames, id) => frames.find((one) => one.id === id && one.type === HEADERS);
		await waitFor(attack.socket, () => attack.frames, (frames) => answered(frames, 3));
		assert.ok(attack.frames.find(({ type, id }) => type === RST_STREAM && id === 1), 'the stream was not reset');
		assert.ok(!answered(attack.frames, 1));
	});

test('two names of the host are refused, and trailers of a request have no effect', proto, async (t) => {
	const server = await serve(t);
	const client = connect(t, server);
	assert.equal((await call(client, { ':path': '/healthz', ':authority': 'localhost', host: 'other' })).status, 400);
	const stream = client.request({ ':method': 'POST', ':path': '/v1/sessions' }, { waitForTrailers: true });
	stream.on('wantTrailers', () => stream.sendTrailers({ origin: 'https://example.org' }));
	stream.end('{}');
	assert.equal(await new Promise((resolve) => stream.on('response', (head) => resolve(head[':status']))), 201);
	stream.resume();
});

test('headers that unpack to megabytes end their stream and nothing is kept of them', proto, async (t) => {
	const server = await serve(t);
	const attack = raw(t, server);
	// One entry of 4,000 bytes is added to the table, then named 10,000 times by one byte each.
	const value = 'v'.repeat(4000);
	const added = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from('x'), Buffer.from([0x7f, ...[4000 - 127 & 127 | 128,
		4000 - 127 >> 7]]), Buffer.from(value)]);
	attack.send(frame(HEADERS, END_STREAM | END_HEADERS, 1,
		Buffer.concat([healthHead, added, Buffer.alloc(10_000, 0xbe)])), frame(PING, 0, 0, Buffer.alloc(8)));
	await waitFor(attack.socket, () => attack.frames, (frames) => frames.find(({ type }) => type === PING));
	const reset = attack.frames.find(({ type, id }) => type === RST_STREAM && id === 1);
	assert.ok(reset, 'the stream was not reset');
	await isServed(t, server);
});

// The codes are those of RFC 9113: 1 PROTOCOL_ERROR, 3 FLOW_CONTROL_ERROR, 5 STREAM_CLOSED, 6 FRAME_SIZE_ERROR, 9 COMPRESSION_ERROR; null: any.
const attacks = {
	'CONTINUATION without an end': [null, () => [frame(HEADERS, 0, 1, healthHead),
		...Array.from({ length: 2000 }, () => frame(CONTINUATION, 0, 1, literal('x', 'y')))]],
	'CONTINUATION without HEADERS': [[1], () => [frame(CONTINUATION, END_HEADERS, 1, healthHead)]],
	'another frame inside of a head': [[1], () => [frame(HEADERS, 0, 1, healthHead), frame(PING, 0, 0, Buffer.alloc(8))]],
	'DATA on stream 0': [[1], () => [frame(DATA, 0, 0, Buffer.alloc(4))]],
	'HEADERS on stream 0': [[1], () => [frame(HEADERS, END_HEADERS, 0, healthHead)]],
	'an even stream': [[1], () => [frame(HEADERS, END_HEADERS, 2, healthHead)]],
	'DATA on an idle stream': [[1, 5], () => [frame(DATA, 0, 1, Buffer.alloc(4))]],
	'a reset of an idle stream': [[1], () => [frame(RST_STREAM, 0, 1, uint32(8))]],
	'SETTINGS on a stream': [[1], () => [frame(SETTINGS, 0, 1)]],
	'a window that grows by nothing': [[1], () => [frame(WINDOW_UPDATE, 0, 0, uint32(0))]],
	'PUSH_PROMISE of a client': [[1], () => [frame(HEADERS, END_HEADERS, 1, healthHead),
		frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.concat([uint32(2), healthHead]))]],
	'padding longer than its frame': [[1], () => [frame(HEADERS, END_HEADERS, 1, healthHead), frame(DATA, PADDED, 1, Buffer.from([9, 0, 0]))]],
	'SETTINGS of a wrong length': [[6], () => [frame(SETTINGS, 0, 0, Buffer.alloc(5))]],
	'PING of a wrong length': [[6], () => [frame(PING, 0, 0, Buffer.alloc(7))]],
	'a window past its maximum': [[3], () => [frame(WINDOW_UPDATE, 0, 0, uint32(0x7fffffff))]],
	'a frame longer than allowed': [[6], () => [frame(DATA, 0, 1, Buffer.alloc(20_000))]],
	'a head that cannot be decoded': [[9], () => [frame(HEADERS, END_HEADERS, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))]],
	'a preface that ends wrong': [null, () => []],
};
for (const [name, [codes, frames]] of Object.entries(attacks))
	test(`${name} ends the connection`, proto, async (t) => {
		const server = await serve(t);
		const attack = raw(t, server, { opening: frames().length > 0 });
		if (frames().length) attack.send(...frames());
		else attack.send(Buffer.from('PRI * HTTP/2.0\r\n\r\nSN\r\n\r\n'));
		const code = codeOf(await attack.closed);
		if (codes) assert.ok(codes.includes(code), `GOAWAY has the code ${code}`);
		else if (frames().length) assert.ok(code > 0, 'no GOAWAY with an error');
		await isServed(t, server);
	});

test('frames and settings of unknown types are ignored', proto, async (t) => {
	const server = await serve(t);
	const peer = raw(t, server);
	peer.send(frame(0x77, 0xff, 0, Buffer.alloc(50)), frame(0x78, 0, 5, Buffer.alloc(9)), frame(SETTINGS, 0, 0, Buffer.from([0x99, 0x99, 1, 2, 3, 4])),
		frame(HEADERS, END_STREAM | END_HEADERS, 1, healthHead));
	await waitFor(peer.socket, () => peer.frames, (frames) => frames.find((one) => one.id === 1 && one.type === HEADERS));
});

test('floods of PING and SETTINGS from a client that does not read are bounded', proto, async (t) => {
	const server = await serve(t);
	const attack = raw(t, server);
	attack.socket.pause();
	const flood = Buffer.concat(Array.from({ length: 20_000 }, (_, i) =>
		i % 2 ? frame(PING, 0, 0, Buffer.alloc(8)) : frame(SETTINGS, 0, 0)));
	for (let i = 0; i < 10; i++) attack.send(flood);
	await isServed(t, server);
});

test('a connection that sends no complete request is closed', proto, async (t) => {
	const server = await serve(t);
	const partial = ['', 'PRI * HT', 'GET /healthz HTTP/1.1\r\nhost: loc'].map((text) => {
		const socket = net.connect(server.port, '127.0.0.1');
		if (text) socket.write(text);
		return new Promise((resolve) => socket.on('close', resolve).resume());
	});
	const http2Only = raw(t, server); // a preface, and no request
	await Promise.all([...partial, http2Only.closed]);
});

const isRefused = (t, server) => new Promise((resolve) => {
	const newcomer = raw(t, server);
	newcomer.socket.on('close', () => resolve(true));
	waitFor(newcomer.socket, () => newcomer.frames, (frames) => frames.length).then(() => resolve(false), () => resolve(true));
});

/** Opens as many connections as are accepted; each has begun a request whose body does not come. */
async function neverSendBodies(t, opening) {
	const server = await serve(t);
	const open = () => new Promise((resolve, reject) => {
		const socket = net.connect(server.port, '127.0.0.1', () => socket.write(opening, () => resolve(socket)));
		t.after(() => socket.destroy());
		socket.on('error', reject);
	});
	const first = await open();
	const evicted = new Promise((resolve) => first.removeAllListeners('error').on('error', () => {}).on('close', resolve).resume());
	for (let count = 1; count < CONNECTIONS; count++) await open();
	while (await isRefused(t, server)) await new Promise((resolve) => setTimeout(resolve, 200));
	await evicted;
}

// Each waits for a limit of 60 seconds, so they wait side by side.
test('connections that never send their body keep nobody out for ever', { ...proto, concurrency: true }, (t) => Promise.all([
	['HTTP/1.1', Buffer.from('POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n{')],
	['HTTP/2', Buffer.concat([preface, frame(SETTINGS, 0, 0), frame(HEADERS, END_HEADERS, 1, Buffer.concat([
		Buffer.from([0x83, 0x86]), literal(':path', '/v1/sessions'), literal(':authority', 'localhost')])), frame(DATA, 0, 1, Buffer.from('{'))])],
].map(([name, opening]) => t.test(name, (each) => neverSendBodies(each, opening)))));

/** A connection that gets the head of an answer, and has no room for its body until read() is called. */
async function unread(t, server) {
	const client = raw(t, server, { opening: false });
	client.send(preface, frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(0)])), frame(HEADERS, END_HEADERS | END_STREAM, 1,
		Buffer.concat([Buffer.from([0x82, 0x86]), literal(':path', '/v1/codex.proto'), literal(':authority', 'localhost')])));
	await waitFor(client.socket, () => client.frames, (frames) => frames.some(({ type }) => type === HEADERS));
	const text = () => Buffer.concat(client.frames.filter(({ type }) => type === DATA).map(({ payload }) => payload)).toString();
	return { ...client, text, read: () => {
		client.send(frame(WINDOW_UPDATE, 0, 1, uint32(1 << 20)));
		return waitFor(client.socket, text, (all) => all.includes('message CloseSessionResponse'));
	} };
}

test('a client that has not read its answer yet does not make room for a newcomer; the one that rested longest does', proto, async (t) => {
	const server = await serve(t);
	const slow = await unread(t, server);
	const upload = net.connect(server.port, '127.0.0.1'), upload2 = connect(t, server).request({ ':method': 'POST', ':path': '/v1/sessions' });
	let text = '';
	upload.setEncoding('utf8').on('data', (part) => (text += part)).on('error', () => {});
	upload.write('POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n');
	await waitFor(upload, () => text, (all) => all.includes('100 Continue'));
	upload2.write('{');
	const [first, second] = [connect(t, server), connect(t, server)];
	for (const client of [first, second, first]) assert.equal((await call(client, { ':path': '/healthz' })).status, 200);
	for (let count = 5; count < CONNECTIONS; count++) {
		const client = raw(t, server);
		client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, healthHead));
		await waitFor(client.socket, () => client.frames, (frames) => frames.some(({ type }) => type === HEADERS));
	}
	const evicted = new Promise((resolve) => second.on('close', resolve));
	await isServed(t, server);
	await evicted;
	assert.equal((await call(first, { ':path': '/healthz' })).status, 200);
	await slow.read();
	const status = new Promise((resolve) => upload2.on('response', (head) => resolve(head[':status'])));
	upload2.end('}');
	assert.equal(await status, 201);
	upload.write('{}');
	await waitFor(upload, () => text, (all) => all.includes('201 Created'));
	upload.destroy();
});

test('clients that never read their answers keep nobody out for ever', proto, async (t) => {
	const server = await serve(t);
	const clients = [];
	for (let count = 0; count < CONNECTIONS; count++) clients.push(await unread(t, server));
	assert.equal(await isRefused(t, server), true, 'all of them may still read');
	const ping = frame(PING, 0, 0, Buffer.alloc(8));
	for (let id = 3; await isRefused(t, server); id += 2) { // answers without a body, and PING, are no progress
		for (const { socket, send } of clients)
			if (!socket.destroyed) send(ping, frame(HEADERS, END_HEADERS | END_STREAM, id, healthHead));
		await new Promise((resolve) => setTimeout(resolve, 500));
	}
	await clients[0].closed; // the one that has waited longest
});

test('SIGTERM announces the end to each connection', proto, async (t) => {
	const server = await serve(t, [reply({ message: 'Working.' }, { gate: 'never' })]);
	const client = connect(t, server);
	const session = await openSession(client);
	await submit(client, session, { id: '1', op: userInput('go') });
	const goaway = new Promise((resolve) => client.on('goaway', resolve));
	const watcher = client.request({ ':path': `${session}/events` });
	await new Promise((resolve) => watcher.on('response', resolve));
	server.child.kill('SIGTERM');
	assert.equal(await goaway, 0);
	await until(watcher, 'shutdown_complete');
	assert.equal((await server.done).code, 0);
});

for (const [tool, args] of [
	['curl', (url) => ['-sSf', '--http2-prior-knowledge', `${url}/readyz`]],
	['nghttp', (url) => ['-n', `${url}/readyz`]],
	['h2load', (url) => ['-n1000', '-c4', '-m50', `${url}/v1/sessions`]],
])
	test(`${tool} is served`, proto, async (t) => {
		const server = await serve(t);
		try {
			const { stdout } = await promisify(execFile)(tool, args(server.url));
			if (tool === 'h2load') assert.match(stdout, /1000 succeeded, 0 failed/);
		} catch (error) {
			if (error.code !== 'ENOENT') throw error;
			t.skip(`${tool} is not installed`);
		}
	});
