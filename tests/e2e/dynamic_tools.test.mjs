// Tools that the client provides: thread/start.dynamicTools and item/tool/call, dynamic_tool_response of protocol v1.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, makeHome, needs, outputOf, reply, rollouts, say, startModel } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const appServer = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const SCHEMA = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
const LOOKUP = { name: 'lookup', description: 'Looks things up.', inputSchema: SCHEMA };
const fn = (name, more) => ({ type: 'function', name, description: 'd', inputSchema: { type: 'object' }, ...more });
const words = (...texts) => texts.map((it) => ({ type: 'inputText', text: it }));
const lookup = (id = 'c1') => call('lookup', { query: 'q' }, { call_id: id });

async function start(t, replies, more, options) {
	const model = await startModel(t, replies);
	const server = await startAppServer(t, model, options);
	const { thread } = await server.request('thread/start', { ...FREE, dynamicTools: [LOOKUP], ...more });
	const say = (words) => server.request('turn/start', { threadId: thread.id, input: [text(words)] });
	return { model, server, thread, say };
}

const toolItems = (server, method) => server.all(method).map(({ params }) => params.item)
	.filter(({ type }) => type === 'dynamicToolCall');
const toolOf = (request, name) => request.body.tools.find((it) => it.name === name);

test('a client carries out the tools that it provides', appServer, async (t) => {
	const { model, server, thread, say: tell } = await start(t, [lookup(), say('done')]);
	const { turn } = await tell('go');
	const request = await server.next('item/tool/call');
	assert.deepEqual(request.params, { threadId: thread.id, turnId: turn.id, callId: 'c1', namespace: null, tool: 'lookup',
		arguments: { query: 'q' } });
	const [begun] = toolItems(server, 'item/started');
	assert.deepEqual([begun.id, begun.status, begun.contentItems, begun.success], ['c1', 'inProgress', null, null]);
	server.answer(request, { success: true, contentItems: words('found it') });
	await server.next('turn/completed');
	const [ended] = toolItems(server, 'item/completed');
	assert.deepEqual([ended.id, ended.status, ended.contentItems, ended.success, ended.arguments],
		['c1', 'completed', words('found it'), true, { query: 'q' }]);
	assert.ok(Number.isInteger(ended.durationMs));
	const [first, second] = model.requests();
	assert.deepEqual(toolOf(first, 'lookup'), { type: 'function', name: 'lookup', description: 'Looks things up.',
		strict: false, parameters: SCHEMA });
	assert.equal(outputOf(second, 'c1'), 'found it');
	assert.equal(server.all('serverRequest/resolved').length, 0);
	assert.equal((await server.end()).code, 0);
});

test('two calls with the same call_id are sent to the client one after the other', appServer, async (t) => {
	const step = (query) => ({ call: 'lookup', arguments: { query }, call_id: 'twin' });
	const { model, server, say: tell } = await start(t, [reply(step('first'), step('second')), say('done')]);
	await tell('go');
	for (const query of ['first', 'second']) {
		const request = await server.next('item/tool/call');
		assert.equal(request.params.arguments.query, query);
		assert.equal(server.all('item/tool/call').length, query === 'first' ? 1 : 2);
		server.answer(request, { success: true, contentItems: words(`found ${query}`) });
	}
	await server.next('turn/completed');
	assert.deepEqual(toolItems(server, 'item/completed').map(({ status }) => status), ['completed', 'completed']);
	const outputs = model.requests()[1].body.input.filter(({ type }) => type === 'function_call_output');
	assert.deepEqual(outputs.map(({ output }) => output), ['found first', 'found second']);
});

test('several parts, images among them, reach the model as a list', appServer, async (t) => {
	const { model, server, say: tell } = await start(t, [lookup(), say('done')]);
	await tell('go');
	const image = 'data:image/png;base64,AAAA';
	server.answer(await server.next('item/tool/call'), { success: true,
		contentItems: [...words('see'), { type: 'inputImage', imageUrl: image }] });
	await server.next('turn/completed');
	const { output } = model.requests()[1].body.input.at(-1);
	assert.deepEqual(output, [{ type: 'input_text', text: 'see' },
		{ type: 'input_image', image_url: image, detail: 'high' }]);
	await server.end();
});

test('errors of a call are sent to the model', appServer, async (t) => {
	const { model, server, say: tell } = await start(t,
		[lookup('c1'), say('1'), lookup('c2'), say('2'), lookup('c3'), say('3'), call('lookup', '{bad', { call_id: 'c4' }), say('4'),
			call('other', {}, { call_id: 'c5' }), say('5')]);
	const answers = [{ result: { success: false, contentItems: words('no such thing') } },
		{ error: { code: -32000, message: 'boom' } }, { result: { nope: 1 } }];
	for (const answer of answers) {
		await tell('go');
		server.send({ id: (await server.next('item/tool/call')).id, ...answer });
		await server.next('turn/completed');
	}
	for (const _ of [4, 5]) {
		await tell('go');
		await server.next('turn/completed');
	}
	assert.deepEqual(toolItems(server, 'item/completed').map(({ status, success }) => [status, success]),
		[['failed', false], ['failed', false], ['failed', false]]);
	const last = model.requests().at(-1);
	assert.deepEqual(['c1', 'c2', 'c3'].map((id) => outputOf(last, id)),
		['no such thing', 'dynamic tool request failed', 'dynamic tool response was invalid']);
	assert.match(outputOf(last, 'c4'), /^failed to parse function arguments: /);
	assert.equal(outputOf(last, 'c5'), 'unsupported call: other');
	await server.end();
});

test('tools have namespaces, and deferred ones are not sent', appServer, async (t) => {
	const inner = reply({ item: { type: 'function_call', call_id: 'n1', namespace: 'ns', name: 'inner', arguments: '{"a":1}' } });
	const { model, server, say: tell } = await start(t, [inner, say('done')], { dynamicTools: [fn('lookup'),
		{ type: 'namespace', name: 'ns', description: 'N', tools: [fn('inner'), fn('lazy', { deferLoading: true })] },
		{ type: 'namespace', name: 'later', description: 'L', tools: [fn('lazy', { deferLoading: true })] }] });
	await tell('go');
	const request = await server.next('item/tool/call');
	assert.deepEqual([request.params.namespace, request.params.tool, request.params.arguments], ['ns', 'inner', { a: 1 }]);
	server.answer(request, { success: true, contentItems: words('inner ok') });
	await server.next('turn/completed');
	const [first, second] = model.requests();
	assert.deepEqual(toolOf(first, 'ns'), { type: 'namespace', name: 'ns', description: 'N', tools: [
		{ type: 'function', name: 'inner', description: 'd', strict: false, parameters: { type: 'object' } }] });
	assert.equal(toolOf(first, 'later'), undefined);
	assert.equal(outputOf(second, 'n1'), 'inner ok');
	await server.end();
});

test('invalid tools are refused with the texts of codex 0.169', appServer, async (t) => {
	const server = await startAppServer(t, null);
	const namespace = (name, ...tools) => ({ type: 'namespace', name, description: 'd', tools });
	for (const [dynamicTools, message] of [
		[[LOOKUP, namespace('ns', fn('a'))], 'Invalid request: dynamic tools must use either canonical or legacy format consistently'],
		[[LOOKUP, LOOKUP], 'duplicate dynamic tool name: lookup'],
		[[fn('bad name')], 'dynamic tool name must match ^[a-zA-Z0-9_-]+$ to match Responses API: bad name'],
		[[fn('')], 'dynamic tool name must not be empty'],
		[[fn(' a')], 'dynamic tool name has leading/trailing whitespace:  a'],
		[[fn('mcp__x')], 'dynamic tool name is reserved: mcp__x'],
		[[fn('a', { deferLoading: true })], 'deferred dynamic tool must include a namespace: a'],
		[[{ name: 'x', inputSchema: {} }], 'Invalid request: missing field `description`'],
		[[{ name: 'x', description: '' }], 'Invalid request: missing field `inputSchema`'],
		[[fn('x', { inputSchema: 5 })],
			'dynamic tool input schema is not supported for x: invalid type: number, expected struct JsonSchema'],
		[[{ ...fn('x'), type: 'bogus' }], 'Invalid request: unknown variant `bogus`, expected `function` or `namespace`'],
		[[namespace('x')], 'dynamic tool namespace must contain at least one tool: x'],
		[[namespace('x', fn('i'), fn('i'))], 'duplicate dynamic tool name in namespace x: i'],
		[[namespace('x', fn('i')), namespace('x', fn('j'))], 'duplicate dynamic tool namespace: x'],
		[[namespace('bad ns', fn('i'))], 'dynamic tool namespace must match ^[a-zA-Z0-9_-]+$ to match Responses API: bad ns'],
		[{}, 'Invalid request: invalid type: map, expected a sequence']])
		await assert.rejects(server.request('thread/start', { dynamicTools }), { code: -32600, message });
	await server.request('thread/start', { dynamicTools: [] });
	await server.end();
});

test('they are kept with the thread, through a resume and a fork, and so are their calls', appServer, async (t) => {
	const { model, server, thread, say: tell } = await start(t,
		[lookup('c1'), say('one'), lookup('c2'), say('two'), say('three')]);
	await tell('go');
	server.answer(await server.next('item/tool/call'), { success: true, contentItems: words('first') });
	await server.next('turn/completed');
	await server.end();
	const meta = JSON.parse(fs.readFileSync(rollouts(server.home)[0], 'utf8').split('\n')[0]).payload;
	assert.deepEqual(meta.dynamic_tools, [{ type: 'function', ...LOOKUP }]);

	const again = await startAppServer(t, model, { home: server.home, cwd: server.cwd });
	const resumed = await again.request('thread/resume', { threadId: thread.id });
	const [, kept] = resumed.thread.turns[0].items;
	assert.deepEqual([kept.type, kept.id, kept.tool, kept.status, kept.contentItems],
		['dynamicToolCall', 'c1', 'lookup', 'completed', words('first')]);
	await again.request('turn/start', { threadId: thread.id, input: [text('again')] });
	again.answer(await again.next('item/tool/call'), { success: true, contentItems: words('second') });
	await again.next('turn/completed');
	const fork = await again.request('thread/fork', { threadId: thread.id });
	await again.request('turn/start', { threadId: fork.thread.id, input: [text('fork')] });
	await again.next('turn/completed');
	assert.ok(toolOf(model.requests().at(-1), 'lookup'));
	await again.end();
});

test('a call ends with its turn, and its late answer is ignored', appServer, async (t) => {
	const { model, server, thread, say: tell } = await start(t, [lookup(), say('on')]);
	const { turn } = await tell('go');
	const request = await server.next('item/tool/call');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	await server.next('turn/completed');
	assert.deepEqual(toolItems(server, 'item/completed').map(({ status }) => status), ['failed']);
	server.answer(request, { success: true, contentItems: words('late') });
	await tell('go on');
	await server.next('turn/completed');
	assert.match(outputOf(model.requests().at(-1), 'c1'), /^aborted/);
	await server.end();
});

test('without subscribers the calls fail and the turn continues', appServer, async (t) => {
	const { model, server, thread, say: tell } = await start(t, [lookup(), say('alone')]);
	await tell('go');
	await server.next('item/tool/call');
	await server.request('thread/unsubscribe', { threadId: thread.id });
	for (let tries = 0; model.requests().length < 2 && tries < 200; tries++)
		await server.request('thread/loaded/list', {});
	assert.match(outputOf(model.requests()[1], 'c1'), /^No client that could carry out this tool is connected/);
	await server.end();
});

test('protocol v1: the call is an event, the answer an Op', needs('proto'), async (t) => {
	const model = await startModel(t, [lookup('c1'), say('one'), lookup('c2'), say('two')]);
	const codex = startProto(t, model, { home: makeHome(t, model), args: ['--no-auto-configure'] });
	codex.submit('s', { type: 'configure_session', dynamic_tools: [LOOKUP] });
	for (const [id, response] of [['c1', { callId: 'c1', output: 'plain', success: true }],
		['c2', { output: '', success: true, content_items: [{ type: 'nonsense' }] }]]) {
		codex.submit(`t-${id}`, userInput('go'));
		const { msg } = await codex.next('dynamic_tool_call_request');
		assert.deepEqual(msg, { type: 'dynamic_tool_call_request', callId: id, turnId: `t-${id}`, tool: 'lookup',
			arguments: { query: 'q' } });
		codex.submit('x', { type: 'dynamic_tool_response', id: 'unknown', response });
		codex.submit('r', { type: 'dynamic_tool_response', id, response });
		await codex.next('task_complete');
	}
	await codex.end();
	const last = model.requests().at(-1);
	assert.deepEqual([outputOf(last, 'c1'), outputOf(last, 'c2')], ['plain', 'dynamic tool response was invalid']);
});

test('protocol v1: the end of input fails a pending call', needs('proto'), async (t) => {
	const model = await startModel(t, [lookup('c1')]);
	const codex = startProto(t, model, { args: ['--no-auto-configure'] });
	codex.submit('s', { type: 'configure_session', dynamic_tools: [LOOKUP] });
	codex.submit('t', userInput('go'));
	await codex.next('dynamic_tool_call_request');
	assert.equal((await codex.end()).code, 0);
	assert.ok(codex.events().some(({ msg }) => msg.type === 'turn_aborted'));
});
