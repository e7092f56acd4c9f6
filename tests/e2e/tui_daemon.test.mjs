// Sessions of the background server in the terminal: one outlives its terminal and is attached again, and requests are
// shared with the server's clients.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { atEnd, cleanEnv, codexBin, codexExec, forever, makeHome, needs, reply, rollouts, run, say, startModel, tempDir } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { answer, enter, lacksEmulator, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('app-server').skip, timeout: 60_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);
const calls = (cmd, id) => reply({ call: 'exec_command', arguments: { cmd }, call_id: id });

/** A CODEX_HOME whose background server ends with the test: before the folder is removed, which has its socket. */
function daemonHome(t, ...rest) {
	const home = makeHome(t, ...rest);
	atEnd(t, () => spawnSync(codexBin, ['app-server', 'daemon', 'stop'], { env: cleanEnv(home) }));
	return home;
}

test('a session in the background server survives its terminal, and is attached again', options, async (t) => {
	const halves = reply({ delta: 'First ' }, { gate: 'a' }, { delta: 'half.' }, { message: 'First half.' });
	const model = await startModel(t, [halves, forever(say('Second answer.'))]);
	const home = daemonHome(t, model);
	const first = await startReady(t, model, ['--daemon'], { home });
	await first.until(/Attached to a session that runs in the background server/);
	await enter(first, 'go');
	await first.until(/First[^]*esc to interrupt/);
	first.close(); // the window is closed in the middle of the turn
	await first.done;
	await model.openGate('a');
	const list = spawnSync(codexBin, ['attach', '--list'], { env: cleanEnv(home), encoding: 'utf8' }).stdout;
	assert.match(list, /^[0-9a-f-]{36} {2}app-server /);
	const again = await startReady(t, model, ['attach'], { home, cwd: first.cwd });
	await again.until(/› go[^]*First half\./);
	await idle(again);
	await enter(again, 'more');
	await again.until(/› more\n\n• Second answer\./);
	await idle(again);
	again.type('\x03');
	assert.deepEqual(await again.done, { status: 0, restored: true });
	assert.match(again.raw(), /Detached; the session continues/);
	assert.equal(model.requests().length, 2);
});

test('a request in the background server is answered in one terminal, and disappears in the other', options, async (t) => {
	const model = await startModel(t, [run('touch made'), forever(say('Finished.'))]);
	const home = daemonHome(t, model);
	const first = await startReady(t, model, ['--daemon', '-a', 'untrusted', '-s', 'read-only'], { home });
	const second = await startReady(t, model, ['attach'], { home, cwd: first.cwd });
	await enter(first, 'go');
	for (const term of [first, second]) await term.until(/Would you like to run the following command\?\n\n\$ touch made/);
	await answer(second, 'y');
	await first.until(/Answered in another terminal|Another terminal has answered/);
	await first.untilGone(/Would you like to run/);
	for (const term of [first, second]) await term.until(/Finished\./);
	for (const term of [first, second]) {
		term.type('\x03');
		await term.done;
	}
});

test('a thread of a client is attached: each side sees the answers of the other', options, async (t) => {
	const model = await startModel(t, [calls('touch made', 'one'), say('First.'), calls('touch more', 'two'), forever(say('Second.'))]);
	const home = daemonHome(t, model);
	spawnSync(codexBin, ['app-server', 'daemon', 'start'], { env: cleanEnv(home) });
	const client = await startAppServer(t, null, { home, args: ['proxy'] });
	const { thread } = await client.request('thread/start', { approvalPolicy: 'untrusted', sandbox: 'read-only' });
	const term = await startReady(t, model, ['attach'], { home });
	await client.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'go' }] });
	await client.take(({ method }) => method === 'item/commandExecution/requestApproval', 'the first request');
	await term.until(/› go[^]*Would you like to run the following command\?\n\n\$ touch made/);
	await answer(term, 'y');
	await client.take(({ method }) => method === 'serverRequest/resolved', 'the first answer');
	await term.until(/• First\./);
	await idle(term);
	await enter(term, 'again');
	const isSecond = ({ method, params }) => method === 'item/commandExecution/requestApproval' && params.itemId === 'two';
	const asked = await client.take(isSecond, 'the second request');
	await term.until(/Would you like to run the following command\?\n\n\$ touch more/);
	client.answer(asked, { decision: 'accept' });
	await term.untilGone(/Would you like to run/);
	await term.until(/Another terminal has answered|Answered in another terminal/);
	await term.until(/• Second\./);
	await idle(term);
	term.type('\x03');
	await term.done;
	await client.end();
});

test('a subagent and the main thread of a background session ask under one call id: each gets its own answer', options, async (t) => {
	const asks = (cmd) => ({ call: 'exec_command', arguments: { cmd }, call_id: 'same' });
	const child = (contains, ...steps) => ({ when: { contains, lacks: 'rootword' }, reply: steps });
	const model = await startModel(t, [
		child('function_call_output', { message: 'It ran.' }), child('count pears', asks('touch pears')),
		reply({ call: 'spawn_agent', arguments: { message: 'count pears' } }), reply({ gate: 'a' }, asks('touch apples')),
		forever(say('Done.'))]);
	const home = daemonHome(t, model, '[features]\nmulti_agent = true\n');
	const term = await startReady(t, model, ['--daemon', '-a', 'untrusted', '-s', 'danger-full-access'], { home });
	await enter(term, 'rootword');
	await term.until(/^\S+ asks: Would you like to run the following command\?\n\n\$ touch pears/m);
	await model.openGate('a');
	await until(() => model.requests().length >= 3);
	await answer(term, 'y');
	await term.until(/Would you like to run the following command\?\n\n\$ touch apples/);
	await until(() => fs.existsSync(`${term.cwd}/pears`));
	assert.ok(!fs.existsSync(`${term.cwd}/apples`));
	await answer(term, 'y');
	await term.until(/• Done\./);
	assert.ok(fs.existsSync(`${term.cwd}/apples`));
	await idle(term);
	term.type('\x03');
	await term.done;
});

test('/daemon moves the session of this terminal into the server, with its settings; it stays when the terminal goes', options, async (t) => {
	const model = await startModel(t, [say('First answer.'), run('touch made'), forever(say('Second answer.'))]);
	const home = daemonHome(t, model, 'sandbox_mode = "danger-full-access"\n');
	const term = await startReady(t, model, [], { home });
	const move = async () => {
		await enter(term, '/daemon');
		await term.until(/^ {2}3\. Move this session there/m);
		await answer(term, '3');
	};
	await move();
	await term.until(/nothing of this session is recorded yet: `codex --daemon` begins one there/);
	await term.until(/^›$/m);
	await enter(term, 'go');
	await term.until(/• First answer\./);
	await idle(term);
	await enter(term, '/permissions read only');
	await term.until(/Permissions changed to Read Only/);
	await move();
	await term.until(/• Attached to a session that runs in the background server[^]*^›$/m);
	await enter(term, 'more');
	await term.until(/Read-only file system[^]*• Second answer\./);
	await idle(term);
	assert.ok(!fs.existsSync(`${term.cwd}/made`));
	assert.match(term.lines().join('\n'), /Permissions changed to Read Only\n\n• Attached to a session/);
	assert.equal(term.lines().filter((line) => line === '• First answer.').length, 1);
	assert.equal(term.lines().filter((line) => line.startsWith('• >_')).length, 1);
	assert.equal(rollouts(home).length, 1);
	term.type('\x03');
	assert.deepEqual(await term.done, { status: 0, restored: true });
	assert.match(term.raw(), /Detached; the session continues/);
	const again = await startReady(t, model, ['attach'], { home });
	await again.until(/› go\n\n• First answer\.[^]*› more/);
	await enter(again, '/daemon');
	await again.until(/2\. Stop or restart it …/);
	assert.doesNotMatch(again.screen().join('\n'), /Move this session/); // it is there
	await answer(again, '2');
	await again.until(/Stop the background server\?/);
	again.type('s');
	assert.deepEqual(await again.done, { status: 0, restored: true });
	assert.match(again.raw(), /\/daemon has ended the background server and its sessions\./);
	assert.doesNotMatch(again.raw(), /connection was lost|stdout/);
});

test('a session whose settings another terminal has changed is not moved', options, async (t) => {
	const model = await startModel(t, [forever(say('First answer.'))]);
	const home = daemonHome(t, model, 'sandbox_mode = "danger-full-access"\n');
	const term = await startReady(t, model, [], { home });
	await enter(term, 'go');
	await term.until(/• First answer\./);
	await idle(term);
	const guest = await startReady(t, model, ['attach'], { home });
	await enter(guest, '/permissions read only');
	await guest.until(/Permissions changed to Read Only/);
	await enter(guest, 'more');
	await term.until(/› more\n\n• First answer\./);
	await idle(term);
	await enter(term, '/daemon');
	await term.until(/^ {2}3\. Move this session there/m);
	await answer(term, '3');
	await term.until(/another terminal has changed the settings of this session: end it here/);
	await term.until(/^›$/m);
	guest.type('\x03');
	await guest.done;
	term.type('\x03');
	assert.equal((await term.done).status, 0);
});

test('a recorded session is resumed in the background server', options, async (t) => {
	const model = await startModel(t, [say('First answer.'), forever(say('Second answer.'))]);
	const home = daemonHome(t, model), cwd = tempDir(t, 'cwd');
	const { events } = await codexExec(t, model, ['go'], { home, cwd, json: true });
	const id = events.find(({ type }) => type === 'thread.started').thread_id;
	const term = await startReady(t, model, ['resume', id.slice(0, 24), '--daemon', 'more'], { home, cwd });
	await term.until(/› go\n\n• First answer\.[^]*Attached to a session[^]*› more\n\n• Second answer\./);
	await idle(term);
	const list = spawnSync(codexBin, ['attach', '--list'], { env: cleanEnv(home), encoding: 'utf8' }).stdout;
	assert.match(list, new RegExp(`^${id} {2}app-server `));
	spawnSync(codexBin, ['app-server', 'daemon', 'stop'], { env: cleanEnv(home) });
	await term.done;
	assert.match(term.raw(), /The session has ended there|The connection was lost: the process of the session has closed it/);
	for (const words of [['resume', '--daemon'], ['fork', '--daemon', '--last']]) {
		const refused = await startTerminal(t, model, words, { home, cwd });
		assert.equal((await refused.done).status, 2);
		assert.match(refused.raw(), /'--daemon' (requires a session|begins or resumes)/);
	}
});

test('a session that is moved or resumed in the server is as confined as here, also after a wider turn', options, async (t) => {
	const touch = run('touch made');
	const model = await startModel(t, [say('First.'), say('Second.'), touch, say('Moved answer.'), touch, forever(say('Resumed answer.'))]);
	const home = daemonHome(t, model, 'sandbox_mode = "read-only"\napproval_policy = "never"\n'), cwd = tempDir(t, 'cwd');
	const ids = [];
	for (const prompt of ['go', 'go again']) { // both with full access
		const { events } = await codexExec(t, model, [prompt], { home, cwd, json: true });
		ids.push(events.find(({ type }) => type === 'thread.started').thread_id);
	}
	const term = await startReady(t, model, ['resume', ids[0], '-s', 'read-only', '-a', 'never'], { home, cwd });
	await enter(term, '/daemon');
	await term.until(/^ {2}3\. Move this session there/m);
	await answer(term, '3');
	await term.until(/• Attached to a session that runs in the background server[^]*^›$/m);
	await enter(term, 'more');
	await term.until(/• Moved answer\./);
	await idle(term);
	term.type('\x03');
	await term.done;
	spawnSync(codexBin, ['app-server', 'daemon', 'stop'], { env: cleanEnv(home) });
	const again = await startReady(t, model, ['resume', ids[1], '--daemon', 'once more'], { home, cwd });
	await again.until(/• Resumed answer\./);
	await idle(again);
	assert.ok(!fs.existsSync(`${cwd}/made`));
	again.type('\x03');
	await again.done;
	const none = daemonHome(t, model);
	const first = await startReady(t, model, ['resume', '--last', '--daemon'], { home: none });
	await first.until(/Attached to a session that runs in the background server/);
	first.type('\x03');
	assert.equal((await first.done).status, 0);
});

/** The sandboxes of the turns that are recorded in a file. */
const sandboxes = (file) => fs.readFileSync(file, 'utf8').split('\n').filter((line) => line.includes('"turn_context"'))
	.map((line) => JSON.parse(line).payload.sandbox_policy);

test('a session that is moved or resumed in the server keeps its writable folders and its network', options, async (t) => {
	const model = await startModel(t, [forever(say('Answer.'))]);
	const own = tempDir(t, 'own'), cwd = tempDir(t, 'cwd'), top = 'sandbox_mode = "workspace-write"\n';
	const home = daemonHome(t, model, `${top}[sandbox_workspace_write]\nwritable_roots = ["${own}"]\nexclude_slash_tmp = true\n`);
	await codexExec(t, model, ['go'], { home, cwd, json: true });
	const wider = [`writable_roots=["${tempDir(t, 'other')}"]`, 'network_access=true', 'exclude_slash_tmp=false'];
	const words = wider.flatMap((word) => ['-c', `sandbox_workspace_write.${word}`]);
	assert.equal(spawnSync(codexBin, ['app-server', 'daemon', 'start', ...words], { env: cleanEnv(home) }).status, 0);
	const [first] = rollouts(home), isOther = (file) => file !== first;
	const term = await startReady(t, model, [], { home, cwd });
	await enter(term, 'begin');
	await term.until(/• Answer\./);
	await idle(term);
	await enter(term, '/daemon');
	await term.until(/^ {2}3\. Move this session there/m);
	await answer(term, '3');
	await term.until(/• Attached to a session that runs in the background server[^]*^›$/m);
	await enter(term, 'more');
	await term.until(/› more\n\n• Answer\./);
	await idle(term);
	const [here, there] = sandboxes(rollouts(home).find(isOther));
	assert.deepEqual([here.writable_roots, here.network_access, here.exclude_slash_tmp], [[own], false, true]);
	assert.deepEqual(there, here);
	term.type('\x03');
	await term.done;
	const config = fs.readFileSync(`${home}/config.toml`, 'utf8').replace(/writable_roots.*\n/, '');
	fs.writeFileSync(`${home}/config.toml`, config);
	const id = /[0-9a-f-]{36}(?=\.jsonl$)/.exec(first)[0];
	const again = await startReady(t, model, ['resume', id, '--daemon', 'once more'], { home, cwd });
	await again.until(/› once more\n\n• Answer\./);
	await idle(again);
	const { writable_roots, ...rest } = here;
	assert.deepEqual(sandboxes(first).at(-1), rest); // an empty list, not that of the server
	again.type('\x03');
	await again.done;
});

test('a session under a permission profile is neither moved nor resumed in the server', options, async (t) => {
	const model = await startModel(t, [forever(say('First answer.'))]);
	const home = daemonHome(t, model, 'default_permissions = "narrow"\n[permissions.narrow.filesystem]\n":workspace_roots" = "write"\n');
	const term = await startReady(t, model, [], { home });
	await enter(term, 'go');
	await term.until(/• First answer\./);
	await idle(term);
	await enter(term, '/daemon');
	await term.until(/^ {2}3\. Move this session there/m);
	await answer(term, '3');
	await term.until(/a session under a permission profile is not moved/);
	await term.until(/^›$/m);
	term.type('\x03');
	assert.equal((await term.done).status, 0);
	const again = await startTerminal(t, model, ['resume', '--last', '--daemon'], { home, cwd: term.cwd });
	assert.notEqual((await again.done).status, 0);
	assert.match(again.raw(), /the permission profile `narrow` is not handed to the background server: name a sandbox with -s/);
});

test('--daemon refuses options that a session of the server does not get', { skip: options.skip }, async (t) => {
	const home = makeHome(t, await startModel(t, [say('unused')]));
	for (const words of [['-c', 'model="x"'], ['--enable', 'goals'], ['--oss'], ['-p', 'fast'], ['--ephemeral'], ['--add-dir', '/tmp'], ['--search']]) {
		const { status, stderr } = spawnSync(codexBin, ['--daemon', ...words, 'say hi'], { env: cleanEnv(home), encoding: 'utf8' });
		assert.equal(status, 2, words.join(' '));
		assert.match(stderr, /has no effect on a session of the background server: set it in config\.toml, or leave out --daemon/);
	}
});
