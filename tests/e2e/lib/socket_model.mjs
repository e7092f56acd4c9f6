// A strict server of the Responses API over WebSocket: it remembers the last response of each socket and refuses what the real service
// refuses.
//
//   const server = await startSocketModel(t, [sayOf('Hello.')]);
//   server.frames     // the requests: {body, bytes, socket, input}; input is the whole history as the server knows it
//   server.faults     // why it refused
//
// An answer is a list of events, an object {events, raw, play, close, drop} or a function of the frame that returns one. When the answers
// are used up, the last one is repeated. Warm-ups are answered without using one up. HTTP requests are answered in the same order.
import crypto from 'node:crypto';
import http from 'node:http';
import https from 'node:https';

import { frame } from './websocket.mjs';

const fault = (ok, text) => {
	if (!ok) throw new Error(text);
};
const KEYS = ['type', 'generate', 'previous_response_id', 'model', 'instructions', 'input', 'tools', 'tool_choice', 'parallel_tool_calls',
	'reasoning', 'store', 'stream', 'include', 'prompt_cache_key', 'text', 'service_tier', 'max_output_tokens'];

let count = 0;
const done = (item) => ({ type: 'response.output_item.done', item });
const message = (text) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
const call = (cmd, call_id) => ({ type: 'function_call', name: 'exec_command', call_id, arguments: JSON.stringify({ cmd }) });
/** The events of a response with these items. */
export const answerOf = (...items) => {
	const id = `resp_${++count}`, usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };
	return [{ type: 'response.created', response: { id } }, ...items.map(done), { type: 'response.completed', response: { id, usage } }];
};
export const sayOf = (text) => () => answerOf(message(text));
export const runOf = (cmd, id) => () => answerOf(call(cmd, id));
export const errorOf = (status, error, headers) => [{ type: 'error', status, error, headers }];

/** Reads masked client frames: [{opcode, fin, payload}], rest. */
export function readFrames(bytes) {
	const frames = [];
	for (;;) {
		const short = bytes.length > 1 ? bytes[1] & 127 : 0, head = short < 126 ? 6 : short === 126 ? 8 : 14;
		if (bytes.length < head) return [frames, bytes];
		fault(bytes[1] & 128, 'an unmasked frame');
		const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
		if (bytes.length < head + length) return [frames, bytes];
		const key = bytes.subarray(head - 4, head);
		const payload = Buffer.from(bytes.subarray(head, head + length)).map((byte, i) => byte ^ key[i % 4]);
		frames.push({ opcode: bytes[0] & 15, fin: bytes[0] >> 7, payload });
		bytes = bytes.subarray(head + length);
	}
}

function checkCalls(input) {
	const open = new Set();
	for (const item of input) {
		fault(!('id' in item) && !item.wire, `a member of the client in ${JSON.stringify(item)}`);
		if (item.type === 'function_call') open.add(item.call_id);
		if (item.type === 'function_call_output') fault(open.delete(item.call_id), `No tool call found for ${item.call_id}`);
	}
	fault(open.size === 0, `No tool output found for function call ${[...open]}`);
}

/** Takes a request into the state of its socket; throws a refusal. */
function take(state, body) {
	Object.keys(body).forEach((key) => fault(KEYS.includes(key), `Unknown parameter: '${key}'.`));
	fault(body.type === 'response.create' && body.stream === true && Array.isArray(body.input), 'response.create');
	if (body.previous_response_id !== undefined && body.previous_response_id !== state.id)
		throw Object.assign(new Error('not found'), { answer: errorOf(400, { type: 'invalid_request_error',
			code: 'previous_response_not_found', message: `Previous response with id '${body.previous_response_id}' not found.` }) });
	const known = body.previous_response_id ? state.input : [];
	const input = [...known, ...body.input];
	checkCalls(input);
	return input;
}

function play(socket, answer, state, input) {
	const events = Array.isArray(answer) ? answer : answer.events ?? [];
	for (const event of events) {
		socket.write(frame(1, typeof event === 'string' ? event : JSON.stringify(event), { masked: false }));
		if (event.type === 'response.completed') Object.assign(state, { id: event.response.id,
			input: [...input, ...events.filter((e) => e.type === 'response.output_item.done').map((e) => e.item)] });
	}
	for (const bytes of answer.raw ?? []) socket.write(bytes);
	answer.play?.(socket);
	if (answer.close) socket.write(frame(8, Buffer.from([answer.close >> 8, answer.close & 255]), { masked: false }));
	if (answer.drop) socket.destroy();
}

/** options: upgrade(request, n) returns undefined to accept, or [status, headers, body] to refuse; head: headers of the handshake;
 *  warmUp: the answer to a warm-up; tls: options of node's https; silent: the server reads nothing of the socket. */
export async function startSocketModel(t, answers, { upgrade, head = [], warmUp, tls, silent } = {}) {
	const server = { frames: [], faults: [], handshakes: [], posts: [], warmUps: 0, sockets: new Set(), closes: [] };
	let next = 0;
	const answerTo = async (got) => {
		const answer = answers[Math.min(next++, answers.length - 1)];
		return typeof answer === 'function' ? answer(got, server.frames.length) : answer;
	};
	const onText = async (socket, state, text) => {
		const body = JSON.parse(text);
		fault(!state.busy, 'a request before the end of the last response');
		let input;
		try {
			input = take(state, body);
		} catch (error) {
			if (!error.answer) server.faults.push(error.message);
			server.frames.push({ body, bytes: text.length, socket: state.number, refused: true });
			play(socket, error.answer ?? errorOf(400, { message: error.message }), state, []);
			return;
		}
		if (body.generate === false) {
			server.warmUps++;
			play(socket, warmUp ?? answerOf(), state, input);
			return;
		}
		const got = { body, bytes: text.length, socket: state.number, input, text };
		server.frames.push(got);
		state.busy = true;
		const answer = await answerTo(got);
		state.busy = false;
		play(socket, answer, state, input);
	};
	const web = (tls ? https : http).createServer(tls ?? {}, async (request, response) => {
		const parts = [];
		for await (const part of request) parts.push(part);
		const body = JSON.parse(Buffer.concat(parts).toString());
		server.posts.push({ body, headers: request.headers });
		const answer = await answerTo({ body });
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		for (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
		response.end();
	});
	web.on('upgrade', (request, socket) => {
		const refusal = upgrade?.(request, server.handshakes.length);
		server.handshakes.push({ url: request.url, headers: request.headers, client: request.socket.getPeerCertificate?.()?.subject?.CN,
			alpn: request.socket.alpnProtocol });
		socket.on('error', () => {});
		if (refusal) {
			const [status, headers = {}, text = ''] = refusal;
			if (status === 'hang') return;
			if (status === 'drop') return socket.destroy();
			const lines = Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('');
			return socket.end(`HTTP/1.1 ${status} No\r\n${lines}Content-Length: ${text.length}\r\n\r\n${text}`);
		}
		const accept = crypto.createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
			.digest('base64');
		socket.write(['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`,
			...head, '', ''].join('\r\n'));
		const state = { number: server.handshakes.length, id: undefined, input: [] };
		server.sockets.add(socket);
		socket.on('close', () => server.sockets.delete(socket));
		let rest = Buffer.alloc(0);
		if (silent) return socket.pause();
		socket.on('data', (bytes) => {
			try {
				let frames;
				[frames, rest] = readFrames(Buffer.concat([rest, bytes]));
				for (const { opcode, fin, payload } of frames) {
					if (opcode === 8) {
						server.closes.push(payload.length > 1 ? payload.readUInt16BE(0) : 1005);
						socket.end();
					} else if (opcode === 1) {
						fault(fin, 'a fragmented request');
						onText(socket, state, payload.toString()).catch((error) => server.faults.push(error.message));
					} else fault(opcode === 10, `opcode ${opcode}`);
				}
			} catch (error) {
				server.faults.push(error.message);
				socket.destroy();
			}
		});
	});
	await new Promise((ready) => web.listen(0, '127.0.0.1', ready));
	t.after(() => {
		for (const socket of server.sockets) socket.destroy();
		web.closeAllConnections();
		web.close();
	});
	return Object.assign(server, { name: 'responses', port: web.address().port,
		url: `http${tls ? 's' : ''}://127.0.0.1:${web.address().port}/v1` });
}
