// The MCP servers of loaded sessions follow config.toml when a client asks for it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { configOf, ECHO, itemCall, SERVER, startThread } from './lib/mcp.mjs';
import { isAlive, until } from './lib/nest.mjs';
import { makeHome, needs, outputOf, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const appServer = needs('app-server');
const namespaces = ({ body }) => body.tools.filter(({ type }) => type === 'namespace').map(({ name }) => name)
	.filter((name) => name.startsWith('mcp__'));

/** Adds servers to config.toml, or removes all and adds these. */
function configure(home, servers, { replace = false } = {}) {
	const file = path.join(home, 'config.toml');
	const old = fs.readFileSync(file, 'utf8');
	const base = replace ? old.slice(0, old.indexOf('[mcp_servers')) : old;
	fs.writeFileSync(file, base + configOf(servers));
}

test('config/mcpServer/reload adds and removes servers, and keeps those that are unchanged', appServer, async (t) => {
	const { model, server, thread, begin, home, log } = await startThread(t, { tools: [ECHO] }, [say('one'), say('two'), say('three')]);
	const turn = async () => { await begin('go'); await server.next('turn/completed'); };
	const isReady = (name) => server.take(({ method, params }) =>
		method === 'mcpServer/startupStatus/updated' && params.name === name && params.status === 'ready', name);
	await isReady('s');
	await turn();
	const more = path.join(tempDir(t, 'log'), 'log');
	configure(home, { more: { log: more, tools: [ECHO] } });
	assert.deepEqual(await server.request('config/mcpServer/reload'), {});
	await isReady('more');
	await turn();
	assert.equal(log().filter(({ started }) => started).length, 1, 'an unchanged server was started again');
	const { pid } = { pid: log()[0].started };
	configure(home, { more: { log: more, tools: [ECHO] } }, { replace: true });
	await server.request('config/mcpServer/reload');
	await turn();
	assert.deepEqual(model.requests().map(namespaces), [['mcp__s'], ['mcp__more', 'mcp__s'], ['mcp__more']]);
	await until(() => !isAlive(pid));
	const { data } = await server.request('mcpServerStatus/list', { threadId: thread.id });
	assert.deepEqual(data.map(({ name }) => name), ['more']);
	assert.equal((await server.end()).code, 0);
});

test('a call in progress ends on the old server, and the next turn has the new one', appServer, async (t) => {
	const slow = { tools: [ECHO], answers: { echo: { delay: 500, content: [{ type: 'text', text: 'old' }] } } };
	const { model, server, begin, home } = await startThread(t, slow,
		[reply(itemCall('echo', {}, 'a')), say('one'), reply(itemCall('echo', {}, 'b')), say('two')]);
	await begin('go');
	await server.take(({ method, params }) => method === 'item/started' && params.item.type === 'mcpToolCall', 'the call');
	configure(home, { s: { tools: [ECHO], answers: { echo: { content: [{ type: 'text', text: 'new' }] } } } }, { replace: true });
	await server.request('config/mcpServer/reload');
	await server.next('turn/completed');
	assert.match(JSON.stringify(outputOf(model.requests()[1], 'a')), /old/);
	await begin('again');
	await server.next('turn/completed');
	assert.match(JSON.stringify(outputOf(model.requests()[3], 'b')), /new/);
	await server.end();
});

test('the servers of a thread\'s own options stay, and a broken file changes nothing', appServer, async (t) => {
	const own = { command: process.execPath, args: [SERVER, JSON.stringify({ tools: [ECHO] })] };
	const { model, server, begin, home } = await startThread(t, { tools: [ECHO] }, [say('one'), say('two')],
		{ thread: { config: { 'mcp_servers.own': own } } });
	configure(home, {}, { replace: true });
	await server.request('config/mcpServer/reload');
	await begin('go');
	await server.next('turn/completed');
	fs.appendFileSync(path.join(home, 'config.toml'), '[mcp_servers.bad]\ncommand = "a"\nurl = "http://b"\n');
	await assert.rejects(server.request('config/mcpServer/reload'), /failed to reload config: .*bad/);
	await begin('go');
	await server.next('turn/completed');
	assert.deepEqual(model.requests().map(namespaces), [['mcp__own'], ['mcp__own']]);
	await server.end();
});

test('refresh_mcp_servers of the raw protocol replaces the servers, and refuses wrong ones', needs('proto'), async (t) => {
	const model = await startModel(t, [say('one')]);
	const home = makeHome(t, model, 'model = "gpt-5.2"');
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { tools: [ECHO] } }));
	const proto = startProto(t, model, { home });
	await proto.next('mcp_startup_complete');
	const refresh = (id, servers) => proto.submit(id, { type: 'refresh_mcp_servers',
		config: { mcp_servers: servers, mcp_oauth_credentials_store_mode: 'auto' } });
	for (const [id, servers, reason] of [
		['1', { x: { command: 'a', url: 'http://b' } }, /x/],
		['2', { x: { command: 7 } }, /x\.command/],
		['3', [], /table|object/],
	]) {
		refresh(id, servers);
		const event = await proto.next('error');
		assert.equal(event.id, id);
		assert.match(event.msg.message, reason);
	}
	refresh('4', { other: { command: process.execPath, args: [SERVER, JSON.stringify({ tools: [ECHO] })] } });
	assert.deepEqual((await proto.next('mcp_startup_complete')).msg.ready, ['other']);
	proto.submit('5', userInput('go'));
	await proto.next('task_complete');
	assert.deepEqual(model.requests().map(namespaces), [['mcp__other']]);
	await proto.end();
});
