// Files of an environment: patches and images go through its exec-server, never to files of this machine.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { text } from './lib/app_server.mjs';
import { call, needs, reply, say, tempDir } from './lib/codex.mjs';
import { BOXED, runAs, startRemote } from './lib/remote.mjs';

const options = needs('app-server');
const patchOf = (...lines) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
const patchAs = (id, ...lines) => reply({ custom: 'apply_patch', input: patchOf(...lines), call_id: id });
const read = (...names) => fs.readFileSync(path.join(...names), 'utf8');
const refuse = (words) => () => { throw new Error(words); };
const MODEL = { model: 'gpt-5.5' };

/** A remote thread whose folder has these files. */
async function startWith(t, files, replies, more) {
	const config = `project_doc_max_bytes = 0\n${more?.config ?? ''}`; // AGENTS.md is not read
	const remote = await startRemote(t, [...replies, say('done')], { ...MODEL, ...more, config });
	for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(remote.folder, name), content);
	const methods = () => remote.remote.calls.map(({ method }) => method).filter((method) => method.startsWith('fs/'));
	const changes = () => remote.server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'fileChange');
	return { ...remote, methods, changes };
}

/** The answer to the next request for the approval of a patch. */
async function decide(server, decision, before = () => {}) {
	const ask = await server.next('item/fileChange/requestApproval');
	before();
	server.answer(ask, { decision });
	return ask.params;
}

test('a patch changes, adds, moves and deletes files there', options, async (t) => {
	const { remote, server, folder, turn, output, methods, changes } = await startWith(t,
		{ 'old.txt': 'one\ntwo\n', 'gone.txt': 'bye\n', 'from.txt': 'a\n' },
		[patchAs('p1', '*** Update File: old.txt', '@@', '-one', '+eins', ' two', '*** Add File: deep/er/new.txt', '+n',
			'*** Update File: from.txt', '*** Move to: to.txt', '@@', '-a', '+b', '*** Delete File: gone.txt')], BOXED);
	await turn();
	assert.match(output('p1'), /^Exit code: 0\n[^]*Success. Updated the following files:\nA deep\/er\/new.txt\nM old.txt\nM to.txt\nD gone.txt\n$/);
	assert.deepEqual([read(folder, 'old.txt'), read(folder, 'deep/er/new.txt'), read(folder, 'to.txt')], ['eins\ntwo\n', 'n\n', 'b\n']);
	for (const name of ['gone.txt', 'from.txt']) assert.equal(fs.existsSync(path.join(folder, name)), false);
	assert.deepEqual(fs.readdirSync(server.cwd), []);
	const [{ status, changes: list }] = changes();
	assert.equal(status, 'completed');
	assert.deepEqual(list.map(({ path: name, kind }) => [path.relative(folder, name), kind.type]).sort(),
		[['deep/er/new.txt', 'add'], ['from.txt', 'update'], ['gone.txt', 'delete'], ['old.txt', 'update']]);
	assert.match(server.all('turn/diff/updated').at(-1).params.diff, /^diff --git a\/deep\/er\/new.txt b\/deep\/er\/new.txt\n/);
	assert.deepEqual(methods(), [...Array(5).fill('fs/readFile'), 'fs/writeFile', 'fs/createDirectory', 'fs/writeFile', 'fs/createDirectory',
		'fs/writeFile', 'fs/remove', 'fs/remove']);
	for (const { method, params } of remote.calls.filter(({ method }) => method.startsWith('fs/')))
		assert.equal(params.sandbox?.permissions.file_system.type, method === 'fs/readFile' ? undefined : 'restricted');
});

test('a patch in a shell command is one, in the folder of the command', options, async (t) => {
	const { folder, turn, output, starts, changes } = await startWith(t, {}, [
		runAs('c1', `apply_patch <<'EOF'\n${patchOf('*** Add File: made', '+1')}EOF\n`, { workdir: 'sub' })], BOXED);
	await turn();
	assert.match(output('c1'), /^Exit code: 0\n/);
	assert.equal(read(folder, 'sub/made'), '1\n');
	assert.equal(changes().length, 1);
	assert.deepEqual(starts(), []);
});

test('a patch outside of the sandbox needs an approval, which names the environment', options, async (t) => {
	const outside = tempDir(t, 'outside'), name = path.join(outside, 'made');
	const add = (id) => patchAs(id, `*** Add File: ${name}`, '+1');
	const { remote, server, folder, turn, output } = await startWith(t, {},
		[add('p1'), add('p2'), add('p3'), patchAs('p4', '*** Add File: .git/hooks/x', '+1')],
		{ sandbox: 'workspace-write', approvalPolicy: 'on-request', config: '[sandbox_workspace_write]\nexclude_slash_tmp = true\n' });
	const ended = turn();
	const { reason } = await decide(server, 'decline');
	assert.equal(reason, 'The files are in the environment `r`.');
	await decide(server, 'acceptForSession', () => assert.equal(fs.existsSync(name), false)); // p3 needs no other one
	await decide(server, 'decline'); // .git is not writable
	await ended;
	assert.match(output('p2'), /^Exit code: 0\n/);
	assert.match(output('p3'), /^Exit code: 0\n/);
	assert.deepEqual(fs.readdirSync(folder), []);
	const writes = remote.calls.filter(({ method }) => method === 'fs/writeFile');
	const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' };
	for (const { params } of writes) // the folder of the file, and nothing else: a link cannot lead elsewhere
		assert.deepEqual(params.sandbox.permissions.file_system.entries,
			[root, { path: { type: 'path', path: `file://${outside}` }, access: 'write' }]);
	assert.equal(writes.length, 2);
});

test('an approval for the session holds for one machine', options, async (t) => {
	const { server, folder, turn } = await startWith(t, { f: '1\n' }, [patchAs('p1', '*** Update File: f', '@@', '-1', '+2'), say('done'),
		patchAs('p2', '*** Update File: f', '@@', '-2', '+3')], { approvalPolicy: 'untrusted', sandbox: 'workspace-write' });
	const first = turn();
	await decide(server, 'acceptForSession');
	await first;
	assert.equal(read(folder, 'f'), '2\n');
	const second = turn({ environments: [{ environmentId: 'local', cwd: folder }] });
	assert.equal((await decide(server, 'decline')).reason, null);
	await second;
	assert.equal(read(folder, 'f'), '2\n');
});

test('a file that changes before the approval is not overwritten', options, async (t) => {
	const { server, folder, turn, output, methods } = await startWith(t, { f: '1\n', g: '1\n' }, [patchAs('p1', '*** Update File: g', '@@', '-1', '+2',
		'*** Update File: f', '@@', '-1', '+2')], { approvalPolicy: 'untrusted', sandbox: 'workspace-write' });
	const ended = turn();
	await decide(server, 'accept', () => fs.writeFileSync(path.join(folder, 'f'), 'other\n'));
	await ended;
	assert.match(output('p1'), /^Exit code: 1\n[^]*\/f changed after the patch was checked; nothing was written$/);
	assert.deepEqual([read(folder, 'f'), read(folder, 'g')], ['other\n', '1\n']);
	assert.equal(methods().includes('fs/writeFile'), false);
});

test('a patch that fails halfway is undone', options, async (t) => {
	let writes = 0;
	const { folder, turn, output, changes } = await startWith(t, { a: '1\n', b: '1\n', c: '1\n' }, [patchAs('p1', '*** Update File: a', '@@', '-1', '+2',
		'*** Add File: new', '+n', '*** Update File: b', '@@', '-1', '+2', '*** Delete File: c')], { ...BOXED, own: {
		'fs/writeFile': ({ path: uri, dataBase64 }) => {
			if (++writes === 3) { // half of the file is written
				fs.writeFileSync(new URL(uri), 'half');
				throw new Error('No space left on device (os error 28)');
			}
			fs.writeFileSync(new URL(uri), Buffer.from(dataBase64, 'base64'));
			return {};
		},
	} });
	await turn();
	assert.match(output('p1'), new RegExp(`^Exit code: 1\n[^]*\nFailed to write file ${folder}/b: No space left on device \\(os error 28\\)$`));
	assert.deepEqual(['a', 'b', 'c'].map((name) => read(folder, name)), ['1\n', '1\n', '1\n']);
	assert.equal(fs.existsSync(path.join(folder, 'new')), false);
	assert.equal(changes()[0].status, 'failed');
});

test('what cannot be restored is named', options, async (t) => {
	const { turn, folder, output } = await startWith(t, { a: '1\n' }, [patchAs('p1', '*** Add File: new', '+n', '*** Delete File: a')],
		{ ...BOXED, own: { 'fs/remove': refuse('no removals') } });
	await turn();
	assert.match(output('p1'), new RegExp(`Failed to delete file ${folder}/a: no removals\n`
		+ `Could not put back what was in ${folder}/new before the patch\\.$`));
	assert.deepEqual([read(folder, 'a'), read(folder, 'new')], ['1\n', 'n\n']);
});

test('a connection that is lost while a patch is written', options, async (t) => {
	const { turn, folder, output } = await startWith(t, { a: '1\n' },
		[patchAs('p1', '*** Update File: a', '@@', '-1', '+2', '*** Add File: b', '+1')],
		{ ...BOXED, own: { 'fs/createDirectory': (params, link) => link.drop() } });
	await turn();
	assert.match(output('p1'), new RegExp(`Failed to write file ${folder}/b: the connection to the exec-server \`ws:[^\`]*\` was lost: [^]*`
		+ `\nCould not put back what was in ${folder}/b before the patch\\.\nCould not put back what was in ${folder}/a before the patch\\.$`));
});

test('a folder cannot take the place of a file in the same patch', options, async (t) => {
	const { turn, folder, output } = await startWith(t, { a: '1\n' }, [patchAs('p1', '*** Delete File: a', '*** Add File: a/b', '+1')], BOXED);
	await turn();
	assert.match(output('p1'), /Failed to read .*\/a\/b: Not a directory \(os error 20\)$/);
	assert.equal(read(folder, 'a'), '1\n');
});

test('a server without a sandbox changes no files', options, async (t) => {
	const none = ({ processId }) => ({ processId, sandboxType: 'none' });
	const { turn, output, methods } = await startWith(t, {}, [patchAs('p1', '*** Add File: new', '+n')], { ...BOXED, own: { 'process/start': none } });
	await turn();
	assert.match(output('p1'), /Failed to write file .*\/new: the exec-server of environment `r` has no sandbox, which this needs\n/);
	assert.equal(methods().includes('fs/createDirectory'), false);
});

test('externalSandbox says nothing about the files of another machine', options, async (t) => {
	const { turn, output, methods } = await startWith(t, {}, [patchAs('p1', '*** Add File: new', '+n')]);
	await turn({ sandboxPolicy: { type: 'externalSandbox', networkAccess: 'enabled' } });
	assert.match(output('p1'), /the sandbox policy externalSandbox is about this machine/);
	assert.equal(methods().includes('fs/createDirectory'), false);
});

const lies = {
	'no base64': [{ dataBase64: '***' }, /the exec-server sent no file$/],
	'no text': [{ dataBase64: 7 }, /the exec-server sent no file$/],
	nothing: [{}, /the exec-server sent no file$/],
	'too much': [{ dataBase64: 'AAAA'.repeat(8 * 1024 * 1024 / 3 + 1) }, /it is larger than 8388608 bytes$/],
	'far too much': [{ dataBase64: 'AAAA'.repeat(4.5 * 1024 * 1024) }, /the connection to the exec-server .* was lost: .* a message of more than 16 MiB$/],
};
for (const [name, [answer, words]] of Object.entries(lies)) {
	test(`a server that answers a read with ${name}`, options, async (t) => {
		const { turn, output, changes } = await startWith(t, {}, [patchAs('p1', '*** Update File: f', '@@', '-1', '+2'),
			call('view_image', { path: 'x.png' }, { call_id: 'v1' })], { own: { 'fs/readFile': () => answer } });
		await turn();
		assert.match(output('p1'), /^apply_patch verification failed: Failed to read .*\/f: /);
		for (const id of ['p1', 'v1']) assert.match(output(id), words);
		assert.deepEqual(changes(), []);
	});
}

test('the files of a patch have a limit in number and together', options, async (t) => {
	const adds = (count) => Array.from({ length: count }, (_, i) => [`*** Add File: f${i}`, '+1']).flat();
	const data = { dataBase64: Buffer.alloc(8 * 1024 * 1024, 'x').toString('base64') };
	const { turn, output, methods } = await startWith(t, {}, [patchAs('p1', ...adds(257)), patchAs('p2', ...adds(256))],
		{ own: { 'fs/readFile': () => data } });
	await turn();
	assert.equal(output('p1'), 'apply_patch verification failed: the patch touches more than 256 files; send it in parts');
	assert.equal(output('p2'), 'apply_patch verification failed: the files of this patch are larger than 67108864 bytes together; send it in parts');
	assert.equal(methods().length, 9);
});

test('a file that is too large is not written, and nothing before it', options, async (t) => {
	const { folder, turn, output, methods } = await startWith(t, { a: '1\n' }, [patchAs('p1', '*** Update File: a', '@@', '-1', '+2',
		'*** Add File: big', `+${'x'.repeat(8 * 1024 * 1024)}`)], { config: 'model_context_window = 100000000\n' });
	await turn();
	assert.match(output('p1'), /Failed to write file .*\/big: it is larger than 8388608 bytes$/);
	assert.equal(read(folder, 'a'), '1\n');
	assert.equal(methods().includes('fs/writeFile'), false);
});

test('only the answer to a read may be large', options, async (t) => {
	const flood = ({}, link) => {
		link.notify('x', 'y'.repeat(300 * 1024));
		return {};
	};
	const { server, turn, output } = await startWith(t, {}, [patchAs('p1', '*** Add File: deep/f', '+1')],
		{ approvalPolicy: 'untrusted', sandbox: 'danger-full-access', own: { 'fs/createDirectory': flood } });
	const ended = turn();
	await decide(server, 'accept'); // so that the file is read again over the link of the write
	await ended;
	assert.match(output('p1'), /was lost: the server sent a message of more than 256 KiB/);
	const stray = ({}, link) => {
		for (let i = 0; i < 3; i++) link.notify('x', 'y'.repeat(7 * 1024 * 1024));
	};
	const other = await startWith(t, {}, [patchAs('p1', '*** Add File: f', '+1')], { own: { 'fs/readFile': stray } });
	await other.turn();
	assert.match(other.output('p1'), /was lost: the server sent more than 1000 messages, or 16 MiB, that nothing waits for/);
});

test('a refusal of the server is the reason', options, async (t) => {
	const { turn, output } = await startWith(t, {}, [patchAs('p1', '*** Update File: f', '@@', '-1', '+2'),
		call('view_image', { path: '/x.png' }, { call_id: 'v1' })], { own: { 'fs/readFile': refuse('Is a directory (os error 21)') } });
	await turn();
	assert.match(output('p1'), /Failed to read .*\/f: Is a directory \(os error 21\)$/);
	assert.equal(output('v1'), 'unable to read image at `/x.png`: Is a directory (os error 21)');
});

test('an interrupt ends a patch and an image that wait for the server', options, async (t) => {
	for (const reply of [patchAs('p1', '*** Add File: f', '+1'), call('view_image', { path: 'x.png' })]) {
		const { remote, server, thread } = await startWith(t, {}, [reply], { own: { 'fs/readFile': () => undefined } });
		const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await remote.called('fs/readFile');
		await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
		assert.equal((await server.next('turn/completed')).params.turn.status, 'interrupted');
		await remote.until(() => remote.links.size === 0);
		assert.equal((await server.end()).code, 0);
	}
});

test('an interrupt while a patch is written leaves what was written', options, async (t) => {
	const { remote, server, thread, changes, folder } = await startWith(t, { a: '1\n' },
		[patchAs('p1', '*** Update File: a', '@@', '-1', '+2', '*** Add File: b', '+1')],
		{ ...BOXED, own: { 'fs/createDirectory': () => undefined } });
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await remote.called('fs/createDirectory');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	await server.next('turn/completed');
	assert.deepEqual([changes()[0].status, read(folder, 'a')], ['failed', '2\n']);
	await remote.until(() => remote.links.size === 0);
});

test('view_image reads an image there', options, async (t) => {
	const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
	const view = (id, name) => call('view_image', { path: name }, { call_id: id });
	const { model, folder, server, turn, output } = await startWith(t, { 'x.png': pixel, 'y.png': 'words' },
		[view('v1', 'x.png'), view('v2', 'y.png'), view('v3', 'none.png')], BOXED);
	await turn();
	assert.equal(output('v1'), 'attached local image path');
	assert.match(JSON.stringify(model.requests().at(-1).body.input), new RegExp(`data:image/png;base64,${pixel.toString('base64').slice(0, 40)}`));
	assert.match(output('v2'), /y.png` is not an image this model can take/);
	assert.match(output('v3'), /^unable to read image at `.*\/none.png`: No such file or directory \(os error 2\)$/);
	const [{ params: { item } }] = server.all('item/completed').filter(({ params }) => params.item.type === 'imageView');
	assert.equal(item.path, path.join(folder, 'x.png'));
});
