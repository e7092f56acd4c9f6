// `codex features`, and the options of `codex exec` that concern the configuration: --enable, --strict-config, --trust, --ignore-rules,
// and -i with several files.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { codexExec, makeHome, needs, outputOf, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const { skip } = needs('features');
const options = { skip };

test('features list has every feature once, sorted, with stage and state', options, async (t) => {
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'), '[features]\nmulti_agent = false\ncode_mode_prewarm = true\n');
	const { code, stdout, stderr } = await runCodex(t, ['features', 'list', '--enable', 'collab'], { home });
	assert.equal(code, 0, stderr);
	assert.equal(stderr, '');
	const rows = stdout.trimEnd().split('\n').map((line) => /^(\S+) +(stable|experimental|under development|deprecated|removed) +(true|false)$/.exec(line));
	assert.ok(rows.every(Boolean), stdout);
	const names = rows.map(([, name]) => name);
	assert.deepEqual(names, [...new Set(names)].sort());
	assert.ok(names.length > 215, `${names.length}`);
	const states = Object.fromEntries(rows.map(([, name, , state]) => [name, state]));
	assert.equal(states.multi_agent, 'false');
	assert.equal(states.collab, 'true');
	assert.equal(states.shell_tool, 'true');
	assert.equal(states.code_mode_prewarm, 'false'); // it has no effect here
});

test('features enable and disable change one line of config.toml', options, async (t) => {
	const home = tempDir(t, 'home'), file = path.join(home, 'config.toml');
	fs.writeFileSync(file, '# mine\nmodel = "m"\n');
	const enabled = await runCodex(t, ['features', 'enable', 'collab'], { home });
	assert.deepEqual([enabled.code, enabled.stdout], [0, 'Enabled feature `collab` in config.toml.\n']);
	assert.equal(fs.readFileSync(file, 'utf8'), '# mine\nmodel = "m"\n\n[features]\ncollab = true\n');
	const disabled = await runCodex(t, ['features', 'disable', 'collab'], { home });
	assert.deepEqual([disabled.code, disabled.stdout], [0, 'Disabled feature `collab` in config.toml.\n']);
	assert.match(fs.readFileSync(file, 'utf8'), /^collab = false$/m);
	const before = fs.readFileSync(file, 'utf8');
	const unknown = await runCodex(t, ['features', 'enable', 'multi_agnet'], { home });
	assert.equal(unknown.code, 1);
	assert.match(unknown.stderr, /^Error: Unknown feature flag: multi_agnet; a similar one is `multi_agent`$/m);
	assert.equal(fs.readFileSync(file, 'utf8'), before);
	for (const args of [[], ['list', 'x'], ['enable'], ['enable', 'a', 'b'], ['lsit']])
		assert.equal((await runCodex(t, ['features', ...args], { home })).code, 2, args.join(' '));
});

test('an unknown feature of --enable or --disable ends the run before the model is asked', options, async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	for (const flag of ['--enable', '--disable']) {
		const { code, stderr } = await codexExec(t, model, [flag, 'nosuch', 'hi']);
		assert.equal(code, 1);
		assert.match(stderr, /Unknown feature flag: nosuch/);
	}
	assert.equal(model.requests().length, 0);
	const known = await codexExec(t, model, ['--enable', 'code_mode_prewarm', '-c', 'features.transcript_v2=true', 'hi']);
	assert.equal(known.code, 0);
	assert.doesNotMatch(known.stderr, /unknown/i);
});

test('--strict-config refuses an unknown key and names its source', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const option = await codexExec(t, model, ['--strict-config', '-c', 'no_such_key=1', 'hi']);
	assert.equal(option.code, 1);
	assert.match(option.stderr, /unknown configuration field `no_such_key` in -c\/--config override/);
	const home = makeHome(t, model, 'no_such_key = 1\n');
	const file = await codexExec(t, model, ['--strict-config', 'hi'], { home });
	assert.equal(file.code, 1);
	const line = fs.readFileSync(path.join(home, 'config.toml'), 'utf8').split('\n').indexOf('no_such_key = 1') + 1;
	assert.ok(file.stderr.includes(`config.toml:${line}: unknown configuration field \`no_such_key\``), file.stderr);
	assert.equal(model.requests().length, 0);
	assert.equal((await codexExec(t, model, ['hi'], { home })).code, 0);
	assert.equal((await codexExec(t, model, ['--strict-config', 'hi'])).code, 0);
});

test('--trust records the project and applies its settings to this run', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const home = makeHome(t, model), cwd = tempDir(t, 'project');
	spawnSync('git', ['init', '-q', cwd]);
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.mkdirSync(path.join(cwd, 'sub'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), 'model = "project-model"\n');
	const first = await codexExec(t, model, ['--trust', '--ephemeral', 'hi'], { home, cwd: path.join(cwd, 'sub') });
	assert.equal(first.code, 0, first.stderr);
	assert.equal(model.requests()[0].body.model, 'project-model');
	const text = fs.readFileSync(path.join(home, 'config.toml'), 'utf8');
	assert.ok(text.includes(`[projects."${cwd}"]\ntrust_level = "trusted"\n`), text);
	assert.equal((await codexExec(t, model, ['--trust', 'hi'], { home, cwd })).code, 0);
	assert.equal(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), text);

	fs.writeFileSync(path.join(home, 'config.toml'), text.replace('"trusted"', '"untrusted"'));
	const refused = await codexExec(t, model, ['--trust', 'hi'], { home, cwd });
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /is marked as untrusted/);
	assert.equal(model.requests().length, 2);
});

test('--ignore-rules leaves the user\'s rules out', options, async (t) => {
	const model = await startModel(t, [run('echo hi'), say('One.'), run('echo hi'), say('Two.')]);
	const home = makeHome(t, model);
	fs.mkdirSync(path.join(home, 'rules'));
	fs.writeFileSync(path.join(home, 'rules/own.rules'), 'prefix_rule(pattern=["echo"], decision="forbidden", justification="quiet")\n');
	assert.equal((await codexExec(t, model, ['hi'], { home })).code, 0);
	assert.equal((await codexExec(t, model, ['--ignore-rules', 'hi'], { home })).code, 0);
	const outputs = [1, 3].map((at) => model.requests()[at]).map((request) =>
		outputOf(request, request.body.input.find((it) => it.type === 'function_call').call_id));
	assert.match(outputs[0], /quiet/);
	assert.match(outputs[1], /\bhi\b/);
});

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==', 'base64');

test('-i takes all files that follow, and leaves the prompt', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const cwd = tempDir(t, 'cwd');
	for (const name of ['a.png', 'b.png', 'c.png']) fs.writeFileSync(path.join(cwd, name), PNG);
	const count = (request) => request.body.input.at(-1).content.filter(({ type }) => type === 'input_image').length;
	const first = await codexExec(t, model, ['-i', 'a.png', 'b.png', '--image=c.png', 'look'], { cwd });
	assert.equal(first.code, 0, first.stderr);
	assert.equal(count(model.requests()[0]), 3);
	assert.equal(model.requests()[0].body.input.at(-1).content.at(-1).text, 'look');
	const second = await codexExec(t, model, ['look', '-i', 'a.png', 'b.png'], { cwd });
	assert.equal(second.code, 0, second.stderr);
	assert.equal(count(model.requests()[1]), 2);
});

test('the include_ keys leave out or add parts of the context', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const texts = (request) => request.body.input.map((item) => item.content.map((part) => part.text).join(''));
	await codexExec(t, model, ['go'], { config: 'include_environment_context = false\ninclude_permissions_instructions = false\n' });
	await codexExec(t, model, ['go'], { config: 'include_environment_context_time = true\n', env: { TZ: 'UTC' } });
	const [without, withTime] = model.requests().map(texts);
	assert.ok(!without.some((it) => /<environment_context>|<permissions/.test(it)), without.join('\n'));
	assert.ok(withTime.some((it) => /<permissions/.test(it)));
	assert.ok(withTime.some((it) => /<current_date>\d{4}-\d\d-\d\d<\/current_date>\n +<timezone>UTC<\/timezone>/.test(it)));
});

test('commands that this version lacks name the alternative', options, async (t) => {
	for (const [args, alternative] of [[['apply', 'task_1'], /git apply/], [['cloud', 'exec', '--env', 'x', 'do it'], /codex exec/],
		[['remote-control'], /app-server --listen/]]) {
		const { code, stdout, stderr } = await runCodex(t, args);
		assert.deepEqual([code, stdout], [1, '']);
		assert.match(stderr, alternative);
		assert.equal((await runCodex(t, [args[0], '--help'])).code, 0);
	}
});
