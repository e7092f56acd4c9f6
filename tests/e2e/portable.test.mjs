// The entry point of the portable program (src/main/entry.c) applies the packed relocations of the program, which old loaders
// cannot read. A small program is linked as meson.build links the portable one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const has = (command) => spawnSync(command, ['--version']).status === 0;
const skip = !['x64', 'arm64'].includes(process.arch) ? 'the entry point is for x86_64 and aarch64' :
	!has('ld.lld') && 'the linker lld is missing';

const SOURCE = `
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each word of the table is a pointer, a gap of any length, or a run that is longer than one map of the packed list. */
enum { WORDS = 400 };
extern const char target[WORDS];
const char target[WORDS] = {1};
#define AT(n) target + n
static const char *const table[WORDS] = {
	[0] = AT(0), [1] = AT(1), [5] = AT(5), [62] = AT(62), [63] = AT(63), [64] = AT(64), [65] = AT(65), [127] = AT(127),
	[128] = AT(128), [129] = AT(129), [191] = AT(191), [192] = AT(192), [300] = AT(300), RUN
	[399] = AT(399)};
static const char *writable = target + 7;
static int constructed;

__attribute__((constructor)) static void construct(void) { constructed = table[1] == target + 1; }
static void at_exit(void) { printf("exit\\n"); }

static int is_read_only(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		*(const char *volatile *)&table[0] = NULL;
		_exit(0);
	}
	return waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

int main(int argc, char **argv, char **envp)
{
	int wrong = 0;
	atexit(at_exit);
	for (volatile int i = 0; i < WORDS; i++)
		wrong += table[i] && table[i] != target + i;
	printf("%d wrong, %s, %s, %s, %s, ", wrong, writable == target + 7 ? "writable" : "lost",
	       constructed ? "constructed" : "too late", is_read_only() ? "read-only" : "open", argv[argc - 1]);
	for (; *envp; envp++)
		printf("%s", strncmp(*envp, "SEEN=", 5) == 0 ? *envp + 5 : "");
	printf("\\n");
	return 3;
}
`.replace('RUN', Array.from({ length: 70 }, (_, i) => `[${310 + i}] = AT(${310 + i}),`).join(' '));

/** The link options of meson.build, so that the test follows them. */
function linkOptions() {
	const line = fs.readFileSync(path.join(root, 'meson.build'), 'utf8').match(/^  entry_args = \[(.*)\]$/m)[1];
	return line.match(/'[^']*'/g).map((word) => word.slice(1, -1));
}

function build(t, ...options) {
	return buildWith(t, process.env.CC ?? 'cc', ...options);
}

function buildWith(t, compiler, ...options) {
	const dir = tempDir(t, 'entry');
	fs.writeFileSync(path.join(dir, 'table.c'), SOURCE);
	const { status, stderr } = spawnSync(compiler, ['-Os', '-fPIE', '-pie', '-fstack-protector-strong',
		'-D_GNU_SOURCE', ...options, '-Wl,-z,relro,-z,now', path.join(root, 'src/main/entry.c'), 'table.c', '-o', 'table'],
	{ cwd: dir, encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	return path.join(dir, 'table');
}

test('the entry point relocates every word of the tables before constructors run, and closes them again', { skip }, (t) => {
	const program = build(t, ...linkOptions());
	const { status, stdout } = spawnSync(program, ['last'], { encoding: 'utf8', env: { SEEN: 'seen' } });
	assert.equal(stdout, '0 wrong, writable, constructed, read-only, last, seen\nexit\n');
	assert.equal(status, 3);
});

const cross = 'aarch64-linux-gnu-gcc', emulator = 'qemu-aarch64-static';

test('with pages of 16 and 64 KiB, too, all of the tables are closed again',
	{ skip: skip || (!has(cross) || !has(emulator)) && `${cross} and ${emulator} are needed` }, (t) => {
		const linker = tempDir(t, 'linker'); // this compiler looks in its own folders and here
		fs.symlinkSync(spawnSync('sh', ['-c', 'command -v ld.lld'], { encoding: 'utf8' }).stdout.trim(), path.join(linker, 'ld.lld'));
		const program = buildWith(t, cross, `-B${linker}`, ...linkOptions());
		for (const page of [4096, 16384, 65536]) {
			const { status, stdout } = spawnSync(emulator, ['-p', String(page), '-L', '/usr/aarch64-linux-gnu', program, 'last'],
				{ encoding: 'utf8', env: { SEEN: 'seen' } });
			assert.equal(stdout, '0 wrong, writable, constructed, read-only, last, seen\nexit\n', `pages of ${page}`);
			assert.equal(status, 3);
		}
	});

test('no loader is asked to read the packed relocations', { skip }, (t) => {
	const packed = spawnSync('readelf', ['-dW', build(t, ...linkOptions())], { encoding: 'utf8' }).stdout;
	assert.ok(!packed.includes('(RELR)'), packed);
	const size = (text) => Number(text.match(/\(RELASZ\) +(\d+)/)[1]);
	const plain = spawnSync('readelf', ['-dW', build(t, '-fuse-ld=lld')], { encoding: 'utf8' }).stdout;
	assert.ok(size(plain) - size(packed) >= 80 * 24, `${size(plain)} and ${size(packed)} bytes`);
});
