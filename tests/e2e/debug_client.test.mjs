// codex debug-client sends typed lines as Ops and prints events as lines for people, from a pipe and at a terminal.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { call, cleanEnv, codexBin, expecting, launch, makeHome, needs, reply, run, runCodex, say, startModel, tempDir,
	waitFor } from './lib/codex.mjs';

const client = needs('debug-client');
const ASKS = ['-c', 'approval_policy=untrusted', '-c', 'sandbox_mode=danger-full-access'];
const TOKEN = '0123456789abcdef0123456789abcdef';

/** Feeds these lines to the client; resolves as runCodex does. */
async function feed(t, model, args, lines, more) {
	const home = makeHome(t, model);
	return runCodex(t, ['debug-client', ...args], { home, input: lines.map((line) => line + '\n').join(''), ...more });
}

/** The types of the events that were shown. */
const shown = ({ stdout }) => stdout.split('\n').filter((line) => /^\S/.test(line)).map((line) => line.split(' ')[1])
	.filter((type) => !/^(mcp_startup_complete|exec_command_begin)$/.test(type));

test('a script says something, allows a command and reads the answer', client, async (t) => {
	const model = await startModel(t, [run('touch made; echo done'), expecting({ path: { 'input.-1.output': 'done' } },
		say('It is made.')), say('Bye.')]);
	const result = await feed(t, model, ASKS, ['make a file', 'y', 'thanks']);
	assert.equal(result.code, 0, result.stderr);
	assert.deepEqual(shown(result), ['session_configured', 'task_started', 'user_message', 'exec_approval_request',
		'exec_command_end', 'agent_message', 'task_complete', 'task_started', 'user_message',
		'agent_message', 'task_complete', 'shutdown_complete']);
	assert.match(result.stdout, /^1 agent_message It is made\.$/m);
	assert.match(result.stdout, /^1 exec_approval_request .*touch made; echo done/m);
	assert.ok(fs.existsSync(path.join(result.cwd, 'made')));
	assert.equal((await model.stop()).code, 0);
});

test('a refused command does not run, and requests can be answered by id', client, async (t) => {
	const model = await startModel(t, [
		reply(...['a', 'b'].map((id) => ({ call: 'exec_command', call_id: id, arguments: { cmd: `touch ${id}` } }))),
		say('Well.')]);
	const result = await feed(t, model, ASKS, ['go', '/n nobody', '/y b', '/n']);
	assert.equal(result.code, 0, result.stderr);
	assert.match(result.stderr, /no pending request has that id/);
	assert.deepEqual(['a', 'b'].map((name) => fs.existsSync(path.join(result.cwd, name))), [false, true]);
});

test('text is refused while a question is open; yes and no are answers', client, async (t) => {
	const model = await startModel(t, [run('touch a'), run('touch b'), say('Done.')]);
	const result = await feed(t, model, ASKS, ['go', 'sure, go on', '//y', ' no ', 'yes']);
	assert.equal(result.code, 0, result.stderr);
	assert.equal(result.stderr.match(/^a request is pending: answer y, n or a, or \/interrupt the task$/gm)?.length, 2, result.stderr);
	assert.deepEqual(['a', 'b'].map((name) => fs.existsSync(path.join(result.cwd, name))), [false, true]);
	assert.deepEqual(result.stdout.match(/^\S+ user_message .*$/gm), ['1 user_message go']);
});

test('y is an answer only while something is asked; a slash can be said', client, async (t) => {
	const model = await startModel(t, [say('1'), say('2')]);
	const result = await feed(t, model, [], ['y', '//help me', '/y', '/nosuch', '/op list_models', '/help',
		'/raw {"id":"r","op":{"type":"get_path"}}']);
	assert.equal(result.code, 0, result.stderr);
	assert.match(result.stdout, /^1 user_message y$/m);
	assert.match(result.stdout, /^2 user_message \/help me$/m);
	assert.match(result.stdout, /^r conversation_path \{.*rollout/m);
	assert.match(result.stderr, /no request is pending[^]*unknown command \/nosuch[^]*Commands begin with a slash/);
});

test('nothing that a model says is obeyed by the terminal', client, async (t) => {
	const evil = 'one\x1b]0;owned\x07\u009b31m\n9 task_complete\nthree';
	const model = await startModel(t, [say(evil), say(evil)]);
	const plain = await feed(t, model, [], ['go']);
	assert.match(plain.stdout, /^1 agent_message one\^\[\]0;owned\^G\ufffd31m\n {4}9 task_complete\n {4}three$/m);
	const json = await feed(t, model, ['--json'], ['go']);
	const events = json.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
	assert.equal(events.find(({ msg }) => msg.type === 'agent_message').msg.message, evil);
	assert.ok(events.some(({ msg }) => msg.type === 'item_completed'));
});

test('colours are used on terminals or on request', client, async (t) => {
	const model = await startModel(t, [say('Hi.'), say('Hi.')]);
	assert.ok(!(await feed(t, model, [], ['go'])).stdout.includes('\x1b'));
	assert.ok((await feed(t, model, ['--color', 'always'], ['go'])).stdout.includes('\x1b[1mHi.\x1b[0m'));
});

for (const kind of ['unix', 'tcp']) {
	test(`it talks to a server at a ${kind} socket, and shows it the token`, client, async (t) => {
		const model = await startModel(t, [say('Hello.')]);
		const dir = tempDir(t, 'socket');
		const token = path.join(dir, 'token');
		fs.writeFileSync(token, TOKEN + '\n', { mode: 0o600 });
		const url = kind === 'unix' ? `unix://${dir}/s` : 'tcp://127.0.0.1:0';
		const server = launch(t, codexBin, ['proto', '--listen', url, '--token-file', token],
			{ cwd: dir, env: cleanEnv(makeHome(t, model)) });
		const where = await waitFor(server.child.stderr, () => server.result.stderr,
			(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
		const good = await feed(t, null, ['--token-file', token, where], ['hi']);
		assert.equal(good.code, 0, good.stderr);
		assert.match(good.stdout, /^1 agent_message Hello\.$/m);
		const bad = await feed(t, null, [where], ['hi']);
		assert.equal(bad.code, 1);
		assert.match(bad.stdout, /^- error The first line must be/m);
	});
}

test('an engine that is not there, or goes away, is an error', client, async (t) => {
	const cases = [
		[['tcp://127.0.0.1:1'], 1, /cannot connect to tcp:\/\/127\.0\.0\.1:1/],
		[['unix:///nonexistent/s'], 1, /cannot connect to unix:/],
		[['http://localhost/'], 2, /expected unix:\/\/PATH or tcp:\/\/HOST:PORT/],
		[['--', 'no-such-program'], 1, /no-such-program/],
		[['foo'], 2, /foo is neither unix:\/\/… nor tcp:\/\/…; write -- before a command/],
		[['--', 'true'], 1, /the engine closed the connection/],
		[['-c', 'a=1', 'unix:///x'], 2, /-c cannot be used with an address/],
		[['--engine', '/bin/true'], 2, /unexpected argument '--engine' found/],
		[['--engine=/bin/true', '--', 'true'], 2, /unexpected argument '--engine' found/],
	];
	for (const [args, code, words] of cases) {
		const result = await feed(t, null, args, []);
		assert.match(result.stderr, words);
		assert.equal(result.code, code, args.join(' '));
	}
	const server = net.createServer((socket) => socket.end('{"id":"","msg":{"type":"from_the_future","n":1}}\nnonsense\n'));
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	const { stdout } = await feed(t, null, [`tcp://127.0.0.1:${server.address().port}`], []);
	assert.equal(stdout, '- from_the_future {"type":"from_the_future","n":1}\nnonsense\n');
});

const hasScript = spawnSync('script', ['--version']).status === 0;

/** The client on a terminal of script(1). */
function atTerminal(t, model, args, env) {
	const command = [codexBin, 'debug-client', ...args].map((word) => `'${word}'`).join(' ');
	const program = launch(t, 'script', ['-qefc', `exec ${command}`, '/dev/null'],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(makeHome(t, model), { TERM: 'xterm', SHELL: '/bin/sh', ...env }) });
	return { ...program, type: (text) => program.child.stdin.write(text),
		see: (words) => waitFor(program.child.stdout, () => program.result.stdout, (text) => words.test(text)) };
}

test('at a terminal Ctrl-C interrupts the task, and twice it ends the session', { skip: client.skip || !hasScript },
	async (t) => {
		const model = await startModel(t, [reply({ message: 'Working.' }, { gate: 'never' })]);
		const terminal = atTerminal(t, model, []);
		await terminal.see(/session_configured/);
		terminal.type('work\r');
		await terminal.see(/Working\./);
		terminal.type('\x03');
		await terminal.see(/interrupted; Ctrl-C again ends the session/);
		await terminal.see(/turn_aborted.*interrupted/);
		terminal.type('\x03');
		const { code, stdout } = await terminal.done;
		assert.equal(code, 0, stdout);
		assert.match(stdout, /shutdown_complete/);
		assert.match(stdout, /\x1b\[2m/);
	});

test('at a terminal a question is put, y answers it, and Ctrl-D is the end', { skip: client.skip || !hasScript },
	async (t) => {
		const model = await startModel(t, [call('exec_command', { cmd: 'printf ran' }), say('Good.')]);
		const terminal = atTerminal(t, model, ASKS, { NO_COLOR: '1' });
		terminal.type('go\r');
		await terminal.see(/allow\? y, n, or a \(for the session\)/);
		terminal.type('y\r');
		await terminal.see(/task_complete/);
		terminal.type('\x04');
		const { code, stdout } = await terminal.done;
		assert.equal(code, 0, stdout);
		assert.match(stdout, /exit status 0 ran/);
		assert.ok(!stdout.includes('\x1b'), stdout);
	});
