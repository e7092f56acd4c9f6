// codex proto: the two queues of the protocol on standard input and output.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { expecting, needs, patch, reply, run, runCodex, say, startModel, textsOf } from './lib/codex.mjs';
import { approve, startProto, story, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const untrusted = 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n';
const free = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n';
const hanging = reply({ message: 'Working on it.' }, { gate: 'never' });

test('a session is configured, a prompt answered, and the end of input ends it', proto, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('hi'));
	const { code } = await codex.end();
	assert.equal(code, 0);
	assert.deepEqual(story(codex.events()), ['session_configured', '1 task_started', '1 agent_message',
		'1 task_complete', 'shutdown_complete']);
	assert.equal(codex.events().find(({ msg }) => msg.type === 'task_complete').msg.last_agent_message, 'Hello.');
});

test('an approval is found by the submission that started the task', proto, async (t) => {
	const model = await startModel(t, [run('touch there'), say('Done.')]);
	const codex = startProto(t, model, { config: untrusted });
	codex.submit('task', userInput('go'));
	await codex.next('exec_approval_request');
	codex.submit('x', approve('nobody')); // an id without a request
	codex.submit('y', approve('task'));
	await codex.next('task_complete');
	assert.ok(fs.existsSync(path.join(codex.cwd, 'there')));
	assert.equal((await codex.end()).code, 0);
});

test('a denied command does not run, and abort interrupts', proto, async (t) => {
	const model = await startModel(t, [run('touch denied'), run('touch aborted'), say('unused')]);
	const codex = startProto(t, model, { config: untrusted });
	codex.submit('1', userInput('go'));
	codex.submit('n', approve((await codex.next('exec_approval_request')).msg.call_id, 'denied'));
	assert.equal((await codex.next('exec_command_end')).msg.exit_code, -1);
	codex.submit('a', approve((await codex.next('exec_approval_request')).msg.call_id, 'abort'));
	assert.equal((await codex.next('turn_aborted')).msg.reason, 'interrupted');
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(fs.readdirSync(codex.cwd), []);
});

test('new input takes the place of a running task', proto, async (t) => {
	const model = await startModel(t, [hanging, say('Second.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first'));
	await codex.next('agent_message_delta');
	codex.submit('2', userInput('second'));
	const aborted = await codex.next('turn_aborted');
	assert.deepEqual([aborted.id, aborted.msg.reason], ['1', 'replaced']);
	assert.equal((await codex.next('task_complete')).id, '2');
	assert.equal((await codex.end()).code, 0);
	assert.ok(textsOf(model.requests()[1], 'user').includes('first'), 'what was said is kept');
});

const CUT = reply({ delta: 'I will ' }, { delta: 'look' }, { drop: true });
const completed = (codex, type) => codex.events()
	.filter(({ msg }) => msg.type === 'item_completed' && msg.item.type === type).map(({ msg }) => msg.item);

test('a message that the retry omits is completed once, and nothing separates a call and its output', proto, async (t) => {
	const model = await startModel(t, [CUT, run('true', { call_id: 'c1' }),
		expecting({ path: { 'input.-2.type': 'function_call', 'input.-1.type': 'function_call_output' } }, say('Done.'))]);
	const codex = startProto(t, model, { config: free });
	codex.submit('1', userInput('go'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const messages = completed(codex, 'AgentMessage');
	assert.deepEqual(messages.map(({ content }) => content[0].text), ['I will look', 'Done.']);
	const started = codex.events().filter(({ msg }) => msg.type === 'item_started' && msg.item.type === 'AgentMessage');
	assert.deepEqual(started.map(({ msg }) => msg.item.id), messages.map(({ id }) => id));
	assert.deepEqual(codex.events().filter(({ msg }) => msg.type === 'agent_message').map(({ msg }) => msg.message),
		['I will look', 'Done.']);
});

test('a message that the retry omits is part of the history if the response has no calls', proto, async (t) => {
	const model = await startModel(t, [CUT, reply({ reasoning: 'Hm.' }),
		expecting({ path: { 'input.-2.role': 'assistant', 'input.-2.content.0.text': 'I will look' } }, say('Done.'))]);
	const codex = startProto(t, model, { config: free });
	codex.submit('1', userInput('go'));
	await codex.next('task_complete');
	codex.submit('2', userInput('again'));
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'Done.');
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(completed(codex, 'AgentMessage').map(({ content }) => content[0].text), ['I will look', 'Done.']);
});

test('a text of two attempts that differ is completed, but is not part of the history', proto, async (t) => {
	const model = await startModel(t, [CUT, reply({ delta: 'Checking' }, { drop: true }), reply({ reasoning: 'Hm.' }),
		expecting({ path: { 'input.-2.type': 'reasoning', 'input.-1.content.0.text': 'again' } }, say('Done.'))]);
	const codex = startProto(t, model, { config: free });
	codex.submit('1', userInput('go'));
	await codex.next('task_complete');
	codex.submit('2', userInput('again'));
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'Done.');
	assert.equal((await codex.end()).code, 0);
	assert.equal(completed(codex, 'AgentMessage').length, 2);
});

test('a message is completed before its turn fails; it does not enter the history', proto, async (t) => {
	const model = await startModel(t, [CUT, reply({ status: 400, body: 'no' }),
		expecting({ path: { 'input.-1.content.0.text': 'again', 'input.-2.content.0.text': 'go' } }, say('Done.'))]);
	const codex = startProto(t, model, { config: free });
	codex.submit('1', userInput('go'));
	await codex.next('error');
	const types = codex.events().map(({ msg }) => msg.type);
	assert.deepEqual(completed(codex, 'AgentMessage').map(({ content }) => content[0].text), ['I will look']);
	assert.ok(types.lastIndexOf('item_completed') < types.indexOf('error'));
	assert.equal((await codex.next('task_complete')).id, '1');
	codex.submit('2', userInput('again'));
	assert.equal((await codex.next('task_complete')).id, '2');
	assert.equal((await codex.end()).code, 0);
});

test('with steer, new input joins the running task', proto, async (t) => {
	const model = await startModel(t, [reply({ message: 'One.' }, { gate: 'go' }),
		expecting({ path: { 'input.-1.content.0.text': 'second' } }, say('Two.'))]);
	const codex = startProto(t, model, { config: 'on_input_while_running = "steer"' });
	codex.submit('1', userInput('first'));
	await codex.next('agent_message_delta');
	codex.submit('2', userInput('second'));
	codex.submit('path', { type: 'get_path' });
	await codex.next('conversation_path'); // so the input was taken
	await model.openGate('go');
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'Two.');
	assert.ok(!codex.events().some(({ id }) => id === '2'));
	assert.equal((await codex.end()).code, 0);
});

test('shutdown ends a busy session at once', proto, async (t) => {
	const model = await startModel(t, [hanging]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('go'));
	await codex.next('agent_message_delta');
	codex.submit('bye', { type: 'shutdown' });
	const { code } = await codex.done; // standard input is still open
	assert.equal(code, 0);
	assert.deepEqual(story(codex.events()).slice(-2), ['1 turn_aborted', 'bye shutdown_complete']);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
	test(`${signal} ends it in order`, proto, async (t) => {
		const model = await startModel(t, [hanging]);
		const codex = startProto(t, model);
		codex.submit('1', userInput('go'));
		await codex.next('agent_message_delta');
		codex.child.kill(signal);
		assert.equal((await codex.done).code, 0);
		assert.deepEqual(story(codex.events()).slice(-2), ['1 turn_aborted', 'shutdown_complete']);
	});
}

test('a request that cannot be answered any more does not delay the end', proto, async (t) => {
	const model = await startModel(t, [run('touch x')]);
	const codex = startProto(t, model, { config: untrusted });
	codex.submit('1', userInput('go'));
	await codex.next('exec_approval_request');
	assert.equal((await codex.end()).code, 0);
	assert.ok(story(codex.events()).includes('1 turn_aborted'));
});

test('invalid lines are reported on stderr, and the session continues', proto, async (t) => {
	const model = await startModel(t, [say('Still here.')]);
	const codex = startProto(t, model);
	const bad = ['nonsense', '[]', '{"id":"x"}', '{"id":5,"op":{"type":"interrupt"}}', '{"id":"x","op":{"type":"fly"}}',
		'{"id":"x","op":{"type":"user_input","items":[{"type":"smell"}]}}', '{"id":"x","op":{"type":"exec_approval"}}'];
	codex.write('\r\n  \n' + bad.join('\r\n') + '\n');
	const line = JSON.stringify({ id: '1', op: userInput('hi') });
	codex.write(line.slice(0, 20));
	await codex.next('session_configured');
	codex.write(line.slice(20) + '\r\n');
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	assert.equal(codex.stderr().match(/^invalid submission: /gm).length, bad.length);
	assert.match(codex.stderr(), /unknown variant `fly`/);
	assert.deepEqual(story(codex.events()), ['session_configured', '1 task_started', '1 agent_message',
		'1 task_complete', 'shutdown_complete']);
});

test('a line that is too long is an error event; the next one is served', proto, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const codex = startProto(t, model);
	codex.write(Buffer.alloc(17 * 1024 * 1024, 'x'));
	codex.write('\n');
	codex.submit('1', userInput('hi'));
	assert.match((await codex.next('error')).msg.message, /longer than 16 MiB/);
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
});

test('thousands of submissions at once are all served, in order', proto, async (t) => {
	const codex = startProto(t, null);
	const count = 10_000;
	codex.write(Array.from({ length: count }, (_, i) => JSON.stringify({ id: `${i}`, op: { type: 'get_path' } }) + '\n')
		.join(''));
	assert.equal((await codex.end()).code, 0);
	const ids = codex.events().filter(({ msg }) => msg.type === 'conversation_path').map(({ id }) => id);
	assert.deepEqual(ids, Array.from({ length: count }, (_, i) => `${i}`));
});

test('before a session, every operation is refused but configure_session', proto, async (t) => {
	const codex = startProto(t, null, { args: ['--no-auto-configure'] });
	codex.submit('1', userInput('hi'));
	assert.match((await codex.next('error')).msg.message, /No session initialized/);
	codex.submit('2', { type: 'configure_session' });
	const first = await codex.next('session_configured');
	codex.submit('3', { type: 'configure_session', model: 'other' });
	const second = await codex.next('session_configured');
	assert.deepEqual([first.id, second.id, second.msg.model], ['2', '3', 'other']);
	assert.equal(first.msg.session_id, second.msg.session_id);
	codex.submit('4', { type: 'configure_session', cwd: 'relative' });
	assert.equal((await codex.next('error')).id, '4');
	assert.equal((await codex.end()).code, 0);
});

test('prompts are remembered and found again', proto, async (t) => {
	const codex = startProto(t, null);
	codex.submit('a', { type: 'add_to_history', text: 'find me' });
	codex.submit('p', { type: 'get_path' });
	await codex.next('conversation_path');
	const file = path.join(codex.home, 'history.jsonl');
	const stat = fs.statSync(file);
	assert.equal(stat.mode & 0o777, 0o600);
	codex.submit('g', { type: 'get_history_entry_request', offset: 0, log_id: stat.ino });
	assert.equal((await codex.next('get_history_entry_response')).msg.entry.text, 'find me');
	codex.submit('h', { type: 'get_history_entry_request', offset: 7, log_id: stat.ino });
	assert.equal((await codex.next('get_history_entry_response')).msg.entry, undefined);
	assert.equal((await codex.end()).code, 0);
});

test('user turns can be taken back, and a session named', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.')]);
	const codex = startProto(t, model);
	for (const text of ['first', 'second']) {
		codex.submit(text, userInput(text));
		await codex.next('task_complete');
	}
	codex.submit('r', { type: 'thread_rollback', num_turns: 1 });
	assert.equal((await codex.next('thread_rolled_back')).msg.num_turns, 1);
	codex.submit('0', { type: 'thread_rollback', num_turns: 0 });
	assert.equal((await codex.next('error')).msg.codex_error_info, 'thread_rollback_failed');
	codex.submit('n', { type: 'set_thread_name', name: ' my work ' });
	assert.equal((await codex.next('thread_name_updated')).msg.thread_name, 'my work');
	codex.submit('third', userInput('third'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const said = textsOf(model.requests()[2], 'user');
	assert.ok(said.includes('first') && said.includes('third') && !said.includes('second'), said.join('\n'));
	assert.match(fs.readFileSync(path.join(codex.home, 'session_index.jsonl'), 'utf8'), /"thread_name":"my work"/);
});

test('a recorded session is resumed by id or by name, with its messages', proto, async (t) => {
	const model = await startModel(t, [reply({ reasoning: 'Hm.' }, { message: 'One.' }), say('Two.'), say('Three.')]);
	const first = startProto(t, model);
	first.submit('1', userInput('alpha-1'));
	await first.next('task_complete');
	first.submit('n', { type: 'set_thread_name', name: 'my work' });
	assert.equal((await first.end()).code, 0);
	const { session_id: id } = first.events()[0].msg;
	for (const session of [id, 'my work']) {
		const again = startProto(t, model, { home: first.home, args: ['--resume', session] });
		const { msg } = await again.next('session_configured');
		assert.equal(msg.session_id, id);
		const said = msg.initial_messages.filter(({ type }) => /_message$|^agent_reasoning$/.test(type));
		assert.deepEqual(said.slice(0, 3).map((it) => it.message ?? it.text), ['alpha-1', 'Hm.', 'One.']);
		assert.ok(msg.initial_messages.some(({ type }) => type === 'token_count'));
		again.submit('2', userInput('beta-2'));
		await again.next('task_complete');
		assert.equal((await again.end()).code, 0);
	}
	assert.ok(textsOf(model.requests()[2], 'user').includes('alpha-1'));
	for (const args of [['--resume', 'nobody'], ['--resume', id, '--no-auto-configure'],
		['--resume', id, '--listen', 'tcp://127.0.0.1:0']]) {
		const { code, stderr } = await runCodex(t, ['proto', ...args], { home: first.home });
		assert.notEqual(code, 0);
		assert.match(stderr, /^codex proto: (no session to resume|--resume cannot be used with)/);
	}
});

test('unsupported Ops are answered with their name', proto, async (t) => {
	const codex = startProto(t, null);
	codex.submit('1', { type: 'undo' });
	const { id, msg } = await codex.next('error');
	assert.deepEqual([id, msg.codex_error_info], ['1', 'bad_request']);
	assert.match(msg.message, /no snapshots of the user's files, so it cannot do `undo`/);
	assert.equal((await codex.end()).code, 0);
});

test('a profile that does not exist is a mistake of use', proto, async (t) => {
	const { code, stdout, stderr } = await runCodex(t, ['proto', '--wire-profile', 'v2']);
	assert.deepEqual([code, stdout], [2, '']);
	assert.match(stderr, /v2.*\n.*v1-2026-01/);
});

/** One task that runs a command with approval and adds a file, in the words of a profile. */
async function inWordsOf(t, profile) {
	const model = await startModel(t, [run('printf hi'), patch('*** Add File: new.txt', '+new'), say('Done.')]);
	const codex = startProto(t, model, { config: untrusted, args: ['--wire-profile', profile] });
	codex.submit('1', userInput('go'));
	await codex.next('exec_approval_request');
	codex.submit('a', approve('1'));
	const asked = await Promise.race([codex.next('apply_patch_approval_request'), codex.next('task_complete')]);
	if (asked.msg.type === 'apply_patch_approval_request')
		codex.submit('b', { type: 'patch_approval', id: '1', decision: 'approved' });
	assert.equal((await codex.end()).code, 0);
	return codex.events();
}
const msgOf = (events, type) => events.find(({ msg }) => msg.type === type).msg;

test('profile v1-2025-10: items under their tag, and no field that came later', proto, async (t) => {
	const events = await inWordsOf(t, 'v1-2025-10');
	assert.deepEqual(Object.keys(msgOf(events, 'session_configured')).sort(),
		['history_entry_count', 'history_log_id', 'model', 'rollout_path', 'session_id', 'type']);
	assert.deepEqual(Object.keys(msgOf(events, 'task_started')), ['type', 'model_context_window']);
	assert.deepEqual(Object.keys(msgOf(events, 'exec_command_end')).sort(), ['aggregated_output', 'call_id',
		'duration', 'exit_code', 'formatted_output', 'stderr', 'stdout', 'type']);
	const { item } = msgOf(events, 'item_completed');
	assert.deepEqual(item.UserMessage.content, [{ type: 'text', text: 'go' }]);
	const begin = msgOf(events, 'patch_apply_begin');
	assert.deepEqual(Object.values(begin.changes), [{ add: { content: 'new\n' } }]);
	assert.equal(msgOf(events, 'agent_message').message, 'Done.');
});

test('profile legacy2025: no items, usage in the event itself', proto, async (t) => {
	const events = await inWordsOf(t, 'legacy2025');
	assert.deepEqual(Object.keys(msgOf(events, 'session_configured')).sort(),
		['history_entry_count', 'history_log_id', 'model', 'session_id', 'type']);
	assert.deepEqual(msgOf(events, 'task_started'), { type: 'task_started' });
	assert.equal(typeof msgOf(events, 'token_count').total_tokens, 'number');
	const later = /^item_|_content_delta$|^user_message$|^exec_command_output_delta$|^turn_diff$/;
	assert.deepEqual(events.filter(({ msg }) => later.test(msg.type)), []);
	assert.deepEqual(story(events).filter((line) => !/patch/.test(line)), ['0 session_configured', '1 task_started',
		'1 exec_approval_request', '1 exec_command_begin', '1 exec_command_end', '1 agent_message',
		'1 task_complete', 'shutdown_complete']);
});

for (const profile of ['legacy2025', 'doc']) {
	test(`profile ${profile}: a command begins after the answer, and a denied one neither begins nor ends`, proto, async (t) => {
		const model = await startModel(t, [run('printf no'), run('printf yes'), run('printf never'), say('unused')]);
		const codex = startProto(t, model, { config: untrusted, args: ['--wire-profile', profile] });
		codex.submit('1', userInput('go'));
		for (const decision of ['denied', 'approved', 'abort']) {
			await codex.next('exec_approval_request');
			codex.submit('a', approve('1', decision));
		}
		await codex.next(profile === 'doc' ? 'turn_aborted' : 'error');
		assert.equal((await codex.end()).code, 0);
		const commands = story(codex.events()).filter((line) => /exec_/.test(line));
		assert.deepEqual(commands, ['1 exec_approval_request', '1 exec_approval_request', '1 exec_command_begin',
			'1 exec_command_end', '1 exec_approval_request']);
		assert.match(msgOf(codex.events(), 'exec_command_begin').command.join(' '), /printf yes/);
		assert.equal(msgOf(codex.events(), 'exec_command_end').exit_code, 0);
	});
}

test('profile doc: a command that runs again outside the sandbox begins once', proto, async (t) => {
	const model = await startModel(t, [run('touch here'), say('Done.')]);
	const config = 'approval_policy = "on-failure"\nsandbox_mode = "read-only"\n';
	const codex = startProto(t, model, { config, args: ['--wire-profile', 'doc'] });
	codex.submit('1', userInput('go'));
	await codex.next('exec_approval_request');
	codex.submit('a', approve('1'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(story(codex.events()).filter((line) => /exec_/.test(line)),
		['1 exec_command_begin', '1 exec_approval_request', '1 exec_command_end']);
	assert.deepEqual(fs.readdirSync(codex.cwd), ['here']);
});

test('only profile v1-2025-10 has is_user_shell_command, true for a command of the user', proto, async (t) => {
	for (const [profile, want] of [['v1-2025-10', [false, true]], ['v1-2026-01', [undefined, undefined]]]) {
		const model = await startModel(t, [run('printf hi'), say('Done.')]);
		const codex = startProto(t, model, { config: free, args: ['--wire-profile', profile] });
		codex.submit('1', userInput('go'));
		await codex.next('task_complete');
		codex.submit('2', { type: 'run_user_shell_command', command: 'true' });
		await codex.next('exec_command_end');
		assert.equal((await codex.end()).code, 0);
		const begins = codex.events().filter(({ msg }) => msg.type === 'exec_command_begin');
		assert.deepEqual(begins.map(({ msg }) => msg.is_user_shell_command), want, profile);
	}
});

test('a mode is called custom until the client has called it default', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.'), say('Four.')]);
	const codex = startProto(t, model);
	const kinds = [];
	for (const mode of [null, 'custom', 'default', 'plan']) {
		const settings = { model: 'mock', reasoning_effort: null, developer_instructions: null };
		if (mode) codex.submit('m', { type: 'override_turn_context', collaboration_mode: { mode, settings } });
		codex.submit('1', userInput('go'));
		kinds.push((await codex.next('task_started')).msg.collaboration_mode_kind);
		await codex.next('task_complete');
	}
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(kinds, ['custom', 'custom', 'default', 'plan']);
});

test('response_id means last_response_id', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.'), say('Four.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first'));
	const { response_id } = (await codex.next('task_complete')).msg;
	codex.submit('2', userInput('second'));
	await codex.next('task_complete');
	codex.submit('3', userInput('third', { response_id }));
	await codex.next('task_complete');
	codex.submit('4', userInput('fourth', { response_id: 'nobody', last_response_id: response_id }));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const said = (request) => textsOf(request, 'user').filter((text) => /^(first|second|third|fourth)$/.test(text));
	assert.deepEqual(model.requests().slice(2).map(said), [['first', 'third'], ['first', 'fourth']]);
});

test('profile legacy2025: an interrupt is an error', proto, async (t) => {
	const model = await startModel(t, [hanging]);
	const codex = startProto(t, model, { args: ['--wire-profile', 'legacy2025'] });
	codex.submit('1', userInput('go'));
	await codex.next('agent_message_delta');
	codex.submit('i', { type: 'interrupt' });
	const { id, msg } = await codex.next('error');
	assert.deepEqual([id, msg], ['1', { type: 'error', message: 'Turn interrupted' }]);
	assert.equal((await codex.end()).code, 0);
	assert.ok(!codex.events().some(({ msg: it }) => it.type === 'turn_aborted'));
});

test('a message whose stream broke is emitted once', proto, async (t) => {
	const model = await startModel(t, [reply({ delta: 'after th' }, { drop: true }), say('after the fix'), say('Next.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('hi'));
	await codex.next('task_complete');
	codex.submit('2', userInput('more'));
	assert.equal((await codex.end()).code, 0);
	const told = (type) => codex.events().filter(({ id, msg }) => id === '1' && msg.type === type).map(({ msg }) => msg);
	assert.deepEqual(told('agent_message').map(({ message }) => message), ['after the fix']);
	assert.equal(told('agent_message_delta').map(({ delta }) => delta).join(''), 'after the fix');
	assert.deepEqual(textsOf(model.requests()[2], 'assistant'), ['after the fix']);
});

test('each resume waits its own time for the lock of a process that has exited', proto, async (t) => {
	const model = await startModel(t, [say('First.'), say('Second.')]);
	const first = startProto(t, model);
	const { session_id: id, rollout_path: rollout } = (await first.next('session_configured')).msg;
	first.submit('1', userInput('one'));
	await first.next('task_complete');
	assert.equal((await first.end()).code, 0);
	// flock(1) takes the lock and exits; its shell keeps the descriptor, as a child of a killed engine may.
	const lock = path.join(first.home, 'thread-writer-locks', `${id}.lock`);
	const heir = spawn('bash', ['-c', 'exec 9>>"$1"; flock 9; echo locked; read -r', 'heir', lock]);
	t.after(() => heir.kill('SIGKILL'));
	await once(heir.stdout, 'data');
	const second = startProto(t, model, { home: first.home, cwd: first.cwd, args: ['--no-auto-configure'] });
	second.submit('a', { type: 'configure_session', resume_path: rollout });
	const refused = await second.next('error');
	assert.match(refused.msg.message, /is being written by/);
	second.submit('b', { type: 'configure_session', resume_path: rollout });
	await setTimeout(500); // a retry without time left would have failed by now
	heir.stdin.end();
	assert.equal((await second.next('session_configured')).id, 'b');
	assert.deepEqual(second.events().filter(({ msg }) => msg.type === 'error').map((event) => event.id), ['a']);
	assert.equal((await second.end()).code, 0);
});
