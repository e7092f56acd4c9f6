// The diff of a task equals the output of git and can be applied by it; tested with random trees and changes.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexBin, makeHome, needs, patch, say, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const writer = path.join(path.dirname(codexBin), 'tests/e2e/diff_writer');
const hasGit = spawnSync('git', ['--version']).status === 0;
const options = { skip: !hasGit ? 'there is no git' : !fs.existsSync(writer) ? `${writer} is not there` : false };

const git = (cwd, args, input) => {
	const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' };
	return spawnSync('git', ['-c', 'core.quotepath=off', '-c', 'core.autocrlf=false', ...args],
		{ cwd, env, input, encoding: 'utf8', maxBuffer: 1 << 28 });
};

function dice(seed) {
	let state = seed;
	return (n) => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) % n;
	};
}

// --- a tree is a Map: name to { text, executable } ------------------------------------------------------------------

const NAMES = ['a.txt', 'b c.txt', 'dir/x', 'dir/y z', 'ä/ö', '"q"', "it's", 'back\\slash', 'tab\there', 'line\nend', ' lead', '-o',
	'dir2/deep/er', '\u0001', '日本語', 'b', 'run.sh', 'a.txt2', '#x', '$y'];
const LINES = ['one', 'two', 'three', '', '  indented', 'ünïcode', '\ttab', 'four', '@@ -1 +1 @@', '--- a/x', '\\ No newline', 'x\r'];

function someText(roll) {
	if (roll(12) === 0) return '';
	if (roll(15) === 0) return 'bin\0ary ' + roll(1000);
	const end = roll(6) ? '\n' : '\r\n';
	const text = Array.from({ length: 1 + roll(roll(10) ? 12 : 300) }, () => LINES[roll(LINES.length)] + end).join('');
	return roll(5) ? text : text.replace(/\r?\n$/, '');
}

function edited(text, roll) {
	const lines = text.split(/(?<=\n)/);
	for (let count = 1 + roll(3); count > 0; count--)
		lines.splice(roll(lines.length + 1), roll(3), ...Array.from({ length: roll(3) }, () => LINES[roll(LINES.length)] + '\n'));
	const joined = lines.join('');
	return roll(6) ? joined : joined.replace(/\n$/, '');
}

/** Applies a random change to the tree; returns it as the tool receives it, null if no change was possible. */
function change(tree, roll) {
	const there = [...tree.keys()];
	const name = there[roll(there.length || 1)];
	const any = NAMES[roll(NAMES.length)];
	const file = tree.get(name);
	// A folder cannot stand where a file is.
	const isFree = (wanted, gone) => ![...tree.keys()].some((it) => it !== gone && (it.startsWith(`${wanted}/`) || wanted.startsWith(`${it}/`)));
	switch (roll(5)) {
	case 0: {
		if (!isFree(any)) return null;
		const was = tree.get(any);
		const made = { text: someText(roll), executable: was?.executable ?? false };
		tree.set(any, made);
		return { path: any, old: was?.text ?? null, now: made.text, executable: made.executable };
	}
	case 1:
		if (!file) return null;
		tree.delete(name);
		return { path: name, old: file.text, now: null, executable: file.executable };
	case 2: {
		if (!file || any === name || !isFree(any, name)) return null;
		const over = tree.get(any);
		const moved = { text: roll(2) ? file.text : edited(file.text, roll), executable: file.executable };
		tree.delete(name);
		tree.set(any, moved);
		return { path: name, move_path: any, old: file.text, now: moved.text, executable: file.executable,
			overwritten: over?.text ?? null, was_executable: over?.executable ?? false };
	}
	default: {
		if (!file) return null;
		const now = edited(file.text, roll);
		tree.set(name, { ...file, text: now });
		return { path: name, old: file.text, now, executable: file.executable };
	}
	}
}

function writeTree(folder, tree) {
	for (const [name, { text, executable }] of tree) {
		const file = path.join(folder, name);
		fs.mkdirSync(path.dirname(file), { recursive: true });
		fs.writeFileSync(file, text, { mode: executable ? 0o755 : 0o644 });
	}
}

function readTree(folder) {
	const all = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
	return new Map(all.map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)).filter((file) => !file.includes('/.git/')).sort()
		.map((file) => [path.relative(folder, file),
			{ text: fs.readFileSync(file, 'utf8'), executable: (fs.statSync(file).mode & 0o100) !== 0 }]));
}

const sorted = (tree) => [...tree].sort(([a], [b]) => (a < b ? -1 : 1));

/** A diff by files: the lines before the hunks, and the hunks. */
function filesOf(diff) {
	return diff.split(/^(?=diff --git )/m).filter(Boolean).map((part) => {
		const at = part.search(/^@@ /m);
		return { head: at < 0 ? part : part.slice(0, at), hunks: at < 0 ? '' : part.slice(at) };
	});
}

function ours(changes) {
	const lines = changes.map((it) => JSON.stringify({ ...it, path: `/w/${it.path}`, ...(it.move_path && { move_path: `/w/${it.move_path}` }) }));
	const { status, stdout, stderr } = spawnSync(writer, { input: lines.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 });
	assert.equal(status, 0, stderr);
	return stdout;
}

/** One round: a tree and changes; compares our diff with that of git, and applies ours with git. */
function round(t, folder, seed) {
	const roll = dice(seed);
	const before = new Map();
	for (let count = roll(8); count > 0; count--) {
		const name = NAMES[roll(NAMES.length)];
		const isFree = ![...before.keys()].some((it) => it.startsWith(`${name}/`) || name.startsWith(`${it}/`));
		if (isFree) before.set(name, { text: someText(roll), executable: roll(4) === 0 });
	}
	const after = new Map(before);
	const changes = Array.from({ length: 1 + roll(6) }, () => change(after, roll)).filter(Boolean);
	const diff = ours(changes);

	fs.mkdirSync(folder);
	writeTree(folder, before);
	git(folder, ['init', '-q']);
	git(folder, ['add', '-A']);
	const tree = git(folder, ['write-tree']).stdout.trim();
	const parts = filesOf(diff);
	if (!/^Binary files/m.test(diff) && diff) { // git itself cannot apply that
		const applied = git(folder, ['apply', '--whitespace=nowarn', '-'], diff);
		assert.equal(applied.status, 0, `seed ${seed}: ${applied.stderr}\n${diff}`);
		assert.deepEqual(sorted(readTree(folder)), sorted(after), `seed ${seed}: git made something else of\n${diff}`);
	}
	for (const name of fs.readdirSync(folder).filter((it) => it !== '.git')) fs.rmSync(path.join(folder, name), { recursive: true });
	writeTree(folder, after);
	git(folder, ['add', '-A']);
	const theirs = git(folder, ['diff', '--cached', '--full-index', '--no-renames', '--no-ext-diff', '--no-indent-heuristic', tree]).stdout;
	const isRename = ({ head }) => !/^diff --git "?a\/(.*) "?b\/\1\n/.test(head.replaceAll('"', ''));
	const byHead = new Map(filesOf(theirs.replace(/^(index [0-9a-f]{40}\.\.[0-9a-f]{40}) \d{6}$/mg, '$1')).map((it) => [it.head, it]));
	let equal = 0;
	const renamed = parts.filter(isRename).length;
	for (const part of parts.filter((it) => !isRename(it))) {
		const their = byHead.get(part.head);
		assert.ok(their, `seed ${seed}: git has no\n${part.head}among\n${theirs}`);
		equal += their.hunks.replace(/^(@@ -[\d,]+ \+[\d,]+ @@) .*$/mg, '$1') === part.hunks; // without the function around
	}
	assert.equal(parts.length + renamed, byHead.size, `seed ${seed}: not as many files as git has\n${diff}\n---\n${theirs}`);
	fs.rmSync(folder, { recursive: true });
	return { files: parts.length - renamed, equal, renamed };
}

test('random changes of random trees: git takes our diff, and its heads are git’s', options, (t) => {
	const folder = path.join(tempDir(t, 'diff'), 'tree');
	const sum = { files: 0, equal: 0, renamed: 0 };
	for (let seed = 1; seed <= 80; seed++) {
		const part = round(t, folder, seed * 7919);
		for (const key of Object.keys(sum)) sum[key] += part[key];
	}
	assert.ok(sum.renamed > 10, `only ${sum.renamed} renames`);
	assert.ok(sum.equal > sum.files * 0.9, `only ${sum.equal} of ${sum.files} files have git's own hunks`); // the others are other hunks, and true
});

test('a repository and a plain folder have the same diff, and git takes it', { ...needs('proto'), ...options }, async (t) => {
	const diffs = [];
	for (const isRepository of [true, false]) {
		const cwd = tempDir(t, 'work');
		fs.writeFileSync(path.join(cwd, 'old name.txt'), 'one\ntwo\n');
		fs.writeFileSync(path.join(cwd, 'run.sh'), 'echo\n', { mode: 0o755 });
		if (isRepository) git(cwd, ['init', '-q']);
		const model = await startModel(t, [
			patch('*** Update File: old name.txt', '*** Move to: new name.txt', '@@', ' one', ' two'),
			patch('*** Delete File: run.sh', '*** Add File: made', '+new'), say('Done.')]);
		const home = makeHome(t, model, 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n');
		const proto = startProto(t, model, { home, cwd });
		proto.submit('1', userInput('go'));
		await proto.next('task_complete');
		assert.equal((await proto.end()).code, 0);
		diffs.push(proto.events().filter(({ msg }) => msg.type === 'turn_diff').at(-1).msg.unified_diff);
	}
	assert.equal(diffs[0], diffs[1]);
	assert.match(diffs[0], /^rename from old name\.txt\nrename to new name\.txt$/m);
	assert.match(diffs[0], /^deleted file mode 100755$/m);
	const cwd = tempDir(t, 'apply');
	fs.writeFileSync(path.join(cwd, 'old name.txt'), 'one\ntwo\n');
	fs.writeFileSync(path.join(cwd, 'run.sh'), 'echo\n', { mode: 0o755 });
	assert.equal(git(cwd, ['apply', '-'], diffs[0]).status, 0);
	assert.deepEqual(fs.readdirSync(cwd).sort(), ['made', 'new name.txt']);
});
