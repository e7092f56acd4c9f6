// Starts codex serve, and a real browser that opens its page.

import { existsSync } from 'node:fs';
import http from 'node:http';
import { cleanEnv, codexBin, launch, makeHome, startModel, tempDir, waitFor } from './codex.mjs';

export const LINK = /^(https?:\/\/\S+)\/#code=([0-9a-f]{32})$/m;

/** Starts the program; resolves to {url, link, code, home, cwd, child, done, nextLink()} once it has printed a link. */
export async function serve(
	t,
	replies,
	{ config, args = [], home, env, cwd = tempDir(t, 'cwd'), listen = 'http://127.0.0.1:0', stdio } = {}
) {
	const model = home ? null : await startModel(t, replies);
	home ??= makeHome(t, model, config);
	const program = launch(t, codexBin, ['serve', '--listen', listen, ...args], {
		cwd,
		env: { ...cleanEnv(home), ...env },
		...(stdio && { stdio }),
		lifetime: 180_000
	});
	const url = await waitFor(
		program.child.stderr,
		() => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]
	);
	const links = () => program.result.stdout.split('\n').filter(Boolean);
	const linkAt = (at) =>
		waitFor(
			program.child.stdout,
			() => program.result.stdout,
			() => links()[at]
		);
	const link = await linkAt(0);
	let used = 0;
	return {
		...program,
		model,
		home,
		cwd,
		url,
		link,
		code: LINK.exec(link)[2],
		linkAt,
		nextLink() {
			program.child.stdin.write('\n');
			return linkAt(++used);
		}
	};
}

/** Sends one request; resolves to {status, headers, text, json}. */
export function ask(
	server,
	method,
	target,
	{
		body,
		headers = {},
		token = server.token,
		type = body === undefined ? undefined : 'application/json'
	} = {}
) {
	return new Promise((resolve, reject) => {
		const request = http.request(
			server.url + target,
			{
				method,
				agent: false,
				headers: {
					...(token && { authorization: `Bearer ${token}` }),
					...(type && { 'content-type': type }),
					...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
					...headers
				}
			},
			(answer) => {
				let text = '';
				answer.setEncoding('utf8')
					.on('data', (more) => {
						text += more;
					})
					.on('end', () => {
						const isJson =
							answer.headers['content-type'] === 'application/json' &&
							text;
						resolve({
							status: answer.statusCode,
							headers: answer.headers,
							raw: answer.rawHeaders,
							text,
							json: isJson ? JSON.parse(text) : undefined
						});
					});
			}
		);
		request.on('error', reject).end(body);
	});
}

/** Signs in with a code; the token is that of later requests. */
export async function signIn(server, code = server.code, name = 'test') {
	const answer = await ask(server, 'POST', '/v1/login', { body: JSON.stringify({ code, name }) });
	if (answer.status === 200) server.token = answer.json.token;
	return answer;
}

/** Watches: {lines, until(test), close(), over}. */
export async function watch(server, query = '', token = server.token) {
	const lines = [],
		looks = new Set();
	const request = http.request(`${server.url}/v1/watch${query}`, {
		agent: false,
		headers: { authorization: `Bearer ${token}` }
	});
	const answer = await new Promise((resolve, reject) =>
		request.on('response', resolve).on('error', reject).end()
	);
	let rest = '';
	answer.setEncoding('utf8')
		.on('data', (more) => {
			const parts = (rest + more).split('\n');
			rest = parts.pop();
			lines.push(...parts.filter(Boolean).map((line) => JSON.parse(line)));
			for (const look of looks) look();
		})
		.on('error', () => {});
	const over = new Promise((resolve) => answer.on('close', resolve));
	return {
		status: answer.statusCode,
		headers: answer.headers,
		lines,
		over,
		close: () => request.destroy(),
		until: (wanted) =>
			new Promise((resolve) => {
				const look = () => {
					const found = lines.find(wanted);
					if (found) resolve(found);
				};
				looks.add(look);
				look();
			})
	};
}

// ---- the browser ----

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
	existsSync(path)
);
const playwright = await import('playwright-core').catch(() => null);

/** Options for a test that needs a browser. */
export const needsBrowser = {
	skip: !playwright
		? 'playwright-core is not installed: npm ci in tests/e2e'
		: !chromium && 'there is no Chromium: apt-get install chromium'
};

let running;

async function start() {
	return playwright.chromium.launch({
		executablePath: chromium,
		args: [
			'--no-sandbox',
			'--disable-gpu',
			'--disable-quic',
			'--no-first-run',
			'--disable-background-networking',
			'--disable-component-update',
			'--disable-sync',
			'--disable-dev-shm-usage'
		]
	});
}

/** The browser of this file's tests; close it with closeBrowser in after(). */
export const browser = () => (running ??= start());
export async function closeBrowser() {
	if (running) await (await running).close();
}

/**
 * Opens an isolated browser window. Its faults are collected: errors on the console, reports of the content
 * security policy, dialogs, requests to another host. A test requires an empty list.
 */
export async function open(
	t,
	server,
	{ link = server.link, width = 360, height = 640, mobile = width < 700, allows = [], ...more } = {}
) {
	const context = await (
		await browser()
	).newContext({ viewport: { width, height }, hasTouch: mobile, reducedMotion: 'reduce', ...more });
	const page = await context.newPage(),
		faults = [];
	page.setDefaultTimeout(20_000);
	page.on(
		'console',
		(message) =>
			message.type() === 'error' &&
			!allows.some((one) => one.test(message.text())) &&
			faults.push(`console: ${message.text()}`)
	);
	page.on('pageerror', (error) => faults.push(`error: ${error.stack}`));
	page.on('dialog', (dialog) => {
		faults.push(`dialog: ${dialog.message()}`);
		dialog.dismiss();
	});
	context.on('request', (request) => {
		const address = request.url();
		if (!address.startsWith(server.url) && !address.startsWith('data:') && !address.startsWith('blob:'))
			faults.push(`request: ${address}`);
	});
	await page.addInitScript(() => {
		addEventListener('securitypolicyviolation', (event) =>
			console.error(`CSP ${event.violatedDirective} ${event.blockedURI}`)
		);
	});
	t.after(() => context.close());
	if (link) await page.goto(link);
	return { context, page, faults };
}
