// Figures of a fleet on this machine: what docs/fleet.md gives in its capacity model.
//
//   node bench/fleet.mjs [idle [N]] [emit] [floor]        with $CODEX_BIN or build/codex; all three without words
//
// idle: a worker with N idle sessions (1,000): memory, commands a second at Redis, CPU.
// floor: the emit script alone, events of 170 bytes, 8 calls in flight, in batches of 1, 10, 50: what Redis can take.
// emit: a worker with 8 sessions that stream deltas, so many at once that a batch has 2, 10 or 50 events,
// or without a pause: events a second and the worker's CPU per event, the model's stream included.

import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

import { forever, reply, say, startModel } from '../tests/e2e/lib/codex.mjs';
import { connect, startRedis, startWorker } from '../tests/e2e/lib/fleet.mjs';

const ends = [];
const t = { after: (end) => ends.push(end) };
const EVENT = 170;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** CPU seconds of a process so far. */
function cpu(pid) {
	const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
	return (Number(stat[11]) + Number(stat[12])) / 100;
}
const rss = (pid) => Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
const info = async (redis, section, name) => new RegExp(`${name}:(\\S+)`).exec(await redis.call('INFO', section))[1];

async function idle(n = 1000) {
	const model = await startModel(t, [forever(say('Hello.'))], { lifetime: 3_600_000 });
	const redis = await startRedis(t);
	const worker = await startWorker(t, redis, model, { name: 'idle',
		args: ['--max-sessions', String(n), '--idle-ms', '3600000', '--lease-ms', '15000'] });
	const { pid } = worker.child;
	const before = rss(pid);
	for (let i = 0; i < n; i++) {
		await redis.submit(`s${i}`, 't', 'hi');
		if (i % 50 === 49) await redis.untilEnd(`s${i}`, 't');
	}
	for (let i = 0; i < n; i++) await redis.untilEnd(`s${i}`, 't');
	await sleep(2000);
	const [from, used, start] = [Number(await info(redis, 'stats', 'total_commands_processed')), cpu(pid), performance.now()];
	await sleep(20_000);
	const seconds = (performance.now() - start) / 1000;
	const commands = Number(await info(redis, 'stats', 'total_commands_processed')) - from;
	const calls = await info(redis, 'commandstats', 'cmdstat_evalsha');
	console.log(`idle: ${n} sessions take ${(rss(pid) - before).toFixed(1)} MB above the ${before.toFixed(1)} MB of the worker, `
		+ `${(commands / seconds).toFixed(1)} commands a second with those inside of scripts, `
		+ `${((cpu(pid) - used) / seconds * 1000).toFixed(2)} ms CPU a second; `
		+ `Redis has ${await info(redis, 'memory', 'used_memory_human')}; scripts since the start: ${calls}`);
}

async function floor() {
	const script = fs.readFileSync(fileURLToPath(new URL('../src/fleet/script/emit.lua', import.meta.url)), 'utf8');
	const redis = await startRedis(t);
	const text = JSON.stringify({ id: 't', msg: { type: 'agent_message_content_delta', delta: 'x'.repeat(EVENT - 60) } });
	const sha = await redis.call('SCRIPT', 'LOAD', script);
	for (const batch of [1, 10, 50]) {
		const until = performance.now() + 4000;
		let events = 0;
		const start = performance.now();
		await Promise.all(Array.from({ length: 8 }, async (_, i) => {
			const link = connect(redis.socket);
			const sid = `f${batch}-${i}`;
			await link.call('HSET', redis.key(`s:${sid}`), 'epoch', 1, 'seq', 0, 'lines', 0, 'owner', 'w');
			for (let seq = 0; performance.now() < until; seq += batch, events += batch) {
				await link.call('EVALSHA', sha, 1, redis.key('work'), sid, 1, seq, 0, '', 10000, 'w', 0, batch, Date.now(),
					...Array.from({ length: batch }, () => text));
			}
			link.end();
		}));
		const rate = Math.round(events / (performance.now() - start) * 1000);
		console.log(`floor: batch ${batch}: ${rate} events a second (the client is a script of Node)`);
	}
}

async function emit() {
	for (const batch of [1, 5, 25, 0]) { // a delta makes two events
		const delta = { delta: 'x'.repeat(EVENT - 130) + ' ' };
		const rounds = batch ? 60 : 1;
		const deltas = (n) => Array.from({ length: n }, () => delta);
		const one = batch ? [...deltas(batch), { delay_ms: 60 }] : deltas(5000);
		const steps = Array.from({ length: rounds }, () => one).flat();
		const model = await startModel(t, [forever(reply(...steps))], { lifetime: 3_600_000 });
		const redis = await startRedis(t);
		const worker = await startWorker(t, redis, model, { name: 'emit',
			args: ['--idle-ms', '3600000', '--lease-ms', '15000', '--events-kept', '100000'] });
		const { pid } = worker.child;
		const run = async (id) => {
			const sids = Array.from({ length: 8 }, (_, i) => `s${i}`);
			const before = await Promise.all(sids.map(async (sid) => Number((await redis.hash(sid)).seq ?? 0)));
			for (const sid of sids) await redis.submit(sid, id, 'hi');
			await Promise.all(sids.map((sid, i) => redis.untilEnd(sid, id, { after: before[i] })));
			const after = await Promise.all(sids.map(async (sid) => Number((await redis.hash(sid)).seq)));
			return after.reduce((sum, seq, i) => sum + seq - before[i], 0);
		};
		await run('warm');
		const calls = async () => Number(/calls=(\d+)/.exec(await info(redis, 'commandstats', 'cmdstat_evalsha'))[1]);
		const [used, from, start] = [cpu(pid), await calls(), performance.now()];
		const events = await run('t');
		const [micros, seconds] = [(cpu(pid) - used) * 1e6, (performance.now() - start) / 1000];
		const perCall = (events / (await calls() - from)).toFixed(1);
		console.log(`emit: ${batch ? `${batch} deltas at once` : 'without a pause'}: ${events} events, ${perCall} a call, `
			+ `${Math.round(events / seconds)} a second, ${(micros / events).toFixed(1)} us CPU of the worker per event`);
		worker.child.kill('SIGKILL');
		await worker.done;
	}
}

const words = process.argv.slice(2);
const has = (word) => !words.length || words.includes(word);
try {
	if (has('floor')) await floor();
	if (has('emit')) await emit();
	if (has('idle')) await idle(Number(words[words.indexOf('idle') + 1]) || 1000);
} finally {
	for (const end of ends.reverse()) await end();
}
