// The host of scripts: what it cannot do, and what a hostile one cannot do to the engine.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { engines, hostBin, hostsOf, isHost, runHost, runScript, script, shown, startThread, wait } from './lib/code_mode.mjs';
import { codexBin, needs, say, tempDir } from './lib/codex.mjs';

const server = needs('app-server');
const probe = path.join(path.dirname(codexBin), 'tests/e2e/lock_probe');
const errorOf = ({ frames }) => frames.find(({ t }) => t === 'done')?.error;

test('a locked process can use memory, threads and its pipes alone', { skip: !fs.existsSync(probe) }, () => {
	const { status, stdout, signal } = spawnSync(probe, { encoding: 'utf8' });
	assert.deepEqual({ status, signal, stdout }, { status: 0, signal: null, stdout: 'locked\n' });
});

test('a script that escapes into node finds no way out', { skip: !engines.includes('node') }, () => {
	const run = runHost('node', `let error; try { await import('x') } catch (e) { error = e }
		const proc = error.constructor.constructor('return process')();
		const get = (name) => proc.getBuiltinModule ? proc.getBuiltinModule(name) : proc.binding(name);
		const tries = {
			read: () => get('fs').readFileSync('/etc/passwd'),
			proc: () => get('fs').readFileSync('/proc/self/maps'),
			write: () => get('fs').writeFileSync('/tmp/codex-escape', 'x'),
			exec: () => { const r = get('child_process').spawnSync('/bin/true'); if (r.error) throw r.error; },
			kill: () => proc.kill(proc.ppid, 0),
			addon: () => proc.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libm.so.6'),
		};
		for (const name in tries) try { tries[name](); text('escaped: ' + name) } catch {}
		const s = await new Promise((done) => get('net').connect(9, '127.0.0.1').on('error', (e) => done(e.code)).on('connect', () => done('escaped')));
		text(s)`);
	const texts = run.frames.filter(({ t }) => t === 'text').map(({ text }) => text);
	assert.deepEqual(texts, ['EPERM'], JSON.stringify(run));
});

for (const engine of engines) {
	test(`${engine}: memory has a limit, and its end is an error with a reason`, () => {
		const bombs = ['const a = []; for (;;) a.push(new Array(1000).fill(a.length))',
			'const a = []; for (let i = 0; i < 45; i++) a.push(new Uint8Array(10e6).fill(1))'];
		const map = 'const m = new Map(); for (let i = 0;; i++) m.set(i, i)';
		if (engine === 'quickjs') bombs.push(map, `await (async () => { ${map} })()`, `(() => { ${map} })()`);
		for (const bomb of bombs) assert.match(String(errorOf(runHost(engine, bomb))), /out of memory|allocation failed/i, bomb);
		const large = runHost(engine, "new Uint8Array(120e6).fill(1); text('fits')");
		assert.equal(errorOf(large), null);
		const tried = runHost(engine, "try { new Uint8Array(1e9).fill(1) } catch (e) { text(e.name) }");
		assert.equal(errorOf(tried), null);
		assert.match(tried.frames[0].text, /Error/);
	});

	test(`${engine}: bombs end with an error, within bounds`, () => {
		const deep = runHost(engine, "let s = '['.repeat(1e6); try { JSON.parse(s) } catch (e) { text('caught') }");
		assert.ok(errorOf(deep) !== undefined || deep.status !== 0);
		assert.equal(errorOf(runHost(engine, "for (let i = 0; i < 1e5; i++) Promise.resolve().then(() => {}); await 0")), null);
	});

	test(`${engine}: the host ends with its input`, () => {
		const run = spawnSync(hostBin, { input: '', env: { PATH: process.env.PATH, CODEX_CODE_MODE_ENGINE: engine }, timeout: 30_000 });
		assert.equal(run.signal, null);
	});
}

/** A program that plays the host: it runs this function, which gets the frame of the start. */
function fakeHost(t, play) {
	const file = path.join(tempDir(t, 'host'), 'host');
	fs.writeFileSync(file, `#!/usr/bin/env node
const fs = require('fs');
const send = (value) => raw(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
const raw = (bytes, size = bytes.length) => {
	const head = Buffer.alloc(4);
	head.writeUInt32LE(size);
	fs.writeSync(1, Buffer.concat([head, bytes]));
};
const frame = (value) => { const body = Buffer.from(JSON.stringify(value)), head = Buffer.alloc(4);
	head.writeUInt32LE(body.length); return Buffer.concat([head, body]); };
const read = () => { const head = Buffer.alloc(4); fs.readSync(0, head); const body = Buffer.alloc(head.readUInt32LE(0));
	for (let at = 0; at < body.length;) at += fs.readSync(0, body, at, body.length - at); return JSON.parse(body); };
(${play})(read());
`, { mode: 0o755 });
	return { CODEX_CODE_MODE_HOST_PATH: file };
}

const lies = {
	'no JSON': () => { send('nope'); read(); },
	'half of a surrogate pair': () => { send('{"t":"text","text":"\\ud800"}'); read(); },
	'an unknown message': () => { send({ t: 'open', path: '/etc/passwd' }); read(); },
	'too long': () => { raw(Buffer.from('{'), 0xffffffff); read(); },
	'too long behind a good one': () => {
		const good = frame({ t: 'text', text: 'x' });
		fs.writeSync(1, Buffer.concat([good, Buffer.from([255, 255, 255, 255])]));
		read();
	},
	'an end in the middle of a frame': () => { raw(Buffer.from('{"t":'), 100); },
	'killed at once': () => { process.kill(process.pid, 'SIGKILL'); },
	'killed after output': () => { send({ t: 'text', text: 'x' }); process.kill(process.pid, 'SIGKILL'); },
	'killed in a call': () => {
		send({ t: 'call', id: 1, name: 'exec_command', is_text: false, args: '{"cmd":"sleep 600"}' });
		process.kill(process.pid, 'SIGKILL');
	},
	'an exit without an end': () => { process.exit(1); },
};
for (const [name, play] of Object.entries(lies)) {
	test(`a host that lies: ${name}`, server, async (t) => {
		const thread = await startThread(t, [script('1'), script('2')], { env: fakeHost(t, play) });
		assert.equal((await thread.turn()).status, 'completed');
		for (const { output } of thread.outputs()) assert.match(String(output), /^The script was ended: /);
	});
}

test('a host can call the offered tools alone, and its other lies have no effect', server, async (t) => {
	const play = () => {
		const call = (id, name, args, is_text = false) => send({ t: 'call', id, name, is_text, args });
		call(1, 'request_user_input', '{}');
		call(2, 'exec', 'text(1)', true);
		call(3, 'no_such_tool', '{}');
		call(4, 'exec_command', '{not json');
		send({ t: 'call' });
		const seen = [read(), read(), read(), read(), read()].map(({ error }) => typeof error).join();
		send({ t: 'image', url: 'data:image/png;base64,"}],"x":[{' });
		send({ t: 'text', text: 7 });
		send({ t: 'notify', text: '' });
		send({ t: 'text', text: seen });
		send({ t: 'done', error: null, stored: { a: 7, b: '{broken' } });
		send({ t: 'text', text: 'too late' });
	};
	const thread = await startThread(t, [script('1')], { env: fakeHost(t, play) });
	await thread.turn();
	const { head, texts } = shown(thread.outputs()[0]);
	assert.match(head, /^Script completed/);
	assert.match(texts[0], /image omitted/);
	assert.deepEqual(texts.slice(1), ['string,string,string,string,string']);
});

test('the engine takes no host with it, and a killed engine leaves none', server, async (t) => {
	const thread = await startThread(t, [script("// @exec: {\"yield_time_ms\": 0}\nfor (;;);"), wait({ cell_id: '1', yield_time_ms: 600000 })]);
	await thread.start();
	let hosts = [];
	while (!hosts.length) {
		await new Promise((wake) => setTimeout(wake, 20));
		hosts = hostsOf(thread.server.child.pid);
	}
	thread.server.child.kill('SIGKILL');
	await thread.server.done;
	while (hosts.some(isHost)) await new Promise((wake) => setTimeout(wake, 20));
});

test('there is no process before the first script, and none stays after it', server, async (t) => {
	const thread = await startThread(t, [say('No script.'), script('text(1)')]);
	const hosts = () => hostsOf(thread.server.child.pid);
	await thread.turn();
	assert.deepEqual(hosts(), []);
	await thread.turn();
	assert.deepEqual(shown(thread.outputs()[0]).texts, ['1']);
	while (hosts().length) await new Promise((wake) => setTimeout(wake, 20)); // the supervisor has to notice its end
});
