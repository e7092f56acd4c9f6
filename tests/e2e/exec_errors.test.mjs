// A model that misbehaves: the turn recovers, or ends with a clear error and exit status 1.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
	codexExec, failed, FEW_RETRIES, httpError, itemsOf, needs, reply, runCodex, say, startModel, typesOf,
} from './lib/codex.mjs';

const exec = needs('exec');

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
		// A reset can overtake the response that it cuts off; then nothing has started, and the request is retried without an event.
		if (end.drop !== 'reset' || error) assert.match(error.message, /Reconnecting\.\.\. 1\/5/);
	}
});

test('each retry reports the error of the failed attempt', exec, async (t) => {
	const model = await startModel(t, [say('Not asked.')]);
	const args = ['-c', 'model_providers.mock.base_url=http://127.0.0.1:1/v1', '-c', 'model_providers.mock.request_max_retries=0',
		'-c', 'model_providers.mock.stream_max_retries=1', 'hi'];
	const { code, stderr } = await codexExec(t, model, args);
	assert.equal(code, 1);
	assert.match(stderr, /^Reconnecting\.\.\. 1\/1 \(.*cannot connect to 127\.0\.0\.1:1: Connection refused\)$/m);
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

test('retries are counted, and the last error has the URL', exec, async (t) => {
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

test('--oss uses the default model of its provider, not the configured one', exec, async (t) => {
	for (const [args, wanted] of [[[], 'gpt-oss:20b'], [['--local-provider', 'lmstudio'], 'openai/gpt-oss-20b'], [['-m', 'mine'], 'mine']]) {
		const model = await startModel(t, [say('Done.')]);
		const { code } = await codexExec(t, model, ['--oss', ...args, 'hi'], { config: 'model = "gpt-5.5"\n', env: { CODEX_OSS_BASE_URL: model.url } });
		assert.equal(code, 0);
		assert.equal(model.requests()[0].body.model, wanted);
	}
});

test('--oss without a server fails at once and names the commands that start one', exec, async (t) => {
	const ATTEMPTS_MS = 10_000; // five retries took 24 s
	for (const [name, start, fetch] of [['ollama', 'ollama serve', 'ollama pull'], ['lmstudio', 'lms server start', 'lms get']]) {
		const began = performance.now();
		const { code, stdout, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', '--oss', '--local-provider', name, 'hi'],
			{ env: { CODEX_OSS_PORT: '1' } });
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.match(stderr, /cannot connect to localhost:1: Connection refused/);
		for (const command of [start, fetch]) assert.ok(stderr.includes('`' + command), stderr);
		assert.doesNotMatch(stderr, /Reconnecting/);
		assert.ok(performance.now() - began < ATTEMPTS_MS);
	}
});
