// command/exec and process/* of `codex app-server`: commands that a client runs without a thread.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { captured, shapeOf } from './lib/captures.mjs';
import { needs } from './lib/codex.mjs';

const options = needs('app-server');
const bare = { sandboxPolicy: { type: 'dangerFullAccess' } };
const base64 = (text) => Buffer.from(text).toString('base64');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });
const sh = (script) => ['sh', '-c', script];
const EXEC = ['command/exec/outputDelta', 'processId'];
const PROCESS = ['process/outputDelta', 'processHandle'];

/** The streamed output so far, as text. */
function printed(server, [method, key], id, stream = 'stdout') {
	const deltas = server.all(method).filter(({ params }) => params[key] === id && params.stream === stream);
	return Buffer.concat(deltas.map(({ params }) => Buffer.from(params.deltaBase64, 'base64'))).toString();
}

/** Waits until a stream has emitted this text. */
const until = (server, kind, id, pattern) => server.take((message) =>
	message.method === kind[0] && pattern.test(printed(server, kind, id)), `${pattern} of ${id}`);

/** Returns when no process has that id: a killed one may still have to be reaped. */
async function vanishes(pid) {
	for (;;) {
		try {
			process.kill(pid, 0);
		} catch {
			return;
		}
		await new Promise(setImmediate);
	}
}

test('a command answers with its output and exit code', options, async (t) => {
	const server = await startAppServer(t, null);
	const exec = (command, more = {}) => server.request('command/exec', { command, ...bare, ...more });
	assert.deepEqual(await exec(sh('echo out; echo err >&2; exit 3')), { exitCode: 3, stdout: 'out\n', stderr: 'err\n' });
	assert.deepEqual(await exec(['pwd']), { exitCode: 0, stdout: `${fs.realpathSync(server.cwd)}\n`, stderr: '' });
	fs.mkdirSync(path.join(server.cwd, 'sub'));
	assert.equal((await exec(['pwd'], { cwd: 'sub' })).stdout, `${fs.realpathSync(server.cwd)}/sub\n`);
	assert.equal((await exec(sh('kill -TERM $$'))).exitCode, 143);
	assert.deepEqual(await exec(['sleep', '60'], { timeoutMs: 50 }), { exitCode: 124, stdout: '', stderr: '' });
	assert.equal((await exec(sh('printf "\\377x"'))).stdout, '\ufffdx');
	const env = await exec(sh('echo $FOO-$HOME-$PATH'), { env: { FOO: 'bar', HOME: null } });
	assert.equal(env.stdout, `bar--${process.env.PATH}\n`);
});

test('output is cut at its cap, and at 1 MiB without one', options, async (t) => {
	const server = await startAppServer(t, null);
	const exec = (more) => server.request('command/exec', { command: sh('head -c 1500000 /dev/zero | tr "\\0" x'), ...bare, ...more });
	assert.equal((await exec({ outputBytesCap: 20 })).stdout, 'x'.repeat(20));
	assert.equal((await exec({ outputBytesCap: 0 })).stdout, '');
	assert.equal((await exec({})).stdout.length, 1024 * 1024);
	assert.equal((await exec({ disableOutputCap: true })).stdout.length, 1500000);
});

test('a command runs in the requested sandbox', options, async (t) => {
	const server = await startAppServer(t, null);
	const file = path.join(server.cwd, 'file');
	const touch = (more) => server.request('command/exec', { command: ['touch', file], ...more });
	for (const more of [{}, { sandboxPolicy: { type: 'readOnly' } }, { permissionProfile: ':read-only' }]) {
		const { exitCode, stderr } = await touch(more);
		assert.equal(exitCode, 1);
		assert.match(stderr, /Read-only file system/);
		assert.ok(!fs.existsSync(file));
	}
	assert.equal((await touch({ sandboxPolicy: { type: 'workspaceWrite' } })).exitCode, 0);
	assert.ok(fs.existsSync(file));
	await assert.rejects(touch({ permissionProfile: 'nope' }), refusal(/^invalid permission profile: .*`nope`/));
	await assert.rejects(server.request('command/exec', { command: ['no-such-binary-zz'] }),
		refusal('failed to spawn command: No such file or directory (os error 2)', -32603));
	const tty = { command: sh('stty size; tty </dev/tty >&2; echo job'), tty: true, processId: 'p', permissionProfile: ':read-only' };
	assert.equal((await server.request('command/exec', tty)).exitCode, 0, 'a terminal works behind it');
	assert.match(printed(server, EXEC, 'p'), /^24 80\r\n.*job\r\n$/s);
});

test('input and output are streamed', options, async (t) => {
	const server = await startAppServer(t, null);
	const write = (more) => server.request('command/exec/write', { processId: 'p1', ...more });
	const end = server.request('command/exec', { command: sh('echo a; read x; echo got:$x; cat; echo b >&2'), processId: 'p1',
		streamStdin: true, streamStdoutStderr: true, ...bare });
	await until(server, EXEC, 'p1', /^a\n$/);
	await assert.rejects(server.request('command/exec', { command: ['true'], processId: 'p1', ...bare }),
		refusal('duplicate active command/exec process id: "p1"'));
	assert.deepEqual(await write({ deltaBase64: base64('zz\n') }), {});
	await until(server, EXEC, 'p1', /^a\ngot:zz\n$/);
	assert.deepEqual(await write({ deltaBase64: base64('rest'), closeStdin: true }), {});
	assert.deepEqual(await end, { exitCode: 0, stdout: '', stderr: '' });
	assert.equal(printed(server, EXEC, 'p1'), 'a\ngot:zz\nrest');
	assert.equal(printed(server, EXEC, 'p1', 'stderr'), 'b\n');
	await assert.rejects(write({ deltaBase64: 'AA==' }), refusal('no active command/exec for process id "p1"'));
});

test('a streamed command emits no more than its cap', options, async (t) => {
	const server = await startAppServer(t, null);
	await server.request('command/exec', { command: sh('printf abcdef; printf xy >&2'), processId: 'c', streamStdoutStderr: true,
		outputBytesCap: 3, ...bare });
	const deltas = server.all('command/exec/outputDelta').map(({ params }) => params);
	const of = (stream) => deltas.filter((it) => it.stream === stream).map(({ deltaBase64, capReached }) => [deltaBase64, capReached]);
	assert.deepEqual(of('stdout'), [[base64('abc'), true]]);
	assert.deepEqual(of('stderr'), [[base64('xy'), false]]);
});

/** An executable file in no format that the system knows, which only an attempt to execute it detects. */
test('a program that the system cannot execute fails its request', options, async (t) => {
	const server = await startAppServer(t, null);
	const file = path.join(server.cwd, 'broken');
	fs.writeFileSync(file, '\x7fELF and nothing else', { mode: 0o755 });
	await assert.rejects(server.request('command/exec', { command: [file], ...bare }),
		refusal('failed to spawn command: Exec format error (os error 8)', -32603));
	await assert.rejects(server.request('process/spawn', { command: [file], processHandle: 'b', cwd: server.cwd }),
		refusal('failed to spawn process: Exec format error (os error 8)', -32603));
	assert.equal((await server.request('command/exec', { command: ['true'], ...bare })).exitCode, 0);
});

test('a terminal has a size, takes keys and hangs up', options, async (t) => {
	const server = await startAppServer(t, null);
	const end = server.request('command/exec', { command: sh('stty size; read x; stty size; tty; cat; echo end'), processId: 'p', tty: true,
		size: { rows: 20, cols: 70 }, ...bare });
	await until(server, EXEC, 'p', /^20 70\r\n$/);
	assert.deepEqual(await server.request('command/exec/resize', { processId: 'p', size: { rows: 33, cols: 99 } }), {});
	await server.request('command/exec/write', { processId: 'p', deltaBase64: base64('go\n') });
	await until(server, EXEC, 'p', /33 99\r\n\/dev\/pts\/\d+\r\n$/);
	await server.request('command/exec/write', { processId: 'p', deltaBase64: base64('part'), closeStdin: true });
	await assert.rejects(server.request('command/exec/write', { processId: 'p', deltaBase64: '' }),
		refusal(/stdin is already closed|no active command/));
	assert.deepEqual(await end, { exitCode: 0, stdout: '', stderr: '' });
	assert.match(printed(server, EXEC, 'p'), /partpartend\r\n$/);
});

test('the interrupt key reaches a command at a terminal', options, async (t) => {
	const server = await startAppServer(t, null);
	const end = server.request('command/exec', { command: ['cat'], processId: 'p', tty: true, ...bare });
	await server.request('command/exec/write', { processId: 'p', deltaBase64: base64('x\x03') });
	assert.equal((await end).exitCode, 130);
});

test('terminate ends all descendants; a second call finds no command', options, async (t) => {
	const server = await startAppServer(t, null);
	const end = server.request('command/exec', { command: sh('trap "" TERM; setsid sleep 600 & echo $!; wait'), processId: 'p',
		streamStdoutStderr: true, ...bare });
	await until(server, EXEC, 'p', /\d+\n/);
	const pid = Number(printed(server, EXEC, 'p'));
	assert.deepEqual(await server.request('command/exec/terminate', { processId: 'p' }), {});
	assert.equal((await end).exitCode, 137);
	await vanishes(pid);
	await assert.rejects(server.request('command/exec/terminate', { processId: 'p' }), refusal('no active command/exec for process id "p"'));
});

test('invalid parameters have the errors of codex 0.169', options, async (t) => {
	const server = await startAppServer(t, null);
	const cwd = server.cwd;
	const running = server.request('command/exec', { command: ['sleep', '600'], processId: 'q', ...bare });
	running.catch(() => {});
	await server.request('process/spawn', { command: ['sleep', '600'], cwd, processHandle: 'b' });
	const exec = (more, ...error) => ['command/exec', { command: ['true'], ...bare, ...more }, refusal(...error)];
	const spawn = (more, ...error) => ['process/spawn', { command: ['true'], cwd, processHandle: 'x', ...more }, refusal(...error)];
	const write = { deltaBase64: base64('x') };
	const cases = [
		exec({ command: [] }, 'command must not be empty'),
		exec({ command: ['a\0b'] }, /NUL byte/),
		exec({ streamStdin: true }, 'command/exec tty or streaming requires a client-supplied processId'),
		exec({ tty: true }, 'command/exec tty or streaming requires a client-supplied processId'),
		exec({ timeoutMs: 5, disableTimeout: true }, 'command/exec cannot set both timeoutMs and disableTimeout', -32602),
		exec({ outputBytesCap: 5, disableOutputCap: true }, 'command/exec cannot set both outputBytesCap and disableOutputCap', -32602),
		exec({ timeoutMs: -5 }, 'command/exec timeoutMs must be non-negative, got -5', -32602),
		exec({ outputBytesCap: -5 }, 'Invalid request: invalid value: integer `-5`, expected usize'),
		exec({ size: { rows: 1, cols: 1 } }, 'command/exec size requires tty: true', -32602),
		exec({ tty: true, processId: 't', size: { rows: 70000, cols: 1 } }, 'Invalid request: invalid value: integer `70000`, expected u16'),
		exec({ permissionProfile: ':read-only' }, '`permissionProfile` cannot be combined with `sandboxPolicy`'),
		exec({ env: { 'A=B': 'x' } }, /is not a valid name of an environment variable/),
		exec({ env: 5 }, /`env` must be a map/),
		exec({ cwd: '/no/such' }, 'failed to spawn command: No such file or directory (os error 2)', -32603),
		['command/exec/write', { processId: 'q' }, refusal('command/exec/write requires deltaBase64 or closeStdin', -32602)],
		['command/exec/write', { processId: 'q', deltaBase64: '**' }, refusal('invalid deltaBase64: Invalid symbol 42, offset 0.', -32602)],
		['command/exec/write', { processId: 'q', ...write }, refusal('stdin streaming is not enabled for this command/exec')],
		['command/exec/resize', { processId: 'q', size: { rows: 0, cols: 1 } },
			refusal('command/exec size rows and cols must be greater than 0', -32602)],
		['command/exec/resize', { processId: 'q', size: { rows: 1, cols: 1 } },
			refusal('failed to resize PTY: process is not attached to a PTY')],
		['command/exec/resize', { processId: 'b', size: { rows: 1, cols: 1 } }, refusal('no active command/exec for process id "b"')],
		spawn({ command: [] }, 'command must not be empty'),
		spawn({ cwd: 'rel' }, 'Invalid request: AbsolutePathBuf deserialized without a base path'),
		spawn({ cwd: '/no/such' }, 'failed to spawn process: No such file or directory (os error 2)', -32603),
		spawn({ command: ['no-such-binary-zz'] }, 'failed to spawn process: No such file or directory (os error 2)', -32603),
		spawn({ processHandle: '' }, 'processHandle must not be empty'),
		spawn({ processHandle: 'b' }, 'duplicate active process handle: "b"'),
		spawn({ size: { rows: 1, cols: 1 } }, 'process/spawn size requires tty: true', -32602),
		['process/writeStdin', { processHandle: 'b' }, refusal('process/writeStdin requires deltaBase64 or closeStdin', -32602)],
		['process/writeStdin', { processHandle: 'b', ...write }, refusal('stdin streaming is not enabled for this process')],
		['process/resizePty', { processHandle: 'b', size: { rows: 1, cols: 1 } },
			refusal('failed to resize PTY: process is not attached to a PTY')],
		['process/kill', { processHandle: 'q' }, refusal('no active process for process handle "q"')],
	];
	for (const [method, params, error] of cases)
		await assert.rejects(server.request(method, params), error, `${method} ${JSON.stringify(params)}`);
	assert.equal((await server.end()).code, 0);
});

test('a process reports its output and its end', options, async (t) => {
	const server = await startAppServer(t, null);
	const spawn = (processHandle, script, more = {}) =>
		server.request('process/spawn', { command: sh(script), cwd: server.cwd, processHandle, ...more });
	const exited = async () => (await server.next('process/exited')).params;
	const end = (processHandle, more) => ({ processHandle, exitCode: 0, outputDrainTimedOut: false, stdout: '', stdoutCapReached: false,
		stderr: '', stderrCapReached: false, ...more });
	assert.deepEqual(await spawn('h', 'echo hi; echo no >&2; exit 4'), {});
	assert.deepEqual(await exited(), end('h', { exitCode: 4, stdout: 'hi\n', stderr: 'no\n' }));
	await spawn('h', 'printf abcdef', { outputBytesCap: 3 });
	assert.deepEqual(await exited(), end('h', { stdout: 'abc', stdoutCapReached: true }), 'a handle may be used again');
	await spawn('n', 'head -c 1500000 /dev/zero | tr "\\0" x', { outputBytesCap: null, timeoutMs: null });
	assert.equal((await exited()).stdout.length, 1500000);
	await spawn('t', 'stty size; cat', { tty: true });
	await until(server, PROCESS, 't', /^24 80\r\n$/);
	assert.deepEqual(await server.request('process/resizePty', { processHandle: 't', size: { rows: 3, cols: 5 } }), {});
	assert.deepEqual(await server.request('process/writeStdin', { processHandle: 't', closeStdin: true }), {});
	assert.deepEqual(await exited(), end('t', {}));
	await spawn('k', 'sleep 600');
	assert.deepEqual(await server.request('process/kill', { processHandle: 'k' }), {});
	assert.deepEqual(await exited(), end('k', { exitCode: 137 }));
	await assert.rejects(server.request('process/kill', { processHandle: 'k' }), refusal('no active process for process handle "k"'));
	await spawn('s', 'sleep 600', { timeoutMs: 50 });
	assert.equal((await exited()).exitCode, 124);
});

test('commands end when their client goes', options, async (t) => {
	const server = await startAppServer(t, null);
	await server.request('process/spawn', { command: sh('setsid sleep 600 & echo $! $$; wait'), cwd: server.cwd, processHandle: 'h',
		streamStdoutStderr: true });
	await until(server, PROCESS, 'h', /\n/);
	server.request('command/exec', { command: sh('echo ready; sleep 600'), processId: 'p', streamStdoutStderr: true, ...bare }).catch(() => {});
	await until(server, EXEC, 'p', /ready/);
	assert.equal((await server.end()).code, 0);
	for (const pid of printed(server, PROCESS, 'h').trim().split(' ').map(Number)) await vanishes(pid);
});

test('a client that reads slowly holds the command, and loses nothing', options, async (t) => {
	const server = await startAppServer(t, null);
	server.child.stdout.pause();
	const size = 20_000_000;
	const end = server.request('command/exec', { command: sh(`head -c ${size} /dev/zero | tr "\\0" x`), processId: 'p',
		streamStdoutStderr: true, disableOutputCap: true, disableTimeout: true, ...bare });
	server.child.stdout.resume();
	assert.equal((await end).exitCode, 0);
	assert.equal(printed(server, EXEC, 'p').length, size);
});

test('answers have the shape of the captured ones', options, async (t) => {
	const seen = captured('command_exec');
	if (!seen) return t.skip('no ../shared');
	const server = await startAppServer(t, null);
	const same = async (method, params, wire) => assert.deepEqual(shapeOf(await server.request(method, params)), shapeOf(wire));
	const [first] = seen.requests('command/exec', { CWD: server.cwd });
	await same('command/exec', first.params, first.answer.result);
	const spawn = seen.requests('process/spawn', { CWD: server.cwd })[0];
	await same('process/spawn', spawn.params, spawn.answer.result);
	assert.deepEqual((await server.next('process/exited')).params, seen.notification('process/exited').params);
	await server.request('command/exec', { command: ['echo', 'a'], processId: 'p1', streamStdoutStderr: true, ...bare });
	assert.deepEqual(server.all('command/exec/outputDelta')[0].params, seen.notification('command/exec/outputDelta').params);
});
