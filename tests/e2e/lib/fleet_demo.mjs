// A demonstration: a Redis server of its own, three workers, 200 sessions on the scripted model, one worker killed.
//
//   node tests/e2e/lib/fleet_demo.mjs [SESSIONS [WORKERS]]        ./dev fleet

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { startModel, tempDir } from './codex.mjs';
import { startRedis, startWorker } from './fleet.mjs';
import { assertSession } from './fleet_kills.mjs';

const ends = [];
const t = { after: (end) => ends.push(end) };
const count = Number(process.argv[2] ?? 200);
const workerCount = Number(process.argv[3] ?? 3);
const seconds = (from) => ((performance.now() - from) / 1000).toFixed(1);
const runs = count <= 1000; // with more sessions, the engines are to be seen, not the commands

const script = [
	{ when: { path: { 'input.-1.type': 'function_call_output' } }, times: 'forever', reply: [{ message: 'It is done.', chunks: 5 }] },
	{ take: { task: { from: 'input.-1.content.0.text', after: 'task ' } }, times: 'forever',
		reply: runs ? [{ message: 'I run it.', chunks: 5 }, { call: 'exec_command', arguments: { cmd: 'echo {task} >> ran; sleep 0.05' } }]
			: [{ message: 'It is done: {task}.', chunks: 5 }] },
];

/** CPU seconds and peak memory in MB of a process. */
function usage(pid) {
	const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
	const peak = /VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1];
	return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, mb: Math.round(peak / 1024) };
}

async function main() {
	const model = await startModel(t, script, { lifetime: 3_600_000 });
	const redis = await startRedis(t);
	const cwd = tempDir(t, 'cwd');
	const start = (name) => startWorker(t, redis, model,
		{ name, cwd, args: ['-c', 'approval_policy="never"', '--lease-ms', '1000', '--idle-ms', '0', '--max-sessions', '64'] });
	const workers = await Promise.all(Array.from({ length: workerCount }, (_, i) => start(`w${i + 1}`)));
	console.log(`${workerCount} workers are ready; submitting ${count} sessions`);
	const began = performance.now();
	const ids = Array.from({ length: count }, (_, i) => `s${i}`);
	for (const sid of ids) await redis.submit(sid, 't', `task ${sid}`);
	const first = workers[0];
	await redis.untilHash(ids[Math.min(count - 1, 20)], ({ seq }) => seq > 1);
	const lost = usage(first.child.pid);
	first.child.kill('SIGKILL');
	await first.done;
	console.log(`${seconds(began)} s: killed worker w1 while it worked`);
	for (const sid of ids) await redis.untilHash(sid, ({ state, applied, seq }) => state === 'idle' && seq > 1 && applied);
	console.log(`${seconds(began)} s: all ${count} sessions have ended and were let go`);
	let events = 0, taken = 0, interrupted = 0;
	for (const sid of ids) {
		const own = await redis.events(sid);
		assertSession(own, ['t']);
		events += own.length;
		taken += Number((await redis.hash(sid)).epoch > 1);
		interrupted += own.filter(({ msg }) => msg.type === 'exec_command_end' && msg.exit_code === -1).length;
	}
	console.log(`${events} events, each session numbered without a gap, one task_complete each`);
	console.log(`${taken} sessions were taken over from w1`);
	if (runs) {
		const ran = fs.readFileSync(path.join(cwd, 'ran'), 'utf8').split('\n').filter(Boolean);
		assert.equal(new Set(ran).size, ran.length);
		console.log(`${ran.length} commands ran, none twice; ${interrupted} were reported as interrupted`);
	}
	const rest = workers.slice(1).map((worker) => usage(worker.child.pid));
	const info = await redis.call('INFO', 'memory');
	console.log(`CPU of the workers: ${[lost, ...rest].map(({ cpu }) => `${cpu.toFixed(1)} s`).join(', ')}; `
		+ `peak memory: ${[lost, ...rest].map(({ mb }) => `${mb} MB`).join(', ')}; Redis: ${/used_memory_human:(\S+)/.exec(info)[1]}`);
}

try {
	await main();
} finally {
	for (const end of ends.reverse()) await end();
}
