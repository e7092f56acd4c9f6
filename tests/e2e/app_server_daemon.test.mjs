// codex app-server daemon and proxy: clients share one server in the background, including clients that use lines.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { makeHome, needs, runCodex } from './lib/codex.mjs';
import { connectRpc, frame } from './lib/websocket.mjs';

const options = needs('app-server');
const echo = async (client, value) =>
	assert.deepEqual(await client.request('mock/experimentalMethod', { value }), { echoed: value });

/** A CODEX_HOME whose daemon, if one is started, ends with the test; `daemon(word)` gives {code, stderr, ...JSON}. */
function home(t, config) {
	t.after(() => daemon('stop')); // hooks run in their order: this one while there is a home
	const dir = makeHome(t, null, config);
	const daemon = async (...args) => {
		const { code, stdout, stderr } = await runCodex(t, ['app-server', 'daemon', ...args], { home: dir });
		return { code, stderr, ...(stdout && JSON.parse(stdout)) };
	};
	const socket = path.join(dir, 'app-server-control/app-server-control.sock');
	return { dir, daemon, socket, log: path.join(dir, 'app-server-daemon/daemon.stderr.log') };
}

const isAlive = (pid) => {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
};

/** Resolves when init has buried it. */
const gone = async (pid) => {
	while (isAlive(pid)) await new Promise((wake) => setTimeout(wake, 5));
};

test('a daemon is started once, found, and stopped', options, async (t) => {
	const { daemon, socket, dir } = home(t);
	const none = await daemon('status');
	assert.deepEqual([none.code, none.status, none.socketPath], [1, 'notRunning', socket]);
	assert.equal((await daemon('version')).code, 1);
	const [a, b] = await Promise.all([daemon('start'), daemon('start')]);
	assert.deepEqual([a.status, b.status].sort(), ['alreadyRunning', 'started']);
	assert.equal(a.pid, b.pid);
	assert.ok(isAlive(a.pid));
	assert.deepEqual(JSON.parse(fs.readFileSync(path.join(dir, 'app-server-daemon/daemon.pid'))), { pid: a.pid });
	const { code, status, pid, cliVersion, appServerVersion } = await daemon('status');
	assert.deepEqual([code, status, pid, appServerVersion], [0, 'running', a.pid, cliVersion]);
	const restarted = await daemon('restart');
	assert.equal(restarted.status, 'started');
	assert.notEqual(restarted.pid, a.pid);
	const stopped = await daemon('stop');
	assert.deepEqual([stopped.code, stopped.status], [0, 'stopped']);
	assert.ok(!fs.existsSync(socket));
	await gone(restarted.pid);
	assert.deepEqual([(await daemon('stop')).status, (await daemon('bogus')).code], ['notRunning', 2]);
});

test('the remains of a killed daemon and a wrong pid file are ignored', options, async (t) => {
	const { daemon, dir } = home(t);
	const { pid } = await daemon('start');
	process.kill(pid, 'SIGKILL');
	await gone(pid);
	fs.writeFileSync(path.join(dir, 'app-server-daemon/daemon.pid'), JSON.stringify({ pid: process.pid }));
	assert.equal((await daemon('stop')).status, 'notRunning');
	assert.equal((await daemon('start')).status, 'started');
});

test('a daemon that cannot start says where to look', options, async (t) => {
	const { daemon, dir, log } = home(t);
	fs.writeFileSync(path.join(dir, 'app-server-control'), 'a file in the place of the folder');
	const { code, stderr } = await daemon('start');
	assert.equal(code, 1);
	assert.ok(stderr.includes(`the server did not start; see the end of ${log}`), stderr);
	assert.match(fs.readFileSync(log, 'utf8'), /^codex app-server: .*app-server-control/m);
});

test('clients of all kinds share a daemon', options, async (t) => {
	const { daemon, dir, socket } = home(t);
	await daemon('start', '-c', 'model=shared');
	const direct = await connectRpc(t, { path: socket });
	const lines = await startAppServer(t, null, { home: dir, args: ['proxy'] });
	const other = await startAppServer(t, null, { home: dir, args: ['proxy', '--sock', socket] });
	await Promise.all([echo(direct, 'a'), echo(lines, 'b'), echo(other, 'ü'.repeat(1 << 20))]);
	lines.write('\n  {"id":"pretty","method":"mock/experimentalMethod","params":{"value":"c"}}  \r\n');
	assert.equal((await lines.take((message) => message.id === 'pretty', 'answer')).result.echoed, 'c');
	assert.equal((await lines.end()).code, 0);
	await echo(other, 'still here');
	const answers = await Promise.all(Array.from({ length: 3000 }, (_, i) =>
		other.request('mock/experimentalMethod', { value: `${i}` })));
	assert.equal(answers.length, 3000);
	await daemon('stop');
	assert.deepEqual([(await other.done).code, (await direct.socket.closed).code], [0, 1001]);
});

test('a client that speaks WebSocket through the proxy is not meddled with', options, async (t) => {
	const { daemon, dir } = home(t);
	await daemon('start');
	const request = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
		+ 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
	const { code, stdout } = await runCodex(t, ['app-server', 'proxy'], {
		home: dir,
		input: Buffer.concat([Buffer.from(request), frame(9, 'ping'), frame(8, '')]),
	});
	assert.equal(code, 0);
	assert.match(stdout, /^HTTP\/1\.1 101 [^]*s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n[^]*\r\n\r\n[^]\x04ping/);
});

test('the proxy answers a client that writes and closes its input, and one whose line is too long', options, async (t) => {
	const { dir, daemon } = home(t);
	await daemon('start');
	const lines = [
		{ id: 1, method: 'initialize', params: { clientInfo: { name: 'x', version: '1' }, capabilities: { experimentalApi: true } } },
		{ id: 2, method: 'command/exec', params: { command: ['sh', '-c', 'read x < /dev/null; echo done'] } },
		{ id: 3, method: 'mock/experimentalMethod', params: { value: 'y'.repeat(17 << 20) } },
		{ id: 4, method: 'thread/loaded/list', params: {} },
	];
	const input = lines.map((line) => JSON.stringify(line) + '\n').join('');
	const { code, stdout } = await runCodex(t, ['app-server', 'proxy'], { home: dir, input });
	const answers = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined);
	assert.deepEqual(answers.map(({ id }) => id).sort(), [1, 2, 3, 4]);
	assert.equal(answers.find(({ id }) => id === 2).result.stdout, 'done\n');
	assert.match(answers.find(({ id }) => id === 3).error.message, /longer than 16 MiB/);
	assert.equal(code, 0);
});

test('without a server the proxy says how to start one; other listeners are recognised', options, async (t) => {
	const { dir, socket } = home(t);
	const { code, stderr } = await runCodex(t, ['app-server', 'proxy'], { home: dir, input: '{}\n' });
	assert.equal(code, 1);
	assert.match(stderr, /failed to connect to socket at .*No such file[^]*daemon start\n$/);
	fs.mkdirSync(path.dirname(socket));
	const stranger = net.createServer((client) => client.end('hello\r\n\r\n')).listen(socket);
	t.after(() => stranger.close());
	await new Promise((resolve) => stranger.on('listening', resolve));
	const wrong = await runCodex(t, ['app-server', 'proxy'], { home: dir, input: '{}\n' });
	assert.equal(wrong.code, 1);
	assert.match(wrong.stderr, /the server does not speak HTTP/);
	stranger.close();
});
