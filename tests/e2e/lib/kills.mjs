// Kills the engine while it works, and checks that nothing is lost that a client had received.
//
//   node tests/e2e/lib/kills.mjs [N [SEED]]        N kills with $CODEX_BIN or build/codex; ./dev kills [N]
//
// Each kill has its own thread: two turns with reasoning, commands (some in parallel), patches and messages, and a compaction
// between them. The seed determines when SIGKILL is sent: after a line of the server or a delay, plus a short further delay. Another
// server then resumes the thread without manual repair, and
//   - every item that was emitted as completed is stored unchanged, and so is the end of every turn,
//   - the next request is valid for a provider: each call has an output and each output a call,
//   - the next turn completes, and every line of the file can be read.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { startAppServer, text } from './app_server.mjs';
import { makeHome, patch, readLines, reply, rollouts, say, startModel } from './codex.mjs';
import { plain, told } from './eventful.mjs';

const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const exec = (cmd) => ({ call: 'exec_command', arguments: { cmd } });

const script = () => [
	reply({ reasoning: 'Let me think of it.', chunks: 3 }, { message: 'I begin.', chunks: 4 }, exec('echo one; sleep 0.02; exit 3')),
	patch('*** Add File: a.txt', '+one', '*** Add File: gone.txt', '+two'),
	reply({ delay_ms: 3 }, { message: 'The first part is done.', chunks: 12 }),
	say('SUMMARY'),
	reply({ message: 'Three at once:' }, exec('seq 2000'), exec('sleep 0.01; echo b'), exec('echo c >&2')),
	patch('*** Update File: a.txt', '*** Move to: b.txt', '@@', '-one', '+uno', '*** Delete File: gone.txt'),
	reply({ reasoning: 'Nearly.' }, { delta: 'All ' }, { delay_ms: 4 }, { delta: 'is ' }, { delta: 'done.' }),
];

/** Pseudo-random numbers from 0 to 1 (mulberry32). */
export function randomOf(seed) {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let z = Math.imul(state ^ (state >>> 15), state | 1);
		z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
		return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** Kills after a number of lines or milliseconds; resolves when the program has exited. */
async function killSometime(server, random) {
	const kill = () => server.child.kill('SIGKILL');
	if (random() < 0.3) {
		setTimeout(kill, random() * 450);
	} else {
		let left = 4 + Math.floor(random() * 98);
		const late = random();
		server.child.stdout.on('data', (bytes) => {
			left -= String(bytes).split('\n').length - 1;
			if (left > 0) return;
			if (late < 0.5) kill();
			else setTimeout(kill, late * 6);
		});
	}
	await server.done;
}

/** Works until the end or until the program has exited. */
async function work(server, threadId) {
	const turn = async (words) => {
		await server.request('turn/start', { threadId, input: [text(words)] });
		await server.next('turn/completed');
	};
	await turn('one');
	await server.request('thread/compact/start', { threadId });
	await server.next('turn/completed');
	await turn('two');
	server.child.kill('SIGKILL');
}

function assertValid({ input }) {
	const calls = new Set();
	const open = new Set();
	for (const { type, call_id: id } of input) {
		if (/_call$/.test(type) && id) {
			assert.ok(!calls.has(id), `two calls ${id}`);
			calls.add(id);
			open.add(id);
		} else if (/_call_output$/.test(type)) {
			assert.ok(open.delete(id), `an output that answers nothing: ${id}`);
		}
	}
	assert.deepEqual([...open], [], 'calls without output');
}

/** Every emitted turn and item is stored, unchanged. */
function assertKept(stored, live) {
	const turns = new Map(plain(stored).map((turn) => [turn.id, turn]));
	for (const { id, status, items } of plain(live)) {
		const turn = turns.get(id);
		assert.ok(turn || !items.length, `turn ${id} is lost, with ${items.length} items`);
		if (status) assert.equal(turn.status, status, `state of turn ${id}`);
		for (const item of items)
			assert.deepEqual(turn.items.find((kept) => kept.id === item.id && kept.type === item.type), item);
	}
}

/** One kill. `after`: a model for the requests after it, which always answers. Resolves to the progress of the work. */
export async function killOnce(t, seed, after) {
	const random = randomOf(seed);
	const model = await startModel(t, script());
	const home = makeHome(t, model);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', FREE);
	await Promise.all([killSometime(server, random), work(server, thread.id).catch(() => {})]);
	await model.stop();
	const live = told(server.messages, thread.id);

	const config = path.join(home, 'config.toml');
	fs.writeFileSync(config, fs.readFileSync(config, 'utf8').replace(model.url, after.url));
	const next = await startAppServer(t, after, { home, cwd: server.cwd });
	const resumed = await next.request('thread/resume', { threadId: thread.id }).catch((error) => error);
	if (resumed instanceof Error) {
		assert.match(resumed.message, /no rollout found/);
		assert.ok(live.every(({ items }) => !items.length), 'there is no file, but items were told');
	} else {
		assertKept(resumed.thread.turns, live);
		await next.request('turn/start', { threadId: thread.id, input: [text('go on')] });
		assert.equal((await next.next('turn/completed')).params.turn.status, 'completed');
		assertValid(after.requests().at(-1).body);
	}
	await next.end();
	for (const file of rollouts(home)) assert.ok(readLines(file).every(({ type }) => type));
	return live.reduce((sum, { items }) => sum + items.length, 0);
}

/** A test context for use outside tests. */
export function scope() {
	const ends = [];
	return { after: (end) => ends.push(end), end: async () => { for (const end of ends.reverse()) await end(); } };
}

async function main(count, first) {
	const reached = [];
	let failures = 0;
	for (let seed = first; seed < first + count; seed++) {
		const one = scope(); // has its own model, because each process has a limited lifetime
		try {
			const after = await startModel(one, [{ ...say('After.'), times: 'forever' }]);
			reached.push(await killOnce(one, seed, after));
		} catch (error) {
			failures++;
			console.error(`kill ${seed}: ${error.stack}`);
		}
		await one.end();
		if ((seed - first + 1) % 50 === 0) console.error(`${seed - first + 1} kills, ${failures} failures`);
	}
	reached.sort((a, b) => a - b);
	const at = (part) => reached[Math.floor((reached.length - 1) * part)];
	console.log(`${count} kills from seed ${first}: items told before the kill ${at(0)}, ${at(0.25)}, ${at(0.5)}, ` +
		`${at(0.75)}, ${at(1)} (least, quarters, most)`);
	console.log(`${count - failures} passed, ${failures} failed`);
	process.exitCode = failures ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	await main(Number(process.argv[2] ?? 500), Number(process.argv[3] ?? 1));
