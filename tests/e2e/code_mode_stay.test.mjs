// A host that can run one script after the other stays until the task ends, and nothing of a script stays in it.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { children, commandOf, engines, frame, hostBin, hostsOf, script, shown, startThread } from './lib/code_mode.mjs';
import { needs, tempDir } from './lib/codex.mjs';

const server = needs('app-server');
const texts = (thread) => thread.outputs().map((output) => shown(output).texts.join());

const requests = async (thread, count) => {
	while (thread.model.requests().length < count) await new Promise((wake) => setTimeout(wake, 20));
};

/** A host that answers each script with its own process id, and says first that the script's process has ended. */
function pidHost(t, { after = '', ready = "fs.writeSync(2, '\\1');" } = {}) {
	const file = path.join(tempDir(t, 'host'), 'pid-host');
	fs.writeFileSync(file, `#!/usr/bin/env node
const fs = require('fs');
const frame = (value) => { const body = Buffer.from(JSON.stringify(value)), head = Buffer.alloc(4);
	head.writeUInt32LE(body.length); return Buffer.concat([head, body]); };
const read = (size) => { const body = Buffer.alloc(size);
	for (let at = 0; at < size;) { const got = fs.readSync(0, body, at, size - at); if (!got) process.exit(); at += got; } return body; };
for (;;) {
	JSON.parse(read(read(4).readUInt32LE(0)));
	${ready}
	fs.writeSync(1, Buffer.concat([frame({ t: 'text', text: String(process.pid) }),
		frame({ t: 'done', error: null, stored: {} })${after}]));
}
`, { mode: 0o755 });
	return { CODEX_CODE_MODE_HOST_PATH: file };
}

test('the scripts of a task share a host, which ends with the task', server, async (t) => {
	const thread = await startThread(t, [script('1'), script('2')], { env: pidHost(t) });
	const hosts = () => children(thread.server.child.pid).filter((pid) => /pid-host/.test(commandOf(pid)));
	await thread.turn();
	const [first, second] = texts(thread);
	assert.equal(second, first);
	while (hosts().length) await new Promise((wake) => setTimeout(wake, 20)); // the supervisor has to notice its end
});

test('a host that speaks after the end of a script does not stay', server, async (t) => {
	const env = pidHost(t, { after: ", frame({ t: 'text', text: 'too late' })" });
	const thread = await startThread(t, [script('1'), script('2')], { env });
	await thread.turn();
	const [first, second] = texts(thread);
	assert.match(first, /^\d+$/);
	assert.match(second, /^\d+$/);
	assert.notEqual(second, first);
});

test('a host whose last script may still run gets no other one', server, async (t) => {
	for (const ready of ['', "fs.writeSync(2, 'ready');"]) {
		const thread = await startThread(t, [script('1'), script('2'), script('3')], { env: pidHost(t, { ready }) });
		await thread.turn();
		const hosts = texts(thread);
		assert.equal(new Set(hosts).size, 3, hosts.join());
		assert.ok(hosts.every((pid) => /^\d+$/.test(pid)));
	}
});

test('a host that has left a part of a result unread gets no other script', server, async (t) => {
	const args = JSON.stringify({ cmd: 'yes | head -c 1000000', max_output_tokens: 1000000 });
	const ready = `fs.writeSync(1, frame({ t: 'call', id: 1, name: 'exec_command', args: '${args}' })); read(4); fs.writeSync(2, '\\1');`;
	const thread = await startThread(t, [script('1'), script('2')], { env: pidHost(t, { ready }) });
	await thread.turn();
	const hosts = texts(thread);
	assert.ok(hosts.every((pid) => /^\d+$/.test(pid)), hosts.join());
	assert.notEqual(hosts[0], hosts[1]);
});

test('a host that waits ends with an interrupt', server, async (t) => {
	const env = pidHost(t);
	const thread = await startThread(t, [script('1'), { reply: [{ start: true }, { hang: true }] }], { env });
	const hosts = () => children(thread.server.child.pid).filter((pid) => /pid-host/.test(commandOf(pid)));
	await thread.start();
	await requests(thread, 2);
	assert.equal(hosts().length, 1);
	const { params } = await thread.server.take((m) => m.method === 'turn/started', 'turn');
	await thread.server.request('turn/interrupt', { threadId: thread.thread.id, turnId: params.turn.id });
	await thread.server.next('turn/completed');
	while (hosts().length) await new Promise((wake) => setTimeout(wake, 20));
});

const start = (source) => frame({ t: 'start', source, tools: [], stored: {} });

/** Sends the host each input when it has said that the script before has ended. */
async function inTurn([first, ...inputs]) {
	const host = spawn(hostBin, { env: { CODEX_CODE_MODE_ENGINE: 'quickjs' } });
	let ready = '', out = '';
	host.stdout.setEncoding('latin1').on('data', (bytes) => { out += bytes; });
	host.stderr.setEncoding('latin1').on('data', (bytes) => {
		ready += bytes;
		inputs.length ? host.stdin.write(inputs.shift()) : host.stdin.end();
	});
	host.stdin.write(first);
	const [status] = await once(host, 'close');
	return { status, ready, words: out.match(/\{.*?\}/g)?.filter((word) => /"text"/.test(word)) ?? [] };
}

test('quickjs: results that a script has not awaited are nothing to the next one', { skip: !engines.includes('quickjs') }, async () => {
	const late = frame({ t: 'result', id: 1, value: 'late' });
	const run = await inTurn([Buffer.concat([start('text(1)'), late, late]), start('text(2)')]);
	assert.equal(run.ready, '\x01\x01', 'each process of a script has ended');
	assert.deepEqual(run.words, ['{"t":"text","text":"1"}', '{"t":"text","text":"2"}']);
	assert.equal(run.status, 0);
});

test('quickjs: a text in a result that was half read is no script', { skip: !engines.includes('quickjs') }, async () => {
	const late = frame({ t: 'result', id: 1, value: 'late' }), fake = start("text('fake')");
	const run = await inTurn([Buffer.concat([start('text(1)'), late.subarray(9), fake, late.subarray(0, 3)]), start('text(2)')]);
	assert.deepEqual(run.words, ['{"t":"text","text":"1"}', '{"t":"text","text":"2"}']);
});

test('quickjs: no script follows one that has crashed or used up its memory', { skip: !engines.includes('quickjs') }, async () => {
	const bomb = "const a = []; for (let i = 0; i < 45; i++) a.push(new Uint8Array(10e6).fill(1)); for (;;) a.push('x'.repeat(1e6) + a.length)";
	const run = await inTurn([start(bomb), start("text('next')")]);
	assert.equal(/next/.test(run.words.join()), run.ready === '\x01\x01', 'only a host that says so runs another script');
});

for (const engine of engines) {
	test(`${engine}: nothing of a script is seen by the next one`, server, async (t) => {
		const leave = `globalThis.left = 1; Array.prototype.left = 2; Math.random = () => 3; text = null; tools.left = 4;
			setTimeout(() => notify('from the past')); Promise.prototype.then = null`;
		const look = 'text([typeof left, [].left, Math.random() < 1, tools.left, ALL_TOOLS.length > 0].join()); text(Math.random())';
		const thread = await startThread(t, [script(leave), script(look), script(look)], { engine });
		await thread.turn();
		const [, second, third] = thread.outputs().map((output) => shown(output).texts);
		assert.equal(second[0], 'undefined,,true,,true');
		assert.equal(third[0], second[0]);
		assert.notEqual(third[1], second[1], 'each script has numbers of its own');
		assert.equal(thread.outputs().length, 3, 'no note of an ended script');
	});

	test(`${engine}: the process that runs a script is confined`, server, async (t) => {
		const loop = script("await tools.exec_command({cmd: 'touch begun'}); for (;;);");
		const thread = await startThread(t, [script('text(1)'), loop], { engine });
		await thread.start();
		const begun = path.join(thread.server.cwd, 'begun');
		while (!fs.existsSync(begun)) await new Promise((wake) => setTimeout(wake, 20));
		const pid = hostsOf(thread.server.child.pid).at(-1);
		const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
		assert.match(status, /^NoNewPrivs:\t1$/m);
		assert.match(status, /^Seccomp:\t2$/m);
		assert.equal(fs.readlinkSync(`/proc/${pid}/fd/2`), '/dev/null', 'it cannot say that it has ended');
		const limits = fs.readFileSync(`/proc/${pid}/limits`, 'utf8');
		assert.match(limits, /^Max file size +0 +0 /m);
		assert.match(limits, /^Max cpu time +600 /m);
		const [, data] = /^Max data size +(\d+) /m.exec(limits);
		assert.ok(Number(data) >= 256 << 20, 'what the engine had before, and 256 MB');
	});

	test(`${engine}: a script does not get the objects of the host`, server, async (t) => {
		const trap = "{ configurable: true, get() { text('leak'); return () => text('leak ' + typeof this.send) } }";
		const thread = await startThread(t, [script(`for (const name of ['isFull', 'random', 'send', 'exit', 'now'])
			Object.defineProperty(Object.prototype, name, ${trap}); throw null`),
			script('try { new ArrayBuffer(1e9) } catch {} throw null')], { engine });
		await thread.turn();
		assert.deepEqual(texts(thread), ['Script error:\nnull', 'Script error:\nnull']);
	});

	test(`${engine}: a process that is killed ends its script, and the next one runs`, server, async (t) => {
		const loop = script("await tools.exec_command({cmd: 'touch begun'}); for (;;);");
		const thread = await startThread(t, [script('text(1)'), loop, script('text(3)')], { engine });
		const hosts = () => hostsOf(thread.server.child.pid);
		await thread.start();
		const begun = path.join(thread.server.cwd, 'begun');
		while (!fs.existsSync(begun)) await new Promise((wake) => setTimeout(wake, 20));
		process.kill(hosts().at(-1), 'SIGKILL'); // the youngest
		await thread.server.next('turn/completed');
		const [, killed, next] = thread.outputs();
		assert.match(String(killed.output), /^The script was ended: its process was killed by signal 9/);
		assert.deepEqual(shown(next).texts, ['3']);
	});
}
