// Subagents in error cases: invalid calls of the model, interrupted work, missing files.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { needs, outputOf, readLines, rollouts, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const on = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\nfeatures.subagent_tools = true\n';
const call = (name, args = {}, id = undefined) => ({ call: name, arguments: args, ...(id && { call_id: id }) });
const spawn = (prompt, more, id) => call('subagent_spawn', { prompt, ...more }, id);
const child = (contains, ...steps) => ({ when: { contains, lacks: 'You are agent 0' }, reply: steps });
const message = (words) => ({ message: words });
const ok = { reply: [message('ok')], times: 'forever' };

/** The output of that call in the last request that has it, as JSON if it is. */
function output(model, id) {
	const request = model.requests().findLast(({ body }) => body.input.some((it) => it.call_id === id && 'output' in it));
	const words = outputOf(request, id);
	try {
		return JSON.parse(words);
	} catch {
		return words;
	}
}

/** The results of waits without a caller, in the last request of the root. */
const injected = (model) => model.requests().at(-1).body.input
	.filter((it) => it.type === 'function_call_output' && /^await-/.test(it.call_id)).map((it) => JSON.parse(it.output));

async function run(t, replies, { args, config = on, home, cwd } = {}) {
	const model = await startModel(t, replies);
	const codex = startProto(t, model, { config, args, home, cwd });
	codex.submit('1', userInput('go'));
	const done = await codex.next('task_complete');
	return { model, codex, done };
}

const lifecycle = (codex, id) => codex.events().map(({ msg }) => msg)
	.filter((msg) => msg.type === 'subagent_lifecycle' && (msg.agent_id ?? msg.subagent?.agent_id) === id)
	.map((msg) => msg.status ?? msg.event);

test('one that is canceled while it is launched does not work', proto, async (t) => {
	const { model, codex } = await run(t, [
		{ ...child('never mind', message('I worked.')), times: 'forever' },
		{ reply: [spawn('never mind', {}, 's'), call('subagent_cancel', { agent_id: 1 }, 'c')] },
		{ reply: [call('exec_command', { cmd: 'sleep 0.3' })] },
		{ reply: [call('subagent_list', {}, 'l')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	assert.equal(output(model, 'c').status, 'canceled');
	assert.deepEqual(output(model, 'l').sessions.map(({ status }) => status), ['canceled']);
	assert.deepEqual(lifecycle(codex, 1), ['created', 'running', 'canceled']);
});

test('a canceled subagent follows a new message at once', proto, async (t) => {
	const { model, codex } = await run(t, [
		{ ...child('the other thing', message('Did the other.')), times: 'forever' },
		{ reply: [spawn('one thing', {}, 's'), call('subagent_cancel', { agent_id: 1 }, 'c'),
			call('subagent_send_message', { agent_id: 1, prompt: 'the other thing' }, 'm')] },
		{ reply: [call('subagent_await', { agent_id: 1 }, 'w1')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	const news = [output(model, 'w1'), ...injected(model)];
	assert.ok(news.some(({ completion }) => completion?.Completed?.last_message === 'Did the other.'), JSON.stringify(news));
	assert.equal(lifecycle(codex, 1).at(-1), 'idle');
});

test('a model that starts subagents in a loop reaches the limit, and only so many run', proto, async (t) => {
	const { model, codex } = await run(t, [
		{ ...child('busy', { hang: true }), times: 'forever' },
		{ reply: [{ repeat: 40, steps: [{ call: 'subagent_spawn', arguments: '{"prompt":"busy {i}"}', call_id: 's{i}' }] }] },
		{ reply: [call('subagent_cancel', { agent_id: 3 }, 'c'), spawn('busy again', {}, 'again')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	for (let i = 1; i <= 8; i++) assert.equal(output(model, `s${i}`).agent_id, i);
	for (let i = 9; i <= 40; i++) assert.match(output(model, `s${i}`), /^subagent limit reached: at most 8 active/);
	assert.equal(output(model, 'again').agent_id, 9, 'a refusal costs no number');
});

test('a thousand messages to a busy agent: the first are kept, the rest are refused', proto, async (t) => {
	const { codex } = await run(t, [
		child('busy', { hang: true }),
		{ reply: [spawn('busy', {}, 's')] },
		{ reply: [{ repeat: 1000, steps: [
			{ call: 'subagent_send_message', arguments: '{"agent_id":1,"prompt":"word {i}"}', call_id: 'm{i}' }] }] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	const { session_id: thread } = codex.events()[0].msg;
	const stored = new Map(readLines(rollouts(codex.home).find((file) => file.includes(thread)))
		.map(({ payload }) => [payload.call_id, payload.output])); // more than a model can be shown: it is compacted
	assert.equal(JSON.parse(stored.get('m256')).pending_messages, 256);
	assert.match(stored.get('m257'), /^agent_id 1 cannot be sent a message: 256 messages wait there unread/);
	assert.match(stored.get('m1000'), /256 messages wait there unread/);
	const depths = codex.events().map(({ msg }) => msg).filter((msg) => msg.type === 'agent_inbox' && msg.agent_id === 1);
	assert.equal(depths.length, 257, 'a refusal changes nothing');
	assert.equal(depths.at(-1).pending_messages, 256);
});

test('a message has at most 64 KiB; agents cannot write to themselves or to missing ones', proto, async (t) => {
	const { model, codex } = await run(t, [
		child(['hello me', 'is you'], message('Never mind.')),
		child('hello me', call('subagent_send_message', { agent_id: 1, prompt: 'hello' }, 'self')),
		child('xxxx', message('Read.')),
		{ reply: [spawn('hello me', {}, 's')] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'x'.repeat(65536) }, 'fits'),
			call('subagent_send_message', { agent_id: 1, prompt: 'x'.repeat(65537) }, 'over'),
			call('subagent_send_message', { agent_id: 77, prompt: 'x' }, 'none'),
			call('subagent_send_message', { agent_id: -1, prompt: 'x' }, 'minus'),
			call('subagent_send_message', { agent_id: 1e300, prompt: 'x' }, 'huge'),
			call('subagent_watchdog', { agent_id: 1, interval_s: 18446744073709552 }, 'dog')] },
		{ reply: [call('subagent_await', { agent_id: 1 }, 'w')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	const told = model.requests().flatMap(({ body }) => body.input).find((it) => it.call_id === 'self' && 'output' in it);
	assert.match(told.output, /agent_id 1 is you/);
	assert.equal(output(model, 'fits').status, 'running');
	assert.match(output(model, 'over'), /at most 64 KiB/);
	assert.equal(output(model, 'none'), 'agent_id 77 not found; refresh subagent_list');
	assert.equal(output(model, 'minus'), 'agent_id -1 not found; refresh subagent_list');
	assert.match(output(model, 'huge'), /^failed to parse/);
	assert.match(output(model, 'dog'), /at most 86400 seconds/);
	const heard = model.requests().find(({ body }) => textsOf({ body }, 'user').some((it) => it === 'x'.repeat(65536)));
	assert.ok(heard, 'the long one came whole');
});

test('a subagent that cannot be launched leaves no trace, one that fails reports the reason', proto, async (t) => {
	const { model, codex } = await run(t, [
		child('bad request', { status: 400, body: { error: { message: 'no such thing' } } }),
		{ reply: [spawn('x', { model: 'nonsense-9' }, 'unknown')] },
		{ reply: [spawn('bad request', {}, 's')] },
		{ reply: [call('subagent_await', {}, 'w')] },
		{ reply: [call('subagent_list', {}, 'l')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	assert.match(output(model, 'unknown'), /^subagent launch failed: invalid model `nonsense-9`; available models: /);
	assert.deepEqual(lifecycle(codex, 1), ['created', 'deleted']);
	assert.equal(output(model, 's').agent_id, 2);
	assert.match(output(model, 'w').completion.Failed.message, /no such thing/);
	assert.deepEqual(output(model, 'l').sessions.map((it) => [it.agent_id, it.status]), [[2, 'failed']]);
});

test('messages of a removed subagent are still delivered', proto, async (t) => {
	const { model, codex } = await run(t, [
		child(['tell the root', 'function_call_output'], message('Told.')),
		child('tell the root', call('subagent_send_message', { agent_id: 0, prompt: 'the key is under the mat' })),
		{ reply: [spawn('tell the root')] },
		{ reply: [call('exec_command', { cmd: 'sleep 0.3' }), call('subagent_prune', { all: true }, 'p')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(output(model, 'p').pruned_agent_ids, [1]);
	const words = injected(model).flatMap(({ messages }) => messages.map(({ prompt }) => prompt));
	assert.deepEqual(words, ['the key is under the mat']);
});

test('removing a subagent wakes its waiters', proto, async (t) => {
	const { model, codex } = await run(t, [
		child(['wait for one', 'not found; refresh'], message('It is gone.')),
		child(['wait for one', 'call_w0'], message('It was done.')),
		child('wait for one', call('subagent_await', { agent_id: 1 }, 'call_w0')),
		child('be quick', message('Quick.')),
		{ reply: [spawn('be quick')] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [call('subagent_send_message', { agent_id: 1 }), spawn('wait for one')] },
		{ reply: [call('exec_command', { cmd: 'sleep 0.2' }), call('subagent_cancel', { agent_id: 1 }),
			call('subagent_prune', { agent_ids: [1] }, 'p')] },
		{ reply: [call('subagent_await', { agent_id: 2 }, 'w')] },
		ok,
	]);
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(output(model, 'p').pruned_agent_ids, [1]);
	assert.equal(output(model, 'w').lifecycle_status, 'idle');
});

test('a shutdown while one agent waits and another works', needs('app-server'), async (t) => {
	const model = await startModel(t, [
		child(['in between', 'call_mid'], call('subagent_await')),
		child('in between', spawn('at the bottom', {}, 'call_mid')),
		child('at the bottom', call('exec_command', { cmd: 'sleep 60' })),
		{ reply: [spawn('in between')] },
		{ reply: [call('subagent_await')] },
	]);
	const server = await startAppServer(t, model, { config: 'features.subagent_tools = true' });
	const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution', 'command');
	const { code, stderr } = await server.end();
	assert.deepEqual([code, stderr], [0, '']);
});

test('a session with missing subagent files and damaged records is resumed', proto, async (t) => {
	const { model, codex: first } = await run(t, [
		child('pears', message('Counted.')),
		{ reply: [spawn('pears', {}, 's1')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
		// a new process
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'again' }, 'gone'), call('subagent_list', {}, 'l'),
			spawn('more', {}, 's2')] },
		ok,
	]);
	await first.end();
	const { session_id: thread } = first.events()[0].msg;
	const { session_id: id } = output(model, 's1');
	const own = rollouts(first.home).find((file) => file.includes(thread));
	fs.rmSync(rollouts(first.home).find((file) => file.includes(id)));
	const line = (payload) => JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type: 'event_msg', payload }) + '\n';
	const inbox = (more) => line({ type: 'agent_inbox', agent_id: 1, session_id: id, pending_messages: 0, pending_interrupts: 0, ...more });
	const words = (prompt) => ({ sender_agent_id: 0, recipient_agent_id: 1, interrupt: false, prompt, timestamp_ms: 1, outcome: '' });
	let junk = '';
	for (let i = 0; i < 300; i++) junk += inbox({ pending_messages: i + 1, message: words(`m${i}`) });
	junk += inbox({ pending_messages: 999, message: words('x'.repeat(70000)) });
	junk += inbox({ pending_messages: -5, pending_interrupts: -9 });
	junk += inbox({ agent_id: -3 }) + inbox({ agent_id: 44, taken_from: 3 }) + inbox({ taken_from: -1 });
	for (const more of [{ agent_id: -1 }, { agent_id: 0 }, { agent_id: 5, parent_agent_id: 5 }, { agent_id: 6, session_id: 'x' },
		{ agent_id: 9007199254740991 }])
		junk += line({ type: 'subagent_lifecycle', event: 'created', subagent: { agent_id: 4, parent_agent_id: 0, session_id: id,
			parent_session_id: thread, origin: 'spawn', status: 'running', label: null, summary: null, reasoning_header: null,
			started_at_ms: 0, pending_messages: 0, pending_interrupts: 0, ...more } });
	junk += line({ type: 'subagent_lifecycle', event: 'deleted', agent_id: 0, session_id: thread });
	junk += line({ type: 'subagent_lifecycle', event: 'status', agent_id: 77, session_id: id, status: 'running' });
	fs.appendFileSync(own, junk);

	const second = startProto(t, model, { home: first.home, cwd: first.cwd, args: ['--resume', thread] });
	await second.next('session_configured');
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	assert.equal(output(model, 'gone'), 'agent_id 1 is no longer active; refresh subagent_list');
	assert.equal(output(model, 'l').sessions[0].agent_id, 1);
	assert.ok(output(model, 's2').agent_id > 1, 'numbers go on');
});

test('a resumed subagent is not allowed more than its parent', proto, async (t) => {
	const { model, codex: first } = await run(t, [
		child('pears', message('Counted.')),
		{ reply: [spawn('pears', {}, 's1')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
		// a new process
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'again' }, 'm')] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		ok,
	]);
	await first.end();
	const { session_id: thread } = first.events()[0].msg;
	const second = startProto(t, model, { home: first.home, cwd: first.cwd,
		args: ['--resume', thread, '-c', 'sandbox_mode="read-only"'] });
	await second.next('session_configured');
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	const file = rollouts(first.home).find((name) => name.includes(output(model, 's1').session_id));
	const sandboxes = readLines(file).filter(({ type }) => type === 'turn_context').map(({ payload }) => payload.sandbox_policy.type);
	assert.deepEqual(sandboxes, ['danger-full-access', 'read-only']);
});

test('a resumed subagent keeps the folders and the network that its parent has, too', proto, async (t) => {
	const [gone, both] = ['gone', 'both'].map((name) => tempDir(t, name));
	const sandbox = (roots, more) => ['-c', 'sandbox_mode="workspace-write"',
		'-c', `sandbox_workspace_write={writable_roots=${JSON.stringify(roots)},${more}}`];
	const model = await startModel(t, [
		child('pears', message('Counted.')),
		{ reply: [spawn('pears', {}, 's1')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
		// a new process, in another folder
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'again' }, 'm')] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		ok,
	]);
	const first = startProto(t, model, { config: on, args: sandbox([gone, both], 'network_access=true') });
	first.submit('1', userInput('go'));
	const { session_id: thread } = (await first.next('session_configured')).msg;
	await first.next('task_complete');
	await first.end();
	const second = startProto(t, model, { home: first.home, cwd: first.cwd,
		args: ['--resume', thread, ...sandbox([both], 'network_access=false,exclude_slash_tmp=true')] });
	await second.next('session_configured');
	const cwd = tempDir(t, 'elsewhere');
	second.submit('0', { type: 'override_turn_context', cwd });
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	const file = rollouts(first.home).find((name) => name.includes(output(model, 's1').session_id));
	const [before, after] = readLines(file).filter(({ type }) => type === 'turn_context').map(({ payload }) => payload);
	assert.deepEqual([before.sandbox_policy.writable_roots, before.sandbox_policy.network_access, before.cwd], [[gone, both], true, first.cwd]);
	assert.deepEqual([after.sandbox_policy.type, after.sandbox_policy.writable_roots, after.sandbox_policy.network_access,
		after.sandbox_policy.exclude_slash_tmp, after.cwd], ['workspace-write', [both], false, true, cwd]);
});

test('the network of a resumed subagent is that which both sandboxes permit, of any kind', proto, async (t) => {
	const workspace = (network_access) => ({ type: 'workspace-write', network_access });
	const outside = (network_access) => ({ type: 'external-sandbox', network_access });
	const full = { type: 'danger-full-access' };
	for (const [before, after, want] of [[workspace(true), outside('restricted'), workspace(false)],
		[outside('restricted'), workspace(true), workspace(false)], [outside('restricted'), full, outside('restricted')],
		[full, outside('enabled'), outside('enabled')]]) {
		const model = await startModel(t, [child('pears', message('Counted.')), { reply: [spawn('pears', {}, 's1')] },
			{ reply: [call('subagent_await')] }, { reply: [message('ok')] },
			{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'again' }, 'm')] },
			{ reply: [call('subagent_await', { agent_id: 1 })] }, ok]);
		const first = startProto(t, model, { config: on });
		first.submit('0', { type: 'override_turn_context', sandbox_policy: before });
		first.submit('1', userInput('go'));
		const { session_id: thread } = (await first.next('session_configured')).msg;
		await first.next('task_complete');
		await first.end();
		const second = startProto(t, model, { home: first.home, cwd: first.cwd, args: ['--resume', thread] });
		await second.next('session_configured');
		second.submit('0', { type: 'override_turn_context', sandbox_policy: after });
		second.submit('1', userInput('go on'));
		await second.next('task_complete');
		assert.equal((await second.end()).code, 0);
		const file = rollouts(first.home).find((name) => name.includes(output(model, 's1').session_id));
		const { type, network_access: network } = readLines(file).filter((it) => it.type === 'turn_context').at(-1).payload.sandbox_policy;
		assert.deepEqual({ type, ...('network_access' in want && { network_access: network }) }, want);
	}
});

test('requests of subagents are marked for the provider', proto, async (t) => {
	const { model, codex } = await run(t, [
		child('who am I', message('Nobody.')),
		{ reply: [spawn('who am I', {}, 's')] },
		{ reply: [call('subagent_await')] },
		ok,
	]);
	await codex.end();
	const { session_id: thread } = codex.events()[0].msg;
	const id = output(model, 's').session_id;
	const names = ['x-openai-subagent', 'x-codex-parent-thread-id', 'session-id', 'thread-id', 'x-client-request-id'];
	const own = model.requests().find(({ body }) => textsOf({ body }, 'user').includes('who am I'));
	assert.deepEqual(names.map((name) => own.headers[name]), ['collab_spawn', thread, thread, id, id]);
	assert.deepEqual(names.map((name) => model.requests()[0].headers[name]), [undefined, undefined, thread, thread, thread]);
});
