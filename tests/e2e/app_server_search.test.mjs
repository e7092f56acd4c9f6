// fuzzyFileSearch of `codex app-server`: single searches and sessions.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { captured } from './lib/captures.mjs';
import { needs } from './lib/codex.mjs';

const options = needs('app-server');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });

function put(root, ...names) {
	for (const name of names) {
		fs.mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
		fs.writeFileSync(path.join(root, name), '');
	}
}

async function start(t, ...names) {
	const server = await startAppServer(t, null);
	put(server.cwd, ...names);
	const search = async (query, more) => (await server.request('fuzzyFileSearch', { query, roots: [server.cwd], ...more })).files;
	return { server, search, paths: async (query, more) => (await search(query, more)).map((file) => file.path) };
}

test('paths are found by some of their letters, the best first', options, async (t) => {
	const { server, search, paths } = await start(t, 'dir/ab.c', 'dir/xa_b.c', 'aXb', 'dirab', '.hid/ab', 'dir/sub/Xfile', 'xfile');
	const root = server.cwd;
	assert.deepEqual((await search('ab')).slice(0, 4), [
		{ root, path: '.hid/ab', match_type: 'file', file_name: 'ab', score: 196667, indices: [5, 6] },
		{ root, path: 'dir/ab.c', match_type: 'file', file_name: 'ab.c', score: 65595, indices: [4, 5] },
		{ root, path: 'aXb', match_type: 'file', file_name: 'aXb', score: 65583, indices: [0, 2] },
		{ root, path: 'dir/xa_b.c', match_type: 'file', file_name: 'xa_b.c', score: 65573, indices: [5, 7] },
	], 'these are the scores of the reference');
	assert.deepEqual(await paths('XF'), ['dir/sub/Xfile', 'xfile']);
	assert.deepEqual((await search('dir'))[0],
		{ root, path: 'dir', match_type: 'directory', file_name: 'dir', score: 131156, indices: [0, 1, 2] });
	assert.deepEqual(await paths('sub xf'), ['dir/sub/Xfile']);
	assert.deepEqual(await paths(''), []);
	assert.deepEqual(await paths('q'), []);
	assert.deepEqual(await paths('x', { roots: [] }), []);
	assert.deepEqual(await paths('x', { roots: [path.join(root, 'nowhere')] }), []);
	assert.deepEqual((await search('xfile', { roots: ['dir'] }))[0].root, 'dir', 'a relative folder is of the server\'s');
	assert.deepEqual(await paths('x'.repeat(1000)), []);
});

test('ignored files are omitted, and linked folders do not loop', options, async (t) => {
	const { server, paths } = await start(t, '.gitignore', 'keep/file.c', 'out/file.c', 'keep/file.o', 'keep/sub/file.o', '.git/file', '.git/HEAD');
	fs.writeFileSync(path.join(server.cwd, '.gitignore'), 'out/\n*.o\n!keep/sub/file.o\n');
	fs.symlinkSync('..', path.join(server.cwd, 'keep/loop'));
	assert.deepEqual((await paths('file')).sort(), ['keep/file.c', 'keep/sub/file.o'].sort());
	assert.deepEqual(await paths('loop'), ['keep/loop']);
});

test('a hostile .gitignore delays no other client: searches end and free the workers', options, async (t) => {
	const { server, search } = await start(t, '.git/HEAD');
	fs.writeFileSync(path.join(server.cwd, '.gitignore'),
		Array.from({ length: 9000 }, (_, i) => `${'*a'.repeat(9)}*${i}b\n`).join(''));
	for (let i = 0; i < 3000; i++)
		fs.writeFileSync(path.join(server.cwd, `${'a'.repeat(200)}${i}`), '');
	const searches = Array.from({ length: 5 }, () => search('aaa')); /* more than there are workers */
	const { entries } = await server.request('fs/readDirectory', { path: server.cwd });
	assert.equal(entries.length, 3002);
	for (const files of await Promise.all(searches))
		assert.equal(files.length, 50);
});

test('a session reports matches while the query changes', options, async (t) => {
	const { server } = await start(t, 'alpha.txt', 'src/alpine.c', 'src/beta.c');
	const ask = (method, params) => server.request(`fuzzyFileSearch/session${method}`, { sessionId: 's', ...params });
	const found = async (query) => {
		const { params } = await server.take(({ method, params: it }) => method === 'fuzzyFileSearch/sessionUpdated' && it.query === query, query);
		await server.next('fuzzyFileSearch/sessionCompleted');
		return params.files.map((file) => file.path);
	};
	assert.deepEqual(await ask('Start', { roots: [server.cwd] }), {});
	assert.deepEqual(await ask('Update', { query: 'bet' }), {});
	assert.deepEqual(await found('bet'), ['src/beta.c']);
	await ask('Update', { query: 'al' });
	assert.deepEqual(await found('al'), ['alpha.txt', 'src/alpine.c']);
	await ask('Update', { query: 'zz' });
	assert.deepEqual(await found('zz'), []);
	assert.deepEqual(await ask('Stop'), {});
	assert.deepEqual(await ask('Stop'), {});
	await assert.rejects(ask('Update', { query: 'al' }), refusal('fuzzy file search session not found: s'));
	await assert.rejects(ask('Start', { roots: [] }),
		refusal('failed to start fuzzy file search session: at least one search directory is required', -32603));
	await assert.rejects(ask('Start', { sessionId: '', roots: ['/'] }), refusal('sessionId must not be empty'));
});

/** The number of times that the process waited, in all its threads. */
function waits(pid) {
	return fs.readdirSync(`/proc/${pid}/task`)
		.map((id) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/task/${id}/status`, 'utf8'))[1]))
		.reduce((sum, count) => sum + count, 0);
}

test('later files are found by each search, and wake no process until then', options, async (t) => {
	const { server, paths } = await start(t, 'alpha.txt', 'src/alpine.c');
	const ask = (method, params) => server.request(`fuzzyFileSearch/session${method}`, { sessionId: 's', ...params });
	const found = async (query) => {
		await ask('Update', { query });
		const { params } = await server.take(({ method, params: it }) => method === 'fuzzyFileSearch/sessionUpdated' && it.query === query, query);
		await server.next('fuzzyFileSearch/sessionCompleted');
		return params.files.map((file) => file.path);
	};
	await ask('Start', { roots: [server.cwd] });
	assert.deepEqual(await found('al'), ['alpha.txt', 'src/alpine.c']);
	put(server.cwd, 'new/alto.c');
	assert.deepEqual(await found('alto'), ['new/alto.c']);
	assert.deepEqual(await paths('alto'), ['new/alto.c']);
	fs.rmSync(path.join(server.cwd, 'new'), { recursive: true });
	put(server.cwd, 'src/alto.h');
	assert.deepEqual(await found('alto'), ['src/alto.h']);
	assert.deepEqual(await paths('alto'), ['src/alto.h']);
	const isQuiet = (attempt) => {
		const before = waits(server.child.pid);
		put(server.cwd, ...Array.from({ length: 20 }, (_, i) => `src/alto-${attempt}-${i}`));
		return waits(server.child.pid) === before;
	};
	assert.ok([0, 1, 2, 3, 4].some(isQuiet));
	assert.ok((await paths('alto-')).length >= 20);
});

test('a large tree: a later query ends an earlier one, and a client that goes ends all', options, async (t) => {
	const { server, search } = await start(t);
	execFileSync('sh', ['-c', 'for d in $(seq 60); do mkdir d$d && (cd d$d && seq -f "some-file-%g.txt" 500 | xargs touch); done'], { cwd: server.cwd });
	const first = search('somefile', { cancellationToken: 't' });
	const second = search('d60file499', { cancellationToken: 't' });
	assert.ok(Array.isArray(await first));
	assert.equal((await second)[0].path, 'd60/some-file-499.txt');
	assert.equal((await search('some')).length, 50);
	for (let i = 0; i < 10; i++) {
		await server.request('fuzzyFileSearch/sessionStart', { sessionId: `${i}`, roots: ['/usr', server.cwd] });
		await server.request('fuzzyFileSearch/sessionUpdate', { sessionId: `${i}`, query: 'file' });
	}
	search('file').catch(() => {});
	assert.equal((await server.end()).code, 0);
});

test('the captured searches find the same', options, async (t) => {
	const seen = captured('fuzzy');
	if (!seen) return t.skip('no ../shared');
	const { server } = await start(t, 'alpha.txt', 'src/alpine.c', 'src/beta.c', 'README.md');
	for (const { method, params, answer } of seen.requests('fuzzyFileSearch', { CWD: server.cwd }).filter((it) => it.method === 'fuzzyFileSearch'))
		assert.deepEqual(await server.request(method, params), answer.result, JSON.stringify(params));
});
