// Servers of all revisions, schemas and questions that are unusual, and calls side by side, in resumed sessions and in
// subagents.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { codexExec, itemsOf, makeHome, needs, outputOf, readLines, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { configOf, ECHO, itemCall, startThread, WRITE } from './lib/mcp.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const exec = needs('exec');
const appServer = needs('app-server');
const PATIENT = 'mcp_optional_startup_grace_ms = 60000\n';
const toolsOf = (request, name) => request.body.tools.find((it) => it.name === name)?.tools;

// --- revisions ------------------------------------------------------------------------------------------------------

const SPOKEN = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2031-01-01'];

test('servers of each revision with a handshake are used, and a stateless one is named', exec, async (t) => {
	const log = path.join(tempDir(t, 'log'), 'log');
	const server = (version) => ({ tools: [ECHO], initialize: { protocolVersion: version }, log });
	const name = (version) => `v${version.replaceAll('-', '')}`;
	const servers = Object.fromEntries([...SPOKEN, '2026-07-28'].map((version) => [name(version), server(version)]));
	const model = await startModel(t, [reply(...SPOKEN.map((version) => itemCall('echo', { say: version }, version, name(version)))), say('done')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: PATIENT + configOf(servers) });
	assert.equal(result.code, 0, result.stderr);
	for (const version of SPOKEN) assert.match(outputOf(model.requests()[1], version), new RegExp(`"say":"${version}"`));
	assert.match(result.stderr, /the server speaks MCP 2026-07-28 only, which this version does not/);
	for (const { params } of readLines(log).filter(({ method }) => method === 'initialize'))
		assert.equal(params.protocolVersion, '2025-11-25');
});

test('an array of messages is taken from servers of the revisions that have them', exec, async (t) => {
	const raw = '[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]\n';
	const server = (version) => ({ tools: [ECHO], initialize: { protocolVersion: version }, answers: { echo: { raw } } });
	const model = await startModel(t, [reply(itemCall('echo', {}, 'old', 'old'), itemCall('echo', {}, 'new', 'new')), say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: PATIENT +
		configOf({ old: server('2025-03-26'), new: server('2025-06-18') }, 'tool_timeout_sec = 1.0') });
	assert.match(outputOf(model.requests()[1], 'old'), /Output:$/);
	assert.match(outputOf(model.requests()[1], 'new'), /timed out awaiting tools\/call after 1s$/);
});

// --- tools ----------------------------------------------------------------------------------------------------------

test('a schema that refers to itself is passed on', exec, async (t) => {
	const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, all: { type: 'array', items: { $ref: '#' } } } };
	const inputSchema = { type: 'object', $defs: { node }, properties: { first: { $ref: '#/$defs/node' } } };
	let deep = { type: 'object' };
	for (let i = 0; i < 60; i++) deep = { type: 'object', properties: { down: deep } };
	const model = await startModel(t, [reply(itemCall('echo', { first: { next: {} } })), say('done')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: PATIENT +
		configOf({ s: { tools: [{ ...ECHO, inputSchema }, { ...ECHO, name: 'deep', inputSchema: deep }] } }) });
	assert.equal(result.code, 0, result.stderr);
	const offered = toolsOf(model.requests()[0], 'mcp__s');
	assert.deepEqual(offered.map(({ parameters }) => parameters).sort((a, b) => ('$defs' in b) - ('$defs' in a)),
		[inputSchema, { ...deep }]);
	assert.match(outputOf(model.requests()[1], 'c1'), /\{"first":\{"next":\{\}\}\}$/);
});

for (const [name, tools, keys, both] of [
	['read-only tools run side by side', [ECHO, { ...ECHO, name: 'other' }], '', true],
	['tools that may write run one after the other', [WRITE, { ...WRITE, name: 'other' }], '', false],
	['supports_parallel_tool_calls lets tools that may write run side by side', [WRITE, { ...WRITE, name: 'other' }],
		'supports_parallel_tool_calls = true', true],
])
	test(`${name}; their outputs are in the order of the calls`, exec, async (t) => {
		const [first] = tools;
		const model = await startModel(t, [reply(itemCall(first.name, {}, 'a'), itemCall('other', { say: 'b' }, 'b')), say('done')]);
		// The first call is answered after the second has arrived.
		const script = { tools, answers: { [first.name]: { after: 'other' } } };
		const config = PATIENT + configOf({ s: script }, `tool_timeout_sec = ${both ? 60 : 1}.0\n${keys}`);
		const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config });
		assert.equal(result.code, 0, result.stderr);
		const request = model.requests()[1];
		assert.match(outputOf(request, 'a'), both ? /after other$/ : /timed out awaiting tools\/call after 1s$/);
		assert.match(outputOf(request, 'b'), /\{"say":"b"\}$/);
		assert.deepEqual(request.body.input.filter(({ type }) => type === 'function_call_output').map(({ call_id }) => call_id), ['a', 'b']);
	});

// --- questions ------------------------------------------------------------------------------------------------------

test('a question that the server withdraws is resolved without an answer, and the call goes on', appServer, async (t) => {
	const ask = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
	const { model, server, begin, log } = await startThread(t, { tools: [ECHO], answers: { echo: { ask, linger: 300,
		withdraw: { content: [{ type: 'text', text: 'never mind' }] } } } }, [reply(itemCall('echo', {})), say('done')]);
	await begin('go');
	const request = await server.next('mcpServer/elicitation/request');
	const { params } = await server.next('serverRequest/resolved');
	assert.equal(params.requestId, request.id);
	await server.next('turn/completed');
	assert.match(outputOf(model.requests()[1], 'c1'), /never mind$/);
	assert.equal(log().filter(({ id, method }) => id === 'ask1' && !method).length, 0, 'the server gets no answer');
	await server.end();
});

// --- the start ------------------------------------------------------------------------------------------------------

test('a server that is removed while it starts is cancelled', appServer, async (t) => {
	const model = await startModel(t, [say('done')]);
	const home = makeHome(t, model, 'model = "gpt-5.2"\n');
	const file = path.join(home, 'config.toml');
	const before = fs.readFileSync(file, 'utf8');
	fs.writeFileSync(file, before + configOf({ s: { initialize: { hang: true } } }));
	const server = await startAppServer(t, model, { home });
	await server.request('thread/start', {});
	const states = () => server.all('mcpServer/startupStatus/updated').map(({ params }) => `${params.name} ${params.status}`);
	while (!states().length) await server.next('mcpServer/startupStatus/updated');
	fs.writeFileSync(file, before);
	await server.request('config/mcpServer/reload', {});
	while (states().length < 2) await server.next('mcpServer/startupStatus/updated');
	assert.deepEqual(states(), ['s starting', 's cancelled']);
	await server.end();
});

// --- sessions -------------------------------------------------------------------------------------------------------

test('a resumed session has the calls in its history, and can call again', exec, async (t) => {
	const model = await startModel(t, [reply(itemCall('echo', { say: 'before' }, 'a')), say('first'),
		reply(itemCall('echo', { say: 'after' }, 'b')), say('second')]);
	const home = makeHome(t, model, PATIENT);
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { tools: [ECHO] } }));
	assert.equal((await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { home })).code, 0);
	const result = await codexExec(t, model, ['resume', '--last', '--all', '-m', 'gpt-5.2', 'more'], { home });
	assert.equal(result.code, 0, result.stderr);
	const [, , third, fourth] = model.requests();
	const call = third.body.input.find(({ type, call_id }) => type === 'function_call' && call_id === 'a');
	assert.deepEqual([call.name, call.namespace, call.arguments], ['echo', 'mcp__s', '{"say":"before"}']);
	assert.match(outputOf(third, 'a'), /\{"say":"before"\}$/);
	assert.match(outputOf(fourth, 'b'), /\{"say":"after"\}$/);
});

test('a subagent calls tools, of the same server process', needs('proto'), async (t) => {
	const when = (contains, lacks, ...steps) => ({ when: { contains, lacks: ['ROOT', ...lacks] }, reply: steps });
	const model = await startModel(t, [
		when(['count pears', 'from the child'], [], { message: 'Counted.' }),
		when('count pears', ['from the child'], itemCall('echo', { say: 'from the child' }, 'k')),
		{ reply: [itemCall('echo', { say: 'from the root' }, 'r'), { call: 'spawn_agent', arguments: { message: 'count pears' } }] },
		{ take: { agent: { from: 'input.-1.output', after: '"agent_id":"' } }, reply: [{ call: 'wait_agent', arguments: { targets: ['{agent}'] } }] },
		{ reply: [{ message: 'ok' }], times: 'forever' },
	]);
	const log = path.join(tempDir(t, 'log'), 'log');
	const proto = startProto(t, model, { config: `${PATIENT}model = "gpt-5.2"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n${
		configOf({ s: { tools: [ECHO], log } })}` });
	proto.submit('1', userInput('ROOT go'));
	await proto.next('task_complete');
	const calls = readLines(log).filter(({ method }) => method === 'tools/call').map(({ params }) => params.arguments.say);
	assert.deepEqual(calls, ['from the root', 'from the child']);
	assert.equal(readLines(log).filter(({ started }) => started).length, 1);
	assert.equal((await proto.end()).code, 0);
});

test('a failed result of a tool is a failed item that keeps its content', exec, async (t) => {
	const model = await startModel(t, [reply(itemCall('echo', {})), say('done')]);
	const content = [{ type: 'text', text: 'no such word' }];
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { json: true,
		config: PATIENT + configOf({ s: { tools: [ECHO], answers: { echo: { result: { content, isError: true } } } } }) });
	const [item] = itemsOf(result.events, 'mcp_tool_call');
	assert.deepEqual([item.status, item.result.content, item.error], ['failed', content, null]);
});
