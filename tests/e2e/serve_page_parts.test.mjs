// The parts of the page of codex serve, one by one: lists, cards, entries, keys, settings, notices. serve_page.test.mjs
// has whole tasks, serve_page_threats.test.mjs the attacks, serve_rows.test.mjs says which test holds which requirement.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { makeCertificates } from './lib/certificates.mjs';
import { call, forever, makeHome, needs, reply, rollouts, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { ECHO, configOf, itemCall } from './lib/mcp.mjs';
import { announced, article, axe, begin, box, button, readQr, region, send, sidewise, withSettings } from './lib/page.mjs';
import { LINK, ask, closeBrowser, needsBrowser, open, serve, signIn, watch } from './lib/serve.mjs';
import { lacksEmulator, startTerminal } from './lib/terminal.mjs';

const page = { ...needsBrowser, ...(needs('serve').skip && needs('serve')), timeout: 180_000 };
const EAGER = 'approval_policy = "untrusted"\nsandbox_mode = "workspace-write"\n';
after(closeBrowser);

const group = (window, name) => window.getByRole('group', { name, exact: true });

// ---- lists ----

test('the list names the state and the folder of each session, and opens it', page, async (t) => {
	const server = await serve(t, [
		{ when: { contains: 'ask me' }, ...run('touch a', { call_id: 'c1' }) },
		{ when: { contains: 'go on' }, ...reply({ delta: 'Working' }, { hang: true }) },
		{ when: { contains: 'short' }, ...say('Done.') },
	], { config: EAGER });
	const { page: window, faults } = await open(t, server);
	const sessions = window.getByRole('list', { name: 'Sessions', exact: true }).getByRole('listitem');
	const states = [['ask me', 'Waiting for you'], ['go on', 'Running'], ['short', 'Idle']];
	for (const [i, [prompt]] of states.entries()) {
		await begin(window);
		await send(window, prompt);
		await article(window, 'You').filter({ hasText: prompt }).waitFor();
		await button(window, 'Sessions').click();
		await sessions.nth(i).waitFor();
	}
	for (const [prompt, state] of states)
		await sessions.filter({ hasText: prompt }).filter({ hasText: state }).filter({ hasText: path.basename(server.cwd) }).waitFor();
	await window.waitForFunction(() => document.title === '(1) Codex');
	await axe(window, 'list');
	assert.equal(await sidewise(window), 0);
	await window.getByRole('link', { name: /ask me/ }).click();
	await group(window, 'Approval: command').waitFor();
	assert.equal(await window.getByRole('heading', { level: 1 }).textContent(), 'ask me');
	assert.deepEqual(faults, []);
});

/** Copies of a stored session under other ids. */
function copySessions(home, count) {
	const [file] = rollouts(home), id = /rollout-.{20}(.{36})\.jsonl$/.exec(file)[1];
	for (let n = 0; n < count; n++) {
		const other = id.slice(0, -4) + (0x1000 + n).toString(16);
		fs.writeFileSync(file.replace(id, other), fs.readFileSync(file, 'utf8').replaceAll(id, other));
	}
}

test('stored sessions are resumed with their past; More shows those before', page, async (t) => {
	const model = await startModel(t, [run('echo out', { call_id: 'c1' }), say('Old **answer**.'), say('New answer.')]);
	const home = makeHome(t, model);
	assert.equal((await runCodex(t, ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'old prompt'], { home })).code, 0);
	copySessions(home, 50);
	const server = await serve(t, null, { home });
	const { page: window, faults } = await open(t, server);
	const stored = window.getByRole('list', { name: 'Stored sessions' }).getByRole('button', { name: 'Resume old prompt' });
	await stored.nth(49).waitFor();
	assert.equal(await stored.count(), 50);
	await button(window, 'More').click();
	await stored.nth(50).waitFor();
	await button(window, 'More').waitFor({ state: 'hidden' });
	await stored.first().click();
	await article(window, 'You').filter({ hasText: 'old prompt' }).waitFor();
	await article(window, 'Command').filter({ hasText: 'echo out' }).getByText('Succeeded').waitFor();
	await article(window, 'Codex').locator('strong').waitFor();
	await send(window, 'new prompt');
	await article(window, 'Codex').filter({ hasText: 'New answer.' }).waitFor();
	assert.equal(await article(window, 'Codex').count(), 2);
	assert.deepEqual(faults, []);
});

test('a new session has the folder, the model, the approvals and the sandbox of its form', page, async (t) => {
	const server = await serve(t, [say('Here.')]), folder = fs.realpathSync(tempDir(t, 'other'));
	const { page: window, faults } = await open(t, server);
	await button(window, 'New session').click();
	const dialog = window.getByRole('dialog', { name: 'New session' });
	await axe(window, 'new session');
	await dialog.getByRole('textbox', { name: 'Folder' }).fill(`${folder}/missing`);
	await button(window, 'Start').click();
	await article(window, 'Error').waitFor();
	await button(window, 'Sessions').click();
	await button(window, 'New session').click();
	await dialog.getByRole('textbox', { name: 'Folder' }).fill(folder);
	await dialog.getByRole('textbox', { name: 'Model' }).fill('some-model');
	await dialog.getByRole('combobox', { name: 'Approvals' }).selectOption('never');
	await dialog.getByRole('combobox', { name: 'Sandbox' }).selectOption('read-only');
	await button(window, 'Start').click();
	await send(window, 'go');
	await article(window, 'Codex').filter({ hasText: 'Here.' }).waitFor();
	assert.equal(server.model.requests()[0].body.model, 'some-model');
	await button(window, 'Settings').click();
	for (const [name, value] of [['Approvals', 'never'], ['Sandbox', 'read-only']])
		assert.equal(await window.getByRole('dialog').getByRole('combobox', { name }).inputValue(), value);
	await button(window, 'Close').click();
	const { sessions } = (await ask({ url: server.url, token: await window.evaluate(() => localStorage.token) }, 'GET', '/v1/sessions')).json;
	assert.ok(sessions.some(({ cwd }) => cwd === folder));
	assert.deepEqual(faults, []);
});

// ---- cards ----

test('Approve for session, Always allow and Deny and stop', page, async (t) => {
	const touch = (id) => run('touch made', { call_id: id });
	const server = await serve(t, [touch('c1'), say('One.'), touch('c2'), say('Two.'), run('mkdir -p new', { call_id: 'c3' }), say('Three.'),
		run('mkdir -p new', { call_id: 'c4' }), say('Four.'), run('rmdir new', { call_id: 'c5' }), say('Never.')], { config: EAGER });
	const { page: window, faults } = await open(t, server);
	const answered = (text) => article(window, 'Codex').filter({ hasText: text }).waitFor();
	await begin(window);
	await send(window, 'first');
	await button(window, 'Approve for session').click();
	await answered('One.');
	await send(window, 'second');
	await answered('Two.'); // the same command is not asked again
	await send(window, 'third');
	await window.getByRole('button', { name: /^Always allow mkdir/ }).click();
	await answered('Three.');
	const rules = path.join(server.home, 'rules');
	assert.match(fs.readdirSync(rules).map((name) => fs.readFileSync(path.join(rules, name), 'utf8')).join(''), /mkdir/);
	await send(window, 'fourth');
	await answered('Four.'); // nor is what a rule allows
	await send(window, 'fifth');
	await button(window, 'Deny and stop').click();
	await article(window, 'Notice').getByText('Stopped').waitFor();
	await region(window, 'Waiting for you').waitFor({ state: 'hidden' });
	assert.equal(server.model.requests().length, 9);
	assert.ok(fs.existsSync(path.join(server.cwd, 'new')));
	assert.deepEqual(faults, []);
});

test('each of several open requests has its card, and its own answer', page, async (t) => {
	const schema = { type: 'object', properties: { word: { type: 'string', title: 'Word' } } };
	const tool = { ...ECHO, name: 'save' }, question = (message) => ({ tools: [tool], answers: { save: { ask: { message, requestedSchema: schema } } } });
	const server = await serve(t, [reply(itemCall('save', {}, 'c1', 'one'), itemCall('save', {}, 'c2', 'two')), say('Saved.')],
		{ config: `model = "gpt-5.2"\napproval_policy = "on-request"\n${configOf({ one: question('First?'), two: question('Second?') })}` });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	const cards = group(window, 'Question'), second = cards.filter({ hasText: 'two: Second?' });
	await second.waitFor();
	await cards.filter({ hasText: 'one: First?' }).waitFor();
	assert.equal(await cards.count(), 2);
	await second.getByRole('textbox', { name: 'Word' }).fill('mine');
	await second.getByRole('button', { name: 'Accept' }).click();
	await second.waitFor({ state: 'detached' });
	await cards.getByRole('button', { name: 'Decline' }).click();
	await article(window, 'Codex').filter({ hasText: 'Saved.' }).waitFor();
	await article(window, 'Tool call').first().waitFor();
	assert.equal(await article(window, 'Tool call').count(), 2);
	const { input } = server.model.requests()[1].body;
	const outputs = Object.fromEntries(input.filter(({ type }) => type === 'function_call_output').map((it) => [it.call_id, JSON.stringify(it.output)]));
	assert.match(outputs.c1, /decline/);
	assert.match(outputs.c2, /accept.*mine/s);
	assert.deepEqual(faults, []);
});

test('agents that ask under the same call id have a card each, and each is answered alone, in every browser', page, async (t) => {
	const of = (contains, lacks) => ({ contains, lacks: ['You are agent 0', ...lacks] });
	const touch = (name) => ({ call: 'exec_command', arguments: { cmd: `touch ${name}` }, call_id: 'c' });
	const server = await serve(t, [
		{ when: of(['make it', 'function_call_output'], []), reply: [{ message: 'Made.' }] },
		{ when: of(['make it'], ['function_call_output']), reply: [touch('of-child')] },
		reply({ call: 'subagent_spawn', arguments: { prompt: 'make it' } }), reply(touch('of-root')),
		reply({ call: 'subagent_await', arguments: {} }), say('Over.')], { config: `${EAGER}features.subagent_tools = true\n` });
	const one = await open(t, server);
	await begin(one.page);
	const two = await open(t, server, { link: await server.nextLink(), width: 1280, height: 800 });
	await send(one.page, 'go');
	await two.page.getByRole('link', { name: /Waiting for you/ }).click();
	const cardOf = (window, name) => group(window, 'Approval: command').filter({ hasText: name });
	for (const { page: window } of [one, two])
		for (const name of ['of-child', 'of-root']) await cardOf(window, name).waitFor();
	await button(cardOf(one.page, 'of-child'), 'Approve').click();
	for (const { page: window } of [one, two]) {
		await cardOf(window, 'of-child').waitFor({ state: 'detached' });
		assert.equal(await cardOf(window, 'of-root').count(), 1);
	}
	assert.equal(fs.existsSync(path.join(server.cwd, 'of-root')), false);
	await button(cardOf(two.page, 'of-root'), 'Deny').click();
	for (const { page: window, faults } of [one, two]) {
		await article(window, 'Codex').filter({ hasText: 'Over.' }).waitFor();
		assert.equal(await group(window, 'Approval: command').count(), 0);
		assert.deepEqual(faults, []);
	}
	assert.deepEqual(['of-child', 'of-root'].map((name) => fs.existsSync(path.join(server.cwd, name))), [true, false]);
});

test('a patch and a command of two agents under the same call id are answered alone', page, async (t) => {
	const of = (contains, lacks) => ({ contains, lacks: ['You are agent 0', ...lacks] });
	const input = ['*** Begin Patch', '*** Add File: of-child', '+x', '*** End Patch', ''].join('\n');
	const server = await serve(t, [
		{ when: of(['make it', 'custom_tool_call_output'], []), reply: [{ message: 'Made.' }] },
		{ when: of(['make it'], ['custom_tool_call_output']), reply: [{ custom: 'apply_patch', input, call_id: 'c' }] },
		reply({ call: 'subagent_spawn', arguments: { prompt: 'make it' } }),
		reply({ call: 'exec_command', arguments: { cmd: 'touch of-root' }, call_id: 'c' }),
		reply({ call: 'subagent_await', arguments: {} }), say('Over.')], { config: `${EAGER}features.subagent_tools = true\n` });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	const patch = group(window, 'Approval: file change'), command = group(window, 'Approval: command');
	await patch.waitFor();
	await command.waitFor();
	await button(patch, 'Approve').click();
	await patch.waitFor({ state: 'detached' });
	assert.equal(fs.existsSync(path.join(server.cwd, 'of-root')), false);
	await button(command, 'Deny').click();
	await article(window, 'Codex').filter({ hasText: 'Over.' }).waitFor();
	assert.deepEqual(['of-child', 'of-root'].map((name) => fs.existsSync(path.join(server.cwd, name))), [true, false]);
	assert.deepEqual(faults, []);
});

test('an agent that asks again under the same call id has a card of the request that is open', page, async (t) => {
	const of = (contains, lacks) => ({ contains, lacks: ['You are agent 0', ...lacks] });
	const touch = (name) => ({ call: 'exec_command', arguments: { cmd: `touch ${name}` }, call_id: 'c' });
	const server = await serve(t, [
		{ when: of(['make it', 'function_call_output'], []), reply: [touch('second')] },
		{ when: of(['make it'], ['function_call_output']), reply: [touch('first')] },
		reply({ call: 'subagent_spawn', arguments: { prompt: 'make it' } }),
		reply({ call: 'subagent_await', arguments: {} }), say('Over.')], { config: `${EAGER}features.subagent_tools = true\n` });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	const cards = group(window, 'Approval: command');
	await button(cards.filter({ hasText: 'first' }), 'Approve').click();
	for (const isReloaded of [false, true]) {
		if (isReloaded) await window.reload();
		await cards.filter({ hasText: 'second' }).waitFor();
		assert.deepEqual([await cards.count(), await cards.filter({ hasText: 'first' }).count()], [1, 0]);
	}
	assert.deepEqual(['first', 'second'].map((name) => fs.existsSync(path.join(server.cwd, name))), [true, false]);
	await button(cards, 'Deny and stop').click();
	await cards.waitFor({ state: 'detached' });
	assert.equal(fs.existsSync(path.join(server.cwd, 'second')), false);
	assert.deepEqual(faults, []);
});

test('the buttons of a new card wait for half a second, and come back if the answer was not sent', page, async (t) => {
	const server = await serve(t, [run('touch a', { call_id: 'c1' }), say('Done.')], { config: EAGER });
	const { page: window, context, faults } = await open(t, server, { allows: [/ERR_/] });
	await begin(window);
	await window.evaluate(() => {
		globalThis.seen = [];
		new MutationObserver(() => {
			const one = document.querySelector('.card button');
			if (one) globalThis.seen.push([one.disabled, performance.now()]);
		}).observe(document.body, { subtree: true, childList: true, attributes: true });
	});
	await box(window).focus();
	await send(window, 'go');
	await box(window).focus();
	await window.locator('.card button:enabled').first().waitFor();
	const seen = await window.evaluate(() => globalThis.seen);
	assert.ok(seen[0][0], 'a button was enabled at once');
	assert.ok(seen.find(([disabled]) => !disabled)[1] - seen[0][1] >= 400);
	assert.equal(await window.evaluate(() => document.activeElement.id), 'message');
	await context.route('**/submissions?*', (route) => route.abort());
	await button(window, 'Approve').click();
	await window.getByRole('alert').filter({ hasText: 'Not sent: ' }).waitFor();
	await context.unroute('**/submissions?*');
	await button(window, 'Approve').click();
	await article(window, 'Codex').filter({ hasText: 'Done.' }).waitFor();
	assert.deepEqual(faults, []);
});

// ---- entries ----

test('a command shows its output as it comes, cut to its end until asked', page, async (t) => {
	const folder = tempDir(t), fifo = path.join(folder, 'gate');
	execFileSync('mkfifo', [fifo]);
	const server = await serve(t, [run(`seq 1 300; read -r _ < ${fifo}; exit 3`, { call_id: 'c1', yield_time_ms: 30000 }), say('Done.')],
		{ config: 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n' });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	const entry = article(window, 'Command');
	await entry.getByText('Running').waitFor();
	await entry.locator('pre.output').filter({ hasText: '300' }).waitFor();
	assert.equal((await entry.locator('pre.output').textContent()).split('\n').length, 200);
	await button(window, 'Show all 300 lines').click();
	assert.equal((await entry.locator('pre.output').textContent()).split('\n').length, 300);
	fs.writeFileSync(fifo, 'x\n');
	await entry.getByText('Exit status 3').waitFor();
	assert.deepEqual(faults, []);
});

test('searches, warnings, errors and ends have entries', page, async (t) => {
	const server = await serve(t, [
		reply({ item: { type: 'web_search_call', id: 'w1', status: 'completed', action: { type: 'search', query: 'cats' } } }, { message: 'Found.' }),
		reply({ status: 400, body: { error: { message: 'no such model' } } }),
	]);
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'search');
	await article(window, 'Web search').filter({ hasText: 'cats' }).waitFor();
	await article(window, 'Codex').filter({ hasText: 'Found.' }).waitFor();
	await send(window, 'fail');
	await article(window, 'Error').filter({ hasText: 'no such model' }).waitFor();
	assert.deepEqual(faults, []);
});

test('a message that came in pieces ends as the same elements as one that came whole', page, async (t) => {
	const text = '# A\n\n- one\n\n- two\n  - deep\n\n      code\n\n1. x\n2. y\n\n> quote\n> more\n\n```sh\na\n\nb\n```\n\n~~~\nopen\n~~~\n\n' +
		'| a | b |\n|---|---|\n| `c` | **d** |\n\n***\n\nline\nbreak https://example.org/x, *e* and \\*f\\*.';
	const server = await serve(t, [reply({ message: text, chunks: text.length }), say(text)]);
	const { page: window, faults } = await open(t, server);
	await begin(window);
	for (const n of [0, 1]) {
		await send(window, `go ${n}`);
		await window.waitForFunction((count) => document.querySelectorAll('article[aria-label=Codex]:not([aria-busy])').length === count + 1 &&
			document.querySelector('#stop').hidden, n);
	}
	const [pieces, whole] = await window.locator('article[aria-label=Codex] .md').evaluateAll((nodes) => nodes.map((node) => node.innerHTML));
	assert.equal(pieces, whole);
	assert.match(whole, /<h3>A<\/h3>.*<li>.*deep.*<blockquote>.*<table>.*<hr>/s);
	assert.deepEqual(faults, []);
});

test('code is copied by its button, with and without the interface for the clipboard', page, async (t) => {
	const server = await serve(t, [say('```\nthe code\n```')]);
	const { page: window, context, faults } = await open(t, server);
	await context.grantPermissions(['clipboard-read', 'clipboard-write']);
	await begin(window);
	await send(window, 'go');
	const copied = async () => {
		await button(window, 'Copy').click();
		await announced(window, 'Copied');
		return window.evaluate(() => navigator.clipboard.readText());
	};
	assert.equal(await copied(), 'the code');
	await window.evaluate(async () => {
		await navigator.clipboard.writeText('other');
		navigator.clipboard.writeText = () => Promise.reject(new Error('not here'));
	});
	assert.equal(await copied(), 'the code');
	assert.deepEqual(faults, []);
});

test('the end of a session leads to the list, and dropped events are noted', page, async (t) => {
	const server = await serve(t, [say('Hello.', { chunks: 9 })], { args: ['--keep-events', '3'] });
	await signIn(server);
	const { json: { session_id: id } } = await ask(server, 'POST', '/v1/sessions');
	const events = await watch(server, `?session=${id}&after=0`);
	const op = { type: 'user_input', items: [{ type: 'text', text: 'hi' }] };
	await ask(server, 'POST', `/v1/sessions/${id}/submissions`, { body: JSON.stringify({ id: '1', op }) });
	await events.until((line) => line.msg?.type === 'task_complete');
	const { page: window, faults } = await open(t, server, { link: await server.nextLink() });
	await window.getByRole('link', { name: /hi/ }).click();
	await article(window, 'Notice').filter({ hasText: 'Earlier events are no longer kept.' }).waitFor();
	await ask(server, 'DELETE', `/v1/sessions/${id}`);
	await window.getByText('This session has ended').waitFor();
	await window.getByText('No session is open.').waitFor(); // the list of sessions changes after the session's last event
	assert.deepEqual(faults, []);
});

// ---- keys, targets, settings ----

test('Enter sends and Shift+Enter begins a line; on a touch screen Enter begins one and Ctrl+Enter sends', page, async (t) => {
	const server = await serve(t, [forever(say('Yes.'))]);
	for (const mobile of [false, true]) {
		const { page: window, faults } = await open(t, server, { link: await server.nextLink(), mobile, isMobile: mobile });
		await begin(window);
		await box(window).focus();
		await window.keyboard.type('one');
		await window.keyboard.press(mobile ? 'Enter' : 'Shift+Enter');
		await window.keyboard.type('two');
		assert.equal(await box(window).inputValue(), 'one\ntwo');
		await window.reload();
		assert.equal(await box(window).inputValue(), 'one\ntwo'); // a draft
		await box(window).focus();
		await window.keyboard.press(mobile ? 'Control+Enter' : 'Enter');
		await article(window, 'You').filter({ hasText: 'two' }).waitFor();
		await article(window, 'Codex').filter({ hasText: 'Yes.' }).waitFor();
		assert.equal(await box(window).inputValue(), '');
		await window.reload();
		await article(window, 'Codex').waitFor();
		assert.equal(await box(window).inputValue(), '');
		assert.deepEqual(faults, []);
	}
});

test('all controls are reached by Tab, with a visible focus, and are large enough', page, async (t) => {
	const server = await serve(t, [run('touch a', { call_id: 'c1' }), say('Done.')], { config: EAGER });
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'go');
	await window.locator('.card button:enabled').first().waitFor();
	const measure = () => window.evaluate(() => [...document.querySelectorAll('button, input, textarea, select, a')]
		.filter((node) => node.checkVisibility()).map((node) => {
			const { width, height } = (node.closest('label') ?? node).getBoundingClientRect();
			return [node.textContent || node.getAttribute('aria-label') || node.id, Math.round(width), Math.round(height)];
		}));
	const targets = await measure();
	assert.ok(targets.every(([, width, height]) => width >= 24 && height >= 24), JSON.stringify(targets));
	assert.ok(targets.filter(([name]) => /Approve|Deny|Send|Sessions|Settings|Changes|Stop/.test(name)).every(([, , height]) => height >= 44));
	const reached = new Set();
	await window.evaluate(() => document.activeElement.blur());
	for (let n = 0; n < 30; n++) {
		await window.keyboard.press('Tab');
		const [name, outline] = await window.evaluate(() => {
			const node = document.activeElement;
			return [node.getAttribute('aria-label') || node.textContent, getComputedStyle(node).outlineStyle];
		});
		reached.add(name);
		if (name && await window.evaluate(() => document.activeElement !== document.body)) assert.notEqual(outline, 'none', name);
	}
	for (const name of ['Sessions', 'Changes', 'Settings', 'Conversation', 'Waiting for you', 'Approve', 'Approve for session', 'Deny',
		'Deny and stop', 'Message', 'Attach image', 'Send', 'Stop'])
		assert.ok(reached.has(name), `${name} was not reached: ${[...reached].join(', ')}`);
	const heights = await window.evaluate(() => ['title', 'back', 'changing', 'setting'].map((id) => {
		const { width, height } = document.getElementById(id).getBoundingClientRect();
		return [id, width, height];
	}));
	assert.ok(heights[0][1] >= 60 && heights.slice(1).every(([, , height]) => height < 60), JSON.stringify(heights));
	await button(window, 'Approve').press('Enter');
	await article(window, 'Codex').filter({ hasText: 'Done.' }).waitFor();
	assert.ok((await window.getByRole('log', { name: 'Conversation' }).boundingBox()).height >= 150);
	assert.deepEqual(faults, []);
});

test('landmarks, language and what is announced', page, async (t) => {
	const server = await serve(t, [run('touch a', { call_id: 'c1' }), say('Done.')], { config: EAGER });
	const { page: window, faults } = await open(t, server);
	await window.getByRole('banner').getByRole('heading', { level: 1, name: 'Codex' }).waitFor();
	await window.getByRole('main').waitFor();
	await window.getByRole('status', { name: 'Connection' }).filter({ hasText: 'Connected' }).waitFor();
	assert.equal(await window.evaluate(() => document.documentElement.lang), 'en');
	await begin(window);
	await window.evaluate(() => {
		globalThis.spoken = [];
		new MutationObserver(() => globalThis.spoken.push(document.getElementById('said').textContent))
			.observe(document.getElementById('said'), { childList: true });
	});
	await send(window, 'go');
	await announced(window, 'Approval needed: command');
	await button(window, 'Approve').click();
	await announced(window, 'Codex has answered');
	const spoken = (await window.evaluate(() => globalThis.spoken)).filter(Boolean);
	assert.deepEqual(spoken.filter((text, i) => text !== spoken[i - 1]).at(-1), 'Codex has answered');
	assert.ok(spoken.length <= 4, spoken.join(' / '));
	assert.deepEqual(faults, []);
});

test('the link of a device has a QR code, on the page and in the terminal', page, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const { page: window, faults } = await open(t, server);
	await button(window, 'Settings').click();
	await button(window, 'Pair a device').click();
	const link = await window.getByRole('status', { name: 'Pairing link' }).textContent();
	assert.match(link, LINK);
	const image = window.getByRole('img', { name: 'QR code of the link' });
	if (!(await image.count())) return t.skip('libqrencode is not installed');
	const d = await image.locator('path').getAttribute('d');
	const size = Number((await image.getAttribute('viewBox')).split(' ')[2]) - 4;
	const rows = Array.from({ length: size }, () => Array(size).fill('0'));
	for (const [, x, y] of d.matchAll(/M(\d+) (\d+)h/g)) rows[y][x] = '1';
	assert.equal(readQr(rows.map((row) => row.join(''))), link);
	assert.deepEqual(faults, []);
	if (lacksEmulator()) return undefined;
	const term = await startTerminal(t, server.model, ['serve', '--listen', 'http://127.0.0.1:0'], { rows: 40, home: server.home });
	await term.until(/#code=[0-9a-f]{32}[^]*[▀▄█].*\n\s*\n?[^]*$/);
	await term.until(/(?:[▀▄█ ]{29,}\n?){16,}/);
	const lines = term.lines(), at = lines.findIndex((line) => LINK.test(line));
	const drawn = lines.slice(at + 1).filter((line) => /[▀▄█]/.test(line));
	const halves = drawn.map((line) => [...line.padEnd(60)].map((c) => [' ▀█'.indexOf(c) > 0, ' ▄█'.indexOf(c) > 0]));
	const dark = halves.flatMap((row) => [row.map(([upper]) => upper), row.map(([, lower]) => lower)]);
	const width = (drawn[0].length - 2);
	assert.equal(readQr(dark.slice(0, width).map((row) => row.slice(2, 2 + width).map(Number).join(''))), lines[at].trim());
	term.type('\r');
	await term.until(/#code=[^]*#code=/);
	return undefined;
});

// ---- notifications, https ----

test('a hidden page notifies once for each request, without its content, and only on wish', page, async (t) => {
	const server = await serve(t, [run('touch a', { call_id: 'c1' }), say('One.'), run('touch b', { call_id: 'c2' }), say('Two.')], { config: EAGER });
	const { page: window, context, faults } = await open(t, server, { link: null });
	await context.addInitScript(() => {
		globalThis.notes = [];
		globalThis.Notification = class {
			static permission = 'granted';
			static requestPermission = async () => 'granted';
			constructor(...args) {
				globalThis.notes.push(args);
			}
		};
		Object.defineProperty(document, 'hidden', { get: () => globalThis.isAway ?? false });
	});
	await window.goto(server.link);
	await begin(window);
	const leave = () => window.evaluate(() => (globalThis.isAway = true));
	const notes = () => window.evaluate(() => globalThis.notes);
	await leave();
	await send(window, 'go');
	await button(window, 'Approve').click();
	await article(window, 'Codex').filter({ hasText: 'One.' }).waitFor();
	assert.deepEqual(await notes(), []);
	await withSettings(window, (dialog) => dialog.getByRole('checkbox', { name: 'Notify me when something waits' }).check());
	await send(window, 'again');
	await group(window, 'Approval: command').waitFor();
	assert.deepEqual(await notes(), [['Codex waits for you']]);
	await window.waitForFunction(() => document.title.startsWith('(1) '));
	await window.reload();
	await group(window, 'Approval: command').waitFor();
	assert.deepEqual(await notes(), []);
	assert.deepEqual(faults, []);
});

test('the page over https: HTTP/2, sign-in and a task; plain text on the port is refused', page, async (t) => {
	const files = makeCertificates(t);
	const args = ['--tls-cert', files.serverCert, '--tls-key', files.serverKey];
	const server = await serve(t, [say('Encrypted.')], { listen: 'https://127.0.0.1:0', args });
	assert.match(server.link, /^https:/);
	const { page: window, faults } = await open(t, server, { ignoreHTTPSErrors: true });
	await begin(window);
	await send(window, 'go');
	await article(window, 'Codex').filter({ hasText: 'Encrypted.' }).waitFor();
	const protocols = await window.evaluate(() =>
		[...new Set(performance.getEntriesByType('resource').map((entry) => entry.nextHopProtocol).filter(Boolean))]);
	assert.deepEqual(protocols, ['h2']);
	assert.deepEqual(faults, []);
	await assert.rejects(fetch(server.url.replace('https', 'http')));
});
