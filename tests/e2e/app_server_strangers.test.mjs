// codex app-server at ws:// with connections that never identify themselves: they cost little and delay no other client.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import test from 'node:test';

import { cleanEnv, codexBin, launch, makeHome, needs, tempDir, waitFor } from './lib/codex.mjs';
import { connectRpc, dial, http } from './lib/websocket.mjs';

const options = needs('app-server');
const GROWTH_KIB = 12_100; // of memory that the crowd may add to an idle server

/** A server with as many descriptors as a login shell gives it. */
async function listen(t, args = []) {
	const env = { ...cleanEnv(makeHome(t, null)), ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=1` };
	const program = launch(t, '/bin/sh', ['-c', 'ulimit -n 1024; exec "$@"', 'sh', codexBin, 'app-server', '--listen',
		'ws://127.0.0.1:0', ...args], { cwd: tempDir(t, 'cwd'), env, lifetime: 120_000 });
	const port = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /note: .*\n/.test(text) && /listening on: ws:\/\/\S+:(\d+)\n/.exec(text)?.[1]);
	const proc = `/proc/${program.child.pid}`;
	const peak = () => Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync(`${proc}/status`, 'utf8'))[1]);
	const where = { port: Number(port), host: '127.0.0.1' };
	assert.equal((await http(where, '/readyz')).status, 200);
	const idle = peak(); // of a server that has served a client, so that only the crowd counts
	return {
		...program, where,
		growthKiB: () => peak() - idle,
		descriptors: () => fs.readdirSync(`${proc}/fd`).length,
	};
}

/** A connection that sends this and then stays silent; resolves once it is open. */
function stranger(t, where, bytes = '') {
	const socket = net.connect(where);
	t.after(() => socket.destroy());
	socket.on('error', () => {}).resume();
	return new Promise((resolve) => {
		socket.on('connect', () => socket.write(bytes, () => resolve(socket))).on('close', () => resolve(socket));
	});
}

async function crowd(t, where, count, bytes, each = async () => {}) {
	for (let i = 0; i < count; i += 100) {
		await Promise.all(Array.from({ length: 100 }, () => stranger(t, where, bytes)));
		await each();
	}
}

const echo = async (client, value) =>
	assert.deepEqual(await client.request('mock/experimentalMethod', { value }), { echoed: value });

test('1,000 idle and 1,000 half-sent connections: clients work, new ones are admitted, memory stays small', options,
	async (t) => {
		const server = await listen(t);
		const client = await connectRpc(t, server.where);
		const work = async () => {
			await echo(client, 'at work');
			await echo(await connectRpc(t, server.where), 'come in');
			assert.ok(server.descriptors() <= 1024 - 100, `${server.descriptors()} descriptors in use`);
		};
		await crowd(t, server.where, 1000, '', work);
		await crowd(t, server.where, 1000, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(4096)}`, work);
		const { stdout, exitCode } = await client.request('command/exec', { command: ['echo', 'hi'] });
		assert.deepEqual([stdout, exitCode], ['hi\n', 0]);
		assert.ok(server.growthKiB() < GROWTH_KIB, `grew by ${server.growthKiB()} KiB`);
	});

test('1,050 WebSockets without initialize do not block new clients', options, async (t) => {
	const server = await listen(t);
	const client = await connectRpc(t, server.where);
	const first = await dial(server.where);
	t.after(() => first.socket.destroy());
	for (let i = 0; i < 1050; i += 50) {
		const sockets = await Promise.all(Array.from({ length: 50 }, () => dial(server.where)));
		t.after(() => sockets.forEach(({ socket }) => socket.destroy()));
	}
	await first.closed; // it has waited longest
	await echo(client, 'at work');
	await echo(await connectRpc(t, server.where), 'come in');
	assert.equal((await http(server.where, '/readyz')).status, 200);
	assert.ok(server.growthKiB() < GROWTH_KIB, `grew by ${server.growthKiB()} KiB`);
});

test('request bodies are not read', options, async (t) => {
	const server = await listen(t, ['--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64)]);
	const piece = Buffer.alloc(1 << 20, 'x');
	const flood = () => new Promise((resolve) => {
		const socket = net.connect(server.where);
		let answer = '';
		const pour = () => {
			while (!socket.destroyed && socket.write(piece));
		};
		socket.on('data', (text) => (answer += text)).on('error', () => {}).on('drain', pour)
			.on('close', () => resolve(answer));
		socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${256 << 20}\r\n\r\n`);
		pour();
	});
	await Promise.all([flood(), flood(), flood()]);
	assert.ok(server.growthKiB() < GROWTH_KIB, `grew by ${server.growthKiB()} KiB`);
	await assert.rejects(dial(server.where), { status: 401 });
});

test('a request that is not finished in time is refused', options, async (t) => {
	const server = await listen(t);
	const answer = await new Promise((resolve) => {
		const socket = net.connect(server.where);
		let text = '';
		socket.on('data', (more) => (text += more)).on('close', () => resolve(text));
		socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n');
	});
	assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
});

test('a name that is not the server\'s is refused, unless it is allowed', options, async (t) => {
	const server = await listen(t, ['--ws-allow-host', 'devbox.example', '--ws-allow-host', 'other']);
	for (const Host of ['devbox.example:8080', 'OTHER', `127.0.0.1:${server.where.port}`, '[::1]'])
		assert.equal((await http(server.where, '/readyz', { Host })).status, 200, Host);
	for (const Host of ['evil.example', 'devbox.example.evil', '10.0.0.1'])
		await assert.rejects(dial(server.where, { Host }), { status: 403, body: /--ws-allow-host NAME/ });
});
