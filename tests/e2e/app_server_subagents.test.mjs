// Subagents as clients of the app-server see them: items of the parent, threads of their own.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { needs, startModel } from './lib/codex.mjs';

const options = needs('app-server');
const config = 'features.subagent_tools = true';
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const call = (name, args = {}) => ({ call: name, arguments: args });
const child = (contains, ...steps) => ({ when: { contains, lacks: 'You are agent 0' }, reply: steps });
const message = (words) => ({ message: words });

const items = (server) => server.messages
	.filter(({ method, params }) => /^item\/(started|completed)$/.test(method) && params.item.type === 'collabAgentToolCall')
	.map(({ method, params: { item } }) => ({ method: method.slice(5), ...item, startedAtMs: 0, completedAtMs: 0 }));

test('18. spawning, waiting and pruning are items, and the subagent is a thread', options, async (t) => {
	const model = await startModel(t, [
		child('Count the files', message('There are three.')),
		{ reply: [call('subagent_spawn', { prompt: 'Count the files.', label: 'counter' })] },
		{ reply: [call('subagent_await')] },
		{ reply: [call('subagent_prune', { all: true })] },
		{ reply: [message('Three.')] },
	]);
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', FREE);
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	const told = items(server);
	assert.deepEqual(told.map(({ method, tool, status }) => `${method} ${tool} ${status}`), [
		'started spawnAgent inProgress', 'completed spawnAgent completed', 'started wait inProgress',
		'completed wait completed', 'started closeAgent inProgress', 'completed closeAgent completed']);
	const [begun, spawned, , waited, , closed] = told;
	const id = spawned.receiverThreadIds[0];
	assert.deepEqual([begun.receiverThreadIds, begun.model, begun.agentsStates], [[], '', {}]);
	assert.deepEqual([spawned.senderThreadId, spawned.prompt], [thread.id, 'Count the files.']);
	assert.deepEqual(spawned.agentsStates, { [id]: { status: 'pendingInit', message: null } });
	assert.deepEqual(waited.agentsStates, { [id]: { status: 'completed', message: 'There are three.' } });
	assert.deepEqual(closed.agentsStates, { [id]: { status: 'shutdown', message: null } });

	const own = server.messages.filter(({ params }) => params?.threadId === id);
	const life = own.map(({ method, params }) => method === 'thread/status/changed' ? params.status.type : method)
		.filter((word) => !/delta|tokenUsage|rateLimits|readState|warning/.test(word));
	assert.deepEqual(life, ['idle', 'active', 'turn/started', 'item/started', 'item/completed', 'item/started',
		'item/completed', 'idle', 'turn/completed', 'notLoaded']);
	const started = own.find(({ method }) => method === 'turn/started');
	assert.equal(started.params.turn.rootTurnId, turn.id);
	assert.equal(server.messages.some(({ method, params }) => method === 'thread/started' && params.thread.id === id), false);
	assert.equal((await server.end()).code, 0);
});

test('the item of a cancel shows the subagent as it is after it', options, async (t) => {
	const model = await startModel(t, [
		child('stay', { hang: true }),
		{ reply: [call('subagent_spawn', { prompt: 'stay' })] },
		{ reply: [call('subagent_cancel', { agent_id: 1 })] },
		{ reply: [message('ok')] },
	]);
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	const closed = items(server).find(({ method, tool }) => method === 'completed' && tool === 'closeAgent');
	assert.equal(closed.status, 'completed');
	assert.deepEqual(Object.values(closed.agentsStates), [{ status: 'interrupted', message: null }]);
	assert.equal((await server.end()).code, 0);
});

test('requests of a subagent carry its own thread id', options, async (t) => {
	const model = await startModel(t, [
		child(['touch it', 'function_call_output'], message('Touched.')),
		child('touch it', call('exec_command', { cmd: 'touch there' })),
		{ reply: [call('subagent_spawn', { prompt: 'touch it' })] },
		{ reply: [call('subagent_await')] },
		{ reply: [message('ok')] },
	]);
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'untrusted' });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const asked = await server.next('item/commandExecution/requestApproval');
	assert.notEqual(asked.params.threadId, thread.id);
	const read = await server.request('thread/read', { threadId: asked.params.threadId });
	assert.equal(read.thread.source.subAgent.thread_spawn.parent_thread_id, thread.id);
	assert.equal(read.thread.status.type, 'active');
	server.answer(asked, { decision: 'accept' });
	const done = await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	assert.equal(done.params.turn.status, 'completed');
	const ran = server.messages.find(({ method, params }) => method === 'item/completed' && params.item.type === 'commandExecution');
	assert.deepEqual([ran.params.threadId, ran.params.item.exitCode], [asked.params.threadId, 0]);
	assert.equal((await server.end()).code, 0);
});

test('interrupting a parent ends its subagents, interrupting one of them ends it alone', options, async (t) => {
	const model = await startModel(t, [
		child('wait here', { hang: true }),
		child('wait there', { hang: true }),
		{ reply: [call('subagent_spawn', { prompt: 'wait here' }), call('subagent_spawn', { prompt: 'wait there' })] },
		{ reply: [call('subagent_await', { agent_id: 2 })] },
	]);
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', FREE);
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ method, params }) => method === 'item/started' && params.item.tool === 'wait', 'wait');
	const turns = server.messages.filter(({ method, params }) => method === 'turn/started' && params.threadId !== thread.id)
		.map(({ params }) => params);
	assert.equal(turns.length, 2);
	await server.request('turn/interrupt', { threadId: turns[0].threadId, turnId: turns[0].turn.id });
	const ends = () => server.messages.filter(({ method }) => method === 'turn/completed').map(({ params }) => params.threadId);
	assert.deepEqual(ends(), [turns[0].threadId]);
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	assert.equal((await server.end()).code, 0);
	assert.deepEqual(new Set(ends()), new Set([thread.id, turns[0].threadId, turns[1].threadId]));
	const waits = items(server).filter(({ tool }) => tool === 'wait');
	assert.deepEqual(waits.map(({ method, status }) => `${method} ${status}`), ['started inProgress', 'completed interrupted']);
});

test('16. an app-server that takes up a session has its subagents again', options, async (t) => {
	const model = await startModel(t, [
		child(['count pears', 'and the plums'], message('Plums, too.')),
		child('count pears', message('Pears counted.')),
		child('stay', { hang: true }),
		{ reply: [call('subagent_spawn', { prompt: 'count pears', label: 'counter' })] },
		{ reply: [call('subagent_await')] },
		{ reply: [call('subagent_spawn', { prompt: 'stay' })] },
		{ reply: [message('Begun.')] },
		// a new process
		{ reply: [{ call: 'subagent_list', arguments: {}, call_id: 'list' },
			call('subagent_send_message', { agent_id: 1, prompt: 'and the plums' })] },
		{ reply: [{ call: 'subagent_await', arguments: { agent_id: 1 }, call_id: 'wait' }] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const first = await startAppServer(t, model, { config });
	const { thread } = await first.request('thread/start', FREE);
	await first.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await first.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	first.child.kill('SIGKILL');
	await first.done;

	const second = await startAppServer(t, model, { home: first.home, cwd: first.cwd });
	await second.request('thread/resume', { threadId: thread.id });
	await second.request('turn/start', { threadId: thread.id, input: [text('go on')] });
	await second.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	assert.equal((await second.end()).code, 0);
	const outputs = new Map(model.requests().at(-1).body.input.filter((it) => it.output).map((it) => [it.call_id, it.output]));
	const { sessions } = JSON.parse(outputs.get('list'));
	assert.deepEqual(sessions.map((it) => [it.agent_id, it.label, it.status]), [[1, 'counter', 'idle'], [2, null, 'canceled']]);
	assert.equal(JSON.parse(outputs.get('wait')).completion.Completed.last_message, 'Plums, too.');
});

// The child follows its root in the server's list, so a walk that closes the root must not continue from the child.
test('idle threads are unloaded with their subagents, and the server continues', options, async (t) => {
	const model = await startModel(t, [
		child('one', message('First.')),
		child('two', message('Second.')),
		{ reply: [call('subagent_spawn', { prompt: 'one' }), call('subagent_spawn', { prompt: 'two' })] },
		{ reply: [call('subagent_await', { agent_id: 2 })] },
		{ reply: [call('subagent_await', { agent_id: 1 })] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const server = await startAppServer(t, model, { config, args: ['-c', 'app_server.idle_thread_timeout_ms=100'] });
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	const { data: ids } = await server.request('thread/loaded/list', {});
	assert.equal(ids.length, 3);
	for (const threadId of ids)
		await server.request('thread/unsubscribe', { threadId });
	await server.take(({ method, params }) => method === 'thread/closed' && params.threadId === thread.id, 'closed');
	assert.deepEqual((await server.request('thread/loaded/list', {})).data, []);
	assert.deepEqual(server.all('thread/closed').map(({ params }) => params.threadId), [thread.id]);
	assert.equal((await server.end()).code, 0);
});

test('a thread is not unloaded while its subagent has a subscriber or works', options, async (t) => {
	const model = await startModel(t, [
		child('be slow', { message: 'half' }, { gate: 'end' }),
		{ reply: [call('subagent_spawn', { prompt: 'be slow' })] },
		{ reply: [message('Begun.')], times: 'forever' },
	]);
	const server = await startAppServer(t, model, { config, args: ['-c', 'app_server.idle_thread_timeout_ms=50'] });
	const { thread } = await server.request('thread/start', FREE);
	const { thread: other } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	const id = (await server.request('thread/loaded/list', {})).data.find((it) => ![thread.id, other.id].includes(it));
	const closed = async (threadId) => server.take(({ method, params }) => method === 'thread/closed' && params.threadId === threadId, 'closed');
	const unsubscribe = (threadId) => server.request('thread/unsubscribe', { threadId });
	await unsubscribe(thread.id);
	await unsubscribe(id); // it works
	await unsubscribe(other.id);
	await closed(other.id); // the time has passed for all three
	assert.deepEqual((await server.request('thread/loaded/list', {})).data, [thread.id, id]);
	await model.openGate('end');
	await closed(thread.id);
	assert.deepEqual((await server.request('thread/loaded/list', {})).data, []);
	assert.equal((await server.end()).code, 0);
});

test('a subagent has the effort that its parent has now, unless another is asked for', options, async (t) => {
	const spawn = (more) => ({ call: 'spawn_agent', arguments: { message: 'count', ...more } });
	const model = await startModel(t, [
		{ when: { contains: 'count', lacks: 'ROOT' }, reply: [message('One.')], times: 'forever' },
		{ reply: [spawn(), spawn({ reasoning_effort: 'low' })] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const server = await startAppServer(t, model, { config: 'model = "gpt-5.5"\nmodel_reasoning_effort = "medium"\n' });
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('ROOT')], effort: 'high' });
	for (let left = 3; left > 0; left--)
		await server.next('turn/completed'); // of the parent and of both subagents
	assert.equal((await server.end()).code, 0);
	const told = items(server).filter(({ tool }) => tool === 'spawnAgent').map(({ method, reasoningEffort }) => `${method} ${reasoningEffort}`);
	assert.deepEqual(told, ['started high', 'completed high', 'started low', 'completed low']);
	const asked = model.requests().filter(({ body }) => !JSON.stringify(body.input).includes('ROOT'));
	assert.deepEqual(asked.map(({ body }) => body.reasoning.effort).toSorted(), ['high', 'low']);
});

test('agents.default_subagent_*: the model and the effort of a call that names none; agents.enabled = false offers none', options, async (t) => {
	const spawn = (more) => ({ call: 'spawn_agent', arguments: { message: 'count', ...more } });
	const model = await startModel(t, [
		{ when: { contains: 'count', lacks: 'ROOT' }, reply: [message('One.')], times: 'forever' },
		{ reply: [spawn(), spawn({ reasoning_effort: 'high', model: 'gpt-5.5' }), spawn({ fork_context: true })] },
		{ reply: [message('ok')], times: 'forever' },
	]);
	const config = (more) => `model = "gpt-5.5"\nmodel_reasoning_effort = "medium"\n[agents]\n${more}\n`;
	const server = await startAppServer(t, model, { config:
		config('default_subagent_model = "gpt-5.4"\ndefault_subagent_reasoning_effort = "low"\n[agents.reviewer]\ndescription = "reads"') });
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('ROOT')] });
	for (let left = 4; left > 0; left--) await server.next('turn/completed');
	const spawned = items(server).filter(({ tool, method }) => tool === 'spawnAgent' && method === 'completed');
	assert.deepEqual(spawned.map((it) => [it.model, it.reasoningEffort]), [['gpt-5.4', 'low'], ['gpt-5.5', 'high'], ['gpt-5.5', 'medium']]);
	assert.ok(!server.all('configWarning').some(({ params }) => /reviewer/.test(JSON.stringify(params))));
	await server.end();
	const none = await startAppServer(t, model, { config: config('enabled = false') });
	const { thread: alone } = await none.request('thread/start', FREE);
	await none.request('turn/start', { threadId: alone.id, input: [text('ROOT')] });
	await none.next('turn/completed');
	assert.doesNotMatch(JSON.stringify(model.requests().at(-1).body.tools), /spawn_agent/);
});

test('without an effort, the item of a spawn shows the default of the model', options, async (t) => {
	for (const [name, effort] of [['gpt-5.6-sol', 'low'], ['some-model', 'medium']]) {
		const model = await startModel(t, [
			{ when: { contains: 'count', lacks: 'ROOT' }, reply: [message('One.')], times: 'forever' },
			{ reply: [call('spawn_agent', { message: 'count' })] },
			{ reply: [message('ok')], times: 'forever' },
		]);
		const server = await startAppServer(t, model, { config: `model = "${name}"\n` });
		const { thread } = await server.request('thread/start', FREE);
		await server.request('turn/start', { threadId: thread.id, input: [text('ROOT')] });
		for (let left = 2; left > 0; left--)
			await server.next('turn/completed');
		assert.equal((await server.end()).code, 0);
		assert.deepEqual(items(server).map(({ method, reasoningEffort }) => `${method} ${reasoningEffort}`),
			[`started ${effort}`, `completed ${effort}`]);
	}
});
