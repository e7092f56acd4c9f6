// `codex mcp login` and `logout` against scripted authorization servers, honest and lying.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { cleanEnv, codexBin, launch, needs, tempDir, waitFor } from './lib/codex.mjs';

const sha256 = (text) => createHash('sha256').update(text).digest();

/** A server with routes {'GET /path': (request, response, body, base) => …}. */
async function serve(t, routes) {
	const seen = [];
	const server = http.createServer((request, response) => {
		let body = '';
		request.on('data', (bytes) => (body += bytes));
		request.on('end', () => {
			const at = `${request.method} ${request.url.split('?')[0]}`;
			seen.push({ at, headers: request.headers, body });
			const answer = routes[at];
			if (!answer) return response.writeHead(404).end();
			return answer(request, response, body, url);
		});
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = `http://127.0.0.1:${server.address().port}`;
	t.after(() => { server.closeAllConnections(); server.close(); });
	return { url, seen, ats: () => seen.map(({ at }) => at) };
}

const json = (response, value, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** Routes of an honest server; `more` overrides. */
const honest = (more = {}) => ({
	'GET /mcp': (request, response, body, url) => response.writeHead(401, { 'www-authenticate':
		`Basic realm="a, b", Bearer error="invalid_token", resource_metadata="${url}/prm", scope="read write"` }).end(),
	'GET /prm': (request, response, body, url) => json(response,
		{ resource: `${url}/mcp`, authorization_servers: [`${url}/as`], scopes_supported: ['all'] }),
	'GET /.well-known/oauth-authorization-server/as': (request, response, body, url) => json(response, { issuer: `${url}/as`,
		authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`, registration_endpoint: `${url}/register`,
		code_challenge_methods_supported: ['S256'] }),
	'POST /register': (request, response, body) => json(response, { ...JSON.parse(body), client_id: 'client-1' }, 201),
	'POST /token': (request, response) => json(response,
		{ access_token: 'secret-access', token_type: 'Bearer', expires_in: 3600, refresh_token: 'secret-refresh' }),
	...more,
});

function place(t, url, more = '') {
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'), `[mcp_servers.web]\nurl = "${url}/mcp"\n${more}[mcp_servers.local]\ncommand = "c"\n`);
	const start = (...args) => launch(t, codexBin, args, { env: cleanEnv(home), cwd: home });
	return { home, start, file: path.join(home, '.credentials.json') };
}

/** Starts a login and resolves to the URL for the browser. */
async function begin(t, { start }, ...args) {
	const run = start('mcp', 'login', 'web', '--no-browser', ...args);
	const line = await waitFor(run.child.stdout, () => run.result.stdout, (text) => /^(http\S+)\n/m.exec(text));
	return { ...run, asked: new URL(line[1]) };
}

const redirect = ({ asked }, params) =>
	fetch(`${asked.searchParams.get('redirect_uri')}?${new URLSearchParams({ state: asked.searchParams.get('state'), ...params })}`);

test('a login finds the server, registers, and stores tokens that are never printed', needs('mcp'), async (t) => {
	const server = await serve(t, honest());
	const where = place(t, server.url);
	const run = await begin(t, where);
	const { searchParams: asked } = run.asked;
	const id = sha256(`${server.url}/mcp`).toString('base64url').slice(0, 12);
	assert.match(asked.get('redirect_uri'), new RegExp(`^http://127\\.0\\.0\\.1:\\d+/callback/${id}$`));
	assert.deepEqual(['response_type', 'client_id', 'scope', 'resource', 'code_challenge_method'].map((name) => asked.get(name)),
		['code', 'client-1', 'read write', `${server.url}/mcp`, 'S256']);
	assert.match(asked.get('state'), /^[\w-]{22,}$/);
	const page = await redirect(run, { code: 'the code' });
	assert.match(await page.text(), /Authentication complete.*You may close this window/);
	const { code, stdout, stderr } = await run.done;
	assert.equal(code, 0);
	assert.match(stdout, /^Authorize `web` by opening this URL in your browser:\nhttp.*\nSuccessfully logged in to MCP server 'web'\.\n$/);
	assert.doesNotMatch(stdout + stderr, /secret-/);
	const form = new URLSearchParams(server.seen.find(({ at }) => at === 'POST /token').body);
	assert.deepEqual(['grant_type', 'code', 'client_id', 'resource', 'redirect_uri'].map((name) => form.get(name)),
		['authorization_code', 'the code', 'client-1', `${server.url}/mcp`, asked.get('redirect_uri')]);
	assert.equal(sha256(form.get('code_verifier')).toString('base64url'), asked.get('code_challenge'));
	const registration = JSON.parse(server.seen.find(({ at }) => at === 'POST /register').body);
	assert.deepEqual([registration.client_name, registration.application_type, registration.token_endpoint_auth_method],
		['Codex', 'native', 'none']);
	const key = `web|${sha256(`{"type":"http","url":"${server.url}/mcp","headers":{}}`).toString('hex').slice(0, 16)}`;
	const { [key]: stored } = JSON.parse(fs.readFileSync(where.file, 'utf8'));
	assert.deepEqual([stored.server_name, stored.client_id, stored.access_token, stored.refresh_token, stored.scopes],
		['web', 'client-1', 'secret-access', 'secret-refresh', ['read', 'write']]);
	assert.ok(stored.expires_at > Date.now());
	assert.equal(fs.statSync(where.file).mode & 0o777, 0o600);
	const list = async () => JSON.parse((await where.start('mcp', 'list', '--json').done).stdout).map((one) => one.auth_status);
	assert.deepEqual(await list(), ['unsupported', 'o_auth']);

	assert.equal((await where.start('mcp', 'logout', 'web').done).stdout, "Removed OAuth credentials for 'web'.\n");
	assert.equal(fs.existsSync(where.file), false);
	assert.deepEqual(await list(), ['unsupported', 'unknown']);
	const again = await where.start('mcp', 'logout', 'web').done;
	assert.deepEqual([again.code, again.stdout], [0, "No OAuth credentials stored for 'web'.\n"]);
});

test('mcp add starts the login that a server offers', needs('mcp'), async (t) => {
	const server = await serve(t, honest());
	const where = place(t, 'http://127.0.0.1:9');
	const run = where.start('mcp', 'add', 'new', '--url', `${server.url}/mcp`);
	const line = await waitFor(run.child.stdout, () => run.result.stdout, (text) => /^(http\S+)\n/m.exec(text));
	await redirect({ asked: new URL(line[1]) }, { code: 'the code' });
	const { code, stdout } = await run.done;
	assert.equal(code, 0);
	assert.match(stdout, /^Added global MCP server 'new'\.\nDetected OAuth support\. Starting OAuth flow…\nAuthorize `new` by /);
	assert.match(stdout, /\nSuccessfully logged in to MCP server 'new'\.\n$/);
	assert.equal(Object.values(JSON.parse(fs.readFileSync(where.file, 'utf8')))[0].server_name, 'new');
});

test('mcp add says why it starts no login', needs('mcp'), async (t) => {
	const server = await serve(t, {});
	const where = place(t, 'http://127.0.0.1:9');
	const { code, stdout, stderr } = await where.start('mcp', 'add', 'new', '--url', `${server.url}/mcp`).done;
	assert.deepEqual([code, stdout], [0, "Added global MCP server 'new'.\n"]);
	assert.match(stderr, /^No login was started: .+\. If the server needs one, run `codex mcp login new`\.\n$/);
	const asked = server.seen.length;
	await where.start('mcp', 'add', 'new', '--url', `${server.url}/mcp`, '--bearer-token-env-var', 'TOKEN').done;
	assert.equal(server.seen.length, asked, 'a server with a token is not asked');
});

test('a server that challenges POST only is found, and scopes of the user count', needs('mcp'), async (t) => {
	const routes = honest();
	const server = await serve(t, { ...routes, 'GET /mcp': undefined, 'POST /mcp': routes['GET /mcp'] });
	const run = await begin(t, place(t, server.url), '--scopes', 'a,b');
	assert.equal(run.asked.searchParams.get('scope'), 'a b');
	await redirect(run, { code: 'c' });
	assert.equal((await run.done).code, 0);
});

test('a server without any metadata has endpoints at its origin', needs('mcp'), async (t) => {
	const { 'GET /prm': prm, 'GET /.well-known/oauth-authorization-server/as': as, ...rest } = honest();
	const server = await serve(t, rest);
	const run = await begin(t, place(t, server.url));
	assert.equal(run.asked.pathname, '/authorize');
	await redirect(run, { code: 'c' });
	assert.equal((await run.done).code, 0);
});

test('a registered client is used with its secret, and nothing is registered', needs('mcp'), async (t) => {
	const server = await serve(t, honest());
	const run = await begin(t, place(t, server.url, 'oauth = { client_id = "mine", client_secret = "se:cret" }\nscopes = ["one"]\n'));
	assert.equal(run.asked.searchParams.get('client_id'), 'mine');
	assert.equal(run.asked.searchParams.get('scope'), 'one');
	await redirect(run, { code: 'c' });
	assert.equal((await run.done).code, 0);
	const { headers, body } = server.seen.find(({ at }) => at === 'POST /token');
	assert.equal(headers.authorization, `Basic ${Buffer.from('mine:se%3Acret').toString('base64')}`);
	assert.doesNotMatch(body, /cret/);
	assert.ok(!server.ats().includes('POST /register'));
});

/** A port that nothing listens on. */
async function freePort() {
	const server = http.createServer();
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address();
	await new Promise((resolve) => server.close(resolve));
	return port;
}

test('the redirect is mcp_oauth_callback_url, or the callback_url of the server, on their ports', needs('mcp'), async (t) => {
	const server = await serve(t, honest());
	const [port, own] = [await freePort(), await freePort()];
	const keys = ['-c', 'mcp_oauth_callback_url="https://relay.example/back"', '-c', `mcp_oauth_callback_port=${port}`];
	for (const [more, url, at] of [['', 'https://relay.example/back', `${port}/back`],
		[`oauth = { callback_url = "https://own.example/mine", callback_port = ${own} }\n`, 'https://own.example/mine', `${own}/mine`]]) {
		const run = await begin(t, place(t, server.url, more), ...keys);
		assert.equal(run.asked.searchParams.get('redirect_uri'), url);
		const answer = await fetch(`http://127.0.0.1:${at}?${new URLSearchParams({ state: run.asked.searchParams.get('state'), code: 'c' })}`);
		assert.equal(answer.status, 200);
		assert.equal((await run.done).code, 0);
		assert.equal(new URLSearchParams(server.seen.findLast((it) => it.at === 'POST /token').body).get('redirect_uri'), url);
	}
});

test('authorization_server_issuer chooses one of the authorization servers, or none', needs('mcp'), async (t) => {
	const server = await serve(t, honest({ 'GET /prm': (request, response, body, url) => json(response,
		{ resource: `${url}/mcp`, authorization_servers: [`${url}/as`, `${url}/second`] }),
	'GET /.well-known/oauth-authorization-server/second': (request, response, body, url) => json(response, { issuer: `${url}/second`,
		authorization_endpoint: `${url}/authorize2`, token_endpoint: `${url}/token`, registration_endpoint: `${url}/register`,
		code_challenge_methods_supported: ['S256'] }) }));
	const chosen = (issuer) => place(t, server.url, `oauth = { authorization_server_issuer = "${server.url}/${issuer}" }\n`);
	const run = await begin(t, chosen('second'));
	assert.equal(run.asked.pathname, '/authorize2');
	await redirect(run, { code: 'c' });
	assert.equal((await run.done).code, 0);
	const { code, stderr } = await chosen('third').start('mcp', 'login', 'web', '--no-browser').done;
	assert.equal(code, 1);
	assert.match(stderr, /third/);
});

for (const [name, params, reason] of [
	['a refusal', { error: 'access_denied', error_description: 'no' }, /access_denied: no/],
	['a foreign issuer', { code: 'c', iss: 'https://evil.example' }, /another authorization server/],
	['a redirect without a code', {}, /neither a code nor an error/],
])
	test(`${name} ends the login without a token request`, needs('mcp'), async (t) => {
		const server = await serve(t, honest());
		const where = place(t, server.url);
		const run = await begin(t, where);
		assert.match(await (await redirect(run, params)).text(), /The login has failed/);
		const { code, stderr } = await run.done;
		assert.equal(code, 1);
		assert.match(stderr, reason);
		assert.ok(!server.ats().includes('POST /token'));
		assert.equal(fs.existsSync(where.file), false);
	});

test('the callback answers its own path and hosts of this machine only', needs('mcp'), async (t) => {
	const server = await serve(t, honest());
	const run = await begin(t, place(t, server.url));
	const { port, pathname } = new URL(run.asked.searchParams.get('redirect_uri'));
	const ask = (options) => new Promise((resolve) => http.request({ host: '127.0.0.1', port, ...options },
		(response) => { response.resume(); resolve(response.statusCode); }).end());
	const query = `?state=${run.asked.searchParams.get('state')}&code=c`;
	assert.equal(await ask({ path: `/other${query}` }), 404);
	assert.equal(await ask({ path: pathname + query, method: 'POST' }), 405);
	assert.equal(await ask({ path: pathname + query, headers: { host: 'evil.example' } }), 400);
	assert.equal(await ask({ path: `${pathname}?state=x&code=c` }), 400, 'a foreign state does not end the login');
	assert.equal(await ask({ path: pathname + query }), 200);
	assert.equal((await run.done).code, 0);
});

const metadata = (change) => ({ 'GET /.well-known/oauth-authorization-server/as': (request, response, body, url) =>
	json(response, { issuer: `${url}/as`, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token`,
		registration_endpoint: `${url}/register`, ...change(url) }) });

for (const [name, routes, reason] of [
	['metadata of another resource', { 'GET /prm': (request, response) => json(response,
		{ resource: 'https://other.example/mcp', authorization_servers: [] }) }, /another resource/],
	['metadata of another issuer', metadata(() => ({ issuer: 'https://evil.example' })), /another issuer/],
	['a token endpoint without TLS', metadata(() => ({ token_endpoint: 'http://evil.example/token' })), /is not https/],
	['no token endpoint', metadata(() => ({ token_endpoint: 7 })), /lacks token_endpoint/],
	['no S256', metadata(() => ({ code_challenge_methods_supported: ['plain'] })), /PKCE/],
	['no registration', metadata(() => ({ registration_endpoint: null })), /Registration failed: Dynamic registration failed/],
	['a registration without an id', { 'POST /register': (request, response) => json(response, {}) }, /no client_id/],
	['a registration that fails', { 'POST /register': (request, response) => json(response, {}, 403) }, /Registration failed.*HTTP 403/],
])
	test(`${name} is refused before the browser is opened`, needs('mcp'), async (t) => {
		const server = await serve(t, honest(routes));
		const { code, stderr, stdout } = await place(t, server.url).start('mcp', 'login', 'web', '--no-browser').done;
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.match(stderr, reason);
	});

for (const [name, answer, reason] of [
	['a refused code', (request, response) => json(response, { error: 'invalid_grant', error_description: 'used' }, 400), /HTTP 400: invalid_grant: used/],
	['a token of another type', (request, response) => json(response, { access_token: 'x', token_type: 'mac' }), /no bearer token/],
	['a token with a line break', (request, response) => json(response, { access_token: 'x\r\nEvil: 1', token_type: 'Bearer' }), /no bearer token/],
	['an answer without a token', (request, response) => response.end('<html>'), /no bearer token/],
])
	test(`${name} fails the login`, needs('mcp'), async (t) => {
		const where = place(t, (await serve(t, honest({ 'POST /token': answer }))).url);
		const run = await begin(t, where);
		await redirect(run, { code: 'c' });
		const { code, stderr } = await run.done;
		assert.equal(code, 1);
		assert.match(stderr, reason);
		assert.equal(fs.existsSync(where.file), false);
	});

test('servers of this machine and unknown ones have no login', needs('mcp'), async (t) => {
	const { start } = place(t, 'http://127.0.0.1:1');
	const local = await start('mcp', 'login', 'local').done;
	assert.deepEqual([local.code, local.stderr], [1, 'Error: OAuth login is only supported for streamable HTTP servers.\n']);
	const unknown = await start('mcp', 'login', 'x').done;
	assert.deepEqual([unknown.code, unknown.stderr], [1, "Error: No MCP server named 'x' found.\n"]);
});

test('--oauth-client-registration chooses the client', needs('mcp'), async (t) => {
	const { url, ats } = await serve(t, honest());
	const document = 'https://client.example/codex.json';
	const own = (id) => `[mcp_servers.web.oauth]\nclient_id = "${id}"\n`;
	for (const [way, more, id, registers] of [['auto', own('mine'), 'mine', 0], ['dcr', own('mine'), 'client-1', 1],
		['dcr', '', 'client-1', 1], ['cimd', own(document), document, 0]]) {
		const before = ats().filter((at) => at === 'POST /register').length;
		const run = await begin(t, place(t, url, more), '--oauth-client-registration', way);
		assert.equal(run.asked.searchParams.get('client_id'), id, way);
		assert.equal(ats().filter((at) => at === 'POST /register').length - before, registers, way);
		await redirect(run, { code: 'c' });
		assert.equal((await run.done).code, 0);
	}
	for (const more of ['', own('mine'), own('http://client.example/codex.json')]) {
		const { code, stderr } = await place(t, url, more).start('mcp', 'login', 'web', '--oauth-client-registration', 'cimd').done;
		assert.equal(code, 1);
		assert.match(stderr, /set client_id in \[mcp_servers\.web\.oauth\] to its https:\/\/ URL/);
	}
	const wrong = await place(t, url).start('mcp', 'login', 'web', '--oauth-client-registration', 'other').done;
	assert.equal(wrong.code, 2);
	assert.match(wrong.stderr, /expected auto, cimd or dcr/);
});

test('a login that must be stored in a keyring is refused, and names the file', needs('mcp'), async (t) => {
	const { url, seen } = await serve(t, honest());
	const { code, stderr } = await place(t, url).start('mcp', 'login', 'web', '-c', 'mcp_oauth_credentials_store="keyring"').done;
	assert.equal(code, 1);
	assert.match(stderr, /not stored in a keyring: set mcp_oauth_credentials_store to "file" to store logins in \.credentials\.json/);
	assert.equal(seen.length, 0, 'the server is not asked');
});

/** Routes of an MCP server that accepts the token of the login. */
const withTools = () => ({ ...honest(), 'POST /mcp': (request, response, body, url) => {
	const message = JSON.parse(body);
	if (request.headers.authorization !== 'Bearer secret-access')
		return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${url}/prm"` }).end();
	if (message.id === undefined) return response.writeHead(202).end();
	return json(response, { jsonrpc: '2.0', id: message.id, result: message.method === 'initialize'
		? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
		: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
} });

/** An app-server with `web` of this server; resolves to it and its home. */
async function serveApp(t, url) {
	const config = `[mcp_servers.web]\nurl = "${url}/mcp"\n[mcp_servers.local]\ncommand = "c"\nenabled = false\n`;
	const server = await startAppServer(t, undefined, { config });
	const status = async () => (await server.request('mcpServerStatus/list', { serverName: 'web' })).data
		.map(({ authStatus, tools }) => [authStatus, Object.keys(tools)]);
	return { ...server, status };
}

test('a client of the app-server starts a login, hears of its end, and the server is used', needs('app-server'), async (t) => {
	const { url } = await serve(t, withTools());
	const server = await serveApp(t, url);
	const { thread } = await server.request('thread/start', {});
	const started = (status) => server.take(({ method, params }) => method === 'mcpServer/startupStatus/updated' && params.status === status, status);
	assert.equal((await started('failed')).params.failureReason, 'reauthenticationRequired');
	assert.deepEqual(await server.status(), [['notLoggedIn', []]]);
	const { authorizationUrl, loginId } = await server.request('mcpServer/oauth/login', { name: 'web', threadId: thread.id, scopes: ['a', 'b'] });
	const asked = new URL(authorizationUrl);
	assert.equal(asked.searchParams.get('scope'), 'a b');
	await redirect({ asked }, { code: 'c' });
	const { params } = await server.next('mcpServer/oauthLogin/completed');
	assert.deepEqual(params, { name: 'web', threadId: thread.id, loginId, success: true, error: null });
	await started('ready');
	assert.deepEqual(await server.status(), [['oAuth', ['echo']]]);
	assert.equal((await server.end()).code, 0);
});

test('logins of the app-server that fail are reported, and open ones end with it', needs('app-server'), async (t) => {
	const { url } = await serve(t, withTools());
	const server = await serveApp(t, url);
	for (const [params, code, message] of [
		[{ name: 'x' }, -32600, /^No MCP server named 'x' found\.$/],
		[{ name: 'local' }, -32600, /^OAuth login is only supported for streamable HTTP servers\.$/],
		[{ name: 'web', threadId: '00000000-0000-7000-8000-000000000000' }, -32600, /thread not found/],
	])
		await assert.rejects(server.request('mcpServer/oauth/login', params), (error) => error.code === code && message.test(error.message));
	const first = await server.request('mcpServer/oauth/login', { name: 'web' });
	await redirect({ asked: new URL(first.authorizationUrl) }, { error: 'access_denied' });
	const { params } = await server.next('mcpServer/oauthLogin/completed');
	assert.deepEqual(params, { name: 'web', threadId: null, loginId: first.loginId, success: false, error: 'access_denied' });
	await server.request('mcpServer/oauth/login', { name: 'web', timeoutSecs: 1 });
	assert.match((await server.next('mcpServer/oauthLogin/completed')).params.error, /timed out/);
	await server.request('mcpServer/oauth/login', { name: 'web' });
	assert.equal((await server.end()).code, 0);
});

test('a login whose server has lying metadata fails the request', needs('app-server'), async (t) => {
	const { url } = await serve(t, honest(metadata(() => ({ issuer: 'https://evil.example' }))));
	const server = await serveApp(t, url);
	await assert.rejects(server.request('mcpServer/oauth/login', { name: 'web' }), /another issuer/);
});

for (const [name, routes, reason] of [
	['metadata that never ends', { 'GET /prm': (request, response) => {
		response.writeHead(200, { 'content-type': 'application/json' });
		const more = () => { while (response.write('x'.repeat(65536))); response.once('drain', more); };
		more();
	} }, null],
	['metadata that redirects', { 'GET /prm': (request, response, body, url) => response.writeHead(302, { location: `${url}/elsewhere` }).end(),
		'GET /elsewhere': (request, response) => assert.fail('followed') }, null],
	['a token endpoint that redirects', {
		'POST /token': (request, response, body, url) => response.writeHead(307, { location: `${url}/elsewhere` }).end(),
		'POST /elsewhere': (request, response) => json(response, { access_token: 'stolen', token_type: 'Bearer' }) }, /HTTP 307/],
	['an oversized token answer', { 'POST /token': (request, response) =>
		json(response, { access_token: 'x'.repeat(2e6), token_type: 'Bearer' }) }, /longer than/],
])
	test(`${name} is not believed`, needs('mcp'), async (t) => {
		const server = await serve(t, honest(routes));
		const where = place(t, server.url);
		const run = await begin(t, where);
		if (!reason) {
			assert.equal(run.asked.pathname, '/authorize', 'the next place is tried');
			assert.ok(!server.ats().some((at) => at.includes('/elsewhere')));
			return;
		}
		await redirect(run, { code: 'c' });
		const { code, stderr } = await run.done;
		assert.equal(code, 1);
		assert.match(stderr, reason);
		assert.ok(!server.ats().some((at) => at.includes('/elsewhere')));
		assert.equal(fs.existsSync(where.file), false);
	});
