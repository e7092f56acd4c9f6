// `./dev package`: paths on standard output and nothing else, status 1 with the reason when a package cannot be made, and
// the comparison of two builds. The programs that make packages are replaced by scripts.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A checkout with these programs in tools/. */
function checkout(t, tools) {
	const dir = tempDir(t, 'checkout');
	fs.mkdirSync(path.join(dir, 'tools'));
	fs.mkdirSync(path.join(dir, 'bin'));
	const script = (name, body) => fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
	for (const [name, body] of Object.entries(tools)) script(`tools/${name}`, body);
	// Commands that this machine may lack, so that nothing is installed.
	for (const name of ['apt-get', 'sudo', 'meson', 'ninja', 'pkg-config', 'bwrap', 'dh', 'lintian', 'dpkg-buildpackage',
		'aarch64-linux-gnu-gcc', 'musl-gcc', 'cmake', 'dpkg-source', 'qemu-aarch64-static']) script(`bin/${name}`, 'exit 0');
	const env = { ...process.env, PATH: `${path.join(dir, 'bin')}:${process.env.PATH}`, TMPDIR: tempDir(t, 'tmp') };
	return { dir, script, run: (...command) => spawnSync('sh', command, { cwd: dir, encoding: 'utf8', env }) };
}

function door(t, tools, ...args) {
	const { dir, run } = checkout(t, tools);
	fs.copyFileSync(path.join(root, 'dev'), path.join(dir, 'dev'));
	return run('dev', 'package', ...args);
}

const makes = (name) => `echo noise >&2; echo "$1/${name}"`;

test('package all prints the paths of every package and nothing else on standard output', (t) => {
	const tools = { 'package-deb': makes('a.deb'), 'package-tarball': makes('b.tar.xz'), 'package-npm': makes('c.tgz'),
		'package-musl': makes('d.tar.xz') };
	const { status, stdout } = door(t, tools, 'all');
	assert.equal(status, 0);
	assert.equal(stdout, 'build/packages/a.deb\nbuild/packages/b.tar.xz\nbuild/packages/c.tgz\nbuild/packages/d.tar.xz\n');
});

test('a package that cannot be made ends the command with status 1 and the reason', (t) => {
	const fails = 'echo "package-tarball: xz is missing: install xz-utils" >&2; exit 1';
	const tools = { 'package-deb': makes('a.deb'), 'package-tarball': fails, 'package-npm': makes('c.tgz') };
	const { status, stdout, stderr } = door(t, tools, 'all');
	assert.equal(status, 1);
	assert.equal(stdout, 'build/packages/a.deb\n');
	assert.match(stderr, /xz is missing: install xz-utils\ndev: the package tarball was not made/);
});

test('an unknown kind is refused with the kinds that exist', (t) => {
	for (const args of [[], ['rpm']]) {
		const { status, stdout, stderr } = door(t, {}, ...args);
		assert.deepEqual([status, stdout], [1, '']);
		assert.match(stderr, /package expects deb, tarball, npm, musl, all, check or compare/);
	}
});

/** Compares two builds of a checkout whose tarball has this content. */
function compare(t, content) {
	const { dir, script, run } = checkout(t, {
		'package-deb': 'echo same >"$1/a.deb"', 'package-tarball': `echo ${content} >"$1/b.tar.xz"`, 'package-npm': ':' });
	for (const name of ['package-env', 'check-reproducible'])
		fs.copyFileSync(path.join(root, 'tools', name), path.join(dir, 'tools', name));
	fs.writeFileSync(path.join(dir, 'meson.build'), "project('codex', 'c',\n  version: '1.0',\n)\n");
	fs.writeFileSync(path.join(dir, 'CHANGELOG.md'), '## [1.0] - 2026-01-01\n');
	script('dev', 'mkdir build; for name in codex libcodex.a libcodex.so; do echo $name >build/$name; done');
	assert.equal(spawnSync('git', ['init', '--quiet', dir]).status, 0);
	return run('tools/check-reproducible');
}

test('the comparison of two builds prints a digest for each equal file', (t) => {
	const { status, stdout, stderr } = compare(t, 'same');
	assert.equal(status, 0, stderr);
	assert.deepEqual(stdout.match(/(?<=  ).*$/gm), ['a.deb', 'b.tar.xz', 'codex', 'libcodex.a', 'libcodex.so']);
});

test('the comparison of two builds names a file with the folder, time zone or umask in it', (t) => {
	for (const content of ['$PWD', '$TZ', '$(umask)']) {
		const { status, stdout, stderr } = compare(t, content);
		assert.deepEqual([status, stdout], [1, '']);
		assert.match(stderr, /b\.tar\.xz.* differ\n/);
	}
});

test('the Debian packages depend on each opened library as its priority asks', () => {
	const table = fs.readFileSync(path.join(root, 'src/base/dependency.def'), 'utf8');
	const rows = [...table.matchAll(/^LOADED\(\w+, "[^"]+", "([^"]+)".*, "(\w+)"\)$/gm)];
	assert.equal(rows.length, table.match(/^LOADED\(/gm).length);
	const field = { required: 'Depends', recommended: 'Recommends', suggested: 'Suggests' };
	const control = fs.readFileSync(path.join(root, 'packaging/debian/control'), 'utf8');
	for (const name of ['codex-c', 'libcodex0']) {
		const paragraph = control.split('\n\n').find((text) => text.startsWith(`Package: ${name}\n`));
		for (const [, library, priority] of rows) {
			const list = paragraph.match(new RegExp(`^${field[priority]}:\\n((?: .*\\n)*)`, 'm'))?.[1] ?? '';
			assert.ok(list.includes(` ${library},\n`), `${name} ${field[priority]} ${library}`);
		}
	}
});

test('packages of another version are not checked in place of this one', (t) => {
	const { dir, run } = checkout(t, {});
	fs.copyFileSync(path.join(root, 'tools/check-install'), path.join(dir, 'tools/check-install'));
	fs.writeFileSync(path.join(dir, 'meson.build'), "project('codex', 'c',\n  version: '0.2.0',\n");
	fs.mkdirSync(path.join(dir, 'packaging/debian'), { recursive: true });
	fs.writeFileSync(path.join(dir, 'packaging/debian/changelog'), 'codex-c (0.2.0-1) unstable; urgency=medium\n');
	const cpu = process.arch === 'arm64' ? 'arm64' : 'x64', arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
	const packages = (version) => [...['codex-c', 'libcodex0', 'libcodex-dev'].map((name) => `${name}_${version}-1_${arch}.deb`),
		`codex-${version}-linux-${cpu}.tar.xz`, `codex-c-linux-${cpu}-${version}.tgz`, `codex-c-${version}.tgz`];
	fs.mkdirSync(path.join(dir, 'packages'));
	for (const name of packages('0.1.0')) fs.writeFileSync(path.join(dir, 'packages', name), '');
	const { status, stdout, stderr } = run('tools/check-install', 'packages');
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, new RegExp(`packages has no codex-c_0\\.2\\.0-1_${arch}\\.deb: run \\./dev package all`));
});
