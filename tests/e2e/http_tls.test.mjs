// codex proto --listen https:// and http+unix://: the same requests over TLS and over a Unix socket.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import tls from 'node:tls';
import { makeCertificates } from './lib/certificates.mjs';
import { makeHome, needs, reply, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { collect, grpc, grpcClient, needsGrpc, serveHttp } from './lib/grpc.mjs';
import { userInput } from './lib/proto.mjs';

const proto = needs('proto');
const token = 'a-token-of-the-tests-0123456789';

async function serveTls(t, replies = [say('Hello.')], { args = [], listen = 'https://127.0.0.1:0' } = {}) {
	const files = makeCertificates(t);
	const server = await serveHttp(t, await startModel(t, replies),
		{ listen, args: ['--tls-cert', files.serverCert, '--tls-key', files.serverKey, ...args.flat().map((arg) => files[arg] ?? arg)] });
	return { ...server, files, ca: fs.readFileSync(files.ca), port: Number(new URL(server.url).port) };
}

/** One request over HTTP/1.1: {status, text}. */
const get = (url, options = {}) => new Promise((resolve, reject) => {
	const request = (url.startsWith('https') ? https : http).request(url, { agent: false, ...options }, (response) => {
		let text = '';
		response.setEncoding('utf8').on('data', (part) => (text += part)).on('error', reject)
			.on('end', () => resolve({ status: response.statusCode, text }));
	});
	request.on('error', reject).end(options.body);
});

test('ALPN selects HTTP/2 or HTTP/1.1, and refuses anything else', proto, async (t) => {
	const { ca, port, url } = await serveTls(t);
	const negotiate = (options) => new Promise((resolve, reject) => {
		const socket = tls.connect({ host: '127.0.0.1', port, ca, ...options });
		socket.on('error', reject).on('secureConnect', () => {
			resolve([socket.alpnProtocol, socket.getProtocol()]);
			socket.destroy();
		});
	});
	assert.deepEqual(await negotiate({ ALPNProtocols: ['http/1.1', 'h2'] }), ['h2', 'TLSv1.3']);
	assert.deepEqual(await negotiate({ ALPNProtocols: ['http/1.1'] }), ['http/1.1', 'TLSv1.3']);
	assert.deepEqual(await negotiate({ maxVersion: 'TLSv1.2' }), [false, 'TLSv1.2']);
	await assert.rejects(negotiate({ ALPNProtocols: ['spdy/3'] }));
	await assert.rejects(negotiate({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }));
	assert.equal((await get(`${url}/healthz`, { ca })).status, 200);
	assert.equal((await get(`${url}/v1/codex.proto`, { ca })).text.includes('service Codex'), true);
});

test('HTTP/2 over TLS carries long answers, and several at once', proto, async (t) => {
	const { ca, url } = await serveTls(t, [reply({ message: 'x' + ' y'.repeat(100_000) })]);
	const client = http2.connect(url, { ca });
	t.after(() => client.destroy());
	const request = (method, target, body) => new Promise((resolve, reject) => {
		const stream = client.request({ ':method': method, ':path': target, 'content-type': 'application/json' });
		let text = '';
		stream.setEncoding('utf8').on('data', (part) => (text += part)).on('error', reject).on('end', () => resolve(text));
		stream.end(body);
	});
	const { session_id: id } = JSON.parse(await request('POST', '/v1/sessions'));
	const watches = [1, 2].map(() => request('GET', `/v1/sessions/${id}/events`));
	await request('POST', `/v1/sessions/${id}/submissions`, JSON.stringify({ id: '1', op: userInput('hi') }));
	await request('POST', `/v1/sessions/${id}/submissions`, JSON.stringify({ id: '2', op: { type: 'add_to_history', text: 'x' } }));
	const poll = async () => JSON.parse(await request('GET', `/v1/sessions/${id}`)).state;
	while (!(await request('GET', `/v1/sessions/${id}/events?follow=0`)).includes('"task_complete"')) await poll();
	await request('DELETE', `/v1/sessions/${id}`);
	const [first, second] = await Promise.all(watches);
	assert.equal(first, second);
	assert.ok(first.length > 200_000);
	assert.match(first, /"shutdown_complete"/);
});

test('plain text and other bytes on a port of TLS are refused, and the next client is served', proto, async (t) => {
	const { ca, port, url } = await serveTls(t);
	for (const bytes of ['GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
		Buffer.from('160301ffff', 'hex'), Buffer.alloc(100_000, 0x16)]) {
		const socket = net.connect(port, '127.0.0.1');
		socket.on('error', () => {}); // a reset is also a refusal
		socket.end(bytes);
		let text = '';
		socket.setEncoding('latin1').on('data', (part) => (text += part));
		await new Promise((resolve) => socket.on('close', resolve));
		assert.ok(!text.includes('HTTP/1.1'), text);
	}
	assert.equal((await get(`${url}/healthz`, { ca })).status, 200);
});

test('with --tls-client-ca clients need a certificate of that CA', proto, async (t) => {
	const { ca, files, url } = await serveTls(t, undefined, { args: ['--tls-client-ca', 'ca'] });
	const cert = fs.readFileSync(files.clientCert), key = fs.readFileSync(files.clientKey);
	assert.equal((await get(`${url}/healthz`, { ca, cert, key })).status, 200);
	assert.equal((await get(`${url}/healthz`, { ca, cert, key, maxVersion: 'TLSv1.2' })).status, 200);
	await assert.rejects(get(`${url}/healthz`, { ca }));
	const other = makeCertificates(t); // of another CA
	await assert.rejects(get(`${url}/healthz`, { ca, cert: fs.readFileSync(other.clientCert), key: fs.readFileSync(other.clientKey) }));
});

test('certificates and keys that cannot be used are named', proto, async (t) => {
	const files = makeCertificates(t), home = makeHome(t, await startModel(t, [say('Unused.')]));
	const refused = async (file, cert, key, ...more) => {
		const { code, stderr } = await runCodex(t, ['proto', '--listen', 'https://127.0.0.1:0', '--tls-cert', cert, '--tls-key', key,
			...more], { home });
		assert.equal(code, 1, stderr);
		assert.ok(stderr.includes(`cannot use ${file}`), stderr);
	};
	await refused('/nonexistent', '/nonexistent', files.serverKey);
	await refused(files.serverKey, files.serverKey, files.serverKey);
	await refused(files.otherKey, files.serverCert, files.otherKey);
	await refused(files.lockedKey, files.clientCert, files.lockedKey);
	await refused('/nonexistent', files.serverCert, files.serverKey, '--tls-client-ca', '/nonexistent');
});

test('an address that other machines reach is served with a token, under any name', proto, async (t) => {
	const file = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(file, token, { mode: 0o600 });
	const { ca, port } = await serveTls(t, undefined, { listen: 'https://0.0.0.0:0', args: ['--token-file', file] });
	const ask = (headers) => get(`https://127.0.0.1:${port}/v1/sessions`, { ca, servername: 'localhost',
		headers: { host: 'example.org', ...headers } });
	assert.equal((await ask({ authorization: `Bearer ${token}` })).status, 200);
	assert.equal((await ask({})).status, 401);
	assert.equal((await ask({ authorization: `Bearer ${token}`, origin: 'https://example.org' })).status, 403);
});

test('grpc-js over TLS', needsGrpc, async (t) => {
	const server = await serveTls(t);
	const stream = grpcClient(t, server, grpc.credentials.createSsl(server.ca)).Session();
	const { until } = collect(stream);
	stream.write({ id: '1', op_json: JSON.stringify(userInput('hi')) });
	await until((events) => events.some(({ type }) => type === 'task_complete'));
	stream.cancel();
});

test('a Unix socket serves HTTP/1.1 and gRPC; only its owner can connect', needsGrpc, async (t) => {
	const socketPath = path.join(tempDir(t, 'socket'), 's');
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]), { listen: `http+unix://${socketPath}` });
	assert.equal(server.url, `http+unix://${socketPath}`);
	assert.equal(fs.statSync(socketPath).mode & 0o777, 0o600);
	assert.equal((await get('http://localhost/healthz', { socketPath })).status, 200);
	assert.equal((await get('http://localhost/v1/sessions', { socketPath, method: 'POST' })).status, 201);
	const stream = grpcClient(t, server, undefined, `unix:${socketPath}`).Session();
	const { until, end } = collect(stream);
	stream.write({ id: '1', op_json: JSON.stringify(userInput('hi')) });
	await until((events) => events.some(({ type }) => type === 'task_complete'));
	stream.end();
	assert.equal((await end).code, 0);
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
	assert.ok(!fs.existsSync(socketPath));
});
