// The tools of `codex exec`: the model calls a tool, the program executes it, the model gets the result.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	call, codexExec, itemsOf, needs, outputOf, patch, reply, run, say, signalWhenThere, startModel, tempDir,
	typesOf,
} from './lib/codex.mjs';

const exec = needs('exec');

const command = (cmd, callId, more) => ({ call: 'exec_command', arguments: { cmd, ...more }, call_id: callId });

test('a command runs, and its output goes back', exec, async (t) => {
	const model = await startModel(t, [reply(command('echo out; echo err >&2; exit 3', 'c1')), say('Done.')]);
	const { code, events } = await codexExec(t, model, ['go'], { json: true });
	assert.equal(code, 0);
	assert.deepEqual(typesOf(events), ['thread.started', 'turn.started', 'item.started', 'item.completed',
		'item.completed', 'turn.completed']);
	const [item] = itemsOf(events, 'command_execution');
	assert.equal(item.exit_code, 3);
	assert.equal(item.status, 'failed');
	assert.match(item.command, /echo out; echo err/);
	assert.deepEqual(item.aggregated_output.trim().split('\n').sort(), ['err', 'out']);
	const output = outputOf(model.requests()[1], 'c1');
	assert.match(output, /exited with code 3/);
	assert.match(output, /out\n/);
});

test('several calls of one answer run beside each other and come back in their order', exec, async (t) => {
	const waiting = 'while ! [ -e go ]; do sleep 0.01; done; echo slow';
	const model = await startModel(t, [
		reply(command(waiting, 'c1', { yield_time_ms: 20000 }), command('echo fast; echo >go', 'c2'), command('true', 'c3')),
		say('Done.'),
	]);
	await codexExec(t, model, ['go']);
	const outputs = model.requests()[1].body.input.filter((item) => item.type === 'function_call_output');
	assert.deepEqual(outputs.map((item) => item.call_id), ['c1', 'c2', 'c3']);
	assert.match(outputs[0].output, /exited with code 0[^]*slow/);
	assert.match(outputs[1].output, /fast/);
});

test('a patch changes the files', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	fs.writeFileSync(path.join(cwd, 'old.txt'), 'one\ntwo\nthree\n');
	const model = await startModel(t, [
		patch('*** Add File: new.txt', '+hello', '*** Update File: old.txt', '@@', ' one', '-two', '+2', ' three'),
		say('Patched.'),
	]);
	const { events } = await codexExec(t, model, ['go'], { json: true, cwd });
	assert.equal(fs.readFileSync(path.join(cwd, 'new.txt'), 'utf8'), 'hello\n');
	assert.equal(fs.readFileSync(path.join(cwd, 'old.txt'), 'utf8'), 'one\n2\nthree\n');
	const [item] = itemsOf(events, 'file_change');
	assert.equal(item.status, 'completed');
	assert.deepEqual(item.changes.map((change) => [path.basename(change.path), change.kind]).sort(),
		[['new.txt', 'add'], ['old.txt', 'update']]);
});

test('a patch that does not apply is reported to the model and changes nothing', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	fs.writeFileSync(path.join(cwd, 'a.txt'), 'one\n');
	const model = await startModel(t, [
		patch('*** Add File: b.txt', '+b', '*** Update File: a.txt', '@@', '-not there', '+x'), say('Sorry.'),
	]);
	const { code } = await codexExec(t, model, ['go'], { cwd });
	assert.equal(code, 0);
	assert.equal(fs.readFileSync(path.join(cwd, 'a.txt'), 'utf8'), 'one\n');
	assert.equal(fs.existsSync(path.join(cwd, 'b.txt')), false);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /Failed to find expected lines|a\.txt/);
});

test('a plan becomes a todo list', exec, async (t) => {
	const plan = (first, second) => ({ plan: [{ step: 'A', status: first }, { step: 'B', status: second }] });
	const model = await startModel(t, [
		call('update_plan', plan('in_progress', 'pending')), call('update_plan', plan('completed', 'in_progress')),
		say('Done.'),
	]);
	const { events } = await codexExec(t, model, ['go'], { json: true });
	assert.deepEqual(typesOf(events), ['thread.started', 'turn.started', 'item.started', 'item.updated',
		'item.completed', 'item.completed', 'turn.completed']);
	const [list] = itemsOf(events, 'todo_list');
	assert.deepEqual(list.items, [{ text: 'A', completed: true }, { text: 'B', completed: false }]);
});

test('a running command accepts input', exec, async (t) => {
	const model = await startModel(t, [
		reply(command('read x; echo "got $x"', 'c1', { yield_time_ms: 300, tty: true })),
		{
			take: { session: { from: 'input.-1.output', after: 'session ID ' } },
			reply: [{ call: 'write_stdin', arguments: '{"session_id":{session},"chars":"seven\\n"}', call_id: 'c2' }],
		},
		say('Done.'),
	]);
	const { code } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[2], 'c2'), /got seven/);
	assert.equal((await model.stop()).code, 0);
});

test('tools that do not exist and arguments that are not JSON are answered', exec, async (t) => {
	const model = await startModel(t, [
		reply({ call: 'no_such_tool', arguments: {}, call_id: 'c1' }, { call: 'exec_command', arguments: '{', call_id: 'c2' }),
		say('Well.'),
	]);
	const { code } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'c1'), /unsupported call: no_such_tool/);
	assert.match(outputOf(model.requests()[1], 'c2'), /failed to parse function arguments/);
});

test('of very much output the first and the last are kept, while it runs as well', exec, async (t) => {
	const model = await startModel(t, [
		reply(command('echo first; seq 1 3000000; echo last', 'c1', { yield_time_ms: 30000 })),
		reply(command('echo begin; yes | head -c 3000000; echo end; read x', 'c2', { yield_time_ms: 3000, tty: true })),
		say('Long.'),
	]);
	const { code } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'c1'), /Output:\nTotal output lines[^]*first\n1\n2\n[^]*truncated[^]*\n3000000\nlast\n$/);
	assert.match(outputOf(model.requests()[2], 'c2'), /running with session ID[^]*begin\r\ny\r\n[^]*truncated[^]*y\r\nend\r\n$/);
});

test('a command ends with its exit, even if descendants keep printing', exec, async (t) => {
	const model = await startModel(t, [
		reply(command('yes & seq 1 300000', 'c1', { yield_time_ms: 30000 })), say('Ended.'),
	]);
	const { code } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'c1'), /Wall time: [0-9]\.[^]*Process exited with code 0\n/);
});

test('a later poll of a command returns only new output, head and tail', exec, async (t) => {
	const model = await startModel(t, [
		reply(command('echo begin; read x; echo first; yes | head -c 3000000; echo last', 'c1',
			{ yield_time_ms: 250, tty: true })),
		{
			take: { session: { from: 'input.-1.output', after: 'session ID ' } },
			reply: [{ call: 'write_stdin', call_id: 'c2',
				arguments: '{"session_id":{session},"chars":"go\\n","yield_time_ms":30000}' }],
		},
		say('Long.'),
	]);
	const { code } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	const text = outputOf(model.requests()[2], 'c2');
	assert.match(text, /exited with code 0\n[^]*first\r\ny\r\n[^]*truncated[^]*y\r\nlast\r\n$/);
	assert.doesNotMatch(text, /begin/);
});

test('endless output is cut in the middle', exec, async (t) => {
	const model = await startModel(t, [
		reply(command('echo first; seq 1 200000; echo last', 'c1', { yield_time_ms: 30000 })), say('Long.'),
	]);
	const { code } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	const output = outputOf(model.requests()[1], 'c1');
	assert.ok(output.length < 60_000, `${output.length} characters`);
	assert.match(output, /first\n1\n/);
	assert.match(output, /last/);
	assert.match(output, /truncated/);
});

test('Ctrl-C ends the turn and its commands', exec, async (t) => {
	const cwd = tempDir(t, 'work');
	const pid = path.join(cwd, 'pid');
	const model = await startModel(t, [run('echo $$ >pid.new; mv pid.new pid; sleep 600', { yield_time_ms: 30000 }), say('never')]);
	const { code } = await codexExec(t, model, ['go'], { cwd, onStart: signalWhenThere(pid, 'SIGINT') });
	assert.equal(code, 130);
	assert.equal(model.requests().length, 1);
	assert.throws(() => process.kill(Number(fs.readFileSync(pid, 'utf8')), 0), { code: 'ESRCH' });
});
