// Drives `codex app-server`: a JSON-RPC client on standard input and output.
//
//   const server = await startAppServer(t, model);
//   const { thread } = await server.request('thread/start', {});
//   await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
//   const { turn } = (await server.next('turn/completed')).params;
//   assert.equal((await server.end()).code, 0);

import { cleanEnv, codexBin, launch, makeHome, tempDir } from './codex.mjs';

export const text = (words) => ({ type: 'text', text: words });
const CLIENT = { name: 'tests', title: 'Tests', version: '1.0.0' };

/** The error of a refused request. */
export class RpcError extends Error {
	constructor({ code, message, data }) {
		super(message);
		Object.assign(this, { code, data });
	}
}

/** A client over any object that sends lines and emits received ones. */
export function rpcClient({ send, onLine, onEnd }) {
	const messages = []; // all received messages, in order
	const waiting = new Set(); // checks of next(), run after each message
	let taken = 0; // messages before this index were returned or skipped by next()
	let lastId = 0;
	const asked = new Map();
	let hasEnded = false;
	onLine((line) => {
		const message = JSON.parse(line);
		messages.push(message);
		if ('id' in message && !message.method && asked.has(message.id)) {
			const { resolve, reject } = asked.get(message.id);
			asked.delete(message.id);
			if (message.error) reject(new RpcError(message.error));
			else resolve(message.result);
		}
		for (const look of [...waiting]) look();
	});
	onEnd(() => {
		hasEnded = true;
		for (const { reject } of asked.values()) reject(new Error('the server ended before it answered'));
		for (const look of [...waiting]) look();
	});
	/** The first untaken message for which test is true; rejects if the server ends first. */
	const take = (test, what) => new Promise((resolve, reject) => {
		const look = () => {
			const at = messages.findIndex((message, index) => index >= taken && test(message));
			if (at >= 0) taken = at + 1;
			else if (!hasEnded) return;
			waiting.delete(look);
			if (at >= 0) resolve(messages[at]);
			else reject(new Error(`no ${what} in ${JSON.stringify(messages.map((m) => m.method ?? m.id))}`));
		};
		waiting.add(look);
		look();
	});
	return {
		messages,
		write: send,
		send: (message) => send(JSON.stringify(message) + '\n'),
		/** The result; rejects with an RpcError. */
		request: (method, params = {}, id = ++lastId) => new Promise((resolve, reject) => {
			asked.set(id, { resolve, reject });
			send(JSON.stringify({ id, method, params }) + '\n');
		}),
		notify: (method, params) => send(JSON.stringify({ method, params }) + '\n'),
		/** Answers a request of the server. */
		answer: (request, result) => send(JSON.stringify({ id: request.id, result }) + '\n'),
		/** The next notification or request of that name after the last one taken. */
		next: (method) => take((message) => message.method === method, method),
		take,
		/** All notifications of that name so far. */
		all: (method) => messages.filter((message) => message.method === method),
	};
}

/**
 * Options: bin (another program), args, config (TOML), home, cwd, env, capabilities, clientInfo, lifetime (of launch);
 * initialize: false omits the handshake.
 */
export async function startAppServer(t, model, options = {}) {
	const { bin = codexBin, args = [], config, capabilities = { experimentalApi: true }, clientInfo = CLIENT } = options;
	const home = options.home ?? makeHome(t, model, config);
	const cwd = options.cwd ?? tempDir(t, 'cwd');
	const { child, result, done } = launch(t, bin, ['app-server', ...args], { cwd, env: cleanEnv(home, options.env),
		lifetime: options.lifetime });
	let rest = '';
	const client = rpcClient({
		send: (bytes) => child.stdin.write(bytes),
		onLine: (deliver) => child.stdout.on('data', (bytes) => {
			const lines = (rest + bytes).split('\n');
			rest = lines.pop();
			lines.forEach(deliver);
		}),
		onEnd: (tell) => done.then(tell),
	});
	if (options.initialize !== false) {
		client.server = await client.request('initialize', { clientInfo, capabilities });
		client.notify('initialized');
	}
	return Object.assign(client, {
		home, cwd, child, done,
		stderr: () => result.stderr,
		/** Closes standard input and waits. */
		end: () => {
			child.stdin.end();
			return done;
		},
	});
}

/** Notifications as "method" or "method type", without frequent ones. */
export function story(messages) {
	const noise = /^remoteControl\/|^account\/rateLimits|^thread\/tokenUsage|^configWarning/;
	return messages.filter(({ method }) => method && !noise.test(method))
		.map(({ method, params }) => [method, params?.item?.type ?? params?.status?.type].filter(Boolean).join(' '));
}
