// The items that a client received while a thread ran are the items that it receives later: from another
// server, of a fork, after a resume.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { makeHome, needs, patch, readLines, run, say, startModel } from './lib/codex.mjs';
import { collaborative, collaborativeScript, eventful, plain, script, told } from './lib/eventful.mjs';

const options = needs('app-server');

test('stored turns have the ids, states and items that were emitted live', options, async (t) => {
	const model = await startModel(t, script());
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread, live } = await eventful(server);
	assert.deepEqual(live.map(({ status }) => status),
		['completed', 'failed', 'interrupted', 'completed', 'completed', 'completed']);
	const kinds = live.map(({ items }) => items.map(({ type, status }) => type + (status ? ` ${status}` : '')));
	assert.deepEqual(kinds[0].toSorted(), ['agentMessage', 'agentMessage', 'commandExecution completed',
		'commandExecution completed', 'commandExecution failed', 'fileChange completed', 'fileChange completed', 'imageView',
		'reasoning', 'userMessage', 'webSearch']);
	assert.deepEqual(kinds[2], ['userMessage', 'agentMessage']);
	assert.equal(live[2].items[1].text, 'As far as ');
	await server.end();

	const other = await startAppServer(t, model, { home, cwd: server.cwd });
	const read = await other.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.equal(read.thread.historyMode, 'paginated');
	assert.deepEqual(plain(read.thread.turns), plain(live));
	for (const method of ['thread/resume', 'thread/fork']) {
		const { thread: loaded } = await other.request(method, { threadId: thread.id });
		assert.deepEqual(plain(loaded.turns), plain(live), method);
		const stored = readLines(loaded.path);
		const before = stored[0].payload.history_base?.end_ordinal_exclusive ?? 0;
		assert.deepEqual(stored.map(({ ordinal }) => ordinal), stored.map((_, index) => before + index), method);
	}
});

test('actions of the web search have the names of the app-server, live and stored', options, async (t) => {
	const url = 'https://a.org/x';
	const actions = [{ type: 'search', query: 'one' }, { type: 'open_page', url }, { type: 'find_in_page', url, pattern: 'x' }, { type: 'new' }];
	const model = await startModel(t, [{ reply: actions.map((action, i) =>
		({ item: { type: 'web_search_call', id: `ws_${i}`, status: 'completed', action } })).concat({ message: 'Done.' }) }]);
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('turn/completed');
	const want = [actions[0], { type: 'openPage', url }, { type: 'findInPage', url, pattern: 'x' }, { type: 'other' }];
	const searches = (turns) => turns[0].items.filter(({ type }) => type === 'webSearch').map(({ action }) => action);
	assert.deepEqual(searches(told(server.messages, thread.id)), want);
	await server.end();
	const other = await startAppServer(t, model, { home });
	const read = await other.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.deepEqual(searches(read.thread.turns), want);
	await other.end();
});

test('declined items are stored as declined', options, async (t) => {
	const model = await startModel(t, [run('touch x'), patch('*** Add File: y', '+y'), say('As you wish.')]);
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'untrusted' });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	for (let i = 0; i < 2; i++)
		server.answer(await server.take((message) => /requestApproval$/.test(message.method)), { decision: 'decline' });
	await server.next('turn/completed');
	const live = told(server.messages, thread.id);
	assert.deepEqual(live[0].items.map(({ status }) => status).filter(Boolean), ['declined', 'declined']);
	await server.end();
	const other = await startAppServer(t, model, { home });
	const read = await other.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.deepEqual(plain(read.thread.turns), plain(live));
});

test('calls of subagent tools are items of the stored turn', options, async (t) => {
	const model = await startModel(t, collaborativeScript());
	const home = makeHome(t, model, 'model = "gpt-5.5"\n');
	const server = await startAppServer(t, model, { home });
	const { thread, live } = await collaborative(server);
	const calls = live.flatMap(({ items }) => items).filter(({ type }) => type === 'collabAgentToolCall');
	assert.deepEqual(calls.map(({ tool, status }) => `${tool} ${status}`), ['spawnAgent completed', 'wait completed',
		'closeAgent completed', 'resumeAgent completed', 'sendInput completed', 'wait completed', 'wait failed',
		'closeAgent failed', 'spawnAgent failed', 'spawnAgent completed', 'wait interrupted']);
	assert.deepEqual([calls[0], calls[9]].map(({ model: name, reasoningEffort }) => [name, reasoningEffort]),
		[['gpt-5.5', 'low'], ['gpt-5.5', 'high']]);
	assert.deepEqual(Object.values(calls[5].agentsStates), [{ status: 'completed', message: 'Plums.' }]);
	server.child.kill('SIGKILL');
	await server.done;

	const other = await startAppServer(t, model, { home, cwd: server.cwd });
	const read = await other.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.deepEqual(plain(read.thread.turns), plain(live));
	const began = read.thread.turns.flatMap(({ items }) => items).map(({ startedAtMs }) => startedAtMs);
	assert.ok(began.every((ms) => ms > 0));
	for (const method of ['thread/resume', 'thread/fork']) {
		const { thread: loaded } = await other.request(method, { threadId: thread.id });
		assert.deepEqual(plain(loaded.turns), plain(live), method);
	}
	for (const { id, items } of live) {
		const { data } = await other.request('thread/items/list', { threadId: thread.id, turnId: id, limit: 100 });
		assert.deepEqual(plain([{ items: data.map(({ item }) => item) }]), plain([{ items }]));
	}
	await other.end();
});
