// The tools beside exec of the gpt-6 models: a sleep that input ends, and questions that nothing waits for.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { text } from './lib/app_server.mjs';
import { script, shown, startThread } from './lib/code_mode.mjs';
import { needs, reply, startModel, codexExec } from './lib/codex.mjs';

const server = needs('app-server');
let count = 0;
const call = (namespace, name, args) => reply({
	item: { type: 'function_call', call_id: `call-${++count}`, namespace, name, arguments: JSON.stringify(args) },
});
const sleep = (duration_ms) => call('clock', 'sleep', { duration_ms });
const itemsOf = (thread, test) => thread.server.messages.filter(({ params }) => params?.item && test(params.item))
	.map(({ method, params }) => [method, params.item]);
const ask = (questions) => call('functions', 'request_user_input_async', { questions });
const offered = (thread) => thread.model.requests()[0].body.input[0].tools;

test('gpt-6 models are offered the clock and the questions, others are not', server, async (t) => {
	const thread = await startThread(t, [script("text([typeof tools.clock__sleep, typeof tools.request_user_input_async].join())")]);
	await thread.turn();
	const [functions] = offered(thread);
	const clock = offered(thread).find(({ name }) => name === 'clock');
	assert.deepEqual(clock.tools.map(({ name }) => name), ['sleep']);
	assert.deepEqual(clock.tools[0].parameters.required, ['duration_ms']);
	const async = functions.tools.find(({ name }) => name === 'request_user_input_async');
	assert.deepEqual(async.parameters.required, ['questions']);
	assert.deepEqual(async.parameters.properties.questions.items.required, ['title']);
	assert.deepEqual(shown(thread.outputs()[0]).texts, ['undefined,undefined'], 'scripts have neither');
	const older = await startThread(t, [], { params: { model: 'gpt-5.6-sol' } });
	await older.turn();
	assert.ok(!offered(older).some(({ name }) => name === 'clock'));
	assert.ok(!JSON.stringify(offered(older)).includes('request_user_input_async'));
});

test('a sleep ends after its time, and says how long it was', server, async (t) => {
	const thread = await startThread(t, [sleep(20), sleep(0), sleep(43200001), call('clock', 'sleep', {})]);
	await thread.turn();
	const [slept, ...wrong] = thread.outputs().map(({ output }) => output);
	assert.match(slept, /^Wall time: \d+\.\d{4} seconds\nSleep completed\.$/);
	assert.deepEqual(wrong.slice(0, 2), Array(2).fill('duration_ms must be between 1 and 43200000'));
	assert.match(wrong[2], /duration_ms/);
	const items = itemsOf(thread, ({ type }) => type === 'sleep');
	assert.deepEqual(items.map(([method, { durationMs }]) => [method, durationMs]), [['item/started', 20], ['item/completed', 20]]);
});

test('input of the user ends a sleep, and is in the next request', server, async (t) => {
	const thread = await startThread(t, [sleep(43200000)]);
	await thread.start();
	const { params } = await thread.server.take((m) => m.method === 'item/started' && m.params.item.type === 'sleep', 'sleep');
	await thread.server.request('turn/steer', { threadId: thread.thread.id, expectedTurnId: params.turnId, input: [text('wake up')] });
	await thread.server.next('turn/completed');
	const [nap] = thread.outputs();
	assert.match(nap.output, /^Wall time: \d+\.\d{4} seconds\nSleep interrupted by new input\.$/);
	assert.equal(thread.model.requests().at(-1).body.input.at(-1).content[0].text, 'wake up');
});

test('an interrupt ends a sleep', server, async (t) => {
	const thread = await startThread(t, [sleep(43200000)]);
	await thread.start();
	const { params } = await thread.server.take((m) => m.method === 'item/started' && m.params.item.type === 'sleep', 'sleep');
	await thread.server.request('turn/interrupt', { threadId: thread.thread.id, turnId: params.turnId });
	assert.equal((await thread.server.next('turn/completed')).params.turn.status, 'interrupted');
	assert.deepEqual(itemsOf(thread, ({ type }) => type === 'sleep').map(([method]) => method), ['item/started', 'item/completed']);
	await thread.turn('again');
	assert.match(thread.outputs()[0].output, /abort/);
});

test('questions are a message, and the turn goes on', server, async (t) => {
	const questions = [{ title: 'Which colour?', options: ['red', 'blue'] }, { title: 'Why?' }];
	const thread = await startThread(t, [ask(questions), ask([]), ask([{ title: ' ' }])]);
	assert.equal((await thread.turn()).status, 'completed');
	const outputs = thread.outputs().map(({ output }) => output);
	assert.deepEqual(outputs, ['{"accepted":true}', 'questions must not be empty', 'question titles must not be empty']);
	const asked = itemsOf(thread, (item) => item.questions);
	assert.deepEqual(asked.map(([method]) => method), ['item/started', 'item/completed']);
	const { type, text: words, delivery, phase, questions: shownQuestions } = asked[1][1];
	assert.deepEqual([type, words, delivery, phase], ['agentMessage', 'Which colour?\n- red\n- blue\n\nWhy?', 'async', 'final_answer']);
	assert.deepEqual(shownQuestions, [questions[0], { title: 'Why?', options: null }]);
	assert.equal(itemsOf(thread, (item) => item.type === 'agentMessage' && item.delivery === null).length, 2, 'the ordinary message');
});

test('more or longer questions than the limits are refused', server, async (t) => {
	const thread = await startThread(t, [ask(Array(33).fill({ title: 'Why?' })), ask([{ title: 'x'.repeat(300000) }])]);
	await thread.turn();
	const outputs = thread.outputs().map(({ output }) => output);
	assert.deepEqual(outputs, ['request_user_input_async takes 32 questions at a time; ask fewer', 'the questions are too long']);
	assert.deepEqual(itemsOf(thread, (item) => item.questions), []);
});

test('models that are not offered the clock and the questions have neither', server, async (t) => {
	const clock = { type: 'namespace', name: 'clock', description: 'A clock.', tools: [
		{ type: 'function', name: 'sleep', description: 'Sleeps.', inputSchema: { type: 'object', properties: {} } }] };
	const thread = await startThread(t, [ask([{ title: 'Why?' }]), call('clock', 'sleep', {})],
		{ params: { model: 'gpt-5.6-sol', dynamicTools: [clock] } });
	await thread.start();
	const asked = await thread.server.take((m) => m.method === 'item/tool/call', 'the call of the tool of the client');
	assert.deepEqual([asked.params.namespace, asked.params.tool], ['clock', 'sleep']);
	thread.server.answer(asked, { success: true, contentItems: [{ type: 'inputText', text: 'slept' }] });
	await thread.server.next('turn/completed');
	assert.match(JSON.stringify(thread.outputs()[0].output), /unsupported call: /);
	assert.match(JSON.stringify(thread.outputs()[1].output), /slept/);
});

test('a session without a user refuses the questions', needs('exec'), async (t) => {
	const model = await startModel(t, [ask([{ title: 'Which colour?' }]), reply({ message: 'Done.' })]);
	const run = await codexExec(t, model, ['-m', 'gpt-6-sol', 'hi']);
	assert.equal(run.code, 0, run.stderr);
	assert.match(model.requests()[1].body.input.at(-1).output, /No operator is there/);
});
