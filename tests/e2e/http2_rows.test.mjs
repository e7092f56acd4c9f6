// Requirements on codex proto over HTTP and gRPC, with the tests that hold them; a row whose tests are missing fails. Rows
// without a test of their own have it here: splits of messages, headers of answers, the end of streams, draining.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { makeHome, needs, reply, run, runCodex, say, startModel } from './lib/codex.mjs';
import { collect, grpc, grpcClient, needsGrpc, serveHttp, unary } from './lib/grpc.mjs';
import { userInput } from './lib/proto.mjs';

const proto = needs('proto');
const unit = (name) => `../unit/test_${name}.c`;
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"';

/** [what, file of the tests, parts of their names] */
const ROWS = [
	// the .proto
	['printed, served, installed; tags as comments', 'grpc_clients', ['--print-proto prints the file that is served and installed']],
	['text and Struct payloads; neither or both', 'grpc_clients', ['payloads may be Structs in both directions']],
	['unknown fields, text that is not UTF-8', 'grpc', ['malformed requests have the status']],
	// sessions, streams, numbers
	['own session: Session, POST /v1/stream', 'http_stream', ['submissions go in and numbered events come out']],
	['kept session: survives connections, closed by name', 'http_proto', ['a session outlives its watcher', 'watchers get the last event']],
	['idle ones end', unit('kept_session'), ['an_idle_session_without_watchers_ends', 'an_idle_session_ends_only_after_its_last_watcher']],
	['configured at once, or by the client', 'http_proto', ['a session that the client configures emits nothing before']],
	['resume by id or name; unknown', 'http_proto', ['a recorded session is resumed by its thread id']],
	['resume of an unknown name over gRPC', 'http2_rows', ['a status text is percent-encoded']],
	['numbers without a gap, the same after a replay', 'http_proto', ['a replay is the same bytes']],
	['codex-session-id comes at once', 'grpc_clients', ['grpc-js holds a conversation']],
	['join; its end ends nothing', 'http2_rows', ['a joined session goes on when its guests leave']],
	['10,000 events, 16 MiB', unit('kept_session'), ['events_are_kept_up_to_their_number_and_size']],
	['replay, 410 and OUT_OF_RANGE', 'http_proto', ['events that are no longer kept are gone']],
	['replay over gRPC', 'grpc', ['events that are no longer kept are out of range']],
	['an own session loses no events', 'grpc_clients', ['a session that belongs to a stream loses no events']],
	['repeated ids', 'http_proto', ['a submission that was sent twice is carried out once']],
	['the last 10,000 ids', unit('kept_session'), ['the_last_ids_are_remembered_and_no_more']],
	['state', 'http_proto', ['an approval is answered over another connection']],
	['end of a kept session', 'grpc', ['a kept session is watched, joined and closed']],
	['half-close: the task goes on, unless it waits', 'http2_rows', ['a half-close while an approval waits']],
	['cancel, deadline, lost connection', 'grpc', ['a cancel by ${name} ends the task']],
	['cancel of grpc-js', 'grpc_clients', ['a cancel of grpc-js ends the task']],
	['a deadline ends an own session', 'http2_rows', ['a deadline ends the task of a stream']],
	['a lost connection', 'http_stream', ['a client that disconnects ends its task']],
	['what is no submission, on a stream', 'grpc', ['a message that is no submission is an error event']],
	['what is no submission, in a request', 'http_proto', ['a batch with one wrong line has no effect']],
	// gRPC
	['content-type and te', 'http2_rows', ['content types with parameters']],
	['other content types, GET', 'grpc', ['other content types and methods are answered in HTTP']],
	['unknown method; no message, two; compression; cut frames; long ones; varints', 'grpc', ['malformed requests have the status']],
	['any split of messages', 'http2_rows', ['messages may be split anywhere']],
	['head, messages, trailers', 'http2_rows', ['an answer without messages is trailers only']],
	['grpc-timeout', 'grpc', ['deadlines end calls with status 4']],
	['grpc-message', 'http2_rows', ['a status text is percent-encoded']],
	['tokens', 'grpc', ['without the token only health is served']],
	['errors of a task are events', 'http2_rows', ['a task that fails is an event']],
	['draining; no session left', 'http2_rows', ['while it drains', 'too many sessions']],
	['early end', 'http2_rows', ['an answer before the end of the request']],
	['health', 'grpc', ['health is reported, and its watchers learn of the end']],
	['reflection', 'grpc_clients', ['reflection ${version} describes what the .proto has']],
	// plain HTTP
	['sessions, submissions, events, deletion', 'http_proto', ['server-sent events have number', 'wrong requests are refused with a code',
		'watchers get the last event']],
	['/v1/stream', 'http_stream', ['a line that is no submission', 'a line over 16 MiB', 'thousands of submissions']],
	['health checks without a token', 'http_proto', ['without the token nothing but health is served']],
	['codex.proto', 'grpc', ['the description of the service is served']],
	['413 with a code', 'http2_rows', ['a body that is announced too long is refused with a code', 'chunks of more than 16 MiB']],
	['Upgrade: h2c', 'http2_rows', ['an upgrade to h2c is not taken up']],
	// flags
	['addresses and their refusals', 'http_proto', ['an address that other machines reach is refused']],
	['TLS, ALPN, client CA, plain text', 'http_tls', ['ALPN selects', 'plain text and other bytes', 'with --tls-client-ca',
		'certificates and keys that cannot be used']],
	['http+unix, mode 0600', 'http_tls', ['only its owner can connect']],
	['SIGTERM, and a second one', 'http2_rows', ['while it drains']],
	// back-pressure
	['a stream that is not read', 'http2', ['a stream that is not read delays no other']],
	['a Session that is not read', 'grpc', ['is not read holds its model']],
	['a watcher that does not read', 'http_proto', ['delays the others only briefly']],
	['submissions faster than they are taken', 'http_stream', ['however fast they come']],
	['bodies of a connection', 'http2', ['are bounded together']],
	// hostile peers
	['rapid reset; resets that the server sends', 'http2', ['10,000 requests that are reset at once', 'whose requests are all errors']],
	['CONTINUATION, SETTINGS, PING, malformed frames', 'http2', ['ends the connection`', 'floods of PING and SETTINGS', 'unknown types are ignored']],
	['HPACK', 'http2', ['headers that unpack to megabytes']],
	['streams and heads have a limit', 'http2_rows', ['announces its limits']],
	['silence, half a preface, half a request', 'http2', ['that sends no complete request is closed']],
	['bodies that never come', 'http2', ['that never send their body keep nobody out']],
	['answers that are not read', 'http2', ['does not make room for a newcomer', 'never read their answers keep nobody out']],
	['smuggling, trailers', 'http2', ['ends the request alone', 'two names of the host are refused']],
	// clients
	['the cases on every transport', 'cases', ['${transport}']],
	['curl, nghttp, h2load', 'http2', ['${tool} is served']],
	['curl over HTTP/1.1', 'http_proto', ['curl opens, uses and closes']],
	['python3-grpcio', 'grpc', ['python3-grpcio is served']],
	['examples of under 60 lines', 'grpc_examples', ['${name} is short', 'asks, is answered']],
];

for (const [what, file, names] of ROWS)
	test(what, () => {
		const text = fs.readFileSync(path.join(import.meta.dirname, file.endsWith('.c') ? file : `${file}.test.mjs`), 'utf8');
		for (const name of names) assert.ok(text.includes(name), `${file} has no test "${name}"`);
	});

// ---- calls by hand ----

const serve = async (t, replies = [say('Unused.')], options) => serveHttp(t, await startModel(t, replies), options);

function connect(t, server) {
	const client = http2.connect(server.url);
	client.on('error', () => {});
	t.after(() => client.destroy());
	return client;
}

/** A message of Protocol Buffers in its frame: fields 1, 2, … are texts. */
function message(...texts) {
	const parts = texts.map((text, i) => {
		const length = Buffer.byteLength(text);
		return Buffer.concat([Buffer.from([(i + 1) << 3 | 2, length & 127 | 128, length >> 7]), Buffer.from(text)]);
	});
	const body = Buffer.concat(parts), head = Buffer.alloc(5);
	head.writeUInt32BE(body.length, 1);
	return Buffer.concat([head, body]);
}

/** Begins a call: {stream, head, end}; end resolves to {trailers, bytes}. */
function begin(client, method, headers = {}) {
	const stream = client.request({ ':method': 'POST', ':path': `/codex.v1.Codex/${method}`, 'content-type': 'application/grpc',
		te: 'trailers', ...headers });
	const head = new Promise((resolve) => stream.on('response', (fields, flags) => resolve({ ...fields, isLast: Boolean(flags & 1) })));
	let trailers = null;
	const parts = [];
	stream.on('trailers', (fields) => (trailers = fields)).on('data', (bytes) => parts.push(bytes)).on('error', () => {});
	const end = new Promise((resolve) => stream.on('close', () => resolve({ trailers, bytes: Buffer.concat(parts), code: stream.rstCode })));
	return { stream, head, end };
}

const isAlive = (pid) => {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

async function pidIn(file) {
	while (!fs.existsSync(file) || !fs.readFileSync(file, 'utf8').endsWith('\n')) await pause();
	return Number(fs.readFileSync(file, 'utf8'));
}

// ---- gRPC ----

test('messages may be split anywhere, and several may come at once', proto, async (t) => {
	const server = await serve(t, [say('Hello.')]);
	const call = begin(connect(t, server), 'Session');
	const bytes = message('1', JSON.stringify(userInput('hi')));
	for (const byte of bytes) await new Promise((resolve) => call.stream.write(Buffer.from([byte]), resolve));
	call.stream.end(Buffer.concat([message('2', '{"type":"get_path"}'), message('3', '{"type":"get_path"}')]));
	const { trailers, bytes: answer } = await call.end;
	assert.equal(trailers['grpc-status'], '0');
	assert.match(String(answer), /Hello\./);
	assert.equal(String(answer).split('"conversation_path"').length, 3);
});

test('content types with parameters are taken, with or without te', proto, async (t) => {
	const client = connect(t, await serve(t));
	for (const type of ['application/grpc+proto', 'application/grpc; charset=utf-8']) {
		const call = begin(client, 'ListSessions', { 'content-type': type, te: undefined, 'x-other-bin': 'AAAA', 'user-agent': 'x' });
		call.stream.end(message());
		assert.equal((await call.end).trailers['grpc-status'], '0', type);
		assert.equal((await call.head)['content-type'], 'application/grpc');
	}
});

test('an answer without messages is trailers only; one with messages has its status at the end', proto, async (t) => {
	const client = connect(t, await serve(t));
	const unknown = begin(client, 'NoSuchMethod');
	unknown.stream.end(message());
	const head = await unknown.head;
	assert.deepEqual([head[':status'], head['content-type'], head['grpc-status'], head.isLast], [200, 'application/grpc', '12', true]);
	assert.equal((await unknown.end).trailers, null);
	const list = begin(client, 'ListSessions');
	list.stream.end(message());
	assert.equal((await list.head)['grpc-status'], undefined);
	assert.equal((await list.end).trailers['grpc-status'], '0');
});

test('a status text is percent-encoded', proto, async (t) => {
	const call = begin(connect(t, await serve(t)), 'OpenSession');
	call.stream.end(message('nichts für 100%'));
	const head = await call.head;
	assert.equal(head['grpc-status'], '5');
	assert.match(head['grpc-message'], /^[ -~]+$/);
	assert.match(decodeURIComponent(head['grpc-message']), /nichts für 100%/);
});

test('an answer before the end of the request resets the stream without an error', proto, async (t) => {
	const call = begin(connect(t, await serve(t)), 'ListSessions', { 'grpc-timeout': 'never' });
	call.stream.write(message());
	assert.equal((await call.head)['grpc-status'], '3');
	assert.equal((await call.end).code, http2.constants.NGHTTP2_NO_ERROR);
});

test('a task that fails is an event, and the status of its stream is 0', needsGrpc, async (t) => {
	const server = await serve(t, [reply({ status: 400, body: { error: { message: 'no such model' } } })]);
	const stream = grpcClient(t, server).Session(), { events, end } = collect(stream);
	stream.write({ id: '1', op_json: JSON.stringify(userInput('hi')) });
	stream.end();
	assert.equal((await end).code, 0);
	assert.ok(events.some(({ type, msg_json: text }) => type === 'error' && text.includes('no such model')));
});

test('a half-close while an approval waits ends the session with status 0', needsGrpc, async (t) => {
	const server = await serve(t, [run('touch made', { call_id: 'c1' })], { config: 'approval_policy = "untrusted"' });
	const stream = grpcClient(t, server).Session(), { events, until, end } = collect(stream);
	stream.write({ id: '1', op_json: JSON.stringify(userInput('hi')) });
	await until(() => events.some(({ type }) => type === 'exec_approval_request'));
	stream.end();
	assert.equal((await end).code, 0);
	assert.equal(events.at(-1).type, 'shutdown_complete');
	assert.ok(!fs.existsSync(path.join(server.cwd, 'made')));
});

test('a deadline ends the task of a stream and its commands', needsGrpc, async (t) => {
	const server = await serve(t, [run('echo $$ > pid; exec sleep 1000')], { config: FREE });
	const stream = grpcClient(t, server).Session(new grpc.Metadata(), { deadline: Date.now() + 5000 }), { end } = collect(stream);
	stream.write({ id: '1', op_json: JSON.stringify(userInput('hi')) });
	const pid = await pidIn(path.join(server.cwd, 'pid'));
	assert.equal((await end).code, 4);
	while (isAlive(pid)) await pause();
	assert.deepEqual(await unary(grpcClient(t, server), 'ListSessions'), { sessions: [] });
});

test('a joined session goes on when its guests leave', needsGrpc, async (t) => {
	const server = await serve(t, [reply({ delta: 'Half ' }, { gate: 'more' }, { delta: 'done.' })]);
	const client = grpcClient(t, server), { session_id } = await unary(client, 'OpenSession');
	const metadata = new grpc.Metadata();
	metadata.set('codex-session-id', session_id);
	const [first, second] = [client.Session(metadata), client.Session(metadata)].map((stream) => ({ stream, ...collect(stream) }));
	first.stream.write({ id: '1', op_json: JSON.stringify(userInput('go')) });
	await second.until(() => second.events.some(({ type }) => type === 'agent_message_delta'));
	first.stream.cancel();
	second.stream.end();
	assert.deepEqual([(await first.end).code, (await second.end).code], [1, 0]);
	const { sessions } = await unary(client, 'ListSessions');
	assert.deepEqual(sessions.map(({ session_id: id, state }) => [id, state]), [[session_id, 'running']]);
	await unary(client, 'CloseSession', { session_id });
});

test('too many sessions are refused with status 8 and 503', needsGrpc, async (t) => {
	const server = await serve(t), client = grpcClient(t, server);
	let refused = null;
	for (let n = 0; n < 2000 && !refused; n++) await unary(client, 'OpenSession', { no_auto_configure: true }).catch((error) => (refused = error));
	assert.equal(refused?.code, 8);
	assert.equal((await fetch(`${server.url}/v1/sessions`, { method: 'POST' })).status, 503);
	assert.equal((await fetch(`${server.url}/v1/sessions`)).status, 200);
});

// ---- HTTP ----

/** Sends bytes on a connection; resolves to all that comes until it matches, or the connection ends. */
async function rawText(t, server, bytes, pattern = /$^/) {
	const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(bytes));
	t.after(() => socket.destroy());
	let text = '';
	for await (const part of socket.setEncoding('utf8')) if (pattern.test((text += part))) break;
	return text;
}

for (const version of [1, 2])
	test(`a body that is announced too long is refused with a code (HTTP/${version})`, proto, async (t) => {
		const server = await serve(t), length = (16 << 20) + 1;
		let text;
		if (version === 1) text = await rawText(t, server, `POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`);
		else {
			const stream = connect(t, server).request({ ':method': 'POST', ':path': '/v1/sessions', 'content-length': length });
			text = `${(await new Promise((resolve) => stream.on('response', resolve)))[':status']} `;
			for await (const part of stream.setEncoding('utf8')) text += part;
		}
		assert.match(text, /413 [^]*\{"error":\{"code":"too_large","message":"[^"]*16 MiB/);
	});

test('chunks of more than 16 MiB, and what is no HTTP, are refused with a code as well', proto, async (t) => {
	const server = await serve(t);
	const chunk = `100000\r\n${'x'.repeat(1 << 20)}\r\n`;
	const refused = async (bytes, status, code) => {
		const text = await rawText(t, server, bytes, /\}\}$/);
		assert.match(text, new RegExp(`^(HTTP/1.1 100 Continue\r\n\r\n)?HTTP/1.1 ${status} `));
		assert.match(text, /\r\ncontent-type: application\/json\r\n/i);
		assert.match(text, /\r\nconnection: close\r\n/i);
		assert.equal(JSON.parse(text.slice(text.indexOf('{'))).error.code, code);
	};
	const head = 'POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\n';
	await refused(`${head}transfer-encoding: chunked\r\n\r\n${chunk.repeat(16)}1\r\nx\r\n`, 413, 'too_large');
	await refused(`${head}transfer-encoding: chunked\r\n\r\nx\r\n`, 400, 'bad_request');
	await refused(`${head}expect: miracles\r\ncontent-length: 1\r\n\r\n`, 417, 'expectation_failed');
	await refused(`${head}a: ${'a'.repeat(70_000)}\r\n\r\n`, 431, 'head_too_large');
	await refused(`${head}transfer-encoding: gzip\r\n\r\n`, 501, 'unsupported_coding');
	await refused('GET / HTTP/3.0\r\nhost: x\r\n\r\n', 505, 'unsupported_version');
	await refused('POST /v1/stream HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 400, 'bad_request');
});

for (const [what, bytes, code] of [['garbage', '\0\0garbage\r\n\r\n', 'bad_request'], ['a long head', `GET /${'a'.repeat(70_000)}`, 'head_too_large']])
	test(`after a HEAD, ${what} is refused with a body`, proto, async (t) => {
		const server = await serve(t);
		const text = await rawText(t, server, `HEAD /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n${bytes}`, /\}\}$/);
		const refusal = text.slice(text.indexOf('HTTP/1.1 4')), body = refusal.slice(refusal.indexOf('{'));
		assert.match(text, /^HTTP\/1.1 200 /);
		assert.equal(JSON.parse(body).error.code, code);
		assert.match(refusal, new RegExp(`content-length: ${body.length}\r\n`, 'i'));
	});

test('an upgrade to h2c is not taken up', proto, async (t) => {
	const server = await serve(t);
	const text = await rawText(t, server, 'GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n' +
		'http2-settings: AAMAAABkAAQAAP__\r\n\r\n', /\r\n\r\n/);
	assert.match(text, /^HTTP\/1\.1 200 /);
});

test('a connection of HTTP/2 announces its limits, and stays open after its first request', proto, async (t) => {
	const client = connect(t, await serve(t));
	const settings = await new Promise((resolve) => client.on('remoteSettings', resolve));
	assert.equal(settings.maxConcurrentStreams, 256);
	assert.equal(settings.maxHeaderListSize, 65536);
});

test('while it drains, new calls are refused; a second SIGTERM ends it at once', proto, async (t) => {
	const home = makeHome(t, await startModel(t, [say('Unused.')]));
	const command = `touch ${home}/ending; exec sleep 1000`; // the session ends after its hook
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { SessionEnd: [{ hooks: [{ type: 'command', command, timeout: 600 }] }] } }));
	assert.equal((await runCodex(t, ['hooks', 'trust', '--all'], { home })).code, 0);
	const server = await serveHttp(t, null, { home });
	const client = connect(t, server), session = client.request({ ':method': 'POST', ':path': '/v1/sessions' }).end();
	const { location } = await new Promise((resolve) => session.on('response', resolve));
	const events = client.request({ ':path': `${location}/events` });
	for await (const part of events.setEncoding('utf8')) if (part.includes('session_configured')) break;
	const goaway = new Promise((resolve) => client.on('goaway', resolve));
	server.child.kill('SIGTERM');
	assert.equal(await goaway, 0);
	const late = connect(t, server);
	const status = (target, method = 'GET') => new Promise((resolve, reject) =>
		late.request({ ':path': target, ':method': method }).on('response', (head) => resolve(head[':status'])).on('error', reject).end());
	const call = begin(late, 'OpenSession');
	call.stream.end(message());
	assert.deepEqual([await status('/readyz'), await status('/healthz'), await status('/v1/sessions', 'POST')], [503, 200, 503]);
	assert.equal((await call.head)['grpc-status'], '14');
	while (!fs.existsSync(path.join(home, 'ending'))) await pause();
	assert.equal(server.child.exitCode, null);
	server.child.kill('SIGTERM');
	await server.done;
});
