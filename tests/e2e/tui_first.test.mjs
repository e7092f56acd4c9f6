// The first start: trust in the folder, and a key. Window title and notifications.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexBin, forever, makeHome, needs, reply, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { startIssuer } from './lib/issuer.mjs';
import { until } from './lib/nest.mjs';
import { providerHome, startProvider } from './lib/provider.mjs';
import { sayOf, startSocketModel } from './lib/socket_model.mjs';
import { answer, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';
import { wireHome } from './lib/wires.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);
const module = path.join(path.dirname(codexBin), 'tests/e2e/worker_first.so');
const lacksModule = !fs.existsSync(module) && 'the build has no worker_first.so';
const configOf = (term) => fs.readFileSync(path.join(term.home, 'config.toml'), 'utf8');

test('trust: Enter writes it, and the next start asks no more', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model);
	const cwd = tempDir(t, 'cwd');
	const term = await startTerminal(t, model, ['hello'], { home, cwd, trust: false });
	await term.until(/Folder access\n\/[^]*Trust this folder\?[^]*› 1\. Trust and continue[^]*2\. Continue without trust/);
	assert.equal(model.requests().length, 0);
	term.type('\r');
	await term.until(/› hello[^]*• ok/);
	await idle(term);
	assert.match(configOf(term), new RegExp(`\\[projects\\."?${cwd}"?\\]\\s*trust_level = "trusted"`));
	await leave(term);
	const again = await startReady(t, model, [], { home, cwd, trust: false });
	assert.doesNotMatch(again.lines().join('\n'), /Trust this folder/);
	await leave(again);
});

for (const [name, key] of [['2', '2'], ['Esc', '\x1b']]) {
	test(`trust: ${name} goes on without it, and writes nothing`, options, async (t) => {
		const model = await startModel(t, [forever(say('ok'))]);
		const term = await startTerminal(t, model, ['hello'], { trust: false });
		await term.until(/Trust this folder\?/);
		const before = configOf(term);
		term.type(key);
		await term.until(/› hello[^]*• ok/);
		await idle(term);
		assert.equal(configOf(term), before);
		await leave(term);
	});
}

test('/logout removes a login, then revokes its tokens', options, async (t) => {
	const issuer = await startIssuer(t), home = issuer.home(tempDir(t, 'home')), file = path.join(home, 'auth.json');
	const { refresh_token: token } = JSON.parse(fs.readFileSync(file, 'utf8')).tokens;
	const asked = new Promise((resolve) => { issuer.overrides.set('/oauth/revoke', () => resolve(fs.existsSync(file))); });
	const term = await startReady(t, null, [], { home, env: issuer.env });
	await enter(term, '/logout');
	await term.until(/Logged out: the stored key or login was removed/);
	assert.equal(await asked, false);
	await leave(term);
	assert.equal(issuer.refreshTokens.get(token), 'revoked');
});

test('a key: typed unseen, checked, and stored for the user alone; Esc leaves', options, async (t) => {
	const home = tempDir(t, 'home');
	const term = await startTerminal(t, null, [], { home, env: { OPENAI_API_KEY: '' } });
	await term.until(/Paste or type your API key[^]*OPENAI_API_KEY[^]*codex login/);
	await answer(term, 'bad key');
	term.type('\r');
	await term.until(/invalid API key[^]*auth\.json/);
	await answer(term, 'sk-test-123');
	await term.until(/^› •{11}$/m);
	term.type('\r');
	await term.until(/^ {2}gpt\S* .*· /m);
	assert.doesNotMatch(term.raw(), /sk-test/);
	const file = path.join(home, 'auth.json');
	assert.equal(JSON.parse(fs.readFileSync(file, 'utf8')).OPENAI_API_KEY, 'sk-test-123');
	assert.equal(fs.statSync(file).mode & 0o777, 0o600);
	await leave(term);
	const other = await startTerminal(t, null, [], { home: tempDir(t, 'home'), env: { OPENAI_API_KEY: '' } });
	await other.until(/Paste or type your API key/);
	other.type('\x1b');
	assert.deepEqual(await other.done, { status: 0, restored: true });
});

test('the title names the folder, the work and a request, and is cleared at the end', options, async (t) => {
	const model = await startModel(t, [reply({ gate: 'a' }, { call: 'exec_command', arguments: { cmd: 'touch x' } }), say('done')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: 'sandbox_mode = "danger-full-access"' });
	const name = path.basename(term.cwd);
	await term.until(/esc to interrupt/);
	await model.openGate('a');
	await term.until(/Would you like to run/);
	await answer(term, 'y');
	await term.until(/• done/);
	await idle(term);
	await leave(term);
	const titles = [...term.raw().matchAll(/\x1b\]0;([^\x07]*)\x07/g)].map(([, title]) => title);
	assert.deepEqual(titles.filter((title, i) => title !== titles[i - 1]),
		[name, `⠋ ${name}`, `[ ! ] Action Required | ${name}`, `⠋ ${name}`, name, ''].slice(titles[0] === name ? 0 : 1));
});

test('notifications: only without the focus, of the kinds that are wanted, without control characters', options, async (t) => {
	const model = await startModel(t, [forever(say('First \x07line.\nSecond line.'))]);
	const term = await startReady(t, model);
	await enter(term, 'one');
	await term.until(/Second line\./);
	await idle(term);
	assert.doesNotMatch(term.raw(), /\x1b\]9;/);
	term.type('\x1b[O');
	await enter(term, 'two');
	await term.until(/Second line\.[^]*Second line\./);
	await idle(term);
	assert.match(term.raw(), /\x1b\]9;First \^Gline\.\x07/);
	await leave(term);
	const config = '[tui]\nnotifications = ["approval-requested"]\nnotification_method = "bel"\nnotification_condition = "always"\n';
	const asks = await startModel(t, [run('touch x'), say('Quiet.')]);
	const other = await startReady(t, asks, ['go', '-a', 'untrusted'], { config: `sandbox_mode = "danger-full-access"\n${config}` });
	await other.until(/Would you like to run/);
	assert.match(other.raw().replace(/\x1b\][^\x07]*\x07/g, ''), /\x07/);
	const bells = () => other.raw().replace(/\x1b\][^\x07]*\x07/g, '').split('\x07').length;
	const before = bells();
	await answer(other, 'y');
	await other.until(/Quiet\./);
	await idle(other);
	assert.equal(bells(), before);
	assert.doesNotMatch(other.raw(), /\x1b\]9;/);
	await leave(other);
});

test('no connection before the first key, one from it on, which the first request uses', options, async (t) => {
	const server = await startProvider(t), home = providerHome(t, `base_url = "${server.url}/v1"`);
	const term = await startReady(t, null, [], { home });
	term.type('\x1b[I\x1b]11;rgb:ffff/ffff/ffff\x1b\\'); // the terminal's own words are no keys
	term.resize(24, 70);
	await term.until(/^›$/m);
	assert.equal(server.connections.length, 0);
	term.type('h');
	await until(() => server.connections.length === 1);
	assert.equal(server.requests.length, 0);
	term.type('ello');
	await term.until(/^› hello$/m);
	term.type('\r');
	await term.until(/• Hello\./);
	await idle(term);
	assert.deepEqual(server.requests.map((request) => request.socket), [0]);
	await leave(term);
});

test('the first key is drawn before the libraries of the network are loaded', { ...options, skip: options.skip || lacksModule }, async (t) => {
	const server = await startProvider(t), home = providerHome(t, `base_url = "${server.url}/v1"`);
	// With the module what a worker loads comes before all that the terminal draws later; the loader's words go to the terminal, too.
	const env = { LD_DEBUG: 'files', LD_PRELOAD: module, ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:verify_asan_link_order=0` };
	const term = await startReady(t, null, [], { home, env });
	const load = /libcurl\S* \[0\]; +dynamically loaded/;
	assert.doesNotMatch(term.raw(), load);
	term.type(`\x1b[200~${'long text '.repeat(200)}\x1b[201~`);
	await until(() => load.test(term.raw()));
	assert.match(term.raw().slice(0, term.raw().search(load)), /\[Pasted Content 2000 chars\]/);
	term.signal('TERM');
	await term.done;
});

test('no WebSocket before the first key of a session, one with its warm-up from it on, which the first request uses', options, async (t) => {
	const server = await startSocketModel(t, [sayOf('Hello.')]);
	const term = await startReady(t, null, [], { home: wireHome(t, server, 'model_context_window = 200000', 'supports_websockets = true\n') });
	const counts = () => [server.handshakes.length, server.warmUps, server.frames.length];
	term.resize(24, 70);
	await term.until(/^›$/m);
	assert.deepEqual(counts(), [0, 0, 0]);
	term.type('h');
	await until(() => server.warmUps === 1);
	term.type('ello');
	await term.until(/^› hello$/m);
	term.type('\r');
	await term.until(/• Hello\./);
	await idle(term);
	assert.deepEqual(counts(), [1, 1, 1]);
	await enter(term, '/new');
	await term.until(/To continue this session/);
	await term.until(/^›$/m);
	await term.untilGone(/^ {2}starting · /m);
	assert.deepEqual(counts(), [1, 1, 1]);
	term.type('a');
	await until(() => server.warmUps === 2);
	assert.deepEqual(counts(), [2, 2, 1]);
	assert.deepEqual(server.faults, []);
	term.type('\x7f');
	await term.until(/^›$/m);
	await leave(term);
});

test('a first key after a request of the session sends no second warm-up', options, async (t) => {
	const plan = 'Intro.\n<proposed_plan>\n# Plan\n- first step\n</proposed_plan>\n';
	const server = await startSocketModel(t, [sayOf(plan), sayOf('Built.'), sayOf('More.')]);
	const term = await startReady(t, null, [], { home: wireHome(t, server, 'model_context_window = 200000', 'supports_websockets = true\n') });
	term.type('\x1b[Z');
	await term.until(/Plan mode/);
	await enter(term, 'plan it');
	await term.until(/› 1\. Yes, implement this plan[^]*2\. /);
	await answer(term, '2'); // in a new session, whose first request follows no key
	await term.until(/• Built\./);
	await idle(term);
	const { warmUps } = server;
	await enter(term, 'more');
	await term.until(/• More\./);
	await idle(term);
	assert.deepEqual([server.warmUps, server.frames[2].body.input.length], [warmUps, 1]);
	assert.deepEqual(server.faults, []);
	await leave(term);
});

test('a prompt on the command line has its connection at once', options, async (t) => {
	const server = await startProvider(t), home = providerHome(t, `base_url = "${server.url}/v1"`);
	const fifo = path.join(home, 'fifo');
	execFileSync('mkfifo', [fifo]);
	const hook = { type: 'command', command: `cat ${fifo}` };
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }));
	assert.equal((await runCodex(t, ['hooks', 'trust', '--all'], { home })).code, 0);
	const term = await startReady(t, null, ['hello'], { home });
	await until(() => server.connections.length === 1);
	assert.equal(server.requests.length, 0); // the hook holds it
	await fs.promises.writeFile(fifo, '');
	await term.until(/• Hello\./);
	await idle(term);
	assert.deepEqual(server.requests.map((request) => request.socket), [0]);
	await leave(term);
});
