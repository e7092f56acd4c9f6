// Scripts end with their engine and their thread, endless ones too; and they have no other tools than those offered.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { engines, hostsOf, isHost, runScript, script, startThread } from './lib/code_mode.mjs';
import { needs, reply } from './lib/codex.mjs';

const server = needs('app-server');
const LOOP = script('// @exec: {"yield_time_ms": 0}\nfor (;;);');
const pause = () => new Promise((wake) => setTimeout(wake, 20));

/** A thread with an endless script that has yielded, in the middle of a turn or after it, and its processes. */
async function startLoop(t, engine, inTurn) {
	const thread = await startThread(t, inTurn ? [LOOP, reply({ start: true }, { hang: true })] : [LOOP], { engine });
	await thread.start();
	if (!inTurn) await thread.server.next('turn/completed');
	let hosts = [];
	while (!hosts.length || thread.model.requests().length < 2) {
		await pause();
		hosts = hostsOf(thread.server.child.pid);
	}
	return { thread, hosts };
}

const gone = async (hosts) => {
	while (hosts.some(isHost)) await pause();
};

const ends = {
	'its input': ({ server: { child } }) => child.stdin.end(),
	SIGTERM: ({ server: { child } }) => child.kill('SIGTERM'),
	SIGKILL: ({ server: { child } }) => child.kill('SIGKILL'),
};
for (const engine of engines) {
	for (const [name, end] of Object.entries(ends)) {
		test(`${engine}: an endless script ends with the engine that ends by ${name}`, server, async (t) => {
			const { thread, hosts } = await startLoop(t, engine, name !== 'its input');
			end(thread);
			await gone(hosts);
			await thread.server.done;
		});
	}

	test(`${engine}: an endless script ends with its thread`, server, async (t) => {
		const { thread, hosts } = await startLoop(t, engine, false);
		await thread.server.request('thread/archive', { threadId: thread.thread.id });
		await gone(hosts);
		assert.equal(thread.server.child.exitCode, null);
	});

	test(`${engine}: what is not offered is no function`, server, async (t) => {
		const { texts } = await runScript(t, `for (const name of ['nope', 'exec', 'wait', 'request_user_input', 'spawn_agent'])
			try { await tools[name]({}) } catch (e) { text(name + ' ' + (e instanceof TypeError) + ' ' + /not a function/.test(e.message)) }
			tools.mine = () => 1; text(tools.mine()); text(ALL_TOOLS.some(({ name }) => name === 'mine'))`, { engine });
		assert.deepEqual(texts, ['nope', 'exec', 'wait', 'request_user_input', 'spawn_agent'].map((name) => `${name} true true`).concat('1', 'false'));
	});
}
