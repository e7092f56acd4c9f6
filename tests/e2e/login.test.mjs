// `codex login` with ChatGPT, by a browser and by a device code, and `codex logout`.
//
// The browser flow needs the fixed ports 1455 and 1457, so these tests run one after the other.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';

import { codexBin, cleanEnv, launch, needs, runCodex, tempDir, waitFor } from './lib/codex.mjs';
import { idToken, lockStore, startIssuer } from './lib/issuer.mjs';

const options = needs('login');
const readAuth = (home) => JSON.parse(readFileSync(path.join(home, 'auth.json')));
const GREETING = 'Starting local login server on http://localhost:';

/** Starts `codex login` and resolves to the parts of its URL. */
async function startLogin(t, issuer, home, more = {}) {
	const args = ['login', '--experimental_issuer', issuer.url, '--experimental_client-id', 'client-1', ...(more.args ?? [])];
	const run = launch(t, codexBin, args, { env: cleanEnv(home, { BROWSER: 'true', ...issuer.env, ...more.env }) });
	const url = new URL(await waitFor(run.child.stderr, () => run.result.stderr, (text) => /^(http\S+\/oauth\/authorize\S+)\n/m.exec(text)?.[1]));
	const redirect = new URL(url.searchParams.get('redirect_uri'));
	return { ...run, url, query: url.searchParams, redirect };
}

/** Returns to the program with a code, as a browser does after the user has agreed. */
async function agree(issuer, login, params = {}) {
	const code = `code-${Math.random()}`;
	issuer.codes.set(code, { challenge: login.query.get('code_challenge'), redirect: login.query.get('redirect_uri') });
	return back(login, { code, state: login.query.get('state'), ...params });
}

async function back(login, params, headers = {}) {
	const url = new URL(login.redirect);
	for (const [key, value] of Object.entries(params)) url.searchParams.set(key, value);
	const response = await fetch(url, { headers });
	return [response.status, await response.text()];
}

/** GET with a Host header of one's own. */
const getWithHost = (port, target, host) => new Promise((resolve, reject) => {
	http.get({ host: '127.0.0.1', port, path: target, headers: { host } }, (response) => {
		response.resume();
		resolve(response.statusCode);
	}).on('error', reject);
});

const setup = async (t) => ({ issuer: await startIssuer(t), home: tempDir(t, 'home') });

test('a login in the browser stores tokens that requests use, and logout revokes them', options, async (t) => {
	const { issuer, home } = await setup(t);
	writeFileSync(path.join(home, 'config.toml'), `chatgpt_base_url = "${issuer.url}/backend"\n`);
	const login = await startLogin(t, issuer, home);
	assert.ok(login.result.stderr.startsWith(`${GREETING}1455.\n`));
	assert.equal(login.redirect.href, 'http://127.0.0.1:1455/auth/callback');
	const { code_challenge: challenge, state, ...fixed } = Object.fromEntries(login.query);
	assert.deepEqual(fixed, {
		response_type: 'code', client_id: 'client-1', redirect_uri: login.redirect.href, code_challenge_method: 'S256',
		scope: 'openid profile email offline_access api.connectors.read api.connectors.invoke', id_token_add_organizations: 'true',
		codex_cli_simplified_flow: 'true', originator: 'codex_cli_rs',
	});
	assert.match(challenge, /^[\w-]{43}$/);
	assert.match(state, /^[\w-]{43}$/);
	const [status, page] = await agree(issuer, login);
	assert.equal(status, 200);
	assert.match(page, /Signed in/);
	const { code, stdout, stderr } = await login.done;
	assert.deepEqual([code, stdout], [0, ''], stderr);
	assert.ok(stderr.endsWith('Successfully logged in\n'));
	const auth = readAuth(home);
	assert.deepEqual([auth.auth_mode, auth.OPENAI_API_KEY, auth.tokens.account_id], ['chatgpt', 'sk-exchanged', 'acc-1']);
	assert.equal(statSync(path.join(home, 'auth.json')).mode & 0o777, 0o600);

	const known = await runCodex(t, ['login', 'status'], { home });
	assert.deepEqual([known.code, known.stderr], [0, 'Logged in using ChatGPT\n']);
	const turn = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'], { home });
	assert.deepEqual([turn.code, turn.stdout], [0, 'Hello.\n'], turn.stderr);

	let isStored; // when the issuer is asked: what cannot be removed stays valid
	issuer.overrides.set('/oauth/revoke', () => { isStored = existsSync(path.join(home, 'auth.json')); });
	const out = await runCodex(t, ['logout'], { home, env: issuer.env });
	assert.deepEqual([out.code, out.stderr], [0, 'Successfully logged out\n']);
	assert.equal(isStored, false);
	assert.deepEqual(JSON.parse(issuer.to('/oauth/revoke')[0].body),
		{ token: auth.tokens.refresh_token, token_type_hint: 'refresh_token', client_id: 'app_EMoamEEZ73f0CkXaXp7hrann' });
});

test('a logout that cannot remove the login does not revoke it', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.home(home);
	await lockStore(t, home);
	const out = await runCodex(t, ['logout'], { home, env: issuer.env });
	assert.deepEqual([out.code, out.stderr], [1, 'another login or logout has not ended; try again\n']);
	assert.ok(existsSync(path.join(home, 'auth.json')));
	assert.deepEqual(issuer.requests, []);
});

test("a callback of somebody else does not end the login or spend its code", options, async (t) => {
	const { issuer, home } = await setup(t);
	const login = await startLogin(t, issuer, home);
	const state = login.query.get('state');
	for (const params of [{ code: 'x' }, { code: 'x', state: 'y' }, { code: 'x', state: state + 'z' }, { error: 'access_denied' }])
		assert.deepEqual(await back(login, params), [400, 'State mismatch']);
	const { port } = login.redirect;
	assert.equal(await getWithHost(port, `/auth/callback?code=x&state=${state}`, 'evil.example'), 400);
	assert.equal(await getWithHost(port, '/other', `127.0.0.1:${port}`), 404);
	const cancel = (headers) => fetch(`http://127.0.0.1:${port}/cancel`, { headers }).then((response) => response.status);
	assert.equal(await cancel({ origin: 'https://evil.example' }), 404);
	assert.equal(await cancel({ 'sec-fetch-site': 'cross-site' }), 404);
	assert.equal(issuer.requests.length, 0);
	await agree(issuer, login);
	assert.equal((await login.done).code, 0);
});

test('a refusal of the user fails the login, and its words are escaped', options, async (t) => {
	const { issuer, home } = await setup(t);
	const login = await startLogin(t, issuer, home);
	const [status, page] = await back(login,
		{ error: 'access_denied', error_description: '<script>no</script>', state: login.query.get('state') });
	assert.equal(status, 200);
	assert.ok(!page.includes('<script>'));
	const { code, stderr } = await login.done;
	assert.equal(code, 1);
	assert.match(stderr, /Error logging in: Sign-in failed: <script>no<\/script>\n$/);
	assert.ok(!existsSync(path.join(home, 'auth.json')));
});

test('an issuer that lies stores nothing', options, async (t) => {
	const good = { id_token: idToken(), access_token: 'a', refresh_token: 'r' };
	const answers = [
		[[400, { error: 'x', error_description: 'Words of the issuer.' }], /status 400: Words of the issuer\./],
		[[400, { error: { message: 'Inner words.' } }], /Inner words\./],
		[[400, { error_description: 'a\u001b[2Jb\u0007\nc' }], /status 400: a[^\x1b\x07]*b[^\x1b\x07\n]*c\n/],
		[[200, { ...good, access_token: 'a\r\nb: c' }], /lacks a valid/],
		[[200, { ...good, id_token: 'no jwt' }], /lacks a valid/],
		[[200, { ...good, refresh_token: undefined }], /lacks a valid/],
		[[200, '<html>'], /lacks a valid/],
		[[200, 'x'.repeat(300_000)], /longer than/],
		[[302, '', { location: 'http://127.0.0.1:9/' }], /status 302/],
	];
	for (const [answer, words] of answers) {
		const { issuer, home } = await setup(t);
		issuer.overrides.set('/oauth/token', () => answer);
		const login = await startLogin(t, issuer, home);
		await agree(issuer, login);
		const { code, stderr } = await login.done;
		assert.equal(code, 1);
		assert.match(stderr, words);
		assert.ok(!existsSync(path.join(home, 'auth.json')));
	}
});

test('a second login ends the first one and takes its port', options, async (t) => {
	const { issuer, home } = await setup(t);
	const first = await startLogin(t, issuer, home);
	const second = await startLogin(t, issuer, home);
	const ended = await first.done;
	assert.equal(ended.code, 1);
	assert.match(ended.stderr, /another login has taken its place/);
	assert.equal(second.redirect.port, '1455');
	await agree(issuer, second);
	assert.equal((await second.done).code, 0);
});

test('a port that another program keeps is replaced by the second one', options, async (t) => {
	const { issuer, home } = await setup(t);
	const other = http.createServer((request, response) => response.writeHead(404).end());
	await new Promise((resolve) => other.listen(1455, '127.0.0.1', resolve));
	t.after(() => other.closeAllConnections() ?? other.close());
	const login = await startLogin(t, issuer, home);
	assert.equal(login.redirect.href, 'http://127.0.0.1:1457/auth/callback');
	assert.ok(login.result.stderr.startsWith(`${GREETING}1457.\n`));
	await agree(issuer, login);
	assert.equal((await login.done).code, 0);
});

test('a new login revokes the one that it replaces, also if that fails', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.home(home);
	const old = readAuth(home).tokens.refresh_token;
	issuer.overrides.set('/oauth/revoke', () => [500, 'down']);
	const login = await startLogin(t, issuer, home);
	await agree(issuer, login);
	assert.equal((await login.done).code, 0);
	assert.equal(JSON.parse(issuer.to('/oauth/revoke')[0].body).token, old);
	assert.notEqual(readAuth(home).tokens.refresh_token, old);
});

test('the login of a workspace that the rules exclude is not stored', options, async (t) => {
	const { issuer, home } = await setup(t);
	writeFileSync(path.join(home, 'config.toml'), 'forced_chatgpt_workspace_id = ["acc-8", "acc-9"]\n');
	const login = await startLogin(t, issuer, home);
	assert.equal(login.query.get('allowed_workspace_id'), 'acc-8,acc-9');
	await agree(issuer, login);
	const { code, stderr } = await login.done;
	assert.equal(code, 1);
	assert.match(stderr, /restricted to workspace id\(s\) acc-8, acc-9, but the current workspace is acc-1/);
	assert.ok(!existsSync(path.join(home, 'auth.json')));
});

test('forced_login_method excludes the other kind', options, async (t) => {
	const home = tempDir(t, 'home');
	const login = async (method, args) => {
		writeFileSync(path.join(home, 'config.toml'), `forced_login_method = "${method}"\n`);
		const { code, stderr } = await runCodex(t, ['login', ...args], { home, input: 'sk-1' });
		return [code, stderr];
	};
	assert.deepEqual(await login('api', []), [1, 'ChatGPT login is disabled. Use API key login instead.\n']);
	assert.deepEqual(await login('api', ['--device-auth']), [1, 'ChatGPT login is disabled. Use API key login instead.\n']);
	assert.deepEqual(await login('chatgpt', ['--with-api-key']), [1, 'API key login is disabled. Use ChatGPT login instead.\n']);
	assert.equal((await login('api', ['--with-api-key']))[0], 0);
});

// --- device codes ----------------------------------------------------------------------------------------------------

const CODE = '/api/accounts/deviceauth/usercode', POLL = '/api/accounts/deviceauth/token';

const CHALLENGE = 'qjrzSW9gMiUgpUvqgEPE4_-8swvyCtfOVvg55o5S_es'; // of the verifier below

/** An issuer whose user enters the code after this many questions. */
function expectCode(issuer, questions, refusal = 403) {
	let left = questions;
	issuer.overrides.set(CODE, () => [200, { device_auth_id: 'dev-1', user_code: 'ABCD-EFGH', interval: '0' }]);
	issuer.overrides.set(POLL, () => {
		if (left-- > 0) return [refusal, {}];
		issuer.codes.set('dev-code', { challenge: CHALLENGE });
		return [200, { authorization_code: 'dev-code', code_challenge: CHALLENGE,
			code_verifier: 'M25iVXpKU3puUjFaYWg3T1NDTDQtcW1ROUY5YXlwalNoc0hhakxifmZHag' }];
	});
}
const device = (t, issuer, home) =>
	runCodex(t, ['login', '--device-auth', '--experimental_issuer', `${issuer.url}/`], { home, env: issuer.env });

test('a device code is shown on stdout and exchanged when the user has entered it', options, async (t) => {
	for (const refusal of [403, 404]) {
		const { issuer, home } = await setup(t);
		expectCode(issuer, 2, refusal);
		const { code, stdout, stderr } = await device(t, issuer, home);
		assert.deepEqual([code, stderr], [0, 'Successfully logged in\n']);
		for (const words of [`${issuer.url}/codex/device`, 'ABCD-EFGH', 'expires in 15 minutes']) assert.ok(stdout.includes(words));
		assert.deepEqual(issuer.to(POLL).map((request) => JSON.parse(request.body)),
			Array(3).fill({ device_auth_id: 'dev-1', user_code: 'ABCD-EFGH' }));
		const form = new URLSearchParams(issuer.to('/oauth/token')[0].body);
		assert.equal(form.get('redirect_uri'), `${issuer.url}/deviceauth/callback`);
		assert.equal(issuer.to('/oauth/token').length, 1);
		assert.deepEqual([readAuth(home).OPENAI_API_KEY, readAuth(home).tokens.account_id], [null, 'acc-1']);
	}
});

test('a device login that the issuer refuses says why', options, async (t) => {
	const cases = [
		[CODE, [404, {}], /device code login is not enabled for this Codex server\. Use the browser login or verify the server URL\./],
		[CODE, [500, {}], /status 500/],
		[CODE, [200, { device_auth_id: 'd', user_code: '\u001b[31mX' }], /no device code/],
		[CODE, [200, 'x'], /no device code/],
		[POLL, [410, {}], /status 410/],
		[POLL, [200, {}], /no authorization code/],
	];
	for (const [where, answer, words] of cases) {
		const { issuer, home } = await setup(t);
		expectCode(issuer, 0);
		issuer.overrides.set(where, () => answer);
		const { code, stderr } = await device(t, issuer, home);
		assert.equal(code, 1);
		assert.match(stderr, /^Error logging in with device code: /m);
		assert.match(stderr, words);
		assert.ok(!existsSync(path.join(home, 'auth.json')));
	}
});

// --- the file of other Codex programs: $CODEX_REF or $CODEX_REFS, as in reference.test.mjs -----------------------------

const refs = (process.env.CODEX_REFS ?? process.env.CODEX_REF ?? '').split(':').filter(Boolean);

/** Runs that program, which wants no home below the folder for temporary files. */
async function runOther(t, bin, args, { home, env, input = '' }) {
	const program = launch(t, bin, args, { env: cleanEnv(home, { TMPDIR: '/var/tmp', ...env }) });
	program.child.stdin.end(input);
	return program.done;
}

for (const ref of refs) {
	test(`a login is shared with ${ref}, in both directions`, options, async (t) => {
		const { issuer, home } = await setup(t), env = issuer.env;
		const args = ['login', '--device-auth', '--experimental_issuer', issuer.url];
		const signIn = async (run) => {
			expectCode(issuer, 0);
			const { code, stderr } = await run(args);
			assert.equal(code, 0, stderr);
			const { refresh_token: token } = readAuth(home).tokens;
			assert.equal(issuer.refreshTokens.get(token), 'good');
			return token;
		};
		const ours = (words, input) => runCodex(t, words, { home, env, input });
		const theirs = (words, input) => runOther(t, ref, words, { home, env, input });

		writeFileSync(path.join(home, 'config.toml'), `chatgpt_base_url = "${issuer.url}/backend"\n`);
		for (const [first, second] of [[theirs, ours], [ours, theirs]]) {
			const token = await signIn(first);
			const status = await second(['login', 'status']);
			assert.deepEqual([status.code, status.stderr.includes('Logged in using ChatGPT')], [0, true], status.stderr);
			if (second === ours) assert.equal((await ours(['exec', '--skip-git-repo-check', 'hi'])).stdout, 'Hello.\n');
			assert.equal((await second(['logout'])).code, 0);
			assert.equal(issuer.refreshTokens.get(token), 'revoked');
			assert.ok(!existsSync(path.join(home, 'auth.json')));
		}
		for (const [first, second] of [[theirs, ours], [ours, theirs]]) {
			assert.equal((await first(['login', '--with-api-key'], 'sk-1234567890abcdef')).code, 0);
			assert.match((await second(['login', 'status'])).stderr, /sk-12345\*\*\*bcdef/);
			assert.equal((await second(['logout'])).code, 0);
		}
	});
}
