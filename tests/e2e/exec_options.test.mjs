// Input of `codex exec`: flags, files, standard input, and earlier sessions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	codexExec, forever, itemsOf, makeHome, needs, readLines, reply, rollouts, run, runCodex, say, startModel, tempDir,
	textsOf, typesOf,
} from './lib/codex.mjs';

const exec = needs('exec');

const lastPrompt = (model) => textsOf(model.requests().at(-1), 'user').at(-1);
const modelOf = (model) => model.requests().at(-1).body.model;

// --- the prompt -----------------------------------------------------------------------------------------------------

test('standard input is decoded: UTF-8, UTF-16, with or without a mark', exec, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const text = '\ufeffgrüße 😀\n';
	for (const input of [
		Buffer.from(text), Buffer.from(text.slice(1)), Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16(),
	]) {
		const { code } = await codexExec(t, model, ['-'], { input });
		assert.equal(code, 0);
		assert.equal(lastPrompt(model).trim(), 'grüße 😀');
	}
});

test('binary standard input is refused', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	for (const input of [Buffer.from([0x61, 0xff, 0x80]), Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), ' \n\t ']) {
		const { code, stdout, stderr } = await codexExec(t, model, ['-'], { input });
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.match(stderr, /UTF-8|UTF-32|No prompt provided/);
	}
	assert.equal(model.requests().length, 0);
});

test('a prompt and an empty standard input are the prompt alone', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	await codexExec(t, model, ['say hello'], { input: ' \n' });
	assert.equal(lastPrompt(model), 'say hello');
});

test('a prompt that looks like a flag follows --', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const { code } = await codexExec(t, model, ['--', '--help']);
	assert.equal(code, 0);
	assert.equal(lastPrompt(model), '--help');
});

// --- files ----------------------------------------------------------------------------------------------------------

test('an output schema that cannot be used is named', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	const broken = path.join(tempDir(t), 'broken.json');
	fs.writeFileSync(broken, '{nope');
	const absent = await codexExec(t, model, ['--output-schema', '/no/such.json', 'hi']);
	assert.equal(absent.code, 1);
	assert.match(absent.stderr, /Failed to read output schema file \/no\/such\.json: .*No such file or directory/);
	const invalid = await codexExec(t, model, ['--output-schema', broken, 'hi']);
	assert.equal(invalid.code, 1);
	assert.match(invalid.stderr, /Output schema file .*broken\.json is not valid JSON: line 1 column 2: \S/);
	assert.equal(model.requests().length, 0);
});

test('an unreadable image is reported to the model', exec, async (t) => {
	const model = await startModel(t, [say('I see nothing.')]);
	const { code } = await codexExec(t, model, ['look', '-i', '/no/such.png']);
	assert.equal(code, 0);
	const [first, second] = textsOf(model.requests()[0], 'user').slice(-2);
	assert.match(first, /^Codex could not read the local image at `\/no\/such\.png`: .*No such file or directory/);
	assert.equal(second, 'look');
});

test('-o without an answer empties the file and says so', exec, async (t) => {
	const model = await startModel(t, [reply({ status: 400, body: { error: { message: 'no' } } })]);
	const file = path.join(tempDir(t), 'last.txt');
	fs.writeFileSync(file, 'of yesterday');
	const { code, stderr } = await codexExec(t, model, ['-o', file, 'hi']);
	assert.equal(code, 1);
	assert.equal(fs.readFileSync(file, 'utf8'), '');
	assert.match(stderr, /no last agent message; wrote empty content to .*last\.txt/);
});

test('AGENTS.md of the user, of the repository and of the folder reach the model, in this order', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const home = makeHome(t, model);
	const top = tempDir(t, 'repo');
	const cwd = path.join(top, 'inner');
	execFileSync('git', ['init', '-q', top]);
	fs.mkdirSync(cwd);
	fs.writeFileSync(path.join(home, 'AGENTS.md'), 'Word of the user.\n');
	fs.writeFileSync(path.join(top, 'AGENTS.md'), 'Word of the repository.\n');
	fs.writeFileSync(path.join(cwd, 'AGENTS.md'), 'not read: an override is there\n');
	fs.writeFileSync(path.join(cwd, 'AGENTS.override.md'), 'Word of the folder.\n');
	await codexExec(t, model, ['hi'], { home, cwd });
	const text = textsOf(model.requests()[0], 'user').find((it) => it.startsWith('# AGENTS.md instructions for '));
	assert.equal(text, `# AGENTS.md instructions for ${cwd}\n\n<INSTRUCTIONS>\nWord of the user.\n\n--- project-doc ---\n\n`
		+ 'Word of the repository.\n\n\nWord of the folder.\n\n</INSTRUCTIONS>');
});

// --- configuration --------------------------------------------------------------------------------------------------

test('precedence: user, profile, project, -c, flag', exec, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const cwd = tempDir(t, 'project');
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), 'model = "of-project"\n');
	const settings = (trust) => `model = "of-user"\n[profiles.p]\nmodel = "of-profile"\n`
		+ `[projects."${cwd}"]\ntrust_level = "${trust}"`;
	const trusted = makeHome(t, model, settings('trusted'));
	const untrusted = makeHome(t, model, settings('untrusted'));
	for (const [home, args, expected] of [
		[untrusted, [], 'of-user'],
		[untrusted, ['-p', 'p'], 'of-profile'],
		[trusted, ['-p', 'p'], 'of-project'],
		[trusted, ['-p', 'p', '-c', 'model="of-c"'], 'of-c'],
		[trusted, ['-p', 'p', '-c', 'model="of-c"', '-m', 'of-flag'], 'of-flag'],
	]) {
		const { code, stderr } = await codexExec(t, model, [...args, 'hi'], { home, cwd });
		assert.equal(code, 0, stderr);
		assert.equal(modelOf(model), expected);
	}
});

test('an approval policy of -c gets a warning, unless it is never', exec, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	for (const [value, expected] of [['untrusted', true], ['"on-request"', true], ['never', false]]) {
		const { code, stderr } = await codexExec(t, model, ['-c', `approval_policy=${value}`, 'hi']);
		assert.equal(code, 0, stderr);
		assert.equal(/^warning: approval_policy is ignored: exec never requests approval$/m.test(stderr), expected, stderr);
	}
});

test('-c accepts TOML, and other text as a string', exec, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	for (const [value, expected] of [['"gpt-5.4"', 'gpt-5.4'], ["'gpt-5.4'", 'gpt-5.4'], ['a=b', 'a=b'], ['[1', '[1']]) {
		await codexExec(t, model, ['-c', `model=${value}`, 'hi']);
		assert.equal(modelOf(model), expected);
	}
	const table = 'model_providers.mock.http_headers={ "x-test" = "yes", x-more = "and more" }';
	await codexExec(t, model, ['-c', table, 'hi']);
	assert.equal(model.requests().at(-1).headers['x-test'], 'yes');
	assert.equal(model.requests().at(-1).headers['x-more'], 'and more');
});

test('an unknown model works, with every tool and one warning', exec, async (t) => {
	const model = await startModel(t, [run('true'), say('ok')]);
	const { code, events } = await codexExec(t, model, ['-m', 'of-tomorrow', 'hi'], { json: true });
	assert.equal(code, 0);
	const [warning, ...others] = itemsOf(events, 'error');
	assert.match(warning.message, /of-tomorrow/);
	assert.deepEqual(others, []);
	const names = model.requests()[0].body.tools.map((tool) => tool.name);
	for (const name of ['exec_command', 'write_stdin', 'update_plan', 'apply_patch', 'view_image'])
		assert.ok(names.includes(name), `${name} is offered`);
});

test('without a key and a provider, three ways out are named', exec, async (t) => {
	const { code, stdout, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi']);
	assert.equal(code, 1);
	assert.equal(stdout, '');
	for (const way of [/OPENAI_API_KEY/, /codex login --with-api-key/, /--oss/, /config\.toml/]) assert.match(stderr, way);
});

// --- the screen -----------------------------------------------------------------------------------------------------

test('--color decides, and no escape sequence of the model gets through', exec, async (t) => {
	const model = await startModel(t, [forever(reply({ reasoning: 'red \x1b[31m' }, { message: 'plain' }))]);
	const [always, never, unsaid] = await Promise.all([['--color', 'always'], ['--color=never'], []]
		.map((args) => codexExec(t, model, [...args, 'hi'])));
	assert.match(always.stderr, /\x1b\[3\dmcodex\x1b\[0m/);
	assert.ok(!always.stderr.includes('red \x1b[31m'));
	for (const { stderr, stdout } of [never, unsaid]) {
		assert.ok(!stderr.includes('\x1b'), stderr);
		assert.equal(stdout, 'plain\n');
	}
	const wrong = await codexExec(t, model, ['--color', 'blue', 'hi']);
	assert.equal(wrong.code, 2);
	assert.match(wrong.stderr, /invalid value 'blue' for '--color .*possible values: /s);
});

test('people see the beginning of long texts', exec, async (t) => {
	const model = await startModel(t, [run("head -c 1000000 /dev/zero | tr '\\0' x"), say('ok')]);
	const roomy = ['-c', 'model_context_window=1000000', '-'];
	const { code, stdout, stderr } = await codexExec(t, model, roomy, { input: 'y'.repeat(1_000_000) });
	assert.equal(code, 0);
	assert.equal(stdout, 'ok\n');
	assert.ok(stderr.length < 20_000, `${stderr.length} characters`);
	assert.equal(stderr.match(/… \d+ more bytes/g).length, 2);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1).length, 1_000_000);
});

// --- sessions -------------------------------------------------------------------------------------------------------

test('a session is resumed by its name', exec, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const first = await codexExec(t, model, ['first'], { json: true });
	const { home } = first;
	const id = first.events[0].thread_id;
	const line = { id, thread_name: 'my work', updated_at: new Date().toISOString() };
	fs.writeFileSync(path.join(home, 'session_index.jsonl'), `${JSON.stringify(line)}\n`);
	const second = await codexExec(t, model, ['resume', 'my work', 'second'], { home, json: true });
	assert.equal(second.code, 0);
	assert.equal(second.events[0].thread_id, id);
	assert.deepEqual(textsOf(model.requests()[1], 'assistant'), ['One.']);
});

test('resume continues with calls, outputs and usage, in the same file', exec, async (t) => {
	const usage = { usage: { input_tokens: 100, output_tokens: 10 } };
	const model = await startModel(t, [
		reply({ call: 'exec_command', arguments: { cmd: 'echo from before' }, call_id: 'c1' }, usage),
		reply({ message: 'One.' }, usage), reply({ message: 'Two.' }, usage),
	]);
	const { home, cwd } = await codexExec(t, model, ['first']);
	const [file] = rollouts(home);
	const before = fs.readFileSync(file, 'utf8');
	const { events } = await codexExec(t, model, ['resume', '--last', 'second'], { home, cwd, json: true });
	assert.deepEqual(typesOf(events), ['thread.started', 'turn.started', 'item.completed', 'turn.completed']);
	assert.equal(events.at(-1).usage.input_tokens, 300);
	const { input } = model.requests()[2].body;
	const types = input.filter((item) => item.type !== 'message').map((item) => item.type);
	assert.deepEqual(types, ['function_call', 'function_call_output']);
	assert.ok(fs.readFileSync(file, 'utf8').startsWith(before), 'what was written stays');
	assert.equal(readLines(file).filter((line) => line.type === 'session_meta').length, 1);
});

test('--last looks in this folder only, unless --all', exec, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const first = await codexExec(t, model, ['first'], { json: true });
	const { home } = first;
	const id = first.events[0].thread_id;
	const elsewhere = await codexExec(t, model, ['resume', '--last', 'hi'], { home, json: true });
	assert.equal(elsewhere.code, 0);
	assert.notEqual(elsewhere.events[0].thread_id, id);
	fs.utimesSync(rollouts(home).find((file) => file.includes(id)), new Date(), new Date(Date.now() + 60_000));
	const all = await codexExec(t, model, ['resume', '--last', '--all', 'hi'], { home, json: true });
	assert.equal(all.events[0].thread_id, id);
});

test('a session that is not there is said', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	for (const name of ['0199e9a0-0000-7000-8000-000000000000', 'no such name']) {
		const { code, stderr } = await codexExec(t, model, ['resume', name, 'hi']);
		assert.equal(code, 1);
		assert.ok(stderr.includes(name), stderr);
	}
	assert.equal(model.requests().length, 0);
});

test('an ephemeral session writes nothing and works all the same', exec, async (t) => {
	const model = await startModel(t, [run('true'), say('ok')]);
	const { code, stdout, home } = await codexExec(t, model, ['--ephemeral', 'hi']);
	assert.equal(code, 0);
	assert.equal(stdout, 'ok\n');
	assert.deepEqual(fs.readdirSync(home), ['config.toml']);
});
