// thread/resume of `codex app-server`: stored threads, and threads that other clients have loaded.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { startAppServer, text } from './lib/app_server.mjs';
import { makeHome, needs, readLines, rollouts, run, say, sharedPath, startModel, textsOf } from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const NOBODY = '00000000-0000-7000-8000-000000000000';

async function turn(server, threadId, words) {
	const { turn } = await server.request('turn/start', { threadId, input: [text(words)] });
	const done = await server.next('turn/completed');
	assert.equal(done.params.turn.id, turn.id);
	return done.params.turn;
}

/** A thread of one turn, "first", whose server has ended. */
async function ended(t, model) {
	const home = makeHome(t, model);
	const first = await startAppServer(t, model, { home });
	const { thread } = await first.request('thread/start', FREE);
	await turn(first, thread.id, 'first');
	await first.end();
	return { home, thread, cwd: first.cwd };
}

/** A capture's messages; skips the test without captures. */
function capture(t, name) {
	const file = sharedPath(`reference/captures/app-server/${name}.jsonl`);
	if (!file) t.skip('no captures');
	return file && fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
		.filter(({ dir, msg }) => dir === '<' && msg).map(({ msg }) => msg);
}

test('a thread continues in another process', options, async (t) => {
	const model = await startModel(t, [run('echo hi'), say('one'), say('two'), say('three')]);
	const home = makeHome(t, model);
	const first = await startAppServer(t, model, { home });
	const { thread } = await first.request('thread/start', FREE);
	await assert.rejects(first.request('thread/resume', { threadId: thread.id }), {
		code: -32600, message: `no rollout found for thread id ${thread.id}` });
	const turns = [await turn(first, thread.id, 'first'), await turn(first, thread.id, 'second')];
	await first.end();
	fs.writeFileSync(path.join(home, 'session_index.jsonl'),
		JSON.stringify({ id: thread.id, thread_name: 'My thread', updated_at: '2026-11-21T00:00:00Z' }) + '\n');

	const second = await startAppServer(t, model, { home, cwd: first.cwd });
	const resumed = await second.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(Object.keys(resumed), ['thread', 'model', 'modelProvider', 'serviceTier', 'disabledPluginIds', 'cwd',
		'runtimeWorkspaceRoots', 'instructionSources', 'approvalPolicy', 'approvalsReviewer', 'sandbox',
		'activePermissionProfile', 'reasoningEffort', 'collaborationMode', 'multiAgentMode', 'initialTurnsPage',
		'turnsBackwardsCursor', 'itemsBackwardsCursor']);
	assert.equal(resumed.thread.id, thread.id);
	assert.deepEqual([resumed.thread.preview, resumed.thread.name], ['first', 'My thread']);
	assert.equal(resumed.thread.path, thread.path);
	assert.deepEqual(resumed.thread.status, { type: 'idle' });
	assert.equal(resumed.thread.createdAt, thread.createdAt);
	assert.deepEqual(resumed.sandbox, { type: 'dangerFullAccess' });
	assert.equal(resumed.approvalPolicy, 'never');
	assert.equal(resumed.activePermissionProfile, null);
	assert.deepEqual(resumed.thread.turns.map(({ id, status, itemsView }) => [id, status, itemsView]),
		turns.map(({ id }) => [id, 'completed', 'full']));
	const items = resumed.thread.turns[0].items;
	assert.deepEqual(items.map(({ type }) => type), ['userMessage', 'commandExecution', 'agentMessage']);
	assert.match(items[1].command, /^\S+ -lc 'echo hi'$/);
	assert.deepEqual([items[1].status, items[1].exitCode, items[1].aggregatedOutput, items[1].cwd],
		['completed', 0, 'hi\n', first.cwd]);
	assert.equal((await second.next('thread/tokenUsage/updated')).params.turnId, turns[1].id);
	await second.next('thread/goal/cleared');
	assert.equal(second.all('thread/started').length, 0);

	await turn(second, thread.id, 'third');
	const said = textsOf(model.requests().at(-1), 'user');
	for (const words of ['first', 'second', 'third']) assert.ok(said.includes(words), words);
	assert.equal(rollouts(home).length, 1);
	const again = await second.request('thread/resume', { threadId: thread.id, excludeTurns: true, model: 'other' });
	assert.deepEqual(again.thread.turns, []);
	assert.equal(again.model, resumed.model); // it is held: nothing is overridden
});

test('a resume brings wishes and goes by path, too', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const { home, thread, cwd } = await ended(t, model);

	const copy = path.join(cwd, path.basename(thread.path));
	fs.renameSync(thread.path, copy);
	const second = await startAppServer(t, model, { home });
	await assert.rejects(second.request('thread/resume', { threadId: thread.id }), {
		message: `no rollout found for thread id ${thread.id}` });
	const resumed = await second.request('thread/resume', {
		threadId: 'whatever', path: copy, model: 'gpt-5.5', cwd: second.cwd, sandbox: 'read-only', approvalPolicy: 'untrusted' });
	assert.deepEqual([resumed.thread.id, resumed.model, resumed.cwd, resumed.sandbox.type, resumed.approvalPolicy],
		[thread.id, 'gpt-5.5', second.cwd, 'readOnly', 'untrusted']);
	await assert.rejects(second.request('thread/resume', { threadId: thread.id, path: thread.path }), {
		message: `cannot resume running thread ${thread.id} with stale path: requested \`${thread.path}\`, active \`${copy}\`` });
	await turn(second, thread.id, 'second');
	assert.equal(model.requests().at(-1).body.model, 'gpt-5.5');
});

test('a turn that a kill cut off is interrupted', options, async (t) => {
	const model = await startModel(t, [say('one'), run('sleep 60')]);
	const home = makeHome(t, model);
	const first = await startAppServer(t, model, { home });
	const { thread } = await first.request('thread/start', FREE);
	await turn(first, thread.id, 'first');
	await first.request('turn/start', { threadId: thread.id, input: [text('second')] });
	await first.take(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution', 'command');
	first.child.kill('SIGKILL');
	await first.done;
	const second = await startAppServer(t, model, { home });
	const { thread: resumed } = await second.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(resumed.turns.map(({ status }) => status), ['completed', 'interrupted']);
	assert.equal(resumed.turns[1].completedAt, null);
	assert.deepEqual(resumed.status, { type: 'idle' });
});

test('threads that cannot be resumed', options, async (t) => {
	const server = await startAppServer(t, null);
	const refused = (params) => server.request('thread/resume', params).then(
		() => assert.fail('resumed'), ({ code, message }) => `${code} ${message}`);
	assert.match(await refused({ threadId: 'nope' }), /^-32600 invalid session id: invalid character: .* found `n` at 1$/);
	assert.equal(await refused({ threadId: NOBODY }), `-32600 no rollout found for thread id ${NOBODY}`);
	assert.match(await refused({}), /missing field `threadId`/);
	assert.match(await refused({ threadId: NOBODY, history: [] }), /items must not be empty/);
	assert.match(await refused({ threadId: NOBODY, history: [{ type: 'message' }] }), /missing field `role`/);
	assert.match(await refused({ threadId: NOBODY, initialTurnsPage: { limit: 'x' } }), /initialTurnsPage/);
	assert.match(await refused({ threadId: NOBODY, path: '/dev/null' }), /not a regular file/);
	assert.match(await refused({ threadId: NOBODY, path: server.cwd }), /not a regular file/);
	assert.match(await refused({ threadId: NOBODY, path: 'no/such/file' }), /cannot open/);
	const file = path.join(server.cwd, 'damaged.jsonl');
	fs.writeFileSync(file, '');
	assert.match(await refused({ threadId: NOBODY, path: file }), /empty session file/);
	fs.writeFileSync(file, '{"type":"event_msg","payload":{"type":"user_message","message":"hi"}}\n[[[[\n');
	assert.match(await refused({ threadId: NOBODY, path: file }), /has the session's id/);
	assert.deepEqual(await server.request('thread/loaded/list', {}), { data: [], nextCursor: null });
});

test('the error for an archived thread says how to restore it', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const { home, thread } = await ended(t, model);
	fs.mkdirSync(path.join(home, 'archived_sessions'));
	fs.renameSync(thread.path, path.join(home, 'archived_sessions', path.basename(thread.path)));
	const second = await startAppServer(t, model, { home });
	await assert.rejects(second.request('thread/resume', { threadId: thread.id }), {
		message: `session ${thread.id} is archived. Run \`codex unarchive ${thread.id}\` to unarchive it first.` });
});

test('a damaged rollout is resumed as far as it goes', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const { home, thread } = await ended(t, model);
	fs.appendFileSync(thread.path, 'rubbish\n{"timestamp":"x","type":"event_msg","payl');
	const second = await startAppServer(t, model, { home });
	const { thread: resumed } = await second.request('thread/resume', { threadId: thread.id });
	assert.equal(resumed.turns.length, 1);
	assert.match((await second.next('warning')).params.message, /were skipped/);
	assert.equal((await turn(second, thread.id, 'second')).status, 'completed');
});

test('a fork goes its own way, from wherever it began', options, async (t) => {
	const model = await startModel(t, [run('echo hi'), ...['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((words) => say(words))]);
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', FREE);
	const fork = (params, threadId = thread.id) => server.request('thread/fork', { threadId, ...params });
	const said = () => textsOf(model.requests().at(-1), 'user').filter((words) => /^(first|second|third)$/.test(words));
	await assert.rejects(fork({}), { message: `no rollout found for thread id ${thread.id}` });
	const first = await turn(server, thread.id, 'first');
	const second = await turn(server, thread.id, 'second');

	const whole = await fork({});
	assert.deepEqual(Object.keys(whole), ['thread', 'model', 'modelProvider', 'serviceTier', 'disabledPluginIds', 'cwd',
		'runtimeWorkspaceRoots', 'instructionSources', 'approvalPolicy', 'approvalsReviewer', 'sandbox',
		'activePermissionProfile', 'reasoningEffort', 'multiAgentMode']);
	assert.notEqual(whole.thread.id, thread.id);
	assert.deepEqual([whole.thread.forkedFromId, whole.thread.preview, whole.sandbox.type, whole.approvalPolicy],
		[thread.id, 'first', 'dangerFullAccess', 'never']);
	assert.deepEqual(whole.thread.turns.map(({ id, items, status }) => [id, items.length, status]),
		[[first.id, 3, 'completed'], [second.id, 2, 'completed']]);
	assert.ok(fs.existsSync(whole.thread.path)); // at once
	const told = server.all('thread/started').at(-1).params.thread;
	assert.deepEqual([told.id, told.turns], [whole.thread.id, []]);
	await turn(server, whole.thread.id, 'third');
	assert.deepEqual(said(), ['first', 'second', 'third']);

	for (const cut of [{ lastTurnId: first.id }, { beforeTurnId: second.id }, { lastTurnId: first.id, ephemeral: true }]) {
		const { thread: short } = await fork(cut);
		assert.deepEqual(short.turns.map(({ id }) => id), [first.id]);
		assert.equal(short.path === null, cut.ephemeral === true);
		await turn(server, short.id, 'third');
		assert.deepEqual(said(), ['first', 'third']);
	}
	assert.deepEqual((await fork({ beforeTurnId: first.id, excludeTurns: true })).thread.turns, []);
	assert.equal((await fork({ threadId: NOBODY, path: thread.path, model: 'gpt-5.5' })).model, 'gpt-5.5');
	await turn(server, thread.id, 'second'); // the source has none of it
	assert.deepEqual(said(), ['first', 'second', 'second']);
});

/** A turn without the model. */
async function turnOfShell(server, threadId) {
	await server.request('thread/shellCommand', { threadId, command: 'true' });
	return (await server.next('turn/completed')).params.turn;
}

test('a fork refers to its parent, which can continue and be archived but not deleted', options, async (t) => {
	const model = await startModel(t, Array.from({ length: 4 }, (_, index) => say(`answer ${index}`)));
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', FREE);
	const first = await turn(server, thread.id, 'first');
	const { thread: fork } = await server.request('thread/fork', { threadId: thread.id });
	const metaOf = (file) => readLines(file)[0];
	const lines = readLines(thread.path);
	assert.deepEqual(metaOf(fork.path).payload.history_base,
		{ thread_id: thread.id, end_ordinal_exclusive: lines.length, end_byte_offset: fs.statSync(thread.path).size });
	assert.equal(metaOf(fork.path).ordinal, lines.length);
	await turn(server, fork.id, 'second');
	assert.deepEqual(readLines(fork.path).map(({ ordinal }) => ordinal - lines.length), readLines(fork.path).map((_, at) => at));
	await turn(server, thread.id, 'aside');
	const { thread: grandchild } = await server.request('thread/fork', { threadId: fork.id, lastTurnId: first.id });
	assert.equal(metaOf(grandchild.path).payload.history_base.thread_id, thread.id); // not by way of the fork
	await assert.rejects(server.request('thread/delete', { threadId: thread.id }), /forked history still references it/);
	await server.request('thread/archive', { threadId: thread.id });
	await assert.rejects(server.request('thread/delete', { threadId: thread.id }), /forked history still references it/);
	await server.end();
	const archived = path.join(home, 'archived_sessions', path.basename(thread.path));
	if (spawnSync('zstd', ['-q', '--rm', archived]).status === 0) assert.ok(!fs.existsSync(archived)); // where there is zstd

	const again = await startAppServer(t, model, { home });
	const { thread: resumed } = await again.request('thread/resume', { threadId: fork.id });
	assert.deepEqual(resumed.turns.map(({ items }) => items.at(-1).text), ['answer 0', 'answer 1']);
	const { data } = await again.request('thread/list', {});
	assert.deepEqual(data.map(({ preview }) => preview), ['first', 'first']);
	await turn(again, fork.id, 'third');
	assert.deepEqual(textsOf(model.requests().at(-1), 'user').filter((words) => !words.startsWith('<')), ['first', 'second', 'third']);
	for (const { id } of [grandchild, fork, thread]) await again.request('thread/delete', { threadId: id });
	assert.deepEqual(rollouts(home), []);
});

test('sessions not written for a week are compressed without loss', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three'), say('four')]);
	const home = makeHome(t, model);
	const first = await startAppServer(t, model, { home });
	const threads = [];
	for (const words of ['cold', 'archived', 'warm']) {
		const { thread } = await first.request('thread/start', FREE);
		await turn(first, thread.id, words);
		threads.push(thread);
	}
	const [cold, archived, warm] = threads;
	await first.request('thread/archive', { threadId: archived.id });
	archived.path = path.join(home, 'archived_sessions', path.basename(archived.path));
	await first.end();
	const age = (file, days = 8) => {
		const then = new Date(Date.now() - days * 864e5);
		fs.utimesSync(file, then, then);
	};
	for (const { path: file } of [cold, archived]) age(file);
	age(warm.path, 6.5); // not a week
	const bytes = fs.readFileSync(cold.path);
	const { mtimeMs } = fs.statSync(cold.path);
	const mark = path.join(home, '.tmp', 'rollout-compression.lock');

	/* One that this very server has open is not touched, however old. */
	const holder = await startAppServer(t, model, { home });
	await holder.request('thread/resume', { threadId: cold.id });
	age(cold.path);
	assert.deepEqual(await holder.request('rollout/compress'), {});
	assert.ok(fs.existsSync(cold.path) && fs.existsSync(warm.path));
	assert.ok(!fs.existsSync(archived.path) && fs.existsSync(`${archived.path}.zst`));
	await holder.end();
	fs.writeFileSync(cold.path, bytes);
	fs.utimesSync(cold.path, mtimeMs / 1000, mtimeMs / 1000);

	/* Within six hours no second pass starts. */
	const server = await startAppServer(t, model, { home });
	const listed = async () => (await server.request('thread/list', {})).data.map(({ id, preview, updatedAt }) => ({ id, preview, updatedAt }));
	const before = await listed();
	assert.deepEqual(await server.request('rollout/compress'), {});
	assert.ok(fs.existsSync(cold.path));
	fs.utimesSync(mark, new Date(Date.now() - 7 * 36e5), new Date(Date.now() - 7 * 36e5));
	assert.deepEqual(await server.request('rollout/compress'), {});
	assert.ok(!fs.existsSync(cold.path) && fs.existsSync(warm.path));
	assert.equal(Math.round(fs.statSync(`${cold.path}.zst`).mtimeMs), Math.round(mtimeMs));
	assert.deepEqual(fs.readdirSync(path.dirname(cold.path)).sort(),
		[`${path.basename(cold.path)}.zst`, path.basename(warm.path)].sort());
	const unpacked = spawnSync('zstd', ['-dcq', `${cold.path}.zst`]);
	if (!unpacked.error) assert.deepEqual(unpacked.stdout, bytes); // where there is zstd

	assert.deepEqual(await listed(), before);
	const { thread: read } = await server.request('thread/read', { threadId: cold.id, includeTurns: true });
	assert.deepEqual(read.turns.map(({ items }) => items.at(-1).text), ['one']);
	await server.request('thread/resume', { threadId: cold.id });
	assert.ok(fs.readFileSync(cold.path).subarray(0, bytes.length).equals(bytes));
	await turn(server, cold.id, 'again');
	assert.deepEqual(textsOf(model.requests().at(-1), 'user').filter((words) => !words.startsWith('<')), ['cold', 'again']);
});

/** A session of that many bytes, in turns that answer a lot. */
function writeLargeSession(home, bytes) {
	const id = '01a1fb55-e849-7942-b12b-582c7876dc93';
	const folder = path.join(home, 'sessions/2026/11/20');
	const said = 'and so on, with what there is to say '.repeat(400);
	let ordinal = 0;
	const line = (type, payload) => JSON.stringify({ timestamp: '2026-11-20T10:00:00.123Z', ordinal: ordinal++, type, payload });
	const message = (role, kind, words) => line('response_item', { type: 'message', role, content: [{ type: kind, text: words }] });
	fs.mkdirSync(folder, { recursive: true });
	const file = path.join(folder, `rollout-2026-11-20T10-00-00-${id}.jsonl`);
	const lines = [line('session_meta', { id, session_id: id, timestamp: '2026-11-20T10:00:00.000Z', cwd: '/', originator: 'tests',
		cli_version: '0.1.0', source: 'exec', model_provider: 'mock', history_mode: 'paginated' })];
	while (ordinal * said.length / 2 < bytes)
		lines.push(message('user', 'input_text', 'go on'), message('assistant', 'output_text', said));
	fs.writeFileSync(file, lines.join('\n') + '\n');
	return { id, file };
}

test('others are answered while a large session is resumed', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const home = makeHome(t, model);
	const { id } = writeLargeSession(home, 60e6);
	const server = await startAppServer(t, model, { home });
	let isResumed = false;
	const resumed = server.request('thread/resume', { threadId: id, excludeTurns: true }).finally(() => { isResumed = true; });
	/* The engine holds the lock, and reads on. */
	const lock = path.join(home, 'thread-writer-locks', `${id}.lock`);
	while (!fs.existsSync(lock) && !isResumed) await setTimeout(1);
	const { thread } = await server.request('thread/start', FREE);
	await server.request('model/list');
	assert.equal(isResumed, false);
	assert.equal((await resumed).thread.id, id);
	await turn(server, thread.id, 'first');
});

/** A numbered session of turns with one answer each. */
function writeTurns(home, count, words) {
	const { id, file } = writeLargeSession(home, 0);
	let ordinal = readLines(file).length;
	const lines = [];
	const event = (payload) => lines.push(JSON.stringify({ timestamp: '2026-11-20T10:00:00.123Z', ordinal: ordinal++,
		type: 'event_msg', payload }));
	for (let at = 0; at < count; at++) {
		const turn_id = `01a1fb55-e849-7942-b12b-${String(at).padStart(12, '0')}`;
		event({ type: 'task_started', turn_id });
		const content = [{ type: 'Text', text: `${at} ${words}` }];
		event({ type: 'item_completed', thread_id: id, turn_id, item: { type: 'AgentMessage', id: `m${at}`, content } });
		event({ type: 'task_complete', turn_id, last_agent_message: null });
	}
	fs.appendFileSync(file, lines.join('\n') + '\n');
	return id;
}

test('all turns of a large session are in the responses of resume, read and fork', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const home = makeHome(t, model);
	const id = writeTurns(home, 2000, 'and so on "with quotes" '.repeat(100));
	const server = await startAppServer(t, model, { home });
	const { thread: resumed } = await server.request('thread/resume', { threadId: id });
	const { thread: read } = await server.request('thread/read', { threadId: id, includeTurns: true });
	const { thread: forked } = await server.request('thread/fork', { threadId: id });
	for (const { turns } of [resumed, read, forked]) {
		assert.deepEqual(turns.map(({ items }) => parseInt(items[0].text)), Array.from({ length: 2000 }, (_, at) => at));
		assert.ok(turns.every(({ status, itemsView }) => status === 'completed' && itemsView === 'full'));
	}
	assert.deepEqual(resumed.turns, read.turns);
	await turn(server, id, 'first');
});

test('a fork of a fork of a fork … is a copy in the end', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	let { thread } = await server.request('thread/start', FREE);
	await turn(server, thread.id, 'first');
	const bases = [];
	for (let depth = 0; depth < 10; depth++) {
		/* An unused fork has the same base as its parent. */
		const { items } = await turnOfShell(server, thread.id);
		assert.equal(items.length, 0);
		({ thread } = await server.request('thread/fork', { threadId: thread.id }));
		bases.push('history_base' in readLines(thread.path)[0].payload);
	}
	assert.deepEqual(bases, [...Array(8).fill(true), false, true]);
	assert.equal(thread.turns.length, 11);
	await turn(server, thread.id, 'second');
	assert.ok(textsOf(model.requests().at(-1), 'user').includes('first'));
});

test('a failed fork leaves no file', options, async (t) => {
	const model = await startModel(t, [say('one'), run('sleep 60')]);
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', FREE);
	const first = await turn(server, thread.id, 'first');
	const refused = (params, threadId = thread.id) => server.request('thread/fork', { threadId, ...params }).then(
		() => assert.fail('forked'), ({ code, message }) => `${code} ${message}`);
	assert.equal(await refused({}, NOBODY), `-32600 no rollout found for thread id ${NOBODY}`);
	assert.match(await refused({}, 'nope'), /^-32600 invalid thread id/);
	assert.equal(await refused({ lastTurnId: NOBODY }), `-32600 turn not found: ${NOBODY}`);
	assert.match(await refused({ lastTurnId: first.id, beforeTurnId: first.id }), /cannot be combined/);
	assert.match(await refused({ path: '/dev/zero' }), /not a regular file/);
	assert.match(await refused({ modelProvider: 'nope' }), /Model provider `nope` not found/);
	const { turn: running } = await server.request('turn/start', { threadId: thread.id, input: [text('second')] });
	await server.take(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution', 'command');
	assert.match(await refused({ lastTurnId: running.id }), /in progress/);
	assert.equal(rollouts(home).length, 1);
});

test('the shape of the answer is that of 0.169.0', options, async (t) => {
	const messages = capture(t, 'sigkill_resume');
	if (!messages) return;
	const { result } = messages.find((message) => message.result?.thread?.turns?.length);
	const model = await startModel(t, [say('one')]);
	const { home, thread } = await ended(t, model);
	const second = await startAppServer(t, model, { home });
	const ours = await second.request('thread/resume', { threadId: thread.id });
	const shape = (value) => Array.isArray(value) ? value.slice(0, 1).map(shape)
		: value && typeof value === 'object' ? Object.entries(value).map(([key, of]) => [key, shape(of)]) : '';
	assert.deepEqual(shape(ours.thread.turns), shape(result.thread.turns));
	assert.deepEqual(Object.keys(ours.thread), Object.keys(result.thread));
	assert.deepEqual(shape({ ...ours, thread: 0 }), shape({ ...result, thread: 0 }));
});

test('initialTurnsPage returns the latest turns with the thread, as thread/turns/list would', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	for (const words of ['a', 'b', 'c']) await turn(server, thread.id, words);
	const threadId = thread.id;
	for (const page of [{ limit: 2 }, { limit: 1, sortDirection: 'asc', itemsView: 'full' }, {}]) {
		const { initialTurnsPage, thread: resumed } =
			await server.request('thread/resume', { threadId, excludeTurns: true, initialTurnsPage: page });
		assert.deepEqual(initialTurnsPage, await server.request('thread/turns/list', { threadId, ...page }));
		assert.equal(initialTurnsPage.data.length, page.limit ?? 3);
		assert.deepEqual(resumed.turns, []);
	}
});

test('a history in place of a rollout begins a new thread', options, async (t) => {
	const model = await startModel(t, [say('one')]);
	const server = await startAppServer(t, model);
	const message = (role, type, words) => ({ type: 'message', role, content: [{ type, text: words }] });
	const { thread } = await server.request('thread/resume', { threadId: NOBODY, ...FREE,
		history: [message('user', 'input_text', 'the old question'), message('assistant', 'output_text', 'the old answer')] });
	assert.notEqual(thread.id, NOBODY);
	assert.equal(thread.preview, 'the old question');
	await turn(server, thread.id, 'the new question');
	const request = model.requests()[0];
	assert.deepEqual(textsOf(request, 'assistant'), ['the old answer']);
	assert.deepEqual(textsOf(request, 'user').filter((words) => words.includes('question')), ['the old question', 'the new question']);
});
