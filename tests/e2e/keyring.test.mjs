// cli_auth_credentials_store = "keyring" and "auto": logins in the Secret Service of the session bus.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAcp } from './lib/acp.mjs';
import { startAppServer, text } from './lib/app_server.mjs';
import { needs, runCodex, tempDir } from './lib/codex.mjs';
import { inSeconds, jwt, lockStore, startIssuer } from './lib/issuer.mjs';
import { needsKeyring, startKeyring } from './lib/keyring.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const options = needsKeyring(needs('exec'));
const MODEL = '/backend/codex/responses', TOKEN = '/oauth/token';
const NOWHERE = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent/bus' };

/** A CODEX_HOME with this store; run and status use it. */
async function setup(t, store, more = '') {
	const issuer = await startIssuer(t), keyring = await startKeyring(t), home = tempDir(t, 'home');
	writeFileSync(path.join(home, 'config.toml'), `cli_auth_credentials_store = "${store}"\nchatgpt_base_url = "${issuer.url}/backend"\n${more}`);
	const run = (args, how = {}) => runCodex(t, args, { home, ...how, env: { ...issuer.env, ...keyring.env, ...how.env } });
	return { issuer, keyring, home, run, file: path.join(home, 'auth.json'), exec: () => run(['exec', '--skip-git-repo-check', 'hi']) };
}

/** Signs in by a device code, which yields these tokens. */
async function signIn({ issuer, run }, tokens) {
	issuer.overrides.set('/api/accounts/deviceauth/usercode', () => [200, { device_auth_id: 'd', user_code: 'ABCD', interval: '0' }]);
	issuer.overrides.set('/api/accounts/deviceauth/token', () => {
		issuer.codes.set('c', { challenge: createHash('sha256').update('v').digest('base64url') });
		return [200, { authorization_code: 'c', code_challenge: 'x', code_verifier: 'v' }];
	});
	issuer.issue = () => tokens;
	const { code, stderr } = await run(['login', '--device-auth', '--experimental_issuer', issuer.url]);
	delete issuer.issue;
	assert.equal(code, 0, stderr);
}

test('a login is kept in the keyring under the names of other Codex programs, used, refreshed there, and removed', options, async (t) => {
	const env = await setup(t, 'keyring'), { issuer, keyring, home, run, file, exec } = env;
	const tokens = { ...issuer.issue(), access_token: jwt({ exp: inSeconds(-60) }) };
	writeFileSync(file, '{}'); // of an earlier login
	await signIn(env, tokens);
	assert.ok(!existsSync(file));
	const [item, ...others] = await keyring.items();
	const user = `cli|${createHash('sha256').update(realpathSync(home)).digest('hex').slice(0, 16)}`;
	assert.deepEqual(others, []);
	assert.deepEqual({ ...item.attributes, 'xdg:schema': undefined },
		{ service: 'Codex Auth', username: user, target: 'default', application: 'rust-keyring', 'xdg:schema': undefined });
	assert.equal(JSON.parse(item.secret).tokens.refresh_token, tokens.refresh_token);

	const first = await exec();
	assert.deepEqual([first.code, first.stdout], [0, 'Hello.\n'], first.stderr);
	assert.equal(issuer.to(TOKEN).filter(({ body }) => body.includes('proactive_expiry')).length, 1);
	const [renewed, ...more] = await keyring.items();
	assert.deepEqual([more, existsSync(file)], [[], false]);
	assert.equal(issuer.to(MODEL)[0].headers.authorization, `Bearer ${JSON.parse(renewed.secret).tokens.access_token}`);

	assert.equal((await run(['login', 'status'])).stderr, 'Logged in using ChatGPT\n');
	const out = await run(['logout']);
	assert.deepEqual([out.code, out.stderr], [0, 'Successfully logged out\n']);
	assert.deepEqual(await keyring.items(), []);
	assert.equal((await run(['login', 'status'])).stderr.split('\n')[0], 'Not logged in');
});

test('a keyring that is absent is named, and nothing is written to a file', options, async (t) => {
	const { run, file } = await setup(t, 'keyring');
	const login = await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef', env: NOWHERE });
	assert.equal(login.code, 1);
	assert.match(login.stderr, /^Error logging in: failed to write OAuth tokens to keyring: the keyring cannot write it: /m);
	assert.ok(!login.stderr.includes('sk-12345'));
	assert.ok(!existsSync(file));
	const status = await run(['login', 'status'], { env: NOWHERE });
	assert.equal(status.code, 1);
	assert.match(status.stderr, /^Error checking login status: failed to load CLI auth from keyring: /);
});

test('auto: the keyring, else the file; a logout removes both', options, async (t) => {
	const { run, keyring, file } = await setup(t, 'auto');
	const store = (key, env) => run(['login', '--with-api-key'], { input: key, env });
	assert.equal((await store('sk-in-the-file-000', NOWHERE)).code, 0);
	assert.equal(JSON.parse(readFileSync(file)).OPENAI_API_KEY, 'sk-in-the-file-000');
	assert.match((await run(['login', 'status'])).stderr, /sk-in-th\*\*\*e-000/); // the keyring has nothing
	assert.equal((await store('sk-in-the-keyring-11')).code, 0);
	assert.ok(!existsSync(file));
	assert.match((await run(['login', 'status'])).stderr, /sk-in-th\*\*\*ng-11/);
	writeFileSync(file, JSON.stringify({ OPENAI_API_KEY: 'sk-stale' }));
	assert.match((await run(['login', 'status'])).stderr, /\*\*\*ng-11/);
	assert.equal((await run(['logout'])).code, 0);
	assert.deepEqual([await keyring.items(), existsSync(file)], [[], false]);
});

test('a keyring that never answers ends the start with its name', options, async (t) => {
	const { run, keyring, exec, issuer } = await setup(t, 'keyring');
	assert.equal((await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' })).code, 0);
	await keyring.lock();
	const { code, stderr } = await exec();
	assert.equal(code, 1);
	assert.match(stderr, /the keyring did not answer within 2 s; is it locked\?/);
	assert.deepEqual(issuer.requests, []);
});

/** Names of the requests in the order in which they are answered. */
async function order(requests) {
	const ended = [];
	await Promise.all(Object.entries(requests).map(([name, request]) =>
		request.then(() => ended.push(name), (err) => ended.push(`${name}: ${err.message}`))));
	return ended;
}

test('app-server: an account in the keyring is read, used and removed', options, async (t) => {
	const env = await setup(t, 'keyring'), { issuer, keyring, home } = env;
	await signIn(env, issuer.issue());
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	assert.equal((await server.request('account/read')).account.type, 'chatgpt');
	assert.equal((await server.request('getAuthStatus', { includeToken: true })).authMethod, 'chatgpt');
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	assert.equal((await server.next('turn/completed')).params.turn.status, 'completed');
	assert.match(issuer.to(MODEL)[0].headers.authorization, /^Bearer /);
	await server.request('account/logout');
	assert.equal((await server.next('account/updated')).params.authMode, null);
	assert.equal((await server.request('account/read')).account, null);
	assert.deepEqual(await keyring.items(), []);
	assert.equal((await server.end()).code, 0);
});

test('app-server: what another process stores in the keyring is seen', options, async (t) => {
	const { run, keyring, home, issuer } = await setup(t, 'keyring');
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	assert.equal((await server.request('account/read')).account, null);
	assert.equal((await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' })).code, 0);
	assert.equal((await server.request('account/read')).account.type, 'apiKey');
	assert.equal((await server.end()).code, 0);
});

// The other request is answered first: the loop does not wait for the keyring.
test('app-server: a keyring that never answers delays only what needs it', options, async (t) => {
	const { run, keyring, home, issuer } = await setup(t, 'keyring');
	assert.equal((await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' })).code, 0);
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	await keyring.lock();
	const methods = ['thread/start', 'account/read', 'getAuthStatus', 'account/rateLimits/read', 'account/usage/read', 'model/list'];
	const [first, ...others] = await order(Object.fromEntries(methods.map((method) => [method, server.request(method)])));
	assert.equal(first, 'model/list');
	assert.ok(others.some((it) => /^thread\/start: .*the keyring (did not answer within 2 s|has not answered)/.test(it)), others);
	// It is not asked again until it has answered.
	await assert.rejects(server.request('thread/start'), /the keyring has not answered an earlier request yet/);
	await keyring.unlock();
	while ((await server.request('account/read')).account?.type !== 'apiKey');
	assert.ok((await server.request('thread/start')).thread.id);
	assert.equal((await server.end()).code, 0);
});

test('app-server: a keyring that hangs during a turn delays only the turn', options, async (t) => {
	const env = await setup(t, 'keyring', 'request_max_retries = 0\nstream_max_retries = 0\n'), { issuer, keyring, home } = env;
	await signIn(env, issuer.issue());
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	const { thread } = await server.request('thread/start', {});
	await keyring.lock();
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await server.request('model/list');
	assert.deepEqual(server.all('turn/completed'), []);
	const { turn } = (await server.next('turn/completed')).params;
	assert.equal(turn.status, 'failed');
	assert.match(turn.error.message, /the keyring (did not answer within 2 s|has not answered)/);
	assert.deepEqual(issuer.to(MODEL), []);
	assert.equal((await server.end()).code, 0);
});

test('ACP: a keyring that never answers delays only what needs it', options, async (t) => {
	const { run, keyring, home, issuer } = await setup(t, 'keyring');
	assert.equal((await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' })).code, 0);
	const acp = await startAcp(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	assert.ok((await acp.newSession()).sessionId);
	await keyring.lock();
	const ended = await order({ session: acp.newSession(), key: acp.request('authenticate', { methodId: 'api-key' }),
		list: acp.request('session/list', {}) });
	assert.equal(ended[0], 'list');
	assert.match(ended.slice(1).sort().join('\n'), /^key: .*\nsession: .*$/);
	await acp.end();
});

test('app-server: a login of the same process waits for a read that began before it, which does not replace it', options, async (t) => {
	const env = await setup(t, 'keyring', '[model_providers.openai]\nsupports_websockets = false\n'), { issuer, keyring, home } = env;
	await signIn(env, issuer.issue());
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	const { thread } = await server.request('thread/start', {});
	await keyring.lock();
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await keyring.held();
	await server.request('account/login/start', { type: 'apiKey', apiKey: 'sk-1234567890abcdef' });
	await keyring.unlock();
	const { turn } = (await server.next('turn/completed')).params;
	assert.match(turn.error.message, /the keyring did not answer/); // it is unlocked after the login
	assert.equal((await server.request('account/read')).account.type, 'apiKey');
	assert.deepEqual(issuer.to(MODEL), []);
	assert.equal((await server.end()).code, 0);
});

/** Signs in with an access token that has expired; returns the app-server and how to run a turn in its thread. */
async function expired(t, store) {
	const env = await setup(t, store, '[model_providers.openai]\nsupports_websockets = false\n'), { issuer, keyring, home } = env;
	const tokens = { ...issuer.issue(), access_token: jwt({ exp: inSeconds(-60) }) };
	await signIn(env, tokens);
	const start = () => startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	const turn = async (server) => {
		const { thread } = await server.request('thread/start', {});
		await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
		return (await server.next('turn/completed')).params.turn;
	};
	const stored = async () => (await keyring.items()).map(({ secret }) => JSON.parse(secret).tokens.refresh_token);
	return { ...env, tokens, start, turn, stored, refreshes: () => issuer.to(TOKEN).filter(({ body }) => body.includes('proactive_expiry')).length };
}

test('auto: new tokens that the keyring does not take in time are in the file, and used from there', options, async (t) => {
	const env = await expired(t, 'auto'), { keyring, tokens, file, exec, stored, refreshes, issuer } = env;
	await keyring.ask('hold');
	assert.equal((await exec()).code, 0);
	const { refresh_token } = JSON.parse(readFileSync(file)).tokens;
	assert.notEqual(refresh_token, tokens.refresh_token);
	assert.deepEqual(await stored(), [tokens.refresh_token]);
	const second = await exec(); // the keyring answers, with the spent token
	assert.equal(second.code, 0, second.stderr);
	assert.equal(refreshes(), 1);
	assert.equal(issuer.to(MODEL).length, 2);
	await keyring.lock();
	const third = await exec(); // it does not answer at all
	assert.equal(third.code, 0, third.stderr);
	assert.equal(refreshes(), 1);
});

test('auto: a keyring that does not answer is not taken for one without credentials', options, async (t) => {
	const { run, keyring, file } = await setup(t, 'auto');
	assert.equal((await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' })).code, 0);
	await keyring.lock();
	const status = await run(['login', 'status']);
	assert.match(status.stderr, /the keyring did not answer within 2 s/); // not "Not logged in"
	assert.ok(!existsSync(file));
});

test('keyring: new tokens that it refuses are used, and stored when it takes them', options, async (t) => {
	const env = await expired(t, 'keyring'), { keyring, tokens, file, start, turn, stored, refreshes } = env;
	const server = await start();
	await keyring.ask('refuse');
	assert.equal((await turn(server)).status, 'completed');
	assert.deepEqual(await stored(), [tokens.refresh_token]);
	assert.equal((await turn(server)).status, 'completed');
	await keyring.ask('accept');
	assert.equal((await turn(server)).status, 'completed');
	const [token, ...more] = await stored();
	assert.notEqual(token, tokens.refresh_token);
	assert.deepEqual([more, refreshes(), existsSync(file)], [[], 1, false]);
	assert.equal((await server.end()).code, 0);
});

test('keyring: tokens that it refused are not stored after a logout', options, async (t) => {
	const env = await expired(t, 'keyring'), { keyring, start, turn, run } = env;
	const server = await start();
	await keyring.ask('refuse');
	assert.equal((await turn(server)).status, 'completed');
	assert.equal((await run(['logout'])).code, 0);
	await keyring.ask('accept');
	assert.equal((await server.request('account/read')).account, null);
	assert.deepEqual(await keyring.items(), []);
	assert.equal((await server.end()).code, 0);
});

test('keyring: a change that was late does not undo a later one', options, async (t) => {
	const env = await expired(t, 'keyring'), { keyring, start, turn } = env;
	const server = await start();
	await keyring.ask('hold');
	assert.equal((await turn(server)).status, 'completed'); // with tokens that are being stored
	while (await keyring.ask('count') < 1);
	let hasEnded = false;
	const logout = server.request('account/logout').then(() => { hasEnded = true; });
	for (let i = 0; i < 50; i++) await server.request('model/list'); // it does not overtake the change
	assert.ok(!hasEnded);
	await keyring.ask('go on');
	await logout;
	assert.deepEqual(await keyring.items(), []);
	assert.equal((await server.end()).code, 0);
});

/** Holds the answer of the issuer to a refresh back: arrived resolves when it is asked, release lets it answer. */
function slowRefresh(issuer) {
	let release, came;
	const gate = new Promise((resolve) => { release = resolve; }), arrived = new Promise((resolve) => { came = resolve; });
	issuer.overrides.set(TOKEN, (request, body) => { came(); return gate.then(() => issuer.token(request, body)); });
	return { release, arrived };
}

for (const [what, args] of [['login', ['login', '--with-api-key']], ['logout', ['logout']]])
	test(`keyring: a ${what} of another process during a refresh of tokens that are not stored yet is kept`, options, async (t) => {
		const { keyring, start, turn, run, issuer } = await expired(t, 'keyring');
		const server = await start();
		await keyring.ask('refuse');
		issuer.lifetime = 60; // each turn refreshes
		assert.equal((await turn(server)).status, 'completed');
		const refresh = slowRefresh(issuer), second = turn(server);
		await refresh.arrived;
		await keyring.ask('accept');
		assert.equal((await run(args, { input: 'sk-1234567890abcdef' })).code, 0);
		const items = await keyring.items();
		refresh.release();
		assert.match((await second).error.message, /since logged out or signed in to another account/);
		assert.deepEqual(await keyring.items(), items);
		assert.equal(items.length, what === 'login' ? 1 : 0);
		assert.equal((await server.end()).code, 0);
	});

test('keyring: new tokens are used while a login of another process waits for the keyring, which replaces them', options, async (t) => {
	const { keyring, start, turn, run, issuer, refreshes } = await expired(t, 'keyring');
	const server = await start(), refresh = slowRefresh(issuer), first = turn(server);
	await refresh.arrived;
	await keyring.ask('hold');
	const login = run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' });
	while (await keyring.ask('count') < 1);
	refresh.release();
	assert.equal((await first).status, 'completed');
	assert.equal((await turn(server)).status, 'completed');
	assert.equal(refreshes(), 1);
	await keyring.ask('go on');
	assert.equal((await login).code, 0);
	assert.equal((await server.request('account/read')).account.type, 'apiKey');
	assert.equal(JSON.parse((await keyring.items())[0].secret).OPENAI_API_KEY, 'sk-1234567890abcdef');
	assert.equal((await server.end()).code, 0);
});

test('auto: new tokens are kept for a keyring that does not answer, and leave the file of another login alone', options, async (t) => {
	const { keyring, start, turn, file, issuer, stored } = await expired(t, 'auto');
	const other = JSON.stringify({ OPENAI_API_KEY: 'sk-of-another-login' });
	writeFileSync(file, other);
	const server = await start(), refresh = slowRefresh(issuer), first = turn(server);
	await refresh.arrived;
	await keyring.lock();
	refresh.release();
	assert.equal((await first).status, 'completed');
	assert.equal(readFileSync(file, 'utf8'), other);
	await keyring.unlock();
	assert.equal((await turn(server)).status, 'completed');
	const [token] = await stored();
	assert.equal(issuer.refreshTokens.get(token), 'good');
	await keyring.lock();
	writeFileSync(file, other);
	await assert.rejects(turn(server), /the keyring did not answer/); // the key in the file is not its login
	assert.equal((await server.end()).code, 0);
});

test('file: new tokens wait for a process that has the lock, until the program ends', options, async (t) => {
	const env = await setup(t, 'file', '[model_providers.openai]\nsupports_websockets = false\n'), { issuer, home, exec, file } = env;
	await signIn(env, { ...issuer.issue(), access_token: jwt({ exp: inSeconds(-60) }) });
	const lock = await lockStore(t, home);
	issuer.overrides.set(MODEL, () => {
		issuer.overrides.delete(MODEL);
		assert.equal(issuer.refreshTokens.get(JSON.parse(readFileSync(file)).tokens.refresh_token), 'used');
		lock.end();
	});
	const { code, stderr } = await exec();
	assert.equal(code, 0, stderr);
	assert.equal(issuer.refreshTokens.get(JSON.parse(readFileSync(file)).tokens.refresh_token), 'good');
});

test('auto: credentials that are in the file do not wait for the keyring', options, async (t) => {
	const { keyring, home, issuer, file } = await setup(t, 'auto');
	writeFileSync(file, JSON.stringify({ OPENAI_API_KEY: 'sk-in-the-file' }));
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	assert.equal((await server.request('account/read')).account.type, 'apiKey');
	await keyring.ask('silence');
	assert.equal((await server.request('account/read')).account.type, 'apiKey');
	assert.ok((await server.request('thread/start', {})).thread.id);
	assert.equal(await keyring.ask('count'), 0); // it was not asked
	assert.equal((await server.end()).code, 0);
});

test('app-server: requests that wait for the keyring leave all threads of the pool to others', options, async (t) => {
	const { keyring, home, issuer } = await setup(t, 'keyring');
	const server = await startAppServer(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	await keyring.ask('silence');
	const reads = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`read ${i}`, server.request('account/read')]));
	while (await keyring.ask('count') < 1);
	const [first] = await order({ ...reads, file: server.request('fs/readFile', { path: path.join(home, 'config.toml') }) });
	assert.equal(first, 'file');
	assert.equal(await keyring.ask('count'), 1);
	assert.equal((await server.end()).code, 0);
});

test('a session that is configured again sees the key that was stored since then', options, async (t) => {
	const { keyring, home, issuer, run } = await setup(t, 'keyring');
	const provider = { name: 'P', base_url: `${issuer.url}/backend/codex`, requires_openai_auth: true };
	const codex = await startProto(t, null, { home, env: { ...issuer.env, ...keyring.env } });
	const op = { type: 'configure_session', provider: { ...provider, requires_openai_auth: false } };
	codex.submit('1', op);
	await codex.next('session_configured');
	assert.equal((await run(['login', '--with-api-key'], { input: 'sk-1234567890abcdef' })).code, 0);
	codex.submit('2', { ...op, provider });
	await codex.next('session_configured');
	codex.submit('3', userInput('hi'));
	await codex.next('task_complete');
	assert.equal(issuer.to(MODEL)[0].headers.authorization, 'Bearer sk-1234567890abcdef');
	assert.equal((await codex.end()).code, 0);
});
