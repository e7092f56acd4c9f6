// Further facts that models and clients depend on: budgets, ends of scripts, what clients and files see of them.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { engines, runScript, script, shown, startThread, wait } from './lib/code_mode.mjs';
import { codexExec, makeHome, needs, readLines, rollouts, say, startModel } from './lib/codex.mjs';

const server = needs('app-server');
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

for (const engine of engines) {
	describe(engine, server, () => {
		test('beside pictures each text is cut by itself', async (t) => {
			const { thread } = await runScript(t, `// @exec: {"max_output_tokens": 20}
				text('a'.repeat(60)); image('data:image/png;base64,${PNG}'); text('b'.repeat(4000)); text('c'); text('d')`, { engine });
			const items = thread.outputs()[0].output.slice(1);
			assert.equal(items[0].text, 'a'.repeat(60));
			assert.equal(items[1].type, 'input_image');
			assert.match(items[2].text, /^Warning: truncated output \(original token count: 1000\)[^]*tokens truncated/);
			assert.match(items.at(-1).text, /2 text items were omitted/);
		});

		test('pictures have a limit each and together, and are not decoded', async (t) => {
			const { thread } = await runScript(t, `const url = (size) => 'data:image/png;base64,${PNG.slice(0, 64)}'.padEnd(size, 'A');
				try { image(url(28000001)) } catch (e) { text(e) }
				image(url(15000022)); image(url(15000022)); image(url(1022)); text('end')`, { engine });
			const items = thread.outputs()[0].output.slice(1);
			assert.match(items[0].text, /^image: the data has more than 20 MB$/);
			assert.equal(items[1].image_url.length, 15000022);
			assert.match(items[2].text, /^\[image omitted: the pictures of one result are too large\]$/);
			assert.equal(items[3].image_url.length, 1022);
			assert.equal(items[4].text, 'end');
		});

		test('the limit of the history cuts what the model gets, not what scripts see', async (t) => {
			const { texts } = await runScript(t, `// @exec: {"max_output_tokens": 100000}
				const cmd = 'head -c 60000 /dev/zero | tr "\\\\0" x';
				const whole = await tools.exec_command({cmd}), cut = await tools.exec_command({cmd, max_output_tokens: 10});
				text(whole.output.length + ' ' + cut.output.startsWith('Warning: truncated output')); text(whole.output)`,
				{ engine, config: 'tool_output_token_limit = 1000' });
			assert.equal(texts.length, 1);
			assert.match(texts[0], /60000 true/);
			assert.ok(texts[0].length < 6000);
		});

		test('a command that nobody awaits ends with its script', async (t) => {
			const thread = await startThread(t, [script(`await tools.exec_command({cmd: 'mkfifo never'});
					tools.exec_command({cmd: 'touch begun; read x < never; touch ended'});
					await tools.exec_command({cmd: 'while [ ! -e begun ]; do sleep 0.02; done'})`),
				script("await tools.exec_command({cmd: 'timeout 1 sh -c \"echo go > never\"'})")], { engine });
			await thread.turn();
			assert.match(shown(thread.outputs()[0]).head, /^Script completed/);
			assert.ok(!fs.existsSync(path.join(thread.server.cwd, 'ended')));
		});

		test('scripts that run at once merge only the keys that they have written', async (t) => {
			const thread = await startThread(t, [script("store('a', 1); store('b', 1)"),
				script(`yield_control(); store('a', 2); await tools.exec_command({cmd: 'while [ ! -e go ]; do sleep 0.02; done'})`),
				script("store('b', 3); text(load('a'))"), script("await tools.exec_command({cmd: 'touch go'})"),
				wait({ cell_id: '2', yield_time_ms: 60000 }), script("text(load('a')); text(load('b'))")], { engine });
			await thread.turn();
			const outputs = thread.outputs().map(shown);
			assert.deepEqual(outputs[2].texts, ['1'], 'a value of a script that runs');
			assert.deepEqual(outputs.at(-1).texts, ['2', '3']);
		});

		test('errors in timers, rejections and odd values end as the model expects', async (t) => {
			const thread = await startThread(t, [script("throw 'words'"), script("throw {a: 1}"),
				script("await Promise.reject(new TypeError('t'))"),
				script("function f() { exit() } setTimeout(f); await new Promise(() => {})"),
				script("setTimeout(() => text('late'), 9e8); text('now')"),
				script("const o = {}; o.o = o; try { text(o) } catch (e) { text(e instanceof TypeError) }"),
				script("text(typeof Date.now() + new Date(0).toISOString()); 7")], { engine });
			await thread.turn();
			const outputs = thread.outputs().map(shown);
			assert.deepEqual(outputs.map(({ head }) => /^Script (\w+)/.exec(head)[1]),
				['failed', 'failed', 'failed', 'completed', 'completed', 'completed', 'completed']);
			assert.deepEqual(outputs[0].texts, ['Script error:\nwords']);
			assert.deepEqual(outputs[1].texts, ['Script error:\n[object Object]']);
			assert.match(outputs[2].texts[0], /^Script error:\nTypeError: t/);
			assert.deepEqual(outputs[4].texts, ['now']);
			assert.deepEqual(outputs[5].texts, ['true']);
			assert.deepEqual(outputs[6].texts, ['number1970-01-01T00:00:00.000Z']);
		});
	});
}

test('a catalogue that asks for code mode wins over the feature', server, async (t) => {
	const thread = await startThread(t, [script('text(1)')], { config: '[features]\ncode_mode_only = false' });
	await thread.turn();
	assert.equal(thread.model.requests()[0].body.input[0].tools[0].tools[0].name, 'exec');
	assert.equal(JSON.stringify(thread.server.all('warning')).includes('code mode'), false);
});

test('clients see the calls of a script and nothing of the script', needs('exec'), async (t) => {
	const replies = () => [script("text((await tools.exec_command({cmd: 'echo out'})).output)"), say('Done.')];
	const human = await startModel(t, replies()), machine = await startModel(t, replies());
	const plain = await codexExec(t, human, ['-m', 'gpt-6-sol', 'go']);
	assert.equal(plain.code, 0, plain.stderr);
	assert.doesNotMatch(plain.stderr + plain.stdout, /tools\.exec_command/);
	const home = makeHome(t, machine);
	const json = await codexExec(t, machine, ['-m', 'gpt-6-sol', 'go'], { json: true, home });
	const items = json.events.filter(({ type }) => type === 'item.completed').map(({ item }) => item.type);
	assert.deepEqual(items, ['command_execution', 'agent_message']);
	const lines = readLines(rollouts(home)[0]).filter(({ type }) => type === 'response_item').map(({ payload }) => payload.type);
	for (const type of ['additional_tools', 'custom_tool_call', 'custom_tool_call_output']) assert.ok(lines.includes(type), type);
	assert.ok(!lines.includes('function_call'));
});

test('thread/read has the calls of a script, with their own ids', server, async (t) => {
	const { thread } = await runScript(t, "await tools.exec_command({cmd: 'echo out'})");
	const { thread: read } = await thread.server.request('thread/read', { threadId: thread.thread.id, includeTurns: true });
	const items = read.turns.flatMap((turn) => turn.items);
	assert.deepEqual(items.map(({ type }) => type), ['userMessage', 'commandExecution', 'agentMessage']);
	assert.match(items[1].id, /^exec-/);
});
