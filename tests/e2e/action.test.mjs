// The GitHub Action of packaging/action: its scripts run here as the runner would run them.

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { cleanEnv, codexBin, launch, makeHome, httpError, run, say, startModel, tempDir } from './lib/codex.mjs';

const action = fileURLToPath(new URL('../../packaging/action', import.meta.url));

/** Runs one script with these variables; resolves to its end and its outputs as {name: text}. */
async function step(t, script, home, env) {
	const output = path.join(tempDir(t, 'runner'), 'output');
	fs.writeFileSync(output, '');
	const runner = { RUNNER_TEMP: path.dirname(output), GITHUB_OUTPUT: output, GITHUB_ENV: path.join(path.dirname(output), 'env') };
	const started = launch(t, 'sh', [path.join(action, script)],
		{ cwd: tempDir(t, 'cwd'), env: { ...cleanEnv(home), ...runner, ...env } });
	started.child.stdin.end();
	const ended = await started.done;
	const outputs = {};
	for (const [, name, , text, plain] of fs.readFileSync(output, 'utf8').matchAll(/^([a-z-]+)(?:<<(\S+)\n(.*?)\n\2|=([^\n]*))$/gms))
		outputs[name] = text ?? plain;
	return { ...ended, outputs };
}

const runEnv = (prompt) => ({ CODEX_ACTION_PROGRAM: codexBin, CODEX_ACTION_PROMPT: prompt,
	CODEX_ACTION_SANDBOX: 'danger-full-access', CODEX_ACTION_MODEL: '' });

test('the prompt reaches the model unchanged, and the last message becomes an output', async (t) => {
	const message = 'Two\nlines, final-message<<x and $(id).';
	const model = await startModel(t, [run('env'), say(message)]);
	const home = makeHome(t, model);
	const prompt = '$(touch injected) `id` "quoted" ; exit 3\nsecond line';
	const { code, stdout, stderr, outputs } = await step(t, 'run.sh', home, runEnv(prompt));
	assert.equal(code, 0, stderr);
	assert.equal(outputs['final-message'], message);
	const [first, second] = model.requests();
	assert.ok(JSON.stringify(first.body.input).includes(JSON.stringify(prompt).slice(1, -1)));
	const seen = JSON.stringify(second.body.input);
	for (const name of ['GITHUB_OUTPUT', 'GITHUB_ENV', 'CODEX_ACTION_']) assert.ok(!seen.includes(`${name}`), name);
	const [, token] = /^::stop-commands::([0-9a-f]{32})$/m.exec(stdout);
	assert.ok(stdout.endsWith(`::${token}::\n`), 'the runner reads commands again after the events');
	assert.deepEqual(fs.readdirSync(path.join(home)).filter((name) => name === 'sessions'), [], 'nothing is recorded');
});

test('a turn that fails fails the step', async (t) => {
	const home = makeHome(t, await startModel(t, [httpError(400, { error: { message: 'bad request of a test' } })]));
	const { code, stdout } = await step(t, 'run.sh', home, runEnv('hi'));
	assert.equal(code, 1);
	assert.match(stdout, /bad request of a test/);
});

/** A tarball as ./dev package makes it, with a script in place of the program. */
function tarball(t, name = 'bin/codex') {
	const dir = tempDir(t, 'release');
	fs.mkdirSync(path.dirname(path.join(dir, 'codex-0.1.0', name)), { recursive: true });
	fs.writeFileSync(path.join(dir, 'codex-0.1.0', name), '#!/bin/sh\necho it runs\n', { mode: 0o755 });
	const file = path.join(dir, 'codex.tar.xz');
	assert.equal(spawnSync('tar', ['cJf', file, '-C', dir, 'codex-0.1.0']).status, 0);
	return { url: pathToFileURL(file).href, sha256: crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex') };
}

const lacks = ['curl', 'xz'].find((name) => spawnSync(name, ['--version']).error);
const skip = lacks ? `${lacks} is not installed` : false;

test('a tarball with the right digest is installed', { skip }, async (t) => {
	const { url, sha256 } = tarball(t);
	const env = { CODEX_ACTION_VERSION: '0.1.0', CODEX_ACTION_SHA256: sha256, CODEX_ACTION_URL: url, CODEX_ACTION_REPOSITORY: 'o/r' };
	const { code, stdout, stderr, outputs } = await step(t, 'install.sh', '/', env);
	assert.equal(code, 0, stderr);
	assert.equal(stdout, 'it runs\n');
	assert.match(outputs.program, /\/bin\/codex$/);
});

test('the tarball codex-fleet is unpacked over the first, if its digest is given', { skip }, async (t) => {
	const first = tarball(t), second = tarball(t, 'libexec/codex/codex-fleet');
	const env = (sha256) => ({ CODEX_ACTION_VERSION: '0.1.0', CODEX_ACTION_SHA256: first.sha256, CODEX_ACTION_URL: first.url,
		CODEX_ACTION_REPOSITORY: 'o/r', CODEX_ACTION_FLEET_SHA256: sha256, CODEX_ACTION_FLEET_URL: second.url });
	const { code, stderr, outputs } = await step(t, 'install.sh', '/', env(second.sha256));
	assert.equal(code, 0, stderr);
	assert.ok(fs.existsSync(path.join(path.dirname(outputs.program), '../libexec/codex/codex-fleet')));
	const refused = await step(t, 'install.sh', '/', env(first.sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))));
	assert.deepEqual([refused.code, refused.outputs], [1, {}]);
});

test('a tarball with another digest is refused and not unpacked', { skip }, async (t) => {
	const { url } = tarball(t);
	const env = { CODEX_ACTION_VERSION: '0.1.0', CODEX_ACTION_SHA256: '0'.repeat(64), CODEX_ACTION_URL: url, CODEX_ACTION_REPOSITORY: 'o/r' };
	const { code, stdout, stderr, outputs } = await step(t, 'install.sh', '/', env);
	assert.equal(code, 1);
	assert.match(stderr, /does not have the SHA-256 0{64}/);
	assert.equal(stdout, '');
	assert.deepEqual(outputs, {});
});

test('action.yml is valid, and no input becomes part of a script', (t) => {
	const file = path.join(action, 'action.yml');
	const script = 'import json,sys,yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))';
	const { status, stdout } = spawnSync('python3', ['-c', script, file], { encoding: 'utf8' });
	if (status !== 0) return t.skip('python3-yaml is not installed');
	const { inputs, outputs, runs } = JSON.parse(stdout);
	assert.equal(runs.using, 'composite');
	for (const { run: script_, shell } of runs.steps) {
		assert.doesNotMatch(script_, /\$\{\{/);
		assert.equal(shell, 'sh');
		const [, name] = /^sh "\$GITHUB_ACTION_PATH\/(\S+)"$/.exec(script_);
		assert.ok(fs.existsSync(path.join(action, name)));
	}
	const keys = runs.steps.filter((one) => JSON.stringify(one).includes('inputs.api-key'));
	assert.deepEqual(keys.map((one) => one.id), ['run']);
	const used = new Set([...JSON.stringify(runs).matchAll(/inputs\.([a-z0-9-]+)/g)].map(([, name]) => name));
	assert.deepEqual([...used].sort(), Object.keys(inputs).sort());
	assert.deepEqual(Object.keys(outputs), ['final-message']);
	const readme = fs.readFileSync(path.join(action, 'README.md'), 'utf8');
	for (const name of Object.keys(inputs)) assert.match(readme, new RegExp(`^\\|.*\`${name}\`.*\\|`, 'm'));
});
