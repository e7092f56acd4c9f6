// `codex acp`: stored sessions, modes, options, slash commands, the client's files, questions.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { call, makeHome, needs, patch, reply, rollouts, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { failure, selected, startAcp } from './lib/acp.mjs';
import { startIssuer } from './lib/issuer.mjs';

const options = needs('acp');
const FULL = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"';

/** The updates of session/load that are history. */
const history = (messages) => messages.filter(({ method, params }) => method === 'session/update' &&
	/_chunk$|^tool_call/.test(params.update.sessionUpdate)).map(({ params }) => params.update);

test('session/load sends the history before its response', options, async (t) => {
	const cwd = tempDir(t, 'cwd'), home = makeHome(t, null);
	const model = await startModel(t, [reply({ reasoning: 'Hm.' }, { call: 'exec_command', arguments: { cmd: 'echo out' }, call_id: 'c1' }),
		{ reply: [{ custom: 'apply_patch', call_id: 'c2', input: '*** Begin Patch\n*** Add File: a.txt\n+new\n*** End Patch\n' }] },
		run('exit 4', { call_id: 'c3' }), say('Finished.'), say('More.')]);
	fs.writeFileSync(path.join(home, 'config.toml'), fs.readFileSync(path.join(makeHome(t, model, FULL), 'config.toml')));
	const first = await startAcp(t, null, { home, cwd });
	const { sessionId } = await first.newSession();
	await first.prompt(sessionId, 'begin');
	const live = first.calls(sessionId);
	await first.end();

	const acp = await startAcp(t, null, { home, cwd });
	const before = acp.messages.length;
	const { modes, configOptions } = await acp.request('session/load', { sessionId, cwd, mcpServers: [] });
	const answerAt = acp.messages.findIndex((it, index) => index >= before && it.result);
	const sent = history(acp.messages.slice(before, answerAt));
	assert.equal(history(acp.messages.slice(answerAt)).length, 0, 'nothing of the history follows the response');
	assert.equal(modes.currentModeId, 'agent-full-access');
	assert.deepEqual(configOptions.map(({ id }) => id).slice(0, 3), ['mode', 'collaboration_mode', 'model']);
	assert.deepEqual(sent.filter((it) => it.sessionUpdate === 'user_message_chunk').map((it) => it.content.text), ['begin']);
	assert.deepEqual(sent.filter((it) => it.sessionUpdate === 'agent_message_chunk').map((it) => it.content.text), ['Finished.']);
	const calls = sent.filter((it) => it.sessionUpdate === 'tool_call');
	assert.deepEqual(calls.map((it) => [it.toolCallId, it.status, it.kind]), live.map((it) => [it.toolCallId, it.status, it.kind]));
	assert.deepEqual(calls.map((it) => it.status), ['completed', 'completed', 'failed']);
	assert.deepEqual(calls.map((it) => it.title), live.map((it) => it.title));
	assert.deepEqual(calls[1].content, live[1].content);
	await acp.prompt(sessionId, 'again');
	assert.deepEqual(textsOf(model.requests().at(-1), 'user').slice(-2), ['begin', 'again']);
	await acp.end();
});

test('session/resume opens a session without its history', options, async (t) => {
	const home = makeHome(t, null), cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [say('First.'), say('Second.')]);
	fs.copyFileSync(path.join(makeHome(t, model), 'config.toml'), path.join(home, 'config.toml'));
	const first = await startAcp(t, null, { home, cwd });
	const { sessionId } = await first.newSession();
	await first.prompt(sessionId, 'begin');
	await first.end();
	const acp = await startAcp(t, null, { home, cwd });
	const result = await acp.request('session/resume', { sessionId, cwd });
	assert.ok(result.modes && result.configOptions);
	assert.equal(history(acp.messages).length, 0);
	await acp.prompt(sessionId, 'again');
	assert.equal(acp.text(sessionId), 'Second.');
	assert.deepEqual(textsOf(model.requests().at(-1), 'user').slice(-2), ['begin', 'again']);
	await acp.end();
});

test('a stored session keeps its title', options, async (t) => {
	const home = makeHome(t, null), cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [{ ...reply({ message: 'Hello.' }, { usage: { input_tokens: 100, output_tokens: 20 } }), times: 'forever' }]);
	fs.copyFileSync(path.join(makeHome(t, model), 'config.toml'), path.join(home, 'config.toml'));
	const first = await startAcp(t, null, { home, cwd });
	const { sessionId } = await first.newSession();
	await first.prompt(sessionId, 'Begin the long work that needs more words than the title of a session may have in an editor');
	const title = 'Begin the long work that needs more words than the title of a session may have';
	assert.equal(first.updates(sessionId, 'session_info_update')[0].title, title);
	await first.end();
	for (const method of ['session/load', 'session/resume', 'session/fork']) {
		const acp = await startAcp(t, null, { home, cwd });
		const opened = await acp.request(method, { sessionId, cwd, mcpServers: [] });
		const id = opened.sessionId ?? sessionId;
		await acp.until(({ params }) => params?.update?.sessionUpdate === 'usage_update');
		assert.deepEqual(acp.updates(id, 'session_info_update'), [{ sessionUpdate: 'session_info_update', title }], method);
		assert.equal(acp.updates(id, 'usage_update')[0].used, 120, `${method}: the context is known`);
		const { usage } = await acp.prompt(id, 'again');
		assert.equal(usage.totalTokens, 120, `${method}: the tokens of this prompt alone`);
		assert.ok(acp.updates(id, 'session_info_update').every((it) => it.title === title), method);
		assert.ok((await acp.request('session/list', {})).sessions.every((it) => it.title === title), method);
		await acp.end();
	}
});

test('session/load of an open session sends its history again', options, async (t) => {
	const model = await startModel(t, [say('First.'), say('Second.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'begin');
	const before = acp.messages.length;
	await acp.request('session/load', { sessionId, cwd: acp.cwd, mcpServers: [] });
	assert.deepEqual(history(acp.messages.slice(before)).map((it) => it.content.text), ['begin', 'First.']);
	assert.equal((await acp.prompt(sessionId, 'again')).stopReason, 'end_turn');
	await acp.end();
});

test('an open session without a prompt is loaded and resumed as it is, and its fork is a new one', options, async (t) => {
	const model = await startModel(t, [say('First.'), say('Fork.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.request('session/set_mode', { sessionId, modeId: 'read-only' });
	for (const method of ['session/load', 'session/resume']) {
		const { modes } = await acp.request(method, { sessionId, cwd: acp.cwd, mcpServers: [] });
		assert.equal(modes.currentModeId, 'read-only', method);
	}
	assert.deepEqual(history(acp.messages), []);
	const fork = await acp.request('session/fork', { sessionId, cwd: acp.cwd, mcpServers: [] });
	assert.notEqual(fork.sessionId, sessionId);
	assert.equal((await acp.prompt(sessionId, 'begin')).stopReason, 'end_turn');
	assert.equal((await acp.prompt(fork.sessionId, 'apart')).stopReason, 'end_turn');
	assert.deepEqual(textsOf(model.requests()[1], 'user').slice(-1), ['apart']);
	assert.ok(!textsOf(model.requests()[1], 'user').includes('begin'));
	await acp.end();
});

test('session/fork has the history, and both continue', options, async (t) => {
	const model = await startModel(t, [say('First.'), say('Fork.'), say('Source.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'begin');
	const fork = await acp.request('session/fork', { sessionId, cwd: acp.cwd, mcpServers: [] });
	assert.notEqual(fork.sessionId, sessionId);
	await acp.prompt(fork.sessionId, 'in the fork');
	await acp.prompt(sessionId, 'in the source');
	assert.deepEqual(textsOf(model.requests()[1], 'user').slice(-2), ['begin', 'in the fork']);
	assert.deepEqual(textsOf(model.requests()[2], 'user').slice(-2), ['begin', 'in the source']);
	await acp.end();
});

test('a fork that cannot be opened leaves nothing that keeps its source from being removed', options, async (t) => {
	const model = await startModel(t, [say('First.')]);
	const home = makeHome(t, model, 'model = "gpt-5.5"\n');
	const first = await startAcp(t, model, { home });
	const { sessionId } = await first.newSession();
	await first.prompt(sessionId, 'begin');
	await first.end();
	const config = path.join(home, 'config.toml'), text = fs.readFileSync(config, 'utf8');
	for (const [more, params, code] of [
		['requires_openai_auth = true\n', {}, -32000],
		['', { cwd: '/no/such/folder' }, -32602],
		['', { mcpServers: [{ name: '', command: 'c', args: [], env: [] }] }, -32602],
		['[mcp_servers.s]\ncommand = "/no/such/program"\nrequired = true\n', {}, -32603],
	]) {
		fs.writeFileSync(config, text + more);
		const acp = await startAcp(t, model, { home });
		const error = await failure(acp.request('session/fork', { sessionId, cwd: acp.cwd, mcpServers: [], ...params }));
		assert.equal(error.code, code, JSON.stringify(error));
		await acp.end();
		assert.equal(rollouts(home).length, 1, more);
	}
	fs.writeFileSync(config, text);
	const acp = await startAcp(t, model, { home });
	assert.deepEqual((await acp.request('session/list', {})).sessions.map((it) => it.sessionId), [sessionId]);
	await acp.request('session/delete', { sessionId });
	await acp.end();
});

test('session/list pages through the sessions of a folder', options, async (t) => {
	const folder = tempDir(t, 'folder');
	const model = await startModel(t, [{ ...say('Hello.'), times: 'forever' }]);
	const acp = await startAcp(t, model);
	const made = [];
	for (let i = 0; i < 27; i++) {
		const { sessionId } = await acp.newSession();
		await acp.prompt(sessionId, `prompt ${i}`);
		await acp.request('session/close', { sessionId });
		made.push(sessionId);
	}
	const other = await acp.newSession({ cwd: folder });
	await acp.prompt(other.sessionId, 'elsewhere');
	const first = await acp.request('session/list', { cwd: acp.cwd });
	const second = await acp.request('session/list', { cwd: acp.cwd, cursor: first.nextCursor });
	const listed = [...first.sessions, ...second.sessions];
	assert.deepEqual(listed.map((it) => it.sessionId).sort(), [...made].sort());
	assert.ok(!second.nextCursor);
	assert.ok(listed.every((it) => it.cwd === acp.cwd && /^prompt \d+$/.test(it.title) && Date.parse(it.updatedAt)));
	assert.deepEqual((await acp.request('session/list', { cwd: folder })).sessions.map((it) => it.title), ['elsewhere']);
	assert.equal((await acp.request('session/list', {})).sessions[0].sessionId, other.sessionId);
	assert.equal((await failure(acp.request('session/list', { cursor: 'nonsense' }))).code, -32602);
	await acp.end();
});

test('session/close frees a session, which stays listed; session/delete removes it', options, async (t) => {
	const model = await startModel(t, [say('Hello.'), reply({ delta: 'Half' }, { hang: true })]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'hi');
	const running = acp.prompt(sessionId, 'more');
	await acp.until(({ params }) => params?.update?.content?.text === 'Half');
	await acp.request('session/close', { sessionId });
	assert.equal((await running).stopReason, 'cancelled');
	assert.deepEqual(await failure(acp.prompt(sessionId, 'again')).then(({ code, data }) => ({ code, data })),
		{ code: -32002, data: { sessionId } });
	assert.equal((await acp.request('session/list', {})).sessions.length, 1);
	await acp.request('session/delete', { sessionId });
	await acp.request('session/delete', { sessionId });
	await acp.request('session/delete', { sessionId: 'unknown' });
	assert.equal((await acp.request('session/list', {})).sessions.length, 0);
	assert.deepEqual(rollouts(acp.home), []);
	assert.equal((await failure(acp.request('session/load', { sessionId, cwd: acp.cwd, mcpServers: [] }))).code, -32002);
	await acp.end();
});

test('session/delete removes the note of the session', options, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'hi');
	const note = path.join(acp.home, 'thread_notes', `${sessionId}.json`);
	fs.mkdirSync(path.dirname(note), { recursive: true });
	fs.writeFileSync(note, '{}');
	await acp.request('session/delete', { sessionId });
	assert.ok(!fs.existsSync(note));
	await acp.end();
});

test('session/delete of an open session closes it', options, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'hi');
	await acp.request('session/delete', { sessionId });
	assert.equal((await failure(acp.prompt(sessionId, 'again'))).code, -32002);
	assert.deepEqual(rollouts(acp.home), []);
	await acp.end();
});

// --- modes and options ----------------------------------------------------------------------------------------------

for (const [config, mode, count] of [['', 'read-only', 4], ['sandbox_mode = "workspace-write"', 'workspace-write', 4],
	[FULL, 'agent-full-access', 4], ['approval_policy = "untrusted"\nsandbox_mode = "workspace-write"', 'config', 5]]) {
	test(`the mode at the start is that of config.toml: ${mode}`, options, async (t) => {
		const model = await startModel(t, [say('Hello.')]);
		const acp = await startAcp(t, model, { config });
		const { modes } = await acp.newSession();
		assert.equal(modes.currentModeId, mode);
		assert.equal(modes.availableModes.length, count);
		await acp.end();
	});
}

test('a mode takes effect with the next prompt', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [patch('*** Add File: a.txt', '+new'), say('Done.'), run('touch b'), say('Done.')]);
	const acp = await startAcp(t, model, { cwd });
	const { sessionId } = await acp.newSession();
	assert.deepEqual(await acp.request('session/set_mode', { sessionId, modeId: 'workspace-write' }), {});
	await acp.prompt(sessionId, 'go');
	assert.equal(acp.permissions.length, 0);
	assert.ok(fs.existsSync(path.join(cwd, 'a.txt')));
	assert.deepEqual(acp.updates(sessionId, 'current_mode_update').map((it) => it.currentModeId), ['workspace-write']);
	const { configOptions } = await acp.request('session/set_config_option', { sessionId, configId: 'mode', value: 'agent-full-access' });
	assert.equal(configOptions.find((it) => it.id === 'mode').currentValue, 'agent-full-access');
	await acp.prompt(sessionId, 'go');
	assert.equal(acp.permissions.length, 0);
	assert.ok(fs.existsSync(path.join(cwd, 'b')));
	await acp.end();
});

test('options take effect with the next prompt', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.')]);
	const acp = await startAcp(t, model, { config: 'model = "house-model"' });
	const { sessionId, configOptions } = await acp.newSession();
	const find = (list, id) => list.find((it) => it.id === id);
	const set = (configId, value) => acp.request('session/set_config_option', { sessionId, configId, value });
	assert.equal(find(configOptions, 'model').currentValue, 'house-model');
	assert.ok(find(configOptions, 'model').options.some((it) => it.value === 'house-model'));
	assert.ok(!find(configOptions, 'reasoning_effort'), 'an unknown model has no effort');
	const known = find(configOptions, 'model').options.find((it) => it.value !== 'house-model').value;
	const after = (await set('model', known)).configOptions;
	const effort = find(after, 'reasoning_effort');
	assert.ok(effort.options.length > 1);
	const value = effort.options.find((it) => it.value !== effort.currentValue).value;
	assert.equal(find((await set('reasoning_effort', value)).configOptions, 'reasoning_effort').currentValue, value);
	await acp.prompt(sessionId, 'go');
	assert.equal(model.requests()[0].body.model, known);
	assert.equal(model.requests()[0].body.reasoning.effort, value);
	await set('collaboration_mode', 'plan');
	await acp.prompt(sessionId, 'plan it');
	assert.match(JSON.stringify(model.requests()[1].body.input), /[Pp]lan mode/);
	assert.equal(acp.updates(sessionId, 'config_option_update').length, 3);
	for (const [configId, wrong] of [['model', 'nonsense'], ['nonsense', 'x'], ['mode', 'nonsense'], ['model', true]])
		assert.equal((await failure(set(configId, wrong))).code, -32602);
	assert.equal((await failure(acp.request('session/set_mode', { sessionId, modeId: 'nonsense' }))).code, -32602);
	await acp.end();
});

test('additionalDirectories are writable', options, async (t) => {
	const extra = tempDir(t, 'extra');
	const model = await startModel(t, [patch(`*** Add File: ${extra}/a.txt`, '+new'), say('Done.')]);
	const config = 'sandbox_mode = "workspace-write"\n[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true';
	const acp = await startAcp(t, model, { config });
	const { sessionId } = await acp.newSession({ additionalDirectories: [extra] });
	await acp.prompt(sessionId, 'go');
	assert.equal(acp.permissions.length, 0);
	assert.ok(fs.existsSync(path.join(extra, 'a.txt')));
	assert.equal((await failure(acp.newSession({ additionalDirectories: ['here'] }))).code, -32602);
	await acp.end();
});

// --- slash commands -------------------------------------------------------------------------------------------------

test('/status, /mcp and /skills answer without the model', options, async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const acp = await startAcp(t, model, { config: 'model = "house-model"' });
	fs.mkdirSync(path.join(acp.home, 'skills/greet'), { recursive: true });
	fs.writeFileSync(path.join(acp.home, 'skills/greet/SKILL.md'), '---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n');
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, '/status')).stopReason, 'end_turn');
	for (const part of ['house-model', acp.cwd, 'on-request', 'read-only', sessionId]) assert.ok(acp.text(sessionId).includes(part), part);
	await acp.prompt(sessionId, '/mcp');
	assert.match(acp.text(sessionId), /No MCP servers/);
	await acp.until(({ params }) => params?.update?.availableCommands?.some(({ name }) => name === '$greet'));
	await acp.prompt(sessionId, '/skills');
	assert.match(acp.text(sessionId), /\$greet: Says hello/);
	assert.equal(model.requests().length, 0);
	await acp.end();
});

test('/compact and /review run their tasks, and unknown commands reach the model', options, async (t) => {
	const finding = { findings: [], overall_correctness: 'patch is correct', overall_explanation: 'All good.', overall_confidence_score: 1 };
	const model = await startModel(t, [say('Hello.'), say('The summary.'), say(JSON.stringify(finding)), say('What?')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'hi');
	assert.equal((await acp.prompt(sessionId, '/compact')).stopReason, 'end_turn');
	assert.equal((await acp.prompt(sessionId, '/review the names')).stopReason, 'end_turn');
	assert.match(acp.text(sessionId), /All good\./);
	assert.equal((await acp.prompt(sessionId, '/nonsense here')).stopReason, 'end_turn');
	assert.equal(textsOf(model.requests()[3], 'user').at(-1), '/nonsense here');
	await acp.end();
});

test('/rename sets the title, and /plan the collaboration mode', options, async (t) => {
	const model = await startModel(t, [say('Hello.'), say('A plan.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'hi');
	assert.equal((await acp.prompt(sessionId, '/rename Better words')).stopReason, 'end_turn');
	assert.equal(acp.updates(sessionId, 'session_info_update').at(-1).title, 'Better words');
	assert.equal((await acp.request('session/list', {})).sessions[0].title, 'Better words');
	await acp.prompt(sessionId, '/plan the work');
	assert.equal(acp.updates(sessionId, 'config_option_update').at(-1).configOptions.find((it) => it.id === 'collaboration_mode').currentValue, 'plan');
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'the work');
	await acp.end();
});

test('/goal works turn after turn, and its prompt is answered at the end', options, async (t) => {
	const model = await startModel(t, [say('one'), call('update_goal', { status: 'complete' }), say('done')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const ask = async (words) => {
		const before = acp.text(sessionId).length;
		assert.equal((await acp.prompt(sessionId, words)).stopReason, 'end_turn');
		return acp.text(sessionId).slice(before);
	};
	assert.match(await ask('/goal'), /No goal is set/);
	assert.match(await ask('/goal pause'), /no goal exists/);
	assert.match(await ask('/goal make it work'), /one[^]*done/);
	assert.equal(model.requests().length, 3);
	assert.match(await ask('/goal'), /- Goal: make it work\n- Status: complete\n- Tokens: \d+\n- Time: \d+ s/);
	assert.match(await ask('/goal clear'), /The goal was removed/);
	assert.match(await ask('/goal clear'), /No goal is set/);
	await acp.end();
});

test('session/cancel pauses a goal, which /goal resume continues', options, async (t) => {
	const model = await startModel(t, [say('one'), reply({ delta: 'two' }, { hang: true }), call('update_goal', { status: 'blocked' }), say('stuck')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	const goal = acp.prompt(sessionId, '/goal never ends');
	await acp.until(({ params }) => params?.update?.content?.text === 'two');
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await goal).stopReason, 'cancelled');
	await acp.prompt(sessionId, '/goal');
	assert.match(acp.text(sessionId), /Status: paused/);
	assert.equal((await acp.prompt(sessionId, '/goal resume')).stopReason, 'end_turn');
	assert.match(acp.text(sessionId), /stuck$/);
	await acp.end();
	assert.equal(model.requests().length, 4);
});

// --- the client's files, questions ------------------------------------------------------------------------------------

const FILES = { fs: { readTextFile: true, writeTextFile: true } };

test('the model reads unsaved text through the editor', options, async (t) => {
	const asked = [];
	const model = await startModel(t, [call('read_editor_file', { path: 'a.txt', line: 2, limit: 3 }), say('Done.')]);
	const acp = await startAcp(t, model, { capabilities: FILES, handlers: { 'fs/read_text_file': (params) => {
		asked.push(params);
		return { content: 'unsaved words' };
	} } });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	assert.deepEqual(asked, [{ sessionId, path: path.join(acp.cwd, 'a.txt'), line: 2, limit: 3 }]);
	assert.match(JSON.stringify(model.requests()[1].body.input), /unsaved words/);
	assert.deepEqual(acp.calls(sessionId).map((it) => [it.kind, it.status]), [['read', 'completed']]);
	assert.equal(acp.permissions.length, 0);
	await acp.end();
});

test('a write through the editor needs a permission, also in the workspace', options, async (t) => {
	const written = [];
	const model = await startModel(t, [call('write_editor_file', { path: 'a.txt', content: 'new' }),
		call('write_editor_file', { path: 'a.txt', content: 'newer' }), say('Done.')]);
	const acp = await startAcp(t, model, { config: 'sandbox_mode = "workspace-write"', capabilities: FILES,
		permission: (params, count) => selected(count === 1 ? 'allow_once' : 'cancel'),
		handlers: { 'fs/write_text_file': (params) => (written.push(params), {}) } });
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	assert.deepEqual(written, [{ sessionId, path: path.join(acp.cwd, 'a.txt'), content: 'new' }]);
	assert.equal(acp.permissions.length, 2);
	assert.deepEqual(acp.calls(sessionId).map((it) => it.status), ['completed', 'failed']);
	await acp.end();
});

for (const [name, readTextFile, oldText] of [['the editor', true, 'unsaved words'], ['the disk', false, 'saved words']]) {
	test(`a write through the editor shows the text before from ${name}`, options, async (t) => {
		const model = await startModel(t, [call('write_editor_file', { path: 'a.txt', content: 'new' }),
			call('write_editor_file', { path: 'missing.txt', content: 'new' }), say('Done.')]);
		const acp = await startAcp(t, model, { capabilities: { fs: { readTextFile, writeTextFile: true } }, handlers: {
			'fs/write_text_file': () => ({}),
			'fs/read_text_file': ({ path: file }) => {
				if (file.endsWith('missing.txt')) throw new Error('no such file');
				return { content: 'unsaved words' };
			} } });
		const file = (it) => path.join(acp.cwd, it);
		fs.writeFileSync(file('a.txt'), 'saved words');
		const { sessionId } = await acp.newSession();
		await acp.prompt(sessionId, 'go');
		const diffs = [{ type: 'diff', path: file('a.txt'), oldText, newText: 'new' },
			{ type: 'diff', path: file('missing.txt'), oldText: null, newText: 'new' }];
		assert.deepEqual(acp.permissions.map(({ toolCall }) => toolCall.content), diffs.map((it) => [it]));
		assert.deepEqual(acp.calls(sessionId).map((it) => it.content), diffs.map((it) => [it]));
		assert.deepEqual(acp.calls(sessionId).map((it) => it.status), ['completed', 'completed']);
		await acp.end();
	});
}

for (const [name, config, count] of [['never asks refuses it', 'approval_policy = "never"\nsandbox_mode = "workspace-write"', 0],
	['allows everything does not ask', FULL, 1]]) {
	test(`a write through the editor under a policy that ${name}`, options, async (t) => {
		const written = [];
		const model = await startModel(t, [call('write_editor_file', { path: 'a.txt', content: 'new' }), say('Done.')]);
		const acp = await startAcp(t, model, { config, capabilities: FILES,
			handlers: { 'fs/write_text_file': (params) => (written.push(params), {}) } });
		const { sessionId } = await acp.newSession();
		await acp.prompt(sessionId, 'go');
		assert.equal(written.length, count);
		assert.equal(acp.permissions.length, 0);
		await acp.end();
	});
}

test('a client without files does not offer their tools', options, async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	await acp.prompt(sessionId, 'go');
	assert.ok(!JSON.stringify(model.requests()[0].body.tools).includes('editor_file'));
	await acp.end();
});

const question = { questions: [{ id: 'colour', header: 'Colour', question: 'Which colour?', options: [
	{ label: 'Red', description: 'Warm.' }, { label: 'Blue', description: 'Cold.' }] }] };

test('the model\'s questions are permission requests, or a form', options, async (t) => {
	for (const form of [false, true]) {
		const model = await startModel(t, [call('request_user_input', question), say('Done.')]);
		const asked = [];
		const acp = await startAcp(t, model, { capabilities: form ? { elicitation: { form: {} } } : {}, permission: () => selected('Blue'),
			handlers: { 'elicitation/create': (params) => (asked.push(params), { action: 'accept', content: { colour: 'Blue' } }) } });
		const { sessionId } = await acp.newSession();
		await acp.request('session/set_config_option', { sessionId, configId: 'collaboration_mode', value: 'plan' });
		await acp.prompt(sessionId, 'go');
		assert.match(JSON.stringify(model.requests()[1].body.input.at(-1)), /Blue/);
		if (form) assert.deepEqual(asked[0].requestedSchema.properties.colour.oneOf.map((it) => it.const), ['Red', 'Blue']);
		else assert.deepEqual(acp.permissions[0].options.map((it) => it.name), ['Red', 'Blue']);
		await acp.end();
	}
});

// --- credentials ----------------------------------------------------------------------------------------------------

test('authenticate stores a key and logout removes it', options, async (t) => {
	const acp = await startAcp(t, null);
	assert.equal((await failure(acp.request('authenticate', { methodId: 'nonsense' }))).code, -32602);
	assert.equal((await failure(acp.request('authenticate', { methodId: 'api-key' }))).code, -32000);
	assert.deepEqual(await acp.request('authenticate', { methodId: 'api-key', _meta: { 'api-key': { apiKey: 'sk-test-words' } } }), {});
	const file = path.join(acp.home, 'auth.json');
	assert.match(fs.readFileSync(file, 'utf8'), /sk-test-words/);
	assert.deepEqual(await acp.request('authenticate', { methodId: 'api-key' }), {});
	assert.deepEqual(await acp.request('logout', {}), {});
	assert.ok(!fs.existsSync(file) || !/sk-test-words/.test(fs.readFileSync(file, 'utf8')));
	await acp.end();
});

test('authenticate and logout take effect in the order in which they were sent', options, async (t) => {
	const acp = await startAcp(t, null), key = { methodId: 'api-key', _meta: { 'api-key': { apiKey: 'sk-test-words' } } };
	const outcome = (request) => request.then(() => 'ok', () => 'none');
	for (let i = 0; i < 20; i++) {
		const sent = [['authenticate', key], ['authenticate', { methodId: 'api-key' }], ['logout', {}], ['authenticate', { methodId: 'api-key' }],
			['authenticate', key], ['logout', {}], ['authenticate', key], ['authenticate', { methodId: 'api-key' }]];
		assert.deepEqual(await Promise.all(sent.map(([method, params]) => outcome(acp.request(method, params)))),
			['ok', 'ok', 'ok', 'none', 'ok', 'ok', 'ok', 'ok']);
	}
	await acp.end();
});

test('a provider without a key needs authentication', options, async (t) => {
	const home = tempDir(t, 'home');
	const acp = await startAcp(t, null, { home });
	assert.equal((await failure(acp.newSession())).code, -32000);
	await acp.request('authenticate', { methodId: 'api-key', _meta: { 'api-key': { apiKey: 'sk-test-words' } } });
	assert.ok((await acp.newSession()).sessionId);
	await acp.end();
});

for (const how of ['the method', 'the command']) {
	test(`a logout by ${how} revokes the tokens of a login`, options, async (t) => {
		const issuer = await startIssuer(t);
		const home = issuer.home(tempDir(t, 'home'));
		const acp = await startAcp(t, null, { home, env: issuer.env });
		const { refresh_token: token } = JSON.parse(fs.readFileSync(path.join(home, 'auth.json'), 'utf8')).tokens;
		if (how === 'the method') {
			assert.deepEqual(await acp.request('logout', {}), {});
		} else {
			const { sessionId } = await acp.newSession();
			assert.equal((await acp.prompt(sessionId, '/logout')).stopReason, 'end_turn');
			assert.match(acp.text(sessionId), /The stored login was removed/);
			await acp.prompt(sessionId, '/logout');
			assert.match(acp.text(sessionId), /No login was stored/);
		}
		assert.equal(issuer.refreshTokens.get(token), 'revoked');
		assert.ok(!fs.existsSync(path.join(home, 'auth.json')));
		await acp.end();
	});
}
