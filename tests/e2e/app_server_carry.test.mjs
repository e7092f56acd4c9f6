// gitDiffToRemote and feedback/save of `codex app-server`.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { needs, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('app-server');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });

function git(cwd, ...args) {
	const who = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
	return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** A repository with one commit that its remote knows, one that it does not, and files in all states. */
function makeRepository(t) {
	const remote = tempDir(t, 'remote'), tree = tempDir(t, 'tree');
	const put = (name, text) => {
		fs.mkdirSync(path.join(tree, path.dirname(name)), { recursive: true });
		fs.writeFileSync(path.join(tree, name), text);
	};
	git(remote, 'init', '--bare');
	git(tree, 'init');
	put('kept', 'one\n');
	put('gone', 'x\n');
	put('.gitignore', 'ignored\n');
	git(tree, 'add', '-A');
	git(tree, 'commit', '-m', '1');
	git(tree, 'remote', 'add', 'origin', remote);
	git(tree, 'push', 'origin', 'HEAD:main');
	const sha = git(tree, 'rev-parse', 'HEAD');
	put('kept', 'one\ntwo\n');
	git(tree, 'commit', '-am', '2');
	put('kept', 'one\ntwo\nthree\n');
	put('sub/new name', 'no end of line');
	put('sub/bytes', Buffer.from([0, 1, 2]));
	put('ignored', 'x');
	put('staged', 'x\n');
	git(tree, 'add', 'staged');
	fs.rmSync(path.join(tree, 'gone'));
	return { remote, tree, sha };
}

test('the patch against the remote reproduces the work tree', options, async (t) => {
	const server = await startAppServer(t, null);
	const { remote, tree, sha } = makeRepository(t);
	const index = fs.readFileSync(path.join(tree, '.git/index'));
	for (const cwd of [tree, path.join(tree, 'sub')]) {
		const found = await server.request('gitDiffToRemote', { cwd });
		assert.equal(found.sha, sha);
		const copy = tempDir(t, 'copy');
		git(copy, 'clone', remote, '.');
		git(copy, 'checkout', found.sha);
		fs.writeFileSync(`${copy}.patch`, found.diff);
		git(copy, 'apply', `${copy}.patch`);
		fs.rmSync(`${copy}.patch`);
		const names = (dir) => fs.readdirSync(dir, { recursive: true }).filter((name) => !/^\.git(\/|$)/.test(name)).sort();
		assert.deepEqual(names(copy), names(tree).filter((name) => name !== 'ignored'));
		for (const name of ['kept', 'sub/new name', 'sub/bytes', 'staged'])
			assert.deepEqual(fs.readFileSync(path.join(copy, name)), fs.readFileSync(path.join(tree, name)));
	}
	assert.deepEqual(fs.readFileSync(path.join(tree, '.git/index')), index, 'its index is not touched');
});

test('a pushed tree has no difference, one without a remote is an error', options, async (t) => {
	const server = await startAppServer(t, null);
	const { tree } = makeRepository(t);
	const wrong = (cwd, why) => refusal(new RegExp(`^failed to compute git diff to remote for cwd: "${cwd}": ${why}`));
	git(tree, 'add', '-A');
	git(tree, 'commit', '-m', '3');
	git(tree, 'push', 'origin', 'HEAD:main');
	assert.deepEqual(await server.request('gitDiffToRemote', { cwd: tree }), { sha: git(tree, 'rev-parse', 'HEAD'), diff: '' });
	git(tree, 'remote', 'remove', 'origin');
	await assert.rejects(server.request('gitDiffToRemote', { cwd: tree }), wrong(tree, 'no remote branch has any'));
	const bare = tempDir(t, 'no-repository');
	await assert.rejects(server.request('gitDiffToRemote', { cwd: bare }), wrong(bare, 'not a git repository'));
	await assert.rejects(server.request('gitDiffToRemote', { cwd: 'nowhere' }), wrong('nowhere', 'cannot run git in '));
	await assert.rejects(server.request('gitDiffToRemote', { cwd: 'a\0b' }), refusal(/NUL/));
});

/** A repository that names programs wherever git takes one, each of which would leave a trace. */
function armRepository(tree, trace) {
	const run = (what) => `sh -c 'echo ${what} >> ${trace}; cat'`;
	for (const [key, what] of [
		['filter.x.clean', 'clean'], ['filter.x.smudge', 'smudge'], ['filter.y.process', 'process'], ['core.fsmonitor', 'fsmonitor'],
		['diff.external', 'external'], ['diff.x.textconv', 'textconv'], ['diff.x.command', 'command'], ['core.sshCommand', 'ssh'],
		['core.pager', 'pager'], ['pager.diff', 'pager'], ['core.alternateRefsCommand', 'refs'], ['gpg.program', 'gpg'],
	])
		git(tree, 'config', key, run(what));
	git(tree, 'config', 'filter.x.required', 'true');
	const hooks = path.join(tree, '.git/hooks');
	fs.mkdirSync(hooks, { recursive: true });
	for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout', 'fsmonitor-watchman'])
		fs.writeFileSync(path.join(hooks, hook), `#!/bin/sh\necho ${hook} >> ${trace}\n`, { mode: 0o755 });
	fs.writeFileSync(path.join(tree, '.gitattributes'), '* filter=x diff=x\n*.y filter=y\n');
}

test('nothing that a repository, a submodule or a nested repository names is run', options, async (t) => {
	const { remote, tree, sha } = makeRepository(t);
	const trace = path.join(tempDir(t, 'trace'), 'ran');
	const sub = path.join(tree, 'submodule'), nested = path.join(tree, 'nested');
	git(tree, '-c', 'protocol.file.allow=always', 'submodule', 'add', remote, 'submodule');
	git(sub, 'checkout', '-q', sha);
	git(tree, 'commit', '-m', 'submodule');
	git(tree, 'clone', '-q', remote, 'nested');
	git(nested, 'checkout', '-q', sha);
	for (const dir of [tree, nested]) {
		armRepository(dir, trace);
		fs.writeFileSync(path.join(dir, 'kept'), 'another one\n');
		fs.writeFileSync(path.join(dir, 'new.y'), 'y\n');
	}
	/* A sandboxed command can do this: the .git file of a submodule is an ordinary file of the work tree. */
	fs.rmSync(path.join(sub, '.git'));
	git(sub, 'clone', '-q', '-n', remote, 'x');
	fs.renameSync(path.join(sub, 'x/.git'), path.join(sub, '.git'));
	git(sub, 'reset', '-q', sha);
	armRepository(sub, trace);
	fs.writeFileSync(path.join(sub, 'kept'), 'another one\n');
	const server = await startAppServer(t, null);
	for (const [cwd, base] of [[tree, sha], [nested, sha], [sub, sha]]) {
		fs.rmSync(trace, { force: true });
		const found = await server.request('gitDiffToRemote', { cwd });
		assert.equal(found.sha, base);
		assert.match(found.diff, /^\+another one$/m);
		assert.match(found.diff, /^\+\+\+ b\/new\.y$|^\+\+\+ b\/kept$/m);
		assert.equal(fs.existsSync(trace), false, `${cwd}: ${fs.existsSync(trace) && fs.readFileSync(trace, 'utf8')}`);
	}
});

test('globally ignored files are not in the patch', options, async (t) => {
	const { tree, remote } = makeRepository(t);
	const home = tempDir(t, 'home'), xdg = path.join(home, '.config/git');
	fs.mkdirSync(xdg, { recursive: true });
	fs.writeFileSync(path.join(xdg, 'ignore'), '*.private\n');
	fs.writeFileSync(path.join(tree, 'a.private'), 'x\n');
	fs.writeFileSync(path.join(tree, 'a.secret'), 'x\n');
	const ask = async () => {
		const server = await startAppServer(t, null, { env: { HOME: home, XDG_CONFIG_HOME: undefined } });
		const { diff } = await server.request('gitDiffToRemote', { cwd: tree });
		return ['a.private', 'a.secret', 'staged'].filter((name) => diff.includes(`b/${name}\n`));
	};
	assert.deepEqual(await ask(), ['a.secret', 'staged']);
	fs.writeFileSync(path.join(home, '.gitconfig'), '[core]\n\texcludesFile = ~/mine\n[diff]\n\texternal = false\n\tnoprefix = true\n');
	fs.writeFileSync(path.join(home, 'mine'), '*.secret\n');
	assert.deepEqual(await ask(), ['a.private', 'staged']);
	assert.ok(remote);
});

test('more untracked files than one git takes at once are in the patch; nothing is left below CODEX_HOME', options, async (t) => {
	const { tree, sha } = makeRepository(t);
	const names = Array.from({ length: 8000 }, (_, i) => `many/${'x'.repeat(120)}${i}`);
	fs.mkdirSync(path.join(tree, 'many'));
	for (const name of names)
		fs.writeFileSync(path.join(tree, name), '');
	const server = await startAppServer(t, null);
	const index = fs.readFileSync(path.join(tree, '.git/index'));
	const tmp = path.join(server.home, 'tmp');
	fs.mkdirSync(path.join(tmp, 'git-left/objects'), { recursive: true }); /* by an engine that was killed */
	const found = await server.request('gitDiffToRemote', { cwd: tree });
	assert.equal(found.sha, sha);
	assert.equal(found.diff.match(/^diff --git a\/many\//mg).length, names.length);
	assert.deepEqual(fs.readFileSync(path.join(tree, '.git/index')), index);
	await server.end();
	assert.deepEqual(fs.readdirSync(tmp), []);
});

/** The entries of an archive in which nothing is packed: {name: bytes}. */
function unzip(file) {
	const bytes = fs.readFileSync(file), entries = {};
	const end = bytes.length - 22;
	assert.equal(bytes.readUInt32LE(end), 0x06054b50);
	for (let at = bytes.readUInt32LE(end + 16), left = bytes.readUInt16LE(end + 10); left; left--) {
		const length = bytes.readUInt16LE(at + 28), size = bytes.readUInt32LE(at + 24), head = bytes.readUInt32LE(at + 42);
		assert.equal(bytes.readUInt32LE(head), 0x04034b50);
		const name = bytes.toString('utf8', at + 46, at + 46 + length), from = head + 30 + length;
		assert.equal(bytes.readUInt32LE(head + 14), bytes.readUInt32LE(at + 16), 'one check sum');
		entries[name] = bytes.toString('utf8', from, from + size);
		at += 46 + length;
	}
	return entries;
}

test('a report is written as an archive', options, async (t) => {
	const server = await startAppServer(t, await startModel(t, [say('unused')]));
	const savePath = path.join(server.cwd, 'report.zip'), log = path.join(server.cwd, 'näme.log');
	const save = (more) => server.request('feedback/save', { classification: 'bug', savePath, ...more });
	fs.writeFileSync(log, 'a line\n');
	const { thread } = await server.request('thread/start', { cwd: server.cwd });
	await assert.rejects(save({ extraLogFiles: [log, path.join(server.cwd, 'none')] }), refusal(
		/^failed to save feedback: failed to read selected attachment \/.*none: No such file or directory$/, -32603));
	assert.deepEqual(fs.readdirSync(server.cwd).filter((name) => /zip/.test(name)), [], 'half an archive is none');
	assert.deepEqual(await save({ threadId: thread.id, reason: 'why', tags: { mine: 'x', thread_id: 'y' }, extraLogFiles: [log] }),
		{ savedPath: savePath, threadId: thread.id, promptHash: null });
	const { 'report.json': report, 'manifest.json': manifest, ...files } = unzip(savePath);
	const { event_id: event, timestamp, tags, message } = JSON.parse(report);
	assert.match(event, /^[0-9a-f]{32}$/);
	assert.ok(timestamp > 1.7e9);
	assert.equal(message, `[Bug]: Codex session ${thread.id}`);
	assert.equal(tags.mine, 'x');
	assert.equal(tags.thread_id, thread.id, 'what the report says itself counts');
	assert.equal(tags.reason, 'why');
	assert.deepEqual(JSON.parse(manifest),
		[{ entry: 'attachments/0000/näme.log', filename: 'näme.log', contentType: 'text/plain' }]);
	assert.deepEqual(files, { 'attachments/0000/näme.log': 'a line\n' });
	await assert.rejects(save(), refusal('failed to save feedback: feedback save path already exists', -32603));
	await assert.rejects(save({ savePath: 'a.zip' }), refusal('feedback savePath must be an absolute host path'));
	await assert.rejects(save({ threadId: 'x' }), refusal(/^invalid thread id: invalid character: /));
});

test('the rollout of its thread is in a report if it may be', options, async (t) => {
	const server = await startAppServer(t, await startModel(t, [say('hello')]));
	const savePath = path.join(server.cwd, 'report.zip');
	const { thread } = await server.request('thread/start', { cwd: server.cwd });
	await server.request('turn/start', { threadId: thread.id, input: [text('hello there')] });
	await server.next('turn/completed');
	await server.request('feedback/save', { classification: 'other', savePath, threadId: thread.id, includeLogs: true });
	const [[name, lines]] = Object.entries(unzip(savePath)).filter(([it]) => it.startsWith('attachments/'));
	assert.equal(name, `attachments/0000/${path.basename(thread.path)}`);
	assert.match(lines, /hello there/);
});
