// Settings as clients of `codex app-server` read and change them.

import assert from 'node:assert/strict';
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { makeHome, needs, readLines, runCodex, say, sharedPath, startModel, tempDir } from './lib/codex.mjs';

const options = needs('app-server');
const refusal = (message, why) => ({
	name: 'Error', code: -32600, message, ...(why && { data: { config_write_error_code: why } }),
});
const file = (server) => path.join(server.home, 'config.toml');
const write = (server, keyPath, value, more) =>
	server.request('config/value/write', { keyPath, value, mergeStrategy: 'replace', ...more });

/** A CODEX_HOME with just this in config.toml. */
function homeOf(t, text) {
	const home = tempDir(t, 'home');
	writeFileSync(path.join(home, 'config.toml'), text);
	return home;
}

const CONFIG = `# what I like
model = "mock-model" # not the best

[model_providers.mock] # mine
name = "Mock"
base_url = "http://127.0.0.1:1/v1"

# how it looks
[tui]
theme = 'dark'
`;

test('settings are read with their layers', options, async (t) => {
	const cwd = tempDir(t, 'project');
	mkdirSync(path.join(cwd, '.codex'));
	writeFileSync(path.join(cwd, '.codex/config.toml'), 'model_verbosity = "low"\n[tools]\nweb_search = true\n');
	const server = await startAppServer(t, null, {
		home: homeOf(t, `${CONFIG}notify = ["a"]\n[projects."${cwd}"]\ntrust_level = "trusted"\n[tools]\nweb_search = true\n`),
		cwd, args: ['-c', 'model_reasoning_effort="low"', '-c', 'sandbox_mode="read-only"'],
	});
	const { config, origins, layers } = await server.request('config/read', { cwd, includeLayers: true });
	assert.equal(config.model, 'mock-model');
	assert.equal(config.model_verbosity, 'low');
	assert.equal(config.approval_policy, null);
	assert.equal(config.project_doc_max_bytes, 32768);
	assert.deepEqual(config.project_root_markers, ['.git']);
	assert.deepEqual(layers.map(({ name }) => name), [
		{ type: 'sessionFlags' },
		{ type: 'project', dotCodexFolder: path.join(cwd, '.codex') },
		{ type: 'user', file: file(server), profile: null },
		{ type: 'system', file: '/etc/codex/config.toml' },
	]);
	// A version is the hash of the settings as JSON with sorted keys, as in the reference.
	assert.equal(layers[0].version, 'sha256:00e4cc45a8377c5be2b79575082e837b27e96aacc8bfb7073aa25f8e25faaf73');
	assert.deepEqual(layers[0].config, { model_reasoning_effort: 'low', sandbox_mode: 'read-only' });
	assert.deepEqual(origins['tui.theme'].name, layers[2].name);
	assert.deepEqual(origins['tui.notify.0'], { name: layers[2].name, version: layers[2].version });
	assert.deepEqual(origins['tools.web_search'], { name: layers[1].name, version: layers[1].version });
	assert.deepEqual(origins.sandbox_mode.name, { type: 'sessionFlags' });
	const alone = await server.request('config/read', {});
	assert.equal(alone.layers, undefined);
	assert.equal(alone.config.model_verbosity, null);
});

test('a change leaves comments, order and quotes of the file alone', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, CONFIG) });
	const { version, ...rest } = await write(server, 'model', 'other');
	assert.match(version, /^sha256:[0-9a-f]{64}$/);
	assert.deepEqual(rest, { status: 'ok', filePath: file(server), overriddenMetadata: null });
	await server.request('config/batchWrite', {
		edits: [
			{ keyPath: 'tui.theme', value: null, mergeStrategy: 'replace' },
			{ keyPath: 'tui.notifications', value: ['a', 'b'], mergeStrategy: 'replace' },
			{ keyPath: 'mcp_servers.x', value: { command: 'c', env: { A: 'b' } }, mergeStrategy: 'upsert' },
			{ keyPath: 'projects."/a b.c".trust_level', value: 'trusted', mergeStrategy: 'replace' },
			{ keyPath: 'projects./d.trust_level', value: 'untrusted', mergeStrategy: 'replace' },
		],
	});
	assert.equal(readFileSync(file(server), 'utf8'), `# what I like
model = "other" # not the best

[model_providers.mock] # mine
name = "Mock"
base_url = "http://127.0.0.1:1/v1"

# how it looks
[tui]
notifications = ["a", "b"]

[mcp_servers.x]
command = "c"

[mcp_servers.x.env]
A = "b"

[projects."/a b.c"]
trust_level = "trusted"

[projects."/d"]
trust_level = "untrusted"
`);
	const { config } = await server.request('config/read', {});
	assert.equal(config.model, 'other');
	assert.deepEqual(config.mcp_servers, { x: { command: 'c', env: { A: 'b' } } });
	await server.request('config/value/write',
		{ keyPath: 'mcp_servers.x', value: { env: { B: 'c' } }, mergeStrategy: 'upsert' });
	await write(server, 'projects', null);
	const after = (await server.request('config/read', {})).config;
	assert.deepEqual(after.mcp_servers, { x: { command: 'c', env: { A: 'b', B: 'c' } } });
	assert.deepEqual(after.projects, {});
});

test('a change that cannot be is refused, and nothing of it is written', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, CONFIG), args: ['-c', 'sandbox_mode="read-only"'] });
	const before = readFileSync(file(server), 'utf8');
	const invalid = 'configValidationError';
	const cases = [
		['', 1, 'keyPath must not be empty', invalid],
		['a..b', 1, 'keyPath segments must not be empty', invalid],
		['model.x', 1, '`model` is a string, so nothing can be set in it', invalid],
		['model_context_window', 1.5, /^Invalid configuration: .*`model_context_window` must be an integer/, invalid],
		['sandbox_mode', 'bogus', /^Invalid configuration: .*`sandbox_mode` must be one of `read-only`, /, invalid],
		['model_providers.mock.wire_api', 1, /^Invalid configuration: .*`model_providers.mock.wire_api` must/, invalid],
		['profile', 'nope', /^Invalid configuration: config profile `nope` not found/, invalid],
		['zz', { a: [null] }, /^invalid value: invalid type: null/, invalid],
	];
	for (const [keyPath, value, message, why] of cases)
		await assert.rejects(write(server, keyPath, value), refusal(message, why), keyPath);
	const readonly = refusal('Only writes to the user config are allowed', 'configLayerReadonly');
	for (const filePath of ['/nonexistent/config.toml', 'config.toml', ''])
		await assert.rejects(write(server, 'model', 'm2', { filePath }), readonly);
	await assert.rejects(write(server, 'model', 'm2', { expectedVersion: 'sha256:bad' }),
		refusal('Configuration was modified since last read. Fetch latest version and retry.', 'configVersionConflict'));
	await assert.rejects(server.request('config/batchWrite', {
		edits: [
			{ keyPath: 'model', value: 'm2', mergeStrategy: 'replace' },
			{ keyPath: 'history.max_bytes', value: 'x', mergeStrategy: 'replace' },
		],
	}), refusal(/`history.max_bytes` must be an integer/, invalid));
	await assert.rejects(server.request('config/value/write', { keyPath: 'model', mergeStrategy: 'replace' }),
		refusal('Invalid request: missing field `value`'));
	await assert.rejects(server.request('config/value/write', { keyPath: 'model', value: 1, mergeStrategy: 'x' }),
		refusal('Invalid request: unknown variant `x`, expected `replace` or `upsert`'));
	assert.equal(readFileSync(file(server), 'utf8'), before);
	writeFileSync(file(server), 'model = [broken\n');
	await assert.rejects(server.request('config/read', {}), { code: -32603, message: /config\.toml:1:/ });
	await assert.rejects(write(server, 'model', 'x'), { code: -32603, message: /^failed to load configuration: / });
});

test('a change may require the version of the last read', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, CONFIG) });
	const { layers } = await server.request('config/read', { includeLayers: true });
	writeFileSync(file(server), `${CONFIG}# only a comment more\n`);
	const { version } = await write(server, 'model', 'a', { expectedVersion: layers[0].version, filePath: file(server) });
	await assert.rejects(write(server, 'model', 'b', { expectedVersion: layers[0].version }), { code: -32600 });
	await write(server, 'model', 'b', { expectedVersion: version });
});

test('an option of the command line keeps precedence, and the answer says so', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, CONFIG), args: ['-c', 'model="fixed"'] });
	const { status, overriddenMetadata } = await write(server, 'model', 'other');
	assert.equal(status, 'okOverridden');
	assert.equal(overriddenMetadata.message, 'Overridden by session flags');
	assert.equal(overriddenMetadata.effectiveValue, 'fixed');
	assert.deepEqual(overriddenMetadata.overridingLayer.name, { type: 'sessionFlags' });
	assert.equal((await write(server, 'model', 'fixed')).status, 'ok');
});

test('a missing file is created, and a linked one is written through the link', options, async (t) => {
	const home = tempDir(t, 'home'), real = path.join(tempDir(t, 'dotfiles'), 'codex.toml');
	const server = await startAppServer(t, null, { home });
	await write(server, 'tui.theme', 'x');
	assert.equal(readFileSync(file(server), 'utf8'), '[tui]\ntheme = "x"\n');
	assert.equal(lstatSync(file(server)).mode & 0o777, 0o600);
	const other = tempDir(t, 'home2');
	writeFileSync(real, 'model = "a"\r\n', { mode: 0o644 });
	symlinkSync(real, path.join(other, 'config.toml'));
	const second = await startAppServer(t, null, { home: other });
	await write(second, 'model_verbosity', 'low');
	assert.ok(lstatSync(file(second)).isSymbolicLink());
	assert.equal(readFileSync(real, 'utf8'), 'model = "a"\r\nmodel_verbosity = "low"\r\n');
	assert.equal(lstatSync(real).mode & 0o777, 0o644);
});

test('new threads use changed settings', options, async (t) => {
	const config = `model_provider = "mock"\nmodel = "one"\n${CONFIG.slice(CONFIG.indexOf('[model'))}`;
	const server = await startAppServer(t, null, { home: homeOf(t, config) });
	assert.equal((await server.request('thread/start', {})).model, 'one');
	await write(server, 'model', 'two');
	await write(server, 'approval_policy', 'never');
	const started = await server.request('thread/start', {});
	assert.deepEqual([started.model, started.approvalPolicy], ['two', 'never']);
});

test('providers are listed, made and changed', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, CONFIG) });
	const own = { id: 'mock', name: 'Mock', canEdit: true, baseUrl: 'http://127.0.0.1:1/v1' };
	const auth = (value) => ({ settings: { type: 'customGateway', auth: value } });
	assert.deepEqual(await server.request('modelProvider/list', {}), {
		data: [
			{ ...own, ...auth({ mode: 'none' }) },
			{ id: 'openai', name: 'OpenAI', canEdit: false, baseUrl: null, settings: { type: 'openai' } },
		],
		defaultProviderId: 'openai', canChangeDefault: true,
	});
	const put = (settings) => server.request('modelProvider/config/write', { settings: { type: 'customGateway', ...settings } });
	const gate = { name: 'My Gate!', baseUrl: 'https://gate/v1', envKey: 'GATE_KEY' };
	const made = (await put(gate)).provider;
	assert.deepEqual(made, { id: 'my-gate', name: 'My Gate!', canEdit: true, baseUrl: 'https://gate/v1',
		...auth({ mode: 'environmentVariable', envKey: 'GATE_KEY' }) });
	assert.equal((await put(gate)).provider.id, 'my-gate-2');
	const changed = (await put({ providerId: 'my-gate', envKey: null, name: 'Gate' })).provider;
	assert.deepEqual(changed, { ...made, name: 'Gate', ...auth({ mode: 'none' }) });
	const refusals = [
		[{}, 'Enter a provider name.', 'configValidationError'],
		[{ name: 'x' }, 'A base URL is required to create a custom provider.', 'configValidationError'],
		[{ name: 'x', baseUrl: 'ftp://h' }, /^Enter an HTTP\(S\) base URL/, 'configValidationError'],
		[{ name: 'x', baseUrl: 'https://a@h' }, /^Enter an HTTP\(S\) base URL/, 'configValidationError'],
		[{ name: 'x', envKey: 'A B' }, 'Invalid API key environment variable name.', 'configValidationError'],
		[{ providerId: 'nope', name: 'x' }, 'Unknown provider ID.', 'configPathNotFound'],
		[{ providerId: 'openai', name: 'x' }, 'A custom provider or gateway cannot use a built-in provider ID.',
			'configValidationError'],
	];
	for (const [settings, message, why] of refusals) await assert.rejects(put(settings), refusal(message, why));
	assert.deepEqual(await server.request('modelProvider/capabilities/read', {}), { imageGeneration: false, webSearch: true });
});

test('features are listed, and switched for this process', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, CONFIG) });
	const feature = async (name) => (await server.request('experimentalFeature/list', {})).data.find((it) => it.name === name);
	assert.deepEqual(await feature('unified_exec'), {
		name: 'unified_exec', stage: 'stable', displayName: null, announcement: null, enabled: true, defaultEnabled: true,
		description: 'exec_command and write_stdin: commands that keep running between calls.',
	});
	const set = (enablement) => server.request('experimentalFeature/enablement/set', { enablement });
	assert.deepEqual(await set({ unified_exec: false, apps: true, 'no such': true }), { enablement: { unified_exec: false } });
	assert.equal((await feature('unified_exec')).enabled, false);
	await write(server, 'features.unified_exec', true);
	assert.equal((await feature('unified_exec')).enabled, true);
	await assert.rejects(set({ unified_exec: 5 }), refusal(/^Invalid request: invalid type: .*expected a boolean$/));
	const page = await server.request('experimentalFeature/list', { limit: 1, cursor: '1' });
	assert.deepEqual([page.data.length, page.nextCursor], [1, '2']);
	await assert.rejects(server.request('experimentalFeature/list', { threadId: 'x' }), refusal(/^invalid thread id: .*found `x` at 1$/));
	await assert.rejects(server.request('experimentalFeature/list', { cursor: 'x' }), refusal('invalid cursor: x'));
	await assert.rejects(server.request('experimentalFeature/list', { cursor: '999' }),
		refusal(/^cursor 999 exceeds total feature flags \d+$/));
});

test('permissions, modes, skills and requirements are listed', options, async (t) => {
	const server = await startAppServer(t, null, { home: homeOf(t, '[permissions.mine]\ndescription = "hi"\nfilesystem = { "/etc" = "deny" }\n') });
	const all = await server.request('permissionProfile/list', {});
	assert.deepEqual(all.data.map(({ id, allowed }) => [id, allowed]),
		[[':read-only', true], [':workspace', true], [':danger-full-access', true], ['mine', false]]);
	assert.deepEqual(await server.request('permissionProfile/list', { limit: 0, cursor: '3' }),
		{ data: [{ id: 'mine', description: 'hi', allowed: false }], nextCursor: null });
	await assert.rejects(server.request('permissionProfile/list', { cursor: '5' }),
		refusal('cursor 5 exceeds total permission profiles 4'));
	assert.deepEqual(await server.request('collaborationMode/list', {}), { data: [
		{ name: 'Plan', mode: 'plan', model: null, reasoning_effort: 'medium' },
		{ name: 'Default', mode: 'default', model: null, reasoning_effort: null },
	] });
	assert.deepEqual(await server.request('skills/list', {}), { data: [{ cwd: server.cwd, skills: [], errors: [] }] });
	assert.deepEqual(await server.request('skills/list', { cwds: ['/a', '/b'] }),
		{ data: ['/a', '/b'].map((cwd) => ({ cwd, skills: [], errors: [] })) });
	assert.deepEqual(await server.request('configRequirements/read', null),
		{ supportsIndependentSpeedModes: false, requirements: null });
});

test('figures of the process are returned', options, async (t) => {
	const server = await startAppServer(t, null);
	const { process: own, gauges } = await server.request('server/diagnostics', {});
	assert.equal(own.id, server.child.pid);
	assert.ok(own.residentMemoryBytes > 1_000_000);
	assert.deepEqual(gauges.map(({ name }) => name),
		['app.requests.in_flight', 'app.requests.queued', 'core.threads.live', 'core.turns.active']);
	assert.equal(gauges[0].value, 1);
});

// Sends the recorded requests and compares everything except prose and the list of known keys.
const capture = sharedPath('reference/captures/app-server/config_rw.jsonl');
test('the recorded conversation about settings goes the same way', { skip: options.skip || !capture }, async (t) => {
	const lines = readLines(capture).filter(({ msg }) => msg?.id !== undefined);
	const server = await startAppServer(t, null, { home: homeOf(t, `model = "mock-model"
model_provider = "mock"

[model_providers.mock]
name = "Mock"
base_url = "http://127.0.0.1:1/v1"
wire_api = "responses"
requires_openai_auth = false
`) });
	for (const { msg: asked } of lines.filter(({ dir, msg }) => dir === '>' && msg.method.startsWith('config'))) {
		const { result, error } = lines.find(({ dir, msg }) => dir === '<' && msg.id === asked.id).msg;
		if (error) {
			await assert.rejects(server.request(asked.method, asked.params), (refused) => {
				assert.equal(refused.code, error.code);
				assert.deepEqual(refused.data, error.data);
				if (error.data?.config_write_error_code !== 'configValidationError')
					assert.equal(refused.message, error.message);
				return true;
			});
			continue;
		}
		const params = JSON.parse(JSON.stringify(asked.params ?? null).replaceAll('$CWD', server.cwd));
		const own = await server.request(asked.method, params);
		assert.deepEqual(Object.keys(own).sort(), Object.keys(result).sort(), asked.method);
		if (!result.config) continue;
		assert.deepEqual([own.config.model, own.config.model_provider], [result.config.model, result.config.model_provider]);
		const unlike = (a, b) => Object.keys(a).filter((key) => !(key in b)).sort();
		assert.deepEqual([unlike(own.config, result.config), unlike(result.config, own.config)], [OWN_KEYS, LACKING_KEYS]);
		assert.deepEqual(unlike(own.origins, result.origins), []);
	}
	assert.match(readFileSync(file(server), 'utf8'), /^model = "m2"\nmodel_provider = "mock"\nno_such_key = 1\n\n\[model_providers/);
});

// Settings of this program alone, some of them by names that the reference has forgotten.
const OWN_KEYS = [
	'app_server', 'collaboration_mode', 'debug', 'experimental_use_freeform_apply_patch', 'fsync', 'include_apply_patch_tool',
	'max_active_subagents', 'model_max_output_tokens', 'model_supports_reasoning_summaries', 'on_input_while_running',
	'request_user_input_timeout_ms', 'root_agent_uses_user_messages', 'sandbox_backend',
	'subagent_inbox_inject_before_tools', 'subagent_root_inbox_autosubmit', 'subagent_slots_until_prune',
	'tools_view_image', 'tools_web_search', 'windows_wsl_setup_acknowledged', 'wire_profile',
];
const LACKING_KEYS = [];

test('a mistake in config.toml is a warning with its place, and threads are refused until it is mended', options, async (t) => {
	const model = await startModel(t, [say('unused')]);
	for (const [mistake, line, column, words] of [
		['model = 3', 2, 1, /`model` must be a string, not an integer/],
		['model = "x', 2, 11, /the string has no closing quote/],
	]) {
		const home = makeHome(t, model);
		const toml = path.join(home, 'config.toml');
		const good = readFileSync(toml, 'utf8');
		writeFileSync(toml, `# a comment\n${mistake}\n${good}`);
		const server = await startAppServer(t, model, { home });
		assert.equal(server.server.codexHome, home);
		const { params } = await server.next('configWarning');
		assert.equal(params.summary, 'Invalid configuration; using defaults.');
		assert.match(params.details, words);
		assert.equal(params.path, toml);
		assert.deepEqual(params.range, { start: { line, column }, end: { line, column } });
		await assert.rejects(server.request('thread/start', {}), { code: -32600, message: `failed to load configuration: ${params.details}` });
		assert.ok((await server.request('model/list', {})).data.length > 0);
		writeFileSync(toml, good);
		assert.ok((await server.request('thread/start', {})).thread.id);
	}
});

test('a mistake of the command line ends the server', options, async (t) => {
	const { code, stderr } = await runCodex(t, ['app-server', '-c', 'model=3']);
	assert.equal(code, 1);
	assert.match(stderr, /`model` must be a string/);
});

test('settings written by six servers at once are all there', options, async (t) => {
	const first = await startAppServer(t, null);
	const servers = [first];
	while (servers.length < 6) servers.push(await startAppServer(t, null, { home: first.home }));
	const keys = servers.flatMap((server, n) => Array.from({ length: 8 }, (_, i) => [server, `model_providers.p${n}x${i}`]));
	await Promise.all(keys.map(([server, key]) => write(server, key, { name: key })));
	const text = readFileSync(file(first), 'utf8');
	assert.deepEqual(keys.map(([, key]) => key).filter((key) => !text.includes(key)), []);
	const version = (await first.request('config/read', { includeLayers: true })).layers.find(({ name }) => name.type === 'user').version;
	await write(servers[1], 'model', 'other');
	await assert.rejects(write(first, 'model', 'mine', { expectedVersion: version }), /modified since last read/);
});
