// Interrupts and kills while MCP servers work, and checks that no process is left.
//
//   node tests/e2e/lib/mcp_kills.mjs [N [SEED]]        N times with $CODEX_BIN or build/codex; ./dev kills mcp [N]
//
// Each engine has two servers that ignore signals and the end of their input, and have a child in a session of its own. The seed
// determines what happens: an interrupt of a call, after which the engine continues; or the end of the engine at a random moment of its
// start, of a call or of a turn: SIGKILL, SIGTERM, the end of its input, or a client that closes both pipes. Afterwards all
// processes that have ever been started are gone.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { randomOf, scope } from './kills.mjs';
import { startAcp } from './acp.mjs';
import { reply, startModel, tempDir } from './codex.mjs';

const SERVER = fileURLToPath(new URL('../../../bench/mcp_server.sh', import.meta.url));
const INTERRUPTS = 8; // of one engine at most
const WAIT_MS = 60000; // the supervisor ends processes after the engine; more than this is a hang

const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));
const lives = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };

/** A call of a tool that never answers. */
const calling = () => reply({ item: { type: 'function_call', call_id: 'c', namespace: 'mcp__one', name: 'echo', arguments: '{}' } });

async function interruptOne(acp, sessionId) {
	const from = acp.messages.length;
	const prompt = acp.prompt(sessionId, 'go');
	await acp.until((it) => acp.messages.indexOf(it) >= from && it.params?.update?.sessionUpdate === 'tool_call');
	await acp.notify('session/cancel', { sessionId });
	assert.equal((await prompt).stopReason, 'cancelled');
}

async function endEngine(acp, kind) {
	if (kind < 0.4) acp.child.kill('SIGKILL');
	else if (kind < 0.6) acp.child.kill('SIGTERM');
	else if (kind < 0.8) acp.child.stdin.end();
	else { acp.child.stdin.destroy(); acp.child.stdout.destroy(); }
	await acp.done;
}

/** One engine. Resolves to {interrupts, processes}; throws if a process is left. */
export async function killOnce(t, seed, limit = Infinity) {
	const random = randomOf(seed);
	const interrupts = Math.min(Math.floor(random() * (INTERRUPTS + 1)), limit - 1);
	const log = path.join(tempDir(t, 'log'), 'pids');
	const model = await startModel(t, [{ ...calling(), times: 'forever' }]);
	const acp = await startAcp(t, model, { config: 'approval_policy = "never"\nsandbox_mode = "danger-full-access"' });
	const env = [{ name: 'LOG', value: log }, { name: 'STUBBORN', value: '1' }];
	const mcpServers = ['one', 'two'].map((name) => ({ name, command: SERVER, args: [], env }));
	const opening = acp.newSession({ mcpServers });
	if (random() < 0.2) { // during the start of the servers
		opening.catch(() => {});
		await sleep(random() * 80);
	} else {
		const { sessionId } = await opening;
		for (let i = 0; i < interrupts; i++) await interruptOne(acp, sessionId);
		acp.prompt(sessionId, 'go').catch(() => {});
		await sleep(random() * 40);
	}
	await endEngine(acp, random());
	const pids = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trim().split('\n').map(Number) : [];
	for (const end = Date.now() + WAIT_MS; pids.some(lives) && Date.now() < end;) await sleep(5);
	const left = pids.filter(lives);
	for (const pid of left) process.kill(pid, 'SIGKILL');
	assert.deepEqual(left, [], 'processes are left');
	return { interrupts, processes: pids.length };
}

async function main(count, first) {
	let seed = first, interrupts = 0, kills = 0, processes = 0, failures = 0;
	while (interrupts + kills < count) {
		const one = scope();
		try {
			const done = await killOnce(one, seed, count - interrupts - kills);
			interrupts += done.interrupts;
			processes += done.processes;
		} catch (error) {
			failures++;
			console.error(`seed ${seed}: ${error.stack}`);
		}
		await one.end();
		kills++;
		if (++seed % 50 === 0) console.error(`${interrupts} interrupts, ${kills} kills, ${failures} failures`);
	}
	console.log(`${interrupts} interrupts and ${kills} kills from seed ${first}, with ${processes} processes of MCP servers`);
	console.log(failures ? `${failures} engines left a process or failed` : '0 processes left');
	process.exitCode = failures ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	await main(Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 1));
