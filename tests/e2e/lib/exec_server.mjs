// An exec-server as codex 0.169 has one, for tests of environments: it starts the commands on this machine, without a sandbox, and says
// that it has one; within a sandbox, it changes files of its folders alone. Each method can be replaced, to answer late, wrongly or never.
//
//   const server = await startExecServer(t, { 'environment/status': (params, link) => ({ status: 'pending' }) });
//   server.url        // ws://127.0.0.1:PORT
//   server.calls      // [{method, params, link}] of all links, in order
//   await server.called('process/terminate')
//
// A replacement returns the result, throws a refusal, or returns undefined to give no answer. A link has notify(method, params),
// raw(bytes), drop() and headers.
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
	let seq = 0;
	const tell = (method, more) => link.notify(`process/${method}`, { processId, seq: ++seq, ...more });
	const output = (stream) => (bytes) => tell('output', { stream: params.tty ? 'pty' : stream, chunk: bytes.toString('base64') });
	child.stdout.on('data', output('stdout'));
	child.stderr.on('data', output('stderr'));
	child.on('exit', (code, signal) => tell('exited', { exitCode: code ?? (signal === 'SIGKILL' ? 137 : 143), sandboxDenied: false }));
	child.on('close', () => tell('closed'));
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

const methods = {
	'fs/readFile': (params) => attempt(() => ({ dataBase64: fs.readFileSync(fileOf(params)).toString('base64') })),
	'fs/getMetadata': (params) => attempt(() => ({ isDirectory: fs.statSync(fileOf(params)).isDirectory() })),
	'fs/writeFile': (params) => attempt(() => fs.writeFileSync(fileOf(params, true), Buffer.from(params.dataBase64, 'base64'))),
	'fs/createDirectory': (params) => attempt(() => void fs.mkdirSync(fileOf(params, true), { recursive: params.recursive })),
	'fs/remove': (params) => attempt(() => fs.unlinkSync(fileOf(params, true))),
	initialize: () => ({ sessionId: crypto.randomUUID(), environmentInfo: info }),
	'environment/status': () => ({ status: 'ready' }),
	'environment/info': () => info,
	'process/start': startProcess,
	'process/write': ({ processId, chunk }, link) => {
		link.server.children.get(processId).stdin.write(Buffer.from(chunk, 'base64'));
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
		const result = await (own[method] ?? methods[method])(params, link);
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
		for (const look of [...server.looks]) look();
	});
}

export async function startExecServer(t, own = {}) {
	const server = { calls: [], looks: new Set(), links: new Set(), children: new Map() };
	const listener = http.createServer().on('upgrade', (request, socket) => open(server, request, socket, own));
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
	t.after(() => {
		for (const link of server.links) link.drop();
		for (const child of server.children.values())
			if (child.exitCode === null && child.signalCode === null && child.pid) process.kill(-child.pid, 'SIGKILL');
		listener.close();
	});
	return server;
}
