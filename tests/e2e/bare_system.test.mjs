// Systems that lack something: no /proc, a plain chroot. The release build, because AddressSanitizer needs /proc.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, launch, makeHome, tempDir } from './lib/codex.mjs';

const program = process.env.CODEX_PLAIN_BIN ?? fileURLToPath(new URL('../../build/codex', import.meta.url));
const canUnshare = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
const skip = !canUnshare ? 'user name spaces are forbidden here' : !fs.existsSync(program) && `there is no ${program}`;

/** The report of `codex doctor` after this preparation in a mount name space of its own. */
async function doctor(t, preparation) {
	const home = makeHome(t, null);
	const run = launch(t, 'unshare', ['-Urm', 'sh', '-euc', `${preparation} "$@"`, 'sh', program, 'doctor'],
		{ cwd: home, env: cleanEnv(home) });
	run.child.stdin.end();
	return (await run.done).stdout;
}

test('without /proc the advice is to mount it', { skip }, async (t) => {
	const text = await doctor(t, 'mount -t tmpfs none /proc; exec');
	assert.match(text, /mount -t proc proc \/proc/);
	assert.doesNotMatch(text, /install bubblewrap/);
});

test('in a chroot the advice names it', { skip }, async (t) => {
	const dir = tempDir(t, 'root');
	const folders = ['usr', 'lib', 'lib64', 'bin', 'etc', 'tmp', 'dev', 'proc', 'sys', path.dirname(program).slice(1)]
		.filter((name) => fs.existsSync(`/${name}`));
	for (const name of folders) fs.mkdirSync(path.join(dir, name), { recursive: true });
	const binds = folders.map((name) => `mount --rbind /${name} ${dir}/${name};`).join(' ');
	const text = await doctor(t, `${binds} exec chroot ${dir}`);
	assert.match(text, /you are in a chroot/);
	assert.doesNotMatch(text, /install bubblewrap/);
});
