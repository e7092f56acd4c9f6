// Code reviews: Op review of `codex proto`, review/start of `codex app-server`.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, story as storyOf, text } from './lib/app_server.mjs';
import { makeHome, needs, reply, rollouts, run, runCodex, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { startProto, story, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const appServer = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const FINDING = { title: '[P1] Off by one', body: 'The last line\nis never read.', confidence_score: 0.9, priority: 1,
	code_location: { absolute_file_path: '/w/a.c', line_range: { start: 3, end: 4 } } };
const OUTPUT = { findings: [FINDING], overall_correctness: 'patch is incorrect', overall_explanation: 'It loses a line.',
	overall_confidence_score: 0.8 };
const REPORT = 'It loses a line.\n\nReview comment:\n\n- [P1] Off by one — /w/a.c:3-4\n  The last line\n  is never read.';
const review = (target, more) => ({ type: 'review', review_request: { target, ...more } });
const hang = reply({ start: true }, { hang: true });

const toolsOf = ({ body }) => body.tools.map(({ name, type }) => name ?? type);

test('a review has a conversation of its own, and the next task has its findings', proto, async (t) => {
	const model = await startModel(t, [say('hi'), run('echo looked'), say(JSON.stringify(OUTPUT)), say('done')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('remember the word pear'));
	await codex.next('task_complete');
	codex.submit('2', review({ type: 'baseBranch', branch: 'main' }));
	const entered = await codex.next('entered_review_mode');
	assert.deepEqual(entered.msg.target, { type: 'baseBranch', branch: 'main' });
	assert.equal(entered.msg.user_facing_hint, "changes against 'main'");
	assert.deepEqual((await codex.next('exited_review_mode')).msg.review_output, OUTPUT);
	assert.equal((await codex.next('agent_message')).msg.message, REPORT);
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, REPORT);
	codex.submit('3', userInput('mend it'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);

	const [, first, second, after] = model.requests();
	assert.equal(first.headers['x-openai-subagent'], 'review');
	assert.equal(after.headers['x-openai-subagent'], undefined);
	assert.match(first.body.instructions, /overall_correctness/);
	assert.doesNotMatch(JSON.stringify(first.body.input), /pear/);
	assert.match(textsOf(first, 'user').at(-1), /git merge-base HEAD 'main'/);
	assert.match(JSON.stringify(second.body.input), /looked/);
	assert.ok(!toolsOf(first).includes('apply_patch') && toolsOf(after).includes('apply_patch'));
	assert.doesNotMatch(after.body.instructions, /overall_correctness/);
	assert.doesNotMatch(JSON.stringify(after.body.input), /looked|merge-base/);
	assert.match(JSON.stringify(after.body.input), /pear/);
	const [told] = textsOf(after, 'user').filter((it) => it.startsWith('<user_action>'));
	assert.ok(told.includes(REPORT) && told.includes('<action>review</action>'));
	assert.ok(textsOf(after, 'assistant').includes(REPORT));
});

test('messages of a reviewer are emitted, its report in JSON is not', proto, async (t) => {
	const model = await startModel(t, [
		reply({ message: 'I look at the diff.' }, { call: 'exec_command', arguments: { cmd: 'true' } }),
		say('```json\n' + JSON.stringify(OUTPUT) + '\n```'),
	]);
	const codex = startProto(t, model);
	codex.submit('1', review({ type: 'uncommittedChanges' }));
	await codex.next('task_complete');
	await codex.end();
	const said = codex.events().filter(({ msg }) => msg.type === 'agent_message').map(({ msg }) => msg.message);
	assert.deepEqual(said, ['I look at the diff.', REPORT]);
	assert.ok(!codex.events().some(({ msg }) => msg.type === 'agent_message_delta'));
});

test('an answer other than JSON is the explanation', proto, async (t) => {
	const model = await startModel(t, [say('All is well.')]);
	const codex = startProto(t, model);
	codex.submit('1', { type: 'review', review_request: { prompt: 'Look.', user_facing_hint: 'a look' } });
	const { msg } = await codex.next('entered_review_mode');
	assert.deepEqual([msg.prompt, msg.user_facing_hint, msg.target], ['Look.', 'a look', undefined]);
	assert.deepEqual((await codex.next('exited_review_mode')).msg.review_output, { findings: [], overall_correctness: '',
		overall_explanation: 'All is well.', overall_confidence_score: 0 });
	await codex.end();
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), 'Look.');
});

test('an interrupted or failed review has no output, and the conversation continues', proto, async (t) => {
	const model = await startModel(t, [hang, reply({ status: 400, body: { error: { message: 'no' } } }), say('on')]);
	const codex = startProto(t, model);
	codex.submit('1', review({ type: 'uncommittedChanges' }));
	await codex.next('token_count'); // the answer has begun
	codex.submit('i', { type: 'interrupt' });
	assert.equal((await codex.next('exited_review_mode')).msg.review_output, null);
	assert.equal((await codex.next('turn_aborted')).msg.reason, 'interrupted');
	codex.submit('2', review({ type: 'commit', sha: 'abcdef0123', title: 'A title' }));
	assert.equal((await codex.next('entered_review_mode')).msg.user_facing_hint, 'commit abcdef0: A title');
	assert.equal((await codex.next('exited_review_mode')).msg.review_output, null);
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, null);
	codex.submit('3', userInput('go on'));
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'on');
	await codex.end();
	const actions = textsOf(model.requests().at(-1), 'user').filter((it) => it.startsWith('<user_action>'));
	assert.equal(actions.length, 2);
	assert.match(actions[0], /stopped it/);
	assert.match(actions[1], /failed/);
});

test('input during a review takes its place, and a review takes the place of a task', proto, async (t) => {
	const model = await startModel(t, [hang, hang, say('answer')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('one'));
	await codex.next('token_count');
	codex.submit('2', review({ type: 'uncommittedChanges' }));
	assert.deepEqual((await codex.next('turn_aborted')).msg.reason, 'replaced');
	await codex.next('token_count');
	codex.submit('3', userInput('three'));
	await codex.next('task_complete');
	await codex.end();
	assert.deepEqual(story(codex.events()).filter((it) => !/warning|session_configured|shutdown/.test(it)), [
		'1 task_started', '1 turn_aborted', '2 task_started', '2 entered_review_mode', '2 exited_review_mode', '2 turn_aborted',
		'3 task_started', '3 agent_message', '3 task_complete']);
});

test('a review of nothing is refused', proto, async (t) => {
	const codex = startProto(t, null);
	for (const [target, message] of [[{ type: 'baseBranch', branch: ' ' }, /branch must not be empty/],
		[{ type: 'commit', sha: '' }, /sha must not be empty/], [{ type: 'custom', instructions: '\n' }, /instructions must not/],
		[undefined, /needs a target or a prompt/]]) {
		codex.submit('1', review(target));
		assert.match((await codex.next('error')).msg.message, message);
	}
	await codex.end();
});

test('a reviewer proposes no plan in any mode', proto, async (t) => {
	const words = 'Look:\n<proposed_plan>\nmine\n</proposed_plan>\n';
	const model = await startModel(t, [say(words), say(words)]);
	const codex = startProto(t, model, { config: 'collaboration_mode = "plan"\n' });
	codex.submit('1', review({ type: 'uncommittedChanges' }));
	const { msg } = await codex.next('exited_review_mode');
	assert.equal(msg.review_output.overall_explanation, words.trim());
	await codex.next('task_complete');
	const plans = () => codex.events().filter(({ msg: { type, item } }) => type === 'item_completed' && item.type === 'Plan').length;
	assert.equal(plans(), 0);
	assert.ok(!textsOf(model.requests()[0], 'developer').some((it) => it.includes('proposed_plan')));
	codex.submit('2', userInput('hi'));
	await codex.next('task_complete');
	assert.equal(plans(), 1); // the user's own mode has not changed
	await codex.end();
});

test('review_model names the reviewer', proto, async (t) => {
	const model = await startModel(t, [say('fine'), say('ok')]);
	const codex = startProto(t, model, { config: 'review_model = "the-reviewer"\n' });
	codex.submit('1', review({ type: 'uncommittedChanges' }));
	await codex.next('task_complete');
	codex.submit('2', userInput('hi'));
	await codex.next('task_complete');
	await codex.end();
	const [first, second] = model.requests().map(({ body }) => body.model);
	assert.equal(first, 'the-reviewer');
	assert.notEqual(second, 'the-reviewer');
});

test('a resumed session has the findings, not the steps of the reviewer', proto, async (t) => {
	const model = await startModel(t, [run('echo looked'), say(JSON.stringify(OUTPUT)), say('mended')]);
	const home = makeHome(t, model);
	const first = startProto(t, model, { home });
	first.submit('1', review({ type: 'uncommittedChanges' }));
	await first.next('task_complete');
	await first.end();
	const [file] = rollouts(home);
	const second = startProto(t, model, { home, args: ['--resume', /([0-9a-f-]{36})\.jsonl$/.exec(file)[1]] });
	second.submit('2', userInput('mend it'));
	await second.next('task_complete');
	await second.end();
	const input = JSON.stringify(model.requests().at(-1).body.input);
	assert.ok(input.includes('<user_action>') && !input.includes('looked'));
});

test('review/start: a turn with review items, live and stored', appServer, async (t) => {
	const model = await startModel(t, [say('hi'), run('true'), say(JSON.stringify(OUTPUT)), say('later')]);
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('first')] });
	await server.next('turn/completed');
	const before = server.messages.length;
	const { turn, reviewThreadId } = await server.request('review/start',
		{ threadId: thread.id, target: { type: 'uncommittedChanges' } });
	assert.equal(reviewThreadId, thread.id);
	assert.deepEqual(turn.items.map(({ type, content }) => [type, content[0].text]), [['userMessage', 'current changes']]);
	const { params } = await server.next('turn/completed');
	assert.deepEqual([params.turn.id, params.turn.status, params.turn.items[0].text], [turn.id, 'completed', REPORT]);
	const told = storyOf(server.messages.slice(before)).filter((it) => !it.startsWith('thread/readState'));
	assert.deepEqual(told, ['thread/status/changed active', 'turn/started',
		'item/started enteredReviewMode', 'item/completed enteredReviewMode', 'item/started userMessage',
		'item/completed userMessage', 'item/started commandExecution', 'item/completed commandExecution',
		'item/started exitedReviewMode', 'item/completed exitedReviewMode', 'item/started agentMessage',
		'item/completed agentMessage', 'thread/status/changed idle', 'turn/completed']);
	assert.equal(server.all('item/completed').find(({ params }) => params.item.type === 'exitedReviewMode').params.item.review,
		REPORT);
	const read = await server.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.deepEqual(read.thread.turns[1].items.map(({ type, review }) => [type, review]), [
		['enteredReviewMode', 'current changes'], ['userMessage', undefined], ['commandExecution', undefined],
		['exitedReviewMode', REPORT],
		['agentMessage', undefined]]);
	assert.equal((await server.end()).code, 0);
});

test('review/start refuses an empty target, and its turn takes no input', appServer, async (t) => {
	const model = await startModel(t, [hang]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const start = (target, more) => server.request('review/start', { threadId: thread.id, target, ...more });
	for (const [target, message] of [[{ type: 'baseBranch', branch: ' ' }, 'branch must not be empty'],
		[{ type: 'commit', sha: ' ' }, 'sha must not be empty'],
		[{ type: 'custom', instructions: ' ' }, 'instructions must not be empty'],
		[{ type: 'bogus' }, 'Invalid request: unknown variant `bogus`, expected one of `uncommittedChanges`, `baseBranch`, '
			+ '`commit`, `custom`']])
		await assert.rejects(start(target), { code: -32600, message });
	await assert.rejects(start({ type: 'uncommittedChanges' }, { delivery: 'detached' }),
		{ message: 'Invalid request: unknown variant `detached`, expected `inline`' });
	const { turn } = await start({ type: 'custom', instructions: 'look' });
	await server.next('item/started');
	const input = [text('more')];
	await assert.rejects(server.request('turn/start', { threadId: thread.id, input }), { code: -32603, message:
		'failed to submit turn input: ActiveTurnNotSteerable { turn_kind: Review }' });
	await assert.rejects(server.request('turn/steer', { threadId: thread.id, expectedTurnId: turn.id, input }), {
		code: -32600, message: 'cannot steer a review turn', data: { codexErrorInfo: { activeTurnNotSteerable:
		{ turnKind: 'review' } } } });
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	const { params } = await server.next('turn/completed');
	assert.equal(params.turn.status, 'interrupted');
	const last = server.all('item/completed').at(-1).params.item;
	assert.deepEqual([last.type, last.review], ['exitedReviewMode', 'The review ended without a result.']);
	await server.end();
});

test('codex review and codex exec review print the findings', needs('review'), async (t) => {
	const model = await startModel(t, [1, 2, 3].map(() => say(JSON.stringify(OUTPUT))));
	const home = makeHome(t, model);
	const cwd = tempDir(t, 'cwd');
	const file = path.join(cwd, 'report.txt');
	for (const args of [['review', '--skip-git-repo-check', '--commit', 'abcdef0123', '--title', 'A title', '-o', file],
		['exec', '--skip-git-repo-check', 'review', '-'], ['exec', 'review', '--base', 'main', '--yolo']]) {
		const { code, stdout, stderr } = await runCodex(t, args, { home, cwd, input: 'look here\n' });
		assert.deepEqual([code, stdout], [0, REPORT + '\n'], stderr);
	}
	assert.equal(fs.readFileSync(file, 'utf8'), REPORT);
	const asked = model.requests().map((request) => textsOf(request, 'user').at(-1));
	assert.match(asked[0], /git show 'abcdef0123'/);
	assert.equal(asked[1], 'look here');
	assert.match(asked[2], /merge-base HEAD 'main'/);
});

test('codex review requires a target', needs('review'), async (t) => {
	const home = makeHome(t, await startModel(t, [say('never')]));
	for (const [args, message] of [[[], /Specify --uncommitted, --base, --commit, or provide custom review instructions/],
		[['--uncommitted', 'x'], /the argument '--uncommitted' cannot be used with '\[PROMPT\]'/],
		[['--title', 'x', 'y'], /'--title <TITLE>' requires '--commit <SHA>'/],
		[['x', '--output-schema', 'f'], /'--output-schema' cannot be used with review/]]) {
		const { code, stderr } = await runCodex(t, ['review', ...args], { home });
		assert.equal(code, 2);
		assert.match(stderr, message);
	}
	const { code, stderr } = await runCodex(t, ['review', '--skip-git-repo-check', '--base', ' '], { home });
	assert.equal(code, 1);
	assert.match(stderr, /branch must not be empty/);
});
