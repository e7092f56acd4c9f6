// The program without a model: help, errors of the command line, the key, completion scripts.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexBin, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const COMMANDS = ['acp', 'agents', 'app-server', 'archive', 'attach', 'delete', 'features', 'hooks', 'import', 'unarchive',
	'debug', 'debug-client', 'exec', 'execpolicy', 'export', 'fork', 'login', 'logout', 'mcp', 'mcp-server', 'mock-model',
	'plugin', 'proto', 'queue', 'resume', 'review', 'doctor', 'sandbox', 'completion', 'update', 'help', 'worker', 'fleet',
	'serve'];
const KEY = 'sk-proj-abcdefghijklmnop1234';

test('the version is one line', async (t) => {
	for (const flag of ['--version', '-V']) {
		const { code, stdout, stderr } = await runCodex(t, [flag]);
		assert.deepEqual([code, stderr], [0, '']);
		assert.match(stdout, /^codex-cli \d+\.\d+\.\d+\n$/);
	}
	assert.match((await runCodex(t, ['exec', '-V'])).stdout, /^codex-cli-exec \d+\.\d+\.\d+\n$/);
});

test('--version --verbose reports every library, and why one is missing', async (t) => {
	const plain = await runCodex(t, ['--version']), verbose = await runCodex(t, ['--version', '--verbose']);
	assert.deepEqual([verbose.code, verbose.stderr], [0, '']);
	assert.ok(verbose.stdout.startsWith(plain.stdout));
	for (const row of [/^compiler +(gcc|clang) \d/m, /^build +with mock-model/m, /^libuv +\d+\.\d+.*linked/m, /^libcurl +libcurl\/\d/m])
		assert.match(verbose.stdout, row);
	assert.equal((await runCodex(t, ['--verbose', '-V'])).stdout, verbose.stdout);

	const folder = tempDir(t);
	fs.writeFileSync(path.join(folder, 'libzstd.so.1'), 'not a library');
	const broken = await runCodex(t, ['--version', '--verbose'], { env: { LD_LIBRARY_PATH: folder } });
	assert.equal(broken.code, 0);
	assert.match(broken.stdout, /^libzstd +missing \(.*libzstd\.so\.1.*\); needed for packed sessions: install libzstd1$/m);
	assert.match(broken.stdout, /^libyaml +\d/m);
});

test('help is the same however it is asked for, and fits 80 columns', async (t) => {
	for (const command of COMMANDS) {
		const { code, stdout, stderr } = await runCodex(t, [command, '--help']);
		assert.deepEqual([code, stderr], [0, ''], command);
		assert.match(stdout, new RegExp(`^Usage: codex ${command}`, 'm'));
		assert.deepEqual(stdout.split('\n').filter((line) => line.length > 80), []);
		assert.equal((await runCodex(t, ['help', command])).stdout, stdout);
		assert.equal((await runCodex(t, [command, '-h'])).stdout, stdout);
	}
	const { stdout } = await runCodex(t, ['--help']);
	for (const command of COMMANDS) assert.match(stdout, new RegExp(`^  ${command} `, 'm'));
	assert.deepEqual(stdout.split('\n').filter((line) => line.length > 80), []);
	for (const args of [['-h'], ['help']]) assert.equal((await runCodex(t, args)).stdout, stdout);
});

test('the help of review lists its options', async (t) => {
	const { stdout } = await runCodex(t, ['review', '--help']);
	assert.match(stdout, /^ +--base <BRANCH> +Review the changes against BRANCH/m);
	assert.doesNotMatch(stdout, /--last\b|--all\b|--plan|--output-schema|--image|With re/);
	const { code, stderr } = await runCodex(t, ['review', '--plan', '--uncommitted']);
	assert.equal(code, 2);
	assert.match(stderr, /'--plan' cannot be used with review/);
});

test('a word that is not one of a few is answered with these', async (t) => {
	const { code, stderr } = await runCodex(t, ['completion', 'tcsh']);
	assert.equal(code, 2);
	assert.match(stderr, /^error: unrecognized subcommand 'tcsh'\n {2}\[possible values: bash, zsh, fish, elvish, powershell\]$/m);
});

test('misspelt commands get a suggestion', async (t) => {
	const tips = [
		[['exce', 'hi'], "a similar subcommand exists: 'exec'"],
		[['help', 'logn'], "a similar subcommand exists: 'login'"],
		[['exec', '--modle', 'x', 'hi'], "a similar argument exists: '--model'"],
		[['--modle', 'x', 'exec', 'hi'], "a similar argument exists: '--model'"],
		[['exec', '--sandbox', 'readonly', 'hi'], "a similar value exists: 'read-only'"],
		[['exec', 'fix', 'it'], 'put quotes around the prompt'],
		[['exec', 'fix', 'all', 'of', 'it'], 'put quotes around the prompt'],
		[['hello there', 'world'], 'put quotes around the prompt'],
		[['exec', '--what', 'hi'], "to pass '--what' as a value, use '-- --what'"],
	];
	for (const [args, tip] of tips) {
		const { code, stdout, stderr } = await runCodex(t, args);
		assert.deepEqual([code, stdout], [2, ''], args.join(' '));
		assert.match(stderr, /^error: /);
		assert.ok(stderr.includes(`\n\n  tip: ${tip}\n`), stderr);
		assert.ok(stderr.endsWith("For more information, try '--help'.\n"), stderr);
	}
});

test('options may stand before the command', async (t) => {
	const model = await startModel(t, [say('ok')]);
	const home = tempDir(t, 'home');
	const provider = `model_providers.mock={name="mock", base_url="${model.url}"}`;
	const args = ['-m', 'gpt-5.4', '-c', provider, '-c', 'model_provider=mock', 'exec', '--skip-git-repo-check', 'hi'];
	const { code, stdout } = await runCodex(t, args, { home });
	assert.deepEqual([code, stdout], [0, 'ok\n']);
	assert.equal(model.requests()[0].body.model, 'gpt-5.4');
});

test('a key is stored, shown in part, and forgotten', async (t) => {
	const home = tempDir(t, 'home');
	const file = path.join(home, 'auth.json');
	const codex = (args, input) => runCodex(t, args, { home, input });
	const absent = await codex(['login', 'status']);
	assert.deepEqual([absent.code, absent.stdout, absent.stderr], [1, '', 'Not logged in\n']);

	const stored = await codex(['login', '--with-api-key'], ` ${KEY}\n`);
	assert.deepEqual([stored.code, stored.stdout], [0, '']);
	assert.ok(!stored.stderr.includes(KEY));
	assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).OPENAI_API_KEY, KEY);
	assert.equal(fs.statSync(file).mode & 0o777, 0o600);

	const status = await codex(['login', 'status']);
	assert.deepEqual([status.code, status.stderr], [0, 'API key configured - sk-proj-***p1234\nAuthentication is checked when you send a request.\n']);

	assert.equal((await codex(['logout'])).stderr, 'Successfully logged out\n');
	assert.ok(!fs.existsSync(file));
	const again = await codex(['logout']);
	assert.deepEqual([again.code, again.stderr], [0, 'Not logged in\n']);
});

test('of a short key nothing is shown', async (t) => {
	const home = tempDir(t, 'home');
	await runCodex(t, ['login', '--with-api-key'], { home, input: 'sk-short' });
	assert.equal((await runCodex(t, ['login', 'status'], { home })).stderr,
		'API key configured - ***\nAuthentication is checked when you send a request.\n');
});

test('an invalid key does not replace the stored one', async (t) => {
	const home = tempDir(t, 'home');
	await runCodex(t, ['login', '--with-api-key'], { home, input: KEY });
	for (const input of ['', ' \n', 'two\nlines', 'caf\u00e9', 'x'.repeat(100_000), Buffer.from([0xff, 0xfe, 0])]) {
		const { code, stderr } = await runCodex(t, ['login', '--with-api-key'], { home, input });
		assert.equal(code, 1);
		assert.match(stderr, /API key/);
	}
	assert.equal((await runCodex(t, ['login', 'status'], { home })).code, 0);
});

test('a key as argument is refused without being shown', async (t) => {
	const home = tempDir(t, 'home');
	const seen = await runCodex(t, ['login', '--api-key', KEY], { home });
	assert.equal(seen.code, 1);
	assert.ok(!seen.stderr.includes(KEY) && seen.stderr.includes('--with-api-key'));
	assert.deepEqual(fs.readdirSync(home), []);
	assert.match((await runCodex(t, ['login', 'status'], { home, env: { OPENAI_API_KEY: KEY } })).stderr,
		/^Not logged in\nNo stored key\. OPENAI_API_KEY is set and is used\.\n$/);
});

test('login works with a broken configuration, and names the error', async (t) => {
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'), 'model = [');
	assert.equal((await runCodex(t, ['login', '--with-api-key'], { home, input: KEY })).code, 0);
	fs.writeFileSync(path.join(home, 'auth.json'), '{');
	const broken = await runCodex(t, ['login', 'status'], { home });
	assert.equal(broken.code, 1);
	assert.match(broken.stderr, /auth\.json is not JSON/);
	fs.writeFileSync(path.join(home, 'auth.json'), '{"tokens":{"access_token":"secret"}}');
	const chatgpt = await runCodex(t, ['login', 'status'], { home });
	assert.equal(chatgpt.code, 0);
	assert.match(chatgpt.stderr, /^Logged in using ChatGPT$/m);
	assert.ok(!chatgpt.stderr.includes('secret'));
});

// --- update ---------------------------------------------------------------------------------------------------------

/** Runs `codex update` of a link-free copy at this path of a new folder, beside other files. */
function update(t, place, files = {}, env = {}) {
	const root = fs.realpathSync(tempDir(t)), program = path.join(root, place);
	fs.mkdirSync(path.dirname(program), { recursive: true });
	try {
		fs.linkSync(codexBin, program); // a copy takes its time
	} catch {
		fs.copyFileSync(codexBin, program);
	}
	for (const [name, text] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
		fs.writeFileSync(path.join(root, name), text.replaceAll('PROGRAM', program));
	}
	const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CODEX_MANAGED_BY')));
	const { status, stdout, stderr } = spawnSync(program, ['update'], { encoding: 'utf8',
		env: { ...clean, DPKG_ADMINDIR: path.join(root, 'dpkg'), ...env } });
	const [first = '', command = ''] = stdout.split('\n');
	return { status, stdout, stderr, root, way: first.split(`(${program}) `)[1], command: command.trim() };
}

test('update prints the command for each way of installation', (t) => {
	const vendored = 'node_modules/codex-c-linux-x64/vendor/x86_64-unknown-linux-gnu/bin/codex';
	const npm = update(t, `lib/${vendored}`);
	assert.deepEqual([npm.status, npm.way, npm.command],
		[0, 'was installed with npm. To update it, run:', 'npm install --global codex-c@latest']);
	const project = update(t, `it's/${vendored}`, { "it's/package.json": '{}' });
	assert.equal(project.command, `npm install --prefix "${project.root}/it's" codex-c@latest`);
	assert.equal(update(t, vendored, {}, { CODEX_MANAGED_BY_BUN: '1' }).command, 'bun add --global codex-c@latest');
	const yarn = update(t, vendored, { 'package.json': '{}' }, { CODEX_MANAGED_BY_YARN: '1' });
	assert.equal(yarn.command, `yarn --cwd ${yarn.root} add codex-c@latest`);
	const inside = 'node_modules/.pnpm/codex-c-linux-x64@0.1.0/node_modules/codex-c-linux-x64/vendor/x/bin/codex';
	assert.equal(update(t, `pnpm/global/5/${inside}`, { 'pnpm/global/5/package.json': '{}' }).command,
		'pnpm add --global codex-c@latest');
	const pnpm = update(t, inside, { 'package.json': '{}' });
	assert.equal(pnpm.command, `pnpm add --dir ${pnpm.root} codex-c@latest`);
	assert.equal(update(t, `_npx/1f/${vendored}`, { '_npx/1f/package.json': '{}' }).command, 'npx codex-c@latest');

	const debian = update(t, 'usr/bin/codex', { 'usr/include/codex/codex.h': '',
		'dpkg/info/other.list': '/.\nPROGRAM.old\n', 'dpkg/info/codex-c:amd64.list': '/.\nPROGRAM\n' });
	assert.deepEqual([debian.way, debian.command], ['was installed as the Debian package codex-c. To update it, run:',
		'sudo apt-get update && sudo apt-get install --only-upgrade codex-c']);

	const built = update(t, 'src/build/codex', { 'src/build/build.ninja': '', 'src/dev': '' });
	assert.equal(built.command, `cd ${built.root}/src && git pull && ./dev build`);
	const tarball = update(t, 'codex-0.1.0-linux-x64/bin/codex',
		{ 'codex-0.1.0-linux-x64/THIRD-PARTY': '', 'codex-0.1.0-linux-x64/LICENSE': '' });
	assert.equal(tarball.command, `tar -C ${tarball.root}/codex-0.1.0-linux-x64 --strip-components=1 -xJf ` +
		'codex-VERSION-linux-ARCHITECTURE.tar.xz');
	assert.ok(!tarball.stdout.includes('codex-fleet'));
	const whole = update(t, 'codex-0.1.0-linux-x64/bin/codex', { 'codex-0.1.0-linux-x64/THIRD-PARTY': '',
		'codex-0.1.0-linux-x64/LICENSE': '', 'codex-0.1.0-linux-x64/libexec/codex/codex-fleet': '' });
	assert.ok(whole.stdout.endsWith('.xz\nand the same with codex-fleet-VERSION-linux-ARCHITECTURE.tar.xz.\n'), whole.stdout);
	const installed = update(t, 'bin/codex', { 'include/codex/codex.h': '' });
	assert.equal(installed.command, `git pull && ./dev install ${installed.root}`);
});

test('update of a program without a trace fails with a sentence; the variable of a launcher is no trace', (t) => {
	const { status, stderr, root } = update(t, 'somewhere/codex', {}, { CODEX_MANAGED_BY_NPM: '1' });
	assert.deepEqual([status, stderr],
		[1, `codex update: it is unknown how ${root}/somewhere/codex was installed; update it in the same way\n`]);
});

// --- completion -----------------------------------------------------------------------------------------------------

const has = (shell) => ({ skip: spawnSync(shell, ['--version']).error ? `${shell} is not installed` : false });

async function script(t, shell) {
	const { code, stdout } = await runCodex(t, ['completion', shell]);
	assert.equal(code, 0);
	const file = path.join(tempDir(t), `codex.${shell}`);
	fs.writeFileSync(file, stdout);
	return file;
}

test('the scripts are sound in their shells', async (t) => {
	for (const shell of ['bash', 'zsh', 'fish']) {
		await t.test(shell, has(shell), async () => {
			const { status, stderr } = spawnSync(shell, ['-n', await script(t, shell)], { encoding: 'utf8' });
			assert.deepEqual([status, stderr], [0, '']);
		});
	}
	assert.equal((await runCodex(t, ['completion', 'tcsh'])).code, 2);
	assert.equal((await runCodex(t, ['completion'])).stdout, (await runCodex(t, ['completion', 'bash'])).stdout);
});

/** Bash's completions for these words, the last of them unfinished. */
function complete(file, cwd, ...words) {
	const program = `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _codex 2>/dev/null
printf '%s\\n' "\${COMPREPLY[@]}"`;
	const { stdout } = spawnSync('bash', ['-c', program, 'bash', file, ...words], { encoding: 'utf8', cwd });
	return stdout.split('\n').filter(Boolean).sort();
}

test('bash completes commands, options, values, files and folders', has('bash'), async (t) => {
	const file = await script(t, 'bash');
	const cwd = tempDir(t);
	fs.mkdirSync(path.join(cwd, 'a folder'));
	fs.writeFileSync(path.join(cwd, 'a file'), '');
	const offers = (...words) => complete(file, cwd, ...words);
	assert.deepEqual(offers('codex', ''), [...COMMANDS].sort());
	assert.deepEqual(offers('codex', 'lo'), ['login', 'logout']);
	assert.deepEqual(offers('codex', 'exec', '--sa'), ['--sandbox']);
	assert.deepEqual(offers('codex', 'e', '--sa'), ['--sandbox']);
	assert.deepEqual(offers('codex', 'exec', '--sandbox', 'r'), ['read-only']);
	assert.deepEqual(offers('codex', 'exec', '-s', 'w'), ['workspace-write']);
	assert.deepEqual(offers('codex', 'exec', '--color', '=', 'n'), ['never']);
	assert.deepEqual(offers('codex', 'exec', '--color', '='), ['always', 'auto', 'never']);
	assert.deepEqual(offers('codex', 'exec', '-C', 'a'), ['a folder']);
	assert.deepEqual(offers('codex', 'exec', '-i', 'a'), ['a file', 'a folder']);
	assert.deepEqual(offers('codex', 'exec', '-m', ''), []);
	assert.deepEqual(offers('codex', 'exec', 're'), ['resume', 'review']);
	assert.deepEqual(offers('codex', 'login', 's'), ['status']);
	assert.deepEqual(offers('codex', 'help', 'mo'), ['mock-model']);
	assert.deepEqual(offers('codex', 'completion', ''), ['bash', 'elvish', 'fish', 'powershell', 'zsh']);
});

test('every option of --help is completed', has('bash'), async (t) => {
	const file = await script(t, 'bash');
	for (const command of COMMANDS) {
		const help = spawnSync(codexBin, [command, '--help'], { encoding: 'utf8' }).stdout;
		const options = [...help.matchAll(/^  (?:-\w, |    )(--[\w-]+)/gm)].map((match) => match[1]).sort();
		assert.deepEqual(complete(file, '/', 'codex', command, '--'), options, command);
	}
});

test('every script has the options of the program itself', async (t) => {
	for (const shell of ['bash', 'zsh', 'fish', 'elvish', 'powershell'])
		assert.match(fs.readFileSync(await script(t, shell), 'utf8'), /(--|-l )verbose/, shell);
});

test('fish and zsh load their scripts', async (t) => {
	await t.test('fish', has('fish'), async () => {
		const program = 'source $argv[1]; complete -C "codex exec --sandbox r"; complete -C "codex logi"';
		const run = spawnSync('fish', ['--no-config', '-c', program, await script(t, 'fish')], { encoding: 'utf8' });
		assert.equal(run.stderr, '');
		assert.deepEqual(run.stdout.trim().split('\n').map((line) => line.split('\t')[0]), ['read-only', 'login']);
	});
	await t.test('zsh', has('zsh'), async () => {
		const program = 'autoload -Uz compinit; compinit -D; source $1; print $_comps[codex]; whence -w _codex';
		const run = spawnSync('zsh', ['-f', '-c', program, 'zsh', await script(t, 'zsh')], { encoding: 'utf8' });
		assert.deepEqual([run.stdout, run.stderr], ['_codex\n_codex: function\n', '']);
	});
});

test('the installed scripts of fish and zsh ask the program for the rest', async (t) => {
	const bin = tempDir(t, 'bin'), folder = fileURLToPath(new URL('../../completion', import.meta.url));
	fs.symlinkSync(path.resolve(codexBin), path.join(bin, 'codex'));
	const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
	await t.test('fish', has('fish'), () => {
		const program = 'source $argv[1]; complete -C "codex logi"';
		const run = spawnSync('fish', ['--no-config', '-c', program, `${folder}/codex.fish`], { encoding: 'utf8', env });
		assert.deepEqual([run.stdout.split('\t')[0], run.stderr], ['login', '']);
	});
	await t.test('zsh', has('zsh'), () => {
		const program = 'fpath=($1 $fpath); autoload -Uz compinit; compinit -D; print $_comps[codex]; _arguments() { print asked; }; _codex';
		const run = spawnSync('zsh', ['-f', '-c', program, 'zsh', folder], { encoding: 'utf8', env });
		assert.deepEqual([run.stdout, run.stderr], ['_codex\nasked\n', '']);
	});
});

/** Elvish without a terminal has no module `edit:`: this one prints what a completer offers. */
const ELVISH_EDIT = `
var edit: = (ns [
	&complex-candidate~={|text &display=''| put $text }
	&complete-filename~={|seed| put 'a file' }
	&completion:=(ns [&arg-completer=[&]])
])
`;

test('elvish completes commands, options, values and files', has('elvish'), async (t) => {
	const text = fs.readFileSync(await script(t, 'elvish'), 'utf8');
	const offers = (...words) => {
		const call = `$edit:completion:arg-completer[codex] ${words.map((word) => `'${word}'`).join(' ')} | each $echo~`;
		const { stdout, stderr } = spawnSync('elvish', ['-norc', '-c', ELVISH_EDIT + text + call], { encoding: 'utf8' });
		assert.equal(stderr, '');
		return stdout.split('\n').filter(Boolean).sort();
	};
	assert.deepEqual(offers('codex', '').filter((word) => !word.startsWith('-')), [...COMMANDS].sort());
	assert.deepEqual(offers('codex', 'e', '-s', ''), ['danger-full-access', 'read-only', 'workspace-write']);
	assert.deepEqual(offers('codex', 'exec', '-i', ''), ['a file']);
	assert.deepEqual(offers('codex', 'exec', '-m', ''), []);
	assert.ok(offers('codex', 'exec', '-').includes('--output-schema'));
	assert.deepEqual(offers('codex', 'login', '').filter((word) => !word.startsWith('-')), ['status']);
});

test('PowerShell completes commands, options and values', has('pwsh'), async (t) => {
	const file = await script(t, 'powershell');
	const offers = (line) => {
		const program = `Invoke-Expression (Get-Content -Raw '${file}')
(TabExpansion2 '${line}' ${line.length}).CompletionMatches | ForEach-Object CompletionText`;
		return spawnSync('pwsh', ['-NoProfile', '-Command', program], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean).sort();
	};
	assert.deepEqual(offers('codex logi'), ['login']);
	assert.deepEqual(offers('codex exec --sandbox r'), ['read-only']);
	assert.deepEqual(offers('codex exec --output-s'), ['--output-schema']);
});

test('the scripts for elvish and PowerShell name every option and quote every text', async (t) => {
	const help = spawnSync(codexBin, ['exec', '--help'], { encoding: 'utf8' }).stdout;
	const options = [...help.matchAll(/^  (?:-\w, |    )(--[\w-]+)/gm)].map((match) => match[1]);
	assert.ok(options.length > 20);
	for (const shell of ['elvish', 'powershell']) {
		const text = fs.readFileSync(await script(t, shell), 'utf8');
		for (const option of options) assert.ok(text.includes(`'${option}' '`), `${shell}: ${option}`);
		// A quote inside a text is doubled, so quotes pair up on every line.
		for (const line of text.split('\n')) {
			if (!line.startsWith('#')) assert.equal((line.match(/'/g) ?? []).length % 2, 0, line);
		}
	}
});
