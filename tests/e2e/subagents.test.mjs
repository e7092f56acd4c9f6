// Subagents: the tools subagent_*, their events, and the delivery of messages to models.
// The numbers are those of the acceptance tests in the specification of subagents.

import assert from 'node:assert/strict';
import child_process from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer } from './lib/app_server.mjs';
import { needs, outputOf, startModel, textsOf } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto'), server = needs('app-server');
const on = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\nfeatures.subagent_tools = true\n';

const call = (name, args = {}, id = undefined) => ({ call: name, arguments: args, ...(id && { call_id: id }) });
/** A reply for requests that contain that text: agents are recognised by their prompts. */
const when = (contains, ...steps) => ({ when: typeof contains === 'string' ? { contains } : contains, reply: steps });
const spawn = (prompt, more) => call('subagent_spawn', { prompt, ...more });
const message = (text) => ({ message: text });

const agentEvents = (events) => events.map(({ msg }) => msg)
	.filter(({ type }) => type === 'subagent_lifecycle' || type === 'agent_inbox')
	.map((msg) => msg.type === 'agent_inbox'
		? `inbox ${msg.agent_id} ${msg.pending_messages} ${msg.pending_interrupts}`
		: `${msg.event} ${msg.subagent?.agent_id ?? msg.agent_id} ${msg.subagent?.status ?? msg.status ?? ''}`.trim());

/** The answers to calls of that tool, as JSON, in the order the model saw them. */
function answers(model, name) {
	const last = new Map();
	for (const request of model.requests()) {
		for (const item of request.body.input) {
			if (item.type === 'function_call' && item.name === name)
				last.set(item.call_id, outputOf(request, item.call_id));
		}
	}
	return [...last.values()].map((text) => {
		try {
			return JSON.parse(text);
		} catch {
			return text;
		}
	});
}

/** Runs the turn "go", after which the program ends. */
async function ran(codex) {
	codex.submit('1', userInput('go'));
	await codex.next('task_complete');
	await codex.end();
	return codex;
}

/** The app-server with a thread, driven like codex proto; it has no events for lifecycles and inboxes. */
function startServer(t, model, options) {
	const ready = startAppServer(t, model, options)
		.then(async (server) => ({ server, thread: (await server.request('thread/start', {})).thread }));
	return {
		submit: (id, op) => ready.then(({ server, thread }) =>
			server.request('turn/start', { threadId: thread.id, input: op.items })),
		next: async () => {
			const { server, thread } = await ready;
			const { params: { turn } } = await server.take(({ method, params }) =>
				method === 'turn/completed' && params.threadId === thread.id, 'turn/completed');
			const said = server.all('item/completed').findLast(({ params }) =>
				params.turnId === turn.id && params.item.type === 'agentMessage');
			return { id: turn.id, msg: { last_agent_message: said?.params.item.text } };
		},
		end: async () => (await ready).server.end(),
	};
}

/** A test that holds for both front ends. */
function both(name, body) {
	test(`${name} (proto)`, proto, (t) => body(t, startProto));
	test(`${name} (app-server)`, server, (t) => body(t, startServer));
}

test('1. a subagent is started, works and ends; its events are emitted in order', proto, async (t) => {
	const model = await startModel(t, [
		when({ contains: 'Count the files', lacks: 'You are agent 0' }, message('There are three.')),
		{ reply: [spawn('Count the files.', { label: ' the  counter ' })] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('Three, it says.')] },
	]);
	const codex = startProto(t, model, { config: on });
	codex.submit('1', userInput('How many?'));
	const done = await codex.next('task_complete');
	assert.equal(done.msg.last_agent_message, 'Three, it says.');
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(agentEvents(codex.events()), [
		'created 1 queued', 'inbox 1 0 0', 'status 1 running', 'status 1 idle', 'inbox 0 1 0', 'inbox 0 0 0']);
	const { subagent } = codex.events().find(({ msg }) => msg.event === 'created').msg;
	assert.deepEqual({ ...subagent, session_id: '', parent_session_id: '', started_at_ms: 0 }, {
		agent_id: 1, parent_agent_id: 0, session_id: '', parent_session_id: '', origin: 'spawn', status: 'queued',
		label: 'the counter', summary: 'Count the files.', reasoning_header: null, started_at_ms: 0,
		pending_messages: 0, pending_interrupts: 0 });
	const [spawned] = answers(model, 'subagent_spawn');
	assert.equal(spawned.status, 'running');
	assert.equal(spawned.session_id, subagent.session_id);
	const [news] = answers(model, 'subagent_await');
	assert.deepEqual(news.completion, { Completed: { last_message: 'There are three.' } });
	assert.equal(news.timed_out, false);
	assert.equal(news.lifecycle_status, 'idle');
});

both('2. numbers go up, also after one was pruned', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'work ', lacks: 'You are agent 0' }, message('Done.')),
		when({ contains: 'work ', lacks: 'You are agent 0' }, message('Done.')),
		when({ contains: 'work ', lacks: 'You are agent 0' }, message('Done.')),
		{ reply: [spawn('work one')] },
		{ reply: [spawn('work two')] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [call('subagent_prune', { agent_ids: [1, 77] })] },
		{ reply: [spawn('work three')] },
		{ reply: [call('subagent_list')] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const codex = await ran(start(t, model, { config: on }));
	assert.deepEqual(answers(model, 'subagent_spawn').map(({ agent_id: id }) => id), [1, 2, 3]);
	const [pruned] = answers(model, 'subagent_prune');
	assert.deepEqual(pruned.counts, { pruned: 1, skipped_active: 0, unknown: 1, errors: 0 });
	assert.deepEqual(pruned.pruned_agent_ids, [1]);
	assert.deepEqual(pruned.unknown_agent_ids, [77]);
	assert.deepEqual(answers(model, 'subagent_list')[0].sessions.map(({ agent_id: id }) => id), [2, 3]);
	if (codex.events) assert.ok(agentEvents(codex.events()).includes('deleted 1'));
});

both('3. how long may be waited', async (t, start) => {
	const waits = [299, 300, 1800, 1801, 0, -1];
	const model = await startModel(t, [
		when({ contains: 'quick', lacks: 'You are agent 0' }, message('Done.')),
		{ reply: [spawn('be quick')] },
		...waits.map((timeout_s) => ({ reply: [call('subagent_await', { timeout_s })] })),
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on }));
	const [short, ok300, ok1800, long, zero, negative, none] = answers(model, 'subagent_await').filter((it) => !it.injected);
	assert.match(short, /^subagent_await timeout must be at least 300 seconds/);
	assert.match(long, /^subagent_await timeout_secs \(1801s\) exceeds the 30-minute limit \(1800s\)/);
	assert.match(negative, /^failed to parse subagent_await arguments/);
	// 4. a completion is returned again if no active subagent remains
	for (const news of [ok300, ok1800, zero, none])
		assert.deepEqual(news.completion, { Completed: { last_message: 'Done.' } });
	assert.equal(none.metadata.agent_id, 1);
});

both('3. without children there is nothing to wait for', async (t, start) => {
	const model = await startModel(t, [{ reply: [call('subagent_await')] }, { reply: [message('ok')] }]);
	const codex = await ran(start(t, model, { config: on }));
	assert.deepEqual(answers(model, 'subagent_await'),
		['no active subagents to await; start one with subagent_spawn first']);
});

both('5. a wait that runs out changes nothing', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'slowly', lacks: 'You are agent 0' }, { hang: true }),
		{ reply: [spawn('work slowly')] },
		{ reply: [call('subagent_await', { timeout_s: 300 })] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on, args: ['-c', 'debug.clock_scale=3000'] }));
	const [news] = answers(model, 'subagent_await');
	assert.equal(news.timed_out, true);
	assert.equal(news.completion, null);
	assert.deepEqual(news.messages, []);
	assert.equal(news.lifecycle_status, 'running');
	assert.deepEqual(news.subagent_tool_metadata.subagents, [{ id: 1, name: 'agent-1', state: 'running' }]);
});

both('6. an interrupt stops what the subagent does and is what it does next', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'turn to plum', lacks: 'You are agent 0' }, message('Changed.')),
		when({ contains: 'on pears', lacks: ['You are agent 0', 'turn to plum'] }, { gate: 'begun' }, { hang: true }),
		{ reply: [spawn('work on pears')] },
		{ reply: [call('exec_command', { cmd: 'sleep 0.2' })] },
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'turn to plum', interrupt: true })] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on }));
	if (codex.events) assert.deepEqual(agentEvents(codex.events()), ['created 1 queued', 'inbox 1 0 0', 'status 1 running',
		'inbox 1 0 1', 'inbox 1 0 0', 'status 1 idle', 'inbox 0 1 0', 'inbox 0 0 0']);
	assert.deepEqual(answers(model, 'subagent_await')[0].completion, { Completed: { last_message: 'Changed.' } });
	const child = model.requests().findLast(({ body }) => !JSON.stringify(body).includes('You are agent 0'));
	assert.ok(textsOf(child, 'user').some((text) => text.includes('<turn_aborted>')));
	assert.equal(textsOf(child, 'user').at(-1), 'turn to plum');
});

both('7. what interrupts is heard first, the rest in order', async (t, start) => {
	const send = (prompt, interrupt) => call('subagent_send_message', { agent_id: 1, prompt, ...(interrupt && { interrupt }) });
	const model = await startModel(t, [
		when({ contains: 'pear two', lacks: 'You are agent 0' }, message('All heard.')),
		when({ contains: 'plum now', lacks: ['You are agent 0', 'pear two'] }, message('Heard the first.')),
		when({ contains: 'on pears', lacks: ['You are agent 0', 'plum now'] }, { hang: true }),
		{ reply: [spawn('work on pears')] },
		{ reply: [send('pear one'), send('pear two'), send('plum now', true)] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on }));
	const child = model.requests().findLast(({ body }) => !JSON.stringify(body).includes('You are agent 0'));
	const heard = textsOf(child, 'user').filter((text) => /^(pear one|pear two|plum now)$/.test(text));
	assert.deepEqual(heard, ['plum now', 'pear one', 'pear two']);
	if (codex.events) assert.deepEqual(agentEvents(codex.events()).filter((line) => line.startsWith('inbox 1')),
		['inbox 1 0 0', 'inbox 1 1 0', 'inbox 1 2 0', 'inbox 1 2 1', 'inbox 1 2 0', 'inbox 1 1 0', 'inbox 1 0 0']);
});

both('8. the root is not interrupted, and does not write to itself', async (t, start) => {
	const toRoot = (more) => call('subagent_send_message', { agent_id: 0, prompt: 'hello', ...more });
	const model = await startModel(t, [
		when({ contains: 'call_up', lacks: 'You are agent 0' }, message('Tried.')),
		when({ contains: 'try it', lacks: 'You are agent 0' }, toRoot({ interrupt: true }, 'call_up')),
		{ reply: [toRoot()] },
		{ reply: [spawn('try it')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	].map((reply, i) => i === 1 ? when({ contains: 'try it', lacks: 'You are agent 0' },
		{ call: 'subagent_send_message', call_id: 'call_up', arguments: { agent_id: 0, prompt: 'x', interrupt: true } }) : reply));
	const codex = await ran(start(t, model, { config: on }));
	assert.deepEqual(answers(model, 'subagent_send_message'), [
		'root agent cannot target agent 0; send a normal user message instead',
		'cannot send an interrupt to agent 0 (the root UI thread)']);
});

both('9. what a subagent says starts the root when it is idle', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'call_up', lacks: 'You are agent 0' }, { gate: 'later' }, message('Over.')),
		when({ contains: 'say so', lacks: 'You are agent 0' }, { gate: 'idle' },
			{ call: 'subagent_send_message', call_id: 'call_up', arguments: { agent_id: 0, prompt: 'Look here.' } }),
		{ reply: [spawn('say so')] },
		{ reply: [message('Started it.')] },
		{ reply: [message('I looked.')] },
		{ reply: [message('It is over.')] },
	]);
	const codex = start(t, model, { config: on });
	codex.submit('1', userInput('go'));
	await codex.next('task_complete');
	await model.openGate('idle');
	const heard = await codex.next('task_complete');
	assert.equal(heard.msg.last_agent_message, 'I looked.');
	assert.notEqual(heard.id, '1');
	await model.openGate('later');
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'It is over.');
	await codex.end();
	const injected = answers(model, 'subagent_await');
	assert.equal(injected[0].injected, true);
	assert.deepEqual(injected[0].messages.map(({ sender_agent_id: from, prompt }) => [from, prompt]), [[1, 'Look here.']]);
	assert.equal(injected[0].completion, null);
	assert.deepEqual(injected[1].completion, { Completed: { last_message: 'Over.' } });
});

both('10. unless that is switched off: then only a wait brings news', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'be quick', lacks: 'You are agent 0' }, message('Done.')),
		{ reply: [spawn('be quick')] },
		{ reply: [call('exec_command', { cmd: 'sleep 0.3' })] },
		{ reply: [message('Started it.')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const codex = start(t, model, { config: `subagent_root_inbox_autosubmit = false\n${on}` });
	codex.submit('1', userInput('go'));
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'Started it.');
	assert.deepEqual(answers(model, 'subagent_await'), []);
	codex.submit('2', userInput('and?'));
	await codex.next('task_complete');
	await codex.end();
	const [news] = answers(model, 'subagent_await');
	assert.equal(news.injected, false);
	assert.deepEqual(news.completion, { Completed: { last_message: 'Done.' } });
});

both('11. a fork knows what its parent knew, and who it is', async (t, start) => {
	const model = await startModel(t, [
		when('"role\\":\\"child', message('I am the copy.')),
		{ reply: [call('subagent_fork', { prompt: 'be the copy', label: 'twin' }, 'call_fork')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const codex = start(t, model, { config: on });
	codex.submit('1', userInput('the secret word is xyzzy'));
	await codex.next('task_complete');
	await codex.end();
	const child = model.requests().find(({ body }) => JSON.stringify(body).includes('role\\":\\"child'));
	assert.ok(textsOf(child, 'user').includes('the secret word is xyzzy'));
	assert.equal(textsOf(child, 'user').at(-1), 'be the copy');
	const role = JSON.parse(outputOf(child, 'call_fork'));
	assert.deepEqual([role.role, role.label, role.prompt], ['child', 'twin', 'be the copy']);
	const [forked] = answers(model, 'subagent_fork').filter((answer) => answer.payload);
	assert.deepEqual([forked.payload.role, forked.origin, forked.payload.child_session_id],
		['parent', 'fork', role.child_session_id]);
	assert.ok(forked.initial_message_count > 0);
	assert.equal(JSON.stringify(child.body).includes('"role\\":\\"parent'), false);
});

both('12. a subagent may have a narrower sandbox, never a wider one', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'narrow', lacks: 'You are agent 0' }, message('Done.')),
		{ reply: [spawn('wide', { sandbox_mode: 'danger' })] },
		{ reply: [spawn('odd', { sandbox_mode: 'mars' })] },
		{ reply: [spawn('narrow', { sandbox_mode: 'Read Only' })] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on.replace('danger-full-access', 'workspace-write') }));
	const [wide, odd, narrow] = answers(model, 'subagent_spawn');
	assert.equal(wide, 'sandbox_mode danger-full-access not permitted; parent session runs in workspace-write');
	assert.equal(odd, "unknown sandbox_mode 'mars'; expected one of read-only, workspace-write, danger-full-access");
	assert.equal(narrow.agent_id, 1);
	const child = model.requests().find(({ body }) => JSON.stringify(body).includes('You are a subagent'));
	assert.match(textsOf(child, 'developer').join('\n'), /read-only|may not write|cannot write/i);
});

both('13. no more than the configured number work at once', async (t, start) => {
	const model = await startModel(t, [
		{ when: { contains: 'wait here', lacks: 'You are agent 0' }, reply: [{ hang: true }], times: 'forever' },
		{ reply: Array.from({ length: 9 }, (_, i) => spawn(`wait here ${i}`)) },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on }));
	const spawned = answers(model, 'subagent_spawn');
	assert.deepEqual(spawned.slice(0, 8).map(({ status }) => status), Array(8).fill('running'));
	assert.equal(spawned[8], 'subagent limit reached: at most 8 active subagents per session');
});

both('14. logs are read without disturbing anybody', async (t, start) => {
	const logs = (args) => ({ reply: [call('subagent_logs', { agent_id: 1, ...args })] });
	const model = await startModel(t, [
		when({ contains: 'talk', lacks: 'You are agent 0' }, { repeat: 300, steps: [{ delta: 'word ' }] }),
		{ reply: [spawn('talk')] },
		{ reply: [call('subagent_await')] },
		logs(), logs({ limit: 0 }), logs({ limit: 1000 }), logs({ limit: 10, max_bytes: 500 }),
		{ reply: [call('subagent_logs', { agent_id: 9 })] },
		{ reply: [call('subagent_list')] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: `tool_output_token_limit = 100000\n${on}` }));
	const [five, one, all, few, unknown] = answers(model, 'subagent_logs');
	assert.deepEqual([five.returned, five.total_available, five.more_available], [5, 200, true]);
	assert.equal(five.events.at(-1).event.msg.type, 'task_complete');
	assert.equal(one.returned, 1);
	assert.deepEqual([all.returned, all.more_available], [200, false]);
	assert.equal(all.earliest_ms, all.events[0].timestamp_ms);
	assert.ok(few.returned < 10 && few.more_available && JSON.stringify(few.events).length <= 500);
	assert.equal(unknown, 'agent_id 9 not found; refresh subagent_list');
	assert.equal(answers(model, 'subagent_list')[0].sessions[0].status, 'idle');
});

both('14. logs that are longer than the model may read are fewer, and still JSON', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'talk', lacks: 'You are agent 0' }, { repeat: 300, steps: [{ delta: 'word ' }] }),
		{ reply: [spawn('talk')] },
		{ reply: [call('subagent_await')] },
		{ reply: [call('subagent_logs', { agent_id: 1, limit: 200 }),
			call('subagent_logs', { agent_id: 1, limit: 200, max_bytes: 1000000 })] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: `tool_output_token_limit = 1000\n${on}` }));
	const logs = answers(model, 'subagent_logs');
	assert.equal(logs.length, 2);
	for (const log of logs) {
		assert.ok(log.returned > 0 && log.returned < 200, String(log.returned ?? log));
		assert.deepEqual([log.events.length, log.total_available, log.more_available], [log.returned, 200, true]);
	}
});

both('wrong arguments are reported with the name of the tool', async (t, start) => {
	const model = await startModel(t, [
		{ reply: [call('subagent_spawn', {}), call('subagent_await', { timeout_s: 'x' }), call('subagent_cancel', {})] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on }));
	assert.deepEqual(answers(model, 'subagent_spawn'), ['failed to parse subagent_spawn arguments: missing field `prompt`']);
	assert.match(answers(model, 'subagent_await')[0], /^failed to parse subagent_await arguments: ./);
	assert.match(answers(model, 'subagent_cancel')[0], /^failed to parse subagent_cancel arguments: ./);
});

both('15. only what has ended is pruned', async (t, start) => {
	const model = await startModel(t, [
		when({ contains: 'stay', lacks: 'You are agent 0' }, { hang: true }),
		when({ contains: 'be quick', lacks: 'You are agent 0' }, message('Done.')),
		{ reply: [spawn('stay')] },
		{ reply: [spawn('be quick')] },
		{ reply: [call('subagent_await', { agent_id: 2 })] },
		{ reply: [call('subagent_prune', { all: true })] },
		{ reply: [call('subagent_prune', {})] },
		{ reply: [call('subagent_prune', { agent_ids: [] })] },
		{ reply: [call('subagent_prune', { all: true, completed_only: false })] },
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on }));
	const [pruned, neither, empty, notOnly] = answers(model, 'subagent_prune');
	assert.deepEqual([pruned.pruned_agent_ids, pruned.skipped_active_agent_ids], [[2], [1]]);
	assert.deepEqual(pruned.request, { all: true });
	assert.equal(neither, 'specify session_ids or set all=true');
	assert.equal(empty, 'session_ids list cannot be empty');
	assert.match(notOnly, /must be true or omitted/);
	if (codex.events) assert.deepEqual(agentEvents(codex.events()).filter((line) => line.startsWith('deleted')), ['deleted 2']);
});

test('16. a resumed session restores its subagents, and they continue', proto, async (t) => {
	const model = await startModel(t, [
		when({ contains: 'pears', lacks: ['You are agent 0', 'plums'] }, message('Pears counted.')),
		when({ contains: 'apples', lacks: 'You are agent 0' }, { hang: true }),
		when({ contains: 'plums', lacks: 'You are agent 0' }, message('Plums, too.')),
		{ reply: [spawn('count pears', { label: 'counter', sandbox_mode: 'read-only' })] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [spawn('count apples')] },
		{ reply: [call('subagent_watchdog', { agent_id: 1, interval_s: 600, message: 'Still there?' })] },
		{ reply: [message('Begun.')] },
		// a new process
		{ reply: [call('subagent_list')] },
		{ reply: [call('subagent_watchdog', { agent_id: 1, cancel: true })] },
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'now the plums' })] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [spawn('count plums')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const first = startProto(t, model, { config: on.replace('danger-full-access', 'workspace-write') });
	first.submit('1', userInput('go'));
	const { session_id: thread } = (await first.next('session_configured')).msg;
	await first.next('task_complete');
	first.child.kill('SIGKILL');
	await first.done;

	const second = startProto(t, model, { home: first.home, cwd: first.cwd, args: ['--resume', thread] });
	await second.next('session_configured');
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	assert.deepEqual(agentEvents(second.events()).slice(0, 2), ['status 2 canceled', 'inbox 0 1 0']);
	const [{ sessions }] = answers(model, 'subagent_list');
	assert.deepEqual(sessions.map((it) => [it.agent_id, it.label, it.status, it.summary]),
		[[1, 'counter', 'idle', 'count pears'], [2, null, 'canceled', 'count apples']]);
	assert.deepEqual(answers(model, 'subagent_watchdog').map(({ action }) => action), ['started', 'canceled']);
	const [sent] = answers(model, 'subagent_send_message');
	assert.deepEqual([sent.agent_id, sent.origin, sent.session_id], [1, 'send_message', sessions[0].session_id]);
	assert.deepEqual(answers(model, 'subagent_spawn').map(({ agent_id: id }) => id), [1, 2, 3]);
	const child = model.requests().find(({ body }) => textsOf({ body }, 'user').includes('now the plums'));
	assert.ok(textsOf(child, 'user').includes('count pears'), 'it knows what it did before');
	const news = answers(model, 'subagent_await');
	assert.deepEqual(news.find((it) => it.injected).completion, { Canceled: { reason: 'interrupted' } });
	assert.ok(news.some((it) => it.completion?.Completed?.last_message === 'Plums, too.'));
});

test('a reopened subagent keeps its own model', proto, async (t) => {
	const model = await startModel(t, [
		when({ contains: 'pears', lacks: ['You are agent 0', 'plums'] }, message('Pears counted.')),
		when({ contains: 'plums', lacks: 'You are agent 0' }, message('Plums, too.')),
		{ reply: [spawn('count pears', { model: 'gpt-5.4' })] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [message('Done.')] },
		// a new process
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'now the plums' })] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const first = startProto(t, model, { config: on + 'model = "gpt-5.5"\n' });
	first.submit('1', userInput('go'));
	const { session_id: thread } = (await first.next('session_configured')).msg;
	await first.next('task_complete');
	assert.equal((await first.end()).code, 0);
	const second = startProto(t, model, { home: first.home, cwd: first.cwd, args: ['--resume', thread] });
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	const models = (words) => model.requests().filter(({ body }) => textsOf({ body }, 'user').includes(words)).map(({ body }) => body.model);
	assert.deepEqual([models('count pears'), models('now the plums')], [['gpt-5.4', 'gpt-5.4'], ['gpt-5.4']]);
	assert.ok(model.requests().some(({ body }) => body.model === 'gpt-5.5'));
});

/** A session whose subagent 1 has counted pears, resumed by another process while `hold` holds the lock of the subagent. */
async function reopenLocked(t, hold) {
	const model = await startModel(t, [
		when({ contains: 'pears', lacks: ['You are agent 0', 'plums'] }, message('Pears counted.')),
		when({ contains: 'plums', lacks: 'You are agent 0' }, message('Plums, too.')),
		{ reply: [spawn('count pears')] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [message('Done.')] },
		// a new process
		{ reply: [call('subagent_send_message', { agent_id: 1, prompt: 'now the plums' })] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const first = startProto(t, model, { config: on });
	first.submit('1', userInput('go'));
	const { session_id: thread } = (await first.next('session_configured')).msg;
	await first.next('task_complete');
	assert.equal((await first.end()).code, 0);
	const [{ session_id: id }] = answers(model, 'subagent_spawn');
	await hold(path.join(first.home, 'thread-writer-locks', `${id}.lock`));
	const second = startProto(t, model, { home: first.home, cwd: first.cwd, args: ['--resume', thread] });
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	return { sent: answers(model, 'subagent_send_message')[0], ends: answers(model, 'subagent_await').map((it) => it.completion) };
}

test('a subagent is reopened once the exited holder of its lock is gone', proto, async (t) => {
	const { ends } = await reopenLocked(t, async (lock) => {
		// flock(1) takes the lock and exits; its shell keeps the descriptor, as a child of a killed engine may.
		const heir = child_process.spawn('bash', ['-c', 'exec 9>>"$1"; flock 9; echo locked; sleep 1', 'heir', lock]);
		t.after(() => heir.kill('SIGKILL'));
		await once(heir.stdout, 'data');
	});
	assert.deepEqual(ends.map((it) => it?.Completed?.last_message), ['Pears counted.', 'Plums, too.']);
});

test('a subagent that another process writes fails to reopen, and its parent gets the reason', proto, async (t) => {
	const { sent, ends } = await reopenLocked(t, async (lock) => {
		const holder = child_process.spawn('flock', [lock, '-c', 'echo locked; exec sleep 600'], { detached: true });
		t.after(() => process.kill(-holder.pid, 'SIGKILL'));
		await once(holder.stdout, 'data');
	});
	assert.equal(sent.agent_id, 1);
	assert.equal(ends.length, 2);
	assert.match(ends[1].Failed.message, /^agent_id 1 cannot be resumed: .*is being written by/);
});

both('17. a watchdog pings, and does not pile up', async (t, start) => {
	const dog = (args) => ({ reply: [call('subagent_watchdog', { agent_id: 1, ...args })] });
	const model = await startModel(t, [
		when({ contains: 'stay', lacks: 'You are agent 0' }, { gate: 'pinged' }, message('Here.')),
		when({ contains: 'Still there?', lacks: 'You are agent 0' }, message('Yes.')),
		{ reply: [spawn('stay')] },
		dog({ interval_s: 29 }),
		dog({ interval_s: 30, message: 'Still there?' }),
		dog({ interval_s: 60, message: 'Still there?' }),
		{ reply: [call('exec_command', { cmd: 'sleep 0.3' })] },
		dog({ cancel: true }), dog({ cancel: true }),
		{ reply: [message('ok')] },
	]);
	const codex = await ran(start(t, model, { config: on, args: ['-c', 'debug.clock_scale=1000'] }));
	const [tooOften, ...rest] = answers(model, 'subagent_watchdog');
	assert.equal(tooOften, 'interval_s must be at least 30 seconds');
	assert.deepEqual(rest.map(({ action }) => action), ['started', 'replaced', 'canceled', 'not_found']);
	if (codex.events) assert.deepEqual(agentEvents(codex.events()).filter((line) => line.startsWith('inbox 1')), ['inbox 1 0 0', 'inbox 1 1 0']);
});

test('20. an interrupt of the root stops its descendants', proto, async (t) => {
	const model = await startModel(t, [
		when({ contains: 'stay', lacks: 'You are agent 0' }, { hang: true }),
		{ reply: [spawn('stay')] },
		{ reply: [call('subagent_await')] },
	]);
	const codex = startProto(t, model, { config: on });
	codex.submit('1', userInput('go'));
	await codex.next('collab_waiting_begin');
	codex.submit('2', { type: 'interrupt' });
	await codex.next('turn_aborted');
	await codex.end();
	assert.ok(agentEvents(codex.events()).includes('status 1 canceled'));
});

test('without the feature there are no such tools and no such events', proto, async (t) => {
	const model = await startModel(t, [{ reply: [spawn('x')] }, { reply: [message('ok')] }]);
	const codex = await ran(startProto(t, model));
	assert.equal(JSON.stringify(model.requests()[0].body.tools).includes('subagent_'), false);
	assert.deepEqual(answers(model, 'subagent_spawn'), ['unsupported call: subagent_spawn']);
	assert.deepEqual(agentEvents(codex.events()), []);
});

// 19: the tools under the names that other engines use

// Some providers number the calls of each response: then several agents wait for approvals by one id.
test('an approval of one agent starts no command of another by the same call id', proto, async (t) => {
	const model = await startModel(t, [
		when({ contains: ['make it', 'function_call_output'], lacks: 'You are agent 0' }, message('Made.')),
		when({ contains: 'make it', lacks: 'You are agent 0' }, call('exec_command', { cmd: 'touch of-child' }, 'c')),
		{ reply: [spawn('make it')] },
		{ reply: [call('exec_command', { cmd: 'touch of-root' }, 'c')] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const it = startProto(t, model, { config: on.replace('"never"', '"untrusted"') });
	it.submit('t1', userInput('go'));
	const asked = [await it.next('exec_approval_request'), await it.next('exec_approval_request')];
	assert.deepEqual(asked.map(({ msg }) => msg.call_id), ['c', 'c']);
	const made = (name) => fs.existsSync(path.join(it.cwd, name));
	it.submit('a', { type: 'exec_approval', id: 'c', decision: 'approved' });
	assert.match((await it.next('warning')).msg.message, /several agents are pending under `c`/);
	const child = asked.find(({ msg }) => msg.command.join(' ').includes('of-child'));
	it.submit('b', { type: 'exec_approval', id: child.id, decision: 'approved' });
	it.submit('d', { type: 'exec_approval', id: 't1', decision: 'denied' });
	await it.next('task_complete');
	assert.equal((await it.end()).code, 0);
	assert.deepEqual([made('of-child'), made('of-root')], [true, false]);
});

// Clients of the root see no event of the turn that has asked.
const asks = [call('exec_command', { cmd: 'touch one' }, 'c1'), call('exec_command', { cmd: 'touch two' }, 'c2')];
const gate = { gate: 'asked' };
for (const [how, replies, stop] of [
	['interrupted', [{ reply: [spawn('make it')] }, { reply: [call('subagent_await')] }], (it) => it.submit('stop', { type: 'interrupt' })],
	['cancelled', [{ reply: [spawn('make it')] }, { reply: [gate, call('subagent_cancel', { agent_id: 1 })] }, { reply: [message('ok')] }]],
	['closed', [{ reply: [call('spawn_agent', { message: 'make it' })] },
		{ take: { agent: { from: 'input.-1.output', after: '"agent_id":"' } }, reply: [gate, call('close_agent', { target: '{agent}' })] },
		{ reply: [message('ok')] }]],
]) {
	test(`the requests of a subagent that is ${how} are withdrawn`, proto, async (t) => {
		const config = 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n' +
			(how === 'closed' ? 'features.multi_agent = true\n' : 'features.subagent_tools = true\n');
		const model = await startModel(t, [when({ contains: 'make it', lacks: ['You are agent 0', 'rootword'] }, ...asks), ...replies]);
		const it = startProto(t, model, { config });
		it.submit('t1', userInput('rootword'));
		const asked = [await it.next('exec_approval_request'), await it.next('exec_approval_request')];
		await (stop ? stop(it) : model.openGate('asked'));
		const ended = [await it.next('request_user_input_expired'), await it.next('request_user_input_expired')];
		assert.deepEqual(ended.map(({ id, msg }) => [id, msg.call_id, msg.turn_id]).sort(),
			asked.map(({ id, msg }) => [id, msg.call_id, id]).sort());
		assert.equal((await it.end()).code, 0);
		assert.deepEqual(fs.readdirSync(it.cwd), []);
	});
}

const plain = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n';
const child = (contains, lacks, ...steps) => ({ when: { contains, lacks: ['ROOT', ...lacks] }, reply: steps });
/** Starts a conversation in which `steps` are the root's calls, made by functions of the answers so far. */
async function converse(t, start, replies) {
	const model = await startModel(t, [...replies, { reply: [message('ok')], times: 'forever' }]);
	const codex = start(t, model, { config: plain });
	codex.submit('1', userInput('ROOT go'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	return { model, codex };
}
const take = { agent: { from: 'input.-1.output', after: '"agent_id":"' } };

both('19. spawn_agent, wait_agent, send_input, close_agent and resume_agent', async (t, start) => {
	const { model, codex } = await converse(t, start, [
		child('count plums', [], message('Plums.')),
		child('count pears', ['count plums'], message('Pears.')),
		{ reply: [call('spawn_agent', { message: 'count pears' })] },
		{ take, reply: [call('wait_agent', { targets: ['{agent}'] }),
			call('close_agent', { target: '{agent}' }),
			call('wait_agent', { targets: ['{agent}'] }),
			call('resume_agent', { id: '{agent}' }),
			call('send_input', { target: '{agent}', message: 'count plums' }),
			call('wait_agent', { targets: ['{agent}'] })] },
	]);
	const tools = model.requests()[0].body.tools.find(({ type }) => type === 'namespace');
	assert.equal(tools.name, 'multi_agent_v1');
	assert.deepEqual(tools.tools.map(({ name }) => name),
		['close_agent', 'resume_agent', 'send_input', 'spawn_agent', 'wait_agent']);
	const [{ agent_id: id, nickname }] = answers(model, 'spawn_agent');
	assert.match(nickname, /^[A-Z][a-z]+$/);
	assert.deepEqual(answers(model, 'wait_agent'), [
		{ status: { [id]: { completed: 'Pears.' } }, timed_out: false },
		{ status: { [id]: 'shutdown' }, timed_out: false },
		{ status: { [id]: { completed: 'Plums.' } }, timed_out: false },
	]);
	assert.deepEqual(answers(model, 'close_agent'), [{ previous_status: { completed: 'Pears.' } }]);
	assert.deepEqual(answers(model, 'resume_agent'), [{ status: 'pending_init' }]);
	assert.match(answers(model, 'send_input')[0].submission_id, /^[0-9a-f-]{36}$/);
	const last = model.requests().findLast(({ body }) => JSON.stringify(body.input).includes('ROOT'));
	assert.equal(textsOf(last, 'user').some((text) => text.startsWith('<subagent_notification>')), false,
		'what was waited for is not told again');
	if (!codex.events) return;
	assert.deepEqual(agentEvents(codex.events()), [], 'clients that know nothing of these events get none');
	const named = codex.events().map(({ msg }) => msg).filter(({ type }) => type.startsWith('collab_'))
		.flatMap((msg) => [msg.new_agent_nickname ?? msg.receiver_agent_nickname ?? msg.receiver_agents ?? msg.agent_statuses ?? []]
			.flat().map((one) => `${msg.type.slice(7)} ${one.agent_nickname ?? one}`));
	assert.deepEqual(named, ['agent_spawn_end', 'waiting_begin', 'waiting_end', 'close_end', 'waiting_begin', 'waiting_end',
		'resume_begin', 'resume_end', 'agent_interaction_end', 'waiting_begin', 'waiting_end'].map((type) => `${type} ${nickname}`));
});

test('features.collab: wait, as in early 2026', proto, async (t) => {
	for (const collab of [true, false]) {
		const model = await startModel(t, [
			when({ contains: 'count pears', lacks: 'ROOT' }, message('Pears.')),
			{ reply: [call('spawn_agent', { message: 'count pears' })] },
			{ take, reply: [call('wait', { ids: ['{agent}'] })] },
			{ reply: [message('ok')] },
		]);
		const codex = startProto(t, model, { config: `features.collab = ${collab}\n` });
		codex.submit('1', userInput('ROOT'));
		await codex.next('task_complete');
		assert.equal((await codex.end()).code, 0);
		const [{ agent_id: id }] = answers(model, 'spawn_agent');
		const names = model.requests()[0].body.tools.map(({ name }) => name);
		assert.equal(names.includes('wait'), collab);
		assert.deepEqual(answers(model, 'wait'), [collab
			? { status: { [id]: { completed: 'Pears.' } }, timed_out: false } : 'unsupported call: wait']);
		const waits = codex.events().filter(({ msg }) => /^collab_waiting/.test(msg.type));
		assert.equal(waits.length, collab ? 2 : 0);
	}
});

test('opening a closed agent again is an item', server, async (t) => {
	const model = await startModel(t, [
		when({ contains: 'count pears', lacks: 'ROOT' }, message('Pears.')),
		{ reply: [call('spawn_agent', { message: 'count pears' })] },
		{ take, reply: [call('wait_agent', { targets: ['{agent}'] }), call('close_agent', { target: '{agent}' }),
			call('resume_agent', { id: '{agent}' })] },
		{ reply: [message('ok')] },
	]);
	const app = await startAppServer(t, model, {});
	const { thread } = await app.request('thread/start', {});
	await app.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'ROOT' }] });
	await app.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	await app.end();
	const [{ agent_id: id }] = answers(model, 'spawn_agent');
	const items = app.messages.filter(({ params }) => params?.item?.tool === 'resumeAgent');
	assert.deepEqual(items.map(({ method, params: { item } }) => [method, item.status, item.senderThreadId,
		item.receiverThreadIds]), [['item/started', 'inProgress', thread.id, [id]], ['item/completed', 'completed', thread.id, [id]]]);
	assert.deepEqual(items[1].params.item.agentsStates, { [id]: { status: 'pendingInit', message: null } });
});

both('19. their errors', async (t, start) => {
	const nobody = '00000000-0000-7000-8000-000000000000';
	const { model } = await converse(t, start, [
		{ reply: [call('spawn_agent', {}), call('spawn_agent', { message: 'x', items: [{ type: 'text', text: 'y' }] }),
			call('spawn_agent', { message: ' ' }), call('spawn_agent', { message: 'x', model: 'gpt-x' })] },
		{ reply: [call('wait_agent', { targets: [] }), call('wait_agent', { targets: ['x'] }),
			call('wait_agent', { targets: [nobody] })] },
		{ reply: [call('send_input', { target: nobody, message: 'x' }), call('close_agent', { target: nobody }),
			call('resume_agent', { id: nobody })] },
	]);
	const [none, both, empty, unknown] = answers(model, 'spawn_agent');
	assert.equal(none, 'Provide one of: message or items');
	assert.equal(both, 'Provide either message or items, but not both');
	assert.equal(empty, "Empty message can't be sent to an agent");
	assert.match(unknown, /^Unknown model `gpt-x` for spawn_agent\. Available models: /);
	const [noIds, badId, missing] = answers(model, 'wait_agent');
	assert.equal(noIds, 'agent ids must be non-empty');
	assert.match(badId, /^invalid agent id x: /);
	assert.deepEqual(missing, { status: { [nobody]: 'not_found' }, timed_out: false });
	for (const name of ['send_input', 'close_agent', 'resume_agent'])
		assert.deepEqual(answers(model, name), [`agent with id ${nobody} not found`]);
});

both('19. a subagent has no such tools itself', async (t, start) => {
	const { model } = await converse(t, start, [
		child('call_deep', [], message('No </subagent_notification>.')),
		child('go deeper', [], { call: 'spawn_agent', arguments: { message: 'x' }, call_id: 'call_deep' }),
		{ reply: [call('spawn_agent', { message: 'go deeper' })] },
		{ reply: [call('exec_command', { cmd: 'sleep 0.3' })] },
	]);
	assert.ok(answers(model, 'spawn_agent').includes('unsupported call: multi_agent_v1spawn_agent'));
	const last = model.requests().findLast(({ body }) => JSON.stringify(body.input).includes('ROOT'));
	const notes = textsOf(last, 'user').filter((text) => text.startsWith('<subagent_notification>\n'));
	assert.equal(notes.length, 1);
	assert.deepEqual(JSON.parse(notes[0].split('\n')[1]).status, { completed: 'No </subagent_notification>.' });
	assert.match(notes[0].split('\n')[1], /^[^<]*$/);
});
