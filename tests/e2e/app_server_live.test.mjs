// Operations of `codex app-server` clients on loaded threads, and several clients on one thread.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, story, text } from './lib/app_server.mjs';
import { call, cleanEnv, codexBin, launch, makeHome, needs, run, say, startModel, tempDir, textsOf, waitFor }
	from './lib/codex.mjs';
import { connectRpc } from './lib/websocket.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const ASKS = { sandbox: 'danger-full-access', approvalPolicy: 'untrusted' };
const NOBODY = '00000000-0000-7000-8000-000000000000';

async function turn(server, threadId, words) {
	const { turn } = await server.request('turn/start', { threadId, input: [text(words)] });
	const done = await server.next('turn/completed');
	assert.equal(done.params.turn.id, turn.id);
	return done.params.turn;
}

/** A server at ws://, and a function that connects to it. */
async function listen(t, model) {
	const program = launch(t, codexBin, ['app-server', '--listen', 'ws://127.0.0.1:0'],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(makeHome(t, model)) });
	const port = await waitFor(program.child.stderr, () => program.result.stderr,
		(words) => /note: .*\n/.test(words) && /listening on: ws:\/\/\S+:(\d+)\n/.exec(words)?.[1]);
	return () => connectRpc(t, { port: Number(port), host: '127.0.0.1' });
}

test('two clients at one thread: both are asked, the first answer counts', options, async (t) => {
	const model = await startModel(t, [say('hello'), run('touch made'), say('done')]);
	const connect = await listen(t, model);
	const [first, second] = [await connect(), await connect()];
	const { thread } = await first.request('thread/start', ASKS);
	await second.next('thread/started'); // all subscribers are notified
	await turn(first, thread.id, 'hi');
	assert.equal(second.all('turn/started').length, 0); // but not of its turns
	const joined = await second.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(joined.thread.turns.map(({ status }) => status), ['completed']);
	const { turn: asked } = await first.request('turn/start', { threadId: thread.id, input: [text('make it')] });
	const questions = await Promise.all([first, second].map((client) => client.next('item/commandExecution/requestApproval')));
	assert.equal(questions[0].id, questions[1].id);
	second.answer(questions[1], { decision: 'accept' });
	for (const client of [first, second]) {
		assert.equal((await client.next('serverRequest/resolved')).params.requestId, questions[0].id);
		assert.deepEqual((await client.next('turn/completed')).params.turn.status, 'completed');
	}
	first.answer(questions[0], { decision: 'decline' }); // too late: without effect
	const again = await first.request('thread/resume', { threadId: thread.id });
	const { items, id } = again.thread.turns.at(-1);
	assert.equal(id, asked.id);
	assert.deepEqual(items.map(({ type, status }) => [type, status]),
		[['userMessage', undefined], ['commandExecution', 'completed'], ['agentMessage', undefined]]);
});

test('the error of one client decides nothing for the other', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('done'), run('touch other'), say('refused')]);
	const connect = await listen(t, model);
	const [first, second] = [await connect(), await connect()];
	const { thread } = await first.request('thread/start', ASKS);
	const start = () => first.request('turn/start', { threadId: thread.id, input: [text('make it')] });
	const asked = (client) => client.next('item/commandExecution/requestApproval');
	const fail = (client, { id }) => client.send({ id, error: { code: -32601, message: 'I do not do that' } });
	const ended = async () => {
		const { params } = await first.next('turn/completed');
		const { thread: { turns } } = await first.request('thread/read', { threadId: thread.id, includeTurns: true });
		return [params.turn.status, turns.at(-1).items.find(({ type }) => type === 'commandExecution').status];
	};
	await start();
	fail(first, await asked(first));
	await second.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(await ended(), ['completed', 'declined']); // no other client was there when it failed
	await start();
	const questions = [await asked(first), await asked(second)];
	fail(first, questions[0]);
	first.answer(questions[0], { decision: 'decline' }); // too late for this one
	await first.request('thread/loaded/list', {});
	second.answer(questions[1], { decision: 'accept' });
	assert.deepEqual(await ended(), ['completed', 'completed']);
});

test('a client that joins a turn gets its pending requests; one that disconnects ends nothing', options, async (t) => {
	const model = await startModel(t, [say('hello'), run('touch made'), say('done')]);
	const connect = await listen(t, model);
	const [first, second] = [await connect(), await connect()];
	const { thread } = await first.request('thread/start', ASKS);
	await turn(first, thread.id, 'hi');
	await first.request('turn/start', { threadId: thread.id, input: [text('make it')] });
	const open = await first.next('item/commandExecution/requestApproval');
	const joined = await second.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(joined.thread.status, { type: 'active', activeFlags: ['waitingOnApproval'] });
	const running = joined.thread.turns.at(-1);
	assert.equal(running.status, 'inProgress');
	assert.deepEqual(running.items.map(({ type, status }) => [type, status]),
		[['userMessage', undefined], ['commandExecution', 'inProgress']]);
	const question = second.messages.find(({ method }) => method === open.method);
	assert.equal(question.id, open.id);
	first.socket.socket.destroy();
	second.answer(question, { decision: 'accept' });
	assert.equal((await second.next('turn/completed')).params.turn.status, 'completed');
	assert.deepEqual(await second.request('thread/unsubscribe', { threadId: thread.id }), { status: 'unsubscribed' });
	assert.deepEqual(await second.request('thread/unsubscribe', { threadId: thread.id }), { status: 'notSubscribed' });
});

test('settings change between turns, for all subscribers', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread.id, 'first');
	assert.deepEqual(await server.request('thread/settings/update', { threadId: thread.id }), {});
	assert.equal(server.all('thread/settings/updated').length, 0);
	const wishes = { threadId: thread.id, model: 'gpt-5.5', effort: 'high', approvalPolicy: 'untrusted', permissions: ':workspace' };
	assert.deepEqual(await server.request('thread/settings/update', wishes), {});
	const { params } = await server.next('thread/settings/updated');
	assert.equal(params.threadId, thread.id);
	const settings = params.threadSettings;
	assert.deepEqual([settings.model, settings.effort, settings.approvalPolicy, settings.sandboxPolicy.type,
		settings.activePermissionProfile.id], ['gpt-5.5', 'high', 'untrusted', 'workspaceWrite', ':workspace']);
	await turn(server, thread.id, 'second');
	assert.equal(model.requests().at(-1).body.model, 'gpt-5.5');
	const refused = (params) => assert.rejects(server.request('thread/settings/update', params), { code: -32600 });
	await refused({ threadId: NOBODY });
	await refused({ threadId: thread.id, permissions: ':everything' });
	await refused({ threadId: thread.id, permissions: ':workspace', sandboxPolicy: { type: 'dangerFullAccess' } });
	await refused({ threadId: thread.id, cwd: '/no/such/folder' });
});

test('a compaction is a turn of its own', options, async (t) => {
	const model = await startModel(t, [say('one'), say('the memo'), say('two')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread.id, 'first');
	const from = server.messages.length;
	assert.deepEqual(await server.request('thread/compact/start', { threadId: thread.id }), {});
	const { params } = await server.next('turn/completed');
	assert.deepEqual([params.turn.status, params.turn.items], ['completed', []]);
	assert.deepEqual(story(server.messages.slice(from)).filter((line) => !/^warning/.test(line)), ['thread/status/changed active',
		'turn/started', 'item/started contextCompaction', 'item/completed contextCompaction', 'thread/status/changed idle',
		'turn/completed']);
	await turn(server, thread.id, 'second');
	assert.match(textsOf(model.requests().at(-1), 'user').join('\n'), /the memo/);
	await assert.rejects(server.request('thread/compact/start', { threadId: NOBODY }), { message: `thread not found: ${NOBODY}` });
});

test('a thread is taken back to before a turn', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three'), run('sleep 60')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const first = await turn(server, thread.id, 'first');
	const second = await turn(server, thread.id, 'second');
	const revert = (beforeTurnId, threadId = thread.id) => server.request('thread/revert', { threadId, beforeTurnId });
	await assert.rejects(revert(NOBODY), { message: `turn not found: ${NOBODY}` });
	await assert.rejects(revert(second.id, NOBODY), { message: `thread not found: ${NOBODY}` });
	const { thread: reverted } = await revert(second.id);
	assert.deepEqual([reverted.id, reverted.turns, reverted.status.type], [thread.id, [], 'idle']);
	assert.deepEqual((await server.next('thread/reverted')).params, { threadId: thread.id });
	const third = await turn(server, thread.id, 'third');
	const said = textsOf(model.requests().at(-1), 'user');
	assert.ok(said.includes('first') && said.includes('third') && !said.includes('second'));
	const { thread: now } = await server.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(now.turns.map(({ id }) => id), [first.id, third.id]);
	await server.request('turn/start', { threadId: thread.id, input: [text('run')] });
	await assert.rejects(revert(first.id), { message: /a turn is in progress/ });
	const { thread: passing } = await server.request('thread/start', { ...FREE, ephemeral: true });
	await assert.rejects(revert(first.id, passing.id), { message: /ephemeral/ });
});

test('background commands are listed and terminated', options, async (t) => {
	const args = (seconds) => ({ cmd: `sleep ${seconds}`, yield_time_ms: 250 });
	const model = await startModel(t, [call('exec_command', args(61)), call('exec_command', args(62)),
		call('exec_command', args(63)), say('they run')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread.id, 'go');
	const terminals = (method, params) =>
		server.request(`thread/backgroundTerminals/${method}`, { threadId: thread.id, ...params });
	const { data, nextCursor } = await terminals('list');
	assert.deepEqual([data.map(({ command }) => command), nextCursor], [['sleep 61', 'sleep 62', 'sleep 63'], null]);
	const begun = server.all('item/started').find(({ params }) => params.item.type === 'commandExecution').params.item;
	assert.deepEqual(data[0], { itemId: begun.id, processId: begun.processId, command: 'sleep 61', cwd: server.cwd,
		osPid: null, cpuPercent: null, rssKb: null });
	const page = await terminals('list', { limit: 2 });
	assert.deepEqual([page.data.length, page.nextCursor], [2, data[1].itemId]);
	assert.deepEqual((await terminals('list', { cursor: page.nextCursor })).data, [data[2]]);
	assert.deepEqual(await terminals('terminate', { processId: '1' }), { terminated: false });
	assert.deepEqual(await terminals('terminate', { processId: data[0].processId }), { terminated: true });
	const ended = (await server.next('item/completed')).params.item;
	assert.deepEqual([ended.id, ended.status], [data[0].itemId, 'failed']);
	assert.deepEqual((await terminals('list')).data, data.slice(1));
	assert.deepEqual(await terminals('clean'), {});
	for (const { itemId } of data.slice(1)) assert.equal((await server.next('item/completed')).params.item.id, itemId);
	assert.deepEqual(await terminals('list'), { data: [], nextCursor: null });
	await assert.rejects(terminals('terminate', { processId: 'x' }), {
		message: 'invalid background terminal process id: invalid digit found in string' });
	await assert.rejects(terminals('list', { cursor: 'x' }), { message: 'invalid cursor: x' });
	await assert.rejects(terminals('clean', { threadId: NOBODY }), { message: `thread not found: ${NOBODY}` });
});
