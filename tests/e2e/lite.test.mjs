// The lite form of requests: tools and instructions are items of the history, which grows and is never rewritten.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import {
	call, codexExec, failed, forever, makeHome, needs, runCodex, say, startModel, tempDir, textsOf,
} from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const server = needs('app-server');
const exec = needs('exec');
const LITE = 'gpt-6-sol';
const HEADER = 'x-openai-internal-codex-responses-lite';

const isPrefix = (before, after) => before.body.input.every((item, i) =>
	JSON.stringify(item) === JSON.stringify(after.body.input[i]));
const toolItems = (request) => request.body.input.filter(({ type }) => type === 'additional_tools');

function assertLite(request) {
	const { body, headers } = request;
	assert.equal(headers[HEADER], 'true');
	assert.ok(!('tools' in body) && !('instructions' in body), 'neither tools nor instructions');
	assert.equal(body.parallel_tool_calls, false);
	assert.equal(body.reasoning.context, 'all_turns');
	assert.ok(!('summary' in body.reasoning));
	const [tools, base] = body.input;
	assert.match(tools.id, /^at_[0-9a-f-]{36}$/);
	assert.equal(tools.role, 'developer');
	assert.equal(toolItems(request).length, 1);
	assert.equal(base.role, 'developer');
	assert.ok(base.content[0].text.length > 1000, 'the system prompt');
	assert.ok(body.input.every(({ role }) => role !== 'system'));
}

function assertOrdinary(request) {
	assert.ok(!(HEADER in request.headers));
	assert.ok(Array.isArray(request.body.tools));
	assert.equal(toolItems(request).length, 0);
}

async function open(t, replies, model = LITE, options = {}) {
	const scripted = await startModel(t, replies);
	const client = await startAppServer(t, scripted, { config: `model = "${model}"`, ...options });
	return { scripted, client };
}

async function turn(client, threadId, words, more = {}) {
	await client.request('turn/start', { threadId, input: [text(words)], ...more });
	return (await client.next('turn/completed')).params.turn;
}

test('a lite request holds tools and instructions as its first items', exec, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const run = await codexExec(t, model, ['-m', LITE, 'hi']);
	assert.equal(run.stdout, 'Hello.\n', run.stderr);
	const [request] = model.requests();
	assertLite(request);
	const [functions] = request.body.input[0].tools;
	assert.deepEqual([functions.type, functions.name, functions.description], ['namespace', 'functions', '']);
	assert.ok(functions.tools.every(({ type }) => type === 'function' || type === 'custom'));
	assert.equal(request.body.input.at(-1).content[0].text, 'hi');
	assert.deepEqual(request.body.include, ['reasoning.encrypted_content']);
	assert.equal(request.body.text.verbosity, 'low');
});

test('each request begins with the whole input of the one before', server, async (t) => {
	const plan = call('update_plan', { plan: [{ step: 'a', status: 'pending' }] });
	const { scripted, client } = await open(t, [plan, forever(say('Done.'))]);
	const { thread } = await client.request('thread/start', {});
	await turn(client, thread.id, 'one');
	await turn(client, thread.id, 'two', { effort: 'ultra' });
	await turn(client, thread.id, 'three', { model: 'gpt-6-astra' });
	await client.end();
	const requests = scripted.requests();
	requests.forEach(assertLite);
	requests.slice(1).forEach((request, i) => assert.ok(isPrefix(requests[i], request), `request ${i + 1}`));
	assert.deepEqual(requests.map(({ body }) => body.reasoning.effort), ['medium', 'medium', 'ultra', 'ultra']);
	const [moved, words] = requests[3].body.input.slice(-2);
	assert.equal(moved.role, 'developer');
	assert.match(moved.content[0].text, /^<model_switch>/);
	assert.equal(words.content[0].text, 'three');
});

test('a change of the form summarises under the old model first, both ways', server, async (t) => {
	const { scripted, client } = await open(t, [say('One.'), say('MEMO A'), say('Two.'), say('MEMO B'), say('Three.')]);
	const { thread } = await client.request('thread/start', {});
	await turn(client, thread.id, 'first');
	await turn(client, thread.id, 'second', { model: 'gpt-5.5' });
	await turn(client, thread.id, 'third', { model: LITE });
	await client.end();
	const [one, ask, two, back, three] = scripted.requests();
	assertLite(ask);
	assert.equal(ask.body.model, LITE);
	assert.ok(isPrefix(one, ask));
	assert.equal(ask.body.input.at(-1).role, 'user');
	assertOrdinary(two);
	assert.equal(two.body.model, 'gpt-5.5');
	assert.match(textsOf(two, 'user').join('\n'), /first[^]*MEMO A[^]*second/);
	assertOrdinary(back);
	assert.deepEqual([back.body.model, back.body.tools, back.body.parallel_tool_calls], ['gpt-5.5', [], false]);
	assertLite(three);
	assert.match(textsOf(three, 'user').join('\n'), /first[^]*second[^]*MEMO B[^]*third/);
});

test('a compaction keeps the tools, and the next request has new ones', server, async (t) => {
	const { scripted, client } = await open(t, [say('One.'), say('MEMO'), say('Two.')]);
	const { thread } = await client.request('thread/start', {});
	await turn(client, thread.id, 'first');
	await client.request('thread/compact/start', { threadId: thread.id });
	await client.next('turn/completed');
	await turn(client, thread.id, 'second');
	await client.end();
	const [one, ask, two] = scripted.requests();
	[one, ask, two].forEach(assertLite);
	assert.ok(isPrefix(one, ask));
	assert.deepEqual(two.body.input[0].tools, one.body.input[0].tools);
	assert.match(textsOf(two, 'user').join('\n'), /first[^]*MEMO[^]*second/);
});

test('a compaction that does not fit keeps the tools and drops what follows them', server, async (t) => {
	const tooLong = failed('context_length_exceeded', 'Your input exceeds the context window of this model.');
	const { scripted, client } = await open(t, [say('One.'), tooLong, say('MEMO')]);
	const { thread } = await client.request('thread/start', {});
	await turn(client, thread.id, 'first');
	await client.request('thread/compact/start', { threadId: thread.id });
	await client.next('turn/completed');
	await client.end();
	const [, whole, cut] = scripted.requests();
	[whole, cut].forEach(assertLite);
	assert.deepEqual(cut.body.input.slice(0, 1), whole.body.input.slice(0, 1));
});

test('a resumed and a forked thread send the same items again', server, async (t) => {
	const scripted = await startModel(t, [say('One.'), forever(say('More.'))]);
	const home = makeHome(t, scripted, `model = "${LITE}"`);
	const first = await startAppServer(t, scripted, { home });
	const { thread } = await first.request('thread/start', {});
	await turn(first, thread.id, 'first');
	await first.end();
	const second = await startAppServer(t, scripted, { home });
	await second.request('thread/resume', { threadId: thread.id });
	await turn(second, thread.id, 'second');
	const forked = await second.request('thread/fork', { threadId: thread.id });
	await turn(second, forked.thread.id, 'third');
	await second.end();
	const [one, two, three] = scripted.requests();
	[one, two, three].forEach(assertLite);
	assert.ok(isPrefix(one, two), 'resumed');
	assert.ok(isPrefix(two, three), 'forked');
});

test('a file of models wins over the built-in ones', exec, async (t) => {
	const file = path.join(tempDir(t), 'models.json');
	fs.writeFileSync(file, JSON.stringify({ models: [
		{ slug: 'own-model', display_name: 'Own', use_responses_lite: true, default_reasoning_level: 'high', comp_hash: '1' },
		{ slug: 'gpt-6-sol', use_responses_lite: false, tool_mode: null },
	] }));
	const model = await startModel(t, [say('Hello.'), say('Hello.')]);
	const config = `model_catalog_json = ${JSON.stringify(file)}`;
	assert.equal((await codexExec(t, model, ['-m', 'own-model', 'hi'], { config })).code, 0);
	assert.equal((await codexExec(t, model, ['-m', 'gpt-6-sol', 'hi'], { config })).code, 0);
	const [own, changed] = model.requests();
	assert.equal(own.headers[HEADER], 'true');
	assert.equal(own.body.reasoning.effort, 'high');
	assertOrdinary(changed);
	const list = async (...args) => JSON.parse((await runCodex(t, ['debug', 'models', ...args])).stdout).models;
	const both = await list('-c', config), bundled = await list('--bundled', '-c', config);
	assert.deepEqual(both.slice(0, 2).map(({ slug }) => slug), ['own-model', 'gpt-6-sol']);
	assert.equal(both.filter(({ slug }) => slug === 'gpt-6-sol').length, 1);
	assert.ok(!bundled.some(({ slug }) => slug === 'own-model'));
	const sol = bundled.find(({ slug }) => slug === 'gpt-6-sol');
	assert.deepEqual([sol.tool_mode, sol.use_responses_lite, sol.comp_hash, sol.default_reasoning_level], ['code_mode_only', true, '3000', 'medium']);
	fs.writeFileSync(file, '{"models": [{}]}');
	const broken = await codexExec(t, model, ['hi'], { config });
	assert.notEqual(broken.code, 0);
	assert.match(broken.stderr, /model_catalog_json.*slug/);
});

// codex 0.169 keeps the list of its account in this form; the members of other programs are skipped.
test('the list of models that codex 0.169 has stored can be used', exec, async (t) => {
	const file = path.join(tempDir(t), 'models_cache.json');
	const levels = ['low', 'high'].map((effort) => ({ effort, description: 'of it' }));
	fs.writeFileSync(file, JSON.stringify({ fetched_at: '2026-11-26T10:00:00Z', etag: 'W/"1"', client_version: '0.169.0', models: [
		{ slug: 'new-model', display_name: 'New', visibility: 'list', supported_in_api: true, priority: 1, shell_type: 'shell_command',
			base_instructions: 'unused', supported_reasoning_levels: levels, default_reasoning_level: 'high', service_tiers: [],
			context_window: 100000, max_context_window: 100000, effective_context_window_percent: 50, input_modalities: ['text'],
			truncation_policy: { mode: 'tokens', limit: 5000 }, supports_parallel_tool_calls: true, upgrade: null },
	] }));
	const config = `model_catalog_json = ${JSON.stringify(file)}`;
	const model = await startModel(t, [say('Hello.')]);
	const proto = startProto(t, model, { config: `${config}\nmodel = "new-model"` });
	proto.submit('1', { type: 'configure_session' });
	proto.submit('2', userInput('hi'));
	const { msg } = await proto.next('task_started');
	assert.equal(msg.model_context_window, 50000);
	await proto.next('task_complete');
	assert.equal((await proto.end()).code, 0);
	assert.ok(!proto.events().some(({ msg: { type } }) => type === 'warning'), 'it is known');
	assert.equal(model.requests()[0].body.reasoning.effort, 'high');
	const [first] = JSON.parse((await runCodex(t, ['debug', 'models', '-c', config])).stdout).models;
	assert.deepEqual([first.slug, first.effective_context_window_percent], ['new-model', 50]);
});

test('other wires have no lite form', exec, async (t) => {
	const model = await startModel(t, [say('Hello.')]);
	const run = await codexExec(t, model, ['-m', 'gpt-5.5', 'hi']);
	assert.equal(run.code, 0, run.stderr);
	assertOrdinary(model.requests()[0]);
});
