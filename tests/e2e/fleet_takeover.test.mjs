// The work of a killed worker that the next one continues: questions, plan mode, steered input, compaction, reviews, calls of
// MCP servers, subagents.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { engines, hostEnv, script } from './lib/code_mode.mjs';
import { call, forever, makeHome, patch, reply, run, say, startModel, tempDir } from './lib/codex.mjs';
import { isGapless, needsRedis, startRedis, startWorker, types } from './lib/fleet.mjs';
import { startFaults } from './lib/fleet_faults.mjs';
import { configOf, itemCall, WRITE } from './lib/mcp.mjs';

const only = needsRedis();
const NEVER = ['-c', 'approval_policy="never"'];
const PLAN = { type: 'override_turn_context', collaboration_mode: { mode: 'plan', settings: { model: 'gpt-5.5', reasoning_effort: null,
	developer_instructions: null } } };
const AGENTS = 'features.subagent_tools = true\n';
const kill = async (worker) => {
	worker.child.kill('SIGKILL');
	await worker.done;
};
const input = (request) => JSON.stringify(request.body.input);

test('a question in plan mode is asked again with the same call_id, and the mode lasts', only, async (t) => {
	const questions = [{ id: 'size', header: 'Size', question: 'Which?', options: [
		{ label: 'Small', description: 'few' }, { label: 'Large', description: 'many' }] }];
	const model = await startModel(t, [reply({ call: 'request_user_input', arguments: { questions }, call_id: 'q1' }),
		say('<proposed_plan>\nbuild\n</proposed_plan>')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submitOp('s1', 'mode', PLAN);
	await redis.submit('s1', 't1', 'plan it');
	const first = await redis.until('s1', ({ msg }) => msg.type === 'request_user_input');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	const again = await redis.until('s1', ({ msg }) => msg.type === 'request_user_input', { after: first.length });
	assert.equal(again.at(-1).msg.call_id, 'q1');
	assert.equal(again.at(-1).id, 't1');
	await redis.submitOp('s1', 'answer', { type: 'user_input_answer', id: 't1', response: { answers: { size: { answers: ['Large'] } } } });
	const events = await redis.untilEnd('s1', 't1');
	assert.match(input(model.requests()[1]), /Large/);
	assert.equal(events.filter(({ msg }) => msg.type === 'item_completed' && msg.item.type === 'Plan').length, 1);
});

test('input that had joined the task reaches the model', only, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), say('Both.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'first words');
	await redis.until('s1', ({ msg }) => msg.type === 'agent_message_content_delta');
	await redis.submitOp('s1', 't2', { type: 'user_input', mode: 'steer', items: [{ type: 'text', text: 'joined words' }] });
	await redis.untilHash('s1', ({ applied }) => applied);
	const [[last]] = await redis.call('XREVRANGE', redis.key('s:s1:sq'), '+', '-', 'COUNT', 1);
	await redis.untilHash('s1', ({ applied }) => applied === last);
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	await redis.untilEnd('s1', 't1');
	const text = input(model.requests()[1]);
	assert.equal(text.split('first words').length, 2);
	assert.equal(text.split('joined words').length, 2);
});

test('a compaction that was cut off begins again', only, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ delta: 'SUM' }, { hang: true }), say('SUMMARY'), say('Two.')]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submit('s1', 't1', 'first');
	await redis.untilEnd('s1', 't1');
	await redis.submitOp('s1', 'c1', { type: 'compact' });
	await redis.until('s1', ({ id, msg }) => id === 'c1' && msg.type === 'task_started');
	while (model.requests().length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	await redis.untilEnd('s1', 'c1');
	await redis.submit('s1', 't2', 'second');
	await redis.untilEnd('s1', 't2');
	assert.match(input(model.requests().at(-1)), /SUMMARY/);
	const events = await redis.events('s1');
	assert.ok(isGapless(events));
	assert.equal(events.filter(({ id, msg }) => id === 'c1' && msg.type === 'task_complete').length, 1);
});

test('a call of an MCP server that was cut off is reported as interrupted and not made again', only, async (t) => {
	const log = path.join(tempDir(t, 'log'), 'log');
	const model = await startModel(t, [reply(itemCall('write', { say: 'x' })), say('Done.')]);
	const home = makeHome(t, model, 'model = "plain"\nmcp_optional_startup_grace_ms = 60000\n');
	fs.appendFileSync(path.join(home, 'config.toml'),
		configOf({ s: { log, tools: [WRITE], answers: { write: { hang: true } } } }, 'default_tools_approval_mode = "approve"'));
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', home });
	await redis.submit('s1', 't1', 'go');
	await redis.until('s1', ({ msg }) => msg.type === 'mcp_tool_call_begin');
	const made = () => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : '').split('tools/call').length - 1;
	while (!made()) await new Promise((resolve) => setTimeout(resolve, 10));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', home });
	const events = await redis.untilEnd('s1', 't1');
	const ends = events.filter(({ msg }) => msg.type === 'mcp_tool_call_end');
	assert.equal(ends.length, 1);
	assert.match(JSON.stringify(ends[0].msg.result), /interrupted/);
	assert.equal(made(), 1);
});

test('a patch that had begun is reported as interrupted and not applied by the next worker', only, async (t) => {
	const model = await startModel(t, [patch('*** Add File: made', '+text'), say('Done.')]);
	const redis = await startRedis(t);
	let begin;
	const began = new Promise((resolve) => (begin = resolve));
	const faults = await startFaults(t, redis, (kind, words) => {
		if (kind !== 'emit' || !words.some((word) => word.includes('"patch_apply_begin"'))) return undefined;
		begin();
		return { cut: 'after' };
	});
	const a = await startWorker(t, faults, model, { name: 'a', args: NEVER });
	await redis.submit('s1', 't1', 'patch it');
	await began;
	await redis.until('s1', ({ msg }) => msg.type === 'patch_apply_begin');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', args: NEVER, cwd: a.cwd });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	const [end, ...more] = events.filter(({ msg }) => msg.type === 'patch_apply_end').map(({ msg }) => msg);
	assert.deepEqual([end.call_id, end.success, more.length], [events.find(({ msg }) => msg.type === 'patch_apply_begin').msg.call_id, false, 0]);
	assert.match(JSON.stringify(end), /interrupted/);
	assert.match(input(model.requests()[1]), /interrupted: the worker that ran this was lost/);
	assert.equal(fs.existsSync(path.join(a.cwd, 'made')), false);
});

const ofChild = { contains: 'child work', lacks: 'You are agent 0' };
const isOfChild = ({ body }) => JSON.stringify(body).includes('child work') && !JSON.stringify(body).includes('You are agent 0');
const until = async (test) => {
	while (!await test()) await new Promise((resolve) => setTimeout(resolve, 10));
};
/** True once the prompt of the subagent is in the log: before that it counts as interrupted. */
const hasPrompt = async (redis) => (await redis.call('XRANGE', redis.key('s:s1:log'), '-', '+')).some(([, [, line]]) =>
	line.includes('"kind":"line"') && line.includes('"UserMessage"') && line.includes('child work'));

test('a tree of subagents moves with its root: one that worked continues, and its parent gets its result', only, async (t) => {
	const model = await startModel(t, [
		{ when: ofChild, reply: [{ delta: 'busy' }, { hang: true }] }, { when: ofChild, reply: [{ message: 'Result of the child.' }] },
		call('subagent_spawn', { prompt: 'child work' }), call('subagent_await', {}), forever(say('Over.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER, config: AGENTS });
	await redis.submit('s1', 't1', 'go');
	await until(() => model.requests().length >= 3);
	await until(() => hasPrompt(redis));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', args: NEVER, config: AGENTS });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(types(events).filter((type) => type === 'task_complete').length, 1);
	assert.equal(model.requests().filter(isOfChild).length, 2);
	assert.match(input(model.requests().at(-1)), /Result of the child\./);
	assert.doesNotMatch(input(model.requests().at(-1)), /interrupted|canceled/);
});

test('a subagent of spawn_agent moves with its root, too: wait_agent gets its result', only, async (t) => {
	const model = await startModel(t, [
		{ when: { contains: 'child work', lacks: 'go to work' }, reply: [{ delta: 'busy' }, { hang: true }] },
		{ when: { contains: 'child work', lacks: 'go to work' }, reply: [{ message: 'Result of the child.' }] },
		call('spawn_agent', { message: 'child work' }),
		{ take: { agent: { from: 'input.-1.output', after: '"agent_id":"' } }, reply: [{ call: 'wait_agent', arguments: { targets: ['{agent}'] } }] },
		forever(say('Over.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER });
	await redis.submit('s1', 't1', 'go to work');
	await until(() => model.requests().length >= 3);
	await until(() => hasPrompt(redis));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', args: NEVER });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.ok(!types(events).includes('subagent_lifecycle')); // clients that do not expect it are not sent it
	assert.match(input(model.requests().at(-1)), /Result of the child\./);
});

test('the command of a subagent that had begun is not run again: its model is informed, and it goes on', only, async (t) => {
	const model = await startModel(t, [
		{ when: ofChild, reply: [{ call: 'exec_command', arguments: { cmd: 'echo once >> ran; sleep 60' }, call_id: 'of-child' }] },
		{ when: ofChild, reply: [{ message: 'Result of the child.' }] },
		call('subagent_spawn', { prompt: 'child work' }), call('subagent_await', {}), forever(say('Over.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER, config: AGENTS });
	const ran = path.join(a.cwd, 'ran');
	await redis.submit('s1', 't1', 'go');
	await until(() => fs.existsSync(ran) && model.requests().length >= 3);
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', args: NEVER, config: AGENTS, cwd: a.cwd });
	await redis.untilEnd('s1', 't1');
	assert.match(input(model.requests().filter(isOfChild).at(-1)), /interrupted: the worker that ran this was lost/);
	assert.match(input(model.requests().at(-1)), /Result of the child\./);
	assert.equal(fs.readFileSync(ran, 'utf8'), 'once\n');
});

/** A worker is killed after the root's task has ended, while its subagent works. before: the events of that task. */
async function loseRestingRoot(t) {
	const model = await startModel(t, [
		{ when: ofChild, reply: [{ delta: 'busy' }, { hang: true }] }, { when: ofChild, reply: [{ message: 'Result of the child.' }] },
		call('subagent_spawn', { prompt: 'child work' }), forever(say('Over.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER, config: AGENTS });
	await redis.submit('s1', 't1', 'go');
	const before = await redis.untilEnd('s1', 't1');
	await until(() => model.requests().filter(isOfChild).length);
	await until(() => hasPrompt(redis));
	await kill(a);
	return { model, redis, before };
}

test('a subagent that works while its root rests continues, too', only, async (t) => {
	const { model, redis, before } = await loseRestingRoot(t);
	await startWorker(t, redis, model, { name: 'b', args: NEVER, config: AGENTS });
	await redis.until('s1', ({ msg }) => msg.type === 'task_complete', { after: before.at(-1).seq });
	assert.match(input(model.requests().at(-1)), /Result of the child\./);
	const events = await redis.events('s1');
	assert.ok(isGapless(events));
	assert.equal(events.filter(({ id, msg }) => id === 't1' && msg.type === 'task_complete').length, 1);
});

/** Replaces the log of a session by its lines as `change` returns them. */
async function rewrite(redis, change) {
	const log = redis.key('s:s1:log'), lines = await redis.call('XRANGE', log, '-', '+');
	await redis.call('DEL', log);
	for (const [id, [, line]] of lines) await redis.call('XADD', log, id, 'l', change(line));
}

test('a call without an output in the history of a root that rests is answered, while its subagent continues', only, async (t) => {
	const { model, redis, before } = await loseRestingRoot(t);
	const payload = { type: 'function_call', name: 'exec_command', arguments: '{}', call_id: 'open' };
	const lines = await redis.call('HINCRBY', redis.key('s:s1'), 'lines', 1);
	const line = JSON.stringify({ timestamp: new Date().toISOString(), type: 'response_item', payload });
	await redis.call('XADD', redis.key('s:s1:log'), `${lines}-0`, 'l', line);
	await startWorker(t, redis, model, { name: 'b', args: NEVER, config: AGENTS });
	await redis.until('s1', ({ msg }) => msg.type === 'task_complete', { after: before.at(-1).seq });
	const items = model.requests().at(-1).body.input;
	assert.match(JSON.stringify(items), /Result of the child\./);
	assert.deepEqual(items.filter(({ call_id }) => call_id === 'open').map(({ type }) => type), ['function_call', 'function_call_output']);
});

test('a subagent whose history cannot be read is reported to its parent, whose task goes on', only, async (t) => {
	const model = await startModel(t, [
		{ when: ofChild, times: 'forever', reply: [{ delta: 'busy' }, { hang: true }] },
		call('subagent_spawn', { prompt: 'child work' }), call('subagent_await', {}), forever(say('Over.'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER, config: AGENTS });
	await redis.submit('s1', 't1', 'go');
	await until(() => model.requests().length >= 3);
	await until(() => hasPrompt(redis));
	await kill(a);
	await rewrite(redis, (line) => (line.includes('"kind":"line"') ? line.replace('"type":"session_meta"', '"type":"unknown"') : line));
	const b = await startWorker(t, redis, model, { name: 'b', args: NEVER, config: AGENTS });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(events.at(-1).msg.type, 'task_complete');
	assert.match(input(model.requests().at(-1)), /cannot be resumed/);
	assert.equal(model.requests().filter(isOfChild).length, 1);
	assert.equal(b.result.code, null);
});

const scripts = { skip: only.skip || !engines.length && 'no engine' };
test('a script that was cut off is not started again: its commands run once, and the model is informed', scripts, async (t) => {
	const source = `await tools.exec_command({ cmd: 'echo once >> ran' }); await tools.exec_command({ cmd: 'sleep 60' })`;
	const model = await startModel(t, [script(source), say('Done.')]);
	const redis = await startRedis(t);
	const config = 'model = "gpt-6-sol"\n';
	const a = await startWorker(t, redis, model, { name: 'a', args: NEVER, config, env: hostEnv() });
	const ran = path.join(a.cwd, 'ran');
	await redis.submit('s1', 't1', 'go');
	await redis.until('s1', ({ msg }) => msg.type === 'exec_command_begin' && JSON.stringify(msg.command).includes('sleep'));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b', args: NEVER, config, env: hostEnv(), cwd: a.cwd });
	const events = await redis.untilEnd('s1', 't1');
	assert.ok(isGapless(events));
	assert.equal(fs.readFileSync(ran, 'utf8'), 'once\n');
	assert.equal(model.requests().length, 2);
	const outputs = model.requests()[1].body.input.filter(({ type }) => type.endsWith('_output'));
	assert.deepEqual(outputs.map(({ type, call_id }) => [type, call_id]), [['custom_tool_call_output', outputs[0].call_id]]);
	assert.match(JSON.stringify(outputs), /interrupted: the worker that ran this was lost/);
	const ofType = (type) => events.filter(({ msg }) => msg.type === type).map(({ msg }) => msg.call_id);
	assert.deepEqual(ofType('exec_command_end').toSorted(), ofType('exec_command_begin').toSorted());
});

test('a review that was cut off begins again under the same id', only, async (t) => {
	const findings = JSON.stringify({ findings: [], overall_correctness: 'patch is correct', overall_explanation: 'Fine.', overall_confidence_score: 1 });
	const model = await startModel(t, [reply({ delta: 'look' }, { hang: true }), say(findings)]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	await redis.submitOp('s1', 'r1', { type: 'review', review_request: { prompt: 'look at it', user_facing_hint: 'it' } });
	while (model.requests().length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
	await redis.until('s1', ({ msg }) => msg.type === 'entered_review_mode');
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	const events = await redis.untilEnd('s1', 'r1');
	assert.equal(types(events).filter((type) => type === 'exited_review_mode').length, 1);
	assert.equal(types(events).filter((type) => type === 'task_started').length, 1);
});

test('the user\'s own command is not run again', only, async (t) => {
	const model = await startModel(t, [forever(run('true'))]);
	const redis = await startRedis(t);
	const a = await startWorker(t, redis, model, { name: 'a' });
	const count = path.join(a.cwd, 'count');
	await redis.submitOp('s1', 'u1', { type: 'run_user_shell_command', command: `echo x >> '${count}'; sleep 60` });
	while (!fs.existsSync(count)) await new Promise((resolve) => setTimeout(resolve, 10));
	await kill(a);
	await startWorker(t, redis, model, { name: 'b' });
	const events = await redis.untilEnd('s1', 'u1');
	assert.equal(types(events).filter((type) => type === 'exec_command_end').length, 1);
	assert.equal(fs.readFileSync(count, 'utf8'), 'x\n');
});
