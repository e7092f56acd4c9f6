// Commands typed by the user: Op run_user_shell_command, and thread/shellCommand of the app-server.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, story as rpcStory, text } from './lib/app_server.mjs';
import { needs, reply, rollouts, run, say, startModel, textsOf } from './lib/codex.mjs';
import { startProto, story, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const server = needs('app-server');
const SANDBOXED = 'approval_policy = "untrusted"\nsandbox_mode = "read-only"\n';
const FREE = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n';
const command = (script, more) => ({ type: 'run_user_shell_command', command: script, ...more });
const reports = (request) => textsOf(request, 'user').filter((words) => words.startsWith('<user_shell_command>'));
const report = (script, code, output) => new RegExp(`^<user_shell_command>\n<command>\n${script}\n</command>\n<result>\n`
	+ `Exit code: ${code}\nDuration: \\d+\\.\\d{4} seconds\nOutput:\n${output}\n</result>\n</user_shell_command>$`);
const isGone = (pid) => {
	try {
		process.kill(pid, 0);
		return false;
	} catch {
		return true;
	}
};

test('a command runs unsandboxed and without approval as a task of its own, and the model reads of it', proto, async (t) => {
	const model = await startModel(t, [say('Seen.')]);
	const codex = startProto(t, model, { config: SANDBOXED });
	codex.submit('c', command('echo out | tee made; echo "[$CODEX_SANDBOX_NETWORK_DISABLED]" >&2; exit 3'));
	const begin = await codex.next('exec_command_begin');
	const { msg: end } = await codex.next('exec_command_end');
	await codex.next('task_complete');
	assert.deepEqual([begin.id, begin.msg.source, begin.msg.turn_id, begin.msg.command.length], ['c', 'user_shell', 'c', 3]);
	assert.deepEqual([end.source, end.call_id, end.exit_code, end.stdout, end.stderr],
		['user_shell', begin.msg.call_id, 3, 'out\n', '[]\n']);
	assert.equal(fs.readFileSync(path.join(codex.cwd, 'made'), 'utf8'), 'out\n');
	assert.ok(codex.events().some(({ msg }) => msg.type === 'exec_command_output_delta' && msg.call_id === end.call_id));
	codex.submit('1', userInput('and?'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	assert.deepEqual(story(codex.events()).slice(1, 5),
		['c task_started', 'c exec_command_begin', 'c exec_command_end', 'c task_complete']);
	const said = textsOf(model.requests()[0], 'user');
	assert.match(reports(model.requests()[0])[0], report('echo out .*', 3, 'out\n\\[\\]\n'));
	assert.ok(said.findIndex((words) => words.startsWith('<user_shell')) < said.indexOf('and?'));
	assert.match(fs.readFileSync(rollouts(codex.home)[0], 'utf8'), /<user_shell_command>/);
});

test('an interrupt ends it with all that it started', proto, async (t) => {
	const model = await startModel(t, [say('Seen.')]);
	const codex = startProto(t, model);
	codex.submit('c', command('(trap "" TERM; echo $BASHPID >&2; setsid sleep 600) & echo $!; wait'));
	const { msg: delta } = await codex.next('exec_command_output_delta');
	const pid = Number(Buffer.from(delta.chunk, 'base64').toString());
	codex.submit('stop', { type: 'interrupt' });
	assert.equal((await codex.next('exec_command_end')).msg.exit_code, -1);
	assert.deepEqual((await codex.next('turn_aborted')).msg.reason, 'interrupted');
	assert.ok(pid > 1);
	while (!isGone(pid)) await new Promise(setImmediate); // killed; and reaped in a moment
	codex.submit('1', userInput('go on'));
	await codex.next('task_complete');
	assert.match(reports(model.requests()[0])[0], /Exit code: -1\n[^]*command aborted by user/);
	assert.equal((await codex.end()).code, 0);
});

test('during a task it joins it; the model gets it after the outputs of its own calls', proto, async (t) => {
	const model = await startModel(t, [run('while ! [ -e go ]; do sleep 0.02; done; echo went'), say('Done.')]);
	const codex = startProto(t, model, { config: FREE });
	codex.submit('1', userInput('wait for it'));
	await codex.next('exec_command_begin');
	codex.submit('c', command('echo mine'));
	const begin = await codex.next('exec_command_begin');
	assert.deepEqual([begin.id, begin.msg.source], ['1', 'user_shell']);
	assert.equal((await codex.next('exec_command_end')).msg.call_id, begin.msg.call_id);
	fs.writeFileSync(path.join(codex.cwd, 'go'), '');
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	assert.equal(codex.events().filter(({ msg }) => msg.type === 'task_started').length, 1);
	const { input } = model.requests()[1].body;
	assert.match(input.at(-2).output, /went/);
	assert.match(input.at(-1).content[0].text, report('echo mine', 0, 'mine\n'));
});

test('background user commands delay the end of input', proto, async (t) => {
	const model = await startModel(t, [reply({ message: 'One.' }, { gate: 'go' })]);
	const codex = startProto(t, model);
	codex.submit('1', userInput('hi'));
	await codex.next('agent_message_delta');
	codex.submit('c', command('while ! [ -e go ]; do sleep 0.02; done; echo late'));
	await codex.next('exec_command_begin');
	await model.openGate('go');
	await codex.next('task_complete');
	codex.child.stdin.end();
	fs.writeFileSync(path.join(codex.cwd, 'go'), '');
	const end = await codex.next('exec_command_end');
	assert.deepEqual([end.id, end.msg.stdout], ['1', 'late\n']);
	assert.equal((await codex.done).code, 0);
	assert.match(fs.readFileSync(rollouts(codex.home)[0], 'utf8'), /<user_shell_command>.*late/);
});

test('time limits, commands that cannot run, and refusals', proto, async (t) => {
	const codex = startProto(t, null);
	codex.submit('1', command('echo begun; sleep 600', { timeout_ms: 100 }));
	const { msg } = await codex.next('exec_command_end');
	assert.equal(msg.exit_code, 124);
	assert.match(msg.aggregated_output, /^command timed out after \d+ milliseconds\n/);
	await codex.next('task_complete');
	fs.rmdirSync(codex.cwd);
	codex.submit('2', command('echo never'));
	const failed = (await codex.next('exec_command_end')).msg;
	assert.equal(failed.exit_code, -1);
	assert.match(failed.aggregated_output, /^execution error: /);
	await codex.next('task_complete');
	codex.submit('3', command('true', { timeout_ms: -1 }));
	assert.deepEqual((await codex.next('error')).id, '3');
	codex.submit('4', command('x'.repeat(200 * 1024)));
	assert.deepEqual((await codex.next('error')).id, '4');
	assert.equal((await codex.end()).code, 0);
});

test('thread/shellCommand is a turn of its own with one item', server, async (t) => {
	const model = await startModel(t, [say('Seen.')]);
	const codex = await startAppServer(t, model);
	const { thread } = await codex.request('thread/start', { sandbox: 'read-only', approvalPolicy: 'never' });
	const ask = (more) => codex.request('thread/shellCommand', { threadId: thread.id, command: 'echo hi', ...more });
	const from = codex.messages.length;
	assert.deepEqual(await ask(), {});
	const { item } = (await codex.next('item/completed')).params;
	const { turn } = (await codex.next('turn/completed')).params;
	assert.deepEqual([item.type, item.source, item.status, item.aggregatedOutput, item.exitCode],
		['commandExecution', 'userShell', 'completed', 'hi\n', 0]);
	assert.deepEqual([turn.status, turn.items], ['completed', []]);
	assert.deepEqual(rpcStory(codex.messages.slice(from)).filter((line) => !/^warning|elta/.test(line)),
		['thread/status/changed active', 'turn/started', 'item/started commandExecution', 'item/completed commandExecution',
			'thread/status/changed idle', 'turn/completed']);
	for (const [wrong, message] of [[{ command: ' ' }, /must not be empty/], [{ timeoutMs: -1 }, /must not be negative/],
		[{ threadId: '00000000-0000-7000-8000-000000000000' }, /thread not found/]])
		await assert.rejects(ask(wrong), { message });
	await codex.request('turn/start', { threadId: thread.id, input: [text('and?')] });
	await codex.next('turn/completed');
	assert.match(reports(model.requests()[0])[0], report('echo hi', 0, 'hi\n'));
});

test('thread/shellCommand joins the turn that runs, and turn/interrupt ends both', server, async (t) => {
	const model = await startModel(t, [reply({ message: 'Working.' }, { gate: 'never' })]);
	const codex = await startAppServer(t, model);
	const { thread } = await codex.request('thread/start', { sandbox: 'read-only', approvalPolicy: 'never' });
	const { turn } = await codex.request('turn/start', { threadId: thread.id, input: [text('work')] });
	await codex.next('item/agentMessage/delta');
	await codex.request('thread/shellCommand', { threadId: thread.id, command: 'echo on; sleep 600' });
	const { params } = await codex.next('item/commandExecution/outputDelta');
	assert.deepEqual([params.turnId, params.delta], [turn.id, 'on\n']);
	await codex.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	const done = codex.all('item/completed').map((message) => message.params.item).find(({ id }) => id === params.itemId);
	assert.deepEqual([done.source, done.status, done.exitCode], ['userShell', 'failed', -1]);
	assert.deepEqual(codex.all('turn/completed').map((message) => message.params.turn.status), ['interrupted']);
});

test('input while it runs joins its turn, and is answered when it has ended', server, async (t) => {
	const model = await startModel(t, [say('Both heard.')]);
	const codex = await startAppServer(t, model);
	const { thread } = await codex.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
	await codex.request('thread/shellCommand', { threadId: thread.id, command: 'while ! [ -e go ]; do sleep 0.02; done; echo done' });
	const { turn } = (await codex.next('turn/started')).params;
	const first = await codex.request('turn/start', { threadId: thread.id, input: [text('one')] });
	const second = await codex.request('turn/steer',
		{ threadId: thread.id, input: [text('two')], expectedTurnId: turn.id });
	assert.deepEqual([first.turn.id, second.turnId], [turn.id, turn.id]);
	fs.writeFileSync(path.join(codex.cwd, 'go'), '');
	const completed = (await codex.next('turn/completed')).params.turn;
	assert.deepEqual([completed.id, completed.status], [turn.id, 'completed']);
	const items = codex.all('item/completed').map((message) => message.params.item);
	assert.equal(items.find(({ type }) => type === 'commandExecution').status, 'completed');
	assert.equal(items.at(-1).text, 'Both heard.');
	assert.equal(model.requests().length, 1);
	const said = textsOf(model.requests()[0], 'user').slice(-3);
	assert.match(said[0], /Exit code: 0\n[^]*Output:\ndone\n/);
	assert.deepEqual(said.slice(1), ['one', 'two']);
});

test('an interrupt keeps the input of the meantime; mode replace ends it', proto, async (t) => {
	const model = await startModel(t, [say('Replaced.'), say('Heard.')]);
	const codex = startProto(t, model);
	codex.submit('c', command('echo begun; exec sleep 600'));
	await codex.next('exec_command_output_delta');
	codex.submit('1', userInput('instead', { mode: 'replace' }));
	assert.equal((await codex.next('turn_aborted')).msg.reason, 'replaced');
	await codex.next('task_complete');
	codex.submit('d', command('echo begun; exec sleep 600'));
	await codex.next('exec_command_output_delta');
	codex.submit('2', userInput('kept'));
	codex.submit('stop', { type: 'interrupt' });
	assert.equal((await codex.next('turn_aborted')).msg.reason, 'interrupted');
	codex.submit('3', userInput('go on'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const said = textsOf(model.requests()[1], 'user');
	assert.deepEqual(said.slice(-2), ['kept', 'go on']);
	assert.match(said.at(-3), /^<user_shell_command>[^]*command aborted by user/);
});
