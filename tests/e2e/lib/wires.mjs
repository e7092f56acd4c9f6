// Strict servers of Chat Completions and Anthropic Messages: each refuses what the real services refuse, in their words.
//
//   const server = await startWire(t, 'chat', [chat.say('Hello.')]);
//   const run = await codexExec(t, null, ['hi'], { home: wireHome(t, server) });
//   assert.deepEqual(server.faults, []);
//
// An answer is a list of events, or an object {status, headers, body} or {raw: [text or bytes, …], type, cut}, or a function of
// the request that returns one of these. When the answers are used up, the last one is repeated.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { tempDir } from './codex.mjs';

const fault = (ok, text) => {
	if (!ok) throw new Error(text);
};
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const only = (object, keys, where) => Object.keys(object)
	.forEach((key) => fault(keys.includes(key), `${where}.${key}: Extra inputs are not permitted`));
const blank = (text) => text.trim() === '';

// --- Chat Completions -----------------------------------------------------------------------------------------------

const CHAT_KEYS = ['model', 'messages', 'stream', 'stream_options', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning_effort',
	'response_format', 'max_tokens', 'service_tier'];

function checkChatUser({ content }, at) {
	if (typeof content === 'string') return fault(!blank(content), `${at}: content is empty`);
	fault(Array.isArray(content) && content.length, `${at}: content must be a string or a list of parts`);
	for (const part of content) {
		fault(['text', 'image_url'].includes(part.type), `${at}: unknown part ${part.type}`);
		if (part.type === 'image_url') fault(/^(data:image\/|https?:)/.test(part.image_url?.url), `${at}: bad image_url`);
		else fault(typeof part.text === 'string' && part.text, `${at}: empty text part`);
	}
}

function checkChatAssistant(message, rest, at) {
	only(message, ['role', 'content', 'tool_calls', 'reasoning_content', 'reasoning', 'reasoning_details'], at);
	fault(message.content === null || (typeof message.content === 'string' && message.content), `${at}: content`);
	fault(message.content !== null || message.tool_calls?.length, `${at}: neither content nor tool_calls`);
	const calls = message.tool_calls ?? [];
	fault(!message.tool_calls || calls.length, `${at}: tool_calls is empty`);
	const ids = calls.map((call, i) => {
		fault(call.type === 'function' && call.id && call.function, `${at}.tool_calls[${i}]`);
		fault(/^[A-Za-z0-9_-]{1,64}$/.test(call.function.name), `${at}: function name "${call.function.name}"`);
		fault(typeof call.function.arguments === 'string' && isObject(JSON.parse(call.function.arguments)), `${at}: arguments`);
		return call.id;
	});
	fault(new Set(ids).size === ids.length, `${at}: duplicate ids`);
	const answered = rest.slice(0, ids.length).map((next) => next.role === 'tool' && next.tool_call_id);
	fault(ids.every((id, i) => id === answered[i]),
		`${at}: An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'`);
	return ids.length;
}

function checkChat({ body }) {
	only(body, CHAT_KEYS, 'body');
	fault(body.stream === true && body.stream_options?.include_usage === true, 'stream');
	fault(typeof body.model === 'string' && Array.isArray(body.messages) && body.messages.length, 'model, messages');
	let tools = 0; // tool messages that must follow
	body.messages.forEach((message, i) => {
		const at = `messages[${i}]`;
		fault(['system', 'user', 'assistant', 'tool'].includes(message.role), `${at}: unknown role ${message.role}`);
		fault((message.role === 'tool') === (tools > 0), `${at}: role ${message.role} here`);
		if (message.role === 'system') fault(i === 0 && typeof message.content === 'string', `${at}: system must be first`);
		if (message.role === 'user') checkChatUser(message, at);
		if (message.role === 'assistant') tools = checkChatAssistant(message, body.messages.slice(i + 1), at);
		if (message.role !== 'tool') return;
		only(message, ['role', 'content', 'tool_call_id'], at);
		fault(typeof message.content === 'string', `${at}: content must be text`);
		tools--;
	});
	fault(['user', 'tool'].includes(body.messages.at(-1).role), 'the last message must be of user or tool');
	fault(body.tools === undefined || body.tools.length, "[] is too short - 'tools'");
	const names = (body.tools ?? []).map((tool, i) => {
		fault(tool.type === 'function', `tools[${i}].type`);
		only(tool.function, ['name', 'description', 'parameters', 'strict'], `tools[${i}].function`);
		fault(/^[A-Za-z0-9_-]{1,64}$/.test(tool.function.name), `tools[${i}].function.name`);
		fault(tool.function.parameters?.type === 'object', `tools[${i}].function.parameters`);
		return tool.function.name;
	});
	fault(new Set(names).size === names.length, 'duplicate tool names');
}

/** Chunks of Chat Completions. */
export const chunk = (delta, more = {}) =>
	({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] });
export const finish = (reason, delta = {}) => chunk(delta, { finish_reason: reason });
export const chatUsage = (usage = {}) => ({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [],
	usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, ...usage } });
export const chat = {
	say: (text) => [chunk({ role: 'assistant', content: '' }), ...[...text].map((content) => chunk({ content })), finish('stop'),
		chatUsage(), '[DONE]'],
	call: (name, args, { id = 'call_1', index = 0 } = {}) => ({ index, id, type: 'function',
		function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) } }),
	calls: (...calls) => [chunk({ role: 'assistant', content: null, tool_calls: calls }), finish('tool_calls'), chatUsage(), '[DONE]'],
	run: (cmd, options) => chat.calls(chat.call('exec_command', { cmd }, options)),
};

// --- Anthropic Messages ---------------------------------------------------------------------------------------------

const MESSAGES_KEYS = ['model', 'max_tokens', 'stream', 'system', 'messages', 'tools', 'thinking', 'output_config', 'tool_choice'];

function checkImage(block, at) {
	const { source } = block;
	if (source?.type === 'url') return;
	fault(source?.type === 'base64' && /^image\/(png|jpeg|gif|webp)$/.test(source.media_type), `${at}: image source`);
	fault(/^[A-Za-z0-9+/]+=*$/.test(source.data), `${at}: image data`);
}

function checkBlock(block, role, at) {
	const cache = ['cache_control'];
	if (block.cache_control) fault(block.cache_control.type === 'ephemeral', `${at}: cache_control`);
	switch (block.type) {
	case 'text':
		only(block, ['type', 'text', ...cache], at);
		fault(!blank(block.text), `${at}: text content blocks must be non-empty`);
		fault(role !== 'assistant' || block.text === block.text.trimEnd(), `${at}: trailing whitespace`);
		break;
	case 'image':
		only(block, ['type', 'source', ...cache], at);
		fault(role === 'user', `${at}: image of the assistant`);
		checkImage(block, at);
		break;
	case 'thinking':
		only(block, ['type', 'thinking', 'signature'], at);
		fault(role === 'assistant' && block.signature, `${at}: thinking.signature: Field required`);
		break;
	case 'redacted_thinking':
		only(block, ['type', 'data'], at);
		fault(role === 'assistant' && block.data, `${at}: redacted_thinking`);
		break;
	case 'tool_use':
		only(block, ['type', 'id', 'name', 'input', ...cache], at);
		fault(role === 'assistant' && isObject(block.input), `${at}: input should be an object`);
		fault(/^[a-zA-Z0-9_-]+$/.test(block.id), `${at}: id`);
		fault(/^[A-Za-z0-9_-]{1,128}$/.test(block.name), `${at}: name`);
		break;
	case 'tool_result':
		only(block, ['type', 'tool_use_id', 'content', 'is_error', ...cache], at);
		fault(role === 'user', `${at}: tool_result of the assistant`);
		if (Array.isArray(block.content)) block.content.forEach((inner, i) => {
			fault(['text', 'image'].includes(inner.type), `${at}.content[${i}]`);
			checkBlock(inner, 'user', `${at}.content[${i}]`);
		});
		break;
	default:
		fault(false, `${at}: unknown block ${block.type}`);
	}
}

function checkMessages({ body, headers }) {
	only(body, MESSAGES_KEYS, 'body');
	fault(headers['anthropic-version'] === '2023-06-01', 'anthropic-version: header is required');
	fault(!(headers['x-api-key'] && headers.authorization), 'both x-api-key and authorization');
	fault(Number.isInteger(body.max_tokens) && body.max_tokens > 0, 'max_tokens: Field required');
	const marks = (JSON.stringify(body).match(/"cache_control"/g) ?? []).length;
	fault(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
	fault(body.messages[0]?.role === 'user' && body.messages.at(-1).role === 'user', 'messages: first and last must be of the user');
	const used = new Set();
	let open = [];
	body.messages.forEach((message, i) => {
		fault(message.role === (i % 2 ? 'assistant' : 'user'), `messages.${i}: roles must alternate`);
		fault(Array.isArray(message.content) && message.content.length, `messages.${i}: content`);
		message.content.forEach((block, n) => checkBlock(block, message.role, `messages.${i}.content.${n}`));
		const results = message.content.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
		fault(JSON.stringify(results) === JSON.stringify(open),
			`messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open}`);
		fault(message.content.slice(0, results.length).every((block) => block.type === 'tool_result'),
			`messages.${i}: tool_result blocks must come first`);
		open = message.content.filter((block) => block.type === 'tool_use').map((block) => block.id);
		open.forEach((id) => fault(!used.has(id), `messages.${i}: \`tool_use\` ids must be unique`));
		open.forEach((id) => used.add(id));
		const order = message.content.map((block) => block.type);
		fault(!/thinking$/.test(order.at(-1)), `messages.${i}: The final block in an assistant message cannot be \`thinking\``);
		fault(!body.thinking || !order.includes('tool_use') || order.lastIndexOf('thinking') < order.indexOf('tool_use'),
			`messages.${i}: thinking after tool_use`);
	});
	fault(open.length === 0, 'tool_use without tool_result at the end');
	const hasThinking = JSON.stringify(body.messages).includes('"type":"thinking"');
	fault(body.thinking || !hasThinking, 'thinking blocks, but thinking is off');
	if (body.thinking?.type === 'enabled')
		fault(body.thinking.budget_tokens >= 1024 && body.thinking.budget_tokens < body.max_tokens, 'thinking.budget_tokens');
	if (/4-[67]/.test(body.model)) fault(body.thinking?.type !== 'enabled', 'thinking.type: enabled is not supported');
	if (body.thinking?.type === 'adaptive') only(body.thinking, ['type'], 'thinking');
	for (const [i, tool] of (body.tools ?? []).entries()) {
		only(tool, ['name', 'description', 'input_schema', 'cache_control'], `tools.${i}`);
		fault(tool.input_schema?.type === 'object', `tools.${i}.input_schema.type: Field required`);
	}
}

const event = (type, more) => ({ type, ...more });
/** Events of Messages. */
export const messages = {
	start: (usage = {}) => event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm',
		usage: { input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 1, ...usage } } }),
	block: (index, content_block, ...deltas) => [event('content_block_start', { index, content_block }),
		...deltas.map((delta) => event('content_block_delta', { index, delta })), event('content_block_stop', { index })],
	text: (index, text) => messages.block(index, { type: 'text', text: '' }, ...[...text].map((c) => ({ type: 'text_delta', text: c }))),
	thinking: (index, text, signature) => messages.block(index, { type: 'thinking', thinking: '' },
		...(text ? [{ type: 'thinking_delta', thinking: text }] : []), { type: 'signature_delta', signature }),
	tool: (index, id, name, input) => messages.block(index, { type: 'tool_use', id, name, input: {} },
		...(JSON.stringify(input).match(/.{1,7}/gs) ?? []).map((partial_json) => ({ type: 'input_json_delta', partial_json }))),
	stop: (stop_reason, usage = {}) => [event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 20, ...usage } }),
		event('message_stop')],
	say: (text) => [messages.start(), event('ping'), ...messages.text(0, text), ...messages.stop('end_turn')],
	run: (cmd, id = 'toolu_1') => [messages.start(), ...messages.tool(0, id, 'exec_command', { cmd }), ...messages.stop('tool_use')],
};

// --- the server -----------------------------------------------------------------------------------------------------

const WIRES = {
	chat: { path: '/v1/chat/completions', check: checkChat, sse: (value) =>
		`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`,
	refuse: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }) },
	messages: { path: '/v1/messages', check: checkMessages, sse: (value) =>
		`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`,
	refuse: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }) },
	responses: { path: '/v1/responses', check: () => {}, sse: (value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`,
		refuse: (message) => ({ error: { message } }) },
};

function send(response, wire, answer) {
	if (Array.isArray(answer)) answer = { raw: answer.map(wire.sse) };
	response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? (answer.raw ? 'text/event-stream' : 'application/json'),
		...answer.headers });
	if (answer.raw) for (const part of answer.raw) response.write(part);
	if (answer.hang) return;
	if (answer.cut) response.destroy();
	else response.end(answer.body === undefined ? undefined
		: typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
}

/** Starts a strict server. requests: what it got; faults: why it refused. */
export async function startWire(t, name, answers, { check } = {}) {
	const wire = WIRES[name], requests = [], faults = [];
	let next = 0;
	const server = http.createServer(async (request, response) => {
		const parts = [];
		for await (const part of request) parts.push(part);
		if (request.method === 'GET') return send(response, wire, { status: 404, body: {} }); // questions for the window
		try {
			const url = new URL(request.url, 'http://x');
			fault(request.method === 'POST' && url.pathname === wire.path, `${request.method} ${request.url}`);
			const text = Buffer.concat(parts).toString();
			const got = { body: JSON.parse(text), text, headers: request.headers, query: url.search };
			requests.push(got);
			wire.check(got);
			check?.(got);
			const answer = answers[Math.min(next++, answers.length - 1)];
			send(response, wire, typeof answer === 'function' ? await answer(got, requests.length) : answer);
		} catch (error) {
			faults.push(error.message);
			send(response, wire, { status: 400, body: wire.refuse(error.message) });
		}
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	t.after(() => {
		server.closeAllConnections();
		server.close();
	});
	return { name, url: `http://127.0.0.1:${server.address().port}/v1`, requests, faults };
}

/** A CODEX_HOME with these servers as providers, each named after its wire; the first one is chosen. */
export function wireHome(t, servers, config = '', more = '') {
	const list = [servers].flat(), home = tempDir(t, 'home');
	const tables = list.map(({ name, url }) => `[model_providers.${name}]\nname = "${name}"\nbase_url = "${url}"\nwire_api = "${name}"\n${more}`);
	fs.writeFileSync(path.join(home, 'config.toml'), `model_provider = "${list[0].name}"\n${config}\n${tables.join('\n')}`);
	return home;
}
