// Questions of the model to the user (request_user_input): answered, unanswered, and recorded.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, codexExec, needs, outputOf, reply, rollouts, say, startModel } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const appServer = needs('app-server');
const modeOf = (mode) => ({ mode, settings: { model: 'gpt-5.5', reasoning_effort: null, developer_instructions: null } });
const PLAN = { type: 'override_turn_context', collaboration_mode: modeOf('plan') };
const OPTIONS = [{ label: 'Small (Recommended)', description: 'less' }, { label: 'Large', description: 'more' }];
const question = (id, more) => ({ id, header: 'Size', question: 'Which?', options: OPTIONS, ...more });
const ask = (id, ...questions) => call('request_user_input', { questions }, { call_id: id });
const answer = (turn, answers) => ({ type: 'user_input_answer', id: turn, response: { answers } });

/** A session in plan mode whose model sends these replies; resolves to its driver. */
async function planning(t, replies, options) {
	const model = await startModel(t, replies);
	const it = startProto(t, model, options);
	it.submit('mode', PLAN);
	return { model, it };
}

test('a question is asked, answered by turn id, and sent to the model', proto, async (t) => {
	const { model, it } = await planning(t, [ask('r1', question('q1'), question('q2', { isSecret: false })), say('ok')]);
	it.submit('t1', userInput('go'));
	const { id, msg } = await it.next('request_user_input');
	assert.equal(id, 't1');
	const asked = { header: 'Size', question: 'Which?', isOther: true, isSecret: false, options: OPTIONS };
	assert.deepEqual(msg, { type: 'request_user_input', call_id: 'r1', turn_id: 't1',
		questions: [{ id: 'q1', ...asked }, { id: 'q2', ...asked }] });
	const answers = { q2: { answers: [] }, q1: { answers: ['Small (Recommended)', 'user_note: extra'] } };
	it.submit('a', answer('t1', answers));
	await it.next('task_complete');
	await it.end();
	assert.equal(outputOf(model.requests()[1], 'r1'), JSON.stringify({ answers }));
	const tool = model.requests()[0].body.tools.find(({ name }) => name === 'request_user_input');
	const { properties, required } = tool.parameters.properties.questions.items;
	assert.deepEqual(required, ['id', 'header', 'question', 'options']);
	assert.deepEqual(Object.keys(properties.options.items.properties), ['label', 'description']);
});

test('default mode asks where features.default_mode_request_user_input is on', proto, async (t) => {
	const model = await startModel(t, [ask('r1', question('q1')), say('ok')]);
	const it = startProto(t, model, { config: 'features.default_mode_request_user_input = true\n' });
	it.submit('t1', userInput('go'));
	await it.next('request_user_input');
	it.submit('a', answer('t1', { q1: { answers: ['Large'] } }));
	await it.next('task_complete');
	await it.end();
	assert.equal(outputOf(model.requests()[1], 'r1'), JSON.stringify({ answers: { q1: { answers: ['Large'] } } }));
});

test('the alias of the answer, several questions in a turn, and unsolicited answers', proto, async (t) => {
	const { model, it } = await planning(t, [
		reply({ call: 'request_user_input', arguments: { questions: [question('a')] }, call_id: 'r1' },
			{ call: 'request_user_input', arguments: { questions: [question('b')] }, call_id: 'r2' }), say('ok')]);
	it.submit('early', answer('t1', { a: { answers: ['x'] } }));
	assert.match((await it.next('warning')).msg.message, /t1/);
	it.submit('t1', userInput('go'));
	assert.equal((await it.next('request_user_input')).msg.call_id, 'r1');
	it.submit('w', answer('another', { a: { answers: ['x'] } }));
	assert.match((await it.next('warning')).msg.message, /another/);
	it.submit('1', { ...answer('t1', { a: { answers: ['one', 7, null] }, nobody: { answers: ['?'] } }),
		type: 'request_user_input_response' });
	assert.match((await it.next('warning')).msg.message, /Answers to unknown questions were left out/);
	assert.equal((await it.next('request_user_input')).msg.call_id, 'r2');
	it.submit('2', answer('t1', 'no object'));
	await it.next('task_complete');
	it.submit('late', answer('t1', {}));
	await it.next('warning');
	assert.equal((await it.end()).code, 0);
	assert.equal(outputOf(model.requests()[1], 'r1'), '{"answers":{"a":{"answers":["one"]}}}');
	assert.equal(outputOf(model.requests()[1], 'r2'), '{"answers":{}}');
});

test('invalid questions', proto, async (t) => {
	const many = Array.from({ length: 5 }, (_, i) => question(`q${i}`));
	const crowd = Array.from({ length: 33 }, (_, i) => question(`q${i}`));
	const { model, it } = await planning(t, [
		ask('none', { id: 'a', header: 'h', question: 'q' }), ask('empty', question('a', { options: [] })),
		call('request_user_input', { questions: 5 }, { call_id: 'bad' }), ask('crowd', ...crowd), ask('five', ...many),
		ask('zero'), say('ok'), ask('default', question('a')), say('ok')]);
	it.submit('t1', userInput('go'));
	assert.equal((await it.next('request_user_input')).msg.questions.length, 5);
	it.submit('a', answer('t1', {}));
	assert.equal((await it.next('request_user_input')).msg.questions.length, 0);
	it.submit('a', answer('t1', {}));
	await it.next('task_complete');
	it.submit('mode', { ...PLAN, collaboration_mode: modeOf('default') });
	it.submit('t2', userInput('go'));
	await it.next('task_complete');
	await it.end();
	const output = (id) => outputOf(model.requests().at(-1), id);
	assert.equal(output('none'), 'request_user_input requires non-empty options for every question');
	assert.equal(output('empty'), 'request_user_input requires non-empty options for every question');
	assert.match(output('bad'), /^failed to parse function arguments: /);
	assert.match(output('crowd'), /ask fewer/);
	assert.equal(output('five'), '{"answers":{}}');
	assert.equal(output('zero'), '{"answers":{}}');
	assert.equal(output('default'), 'request_user_input is unavailable in Default mode');
});

test('an interrupt while a question waits', proto, async (t) => {
	const { model, it } = await planning(t, [ask('r1', question('a')), say('ok')]);
	it.submit('t1', userInput('go'));
	await it.next('request_user_input');
	it.submit('i', { type: 'interrupt' });
	await it.next('turn_aborted');
	it.submit('late', answer('t1', { a: { answers: ['x'] } }));
	await it.next('warning');
	it.submit('t2', userInput('again'));
	await it.next('task_complete');
	assert.equal((await it.end()).code, 0);
	assert.match(outputOf(model.requests()[1], 'r1'), /^aborted by user after \d+\.\d+s$/);
});

test('a question times out', proto, async (t) => {
	const { model, it } = await planning(t, [ask('r1', question('a')), say('ok')],
		{ config: 'request_user_input_timeout_ms = 50' });
	it.submit('t1', userInput('go'));
	assert.equal((await it.next('request_user_input')).msg.auto_resolution_ms, 50);
	assert.deepEqual((await it.next('request_user_input_expired')).msg,
		{ type: 'request_user_input_expired', call_id: 'r1', turn_id: 't1' });
	await it.next('task_complete');
	await it.end();
	assert.match(outputOf(model.requests()[1], 'r1'), /did not answer in time/);
});

test('secret answers go to the model and into no file', proto, async (t) => {
	const { model, it } = await planning(t, [ask('r1', question('key', { isSecret: true }), question('open')),
		say('ok'), say('summary'), say('again')]);
	it.submit('t1', userInput('go'));
	assert.equal((await it.next('request_user_input')).msg.questions[0].isSecret, true);
	it.submit('a', answer('t1', { key: { answers: ['hunter2-hunter2'] }, open: { answers: ['plain'] } }));
	const { response_id: response } = (await it.next('task_complete')).msg;
	it.submit('t2', userInput('and then'));
	await it.next('task_complete');
	it.submit('t3', userInput('back', { last_response_id: response })); // the history is recorded again
	await it.next('task_complete');
	assert.equal((await it.end()).code, 0);
	for (const request of model.requests().slice(1))
		assert.equal(outputOf(request, 'r1'), '{"answers":{"key":{"answers":["hunter2-hunter2"]},"open":{"answers":["plain"]}}}');
	const kept = fs.readFileSync(rollouts(it.home)[0], 'utf8');
	assert.ok(!kept.includes('hunter2'));
	assert.ok(kept.includes('[secret]') && kept.includes('plain'));
	assert.ok(!it.stderr().includes('hunter2'));
});

test('exec cannot ask, and says so at once', needs('exec'), async (t) => {
	const model = await startModel(t, [ask('r1', question('a')), say('<proposed_plan>\nA\n</proposed_plan>')]);
	const run = await codexExec(t, model, ['--plan', 'go'], { json: true });
	assert.equal(run.code, 0);
	assert.match(outputOf(model.requests()[1], 'r1'), /^No operator is there/);
	assert.equal(model.requests()[0].body.tools.some(({ name }) => name === 'request_user_input'), false);
});

test('clients of the app-server are asked, and the first answer counts', appServer, async (t) => {
	const model = await startModel(t, [ask('q1', question('a', { isSecret: true })), ask('q2', question('a')),
		ask('q3', question('a')), say('ok')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	const { turn } = await server.request('turn/start',
		{ threadId: thread.id, input: [text('go')], collaborationMode: modeOf('plan') });
	const asked = await server.next('item/tool/requestUserInput');
	assert.deepEqual(asked.params, { threadId: thread.id, turnId: turn.id, itemId: 'q1', questions: [
		{ id: 'a', header: 'Size', question: 'Which?', isOther: true, isSecret: true, options: OPTIONS }],
	isBlocking: true, autoResolutionMs: null });
	const flags = () => server.all('thread/status/changed').map((m) => m.params.status.activeFlags ?? null);
	assert.deepEqual(flags().at(-1), ['waitingOnUserInput']);
	server.answer(asked, { answers: { a: { answers: ['Large'] } } });
	assert.deepEqual((await server.next('serverRequest/resolved')).params, { threadId: thread.id, requestId: asked.id });
	const second = await server.next('item/tool/requestUserInput');
	server.send({ id: second.id, error: { code: -1, message: 'no' } });
	const third = await server.next('item/tool/requestUserInput');
	server.answer(third, { nope: 1 });
	await server.next('turn/completed');
	assert.equal(outputOf(model.requests()[1], 'q1'), '{"answers":{"a":{"answers":["Large"]}}}');
	assert.equal(outputOf(model.requests().at(-1), 'q2'), '{"answers":{}}');
	assert.equal(outputOf(model.requests().at(-1), 'q3'), '{"answers":{}}');
	assert.equal((await server.end()).code, 0);
});

test('a question of the app-server ends with its turn', appServer, async (t) => {
	const model = await startModel(t, [ask('q1', question('a'))]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	const { turn } = await server.request('turn/start',
		{ threadId: thread.id, input: [text('go')], collaborationMode: modeOf('plan') });
	const asked = await server.next('item/tool/requestUserInput');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	assert.deepEqual(server.all('serverRequest/resolved').map((m) => m.params.requestId), [asked.id]);
	assert.equal((await server.end()).code, 0);
});

test('a question of the app-server ends with its time', appServer, async (t) => {
	const model = await startModel(t, [ask('q1', question('a')), say('ok')]);
	const server = await startAppServer(t, model, { config: 'request_user_input_timeout_ms = 50' });
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')], collaborationMode: modeOf('plan') });
	const asked = await server.next('item/tool/requestUserInput');
	assert.equal(asked.params.autoResolutionMs, 50);
	assert.equal((await server.next('serverRequest/resolved')).params.requestId, asked.id);
	assert.equal((await server.next('turn/completed')).params.turn.status, 'completed');
	server.answer(asked, { answers: {} }); // too late: a note on standard error
	assert.match(outputOf(model.requests()[1], 'q1'), /did not answer in time/);
	assert.equal((await server.end()).code, 0);
});

test('questions of a subagent are put to the user, and the answer returns to it', proto, async (t) => {
	const model = await startModel(t, [
		{ when: { contains: ['dig here', 'function_call_output'], lacks: 'You are agent 0' }, ...say('Dug.') },
		{ when: { contains: 'dig here', lacks: 'You are agent 0' }, ...ask('r1', question('deep')) },
		call('subagent_spawn', { prompt: 'dig here' }, { call_id: 'call_s' }), call('subagent_await', {}), say('ok')]);
	const it = startProto(t, model, { config: 'collaboration_mode = "plan"\nfeatures.subagent_tools = true' });
	it.submit('t1', userInput('go'));
	const { msg } = await it.next('request_user_input');
	assert.notEqual(msg.turn_id, 't1');
	it.submit('a', answer(msg.turn_id, { deep: { answers: ['Large'] } }));
	await it.next('task_complete');
	assert.equal((await it.end()).code, 0);
	assert.ok(model.requests().some((request) => outputOf(request, 'r1') === '{"answers":{"deep":{"answers":["Large"]}}}'));
});

test('a session plans, asks, proposes, and is implemented by another process', appServer, async (t) => {
	const model = await startModel(t, [
		ask('q', question('size')),
		say(['I have what I need.\n<propo', 'sed_plan>\n# Plan\n- write size.txt\n</proposed', '_plan>\n']),
		call('exec_command', { cmd: 'echo small > size.txt' }, { call_id: 'w' }),
		say('Implemented.')]);
	const first = await startAppServer(t, model);
	const { thread } = await first.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
	await first.request('turn/start', { threadId: thread.id, input: [text('plan it')], collaborationMode: modeOf('plan') });
	first.answer(await first.next('item/tool/requestUserInput'), { answers: { size: { answers: ['Small (Recommended)'] } } });
	await first.next('turn/completed');
	const plan = first.all('item/completed').map((m) => m.params.item).find((it) => it.type === 'plan');
	assert.equal(plan.text, '# Plan\n- write size.txt\n');
	assert.equal(fs.existsSync(`${first.cwd}/size.txt`), false);
	assert.equal((await first.end()).code, 0);

	const second = await startAppServer(t, model, { home: first.home, cwd: first.cwd });
	const resumed = await second.request('thread/resume',
		{ threadId: thread.id, sandbox: 'danger-full-access', approvalPolicy: 'never' });
	const items = resumed.thread.turns.flatMap((it) => it.items);
	assert.deepEqual(items.map((it) => it.type), ['userMessage', 'plan', 'agentMessage']);
	assert.equal(items[1].text, plan.text);
	await second.request('turn/start',
		{ threadId: thread.id, input: [text('Implement the plan.')], collaborationMode: modeOf('default') });
	assert.equal((await second.next('turn/completed')).params.turn.items.at(-1).text, 'Implemented.');
	assert.equal(fs.readFileSync(`${first.cwd}/size.txt`, 'utf8'), 'small\n');
	assert.equal((await second.end()).code, 0);
	const told = model.requests()[2].body.input;
	assert.match(told.at(-2).content[0].text, /^<collaboration_mode>You are in default mode/);
	assert.ok(told.some((it) => it.role === 'assistant' && it.content[0].text.includes('<proposed_plan>\n# Plan')));
	assert.equal(outputOf(model.requests()[2], 'q'), '{"answers":{"size":{"answers":["Small (Recommended)"]}}}');
});
