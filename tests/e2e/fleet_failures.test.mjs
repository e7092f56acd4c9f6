// The failure table of docs/fleet.md that fleet.test.mjs does not have: Redis full, slow, unreachable, without its group, with keys of
// other types, after a failover; a full disk; TLS.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { makeCertificates } from './lib/certificates.mjs';
import { cleanEnv, codexBin, forever, launch, makeHome, reply, run, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { connect, freePort, isGapless, needsRedis, startRedis, startWorker, types } from './lib/fleet.mjs';

const only = needsRedis();
const count = (events, type) => types(events).filter((it) => it === type).length;

test('Redis is out of memory: nothing is lost, and work continues when there is room', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' })]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '15000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	await redis.call('CONFIG', 'SET', 'maxmemory', '1');
	await model.openGate('rest');
	await waitFor(a.child.stderr, () => a.result.stderr, (text) => /retrying: .*OOM/.test(text));
	await redis.call('CONFIG', 'SET', 'maxmemory', '0');
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(events.at(-1).msg.last_agent_message, 'Half and whole');
});

test('Redis stops for a while: nothing is lost or doubled', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' })]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	redis.child.kill('SIGSTOP');
	await model.openGate('rest');
	setTimeout(() => redis.child.kill('SIGCONT'), 300);
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'task_started'), 1);
});

test('Redis comes back older: the owner stores the missing events again, with the same numbers', only, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ delta: 'Two' }, { gate: 'rest' }, { delta: ' done' })]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '15000'] });
	await redis.submit('s1', 't1', 'first');
	await redis.untilEnd('s1', 't1');
	await redis.call('SAVE');
	await redis.submit('s1', 't2', 'second');
	const seen = await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta' && msg.delta === 'Two');
	redis.child.kill('SIGKILL');
	await redis.server.done;
	await model.openGate('rest');
	const again = await startRedis(t, { dir: redis.dir });
	const events = await again.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.deepEqual(events.slice(0, seen.length), seen);
	assert.equal((await again.hash('s1')).epoch, '1');
});

test('the group is destroyed: it is made again, and sessions are taken', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a' });
	await redis.call('XGROUP', 'DESTROY', redis.key('work'), 'workers');
	await redis.submit('s1', 't1', 'hi');
	assert.equal((await redis.untilEnd('s1', 't1')).at(-1).msg.type, 'task_complete');
});

test('keys of other types: the worker discards the entry and goes on with other sessions', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a' });
	await redis.call('SET', redis.key('s:bad'), 'text');
	await redis.call('XADD', redis.key('work'), '*', 'sid', 'bad');
	await redis.call('XADD', redis.key('work'), '*', 'sid', 'no:such*name');
	await redis.call('XADD', redis.key('work'), '*', 'other', 'field');
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	const pending = await redis.call('XPENDING', redis.key('work'), 'workers', '-', '+', 10);
	assert.equal(pending.length, 1);
	assert.equal(await redis.call('XLEN', redis.key('work')), 1);
});

test('Redis is not reachable at the start: exit status 1 after a few attempts, naming the address', only, async (t) => {
	const home = makeHome(t, null);
	const socket = path.join(tempDir(t, 'none'), 'none.sock');
	const program = launch(t, codexBin, ['worker', '--redis', `unix://${socket}`], { env: cleanEnv(home) });
	const { code, stderr } = await program.done;
	assert.equal(code, 1);
	assert.ok(stderr.includes(socket));
});

test('no file can be written: the session goes on, and another worker continues it', only, async (t) => {
	const model = await startModel(t, [run('echo one'), say('One.'), say('Two.')]);
	const redis = await startRedis(t);
	const home = makeHome(t, model);
	const small = launch(t, 'bash', ['-c', 'ulimit -f 1; exec "$@"', 'bash', codexBin, 'worker', '--redis', redis.url, '--name', 'a',
		'--lease-ms', '600', '-c', 'approval_policy="never"', '-c', 'sandbox_mode="danger-full-access"'],
	{ env: cleanEnv(home), cwd: tempDir(t, 'cwd') });
	await waitFor(small.child.stderr, () => small.result.stderr, (text) => text.includes('ready'));
	await redis.submit('s1', 't1', 'hi');
	const events = await redis.untilEnd('s1', 't1');
	assert.equal(events.at(-1).msg.last_agent_message, 'One.');
	small.child.kill('SIGKILL');
	await small.done;
	await startWorker(t, redis, model, { name: 'b' });
	await redis.submit('s1', 't2', 'again');
	await redis.untilEnd('s1', 't2');
	assert.match(JSON.stringify(model.requests()[2].body.input), /echo one[^]*One\./);
});

test('TLS: the certificate is verified, and the session runs', only, async (t) => {
	const files = makeCertificates(t);
	const model = await startModel(t, [say('Hello.')]);
	const port = await freePort();
	const redis = await startRedis(t, { args: ['--tls-port', port, '--tls-cert-file', files.serverCert, '--tls-key-file', files.serverKey,
		'--tls-ca-cert-file', files.ca, '--tls-auth-clients', 'no'] });
	const url = `rediss://127.0.0.1:${port}`;
	const worker = await startWorker(t, { ...redis, url }, model, { name: 'a', env: { CODEX_CA_CERTIFICATE: files.ca } });
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	assert.equal(worker.result.code, null);
	const home = makeHome(t, model);
	const stranger = launch(t, codexBin, ['fleet', 'ls', '--redis', url], { env: cleanEnv(home) });
	const { code, stderr } = await stranger.done;
	assert.equal(code, 1);
	assert.match(stderr, /TLS/);
});

// --- failover -------------------------------------------------------------------------------------------------------

/** A proxy from one address to the one that `target()` returns; cut() ends its connections. */
async function startProxy(t, target) {
	const sockets = new Set();
	const server = net.createServer((near) => {
		const far = net.connect(target());
		for (const socket of [near, far]) {
			sockets.add(socket);
			socket.on('error', () => {}).on('close', () => {
				near.destroy();
				far.destroy();
				sockets.delete(socket);
			});
		}
		near.pipe(far).pipe(near);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => {
		sockets.forEach((socket) => socket.destroy());
		server.close();
	});
	return { port: server.address().port, cut: () => sockets.forEach((socket) => socket.destroy()) };
}

test('Sentinel promotes a replica that lags: the owner stores what is missing, and nothing that a client has read is lost', only, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ delta: 'Two' }, { gate: 'rest' }, { delta: ' done' })]);
	const [first, second, watcher] = [await freePort(), await freePort(), await freePort()];
	const master = await startRedis(t, { args: ['--port', first] });
	const replica = await startRedis(t, { args: ['--port', second, '--replicaof', '127.0.0.1', first, '--repl-diskless-sync-delay', '0'] });
	const config = path.join(tempDir(t, 'sentinel'), 'sentinel.conf');
	fs.writeFileSync(config, `port ${watcher}\nbind 127.0.0.1\nsentinel monitor m 127.0.0.1 ${first} 1\n`
		+ 'sentinel down-after-milliseconds m 500\nsentinel failover-timeout m 5000\n');
	const sentinel = launch(t, 'redis-server', [config, '--sentinel'], { lifetime: 600_000 });
	await waitFor(sentinel.child.stdout, () => sentinel.result.stdout, (text) => text.includes('+slave slave'));
	let target = { host: '127.0.0.1', port: first };
	const proxy = await startProxy(t, () => target);
	const url = `redis://127.0.0.1:${proxy.port}`;
	await startWorker(t, { ...master, url }, model, { name: 'a', args: ['--lease-ms', '15000'] });
	await master.submit('s1', 't1', 'first');
	await master.untilEnd('s1', 't1');
	await master.call('WAIT', 1, 0);
	replica.child.kill('SIGSTOP'); // from here on it lags
	await master.submit('s1', 't2', 'second');
	const seen = await master.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta' && msg.delta === 'Two');
	master.child.kill('SIGKILL');
	await master.server.done;
	replica.child.kill('SIGCONT');
	await waitFor(sentinel.child.stdout, () => sentinel.result.stdout, (text) => text.includes('+switch-master'));
	target = { host: '127.0.0.1', port: second };
	proxy.cut();
	await model.openGate('rest');
	const events = await replica.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.deepEqual(events.slice(0, seen.length), seen);
	assert.equal((await replica.hash('s1')).epoch, '1');
});

test('a replica in place of the server (READONLY): the worker connects again until it finds the master', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const [first, second] = [await freePort(), await freePort()];
	await startRedis(t, { args: ['--port', first] });
	const replica = await startRedis(t, { args: ['--port', second, '--replicaof', '127.0.0.1', first] });
	const link = connect({ host: '127.0.0.1', port: second });
	t.after(() => link.end());
	const worker = await startWorker(t, replica, model, { name: 'a', waits: false });
	await new Promise((resolve) => setTimeout(resolve, 300));
	await link.call('REPLICAOF', 'NO', 'ONE');
	await waitFor(worker.child.stderr, () => worker.result.stderr, (text) => text.includes('ready'));
	await replica.submit('s1', 't1', 'hi');
	await replica.untilEnd('s1', 't1');
});
