// Commands that resist termination: no descendant outlives the run, however it ends.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	call, codexExec, itemsOf, needs, outputOf, reply, rollouts, run, say, signalWhenThere, startModel, tempDir,
} from './lib/codex.mjs';
import { assertGone, NEST } from './lib/nest.mjs';

const exec = needs('exec');

const isAlive = (pid) => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143]]) {
	test(`${signal} ends the turn and all that it started, with ${status}`, exec, async (t) => {
		const cwd = tempDir(t, 'work');
		const model = await startModel(t, [run(`${NEST}\nsleep 600`, { yield_time_ms: 30000 }), say('never')]);
		const { code, events, home } = await codexExec(t, model, ['go'],
			{ cwd, json: true, onStart: signalWhenThere(path.join(cwd, 'ready'), signal) });
		assert.equal(code, status);
		assertGone(cwd);
		assert.equal(model.requests().length, 1);
		assert.equal(itemsOf(events, 'command_execution').length, 1);
		assert.equal(events.at(-1).type, 'turn.failed');
		const record = fs.readFileSync(rollouts(home)[0], 'utf8');
		assert.match(record, /aborted by user after \d/);
		assert.match(record, /turn_aborted/);
	});
}

test('Ctrl-C ends a run that waits for the model, and a run that waits to try again', exec, async (t) => {
	const asked = async (model) => {
		while (model.requests().length === 0) await new Promise((wake) => setTimeout(wake, 10));
	};
	const busy = { event: { type: 'response.failed', response: { id: 'r', error: {
		code: 'rate_limit_exceeded', message: 'Please try again in 600s.' } } } };
	for (const answer of [reply({ start: true }, { hang: true }), reply(busy), reply({ hang: true })]) {
		const model = await startModel(t, [answer]);
		const { code, events } = await codexExec(t, model, ['go'], {
			json: true, onStart: async (child) => asked(model).then(() => child.kill('SIGINT')) });
		assert.equal(code, 130);
		assert.equal(events.at(-1).type, 'turn.failed');
	}
});

test('a run that ends in peace takes its background processes along', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	const model = await startModel(t, [run(NEST), say('Done.')]);
	const { code, stdout } = await codexExec(t, model, ['go'], { cwd });
	assert.equal(code, 0);
	assert.equal(stdout, 'Done.\n');
	assertGone(cwd);
});

test('a background process of a command serves the next one', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	const model = await startModel(t, [
		run('mkfifo pipe; { read line <pipe; echo "heard $line" >answer.new; mv answer.new answer; } >/dev/null 2>&1 &'),
		run('echo you >pipe; while ! [ -e answer ]; do sleep 0.01; done; cat answer', { yield_time_ms: 20000 }),
		say('Done.'),
	]);
	await codexExec(t, model, ['go'], { cwd });
	assert.match(outputOf(model.requests()[2], 'call_2_1'), /heard you/);
});

test('a command that never ends runs during the turn and ends with the run', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	const model = await startModel(t, [run('echo $$ >ready; exec sleep 600', { yield_time_ms: 250 }), say('Done.')]);
	const { code, events } = await codexExec(t, model, ['go'], { cwd, json: true });
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /Process running with session ID \d+/);
	assert.equal(itemsOf(events, 'command_execution').length, 1);
	assert.equal(isAlive(Number(fs.readFileSync(path.join(cwd, 'ready'), 'utf8'))), false);
});

test('a command that prints forever is read, and neither kept nor sent', exec, async (t) => {
	const model = await startModel(t, [run('yes', { yield_time_ms: 250 }), say('Done.')]);
	const { code, events, home } = await codexExec(t, model, ['go'], { json: true });
	assert.equal(code, 0);
	const output = outputOf(model.requests()[1], 'call_1_1');
	assert.ok(output.length < 60_000, `${output.length} characters`);
	assert.match(output, /truncated/);
	assert.match(output, /session ID/);
	const [item] = itemsOf(events, 'command_execution');
	assert.ok(item.aggregated_output.length < 3_000_000, `${item.aggregated_output.length} characters`);
	assert.ok(fs.statSync(rollouts(home)[0]).size < 3_000_000);
});

test('shell_command terminates a command after its timeout, even one that ignores TERM', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	const model = await startModel(t, [
		call('shell_command',
			{ command: "trap '' TERM; echo $$ >ready; echo begun; while :; do sleep 600; done", timeout_ms: 200 }),
		call('shell', { command: ['yes'], timeout_ms: 100 }), say('Done.'),
	]);
	const { code } = await codexExec(t, model, ['go'], { cwd });
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'call_1_1'),
		/^Exit code: 124\nWall time: [\d.]+ seconds\nOutput:\ncommand timed out after \d+ milliseconds\nbegun\n/);
	assert.match(outputOf(model.requests()[2], 'call_2_1'), /^Exit code: 124\n[^]*truncated[^]*y\n/);
	assert.equal(isAlive(Number(fs.readFileSync(path.join(cwd, 'ready'), 'utf8'))), false);
});

test('a reader of stdout that leaves does not end the work', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	const long = reply({ message: 'x'.repeat(200_000) }, { call: 'exec_command', arguments: { cmd: 'echo >made' } });
	const model = await startModel(t, [long, say('Done.')]);
	const { code } = await codexExec(t, model, ['go'], { cwd, json: true, onStart: (child) => child.stdout.destroy() });
	assert.equal(code, 0);
	assert.ok(fs.existsSync(path.join(cwd, 'made')));
});
