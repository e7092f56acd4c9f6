// Sessions that rest shrink: their log is packed when they are let go, and their events are trimmed.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { cleanEnv, codexBin, forever, launch, makeHome, reply, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { isGapless, needsRedis, startRedis, startWorker, types } from './lib/fleet.mjs';
import { startFaults } from './lib/fleet_faults.mjs';

const only = needsRedis();
const NEVER = ['-c', 'approval_policy="never"', '--idle-ms', '0'];
const long = (word) => `${word} ${Array.from({ length: 4000 }, (_, i) => `word${i}`).join(' ')}`;
const input = (model) => JSON.stringify(model.requests().at(-1).body.input);
const idle = (redis, sid, epoch) => redis.untilHash(sid, (it) => it.state === 'idle' && it.epoch === String(epoch));
const size = async (redis, ...keys) => {
	const sizes = await Promise.all(keys.map((key) => redis.call('MEMORY', 'USAGE', redis.key(key), 'SAMPLES', '0')));
	return sizes.reduce((sum, bytes) => sum + (bytes ?? 0), 0);
};

/** Numbers of the lines that the two parts of the log have: [packed up to, number of lines in the rest, last line]. */
async function parts(redis, sid) {
	const number = ([id]) => Number(id.split('-')[0]);
	const packed = (await redis.call('XRANGE', redis.key(`s:${sid}:pack`), '-', '+')).map(number).at(-1) ?? 0;
	const rest = (await redis.call('XRANGE', redis.key(`s:${sid}:log`), '-', '+')).map(number);
	rest.forEach((line, i) => assert.equal(line, packed + 1 + i));
	assert.equal((await redis.hash(sid)).lines, String(packed + rest.length));
	return [packed, rest.length];
}

/** Runs one long task and waits until its session was let go. */
async function rest(redis, sid = 's1', id = 't1', epoch = 1) {
	await redis.submit(sid, id, long(`first-${id}`));
	await redis.untilEnd(sid, id);
	await idle(redis, sid, epoch);
}

test('the log of a session that was let go is packed, and the session continues from it', only, async (t) => {
	const model = await startModel(t, [say('One.'), forever(say('Two.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '300', '-c', 'approval_policy="never"'] });
	await redis.submit('s1', 't1', long('first-t1'));
	await redis.untilEnd('s1', 't1');
	const before = await size(redis, 's:s1:log');
	await idle(redis, 's1', 1);
	const [packed, left] = await parts(redis, 's1');
	assert.ok(packed > 0);
	assert.equal(left, 0);
	assert.ok(await size(redis, 's:s1:log', 's:s1:pack') < before / 2);
	a.child.kill('SIGTERM');
	await a.done;
	await startWorker(t, redis, model, { name: 'b', args: NEVER }); // another home
	await redis.submit('s1', 't1', 'this id was applied');
	await redis.submit('s1', 't2', 'second');
	const events = await redis.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.equal(types(events).filter((type) => type === 'task_complete').length, 2);
	assert.match(input(model), /first-t1[^]*One\.[^]*second/);
	assert.doesNotMatch(input(model), /this id was applied/);
});

test('a worker is lost after a packed log was loaded: the task goes on with the whole history', only, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ delta: 'Half' }, { hang: true }), say('Two.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER });
	await rest(redis);
	await redis.submit('s1', 't2', 'second');
	await redis.until('s1', ({ id, msg }) => id === 't2' && msg.type === 'agent_message_content_delta');
	a.child.kill('SIGKILL');
	await a.done;
	await startWorker(t, redis, model, { name: 'b', args: NEVER });
	const events = await redis.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.match(input(model), /first-t1[^]*One\.[^]*second/);
});

test('Redis comes back empty after a packed log was loaded: the owner writes the whole log again', only, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' }), say('Three.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: NEVER });
	await rest(redis);
	await redis.submit('s1', 't2', 'second');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta' && msg.delta === 'Half');
	await redis.call('FLUSHALL');
	await model.openGate('rest');
	await redis.untilHash('s1', ({ state, seq }) => state === 'idle' && seq);
	await parts(redis, 's1');
	await redis.submit('s1', 't3', 'third');
	await redis.untilEnd('s1', 't3', { after: Number((await redis.hash('s1')).seq) });
	assert.match(input(model), /first-t1[^]*One\.[^]*second[^]*Half and whole[^]*third/);
});

for (const cut of ['before', 'after']) {
	test(`a worker dies ${cut} it packs: the log is whole, and the next owner packs it`, only, async (t) => {
		const model = await startModel(t, [say('One.'), forever(say('Two.'))]);
		const redis = await startRedis(t);
		let dies;
		const died = new Promise((resolve) => (dies = resolve));
		const faults = await startFaults(t, redis, (kind) => {
			if (kind !== 'pack') return undefined;
			dies();
			return { cut };
		});
		const a = await startWorker(t, faults, model, { name: 'a', args: NEVER });
		await redis.submit('s1', 't1', long('first-t1'));
		await died;
		if (cut === 'after') while (!(await redis.call('XLEN', redis.key('s:s1:pack')))) await new Promise(setImmediate);
		a.child.kill('SIGKILL');
		await a.done;
		const [packed] = await parts(redis, 's1');
		assert.equal(packed > 0, cut === 'after');
		await startWorker(t, redis, model, { name: 'b', args: NEVER });
		await redis.submit('s1', 't2', 'second');
		await redis.untilEnd('s1', 't2');
		assert.match(input(model), /first-t1[^]*One\.[^]*second/);
		await redis.untilHash('s1', ({ state }) => state === 'idle');
		assert.ok((await parts(redis, 's1'))[0] > 0);
	});
}

test('many lines are packed in several parts, and read in several parts', only, async (t) => {
	const model = await startModel(t, [forever(say('Again.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: NEVER });
	for (let i = 1; i <= 7; i++) await rest(redis, 's1', `t${i}`, i);
	assert.equal(await redis.call('XLEN', redis.key('s:s1:pack')), 7);
	await redis.submit('s1', 'last', 'last');
	await redis.untilEnd('s1', 'last');
	for (let i = 1; i <= 7; i++) assert.match(input(model), new RegExp(`first-t${i} `));
});

test('a packed part that is damaged, or that unpacks to too much: the session is put aside, others go on', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: [...NEVER, '--max-crashes', '1', '--lease-ms', '500'] });
	await rest(redis);
	const last = (await redis.call('XRANGE', redis.key('s:s1:pack'), '-', '+')).at(-1)[0];
	await redis.call('XADD', redis.key('s:s1:pack'), `${last.split('-')[0]}-1`, 'z', 'no frame of zstd');
	await redis.submit('s1', 't2', 'second');
	await waitFor(a.child.stderr, () => a.result.stderr, (text) => /session s1: a packed part of its log is damaged/.test(text));
	await redis.submit('s2', 't1', 'hi');
	await redis.untilEnd('s2', 't1');
	const events = await redis.until('s1', ({ msg }) => msg.type === 'error');
	assert.match(events.at(-1).msg.message, /put aside/);
	assert.equal((await redis.hash('s1')).state, 'dead');
});

test('a task whose log cannot be read by its next owner is not left without an end: the session is put aside', only, async (t) => {
	const model = await startModel(t, [say('One.'), forever(reply({ delta: 'Half' }, { hang: true }))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER });
	await rest(redis);
	await redis.submit('s1', 't2', 'second');
	await redis.until('s1', ({ id, msg }) => id === 't2' && msg.type === 'agent_message_content_delta');
	a.child.kill('SIGKILL');
	await a.done;
	const last = (await redis.call('XRANGE', redis.key('s:s1:pack'), '-', '+')).at(-1)[0];
	await redis.call('XADD', redis.key('s:s1:pack'), `${last.split('-')[0]}-1`, 'z', 'no frame of zstd');
	await startWorker(t, redis, model, { name: 'b', args: [...NEVER, '--max-crashes', '2', '--lease-ms', '500'] });
	await redis.until('s1', ({ msg }) => msg.type === 'error' && /put aside/.test(msg.message));
});

/** Workers that cannot open a session which others can: each starts one of this name. */
const unable = {
	'without libzstd': (t, redis, model, name, args) => {
		const folder = tempDir(t, 'lib');
		fs.writeFileSync(path.join(folder, 'libzstd.so.1'), 'not a library');
		return startWorker(t, redis, model, { name, args, env: { LD_LIBRARY_PATH: folder } });
	},
	'whose disks are full': async (t, redis, model, name, args) => {
		const worker = launch(t, 'bash', ['-c', 'ulimit -f 1; exec "$@"', 'bash', codexBin, 'worker', '--redis', redis.url, '--name', name,
			'--lease-ms', '600', ...args], { env: cleanEnv(makeHome(t, model)), cwd: tempDir(t, 'cwd'), lifetime: 600_000 });
		await waitFor(worker.child.stderr, () => worker.result.stderr, (text) => text.includes('ready'));
		return worker;
	},
};
for (const [what, start] of Object.entries(unable)) {
	test(`a worker ${what} leaves a session to others, which continue its task; it does not count as a lost worker`, only, async (t) => {
		const model = await startModel(t, [say('One.'), reply({ delta: 'Half' }, { hang: true }), forever(say('Two.'))]);
		const redis = await startRedis(t);
		const args = [...NEVER, '--max-crashes', '2'];
		const a = await startWorker(t, redis, model, { name: 'a', args });
		await rest(redis);
		await redis.submit('s1', 't2', 'second');
		await redis.until('s1', ({ id, msg }) => id === 't2' && msg.type === 'agent_message_content_delta');
		a.child.kill('SIGKILL');
		await a.done;
		const b = await start(t, redis, model, 'b', args);
		await waitFor(b.child.stderr, () => b.result.stderr, (text) => text.includes('session s1 is left to other workers'));
		await redis.untilHash('s1', ({ owner, state, epoch }) => owner === 'a' && state === 'active' && epoch === '3'); // as if it had not been taken
		await startWorker(t, redis, model, { name: 'c', args: [...args, '--lease-ms', '3000'] }); // longer than that of b
		const events = await redis.untilEnd('s1', 't2');
		assert.ok(isGapless(events));
		assert.match(events.find(({ msg }) => msg.type === 'warning').msg.message, /\ba\b/);
		assert.match(input(model), /first-t1[^]*One\.[^]*second/);
		assert.equal(b.result.stderr.split('is left to').length, 2, b.result.stderr); // it did not try again
		assert.equal(await redis.call('XLEN', redis.key('dead')), 0);
		await redis.untilHash('s1', ({ state }) => state === 'idle');
		await redis.submit('s1', 't3', 'third'); // either of them may be given this entry
		await redis.untilEnd('s1', 't3');
		b.child.kill('SIGTERM');
		assert.equal((await b.done).code, 0);
	});
}

test('without libzstd a log stays as it is, and its session is let go and continued', only, async (t) => {
	const model = await startModel(t, [forever(say('Two.'))]);
	const redis = await startRedis(t);
	const a = await unable['without libzstd'](t, redis, model, 'a', NEVER);
	await rest(redis); // its libcurl lacks libzstd as well, so the task fails
	const [packed, left] = await parts(redis, 's1');
	assert.equal(packed, 0);
	a.child.kill('SIGTERM');
	assert.equal((await a.done).code, 0);
	await startWorker(t, redis, model, { name: 'b', args: NEVER });
	await redis.submit('s1', 't2', 'second');
	await redis.untilEnd('s1', 't2');
	assert.match(input(model), /first-t1[^]*second/);
	await idle(redis, 's1', 2);
	assert.ok((await parts(redis, 's1'))[0] >= left); // a worker that has it packs what was left
});

test('only the owner packs, and only lines that are there', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	let sha;
	const faults = await startFaults(t, redis, (kind, words) => void (sha = kind === 'pack' ? words[1] : sha));
	await startWorker(t, faults, model, { name: 'a', args: NEVER });
	await rest(redis);
	await rest(redis, 's2');
	await redis.submit('s2', 't2', 'short'); // its lines are too few to be packed
	await redis.untilEnd('s2', 't2');
	await idle(redis, 's2', 2);
	const before = await parts(redis, 's2');
	await redis.call('HSET', redis.key('s:s2'), 'owner', 'x');
	const pack = (...args) => redis.call('EVALSHA', sha, 1, redis.key('work'), 's2', ...args);
	assert.equal(await pack(1, 'x', before[0] + 1, before[0] + 2, 'z'), 'fenced');
	assert.equal(await pack(2, 'y', before[0] + 1, before[0] + 2, 'z'), 'fenced');
	assert.equal(await pack(2, 'x', before[0] + 2, before[0] + 3, 'z'), 'other');
	assert.equal(await pack(2, 'x', before[0] + 1, before[0] + 9999, 'z'), 'other');
	assert.deepEqual(await parts(redis, 's2'), before);
});

const large = (word) => `${word} ${'x'.repeat(700_000)}`;

test('what one call reads of a log is bounded by bytes, but for the first line', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const reads = [];
	const faults = await startFaults(t, redis, (kind, words) => void (kind === 'read :log' && reads.push(words)));
	await startWorker(t, faults, model, { name: 'a', args: NEVER });
	await rest(redis, 's1', 't1');
	const [, sha, , work, , , , count, bytes] = reads[0];
	assert.deepEqual([count, bytes], ['256', String(1 << 20)]);
	const read = (after) => redis.call('EVALSHA', sha, 1, work, 'x', ':log', after, count, bytes);
	for (const size of [3 << 20, 400_000, 400_000, 400_000]) await redis.call('XADD', redis.key('s:x:log'), '*', 'l', 'x'.repeat(size));
	const seen = [];
	for (let after = '0-0', more = 1; more;) {
		const [has, entries] = await read(after);
		seen.push(entries.length);
		after = entries.at(-1)?.[0] ?? after;
		more = has;
	}
	assert.deepEqual(seen, [1, 2, 1]);
	reads.length = 0;
	await redis.submit('s2', 't1', large('big')); // its lines are packed, and read again, in parts
	await redis.untilEnd('s2', 't1');
	await idle(redis, 's2', 1);
	assert.ok(reads.length > 2, `${reads.length} reads`);
	await redis.submit('s2', 't2', 'second');
	await redis.untilEnd('s2', 't2');
	assert.match(input(model), /big xxx[^]*second/);
});

test('a worker that drains packs no further part', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	let packs = 0, pass, begin;
	const [passed, began] = [new Promise((resolve) => (pass = resolve)), new Promise((resolve) => (begin = resolve))];
	const faults = await startFaults(t, redis, (kind) => {
		if (kind !== 'pack') return undefined;
		packs++;
		begin();
		return { hold: passed };
	});
	const a = await startWorker(t, faults, model, { name: 'a', args: [...NEVER, '--lease-ms', '60000', '--admin', '127.0.0.1:0'] });
	const admin = /admin on (\S+)/.exec(a.result.stderr)[1];
	await redis.submit('s1', 't1', large('first-t1'));
	await began;
	a.child.kill('SIGTERM');
	while ((await fetch(`${admin}/readyz`)).status !== 503) await new Promise(setImmediate);
	pass();
	assert.equal((await a.done).code, 0);
	assert.equal(packs, 1);
	const [packed, left] = await parts(redis, 's1');
	assert.ok(packed > 0 && left > 0, `${packed} ${left}`);
	assert.equal((await redis.hash('s1')).state, 'idle');
	await startWorker(t, redis, model, { name: 'b', args: NEVER });
	await redis.submit('s1', 't2', 'second');
	await redis.untilEnd('s1', 't2');
	assert.match(input(model), /first-t1[^]*Hello\.[^]*second/);
});

test('events are trimmed to --events-kept when a session is let go', only, async (t) => {
	const model = await startModel(t, [forever(reply(...Array.from({ length: 400 }, (_, i) => ({ delta: `w${i} ` }))))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: [...NEVER, '--events-kept', '10'] });
	for (let i = 1; i <= 3; i++) {
		await redis.submit('s1', `t${i}`, 'hi');
		await redis.untilHash('s1', ({ state, epoch }) => state === 'idle' && epoch === String(i));
	}
	const kept = await redis.events('s1');
	const { seq } = await redis.hash('s1');
	assert.equal(kept.at(-1).seq, Number(seq));
	assert.ok(kept.length < 10 + 200, `${kept.length} of ${seq}`);
});

test('a submission that a worker reads which cannot open the session reaches its owner at once', only, async (t) => {
	const model = await startModel(t, [say('One.'), forever(reply({ delta: 'Half' }, { hang: true }))]);
	const redis = await startRedis(t);
	const args = [...NEVER, '--lease-ms', '60000'];
	const a = await startWorker(t, redis, model, { name: 'a', args });
	await rest(redis);
	a.child.kill('SIGTERM');
	await a.done;
	const b = await unable['without libzstd'](t, redis, model, 'b', args);
	await redis.submit('s1', 't2', 'second');
	await redis.untilHash('s1', ({ owner, epoch }) => owner === '' && epoch === '2');
	assert.match(b.result.stderr, /session s1 is left to other workers/);
	const faults = await startFaults(t, redis, (kind) => // this one finds work only when it looks for lost workers
		(kind === 'XREADGROUP' ? { words: ['BLPOP', redis.key('none'), '1'] } : undefined));
	await startWorker(t, faults, model, { name: 'c', args });
	await redis.until('s1', ({ id, msg }) => id === 't2' && msg.type === 'agent_message_content_delta');
	await redis.submitOp('s1', 'i1', { type: 'interrupt' });
	assert.equal((await redis.untilEnd('s1', 't2')).at(-1).msg.type, 'turn_aborted');
	assert.equal(b.result.stderr.split('is left to').length, 2, b.result.stderr);
});
