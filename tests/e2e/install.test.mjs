// `./dev install PREFIX` leaves a library that programs find, or says what is missing. The compilers and ldconfig are replaced
// by scripts, so that nothing is built and the system's own cache stays as it is.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const HINT = 'programs that use the library do not find it yet';

/** Runs a copy of ./dev install for this user, on a system whose loader searches these folders. */
function install(t, { uid, searched, prefix, destdir, files = [] }) {
	const dir = tempDir(t, 'dev');
	const calls = path.join(dir, 'calls');
	const cache = path.join(dir, 'cache');
	const script = (name, body) => fs.writeFileSync(path.join(dir, 'bin', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
	fs.mkdirSync(path.join(dir, 'bin'));
	fs.writeFileSync(cache, '');
	fs.writeFileSync(calls, '');
	for (const name of ['meson', 'ninja', 'pkg-config', 'apt-get', 'sudo', 'bwrap']) script(name, 'exit 0');
	const log = ['# a comment', ...files].map((line) => `echo '${line.replace(/\/$/, '')}' >>build/meson-logs/install-log.txt`).join('; ');
	const copies = files.filter((file) => !/^\/nonexistent|\/$/.test(file))
		.map((file) => `mkdir -p '${path.dirname(file)}' && : >'${file}'`).join('; ') || ':';
	script('meson', `case $1 in
setup) mkdir -p "$2" && : >"$2/build.ninja" ;;
install) mkdir -p build/meson-logs && rm -f build/meson-logs/install-log.txt; ${log}; ${copies} ;;
esac`);
	script('id', `echo ${uid}`);
	script('ldconfig', `echo "ldconfig $*" >>${calls}
case $1 in -p) cat ${cache} ;; *) for folder in ${searched}; do echo "	libcodex.so.0 (libc6) => $folder/libcodex.so.0" >>${cache}; done ;; esac`);
	fs.copyFileSync(path.join(root, 'dev'), path.join(dir, 'dev'));
	const env = { PATH: `${path.join(dir, 'bin')}:${process.env.PATH}`, TMPDIR: dir, ...(destdir && { DESTDIR: destdir }) };
	const { status, stderr } = spawnSync('sh', [path.join(dir, 'dev'), 'install', prefix], { encoding: 'utf8', env });
	assert.equal(status, 0, stderr);
	const uninstall = (from) => spawnSync('sh', [path.join(dir, 'dev'), 'uninstall', from], { encoding: 'utf8', env });
	return { stderr, uninstall, calls: fs.readFileSync(calls, 'utf8').trim().split('\n') };
}

test('root registers the library, and there is nothing to say', (t) => {
	const { stderr, calls } = install(t, { uid: 0, searched: '/usr/local/lib', prefix: '/usr/local' });
	assert.equal(calls[0], 'ldconfig ');
	assert.ok(!stderr.includes(HINT), stderr);
});

test('if the loader does not search the folder, the installer prints advice', (t) => {
	for (const user of [{ uid: 0, searched: '/usr/local/lib' }, { uid: 1000, searched: '/opt/codex/lib' }]) {
		const { stderr, calls } = install(t, { ...user, prefix: '/opt/codex' });
		assert.equal(calls.includes('ldconfig '), user.uid === 0);
		assert.ok(stderr.includes(HINT), stderr);
		assert.ok(stderr.includes('LD_LIBRARY_PATH=/opt/codex/lib'), stderr);
		assert.ok(stderr.includes('echo /opt/codex/lib >/etc/ld.so.conf.d/codex.conf && ldconfig'), stderr);
	}
});

test('a staged installation touches nothing of the system', (t) => {
	const { stderr, calls } = install(t, { uid: 0, searched: '/usr/local/lib', prefix: '/usr', destdir: '/tmp/stage' });
	assert.deepEqual(calls, ['']);
	assert.ok(!stderr.includes(HINT), stderr);
});

test('the systemd units are valid', (t) => {
	const dir = tempDir(t, 'units');
	const read = (name) => fs.readFileSync(path.join(root, 'packaging/systemd', name), 'utf8');
	const service = read('codex-app-server.service.in').replace('@program@', '/bin/true'); // which must exist
	fs.writeFileSync(path.join(dir, 'codex-app-server.service'), service);
	fs.writeFileSync(path.join(dir, 'codex-app-server.socket'), read('codex-app-server.socket'));
	const files = fs.readdirSync(dir).map((name) => path.join(dir, name));
	const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', ...files],
		{ encoding: 'utf8', env: { ...process.env, XDG_RUNTIME_DIR: dir } });
	if (error) return t.skip('systemd-analyze is not installed');
	assert.equal(status, 0, stderr);
	assert.equal(stderr, '');
});

test('uninstall removes files and empty folders of the installation below the prefix, and nothing else', (t) => {
	const prefix = path.join(tempDir(t), "it's here");
	const shown = prefix.replaceAll("'", "'\\''");
	const at = (name) => path.join(prefix, name);
	fs.mkdirSync(at('bin'), { recursive: true });
	fs.mkdirSync(at('share/doc/codex'), { recursive: true });
	fs.writeFileSync(at('bin/other'), '');
	fs.writeFileSync(at('share/doc/codex/notes'), 'mine');
	const files = ['bin/codex', 'include/codex/codex.h', 'share/man/man1/codex.1', 'share/doc/codex/THIRD-PARTY'];
	const folders = ['include/codex', 'include', 'share/doc/codex', 'share/man/man1', 'share/man', 'share', '']; // as meson lists them
	const { uninstall } = install(t, { uid: 1000, searched: '/usr/local/lib', prefix, files: [
		...[...files, ...folders.map((name) => `${name}/`)].map((name) => `${shown}/${name}`), '/nonexistent/elsewhere'] });
	for (const name of files) assert.ok(fs.existsSync(at(name)), name);

	const elsewhere = uninstall('/opt/other');
	assert.equal(elsewhere.status, 1);
	assert.match(elsewhere.stderr, /nothing of build\/installed is below \/opt\/other/);
	const { status, stderr } = uninstall(prefix);
	assert.deepEqual([status, stderr], [0, `dev: removed 4 files below ${prefix}\n`]);
	for (const name of files) assert.ok(!fs.existsSync(at(name)), name);
	for (const name of ['include', 'share/man']) assert.ok(!fs.existsSync(at(name)), name);
	for (const name of ['bin/other', 'share/doc/codex/notes']) assert.ok(fs.existsSync(at(name)), name);
	assert.equal(uninstall(prefix).status, 1);
});
