// Logins to MCP servers in use: stored tokens are sent, refreshed once for all processes, and reported when they end.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, makeHome, needs, reply, say, startModel } from './lib/codex.mjs';

const echo = (n) => ({ item: { type: 'function_call', call_id: `c${n}`, namespace: 'mcp__web', name: 'echo', arguments: '{}' } });
const json = (response, value, status = 200, headers = {}) =>
	response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const result = (id, value) => ({ jsonrpc: '2.0', id, result: value });

/** An MCP server that accepts the bearer tokens for which isValid(token, message) is true, and its token endpoint. */
async function serve(t, { isValid = () => true, onToken, refuse = (response) => response.writeHead(401).end(), onCall } = {}) {
	const seen = [], refreshes = [];
	const server = http.createServer((request, response) => {
		let body = '';
		request.on('data', (bytes) => (body += bytes));
		request.on('end', () => {
			if (request.url === '/token') {
				const form = new URLSearchParams(body);
				refreshes.push({ form, headers: request.headers });
				return onToken(response, form);
			}
			const message = body ? JSON.parse(body) : undefined;
			const token = request.headers.authorization?.replace('Bearer ', '');
			seen.push({ method: request.method, token, message, headers: request.headers });
			if (request.method !== 'POST') return response.writeHead(405).end();
			if (!isValid(token, message)) return refuse(response, message);
			if (message.id === undefined) return response.writeHead(202).end();
			if (message.method === 'initialize')
				return json(response, result(message.id, { protocolVersion: '2025-11-25', capabilities: { tools: {} },
					serverInfo: { name: 's', version: '1' } }));
			if (message.method === 'tools/list')
				return json(response, result(message.id, { tools: [{ name: 'echo', inputSchema: { type: 'object' },
					annotations: { readOnlyHint: true } }] }));
			return onCall ? onCall(response, message) : json(response, result(message.id, { content: [{ type: 'text', text: `as ${token}` }] }));
		});
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => { server.closeAllConnections(); server.close(); });
	return { url: `http://127.0.0.1:${server.address().port}`, seen, refreshes };
}

/** A home with this login; resolves to its paths and a reader of the stored login. */
async function homeWith(t, server, login, { steps = 1, more = '' } = {}) {
	const model = await startModel(t, [...Array.from({ length: steps }, (_, n) => reply(echo(n))), say('done')]);
	const home = makeHome(t, model, `[mcp_servers.web]\nurl = "${server.url}/mcp"\nrequired = true\n${more}`);
	const hash = createHash('sha256').update(`{"type":"http","url":"${server.url}/mcp","headers":{}}`).digest('hex').slice(0, 16);
	const file = path.join(home, '.credentials.json'), key = `web|${hash}`;
	if (login)
		fs.writeFileSync(file, JSON.stringify({ [key]: { server_name: 'web', server_url: `${server.url}/mcp`, client_id: 'client',
			token_endpoint: `${server.url}/token`, scopes: ['read'], ...login } }), { mode: 0o600 });
	return { model, home, stored: () => JSON.parse(fs.readFileSync(file, 'utf8'))[key] };
}

const go = (t, { model, home }) => codexExec(t, model, ['go'], { home });
const outputs = async ({ model }) => (await model.requests()).at(-1).body.input
	.filter(({ type }) => type === 'function_call_output').map(({ output }) => JSON.stringify(output));
const rotate = (response) => json(response, { access_token: 'new', token_type: 'Bearer', expires_in: 3600, refresh_token: 'next' });

test('the token of a login is sent with every request', needs('mcp'), async (t) => {
	const server = await serve(t, { isValid: (token) => token === 'good' });
	const place = await homeWith(t, server, { access_token: 'good', expires_at: Date.now() + 3600e3 });
	assert.equal((await go(t, place)).code, 0);
	assert.match((await outputs(place))[0], /as good/);
	assert.deepEqual(new Set(server.seen.map(({ token }) => token)), new Set(['good']));
	assert.equal(server.refreshes.length, 0);
});

test('an expired token is refreshed before it is sent, and the rotated one stored', needs('mcp'), async (t) => {
	const server = await serve(t, { isValid: (token) => token === 'new', onToken: rotate });
	const place = await homeWith(t, server, { access_token: 'old', refresh_token: 'first', expires_at: Date.now() - 1000 });
	assert.equal((await go(t, place)).code, 0);
	const { form } = server.refreshes[0];
	assert.deepEqual(Object.fromEntries(form), { grant_type: 'refresh_token', refresh_token: 'first', client_id: 'client', scope: 'read',
		resource: `${server.url}/mcp` });
	assert.equal(server.refreshes.length, 1);
	assert.ok(server.seen.every(({ token }) => token === 'new'), 'the old token was sent');
	const { access_token: token, refresh_token: next, expires_at: expires } = place.stored();
	assert.deepEqual([token, next], ['new', 'next']);
	assert.ok(expires > Date.now());
	assert.equal(fs.statSync(path.join(place.home, '.credentials.json')).mode & 0o777, 0o600);
});

test('a token that is refused during a session is refreshed once, and the call repeated', needs('mcp'), async (t) => {
	let isRevoked = false, calls = 0;
	const server = await serve(t, {
		isValid: (token, message) => {
			if (message.method === 'tools/call' && token === 'old') isRevoked = true;
			return token === 'new' || !isRevoked;
		},
		onToken: rotate,
		onCall: (response, message) => { calls++; json(response, result(message.id, { content: [{ type: 'text', text: 'fine' }] })); },
	});
	const place = await homeWith(t, server, { access_token: 'old', refresh_token: 'first', expires_at: Date.now() + 3600e3 }, { steps: 2 });
	assert.equal((await go(t, place)).code, 0);
	for (const output of await outputs(place)) assert.match(output, /fine/);
	assert.deepEqual([server.refreshes.length, calls], [1, 2]);
});

test('a refresh that is refused names the login', needs('mcp'), async (t) => {
	const server = await serve(t, { isValid: () => false, onToken: (response) => json(response, { error: 'invalid_grant' }, 400) });
	const place = await homeWith(t, server, { access_token: 'old', refresh_token: 'first', expires_at: Date.now() - 1000 });
	const { code, stderr } = await go(t, place);
	assert.equal(code, 1);
	assert.match(stderr, /The web MCP server is not logged in\. Run `codex mcp login web`\. \(.*invalid_grant/);
	assert.equal(server.seen.length, 0, 'an expired token was sent');
	assert.equal(server.refreshes.length, 1);
});

test('a refusal without a login names the login, and the server is not asked for ever', needs('mcp'), async (t) => {
	const server = await serve(t, { isValid: () => false });
	const { code, stderr } = await go(t, await homeWith(t, server));
	assert.equal(code, 1);
	assert.match(stderr, /The web MCP server is not logged in\. Run `codex mcp login web`\./);
	assert.ok(server.seen.length <= 2, `${server.seen.length} requests`);
});

test('a token that every refresh replaces and the server still refuses ends the start', needs('mcp'), async (t) => {
	let count = 0;
	const server = await serve(t, { isValid: () => false,
		onToken: (response) => json(response, { access_token: `t${++count}`, token_type: 'Bearer', refresh_token: 'r' }) });
	const { code, stderr } = await go(t, await homeWith(t, server, { access_token: 'old', refresh_token: 'r' }));
	assert.equal(code, 1);
	assert.match(stderr, /codex mcp login web/);
	assert.equal(count, 1);
});

test('a missing scope names the login that adds it, and fails its call only', needs('mcp'), async (t) => {
	const server = await serve(t, {
		isValid: (token, message) => message.method !== 'tools/call',
		refuse: (response) => response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="write read"' }).end(),
	});
	const place = await homeWith(t, server, { access_token: 'good', refresh_token: 'r' });
	assert.equal((await go(t, place)).code, 0);
	assert.match((await outputs(place))[0], /lacks a permission\. Run `codex mcp login web --scopes read,write`/);
	assert.equal(server.refreshes.length, 0);
});

test('processes that share a home refresh an expired token once', needs('mcp'), async (t) => {
	let valid = 'first';
	const server = await serve(t, { isValid: (token) => token === 'new',
		onToken: (response, form) => {
			if (form.get('refresh_token') !== valid) return json(response, { error: 'invalid_grant' }, 400);
			valid = 'next';
			setTimeout(() => rotate(response), 300); // the others meet the lock
		} });
	const place = await homeWith(t, server, { access_token: 'old', refresh_token: 'first', expires_at: Date.now() - 1000 }, { steps: 0 });
	const models = await Promise.all([1, 2, 3].map(() => startModel(t, [say('done')])));
	const runs = await Promise.all(models.map((model) => codexExec(t, model,
		['-c', `model_providers.mock.base_url="${model.url}/v1"`, 'go'], { home: place.home })));
	assert.deepEqual(runs.map(({ code, stderr }) => code || stderr.includes('not logged in')), [false, false, false]);
	assert.equal(server.refreshes.length, 1);
});

test('a token endpoint without TLS gets no refresh token', needs('mcp'), async (t) => {
	const server = await serve(t, { isValid: () => false });
	const place = await homeWith(t, server, { access_token: 'old', refresh_token: 'secret', expires_at: 1, token_endpoint: 'http://192.0.2.1/token' });
	const { code, stderr } = await go(t, place);
	assert.equal(code, 1);
	assert.match(stderr, /is not https/);
	assert.doesNotMatch(stderr, /secret/);
});

test('http_headers_helper prints the headers, again when they are refused', needs('mcp'), async (t) => {
	const server = await serve(t, { isValid: (token, message) => token === '2' || message.method !== 'tools/call' });
	const place = await homeWith(t, server, undefined, { more: `http_headers_helper = '''
n=$(cat "$CODEX_HOME/n" 2>/dev/null || echo 0); n=$((n + 1)); echo $n >"$CODEX_HOME/n"
echo "{\\"Authorization\\": \\"Bearer $n\\", \\"X-More\\": \\"yes\\"}"'''\n` });
	assert.equal((await go(t, place)).code, 0);
	assert.match((await outputs(place))[0], /as 2/);
	assert.ok(server.seen.every(({ headers }) => headers['x-more'] === 'yes'));
});

for (const [name, command, reason] of [
	['that fails', 'exit 3', /http_headers_helper exited with status 3/],
	['that prints no JSON', 'echo nothing', /did not print a JSON object/],
	['that prints numbers', `echo '{"A": 1}'`, /something else than texts/],
	['that injects a header', `printf %s '{"A": "b\\r\\nEvil: 1"}'`, /something else than texts/],
	['that floods', 'yes | head -c 1000000', /at most 64 KiB/],
])
	test(`a helper ${name} fails the start`, needs('mcp'), async (t) => {
		const server = await serve(t);
		const { code, stderr } = await go(t, await homeWith(t, server, undefined, { more: `http_headers_helper = '''${command}'''\n` }));
		assert.equal(code, 1);
		assert.match(stderr, reason);
		assert.equal(server.seen.length, 0);
	});
