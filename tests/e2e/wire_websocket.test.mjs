// Responses over WebSocket, against a server that refuses what the real service refuses: docs/models.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { codexExec, needs, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { answerOf, errorOf, runOf, sayOf, startSocketModel } from './lib/socket_model.mjs';
import { frame } from './lib/websocket.mjs';
import { wireHome } from './lib/wires.mjs';

const exec = needs('exec');
const SOCKETS = 'supports_websockets = true\nrequest_max_retries = 1\nstream_max_retries = 1\n';

async function ask(t, server, { args = ['go'], more = '', ...options } = {}) {
	const run = await codexExec(t, null, args, { home: wireHome(t, server, '', SOCKETS + more), json: true, ...options });
	return { ...run, items: run.events.filter((e) => e.type === 'item.completed').map((e) => e.item),
		answer: run.events.filter((e) => e.type === 'item.completed' && e.item.type === 'agent_message').at(-1)?.item.text,
		retries: run.events.filter((e) => /^Reconnecting/.test(e.message ?? '')).length,
		failure: run.events.find((e) => e.type === 'turn.failed')?.error.message };
}

test('a tool round sends only its new items, on one socket', exec, async (t) => {
	const server = await startSocketModel(t, [runOf('seq 3000', 'c1'), runOf('echo two', 'c2'), sayOf('Done.')]);
	const run = await ask(t, server);
	assert.equal(run.answer, 'Done.', run.stdout + run.stderr);
	assert.deepEqual(server.faults, []);
	assert.equal(server.handshakes.length, 1);
	assert.equal(server.posts.length, 0);
	const [first, second, third] = server.frames;
	assert.equal(first.body.previous_response_id, undefined);
	for (const later of [second, third]) {
		assert.match(later.body.previous_response_id, /^resp_/);
		assert.deepEqual(later.body.input.map((item) => item.type), ['function_call_output']);
	}
	assert.equal(third.input.filter((item) => item.type === 'function_call_output').length, 2);
	const around = (got) => got.bytes - JSON.stringify(got.body.input).length;
	t.diagnostic(`bytes: ${server.frames.map((got) => `${got.bytes} (${JSON.stringify(got.body.input).length} of input)`).join(', ')}`);
	assert.ok(third.bytes < around(first) + 600, `${third.bytes} bytes for one new item`);
	const { headers, url } = server.handshakes[0];
	assert.equal(url, '/v1/responses');
	assert.equal(headers['openai-beta'], 'responses_websockets=2026-02-06');
	assert.ok(headers['session-id'] && headers['user-agent'] && headers.originator);
	assert.equal(headers['content-type'], undefined);
});

test('without supports_websockets there is never an upgrade', exec, async (t) => {
	const server = await startSocketModel(t, [sayOf('Hello.')]);
	const run = await ask(t, server, { args: ['-c', 'model_providers.responses.supports_websockets=false', 'go'] });
	assert.equal(run.answer, 'Hello.');
	assert.deepEqual([server.handshakes.length, server.posts.length], [0, 1]);
});

test('the built-in openai provider uses a WebSocket unless supports_websockets = false; it does so with Responses only', exec, async (t) => {
	for (const [args, expected] of [[[], [1, 0]], [['-c', 'model_providers.openai.supports_websockets=false'], [0, 1]],
		[['-c', 'model_providers.openai.wire_api=chat', '-c', 'model_providers.openai.stream_max_retries=0'], [0, 1]]]) {
		const server = await startSocketModel(t, [sayOf('Hello.')]);
		const run = await codexExec(t, null, ['-c', 'model_provider=openai', '-c', `openai_base_url=${server.url}`, ...args, 'go'],
			{ home: tempDir(t), env: { CODEX_API_KEY: 'sk-1' } });
		assert.deepEqual([server.handshakes.length, server.posts.length], expected, run.stderr);
		if (expected[0]) assert.deepEqual([run.stdout, server.handshakes[0].headers.authorization], ['Hello.\n', 'Bearer sk-1']);
	}
});

for (const [name, refusal] of Object.entries({ 'with 426': [426], 'with 404': [404], 'with 503': [503], 'by a redirect':
	[302, { Location: 'http://127.0.0.1:1/' }], 'by HTML': [200, { 'Content-Type': 'text/html' }, '<html>'], 'without an answer': ['drop'],
'by silence': ['hang'] })) {
	test(`a handshake that is refused ${name} is tried once, and HTTP is used at once`, exec, async (t) => {
		const server = await startSocketModel(t, [runOf('echo one', 'c1'), sayOf('By HTTP.')], { upgrade: () => refusal });
		const run = await ask(t, server, { more: 'websocket_connect_timeout_ms = 300\n' });
		assert.equal(run.answer, 'By HTTP.', run.stdout + run.stderr);
		assert.deepEqual([server.handshakes.length, server.posts.length, run.retries], [1, 2, 0]);
		assert.deepEqual(server.posts[1].body.input.filter((item) => item.type === 'function_call_output').length, 1);
	});
}

test('a socket that is lost within a response is replaced, and the whole history sent', exec, async (t) => {
	const half = answerOf({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] }).slice(0, 1);
	const server = await startSocketModel(t, [runOf('echo one', 'c1'), { events: half, drop: true }, sayOf('Done.')]);
	const run = await ask(t, server);
	assert.equal(run.answer, 'Done.', run.stdout);
	assert.deepEqual(server.faults, []);
	assert.deepEqual([server.handshakes.length, run.retries], [2, 1]);
	assert.equal(server.frames.at(-1).body.previous_response_id, undefined);
	assert.ok(server.frames.at(-1).body.input.length > 2);
});

test('a socket that the server closes between two responses is opened again without notice', exec, async (t) => {
	for (const end of [{ close: 1000 }, { close: 1001 }, { drop: true }]) {
		const server = await startSocketModel(t, [() => ({ events: runOf('sleep 0.3', 'c1')(), ...end }), sayOf('Done.')]);
		const run = await ask(t, server);
		assert.equal(run.answer, 'Done.', run.stdout);
		assert.deepEqual(server.faults, []);
		assert.deepEqual([server.handshakes.length, server.posts.length, run.retries], [2, 0, 0], JSON.stringify(end));
		assert.equal(server.frames.at(-1).body.previous_response_id, undefined);
	}
});

for (const [name, error] of Object.entries({
	'the age limit of a socket': { type: 'invalid_request_error', code: 'websocket_connection_limit_reached', message: 'too old' },
	'a response that the server has forgotten': { type: 'invalid_request_error', code: 'previous_response_not_found', message: 'gone' } })) {
	test(`${name} is no error: the whole history goes over a new socket`, exec, async (t) => {
		const server = await startSocketModel(t, [runOf('echo one', 'c1'), errorOf(400, error), sayOf('Done.')]);
		const run = await ask(t, server);
		assert.equal(run.answer, 'Done.', run.stdout);
		assert.deepEqual([server.handshakes.length, run.retries], [2, 0]);
		assert.equal(server.frames.at(-1).body.previous_response_id, undefined);
	});
	test(`${name}, reported for every request, ends the turn`, exec, async (t) => {
		const server = await startSocketModel(t, [errorOf(400, error)]);
		const run = await ask(t, server);
		assert.match(run.failure, /too old|gone/);
		assert.equal(server.frames.length, 2);
	});
}

test('an error with a status is treated like an answer with that status', exec, async (t) => {
	for (const [status, error, pattern, requests, headers] of [
		[429, { type: 'usage_limit_reached', message: 'limit' }, /usage limit/, 1],
		[400, { message: 'bad thing' }, /bad thing/, 1],
		[401, { message: 'bad key' }, /^unexpected status 401 Unauthorized: bad key, url: .*request id: r-1/, 2, { 'x-request-id': 'r-1' }],
		[503, { message: 'busy' }, /^unexpected status 503/, 4],
	]) {
		const server = await startSocketModel(t, [errorOf(status, error, headers)]);
		const run = await ask(t, server);
		assert.match(run.failure, pattern);
		assert.equal(server.frames.length, requests, `requests after ${status}`);
	}
});

test('limits and the model of the handshake are reported; a session is warmed up, interrupted, and goes on', needs('proto'), async (t) => {
	const limits = { type: 'codex.rate_limits', rate_limits: { primary: { used_percent: 42, window_minutes: 300, reset_at: 1800000000 },
		secondary: { used_percent: 'x' } }, credits: { has_credits: true, unlimited: false, balance: '5' } };
	const server = await startSocketModel(t, [() => [limits, ...sayOf('Hello.')()], [{ type: 'response.created', response: { id: 'x' } }],
		runOf('echo one', 'c1'), sayOf('Done.')]);
	const it = startProto(t, null, { home: wireHome(t, server, '', SOCKETS) });
	await it.next('session_configured');
	for (let i = 0; i < 400 && !server.warmUps; i++) await setTimeout(10);
	it.submit('t1', userInput('go'));
	await it.next('task_complete');
	assert.equal(server.warmUps, 1);
	assert.match(server.frames[0].body.previous_response_id, /^resp_/);
	const counts = it.events().filter(({ msg }) => msg.type === 'token_count');
	assert.equal(counts.at(-1).msg.rate_limits.primary.used_percent, 42);
	assert.equal(counts.at(-1).msg.rate_limits.secondary, null);
	assert.equal(counts.at(-1).msg.rate_limits.credits.balance, '5');
	it.submit('t2', userInput('wait'));
	for (let i = 0; i < 400 && server.frames.length < 2; i++) await setTimeout(10);
	assert.equal(server.frames[1].body.input.length, 1, 'the next turn sends only the prompt');
	it.submit('stop', { type: 'interrupt' });
	await it.next('turn_aborted');
	it.submit('t3', userInput('again'));
	await it.next('task_complete');
	assert.equal((await it.end()).code, 0);
	assert.deepEqual(server.faults, []);
	assert.deepEqual([server.handshakes.length, server.posts.length], [2, 0]);
	assert.equal(server.frames[2].body.previous_response_id, undefined);
	assert.deepEqual(server.frames[3].body.input.map((item) => item.type), ['function_call_output']);
});

test('a warm-up that is refused or never ends delays nothing for long', needs('proto'), async (t) => {
	for (const options of [{ upgrade: () => [503] }, { warmUp: [] }, { warmUp: errorOf(400, { message: 'no' }) }, { warmUp: { close: 1011 } }]) {
		const server = await startSocketModel(t, [sayOf('Hello.')], options);
		const it = startProto(t, null, { home: wireHome(t, server, '', `${SOCKETS}websocket_connect_timeout_ms = 300\n`) });
		it.submit('t1', userInput('go'));
		assert.equal((await it.next('task_complete')).msg.last_agent_message, 'Hello.');
		assert.equal((await it.end()).code, 0);
		assert.equal(it.events().filter(({ msg }) => /error/.test(msg.type)).length, 0);
	}
});

test('the model that the handshake names is reported', exec, async (t) => {
	const server = await startSocketModel(t, [sayOf('Hello.')], { head: ['x-request-id: r', 'openai-model: other'] });
	const run = await ask(t, server, { args: ['go'] });
	assert.equal(run.answer, 'Hello.');
	assert.match(JSON.stringify(run.events), /other/);
});

// Each ends the response with an error that is tried again.
const huge = Buffer.alloc(17 * 1024 * 1024, 97);
const BAD = {
	'a binary message': { raw: [frame(2, 'x', { masked: false })] },
	'a masked frame': { raw: [frame(1, '{}')] },
	'a frame with a reserved bit': { raw: [Buffer.from([0xc1, 0])] },
	'a continuation without a message': { raw: [frame(0, 'x', { masked: false })] },
	'text that is not UTF-8': { raw: [frame(1, Buffer.from([0xff, 0xfe]), { masked: false })] },
	'a message of more than 16 MiB': { raw: [frame(1, huge, { masked: false })] },
	'a length of 2^62 bytes': { raw: [Buffer.from([0x81, 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x7b])] },
	'a close with an invalid code': { raw: [frame(8, Buffer.from([0, 1]), { masked: false })] },
	'a close for a reason': { close: 1011 },
	'half a frame': { raw: [Buffer.from([0x81])], drop: true },
	'HTTP': { raw: ['HTTP/1.1 400 Bad Request\r\n\r\n'] },
	'response.failed': [{ type: 'response.failed', response: { error: { code: 'x', message: 'no' } } }],
};
for (const [name, answer] of Object.entries(BAD)) {
	test(`bad input: ${name} ends the response, which is tried again`, exec, async (t) => {
		const server = await startSocketModel(t, [answer, sayOf('Done.')]);
		const run = await ask(t, server);
		assert.equal(run.answer, 'Done.', run.stdout + run.stderr);
		assert.deepEqual([server.handshakes.length, run.retries], [2, 1]);
	});
}

test('bad input: what is no event is skipped; pings are answered; fragments are joined', exec, async (t) => {
	const [created, item, completed] = sayOf('Héllo.')().map((event) => Buffer.from(JSON.stringify(event)));
	const pieces = Array.from({ length: Math.ceil(item.length / 3) }, (_, i) => item.subarray(3 * i, 3 * i + 3));
	const joined = pieces.map((piece, i) => frame(i ? 0 : 1, piece, { masked: false, fin: i === pieces.length - 1 }));
	const text = (value) => frame(1, value, { masked: false });
	const server = await startSocketModel(t, [{ raw: [text('no JSON'), text('[]'), text('{"type":7}'), text('{"type":"unknown"}'), text(''),
		frame(9, 'ping', { masked: false }), text(created), ...joined, text(completed)] }]);
	const run = await ask(t, server);
	assert.equal(run.answer, 'Héllo.', run.stdout + run.stderr);
	assert.deepEqual(server.faults, []);
});

test('bad input: a response that comes byte by byte is read, and one that is cut anywhere is tried again', exec, async (t) => {
	const bytes = () => Buffer.concat(sayOf('Done.')().map((event) => frame(1, JSON.stringify(event), { masked: false })));
	const whole = await startSocketModel(t, [{ raw: [...bytes()].map((byte) => Buffer.from([byte])) }]);
	assert.equal((await ask(t, whole)).answer, 'Done.');
	const length = bytes().length, cuts = Array.from({ length: 10 }, (_, i) => Math.floor((i + 1) * length / 12));
	for (const at of cuts) {
		const server = await startSocketModel(t, [() => ({ raw: [bytes().subarray(0, at)], drop: true }), sayOf('End.')]);
		const run = await ask(t, server);
		assert.equal(run.answer, 'End.', `${at}: ${run.stdout}`);
		assert.equal(server.handshakes.length, 2);
	}
});

test('silence ends a response by stream_idle_timeout_ms; pings are life', exec, async (t) => {
	const silent = await startSocketModel(t, [[], sayOf('Done.')]);
	assert.equal((await ask(t, silent, { more: 'stream_idle_timeout_ms = 300\n' })).answer, 'Done.');
	assert.equal(silent.handshakes.length, 2);
});
