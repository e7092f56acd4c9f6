// codex proto --listen: many clients at one socket, each with its own session.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { cleanEnv, codexBin, launch, makeHome, needs, reply, rollouts, run, runCodex, say, startModel, tempDir,
	waitFor } from './lib/codex.mjs';
import { story, userInput } from './lib/proto.mjs';

const proto = needs('proto');

/** Starts the program; resolves to {url, home, cwd, child, done} once it listens. */
async function listen(t, model, url, { config } = {}) {
	const home = makeHome(t, model, config);
	const cwd = tempDir(t, 'cwd');
	const program = launch(t, codexBin, ['proto', '--listen', url], { cwd, env: cleanEnv(home) });
	const where = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	return { ...program, home, cwd, url: where };
}

/** Resolves once the socket has received that text. */
function waitForText(socket, pattern) {
	return new Promise((resolve) => {
		let text = '';
		socket.on('data', (more) => pattern.test(text += more) && resolve());
	});
}

/** A client that sends these submissions, closes its side, and resolves to the received events. */
function converse(url, ...lines) {
	const { protocol, hostname, port, pathname } = new URL(url);
	const socket = protocol === 'unix:' ? net.connect(pathname) : net.connect(Number(port), hostname);
	return new Promise((resolve, reject) => {
		let text = '';
		socket.setEncoding('utf8').on('data', (more) => (text += more));
		socket.on('error', reject);
		socket.on('close', () => resolve(text.split('\n').filter(Boolean).map((line) => JSON.parse(line))));
		socket.end(lines.map((line) => JSON.stringify(line) + '\n').join(''));
	});
}

for (const kind of ['unix', 'tcp']) {
	test(`clients of a ${kind} socket are served side by side`, proto, async (t) => {
		const model = await startModel(t, [say('Hello.'), say('Hello.'), say('Hello.')]);
		const file = path.join(tempDir(t, 'socket'), 's');
		const server = await listen(t, model, kind === 'unix' ? `unix://${file}` : 'tcp://127.0.0.1:0');
		if (kind === 'unix') assert.equal(fs.statSync(file).mode & 0o777, 0o600);
		const all = await Promise.all(['a', 'b', 'c'].map((id) => converse(server.url, { id, op: userInput('hi') })));
		for (const [i, id] of ['a', 'b', 'c'].entries()) {
			assert.deepEqual(story(all[i]), ['session_configured', `${id} task_started`, `${id} agent_message`,
				`${id} task_complete`, 'shutdown_complete']);
		}
		const sessions = new Set(all.map((events) => events[0].msg.session_id));
		assert.equal(sessions.size, 3);
		server.child.kill('SIGTERM');
		assert.equal((await server.done).code, 0);
		if (kind === 'unix') assert.ok(!fs.existsSync(file));
	});
}

test('a client that vanishes takes its own task with it and nothing else', proto, async (t) => {
	const model = await startModel(t, [reply({ message: 'Working.' }, { gate: 'never' }), say('Hello.')]);
	const server = await listen(t, model, 'tcp://127.0.0.1:0');
	const { hostname, port } = new URL(server.url);
	const socket = net.connect(Number(port), hostname);
	socket.on('error', () => {});
	socket.write(JSON.stringify({ id: '1', op: userInput('go') }) + '\n');
	await new Promise((resolve) => {
		let text = '';
		socket.on('data', (more) => /agent_message_delta/.test(text += more) && resolve());
	});
	socket.resetAndDestroy();
	const events = await converse(server.url, { id: '2', op: userInput('hi') });
	assert.ok(story(events).includes('2 task_complete'));
	server.child.kill('SIGINT');
	assert.equal((await server.done).code, 0);
});

for (const kind of ['unix', 'tcp']) {
	test(`a client of a ${kind} socket that vanishes from a question takes nothing else along`, proto, async (t) => {
		const model = await startModel(t, [run('echo asked > asked'), say('Hello.')]);
		const file = path.join(tempDir(t, 'socket'), 's');
		const server = await listen(t, model, kind === 'unix' ? `unix://${file}` : 'tcp://127.0.0.1:0',
			{ config: 'approval_policy = "untrusted"' });
		const { hostname, port, pathname } = new URL(server.url);
		const socket = kind === 'unix' ? net.connect(pathname) : net.connect(Number(port), hostname);
		socket.on('error', () => {});
		socket.write(JSON.stringify({ id: '1', op: userInput('go') }) + '\n');
		await waitForText(socket, /exec_approval_request/);
		socket.destroy();
		const events = await converse(server.url, { id: '2', op: userInput('hi') });
		assert.ok(story(events).includes('2 task_complete'));
		server.child.kill('SIGINT');
		assert.equal((await server.done).code, 0);
		const recorded = rollouts(server.home).map((name) => fs.readFileSync(name, 'utf8'));
		assert.equal(recorded.filter((text) => /turn_aborted/.test(text)).length, 1, 'the question ended with its task');
		assert.ok(!fs.existsSync(path.join(server.cwd, 'asked')));
	});

	test(`thousands of submissions at once, good and bad, over a ${kind} socket`, proto, async (t) => {
		const model = await startModel(t, [say('Hello.')]);
		const file = path.join(tempDir(t, 'socket'), 's');
		const server = await listen(t, model, kind === 'unix' ? `unix://${file}` : 'tcp://127.0.0.1:0');
		const kinds = [{ type: 'interrupt' }, { type: 'get_path' }, { type: 'exec_approval', id: 'x', decision: 'abort' },
			{ type: 'nothing' }, { type: 'thread_rollback', num_turns: 0 }];
		const lines = Array.from({ length: 10_000 }, (_, i) => ({ id: `${i}`, op: kinds[i % kinds.length] }));
		const events = await converse(server.url, ...lines, { id: 'last', op: userInput('hi') });
		const answered = events.filter(({ msg }) => ['conversation_path', 'error'].includes(msg.type));
		assert.deepEqual(answered.map(({ id }) => Number(id)), lines.map((_, i) => i).filter((i) => [1, 4].includes(i % 5)));
		assert.ok(story(events).includes('last task_complete'));
		server.child.kill('SIGTERM');
		assert.equal((await server.done).code, 0);
	});
}

test('a stale socket file is replaced; one in use is an error', proto, async (t) => {
	const file = path.join(tempDir(t, 'socket'), 's');
	const first = await listen(t, null, `unix://${file}`);
	const busy = await runCodex(t, ['proto', '--listen', `unix://${file}`]);
	assert.notEqual(busy.code, 0);
	assert.match(busy.stderr, /cannot listen on unix:/);
	first.child.kill('SIGKILL');
	await first.done;
	assert.ok(fs.existsSync(file));
	const second = await listen(t, null, `unix://${file}`);
	second.child.kill('SIGTERM');
	assert.equal((await second.done).code, 0);
});

test('addresses that other machines can reach, and invalid ones, are refused', proto, async (t) => {
	for (const url of ['tcp://0.0.0.0:0', 'tcp://localhost:0', 'tcp://127.0.0.1', 'http://0.0.0.0:0', 'ftp://127.0.0.1:0', 'unix://']) {
		const { code, stderr } = await runCodex(t, ['proto', '--listen', url]);
		assert.equal(code, 2, url);
		assert.match(stderr, /^codex proto: .*:\/\//, url);
	}
});

/** The output for a client that sends these bytes and waits for the close. */
function exchange(url, bytes) {
	const { protocol, hostname, port, pathname } = new URL(url);
	const socket = protocol === 'unix:' ? net.connect(pathname) : net.connect(Number(port), hostname);
	return new Promise((resolve) => {
		let text = '';
		socket.setEncoding('utf8').on('data', (more) => (text += more)).on('error', () => {});
		socket.on('close', () => resolve(text));
		socket.write(bytes);
	});
}

for (const kind of ['unix', 'tcp']) {
	test(`a request of HTTP with a submission in its body is not carried out (${kind})`, proto, async (t) => {
		const url = kind === 'unix' ? `unix://${path.join(tempDir(t, 'socket'), 's')}` : 'tcp://127.0.0.1:0';
		const server = await listen(t, null, url);
		const mark = path.join(server.cwd, 'mark');
		const evil = JSON.stringify({ id: 'x', op: { type: 'run_user_shell_command', command: `touch ${mark}` } });
		const post = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nContent-Length: ${evil.length + 2}\r\n\r\n`;
		const harmless = JSON.stringify({ id: 'h', op: { type: 'get_path' } });
		for (const begin of [post, 'junk\n', '[]\n', '"text"\n', '{"cut\n', `${'x'.repeat(17 << 20)}\n`,
			`${harmless}\nGET / HTTP/1.1\n`, `${harmless}\nHost: x\n`, `${harmless}\nHTTP/1.1 200 OK\n`,
			`${harmless}\nPRI * HTTP/2.0\n`]) {
			const told = await exchange(server.url, `${begin}${evil}\n${evil}\n`);
			const events = told.split('\n').filter(Boolean).map((line) => JSON.parse(line));
			const errors = events.filter(({ msg }) => msg.type === 'error');
			assert.equal(errors.length, 1, begin.slice(0, 40));
			assert.match(errors[0].msg.message, /another protocol, such as HTTP/);
			assert.ok(!events.some(({ id }) => id === 'x'), told);
			assert.equal(events.at(-1).msg.type, 'shutdown_complete');
		}
		assert.ok(!fs.existsSync(mark));
		// control: the same line without HTTP around it has an effect
		const events = await converse(server.url, JSON.parse(evil));
		assert.ok(events.some(({ id }) => id === 'x'));
		assert.ok(fs.existsSync(mark));
	});
}

test('a submission that is too long is answered with its id', proto, async (t) => {
	const server = await listen(t, null, `unix://${path.join(tempDir(t, 'socket'), 's')}`);
	const [event] = (await converse(server.url, { id: 'long', op: userInput('x'.repeat(17 << 20)) }))
		.filter(({ msg }) => msg.type === 'error');
	assert.equal(event.id, 'long');
	assert.match(event.msg.message, /longer than 16 MiB/);
});
