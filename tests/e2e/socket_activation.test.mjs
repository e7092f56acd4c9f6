// codex app-server --listen fd://: a socket that systemd has opened. A Python program stands in for systemd, and
// where systemd is installed its own program opens one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { cleanEnv, codexBin, launch, makeHome, needs, run, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { connectRpc, http } from './lib/websocket.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const helper = path.join(root, 'tests/e2e/lib/pass_socket.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const options = hasPython ? needs('app-server') : { skip: 'python3 is not installed' };
const PASSED = ['LISTEN_PID={pid}', 'LISTEN_FDS=1', 'LISTEN_FDNAMES=codex-app-server.socket'];

/** Starts a server with a socket of that kind; `home` is its CODEX_HOME. */
async function activate(t, kind, address, variables = PASSED, { model = null, args = [] } = {}) {
	const home = makeHome(t, model);
	const command = [codexBin, 'app-server', '--listen', 'fd://', ...args];
	const cwd = tempDir(t, 'cwd');
	return { cwd, ...launch(t, 'python3', [helper, kind, address, ...variables, '--', ...command], { cwd, env: cleanEnv(home) }) };
}

/** Resolves once a socket listens at the file, which is there before, and without a connection to it. */
async function listens(file) {
	const isListening = (line) => line.endsWith(` ${file}`) && line.split(' ')[3] === '00010000'; // __SO_ACCEPTCON
	while (!fs.readFileSync('/proc/net/unix', 'utf8').split('\n').some(isListening))
		await new Promise((wake) => setTimeout(wake, 10));
}

test('a passed Unix socket serves clients, and its file stays for the next start', options, async (t) => {
	const file = path.join(tempDir(t, 'run'), 'app-server.sock');
	const model = await startModel(t, [run('env | grep ^LISTEN_; ls -l /proc/self/fd | grep socket; echo checked'), say('Done.')]);
	const server = await activate(t, 'unix', file, PASSED, { model });
	await listens(file);
	const first = await connectRpc(t, { path: file }), second = await connectRpc(t, { path: file });
	for (const client of [first, second])
		assert.deepEqual(await client.request('mock/experimentalMethod', { value: 'x' }), { echoed: 'x' });

	const { thread } = await first.request('thread/start', { cwd: server.cwd, sandbox: 'danger-full-access', approvalPolicy: 'never' });
	await first.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi' }] });
	let item;
	do item = (await first.next('item/completed')).params.item;
	while (item.type !== 'commandExecution');
	assert.equal(item.aggregatedOutput, 'checked\n', 'a command inherits neither the socket nor its variables');

	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
	assert.ok(fs.existsSync(file));
});

test('a passed TCP socket of this machine needs no token', options, async (t) => {
	const server = await activate(t, 'tcp', '127.0.0.1');
	const port = Number(await waitFor(server.child.stdout, () => server.result.stdout, (text) => /^(\d+)\n/.exec(text)?.[1]));
	assert.equal((await http({ port }, '/readyz')).status, 200);
	await connectRpc(t, { port });
});

test('a passed TCP socket that other machines reach needs a token', options, async (t) => {
	const refused = await (await activate(t, 'tcp', '0.0.0.0')).done;
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /refusing to start non-loopback websocket listener 0\.0\.0\.0:\d+ without auth/);

	const token = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(token, 'a'.repeat(43), { mode: 0o600 });
	const args = ['--ws-auth', 'capability-token', '--ws-token-file', token];
	const server = await activate(t, 'tcp', '0.0.0.0', PASSED, { args });
	const port = Number(await waitFor(server.child.stdout, () => server.result.stdout, (text) => /^(\d+)\n/.exec(text)?.[1]));
	await assert.rejects(connectRpc(t, { port }), (refusal) => refusal.status === 401);
});

const REFUSED = [
	['no variables', 'unix', [], /LISTEN_PID and LISTEN_FDS are not set/],
	['no count', 'unix', ['LISTEN_PID={pid}'], /LISTEN_PID and LISTEN_FDS are not set/],
	['a socket for another process', 'unix', ['LISTEN_PID=1', 'LISTEN_FDS=1'], /LISTEN_PID is 1 and this process is \d+/],
	['an id that only begins with ours', 'unix', ['LISTEN_PID={pid}x', 'LISTEN_FDS=1'], /LISTEN_PID is \d+x/],
	['no sockets', 'unix', ['LISTEN_PID={pid}', 'LISTEN_FDS=0'], /exactly one socket, but LISTEN_FDS is 0/],
	['two sockets', 'unix', ['LISTEN_PID={pid}', 'LISTEN_FDS=2'], /exactly one socket, but LISTEN_FDS is 2/],
	['a negative count', 'unix', ['LISTEN_PID={pid}', 'LISTEN_FDS=-1'], /exactly one socket, but LISTEN_FDS is -1/],
	['a huge count', 'unix', ['LISTEN_PID={pid}', 'LISTEN_FDS=99999999999999999999999'], /exactly one socket/],
	['a file', 'file', PASSED, /descriptor 3 is not a socket/],
	['a datagram socket', 'udp', PASSED, /descriptor 3 must be a listening stream socket/],
	['a socket that does not listen', 'idle', PASSED, /descriptor 3 must be a listening stream socket/],
	['an abstract socket, which any user can reach', 'abstract', PASSED, /with a path or an IP address/],
];

for (const [name, kind, variables, reason] of REFUSED) {
	test(`refused: ${name}`, options, async (t) => {
		const address = kind === 'udp' ? '127.0.0.1' : path.join(tempDir(t, 'run'), 'sock');
		const { code, stderr } = await (await activate(t, kind, address, variables)).done;
		assert.equal(code, 2, stderr);
		assert.match(stderr, reason);
	});
}

test('systemd-socket-activate starts the server for the first connection', {
	skip: options.skip || (spawnSync('systemd-socket-activate', ['--version']).error && 'systemd is not installed'),
}, async (t) => {
	const file = path.join(tempDir(t, 'run'), 'app-server.sock'), home = makeHome(t, null);
	const passed = [`--setenv=CODEX_HOME=${cleanEnv(home).CODEX_HOME}`,
		...['ASAN_OPTIONS', 'UBSAN_OPTIONS'].filter((name) => process.env[name]).map((name) => `--setenv=${name}=${process.env[name]}`)];
	const server = launch(t, 'systemd-socket-activate', [`--listen=${file}`, ...passed, codexBin, 'app-server', '--listen', 'fd://'],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(home) });
	await listens(file);
	const client = await connectRpc(t, { path: file });
	assert.deepEqual(await client.request('mock/experimentalMethod', { value: 'x' }), { echoed: 'x' });
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
});
