// What clients of `codex app-server` note of threads, and add to them, between turns.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { needs, reply, run, say, startModel, textsOf } from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
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
