// --oss: the local server is asked for its models and its context before the first request to the model.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { needs, runCodex, tempDir } from './lib/codex.mjs';
import { chat } from './lib/wires.mjs';

const exec = needs('exec');
const done = [{ type: 'response.output_item.done', item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] } },
	{ type: 'response.completed', response: { id: 'r' } }];

/** A local server with these JSON answers by path; a function gets the response. The model answers on both APIs. */
async function startLocal(t, answers) {
	const requests = [];
	const server = http.createServer(async (request, response) => {
		let text = '';
		for await (const part of request) text += part;
		requests.push({ path: request.url, body: text ? JSON.parse(text) : null, headers: request.headers });
		const sse = { '/v1/responses': done, '/v1/chat/completions': chat.say('Hi.') }[request.url];
		if (sse) {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			return response.end(sse.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join(''));
		}
		const answer = answers[request.url];
		response.writeHead(answer === undefined ? 404 : 200);
		if (typeof answer === 'function') return answer(response);
		return response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
	});
	await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
	t.after(() => (server.closeAllConnections(), server.close()));
	return { requests, url: `http://127.0.0.1:${server.address().port}/v1`, paths: () => requests.map((request) => request.path) };
}
const run = (t, local, ...args) => runCodex(t, ['exec', '--skip-git-repo-check', '--oss', ...args, 'hi'],
	{ home: tempDir(t, 'home'), env: { CODEX_OSS_BASE_URL: local.url, OPENAI_API_KEY: 'sk-never' } });
const ollama = (more) => ({ '/v1/models': { data: [{ id: 'm' }] }, '/api/version': { version: '0.14.1' },
	'/api/tags': { models: [{ name: 'gpt-oss:20b' }] }, '/api/ps': { models: [] }, '/api/show': { model_info: { 'x.context_length': 65536 } }, ...more });

test('Ollama with the model: asked, then used, without any key', exec, async (t) => {
	const local = await startLocal(t, ollama());
	const { code, stdout, stderr } = await run(t, local, '--local-provider', 'ollama');
	assert.equal(code, 0, stderr);
	assert.equal(stdout, 'Hi.\n');
	assert.equal(local.requests.at(-1).path, '/v1/responses');
	assert.equal(local.requests.at(-1).body.model, 'gpt-oss:20b');
	assert.ok(local.requests.every(({ headers }) => !headers.authorization));
});

test('Ollama before 0.13.4 is asked by Chat Completions', exec, async (t) => {
	const local = await startLocal(t, ollama({ '/api/version': { version: '0.13.3' } }));
	const { code, stderr } = await run(t, local, '--local-provider', 'ollama');
	assert.equal(code, 0, stderr);
	assert.equal(local.requests.at(-1).path, '/v1/chat/completions');
});

test('Ollama fetches a missing model, with progress; a failure ends the run', exec, async (t) => {
	const lines = [{ status: 'pulling manifest' }, { status: 'pulling 9f', total: 100, completed: 5 }, { status: 'pulling 9f', total: 100, completed: 60 },
		{ status: 'success' }].map((line) => JSON.stringify(line)).join('\n');
	const local = await startLocal(t, ollama({ '/api/tags': { models: [] }, '/api/pull': lines }));
	const { code, stderr } = await run(t, local, '--local-provider', 'ollama');
	assert.equal(code, 0, stderr);
	assert.deepEqual(local.requests.find(({ path }) => path === '/api/pull').body, { model: 'gpt-oss:20b', stream: true });
	assert.match(stderr, /gpt-oss:20b: pulling 9f 60 %/);
	const failing = await startLocal(t, ollama({ '/api/tags': { models: [] }, '/api/pull': '{"status":"pulling"}\n{"error":"no such model"}\n' }));
	const failed = await run(t, failing, '--local-provider', 'ollama');
	assert.equal(failed.code, 1);
	assert.match(failed.stderr, /no such model.*`ollama pull gpt-oss:20b`/);
	assert.ok(!failing.paths().includes('/v1/responses'));
});

test('an answer that never ends does not hold up the start', exec, async (t) => {
	const flood = (response) => {
		const more = () => { while (!response.destroyed && response.write('x'.repeat(65536))); };
		response.on('drain', more);
		more();
	};
	const local = await startLocal(t, ollama({ '/api/show': flood }));
	const { code, stdout, stderr } = await run(t, local, '--local-provider', 'ollama');
	assert.deepEqual([code, stdout], [0, 'Hi.\n'], stderr);
});

test('a small context of Ollama is reported', exec, async (t) => {
	const local = await startLocal(t, ollama({ '/api/ps': { models: [{ name: 'gpt-oss:20b', context_length: 4096 }] } }));
	const { stderr } = await run(t, local, '--local-provider', 'ollama');
	assert.match(stderr, /context of 4096 tokens.*OLLAMA_CONTEXT_LENGTH=64000/);
});

test('LM Studio without the model names the command that fetches it', exec, async (t) => {
	const local = await startLocal(t, { '/v1/models': { data: [{ id: 'other' }] } });
	const { code, stderr } = await run(t, local, '--local-provider', 'lmstudio');
	assert.equal(code, 1);
	assert.match(stderr, /`lms get --yes openai\/gpt-oss-20b`/);
	assert.ok(!local.paths().includes('/v1/responses'));
});

for (const name of ['llamacpp', 'vllm', 'sglang']) {
	test(`${name}: its first model, by Chat Completions`, exec, async (t) => {
		const local = await startLocal(t, { '/v1/models': { data: [{ id: 'served', max_model_len: 50000 }] } });
		const { code, stdout, stderr } = await run(t, local, '--local-provider', name);
		assert.equal(code, 0, stderr);
		assert.equal(stdout, 'Hi.\n');
		assert.equal(local.requests.at(-1).path, '/v1/chat/completions');
		assert.equal(local.requests.at(-1).body.model, 'served');
		const other = await run(t, local, '--local-provider', name, '-m', 'mine');
		assert.match(other.stderr, /does not serve mine; use `--model served`/);
	});
}

test('an unknown local provider is refused by its name', exec, async (t) => {
	const local = await startLocal(t, {});
	const named = await run(t, local, '--local-provider', 'foo');
	assert.equal(named.code, 2);
	assert.match(named.stderr, /invalid value 'foo'/);
	const { code, stderr } = await run(t, local, '-c', 'oss_provider="foo"');
	assert.equal(code, 1);
	assert.match(stderr, /`foo` is not a local server.*`ollama`/);
	assert.deepEqual(local.paths(), []);
});

test('without a named provider, a server without a list of models gets no prompt', exec, async (t) => {
	const local = await startLocal(t, { '/v1/models': 'hello' });
	const home = tempDir(t, 'home'), port = new URL(local.url).port;
	const tables = ['ollama', 'lmstudio', 'llamacpp', 'vllm', 'sglang'].map((name, i) =>
		`[model_providers.${name}]\nbase_url = "http://127.0.0.1:${i ? port : 1}/v1"\n`);
	fs.writeFileSync(path.join(home, 'config.toml'), tables.join(''));
	const { code, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', '--oss', 'hi'], { home });
	assert.equal(code, 1);
	assert.match(stderr, /No running Ollama server detected/);
	assert.ok(local.requests.length > 0 && local.paths().every((name) => name === '/v1/models'), String(local.paths()));
});
