// Errors of Redis that pass, and connections that break at each command: no work is lost or doubled, and the worker continues. A proxy
// between the worker and a real server spoils the first command of each kind.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { forever, reply, say, startModel, waitFor } from './lib/codex.mjs';
import { isGapless, needsRedis, startRedis, startWorker, types } from './lib/fleet.mjs';
import { startFaults } from './lib/fleet_faults.mjs';

const only = needsRedis();
const NEVER = ['-c', 'approval_policy="never"', '--idle-ms', '0', '--lease-ms', '500'];
const promise = () => {
	let settle;
	return [new Promise((resolve) => (settle = resolve)), settle];
};
const pending = (redis) => redis.call('XPENDING', redis.key('work'), 'workers', '-', '+', 10);
/** Looks every few milliseconds until the test holds; for what no event shows. */
const until = async (test) => {
	while (!await test()) await new Promise((resolve) => setTimeout(resolve, 20));
};
const count = (events, type) => types(events).filter((it) => it === type).length;

const script = [
	{ when: { path: { 'input.-1.type': 'function_call_output' } }, times: 'forever', reply: [{ message: 'Done.' }] },
	{ take: { task: { from: 'input.-1.content.0.text', after: 'task ' } }, times: 'forever',
		reply: [{ call: 'exec_command', arguments: { cmd: 'echo {task} >> ran' } }] },
];

/** Spoils the first command of each kind; a worker completes two tasks of a session that is let go between them. */
async function survives(t, model, redis, fault, { kinds, spares = [] }) {
	const seen = new Set();
	const faults = await startFaults(t, redis, (kind) => {
		const isFirst = !seen.has(kind) && !spares.includes(kind);
		seen.add(kind);
		return isFirst ? fault : undefined;
	});
	const worker = await startWorker(t, faults, model, { name: 'a', args: NEVER });
	for (const id of ['t1', 't2']) {
		await redis.submit('s1', id, `task ${id}`);
		await redis.untilEnd('s1', id);
		await redis.untilHash('s1', ({ state }) => state === 'idle');
	}
	const events = await redis.events('s1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'task_started'), 2);
	assert.equal(count(events, 'task_complete'), 2);
	assert.equal(fs.readFileSync(path.join(worker.cwd, 'ran'), 'utf8'), 't1\nt2\n');
	assert.equal(await redis.call('XLEN', redis.key('work')), 0);
	assert.equal(await redis.call('XLEN', redis.key('dead')), 0);
	for (const kind of kinds) assert.ok(seen.has(kind), `${kind} was not seen`);
	worker.child.kill('SIGTERM');
	assert.equal((await worker.done).code, 0);
}

const kinds = ['PING', 'SCRIPT', 'XGROUP', 'XREADGROUP', 'XREAD', 'take', 'read :pack', 'read :log', 'read :sq', 'emit', 'release', 'renew', 'reap'];

const errors = ['LOADING Redis is loading the dataset in memory', 'OOM command not allowed when used memory > \'maxmemory\'.',
	'READONLY You can\'t write against a read only replica.', 'BUSY Redis is busy running a script.', 'NOSCRIPT No matching script.',
	'MISCONF Redis is configured to save RDB snapshots', 'NOREPLICAS Not enough good replicas to write.',
	'MASTERDOWN Link with MASTER is down', 'CLUSTERDOWN The cluster is down', 'MOVED 1 127.0.0.1:1', 'ASK 1 127.0.0.1:1', 'TRYAGAIN Multiple keys request',
	'ERR max number of clients reached', 'NOGROUP No such key'];

for (const error of errors) {
	test(`${error.split(' ')[0]} in answer to the first command of each kind: all is done once`, only, async (t) => {
		const redis = await startRedis(t);
		await survives(t, await startModel(t, script), redis, { error }, { kinds });
	});
}

for (const cut of ['before', 'after']) {
	test(`the connection breaks ${cut} the first command of each kind: all is done once`, only, async (t) => {
		const redis = await startRedis(t);
		await survives(t, await startModel(t, script), redis, { cut }, { kinds });
	});
}

for (const cut of ['before', 'after']) {
	test(`a worker that drains dies ${cut} it gives work back: another worker does it, once`, only, async (t) => {
		const model = await startModel(t, [reply({ delta: 'busy' }, { hang: true }), forever(say('Hello.'))]);
		const redis = await startRedis(t);
		const [held, isHeld] = promise();
		const [passed, pass] = promise();
		const [given, give] = promise();
		const alone = new Set();
		let holds = false;
		const faults = await startFaults(t, redis, (kind, words) => {
			alone.add(words[0]);
			if (kind === 'XREADGROUP' && holds) {
				isHeld();
				return { hold: passed };
			}
			if (kind === 'discard') give();
			return kind === 'discard' ? { cut } : undefined;
		});
		const worker = await startWorker(t, faults, model, { name: 'a', args: ['--lease-ms', '600'] });
		await redis.submit('s0', 't0', 'busy');
		await redis.until('s0', ({ msg }) => msg.type === 'agent_message_content_delta');
		holds = true;
		await held;
		await redis.submit('s1', 't1', 'hi');
		await until(async () => (await pending(redis)).length === 2);
		worker.child.kill('SIGTERM');
		await until(async () => (await redis.call('HGET', redis.key('w:a'), 'draining')) === '1');
		pass();
		await given;
		if (cut === 'after') await until(async () => (await pending(redis)).length === 1);
		worker.child.kill('SIGKILL');
		await worker.done;
		for (const word of ['XACK', 'XDEL', 'XADD']) assert.ok(!alone.has(word), `${word} is not in a script`);
		await startWorker(t, redis, model, { name: 'b' });
		const events = await redis.untilEnd('s1', 't1');
		assert.ok(isGapless(events));
		assert.equal(count(events, 'task_complete'), 1);
	});
}

for (const [what, kind, error] of [['scripts', 'SCRIPT', 'ERR no scripts here'], ['the calls of scripts', 'reap', 'NOSCRIPT No matching script.']]) {
	test(`Redis accepts logins but refuses ${what}: the attempts become rarer until it works`, only, async (t) => {
		const model = await startModel(t, [forever(say('Hello.'))]);
		const redis = await startRedis(t);
		const times = [];
		const faults = await startFaults(t, redis, (it, words) => {
			if (it === 'SCRIPT' && words[2].startsWith('-- Decides about an entry')) times.push(Date.now());
			return it === kind && times.length < 7 ? { error } : undefined;
		});
		await startWorker(t, faults, model, { name: 'a' });
		const gaps = times.slice(1, 7).map((time, i) => time - times[i]);
		[50, 100, 200, 400, 800, 1000].forEach((least, i) => assert.ok(gaps[i] >= least - 10, `${gaps}`));
		await redis.submit('s1', 't1', 'hi');
		await redis.untilEnd('s1', 't1');
	});
}

test('a worker that hands over and connects again does not give away the entry of a session that it still has', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), forever(say('Done.'))]);
	const redis = await startRedis(t);
	let releases = 0;
	const [decided, decide] = promise();
	const faults = await startFaults(t, redis, (kind) => {
		if (kind !== 'release') return undefined;
		releases++;
		if (releases === 3) decide(); // its entry was looked at meanwhile
		return releases === 1 ? { cut: 'before' } : { error: 'OOM command not allowed when used memory > \'maxmemory\'.' };
	});
	const a = await startWorker(t, faults, model, { name: 'a', args: ['--drain-ms', '1', '--lease-ms', '3000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	await startWorker(t, redis, model, { name: 'b' });
	a.child.kill('SIGTERM');
	await decided;
	assert.equal((await pending(redis)).filter(([, owner]) => owner === 'a').length, 1);
	a.child.kill('SIGKILL');
	await a.done;
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'task_complete'), 1);
});

test('a connection that breaks often does not count as a lost worker', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' })]);
	const redis = await startRedis(t);
	let ups = 0;
	const faults = await startFaults(t, redis, (kind) => void (ups += kind === 'reap'));
	await startWorker(t, faults, model, { name: 'a', args: ['--lease-ms', '15000', '--max-crashes', '1'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	for (let i = 0; i < 4; i++) {
		const before = ups;
		faults.cut();
		await until(() => ups > before);
	}
	assert.equal((await pending(redis))[0][3], 1);
	await model.openGate('rest');
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(count(events, 'warning'), 0);
});

test('out of memory, an entry for a session that is owned is still decided on, and its owner gets the message', only, async (t) => {
	const model = await startModel(t, [forever(reply({ delta: 'Half' }, { hang: true }))]);
	const redis = await startRedis(t);
	let take;
	const faults = await startFaults(t, redis, (kind, words) => void (take = kind === 'take' ? words : take));
	await startWorker(t, faults, model, { name: 'a', args: ['--max-sessions', '1', '--lease-ms', '60000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	await redis.call('XADD', redis.key('work'), '*', 'sid', 's1');
	const [[, [[entry]]]] = await redis.call('XREADGROUP', 'GROUP', 'workers', 'x', 'STREAMS', redis.key('work'), '>');
	await redis.call('CONFIG', 'SET', 'maxmemory', '1');
	const answer = await redis.call(...take.with(5, 'x').with(6, entry));
	await redis.call('CONFIG', 'SET', 'maxmemory', '0');
	assert.deepEqual(answer, ['elsewhere']);
	assert.deepEqual((await pending(redis)).map(([, owner]) => owner), ['a']);
	assert.deepEqual((await redis.call('XRANGE', redis.key('w:a:in'), '-', '+')).map(([, fields]) => fields), [['sid', 's1']]);
});

test('Redis is out of memory for longer than the lease: the owner keeps its session', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' })]);
	const redis = await startRedis(t);
	let renewals = 0;
	const faults = await startFaults(t, redis, (kind) => void (renewals += kind === 'renew'));
	const a = await startWorker(t, faults, model, { name: 'a', args: ['--lease-ms', '500'] });
	await startWorker(t, redis, model, { name: 'b', args: ['--lease-ms', '500'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	const { owner } = await redis.hash('s1');
	await redis.call('CONFIG', 'SET', 'maxmemory', '1');
	const from = renewals;
	await model.openGate('rest');
	await until(() => renewals >= from + 6);
	await redis.call('CONFIG', 'SET', 'maxmemory', '0');
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.deepEqual([(await redis.hash('s1')).owner, (await redis.hash('s1')).epoch], [owner, '1']);
	assert.equal(a.result.code, null);
});

for (const key of ['s:bad', 's:bad:sq', 's:bad:eq', 's:bad:log', 's:bad:pack', 'sessions', 'workers', 'dead', 'w:a:in']) {
	test(`the key ${key} has another type: other sessions run, and the worker stays`, only, async (t) => {
		const model = await startModel(t, [forever(say('Hello.'))]);
		const redis = await startRedis(t);
		const a = await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '0'] });
		await redis.call('DEL', redis.key(key));
		await redis.call('SET', redis.key(key), 'text');
		await redis.call('XADD', redis.key('work'), '*', 'sid', 'bad');
		await redis.submit('s1', 't1', 'hi');
		assert.equal((await redis.untilEnd('s1', 't1')).at(-1).msg.type, 'task_complete');
		await redis.untilHash('s1', ({ state }) => state === 'idle');
		await until(async () => (await redis.call('XLEN', redis.key('work'))) === 0);
		assert.equal(await redis.call('GET', redis.key(key)), 'text');
		assert.equal(a.result.code, null);
	});
}

test('a key loses its type while the session runs: the session is dropped and the others go on', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' }), forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('bad', 't1', 'work');
	await redis.until('bad', ({ msg }) => msg.type === 'agent_message_content_delta');
	await redis.call('DEL', redis.key('s:bad:log'));
	await redis.call('SET', redis.key('s:bad:log'), 'text');
	const { seq } = await redis.hash('bad');
	await model.openGate('rest');
	await waitFor(a.child.stderr, () => a.result.stderr, (text) => /session bad: dropped.*WRONGTYPE/.test(text));
	assert.equal((await redis.events('bad')).length, Number(seq)); // nothing was stored in part
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
});

test('somebody has added an event of a higher number: the session is put aside, and the others go on', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: [...NEVER, '--max-crashes', '2'] });
	await redis.call('XADD', redis.key('s:bad:eq'), '999-0', 'ev', '{"id":"","msg":{"type":"x"}}');
	await redis.submit('bad', 't1', 'work');
	await waitFor(a.child.stderr, () => a.result.stderr, (text) => /session bad: dropped/.test(text));
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	await redis.untilHash('bad', ({ state }) => state === 'dead');
	assert.equal(a.result.code, null);
});

test('entries of work that name no session take no room, whatever their number', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--max-sessions', '1', '--lease-ms', '60000'] });
	for (const field of ['one', 'two', 'three']) await redis.call('XADD', redis.key('work'), '*', field, 'x');
	await redis.submit('s1', 't1', 'hi');
	assert.equal((await redis.untilEnd('s1', 't1')).at(-1).msg.type, 'task_complete');
	assert.equal(await redis.call('XLEN', redis.key('work')), 1);
});

test('Redis is emptied while a session is let go: its owner writes it again, and lets it go then', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const [emptied, empty] = promise();
	const faults = await startFaults(t, redis, (kind, words) =>
		(kind === 'emit' && words.some((word) => word.includes('"type":"task_complete"')) ? { hold: emptied } : undefined));
	await startWorker(t, faults, model, { name: 'a', args: ['--idle-ms', '0', '--lease-ms', '60000', '-c', 'approval_policy="never"'] });
	await redis.submit('s1', 't1', 'first');
	const before = await redis.untilEnd('s1', 't1');
	await redis.call('FLUSHALL');
	empty(); // the owner has stored all it has, and releases the session
	await redis.untilHash('s1', ({ state }) => state === 'idle');
	assert.deepEqual(await redis.events('s1'), before);
	await redis.submit('s1', 't2', 'second');
	const events = await redis.untilEnd('s1', 't2');
	assert.ok(isGapless(events));
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /first[^]*Hello\.[^]*second/);
});

test('entries that a read and a search for lost workers find at once do not exceed --max-sessions', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' }), forever(say('Hello.'))]);
	const redis = await startRedis(t);
	await redis.call('XGROUP', 'CREATE', redis.key('work'), 'workers', '0', 'MKSTREAM');
	await redis.submit('s1', 't1', 'hi');
	const [[, [[entry]]]] = await redis.call('XREADGROUP', 'GROUP', 'workers', 'lost', 'STREAMS', redis.key('work'), '>');
	await redis.call('XCLAIM', redis.key('work'), 'workers', 'lost', '0', entry, 'IDLE', '60000');
	await redis.submit('s2', 't1', 'hi');
	const [passed, pass] = promise();
	const [decided, decide] = promise();
	const faults = await startFaults(t, redis, (kind, words) => {
		if (words.includes('s2') && ['take', 'pass'].includes(kind)) decide(kind);
		return kind === 'XREADGROUP' ? { hold: passed } : undefined;
	});
	await startWorker(t, faults, model, { name: 'a', args: ['--max-sessions', '1', '--idle-ms', '0'] });
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	pass(); // the reply to the read was on its way
	assert.equal(await decided, 'pass');
	await model.openGate('rest');
	await redis.untilEnd('s1', 't1');
	assert.equal((await redis.untilEnd('s2', 't1')).at(-1).msg.type, 'task_complete');
});

test('a worker with a short lease leaves alone what one with a long lease has, until that lease has run out', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), say('Done.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '60000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	let searches = 0;
	const faults = await startFaults(t, redis, (kind, words) => void (searches += kind === 'reap' && words[5] === '500'));
	await startWorker(t, faults, model, { name: 'b', args: NEVER });
	await until(async () => (await pending(redis))[0][2] > 1000); // the entry is older than the lease of b
	const from = searches;
	await until(() => searches >= from + 3);
	assert.deepEqual((await pending(redis)).map(([, owner, , deliveries]) => [owner, deliveries]), [['a', 1]]);
	const { owner, epoch } = await redis.hash('s1');
	assert.deepEqual([owner, epoch], ['a', '1']);
	a.child.kill('SIGKILL');
	await a.done;
	await redis.call('DEL', redis.key('w:a')); // as if it had expired
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal((await redis.hash('s1')).owner, 'b');
});

test('a submission that is being applied when its session is handed over is applied by the next owner', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' }), forever(say('Hello.'))]);
	const redis = await startRedis(t);
	const [read, isRead] = promise();
	const [applied, apply] = promise();
	const [stored, store] = promise();
	let holds = false;
	const faults = await startFaults(t, redis, (kind) => {
		if (!holds) return undefined;
		if (kind === 'read :sq') isRead();
		return { 'read :sq': { hold: applied }, emit: { hold: stored } }[kind];
	});
	const a = await startWorker(t, faults, model, { name: 'a', args: ['--drain-ms', '0', '--lease-ms', '60000', '--admin', '127.0.0.1:0'] });
	const admin = /admin on (\S+)/.exec(a.result.stderr)[1];
	const events = async () => Number(/^codex_worker_events_total.* (\d+)$/m.exec(await (await fetch(`${admin}/metrics`)).text())[1]);
	await redis.submit('s1', 't1', 'first');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	holds = true;
	await redis.submit('s1', 't2', 'second');
	await read;
	const before = await events();
	await model.openGate('rest');
	await until(async () => (await events()) > before + 2); // more than a delta: they are being stored
	a.child.kill('SIGSTOP'); // it finds the submission and the signal at the same time
	apply();
	await applied;
	await new Promise(setImmediate);
	a.child.kill('SIGTERM');
	a.child.kill('SIGCONT');
	await until(async () => (await fetch(`${admin}/readyz`)).status === 503);
	await fetch(`${admin}/readyz`);
	await startWorker(t, redis, model, { name: 'b' });
	store();
	assert.equal((await redis.untilEnd('s1', 't2')).at(-1).msg.type, 'task_complete');
	assert.ok(isGapless(await redis.events('s1')));
});
