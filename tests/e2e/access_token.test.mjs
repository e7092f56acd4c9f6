// Personal access tokens: `codex login --with-access-token` and CODEX_ACCESS_TOKEN.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { needs, runCodex, tempDir } from './lib/codex.mjs';
import { startIssuer } from './lib/issuer.mjs';

const options = needs('exec');
const WHOSE = '/api/accounts/v1/user-auth-credential/whoami', MODEL = '/backend/codex/responses';
const TOKEN = 'at-0123456789';
const identity = { email: 'me@example.com', chatgpt_user_id: 'user-1', chatgpt_account_id: 'acc-1', chatgpt_plan_type: 'enterprise' };

/** An issuer that knows the token, and a home without a login. */
async function setup(t, { config = '', whose = (request) => request.headers.authorization === `Bearer ${TOKEN}` ? [200, identity] : [401, {}] } = {}) {
	const issuer = await startIssuer(t), home = tempDir(t, 'home');
	issuer.overrides.set(WHOSE, whose);
	issuer.accessTokens.add(TOKEN);
	writeFileSync(path.join(home, 'config.toml'), `chatgpt_base_url = "${issuer.url}/backend"\n${config}`);
	const env = { ...issuer.env, CODEX_AUTHAPI_BASE_URL: ` ${issuer.url}/api/accounts/ ` };
	const run = (args, how = {}) => runCodex(t, args, { home, ...how, env: { ...env, ...how.env } });
	return { issuer, home, run, file: path.join(home, 'auth.json'), login: (input, how) => run(['login', '--with-access-token'], { input, ...how }),
		exec: (how) => run(['exec', '--skip-git-repo-check', 'hi'], how) };
}
const readAuth = (file) => JSON.parse(readFileSync(file));

test('a token is stored after the issuer has said whose it is, and used as it is', options, async (t) => {
	const { issuer, run, file, login, exec } = await setup(t);
	const stored = await login(`${TOKEN}\n`);
	assert.deepEqual([stored.code, stored.stdout, stored.stderr], [0, '', 'Reading access token from stdin...\nSuccessfully logged in\n']);
	assert.deepEqual(readAuth(file),
		{ OPENAI_API_KEY: null, personal_access_token: TOKEN, account_id: 'acc-1', email: 'me@example.com', plan: 'enterprise' });
	assert.equal(statSync(file).mode & 0o777, 0o600);
	assert.deepEqual(issuer.requests.map(({ path: where }) => where), [WHOSE]);
	assert.deepEqual([(await run(['login', 'status'])).code, (await run(['login', 'status'])).stderr], [0, 'Logged in using personal access token\n']);
	const turn = await exec();
	assert.deepEqual([turn.code, turn.stdout], [0, 'Hello.\n'], turn.stderr);
	assert.equal(issuer.to(MODEL)[0].headers.authorization, `Bearer ${TOKEN}`);
	assert.equal(issuer.to(MODEL)[0].headers['chatgpt-account-id'], 'acc-1');
	assert.equal(issuer.to(WHOSE).length, 1);
	assert.equal((await run(['logout'])).stderr, 'Successfully logged out\n');
	assert.ok(!existsSync(file));
	assert.deepEqual(issuer.to('/oauth/revoke'), []);
});

test('a file of another Codex program has the token alone: the issuer is asked once in a process', options, async (t) => {
	const { issuer, file, exec } = await setup(t);
	writeFileSync(file, JSON.stringify({ OPENAI_API_KEY: null, personal_access_token: TOKEN }));
	let calls = 1; // a turn of two requests
	const call = { type: 'function_call', name: 'no_such_tool', arguments: '{}', call_id: 'c' };
	const events = [{ type: 'response.output_item.done', item: call }, { type: 'response.completed', response: { id: 'r' } }];
	const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
	issuer.overrides.set(MODEL, () => calls-- > 0 ? [200, body, { 'content-type': 'text/event-stream' }] : undefined);
	const turn = await exec();
	assert.deepEqual([turn.code, turn.stdout], [0, 'Hello.\n'], turn.stderr);
	assert.equal(issuer.to(MODEL).length, 2);
	assert.ok(issuer.to(MODEL).every(({ headers }) => headers['chatgpt-account-id'] === 'acc-1'));
	assert.equal(issuer.to(WHOSE).length, 1);
});

test('CODEX_ACCESS_TOKEN precedes what is stored, and CODEX_API_KEY precedes it', options, async (t) => {
	const { issuer, run, file, exec } = await setup(t);
	writeFileSync(file, JSON.stringify({ auth_mode: 'apikey', OPENAI_API_KEY: 'sk-stored' }));
	const env = { CODEX_ACCESS_TOKEN: TOKEN };
	assert.equal((await run(['login', 'status'], { env })).stderr, 'Logged in using personal access token\n');
	assert.equal((await exec({ env })).stdout, 'Hello.\n');
	assert.equal(issuer.to(MODEL)[0].headers.authorization, `Bearer ${TOKEN}`);
	assert.equal(readAuth(file).OPENAI_API_KEY, 'sk-stored');
	const settings = ['-c', `openai_base_url="${issuer.url}/v1"`, '-c', 'model_providers.openai.request_max_retries=0'];
	const keyed = await run(['exec', '--skip-git-repo-check', ...settings, 'hi'], { env: { ...env, CODEX_API_KEY: 'sk-env' } });
	assert.equal(keyed.code, 1);
	assert.equal(issuer.to('/v1/responses')[0].headers.authorization, 'Bearer sk-env');
});

test('what cannot be a token, and what the issuer does not know, is not stored', options, async (t) => {
	const cases = [
		['', undefined, /^No access token provided via stdin\.$/m],
		['sk-123', undefined, /it is no personal access token/],
		['eyJhbGciOiJub25lIn0.e30.x', undefined, /tokens of agent identities are not supported, .*`codex login --device-auth`/],
		['at-1 2', undefined, /whitespace or control characters/],
		['at-unknown', undefined, /personal access token metadata request failed with status 401 Unauthorized/],
		[TOKEN, () => [200, {}], /failed to decode personal access token metadata: it names no account/],
		[TOKEN, () => [200, { chatgpt_account_id: 'a\r\nx: y' }], /names no account/],
		[TOKEN, () => [200, '<html>'], /names no account/],
		[TOKEN, () => [200, 'x'.repeat(300 * 1024)], /longer than/],
	];
	for (const [input, whose, words] of cases) {
		const { file, login } = await setup(t, whose && { whose });
		const { code, stderr } = await login(input);
		assert.equal(code, 1, input);
		assert.match(stderr, words);
		assert.ok(!input || !stderr.includes(input), stderr);
		assert.ok(!existsSync(file));
	}
});

test('a token that the model refuses ends the turn and stays; another login in the meantime is not mixed with it', options, async (t) => {
	const { issuer, file, login, exec } = await setup(t);
	assert.equal((await login(TOKEN)).code, 0);
	issuer.accessTokens.delete(TOKEN);
	const { code, stderr } = await exec();
	assert.equal(code, 1);
	assert.match(stderr, /the personal access token was refused\. Make another one/);
	assert.ok(!stderr.includes(TOKEN));
	assert.deepEqual([issuer.to(MODEL).length, readAuth(file).personal_access_token], [1, TOKEN]);
	assert.deepEqual(issuer.to('/oauth/token'), []);
});

test('rules of the configuration hold for it: the kind of login, and the workspace', options, async (t) => {
	const api = await setup(t, { config: 'forced_login_method = "api"\n' });
	const refused = await api.login(TOKEN);
	assert.deepEqual([refused.code, refused.stderr], [1, 'Access token login is disabled. Use API key login instead.\n']);
	const given = await api.exec({ env: { CODEX_ACCESS_TOKEN: TOKEN } });
	assert.equal(given.code, 1);
	assert.match(given.stderr, /API key login is required, but ChatGPT is currently being used\. Unset CODEX_ACCESS_TOKEN\./);
	assert.deepEqual(api.issuer.requests, []);

	const other = await setup(t, { config: 'forced_chatgpt_workspace_id = ["acc-2"]\n' });
	const words = /Login is restricted to workspace id\(s\) acc-2, but the current workspace is acc-1/;
	assert.match((await other.login(TOKEN)).stderr, words);
	assert.ok(!existsSync(other.file));
	const env = await other.exec({ env: { CODEX_ACCESS_TOKEN: TOKEN } });
	assert.equal(env.code, 1);
	assert.match(env.stderr, words);
	assert.deepEqual(other.issuer.to(MODEL), []);
});
