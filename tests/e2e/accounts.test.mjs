// Turns with a ChatGPT login: its headers, and the refresh of its tokens.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { needs, runCodex, tempDir } from './lib/codex.mjs';
import { idToken, inSeconds, jwt, lockStore, startIssuer } from './lib/issuer.mjs';

const options = needs('exec');
const MODEL = '/backend/codex/responses', TOKEN = '/oauth/token';
const readAuth = (home) => JSON.parse(readFileSync(path.join(home, 'auth.json')));
const exec = (t, issuer, home, more = {}) =>
	runCodex(t, ['exec', '--skip-git-repo-check', ...(more.args ?? []), 'hi'], { home, env: { ...issuer.env, ...more.env }, onStart: more.onStart });

async function setup(t, how = {}) {
	const issuer = await startIssuer(t);
	Object.assign(issuer, how.issuer);
	const home = issuer.home(tempDir(t, 'home'), how.home?.(issuer));
	return { issuer, home };
}

/** A login whose access token has expired. */
const expired = (issuer) => {
	const tokens = issuer.issue();
	return { tokens: { ...tokens, access_token: jwt({ exp: inSeconds(-60) }) } };
};

test('a request carries the token and the account, and goes to the back end', options, async (t) => {
	const { issuer, home } = await setup(t);
	const run = await exec(t, issuer, home, { env: { OPENAI_API_KEY: 'sk-other', OPENAI_BASE_URL: 'http://127.0.0.1:9' } });
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	assert.deepEqual(issuer.requests.map((request) => request.path), [MODEL]);
	const { headers } = issuer.requests[0];
	assert.equal(headers.authorization, `Bearer ${readAuth(home).tokens.access_token}`);
	assert.equal(headers['chatgpt-account-id'], 'acc-1');
	assert.equal(headers['x-codex-routing-hint'], 'model=gpt-5.5');
	assert.equal(issuer.handshakes.length, 1); // OpenAI is asked for a WebSocket first
	assert.equal(issuer.handshakes[0].authorization, headers.authorization);
	assert.equal(issuer.handshakes[0]['chatgpt-account-id'], 'acc-1');
});

test('a key in CODEX_API_KEY is used instead of the login', options, async (t) => {
	const { issuer, home } = await setup(t, { home: (it) => ({ config: `openai_base_url = "${it.url}/v1"\n` }) });
	await exec(t, issuer, home, { env: { CODEX_API_KEY: 'sk-env' }, args: ['-c', 'model_providers.openai.request_max_retries=0'] });
	assert.equal(issuer.requests[0].headers.authorization, 'Bearer sk-env');
	assert.equal(issuer.requests[0].headers['chatgpt-account-id'], undefined);
	assert.equal(issuer.requests[0].headers['x-codex-routing-hint'], undefined);
});

test('nothing of the login leaves to another provider', options, async (t) => {
	const { issuer, home } = await setup(t, {
		home: (it) => ({ config: `model_provider = "own"\n[model_providers.own]\nname = "Own"\nbase_url = "${it.url}/own"\n` }),
	});
	await exec(t, issuer, home);
	assert.ok(issuer.requests.length > 0);
	for (const request of issuer.requests) {
		assert.equal(request.path, '/own/responses');
		assert.ok(!JSON.stringify([request.headers, request.body]).includes(readAuth(home).tokens.access_token));
		assert.equal(request.headers.authorization, undefined);
		assert.equal(request.headers['chatgpt-account-id'], undefined);
	}
});

test('an expired token is refreshed once, and the file keeps what it does not know', options, async (t) => {
	const { issuer, home } = await setup(t, { home: (it) => ({ ...expired(it), more: { unknown: { a: [1] } } }) });
	const before = readAuth(home);
	const run = await exec(t, issuer, home);
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	assert.deepEqual(issuer.requests.map((request) => request.path), [TOKEN, MODEL]);
	assert.deepEqual(JSON.parse(issuer.requests[0].body), {
		client_id: 'app_EMoamEEZ73f0CkXaXp7hrann', grant_type: 'refresh_token', refresh_token: before.tokens.refresh_token,
		refresh_reason: 'proactive_expiry',
	});
	const after = readAuth(home);
	assert.equal(issuer.refreshTokens.get(after.tokens.refresh_token), 'good');
	assert.deepEqual([after.unknown, after.auth_mode, after.tokens.account_id], [{ a: [1] }, 'chatgpt', 'acc-1']);
	assert.ok(Date.parse(after.last_refresh) >= Date.parse(before.last_refresh));
	assert.equal(statSync(path.join(home, 'auth.json')).mode & 0o777, 0o600);
	assert.equal(statSync(path.join(home, 'auth.lock')).mode & 0o777, 0o600);
});

test('a readable expiry alone decides; without one, eight days since the last refresh', options, async (t) => {
	const old = '2020-01-01T00:00:00Z';
	const readable = await setup(t, { home: () => ({ lastRefresh: old }) });
	await exec(t, readable.issuer, readable.home);
	assert.equal(readable.issuer.to(TOKEN).length, 0);
	for (const [lastRefresh, refreshes] of [[old, 1], [new Date().toISOString(), 0]]) {
		const { issuer, home } = await setup(t, { home: (it) => {
			it.accessTokens.add('opaque');
			return { lastRefresh, tokens: { ...it.issue(), access_token: 'opaque' } };
		} });
		assert.equal((await exec(t, issuer, home)).code, 0);
		assert.equal(issuer.to(TOKEN).length, refreshes);
	}
});

test('a token that is refused is refreshed, and the request is repeated once', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.accessTokens.clear();
	const run = await exec(t, issuer, home);
	assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
	assert.deepEqual(issuer.requests.map((request) => request.path), [MODEL, TOKEN, MODEL]);
	assert.equal(JSON.parse(issuer.requests[1].body).refresh_reason, 'unauthorized_recovery');
});

test('a new token that is refused as well is final', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.overrides.set(MODEL, () => [401, { error: { message: 'no' } }]);
	const run = await exec(t, issuer, home);
	assert.equal(run.code, 1);
	assert.match(run.stderr, /unexpected status 401 Unauthorized/);
	assert.deepEqual(issuer.requests.map((request) => request.path), [MODEL, TOKEN, MODEL]);
});

test('after a refusal the token that another process has stored is taken without a refresh', options, async (t) => {
	const { issuer, home } = await setup(t);
	const later = issuer.issue();
	issuer.accessTokens.delete(readAuth(home).tokens.access_token);
	issuer.overrides.set(MODEL, () => {
		const auth = readAuth(home);
		issuer.overrides.clear();
		writeFileSync(path.join(home, 'auth.json'), JSON.stringify({ ...auth, tokens: { ...auth.tokens, ...later } }));
	});
	assert.equal((await exec(t, issuer, home)).code, 0);
	assert.deepEqual(issuer.requests.map((request) => request.path), [MODEL, MODEL]);
});

test('a login of another account in the meantime ends the session', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.overrides.set(MODEL, () => {
		const auth = readAuth(home);
		writeFileSync(path.join(home, 'auth.json'), JSON.stringify({ ...auth, tokens: { ...auth.tokens, account_id: 'acc-2' } }));
		return [401, {}];
	});
	const run = await exec(t, issuer, home);
	assert.equal(run.code, 1);
	assert.match(run.stderr, /because you have since logged out or signed in to another account\. Please sign in again\./);
	assert.deepEqual(issuer.requests.map((request) => request.path), [MODEL]);
});

test('a refusal of the refresh token names its reason, and the file stays', options, async (t) => {
	const reasons = { used: 'was already used', revoked: 'was revoked', expired: 'has expired' };
	for (const [state, words] of Object.entries(reasons)) {
		const { issuer, home } = await setup(t, { home: expired });
		const before = readFileSync(path.join(home, 'auth.json'), 'utf8');
		issuer.refreshTokens.set(readAuth(home).tokens.refresh_token, state);
		const run = await exec(t, issuer, home);
		assert.equal(run.code, 1);
		assert.ok(run.stderr.includes(
			`Your access token could not be refreshed because your refresh token ${words}. Please log out and sign in again.`), run.stderr);
		assert.equal(issuer.requests.length, 1);
		assert.equal(readFileSync(path.join(home, 'auth.json'), 'utf8'), before);
	}
});

test('a token about to expire is used while the issuer fails', options, async (t) => {
	for (const answer of [[503, 'down'], [200, '<html>'], [200, { access_token: 'a\nb' }], [401, {}], [200, 'x'.repeat(300_000)]]) {
		const { issuer, home } = await setup(t, { issuer: { lifetime: 120 } });
		const before = readFileSync(path.join(home, 'auth.json'), 'utf8');
		issuer.overrides.set(TOKEN, () => answer);
		const run = await exec(t, issuer, home);
		assert.deepEqual([run.code, run.stdout], [0, 'Hello.\n'], run.stderr);
		assert.equal(readFileSync(path.join(home, 'auth.json'), 'utf8'), before);
	}
});

test('an answer without new id and refresh tokens keeps the old ones', options, async (t) => {
	const { issuer, home } = await setup(t, { home: expired });
	const before = readAuth(home);
	issuer.overrides.set(TOKEN, () => [200, { access_token: issuer.issue().access_token }]);
	assert.equal((await exec(t, issuer, home)).code, 0);
	const { tokens } = readAuth(home);
	assert.deepEqual([tokens.id_token, tokens.refresh_token], [before.tokens.id_token, before.tokens.refresh_token]);
	assert.notEqual(tokens.access_token, before.tokens.access_token);
});

test('ten processes with one expired login refresh it once, and all turns succeed', options, async (t) => {
	const { issuer, home } = await setup(t, { home: expired });
	const runs = await Promise.all(Array.from({ length: 10 }, () => exec(t, issuer, home)));
	assert.deepEqual(runs.map((run) => [run.code, run.stdout]), Array(10).fill([0, 'Hello.\n']));
	assert.equal(issuer.to(TOKEN).length, 1);
	assert.equal(issuer.to(MODEL).length, 10);
});

test('ten processes whose token is refused refresh it once, and all turns succeed', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.accessTokens.clear();
	const runs = await Promise.all(Array.from({ length: 10 }, () => exec(t, issuer, home)));
	assert.deepEqual(runs.map((run) => run.code), Array(10).fill(0));
	assert.equal(issuer.to(TOKEN).length, 1);
});

/** Runs a turn whose refresh is answered only after `meanwhile` has happened. */
async function duringRefresh(t, issuer, home, meanwhile) {
	let isOver;
	issuer.overrides.set(TOKEN, async (request, body) => {
		issuer.overrides.delete(TOKEN);
		const answer = issuer.token(request, body);
		await meanwhile();
		isOver = true;
		return answer;
	});
	const run = await exec(t, issuer, home);
	assert.ok(isOver);
	return run;
}

test('a logout during a refresh is not undone by it', options, async (t) => {
	const { issuer, home } = await setup(t, { home: expired });
	const run = await duringRefresh(t, issuer, home, () => runCodex(t, ['logout'], { home, env: issuer.env }));
	assert.ok(!existsSync(path.join(home, 'auth.json')));
	assert.equal(run.code, 1);
	assert.match(run.stderr, /you have since logged out or signed in to another account/);
	assert.equal(issuer.to(MODEL).length, 0);
});

/** Runs a turn that is interrupted while the issuer works on a refresh; `answer` is called when the turn has ended. */
async function interrupted(t, issuer, home, answer) {
	let start;
	const started = new Promise((resolve) => (start = resolve));
	issuer.overrides.set(TOKEN, async (request, body) => {
		issuer.overrides.delete(TOKEN);
		const tokens = issuer.token(request, body), child = await started;
		const ended = new Promise((resolve) => child.stderr.on('data', (bytes) => /interrupted/.test(bytes) && resolve()));
		child.kill('SIGINT');
		await ended;
		return answer(tokens);
	});
	const run = await exec(t, issuer, home, { onStart: start });
	assert.deepEqual([run.code, run.stdout], [130, ''], run.stderr);
}

test('Ctrl-C during a refresh does not lose the tokens that replace the spent one', options, async (t) => {
	const { issuer, home } = await setup(t, { home: expired });
	await interrupted(t, issuer, home, (tokens) => tokens);
	const next = await exec(t, issuer, home);
	assert.deepEqual([next.code, next.stdout], [0, 'Hello.\n'], next.stderr);
	assert.equal(issuer.to(TOKEN).length, 1);
});

test('Ctrl-C during a refresh ends the program if the issuer never answers, or with nonsense', options, async (t) => {
	for (const answer of [() => new Promise(() => {}), () => [200, '<html>'], () => [503, {}]]) {
		const { issuer, home } = await setup(t, { home: expired });
		const before = readFileSync(path.join(home, 'auth.json'), 'utf8');
		await interrupted(t, issuer, home, answer);
		assert.equal(readFileSync(path.join(home, 'auth.json'), 'utf8'), before);
	}
});

test('a login during a refresh is kept', options, async (t) => {
	const { issuer, home } = await setup(t, { home: expired });
	const login = (account) => () => {
		issuer.account = account;
		issuer.home(home, { config: `# ${account}\n` });
	};
	const same = await duringRefresh(t, issuer, home, login('acc-1'));
	assert.deepEqual([same.code, same.stdout], [0, 'Hello.\n'], same.stderr);
	const stored = readAuth(home).tokens.access_token;
	assert.equal(issuer.to(MODEL)[0].headers.authorization, `Bearer ${stored}`);

	issuer.account = 'acc-1';
	issuer.home(home, expired(issuer));
	const other = await duringRefresh(t, issuer, home, login('acc-2'));
	assert.equal(other.code, 0, other.stderr);
	assert.equal(readAuth(home).tokens.account_id, 'acc-2');
	assert.equal(issuer.to(MODEL)[1].headers.authorization, `Bearer ${readAuth(home).tokens.access_token}`);
	assert.equal(issuer.to(MODEL)[1].headers['chatgpt-account-id'], 'acc-2');
});

test('a refresh that is answered with the login of another account stores nothing', options, async (t) => {
	const { issuer, home } = await setup(t, { home: expired });
	const before = readFileSync(path.join(home, 'auth.json'), 'utf8');
	issuer.overrides.set(TOKEN, () => [200, { ...issuer.issue(), id_token: idToken({ account: 'acc-2' }) }]);
	const run = await exec(t, issuer, home);
	assert.equal(run.code, 1);
	assert.match(run.stderr, /the issuer's answer is for another account/);
	assert.equal(readFileSync(path.join(home, 'auth.json'), 'utf8'), before);
	assert.equal(issuer.to(MODEL).length, 0);
});

test('a login that the rules forbid is removed, and nothing is sent', options, async (t) => {
	const cases = [
		['forced_login_method = "api"\n', /^.*API key login is required, but ChatGPT is currently being used\. Logging out\./m],
		['forced_chatgpt_workspace_id = "acc-9"\n', /restricted to workspace id\(s\) acc-9, but the current workspace is acc-1\. Logging out\./],
		['forced_chatgpt_workspace_id = ["a", "b"]\n', /restricted to workspace id\(s\) a, b, but/],
	];
	for (const [config, words] of cases) {
		const { issuer, home } = await setup(t, { home: () => ({ config }) });
		const run = await exec(t, issuer, home);
		assert.equal(run.code, 1);
		assert.match(run.stderr, words);
		assert.ok(!existsSync(path.join(home, 'auth.json')));
		assert.equal(issuer.requests.length, 0);
	}
	const { issuer, home } = await setup(t, { home: () => ({ config: 'forced_login_method = "chatgpt"\n' }) });
	assert.equal((await exec(t, issuer, home)).code, 0);
	writeFileSync(path.join(home, 'auth.json'), '{"OPENAI_API_KEY":"sk-1"}');
	assert.match((await exec(t, issuer, home)).stderr, /ChatGPT login is required, but an API key is currently being used\. Logging out\./);
	assert.ok(!existsSync(path.join(home, 'auth.json')));
});

// The loop does not wait: the lock is free before a wait for it would end.
test('a login that the rules forbid is removed later if another process changes what is stored', options, async (t) => {
	const { issuer, home } = await setup(t, { home: () => ({ config: 'forced_login_method = "api"\n' }) });
	await lockStore(t, home, 'sleep 9');
	assert.match((await exec(t, issuer, home)).stderr, /Logging out\. \(another login or logout has not ended; try again\)/);
	assert.ok(existsSync(path.join(home, 'auth.json')));
	assert.equal(issuer.requests.length, 0);
});

test('doctor reports the login', options, async (t) => {
	const { issuer, home } = await setup(t);
	const { stdout } = await runCodex(t, ['doctor'], { home, env: issuer.env });
	assert.match(stdout, /ChatGPT login found: auth\.json/);
	assert.ok(!stdout.includes(readAuth(home).tokens.access_token));
});

test('an error that quotes the token shows it masked', options, async (t) => {
	const { issuer, home } = await setup(t);
	issuer.overrides.set(MODEL, (request) => [400, { error: { message: `bad token ${request.headers.authorization}` } }]);
	const run = await exec(t, issuer, home);
	assert.match(run.stderr, /bad token Bearer \[redacted\]/);
	assert.ok(!run.stderr.includes(readAuth(home).tokens.access_token));
});
