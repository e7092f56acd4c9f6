// Login and logout in `codex app-server`, and methods that need other kinds of accounts.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { needs, readLines, sharedPath, tempDir } from './lib/codex.mjs';

const options = needs('app-server');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });
const nobody = { account: null, userId: null, requiresOpenaiAuth: true, workspaceRouting: null };

/** A server whose provider requires an OpenAI key. */
async function startWithOpenai(t) {
	const home = tempDir(t, 'home');
	writeFileSync(path.join(home, 'config.toml'), `model_provider = "mock"
[model_providers.mock]
name = "Mock"
base_url = "http://127.0.0.1:9/v1"
requires_openai_auth = true
`);
	return startAppServer(t, null, { home });
}

test('an API key is stored, reported, used and removed', options, async (t) => {
	const server = await startWithOpenai(t);
	const file = path.join(server.home, 'auth.json');
	assert.deepEqual(await server.request('account/read', {}), nobody);
	await assert.rejects(server.request('thread/start', {}), /no API key/);
	assert.deepEqual(await server.request('account/login/start', { type: 'apiKey', apiKey: ' sk-test ' }), { type: 'apiKey' });
	assert.deepEqual((await server.next('account/login/completed')).params,
		{ loginId: null, success: true, error: null, onboardingEntrypoint: null });
	assert.deepEqual((await server.next('account/updated')).params, { authMode: 'apikey', planType: null });
	assert.deepEqual(JSON.parse(readFileSync(file)), { auth_mode: 'apikey', OPENAI_API_KEY: 'sk-test' });
	assert.equal(statSync(file).mode & 0o777, 0o600);
	assert.deepEqual(await server.request('account/read', { refreshToken: true }), { ...nobody, account: { type: 'apiKey' } });
	assert.deepEqual(await server.request('getAuthStatus', { includeToken: true }),
		{ authMethod: 'apikey', authToken: 'sk-test', requiresOpenaiAuth: true });
	assert.deepEqual(await server.request('getAuthStatus', {}),
		{ authMethod: 'apikey', authToken: null, requiresOpenaiAuth: true });
	assert.ok((await server.request('thread/start', {})).thread.id);
	assert.deepEqual(await server.request('account/logout', null), {});
	assert.deepEqual((await server.next('account/updated')).params, { authMode: null, planType: null });
	assert.ok(!existsSync(file));
	assert.deepEqual(await server.request('account/read', {}), nobody);
	assert.deepEqual(await server.request('account/logout', null), {});
});

test('an invalid key or another kind of login is refused, and the old key is kept', options, async (t) => {
	const server = await startWithOpenai(t);
	const login = (params) => server.request('account/login/start', params);
	await login({ type: 'apiKey', apiKey: 'sk-1' });
	for (const apiKey of ['', ' ', 'a b', 'a\n'.repeat(2), 'ä'])
		await assert.rejects(login({ type: 'apiKey', apiKey }), refusal(/^invalid API key/));
	await assert.rejects(login({ type: 'apiKey' }), refusal('Invalid request: missing field `apiKey`'));
	await assert.rejects(login({}), refusal('Invalid request: missing field `type`'));
	await assert.rejects(login({ type: 'x' }), refusal('Invalid request: unknown variant `x`, expected one of `apiKey`, ' +
		'`chatgpt`, `chatgptDeviceCode`, `chatgptAuthTokens`, `amazonBedrock`, `amazonBedrockAccessKeys`'));
	for (const type of ['amazonBedrock', 'amazonBedrockAccessKeys'])
		await assert.rejects(login({ type, apiKey: 'k' }), refusal(new RegExp(`has no login by \`${type}\``)));
	assert.deepEqual((await server.request('account/read', {})).account, { type: 'apiKey' });
	await assert.rejects(server.request('account/login/cancel', { loginId: 'x' }), refusal('invalid login id: x'));
	assert.deepEqual(await server.request('account/login/cancel', { loginId: '00000000-0000-7000-8000-000000000000' }),
		{ status: 'notFound' });
});

test('a provider without an OpenAI key has no account', options, async (t) => {
	const server = await startAppServer(t, null);
	await server.request('account/login/start', { type: 'apiKey', apiKey: 'sk-1' });
	assert.deepEqual(await server.request('account/read', {}), { ...nobody, requiresOpenaiAuth: false });
	assert.deepEqual(await server.request('account/gatewayOAuth/read', {}), {
		providerId: 'mock', providerName: 'mock', required: false, supportsDeviceAuth: false, status: null, error: null,
	});
});

test('methods of ChatGPT accounts are refused', options, async (t) => {
	const server = await startWithOpenai(t);
	const cases = [
		['account/rateLimits/read', {}, 'to read rate limits'],
		['account/usage/read', {}, 'to read token usage'],
		['account/workspaceMessages/read', null, 'to read workspace messages'],
		['account/rateLimitResetCredit/consume', { idempotencyKey: 'x' }, 'for rate limit reset credits'],
		['account/sendAddCreditsNudgeEmail', { creditType: 'credits' }, 'to notify workspace owner'],
	];
	for (const [method, params, what] of cases)
		await assert.rejects(server.request(method, params), refusal(`codex account authentication required ${what}`));
	await server.request('account/login/start', { type: 'apiKey', apiKey: 'sk-1' });
	for (const [method, params, what] of cases)
		await assert.rejects(server.request(method, params), refusal(`chatgpt authentication required ${what}`));
});

test("what is another system's ends as it does there", options, async (t) => {
	const server = await startAppServer(t, null);
	assert.deepEqual(await server.request('windowsSandbox/setupStart', { mode: 'elevated' }), { started: true });
	assert.deepEqual((await server.next('windowsSandbox/setupCompleted')).params, {
		mode: 'elevated', success: false, error: 'elevated Windows sandbox setup is only supported on Windows',
	});
});

// Methods whose recorded answers are returned verbatim, independent of the rest of that conversation.
const SAME = [
	'account/gatewayOAuth/login', 'account/gatewayOAuth/cancel', 'account/bedrock/discover',
	'account/bedrock/checkGovCloudRequirements', 'account/login/start', 'account/login/cancel', 'accountSession/list',
	'accountSession/switch', 'account/securitySetup/read', 'account/rateLimits/read', 'account/usage/read',
	'account/rateLimitResetCredit/consume', 'account/workspaceMessages/read', 'account/sendAddCreditsNudgeEmail',
	'account/read', 'account/logout', 'app/read', 'app/list', 'app/installed', 'windowsSandbox/readiness',
	'windowsSandbox/setupStart', 'userVerification/status', 'userVerification/cancel', 'collaborationMode/list',
	'permissionProfile/list', 'experimentalFeature/enablement/set', 'remoteControl/enable', 'mock/experimentalMethod',
	'mcpServer/event/stream/stop', 'plugin/share/list',
];
const capture = sharedPath('reference/captures/app-server/sweep.jsonl');
test('the recorded sweep is answered the same', { skip: options.skip || !capture }, async (t) => {
	const lines = readLines(capture).filter(({ msg }) => msg?.id !== undefined);
	const server = await startAppServer(t, null);
	const asked = lines.filter(({ dir, msg }) => dir === '>' && SAME.includes(msg.method));
	assert.equal(asked.length, SAME.length);
	for (const { msg } of asked) {
		const { result, error } = lines.find((line) => line.dir === '<' && line.msg.id === msg.id && !line.msg.method).msg;
		const answer = server.request(msg.method, msg.params ?? null);
		if (error) await assert.rejects(answer, refusal(error.message, error.code), msg.method);
		else assert.deepEqual(await answer, result, msg.method);
	}
});
