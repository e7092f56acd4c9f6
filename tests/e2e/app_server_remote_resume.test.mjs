// A connection to an exec-server that is lost while a command runs: the session is resumed, and the command ends once, with all its output.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, launch, needs, outputOf, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { FREE, runAs, startRemote } from './lib/remote.mjs';

const options = needs('app-server');
const code = (rpc, message) => Object.assign(new Error(message), { rpc });

/** The shell waits until the file exists. */
const until = (name) => `while [ ! -e ${name} ]; do sleep 0.02; done`;

/** A turn whose command `c1` runs; cut() loses its connection, and open(false) refuses new ones. */
async function startCommand(t, cmd, { own, replies = [], args = {}, ...more } = {}) {
	const all = await startRemote(t, [runAs('c1', cmd, { yield_time_ms: 30000, login: false, ...args }), ...replies, say('done')], { own, ...more });
	const { remote, server, thread, folder } = all;
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const session = () => [...remote.sessions.values()].find(({ processes }) => [...processes.values()].some(({ seq }) => seq > 0));
	await remote.until(session);
	const kept = () => [...session().processes.values()][0];
	const printed = () => kept().chunks.map(({ chunk }) => Buffer.from(chunk, 'base64')).join('');
	const cut = () => [...remote.links].forEach((link) => link.drop());
	const touch = (name) => fs.writeFileSync(path.join(folder, name), '');
	const end = async () => (await server.next('turn/completed')).params.turn;
	const deltas = () => server.all('item/commandExecution/outputDelta').map(({ params }) => params.delta).join('');
	return { ...all, id: turn.id, kept, printed, cut, touch, end, deltas };
}

test('output that was missed is read, and the command ends once', options, async (t) => {
	const { remote, items, kept, printed, cut, touch, end, output, deltas } = await startCommand(t,
		`echo one; ${until('a')}; echo two; ${until('b')}; echo three; exit 3`);
	const { link } = remote.calls.find(({ method }) => method === 'process/start');
	remote.isClosed = true;
	cut();
	touch('a');
	await remote.until(() => printed() === 'one\ntwo\n');
	remote.isClosed = false;
	await remote.called('process/read', 2); // all of it, and that there is no more
	touch('b');
	assert.equal((await end()).status, 'completed');
	assert.match(output('c1'), /Process exited with code 3\n[^]*Output:\none\ntwo\nthree\n$/);
	assert.deepEqual(items().map(({ status, exitCode, aggregatedOutput }) => [status, exitCode, aggregatedOutput]),
		[['failed', 3, 'one\ntwo\nthree\n']]);
	assert.match('one\ntwo\nthree\n', new RegExp(`${deltas()}$`)); // the first may come before the item
	const resumed = remote.calls.filter(({ method, params }) => method === 'initialize' && params.resumeSessionId);
	assert.equal(resumed.length, 1);
	assert.notEqual(resumed[0].link, link);
	assert.equal(remote.calls.filter(({ method }) => method === 'process/start').length, 1);
	assert.equal(kept().closed, true);
});

test('a command that ended meanwhile has its exit code', options, async (t) => {
	const { remote, items, kept, cut, touch, end, output } = await startCommand(t, `echo one; ${until('a')}; echo two; exit 4`);
	remote.isClosed = true;
	cut();
	touch('a');
	await remote.until(() => kept().closed);
	remote.isClosed = false;
	await end();
	assert.match(output('c1'), /Process exited with code 4\n[^]*Output:\none\ntwo\n$/);
	assert.equal(items().length, 1);
});

test('much output is read in pieces', options, async (t) => {
	const { remote, kept, cut, touch, end, items } = await startCommand(t, `echo one; ${until('a')}; head -c 700000 /dev/zero | tr '\\0' x`);
	remote.isClosed = true;
	cut();
	touch('a');
	await remote.until(() => kept().closed);
	remote.isClosed = false;
	await end();
	assert.equal(items()[0].aggregatedOutput, `one\n${'x'.repeat(700000)}`);
	assert.equal(remote.calls.filter(({ method }) => method === 'process/read').length > 5, true);
	for (const { params } of remote.calls.filter(({ method }) => method === 'process/read')) assert.equal(params.maxBytes, 128 * 1024);
});

test('output that arrives while missed output is read comes once, in its order', options, async (t) => {
	let reads = 0;
	const { remote, cut, touch, end, output } = await startCommand(t, `echo one; ${until('a')}`, { own: {
		'process/read': (params, link, base) => {
			const answer = base(params, link), kept = link.session.processes.get(params.processId);
			const chunk = { stream: 'stdout', chunk: Buffer.from(`more ${++reads}\n`).toString('base64') };
			if (reads > 2) setImmediate(() => { // once more, after it was read
				link.notify('process/output', { processId: params.processId, seq: kept.seq, ...kept.chunks.at(-1) });
				touch('a');
			});
			if (reads > 2) return answer;
			kept.chunks.push({ seq: ++kept.seq, ...chunk });
			link.notify('process/output', { processId: params.processId, seq: kept.seq, ...chunk });
			return answer;
		},
	} });
	cut();
	await remote.called('process/read', 3);
	await end();
	assert.match(output('c1'), /code 0\n[^]*Output:\none\nmore 1\nmore 2\n$/);
});

test('output that the server no longer has is marked as missing', options, async (t) => {
	const { remote, kept, cut, touch, end, output } = await startCommand(t, `echo one; ${until('a')}; echo two; ${until('b')}; echo three; ${until('c')}`);
	remote.isClosed = true;
	cut();
	touch('a');
	await remote.until(() => kept().seq === 2);
	touch('b');
	await remote.until(() => kept().seq === 3);
	kept().chunks.splice(0, 2);
	remote.isClosed = false;
	await remote.called('process/read', 2);
	touch('c');
	await end();
	assert.match(output('c1'), /code 0\n[^]*Output:\none\n\n\[output is missing here: [^\]]*\]\nthree\n$/);
});

test('a session that still has its old connection is asked for again', options, async (t) => {
	let refusals = 0;
	const { remote, cut, touch, end, output } = await startCommand(t, `echo one; ${until('a')}; echo two`, { own: {
		initialize: (params, link, base) => {
			if (params.resumeSessionId && ++refusals < 3) throw code(-32010, 'session is already attached to another connection');
			return base(params, link);
		},
	} });
	cut();
	await remote.called('process/read');
	touch('a');
	await end();
	assert.match(output('c1'), /code 0\n[^]*Output:\none\ntwo\n$/);
	assert.equal(refusals, 3);
});

test('a session that the server no longer knows ends its command with words', options, async (t) => {
	const { remote, server, thread, items, cut, end, output } = await startCommand(t, `echo one; ${until('a')}`);
	remote.forget();
	cut();
	assert.equal((await end()).status, 'completed');
	assert.match(output('c1'), new RegExp('code -1\n[^]*one\n\nthe connection to the exec-server `ws:[^`]*` was lost: its session cannot be resumed: '
		+ 'unknown session id [^;]*; the end of the command is not known\n$'));
	assert.deepEqual(items().map(({ status, exitCode }) => [status, exitCode]), [['failed', -1]]);
	const gone = server.all('thread/environment/disconnected');
	assert.deepEqual(gone.map(({ params }) => params), [{ threadId: thread.id, environmentId: 'r' }]);
	assert.deepEqual(server.all('thread/environment/connected'), []);
	await server.request('environment/status', { environmentId: 'r' }); // it can be reached
	assert.deepEqual(server.all('thread/environment/connected').map(({ params }) => params), [{ threadId: thread.id, environmentId: 'r' }]);
});

test('a process that the server no longer knows ends its command with words', options, async (t) => {
	const { cut, end, output } = await startCommand(t, `echo one; ${until('a')}`,
		{ own: { 'process/read': () => { throw code(-32600, 'unknown process id p'); } } });
	cut();
	await end();
	assert.match(output('c1'), /was lost: it does not resume the command: unknown process id p; the end of the command is not known\n$/);
});

test('an exit code that was reported is kept when the server has dropped the process', options, async (t) => {
	const { remote, items, touch, end } = await startCommand(t, `echo one; ${until('a')}; sleep 20 & exit 3`,
		{ own: { 'process/read': () => { throw code(-32600, 'unknown process id p'); } } });
	const [child] = remote.children.values();
	const exited = new Promise((resolve) => child.once('exit', resolve));
	touch('a');
	await exited;
	[...remote.links].forEach((link) => link.socket.end()); // after the notification
	await end();
	assert.deepEqual(items().map(({ status, exitCode, aggregatedOutput }) => [status, exitCode, aggregatedOutput]), [['failed', 3, 'one\n']]);
	process.kill(-child.pid, 'SIGKILL');
});

test('commands that were resumed are one notification', options, async (t) => {
	const { remote, server, thread, cut, touch, end, output } = await startCommand(t, `echo one; ${until('a')}; echo two`,
		{ args: { yield_time_ms: 250 }, replies: [runAs('c2', `echo three; ${until('a')}; echo four`, { yield_time_ms: 30000, login: false })] });
	await remote.until(() => remote.children.size === 2);
	cut();
	const { params } = await server.next('thread/environment/connected');
	assert.deepEqual(params, { threadId: thread.id, environmentId: 'r' });
	await remote.called('process/read', 2);
	touch('a');
	await end();
	assert.match(output('c2'), /three\nfour\n$/);
	assert.equal(server.all('thread/environment/connected').length, 1);
	assert.deepEqual(server.all('thread/environment/disconnected'), []);
});

test('input without an answer is sent again, under its number, and typed once', options, async (t) => {
	const type = (id, chars) => ({ take: { session: { from: 'input.-1.output', after: 'session ID ' } }, reply: [{ call: 'write_stdin', call_id: id,
		arguments: `{"session_id": {session}, "chars": "${chars}", "yield_time_ms": 30000}` }] });
	let writes = 0;
	const { remote, model, end } = await startCommand(t, 'echo ready; read a; echo got $a',
		{ args: { tty: true, yield_time_ms: 250 }, replies: [type('c2', 'x\\n')], own: {
			'process/write': (params, link, base) => {
				const answer = base(params, link);
				if (++writes > 1) return answer;
				link.drop();
			},
		} });
	await end();
	assert.match(outputOf(model.requests().at(-1), 'c2'), /code 0\n[^]*got x\n$/);
	assert.deepEqual(remote.calls.filter(({ method }) => method === 'process/write').map(({ params }) => params.writeId), ['1', '1']);
});

test('an interrupt while the connection is lost ends the command when it is resumed', options, async (t) => {
	const { remote, server, thread, id, cut, end } = await startCommand(t, 'echo one; sleep 60');
	remote.isClosed = true;
	cut();
	await remote.until(() => remote.links.size === 0);
	await server.request('turn/interrupt', { threadId: thread.id, turnId: id });
	remote.isClosed = false;
	assert.equal((await end()).status, 'interrupted');
	await remote.called('process/terminate');
	await remote.until(() => remote.links.size === 0);
});

test('a command whose time is up while the connection is lost is ended there when it is resumed', options, async (t) => {
	const lose = async (params, link, base) => {
		setImmediate(() => {
			link.server.isClosed = true;
			link.socket.end(); // after the answer
		});
		return base(params, link);
	};
	const { remote, turn, output } = await startRemote(t, [call('shell', { command: ['sleep', '60'], timeout_ms: 1000 }, { call_id: 'c1' }), say('done')],
		{ own: { 'process/start': lose } });
	const ended = turn();
	await Promise.race([remote.until(() => remote.refused === 6), ended]); // the waits between them are longer than the limit and the time to end together
	remote.isClosed = false;
	await ended;
	assert.match(output('c1'), /timed out/);
	assert.equal(remote.calls.filter(({ method }) => method === 'process/terminate').length, 1);
});

test('the connection is there again when the resumed session has answered', options, async (t) => {
	let reads = 0;
	const { server, cut, touch, end, output } = await startCommand(t, `echo one; ${until('a')}; echo two`,
		{ own: { 'process/read': (params, link, base) => (++reads > 3 ? base(params, link) : link.drop()) } });
	cut();
	await server.next('thread/environment/connected');
	assert.equal(reads, 4);
	touch('a');
	await end();
	assert.match(output('c1'), /code 0\n[^]*Output:\none\ntwo\n$/);
	assert.equal(server.all('thread/environment/connected').length, 1);
});

/** Loses the connection for good; own are the answers of the server. */
async function loseForGood(t, own, close) {
	const { remote, server, cut } = await startCommand(t, `echo one; ${until('a')}`, { own });
	remote.isClosed = close;
	cut();
	const { item } = (await server.take(({ method, params }) => method === 'item/completed' && params.item.type === 'commandExecution')).params;
	assert.match(item.aggregatedOutput, /was lost: its session cannot be resumed: [^]*; the end of the command is not known\n$/);
	assert.deepEqual(['disconnected', 'connected'].map((name) => server.all(`thread/environment/${name}`).length), [1, 0]);
}

test('the session is resumed while the client reads nothing', options, async (t) => {
	const { remote, server, id, thread, cut, end } = await startCommand(t, 'echo one; sleep 600', { args: { yield_time_ms: 250, environment_id: 'r' },
		replies: [runAs('c2', 'yes', { login: false, environment_id: 'local' })],
		environments: ['r', 'local'].map((environmentId) => ({ environmentId, cwd: tempDir(t, environmentId) })) });
	await waitFor(server.child.stdout, () => server.all('item/commandExecution/outputDelta'), (all) => all.some(({ params }) => /^y/m.test(params.delta)));
	server.child.stdout.pause(); // the output of both commands is held
	remote.isClosed = true;
	cut();
	await remote.until(() => remote.refused >= 6);
	remote.isClosed = false;
	await remote.until(() => remote.calls.some(({ method, params }) => method === 'initialize' && params.resumeSessionId));
	server.child.stdout.resume();
	await server.request('turn/interrupt', { threadId: thread.id, turnId: id });
	assert.equal((await end()).status, 'interrupted');
	assert.deepEqual(server.all('thread/environment/disconnected'), []);
});

test('a server that cannot be reached again is given up, and so is one that answers nothing', options, async (t) => {
	let reads = 0;
	const drop = (params, link) => (++reads > 100 ? refuse() : link.drop());
	const refuse = () => { throw code(-32600, 'asked too often'); };
	await Promise.all([loseForGood(t, {}, true), loseForGood(t, { 'process/read': drop }, false)]);
});

/** A copy of the connections to a server, which can be cut. */
async function startRelay(t, url) {
	const sockets = new Set(), { port } = new URL(url);
	const relay = net.createServer((near) => {
		const far = net.connect(port, '127.0.0.1');
		for (const [from, to] of [[near, far], [far, near]]) {
			sockets.add(from);
			from.pipe(to);
			from.on('error', () => {}).on('close', () => to.destroy());
		}
	});
	await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
	const cut = () => [...sockets].forEach((socket) => socket.destroy());
	t.after(() => {
		cut();
		relay.close();
	});
	return { url: `ws://127.0.0.1:${relay.address().port}`, cut };
}

/** The program of codex 0.169, whose exec-server this test can use, too. */
const REAL = process.env.CODEX_EXEC_SERVER_BIN;

test('the exec-server of codex 0.169 resumes a session', REAL ? options : { skip: 'CODEX_EXEC_SERVER_BIN names no codex 0.169' }, async (t) => {
	const [folder, home] = ['there', 'home'].map((name) => tempDir(t, name));
	const real = launch(t, REAL, ['exec-server', '--listen', 'ws://127.0.0.1:0'], { cwd: folder,
		env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TMPDIR: tempDir(t, 'tmp') } });
	const relay = await startRelay(t, await waitFor(real.child.stdout, () => real.result.stdout, (words) => /ws:\/\/127\.0\.0\.1:\d+/.exec(words)?.[0]));
	const type = { take: { session: { from: 'input.-1.output', after: 'session ID ' } }, reply: [{ call: 'write_stdin', call_id: 'c2',
		arguments: '{"session_id": {session}, "chars": "x\\n", "yield_time_ms": 30000}' }] };
	const cmd = `touch begun; ${until('a')}; head -c 300000 /dev/zero | tr '\\0' x; echo; touch filled; read a; echo got $a; ${until('b')}; exit 5`;
	const model = await startModel(t, [runAs('c1', cmd, { yield_time_ms: 250, login: false, tty: true }), type, say('done')]);
	const server = await startAppServer(t, model);
	await server.request('environment/add', { environmentId: 'r', execServerUrl: relay.url });
	const { thread } = await server.request('thread/start', { ...FREE, environments: [{ environmentId: 'r', cwd: folder }] });
	const touch = (name) => fs.writeFileSync(path.join(folder, name), '');
	const exists = (name) => new Promise((resolve) => {
		const timer = setInterval(() => {
			if (!fs.existsSync(path.join(folder, name))) return;
			clearInterval(timer);
			resolve();
		}, 20);
	});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await exists('begun');
	relay.cut();
	touch('a');
	await exists('filled');
	await server.next('thread/environment/connected');
	relay.cut();
	await server.next('thread/environment/connected');
	touch('b');
	const { item } = (await server.take(({ method, params }) => method === 'item/completed' && params.item.type === 'commandExecution')).params;
	assert.equal(item.exitCode, 5);
	assert.equal(item.aggregatedOutput.replace(/\r/g, ''), `${'x'.repeat(300000)}\nx\ngot x\n`);
	await server.next('turn/completed');
	assert.equal((await server.end()).code, 0);
});
