// request_permissions: the model asks for folders and the network in advance; the user grants all, a part or nothing.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexBin, codexExec, forever, needs, outputOf, patch, reply, run, say, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const probe = spawnSync(codexBin, ['sandbox', 'true'], { env: { PATH: process.env.PATH, HOME: '/nowhere' }, encoding: 'utf8' });
const options = probe.status === 0 ? needs('app-server') : { skip: probe.stderr?.trim() || 'no sandbox' };
const ON = 'approval_policy = "on-request"\nsandbox_mode = "read-only"\n[features]\nrequest_permissions_tool = true\n';
let asks = 0;
const ask = (permissions, call_id = `p${++asks}`, reason = 'to build') =>
	reply({ call: 'request_permissions', call_id, arguments: { reason, permissions } });
const write = (...paths) => ({ file_system: { write: paths } });
const touch = (file) => run(`touch ${file} && echo made`, { login: false });

async function begin(t, script, config = ON) {
	const model = await startModel(t, script);
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', { cwd: server.cwd });
	const turn = (words = 'go') => server.request('turn/start', { threadId: thread.id, input: [text(words)] });
	const end = () => server.next('turn/completed');
	return { model, server, thread, turn, end };
}

const results = (model) => model.requests().at(-1).body.input.filter(({ type }) => type === 'function_call_output')
	.map(({ output }) => (typeof output === 'string' ? output : output.map((part) => part.text).join('')));

test('what the user grants holds for the turn, in the granted folders alone', options, async (t) => {
	const dir = tempDir(t, 'granted'), other = tempDir(t, 'other');
	const { model, server, thread, turn, end } = await begin(t, [ask(write(dir, other), 'p'), touch(path.join(dir, 'a')),
		touch(path.join(other, 'b')), touch('c'), say('one'), touch(path.join(dir, 'd')), say('two')]);
	await turn();
	const asked = await server.next('item/permissions/requestApproval');
	const { startedAtMs, turnId, ...params } = asked.params;
	assert.ok(startedAtMs > 0 && turnId);
	assert.deepEqual(params, { threadId: thread.id, cwd: server.cwd, itemId: 'p', environmentId: 'local', reason: 'to build',
		permissions: { fileSystem: { read: null, write: [dir, other] }, network: null } });
	server.answer(asked, { permissions: { fileSystem: { read: null, write: [dir, '/'] } }, scope: 'turn' });
	await server.next('serverRequest/resolved');
	await end();
	const [granted, a, b, c] = results(model);
	assert.deepEqual(JSON.parse(granted), { permissions: { file_system: { read: [], write: [dir] } }, scope: 'turn' });
	assert.match(a, /made/);
	for (const output of [b, c]) assert.match(output, /Read-only file system|Permission denied|denied/);
	await turn();
	await end();
	assert.doesNotMatch(results(model).at(-1), /made/, 'the grant has ended with its turn');
});

test('a grant for the session holds in later turns, and patches may use it', options, async (t) => {
	const dir = tempDir(t, 'granted'), file = path.join(dir, 'new');
	const { server, turn, end } = await begin(t, [ask(write(dir)), say('one'),
		patch(`*** Add File: ${file}`, '+text'), say('two')]);
	await turn();
	server.answer(await server.next('item/permissions/requestApproval'),
		{ permissions: { fileSystem: { write: [dir] } }, scope: 'session' });
	await end();
	await turn();
	await end();
	assert.equal(fs.readFileSync(file, 'utf8'), 'text\n');
	assert.equal(server.all('item/fileChange/requestApproval').length, 0);
});

test('a granted folder that became a link to another one is not writable any more', options, async (t) => {
	const base = tempDir(t, 'granted'), dir = path.join(base, 'a'), secret = path.join(base, 'secret');
	fs.mkdirSync(dir);
	fs.mkdirSync(secret);
	const { model, server, turn, end } = await begin(t, [ask(write(dir)), touch(path.join(dir, 'before')),
		reply({ start: true }, { gate: 'swap' }, { call: 'exec_command', arguments: { cmd: `touch ${dir}/after && echo made`, login: false } }),
		say('one')]);
	await turn();
	server.answer(await server.next('item/permissions/requestApproval'), { permissions: { fileSystem: { read: null, write: [dir] } } });
	while (model.requests().length < 3) await new Promise((wake) => setTimeout(wake, 5));
	assert.ok(fs.existsSync(path.join(dir, 'before')));
	fs.renameSync(dir, path.join(base, 'old'));
	fs.symlinkSync(secret, dir);
	await model.openGate('swap');
	await end();
	assert.deepEqual(fs.readdirSync(secret), []);
});

test('a refusal, an error and an empty answer grant nothing', options, async (t) => {
	const dir = tempDir(t, 'refused');
	const script = ['a', 'b'].flatMap((id) => [ask(write(dir), id), touch(path.join(dir, id))]);
	const { model, server, turn, end } = await begin(t, [...script, say('end')]);
	await turn();
	server.answer(await server.next('item/permissions/requestApproval'), { permissions: {} });
	server.answer(await server.next('item/permissions/requestApproval'), { nonsense: 1 });
	await end();
	const outputs = results(model);
	for (const at of [0, 2]) assert.deepEqual(JSON.parse(outputs[at]), { permissions: {}, scope: 'turn' });
	assert.deepEqual(fs.readdirSync(dir), []);
});

test('requests that no user is asked about', options, async (t) => {
	const dir = tempDir(t, 'dir');
	const nothing = { permissions: {}, scope: 'turn' };
	const { model, server, turn, end } = await begin(t, [ask(write('/no/such/folder')), ask({}), ask({ file_system: { read: ['/etc'] } }),
		ask(write(...Array(17).fill(dir))), say('end')]);
	await turn();
	await end();
	const [absent, empty, read, many] = results(model);
	assert.match(absent, /\/no\/such\/folder is not a folder that exists/);
	assert.deepEqual([JSON.parse(empty), JSON.parse(read)],
		[nothing, { permissions: { file_system: { read: ['/etc'], write: [] } }, scope: 'turn' }]);
	assert.match(many, /at most 16 folders/);
	for (const config of [ON.replace('on-request', 'never'), ON]) { // codex exec cannot ask
		const alone = await startModel(t, [ask({ network: { enabled: true } }, 'p'), say('end')]);
		await codexExec(t, alone, ['-s', 'read-only', 'go'], { config });
		assert.deepEqual(JSON.parse(outputOf(alone.requests()[1], 'p')), nothing);
	}
	assert.equal(server.all('item/permissions/requestApproval').length, 0);
});

test('a grant does not widen the sandbox that a subagent may have', options, async (t) => {
	const spawn = (id) => reply({ call: 'subagent_spawn', call_id: id, arguments: { prompt: 'CHILD', sandbox_mode: 'workspace-write' } });
	const { model, server, turn, end } = await begin(t, [{ when: { contains: 'CHILD', lacks: 'ROOT' }, ...say('child') },
		ask({ network: { enabled: true } }, 'p'), spawn('s'), forever(say('end'))], `${ON}subagent_tools = true\n`);
	await turn('ROOT');
	const asked = await server.next('item/permissions/requestApproval');
	server.answer(asked, { permissions: asked.params.permissions, scope: 'turn' });
	await end();
	assert.match(outputOf(model.requests().at(-1), 's'), /sandbox_mode workspace-write not permitted; parent session runs in read-only/);
});

test('the tool is offered with its feature only', options, async (t) => {
	const offered = async (config) => {
		const model = await startModel(t, [say('x')]);
		await codexExec(t, model, ['go'], { config });
		return model.requests()[0].body.tools.find(({ name }) => name === 'request_permissions');
	};
	const tool = await offered(ON);
	assert.deepEqual(tool.parameters.required, ['permissions']);
	assert.deepEqual(Object.keys(tool.parameters.properties.permissions.properties), ['network', 'file_system']);
	assert.equal(await offered(''), undefined);
});

test('clients of the event protocol are asked by an elicitation, and an interrupt withdraws it', needs('proto'), async (t) => {
	const model = await startModel(t, [ask({ network: { enabled: true } }, 'p'), say('end'), ask({ network: { enabled: true } })]);
	const proto = startProto(t, model, { config: ON });
	proto.submit('1', userInput('go'));
	const { msg } = await proto.next('elicitation_request');
	assert.deepEqual([msg.server_name, msg._meta.codex_approval_kind, msg._meta.permissions], ['', 'request_permissions', { network: { enabled: true } }]);
	assert.equal(msg.message, 'Allow commands to use the network until the end of this turn? The model\'s reason: to build');
	proto.submit('2', { type: 'resolve_elicitation', server_name: '', request_id: msg.id, decision: 'accept' });
	await proto.next('task_complete');
	assert.deepEqual(JSON.parse(outputOf(model.requests()[1], 'p')), { permissions: { network: { enabled: true } }, scope: 'turn' });
	proto.submit('3', userInput('again'));
	await proto.next('elicitation_request');
	proto.submit('4', { type: 'interrupt' });
	await proto.next('turn_aborted');
	assert.equal((await proto.end()).code, 0);
});

test('request_permissions_response answers the event request_permissions', options, async (t) => {
	const dir = tempDir(t, 'granted'), other = tempDir(t, 'other');
	const model = await startModel(t, [ask(write(dir, other), 'p"1'), touch(path.join(dir, 'a')), touch(path.join(other, 'b')), say('end'),
		touch(path.join(dir, 'c')), say('end'), ask({ network: { enabled: true } }, 'q'), say('end')]);
	const proto = startProto(t, model, { config: ON, args: ['--wire-profile', 'doc'] });
	const answer = (id, response) => proto.submit('a', { type: 'request_permissions_response', id, response });
	proto.submit('1', userInput('go'));
	const { msg } = await proto.next('request_permissions');
	assert.deepEqual(msg, { type: 'request_permissions', call_id: 'p"1', turn_id: '1', reason: 'to build', cwd: proto.cwd,
		permissions: { file_system: { read: [], write: [dir, other] } } });
	answer('another', { permissions: msg.permissions });
	assert.match((await proto.next('warning')).msg.message, /No request for permissions is pending under `another`/);
	answer(msg.call_id, { permissions: { file_system: { write: [dir, '/'] } }, scope: 'session' });
	await proto.next('task_complete');
	const granted = { permissions: { file_system: { read: [], write: [dir] } }, scope: 'session' };
	assert.deepEqual(JSON.parse(outputOf(model.requests()[1], msg.call_id)), granted);
	assert.deepEqual([fs.existsSync(path.join(dir, 'a')), fs.existsSync(path.join(other, 'b'))], [true, false]);
	proto.submit('2', userInput('again'));
	await proto.next('task_complete');
	assert.ok(fs.existsSync(path.join(dir, 'c')), 'the grant holds for the session');
	proto.submit('3', userInput('network'));
	await proto.next('request_permissions');
	answer('q', { permissions: null });
	answer('q', { permissions: {} });
	await proto.next('task_complete');
	assert.deepEqual(JSON.parse(outputOf(model.requests().at(-1), 'q')), { permissions: {}, scope: 'turn' });
	assert.equal((await proto.end()).code, 0);
});

test('request_permissions_response answers a subagent, too', options, async (t) => {
	const dir = tempDir(t, 'granted'), child = { contains: 'need it', lacks: 'ROOT' };
	const model = await startModel(t, [{ when: child, ...ask(write(dir), 'k1') }, { when: child, ...touch(path.join(dir, 'a')) },
		{ when: child, ...say('made') }, reply({ call: 'subagent_spawn', arguments: { prompt: 'need it' } }),
		reply({ call: 'subagent_await', arguments: {} }), forever(say('end'))]);
	const proto = startProto(t, model, { config: `${ON}subagent_tools = true\n`, args: ['--wire-profile', 'doc'] });
	proto.submit('1', userInput('ROOT'));
	assert.equal((await proto.next('request_permissions')).msg.call_id, 'k1');
	proto.submit('a', { type: 'request_permissions_response', id: 'k1', response: { permissions: { file_system: { write: [dir] } } } });
	await proto.next('task_complete');
	assert.ok(fs.existsSync(path.join(dir, 'a')));
	assert.ok(!proto.events().some(({ msg }) => msg.type === 'warning' && /No request for permissions/.test(msg.message)));
	assert.equal((await proto.end()).code, 0);
});
