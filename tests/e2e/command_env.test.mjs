// The environment of commands: shell_environment_policy and the engine's own variables, for every way to run one.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, itemsOf, needs, outputOf, run, say, startModel } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const SHOW = 'cat /proc/$$/environ | tr "\\0" "\\n"';
const OURS = { MY_KEY: 'k', my_Secret_word: 's', A_TOKEN: 't', PLAIN: 'p', LOGNAME: 'me', USER: 'me', SHELL: '/bin/bash', TERM: 'xterm',
	LC_TIME: 'C', LC_CTYPE: 'C.UTF-8', COLORTERM: 'yes' };
const SECRETS = ['MY_KEY', 'my_Secret_word', 'A_TOKEN'];
/** Variables that the engine sets for the model's commands in any case. */
const QUIET = { NO_COLOR: '1', TERM: 'dumb', LANG: 'C.UTF-8', LC_CTYPE: 'C.UTF-8', LC_ALL: 'C.UTF-8', COLORTERM: '', PAGER: 'cat',
	GIT_PAGER: 'cat', GH_PAGER: 'cat', CODEX_CI: '1' };
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';

/** Each row: the policy, the variables that must exist, those that must not. */
const ROWS = [
	['all is inherited, secrets too', '', OURS, []],
	['default excludes, if they are not ignored', 'ignore_default_excludes = false', { PLAIN: 'p', LOGNAME: 'me' }, SECRETS],
	['inherit core', 'inherit = "core"', { LOGNAME: 'me', USER: 'me', SHELL: '/bin/bash', LC_CTYPE: 'C.UTF-8' },
		[...SECRETS, 'PLAIN', 'LC_TIME', 'CODEX_HOME']],
	['inherit none', 'inherit = "none"', {}, [...Object.keys(OURS), 'HOME', 'CODEX_HOME']],
	['exclude, in any case of letters', 'exclude = ["my_*", "pl?in"]', { A_TOKEN: 't' }, ['MY_KEY', 'my_Secret_word', 'PLAIN']],
	['set comes behind the excludes', 'exclude = ["MY_KEY"]\nset = { MY_KEY = "mine", NEW = "", PLAIN = "a=b c" }',
		{ MY_KEY: 'mine', NEW: '', PLAIN: 'a=b c' }, []],
	['include_only is last', 'include_only = ["PATH", "my_*"]\nset = { MY_SET = "1", OTHER = "2" }',
		{ MY_KEY: 'k', my_Secret_word: 's', MY_SET: '1' }, ['A_TOKEN', 'PLAIN', 'OTHER', 'HOME']],
	['none with set', 'inherit = "none"\nset = { PATH = "/usr/bin:/bin", ONLY = "this" }', { ONLY: 'this' }, [...SECRETS, 'PLAIN', 'HOME']],
];
const configOf = (policy) => `${FREE}[shell_environment_policy]\n${policy}\n`;
const envOf = (output) => Object.fromEntries(output.split('\n').filter((line) => /^\w+=/.test(line))
	.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).replace('\r', '')]));

function assertEnv(env, has, lacks, where) {
	for (const [name, value] of Object.entries(has)) assert.equal(env[name], value, `${where}: ${name}`);
	for (const name of lacks) assert.ok(!(name in env), `${where}: ${name}=${env[name]}`);
}

/** As above, for a command without a client. */
function assertModelEnv(env, has, lacks, where) {
	const set = Object.keys(QUIET);
	assertEnv(env, { ...has, ...QUIET }, lacks.filter((name) => !set.includes(name)), where);
	assert.match(env.CODEX_THREAD_ID, /^[0-9a-f-]{36}$/, where);
	assert.equal(env.CODEX_SESSION_ID, env.CODEX_THREAD_ID, where);
	assert.match(env.CODEX_TOOL_CALL_ID, /^call_\d_1$/, where);
	assert.match(env.CODEX_VERSION, /^\d+\.\d+\.\d+/, where);
	assert.ok(!('CODEX_SANDBOX' in env || 'CODEX_SANDBOX_NETWORK_DISABLED' in env), where);
}

async function envInExec(t, config) {
	const model = await startModel(t, [run(SHOW, { login: false }), say('Done.')]);
	const { events } = await codexExec(t, model, ['go'], { json: true, config, env: OURS });
	return envOf(itemsOf(events, 'command_execution')[0].aggregated_output);
}

async function envsInProto(t, config) {
	const model = await startModel(t, [run(SHOW, { login: false }), say('Done.')]);
	const proto = startProto(t, model, { config, env: OURS });
	proto.submit('1', userInput('go'));
	const ofModel = (await proto.next('exec_command_end')).msg.stdout;
	await proto.next('task_complete');
	proto.submit('2', { type: 'run_user_shell_command', command: SHOW });
	const ofUser = (await proto.next('exec_command_end')).msg.stdout;
	assert.equal((await proto.end()).code, 0);
	return { ofModel: envOf(ofModel), ofUser: envOf(ofUser) };
}

async function envsInAppServer(t, config) {
	const model = await startModel(t, [run(SHOW, { login: false }), run(SHOW, { login: false, tty: true }), say('Done.')]);
	const server = await startAppServer(t, model, { config, env: OURS });
	const { thread } = await server.request('thread/start', { cwd: server.cwd });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('turn/completed');
	const [pipes, terminal] = [1, 2].map((n) => envOf(outputOf(model.requests()[2], `call_${n}_1`)));
	const command = ['/bin/bash', '-c', SHOW];
	const { stdout } = await server.request('command/exec', { command });
	const changed = await server.request('command/exec', { command, env: { PLAIN: null, PATH: '/usr/bin:/bin', ADDED: 'a' } });
	await server.request('process/spawn', { command, cwd: server.cwd, processHandle: 'p', env: { ADDED: 'a', PLAIN: null } });
	const spawned = (await server.next('process/exited')).params.stdout;
	assert.equal((await server.end()).code, 0);
	return { pipes, terminal, command: envOf(stdout), changed: envOf(changed.stdout), spawned: envOf(spawned) };
}

for (const [name, policy, has, lacks] of ROWS) {
	test(`${name}: exec and proto, the model's commands and the user's`, needs('proto'), async (t) => {
		assertModelEnv(await envInExec(t, configOf(policy)), has, lacks, 'exec');
		const { ofModel, ofUser } = await envsInProto(t, configOf(policy));
		assertModelEnv(ofModel, has, lacks, 'proto');
		assertEnv(ofUser, has, [...lacks, 'CODEX_CI', 'NO_COLOR', 'CODEX_TOOL_CALL_ID'], 'the user\'s');
	});

	test(`${name}: app-server, turns and the client's commands`, needs('app-server'), async (t) => {
		const { pipes, terminal, command, changed, spawned } = await envsInAppServer(t, configOf(policy));
		assertModelEnv(pipes, has, lacks, 'turn');
		assertModelEnv(terminal, has, lacks, 'turn with a terminal');
		assertEnv(command, has, [...lacks, 'CODEX_CI', 'NO_COLOR', 'CODEX_THREAD_ID'], 'command/exec');
		const { PLAIN, ...rest } = has;
		assertEnv(changed, { ...rest, ADDED: 'a' }, [...lacks, 'PLAIN'], 'command/exec with env');
		// The policy restricts what the model can see; process/spawn belongs to the client.
		assertEnv(spawned, { MY_KEY: 'k', A_TOKEN: 't', ADDED: 'a' }, ['PLAIN'], 'process/spawn');
	});
}

const MARKS = 'echo "$CODEX_SANDBOX,$CODEX_SANDBOX_NETWORK_DISABLED"';
for (const [mode, config, sandboxed, network] of [
	['read-only', '', true, false], ['workspace-write', '', true, false],
	['workspace-write', '[sandbox_workspace_write]\nnetwork_access = true\n', true, true],
	['danger-full-access', '', false, true],
]) {
	test(`the marks of a sandbox: ${mode}${network && sandboxed ? ' with network' : ''}`, needs('app-server'), async (t) => {
		const model = await startModel(t, [run(MARKS), say('Done.')]);
		const server = await startAppServer(t, model, {
			config: `sandbox_mode = "${mode}"\napproval_policy = "never"\n${config}`,
			env: { CODEX_SANDBOX: 'not so' },
		});
		const { thread } = await server.request('thread/start', { cwd: server.cwd });
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await server.next('turn/completed');
		const { stdout } = await server.request('command/exec', { command: ['/bin/bash', '-c', MARKS] });
		await server.request('thread/shellCommand', { threadId: thread.id, command: MARKS });
		await server.next('turn/completed');
		const items = server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'commandExecution');
		const wanted = sandboxed ? new RegExp(`^(bubblewrap|landlock),${network ? '' : '1'}\n$`) : /^,\n$/;
		assert.match(items[0].aggregatedOutput, wanted);
		assert.match(stdout, wanted);
		assert.match(items[1].aggregatedOutput, /^,\n$/, 'the user\'s own');
		assert.equal((await server.end()).code, 0);
	});
}

const LOGIN = 'shopt -q login_shell && echo login || echo plain';
for (const [allowed, wanted] of [
	[true, ['login', 'login', 'plain']],
	[false, ['plain', 'login shell is disabled by config; omit `login` or set it to false.', 'plain']],
]) {
	test(`allow_login_shell = ${allowed}`, needs('proto'), async (t) => {
		const model = await startModel(t, [run(LOGIN), run(LOGIN, { login: true }), run(LOGIN, { login: false }), say('Done.')]);
		const proto = startProto(t, model, { config: `${FREE}allow_login_shell = ${allowed}\n` });
		proto.submit('1', userInput('go'));
		await proto.next('task_complete');
		const outputs = [1, 2, 3].map((n) => outputOf(model.requests()[3], `call_${n}_1`).trim().split('\n').at(-1));
		assert.deepEqual(outputs, wanted);
		proto.submit('2', { type: 'run_user_shell_command', command: LOGIN });
		assert.equal((await proto.next('exec_command_end')).msg.stdout, 'login\n');
		assert.equal((await proto.end()).code, 0);
	});
}
