// An exec-server as codex 0.169 has one, for tests of environments: it starts the commands on this machine, without a sandbox, and says
// that it has one; within a sandbox, it changes files of its folders alone. Each method can be replaced, to answer late, wrongly or never.
//
//   const server = await startExecServer(t, { 'environment/status': (params, link) => ({ status: 'pending' }) });
//   server.url        // ws://127.0.0.1:PORT
//   server.calls      // [{method, params, link}] of all links, in order
//   await server.called('process/terminate')
//
// A replacement returns the result, throws a refusal, or returns undefined to give no answer; it can call its third argument, which is
// what it replaces. A link has notify(method, params), raw(bytes), drop() and headers. A session keeps its processes and their output when
// its link is lost; server.forget() drops all sessions, and while server.isClosed new links are refused,
// and counted in server.refused.
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { fileURLToPath } from 'node:url';

import { readFrames } from './socket_model.mjs';
import { frame } from './websocket.mjs';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const info = { shell: { name: 'bash', path: '/bin/bash' }, cwd: 'file:///remote' };

function startProcess(params, link) {
	const { processId, argv, cwd, env, sandbox } = params;
	const child = spawn(argv[0], argv.slice(1), { cwd: fileURLToPath(cwd), env: { PATH: process.env.PATH, ...env }, detached: true,
		stdio: [params.tty || params.pipeStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'] });
	const { session } = link, kept = { seq: 0, chunks: [], writes: new Set(), exitCode: null, closed: false };
	session.processes.set(processId, kept);
	const tell = (method, more) => {
		const params = { processId, seq: ++kept.seq, ...more };
		session.link?.notify(`process/${method}`, params);
	};
	const output = (stream) => (bytes) => {
		const chunk = { stream: params.tty ? 'pty' : stream, chunk: bytes.toString('base64') };
		kept.chunks.push({ seq: kept.seq + 1, ...chunk });
		tell('output', chunk);
		for (const look of [...link.server.looks]) look();
	};
	child.stdout.on('data', output('stdout'));
	child.stderr.on('data', output('stderr'));
	child.on('exit', (code, signal) => {
		kept.exitCode = code ?? (signal === 'SIGKILL' ? 137 : 143);
		tell('exited', { exitCode: kept.exitCode, sandboxDenied: false });
	});
	child.on('close', () => {
		kept.closed = true;
		tell('closed');
		for (const look of [...link.server.looks]) look();
	});
	link.server.children.set(processId, child);
	return new Promise((resolve, reject) => {
		child.on('spawn', () => resolve({ processId, sandboxType: sandbox ? 'linuxSeccomp' : 'none' }));
		child.on('error', (error) => reject(new Error(`${error.code} (os error 2)`)));
	});
}

/** A file's path; refuses to change one outside of the roots of a sandbox. */
function fileOf({ path, sandbox }, isChange) {
	const name = fileURLToPath(path);
	const entries = sandbox?.permissions.file_system.entries ?? [];
	const uris = entries.filter(({ access, path: { type } }) => access === 'write' && type === 'path').map((entry) => entry.path.path);
	if (entries.some(({ access, path: { value } }) => access === 'write' && value?.kind === 'project_roots'))
		uris.push(...sandbox.workspaceRoots);
	const roots = (sandbox ? uris : ['file:///']).map((uri) => fileURLToPath(uri).replace(/\/?$/, '/'));
	if (isChange && !roots.some((root) => `${name}/`.startsWith(root))) throw new Error('Permission denied (os error 13)');
	return name;
}

/** A refusal as codex 0.169 words it. */
function attempt(work) {
	try {
		return work() ?? {};
	} catch (error) {
		const words = { ENOENT: 'No such file or directory', EISDIR: 'Is a directory', ENOTDIR: 'Not a directory' }[error.code];
		throw Object.assign(new Error(words ? `${words} (os error ${-error.errno})` : error.message),
			{ rpc: error.code === 'ENOENT' ? -32004 : -32603 });
	}
}

function refuse(rpc, message) {
	throw Object.assign(new Error(message), { rpc });
}

const methods = {
	'fs/readFile': (params) => attempt(() => ({ dataBase64: fs.readFileSync(fileOf(params)).toString('base64') })),
	'fs/getMetadata': (params) => attempt(() => ({ isDirectory: fs.statSync(fileOf(params)).isDirectory() })),
	'fs/writeFile': (params) => attempt(() => fs.writeFileSync(fileOf(params, true), Buffer.from(params.dataBase64, 'base64'))),
	'fs/createDirectory': (params) => attempt(() => void fs.mkdirSync(fileOf(params, true), { recursive: params.recursive })),
	'fs/remove': (params) => attempt(() => fs.unlinkSync(fileOf(params, true))),
	initialize: ({ resumeSessionId }, link) => {
		const { sessions } = link.server, sessionId = resumeSessionId ?? crypto.randomUUID();
		if (resumeSessionId && !sessions.has(resumeSessionId)) refuse(-32600, `unknown session id ${resumeSessionId}`);
		link.session = sessions.get(sessionId) ?? { processes: new Map() };
		if (link.session.link) refuse(-32010, `session ${sessionId} is already attached to another connection`);
		link.session.link = link;
		sessions.set(sessionId, link.session);
		return { sessionId, environmentInfo: info };
	},
	'environment/status': () => ({ status: 'ready' }),
	'environment/info': () => info,
	'process/start': startProcess,
	'process/read': ({ processId, afterSeq, maxBytes }, link) => {
		const kept = link.session.processes.get(processId), chunks = [];
		if (!kept) refuse(-32600, `unknown process id ${processId}`);
		let bytes = 0;
		for (const it of kept.chunks.filter(({ seq }) => seq > (afterSeq ?? 0))) {
			bytes += Buffer.byteLength(it.chunk, 'base64');
			if (chunks.length && bytes > maxBytes) break;
			chunks.push(it);
		}
		return { chunks, nextSeq: (chunks.at(-1)?.seq ?? kept.seq) + 1, exited: kept.exitCode !== null, exitCode: kept.exitCode,
			closed: kept.closed, failure: null, sandboxDenied: false };
	},
	'process/write': ({ processId, chunk, writeId }, link) => {
		const kept = link.session.processes.get(processId);
		if (!kept.writes.has(writeId)) link.server.children.get(processId).stdin.write(Buffer.from(chunk, 'base64'));
		kept.writes.add(writeId);
		return { status: 'accepted' };
	},
	'process/terminate': ({ processId }, link) => {
		const child = link.server.children.get(processId);
		const running = child !== undefined && child.exitCode === null && child.signalCode === null;
		if (running) process.kill(-child.pid, 'SIGKILL');
		return { running };
	},
};

async function answer(link, message, own) {
	const { server } = link, { id, method, params } = message;
	server.calls.push({ method, params, link });
	for (const look of [...server.looks]) look();
	if (id === undefined) return;
	try {
		const result = await (own[method] ?? methods[method])(params, link, methods[method]);
		if (result !== undefined) link.send({ id, result });
	} catch (error) {
		link.send({ error: { code: error.rpc ?? -32603, message: error.message }, id });
	}
	for (const look of [...server.looks]) look();
}

function open(server, request, socket, own) {
	const accept = crypto.createHash('sha1').update(request.headers['sec-websocket-key'] + GUID).digest('base64');
	socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
	const link = { server, headers: request.headers, socket,
		raw: (text) => socket.write(frame(1, text, { masked: false })),
		drop: () => socket.destroy(),
		send: (message) => link.raw(JSON.stringify(message)),
		notify: (method, params) => link.send({ method, params }) };
	let rest = Buffer.alloc(0), queue = Promise.resolve();
	server.links.add(link);
	socket.on('data', (bytes) => {
		const [frames, left] = readFrames(Buffer.concat([rest, bytes]));
		rest = left;
		for (const { opcode, payload } of frames)
			if (opcode === 1) queue = queue.then(() => answer(link, JSON.parse(payload), own));
	});
	socket.on('error', () => {}).on('end', () => socket.end()).on('close', () => {
		server.links.delete(link);
		if (link.session?.link === link) link.session.link = null;
		for (const look of [...server.looks]) look();
	});
}

export async function startExecServer(t, own = {}) {
	const server = { refused: 0, calls: [], looks: new Set(), links: new Set(), children: new Map(), sessions: new Map() };
	const listener = http.createServer().on('upgrade', (request, socket) => {
		if (!server.isClosed) return open(server, request, socket, own);
		socket.destroy();
		server.refused++;
		for (const look of [...server.looks]) look();
	});
	server.forget = () => server.sessions.clear();
	await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
	server.url = `ws://127.0.0.1:${listener.address().port}`;
	/** Waits until test is true, which is tried after each message and each lost link. */
	server.until = (test) => new Promise((resolve) => {
		const look = () => {
			const found = test();
			if (!found) return;
			server.looks.delete(look);
			resolve(found);
		};
		server.looks.add(look);
		look();
	});
	server.called = (method, count = 1) => server.until(() => server.calls.filter((call) => call.method === method)[count - 1]);
	listener.unref(); // a test that has failed must not hold its file
	t.after(() => {
		server.isClosed = true; // the engine connects again
		listener.close();
		for (const link of server.links) link.drop();
		for (const child of server.children.values())
			if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, 'SIGKILL');
	});
	return server;
}
