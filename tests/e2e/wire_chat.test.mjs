// Chat Completions against a server that refuses what the real ones refuse: docs/models.md.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, needs, readLines, rollouts, tempDir } from './lib/codex.mjs';
import { chat, chatUsage, chunk, finish, startWire, wireHome } from './lib/wires.mjs';

const exec = needs('exec');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const FEW = 'request_max_retries = 1\nstream_max_retries = 1\n';

/** Runs one prompt against these answers; the server must not have refused anything. */
async function ask(t, answers, { args = ['go'], config, more, refused = false, ...options } = {}) {
	const server = await startWire(t, 'chat', answers);
	const run = await codexExec(t, null, args, { home: wireHome(t, server, config, more), json: true, ...options });
	if (!refused) assert.deepEqual(server.faults, []);
	return { ...run, server, items: run.events.filter((e) => e.type === 'item.completed').map((e) => e.item),
		failure: run.events.find((e) => e.type === 'turn.failed')?.error.message };
}
const answerOf = (run) => run.items.filter((item) => item.type === 'agent_message').at(-1)?.text;
const toolsOf = (request) => request.body.messages.filter((message) => message.role === 'tool');

test('a request of Chat Completions', exec, async (t) => {
	const run = await ask(t, [chat.say('Hello.')], { config: 'model = "m-1"' });
	assert.equal(answerOf(run), 'Hello.');
	const [{ body, headers }] = run.server.requests;
	assert.deepEqual(Object.keys(body), ['model', 'messages', 'tools', 'stream', 'stream_options']);
	assert.equal(body.messages[0].role, 'system');
	assert.ok(body.messages.slice(1).every((message) => message.role === 'user'));
	assert.equal(body.messages.at(-1).content, 'go');
	const patch = body.tools.find((tool) => tool.function.name === 'apply_patch').function;
	assert.deepEqual(Object.keys(patch.parameters.properties), ['input']);
	assert.deepEqual(patch.parameters.required, ['input']);
	assert.ok(headers['session-id'] && headers['user-agent'] && headers.originator);
	assert.equal(headers.authorization, undefined);
	const { usage } = run.events.find((e) => e.type === 'turn.completed');
	assert.deepEqual([usage.input_tokens, usage.output_tokens], [100, 20]);
});

test('a known OpenAI model gets apply_patch as a function, too', exec, async (t) => {
	const run = await ask(t, [chat.say('x')], { config: 'model = "gpt-5.5"' });
	const names = run.server.requests[0].body.tools.map((tool) => tool.function.name);
	assert.ok(names.includes('apply_patch'));
	assert.ok(names.includes('multi_agent_v1__spawn_agent'), String(names));
});

test('options are sent only if they are set', exec, async (t) => {
	const schema = path.join(tempDir(t), 'schema.json');
	fs.writeFileSync(schema, '{"type":"object","properties":{},"additionalProperties":false}');
	const run = await ask(t, [chat.say('{}')], {
		args: ['--output-schema', schema, 'go'], config: 'model_reasoning_effort = "high"\nmodel_max_output_tokens = 77\nservice_tier = "flex"',
	});
	const [{ body }] = run.server.requests;
	assert.equal(body.reasoning_effort, 'high');
	assert.equal(body.max_tokens, 77);
	assert.equal(body.service_tier, 'flex');
	assert.deepEqual(body.response_format, { type: 'json_schema', json_schema: { name: 'codex_output_schema', strict: true,
		schema: { type: 'object', properties: {}, additionalProperties: false } } });
});

test('text and parallel calls of one response are one message', exec, async (t) => {
	const run = await ask(t, [
		[chunk({ content: 'Two at once.' }),
			chunk({ tool_calls: [chat.call('exec_command', { cmd: 'echo one' }, { id: 'a', index: 0 })] }),
			chunk({ tool_calls: [chat.call('exec_command', { cmd: 'echo two' }, { id: 'b', index: 1 })] }), finish('tool_calls'), '[DONE]'],
		chat.say('Done.')]);
	assert.equal(answerOf(run), 'Done.');
	const { messages } = run.server.requests[1].body;
	const at = messages.findIndex((message) => message.role === 'assistant');
	assert.equal(messages[at].content, 'Two at once.');
	assert.deepEqual(messages[at].tool_calls.map((call) => call.id), ['a', 'b']);
	assert.match(messages[at + 1].content, /one/);
	assert.match(messages[at + 2].content, /two/);
	assert.equal(messages.length, at + 3);
});

test('an answer that equals the one before is kept', exec, async (t) => {
	const { server, home, events } = await ask(t, [chat.say('Same.')]), id = events[0].thread_id;
	for (const prompt of ['again', 'and again']) {
		const run = await codexExec(t, null, ['resume', id, prompt], { home, json: true });
		assert.equal(run.code, 0, run.stderr);
	}
	const said = server.requests[2].body.messages.filter((message) => message.role === 'assistant').map((message) => message.content);
	assert.deepEqual([said, server.faults], [['Same.', 'Same.'], []]);
});

// Each row: the chunks before the end, and the commands that must run.
const echo = (word) => JSON.stringify({ cmd: `echo ${word}` });
const part = (index, id, name, args, more) => chunk({ tool_calls: [{ ...(index !== null && { index }), ...(id !== null && { id }),
	function: { ...(name !== null && { name }), ...(args !== null && { arguments: args }) }, ...more }] });
const QUIRKS = {
	'a call whole in one chunk, with the finish_reason, without a type': [
		[finish('tool_calls', { tool_calls: [{ index: 0, id: 'a', function: { name: 'exec_command', arguments: echo('q1') } }] })], ['q1']],
	'no index': [[part(null, 'a', 'exec_command', '{"cmd":'), part(null, 'a', null, '"echo q1"}'),
		part(null, 'b', 'exec_command', echo('q2')), finish('tool_calls')], ['q1', 'q2']],
	'no index and no id in later fragments': [[part(null, 'a', 'exec_command', '{"cmd":'), part(null, null, null, '"echo q1"}'),
		finish('tool_calls')], ['q1']],
	'index 0 for all calls, with other ids and names': [[part(0, 'a', 'exec_command', echo('q1')),
		part(0, 'b', 'exec_command', echo('q2')), finish('stop')], ['q1', 'q2']],
	'index 0 for all calls, without ids': [[part(0, null, 'exec_command', echo('q1')), part(0, null, 'exec_command', echo('q2')),
		finish('stop')], ['q1', 'q2']],
	'an id for each fragment, without a name': [[part(0, 'a', 'exec_command', '{"cmd":'), part(0, 'b', null, '"echo'),
		part(0, 'c', null, ' q1"}'), finish('tool_calls')], ['q1']],
	'id and name repeated in each fragment': [[part(0, 'a', 'exec_command', '{"cmd":'), part(0, 'a', 'exec_command', '"echo q1"}'),
		finish('tool_calls')], ['q1']],
	'empty id and null name later': [[part(0, 'a', 'exec_command', '{"cmd":'),
		chunk({ tool_calls: [{ index: 0, id: '', function: { name: null, arguments: '"echo q1"}' } }] }), finish('tool_calls')], ['q1']],
	'first index 1, interleaved': [[part(2, 'b', 'exec_command', '{"cmd":'), part(1, 'a', 'exec_command', echo('q2')),
		part(2, null, null, '"echo q1"}'), finish('tool_calls')], ['q1', 'q2']],
	'arguments as an object': [[chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'exec_command', arguments: { cmd: 'echo q1' } } }] }),
		finish('tool_calls')], ['q1']],
	'finish_reason function_call': [[part(0, 'a', 'exec_command', echo('q1')), finish('function_call')], ['q1']],
	'finish_reason eos': [[part(0, 'a', 'exec_command', echo('q1')), finish('eos')], ['q1']],
	'no finish_reason before [DONE]': [[part(0, 'a', 'exec_command', echo('q1')), '[DONE]'], ['q1']],
	'message in place of delta': [[{ id: 'x', choices: [{ index: 0, finish_reason: 'tool_calls',
		message: { role: 'assistant', tool_calls: [chat.call('exec_command', { cmd: 'echo q1' })] } }] }], ['q1']],
	'other choices are ignored': [[{ id: 'x', choices: [{ index: 1, delta: { tool_calls: [chat.call('exec_command', { cmd: 'echo no' })] } }] },
		part(0, 'a', 'exec_command', echo('q1')), finish('tool_calls')], ['q1']],
	'the same id for two calls': [[part(0, 'a', 'exec_command', echo('q1')), part(1, 'a2', 'exec_command', echo('q2')),
		part(2, 'a', 'exec_command', echo('q3')), finish('tool_calls')], null],
};
for (const [name, [answer, words]] of Object.entries(QUIRKS)) {
	test(`quirk: ${name}`, exec, async (t) => {
		const run = await ask(t, [answer, chat.say('Done.')]);
		assert.equal(answerOf(run), 'Done.', run.stderr + run.failure);
		const outputs = toolsOf(run.server.requests[1]);
		if (words) assert.deepEqual(outputs.map((message) => /Output:\n(\w+)/.exec(message.content)?.[1]), words);
	});
}

// Whether a text is whole is judged for 16 MiB of an answer; further fragments of an index without an id belong to one call.
test('an answer makes the client judge a bounded amount of arguments', exec, async (t) => {
	const long = (word) => echo(`${word} # ${'x'.repeat(20_000)}`);
	const pair = [part(1, null, 'exec_command', long('q1')), part(1, null, 'exec_command', long('q2')), finish('tool_calls')];
	const judge = (index, bytes, times) => [part(index, null, 'exec_command', `{"cmd":"${'x'.repeat(bytes)}"} }`), // no object
		...Array.from({ length: times }, () => part(index, null, 'exec_command', '{} }'))];
	for (const [before, calls, runs] of [[[], 2, 2], [judge(0, 900_000, 18).concat(judge(2, 570_000, 1)), 3, 0]]) {
		const run = await ask(t, [[...before, ...pair], chat.say('Done.')]);
		assert.equal(answerOf(run), 'Done.', run.stderr + run.failure);
		const outputs = toolsOf(run.server.requests[1]).map(({ content }) => content);
		assert.equal(outputs.length, calls);
		assert.equal(outputs.filter((content) => /Output:\nq[12]/.test(content)).length, runs);
	}
});

test('a missing id is made: nine letters or digits', exec, async (t) => {
	const run = await ask(t, [[part(0, null, 'exec_command', echo('q1')), finish('tool_calls')], chat.say('Done.')]);
	assert.match(toolsOf(run.server.requests[1])[0].tool_call_id, /^[a-zA-Z0-9]{9}$/);
});

test('what surrounds the chunks is skipped', exec, async (t) => {
	const text = (content) => JSON.stringify(chunk({ content }));
	const run = await ask(t, [{ raw: [': OPENROUTER PROCESSING\n\n', 'event: message\r\ndata:' + text('A') + '\r\n\r\n', 'data: {}\n\n',
		'data: {"choices":[]}\n\n', 'data: {"choices":[{"delta":{}}]}\n\n', 'data: {"choices":[{"delta":{"content":null,"tool_calls":null}}]}\n\n',
		'data: {"choices":[{"delta":{"role":"assistant","content":"","tool_calls":[],"x":1}}],"y":2}\n\n', `data:${text('B')}\n\n`,
		`data: ${JSON.stringify(finish('stop'))}\n\n`] }]);
	assert.equal(answerOf(run), 'AB');
});

test('content as a list of parts', exec, async (t) => {
	const run = await ask(t, [[chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }),
		chunk({ content: [{ type: 'text', text: 'Yes.' }] }), finish('stop'), '[DONE]']]);
	assert.equal(answerOf(run), 'Yes.');
	assert.equal(run.items.find((item) => item.type === 'reasoning').text, 'Hm.');
});

test('an empty answer ends the turn', exec, async (t) => {
	const run = await ask(t, [[finish('stop'), '[DONE]']]);
	assert.equal(run.code, 0);
	assert.equal(run.server.requests.length, 1);
});

for (const field of ['reasoning_content', 'reasoning']) {
	test(`reasoning comes back as ${field}`, exec, async (t) => {
		const run = await ask(t, [
			[chunk({ [field]: 'First ' }), chunk({ [field]: 'thought.' }), chunk({ content: 'Look.' }),
				...chat.run('echo hi')], chat.say('Done.')]);
		const said = run.server.requests[1].body.messages.find((message) => message.role === 'assistant');
		assert.equal(said[field], 'First thought.');
		assert.equal(said.content, 'Look.');
		assert.equal(said.tool_calls.length, 1);
		assert.equal(run.items.find((item) => item.type === 'reasoning').text, 'First thought.');
		const [item] = rollouts(run.home).flatMap(readLines).filter((line) => line.payload?.type === 'reasoning');
		assert.deepEqual(item.payload.content, [{ type: 'reasoning_text', text: 'First thought.' }]);
		assert.equal(item.payload.encrypted_content, undefined);
	});
}

test('a thought at the beginning of the content is one, and comes back there', exec, async (t) => {
	const run = await ask(t, [
		[chunk({ content: '\n<thi' }), chunk({ content: 'nk>\nFirst ' }), chunk({ content: 'thought.</th' }), chunk({ content: 'ink>\n\n' }),
			chunk({ content: 'Look at <think>.' }), ...chat.run('echo hi')], chat.say('Done.')]);
	const said = run.server.requests[1].body.messages.find((message) => message.role === 'assistant');
	assert.equal(said.content, '\n<think>\nFirst thought.</think>\n\nLook at <think>.');
	assert.ok(!('reasoning' in said) && !('reasoning_content' in said));
	assert.equal(run.items.find((item) => item.type === 'reasoning').text, 'First thought.');
	assert.equal(run.items.find((item) => item.type === 'agent_message').text, 'Look at <think>.');
});

// Servers that keep what they have computed compare the bytes.
for (const content of ['<think>a</think>b', ' <think>  a \n\n</think>b ', '<think>\n\n</think>\n\nb', '<think>a</think>', '<think>a b', '<think> a </thi'])
	test(`${JSON.stringify(content)} comes back as it came`, exec, async (t) => {
		const pieces = content.match(/.{1,3}/gs).map((text) => chunk({ content: text }));
		const run = await ask(t, [[...pieces, finish('stop'), '[DONE]'], chat.say('Done.')]);
		const again = await codexExec(t, null, ['resume', '--last', 'more'], { home: run.home, cwd: run.cwd, json: true });
		assert.equal(again.code, 0, again.stderr);
		assert.equal(run.server.requests[1].body.messages.find(({ role }) => role === 'assistant').content, content);
	});

test('text before and after a thought comes back as one', exec, async (t) => {
	const deltas = [{ content: 'One ' }, { reasoning_content: 'Hm.' }, { content: 'two.' }];
	const run = await ask(t, [[...deltas.map((delta) => chunk(delta)), ...chat.run('echo hi')], chat.say('Done.')]);
	const said = run.server.requests[1].body.messages.find(({ role }) => role === 'assistant');
	assert.deepEqual([said.content, said.reasoning_content], ['One two.', 'Hm.']);
});

test('a thought that is not closed is the answer if nothing else came', exec, async (t) => {
	const end = [finish('stop'), '[DONE]'];
	const alone = await ask(t, [[chunk({ content: '<think>\nIt is' }), chunk({ content: ' 4.' }), ...end]]);
	assert.equal(answerOf(alone), 'It is 4.');
	assert.equal(alone.items.find((item) => item.type === 'reasoning').text, 'It is 4.');
	const call = await ask(t, [[chunk({ content: '<think>Look.' }), ...chat.run('echo hi')], chat.say('Done.')]);
	assert.deepEqual(call.items.filter((item) => item.type === 'agent_message').map(({ text }) => text), ['Done.']);
	const closed = await ask(t, [[chunk({ content: '<think>Hm.</think>' }), ...end]]);
	assert.equal(answerOf(closed), undefined);
});

test('a thought is found in the content beside empty reasoning, and in a list of parts', exec, async (t) => {
	const text = (text) => ({ type: 'text', text });
	for (const deltas of [[{ reasoning_content: '', content: '<think>Hm.</think>' }, { reasoning_content: '', content: 'Yes.' }],
		[{ content: [text('<thi'), text('nk>Hm.</think>')] }, { content: [text('Yes.')] }]]) {
		const run = await ask(t, [[...deltas.map((delta) => chunk(delta)), finish('stop'), '[DONE]']]);
		assert.equal(answerOf(run), 'Yes.');
		assert.equal(run.items.find((item) => item.type === 'reasoning').text, 'Hm.');
	}
});

test('both names with the same text are one thought; empty reasoning comes back empty', exec, async (t) => {
	const run = await ask(t, [[chunk({ reasoning: 'T.', reasoning_content: 'T.' }), ...chat.run('echo a', { id: 'a' })],
		[chunk({ reasoning_content: '' }), ...chat.run('echo b', { id: 'b' })], chat.say('Done.')]);
	const said = run.server.requests[2].body.messages.filter((message) => message.role === 'assistant');
	assert.deepEqual(said.map((message) => message.reasoning_content), ['T.', '']);
	assert.ok(said.every((message) => !('reasoning' in message)));
});

test('reasoning_details are joined and come back unmodified', exec, async (t) => {
	const details = (...list) => chunk({ reasoning: list[0].text ?? '', reasoning_details: list });
	const run = await ask(t, [
		[details({ type: 'reasoning.text', text: 'A', index: 0, format: null }), details({ type: 'reasoning.text', text: 'B', index: 0, format: 'v1' }),
			details({ type: 'reasoning.text', text: '', signature: 's/=', index: 0 }), ...chat.run('echo hi').slice(0, 1),
			details({ type: 'reasoning.encrypted', data: 'x\\y', id: 'e', index: 1 }), finish('tool_calls'), '[DONE]'], chat.say('Done.')]);
	const said = run.server.requests[1].body.messages.find((message) => message.role === 'assistant');
	assert.deepEqual(said.reasoning_details, [{ type: 'reasoning.text', text: 'AB', index: 0, format: 'v1', signature: 's/=' },
		{ type: 'reasoning.encrypted', data: 'x\\y', id: 'e', index: 1 }]);
	assert.equal(said.reasoning, 'AB');
});

test('extra_content of a call comes back on the call', exec, async (t) => {
	const extra_content = { google: { thought_signature: 'sig' } };
	const run = await ask(t, [[part(0, '', 'exec_command', echo('x'), { extra_content }), finish('stop')], chat.say('Done.')]);
	const said = run.server.requests[1].body.messages.find((message) => message.role === 'assistant');
	assert.deepEqual(said.tool_calls[0].extra_content, extra_content);
});

test('broken arguments are answered, and replayed as an empty object', exec, async (t) => {
	const run = await ask(t, [chat.calls(chat.call('exec_command', '{"cmd": "ec')), chat.say('Done.')]);
	const { messages } = run.server.requests[1].body;
	assert.equal(messages.find((message) => message.role === 'assistant').tool_calls[0].function.arguments, '{}');
	assert.match(messages.at(-1).content, /failed to parse/);
});

test('an image of a tool follows the tool messages', exec, async (t) => {
	const cwd = tempDir(t);
	fs.writeFileSync(path.join(cwd, 'a.png'), PNG);
	const run = await ask(t, [chat.calls(chat.call('view_image', { path: path.join(cwd, 'a.png') }, { id: 'a' }),
		chat.call('exec_command', { cmd: 'echo x' }, { id: 'b', index: 1 })), chat.say('Done.')], { cwd });
	const roles = run.server.requests[1].body.messages.map((message) => message.role);
	assert.deepEqual(roles.slice(roles.indexOf('assistant')), ['assistant', 'tool', 'tool', 'user']);
	const parts = run.server.requests[1].body.messages.at(-1).content;
	assert.equal(parts.find((it) => it.type === 'image_url').image_url.url, `data:image/png;base64,${PNG.toString('base64')}`);
});

test('usage: the last one counts, wherever it stands', exec, async (t) => {
	const usage = { prompt_tokens: 7, completion_tokens: 3, prompt_cache_hit_tokens: 5, completion_tokens_details: { reasoning_tokens: 2 } };
	const run = await ask(t, [[{ ...chunk({ content: 'x' }), usage: { prompt_tokens: 7, completion_tokens: 1 } },
		{ ...finish('stop'), usage }, { ...chatUsage(), usage: null }, '[DONE]']]);
	const got = run.events.find((e) => e.type === 'turn.completed').usage;
	assert.deepEqual([got.input_tokens, got.cached_input_tokens, got.output_tokens], [7, 5, 3]);
});

// Each row: the answer, the text of the failure, the number of requests (with one retry of each kind).
const status = (code, error, headers) => ({ status: code, body: { error }, headers });
const FAILURES = {
	length: [[chunk({ content: 'torn' }), finish('length'), '[DONE]'], /^Incomplete response returned, reason: max_output_tokens/, 1],
	content_filter: [[finish('content_filter')], /^Incomplete response returned, reason: content_filter/, 1],
	'an error chunk': [[chunk({ content: 'x' }), { error: { message: 'no such thing', code: 400 } }], /no such thing/, 1],
	'an overloaded chunk': [[{ error: { message: 'Overloaded, sorry', code: 503 } }], /Overloaded, sorry/, 2],
	'a cut stream': [{ raw: [`data: ${JSON.stringify(chunk({ content: 'x' }))}\n\n`] }, /stream closed before finish_reason or \[DONE\]/, 2],
	'200 with an error as JSON': [{ body: { error: { message: 'bad key', code: 'x' } } }, /bad key/, 1],
	'200 with HTML': [{ type: 'text/html', body: '<html>Sign in</html>' }, /text\/html.*Sign in.*no server of the Chat Completions API.*base_url/, 1],
	'an unexpected 404': [status(404, { message: 'no model' }), /404 Not Found: no model/, 1],
	'a 422 of vLLM': [{ status: 400, body: { object: 'error', message: 'wrong tool parser', code: 400 } }, /^wrong tool parser/, 1],
	'a 500': [status(500, { message: 'boom' }), /boom/, 4],
	'a 408': [status(408, { message: 'slow' }), /408/, 4],
	quota: [status(429, { message: 'You exceeded your current quota', type: 'x' }), /^Quota exceeded/, 1],
	'rate limit': [status(429, { message: 'slow down' }, { 'retry-after-ms': '5' }), /^exceeded retry limit, last status: 429/, 2],
};
const OVERFLOWS = [
	[400, { code: 'context_length_exceeded', message: 'x' }], [400, { message: "This model's maximum context length is 4096 tokens" }],
	[400, { type: 'exceed_context_size_error', message: 'the request exceeds the available context size', n_ctx: 1 }],
	[400, { message: 'Please reduce the length of the messages or completion' }], [400, { message: 'Too many tokens in the prompt' }],
	[400, { message: 'prompt is too long: 9 tokens > 8 maximum' }], [413, { message: 'Input exceeds the context window' }],
	[400, { message: 'input length and `max_tokens` exceed context limit: 1 + 2 > 3' }],
	[400, { message: 'The input token count (9) exceeds the maximum number of tokens allowed (8)' }],
];
OVERFLOWS.forEach(([code, error], i) =>
	(FAILURES[`overflow ${i}`] = [status(code, error), /^Codex ran out of room in the model's context window/, 1]));
FAILURES['overflow of vLLM'] = [{ status: 400, body: { object: 'error', message: "maximum context length is 9", code: 400 } },
	/^Codex ran out of room in the model's context window/, 1];

for (const [name, [answer, text, count]] of Object.entries(FAILURES)) {
	test(`failure: ${name}`, exec, async (t) => {
		const run = await ask(t, [answer], { more: FEW });
		assert.match(run.failure, text);
		assert.equal(run.server.requests.length, count);
		assert.equal(run.code, 1);
		const recorded = rollouts(run.home).flatMap(readLines).filter((line) => line.payload?.role === 'assistant');
		assert.deepEqual(recorded, [], 'torn text is not recorded');
	});
}

test('a finish_reason without [DONE] completes the response, even if the connection stays open', exec, async (t) => {
	const run = await ask(t, [{ raw: [`data: ${JSON.stringify(chunk({ content: 'x' }))}\n\ndata: ${JSON.stringify(finish('stop'))}\n\n`],
		hang: true }]);
	assert.equal(answerOf(run), 'x');
});
