// Messages that wait for the end of a turn: thread/queue/* and `codex queue`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { cleanEnv, codexBin, codexExec, forever, httpError, launch, makeHome, needs, reply, rollouts, runCodex, say, startModel, tempDir,
	textsOf, waitFor } from './lib/codex.mjs';

const options = needs('queue');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const gated = (name, message) => reply({ start: true }, { gate: name }, { message });

async function begin(t, script, more) {
	const model = await startModel(t, script);
	const server = await startAppServer(t, model, more);
	const { thread } = await server.request('thread/start', FREE);
	const ask = (method, params) => server.request(`thread/queue/${method}`, { threadId: thread.id, ...params });
	const add = async (words) => (await ask('add', { clientUserMessageId: `c-${words}`, input: [text(words)] })).queuedSubmission;
	const turn = (words) => server.request('turn/start', { threadId: thread.id, input: [text(words)] });
	return { model, server, thread, ask, add, turn };
}

test('messages are listed, changed, sorted and removed while a turn runs, and sent after it in order', options, async (t) => {
	const { model, server, ask, add, turn } = await begin(t, [gated('first', 'one'), say('two'), say('three')]);
	assert.deepEqual(await ask('list'), { data: [], nextCursor: null });
	await assert.rejects(ask('start'), { message: 'queue is empty' });
	await turn('hello');
	const [a, b, c] = [await add('a'), await add('b'), await add('c')];
	await assert.rejects(ask('add', { clientUserMessageId: 'x', input: [] }),
		{ message: 'only user input can be added to the user-message queue' });
	const page = await ask('list', { limit: 2 });
	assert.deepEqual([page.data.map(({ id }) => id), page.nextCursor], [[a.id, b.id], '2']);
	assert.deepEqual((await ask('list', { cursor: '2' })).data.map(({ id }) => id), [c.id]);
	await assert.rejects(ask('list', { cursor: 'zz' }), { message: /^invalid queue pagination cursor/ });
	const { queuedSubmission } = await ask('update', { queuedSubmissionId: b.id, input: [text('b changed')] });
	assert.equal(queuedSubmission.input[0].text, 'b changed');
	for (const method of ['update', 'start'])
		await assert.rejects(ask(method, { queuedSubmissionId: 'nope', input: [text('x')] }), { message: 'queued submission not found: nope' });
	assert.deepEqual(await ask('delete', { queuedSubmissionId: 'nope' }), { deleted: false });
	await assert.rejects(ask('reorder', { queuedSubmissionIds: [b.id, b.id, a.id] }), { message: /exactly once/ });
	await ask('reorder', { queuedSubmissionIds: [b.id, c.id, a.id] });
	assert.deepEqual(await ask('delete', { queuedSubmissionId: c.id }), { deleted: true });
	await assert.rejects(ask('start'), { message: 'thread already has an active or pending turn' });
	await model.openGate('first');
	for (let turns = 0; turns < 3; turns++) await server.next('turn/completed');
	const said = model.requests().map((request) => textsOf(request, 'user').at(-1));
	assert.deepEqual(said, ['hello', 'b changed', 'a']);
	assert.deepEqual(await ask('list'), { data: [], nextCursor: null });
	assert.deepEqual(fs.readdirSync(path.join(server.home, 'thread_queues')), ['lock'], 'no file is left');
	const items = server.all('item/started').filter(({ params }) => params.item.type === 'userMessage');
	assert.deepEqual(items.map(({ params }) => params.item.clientId), [null, 'c-b', 'c-a']);
});

test('a message for an idle thread is sent at once', options, async (t) => {
	const { model, server, add } = await begin(t, [say('one')]);
	await add('now');
	await server.next('turn/completed');
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), 'now');
});

test('after an interrupted or failed turn the queue waits for the user', options, async (t) => {
	const { model, server, thread, ask, add, turn } = await begin(t, [
		{ when: { contains: 'q-hello', lacks: 'q-fails' }, ...gated('never', 'x') },
		{ when: { contains: 'q-fails', lacks: 'q-later' }, ...httpError(400, { error: { message: 'no' } }) }, say('sent')]);
	await turn('q-hello');
	const { params } = await server.next('turn/started');
	const message = await add('q-later');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: params.turn.id });
	await server.next('turn/completed');
	await turn('q-fails');
	await server.next('turn/completed');
	assert.deepEqual((await ask('list')).data.map(({ id }) => id), [message.id]);
	assert.equal((await ask('start', { queuedSubmissionId: message.id })).turn.status, 'inProgress');
	await server.next('turn/completed');
	assert.equal(textsOf(model.requests().at(-1), 'user').at(-1), 'q-later');
});

test('a message waits while another process holds the lock of the queues', options, async (t) => {
	const { model, server, add, turn } = await begin(t, [gated('first', 'one'), say('two')]);
	await turn('hello');
	await add('later');
	const lock = launch(t, 'flock', [path.join(server.home, 'thread_queues/lock'), 'sh', '-c', 'echo held; read line']);
	await once(lock.child.stdout, 'data');
	await model.openGate('first');
	await server.next('turn/completed');
	lock.child.stdin.end('done\n');
	await server.next('turn/completed');
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'later');
	assert.equal(server.all('warning').length, 0);
});

test('codex queue adds a message, which a resume sends', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const { home } = await codexExec(t, model, ['begin']);
	const id = /([0-9a-f-]{36})\.jsonl$/.exec(rollouts(home)[0])[1];
	const queue = (...args) => runCodex(t, ['queue', ...args], { home });
	assert.equal((await queue('--thread', id)).code, 2);
	assert.equal((await queue('--thread', id, '--message', ' ')).code, 2);
	const unknown = await queue('--thread', 'nobody', '--message', 'hi');
	assert.deepEqual([unknown.code, /nobody/.test(unknown.stderr)], [1, true]);
	const queued = await queue('--thread', id, '--message', 'from outside');
	assert.deepEqual([queued.code, queued.stdout], [0, `Queued a message for session ${id}.\n`]);
	const server = await startAppServer(t, model, { home });
	await server.request('thread/resume', { threadId: id, excludeTurns: true });
	await server.next('turn/completed');
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'from outside');
});

test('codex queue --resume has the daemon send the message; without a daemon it warns', options, async (t) => {
	let home;
	const daemon = (word) => runCodex(t, ['app-server', 'daemon', word], { home });
	t.after(() => home && daemon('stop')); // hooks run in their order: this one while there is a home
	const model = await startModel(t, [say('one'), gated('g', 'two'), forever(say('three'))]);
	({ home } = await codexExec(t, model, ['begin']));
	const id = /([0-9a-f-]{36})\.jsonl$/.exec(rollouts(home)[0])[1];
	const queue = (words) => runCodex(t, ['queue', '--thread', id, '--message', words, '--resume'], { home });
	const alone = await queue('first');
	assert.deepEqual([alone.code, alone.stdout], [0, `Queued a message for session ${id}.\n`]);
	assert.match(alone.stderr, /^warning: the message is queued, but .*\n.*codex app-server daemon start\n$/);
	assert.equal((await daemon('start')).code, 0);
	const { code, stderr } = await queue('second');
	assert.deepEqual([code, stderr], [0, '']);
	const client = await startAppServer(t, null, { home, args: ['proxy'] });
	await client.request('thread/resume', { threadId: id, excludeTurns: true });
	await model.openGate('g');
	await client.next('turn/completed');
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'first');
});

test('codex queue --cd and --strict-config', options, async (t) => {
	let home;
	const daemon = (word) => runCodex(t, ['app-server', 'daemon', word], { home });
	t.after(() => home && daemon('stop'));
	const model = await startModel(t, [say('one'), forever(say('two'))]);
	({ home } = await codexExec(t, model, ['begin']));
	const id = /([0-9a-f-]{36})\.jsonl$/.exec(rollouts(home)[0])[1];
	const queue = (...args) => runCodex(t, ['queue', '--thread', id, '--message', 'there', ...args], { home });
	const folder = fs.realpathSync(tempDir(t, 'other'));
	for (const args of [[], ['--resume', '--remote', 'unix://']]) {
		const { code, stderr } = await queue('-C', folder, ...args);
		assert.deepEqual([code, /--cd works with --resume and without --remote/.test(stderr)], [2, true]);
	}
	const strict = await queue('--strict-config', '-c', 'nonsense=1');
	assert.deepEqual([strict.code, /nonsense/.test(strict.stderr)], [1, true], strict.stderr);
	assert.match((await queue('--resume', '-C', path.join(folder, 'none'))).stderr, /^codex queue: cannot work in .*none/);
	assert.match((await queue('--resume', '-C', path.join(home, 'config.toml'))).stderr, /config\.toml: it is not a folder/);
	assert.equal(fs.existsSync(path.join(home, 'thread_queues', `${id}.json`)), false);
	assert.equal((await daemon('start')).code, 0);
	assert.deepEqual(await queue('--resume', '--strict-config', '-C', folder).then(({ code, stderr }) => [code, stderr]), [0, '']);
	const client = await startAppServer(t, null, { home, args: ['proxy'] });
	assert.equal((await client.request('thread/resume', { threadId: id, excludeTurns: true })).cwd, folder);
});

test('codex queue --remote adds the message through an app-server, over ws:// with its token and over unix://', options, async (t) => {
	const model = await startModel(t, [say('one'), forever(say('more'))]);
	const { home } = await codexExec(t, model, ['begin']);
	const id = /([0-9a-f-]{36})\.jsonl$/.exec(rollouts(home)[0])[1];
	const dir = tempDir(t, 'listen'), elsewhere = makeHome(t, null);
	fs.writeFileSync(path.join(dir, 'token'), 'let-me-in', { mode: 0o600 });
	const listen = (url, ...args) => {
		const server = launch(t, codexBin, ['app-server', '--listen', url, ...args], { cwd: dir, env: cleanEnv(home) });
		return waitFor(server.child.stderr, () => server.result.stderr, (said) => /listening on: (\S+)\n/.exec(said)?.[1]);
	};
	const queue = (remote, words, args = [], env = {}) =>
		runCodex(t, ['queue', '--thread', id, '--message', words, '--remote', remote, ...args], { home: elsewhere, env });
	const web = await listen('ws://127.0.0.1:0', '--ws-auth', 'capability-token', '--ws-token-file', path.join(dir, 'token'));
	const refused = await queue(web, 'without a token');
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /^codex queue: .*401/);
	const TOKEN = { env: ['--remote-auth-token-env', 'T'], set: { T: 'let-me-in' } };
	const added = await queue(web, 'by web', ['--resume', ...TOKEN.env], TOKEN.set);
	assert.deepEqual([added.code, added.stderr, added.stdout], [0, '', `Queued a message for session ${id}.\n`]);
	const sent = () => model.requests().flatMap((request) => textsOf(request, 'user'));
	while (!sent().includes('by web')) await new Promise((wake) => setTimeout(wake, 5));

	assert.equal((await queue(web, 'x', TOKEN.env)).code, 2, 'the variable is not set');
	assert.match((await queue('wss://host', 'x')).stderr, /is no address .* unix:\/\/PATH or ws:/);
	assert.equal((await queue(`unix://${dir}/none.sock`, 'x')).code, 1);
	for (const address of ['ws://host', 'ws://127.0.0.1:9/path', 'ws://127.0.0.1:0', 'ws://127.0.0.1:65536', 'ws://127.0.0.1:99999'])
		assert.match((await queue(address, 'x')).stderr, new RegExp(`${address}: use ws://HOST:PORT, without a path`));
	assert.match((await queue('ws://127.0.0.1:1', 'x')).stderr, /^codex queue: ws:\/\/127\.0\.0\.1:1: cannot connect/);
	assert.match((await runCodex(t, ['queue', '--help'], { home })).stdout, /--remote <?ADDR>?\s.*ws:\/\/HOST:PORT/s);
	assert.equal((await runCodex(t, ['queue', '--thread', 'name', '--message', 'x', '--remote', web], { home })).code, 2);
	const stranger = await runCodex(t, ['queue', '--thread', '00000000-0000-7000-8000-000000000000', '--message', 'x',
		'--remote', web, ...TOKEN.env], { home, env: TOKEN.set });
	assert.equal(stranger.code, 1);
	assert.match(stranger.stderr, /the server refused thread\/resume: .*00000000-/);
	for (const address of ['ws://192.0.2.1:9', 'ws://127.evil.example:9', 'ws://localhost:evil.example:9', 'ws://127.0.0.1.evil.example:9',
		'ws://localhost.evil.example:9', 'ws://[::2]:9']) {
		const far = await runCodex(t, ['queue', '--thread', id, '--message', 'x', '--remote', address, ...TOKEN.env], { home, env: TOKEN.set });
		assert.match(far.stderr, /a token is sent to ws:\/\/ on this machine only/, address);
	}
	for (const address of [web.replace('127.0.0.1', 'localhost'), `${web}/`])
		assert.equal((await queue(address, 'near', TOKEN.env, TOKEN.set)).code, 0, address);
});

test('codex queue --remote shows the words of a server on one line, and takes only its answers', options, async (t) => {
	const words = (id, message) => JSON.stringify({ id, error: { code: 1, message } });
	const server = net.createServer((socket) => socket.on('data', (bytes) => {
		const key = /sec-websocket-key: (\S+)/i.exec(bytes)?.[1];
		if (!key) return;
		const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
		socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
		for (const text of [words(2, 'another answer'), words(1, 'bad\u001b[31m\nnews')])
			socket.write(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]));
	})).listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => server.close());
	const { code, stderr } = await runCodex(t, ['queue', '--thread', '00000000-0000-7000-8000-000000000000', '--message', 'x',
		'--remote', `ws://127.0.0.1:${server.address().port}`], { home: makeHome(t, null) });
	assert.equal(code, 1);
	assert.equal(stderr, 'codex queue: the server refused initialize: bad\\u{1b}[31m\\nnews\n');
});

test('codex queue --remote waits for a server whose queue of connections is full; the daemon is not taken for absent then', options, async (t) => {
	const file = path.join(tempDir(t, 's'), 'a.sock');
	const server = spawn('python3', ['-c', `import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(0)
held = []
try:
    while True:
        it = socket.socket(socket.AF_UNIX)
        it.setblocking(False)
        it.connect(sys.argv[1])
        held.append(it)
except BlockingIOError:
    print("full", flush=True)
sys.stdin.readline()
for _ in range(len(held)):
    server.accept()[0].close()
peer = server.accept()[0]
print(peer.recv(100).decode(), flush=True)
peer.close()
`, file], { stdio: ['pipe', 'pipe', 'inherit'] });
	t.after(() => server.kill());
	let said = '';
	server.stdout.on('data', (bytes) => (said += bytes));
	const hears = async (words) => { while (!said.includes(words)) await once(server.stdout, 'data'); };
	await hears('full');
	const home = makeHome(t, null), control = path.join(home, 'app-server-control');
	fs.mkdirSync(path.join(home, 'app-server-daemon'));
	fs.writeFileSync(path.join(home, 'app-server-daemon/daemon.pid'), '{}');
	fs.mkdirSync(control);
	fs.symlinkSync(file, path.join(control, 'app-server-control.sock'));
	for (const word of ['stop', 'status', 'start']) {
		const { code, stderr } = await runCodex(t, ['app-server', 'daemon', word], { home });
		assert.equal(code, 1, word);
		assert.match(stderr, /accepts no connection; if it hangs, end the process in .*daemon\.pid/, word);
	}
	assert.ok(fs.existsSync(path.join(home, 'app-server-daemon/daemon.pid')));
	const { result, done } = launch(t, codexBin, ['queue', '--thread', '00000000-0000-7000-8000-000000000000', '--message', 'x',
		'--remote', `unix://${file}`], { env: cleanEnv(makeHome(t, null)), cwd: tempDir(t, 'cwd') });
	server.stdin.write('\n');
	await hears('GET / HTTP/1.1');
	await done;
	assert.match(result.stderr, /^codex queue: the server closed the connection during the handshake/);
});

test('codex queue --remote unix://PATH', options, async (t) => {
	const model = await startModel(t, [say('one'), forever(say('more'))]);
	const { home } = await codexExec(t, model, ['begin']);
	const id = /([0-9a-f-]{36})\.jsonl$/.exec(rollouts(home)[0])[1];
	const file = path.join(tempDir(t, 's'), 'a.sock');
	launch(t, codexBin, ['app-server', '--listen', `unix://${file}`], { cwd: home, env: cleanEnv(home) });
	while (!fs.existsSync(file)) await new Promise((wake) => setTimeout(wake, 5));
	const queue = () => runCodex(t, ['queue', '--thread', id, '--message', 'by path', '--remote', `unix://${file}`], { home });
	let added = await queue();
	while (/Connection refused/.test(added.stderr)) added = await queue();
	assert.deepEqual([added.code, added.stderr], [0, '']);
	while (model.requests().length < 2) await new Promise((wake) => setTimeout(wake, 5));
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'by path');
});

test('a queue has at most 100 messages, and a damaged file is an error that names it', options, async (t) => {
	const { server, thread, ask, add, turn } = await begin(t, [gated('never', 'x'), forever(say('more'))]);
	await turn('hello');
	for (let count = 0; count < 100; count++) await add(`m${count}`);
	await assert.rejects(add('one more'), { message: /at most 100 messages/ });
	fs.writeFileSync(path.join(server.home, 'thread_queues', `${thread.id}.json`), '{"data":5}');
	await assert.rejects(ask('list'), { message: /thread_queues/ });
	await assert.rejects(add('x'), { message: /thread_queues/ });
});

test('deleting a thread removes its queue', options, async (t) => {
	const { server, thread, add, turn } = await begin(t, [say('one'), gated('never', 'x')]);
	await turn('hello');
	await server.next('turn/completed');
	await turn('again');
	const { params } = await server.take(({ method, params: p }) => method === 'turn/started' && p.turn, 'second turn');
	await add('later');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: params.turn.id });
	await server.request('thread/delete', { threadId: thread.id });
	assert.deepEqual(fs.readdirSync(path.join(server.home, 'thread_queues')), ['lock']);
});
