// The list of models of a ChatGPT login: requested in the background, kept, and used from the next start on.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { needs, runCodex, startModel, say, tempDir } from './lib/codex.mjs';
import { startIssuer } from './lib/issuer.mjs';

const options = needs('exec');
const LIST = [
	{ slug: 'new-model', display_name: 'New', visibility: 'list', use_responses_lite: true, default_reasoning_level: 'high', context_window: 100000 },
	{ slug: 'gpt-5.5', display_name: 'Changed', default_reasoning_level: 'low' },
];
const kept = (home) => path.join(home, 'models_cache.json');
const read = (home) => JSON.parse(readFileSync(kept(home)));
const until = async (done) => {
	while (!done()) await new Promise((wake) => setTimeout(wake, 10));
};

async function setup(t, { models = [200, { models: LIST }, { 'content-type': 'application/json', etag: 'W/"1"' }], config, more } = {}) {
	const issuer = await startIssuer(t);
	issuer.models = models;
	return { issuer, home: issuer.home(tempDir(t, 'home'), { config: config?.(issuer) ?? '', more }) };
}

/** A run whose answer of the model comes after `first`. */
async function exec(t, { issuer, home }, { args = [], first = () => true, env } = {}) {
	const model = (request) => issuer.model(request);
	issuer.overrides.set('/backend/codex/responses', (request) => until(first).then(() => model(request)));
	return runCodex(t, ['exec', '--skip-git-repo-check', ...args, 'hi'], { home, env: { ...issuer.env, ...env } });
}

test('the list is requested with the login, kept, and used by the next start', options, async (t) => {
	const place = await setup(t);
	const first = await exec(t, place, { first: () => existsSync(kept(place.home)) });
	assert.equal(first.code, 0, first.stderr);
	const [{ headers, method, path: pathname, query }] = place.issuer.lists;
	assert.deepEqual([method, pathname], ['GET', '/backend/codex/models']);
	assert.match(query.get('client_version'), /^\d+\.\d+\.\d+/);
	assert.equal(headers.authorization, place.issuer.requests[0].headers.authorization);
	assert.equal(headers['chatgpt-account-id'], 'acc-1');
	const { fetched_at, etag, models } = read(place.home);
	assert.ok(Math.abs(Date.parse(fetched_at) - Date.now()) < 3600e3);
	assert.equal(etag, 'W/"1"');
	assert.deepEqual(models, LIST);

	const next = await exec(t, place, { args: ['-m', 'new-model'] });
	assert.equal(next.code, 0, next.stderr);
	const { headers: sent, body } = place.issuer.requests.at(-1);
	assert.equal(sent['x-openai-internal-codex-responses-lite'], 'true');
	assert.equal(JSON.parse(body).reasoning.effort, 'high');
	await exec(t, place, { args: ['-m', 'gpt-5.5'] });
	assert.equal(JSON.parse(place.issuer.requests.at(-1).body).reasoning.effort, 'low', 'it replaces a built-in row');
	assert.equal(place.issuer.lists.length, 1, 'it is fresh');
});

test('a list is requested again after five minutes, and the old one counts until then', options, async (t) => {
	const place = await setup(t);
	await exec(t, place, { first: () => existsSync(kept(place.home)) });
	const set = (seconds) => {
		const fetched_at = new Date(Date.now() - seconds * 1000).toISOString();
		writeFileSync(kept(place.home), JSON.stringify({ ...read(place.home), fetched_at }));
	};
	set(200);
	await exec(t, place);
	assert.equal(place.issuer.lists.length, 1);
	set(400);
	place.issuer.models = [200, { models: [{ ...LIST[0], default_reasoning_level: 'low' }] }];
	const isNew = () => read(place.home).models.length === 1;
	await exec(t, place, { args: ['-m', 'new-model'], first: isNew });
	assert.equal(place.issuer.lists.length, 2);
	assert.equal(JSON.parse(place.issuer.requests.at(-1).body).reasoning.effort, 'high');
	await exec(t, place, { args: ['-m', 'new-model'] });
	assert.equal(JSON.parse(place.issuer.requests.at(-1).body).reasoning.effort, 'low');
});

test('a list that never comes holds nothing', options, async (t) => {
	const place = await setup(t);
	place.issuer.overrides.set('/backend/codex/models', () => new Promise(() => {}));
	const run = await exec(t, place, { first: () => place.issuer.lists.length });
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	assert.ok(!existsSync(kept(place.home)));
});

test('the list of another account does not count', options, async (t) => {
	const place = await setup(t);
	await exec(t, place, { first: () => existsSync(kept(place.home)) });
	const effort = async () => {
		await exec(t, place, { args: ['-m', 'gpt-5.5'], first: () => place.issuer.lists.length && existsSync(kept(place.home)) });
		return JSON.parse(place.issuer.requests.at(-1).body).reasoning.effort;
	};
	assert.equal(await effort(), 'low');
	place.issuer.account = 'acc-2';
	place.issuer.home(place.home);
	assert.equal(await effort(), 'medium');
});

const hostile = {
	'a name with a control character': [200, { models: [{ slug: 'new\u001b[2J' }] }],
	'a title with NUL': [200, { models: [{ slug: 'new', display_name: 'a\0b' }] }],

	'no JSON': [200, 'nope'],
	'no list': [200, { models: { slug: 'x' } }],
	'a model without a name': [200, { models: [{ slug: 'new-model' }, {}] }],
	'a name without end': [200, { models: [{ slug: 'x'.repeat(257) }] }],
	'too many models': [200, { models: Array.from({ length: 1025 }, (_, i) => ({ slug: `m${i}` })) }],
	'too many bytes': [200, `{"models":[{"slug":"x","description":"${'x'.repeat(5 << 20)}"}]}`],
	'a refusal': [401, { error: 'no' }],
};
for (const [name, models] of Object.entries(hostile)) {
	test(`a wrong list is not kept: ${name}`, options, async (t) => {
		const place = await setup(t, { models });
		const run = await exec(t, place, { first: () => place.issuer.lists.length });
		assert.equal(run.code, 0, run.stderr);
		assert.ok(!existsSync(kept(place.home)));
	});
}

test('numbers without sense keep the built-in values, and a broken file is requested again', options, async (t) => {
	const truncation_policy = { mode: 'tokens', limit: 1000001 };
	const models = [{ slug: 'gpt-5.5', context_window: 9, truncation_policy }];
	const place = await setup(t, { models: [200, { models }, { 'content-type': 'application/json', etag: 'W/"2"' }] });
	const identity = `${place.issuer.url}/backend/codex`, fetched_at = new Date().toISOString();
	const other = { models: [{ slug: 'gpt-5.5' }], client_version: '0.0.1', fetched_at, identity };
	for (const text of ['{"models":[', '[]', JSON.stringify(other)]) {
		writeFileSync(kept(place.home), text);
		const run = await exec(t, place, { first: () => readFileSync(kept(place.home), 'utf8').includes('"etag"') });
		assert.equal(run.code, 0, run.stderr);
	}
	assert.equal(place.issuer.lists.length, 3);
	assert.equal((await exec(t, place)).code, 0);
});

test('nobody else is asked for a list, and a file wins', options, async (t) => {
	const place = await setup(t, { config: (it) => `openai_base_url = "${it.url}/v1"\n` });
	await exec(t, place, { env: { CODEX_API_KEY: 'sk-env' }, args: ['-c', 'model_providers.openai.request_max_retries=0'] });
	assert.deepEqual(place.issuer.lists, []);

	const login = await setup(t);
	const file = path.join(tempDir(t), 'models.json');
	writeFileSync(file, JSON.stringify({ models: [{ slug: 'own-model', default_reasoning_level: 'high' }] }));
	writeFileSync(kept(login.home), JSON.stringify({ models: LIST }));
	const run = await exec(t, login, { args: ['-m', 'own-model', '-c', `model_catalog_json=${JSON.stringify(file)}`] });
	assert.equal(run.code, 0, run.stderr);
	assert.equal(JSON.parse(login.issuer.requests.at(-1).body).reasoning.effort, 'high');
	assert.deepEqual(login.issuer.lists, []);

	const own = await setup(t, {
		config: (it) => `model_provider = "own"\n[model_providers.own]\nname = "Own"\nbase_url = "${it.url}/own"\nrequires_openai_auth = true\n`,
	});
	own.issuer.overrides.set('/own/responses', (request) => own.issuer.model(request));
	assert.equal((await exec(t, own)).code, 0);
	assert.deepEqual(own.issuer.lists, []);

	const model = await startModel(t, [say('Hello.')]);
	const other = await setup(t, { config: () => `model_provider = "own"\n[model_providers.own]\nname = "Own"\nbase_url = "${model.url}"\n` });
	assert.equal((await exec(t, other)).code, 0);
	assert.deepEqual(other.issuer.lists, []);
});

test('windows and outputs without sense keep the built-in values', needs('debug'), async (t) => {
	const file = path.join(tempDir(t), 'models.json'), home = tempDir(t, 'home');
	const model = (slug, context_window, limit) => ({ slug, context_window, truncation_policy: { mode: 'tokens', limit } });
	writeFileSync(file, JSON.stringify({ models: [model('a', 1023, 1000001), model('b', 1024, 1000000), model('c', 1e9 + 1, 0)] }));
	writeFileSync(path.join(home, 'config.toml'), `model_catalog_json = ${JSON.stringify(file)}\n`);
	const { models } = JSON.parse((await runCodex(t, ['debug', 'models'], { home })).stdout);
	const shown = models.slice(0, 3).map((it) => [it.context_window, it.truncation_policy.limit]);
	assert.deepEqual(shown, [[272000, 10000], [1024, 1000000], [272000, 10000]]);
});
