// externalAgentConfig/detect and import, and `codex import`: what Claude Code has on this machine, taken over without
// overwriting anything, and nothing of the user's own in a project.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer } from './lib/app_server.mjs';
import { isAlive } from './lib/nest.mjs';
import { codexBin, makeHome, needs, runCodex, tempDir } from './lib/codex.mjs';

const options = needs('app-server');
const put = (dir, files) => Object.entries(files).forEach(([name, content]) => {
	fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
	fs.writeFileSync(path.join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
});
const read = (...parts) => fs.readFileSync(path.join(...parts), 'utf8');
const mode = (...parts) => (fs.statSync(path.join(...parts)).mode & 0o777).toString(8);
const command = (line) => ({ type: 'command', command: line });
const HOOKS = { PreToolUse: [{ matcher: 'Bash', hooks: [{ ...command('echo hi'), timeout: 5 }] }], Stop: [], Other: [{ hooks: [command('x')] }] };
const wants = (itemType, list, ...names) => ({ itemType, description: '', cwd: null,
	details: { [list]: names.map((name) => ({ name })) } });

async function begin(t, theirs, project = {}, config = '') {
	const user = tempDir(t, 'user'), repo = fs.realpathSync(tempDir(t, 'repo')), codex = makeHome(t, null, config);
	const replaced = JSON.parse(JSON.stringify(theirs).replaceAll('REPO', repo));
	put(user, replaced);
	put(repo, project);
	const server = await startAppServer(t, null, { home: codex, env: { HOME: user } });
	const detect = async (params = { includeHome: true, cwds: [repo] }) => (await server.request('externalAgentConfig/detect', params)).items;
	const carry = async (...migrationItems) => {
		const { importId } = await server.request('externalAgentConfig/import', { migrationItems, source: 'x' });
		const { params } = await server.next('externalAgentConfig/import/completed');
		assert.equal(params.importId, importId);
		return params.itemTypeResults;
	};
	const failuresOf = (results) => results.flatMap(({ failures }) => failures)
		.map(({ failureStage, source, message }) => `${failureStage} ${source}: ${message.trim()}`);
	return { user, repo, codex, server, detect, carry, failuresOf };
}
const brief = (items) => items.map(({ itemType, cwd, details }) => [itemType, cwd !== null,
	Object.values(details ?? {}).flat().map(({ name }) => name).join(' ')].join(' ').trim());

test('what the user and a project have is found, imported once, and not found again', options, async (t) => {
	const { user, repo, codex, server, detect, carry, failuresOf } = await begin(t, {
		'.claude/settings.json': { env: { FOO: 'b"ar', N: 3, none: null, 'a.b c': 'odd' }, sandbox: { enabled: true }, hooks: HOOKS },
		'.claude/settings.local.json': { env: { FOO: 'local' }, hooks: { PreToolUse: [{ hooks: [command('local')] }] } },
		'.claude/CLAUDE.md': '# My rules\n',
		'.claude/skills/one/SKILL.md': '---\nname: one\ndescription: d\n---\nbody\n', '.claude/skills/one/more/data.txt': 'data',
		'.claude/skills/empty/x': '',
		'.claude/commands/do-it.md': 'Do $ARGUMENTS.\n',
		'.claude/agents/rev.md': '---\nname: rev\ndescription: Reviews "all".\nmodel: opus\n---\nYou review.\nTwice.\n',
		'.claude.json': { mcpServers: { glob: { command: 'srv', args: ['a'], env: { K: 'v' } }, 'bad name': { command: 'x' },
			web: { type: 'http', url: 'https://x/y', headers: { A: 'b' } }, old: { type: 'sse', url: 'https://x' } } },
	}, { '.git/HEAD': '', 'sub/x': '', 'CLAUDE.md': 'Repo rules.', '.mcp.json': { mcpServers: { rep: { command: 'r' } } },
		'.claude/skills/two/SKILL.md': '---\nname: two\ndescription: d\n---\n', '.claude/settings.json': { env: { X: '1' }, hooks: HOOKS },
		'.claude/commands/ship.md': `---\ndescription: Ships "it"\n---\n${'x'.repeat(70_000)}Ship.\n` });
	const items = await detect({ includeHome: true, cwds: [path.join(repo, 'sub')] });
	assert.deepEqual(brief(items), ['CONFIG false', 'MCP_SERVER_CONFIG false glob bad name web old', 'HOOKS false PreToolUse', 'SKILLS false one',
		'COMMANDS false do-it', 'SUBAGENTS false rev', 'AGENTS_MD false',
		'MCP_SERVER_CONFIG true rep', 'HOOKS true PreToolUse', 'SKILLS true two', 'COMMANDS true source-command-ship', 'AGENTS_MD true']);
	assert.equal(items[0].description, `Migrate settings from ${user}/.claude/settings.json to ${codex}/config.toml`);
	assert.deepEqual([items[0].details, items[1].details.hooks, items[11].cwd], [null, [], repo]);
	assert.deepEqual(await detect({}), []);
	assert.deepEqual(await detect({ includeHome: true, migrationSource: 'cursor' }), []);

	const results = await carry(...items);
	assert.deepEqual(failuresOf(results), [
		'import bad name: its name has other characters than letters, digits, -, _ and .',
		'import old: servers of the transport sse are not supported']);
	assert.deepEqual(results.map(({ itemType, successes }) => `${itemType} ${successes.length}`), ['CONFIG 1', 'MCP_SERVER_CONFIG 3', 'HOOKS 2',
		'SKILLS 2', 'COMMANDS 2', 'SUBAGENTS 1', 'AGENTS_MD 2']);
	assert.deepEqual(results[0].successes[0], { itemType: 'CONFIG', cwd: null, source: `${user}/.claude/settings.json`,
		target: `${codex}/config.toml`, title: null });
	assert.equal(server.all('externalAgentConfig/import/progress').length, items.length);
	const { config } = await server.request('config/read', {});
	assert.deepEqual(config.shell_environment_policy.set, { FOO: 'local', N: '3', 'a.b c': 'odd' });
	assert.equal(config.sandbox_mode, 'workspace-write');
	assert.match(read(codex, 'config.toml'), /^model_provider = "mock"/, 'the rest of the file stays');
	assert.deepEqual([config.mcp_servers.glob.command, config.mcp_servers.glob.env, config.mcp_servers.web.http_headers],
		['srv', { K: 'v' }, { A: 'b' }]);
	assert.equal(config.mcp_servers.old, undefined);
	assert.deepEqual(JSON.parse(read(codex, 'hooks.json')),
		{ hooks: { PreToolUse: [...HOOKS.PreToolUse, { hooks: [command('local')] }] } });
	assert.deepEqual([read(user, '.agents/skills/one/SKILL.md').slice(-5), read(user, '.agents/skills/one/more/data.txt')], ['body\n', 'data']);
	assert.deepEqual([read(codex, 'prompts/do-it.md'), read(codex, 'AGENTS.md'), read(repo, 'AGENTS.md')],
		['Do $ARGUMENTS.\n', '# My rules\n', 'Repo rules.']);
	assert.equal(read(codex, 'agents/rev.toml'),
		'name = "rev"\ndescription = "Reviews \\"all\\"."\ndeveloper_instructions = "You review.\\nTwice."\n');
	assert.equal(read(repo, '.codex/config.toml').trim(), '[mcp_servers.rep]\ncommand = "r"');
	assert.ok(fs.existsSync(path.join(repo, '.agents/skills/two/SKILL.md')));
	assert.match(read(repo, '.agents/skills/source-command-ship/SKILL.md'),
		/^---\nname: "source-command-ship"\ndescription: "Ships \\"it\\""\n---\n[^]*x{70000}Ship\.\n$/);
	for (const hook of (await server.request('hooks/list', { cwds: [repo] })).data[0].hooks)
		assert.equal(hook.trustStatus, 'untrusted', 'an import trusts no hook');

	assert.deepEqual(brief(await detect()), ['MCP_SERVER_CONFIG false bad name old']);
	const [again] = await carry(items[0]);
	assert.deepEqual([again.successes, again.failures.map(({ failureStage }) => failureStage)], [[], ['skipped']]);
	assert.equal((await server.end()).code, 0);
});

test('what the user has stays as it is and is reported as skipped', options, async (t) => {
	const { codex, detect, carry, failuresOf } = await begin(t, {
		'.claude/settings.json': { env: { FOO: 'theirs', BAR: 'theirs' }, sandbox: { enabled: true },
			hooks: { ...HOOKS, Stop: [{ hooks: [command('s')] }] } },
		'.claude/CLAUDE.md': 'theirs', '.claude/commands/a.md': 'theirs', '.claude/commands/b.md': 'theirs',
		'.claude.json': { mcpServers: { s: { command: 'theirs' }, u: { command: 'u' } } },
	}, {}, 'sandbox_mode = "read-only"\n[shell_environment_policy]\nset = { FOO = "mine" }\n[mcp_servers.s]\ncommand = "mine"\n');
	const mine = { more: 1, hooks: { PreToolUse: [{ hooks: [command('mine')] }], Stop: [] } };
	put(codex, { 'AGENTS.md': 'mine', 'hooks.json': mine, 'prompts/a.md': 'mine' });
	fs.chmodSync(path.join(codex, 'hooks.json'), 0o640);
	assert.deepEqual(brief(await detect()), ['CONFIG false', 'MCP_SERVER_CONFIG false u', 'HOOKS false Stop', 'COMMANDS false b']);
	const all = (itemType) => ({ itemType, description: '', cwd: null, details: null });
	const results = await carry(...['CONFIG', 'MCP_SERVER_CONFIG', 'HOOKS', 'COMMANDS', 'AGENTS_MD'].map(all));
	assert.deepEqual(failuresOf(results).map((line) => line.replace(/(\S+ )\S*\/(\S+:)/, '$1$2')),
		['partial settings.json: FOO is set already and stays as it is. sandbox_mode is set already and stays as it is.',
			...['s', 'PreToolUse', 'a', 'CLAUDE.md'].map((name) => `skipped ${name}: it exists already and stays as it is`)]);
	const text = read(codex, 'config.toml');
	for (const part of [/FOO = "mine"/, /BAR = "theirs"/, /sandbox_mode = "read-only"/, /\[mcp_servers\.s\]\ncommand = "mine"/, /\[mcp_servers\.u\]/])
		assert.match(text, part);
	assert.deepEqual([read(codex, 'AGENTS.md'), read(codex, 'prompts/a.md')], ['mine', 'mine']);
	assert.deepEqual(JSON.parse(read(codex, 'hooks.json')), { more: 1, hooks: { ...mine.hooks, Stop: [{ hooks: [command('s')] }] } });
	assert.equal(mode(codex, 'hooks.json'), '640');
	assert.deepEqual(fs.readdirSync(codex).filter((name) => name.includes('import-')), []);
});

test('an empty list imports nothing, a missing one everything, and unknown names are reported', options, async (t) => {
	const { codex, carry, failuresOf } = await begin(t, {
		'.claude.json': { mcpServers: { u: { command: 'u' }, v: { command: 'v' } } }, '.claude/commands/a.md': 'a' });
	const before = read(codex, 'config.toml');
	assert.deepEqual(await carry(wants('MCP_SERVER_CONFIG', 'mcpServers'), wants('COMMANDS', 'commands')), [
		{ itemType: 'MCP_SERVER_CONFIG', successes: [], failures: [] }, { itemType: 'COMMANDS', successes: [], failures: [] }]);
	assert.equal(read(codex, 'config.toml'), before);
	assert.ok(!fs.existsSync(path.join(codex, 'prompts')));
	assert.deepEqual(failuresOf(await carry(wants('MCP_SERVER_CONFIG', 'mcpServers', '../x', 'v'))), ['detect ../x: it is not there any more']);
	assert.match(read(codex, 'config.toml'), /\[mcp_servers\.v\]/);
	assert.doesNotMatch(read(codex, 'config.toml'), /\[mcp_servers\.u\]/);
	await carry({ itemType: 'MCP_SERVER_CONFIG', description: '', details: {} }, { itemType: 'COMMANDS', description: '' });
	assert.match(read(codex, 'config.toml'), /\[mcp_servers\.u\]/);
	assert.equal(read(codex, 'prompts/a.md'), 'a');
});

test('what is the user’s own about a project, and secrets, stay out of the project', options, async (t) => {
	const { repo, codex, server, detect, carry, failuresOf } = await begin(t, {
		'.claude/settings.json': { env: { API_KEY: 'mine' } },
		'.claude.json': { projects: { REPO: { mcpServers: { priv: { command: 'p', env: { API_TOKEN: 'zzz' } }, hidden: { command: 'own' },
			sub: { command: 's', cwd: 'tools' } }, disabledMcpjsonServers: ['off'], enabledMcpjsonServers: [] } } },
	}, { '.mcp.json': { mcpServers: { rep: { command: 'r', env: { A: '1', MY_SECRET: 'hush', Db_Password: 'hush' } }, off: { command: 'o' },
		hidden: { command: 'theirs' }, gone: { command: 'g', disabled: true },
		web: { type: 'http', url: 'https://x', headers: { 'X-Api-Key': 'hush', Plain: 'p' } } } },
		'.claude/settings.local.json': { env: { TOKEN: 'hush' }, hooks: HOOKS } });
	fs.chmodSync(path.join(codex, 'config.toml'), 0o644);
	const items = await detect();
	assert.deepEqual(brief(items), ['CONFIG false', 'MCP_SERVER_CONFIG true priv hidden sub rep gone web']);
	assert.deepEqual(failuresOf(await carry(...items)), [
		'partial rep: the value of MY_SECRET is not copied into the project: set it in the environment. ' +
		'the value of Db_Password is not copied into the project: set it in the environment.',
		'partial web: the header X-Api-Key is not copied into the project.']);
	const files = spawnSync('grep', ['-rlE', 'hush|zzz|own', repo], { encoding: 'utf8' }).stdout.trim().split('\n').sort();
	assert.deepEqual(files, [path.join(repo, '.claude/settings.local.json'), path.join(repo, '.mcp.json')].sort());
	assert.match(read(repo, '.codex/config.toml'),
		/\[mcp_servers\.rep\]\ncommand = "r"\nenv_vars = \["MY_SECRET", "Db_Password"\]\n\n\[mcp_servers\.rep\.env\]\nA = "1"/);
	assert.match(read(repo, '.codex/config.toml'), /\[mcp_servers\.gone\]\ncommand = "g"\nenabled = false/);
	assert.match(read(repo, '.codex/config.toml'), /\[mcp_servers\.web\.http_headers\]\nPlain = "p"/);
	const { config } = await server.request('config/read', {});
	assert.deepEqual(config.shell_environment_policy.set, { API_KEY: 'mine' });
	assert.deepEqual(config.mcp_servers.priv, { ...config.mcp_servers.priv, command: 'p', cwd: repo, env: { API_TOKEN: 'zzz' } });
	assert.deepEqual([config.mcp_servers.hidden.command, config.mcp_servers.sub.cwd], ['own', path.join(repo, 'tools')]);
	assert.equal(mode(codex, 'config.toml'), '600');
	assert.deepEqual(brief(await detect()), []);
});

test('variables are translated or reported, and a server that is off stays off', options, async (t) => {
	const { codex, detect, carry, failuresOf } = await begin(t, { '.claude.json': { mcpServers: {
		same: { command: 'c', env: { K: '${K}', L: 'x' } }, other: { command: 'c', env: { K: '${L}' } }, mixed: { command: 'c', env: { K: 'a${K}' } },
		spare: { command: 'c', env: { K: '${K:-x}' } }, args: { command: 'c', args: ['${HOME}/x'] }, cmd: { command: '${CMD}' },
		web: { url: 'https://x', headers: { Authorization: 'Bearer ${TOK}', 'X-K': '${XK}', Plain: 'p' } },
		url: { url: 'https://${HOST}' }, header: { url: 'https://x', headers: { A: 'a${B}' } },
		off: { command: 'c', disabled: true }, off2: { command: 'c', enabled: false }, helper: { url: 'https://x', headersHelper: 'h' },
		none: {}, text: 'x', rel: { command: 'c', cwd: 'd' } } } });
	const failures = failuresOf(await carry(...await detect()));
	const cannot = 'contains a variable that config.toml cannot express; add the server by hand';
	assert.deepEqual(failures.slice(0, 7), [`import other: its K ${cannot}`, `import mixed: its K ${cannot}`, `import spare: its K ${cannot}`,
		`import args: its args ${cannot}`, `import cmd: its command ${cannot}`, `import url: its url ${cannot}`, `import header: its A ${cannot}`]);
	assert.match(failures[7], /^import none: .*`mcp_servers.none`: invalid transport/);
	assert.deepEqual(failures.slice(8), ['import text: it is no object']);
	const text = read(codex, 'config.toml');
	assert.match(text, /\[mcp_servers\.same\]\ncommand = "c"\nenv_vars = \["K"\]\n\n\[mcp_servers\.same\.env\]\nL = "x"/);
	assert.match(text, /\[mcp_servers\.web\]\nbearer_token_env_var = "TOK"\nurl = "https:\/\/x"\n/);
	assert.match(text, /\[mcp_servers\.web\.http_headers\]\nPlain = "p"\n\n\[mcp_servers\.web\.env_http_headers\]\nX-K = "XK"/);
	for (const name of ['off', 'off2']) assert.match(text, new RegExp(`\\[mcp_servers\\.${name}\\]\ncommand = "c"\nenabled = false`));
	assert.match(text, /http_headers_helper = "h"/);
	assert.match(text, /cwd = "[^"]*user[^"]*\/d"/);
});

test('hooks that are no commands are reported, and a hook that names the project gets its variable', options, async (t) => {
	const { repo, codex, detect, carry, failuresOf } = await begin(t, { '.claude/settings.json': { hooks: {
		Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }],
		PreToolUse: [{ matcher: 'A', hooks: [{ type: 'prompt', prompt: 'x' }, { ...command('no'), if: 'Bash(git *)' },
			command('"$CLAUDE_PROJECT_DIR"/x.sh > out')] }] } } });
	assert.deepEqual(failuresOf(await carry(...await detect())), ['import Stop: only plain commands without conditions are supported',
		'partial PreToolUse: 2 hooks that are no plain commands are left out.']);
	const [{ matcher, hooks: [hook] }] = JSON.parse(read(codex, 'hooks.json')).hooks.PreToolUse;
	assert.equal(matcher, 'A');
	put(repo, { 'x.sh': '#!/bin/sh\necho $CLAUDE_PROJECT_DIR\n', 'sub/y': '' });
	fs.chmodSync(path.join(repo, 'x.sh'), 0o755);
	spawnSync('git', ['init', '-q', repo]);
	spawnSync('sh', ['-c', hook.command], { cwd: path.join(repo, 'sub') });
	assert.equal(read(repo, 'sub/out').trim(), repo);
});

test('hooks that the user has switched off are not offered', options, async (t) => {
	const { user, detect } = await begin(t, { '.claude/settings.json': { disableAllHooks: true, hooks: HOOKS } });
	assert.deepEqual(brief(await detect()), []);
	put(user, { '.claude/settings.local.json': { disableAllHooks: false } });
	assert.deepEqual(brief(await detect()), ['HOOKS false PreToolUse']);
});

test('the user’s CODEX_HOME in a folder does not make it a project', options, async (t) => {
	const repo = tempDir(t, 'repo'), user = tempDir(t, 'user'), home = path.join(repo, '.codex');
	fs.renameSync(makeHome(t, null), home);
	put(repo, { '.mcp.json': { mcpServers: { rep: { command: 'r' } } }, '.claude/settings.json': { hooks: HOOKS } });
	const before = read(home, 'config.toml');
	const { stdout } = await runCodex(t, ['import', '--apply'], { home, cwd: repo, env: { HOME: user } });
	assert.equal(stdout, 'There is nothing to import from Claude Code.\n');
	assert.equal(read(home, 'config.toml'), before);
	assert.ok(!fs.existsSync(path.join(home, 'hooks.json')));
});

test('each project is detected once, with all lists of details, and in bounded memory', options, async (t) => {
	const { repo, user, codex, detect } = await begin(t, {}, { '.git/HEAD': '', 'sub/x': '', '.mcp.json': { mcpServers: { rep: { command: 'r' } } } });
	const items = await detect({ cwds: [path.join(repo, 'sub'), repo, repo] });
	assert.deepEqual(brief(items), ['MCP_SERVER_CONFIG true rep']);
	assert.deepEqual(Object.keys(items[0].details).sort(), ['commands', 'hooks', 'mcpServers', 'plugins', 'sessions', 'skills', 'subagents']);
	const many = Array(24).fill().map((_, i) => path.join(user, `p${i}`));
	for (const folder of many)
		put(folder, { '.claude/settings.json': `{"a":[${'[],'.repeat(1 << 18)}[]]}`, 'CLAUDE.md': 'x' });
	const request = { method: 'externalAgentConfig/detect', importId: 'x', params: { cwds: many } };
	const { stdout, status } = spawnSync('sh', ['-c', 'ulimit -v 400000; exec "$0" import --rpc', codexBin],
		{ input: JSON.stringify(request), encoding: 'utf8', env: { ...process.env, HOME: user, CODEX_HOME: codex } });
	if (process.env.ASAN_OPTIONS === undefined) assert.deepEqual([status, JSON.parse(`[${stdout}]`).length], [0, 24]);
});

test('what cannot work is refused: links in place of a skill’s text, odd roles, names that the user has', options, async (t) => {
	const { user, repo, codex, detect, carry, failuresOf } = await begin(t, { 'dot.md': 'linked', '.claude/skills/ln/y': '',
		'.claude/agents/a.b.md': '---\ndescription: d\n---\nx', '.claude/agents/long.md': `---\ndescription: d\n---\n${'\u0001'.repeat(30000)}`,
		'.claude/agents/rev.md': '---\ndescription: d\n---\nx' },
	{ '.claude/skills/s/y': '', '.mcp.json': { mcpServers: { mine: { command: 'theirs' }, other: { command: 'c', env: { MY_SECRET: '${OTHER}' } } } } },
	'[mcp_servers.mine]\nurl = "https://x"\n[agents.rev]\ndescription = "mine"\n');
	fs.symlinkSync(path.join(user, 'dot.md'), path.join(user, '.claude/skills/ln/SKILL.md'));
	fs.symlinkSync(path.join(user, 'dot.md'), path.join(repo, '.claude/skills/s/SKILL.md'));
	const items = await detect();
	assert.deepEqual(brief(items), ['SKILLS false ln', 'SUBAGENTS false a.b long', 'MCP_SERVER_CONFIG true other', 'SKILLS true s']);
	const failures = failuresOf(await carry(...items));
	assert.match(failures[0], /^import s: .*SKILL.md is reached by a symbolic link/);
	assert.match(failures[1], /^import a.b: the name of a role has no points/);
	assert.match(failures[2], /^import long: it is larger than a role can be: 65536 bytes/);
	assert.match(failures[3], /^import other: its MY_SECRET contains a variable/);
	assert.equal(failures.length, 4);
	assert.equal(read(user, '.agents/skills/ln/SKILL.md'), 'linked');
	assert.ok(fs.lstatSync(path.join(user, '.agents/skills/ln/SKILL.md')).isFile());
	assert.ok(!fs.existsSync(path.join(repo, '.agents')) && !fs.existsSync(path.join(codex, 'agents')));
});

test('the files of a project are neither read nor written through links', options, async (t) => {
	const { user, repo, detect, carry, failuresOf } = await begin(t, { secret: 'SECRET', 'there/x': '', 'there/agents/ok.toml': '' }, {
		'CLAUDE.md': 'x', '.claude/skills/ok/SKILL.md': 'x',
		'.claude/agents/good.md': '---\ndescription: d\n---\nx', '.mcp.json': { mcpServers: { rep: { command: 'r' } } } });
	fs.symlinkSync(path.join(user, 'secret'), path.join(repo, '.claude/skills/ok/stolen'));
	fs.symlinkSync(path.join(user, 'secret'), path.join(repo, '.claude/agents/bad.md'));
	fs.symlinkSync(path.join(user, 'there'), path.join(repo, '.codex'));
	fs.symlinkSync(path.join(user, 'there'), path.join(repo, '.agents'));
	spawnSync('mkfifo', [path.join(repo, '.claude/settings.json')]);
	const items = await detect();
	assert.match(items[0].description, /settings.json is not a regular file/);
	const results = await carry(...items);
	assert.deepEqual(results.map(({ itemType, successes }) => `${itemType} ${successes.length}`),
		['CONFIG 0', 'MCP_SERVER_CONFIG 0', 'SKILLS 0', 'SUBAGENTS 0', 'AGENTS_MD 1']);
	for (const line of failuresOf(results.slice(1))) assert.match(line, /is reached by a symbolic link, which is not followed/);
	assert.deepEqual([fs.readdirSync(path.join(user, 'there')), fs.readdirSync(path.join(user, 'there/agents'))], [['agents', 'x'], ['ok.toml']]);

	for (const name of ['.agents', '.codex']) fs.unlinkSync(path.join(repo, name));
	put(repo, { '.codex/x': '' });
	fs.symlinkSync(path.join(user, 'there/x'), path.join(repo, '.codex/config.toml'));
	const later = await carry(...await detect());
	assert.match(failuresOf(later.filter(({ itemType }) => itemType === 'MCP_SERVER_CONFIG'))[0], /config.toml is reached by a symbolic link/);
	assert.equal(read(user, 'there/x'), '');
	assert.match(failuresOf(later.filter(({ itemType }) => itemType === 'SKILLS'))[0], /^partial ok: 1 links or special files are left out/);
	assert.deepEqual(fs.readdirSync(path.join(repo, '.agents/skills/ok')), ['SKILL.md']);
	const left = spawnSync('grep', ['-rl', 'SECRET', repo], { encoding: 'utf8' }).stdout;
	assert.equal(left, '', 'nothing was read through a link');
});

test('a skill keeps its rights to execute, appears whole or not at all, and has limits', options, async (t) => {
	const { user, detect, carry, failuresOf } = await begin(t, { '.claude/skills/run/SKILL.md': 'x', '.claude/skills/run/bin/tool': '#!/bin/sh\n',
		'.claude/skills/run/.hidden': 'h', '.claude/skills/big/SKILL.md': 'x', '.claude/skills/deep/SKILL.md': 'x', '.claude/skills/many/SKILL.md': 'x',
		[`.claude/skills/deep/${'d/'.repeat(9)}f`]: 'x' });
	fs.chmodSync(path.join(user, '.claude/skills/run/bin/tool'), 0o755);
	fs.writeFileSync(path.join(user, '.claude/skills/big/huge'), Buffer.alloc(17 << 20));
	for (let i = 0; i < 1030; i++) fs.writeFileSync(path.join(user, `.claude/skills/many/${i}`), '');
	const failures = failuresOf(await carry(...await detect()));
	assert.match(failures[0], /^import big: .*16 MiB/);
	assert.match(failures[1], /^import deep: .*8 levels/);
	assert.match(failures[2], /^import many: .*1024 files/);
	assert.deepEqual(fs.readdirSync(path.join(user, '.agents/skills')), ['run']);
	assert.deepEqual([mode(user, '.agents/skills/run/bin/tool'), mode(user, '.agents/skills/run/SKILL.md'), mode(user, '.agents/skills/run')],
		['700', '600', '700']);
	assert.equal(read(user, '.agents/skills/run/.hidden'), 'h');
});

test('sources beyond the limits, or malformed ones, are refused with the reason', options, async (t) => {
	const { user, repo, codex, detect, carry, failuresOf } = await begin(t, { '.claude/settings.json': '{"env": [', '.claude/CLAUDE.md': ' \n',
		'.claude/agents/none.md': 'no front matter',
		'.claude.json': { history: 'h'.repeat(2 << 20), mcpServers: { s: { command: 's' } } } });
	assert.deepEqual(brief(await detect({ includeHome: true, cwds: ['/nowhere', 'relative', repo, user] })),
		['CONFIG false', 'MCP_SERVER_CONFIG false s', 'SUBAGENTS false none']);
	const results = await carry(...await detect());
	assert.match(failuresOf(results)[0], /^detect null: .*settings\.json: line 1 column/);
	assert.match(failuresOf(results)[1], /^import none: it has no description/);
	assert.match(read(codex, 'config.toml'), /\[mcp_servers\.s\]/);

	fs.writeFileSync(path.join(user, '.claude.json'), JSON.stringify({ history: 'h'.repeat(17 << 20) }));
	fs.writeFileSync(path.join(user, '.claude/settings.json'), JSON.stringify({ env: { A: 'a'.repeat(2 << 20) } }));
	for (let i = 0; i < 1030; i++) put(user, { [`.claude/commands/${i}.md`]: '' });
	const items = await detect({ includeHome: true });
	assert.match(items[0].description, /^Cannot migrate all settings: .*settings\.json is larger than 1048576 bytes/);
	assert.match(items[1].description, /^Cannot migrate all MCP servers: .*\.claude\.json is larger than 16777216 bytes/);
	fs.writeFileSync(path.join(repo, '.mcp.json'), JSON.stringify({ mcpServers: Object.fromEntries(Array(1030).fill().map((_, i) => [`s${i}`, {}])) }));
	fs.writeFileSync(path.join(user, '.claude.json'), '{}');
	assert.match((await detect({ cwds: [repo] }))[0].description, /^Cannot migrate all MCP servers: a file of .* has more than 1024 of them/);
	assert.match(items[2].description, /^Cannot migrate all commands: .*commands has more than 1024 entries/);
});

test('the user’s own files are read through links, and a home that is a repository is no project', options, async (t) => {
	const { user, codex, detect, carry, failuresOf } = await begin(t, {
		'dot/skills/one/SKILL.md': 'x', 'dot/CLAUDE.md': 'x', 'dot/settings.json': { env: { A: 'b' } },
		'work/.mcp.json': { mcpServers: { s: { command: 'c' } } }, '.git/HEAD': '' });
	fs.symlinkSync(path.join(user, 'dot'), path.join(user, '.claude'));
	fs.renameSync(path.join(codex, 'config.toml'), path.join(user, 'config.toml'));
	fs.symlinkSync(path.join(user, 'config.toml'), path.join(codex, 'config.toml'));
	const items = await detect({ includeHome: true, cwds: [path.join(user, 'work')] });
	assert.deepEqual(brief(items), ['CONFIG false', 'SKILLS false one', 'AGENTS_MD false', 'MCP_SERVER_CONFIG true s']);
	assert.deepEqual(failuresOf(await carry(...items)), []);
	assert.match(read(user, 'config.toml'), /A = "b"/);
	assert.ok(fs.lstatSync(path.join(codex, 'config.toml')).isSymbolicLink());
	assert.match(read(user, 'work/.codex/config.toml'), /mcp_servers\.s/);
});

test('other kinds, folders that are no projects, and too many items are refused', options, async (t) => {
	const { user, detect, carry, failuresOf, server } = await begin(t, { '.claude/CLAUDE.md': 'x' });
	const item = (itemType, cwd = null) => ({ itemType, description: '', cwd });
	assert.deepEqual(failuresOf(await carry(item('PLUGINS'), item('CONFIG', '/nowhere'), item('CONFIG', user))), [
		'import null: plugins and memories of other agents are not imported (plugins: codex plugin add)',
		'detect null: /nowhere is no folder; its path must be absolute', `detect null: ${user} is your home, which is no project`]);
	const refused = (migrationItems, why, more) => assert.rejects(server.request('externalAgentConfig/import', { migrationItems, ...more }), why);
	await refused([item('MEMORY')], /external agent memory import is disabled/);
	await refused(Array(257).fill(item('CONFIG')), /more than 256 items/);
	await refused([item('CONFIG')], /Cursor is not supported/, { migrationSource: 'cursor' });
	await assert.rejects(server.request('externalAgentConfig/detect', { cwds: Array(257).fill('/') }), /more than 256 folders/);
	assert.deepEqual(brief(await detect()), ['AGENTS_MD false']);
	assert.equal((await server.end()).code, 0);
});

test('imports are recorded, the newest first, and clients can record their own', options, async (t) => {
	const { codex, server } = await begin(t, { '.claude/CLAUDE.md': 'x' });
	const file = path.join(codex, 'import_history.jsonl');
	const histories = async (...params) => (await server.request('externalAgentConfig/import/readHistories', ...params)).data;
	const record = (providerId, itemTypeResults) => server.request('externalAgentConfig/import/recordHistory', { providerId, itemTypeResults });
	assert.deepEqual(await histories(), []);
	const item = { itemType: 'AGENTS_MD', description: '' };
	const { importId } = await server.request('externalAgentConfig/import', { migrationItems: [item], providerId: 'prov' });
	await server.next('externalAgentConfig/import/completed');
	const own = await record('other', [{ itemType: 'CONFIG', successes: [{ itemType: 'CONFIG', source: 's', title: 't' }],
		failures: [{ itemType: 'CONFIG', failureStage: 'f', message: 'm' }] }]);
	const [second, first, ...rest] = await histories({});
	assert.deepEqual([rest, first.importId, first.providerId, first.failures], [[], importId, 'prov', []]);
	assert.equal(first.successes[0].target, path.join(codex, 'AGENTS.md'));
	assert.ok(second.completedAtMs >= first.completedAtMs && first.completedAtMs > 1e12);
	assert.deepEqual(second, { importId: own.importId, providerId: 'other', completedAtMs: second.completedAtMs,
		successes: [{ itemType: 'CONFIG', cwd: null, source: 's', target: null, title: 't' }],
		failures: [{ itemType: 'CONFIG', errorType: null, subErrorType: null, failureStage: 'f', message: 'm', cwd: null, source: null }] });
	assert.equal(mode(file), '600');
	fs.writeFileSync(file, `{"torn\n7\n${`${JSON.stringify(first)}\n`.repeat(150)}`);
	assert.equal((await histories({})).length, 150);
	await record('last', []);
	assert.deepEqual([(await histories({})).length, read(file).split('\n').length, (await histories({}))[0].providerId], [98, 101, 'last']);
	await server.request('externalAgentConfig/import', { migrationItems: [] });
	assert.equal((await histories({})).length, 98, 'nothing was imported');
	fs.writeFileSync(file, Buffer.alloc(5 << 20));
	await assert.rejects(histories({}), /import_history.jsonl is larger than/);
	const left = await server.request('externalAgentConfig/import', { migrationItems: [{ ...item, itemType: 'CONFIG' }] });
	assert.equal((await server.next('externalAgentConfig/import/completed')).params.importId, left.importId);
});

test('codex import shows what there is, and imports it with --apply', options, async (t) => {
	const user = tempDir(t, 'user'), repo = tempDir(t, 'repo'), home = makeHome(t, null);
	put(user, { '.claude/CLAUDE.md': 'rules', '.claude.json': { mcpServers: { ok: { command: 'c' }, 'no\u001b[31m': { command: 'x' } } } });
	const run = (...args) => runCodex(t, ['import', ...args], { home, cwd: repo, env: { HOME: user } });
	const shown = await run();
	assert.equal(shown.code, 0, shown.stderr);
	assert.match(shown.stdout,
		/^Migrate MCP servers from .*\n {2}ok\n {2}no\^\[\[31m\nMigrate instructions from .*\nTo import this, run `codex import --apply`\.\n$/);
	assert.ok(!fs.existsSync(path.join(home, 'AGENTS.md')));
	const applied = await run('--apply', '-C', repo);
	assert.match(applied.stdout, / {2}imported: ok\n {2}not all: no\^\[\[31m: its name has other characters/);
	assert.equal(read(home, 'AGENTS.md'), 'rules');
	fs.writeFileSync(path.join(user, '.claude.json'), '{}');
	assert.equal((await run()).stdout, 'There is nothing to import from Claude Code.\n');
	assert.match((await run('-C', '/nowhere')).stderr, /^codex import: \/nowhere does not exist/);
});

test('without codex-fleet a request names what to install', options, async (t) => {
	const alone = path.join(tempDir(t, 'bin'), 'codex');
	fs.copyFileSync(codexBin, alone);
	const server = await startAppServer(t, null, { home: makeHome(t, null), bin: alone });
	await assert.rejects(server.request('externalAgentConfig/detect', { includeHome: true }), /cannot find codex-fleet: install the package codex-c-fleet/);
});

// ---- the course of an import ----

/** The process that imports for this CODEX_HOME. */
const importer = (codex) => Number(fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).find((name) => {
	try {
		return read('/proc', name, 'cmdline').includes('\0import\0--rpc\0') && read('/proc', name, 'environ').includes(`CODEX_HOME=${codex}\0`);
	} catch { return false; }
}));

/** An import of a skill and of a setting, which waits for the lock of config.toml; holds it until let go. */
async function beginSlow(t, ...types) {
	const it = await begin(t, { '.claude/skills/one/SKILL.md': '---\nname: one\ndescription: d\n---\n', '.claude/settings.json': { env: { FOO: 'x' } } });
	const holder = spawn('flock', [it.codex, 'sh', '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
	t.after(() => holder.kill('SIGKILL'));
	await new Promise((resolve) => holder.stdout.once('data', resolve));
	const release = () => new Promise((resolve) => { holder.once('close', resolve); holder.stdin.end(); });
	const migrationItems = types.map((itemType) => ({ itemType, description: '' }));
	const { importId } = await it.server.request('externalAgentConfig/import', { migrationItems });
	if (types[0] === 'SKILLS') {
		const { params } = await it.server.next('externalAgentConfig/import/progress');
		assert.deepEqual([params.importId, params.itemTypeResults[0].successes[0].source], [importId, 'one']);
	}
	assert.deepEqual(it.server.all('externalAgentConfig/import/completed'), [], 'it goes on');
	return { ...it, importId, release, migrationItems };
}
const outcome = ({ params }) => [params.importId, params.itemTypeResults.map(({ itemType, successes, failures }) =>
	`${itemType} ${successes.length} ${failures.map(({ message }) => message)}`.trim())];

test('progress arrives while the import goes on, after its response', options, async (t) => {
	const { codex, server, release, importId } = await beginSlow(t, 'SKILLS', 'CONFIG');
	assert.doesNotMatch(read(codex, 'config.toml'), /FOO/);
	await release();
	assert.deepEqual(outcome(await server.next('externalAgentConfig/import/completed')), [importId, ['SKILLS 1', 'CONFIG 1']]);
	assert.equal((await server.request('config/read', {})).config.shell_environment_policy.set.FOO, 'x');
	const order = server.messages.map(({ id, method, result }) => method ?? (result?.importId ? 'response' : id));
	assert.ok(order.indexOf('response') < order.indexOf('externalAgentConfig/import/progress'), order.join());
});

test('an import is answered before its first item is done, and a second one is refused until its end', options, async (t) => {
	const { server, release, importId, migrationItems } = await beginSlow(t, 'CONFIG', 'SKILLS');
	assert.deepEqual(server.all('externalAgentConfig/import/progress'), []);
	await assert.rejects(server.request('externalAgentConfig/import', { migrationItems }), /^Error: 1 import runs, and no more/);
	await release();
	assert.deepEqual(outcome(await server.next('externalAgentConfig/import/completed')), [importId, ['CONFIG 1', 'SKILLS 1']]);
	const again = await server.request('externalAgentConfig/import', { migrationItems });
	const [id, results] = outcome(await server.next('externalAgentConfig/import/completed'));
	assert.deepEqual([id, results.map((line) => line.slice(0, 8))], [again.importId, ['CONFIG 0', 'SKILLS 0']]);
});

test('an import ends with its client', options, async (t) => {
	const { codex, server, release } = await beginSlow(t, 'SKILLS', 'CONFIG');
	const pid = importer(codex);
	assert.ok(isAlive(pid));
	assert.equal((await server.end()).code, 0);
	assert.ok(!isAlive(pid));
	await release();
	assert.doesNotMatch(read(codex, 'config.toml'), /FOO/);
});

test('an import whose command is killed is completed with its results and the reason', options, async (t) => {
	const { codex, server, importId } = await beginSlow(t, 'SKILLS', 'CONFIG');
	process.kill(importer(codex), 'SIGKILL');
	assert.deepEqual(outcome(await server.next('externalAgentConfig/import/completed')), [importId, ['SKILLS 1', 'CONFIG 0 codex import was ended']]);
	assert.equal((await server.end()).code, 0);
});

/** An app-server whose codex-fleet is this script. */
async function withFleet(t, script) {
	const bin = path.join(tempDir(t, 'bin'), 'codex');
	fs.copyFileSync(codexBin, bin);
	const head = `#!/bin/sh\nrequest=$(cat)\nid=$(echo "$request" | sed 's/.*"importId":"\\([^"]*\\)".*/\\1/')\n`;
	fs.writeFileSync(`${bin}-fleet`, `${head}${script}\n`, { mode: 0o755 });
	return startAppServer(t, null, { home: makeHome(t, null), bin });
}
const LAST = 'echo; echo "{\\"importId\\":\\"$id\\",\\"itemTypeResults\\":[],\\"isLast\\":true}"';

test('each import that has begun is completed once, whatever its command prints', options, async (t) => {
	const migrationItems = [{ itemType: 'SKILLS', description: '' }];
	for (const [script, results] of [[`${LAST}; exit 1`, []], ['echo; echo garbage', ['SKILLS 0 codex import printed no last line']],
		['echo; echo no >&2; exit 3', ['SKILLS 0 no']], [`${LAST}; ${LAST}`, []]]) {
		const server = await withFleet(t, script);
		const { importId } = await server.request('externalAgentConfig/import', { migrationItems });
		assert.deepEqual(outcome(await server.next('externalAgentConfig/import/completed')), [importId, results], script);
		await server.request('externalAgentConfig/import', { migrationItems: [] }).catch(() => {});
		assert.equal((await server.end()).code, 0);
		assert.equal(server.all('externalAgentConfig/import/completed').filter(({ params }) => params.importId === importId).length, 1, script);
	}
});

test('a command that does not answer is ended after the time for a request', options, async (t) => {
	const server = await withFleet(t, 'exec sleep 1000');
	await assert.rejects(server.request('plugin/list', {}), /codex plugin took longer than 30 seconds and was ended/);
	assert.equal((await server.end()).code, 0);
});
