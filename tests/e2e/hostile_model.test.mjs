// A model that tries to exceed its permissions: programs under the names of others, calls with one id.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { call, codexExec, itemsOf, makeHome, needs, reply, run, say, startModel, tempDir } from './lib/codex.mjs';
import { approve, startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const settings = (policy, sandbox) => `approval_policy = "${policy}"\nsandbox_mode = "${sandbox}"\n`;

/** A folder with a program that is called bash, and only makes a file. */
function makeFakeShell(t, made) {
	const cwd = tempDir(t, 'fake');
	fs.writeFileSync(path.join(cwd, 'bash'), `#!/bin/sh\ntouch ${made}\n`, { mode: 0o755 });
	return cwd;
}

test('a program that is called bash is not trusted as if it were one', proto, async (t) => {
	for (const words of [
		(cwd) => run('git status', { shell: path.join(cwd, 'bash') }),
		() => run('git status', { shell: './bash' }),
		(cwd) => call('shell', { command: [path.join(cwd, 'bash'), '-lc', 'git status'] }),
		() => call('shell', { command: ['./bash', '-c', 'git status'] }),
	]) {
		const made = path.join(tempDir(t, 'outside'), 'made');
		const cwd = makeFakeShell(t, made);
		const model = await startModel(t, [words(cwd), say('Done.')]);
		const home = makeHome(t, model, settings('untrusted', 'read-only'));
		fs.mkdirSync(path.join(home, 'rules'));
		fs.writeFileSync(path.join(home, 'rules/a.rules'), 'prefix_rule(pattern=["git", "status"])');
		const codex = startProto(t, model, { home, cwd });
		codex.submit('1', userInput('go'));
		codex.submit('a', approve((await codex.next('exec_approval_request')).msg.call_id, 'denied'));
		await codex.next('task_complete');
		assert.equal((await codex.end()).code, 0);
		assert.ok(!fs.existsSync(made));
	}
});

test('of two calls with the same call_id, one approval starts one, sent twice or not', proto, async (t) => {
	const step = (cmd) => ({ call: 'exec_command', arguments: { cmd }, call_id: 'twin' });
	const model = await startModel(t, [reply(step('echo uno; touch one'), step('echo due; touch two')), say('Done.')]);
	const codex = startProto(t, model, { home: makeHome(t, model, settings('untrusted', 'danger-full-access')) });
	codex.submit('1', userInput('go'));
	assert.equal((await codex.next('exec_approval_request')).msg.command.at(-1), 'echo uno; touch one');
	codex.submit('2', approve('twin', 'approved'));
	codex.submit('3', approve('twin', 'approved')); // sent twice
	assert.equal((await codex.next('exec_approval_request')).msg.command.at(-1), 'echo due; touch two');
	assert.deepEqual(['one', 'two'].map((name) => fs.existsSync(path.join(codex.cwd, name))), [true, false]);
	codex.submit('4', approve('twin', 'approved'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const outputs = (await model.requests()).at(-1).body.input.filter((item) => item.type === 'function_call_output');
	assert.deepEqual(outputs.map(({ output }) => /uno|due/.exec(output)[0]), ['uno', 'due']);
	assert.ok(fs.existsSync(path.join(codex.cwd, 'two')));
});

test('a call whose id a background command still has is not carried out; two equal calls both are', needs('exec'), async (t) => {
	const step = (cmd, more, id = 'twin') => ({ call: 'exec_command', arguments: { cmd, ...more }, call_id: id });
	const model = await startModel(t, [reply(step('echo uno; sleep 300', { yield_time_ms: 250 }), step('touch two')),
		reply(step('echo due', {}, 'equal'), step('echo due', {}, 'equal')), say('Done.'), say('Again.')]);
	const ran = await codexExec(t, model, ['go']);
	const outputs = (request) => request.body.input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output);
	assert.match(outputs(model.requests()[1])[1], /not carried out: the command of another call with this id still runs/);
	assert.ok(!fs.existsSync(path.join(ran.cwd, 'two')));
	assert.match(outputs(model.requests()[2])[3], /due/);
	const again = await codexExec(t, model, ['resume', '--last', 'more'], { home: ran.home, cwd: ran.cwd });
	assert.doesNotMatch(again.stderr, /damaged|left out|dropped/i);
	assert.deepEqual(outputs(model.requests()[3]), outputs(model.requests()[2]));
});

test('a checklist with the call id of a background command is carried out', needs('exec'), async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'sleep 300', yield_time_ms: 250 }, call_id: 'twin' },
		{ call: 'update_plan', arguments: { plan: [{ step: 'one', status: 'pending' }] }, call_id: 'twin' }), say('Done.')]);
	assert.equal((await codexExec(t, model, ['go'])).code, 0);
	const outputs = model.requests()[1].body.input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output);
	assert.equal(outputs[1], 'Plan updated');
});

test('calls of all kinds with one call_id are carried out one after the other, and a resumed session has them all', needs('exec'), async (t) => {
	const add = (name) => ({ custom: 'apply_patch', input: `*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch\n`, call_id: 'twin' });
	const steps = [
		{ call: 'exec_command', arguments: { cmd: 'echo first; test ! -e a' }, call_id: 'twin' }, add('a'), add('b'),
		{ call: 'exec_command', arguments: { cmd: 'echo last; test -e b' }, call_id: 'twin' },
	];
	const model = await startModel(t, [reply(...steps), say('Done.'), say('Again.')]);
	const ran = await codexExec(t, model, ['go'], { json: true });
	assert.deepEqual(itemsOf(ran.events, 'command_execution').map((item) => [item.aggregated_output, item.exit_code]), [['first\n', 0], ['last\n', 0]]);
	assert.deepEqual(itemsOf(ran.events, 'file_change').map((item) => path.basename(item.changes[0].path)), ['a', 'b']);
	const again = await codexExec(t, model, ['resume', '--last', 'more'], { home: ran.home, cwd: ran.cwd });
	assert.doesNotMatch(again.stderr, /damaged|left out|dropped/i);
	const [, second, third] = model.requests();
	const calls = ({ body }) => body.input.filter(({ call_id: id }) => id).map(({ type, output }) => [type, output]);
	assert.equal(calls(third).length, 8);
	assert.deepEqual(calls(third), calls(second));
});

test('of too many calls in one response the first are carried out, each of the rest gets an error', needs('exec'), async (t) => {
	const LIMIT = 1024;
	const step = (n) => ({ call: 'no_such_tool', arguments: {}, call_id: `c${n}` });
	const model = await startModel(t, [reply(...Array.from({ length: LIMIT + 3 }, (_, n) => step(n))), say('done')]);
	assert.equal((await codexExec(t, model, ['go'])).code, 0);
	const outputs = model.requests()[1].body.input.filter(({ type }) => type === 'function_call_output');
	assert.deepEqual(outputs.map(({ call_id: id }) => id), Array.from({ length: LIMIT + 3 }, (_, n) => `c${n}`));
	const refused = outputs.filter(({ output }) => /not carried out: at most 1024 calls/.test(output));
	assert.deepEqual(refused.map(({ call_id: id }) => id), ['c1024', 'c1025', 'c1026']);
	assert.equal(outputs[LIMIT - 1].output, 'unsupported call: no_such_tool');
});
