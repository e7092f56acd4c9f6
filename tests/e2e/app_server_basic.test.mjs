// The JSON-RPC layer of `codex app-server`: what a client may send, and what comes back.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { needs } from './lib/codex.mjs';

const options = needs('app-server');
const refusal = (message) => ({ name: 'Error', code: -32600, message });

test('initialize is required first, once, and identifies the server', options, async (t) => {
	const server = await startAppServer(t, null, { initialize: false });
	await assert.rejects(server.request('model/list', {}), refusal('Not initialized'));
	await assert.rejects(server.request('initialize', {}), refusal('Invalid request: missing field `clientInfo`'));
	await assert.rejects(server.request('initialize', { clientInfo: { name: 'a\nb', version: '1' } }),
		refusal("Invalid clientInfo.name: 'a\nb'. Must be a valid HTTP header value."));
	const result = await server.request('initialize', { clientInfo: { name: 'drive', version: '0.1.0' } });
	assert.match(result.userAgent, /^drive\/\S+ \(.+; \w+\) unknown \(drive; 0\.1\.0\)$/);
	assert.deepEqual({ ...result, userAgent: '' },
		{ userAgent: '', codexHome: server.home, platformFamily: 'unix', platformOs: 'linux' });
	await assert.rejects(server.request('initialize', { clientInfo: { name: 'drive', version: '0.1.0' } }),
		refusal('Already initialized'));
	const { params, emittedAtMs } = await server.next('remoteControl/status/changed');
	assert.equal(params.status, 'disabled');
	assert.ok(Math.abs(emittedAtMs - Date.now()) < 60_000);
	assert.equal((await server.end()).code, 0);
});

test('ids come back as they were, and requests with other ids are refused', options, async (t) => {
	const server = await startAppServer(t, null);
	for (const id of ['a"b', 7, -1, 9007199254740993n]) {
		server.write(`{"id":${typeof id === 'string' ? JSON.stringify(id) : id},"method":"mock/experimentalMethod","params":{}}\n`);
		await server.take((message) => message.result && 'echoed' in message.result, 'echo');
	}
	for (const id of ['1.5', 'null', '[]']) {
		server.write(`{"id":${id},"method":"mock/experimentalMethod","params":{}}\n`);
		const { error } = await server.take((message) => message.id === null, 'error');
		assert.match(error.message, /`id` must be a string or an integer/);
	}
	const { stdout } = await server.end();
	assert.match(stdout, /\{"id":"a\\"b","result":\{"echoed":null\}\}/);
	assert.match(stdout, /\{"id":9007199254740993,"result"/);
});

test('errors of requests have the texts of codex 0.169', options, async (t) => {
	const server = await startAppServer(t, null);
	const cases = [
		['model/list', null, 'Invalid request: missing field `params`'],
		['model/list', 5, 'Invalid request: invalid type: integer `5`, expected struct ModelListParams'],
		['model/list', { cursor: 5 }, 'Invalid request: invalid type: integer `5`, expected a string'],
		['model/list', { cursor: 'bogus' }, 'invalid cursor: bogus'],
		['model/list', { includeHidden: 'yes' }, 'Invalid request: invalid type: string "yes", expected a boolean'],
		['thread/start', { sandbox: 'bogus' },
			'Invalid request: unknown variant `bogus`, expected one of `read-only`, `workspace-write`, `danger-full-access`'],
		['thread/start', { runtimeWorkspaceRoots: ['here'] },
			'Invalid request: AbsolutePathBuf deserialized without a base path'],
		['turn/start', {}, 'Invalid request: missing field `threadId`'],
		// parameters are checked before a method is refused
		['hooks/list', { cwds: 5 }, 'Invalid request: invalid type: integer `5`, expected a sequence'],
		['plugin/read', {}, 'Invalid request: missing field `pluginName`'],
		['plugin/read', { pluginName: 'p' }, 'plugin/read requires exactly one of marketplacePath or remoteMarketplaceName'],
		['project/delete', { projectId: 'p' },
			/^This version of Codex has no projects \(.*\), so it cannot do `project\/delete`. Nothing was changed.$/],
		['account/usage/read', {}, 'codex account authentication required to read token usage'],
	];
	for (const [method, params, message] of cases)
		await assert.rejects(server.request(method, params), refusal(message));
	await assert.rejects(server.request('no/such', {}),
		refusal(/^Invalid request: unknown variant `no\/such`, expected one of `initialize`, .*`thread\/start`/));
});

test('experimental methods require the capability', options, async (t) => {
	const server = await startAppServer(t, null, { capabilities: {} });
	await assert.rejects(server.request('mock/experimentalMethod', {}),
		refusal('mock/experimentalMethod requires experimentalApi capability'));
	await assert.rejects(server.request('thread/start', { dynamicTools: [] }),
		refusal('thread/start.dynamicTools requires experimentalApi capability'));
});

test('invalid lines are skipped with a note', options, async (t) => {
	const server = await startAppServer(t, null);
	server.write('junk\n\n[]\r\n{"id":2}\n{"foo":1}\n{"method":5}\n  {"id":3,"result":{}}\n{"id":4,"error":{"code":1,"message":"x"}}\n');
	server.write('['.repeat(1000) + '\n');
	server.write('{"method":"unknown/notification","params":{}}\n');
	assert.deepEqual(await server.request('mock/experimentalMethod', { value: 'still here', unknown: 1 }), { echoed: 'still here' });
	const { stderr } = await server.end();
	assert.match(stderr, /message 3 of a client was ignored: line 1 column 1: expected a value/);
	assert.match(stderr, /an answer to request 3 was ignored: no such request is pending/);
});

test('a burst of requests is answered whole', options, async (t) => {
	const server = await startAppServer(t, null);
	const count = 10_000;
	const answers = Array.from({ length: count }, (_, i) => server.request('mock/experimentalMethod', { value: `${i}` }));
	assert.deepEqual((await Promise.all(answers)).map(({ echoed }) => echoed), Array.from({ length: count }, (_, i) => `${i}`));
});

test('models are listed a page at a time', options, async (t) => {
	const server = await startAppServer(t, null);
	const all = await server.request('model/list', {});
	assert.equal(all.nextCursor, null);
	assert.ok(all.data.every((model) => !model.hidden && model.supportedReasoningEfforts.every((it) => it.description)));
	assert.equal(all.data.filter((model) => model.isDefault).length, 1);
	const first = await server.request('model/list', { limit: 2 });
	const second = await server.request('model/list', { limit: 2, cursor: first.nextCursor });
	assert.deepEqual([...first.data, ...second.data], all.data.slice(0, 4));
	const hidden = await server.request('model/list', { includeHidden: true });
	assert.ok(hidden.data.length > all.data.length);
});
