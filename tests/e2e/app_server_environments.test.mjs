// environment/add, environment/status and environment/info of `codex app-server`: machines with an exec-server, registered by clients.

import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { needs } from './lib/codex.mjs';
import { startExecServer } from './lib/exec_server.mjs';

const options = needs('app-server');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });
const add = (server, more) => server.request('environment/add', { environmentId: 'r', execServerUrl: 'ws://127.0.0.1:1', ...more });
const status = (server, environmentId = 'r') => server.request('environment/status', { environmentId });
const info = (server, environmentId = 'r') => server.request('environment/info', { environmentId });

test('a registered environment is asked for its status and its shell', options, async (t) => {
	const remote = await startExecServer(t);
	const server = await startAppServer(t, null);
	assert.deepEqual(await add(server, { execServerUrl: remote.url, authBearerToken: 'secret', websocketRequestId: 'one' }), {});
	assert.deepEqual(await status(server), { status: 'ready' });
	assert.deepEqual(await info(server), { shell: { name: 'bash', path: '/bin/bash' }, cwd: 'file:///remote' });
	const { link, params } = await remote.called('initialize');
	assert.equal(link.headers.authorization, 'Bearer secret');
	assert.equal(link.headers['x-request-id'], 'one');
	assert.deepEqual(params, { clientName: 'codex', resumeSessionId: null });
	await remote.until(() => remote.links.size === 0); // no link stays open
});

test('local always exists and cannot be replaced', options, async (t) => {
	const server = await startAppServer(t, null);
	assert.deepEqual(await status(server, 'local'), { status: 'ready' });
	assert.match((await info(server, 'local')).cwd, /^file:\/\/\//);
	await assert.rejects(add(server, { environmentId: 'local' }), refusal('exec-server protocol error: environment id `local` is reserved'));
});

test('an unknown environment is unknown', options, async (t) => {
	const server = await startAppServer(t, null);
	assert.deepEqual(await status(server, 'x'), { status: 'unknown', error: 'unknown environment id `x`' });
	await assert.rejects(info(server, 'x'), refusal('unknown environment id `x`'));
});

test('texts that no connection can use are refused', options, async (t) => {
	const server = await startAppServer(t, null);
	const fails = (params, words) => assert.rejects(add(server, params), refusal(words));
	const bad = 'exec-server protocol error: execServerUrl is not ws:// or wss:// with a host';
	for (const execServerUrl of ['', 'none', 'nonsense', 'http://127.0.0.1:1', 'ws://', 'ws:///x', 'ws://a b', 'ws://a\0b'])
		await fails({ execServerUrl }, bad);
	await fails({ environmentId: '' }, 'exec-server protocol error: environment id cannot be empty');
	await fails({ authBearerToken: 'a\r\nX: y' }, 'exec-server protocol error: authBearerToken contains a control character');
	await fails({ websocketRequestId: '\n' }, 'exec-server protocol error: websocketRequestId contains a control character');
	for (const host of ['a.example', '10.0.0.1', '127.0.0.1.example'])
		await fails({ authBearerToken: 'x', execServerUrl: `ws://${host}` },
			'exec-server protocol error: authBearerToken needs wss://, or a loopback address');
	await add(server, { environmentId: 'safe', authBearerToken: 'x', execServerUrl: 'wss://a.example' });
	await fails({ environmentId: 'x'.repeat(8193) }, 'exec-server protocol error: a text of an environment has more than 8192 bytes');
	await fails({ connectTimeoutMs: -1 }, 'connectTimeoutMs must be from 0 to 300000');
	await fails({ connectTimeoutMs: 300001 }, 'connectTimeoutMs must be from 0 to 300000');
	await fails({ skills: { required: ['a'] } }, 'skills of an environment are not supported; omit `skills.required`');
	assert.deepEqual(await status(server), { status: 'unknown', error: 'unknown environment id `r`' });
});

test('there are at most 64 environments; one can be replaced', options, async (t) => {
	const server = await startAppServer(t, null);
	for (let i = 0; i < 64; i++) await add(server, { environmentId: `e${i}` });
	await assert.rejects(add(server), refusal('exec-server protocol error: there are 64 environments already'));
	const remote = await startExecServer(t);
	assert.equal((await status(server, 'e5')).status, 'disconnected');
	await add(server, { environmentId: 'e5', execServerUrl: remote.url });
	assert.deepEqual(await status(server, 'e5'), { status: 'ready' });
});

test('a server that cannot be reached is disconnected, and the words show neither password nor query', options, async (t) => {
	const server = await startAppServer(t, null);
	await add(server, { execServerUrl: 'ws://user:password@127.0.0.1:1/path?key=secret' });
	const { error, ...rest } = await status(server);
	assert.deepEqual(rest, { status: 'disconnected' });
	assert.match(error, /^exec-server connection attempt failed: failed to connect to exec-server websocket `ws:\/\/127\.0\.0\.1:1\/path`: /);
	await assert.rejects(info(server), (refused) => {
		assert.equal(refused.code, -32603);
		assert.match(refused.message, /^failed to get info for environment `r`: exec-server connection attempt failed: /);
		assert.doesNotMatch(refused.message, /password|secret/);
		return true;
	});
});

test('a server that never completes the handshake is given up after connectTimeoutMs', options, async (t) => {
	const silent = net.createServer(() => {});
	await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
	t.after(() => silent.close());
	const server = await startAppServer(t, null);
	await add(server, { execServerUrl: `ws://127.0.0.1:${silent.address().port}`, connectTimeoutMs: 50 });
	assert.match((await status(server)).error, /no WebSocket was opened within 0\.05 s$/);
	assert.equal((await server.end()).code, 0);
});

test('nonsense of a server becomes an error', options, async (t) => {
	const server = await startAppServer(t, null);
	const asked = async (own) => {
		await add(server, { execServerUrl: (await startExecServer(t, own)).url });
		return status(server);
	};
	assert.match((await asked({ initialize: (params, link) => link.raw('{"id":') && undefined })).error, /the server sent invalid JSON: /);
	assert.match((await asked({ initialize: (params, link) => link.drop() })).error, /the server closed the connection/);
	assert.match((await asked({ initialize: () => { throw new Error('not you'); } })).error, /: not you$/);
	assert.deepEqual(await asked({ 'environment/status': () => ({ status: 'happy' }) }),
		{ status: 'disconnected', error: 'the server reported an unknown status' });
	assert.deepEqual(await asked({ 'environment/status': () => 7 }),
		{ status: 'disconnected', error: 'the server reported an unknown status' });
	assert.deepEqual(await asked({ 'environment/status': () => ({ status: 'ready', error: 'x'.repeat(8193) }) }), { status: 'ready' });
	assert.match((await asked({ initialize: () => ({ long: 'x'.repeat(262144) }) })).error, /the server sent a message of more than 256 KiB$/);
	const flood = (method, count) => (params, link) => {
		for (let i = 0; i < count; i++) link.notify(method, {});
		return { status: 'ready' };
	};
	assert.deepEqual(await asked({ 'environment/status': flood('x', 1000) }), { status: 'ready' });
	assert.match((await asked({ 'environment/status': flood('x', 1001) })).error, /more than 1000 messages, or 16 MiB, that nothing waits for$/);
	const elsewhere = { 'environment/info': () => ({ shell: { name: 'sh', path: '/bin/sh' }, cwd: 'https://x/' }) };
	await add(server, { execServerUrl: (await startExecServer(t, elsewhere)).url });
	assert.equal((await info(server)).cwd, null);
	assert.deepEqual(await asked({ 'environment/status': (params, link) => { // answers to nothing, notifications, requests
		for (const extra of ['{"id":999,"result":{}}', '{"id":"x","error":{}}', '[]', '7', '{}', '{"method":"process/output","params":[]}',
			'{"id":1,"method":"initialize"}']) link.raw(extra);
		return { status: 'ready' };
	} }), { status: 'ready' });
	await add(server, { execServerUrl: (await startExecServer(t, { 'environment/info': () => ({ shell: { path: 7 } }) })).url });
	await assert.rejects(info(server), refusal('failed to get info for environment `r`: the server named no shell', -32603));
});

test('a client that leaves ends its question', options, async (t) => {
	const remote = await startExecServer(t, { 'environment/status': () => undefined });
	const server = await startAppServer(t, null);
	await add(server, { execServerUrl: remote.url });
	status(server).catch(() => {});
	await remote.called('environment/status');
	assert.equal((await server.end()).code, 0);
	await remote.until(() => remote.links.size === 0);
});

test('a thread selects known environments', options, async (t) => {
	const server = await startAppServer(t, null);
	const start = (environments) => server.request('thread/start', { environments });
	const local = { environmentId: 'local', cwd: server.cwd };
	await assert.rejects(start([{ environmentId: 'zzz', cwd: '/x' }]), refusal('unknown turn environment id `zzz`'));
	await assert.rejects(start([{ ...local, cwd: 'x' }]), refusal('invalid cwd for environment `local`: `x` is not an absolute path'));
	for (const wrong of [[], Array(9).fill(local), {}, 'local'])
		await assert.rejects(start(wrong), /`environments` must select from 1 to 8 environments/);
	await assert.rejects(start([local, local]), refusal('duplicate turn environment id `local`'));
	for (const wrong of [7, {}, { environmentId: 'local' }, { environmentId: 7, cwd: '/' }])
		await assert.rejects(start([wrong]), refusal('an environment needs `environmentId` and `cwd`, both strings'));
	await assert.rejects(start([{ ...local, runtimeWorkspaceRoots: [server.cwd, '/x'] }]), /must be its cwd alone/);
	const { thread } = await start([{ ...local, runtimeWorkspaceRoots: [server.cwd] }]);
	assert.deepEqual(thread.environments, [{ environmentId: 'local', cwd: server.cwd, runtimeWorkspaceRoots: [server.cwd] }]);
	const update = (environments) => server.request('thread/settings/update', { threadId: thread.id, environments });
	await assert.rejects(update([{ environmentId: 'zzz', cwd: '/x' }]), /unknown turn environment id `zzz`/);
	await assert.rejects(server.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi' }],
		environments: [{ environmentId: 'zzz', cwd: '/x' }] }), /unknown turn environment id `zzz`/);
});
