// `codex sandbox`: one command in the sandbox, in each backend that works here.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { codexBin } from './lib/codex.mjs';

function makePlace(t, name = 'ws') {
	const home = fs.mkdtempSync('/var/tmp/codex-sandbox-');
	const place = { home, ws: path.join(home, name), codex: path.join(home, 'codex') };
	fs.mkdirSync(place.ws);
	fs.mkdirSync(place.codex);
	t.after(() => fs.rmSync(home, { recursive: true, force: true }));
	return place;
}

function env(place, extra = {}) {
	return { PATH: process.env.PATH, HOME: place.home, CODEX_HOME: place.codex, ...extra };
}

function sandbox(place, args, options = {}) {
	return spawnSync(codexBin, ['sandbox', ...args], { cwd: place.ws, env: env(place), encoding: 'utf8', ...options });
}

for (const backend of ['bubblewrap', 'landlock']) {
	const choose = ['-c', `sandbox_backend=${backend}`];
	const probe = spawnSync(codexBin, ['sandbox', ...choose, 'true'], { env: { PATH: process.env.PATH, HOME: '/nowhere' }, encoding: 'utf8' });
	const skip = probe.status !== 0 && probe.stderr.trim();

	test(`${backend}: the command's output and exit status come through`, { skip }, (t) => {
		const place = makePlace(t);
		const run = sandbox(place, [...choose, '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
		assert.deepEqual([run.stdout, run.stderr, run.status], ['out\n', 'err\n', 7]);
		assert.equal(sandbox(place, [...choose, 'sh', '-c', 'kill -9 $$']).status, 137);
		assert.equal(sandbox(place, [...choose, 'no-such-program']).status, 127);
		assert.equal(sandbox(place, [...choose, '/etc/passwd']).status, 126);
		assert.equal(sandbox(place, [...choose, 'cat'], { input: 'typed' }).stdout, 'typed');
	});

	test(`${backend}: the modes and their names`, { skip }, (t) => {
		const place = makePlace(t);
		const tries = (...options) => sandbox(place, [...choose, ...options, 'sh', '-c', 'echo x >file && cat file']).stdout;
		assert.equal(tries(), '');
		assert.equal(tries('--sandbox', 'read-only'), '');
		assert.equal(tries('--permissions', ':read-only'), '');
		assert.equal(tries('--sandbox', 'workspace-write'), 'x\n');
		assert.equal(tries('--permission-profile', ':workspace'), 'x\n');
		assert.equal(tries('-P', ':workspace'), 'x\n');
		assert.equal(sandbox(place, ['linux', '--full-auto', ...choose, 'sh', '-c', 'echo y >file; cat file']).stdout, 'y\n');
		assert.equal(sandbox(place, ['landlock', ...choose, '--full-auto', '--', 'cat', 'file']).stdout, 'y\n');
	});

	test(`${backend}: a command knows that it is sandboxed`, { skip }, (t) => {
		const place = makePlace(t);
		const script = 'echo $CODEX_SANDBOX $CODEX_SANDBOX_NETWORK_DISABLED';
		assert.equal(sandbox(place, [...choose, 'sh', '-c', script]).stdout, `${backend} 1\n`);
		const open = [...choose, '-s', 'workspace-write', '-c', 'sandbox_workspace_write.network_access=true'];
		assert.equal(sandbox(place, [...open, 'sh', '-c', script]).stdout, `${backend}\n`);
		assert.equal(sandbox(place, ['-s', 'danger-full-access', 'sh', '-c', script]).stdout, '\n');
	});

	test(`${backend}: the network is available if the policy allows it`, { skip }, async (t) => {
		const place = makePlace(t);
		const { createServer } = await import('node:net');
		const server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
		t.after(() => server.close());
		await new Promise((resolve) => server.on('listening', resolve));
		const script = `require("net").connect(${server.address().port}, "127.0.0.1").on("error", (e) => console.log(e.code)).pipe(process.stdout)`;
		const answer = (...options) => new Promise((resolve) => {
			const child = spawn(codexBin, ['sandbox', ...choose, '-s', 'workspace-write', ...options, process.execPath, '-e', script],
				{ cwd: place.ws, env: env(place), stdio: ['ignore', 'pipe', 'inherit'] });
			let text = '';
			child.stdout.on('data', (bytes) => { text += bytes; });
			child.on('close', () => resolve(text.trim()));
		});
		assert.equal(await answer('-c', 'sandbox_workspace_write.network_access=true'), 'hello');
		assert.equal(await answer(), 'ECONNREFUSED');
	});

	test(`${backend}: a server and its client inside find each other`, { skip }, (t) => {
		const place = makePlace(t);
		const script = 'const s = require("net").createServer((c) => c.end("hi")).listen(0, "127.0.0.1", () => ' +
			'require("net").connect(s.address().port, "127.0.0.1").on("end", () => s.close()).pipe(process.stdout))';
		assert.equal(sandbox(place, [...choose, process.execPath, '-e', script]).stdout, 'hi');
	});

	test(`${backend}: no descriptor of the caller's is left open`, { skip }, (t) => {
		const place = makePlace(t);
		const leak = fs.openSync(path.join(place.home, 'secret'), 'w');
		t.after(() => fs.closeSync(leak));
		const stdio = ['ignore', 'pipe', 'inherit', leak, leak, leak, leak, leak, leak, leak];
		assert.doesNotMatch(sandbox(place, [...choose, 'ls', '-l', '/proc/self/fd/'], { stdio }).stdout, /secret/);
	});

	test(`${backend}: ten thousand arguments, and names that hold newlines`, { skip }, (t) => {
		const place = makePlace(t, 'a\nb "c" \\ $d');
		const many = Array.from({ length: 10_000 }, (_, i) => `argument ${i}\n`);
		const all = sandbox(place, [...choose, 'sh', '-c', 'echo $#; eval echo \\"\\${$#}\\"', 'sh', ...many]);
		if (backend === 'landlock')
			assert.equal(all.stdout, '10000\nargument 9999\n\n');
		else
			assert.match(all.stderr, /too many arguments for bubblewrap/);
		assert.equal(sandbox(place, [...choose, 'sh', '-c', 'sh -c "echo \\$#" sh $(seq 10000)']).stdout, '10000\n');
		const run = sandbox(place, [...choose, '-s', 'workspace-write', 'sh', '-c', 'echo x >"e\nf" && ls .. >/dev/null; touch ../g']);
		assert.match(run.stderr, /\.\.\/g/);
		assert.deepEqual(fs.readdirSync(place.ws), ['e\nf']);
	});

	test(`${backend}: background processes of the command end with it`, { skip }, async (t) => {
		const place = makePlace(t);
		const file = path.join(place.ws, 'alive');
		const script = 'for i in $(seq 200); do setsid sh -c "trap \\"\\" TERM; while :; do sleep 0.05; echo x >>alive; done" & done; sleep 0.3';
		assert.equal(sandbox(place, [...choose, '-s', 'workspace-write', 'sh', '-c', script]).status, 0);
		assert.ok(fs.statSync(file).size > 0);
		fs.truncateSync(file);
		await new Promise((resolve) => setTimeout(resolve, 200));
		assert.equal(fs.statSync(file).size, 0);
		assert.deepEqual(fs.readdirSync(place.ws), ['alive']);
	});

	test(`${backend}: a command does not run if its sandbox cannot be set up`, { skip }, (t) => {
		const place = makePlace(t);
		fs.symlinkSync('/etc', path.join(place.ws, '.git'));
		const run = sandbox(place, [...choose, '-s', 'workspace-write', 'sh', '-c', 'echo ran']);
		assert.equal(run.stdout, '');
		assert.match(run.stderr, /\.git is a symbolic link/);
		assert.equal(run.status, 1);
	});

	test(`${backend}: two at a time in one folder guard it until the last has ended`, { skip }, async (t) => {
		const place = makePlace(t);
		const start = (script) => spawn(codexBin, ['sandbox', ...choose, '-s', 'workspace-write', 'sh', '-c', script],
			{ cwd: place.ws, env: env(place), stdio: ['pipe', 'pipe', 'inherit'] });
		const long = start('echo ready; read line; mkdir .git .codex 2>/dev/null && echo made || echo refused');
		let text = '';
		await new Promise((resolve) => long.stdout.on('data', (bytes) => { text += bytes; resolve(); }));
		const short = start('true');
		await new Promise((resolve) => short.on('close', resolve));
		assert.ok(fs.existsSync(path.join(place.ws, '.git')));
		long.stdin.end('go on\n');
		await new Promise((resolve) => long.on('close', resolve));
		assert.equal(text, 'ready\nrefused\n');
		assert.deepEqual(fs.readdirSync(place.ws), []);
	});
}

test('codex sandbox without a command says how it is used', () => {
	const run = spawnSync(codexBin, ['sandbox'], { encoding: 'utf8' });
	assert.equal(run.status, 2);
	assert.match(run.stderr, /Usage: codex sandbox/);
});
