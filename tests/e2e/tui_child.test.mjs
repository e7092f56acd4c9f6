// Commands of the terminal that run `codex` in a child (/import, /plugins, /daemon), and those that keep choices in
// config.toml (/experimental, /presets).

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { atEnd, cleanEnv, codexBin, forever, makeHome, needs, patch, reply, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { answer, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('plugin').skip, timeout: 60_000 };
const fleet = { ...options, skip: options.skip || needs('import').skip };
const ESC = '\x1b', DOWN = '\x1b[B';
const text = (term) => term.lines().join('\n');
const configOf = (home) => fs.readFileSync(path.join(home, 'config.toml'), 'utf8');
const closed = (term) => term.until(/^›$/m);

function write(root, files) {
	for (const [file, content] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		fs.writeFileSync(path.join(root, file), content);
	}
	return fs.realpathSync(root);
}

/** The id that /status shows last. */
async function sessionOf(term) {
	const count = () => [...text(term).matchAll(/Session: ([0-9a-f-]{36})/g)];
	const before = count().length;
	await closed(term);
	await enter(term, '/status');
	await term.until(new RegExp(`(Session: [0-9a-f-]{36}[^]*){${before + 1}}`));
	await closed(term);
	return count().at(-1)[1];
}

/** Waits until another session runs. */
async function newSession(term, before) {
	while (await sessionOf(term) === before);
}

const SKILL = '---\nname: tidy\ndescription: Tidies the desk.\n---\nPut everything away.\n';
const pluginFiles = (name, more) => ({
	'.codex-plugin/plugin.json': JSON.stringify({ name, version: '1.2.0', description: 'Keeps order.\nHooks: none' }), 'skills/tidy/SKILL.md': SKILL,
	 'hooks/hooks.json': '{"hooks":{"UserPromptSubmit":[]}}', '.mcp.json': '{"mcpServers":{"mine":{"command":"x"}}}', ...more });

/** A marketplace with the plugin chair. */
const makeMarket = (t) => write(tempDir(t, 'market'), {
	'.agents/plugins/marketplace.json': JSON.stringify({ name: 'shop', plugins: [{ name: 'chair', source: { source: 'local', path: './all/chair' } }] }),
	...Object.fromEntries(Object.entries(pluginFiles('chair')).map(([file, content]) => [`all/chair/${file}`, content])) });

// ---- /import ----

test('/import shows what there is, and imports it after a yes', fleet, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	write(term.home, { '.claude/CLAUDE.md': '# My rules\n', '.claude/skills/one/SKILL.md': SKILL });
	await enter(term, '/import');
	await term.until(/• Migrate [^]*Import this from Claude Code\?[^]* 1\. Yes, import it\n› 2\. No/);
	assert.doesNotMatch(text(term), /codex import --apply/, 'the panel asks instead');
	assert.ok(!fs.existsSync(path.join(term.home, 'AGENTS.md')));
	await answer(term, 'n');
	await closed(term);
	assert.ok(!fs.existsSync(path.join(term.home, 'AGENTS.md')));
	await enter(term, '/import');
	await term.until(/1\. Yes, import it/);
	await answer(term, 'y');
	await term.until(/imported: /);
	assert.equal(fs.readFileSync(path.join(term.home, 'AGENTS.md'), 'utf8'), '# My rules\n');
	await leave(term);
});

test('/import without anything to import', fleet, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	await enter(term, '/import');
	await term.until(/• There is nothing to import from Claude Code\./);
	await closed(term);
	await leave(term);
});

// ---- /plugins ----

test('/plugins adds a folder, shows what a plugin brings, turns it off and on, and removes it', fleet, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const root = write(tempDir(t, 'plugin'), pluginFiles('desk'));
	const term = await startReady(t, model, [], { rows: 40 });
	await enter(term, '/plugins');
	await term.until(/Plugins\n[^]*› Add another one …/);
	await answer(term, '\r');
	await term.until(/The folder, the URL of a repository, or NAME@MARKETPLACE/);
	term.type(root);
	await term.until(/^› \/\S+plugin/m);
	term.type('\r');
	await term.until(/• Added plugin desk\.\n\n• This counts from the next session on/);
	await closed(term);
	await enter(term, '/plugins');
	await term.until(/› desk +enabled/);
	await answer(term, '\r');
	await term.until(/^desk \(enabled\)\ndesk 1\.2\.0\nHooks: UserPromptSubmit\nMCP servers: mine\nSkills: tidy\nFolder: /m);
	await term.until(/^Keeps order\.\\nHooks: none$/m);
	await term.until(/1\. Turn it off\n {2}2\. Remove it\n› 3\. Back/);
	await answer(term, 't');
	await term.until(/• Saved in config\.toml/);
	assert.match(configOf(term.home), /\[plugins\.desk\]\nenabled = false/);
	await closed(term);
	await enter(term, '/plugins');
	await term.until(/› desk +disabled/);
	await answer(term, '\r');
	await term.until(/1\. Turn it on/);
	await answer(term, 'r');
	await term.until(/• Removed plugin desk\./);
	assert.ok(fs.existsSync(path.join(root, 'skills/tidy/SKILL.md')), 'the folder itself stays');
	await leave(term);
});

test('a plugin of a marketplace is installed, and its skill is there in the next session', fleet, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const market = makeMarket(t);
	const term = await startReady(t, model, [], { rows: 40 });
	await enter(term, `/plugins marketplace add ${market}`);
	await term.until(/• Added marketplace shop/);
	await closed(term);
	await enter(term, '/plugins');
	await term.until(/› chair@shop +not installed/);
	await answer(term, '\r');
	await term.until(/^chair@shop \(not installed\)\nchair 1\.2\.0\n[^]*1\. Install it\n› 2\. Back/m);
	await answer(term, 'i');
	await term.until(/• Added plugin chair@shop\./);
	await closed(term);
	await enter(term, '/skills');
	await term.until(/No skill was found/);
	await closed(term);
	const before = await sessionOf(term);
	await enter(term, '/new');
	await newSession(term, before);
	await enter(term, '/skills');
	await term.until(/\[x\] (chair:)?tidy/);
	term.type(ESC);
	await closed(term);
	await leave(term);
});

test('without codex-fleet /plugins says so, and lists what is installed', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model), alone = path.join(tempDir(t, 'bin'), 'codex');
	fs.copyFileSync(codexBin, alone);
	fs.chmodSync(alone, 0o755);
	await runCodex(t, ['plugin', 'add', write(tempDir(t, 'plugin'), pluginFiles('desk'))], { home });
	const term = await startReady(t, model, [], { home, command: [alone], env: { CODEX_LIBEXEC: '/none' } });
	await enter(term, '/plugins');
	await term.until(/■ codex plugin: cannot find codex-fleet: install [^]*› desk +enabled/);
	await answer(term, ESC);
	await closed(term);
	await enter(term, '/import');
	await term.until(/■ codex import: cannot find codex-fleet/);
	await closed(term);
	await leave(term);
});

test('/plugins refuses other words', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	const wrong = ['add', 'addx y', 'install z', 'marketplace'];
	for (const [i, words] of wrong.entries()) {
		await enter(term, `/plugins ${words}`);
		await term.until(new RegExp(`(■ /plugins takes add SOURCE[^]*){${i + 1}}^›$`, 'm'));
	}
	await leave(term);
});

test('what is typed while a child runs answers nothing that opens at its end', fleet, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	write(term.home, { '.claude/CLAUDE.md': '# My rules\n' });
	await enter(term, '/import');
	for (const key of 'yes, y') term.type(key);
	await term.until(/Import this from Claude Code\?/);
	await answer(term, 'n');
	await term.until(/^› yes, y$/m);
	assert.ok(!fs.existsSync(path.join(term.home, 'AGENTS.md')));
	assert.doesNotMatch(text(term), /imported: /);
	term.type('\x03');
	await closed(term);
	await leave(term);
});

test('a long description hides nothing that a plugin brings', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model);
	const manifest = { name: 'desk', version: 'v'.repeat(20_000), description: 'word '.repeat(20_000) };
	const root = write(tempDir(t, 'plugin'), pluginFiles('desk', { '.codex-plugin/plugin.json': JSON.stringify(manifest) }));
	await runCodex(t, ['plugin', 'add', root], { home });
	const term = await startReady(t, model, [], { home });
	await enter(term, '/plugins');
	await term.until(/› desk +enabled/);
	await answer(term, '\r');
	await term.until(/Hooks: UserPromptSubmit\nMCP servers: mine\nSkills: tidy\n[^]*1\. Turn it off/);
	await answer(term, ESC);
	await closed(term);
	await leave(term);
});

test('an output above the limit is a failure, and standard error is cut', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const bin = tempDir(t, 'bin');
	fs.writeFileSync(path.join(bin, 'git'), '#!/bin/sh\nhead -c 30000000 /dev/zero | tr "\\0" x >&2; exit 1\n', { mode: 0o755 });
	const term = await startReady(t, model, [], { env: { PATH: `${bin}:${process.env.PATH}` } });
	await enter(term, '/plugins add http://127.0.0.1:1/x.git');
	await term.until(/■ x{70}/);
	await closed(term);
	assert.ok(text(term).match(/x/g).length <= 64 * 1024 + 100);
	await leave(term);
});

// ---- children ----

test('a child that hangs leaves the terminal usable, and esc kills it with what it started', options, async (t) => {
	const model = await startModel(t, [forever(say('The answer.'))]);
	const server = net.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => server.close());
	const term = await startReady(t, model, []);
	const connected = once(server, 'connection');
	await enter(term, `/plugins add http://127.0.0.1:${server.address().port}/x.git`);
	const [connection] = await connected; // git waits for an answer that does not come
	connection.on('error', () => {}).resume();
	await term.until(/^• Running \(esc cancels\): codex plugin add/m);
	await enter(term, 'go');
	await term.until(/• The answer\./);
	await enter(term, '/plugins');
	await term.until(/■ codex plugin add \S+ http\S+ has not ended yet; esc\s+cancels it/);
	await closed(term);
	const ended = once(connection, 'close');
	term.type(ESC);
	await term.until(/• codex plugin add \S+ http\S+ was cancelled/);
	await term.untilGone(/^• Running \(esc/m);
	await ended;
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

test('git asks for no password across the screen', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const refuse = (request, response) => response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
	const server = http.createServer(refuse).listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => server.close());
	const term = await startReady(t, model, [], { rows: 40, env: { GIT_ASKPASS: '', SSH_ASKPASS: '' } });
	await enter(term, `/plugins add http://127.0.0.1:${server.address().port}/x.git`);
	await term.until(/■ [^]*could not read Username[^]*Error: `git clone` failed/);
	await term.untilGone(/^• Running \(esc/m);
	assert.doesNotMatch(term.raw(), /Username for 'http[^']*': $/m);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

test('the end of the terminal ends a child, and ctrl-c cancels it before it interrupts', options, async (t) => {
	const model = await startModel(t, [forever(reply({ gate: 'never' }))]);
	const server = net.createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => server.close());
	const term = await startReady(t, model, []);
	for (const ending of ['ctrl-c', 'close']) {
		const connected = once(server, 'connection');
		await enter(term, `/plugins add http://127.0.0.1:${server.address().port}/x.git`);
		const [connection] = await connected;
		connection.on('error', () => {}).resume();
		const ended = once(connection, 'close');
		if (ending === 'ctrl-c') {
			await enter(term, 'go');
			await term.until(/esc to interrupt/);
			term.type('\x03');
			await term.until(/was cancelled/);
			assert.match(text(term), /esc to interrupt/);
			term.type('\x03');
			await term.until(/Conversation interrupted/);
			await closed(term);
		} else {
			term.close();
		}
		await ended;
	}
	assert.equal((await term.done).restored, true);
});

// ---- /daemon ----

test('/daemon starts, lists and stops the background server', { ...options, skip: options.skip || needs('app-server').skip }, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model);
	atEnd(t, () => spawnSync(codexBin, ['app-server', 'daemon', 'stop'], { env: cleanEnv(home) }));
	const term = await startReady(t, model, [], { home });
	await enter(term, '/daemon');
	await term.until(/^Background server: not running\nSocket: \/[^]*› 1\. Start it\n/m);
	await answer(term, '\r');
	await term.until(/• Background server: running, process \d+, version \d/);
	await closed(term);
	await enter(term, '/daemon');
	await term.until(/› 1\. List the sessions [^]*2\. Stop or restart it …/);
	await answer(term, '1');
	await term.until(/[0-9a-f-]{36} {2}tui [^]*In another terminal: codex attach ID/);
	await closed(term);
	await enter(term, '/daemon');
	await term.until(/2\. Stop or restart it …/);
	await answer(term, '2');
	await term.until(/Stop the background server\?[^]*› 3\. No/);
	term.type('s');
	await term.until(/• Background server: not running/);
	assert.equal(spawnSync(codexBin, ['app-server', 'daemon', 'status'], { env: cleanEnv(home) }).status, 1);
	await leave(term);
});

test('/daemon: a server that hangs can be stopped, and a folder that is gone is not needed', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model), cwd = tempDir(t, 'gone');
	atEnd(t, () => spawnSync(codexBin, ['app-server', 'daemon', 'stop'], { env: cleanEnv(home) }));
	const term = await startReady(t, model, [], { home, cwd });
	fs.rmSync(cwd, { recursive: true });
	await enter(term, '/daemon');
	await term.until(/^Background server: not running\n/m);
	await answer(term, '1');
	await term.until(/• Background server: running, process \d+/);
	await closed(term);
	const pid = Number(/process (\d+)/.exec(text(term))[1]);
	process.kill(pid, 'SIGSTOP');
	await enter(term, '/daemon');
	await term.until(/1\. List the sessions [^]*2\. Stop or restart it …/);
	await answer(term, '2');
	await term.until(/Stop the background server\?/);
	process.kill(pid, 'SIGCONT');
	term.type('s');
	await term.until(/• Background server: not running/);
	await leave(term);
});

// ---- choices in config.toml ----

test('/experimental turns features on and off in config.toml', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config: 'features.code_mode = true\n' });
	await enter(term, '/experimental');
	await term.until(/Experimental features\n› \[ \] apply_patch_streaming_events[^]*\[x\] code_mode {2}/);
	assert.doesNotMatch(text(term), /shell_tool/);
	term.type(' ');
	await term.until(/› \[x\] apply_patch_streaming_events/);
	term.type(ESC);
	await closed(term);
	await enter(term, '/experimental');
	await term.until(/› \[ \] apply_patch_streaming_events/);
	term.type(` ${DOWN}`);
	await term.until(/\[x\] apply_patch[^]*› \[x\] code_mode/);
	term.type(' ');
	await term.until(/› \[ \] code_mode/);
	term.type('\r');
	await term.until(/• Saved in config\.toml, for new sessions/);
	const list = (await runCodex(t, ['features', 'list'], { home: term.home })).stdout;
	assert.match(list, /^apply_patch_streaming_events .* true$/m);
	assert.match(list, /^code_mode .* false$/m);
	assert.doesNotMatch(configOf(term.home), /multi_agent/, 'what did not change is not written');
	await leave(term);
});

const PRESET = '[tui.presets.4]\ninput = "first\\nsecond"\nlabel = "My label"\n';

test('/presets keeps prompts and commands, and runs them by their digit', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { rows: 40, config: PRESET });
	await enter(term, '/presets');
	await term.until(/› 1\. empty[^]*4\. My label {2,}first\\nsecond/);
	term.type('n');
	await term.until(/Write a prompt or a slash command/);
	term.type('say hello');
	await term.until(/^› say hello/m);
	term.type('\r');
	await term.until(/Save in which place\?/);
	term.type('2');
	await term.until(/• Saved in config\.toml/);
	assert.match(configOf(term.home), /\[tui\.presets\.2\]\ninput = "say hello"/);
	await closed(term);
	await enter(term, '/presets');
	await term.until(/2\. say hello/);
	term.type('2');
	await term.until(/› say hello\n\n• ok/);
	assert.equal(model.requests().at(-1).body.input.at(-1).content.at(-1).text, 'say hello');
	await term.untilGone(/esc to interrupt/);
	await enter(term, '/presets');
	await term.until(/2\. say hello/);
	term.type('s');
	await term.until(/› 1\. \/model gpt\S+[^]*2\. \/permissions \w/);
	term.type('2');
	await term.until(/Save in which place\?/);
	term.type('0');
	await term.until(/Saved in config\.toml[^]*Saved in config\.toml/);
	const [, permissions] = /\[tui\.presets\.0\]\ninput = "(\/permissions .*)"/.exec(configOf(term.home));
	await closed(term);
	await enter(term, '/presets');
	await term.until(/10\. \/permissions/);
	term.type('0');
	await term.until(new RegExp(`Permissions changed to ${permissions.slice(13)}`));
	await closed(term);
	await enter(term, '/presets');
	await term.until(/2\. say hello/);
	term.type('d');
	await term.until(/Delete which preset\?/);
	term.type('2');
	await term.until(/(Saved in config\.toml[^]*){3}/);
	assert.doesNotMatch(configOf(term.home), /say hello/);
	assert.doesNotMatch(configOf(term.home), /presets\.2|^2 = /m);
	assert.match(configOf(term.home), /My label/);
	await closed(term);
	await leave(term);
});

test('a preset is replaced after a question, without its label, and a project brings none', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const cwd = write(tempDir(t, 'cwd'), { '.codex/config.toml': '[tui.presets.1]\ninput = "!touch evil"\n[tui.presets.4]\ninput = "!touch evil"\n' });
	const term = await startReady(t, model, [], { rows: 40, cwd, config: PRESET });
	await enter(term, '/presets');
	await term.until(/› 1\. empty[^]*4\. My label {2,}first\\nsecond/);
	term.type('3'); // a text for this place
	await term.until(/Write a prompt or a slash command/);
	term.type('third');
	await term.until(/^› third/m);
	term.type('\r');
	await term.until(/• Saved in config\.toml/);
	assert.match(configOf(term.home), /\[tui\.presets\.3\]\ninput = "third"/);
	for (const key of ['n', 'y']) {
		await closed(term);
		await enter(term, '/presets');
		await term.until(/3\. third/);
		term.type('n');
		await term.until(/Write a prompt or a slash command/);
		term.type('fourth');
		await term.until(/^› fourth/m);
		term.type('\r');
		await term.until(/Save in which place\?/);
		term.type('4');
		await term.until(/This place is taken\. Replace what is there\?[^]*› 2\. No/);
		assert.match(configOf(term.home), /My label/);
		term.type(key);
	}
	await term.until(/(Saved in config\.toml[^]*){2}/);
	assert.match(configOf(term.home), /\[tui\.presets\.4\]\ninput = "fourth"/);
	assert.doesNotMatch(configOf(term.home), /My label/);
	assert.ok(!fs.existsSync(path.join(cwd, 'evil')));
	await closed(term);
	await leave(term);
});

test('/model and /permissions take names', options, async (t) => {
	const model = await startModel(t, [run('touch made'), forever(say('ok'))]);
	const term = await startReady(t, model, [], { config: 'sandbox_mode = "read-only"\n' });
	await enter(term, '/model my-model high');
	await term.until(/• Model changed to my-model high\n\n⚠ my-model is not among the known models: requests ask the provider for it\n/);
	await closed(term);
	await enter(term, '/model high'); // no model is called so, and it would be the one of all new sessions
	await term.until(/■ \/model takes the name of a model[^]*^›$/m);
	await enter(term, '/model my-model loud');
	await term.until(/(■ \/model takes the name of a model and a reasoning effort[^]*){2}/);
	await closed(term);
	await enter(term, '/permissions ask for approval');
	await term.until(/• Permissions changed to Ask for approval/);
	await closed(term);
	await enter(term, '/permissions full access');
	await term.until(/Enable Full Access\?[^]*› 2\. Cancel/);
	term.type(ESC);
	await closed(term);
	await enter(term, '/permissions anything');
	await term.until(/■ \/permissions takes one of the names/);
	await closed(term);
	await enter(term, 'go');
	await term.until(/• ok/);
	assert.equal(model.requests()[0].body.model, 'my-model');
	assert.equal(model.requests()[0].body.reasoning.effort, 'high');
	await leave(term);
});

// ---- /approve ----

const REVIEWED = 'approvals_reviewer = "auto_review"\napproval_policy = "on-request"\nsandbox_mode = "workspace-write"\n';
const escalated = (cmd) => run(cmd, { sandbox_permissions: 'require_escalated', justification: 'It is needed.' });
const allow = say('{"outcome":"allow","risk_level":"low","user_authorization":"high","rationale":"The user asked for it."}');
const deny = (why) => say(JSON.stringify({ outcome: 'deny', risk_level: 'high', user_authorization: 'low', rationale: why }));
const approvals = (model) => model.requests().filter(({ headers }) => headers['x-openai-subagent'] === 'guardian')
	.map(({ body }) => JSON.parse(body.input[0].content[0].text).actions_approved_by_user.map((it) => JSON.parse(it.arguments).cmd));

test('/approve approves one retry of an action that the reviewer denied', options, async (t) => {
	const model = await startModel(t, [escalated('touch first'), deny('Too early.\n\n$ ls'), say('No.'),
		escalated('touch second'), deny('Too late.'), say('No.'), escalated('touch first'), allow, say('Done.')]);
	const term = await startReady(t, model, [], { config: REVIEWED, rows: 40 });
	await enter(term, '/approve');
	await term.until(/• The automatic reviewer has denied nothing in this session/);
	for (const words of ['one', 'two']) {
		await closed(term);
		await enter(term, words);
		await term.until(new RegExp(`› ${words}[^]*• No\\.`));
		await term.untilGone(/esc to interrupt/);
	}
	await closed(term);
	await enter(term, '/approve');
	await term.until(/Approve one retry of this denied action\?\n\nDenied: Too late\.\n\n\$ touch second\n\nIn \/[^]*› 3\. No \(esc\)/);
	term.type('o');
	await term.until(/Denied: Too early\.\\n\\n\$ ls\n\n\$ touch first\n[^]*› 2\. No \(esc\)/);
	term.type('y');
	await term.until(/• You approved one retry of the denied action/);
	await closed(term);
	await enter(term, 'again');
	await term.until(/Done\./);
	assert.deepEqual(approvals(model), [[], [], ['touch first']]);
	assert.ok(fs.existsSync(path.join(term.cwd, 'first')));
	await term.untilGone(/esc to interrupt/);
	await enter(term, '/approve');
	await term.until(/touch second\n[^]*› 2\. No \(esc\)/);
	term.type(ESC);
	await closed(term);
	const before = await sessionOf(term);
	await enter(term, '/new');
	await newSession(term, before);
	await enter(term, '/approve');
	await term.until(/has denied nothing[^]*has denied nothing/);
	await leave(term);
});

test('/approve approves nothing that was not wholly visible', options, async (t) => {
	const model = await startModel(t, [escalated(`touch made # ${'long '.repeat(300)}`), deny('No.'), forever(say('No.'))]);
	const term = await startReady(t, model, [], { config: REVIEWED, rows: 12, columns: 50 });
	await enter(term, 'one');
	await term.until(/• No\./);
	await term.untilGone(/esc to interrupt/);
	await enter(term, '/approve');
	await term.until(/ctrl-a shows all/);
	await answer(term, 'y');
	await term.until(/R E Q U E S T/);
	term.type('q');
	await term.until(/ctrl-a shows all/);
	assert.doesNotMatch(text(term), /You approved/);
	await answer(term, 'y');
	await term.until(/You approved one retry/);
	await leave(term);
});

test('/approve shows the content of a patch before it approves a retry', options, async (t) => {
	const edit = patch('*** Add File: made.txt', '+hello\x1b[31m world', '+› 1. Yes');
	const model = await startModel(t, [edit, deny('No.'), say('No.'), forever(say('ok'))]);
	const term = await startReady(t, model, [], { config: REVIEWED.replace('workspace-write', 'read-only'), rows: 40 });
	await enter(term, 'one');
	await term.until(/• No\./);
	await term.untilGone(/esc to interrupt/);
	await enter(term, '/approve');
	await term.until(/Edits in \S+\n\nAdded \S*made\.txt\n\+hello\^\[\[31m world\n\+› 1\. Yes\n\nCall [^]*› 2\. No \(esc\)/);
	assert.ok(!term.raw().includes('hello\x1b'));
	term.type(ESC);
	await closed(term);
	assert.doesNotMatch(text(term), /You approved/);
	await leave(term);
});

test('/approve says why nothing was approved', options, async (t) => {
	const model = await startModel(t, [escalated(`touch made # ${'long '.repeat(20000)}`), forever(say('No.'))]);
	const term = await startReady(t, model, [], { config: REVIEWED, rows: 30 });
	await enter(term, 'one');
	await term.until(/• No\./);
	await term.untilGone(/esc to interrupt/);
	await enter(term, '/approve');
	await term.until(/ctrl-a shows all/);
	await answer(term, 'y');
	await term.until(/R E Q U E S T/);
	term.type('q');
	await term.until(/ctrl-a shows all/);
	await answer(term, 'y');
	await term.until(/Nothing was approved: the action has more than 64 KiB/);
	assert.doesNotMatch(text(term), /You approved/);
	await leave(term);
});

// ---- names that are not there ----

test('commands of codex 0.169 that are not there say why', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	for (const name of ['apps', 'debug-config', 'ide', 'memories', 'pets', 'tui', 'voice']) {
		await enter(term, `/${name}`);
		await term.until(new RegExp(`■ There is no /${name} here: \\S`));
		term.type('\x03'); // the text stays in the composer
		await closed(term);
	}
	assert.equal(model.requests().length, 0);
	await leave(term);
});
