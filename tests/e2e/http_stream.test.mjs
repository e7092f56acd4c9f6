// POST /v1/stream: a session that lasts as long as one request, over HTTP/1.1 and HTTP/2.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { needs, run, say, startModel } from './lib/codex.mjs';
import { serveHttp } from './lib/grpc.mjs';
import { userInput } from './lib/proto.mjs';

const proto = needs('proto');
const line = (id, op) => `${JSON.stringify({ id, op })}\n`;
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

function both(name, body) {
	for (const version of [1, 2]) test(`${name} (HTTP/${version})`, proto, (t) => body(t, version));
}

/** Begins a stream: {write, end, close, head, events, until(type), over}; over resolves to whether the answer is complete. */
function begin(t, server, version, headers = {}) {
	const fields = { 'content-type': 'application/x-ndjson', ...headers };
	let sink, source, head;
	if (version === 2) {
		const client = http2.connect(server.url);
		client.on('error', () => {});
		t.after(() => client.destroy());
		sink = client.request({ ':method': 'POST', ':path': '/v1/stream', ...fields });
		head = new Promise((resolve) => sink.on('response', (all) => resolve({ status: all[':status'], headers: all })));
		source = Promise.resolve(sink);
	} else {
		sink = http.request(`${server.url}/v1/stream`, { method: 'POST', agent: false, headers: fields });
		source = new Promise((resolve) => sink.on('response', resolve));
		head = source.then(({ statusCode, headers: all }) => ({ status: statusCode, headers: all }));
		sink.flushHeaders();
	}
	sink.on('error', () => {}); // `over` reports an answer that was cut
	const events = [], waiting = [];
	let rest = '', isOver = false;
	const look = () => waiting.forEach((one) => one());
	const over = source.then((stream) => new Promise((resolve) => {
		let isWhole = false;
		stream.setEncoding('utf8').on('data', (part) => {
			const lines = (rest + part).split('\n');
			rest = lines.pop();
			events.push(...lines.map((text) => JSON.parse(text)));
			look();
		}).on('end', () => (isWhole = true)).on('error', () => {}).on('close', () => {
			isOver = true;
			look();
			resolve(isWhole);
		});
	}));
	const until = (type) => new Promise((resolve, reject) => {
		waiting.push(() => {
			const event = events.find(({ msg }) => msg.type === type);
			if (event) resolve(event);
			else if (isOver) reject(new Error(`the answer ended before ${type}`));
		});
		look();
	});
	return { write: (text) => sink.write(text), end: () => sink.end(), close: () => sink.destroy(), head, events, until, over };
}

both('submissions go in and numbered events come out of one request', async (t, version) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]));
	const stream = begin(t, server, version);
	const { status, headers } = await stream.head; // before any submission
	assert.equal(status, 200);
	assert.equal(headers['content-type'], 'application/x-ndjson');
	assert.match(headers['codex-session-id'], /^[0-9a-f-]{36}$/);
	await stream.until('session_configured');
	const text = line('1', userInput('hi'));
	stream.write(text.slice(0, 10));
	await pause();
	stream.write(`${text.slice(10)}\n`); // an empty line has no effect
	assert.equal((await stream.until('task_complete')).id, '1');
	stream.write(line('2', { type: 'get_path' }).trimEnd()); // the last line needs no line end
	stream.end();
	assert.equal(await stream.over, true);
	assert.deepEqual(stream.events.map(({ seq }) => seq), stream.events.map((_, i) => i + 1));
	assert.equal(stream.events.at(-1).msg.type, 'shutdown_complete');
	assert.ok(stream.events.some(({ id }) => id === '2'));
	assert.deepEqual(await (await fetch(`${server.url}/v1/sessions`)).json(), { sessions: [] });
});

both('a line that is no submission is an error event, and the stream goes on', async (t, version) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]));
	const stream = begin(t, server, version);
	stream.write('[]\nnot json\n{"id":"a"}\n{"id":"b","op":{"type":"no_such_op"}}\n');
	stream.write(line('1', userInput('hi')));
	await stream.until('task_complete');
	const errors = stream.events.filter(({ msg }) => msg.type === 'error');
	assert.deepEqual(errors.map(({ id, msg }) => [id, msg.codex_error_info]),
		['', '', 'a', 'b'].map((id) => [id, 'bad_request']));
	stream.end();
	assert.equal(await stream.over, true);
});

both('a client that disconnects ends its task and commands', async (t, version) => {
	const server = await serveHttp(t, await startModel(t, [run('echo $$ > pid; exec sleep 1000'), say('Never.')]),
		{ config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' });
	const stream = begin(t, server, version);
	stream.write(line('1', userInput('go')));
	await stream.until('exec_command_begin');
	const file = path.join(server.cwd, 'pid');
	while (!fs.existsSync(file) || !fs.readFileSync(file, 'utf8').trim()) await pause();
	const pid = Number(fs.readFileSync(file, 'utf8'));
	stream.close();
	for (let isAlive = true; isAlive; await pause()) {
		try {
			process.kill(pid, 0);
		} catch {
			isAlive = false;
		}
	}
});

both('a line over 16 MiB ends the stream, and others are served', async (t, version) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]));
	const stream = begin(t, server, version);
	await stream.until('session_configured');
	stream.write('x'.repeat((16 << 20) + 10));
	assert.equal(await stream.over, false);
	assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
});

both('thousands of submissions on a stream are all answered, however fast they come', async (t, version) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]));
	const stream = begin(t, server, version);
	const count = 3000; // more than a session queues
	for (let i = 1; i <= count; i++) stream.write(line(String(i), { type: 'get_path' }));
	stream.end();
	assert.equal(await stream.over, true);
	const answers = stream.events.filter(({ msg }) => msg.type === 'conversation_path').map(({ id }) => Number(id));
	assert.deepEqual(answers, Array.from({ length: count }, (_, i) => i + 1));
});

test('a malformed chunk ends the session of a stream', proto, async (t) => {
	const server = await serveHttp(t, await startModel(t, [say('Unused.')]));
	const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
	socket.write('POST /v1/stream HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
	let text = '';
	socket.setEncoding('utf8').on('data', (part) => {
		text += part;
		if (text.includes('session_configured')) socket.write('zz\r\n');
	}).on('error', () => {});
	await new Promise((resolve) => socket.on('close', resolve));
	assert.ok(!text.includes('\r\n0\r\n'), 'the answer must not look complete');
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
});
