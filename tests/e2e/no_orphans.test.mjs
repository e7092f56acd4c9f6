// Commands that resist termination (lib/nest.mjs), through every entry point and every kind of end: no descendant is left.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, makeHome, needs, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { assertGone, isAlive, NEST, nestIsBuilt, nestIsGone, until } from './lib/nest.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const options = { ...needs('exec'), timeout: 60_000 };
const STAYS = `${NEST}\nsleep 600`;
const NO_SANDBOX = { sandboxPolicy: { type: 'dangerFullAccess' } };
const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';

/** Ways for an engine to end; in each the supervisor or the engine itself cleans up. */
const ENDS = {
	SIGKILL: ({ child }) => child.kill('SIGKILL'),
	SIGTERM: ({ child }) => child.kill('SIGTERM'),
	'the end of its input': ({ child }) => child.stdin.end(),
};
const HANG_UP = ({ child }) => {
	child.stdin.destroy();
	child.stdout.destroy();
};
const YIELDS = { 'while it is waited for': 3_000, 'in the background': 250 };

test('exec: SIGKILL ends all that a run started', options, async (t) => {
	const cwd = tempDir(t, 'work');
	const model = await startModel(t, [run(STAYS, { yield_time_ms: 30_000 }), say('never')]);
	const { signal } = await codexExec(t, model, ['go'],
		{ cwd, onStart: (child) => nestIsBuilt(cwd).then(() => child.kill('SIGKILL')) });
	assert.equal(signal, 'SIGKILL');
	await nestIsGone(cwd);
});

test('proto: a disconnect ends the running command', options, async (t) => {
	const model = await startModel(t, [run(STAYS, { yield_time_ms: 30_000 }), say('never')]);
	const proto = startProto(t, model, { config });
	proto.submit('1', userInput('go'));
	await nestIsBuilt(proto.cwd);
	HANG_UP(proto);
	await proto.done;
	await nestIsGone(proto.cwd);
});

test('proto: a disconnect ends the wait for a silent model', options, async (t) => {
	const model = await startModel(t, [{ reply: [{ hang: true }] }]);
	const proto = startProto(t, model, { config });
	proto.submit('1', userInput('go'));
	await proto.next('task_started');
	HANG_UP(proto);
	await proto.done;
});

test('proto: a task is finished after the end of the input', options, async (t) => {
	const model = await startModel(t, [run('sleep 1; echo slept'), say('Done.')]);
	const proto = startProto(t, model, { config });
	proto.submit('1', userInput('go'));
	await proto.next('exec_command_begin');
	await proto.end();
	assert.ok(proto.events().some(({ msg }) => msg.type === 'task_complete' && msg.last_agent_message === 'Done.'));
});

for (const [end, befall] of Object.entries(ENDS)) {
	for (const [when, yield_time_ms] of Object.entries(YIELDS)) {
		test(`proto: ${end} ends a command ${when}`, options, async (t) => {
			const model = await startModel(t, [run(STAYS, { yield_time_ms }), say('Done.')]);
			const proto = startProto(t, model, { config });
			proto.submit('1', userInput('go'));
			await nestIsBuilt(proto.cwd);
			if (yield_time_ms === 250) await proto.next('task_complete');
			befall(proto);
			await proto.done;
			await nestIsGone(proto.cwd);
		});

		test(`app-server: ${end} ends a turn's command ${when}`, options, async (t) => {
			const model = await startModel(t, [run(STAYS, { yield_time_ms }), say('Done.')]);
			const server = await startAppServer(t, model, { config });
			const { thread } = await server.request('thread/start', { cwd: server.cwd });
			await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
			await nestIsBuilt(server.cwd);
			if (yield_time_ms === 250) await server.next('turn/completed');
			befall(server);
			await server.done;
			await nestIsGone(server.cwd);
		});
	}

	for (const [method, params] of [
		['command/exec', { command: ['bash', '-c', STAYS], disableTimeout: true, ...NO_SANDBOX }],
		['process/spawn', { command: ['bash', '-c', STAYS], processHandle: 'p' }],
		['process/spawn', { command: ['bash', '-c', STAYS], processHandle: 'p', tty: true }],
	]) {
		const name = method + (params.tty ? ' with a terminal' : '');
		test(`app-server: ${end} ends ${name}`, options, async (t) => {
			const server = await startAppServer(t, null);
			server.request(method, { ...params, cwd: server.cwd }).catch(() => {});
			await nestIsBuilt(server.cwd);
			befall(server);
			await server.done;
			await nestIsGone(server.cwd);
		});
	}
}

test('proto: an interrupt cancels the waits of the turn at once', options, async (t) => {
	const model = await startModel(t, [run(STAYS, { yield_time_ms: 30_000 }), say('never')]);
	const proto = startProto(t, model, { config });
	proto.submit('1', userInput('go'));
	await nestIsBuilt(proto.cwd);
	proto.submit('2', { type: 'interrupt' });
	await proto.next('turn_aborted');
	await nestIsGone(proto.cwd);
	assert.equal((await proto.end()).code, 0);
});

const DEAF = "(trap '' TERM; exec setsid sh -c 'echo $$ >pid.new; mv pid.new pid; while :; do sleep 600; done' " +
	'>/dev/null 2>&1) & while ! [ -e pid ]; do sleep 0.01; done';

test('the end of input does not wait for a daemon that is deaf to TERM', options, async (t) => {
	const model = await startModel(t, [run(DEAF), say('Done.')]);
	const proto = startProto(t, model, { config });
	proto.submit('1', userInput('go'));
	await proto.next('task_complete');
	const pid = Number(fs.readFileSync(path.join(proto.cwd, 'pid'), 'utf8'));
	assert.equal((await proto.end()).code, 0);
	process.kill(pid, 0); // it outlives the engine …
	await assert.doesNotReject(until(() => !isAlive(pid))); // but not the supervisor
});

test('SIGKILL in a sandboxed command leaves no placeholders', options, async (t) => {
	const cwd = fs.mkdtempSync('/var/tmp/codex-kill-');
	t.after(() => fs.rmSync(cwd, { recursive: true, force: true }));
	const model = await startModel(t, [run('touch begun; exec sleep 600', { yield_time_ms: 30_000 }), say('never')]);
	const names = () => fs.readdirSync(cwd).sort();
	const { signal } = await runCodex(t, ['exec', '--skip-git-repo-check', '-s', 'workspace-write', 'go'], {
		cwd,
		home: makeHome(t, model),
		onStart: async (child) => {
			await until(() => names().includes('begun'));
			assert.deepEqual(names(), ['.agents', '.codex', '.git', 'begun']);
			child.kill('SIGKILL');
		},
	});
	assert.equal(signal, 'SIGKILL');
	await until(() => names().length === 1);
	assert.deepEqual(names(), ['begun']);
});

test('app-server: terminating command/exec and killing process/spawn end the whole tree', options, async (t) => {
	for (const [start, id, end] of [
		['command/exec', { processId: 'p', disableTimeout: true, ...NO_SANDBOX }, ['command/exec/terminate', { processId: 'p' }]],
		['process/spawn', { processHandle: 'p' }, ['process/kill', { processHandle: 'p' }]],
	]) {
		const server = await startAppServer(t, null);
		server.request(start, { command: ['bash', '-c', STAYS], cwd: server.cwd, ...id }).catch(() => {});
		await nestIsBuilt(server.cwd);
		await server.request(...end);
		await nestIsGone(server.cwd);
		assert.equal((await server.end()).code, 0);
	}
});

test('a background terminal survives an interrupt, and ends with the engine', options, async (t) => {
	const model = await startModel(t, [
		run('echo $$ >pid; exec sleep 600', { yield_time_ms: 250 }),
		run(`while ! [ -e pid ]; do sleep 0.01; done; kill -0 $(cat pid) && ${STAYS}`, { yield_time_ms: 30_000 }),
		run('kill -0 $(cat pid) && echo alive'), say('Done.'),
	]);
	const proto = startProto(t, model, { config });
	proto.submit('1', userInput('go'));
	await nestIsBuilt(proto.cwd);
	proto.submit('2', { type: 'interrupt' });
	await proto.next('turn_aborted');
	await nestIsGone(proto.cwd);
	proto.submit('3', userInput('again'));
	await proto.next('task_complete');
	const seen = proto.events().filter(({ msg }) => msg.type === 'exec_command_end').map(({ msg }) => msg.stdout);
	assert.ok(seen.includes('alive\n'), JSON.stringify(seen));
	assert.equal((await proto.end()).code, 0);
	assertGone(proto.cwd);
});
