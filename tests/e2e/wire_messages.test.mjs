// Anthropic Messages against a server that refuses what the real ones refuse: docs/models.md.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, needs, readLines, rollouts, tempDir } from './lib/codex.mjs';
import { messages as m, startWire, wireHome } from './lib/wires.mjs';

const exec = needs('exec');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const FEW = 'request_max_retries = 1\nstream_max_retries = 1\n';

async function ask(t, answers, { args = ['go'], config = 'model = "claude-sonnet-4-6"', more, refused = false, ...options } = {}) {
	const server = await startWire(t, 'messages', answers);
	const run = await codexExec(t, null, args, { home: wireHome(t, server, config, more), json: true, ...options });
	if (!refused) assert.deepEqual(server.faults, []);
	return { ...run, server, items: run.events.filter((e) => e.type === 'item.completed').map((e) => e.item),
		failure: run.events.find((e) => e.type === 'turn.failed')?.error.message };
}
const answerOf = (run) => run.items.filter((item) => item.type === 'agent_message').at(-1)?.text;

test('a request of Messages', exec, async (t) => {
	const run = await ask(t, [m.say('Hello.')], { more: 'env_key = "MY_KEY"', env: { MY_KEY: 'sk-ant-1' } });
	assert.equal(answerOf(run), 'Hello.');
	const [{ body, headers }] = run.server.requests;
	assert.equal(headers['x-api-key'], 'sk-ant-1');
	assert.equal(headers.authorization, undefined);
	assert.equal(body.max_tokens, 32000);
	assert.equal(body.thinking, undefined);
	assert.deepEqual(body.system.at(-1).cache_control, { type: 'ephemeral' });
	assert.deepEqual(body.messages.at(-1).content.at(-1), { type: 'text', text: 'go', cache_control: { type: 'ephemeral' } });
	assert.ok(body.tools.every((tool) => tool.input_schema.type === 'object'));
	assert.ok(body.tools.some((tool) => tool.name === 'apply_patch'));
	const { usage } = run.events.find((e) => e.type === 'turn.completed');
	assert.deepEqual([usage.input_tokens, usage.cached_input_tokens, usage.output_tokens], [10, 0, 20]);
});

test('a bearer token is sent as such, and a configured version once', exec, async (t) => {
	const run = await ask(t, [m.say('x')], { more: 'experimental_bearer_token = "oauth-1"\nhttp_headers = { "anthropic-version" = "2023-06-01" }' });
	assert.equal(run.server.requests[0].headers.authorization, 'Bearer oauth-1');
	assert.equal(run.server.requests[0].headers['x-api-key'], undefined);
	assert.equal(run.server.requests[0].headers['anthropic-version'], '2023-06-01');
});

const THINKING = [
	['claude-opus-4-7', 'high', { type: 'adaptive' }, { effort: 'high' }], ['claude-sonnet-5', 'minimal', { type: 'adaptive' }, { effort: 'low' }],
	['claude-sonnet-4-5', 'medium', { type: 'enabled', budget_tokens: 8192 }, undefined],
	['claude-opus-4-1-20250805', 'xhigh', { type: 'enabled', budget_tokens: 24000 }, undefined],
	['kimi-k2', 'low', { type: 'enabled', budget_tokens: 2048 }, undefined], ['claude-3-5-haiku', 'high', undefined, undefined],
	['claude-opus-4-7', 'none', undefined, undefined],
];
for (const [model, effort, thinking, output] of THINKING) {
	test(`thinking of ${model} with effort ${effort}`, exec, async (t) => {
		const run = await ask(t, [m.say('x')], { config: `model = "${model}"\nmodel_reasoning_effort = "${effort}"` });
		assert.deepEqual(run.server.requests[0].body.thinking, thinking);
		assert.deepEqual(run.server.requests[0].body.output_config, output);
	});
}

test('max_tokens: as configured, but not more than the model gives; a small one limits the budget', exec, async (t) => {
	const tokens = async (config) => (await ask(t, [m.say('x')], { config })).server.requests[0].body;
	assert.equal((await tokens('model = "claude-3-5-haiku"')).max_tokens, 8192);
	const body = await tokens('model = "claude-sonnet-4-5"\nmodel_max_output_tokens = 2000\nmodel_reasoning_effort = "high"');
	assert.deepEqual([body.max_tokens, body.thinking.budget_tokens], [2000, 1999]);
	assert.equal((await tokens('model = "claude-sonnet-4-5"\nmodel_max_output_tokens = 900\nmodel_reasoning_effort = "high"')).thinking, undefined);
});

test('structured output', exec, async (t) => {
	const file = path.join(tempDir(t), 'schema.json'), schema = { type: 'object', properties: {}, additionalProperties: false };
	fs.writeFileSync(file, JSON.stringify(schema));
	const run = await ask(t, [m.say('{}')], { args: ['--output-schema', file, 'go'] });
	assert.deepEqual(run.server.requests[0].body.output_config, { format: { type: 'json_schema', schema } });
});

test('thoughts come back unmodified, before the calls of their message', exec, async (t) => {
	const run = await ask(t, [
		[m.start(), ...m.thinking(0, 'Let me see.', 'c2ln+/='), ...m.block(1, { type: 'redacted_thinking', data: 'ZGF0YQ==' }),
			...m.thinking(2, '', 'only-signed'), ...m.text(3, 'Two calls. '), ...m.tool(4, 'toolu_1', 'exec_command', { cmd: 'echo one' }),
			...m.tool(5, 'toolu_2', 'exec_command', { cmd: 'echo two' }), ...m.stop('tool_use')], m.say('Done.')],
	{ config: 'model = "claude-opus-4-7"\nmodel_reasoning_effort = "high"' });
	assert.equal(answerOf(run), 'Done.');
	const [said, heard] = run.server.requests[1].body.messages.slice(-2);
	assert.deepEqual(said.content.slice(0, 4), [{ type: 'thinking', thinking: 'Let me see.', signature: 'c2ln+/=' },
		{ type: 'redacted_thinking', data: 'ZGF0YQ==' }, { type: 'thinking', thinking: '', signature: 'only-signed' },
		{ type: 'text', text: 'Two calls.' }]);
	assert.deepEqual(said.content.slice(4).map((block) => [block.id, block.input.cmd]), [['toolu_1', 'echo one'], ['toolu_2', 'echo two']]);
	assert.match(heard.content[0].content, /one/);
	assert.match(heard.content[1].content, /two/);
	assert.equal(run.items.find((item) => item.type === 'reasoning').text, 'Let me see.');
});

test('a message does not end with a thought when it is sent back', exec, async (t) => {
	const server = await startWire(t, 'messages', [[m.start(), ...m.text(0, 'Said.'), ...m.thinking(1, 'Late.', 'sig'), ...m.stop('end_turn')],
		[m.start(), ...m.thinking(0, 'Only this.', 'sig'), ...m.stop('end_turn')], m.say('Done.')]);
	const cwd = tempDir(t), home = wireHome(t, server, 'model = "claude-opus-4-7"\nmodel_reasoning_effort = "high"');
	for (const args of [['go'], ['resume', '--last', 'more'], ['resume', '--last', 'and more']])
		assert.equal((await codexExec(t, null, args, { home, cwd })).code, 0);
	assert.deepEqual(server.faults, []);
	assert.deepEqual(server.requests[2].body.messages.map((message) => message.role), ['user', 'assistant', 'user']);
});

test('a longer conversation is charged for its new part only', exec, async (t) => {
	const commands = Array.from({ length: 6 }, (_, i) => m.run(`echo ${i}`, `toolu_${i}`));
	const run = await ask(t, [...commands, m.say('Done.')]);
	const marked = (value) => value.cache_control !== undefined;
	const strip = (value) => JSON.stringify(value, (key, inner) => (key === 'cache_control' ? undefined : inner));
	const bodies = run.server.requests.map(({ body }) => body);
	assert.equal(bodies.length, 7);
	for (let i = 1; i < bodies.length; i++) {
		const before = bodies[i - 1].messages, now = bodies[i].messages;
		assert.equal(strip(now.slice(0, before.length)), strip(before), 'the prefix is the same');
		assert.equal(strip(bodies[i].system) + strip(bodies[i].tools), strip(bodies[i - 1].system) + strip(bodies[i - 1].tools));
		assert.ok(marked(before.at(-1).content.at(-1)), 'the previous request wrote up to its end');
		assert.ok(marked(now[before.length - 1].content.at(-1)), 'this one reads what the previous one wrote');
		assert.ok(marked(now.at(-1).content.at(-1)));
	}
});

test('an image stays in the result of its tool; one of the user is a block', exec, async (t) => {
	const cwd = tempDir(t), file = path.join(cwd, 'a.png');
	fs.writeFileSync(file, PNG);
	const run = await ask(t, [[m.start(), ...m.tool(0, 'toolu_1', 'view_image', { path: file }), ...m.stop('tool_use')], m.say('Done.')],
		{ cwd, args: ['go', '-i', file] });
	const source = { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') };
	const { messages } = run.server.requests[1].body;
	assert.ok(messages[0].content.some((block) => JSON.stringify(block.source) === JSON.stringify(source)));
	assert.ok(JSON.stringify(messages.at(-1).content).includes(JSON.stringify(source)));
});

test('a tool without fragments has an empty input; unknown events, blocks and deltas are skipped', exec, async (t) => {
	const run = await ask(t, [[m.start(), { type: 'news', x: 1 }, ...m.block(0, { type: 'server_thing', x: 1 }, { type: 'odd_delta' }),
		...m.block(1, { type: 'text', text: 'Al' }, { type: 'citations_delta', citation: {} }, { type: 'text_delta', text: 'so.' }),
		...m.block(2, { type: 'tool_use', id: 'toolu_9', name: 'update_plan', input: {} }), ...m.stop('tool_use')], m.say('Done.')]);
	const said = run.server.requests[1].body.messages.at(-2).content;
	assert.deepEqual(said, [{ type: 'text', text: 'Also.' }, { type: 'tool_use', id: 'toolu_9', name: 'update_plan', input: {} }]);
});

test('usage: cached parts count as input, the last message_delta counts', exec, async (t) => {
	const run = await ask(t, [[m.start({ input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 10 }),
		...m.text(0, 'x'), ...m.stop('end_turn', { input_tokens: 6, cache_read_input_tokens: 0, output_tokens: 9 })]]);
	const { usage } = run.events.find((e) => e.type === 'turn.completed');
	assert.deepEqual([usage.input_tokens, usage.cached_input_tokens, usage.output_tokens], [116, 100, 9]);
});

test('a paused turn is continued', exec, async (t) => {
	const run = await ask(t, [[m.start(), ...m.text(0, 'Half.'), ...m.stop('pause_turn')], m.say('Whole.')]);
	assert.equal(answerOf(run), 'Whole.');
	assert.equal(run.server.requests[1].body.messages.at(-2).content[0].text, 'Half.');
});

const status = (code, type, message, headers) => ({ status: code, body: { type: 'error', error: { type, message }, request_id: 'req_1' },
	headers: { 'request-id': 'req_1', ...headers } });
const error = (type, message) => [m.start(), { type: 'error', error: { type, message } }];
const FAILURES = {
	max_tokens: [[m.start(), ...m.text(0, 'torn'), ...m.stop('max_tokens')], /reason: max_output_tokens/, 1],
	refusal: [[m.start(), ...m.stop('refusal')], /reason: content_filter/, 1],
	'the window of the model': [[m.start(), ...m.stop('model_context_window_exceeded')], /^Codex ran out of room/, 1],
	'a prompt that is too long': [status(400, 'invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum'), /^Codex ran out of room/, 1],
	'an invalid request': [status(400, 'invalid_request_error', 'max_tokens: wrong'), /^max_tokens: wrong/, 1],
	authentication: [status(401, 'authentication_error', 'invalid x-api-key'), /401 Unauthorized: invalid x-api-key.*request id: req_1/, 1],
	permission: [status(403, 'permission_error', 'no'), /403 Forbidden: no/, 1],
	'not found': [status(404, 'not_found_error', 'model: x'), /404 Not Found: model: x/, 1],
	'too large': [status(413, 'request_too_large', 'big'), /413/, 1],
	'rate limit': [status(429, 'rate_limit_error', 'slow', { 'retry-after': '0' }), /last status: 429/, 2],
	billing: [status(400, 'invalid_request_error', 'Your credit balance is too low'), /^Quota exceeded.*credit balance/s, 1],
	'an api_error': [status(500, 'api_error', 'boom'), /boom/, 4],
	overloaded: [status(529, 'overloaded_error', 'Overloaded'), /529.*Overloaded/, 4],
	'overloaded in the stream': [error('overloaded_error', 'Overloaded'), /the server is overloaded: Overloaded/, 2],
	'an invalid request in the stream': [error('invalid_request_error', 'nope'), /^nope/, 1],
	'a cut stream': [[m.start(), ...m.text(0, 'x')], /stream closed before message_stop/, 2],
	'200 with an error as JSON': [{ body: { type: 'error', error: { type: 'permission_error', message: 'not you' } } }, /^not you/, 1],
	'200 with HTML': [{ type: 'text/html', body: '<html>' }, /no server of the Anthropic Messages API/, 1],
};
const KEPT = { max_tokens: 1, 'a cut stream': 2 }; // messages that were received in part, one for each attempt
for (const [name, [answer, text, count]] of Object.entries(FAILURES)) {
	test(`failure: ${name}`, exec, async (t) => {
		const run = await ask(t, [answer], { more: FEW });
		assert.match(run.failure, text);
		assert.equal(run.server.requests.length, count);
		const recorded = rollouts(run.home).flatMap(readLines).filter((line) => line.payload?.role === 'assistant');
		assert.equal(recorded.length, KEPT[name] ?? 0);
	});
}

test('a stop_reason without message_stop completes the response', exec, async (t) => {
	const run = await ask(t, [[m.start(), ...m.text(0, 'x'), m.stop('end_turn')[0]]]);
	assert.equal(answerOf(run), 'x');
});
