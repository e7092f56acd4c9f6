// `codex acp` and MCP servers: those that the client hands over, approvals of their tools, their questions, their end.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

import { makeHome, needs, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { cancelled, PATIENT, selected, startAcp } from './lib/acp.mjs';

const options = needs('acp');
const SERVER = fileURLToPath(new URL('lib/mcp_server.mjs', import.meta.url));
const writer = { name: 'save', description: 'Saves a word.', inputSchema: { type: 'object' } };
const reader = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };

/** The scripted server as a member of mcpServers. */
const stdio = (script, name = 'kit', env = []) => ({ name, command: process.execPath, args: [SERVER, JSON.stringify(script)], env });
let calls = 0;
const use = (tool, args = {}, server = 'kit') => reply({ item: { type: 'function_call', call_id: `call_${++calls}`,
	namespace: `mcp__${server}`, name: tool, arguments: JSON.stringify(args) } });
const read = (file) => fs.readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const isGone = (pid) => { try { process.kill(pid, 0); return false; } catch { return true; } };
/** The lines of the output that the model got. */
const outputs = (model) => model.requests().at(-1).body.input.filter(({ type }) => type === 'function_call_output')
	.map(({ output }) => JSON.stringify(output));

// --- servers of the client --------------------------------------------------------------------------------------------

test('a server over stdio is started with its arguments and variables, and ends with the session', options, async (t) => {
	const log = path.join(tempDir(t), 'log');
	const model = await startModel(t, [use('look', { at: 'me' }), say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [reader], log }, 'kit', [{ name: 'OWN', value: 'x y' }])] });
	await acp.prompt(sessionId, 'go');
	const [call] = acp.calls(sessionId);
	assert.equal(call.title, 'mcp.kit.look');
	assert.equal(call.kind, 'execute');
	assert.equal(call.status, 'completed');
	assert.deepEqual(call.rawInput, { server: 'kit', tool: 'look', arguments: { at: 'me' } });
	assert.deepEqual(call.rawOutput.result.content, [{ type: 'text', text: '{"at":"me"}' }]);
	assert.equal(call.rawOutput.error, null);
	assert.deepEqual(call.content, [{ type: 'content', content: { type: 'text', text: '{"at":"me"}' } }]);
	assert.equal(acp.permissions.length, 0, 'a tool that only reads needs no approval');
	const [{ started, env }] = read(log);
	assert.ok(env.includes('OWN'));
	await acp.end();
	assert.ok(isGone(started));
});

/** An MCP server over HTTP; resolves to its URL and the headers of the requests that it gets. */
async function startWeb(t) {
	const seen = [];
	const server = http.createServer(async (request, response) => {
		seen.push(request.headers);
		const mcp = new McpServer({ name: 'web', version: '1' });
		mcp.registerTool('echo', { inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
			async ({ text }) => ({ content: [{ type: 'text', text: `heard ${text}` }] }));
		const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
		response.on('close', () => transport.close());
		await mcp.connect(transport);
		await transport.handleRequest(request, response);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => { server.closeAllConnections(); server.close(); });
	return { url: `http://127.0.0.1:${server.address().port}/mcp`, seen };
}

test('a server over HTTP gets its headers', options, async (t) => {
	const { url, seen } = await startWeb(t);
	const model = await startModel(t, [use('echo', { text: 'hi' }, 'web'), say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [{ type: 'http', name: 'web', url, headers: [{ name: 'X-Key', value: 'secret' }] }] });
	await acp.prompt(sessionId, 'go');
	assert.match(outputs(model)[0], /heard hi/);
	assert.ok(seen.length && seen.every((headers) => headers['x-key'] === 'secret'));
	await acp.end();
});

test('a server of the client replaces that of the same name in config.toml, with its variables and approvals', options, async (t) => {
	const log = path.join(tempDir(t), 'log');
	const model = await startModel(t, [use('save'), say('Done.')]);
	const acp = await startAcp(t, model, { env: { INHERITED: 'i' }, config: `[mcp_servers.kit]
command = "/nonexistent/server"
enabled = false
env = { SECRET = "s" }
env_vars = ["INHERITED"]
cwd = "/nonexistent"
enabled_tools = ["look"]
default_tools_approval_mode = "approve"
[mcp_servers.kit.tools.save]
approval_mode = "approve"` });
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [reader, writer], log }, 'kit', [{ name: 'OWN', value: 'o' }])] });
	await acp.prompt(sessionId, 'go');
	assert.equal(acp.permissions.length, 1, 'an approval of another server is none');
	assert.equal(acp.calls(sessionId)[0].status, 'completed');
	const [{ env }] = read(log);
	assert.deepEqual(['OWN', 'SECRET', 'INHERITED'].map((name) => env.includes(name)), [true, false, false]);
	await acp.end();
});

test('a server of the client over HTTP gets no credentials of the one in config.toml, nor do its settings matter', options, async (t) => {
	const { url, seen } = await startWeb(t);
	const model = await startModel(t, [use('echo', { text: 'hi' }, 'web'), say('Done.')]);
	const acp = await startAcp(t, model, { env: { TOKEN: 'secret' }, config: `[mcp_servers.web]
url = "https://example.invalid/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-Own = "secret" }
env_http_headers = { X-Too = "TOKEN" }
[mcp_servers.other]
command = "/nonexistent/server"
env = { SECRET = "s" }
enabled = false` });
	const { sessionId } = await acp.newSession({ mcpServers: [{ type: 'http', name: 'web', url, headers: [] },
		{ type: 'http', name: 'other', url, headers: [{ name: 'X-Other', value: 'o' }] }] });
	await acp.prompt(sessionId, 'go');
	assert.match(outputs(model)[0], /heard hi/);
	assert.ok(seen.some((headers) => headers['x-other']), 'a server of the other kind is used');
	assert.ok(!seen.some((headers) => headers.authorization || headers['x-own'] || headers['x-too']), JSON.stringify(seen));
	await acp.end();
});

test('two servers of one name, and too many, are refused', options, async (t) => {
	const acp = await startAcp(t, await startModel(t, [say('Unused.')]));
	const named = (names) => acp.newSession({ mcpServers: names.map((name) => stdio({ tools: [] }, name)) });
	await assert.rejects(named(['a', 'b', 'a']), { code: -32602, message: /needs a name of its own/ });
	await assert.rejects(named(Array.from({ length: 65 }, (_, i) => `s${i}`)), { code: -32602, message: /`mcpServers` has 65 elements, more than 64/ });
	await assert.rejects(acp.newSession({ additionalDirectories: Array.from({ length: 65 }, () => '/tmp') }),
		{ code: -32602, message: /`additionalDirectories` has 65 elements, more than 64/ });
	await acp.end();
});

test('servers of the client join those of config.toml, for one session', options, async (t) => {
	const own = `model = "gpt-5.2"\n[mcp_servers.home]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}, ${
		JSON.stringify(JSON.stringify({ tools: [reader] }))}]`;
	const model = await startModel(t, [{ ...say('Hello.'), times: 'forever' }]);
	const acp = await startAcp(t, model, { config: own });
	const [one, two] = [await acp.newSession({ mcpServers: [stdio({ tools: [reader] })] }), await acp.newSession()];
	await acp.prompt(one.sessionId, 'go');
	await acp.prompt(two.sessionId, 'go');
	const names = model.requests().map(({ body }) => body.tools.map((it) => it.name).filter((name) => /^mcp__/.test(name)));
	assert.deepEqual(names, [['mcp__home', 'mcp__kit'], ['mcp__home']]);
	await acp.end();
});

test('a server that does not start is reported, and the prompt runs', options, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [{ name: 'broken', command: '/nonexistent/server', args: [], env: [] }] });
	await acp.until(({ params }) => /MCP server broken did not start/.test(params?.update?.content?.text));
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	await acp.end();
});

test('/mcp lists the servers with their tools', options, async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [reader, writer] }, 'my-kit'),
		{ name: 'broken', command: '/nonexistent/server', args: [], env: [] }] });
	assert.equal((await acp.prompt(sessionId, '/mcp')).stopReason, 'end_turn');
	const list = acp.text(sessionId);
	assert.match(list, /- my-kit: look, save\n/);
	assert.match(list, /- broken: no tools\n/);
	assert.equal(model.requests().length, 0);
	await acp.end();
});

test('/mcp reconnect starts a failed server again, whose tools are in the next request', options, async (t) => {
	const model = await startModel(t, [say('First.'), say('Second.')]);
	const acp = await startAcp(t, model);
	const ready = path.join(tempDir(t), 'ready');
	const server = { name: 'kit', command: '/bin/sh', args: ['-c', 'test -e "$1" && exec "$2" "$3" "$4"', 'sh', ready,
		process.execPath, SERVER, JSON.stringify({ tools: [reader] })], env: [] };
	const { sessionId } = await acp.newSession({ mcpServers: [server] });
	await acp.until(({ params }) => /MCP server kit did not start/.test(params?.update?.content?.text));
	await acp.prompt(sessionId, 'go');
	fs.writeFileSync(ready, '');
	await acp.prompt(sessionId, '/mcp other');
	assert.match(acp.text(sessionId), /\/mcp reconnect\n/);
	await acp.prompt(sessionId, '/mcp reconnect');
	assert.match(acp.text(sessionId), /- kit: look\n/);
	await acp.prompt(sessionId, 'again');
	const requests = model.requests().map(({ body }) => body.tools.some(({ type }) => type === 'tool_search'));
	assert.deepEqual(requests, [false, true]);
	await acp.end();
});

test('/mcp can be cancelled while a server starts', options, async (t) => {
	const model = await startModel(t, [say('Next.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ initialize: { hang: true } })] });
	const list = acp.prompt(sessionId, '/mcp');
	await acp.request('session/set_mode', { sessionId, modeId: 'read-only' }); // so the prompt has been read
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await list).stopReason, 'cancelled');
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	await acp.end();
});

test('session/load keeps the input and the output of MCP calls', options, async (t) => {
	const home = makeHome(t, null), cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [use('look', { at: 'me' }), use('fails'), say('Done.')]);
	fs.copyFileSync(path.join(makeHome(t, model, PATIENT), 'config.toml'), path.join(home, 'config.toml'));
	const mcpServers = [stdio({ tools: [reader, { ...reader, name: 'fails' }],
		answers: { fails: { error: { code: -32000, message: 'no luck' } } } })];
	const first = await startAcp(t, null, { home, cwd });
	const { sessionId } = await first.newSession({ mcpServers });
	await first.prompt(sessionId, 'go');
	const live = first.calls(sessionId);
	await first.end();
	assert.match(live[1].rawOutput.error, /no luck/);
	assert.equal(live[1].status, 'failed');
	const acp = await startAcp(t, null, { home, cwd });
	await acp.request('session/load', { sessionId, cwd, mcpServers });
	const facts = (list) => list.map(({ sessionUpdate, ...it }) => it);
	assert.deepEqual(facts(acp.calls(sessionId)), facts(live));
	await acp.end();
});

// --- approvals --------------------------------------------------------------------------------------------------------

test('a call of a tool that writes asks for a permission', options, async (t) => {
	const model = await startModel(t, [use('save', { word: 'w' }), say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [writer] })] });
	await acp.prompt(sessionId, 'go');
	const [{ toolCall, options: offered, _meta }] = acp.permissions;
	const [call] = acp.calls(sessionId);
	assert.equal(toolCall.toolCallId, call.toolCallId);
	assert.equal(toolCall.title, 'mcp.kit.save');
	assert.equal(toolCall.status, 'pending');
	assert.deepEqual(toolCall.rawInput, { server: 'kit', tool: 'save', arguments: { word: 'w' } });
	assert.match(JSON.stringify(toolCall.content), /Allow the kit MCP server to run tool .*Saves a word/);
	assert.deepEqual(offered.map(({ optionId, kind }) => [optionId, kind]), [['allow_once', 'allow_once'],
		['allow_session', 'allow_always'], ['cancel', 'reject_once']]);
	assert.deepEqual(_meta, { is_mcp_tool_approval: true });
	assert.equal(call.status, 'completed');
	await acp.end();
});

for (const [name, outcome, why] of [['rejected', selected('cancel'), /rejected MCP tool call/], ['cancelled', cancelled, /cancelled MCP tool call/],
	['unknown', selected('nonsense'), /cancelled MCP tool call/], ['error', null, /cancelled MCP tool call/]]) {
	test(`a call of an MCP tool is denied by an answer that allows nothing: ${name}`, options, async (t) => {
		const log = path.join(tempDir(t), 'log');
		const model = await startModel(t, [use('save'), say('Well.')]);
		const acp = await startAcp(t, model, { permission: () => {
			if (!outcome) throw new Error('no window');
			return outcome;
		} });
		const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [writer], log })] });
		assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
		assert.match(outputs(model)[0], why);
		assert.equal(acp.calls(sessionId)[0].status, 'failed');
		await acp.end();
		assert.ok(!read(log).some(({ method }) => method === 'tools/call'));
	});
}

test('an approval of the client\'s server cannot be stored, not even for a server of the same name', options, async (t) => {
	const config = '[mcp_servers.kit]\ncommand = "/nonexistent/server"\n';
	const model = await startModel(t, [use('save'), use('save'), use('save', {}, 'new'), use('save', {}, 'new'), say('Done.')]);
	const acp = await startAcp(t, model, { config, permission: () => selected('allow_always') });
	const before = fs.readFileSync(path.join(acp.home, 'config.toml'), 'utf8');
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [writer] }), stdio({ tools: [writer] }, 'new')] });
	await acp.prompt(sessionId, 'go');
	assert.deepEqual(acp.permissions.map((it) => it.options.map(({ optionId }) => optionId)),
		[['allow_once', 'allow_session', 'cancel'], ['allow_once', 'allow_session', 'cancel']]);
	assert.deepEqual(acp.calls(sessionId).map(({ status }) => status), Array(4).fill('completed'));
	await acp.end();
	assert.equal(fs.readFileSync(path.join(acp.home, 'config.toml'), 'utf8'), before);
	assert.ok(!/for this session only/.test(JSON.stringify(acp.messages)));
});

test('allow_session is valid for the session, allow_always for later ones too', options, async (t) => {
	const config = `[mcp_servers.kit]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(SERVER)}, ${
		JSON.stringify(JSON.stringify({ tools: [writer] }))}]`;
	const model = await startModel(t, [use('save'), use('save'), say('One.'), use('save'), say('Two.'), use('save'), say('Three.')]);
	const answers = ['allow_session', 'allow_always'];
	const acp = await startAcp(t, model, { config, permission: (params, count) => selected(answers[count - 1]) });
	const one = (await acp.newSession()).sessionId;
	await acp.prompt(one, 'go');
	assert.equal(acp.permissions.length, 1, 'the second call of the session is allowed');
	assert.deepEqual(acp.permissions[0].options.map(({ optionId }) => optionId), ['allow_once', 'allow_session', 'allow_always', 'cancel']);
	const two = (await acp.newSession()).sessionId;
	await acp.prompt(two, 'go');
	assert.equal(acp.permissions.length, 2, 'another session asks');
	const written = /\[mcp_servers\.kit\.tools\.save\]\s*approval_mode = "approve"/;
	while (!written.test(fs.readFileSync(path.join(acp.home, 'config.toml'), 'utf8'))) await new Promise((done) => setTimeout(done, 5));
	const three = (await acp.newSession()).sessionId;
	await acp.prompt(three, 'go');
	assert.equal(acp.permissions.length, 2);
	assert.equal(acp.calls(three)[0].status, 'completed');
	await acp.end();
});

// --- questions of servers ---------------------------------------------------------------------------------------------

const schema = { type: 'object', properties: { colour: { type: 'string', title: 'Colour', enum: ['red', 'blue'] } }, required: ['colour'] };
const asking = (ask) => stdio({ tools: [reader], answers: { look: { ask } } });

test('a form of a server reaches a client with forms, and its values the server', options, async (t) => {
	const asked = [];
	const model = await startModel(t, [use('look'), say('Done.')]);
	const acp = await startAcp(t, model, { capabilities: { elicitation: { form: {} } },
		handlers: { 'elicitation/create': (params) => (asked.push(params), { action: 'accept', content: { colour: 'blue' } }) } });
	const { sessionId } = await acp.newSession({ mcpServers: [asking({ message: 'Which?', requestedSchema: schema })] });
	await acp.prompt(sessionId, 'go');
	assert.deepEqual(asked, [{ sessionId, toolCallId: acp.calls(sessionId)[0].toolCallId, mode: 'form', message: 'Which?', requestedSchema: schema }]);
	assert.match(outputs(model)[0], /accept.*colour.*blue/);
	await acp.end();
});

for (const action of ['decline', 'cancel']) {
	test(`a client that answers a form with ${action} makes the server receive it`, options, async (t) => {
		const model = await startModel(t, [use('look'), say('Done.')]);
		const acp = await startAcp(t, model, { capabilities: { elicitation: { form: {} } },
			handlers: { 'elicitation/create': () => ({ action }) } });
		const { sessionId } = await acp.newSession({ mcpServers: [asking({ message: 'Which?', requestedSchema: schema })] });
		await acp.prompt(sessionId, 'go');
		assert.match(outputs(model)[0], new RegExp(`action.*${action}`));
		await acp.end();
	});
}

test('a page of a server is opened by a client that can', options, async (t) => {
	const ask = { mode: 'url', message: 'Log in.', url: 'https://example.org/login', elicitationId: 'visit-1' };
	for (const elicitation of [{ form: {}, url: {} }, { form: {} }]) {
		const asked = [];
		const model = await startModel(t, [use('look'), say('Done.')]);
		const acp = await startAcp(t, model, { capabilities: { elicitation },
			handlers: { 'elicitation/create': (params) => (asked.push(params), { action: 'accept' }) } });
		const { sessionId } = await acp.newSession({ mcpServers: [asking(ask)] });
		await acp.prompt(sessionId, 'go');
		const { toolCallId } = acp.calls(sessionId)[0];
		assert.deepEqual(asked, elicitation.url ? [{ sessionId, toolCallId, ...ask }] : []);
		assert.match(outputs(model)[0], elicitation.url ? /accept/ : /cancel/);
		await acp.end();
	}
});

test('a client without forms makes the server receive cancel, and an approval is still asked', options, async (t) => {
	const model = await startModel(t, [use('save'), say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [writer],
		answers: { save: { ask: { message: 'Which?', requestedSchema: schema } } } })] });
	await acp.prompt(sessionId, 'go');
	assert.equal(acp.permissions.length, 1);
	assert.match(outputs(model)[0], /action.*cancel/);
	await acp.end();
});

test('a question whose metadata claims to be an approval is a question', options, async (t) => {
	const ask = { message: 'Allow the bank?', requestedSchema: { type: 'object', properties: {} },
		_meta: { codex_approval_kind: 'mcp_tool_call', tool_name: 'save', persist: ['always'] } };
	const model = await startModel(t, [use('look'), say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [asking(ask)] });
	await acp.prompt(sessionId, 'go');
	assert.equal(acp.permissions.length, 0);
	assert.match(outputs(model)[0], /action.*cancel/);
	await acp.end();
});

test('an interrupted call ends failed, and the server hears of it', options, async (t) => {
	const log = path.join(tempDir(t), 'log');
	const model = await startModel(t, [use('look'), say('Next.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession({ mcpServers: [stdio({ tools: [reader], log, answers: { look: { hang: true } } })] });
	const prompt = acp.prompt(sessionId, 'go');
	await acp.until(({ params }) => params?.update?.sessionUpdate === 'tool_call');
	const heard = async (name) => {
		while (!read(log).some(({ method }) => method === name)) await new Promise((done) => setTimeout(done, 5));
	};
	await heard('tools/call');
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await prompt).stopReason, 'cancelled');
	assert.equal(acp.calls(sessionId)[0].status, 'failed');
	assert.equal((await acp.prompt(sessionId, 'next')).stopReason, 'end_turn');
	await heard('notifications/cancelled');
	await acp.end();
});

test('a question is withdrawn when its call ends', options, async (t) => {
	const model = await startModel(t, [use('look'), say('Done.')]);
	let asked;
	const opened = new Promise((resolve) => { asked = resolve; });
	const acp = await startAcp(t, model, { capabilities: { elicitation: { form: {} } },
		handlers: { 'elicitation/create': () => new Promise(asked) } });
	const { sessionId } = await acp.newSession({ mcpServers: [asking({ message: 'Which?', requestedSchema: schema })] });
	const prompt = acp.prompt(sessionId, 'go');
	await Promise.race([opened, acp.until(({ method }) => method === 'elicitation/create')]);
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await prompt).stopReason, 'cancelled');
	const { id } = acp.messages.find(({ method }) => method === 'elicitation/create');
	assert.ok(acp.messages.some(({ method, params }) => method === '$/cancel_request' && params.requestId === id));
	await acp.end();
});

test('the question of a subagent\'s MCP call is withdrawn when the subagent is cancelled', options, async (t) => {
	const child = { ...use('look'), when: { contains: 'make it', lacks: ['You are agent 0', 'rootword'] } };
	const model = await startModel(t, [child, reply({ call: 'subagent_spawn', arguments: { prompt: 'make it' } }),
		reply({ gate: 'asked' }, { call: 'subagent_cancel', arguments: { agent_id: 1 } }), say('Done.')]);
	const acp = await startAcp(t, model, { config: 'features.subagent_tools = true\n', capabilities: { elicitation: { form: {} } },
		handlers: { 'elicitation/create': () => new Promise(() => {}) } });
	const { sessionId } = await acp.newSession({ mcpServers: [asking({ message: 'Which?', requestedSchema: schema })] });
	const prompt = acp.prompt(sessionId, 'rootword');
	const { id } = await acp.until(({ method }) => method === 'elicitation/create');
	await model.openGate('asked');
	await acp.until(({ method, params }) => method === '$/cancel_request' && params.requestId === id);
	assert.equal((await prompt).stopReason, 'end_turn');
	await acp.end();
});
