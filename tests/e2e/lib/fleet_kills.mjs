// Kills workers while they work, and checks that no event is lost or doubled and that no command runs twice.
//
//   node tests/e2e/lib/fleet_kills.mjs [N [SEED]]        N kills with $CODEX_BIN or build/codex; ./dev kills fleet [N]
//
// Three workers share one namespace. Sessions are submitted all the time; each task runs one command, which appends the name of its task
// to a file, and answers. The seed determines when SIGKILL is sent and to which worker; another worker takes its place. At the end
//   - every task has one task_started and one task_complete, and the events of each session are numbered without a gap,
//   - every call has at most one begin and one end, and each begin has an end with the same call_id,
//   - no task is in the file twice,
//   - what a client has read while the workers died is what is stored.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { startModel, tempDir } from './codex.mjs';
import { startRedis, startWorker } from './fleet.mjs';
import { randomOf } from './kills.mjs';

const NEVER = ['-c', 'approval_policy="never"', '--lease-ms', '500', '--max-crashes', '1000', '--idle-ms', '300'];

/** Answers a task: a command that writes the task's name, then a message. */
const script = [
	{ when: { path: { 'input.-1.type': 'function_call_output' } }, times: 'forever',
		reply: [{ delta: 'It ' }, { delay_ms: 2 }, { delta: 'is ' }, { delta: 'done.' }] },
	{ take: { task: { from: 'input.-1.content.0.text', after: 'task ' } }, times: 'forever',
		reply: [{ delta: 'I run it.' }, { delay_ms: 3 }, { call: 'exec_command', arguments: { cmd: 'echo {task} >> ran; sleep 0.02' } }] },
];

async function startSlot(t, redis, model, cwd, slot, round) {
	return startWorker(t, redis, model, { name: `w${slot}-${round}`, args: NEVER, cwd });
}

/** Asserts what the stored events of a session must be. */
export function assertSession(events, tasks) {
	events.forEach((event, i) => assert.equal(event.seq, i + 1));
	for (const id of tasks) {
		const own = events.filter((event) => event.id === id).map(({ msg }) => msg);
		for (const type of ['task_started', 'task_complete'])
			assert.equal(own.filter((msg) => msg.type === type).length, 1, `${id}: ${type}`);
	}
	const begun = events.filter(({ msg }) => msg.type === 'exec_command_begin').map(({ msg }) => msg.call_id);
	const ended = events.filter(({ msg }) => msg.type === 'exec_command_end').map(({ msg }) => msg.call_id);
	assert.deepEqual([...new Set(begun)], begun, 'a call began twice');
	assert.deepEqual([...ended].sort(), [...begun].sort(), 'begins and ends');
}

/** Kills workers N times; returns what happened. */
export async function killWorkers(t, count, seed) {
	const random = randomOf(seed);
	const model = await startModel(t, script, { lifetime: 3_600_000 });
	const redis = await startRedis(t, { args: ['--appendonly', 'no'] });
	const cwd = tempDir(t, 'cwd');
	const workers = await Promise.all([0, 1, 2].map((slot) => startSlot(t, redis, model, cwd, slot, 0)));
	const sessions = new Map();
	const watches = [];
	const submit = async (n) => {
		const sid = `s${n}`;
		const id = `t${n}`;
		sessions.set(sid, [id]);
		await redis.submit(sid, id, `task ${id}`);
		watches.push(redis.untilEnd(sid, id).then((seen) => ({ sid, seen })));
	};
	for (let kills = 0; kills < count; kills++) {
		await submit(kills);
		await new Promise((resolve) => setTimeout(resolve, random() * 250));
		const slot = Math.floor(random() * workers.length);
		workers[slot].child.kill('SIGKILL');
		await workers[slot].done;
		workers[slot] = await startSlot(t, redis, model, cwd, slot, kills + 1);
	}
	const seen = await Promise.all(watches);
	let interrupted = 0;
	for (const [sid, tasks] of sessions) {
		const events = await redis.events(sid);
		assertSession(events, tasks);
		interrupted += events.filter(({ msg }) => msg.type === 'exec_command_end' && msg.exit_code === -1).length;
		for (const { seen: read } of seen.filter((it) => it.sid === sid)) assert.deepEqual(events.slice(0, read.length), read);
	}
	const ran = fs.existsSync(path.join(cwd, 'ran')) ? fs.readFileSync(path.join(cwd, 'ran'), 'utf8').split('\n').filter(Boolean) : [];
	assert.deepEqual([...new Set(ran)], ran, 'a command ran twice');
	const takeovers = (await Promise.all([...sessions.keys()].map((sid) => redis.hash(sid)))).filter(({ epoch }) => epoch > 1).length;
	return { kills: count, sessions: sessions.size, takeovers, interrupted, commands: ran.length };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const ends = [];
	const t = { after: (end) => ends.push(end) };
	const count = Number(process.argv[2] ?? 500);
	const seed = Number(process.argv[3] ?? 1);
	const started = Date.now();
	try {
		const result = await killWorkers(t, count, seed);
		console.log(`${result.kills} kills (seed ${seed}) in ${Math.round((Date.now() - started) / 1000)} s: ${result.sessions} sessions ended, `
			+ `${result.takeovers} were taken over, ${result.commands} commands ran once, ${result.interrupted} were reported as interrupted`);
	} finally {
		for (const end of ends.reverse()) await end();
	}
}
