// `codex fleet …`, the command line of `codex worker`, and its administration.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexBin, launch, say, startModel, tempDir, cleanEnv, waitFor } from './lib/codex.mjs';
import { fleet, fleetBin, freePort, needsRedis, startRedis, startWorker } from './lib/fleet.mjs';

const only = needsRedis();
const lines = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

async function worker(t, args, env) {
	const home = tempDir(t, 'home');
	const program = launch(t, codexBin, ['worker', ...args], { env: cleanEnv(home, env) });
	return program.done;
}

test('submit, watch, ls, workers', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--max-sessions', '7'] });
	const submitted = await fleet(t, redis, ['submit', '--session', 's1', '--id', 't1', 'hi']);
	assert.equal(submitted.stdout, '{"session":"s1","id":"t1"}\n');
	const watched = await fleet(t, redis, ['watch', 's1', '--task', 't1']);
	assert.equal(watched.code, 0);
	const events = lines(watched.stdout);
	assert.deepEqual(Object.keys(events[0]), ['seq', 'id', 'msg']);
	assert.deepEqual(events.map(({ seq }) => seq), events.map((_, i) => i + 1));
	const rest = await fleet(t, redis, ['watch', 's1', '--after', '2', '--task', 't1']);
	assert.equal(lines(rest.stdout)[0].seq, 3);
	assert.deepEqual(lines((await fleet(t, redis, ['ls'])).stdout), [
		{ session: 's1', state: 'active', owner: 'a', seq: events.length, epoch: 1 }]);
	const [row] = lines((await fleet(t, redis, ['workers'])).stdout);
	assert.deepEqual(Object.keys(row), ['worker', 'host', 'pid', 'sessions', 'max', 'draining']);
	assert.deepEqual([row.worker, row.max, row.draining], ['a', 7, false]);
	assert.equal(row.pid, a.child.pid);
});

test('submit chooses ids, takes an operation, and the options may precede the word', only, async (t) => {
	const redis = await startRedis(t);
	const made = JSON.parse((await fleet(t, redis, ['submit', 'hi'])).stdout);
	assert.match(made.session, /^[0-9a-f-]{36}$/);
	assert.match(made.id, /^[0-9a-f-]{36}$/);
	await fleet(t, redis, ['--namespace', redis.ns, 'submit', '--session', 's1', '--op', '{"type":"interrupt"}']);
	const [[, [, sub]]] = await redis.call('XRANGE', redis.key('s:s1:sq'), '-', '+');
	assert.deepEqual(JSON.parse(sub).op, { type: 'interrupt' });
	assert.equal((await fleet(t, redis, ['submit'])).code, 2);
	assert.equal((await fleet(t, redis, ['submit', '--session', 'a:b', 'hi'])).code, 2);
	assert.equal((await fleet(t, redis, ['no-such'])).code, 2);
});

test('watch: 1 after turn_aborted, 3 if the events are not kept', only, async (t) => {
	const redis = await startRedis(t);
	const add = (id, event) => redis.call('XADD', redis.key('s:s1:eq'), id, 'ev', JSON.stringify(event));
	await add('5-0', { id: 't1', msg: { type: 'task_started' } });
	await add('6-0', { id: 't1', msg: { type: 'turn_aborted', reason: 'interrupted' } });
	assert.equal((await fleet(t, redis, ['watch', 's1', '--after', '4', '--task', 't1'])).code, 1);
	const late = await fleet(t, redis, ['watch', 's1', '--task', 't1']);
	assert.equal(late.code, 3);
	assert.match(late.stderr, /\b5\b/);
	assert.equal((await fleet(t, redis, ['watch', 's1', '--after', 'x'])).code, 2);
	await add('7-0', { id: 'e', msg: { type: 'shutdown_complete' } });
	assert.equal((await fleet(t, redis, ['watch', 's1', '--after', '4'])).code, 0);
});

test('drain and requeue: 1 without such a worker or session', only, async (t) => {
	const redis = await startRedis(t);
	assert.equal((await fleet(t, redis, ['drain', 'nobody'])).code, 1);
	assert.equal((await fleet(t, redis, ['requeue', 'nothing'])).code, 1);
});

test('no address, a bad namespace, a bad number: exit status 2', only, async (t) => {
	assert.equal((await worker(t, [])).code, 2);
	assert.equal((await worker(t, ['--redis', 'http://x'])).code, 2);
	assert.equal((await worker(t, ['--redis', 'redis://x', '--namespace', 'a b'])).code, 2);
	assert.equal((await worker(t, ['--redis', 'redis://x', '--lease-ms', '499'])).code, 2);
	assert.equal((await worker(t, ['--redis', 'redis://x', '--admin', '0.0.0.0:0'])).code, 2);
});

test('the wrong password ends a worker at once, and no message has it', only, async (t) => {
	const redis = await startRedis(t, { args: ['--port', '0', '--requirepass', 'right-secret'] }).catch(() => null);
	const server = redis ?? await startRedis(t);
	const port = await freePort();
	await server.call('AUTH', 'right-secret').catch(() => {});
	await server.call('CONFIG', 'SET', 'port', port);
	const { code, stderr } = await worker(t, ['--redis', `redis://:wrong-secret@127.0.0.1:${port}`]);
	assert.equal(code, 1);
	assert.match(stderr, new RegExp(`127.0.0.1:${port}`));
	assert.ok(!stderr.includes('wrong-secret'));
});

test('an ACL user with the documented rights is enough', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const redis = await startRedis(t, { ns: 'tenant.1' });
	await redis.call('ACL', 'SETUSER', 'tenant', 'on', '>p@ss', '~codex:{tenant.1}:*', '&*', '-@all', '+@read', '+@write',
		'+@scripting', '+@connection', '+@transaction', '+@blocking', '-@dangerous', '+info');
	const port = await freePort();
	await redis.call('CONFIG', 'SET', 'port', port);
	const url = `redis://tenant:p%40ss@127.0.0.1:${port}/0`;
	await startWorker(t, { ...redis, url }, model, { name: 'a' });
	const limited = { ...redis, url };
	assert.equal((await fleet(t, limited, ['submit', '--session', 's1', '--id', 't1', 'hi'])).code, 0);
	assert.equal((await fleet(t, limited, ['watch', 's1', '--task', 't1'])).code, 0);
	assert.equal((await fleet(t, limited, ['ls'])).code, 0);
	const keys = await redis.call('KEYS', '*');
	assert.ok(keys.every((key) => key.startsWith('codex:{tenant.1}:')), keys.join(' '));
});

test('--admin serves health, readiness and metrics', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--admin', '127.0.0.1:0'] });
	const url = await waitFor(a.child.stderr, () => a.result.stderr, (text) => /admin on (\S+)/.exec(text)?.[1]);
	const get = async (target) => {
		const answer = await fetch(url + target);
		return [answer.status, await answer.text()];
	};
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	assert.equal((await get('/healthz'))[0], 200);
	assert.equal((await get('/readyz'))[0], 200);
	assert.equal((await get('/other'))[0], 404);
	const [, text] = await get('/metrics');
	assert.match(text, /codex_worker_sessions\{namespace="default",worker="a"\} 1\n/);
	assert.match(text, /codex_worker_tasks_total\{namespace="default",worker="a"\} 1\n/);
	redis.child.kill('SIGKILL');
	await redis.server.done;
	while ((await get('/readyz'))[0] !== 503) await new Promise((resolve) => setTimeout(resolve, 20));
});

/** The words of commands that codex-fleet has, and the options with which they are called. */
const COMMANDS = [[['worker']], [['fleet', 'ls']], [['serve']], [['proto'], '--listen', 'http://127.0.0.1:0'], [['proto'], '--print-proto'],
	[['debug-client']], [['import']], [['app-server', 'generate-ts'], '--out', 'x'], [['app-server', 'generate-json-schema'], '--out', 'x']];

/** The program codex alone in a folder, without codex-fleet. */
function alone(t) {
	const dir = tempDir(t, 'alone');
	const program = path.join(dir, 'codex');
	fs.copyFileSync(codexBin, program);
	return { dir, call: (args, env) => spawnSync(program, args, { encoding: 'utf8', input: '', env: cleanEnv(dir, env) }) };
}

test('without codex-fleet its commands name the package, and print their help nevertheless', (t) => {
	const { call } = alone(t);
	for (const [words, ...options] of COMMANDS) {
		const name = words.join(' '), { status, stdout, stderr } = call([...words, ...options]);
		assert.deepEqual([status, stdout], [127, '']);
		assert.equal(stderr, `codex ${name}: cannot find codex-fleet: ` +
			'install the package codex-c-fleet, or unpack its tarball over this installation\n');
		const help = call([...words, ...options, '--help']);
		assert.deepEqual([help.status, help.stderr], [0, '']);
		assert.match(help.stdout, new RegExp(`^Usage: codex ${name} `, 'm'));
	}
	assert.equal(call(['proto', '--no-auto-configure']).status, 0);
});

test('codex-fleet is executed beside codex, in ../libexec/codex, or in $CODEX_LIBEXEC', (t) => {
	for (const place of ['codex-fleet', '../libexec/codex/codex-fleet', 'elsewhere/codex-fleet']) {
		const { dir, call } = alone(t);
		const bin = path.join(dir, 'bin');
		fs.mkdirSync(bin);
		fs.renameSync(path.join(dir, 'codex'), path.join(bin, 'codex'));
		fs.symlinkSync('bin/codex', path.join(dir, 'codex'));
		const fleetProgram = path.join(bin, place);
		fs.mkdirSync(path.dirname(fleetProgram), { recursive: true });
		fs.writeFileSync(fleetProgram, '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
		const { status, stdout, stderr } = call(['serve', '--listen', 'a b'], { CODEX_LIBEXEC: path.join(bin, 'elsewhere') });
		assert.deepEqual([status, stdout, stderr], [0, 'serve --listen a b\n', '']);
	}
});

test('a codex-fleet that cannot be executed is not passed over', (t) => {
	const { dir, call } = alone(t);
	fs.writeFileSync(path.join(dir, 'codex-fleet'), '', { mode: 0o644 });
	const { status, stderr } = call(['serve']);
	assert.equal(status, 1);
	assert.equal(stderr, `codex serve: cannot start ${dir}/codex-fleet: Permission denied\n`);
});

test('what is no folder is passed over, and a codex-fleet that cannot be looked at is named with the cause', (t) => {
	const { dir, call } = alone(t);
	const [bin, CODEX_LIBEXEC] = ['bin', 'lib'].map((name) => path.join(dir, name));
	for (const folder of [bin, CODEX_LIBEXEC]) fs.mkdirSync(folder);
	fs.renameSync(path.join(dir, 'codex'), path.join(bin, 'codex'));
	fs.symlinkSync('bin/codex', path.join(dir, 'codex'));
	fs.writeFileSync(path.join(dir, 'libexec'), '');
	fs.writeFileSync(path.join(CODEX_LIBEXEC, 'codex-fleet'), '#!/bin/sh\necho "ran $*"\n', { mode: 0o755 });
	assert.equal(call(['serve'], { CODEX_LIBEXEC }).stdout, 'ran serve\n');
	fs.symlinkSync('codex-fleet', path.join(bin, 'codex-fleet'));
	const { status, stdout, stderr } = call(['serve'], { CODEX_LIBEXEC });
	assert.deepEqual([status, stdout, stderr], [1, '', `codex serve: cannot start ${bin}/codex-fleet: Too many levels of symbolic links\n`]);
});

test('a codex-fleet that every user can write is not executed', (t) => {
	const { dir, call } = alone(t);
	fs.writeFileSync(path.join(dir, 'codex-fleet'), '#!/bin/sh\necho "ran $*"\n', { mode: 0o755 });
	assert.equal(call(['serve']).stdout, 'ran serve\n');
	assert.equal(call(['p', '--print-proto']).stdout, 'ran proto --print-proto\n', 'a synonym is passed on by its name');
	assert.equal(call(['app-server', 'generate-ts', '--out', 'x']).stdout, 'ran generate-ts --out x\n');
	assert.equal(call(['debug-client', '--', 'engine']).stdout,
		`ran debug-client --engine=${fs.realpathSync(dir)}/codex -- engine\n`, 'codex is the engine if no other is named');
	fs.chmodSync(path.join(dir, 'codex-fleet'), 0o757);
	const { status, stdout, stderr } = call(['serve']);
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, /^codex serve: cannot start \S+\/codex-fleet: it belongs to a user who is neither root nor you/);
});

const ROOTS = ['unshare', '--user', '--map-user=1234', 'sh', '-c'];
const lacksNames = spawnSync(ROOTS[0], [...ROOTS.slice(1), 'true']).status === 0 ? false : 'unshare cannot make a user name space';

test('in a user name space, which does not know root, codex-fleet is executed as well', { skip: lacksNames }, (t) => {
	const { dir } = alone(t);
	fs.writeFileSync(path.join(dir, 'codex-fleet'), '#!/bin/sh\nstat -c %u "$0"\n', { mode: 0o755 });
	const inside = (file) => spawnSync(ROOTS[0], [...ROOTS.slice(1), '"$0" serve', file], { encoding: 'utf8', env: cleanEnv(dir) });
	assert.deepEqual([inside(path.join(dir, 'codex')).stdout], ['1234\n'], 'of the user');
	if (process.getuid() !== 0) return;
	for (const name of ['codex', 'codex-fleet']) fs.chownSync(path.join(dir, name), 4321, 4321);
	const foreign = inside(path.join(dir, 'codex'));
	assert.deepEqual([foreign.stdout, foreign.stderr], ['65534\n', ''], 'of the owner of codex');
	fs.chownSync(path.join(dir, 'codex'), 0, 0);
	assert.match(inside(path.join(dir, 'codex')).stderr, /it belongs to a user who is neither root nor you/);
});

test('a codex-fleet of another version than codex refuses', (t) => {
	const call = (name) => spawnSync(fleetBin, ['serve', '--help'], { encoding: 'utf8', argv0: name, env: cleanEnv(tempDir(t, 'home')) });
	const version = spawnSync(codexBin, ['--version'], { encoding: 'utf8' }).stdout.trim().split(' ').pop();
	for (const name of ['codex-fleet', `codex-fleet-${version}`, 'codex-fleet-x86_64', 'codex-fleet-', '/usr/libexec/codex/codex-fleet'])
		assert.match(call(name).stdout, /^Usage: codex serve/m, name);
	const { status, stdout, stderr } = call('codex-fleet-99.0');
	assert.deepEqual([status, stdout], [1, '']);
	assert.equal(stderr, `codex-fleet: this is version ${version}, and codex calls for codex-fleet-99.0: ` +
		'install both in one version (codex --version, codex update)\n');
});
