// The configuration of subagents: each test fails if its key has no effect.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { needs, outputOf, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const on = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\nfeatures.subagent_tools = true\n';
const call = (name, args = {}, id = undefined) => ({ call: name, arguments: args, ...(id && { call_id: id }) });
const spawn = (prompt, id) => call('subagent_spawn', { prompt }, id);
const child = (contains, ...steps) => ({ when: { contains, lacks: 'You are agent 0' }, reply: steps });
const message = (words) => ({ message: words });

async function start(t, replies, config) {
	const model = await startModel(t, replies);
	const codex = startProto(t, model, { config: config + on });
	codex.submit('1', userInput('go'));
	return { model, codex };
}

/** Waits for an event of that type and those members. */
async function nextOf(codex, type, members) {
	for (;;) {
		const { msg } = await codex.next(type);
		if (Object.entries(members).every(([key, value]) => msg[key] === value)) return msg;
	}
}

test('agents.interrupt_cascade = false lets descendants work on after an interrupt', proto, async (t) => {
	const { model, codex } = await start(t, [child('stay', { gate: 'stay' }, message('Stayed.')), { reply: [spawn('stay')] },
		{ reply: [call('subagent_await')] }, { reply: [message('ok')], times: 'forever' }], 'agents.interrupt_cascade = false\n');
	await codex.next('collab_waiting_begin');
	codex.submit('2', { type: 'interrupt' });
	await codex.next('turn_aborted');
	await model.openGate('stay');
	await codex.next('task_complete');
	await codex.end();
	const words = codex.events().map(({ msg }) => msg).filter((msg) => msg.type === 'subagent_lifecycle' && msg.agent_id === 1)
		.map(({ status }) => status);
	assert.ok(!words.includes('canceled'), words);
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /Stayed\./);
});

test('subagent_slots_until_prune = true keeps the slot of an ended subagent until it is pruned', proto, async (t) => {
	for (const keeps of [true, false]) {
		const { model, codex } = await start(t, [child('be quick', message('Quick.')), child('be late', message('Late.')),
			{ reply: [spawn('be quick')] }, { reply: [call('subagent_await', { agent_id: 1 })] }, { reply: [spawn('be late', 'second')] },
			{ reply: [call('subagent_prune', { all: true })] }, { reply: [spawn('be late', 'third')] },
			{ reply: [message('ok')], times: 'forever' }],
		`max_active_subagents = 1\nsubagent_slots_until_prune = ${keeps}\n`);
		await codex.next('task_complete');
		await codex.end();
		const request = model.requests().findLast(({ body }) => body.input.some((it) => it.call_id === 'third' && 'output' in it));
		assert.equal(/^subagent limit reached: at most 1 active/.test(outputOf(request, 'second')), keeps);
		if (keeps) assert.equal(JSON.parse(outputOf(request, 'third')).agent_id, 2);
	}
});

test('subagent_inbox_inject_before_tools = true puts news before the outputs of a response', proto, async (t) => {
	for (const early of [true, false]) {
		const file = path.join(tempDir(t, 'seen'), 'go');
		const { model, codex } = await start(t, [child('be quick', message('Quick.')), { reply: [spawn('be quick'),
			call('exec_command', { cmd: `until [ -e ${file} ]; do sleep 0.05; done`, yield_time_ms: 30000 }, 'e')] },
		{ reply: [message('ok')], times: 'forever' }], `subagent_inbox_inject_before_tools = ${early}\n`);
		await nextOf(codex, 'agent_inbox', { agent_id: 0, pending_messages: 1 });
		fs.writeFileSync(file, '');
		await codex.next('task_complete');
		await codex.end();
		const { input } = model.requests().find(({ body }) => body.input.some((it) => it.call_id === 'e' && 'output' in it)).body;
		const news = input.findIndex((it) => /^await-/.test(it.call_id) && 'output' in it);
		const output = input.findIndex((it) => it.call_id === 'e' && 'output' in it);
		assert.ok(news >= 0 && (news < output) === early, `${news} and ${output}`);
	}
});

test('root_agent_uses_user_messages = false gives a subagent the words of the root as news', proto, async (t) => {
	for (const asUser of [true, false]) {
		const { model, codex } = await start(t, [child('more pears', message('Counted.')), child('be quick', message('Quick.')),
			{ reply: [spawn('be quick')] }, { reply: [call('subagent_await', { agent_id: 1 })] },
			{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'more pears' })] }, { reply: [call('subagent_await', { agent_id: 1 })] },
			{ reply: [message('ok')], times: 'forever' }], `root_agent_uses_user_messages = ${asUser}\n`);
		await codex.next('task_complete');
		await codex.end();
		const texts = model.requests().map(({ body }) => body.input.at(-1)).filter((it) => JSON.stringify(it).includes('more pears'));
		const ofChild = texts.find((it) => it.role === 'user' || /^await-/.test(it.call_id));
		assert.equal(ofChild?.role === 'user', asUser, JSON.stringify(texts));
	}
});
