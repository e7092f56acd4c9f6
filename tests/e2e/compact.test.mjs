// Compaction: the history replaced by a summary, on request and by itself, and what is left on disk of it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import {
	codexExec, failed, httpError, needs, readLines, reply, rollouts, say, startModel, textsOf,
} from './lib/codex.mjs';
import { startProto, story, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const exec = needs('exec');
const used = (input_tokens) => ({ usage: { input_tokens } });
const MEMO = 'The memo of the model.';
const tooLong = failed('context_length_exceeded', 'Your input exceeds the context window of this model.');

const lastText = (request) => request.body.input.at(-1).content?.[0].text ?? '';
const typesOf = (events) => events.map(({ msg }) => msg.type);

/** Every call of the request is followed by its output, and no output lacks a call. */
function assertWhole(request) {
	const open = new Set();
	for (const { type, call_id } of request.body.input) {
		if (/_call$/.test(type) && call_id) open.add(call_id);
		if (/_output$/.test(type)) assert.ok(open.delete(call_id), `an output without its call: ${call_id}`);
	}
	assert.deepEqual([...open], []);
}

async function endWell(codex) {
	assert.equal((await codex.end()).code, 0, codex.stderr());
}

test('on request the history becomes a summary, and the user\'s words stay', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say(MEMO), say('Two.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', { type: 'compact' });
	await codex.next('task_complete');
	codex.submit('3', userInput('second words'));
	await codex.next('task_complete');
	await endWell(codex);
	const [, ask, after] = model.requests();
	assert.deepEqual(ask.body.tools, []);
	assert.equal(ask.body.parallel_tool_calls, false);
	assert.equal(ask.body.input.length, model.requests()[0].body.input.length + 2, 'the history, and the question');
	const words = textsOf(after, 'user');
	assert.deepEqual(words.filter((text) => /words$/.test(text)), ['first words', 'second words']);
	assert.match(words.at(-2), /^<conversation_summary>[^]*The memo of the model\.[^]*<\/conversation_summary>$/);
	assert.doesNotMatch(JSON.stringify(after.body.input), /One\./);
	assert.equal(textsOf(after, 'developer').length, 1, 'the rules are told once');
	assertWhole(after);
	const own = codex.events().filter(({ id }) => id === '2');
	assert.deepEqual(typesOf(own), ['task_started', 'item_started', 'token_count', 'token_count', 'token_count',
		'item_completed', 'context_compacted', 'warning', 'task_complete']);
	assert.equal(own.at(-1).msg.last_agent_message, null);
	assert.equal(own[1].msg.item.type, 'ContextCompaction');
	assert.equal(own[1].msg.item.id, own[5].msg.item.id);
	const [, answer, estimate] = own.filter(({ msg }) => msg.type === 'token_count').map(({ msg }) => msg.info);
	assert.deepEqual(estimate.total_token_usage, answer.total_token_usage);
	assert.ok(estimate.last_token_usage.total_tokens > 0);
	assert.equal(estimate.last_token_usage.input_tokens, 0);
});

test('only the message of an answer is the summary', proto, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ reasoning: 'Hm.' }, { message: MEMO },
		{ call: 'exec_command', arguments: { cmd: 'echo no' } }), say('Two.')]);
	const codex = startProto(t, model);
	for (const op of [userInput('first words'), { type: 'compact' }, userInput('second words')]) {
		codex.submit('n', op);
		await codex.next('task_complete');
	}
	await endWell(codex);
	assert.match(textsOf(model.requests()[2], 'user').at(-2), /The memo of the model/);
	assert.ok(!typesOf(codex.events()).includes('exec_command_begin'));
});

test('nothing said, nothing to summarise', proto, async (t) => {
	const codex = startProto(t, await startModel(t, [say('never asked')]));
	codex.submit('1', { type: 'compact' });
	await codex.next('task_complete');
	await endWell(codex);
	assert.deepEqual(story(codex.events()).slice(1, 4), ['1 task_started', '1 warning', '1 task_complete']);
});

test('before a turn that would be too long, the history is compacted first', proto, async (t) => {
	const model = await startModel(t, [reply({ message: 'One.' }, used(5000)), say(MEMO), say('Two.')]);
	const codex = startProto(t, model, { config: 'model_auto_compact_token_limit = 4000' });
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', userInput('second words'));
	await codex.next('task_complete');
	await endWell(codex);
	const own = codex.events().filter(({ id }) => id === '2');
	assert.deepEqual(typesOf(own).filter((type) => !/token|delta|agent/.test(type)).slice(0, 9), ['task_started',
		'item_started', 'item_completed', 'context_compacted', 'warning', 'item_started', 'item_completed',
		'user_message', 'item_started']);
	const [, ask, after] = model.requests();
	assert.doesNotMatch(JSON.stringify(ask.body.input), /second words/);
	assert.equal(lastText(after), 'second words');
	assert.match(textsOf(after, 'user').at(-2), /The memo of the model/);
});

test('the history is compacted in the middle of a task, which then continues', proto, async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'echo hi' } }, used(5000)),
		say(MEMO), say('Done.')]);
	const codex = startProto(t, model, { config: 'model_auto_compact_token_limit = 4000' });
	codex.submit('1', userInput('do it'));
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'Done.');
	await endWell(codex);
	const [, ask, after] = model.requests();
	assertWhole(ask);
	assertWhole(after);
	assert.match(lastText(after), /The memo of the model/);
	assert.ok(!after.body.input.some(({ type }) => type !== 'message'));
	assert.ok(after.body.tools.length > 0);
});

test('a large output counts before a provider has counted it', proto, async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'seq 100000' } }, used(10)),
		say(MEMO), say('Done.')]);
	const codex = startProto(t, model, { config: 'model_auto_compact_token_limit = 4000' });
	codex.submit('1', userInput('do it'));
	await codex.next('task_complete');
	await endWell(codex);
	assert.equal(model.requests().length, 3);
});

test('a history that exceeded the window is compacted before the next task', proto, async (t) => {
	const model = await startModel(t, [tooLong, say(MEMO), say('Fine.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first words'));
	assert.equal((await codex.next('error')).msg.codex_error_info, 'context_window_exceeded');
	codex.submit('2', userInput('second words'));
	await codex.next('context_compacted');
	assert.equal((await codex.next('task_complete')).msg.last_agent_message, 'Fine.');
	await endWell(codex);
	const full = codex.events().find(({ msg }) => msg.type === 'token_count' && msg.info).msg.info;
	assert.equal(full.last_token_usage.total_tokens, full.model_context_window);
});

test('a request for a summary that is too long itself leaves out the oldest items, calls with outputs', proto,
	async (t) => {
		const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'echo 1' }, call_id: 'a' },
			{ call: 'exec_command', arguments: { cmd: 'echo 2' }, call_id: 'b' }), say('One.'), tooLong, tooLong,
		tooLong, say(MEMO), say('Two.')]);
		const codex = startProto(t, model);
		codex.submit('1', userInput('first words'));
		await codex.next('task_complete');
		codex.submit('2', { type: 'compact' });
		assert.match((await codex.next('background_event')).msg.message, /oldest \d+ items/);
		await codex.next('task_complete');
		codex.submit('3', userInput('second words'));
		await codex.next('task_complete');
		await endWell(codex);
		const asked = model.requests().slice(2, 6);
		asked.forEach(assertWhole);
		const counts = asked.map(({ body }) => body.input.length);
		assert.ok(counts.every((count, i) => i === 0 || count < counts[i - 1]), counts.join());
		assert.ok(textsOf(model.requests().at(-1), 'user').includes('first words'));
	});

test('a compaction that fails says why and changes nothing', proto, async (t) => {
	const model = await startModel(t, [say('One.'), httpError(400, { error: { message: 'no summaries today' } }),
		say('Two.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', { type: 'compact' });
	assert.match((await codex.next('error')).msg.message, /no summaries today/);
	await codex.next('task_complete');
	codex.submit('3', userInput('second words'));
	await codex.next('task_complete');
	await endWell(codex);
	const [before, , after] = model.requests();
	assert.deepEqual(after.body.input.slice(0, before.body.input.length), before.body.input);
	assert.equal(after.body.input.length, before.body.input.length + 2);
	assert.ok(!typesOf(codex.events()).includes('context_compacted'));
});

test('a prompt file that is not there is named', proto, async (t) => {
	const codex = startProto(t, await startModel(t, [say('One.')]),
		{ config: 'experimental_compact_prompt_file = "/nowhere/ask.md"' });
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', { type: 'compact' });
	assert.match((await codex.next('error')).msg.message, /nowhere\/ask\.md/);
	await codex.next('task_complete');
	await endWell(codex);
});

test('the question can be one\'s own', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say(MEMO)]);
	const codex = startProto(t, model, { config: 'compact_prompt = "Sum up, in verse."' });
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', { type: 'compact' });
	await codex.next('task_complete');
	await endWell(codex);
	assert.equal(lastText(model.requests()[1]), 'Sum up, in verse.');
});

test('interrupted, it leaves the history as it was', proto, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ delta: 'Half a m' }, { hang: true }), say('Two.')]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', { type: 'compact' });
	await codex.next('item_started');
	codex.submit('3', { type: 'interrupt' });
	assert.equal((await codex.next('turn_aborted')).msg.reason, 'interrupted');
	codex.submit('4', userInput('second words'));
	await codex.next('task_complete');
	await endWell(codex);
	const before = model.requests()[0].body.input, after = model.requests().at(-1).body.input;
	assert.deepEqual(after.slice(0, before.length), before);
	assert.equal(after.length, before.length + 2);
});

test('interrupted before its turn, a prompt is not lost', proto, async (t) => {
	const model = await startModel(t, [reply({ message: 'One.' }, used(5000)), reply({ delta: 'Half' }, { hang: true }),
		say(MEMO), say('Three.')]);
	const codex = startProto(t, model, { config: 'model_auto_compact_token_limit = 4000' });
	codex.submit('1', userInput('first words'));
	await codex.next('task_complete');
	codex.submit('2', userInput('second words'));
	await codex.next('item_started');
	codex.submit('3', { type: 'interrupt' });
	await codex.next('turn_aborted');
	codex.submit('4', userInput('third words'));
	await codex.next('task_complete');
	await endWell(codex);
	const words = textsOf(model.requests().at(-1), 'user').filter((text) => /words$/.test(text));
	assert.deepEqual(words, ['first words', 'second words', 'third words']);
});

test('compact takes the place of a running task', proto, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), say(MEMO)]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('first words'));
	await codex.next('agent_message_delta');
	codex.submit('2', { type: 'compact' });
	assert.equal((await codex.next('turn_aborted')).msg.reason, 'replaced');
	assert.equal((await codex.next('task_complete')).id, '2');
	await endWell(codex);
});

test('the newest messages survive a compaction', proto, async (t) => {
	const long = (word) => `${word} ${'x'.repeat(45_000)} ${word}`;
	const model = await startModel(t, [say('1'), say('2'), say('3'), say(MEMO), say('4')]);
	const codex = startProto(t, model);
	for (const word of ['oldest', 'middle', 'newest']) {
		codex.submit(word, userInput(long(word)));
		await codex.next('task_complete');
	}
	codex.submit('c', { type: 'compact' });
	await codex.next('task_complete');
	codex.submit('n', userInput('and now?'));
	await codex.next('task_complete');
	await endWell(codex);
	const words = textsOf(model.requests().at(-1), 'user').filter((text) => /xxx/.test(text));
	assert.equal(words.length, 2);
	assert.match(words[0], /^middle x+…\d+ tokens truncated…x+ middle$/);
	assert.equal(words[1], long('newest'));
});

test('a compacted session is resumed without asking a model, also after several', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say('First memo.'), say('Two.'), say(MEMO), say('Three.'),
		say('Four.')]);
	const codex = startProto(t, model);
	const path = (await codex.next('session_configured')).msg.rollout_path;
	for (const op of [userInput('first words'), { type: 'compact' }, userInput('second words'), { type: 'compact' },
		userInput('third words')]) {
		codex.submit('n', op);
		await codex.next('task_complete');
	}
	await endWell(codex);
	const before = model.requests().at(-1).body.input;
	const again = startProto(t, model, { home: codex.home, cwd: codex.cwd, args: ['--no-auto-configure'] });
	again.submit('c', { type: 'configure_session', resume_path: path });
	again.submit('n', userInput('fourth words'));
	await again.next('task_complete');
	await endWell(again);
	const after = model.requests().at(-1).body.input;
	assert.deepEqual(after.slice(0, before.length), before);
	assert.equal(after.length, before.length + 2, 'the answer and the new words, no context again');
	assert.equal(textsOf(model.requests().at(-1), 'user').filter((text) => /^<conversation_summary>/.test(text)).length, 1);
	assert.doesNotMatch(JSON.stringify(after), /First memo/);
	const lines = readLines(path).filter(({ type }) => type === 'compacted');
	assert.deepEqual(lines.map(({ payload }) => payload.message), ['First memo.', MEMO]);
});

test('a compaction whose line was cut off by a crash did not happen', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say(MEMO), say('Two.')]);
	const codex = startProto(t, model);
	const path = (await codex.next('session_configured')).msg.rollout_path;
	for (const op of [userInput('first words'), { type: 'compact' }]) {
		codex.submit('n', op);
		await codex.next('task_complete');
	}
	await endWell(codex);
	const text = fs.readFileSync(path, 'utf8');
	fs.writeFileSync(path, text.slice(0, text.indexOf('replacement_history') + 200));
	const again = startProto(t, model, { home: codex.home, cwd: codex.cwd, args: ['--no-auto-configure'] });
	again.submit('c', { type: 'configure_session', resume_path: path });
	again.submit('n', userInput('second words'));
	await again.next('task_complete');
	await endWell(again);
	assert.deepEqual(textsOf(model.requests().at(-1), 'assistant'), ['One.']);
});

test('turns taken back across a compaction undo it, now and after a resume', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say(MEMO), say('Three.'), say('Four.'), say('Five.')]);
	const codex = startProto(t, model);
	const path = (await codex.next('session_configured')).msg.rollout_path;
	for (const op of [userInput('first words'), userInput('second words'), { type: 'compact' },
		userInput('third words')]) {
		codex.submit('n', op);
		await codex.next('task_complete');
	}
	codex.submit('r', { type: 'thread_rollback', num_turns: 2 });
	await codex.next('thread_rolled_back');
	codex.submit('n', userInput('other words'));
	await codex.next('task_complete');
	await endWell(codex);
	const now = model.requests().at(-1);
	assert.deepEqual(textsOf(now, 'user').filter((text) => /words$/.test(text)), ['first words', 'other words']);
	assert.deepEqual(textsOf(now, 'assistant'), ['One.'], 'what a summary had replaced is there again');
	const again = startProto(t, model, { home: codex.home, cwd: codex.cwd, args: ['--no-auto-configure'] });
	again.submit('c', { type: 'configure_session', resume_path: path });
	again.submit('n', userInput('last words'));
	await again.next('task_complete');
	await endWell(again);
	assert.deepEqual(model.requests().at(-1).body.input.slice(0, now.body.input.length), now.body.input);
});

test('codex exec reports a compaction and continues', exec, async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'echo hi' } }, used(5000)),
		say(MEMO), say('Done.')]);
	const done = await codexExec(t, model, ['do it'], { config: 'model_auto_compact_token_limit = 4000' });
	assert.equal(done.code, 0);
	assert.equal(done.stdout, 'Done.\n');
	assert.match(done.stderr, /replaced by a summary/);
	assert.ok(readLines(rollouts(done.home)[0]).some(({ type }) => type === 'compacted'));
});
