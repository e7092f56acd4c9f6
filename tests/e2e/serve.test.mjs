// codex serve: the command line, who may ask what, and the endpoints of the page. serve_page.test.mjs has the page in a browser.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import {
	cleanEnv,
	codexBin,
	launch,
	makeHome,
	needs,
	reply,
	run,
	runCodex,
	say,
	startModel,
	tempDir,
	waitFor
} from './lib/codex.mjs';
import { approve, userInput } from './lib/proto.mjs';
import { LINK, ask, serve, signIn, watch } from './lib/serve.mjs';

const serving = needs('serve');
const FILES = {
	'/': 'text/html',
	'/app.js': 'text/javascript',
	'/app.css': 'text/css',
	'/icon.svg': 'image/svg+xml',
	'/manifest.webmanifest': 'application/manifest+json'
};

async function openSession(server, options) {
	const { status, json } = await ask(
		server,
		'POST',
		'/v1/sessions',
		options && { body: JSON.stringify(options) }
	);
	assert.equal(status, 201);
	return json.session_id;
}
const submit = (server, id, submission) =>
	ask(server, 'POST', `/v1/sessions/${id}/submissions`, { body: JSON.stringify(submission) });
const isType = (type) => (line) => line.msg?.type === type;

// ---- the command line ----

for (const [name, args, ...words] of [
	[
		'other machines need encryption or a word',
		['--listen', 'http://192.0.2.1:0'],
		'--plain-http',
		'--tls-cert'
	],
	['a wildcard needs the name of the page', ['--listen', 'http://0.0.0.0:0', '--plain-http'], '--url'],
	['a wildcard of IPv6 too', ['--listen', 'http://[::]:0', '--plain-http'], '--url'],
	['https needs a certificate', ['--listen', 'https://127.0.0.1:0'], '--tls-cert', '--tls-key'],
	['a Unix socket is no place for a page', ['--listen', 'http+unix:///tmp/x'], 'http://IP:PORT'],
	['a name is no address', ['--listen', 'http://localhost:0'], 'numeric'],
	['a base has no path', ['--listen', 'http://127.0.0.1:0', '--url', 'https://box.example/x'], '--url'],
	['a host is a name', ['--listen', 'http://127.0.0.1:0', '--allow-host', 'https://box'], '--allow-host']
])
	test(name, serving, async (t) => {
		const home = makeHome(t, await startModel(t, [say('Unused.')]));
		const { code, stdout, stderr } = await runCodex(t, ['serve', ...args], { home });
		assert.deepEqual([code, stdout], [2, '']);
		for (const word of words) assert.ok(stderr.includes(word), `${word} in: ${stderr}`);
	});

test('a short token is refused', serving, async (t) => {
	const home = makeHome(t, await startModel(t, [say('Unused.')])),
		file = path.join(tempDir(t), 'token');
	fs.writeFileSync(file, 'x'.repeat(31), { mode: 0o600 });
	const { code, stderr } = await runCodex(
		t,
		['serve', '--listen', 'http://127.0.0.1:0', '--token-file', file],
		{ home }
	);
	assert.equal(code, 2);
	assert.match(stderr, /less than 32/);
});

test('a taken port is named, and no link is printed', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const { code, stdout, stderr } = await runCodex(t, ['serve', '--listen', server.url], {
		home: server.home
	});
	assert.deepEqual([code, stdout], [1, '']);
	assert.ok(stderr.includes(new URL(server.url).host), stderr);
});

test('each line of input prints a fresh link, and its end ends nothing', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const second = await server.nextLink();
	assert.match(second, LINK);
	assert.notEqual(second, server.link);
	server.child.stdin.end();
	assert.equal((await ask(server, 'GET', '/healthz')).status, 200);
	assert.equal((await signIn(server, LINK.exec(second)[2])).status, 200);
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
});

test('standard input that others share stays as it was', serving, async (t) => {
	const fifo = path.join(tempDir(t), 'input');
	execFileSync('mkfifo', [fifo]);
	const input = fs.openSync(fifo, 'r+');
	t.after(() => fs.closeSync(input));
	const server = await serve(t, [say('Unused.')], { stdio: [input, 'pipe', 'pipe'] });
	fs.writeSync(input, '\n');
	await server.linkAt(1);
	const flags = /^flags:\s*0*(\d+)/m.exec(fs.readFileSync(`/proc/${server.child.pid}/fdinfo/0`, 'utf8'))[1];
	assert.equal(parseInt(flags, 8) & fs.constants.O_NONBLOCK, 0);
});

test('--open gives the browser a private file that forwards to a link, not the link', serving, async (t) => {
	const folder = tempDir(t),
		seen = path.join(folder, 'seen');
	fs.writeFileSync(
		path.join(folder, 'xdg-open'),
		`#!/bin/sh\n{ echo "$#"; echo "$1"; stat -c %a "$1"; cat "$1"; } > ${seen}.part; mv ${seen}.part ${seen}\n`,
		{ mode: 0o755 }
	);
	const server = await serve(t, [say('Unused.')], {
		args: ['--open'],
		env: { PATH: `${folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: folder }
	});
	while (!fs.existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 20));
	const [count, file, mode, text] = fs.readFileSync(seen, 'utf8').split('\n');
	assert.deepEqual([count, path.dirname(file), mode], ['1', folder, '600']);
	const code = /url=(\S+)\/#code=([0-9a-f]{32})"/.exec(text);
	assert.equal(code[1], server.url);
	assert.notEqual(code[2], server.code);
	assert.equal((await signIn(server, code[2])).status, 200);
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
	assert.ok(!fs.existsSync(file));
});

test('--open does not need the folder of XDG_RUNTIME_DIR', serving, async (t) => {
	const folder = tempDir(t), seen = path.join(folder, 'seen');
	fs.writeFileSync(path.join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${seen}.part; mv ${seen}.part ${seen}\n`, { mode: 0o755 });
	const env = { PATH: `${folder}:${process.env.PATH}`, XDG_RUNTIME_DIR: path.join(folder, 'missing'), TMPDIR: tempDir(t) };
	await serve(t, [say('Unused.')], { args: ['--open'], env });
	while (!fs.existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 20));
	assert.equal(path.dirname(fs.readFileSync(seen, 'utf8')), env.TMPDIR);
	for (const [mode, taken] of [[0o777, '/tmp'], [0o1777, 'own']]) { // of another user, who could replace the file
		if (process.getuid() !== 0) break;
		const own = tempDir(t);
		fs.unlinkSync(seen);
		fs.chownSync(own, 4321, 4321);
		fs.chmodSync(own, mode);
		await serve(t, [say('Unused.')], { args: ['--open'], env: { ...env, XDG_RUNTIME_DIR: own, TMPDIR: '' } });
		while (!fs.existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 20));
		assert.equal(path.dirname(fs.readFileSync(seen, 'utf8')), taken === 'own' ? own : taken);
	}
	fs.unlinkSync(seen);
	const second = await serve(t, [say('Unused.')], { args: ['--open'], env: { ...env, TMPDIR: env.XDG_RUNTIME_DIR } });
	while (!fs.existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 20));
	assert.equal(path.dirname(fs.readFileSync(seen, 'utf8')), '/tmp');
	second.child.kill('SIGTERM');
	assert.equal((await second.done).code, 0);
	assert.ok(!fs.existsSync(fs.readFileSync(seen, 'utf8').trim()));
});

test('--open without a browser says so', serving, async (t) => {
	const server = await serve(t, [say('Unused.')], { args: ['--open'], env: { PATH: tempDir(t) } });
	await waitFor(
		server.child.stderr,
		() => server.result.stderr,
		(text) => /no browser was opened: .*; open the link above\n/.test(text)
	);
	assert.equal((await ask(server, 'GET', '/healthz')).status, 200);
});

// ---- files and headers ----

test('the page is five small files, which need no token', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	let total = 0;
	for (const [target, type] of Object.entries(FILES)) {
		const { status, headers, text } = await ask(server, 'GET', target);
		assert.equal(status, 200, target);
		assert.ok(headers['content-type'].startsWith(type), headers['content-type']);
		assert.equal(headers['content-encoding'], undefined);
		assert.doesNotMatch(text, /https?:\/\/(?!www\.w3\.org)\w/);
		total += Buffer.byteLength(text);
		const head = await ask(server, 'HEAD', target);
		assert.deepEqual(
			[head.status, head.text, head.headers['content-length']],
			[200, '', headers['content-length']]
		);
		const packed = await fetch(server.url + target, { headers: { 'accept-encoding': 'deflate' } });
		assert.equal(packed.headers.get('content-encoding'), 'deflate');
		assert.equal(await packed.text(), text);
	}
	assert.ok(total < 60_000, `${total} bytes`);
});

test('every answer has the headers, those of the server itself too', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	await signIn(server);
	const targets = [
		['GET', '/'],
		['GET', '/nothing'],
		['POST', '/'],
		['GET', '/v1/sessions'],
		['GET', '/v1/nothing'],
		['POST', '/v1/login'],
		['GET', '/healthz'],
		['OPTIONS', '/v1/sessions']
	];
	const answers = await Promise.all(targets.map(([method, target]) => ask(server, method, target)));
	answers.push(await ask(server, 'GET', '/', { headers: { host: 'evil.example' } }));
	answers.push(await ask(server, 'GET', '/', { headers: { origin: 'https://evil.example' } }));
	const raw = await new Promise((resolve) => {
		let text = '';
		const socket = net.connect(new URL(server.url).port, '127.0.0.1', () =>
			socket.end('GET / HTTP/1.1\r\nBroken header\r\n\r\n')
		);
		socket.setEncoding('utf8')
			.on('data', (more) => {
				text += more;
			})
			.on('close', () => resolve(text));
	});
	const rawHeaders = Object.fromEntries(
		raw
			.split('\r\n\r\n')[0]
			.split('\r\n')
			.slice(1)
			.map((line) => {
				const [name, ...value] = line.split(': ');
				return [name.toLowerCase(), value.join(': ')];
			})
	);
	assert.match(raw, /^HTTP\/1.1 400 /);
	for (const { headers } of [...answers, { headers: rawHeaders }]) {
		const policy = headers['content-security-policy'];
		for (const part of [
			"default-src 'none'",
			"script-src 'self'",
			"style-src 'self'",
			"connect-src 'self'",
			"form-action 'none'",
			"base-uri 'none'",
			"frame-ancestors 'none'",
			"require-trusted-types-for 'script'",
			"trusted-types 'none'",
			"worker-src 'none'"
		])
			assert.ok(policy.includes(part), part);
		assert.equal(headers['referrer-policy'], 'no-referrer');
		assert.equal(headers['x-content-type-options'], 'nosniff');
		assert.equal(headers['x-frame-options'], 'DENY');
		assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
		assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
		assert.equal(headers['cache-control'], 'no-store');
		assert.match(headers['permissions-policy'], /camera=\(\)/);
		for (const name of [
			'set-cookie',
			'server',
			'strict-transport-security',
			'access-control-allow-origin'
		])
			assert.ok(!(name in headers), name);
	}
	assert.ok(answers.at(-3).status >= 400);
});

// ---- who may ask ----

test('a code is spent once, also by ten at the same time', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const answers = await Promise.all(
		Array.from({ length: 10 }, () =>
			ask(server, 'POST', '/v1/login', { body: JSON.stringify({ code: server.code, name: 'x' }) })
		)
	);
	assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(401)]);
	const good = answers.find(({ status }) => status === 200);
	assert.match(good.json.token, /^[0-9a-f]{64}$/);
	assert.equal(answers.find(({ status }) => status === 401).headers['www-authenticate'], 'Bearer');
});

test('of nine open codes the oldest is gone', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	const codes = [server.code];
	for (let i = 0; i < 8; i++) codes.push(LINK.exec(await server.nextLink())[2]);
	assert.equal((await signIn(server, codes[0])).status, 401);
	assert.equal((await signIn(server, codes[1])).status, 200);
	assert.equal((await signIn(server, codes[8])).status, 200);
});

test('a token counts as a bearer only, and guessing is slowed down for those who guess', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	await signIn(server);
	const { token } = server;
	for (const [target, headers] of [
		[`/v1/sessions?token=${token}`, {}],
		['/v1/sessions', { cookie: `token=${token}` }],
		['/v1/sessions', { authorization: `Basic ${token}` }],
		['/v1/sessions', { authorization: `Basic ${btoa(`x:${token}`)}` }]
	])
		assert.equal((await ask(server, 'GET', target, { token: null, headers })).status, 401);
	const wrong = [];
	for (let i = 0; i < 12; i++)
		wrong.push(await ask(server, 'GET', '/v1/sessions', { token: 'f'.repeat(64) }));
	assert.deepEqual(
		wrong.map(({ status }) => status),
		[...Array(10).fill(401), 429, 429]
	);
	assert.equal(wrong[11].json.error.code, 'too_many_requests');
	assert.ok(Number(wrong[11].headers['retry-after']) > 0);
	assert.equal((await ask(server, 'POST', '/v1/login', { body: '{"code":"x"}' })).status, 429);
	assert.equal((await ask(server, 'GET', '/v1/sessions')).status, 200);
	assert.equal((await signIn(server, LINK.exec(await server.nextLink())[2])).status, 200);
});

test('only this host and this origin are served', serving, async (t) => {
	const server = await serve(t, [say('Unused.')], {
		args: [
			'--allow-host',
			'box.example',
			'--allow-host',
			'port.example:8443',
			'--url',
			'https://desk.example'
		]
	});
	assert.ok(server.link.startsWith('https://desk.example/#code='));
	await signIn(server);
	const { port } = new URL(server.url),
		own = `127.0.0.1:${port}`;
	const status = async (headers, target = '/v1/sessions', method = 'GET') =>
		(await ask(server, method, target, { headers })).status;
	for (const host of [
		own,
		`localhost:${port}`,
		`[::1]:${port}`,
		'box.example',
		'box.example:99',
		'BOX.example',
		'port.example:8443',
		'desk.example'
	])
		assert.equal(await status({ host }), 200, host);
	for (const host of [
		'evil.example',
		'127.0.0.1',
		`127.0.0.1:${+port + 1}`,
		'localhost',
		'port.example',
		'port.example:1',
		'box.example.evil',
		`127.0.0.2:${port}`
	]) {
		assert.equal(await status({ host }), 421, host);
		assert.equal(await status({ host }, '/healthz'), 421, host);
		assert.equal(await status({ host }, '/'), 421, host);
	}
	for (const [host, origin] of [
		[own, `http://${own}`],
		[`localhost:${port}`, `http://localhost:${port}`],
		['box.example', 'https://box.example'],
		['box.example', 'http://box.example']
	])
		assert.equal(await status({ host, origin }), 200, origin);
	for (const [host, origin] of [
		[own, 'null'],
		[own, `http://localhost:${port}`],
		[own, `https://${own}`],
		[own, 'http://127.0.0.1:1'],
		[own, 'http://127.0.0.1'],
		[own, 'https://evil.example'],
		['box.example', 'https://box.example:1'],
		[own, 'file://'],
		[own, '']
	])
		assert.equal(await status({ host, origin }), 403, origin);
	for (const site of ['same-origin', 'none']) assert.equal(await status({ 'sec-fetch-site': site }), 200);
	for (const site of ['same-site', 'cross-site', 'what'])
		assert.equal(await status({ 'sec-fetch-site': site }), 403);
	const navigation = {
		'sec-fetch-site': 'cross-site',
		'sec-fetch-mode': 'navigate',
		'sec-fetch-dest': 'document'
	};
	assert.equal(await status(navigation, '/'), 200);
	assert.equal(await status({ ...navigation, 'sec-fetch-dest': 'iframe' }, '/'), 403);
	assert.equal(await status(navigation, '/v1/sessions'), 403);
	assert.equal(await status({ ...navigation, 'sec-fetch-mode': 'no-cors' }, '/app.js'), 403);
});

test('bodies have a type, nothing is upgraded, and gRPC is not here', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	await signIn(server);
	const status = async (target, options) => (await ask(server, 'POST', target, options)).status;
	for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', null])
		assert.equal(await status('/v1/sessions', { body: '{}', type }), 415, type);
	assert.equal(await status('/v1/sessions', { body: '{}', type: 'application/json; charset=utf-8' }), 201);
	assert.equal(await status('/v1/sessions', {}), 201);
	assert.equal(await status('/v1/login', { body: 'code=x', type: 'application/x-www-form-urlencoded' }), 415);
	assert.equal(await status('/v1/login', { body: `{"code":"${'x'.repeat(5000)}"}` }), 413);
	assert.equal(await status('/v1/login', { body: 'no json' }), 400);
	for (const target of [
		'/codex.v1.Codex/Session',
		'/grpc.health.v1.Health/Check',
		'/favicon.ico',
		'/index.html'
	])
		assert.equal((await ask(server, 'GET', target, { token: null })).status, 404, target);
	assert.equal(
		(
			await ask(server, 'GET', '/v1/watch', {
				headers: { connection: 'upgrade', upgrade: 'websocket' }
			})
		).status,
		400
	);
	assert.equal((await ask(server, 'GET', '/v1/nothing', { token: null })).status, 401);
	assert.equal((await ask(server, 'GET', '/v1/nothing')).status, 404);
});

test('the log has sentences without secrets, at most one refusal a second', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	await signIn(server, server.code, 'Eve\nrefused: \u202eforged \x1b[31m' + 'x'.repeat(500));
	for (let i = 0; i < 20; i++)
		await ask(server, 'GET', '/secret?query', { headers: { origin: `https://evil${i}.example` } });
	const lines = server.result.stderr.trim().split('\n');
	assert.equal(lines.filter((line) => line.startsWith('signed in: Eve')).length, 1);
	const refusals = lines.filter((line) => line.startsWith('refused: ')).length;
	assert.ok(refusals >= 1 && refusals <= 3, server.result.stderr);
	assert.doesNotMatch(server.result.stderr, /secret|query|\x1b|\u202e/);
	for (const secret of [server.code, server.token]) assert.ok(!server.result.stderr.includes(secret));
	assert.ok(lines.every((line) => line.length < 400));
});

test('a fixed token is a bearer, and a code that is never spent', serving, async (t) => {
	const file = path.join(tempDir(t), 'token'),
		fixed = 'k'.repeat(40);
	fs.writeFileSync(file, `${fixed}\n`, { mode: 0o600 });
	const server = await serve(t, [say('Unused.')], { args: ['--token-file', file] });
	assert.equal((await ask(server, 'GET', '/v1/sessions', { token: fixed })).status, 200);
	for (let i = 0; i < 2; i++) assert.equal((await signIn(server, fixed)).status, 200);
	assert.equal((await ask(server, 'POST', '/v1/logout', { token: fixed })).status, 204);
	assert.equal((await ask(server, 'GET', '/v1/sessions', { token: fixed })).status, 200);
});

test('codex proto has no page and refuses every origin', needs('proto'), async (t) => {
	const home = makeHome(t, await startModel(t, [say('Unused.')]));
	const program = launch(t, codexBin, ['proto', '--listen', 'http://127.0.0.1:0'], {
		cwd: tempDir(t),
		env: cleanEnv(home)
	});
	const url = await waitFor(
		program.child.stderr,
		() => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]
	);
	for (const target of ['/', '/app.js', '/v1/watch', '/v1/threads'])
		assert.equal((await ask({ url }, 'GET', target)).status, 404);
	assert.equal((await ask({ url }, 'POST', '/v1/login', { body: '{}' })).status, 404);
	assert.equal((await ask({ url }, 'GET', '/v1/sessions', { headers: { origin: url } })).status, 403);
});

// ---- devices ----

test('a device that is signed out loses its token and its streams', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	await signIn(server, server.code, 'desk');
	const desk = server.token;
	const { json: pair } = await ask(server, 'POST', '/v1/pair');
	assert.equal(pair.url, `${server.url}/#code=${pair.code}`);
	assert.equal(pair.expires_in, 600);
	assert.ok(pair.qr === null || pair.qr.every((row) => row.length === pair.qr.length && /^[01]+$/.test(row)));
	await signIn(server, pair.code, 'phone');
	const phone = server.token,
		id = await openSession(server);
	const {
		json: { devices }
	} = await ask(server, 'GET', '/v1/devices', { token: desk });
	assert.deepEqual(
		devices.map(({ name, current }) => [name, current]),
		[
			['desk', true],
			['phone', false]
		]
	);
	const streams = [await watch(server, '', phone), await watch(server, `?session=${id}&after=0`, phone)];
	const stays = await watch(server, '', desk);
	assert.equal((await ask(server, 'DELETE', `/v1/devices/${devices[1].id}`, { token: desk })).status, 204);
	await Promise.all(streams.map(({ over }) => over));
	assert.equal((await ask(server, 'GET', '/v1/sessions', { token: phone })).status, 401);
	assert.equal((await ask(server, 'DELETE', `/v1/devices/${devices[1].id}`, { token: desk })).status, 404);
	server.token = desk;
	await openSession(server);
	await stays.until((line) => line.sessions?.length === 2);
	assert.equal((await ask(server, 'POST', '/v1/logout')).status, 204);
	await stays.over;
	assert.equal((await ask(server, 'GET', '/v1/sessions')).status, 401);
});

// ---- watching ----

test('one stream has the list and the events of a session', serving, async (t) => {
	const server = await serve(t, [run('touch marker'), say('Done.')], {
		config: 'approval_policy = "untrusted"\n'
	});
	await signIn(server);
	const id = await openSession(server);
	const stream = await watch(server, `?session=${id}&after=0`);
	assert.equal(stream.headers['content-type'], 'application/x-ndjson');
	assert.ok(stream.lines[0]?.sessions ?? (await stream.until((line) => line.sessions)));
	await stream.until(isType('session_configured'));
	await submit(server, id, { id: '1', op: userInput('Please touch the marker. ' + 'x'.repeat(100)) });
	const request = await stream.until(isType('exec_approval_request'));
	const list = await stream.until((line) => line.sessions?.[0].waiting.length === 1);
	const info = list.sessions[0];
	assert.deepEqual([info.session_id, info.state, info.waiting], [id, 'blocked', [request.msg.call_id]]);
	assert.equal(info.title, ('Please touch the marker. ' + 'x'.repeat(100)).slice(0, 80));
	assert.equal(info.cwd, fs.realpathSync(server.cwd));
	assert.ok(info.last_seq >= request.seq && info.model && info.updated_at > 1e9);
	assert.match(info.thread_id, /^[0-9a-f-]{36}$/);
	await submit(server, id, { id: '2', op: approve(request.msg.call_id) });
	await stream.until(
		(line) => line.sessions?.[0].waiting.length === 0 && line.sessions[0].last_seq >= request.seq
	);
	await stream.until(isType('task_complete'));
	await stream.until(
		(line) => line.sessions?.[0].state === 'idle' && line.sessions[0].last_seq > request.seq
	);
	const events = stream.lines.filter((line) => line.msg);
	assert.deepEqual(
		events.map(({ seq }) => seq),
		events.map((_, i) => i + 1)
	);
	const late = await watch(server, `?session=${id}&after=${events.length - 1}`);
	assert.equal((await late.until((line) => line.msg)).seq, events.length);
	assert.equal((await ask(server, 'GET', '/v1/watch?session=nobody')).status, 404);
	assert.equal((await ask(server, 'GET', `/v1/watch?session=${id}&after=x`)).status, 400);
	await ask(server, 'DELETE', `/v1/sessions/${id}`);
	await Promise.all([stream.over, late.over]);
	assert.ok(stream.lines.some(isType('shutdown_complete')));
});

test('an answer that names the event that asked is refused once another event asks', serving, async (t) => {
	const again = (name) => reply({ call: 'exec_command', arguments: { cmd: `touch ${name}` }, call_id: 'c' });
	const server = await serve(t, [again('first'), again('second'), say('Done.')], {
		config: 'approval_policy = "untrusted"\n'
	});
	await signIn(server);
	const id = await openSession(server);
	const stream = await watch(server, `?session=${id}&after=0`);
	await submit(server, id, { id: '1', op: userInput('go') });
	const asks = (name) => stream.until((line) => isType('exec_approval_request')(line) && line.msg.command.at(-1).includes(name));
	const answer = (seq, name, op = approve('c')) =>
		ask(server, 'POST', `/v1/sessions/${id}/submissions?answers=${seq}`, { body: JSON.stringify({ id: name, op }) });
	const isOpen = (seq) => stream.until((line) => line.sessions?.[0].waiting_seq[0] === seq);
	const first = await asks('first');
	await isOpen(first.seq);
	assert.equal((await answer(first.seq, 'a')).status, 202);
	const second = await asks('second');
	await isOpen(second.seq);
	for (const [seq, op] of [[first.seq], ['x'], [''], [second.seq, userInput('go')]]) {
		const { status, json } = await answer(seq, `b${seq}`, op);
		assert.deepEqual([status, json.error.message], [409, 'the request was answered already, or has ended']);
	}
	assert.equal(fs.existsSync(path.join(server.cwd, 'second')), false);
	assert.equal((await answer(second.seq, 'c')).status, 202);
	await stream.until(isType('task_complete'));
	assert.equal(fs.existsSync(path.join(server.cwd, 'second')), true);
	await ask(server, 'DELETE', `/v1/sessions/${id}`);
});

test('a silent stream has an empty line every 15 seconds', serving, async (t) => {
	const server = await serve(t, [say('Unused.')]);
	await signIn(server);
	const request = http.request(`${server.url}/v1/watch`, {
		agent: false,
		headers: { authorization: `Bearer ${server.token}` }
	});
	t.after(() => request.destroy());
	const answer = await new Promise((resolve) => request.on('response', resolve).end());
	let text = '';
	for await (const part of answer.setEncoding('utf8')) if ((text += part).endsWith('\n\n')) break;
	assert.match(text, /^\{"sessions":\[\]\}\n\n$/);
});

test('a stream that starts too late says from where on it goes', serving, async (t) => {
	const server = await serve(t, [say('Hello.', { chunks: 5 })], { args: ['--keep-events', '3'] });
	await signIn(server);
	const id = await openSession(server);
	const first = await watch(server, `?session=${id}&after=0`);
	await submit(server, id, { id: '1', op: userInput('hi') });
	await first.until(isType('task_complete'));
	const late = await watch(server, `?session=${id}&after=0`);
	const gone = await late.until((line) => line.gone);
	assert.equal((await late.until((line) => line.msg)).seq, gone.first_seq);
});

// ---- stored sessions ----

test('stored sessions are listed, resumed once, and then not listed', serving, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.')]),
		home = makeHome(t, model);
	for (const prompt of ['first prompt', 'second prompt'])
		assert.equal((await runCodex(t, ['exec', '--skip-git-repo-check', prompt], { home })).code, 0);
	const server = await serve(t, null, { home });
	await signIn(server);
	const {
		json: { threads, next_cursor: none }
	} = await ask(server, 'GET', '/v1/threads');
	assert.deepEqual(threads.map(({ preview }) => preview).sort(), ['first prompt', 'second prompt']);
	assert.equal(none, null);
	assert.deepEqual(Object.keys(threads[0]).sort(), ['cwd', 'id', 'name', 'preview', 'updated_at']);
	const page = (await ask(server, 'GET', '/v1/threads?limit=1')).json;
	const rest = (
		await ask(server, 'GET', `/v1/threads?limit=1&cursor=${encodeURIComponent(page.next_cursor)}`)
	).json;
	assert.deepEqual(
		[...page.threads, ...rest.threads].map(({ id }) => id).sort(),
		threads.map(({ id }) => id).sort()
	);
	assert.equal((await ask(server, 'GET', '/v1/threads?limit=101')).status, 400);
	assert.equal((await ask(server, 'GET', '/v1/threads?cursor=%FF')).status, 400);
	const wanted = threads.find(({ preview }) => preview === 'first prompt');
	const id = await openSession(server, { resume: wanted.id });
	const stream = await watch(server, `?session=${id}&after=0`);
	const configured = await stream.until(isType('session_configured'));
	assert.ok(configured.msg.initial_messages.length > 0);
	const {
		sessions: [info]
	} = await stream.until((line) => line.sessions?.[0]?.title);
	assert.deepEqual([info.title, info.thread_id], ['first prompt', wanted.id]);
	const left = (await ask(server, 'GET', '/v1/threads')).json.threads;
	assert.deepEqual(
		left.map(({ preview }) => preview),
		['second prompt']
	);
	const again = await ask(server, 'POST', '/v1/sessions', { body: JSON.stringify({ resume: wanted.id }) });
	assert.deepEqual([again.status, again.json.error.code], [409, 'busy']);
	assert.equal((await ask(server, 'POST', '/v1/sessions', { body: '{"resume":"nobody"}' })).status, 404);
});

test('a session that runs in another process is joined, and goes on there', serving, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half ' }, { gate: 'more' }, { delta: 'done.' })]),
		home = makeHome(t, model);
	const other = launch(t, codexBin, ['exec', '--skip-git-repo-check', 'over there'], {
		cwd: tempDir(t),
		env: cleanEnv(home)
	});
	other.child.stdin.end();
	const server = await serve(t, null, { home });
	await signIn(server);
	const listed = async () =>
		(await ask(server, 'GET', '/v1/threads')).json.threads.find(({ process }) => process);
	let thread;
	for (let n = 0; n < 500 && !(thread = await listed()); n++)
		await new Promise((resolve) => setTimeout(resolve, 20));
	assert.deepEqual([thread.preview, thread.process], ['over there', 'exec']);
	const id = await openSession(server, { resume: thread.id });
	const again = await ask(server, 'POST', '/v1/sessions', { body: JSON.stringify({ resume: thread.id }) });
	assert.deepEqual([again.status, again.json.error.code], [409, 'busy']);
	const stream = await watch(server, `?session=${id}&after=0`);
	const configured = await stream.until(isType('session_configured'));
	assert.equal(configured.msg.session_id, thread.id);
	const list = await stream.until(
		(line) => line.sessions?.[0]?.process && line.sessions[0].state === 'running'
	);
	assert.equal(list.sessions[0].process, 'exec');
	await model.openGate('more');
	await stream.until(isType('task_complete'));
	const { code, stdout } = await other.done;
	assert.deepEqual([code, stdout], [0, 'Half done.\n']);
	await stream.until(isType('shutdown_complete'));
	await stream.over;
	assert.deepEqual((await ask(server, 'GET', '/v1/sessions')).json, { sessions: [] });
});

test('the socket of a process that is gone does not keep its session from being resumed', serving, async (t) => {
	const home = makeHome(t, await startModel(t, [say('One.')]));
	assert.equal((await runCodex(t, ['exec', '--skip-git-repo-check', 'left behind'], { home })).code, 0);
	const server = await serve(t, null, { home });
	await signIn(server);
	const [{ id }] = (await ask(server, 'GET', '/v1/threads')).json.threads;
	const folder = path.join(home, 'attach');
	fs.mkdirSync(folder, { recursive: true });
	execFileSync('python3', [
		'-c',
		'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])',
		path.join(folder, `${id}.sock`)
	]);
	const stream = await watch(server, `?session=${await openSession(server, { resume: id })}&after=0`);
	assert.equal((await stream.until(isType('session_configured'))).msg.session_id, id);
	assert.equal((await ask(server, 'GET', '/v1/sessions')).json.sessions.length, 1);
});
