// libcodex as an embedder uses it: installed, found by pkg-config, used from C and from Python, without a sanitizer.
//
// The library is that of the release build in $CODEX_LIBRARY_BUILD, or build/; ./dev test makes it first.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, expecting, launch, makeHome, run, say, startModel, tempDir, waitFor } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const build = path.resolve(process.env.CODEX_LIBRARY_BUILD ?? path.join(root, 'build'));
const skip = !fs.existsSync(path.join(build, 'libcodex.so')) && `${build} has no libcodex.so: run ./dev build`;

function must(command, args, env) {
	const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env });
	assert.equal(status, 0, `${command}: ${error ?? stderr}${stdout}`);
	return stdout;
}

/** Installs into a new folder; returns the flags and variables to build and run a program with it. */
function install(t) {
	const dest = tempDir(t, 'install');
	must('meson', ['install', '-C', build, '--no-rebuild', '--quiet', '--destdir', dest], process.env);
	const pc = fs.readdirSync(dest, { recursive: true }).find((name) => name.endsWith('pkgconfig/codex.pc'));
	assert.ok(pc, 'codex.pc is installed');
	const folder = path.dirname(path.join(dest, pc));
	const env = { ...process.env, PKG_CONFIG_PATH: folder, PKG_CONFIG_SYSROOT_DIR: dest };
	const flags = must('pkg-config', ['--cflags', '--libs', 'codex'], env).trim().split(/\s+/);
	return { dest, flags, env, libraries: path.dirname(folder) };
}

/** Runs an example against a model that calls a command; `answer` is the user's decision. */
async function converse(t, libraries, command, answer, outcome) {
	const model = await startModel(t, [run('touch made; echo done', { call_id: 'c1' }),
		expecting({ path: { 'input.-1.output': outcome } }, say('All is well.'))]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"');
	const cwd = tempDir(t, 'cwd');
	const env = cleanEnv(home, { LD_LIBRARY_PATH: libraries });
	const program = launch(t, command[0], [...command.slice(1), 'make a file'], { cwd, env });
	await waitFor(program.child.stdout, () => program.result.stdout, (text) => text.includes('Allow this? (y/n) '));
	assert.ok(!fs.existsSync(path.join(cwd, 'made')), 'nothing runs before the answer');
	program.child.stdin.end(answer + '\n');
	const { code, stdout, stderr } = await program.done;
	assert.equal(code, 0, stderr);
	assert.match(stdout, /touch made/);
	assert.match(stdout, /All is well\.\n$/);
	assert.equal((await model.stop()).code, 0);
	return fs.existsSync(path.join(cwd, 'made'));
}

/** The output and exit status of an example without a model. */
function failsToBegin(t, libraries, command) {
	const env = cleanEnv(tempDir(t, 'home'), { LD_LIBRARY_PATH: libraries });
	const options = { encoding: 'utf8', env, cwd: tempDir(t, 'cwd'), timeout: 20000 };
	const { status, stderr } = spawnSync(command[0], command.slice(1), options);
	assert.equal(status, 1, stderr);
	assert.match(stderr, /OPENAI_API_KEY/);
}

test('the C example builds with the flags of pkg-config and answers an approval', { skip }, async (t) => {
	const { flags, libraries } = install(t);
	const program = path.join(tempDir(t, 'cc'), 'prompt');
	must(process.env.CC ?? 'cc', ['-std=c99', '-pedantic', '-Wall', '-Wextra', '-Werror',
		path.join(root, 'examples/prompt.c'), ...flags, '-o', program], process.env);
	assert.equal(await converse(t, libraries, [program], 'y', 'done'), true);
	assert.equal(await converse(t, libraries, [program], 'n', 'reject'), false);
	failsToBegin(t, libraries, [program]);
});

test('the Python example needs nothing but the library', { skip }, async (t) => {
	const { libraries } = install(t);
	const command = ['python3', '-u', path.join(root, 'examples/prompt.py')];
	assert.equal(await converse(t, libraries, command, 'y', 'done'), true);
	assert.equal(await converse(t, libraries, command, 'n', 'reject'), false);
	failsToBegin(t, libraries, command);
});

test('one header is installed, and it is C99 and C++', { skip }, (t) => {
	const { dest, flags } = install(t);
	const headers = fs.readdirSync(dest, { recursive: true }).filter((name) => name.endsWith('.h'));
	assert.deepEqual(headers.map((name) => path.basename(name)), ['codex.h']);
	const source = path.join(tempDir(t, 'cc'), 'use.c');
	fs.writeFileSync(source, '#include <codex/codex.h>\nint main(void) { return codex_version()[0] == 0; }\n');
	const strict = ['-pedantic', '-Wall', '-Wextra', '-Werror', '-c', source, '-o', '/dev/null', ...flags];
	must(process.env.CC ?? 'cc', ['-std=c99', ...strict], process.env);
	const hasCxx = spawnSync(process.env.CC ?? 'cc', ['-x', 'c++', '-fsyntax-only', '/dev/null']).status === 0;
	if (hasCxx) must(process.env.CC ?? 'cc', ['-x', 'c++', '-std=c++11', ...strict], process.env);
	else t.diagnostic('there is no C++ compiler here');
});

test('the examples stay short', () => {
	for (const name of ['prompt.c', 'prompt.py']) {
		const lines = fs.readFileSync(path.join(root, 'examples', name), 'utf8').split('\n').length - 1;
		assert.ok(lines < 64, `${name} has ${lines} lines`);
	}
});
