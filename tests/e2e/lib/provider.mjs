// A server of all three APIs that answers every request with "Hello.", over HTTP or TLS, and records requests and connections.
//
//   const server = await startProvider(t, { accepts: (request) => request.headers.authorization === 'Bearer t' });
//   const run = await codexExec(t, null, ['hi'], { home: providerHome(t, `base_url = "${server.url}/v1"`) });

import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import path from 'node:path';

import { tempDir } from './codex.mjs';
import { answerOf } from './issuer.mjs';

const sse = (events) => events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

const ANSWERS = {
	models: '{"data":[{"id":"some-model"}]}',
	responses: answerOf('Hello.'),
	completions: `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
	messages: sse([
		{ type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
		{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
		{ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
		{ type: 'content_block_stop', index: 0 },
		{ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
		{ type: 'message_stop' },
	]),
};

async function readBody(request) {
	const parts = [];
	for await (const part of request) parts.push(part);
	return Buffer.concat(parts).toString();
}

/** Options: tls (those of node's https), http2, accepts(request): false is answered with 401, answer(request). */
export async function startProvider(t, { tls, http2: is2, accepts = () => true, answer } = {}) {
	const requests = [], connections = [];
	async function serve(request, response) {
		const { pathname, searchParams } = new URL(request.url, 'http://x');
		const seen = { method: request.method, path: pathname, target: request.url, query: Object.fromEntries(searchParams),
			headers: request.headers, version: request.httpVersion, socket: connections.findIndex((it) => it.port === request.socket.remotePort),
			client: request.socket.getPeerCertificate?.()?.subject?.CN, body: await readBody(request), connections: connections.length };
		requests.push(seen);
		const [status, body, headers] = answer?.(seen) ?? (accepts(seen)
			? [200, ANSWERS[pathname.split('/').at(-1)] ?? '{"data":[]}', { 'content-type': 'text/event-stream' }]
			: [401, '{"error":{"message":"the token is not accepted"}}', { 'content-type': 'application/json' }]);
		response.writeHead(status, headers);
		response.end(body);
	}
	const server = is2 ? http2.createSecureServer({ allowHTTP1: true, ...tls }, serve)
		: tls ? https.createServer(tls, serve) : http.createServer(serve);
	const sockets = new Set();
	server.on('connection', (socket) => {
		connections.push({ port: socket.remotePort, requestsBefore: requests.length });
		sockets.add(socket);
		socket.on('error', () => {});
	});
	server.on('tlsClientError', () => {});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => {
		sockets.forEach((socket) => socket.destroy());
		server.close();
	});
	const { port } = server.address();
	return { server, requests, connections, port, url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}` };
}

/** A CODEX_HOME whose provider "own" has these keys; `top` is TOML that comes before the tables. */
export function providerHome(t, keys, top = '') {
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'),
		`model_provider = "own"\nmodel_context_window = 200000\n${top}\n[model_providers.own]\nname = "Own"
request_max_retries = 0\nstream_max_retries = 0\n${keys}\n`);
	return home;
}
