// Runs hooks many times in one session: memory, descriptors and processes must not grow, and the engine's own cost per run is printed.
//
//   node tests/e2e/lib/hook_runs.mjs [N]        N runs with $CODEX_BIN or build/codex; ./dev hooks [N]
//
// The processes that start the hooks belong to the supervisor; the cost is the CPU time of the engine alone, without the requests to
// the model, which a session without hooks measures.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { cleanEnv, codexBin, forever, makeHome, say, startModel } from './codex.mjs';
import { scope } from './kills.mjs';
import { startProto, userInput } from './proto.mjs';

const PER_TURN = 50; // hooks of each prompt
const SPARE_KIB = 4096;
const TICK_US = 10_000; // of /proc/PID/stat

/** Descriptors are the fewest of several counts: the connection to the model may be closing. */
async function weigh(pid) {
	let fds = Infinity;
	for (let i = 0; i < 10; i++) {
		fds = Math.min(fds, fs.readdirSync(`/proc/${pid}/fd`).length);
		await new Promise((wake) => setTimeout(wake, 10));
	}
	const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
	const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
	return {
		cpu: (Number(stat[11]) + Number(stat[12])) * TICK_US,
		kib: Number(/VmRSS:\s+(\d+)/.exec(status)[1]),
		fds,
	};
}

/** Runs `turns` prompts with that many hooks each; returns the weights after the first fifth and at the end. */
export async function runHooks(t, turns, perTurn) {
	const model = await startModel(t, [forever(say('Done.'))], { lifetime: 3_600_000 });
	const home = makeHome(t, model);
	const group = { hooks: [{ type: 'command', command: 'true' }] };
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { PreModelRequest: Array(perTurn).fill(group) } }));
	const { status } = spawnSync(codexBin, ['hooks', 'trust', '--all'], { cwd: home, env: cleanEnv(home) });
	assert.equal(status, 0);
	const codex = startProto(t, model, { home });
	codex.child.stdout.setMaxListeners(0);
	let warm;
	for (let i = 1; i <= turns; i++) {
		codex.submit(String(i), userInput('go'));
		await codex.next('task_complete');
		if (i === Math.ceil(turns / 5)) warm = await weigh(codex.child.pid);
	}
	const last = await weigh(codex.child.pid);
	const bad = codex.events().find(({ msg }) => /not trusted|hook failed/.test(msg.message ?? ''));
	assert.ok(!bad, bad?.msg.message);
	assert.equal((await codex.end()).code, 0);
	return { warm, last };
}

function main(count) {
	const one = scope();
	const turns = Math.ceil(count / PER_TURN);
	return (async () => {
		const plain = await runHooks(one, turns, 0);
		const { warm, last } = await runHooks(one, turns, PER_TURN);
		const cost = (last.cpu - plain.last.cpu) / (turns * PER_TURN);
		console.log(`${turns * PER_TURN} hooks: ${warm.kib} KiB and ${warm.fds} descriptors after a fifth, ${last.kib} and ${last.fds} at ` +
			`the end; ${cost.toFixed(0)} us of the engine for each`);
		assert.ok(last.fds <= warm.fds, 'descriptors');
		assert.ok(last.kib <= warm.kib + SPARE_KIB, 'memory');
		assert.ok(cost < 1000, 'the cost of a hook is less than 1 ms');
	})().finally(() => one.end());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(Number(process.argv[2] ?? 10_000));
