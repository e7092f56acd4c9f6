// The official TypeScript SDK drives this program like the original: run, runStreamed, resumeThread, outputSchema,
// images, abort. Skips where the package is not installed (npm ci in this folder).

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { codexBin, makeHome, run, say, reply, startModel, tempDir } from './lib/codex.mjs';

const sdk = await import('@openai/codex-sdk').catch(() => null);
const skip = sdk ? false : '@openai/codex-sdk is not installed: run npm ci in tests/e2e';

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** A Codex object of the SDK, and the options of a thread in a new folder. */
async function open(t, replies) {
	const model = await startModel(t, replies);
	const home = makeHome(t, model);
	const codex = new sdk.Codex({ codexPathOverride: codexBin, env: { ...process.env, CODEX_HOME: home } });
	const options = { workingDirectory: tempDir(t, 'work'), skipGitRepoCheck: true, sandboxMode: 'danger-full-access' };
	return { model, home, codex, options };
}

test('run returns the final response, the items and the usage', { skip }, async (t) => {
	const { codex, options } = await open(t, [run('echo from the shell'), say('All done.')]);
	const turn = await codex.startThread(options).run('do it');
	assert.equal(turn.finalResponse, 'All done.');
	assert.deepEqual(turn.items.map((item) => item.type), ['command_execution', 'agent_message']);
	assert.equal(turn.items[0].aggregated_output, 'from the shell\n');
	assert.equal(turn.items[0].exit_code, 0);
	assert.ok(turn.usage.input_tokens > 0);
});

test('runStreamed yields events in order', { skip }, async (t) => {
	const { codex, options } = await open(t, [run('true'), say('Bye.')]);
	const thread = codex.startThread(options);
	const { events } = await thread.runStreamed('hello');
	const types = [];
	for await (const event of events) types.push(event.type);
	assert.deepEqual(types, ['thread.started', 'turn.started', 'item.started', 'item.completed', 'item.completed', 'turn.completed']);
	assert.match(thread.id, /^[0-9a-f-]{36}$/);
});

test('a second turn of a thread, and a thread resumed by id, carry the history', { skip }, async (t) => {
	const { codex, options, model } = await open(t, [say('One.'), say('Two.'), say('Three.')]);
	const thread = codex.startThread(options);
	await thread.run('first');
	await thread.run('second');
	const again = codex.resumeThread(thread.id, options);
	assert.equal((await again.run('third')).finalResponse, 'Three.');
	const texts = JSON.stringify(model.requests()[2].body.input);
	for (const text of ['first', 'One.', 'second', 'Two.', 'third']) assert.ok(texts.includes(text), text);
});

test('outputSchema reaches the model as a strict format', { skip }, async (t) => {
	const { codex, options, model } = await open(t, [say('{"answer":42}')]);
	const schema = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'], additionalProperties: false };
	const turn = await codex.startThread(options).run('how much?', { outputSchema: schema });
	assert.deepEqual(JSON.parse(turn.finalResponse), { answer: 42 });
	const format = model.requests()[0].body.text.format;
	assert.equal(format.type, 'json_schema');
	assert.equal(format.strict, true);
	assert.deepEqual(format.schema, schema);
});

test('images go along with the prompt', { skip }, async (t) => {
	const { codex, options, model } = await open(t, [say('A pixel.')]);
	const file = path.join(tempDir(t, 'image'), 'pixel.png');
	fs.writeFileSync(file, PIXEL);
	await codex.startThread(options).run([
		{ type: 'text', text: 'what is it?' },
		{ type: 'local_image', path: file },
	]);
	const image = model.requests()[0].body.input.at(-1).content.find((part) => part.type === 'input_image');
	assert.equal(image.image_url, `data:image/png;base64,${PIXEL.toString('base64')}`);
});

test('abort ends the run and its processes', { skip }, async (t) => {
	const mark = path.join(tempDir(t, 'mark'), 'pid');
	const { codex, options } = await open(t, [run(`echo $$ > ${mark}; sleep 600`), say('never')]);
	const controller = new AbortController();
	const { events } = await codex.startThread(options).runStreamed('wait', { signal: controller.signal });
	await assert.rejects(async () => {
		for await (const event of events) if (event.type === 'item.started') abortWhenWritten(mark, controller);
	});
	const pid = Number(fs.readFileSync(mark, 'utf8'));
	await gone(pid);
});

function abortWhenWritten(file, controller) {
	const look = () => (fs.existsSync(file) && fs.statSync(file).size ? controller.abort() : setTimeout(look, 10));
	look();
}

/** Resolves once the process with that id has exited. */
async function gone(pid) {
	for (;;) {
		try {
			process.kill(pid, 0);
		} catch {
			return;
		}
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}

test('a model that fails becomes an error of the turn', { skip }, async (t) => {
	const { codex, options } = await open(t, [reply({ status: 400, body: { error: { message: 'bad request of a test' } } })]);
	await assert.rejects(codex.startThread(options).run('hi'), /bad request of a test/);
});

// Refusals of exec before it has read the prompt, or before a thread starts; and the reason for the user.
const REFUSALS = [
	{ name: 'no repository', options: {}, reason: /--skip-git-repo-check was not specified/ },
	{ name: 'a mistake in config.toml', toml: 'model = 3\n', reason: /config\.toml:1: `model` must be a string/ },
	{ name: 'no key', toml: '', reason: /no API key for OpenAI/ },
	{ name: 'an unset env_key', reason: /Missing environment variable: `NOT_SET`/,
		toml: 'model_provider = "m"\n[model_providers.m]\nname = "m"\nbase_url = "http://127.0.0.1:9/v1"\nenv_key = "NOT_SET"\n' },
	{ name: 'an unknown provider', toml: 'model_provider = "nowhere"\n', reason: /Model provider `nowhere` not found/ },
];
const RUNS_EACH = 20;
const PROMPT = 'x'.repeat(300_000); // more than a pipe holds, so that its writer has to wait for a reader

test('100 of 100 early failures give their reason', { skip }, async (t) => {
	const workingDirectory = tempDir(t, 'work');
	for (const { name, toml = '', options = { skipGitRepoCheck: true }, reason } of REFUSALS) {
		const home = tempDir(t, 'home');
		fs.writeFileSync(path.join(home, 'config.toml'), toml);
		const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home };
		const codex = new sdk.Codex({ codexPathOverride: codexBin, env });
		for (let i = 0; i < RUNS_EACH; i++) {
			const thread = codex.startThread({ workingDirectory, ...options });
			await assert.rejects(thread.run(PROMPT), reason, name); // an EPIPE would be an uncaught exception, which fails
		}
	}
});
