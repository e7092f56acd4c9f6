// The context window of a model that the catalog does not know: its server is asked if it runs on this machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { needs, runCodex, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { chat } from './lib/wires.mjs';

const exec = needs('exec');
const COMMAND = 'echo hello';

/**
 * A server of Chat Completions whose GET paths have these answers; a function gets the response. Its model runs a command, says
 * that `used` tokens are in use, and then answers.
 */
async function startServer(t, answers, used = 100) {
	const asked = [], posts = [];
	const usage = { prompt_tokens: used, completion_tokens: 1, total_tokens: used + 1 };
	const script = [[...chat.run(COMMAND).slice(0, -2), { id: 'c', choices: [], usage }, '[DONE]'], chat.say('Summary.'), chat.say('Done.')];
	const server = http.createServer(async (request, response) => {
		let text = '';
		for await (const part of request) text += part;
		if (request.method === 'GET') {
			asked.push({ path: request.url, headers: request.headers });
			const answer = answers[request.url];
			if (typeof answer === 'function') return answer(response);
			response.writeHead(answer === undefined ? 404 : 200);
			return response.end(JSON.stringify(answer ?? {}));
		}
		posts.push(JSON.parse(text));
		await server.gate;
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		const events = posts.length <= script.length ? script[posts.length - 1] : chat.say('Done.');
		return response.end(events.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`).join(''));
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	t.after(() => (server.closeAllConnections(), server.close()));
	return Object.assign(server, { asked, posts, url: `http://127.0.0.1:${server.address().port}` });
}

async function run(t, server, { config = '', model = 'm', provider = '', gets } = {}) {
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'), `model_provider = "near"
${config}
[model_providers.near]
name = "near"
base_url = "${server.url}/v1"
wire_api = "chat"
${provider}`);
	// The response waits for the questions, so that the outcome does not depend on which is faster.
	if (gets) server.gate = new Promise((done) => server.on('request', () => setImmediate(() => server.asked.length >= gets && done())));
	return runCodex(t, ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', '-m', model, 'hi'], { home, env: { LOCAL_KEY: 'local-key-1' } });
}

test('the window of the server decides when the history is compacted, and is reported', exec, async (t) => {
	const server = await startServer(t, { '/v1/models': { data: [{ id: 'm', max_model_len: 8192 }] } }, 8000);
	const { code, stderr, stdout } = await run(t, server, { gets: 1, provider: 'env_key = "LOCAL_KEY"' });
	assert.equal(code, 0, stderr);
	assert.equal(stdout, 'Done.\n');
	assert.match(stderr, /Model metadata for `m` not found\. Its server reports a context window of 8192 tokens, which is used\./);
	assert.equal(server.posts.length, 3); // the command, a summary, the answer
	assert.deepEqual(server.asked.map(({ path: where }) => where), ['/v1/models']);
	assert.equal(server.asked[0].headers.authorization, 'Bearer local-key-1');
});

test('a server that has it elsewhere is asked there; one that has none is taken for a large one', exec, async (t) => {
	const llama = await startServer(t, { '/v1/models': { data: [{ id: 'm', meta: { n_ctx_train: 131072 } }] },
		'/props': { default_generation_settings: { n_ctx: 4096 } } });
	assert.match((await run(t, llama, { gets: 2 })).stderr, /a context window of 4096 tokens, which is used/);
	assert.deepEqual(llama.asked.map(({ path: where }) => where), ['/v1/models', '/props']);
	const none = await startServer(t, {}, 8000);
	const { code, stderr } = await run(t, none, { gets: 4 });
	assert.equal(code, 0, stderr);
	assert.match(stderr, /Defaulting to fallback metadata: a context window of 272000 tokens/);
	assert.equal(none.posts.length, 2);
	assert.deepEqual(none.asked.map(({ path: where }) => where), ['/v1/models', '/props', '/api/v0/models', '/api/ps']);
});

test('a known model, or a configured window: nothing is asked', exec, async (t) => {
	for (const how of [{ model: 'gpt-5.5' }, { config: 'model_context_window = 1000000' }]) {
		const server = await startServer(t, { '/v1/models': { data: [{ id: 'm', max_model_len: 1 }] } });
		assert.equal((await run(t, server, how)).code, 0);
		assert.deepEqual(server.asked, []);
	}
});

// A server elsewhere, which a proxy on this machine stands for, is not asked: its warning waits for nothing.
test('for a server elsewhere the warning follows the start of the task at once, once for each model', { skip: needs('proto').skip }, async (t) => {
	const server = await startServer(t, {});
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'), `model = "m"
model_provider = "far"
[model_providers.far]
name = "far"
base_url = "http://models.example/v1"
wire_api = "chat"
`);
	const proto = startProto(t, null, { home, env: { http_proxy: server.url } });
	const turns = [['1', { type: 'configure_session' }], ['2', userInput('hi')], ['3', userInput('again')],
		['4', { type: 'configure_session', model: 'n' }], ['5', userInput('and now')]];
	for (const [id, op] of turns) {
		proto.submit(id, op);
		await proto.next(op.type === 'user_input' ? 'task_complete' : 'session_configured');
	}
	assert.equal((await proto.end()).code, 0, proto.stderr());
	const begins = ['2', '3', '5'].map((turn) => proto.events().filter(({ id }) => id === turn).slice(0, 2).map(({ msg }) => msg.type));
	assert.deepEqual(begins, [['task_started', 'warning'], ['task_started', 'item_started'], ['task_started', 'warning']]);
	const warnings = proto.events().filter(({ msg }) => msg.type === 'warning').map(({ msg }) => msg.message);
	assert.deepEqual(warnings.map((it) => it.match(/`(\w)` not found\. Defaulting/)?.[1] ?? it), ['m', 'n']);
	assert.deepEqual(server.asked, []);
});

test('a server that says nothing, or never stops, holds nothing up', exec, async (t) => {
	const flood = (response) => {
		response.writeHead(200);
		const more = () => { while (!response.destroyed && response.write('x'.repeat(65536))); };
		response.on('drain', more);
		more();
	};
	for (const answer of [() => {}, flood]) {
		const server = await startServer(t, { '/v1/models': answer });
		const { code, stdout, stderr } = await run(t, server);
		assert.equal(code, 0, stderr);
		assert.match(stdout, /Done\.|Summary\./);
	}
});
