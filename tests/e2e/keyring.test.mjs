// cli_auth_credentials_store = "keyring" and "auto": logins in the Secret Service of the session bus.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { needs, runCodex, tempDir } from './lib/codex.mjs';
import { inSeconds, jwt, startIssuer } from './lib/issuer.mjs';
import { needsKeyring, startKeyring } from './lib/keyring.mjs';

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
