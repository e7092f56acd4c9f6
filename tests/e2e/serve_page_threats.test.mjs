// Attacks on the page of codex serve in a real browser. serve_page.test.mjs has markup and the pages of other sites.

import assert from 'node:assert/strict';
import http from 'node:http';
import test, { after } from 'node:test';
import { call, needs, reply, run, say } from './lib/codex.mjs';
import { WRITE, configOf, itemCall } from './lib/mcp.mjs';
import { article, begin, box, button, longestTask, send } from './lib/page.mjs';
import { ask, browser, closeBrowser, needsBrowser, open, serve, signIn } from './lib/serve.mjs';

const page = { ...needsBrowser, ...(needs('serve').skip && needs('serve')), timeout: 180_000 };
after(closeBrowser);

/** A server of this machine on another port: {url, requests}. */
async function startOther(t, text = '<title>other</title>') {
	const requests = [];
	const server = http.createServer((request, answer) => {
		requests.push(request);
		answer.writeHead(200, { 'content-type': 'text/html' }).end(text);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

const EVIL = '<img src=x onerror=alert(1)><b onclick=alert(2)>x</b>';
const LONG = 39_000;
const HARD = {
	'blanks in a heading': `# a${' '.repeat(LONG)}#x`,
	'blanks below a bar': `a|b\n${' '.repeat(LONG)}x`,
	'blanks behind dashes': `a|b\n-${' '.repeat(LONG)}x`,
	'dots in an address': `https://a${'.'.repeat(LONG)}x`,
	'a table of many columns': `|${' |'.repeat(450)}\n|${'-|'.repeat(450)}\n${'|\n'.repeat(9000)}`,
	'a head of a table without an end': `${'|'.repeat(LONG)}\n${'-|'.repeat(LONG)}`,
	'brackets': '['.repeat(LONG),
	'links without an end': '[a]('.repeat(LONG / 4),
	'images without an end': '![a](<'.repeat(LONG / 6),
	'stars': '*a **b '.repeat(LONG / 7),
	'marks of code': Array.from({ length: 270 }, (_, i) => '`'.repeat(i + 1)).join(' '),
	'quotes in quotes': `${'>'.repeat(LONG)} x`,
	'lists in lists': Array.from({ length: 270 }, (_, i) => `${' '.repeat(i)}- x`).join('\n'),
	'marks of a rule': `${'- '.repeat(LONG / 2)}x`,
	'backslashes': '\\'.repeat(LONG),
};

test('no text of a model keeps the page busy', page, async (t) => {
	const texts = Object.entries(HARD);
	const server = await serve(t, texts.map(([name, text]) => reply({ message: text, chunks: 30 }, { message: `After ${name}.` })));
	const { page: window, context, faults } = await open(t, server);
	await begin(window);
	for (const [name] of texts) {
		const longest = await longestTask(context, window, async () => {
			await send(window, name);
			await article(window, 'Codex').filter({ hasText: `After ${name}.` }).waitFor();
			await window.waitForFunction(() => document.getElementById('stop').hidden);
		});
		t.diagnostic(`${name}: ${Math.round(longest)} ms`);
		assert.ok(longest < 500, `${name}: a task of ${longest} ms`);
	}
	await window.reload();
	await article(window, 'Codex').filter({ hasText: 'After backslashes.' }).waitFor();
	assert.deepEqual(faults, []);
});

test('the card of a command names the program by its whole path, unless it is the system\'s shell', page, async (t) => {
	const shell = (program) => call('shell', { command: [program, '-c', 'touch made'] }, { call_id: `c${program.length}` });
	const programs = { '/tmp/evil/bash': "/tmp/evil/bash -c 'touch made'", './sh': "./sh -c 'touch made'", '/bin/sh': 'touch made' };
	const server = await serve(t, [...Object.keys(programs).map(shell), say('Done.')], { config: 'approval_policy = "untrusted"\n' });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	for (const text of Object.values(programs)) {
		const command = window.getByRole('group', { name: 'Approval: command' }).locator('pre').filter({ hasText: new RegExp(`^${text}$`) });
		await command.waitFor();
		await button(window, 'Deny').click();
		await command.waitFor({ state: 'detached' });
	}
	await article(window, 'Codex').filter({ hasText: 'Done.' }).waitFor();
	assert.deepEqual(faults, []);
});

test('a call whose id was used before has an entry of its own', page, async (t) => {
	const server = await serve(t, [reply({ message: 'Hello.', id: 'c1' }, { call: 'exec_command', arguments: { cmd: 'echo harmless' }, call_id: 'c1' }),
		run('echo other', { call_id: 'c1' }), reply({ message: 'Bye.', id: 'c1' })],
		{ config: 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	await article(window, 'Codex').filter({ hasText: 'Bye.' }).waitFor();
	assert.deepEqual(await article(window, 'Command').locator('pre.command').allTextContents(), ['echo harmless', 'echo other']);
	assert.deepEqual((await article(window, 'Command').locator('pre.output').allTextContents()).map((text) => text.trim()), ['harmless', 'other']);
	await article(window, 'Codex').filter({ hasText: 'Hello.' }).waitFor();
	assert.deepEqual(faults, []);
});

test('the card of a tool of an MCP server shows the arguments of the call', page, async (t) => {
	const server = await serve(t, [reply(itemCall('write', { path: '/etc/pass\u202ewd', say: EVIL })), say('Done.')],
		{ config: `model = "gpt-5.2"\napproval_policy = "on-request"\n${configOf({ s: { tools: [WRITE] } })}` });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	const card = window.getByRole('group', { name: 'Question' });
	await card.getByText('"path": "/etc/pass\\u202ewd"').waitFor();
	await card.getByText(EVIL).waitFor();
	assert.equal(await card.locator('img, b').count(), 0);
	await card.getByRole('button', { name: 'Decline' }).click();
	await article(window, 'Codex').filter({ hasText: 'Done.' }).waitFor();
	assert.deepEqual(faults, []);
});

test('pictures of messages are data of four kinds, and none is loaded', page, async (t) => {
	const server = await serve(t, [say('Seen.')]);
	const { page: window, faults } = await open(t, server);
	await begin(window);
	const id = new URL(window.url()).hash.split('/').at(-1);
	const token = await window.evaluate(() => localStorage.token);
	const images = ['https://evil.example/p.png', 'data:image/svg+xml;base64,AAAA', 'data:text/html;base64,AAAA', 'data:image/png;base64,AA AA',
		'javascript:alert(1)'];
	const op = { type: 'user_input', items: [{ type: 'text', text: 'look' }, ...images.map((image_url) => ({ type: 'image', image_url }))] };
	await ask({ url: server.url, token }, 'POST', `/v1/sessions/${id}/submissions`, { body: JSON.stringify({ id: '1', op }) });
	await article(window, 'You').getByText('Image: https://evil.example/p.png').waitFor();
	assert.equal(await window.locator('main img').count(), 0);
	assert.deepEqual(faults, []);
});

test('links out carry no referrer, no cookie and no opener; nor has a page that opens this one a hold on it', page, async (t) => {
	const other = await startOther(t);
	const server = await serve(t, [say(`[out](${other.url}/x)`)]);
	const { page: window, context } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	const popup = context.waitForEvent('page');
	await window.getByRole('link', { name: 'out' }).click();
	const target = await popup;
	await target.waitForLoadState();
	assert.equal(await target.evaluate(() => globalThis.opener), null);
	const request = other.requests.find(({ url }) => url === '/x');
	assert.equal(request.headers.referer, undefined);
	assert.equal(request.headers.cookie, undefined);
	await target.goto(`${other.url}/`);
	const opened = context.waitForEvent('page');
	await target.evaluate((url) => {
		globalThis.held = globalThis.open(url);
	}, server.url);
	await (await opened).waitForLoadState();
	assert.equal(await target.evaluate(() => globalThis.held.closed), true); // cut off by its policy
});

test('another port of this host can send nothing: forms, beacons, streams, scripts', page, async (t) => {
	const server = await serve(t, [say('Unused.')]), other = await startOther(t);
	const context = await (await browser()).newContext();
	t.after(() => context.close());
	const evil = await context.newPage(), seen = [];
	context.on('response', (answer) => answer.url().startsWith(server.url) &&
		seen.push([answer.request().method(), new URL(answer.url()).pathname, answer.status()]));
	await evil.goto(other.url);
	const outcome = await evil.evaluate(async (target) => {
		const failed = (node, event = 'error') => new Promise((resolve) => node.addEventListener(event, () => resolve('refused')));
		navigator.sendBeacon(`${target}/v1/logout`, new Blob(['{}'], { type: 'text/plain' }));
		const style = document.createElement('link');
		Object.assign(style, { rel: 'stylesheet', href: `${target}/app.css` });
		document.head.append(style);
		const image = new Image();
		image.src = `${target}/icon.svg`;
		return Promise.all([failed(new EventSource(`${target}/v1/watch`)), failed(style), failed(image)]);
	}, server.url);
	assert.deepEqual(outcome, ['refused', 'refused', 'refused']);
	await evil.setContent(`<form method=post enctype=text/plain action="${server.url}/v1/login">
		<input name='{"code":"${server.code}","x":"' value='"}'></form>`);
	const navigated = evil.waitForNavigation();
	await evil.evaluate(() => document.forms[0].submit());
	assert.equal((await navigated).status(), 403);
	assert.ok(seen.every(([, , status]) => status >= 400), JSON.stringify(seen));
	assert.equal((await signIn(server)).status, 200); // the code was not spent
});

test('markup, handlers, styles and code from strings are refused by the page itself', page, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const { page: window } = await open(t, server);
	await button(window, 'New session').waitFor();
	const out = await window.evaluate(async () => {
		const results = {}, attempt = (name, run) => {
			try {
				results[name] = run() ?? 'done';
			} catch (error) {
				results[name] = error.name;
			}
		};
		globalThis.ran = [];
		await new Promise((resolve) => setTimeout(resolve, 0)); // what the debugger runs itself may use eval
		attempt('eval', () => globalThis.eval('ran.push("eval")'));
		attempt('Function', () => new Function('ran.push("Function")')());
		attempt('timer', () => void setTimeout('ran.push("timer")', 0));
		attempt('insertAdjacentHTML', () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'));
		attempt('parser', () => new DOMParser().parseFromString('<b>x</b>', 'text/html'));
		attempt('write', () => document.write('<b>x</b>'));
		attempt('handler', () => {
			document.body.setAttribute('onclick', 'ran.push("handler")');
			document.body.click();
		});
		attempt('inline script', () => {
			const script = document.createElement('script');
			script.append('ran.push("inline")');
			document.head.append(script);
		});
		attempt('foreign script', () => {
			const script = document.createElement('script');
			script.src = 'https://evil.example/x.js';
		});
		attempt('data script', () => {
			const node = document.createElement('a');
			node.href = 'javascript:ran.push("link")';
			document.body.append(node);
			node.click();
		});
		document.body.setAttribute('style', 'color: red');
		await new Promise((resolve) => setTimeout(resolve, 50));
		return { results, ran: globalThis.ran, color: getComputedStyle(document.body).color };
	});
	assert.deepEqual(out.ran, [], JSON.stringify(out.results));
	assert.notEqual(out.color, 'rgb(255, 0, 0)');
	for (const name of ['eval', 'Function', 'insertAdjacentHTML', 'parser', 'write']) assert.match(out.results[name], /Error/, name);
});

test('whoever has the port next gets a dead token, and nothing of this page answers for it', page, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const { page: window } = await open(t, server, { allows: [/Failed to load|ERR_/] });
	await begin(window);
	await box(window).fill('typed');
	const kept = await window.evaluate(async () => [Object.keys(localStorage), (await navigator.serviceWorker.getRegistrations()).length,
		(await caches.keys()).length, (await indexedDB.databases()).length, document.cookie]);
	assert.deepEqual(kept, [['token'], 0, 0, 0, '']);
	server.child.kill('SIGKILL');
	await server.done;
	await window.getByRole('status', { name: 'Connection' }).filter({ hasText: 'Reconnecting…' }).waitFor();
	assert.equal(await box(window).inputValue(), 'typed');
	const second = await serve(t, null, { home: server.home, listen: server.url });
	await window.getByRole('form', { name: 'Sign in' }).waitFor();
	assert.deepEqual(await window.evaluate(() => Object.keys(localStorage)), []);
	await window.getByRole('textbox', { name: 'Code' }).fill(second.link);
	await button(window, 'Sign in').click();
	await button(window, 'New session').waitFor();
});

test('guesses in the form are slowed down, and a right code passes', page, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const { page: window } = await open(t, server, { link: server.url, allows: [/401|429/] });
	const code = window.getByRole('textbox', { name: 'Code' });
	const alert = window.getByRole('form', { name: 'Sign in' }).getByRole('alert');
	for (let n = 0; n < 11; n++) {
		await code.fill('f'.repeat(32));
		const answer = window.waitForResponse('**/v1/login');
		await button(window, 'Sign in').click();
		await answer;
	}
	await alert.filter({ hasText: 'Too many attempts' }).waitFor();
	await code.fill(server.code);
	await button(window, 'Sign in').click();
	await button(window, 'New session').waitFor();
});
