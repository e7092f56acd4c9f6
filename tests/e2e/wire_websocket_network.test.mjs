// The way of a WebSocket to its provider: TLS with own CAs and client certificates, proxies, slow readers on both sides.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { makeCertificates, serverOptions } from './lib/certificates.mjs';
import { codexExec, needs, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { startProxy } from './lib/proxy.mjs';
import { answerOf, runOf, sayOf, startSocketModel } from './lib/socket_model.mjs';
import { frame } from './lib/websocket.mjs';
import { wireHome } from './lib/wires.mjs';

const exec = needs('exec');
const SOCKETS = 'supports_websockets = true\nrequest_max_retries = 0\n';
const rounds = () => [runOf('echo one', 'c1'), sayOf('By socket.')];

async function ask(t, server, { args = ['go'], more = '', env, ...options } = {}) {
	more = /stream_max_retries/.test(more) ? more : `${more}stream_max_retries = 0\n`;
	const run = await codexExec(t, null, args, { home: wireHome(t, server, '', SOCKETS + more), json: true, env, ...options });
	return { ...run, answer: run.events.filter((e) => e.type === 'item.completed' && e.item.type === 'agent_message').at(-1)?.item.text,
		failure: run.events.find((e) => e.type === 'turn.failed')?.error.message };
}

function wentBySocket(run, server) {
	assert.equal(run.answer, 'By socket.', run.stdout + run.stderr);
	assert.deepEqual([server.handshakes.length, server.posts.length, server.faults], [1, 0, []]);
	assert.deepEqual(server.frames[1].body.input.map((item) => item.type), ['function_call_output']);
}

for (const variable of ['CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE']) {
	test(`wss: a private CA is trusted by ${variable}`, exec, async (t) => {
		const files = makeCertificates(t);
		const server = await startSocketModel(t, rounds(), { tls: { ...serverOptions(files), ALPNProtocols: ['h2', 'http/1.1'] } });
		wentBySocket(await ask(t, server, { env: { [variable]: files.ca } }), server);
		assert.notEqual(server.handshakes[0].alpn, 'h2');
	});
}

test('wss: a certificate that is not trusted gets no byte, and ends the turn', exec, async (t) => {
	const server = await startSocketModel(t, rounds(), { tls: serverOptions(makeCertificates(t)) });
	const run = await ask(t, server);
	assert.equal(run.code, 1);
	assert.match(run.failure, /certificate of 127\.0\.0\.1:\d+ is not trusted.*CODEX_CA_CERTIFICATE/);
	assert.deepEqual([server.handshakes, server.posts], [[], []]);
});

test('wss: a client certificate identifies the client', exec, async (t) => {
	const files = makeCertificates(t), env = { CODEX_CA_CERTIFICATE: files.ca };
	const server = await startSocketModel(t, rounds(), { tls: serverOptions(files, true) });
	wentBySocket(await ask(t, server, { env, more: `client_certificate = "${files.clientCert}"\nclient_key = "${files.clientKey}"\n` }), server);
	assert.equal(server.handshakes[0].client, 'the client');
	const without = await ask(t, server, { env });
	assert.equal(without.code, 1);
	assert.equal(server.handshakes.length, 1);
});

test('wss through a proxy: a tunnel with its credentials, which does not see the key', exec, async (t) => {
	const files = makeCertificates(t), proxy = await startProxy(t, 'me:secret');
	const server = await startSocketModel(t, rounds(), { tls: serverOptions(files) });
	const env = { CODEX_CA_CERTIFICATE: files.ca, HTTPS_PROXY: proxy.url('me:secret@') };
	wentBySocket(await ask(t, server, { env, more: 'experimental_bearer_token = "the-inner-key"\n' }), server);
	assert.deepEqual([...new Set(proxy.seen.map(({ method, url, inner }) => `${method} ${url} ${inner}`))],
		[`CONNECT 127.0.0.1:${server.port} undefined`]);
	assert.equal(server.handshakes[0].headers.authorization, 'Bearer the-inner-key');
	assert.equal(server.handshakes[0].headers['proxy-authorization'], undefined);
});

test('ws through http_proxy is a tunnel, too; NO_PROXY excludes the host', exec, async (t) => {
	const proxy = await startProxy(t), server = await startSocketModel(t, rounds());
	wentBySocket(await ask(t, server, { env: { http_proxy: proxy.url() } }), server);
	assert.ok(proxy.seen.length && proxy.seen.every(({ method }) => method === 'CONNECT'), JSON.stringify(proxy.seen));
	const seen = proxy.seen.length, direct = await startSocketModel(t, rounds());
	wentBySocket(await ask(t, direct, { env: { http_proxy: proxy.url(), NO_PROXY: '127.0.0.1' } }), direct);
	assert.equal(proxy.seen.length, seen);
});

test('a proxy that knows no CONNECT to the port leaves HTTP', exec, async (t) => {
	const proxy = await startProxy(t), server = await startSocketModel(t, [sayOf('By HTTP.')]);
	proxy.refuseTunnels();
	const run = await ask(t, server, { env: { http_proxy: proxy.url() } });
	assert.equal(run.answer, 'By HTTP.', run.stdout + run.stderr);
	assert.deepEqual([server.handshakes.length, server.posts.length], [0, 1]);
});

// --- slow readers ---------------------------------------------------------------------------------------------------

/** Resolves once `read` returns the same value for a while. */
async function settled(read) {
	for (let last, equal = 0; equal < 20; await setTimeout(20)) {
		equal = read() === last ? equal + 1 : 0;
		last = read();
	}
}

test('a client that stops reading throttles the server; nothing is lost, and memory stays small', needs('proto'), async (t) => {
	const DELTAS = 16_000, filler = 'x'.repeat(2000);
	const delta = (i) => frame(1, JSON.stringify({ type: 'response.output_text.delta', item_id: 'm', delta: `${i} ${filler}` }), { masked: false });
	const [created, , completed] = sayOf('')(), item = { type: 'message', id: 'm', role: 'assistant', content: [] };
	const events = (...list) => list.map((event) => frame(1, JSON.stringify(event), { masked: false }));
	let to;
	const server = await startSocketModel(t, [{ play: (socket) => {
		to = socket;
		for (const bytes of events(created, { type: 'response.output_item.added', item })) socket.write(bytes);
		for (let i = 0; i < DELTAS; i++) socket.write(delta(i));
		for (const bytes of events({ type: 'response.output_item.done', item }, completed)) socket.write(bytes);
	} }]);
	const env = { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=1` };
	const proto = startProto(t, null, { home: wireHome(t, server, '', SOCKETS), env });
	const peak = () => Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync(`/proc/${proto.child.pid}/status`, 'utf8'))[1]);
	proto.submit('1', userInput('go'));
	await proto.next('agent_message_content_delta');
	proto.child.stdout.pause();
	const before = peak();
	await settled(() => to.writableLength);
	assert.ok(to.writableLength > 1 << 20, `${to.writableLength} bytes wait at the server`);
	const grown = peak() - before;
	let tail = '';
	const done = new Promise((resolve) => proto.child.stdout.on('data', (text) => {
		tail = (tail + text).slice(-text.length - 100); // the mark may be in two pieces
		if (tail.includes('"task_complete"')) resolve();
	}));
	proto.child.stdout.resume();
	await done;
	assert.equal((await proto.end()).code, 0);
	const deltas = proto.events().filter(({ msg }) => msg.type === 'agent_message_content_delta').map(({ msg }) => parseInt(msg.delta, 10));
	assert.deepEqual([deltas.length, deltas.every((number, i) => number === i)], [DELTAS, true]);
	const sent = DELTAS * filler.length / 1024;
	assert.ok(grown < sent / 8, `${grown} KiB more than ${before} for ${sent} KiB sent`);
});

test('a server that reads nothing ends the turn by stream_idle_timeout_ms', exec, async (t) => {
	const server = await startSocketModel(t, [sayOf('never')], { silent: true }), cwd = tempDir(t);
	fs.writeFileSync(path.join(cwd, 'AGENTS.md'), 'x'.repeat(30_000));
	const run = await ask(t, server, { cwd, args: ['y'.repeat(120_000)], more: 'stream_idle_timeout_ms = 300\n' });
	assert.equal(run.code, 1);
	assert.match(run.failure, /idle timeout/);
	assert.equal(server.handshakes.length, 1);
});

// --- the end of a connection ----------------------------------------------------------------------------------------

for (const [code, name] of [[1000, 'normal'], [1001, 'going away'], [1008, 'policy'], [1011, 'internal error'], [1012, 'restart'],
	[1013, 'try again later'], [4000, 'a code of its own']]) {
	test(`a close with ${code} (${name}) after a response is no error; within one it is tried again`, exec, async (t) => {
		const between = await startSocketModel(t, [() => ({ events: runOf('echo one', 'c1')(), close: code }), sayOf('Done.')]);
		assert.equal((await ask(t, between)).answer, 'Done.');
		assert.deepEqual([between.handshakes.length, between.faults], [2, []]);
		const within = await startSocketModel(t, [() => ({ events: answerOf().slice(0, 1), close: code }), sayOf('Done.')]);
		const run = await ask(t, within, { more: 'stream_max_retries = 1\n' });
		assert.equal(run.answer, 'Done.', run.stdout + run.stderr);
		assert.equal(within.handshakes.length, 2);
	});
}

test('the end of a session closes its socket with 1000', exec, async (t) => {
	const server = await startSocketModel(t, [sayOf('Done.')]);
	await ask(t, server);
	await Promise.all([...server.sockets].map((socket) => new Promise((gone) => socket.on('close', gone))));
	assert.deepEqual(server.closes, [1000]);
});
