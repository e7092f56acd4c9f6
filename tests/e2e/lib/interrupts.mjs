// Interrupts commands that resist termination, and checks that no process remains and that the engine does not grow.
//
//   node tests/e2e/lib/interrupts.mjs [N]          N interrupts with $CODEX_BIN or build/codex; ./dev interrupts [N]
//
// One app-server runs all commands, through each entry point in turn: the model's command with pipes, with a terminal and in the
// sandbox, the user command, command/exec, process/spawn. Each command is the nest (nest.mjs): daemons, double forks, an empty
// environment, processes that ignore TERM. After every interrupt
//   - the engine's only descendant is its supervisor, which has none, zombies included,
//   - no process has the folder of the command as its working folder, so none has escaped from the tree.
// Descriptors and memory of both processes do not grow between the end of the warm-up and the last round.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { startAppServer, text } from './app_server.mjs';
import { forever, run, startModel } from './codex.mjs';
import { NEST } from './nest.mjs';

const SCRIPT = '. ./nest; sleep 600';
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const THREAD_LIFE = 60; // interrupts until the threads are replaced, because a history grows by design
const WARM = 120; // interrupts of the warm-up, after which every code path has run
const PATIENCE_MS = 30_000; // for each step
const SPARE_KIB = { engine: 512, supervisor: 32 }; // growth allowed for the allocator's caches
const pause = (ms) => new Promise((wake) => setTimeout(wake, ms));

// --- processes -------------------------------------------------------------------------------------------

/** The result of `read` for each process; processes that end meanwhile are omitted. */
function ofProcesses(read) {
	const found = [];
	for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
		try {
			found.push(read(Number(name)));
		} catch {
			// the process has exited
		}
	}
	return found;
}

/** {pid, state, parent} of all descendants of pid, zombies included. */
function descendants(pid) {
	const all = ofProcesses((id) => {
		const stat = fs.readFileSync(`/proc/${id}/stat`, 'utf8');
		const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return { pid: id, state, parent: Number(parent) };
	});
	const below = (parent) => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
	return below(pid);
}

/** Processes with this working folder; daemons keep it. */
const workingIn = (dir) => ofProcesses((pid) => fs.readlinkSync(`/proc/${pid}/cwd`) === dir && pid).filter(Boolean);

/** Descriptors and KiB of private memory; the minimum of several samples, because a worker thread can have a file open. */
async function weigh(pid) {
	let fds = Infinity;
	for (let look = 0; look < 10; look++, await pause(20)) fds = Math.min(fds, fs.readdirSync(`/proc/${pid}/fd`).length);
	const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
	return { fds, kib: Number(/^RssAnon:\s+(\d+)/m.exec(status)[1]) };
}

async function until(test, what) {
	for (const end = Date.now() + PATIENCE_MS; !test(); await pause(5)) {
		if (Date.now() > end) throw new Error(`waited in vain for ${what()}`);
	}
}

// --- entry points ----------------------------------------------------------------------------------------------------------

/** An entry point through a turn that `begin` starts; it keeps a thread until it is released. */
function turns(begin, settings) {
	let threadId = null;
	const enter = async (server) => {
		if (!threadId) threadId = (await server.request('thread/start', { ...FREE, cwd: server.cwd, ...settings })).thread.id;
		await begin(server, threadId);
		const turnId = (await server.next('turn/started')).params.turn.id;
		return async () => {
			await server.request('turn/interrupt', { threadId, turnId });
			await server.next('turn/completed');
		};
	};
	enter.rest = async (server) => {
		if (threadId) await server.request('thread/delete', { threadId });
		threadId = null;
	};
	return enter;
}

const told = (words) => (server, threadId) => server.request('turn/start', { threadId, input: [text(words)] });
const byUser = (server, threadId) => server.request('thread/shellCommand', { threadId, command: SCRIPT });

const commandExec = () => async (server, id) => {
	const sandboxPolicy = { type: 'dangerFullAccess' };
	const end = server.request('command/exec', { command: ['bash', '-c', SCRIPT], processId: id, disableTimeout: true, sandboxPolicy });
	return async () => {
		await server.request('command/exec/terminate', { processId: id });
		await end;
	};
};

const processSpawn = () => async (server, id) => {
	const spawn = { command: ['bash', '-c', SCRIPT], cwd: server.cwd, processHandle: id, timeoutMs: null };
	await server.request('process/spawn', spawn);
	return async () => {
		await server.request('process/kill', { processHandle: id });
		await server.next('process/exited');
	};
};

const makeDoors = () => [turns(told('pipes')), turns(told('terminal')), turns(told('pipes'), { sandbox: 'workspace-write' }),
	turns(byUser), commandExec(), processSpawn()];

// --- rounds ---------------------------------------------------------------------------------------------------------

async function assertNothingLeft(server) {
	const { pid } = server.child;
	let left, strays;
	const isTidy = () => {
		left = descendants(pid);
		strays = workingIn(server.cwd).filter((one) => one !== pid && one !== left[0]?.pid);
		return left.length === 1 && left[0].parent === pid && left[0].state !== 'Z' && !strays.length;
	};
	await until(isTidy, () => `the end of ${JSON.stringify({ left, strays })}`);
	return left[0].pid;
}

async function interruptOne(server, door, id) {
	const ready = path.join(server.cwd, 'ready');
	fs.rmSync(ready, { force: true });
	const interrupt = await door(server, id);
	await until(() => fs.existsSync(ready), () => `a command of door ${id}: ${server.stderr()}`);
	assert.ok(descendants(server.child.pid).length > 5, 'the nest has not lived');
	await interrupt();
	return await assertNothingLeft(server);
}

/** Resolves to {warm, last}: the sizes of {engine, supervisor} after the first rounds and at the end. */
export async function interruptMany(t, count, onRound = () => {}) {
	const exec = (more) => forever(run(SCRIPT, { yield_time_ms: 30_000, ...more }));
	const inTerminal = { when: { equal: { 'input.*.content.*.text': 'terminal' } }, ...exec({ tty: true }) };
	const lifetime = count * PATIENCE_MS;
	const model = await startModel(t, [inTerminal, exec()], { lifetime });
	const server = await startAppServer(t, model, { lifetime });
	fs.writeFileSync(path.join(server.cwd, 'nest'), NEST);
	const doors = makeDoors();
	const warmAt = Math.min(WARM, Math.ceil(count / 2));
	const weights = {};
	let supervisor;
	for (let i = 1; i <= count; i++) {
		const before = supervisor;
		supervisor = await interruptOne(server, doors[i % doors.length], String(i));
		assert.ok(!before || supervisor === before, 'the supervisor was ended');
		if (i % THREAD_LIFE === 0 || i === warmAt || i === count)
			for (const door of doors) await door.rest?.(server);
		if (i === warmAt || i === count)
			weights[i === count ? 'last' : 'warm'] = { engine: await weigh(server.child.pid), supervisor: await weigh(supervisor) };
		onRound(i);
	}
	assert.equal((await server.end()).code, 0);
	return weights;
}

/** A test context for use outside tests. */
function scope() {
	const ends = [];
	return { after: (end) => ends.push(end), end: async () => { for (const end of ends.reverse()) await end(); } };
}

async function main(count) {
	const one = scope();
	try {
		const { warm, last } = await interruptMany(one, count, (i) => i % 100 === 0 && console.error(`${i} interrupts`));
		for (const who of ['engine', 'supervisor']) {
			console.log(`${who}: ${warm[who].fds} descriptors and ${warm[who].kib} KiB after the first rounds, ` +
				`${last[who].fds} and ${last[who].kib} at the end`);
			assert.equal(last[who].fds, warm[who].fds, `descriptors of the ${who}`);
			assert.ok(last[who].kib <= warm[who].kib + SPARE_KIB[who], `memory of the ${who}`);
		}
		console.log(`${count} interrupts: 0 descendants, 0 zombies, and none of the above grew`);
	} finally {
		await one.end();
	}
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(Number(process.argv[2] ?? 1000));
