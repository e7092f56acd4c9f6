// Commands of a thread that run in an environment: on the machine of an exec-server, never on this one.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, codexExec, launch, needs, outputOf, patch, run, say, startModel, tempDir, textsOf, waitFor } from './lib/codex.mjs';
import { startExecServer } from './lib/exec_server.mjs';
import { BOXED, runAs, startRemote } from './lib/remote.mjs';

const options = needs('app-server');

test('a command runs there: its folder, output, exit code and variables', options, async (t) => {
	const { server, folder, thread, turn, output, starts, items } = await startRemote(t,
		[runAs('c1', 'pwd; echo err >&2; exit 3'), say('done')], { config: '[shell_environment_policy]\nexclude = ["A*"]\nset = { B = "b" }\n' });
	assert.deepEqual(thread.environments, [{ environmentId: 'r', cwd: folder, runtimeWorkspaceRoots: [folder] }]);
	assert.equal(thread.cwd, server.cwd);
	await turn();
	assert.match(output('c1'), /Process exited with code 3\n/);
	const lines = output('c1').split('\n'); // of two streams, in any order
	assert.deepEqual([lines.includes(fs.realpathSync(folder)), lines.includes('err')], [true, true], output('c1'));
	assert.deepEqual(items().map(({ cwd, exitCode, status, command }) => [cwd, exitCode, status, command]),
		[[folder, 3, 'failed', "/bin/bash -lc 'pwd; echo err >&2; exit 3'"]]);
	const [{ params }] = starts();
	assert.equal(params.cwd, `file://${folder}`);
	assert.deepEqual(params.envPolicy, { inherit: 'all', ignoreDefaultExcludes: true, exclude: ['A*'], set: { B: 'b' }, includeOnly: [] });
	assert.equal(params.env.CODEX_THREAD_ID, thread.id);
	assert.equal(params.env.PATH, undefined); // nor any other variable of this machine
	assert.equal(params.sandbox, null);
});

test('the sandbox policy is sent, and a server must show its sandbox first', options, async (t) => {
	const { remote, folder, turn, starts } = await startRemote(t, [run('true'), run('true'), say('done')], { ...BOXED,
		config: '[sandbox_workspace_write]\nwritable_roots = ["/extra dir"]\nexclude_slash_tmp = true\n' });
	await turn();
	const all = remote.calls.filter(({ method }) => method === 'process/start').map(({ params }) => params.processId === 'probe');
	assert.deepEqual(all, [true, false, false]); // one probe for all commands
	const [{ params: { sandbox } }] = starts();
	assert.equal(sandbox.cwd, `file://${folder}`);
	assert.deepEqual(sandbox.workspaceRoots, [`file://${folder}`]);
	assert.equal(sandbox.permissions.network, 'restricted');
	const special = (kind, access, subpath) => ({ path: { type: 'special', value: { kind, ...(subpath && { subpath }) } }, access,
		...(subpath && { missing_path_behavior: 'skip' }) });
	assert.deepEqual(sandbox.permissions.file_system.entries, [special('root', 'read'), special('project_roots', 'write'),
		special('tmpdir', 'write'), { path: { type: 'path', path: 'file:///extra%20dir' }, access: 'write' },
		...['.git', '.agents', '.codex', '.aws'].map((name) => special('project_roots', 'read', name))]);
});

test('a command that needs a sandbox is refused by a server without one', options, async (t) => {
	const none = ({ processId }) => ({ processId, sandboxType: 'none' });
	const { turn, output, starts } = await startRemote(t, [runAs('c1', 'touch made'), say('done')],
		{ ...BOXED, own: { 'process/start': none } });
	await turn();
	assert.equal(output('c1'), 'exec_command failed: the exec-server of environment `r` has no sandbox, which this command needs');
	assert.deepEqual(starts(), []); // only the command without effect was started
});

test('a command that the server starts without its sandbox after all is ended', options, async (t) => {
	const { remote, turn, output } = await startRemote(t, [runAs('c1', 'sleep 60'), say('done')], { ...BOXED,
		own: { 'process/start': ({ processId }) => ({ processId, sandboxType: processId === 'probe' ? 'linuxSeccomp' : 'none' }) } });
	await turn();
	assert.match(output('c1'), /has no sandbox/);
	await remote.called('process/terminate');
});

test('externalSandbox says nothing about another machine', options, async (t) => {
	const { turn, output, starts } = await startRemote(t, [runAs('c1', 'true'), say('done')]);
	await turn({ sandboxPolicy: { type: 'externalSandbox', networkAccess: 'enabled' } });
	assert.match(output('c1'), /the sandbox policy externalSandbox is about this machine/);
	assert.deepEqual(starts(), []);
});

test('an approval names the environment, and approvals of one machine do not hold on another', options, async (t) => {
	const { server, folder, turn, starts } = await startRemote(t, [run('touch made'), say('done'), run('touch made'), say('done')],
		{ approvalPolicy: 'untrusted', sandbox: 'danger-full-access' });
	const allow = async (decision) => {
		const ask = await server.next('item/commandExecution/requestApproval');
		server.answer(ask, { decision });
		return ask.params.environmentId;
	};
	const first = turn();
	assert.equal(await allow('acceptForSession'), 'r');
	await first;
	assert.equal(fs.existsSync(path.join(folder, 'made')), true);
	const second = turn({ environments: [{ environmentId: 'local', cwd: folder }] }); // the same command in the same folder
	assert.equal(await allow('decline'), 'local');
	await second;
	assert.equal(starts().length, 1);
});

test('git needs an approval there, because its repository is not known here', options, async (t) => {
	const { server, turn, starts } = await startRemote(t, [run('git status'), say('done')], { approvalPolicy: 'untrusted', sandbox: 'danger-full-access' });
	const ended = turn();
	server.answer(await server.next('item/commandExecution/requestApproval'), { decision: 'decline' });
	await ended;
	assert.deepEqual(starts(), []);
});

test('input reaches a command there, which is polled until it ends', options, async (t) => {
	const { model, turn, starts, items } = await startRemote(t, [
		runAs('c1', 'read line; echo got $line', { tty: true, yield_time_ms: 250 }), say('waits')]);
	await turn();
	assert.match(outputOf(model.requests().at(-1), 'c1'), /Process running with session ID \d+\n/);
	assert.deepEqual([starts()[0].params.tty, starts()[0].params.pipeStdin], [true, false]);
	assert.deepEqual(items(), []);
});

test('an interrupt ends the command there', options, async (t) => {
	const { remote, server, thread } = await startRemote(t, [run('sleep 60')]);
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await remote.called('process/start');
	await remote.until(() => remote.children.size === 1);
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	await remote.called('process/terminate');
	await remote.until(() => remote.links.size === 0);
});

test('the end of the app-server ends the command there', options, async (t) => {
	const { remote, server, thread } = await startRemote(t, [run('sleep 60')]);
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await remote.until(() => remote.children.size === 1);
	assert.equal((await server.end()).code, 0);
	await remote.called('process/terminate');
});

test('a lost connection is a failed command with words', options, async (t) => {
	const { turn, output, items } = await startRemote(t, [runAs('c1', 'echo begun; sleep 60'), say('done')], { own: {
		'process/start': ({ processId }, link) => {
			setImmediate(() => {
				link.notify('process/output', { processId, seq: 1, stream: 'stdout', chunk: Buffer.from('begun\n').toString('base64') });
				link.socket.end();
			});
			return { processId, sandboxType: 'none' };
		},
	} });
	assert.equal((await turn()).status, 'completed');
	assert.match(output('c1'), /code -1\n[^]*begun\n\nthe connection to the exec-server `ws:[^`]*` was lost: [^]*; the end of the command is not known\n/);
	assert.deepEqual(items().map(({ status, exitCode }) => [status, exitCode]), [['failed', -1]]);
});

test('a server that cannot be reached fails the command; nothing runs here', options, async (t) => {
	const { server, folder, turn, output } = await startRemote(t, [runAs('c1', 'touch made'), say('done')]);
	await server.request('environment/add', { environmentId: 'dead', execServerUrl: 'ws://127.0.0.1:1' });
	await turn({ environments: [{ environmentId: 'dead', cwd: folder }] });
	assert.match(output('c1'), /^exec_command failed: exec-server connection attempt failed: .*`ws:\/\/127\.0\.0\.1:1`: /);
	assert.equal(fs.existsSync(path.join(folder, 'made')), false);
});

test('a refusal of the server is the reason', options, async (t) => {
	const { turn, output } = await startRemote(t, [runAs('c1', 'true', { workdir: '/nonexistent-folder' }), say('done')]);
	await turn();
	assert.match(output('c1'), /^exec_command failed: the exec-server of environment `r` refuses the command: /);
});

test('the model is told the folder and the shell there, and not the AGENTS.md here', options, async (t) => {
	const { model, server, folder, turn } = await startRemote(t, [say('one'), say('two')]);
	fs.writeFileSync(path.join(server.cwd, 'AGENTS.md'), 'LOCAL INSTRUCTIONS');
	await turn();
	const all = textsOf(model.requests()[0], 'user').join('\n');
	assert.match(all, new RegExp(`<environment_context>\n  <cwd>${folder}</cwd>\n  <shell>bash</shell>`));
	assert.doesNotMatch(all, /LOCAL INSTRUCTIONS/);
	await turn({ environments: [{ environmentId: 'local', cwd: server.cwd }] });
	assert.match(textsOf(model.requests()[1], 'user').join('\n'), new RegExp(`<cwd>${server.cwd}</cwd>`));
	const updated = server.all('thread/settings/updated').at(-1).params.threadSettings.environments;
	assert.deepEqual(updated, [{ environmentId: 'local', cwd: server.cwd, runtimeWorkspaceRoots: [server.cwd] }]);
});

test('nonsense of a server about a command does not hurt', options, async (t) => {
	const chunk = Buffer.from('real\n').toString('base64');
	const { turn, output } = await startRemote(t, [runAs('c1', 'x'), say('done')], { own: {
		'process/start': ({ processId }, link) => {
			for (const params of [null, [], 7, {}, { processId: 'other', chunk }, { processId: 7, chunk }])
				for (const method of ['process/output', 'process/exited', 'process/closed']) link.notify(method, params);
			link.notify('process/closed', { processId }); // before the exit
			link.notify('process/output', { processId, stream: 'x', seq: -1, chunk });
			link.notify('process/exited', { processId, exitCode: 1e300 });
			link.notify('process/exited', { processId, exitCode: 0 });
			link.notify('process/closed', { processId });
			link.notify('process/output', { processId, chunk });
			return { processId: 'other', sandboxType: 7 };
		},
	} });
	await turn();
	assert.match(output('c1'), /Process exited with code -1\n[^]*Output:\nreal\n$/);
});

test('output that is not base64 ends the command', options, async (t) => {
	const { turn, output } = await startRemote(t, [runAs('c1', 'x'), say('done')], { own: {
		'process/start': ({ processId }, link) => {
			link.notify('process/output', { processId, chunk: '***' });
			return { processId, sandboxType: 'none' };
		},
	} });
	await turn();
	assert.match(output('c1'), /sent output that is not base64; the end of the command is not known/);
});

test('a flood of output is cut like that of a local command', options, async (t) => {
	const { turn, output, items } = await startRemote(t,
		[runAs('c1', 'head -c 5000000 /dev/zero | tr "\\0" x', { max_output_tokens: 100 }), say('done')]);
	await turn();
	assert.match(output('c1'), /Process exited with code 0/);
	assert.equal(output('c1').length < 3000, true);
	assert.equal(items()[0].aggregatedOutput.length < 1100000, true);
});

test('a subagent works where its parent does', options, async (t) => {
	const { remote, server, thread, starts, folder } = await startRemote(t, [
		{ when: { contains: 'count', lacks: 'ROOT' }, reply: [{ call: 'exec_command', arguments: { cmd: 'echo child' } }] },
		{ when: { contains: 'echo child', lacks: 'ROOT' }, ...say('counted') },
		{ reply: [{ call: 'spawn_agent', arguments: { message: 'count' } }] }, { ...say('done'), times: 'forever' }],
	{ model: 'gpt-5.5' });
	await server.request('turn/start', { threadId: thread.id, input: [text('ROOT')] });
	await remote.until(() => starts().length > 0);
	assert.deepEqual(starts().map(({ params }) => [params.cwd, params.env.CODEX_THREAD_ID === thread.id]), [[`file://${folder}`, false]]);
	await server.next('turn/completed');
	await server.next('turn/completed'); // of the subagent and of its parent
	assert.equal((await server.end()).code, 0);
});

const REFUSED = new RegExp('^exec_command failed: the commands of this session run in the environment `r`, which is not registered here; '
	+ 'register it with environment/add of the app-server, or select another one with `environments`$');

/** Another app-server over the same CODEX_HOME, which has no environments. */
async function startAgain(t, { model, server, thread }) {
	await server.end();
	const again = await startAppServer(t, model, { home: server.home, cwd: server.cwd });
	const turn = async (extra) => {
		await again.request('turn/start', { threadId: thread.id, input: [text('go')], ...extra });
		return (await again.next('turn/completed')).params.turn;
	};
	return { again, turn };
}

test('an environment that is registered again is selected again, and approvals of the old machine do not hold', options, async (t) => {
	const { server, folder, thread, starts } = await startRemote(t, [run('touch a'), say('done'), run('touch a'), say('done')],
		{ approvalPolicy: 'untrusted', sandbox: 'danger-full-access' });
	const other = await startExecServer(t);
	const turn = async (decision) => {
		await server.request('turn/start', { threadId: thread.id, input: [text('go')], environments: [{ environmentId: 'r', cwd: folder }] });
		server.answer(await server.next('item/commandExecution/requestApproval'), { decision });
		await server.next('turn/completed');
	};
	await turn('acceptForSession');
	await server.request('environment/add', { environmentId: 'r', execServerUrl: other.url });
	await turn('accept');
	assert.equal(starts().length, 1);
	assert.equal(other.calls.filter(({ method }) => method === 'process/start').length, 1);
});

test('an approval names the environment of its turn, not that of later ones', options, async (t) => {
	const { server, thread } = await startRemote(t, [runAs('c1', 'touch a'), runAs('c2', 'touch b'), say('done')],
		{ approvalPolicy: 'untrusted', sandbox: 'danger-full-access' });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const asked = await server.next('item/commandExecution/requestApproval');
	await server.request('thread/settings/update', { threadId: thread.id, environments: [{ environmentId: 'local', cwd: server.cwd }] });
	server.answer(asked, { decision: 'accept' });
	const second = await server.next('item/commandExecution/requestApproval');
	assert.equal(second.params.environmentId, 'r');
	server.answer(second, { decision: 'decline' });
	await server.next('turn/completed');
});

test('a start without an answer is a command that may have run', options, async (t) => {
	const { turn, output } = await startRemote(t, [runAs('c1', 'true'), say('done')],
		{ own: { 'process/start': (params, link) => void link.socket.end() } });
	await turn();
	assert.match(output('c1'), /code -1\n[^]*the end of the command is not known\n/);
});

test('input that the server refuses leaves room for more', options, async (t) => {
	const wide = 'x'.repeat(600000);
	const type = (id) => ({ take: { session: { from: 'input.-1.output', after: 'session ID ' } }, reply: [{ call: 'write_stdin', call_id: id,
		arguments: `{"session_id": {session}, "chars": "${wide}", "yield_time_ms": 250}` }] });
	const { model, turn, remote } = await startRemote(t, [runAs('c1', 'sleep 60', { tty: true, yield_time_ms: 250 }),
		type('c2'), type('c3'), type('c4'), say('done')], { config: 'model_context_window = 100000000\n',
		own: { 'process/write': () => { throw new Error('no'); } } });
	await turn();
	for (const id of ['c2', 'c3', 'c4']) assert.doesNotMatch(outputOf(model.requests().at(-1), id), /does not read its input|Unknown/i);
	assert.equal(remote.calls.filter(({ method }) => method === 'process/write').length, 3);
});

test('a resumed thread stays in its environment: refused while that is not registered, never run here', options, async (t) => {
	const first = await startRemote(t, [say('hi'), runAs('c1', 'touch made'), say('done'), runAs('c2', 'touch made'), say('done')]);
	const { remote, model, folder, server, thread, output, starts } = first;
	await first.turn();
	const { again, turn } = await startAgain(t, first);
	const resumed = await again.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(resumed.thread.environments, [{ environmentId: 'r', cwd: folder, runtimeWorkspaceRoots: [folder] }]);
	await turn();
	assert.match(output('c1'), REFUSED);
	for (const where of [folder, server.cwd]) assert.equal(fs.existsSync(path.join(where, 'made')), false);
	await again.request('environment/add', { environmentId: 'r', execServerUrl: remote.url });
	await turn(); // a registration holds from the next turn on
	assert.match(output('c2'), /Process exited with code 0/);
	assert.deepEqual(starts().map(({ params }) => params.cwd), [`file://${folder}`]);
	assert.equal(fs.existsSync(path.join(folder, 'made')), true);
	const contexts = model.requests().map((request) => textsOf(request, 'user').filter((words) => words.includes('<environment_context>')).length);
	assert.equal(contexts[1], contexts[0]); // the history describes the folder already, but for its shell
});

test('a fork stays in the environment, and so does a thread that was unloaded', options, async (t) => {
	const { server, thread, starts, turn } = await startRemote(t, [say('hi'), run('true'), say('done'), run('true'), say('done')],
		{ args: ['-c', 'app_server.idle_thread_timeout_ms=100'] });
	await turn();
	const { thread: fork } = await server.request('thread/fork', { threadId: thread.id });
	assert.equal(fork.environments[0].environmentId, 'r');
	await turn({ threadId: fork.id });
	assert.equal(starts().length, 1);
	await server.request('thread/unsubscribe', { threadId: thread.id });
	await server.take(({ method, params }) => method === 'thread/closed' && params.threadId === thread.id, 'closed');
	await server.request('thread/resume', { threadId: thread.id });
	await turn();
	assert.equal(starts().length, 2);
	await server.end();
});

test('selected environments replace that of a resumed thread', options, async (t) => {
	const first = await startRemote(t, [say('hi'), runAs('c1', 'touch made'), say('done'), say('hi')]);
	const { model, server, thread, output } = first;
	await first.turn();
	let { again, turn } = await startAgain(t, first);
	await again.request('thread/resume', { threadId: thread.id });
	await turn({ environments: [{ environmentId: 'local', cwd: server.cwd }] });
	assert.match(output('c1'), /Process exited with code 0/);
	assert.equal(fs.existsSync(path.join(server.cwd, 'made')), true);
	({ again, turn } = await startAgain(t, { model, server: again, thread }));
	assert.equal((await again.request('thread/resume', { threadId: thread.id })).thread.environments[0].environmentId, 'local');
});

test('an environment that was selected after the last turn, and one whose turn was reverted, are recorded', options, async (t) => {
	const first = await startRemote(t, [say('hi'), say('two'), runAs('c1', 'touch made'), say('done')]);
	const { model, server, folder, thread, turn: early, output } = first;
	const r = [{ environmentId: 'r', cwd: folder }];
	await early({ environments: [{ environmentId: 'local', cwd: server.cwd }] });
	await server.request('thread/settings/update', { threadId: thread.id, environments: r });
	const { again, turn } = await startAgain(t, first);
	assert.equal((await again.request('thread/resume', { threadId: thread.id })).thread.environments[0].environmentId, 'r');
	const { id } = await turn();
	assert.match(textsOf(model.requests().at(-1), 'user').join('\n'), new RegExp(`<cwd>${folder}</cwd>`)); // the model reads of it
	await again.request('thread/revert', { threadId: thread.id, beforeTurnId: id });
	const { again: third, turn: late } = await startAgain(t, { model, server: again, thread });
	assert.equal((await third.request('thread/resume', { threadId: thread.id })).thread.environments[0].environmentId, 'r');
	await late();
	assert.match(output('c1'), REFUSED);
	assert.equal(fs.existsSync(path.join(server.cwd, 'made')), false);
});

test('a thread without a turn keeps its environment with its first item', options, async (t) => {
	const first = await startRemote(t, [say('unheard')]);
	await first.server.request('thread/inject_items', { threadId: first.thread.id,
		items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'earlier' }] }] });
	const { again } = await startAgain(t, first);
	const { thread } = await again.request('thread/resume', { threadId: first.thread.id });
	assert.equal(thread.environments[0].environmentId, 'r');
});

test('codex exec resume refuses the commands of such a session', options, async (t) => {
	const { model, server, thread, turn, output } = await startRemote(t, [say('hi'), runAs('c1', 'touch made'), say('done')]);
	await turn();
	await server.end();
	const { code } = await codexExec(t, model, ['resume', thread.id, 'go'], { home: server.home, cwd: server.cwd });
	assert.equal(code, 0);
	assert.match(output('c1'), REFUSED);
	assert.equal(fs.existsSync(path.join(server.cwd, 'made')), false);
});

test('a session whose environment cannot be read is not resumed', options, async (t) => {
	const first = await startRemote(t, [say('hi')]);
	await first.turn();
	const { again } = await startAgain(t, first);
	const [file] = fs.readdirSync(path.join(again.home, 'sessions'), { recursive: true }).filter((name) => name.endsWith('.jsonl'));
	const rollout = path.join(again.home, 'sessions', file);
	const lines = fs.readFileSync(rollout, 'utf8');
	const nine = JSON.stringify({ id: 'r', cwd: '/x', further: Array(8).fill({ id: 'r', cwd: '/y' }) });
	for (const bad of ['7', 'null', '{}', '{"id":"","cwd":"/x"}', '{"id":"r","cwd":"x"}', '{"id":"r","cwd":"/\\u0000"}', '{"id":7,"cwd":"/"}', nine]) {
		fs.writeFileSync(rollout, lines.replace(/"command_environment":\{[^}]*\}/g, `"command_environment":${bad}`));
		await assert.rejects(again.request('thread/resume', { threadId: first.thread.id }), /its `command_environment` has no id with an absolute cwd/);
	}
});

/** The program of codex 0.169, whose exec-server these tests can use, too. */
const REAL = process.env.CODEX_EXEC_SERVER_BIN;

test('the exec-server of codex 0.169', REAL ? options : { skip: 'CODEX_EXEC_SERVER_BIN names no codex 0.169' }, async (t) => {
	const [folder, outside, home] = ['there', 'outside', 'home'].map((name) => tempDir(t, name));
	const real = launch(t, REAL, ['exec-server', '--listen', 'ws://127.0.0.1:0'], { cwd: folder,
		env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TMPDIR: tempDir(t, 'tmp') } });
	const url = await waitFor(real.child.stdout, () => real.result.stdout, (words) => /ws:\/\/127\.0\.0\.1:\d+/.exec(words)?.[0]);
	const model = await startModel(t, [
		runAs('c1', `pwd; touch in; touch ${outside}/out; exit 7`), say('done'),
		runAs('c2', 'read line; echo got $line', { tty: true, yield_time_ms: 250 }), say('waits'),
		runAs('c3', `touch ${outside}/out`, { sandbox_permissions: 'require_escalated' }), say('done'), run('sleep 60')]);
	const server = await startAppServer(t, model, { config: '[sandbox_workspace_write]\nexclude_slash_tmp = true\n' });
	await server.request('environment/add', { environmentId: 'r', execServerUrl: url });
	assert.deepEqual(await server.request('environment/status', { environmentId: 'r' }), { status: 'ready' });
	assert.equal((await server.request('environment/info', { environmentId: 'r' })).cwd, `file://${folder}`);
	const { thread } = await server.request('thread/start', { sandbox: 'workspace-write', approvalPolicy: 'on-request',
		environments: [{ environmentId: 'r', cwd: folder }] });
	const start = () => server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const output = (id) => outputOf(model.requests().at(-1), id);
	await start();
	await server.next('turn/completed');
	assert.match(output('c1'), new RegExp(`code 7\n[^]*${folder}\n[^]*${outside}/out`));
	assert.deepEqual([fs.existsSync(path.join(folder, 'in')), fs.existsSync(path.join(outside, 'out'))], [true, false]);
	await start();
	await server.next('turn/completed');
	assert.match(output('c2'), /Process running with session ID/);
	await start();
	server.answer(await server.next('item/commandExecution/requestApproval'), { decision: 'accept' });
	await server.next('turn/completed');
	assert.match(output('c3'), /code 0/);
	assert.equal(fs.existsSync(path.join(outside, 'out')), true);
	const { turn } = await start();
	await server.next('item/started');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	assert.equal((await server.end()).code, 0);
});
