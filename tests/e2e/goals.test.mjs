// Goals: the tools of the model, the requests of clients, and the turns that an active goal starts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, codexExec, forever, httpError, makeHome, needs, outputOf, reply, rollouts, run, say, startModel, textsOf }
	from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
/** An answer that uses 110 tokens. */
const paid = (answer) => ({ reply: [...answer.reply, { usage: { input_tokens: 100, cached_tokens: 20, output_tokens: 30 } }] });

async function begin(t, script, config) {
	const model = await startModel(t, script);
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', FREE);
	const ask = (method, params) => server.request(`thread/goal/${method}`, { threadId: thread.id, ...params });
	return { model, server, thread, ask };
}

const goalMessages = (request) => textsOf(request, 'developer').filter((words) => /source="goal"/.test(words));

test('a goal is set, changed, read and removed', options, async (t) => {
	const { server, thread, ask } = await begin(t, [say('unused')]);
	assert.deepEqual(await ask('get'), { goal: null });
	await assert.rejects(ask('set', { status: 'paused' }),
		{ code: -32600, message: `cannot update goal for thread ${thread.id}: no goal exists` });
	await assert.rejects(ask('set', { objective: ' ' }), { message: 'goal objective must not be empty' });
	await assert.rejects(ask('set', { objective: 'x', tokenBudget: 0 }), { message: 'goal budgets must be positive when provided' });
	await assert.rejects(ask('set', { objective: 'x'.repeat(16385) }), { message: /at most 16384 bytes/ });
	assert.deepEqual(await ask('clear'), { cleared: false });
	const { goal } = await ask('set', { objective: 'make it work', status: 'paused', tokenBudget: 1000 });
	assert.deepEqual({ ...goal, createdAt: 0, updatedAt: 0 }, { threadId: thread.id, objective: 'make it work',
		status: 'paused', tokenBudget: 1000, tokensUsed: 0, timeUsedSeconds: 0, createdAt: 0, updatedAt: 0 });
	const { params } = await server.next('thread/goal/updated');
	assert.deepEqual(params, { threadId: thread.id, turnId: null, goal });
	assert.deepEqual((await ask('get')).goal, goal);
	assert.equal((await ask('set', { objective: 'second' })).goal.status, 'paused');
	assert.deepEqual(await ask('clear'), { cleared: true });
	assert.deepEqual((await server.next('thread/goal/cleared')).params, { threadId: thread.id });
	assert.equal(server.all('turn/started').length, 0);
});

test('an active goal starts turns until the model calls it complete', options, async (t) => {
	const { model, server, thread, ask } = await begin(t, [
		paid(say('one')),
		paid(reply({ call: 'get_goal', arguments: {}, call_id: 'g' })),
		paid(reply({ call: 'create_goal', arguments: { objective: 'again' }, call_id: 'c' })),
		paid(reply({ call: 'update_goal', arguments: { status: 'active' }, call_id: 'a' })),
		paid(reply({ call: 'update_goal', arguments: { status: 'complete' }, call_id: 'u' })),
		paid(say('done'))]);
	await ask('set', { objective: 'make it work', tokenBudget: 100000 });
	await server.next('turn/completed');
	await server.next('turn/completed');
	const requests = model.requests();
	assert.equal(requests.length, 6);
	assert.equal(goalMessages(requests[0]).length, 1);
	assert.match(goalMessages(requests[0])[0], /Goal: make it work\n[^]*Token budget: 100000/);
	assert.equal(goalMessages(requests[1]).length, 2);
	const read = JSON.parse(outputOf(requests[2], 'g'));
	assert.equal(read.goal.objective, 'make it work');
	assert.deepEqual([read.goal.tokensUsed, read.remainingTokens], [220, 99780]);
	assert.match(outputOf(requests[3], 'c'), /unfinished goal/);
	assert.match(outputOf(requests[4], 'a'), /Only the user resumes/);
	assert.equal(JSON.parse(outputOf(requests[5], 'u')).goal.status, 'complete');
	const { goal } = await ask('get');
	assert.equal(goal.status, 'complete');
	assert.equal(goal.tokensUsed, 550, 'the last response came after the goal was complete');
	assert.equal(server.all('item/started').filter(({ params }) => params.item.type === 'userMessage').length, 0);
	const { thread: stored } = await server.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.equal(stored.turns.length, 2);
});

test('a budget that is used up ends the turns of a goal', options, async (t) => {
	const { model, server, ask } = await begin(t, [paid(say('one'))]);
	await ask('set', { objective: 'cheap', tokenBudget: 1 });
	await server.next('turn/completed');
	assert.equal((await ask('get')).goal.status, 'budgetLimited');
	assert.equal((await ask('set', { status: 'active' })).goal.status, 'budgetLimited', 'the budget must grow first');
	assert.equal(model.requests().length, 1);
});

test('a model that replaces its complete goal has what that one left, until the user writes', options, async (t) => {
	const create = (call_id, token_budget) =>
		paid(reply({ call: 'create_goal', arguments: { objective: 'more', token_budget }, call_id }));
	const finish = (call_id) => paid(reply({ call: 'update_goal', arguments: { status: 'complete' }, call_id }));
	const { model, server, thread, ask } = await begin(t, [finish('a'), create('b', 5000), finish('c'), create('d'),
		say('used up'), create('e', 5000), say('fresh'), forever(finish('f'))]);
	await ask('set', { objective: 'first', tokenBudget: 220 });
	await server.next('turn/completed');
	const answer = (call_id) => outputOf(model.requests().find((request) => outputOf(request, call_id)), call_id);
	assert.equal(JSON.parse(answer('b')).goal.tokenBudget, 110);
	assert.match(answer('d'), /the user has to write/);
	await server.request('turn/start', { threadId: thread.id, input: [text('another goal, please')] });
	await server.next('turn/completed');
	assert.equal(JSON.parse(answer('e')).goal.tokenBudget, 5000);
});

test('an interrupt and a failed turn pause a goal', options, async (t) => {
	const { server, ask, thread } = await begin(t, [run('sleep 60'), httpError(400, { error: { message: 'no' } })]);
	await ask('set', { objective: 'slow' });
	const { params } = await server.next('turn/started');
	await server.take(({ params: p }) => p?.item?.type === 'commandExecution', 'command');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: params.turn.id });
	assert.equal((await ask('get')).goal.status, 'paused');
	await ask('set', { status: 'active' });
	await server.next('turn/completed');
	await server.take(({ method, params: p }) => method === 'turn/completed' && p.turn.status === 'failed', 'failed turn');
	assert.equal((await ask('get')).goal.status, 'paused');
});

test('a resumed thread has its goal, which waits for a turn of the user; a fork has none', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two'), say('three'), forever(call('update_goal', { status: 'blocked' }))]);
	const home = makeHome(t, model);
	const first = await startAppServer(t, model, { home });
	const { thread } = await first.request('thread/start', FREE);
	await first.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await first.next('turn/completed');
	await first.request('thread/goal/set', { threadId: thread.id, objective: 'kept', status: 'blocked' });
	await first.request('thread/goal/set', { threadId: thread.id, status: 'paused' });
	await first.end();
	const second = await startAppServer(t, model, { home });
	await second.request('thread/resume', { threadId: thread.id, excludeTurns: true });
	assert.equal((await second.next('thread/goal/updated')).params.goal.objective, 'kept');
	const { thread: fork } = await second.request('thread/fork', { threadId: thread.id, excludeTurns: true });
	assert.deepEqual(await second.request('thread/goal/get', { threadId: fork.id }), { goal: null });
	assert.equal(model.requests().length, 1);
});

test('the administrator of a budget: goals.max_goal_token_budget', options, async (t) => {
	const { ask } = await begin(t, [say('one')], '[goals]\nmax_goal_token_budget = 500');
	await assert.rejects(ask('set', { objective: 'x', tokenBudget: 501 }), { message: /max_goal_token_budget = 500/ });
	assert.equal((await ask('set', { objective: 'x', status: 'paused' })).goal.tokenBudget, 500);
});

test('codex exec creates a goal, ends with its turn, and records it', options, async (t) => {
	const model = await startModel(t, [call('create_goal', { objective: 'later' }), say('made')]);
	const { code, stdout, home } = await codexExec(t, model, ['set a goal']);
	assert.equal(code, 0);
	assert.equal(stdout, 'made\n');
	assert.equal(model.requests().length, 2);
	const lines = fs.readFileSync(rollouts(home)[0], 'utf8').trim().split('\n').map((line) => JSON.parse(line).payload);
	const goals = lines.filter(({ type }) => type === 'thread_goal_updated');
	assert.equal(goals.at(-1).goal.objective, 'later');
	assert.equal(goals.at(-1).goal.status, 'active');
});

test('features.goals = false removes the tools and refuses the requests', options, async (t) => {
	const { model, server, thread, ask } = await begin(t, [say('one')], '[features]\ngoals = false');
	await assert.rejects(ask('set', { objective: 'x' }), { message: /features.goals/ });
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await server.next('turn/completed');
	assert.ok(model.requests()[0].body.tools.every(({ name }) => !/_goal$/.test(name)));
});
