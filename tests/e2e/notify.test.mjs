// The user's notify program runs after each completed task, and outlives the engine.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { codexExec, httpError, needs, run, say, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

/** A program that waits for input on the pipe "go" and then writes its argument to the pipe "out". */
function makeProgram(t) {
	const dir = tempDir(t, 'notify');
	const [go, out] = ['go', 'out'].map((name) => path.join(dir, name));
	execFileSync('mkfifo', [go, out]);
	return {
		argv: ['sh', '-c', `read x < ${go}; printf %s "$1" > ${out}`, 'sh'],
		notice: async () => {
			const text = fs.promises.readFile(out, 'utf8');
			await fs.promises.writeFile(go, 'x\n');
			return JSON.parse(await text);
		},
	};
}

test('the program runs after a complete task, even after the engine has ended', needs('exec'), async (t) => {
	const program = makeProgram(t);
	const model = await startModel(t, [run('echo hi; sleep 600 & exit'), say('Done.')]);
	const { code, cwd } = await codexExec(t, model, ['do it'], { config: `notify = ${JSON.stringify(program.argv)}` });
	assert.equal(code, 0);
	const { 'thread-id': thread, 'turn-id': turn, ...notice } = await program.notice();
	assert.deepEqual(notice, { type: 'agent-turn-complete', cwd, client: 'codex_exec', 'input-messages': ['do it'],
		'last-assistant-message': 'Done.' });
	assert.match(thread, /^[0-9a-f-]{36}$/);
	assert.equal(typeof turn, 'string');
});

test('configure_session sets another program; a failed task does not run it', needs('proto'), async (t) => {
	const program = makeProgram(t);
	const model = await startModel(t, [httpError(400, 'no'), say('Fine.')]);
	const codex = startProto(t, model, { args: ['--no-auto-configure'], config: 'notify = ["/no/such/program"]' });
	codex.submit('c', { type: 'configure_session', notify: program.argv });
	codex.submit('1', userInput('first'));
	await codex.next('task_complete');
	codex.submit('2', userInput('second'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const notice = await program.notice();
	assert.deepEqual([notice['turn-id'], notice['input-messages'], notice['last-assistant-message']],
		['2', ['first', 'second'], 'Fine.']);
});

test('a missing program and a long history cause no failure', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Fine.'), say({ fill: 300_000 })]);
	const broken = await codexExec(t, model, ['hi'], { config: 'notify = ["/no/such/program"]' });
	assert.deepEqual([broken.code, broken.stdout], [0, 'Fine.\n']);
	const program = makeProgram(t);
	const { code } = await codexExec(t, model, ['-'], { input: 'long '.repeat(60_000),
		config: `notify = ${JSON.stringify(program.argv)}` });
	assert.equal(code, 0);
	const notice = await program.notice();
	assert.deepEqual(notice['input-messages'], []);
	assert.ok(notice['last-assistant-message'].length > 1000);
});
