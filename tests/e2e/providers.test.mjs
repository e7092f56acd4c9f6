// Each row of the table in docs/models.md: its settings are accepted, and the request has the path and the key that the service expects.

import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexExec, needs } from './lib/codex.mjs';
import { providerHome, startProvider } from './lib/provider.mjs';

const options = needs('exec');
const KEY = 'the-key-of-this-test';
const PATHS = { responses: '/responses', chat: '/chat/completions', messages: '/messages' };
// The API of the rows that do not name one because it is the default or that of a built-in provider.
const BUILT_IN = { OpenAI: 'responses', Ollama: 'responses', 'LM Studio': 'responses' };

const text = fs.readFileSync(fileURLToPath(new URL('../../docs/models.md', import.meta.url)), 'utf8');
const table = /## Settings of each provider\n(.*?)\n## /s.exec(`${text}\n## `)[1];
const rows = table.split('\n').filter((line) => /^\| [A-Z]|^\| v|^\| x|^\| l/.test(line) && !line.startsWith('| provider'))
	.map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
	.map(([name, address, wire, keys]) => ({ name, address, wire: /`"(\w+)"`/.exec(wire)?.[1], keys: /^`(.+)`$/.exec(keys)?.[1] }));

test('the table has its rows', () => assert.ok(rows.length >= 17, String(rows.length)));

const ask = (t, keys, env, args = []) => codexExec(t, null, [...args, '-m', 'some-model', 'hi'],
	{ home: providerHome(t, keys), env: { OPENAI_API_KEY: 'sk-not-for-others', ...env } });

function check(run, server, api, path) {
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	const request = server.requests.at(-1);
	assert.deepEqual([request.method, request.path], ['POST', path + PATHS[api]]);
	assert.equal(JSON.parse(request.body).model, 'some-model');
	return request;
}

for (const row of rows.filter(({ address }) => address.startsWith('`http'))) {
	test(`${row.name}: path and key`, options, async (t) => {
		const server = await startProvider(t);
		const { pathname } = new URL(/`(.+)`/.exec(row.address)[1]);
		const variable = /"([A-Z_]+)"/.exec(row.keys)[1];
		const keys = `base_url = "${server.url}${pathname}"\n${row.wire ? `wire_api = "${row.wire}"\n` : ''}${row.keys}`;
		const { headers } = check(await ask(t, keys, { [variable]: KEY }), server, row.wire ?? 'responses', pathname);
		const own = /"([a-z-]+)" = /.exec(row.keys)?.[1] ?? (row.wire === 'messages' ? 'x-api-key' : 'authorization');
		assert.equal(headers[own], own === 'authorization' ? `Bearer ${KEY}` : KEY);
		for (const name of ['authorization', 'x-api-key', 'api-key'])
			if (name !== own) assert.equal(headers[name], undefined);
		assert.ok(!JSON.stringify(server.requests).includes('sk-not-for-others'));
		assert.equal('anthropic-version' in headers, row.wire === 'messages');
	});
}

for (const row of rows.filter(({ address }) => address.includes('--oss'))) {
	test(`${row.name}: built in, without a key`, options, async (t) => {
		const server = await startProvider(t);
		const run = await ask(t, '', { CODEX_OSS_BASE_URL: `${server.url}/v1` }, /`(--oss .+)`/.exec(row.address)[1].split(' '));
		const { headers } = check(run, server, row.wire ?? BUILT_IN[row.name], '/v1');
		assert.equal(headers.authorization, undefined);
		assert.ok(!JSON.stringify(server.requests).includes('sk-not-for-others'));
	});
}

test('Amazon Bedrock: built in', options, async (t) => {
	const server = await startProvider(t);
	const home = providerHome(t, `[model_providers.amazon-bedrock]\nbase_url = "${server.url}/v1"`);
	const run = await codexExec(t, null, ['-c', 'model_provider=amazon-bedrock', '-m', 'some-model', 'hi'],
		{ home, env: { OPENAI_API_KEY: 'sk-not-for-others', AWS_BEARER_TOKEN_BEDROCK: KEY } });
	assert.equal(check(run, server, 'responses', '/v1').headers.authorization, `Bearer ${KEY}`);
	assert.ok(rows.some(({ name, address }) => name === 'Amazon Bedrock' && address.includes('amazon-bedrock')));
});

/** The signature that AWS computes of a request. */
function awsSignature({ method, path: target, headers, text }, secret, region) {
	const hash = (value) => createHash('sha256').update(value).digest('hex');
	const hmac = (key, value) => createHmac('sha256', key).update(value).digest();
	const names = /SignedHeaders=([^,]+)/.exec(headers.authorization)[1], date = headers['x-amz-date'];
	const request = [method, target, '', ...names.split(';').map((name) => `${name}:${headers[name]}`), '', names, hash(text)].join('\n');
	const scope = `${date.slice(0, 8)}/${region}/bedrock-mantle/aws4_request`;
	const key = scope.split('/').reduce(hmac, `AWS4${secret}`);
	return { scope, signature: createHmac('sha256', key).update(['AWS4-HMAC-SHA256', date, scope, hash(request)].join('\n')).digest('hex') };
}

test('Amazon Bedrock: each attempt is signed with the access key of AWS, which is never sent', options, async (t) => {
	const requests = [];
	const server = http.createServer(async (request, response) => {
		let text = '';
		for await (const part of request) text += part;
		if (request.method === 'POST') requests.push({ method: request.method, path: request.url, headers: request.headers, text });
		response.writeHead(requests.length === 1 ? 500 : 403, { 'content-type': 'application/json' });
		response.end(JSON.stringify({ message: 'The token session-123456 of secret-123456 is wrong' }));
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	t.after(() => (server.closeAllConnections(), server.close()));
	const home = providerHome(t, `[model_providers.amazon-bedrock]
base_url = "http://127.0.0.1:${server.address().port}/v1"
request_max_retries = 1
stream_max_retries = 0`);
	const run = await codexExec(t, null, ['-c', 'model_provider=amazon-bedrock', '-m', 'some-model', 'hi'], { home,
		env: { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKID123', AWS_SECRET_ACCESS_KEY: 'secret-123456', AWS_SESSION_TOKEN: 'session-123456' } });
	assert.equal(run.code, 1);
	assert.equal(requests.length, 2);
	for (const request of requests) {
		const { scope, signature } = awsSignature(request, 'secret-123456', 'eu-west-1');
		assert.equal(request.headers.authorization, 'AWS4-HMAC-SHA256 ' +
			`Credential=AKID123/${scope}, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=${signature}`);
		assert.equal(request.headers['x-amz-security-token'], 'session-123456');
		assert.ok(!JSON.stringify(request).includes('secret-123456'));
	}
	assert.match(run.stderr, /403/);
	assert.doesNotMatch(run.stderr, /(session|secret)-123456/);
});

test('OpenAI: built in', options, async (t) => {
	const server = await startProvider(t);
	const run = await ask(t, '', {}, ['-c', 'model_provider=openai', '-c', `openai_base_url=${server.url}/v1`]);
	assert.equal(check(run, server, 'responses', '/v1').headers.authorization, 'Bearer sk-not-for-others');
});

// docs/config.md is made from the table of the keys.
test('the page names only keys that exist, and their defaults', () => {
	const config = fs.readFileSync(fileURLToPath(new URL('../../docs/config.md', import.meta.url)), 'utf8');
	const others = ['additional_tools', 'comp_hash', 'reasoning_content', 'client_metadata', 'http_proxy'];
	const names = new Set(Array.from(text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g), ([, name]) => name));
	const blocks = Array.from(text.matchAll(/```toml\n(.*?)```/gs), ([, block]) => block).join('\n');
	for (const [, name] of blocks.matchAll(/^([a-z_]+) = /gm)) names.add(name);
	assert.ok(names.size > 30, String(names.size));
	for (const name of names) assert.ok(others.includes(name) || config.includes(`| \`${name}\` |`), name);
	for (const [, name, value] of blocks.matchAll(/^([a-z_]+_ms) = (\d+)/gm)) assert.ok(config.includes(`| \`${name}\` | integer`) &&
		new RegExp(`\\| \`${name}\` \\|[^|]*\\| \`${value}\` \\|`).test(config), name);
});
