// /etc/codex/requirements.toml and managed_config.toml: every front end obeys them. The program runs in a mount name space of its own, in
// which /etc has these files.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { startAcp } from './lib/acp.mjs';
import { RpcError, startAppServer, text } from './lib/app_server.mjs';
import { call, cleanEnv, codexBin, launch, makeHome, outputOf, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';

const canMount = spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t overlay overlay -o lowerdir=/usr:/etc /etc']).status === 0;
const options = { skip: !canMount && 'overlay mounts in a user name space are forbidden here' };

/** A program that is codex on a machine whose /etc/codex has these files. */
function machine(t, files) {
	const dir = tempDir(t, 'etc');
	fs.mkdirSync(path.join(dir, 'codex'));
	for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(dir, 'codex', name), content);
	const bin = path.join(dir, 'codex-bin');
	fs.writeFileSync(bin, `#!/bin/sh
exec unshare -Urm sh -euc 'mount -t overlay overlay -o lowerdir="$0":/etc /etc; exec "$@"' ${dir} ${codexBin} "$@"
`, { mode: 0o755 });
	return bin;
}

async function exec(t, bin, model, args, { config } = {}) {
	const home = makeHome(t, model, config), cwd = tempDir(t, 'cwd');
	const { child, done } = launch(t, bin, ['exec', '--skip-git-repo-check', ...args], { cwd, env: cleanEnv(home) });
	child.stdin.end();
	return { ...(await done), cwd };
}

const READ_ONLY = 'allowed_sandbox_modes = ["read-only"]\n';

test('codex exec falls back to read-only and refuses --yolo', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': READ_ONLY });
	const model = await startModel(t, [run('touch made 2>&1'), say('Done.')]);
	const { code, stderr, cwd } = await exec(t, bin, model, ['-s', 'danger-full-access', 'go']);
	assert.equal(code, 0, stderr);
	assert.match(stderr, /sandbox_mode is read-only: .*allowed_sandbox_modes in \/etc\/codex\/requirements.toml/);
	assert.match(stderr, /^sandbox: read-only/m);
	assert.ok(!fs.existsSync(path.join(cwd, 'made')));

	const refused = await exec(t, bin, model, ['--dangerously-bypass-approvals-and-sandbox', 'go']);
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /--dangerously-bypass-approvals-and-sandbox: the administrator .* `danger-full-access`/);
	assert.equal(model.requests().length, 2);
});

test('codex exec uses the first permitted approval policy', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': 'allowed_approval_policies = ["on-request"]\n' });
	const model = await startModel(t, [say('Done.')]);
	const { code, stderr } = await exec(t, bin, model, ['go']);
	assert.equal(code, 0, stderr);
	assert.match(stderr, /^approval: on-request/m);
});

test('a broken file ends every run before the model is asked', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': 'allowed_sandbox_modes = ["workspace-write"]\n' });
	const model = await startModel(t, [say('Done.')]);
	const { code, stderr } = await exec(t, bin, model, ['go']);
	assert.equal(code, 1);
	assert.match(stderr, /\/etc\/codex\/requirements.toml:1: `allowed_sandbox_modes`: the list must contain `read-only`/);
	assert.equal(model.requests().length, 0);
	const home = makeHome(t, model);
	const server = launch(t, bin, ['app-server'], { cwd: tempDir(t), env: cleanEnv(home) });
	server.child.stdin.end();
	const ended = await server.done;
	assert.equal(ended.code, 1, ended.stderr);
	assert.match(ended.stderr, /requirements.toml/);
});

test('rules, features, instructions and search limits reach the session', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': `additional_developer_instructions = "Mind the house rules."
allowed_web_search_modes = ["cached"]
enforce_residency = "us"
[features]
view_image_tool = true
multi_agent = false
[rules]
prefix_rules = [{ pattern = [{ token = "echo" }], decision = "forbidden", justification = "no echo here" }]
` });
	const model = await startModel(t, [run('echo hi'), say('Done.')]);
	const { code, stderr } = await exec(t, bin, model, ['--enable', 'multi_agent', '-c', 'web_search="live"', 'go']);
	assert.equal(code, 0, stderr);
	const [first, second] = model.requests();
	assert.ok(textsOf(first, 'developer').includes('Mind the house rules.'));
	assert.equal(first.headers['x-openai-internal-codex-residency'], 'us');
	const search = first.body.tools.find(({ type }) => type === 'web_search');
	assert.equal(search.external_web_access, false);
	assert.ok(!JSON.stringify(first.body.tools).includes('spawn_agent'));
	assert.match(stderr, /features.multi_agent is false: \/etc\/codex\/requirements.toml fixes it/);
	assert.match(outputOf(second, first.callId ?? second.body.input.find((it) => it.type === 'function_call').call_id), /no echo here/);
});

test('each name of a fixed feature holds, under either name of the table', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	for (const [i, [table, name]] of [['features', 'view_image'], ['feature_requirements', 'view_image_tool']].entries()) {
		const bin = machine(t, { 'requirements.toml': `[${table}]\n${name} = false\ngoals = false\n` });
		const { code, stderr } = await exec(t, bin, model, ['--enable', name, 'go']);
		assert.equal(code, 0, stderr);
		const names = model.requests()[i].body.tools.map((tool) => tool.name);
		assert.deepEqual(['exec_command', 'view_image', 'get_goal'].map((it) => names.includes(it)), [true, false, false]);
		assert.ok(stderr.includes(`features.${name} is false: /etc/codex/requirements.toml fixes it`));
	}
});

test('a permission profile outside the list is replaced, --yolo and a client are refused', options, async (t) => {
	const limits = 'default_permissions = ":read-only"\n[allowed_permission_profiles]\n":read-only" = true\n":workspace" = true\n';
	const bin = machine(t, { 'requirements.toml': limits });
	const model = await startModel(t, Array.from({ length: 7 }, () => say('Done.')));
	const own = '[permissions.own]\nextends = ":workspace"\n[permissions.own.filesystem]\n"/var/tmp" = "write"\n';
	const permits = 'does not permit `NAME`: allowed_permission_profiles in /etc/codex/requirements.toml permits `:read-only`, `:workspace`';
	const banner = async (args, config) => {
		const { code, stderr } = await exec(t, bin, model, args, { config });
		assert.equal(code, 0, stderr);
		return stderr;
	};
	assert.match(await banner(['go']), /^sandbox: read-only$/m);
	for (const args of [['-c', 'default_permissions=":workspace"'], ['-s', 'workspace-write']])
		assert.match(await banner([...args, 'go'], '[sandbox_workspace_write]\nnetwork_access = true\n'),
			/^sandbox: workspace-write \[workdir, \/tmp(, \$TMPDIR)?\]$/m);
	for (const [name, args, config] of [['own', ['go'], `default_permissions = "own"\n${own}`],
		[':danger-full-access', ['-c', 'default_permissions=":danger-full-access"', 'go']],
		[':danger-full-access', ['-s', 'danger-full-access', 'go']]]) {
		const stderr = await banner(args, config);
		assert.match(stderr, /^sandbox: read-only$/m);
		assert.ok(stderr.includes(permits.replace('NAME', name)), stderr);
	}
	const added = await exec(t, bin, model, ['-s', 'workspace-write', '--add-dir', '/var/tmp', 'go']);
	assert.deepEqual([added.code, /ERROR: .*further writable folders/.test(added.stderr)], [1, true]);
	const yolo = await exec(t, bin, model, ['--yolo', 'go']);
	assert.equal(yolo.code, 1);
	assert.ok(yolo.stderr.includes(permits.replace('NAME', ':danger-full-access')), yolo.stderr);
	const server = await startAppServer(t, model, { bin, config: own });
	await rejects(server.request('thread/start', { permissions: 'own' }), /does not permit `own`: allowed_permission_profiles/);
	await rejects(server.request('thread/start', { sandbox: 'danger-full-access' }), /does not permit `:danger-full-access`/);
	const wide = { type: 'workspaceWrite', writableRoots: ['/var/tmp'], networkAccess: false };
	const { thread } = await server.request('thread/start', {});
	for (const [method, params] of [['turn/start', { threadId: thread.id, input: [text('hi')], sandboxPolicy: wide }],
		['command/exec', { command: ['true'], sandboxPolicy: wide }],
		['command/exec', { command: ['true'], sandboxPolicy: { type: 'readOnly', networkAccess: true } }]])
		await rejects(server.request(method, params), /further writable folders or the network: allowed_permission_profiles/);
	await server.request('command/exec', { command: ['true'], sandboxPolicy: { ...wide, writableRoots: [] } });
	const { data } = await server.request('permissionProfile/list', {});
	assert.deepEqual(data.map(({ id, allowed }) => [id, allowed]),
		[[':read-only', true], [':workspace', true], [':danger-full-access', false], ['own', false]]);
	const { requirements } = await server.request('configRequirements/read');
	assert.deepEqual(requirements.allowedPermissionProfiles, { ':read-only': true, ':workspace': true });
	assert.equal(requirements.defaultPermissions, ':read-only');
	assert.equal((await server.end()).code, 0);
});

test('codex mcp names the file that disables a server', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': '[mcp_servers]\n' }), home = makeHome(t, null), cwd = tempDir(t, 'cwd');
	fs.appendFileSync(path.join(home, 'config.toml'),
		'[mcp_servers]\na = { command = "/bin/false" }\nb = { command = "/bin/false", enabled = false }\n');
	const mcp = async (...args) => {
		const { child, done } = launch(t, bin, ['mcp', ...args], { cwd, env: cleanEnv(home) });
		child.stdin.end();
		return (await done).stdout;
	};
	const reason = 'requirements (/etc/codex/requirements.toml)';
	assert.deepEqual(JSON.parse(await mcp('list', '--json')).map((it) => [it.enabled, it.disabled_reason]), [[false, reason], [false, null]]);
	assert.ok((await mcp('list')).includes(`disabled: ${reason}`));
	assert.ok((await mcp('get', 'a')).includes(`disabled_reason: ${reason}\n`));
});

test('the administrator\'s collector receives the log records, whatever the user sets', options, async (t) => {
	let posts = 0;
	const collector = http.createServer((request, response) => {
		posts++;
		assert.equal(request.headers['x-own'], undefined);
		request.resume().on('end', () => response.end('{}'));
	});
	await new Promise((resolve) => collector.listen(0, '127.0.0.1', resolve));
	t.after(() => collector.closeAllConnections() ?? collector.close());
	const endpoint = `http://127.0.0.1:${collector.address().port}/v1/logs`;
	const exporter = `exporter = { otlp-http = { endpoint = "${endpoint}", protocol = "json" } }`;
	const bin = machine(t, { 'requirements.toml': `[otel]\n${exporter}\n` });
	const theirs = ['exporter="none"', 'exporter.otlp-grpc={ endpoint = "http://127.0.0.1:9" }',
		'exporter.otlp-http={ headers = { "x-own" = "1" } }'];
	const model = await startModel(t, theirs.map(() => say('Done.')));
	for (const [i, it] of theirs.entries()) {
		const { code, stderr } = await exec(t, bin, model, ['-c', `otel.${it}`, 'go']);
		assert.equal(code, 0, stderr);
		assert.ok(posts > i);
	}
});

test('plugin/reconcile installs a plugin that managed_config.toml enables', options, async (t) => {
	const bin = machine(t, { 'managed_config.toml': '[plugins."desk@shop"]\nenabled = true\n' }), market = fs.realpathSync(tempDir(t, 'market'));
	const files = { '.agents/plugins/marketplace.json': { name: 'shop', plugins: [{ name: 'desk', source: './desk' }] },
		'desk/.codex-plugin/plugin.json': { name: 'desk', version: '1.0.0' } };
	for (const [name, content] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(market, name)), { recursive: true });
		fs.writeFileSync(path.join(market, name), JSON.stringify(content));
	}
	const server = await startAppServer(t, await startModel(t, [say('unused')]), { bin });
	await server.request('marketplace/add', { source: market });
	const { changedPlugins } = await server.request('plugin/reconcile', {});
	assert.deepEqual(changedPlugins.map(({ id }) => id), ['desk@shop']);
	assert.ok(fs.existsSync(path.join(server.home, 'plugins/cache/shop/desk/1.0.0')));
});

test('managed_config.toml overrides options of the command line', options, async (t) => {
	const bin = machine(t, { 'managed_config.toml': 'sandbox_mode = "read-only"\nmodel = "gpt-managed"\n' });
	const model = await startModel(t, [say('Done.')]);
	const { code, stderr } = await exec(t, bin, model, ['--dangerously-bypass-approvals-and-sandbox', '-m', 'gpt-own', 'go']);
	assert.equal(code, 0, stderr);
	assert.match(stderr, /^sandbox: read-only/m);
	assert.equal(model.requests()[0].body.model, 'gpt-managed');
});

const rejects = (promise, pattern) => assert.rejects(promise, (error) => {
	assert.ok(error instanceof RpcError, String(error));
	assert.match(error.message, pattern);
	return true;
});

test('the app-server refuses what a client asks for outside the limits', options, async (t) => {
	const limits = 'allowed_sandbox_modes = ["read-only", "workspace-write"]\nallowed_approval_policies = ["on-request"]\n';
	const bin = machine(t, { 'requirements.toml': limits });
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const server = await startAppServer(t, model, { bin });
	const outside = /does not permit `danger-full-access`: allowed_sandbox_modes in \/etc\/codex\/requirements.toml/;
	await rejects(server.request('thread/start', { sandbox: 'danger-full-access' }), outside);
	await rejects(server.request('thread/start', { approvalPolicy: 'never' }), /does not permit `never`/);
	const { thread, sandbox } = await server.request('thread/start', { sandbox: 'workspace-write' });
	assert.equal(sandbox.type, 'workspaceWrite');
	const turn = (more) => server.request('turn/start', { threadId: thread.id, input: [text('hi')], ...more });
	await rejects(turn({ sandboxPolicy: { type: 'dangerFullAccess' } }), outside);
	await rejects(turn({ approvalPolicy: 'never' }), /does not permit `never`/);
	await rejects(server.request('command/exec', { command: ['true'], sandboxPolicy: { type: 'dangerFullAccess' } }), outside);
	await turn({});
	await server.next('turn/completed');
	const { requirements } = await server.request('configRequirements/read');
	assert.deepEqual(requirements.allowedSandboxModes, ['read-only', 'workspace-write']);
	assert.deepEqual(requirements.allowedApprovalPolicies, ['on-request']);
	assert.equal(requirements.allowedWebSearchModes, null);
	assert.equal((await server.end()).code, 0);
});

test('a stored session outside the limits resumes within them', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const before = await startAppServer(t, model);
	const { thread } = await before.request('thread/start', { sandbox: 'danger-full-access', approvalPolicy: 'never' });
	await before.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await before.next('turn/completed');
	await before.end();
	const limits = READ_ONLY + 'allowed_approval_policies = ["on-request"]\n';
	const server = await startAppServer(t, model, { bin: machine(t, { 'requirements.toml': limits }), home: before.home });
	const resumed = await server.request('thread/resume', { threadId: thread.id });
	assert.equal(resumed.sandbox.type, 'readOnly');
	assert.equal(resumed.approvalPolicy, 'on-request');
	await server.request('turn/start', { threadId: thread.id, input: [text('again')] });
	await server.next('turn/completed');
	assert.match(textsOf(model.requests()[1], 'developer').at(-1), /read-only/);
	assert.equal((await server.end()).code, 0);
});

test('config/read names the administrator\'s files as layers', options, async (t) => {
	const bin = machine(t, {
		'managed_config.toml': 'model = "gpt-managed"\n',
		'requirements.toml': 'allow_login_shell = false\n',
	});
	const server = await startAppServer(t, await startModel(t, [say('Unused.')]), { bin });
	const { config, origins, layers } = await server.request('config/read', { includeLayers: true });
	assert.equal(config.model, 'gpt-managed');
	assert.deepEqual(origins.model.name, { type: 'legacyManagedConfigTomlFromFile', file: '/etc/codex/managed_config.toml' });
	assert.deepEqual(layers.slice(0, 2).map(({ name }) => name.file),
		['/etc/codex/requirements.toml', '/etc/codex/managed_config.toml']);
	assert.equal((await server.end()).code, 0);
});

test('a subagent may not leave the limits', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': READ_ONLY });
	const model = await startModel(t, [
		call('subagent_spawn', { prompt: 'go', label: 'x', sandbox_mode: 'danger-full-access' }), say('Done.'),
	]);
	const { code, stderr } = await exec(t, bin, model, ['--enable', 'subagent_tools', 'go']);
	assert.equal(code, 0, stderr);
	const second = model.requests()[1];
	assert.match(JSON.stringify(second.body.input), /sandbox_mode danger-full-access not permitted/);
});

test('hooks of requirements.toml run without trust, and can be the only ones', options, async (t) => {
	const hook = (command) => `[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = "command"\ncommand = "${command}"\n`;
	const bin = machine(t, { 'requirements.toml': `allow_managed_hooks_only = true\n${hook('echo from the administrator')}` });
	const model = await startModel(t, [say('Done.'), say('Done.')]);
	const config = hook('echo from the user');
	for (const [i, args] of [['--dangerously-bypass-hook-trust', 'go'], ['--disable', 'hooks', 'go']].entries()) {
		const { code, stderr } = await exec(t, bin, model, args, { config });
		assert.equal(code, 0, stderr);
		const texts = textsOf(model.requests()[i], 'developer');
		assert.ok(texts.includes('from the administrator'));
		assert.ok(!texts.includes('from the user'));
	}
	const broken = machine(t, { 'requirements.toml': '[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = "prompt"\n' });
	const refused = await exec(t, broken, model, ['go']);
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /requirements\.toml:\d+: `hooks`: this version supports the type `command` only/);
});

test('the reviewer of approvals is one that is permitted, and its policy is the administrator\'s', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': 'allowed_approvals_reviewers = ["user"]\n' });
	const model = await startModel(t, [run('touch made', { sandbox_permissions: 'require_escalated', justification: 'x' }), say('Done.'), say('Hi.')]);
	const { stderr, cwd } = await exec(t, bin, model, ['--approve-for-me', 'go']);
	assert.match(stderr, /approvals_reviewer is user: .*allowed_approvals_reviewers in \/etc\/codex\/requirements.toml/);
	assert.ok(!fs.existsSync(path.join(cwd, 'made')));
	assert.equal(model.requests().length, 2);
	const server = await startAppServer(t, model, { bin });
	const { thread, approvalsReviewer } = await server.request('thread/start', { config: { approvals_reviewer: 'auto_review' } });
	assert.equal(approvalsReviewer, 'user');
	await assert.rejects(server.request('turn/start', { threadId: thread.id, input: [text('hi')], approvalsReviewer: 'auto_review' }),
		(error) => error instanceof RpcError && /does not permit `auto_review`/.test(error.message));
});

test('the administrator\'s policy of the reviewer is above the user\'s', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': 'allowed_approvals_reviewers = ["auto_review"]\n' +
		'guardian_policy_config = "Deny on Fridays."\nguardian_extra_policy = "Count twice."\n' });
	const model = await startModel(t, [run('touch made', { sandbox_permissions: 'require_escalated', justification: 'x' }),
		say('{"outcome":"deny"}'), say('Done.')]);
	await exec(t, bin, model, ['-s', 'workspace-write', 'go'], { config: 'auto_review.policy = "Allow all."\n' });
	const [, review] = model.requests();
	assert.match(review.body.instructions, /# Policy\n\nDeny on Fridays\.\n\nCount twice\.$/);
});

test('with the models of required_on_models the automatic reviewer answers, whoever chooses another one', options, async (t) => {
	const bin = machine(t, { 'requirements.toml': '[auto_review]\nrequired_on_models = ["gpt-5.5"]\n' });
	const escalated = run('touch made', { sandbox_permissions: 'require_escalated', justification: 'x' });
	const deny = say('{"outcome":"deny"}');
	const model = await startModel(t, [escalated, deny, say('Done.'), escalated, say('Later.'), escalated, deny, say('End.')]);
	const server = await startAppServer(t, model, { bin, config: 'model = "gpt-5.5"\napproval_policy = "on-request"\n' });
	const { thread, approvalsReviewer } = await server.request('thread/start', { config: { approvals_reviewer: 'user' } });
	assert.equal(approvalsReviewer, 'auto_review');
	const turn = (more) => server.request('turn/start', { threadId: thread.id, input: [text('hi')], ...more });
	await assert.rejects(turn({ approvalsReviewer: 'user' }), (error) => error instanceof RpcError && error.message.includes(
		'requires the automatic reviewer with the model `gpt-5.5`: auto_review.required_on_models in /etc/codex/requirements.toml'));
	await turn();
	await server.next('turn/completed');
	assert.equal(server.all('item/commandExecution/requestApproval').length, 0);
	assert.equal(server.all('item/autoApprovalReview/completed').length, 1);
	await turn({ model: 'gpt-5.2', approvalsReviewer: 'user' });
	server.answer(await server.next('item/commandExecution/requestApproval'), { decision: 'decline' });
	await server.next('turn/completed');
	await turn({ model: 'gpt-5.5', approvalsReviewer: 'user' });
	await server.next('turn/completed');
	assert.equal(server.all('item/commandExecution/requestApproval').length, 1);
	assert.equal(server.all('item/autoApprovalReview/completed').length, 2);
	const { requirements } = await server.request('configRequirements/read');
	assert.deepEqual(requirements.autoReview, { ignoreRules: null, requiredOnModels: ['gpt-5.5'] });
	assert.equal((await server.end()).code, 0);
});

test('ACP: a mode that the requirements exclude is refused when it is chosen', options, async (t) => {
	const bin = machine(t, { 'requirements.toml':
		'allowed_sandbox_modes = ["read-only", "workspace-write"]\n[auto_review]\nrequired_on_models = ["gpt-5.5"]\n' });
	const model = await startModel(t, [say('Done.')]);
	const acp = await startAcp(t, model, { bin, config: 'model = "gpt-5.5"\nsandbox_mode = "workspace-write"\napproval_policy = "on-request"\n' });
	const { sessionId, modes } = await acp.newSession();
	assert.equal(modes.currentModeId, 'agent');
	const choose = (modeId) => acp.request('session/set_mode', { sessionId, modeId });
	await assert.rejects(choose('workspace-write'), /automatic reviewer with the model `gpt-5.5`: auto_review.required_on_models/);
	await assert.rejects(choose('agent-full-access'), /automatic reviewer|danger-full-access/);
	await assert.rejects(acp.request('session/set_config_option', { sessionId, configId: 'mode', value: 'read-only' }), /automatic reviewer/);
	await acp.request('session/set_config_option', { sessionId, configId: 'model', value: 'gpt-6-sol' });
	await choose('workspace-write');
	await assert.rejects(choose('agent-full-access'), /danger-full-access/);
	await acp.prompt(sessionId, 'go');
	await acp.end();
});

test("the administrator's files are above the role of a subagent", options, async (t) => {
	const bin = machine(t, { 'managed_config.toml': 'model_reasoning_effort = "low"\ndeveloper_instructions = "OURS"\n',
		'requirements.toml': '[features]\nshell_tool = false\n' });
	const model = await startModel(t, [
		{ when: { contains: 'count pears', lacks: 'ROOT' }, reply: [{ message: 'Five.' }] },
		call('spawn_agent', { message: 'count pears', agent_type: 'free' }),
		{ take: { agent: { from: 'input.-1.output', after: '"agent_id":"' } },
			reply: [{ call: 'wait_agent', arguments: { targets: ['{agent}'] } }] },
		say('Done.')]);
	const role = path.join(tempDir(t, 'role'), 'free.toml');
	fs.writeFileSync(role, 'model = "gpt-5.4"\nmodel_reasoning_effort = "high"\ndeveloper_instructions = "THEIRS"\nfeatures.shell_tool = true\n');
	const { code, stderr } = await exec(t, bin, model, ['ROOT'],
		{ config: `[agents.free]\ndescription = "x"\nconfig_file = "${role}"\n` });
	assert.equal(code, 0, stderr);
	const child = model.requests().find(({ body }) => !JSON.stringify(body.input).includes('ROOT'));
	assert.equal(child.body.model, 'gpt-5.4');
	assert.equal(child.body.reasoning.effort, 'low');
	assert.ok(textsOf(child, 'developer').includes('OURS') && !textsOf(child, 'developer').includes('THEIRS'));
	assert.ok(!child.body.tools.some(({ name }) => name === 'exec_command'));
});

test('a user file that cannot be parsed does not switch off the rules about logins', options, async (t) => {
	const home = makeHome(t, null), cwd = tempDir(t, 'cwd');
	fs.writeFileSync(path.join(home, 'config.toml'), '[');
	const login = async (rules) => {
		const bin = machine(t, { 'requirements.toml': rules });
		const { child, done } = launch(t, bin, ['login', '--with-api-key'], { cwd, env: cleanEnv(home) });
		child.stdin.end('sk-test\n');
		return done;
	};
	const { code, stderr } = await login('allowed_login_methods = ["chatgpt"]\n');
	assert.equal(code, 1);
	assert.match(stderr, /allowed_login_methods/);
	assert.equal(fs.existsSync(path.join(home, 'auth.json')), false);
	assert.equal((await login('allowed_login_methods = ["api"]\n')).code, 0);
	assert.equal(fs.existsSync(path.join(home, 'auth.json')), true, 'the file itself does not prevent a login');
});

test('only the marketplaces and plugins of requirements.toml can be added', options, async (t) => {
	const root = fs.realpathSync(tempDir(t, 'market')), home = makeHome(t, null), cwd = tempDir(t, 'cwd');
	const write = (file, value) => {
		fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		fs.writeFileSync(path.join(root, file), JSON.stringify(value));
	};
	const plugin = async (bin, ...args) => {
		const { child, done } = launch(t, bin, ['plugin', ...args], { cwd, env: cleanEnv(home) });
		child.stdin.end();
		return done;
	};
	write('.agents/plugins/marketplace.json', { name: 'shop', plugins: [{ name: 'desk', source: './desk' }] });
	write('desk/.codex-plugin/plugin.json', { name: 'desk' });
	const none = machine(t, { 'requirements.toml': '[marketplaces]\n' });
	assert.match((await plugin(none, 'marketplace', 'add', root)).stderr, /requirements\.toml: \[marketplaces\] does not allow the source \//);
	const source = (at) => `[marketplaces.allowed_sources.a]\nsource = "local"\npath = "${at}"\n`;
	const named = machine(t, { 'requirements.toml': `[marketplaces.shop]\n${source(`${root}2`)}` });
	assert.match((await plugin(named, 'marketplace', 'add', root)).stderr, /does not allow the source/, 'a name is no source');
	const shop = machine(t, { 'requirements.toml': `${source(root)}[plugins.other]\nenabled = true\n` });
	assert.equal((await plugin(shop, 'marketplace', 'add', root)).code, 0);
	assert.match((await plugin(shop, 'add', 'desk@shop')).stderr, /\[plugins\] does not list `desk@shop`/);
	assert.match((await plugin(none, 'add', 'desk@shop')).stderr, /\[marketplaces\] does not allow the source/);
	const limit = `[marketplaces]\nrestrict_to_allowed_sources = true\n${source(root)}`;
	const both = machine(t, { 'requirements.toml': `${limit}[plugins."desk@shop"]\nenabled = true\n` });
	assert.equal((await plugin(both, 'add', 'desk@shop')).code, 0);
	assert.match((await plugin(shop, 'list')).stdout, /^desk@shop\tdisabled\t/);

	const at = { pluginName: 'desk', marketplacePath: path.join(root, '.agents/plugins/marketplace.json') };
	const asked = async (bin, method, params) => {
		const server = await startAppServer(t, null, { bin, home, cwd });
		const result = await server.request(method, params).catch(({ message }) => message);
		await server.end();
		return result;
	};
	assert.match(await asked(shop, 'plugin/install', at), /requirements\.toml: \[plugins\] does not list `desk@shop`/);
	for (const [method, params] of [['plugin/install', at], ['marketplace/add', { source: root }]])
		assert.match(await asked(none, method, params), /requirements\.toml: \[marketplaces\] does not allow the source/);
	for (const [bin, availability, disabledReason] of [[both, 'AVAILABLE', null], [shop, 'DISABLED_BY_ADMIN', 'disabled_by_admin']]) {
		const [{ plugins: [listed] }] = (await asked(bin, 'plugin/list', {})).marketplaces;
		assert.deepEqual([listed.availability, listed.disabledReason], [availability, disabledReason]);
	}
	fs.rmSync(path.join(home, 'plugins/cache'), { recursive: true });
	assert.deepEqual((await asked(none, 'plugin/reconcile', {})).failedMaterializationRemotePluginIds, ['desk@shop']);
	assert.deepEqual((await asked(both, 'plugin/reconcile', {})).changedPlugins.map(({ id }) => id), ['desk@shop']);
});
