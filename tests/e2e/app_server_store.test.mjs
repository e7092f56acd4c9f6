// Stored threads in `codex app-server`: lists, turns, items, the archive.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { makeHome, needs, readLines, rollouts, run, say, startModel, textsOf } from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const NOBODY = '00000000-0000-7000-8000-000000000000';
const CAPTURES = new URL('../../../shared/reference/captures/app-server/', import.meta.url);

/** Starts a thread and sends each of the words in its own turn; resolves to the thread. */
async function talk(server, ...words) {
	const { thread } = await server.request('thread/start', FREE);
	for (const said of words) {
		await server.request('turn/start', { threadId: thread.id, input: [text(said)] });
		await server.next('turn/completed');
	}
	return thread;
}

/** The request fails with this message. */
const refused = (promise, message, code = -32600) =>
	assert.rejects(promise, (error) => error.code === code && (message.test?.(error.message) ?? error.message === message));

/** The names of all members, in order, of the response of the reference to this method. */
function answersOf(name, method) {
	const lines = fs.readFileSync(new URL(name, CAPTURES), 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
	const asked = lines.filter(({ dir, msg }) => dir === '>' && msg.method === method);
	return asked.map(({ msg }, index) => {
		const from = lines.findIndex((line) => line.msg === msg);
		return lines.slice(from).find((line) => line.dir === '<' && !line.msg.method && line.msg.id === msg.id)?.msg.result;
	});
}

test('stored threads are listed, newest first, as the reference lists them', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three')]);
	const server = await startAppServer(t, model);
	assert.deepEqual(await server.request('thread/list', {}),
		{ data: [], readStates: {}, nextCursor: null, backwardsCursor: null });
	const threads = [await talk(server, 'first Question'), await talk(server, 'second'), await talk(server, 'third')];
	const ids = threads.map(({ id }) => id);
	const list = (params = {}) => server.request('thread/list', params);
	const listed = async (params) => (await list(params)).data.map(({ id }) => id);
	assert.deepEqual(await listed(), [...ids].reverse());
	assert.deepEqual(await listed({ sortDirection: 'asc' }), ids);
	assert.deepEqual(await listed({ sortKey: 'updated_at' }), [...ids].reverse());
	assert.deepEqual(await listed({ searchTerm: 'QUESTION' }), [ids[0]]);
	assert.deepEqual(await listed({ cwd: server.cwd }), [...ids].reverse());
	assert.deepEqual(await listed({ cwd: ['/elsewhere', server.cwd + '/'] }), [...ids].reverse());
	assert.deepEqual(await listed({ cwd: '/elsewhere' }), []);
	assert.deepEqual(await listed({ modelProviders: ['other'] }), []);
	assert.deepEqual(await listed({ modelProviders: [] }), [...ids].reverse());
	assert.deepEqual(await listed({ sourceKinds: ['exec', 'subAgent'] }), []);
	assert.deepEqual(await listed({ sourceKinds: ['vscode'], excludedThreadIds: [ids[1]] }), [ids[2], ids[0]]);
	assert.deepEqual(await listed({ archived: true }), []);
	assert.deepEqual(await listed({ projectId: 'p' }), []);
	const { data: [newest] } = await list();
	assert.equal(newest.preview, 'third');
	assert.deepEqual(newest.status, { type: 'idle' });
	assert.deepEqual(newest.turns, []);
	assert.equal(newest.path, threads[2].path);
});

test('a list is read in parts, in both directions', options, async (t) => {
	const model = await startModel(t, Array.from({ length: 5 }, (_, i) => say(`answer ${i}`)));
	const server = await startAppServer(t, model);
	const ids = [];
	for (let i = 0; i < 5; i++) ids.unshift((await talk(server, `question ${i}`)).id);
	const list = (params) => server.request('thread/list', params);
	const seen = [];
	let part, cursor;
	do {
		part = await list({ limit: 2, ...(cursor && { cursor }) });
		seen.push(...part.data.map(({ id }) => id));
		cursor = part.nextCursor;
	} while (cursor);
	assert.deepEqual(seen, ids);
	const back = await list({ cursor: part.backwardsCursor, sortDirection: 'asc', limit: 2 });
	assert.deepEqual(back.data.map(({ id }) => id), [ids[4], ids[3]]);
	assert.equal((await list({ limit: 0 })).data.length, 1);
	assert.equal((await list({ limit: 4294967295 })).data.length, 5);
	await refused(list({ cursor: 'nonsense' }), 'invalid cursor: nonsense');
	await refused(list({ cursor: '2026-11-20T23:38:01.465Z|x' }), /^invalid cursor: /);
	await refused(list({ sortKey: 'colour' }), /^Invalid request: unknown variant `colour`/);
});

test('a thread is read with its turns, from another process, too', options, async (t) => {
	const model = await startModel(t, [run('echo hi'), say('answer one'), say('answer two')]);
	const first = await startAppServer(t, model);
	const thread = await talk(first, 'first question', 'second question');
	const before = await first.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.equal((await first.end()).code, 0);
	const server = await startAppServer(t, model, { home: first.home });
	const read = (params) => server.request('thread/read', { threadId: thread.id, ...params });
	const { thread: stored, readState } = await read({ includeTurns: true });
	assert.equal(readState.firstUnread.type, 'turn');
	assert.deepEqual(stored.turns, before.thread.turns);
	assert.deepEqual(stored.status, { type: 'notLoaded' });
	assert.equal(stored.environments, null);
	assert.equal(stored.canAcceptDirectInput, null);
	assert.equal(before.thread.canAcceptDirectInput, true);
	assert.deepEqual((await read()).thread.turns, []);
	assert.deepEqual(stored.turns.map(({ items, status }) => [status, ...items.map(({ type }) => type)]), [
		['completed', 'userMessage', 'commandExecution', 'agentMessage'],
		['completed', 'userMessage', 'agentMessage'],
	]);
	const command = stored.turns[0].items[1];
	assert.deepEqual([command.status, command.aggregatedOutput, command.exitCode], ['completed', 'hi\n', 0]);
	await refused(server.request('thread/read', { threadId: NOBODY }), `thread not loaded: ${NOBODY}`);
	await refused(server.request('thread/read', { threadId: 'x' }), /^invalid thread id: /);
});

test('turns and items come in parts', options, async (t) => {
	const model = await startModel(t, [run('echo hi'), say('answer one'), say('answer two'), say('answer three')]);
	const server = await startAppServer(t, model);
	const { id: threadId } = await talk(server, 'one', 'two', 'three');
	const turns = (params) => server.request('thread/turns/list', { threadId, ...params });
	const all = await turns();
	assert.deepEqual(all.data.map(({ items }) => items[0].content[0].text), ['three', 'two', 'one']);
	assert.deepEqual(all.data[2].items.map(({ type }) => type), ['userMessage', 'agentMessage']);
	assert.equal(all.data[0].itemsView, 'summary');
	assert.equal(all.nextCursor, null);
	const part = await turns({ limit: 2 });
	const rest = await turns({ limit: 2, cursor: part.nextCursor });
	assert.deepEqual([...part.data, ...rest.data], all.data);
	assert.equal(rest.nextCursor, null);
	const back = await turns({ cursor: rest.backwardsCursor, sortDirection: 'asc', itemsView: 'full' });
	assert.deepEqual(back.data.map(({ id }) => id), [...all.data.map(({ id }) => id)].reverse());
	assert.equal(back.data[0].items.length, 3);
	assert.deepEqual((await turns({ itemsView: 'notLoaded' })).data[0].items, []);
	await refused(turns({ cursor: '{}' }), 'invalid cursor: {}');
	await refused(turns({ cursor: part.nextCursor.replace(/"rolloutOrdinal":\d+/, '"rolloutOrdinal":99') }), /^invalid cursor/);

	const items = (params) => server.request('thread/items/list', { threadId, ...params });
	const every = await items();
	assert.deepEqual(every.data.map(({ item }) => item.type), ['userMessage', 'commandExecution', 'agentMessage',
		'userMessage', 'agentMessage', 'userMessage', 'agentMessage']);
	const some = await items({ limit: 3 });
	assert.deepEqual((await items({ cursor: some.nextCursor })).data, every.data.slice(3));
	assert.deepEqual((await items({ cursor: { type: 'item', itemId: every.data[4].item.id } })).data, every.data.slice(4));
	assert.deepEqual((await items({ sortDirection: 'desc', limit: 1 })).data, every.data.slice(6));
	assert.deepEqual((await items({ turnId: all.data[1].id })).data, every.data.slice(3, 5));
	const deferred = (await items({ deferOutput: { commandExecution: true } })).data[1];
	assert.deepEqual([deferred.outputDeferred, deferred.item.aggregatedOutput], [true, null]);
	await refused(items({ turnId: NOBODY }), `turn not found: ${NOBODY}`);
	await refused(items({ cursor: part.nextCursor }), /^invalid cursor/);
	const call = every.data[1];
	const readItems = (itemIds) => server.request('thread/items/read', { threadId, turnId: call.turnId, itemIds });
	assert.deepEqual((await readItems([call.item.id, 'nobody'])).data, [call]);
	await refused(readItems([]), 'itemIds must contain 1 to 100 IDs');
});

test('a thread is archived and restored', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const { id: threadId, path: file } = await talk(server, 'first');
	const other = await talk(server, 'second');
	const call = (method, params) => server.request(`thread/${method}`, { threadId, ...params });
	const listed = async (archived) => (await server.request('thread/list', { archived })).data.map(({ id }) => id);
	assert.deepEqual(await call('archive'), {});
	assert.deepEqual((await server.next('thread/archived')).params, { threadId });
	assert.deepEqual(server.all('thread/status/changed').at(-1).params, { threadId, status: { type: 'notLoaded' } });
	assert.deepEqual(await server.request('thread/loaded/list', {}), { data: [other.id], nextCursor: null });
	assert.equal(fs.existsSync(file), false);
	const away = path.join(server.home, 'archived_sessions', path.basename(file));
	assert.ok(fs.existsSync(away));
	assert.deepEqual([await listed(false), await listed(true)], [[other.id], [threadId]]);
	await refused(call('archive'), `no rollout found for thread id ${threadId}`);
	await refused(server.request('turn/start', { threadId, input: [text('x')] }), `thread not found: ${threadId}`);
	const { thread } = await call('unarchive');
	assert.deepEqual([thread.id, thread.path, thread.status], [threadId, file, { type: 'notLoaded' }]);
	assert.deepEqual((await server.next('thread/unarchived')).params, { threadId });
	await refused(call('unarchive'), `no archived rollout found for thread id ${threadId}`);
	assert.deepEqual(await call('delete'), {});
	assert.deepEqual((await server.next('thread/deleted')).params, { threadId });
	assert.deepEqual([fs.existsSync(file), fs.existsSync(away)], [false, false]);
	await refused(call('delete'), `no rollout found for thread id ${threadId}`);
	await refused(server.request('thread/archive', { threadId: '../../x' }), /^invalid thread id/);
});

test('a running thread that is archived ends its turn', options, async (t) => {
	const model = await startModel(t, [run('sleep 100')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('wait')] });
	await server.take(({ params }) => params?.item?.type === 'commandExecution', 'command');
	assert.deepEqual(await server.request('thread/archive', { threadId: thread.id }), {});
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	await server.next('thread/archived');
	assert.equal((await server.end()).code, 0);
});

test('a thread with forks or writers cannot be deleted', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const first = await startAppServer(t, model);
	const { id: threadId, path: file } = await talk(first, 'first');
	const second = await startAppServer(t, model, { home: first.home });
	await refused(second.request('thread/archive', { threadId }), /is being written by process/);
	await refused(second.request('thread/delete', { threadId }), /is being written by process/);
	assert.ok(fs.existsSync(file));
	assert.equal((await first.end()).code, 0);
	const forkId = '01900000-0000-7000-8000-000000000009';
	const payload = { id: forkId, cwd: '/w', history_base: { thread_id: threadId, end_byte_offset: 10 } };
	const fork = path.join(path.dirname(file), `rollout-2026-01-01T00-00-00-${forkId}.jsonl`);
	fs.writeFileSync(fork, JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type: 'session_meta', payload }) + '\n');
	await refused(second.request('thread/delete', { threadId }), `cannot delete thread ${threadId}: forked history still references it`);
	fs.rmSync(fork);
	assert.deepEqual(await second.request('thread/delete', { threadId }), {});
});

test('a thread is named, loaded or not', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const first = await startAppServer(t, model);
	const { id: threadId } = await talk(first, 'first');
	const name = (server, words) => server.request('thread/name/set', { threadId, name: words });
	assert.deepEqual(await name(first, ' My thread '), {});
	assert.deepEqual((await first.next('thread/name/updated')).params, { threadId, threadName: 'My thread' });
	await refused(name(first, ' '), 'thread name must not be empty');
	assert.equal((await first.request('thread/read', { threadId })).thread.name, 'My thread');
	assert.equal((await first.end()).code, 0);
	const server = await startAppServer(t, model, { home: first.home });
	assert.equal((await server.request('thread/list', { searchTerm: 'my THREAD' })).data[0].name, 'My thread');
	assert.deepEqual(await name(server, 'Another'), {});
	assert.equal((await server.request('thread/read', { threadId })).thread.name, 'Another');
	await refused(server.request('thread/name/set', { threadId: NOBODY, name: 'x' }), `no rollout found for thread id ${NOBODY}`);
});

test('messages are searched', options, async (t) => {
	const model = await startModel(t, [say('the Answer \u{1f600} answers'), say('nothing')]);
	const server = await startAppServer(t, model);
	const { id: threadId } = await talk(server, 'a question');
	await talk(server, 'another question');
	const search = (searchTerm, params) => server.request('thread/search', { searchTerm, ...params });
	const { data, nextCursor } = await search('ANSWER');
	assert.deepEqual([data.length, data[0].thread.id, data[0].snippet, nextCursor],
		[1, threadId, 'the Answer \u{1f600} answers', null]);
	const part = await search('question', { limit: 1, sortDirection: 'asc' });
	assert.deepEqual([part.data[0].thread.id, part.data[0].snippet], [threadId, 'a question']);
	assert.equal((await search('question', { cursor: part.nextCursor, sortDirection: 'asc' })).data[0].snippet, 'another question');
	assert.deepEqual((await search('nowhere')).data, []);
	await refused(search(''), 'searchTerm must not be empty');
	const places = (searchTerm, params) => server.request('thread/searchOccurrences', { threadId, searchTerm, ...params });
	const found = await places('answer');
	const said = (place) => place.snippet.slice(place.snippetMatchRange.start, place.snippetMatchRange.end);
	assert.deepEqual(found.data.map(said), ['Answer', 'answer']);
	const turns = await server.request('thread/turns/list', { threadId, cursor: found.data[0].turnCursor });
	assert.equal(turns.data[0].id, found.data[0].turnId);
	const first = await places('answer', { limit: 1 });
	assert.deepEqual((await places('answer', { cursor: first.nextCursor })).data, found.data.slice(1));
	await refused(places(''), 'searchTerm must not be empty');
});

test('answers have the members of codex 0.169', { skip: options.skip || !fs.existsSync(CAPTURES) }, async (t) => {
	const model = await startModel(t, [run('echo hi'), say('answer one'), say('answer two')]);
	const server = await startAppServer(t, model);
	const { id: threadId } = await talk(server, 'first question', 'second question');
	const names = (value) => Array.isArray(value) ? value.slice(0, 1).map(names)
		: value && typeof value === 'object' ? Object.entries(value).map(([key, inner]) => [key, names(inner)]) : null;
	const shape = (answer) => JSON.stringify(names(answer)).replace(/\["gitInfo",[^\]]*(\]\],?)*\]/g, '')
		.replace(/\["reasoningEffort",null\]/g, '');
	const keys = (object) => Object.keys(object);
	for (const method of ['thread/turns/list', 'thread/items/list']) {
		const [theirs] = answersOf('thread_lifecycle.jsonl', method);
		assert.equal(shape(await server.request(method, { threadId })), shape(theirs), method);
	}
	const theirs = answersOf('thread_lifecycle.jsonl', 'thread/list').find((answer) => answer.data.length);
	const ours = await server.request('thread/list', {});
	assert.deepEqual(keys(ours), keys(theirs));
	assert.deepEqual(keys(ours.data[0]), keys(theirs.data[0]));
	const read = answersOf('thread_lifecycle.jsonl', 'thread/read').find((answer) => answer?.thread.turns.length);
	const ourRead = await server.request('thread/read', { threadId, includeTurns: true });
	assert.deepEqual(keys(ourRead), keys(read));
	assert.deepEqual(keys(ourRead.thread.turns[0]), keys(read.thread.turns[0]));
});

test('foreign and damaged files are shown as far as they can be', options, async (t) => {
	const home = makeHome(t, null);
	const folder = path.join(home, 'sessions/2026/01/01');
	const id = (n) => `01900000-0000-7000-8000-00000000000${n}`;
	const line = (type, payload) => JSON.stringify({ timestamp: '2026-01-01T00:00:01.000Z', type, payload });
	const meta = (n) => line('session_meta', { id: id(n), timestamp: '2026-01-01T00:00:00.000Z', cwd: '/w',
		originator: 'old', cli_version: '0.40.0', source: 'vscode', model_provider: 'mock' });
	const said = (words) => line('event_msg', { type: 'user_message', message: words });
	const write = (n, lines) => fs.writeFileSync(path.join(folder, `rollout-2026-01-01T00-00-00-${id(n)}.jsonl`), lines.join('\n'));
	fs.mkdirSync(folder, { recursive: true });
	write(1, [meta(1), said('old question'), '{"damaged', line('event_msg', { type: 'agent_message', message: 'old answer' }), '{"torn']);
	write(2, ['nothing of a rollout']);
	write(3, ['']);
	write(4, [meta(4)]); // a session without messages
	fs.mkdirSync(path.join(folder, `rollout-2026-01-01T00-00-00-${id(5)}.jsonl`));
	fs.writeFileSync(path.join(folder, 'notes.txt'), 'mine');
	const server = await startAppServer(t, null, { home });
	const { data } = await server.request('thread/list', { modelProviders: [] });
	assert.deepEqual(data.map((thread) => [thread.id, thread.preview, thread.historyMode, thread.model]),
		[[id(1), 'old question', 'legacy', null]]);
	const { thread } = await server.request('thread/read', { threadId: id(1), includeTurns: true });
	assert.deepEqual(thread.turns.map((turn) => [turn.id, turn.status, ...turn.items.map((item) => [item.id, item.type])]),
		[['rollout-1', 'completed', ['item-1', 'userMessage'], ['item-2', 'agentMessage']]]);
	await refused(server.request('thread/read', { threadId: id(2), includeTurns: true }), /./);
	await refused(server.request('thread/turns/list', { threadId: id(3) }), /./);
	assert.deepEqual((await server.request('thread/items/list', { threadId: id(4) })).data, []);
	assert.equal((await server.end()).code, 0);
});

/** Sessions of another program with one turn each; every tenth contains a special word, every third has another folder. */
function putSessions(home, count) {
	const line = (type, payload) => JSON.stringify({ timestamp: '2026-11-20T10:00:00.123Z', type, payload }) + '\n';
	const rest = new Date('2026-01-01');
	for (let number = 0; number < count; number++) {
		const day = String(number % 28 + 1).padStart(2, '0');
		const hour = String(number % 24).padStart(2, '0');
		const folder = path.join(home, 'sessions/2025/10', day);
		const id = `01a1fb55-e849-4942-b12b-${String(number).padStart(12, '0')}`;
		const file = path.join(folder, `rollout-2025-10-${day}T${hour}-00-00-${id}.jsonl`);
		const cwd = number % 3 ? '/one' : '/two';
		if (number < 28) fs.mkdirSync(folder, { recursive: true });
		fs.writeFileSync(file, line('session_meta', { id, cwd, source: 'cli', model_provider: 'mock' }) +
			line('event_msg', { type: 'user_message', message: number % 10 ? `question ${number}` : `needle ${number}` }));
		fs.utimesSync(file, rest, rest);
	}
}

test('ten thousand sessions are listed and searched alike with an index, without, and with a damaged one', options, async (t) => {
	const model = await startModel(t, [say('nobody asks')]);
	const home = makeHome(t, model);
	const index = path.join(home, 'rollout_index.sqlite');
	putSessions(home, 10000);
	const all = async (server, method, params) => {
		const ids = [];
		for (let cursor = null; ;) {
			const { data, nextCursor } = await server.request(method, { limit: 100, ...params, cursor });
			ids.push(...data.map((it) => (it.thread ?? it).id));
			if (!nextCursor) return ids;
			cursor = nextCursor;
		}
	};
	const ask = async () => {
		const server = await startAppServer(t, model, { home });
		const answers = [await all(server, 'thread/list', {}), await all(server, 'thread/list', { cwd: '/two', sortDirection: 'asc' }),
			await all(server, 'thread/search', { searchTerm: 'NEEDLE 99' })];
		await server.end();
		return answers;
	};
	const first = await ask();
	assert.deepEqual(first.map(({ length }) => length), [10000, 3334, 11]);
	assert.equal(new Set(first[0]).size, 10000);
	assert.ok(fs.statSync(index).size > 100000);
	assert.deepEqual(await ask(), first);
	fs.writeFileSync(index, fs.readFileSync(index).fill(0x55, 5000, 500000));
	assert.deepEqual(await ask(), first);
	fs.rmSync(index);
	fs.mkdirSync(path.join(index, 'in the way'), { recursive: true });
	assert.deepEqual(await ask(), first);
});

test('a thread that was named before its first turn can be resumed, forked and archived', options, async (t) => {
	const model = await startModel(t, [say('From the fork.')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	await server.request('thread/name/set', { threadId: thread.id, name: 'Early' });
	assert.deepEqual((await server.request('thread/list', {})).data, []); // nothing was said in it yet
	const fork = (await server.request('thread/fork', { threadId: thread.id })).thread;
	assert.equal(fork.forkedFromId, thread.id);
	const resumed = (await server.request('thread/resume', { threadId: thread.id })).thread;
	assert.equal(resumed.name, 'Early');
	assert.deepEqual(resumed.turns, []);
	await server.request('turn/start', { threadId: fork.id, input: [text('hello')] });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'completed');
	assert.deepEqual(await server.request('thread/archive', { threadId: thread.id }), {});
	const second = await startAppServer(t, model, { home: server.home });
	await second.request('thread/unarchive', { threadId: thread.id });
	assert.equal((await second.request('thread/resume', { threadId: thread.id })).thread.name, 'Early');
});

/** One more turn of a thread; resolves when it is over. */
async function go(server, { id: threadId }, words) {
	await server.request('turn/start', { threadId, input: [text(words)] });
	await server.next('turn/completed');
}

/** Returns the input of a request after another process has resumed the thread. */
async function saidAfterResume(t, model, home, { id: threadId }) {
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/resume', { threadId });
	await go(server, thread, 'last');
	assert.equal((await server.end()).code, 0);
	return textsOf(model.requests().at(-1), 'user').filter((words) => /^(first|second|last)$/.test(words));
}

test('the file of an open session that is deleted is written again', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three')]);
	const server = await startAppServer(t, model);
	const thread = await talk(server, 'first');
	const before = fs.readFileSync(thread.path);
	fs.rmSync(path.join(server.home, 'sessions'), { recursive: true });
	await go(server, thread, 'second');
	const warnings = server.all('warning').map(({ params }) => [params.threadId, params.message]);
	assert.equal(warnings.length, 1);
	assert.equal(warnings[0][0], thread.id);
	assert.match(warnings[0][1], /was deleted while the session was open\. It has been written again: /);
	assert.ok(warnings[0][1].includes(thread.path));
	assert.deepEqual(rollouts(server.home), [thread.path]);
	assert.equal(fs.statSync(thread.path).mode & 0o777, 0o600);
	assert.ok(fs.readFileSync(thread.path).subarray(0, before.length).equals(before));
	assert.deepEqual(readLines(thread.path).map(({ ordinal }) => ordinal), readLines(thread.path).map((_, index) => index));
	assert.deepEqual(fs.readdirSync(path.dirname(thread.path)), [path.basename(thread.path)]);
	assert.equal((await server.end()).code, 0);
	assert.deepEqual(await saidAfterResume(t, model, server.home, thread), ['first', 'second', 'last']);
});

test('a file that replaced that of an open session is not overwritten', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three')]);
	const server = await startAppServer(t, model);
	const thread = await talk(server, 'first');
	const other = path.join(server.home, 'other');
	fs.writeFileSync(other, 'something else\n');
	fs.renameSync(other, thread.path);
	await go(server, thread, 'second');
	const [own] = rollouts(server.home).filter((file) => file !== thread.path);
	assert.equal(rollouts(server.home).length, 2);
	assert.ok(path.basename(own).startsWith(path.basename(thread.path, '.jsonl') + '_'));
	const warnings = server.all('warning').map(({ params }) => params.message);
	assert.equal(warnings.length, 1);
	assert.match(warnings[0], /was replaced by another one while the session was open/);
	assert.ok(warnings[0].includes(own));
	assert.equal(fs.readFileSync(thread.path, 'utf8'), 'something else\n');
	/* Clients learn the new name. */
	const joined = await server.request('thread/resume', { threadId: thread.id });
	assert.equal(joined.thread.path, own);
	assert.equal(joined.thread.turns.length, 2);
	assert.equal((await server.end()).code, 0);
	assert.deepEqual(await saidAfterResume(t, model, server.home, thread), ['first', 'second', 'last']);
	assert.equal(fs.readFileSync(thread.path, 'utf8'), 'something else\n');
});

test('a file that was moved away from an open session is written on', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const thread = await talk(server, 'first');
	const moved = path.join(server.home, 'moved.jsonl');
	fs.renameSync(thread.path, moved);
	await go(server, thread, 'second');
	assert.equal(server.all('warning').length, 0);
	assert.deepEqual(rollouts(server.home), []);
	const said = readLines(moved).filter(({ payload }) => payload.type === 'user_message').map(({ payload }) => payload.message);
	assert.deepEqual(said, ['first', 'second']);
});

test('a thread that is deleted while its turn runs stays deleted', options, async (t) => {
	const model = await startModel(t, [say('one'), run('sleep 100')]);
	const server = await startAppServer(t, model);
	const thread = await talk(server, 'first');
	await server.request('turn/start', { threadId: thread.id, input: [text('wait')] });
	await server.take(({ params }) => params?.item?.type === 'commandExecution', 'command');
	assert.deepEqual(await server.request('thread/delete', { threadId: thread.id }), {});
	await server.next('thread/deleted');
	assert.equal((await server.end()).code, 0);
	assert.deepEqual(rollouts(server.home), []);
});

test('a deletion that was refused leaves a session that outlives its file', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const thread = await talk(server, 'first');
	const { thread: fork } = await server.request('thread/fork', { threadId: thread.id });
	await refused(server.request('thread/delete', { threadId: thread.id }), /forked history still references it/);
	assert.ok(fork.path);
	fs.rmSync(thread.path);
	await go(server, thread, 'second');
	assert.ok(fs.existsSync(thread.path));
});
