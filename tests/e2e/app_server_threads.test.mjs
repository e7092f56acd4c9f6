// What clients of `codex app-server` note of threads, and add to them, between turns.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, story, text } from './lib/app_server.mjs';
import { httpError, needs, reply, run, say, startModel, textsOf } from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const NO_RETRIES = ['-c', 'model_providers.mock.request_max_retries=0', '-c', 'model_providers.mock.stream_max_retries=0'];
const NOBODY = '00000000-0000-7000-8000-000000000000';

async function turn(server, threadId, words) {
	const { turn } = await server.request('turn/start', { threadId, input: [text(words)] });
	const done = await server.take(({ method, params }) =>
		method === 'turn/completed' && params.turn.id === turn.id, 'turn/completed');
	return done.params.turn;
}

const said = (role, words) => ({ type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }] });

test('items of a client are history, before the first turn, between turns and after a resume', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const inject = (items, threadId = thread.id) => server.request('thread/inject_items', { threadId, items });
	assert.deepEqual(await inject([said('user', 'before all')]), {});
	await turn(server, thread.id, 'first');
	const users = textsOf(model.requests()[0], 'user');
	assert.deepEqual(users.slice(-2), ['before all', 'first']);
	assert.match(users[0], /environment_context/);
	assert.deepEqual(await inject([said('assistant', 'I said so'), { type: 'reasoning', summary: [] }]), {});
	await turn(server, thread.id, 'second');
	assert.deepEqual(model.requests()[1].body.input.slice(-3).map(({ type }) => type), ['message', 'reasoning', 'message']);
	assert.deepEqual(textsOf(model.requests()[1], 'assistant'), ['one', 'I said so']);
	await server.end();

	const later = await startAppServer(t, model, { home: server.home });
	await later.request('thread/resume', { threadId: thread.id });
	await turn(later, thread.id, 'third');
	assert.deepEqual(textsOf(model.requests()[2], 'assistant'), ['one', 'I said so', 'two']);
	assert.ok(textsOf(model.requests()[2], 'user').includes('before all'));
});

test('items that come while a turn runs wait until its calls have their outputs', options, async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'cat' }, call_id: 'c' }), run('true'), say('two')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const { turn: { id: turnId } } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ params }) => params?.item?.type === 'commandExecution', 'the command');
	assert.deepEqual(await server.request('thread/inject_items', { threadId: thread.id, items: [said('user', 'meanwhile')] }), {});
	await server.request('turn/interrupt', { threadId: thread.id, turnId });
	await turn(server, thread.id, 'again');
	const { input } = model.requests()[1].body;
	const [asked, answered, added] = [({ type }) => type === 'function_call', ({ type }) => type === 'function_call_output',
		({ content }) => content?.[0].text === 'meanwhile'].map((is) => input.findIndex(is));
	assert.ok(asked > 0 && answered === asked + 1 && added > answered, JSON.stringify(input));
});

test('items that would spoil the history are refused, and those of no kind left out', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const refused = (items, message, threadId = thread.id) =>
		assert.rejects(server.request('thread/inject_items', { threadId, items }), { code: -32600, message });
	const bad = 'items[0] is not a valid response item: ';
	await refused([], 'items must not be empty');
	await refused([{ x: 1 }], `${bad}missing field \`type\``);
	await refused(['a'], `${bad}invalid type: string, expected internally tagged enum ResponseItem`);
	await refused([{ type: 'message', role: 'user' }], `${bad}missing field \`content\``);
	await refused([said('user', 'no')], `thread not found: ${NOBODY}`, NOBODY);
	await refused('no list', /expected a sequence/);
	assert.deepEqual(await server.request('thread/inject_items', { threadId: thread.id, items: [{ type: 'bogus', x: 1 }] }), {});
	assert.match((await server.next('warning')).params.message, /`bogus` was left out/);
	await turn(server, thread.id, 'first');
	assert.ok(!JSON.stringify(model.requests()[0].body.input).includes('bogus'));
});

test('how far a thread was read is known to all who watch, and outlives the server', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three'), httpError(400, 'no'), say('five')]);
	const server = await startAppServer(t, model, { args: NO_RETRIES });
	const { thread } = await server.request('thread/start', FREE);
	const threadId = thread.id;
	const read = async (of = server) => (await of.request('thread/read', { threadId })).readState;
	const update = (type, expectedRevision, of = server) =>
		of.request('thread/readState/update', { threadId, expectedRevision, operation: { type } });
	assert.equal(await read(), null);
	await assert.rejects(update('read', 'x'), { message: 'thread read state unavailable' });
	const first = await turn(server, threadId, 'first');
	const { readState } = server.all('thread/readState/changed')[0].params;
	assert.deepEqual(readState.firstUnread, { type: 'turn', turnId: first.id });
	const order = story(server.messages).filter((line) => /readState|idle|turn.completed/.test(line));
	assert.deepEqual(order, ['thread/readState/changed', 'thread/status/changed idle', 'turn/completed']);
	await turn(server, threadId, 'second');
	const later = await read();
	assert.deepEqual(later.firstUnread, { type: 'turn', turnId: first.id }); // the first is the first that was not read
	assert.notEqual(later.revision, readState.revision);
	await assert.rejects(update('read', readState.revision), { code: -32600, message: 'read state changed',
		data: { reason: 'readStateConflict', readState: later } });
	const { readState: now } = await update('read', later.revision);
	assert.equal(now.firstUnread, null);
	assert.deepEqual(server.all('thread/readState/changed').at(-1).params, { threadId, readState: now });
	const third = await turn(server, threadId, 'third');
	await server.request('thread/revert', { threadId, beforeTurnId: third.id });
	assert.equal((await read()).firstUnread, null);
	const { id: turnId } = await turn(server, threadId, 'fails');
	assert.deepEqual((await read()).firstUnread, { type: 'turn', turnId });
	const { readState: whole } = await update('unread', (await read()).revision);
	assert.deepEqual(whole.firstUnread, { type: 'threadStart' });
	await server.end();

	const again = await startAppServer(t, model, { home: server.home });
	assert.deepEqual(await read(again), whole); // not loaded
	const listed = await again.request('thread/list', {});
	assert.deepEqual(listed.readStates, { [threadId]: whole });
	const { readState: done } = await update('read', whole.revision, again);
	await again.request('thread/resume', { threadId });
	assert.deepEqual(await read(again), done);
	const last = await turn(again, threadId, 'fifth');
	assert.deepEqual((await read(again)).firstUnread, { type: 'turn', turnId: last.id });
	await again.request('thread/delete', { threadId });
	await assert.rejects(update('read', 'x', again), { message: `thread not loaded: ${threadId}` });
	assert.deepEqual(fs.readdirSync(path.join(server.home, 'thread_notes')), []);
});

test('what is noted of a thread can be corrected, loaded or not', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const threadId = thread.id;
	await turn(server, threadId, 'first');
	const update = (wishes, of = server) => of.request('thread/metadata/update', { threadId, ...wishes });
	const refused = (wishes, message) => assert.rejects(update(wishes), { code: -32600, message });
	await refused({}, 'thread metadata update must include at least one field');
	await refused({ daybreakEnabled: null }, 'thread metadata update must include at least one field');
	await refused({ gitInfo: {} }, 'gitInfo must include at least one field');
	await refused({ gitInfo: { branch: ' ' } }, 'gitInfo.branch must not be empty');
	await refused({ gitInfo: { sha: 5 } }, /^Invalid request: invalid type: integer/);
	await refused({ projectId: 'nope' }, 'project not found: nope');
	await refused({ threadId: NOBODY, daybreakEnabled: true }, `no rollout found for thread id ${NOBODY}`);
	const { thread: passing } = await server.request('thread/start', { ...FREE, ephemeral: true });
	await refused({ threadId: passing.id, daybreakEnabled: true }, `ephemeral thread does not support metadata updates: ${passing.id}`);
	const origin = { sha: 'abc', branch: 'b1', originUrl: 'https://example.com/x' };
	assert.deepEqual((await update({ gitInfo: origin })).thread.gitInfo, origin);
	const now = { ...origin, sha: null, branch: 'b2' };
	assert.deepEqual((await update({ gitInfo: { sha: null, branch: ' b2 ' } })).thread.gitInfo, now);
	const { thread: changed } = await update({ daybreakEnabled: true });
	assert.deepEqual([changed.gitInfo, changed.daybreakEnabled, changed.preview], [now, true, 'first']);
	await server.end();

	const again = await startAppServer(t, model, { home: server.home });
	const [listed] = (await again.request('thread/list', {})).data;
	assert.deepEqual([listed.gitInfo, listed.daybreakEnabled], [now, true]);
	assert.deepEqual((await update({ gitInfo: { sha: 'def' } }, again)).thread.gitInfo, { ...now, sha: 'def' });
	const { thread: resumed } = await again.request('thread/resume', { threadId });
	assert.deepEqual([resumed.gitInfo, resumed.daybreakEnabled], [{ ...now, sha: 'def' }, true]);
});
