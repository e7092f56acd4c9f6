// [model_providers.ID.auth]: a command that prints the token of the requests.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { codexExec, needs, tempDir } from './lib/codex.mjs';
import { providerHome, startProvider } from './lib/provider.mjs';

const options = needs('exec');

/** A script that prints token-1, token-2, … and the file in which it counts its runs. */
function counter(t, body = 'echo token-$n') {
	const dir = tempDir(t, 'command');
	const file = path.join(dir, 'token.sh');
	fs.writeFileSync(file, `#!/bin/sh\nn=$(($(cat ${dir}/n 2>/dev/null || echo 0) + 1))\necho $n > ${dir}/n\n${body}\n`, { mode: 0o755 });
	return { dir, file, runs: () => (fs.existsSync(`${dir}/n`) ? Number(fs.readFileSync(`${dir}/n`, 'utf8')) : 0) };
}

const auth = (keys) => `[model_providers.own.auth]\n${keys}\n`;
const config = (server, keys, more = '') => `base_url = "${server.url}/v1"\n${more}\n${auth(keys)}`;
const bearer = (token) => (request) => request.headers.authorization === `Bearer ${token}`;

async function ask(t, server, keys, { more, ...rest } = {}) {
	return codexExec(t, null, ['hi'], { home: providerHome(t, config(server, keys, more)), ...rest });
}

test('the output of the command is the token, and nothing else authorises', options, async (t) => {
	const command = counter(t), server = await startProvider(t, { accepts: bearer('token-1') });
	const run = await ask(t, server, `command = "${command.file}"`, { env: { OPENAI_API_KEY: 'sk-other', CODEX_API_KEY: 'sk-own' } });
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	assert.equal(server.requests.length, 1);
	assert.equal(command.runs(), 1);
	assert.ok(!JSON.stringify(server.requests).includes('sk-'));
});

test('a token that is refused is replaced once', options, async (t) => {
	const command = counter(t), server = await startProvider(t, { accepts: bearer('token-2') });
	const run = await ask(t, server, `command = "${command.file}"`);
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	assert.deepEqual(server.requests.map((it) => it.headers.authorization), ['Bearer token-1', 'Bearer token-2']);
});

test('a second refusal is final and names the command, not the token', options, async (t) => {
	const command = counter(t), server = await startProvider(t, { accepts: () => false });
	const run = await ask(t, server, `command = "${command.file}"`);
	assert.equal(run.code, 1);
	assert.equal(command.runs(), 2);
	assert.equal(server.requests.length, 2);
	assert.match(run.stderr, /401 Unauthorized.*check auth\.command/s);
	assert.ok(!run.stderr.includes('token-2'), run.stderr);
});

test('threads of an app-server share a token until its age', needs('app-server'), async (t) => {
	const command = counter(t), server = await startProvider(t);
	const app = await startAppServer(t, null, { home: providerHome(t, config(server, `command = "${command.file}"`)) });
	for (let i = 0; i < 3; i++) {
		const { thread } = await app.request('thread/start', {});
		await app.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
		await app.next('turn/completed');
	}
	assert.deepEqual(server.requests.map((it) => it.headers.authorization), Array(3).fill('Bearer token-1'));
	assert.equal(command.runs(), 1);
});

test('a token that has reached its age is replaced, or used on if the command fails', needs('app-server'), async (t) => {
	const command = counter(t, '[ $n -lt 3 ] || exit 1\necho token-$n'), server = await startProvider(t);
	const keys = `command = "${command.file}"\nrefresh_interval_ms = 1`;
	const app = await startAppServer(t, null, { home: providerHome(t, config(server, keys)) });
	const { thread } = await app.request('thread/start', {});
	for (let i = 0; i < 3; i++) {
		await app.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
		await app.next('turn/completed');
	}
	assert.deepEqual(server.requests.map((it) => it.headers.authorization), ['Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
});

test('arguments, environment, folder and lookup of the command', options, async (t) => {
	const server = await startProvider(t), dir = fs.realpathSync(tempDir(t, 'folder'));
	fs.writeFileSync(path.join(dir, 'own'), '#!/bin/sh\necho "$1-$MARK-$(basename "$PWD")"\n', { mode: 0o755 });
	const run = await ask(t, server, `command = "./own"\nargs = ["a'b"]\ncwd = "${dir}"`, { env: { MARK: 'mark' } });
	assert.equal(run.code, 0, run.stderr);
	assert.equal(server.requests[0].headers.authorization, `Bearer a'b-mark-${path.basename(dir)}`);
	const found = await ask(t, server, 'command = "printf"\nargs = ["  tok\\n\\n"]');
	assert.equal(found.code, 0, found.stderr);
	assert.equal(server.requests[1].headers.authorization, 'Bearer tok');
});

const failures = [
	['a command that fails', 'command = "sh"\nargs = ["-c", "echo why it failed >&2; exit 3"]',
		/provider auth command `sh` exited with status 3: why it failed/],
	['a command that is killed', 'command = "sh"\nargs = ["-c", "kill -9 $$"]', /provider auth command `sh` was ended by signal 9/],
	['a command that does not exist', 'command = "/nonexistent/x"', /`\/nonexistent\/x` failed to start: .*No such file/],
	['a command that prints nothing', 'command = "true"', /`true` produced an empty token/],
	['a command that prints lines', 'command = "printf"\nargs = ["a\\nb"]', /`printf` printed something that is not a token/],
	['a command that hangs', 'command = "sleep"\nargs = ["600"]\ntimeout_ms = 200', /`sleep` timed out after 200 ms/],
	['a command that floods', 'command = "yes"', /`yes` printed more than 65536 bytes/],
	['a command that floods its error output', 'command = "sh"\nargs = ["-c", "yes bad >&2"]\ntimeout_ms = 300', /timed out after 300 ms/],
];
for (const [name, keys, message] of failures) {
	test(`${name} ends the turn without a request`, options, async (t) => {
		const server = await startProvider(t);
		const run = await ask(t, server, keys);
		assert.equal(run.code, 1);
		assert.match(run.stderr, message);
		assert.match(run.stderr, /check \[model_providers\.\*\.auth\] of provider Own/);
		assert.ok(run.stderr.length < 20_000);
		assert.deepEqual(server.requests, []);
	});
}

const isAlive = (pid) => fs.existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${pid}/status`, 'utf8'));

test('processes that a hanging command has started end with it', options, async (t) => {
	const server = await startProvider(t), file = path.join(tempDir(t), 'pid');
	const script = `setsid sleep 600 & echo $! > ${file}; sleep 600`;
	const run = await ask(t, server, `command = "sh"\nargs = ["-c", "${script}"]\ntimeout_ms = 500`);
	assert.match(run.stderr, /timed out/);
	assert.ok(!isAlive(Number(fs.readFileSync(file, 'utf8'))));
});

test('a background process that keeps the output open does not delay the token', options, async (t) => {
	const server = await startProvider(t), file = path.join(tempDir(t), 'pid');
	const run = await ask(t, server, `command = "sh"\nargs = ["-c", "sleep 600 & echo $! > ${file}; echo tok"]\ntimeout_ms = 20000`);
	assert.equal(run.code, 0, run.stderr);
	assert.equal(server.requests[0].headers.authorization, 'Bearer tok');
	assert.ok(!isAlive(Number(fs.readFileSync(file, 'utf8'))));
});

test('the loop does not wait for the command', needs('app-server'), async (t) => {
	const server = await startProvider(t), dir = tempDir(t);
	const keys = `command = "sh"\nargs = ["-c", "touch ${dir}/runs; while [ ! -e ${dir}/go ]; do sleep 0.05; done; echo tok"]\ntimeout_ms = 50000`;
	const app = await startAppServer(t, null, { home: providerHome(t, config(server, keys)) });
	const { thread } = await app.request('thread/start', {});
	await app.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
	while (!fs.existsSync(`${dir}/runs`)) await new Promise((wake) => setTimeout(wake, 10));
	assert.ok(await app.request('thread/loaded/list', {})); // answered while the command runs
	assert.deepEqual(server.requests, []);
	fs.writeFileSync(`${dir}/go`, '');
	await app.next('turn/completed');
	assert.equal(server.requests[0].headers.authorization, 'Bearer tok');
});

test('an interrupt does not wait for the command, which goes on for the next turn', needs('app-server'), async (t) => {
	const server = await startProvider(t), dir = tempDir(t);
	const keys = `command = "sh"\nargs = ["-c", "echo x >> ${dir}/runs; while [ ! -e ${dir}/go ]; do sleep 0.05; done; echo tok"]\ntimeout_ms = 50000`;
	const app = await startAppServer(t, null, { home: providerHome(t, config(server, keys)) });
	const { thread } = await app.request('thread/start', {});
	const input = [{ type: 'text', text: 'hi', text_elements: [] }];
	const { turn } = await app.request('turn/start', { threadId: thread.id, input });
	while (!fs.existsSync(`${dir}/runs`)) await new Promise((wake) => setTimeout(wake, 10));
	await app.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	assert.equal((await app.next('turn/completed')).params.turn.status, 'interrupted');
	fs.writeFileSync(`${dir}/go`, '');
	await app.request('turn/start', { threadId: thread.id, input });
	assert.equal((await app.next('turn/completed')).params.turn.status, 'completed');
	assert.equal(fs.readFileSync(`${dir}/runs`, 'utf8'), 'x\n');
});

test('auth excludes the other keys', options, async (t) => {
	const server = await startProvider(t);
	const rows = [['env_key = "X"', 'env_key'], ['experimental_bearer_token = "x"', 'experimental_bearer_token'],
		['requires_openai_auth = true', 'requires_openai_auth']];
	for (const [more, key] of rows) {
		const run = await ask(t, server, 'command = "true"', { more });
		assert.equal(run.code, 1);
		assert.match(run.stderr, new RegExp(`model_providers\\.own: provider auth cannot be combined with ${key}`));
	}
	assert.match((await ask(t, server, 'command = " "')).stderr, /provider auth\.command must not be empty/);
	assert.match((await ask(t, server, 'command = "true"\ntimeout_ms = 0')).stderr, /timeout_ms/);
	assert.deepEqual(server.requests, []);
});

test('a project cannot name a command', options, async (t) => {
	const server = await startProvider(t), cwd = tempDir(t, 'project'), mark = path.join(cwd, 'mark');
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), auth(`command = "touch"\nargs = ["${mark}"]`));
	const home = providerHome(t, `base_url = "${server.url}/v1"\n[projects."${cwd}"]\ntrust_level = "trusted"`);
	const run = await codexExec(t, null, ['hi'], { home, cwd });
	assert.equal(run.code, 0, run.stderr);
	assert.ok(!fs.existsSync(mark));
});
