// marketplace/* and plugin/* of the app-server, which `codex plugin` in codex-fleet answers.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer, text } from './lib/app_server.mjs';
import { isAlive } from './lib/nest.mjs';
import { cleanEnv, codexBin, launch, makeHome, needs, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('app-server');
const SKILL = '---\nname: tidy\ndescription: Tidies the desk.\n---\nPut everything away.\n';
const HOOKS = { hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo from ${CODEX_PLUGIN_ROOT}' }] }] } };
const MANIFEST = '.agents/plugins/marketplace.json';
const LISTS = { marketplaces: [], marketplaceLoadErrors: [] };

function put(root, files) {
	for (const [name, content] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
		fs.writeFileSync(path.join(root, name), typeof content === 'string' ? content : JSON.stringify(content));
	}
}

/** The folder of a marketplace with the plugin desk. */
function makeMarket(t, plugins = [], name = 'shop', root = fs.realpathSync(tempDir(t, 'market'))) {
	put(root, {
		[MANIFEST]: { name, interface: { displayName: 'The Shop' }, plugins: [{ name: 'desk', category: 'Work',
			source: { source: 'local', path: './all/desk' }, policy: { authentication: 'ON_USE' } }, ...plugins] },
		'all/desk/.codex-plugin/plugin.json': { name: 'desk', version: '1.2.0', description: 'A desk.', keywords: ['k'],
			interface: { displayName: 'My Desk', logo: './logo.png', composerIcon: './../../x.png', defaultPrompt: 'Tidy up',
				capabilities: ['c'] } },
		'all/desk/skills/tidy/SKILL.md': SKILL, 'all/desk/hooks/hooks.json': HOOKS,
		'all/desk/.mcp.json': { mcpServers: { mine: { command: '${CLAUDE_PLUGIN_ROOT}/server' } } },
	});
	return root;
}

function commit(root) {
	const git = (...args) => execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
	git('init', '-q', '-b', 'main');
	git('add', '-A');
	git('commit', '-qm', 'one');
}

const path_of = (root) => path.join(root, MANIFEST);
const start = (t, model = null, more = {}) => startAppServer(t, model, { home: makeHome(t, model, more.config),
	...more, env: { HOME: tempDir(t, 'user'), ...more.env } });

test('a marketplace is added, listed, read, its plugin installed for later threads, and both removed', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]), root = makeMarket(t);
	const server = await start(t, model, { config: 'mcp_optional_startup_grace_ms = 1' }), { home } = server;
	const at = { pluginName: 'desk', marketplacePath: path_of(root) };
	assert.deepEqual(await server.request('plugin/list', {}), { ...LISTS, featuredPluginIds: [] });
	const added = { marketplaceName: 'shop', installedRoot: root };
	assert.deepEqual(await server.request('marketplace/add', { source: root }), { ...added, alreadyAdded: false });
	assert.deepEqual(await server.request('marketplace/add', { source: ` ${root}\n` }), { ...added, alreadyAdded: true });

	const { marketplaces: [shop] } = await server.request('plugin/list', {});
	assert.deepEqual([shop.name, shop.path, shop.interface], ['shop', path_of(root), { displayName: 'The Shop' }]);
	const [desk] = shop.plugins, folder = `${root}/all/desk`;
	const nulls = (...names) => Object.fromEntries(names.map((name) => [name, null]));
	const shown = { displayName: 'My Desk', category: 'Work', capabilities: ['c'], defaultPrompt: ['Tidy up'], logo: `${folder}/logo.png`,
		screenshots: [], screenshotUrls: [], ...nulls('shortDescription', 'longDescription', 'developerName', 'websiteUrl', 'privacyPolicyUrl',
			'termsOfServiceUrl', 'brandColor', 'composerIcon', 'composerIconUrl', 'logoDark', 'logoUrl', 'logoUrlDark') };
	const summary = { id: 'desk@shop', name: 'desk', localVersion: '1.2.0', source: { type: 'local', path: folder }, installed: false, enabled: false,
		installPolicy: 'AVAILABLE', authPolicy: 'ON_USE', availability: 'AVAILABLE', keywords: ['k'], interface: shown, ...nulls('remotePluginId',
			'version', 'shareContext', 'installedAt', 'installPolicySource', 'mustShowInstallationInterstitial', 'disabledReason',
			'eligiblePlanTypes') };
	assert.deepEqual(desk, summary);
	assert.deepEqual(await server.request('plugin/installed', {}), LISTS);
	const { plugin } = await server.request('plugin/read', at);
	assert.deepEqual(plugin, { marketplaceName: 'shop', marketplacePath: path_of(root), summary, description: 'A desk.', mcpServers: ['mine'],
		skills: [{ name: 'desk:tidy', description: 'Tidies the desk.', shortDescription: null, interface: null, enabled: true,
			path: `${folder}/skills/tidy/SKILL.md` }],
		hooks: [{ key: 'desk@shop:hooks/hooks.json:user_prompt_submit:0:0', eventName: 'userPromptSubmit' }],
		apps: [], appTemplates: [], ...nulls('shareUrl', 'onboardingSkill', 'scheduledTasks') });

	const turn = async () => {
		const { thread } = await server.request('thread/start', {});
		await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
		await server.next('turn/completed');
		return JSON.stringify(model.requests().at(-1).body.input);
	};
	assert.doesNotMatch(await turn(), /Tidies the desk/);
	assert.deepEqual(await server.request('plugin/install', at), { authPolicy: 'ON_USE', appsNeedingAuth: [] });
	const [{ plugins: [installed] }] = (await server.request('plugin/installed', {})).marketplaces;
	assert.deepEqual(installed, { ...summary, installed: true, enabled: true });
	const later = await turn();
	assert.match(later, /Tidies the desk/);
	assert.ok(!later.includes('from /'), 'its hook is not trusted');
	const { data } = await server.request('hooks/list', {});
	assert.deepEqual(data[0].hooks.map(({ source, trustStatus }) => [source, trustStatus]), [['plugin', 'untrusted']]);
	assert.equal((await server.request('config/read', {})).config.mcp_servers.mine.command, `${home}/plugins/cache/shop/desk/1.2.0/server`);

	for (let i = 0; i < 2; i++) assert.deepEqual(await server.request('plugin/uninstall', { pluginId: 'desk@shop' }), {});
	assert.deepEqual(await server.request('plugin/installed', {}), LISTS);
	assert.deepEqual(await server.request('marketplace/remove', { marketplaceName: 'shop' }), { marketplaceName: 'shop', installedRoot: null });
	assert.doesNotMatch(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /shop/);
	assert.equal((await server.end()).code, 0);
});

test('a marketplace of git is added with a branch and folders, upgraded, and removed', options, async (t) => {
	const root = makeMarket(t), server = await start(t), clone = path.join(server.home, '.tmp/marketplaces/shop');
	commit(root);
	const source = `file://${root}`, sparsePaths = ['.agents', 'all/desk'];
	assert.deepEqual(await server.request('marketplace/add', { source, refName: 'main', sparsePaths }),
		{ marketplaceName: 'shop', installedRoot: clone, alreadyAdded: false });
	await assert.rejects(server.request('marketplace/add', { source }), /already added from/);
	await assert.rejects(server.request('marketplace/add', { source: `${source}-none` }),
		/`git clone` failed: fatal: .*does not (appear to be|exist)/s, 'with the words of git');
	const upgraded = { selectedMarketplaces: ['shop'], upgradedRoots: [clone], errors: [] };
	assert.deepEqual(await server.request('marketplace/upgrade', {}), upgraded);
	assert.deepEqual(await server.request('marketplace/upgrade', { marketplaceName: 'shop' }), upgraded);
	await server.request('plugin/install', { pluginName: 'desk', marketplacePath: path_of(clone) });
	put(root, { 'all/desk/.codex-plugin/plugin.json': { name: 'desk', version: '1.3.0' } });
	commit(root);
	await server.request('marketplace/upgrade', {});
	const changed = { id: 'desk@shop', hasApps: false, hasHooks: true, hasMcps: true, hasSkills: true };
	const reconciled = { changedPlugins: [changed], failedRemotePluginIds: [], failedMaterializationRemotePluginIds: [] };
	assert.deepEqual(await server.request('plugin/reconcile', {}), reconciled, 'another version');
	assert.deepEqual((await server.request('plugin/reconcile', {})).changedPlugins, []);
	fs.rmSync(path.join(server.home, 'plugins/cache/shop'), { recursive: true });
	assert.deepEqual(await server.request('plugin/reconcile', {}), reconciled, 'a missing one');
	fs.rmSync(root, { recursive: true });
	const { errors: [error], upgradedRoots } = await server.request('marketplace/upgrade', {});
	assert.deepEqual([error.marketplaceName, upgradedRoots], ['shop', []]);
	assert.match(error.message, /^`git clone` failed: fatal: /);
	assert.deepEqual(await server.request('marketplace/remove', { marketplaceName: 'shop' }), { marketplaceName: 'shop', installedRoot: clone });
	assert.ok(!fs.existsSync(clone));
});

test('marketplaces of the home and of the folders of a request are listed, and their plugins can be installed', options, async (t) => {
	const user = tempDir(t, 'user'), server = await start(t, null, { env: { HOME: user } });
	const repo = makeMarket(t, [], 'repo'), sub = path.join(repo, 'sub');
	makeMarket(t, [{ name: 'two', source: './all/two' }], 'mine', user);
	put(repo, { '.git/HEAD': '', 'sub/x': '' });
	const names = async (params) => (await server.request('plugin/list', params)).marketplaces.map(({ name }) => name);
	assert.deepEqual([await names({}), await names({ cwds: [sub, repo] })], [['mine'], ['mine', 'repo']]);
	assert.deepEqual(await names({ marketplaceKinds: ['vertical'] }), []);
	assert.deepEqual(await names({ marketplaceKinds: ['local'] }), ['mine']);
	await server.request('plugin/install', { pluginName: 'desk', marketplacePath: path_of(repo) });
	const ids = async (params) => (await server.request('plugin/installed', params)).marketplaces.flatMap(({ plugins }) => plugins.map(({ id }) => id));
	assert.deepEqual([await ids({}), await ids({ cwds: [repo] }), await ids({ installSuggestionPluginNames: ['two'] })],
		[[], ['desk@repo'], ['two@mine']]);
	await server.request('marketplace/add', { source: makeMarket(t, [], 'repo') });
	await assert.rejects(server.request('plugin/install', { pluginName: 'desk', marketplacePath: path_of(repo) }),
		/another marketplace has the name `repo`/, 'a repository cannot pose as the marketplace of the user');
});

test('a search compares letters and digits of names, in pages', options, async (t) => {
	const server = await start(t);
	await server.request('marketplace/add', { source: makeMarket(t, ['deskpad', 'on-desk', 'lamp'].map((name) => ({ name, source: `./all/${name}` }))) });
	const search = async (searchTerm, more) => {
		const { data, nextCursor } = await server.request('plugin/search', { searchTerm, ...more });
		return [data.map(({ plugin, marketplaceName }) => `${plugin.id} ${marketplaceName}`).join(), nextCursor];
	};
	assert.deepEqual(await search('DESK!'), ['desk@shop shop,deskpad@shop shop,on-desk@shop shop', null]);
	assert.deepEqual(await search('my desk'), ['desk@shop shop', null]);
	assert.deepEqual(await search('desk', { limit: 2 }), ['desk@shop shop,deskpad@shop shop', '2']);
	assert.deepEqual(await search('desk', { limit: 2, cursor: '2' }), ['on-desk@shop shop', null]);
	assert.deepEqual(await search('desk', { cursor: '18446744073709551615' }).catch(({ message }) => message), 'invalid cursor: 18446744073709551615');
	for (const [term, more] of [['', {}], ['!', {}], ['desk', { scope: 'global' }], ['desk', { scope: 'workspace' }], ['desk', { cursor: '9' }]])
		assert.deepEqual(await search(term, more), ['', null]);
	assert.equal((await search('lamp', { scope: 'personal' }))[0], 'lamp@shop shop');
	await assert.rejects(search('desk', { cursor: 'x' }), /invalid cursor: x/);
});

test('bad requests are refused with the reason', options, async (t) => {
	const outside = tempDir(t, 'outside'), server = await start(t);
	const root = makeMarket(t, [{ name: 'hidden', source: './all/desk', policy: { installation: 'NOT_AVAILABLE' } }, { name: 'gone', source: './all/gone' },
		{ name: 'link', source: './all/link' }, { name: 'up', source: './../up' },
		{ name: 'far', source: { source: 'url', url: 'https://127.0.0.1:1/x' } }]);
	put(outside, { '.codex-plugin/plugin.json': { name: 'link', description: 'secret' } });
	fs.symlinkSync(outside, path.join(root, 'all/link'));
	await server.request('marketplace/add', { source: root });
	const at = (pluginName, marketplacePath = path_of(root)) => ({ pluginName, marketplacePath });
	for (const [method, params, why] of [
		['marketplace/add', { source: ' ' }, /must not be empty/], ['marketplace/add', { source: 'a\0b' }, /must not be empty/],
		['marketplace/add', { source: outside }, /is no marketplace/],
		['marketplace/add', { source: 'acme/x', sparsePaths: ['../x'] }, /no folder of the repository/],
		['marketplace/add', { source: 'acme/x', refName: '--upload-pack=x' }, /or an option/],
		['marketplace/remove', { marketplaceName: 'x' }, /^marketplace `x` is not configured or installed$/],
		['marketplace/upgrade', { marketplaceName: 'x' }, /^marketplace `x` is not configured as a Git marketplace$/],
		['marketplace/upgrade', { marketplaceName: 'shop' }, /^marketplace `shop` is not configured as a Git marketplace$/],
		['plugin/read', at('desk', '/nowhere/x.json'), /^marketplace file `\/nowhere\/x.json` does not exist$/],
		['plugin/read', at('desk', root), /is not the marketplace\.json/],
		['plugin/read', at('none'), /^plugin `none` was not found in marketplace `shop`$/],
		['plugin/read', { pluginName: 'x', remoteMarketplaceName: 'y' }, /^read remote plugin details: chatgpt authentication required/],
		['plugin/install', { pluginName: 'x' }, /requires exactly one of marketplacePath or remoteMarketplaceName/],
		['plugin/install', at('none'), /was not found/],
		['plugin/install', at('hidden'), /not available/], ['plugin/install', at('gone'), /plugin\.json: No such file/],
		['plugin/install', at('link'), /symbolic link/],
		['plugin/install', at('up'), /cross-device/], ['plugin/install', at('far'), /git clone/],
		['plugin/install', at('../x'), /was not found/],
		['plugin/uninstall', { pluginId: 'x' }, /^resolve remote plugin before uninstall: chatgpt/],
		['plugin/uninstall', { pluginId: '../x@y' }, /is not NAME@MARKETPLACE/],
	]) {
		const isRight = ({ message, code }) => why.test(message) && code === -32600;
		await assert.rejects(server.request(method, params), (error) => isRight(error) || assert.fail(`${method}: ${error.message}`));
	}
	assert.equal((await server.request('plugin/read', at('link'))).plugin.description, null, 'nothing is read through a link');
	fs.writeFileSync(path_of(root), '{');
	const { marketplaces, marketplaceLoadErrors: [error] } = await server.request('plugin/list', {});
	assert.deepEqual([marketplaces, error.marketplacePath], [[], root]);
	assert.match(error.message, /marketplace\.json/);
	assert.deepEqual(fs.readdirSync(path.join(server.home, 'plugins/cache/shop')), [], 'failures leave nothing');
	assert.deepEqual(fs.readdirSync(path.join(server.home, 'plugins/cache')), ['shop']);
});

/** A folder with a git that says that it runs, and waits. */
function slowGit(t) {
	const bin = tempDir(t, 'bin');
	const script = `#!/bin/sh\necho $$ >> ${bin}/running.new && mv ${bin}/running.new ${bin}/running\nexec cat ${bin}/fifo\n`;
	fs.writeFileSync(path.join(bin, 'git'), script, { mode: 0o755 });
	execFileSync('mkfifo', [path.join(bin, 'fifo')]);
	const running = new Promise((resolve) => {
		const watcher = fs.watch(bin, () => {
			if (!fs.existsSync(path.join(bin, 'running'))) return;
			watcher.close();
			resolve(Number(fs.readFileSync(path.join(bin, 'running'), 'utf8')));
		});
		t.after(() => watcher.close());
	});
	return { bin, running, env: { PATH: `${bin}:${process.env.PATH}` } };
}

test('a change that waits for git does not hold the server, and lists wait for it', options, async (t) => {
	const { bin, running, env } = slowGit(t), server = await start(t, null, { env });
	const adding = server.request('marketplace/add', { source: 'acme/shop' }).catch(({ message }) => message);
	await running;
	assert.ok((await server.request('model/list', {})).data.length, 'other methods are answered');
	let isListed = false;
	const listing = server.request('plugin/list', {}).then((lists) => { isListed = true; return lists; });
	await server.request('model/list', {});
	assert.equal(isListed, false, 'lists show a state before or after a change, not one in between');
	fs.writeFileSync(path.join(bin, 'fifo'), '');
	assert.match(await adding, /marketplaces\/\.new-/, 'this git has cloned nothing');
	assert.deepEqual((await listing).marketplaces, []);
	assert.deepEqual(fs.readdirSync(path.join(server.home, '.tmp/marketplaces')), []);
});

test('a client that goes away ends its git', options, async (t) => {
	const { running, env } = slowGit(t), server = await start(t, null, { env });
	server.request('marketplace/add', { source: 'acme/shop' }).catch(() => {});
	const pid = await running;
	assert.ok(isAlive(pid));
	assert.equal((await server.end()).code, 0);
	assert.ok(!isAlive(pid));
	assert.doesNotMatch(fs.readFileSync(path.join(server.home, 'config.toml'), 'utf8'), /marketplaces/);
});

/** Holds the lock of changes until the returned function is called. */
async function holdLock(t, home) {
	const folder = path.join(home, '.tmp/marketplaces');
	fs.mkdirSync(folder, { recursive: true });
	const { child } = launch(t, 'flock', [folder, 'sh', '-c', 'echo held; exec cat']);
	await once(child.stdout, 'data');
	return { inode: fs.statSync(folder).ino, release: () => child.stdin.end() };
}

test('a change waits for that of another process', options, async (t) => {
	const root = makeMarket(t), server = await start(t), lock = await holdLock(t, server.home);
	let isAdded = false;
	const adding = server.request('marketplace/add', { source: root }).then(() => { isAdded = true; });
	const isWaiting = new RegExp(`-> FLOCK .*:${lock.inode} `);
	while (!isWaiting.test(fs.readFileSync('/proc/locks', 'utf8'))) {
		await server.request('model/list', {});
		assert.equal(isAdded, false);
	}
	lock.release();
	await adding;
	assert.match(fs.readFileSync(path.join(server.home, 'config.toml'), 'utf8'), /\[marketplaces\.shop\]/);
});

test('a marketplace that was added by another process meanwhile is not replaced by one of its name', options, async (t) => {
	const first = makeMarket(t), second = makeMarket(t), { bin, running, env } = slowGit(t), server = await start(t);
	commit(first);
	const script = fs.readFileSync(path.join(bin, 'git'), 'utf8').replace(/exec cat .*/, `case "$*" in *clone*) cat ${bin}/fifo;; esac`);
	fs.writeFileSync(path.join(bin, 'git'), `${script}PATH=\${PATH#*:} exec git "$@"\n`);
	const folder = path.join(server.home, '.tmp/marketplaces'), config = path.join(server.home, 'config.toml');
	const cli = runCodex(t, ['plugin', 'marketplace', 'add', `file://${first}`], { home: server.home, env });
	await running;
	assert.equal((await server.request('marketplace/add', { source: second })).alreadyAdded, false, 'it does not wait for the clone');
	fs.writeFileSync(path.join(bin, 'fifo'), '');
	const { code, stderr } = await cli;
	assert.deepEqual([code, stderr.includes(`marketplace \`shop\` is already added from ${second}`)], [1, true], stderr);
	assert.deepEqual(fs.readdirSync(folder), []);
	assert.ok(fs.readFileSync(config, 'utf8').includes(`source = "${second}"`));
});

test('reconcile installs plugins that have a repository of their own', options, async (t) => {
	const root = makeMarket(t), server = await start(t), cache = path.join(server.home, 'plugins/cache/far');
	commit(root);
	const url = `file://${root}`, part = { source: 'git-subdir', url, path: 'all/desk' };
	const market = makeMarket(t, [], 'far');
	const gone = { source: 'url', url: `${url}-none` };
	put(market, { [MANIFEST]: { name: 'far', plugins: [{ name: 'desk', source: part }, { name: 'gone', source: gone }] } });
	await server.request('marketplace/add', { source: market });
	await server.request('plugin/install', { pluginName: 'desk', marketplacePath: path_of(market) });
	fs.appendFileSync(path.join(server.home, 'config.toml'), '\n[plugins."gone@far"]\nenabled = true\n');
	const changed = { id: 'desk@far', hasApps: false, hasHooks: true, hasMcps: true, hasSkills: true };
	const reconciled = (changedPlugins) => ({ changedPlugins, failedRemotePluginIds: [], failedMaterializationRemotePluginIds: ['gone@far'] });
	const inode = () => fs.statSync(path.join(cache, 'desk')).ino, before = inode();
	assert.deepEqual(await server.request('plugin/reconcile', {}), reconciled([]), 'the version is the same');
	assert.equal(inode(), before, 'nothing is replaced');
	put(root, { 'all/desk/.codex-plugin/plugin.json': { name: 'desk', version: '1.3.0' } });
	commit(root);
	assert.deepEqual(await server.request('plugin/reconcile', {}), reconciled([changed]), 'another version');
	assert.deepEqual(fs.readdirSync(path.join(cache, 'desk')), ['1.3.0']);
	fs.rmSync(cache, { recursive: true });
	assert.deepEqual(await server.request('plugin/reconcile', {}), reconciled([changed]), 'a missing one');
	const config = path.join(server.home, 'config.toml');
	fs.writeFileSync(config, fs.readFileSync(config, 'utf8').replace(/("gone@far"\]\nenabled = )true/, '$1false'));
	assert.deepEqual((await server.request('plugin/reconcile', {})).failedMaterializationRemotePluginIds, [], 'a disabled one is left out');
});

test('a plugin that was removed or disabled while reconcile clones is not installed', options, async (t) => {
	const root = makeMarket(t), market = makeMarket(t, [], 'far');
	commit(root);
	put(market, { [MANIFEST]: { name: 'far', plugins: [{ name: 'desk', source: { source: 'git-subdir', url: `file://${root}`, path: 'all/desk' } }] } });
	for (const change of ['remove', 'disable']) {
		const { bin, running, env } = slowGit(t), server = await start(t, null, { env }), config = path.join(server.home, 'config.toml');
		const script = fs.readFileSync(path.join(bin, 'git'), 'utf8').replace(/exec cat .*/, `case "$*" in *clone*) cat ${bin}/fifo;; esac`);
		fs.writeFileSync(path.join(bin, 'git'), `${script}PATH=\${PATH#*:} exec git "$@"\n`);
		await server.request('marketplace/add', { source: market });
		fs.appendFileSync(config, '\n[plugins."desk@far"]\nenabled = true\n');
		const reconciling = server.request('plugin/reconcile', {});
		await running;
		if (change === 'remove') assert.equal((await runCodex(t, ['plugin', 'remove', 'desk@far'], { home: server.home })).code, 0);
		else fs.writeFileSync(config, fs.readFileSync(config, 'utf8').replace('enabled = true', 'enabled = false'));
		const before = fs.readFileSync(config, 'utf8');
		fs.writeFileSync(path.join(bin, 'fifo'), '');
		assert.deepEqual(await reconciling, { changedPlugins: [], failedRemotePluginIds: [], failedMaterializationRemotePluginIds: [] });
		assert.equal(fs.readFileSync(config, 'utf8'), before);
		assert.deepEqual(fs.readdirSync(path.join(server.home, 'plugins/cache')), []);
	}
});

// A sanitizer reserves more addresses than the limit of this test.
const limited = { ...options, skip: options.skip || (process.env.ASAN_OPTIONS !== undefined && 'a sanitizer is in use') };

const hostile = (count, more) => Array.from({ length: count }, (_, i) => ({ name: `p${i}`, source: './p', ...more }));

test('a marketplace with too much text is an error and hides no other one', options, async (t) => {
	const good = makeMarket(t), bad = makeMarket(t, hostile(1000), 'bad'), long = 'é'.repeat(2500), server = await start(t);
	put(bad, { '.git/HEAD': '', 'p/.codex-plugin/plugin.json': { name: 'p', keywords: Array(100).fill('k'), interface: { longDescription: long } } });
	await server.request('marketplace/add', { source: good });
	const check = ({ marketplaces, marketplaceLoadErrors: [error] }) => {
		assert.deepEqual([marketplaces.map(({ name }) => name), error.marketplacePath], [['shop'], bad]);
		assert.match(error.message, /more text than fits into the answer/);
	};
	check(await server.request('plugin/list', { cwds: [bad] }));
	await server.request('plugin/install', { pluginName: 'desk', marketplacePath: path_of(good) });
	check(await server.request('plugin/installed', { cwds: [bad], installSuggestionPluginNames: hostile(1000).map(({ name }) => name) }));
	const { plugin: { summary } } = await server.request('plugin/read', { pluginName: 'p7', marketplacePath: path_of(bad) });
	assert.deepEqual([summary.interface.longDescription, summary.keywords.length], [long.slice(0, 2048), 32], 'texts are cut');
});

test('long manifests and paths in lists take bounded memory', limited, (t) => {
	const bad = makeMarket(t, hostile(1000), 'bad'), home = makeHome(t, null), manifest = path.join(bad, 'p/.codex-plugin/plugin.json');
	const zeros = (bytes) => `{"name":"p","version":"9","a":[${'0,'.repeat(bytes / 2)}0]}`;
	const run = (method, params) => {
		const { stdout, stderr, status } = spawnSync('sh', ['-c', 'ulimit -v 400000; exec "$0" plugin --rpc', codexBin],
			{ encoding: 'utf8', env: { ...cleanEnv(home), HOME: home }, input: JSON.stringify({ method, params }), maxBuffer: 1 << 24 });
		return status === 0 ? JSON.parse(stdout) : stderr;
	};
	const version = () => run('plugin/list', { cwds: [bad] }).marketplaces[0].plugins[1].localVersion;
	put(bad, { '.git/HEAD': '', 'p/.codex-plugin/plugin.json': zeros(60000) });
	assert.equal(version(), '9');
	fs.writeFileSync(manifest, zeros(64 * 1024));
	assert.equal(version(), null, 'a longer one is not read');
	assert.match(run('plugin/install', { pluginName: 'p1', marketplacePath: path_of(bad) }), /plugin\.json/);
	put(bad, { [MANIFEST]: { name: 'bad', plugins: [], a: Array(400000).fill(0) } });
	const many = run('plugin/list', { cwds: Array(256).fill(bad) });
	assert.deepEqual(many.marketplaces.map(({ name }) => name), ['bad'], 'a marketplace is read once');
	const markets = Array.from({ length: 14 }, (_, i) => makeMarket(t, [], `bad${i}`));
	for (const [i, root] of markets.entries()) put(root, { '.git/HEAD': '', [MANIFEST]: { name: `bad${i}`, plugins: [], a: Array(400000).fill(0) } });
	const all = run('plugin/list', { cwds: markets });
	assert.deepEqual([all.marketplaces.length, all.marketplaceLoadErrors.length], [5, 9], 'a bound over all');
	assert.match(all.marketplaceLoadErrors[0].message, /more than 4 MiB: ask for fewer/);
	assert.deepEqual(run('plugin/list', { cwds: [`${bad}${'/a'.repeat(500000)}`] }).marketplaces, []);
	assert.match(run('plugin/list', { cwds: Array(1000).fill(bad) }), /cwds has 1000 folders, the limit is 256/);
});

test('without codex-fleet lists are empty while there are no marketplaces, and changes name the package', options, async (t) => {
	const alone = path.join(tempDir(t, 'bin'), 'codex'), home = makeHome(t, null), missing = /cannot find codex-fleet: install the package codex-c-fleet/;
	fs.copyFileSync(codexBin, alone);
	const server = await start(t, null, { home, bin: alone });
	assert.deepEqual(await server.request('plugin/list', {}), { ...LISTS, featuredPluginIds: [] });
	assert.deepEqual(await server.request('plugin/search', { searchTerm: 'x' }), { data: [], nextCursor: null });
	await assert.rejects(server.request('marketplace/add', { source: '/x' }), missing);
	await server.end();
	fs.appendFileSync(path.join(home, 'config.toml'), '\n[marketplaces.shop]\nsource_type = "local"\nsource = "/x"\n');
	const other = await start(t, null, { home, bin: alone });
	for (const method of ['plugin/list', 'plugin/installed']) await assert.rejects(other.request(method, {}), missing);
});
