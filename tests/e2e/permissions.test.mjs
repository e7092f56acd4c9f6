// Permission profiles: default_permissions, [permissions.NAME], `codex sandbox -P` and clients of the app-server.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { makeHome, needs, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('sandbox');

/** The sandbox line of the banner of a run, or the error of one that ends with status 1. */
async function sandboxOf(t, config, args = []) {
	const model = await startModel(t, [say('ok')]);
	const home = makeHome(t, model, config);
	const { code, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', ...args, 'hi'], { home });
	return code === 0 ? /^sandbox: (.*)$/m.exec(stderr)[1] : [code, stderr.trim(), model.requests().length];
}

test('default_permissions selects a profile; options win', options, async (t) => {
	const extra = tempDir(t, 'extra');
	const mine = `default_permissions = "mine"
		permissions.mine = { extends = ":workspace", filesystem = { "${extra}" = "write", "/etc" = "read" } }`;
	assert.match(await sandboxOf(t, 'default_permissions = ":workspace"'), /^workspace-write/);
	assert.match(await sandboxOf(t, 'default_permissions = ":danger-full-access"'), /^danger-full-access/);
	assert.match(await sandboxOf(t, mine), new RegExp(`^workspace-write .*${extra}`));
	assert.match(await sandboxOf(t, mine.replace('filesystem = {', '$& glob_scan_max_depth = 3,')), new RegExp(`^workspace-write .*${extra}`));
	assert.match(await sandboxOf(t, mine, ['-s', 'read-only']), /^read-only/);
	assert.match(await sandboxOf(t, `sandbox_mode = "read-only"\n${mine}`), /^workspace-write/);
	assert.match(await sandboxOf(t, mine, ['-c', 'sandbox_mode=read-only']), /^read-only/);
	assert.match(await sandboxOf(t, 'sandbox_mode = "read-only"', ['-c', 'default_permissions=":workspace"']), /^workspace-write/);
});

test('a profile that the sandbox cannot keep is an error that names the entry; the model is not asked', options, async (t) => {
	const refused = async (profile, message) => {
		const [code, stderr, requests] = await sandboxOf(t, `default_permissions = "mine"\npermissions.mine = ${profile}`);
		assert.deepEqual([code, requests], [1, 0]);
		assert.match(stderr, message);
	};
	await refused('{ filesystem = { "/etc" = "deny" } }', /config\.toml:\d+: `\/etc` .*does not limit reading/);
	await refused('{ network = { domains = { "a.example" = "allow" } } }', /`domains` .*does not limit hosts/);
	await refused('{ filesystem = { "/srv" = "write" } }', /extend :workspace/);
	await refused('{ filesystem = { ":root" = "write" } }', /network\.enabled = true/);
	await refused('{ filesystem = { ":nowhere" = "write" } }', /`:nowhere`/);
	await refused('{ filesystem = { "/srv" = 5 } }', /`permissions\.mine\.filesystem\.\/srv` must be a string or a table/);
	await refused('{ filesystem = { "/srv" = {} } }', /`\/srv` .*"read" or "write"/);
	await refused('{ extends = ":workspace", filesystem = { ":workspace_roots" = "read" } }', /part of what is writable/);
	await refused('{ extends = ":workspace", filesystem = { "./secrets" = "read" } }', /part of what is writable/);
	await refused('{ extends = ":danger-full-access", filesystem = { ":root" = "read" } }', /part of what is writable/);
	await refused('{ extends = ":danger-full-access", network = { enabled = false } }', /network\.enabled = false/);
	await refused('{ extends = "mine" }', /extends itself/);
	await refused('{ extends = "other" }', /unknown permission profile `other`/);
	await refused('{ colour = "blue" }', /`colour` .*is unknown/);
	const [code, stderr] = await sandboxOf(t, 'default_permissions = "nope"');
	assert.deepEqual([code, /unknown permission profile `nope`/.test(stderr)], [1, true]);
});

test('codex sandbox -P runs a command under a profile', options, async (t) => {
	const cwd = tempDir(t, 'cwd'), extra = tempDir(t, 'extra'), home = makeHome(t, null, `
		permissions.base = { extends = ":workspace", description = "with a folder" }
		permissions.mine = { extends = "base", workspace_roots = { "${extra}" = true } }`);
	const write = (name, ...args) => runCodex(t, ['sandbox', ...args, 'sh', '-c', `echo x >${extra}/${name}; echo y >${name}`], { home, cwd });
	await write('a', '-P', ':read-only');
	assert.deepEqual([fs.readdirSync(cwd), fs.readdirSync(extra)], [[], []]);
	await write('b', '-P', 'base');
	assert.deepEqual(fs.readdirSync(cwd), ['b']);
	await write('c', '--permission-profile', 'mine');
	assert.deepEqual(fs.readdirSync(extra).includes('c'), true);
	const { code, stderr } = await write('d', '-P', 'nope');
	assert.deepEqual([code, /nope/.test(stderr)], [1, true]);
});

test('a project cannot choose its permissions', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [say('ok')]);
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), 'default_permissions = ":danger-full-access"\n');
	const home = makeHome(t, model, `sandbox_mode = "read-only"\nprojects."${cwd}".trust_level = "trusted"`);
	const { stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'], { home, cwd });
	assert.match(stderr, /^sandbox: read-only/m);
	assert.match(stderr, /default_permissions/);
});

test('a project cannot undo the profile of the user, but may narrow it', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	fs.mkdirSync(path.join(cwd, '.codex'));
	const banner = async (own, project) => {
		fs.writeFileSync(path.join(cwd, '.codex/config.toml'), `sandbox_mode = "${project}"\n`);
		const home = makeHome(t, await startModel(t, [say('ok')]), `default_permissions = "${own}"\nprojects."${cwd}".trust_level = "trusted"`);
		const { stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'], { home, cwd });
		return /^sandbox: (\S+)/m.exec(stderr)[1];
	};
	assert.equal(await banner(':read-only', 'workspace-write'), 'read-only');
	assert.equal(await banner(':workspace', 'danger-full-access'), 'workspace-write');
	assert.equal(await banner(':workspace', 'read-only'), 'read-only');
});

test('clients choose a profile by its name', options, async (t) => {
	const extra = tempDir(t, 'extra');
	const server = await startAppServer(t, await startModel(t, [say('ok')]), {
		config: `permissions.mine = { extends = ":workspace", filesystem = { "${extra}" = "write" } }\n` +
			'permissions.bad = { filesystem = { "/etc" = "deny" } }' });
	const { data } = await server.request('permissionProfile/list', {});
	assert.deepEqual(data.slice(3).map(({ id, allowed }) => [id, allowed]), [['mine', true], ['bad', false]]);
	const { sandbox, activePermissionProfile } = await server.request('thread/start', { permissions: 'mine' });
	assert.deepEqual([sandbox.type, sandbox.writableRoots, activePermissionProfile.id], ['workspaceWrite', [extra], 'mine']);
	await assert.rejects(server.request('thread/start', { permissions: 'bad' }), { message: /does not limit reading/ });
});

test('temporary folders are writable only if the profile has them', options, async (t) => {
	const profile = (entries) => `default_permissions = "mine"\npermissions.mine = { filesystem = { ${entries} } }`;
	assert.doesNotMatch(await sandboxOf(t, profile('":workspace_roots" = "write"')), /tmp|TMPDIR/i);
	assert.match(await sandboxOf(t, profile('":workspace_roots" = "write", ":slash_tmp" = "write"')), /\/tmp/);
	assert.match(await sandboxOf(t, 'default_permissions = "mine"\npermissions.mine = { extends = ":workspace" }'), /\/tmp/);
});
