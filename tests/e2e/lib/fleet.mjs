// A fleet for tests: a Redis server of its own, workers, and a client that speaks the protocol of Redis.
//
//   const redis = await startRedis(t);
//   const worker = await startWorker(t, redis, model, { name: 'a' });
//   await redis.submit('s1', 't1', 'hello');
//   const events = await redis.untilEnd('s1', 't1');

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import { cleanEnv, codexBin, launch, makeHome, tempDir, waitFor } from './codex.mjs';

export const fleetBin = path.join(path.dirname(codexBin), 'codex-fleet');

/** Options for a test that needs redis-server. */
export function needsRedis() {
	if (!fs.existsSync(fleetBin)) return { skip: `${fleetBin} does not exist` };
	if (spawnSync('redis-server', ['--version']).error) return { skip: 'redis-server is not installed' };
	return { skip: false };
}

// --- the protocol ---------------------------------------------------------------------------------------------------

/** Reads one reply at `at`: [value, next position], or null if it is incomplete. */
export function parse(bytes, at) {
	const end = bytes.indexOf('\r\n', at);
	if (end < 0) return null;
	const kind = String.fromCharCode(bytes[at]);
	const line = bytes.toString('utf8', at + 1, end);
	let next = end + 2;
	if (kind === '+') return [line, next];
	if (kind === '-') return [new Error(line), next];
	if (kind === ':') return [Number(line), next];
	const count = Number(line);
	if (count < 0) return [null, next];
	if (kind === '$') return bytes.length < next + count + 2 ? null : [bytes.toString('utf8', next, next + count), next + count + 2];
	const list = [];
	for (let i = 0; i < count; i++) {
		const item = parse(bytes, next);
		if (!item) return null;
		list.push(item[0]);
		next = item[1];
	}
	return [list, next];
}

/** A command as bytes. */
export function command(words) {
	const parts = words.map((word) => Buffer.from(String(word)));
	return Buffer.concat([Buffer.from(`*${parts.length}\r\n`),
		...parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')])]);
}

/** A connection: call(...words) resolves to the reply and rejects with an error of the server. */
export function connect(address) {
	const socket = net.connect(address);
	const waiting = [];
	let bytes = Buffer.alloc(0);
	const fail = (error) => waiting.splice(0).forEach(({ reject }) => reject(error ?? new Error('the connection ended')));
	socket.on('data', (more) => {
		bytes = Buffer.concat([bytes, more]);
		for (let at = 0; ;) {
			const item = parse(bytes, at);
			if (!item) {
				bytes = bytes.subarray(at);
				break;
			}
			at = item[1];
			const { resolve, reject } = waiting.shift();
			if (item[0] instanceof Error) reject(item[0]);
			else resolve(item[0]);
		}
	}).on('error', fail).on('close', () => fail());
	return {
		call: (...words) => new Promise((resolve, reject) => {
			waiting.push({ resolve, reject });
			socket.write(command(words));
		}),
		end: () => socket.destroy(),
		hasEnded: () => socket.destroyed,
	};
}

export const fieldsOf = (list) => Object.fromEntries(Array.from({ length: list.length / 2 }, (_, i) => [list[2 * i], list[2 * i + 1]]));

/** A port of loopback that no program listens on. */
export const freePort = () => new Promise((resolve) => {
	const server = net.createServer().listen(0, '127.0.0.1', () => {
		const { port } = server.address();
		server.close(() => resolve(port));
	});
});

// --- the server -----------------------------------------------------------------------------------------------------

/**
 * Starts a Redis server on a socket in a folder of its own. Options: args, dir (to start it again on the same data), ns.
 * key(rest) makes a key; submit, hash, events and untilEnd work on sessions.
 */
export async function startRedis(t, { args = [], dir = tempDir(t, 'redis'), ns = 'default' } = {}) {
	const socket = path.join(dir, 'redis.sock');
	fs.rmSync(socket, { force: true });
	const server = launch(t, 'redis-server', ['--port', '0', '--unixsocket', socket, '--dir', dir, '--save', '', ...args],
		{ lifetime: 600_000 });
	await waitFor(server.child.stdout, () => server.result.stdout, (text) => /ready to accept connections/i.test(text));
	let link = connect(socket);
	t.after(() => link.end());
	const call = (...words) => { // Sentinel ends the connections of a replica that it promotes
		if (link.hasEnded()) link = connect(socket);
		return link.call(...words);
	};
	const key = (rest) => `codex:{${ns}}:${rest}`;
	const redis = {
		dir, socket, server, key, ns, url: `unix://${socket}`, call, child: server.child,
		submitOp: async (sid, id, op) => {
			await call('MULTI');
			await call('XADD', key(`s:${sid}:sq`), '*', 'sub', JSON.stringify({ id, op }));
			await call('XADD', key('work'), '*', 'sid', sid);
			return call('EXEC');
		},
		submit: (sid, id, text) => redis.submitOp(sid, id, { type: 'user_input', items: [{ type: 'text', text }] }),
		hash: async (sid) => fieldsOf(await call('HGETALL', key(`s:${sid}`))),
		/** All events that are stored: {seq, id, msg}. */
		events: async (sid) => (await call('XRANGE', key(`s:${sid}:eq`), '-', '+'))
			.map(([id, [, text]]) => ({ seq: Number(id.split('-')[0]), ...JSON.parse(text) })),
		/** Waits, without polling, until an event passes the test; returns all events up to it. */
		until: async (sid, test, { after = 0 } = {}) => {
			const watch = connect(socket);
			const seen = [];
			try {
				for (let last = after; ;) {
					const reply = await watch.call('XREAD', 'BLOCK', 0, 'STREAMS', key(`s:${sid}:eq`), `${last}-0`);
					for (const [id, [, text]] of reply?.[0][1] ?? []) {
						last = Number(id.split('-')[0]);
						const event = { seq: last, ...JSON.parse(text) };
						seen.push(event);
						if (test(event)) return seen;
					}
				}
			} finally {
				watch.end();
			}
		},
		untilEnd: (sid, id, options) => redis.until(sid, (event) =>
			event.id === id && ['task_complete', 'turn_aborted'].includes(event.msg.type), options),
		/** Looks every few milliseconds until the test of the session's hash holds; for states that no event shows. */
		untilHash: async (sid, test) => {
			for (;;) {
				const hash = await redis.hash(sid);
				if (test(hash)) return hash;
				await new Promise((resolve) => setTimeout(resolve, 20));
			}
		},
		connect: () => connect(socket),
	};
	return redis;
}

// --- workers --------------------------------------------------------------------------------------------------------

/** Starts `codex worker` and waits until it is ready. Options: name, args, home, cwd, config, waits (false: do not wait). */
export async function startWorker(t, redis, model, { name = 'w', args = [], config = '', home = makeHome(t, model, config),
	cwd = tempDir(t, 'cwd'), env, waits = true } = {}) {
	const worker = launch(t, codexBin, ['worker', '--redis', redis.url, '--namespace', redis.ns, '--name', name,
		'--lease-ms', '600', '-c', 'sandbox_mode="danger-full-access"', ...args], { cwd, env: cleanEnv(home, env), lifetime: 600_000 });
	if (waits) await waitFor(worker.child.stderr, () => worker.result.stderr, (text) => text.includes(`worker ${name} ready`));
	return { ...worker, name, home, cwd };
}

/** Runs `codex fleet …` to its end. */
export function fleet(t, redis, args, env) {
	const home = tempDir(t, 'home');
	const program = launch(t, codexBin, ['fleet', ...args, '--redis', redis.url, '--namespace', redis.ns],
		{ env: cleanEnv(home, env) });
	program.child.stdin.end();
	return program.done;
}

/** Asserts that the numbers are 1, 2, 3 … */
export function isGapless(events) {
	return events.every((event, i) => event.seq === i + 1);
}

export const types = (events) => events.map((event) => event.msg.type);
