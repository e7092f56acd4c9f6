// codex attach: a session that runs in a terminal or in codex exec is watched, answered and steered from another one.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { cleanEnv, codexBin, forever, launch, makeHome, needs, outputOf, reply, run, runCodex, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { answer, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);

/** Waits for the socket of a session below this home. */
async function socketOf(home) {
	const folder = path.join(home, 'attach');
	while (!fs.existsSync(folder) || !fs.readdirSync(folder).length) await new Promise((wake) => setTimeout(wake, 20));
	return path.join(folder, fs.readdirSync(folder)[0]);
}

/** A session in a terminal, and a second terminal that is attached to it. */
async function pair(t, model, args, more = {}) {
	const host = await startReady(t, model, args, more);
	await host.until(more.ready ?? /./);
	const guest = await startReady(t, model, ['attach'], { home: host.home });
	await host.until(/Another terminal is attached \(1\)/);
	return { host, guest };
}

test('a second terminal shows the conversation so far, and what happens from then on, once', options, async (t) => {
	const model = await startModel(t, [say('First answer.'), reply({ delta: 'Second ' }, { gate: 'a' }, { delta: 'answer.' })]);
	const { host, guest } = await pair(t, model, ['one'], { ready: /^• First answer\.$/m });
	await guest.until(/› one\n\n• First answer\.[^]*Attached to a session that runs in another terminal/);
	await enter(guest, 'two');
	await host.until(/^› two$/m);
	await host.until(/^• Second/m);
	await guest.until(/^• Second/m);
	await model.openGate('a');
	for (const term of [host, guest]) {
		await term.until(/^• Second answer\.$/m);
		await idle(term);
		for (const text of ['› one', 'First answer', '› two', 'Second answer'])
			assert.equal(term.lines().join('\n').split(text).length, 2, text);
	}
	const { status } = await leave(guest);
	assert.equal(status, 0);
	assert.match(guest.lines().join('\n'), /Detached; the session continues\. [^]*codex attach [0-9a-f-]{36}/);
	await host.until(/A terminal was detached \(0 left\)/);
	assert.equal((await leave(host)).status, 0);
});

test('a request is shown in both; the first answer counts, and the other terminal sees it', options, async (t) => {
	for (const first of ['guest', 'host']) {
		const model = await startModel(t, [run('touch made; echo done here'), say('Finished.')]);
		const both = await pair(t, model, ['go', '-a', 'untrusted'], {
			config: 'sandbox_mode = "danger-full-access"', ready: /Would you like to run/ });
		const other = first === 'guest' ? both.host : both.guest;
		await both.guest.until(/Would you like to run the following command\?[^]*touch made/);
		await answer(both[first], 'y');
		await other.until(/Answered in another terminal/);
		for (const term of [both.host, both.guest]) {
			await term.until(/• Ran touch made; echo done here\n {2}└ done here/);
			await term.until(/^• Finished\.$/m);
			await idle(term);
			assert.equal(term.lines().join('\n').split('Finished.').length, 2);
		}
		await leave(both.guest);
		await leave(both.host);
		assert.equal(fs.existsSync(path.join(both.host.cwd, 'made')), true);
	}
});

test('a guest that joins a running turn can interrupt it', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { hang: true })]);
	const { host, guest } = await pair(t, model, ['go'], { ready: /I begin/ });
	await guest.until(/esc to interrupt/);
	guest.type('\x1b');
	await guest.until(/■ Conversation interrupted/);
	await host.until(/■ Conversation interrupted/);
	await idle(host);
	await leave(guest);
	await leave(host);
});

test('three terminals see a session; when it ends there, the guests end and name how it is continued', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const { host, guest } = await pair(t, model, ['go'], { ready: /• ok/ });
	const third = await startReady(t, model, ['attach'], { home: host.home });
	await host.until(/Another terminal is attached \(2\)/);
	await enter(third, 'from the third');
	for (const term of [host, guest, third]) await term.until(/› from the third[^]*• ok/);
	await idle(host);
	for (const command of ['/new', '/resume']) {
		await enter(third, command);
		await third.until(/attached to a session of another process: Ctrl-C detaches/);
	}
	await leave(host);
	for (const term of [guest, third]) {
		const { status, restored } = await term.done;
		assert.equal(status, 0);
		assert.ok(restored);
		assert.match(term.lines().join('\n'), /The session has ended there\.[^]*codex resume [0-9a-f-]{36}/);
	}
});

test('the socket is private, and goes with the session; a stale one is removed', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const host = await startReady(t, model);
	const folder = path.join(host.home, 'attach');
	const [name] = fs.readdirSync(folder);
	assert.match(name, /^[0-9a-f-]{36}\.sock$/);
	assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
	assert.equal(fs.statSync(path.join(folder, name)).mode & 0o777, 0o600);
	const { stdout } = await runCodex(t, ['attach', '--list'], { home: host.home });
	assert.equal(stdout, `${name.slice(0, 36)}  tui         ${host.cwd}\n`);
	assert.doesNotMatch(host.lines().join('\n'), /attached/); // a list is no guest
	host.signal('SIGKILL');
	await host.done;
	assert.deepEqual(fs.readdirSync(folder), [name]);
	const { stdout: none, stderr } = await runCodex(t, ['attach', '--list'], { home: host.home });
	assert.equal(none, '');
	assert.match(stderr, /No session runs/);
	assert.deepEqual(fs.readdirSync(folder), []);
	const again = await startReady(t, model, [], { home: host.home });
	await leave(again);
	assert.deepEqual(fs.readdirSync(folder), []);
});

test('a process that is confined is refused', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const host = await startReady(t, model);
	const socket = await socketOf(host.home);
	const script = 'import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(len(s.recv(1)))';
	const python = ['python3', '-c', script, socket];
	assert.equal(execFileSync(python[0], python.slice(1)).toString(), '1\n');
	assert.equal(execFileSync('setpriv', ['--no-new-privs', ...python]).toString(), '0\n');
	await leave(host);
});

test('a run of codex exec is watched and steered', options, async (t) => {
	const model = await startModel(t, [
		reply({ delta: 'Thinking' }, { gate: 'a' }, { call: 'exec_command', arguments: { cmd: 'true' } }), say('Finished.')]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\n');
	const exec = runCodex(t, ['exec', '--skip-git-repo-check', 'the task'], { home });
	await socketOf(home);
	const guest = await startReady(t, model, ['attach'], { home });
	await guest.until(/› the task[^]*Attached to a session that runs in codex exec/);
	await enter(guest, 'and be quick');
	await guest.until(/↳ and be quick/);
	await enter(guest, '/mcp'); // its answer comes after the message has been taken
	await guest.until(/No MCP servers are configured/);
	await model.openGate('a');
	assert.equal((await exec).code, 0);
	assert.equal((await guest.done).status, 0);
	assert.match(guest.lines().join('\n'), /› and be quick[^]*• Finished\.[^]*The session has ended there\./);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'and be quick');
});

test('a terminal that is attached to codex exec shows what was refused', options, async (t) => {
	const broken = { custom: 'apply_patch', input: '*** Begin Patch\n*** Update File: nothere.txt\n@@\n-a\n+b\n*** End Patch\n' };
	const model = await startModel(t, [reply({ start: true }, { gate: 'a' }, broken), say('Finished.')]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\n');
	const exec = runCodex(t, ['exec', '--skip-git-repo-check', 'the task'], { home });
	await socketOf(home);
	const guest = await startReady(t, model, ['attach'], { home });
	await guest.until(/› the task[^]*Attached to a session that runs in codex exec/);
	await model.openGate('a');
	const { stdout, stderr } = await exec;
	assert.equal((await guest.done).status, 0);
	assert.match(guest.lines().join('\n').replaceAll(/\n {2}/g, ' '), /• The patch was not applied: Failed to read file to update[^]*• Finished\./);
	assert.doesNotMatch(stdout + stderr, /The patch was not applied: Failed/); // exec has the item itself
});

test('what is no submission, and what only the owner may do, is refused; the session stays as it is', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const host = await startReady(t, model);
	const client = net.connect(await socketOf(host.home));
	let text = '';
	client.on('data', (bytes) => { text += bytes; });
	const heard = async (pattern) => {
		while (!pattern.test(text)) await once(client, 'data');
	};
	client.write('no JSON\n');
	await heard(/"type":"error"/);
	client.write(`{"id":"1","op":{"type":"shutdown"}}\n{"id":"2","op":{"type":"configure_session"}}\n`);
	await heard(/"id":"1","msg":\{"type":"error","message":"the terminal in which the session runs must do this"/);
	client.write('{"id":"3","op":{"type":"exec_approval","id":"nobody asked","decision":"approved"}}\n');
	client.write('{"id":"4","op":{"type":"user_input","items":[{"type":"text","text":"hello"}]}}\n');
	await heard(/"type":"task_complete"/);
	client.write('x'.repeat(1000));
	client.destroy();
	await host.until(/› hello[^]*• ok/);
	await host.until(/A terminal was detached \(0 left\)/);
	assert.doesNotMatch(host.lines().join('\n'), /■|⚠/);
	await leave(host);
});

test('a late answer does not reach the next request, although that has the same call id', options, async (t) => {
	const asks = (cmd) => reply({ call: 'exec_command', arguments: { cmd }, call_id: 'c' });
	const model = await startModel(t, [asks('touch one'), asks('touch two'), say('Finished.')]);
	const host = await startReady(t, model, ['go', '-a', 'untrusted'], { config: 'sandbox_mode = "danger-full-access"' });
	await host.until(/\$ touch one[^]*› 1\. Yes, proceed/);
	const client = net.connect(await socketOf(host.home));
	let text = '';
	client.on('data', (bytes) => { text += bytes; });
	const heard = async (pattern) => {
		while (!pattern.test(text)) await once(client, 'data');
	};
	const approve = (seq) => `{"id":"late","op":{"type":"exec_approval","id":"c","decision":"approved"},"seq":${seq}}\n`;
	await heard(/"exec_approval_request".*"seq":1\}\n/);
	await answer(host, 'y');
	await host.until(/\$ touch two[^]*› 1\. Yes, proceed/);
	await heard(/"answered":"c","task":"[^"]+","seq":1\}\n[^]*"exec_approval_request".*"seq":2\}\n/);
	client.write(`${approve(1)}no JSON\n`);
	await heard(/"type":"error"/);
	assert.ok(fs.existsSync(`${host.cwd}/one`) && !fs.existsSync(`${host.cwd}/two`));
	assert.match(host.screen().join('\n'), /\$ touch two[^]*› 1\. Yes, proceed/);
	client.write(approve(2));
	await host.until(/Answered in another terminal[^]*Finished\./);
	assert.ok(fs.existsSync(`${host.cwd}/two`));
	client.destroy();
	await idle(host);
	await leave(host);
});

test('a connection beyond the sixteenth is closed; those before it stay', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const host = await startReady(t, model);
	const socket = await socketOf(host.home), clients = [];
	t.after(() => clients.forEach((client) => client.destroy()));
	for (let i = 0; i < 16; i++) {
		clients.push(net.connect(socket));
		await once(clients.at(-1), 'data');
	}
	const late = net.connect(socket);
	late.on('data', () => assert.fail('a seventeenth was greeted'));
	await once(late, 'close');
	clients[0].destroy();
	await enter(host, 'still there?');
	await host.until(/• ok/);
	await idle(host);
	await leave(host);
});

test('--remote shows a session of codex proto, in the folder of the server', options, async (t) => {
	const model = await startModel(t, [run('echo hi'), say('Hello.'), say('Again.')]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n');
	const cwd = tempDir(t, 'server'), address = `unix://${path.join(home, 'proto.sock')}`;
	const server = launch(t, codexBin, ['proto', '--listen', address], { cwd, env: cleanEnv(home) });
	await once(server.child.stderr, 'data'); // it listens
	const term = await startReady(t, model, ['--remote', address, 'go']);
	await term.until(/• Hello\./);
	await idle(term);
	assert.match(term.lines().join('\n'), new RegExp(`› go\n\n• Ran echo hi\n {2}└ hi\n\n• Hello\\.[^]* · .*${path.basename(cwd)}$`));
	await enter(term, 'more');
	await term.until(/^• Again\.$/m);
	await idle(term);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
	const nowhere = await startTerminal(t, model, ['--remote', `unix://${path.join(home, 'nothing.sock')}`]);
	assert.equal((await nowhere.done).status, 1);
	assert.match(nowhere.lines().join('\n').replaceAll('\n', ''), /cannot connect to unix:/);
});

test('--remote to an app-server ends with an error that names the alternatives', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model), address = `unix://${path.join(home, 'app.sock')}`;
	const server = launch(t, codexBin, ['app-server', '--listen', address], { cwd: tempDir(t, 'server'), env: cleanEnv(home) });
	server.child.stdin.end();
	while (!fs.existsSync(path.join(home, 'app.sock'))) await new Promise((wake) => setTimeout(wake, 20));
	const term = await startTerminal(t, model, ['--remote', address, 'go'], { columns: 200 });
	assert.deepEqual(await term.done, { status: 1, restored: true });
	assert.match(term.lines().join('\n'), /does not speak the event protocol of `codex proto`\. `codex --daemon` begins [^]*`codex attach` opens/);
});

const canMount = spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t overlay overlay -o lowerdir=/usr:/etc /etc']).status === 0;

const mounting = { ...options, skip: options.skip || (!canMount && 'overlay mounts in a user name space are forbidden here') };

/** A run of codex exec whose commands need approval, which only an administrator can require. */
function execThatAsks(t, model, config = '') {
	const etc = tempDir(t, 'etc');
	fs.mkdirSync(path.join(etc, 'codex'));
	fs.writeFileSync(path.join(etc, 'codex', 'requirements.toml'), 'allowed_approval_policies = ["untrusted"]\n');
	const home = makeHome(t, model, `sandbox_mode = "danger-full-access"\n${config}`), cwd = tempDir(t, 'cwd');
	const script = 'mount -t overlay overlay -o lowerdir="$0":/etc /etc; exec "$@"';
	const { child, done } = launch(t, 'unshare', ['-Urm', 'sh', '-euc', script, etc, codexBin, 'exec', '--skip-git-repo-check', 'go'],
		{ cwd, env: cleanEnv(home) });
	child.stdin.end();
	return { home, cwd, done };
}

test('a request in codex exec waits for a terminal that is attached, and is denied when the last one has left', mounting, async (t) => {
	const ask = (name, id) => ({ call: 'exec_command', call_id: id, arguments: { cmd: `touch ${name}` } });
	const model = await startModel(t, [reply({ gate: 'a' }, ask('one', 'c1')), reply(ask('two', 'c2')), say('Finished.')]);
	const { home, cwd, done } = execThatAsks(t, model);
	await socketOf(home);
	const guest = await startReady(t, model, ['attach'], { home });
	await guest.until(/Attached to a session/);
	await model.openGate('a');
	await guest.until(/Would you like to run[^]*touch one/);
	await answer(guest, 'y');
	await guest.until(/Would you like to run[^]*touch two/);
	guest.close();
	assert.equal((await done).code, 0);
	assert.equal(fs.existsSync(path.join(cwd, 'one')), true);
	assert.equal(fs.existsSync(path.join(cwd, 'two')), false);
	assert.match(outputOf(model.requests()[2], 'c2'), /rejected|denied/i);
});

test('a request of a subagent under codex exec names it, and goes when its turn is aborted', mounting, async (t) => {
	const model = await startModel(t, [
		{ when: { contains: 'count pears', lacks: 'You are agent 0' }, reply: [{ call: 'exec_command', arguments: { cmd: 'touch pears' } }] },
		reply({ gate: 'a' }, { call: 'subagent_spawn', arguments: { prompt: 'count pears', label: 'Pearl' } }),
		reply({ gate: 'b' }, { call: 'subagent_cancel', arguments: { agent_id: 1 } }),
		reply({ gate: 'c' }, { message: 'Finished.' })]);
	const { home, cwd, done } = execThatAsks(t, model, 'features.subagent_tools = true\n');
	await socketOf(home);
	const early = await startReady(t, model, ['attach'], { home });
	await early.until(/Attached to a session/);
	await model.openGate('a');
	await early.until(/^Pearl asks: Would you like to run the following command\?\n\n\$ touch pears/m);
	const late = await startReady(t, model, ['attach'], { home });
	await late.until(/^Pearl asks: Would you like to run/m);
	await model.openGate('b');
	for (const each of [early, late]) await each.untilGone(/Would you like to run/);
	await model.openGate('c');
	assert.equal((await done).code, 0);
	for (const each of [early, late]) await each.done;
	assert.deepEqual(fs.readdirSync(cwd), []);
});
