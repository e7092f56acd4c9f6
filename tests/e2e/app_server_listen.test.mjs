// codex app-server --listen: admission at ws:// and unix://, shutdown, and isolation of clients.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { cleanEnv, codexBin, launch, makeHome, needs, reply, run, runCodex, say, startModel, tempDir, waitFor }
	from './lib/codex.mjs';
import { connectRpc, dial, frame, http } from './lib/websocket.mjs';

const options = needs('app-server');
const echo = async (client, value) =>
	assert.deepEqual(await client.request('mock/experimentalMethod', { value }), { echoed: value });

/** Starts a server at ws://; `where` is for dial. */
async function listen(t, args = [], url = 'ws://127.0.0.1:0', model = null) {
	const cwd = tempDir(t, 'cwd');
	const program = launch(t, codexBin, ['app-server', '--listen', url, ...args],
		{ cwd, env: cleanEnv(makeHome(t, model)) });
	const port = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /note: .*\n/.test(text) && /listening on: ws:\/\/\S+:(\d+)\n/.exec(text)?.[1]);
	return { ...program, cwd, where: { port: Number(port), host: url.includes('[') ? '::1' : '127.0.0.1' } };
}

test('a setting is written although its client has left and the file has changed meanwhile', options, async (t) => {
	const home = makeHome(t, null), file = path.join(home, 'config.toml');
	const program = launch(t, codexBin, ['app-server', '--listen', 'ws://127.0.0.1:0'], { env: cleanEnv(home) });
	const port = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /note: .*\n/.test(text) && /listening on: ws:\/\/\S+:(\d+)\n/.exec(text)?.[1]);
	const where = { port: Number(port), host: '127.0.0.1' };
	const writer = await connectRpc(t, where), other = await connectRpc(t, where);

	/* The lock keeps the worker from comparing the file; the second answer shows that it was read before. */
	const lock = launch(t, 'flock', [home, 'sh', '-c', 'echo held; read line']);
	await waitFor(lock.child.stdout, () => lock.result.stdout, (text) => text.includes('held'));
	writer.request('config/value/write', { keyPath: 'model', value: 'written', mergeStrategy: 'replace' }).catch(() => {});
	await echo(writer, 'it was read');
	fs.appendFileSync(file, '[tui]\nnotifications = true\n');
	writer.socket.socket.destroy();
	await new Promise((wake) => setTimeout(wake, 200)); // otherwise the client is still there, which is the easier case
	await echo(other, 'it has left');
	lock.child.stdin.end('\n');
	const isWritten = () => /^model = "written"$/m.test(fs.readFileSync(file, 'utf8'));
	while (!isWritten()) await new Promise((wake) => setTimeout(wake, 5));
	assert.match(fs.readFileSync(file, 'utf8'), /^notifications = true$/m);
	assert.equal((await other.request('config/read', {})).config.model, 'written');
});

test('other clients are notified of a login whose client disconnects before its answer', options, async (t) => {
	const { where } = await listen(t);
	const leaver = await connectRpc(t, where), other = await connectRpc(t, where);
	leaver.request('account/login/start', { type: 'apiKey', apiKey: 'sk-1' }).catch(() => {});
	leaver.socket.socket.end();
	const completed = (await other.next('account/login/completed')).params;
	assert.equal(completed.success, true);
});

/** Resolves once a server accepts connections there. */
const served = async (file) => {
	const isServed = () => new Promise((resolve) => {
		const socket = net.connect(file).on('error', () => resolve(false)).on('connect', () => resolve(true));
		socket.on('connect', () => socket.destroy());
	});
	while (!(await isServed())) await new Promise((wake) => setTimeout(wake, 5));
};

/** Starts a server at a Unix socket. */
async function listenUnix(t, { url, home = makeHome(t, null), short = home } = {}) {
	const file = url ? url.slice('unix://'.length) : path.join(short, 'app-server-control/app-server-control.sock');
	const program = launch(t, codexBin, ['app-server', '--listen', url ?? 'unix://'],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(home) });
	await served(file);
	return { ...program, home, file, where: { path: file } };
}

test('a port says where it is, answers probes, and refuses web pages', options, async (t) => {
	const server = await listen(t);
	const { port } = server.where;
	assert.equal(server.result.stderr, `codex app-server (WebSockets)
  listening on: ws://127.0.0.1:${port}
  readyz: http://127.0.0.1:${port}/readyz
  healthz: http://127.0.0.1:${port}/healthz
  note: binds localhost only (use SSH port-forwarding for remote access)
`);
	for (const target of ['/readyz', '/healthz']) {
		const { status, body } = await http(server.where, target);
		assert.deepEqual([status, body], [200, '']);
	}
	const { status, body } = await http(server.where, '/nope');
	assert.deepEqual([status, body], [400, "Connection header did not include 'upgrade'"]);
	assert.equal((await http(server.where, '/readyz', { Origin: 'http://evil.example' })).status, 403);
	await assert.rejects(dial(server.where, { Origin: 'http://localhost' }), { status: 403, body: '' });
	server.child.kill('SIGTERM');
	const { code, stdout } = await server.done;
	assert.deepEqual([code, stdout], [0, '']);
});

test('clients of a port are initialized one by one, and one that breaks rules goes alone', options, async (t) => {
	const server = await listen(t);
	const a = await connectRpc(t, server.where);
	const b = await connectRpc(t, server.where, { initialize: false });
	await assert.rejects(b.request('model/list', {}), { message: 'Not initialized' });
	await b.request('initialize', { clientInfo: { name: 'b', version: '1' }, capabilities: { experimentalApi: true } });
	await echo(b, 'b');
	b.socket.send(frame(1, 'x', { masked: false }));
	assert.deepEqual(await b.socket.closed, { code: 1002, reason: 'an unmasked frame' });
	const c = await connectRpc(t, server.where);
	c.socket.socket.resetAndDestroy();
	await c.socket.closed;
	await echo(a, 'still here');
	a.socket.close();
	assert.equal((await a.socket.closed).code, 1000);
	await echo(await connectRpc(t, server.where), 'again');
});

test('messages may come in pieces, big, and with pings between', options, async (t) => {
	const server = await listen(t, [], 'ws://[::1]:0');
	const client = await connectRpc(t, server.where);
	const pongs = [];
	client.socket.on.pong = (payload) => pongs.push(payload);
	const value = 'ü'.repeat(1 << 20);
	const answer = client.take((message) => message.id === 'big', 'answer');
	const bytes = Buffer.from(JSON.stringify({ id: 'big', method: 'mock/experimentalMethod', params: { value } }));
	client.socket.send(frame(1, bytes.subarray(0, 100_001), { fin: false }), frame(9, 'are you there'),
		frame(0, bytes.subarray(100_001, 100_002), { fin: false }), frame(2 + 8, ''), frame(0, bytes.subarray(100_002)));
	assert.equal((await answer).result.echoed, value);
	assert.deepEqual(pongs, ['are you there']);
	client.socket.send(frame(2, 'binary'));
	client.socket.sendText('junk');
	await echo(client, 'on');
	client.socket.send(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0]), Buffer.from('x'));
	assert.deepEqual(await client.socket.closed, { code: 1009, reason: 'a message of more than 16 MiB' });
	server.child.kill('SIGINT');
	const { code, stderr } = await server.done;
	assert.equal(code, 0);
	assert.match(stderr, /message \d+ of a client was ignored/);
});

test('a burst of requests is answered whole', options, async (t) => {
	const server = await listen(t);
	const client = await connectRpc(t, server.where);
	const values = Array.from({ length: 5000 }, (_, i) => `${i}`);
	const answers = await Promise.all(values.map((value) => client.request('mock/experimentalMethod', { value })));
	assert.deepEqual(answers.map(({ echoed }) => echoed), values);
});

test('a token is asked for where one is configured', options, async (t) => {
	const file = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(file, 'sekret-token\n', { mode: 0o600 });
	const server = await listen(t, ['--ws-auth', 'capability-token', '--ws-token-file', file], 'ws://0.0.0.0:0');
	assert.match(server.result.stderr, /note: websocket auth is required for non-localhost listeners\n/);
	assert.equal((await http(server.where, '/readyz')).status, 200);
	await assert.rejects(dial(server.where), { status: 401, body: 'missing websocket bearer token' });
	await assert.rejects(dial(server.where, { Authorization: 'Bearer wrong' }),
		{ status: 401, body: 'invalid websocket bearer token' });
	await echo(await connectRpc(t, server.where, { headers: { Authorization: 'Bearer sekret-token' } }), 'in');
});

test('invalid addresses and options are refused at once', options, async (t) => {
	const cases = [
		[['--listen', 'http://127.0.0.1:1'], 2, "error: invalid value 'http://127.0.0.1:1' for '--listen <URL>': unsupported "
			+ '--listen URL `http://127.0.0.1:1`; expected `stdio://`, `unix://`, `unix://PATH`, `ws://IP:PORT`, `fd://`, or `off`'],
		[['--listen', 'ws://localhost:1'], 2, "error: invalid value 'ws://localhost:1' for '--listen <URL>': invalid "
			+ 'websocket --listen URL `ws://localhost:1`; expected `ws://IP:PORT`'],
		[['--listen', 'bogus'], 2, 'unsupported --listen URL `bogus`'],
		[['--listen', 'off'], 1, '`--listen off` leaves no transport; name one, such as stdio://'],
		[['--stdio', '--listen', 'off'], 2, "the argument '--stdio' cannot be used with '--listen <URL>'"],
		[['--listen', 'ws://0.0.0.0:0'], 1, 'refusing to start non-loopback websocket listener 0.0.0.0:0 without auth'],
		[['--listen', 'ws://127.0.0.1:0', '--ws-auth', 'capability-token'], 1, '`--ws-token-file` or `--ws-token-sha256`'],
		[['--listen', 'ws://127.0.0.1:0', '--ws-auth', 'x'], 2, '[possible values: capability-token, signed-bearer-token]'],
		[['--listen', 'ws://127.0.0.1:0', '--ws-issuer', 'x'], 1, 'websocket auth flags require `--ws-auth'],
		[['--listen', 'unix:///nonexistent/s'], 1, 'cannot listen on unix:///nonexistent/s: No such file or directory'],
	];
	for (const [args, status, words] of cases) {
		const { code, stderr, stdout } = await runCodex(t, ['app-server', ...args]);
		assert.deepEqual([code, stdout], [status, ''], args.join(' '));
		assert.ok(stderr.includes(words), stderr);
	}
});

test('a Unix socket is its owner\'s, speaks WebSocket, and goes with the server', options, async (t) => {
	const server = await listenUnix(t, { url: `unix://${path.join(tempDir(t, 'socket'), 's')}` });
	assert.equal(fs.statSync(server.file).mode & 0o7777, 0o600);
	const client = await connectRpc(t, server.where);
	assert.match(client.socket.head, /^x-codex-websocket-max-unfragmented-message-bytes: 16777216$/m);
	await echo(client, 'hi');
	const raw = net.connect(server.file);
	const said = new Promise((resolve) => {
		let text = '';
		raw.on('data', (more) => (text += more)).on('close', () => resolve(text));
	});
	raw.write('{"id":1,"method":"initialize"}\n');
	assert.match(await said, /^HTTP\/1\.1 400 Bad Request\r\n/);
	server.child.kill('SIGTERM');
	assert.deepEqual(await client.socket.closed, { code: 1001, reason: '' });
	assert.equal((await server.done).code, 0);
	assert.ok(!fs.existsSync(server.file));
});

test('the default socket is in CODEX_HOME, even with a long path; a stale one is replaced, one in use is an error',
	options, async (t) => {
		const home = path.join(tempDir(t, 'home'), 'x'.repeat(120));
		fs.mkdirSync(home);
		const short = path.join(tempDir(t, 'short'), 'home'); // for Node, which does not know such paths
		fs.symlinkSync(home, short);
		const first = await listenUnix(t, { home, short });
		const busy = await runCodex(t, ['app-server', '--listen', 'unix://'], { home });
		assert.equal(busy.code, 1);
		assert.match(busy.stderr, /cannot listen on unix:\/\/.*: Address already in use/);
		first.child.kill('SIGKILL');
		await first.done;
		assert.ok(fs.existsSync(first.file));
		const second = await listenUnix(t, { home, short });
		second.child.kill('SIGTERM');
		assert.equal((await second.done).code, 0);
	});

test('a client that reads nothing does not keep the server from leaving', options, async (t) => {
	const server = await listen(t);
	const client = await connectRpc(t, server.where);
	client.socket.socket.pause();
	const other = await connectRpc(t, server.where);
	for (let i = 0; i < 40; i++)
		client.send({ id: i, method: 'mock/experimentalMethod', params: { value: 'x'.repeat(1 << 18) } });
	await echo(other, 'served');
	const before = Date.now();
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
	assert.ok(Date.now() - before < 5000, 'it waited for the reader');
});

test('at standard input, signals end it as they end any program', options, async (t) => {
	for (const [signal, code] of [['SIGTERM', 0], ['SIGINT', null], ['SIGHUP', null]]) {
		const server = await startAppServer(t, null);
		server.child.kill(signal);
		const end = await server.done;
		assert.deepEqual([end.code, end.signal], [code, code === 0 ? null : signal]);
	}
});

const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };

/** Starts a thread and a turn of it. */
async function begin(client) {
	const { thread } = await client.request('thread/start', FREE);
	await client.request('turn/start', { threadId: thread.id, input: [text('go')] });
	return thread.id;
}

const idle = (threadId) => ({ method, params }) =>
	method === 'thread/status/changed' && params.threadId === threadId && params.status.type === 'idle';

test('a turn continues when its client disconnects; others are notified and continue the thread', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'half' }, { gate: 'rest' }, { delta: ' all' }), say('Again.')]);
	const server = await listen(t, [], undefined, model);
	const [a, b] = [await connectRpc(t, server.where), await connectRpc(t, server.where)];
	const id = await begin(a);
	await a.next('item/agentMessage/delta');
	a.socket.socket.resetAndDestroy();
	await a.socket.closed;
	await echo(b, 'there');
	await model.openGate('rest');
	await b.take(idle(id), 'idle');
	assert.deepEqual(b.all('item/agentMessage/delta'), [], 'it was told of a thread that it does not watch');
	assert.deepEqual((await b.request('thread/loaded/list', {})).data, [id]);
	await b.request('turn/start', { threadId: id, input: [text('again')] });
	await b.take(idle(id), 'idle');
	const requests = await model.requests();
	assert.match(JSON.stringify(requests.at(-1).body.input), /half all/);
});

for (const [method, done] of [['archive', 'archived'], ['delete', 'deleted']]) {
	test(`thread/${method} unloads the thread even if its client leaves at once`, options, async (t) => {
		const server = await listen(t, [], undefined, await startModel(t, [say('Hello.')]));
		const [a, b] = [await connectRpc(t, server.where), await connectRpc(t, server.where)];
		const id = await begin(a);
		await a.take(idle(id), 'idle');
		b.send({ id: 'last', method: `thread/${method}`, params: { threadId: id } });
		b.socket.socket.end();
		assert.equal((await a.next(`thread/${done}`)).params.threadId, id);
		assert.deepEqual((await a.request('thread/loaded/list', {})).data, []);
	});
}

test('an interrupt is carried out while its client reads nothing', options, async (t) => {
	const delta = { type: 'response.output_text.delta', item_id: 'msg', output_index: 0, content_index: 0,
		delta: 'x'.repeat(100_000) };
	const added = { type: 'response.output_item.added', output_index: 0,
		item: { type: 'message', id: 'msg', role: 'assistant', content: [] } };
	const model = await startModel(t, [reply({ start: true }, { event: added }, { repeat: 500, steps: [{ event: delta }] })]);
	const server = await listen(t, [], undefined, model);
	const [a, b] = [await connectRpc(t, server.where), await connectRpc(t, server.where)];
	const { thread } = await a.request('thread/start', FREE);
	const { turn } = await a.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await a.next('item/agentMessage/delta');
	a.socket.socket.pause();
	for (let i = 0; i < 40; i++) // more than all queues on the way hold
		a.send({ id: `wide${i}`, method: 'mock/experimentalMethod', params: { value: 'x'.repeat(1 << 19) } });
	await echo(b, 'there');
	a.send({ id: 'stop', method: 'turn/interrupt', params: { threadId: thread.id, turnId: turn.id } });
	await b.take(idle(thread.id), 'idle');
	a.socket.socket.resume();
	await a.take(({ id }) => id === 'stop', 'answer');
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
	test(`${signal} ends a server in order, with the commands of its turns`, options, async (t) => {
		const model = await startModel(t, [run('echo $$ > pid; sleep 600')]);
		const server = await listen(t, [], undefined, model);
		const client = await connectRpc(t, server.where);
		await begin(client);
		const file = path.join(server.cwd, 'pid');
		while (!fs.existsSync(file) || !fs.statSync(file).size) await new Promise((wake) => setTimeout(wake, 10));
		server.child.kill(signal);
		assert.equal((await client.socket.closed).code, 1001);
		assert.equal((await server.done).code, 0);
		assert.throws(() => process.kill(Number(fs.readFileSync(file, 'utf8')), 0), { code: 'ESRCH' });
	});
}

test('commands, watches and searches belong to their client, and end with it alone', options, async (t) => {
	const server = await listen(t);
	const [a, b] = [await connectRpc(t, server.where), await connectRpc(t, server.where)];
	const cwd = server.cwd;
	const spawn = (client, script) => client.request('process/spawn',
		{ command: ['sh', '-c', script], cwd, processHandle: 'h', streamStdoutStderr: true, streamStdin: true });
	await spawn(a, 'setsid sleep 600 & echo $!; wait');
	const { params } = await a.next('process/outputDelta');
	const pid = Number(Buffer.from(params.deltaBase64, 'base64').toString());
	await a.request('fs/watch', { watchId: 'w', path: cwd });
	await a.request('fuzzyFileSearch/sessionStart', { sessionId: 's', roots: [cwd] });
	await assert.rejects(b.request('process/kill', { processHandle: 'h' }), /no active process for process handle "h"/);
	await assert.rejects(b.request('fuzzyFileSearch/sessionUpdate', { sessionId: 's', query: 'x' }), /session not found: s/);
	await b.request('fs/unwatch', { watchId: 'w' });
	await spawn(b, 'read x; exit 5');
	fs.writeFileSync(path.join(cwd, 'file'), '');
	await a.next('fs/changed');
	a.socket.socket.resetAndDestroy();
	await a.socket.closed;
	for (let isThere = true; isThere;) {
		await echo(b, 'there');
		isThere = fs.existsSync(`/proc/${pid}`);
	}
	assert.deepEqual(b.all('fs/changed'), []);
	await b.request('process/writeStdin', { processHandle: 'h', deltaBase64: 'Cg==' });
	assert.equal((await b.next('process/exited')).params.exitCode, 5);
});
