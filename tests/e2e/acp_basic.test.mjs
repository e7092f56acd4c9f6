// `codex acp`: handshake, prompts, updates, tool calls, permissions, cancel. The official SDK is the client.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { call, failed, needs, patch, reply, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { cancelled, failure, selected, startAcp, text } from './lib/acp.mjs';

const options = needs('acp');
const FULL = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"';
const escalated = (cmd) => call('exec_command', { cmd, sandbox_permissions: 'require_escalated', justification: 'Because.' });

test('initialize answers version 1 and the capabilities', options, async (t) => {
	const acp = await startAcp(t, null, { initialize: false });
	const result = await acp.request('initialize', { protocolVersion: 99, clientCapabilities: { unknown: { x: 1 } }, _meta: { a: 1 } });
	assert.equal(result.protocolVersion, 1);
	assert.equal(result.agentInfo.name, 'codex');
	assert.deepEqual(result.agentCapabilities, {
		auth: { logout: {} }, loadSession: true, promptCapabilities: { embeddedContext: true, image: true },
		sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
		mcpCapabilities: { http: true, sse: false } });
	assert.deepEqual(result.authMethods.map(({ id }) => id), ['api-key']);
	assert.deepEqual(result._meta, { steering: { supported: true } });
	await acp.end();
});

test('a prompt is answered after its last update', options, async (t) => {
	const model = await startModel(t, [reply({ reasoning: '**Thinking** it over.', chunks: 2 }, { message: 'Hello there.', chunks: 3 },
		{ usage: { input_tokens: 100, cached_tokens: 40, output_tokens: 20, reasoning_tokens: 5 } })]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const answer = await acp.prompt(sessionId, 'Say hello\nto me');
	assert.equal(answer.stopReason, 'end_turn');
	assert.deepEqual(answer.usage, { totalTokens: 120, inputTokens: 60, cachedReadTokens: 40, outputTokens: 20, thoughtTokens: 5 });
	assert.equal(acp.text(sessionId), 'Hello there.');
	assert.equal(acp.text(sessionId, 'agent_thought_chunk'), '**Thinking** it over.');
	assert.equal(new Set(acp.updates(sessionId, 'agent_message_chunk').map((it) => it.messageId)).size, 1);
	const [usage] = acp.updates(sessionId, 'usage_update');
	assert.equal(usage.used, 120);
	assert.ok(usage.size > 1000);
	assert.equal(acp.updates(sessionId, 'session_info_update')[0].title, 'Say hello');
	assert.ok('result' in acp.messages.at(-1), 'the response is the last message');
	assert.ok(acp.updates(sessionId, 'available_commands_update')[0].availableCommands.some(({ name }) => name === 'status'));
	await acp.end();
	assert.equal(model.requests().length, 1);
});

test('all blocks of a prompt reach the model in one message', options, async (t) => {
	const model = await startModel(t, [say('Seen.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
	await acp.prompt(sessionId, [text('Look:'), { type: 'resource_link', uri: 'file:///w/a.txt', name: 'a.txt' },
		{ type: 'resource', resource: { uri: 'file:///w/b.txt', text: 'the text of b' } },
		{ type: 'image', mimeType: 'image/png', data: pixel }]);
	const message = model.requests()[0].body.input.findLast((item) => item.role === 'user');
	const words = message.content.map((part) => part.text ?? part.image_url).join('\n');
	for (const part of ['Look:', 'file:///w/a.txt', 'file:///w/b.txt', 'the text of b', `data:image/png;base64,${pixel}`])
		assert.ok(words.includes(part), part);
	assert.ok(message.content.some((part) => part.type === 'input_image'));
	await acp.end();
});

test('a command is one tool call with its output', options, async (t) => {
	const model = await startModel(t, [call('exec_command', { cmd: "printf 'one\\n'; exit 3" }, { call_id: 'call_a' }), say('Done.')]);
	const acp = await startAcp(t, model, { config: FULL });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	const [command] = acp.calls(sessionId);
	assert.equal(command.toolCallId, 'call_a');
	assert.equal(command.kind, 'execute');
	assert.equal(command.title, "printf 'one\\n'; exit 3");
	assert.deepEqual(command.rawInput, { command: "printf 'one\\n'; exit 3", cwd: acp.cwd });
	assert.equal(command.status, 'failed');
	assert.deepEqual(command.content, [{ type: 'content', content: text('one\n') }]);
	await acp.end();
});

test('a client that shows terminals gets the output as it comes', options, async (t) => {
	const model = await startModel(t, [run("printf 'ä\\n'"), say('Done.')]);
	const acp = await startAcp(t, model, { config: FULL, capabilities: { _meta: { terminal_output: true } } });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	const [begin] = acp.updates(sessionId, 'tool_call');
	const id = begin.toolCallId;
	assert.deepEqual(begin.content, [{ type: 'terminal', terminalId: id }]);
	assert.deepEqual(begin._meta, { terminal_info: { terminal_id: id, cwd: acp.cwd } });
	const metas = acp.updates(sessionId, 'tool_call_update').map((it) => it._meta ?? {});
	const output = metas.filter((it) => it.terminal_output_delta).map((it) => it.terminal_output_delta);
	assert.equal(output.map((it) => it.data).join(''), 'ä\n');
	assert.ok(output.every((it) => it.terminal_id === id));
	assert.deepEqual(metas.at(-1), { terminal_exit: { terminal_id: id, exit_code: 0, signal: null } });
	assert.equal(acp.calls(sessionId)[0].status, 'completed');
	await acp.end();
});

test('a patch is one tool call with a diff of each file', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const file = (name) => path.join(cwd, name);
	fs.writeFileSync(file('b.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n');
	fs.writeFileSync(file('c.txt'), 'gone\n');
	const model = await startModel(t, [patch('*** Add File: a.txt', '+new', '*** Update File: b.txt', '@@', ' eight', '-nine', '+NINE',
		'*** Delete File: c.txt'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd, config: 'sandbox_mode = "workspace-write"\napproval_policy = "never"' });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	const [edit] = acp.calls(sessionId);
	assert.equal(edit.kind, 'edit');
	assert.equal(edit.title, 'Editing files');
	assert.equal(edit.status, 'completed');
	assert.deepEqual(edit.locations.map((it) => it.path), [file('a.txt'), file('b.txt'), file('c.txt')]);
	assert.deepEqual(edit.content, [
		{ type: 'diff', path: file('a.txt'), oldText: null, newText: 'new\n', _meta: { kind: 'add' } },
		{ type: 'diff', path: file('b.txt'), oldText: 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n',
			newText: 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n', _meta: { kind: 'update' } },
		{ type: 'diff', path: file('c.txt'), oldText: 'gone\n', newText: '', _meta: { kind: 'delete' } }]);
	assert.equal(fs.readFileSync(file('a.txt'), 'utf8'), 'new\n');
	await acp.end();
});

test('a patch that does not fit does not end completed', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	fs.writeFileSync(path.join(cwd, 'b.txt'), 'one\n');
	const model = await startModel(t, [patch('*** Update File: b.txt', '@@', '-other', '+new'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd, config: FULL });
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	assert.ok(acp.calls(sessionId).every((it) => it.status !== 'completed'));
	await acp.end();
});

test('a plan is sent whole each time', options, async (t) => {
	const steps = (...states) => ({ plan: states.map((status, i) => ({ step: `step ${i}`, status })) });
	const model = await startModel(t, [call('update_plan', steps('in_progress', 'pending')),
		call('update_plan', steps('completed', 'completed')), say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	assert.deepEqual(acp.updates(sessionId, 'plan').map((it) => it.entries.map(({ content, status }) => [content, status])),
		[[['step 0', 'in_progress'], ['step 1', 'pending']], [['step 0', 'completed'], ['step 1', 'completed']]]);
	await acp.end();
});

test('a failing model is an error with its message', options, async (t) => {
	const model = await startModel(t, [failed('invalid_prompt', 'This prompt was not liked.'), say('Again.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const { code, message } = await failure(acp.prompt(sessionId, 'go'));
	assert.equal(code, -32603);
	assert.match(message, /This prompt was not liked/);
	assert.equal((await acp.prompt(sessionId, 'again')).stopReason, 'end_turn');
	await acp.end();
});

// --- permissions ----------------------------------------------------------------------------------------------------

test('a command outside the sandbox runs once it is allowed', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [escalated('touch allowed'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	const [{ toolCall, options: offered, ...rest }] = acp.permissions;
	assert.equal(rest.sessionId, sessionId);
	assert.equal(toolCall.toolCallId, acp.calls(sessionId)[0].toolCallId);
	assert.equal(toolCall.title, 'touch allowed');
	assert.equal(toolCall.status, 'pending');
	assert.deepEqual(toolCall.rawInput, { command: 'touch allowed', cwd });
	assert.equal(offered[0].kind, 'allow_once');
	assert.equal(offered.at(-1).kind, 'reject_once');
	assert.ok(fs.existsSync(path.join(cwd, 'allowed')));
	assert.equal(acp.calls(sessionId)[0].status, 'completed');
	await acp.end();
});

for (const [name, outcome] of [['rejected', selected('cancel')], ['cancelled', cancelled], ['unknown', selected('nonsense')],
	['error', null]]) {
	test(`an answer that is not an offered permission is a denial: ${name}`, options, async (t) => {
		const cwd = tempDir(t, 'cwd');
		const model = await startModel(t, [escalated('touch denied'), say('Well.')]);
		const acp = await startAcp(t, model, { cwd, permission: () => {
			if (!outcome) throw new Error('no window');
			return outcome;
		} });
		const { sessionId } = await acp.newSession();
		assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
		assert.ok(!fs.existsSync(path.join(cwd, 'denied')));
		assert.equal(acp.calls(sessionId)[0].status, 'failed');
		await acp.end();
	});
}

test('allow_always is not asked again, and survives the session', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [escalated('mkdir one'), escalated('mkdir one'), say('Done.'), escalated('mkdir one'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd,
		permission: ({ options: offered }) => selected(offered.find((it) => it.kind === 'allow_always').optionId) });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	assert.ok(fs.existsSync(path.join(cwd, 'one')));
	const { optionId } = acp.permissions[0].options.find((it) => it.kind === 'allow_always');
	assert.equal(optionId, 'accept_execpolicy_amendment');
	assert.equal(acp.permissions.length, 1, 'the second command has the allowed prefix');
	assert.deepEqual(acp.calls(sessionId).map((it) => it.status), ['completed', 'failed'], 'both have run');
	const other = await acp.newSession();
	await acp.prompt(other.sessionId, 'go');
	assert.equal(acp.permissions.length, 1, 'the rule was stored');
	assert.match(acp.calls(other.sessionId)[0].content[0].content.text, /exists/);
	await acp.end();
});

test('a patch in read-only mode asks with its diff', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [patch('*** Add File: a.txt', '+new'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	const [{ toolCall, options: offered }] = acp.permissions;
	assert.deepEqual(toolCall.content.at(-1),
		{ type: 'diff', path: path.join(cwd, 'a.txt'), oldText: null, newText: 'new\n', _meta: { kind: 'add' } });
	assert.deepEqual(offered.map((it) => it.kind), ['allow_once', 'allow_always', 'reject_once']);
	assert.equal(fs.readFileSync(path.join(cwd, 'a.txt'), 'utf8'), 'new\n');
	assert.equal(acp.calls(sessionId).length, 1);
	await acp.end();
});

// --- cancel ---------------------------------------------------------------------------------------------------------

test('session/cancel ends a prompt with cancelled, and the next prompt works', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), say('Next.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.notify('session/cancel', { sessionId });
	await acp.notify('session/cancel', { sessionId: 'unknown' });
	const prompt = acp.prompt(sessionId, 'go');
	await acp.until(({ params }) => params?.update?.content?.text === 'Half');
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await prompt).stopReason, 'cancelled');
	assert.equal((await acp.prompt(sessionId, 'next')).stopReason, 'end_turn');
	await acp.end();
});

test('session/cancel ends a running command', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [run('echo $$ > pid; echo up; sleep 1000', { yield_time_ms: 30000 }), say('Next.')]);
	const acp = await startAcp(t, model, { cwd, config: FULL, capabilities: { _meta: { terminal_output: true } } });
	const { sessionId } = await acp.newSession();
	const prompt = acp.prompt(sessionId, 'go');
	await acp.until(({ params }) => params?.update?._meta?.terminal_output_delta);
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await prompt).stopReason, 'cancelled');
	await acp.end();
	const pid = Number(fs.readFileSync(path.join(cwd, 'pid'), 'utf8'));
	assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('session/cancel ends a prompt that waits for a permission', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [escalated('touch never'), say('Next.')]);
	let acp;
	const permission = async ({ sessionId }) => {
		await acp.notify('session/cancel', { sessionId });
		return cancelled;
	};
	acp = await startAcp(t, model, { cwd, permission });
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'cancelled');
	assert.ok(!fs.existsSync(path.join(cwd, 'never')));
	assert.equal((await acp.prompt(sessionId, 'next')).stopReason, 'end_turn');
	await acp.end();
});

test('session/cancel ends a patch that waits for a permission', options, async (t) => {
	const model = await startModel(t, [patch('*** Add File: a.txt', '+new')]);
	const acp = await startAcp(t, model, { permission: () => new Promise(() => {}) });
	const { sessionId } = await acp.newSession();
	const prompt = acp.prompt(sessionId, 'go');
	await acp.until(({ method }) => method === 'session/request_permission');
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await prompt).stopReason, 'cancelled');
	assert.equal(acp.calls(sessionId)[0].status, 'failed');
	await acp.end();
	assert.ok(!fs.existsSync(path.join(acp.cwd, 'a.txt')));
});

test('$/cancel_request answers the prompt with -32800', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), say('Next.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	acp.write(JSON.stringify({ jsonrpc: '2.0', id: 'p', method: 'session/prompt', params: { sessionId, prompt: [text('go')] } }));
	await acp.until(({ params }) => params?.update?.content?.text === 'Half');
	acp.write(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'p' } }));
	const { error } = await acp.until(({ id }) => id === 'p');
	assert.equal(error.code, -32800);
	assert.equal((await acp.prompt(sessionId, 'next')).stopReason, 'end_turn');
	await acp.end();
});

test('a prompt that arrives while one runs joins it', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'more' }, { delta: ' done.' }), say('Both read.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const first = acp.prompt(sessionId, 'first words');
	await acp.until(({ params }) => params?.update?.content?.text === 'Half');
	const second = acp.prompt(sessionId, 'second words');
	await acp.request('session/set_mode', { sessionId, modeId: 'read-only' }); // so the prompt has been read
	await model.openGate('more');
	assert.equal((await first).stopReason, 'end_turn');
	assert.equal((await second).stopReason, 'end_turn');
	assert.deepEqual(textsOf(model.requests()[1], 'user').slice(-2), ['first words', 'second words']);
	await acp.end();
});

test('two sessions run at once without mixing', options, async (t) => {
	const model = await startModel(t, [
		{ when: { contains: 'for one' }, ...reply({ delta: 'one ' }, { gate: 'one' }, { delta: 'one' }) },
		{ when: { contains: 'for two' }, ...reply({ message: 'two two' }) }]);
	const acp = await startAcp(t, model);
	const [one, two] = [await acp.newSession(), await acp.newSession()].map((it) => it.sessionId);
	const first = acp.prompt(one, 'for one');
	await acp.until(({ params }) => params?.update?.content?.text === 'one ');
	assert.equal((await acp.prompt(two, 'for two')).stopReason, 'end_turn');
	await model.openGate('one');
	assert.equal((await first).stopReason, 'end_turn');
	assert.equal(acp.text(one), 'one one');
	assert.equal(acp.text(two), 'two two');
	await acp.end();
});

test('a subagent and the root ask under one call id: what the subagent asks is withdrawn alone', options, async (t) => {
	const asks = (name) => ({ ...escalated(`touch ${name}`).reply[0], call_id: 'same' });
	const cwd = tempDir(t, 'cwd'), open = {};
	const model = await startModel(t, [
		// agent 1 starts agent 2, which asks, and cancels it once the root has asked, too
		{ when: { contains: 'make it', lacks: ['look after it', 'rootword'] }, reply: [asks('of-child')] },
		{ when: { contains: 'look after it', lacks: ['function_call_output', 'rootword'] },
			reply: [{ call: 'subagent_spawn', arguments: { prompt: 'make it' } }] },
		{ when: { contains: 'look after it', lacks: 'rootword' },
			reply: [{ gate: 'root' }, { call: 'subagent_cancel', arguments: { agent_id: 2 } }] },
		{ when: { contains: 'look after it', lacks: 'rootword' }, reply: [{ message: 'It is off.' }], times: 'forever' },
		reply({ call: 'subagent_spawn', arguments: { prompt: 'look after it' } }),
		reply({ gate: 'child' }, asks('of-root')), say('Done.')]);
	const permission = (params) => new Promise((resolve) => {
		const name = JSON.stringify(params).includes('of-child') ? 'child' : 'root';
		open[name] = resolve;
		model.openGate(name);
	});
	const acp = await startAcp(t, model, { cwd, config: 'features.subagent_tools = true\nagents.max_depth = 2\n', permission });
	const { sessionId } = await acp.newSession();
	const prompt = acp.prompt(sessionId, 'rootword');
	const asked = (name) => acp.messages.find(({ method, params }) => method === 'session/request_permission' && JSON.stringify(params).includes(name));
	await acp.until(() => asked('of-root') && acp.messages.some(({ method }) => method === '$/cancel_request'));
	const cancelledIds = acp.messages.filter(({ method }) => method === '$/cancel_request').map(({ params }) => params.requestId);
	assert.deepEqual(cancelledIds, [asked('of-child').id]);
	open.root(selected('allow_once'));
	assert.equal((await prompt).stopReason, 'end_turn');
	assert.deepEqual(fs.readdirSync(cwd), ['of-root']);
	await acp.end();
});
