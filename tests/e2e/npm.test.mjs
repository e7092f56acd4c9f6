// The npm packages of tools/package-npm: installed from files and from a registry of the test, without the network.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, codexBin, launch, makeHome, run, say, startModel, tempDir } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PLATFORM = `codex-c-linux-${process.arch}`;
const SERVERS = `codex-c-fleet-linux-${process.arch}`;
const SENTENCE = new RegExp(`^codex: the package ${PLATFORM}, which has the program, is not installed\\. To install it, run: (.+)\n$`);

const lacksNpm = spawnSync('npm', ['--version']).status !== 0;
const skip = lacksNpm ? 'npm is not installed' : false;

/** Makes the tarballs in a folder, {name: file}, with the programs under test inside. */
function pack(t) {
	const out = tempDir(t, 'npm-out');
	const program = path.join(out, 'codex');
	const from = path.dirname(codexBin);
	for (const name of ['codex', ...['codex-fleet', 'codex-code-mode-host', 'codex-code-mode-lock.so']
		.filter((part) => fs.existsSync(path.join(from, part)))]) {
		if (spawnSync('strip', ['-o', path.join(out, name), path.join(from, name)]).status !== 0)
			fs.copyFileSync(path.join(from, name), path.join(out, name));
	}
	const env = { ...process.env, CODEX_PACKAGE_PROGRAM: program };
	const { status, stdout, stderr } = spawnSync(path.join(root, 'tools/package-npm'), [out], { encoding: 'utf8', env });
	assert.equal(status, 0, stderr);
	const files = stdout.trim().split('\n');
	return Object.fromEntries(files.map((file) => [path.basename(file).replace(/-\d[^-]*\.tgz$/, ''), file]));
}

const readManifest = (file) =>
	JSON.parse(spawnSync('tar', ['xzOf', file, 'package/package.json'], { encoding: 'utf8' }).stdout);

/** Runs npm (or npx) with a cache and settings of its own. Asynchronous, as the registry lives in this process. */
async function npm(t, home, args, { bin = 'npm', cwd = home, registry = 'http://127.0.0.1:9', env } = {}) {
	const settings = { npm_config_cache: path.join(home, '.npm'), npm_config_registry: registry, npm_config_audit: 'false',
		npm_config_fund: 'false', npm_config_update_notifier: 'false', npm_config_fetch_retries: '0' };
	const process_ = launch(t, bin, args, { cwd, env: { ...cleanEnv(home), ...settings, ...env } });
	process_.child.stdin.end();
	return process_.done;
}

/** A registry that has these tarballs. */
async function startRegistry(t, tarballs) {
	const server = http.createServer((request, response) => {
		const [, name, file] = request.url.split('/');
		if (!tarballs[name]) return response.writeHead(404).end('{}');
		if (file) return response.end(fs.readFileSync(tarballs[name]));
		const manifest = readManifest(tarballs[name]);
		const integrity = `sha512-${crypto.createHash('sha512').update(fs.readFileSync(tarballs[name])).digest('base64')}`;
		const dist = { tarball: `http://${request.headers.host}/${name}/file.tgz`, integrity };
		response.setHeader('content-type', 'application/json');
		return response.end(JSON.stringify({ name, 'dist-tags': { latest: manifest.version },
			versions: { [manifest.version]: { ...manifest, dist } } }));
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => new Promise((resolve) => {
		server.close(resolve);
		server.closeAllConnections();
	}));
	return `http://127.0.0.1:${server.address().port}`;
}

/** A project with both packages; its `codex` is at bin. */
async function project(t, tarballs) {
	const dir = tempDir(t, 'project');
	fs.writeFileSync(path.join(dir, 'package.json'), '{"name":"project","private":true}');
	const installed = await npm(t, dir, ['install', '--offline', tarballs[PLATFORM], tarballs['codex-c']]);
	assert.equal(installed.code, 0, installed.stderr);
	return { dir, bin: path.join(dir, 'node_modules/.bin/codex') };
}

const exec = (t, bin, home, args, env) =>
	launch(t, bin, ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', ...args],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(home, env) });

/** Starts a turn whose command writes its parent's id, and resolves when it has. */
async function busyTurn(t, bin, env) {
	const mark = path.join(tempDir(t, 'mark'), 'pid');
	const home = makeHome(t, await startModel(t, [run(`echo $$ > ${mark}; exec sleep 600`), say('never')]));
	const turn = exec(t, bin, home, ['go'], env);
	turn.child.stdin.end();
	while (!fs.existsSync(mark) || !fs.statSync(mark).size) await new Promise((wake) => setTimeout(wake, 10));
	return { turn, command: Number(fs.readFileSync(mark, 'utf8')) };
}

const childOf = (pid) => Number(fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
const lives = (pid) => fs.existsSync(`/proc/${pid}/exe`);

test('the npm packages', { skip }, async (suite) => {
	const tarballs = pack(suite);
	const { dir, bin } = await project(suite, tarballs);

	await suite.test('the packages name their platform and program, and two runs make equal files', (t) => {
		const again = pack(t);
		for (const name of ['codex-c', PLATFORM])
			assert.ok(fs.readFileSync(tarballs[name]).equals(fs.readFileSync(again[name])), name);
		const launcher = readManifest(tarballs['codex-c']);
		const platform = readManifest(tarballs[PLATFORM]);
		// ./dev package tarball may have built the program for another machine, which is packed, too.
		const platforms = Object.keys(tarballs).filter((name) => name !== 'codex-c');
		assert.deepEqual(Object.keys(launcher.optionalDependencies).sort(), platforms.sort());
		assert.equal(launcher.optionalDependencies[PLATFORM], launcher.version);
		assert.deepEqual([platform.os, platform.cpu, platform.libc], [['linux'], [process.arch], ['glibc']]);
		assert.equal(platform.version, launcher.version);
		assert.ok(fs.statSync(path.join(root, 'packaging/npm/codex.js')).size < 5000);
		const names = spawnSync('tar', ['tzf', tarballs[PLATFORM]], { encoding: 'utf8' }).stdout;
		assert.match(names, /^package\/LICENSE$/m);
		const notice = spawnSync('tar', ['xzOf', tarballs[PLATFORM], 'package/THIRD-PARTY'], { encoding: 'utf8' }).stdout;
		assert.match(notice, /contain libuv[^]*Joyent[^]*Permission is hereby granted/);
		assert.match(names, /^package\/vendor\/(x86_64|aarch64)-unknown-linux-gnu\/bin\/codex$/m);
	});

	const hasFleet = fs.existsSync(path.join(path.dirname(codexBin), 'codex-fleet'));
	await suite.test('the servers are in a package of their own, whose program the launcher names',
		{ skip: !hasFleet && 'there is no codex-fleet' }, async (t) => {
			const alone = await launch(t, bin, ['proto', '--print-proto'], { env: cleanEnv(dir) }).done;
			assert.equal(alone.code, 127);
			assert.match(alone.stderr, /^codex proto: cannot find codex-fleet: install the package codex-c-fleet/);
			const whole = tempDir(t, 'whole');
			fs.writeFileSync(path.join(whole, 'package.json'), '{"name":"project","private":true}');
			const installed = await npm(t, whole, ['install', '--offline', tarballs[PLATFORM], tarballs[SERVERS], tarballs['codex-c']]);
			assert.equal(installed.code, 0, installed.stderr);
			const { code, stdout, stderr } = await launch(t, path.join(whole, 'node_modules/.bin/codex'),
				['proto', '--print-proto'], { env: cleanEnv(whole) }).done;
			assert.equal(code, 0, stderr);
			assert.match(stdout, /^service Codex /m);
			const names = spawnSync('tar', ['tzf', tarballs[SERVERS]], { encoding: 'utf8' }).stdout;
			assert.match(names, /\/libexec\/codex\/codex-code-mode-host\n[^]*\/libexec\/codex\/codex-code-mode-lock\.so\n/);
			const seen = path.join(whole, 'seen');
			const model = await startModel(t, [run(`echo "$CODEX_CODE_MODE_HOST_PATH" > ${seen}`), say('Done.')]);
			const turn = exec(t, path.join(whole, 'node_modules/.bin/codex'), makeHome(t, model), ['go']);
			turn.child.stdin.end();
			assert.equal((await turn.done).code, 0);
			assert.ok(fs.existsSync(fs.readFileSync(seen, 'utf8').trim()));
		});

	await suite.test('a program for another machine is refused', (t) => {
		const out = tempDir(t, 'npm-out');
		const bytes = Buffer.alloc(64);
		bytes.write('\x7fELF', 'latin1');
		bytes[18] = 243; // RISC-V
		fs.writeFileSync(path.join(out, 'codex'), bytes);
		const env = { ...process.env, CODEX_PACKAGE_PROGRAM: path.join(out, 'codex') };
		const { status, stdout, stderr } = spawnSync(path.join(root, 'tools/package-npm'), [out], { encoding: 'utf8', env });
		assert.equal(status, 1);
		assert.equal(stdout, '');
		assert.match(stderr, /is not a program for (x86_64|aarch64)/);
	});

	await suite.test('npm installs it globally from two files, without a network', async (t) => {
		const prefix = tempDir(t, 'prefix');
		const installed = await npm(t, prefix,
			['install', '--global', '--prefix', prefix, '--offline', tarballs[PLATFORM], tarballs['codex-c']]);
		assert.equal(installed.code, 0, installed.stderr);
		const { code, stdout } = await exec(t, path.join(prefix, 'bin/codex'), prefix, ['--help']).done;
		assert.equal(code, 0);
		assert.match(stdout, /^Usage: codex exec/im);
		const update = await launch(t, path.join(prefix, 'bin/codex'), ['update'], { env: cleanEnv(prefix) }).done;
		assert.match(update.stdout, /installed with npm\. To update it, run:\n  npm install --global codex-c@latest\n/);
	});

	for (const [where, flags] of [['a global installation', ['--global']], ['a project', []]]) {
		await suite.test(`without its platform package, ${where} names the command that installs it`, async (t) => {
			const prefix = path.join(tempDir(t, 'prefix'), "it's here");
			fs.mkdirSync(prefix);
			const registry = await startRegistry(t, tarballs);
			if (!flags.length) fs.writeFileSync(path.join(prefix, 'package.json'), '{"name":"project","private":true}');
			const env = { npm_config_prefix: prefix };
			const installed = await npm(t, prefix, ['install', ...flags, '--omit=optional', 'codex-c'], { registry, env });
			assert.equal(installed.code, 0, installed.stderr);
			// npm 11 ignores --omit=optional for a global installation.
			fs.rmSync(path.join(prefix, 'lib/node_modules/codex-c/node_modules'), { recursive: true, force: true });
			const bin = path.join(prefix, flags.length ? 'bin/codex' : 'node_modules/.bin/codex');
			const lacking = await launch(t, bin, ['--version'], { env: cleanEnv(prefix) }).done;
			assert.equal(lacking.code, 1);
			assert.equal(lacking.stdout, '');
			const command = SENTENCE.exec(lacking.stderr)?.[1];
			assert.ok(command, lacking.stderr);

			const mended = await npm(t, prefix, ['-c', command], { bin: 'sh', registry, cwd: tempDir(t, 'cwd'), env });
			assert.equal(mended.code, 0, mended.stderr);
			const works = await launch(t, bin, ['--version'], { env: cleanEnv(prefix) }).done;
			assert.equal(works.code, 0, works.stderr);
			assert.match(works.stdout, /^codex/);
		});
	}

	await suite.test('npx runs it, from a project and straight from a registry', async (t) => {
		const local = await npm(t, dir, ['codex', '--version'], { bin: 'npx' });
		assert.match(local.stdout, /^codex/, local.stderr);
		const registry = await startRegistry(t, tarballs);
		const remote = await npm(t, tempDir(t, 'empty'), ['--yes', 'codex-c', '--version'], { bin: 'npx', registry });
		assert.equal(remote.stdout, local.stdout, remote.stderr);
	});

	await suite.test('the SDK runs it by codexPathOverride', async (t) => {
		const sdk = await import('@openai/codex-sdk').catch(() => null);
		if (!sdk) return t.skip('@openai/codex-sdk is not installed: run npm ci in tests/e2e');
		const home = makeHome(t, await startModel(t, [say('All done.')]));
		const codex = new sdk.Codex({ codexPathOverride: bin, env: cleanEnv(home) });
		const thread = codex.startThread({ workingDirectory: tempDir(t, 'work'), skipGitRepoCheck: true });
		assert.equal((await thread.run('do it')).finalResponse, 'All done.');
	});

	await suite.test('the exit code, the input and the name of the installer pass through', async (t) => {
		const model = await startModel(t, [run('echo by=$CODEX_MANAGED_BY_NPM'), say('Done.')]);
		const home = makeHome(t, model);
		const turn = exec(t, bin, home, ['--json', '-']);
		turn.child.stdin.end('hello from stdin');
		const { code, stdout } = await turn.done;
		assert.equal(code, 0);
		assert.ok(stdout.includes('by=1\\n'), stdout);
		assert.ok(JSON.stringify(model.requests()[0].body.input).includes('hello from stdin'));
		assert.equal((await exec(t, bin, home, ['--no-such-option']).done).code, 2);
	});

	for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) {
		await suite.test(`${signal} reaches the program, which ends its command`, async (t) => {
				const { turn, command } = await busyTurn(t, bin);
			turn.child.kill(signal);
			assert.equal((await turn.done).code, status);
			assert.ok(!lives(command));
		});
	}

	await suite.test('a signal that comes while the program starts reaches it', async (t) => {
		if (process.execve) return t.skip('this Node replaces itself by the program');
		const stub = path.join(tempDir(t, 'stub'), 'spawn.js');
		fs.writeFileSync(stub, `const processes = require('node:child_process'), { spawn } = processes;
	processes.spawn = (...words) => {
		const child = spawn(...words);
		process.kill(process.pid, 'SIGTERM');
		return child;
	};`);
		const env = { ...cleanEnv(tempDir(t, 'home')), NODE_OPTIONS: `-r ${stub}` };
		const { code, signal } = await launch(t, bin, ['mcp-server'], { env }).done;
		assert.deepEqual([typeof code, signal], ['number', null]); // else the launcher is gone, and the program stays
	});

	await suite.test('a program that a signal has ended becomes 128 and its number', async (t) => {
		if (process.execve) return t.skip('this Node replaces itself by the program');
		const { turn } = await busyTurn(t, bin);
		process.kill(childOf(turn.child.pid), 'SIGKILL');
		assert.equal((await turn.done).code, 137);
	});

	await suite.test('where Node has execve, no launcher stays in memory', async (t) => {
		// A Node that lacks execve gets one that reports its arguments.
		const stub = path.join(tempDir(t, 'stub'), 'execve.js');
		fs.writeFileSync(stub, `process.execve = (program, args, env) => {
		console.log(JSON.stringify({ program, args, by: env.CODEX_MANAGED_BY_NPM }));
	};`);
		const { stdout } = await launch(t, bin, ['exec', 'two words'], { env: { ...cleanEnv('/'), NODE_OPTIONS: `-r ${stub}` } }).done;
		const { program, args, by } = JSON.parse(stdout);
		assert.match(program, /\/vendor\/[^/]+\/bin\/codex$/);
		assert.deepEqual(args, [program, 'exec', 'two words']);
		assert.equal(by, '1');
	});

	await suite.test('Ctrl-C in a terminal reaches the program once, so that its turn ends in order', async (t) => {
		if (process.execve) return t.skip('this Node replaces itself by the program');
		if (spawnSync('python3', ['--version']).status !== 0) return t.skip('python3 is not installed');
		const mark = path.join(tempDir(t, 'mark'), 'pid');
		const home = makeHome(t, await startModel(t, [run(`echo $$ > ${mark}; exec sleep 600`), say('never')]));
		const args = [bin, 'exec', '--json', '--skip-git-repo-check', '-s', 'danger-full-access', 'go'];
		const terminal = launch(t, 'python3', [path.join(root, 'tests/e2e/lib/in_terminal.py'), mark, ...args],
			{ cwd: tempDir(t, 'cwd'), env: cleanEnv(home) });
		const { code, stdout } = await terminal.done;
		assert.equal(code, 130, stdout);
		assert.match(stdout, /turn\.failed|turn_aborted|interrupted/);
	});
});
