// Every item that a client of `codex app-server` saw start completes, also when its turn fails.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, failed, httpError, makeHome, needs, patch, reply, run, say, startModel } from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const ASKS = { sandbox: 'danger-full-access', approvalPolicy: 'untrusted' };
const NEVER_TWICE = { args: ['-c', 'model_providers.mock.request_max_retries=0', '-c', 'model_providers.mock.stream_max_retries=0'] };
const HALF = reply({ delta: 'Half of ' }, { hang: true });

const start = (server, threadId) => server.request('turn/start', { threadId, input: [text('go')] });

/** Runs an earlier turn, so that there is a history to compact. */
const compact = async (server, threadId) => {
	await start(server, threadId);
	await server.next('turn/completed');
	await server.request('thread/compact/start', { threadId });
};

/** Interrupts the running turn once the notification has arrived. */
const interruptAt = (method, type) => async (server, threadId) => {
	const { turn } = await start(server, threadId);
	await server.take((m) => m.method === method && (!type || m.params.item.type === type), `${method} ${type ?? ''}`);
	await server.request('turn/interrupt', { threadId, turnId: turn.id });
};

/** Name, replies of the model, thread options, actions, [type, status] of the item, and the status of the turn. */
const CASES = [
	['a command that is interrupted', [run('sleep 60')], FREE, interruptAt('item/started', 'commandExecution'),
		['commandExecution', 'failed'], 'interrupted'],
	['a command that waits for an answer, interrupted', [run('touch made')], ASKS,
		interruptAt('item/commandExecution/requestApproval'), ['commandExecution', 'failed'], 'interrupted'],
	['a command that is refused with the turn', [run('touch made')], ASKS, async (server, threadId) => {
		await start(server, threadId);
		server.answer(await server.next('item/commandExecution/requestApproval'), { decision: 'cancel' });
	}, ['commandExecution', 'declined'], 'interrupted'],
	['a patch that waits for an answer, interrupted', [patch('*** Add File: made', '+1')], { ...ASKS, model: 'gpt-5.5' },
		interruptAt('item/fileChange/requestApproval'), ['fileChange', 'failed'], 'interrupted'],
	['a patch that is refused with the turn', [patch('*** Add File: made', '+1')], { ...ASKS, model: 'gpt-5.5' },
		async (server, threadId) => {
			await start(server, threadId);
			server.answer(await server.next('item/fileChange/requestApproval'), { decision: 'cancel' });
		}, ['fileChange', 'declined'], 'interrupted'],
	['a message that is interrupted', [HALF], FREE, interruptAt('item/agentMessage/delta'), ['agentMessage', undefined], 'interrupted'],
	['a message that breaks off', [reply({ delta: 'Half of ' }, { eof: true })], FREE, start, ['agentMessage', undefined], 'failed'],
	['reasoning that breaks off', [reply({ reasoning: 'So ', chunks: 1 }, { drop: true })], FREE, start,
		['reasoning', undefined], 'failed'],
	['a turn that fails', [httpError(400, 'no')], FREE, start, ['userMessage', undefined], 'failed'],
	['a command in a turn that fails', [reply({ call: 'exec_command', arguments: { cmd: 'true' } }), failed('invalid_prompt', 'no')],
		FREE, start, ['commandExecution', 'completed'], 'failed'],
	['a compaction that fails', [say('one'), httpError(400, 'no')], FREE, compact, ['contextCompaction', undefined], 'failed'],
	['a compaction that is interrupted', [say('one'), HALF], FREE, async (server, threadId) => {
		await compact(server, threadId);
		const { params } = await server.next('turn/started');
		await server.next('item/started');
		await server.request('turn/interrupt', { threadId, turnId: params.turn.id });
	}, ['contextCompaction', undefined], 'interrupted'],
	['a command of the user that is interrupted', [say('unheard')], FREE, async (server, threadId) => {
		await server.request('thread/shellCommand', { threadId, command: 'sleep 60' });
		const { params } = await server.next('turn/started');
		await server.next('item/started');
		await server.request('turn/interrupt', { threadId, turnId: params.turn.id });
	}, ['commandExecution', 'failed'], 'interrupted'],
	['a command of the user that fails', [say('unheard')], FREE,
		(server, threadId) => server.request('thread/shellCommand', { threadId, command: 'exit 3' }),
		['commandExecution', 'failed'], 'completed'],
	['a command that the model stops to wait for', [call('exec_command', { cmd: 'sleep 60', yield_time_ms: 250 }), say('it runs')],
		FREE, async (server, threadId) => {
			await start(server, threadId);
			await server.next('turn/completed');
			server.request('thread/backgroundTerminals/clean', { threadId });
		}, ['commandExecution', 'failed'], 'completed'],
];

/** No turn runs, and every started item is completed. */
const isOver = (server) => server.all('turn/started').length === server.all('turn/completed').length &&
	server.all('item/started').length === server.all('item/completed').length;

for (const [name, replies, wishes, act, last, outcome] of CASES) {
	test(`every started item completes: ${name}`, options, async (t) => {
		const server = await startAppServer(t, await startModel(t, replies), NEVER_TWICE);
		const { thread } = await server.request('thread/start', wishes);
		await act(server, thread.id);
		await server.take(({ method }) => /^(turn|item).completed$/.test(method) && isOver(server), 'end');
		assert.equal(server.all('turn/completed').at(-1).params.turn.status, outcome);
		const begun = server.all('item/started').map(({ params }) => params.item);
		const ended = new Map(server.all('item/completed').map(({ params }) => [params.item.id, params.item]));
		assert.equal(ended.size, server.all('item/completed').length, 'none ends twice');
		assert.deepEqual(begun.map(({ id }) => id).filter((id) => !ended.has(id)), []);
		assert.deepEqual([...ended.values()].filter(({ completedAtMs }) => !completedAtMs), []);
		const item = ended.get(begun.findLast(({ type }) => type === last[0]).id);
		assert.deepEqual([item.type, item.status], last);
	});
}

test('a recorded message of many parts is whole, and is joined once', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const home = makeHome(t, model);
	const first = await startAppServer(t, model, { home });
	const { thread } = await first.request('thread/start', {});
	await first.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await first.next('turn/completed');
	await first.end();
	const content = Array.from({ length: 2000 }, () => ({ type: 'Text', text: 'x'.repeat(1000) }));
	fs.appendFileSync(thread.path, `${JSON.stringify({ type: 'event_msg', timestamp: '2026-11-27T00:00:00.000Z', payload: {
		type: 'item_completed', thread_id: thread.id, turn_id: 'x', item: { type: 'AgentMessage', id: 'msg_2', content } } })}\n`);
	const second = await startAppServer(t, model, { home });
	const { thread: { turns } } = await second.request('thread/read', { threadId: thread.id, includeTurns: true });
	const long = turns.flatMap(({ items }) => items).find((item) => item.type === 'agentMessage' && item.text.length > 100);
	assert.equal(long.text.length, 2_000_000);
	const [, peak] = /VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${second.child.pid}/status`, 'utf8'));
	assert.ok(peak < 700_000, `${peak} kB: a copy of all parts for each part would be 2 GB`);
});
