// `codex mcp-server`, driven by the client of the official SDK.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { atEnd, cleanEnv, codexBin, launch, makeHome, needs, patch, reply, run, say, startModel, tempDir } from './lib/codex.mjs';

const ASKING = { 'approval-policy': 'untrusted', sandbox: 'danger-full-access' };

/** A connected client; `events` receives the params of all codex/event notifications. */
async function connect(t, model, { elicit, args = [] } = {}) {
	const home = makeHome(t, model);
	const cwd = tempDir(t, 'cwd');
	const client = new Client({ name: 'tests', version: '1.0.0' }, { capabilities: elicit ? { elicitation: {} } : {} });
	const transport = new StdioClientTransport({
		command: codexBin, args: ['mcp-server', ...args], cwd, env: { ...cleanEnv(), CODEX_HOME: home }, stderr: 'inherit',
	});
	const events = [], asked = [];
	client.fallbackNotificationHandler = async ({ method, params }) => { if (method === 'codex/event') events.push(params); };
	if (elicit) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => elicit(params));
	await client.connect(transport);
	const { onmessage } = transport; // the SDK drops members that it does not know
	transport.onmessage = (message, extra) => {
		if (message.method === 'elicitation/create') asked.push(message.params);
		onmessage(message, extra);
	};
	atEnd(t, () => client.close()); // before its folders are removed
	const codex = (args, options) => client.callTool({ name: 'codex', arguments: args }, CallToolResultSchema, options);
	const answer = (threadId, prompt) => client.callTool({ name: 'codex-reply', arguments: { threadId, prompt } });
	return { client, codex, answer, events, asked, cwd, home };
}

const types = (events) => events.map(({ msg }) => msg.type);
const until = async (test) => { while (!test()) await new Promise((resolve) => setTimeout(resolve, 5)); };

test('a task is run, and its thread continues', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [say('First.'), say('Second.')]);
	const { client, codex, answer, events } = await connect(t, model);
	assert.deepEqual([client.getServerVersion().name, client.getServerVersion().title], ['codex-mcp-server', 'Codex']);
	const { tools } = await client.listTools();
	assert.deepEqual(tools.map(({ name, title }) => [name, title]), [['codex', 'Codex'], ['codex-reply', 'Codex Reply']]);
	assert.deepEqual(tools[0].inputSchema.required, ['prompt']);
	const first = await codex({ prompt: 'one' });
	const { threadId } = first.structuredContent;
	assert.deepEqual(first.content, [{ type: 'text', text: 'First.' }]);
	assert.equal(first.structuredContent.content, 'First.');
	const kinds = types(events);
	assert.equal(kinds[0], 'session_configured');
	for (const kind of ['task_started', 'agent_message', 'task_complete']) assert.ok(kinds.includes(kind), kind);
	assert.ok(events.every(({ _meta }) => _meta.threadId === threadId && _meta.requestId !== undefined));
	const second = await answer(threadId, 'two');
	assert.deepEqual(second.structuredContent, { threadId, content: 'Second.' });
	assert.match(JSON.stringify((await model.requests()).at(-1).body.input), /one.*First\..*two/s);
});

test('wrong calls are errors of the tool', needs('mcp-server'), async (t) => {
	const { client } = await connect(t, await startModel(t, [say('unused')]));
	const call = async (name, args) => {
		const { isError, content } = await client.callTool({ name, arguments: args });
		assert.equal(isError, true);
		return content[0].text;
	};
	assert.equal(await call('x', {}), "Unknown tool 'x'");
	assert.equal(await call('codex', {}), 'Failed to parse configuration for Codex tool: missing field `prompt`');
	assert.match(await call('codex', { prompt: 'a', sandbox: 'none' }), /unknown variant `none`/);
	assert.match(await call('codex', { prompt: 'a', what: 1 }), /unknown field `what`/);
	assert.match(await call('codex', { prompt: 7 }), /invalid type for `prompt`/);
	assert.match(await call('codex', { prompt: 'a', cwd: 'missing' }), /cwd: .*missing is not a folder/);
	assert.match(await call('codex', { prompt: 'a', config: { model_context_window: 'x' } }), /`model_context_window` must be/);
	assert.equal(await call('codex-reply', { prompt: 'a' }),
		'Failed to parse thread_id: either threadId or conversationId must be provided');
	assert.equal(await call('codex-reply', { prompt: 'a', conversationId: 'nope' }), 'Session not found for thread_id: nope');
});

test('settings of a call count', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [say('ok')]);
	const { codex, cwd } = await connect(t, model);
	fs.mkdirSync(path.join(cwd, 'sub'));
	await codex({ prompt: 'hi', model: 'my-model', cwd: 'sub', 'base-instructions': 'BASE', 'developer-instructions': 'DEVELOPER',
		config: { model_reasoning_summary: 'none', 'features.unified_exec': false } });
	const { body } = (await model.requests())[0];
	assert.equal(body.model, 'my-model');
	assert.equal(body.instructions, 'BASE');
	assert.match(JSON.stringify(body.input), /DEVELOPER/);
	assert.match(JSON.stringify(body.input), new RegExp(path.join(cwd, 'sub')));
});

test('accepting an elicitation approves a command', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [run('touch made'), say('done')]);
	const { codex, asked, cwd } = await connect(t, model, { elicit: () => ({ action: 'accept', content: {} }) });
	const { content, structuredContent: { threadId } } = await codex({ prompt: 'go', ...ASKING });
	assert.equal(content[0].text, 'done');
	assert.ok(fs.existsSync(path.join(cwd, 'made')));
	assert.equal(asked.length, 1);
	const [question] = asked;
	assert.match(question.message, /^Allow Codex to run `.*touch made.*` in `.*`\?$/);
	assert.equal(question.codex_elicitation, 'exec-approval');
	assert.equal(question.threadId, threadId);
	assert.equal(question.codex_cwd, cwd);
	assert.ok(question.codex_command.join(' ').includes('touch made'));
	assert.ok(Array.isArray(question.codex_parsed_cmd));
});

for (const [name, result] of [['declining', { action: 'decline' }], ['cancelling', { action: 'cancel' }]])
	test(`${name} an elicitation denies a command`, needs('mcp-server'), async (t) => {
		const model = await startModel(t, [run('touch made'), say('then not')]);
		const { codex, cwd } = await connect(t, model, { elicit: () => result });
		assert.equal((await codex({ prompt: 'go', ...ASKING })).content[0].text, 'then not');
		assert.equal(fs.existsSync(path.join(cwd, 'made')), false);
	});

test('an answer that fails denies a command', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [run('touch made'), say('then not')]);
	const { codex, cwd } = await connect(t, model, { elicit: () => { throw new Error('no'); } });
	assert.equal((await codex({ prompt: 'go', ...ASKING })).content[0].text, 'then not');
	assert.equal(fs.existsSync(path.join(cwd, 'made')), false);
});

test('a client that cannot ask denies at once', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [run('touch made'), run('touch made2'), say('then not')]);
	const { codex, cwd } = await connect(t, model);
	assert.equal((await codex({ prompt: 'go', ...ASKING })).content[0].text, 'then not');
	assert.equal(fs.existsSync(path.join(cwd, 'made')), false);
});

test('a patch is approved with its changes', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [patch('*** Add File: new.txt', '+text'), say('done')]);
	const { codex, asked, cwd } = await connect(t, model, { elicit: () => ({ action: 'accept', content: {} }) });
	await codex({ prompt: 'go', 'approval-policy': 'untrusted', sandbox: 'read-only' });
	assert.equal(asked[0].message, 'Allow Codex to apply proposed code changes?');
	assert.equal(asked[0].codex_elicitation, 'patch-approval');
	assert.deepEqual(asked[0].codex_changes, { [path.join(cwd, 'new.txt')]: { type: 'add', content: 'text\n' } });
	assert.equal(fs.readFileSync(path.join(cwd, 'new.txt'), 'utf8'), 'text\n');
});

test('a cancelled call is interrupted, and its thread goes on', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [run('sleep 100'), say('again')]);
	const { codex, answer, events } = await connect(t, model);
	const abort = new AbortController();
	const call = codex({ prompt: 'go', 'approval-policy': 'never', sandbox: 'danger-full-access' }, { signal: abort.signal });
	await until(() => types(events).includes('exec_command_begin'));
	abort.abort();
	await assert.rejects(call);
	await until(() => types(events).includes('turn_aborted'));
	const { content } = await answer(events[0]._meta.threadId, 'on');
	assert.equal(content[0].text, 'again');
});

test('calls run side by side, and a busy thread refuses another one', needs('mcp-server'), async (t) => {
	const one = (word) => ({ when: { contains: [word] }, ...say(`answer to ${word}`) });
	const model = await startModel(t, [{ when: { contains: ['waiting'] }, ...run('sleep 100') }, one('alpha'), one('beta')]);
	const { codex, answer, events } = await connect(t, model);
	const abort = new AbortController();
	const slow = codex({ prompt: 'waiting', 'approval-policy': 'never', sandbox: 'danger-full-access' }, { signal: abort.signal });
	slow.catch(() => {});
	await until(() => types(events).includes('exec_command_begin'));
	const busy = await answer(events[0]._meta.threadId, 'more');
	assert.match(busy.content[0].text, /still works on another call/);
	const answers = await Promise.all([codex({ prompt: 'alpha' }), codex({ prompt: 'beta' })]);
	assert.deepEqual(answers.map(({ content }) => content[0].text), ['answer to alpha', 'answer to beta']);
	abort.abort();
});

test('an error of the model is an error of the tool', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [reply({ status: 400, body: { error: { message: 'bad model' } } })]);
	const { codex } = await connect(t, model);
	const { isError, content } = await codex({ prompt: 'hi' });
	assert.equal(isError, true);
	assert.match(content[0].text, /bad model/);
});

test('raw messages are answered by the rules', needs('mcp-server'), async (t) => {
	const home = makeHome(t, await startModel(t, [say('unused')]));
	const { child, done } = launch(t, codexBin, ['mcp-server'], { env: { ...cleanEnv(), CODEX_HOME: home }, cwd: tempDir(t) });
	const init = { jsonrpc: '2.0', id: 'a', method: 'initialize',
		params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'c', version: '1' } } };
	for (const message of ['no json', '', '[]', '{"id":{}}', '{"jsonrpc":"2.0","id":99,"result":{}}', init, { ...init, id: 'b' },
		{ jsonrpc: '2.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: 2, method: 'nope' },
		{ jsonrpc: '2.0', method: 'notifications/nope' }, { jsonrpc: '2.0', id: 3, method: 'tools/call', params: {} },
		{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }])
		child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
	child.stdin.end();
	const { code, stdout } = await done;
	assert.equal(code, 0);
	const answers = stdout.trim().split('\n').map((line) => JSON.parse(line));
	assert.deepEqual(answers.map(({ id, error }) => [id, error?.code]),
		[[null, -32600], [null, -32600], ['a', undefined], ['b', -32600], [1, undefined], [2, -32601], [3, -32602]]);
	assert.equal(answers[2].result.protocolVersion, '2024-11-05');
	assert.deepEqual(answers[4].result, {});
	assert.deepEqual(answers[5].error.data, { method: 'nope' });
});

test('batches are answered in the one revision that has them', needs('mcp-server'), async (t) => {
	const ping = (id) => ({ jsonrpc: '2.0', id, method: 'ping' });
	const answersIn = async (protocolVersion) => {
		const home = makeHome(t, await startModel(t, [say('unused')]));
		const { child, done } = launch(t, codexBin, ['mcp-server'], { env: { ...cleanEnv(), CODEX_HOME: home }, cwd: tempDir(t) });
		for (const message of [{ jsonrpc: '2.0', id: 'a', method: 'initialize',
			params: { protocolVersion, capabilities: {}, clientInfo: { name: 'c', version: '1' } } },
		[ping(1), { jsonrpc: '2.0', method: 'notifications/nope' }, 7, [], { ...ping({}) }, { ...ping(2), method: 'nope' }], [],
		Array.from({ length: 257 }, (_, i) => ping(i))])
			child.stdin.write(`${JSON.stringify(message)}\n`);
		child.stdin.end();
		const { code, stdout } = await done;
		assert.equal(code, 0);
		return stdout.trim().split('\n').map((line) => JSON.parse(line)).map(({ id, error }) => [id, error?.code]);
	};
	const refused = [null, -32600];
	assert.deepEqual(await answersIn('2025-03-26'), [['a', undefined], [1, undefined], refused, [2, -32601], refused, refused]);
	assert.deepEqual(await answersIn('2025-06-18'), [['a', undefined], refused, refused, refused]);
});

test('the end of the input ends commands, too', needs('mcp-server'), async (t) => {
	const model = await startModel(t, [run('echo $$ > pid; sleep 1000')]);
	const { client, codex, cwd } = await connect(t, model);
	codex({ prompt: 'go', 'approval-policy': 'never', sandbox: 'danger-full-access' }).catch(() => {});
	const file = path.join(cwd, 'pid');
	await until(() => fs.existsSync(file) && fs.readFileSync(file, 'utf8').endsWith('\n'));
	const pid = Number(fs.readFileSync(file, 'utf8'));
	await client.close();
	await until(() => { try { process.kill(pid, 0); return false; } catch { return true; } });
});
