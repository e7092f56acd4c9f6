// The public scenarios of apply_patch: as a program of its own, and as a call inside a turn, in each form a model may
// choose. They are next to the repository (../shared); without them, these tests are skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	call, codexBin, codexExec, itemsOf, needs, outputOf, reply, run, say, sharedPath, startModel, tempDir,
} from './lib/codex.mjs';

const folder = sharedPath('reference/apply_patch_scenarios');
const names = folder ? fs.readdirSync(folder).filter((name) => /^\d/.test(name)).sort() : [];
const skip = needs('exec').skip || (names.length === 0 && '../shared/reference/apply_patch_scenarios is not there');

// The bare program applies hunk by hunk, so the hunks before a failing one stay; a turn verifies the whole patch first.
const PARTIAL = '015_failure_after_partial_success_leaves_changes';

/** The files below a folder with their contents; null for a folder. */
function tree(dir) {
	if (!fs.existsSync(dir)) return {};
	const all = fs.readdirSync(dir, { recursive: true, withFileTypes: true });
	return Object.fromEntries(all.map((entry) => {
		const full = path.join(entry.path, entry.name);
		return [path.relative(dir, full), entry.isDirectory() ? null : fs.readFileSync(full, 'utf8')];
	}).sort());
}

function scenario(t, name) {
	const dir = path.join(folder, name);
	const cwd = tempDir(t, 'work');
	if (fs.existsSync(path.join(dir, 'input'))) fs.cpSync(path.join(dir, 'input'), cwd, { recursive: true });
	return {
		cwd,
		patch: fs.readFileSync(path.join(dir, 'patch.txt'), 'utf8'),
		before: tree(cwd),
		expected: tree(path.join(dir, 'expected')),
		fails: /rejects|requires|fails|failure/.test(name),
	};
}

test('all scenarios are there', { skip }, () => assert.equal(names.length, 23));

test('as a program of its own, with the patch as argument or on stdin', { skip }, (t) => {
	const program = path.join(tempDir(t, 'bin'), 'apply_patch');
	fs.symlinkSync(path.resolve(codexBin), program);
	for (const name of names) {
		for (const [args, how] of [[(patch) => [patch], 'argument'], [() => [], 'stdin']]) {
			const { cwd, patch, expected, fails } = scenario(t, name);
			const { status, stdout, stderr } = spawnSync(program, args(patch), { cwd, input: patch, encoding: 'utf8' });
			assert.deepEqual(tree(cwd), expected, `${name}, ${how}: ${stderr}`);
			assert.equal(status, fails ? 1 : 0, `${name}, ${how}: ${stderr}`);
			if (fails) assert.notEqual(stderr, '', name);
			else assert.match(stdout, /^Success\. Updated the following files:\n/, name);
		}
	}
});

/** One turn that applies the patch in that form; the tree and the output that went back to the model are checked. */
async function inTurn(t, name, form) {
	const { cwd, patch, before, expected, fails } = scenario(t, name);
	const model = await startModel(t, [form(patch), say('Done.')]);
	const { code, events } = await codexExec(t, model, ['go'], { cwd, json: true });
	assert.equal(code, 0, name);
	assert.deepEqual(tree(cwd), fails ? before : expected, name);
	if (name !== PARTIAL) assert.deepEqual(tree(cwd), expected, name);
	const output = outputOf(model.requests()[1], 'call_1_1');
	assert.match(output, fails ? /^(apply_patch verification failed|patch rejected): ./ : /Success\. Updated/, name);
	const changes = itemsOf(events, 'file_change');
	assert.deepEqual(changes.map((item) => item.status), fails ? [] : ['completed'], name);
}

for (const [how, form] of [
	['a custom call', (patch) => reply({ custom: 'apply_patch', input: patch })],
	['a function call', (patch) => call('apply_patch', { input: patch })],
]) {
	test(`inside a turn, as ${how}: a failing patch leaves nothing`, { skip }, async (t) => {
		for (const name of names) await inTurn(t, name, form);
	});
}

test('inside a turn, as a shell command', { skip }, async (t) => {
	const inShell = (patch) => run(`apply_patch <<'EOF'\n${patch.trim()}\nEOF`);
	for (const name of ['001_add_file', '002_multiple_operations', PARTIAL]) await inTurn(t, name, inShell);
});
