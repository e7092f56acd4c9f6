#!/usr/bin/env node
// Starts the program of the platform package. tools/package-npm puts this file into codex-c.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { name, version, optionalDependencies } = require('./package.json');

// Platform packages, by process.platform and process.arch.
const TARGETS = {
	'linux x64': { package: `${name}-linux-x64`, triple: 'x86_64-unknown-linux-gnu' },
	'linux arm64': { package: `${name}-linux-arm64`, triple: 'aarch64-unknown-linux-gnu' },
};
const target = TARGETS[`${process.platform} ${process.arch}`];
// Where glibc has its loader: a report of Node.js, which takes longer, is asked only without them.
const LOADERS = ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

function fail(sentence) {
	process.stderr.write(`codex: ${sentence}\n`);
	process.exit(1);
}

/** The program that installed this package. */
function manager() {
	const agent = /^(npm|pnpm|bun|yarn)\//.exec(process.env.npm_config_user_agent ?? '')?.[1];
	if (__dirname.includes('/.bun/')) return 'bun';
	if (/\/\.?pnpm\//.test(__dirname)) return 'pnpm';
	return agent ?? 'npm';
}

/** The command that adds the platform package to this installation. */
function remedy(by) {
	const folder = path.dirname(path.dirname(__dirname)); // the one that has node_modules
	const what = `${name}@${version}`;
	const isShared = folder.includes('/global/');
	if (by === 'pnpm' || by === 'bun') return `${by} add ${isShared ? '--global ' : ''}${what}`;
	const isProject = fs.existsSync(path.join(folder, 'package.json')) && !folder.includes('/_npx/');
	if (by === 'yarn') return `yarn ${isProject ? '' : 'global '}add ${what}`;
	const where = isProject ? `--prefix '${folder.replace(/'/g, `'\\''`)}'` : '--global';
	return `npm install ${where} --include=optional ${what}`;
}

function usesGlibc() {
	process.report.excludeNetwork = true;
	return Boolean(process.report.getReport().header.glibcVersionRuntime);
}

function findProgram(by) {
	if (!target || !optionalDependencies[target.package])
		fail(`${name} has no program for ${process.platform} on ${process.arch}.`);
	if (!LOADERS.some((file) => fs.existsSync(file)) && !usesGlibc())
		fail(`${name} needs glibc, which this system does not have.`);
	let folder;
	try {
		folder = path.dirname(require.resolve(`${target.package}/package.json`));
	} catch {
		const what = `the package ${target.package}, which has the program,`;
		fail(`${what} is not installed. To install it, run: ${remedy(by)}`);
	}
	const program = path.join(folder, 'vendor', target.triple, 'bin', 'codex');
	try {
		fs.accessSync(program, fs.constants.X_OK);
	} catch (error) {
		const what = `cannot run the program of ${target.package} (${error.message}).`;
		fail(`${what} To install it again, run: ${remedy(by)}`);
	}
	return program;
}

/** True in the foreground of a terminal, which sends its signals to the program as well. */
function hasTerminal() {
	try {
		const stat = fs.readFileSync('/proc/self/stat', 'latin1');
		const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		return group === foreground;
	} catch {
		return false;
	}
}

/** For a Node without execve: waits for the program and ends as it does. */
function runBeside(program, args, env) {
	let child; // set before a handler can run; handlers first, or a signal meanwhile would end this process alone
	for (const signal of SIGNALS) {
		process.on(signal, () => {
			// A second signal would make the program end without finishing its work.
			if (signal === 'SIGTERM' || !hasTerminal()) child.kill(signal);
		});
	}
	child = spawn(program, args, { stdio: 'inherit', env });
	child.on('error', (error) => fail(`cannot start ${program}: ${error.message}`));
	child.on('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
}

/** Where codex finds its other programs, if their package is installed: package managers link it to any place. */
function libexec() {
	try {
		const servers = target.package.replace('-linux-', '-fleet-linux-');
		const folder = path.dirname(require.resolve(`${servers}/package.json`));
		const found = path.join(folder, 'vendor', target.triple, 'libexec', 'codex');
		return { CODEX_LIBEXEC: found, CODEX_CODE_MODE_HOST_PATH: path.join(found, 'codex-code-mode-host') };
	} catch {
		return {};
	}
}

const by = manager();
const program = findProgram(by);
const args = process.argv.slice(2);
const env = { ...libexec(), ...process.env, [`CODEX_MANAGED_BY_${by.toUpperCase()}`]: '1' };
if (typeof process.execve === 'function') process.execve(program, [program, ...args], env);
else runBeside(program, args, env);
