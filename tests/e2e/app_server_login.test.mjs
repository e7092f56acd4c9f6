// ChatGPT logins of clients of `codex app-server`. They use port 1455, so these tests run one after the other.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { needs, tempDir } from './lib/codex.mjs';
import { inSeconds, jwt, startIssuer } from './lib/issuer.mjs';

const options = needs('app-server');
const refusal = (message, code = -32600) => ({ name: 'Error', code, message });
const readAuth = (home) => JSON.parse(readFileSync(path.join(home, 'auth.json')));

/** A server with the provider openai; with a stored login unless told otherwise. */
async function setup(t, { isLoggedIn = false, config = '' } = {}) {
	const issuer = await startIssuer(t);
	const home = tempDir(t, 'home');
	if (isLoggedIn) issuer.home(home, { config });
	else writeFileSync(path.join(home, 'config.toml'), `chatgpt_base_url = "${issuer.url}/backend"\n${config}`);
	const server = await startAppServer(t, null, { home, env: issuer.env });
	return { issuer, home, server };
}

async function agree(issuer, authUrl) {
	const query = new URL(authUrl).searchParams;
	issuer.codes.set('code-1', { challenge: query.get('code_challenge'), redirect: query.get('redirect_uri') });
	const response = await fetch(`${query.get('redirect_uri')}?code=code-1&state=${query.get('state')}`);
	await response.text();
	return response.status;
}

test('a stored login is reported, and its token if asked for', options, async (t) => {
	const { server, home } = await setup(t, { isLoggedIn: true });
	assert.deepEqual(await server.request('account/read', {}), {
		account: { type: 'chatgpt', email: 'me@example.com', planType: 'plus' }, userId: 'user-1', requiresOpenaiAuth: true,
		workspaceRouting: null,
	});
	const token = readAuth(home).tokens.access_token;
	assert.deepEqual(await server.request('getAuthStatus', { includeToken: true }),
		{ authMethod: 'chatgpt', authToken: token, requiresOpenaiAuth: true });
	assert.equal((await server.request('getAuthStatus', {})).authToken, null);
});

test('a login in the browser is reported at its end', options, async (t) => {
	const { issuer, server, home } = await setup(t);
	const { type, loginId, authUrl } = await server.request('account/login/start', { type: 'chatgpt' });
	assert.equal(type, 'chatgpt');
	assert.ok(authUrl.startsWith(`${issuer.url}/oauth/authorize?`));
	assert.equal(await agree(issuer, authUrl), 200);
	assert.deepEqual((await server.next('account/login/completed')).params,
		{ loginId, success: true, error: null, onboardingEntrypoint: null });
	assert.deepEqual((await server.next('account/updated')).params, { authMode: 'chatgpt', planType: 'plus' });
	assert.equal(readAuth(home).tokens.account_id, 'acc-1');
});

test('a device login replies with its code, and is reported at its end', options, async (t) => {
	const { issuer, server, home } = await setup(t);
	issuer.overrides.set('/api/accounts/deviceauth/usercode', () => [200, { device_auth_id: 'd', user_code: 'AB-CD', interval: '0' }]);
	issuer.overrides.set('/api/accounts/deviceauth/token', () => [418, {}]);
	const { loginId, ...reply } = await server.request('account/login/start', { type: 'chatgptDeviceCode' });
	assert.deepEqual(reply, { type: 'chatgptDeviceCode', verificationUrl: `${issuer.url}/codex/device`, userCode: 'AB-CD' });
	const { params } = await server.next('account/login/completed');
	assert.deepEqual([params.loginId, params.success], [loginId, false]);
	assert.match(params.error, /status 418/);
	assert.ok(!existsSync(path.join(home, 'auth.json')));
	issuer.overrides.set('/api/accounts/deviceauth/usercode', () => [404, {}]);
	await assert.rejects(server.request('account/login/start', { type: 'chatgptDeviceCode' }), /device code login is not enabled/);
});

test('a login that is cancelled frees its port; a second one ends the first', options, async (t) => {
	const { issuer, server } = await setup(t);
	const start = () => server.request('account/login/start', { type: 'chatgpt' });
	const first = await start();
	assert.deepEqual(await server.request('account/login/cancel', { loginId: first.loginId }), { status: 'canceled' });
	assert.deepEqual((await server.next('account/login/completed')).params,
		{ loginId: first.loginId, success: false, error: 'Login was not completed', onboardingEntrypoint: null });
	assert.deepEqual(await server.request('account/login/cancel', { loginId: first.loginId }), { status: 'notFound' });
	const second = await start();
	assert.match(second.authUrl, /127\.0\.0\.1%3A1455/);
	const third = await start();
	const ended = (await server.next('account/login/completed')).params;
	assert.deepEqual([ended.loginId, ended.success], [second.loginId, false]);
	await agree(issuer, third.authUrl);
	assert.equal((await server.next('account/login/completed')).params.loginId, third.loginId);
});

test('logout revokes the tokens and removes them', options, async (t) => {
	const { issuer, server, home } = await setup(t, { isLoggedIn: true });
	const { refresh_token: token } = readAuth(home).tokens;
	let isStored; // when the issuer is asked
	issuer.overrides.set('/oauth/revoke', () => { isStored = existsSync(path.join(home, 'auth.json')); });
	assert.deepEqual(await server.request('account/logout', null), {});
	assert.deepEqual((await server.next('account/updated')).params, { authMode: null, planType: null });
	assert.equal(issuer.refreshTokens.get(token), 'revoked');
	assert.equal(isStored, false);
});

test('rate limits are read from the back end, with a new token if necessary', options, async (t) => {
	const { issuer, server } = await setup(t, { isLoggedIn: true });
	issuer.accessTokens.clear();
	const { rateLimits, accountId } = await server.request('account/rateLimits/read', {});
	assert.equal(accountId, 'acc-1');
	assert.deepEqual(rateLimits.primary, { usedPercent: 12, windowDurationMins: 300, resetsAt: 1790000000 });
	assert.deepEqual(rateLimits.secondary, { usedPercent: 34, windowDurationMins: 10080, resetsAt: 1790000000 });
	assert.deepEqual(rateLimits.credits, { hasCredits: true, unlimited: false, balance: '5' });
	assert.equal(rateLimits.planType, 'plus');
	assert.equal(issuer.to('/oauth/token').length, 1);
	for (const answer of [[500, 'x'], [200, '[]'], [200, 'x'.repeat(300_000)]]) {
		issuer.overrides.set('/backend/wham/usage', () => answer);
		await assert.rejects(server.request('account/rateLimits/read', {}), refusal(/^failed to fetch codex rate limits: /, -32603));
	}
	issuer.overrides.set('/backend/wham/usage', () => [200, { rate_limit: { primary_window: { used_percent: 'x' } } }]);
	assert.equal((await server.request('account/rateLimits/read', {})).rateLimits.primary, null);
});

test('tokens of the client are used, never written, and replaced by the client after a refusal', options, async (t) => {
	const { issuer, server, home } = await setup(t);
	const tokens = () => ({ accessToken: issuer.issue().access_token, chatgptAccountId: 'acc-1', chatgptPlanType: 'pro' });
	const login = (params) => server.request('account/login/start', { type: 'chatgptAuthTokens', ...params });
	await assert.rejects(login({}), refusal('Invalid request: missing field `accessToken`'));
	await assert.rejects(login({ ...tokens(), accessToken: 'a\nb' }), refusal(/cannot be sent/));
	assert.deepEqual(await login(tokens()), { type: 'chatgptAuthTokens' });
	assert.deepEqual((await server.next('account/updated')).params, { authMode: 'chatgptAuthTokens', planType: 'pro' });
	assert.ok(!existsSync(path.join(home, 'auth.json')));
	issuer.accessTokens.clear();
	const limits = server.request('account/rateLimits/read', {});
	const ask = await server.next('account/chatgptAuthTokens/refresh');
	assert.deepEqual(ask.params, { reason: 'unauthorized', previousAccountId: 'acc-1' });
	server.send({ id: ask.id, result: tokens() });
	assert.equal((await limits).rateLimits.primary.usedPercent, 12);
	assert.equal(issuer.to('/oauth/token').length, 0);
	issuer.accessTokens.clear();
	const failing = server.request('account/rateLimits/read', {});
	server.send({ id: (await server.next('account/chatgptAuthTokens/refresh')).id, error: { code: -1, message: 'no' } });
	await assert.rejects(failing, /the client has no new access token/);
	await server.request('account/logout', null);
	assert.equal((await server.request('account/read', {})).account, null);
});

test('forced_login_method excludes the other kind', options, async (t) => {
	const api = await setup(t, { config: 'forced_login_method = "api"\n' });
	for (const type of ['chatgpt', 'chatgptDeviceCode', 'chatgptAuthTokens'])
		await assert.rejects(api.server.request('account/login/start', { type }), refusal('ChatGPT login is disabled. Use API key login instead.'));
	const chatgpt = await setup(t, { config: 'forced_login_method = "chatgpt"\n' });
	await assert.rejects(chatgpt.server.request('account/login/start', { type: 'apiKey', apiKey: 'sk' }),
		refusal('API key login is disabled. Use ChatGPT login instead.'));
});

test('an expired token is refreshed for threads and readers together once', options, async (t) => {
	const { issuer, server, home } = await setup(t, { isLoggedIn: true });
	const auth = readAuth(home);
	auth.tokens.access_token = jwt({ exp: inSeconds(-1) });
	writeFileSync(path.join(home, 'auth.json'), JSON.stringify(auth));
	await Promise.all(Array.from({ length: 5 }, () => server.request('account/rateLimits/read', {})));
	assert.equal(issuer.to('/oauth/token').length, 1);
});
