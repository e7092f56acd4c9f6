// The examples in the documents use options that exist and valid configuration.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexBin, needs, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const documents = ['README.md', 'SECURITY.md', ...fs.readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`)]
	.filter((name) => name.endsWith('.md'));
const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');
const blocks = (text, language) =>
	[...text.matchAll(new RegExp('^```' + language + '\\n(.*?)^```', 'gms'))].map((match) => match[1]);

const exec = needs('exec');

test('options that the documents name exist', exec, () => {
	const help = spawnSync(codexBin, ['exec', '--help'], { encoding: 'utf8' }).stdout;
	for (const name of documents)
		for (const [command] of read(name).matchAll(/codex exec\b[^\n`]*/g))
			for (const [option] of command.matchAll(/--[a-z][a-z-]+/g))
				assert.ok(help.includes(option), `${name}: codex exec has no ${option}`);
});

test('the README repeats the measurements', () => {
	const [, ours, memory, theirs, their_memory] = read('docs/PERFORMANCE.md')
		.match(/^\| exec "hi", with children \| ([\d.]+) ms \| ([\d.]+) MB \| .*? ms \| .*? MB \| ([\d.]+) ms \| ([\d.]+) MB /m).map(Number);
	const said = read('README.md').replaceAll('\n', ' ')
		.match(/about (\d+) ms of CPU and (\d+) MB of memory for .*? takes (\d+) ms and (\d+) MB/).slice(1).map(Number);
	for (const [index, measured] of [ours, memory, theirs, their_memory].entries())
		assert.ok(Math.abs(said[index] - measured) <= Math.max(0.5, measured * 0.1), `${said[index]} of ${measured}`);
});

test('the configuration of the README works as it stands', exec, async (t) => {
	const [config] = blocks(read('README.md'), 'toml');
	const model = await startModel(t, [say('Read.')]);
	const home = tempDir(t, 'home');
	const example = /^base_url = ".*"$/m;
	assert.match(config, example);
	fs.writeFileSync(path.join(home, 'config.toml'), config.replace(example, `base_url = "${model.url}"`));
	const { code, stdout, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'],
		{ home, env: { MY_KEY: 'k-1' } });
	assert.equal(code, 0, stderr);
	assert.equal(stdout, 'Read.\n');
	assert.doesNotMatch(stderr, /^warning: /m);
	const [request] = model.requests();
	assert.equal(request.body.model, 'my-model');
	assert.ok(request.headers.authorization);
});
