// fs/* of `codex app-server`: files and folders for clients, and watches on them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { captured, shapeOf } from './lib/captures.mjs';
import { needs } from './lib/codex.mjs';

const options = needs('app-server');
const base64 = (text) => Buffer.from(text).toString('base64');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });
const system = (message) => refusal(message, -32603);

async function start(t) {
	const server = await startAppServer(t, null);
	const at = (...names) => path.join(server.cwd, ...names);
	return { server, at, ask: (method, params) => server.request(`fs/${method}`, params) };
}

test('a file is written, read, described, copied and removed', options, async (t) => {
	const { ask, at } = await start(t);
	assert.deepEqual(await ask('writeFile', { path: at('a.txt'), dataBase64: base64('hello') }), {});
	assert.deepEqual(await ask('readFile', { path: at('a.txt') }), { dataBase64: base64('hello') });
	const { createdAtMs, modifiedAtMs, ...kind } = await ask('getMetadata', { path: at('a.txt') });
	assert.deepEqual(kind, { isDirectory: false, isFile: true, isSymlink: false });
	assert.ok(Math.abs(modifiedAtMs - Date.now()) < 60_000 && Number.isInteger(createdAtMs));
	fs.chmodSync(at('a.txt'), 0o751);
	assert.deepEqual(await ask('copy', { sourcePath: at('a.txt'), destinationPath: at('b.txt') }), {});
	assert.equal(fs.readFileSync(at('b.txt'), 'utf8'), 'hello');
	assert.equal(fs.statSync(at('b.txt')).mode & 0o777, 0o751);
	await ask('copy', { sourcePath: at('a.txt'), destinationPath: at('a.txt') });
	assert.equal(fs.readFileSync(at('a.txt'), 'utf8'), 'hello', 'a copy onto itself loses nothing');
	await ask('writeFile', { path: at('a.txt'), dataBase64: '' });
	assert.deepEqual(await ask('readFile', { path: at('a.txt') }), { dataBase64: '' });
	assert.deepEqual(await ask('remove', { path: at('a.txt') }), {});
	assert.ok(!fs.existsSync(at('a.txt')));
});

test('folders are made, listed, copied and removed as trees', options, async (t) => {
	const { ask, at } = await start(t);
	await ask('createDirectory', { path: at('dir/sub') });
	await ask('createDirectory', { path: at('dir/sub') });
	fs.writeFileSync(at('dir/sub/file'), 'x');
	fs.symlinkSync('sub', at('dir/link'));
	fs.symlinkSync('nowhere', at('dir/dangling'));
	assert.deepEqual((await ask('readDirectory', { path: at('dir') })).entries, [
		{ fileName: 'dangling', isDirectory: false, isFile: false },
		{ fileName: 'link', isDirectory: true, isFile: false },
		{ fileName: 'sub', isDirectory: true, isFile: false },
	]);
	assert.equal((await ask('getMetadata', { path: at('dir/link') })).isSymlink, true);
	await ask('copy', { sourcePath: at('dir'), destinationPath: at('dir2'), recursive: true });
	assert.equal(fs.readFileSync(at('dir2/sub/file'), 'utf8'), 'x');
	assert.equal(fs.readlinkSync(at('dir2/link')), 'sub');
	await ask('remove', { path: at('dir2/link') });
	assert.ok(fs.existsSync(at('dir2/sub/file')), 'a link is removed, not what it leads to');
	await ask('remove', { path: at('dir2') });
	assert.ok(!fs.existsSync(at('dir2')));
});

test('errors have the texts of codex 0.169', options, async (t) => {
	const { ask, at } = await start(t);
	fs.mkdirSync(at('dir/sub'), { recursive: true });
	fs.writeFileSync(at('file'), 'x');
	execFileSync('mkfifo', [at('pipe')]);
	const missing = 'No such file or directory (os error 2)';
	const cases = [
		['readFile', { path: at('nope') }, system(missing)],
		['readFile', { path: 'rel.txt' }, refusal('Invalid request: AbsolutePathBuf deserialized without a base path')],
		['readFile', { path: at('dir') }, refusal(`path \`${at('dir')}\` is not a file`)],
		['readFile', { path: at('pipe') }, refusal(`path \`${at('pipe')}\` is not a file`)],
		['readFile', { path: '/dev/zero' }, refusal('path `/dev/zero` is not a file')],
		['readFile', { path: '/a\0b' }, refusal('file name contained an unexpected NUL byte')],
		['writeFile', { path: at('x'), dataBase64: '***' }, refusal('fs/writeFile requires valid base64 dataBase64: Invalid symbol 42, offset 0.')],
		['writeFile', { path: at('x'), dataBase64: 'abc' }, refusal('fs/writeFile requires valid base64 dataBase64: Invalid padding')],
		['writeFile', { path: at('x'), dataBase64: 'ab==' },
			refusal('fs/writeFile requires valid base64 dataBase64: Invalid last symbol 98, offset 1.')],
		['writeFile', { path: at('no/x'), dataBase64: '' }, system(missing)],
		['writeFile', { path: at('dir'), dataBase64: '' }, refusal(`path \`${at('dir')}\` is not a file`)],
		['createDirectory', { path: at('file') }, system('File exists (os error 17)')],
		['createDirectory', { path: at('dir'), recursive: false }, system('File exists (os error 17)')],
		['createDirectory', { path: at('a/b'), recursive: false }, system(missing)],
		['getMetadata', { path: at('nope') }, system(missing)],
		['readDirectory', { path: at('file') }, system('Not a directory (os error 20)')],
		['remove', { path: at('dir'), recursive: false }, system('Directory not empty (os error 39)')],
		['remove', { path: at('nope'), force: false }, system(missing)],
		['copy', { sourcePath: at('nope'), destinationPath: at('x') }, system(missing)],
		['copy', { sourcePath: at('dir'), destinationPath: at('x') }, refusal('fs/copy requires recursive: true when sourcePath is a directory')],
		['copy', { sourcePath: at('dir'), destinationPath: at('dir/sub/x'), recursive: true },
			refusal('fs/copy cannot copy a directory to itself or one of its descendants')],
		['copy', { sourcePath: at('pipe'), destinationPath: at('x') }, refusal('fs/copy only supports regular files, directories, and symlinks')],
	];
	for (const [method, params, error] of cases)
		await assert.rejects(ask(method, params), error, `${method} ${JSON.stringify(params)}`);
	assert.deepEqual(await ask('remove', { path: at('nope') }), {});
	assert.ok(!fs.existsSync(at('x')));
});

test('a file beyond the limit is refused by name', options, async (t) => {
	const { ask, at } = await start(t);
	fs.writeFileSync(at('big'), '');
	fs.truncateSync(at('big'), 64 * 1024 * 1024 + 1);
	await assert.rejects(ask('readFile', { path: at('big') }), refusal(/has 67108865 bytes; at most 67108864 can be read in one piece/));
});

test('a watch reports changes of a file, through renames and before it exists', options, async (t) => {
	const { server, ask, at } = await start(t);
	const changed = async () => (await server.next('fs/changed')).params;
	assert.deepEqual(await ask('watch', { watchId: 'w1', path: at('a.txt') }), { path: at('a.txt') });
	await assert.rejects(ask('watch', { watchId: 'w1', path: at('a.txt') }), refusal('watchId already exists: w1'));
	fs.writeFileSync(at('other'), '');
	fs.writeFileSync(at('a.txt'), 'x');
	assert.deepEqual(await changed(), { watchId: 'w1', changedPaths: [at('a.txt')] });
	fs.writeFileSync(at('new'), 'y');
	fs.renameSync(at('new'), at('a.txt'));
	assert.deepEqual(await changed(), { watchId: 'w1', changedPaths: [at('a.txt')] });
	assert.deepEqual(await ask('unwatch', { watchId: 'w1' }), {});
	assert.deepEqual(await ask('unwatch', { watchId: 'w1' }), {});
	assert.deepEqual(await ask('watch', { watchId: 'w2', path: at('deep/er/file') }), { path: at('deep/er/file') });
	fs.mkdirSync(at('deep/er'), { recursive: true });
	fs.writeFileSync(at('deep/er/file'), 'x');
	assert.deepEqual(await changed(), { watchId: 'w2', changedPaths: [at('deep/er/file')] });
});

test('a watch on a folder reports each change once', options, async (t) => {
	const { server, ask, at } = await start(t);
	fs.mkdirSync(at('dir'));
	fs.symlinkSync('dir', at('link'));
	assert.deepEqual(await ask('watch', { watchId: 'd', path: at('link') }), { path: at('dir') });
	for (let i = 0; i < 5; i++) {
		fs.writeFileSync(at('dir/one'), `${i}`);
		fs.writeFileSync(at('dir/two'), `${i}`);
	}
	const { params } = await server.next('fs/changed');
	assert.deepEqual(params, { watchId: 'd', changedPaths: [at('dir/one'), at('dir/two')] });
});

test('watches belong to their connection and end with it', options, async (t) => {
	const { server, ask, at } = await start(t);
	await ask('watch', { watchId: 'w', path: at('x') });
	const job = ask('watch', { watchId: 'v', path: at('y') });
	assert.equal((await server.end()).code, 0);
	await job.catch(() => {});
});

test('answers have the shape of the captured ones', options, async (t) => {
	const seen = captured('fs_rpc');
	if (!seen) return t.skip('no ../shared');
	const { server } = await start(t);
	for (const { method, params, answer } of seen.requests('fs/', { CWD: server.cwd })) {
		const got = await server.request(method, params).then((result) => ({ result }), ({ code, message }) => ({ error: { code, message } }));
		if (answer.error) assert.deepEqual(got.error, answer.error, `${method} ${JSON.stringify(params)}`);
		else assert.deepEqual(shapeOf(got.result), shapeOf(answer.result), method);
	}
	const mine = { ...server.all('fs/changed')[0]?.params, ...seen.notification('fs/changed').params };
	assert.deepEqual(shapeOf(mine), shapeOf(seen.notification('fs/changed').params));
});
