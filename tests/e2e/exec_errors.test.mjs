// A model that misbehaves: the turn recovers, or ends with a clear error and exit status 1.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
	codexExec, failed, httpError, itemsOf, makeHome, needs, reply, say, startModel, typesOf,
} from './lib/codex.mjs';

const exec = needs('exec');

const FEW_RETRIES = ['-c', 'model_providers.mock.request_max_retries=1', '-c', 'model_providers.mock.stream_max_retries=1'];

const answers = (events) => itemsOf(events, 'agent_message').map((item) => item.text);

test('a server error is retried', exec, async (t) => {
	const model = await startModel(t, [httpError(500, { error: { message: 'boom' } }), say('Recovered.')]);
	const { code, events } = await codexExec(t, model, ['hi'], { json: true });
	assert.equal(code, 0);
	assert.deepEqual(answers(events), ['Recovered.']);
});

test('a broken stream is tried again, and the user hears of it', exec, async (t) => {
	for (const end of [{ drop: true }, { drop: 'reset' }, { eof: true }]) {
		const model = await startModel(t, [reply({ delta: 'half a sen' }, end), say('A whole sentence.')]);
		const { code, events } = await codexExec(t, model, ['hi'], { json: true });
		assert.equal(code, 0);
		assert.deepEqual(answers(events), ['A whole sentence.']);
		const [error] = events.filter((event) => event.type === 'error');
		assert.match(error.message, /Reconnecting\.\.\. 1\/5/);
	}
});

test('a stream that falls silent is given up', exec, async (t) => {
	const model = await startModel(t, [reply({ start: true }, { hang: true }), say('Awake.')]);
	const args = ['-c', 'model_providers.mock.stream_idle_timeout_ms=300', 'hi'];
	const { code, events } = await codexExec(t, model, args, { json: true });
	assert.equal(code, 0);
	assert.deepEqual(answers(events), ['Awake.']);
});

test('a bad request is final', exec, async (t) => {
	const model = await startModel(t, [httpError(400, { error: { message: 'no such thing' } }), say('never')]);
	const { code, events } = await codexExec(t, model, ['hi'], { json: true });
	assert.equal(code, 1);
	assert.deepEqual(typesOf(events), ['thread.started', 'turn.started', 'error', 'turn.failed']);
	assert.match(events[3].error.message, /no such thing/);
	assert.equal(model.requests().length, 1);
});

test('retries are counted, and the last error says what was tried', exec, async (t) => {
	const model = await startModel(t, [{ ...httpError(503, 'overloaded'), times: 'forever' }]);
	const { code, stderr } = await codexExec(t, model, [...FEW_RETRIES, 'hi']);
	assert.equal(code, 1);
	assert.ok(model.requests().length <= 4, `${model.requests().length} requests`);
	assert.ok(stderr.includes(model.url), stderr);
});

test('a context that is too long is final', exec, async (t) => {
	const model = await startModel(t, [failed('context_length_exceeded', 'too long'), say('never')]);
	const { code, events } = await codexExec(t, model, ['hi'], { json: true });
	assert.equal(code, 1);
	assert.match(events.at(-1).error.message, /context window/);
	assert.equal(model.requests().length, 1);
});

test('nonsense in the stream is passed over', exec, async (t) => {
	const model = await startModel(t, [reply(
		{ raw: 'event: x\ndata: not json\n\n' }, { raw_base64: Buffer.from([0x64, 0xff, 0xfe, 0x0a, 0x0a]).toString('base64') },
		{ event: { type: 'response.from_the_future', a: [1, 2] } }, { message: 'Survived.' }, { raw: 'data: [DONE]\n\n' },
	)]);
	const { code, stdout } = await codexExec(t, model, ['hi']);
	assert.equal(code, 0);
	assert.equal(stdout, 'Survived.\n');
});

test('a page of HTML and a line without end are errors, not answers', exec, async (t) => {
	const html = reply({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' });
	const line = reply({ raw: 'data: ' }, { fill: 100_000_000 }, { eof: true });
	for (const bad of [html, line]) {
		const model = await startModel(t, [{ ...bad, times: 'forever' }]);
		const { code, stdout, stderr } = await codexExec(t, model, [...FEW_RETRIES, 'hi']);
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.match(stderr, /stream disconnected|too long|larger|limit|ERROR|error/);
	}
});

test('nobody listening is said at once, with the address', exec, async (t) => {
	const home = makeHome(t, { url: 'http://127.0.0.1:9/v1' });
	const { code, stderr } = await codexExec(t, null, [...FEW_RETRIES, 'hi'], { home });
	assert.equal(code, 1);
	assert.match(stderr, /127\.0\.0\.1:9/);
});
