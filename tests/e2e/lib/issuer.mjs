// A scripted issuer of ChatGPT logins, together with the model and the back end that accept its tokens.
//
// It refuses what the real services refuse: a refresh token that was used before, a code that was spent, a verifier that does
// not match its challenge, an access token that is unknown or was revoked, a request without the account's id.

import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const AUTH = 'https://api.openai.com/auth';

/** A token with these claims and a signature that is never checked. */
export const jwt = (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.c2ln`;
export const inSeconds = (seconds) => Math.floor(Date.now() / 1000) + seconds;

/** The claims of a login. */
export function idToken({ account = 'acc-1', plan = 'plus', email = 'me@example.com' } = {}) {
	return jwt({ email, [AUTH]: { chatgpt_account_id: account, chatgpt_plan_type: plan, chatgpt_user_id: 'user-1' } });
}

export const answerOf = (text) => [
	['response.created', { response: { id: 'resp_1' } }],
	['response.output_item.done', { item: { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text }] } }],
	['response.completed', { response: { id: 'resp_1', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } }],
].map(([type, rest]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`).join('');

async function readBody(request) {
	const parts = [];
	for await (const part of request) parts.push(part);
	return Buffer.concat(parts).toString();
}

export class Issuer {
	requests = []; // {method, path, query, headers, body}
	handshakes = []; // headers of refused WebSockets
	lists = []; // requests for the list of models, which are in none of the others
	models = [404, { error: 'not found' }]; // the answer to them
	refreshTokens = new Map(); // token → 'good' | 'used' | 'revoked' | 'expired'
	accessTokens = new Set();
	codes = new Map(); // code → {challenge, redirect}
	account = 'acc-1';
	plan = 'plus';
	lifetime = 3600;
	overrides = new Map(); // path → (request, body) → [status, body] or undefined
	modelHeaders = {};
	#count = 0;

	/** New tokens of this account. */
	issue() {
		const number = ++this.#count;
		const access = jwt({ exp: inSeconds(this.lifetime), number });
		const refresh = `refresh-${number}-${randomUUID()}`;
		this.accessTokens.add(access);
		this.refreshTokens.set(refresh, 'good');
		return { id_token: idToken({ account: this.account, plan: this.plan }), access_token: access, refresh_token: refresh };
	}

	refresh(body) {
		const { grant_type, refresh_token, client_id } = JSON.parse(body);
		if (grant_type !== 'refresh_token' || !client_id) return [400, { error: 'invalid_request' }];
		const state = this.refreshTokens.get(refresh_token);
		const codes = { used: 'refresh_token_reused', revoked: 'refresh_token_invalidated', expired: 'refresh_token_expired' };
		if (state !== 'good') return [401, { error: { code: codes[state] ?? 'invalid_grant' } }];
		this.refreshTokens.set(refresh_token, 'used');
		return [200, this.issue()];
	}

	exchange(form) {
		if (form.get('grant_type') !== 'authorization_code')
			return [200, { access_token: 'sk-exchanged' }];
		const known = this.codes.get(form.get('code'));
		if (!known) return [400, { error: 'invalid_grant', error_description: 'The code was spent.' }];
		this.codes.delete(form.get('code'));
		const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
		if (known.challenge !== challenge || (known.redirect && known.redirect !== form.get('redirect_uri')))
			return [400, { error: 'invalid_grant', error_description: 'The verifier does not match.' }];
		return [200, this.issue()];
	}

	token(request, body) {
		const isJson = request.headers['content-type'].startsWith('application/json');
		return isJson ? this.refresh(body) : this.exchange(new URLSearchParams(body));
	}

	isAuthorised(request) {
		const [, token] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
		return this.accessTokens.has(token) && request.headers['chatgpt-account-id'] === this.account;
	}

	model(request) {
		if (!this.isAuthorised(request)) return [401, { error: { message: 'token refused' } }];
		return [200, answerOf('Hello.'), { 'content-type': 'text/event-stream', ...this.modelHeaders }];
	}

	usage(request) {
		if (!this.isAuthorised(request)) return [401, {}];
		const window = (percent, seconds) => ({ used_percent: percent, limit_window_seconds: seconds, reset_at: 1790000000 });
		return [200, {
			plan_type: this.plan, credits: { has_credits: true, unlimited: false, balance: '5' },
			rate_limit: { primary_window: window(12, 18000), secondary_window: window(34, 604800) },
		}];
	}

	answer(request, pathname, body) {
		const override = this.overrides.get(pathname)?.(request, body);
		if (override) return override;
		if (pathname === '/oauth/token') return this.token(request, body);
		if (pathname === '/oauth/revoke') {
			this.refreshTokens.set(JSON.parse(body).token, 'revoked');
			return [200, {}];
		}
		if (pathname === '/backend/codex/responses') return this.model(request);
		if (pathname === '/backend/codex/models') return this.models;
		if (pathname === '/backend/wham/usage') return this.usage(request);
		return [404, { error: 'not found' }];
	}

	async serve(request, response) {
		const url = new URL(request.url, 'http://x');
		const body = await readBody(request);
		const isList = /\/models$/.test(url.pathname);
		(isList ? this.lists : this.requests).push({
			method: request.method, path: url.pathname, query: url.searchParams, headers: request.headers, body,
		});
		const [status, content, headers = { 'content-type': 'application/json' }] = await this.answer(request, url.pathname, body);
		response.writeHead(status, headers);
		response.end(typeof content === 'string' ? content : JSON.stringify(content));
	}

	/** The back end is reached over HTTP alone. */
	refuseSocket(request, socket) {
		this.handshakes.push(request.headers);
		socket.on('error', () => {}).end(`HTTP/1.1 ${this.isAuthorised(request) ? 426 : 401} Refused\r\nContent-Length: 0\r\n\r\n`);
	}

	to(pathname) {
		return this.requests.filter((request) => request.path === pathname);
	}

	/** A CODEX_HOME with this login; the tokens default to new ones. */
	home(dir, { tokens = this.issue(), lastRefresh = new Date().toISOString(), config = '', more = {} } = {}) {
		mkdirSync(dir, { recursive: true });
		writeFileSync(path.join(dir, 'config.toml'), `chatgpt_base_url = "${this.url}/backend"\n${config}`);
		writeFileSync(path.join(dir, 'auth.json'), JSON.stringify({
			auth_mode: 'chatgpt', OPENAI_API_KEY: null, tokens: { ...tokens, account_id: this.account }, last_refresh: lastRefresh, ...more,
		}), { mode: 0o600 });
		return dir;
	}

	get env() {
		return {
			CODEX_REFRESH_TOKEN_URL_OVERRIDE: `${this.url}/oauth/token`, CODEX_REVOKE_TOKEN_URL_OVERRIDE: `${this.url}/oauth/revoke`,
			CODEX_APP_SERVER_LOGIN_ISSUER: this.url,
		};
	}
}

/** Locks the stored credentials, as a process that changes them, until its standard input ends or the command does. */
export async function lockStore(t, home, command = 'cat') {
	const child = spawn('flock', ['-F', path.join(home, 'auth-store.lock'), 'sh', '-c', `echo locked; exec ${command}`],
		{ stdio: ['pipe', 'pipe', 'inherit'] });
	t.after(() => child.kill('SIGKILL'));
	await once(child.stdout, 'data');
	return child.stdin;
}

/** Starts an issuer, which ends with the test. */
export async function startIssuer(t) {
	const issuer = new Issuer();
	const server = http.createServer((request, response) => issuer.serve(request, response));
	server.on('upgrade', (request, socket) => issuer.refuseSocket(request, socket));
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	issuer.url = `http://127.0.0.1:${server.address().port}`;
	t.after(() => {
		server.closeAllConnections();
		server.close();
	});
	return issuer;
}
