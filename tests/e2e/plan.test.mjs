// Plan mode: proposed plans in every front end, the modes, and their instructions to the model.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, codexExec, itemsOf, needs, outputOf, readLines, reply, rollouts, runCodex, say, startModel, textsOf } from './lib/codex.mjs';
import { agentsOf, replies, rows } from './lib/plan_rows.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const appServer = needs('app-server');
const PLAN = 'Preface\n<proposed_plan>\n# Plan\n- step\n</proposed_plan>\n';

const modeOf = (mode, more) =>
	({ mode, settings: { model: 'mock-model', reasoning_effort: null, developer_instructions: null, ...more } });
const override = (mode, more) => ({ type: 'override_turn_context', collaboration_mode: modeOf(mode, more) });
/** The mode instructions in a request, in order. */
const toldOf = (request) => textsOf(request, 'developer').filter((it) => it.startsWith('<collaboration_mode>'));

/** A turn's events in the notation of the rows. */
function protoRow(events) {
	const of = (type) => events.filter(({ msg }) => msg.type === type).map(({ msg }) => msg);
	const whole = (type) => of('item_completed').filter(({ item }) => item.type === type).map(({ item }) => item);
	const stream = events.flatMap(({ msg }) =>
		msg.type === 'agent_message_content_delta' ? [['msg', msg.delta]] : msg.type === 'plan_delta' ? [['plan', msg.delta]] : []);
	return {
		stream,
		plans: whole('Plan').map((item) => item.text),
		agents: whole('AgentMessage').map((item) => item.content.map((part) => part.text).join('')),
		twins: of('agent_message').map(({ message }) => message),
		last: of('task_complete')[0].last_agent_message ?? null,
	};
}

/** Each item starts once, empty and before its deltas, and completes once. */
function checkItems(events, id) {
	const open = new Map();
	for (const { msg } of events) {
		if (msg.type === 'item_started' && /^(Plan|AgentMessage)$/.test(msg.item.type)) {
			assert.equal(open.has(msg.item.id), false);
			assert.ok(msg.item.type === 'Plan' ? msg.item.text === '' : !msg.item.content.some((part) => part.text));
			if (msg.item.type === 'Plan') assert.equal(msg.item.id, `${id}-plan`);
			open.set(msg.item.id, msg.item.type);
		} else if (/^(agent_message_content|plan)_delta$/.test(msg.type)) {
			assert.equal(open.get(msg.item_id), msg.type === 'plan_delta' ? 'Plan' : 'AgentMessage');
		} else if (msg.type === 'item_completed' && /^(Plan|AgentMessage)$/.test(msg.item.type)) {
			assert.equal(open.get(msg.item.id), msg.item.type);
			open.delete(msg.item.id);
		}
	}
	assert.equal(open.size, 0);
}

test('the rows of the tables, in events', { ...proto, timeout: 120_000 }, async (t) => {
	const model = await startModel(t, [...replies(), say('end')]);
	const it = startProto(t, model);
	it.submit('mode', override('plan'));
	let from = 0;
	for (const [index, row] of rows.entries()) {
		it.submit(`t${index}`, userInput(`row ${row.name}`));
		await it.next('task_complete');
		const events = it.events();
		const told = events.slice(from);
		from = events.length;
		const agents = agentsOf(row);
		assert.deepEqual(protoRow(told), {
			stream: row.stream, plans: row.plan === null ? [] : [row.plan], agents, twins: agents, last: agents.at(-1) ?? null,
		}, row.name);
		checkItems(told, `t${index}`);
		const order = told.filter(({ msg }) => msg.type === 'item_completed').map(({ msg }) => msg.item.type).join();
		if (row.plan !== null && agents.length === 1 && !row.name.startsWith('E5') && !/takes/.test(row.name))
			assert.equal(order, 'UserMessage,Plan,AgentMessage', row.name);
	}
	it.submit('end', userInput('end'));
	await it.next('task_complete');
	assert.equal((await it.end()).code, 0);
	const said = model.requests().at(-1).body.input.filter((item) => item.role === 'assistant');
	assert.equal(said[0].content[0].text, rows[0].deltas.join(''), 'the history has what the model said');
});

test('the rows of the tables, as items', { ...appServer, timeout: 120_000 }, async (t) => {
	const model = await startModel(t, replies());
	const server = await startAppServer(t, model, { config: 'model = "mock-model"' });
	const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
	let from = 0;
	for (const row of rows) {
		const { turn } = await server.request('turn/start',
			{ threadId: thread.id, input: [text(row.name)], collaborationMode: modeOf('plan') });
		const end = await server.next('turn/completed');
		const told = server.messages.slice(from);
		from = server.messages.length;
		const whole = (type) => told.filter((m) => m.method === 'item/completed' && m.params.item.type === type)
			.map((m) => m.params.item);
		const stream = told.flatMap(({ method, params }) => (method === 'item/agentMessage/delta' ? [['msg', params.delta]]
			: method === 'item/plan/delta' ? [['plan', params.delta]] : []));
		assert.deepEqual({ stream, plans: whole('plan').map((it) => it.text), agents: whole('agentMessage').map((it) => it.text) },
			{ stream: row.stream, plans: row.plan === null ? [] : [row.plan], agents: agentsOf(row) }, row.name);
		for (const it of whole('plan')) assert.equal(it.id, `${turn.id}-plan`);
		assert.equal(end.params.turn.status, 'completed');
		assert.equal(server.messages.filter((m) => m.method === 'item/started' && m.params.item.id === `${turn.id}-plan`).length,
			row.plan === null ? 0 : 1);
	}
	assert.equal((await server.end()).code, 0);
});

test('in default mode tags are text, and a mode applies until another is chosen', proto, async (t) => {
	const model = await startModel(t, [say(PLAN), say(PLAN), say(PLAN), say(PLAN), say(PLAN)]);
	const it = startProto(t, model);
	const turn = async (id) => {
		it.submit(id, userInput(id));
		const started = await it.next('task_started');
		const completed = await it.next('task_complete');
		return [started.msg.collaboration_mode_kind, completed.msg.last_agent_message];
	};
	assert.deepEqual(await turn('1'), ['custom', PLAN]); // the word of January 2026
	it.submit('o', override('plan'));
	assert.deepEqual(await turn('2'), ['plan', 'Preface\n']);
	assert.deepEqual(await turn('3'), ['plan', 'Preface\n']);
	it.submit('o', override('default'));
	assert.deepEqual(await turn('4'), ['default', PLAN]); // the name that the client has used
	it.submit('o', override('plan', { developer_instructions: 'MINE' }));
	assert.deepEqual(await turn('5'), ['plan', 'Preface\n']);
	assert.equal((await it.end()).code, 0);
	const told = model.requests().map((request) => toldOf(request).map((words) => /proposed_plan>\n|default mode|MINE/.exec(words)?.[0]));
	const plan = 'proposed_plan>\n';
	assert.deepEqual(told, [[], [plan], [plan], [plan, 'default mode'], [plan, 'default mode', 'MINE']]);
	assert.equal(toldOf(model.requests().at(-1)).at(-1), '<collaboration_mode>MINE</collaboration_mode>');
	const last = model.requests()[1].body.input.at(-2).content[0].text;
	assert.match(last, /^<collaboration_mode>/, 'the mode is told just before what the user says');
});

test('a configured mode, and one that is not sent', proto, async (t) => {
	const model = await startModel(t, [say(PLAN)]);
	const config = 'collaboration_mode = "plan"\nplan_mode_reasoning_effort = "high"\nmodel = "gpt-5.5"\n'
		+ 'include_collaboration_mode_instructions = false';
	const it = startProto(t, model, { config });
	it.submit('1', userInput('go'));
	assert.equal((await it.next('task_started')).msg.collaboration_mode_kind, 'plan');
	await it.next('plan_delta');
	await it.next('task_complete');
	await it.end();
	const [request] = model.requests();
	assert.deepEqual(toldOf(request), []);
	assert.equal(request.body.reasoning.effort, 'high');
});

test('update_plan is refused in plan mode, and where it was not offered', proto, async (t) => {
	const steps = { plan: [{ step: 'a', status: 'pending' }] };
	const script = [call('update_plan', steps, { call_id: 'u' }), say('ok')];
	const play = async (mode, config) => {
		const model = await startModel(t, script);
		const it = startProto(t, model, { config });
		it.submit('o', override(mode));
		it.submit('1', userInput('go'));
		await it.next('task_complete');
		await it.end();
		return [outputOf(model.requests()[1], 'u'), it.events().filter(({ msg }) => msg.type === 'plan_update').length];
	};
	const [planned, updates] = await play('plan');
	assert.match(planned, /^update_plan is a TO.?DO\/checklist tool and is not allowed in Plan mode$/);
	assert.equal(updates, 0);
	assert.deepEqual(await play('default'), ['Plan updated', 1]);
	assert.deepEqual(await play('default', 'tools.update_plan = false'), ['unsupported call: update_plan', 0]);
});

test('exec --plan proposes a plan and changes the mode for good neither way', needs('exec'), async (t) => {
	const model = await startModel(t, [say(PLAN), say('<proposed_plan>\nonly\n</proposed_plan>'), say('Done.')]);
	const first = await codexExec(t, model, ['--plan', 'plan it', '-o', 'plan.md'], { json: true });
	assert.equal(first.code, 0);
	assert.deepEqual(itemsOf(first.events, 'plan'), [{ id: 'item_0', type: 'plan', text: '# Plan\n- step\n' }]);
	assert.deepEqual(itemsOf(first.events, 'agent_message'), [{ id: 'item_1', type: 'agent_message', text: 'Preface\n' }]);
	assert.equal(fs.readFileSync(`${first.cwd}/plan.md`, 'utf8'), '# Plan\n- step\n');
	const second = await codexExec(t, model, ['--plan', 'resume', '--last', 'again'], { home: first.home, cwd: first.cwd });
	assert.equal(second.stdout, 'only\n');
	const third = await codexExec(t, model, ['resume', '--last', 'Implement the plan.'], { home: first.home, cwd: first.cwd });
	assert.equal(third.stdout, 'Done.\n');
	const told = model.requests().map((request) => toldOf(request).length);
	assert.deepEqual(told, [1, 1, 2], 'each mode is told once, also across processes');
});

test('plans are kept in the rollout and come back', appServer, async (t) => {
	const model = await startModel(t, [say(PLAN), say('second')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')], collaborationMode: modeOf('plan') });
	await server.next('turn/completed');
	assert.equal((await server.end()).code, 0);
	const lines = readLines(rollouts(server.home)[0]);
	const at = (test) => lines.findIndex(({ payload }) => test(payload));
	const planAt = at((it) => it.item?.type === 'Plan');
	const rawAt = at((it) => it.role === 'assistant');
	assert.equal(lines[planAt].payload.item.text, '# Plan\n- step\n');
	assert.equal(lines[rawAt].payload.content[0].text, PLAN, 'the model reads again what it said');
	assert.ok(planAt < rawAt);
	assert.ok(lines.some(({ type, payload }) => type === 'turn_context' && payload.collaboration_mode.mode === 'plan'));
	const again = await startAppServer(t, model, { home: server.home, cwd: server.cwd });
	const resumed = await again.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(resumed.thread.turns[0].items.map((it) => [it.type, it.text ?? it.content[0].text]),
		[['userMessage', 'go'], ['plan', '# Plan\n- step\n'], ['agentMessage', 'Preface\n']]);
	await again.end();
	const it = startProto(t, model, { home: server.home, args: ['--resume', thread.id] });
	const { msg } = await it.next('session_configured');
	const shown = msg.initial_messages.filter(({ type, item }) => type === 'agent_message' || item?.type === 'Plan');
	assert.deepEqual(shown.map((it) => it.item?.text ?? it.message), ['# Plan\n- step\n', 'Preface\n']);
	await it.end();
});

test('an interrupted plan has its text so far', appServer, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Intro\n<proposed_plan>\n- half' }, { gate: 'never' })]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	const { turn } = await server.request('turn/start',
		{ threadId: thread.id, input: [text('go')], collaborationMode: modeOf('plan') });
	await server.next('item/plan/delta');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	const [item] = server.all('item/completed').map((m) => m.params.item).filter((it) => it.type === 'plan');
	assert.equal(item.text, '- half');
	await server.end();
});

test('a plan whose stream breaks is one item, with the final text', proto, async (t) => {
	const model = await startModel(t, [
		reply({ delta: '<proposed_plan>\n- broken' }, { drop: 'reset' }), say('<proposed_plan>\n- whole\n</proposed_plan>')]);
	const it = startProto(t, model, { config: '[debug]\nclock_scale = 0.01' });
	it.submit('o', override('plan'));
	it.submit('1', userInput('go'));
	await it.next('task_complete');
	await it.end();
	const plans = it.events().filter(({ msg }) => msg.item?.type === 'Plan').map(({ msg }) => [msg.type, msg.item.text]);
	assert.deepEqual(plans, [['item_started', ''], ['item_completed', '- whole\n']]);
});

test('a plan of ten megabytes', { ...proto, timeout: 120_000 }, async (t) => {
	const steps = { repeat: 160, steps: [{ delta: { fill: 65536, with: '- a step of the plan, and more.\n' } }] };
	const model = await startModel(t, [reply({ delta: '<proposed_plan>\n' }, steps, { delta: '</proposed_plan>\nThat is all.' })]);
	const it = startProto(t, model);
	it.submit('o', override('plan'));
	it.submit('1', userInput('go'));
	assert.equal((await it.next('task_complete')).msg.last_agent_message, 'That is all.');
	await it.end();
	const [item] = it.events().filter(({ msg }) => msg.type === 'item_completed' && msg.item.type === 'Plan');
	assert.equal(item.msg.item.text.length, 160 * 65536);
	assert.equal(it.events().filter(({ msg }) => msg.type === 'plan_delta').length, 160);
});

test('the list of modes', appServer, async (t) => {
	const server = await startAppServer(t, null);
	assert.deepEqual(await server.request('collaborationMode/list', {}), { data: [
		{ name: 'Plan', mode: 'plan', model: null, reasoning_effort: 'medium' },
		{ name: 'Default', mode: 'default', model: null, reasoning_effort: null }] });
	const { thread } = await server.request('thread/start', {});
	await server.request('thread/settings/update', { threadId: thread.id, collaborationMode: modeOf('plan') });
	const { threadSettings } = (await server.next('thread/settings/updated')).params;
	assert.equal(threadSettings.collaborationMode.mode, 'plan');
	assert.match(threadSettings.collaborationMode.settings.developer_instructions, /<proposed_plan>/);
	await server.end();
	assert.match((await runCodex(t, ['exec', '--help'])).stdout, /--plan/);
});
