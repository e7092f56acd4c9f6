// The MCP client: servers over stdio, their tools in requests to the model, calls, and what clients see of them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { configOf, ECHO, itemCall, mcpItems, SERVER, startThread, WRITE } from './lib/mcp.mjs';
import { isAlive, until } from './lib/nest.mjs';
import { call, codexExec, itemsOf, makeHome, needs, outputOf, readLines, reply, rollouts, say, startModel, tempDir } from './lib/codex.mjs';

const exec = needs('exec');
const appServer = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
/** Runs exec with one call of a tool; returns the run, the requests to the model, and the server's log. */
async function callOnce(t, script, step, { keys, json = true } = {}) {
	const model = await startModel(t, [reply(step), say('done')]);
	const log = path.join(tempDir(t, 'log'), 'log');
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { json, config: configOf({ s: { log, ...script } }, keys) });
	return { result, requests: model.requests(), log: readLines(log) };
}

test('a tool is offered in a namespace, called, and its output given to the model', exec, async (t) => {
	const { result, requests, log } = await callOnce(t, { tools: [ECHO], initialize: { instructions: 'Use it.' } },
		itemCall('echo', { say: 'hi' }));
	assert.equal(result.code, 0, result.stderr);
	assert.deepEqual(requests[0].body.tools.find(({ name }) => name === 'mcp__s'), { type: 'namespace', name: 'mcp__s',
		description: 'Use it.', tools: [{ type: 'function', name: 'echo', description: 'Says it again.', strict: false,
			parameters: ECHO.inputSchema }] });
	const { output } = requests[1].body.input.find(({ type }) => type === 'function_call_output');
	assert.match(output[0].text, /^Wall time: \d+\.\d{4} seconds\nOutput:$/);
	assert.deepEqual(output.slice(1), [{ type: 'input_text', text: '{"say":"hi"}' }]);
	assert.deepEqual(log.slice(1).map(({ method }) => method),
		['initialize', 'notifications/initialized', 'tools/list', 'tools/call']);
	const items = result.events.filter(({ item }) => item?.type === 'mcp_tool_call');
	assert.deepEqual(items.map(({ type, item }) => [type, item.server, item.tool, item.arguments, item.status]), [
		['item.started', 's', 'echo', { say: 'hi' }, 'in_progress'],
		['item.completed', 's', 'echo', { say: 'hi' }, 'completed']]);
	assert.deepEqual(items[1].item.result, { content: [{ type: 'text', text: '{"say":"hi"}' }], structured_content: null });
});

test('each kind of result reaches the model in its form', exec, async (t) => {
	const part = (type, more) => ({ type, ...more });
	const rows = [
		['structured', { content: [part('text', { text: 'no' })], structuredContent: { answer: 42 } },
			/^Wall time: \S+ seconds\nOutput:\n\{"answer":42\}$/, 'completed'],
		['nothing', { content: [] }, /^Wall time: \S+ seconds\nOutput:$/, 'completed'],
		['image', { content: [part('image', { data: 'AAAA', mimeType: 'image/gif' })] },
			[{ type: 'input_image', image_url: 'data:image/gif;base64,AAAA', detail: 'high' }], 'completed'],
		['audio', { content: [part('audio', { data: 'AAAA', mimeType: 'audio/wav' })] },
			[{ type: 'input_text', text: '<audio content omitted because you do not support audio input>' }], 'completed'],
		['link', { content: [part('resource_link', { uri: 'x://y', name: 'n' })] },
			[{ type: 'input_text', text: '{"type":"resource_link","uri":"x://y","name":"n"}' }], 'completed'],
		['bad', { content: [part('text', { text: 'broke' })], isError: true },
			[{ type: 'input_text', text: 'broke' }], 'failed'],
		['error', { error: { code: -32602, message: 'wrong' } },
			/\nOutput:\ntool call error: tool call failed for `s\/error`\n\nCaused by:\n {4}Mcp error: -32602: wrong$/, 'failed'],
		['odd', { result: { content: 'text' } }, /Unexpected response type$/, 'failed'],
		['twice', { result: { content: [part('text', { text: 'first' })] } }, [{ type: 'input_text', text: 'first' }], 'completed'],
	];
	const tools = rows.map(([name]) => ({ ...ECHO, name }));
	const answers = Object.fromEntries(rows.map(([name, what]) => [name, what]));
	answers.twice = { raw: ['first', 'second'].map((word) => `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text",` +
		`"text":"${word}"}]}}\n`).join('') };
	const model = await startModel(t, [reply(...rows.map(([name]) => itemCall(name, {}, name))), say('done')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { json: true, config: configOf({ s: { tools, answers } }) });
	const outputs = model.requests()[1].body.input.filter(({ type }) => type === 'function_call_output');
	const items = itemsOf(result.events, 'mcp_tool_call');
	assert.deepEqual(outputs.map(({ call_id }) => call_id), rows.map(([name]) => name));
	for (const [index, [name, , expected, status]] of rows.entries()) {
		const { output } = outputs[index];
		if (expected instanceof RegExp) assert.match(output, expected, name);
		else assert.deepEqual(output.slice(1), expected, name);
		assert.equal(items.find(({ tool }) => tool === name).status, status, name);
	}
});

test('arguments that are no JSON or no object are not sent', exec, async (t) => {
	const model = await startModel(t, [reply(itemCall('echo', '{"x":', 'a'), itemCall('echo', '[1]', 'b'),
		itemCall('echo', '', 'c')), say('done')]);
	const log = path.join(tempDir(t, 'log'), 'log');
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { json: true, config: configOf({ s: { log, tools: [ECHO] } }) });
	const request = model.requests()[1];
	assert.match(outputOf(request, 'a'), /\nOutput:\nerr: /);
	assert.match(outputOf(request, 'b'), /MCP tool arguments must be a JSON object, got \[1\]$/);
	const items = itemsOf(result.events, 'mcp_tool_call');
	assert.deepEqual(items.map(({ status, arguments: args }) => [status, args]), [['failed', [1]], ['completed', null]]);
	const calls = readLines(log).filter(({ method }) => method === 'tools/call');
	assert.equal(calls.length, 1);
	assert.equal('arguments' in calls[0].params, false);
});

test('names are made of letters, digits and _, and stay different', exec, async (t) => {
	const named = (...names) => ({ tools: names.map((name) => ({ ...ECHO, name })) });
	const long = 'x'.repeat(200);
	const model = await startModel(t, [say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ 'my-server': named('a-b', 'a.b', 'plain', long, 'plain', 'ünï'),
		'my_server': named('t') }) });
	const offered = model.requests()[0].body.tools.filter(({ type, name }) => type === 'namespace' && name.startsWith('mcp__'));
	assert.equal(offered.length, 2);
	for (const { name } of offered) assert.match(name, /^mcp__my_server_[0-9a-f]{12}$/);
	const names = offered.find(({ tools }) => tools.length > 1).tools.map(({ name }) => name);
	assert.equal(names.length, 5);
	assert.equal(new Set(names).size, 5);
	assert.deepEqual(names, [...names].sort());
	assert.equal(names.filter((name) => /^a_b_[0-9a-f]{12}$/.test(name)).length, 2);
	assert.ok(names.includes('_n_') && names.includes('plain'));
	const cut = names.find((name) => name.startsWith('xxx'));
	assert.equal(`${offered[0].name}__${cut}`.length, 128);
});

test('enabled_tools and disabled_tools select by the names of the server', exec, async (t) => {
	const tools = ['a-1', 'b-1', 'c-1'].map((name) => ({ ...ECHO, name }));
	const model = await startModel(t, [say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ s: { tools } },
		'enabled_tools = ["a-1", "b-1"]\ndisabled_tools = ["b-1"]') });
	const offered = model.requests()[0].body.tools.find(({ name }) => name === 'mcp__s');
	assert.deepEqual(offered.tools.map(({ name }) => name), ['a_1']);
});

test('the server gets a small environment and the configured variables', exec, async (t) => {
	const model = await startModel(t, [say('done')]);
	const log = path.join(tempDir(t, 'log'), 'log');
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { env: { OPENAI_API_KEY: 'k', WANTED: 'w', ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? '' },
		config: configOf({ s: { log, tools: [] } }, 'env_vars = ["WANTED", "ABSENT"]\nenv = { OWN = "o" }') });
	const { env } = readLines(log)[0];
	for (const name of ['WANTED', 'OWN', 'HOME', 'PATH']) assert.ok(env.includes(name), name);
	for (const name of ['OPENAI_API_KEY', 'CODEX_HOME', 'ABSENT']) assert.ok(!env.includes(name), name);
});

test('failures of the start are reported with their reason, and the turn goes on', exec, async (t) => {
	const rows = {
		exits: [{ initialize: { exit: 3 }, stderr: 'no such\nlicence' },
			/connection closed: initialize response .*status 3; its error output ends with: no such\\nlicence/],
		refuses: [{ initialize: { error: { code: -32000, message: 'not today' } } }, /JSON-RPC error: -32000: not today/],
		lists: [{ list: { error: { code: -32000, message: 'no list' } } }, /Mcp error: -32000: no list/],
		hangs: [{ initialize: { hang: true } }, /MCP client for `hangs` timed out after 1 seconds\. Add or adjust `startup_timeout_sec`/],
		silent: [{ list: { hang: true } }, /timed out awaiting tools\/list after 1000ms/],
		circles: [{ endless: 'same' }, /tools\/list returned a repeated pagination cursor/],
		endless: [{ endless: 'new' }, /tools\/list returned more than 1000 pages|timed out awaiting tools\/list/],
		stateless: [{ initialize: { protocolVersion: '2026-07-28' } }, /speaks MCP 2026-07-28 only/],
	};
	const model = await startModel(t, [say('done')]);
	const servers = Object.fromEntries(Object.entries(rows).map(([name, [script]]) => [name, script]));
	const config = configOf(servers, 'startup_timeout_sec = 1.0') + '[mcp_servers.absent]\ncommand = "/no/such/program"\n';
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: `mcp_optional_startup_grace_ms = 30000\n${config}` });
	assert.equal(result.code, 0, result.stderr);
	for (const [name, [, reason]] of Object.entries(rows)) {
		assert.match(result.stderr, reason, name);
	}
	assert.match(result.stderr, /MCP client for `absent` failed to start: .*No such file/);
	assert.equal(model.requests().length, 1);
});

test('lines that are no messages, and answers that come late, are skipped', exec, async (t) => {
	const { requests } = await callOnce(t, { tools: [ECHO], on_start: ['garbage\n', '{"half\n', '\n', '{}\n', '[1]\n',
		'{"jsonrpc":"2.0","id":99,"result":{}}\n'] }, itemCall('echo', { say: 'hi' }));
	assert.match(outputOf(requests[1], 'c1'), /\{"say":"hi"\}/);
});

test('requests of the server are answered', exec, async (t) => {
	const before = [{ id: 'p', method: 'ping' }, { id: 7, method: 'roots/list' },
		{ id: 'x', method: 'sampling/createMessage', params: {} }, { id: 'e', method: 'elicitation/create',
			params: { message: 'name?', requestedSchema: { type: 'object', properties: {} } } },
		{ method: 'notifications/message', params: { data: 'x' } }, { method: 'unheard/of' }];
	const { log } = await callOnce(t, { tools: [ECHO], answers: { echo: { before, delay: 200,
		result: { content: [] } } } }, itemCall('echo', {}));
	const answers = Object.fromEntries(log.filter(({ method, id }) => !method && id).map((it) => [it.id, it.result ?? it.error.code]));
	assert.deepEqual(answers, { p: {}, 7: { roots: [] }, x: -32601, e: { action: 'decline' } });
});

test('a call has a time limit, of which the server is informed', exec, async (t) => {
	const log = path.join(tempDir(t, 'log'), 'log');
	const model = await startModel(t, [reply(itemCall('echo', {})), reply({ call: 'exec_command',
		arguments: { cmd: `while ! grep -q cancelled ${log}; do sleep 0.05; done` } }), say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ s: { log, tools: [ECHO], answers: { echo: { hang: true } } } },
		'tool_timeout_sec = 0.3') });
	assert.match(outputOf(model.requests()[1], 'c1'), /timed out awaiting tools\/call after 0\.3s$/);
	const sent = readLines(log).find(({ method }) => method === 'tools/call');
	assert.equal(readLines(log).find(({ method }) => method === 'notifications/cancelled').params.requestId, sent.id);
});

test('a server that dies during a call is started again for the next one', exec, async (t) => {
	const model = await startModel(t, [reply(itemCall('echo', {}, 'a')), reply(itemCall('other', { say: 'back' }, 'b')), say('done')]);
	const log = path.join(tempDir(t, 'log'), 'log');
	const tools = [ECHO, { ...ECHO, name: 'other' }];
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ s: { log, tools, answers: { echo: { exit: 1 } } } }) });
	assert.equal(result.code, 0);
	assert.match(outputOf(model.requests()[1], 'a'), /Transport closed/);
	assert.match(outputOf(model.requests()[2], 'b'), /\{"say":"back"\}/);
	assert.equal(readLines(log).filter(({ started }) => started).length, 2);
});

test('the first request does not wait for a slow server, whose tools come later', exec, async (t) => {
	const tools = [ECHO];
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'while ! [ -e go ]; do sleep 0.05; done' } }),
		say('done')]);
	const cwd = tempDir(t, 'cwd');
	const log = path.join(cwd, 'log');
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { cwd, config: `mcp_optional_startup_grace_ms = 100\n${configOf({ s: { tools, log, delay: 700 } })}`,
		onStart: async () => {
			while (!readLines(log).some(({ method }) => method === 'tools/list')) await new Promise((wake) => setTimeout(wake, 20));
			setTimeout(() => fs.writeFileSync(path.join(cwd, 'go'), ''), 1500);
		} });
	const has = (request) => request.body.tools.some(({ name }) => name === 'mcp__s');
	assert.deepEqual(model.requests().map(has), [false, true]);
});

test('a changed list of tools is followed', exec, async (t) => {
	const model = await startModel(t, [reply(itemCall('echo', {})), reply({ call: 'exec_command', arguments: { cmd: 'sleep 0.5' } }), say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ s: { tools: [ECHO],
		answers: { echo: { tools: [{ ...ECHO, name: 'new_one' }], result: { content: [] } } } } }) });
	const names = (request) => request.body.tools.find(({ name }) => name === 'mcp__s').tools.map(({ name }) => name);
	assert.deepEqual(names(model.requests()[0]), ['echo']);
	assert.deepEqual(names(model.requests().at(-1)), ['new_one']);
});

// --- the app-server -------------------------------------------------------------------------------------------------

test('the start of each server is reported to clients', appServer, async (t) => {
	const { server, thread } = await startThread(t, { tools: [ECHO] }, [say('done')]);
	while (server.all('mcpServer/startupStatus/updated').length < 2) await server.next('mcpServer/startupStatus/updated');
	assert.deepEqual(server.all('mcpServer/startupStatus/updated').map(({ params }) => params), ['starting', 'ready'].map((status) =>
		({ threadId: thread.id, name: 's', status, error: null, failureReason: null })));
	assert.equal((await server.end()).code, 0);
});

test('a call that may change something needs approval, which can be remembered', appServer, async (t) => {
	const { model, server, thread, begin, home } = await startThread(t, { tools: [WRITE] }, ['a', 'b', 'c', 'd'].flatMap((id) =>
		[reply(itemCall('write', { say: id }, id)), say('done')]));
	const ask = async (answer) => {
		const { turn } = await begin('go');
		const request = await server.next('mcpServer/elicitation/request');
		server.answer(request, answer);
		await server.next('turn/completed');
		return { turn, request };
	};
	const { turn, request } = await ask({ action: 'decline', content: null });
	assert.deepEqual(request.params, { threadId: thread.id, turnId: turn.id, serverName: 's', mode: 'form',
		_meta: { codex_approval_kind: 'mcp_tool_call', persist: ['session', 'always'], tool_name: 'write',
			tool_description: 'Says it again.', tool_params: { say: 'a' },
			tool_params_display: [{ name: 'say', value: 'a', display_name: 'say' }] },
		message: 'Allow the s MCP server to run tool "write"?', requestedSchema: { type: 'object', properties: {} } });
	assert.match(outputOf(model.requests()[1], 'a'), /user rejected MCP tool call$/);
	await ask({ action: 'cancel', content: null });
	assert.match(outputOf(model.requests()[3], 'b'), /user cancelled MCP tool call$/);
	await ask({ action: 'accept', content: {}, _meta: { persist: 'always' } });
	assert.match(outputOf(model.requests()[5], 'c'), /\{"say":"c"\}$/);
	await begin('go');
	await server.next('turn/completed');
	assert.match(outputOf(model.requests()[7], 'd'), /\{"say":"d"\}$/);
	assert.equal(server.all('mcpServer/elicitation/request').length, 3);
	assert.equal(server.all('serverRequest/resolved').length, 3);
	assert.deepEqual(mcpItems(server, 'item/completed').map(({ id, status }) => [id, status]),
		[['a', 'failed'], ['b', 'failed'], ['c', 'completed'], ['d', 'completed']]);
	assert.equal((await server.end()).code, 0);
	assert.match(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /\[mcp_servers\.s\.tools\.write\]\s*approval_mode = "approve"/);
});

test('an approval for the session is not asked for again in it, and is not stored', appServer, async (t) => {
	const OTHER = { ...WRITE, name: 'other' };
	const { server, begin, home } = await startThread(t, { tools: [WRITE, OTHER] }, [
		reply(itemCall('write', {}, 'a')), say('one'), reply(itemCall('write', {}, 'b'), itemCall('other', {}, 'c')), say('two')]);
	await begin('go');
	server.answer(await server.next('mcpServer/elicitation/request'), { action: 'accept', content: {}, _meta: { persist: 'session' } });
	await server.next('turn/completed');
	await begin('again');
	const { params } = await server.next('mcpServer/elicitation/request');
	assert.equal(params._meta.tool_name, 'other', 'the approval is for one tool');
	server.answer(server.all('mcpServer/elicitation/request').at(-1), { action: 'decline', content: null });
	await server.next('turn/completed');
	assert.deepEqual(mcpItems(server, 'item/completed').map(({ id, status }) => [id, status]),
		[['a', 'completed'], ['b', 'completed'], ['c', 'failed']]);
	assert.doesNotMatch(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /approval_mode/);
	await server.end();
});

for (const [mode, asked] of [['auto', ['none', 'destroys', 'reaches']], ['writes', ['none', 'destroys', 'safe', 'reaches']],
	['prompt', ['none', 'reads', 'destroys', 'safe', 'reaches']], ['approve', []]])
	test(`annotations decide which calls need approval in mode ${mode}`, appServer, async (t) => {
		const hints = { none: undefined, reads: { readOnlyHint: true, destructiveHint: true, openWorldHint: true },
			destroys: { destructiveHint: true }, safe: { destructiveHint: false, openWorldHint: false },
			reaches: { destructiveHint: false, openWorldHint: true } };
		const tools = Object.entries(hints).map(([name, annotations]) => ({ ...ECHO, name, annotations }));
		const { server, begin } = await startThread(t, { tools }, [reply(...tools.map(({ name }) => itemCall(name, {}, name))), say('done')],
			{ keys: `default_tools_approval_mode = "${mode}"` });
		const seen = [];
		await begin('go');
		for (let i = 0; i < asked.length; i++) {
			const request = await server.next('mcpServer/elicitation/request');
			seen.push(request.params._meta.tool_name);
			server.answer(request, { action: 'accept', content: {} });
		}
		await server.next('turn/completed');
		assert.deepEqual(seen.sort(), [...asked].sort());
		assert.equal(server.all('mcpServer/elicitation/request').length, asked.length);
		assert.ok(mcpItems(server, 'item/completed').every(({ status }) => status === 'completed'));
		await server.end();
	});

test('without approvals a call that needs one is refused in a sandbox', appServer, async (t) => {
	const { model, server, begin } = await startThread(t, { tools: [WRITE] }, [reply(itemCall('write', {})), say('done')],
		{ thread: { approvalPolicy: 'never' } });
	await begin('go');
	await server.next('turn/completed');
	assert.match(outputOf(model.requests()[1], 'c1'), /MCP tool call requires approval, but approval policy is never$/);
	await server.end();
});

test('questions of a server reach the client, and the answers the server', appServer, async (t) => {
	const form = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string', minLength: 1,
		maxLength: 9, format: 'email', default: 'x' } }, required: ['name'] } };
	const url = { mode: 'url', message: 'Open it.', url: 'https://example.org/', elicitationId: 'e1' };
	const { model, server, thread, begin } = await startThread(t, { tools: [ECHO], answers: { echo: [{ ask: form }, { ask: url },
		{ ask: form }] } }, ['a', 'b', 'c'].flatMap((id) => [reply(itemCall('echo', {}, id)), say('done')]),
	{ keys: 'tool_timeout_sec = 1.0' });
	const ask = async (answer, wait = 0) => {
		await begin('go');
		const request = await server.next('mcpServer/elicitation/request');
		await new Promise((wake) => setTimeout(wake, wait));
		server.answer(request, answer);
		await server.next('turn/completed');
		return request.params;
	};
	const asked = await ask({ action: 'accept', content: { name: 'me' } }, 1500); // longer than the call's time limit
	assert.deepEqual([asked.mode, asked._meta, asked.message, asked.requestedSchema, asked.threadId],
		['form', null, 'Name?', form.requestedSchema, thread.id]);
	assert.equal(outputOf(model.requests()[1], 'a').split('Output:')[1], '{"action":"accept","content":{"name":"me"}}');
	const opened = await ask({ action: 'accept', content: null });
	assert.deepEqual([opened.mode, opened.url, opened.elicitationId], ['url', 'https://example.org/', 'e1']);
	await ask({ action: 'decline', content: { name: 'kept' } });
	assert.equal(outputOf(model.requests()[5], 'c').split('Output:')[1], '{"action":"decline"}');
	assert.equal((await server.end()).code, 0);
});

test('an interrupted call is cancelled at the server', appServer, async (t) => {
	const { model, server, thread, begin, log } = await startThread(t, { tools: [ECHO], answers: { echo: { hang: true } } },
		[reply(itemCall('echo', {})), say('done')]);
	const { turn } = await begin('go');
	while (!log().some(({ method }) => method === 'tools/call')) await new Promise((wake) => setTimeout(wake, 20));
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	await server.next('turn/completed');
	while (!log().some(({ method }) => method === 'notifications/cancelled')) await new Promise((wake) => setTimeout(wake, 20));
	const sent = log().find(({ method }) => method === 'tools/call');
	assert.equal(log().find(({ method }) => method === 'notifications/cancelled').params.requestId, sent.id);
	await begin('more');
	await server.next('turn/completed');
	assert.match(outputOf(model.requests()[1], 'c1'), /^aborted by user after/);
	await server.end();
});

test('progress of a call is reported', appServer, async (t) => {
	const { server, thread, begin } = await startThread(t, { tools: [ECHO], answers: { echo: { before: [{ method: 'notifications/progress',
		params: { progressToken: 'TOKEN', progress: 1, message: 'half' } }], result: { content: [] } } } },
	[reply(itemCall('echo', {})), say('done')]);
	const { turn } = await begin('go');
	await server.next('turn/completed');
	assert.deepEqual(server.all('item/mcpToolCall/progress').map(({ params }) => params),
		[{ threadId: thread.id, turnId: turn.id, itemId: 'c1', message: 'half' }]);
	await server.end();
});

test('threads with the same settings share a server', appServer, async (t) => {
	const { server, thread, log } = await startThread(t, { tools: [ECHO] }, [say('done')]);
	for (let i = 0; i < 20; i++) await server.request('thread/start', { ...FREE, cwd: thread.cwd });
	while (server.all('mcpServer/startupStatus/updated').filter(({ params }) => params.status === 'ready').length < 21)
		await server.next('mcpServer/startupStatus/updated');
	assert.equal(log().filter(({ started }) => started).length, 1);
	const callTool = (threadId) => server.request('mcpServer/tool/call', { threadId, server: 's', tool: 'echo', arguments: {} });
	await callTool(thread.id);
	const elsewhere = await server.request('thread/start', { ...FREE, cwd: tempDir(t, 'other') });
	await callTool(elsewhere.thread.id);
	assert.deepEqual(log().filter(({ started }) => started).map(({ cwd }) => cwd), [thread.cwd, elsewhere.thread.cwd]);
	await server.end();
});

test('calls are part of the history that a client reads', appServer, async (t) => {
	const { server, thread, begin, home } = await startThread(t, { tools: [ECHO] }, [reply(itemCall('echo', { say: 'x' })), say('done')]);
	await begin('go');
	await server.next('turn/completed');
	const [live] = mcpItems(server, 'item/completed');
	const { thread: read } = await server.request('thread/read', { threadId: thread.id, includeTurns: true });
	const [stored] = read.turns.flatMap(({ items }) => items).filter(({ type }) => type === 'mcpToolCall');
	for (const key of ['id', 'server', 'tool', 'arguments', 'status', 'result', 'error']) assert.deepEqual(stored[key], live[key], key);
	assert.match(fs.readFileSync(rollouts(home)[0], 'utf8'), /"type":"McpToolCall"/);
	await server.end();
});

// --- ends -----------------------------------------------------------------------------------------------------------

const pidsOf = (lines) => lines.flatMap(({ started, child }) => [started, child]).filter(Boolean);

for (const [name, end] of [['gets the end of its input', (server) => server.end()],
	['is terminated', (server) => server.child.kill('SIGTERM')], ['is killed', (server) => server.child.kill('SIGKILL')]])
	test(`no server and no child of it survives when the engine ${name}`, appServer, async (t) => {
		const { server, log } = await startThread(t, { tools: [ECHO], stubborn: true, escapes: true }, [say('done')]);
		await until(() => server.all('mcpServer/startupStatus/updated').length === 2 && pidsOf(log()).length === 2);
		for (const pid of pidsOf(log())) assert.ok(isAlive(pid));
		end(server);
		await until(() => pidsOf(log()).every((pid) => !isAlive(pid)));
	});

test('a server ends with the last thread that uses it', appServer, async (t) => {
	const { server, thread, log, begin } = await startThread(t, { tools: [ECHO], stubborn: true, escapes: true }, [say('done')]);
	await begin('go');
	await server.next('turn/completed');
	await until(() => pidsOf(log()).length === 2);
	await server.request('thread/archive', { threadId: thread.id });
	await until(() => pidsOf(log()).every((pid) => !isAlive(pid)));
	await server.end();
});

// --- protocol v1 ----------------------------------------------------------------------------------------------------

test('the raw protocol has events for the start, the call, and its approval', needs('proto'), async (t) => {
	const model = await startModel(t, [reply(itemCall('write', { say: 'x' })), say('done')]);
	const home = makeHome(t, model, 'approval_policy = "on-request"');
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { tools: [WRITE] }, gone: { initialize: { exit: 1 } } }));
	const proto = startProto(t, model, { home });
	const { msg: complete } = await proto.next('mcp_startup_complete');
	assert.deepEqual(complete.ready, ['s']);
	assert.deepEqual(complete.failed.map(({ server }) => server), ['gone']);
	proto.submit('1', userInput('go'));
	const { msg: asked } = await proto.next('elicitation_request');
	assert.deepEqual([asked.server_name, asked.id, asked._meta.tool_name], ['s', 'c1', 'write']);
	proto.submit('2', { type: 'request_permissions_response', id: asked.id, response: { permissions: {} } });
	assert.match((await proto.next('warning')).msg.message, /No request for permissions is pending under `c1`/);
	proto.submit('2', { type: 'resolve_elicitation', server_name: 's', request_id: asked.id, decision: 'accept' });
	const { msg: ended } = await proto.next('mcp_tool_call_end');
	assert.deepEqual(ended.invocation, { server: 's', tool: 'write', arguments: { say: 'x' } });
	assert.deepEqual(ended.result, { Ok: { content: [{ type: 'text', text: '{"say":"x"}' }] } });
	await proto.next('task_complete');
	await proto.end();
});

// --- required servers -----------------------------------------------------------------------------------------------

test('a server beyond the first 256 is reported with the reason, and fails a session that requires it', appServer, async (t) => {
	const model = await startModel(t, [say('unused')]);
	const many = Array.from({ length: 256 }, (_, i) => `[mcp_servers.a${i}]\ncommand = "/nonexistent/server"\n`).join('');
	const homeOf = (keys) => makeHome(t, model,
		`${many}[mcp_servers.b]\ncommand = "off"\nenabled = false\n[mcp_servers.zz]\ncommand = "/nonexistent/server"\n${keys}`);
	const server = await startAppServer(t, model, { home: homeOf('') });
	const { thread } = await server.request('thread/start', {});
	let found;
	do found = (await server.next('mcpServer/startupStatus/updated')).params;
	while (found.name !== 'zz' || found.status !== 'failed');
	assert.match(found.error, /MCP server 'zz' is not used: more than 256 are enabled/);
	const pages = [await server.request('mcpServerStatus/list', { threadId: thread.id, limit: 1000, detail: 'toolsAndAuthOnly' })];
	pages.push(await server.request('mcpServerStatus/list', { threadId: thread.id, detail: 'toolsAndAuthOnly', cursor: pages[0].nextCursor }));
	assert.deepEqual(pages.map(({ data, nextCursor }) => [data.length, nextCursor]), [[256, '256'], [1, null]]);
	assert.deepEqual([pages[1].data[0].name, pages[1].data[0].runtimeStatus], ['zz', 'failed']);
	assert.match(pages[1].data[0].toolsError, /more than 256 are enabled/);
	assert.equal((await server.end()).code, 0);
	const strict = await startAppServer(t, model, { home: homeOf('required = true\n') });
	await assert.rejects(strict.request('thread/start', {}), /required MCP servers failed to initialize: zz: .*more than 256 are enabled/);
	assert.equal((await strict.end()).code, 0);
});

test('without a required server there is no session, and nothing is asked of the model', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ s: { initialize: { exit: 3 } } }, 'required = true') });
	assert.equal(result.code, 1);
	assert.match(result.stderr, /required MCP servers failed to initialize: s: MCP client for `s` failed to start/);
	assert.equal(model.requests().length, 0);
	const home = makeHome(t, model);
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { initialize: { exit: 3 } } }, 'required = true'));
	const server = await startAppServer(t, model, { home });
	await assert.rejects(server.request('thread/start', {}), /required MCP servers failed to initialize: s: /);
	await server.end();
});

test('the first request waits for a required server beyond the grace', exec, async (t) => {
	const model = await startModel(t, [say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: `mcp_optional_startup_grace_ms = 0\n${configOf({ s: { tools: [ECHO], delay: 300 } },
		'required = true')}` });
	assert.ok(model.requests()[0].body.tools.some(({ name }) => name === 'mcp__s'));
});

// --- resources ------------------------------------------------------------------------------------------------------

test('resources are listed and read', exec, async (t) => {
	const step = (name, args, id) => ({ call: name, arguments: args, call_id: id });
	const model = await startModel(t, [reply(step('list_mcp_resources', {}, 'all'), step('list_mcp_resources', { server: 's' }, 'one'),
		step('list_mcp_resource_templates', {}, 'templates'), step('read_mcp_resource', { server: 's', uri: 'x://a' }, 'read'),
		step('read_mcp_resource', { server: 's', uri: 'x://none' }, 'missing'), step('read_mcp_resource', { server: 'x', uri: 'y' }, 'unknown'),
		step('list_mcp_resources', { cursor: 'c' }, 'cursor'), step('read_mcp_resource', { server: 's' }, 'incomplete')), say('done')]);
	const capabilities = { tools: {}, resources: {} };
	const config = configOf({ s: { initialize: { capabilities }, resources: [{ uri: 'x://a', name: 'a' }],
		templates: [{ uriTemplate: 'x://{n}', name: 't' }], contents: { 'x://a': [{ uri: 'x://a', mimeType: 'text/plain', text: 'A' }] } },
	without: { tools: [ECHO] } });
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { json: true, config });
	const [first, second] = model.requests();
	const offered = first.body.tools.map(({ name }) => name);
	for (const name of ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource']) assert.ok(offered.includes(name), name);
	const output = (id) => outputOf(second, id);
	assert.equal(output('all'), '{"resources":[{"server":"s","uri":"x://a","name":"a"}]}');
	assert.equal(output('one'), '{"server":"s","resources":[{"uri":"x://a","name":"a"}]}');
	assert.equal(output('templates'), '{"resourceTemplates":[{"server":"s","uriTemplate":"x://{n}","name":"t"}]}');
	assert.equal(output('read'), '{"server":"s","uri":"x://a","contents":[{"uri":"x://a","mimeType":"text/plain","text":"A"}]}');
	assert.equal(output('missing'),
		'resources/read failed: resources/read failed for `s` (x://none): Mcp error: -32002: no x://none');
	assert.equal(output('unknown'), "unknown MCP server 'x'");
	assert.equal(output('cursor'), 'cursor can only be used when a server is specified');
	assert.match(output('incomplete'), /failed to parse function arguments: missing field `uri`/);
	const items = itemsOf(result.events, 'mcp_tool_call').map(({ server, tool, status }) => `${server} ${tool} ${status}`).sort();
	assert.deepEqual(items, ['codex list_mcp_resource_templates completed', 'codex list_mcp_resources completed',
		'codex list_mcp_resources failed', 's list_mcp_resources completed', 's read_mcp_resource completed',
		's read_mcp_resource failed', 'x read_mcp_resource failed']);
});

test('without servers no tool for resources is offered', exec, async (t) => {
	const model = await startModel(t, [say('done')]);
	await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf({ s: { tools: [ECHO] } }, 'enabled = false') });
	assert.deepEqual(model.requests()[0].body.tools.filter(({ name }) => /mcp/.test(name)), []);
});

// --- methods of the app-server --------------------------------------------------------------------------------------

const FULL = { initialize: { capabilities: { tools: {}, resources: {} } }, page: 1, tools: [ECHO, { ...ECHO, name: 'raw-name' }],
	resources: [{ uri: 'x://a', name: 'a' }], templates: [{ uriTemplate: 'x://{n}', name: 't' }],
	contents: { 'x://a': [{ uri: 'x://a', text: 'A' }] }, answers: { 'raw-name': { error: { code: -32602, message: 'Unknown tool raw-name' } } } };

test('clients list the servers with what they offer', appServer, async (t) => {
	const { server, thread, log } = await startThread(t, FULL, [say('done')]);
	const { data, nextCursor } = await server.request('mcpServerStatus/list', { threadId: thread.id });
	assert.equal(nextCursor, null);
	assert.deepEqual(data.map(({ name, runtimeStatus }) => [name, runtimeStatus]), [['s', 'connected']]);
	const [s] = data;
	assert.deepEqual(Object.keys(s.tools).sort(), ['echo', 'raw-name']);
	assert.deepEqual(s.tools.echo.inputSchema, ECHO.inputSchema);
	assert.deepEqual([s.resources.map(({ uri }) => uri), s.resourceTemplates.map(({ uriTemplate }) => uriTemplate)], [['x://a'], ['x://{n}']]);
	assert.deepEqual([s.serverInfo.name, s.serverInfo.version, s.authStatus], ['scripted', '1', 'unsupported']);
	const short = await server.request('mcpServerStatus/list', { threadId: thread.id, detail: 'toolsAndAuthOnly' });
	assert.deepEqual(short.data[0].resources, []);
	assert.equal(log().filter(({ started }) => started).length, 1);
	await assert.rejects(server.request('mcpServerStatus/list', { cursor: 'zz' }), { code: -32600, message: 'invalid cursor: zz' });
	assert.equal((await server.end()).code, 0);
});

test('clients call tools and read resources without the model', appServer, async (t) => {
	const { server, thread } = await startThread(t, FULL, [say('done')]);
	const callTool = (tool, more) => server.request('mcpServer/tool/call', { threadId: thread.id, server: 's', tool, ...more });
	assert.deepEqual(await callTool('echo', { arguments: { say: 'x' } }), { content: [{ type: 'text', text: '{"say":"x"}' }] });
	await assert.rejects(callTool('raw-name'), { code: -32602, message: 'Unknown tool raw-name' });
	await assert.rejects(callTool('echo', { server: 'x' }), { code: -32603, message: "unknown MCP server 'x'" });
	const read = (uri) => server.request('mcpServer/resource/read', { threadId: thread.id, server: 's', uri });
	assert.deepEqual((await read('x://a')).contents, [{ uri: 'x://a', text: 'A' }]);
	await assert.rejects(read('x://none'), { code: -32002, message: 'no x://none' });
	assert.equal((await server.end()).code, 0);
});

test('a call of a client is two reads, two writes, and the work of no other thread', appServer, async (t) => {
	const { server, thread } = await startThread(t, { tools: [ECHO] }, [say('done')]);
	const callTool = () => server.request('mcpServer/tool/call', { threadId: thread.id, server: 's', tool: 'echo', arguments: {} });
	const proc = `/proc/${server.child.pid}`, count = 100;
	const number = (file, name) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(fs.readFileSync(file, 'utf8'))[1]);
	const measure = () => ({ reads: number(`${proc}/io`, 'syscr'), writes: number(`${proc}/io`, 'syscw'),
		wakes: fs.readdirSync(`${proc}/task`).filter((task) => task !== String(server.child.pid))
			.reduce((sum, task) => sum + number(`${proc}/task/${task}/status`, 'voluntary_ctxt_switches'), 0) });
	await callTool();
	const before = measure();
	for (let i = 0; i < count; i++) await callTool();
	const after = measure();
	assert.ok(after.reads - before.reads <= 2 * count + 10, `${after.reads - before.reads} reads, so that files are read`);
	assert.ok(after.writes - before.writes <= 2 * count + 10, `${after.writes - before.writes} writes`);
	assert.ok(after.wakes - before.wakes < count / 2, `${after.wakes - before.wakes} wake-ups of other threads`);
	assert.equal((await server.end()).code, 0);
});

test('questions during a call of a client reach that client, and omitted fields get their defaults', appServer, async (t) => {
	const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' },
		age: { type: 'integer', default: 30 }, is_new: { type: 'boolean', default: false } } } };
	const url = { mode: 'url', message: 'Sign.', url: 'https://sign.example/', elicitationId: 'e1' };
	const { server, thread } = await startThread(t, { tools: [ECHO], answers: { echo: [{ ask: form }, { ask: form }, { ask: url }] } }, [say('done')]);
	const callTool = async (answer) => {
		const called = server.request('mcpServer/tool/call', { threadId: thread.id, server: 's', tool: 'echo' });
		const request = await server.next('mcpServer/elicitation/request');
		server.answer(request, answer);
		return { asked: request.params, got: JSON.parse((await called).content[0].text) };
	};
	const { asked, got } = await callTool({ action: 'accept', content: { name: 'A', is_new: true } });
	assert.deepEqual(asked, { threadId: thread.id, turnId: null, serverName: 's', mode: 'form', _meta: null, ...form });
	assert.deepEqual(got, { action: 'accept', content: { name: 'A', is_new: true, age: 30 } });
	assert.deepEqual((await callTool({ action: 'decline' })).got, { action: 'decline' });
	const signed = await callTool({ action: 'accept', content: null });
	assert.deepEqual([signed.asked.url, signed.asked.elicitationId, signed.got], [url.url, 'e1', { action: 'accept' }]);
	assert.equal((await server.end()).code, 0);
});

test('list_mcp_tools is answered with what all servers offer', needs('proto'), async (t) => {
	const home = makeHome(t, await startModel(t, [say('done')]));
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: FULL, gone: { initialize: { exit: 1 } } }));
	const proto = startProto(t, null, { home });
	proto.submit('7', { type: 'list_mcp_tools' });
	const { id, msg } = await proto.next('mcp_list_tools_response');
	assert.equal(id, '7');
	assert.deepEqual(Object.keys(msg.tools), ['mcp__s__echo', 'mcp__s__raw_name']);
	assert.deepEqual(msg.tools.mcp__s__echo, ECHO);
	assert.deepEqual(msg.resources, { s: FULL.resources });
	assert.deepEqual(msg.resource_templates, { s: FULL.templates });
	assert.deepEqual(msg.auth_statuses, { gone: 'unsupported', s: 'unsupported' });
	assert.equal((await proto.end()).code, 0);
});

// --- many ends ------------------------------------------------------------------------------------------------------

// CODEX_MCP_KILLS=1000 repeats it as often.
test('servers are gone after interrupts and kills of the engine at any moment', appServer, async (t) => {
	const rounds = Number(process.env.CODEX_MCP_KILLS ?? 8);
	const script = { tools: [ECHO], stubborn: true, escapes: true, answers: { echo: { hang: true } } };
	const model = await startModel(t, [{ ...reply(itemCall('echo', {})), times: 'forever' }], { lifetime: rounds * 5000 + 60000 });
	for (let round = 0; round < rounds; round++) {
		const log = path.join(tempDir(t, 'log'), 'log');
		const home = makeHome(t, model);
		fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { log, ...script }, other: { log, ...script } }));
		const server = await startAppServer(t, model, { home });
		const { thread } = await server.request('thread/start', FREE);
		const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await new Promise((wake) => setTimeout(wake, (round % 8) * 60));
		if (round % 2) await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
		server.child.kill(round % 4 < 2 ? 'SIGKILL' : 'SIGTERM');
		await server.done;
		await until(() => pidsOf(readLines(log)).every((pid) => !isAlive(pid)));
	}
});

// --- sizes ----------------------------------------------------------------------------------------------------------

test('a result of 8 MB is cut for the model; one of 50 MB fails its call, and the next call works', exec, async (t) => {
	const model = await startModel(t, [reply(itemCall('echo', {}, 'a')), reply(itemCall('echo', {}, 'b')), reply(itemCall('echo', {}, 'c')), say('done')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { json: true, config: configOf({ s: { tools: [ECHO],
		answers: { echo: [{ fill: 8000000 }, { fill: 50000000 }, { content: [{ type: 'text', text: 'small' }] }] } } }) });
	assert.equal(result.code, 0, result.stderr);
	const requests = model.requests();
	const first = outputOf(requests[1], 'a');
	assert.ok(first.length < 60000, `${first.length}`);
	assert.match(first, /truncated/);
	assert.match(outputOf(requests[2], 'b'), /the server has sent a message of more than 16 MiB$/);
	assert.match(outputOf(requests[3], 'c'), /small$/);
	assert.equal(itemsOf(result.events, 'mcp_tool_call')[0].result.content[0].text.length, 8000000);
});

test('a list that changes without end is asked for with pauses', exec, async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'sleep 1.5' } }), say('done')]);
	const log = path.join(tempDir(t, 'log'), 'log');
	const result = await codexExec(t, model, ['go'], { config: configOf({ s: { log, tools: [ECHO], restless: true } }) });
	assert.equal(result.code, 0, result.stderr);
	const lists = readLines(log).filter(({ method }) => method === 'tools/list').length;
	assert.ok(lists >= 2 && lists < 20, `${lists} lists`);
});

test('10,000 tools are offered, and 70,000 up to the limit, with a warning', exec, async (t) => {
	for (const [many, offered] of [[10000, 10000], [70000, undefined]]) {
		const model = await startModel(t, [reply(itemCall('tool9999', { say: 'x' })), say('done')]);
		const config = `mcp_optional_startup_grace_ms = 30000\nmodel_context_window = 10000000\n${configOf({ s: { many, page: 1000 } })}`;
		const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config });
		assert.equal(result.code, 0, result.stderr);
		const { tools } = model.requests()[0].body.tools.find(({ name }) => name === 'mcp__s');
		if (offered) assert.equal(tools.length, offered);
		const notes = result.stderr.match(/MCP server `s` lists 70000 tools\. A server may have 65536; the further ones/g);
		assert.equal(notes?.length, offered ? undefined : 1, result.stderr);
		assert.match(outputOf(model.requests()[1], 'c1'), /\{"say":"x"\}$/);
	}
});

test('a flood of notifications does not keep a call from its result', exec, async (t) => {
	const { result, requests } = await callOnce(t, { tools: [ECHO], answers: { echo: { flood: 50000, result: { content: [] } } } },
		itemCall('echo', {}));
	assert.equal(result.code, 0, result.stderr);
	assert.match(outputOf(requests[1], 'c1'), /Output:$/);
});
