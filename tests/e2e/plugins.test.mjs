// Plugins: skills, hooks and MCP servers in one folder, and `codex plugin`.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { codexExec, makeHome, needs, runCodex, say, startModel, tempDir, textsOf } from './lib/codex.mjs';

const options = needs('plugin');

/** A plugin's folder; files are contents by path. */
function makePlugin(t, name, files) {
	const root = path.join(tempDir(t, 'plugin'), 'source');
	const all = { '.codex-plugin/plugin.json': JSON.stringify({ name, version: '1.0.0' }), ...files };
	for (const [file, content] of Object.entries(all)) {
		fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		fs.writeFileSync(path.join(root, file), content);
	}
	return root;
}

const SKILL = '---\nname: tidy\ndescription: Tidies the desk.\n---\nPut everything away.\n';
const HOOKS = JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo from ${CODEX_PLUGIN_ROOT}' }] }] } });
const SERVERS = JSON.stringify({ mcpServers: { mine: { command: '${CLAUDE_PLUGIN_ROOT}/server' }, bad: { command: 5 } } });

const plugin = (t, home, ...args) => runCodex(t, ['plugin', ...args], { home });

test('a folder is linked, listed and removed', options, async (t) => {
	const home = makeHome(t, null), root = makePlugin(t, 'desk', {});
	assert.deepEqual(JSON.parse((await plugin(t, home, 'list', '--json')).stdout), { installed: [], available: [] });
	assert.deepEqual([(await plugin(t, home, 'add', root)).stdout], ['Added plugin desk.\n']);
	assert.equal(fs.readlinkSync(path.join(home, 'plugins/desk')), root);
	const again = await plugin(t, home, 'add', root);
	assert.deepEqual([again.code, /exists already/.test(again.stderr)], [1, true]);
	const { installed } = JSON.parse((await plugin(t, home, 'list', '--json')).stdout);
	assert.deepEqual(installed, [{ name: 'desk', version: '1.0.0', installed: true, enabled: true, path: path.join(home, 'plugins/desk') }]);
	assert.match((await plugin(t, home, 'list')).stdout, /^desk\tenabled\t/);
	assert.equal((await plugin(t, home, 'remove', 'desk')).stdout, 'Removed plugin desk.\n');
	assert.ok(fs.existsSync(path.join(root, '.codex-plugin/plugin.json')), 'the folder itself stays');
	for (const args of [['remove', 'desk'], ['remove', '../plugins'], ['add', home], ['add', path.join(home, 'none')]])
		assert.equal((await plugin(t, home, ...args)).code, 1);
	for (const args of [[], ['add'], ['remove']]) assert.equal((await plugin(t, home, ...args)).code, 2);
	fs.writeFileSync(path.join(root, '.codex-plugin/plugin.json'), '{"name":"../x"}');
	assert.match((await plugin(t, home, 'add', root)).stderr, /letters, digits/);
});

test('show prints what a plugin brings, before and after it is added', options, async (t) => {
	const home = makeHome(t, null), files = { 'skills/tidy/SKILL.md': SKILL, 'skills/none/x': '', 'hooks/hooks.json': HOOKS, '.mcp.json': SERVERS };
	const root = makePlugin(t, 'desk', { ...files, '.codex-plugin/plugin.json': '{"name":"desk","version":"1.0.0","description":"Order\\nFolder: /no"}' });
	const brings = 'desk 1.0.0\nHooks: UserPromptSubmit\nMCP servers: mine, bad\nSkills: tidy\nFolder: ', about = '\nOrder\\nFolder: /no\n';
	assert.equal((await plugin(t, home, 'show', root)).stdout, brings + fs.realpathSync(root) + about);
	await plugin(t, home, 'add', root);
	assert.equal((await plugin(t, home, 'show', 'desk')).stdout, `${brings}${home}/plugins/desk${about}`);
	fs.writeFileSync(path.join(root, '.mcp.json'), '[');
	assert.match((await plugin(t, home, 'show', 'desk')).stdout, /MCP servers: \S+\.mcp\.json: /);
	for (const [word, fault] of [['none', /no plugin named `none`/], [home, /is not a plugin/], ['x@y', /no plugin named/]]) {
		const { code, stderr } = await plugin(t, home, 'show', word);
		assert.equal(code, 1);
		assert.match(stderr, fault);
	}
	assert.equal((await plugin(t, home, 'show')).code, 2);
	const cwd = path.join(tempDir(t, 'here'), 'x'); // a name does not mean a folder of the repository
	fs.cpSync(root, path.join(cwd, 'chair@shop'), { recursive: true });
	const named = await runCodex(t, ['plugin', 'show', 'chair@shop'], { home, cwd });
	assert.deepEqual([named.code, /no plugin named `chair@shop`/.test(named.stderr)], [1, true]);
});

test('a repository is cloned, without its hooks, and removed with its files', options, async (t) => {
	const home = makeHome(t, null), root = makePlugin(t, 'desk', { 'skills/tidy/SKILL.md': SKILL });
	const git = (...args) => execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
	git('init', '-q');
	git('add', '.');
	git('commit', '-qm', 'one');
	assert.equal((await plugin(t, home, 'add', `file://${root}`)).stdout, 'Added plugin desk.\n');
	assert.ok(fs.existsSync(path.join(home, 'plugins/desk/skills/tidy/SKILL.md')));
	fs.mkdirSync(path.join(home, 'plugins/.new-old/x'), { recursive: true }); // the rest of a clone that was cancelled
	fs.utimesSync(path.join(home, 'plugins/.new-old'), 1, 1);
	assert.equal((await plugin(t, home, 'add', `file://${root}`)).code, 1);
	assert.equal((await plugin(t, home, 'add', `file://${root}-none`)).code, 1);
	assert.deepEqual(fs.readdirSync(path.join(home, 'plugins')), ['desk'], 'failures leave nothing');
	assert.equal((await plugin(t, home, 'remove', 'desk')).code, 0);
	assert.deepEqual(fs.readdirSync(path.join(home, 'plugins')), []);
});

test('skills, MCP servers and hooks of a plugin are used; hooks need trust', options, async (t) => {
	const root = makePlugin(t, 'desk', { 'skills/tidy/SKILL.md': SKILL, 'hooks/hooks.json': HOOKS, '.mcp.json': SERVERS });
	const model = await startModel(t, [say('one'), say('two')]);
	const home = makeHome(t, model, 'mcp_optional_startup_grace_ms = 1');
	await plugin(t, home, 'add', root);
	const first = await codexExec(t, model, ['hi'], { home });
	assert.equal(first.code, 0, first.stderr);
	assert.match(first.stderr, /an MCP server of plugin desk is not used: .*\.mcp\.json/);
	assert.ok(textsOf(model.requests()[0], 'developer').concat(textsOf(model.requests()[0], 'user')).some((words) => words.includes('Tidies the desk.')));
	assert.ok(!textsOf(model.requests()[0], 'developer').some((words) => words.includes('from ')), 'not trusted yet');
	const servers = JSON.parse((await runCodex(t, ['mcp', 'list', '--json'], { home })).stdout);
	assert.deepEqual(servers.map(({ name, transport }) => [name, transport.command]), [['mine', `${home}/plugins/desk/server`]]);
	await runCodex(t, ['hooks', 'trust', '--all'], { home });
	await codexExec(t, model, ['hi'], { home });
	assert.ok(textsOf(model.requests()[1], 'developer').some((words) => words.includes(`from ${home}/plugins/desk`)));
	const server = await startAppServer(t, model, { home });
	const { data } = await server.request('hooks/list', {});
	assert.deepEqual(data[0].hooks.map(({ source, trustStatus }) => [source, trustStatus]), [['plugin', 'trusted']]);
});

test('[plugins.NAME] enabled = false and --ignore-user-config leave a plugin out', options, async (t) => {
	const root = makePlugin(t, 'desk', { 'skills/tidy/SKILL.md': SKILL, '.mcp.json': SERVERS });
	const model = await startModel(t, [say('one')]);
	const home = makeHome(t, model, 'plugins.desk.enabled = false');
	await plugin(t, home, 'add', root);
	assert.match((await plugin(t, home, 'list')).stdout, /^desk\tdisabled\t/);
	assert.deepEqual(JSON.parse((await runCodex(t, ['mcp', 'list', '--json'], { home })).stdout), []);
	await codexExec(t, model, ['hi'], { home });
	assert.ok(!JSON.stringify(model.requests()[0].body.input).includes('Tidies'));
});

test('features.plugins = false leaves all plugins out; a project cannot set it', options, async (t) => {
	const root = makePlugin(t, 'desk', { '.mcp.json': SERVERS, 'hooks/hooks.json': HOOKS, 'skills/tidy/SKILL.md': SKILL });
	const model = await startModel(t, [say('one'), say('two')]);
	const home = makeHome(t, model, 'mcp_optional_startup_grace_ms = 1'), cwd = tempDir(t, 'project');
	await plugin(t, home, 'add', root);
	const names = async (...args) => JSON.parse((await runCodex(t, ['mcp', 'list', '--json', ...args], { home, cwd })).stdout).map(({ name }) => name);
	const hooks = async () => JSON.parse((await runCodex(t, ['hooks', 'list', '--json'], { home, cwd })).stdout).hooks.length;
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), 'features.plugins = false\n');
	fs.appendFileSync(path.join(home, 'config.toml'), `[projects."${cwd}"]\ntrust_level = "trusted"\n`);
	assert.deepEqual([await names(), await hooks()], [['mine'], 1]);
	assert.deepEqual(await names('--disable', 'plugins'), []);
	assert.deepEqual(await names('-c', 'features.plugins={ enabled = false }'), []);
	const skills = async (at, ...args) => {
		await codexExec(t, model, [...args, 'hi'], { home, cwd });
		return JSON.stringify(model.requests()[at].body.input).includes('Tidies');
	};
	assert.deepEqual([await skills(0), await skills(1, '--disable', 'plugins')], [true, false]);
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), '[features.plugins]\nenabled = false\n');
	assert.deepEqual(await names(), ['mine']);
	fs.appendFileSync(path.join(home, 'config.toml'), '[features]\nplugins = false\n');
	assert.deepEqual([await names(), await hooks()], [[], 0]);
	assert.match((await plugin(t, home, 'list')).stdout, /^desk\tdisabled\t/);
});

test('broken files of a plugin are warnings', options, async (t) => {
	const root = makePlugin(t, 'desk', { 'hooks/hooks.json': '{', '.mcp.json': '[]' });
	const model = await startModel(t, [say('one')]);
	const home = makeHome(t, model);
	await plugin(t, home, 'add', root);
	const { code, stdout, stderr } = await codexExec(t, model, ['hi'], { home });
	assert.deepEqual([code, stdout], [0, 'one\n']);
	assert.match(stderr, /MCP servers of plugin desk are not used: .*\.mcp\.json/);
	assert.match(stderr, /hooks are ignored: .*hooks\.json/);
});

// ---- marketplaces ----

const ENTRY = { name: 'desk', source: { source: 'local', path: './all/desk' }, policy: { installation: 'AVAILABLE', authentication: 'ON_USE' } };

/** A marketplace with the plugin desk, whose folder is all/desk. */
function makeMarket(t, plugins = [ENTRY], manifest = '.agents/plugins/marketplace.json') {
	const root = fs.realpathSync(tempDir(t, 'market'));
	const all = { [manifest]: JSON.stringify({ name: 'shop', plugins }), 'all/desk/skills/tidy/SKILL.md': SKILL,
		'all/desk/hooks/hooks.json': HOOKS, 'all/desk/.codex-plugin/plugin.json': JSON.stringify({ name: 'desk', version: '1.2.0' }) };
	for (const [file, content] of Object.entries(all)) {
		fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		fs.writeFileSync(path.join(root, file), content);
	}
	return root;
}

function commit(root, format = 'sha1') {
	const git = (...args) => execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
	git('init', '-q', '-b', 'main', `--object-format=${format}`);
	git('add', '-A');
	git('commit', '-qm', 'one');
}

const market = (t, home, ...args) => plugin(t, home, 'marketplace', ...args);
const listed = async (t, home, ...args) => JSON.parse((await plugin(t, home, 'list', '--json', ...args)).stdout);

test('a marketplace in a folder: its plugin is listed, copied, used and removed', options, async (t) => {
	const model = await startModel(t, [say('ok')]), home = makeHome(t, model), root = makeMarket(t);
	assert.equal((await market(t, home, 'add', root)).stdout, `Added marketplace shop from ${root}.\nInstalled marketplace root: ${root}\n`);
	assert.match(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /\[marketplaces\.shop\]\nsource_type = "local"\nsource = "/);
	assert.equal((await market(t, home, 'add', root)).code, 0, 'the same source again');
	assert.match((await market(t, home, 'add', makeMarket(t))).stderr, /already added from/);
	const marketplaceSource = { sourceType: 'local', source: root };
	assert.deepEqual(JSON.parse((await market(t, home, 'list', '--json')).stdout), { marketplaces: [{ name: 'shop', root, marketplaceSource }] });
	assert.deepEqual(await listed(t, home, '--available'), { installed: [], available: [{ pluginId: 'desk@shop', name: 'desk', marketplaceName: 'shop',
		version: '1.2.0', installed: false, enabled: false,
		source: { source: 'local', path: `${root}/all/desk` }, marketplaceSource, installPolicy: 'AVAILABLE',
		authPolicy: 'ON_USE' }] });
	const folder = path.join(home, 'plugins/cache/shop/desk/1.2.0');
	for (let i = 0; i < 2; i++)
		assert.equal((await plugin(t, home, 'add', 'desk@shop')).stdout, `Added plugin desk@shop.\nInstalled plugin root: ${folder}\n`);
	assert.deepEqual(fs.readdirSync(path.join(home, 'plugins/cache')), ['shop']);
	assert.deepEqual(fs.readdirSync(path.join(home, 'plugins/cache/shop')), ['desk'], 'the former copy is gone');
	const bare = { pluginId: 'desk@shop', name: 'desk', marketplaceName: 'shop', version: '1.2.0', installed: true, enabled: true, path: folder };
	const source = { source: 'local', path: `${root}/all/desk` };
	const installed = [{ ...bare, source, marketplaceSource, installPolicy: 'AVAILABLE', authPolicy: 'ON_USE' }];
	assert.deepEqual(await listed(t, home, '--available'), { installed, available: [] });
	const run = await codexExec(t, model, ['hi'], { home });
	assert.match(JSON.stringify(model.requests()[0].body), /Tidies the desk/);
	assert.ok(!JSON.stringify(model.requests()[0].body).includes('from /'), 'its hook is not trusted');
	assert.equal(run.code, 0);
	assert.match((await market(t, home, 'remove', 'shop')).stdout, /^Removed marketplace shop/);
	assert.deepEqual(await listed(t, home), { installed: [bare], available: [] }, 'its plugins stay');
	assert.equal((await plugin(t, home, 'remove', 'desk@shop')).stdout, 'Removed plugin desk@shop.\n');
	assert.deepEqual(await listed(t, home), { installed: [], available: [] });
	assert.ok(!fs.existsSync(folder));
	assert.doesNotMatch(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /shop/);
	for (const args of [['remove', 'shop'], ['upgrade', 'shop']]) assert.match((await market(t, home, ...args)).stderr, /no marketplace `shop`/);
	for (const args of [[], ['add'], ['remove'], ['other']]) assert.equal((await market(t, home, ...args)).code, 2, args.join());
});

test('a marketplace in a repository is cloned and upgraded', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t, [{ name: 'desk', source: './all/desk' }], '.claude-plugin/marketplace.json');
	commit(root);
	const clone = path.join(home, '.tmp/marketplaces/shop'), url = `file://${root}`;
	assert.match((await market(t, home, 'add', url, '--ref', 'none')).stderr, /git clone/);
	assert.equal((await market(t, home, 'add', url, '--ref', 'main')).stdout,
		`Added marketplace shop from ${url}.\nInstalled marketplace root: ${clone}\n`);
	assert.match(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /source_type = "git"\nsource = "file:.*\nref = "main"/);
	assert.equal((await plugin(t, home, 'add', 'desk@shop')).code, 0);
	fs.writeFileSync(path.join(root, 'all/desk/.codex-plugin/plugin.json'), '{"name":"desk","version":"1.3.0"}');
	commit(root);
	assert.equal((await market(t, home, 'upgrade')).stdout, 'Upgraded marketplace shop.\n');
	assert.match((await plugin(t, home, 'add', 'desk@shop')).stdout, /desk\/1\.3\.0\n/);
	assert.deepEqual(fs.readdirSync(path.join(home, 'plugins/cache/shop/desk')), ['1.3.0']);
	fs.writeFileSync(path.join(root, '.claude-plugin/marketplace.json'), '{"name":"other","plugins":[]}');
	commit(root);
	assert.match((await market(t, home, 'upgrade', 'shop')).stderr, /calls itself `other`/);
	assert.deepEqual(fs.readdirSync(path.join(home, '.tmp/marketplaces')), ['shop'], 'failures leave nothing');
	assert.match(fs.readFileSync(path.join(clone, '.claude-plugin/marketplace.json'), 'utf8'), /shop/, 'and the former clone stays');
	assert.equal((await market(t, home, 'remove', 'shop')).code, 0);
	assert.ok(!fs.existsSync(clone));
});

test('a hostile marketplace cannot reach outside its folder', options, async (t) => {
	const home = makeHome(t, null), outside = makePlugin(t, 'out', {});
	const entry = (name, where) => ({ name, source: where });
	const root = makeMarket(t, [entry('up', `./../${path.basename(path.dirname(outside))}/source`), entry('link', './all/link'),
		entry('far', { source: 'url', url: 'https://127.0.0.1:1/x' }), entry('alias', './all/desk'), entry('../x', './all/desk'),
		entry('large', './all/large'), entry('version', './all/version'), entry('bell', './\u001b]52;c;x\u0007'),
		{ ...ENTRY, policy: { installation: 'NOT_AVAILABLE' } }]);
	fs.symlinkSync(outside, path.join(root, 'all/link'));
	for (const [name, version] of [['large', '1'], ['version', '../../x']]) {
		fs.mkdirSync(path.join(root, 'all', name, '.codex-plugin'), { recursive: true });
		fs.writeFileSync(path.join(root, 'all', name, '.codex-plugin/plugin.json'), JSON.stringify({ name, version }));
	}
	fs.writeFileSync(path.join(root, 'all/large/data'), '');
	fs.truncateSync(path.join(root, 'all/large/data'), 17 * 1024 * 1024);
	assert.equal((await market(t, home, 'add', root)).code, 0);
	for (const [name, why] of [['up', /Invalid cross-device|\.\./], ['link', /symbolic link/], ['far', /git clone/],
		['alias', /does not name the plugin/], ['large', /more than 16 MiB/], ['version', /`version` must/],
		['desk', /is not available/], ['none', /was not found/], ['..', /is not NAME@MARKETPLACE/]]) {
		const { code, stderr } = await plugin(t, home, 'add', `${name}@shop`);
		assert.deepEqual([code, why.test(stderr)], [1, true], `${name}: ${stderr}`);
	}
	const { stderr } = await plugin(t, home, 'add', 'bell@shop');
	assert.match(stderr, /^Error: .*52;c;x/);
	assert.doesNotMatch(stderr, /[\u001b\u0007]/, 'text of a manifest does not reach the terminal as it is');
	assert.deepEqual((await listed(t, home, '--available')).installed, []);
	assert.deepEqual(fs.readdirSync(path.join(home, 'plugins/cache')).filter((name) => name.startsWith('.')), [], 'failures leave nothing');
	const manifest = path.join(root, '.agents/plugins/marketplace.json');
	const many = JSON.stringify({ name: 'shop', plugins: Array(1025).fill({}) });
	for (const [text, why] of [['{', /marketplace\.json/], ['{"name":"../x","plugins":[]}', /needs a `name`/], [many, /more than 1024 plugins/]]) {
		fs.writeFileSync(manifest, text);
		assert.match((await market(t, home, 'add', root)).stderr, why);
		assert.match((await plugin(t, home, 'list', '--available')).stderr, /^warning: marketplace shop: /);
	}
	fs.rmSync(manifest);
	fs.symlinkSync(path.join(outside, '.codex-plugin/plugin.json'), manifest);
	assert.match((await market(t, home, 'add', root)).stderr, /symbolic link/);
	assert.match((await market(t, home, 'add', outside)).stderr, /is no marketplace/);
});

test('the folder of the plugins of marketplaces is no plugin', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t);
	assert.equal((await market(t, home, 'add', root)).code, 0);
	assert.equal((await plugin(t, home, 'add', 'desk@shop')).code, 0);
	assert.match((await plugin(t, home, 'remove', 'cache')).stderr, /no plugin named `cache`/);
	assert.match((await plugin(t, home, 'add', makePlugin(t, 'cache', {}))).stderr, /cannot have the name `cache`/);
	for (const args of [['remove', 'typo@shop'], ['marketplace', 'remove', 'typo']])
		assert.equal((await plugin(t, home, ...args)).code, 1, args.join(' '));
	assert.deepEqual((await listed(t, home)).installed.map(({ pluginId }) => pluginId), ['desk@shop']);
});

test('a project cannot name a marketplace', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t), cwd = fs.realpathSync(tempDir(t, 'project'));
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), `[marketplaces.shop]\nsource_type = "local"\nsource = "${root}"\n`);
	fs.appendFileSync(path.join(home, 'config.toml'), `\n[projects."${cwd}"]\ntrust_level = "trusted"\n`);
	const { stdout } = await runCodex(t, ['plugin', 'marketplace', 'list', '--json'], { home, cwd });
	assert.deepEqual(JSON.parse(stdout), { marketplaces: [] });
});

/** A user's home whose git finds github.com/acme/shop.git in this folder. */
function gitHome(t, root) {
	const user = tempDir(t, 'user');
	fs.writeFileSync(path.join(user, '.gitconfig'), `[url "file://${root}"]\n\tinsteadOf = https://github.com/acme/shop.git\n`);
	return user;
}

test('OWNER/REPO is a repository at GitHub, with a branch, and with a part of its folders', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t, [ENTRY, { name: 'two', source: './all/two' }]);
	fs.mkdirSync(path.join(root, 'all/two'));
	fs.writeFileSync(path.join(root, 'all/two/data'), 'x');
	commit(root);
	const env = { HOME: gitHome(t, root) };
	const run = (...args) => runCodex(t, ['plugin', 'marketplace', ...args], { home, env });
	const clone = path.join(home, '.tmp/marketplaces/shop'), source = 'https://github.com/acme/shop.git';
	const added = await run('add', 'acme/shop@main', '--sparse', '.agents', '--sparse', 'all/desk', '--json');
	assert.deepEqual(JSON.parse(added.stdout), { marketplaceName: 'shop', installedRoot: clone, alreadyAdded: false }, added.stderr);
	assert.match(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'),
		/source_type = "git"\nsource = "https:\/\/github\.com\/acme\/shop\.git"\nref = "main"\nsparse_paths = \[".agents", "all\/desk"\]/);
	assert.deepEqual([fs.existsSync(path.join(clone, 'all/desk/skills')), fs.existsSync(path.join(clone, 'all/two'))], [true, false]);
	const again = await run('add', 'acme/shop', '--ref', 'main', '--sparse', '.agents', '--sparse', 'all/desk');
	assert.match(again.stdout, /^Marketplace shop is already added from https:/);
	for (const args of [['acme/shop'], ['acme/shop#main'], ['acme/shop@main', '--sparse', '.agents']])
		assert.match((await run('add', ...args)).stderr, /already added from .*, or another branch or part/, args.join(' '));
	assert.deepEqual(JSON.parse((await run('upgrade', '--json')).stdout), { selectedMarketplaces: ['shop'], upgradedRoots: [clone], errors: [] });
	assert.ok(!fs.existsSync(path.join(clone, 'all/two')), 'an upgrade has the same folders');
	assert.deepEqual(JSON.parse((await plugin(t, home, 'add', 'desk', '-m', 'shop', '--json')).stdout), { pluginId: 'desk@shop', name: 'desk',
		marketplaceName: 'shop', version: '1.2.0', installedPath: path.join(home, 'plugins/cache/shop/desk/1.2.0'), authPolicy: 'ON_USE' });
	const [{ marketplaceSource }] = (await listed(t, home, '--marketplace', 'shop')).installed;
	assert.deepEqual(marketplaceSource, { sourceType: 'git', source });
	assert.deepEqual(await listed(t, home, '--marketplace', 'other', '--available'), { installed: [], available: [] });
	assert.deepEqual(JSON.parse((await plugin(t, home, 'remove', 'desk', '--marketplace', 'shop', '--json')).stdout),
		{ pluginId: 'desk@shop', name: 'desk', marketplaceName: 'shop' });
	fs.rmSync(root, { recursive: true });
	const { errors } = JSON.parse((await run('upgrade', '--json')).stdout);
	assert.deepEqual(errors, [{ marketplaceName: 'shop', message: '`git clone` failed' }]);
	assert.deepEqual(JSON.parse((await run('remove', 'shop', '--json')).stdout), { marketplaceName: 'shop', installedRoot: clone });
	assert.deepEqual(fs.readdirSync(path.join(home, '.tmp/marketplaces')), []);
});

test('sources that are options, or leave the repository, are refused', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t);
	for (const [args, why] of [[['acme/shop', '--sparse', '../x'], /`\.\.\/x` is no folder of the repository/],
		[['acme/shop', '--sparse=-c'], /is no folder/],
		[['acme/shop', '--sparse', '/etc'], /is no folder/], [['acme/shop#--upload-pack=x'], /is an option|or an option/], [['acme/shop@'], /empty/],
		[[root, '--sparse', 'a'], /--sparse is for the URL/], [[root, '--ref', 'a'], /--ref is for the URL/],
		[['none'], /expected owner\/repo, a git URL, or a local/], [['./none'], /cannot open \.\/none/]]) {
		const { code, stderr } = await market(t, home, 'add', ...args);
		assert.ok(code && why.test(stderr), `${args}: ${stderr}`);
	}
	assert.ok(!fs.existsSync(path.join(home, '.tmp/marketplaces/shop')));
	assert.equal((await plugin(t, home, 'add', root, '--json')).code, 2);
});

test('every kind of source is listed as the manifest has it', options, async (t) => {
	const home = makeHome(t, null), far = { source: 'url', url: 'https://example.com/x.git', ref: 'main', sha: 'abc' };
	const subdir = { source: 'git-subdir', url: 'https://example.com/x.git', path: 'a/b' }, npm = { source: 'npm', package: 'x', version: '2' };
	const root = makeMarket(t, [far, subdir, npm, { source: 'odd' }].map((source, i) => ({ name: `p${i}`, source })));
	await market(t, home, 'add', root);
	assert.deepEqual((await listed(t, home, '--available')).available.map(({ source, version }) => [source, version]),
		[[{ ...far, source: 'git' }, null], [subdir, null], [npm, null], [null, null]]);
});

/** A repository with a plugin in its root and one in a folder; returns its URL and its first commit. */
function makeRepository(t, format = 'sha1') {
	const root = fs.realpathSync(tempDir(t, 'repository'));
	for (const [folder, name] of [['.', 'whole'], ['parts/part', 'part']]) {
		fs.mkdirSync(path.join(root, folder, '.codex-plugin'), { recursive: true });
		fs.writeFileSync(path.join(root, folder, '.codex-plugin/plugin.json'), JSON.stringify({ name, version: '1.0' }));
	}
	commit(root, format);
	return { root, url: `file://${root}`, sha: execFileSync('git', ['-C', root, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).trim() };
}

test('a plugin of a marketplace may have a repository of its own, or a folder of one', options, async (t) => {
	const home = makeHome(t, null), { root, url, sha } = makeRepository(t), cache = path.join(home, 'plugins/cache');
	await market(t, home, 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url, ref: 'main' } },
		{ name: 'part', source: { source: 'git-subdir', url, path: 'parts/part' } }]));
	assert.equal((await plugin(t, home, 'add', 'whole@shop')).stdout, `Added plugin whole@shop.\nInstalled plugin root: ${cache}/shop/whole/1.0\n`);
	assert.equal((await plugin(t, home, 'add', 'part@shop')).code, 0);
	assert.deepEqual(fs.readdirSync(`${cache}/shop/whole/1.0`).sort(), ['.codex-plugin', 'parts'], 'without .git');
	assert.deepEqual(fs.readdirSync(`${cache}/shop/part/1.0`), ['.codex-plugin']);
	assert.deepEqual(fs.readdirSync(cache), ['shop'], 'the clones are gone');
	assert.deepEqual((await listed(t, home)).installed.map(({ name, source }) => [name, source.url]), [['part', url], ['whole', url]]);
	fs.writeFileSync(path.join(root, '.codex-plugin/plugin.json'), '{"name":"whole","version":"2.0"}');
	commit(root);
	assert.match((await plugin(t, home, 'add', 'whole@shop')).stdout, /whole\/2\.0\n/);
	await market(t, home, 'remove', 'shop');
	await market(t, home, 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url, sha } }]));
	assert.match((await plugin(t, home, 'add', 'whole@shop')).stdout, /whole\/1\.0\n/, 'the commit that the marketplace names');
	assert.deepEqual(fs.readdirSync(cache), ['shop']);
});

test('a plugin whose repository is hostile, missing or a package is refused with the reason, and leaves nothing', options, async (t) => {
	const home = makeHome(t, null), { root, url } = makeRepository(t), ran = path.join(home, 'ran'), git = (more) => ({ source: 'url', url, ...more });
	const part = (path) => ({ source: 'git-subdir', url, path });
	fs.symlinkSync('/etc', path.join(root, 'link'));
	commit(root);
	const rows = [[git({ ref: 'none' }), /git clone/], [git({ ref: '--upload-pack=x' }), /an option/], [git({ url: root }), /must be a URL/],
		[git({ url: `ext::sh -c touch% ${ran} x://` }), /must be a URL/], [git({ url: '--upload-pack=x://' }), /must be a URL/],
		[git({ sha: '--force' }), /`sha` .*no commit/], [git({ sha: '0'.repeat(40) }), /git fetch/], [part('../x'), /no folder/],
		[part('/etc'), /no folder/], [part('link'), /link/], [part(''), /no folder/], [part('parts/none'), /parts\/none/],
		[part('parts/part'), /does not name the plugin/], [{ source: 'npm', package: 'left' }, /npm package `left`.*URL of its repository/],
		[{ source: 'odd' }, /neither a folder/], ...[{ sha: 12345 }, { sha: ['0'.repeat(40)] }, { sha: 'a\0' }, { ref: 1 }, { url: true }]
			.map((it) => [git(it), new RegExp(`\`${Object.keys(it)[0]}\` of the source of .* must be a text`)]), [part(1), /`path` of/],
		[part('\x1b7'), /pathspec/], ...[git({ url: '\x1b7' }), { source: 'npm', package: '\x1b7' }].map((it) => [it, /\^\[7/])];
	await market(t, home, 'add', makeMarket(t, rows.map(([source], i) => ({ name: `p${i}`, source }))));
	for (const [i, [, message]] of rows.entries()) {
		const { code, stderr } = await plugin(t, home, 'add', `p${i}@shop`);
		assert.equal(code, 1, `${i}`);
		assert.match(stderr, message);
		assert.doesNotMatch(stderr, /\x1b/, 'no escape sequence reaches the terminal');
	}
	assert.ok(!fs.existsSync(ran));
	const left = fs.existsSync(path.join(home, 'plugins/cache')) ? fs.readdirSync(path.join(home, 'plugins/cache')) : [];
	assert.deepEqual(left.filter((it) => it !== 'shop'), []);
	assert.doesNotMatch(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /plugins/);
});

test('the commit of a plugin is no branch of a repository with ids of another length', options, async (t) => {
	for (const [format, length] of [['sha1', 64], ['sha256', 40]]) {
		const home = makeHome(t, null), { root, url } = makeRepository(t, format), sha = '0123456789abcdef'.repeat(4).slice(0, length);
		fs.renameSync(path.join(root, '.git/refs/heads/main'), path.join(root, '.git/refs/heads', sha));
		fs.writeFileSync(path.join(root, '.git/HEAD'), `ref: refs/heads/${sha}\n`);
		await market(t, home, 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url, sha } }]));
		const { code, stderr } = await plugin(t, home, 'add', 'whole@shop');
		assert.deepEqual([code, stderr.includes(`for the commit ${sha} of`)], [1, true], stderr);
		assert.deepEqual(fs.readdirSync(path.join(home, 'plugins/cache')), []);
	}
});

test('no program runs for the URL of a repository, and a marketplace of a repository names none of this machine', options, async (t) => {
	const home = makeHome(t, null), bin = tempDir(t, 'bin'), ran = path.join(bin, 'ran'), { url } = makeRepository(t);
	fs.writeFileSync(path.join(bin, 'git-remote-zzz'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
	const env = { PATH: `${bin}:${process.env.PATH}` }, add = (...args) => runCodex(t, ['plugin', ...args], { home, env });
	const urls = ['zzz::x://y', 'zzz://y', 'http://127.0.0.1:1/x', 'git://127.0.0.1/x', '/a/b://', `${url}`];
	const root = makeMarket(t, urls.map((it, i) => ({ name: `p${i}`, source: { source: 'url', url: it } })));
	commit(root);
	await market(t, home, 'add', `file://${root}`);
	for (const i of urls.keys()) assert.match((await add('add', `p${i}@shop`)).stderr, /must be a URL of https/);
	for (const it of ['zzz://y', 'zzz::x://y']) {
		assert.equal((await add('add', it)).code, 1);
		assert.equal((await add('marketplace', 'add', it)).code, 1);
	}
	assert.ok(!fs.existsSync(ran));
});

test('folders of a repository whose path is too long are removed', options, async (t) => {
	const home = makeHome(t, null), { root, url } = makeRepository(t), cache = path.join(home, 'plugins/cache');
	const user = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
	const git = (input, ...args) => execFileSync('git', ['-C', root, ...user, ...args], { input, encoding: 'utf8' }).trim();
	let tree = git(`100644 blob ${git('x', 'hash-object', '-w', '--stdin')}\t${'f'.repeat(250)}\n`, 'mktree');
	for (let i = 0; i < 18; i++) {
		const names = i ? ['a'.repeat(212)] : ['0', '1', 'b'];
		tree = git(names.map((it) => `040000 tree ${tree}\t${it}\n`).join(''), 'mktree');
	}
	tree = git(`${git('', 'ls-tree', 'HEAD')}\n040000 tree ${tree}\t0\n`, 'mktree');
	git('', 'update-ref', 'refs/heads/main', git('', 'commit-tree', '-m', 'deep', tree));
	await market(t, home, 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url } }]));
	assert.equal((await plugin(t, home, 'add', 'whole@shop')).code, 1, 'deeper than a plugin may be');
	assert.deepEqual(fs.readdirSync(cache).filter((it) => it !== 'shop'), []);
});

test('a repository starts no filter of the git configuration; commits go before branches', options, async (t) => {
	const home = makeHome(t, null), user = tempDir(t, 'user'), { root, url, sha } = makeRepository(t), ran = path.join(user, 'ran');
	const manifest = (folder, name) => fs.writeFileSync(path.join(root, folder, '.codex-plugin/plugin.json'), JSON.stringify({ name, version: '2.0' }));
	fs.writeFileSync(path.join(root, '.gitattributes'), '* filter=lfs\n');
	manifest('.', 'whole');
	manifest('parts/part', 'part');
	commit(root);
	fs.writeFileSync(path.join(user, '.gitconfig'), `[filter "lfs"]\n\tsmudge = touch ${ran}; cat\n\trequired = true\n`);
	const env = { HOME: user }, add = (...args) => runCodex(t, ['plugin', 'add', ...args], { home, env });
	execFileSync('git', ['clone', '-q', url, path.join(user, 'x')], { env: { ...process.env, HOME: user } });
	assert.ok(fs.existsSync(ran), 'git alone runs it');
	fs.rmSync(ran);
	const part = { source: 'git-subdir', url, path: 'parts/part' };
	for (const [source, version] of [[{ source: 'url', url }, '2.0'], [{ source: 'url', url, ref: 'main', sha }, '1.0'], [part, '2.0'],
		[{ ...part, ref: 'main' }, '2.0'], [{ ...part, sha: sha.toUpperCase() }, '1.0'], [{ ...part, ref: 'main', sha }, '1.0']]) {
		const name = source.path ? 'part' : 'whole';
		await market(t, home, 'add', makeMarket(t, [{ name, source }]));
		const { stdout, stderr } = await add(`${name}@shop`);
		assert.ok(stdout.endsWith(`/${name}/${version}\n`), stderr);
		await market(t, home, 'remove', 'shop');
	}
	assert.equal((await add(url)).code, 0);
	assert.ok(!fs.existsSync(ran));
});

test('what a killed change has left is removed by the next one', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t);
	for (const place of ['.tmp/marketplaces/.new-1/.git', 'plugins/cache/.new-2/x']) fs.mkdirSync(path.join(home, place), { recursive: true });
	assert.equal((await market(t, home, 'add', root)).code, 0);
	assert.deepEqual([fs.readdirSync(path.join(home, '.tmp/marketplaces')), fs.readdirSync(path.join(home, 'plugins/cache'))], [[], []]);
});
