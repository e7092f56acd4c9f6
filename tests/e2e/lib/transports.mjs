// A conversation over any transport: lines of submissions out, events in.
//
//   const talk = await openTalk(t, 'tcp', home, cwd);
//   talk.send('{"id":"1","op":{…}}');
//   const event = await talk.next();      // null at the end
//   await talk.end();                     // closes the input and waits; throws if the program fails
//
// A conversation starts without a configured session.

import fs from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';
import path from 'node:path';
import { cleanEnv, codexBin, launch, tempDir, waitFor } from './codex.mjs';
import { grpcClient, needsGrpc, serveHttp } from './grpc.mjs';

/** The use of the library by examples/ and other C programs, as a program (library_client.c). */
const libraryClient = path.join(path.dirname(codexBin), 'tests/e2e/library_client');

export const transports = ['stdio', 'unix', 'tcp', 'http2', 'grpc', 'library'];
/** The reason to skip this transport, or false. */
export const lacks = (transport) =>
	(transport === 'library' && !fs.existsSync(libraryClient) && 'the library client is not built') ||
	(transport === 'grpc' && needsGrpc.skip);

/** A queue of the events of a stream of lines, or of what read(part) makes of its parts. */
function readEvents(stream, read) {
	if (!read) stream.setEncoding('utf8');
	read ??= linesOf();
	const events = [], waiting = [];
	let ended = false;
	const settle = () => {
		while (waiting.length && (events.length || ended)) waiting.shift()(events.shift() ?? null);
	};
	stream.on('data', (more) => {
		events.push(...read(more));
		settle();
	});
	const over = new Promise((resolve) => stream.on('close', resolve));
	over.then(() => {
		ended = true;
		settle();
	});
	return { over, next: () => new Promise((resolve) => (waiting.push(resolve), settle())) };
}

function linesOf() {
	let text = '';
	return (more) => {
		const lines = (text += more).split('\n');
		text = lines.pop();
		return lines.map((line) => JSON.parse(line));
	};
}

function checkEnd({ code, signal, stderr }) {
	if (code !== 0) throw new Error(`it ended with ${signal ?? code}: ${stderr}`);
}

function openProgram(t, bin, args, home, cwd) {
	const program = launch(t, bin, args, { cwd, env: cleanEnv(home) });
	const { over, next } = readEvents(program.child.stdout);
	return {
		next,
		send: (line) => program.child.stdin.write(line + '\n'),
		stderr: () => program.result.stderr,
		end: async () => {
			program.child.stdin.end();
			await over;
			checkEnd(await program.done);
		},
	};
}

async function openSocket(t, address, home, cwd) {
	const args = ['proto', '--no-auto-configure', '--listen', address];
	const server = launch(t, codexBin, args, { cwd, env: cleanEnv(home) });
	const url = await waitFor(server.child.stderr, () => server.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	const { protocol, hostname, port, pathname } = new URL(url);
	const socket = protocol === 'unix:' ? net.connect(pathname) : net.connect(Number(port), hostname);
	const { over, next } = readEvents(socket);
	return {
		next,
		send: (line) => socket.write(line + '\n'),
		stderr: () => server.result.stderr,
		end: async () => {
			socket.end();
			await over;
			server.child.kill('SIGTERM');
			checkEnd(await server.done);
		},
	};
}

/** A stream of an HTTP server: POST /v1/stream, or a Session of gRPC. */
async function openStream(server, { over, next }, send, end) {
	return {
		next, send, reportsRefusals: true,
		stderr: () => server.result.stderr,
		end: async () => {
			end();
			await over;
			server.child.kill('SIGTERM');
			checkEnd(await server.done);
		},
	};
}

async function openHttp2(t, home, cwd) {
	const server = await serveHttp(t, null, { args: ['--no-auto-configure'], home, cwd });
	const client = http2.connect(server.url);
	client.on('error', () => {}); // the program may end first
	t.after(() => client.destroy());
	const stream = client.request({ ':method': 'POST', ':path': '/v1/stream' });
	return openStream(server, readEvents(stream), (line) => stream.write(`${line}\n`), () => stream.end());
}

/** Converts a line to a message of gRPC: a text that is not a submission becomes the Op of one without an id. */
function asMessage(line) {
	try {
		const { id, op } = JSON.parse(line);
		if (typeof id === 'string') return { id, op_json: JSON.stringify(op) };
	} catch { /* it is no JSON */ }
	return { id: '', op_json: line };
}

async function openGrpc(t, home, cwd) {
	const server = await serveHttp(t, null, { args: ['--no-auto-configure'], home, cwd });
	const stream = grpcClient(t, server).Session();
	const events = readEvents(stream, ({ id, msg_json }) => [{ id, msg: JSON.parse(msg_json) }]);
	const over = new Promise((resolve, reject) => stream.on('error', reject).on('status', resolve));
	stream.on('status', () => stream.emit('close'));
	return openStream(server, { ...events, over }, (line) => stream.write(asMessage(line)), () => stream.end());
}

/** The settings are those of config.toml in home. */
export async function openTalk(t, transport, home, cwd) {
	switch (transport) {
	case 'stdio': return openProgram(t, codexBin, ['proto', '--no-auto-configure'], home, cwd);
	case 'unix': return openSocket(t, `unix://${path.join(tempDir(t, 'socket'), 's')}`, home, cwd);
	case 'tcp': return openSocket(t, 'tcp://127.0.0.1:0', home, cwd);
	case 'http2': return openHttp2(t, home, cwd);
	case 'grpc': return openGrpc(t, home, cwd);
	case 'library': return openProgram(t, libraryClient, ['{"originator":"cases"}'], home, cwd);
	}
}
