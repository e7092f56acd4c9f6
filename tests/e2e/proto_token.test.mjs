// codex proto --token-file: authentication of clients where other machines can connect.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { cleanEnv, codexBin, launch, makeHome, needs, runCodex, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { story, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const TOKEN = '0123456789abcdef0123456789abcdef';

function tokenFile(t, text = TOKEN + '\n', mode = 0o600) {
	const file = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(file, text);
	fs.chmodSync(file, mode);
	return file;
}

/** Resolves to the port of a server on all addresses that requires the token. */
async function listen(t, replies) {
	const model = replies && (await startModel(t, replies));
	const args = ['proto', '--listen', 'tcp://0.0.0.0:0', '--token-file', tokenFile(t)];
	const program = launch(t, codexBin, args, { cwd: tempDir(t, 'cwd'), env: cleanEnv(makeHome(t, model)) });
	return { ...program, port: await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /^listening on tcp:\/\/0\.0\.0\.0:(\d+)\n/m.exec(text)?.[1]) };
}

/** Sends these pieces, each when the one before is out, and resolves to the events that come back. */
function converse(port, pieces) {
	const socket = net.connect(Number(port), '127.0.0.1');
	return new Promise((resolve, reject) => {
		let text = '';
		socket.setEncoding('utf8').on('data', (more) => (text += more));
		socket.on('error', (error) => error.code === 'ECONNRESET' || reject(error));
		socket.on('close', () => resolve(text.split('\n').filter(Boolean).map((line) => JSON.parse(line))));
		const send = ([first, ...rest]) => {
			if (first !== undefined) socket.write(first, () => send(rest));
			else socket.end();
		};
		send(pieces);
	});
}

const hello = JSON.stringify({ id: 'a', op: userInput('hi') }) + '\n';
const show = (token) => JSON.stringify({ token }) + '\n';

test('with the token a client is served, however its bytes come', proto, async (t) => {
	const server = await listen(t, [say('Hello.'), say('Hello.')]);
	const want = ['session_configured', 'a task_started', 'a agent_message', 'a task_complete', 'shutdown_complete'];
	assert.deepEqual(story(await converse(server.port, [show(TOKEN) + hello])), want);
	assert.deepEqual(story(await converse(server.port, ['{"tok', `en":"${TOKEN}"}\r`, '\n' + hello])), want);
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
});

test('without it nothing begins, and one try is all there is', proto, async (t) => {
	const server = await listen(t);
	const tries = [show('f' + TOKEN.slice(1)) + show(TOKEN) + hello, hello, show(TOKEN + '0'), show(1), '{}\n', '\n',
		`{"token":"${TOKEN}"}`, 'x'.repeat(70_000)];
	const answers = await Promise.all(tries.map((bytes) => converse(server.port, [bytes])));
	for (const events of answers) {
		if (events.length === 0) continue; // it was reset because it had sent more than was read
		assert.equal(events.length, 1);
		assert.equal(events[0].msg.type, 'error');
		assert.equal(events[0].msg.codex_error_info, 'unauthorized');
		assert.match(events[0].msg.message, /first line must be/);
	}
	assert.ok(answers.filter((events) => events.length === 1).length >= 5);
	server.child.kill('SIGTERM');
	const { code, stderr } = await server.done;
	assert.equal(code, 0);
	assert.doesNotMatch(stderr, new RegExp(TOKEN));
});

test('a client that has not shown it keeps no server from ending', proto, async (t) => {
	const server = await listen(t);
	const socket = net.connect(Number(server.port), '127.0.0.1');
	await new Promise((resolve) => socket.on('connect', () => socket.write('{"to', resolve)));
	const closed = new Promise((resolve) => socket.on('error', () => {}).on('close', resolve).resume());
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
	await closed;
});

test('token files that grant access to anyone are refused with the reason', proto, async (t) => {
	const far = ['proto', '--listen', 'tcp://0.0.0.0:0'];
	const cases = [
		[far, /other machines can reach this address.*--token-file/],
		[['proto', '--listen', 'tcp://[::]:0'], /--token-file/],
		[['proto', '--listen', 'ws://127.0.0.1:0'], /codex proto serves lines/],
		[[...far, '--token-file', tokenFile(t, TOKEN, 0o644)], /chmod 600/],
		[[...far, '--token-file', tokenFile(t, 'short\n')], /has no token/],
		[[...far, '--token-file', '/nonexistent/token'], /cannot open the token file/],
		[['proto', '--token-file', tokenFile(t)], /--token-file requires --listen/],
	];
	for (const [args, reason] of cases) {
		const { code, stderr } = await runCodex(t, args);
		assert.notEqual(code, 0, args.join(' '));
		assert.match(stderr, reason);
	}
});
