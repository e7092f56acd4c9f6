// Rows of the guarantee and failure tables of docs/fleet.md that the other files do not have: AOF that loses its end, a partition,
// pauses, clocks that differ, a cluster's node, no free worker, commands that kill their worker; damaged logs, foreign folders.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { forever, makeHome, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { isGapless, needsRedis, startRedis, startWorker, types } from './lib/fleet.mjs';
import { startFaults } from './lib/fleet_faults.mjs';

const only = needsRedis();
const NEVER = ['-c', 'approval_policy="never"'];
const count = (events, type) => types(events).filter((it) => it === type).length;
const half = [{ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' }];
const isHalf = ({ msg }) => msg.type === 'agent_message_content_delta' && msg.delta === 'Half';
const kill = async (worker) => {
	worker.child.kill('SIGKILL');
	await worker.done;
};
const until = async (test) => {
	while (!await test()) await new Promise((resolve) => setTimeout(resolve, 20));
};

// --- persistence ----------------------------------------------------------------------------------------------------

/** The file of the AOF that is written to. */
const aofOf = (dir) => path.join(dir, 'appendonlydir', fs.readdirSync(path.join(dir, 'appendonlydir')).find((name) => name.endsWith('.incr.aof')));

test('appendfsync everysec loses the end of the AOF: events keep their numbers, and only submissions that nobody applied are gone', only, async (t) => {
	const args = ['--appendonly', 'yes', '--appendfsync', 'everysec'];
	const model = await startModel(t, [say('One.'), reply(...half), forever(say('Later.'))]);
	const redis = await startRedis(t, { args });
	await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '15000', '--max-sessions', '1'] });
	await redis.submit('s1', 't1', 'first');
	await redis.untilEnd('s1', 't1');
	const synced = fs.statSync(aofOf(redis.dir)).size; // a machine that loses power may have no more than this
	await redis.submit('s1', 't2', 'second');
	await redis.submit('s2', 'lost', 'nobody has applied this');
	const seen = await redis.until('s1', isHalf);
	redis.child.kill('SIGKILL');
	await redis.server.done;
	fs.truncateSync(aofOf(redis.dir), synced);
	const again = await startRedis(t, { dir: redis.dir, args });
	await model.openGate('rest');
	const events = await again.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.deepEqual(events.slice(0, seen.length), seen);
	assert.equal(count(events, 'task_complete'), 2);
	assert.equal(await again.call('EXISTS', again.key('s:s2:sq')), 0); // what fleet.md says may be lost
	await again.submit('s1', 't3', 'third');
	assert.ok(isGapless(await again.untilEnd('s1', 't3')));
});

test('appendfsync always: a killed server has lost nothing that was acknowledged', only, async (t) => {
	const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
	const model = await startModel(t, [reply(...half), forever(say('Done.'))]);
	const redis = await startRedis(t, { args });
	await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '15000', '--max-sessions', '1', '--idle-ms', '0'] });
	await redis.submit('s1', 't1', 'first');
	const seen = await redis.until('s1', isHalf);
	await redis.submit('s2', 't1', 'nobody has applied this');
	redis.child.kill('SIGKILL');
	await redis.server.done;
	const again = await startRedis(t, { dir: redis.dir, args });
	assert.deepEqual((await again.events('s1')).slice(0, seen.length), seen);
	await model.openGate('rest');
	assert.ok(isGapless(await again.untilEnd('s1', 't1')));
	await again.untilEnd('s2', 't1');
});

test('a node of a cluster: one namespace is one slot', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t, { args: ['--cluster-enabled', 'yes'] });
	await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
	await until(async () => (await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '0'] });
	await redis.submit('s1', 't1', 'hi');
	await redis.untilHash('s1', ({ state, seq }) => state === 'idle' && seq > 1);
	await redis.submit('s1', 't2', 'hi');
	assert.ok(isGapless(await redis.untilEnd('s1', 't2')));
	await kill(a);
});

// --- partitions, pauses, clocks -------------------------------------------------------------------------------------

test('a partition longer than the lease: another worker takes over, and the old one is fenced and works on', only, async (t) => {
	const sleeps = reply({ call: 'exec_command', arguments: { cmd: 'echo $$ > pid; exec sleep 60' }, call_id: 'c1' });
	const model = await startModel(t, [sleeps, forever(say('Done.'))]);
	const redis = await startRedis(t);
	let isCut = false;
	const faults = await startFaults(t, redis, () => (isCut ? { cut: 'before' } : undefined));
	const a = await startWorker(t, faults, model, { name: 'a', args: [...NEVER, '--admin', '127.0.0.1:0'] });
	const admin = /admin on (\S+)/.exec(a.result.stderr)[1];
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'exec_command_begin');
	const pid = path.join(a.cwd, 'pid');
	await until(() => fs.existsSync(pid) && fs.readFileSync(pid, 'utf8').trim());
	isCut = true;
	faults.cut();
	await until(async () => (await fetch(`${admin}/readyz`)).status === 503);
	const b = await startWorker(t, redis, model, { name: 'b', args: NEVER });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'exec_command_end'), 1);
	assert.equal((await redis.hash('s1')).owner, 'b');
	isCut = false;
	await until(async () => /fenced_total\{[^}]*\} 1/.test(await (await fetch(`${admin}/metrics`)).text()));
	await until(() => !fs.existsSync(`/proc/${fs.readFileSync(pid, 'utf8').trim()}`)); // it ended its command
	assert.equal((await redis.events('s1')).filter(({ msg }) => msg.type === 'task_complete').length, 1);
	await kill(b);
	await redis.submit('s2', 't1', 'hi');
	await redis.untilEnd('s2', 't1');
});

test('Redis goes away: commands wait once 1 MiB of events is not stored, and go on when Redis is back', only, async (t) => {
	const names = ['a', 'b', 'c']; // the output of one call has at most 1 MB of events
	const writer = (name) => ({ call: 'exec_command', call_id: name, arguments: { yield_time_ms: 60_000,
		cmd: `while [ ! -e away ]; do sleep 0.05; done; i=0; while [ $i -lt 400 ]; do printf "%65536s" x; i=$((i+1)); echo $i > ${name}; done` } });
	const model = await startModel(t, [reply(...names.map(writer)), forever(say('Done.'))]);
	const redis = await startRedis(t);
	let isCut = false;
	const faults = await startFaults(t, redis, () => (isCut ? { cut: 'before' } : undefined));
	const a = await startWorker(t, faults, model, { name: 'a', args: [...NEVER, '--lease-ms', '600000'] });
	const progress = () => names.map((name) => path.join(a.cwd, name))
		.reduce((sum, file) => sum + (fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0), 0);
	await redis.submit('s1', 't1', 'work');
	for (const name of names) await redis.until('s1', ({ msg }) => msg.type === 'exec_command_begin' && msg.call_id === name);
	isCut = true;
	faults.cut();
	fs.writeFileSync(path.join(a.cwd, 'away'), '');
	await until(async () => {
		const before = progress();
		await new Promise((resolve) => setTimeout(resolve, 400));
		return before && before === progress();
	});
	assert.ok(progress() < 1200, `they wrote all of ${progress()} parts`);
	isCut = false;
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(progress(), 1200);
	assert.equal(count(events, 'exec_command_end'), 3);
});

test('Redis does not answer: after 10 seconds the connection counts as broken, and the call is made again', only, async (t) => {
	const model = await startModel(t, [reply(...half)]);
	const redis = await startRedis(t);
	let held = 0;
	const faults = await startFaults(t, redis, (kind, words) =>
		(kind === 'emit' && words.some((word) => word.includes('"Half"')) && !held++ ? { hold: new Promise(() => {}) } : undefined));
	await startWorker(t, faults, model, { name: 'a', args: ['--lease-ms', '60000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	await model.openGate('rest');
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(held > 1);
	assert.ok(isGapless(events));
	assert.equal(count(events, 'warning'), 0);
});

test('a worker that pauses for less than the lease: nothing is seen of it', only, async (t) => {
	const model = await startModel(t, [reply(...half)]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '60000'] });
	await startWorker(t, redis, model, { name: 'b', args: ['--lease-ms', '60000', '--max-sessions', '1'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	a.child.kill('SIGSTOP');
	await model.openGate('rest');
	await new Promise((resolve) => setTimeout(resolve, 300));
	a.child.kill('SIGCONT');
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'warning'), 0);
	assert.equal((await redis.hash('s1')).epoch, '1');
});

test('clocks of workers that differ by a day do not matter: Redis measures leases', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), forever(say('Done.'))]);
	const redis = await startRedis(t);
	const shifted = (by) => startFaults(t, redis, (kind, words) => {
		const at = { take: 12, emit: 13, renew: 11 }[kind]; // the only words that have the worker's time
		if (!at) return undefined;
		assert.ok(Math.abs(Number(words[at]) - Date.now()) < 60_000, `${kind}: word ${at} is no time`);
		return { words: words.with(at, String(Number(words[at]) + by)) };
	});
	const day = 24 * 3600 * 1000;
	const a = await startWorker(t, await shifted(day), model, { name: 'a' });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	const b = await startWorker(t, await shifted(-day), model, { name: 'b' });
	await redis.submit('s1', 'note', 'more'); // goes to the owner, which lives
	await until(async () => (await redis.hash('s1')).applied > '0-0');
	assert.equal((await redis.hash('s1')).epoch, '1');
	await kill(a);
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal((await redis.hash('s1')).owner, 'b');
	assert.equal(b.result.code, null);
});

// --- work -----------------------------------------------------------------------------------------------------------

test('a command that kills its worker is reported as interrupted and runs once', only, async (t) => {
	const model = await startModel(t, [
		reply({ call: 'exec_command', arguments: { cmd: 'echo once >> ran; kill -9 $(cat worker)' }, call_id: 'c1' }), forever(say('Done.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER });
	fs.writeFileSync(path.join(a.cwd, 'worker'), String(a.child.pid));
	await redis.submit('s1', 't1', 'work');
	await a.done;
	await startWorker(t, redis, model, { name: 'b', args: NEVER, cwd: a.cwd });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(events.find(({ msg }) => msg.type === 'exec_command_end').msg.exit_code, -1);
	assert.equal(fs.readFileSync(path.join(a.cwd, 'ran'), 'utf8'), 'once\n');
});

test('without a free worker a submission waits in work, and the lag of the group shows it', only, async (t) => {
	const model = await startModel(t, [reply(...half), forever(say('Done.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--max-sessions', '1', '--idle-ms', '0'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	await redis.submit('s2', 't1', 'hi');
	const [group] = await redis.call('XINFO', 'GROUPS', redis.key('work'));
	assert.equal(group[group.indexOf('lag') + 1], 1);
	assert.deepEqual(await redis.hash('s2'), {});
	await model.openGate('rest');
	await redis.untilEnd('s2', 't1');
});

test('an interrupt that is submitted between two owners ends the task once', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), forever(reply({ delta: 'Again' }, { hang: true }))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	await kill(a);
	await redis.submitOp('s1', 'stop', { type: 'interrupt' });
	await startWorker(t, redis, model, { name: 'b' });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(events.at(-1).msg.type, 'turn_aborted');
	assert.equal(count(events, 'task_started'), 1);
});

test('the number of events in Redis is higher than the owner\'s: it drops the session and writes nothing', only, async (t) => {
	const model = await startModel(t, [reply(...half), forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '60000', '--admin', '127.0.0.1:0'] });
	const admin = /admin on (\S+)/.exec(a.result.stderr)[1];
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	const { length } = await redis.events('s1');
	await redis.call('HINCRBY', redis.key('s:s1'), 'seq', 5);
	await model.openGate('rest');
	await until(async () => /fenced_total\{[^}]*\} 1/.test(await (await fetch(`${admin}/metrics`)).text()));
	assert.equal((await redis.events('s1')).length, length);
	await redis.submit('s2', 't1', 'hi');
	await redis.untilEnd('s2', 't1');
});

test('a second signal ends a worker that drains at once; another one continues its task', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), forever(say('Done.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--drain-ms', '3600000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', isHalf);
	a.child.kill('SIGTERM');
	await until(async () => (await redis.call('HGET', redis.key('w:a'), 'draining')) === '1');
	a.child.kill('SIGTERM');
	await a.done;
	await startWorker(t, redis, model, { name: 'b' });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'task_complete'), 1);
});

test('a submission behind a shutdown opens the session again', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	await redis.call('MULTI');
	for (const [id, op] of [['end', { type: 'shutdown' }], ['t2', { type: 'user_input', items: [{ type: 'text', text: 'behind' }] }]])
		await redis.call('XADD', redis.key('s:s1:sq'), '*', 'sub', JSON.stringify({ id, op }));
	await redis.call('XADD', redis.key('work'), '*', 'sid', 's1');
	await redis.call('EXEC');
	const events = await redis.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.deepEqual(events.filter(({ msg }) => ['shutdown_complete', 'task_complete'].includes(msg.type)).map(({ id }) => id), ['t1', 'end', 't2']);
});

test('a damaged line of the log is skipped, and the session goes on', only, async (t) => {
	const model = await startModel(t, [say('One.'), forever(say('Two.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '0'] });
	await redis.submit('s1', 't1', 'first');
	await redis.untilHash('s1', ({ state, seq }) => state === 'idle' && seq > 1);
	const damaged = ['no JSON {', '{"type":"fleet","payload":{"kind":"line","thread":7,"line":[]}}', '{"type":"fleet","payload":{"kind":"event"',
		'{"type":"fleet","payload":{"kind":"event","event":{"type":"exec_command_begin","call_id":"x"}}}', ''];
	for (const line of damaged) {
		const lines = await redis.call('HINCRBY', redis.key('s:s1'), 'lines', 1);
		await redis.call('XADD', redis.key('s:s1:log'), `${lines}-0`, 'l', line);
	}
	await redis.submit('s1', 't2', 'second');
	await redis.untilEnd('s1', 't2');
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /first[^]*One\.[^]*second/);
	assert.equal(a.result.code, null);
});

for (const stream of ['log', 'pack']) {
	test(`an entry of s:SID:${stream} without text: the session is put aside, not read for ever, and others go on`, only, async (t) => {
		const model = await startModel(t, [forever(say('Hello.'))]);
		const redis = await startRedis(t);
		const a = await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '0', '--max-crashes', '2', '--lease-ms', '500'] });
		await redis.submit('s1', 't1', 'first');
		await redis.untilHash('s1', ({ state, seq }) => state === 'idle' && seq > 1);
		await redis.call('XADD', redis.key(`s:s1:${stream}`), stream === 'log' ? '*' : '1-0', 'other', 'x');
		await redis.submit('s1', 't2', 'second');
		await redis.until('s1', ({ msg }) => msg.type === 'error' && /put aside/.test(msg.message));
		assert.equal(a.result.stderr.split('session s1: an entry of the log of this session has no text').length, 3);
		await redis.submit('s2', 't1', 'hi');
		await redis.untilEnd('s2', 't1');
	});
}

// --- folders --------------------------------------------------------------------------------------------------------

test('a worker removes the folders of killed workers of its user, and nothing else in TMPDIR', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const tmp = tempDir(t, 'tmp');
	const make = (name, mode, lock) => {
		const dir = path.join(tmp, name);
		fs.mkdirSync(dir);
		fs.writeFileSync(path.join(dir, 'file'), 'text');
		if (lock) fs.writeFileSync(path.join(dir, 'lock'), '');
		fs.chmodSync(dir, mode);
		return dir;
	};
	const stale = make('codex-worker-stale', 0o700, true);
	const kept = [make('codex-worker-open', 0o755, true), make('codex-worker-nolock', 0o700, false), make('other', 0o700, true)];
	if (process.getuid() === 0) {
		const foreign = make('codex-worker-foreign', 0o700, true);
		fs.chownSync(foreign, 12345, 12345);
		kept.push(foreign);
	}
	const target = make('target', 0o700, true);
	fs.symlinkSync(target, path.join(tmp, 'codex-worker-link'));
	kept.push(target, path.join(tmp, 'codex-worker-link'));
	await startWorker(t, redis, model, { name: 'a', home: makeHome(t, model), env: { TMPDIR: tmp } });
	assert.ok(!fs.existsSync(stale));
	for (const dir of kept) assert.ok(fs.existsSync(path.join(dir, 'file')), dir);
});
