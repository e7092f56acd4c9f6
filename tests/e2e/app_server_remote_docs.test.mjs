// AGENTS.md files of an environment: those of its project are read there; those of this machine's project are not.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, forever, launch, needs, outputOf, reply, say, startModel, tempDir, textsOf, waitFor } from './lib/codex.mjs';
import { startExecServer } from './lib/exec_server.mjs';
import { FREE } from './lib/remote.mjs';

const options = needs('app-server');

/** Files of a machine, by name: a folder of them. */
function machine(t, files) {
	const root = tempDir(t, 'there');
	for (const [name, content] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
		fs.writeFileSync(path.join(root, name), content);
	}
	return root;
}

const PROJECT = { 'AGENTS.md': 'OUTSIDE', 'p/.git/HEAD': '', 'p/AGENTS.md': 'ROOT RULES', 'p/a/AGENTS.override.md': 'OVERRIDE', 'p/a/AGENTS.md': 'HIDDEN',
	'p/a/b/AGENTS.md': 'INNER' };

async function start(t, { files = PROJECT, cwd = 'p/a/b', own, config, replies = [say('one'), say('two'), say('three')], count = 1 } = {}) {
	const root = machine(t, files), model = await startModel(t, replies), remotes = [];
	const server = await startAppServer(t, model, { config });
	fs.writeFileSync(path.join(server.cwd, 'AGENTS.md'), 'LOCAL RULES');
	fs.writeFileSync(path.join(server.home, 'AGENTS.md'), 'HOME RULES');
	for (const id of ['r', 's'].slice(0, count)) {
		const remote = await startExecServer(t, own);
		await server.request('environment/add', { environmentId: id, execServerUrl: remote.url });
		await remote.called('environment/info');
		remotes.push(remote);
	}
	const folder = path.join(root, cwd);
	const opening = server.request('thread/start', { ...FREE, environments: [{ environmentId: 'r', cwd: folder }] });
	const turn = async (extra) => {
		await server.request('turn/start', { threadId: (await opening).thread.id, input: [text('go')], ...extra });
		await server.next('turn/completed');
	};
	const docs = () => textsOf(model.requests().at(-1), 'user').filter((words) => words.startsWith('# AGENTS.md'));
	return { root, folder, model, server, remotes, remote: remotes[0], opening, turn, docs };
}

test('the files of the project there are read, from its root to the folder', options, async (t) => {
	const { root, folder, server, remote, opening, turn, docs } = await start(t);
	const { instructionSources } = await opening;
	assert.deepEqual(instructionSources, [path.join(server.home, 'AGENTS.md'),
		...['p/AGENTS.md', 'p/a/AGENTS.override.md', 'p/a/b/AGENTS.md'].map((name) => path.join(root, name))]);
	await turn();
	assert.deepEqual(docs(), [`# AGENTS.md instructions for ${folder}\n\n<INSTRUCTIONS>\nHOME RULES\n\n--- project-doc ---\n\n`
		+ 'ROOT RULES\n\nOVERRIDE\n\nINNER\n</INSTRUCTIONS>']);
	for (const { method, params } of remote.calls) if (method.startsWith('fs/')) assert.equal(params.sandbox, null);
	const before = remote.calls.length;
	await turn();
	assert.deepEqual(remote.calls.slice(before), []); // they are read once
});

test('those of all environments are read, and named, in their order', options, async (t) => {
	const { server, root, turn, docs } = await start(t, { count: 2, files: { ...PROJECT, 'q/AGENTS.md': 'OTHER' } });
	const places = [['s', path.join(root, 'q')], ['local', server.cwd], ['r', path.join(root, 'p')]];
	const { thread, instructionSources } = await server.request('thread/start',
		{ ...FREE, environments: places.map(([environmentId, cwd]) => ({ environmentId, cwd })) });
	assert.deepEqual(instructionSources, [server.home, ...places.map(([, cwd]) => cwd)].map((folder) => path.join(folder, 'AGENTS.md')));
	await turn({ threadId: thread.id });
	assert.deepEqual(docs(), ['# AGENTS.md instructions\n\n<INSTRUCTIONS>\nHOME RULES\n\n'
		+ `for \`s\` with root ${root}/q\n\nOTHER\n\nfor \`local\` with root ${server.cwd}\n\nLOCAL RULES\n\n`
		+ `for \`r\` with root ${root}/p\n\nROOT RULES\n</INSTRUCTIONS>`]);
	await turn({ threadId: thread.id, environments: [{ environmentId: 'r', cwd: places[2][1] }] });
	assert.match(docs()[1], new RegExp(`^# AGENTS.md instructions for ${root}/p\n\n<INSTRUCTIONS>\nThey take the place of all [^]*HOME RULES\n\n`
		+ '--- project-doc ---\n\nROOT RULES\n</INSTRUCTIONS>$'));
});

test('of several environments only one has files: it is not named', options, async (t) => {
	const { server, root, turn, docs } = await start(t, { files: { ...PROJECT, 'q/x': '' } });
	fs.rmSync(path.join(server.cwd, 'AGENTS.md'));
	const { thread } = await server.request('thread/start', { ...FREE,
		environments: [{ environmentId: 'local', cwd: server.cwd }, { environmentId: 'r', cwd: path.join(root, 'p') }] });
	await turn({ threadId: thread.id });
	assert.deepEqual(docs(), [`# AGENTS.md instructions for ${root}/p\n\n<INSTRUCTIONS>\nHOME RULES\n\n`
		+ '--- project-doc ---\n\nROOT RULES\n</INSTRUCTIONS>']);
});

test('the limit is that of all environments together', options, async (t) => {
	const { server, root, turn, docs } = await start(t,
		{ count: 2, files: { ...PROJECT, 'q/AGENTS.md': 'OTHER' }, config: 'project_doc_max_bytes = 13\n' });
	const { thread } = await server.request('thread/start', { ...FREE,
		environments: [{ environmentId: 'r', cwd: path.join(root, 'p') }, { environmentId: 's', cwd: path.join(root, 'q') }] });
	await turn({ threadId: thread.id });
	assert.match(docs()[0], /ROOT RULES\n\nfor `s` with root [^\n]*\n\nOTH\n<\/INSTRUCTIONS>$/);
	assert.match(server.all('warning').at(-1).params.message, /^AGENTS.md files hold more than project_doc_max_bytes \(13\)/);
});

test('an environment that is lost leaves the files of the others', options, async (t) => {
	const { server, root, turn, docs } = await start(t, { files: { ...PROJECT } });
	const lost = await startExecServer(t, { 'fs/getMetadata': (params, link) => link.drop() });
	await server.request('environment/add', { environmentId: 'x', execServerUrl: lost.url });
	const { thread } = await server.request('thread/start', { ...FREE,
		environments: [{ environmentId: 'x', cwd: root }, { environmentId: 'r', cwd: path.join(root, 'p') }] });
	await turn({ threadId: thread.id });
	assert.match(docs()[0], /--- project-doc ---\n\nROOT RULES\n<\/INSTRUCTIONS>$/);
	assert.match(server.all('warning')[0].params.message, /^AGENTS.md files of the environment `x` were not read: the connection .* was lost/);
});

test('without a project there is one folder, and root markers and names are configurable', options, async (t) => {
	const alone = await start(t, { files: { 'AGENTS.md': 'ABOVE', 'a/AGENTS.md': 'HERE' }, cwd: 'a' });
	await alone.turn();
	assert.match(alone.docs()[0], /--- project-doc ---\n\nHERE\n/);
	const named = await start(t, { files: { 'mark': '', 'RULES.md': 'TOP', 'a/x': '' }, cwd: 'a',
		config: 'project_root_markers = ["mark"]\nproject_doc_fallback_filenames = ["RULES.md"]\n' });
	await named.turn();
	assert.match(named.docs()[0], /--- project-doc ---\n\nTOP\n/);
});

test('project_doc_max_bytes is the limit there, too', options, async (t) => {
	const { server, turn, docs } = await start(t, { config: 'project_doc_max_bytes = 14\n' });
	await turn();
	assert.match(docs()[0], /\n\nROOT RULES\n\nOVER\n<\/INSTRUCTIONS>$/);
	assert.match(server.all('warning')[0].params.message, /^AGENTS.md files hold more than project_doc_max_bytes \(14\)/);
	const none = await start(t, { config: 'project_doc_max_bytes = 0\n' });
	await none.turn();
	assert.equal(none.remote.calls.some(({ method }) => method.startsWith('fs/')), false);
});

test('the root of a project is searched in 64 folders', options, async (t) => {
	const cwd = Array(80).fill('d').join('/');
	const { remote, turn, docs } = await start(t, { files: { '.git/HEAD': '', 'AGENTS.md': 'FAR', [`${cwd}/AGENTS.md`]: 'NEAR' }, cwd });
	await turn();
	assert.match(docs()[0], /--- project-doc ---\n\nNEAR\n/);
	assert.equal(remote.calls.filter(({ method }) => method === 'fs/getMetadata').length, 64);
});

test('a thread is announced when they have been read', options, async (t) => {
	let release;
	const gate = new Promise((resolve) => (release = resolve));
	const { server, remote, opening, turn, docs } = await start(t, { own: { 'fs/getMetadata': async () => {
		await gate;
		return {};
	} } });
	await remote.called('fs/getMetadata');
	assert.equal(server.all('thread/started').length, 0);
	release();
	await opening;
	await turn();
	assert.match(docs()[0], /INNER/);
});

test('a server that is lost, refuses or lies leaves the thread without them', options, async (t) => {
	const lost = await start(t, { own: { 'fs/getMetadata': (params, link) => link.drop() } });
	await lost.turn();
	assert.match(lost.docs()[0], /<INSTRUCTIONS>\nHOME RULES\n<\/INSTRUCTIONS>$/);
	assert.match(lost.server.all('warning')[0].params.message, /^AGENTS.md files of the environment `r` were not read: the connection .* was lost/);
	let reads = 0;
	const once = { dataBase64: Buffer.from('ROOT').toString('base64') };
	const half = await start(t, { own: { 'fs/readFile': (params, link) => reads++ ? link.drop() : once } });
	assert.deepEqual((await half.opening).instructionSources, [path.join(half.server.home, 'AGENTS.md')]);
	await half.turn();
	assert.equal(reads, 2);
	assert.match(half.docs()[0], /<INSTRUCTIONS>\nHOME RULES\n<\/INSTRUCTIONS>$/);
	for (const answer of [() => { throw new Error('no'); }, () => ({ dataBase64: '*' }), () => []]) {
		const { turn, docs, server } = await start(t, { own: { 'fs/readFile': answer } });
		await turn();
		assert.match(docs()[0], /<INSTRUCTIONS>\nHOME RULES\n<\/INSTRUCTIONS>$/);
		assert.deepEqual(server.all('warning'), []);
	}
});

test('those of another environment take the place of the first', options, async (t) => {
	const { root, server, turn, docs } = await start(t, { count: 2, files: { ...PROJECT, 'q/AGENTS.md': 'OTHER' } });
	await turn();
	await turn({ environments: [{ environmentId: 's', cwd: path.join(root, 'q') }] });
	assert.equal(docs().length, 2);
	assert.match(docs()[1], /\/q\n\n<INSTRUCTIONS>\nThey take the place of all earlier [^]*--- project-doc ---\n\nOTHER\n/);
	await turn({ environments: [{ environmentId: 'local', cwd: server.cwd }] });
	assert.match(docs()[2], /They take the place of all earlier [^]*LOCAL RULES/);
});

test('those of another machine under the same id take their place', options, async (t) => {
	const { root, server, turn, docs } = await start(t);
	await turn();
	const other = await startExecServer(t, { 'fs/readFile': () => ({ dataBase64: Buffer.from('NEW MACHINE').toString('base64') }) });
	await server.request('environment/add', { environmentId: 'r', execServerUrl: other.url });
	await turn({ environments: [{ environmentId: 'r', cwd: path.join(root, 'p') }] });
	assert.match(docs()[1], /They take the place of all earlier [^]*NEW MACHINE/);
});

test('a resumed thread does not read them again', options, async (t) => {
	const { model, server, remote, opening, turn, docs } = await start(t);
	await turn();
	const { thread } = await opening;
	await server.end();
	const again = await startAppServer(t, model, { home: server.home, cwd: server.cwd });
	await again.request('environment/add', { environmentId: 'r', execServerUrl: remote.url });
	await again.request('thread/resume', { threadId: thread.id });
	await again.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await again.next('turn/completed');
	assert.equal(docs().length, 1);
});

test('an environment that is not registered again leaves the files of the others', options, async (t) => {
	const { root, model, server, remotes, turn, opening, docs } = await start(t, { count: 2, files: { ...PROJECT, 'q/AGENTS.md': 'OTHER' },
		replies: ['one', 'two', 'summary', 'three', 'four'].map((words) => say(words)) });
	await turn({ environments: [{ environmentId: 'r', cwd: path.join(root, 'p') }, { environmentId: 's', cwd: path.join(root, 'q') }] });
	await server.end();
	const again = await startAppServer(t, model, { home: server.home, cwd: server.cwd }), threadId = (await opening).thread.id;
	const add = (i) => again.request('environment/add', { environmentId: ['r', 's'][i], execServerUrl: remotes[i].url });
	const next = async (method, params) => {
		await again.request(method, { threadId, ...params });
		await again.next('turn/completed');
	};
	await add(0);
	await again.request('thread/resume', { threadId });
	await next('turn/start', { input: [text('go')] });
	assert.equal(docs().length, 1); // the history has them
	await next('thread/compact/start');
	await next('turn/start', { input: [text('go')] });
	assert.match(docs().join(''), /ROOT RULES/);
	assert.doesNotMatch(docs().join(''), /OTHER/);
	await add(1);
	await next('turn/start', { input: [text('go')] });
	assert.match(docs().at(-1), /They take the place of all earlier [^]*ROOT RULES[^]*OTHER/);
});

test('a copy of a subagent has them once', options, async (t) => {
	const { model, server, turn } = await start(t, {
		config: 'features.subagent_tools = true\n',
		replies: [say('one'), call('subagent_fork', { prompt: 'be the copy', label: 'twin' }), forever(say('done'))],
	});
	await turn();
	await turn();
	const isCopy = (request) => textsOf(request, 'user').some((words) => words.includes('be the copy'));
	await server.next('turn/completed'); // of the second thread that worked
	const copy = model.requests().find(isCopy);
	assert.equal(textsOf(copy, 'user').filter((words) => words.startsWith('# AGENTS.md')).length, 1);
});

test('all of them must come within the time to connect', options, async (t) => {
	const model = await startModel(t, [say('one')]), server = await startAppServer(t, model);
	const remote = await startExecServer(t, { 'fs/getMetadata': () => undefined });
	await server.request('environment/add', { environmentId: 'r', execServerUrl: remote.url, connectTimeoutMs: 500 });
	const environments = [{ environmentId: 'r', cwd: tempDir(t, 'there') }];
	const { thread } = await server.request('thread/start', { ...FREE, environments });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('turn/completed');
	assert.match(server.all('warning')[0].params.message, /^AGENTS.md files of the environment `r` were not read: its exec-server is too slow$/);
});

test('a turn of a goal waits for them', options, async (t) => {
	let release;
	const gate = new Promise((resolve) => (release = resolve));
	const { root, model, server, remotes, opening, turn, docs } = await start(t, { count: 2, config: '[features]\ngoals = true\n',
		files: { ...PROJECT, 'q/AGENTS.md': 'OTHER' },
		replies: [say('one'), { ...call('update_goal', { status: 'complete' }), when: { contains: 'THE GOAL' } }, say('two')],
		own: { 'fs/getMetadata': async ({ path: uri }) => {
			if (uri.includes('/q/')) await gate;
			return {};
		} } });
	await turn();
	const { thread } = await opening;
	await server.request('thread/settings/update', { threadId: thread.id, environments: [{ environmentId: 's', cwd: path.join(root, 'q') }] });
	await remotes[1].called('fs/getMetadata');
	await server.request('thread/goal/set', { threadId: thread.id, objective: 'THE GOAL' });
	assert.equal(model.requests().length, 1);
	release();
	await server.next('turn/completed');
	assert.match(docs().at(-1), /OTHER/);
});

test('an interrupt does not wait for them, and the next turn has them', options, async (t) => {
	const waiting = [];
	const { root, server, remotes, opening, turn, docs } = await start(t, { count: 2, files: { ...PROJECT, 'q/AGENTS.md': 'OTHER' },
		replies: [say('one'), forever(say('two'))],
		own: { 'fs/getMetadata': ({ path: uri }) => uri.includes('/q') ? new Promise((resolve) => waiting.push(resolve)) : {} } });
	await turn();
	const { thread } = await opening;
	const { turn: { id } } = await server.request('turn/start', { threadId: thread.id, input: [text('go')],
		environments: [{ environmentId: 's', cwd: path.join(root, 'q') }] });
	await remotes[1].called('fs/getMetadata');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: id });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	assert.deepEqual(server.all('warning'), []); // they are still being read
	waiting[0]({});
	await turn();
	assert.match(docs().at(-1), /They take the place of all earlier [^]*OTHER/);
});

test('an interrupt of the first turn does not wait for them', options, async (t) => {
	const remote = await startExecServer(t, { 'fs/getMetadata': () => undefined });
	const server = await startAppServer(t, await startModel(t, [say('one')]));
	await server.request('environment/add', { environmentId: 'r', execServerUrl: remote.url });
	const { thread } = await server.request('thread/start', FREE);
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')],
		environments: [{ environmentId: 'r', cwd: tempDir(t, 'there') }] });
	await remote.called('fs/getMetadata');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
	assert.deepEqual(server.all('warning'), []); // they are still being read
});

/** The program of codex 0.169, whose exec-server this test can use, too. */
const REAL = process.env.CODEX_EXEC_SERVER_BIN;

test('files of the exec-server of codex 0.169', REAL ? options : { skip: 'CODEX_EXEC_SERVER_BIN names no codex 0.169' }, async (t) => {
	const root = machine(t, { ...PROJECT, 'p/a/b/old.txt': 'one\n', 'p/a/b/gone.txt': 'x\n' }), folder = path.join(root, 'p/a/b');
	const home = tempDir(t, 'home'), outside = tempDir(t, 'outside');
	const add = (id, ...lines) => reply({ custom: 'apply_patch', call_id: id, input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') });
	const real = launch(t, REAL, ['exec-server', '--listen', 'ws://127.0.0.1:0'], { cwd: folder,
		env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TMPDIR: tempDir(t, 'tmp') } });
	const url = await waitFor(real.child.stdout, () => real.result.stdout, (words) => /ws:\/\/127\.0\.0\.1:\d+/.exec(words)?.[0]);
	const model = await startModel(t, [add('p1', '*** Update File: old.txt', '@@', '-one', '+eins', '*** Add File: deep/er/new.txt', '+n',
		'*** Delete File: gone.txt'), add('p2', `*** Add File: ${outside}/made`, '+1', `*** Add File: ${outside}/deep/er`, '+1'),
	add('p3', '*** Update File: none.txt', '@@', '-a', '+b'),
	call('view_image', { path: 'x.png' }, { call_id: 'v1' }), say('done')]);
	const server = await startAppServer(t, model, { config: '[sandbox_workspace_write]\nexclude_slash_tmp = true\n' });
	await server.request('environment/add', { environmentId: 'r', execServerUrl: url });
	const { thread, instructionSources } = await server.request('thread/start', { model: 'gpt-5.5', sandbox: 'workspace-write',
		approvalPolicy: 'on-request', environments: [{ environmentId: 'r', cwd: folder }] });
	assert.equal(instructionSources.length, 3);
	fs.writeFileSync(path.join(folder, 'x.png'), Buffer.from('89504e470d0a1a0a00', 'hex'));
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	server.answer(await server.next('item/fileChange/requestApproval'), { decision: 'accept' });
	await server.next('turn/completed');
	const output = (id) => outputOf(model.requests().at(-1), id);
	assert.match(output('p1'), /^Exit code: 0\n/);
	assert.deepEqual(['old.txt', 'deep/er/new.txt'].map((name) => fs.readFileSync(path.join(folder, name), 'utf8')), ['eins\n', 'n\n']);
	assert.equal(fs.existsSync(path.join(folder, 'gone.txt')), false);
	for (const name of ['made', 'deep/er']) assert.equal(fs.readFileSync(path.join(outside, name), 'utf8'), '1\n');
	assert.match(output('p3'), /Failed to read file to update .*\/none.txt: No such file or directory \(os error 2\)$/);
	assert.equal(output('v1'), 'attached local image path');
});
