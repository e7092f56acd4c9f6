// Notes on threads and additions to them by clients of `codex app-server`, between turns.

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

test('a plan that was approved is in the history of the thread that carries it out', options, async (t) => {
	const model = await startModel(t, [say('done')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const prepare = (markdown, more) =>
		server.request('thread/prepareApprovedPlan', { threadId: thread.id, markdown, ...more });
	await assert.rejects(prepare(' \n'), { code: -32600, message: 'The approved plan is empty.' });
	await assert.rejects(prepare('x', { attachmentPath: 'plan.md' }), { code: -32602, message: /must be absolute/ });
	const { prompt } = await prepare('# Plan\n- "one" \u0001\n', { attachmentPath: '/no/such/file' });
	assert.match(prompt, /plan/);
	await turn(server, thread.id, prompt);
	assert.ok(textsOf(model.requests()[0], 'developer').some((it) => it.includes('\n# Plan\n- "one" \u0001\n')));
	assert.deepEqual(textsOf(model.requests()[0], 'user').slice(-1), [prompt]);
});

test('a sample is an answer after the last turn that is not recorded', options, async (t) => {
	const model = await startModel(t, [say('one'), say('aside'), run('ls'),
		reply({ call: 'exec_command', arguments: { cmd: 'cat' }, call_id: 'c' }), say('two')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const sample = (expectedTurnId, prompt = 'and else?') =>
		server.request('thread/sample', { threadId: thread.id, expectedTurnId, prompt });
	const outdated = { code: -32600, message: 'sample source turn must be the latest finished turn' };
	await assert.rejects(sample('x'), outdated);
	const { id } = await turn(server, thread.id, 'first');
	await assert.rejects(sample('x'), outdated);
	const before = server.messages.length;
	const { text: words, sourceTurnId, outputTokens, responseId } = await sample(id);
	assert.deepEqual([words, sourceTurnId], ['aside', id]);
	assert.ok(responseId && outputTokens > 0);
	assert.deepEqual(textsOf(model.requests()[1], 'user').slice(-2), ['first', 'and else?']);
	assert.deepEqual(model.requests()[1].body.tools, model.requests()[0].body.tools);
	assert.equal((await sample(id)).text, null, 'it wanted a tool');
	assert.deepEqual(server.messages.slice(before).filter(({ method }) => method), [], 'nobody is told');
	const { turn: running } = await server.request('turn/start', { threadId: thread.id, input: [text('second')] });
	await assert.rejects(sample(running.id), outdated);
	await server.take(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution', 'cat');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: running.id });
	assert.deepEqual(textsOf(model.requests()[3], 'user').slice(-2), ['first', 'second']);
	await assert.rejects(server.request('thread/sample', { threadId: 'x', expectedTurnId: id, prompt: 'x' }),
		{ code: -32600, message: 'thread/sample requires a loaded source' });
});

test('a sample works after a resume and can be cancelled', options, async (t) => {
	const model = await startModel(t, [say('one'), reply({ hang: true }), say('two')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const { id: expectedTurnId } = await turn(server, thread.id, 'first');
	await server.end();
	const later = await startAppServer(t, model, { home: server.home });
	await later.request('thread/resume', { threadId: thread.id });
	const sample = later.request('thread/sample', { threadId: thread.id, expectedTurnId, prompt: 'x' }, 'my sample');
	assert.deepEqual(await later.request('thread/sample/cancel', { requestId: 'other' }), {});
	assert.deepEqual(await later.request('thread/sample/cancel', { requestId: 'my sample' }), {});
	await assert.rejects(sample, { code: -32600, message: 'the sample was cancelled' });
	assert.equal((await later.end()).code, 0);
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
	assert.match((await server.next('warning')).params.message, /`bogus` was skipped/);
	await turn(server, thread.id, 'first');
	assert.ok(!JSON.stringify(model.requests()[0].body.input).includes('bogus'));
});

test('the read state is sent to all subscribers and is stored', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three'), httpError(400, 'no'), say('four'), say('five'),
		say('six')]);
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
	await update('unread', (await read()).revision);
	await turn(server, threadId, 'four');
	const whole = await read();
	assert.deepEqual(whole.firstUnread, { type: 'threadStart' });
	await server.end(); // the revision of a turn after an unread one is stored at the latest here

	const again = await startAppServer(t, model, { home: server.home });
	assert.deepEqual(await read(again), whole); // not loaded
	const listed = await again.request('thread/list', {});
	assert.deepEqual(listed.readStates, { [threadId]: whole });
	const { readState: done } = await update('read', whole.revision, again);
	await again.request('thread/resume', { threadId });
	assert.deepEqual(await read(again), done);
	const last = await turn(again, threadId, 'fifth');
	await turn(again, threadId, 'sixth');
	assert.deepEqual((await read(again)).firstUnread, { type: 'turn', turnId: last.id });
	await again.request('thread/delete', { threadId });
	await assert.rejects(update('read', 'x', again), { message: `thread not loaded: ${threadId}` });
	assert.deepEqual(fs.readdirSync(path.join(server.home, 'thread_notes')), []);
});

test('metadata of a thread can be changed, loaded or not', options, async (t) => {
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

test('the timeline has turns and items in order, and is read from its end', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const { thread: { id: threadId } } = await server.request('thread/start', FREE);
	const list = (more) => server.request('thread/timeline/list', { threadId, ...more });
	const first = await turn(server, threadId, 'first');
	const second = await turn(server, threadId, 'second');
	const whole = await list();
	const names = ({ type, item }) => item ? `${type} ${item.type}` : type;
	const each = ['turnStarted', 'item userMessage', 'item agentMessage', 'turnCompleted'];
	assert.deepEqual(whole.data.map(names), [...each, ...each]);
	assert.deepEqual(whole.data.map(({ turnId }) => turnId), [...Array(4).fill(first.id), ...Array(4).fill(second.id)]);
	assert.deepEqual(whole.data.map(({ position }) => position), [0, 1, 2, 3, 4, 5, 6, 7]);
	assert.deepEqual([whole.nextCursor, whole.activeRealtimeSessionAtPageStart], [null, null]);
	const end = whole.data[7];
	assert.deepEqual([end.status, end.error, end.completedAt >= end.startedAt], ['completed', null, true]);
	const pages = [];
	for (let cursor, page; !pages.length || cursor; cursor = page.nextCursor) {
		page = await list({ limit: 3, cursor });
		pages.unshift(...page.data);
	}
	assert.deepEqual(pages, whole.data);
	assert.equal((await list({ limit: 0 })).data.length, 1);
	await assert.rejects(list({ cursor: 'bogus' }), { code: -32600, message: 'invalid thread timeline cursor' });
	await assert.rejects(list({ threadId: NOBODY }), { message: `thread not loaded: ${NOBODY}` });
});

test('a resume returns the cursors of its lists', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const { thread: { id: threadId } } = await server.request('thread/start', FREE);
	await turn(server, threadId, 'first');
	await turn(server, threadId, 'second');
	const resumed = await server.request('thread/resume', { threadId, excludeTurns: true });
	const turns = await server.request('thread/turns/list', { threadId, cursor: resumed.turnsBackwardsCursor, sortDirection: 'asc' });
	assert.equal(turns.data.length, 1); // the last one, and what will come after it
	const items = await server.request('thread/items/list', { threadId, cursor: resumed.itemsBackwardsCursor });
	assert.deepEqual(items.data.map(({ item }) => item.text), ['two']);
});

test('older clients ask for a summary', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread.id, 'first');
	await server.request('thread/metadata/update', { threadId: thread.id, gitInfo: { branch: 'b' } });
	const { summary } = await server.request('getConversationSummary', { conversationId: thread.id });
	assert.deepEqual(summary, { conversationId: thread.id, path: thread.path, preview: 'first', timestamp: summary.timestamp,
		updatedAt: summary.updatedAt, modelProvider: 'mock', cwd: server.cwd, cliVersion: thread.cliVersion, source: 'vscode',
		gitInfo: { sha: null, branch: 'b', origin_url: null } });
	assert.ok(Date.parse(summary.timestamp) <= Date.parse(summary.updatedAt));
	assert.deepEqual(await server.request('getConversationSummary', { rolloutPath: thread.path }), { summary });
	const sourceOf = async (source) => { // of a copy with that source
		const text = fs.readFileSync(thread.path, 'utf8').replaceAll(thread.id, NOBODY);
		assert.ok(text.includes('"source":"vscode"'));
		const rolloutPath = thread.path.replace(thread.id, NOBODY);
		fs.writeFileSync(rolloutPath, text.replace('"source":"vscode"', `"source":${JSON.stringify(source)}`));
		const answer = await server.request('getConversationSummary', { rolloutPath });
		fs.rmSync(rolloutPath);
		return answer.summary.source;
	};
	assert.equal(await sourceOf('mcp'), 'mcp');
	assert.deepEqual(await sourceOf({ subagent: 'review' }), { subagent: 'review' });
	const refused = (params, message) => assert.rejects(server.request('getConversationSummary', params), { message });
	await refused({ conversationId: NOBODY }, `no rollout found for conversation id ${NOBODY}`);
	await refused({ rolloutPath: '/nope' }, 'failed to resolve rollout path `/nope`: file does not exist');
	await refused({}, /did not match any variant/);
	await refused({ conversationId: 'nope' }, /did not match any variant/);
});

test('a thread waits while its client asks for the approval of a command', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const server = await startAppServer(t, model);
	const { thread: { id: threadId } } = await server.request('thread/start', FREE);
	const count = (way, id = threadId) => server.request(`thread/${way}_elicitation`, { threadId: id });
	await assert.rejects(count('decrement'), { message: 'out-of-band elicitation count is already zero' });
	assert.deepEqual(await count('increment'), { count: 1, paused: true });
	assert.deepEqual(await count('increment'), { count: 2, paused: true });
	const done = turn(server, threadId, 'go');
	assert.deepEqual(await count('decrement'), { count: 1, paused: true });
	assert.equal(server.all('item/agentMessage/delta').length, 0);
	assert.deepEqual(await count('decrement'), { count: 0, paused: false });
	assert.equal((await done).items[0].text, 'one');
	await assert.rejects(count('increment', NOBODY), { message: `thread not found: ${NOBODY}` });
	await count('increment'); // the last subscriber's exit removes the pending requests
	await server.request('thread/unsubscribe', { threadId });
	await assert.rejects(count('decrement'), { message: 'out-of-band elicitation count is already zero' });
	await assert.rejects(count('increment'), /not subscribed to thread/);
});

test('this machine is the one environment', options, async (t) => {
	const server = await startAppServer(t, await startModel(t, [say('unheard')]));
	const ask = (what, environmentId) => server.request(`environment/${what}`, { environmentId });
	const { shell, cwd } = await ask('info', 'local');
	assert.equal(cwd, `file://${server.cwd}`);
	assert.equal(shell.name, path.basename(shell.path));
	assert.deepEqual(await ask('status', 'local'), { status: 'ready' });
	assert.deepEqual(await ask('status', 'x'), { status: 'unknown', error: 'unknown environment id `x`' });
	await assert.rejects(ask('info', 'x'), { code: -32600, message: 'unknown environment id `x`' });
});

test('features are listed as a thread has them', options, async (t) => {
	const server = await startAppServer(t, await startModel(t, [say('unheard')]));
	const { thread } = await server.request('thread/start', { ...FREE, config: { 'features.unified_exec': false } });
	const list = async (params) => (await server.request('experimentalFeature/list', params)).data;
	const find = (data) => data.find(({ name }) => name === 'unified_exec').enabled;
	assert.equal(find(await list({ threadId: thread.id })), false);
	assert.equal(find(await list({})), true);
	await assert.rejects(list({ threadId: NOBODY }), { message: `thread not found: ${NOBODY}` });
});

test('a thread without subscribers is unloaded once it is idle', options, async (t) => {
	const model = await startModel(t, [say('one'), reply({ message: 'half' }, { gate: 'end' }), say('three')]);
	const server = await startAppServer(t, model, { args: ['-c', 'app_server.idle_thread_timeout_ms=100'] });
	const { thread: { id: threadId } } = await server.request('thread/start', FREE);
	const { thread: followed } = await server.request('thread/start', FREE);
	await turn(server, threadId, 'first');
	await server.request('turn/start', { threadId, input: [text('second')] });
	await server.next('item/agentMessage/delta');
	assert.deepEqual(await server.request('thread/unsubscribe', { threadId }), { status: 'unsubscribed' });
	const loaded = async () => (await server.request('thread/loaded/list', {})).data;
	assert.deepEqual(await loaded(), [threadId, followed.id]); // its turn continues
	await model.openGate('end');
	assert.deepEqual((await server.next('thread/closed')).params, { threadId });
	assert.deepEqual(server.all('thread/status/changed').at(-1).params, { threadId, status: { type: 'notLoaded' } });
	assert.deepEqual(await loaded(), [followed.id]);
	const { thread } = await server.request('thread/resume', { threadId });
	assert.deepEqual(thread.turns.map(({ status }) => status), ['completed', 'completed']);
	assert.equal((await turn(server, threadId, 'third')).items[0].text, 'three');
});
