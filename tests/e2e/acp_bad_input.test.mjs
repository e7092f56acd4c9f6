// `codex acp` and clients that misbehave: lines that are no requests, wrong parameters, limits, editors that vanish.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { call, needs, patch, reply, run, say, startModel, tempDir } from './lib/codex.mjs';
import { conform, failure, selected, startAcp, text } from './lib/acp.mjs';

const options = needs('acp');
const MIB = 1024 * 1024;
const FULL = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"';
const SERVER = fileURLToPath(new URL('lib/mcp_server.mjs', import.meta.url));
const NOBODY = '00000000-0000-7000-8000-000000000000';
const escalated = (cmd) => call('exec_command', { cmd, sandbox_permissions: 'require_escalated', justification: 'Because.' });
const nested = (depth) => '['.repeat(depth) + ']'.repeat(depth);
const isGone = (pid) => { try { process.kill(pid, 0); return false; } catch { return true; } };
const line = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** Writes raw lines and resolves to the errors with the given ids, in order of arrival. */
const errorsOf = async (acp, count) => {
	const errors = () => acp.messages.filter((it) => it.error);
	await acp.until(() => errors().length >= count, `${count} errors`);
	return errors().map(({ id, error }) => [id, error.code]);
};
/** The agent lives, and has handled everything that was sent before. */
const goesOn = async (acp) => assert.ok(Array.isArray((await acp.request('session/list', { cwd: acp.cwd })).sessions));

// --- lines ------------------------------------------------------------------------------------------------------------

test('lines that are not requests are refused with a null id, and the agent lives on', options, async (t) => {
	const acp = await startAcp(t, null);
	const parse = ['{', 'hello', '{"jsonrpc":"2.0","id":1,"method":"x"} y', '{"id":"\\ud800","method":"x"}', nested(200)];
	const invalid = ['[]', '5', '"x"', 'null', '{"jsonrpc":"2.0","id":1,"method":5}', '{"jsonrpc":"2.0","id":{},"method":"logout"}',
		'{"jsonrpc":"2.0","id":null,"method":"logout"}', '{"jsonrpc":"2.0","id":1.5,"method":"logout"}', '{}', '{"jsonrpc":"2.0","id":7}'];
	for (const it of [...parse, '', '   ', ...invalid]) acp.write(it);
	const expected = [...parse.map(() => [null, -32700]), ...invalid.map(() => [null, -32600])];
	assert.deepEqual(await errorsOf(acp, expected.length), expected);
	await goesOn(acp);
	await acp.end();
});

test('bytes that are not text are refused', options, async (t) => {
	const acp = await startAcp(t, null);
	const around = (bytes) => Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.from(bytes), Buffer.from('"}\n')]);
	for (const bytes of [[0xff], [0], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) acp.child.stdin.write(around(bytes));
	acp.child.stdin.write(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0x0a])); // the head of a gzip file
	assert.deepEqual(await errorsOf(acp, 5), Array.from({ length: 5 }, () => [null, -32700]));
	await goesOn(acp);
	await acp.end();
});

test('unknown methods are refused, unknown notifications and answers ignored', options, async (t) => {
	const acp = await startAcp(t, null);
	const unknown = ['nope', '_vendor/x', 'session/update', 'session/cancel', '$/cancel_request', 'initialize ', 'x'.repeat(5000)];
	unknown.forEach((method, id) => acp.write(line(id + 100, method, {})));
	for (const method of ['nope', '_vendor/x', 'session/prompt', 'logout'])
		acp.write(JSON.stringify({ jsonrpc: '2.0', method, params: {} }));
	for (const answer of [{ id: 1, result: {} }, { id: 'x', result: null }, { id: 9e15, error: { code: 1, message: 'no' } }, { id: -1, result: [] }])
		acp.write(JSON.stringify({ jsonrpc: '2.0', ...answer }));
	assert.deepEqual(await errorsOf(acp, unknown.length), unknown.map((_, id) => [id + 100, -32601]));
	assert.ok(acp.messages.every((it) => JSON.stringify(it).length < 2000), 'a long name is not repeated');
	await goesOn(acp);
	await acp.end();
});

test('methods before initialize are refused', options, async (t) => {
	const acp = await startAcp(t, null, { initialize: false });
	acp.write(line(1, 'session/new', { cwd: '/', mcpServers: [] }));
	acp.write(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'x' } }));
	acp.write(line(2, 'initialize', {}));
	acp.write(line(3, 'initialize', { protocolVersion: 'one' }));
	assert.deepEqual(await errorsOf(acp, 3), [[1, -32600], [2, -32602], [3, -32602]]);
	const { protocolVersion } = await acp.request('initialize', { protocolVersion: 0, clientInfo: { name: 'x\u0000y', version: '1' } });
	assert.equal(protocolVersion, 1);
	await goesOn(acp);
	await acp.end();
});

// --- parameters -------------------------------------------------------------------------------------------------------

test('wrong parameters are refused with -32602', options, async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const cwd = acp.cwd, file = path.join(cwd, 'file');
	fs.writeFileSync(file, '');
	const opening = [{}, { cwd }, { mcpServers: [] }, { cwd: 'here', mcpServers: [] }, { cwd: '', mcpServers: [] }, { cwd: 7, mcpServers: [] },
		{ cwd: '/tmp\u0000/x', mcpServers: [] }, { cwd: path.join(cwd, 'missing'), mcpServers: [] }, { cwd: file, mcpServers: [] },
		{ cwd, mcpServers: {} }, { cwd, mcpServers: [5] }, { cwd, mcpServers: [{ name: 'x' }] }, { cwd, mcpServers: [{ command: 'x' }] },
		{ cwd, mcpServers: [{ name: '', command: 'x', args: [], env: [] }] },
		{ cwd, mcpServers: [{ type: 'sse', name: 'x', url: 'http://127.0.0.1/' }] },
		{ cwd, mcpServers: [{ type: 'http', name: 'x' }] }, { cwd, mcpServers: [], additionalDirectories: ['x'] },
		{ cwd, mcpServers: [], additionalDirectories: [5] }, [], 'x', 7];
	for (const params of opening)
		assert.equal((await failure(acp.request('session/new', params))).code, -32602, JSON.stringify(params));
	const prompts = [[], {}, 'hi', [{}], [{ type: 'nonsense' }], [{ type: 'text' }], [{ type: 'text', text: 5 }],
		[{ type: 'image', mimeType: 'image/png' }],
		[{ type: 'image', mimeType: 'text/plain', data: 'eA==' }], [{ type: 'audio', mimeType: 'audio/wav', data: 'eA==' }], [{ type: 'resource' }],
		[{ type: 'resource', resource: { uri: 'file:///x' } }], [{ type: 'resource_link', uri: 'file:///x' }], [null]];
	for (const prompt of prompts)
		assert.equal((await failure(acp.request('session/prompt', { sessionId, prompt }))).code, -32602, JSON.stringify(prompt));
	for (const [method, params] of [['session/list', { cwd: 'here' }], ['session/list', { cursor: 'nonsense' }],
		['session/list', { cursor: 5 }],
		['session/set_mode', { sessionId }], ['session/set_mode', { sessionId, modeId: '' }],
		['session/set_config_option', { sessionId, configId: 'mode' }],
		['session/set_config_option', { sessionId, configId: 'mode', value: true, type: 'boolean' }],
		['session/close', {}], ['session/delete', { sessionId: 5 }],
		['authenticate', {}], ['authenticate', { methodId: 'chatgpt' }], ['session/load', { sessionId, cwd: 'here', mcpServers: [] }]])
		assert.equal((await failure(acp.request(method, params))).code, -32602, `${method} ${JSON.stringify(params)}`);
	assert.equal(model.requests().length, 0);
	await acp.end();
});

test('unknown sessions are -32002, with their id', options, async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const acp = await startAcp(t, model);
	const { cwd } = acp, more = { cwd, mcpServers: [], prompt: [text('x')], modeId: 'read-only', configId: 'mode', value: 'read-only' };
	for (const sessionId of [NOBODY, 'x', '', '../../etc/passwd', `${NOBODY}\u0000`]) {
		for (const method of ['session/prompt', 'session/load', 'session/resume', 'session/fork', 'session/set_mode',
			'session/set_config_option']) {
			const { code, data } = await failure(acp.request(method, { sessionId, ...more }));
			assert.deepEqual([code, data], [-32002, { sessionId }], `${method} ${sessionId}`);
		}
		assert.deepEqual(await acp.request('session/delete', { sessionId }), {});
		await acp.notify('session/cancel', { sessionId });
		acp.write(line(`close ${sessionId}`, 'session/close', { sessionId })); // the SDK takes this error for success
		assert.equal((await acp.until(({ id }) => id === `close ${sessionId}`)).error.code, -32002);
	}
	await goesOn(acp);
	await acp.end();
});

test('the id of a running request cannot be used again', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'more' }, { delta: ' done.' }), say('Again.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const prompt = (words) => line('same', 'session/prompt', { sessionId, prompt: [text(words)] });
	acp.write(prompt('one'));
	await acp.until(({ params }) => params?.update?.content?.text === 'Half');
	acp.write(prompt('two'));
	const { error } = await acp.until(({ id }) => id === 'same');
	assert.equal(error.code, -32600);
	await model.openGate('more');
	const { result } = await acp.until((it) => it.id === 'same' && it.result);
	assert.equal(result.stopReason, 'end_turn');
	acp.write(prompt('three'));
	await acp.until(() => acp.messages.filter((it) => it.id === 'same' && it.result).length === 2);
	assert.equal(model.requests().length, 2);
	await acp.end();
});

test('ids keep their type and their characters', options, async (t) => {
	const acp = await startAcp(t, null);
	for (const id of [1000, -5, 123456789012345, '', 'ä "quoted"\n', '\u0001']) {
		const before = acp.messages.length;
		acp.write(line(id, 'session/delete', { sessionId: 'x' }));
		await acp.until((it) => acp.messages.indexOf(it) >= before && it.id === id && it.result);
	}
	await acp.end();
});

test('wrong answers to a permission deny', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const answers = [{ result: null }, { result: {} }, { result: { outcome: 'selected' } }, { result: { outcome: { outcome: 'selected' } } },
		{ result: { outcome: { outcome: 'selected', optionId: 5 } } }, { result: [] }, { error: null }, { error: 5 }];
	const model = await startModel(t, [...answers.map((_, i) => escalated(`touch made${i}`)), say('Done.')]);
	const acp = await startAcp(t, model, { cwd, handlers: {}, permission: () => new Promise(() => {}) });
	const { sessionId } = await acp.newSession();
	const prompt = acp.prompt(sessionId, 'go');
	const asked = () => acp.messages.filter(({ method }) => method === 'session/request_permission');
	for (let i = 0; i < answers.length; i++) {
		await acp.until(() => asked().length > i);
		acp.write(JSON.stringify({ jsonrpc: '2.0', id: asked()[i].id, ...answers[i] }));
		acp.write(JSON.stringify({ jsonrpc: '2.0', id: asked()[i].id, result: selected('allow_once') })); // too late
	}
	assert.equal((await prompt).stopReason, 'end_turn');
	assert.deepEqual(fs.readdirSync(cwd), []);
	assert.ok(acp.calls(sessionId).every((it) => it.status === 'failed'));
	await acp.end();
});

// --- limits -----------------------------------------------------------------------------------------------------------

test('a line over 16 MiB is skipped and refused with its id', options, async (t) => {
	const acp = await startAcp(t, null);
	acp.write(line('long', 'authenticate', { methodId: 'x'.repeat(17 * MIB) }));
	acp.write(`{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(17 * MIB)}"}`);
	acp.write('x'.repeat(17 * MIB));
	assert.deepEqual(await errorsOf(acp, 3), [['long', -32600], [null, -32600], [null, -32600]]);
	await goesOn(acp);
	await acp.end();
});

test('an answer of the editor that is too long fails its call, and the prompt goes on', options, async (t) => {
	const model = await startModel(t, [call('read_editor_file', { path: 'a.txt' }), say('Done.')]);
	const acp = await startAcp(t, model, { capabilities: { fs: { readTextFile: true } },
		handlers: { 'fs/read_text_file': () => ({ content: 'x'.repeat(17 * MIB) }) } });
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	assert.match(JSON.stringify(model.requests()[1].body.input), /could not read the file: the answer is too long/);
	assert.deepEqual(acp.calls(sessionId).map((it) => it.status), ['failed']);
	await acp.end();
});

test('an approval for the session is a denial where a rule was offered instead', options, async (t) => {
	const model = await startModel(t, [call('exec_command', { cmd: 'touch denied', sandbox_permissions: 'require_escalated',
		justification: 'Because.', prefix_rule: ['touch'] }), say('Well.')]);
	const acp = await startAcp(t, model, { permission: () => selected('allow_session') });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	assert.deepEqual(acp.permissions[0].options.map((it) => it.optionId), ['allow_once', 'accept_execpolicy_amendment', 'cancel']);
	assert.ok(!fs.existsSync(path.join(acp.cwd, 'denied')));
	assert.equal(acp.calls(sessionId)[0].status, 'failed');
	await acp.end();
});

test('a session that waits for a required server can be withdrawn, and the server ends', options, async (t) => {
	const log = path.join(tempDir(t, 'log'), 'log');
	const script = JSON.stringify({ gate: path.join(tempDir(t, 'gate'), 'never'), log });
	const acp = await startAcp(t, await startModel(t, [say('unused')]), { config: `[mcp_servers.s]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(SERVER)}, ${JSON.stringify(script)}]
required = true
startup_timeout_sec = 600
` });
	acp.write(line('opening', 'session/new', { cwd: acp.cwd, mcpServers: [] }));
	while (!fs.existsSync(log) || !fs.readFileSync(log, 'utf8').includes('initialize')) await new Promise((wake) => setTimeout(wake, 5));
	await acp.notify('$/cancel_request', { requestId: 'opening' });
	const { error } = await acp.until(({ id }) => id === 'opening');
	assert.equal(error.code, -32800);
	await goesOn(acp);
	const { started } = JSON.parse(fs.readFileSync(log, 'utf8').split('\n')[0]);
	while (!isGone(started)) await new Promise((wake) => setTimeout(wake, 5));
	await acp.end();
});

test('more than 1,024 requests without a response are refused, and cancellations are still read', options, async (t) => {
	const model = await startModel(t, [{ ...reply({ delta: 'Half' }, { hang: true }), times: 'forever' }]);
	const acp = await startAcp(t, model);
	const ids = [], prompts = [];
	for (let i = 0; i < 64; i++) ids.push((await acp.newSession()).sessionId);
	for (const id of ids) for (let i = 0; i < 16; i++) prompts.push(acp.prompt(id, `prompt ${i}`));
	const { code, message } = await failure(acp.request('session/list', {}));
	assert.equal(code, -32603);
	assert.match(message, /1024 requests have no response yet/);
	for (const sessionId of ids) await acp.notify('session/cancel', { sessionId });
	assert.ok((await Promise.all(prompts)).every((it) => it.stopReason === 'cancelled'));
	await goesOn(acp);
	await acp.end();
});

test('a prompt has at most 1048576 characters', options, async (t) => {
	const model = await startModel(t, [say('Read.')]);
	const acp = await startAcp(t, model, { config: 'model_context_window = 10000000' });
	const { sessionId } = await acp.newSession();
	const { code, message } = await failure(acp.prompt(sessionId, 'ä'.repeat(1048577)));
	assert.equal(code, -32602);
	assert.match(message, /1048577 characters of text; the most is 1048576/);
	assert.equal((await failure(acp.prompt(sessionId, [text('x'.repeat(600000)), text('x'.repeat(600000))]))).code, -32602);
	assert.equal((await acp.prompt(sessionId, 'ä'.repeat(1048576))).stopReason, 'end_turn');
	await acp.end();
});

test('at most 16 prompts of a session wait', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true })]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const prompts = Array.from({ length: 16 }, (_, i) => acp.prompt(sessionId, `prompt ${i}`));
	const { code, message } = await failure(acp.prompt(sessionId, 'too many'));
	assert.equal(code, -32600);
	assert.match(message, /16 prompts of this session are running/);
	await acp.notify('session/cancel', { sessionId });
	assert.deepEqual((await Promise.all(prompts)).map((it) => it.stopReason), prompts.map(() => 'cancelled'));
	await acp.end();
});

test('at most 256 sessions are open, 64 servers and 64 folders in one', options, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const acp = await startAcp(t, model);
	const server = { type: 'http', name: 'web', url: 'http://127.0.0.1:9/' };
	for (const more of [{ mcpServers: Array.from({ length: 65 }, (_, i) => ({ ...server, name: `s${i}` })) },
		{ additionalDirectories: Array.from({ length: 65 }, () => acp.cwd) }])
		assert.equal((await failure(acp.newSession(more))).code, -32602);
	const ids = [];
	for (let i = 0; i < 256; i++) ids.push((await acp.newSession()).sessionId);
	const { code, message } = await failure(acp.newSession());
	assert.equal(code, -32603);
	assert.match(message, /256 sessions are open: close one first/);
	await acp.request('session/close', { sessionId: ids[7] });
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	await acp.end();
});

test('a flood of requests is answered in order', options, async (t) => {
	const acp = await startAcp(t, null);
	const count = 20000;
	for (let i = 0; i < count; i++) acp.write(line(`f${i}`, i % 2 ? 'session/delete' : 'nope', { sessionId: 'x' }));
	await acp.until(({ id }) => id === `f${count - 1}`);
	const answers = acp.messages.filter(({ id }) => /^f\d/.test(id));
	assert.deepEqual(answers.map(({ id }) => id), Array.from({ length: count }, (_, i) => `f${i}`));
	assert.ok(answers.every((it, i) => (i % 2 ? it.result : it.error)));
	await acp.end();
});

test('a client that does not read is not read either, and loses nothing', options, async (t) => {
	const model = await startModel(t, [run('head -c 3000000 /dev/zero | tr "\\0" x'), say('Done.')]);
	const acp = await startAcp(t, model, { config: FULL, capabilities: { _meta: { terminal_output: true } } });
	const { sessionId } = await acp.newSession();
	acp.child.stdout.pause();
	const prompt = acp.prompt(sessionId, 'go');
	for (let i = 0; i < 2000; i++) acp.write(line(`f${i}`, 'session/delete', { sessionId: 'x' }));
	while (!model.requests().length) await new Promise((wake) => setTimeout(wake, 5));
	acp.child.stdout.resume();
	assert.equal((await prompt).stopReason, 'end_turn');
	await acp.until(({ id }) => id === 'f1999');
	assert.equal(acp.messages.filter(({ id }) => /^f\d/.test(id)).length, 2000);
	await acp.end();
});

test('a patch of large files has the changed lines alone', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	fs.writeFileSync(path.join(cwd, 'large.txt'), `${'line of words\n'.repeat(90000)}last\n`);
	const model = await startModel(t, [patch('*** Update File: large.txt', '@@', '-last', '+LAST'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd, config: 'sandbox_mode = "workspace-write"\napproval_policy = "never"' });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	const [edit] = acp.calls(sessionId);
	assert.equal(edit.status, 'completed');
	assert.ok(edit.content[0].oldText.length < 1000 && edit.content[0].newText.endsWith('LAST\n'));
	await acp.end();
});

// --- cancel -----------------------------------------------------------------------------------------------------------

test('cancels without a running prompt have no effect on the next one', options, async (t) => {
	const model = await startModel(t, [{ ...say('Hello.'), times: 'forever' }]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	for (let i = 0; i < 3; i++) {
		for (let n = 0; n < 50; n++) await acp.notify('session/cancel', { sessionId });
		await acp.notify('$/cancel_request', { requestId: 'unknown' });
		assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	}
	await acp.end();
});

test('a prompt that is cancelled at once is answered cancelled, and the next one works', options, async (t) => {
	const model = await startModel(t, [{ ...say('Hello.'), times: 'forever' }]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	for (let i = 0; i < 5; i++) {
		acp.child.stdin.cork(); // so the prompt cannot end first
		acp.write(line(`p${i}`, 'session/prompt', { sessionId, prompt: [text('go')] }));
		for (let n = 0; n < 2; n++) acp.write(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }));
		acp.child.stdin.uncork();
		assert.equal((await acp.until(({ id }) => id === `p${i}`)).result.stopReason, 'cancelled');
		assert.equal((await acp.prompt(sessionId, 'next')).stopReason, 'end_turn');
	}
	await acp.end();
});

// --- editors that vanish ----------------------------------------------------------------------------------------------

const vanish = async (acp) => {
	acp.child.stdin.destroy();
	acp.child.stdout.destroy();
	const { code } = await acp.done;
	return code;
};

test('an editor that vanishes while a permission is open has denied it', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [escalated('touch made'), say('Unused.')]);
	const acp = await startAcp(t, model, { cwd, permission: () => new Promise(() => {}) });
	const { sessionId } = await acp.newSession();
	acp.prompt(sessionId, 'go').catch(() => {});
	await acp.until(({ method }) => method === 'session/request_permission');
	assert.equal(await vanish(acp), 0);
	assert.deepEqual(fs.readdirSync(cwd), []);
});

test('an editor that vanishes while a command runs ends it', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [run('echo $$ > pid; echo up; sleep 1000', { yield_time_ms: 30000 })]);
	const acp = await startAcp(t, model, { cwd, config: FULL, capabilities: { _meta: { terminal_output: true } } });
	const { sessionId } = await acp.newSession();
	acp.prompt(sessionId, 'go').catch(() => {});
	await acp.until(({ params }) => params?.update?._meta?.terminal_output_delta);
	assert.equal(await vanish(acp), 0);
	assert.ok(isGone(Number(fs.readFileSync(path.join(cwd, 'pid'), 'utf8'))));
});

for (const [name, tool, method] of [['reads a file', 'read_editor_file', 'fs/read_text_file'],
	['is asked for a write', 'write_editor_file', 'session/request_permission'], ['writes a file', 'write_editor_file', 'fs/write_text_file']]) {
	test(`an editor that vanishes while it ${name} ends the process`, options, async (t) => {
		const never = () => new Promise(() => {});
		const model = await startModel(t, [call(tool, { path: 'a.txt', content: 'new' }), say('Unused.')]);
		const acp = await startAcp(t, model, { capabilities: { fs: { readTextFile: tool === 'read_editor_file', writeTextFile: true } },
			permission: method === 'session/request_permission' ? never : undefined,
			handlers: { 'fs/read_text_file': never, 'fs/write_text_file': never } });
		const { sessionId } = await acp.newSession();
		acp.prompt(sessionId, 'go').catch(() => {});
		await acp.until((it) => it.method === method);
		assert.equal(await vanish(acp), 0);
		assert.deepEqual(fs.readdirSync(acp.cwd), []);
		assert.equal(model.requests().length, 1);
	});
}

test('an editor that vanishes while an MCP call waits for its permission ends the server', options, async (t) => {
	const log = path.join(tempDir(t), 'log');
	const script = { tools: [{ name: 'save', inputSchema: { type: 'object' } }], log, escapes: true };
	const model = await startModel(t, [reply({ item: { type: 'function_call', call_id: 'c1', namespace: 'mcp__kit', name: 'save', arguments: '{}' } })]);
	const acp = await startAcp(t, model, { permission: () => new Promise(() => {}) });
	const server = { name: 'kit', command: process.execPath, args: [SERVER, JSON.stringify(script)], env: [] };
	const { sessionId } = await acp.newSession({ mcpServers: [server] });
	acp.prompt(sessionId, 'go').catch(() => {});
	await acp.until(({ method }) => method === 'session/request_permission');
	assert.equal(await vanish(acp), 0);
	const lines = fs.readFileSync(log, 'utf8').trim().split('\n').map((it) => JSON.parse(it));
	assert.ok(!lines.some(({ method }) => method === 'tools/call'));
	for (const pid of [lines[0].started, lines[1].child]) assert.ok(isGone(pid), `${pid} lives`);
});

test('an editor that ends while a session is opened ends the process', options, async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const acp = await startAcp(t, model);
	for (let i = 0; i < 5; i++) acp.write(line(i + 50, 'session/new', { cwd: acp.cwd, mcpServers: [] }));
	acp.write(line(60, 'session/list', {}));
	acp.write(line(61, 'session/load', { sessionId: NOBODY, cwd: acp.cwd, mcpServers: [] }));
	await acp.end();
});

test('half a line at the end is not carried out', options, async (t) => {
	const acp = await startAcp(t, null);
	acp.child.stdin.end(line(70, 'authenticate', { methodId: 'api-key', _meta: { 'api-key': { apiKey: 'sk-half' } } }).slice(0, -1));
	const { code } = await acp.done;
	assert.equal(code, 0);
	assert.ok(!fs.existsSync(path.join(acp.home, 'auth.json')));
	conform('InitializeResponse', acp.agent);
});
