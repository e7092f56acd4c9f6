// The tools of scripts that are not commands: hooks around calls, MCP servers, tools of the client, goals, subagents.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { engines, runScript, script, shown, startThread, wait } from './lib/code_mode.mjs';
import { call, needs, reply, say, tempDir } from './lib/codex.mjs';
import { configOf, ECHO, WRITE } from './lib/mcp.mjs';

const server = needs('app-server');
const group = (command, more) => ({ hooks: [{ type: 'command', command }], ...more });
const print = (value) => `printf '%s' '${JSON.stringify(value)}'`;
const specific = (hookEventName, more) => print({ hookSpecificOutput: { hookEventName, ...more } });
const itemsOf = (client, type) => client.all('item/completed').map(({ params }) => params.item).filter((item) => item.type === type);
const exists = async (file) => {
	while (!fs.existsSync(file)) await new Promise((wake) => setTimeout(wake, 10));
};

test('hooks run around the calls of scripts as around direct calls', server, async (t) => {
	const spy = path.join(tempDir(t, 'spy'), 'log');
	const thread = await startThread(t, [script(`
		const run = async (cmd) => { try { text((await tools.exec_command({cmd})).output) } catch (e) { text(typeof e + ' ' + e) } };
		await run('echo denied'); await run('echo changed'); await run('echo withheld'); await run('echo plain')`)], { hooks: {
		PreToolUse: [group(`x=$(cat); printf '%s\\n' "$x" >> ${spy}; case $x in
			*'"tool_name":"exec"'*) ;;
			*'echo denied'*) ${specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'not this' })} ;;
			*'echo changed'*) ${specific('PreToolUse', { permissionDecision: 'allow', updatedInput: { command: 'echo other' } })} ;;
			*) ${specific('PreToolUse', { additionalContext: 'seen' })} ;;
			esac`)],
		PostToolUse: [group(`case $(cat) in *'"tool_name":"exec"'*) ;;
			*'echo withheld'*) ${print({ decision: 'block', reason: 'kept back' })} ;; esac`)],
	} });
	await thread.turn();
	const { texts } = shown(thread.outputs()[0]);
	assert.match(texts[0], /^string .*not this/);
	assert.equal(texts[1], 'other\n');
	assert.match(texts[2], /^string .*kept back/);
	assert.equal(texts[3], 'plain\n');
	const inputs = fs.readFileSync(spy, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
	const commands = inputs.filter(({ tool_name }) => tool_name === 'Bash');
	assert.deepEqual(commands.map(({ tool_input }) => tool_input.command), ['echo denied', 'echo changed', 'echo withheld', 'echo plain']);
	assert.ok(commands.every(({ tool_use_id }) => /^exec-[0-9a-f-]{36}$/.test(tool_use_id)));
	const seen = thread.model.requests().at(-1).body.input.filter((item) => item.content?.[0].text === 'seen');
	assert.equal(seen.length, 2);
});

test('a hook that ends a request releases the answer that the request has held', server, async (t) => {
	const folder = tempDir(t, 'gate');
	const decide = specific('PermissionRequest', { decision: { behavior: 'deny', message: 'never' } });
	const thread = await startThread(t, [
		script(`// @exec: {"yield_time_ms": 0}
			try { await tools.exec_command({cmd: 'touch asked'}) } catch {}
			await new Promise((r) => setTimeout(r, 600000))`),
		reply({ start: true }, { gate: 'asking' }, { call: 'wait', arguments: { cell_id: '1', yield_time_ms: 0 } }),
		wait({ cell_id: '1', terminate: true }),
	], { config: 'approval_policy = "untrusted"',
		hooks: { PermissionRequest: [group(`touch ${folder}/asking; while [ ! -e ${folder}/go ]; do sleep 0.02; done; ${decide}`)] } });
	await thread.start();
	await exists(path.join(folder, 'asking'));
	await thread.model.openGate('asking');
	for (let i = 0; i < 20; i++) await thread.server.request('thread/loaded/list'); // the call of wait begins meanwhile
	fs.writeFileSync(path.join(folder, 'go'), '');
	await thread.server.next('turn/completed');
	const outputs = thread.outputs().map(shown);
	assert.match(outputs[1].head, /running with cell ID 1/);
	assert.match(outputs[2].head, /terminated/);
});

const ASK = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };

test('a question that its server withdraws releases the answer that it has held', server, async (t) => {
	const done = { content: [{ type: 'text', text: 'withdrawn' }] };
	const config = configOf({ s: { tools: [ECHO], answers: { echo: { ask: ASK, withdraw: done, linger: 600000 } } } });
	const thread = await startThread(t, [script('// @exec: {"yield_time_ms": 100}\nawait tools.mcp__s__echo({})'),
		wait({ cell_id: '1', terminate: true })], { config });
	await thread.turn();
	const outputs = thread.outputs().map(shown);
	assert.match(outputs[0].head, /running with cell ID 1/);
	assert.match(outputs[1].head, /terminated/);
});

test('the end of an automatic review releases the answer that the review has held', server, async (t) => {
	const verdict = '{"outcome":"deny","risk_level":"high","user_authorization":"low","rationale":"Nobody asked for it."}';
	const review = { when: { header: { 'x-openai-subagent': 'guardian' } }, reply: [{ start: true }, { gate: 'review' }, { message: verdict }] };
	const own = { when: { header: { 'x-openai-subagent': null } } };
	const thread = await startThread(t, [review, { ...own, ...script(`// @exec: {"yield_time_ms": 0}
			const escalated = {cmd: 'touch made', sandbox_permissions: 'require_escalated', justification: 'j'};
			try { await tools.exec_command(escalated) } catch {}
			await new Promise((r) => setTimeout(r, 600000))`) },
	{ ...own, ...reply({ start: true }, { gate: 'asking' }, { call: 'wait', arguments: { cell_id: '1', yield_time_ms: 0 } }) },
	{ ...own, ...wait({ cell_id: '1', terminate: true }) }], {
		config: 'approval_policy = "on-request"\napprovals_reviewer = "auto_review"\n', params: { sandbox: 'workspace-write' } });
	await thread.start();
	await thread.server.next('item/autoApprovalReview/started');
	await thread.model.openGate('asking');
	for (let i = 0; i < 20; i++) await thread.server.request('thread/loaded/list'); // the call of wait begins meanwhile
	assert.equal(thread.model.requests().length, 3, 'the answer is held');
	await thread.model.openGate('review');
	await thread.server.next('turn/completed');
	const outputs = thread.outputs().map(shown);
	assert.match(outputs[1].head, /running with cell ID 1/);
	assert.match(outputs[2].head, /terminated/);
	assert.ok(!fs.existsSync(path.join(thread.server.cwd, 'made')));
});

test('a command of a script keeps the folders that were granted when it began', server, async (t) => {
	const [a, b] = ['a', 'b'].map((name) => tempDir(t, name));
	const ask = (dir) => `tools.request_permissions({reason: 'r', permissions: {file_system: {write: [${JSON.stringify(dir)}]}}})`;
	const touch = (file) => `tools.exec_command({cmd: 'touch ${file} && echo made', login: false})`;
	const thread = await startThread(t, [script(`await ${ask(a)}; const first = ${touch(`${a}/x`)}, more = ${ask(b)};
		text((await first).output); await more; text((await ${touch(`${b}/y`)}).output)`)], {
		config: 'approval_policy = "on-request"\n[features]\nrequest_permissions_tool = true\n', params: { sandbox: 'read-only' } });
	await thread.start();
	for (const dir of [a, b]) {
		const request = await thread.server.next('item/permissions/requestApproval');
		thread.server.answer(request, { permissions: { fileSystem: { write: [dir] } }, scope: 'turn' });
	}
	await thread.server.next('turn/completed');
	assert.deepEqual(shown(thread.outputs()[0]).texts, ['made\n', 'made\n']);
});

test('a reload waits for the calls of scripts, which end on their server', server, async (t) => {
	const folder = tempDir(t, 'log'), old = path.join(folder, 'old'), fresh = path.join(folder, 'new');
	const has = (log, what) => fs.existsSync(log) && fs.readFileSync(log, 'utf8').includes(what);
	const started = (log) => has(log, '"started"');
	const slow = { log: old, tools: [ECHO, { ...ECHO, name: 'free' }], answers: { echo: { after: 'free' } } };
	const thread = await startThread(t, [
		script('// @exec: {"yield_time_ms": 100}\ntext((await tools.mcp__s__echo({})).content[0].text)'), say('first'),
		say('second'),
		script('await tools.mcp__s__free({})'), wait({ cell_id: '1', yield_time_ms: 60000 }), say('third'),
		script('text((await tools.mcp__s__echo({})).content[0].text)'), say('fourth')], { config: configOf({ s: slow }) });
	await thread.turn(); // the call outlives it, and may not have been made yet
	while (!has(old, '"tools/call"')) await new Promise((wake) => setTimeout(wake, 20));
	const file = path.join(thread.server.home, 'config.toml'), text = fs.readFileSync(file, 'utf8');
	fs.writeFileSync(file, text.slice(0, text.indexOf('[mcp_servers')) +
		configOf({ s: { log: fresh, tools: [ECHO], answers: { echo: { content: [{ type: 'text', text: 'new server' }] } } } }));
	await thread.server.request('config/mcpServer/reload');
	await thread.turn();
	assert.ok(!started(fresh), 'the old server has a call');
	await thread.turn();
	assert.match(JSON.stringify(thread.outputs().at(-1)), /after free/);
	await thread.turn();
	assert.match(JSON.stringify(thread.outputs().at(-1)), /new server/);
	assert.ok(started(fresh));
	assert.equal((await thread.server.end()).code, 0);
});

for (const engine of engines) {
	describe(engine, server, () => {
		test('the tools of MCP servers return their results, errors too', async (t) => {
			const config = configOf({ s: { tools: [ECHO, { ...ECHO, name: 'say-more' }, WRITE], answers: {
				'say-more': [{ content: [{ type: 'text', text: 'no' }], isError: true }, { error: { code: -32000, message: 'broke' } },
					{ content: [], structuredContent: { n: 1 } }] } } });
			const { texts, thread } = await runScript(t, `text(await tools.mcp__s__echo({say: 'hi'}));
				for (let i = 0; i < 3; i++) text(await tools.mcp__s__say_more({}));
				try { await tools.mcp__s__echo('hi') } catch (e) { text(typeof e) }
				text(ALL_TOOLS.find(({name}) => name === 'mcp__s__say_more').description.includes('declare const tools'));
				text((await tools.list_mcp_resources({})).resources.length)`, { engine, config });
			const values = texts.slice(0, 4).map((value) => JSON.parse(value));
			assert.deepEqual(values[0].content, [{ type: 'text', text: '{"say":"hi"}' }]);
			assert.deepEqual([values[1].isError, values[1].content[0].text], [true, 'no']);
			assert.equal(values[2].isError, true);
			assert.match(values[2].content[0].text, /broke/);
			assert.deepEqual(values[3].structuredContent, { n: 1 });
			assert.deepEqual(texts.slice(4), ['string', 'true', '0']);
			const items = itemsOf(thread.server, 'mcpToolCall');
			assert.deepEqual(items.map(({ server, tool }) => `${server} ${tool}`), ['s echo', 's say-more', 's say-more', 's say-more',
				'codex list_mcp_resources']);
			assert.ok(items.every(({ id }) => /^exec-[0-9a-f-]{36}$/.test(id)));
			const { tools } = thread.model.requests()[0].body.input[0];
			assert.ok(!tools.some(({ name }) => name.startsWith('mcp__')), 'nor are they offered beside exec');
		});

		test('the tools of the client return their text', async (t) => {
			const fn = (name) => ({ type: 'function', name, description: 'd', inputSchema: { type: 'object' } });
			const thread = await startThread(t, [script(`text(await tools.lookup({query: 'q'}));
				try { await tools.lookup({}) } catch (e) { text(typeof e + ' ' + e) }
				text(await tools.own__more({}))`)], { engine, params: { dynamicTools: [fn('lookup'),
				{ type: 'namespace', name: 'own', description: '', tools: [fn('more')] }] } });
			await thread.start();
			const answers = [[true, 'found'], [false, 'nothing'], [true, 'more']];
			for (const [success, words] of answers) {
				const asked = await thread.server.next('item/tool/call');
				assert.match(asked.params.callId, /^exec-/);
				thread.server.answer(asked, { success, contentItems: [{ type: 'inputText', text: words }] });
			}
			await thread.server.next('turn/completed');
			assert.deepEqual(shown(thread.outputs()[0]).texts, ['found', 'string nothing', 'more']);
			assert.equal(itemsOf(thread.server, 'dynamicToolCall').length, 3);
		});

		test('a script asks for the time', async (t) => {
			const { texts, thread } = await runScript(t, 'text((await tools.clock__curr_time({})).current_time)', { engine });
			assert.match(texts[0], /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
			assert.ok(Math.abs(Date.parse(texts[0]) - Date.now()) < 600_000);
			const names = thread.model.requests()[0].body.input[0].tools[0].tools.map(({ name }) => name);
			assert.ok(!names.includes('clock__curr_time'));
		});

		test('a script sets, reads and ends a goal', async (t) => {
			const { texts, thread } = await runScript(t, `const made = await tools.create_goal({objective: 'make it work', token_budget: 900000});
				text(made.goal.objective); text((await tools.get_goal({})).goal.status);
				text(Object.keys(made).sort().join());
				try { await tools.create_goal({objective: 'another'}) } catch (e) { text(typeof e) }
				text(made.completionBudgetReport);
				const ended = await tools.update_goal({status: 'complete'});
				text(ended.goal.status); text(ended.completionBudgetReport)`, { engine });
			assert.deepEqual(texts.slice(0, 6),
				['make it work', 'active', 'completionBudgetReport,goal,remainingTokens', 'string', 'null', 'complete']);
			assert.match(texts[6], /tokensUsed/);
			assert.equal(thread.server.all('thread/goal/updated').at(-1).params.goal.status, 'complete');
		});
	});
}

test('subagents are asked in the lite form, and their scripts are their own', server, async (t) => {
	const child = (contains, ...steps) => ({ when: { contains, lacks: 'ask the helper' }, reply: steps });
	const thread = await startThread(t, [
		child('count the files', { custom: 'exec',
			input: "store('k', 'child'); text((await tools.exec_command({cmd: 'echo from the child'})).output)" }),
		{ when: { contains: 'from the child', lacks: 'ask the helper' },
			reply: [{ call: 'request_user_input_async', arguments: { questions: [{ title: 'Why?' }] } }] },
		{ when: { contains: 'No operator is there', lacks: 'ask the helper' }, reply: [{ message: 'There are three.' }] },
		call('subagent_spawn', { prompt: 'count the files' }),
		call('subagent_await', {}),
		script("text(load('k'))"),
	], { config: 'features.subagent_tools = true' });
	await thread.start('ask the helper');
	await thread.server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.thread.id, 'end');
	const requests = thread.model.requests();
	const own = requests.filter(({ headers }) => headers['x-openai-subagent']);
	assert.equal(own.length, 3, 'an exec, and a question that is refused');
	for (const { body, headers } of requests) {
		assert.equal(headers['x-openai-internal-codex-responses-lite'], 'true');
		assert.equal(body.input[0].type, 'additional_tools');
		assert.ok(!('tools' in body));
	}
	assert.equal(own[0].headers['x-openai-subagent'], 'collab_spawn');
	assert.ok(!JSON.stringify(own[0].body.input[0]).includes('request_user_input_async'));
	const output = own[1].body.input.find(({ type }) => type === 'custom_tool_call_output');
	assert.match(shown(output).texts[0], /from the child/);
	const last = requests.at(-1).body.input.filter(({ type }) => type === 'custom_tool_call_output').at(-1);
	assert.deepEqual(shown(last).texts, ['undefined'], 'values of a subagent are its own');
});
