// The page of codex serve in a real browser: found by role and name, as a screen reader finds it.

import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import test, { after } from 'node:test';
import { call, forever, needs, patch, reply, run, say } from './lib/codex.mjs';
import { article, axe, begin, box, button, longestTask, send, sidewise } from './lib/page.mjs';
import { ask, browser, closeBrowser, needsBrowser, open, serve, signIn, watch } from './lib/serve.mjs';

const page = { ...needsBrowser, ...(needs('serve').skip && needs('serve')), timeout: 180_000 };
const EAGER = 'approval_policy = "untrusted"\nsandbox_mode = "workspace-write"\n';
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
after(closeBrowser);

test('a link signs in once; the form takes a code or a whole link', page, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const one = await open(t, server);
	await one.page.getByRole('list', { name: 'Sessions', exact: true }).waitFor({ state: 'attached' });
	assert.equal(new URL(one.page.url()).hash, '#/');
	assert.deepEqual(
		await one.page.evaluate(() => [
			Object.values(localStorage).map((value) => value.length),
			document.cookie
		]),
		[[64], '']
	);
	const two = await open(t, server, { allows: [/401/] });
	const asked = [];
	two.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
	const alert = two.page.getByRole('form', { name: 'Sign in' }).getByRole('alert');
	await alert.filter({ hasText: /wrong.*used.*too old/ }).waitFor();
	await two.page.getByRole('textbox', { name: 'Code' }).fill(await server.nextLink());
	await axe(two.page, 'sign in');
	await button(two.page, 'Sign in').click();
	await button(two.page, 'New session').waitFor();
	assert.equal(asked.filter((path) => path.startsWith('/v1/'))[0], '/v1/login');
	await one.page.reload();
	await button(one.page, 'Settings').click();
	await button(one.page, 'Pair a device').click();
	const link = await one.page.getByRole('status', { name: 'Pairing link' }).textContent();
	const three = await open(t, server, { link });
	await button(three.page, 'New session').waitFor();
	await button(one.page, 'Close').click();
	await button(one.page, 'Settings').click();
	const devices = one.page.getByRole('list', { name: 'Devices' }).getByRole('button');
	await devices.nth(2).waitFor();
	await devices.nth(2).click();
	await three.page.getByRole('form', { name: 'Sign in' }).waitFor();
	await button(one.page, 'Sign out').click();
	await one.page.getByRole('form', { name: 'Sign in' }).waitFor();
	for (const { faults } of [one, two, three])
		assert.deepEqual(
			faults.filter((fault) => !/401/.test(fault)),
			[]
		);
});

test('a task from prompt to answer: Markdown, plan, diff, approval, changes', page, async (t) => {
	const markdown =
		'## Found\n\nIt is **bold** and *soft* `code`.\n\n- one\n- two\n\n1. first\n2. second\n\n' +
		'> quoted\n\n| a | b |\n|---|---|\n| c | d |\n\n---\n\n' +
		'```js\nlet a;\n\nlet b;\n```\n\n[here](https://example.org/x) and https://example.org/y.';
	const server = await serve(
		t,
		[
			reply(
				{ reasoning: 'Thinking.' },
				{ message: markdown, chunks: markdown.length },
				{
					call: 'update_plan',
					arguments: {
						plan: [
							{ step: 'look', status: 'completed' },
							{ step: 'fix', status: 'in_progress' },
							{ step: 'test', status: 'pending' }
						]
					}
				}
			),
			patch('*** Add File: new.txt', '+hello'),
			run('touch t; echo out; false', { call_id: 'c1' }),
			say('Finished.')
		],
		{ config: EAGER }
	);
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'do it');
	await article(window, 'You').filter({ hasText: 'do it' }).waitFor();
	const card = window
		.getByRole('region', { name: 'Waiting for you' })
		.getByRole('group', { name: 'Approval: file change' });
	await card.getByText('+hello').waitFor();
	await window.waitForFunction(() => document.title === '(1) do it');
	const answer = article(window, 'Codex').first();
	const tags = await answer.evaluate((node) =>
		[...node.querySelectorAll('h4,strong,em,p>code,ul>li,ol>li,blockquote,th,td,hr,pre,a')]
			.map((it) => it.tagName)
			.join(' ')
	);
	assert.equal(tags, 'H4 STRONG EM CODE LI LI LI LI BLOCKQUOTE TH TH TD TD HR PRE A A');
	assert.equal(
		await answer.getByRole('region', { name: /^Code/ }).locator('pre').textContent(),
		'let a;\n\nlet b;'
	);
	const link = answer.getByRole('link', { name: 'here' });
	assert.deepEqual(
		[await link.getAttribute('href'), await link.getAttribute('rel')],
		['https://example.org/x', 'noopener noreferrer nofollow']
	);
	assert.deepEqual(
		await window.getByRole('region', { name: 'Plan' }).getByRole('listitem').allTextContents(),
		['Done: look', 'In progress: fix', 'To do: test']
	);
	assert.equal(await sidewise(window), 0);
	await axe(window, 'card');
	assert.notEqual(await window.evaluate(() => document.activeElement?.textContent), 'Approve');
	await button(window, 'Approve').click();
	await article(window, 'File change').getByText('Applied').waitFor();
	await window
		.getByRole('group', { name: 'Approval: command' })
		.getByText('touch t; echo out; false')
		.waitFor();
	await article(window, 'Command').getByText('Waiting for approval').waitFor();
	await button(window, 'Approve').click();
	await article(window, 'Command').getByText('Exit status 1').waitFor();
	await article(window, 'Codex').filter({ hasText: 'Finished.' }).waitFor();
	assert.equal(await window.getByRole('region', { name: 'Waiting for you' }).isVisible(), false);
	const changes = button(window, 'Changes');
	assert.equal(await changes.getAttribute('aria-expanded'), 'false');
	await changes.click();
	await window
		.getByRole('region', { name: 'Changes' })
		.getByRole('group', { name: 'new.txt' })
		.getByText('+hello')
		.waitFor();
	assert.equal(await changes.getAttribute('aria-expanded'), 'true');
	await axe(window, 'light');
	await button(window, 'Settings').click();
	await window.getByRole('combobox', { name: 'Theme' }).selectOption('dark');
	await axe(window, 'settings');
	await window.keyboard.press('Escape');
	assert.equal(await window.evaluate(() => document.activeElement.textContent), 'Settings');
	await axe(window, 'dark');
	const before = await window.locator('article').allTextContents();
	await window.reload();
	await article(window, 'Codex').filter({ hasText: 'Finished.' }).waitFor();
	assert.deepEqual(await window.locator('article').allTextContents(), before);
	assert.deepEqual(faults, []);
});

test('two browsers: what one has answered closes in the other', page, async (t) => {
	const server = await serve(t, [run('touch a', { call_id: 'c1' }), say('Done.')], { config: EAGER });
	const one = await open(t, server);
	await begin(one.page);
	const two = await open(t, server, { link: await server.nextLink(), width: 1280, height: 800 });
	await send(one.page, 'go');
	await two.page.getByRole('link', { name: /go.*Waiting for you/s }).click();
	for (const { page: window } of [one, two])
		await window.getByRole('group', { name: 'Approval: command' }).waitFor();
	await button(two.page, 'Deny').click();
	for (const { page: window, faults } of [one, two]) {
		await window.getByRole('group', { name: 'Approval: command' }).waitFor({ state: 'detached' });
		await article(window, 'Command').getByText('Exit status -1').waitFor();
		await article(window, 'Codex').filter({ hasText: 'Done.' }).waitFor();
		assert.deepEqual(faults, []);
	}
});

test('a question is answered, and a task is stopped', page, async (t) => {
	const questions = [
		{
			id: 'q1',
			header: 'Size',
			question: 'Which size?',
			options: [
				{ label: 'Small', description: 'less' },
				{ label: 'Large', description: 'more' }
			]
		},
		{
			id: 'q2',
			header: 'Name',
			question: 'What name?',
			options: [{ label: 'Any', description: 'any' }]
		}
	];
	const server = await serve(
		t,
		[
			call('request_user_input', { questions }, { call_id: 'r1' }),
			reply({ delta: 'Half an ' }, { hang: true })
		],
		{ config: 'features.default_mode_request_user_input = true\n' }
	);
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await send(window, 'ask me');
	const card = window.getByRole('group', { name: 'Question' });
	await card.getByRole('radio', { name: 'Large' }).check();
	await card.getByRole('textbox', { name: 'Other answer' }).last().fill('mine');
	await axe(window, 'question');
	await button(window, 'Answer').click();
	await card.waitFor({ state: 'detached' });
	const busy = article(window, 'Codex');
	await busy.filter({ hasText: 'Half an' }).waitFor();
	assert.equal(await busy.getAttribute('aria-busy'), 'true');
	const output = server.model.requests()[1].body.input.at(-1).output;
	assert.deepEqual(JSON.parse(output).answers.q1, { answers: ['Large'] });
	assert.match(output, /mine/);
	await button(window, 'Stop').click();
	await article(window, 'Notice').getByText('Stopped').waitFor();
	assert.equal(await button(window, 'Stop').isVisible(), false);
	assert.equal(await busy.getAttribute('aria-busy'), null);
	assert.deepEqual(faults, []);
});

test('a proposed plan is implemented, settings are changed, an image is sent', page, async (t) => {
	const server = await serve(t, [
		say('Preface\n<proposed_plan>\n# Plan\n- step\n</proposed_plan>\n'),
		say('Implemented.'),
		say('Seen.')
	]);
	const { page: window, faults } = await open(t, server);
	await begin(window);
	await button(window, 'Settings').click();
	await window.getByRole('checkbox', { name: 'Plan mode' }).check();
	await window
		.getByRole('status', { name: 'Announcements' })
		.filter({ hasText: 'Saved' })
		.waitFor({ state: 'attached' });
	await button(window, 'Close').click();
	await send(window, 'plan it');
	await article(window, 'Proposed plan').getByRole('heading', { name: 'Plan' }).waitFor();
	await button(window, 'Implement this plan').click();
	await article(window, 'You').filter({ hasText: 'Implement the plan.' }).waitFor();
	await article(window, 'Codex').filter({ hasText: 'Implemented.' }).waitFor();
	await button(window, 'Settings').click();
	await window.getByRole('combobox', { name: 'Sandbox' }).selectOption('read-only');
	await window.getByRole('combobox', { name: 'Effort' }).selectOption('high');
	await button(window, 'Close').click();
	const chooser = window.waitForEvent('filechooser');
	await button(window, 'Attach image').click();
	await (
		await chooser
	).setFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from(PNG, 'base64') });
	await window.getByRole('img', { name: 'Image to send' }).waitFor();
	await send(window, 'look');
	await window.getByRole('img', { name: 'Attached image' }).waitFor();
	await article(window, 'Codex').filter({ hasText: 'Seen.' }).waitFor();
	const { body } = server.model.requests()[2];
	assert.equal(body.reasoning.effort, 'high');
	assert.match(JSON.stringify(body.input), new RegExp(PNG.slice(0, 40)));
	assert.deepEqual(faults, []);
});

/** Passes connections on, until they are cut. */
async function startRelay(t, port) {
	const sockets = new Set();
	let isCut = false;
	const server = net.createServer((client) => {
		if (isCut) {
			client.destroy();
			return;
		}
		const other = net.connect(port, '127.0.0.1');
		for (const one of [client, other]) {
			sockets.add(one);
			one.on('error', () => {}).on('close', () => {
				client.destroy();
				other.destroy();
			});
		}
		client.pipe(other).pipe(client);
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	const cut = (is) => {
		isCut = is;
		if (is) for (const socket of sockets) socket.destroy();
	};
	t.after(() => {
		cut(true);
		server.close();
	});
	return { port: server.address().port, cut };
}

test('after a lost connection nothing is missing or twice, and a message is sent once', page, async (t) => {
	const parts = Array.from({ length: 40 }, (_, i) => `part ${i}. `);
	const server = await serve(
		t,
		[
			reply(
				{ delta: parts.slice(0, 20).join('') },
				{ gate: 'on' },
				{ delta: parts.slice(20).join('') }
			),
			say('Second.')
		],
		{ args: ['--allow-host', '127.0.0.1'] }
	);
	const relay = await startRelay(t, new URL(server.url).port);
	const seen = { ...server, url: `http://127.0.0.1:${relay.port}` };
	const { page: window, faults } = await open(t, seen, {
		link: server.link.replace(server.url, seen.url),
		allows: [/Failed to load|ERR_/]
	});
	await begin(window);
	await send(window, 'go');
	await article(window, 'Codex').filter({ hasText: 'part 19.' }).waitFor();
	relay.cut(true);
	await window.getByRole('status', { name: 'Connection' }).filter({ hasText: 'Reconnecting…' }).waitFor();
	await server.model.openGate('on');
	await box(window).fill('typed');
	await button(window, 'Send').click();
	await window.getByRole('alert').filter({ hasText: 'Not sent: ' }).waitFor();
	assert.equal(await box(window).inputValue(), 'typed');
	relay.cut(false);
	await window.getByRole('status', { name: 'Connection' }).filter({ hasText: 'Connected' }).waitFor();
	await article(window, 'Codex').filter({ hasText: 'part 39.' }).waitFor();
	assert.equal(
		(await article(window, 'Codex').first().locator('.md').textContent()).trim(),
		parts.join('').trim()
	);
	await button(window, 'Send').click();
	await article(window, 'Codex').filter({ hasText: 'Second.' }).waitFor();
	assert.equal(await article(window, 'You').filter({ hasText: 'typed' }).count(), 1);
	assert.deepEqual(faults, []);
	server.child.kill('SIGKILL');
	await window.getByRole('status', { name: 'Connection' }).filter({ hasText: 'Reconnecting…' }).waitFor();
});

// ---- attacks ----

const EVIL =
	'<img src=x onerror=alert(1)><script>alert(2)</script><iframe src=javascript:alert(3)></iframe><b onclick=alert(4)>x</b>';
const LINKS = [
	'javascript:alert(1)',
	'JaVaScRiPt:alert(1)',
	' javascript:alert(1)',
	'java\tscript:alert(1)',
	'&#106;avascript:alert(1)',
	'data:text/html,x',
	'vbscript:x',
	'file:///etc/passwd',
	'//evil.example/x',
	'/relative',
	'x/y',
	'ftp://evil.example'
];

test('markup, addresses and hidden characters of a model are text', page, async (t) => {
	const text =
		`${EVIL}\n\n${LINKS.map((link, i) => `[l${i}](${link}) <${link}>`).join('\n\n')}\n\n` +
		`![p](https://evil.example/p.png) ![d](data:image/svg+xml;base64,AAAA)\n\n` +
		`[${EVIL}](https://example.org/)\n\n\`\`\`html\n${EVIL}\n\`\`\`\n\n| ${EVIL} |\n|---|\n| x |`;
	const command = `printf '%s' '${EVIL.replace(/'/g, '')}' # \u202e\u200b\ufeff ${'y'.repeat(5000)} end`;
	const server = await serve(
		t,
		[
			reply(
				{ reasoning: EVIL },
				{ message: text, chunks: text.length },
				{ call: 'update_plan', arguments: { plan: [{ step: EVIL, status: 'pending' }] } }
			),
			patch(`*** Add File: ${EVIL.replaceAll('/', '')}`, `+${EVIL}`),
			run(command, { call_id: 'c1' }),
			say('Done.')
		],
		{ config: EAGER }
	);
	const { page: window, faults } = await open(t, server);
	const checkDocument = async (what) => {
		const bad = await window.evaluate(() =>
			[
				...document.querySelectorAll(
					'main img, main iframe, main script, main b, [onclick], [onerror], [style]'
				)
			]
				.map((node) => node.outerHTML)
				.concat(
					[...document.querySelectorAll('main a')]
						.map((node) => node.getAttribute('href'))
						.filter(
							(href) =>
								!/^(https?:\/\/example\.org|https:\/\/evil\.example\/p\.png|#\/s\/)/.test(
									href
								)
						)
				)
		);
		assert.deepEqual(bad, [], what);
	};
	await begin(window);
	await send(window, EVIL);
	await window.getByRole('group', { name: 'Approval: file change' }).waitFor();
	await checkDocument('card');
	await button(window, 'Approve').click();
	const card = window.getByRole('group', { name: 'Approval: command' });
	await card.waitFor();
	const shown = await card.locator('pre').textContent();
	assert.ok(
		shown.includes('\\u202e\\u200b\\ufeff') &&
			shown.endsWith('end') &&
			shown.length > 5000 &&
			!/[\u202e\u200b\ufeff]/.test(shown)
	);
	await button(window, 'Deny').scrollIntoViewIfNeeded();
	assert.ok((await button(window, 'Approve').boundingBox()).y < 640);
	assert.equal(await sidewise(window), 0);
	await button(window, 'Deny').click();
	await article(window, 'Codex').filter({ hasText: 'Done.' }).waitFor();
	await button(window, 'Changes').click();
	await checkDocument('all');
	assert.ok((await window.getByRole('heading', { level: 1 }).textContent()).startsWith('<img src=x'));
	assert.ok((await window.title()).startsWith('<img src=x'));
	await button(window, 'Sessions').click();
	await checkDocument('list');
	assert.deepEqual(faults, []);
});

test('the policy holds if a script is there after all, and no other page can use this one', page, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const { page: window } = await open(t, server);
	await button(window, 'New session').waitFor();
	const results = await window.evaluate(async () => {
		const tries = {
			html: () => {
				document.body.innerHTML = '<b>x</b>';
			},
			worker: () => new Worker('/app.js'),
			script: () => {
				document.createElement('script').text = '1';
			}
		};
		const out = {};
		for (const [name, run] of Object.entries(tries))
			try {
				run();
				out[name] = 'ran';
			} catch (error) {
				out[name] = error.name;
			}
		out.fetch = await fetch('https://127.0.0.1:1/').then(
			() => 'ran',
			(error) => error.name
		);
		return out;
	});
	for (const [name, result] of Object.entries(results)) assert.notEqual(result, 'ran', name);
	const other = http.createServer((request, answer) =>
		answer.writeHead(200, { 'content-type': 'text/html' }).end('<title>other</title>')
	);
	await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
	t.after(() => other.close());
	const foreign = await (await browser()).newContext();
	t.after(() => foreign.close());
	const evil = await foreign.newPage(),
		seen = [];
	evil.on(
		'response',
		(answer) =>
			answer.url().startsWith(server.url) &&
			seen.push([new URL(answer.url()).pathname, answer.status()])
	);
	await evil.goto(`http://127.0.0.1:${other.address().port}/`);
	const outcome = await evil.evaluate(async (target) => {
		const out = {};
		out.fetch = await fetch(`${target}/v1/sessions`).then(
			() => 'read',
			() => 'refused'
		);
		out.post = await fetch(`${target}/v1/login`, {
			method: 'POST',
			mode: 'no-cors',
			body: '{"code":"x"}'
		}).then(
			(answer) => answer.type,
			() => 'refused'
		);
		out.script = await new Promise((resolve) => {
			const script = document.createElement('script');
			script.src = `${target}/app.js`;
			script.onload = () => resolve('ran');
			script.onerror = () => resolve('refused');
			document.head.append(script);
		});
		out.socket = await new Promise((resolve) => {
			const socket = new WebSocket(`${target.replace('http', 'ws')}/v1/watch`);
			socket.onopen = () => resolve('open');
			socket.onerror = () => resolve('refused');
		});
		const frame = document.createElement('iframe');
		frame.src = target;
		document.body.append(frame);
		await new Promise((resolve) => {
			frame.onload = resolve;
		});
		try {
			out.frame = frame.contentDocument ? 'read' : 'closed';
		} catch {
			out.frame = 'closed';
		}
		return out;
	}, server.url);
	assert.deepEqual(
		{ ...outcome, post: '' },
		{ fetch: 'refused', post: '', script: 'refused', socket: 'refused', frame: 'closed' }
	);
	assert.ok(
		seen.every(([, status]) => status >= 400),
		JSON.stringify(seen)
	);
	await signIn(server, (await server.nextLink()).split('=')[1]);
	assert.deepEqual((await ask(server, 'GET', '/v1/sessions')).json, { sessions: [] });
});

// ---- speed ----

const KINDS = {
	'one paragraph': ['', 'word {i} and **more** ', ''],
	'one fence': ['```c\n', 'int line_{i} = {i};\n', '```'],
	'one list': ['', '- item {i} has `code`\n', ''],
	'many paragraphs': ['', 'Part {i} is **short**.\n\n', '']
};
for (const [kind, [first, each, last]] of Object.entries(KINDS))
	test(`20,000 deltas of ${kind} make no long task`, page, async (t) => {
		const server = await serve(t, [
			reply(
				...(first ? [{ delta: first }] : []),
				{ repeat: 20_000, steps: [{ delta: each }] },
				{ delta: `${last}\n\nThe end.` }
			)
		]);
		const { page: window, context, faults } = await open(t, server);
		await begin(window);
		const answer = article(window, 'Codex');
		const longest = await longestTask(context, window, async () => {
			await send(window, 'go');
			await window.waitForFunction(
				() => {
					const node = document.querySelector('article[aria-label=Codex]:not([aria-busy])');
					return node?.textContent.endsWith('The end.');
				},
				null,
				{ timeout: 90_000 }
			);
		});
		assert.ok((await answer.textContent()).includes(each.split('{i}')[0] + 20000));
		const elements = await window.locator('*').count();
		t.diagnostic(`longest task ${Math.round(longest)} ms, ${elements} elements`);
		assert.ok(longest < 200, `a task of ${longest} ms`);
		assert.ok(elements < 6000, `${elements} elements`);
		assert.deepEqual(faults, []);
	});

test('a session of 600 messages is shown from its end', page, async (t) => {
	const server = await serve(t, [forever(say('An answer.'))]);
	await signIn(server);
	const {
		json: { session_id: id }
	} = await ask(server, 'POST', '/v1/sessions');
	const events = await watch(server, `?session=${id}&after=0`);
	for (let n = 0; n < 300; n++) {
		const op = { type: 'user_input', items: [{ type: 'text', text: `prompt ${n}` }] };
		await ask(server, 'POST', `/v1/sessions/${id}/submissions`, {
			body: JSON.stringify({ id: String(n), op })
		});
		await events.until((line) => line.id === String(n) && line.msg.type === 'task_complete');
	}
	const { page: window, faults } = await open(t, server, { link: await server.nextLink() });
	await window.getByRole('link', { name: /prompt 0/ }).click();
	await article(window, 'You').filter({ hasText: 'prompt 299' }).waitFor();
	const count = await window.locator('article').count();
	assert.ok(count >= 200 && count <= 300, `${count} entries`);
	await button(window, 'Show earlier').click();
	assert.ok((await window.locator('article').count()) > count);
	await button(window, 'Jump to latest').click();
	assert.deepEqual(faults, []);
});
