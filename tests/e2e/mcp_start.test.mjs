// Servers that have not started when the first request to the model is made. Each is gated by a file of the test.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, makeHome, needs, outputOf, reply, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { configOf, ECHO, itemCall } from './lib/mcp.mjs';
import { startProto } from './lib/proto.mjs';

const exec = needs('exec');
const appServer = needs('app-server');
const list = (args, id = 'wait') => ({ call: 'list_mcp_resources', arguments: args, call_id: id });
const search = (query) => ({ item: { type: 'tool_search_call', call_id: 'find', execution: 'client', status: 'completed',
	arguments: { query } } });
const toolsOf = (request) => request.body.tools.filter(({ name }) => name?.startsWith('mcp__')).map(({ name }) => name);
const noteOf = (request) => request.body.tools.find(({ name }) => name === 'list_mcp_resources').description;
const STARTING = /still starting, whose tools are not known yet: s\. This call waits for them/;

/** A home with the default settings and a server `s` that answers initialize once open() was called. */
async function place(t, replies, { script = {}, keys = '', more = '', top = '', name = 'gpt-5.2' } = {}) {
	const model = await startModel(t, replies);
	const gate = path.join(tempDir(t, 'gate'), 'open');
	const home = makeHome(t, model, `model = "${name}"\n${top}`);
	fs.appendFileSync(path.join(home, 'config.toml'), `${configOf({ s: { gate, tools: [ECHO], ...script } }, keys)}${more}`);
	const open = () => fs.writeFileSync(gate, '');
	const asked = async (count) => {
		while (model.requests().length < count) await new Promise((wake) => setTimeout(wake, 10));
	};
	const run = (onStart) => runCodex(t, ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'go'], { home, onStart });
	return { model, home, open, asked, run };
}

test('the first request does not wait for a server, and the next one has its tools', exec, async (t) => {
	const { model, open, asked, run } = await place(t, [reply(list({ server: 's' })), reply(itemCall('echo', { say: 'hi' })), say('done')]);
	const { code, stderr } = await run(async () => {
		await asked(1); // the server cannot have answered
		open();
	});
	assert.equal(code, 0, stderr);
	const requests = model.requests();
	assert.deepEqual(requests.map(toolsOf), [[], ['mcp__s'], ['mcp__s']]);
	assert.match(noteOf(requests[0]), STARTING);
	assert.doesNotMatch(noteOf(requests[1]), /starting/);
	assert.match(outputOf(requests[2], 'c1'), /\{"say":"hi"\}$/);
});

test('a turn ends without a server that never answers', exec, async (t) => {
	const { model, run } = await place(t, [say('done')], { keys: 'startup_timeout_sec = 600' });
	const { code, stdout } = await run();
	assert.deepEqual([code, stdout], [0, 'done\n']);
	assert.deepEqual(toolsOf(model.requests()[0]), []);
});

test('a search waits for servers that are starting and finds their tools', exec, async (t) => {
	const { model, open, asked, run } = await place(t, [reply(search('say it again')), reply(itemCall('echo', { say: 'hi' })), say('done')],
		{ name: 'gpt-5.5' });
	await run(async () => {
		await asked(1);
		open();
	});
	const [first, second, third] = model.requests();
	const spec = first.body.tools.find(({ type }) => type === 'tool_search');
	assert.match(spec.description, /Servers that are still starting; a search waits for them: s$/);
	const { tools } = second.body.input.find(({ type }) => type === 'tool_search_output');
	assert.deepEqual(tools.map(({ name, tools: found }) => [name, found.map((tool) => tool.name)]), [['mcp__s', ['echo']]]);
	assert.match(second.body.tools.find(({ type }) => type === 'tool_search').description, /\n- s$/);
	assert.match(outputOf(third, 'c1'), /\{"say":"hi"\}$/);
});

test('a call of a tool whose server is starting waits, and is to be repeated', exec, async (t) => {
	const { model, open, asked, run } = await place(t,
		[reply(itemCall('echo', { say: 'early' })), reply(itemCall('echo', { say: 'again' }, 'c2')), say('done')]);
	await run(async () => {
		await asked(1);
		open();
	});
	assert.match(outputOf(model.requests()[1], 'c1'), /still starting when it was made; call the tool again/);
	assert.match(outputOf(model.requests()[2], 'c2'), /\{"say":"again"\}$/);
});

test('a wait ends when the server fails to start', exec, async (t) => {
	const { model, run } = await place(t, [reply(list({}, 'all'), list({ server: 's' }, 'one')), say('done')],
		{ keys: 'startup_timeout_sec = 0.5' });
	const { code, stderr } = await run();
	assert.equal(code, 0);
	const [, second] = model.requests();
	assert.equal(outputOf(second, 'all'), '{"resources":[]}');
	assert.equal(outputOf(second, 'one'), "unknown MCP server 's'");
	assert.doesNotMatch(noteOf(second), /starting/);
	assert.match(stderr, /timed out after 0\.5 seconds/);
});

test('a call for one server does not wait for another', exec, async (t) => {
	const ready = configOf({ quick: { initialize: { capabilities: { tools: {}, resources: {} } }, resources: [{ uri: 'x://a', name: 'a' }] } });
	const { model, asked, run } = await place(t, [reply(list({ server: 'quick' })), say('done')],
		{ keys: 'startup_timeout_sec = 600', more: ready });
	const { code } = await run(() => asked(2)); // the gate stays shut
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'wait'), /x:\/\/a/);
});

test('a required server is waited for, and one with a grace is', exec, async (t) => {
	for (const [keys, top] of [['required = true', ''], ['', 'mcp_optional_startup_grace_ms = 600000\n']]) {
		const { model, open, run } = await place(t, [say('done')], { keys, top });
		await run(async () => open());
		assert.deepEqual(toolsOf(model.requests()[0]), ['mcp__s']);
	}
});

test('a session that ends during a start reports it as cancelled', needs('proto'), async (t) => {
	const { model, home } = await place(t, [say('unused')], { keys: 'startup_timeout_sec = 600' });
	const proto = startProto(t, model, { home });
	const states = [];
	for (let msg; (msg = (await proto.next('mcp_startup_update')).msg);) {
		states.push([msg.server, msg.status.state]);
		if (states.length === 1) proto.submit('2', { type: 'shutdown' });
		else break;
	}
	assert.deepEqual(states, [['s', 'starting'], ['s', 'cancelled']]);
	const { msg } = await proto.next('mcp_startup_complete');
	assert.deepEqual([msg.ready, msg.failed, msg.cancelled], [[], [], ['s']]);
	await proto.next('shutdown_complete');
});

test('a server of another environment, or with another login, is not started and says why', exec, async (t) => {
	for (const [config, reason] of [[configOf({ s: { tools: [ECHO] } }, 'environment_id = "far"'),
		'belongs to the environment `far`; this version has only `local`'],
	['[mcp_servers.s]\nurl = "http://127.0.0.1:9/"\nauth = "ema_auth"\n',
		'needs `auth = "ema_auth"`, which this version does not have']]) {
		const model = await startModel(t, [say('done')]);
		const { code, stderr } = await codexExec(t, model, ['go'], { config });
		assert.equal(code, 0, stderr);
		assert.ok(stderr.includes(`MCP server 's' ${reason}`), stderr);
		assert.deepEqual(toolsOf(model.requests()[0]), []);
	}
});

test('a value that a key does not have, and auth of a program, are refused', exec, async (t) => {
	for (const [keys, reason] of [['startup_readiness = "soon"', /startup_readiness/], ['auth = "oauth"', /auth is not supported for stdio/],
		['tool_input_schema_max_bytes = 0', /tool_input_schema_max_bytes/]]) {
		const { open, run } = await place(t, [say('unused')], { keys });
		open();
		const { code, stderr } = await run();
		assert.notEqual(code, 0);
		assert.match(stderr, reason);
	}
});

test('an interrupt ends a wait', appServer, async (t) => {
	const { model, home, asked } = await place(t, [reply(list({}), itemCall('echo', {})), say('next')], { keys: 'startup_timeout_sec = 600' });
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', {});
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await asked(1);
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	const { params } = await server.next('turn/completed');
	assert.equal(params.turn.status, 'interrupted');
	await server.request('turn/start', { threadId: thread.id, input: [text('again')] });
	await asked(2);
	await server.end();
});

for (const [name, item, output] of [['a call of a tool', itemCall('echo', { say: 'hi' }, 'wait'), /\{"say":"hi"\}$/],
	['a list of resources', list({ server: 's' }), /^\{"server":"s","resources":\[\]\}$/]])
	test(`${name} whose server became ready since the request is made`, appServer, async (t) => {
		const { model, home, open, asked } = await place(t, [reply({ start: true }, { gate: 'ready' }, item), say('done')]);
		const server = await startAppServer(t, model, { home });
		const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access' });
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await asked(1);
		open();
		await server.take(({ method, params }) => method === 'mcpServer/startupStatus/updated' && params.status === 'ready', 'ready');
		await model.openGate('ready');
		await server.next('turn/completed');
		const [first, second] = model.requests();
		assert.deepEqual([toolsOf(first), toolsOf(second)], [[], ['mcp__s']]);
		assert.match(outputOf(second, 'wait'), output);
		await server.end();
	});

test('a call has the name of the request, even if another call has found a new server that changes it', appServer, async (t) => {
	const model = await startModel(t, [reply({ start: true }, { gate: 'ready' }, itemCall('echo', {}, 'unknown', 'nothing'),
		itemCall('echo', { say: 'hi' }, 'known', 'a_b')), say('done')]);
	const gate = path.join(tempDir(t, 'gate'), 'open');
	const home = makeHome(t, model, 'model = "gpt-5.2"\n');
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ 'a.b': { tools: [ECHO] }, 'a-b': { gate, tools: [ECHO] } }));
	const server = await startAppServer(t, model, { home });
	const ready = (name) => server.take(({ method, params }) => method === 'mcpServer/startupStatus/updated' &&
		params.status === 'ready' && params.name === name, name);
	const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access' });
	await ready('a.b');
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	while (!model.requests().length) await new Promise((wake) => setTimeout(wake, 10));
	fs.writeFileSync(gate, '');
	await ready('a-b');
	await model.openGate('ready');
	await server.next('turn/completed');
	const [first, second] = model.requests();
	assert.deepEqual(toolsOf(first), ['mcp__a_b']);
	for (const name of toolsOf(second)) assert.match(name, /^mcp__a_b_[0-9a-f]{12}$/);
	assert.equal(toolsOf(second).length, 2);
	assert.match(outputOf(second, 'known'), /\{"say":"hi"\}$/);
	await server.end();
});
