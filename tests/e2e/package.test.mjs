// `./dev package`: paths on standard output and nothing else, status 1 with the reason when a package cannot be made, and
// the comparison of two builds. The programs that make packages are replaced by scripts.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A checkout with these programs in tools/, in a folder with a space. */
function checkout(t, tools) {
	const dir = path.join(tempDir(t, 'checkout'), 'a folder');
	fs.mkdirSync(path.join(dir, 'tools'), { recursive: true });
	fs.mkdirSync(path.join(dir, 'bin'));
	const script = (name, body) => fs.writeFileSync(path.join(dir, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
	for (const [name, body] of Object.entries(tools)) script(`tools/${name}`, body);
	// Commands that this machine may lack, so that nothing is installed.
	for (const name of ['apt-get', 'sudo', 'meson', 'ninja', 'pkg-config', 'bwrap', 'dh', 'lintian', 'dpkg-buildpackage',
		'aarch64-linux-gnu-gcc', 'musl-gcc', 'cmake', 'dpkg-source', 'qemu-aarch64-static', 'ld.lld', 'debootstrap']) script(`bin/${name}`, 'exit 0');
	const env = { ...process.env, PATH: `${path.join(dir, 'bin')}:${process.env.PATH}`, TMPDIR: tempDir(t, 'tmp') };
	return { dir, env, script, run: (...command) => spawnSync('sh', command, { cwd: dir, encoding: 'utf8', env }) };
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

test('a second kind is refused, not ignored', (t) => {
	const { status, stdout, stderr } = door(t, { 'package-deb': makes('a.deb') }, 'deb', 'npm');
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, /package makes one kind or all; "npm" is too much/);
});

test('two commands at once make their packages one after the other', async (t) => {
	// The folder exists while a package is made: a second maker fails.
	const made = 'mkdir making || exit 1; sleep 0.5; echo "$1/a.deb"; rmdir making';
	const { dir, env } = checkout(t, { 'package-deb': made, 'check-install': made });
	fs.copyFileSync(path.join(root, 'dev'), path.join(dir, 'dev'));
	const runs = ['deb', 'check', 'deb'].map((kind) => new Promise((resolve) => {
		execFile('sh', ['dev', 'package', kind], { cwd: dir, env }, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
	}));
	let waited = 0;
	for (const { error, stdout, stderr } of await Promise.all(runs)) {
		assert.equal(error, null, stderr);
		assert.equal(stdout, 'build/packages/a.deb\n');
		waited += stderr.includes('waiting for another ./dev package');
	}
	assert.ok(waited >= 1);
});

/** A checkout that has these programs of tools/ as they are. */
function checkoutWith(t, ...names) {
	const made = checkout(t, {});
	for (const name of names) fs.copyFileSync(path.join(root, 'tools', name), path.join(made.dir, 'tools', name));
	fs.writeFileSync(path.join(made.dir, 'meson.build'), "project('codex', 'c',\n  version: '1.0',\n)\n");
	fs.writeFileSync(path.join(made.dir, 'CHANGELOG.md'), '## [1.0] - 2026-01-01\n');
	return made;
}

test('a folder that cannot be created ends the command with status 1 and the reason', (t) => {
	const { dir, run } = checkoutWith(t, 'package-tarball', 'package-env');
	fs.copyFileSync(path.join(root, 'dev'), path.join(dir, 'dev'));
	fs.writeFileSync(path.join(dir, 'build'), 'a file');
	const { status, stdout, stderr } = run('dev', 'package', 'tarball');
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, /build[^]*(Not a directory|File exists)/);
});

test('without a network the packages for another machine are named, and the next run tries again',
	{ skip: process.arch !== 'x64' && 'only x86_64 cross-compiles' }, (t) => {
		const { dir, script, run } = checkoutWith(t, 'package-tarball', 'package-env');
		script('bin/apt-get', 'echo "Could not resolve the mirror" >&2; exit 100');
		for (let attempt = 0; attempt < 2; attempt++) {
			const { status, stdout, stderr } = run('tools/package-tarball', 'out', 'aarch64');
			assert.deepEqual([status, stdout], [1, '']);
			assert.match(stderr, /Could not resolve the mirror\npackage-tarball: the packages of arm64 cannot be fetched\n$/);
		}
		assert.deepEqual(fs.readdirSync(path.join(dir, 'out')), []);
	});

test('a missing program is named with its package', (t) => {
	const { dir, run } = checkoutWith(t, 'package-tarball', 'package-env');
	const bin = path.join(dir, 'few');
	fs.mkdirSync(bin);
	for (const name of ['sh', 'dirname', 'mkdir', 'mktemp', 'rm', 'sed', 'date', 'uname', 'head', 'git'])
		fs.symlinkSync(spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(), path.join(bin, name));
	const { status, stdout, stderr } = run('-c', 'PATH="$PWD/few" exec tools/package-tarball out');
	assert.deepEqual([status, stdout, stderr], [1, '', 'package-tarball: xz is missing: install xz-utils\n']);
});

/** A checkout with package-npm, whose programs are heads of files for ELF: for this machine, and of this size for the other. */
function npmCheckout(t, size) {
	const made = checkoutWith(t, 'package-npm');
	const [own, other] = process.arch === 'arm64' ? [183, { machine: 62, arch: 'x86_64', cpu: 'x64' }] :
		[62, { machine: 183, arch: 'aarch64', cpu: 'arm64' }];
	const put = (file, data) => {
		fs.mkdirSync(path.join(made.dir, path.dirname(file)), { recursive: true });
		fs.writeFileSync(path.join(made.dir, file), data);
	};
	const program = (machine, length) => {
		const bytes = Buffer.alloc(length);
		bytes.write('\x7fELF', 'latin1');
		bytes[18] = machine;
		return bytes;
	};
	put(`build/portable-${other.arch}/codex`, program(other.machine, size));
	put(`build/sysroot-${other.arch}/usr/share/doc/libuv1-dev/copyright`, 'a licence');
	put('LICENSE', 'a licence');
	put('packaging/npm/codex.js', '');
	put('packaging/npm/README.md', '');
	put('codex', program(own, 64));
	return { ...made, put, other, pack: () => made.run('-c', 'CODEX_PACKAGE_PROGRAM="$PWD/codex" exec tools/package-npm out') };
}

test('a platform package that is too large is not made', (t) => {
	const { other, pack } = npmCheckout(t, 2_600_000);
	const { status, stdout, stderr } = pack();
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, new RegExp(`codex-c-linux-${other.cpu} has 26\\d+ bytes unpacked; the limit is \\d+\n$`));
});

test('the program for another machine is brought up to date before it is packed', (t) => {
	const { dir, script, put, other, pack } = npmCheckout(t, 64);
	put(`build/portable-${other.arch}/build.ninja`, '');
	script('bin/ninja', 'echo "$*" >>ninja.log');
	script('tools/check-binary', 'echo "$*" >>check.log');
	const { status, stdout, stderr } = pack();
	assert.equal(status, 0, stderr);
	assert.match(stdout, new RegExp(`codex-c-linux-${other.cpu}-1\\.0\\.tgz\n`));
	const names = ['codex', 'libcodex.a', 'codex-fleet', 'codex-code-mode-host', 'codex-code-mode-lock.so'];
	const folder = path.join(fs.realpathSync(dir), 'build', `portable-${other.arch}`);
	assert.equal(fs.readFileSync(path.join(dir, 'ninja.log'), 'utf8'), `-C ${folder} ${names.join(' ')}\n`);
	assert.equal(fs.readFileSync(path.join(dir, 'check.log'), 'utf8'), `${names.map((name) => path.join(folder, name)).join(' ')}\n`);
});

test('a program that fails the checks of releases is not packed', (t) => {
	const { script, put, other, pack } = npmCheckout(t, 64);
	put(`build/portable-${other.arch}/build.ninja`, '');
	script('bin/ninja', '');
	script('tools/check-binary', 'echo "not ok 1 - codex binds at start"; exit 1');
	const { status, stdout, stderr } = pack();
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, /not ok 1 - codex binds at start\npackage-npm: .*check-binary .* failed/);
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

test('the comparison of two builds names a file with the folder, time zone, umask or time of the source in it', (t) => {
	for (const content of ['$PWD', '$TZ', '$(umask)', '$(stat -c %Y meson.build)', '$(stat -c %a meson.build)']) {
		const { status, stdout, stderr } = compare(t, content);
		assert.deepEqual([status, stdout], [1, '']);
		assert.match(stderr, /b\.tar\.xz.* differ\n/);
	}
});

test('a folder that is no repository is refused by those who copy the source', (t) => {
	const { dir, env } = checkoutWith(t, 'package-env', 'package-deb', 'check-reproducible');
	fs.mkdirSync(path.join(dir, 'packaging/debian'), { recursive: true });
	fs.writeFileSync(path.join(dir, 'packaging/debian/changelog'),
		'codex-c (1.0-1) unstable; urgency=medium\n\n  * One.\n\n -- A <a@example.com>  Thu, 01 Jan 2026 00:00:00 +0000\n');
	for (const command of [['tools/package-deb', 'out'], ['tools/check-reproducible']]) {
		const { status, stdout, stderr } = spawnSync('sh', command, { cwd: dir, encoding: 'utf8', env });
		assert.deepEqual([status, stdout], [1, '']);
		assert.match(stderr, /git cannot list the files of this folder: packages are made in a clone of the repository\n$/);
	}
});

/** Runs a line of shell with the functions of package-env. */
function withFunctions(t, line, programs = {}) {
	const made = checkoutWith(t, 'package-env');
	for (const [name, body] of Object.entries(programs)) made.script(`bin/${name}`, body);
	assert.equal(spawnSync('git', ['init', '--quiet', made.dir]).status, 0);
	fs.mkdirSync(path.join(made.dir, 'folder'));
	return { dir: made.dir, ...made.run('-c', `set -eu; . tools/package-env; work=$PWD/bin; ${line}`) };
}

test('what packages are made of has their time, not that of the checkout', (t) => {
	const odd = ['-v', ' blank ', 'ä'];
	const { dir, status, stderr } = withFunctions(t, `for name in -v ' blank ' ä; do : >"./$name"; done; copy_source copy`);
	assert.equal(status, 0, stderr);
	for (const name of odd) assert.ok(fs.existsSync(path.join(dir, 'copy', name)), name);
	for (const file of ['meson.build', 'tools/package-env'])
		assert.equal(fs.statSync(path.join(dir, 'copy', file)).mtimeMs, Date.UTC(2026, 0, 1), file);
});

test('a tar that fails ends the making of a package, even if it has written something', (t) => {
	for (const line of ['copy_source copy', 'pack . folder packed.tar.xz']) {
		const { status, stderr } = withFunctions(t, `${line}; echo on >&2`, { tar: 'for file; do :; done; : >bin/pack.tar; exit 2' });
		assert.equal(status, 1, stderr);
		assert.match(stderr, /: (tar cannot pack folder|the source cannot be copied); see above\n$/);
	}
});

test('the programs of libexec are packed apart, in the folders of an installation', (t) => {
	const line = (folder) => 'out=$PWD; name=codex; echo licence >LICENSE; mkdir -p "$work/pack/codex/libexec/codex"; ' +
		`echo program >"$work/pack/codex/libexec/codex/codex-fleet"; mv "$work/pack/codex" "$work/pack/${folder}"; make_part x64 LICENSE`;
	const { dir, status, stdout, stderr } = withFunctions(t, line('codex/.').replace(/mv [^;]*; /, ''));
	assert.equal(status, 0, stderr);
	assert.match(stdout, /^\S.*\/codex-fleet-1\.0-linux-x64\.tar\.xz\n$/);
	const list = spawnSync('tar', ['-tJf', stdout.trim()], { encoding: 'utf8', cwd: dir }).stdout;
	assert.deepEqual(list.split('\n').filter((name) => name && !name.endsWith('/')).sort(),
		['LICENSE', 'THIRD-PARTY', 'libexec/codex/codex-fleet'].map((name) => `codex-fleet-1.0-linux-x64/${name}`));
	assert.deepEqual(fs.readdirSync(path.join(dir, 'bin/pack/codex')), []);
	const missing = withFunctions(t, line('another'));
	assert.equal(missing.status, 1);
	assert.match(missing.stderr, /codex-fleet was not built; see above\n$/);
});

test('the Debian packages need the glibc that reads their relocations', () => {
	const control = fs.readFileSync(path.join(root, 'packaging/debian/control'), 'utf8');
	const build = fs.readFileSync(path.join(root, 'meson.build'), 'utf8');
	const [, major, minor] = build.match(/__GLIBC_PREREQ\((\d+), (\d+)\)/);
	const rules = fs.readFileSync(path.join(root, 'packaging/debian/rules'), 'utf8');
	assert.ok(rules.includes(`-Vrelr:Depends='libc6 (>= ${major}.${minor})'`), rules);
	for (const name of ['codex-c', 'libcodex0']) {
		const depends = control.split(`Package: ${name}\n`)[1].match(/^Depends:\n((?: .*\n)*)/m)[1];
		assert.ok(depends.includes(' ${relr:Depends},\n'), depends);
	}
});

test('each document that help, pages and messages refer to is installed', () => {
	const build = fs.readFileSync(path.join(root, 'meson.build'), 'utf8');
	const installed = new Set(build.match(/install_data\('docs\/[^)]*\)/)[0].match(/docs\/[\w-]+\.md/g));
	const seen = new Set();
	for (const folder of ['src', 'man']) {
		for (const file of fs.readdirSync(path.join(root, folder), { recursive: true })) {
			if (!/\.(c|h|def|roff|md)$/.test(file)) continue;
			const text = fs.readFileSync(path.join(root, folder, file), 'utf8').replace(/\/\*[^]*?\*\//g, '');
			for (const [name] of text.matchAll(/docs\/[a-z][\w-]*\.md/g)) {
				assert.ok(installed.has(name), `${folder}/${file} refers to ${name}`);
				seen.add(name);
			}
		}
	}
	assert.ok(seen.size >= 8, [...seen].join(' '));
	for (const name of installed) {
		for (const [, link] of fs.readFileSync(path.join(root, name), 'utf8').matchAll(/\]\(([a-z][\w-]*\.md)[)#]/g))
			assert.ok(installed.has(`docs/${link}`), `${name} links to ${link}`);
	}
});

test('the documents state the limits of sizes that the tools hold', () => {
	const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');
	const megabytes = (file, pattern) => Number(read(file).match(pattern)[1].replaceAll('_', '')) / 1e6;
	const program = megabytes('tools/check-binary', /^MAX_PROGRAM = ([\d_]+)/m);
	const x64 = megabytes('tools/check-binary', /"x86_64": ([\d_]+)/), arm64 = megabytes('tools/check-binary', /"aarch64": ([\d_]+)/);
	const npm = megabytes('tools/package-npm', /^MAX_UNPACKED = ([\d_]+)/m);
	const deb = megabytes('tools/package-deb', /^MAX_DEB=(\d+)/m), tarball = megabytes('tools/package-env', /^MAX_TARBALL=(\d+)/m);
	assert.equal(deb, tarball);
	const part = (name) => megabytes('tools/check-binary', new RegExp(`"${name}": ([\\d_]+)`));
	const text = read('docs/install.md');
	for (const row of [`| \`codex\` | ${program.toFixed(1)} MB; with libuv inside ${x64} MB on x86_64 and ${arm64} MB on aarch64 |`,
		`| \`codex-fleet\` | ${part('codex-fleet')} MB |`, `${part('codex-code-mode-host')} MB; ${part('codex-code-mode-lock.so')} MB |`,
		`| a Debian package, a tarball | ${deb} MB |`, `| an unpacked npm package | ${npm} MB |`]) assert.ok(text.includes(row), row);
	assert.match(read('README.md'), new RegExp(`one program of ${program} MB`));
});

test('each program that is packed is held to its budget and hardening', (t) => {
	const dir = tempDir(t, 'programs');
	const source = path.join(dir, 'main.c');
	fs.writeFileSync(source, 'int main(void) { return 0; }\n');
	const names = ['codex', 'codex-fleet', 'codex-code-mode-host'];
	const link = (name, ...flags) => spawnSync('cc', [source, '-s', ...flags, '-o', path.join(dir, name)]);
	for (const name of names) if (link(name, '-pie', '-Wl,-z,relro,-z,now,-z,noexecstack').error) return t.skip('there is no compiler');
	fs.appendFileSync(path.join(dir, 'codex-fleet'), Buffer.alloc(1_800_000));
	link('codex-code-mode-host', '-no-pie', '-Wl,-z,execstack,-z,lazy');
	const files = ['codex', 'main.c', 'codex-fleet', 'codex-code-mode-host'].map((name) => path.join(dir, name));
	fs.copyFileSync(files[0], files[1]); // in place of an archive
	const { status, stdout } = spawnSync(path.join(root, 'tools/check-binary'), files, { encoding: 'utf8' });
	assert.equal(status, 1);
	const failed = (name) => [...stdout.matchAll(new RegExp(`^not ok \\d+ - ${name} (.*)$`, 'gm'))].map((match) => match[1])
		.filter((what) => !/glibc|relocations that|notes the|in one place/.test(what));
	assert.deepEqual(failed('codex'), []);
	assert.deepEqual(failed('codex-fleet'), ['has at most 1800000 bytes']);
	assert.deepEqual(failed('codex-code-mode-host'), ['is position independent', 'has no executable stack', 'binds at start']);
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
			assert.match(list, new RegExp(`^ ${library}(?: \\(>= [^)]+\\))?,$`, 'm'), `${name} ${field[priority]} ${library}`);
		}
		// The first version of Debian 12 without an assertion that frames reach (CVE-2026-27135).
		assert.ok(paragraph.includes(' libnghttp2-14 (>= 1.52.0-1+deb12u3),\n'));
	}
});

test('packages of another version are not checked in place of this one', (t) => {
	const { dir, run } = checkout(t, {});
	fs.copyFileSync(path.join(root, 'tools/check-install'), path.join(dir, 'tools/check-install'));
	fs.writeFileSync(path.join(dir, 'meson.build'), "project('codex', 'c',\n  version: '0.2.0',\n");
	fs.mkdirSync(path.join(dir, 'packaging/debian'), { recursive: true });
	fs.writeFileSync(path.join(dir, 'packaging/debian/changelog'), 'codex-c (0.2.0-1) unstable; urgency=medium\n');
	const cpu = process.arch === 'arm64' ? 'arm64' : 'x64', arch = process.arch === 'arm64' ? 'arm64' : 'amd64';
	const built = ['codex-c', 'codex-c-code-mode', 'codex-c-fleet', 'libcodex0', 'libcodex-dev'];
	const packages = (version) => [...built.map((name) => `${name}_${version}-1_${arch}.deb`),
		`codex-c-common_${version}-1_all.deb`,
		`codex-${version}-linux-${cpu}.tar.xz`, `codex-fleet-${version}-linux-${cpu}.tar.xz`,
		`codex-c-linux-${cpu}-${version}.tgz`, `codex-c-fleet-linux-${cpu}-${version}.tgz`, `codex-c-${version}.tgz`];
	fs.mkdirSync(path.join(dir, 'packages'));
	for (const name of packages('0.1.0')) fs.writeFileSync(path.join(dir, 'packages', name), '');
	const { status, stdout, stderr } = run('tools/check-install', 'packages');
	assert.deepEqual([status, stdout], [1, '']);
	assert.match(stderr, new RegExp(`packages has no codex-c_0\\.2\\.0-1_${arch}\\.deb: run \\./dev package all`));
});

test('what changes the system in which it runs is refused outside of a fresh one', (t) => {
	const bin = tempDir(t, 'bin'); // without useradd and apt-get
	fs.symlinkSync(spawnSync('sh', ['-c', 'command -v uname'], { encoding: 'utf8' }).stdout.trim(), path.join(bin, 'uname'));
	for (const kind of ['deb', 'tarball', 'npm']) {
		const words = [path.join(root, 'tools/check-install'), '--inside', kind, 'label', '1.0'];
		const { status, stdout, stderr } = spawnSync('/bin/sh', words, { encoding: 'utf8', env: { PATH: bin } });
		assert.deepEqual([status, stdout], [1, '']);
		assert.equal(stderr, 'check-install: --inside is for the systems that check-install makes\n');
	}
});
