// Memory that LeakSanitizer does not report, because it checks before the exit handlers of libraries run: valgrind, on the release build.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, launch, makeHome, say, startModel, tempDir } from './lib/codex.mjs';

const program = process.env.CODEX_PLAIN_BIN ?? fileURLToPath(new URL('../../build/codex', import.meta.url));
const hasValgrind = spawnSync('valgrind', ['--version']).status === 0;
const skip = !hasValgrind ? 'valgrind is not installed' : !fs.existsSync(program) && `there is no ${program}`;

test('a turn loses no memory, that of the libraries included', { skip }, async (t) => {
	const home = makeHome(t, await startModel(t, [say('Hello.')]));
	const log = path.join(tempDir(t, 'log'), 'valgrind');
	const args = ['--leak-check=full', '--errors-for-leak-kinds=definite', '--error-exitcode=99', `--log-file=${log}`, program,
		'exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'hi'];
	const run = launch(t, 'valgrind', args, { cwd: tempDir(t, 'cwd'), env: cleanEnv(home) });
	run.child.stdin.end();
	const { code, stdout } = await run.done;
	assert.equal(code, 0, fs.readFileSync(log, 'utf8'));
	assert.equal(stdout, 'Hello.\n');
});
