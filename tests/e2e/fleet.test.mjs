// Sessions of a fleet: submissions and events in Redis, one owner each, takeover after a loss.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { forever, patch, reply, say, startModel } from './lib/codex.mjs';
import { fleet, isGapless, needsRedis, startRedis, startWorker, types } from './lib/fleet.mjs';

const only = needsRedis();
const ASKS = ['-c', 'approval_policy="untrusted"'];
const NEVER = ['-c', 'approval_policy="never"'];
const command = (cmd) => reply({ call: 'exec_command', arguments: { cmd }, call_id: 'c1' });
const kill = async (worker) => {
	worker.child.kill('SIGKILL');
	await worker.done;
};

test('a submission starts a session, its events are numbered from 1, and it is let go when idle', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '50'] });
	await redis.submit('s1', 't1', 'hi');
	const events = await redis.untilEnd('s1', 't1');
	assert.equal(events[0].msg.type, 'session_configured');
	assert.equal(events[0].id, '');
	assert.ok(isGapless(events));
	assert.equal(events.at(-1).msg.last_agent_message, 'Hello.');
	const hash = await redis.untilHash('s1', ({ state }) => state === 'idle');
	assert.equal(hash.owner, '');
	assert.equal(hash.epoch, '1');
	assert.equal(Number(hash.seq), (await redis.events('s1')).length);
	assert.equal(await redis.call('XLEN', redis.key('work')), 0);
	assert.equal(await redis.call('XLEN', redis.key('s:s1:sq')), 1);
	for (const [, [field, line]] of await redis.call('XRANGE', redis.key('s:s1:log'), '-', '+')) {
		assert.equal(field, 'l');
		JSON.parse(line);
	}
});

test('while a session is owned, one entry is pending, with its owner and one delivery', only, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	await redis.submit('s1', 't2', 'more');
	await redis.untilEnd('s1', 't2');
	const pending = await redis.call('XPENDING', redis.key('work'), 'workers', '-', '+', 10);
	assert.equal(pending.length, 1);
	assert.deepEqual([pending[0][1], pending[0][3]], ['a', 1]);
	assert.equal((await redis.hash('s1')).epoch, '1');
});

test('a session that was let go continues with its history', only, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '0'] });
	await redis.submit('s1', 't1', 'first words');
	await redis.untilHash('s1', ({ state, seq }) => state === 'idle' && seq > 1);
	await redis.submit('s1', 't2', 'second words');
	await redis.untilEnd('s1', 't2');
	const input = JSON.stringify(model.requests()[1].body.input);
	assert.match(input, /first words[^]*One\.[^]*second words/);
	const events = await redis.events('s1');
	assert.ok(isGapless(events));
	assert.equal(types(events).filter((type) => type === 'task_complete').length, 2);
});

test('a submission with an id that was applied changes nothing, also for a later owner', only, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--idle-ms', '0'] });
	await redis.submit('s1', 't1', 'hi');
	await redis.submit('s1', 't1', 'hi');
	await redis.untilHash('s1', ({ state, seq }) => state === 'idle' && seq > 1);
	await redis.submit('s1', 't1', 'hi');
	await redis.submit('s1', 't2', 'hi');
	await redis.untilEnd('s1', 't2');
	assert.equal(model.requests().length, 2);
});

test('a text that is no submission is an error event with its id, and the session continues', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model);
	for (const sub of ['nonsense', '{"id":"x1","op":{"type":"no_such"}}', '[]'])
		await redis.call('XADD', redis.key('s:s1:sq'), '*', 'sub', sub);
	await redis.call('XADD', redis.key('s:s1:sq'), '*', 'other', 'field');
	await redis.submit('s1', 't1', 'hi');
	const events = await redis.untilEnd('s1', 't1');
	const errors = events.filter(({ msg }) => msg.type === 'error');
	assert.deepEqual(errors.map(({ id }) => id), ['', 'x1', '', '']);
	assert.ok(errors.every(({ msg }) => msg.codex_error_info === 'bad_request'));
});

test('after SIGKILL another worker, with another home, continues the task: same id, a warning, one end', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), say('Whole.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	const count = (type) => types(events).filter((it) => it === type).length;
	assert.equal(count('task_started'), 1);
	assert.equal(count('task_complete'), 1);
	const warning = events.find(({ msg }) => msg.type === 'warning');
	assert.equal(warning.id, 't1');
	assert.match(warning.msg.message, /\ba\b/);
	assert.equal(events.at(-1).msg.last_agent_message, 'Whole.');
	assert.match(JSON.stringify(model.requests()[1].body.input), /text":"work"/);
	assert.equal((await redis.hash('s1')).epoch, '2');
	const pending = await redis.call('XPENDING', redis.key('work'), 'workers', '-', '+', 10);
	assert.deepEqual(pending.map(([, consumer, , deliveries]) => [consumer, deliveries]), [['b', 2]]);
});

test('a command that ran when its worker was lost is reported as interrupted and runs once', only, async (t) => {
	const model = await startModel(t, [command('echo x >> count; sleep 60'), say('Sorry.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER });
	const count = path.join(a.cwd, 'count');
	await redis.submit('s1', 't1', 'go');
	await redis.until('s1', ({ msg }) => msg.type === 'exec_command_begin');
	while (!fs.existsSync(count)) await new Promise((resolve) => setTimeout(resolve, 10));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', cwd: a.cwd, args: NEVER });
	const events = await redis.untilEnd('s1', 't1');
	const ends = events.filter(({ msg }) => msg.type === 'exec_command_end');
	assert.equal(ends.length, 1);
	assert.equal(ends[0].msg.call_id, 'c1');
	assert.notEqual(ends[0].msg.exit_code, 0);
	assert.match(ends[0].msg.aggregated_output, /interrupted.*lost/);
	const output = model.requests()[1].body.input.find((item) => item.type === 'function_call_output');
	assert.equal(output.call_id, 'c1');
	assert.match(output.output, /interrupted.*lost/);
	assert.equal(fs.readFileSync(count, 'utf8'), 'x\n');
});

test('exec_command_begin is stored before the command starts', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Go' }, { gate: 'go' }, { call: 'exec_command', arguments: { cmd: 'touch mark' } }),
		say('Done.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: [...NEVER, '--lease-ms', '15000'] });
	const mark = path.join(a.cwd, 'mark');
	await redis.submit('s1', 't1', 'go');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	await redis.call('CLIENT', 'PAUSE', 60000, 'WRITE'); // from here on no emit ends
	await model.openGate('go');
	await new Promise((resolve) => setTimeout(resolve, 500)); // a command that does not wait starts within a few milliseconds
	assert.ok(!fs.existsSync(mark));
	await redis.call('CLIENT', 'UNPAUSE');
	const events = await redis.untilEnd('s1', 't1');
	assert.equal(types(events).filter((type) => type === 'exec_command_begin').length, 1);
	assert.ok(fs.existsSync(mark));
});

test('an approval that was pending is requested again with the same call_id, and its answer starts the command', only, async (t) => {
	const model = await startModel(t, [command('touch approved'), say('Done.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ASKS });
	await redis.submit('s1', 't1', 'go');
	const first = await redis.until('s1', ({ msg }) => msg.type === 'exec_approval_request');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', cwd: a.cwd, args: ASKS });
	const again = await redis.until('s1', ({ msg }) => msg.type === 'exec_approval_request', { after: first.length });
	assert.equal(again.at(-1).msg.call_id, 'c1');
	assert.equal(again.at(-1).id, 't1');
	await redis.submitOp('s1', 'a1', { type: 'exec_approval', id: 'c1', decision: 'approved' });
	const events = await redis.untilEnd('s1', 't1');
	assert.equal(types(events).filter((type) => type === 'exec_command_begin').length, 1);
	assert.ok(fs.existsSync(path.join(a.cwd, 'approved')));
});

test('an answer that was submitted between two owners is applied by the next one', only, async (t) => {
	const model = await startModel(t, [command('touch approved'), say('Done.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ASKS });
	await redis.submit('s1', 't1', 'go');
	await redis.until('s1', ({ msg }) => msg.type === 'exec_approval_request');
	await kill(a);
	await redis.submitOp('s1', 'i1', { type: 'interrupt' });
	await startWorker(t, redis, model, { name: 'b', cwd: a.cwd, args: ASKS });
	const events = await redis.untilEnd('s1', 't1');
	assert.equal(events.at(-1).msg.type, 'turn_aborted');
	assert.ok(!fs.existsSync(path.join(a.cwd, 'approved')));
});

test('a patch that waited for approval is asked for again and applied once', only, async (t) => {
	const model = await startModel(t, [patch('*** Add File: new.txt', '+one'), say('Done.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ASKS });
	await redis.submit('s1', 't1', 'go');
	const first = await redis.until('s1', ({ msg }) => msg.type === 'apply_patch_approval_request');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', cwd: a.cwd, args: ASKS });
	const again = await redis.until('s1', ({ msg }) => msg.type === 'apply_patch_approval_request', { after: first.length });
	assert.equal(again.at(-1).msg.call_id, first.at(-1).msg.call_id);
	await redis.submitOp('s1', 'a1', { type: 'patch_approval', id: first.at(-1).msg.call_id, decision: 'approved' });
	const events = await redis.untilEnd('s1', 't1');
	assert.deepEqual(events.filter(({ msg }) => msg.type === 'patch_apply_end').map(({ msg }) => msg.success), [true]);
	assert.equal(fs.readFileSync(path.join(a.cwd, 'new.txt'), 'utf8'), 'one\n');
});

test('a worker that was stopped beyond its lease is fenced when it wakes up, and works on', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'late' }, { delta: ' of a' }), say('Whole.'), say('New.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	a.child.kill('SIGSTOP');
	const b = await startWorker(t, redis, model, { name: 'b' });
	await redis.untilEnd('s1', 't1');
	const before = await redis.events('s1');
	await model.openGate('late');
	a.child.kill('SIGCONT');
	b.child.kill('SIGTERM');
	await b.done;
	await redis.submit('s2', 't2', 'new');
	await redis.untilEnd('s2', 't2');
	assert.equal((await redis.hash('s2')).owner, 'a');
	const after = await redis.events('s1');
	assert.deepEqual(after.slice(0, before.length), before);
	assert.ok(isGapless(after));
	assert.equal(types(after).filter((type) => type === 'task_complete').length, 1);
	assert.ok(!JSON.stringify(after).includes(' of a'));
});

test('SIGTERM ends running tasks, lets sessions go and removes the worker', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' })]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	a.child.kill('SIGTERM');
	for (;;) {
		const [draining] = await redis.call('HMGET', redis.key('w:a'), 'draining');
		if (draining === '1') break;
	}
	await model.openGate('rest');
	const { code } = await a.done;
	assert.equal(code, 0);
	const events = await redis.events('s1');
	assert.equal(events.at(-1).msg.type, 'task_complete');
	assert.equal((await redis.hash('s1')).state, 'idle');
	assert.equal(await redis.call('EXISTS', redis.key('w:a')), 0);
	assert.deepEqual(await redis.call('ZRANGE', redis.key('workers'), 0, -1), []);
});

test('what still runs after --drain-ms is handed over and continued by another worker', only, async (t) => {
	const model = await startModel(t, [command('sleep 60'), say('Whole.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--drain-ms', '100', ...NEVER] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'exec_command_begin');
	await startWorker(t, redis, model, { name: 'b', args: NEVER });
	assert.equal((await fleet(t, redis, ['drain', 'a'])).code, 0);
	assert.equal((await a.done).code, 0);
	const events = await redis.untilEnd('s1', 't1');
	assert.equal(events.at(-1).msg.last_agent_message, 'Whole.');
	assert.equal(types(events).filter((type) => type === 'exec_command_end').length, 1);
	assert.equal((await redis.hash('s1')).owner, 'b');
});

test('a session that loses --max-crashes workers in a row is put aside, and requeue lets it continue', only, async (t) => {
	const model = await startModel(t, [forever(reply({ delta: 'x' }, { hang: true }))]);
	const redis = await startRedis(t);
	await redis.submit('s1', 't1', 'work');
	for (let i = 0, after = 0; i < 2; i++) {
		const worker = await startWorker(t, redis, model, { name: `a${i}`, args: ['--max-crashes', '2'] });
		after = (await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta', { after })).at(-1).seq;
		await kill(worker);
	}
	const good = await startModel(t, [forever(say('Fine.'))]);
	await startWorker(t, redis, good, { name: 'c', args: ['--max-crashes', '2'] });
	const hash = await redis.untilHash('s1', ({ state }) => state === 'dead');
	assert.equal(hash.owner, '');
	const last = (await redis.events('s1')).at(-1);
	assert.equal(last.msg.type, 'error');
	assert.match(last.msg.message, /put aside.* 2 workers/);
	assert.equal((await fleet(t, redis, ['dead'])).stdout, '{"session":"s1","deliveries":2}\n');
	await redis.submit('s1', 't2', 'more');
	assert.equal((await fleet(t, redis, ['requeue', 's1'])).code, 0);
	await redis.untilEnd('s1', 't2');
	assert.equal((await fleet(t, redis, ['requeue', 's1'])).code, 1);
	assert.equal((await fleet(t, redis, ['dead'])).stdout, '');
});

test('Redis comes back with all data: nothing is lost or doubled', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'rest' }, { delta: ' and whole' })]);
	const redis = await startRedis(t, { args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
	const a = await startWorker(t, redis, model, { name: 'a', args: ['--lease-ms', '15000'] });
	await redis.submit('s1', 't1', 'work');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	redis.child.kill('SIGKILL');
	await redis.server.done;
	await model.openGate('rest');
	const again = await startRedis(t, { dir: redis.dir, args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
	const events = await again.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(events.at(-1).msg.last_agent_message, 'Half and whole');
	assert.equal(types(events).filter((type) => type === 'task_started').length, 1);
	assert.equal((await again.hash('s1')).epoch, '1');
	assert.equal(a.result.code, null);
});

test('Redis comes back empty: the owner writes its session again, with the same numbers', only, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'first');
	const before = await redis.untilEnd('s1', 't1');
	await redis.call('FLUSHALL');
	await redis.submit('s1', 't2', 'second');
	const events = await redis.untilEnd('s1', 't2');
	assert.deepEqual(events.slice(0, before.length), before);
	assert.ok(isGapless(events));
});

test('shutdown ends the session: shutdown_complete, state ended', only, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model);
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	await redis.submitOp('s1', 'end', { type: 'shutdown' });
	await redis.untilHash('s1', ({ state }) => state === 'ended');
	assert.equal((await redis.events('s1')).at(-1).msg.type, 'shutdown_complete');
});

test('settings of a session last beyond its owner', only, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	const folder = path.join(a.cwd, 'below');
	fs.mkdirSync(folder);
	await redis.submitOp('s1', 'c1', { type: 'override_turn_context', cwd: folder, model: 'other-model' });
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	await redis.submit('s1', 't2', 'hi again');
	await redis.untilEnd('s1', 't2');
	assert.deepEqual(model.requests().map(({ body }) => body.model), ['other-model', 'other-model']);
});

test('a worker without room sees the submissions of its own sessions', only, async (t) => {
	const model = await startModel(t, [forever(say('Hello.'))]);
	const redis = await startRedis(t);
	await startWorker(t, redis, model, { name: 'a', args: ['--max-sessions', '1', '--lease-ms', '15000'] });
	await redis.submit('s1', 't1', 'hi');
	await redis.untilEnd('s1', 't1');
	await redis.submit('s2', 'other', 'waits');
	await redis.submit('s1', 't2', 'more');
	await redis.untilEnd('s1', 't2');
	assert.equal(await redis.call('EXISTS', redis.key('s:s2')), 0);
	await redis.submitOp('s1', 'end', { type: 'shutdown' });
	await redis.until('s2', ({ msg }) => msg.type === 'task_started');
});
