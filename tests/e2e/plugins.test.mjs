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
	assert.deepEqual(installed, [{ name: 'desk', enabled: true, path: path.join(home, 'plugins/desk') }]);
	assert.match((await plugin(t, home, 'list')).stdout, /^desk\tenabled\t/);
	assert.equal((await plugin(t, home, 'remove', 'desk')).stdout, 'Removed plugin desk.\n');
	assert.ok(fs.existsSync(path.join(root, '.codex-plugin/plugin.json')), 'the folder itself stays');
	for (const args of [['remove', 'desk'], ['remove', '../plugins'], ['add', home], ['add', path.join(home, 'none')], ['marketplace', 'list']])
		assert.equal((await plugin(t, home, ...args)).code, 1);
	for (const args of [[], ['add'], ['remove']]) assert.equal((await plugin(t, home, ...args)).code, 2);
	fs.writeFileSync(path.join(root, '.codex-plugin/plugin.json'), '{"name":"../x"}');
	assert.match((await plugin(t, home, 'add', root)).stderr, /letters, digits/);
});

test('a repository is cloned, without its hooks, and removed with its files', options, async (t) => {
	const home = makeHome(t, null), root = makePlugin(t, 'desk', { 'skills/tidy/SKILL.md': SKILL });
	const git = (...args) => execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
	git('init', '-q');
	git('add', '.');
	git('commit', '-qm', 'one');
	assert.equal((await plugin(t, home, 'add', `file://${root}`)).stdout, 'Added plugin desk.\n');
	assert.ok(fs.existsSync(path.join(home, 'plugins/desk/skills/tidy/SKILL.md')));
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
