// One whole session on each wire, sessions that change their wire, and answers that are cut or wrong at every byte.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, needs, readLines, rollouts, signalWhenThere, tempDir } from './lib/codex.mjs';
import { ANSWERS, startStrict as start } from './lib/wire_answers.mjs';
import { chat, chunk, finish, messages as m, startWire, wireHome } from './lib/wires.mjs';

const exec = needs('exec');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const items = (run) => run.events.filter((e) => e.type === 'item.completed').map((e) => e.item);
const answerOf = (run) => items(run).filter((item) => item.type === 'agent_message').at(-1)?.text;

for (const wire of ['responses', 'chat', 'messages']) {
	test(`a whole session on ${wire}: tools, patch, image, interrupt, resume, plan, compaction`, exec, async (t) => {
		const { say, calls } = ANSWERS[wire], cwd = tempDir(t), started = path.join(cwd, 'started');
		fs.writeFileSync(path.join(cwd, 'a.png'), PNG);
		const patch = '*** Begin Patch\n*** Add File: new.txt\n+from a patch\n*** End Patch\n';
		const server = await start(t, wire, [
			calls([['exec_command', { cmd: 'echo one' }, 'c1'], ['view_image', { path: path.join(cwd, 'a.png') }, 'c2'],
				['apply_patch', { input: patch }, 'c3']], 'Think.'), say('First.'),
			calls([['exec_command', { cmd: `touch ${started}; sleep 600`, yield_time_ms: 30000 }, 'c4']]),
			say('Resumed.'),
			say('<proposed_plan>\n- do it\n</proposed_plan>'),
			say('SUMMARY OF ALL'), say('After.'),
		]);
		const home = wireHome(t, server, 'model_reasoning_effort = "high"\nmodel = "claude-sonnet-4-6"');
		const options = { home, cwd, json: true };
		const first = await codexExec(t, null, ['go', '-i', path.join(cwd, 'a.png')], options);
		assert.equal(answerOf(first), 'First.');
		assert.equal(fs.readFileSync(path.join(cwd, 'new.txt'), 'utf8'), 'from a patch\n');
		assert.ok(server.requests[1].text.includes(PNG.toString('base64')));
		await codexExec(t, null, ['resume', '--last', 'wait'], { ...options, onStart: signalWhenThere(started, 'SIGINT') });
		const resumed = await codexExec(t, null, ['resume', '--last', 'and now?'], options);
		assert.equal(answerOf(resumed), 'Resumed.');
		assert.match(server.requests[3].text, /aborted/);
		const planned = await codexExec(t, null, ['-c', 'collaboration_mode="plan"', 'resume', '--last', 'plan it'], options);
		assert.equal(planned.code, 0, planned.stderr);
		assert.ok(server.requests[4].text.includes('proposed_plan'));
		const compacted = await codexExec(t, null, ['-c', 'model_auto_compact_token_limit=5', 'resume', '--last', 'go on'], options);
		assert.equal(answerOf(compacted), 'After.', compacted.stderr + compacted.stdout);
		assert.ok(server.requests.at(-1).text.includes('SUMMARY OF ALL'));
		assert.ok(!server.requests.at(-1).text.includes('echo one'));
		assert.deepEqual(server.faults, []);
	});
}

test('a session changes its wire twice and comes back', exec, async (t) => {
	const order = ['chat', 'messages', 'responses', 'chat', 'messages'], servers = {};
	for (const wire of ['chat', 'messages', 'responses']) {
		const { say, calls } = ANSWERS[wire];
		servers[wire] = await start(t, wire, [calls([['exec_command', { cmd: `echo by-${wire}` }, `id:${wire}/1`]], `thought of ${wire}`),
			say(`Said by ${wire}.`), say('Again.')]);
	}
	const home = wireHome(t, Object.values(servers), 'model = "claude-sonnet-4-6"\nmodel_reasoning_effort = "high"');
	let id;
	for (const [i, wire] of order.entries()) {
		const args = ['-c', `model_provider="${wire}"`, ...(i ? ['resume', id] : []), `prompt ${i}`];
		const run = await codexExec(t, null, args, { home, json: true });
		assert.equal(run.code, 0, `${wire}: ${run.stdout}${run.stderr}`);
		id ??= run.events[0].thread_id;
	}
	for (const server of Object.values(servers)) assert.deepEqual(server.faults, [], server.name);
	const last = (wire) => servers[wire].requests.at(-1);
	for (const wire of ['chat', 'messages'])
		for (const said of order.slice(0, 3)) assert.ok(last(wire).text.includes(`Said by ${said}.`), `${said} on ${wire}`);
	assert.ok(last('chat').text.includes('by-messages') && last('messages').text.includes('by-responses'));
	assert.ok(last('responses').text.includes('by-chat') && last('responses').text.includes('by-messages'));
	assert.ok(last('chat').text.includes('thought of chat') && !/thought of (messages|responses)/.test(last('chat').text));
	assert.ok(last('messages').text.includes('thought of messages') && !/thought of (chat|responses)/.test(last('messages').text));
	assert.ok(!/thought of (chat|messages)/.test(last('responses').text));
});

// As codex 0.169 records the result of a compaction by OpenAI.
test('what a provider has compacted goes back to the Responses API; other wires warn that it is lost', exec, async (t) => {
	const servers = {};
	for (const wire of ['chat', 'messages', 'responses']) servers[wire] = await start(t, wire, [ANSWERS[wire].say('Done.'), ANSWERS[wire].say('Done.')]);
	const home = wireHome(t, Object.values(servers)), cwd = tempDir(t);
	const run = (wire, ...args) => codexExec(t, null, ['-c', `model_provider="${wire}"`, ...args], { home, cwd });
	assert.equal((await run('responses', 'hi')).code, 0);
	const item = { type: 'compaction', encrypted_content: 'SEALED' };
	const [file] = rollouts(home), { id } = readLines(file)[0].payload;
	fs.appendFileSync(file, JSON.stringify({ timestamp: new Date().toISOString(), type: 'response_item', payload: item }) + '\n');
	for (const wire of ['responses', 'chat', 'messages']) {
		const { code, stderr } = await run(wire, 'resume', id, 'go on');
		assert.equal(code, 0, stderr);
		const isKept = wire === 'responses';
		assert.equal(servers[wire].requests.at(-1).text.includes('SEALED'), isKept, wire);
		assert.equal(/are encrypted: `\w+` cannot read them/.test(stderr), !isKept, wire);
	}
	assert.deepEqual(Object.values(servers).flatMap(({ faults }) => faults), []);
});

// --- broken answers -------------------------------------------------------------------------------------------------

const streamOf = (wire, answer) => answer.map((value) => (wire === 'chat' ? '' : `event: ${value.type}\n`) +
	`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join('');
const WHOLE = {
	chat: [chunk({ reasoning: 'Hm.' }), chunk({ content: 'Hé' }), part(), finish('tool_calls'), '[DONE]'],
	messages: [m.start(), ...m.text(0, 'Hé'), ...m.tool(1, 't', 'update_plan', { plan: [] }), ...m.stop('tool_use')],
};
function part() {
	return chunk({ tool_calls: [chat.call('update_plan', { plan: [] })] });
}

for (const wire of ['chat', 'messages']) {
	test(`${wire}: an answer in single bytes is read; one that is cut or damaged anywhere ends well`, exec, async (t) => {
		const bytes = Buffer.from(streamOf(wire, WHOLE[wire])), { say } = ANSWERS[wire];
		const single = await start(t, wire, [{ raw: [...bytes].map((byte) => Buffer.from([byte])) }, say('Done.')]);
		const whole = await codexExec(t, null, ['go'], { home: wireHome(t, single), json: true });
		assert.equal(answerOf(whole), 'Done.');
		const places = Array.from({ length: 24 }, (_, i) => Math.floor((i + 1) * bytes.length / 26));
		const answers = places.flatMap((at) => [{ raw: [bytes.subarray(0, at)] }, { raw: [Buffer.concat([bytes.subarray(0, at),
			Buffer.from([0xff, 0, 0x7b]), bytes.subarray(at + 1)])] }]);
		let next = 0;
		const server = await start(t, wire, [() => (next < answers.length ? answers[next++] : say('Done.'))]);
		const home = wireHome(t, server, '', 'stream_max_retries = 100\n');
		while (next < answers.length) {
			const before = next, run = await codexExec(t, null, ['go', '-c', `model_providers.${wire}.stream_max_retries=0`], { home, json: true });
			assert.ok([0, 1].includes(run.code), run.stderr);
			assert.ok(run.code === 0 || /\S/.test(run.events.find((e) => e.type === 'turn.failed').error.message));
			assert.ok(next > before);
		}
		assert.deepEqual(server.faults, []);
	});
}

test('a flood of calls, or of one call, is bounded', exec, async (t) => {
	const many = Array.from({ length: 1100 }, (_, index) => chunk({ tool_calls: [chat.call('update_plan', {}, { id: `c${index}`, index })] }));
	const server = await start(t, 'chat', [[...many, finish('tool_calls')]]);
	const run = await codexExec(t, null, ['go'], { home: wireHome(t, server), json: true });
	assert.match(run.events.find((e) => e.type === 'turn.failed').error.message, /longer than this program accepts/);
	assert.equal(server.requests.length, 1);
	const recorded = rollouts(run.home).flatMap(readLines).filter((line) => line.payload?.type === 'function_call');
	assert.deepEqual(recorded, []);
});
