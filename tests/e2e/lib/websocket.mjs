// A WebSocket client for tests: it connects to ports and Unix sockets, and can send any header and any frame, invalid ones too.
//
//   const socket = await dial({ port }, { Authorization: 'Bearer x' }); // rejects with {status, body} if refused
//   socket.sendText('{}');
//   await socket.closed; // {code, reason}, code 1006 without a close
//   const client = await connectRpc(t, { path: '/run/sock' }); // the same client as startAppServer returns, initialized

import crypto from 'node:crypto';
import net from 'node:net';
import { rpcClient } from './app_server.mjs';

export class Refused extends Error {
	constructor(head, body) {
		super(`${head.split('\r\n')[0]} ${body}`);
		Object.assign(this, { head, body, status: Number(head.split(' ')[1]) });
	}
}

/** One HTTP answer on a connection of its own: {status, head, body}. */
export function http(where, target, headers = {}) {
	return new Promise((resolve, reject) => {
		const socket = net.connect(where);
		const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
		let text = '';
		socket.setEncoding('utf8').on('data', (more) => (text += more)).on('error', reject).on('close', () => {
			const [head, body] = text.split('\r\n\r\n');
			resolve({ head, body, status: Number(head.split(' ')[1]) });
		});
		socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
	});
}

const mask = (payload, key) => payload.map((byte, i) => byte ^ key[i % 4]);

/** A client frame; each part can be overridden. */
export function frame(opcode, payload, { fin = true, masked = true } = {}) {
	const bytes = Buffer.from(payload);
	const key = crypto.randomBytes(4);
	const length = bytes.length < 126 ? Buffer.from([bytes.length])
		: bytes.length < 65536 ? Buffer.from([126, bytes.length >> 8, bytes.length & 255])
			: Buffer.concat([Buffer.from([127]), Buffer.from(BigInt(bytes.length).toString(16).padStart(16, '0'), 'hex')]);
	if (masked) length[0] |= 0x80;
	return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode]), length, ...(masked ? [key, mask(bytes, key)] : [bytes])]);
}

/** Splits bytes into frames: [{opcode, payload}], rest. */
function readFrames(bytes) {
	const frames = [];
	for (;;) {
		if (bytes.length < 2) return [frames, bytes];
		const short = bytes[1] & 127;
		const head = short < 126 ? 2 : short === 126 ? 4 : 10;
		if (bytes.length < head) return [frames, bytes];
		const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
		if (bytes.length < head + length) return [frames, bytes];
		frames.push({ opcode: bytes[0] & 15, payload: bytes.subarray(head, head + length) });
		bytes = bytes.subarray(head + length);
	}
}

function speak(socket, rest) {
	const on = { text: () => {}, pong: () => {} };
	let close = { code: 1006, reason: '' };
	const take = (more) => {
		const [frames, left] = readFrames(Buffer.concat([rest, more]));
		rest = left;
		for (const { opcode, payload } of frames) {
			if (opcode === 1) on.text(payload.toString());
			else if (opcode === 10) on.pong(payload.toString());
			else if (opcode === 8) close = { code: payload.length ? payload.readUInt16BE(0) : 1005, reason: payload.subarray(2).toString() };
		}
	};
	socket.on('data', take);
	const closed = new Promise((resolve) => socket.on('close', () => resolve(close)));
	setImmediate(() => take(Buffer.alloc(0)));
	return {
		socket, on, closed,
		send: (...frames) => socket.write(Buffer.concat(frames)),
		sendText: (text) => socket.write(frame(1, text)),
		close: (code = 1000) => socket.write(frame(8, [code >> 8, code & 255])),
	};
}

/** Opens a WebSocket; where: {port} or {path}. */
export function dial(where, headers = {}) {
	const socket = net.connect(where);
	const key = crypto.randomBytes(16).toString('base64');
	const lines = Object.entries({ Host: 'localhost', Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': 13,
		'Sec-WebSocket-Key': key, ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
	socket.write(`GET / HTTP/1.1\r\n${lines.join('')}\r\n`);
	return new Promise((resolve, reject) => {
		let bytes = Buffer.alloc(0);
		const onData = (more) => {
			bytes = Buffer.concat([bytes, more]);
			const end = bytes.indexOf('\r\n\r\n');
			if (end < 0) return;
			const head = bytes.subarray(0, end).toString();
			const rest = bytes.subarray(end + 4);
			const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
			const isOpen = head.startsWith('HTTP/1.1 101 ');
			if (!isOpen && rest.length < length) return;
			socket.removeAllListeners();
			socket.on('error', () => {});
			if (isOpen) resolve(Object.assign(speak(socket, rest), { head }));
			else reject(new Refused(head, rest.toString())), socket.destroy();
		};
		socket.on('data', onData).on('error', reject).on('close', () => reject(new Error('closed before an answer')));
	});
}

/** A JSON-RPC client at a WebSocket. Options: headers; initialize: false. */
export async function connectRpc(t, where, { headers, initialize = true } = {}) {
	const socket = await dial(where, headers);
	t.after(() => socket.socket.destroy());
	const client = rpcClient({
		send: (line) => socket.sendText(line.trimEnd()),
		onLine: (deliver) => (socket.on.text = deliver),
		onEnd: (tell) => socket.closed.then(tell),
	});
	if (initialize) {
		const clientInfo = { name: 'tests', title: 'Tests', version: '1.0.0' };
		client.server = await client.request('initialize', { clientInfo, capabilities: { experimentalApi: true } });
		client.notify('initialized');
	}
	return Object.assign(client, { socket });
}
