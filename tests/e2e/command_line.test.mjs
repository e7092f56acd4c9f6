// Options and commands that users of codex 0.169 know: work trees, options before a command, help of keys, refusals.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { codexExec, makeHome, needs, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('exec');

function repository(t, name = 'project') {
	const dir = path.join(tempDir(t, 'repo'), name);
	fs.mkdirSync(path.join(dir, 'inner'), { recursive: true });
	const git = (...args) => execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
	fs.writeFileSync(path.join(dir, 'inner/file'), 'committed\n');
	git('init', '-q', '-b', 'main');
	git('add', '.');
	git('commit', '-qm', 'one');
	return { dir, git };
}

test('--worktree works in a checkout of its own; the user\'s files do not change', options, async (t) => {
	const { dir, git } = repository(t);
	fs.writeFileSync(path.join(dir, 'inner/file'), 'edited\n');
	const model = await startModel(t, [run('cat file; echo new >made'), say('done')]);
	const home = makeHome(t, model);
	const { code, stderr } = await runCodex(t, ['exec', '-s', 'danger-full-access', '--worktree', 'hi'], { home, cwd: path.join(dir, 'inner') });
	assert.equal(code, 0, stderr);
	const place = /^workdir: (.*)$/m.exec(stderr)[1];
	assert.match(place, new RegExp(`^${home}/worktrees/[0-9a-f]{8}/project/inner$`));
	assert.equal(fs.readFileSync(path.join(place, 'file'), 'utf8'), 'committed\n');
	assert.deepEqual(fs.readdirSync(path.join(dir, 'inner')), ['file']);
	assert.equal(fs.readFileSync(path.join(dir, 'inner/file'), 'utf8'), 'edited\n');
	assert.deepEqual(fs.readdirSync(place).sort(), ['file', 'made']);
	assert.match(String(git('worktree', 'list')), /\(detached HEAD\)/);
});

test('--worktree is refused outside a repository and where git would run programs; the model is not asked', options, async (t) => {
	const model = await startModel(t, [say('unused')]);
	const home = makeHome(t, model);
	const outside = await runCodex(t, ['exec', '--skip-git-repo-check', '--worktree', 'hi'], { home });
	assert.deepEqual([outside.code, /needs a git repository/.test(outside.stderr)], [1, true]);
	const { dir, git } = repository(t);
	git('config', 'filter.x.smudge', 'touch ran');
	const filter = await runCodex(t, ['exec', '--worktree', 'hi'], { home, cwd: dir });
	assert.deepEqual([filter.code, /git configuration names/.test(filter.stderr)], [1, true]);
	assert.equal(model.requests().length, 0);
});

test('options of the terminal may precede exec', options, async (t) => {
	const model = await startModel(t, [say('ok'), say('ok')]);
	const home = makeHome(t, model);
	const flags = ['--skip-git-repo-check', 'hi'];
	const plain = await runCodex(t, ['-a', 'never', '--search', 'exec', '--cyber-access-program', 'standard', ...flags], { home });
	assert.equal(plain.code, 0, plain.stderr);
	assert.ok(model.requests()[0].body.tools.some(({ type, external_web_access: live }) => type === 'web_search' && live));
	const asks = await runCodex(t, ['-a', 'on-request', 'exec', ...flags], { home });
	assert.match(asks.stderr, /approval_policy is ignored/);
	assert.equal((await runCodex(t, ['exec', '--cyber-access-program', 'other', 'hi'], { home })).code, 2);
});

test('any word is an effort, and a summary is asked of unknown models if it was chosen', options, async (t) => {
	const asked = async (...settings) => {
		const model = await startModel(t, [say('ok')]);
		await codexExec(t, model, ['-m', 'unheard-of', ...settings.flatMap((text) => ['-c', text]), 'hi']);
		return model.requests()[0].body.reasoning;
	};
	assert.equal(await asked(), undefined);
	assert.deepEqual(await asked('model_reasoning_effort=colossal'), { effort: 'colossal' });
	assert.deepEqual(await asked('model_reasoning_effort=high'), { effort: 'high' });
	assert.deepEqual(await asked('model_reasoning_summary=detailed'), { summary: 'detailed' });
});

test('an empty model and a profile name with a slash are refused before a request', options, async (t) => {
	const model = await startModel(t, [say('unused')]);
	const empty = await codexExec(t, model, ['-c', 'model=', 'hi']);
	assert.deepEqual([empty.code, /`model` must not be empty/.test(empty.stderr)], [1, true]);
	for (const name of ['a/b', '..']) {
		const { code, stderr } = await codexExec(t, model, ['-p', name, 'hi']);
		assert.deepEqual([code, /invalid profile name/.test(stderr)], [2, true]);
	}
	assert.equal(model.requests().length, 0);
});

test('codex help KEY explains a key, its value and where it is set', options, async (t) => {
	const home = tempDir(t, 'home');
	fs.writeFileSync(path.join(home, 'config.toml'), `sandbox_mode = "read-only"
[model_providers.x]
name = "X"
experimental_bearer_token = "hidden-token"
`);
	const help = async (key) => runCodex(t, ['help', key], { home });
	const mode = await help('sandbox_mode');
	assert.equal(mode.code, 0);
	assert.match(mode.stdout, /^sandbox_mode \(one of some words; default: "read-only"\)\n/);
	assert.match(mode.stdout, new RegExp(`Set by ${home}/config.toml:1: "read-only"\n`));
	assert.match((await help('history.persistence')).stdout, /Not set here: the default applies/);
	const token = await help('model_providers.x.experimental_bearer_token');
	assert.match(token.stdout, /config\.toml:4: \(not shown\)/);
	assert.match((await help('model_providers.x')).stdout, /a table with name, experimental_bearer_token/);
	assert.match((await help('memories')).stdout, /accepted without effect/);
	assert.match((await help('exec')).stdout, /^Run one task/);
	const wrong = await help('sandbox_mod');
	assert.deepEqual([wrong.code, /sandbox_mod/.test(wrong.stderr)], [2, true]);
});

test('commands that are absent say why, and what to do instead', options, async (t) => {
	const cases = { apply: /git apply/, a: /git apply/, cloud: /codex exec/, 'remote-control': /app-server --listen/,
		'exec-server': /app-server --listen/, 'migrate-rollouts': /all formats/, 'migrate-nfs-db': /CODEX_HOME/,
		'responses-api-proxy': /auth/, 'stdio-to-uds': /app-server proxy/ };
	for (const [word, hint] of Object.entries(cases)) {
		const { code, stdout, stderr } = await runCodex(t, [word, 'x'], {});
		assert.deepEqual([word, code, stdout], [word, 1, '']);
		assert.match(stderr, /^Error: `codex \S+` is not available: /);
		assert.match(stderr, hint);
		assert.equal((await runCodex(t, [word, '--help'], {})).code, 0);
	}
});

test('codex doctor: --summary, --ascii, --network-only', options, async (t) => {
	const home = makeHome(t, null);
	const doctor = (...args) => runCodex(t, ['doctor', '--no-color', ...args], { home });
	const { stdout } = await doctor('--summary', '--all');
	assert.match(stdout, /\n\d+ ok, \d+ warnings, \d+ failed\n$/);
	assert.ok(!/^ {7}/m.test(stdout), 'no details');
	assert.match((await doctor('--ascii')).stdout, /^[\x00-\x7f]+$/);
	const { checks } = JSON.parse((await doctor('--network-only', '--json')).stdout);
	assert.deepEqual(Object.keys(checks), ['config.load', 'auth.credentials', 'network.provider_reachability']);
});

test('lists of what this version lacks are empty', needs('app-server'), async (t) => {
	const server = await startAppServer(t, null);
	const page = { data: [], nextCursor: null };
	assert.deepEqual(await server.request('plugin/list', {}), { marketplaces: [], featuredPluginIds: [], marketplaceLoadErrors: [] });
	assert.deepEqual(await server.request('plugin/installed', {}), { marketplaces: [], marketplaceLoadErrors: [] });
	assert.deepEqual(await server.request('threadSection/list', {}), page);
	assert.deepEqual(await server.request('project/list', {}), page);
	assert.deepEqual(await server.request('memory/status', {}), { v2ConsolidatedThreads: 0, v2Ready: false });
	assert.deepEqual((await server.request('hooks/list', {})).data.length, 1);
	assert.deepEqual((await server.request('mcpServerStatus/list', {})).data, []);
});

test('every command takes -c, --enable and --disable, before and after its words', options, async (t) => {
	const home = makeHome(t, null), dir = tempDir(t, 'out');
	const commands = ['login status', 'logout', 'mcp list', 'mcp get x', 'sandbox true', 'features list', 'archive x', 'unarchive x', 'delete x',
		'queue --thread x --message y', 'debug models', 'completion bash', 'execpolicy check --rules x ls', 'plugin list', 'update', 'help exec',
		'apply x', 'app-server daemon status', 'app-server proxy', `app-server generate-ts --out ${dir}/a`,
		`app-server generate-json-schema --out ${dir}/b`, 'app-server --listen off'];
	for (const command of commands.map((words) => words.split(' '))) {
		for (const more of [['-c', 'model="x"'], ['--enable', 'goals'], ['--disable=goals']])
			for (const args of [[...more, ...command], command[0] === 'sandbox' || command[0] === 'execpolicy' ? command : [...command, ...more]])
				assert.notEqual((await runCodex(t, args, { home })).code, 2, args.join(' '));
		if (command[0] === 'apply') continue;
		const { code, stderr } = await runCodex(t, ['--enable', 'goal', ...command], { home });
		assert.equal(code, 1, command.join(' '));
		assert.match(stderr, /Unknown feature flag: goal; a similar one is `goals`\n$/);
	}
	assert.equal((await runCodex(t, ['sandbox', 'echo', '--enable', 'x'], { home })).stdout, '--enable x\n', 'of the command');
	const where = makeHome(t, null, 'cli_auth_credentials_store = "ephemeral"\n');
	fs.writeFileSync(path.join(where, 'auth.json'), '{"auth_mode":"apikey","OPENAI_API_KEY":"sk-test-1234567890abcd"}', { mode: 0o600 });
	assert.equal((await runCodex(t, ['login', 'status'], { home: where })).code, 1);
	assert.equal((await runCodex(t, ['login', 'status', '-c', 'cli_auth_credentials_store="file"'], { home: where })).code, 0);
	await runCodex(t, ['logout', '-c', 'cli_auth_credentials_store="file"'], { home: where });
	assert.equal(fs.existsSync(path.join(where, 'auth.json')), false);
});

test('a -c that does not load ends login and logout before anything is read, stored or removed', options, async (t) => {
	const home = makeHome(t, null, 'forced_login_method = "chatgpt"\n'), file = path.join(home, 'auth.json');
	const key = '{"auth_mode":"apikey","OPENAI_API_KEY":"sk-test-1234567890abcd"}';
	for (const wrong of ['foo', 'cli_auth_credentials_store=keyrin', 'forced_login_method=5']) {
		const stored = await runCodex(t, ['login', '--with-api-key', '-c', wrong], { home, input: 'sk-new\n' });
		assert.deepEqual([stored.code, fs.existsSync(file)], [1, false], wrong);
		fs.writeFileSync(file, key, { mode: 0o600 });
		for (const args of [['login', 'status'], ['logout']]) {
			const { code, stderr } = await runCodex(t, [...args, '-c', wrong], { home });
			assert.equal(code, 1, args.join(' '));
			assert.match(stderr, /^Error loading configuration: /);
			assert.equal(fs.readFileSync(file, 'utf8'), key);
		}
		fs.rmSync(file);
	}
});

test('--disable wins over --enable, and both over -c, in any order', needs('app-server'), async (t) => {
	for (const [args, is] of [[['--disable', 'goals', '--enable', 'goals'], false], [['--disable', 'goals', '-c', 'features.goals=true'], false],
		[['--enable', 'goals', '-c', 'features.goals=false'], true]]) {
		const server = await startAppServer(t, null, { home: makeHome(t, null), args });
		assert.equal((await server.request('config/read', {})).config.features.goals, is, args.join(' '));
		await server.end();
	}
	const { code } = await runCodex(t, ['app-server', 'generate-ts', '--out', tempDir(t, 'ts'), '--enable', 'goal'], { home: makeHome(t, null) });
	assert.equal(code, 1);
	const out = tempDir(t, 'ts');
	const words = ['app-server', '--analytics-default-enabled', 'generate-ts', '--out', out];
	const { code: generated, stderr } = await runCodex(t, words, { home: makeHome(t, null) });
	assert.deepEqual([generated, fs.existsSync(path.join(out, 'index.ts'))], [0, true], stderr);
});

test('app-server takes the options of editors, and --strict-config holds for its threads', needs('app-server'), async (t) => {
	const home = makeHome(t, null);
	const server = await startAppServer(t, null, { home, args: ['--analytics-default-enabled', '--strict-config', '--enable', 'goals'] });
	await assert.rejects(server.request('thread/start', { config: { modell: 'x' } }), { message: /unknown configuration field `modell`/ });
	assert.ok((await server.request('thread/start', {})).thread.id);
	assert.equal((await server.request('config/read', {})).config.features.goals, true);
	await server.end();
	fs.appendFileSync(path.join(home, 'config.toml'), '[tui]\n[whatever]\n');
	const { code, stderr } = await runCodex(t, ['app-server', '--strict-config'], { home });
	assert.deepEqual([code, /config\.toml:\d+: unknown configuration field `whatever`/.test(stderr)], [1, true], stderr);
});

test('debug prompt-input needs no key', options, async (t) => {
	for (const config of ['model_provider = "openai"\n',
		'model_provider = "x"\n[model_providers.x]\nname = "x"\nbase_url = "http://127.0.0.1:9"\nenv_key = "NO_SUCH"\n']) {
		const home = tempDir(t, 'home');
		fs.writeFileSync(path.join(home, 'config.toml'), config);
		const { code, stdout, stderr } = await runCodex(t, ['debug', 'prompt-input', 'hello'], { home });
		assert.equal(code, 0, stderr);
		assert.equal(JSON.parse(stdout).at(-1).content[0].text, 'hello');
	}
});

test('debug prompt-input prints what the first request would contain, and asks no model', options, async (t) => {
	const model = await startModel(t, [say('unused')]);
	const home = makeHome(t, model, '[mcp_servers.x]\ncommand = "/nonexistent"');
	const { dir } = repository(t);
	fs.writeFileSync(path.join(dir, 'AGENTS.md'), 'Keep to the rules.\n');
	const { code, stdout, stderr } = await runCodex(t, ['debug', 'prompt-input', '-s', 'read-only', 'hello'], { home, cwd: dir });
	assert.equal(code, 0, stderr);
	const items = JSON.parse(stdout), words = items.map((item) => item.content.map(({ text }) => text).join());
	assert.deepEqual([items.at(-1).role, words.at(-1)], ['user', 'hello']);
	assert.match(words.join(), /Keep to the rules\..*<environment_context>/s);
	assert.equal(model.requests().length, 0);
	assert.ok(!fs.existsSync(path.join(home, 'sessions')), 'no session is recorded');
	const wrong = await runCodex(t, ['debug', 'prompt-input', '-c', 'model_provider=none'], { home, cwd: dir });
	assert.deepEqual([wrong.code, wrong.stdout, /none/.test(wrong.stderr)], [1, '', true]);
});

test('settings without effect are named once', options, async (t) => {
	const model = await startModel(t, [say('1'), say('2'), say('3'), say('4')]);
	const home = makeHome(t, model, 'ghost_snapshot = {}\n');
	const notes = async (...args) => (await codexExec(t, model, [...args, 'hi'], { home })).stderr.match(/^note: .*$/gm);
	assert.deepEqual(await notes(), ['note: These settings have no effect in this version: `ghost_snapshot`. `codex help KEY` explains each; '
		+ 'this note is not repeated.']);
	assert.equal(await notes(), null);
	assert.match((await notes('-c', 'analytics={}'))[0], /version: `analytics`\./);
	assert.match((await notes('-c', 'features={ memories = true, apps = false, exec_policy = true, artifact = true, goals = true }'))[0],
		/version: `features\.memories`, `features\.artifact`\./);
});

test('a configuration that is a pipe, a folder or too large is an error that names it', options, async (t) => {
	const make = { pipe: (file) => execFileSync('mkfifo', [file]), folder: (file) => fs.mkdirSync(file),
		large: (file) => fs.writeFileSync(file, '#'.repeat(4 * 1024 * 1024 + 1)) };
	for (const [name, word] of [['pipe', 'is not a regular file'], ['folder', 'Is a directory'], ['large', 'is larger than 4194304 bytes']]) {
		const home = tempDir(t, 'home'), file = path.join(home, 'config.toml');
		make[name](file);
		const { code, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'], { home });
		assert.equal(code, 1, name);
		assert.ok(stderr.includes(file) && stderr.includes(word), stderr);
	}
});
