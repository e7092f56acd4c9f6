// Patches that are applied at once, need approval or are refused, and the scope of an approval.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { call, makeHome, needs, patch, run, say, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
// $TMPDIR, in which these folders are, would be writable.
const settings = (policy, sandbox = 'workspace-write') => `approval_policy = ${policy}\nsandbox_mode = "${sandbox}"\n` +
	'sandbox_workspace_write = { exclude_tmpdir_env_var = true, exclude_slash_tmp = true }\n';
const add = (name, text = 'new') => patch(`*** Add File: ${name}`, `+${text}`);
const update = (name) => patch(`*** Update File: ${name}`, '@@', '-one', '+two');

async function play(t, calls, { config = settings('"on-request"'), answers = [], files = {}, cwd = tempDir(t, 'cwd') } = {}) {
	const model = await startModel(t, [...calls, say('Done.')]);
	for (const [name, text] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
		fs.writeFileSync(path.join(cwd, name), text);
	}
	const codex = startProto(t, model, { home: makeHome(t, model, config), cwd });
	codex.submit('1', userInput('go'));
	for (const decision of answers)
		codex.submit('a', { type: 'patch_approval', id: (await codex.next('apply_patch_approval_request')).msg.call_id, decision });
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const outputs = (await model.requests()).at(-1).body.input.filter((item) => /_call_output$/.test(item.type));
	return {
		asked: codex.events().filter(({ msg }) => msg.type === 'apply_patch_approval_request').map(({ msg }) => Object.keys(msg.changes)),
		outputs: outputs.map(({ output }) => output),
		has: (name) => fs.existsSync(path.resolve(cwd, name)),
	};
}

test('inside the workspace a patch is written at once; outside, and where others keep their settings, it is asked about', proto, async (t) => {
	const outside = tempDir(t, 'outside');
	const names = ['in', path.join(outside, 'out'), '.git/hook', '.codex/config.toml', '.agents/x', '../beside'];
	const cwd = path.join(tempDir(t, 'parent'), 'work');
	const { asked, has } = await play(t, names.map((name) => add(name)), { cwd, answers: Array(5).fill('denied'), files: { '.git/HEAD': '' } });
	assert.deepEqual(asked.map(([name]) => name), names.slice(1).map((name) => path.resolve(cwd, name)));
	assert.deepEqual(names.map(has), [true, false, false, false, false, false]);
});

test('it is refused with the reason if the policy forbids asking', proto, async (t) => {
	const outside = path.join(tempDir(t, 'outside'), 'out');
	const granular = '{ granular = { sandbox_approval = false, rules = true, mcp_elicitations = true } }';
	for (const policy of ['"never"', granular]) {
		const { asked, outputs, has } = await play(t, [add('in'), add(outside)], { config: settings(policy) });
		assert.deepEqual([asked, has('in'), has(outside)], [[], true, false]);
		assert.equal(outputs[1], 'patch rejected: writing outside of the project; rejected by user approval settings');
	}
	const { outputs, has } = await play(t, [add('in')], { config: settings('"never"', 'read-only') });
	assert.equal(outputs[0], 'patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings');
	assert.ok(!has('in'));
});

test('under `untrusted` each patch is asked about, and one answer for the session covers its files and no others', proto, async (t) => {
	const files = { a: 'one\n', b: 'one\n' };
	const both = patch('*** Update File: a', '@@', '-two', '+three', '*** Update File: b', '@@', '-one', '+two');
	const again = patch('*** Update File: a', '@@', '-three', '+four');
	const move = patch('*** Update File: a', '*** Move to: c', '@@', '-four', '+five');
	const { asked, has } = await play(t, [update('a'), both, again, move], { config: settings('"untrusted"'), files,
		answers: ['approved_for_session', 'approved', 'denied'] });
	assert.deepEqual(asked.map((names) => names.map((name) => path.basename(name)).sort()), [['a'], ['a', 'b'], ['a']]);
	assert.deepEqual([has('a'), has('c')], [true, false]); // a is known; where it would go is not
});

test('a link out of the workspace is outside', proto, async (t) => {
	const outside = tempDir(t, 'outside');
	const cwd = tempDir(t, 'cwd');
	fs.symlinkSync(outside, path.join(cwd, 'link'));
	const { asked, has } = await play(t, [add('link/x')], { cwd, answers: ['denied'] });
	assert.deepEqual([asked.length, has(path.join(outside, 'x'))], [1, false]);
});

test('invalid arguments are refused with a reason, unusual ones are run', proto, async (t) => {
	const config = settings('"never"', 'danger-full-access');
	const calls = [call('shell', { command: Array(10_000).fill('true') }), call('shell', { command: ['printf', '%s', 'x'.repeat(100_000)] }),
		run("bash -lc 'bash -lc \"echo deep\"'"), call('shell', { command: ['echo', 'a\nb'] }), run('echo a\0; touch evil'),
		call('shell', { command: ['touch', 'evil\0x'] })];
	const { outputs, has } = await play(t, calls, { config });
	assert.equal(outputs.length, 6);
	assert.match(outputs[0], /words/);
	assert.match(outputs[2], /deep/);
	assert.match(outputs[3], /a\nb/);
	assert.match(outputs[4], /NUL/);
	assert.match(outputs[5], /NUL/);
	assert.ok(!has('evil'));
});
