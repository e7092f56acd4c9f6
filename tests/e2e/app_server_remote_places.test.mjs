// Several environments of one thread: the model names one for a call, or the first is meant.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, needs, outputOf, reply, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { startExecServer } from './lib/exec_server.mjs';
import { BOXED, FREE, runAs } from './lib/remote.mjs';

const options = needs('app-server');
const patchAs = (id, ...lines) => reply({ custom: 'apply_patch', call_id: id, input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') });

/** A thread with the environments that `names` lists, of r, s and local. */
async function startPlaces(t, names, replies, { config, old, last = say('done'), ...more } = {}) {
	const model = await startModel(t, [...replies, last]);
	const server = await startAppServer(t, model, { config, cwd: old });
	const remotes = {}, folders = { local: server.cwd };
	for (const id of ['r', 's']) {
		remotes[id] = await startExecServer(t);
		folders[id] = tempDir(t, id);
		await server.request('environment/add', { environmentId: id, execServerUrl: remotes[id].url });
		await remotes[id].called('environment/info');
	}
	const environments = names.map((id) => ({ environmentId: id, cwd: folders[id] }));
	const { thread } = await server.request('thread/start', { ...FREE, model: 'gpt-5.5', environments, ...more });
	const turn = async (client = server, extra = {}) => {
		await client.request('turn/start', { threadId: thread.id, input: [text('go')], ...extra });
		return (await client.next('turn/completed')).params.turn;
	};
	const output = (id) => outputOf(model.requests().at(-1), id);
	const starts = (id) => remotes[id].calls.filter(({ method, params }) => method === 'process/start' && params.processId !== 'probe');
	const tool = (name) => model.requests().at(-1).body.tools.find((it) => it.name === name);
	return { model, server, remotes, folders, environments, thread, turn, output, starts, tool };
}

test('a command runs where the model says, and in the first environment otherwise', options, async (t) => {
	const { model, server, folders, environments, thread, turn, output, starts, tool } = await startPlaces(t, ['r', 's', 'local'], [
		runAs('c1', 'pwd'), runAs('c2', 'pwd', { environment_id: 's' }), runAs('c3', 'pwd; echo path=$PATH', { environment_id: 'local' }),
		runAs('c4', 'pwd', { environment_id: 'zz' }), runAs('c5', 'pwd', { environment_id: 's', workdir: '..' })]);
	assert.deepEqual(thread.environments, environments.map((it) => ({ ...it, runtimeWorkspaceRoots: [it.cwd] })));
	await turn();
	for (const [id, folder] of [['c1', folders.r], ['c2', folders.s], ['c3', server.cwd], ['c5', path.dirname(folders.s)]])
		assert.match(output(id), new RegExp(`Output:\n[^]*${folder}\n`));
	assert.match(output('c3'), /path=\//);
	assert.equal(output('c4'), 'unknown turn environment id `zz`');
	assert.deepEqual([starts('r').length, starts('s').length], [1, 2]);
	assert.equal(starts('s')[0].params.env.PATH, undefined); // no variable of this machine
	const items = server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'commandExecution');
	assert.deepEqual(items.map(({ cwd }) => cwd), [folders.r, folders.s, server.cwd, path.dirname(folders.s)]);
	const context = textsOf(model.requests()[0], 'user').find((words) => words.startsWith('<environment_context>'));
	const place = (id, is) => `  <environment id="${id}" primary="${is}">\n  <cwd>${folders[id]}</cwd>\n  <shell>bash</shell>\n  </environment>\n`;
	assert.equal(context.includes(place('r', true) + place('s', false)), true);
	assert.match(context, new RegExp(`<environment id="local" primary="false">\n  <cwd>${server.cwd}</cwd>`));
	assert.equal('environment_id' in tool('exec_command').parameters.properties, true);
});

test('files are those of the environment that a patch or an image names', options, async (t) => {
	const { folders, turn, output, remotes, tool } = await startPlaces(t, ['r', 's'], [
		patchAs('p1', '*** Environment ID: s', '*** Add File: made', '+1'), patchAs('p2', '*** Environment ID: zz', '*** Add File: made', '+1'),
		patchAs('p3', '*** Add File: first', '+1'), call('view_image', { path: 'x.png', environment_id: 's' }, { call_id: 'v1' }),
		runAs('c1', "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: shell\n+1\n*** End Patch\nEOF\n", { environment_id: 's' })], BOXED);
	fs.writeFileSync(path.join(folders.s, 'x.png'), Buffer.from('89504e470d0a1a0a00', 'hex'));
	await turn();
	assert.match(output('p1'), /^Exit code: 0\n/);
	assert.equal(output('p2'), 'unknown turn environment id `zz`');
	assert.equal(output('v1'), 'attached local image path');
	assert.deepEqual([fs.readdirSync(folders.r), fs.readdirSync(folders.s).sort()], [['first'], ['made', 'shell', 'x.png']]);
	const [{ params: { sandbox } }] = remotes.s.calls.filter(({ method }) => method === 'fs/writeFile');
	assert.deepEqual([sandbox.cwd, sandbox.workspaceRoots], [`file://${folders.s}`, [`file://${folders.s}`]]);
	assert.match(tool('apply_patch').format.definition, /^start: begin_patch environment_id\? hunk\+ end_patch\nenvironment_id: /);
});

test('with one environment there is no parameter for it', options, async (t) => {
	const { turn, tool, folders } = await startPlaces(t, ['r'], [say('one')]);
	await turn();
	for (const name of ['exec_command', 'view_image']) assert.equal('environment_id' in tool(name).parameters.properties, false);
	assert.match(tool('apply_patch').format.definition, /^start: begin_patch hunk\+ end_patch\n/);
	await turn(undefined, { environments: ['r', 's'].map((id) => ({ environmentId: id, cwd: folders[id] })) });
	assert.equal('environment_id' in tool('exec_command').parameters.properties, true); // from the next request on
});

test('the folder of this machine is that of the thread, also after it has changed', options, async (t) => {
	const other = tempDir(t, 'other'), old = tempDir(t, 'old');
	const { server, turn, output } = await startPlaces(t, ['r', 'local'], [
		runAs('c1', 'pwd; touch here; touch "$OLD/there"', { environment_id: 'local' })],
	{ ...BOXED, old, config: `[shell_environment_policy]\nset = { OLD = "${old}" }\n[sandbox_workspace_write]\nexclude_slash_tmp = true\n` });
	await turn(server, { cwd: other });
	assert.match(output('c1'), new RegExp(`Output:\n[^]*${other}\n`));
	const made = (folder) => fs.readdirSync(folder).filter((name) => !name.startsWith('.')); // those are of the sandbox
	assert.deepEqual([made(other), made(old)], [['here'], []]);
});

test('an approval names the environment of its command', options, async (t) => {
	const { server, turn } = await startPlaces(t, ['r', 's', 'local'], [runAs('c1', 'touch a', { environment_id: 's' }),
		runAs('c2', 'touch a', { environment_id: 'local' })], { approvalPolicy: 'untrusted', sandbox: 'danger-full-access' });
	const ended = turn();
	for (const id of ['s', 'local']) {
		const ask = await server.next('item/commandExecution/requestApproval');
		assert.equal(ask.params.environmentId, id);
		server.answer(ask, { decision: 'decline' });
	}
	await ended;
});

test('a patch names its environment, also this machine beside another one', options, async (t) => {
	const { server, turn } = await startPlaces(t, ['r', 'local'], ['r', 'local'].map((id) =>
		patchAs(id, `*** Environment ID: ${id}`, '*** Add File: made', '+1')), { approvalPolicy: 'untrusted', sandbox: 'workspace-write' });
	const ended = turn();
	for (const id of ['r', 'local']) {
		const ask = await server.next('item/fileChange/requestApproval');
		assert.equal(ask.params.reason, `The files are in the environment \`${id}\`.`);
		server.answer(ask, { decision: 'decline' });
	}
	await ended;
});

test('what the user grants on this machine is not granted on another', options, async (t) => {
	const granted = tempDir(t, 'granted');
	const { server, turn, remotes, folders } = await startPlaces(t, ['local', 'r'], [
		call('request_permissions', { permissions: { file_system: { write: [granted] } } }, { call_id: 'g' }),
		runAs('c1', `touch ${granted}/here`), runAs('c2', 'true', { environment_id: 'r' })],
	{ sandbox: 'workspace-write', approvalPolicy: 'on-request', config: '[sandbox_workspace_write]\nexclude_slash_tmp = true\n' });
	const ended = turn();
	const ask = await server.next('item/permissions/requestApproval');
	server.answer(ask, { permissions: ask.params.permissions, scope: 'turn' });
	await ended;
	assert.equal(fs.existsSync(path.join(granted, 'here')), true);
	const [{ params }] = remotes.r.calls.filter(({ method }) => method === 'process/start');
	assert.equal(JSON.stringify(params.sandbox).includes(granted), false);
	assert.equal(params.sandbox.cwd, `file://${folders.r}`);
});

test('what the user grants in an environment holds there alone, and a folder is one of that machine', options, async (t) => {
	const ask = (more) => call('request_permissions', { permissions: { file_system: { write: ['sub/../new'] }, network: { enabled: true } }, ...more },
		{ call_id: 'g' });
	const { server, turn, remotes, folders, output } = await startPlaces(t, ['local', 'r', 's'], [
		ask({ environment_id: 'r' }), runAs('c1', 'true', { environment_id: 'r' }), runAs('c2', 'true', { environment_id: 's' }), runAs('c3', 'true'),
		patchAs('p', '*** Environment ID: r', `*** Add File: new/made`, '+1'), say('done'),
		runAs('c4', 'true', { environment_id: 'r' }), call('request_permissions', { permissions: {}, environment_id: 'zz' }, { call_id: 'u' })],
	{ sandbox: 'read-only', approvalPolicy: 'on-request' });
	const ended = turn();
	const { id, params } = await server.next('item/permissions/requestApproval');
	assert.deepEqual([params.environmentId, params.cwd, params.permissions.fileSystem.write], ['r', folders.r, [`${folders.r}/new`]]);
	server.answer({ id }, { permissions: params.permissions, scope: 'turn' });
	await ended;
	const policies = (name) => remotes[name].calls.filter((it) => it.method === 'process/start' && it.params.processId !== 'probe')
		.map((it) => it.params.sandbox.permissions);
	const writable = ({ file_system: files }) => files.entries.filter(({ access }) => access === 'write').map((entry) => entry.path.path);
	assert.deepEqual(writable(policies('r')[0]), [`file://${folders.r}/new`]);
	assert.deepEqual([policies('r')[0].network, policies('s')[0].network], ['enabled', 'restricted']);
	assert.deepEqual(writable(policies('s')[0]), []);
	const [told, untold] = ['s', 'r'].map((name) => remotes[name].calls.find((it) => it.method === 'process/start' && it.params.processId !== 'probe'));
	assert.deepEqual([told, untold].map((it) => it.params.env.CODEX_SANDBOX_NETWORK_DISABLED), ['1', undefined]);
	assert.equal(fs.readFileSync(path.join(folders.r, 'new/made'), 'utf8'), '1\n');
	await turn();
	assert.deepEqual(writable(policies('r')[1]), []); // it was for the turn
	assert.equal(output('u'), 'unknown turn environment id `zz`');
});

test('git needs an approval in a repository that the user has made writable in a further environment', options, async (t) => {
	const granted = tempDir(t, 'granted'), repository = path.join(granted, 'repository');
	spawnSync('git', ['init', '-q', repository]);
	const status = (id) => runAs(id, 'git status', { environment_id: 'local', workdir: repository, login: false });
	const { server, turn } = await startPlaces(t, ['r', 'local'], [status('c1'),
		call('request_permissions', { permissions: { file_system: { write: [granted] } }, environment_id: 'local' }, { call_id: 'g' }), status('c2')],
	{ sandbox: 'read-only', approvalPolicy: 'untrusted' });
	const ended = turn();
	const ask = await server.take(({ method }) => /requestApproval$/.test(method));
	assert.equal(ask.method, 'item/permissions/requestApproval'); // not for c1
	server.answer(ask, { permissions: ask.params.permissions, scope: 'turn' });
	const next = await server.take(({ method, params }) => method === 'item/commandExecution/requestApproval'
		|| (method === 'item/completed' && params.item.id === 'c2'));
	assert.equal(next.method, 'item/commandExecution/requestApproval');
	server.answer(next, { decision: 'decline' });
	await ended;
});

test('the environments that can be selected', options, async (t) => {
	const { server, environments: [r, s] } = await startPlaces(t, ['r', 's'], []);
	const start = (environments) => server.request('thread/start', { environments });
	await assert.rejects(start([r, s, { ...r, cwd: '/' }]), /duplicate turn environment id `r`/);
	await assert.rejects(start([r, { environmentId: 'zz', cwd: '/' }]), /unknown turn environment id `zz`/);
	await assert.rejects(start([]), /must select from 1 to 8 environments/);
	await assert.rejects(start(Array(9).fill(r)), /must select from 1 to 8 environments/);
});

test('a resumed thread keeps them all', options, async (t) => {
	const { model, server, remotes, folders, thread, turn, output, environments } = await startPlaces(t, ['r', 's'], [
		say('one'), runAs('c1', 'pwd'), runAs('c2', 'pwd', { environment_id: 's' }), say('two'), runAs('c3', 'pwd', { environment_id: 's' })]);
	await turn();
	await server.end();
	const again = await startAppServer(t, model, { home: server.home, cwd: server.cwd });
	await again.request('environment/add', { environmentId: 'r', execServerUrl: remotes.r.url });
	const resumed = await again.request('thread/resume', { threadId: thread.id });
	assert.deepEqual(resumed.thread.environments.map(({ environmentId, cwd }) => ({ environmentId, cwd })), environments);
	await turn(again);
	assert.match(output('c1'), new RegExp(`Output:\n[^]*${folders.r}\n`));
	assert.match(output('c2'), /the environment `s`, which is not registered here/);
	await again.request('environment/add', { environmentId: 's', execServerUrl: remotes.s.url });
	await turn(again);
	assert.match(output('c3'), new RegExp(`Output:\n[^]*${folders.s}\n`));
});

test('a subagent has them, too', options, async (t) => {
	const { server, remotes, turn, starts } = await startPlaces(t, ['r', 's'], [
		{ when: { contains: 'count', lacks: 'ROOT' }, reply: [{ call: 'exec_command', arguments: { cmd: 'echo child', environment_id: 's' } }] },
		{ when: { contains: 'echo child', lacks: 'ROOT' }, ...say('counted') },
		{ reply: [{ call: 'spawn_agent', arguments: { message: 'count' } }] }], { last: { ...say('done'), times: 'forever' } });
	await turn(server, { input: [text('ROOT')] });
	await remotes.s.until(() => starts('s').length === 1);
	await server.next('turn/completed');
	assert.equal((await server.end()).code, 0);
});
