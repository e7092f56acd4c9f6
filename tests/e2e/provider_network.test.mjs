// The way to a provider: TLS with own CAs and client certificates, proxies, headers and parameters, a connection ahead of time.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { makeCertificates, serverOptions } from './lib/certificates.mjs';
import { codexExec, needs, runCodex, tempDir } from './lib/codex.mjs';
import { providerHome, startProvider } from './lib/provider.mjs';
import { startProxy } from './lib/proxy.mjs';

const options = needs('exec');

function ask(t, server, keys = '', { env, top, ...rest } = {}) {
	return codexExec(t, null, ['hi'], { home: providerHome(t, `base_url = "${server.url}/v1"\n${keys}`, top), env, ...rest });
}
const succeeded = (run) => assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);

// --- certificates of the server -------------------------------------------------------------------------------------

test('a private CA is trusted by CODEX_CA_CERTIFICATE, else by SSL_CERT_FILE', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files) });
	succeeded(await ask(t, server, '', { env: { CODEX_CA_CERTIFICATE: files.ca } }));
	succeeded(await ask(t, server, '', { env: { SSL_CERT_FILE: files.ca } }));
	succeeded(await ask(t, server, '', { env: { CODEX_CA_CERTIFICATE: files.ca, SSL_CERT_FILE: '/nonexistent' } }));
	assert.ok(server.requests.every((request) => request.version === '1.1'));
});

test('a certificate that is not trusted is final, and nothing is sent', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files) });
	const retries = '-c model_providers.own.request_max_retries=4 -c model_providers.own.stream_max_retries=4'.split(' ');
	const run = await codexExec(t, null, [...retries, 'hi'], { home: providerHome(t, `base_url = "${server.url}/v1"`) });
	assert.equal(run.code, 1);
	assert.match(run.stderr, /certificate of 127\.0\.0\.1:\d+ is not trusted.*CODEX_CA_CERTIFICATE/);
	assert.equal(server.connections.length, 1);
	assert.deepEqual(server.requests, []);
});

test('a CA file that cannot be read is named', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files) });
	const run = await ask(t, server, '', { env: { CODEX_CA_CERTIFICATE: '/nonexistent/ca.pem' } });
	assert.equal(run.code, 1);
	assert.match(run.stderr, /cannot read the CA file \/nonexistent\/ca\.pem/);
});

// --- certificates of the client -------------------------------------------------------------------------------------

test('a client certificate identifies the client, its key in the same file or another', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files, true) });
	const env = { CODEX_CA_CERTIFICATE: files.ca };
	succeeded(await ask(t, server, `client_certificate = "${files.clientCert}"\nclient_key = "${files.clientKey}"`, { env }));
	succeeded(await ask(t, server, `client_certificate = "${files.clientBoth}"`, { env }));
	assert.deepEqual(server.requests.map((request) => request.client), ['the client', 'the client']);
	const without = await ask(t, server, '', { env });
	assert.equal(without.code, 1);
	assert.equal(server.requests.length, 2);
});

test('a client certificate that cannot be used is named, without a question for its passphrase', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files, true) });
	const env = { CODEX_CA_CERTIFICATE: files.ca };
	const rows = [
		[`client_certificate = "/nonexistent/c.pem"`, /client certificate for 127\.0\.0\.1:\d+ cannot be used: .*\/nonexistent\/c\.pem/],
		[`client_certificate = "${files.clientCert}"\nclient_key = "/nonexistent/k.pem"`, /cannot be used: .*\/nonexistent\/k\.pem/],
		[`client_certificate = "${files.clientCert}"\nclient_key = "${files.lockedKey}"`, /cannot be used: .*locked\.key/],
		[`client_certificate = "${files.clientCert}"\nclient_key = "${files.otherKey}"`, /cannot be used/],
		[`client_key = "${files.clientKey}"`, /model_providers\.own: client_key requires client_certificate/],
	];
	for (const [keys, message] of rows) {
		const run = await ask(t, server, keys, { env });
		assert.equal(run.code, 1);
		assert.match(run.stderr, message);
	}
	assert.deepEqual(server.requests, []);
});

test('HTTP/2 is used where the server offers it', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files), http2: true });
	succeeded(await ask(t, server, '', { env: { CODEX_CA_CERTIFICATE: files.ca } }));
	assert.equal(server.requests[0].version, '2.0');
});

// --- proxies --------------------------------------------------------------------------------------------------------

test('HTTPS_PROXY is asked for a tunnel, with its credentials, and does not see the key', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files) });
	const proxy = await startProxy(t, 'me:p@ss word');
	const env = { CODEX_CA_CERTIFICATE: files.ca, HTTPS_PROXY: proxy.url('me:p%40ss%20word@') };
	succeeded(await ask(t, server, 'experimental_bearer_token = "the-inner-key"', { env }));
	assert.deepEqual(proxy.seen.map(({ method, url, inner }) => [method, url, inner]), [['CONNECT', `127.0.0.1:${server.port}`, undefined]]);
	assert.equal(server.requests[0].headers.authorization, 'Bearer the-inner-key');
	assert.equal(server.requests[0].headers['proxy-authorization'], undefined);
});

test('http_proxy is used for http, and NO_PROXY excludes a host', options, async (t) => {
	const server = await startProvider(t), proxy = await startProxy(t);
	succeeded(await ask(t, server, '', { env: { http_proxy: proxy.url() } }));
	assert.deepEqual(proxy.seen.map(({ method, url }) => [method, url]), [['POST', `${server.url}/v1/responses`]]);
	succeeded(await ask(t, server, '', { env: { http_proxy: proxy.url(), NO_PROXY: '127.0.0.1' } }));
	assert.equal(proxy.seen.length, 1);
});

test('a proxy that refuses is named, and its password is not', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files) });
	const proxy = await startProxy(t, 'me:right');
	const env = { CODEX_CA_CERTIFICATE: files.ca, HTTPS_PROXY: proxy.url('me:wrong-password@') };
	const run = await ask(t, server, '', { env });
	assert.equal(run.code, 1);
	assert.match(run.stderr, /407/);
	assert.ok(!run.stderr.includes('wrong-password'), run.stderr);
	const gone = await ask(t, server, '', { env: { ...env, HTTPS_PROXY: 'http://me:wrong-password@127.0.0.1:1' } });
	assert.match(gone.stderr, /check the proxy settings of the environment/);
	assert.ok(!gone.stderr.includes('wrong-password'), gone.stderr);
	assert.deepEqual(server.requests, []);
});

// --- headers and parameters -----------------------------------------------------------------------------------------

test('Azure: the key in a header of its own, the version in the query', options, async (t) => {
	const server = await startProvider(t);
	const keys = 'query_params = { "api-version" = "2025-04-01 preview&x" }\nenv_http_headers = { "api-key" = "AZURE_KEY", "x-gone" = "UNSET" }\n'
		+ 'http_headers = { "x-fixed" = "yes" }';
	succeeded(await ask(t, server, keys, { env: { AZURE_KEY: 'azure-secret', OPENAI_API_KEY: 'sk-other' } }));
	const [{ target, query, headers }] = server.requests;
	assert.equal(target, '/v1/responses?api-version=2025-04-01%20preview%26x');
	assert.deepEqual(query, { 'api-version': '2025-04-01 preview&x' });
	assert.equal(headers['api-key'], 'azure-secret');
	assert.equal(headers['x-fixed'], 'yes');
	assert.equal(headers.authorization, undefined);
	assert.ok(!('x-gone' in headers));
});

test('a header that cannot be sent is an error that does not show its value', options, async (t) => {
	const server = await startProvider(t);
	const run = await ask(t, server, 'env_http_headers = { "api-key" = "KEY" }', { env: { KEY: 'secret-a\nb' } });
	assert.equal(run.code, 1);
	assert.match(run.stderr, /header `api-key`.*cannot be sent/);
	assert.ok(!run.stderr.includes('secret-a'));
	assert.deepEqual(server.requests, []);
});

// --- the first connection -------------------------------------------------------------------------------------------

/** Asks with a token that is there only after the server has a connection; onConnection(socket, done) reports that it has. */
async function askAfterConnection(t, server, { env, secure = false, onConnection = (socket, done) => done() } = {}) {
	const mark = path.join(tempDir(t), 'connected');
	server.server.once(secure ? 'secureConnection' : 'connection', (socket) => onConnection(socket, () => fs.writeFileSync(mark, '')));
	const script = `while [ ! -e ${mark} ]; do sleep 0.02; done; echo tok`;
	return ask(t, server, `[model_providers.own.auth]\ncommand = "sh"\ntimeout_ms = 30000\nargs = ["-c", "${script}"]`, { env });
}

for (const [name, is2] of [['TLS', false], ['HTTP/2', true], ['plain HTTP', null]]) {
	test(`the first request finds its connection open (${name})`, options, async (t) => {
		const files = is2 === null ? {} : makeCertificates(t);
		const server = await startProvider(t, is2 === null ? {} : { tls: serverOptions(files), http2: is2 });
		const run = await askAfterConnection(t, server, { env: { CODEX_CA_CERTIFICATE: files.ca ?? '' }, secure: is2 !== null });
		succeeded(run);
		assert.equal(server.connections.length, 1);
		assert.equal(server.requests.length, 1);
	});
}

test('the connection is opened through the proxy', options, async (t) => {
	const files = makeCertificates(t), server = await startProvider(t, { tls: serverOptions(files) }), proxy = await startProxy(t);
	succeeded(await askAfterConnection(t, server, { env: { CODEX_CA_CERTIFICATE: files.ca, HTTPS_PROXY: proxy.url() }, secure: true }));
	assert.equal(proxy.seen.length, 1);
	assert.equal(server.connections.length, 1);
});

test('a connection that the server closes while it is idle is replaced', options, async (t) => {
	for (const tls of [null, makeCertificates(t)]) {
		const server = await startProvider(t, tls ? { tls: serverOptions(tls) } : {});
		const how = { env: { CODEX_CA_CERTIFICATE: tls?.ca ?? '' }, secure: tls !== null, onConnection: (socket, done) => socket.end(done) };
		succeeded(await askAfterConnection(t, server, how));
		assert.equal(server.requests.length, 1);
		assert.equal(server.connections.length, 2);
	}
});

test('commands without a session open no connection', options, async (t) => {
	const server = await startProvider(t), home = providerHome(t, `base_url = "${server.url}/v1"`);
	for (const args of [['--help'], ['exec', '--help'], ['--version'], ['login', 'status'], ['features', 'list']])
		await runCodex(t, args, { home });
	assert.deepEqual(server.connections, []);
});

test('threads of an app-server connect once, and their requests share the connection', needs('app-server'), async (t) => {
	const server = await startProvider(t);
	const app = await startAppServer(t, null, { home: providerHome(t, `base_url = "${server.url}/v1"`) });
	for (let i = 0; i < 3; i++) {
		const { thread } = await app.request('thread/start', {});
		await app.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
		await app.next('turn/completed');
	}
	assert.equal(server.requests.length, 3);
	assert.equal(server.connections.length, 1);
});

test('an app-server that resumes a thread loads libcurl with the first turn, not before', needs('app-server'), async (t) => {
	const server = await startProvider(t), home = providerHome(t, `base_url = "${server.url}/v1"`);
	const turn = async (app, threadId) => {
		await app.request('turn/start', { threadId, input: [{ type: 'text', text: 'hi', text_elements: [] }] });
		await app.next('turn/completed');
	};
	const first = await startAppServer(t, null, { home }), { thread } = await first.request('thread/start', {});
	await turn(first, thread.id);
	await first.end();
	const app = await startAppServer(t, null, { home });
	const isLoaded = () => fs.readFileSync(`/proc/${app.child.pid}/maps`, 'utf8').includes('libcurl');
	await app.request('thread/resume', { threadId: thread.id });
	await app.request('thread/loaded/list', {});
	assert.equal(isLoaded(), false);
	await turn(app, thread.id);
	assert.equal(isLoaded(), true);
	assert.equal(server.requests.length, 2);
});
