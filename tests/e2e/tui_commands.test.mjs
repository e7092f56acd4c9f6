// Slash commands of the terminal.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { forever, makeHome, needs, readLines, reply, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { answer, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const SERVER = fileURLToPath(new URL('lib/mcp_server.mjs', import.meta.url));
const idle = (term) => term.untilGone(/esc to interrupt/);
const ESC = '\x1b';
const text = (term) => term.lines().join('\n');

/** A git repository with one commit, one change and one new file. */
function repository(t) {
	const cwd = tempDir(t, 'cwd');
	const who = ['-c', 'user.name=A', '-c', 'user.email=a@b'];
	const git = (...args) => assert.equal(spawnSync('git', ['-C', cwd, ...who, ...args]).status, 0);
	git('init', '-q', '-b', 'main');
	fs.writeFileSync(path.join(cwd, 'old.txt'), 'one\ntwo\n');
	git('add', '.');
	git('commit', '-qm', 'first subject');
	git('branch', 'other');
	fs.writeFileSync(path.join(cwd, 'old.txt'), 'one\nTWO\n');
	fs.writeFileSync(path.join(cwd, 'new file.txt'), 'fresh\n');
	return cwd;
}

test('/status, /help, /ps, /skills, /feedback, /logout and an unknown name', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, ['go']);
	await term.until(/• ok/);
	await idle(term);
	const status = ['Model: gpt', 'Model provider: mock', 'Directory: /', 'Permissions: \\S', 'Agents.md: none', 'Collaboration mode: Default',
		'Session: [0-9a-f-]{36}', 'Token usage: \\S+ total {2}\\(\\S+ input \\+ \\S+ output\\)'];
	const steps = [['/status', new RegExp(status.join('[^]*'))],
		['/help', /\/model {8}choose[^]*\/help {9}list/], ['/ps', /• Background terminals\n {4}None is running/],
		['/skills', /No skill was found/], ['/feedback', /Nothing is uploaded\.[^]*sessions\/\d{4}\//], ['/logout', /no key or login is stored/]];
	for (const [command, wanted] of steps) {
		await enter(term, command);
		await term.until(wanted);
		await term.until(/^›$/m);
	}
	assert.doesNotMatch(text(term), /\/approvals {2}/);
	await enter(term, '/statsu');
	await term.until(/■ Unrecognized command '\/statsu'\. Type "\/" for a list of supported commands\.\s+Did you mean \/status\?/);
	assert.match(term.screen().join('\n'), /^› \/statsu$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('/config and /feedback keep their indent where rows are wrapped', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { columns: 50 });
	for (const command of ['/config', '/feedback']) {
		await enter(term, command);
		await term.until(command === '/config' ? /Settings; later files override/ : /codex doctor/);
		await term.until(/^›$/m);
		const [, cell] = text(term).split(command === '/config' ? '• Settings' : '• Nothing is uploaded');
		const rows = cell.split('\n\n')[0].split('\n').slice(command === '/config' ? 1 : 2);
		assert.ok(rows.length > 1);
		for (const row of rows) assert.match(row, /^ {4}\S/);
	}
	await leave(term);
});

test('/model: the model and its effort, for the next request and for new sessions', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	await enter(term, '/model');
	await term.until(/Select Model and Effort\n[^]*^› \d\. \S+/m);
	const names = [...text(term).matchAll(/^[ ›] (\d)\. (\S+)/gm)].map(([, number, name]) => [number, name]);
	const [number, name] = names.at(-1);
	term.type(number);
	await term.until(/Select Reasoning Effort\n/);
	const efforts = [...text(term).matchAll(/^[ ›] (\d)\. (low|high)\b/gm)];
	const [, digit, effort] = efforts.at(-1);
	term.type(digit);
	await term.until(new RegExp(`Model changed to ${name} ${effort}`));
	await enter(term, 'go');
	await term.until(/• ok/);
	await idle(term);
	assert.equal(model.requests()[0].body.model, name);
	assert.equal(model.requests()[0].body.reasoning.effort, effort);
	const file = fs.readFileSync(path.join(term.home, 'config.toml'), 'utf8');
	assert.match(file, new RegExp(`^model = "${name}"`, 'm'));
	assert.match(file, new RegExp(`^model_reasoning_effort = "${effort}"`, 'm'));
	await leave(term);
});

test('/permissions: full access asks once more, and takes effect at the next command', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Finished.')]);
	const term = await startReady(t, model, ['-a', 'on-request'], { config: 'sandbox_mode = "read-only"\n' });
	await enter(term, '/permissions');
	await term.until(/1\. Ask for approval[^]*2\. Full Access[^]*› 3\. Read Only \(current\)/);
	term.type('2');
	await term.until(/1\. Yes, continue anyway\n› 2\. Cancel/);
	term.type(ESC);
	await term.until(/^›$/m);
	await enter(term, '/approvals');
	await term.until(/› 3\. Read Only \(current\)/);
	term.type('2');
	await term.until(/Yes, continue anyway/);
	term.type('1');
	await term.until(/Permissions changed to Full Access/);
	await enter(term, 'go');
	await term.until(/Finished\./);
	await idle(term);
	assert.ok(fs.existsSync(path.join(term.cwd, 'made')));
	await leave(term);
});

test('/review: presets, a branch, a commit found by typing, and custom text', options, async (t) => {
	const review = '{"findings":[],"overall_explanation":"All fine.","overall_correctness":"patch is correct","overall_confidence_score":1}';
	const model = await startModel(t, [forever(say(review))]);
	const term = await startReady(t, model, [], { cwd: repository(t) });
	await enter(term, '/review');
	await term.until(/Select a review preset\n[^]*› 1\. Review against a base branch[^]*2\. Review uncommitted[^]*3\. Review a commit[^]*4\. Custom/);
	term.type('\r');
	await term.until(/Select the base branch\n[^]*other/);
	term.type('oth');
	await term.until(/Search: oth\n› other\n {2}type to search/);
	term.type('\r');
	await term.untilGone(/Select the base branch/);
	await term.until(/All fine\./);
	await idle(term);
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /other/);
	await enter(term, '/review');
	await term.until(/Select a review preset/);
	term.type('3');
	await term.until(/› [0-9a-f]{40} first subject/);
	term.type('\r');
	await term.until(/All fine\.[^]*All fine\./);
	await idle(term);
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /first subject/);
	await enter(term, '/review look at the names');
	await term.until(/All fine\.[^]*All fine\.[^]*All fine\./);
	await idle(term);
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /look at the names/);
	assert.equal(model.requests().length, 3);
	await leave(term);
});

test('/diff: changes and new files; outside git it says so', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { cwd: repository(t) });
	await enter(term, '/diff');
	await term.until(/-two[^]*\+TWO[^]*new file\.txt[^]*\+fresh/);
	term.type('q');
	await term.untilGone(/\+fresh/);
	await leave(term);
	const plain = await startReady(t, model);
	await enter(plain, '/diff');
	await plain.until(/not inside a git repository/);
	await leave(plain);
});

test('/new: another session, without the old conversation, and the old one is named', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const spy = path.join(tempDir(t, 'spy'), 'log');
	const config = `[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = '''x=$(cat); echo "$x" >>${spy}'''`;
	const term = await startReady(t, model, ['--dangerously-bypass-hook-trust', 'first words'], { config });
	await term.until(/• ok/);
	await idle(term);
	await enter(term, '/new');
	await term.until(/codex resume\s+[0-9a-f-]{36}[^]*New session/);
	await term.untilGone(/^ {2}starting · /m);
	await enter(term, 'second words');
	await term.until(/› second words[^]*• ok/);
	await idle(term);
	assert.doesNotMatch(JSON.stringify(model.requests()[1].body.input), /first words/);
	assert.match(JSON.stringify(model.requests()[1].body.input), /second words/);
	await enter(term, '/clear');
	await until(() => !term.screen().includes('› second words'));
	assert.match(text(term), /^› second words$/m); // in the scrollback
	await term.until(/New session[^]*^›$/m);
	await enter(term, 'third words');
	await term.until(/› third words[^]*• ok/);
	await leave(term);
	assert.deepEqual(readLines(spy).map(({ source }) => source), ['startup', 'startup', 'clear']);
});

test('/init sends its request once there is no AGENTS.md; /mention opens the files; /plan sends its text', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { cwd });
	await enter(term, '/init');
	await term.until(/• ok/);
	await idle(term);
	assert.match(textsOf(model.requests()[0], 'user').at(-1), /AGENTS\.md/);
	fs.writeFileSync(path.join(cwd, 'AGENTS.md'), 'x');
	await enter(term, '/init');
	await term.until(/AGENTS\.md already exists/);
	assert.equal(model.requests().length, 1);
	await enter(term, '/mention');
	await term.until(/type a part of the name/);
	await term.until(/^› @$/m);
	term.type('AGEN');
	await term.until(/^› AGENTS\.md/m);
	term.type('\t');
	await term.until(/^› AGENTS\.md$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	await enter(term, '/plan think about it');
	await term.until(/Plan mode[^]*/);
	await term.until(/› think about it[^]*• ok/);
	await idle(term);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'think about it');
	await leave(term);
});

test('/mcp lists servers and tools; /rename asks for a name', options, async (t) => {
	const toml = JSON.stringify;
	const script = { tools: ['echo', 'write'].map((name) => ({ name, inputSchema: { type: 'object' } })) };
	const config = `[mcp_servers.tea]\ncommand = ${toml(process.execPath)}\nargs = [${toml(SERVER)}, ${toml(toml(script))}]\n`;
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config });
	await enter(term, '/mcp');
	await term.until(/• MCP Tools\n {4}tea: 2 tools/);
	await enter(term, '/mcp verbose');
	await term.until(/tea: 2 tools\n {6}echo\n {6}write/);
	await enter(term, '/rename');
	await term.until(/Name this session/);
	await answer(term, 'apples');
	await term.until(/› apples/);
	term.type('\r');
	await term.until(/Thread renamed to apples/);
	await leave(term);
	const none = await startReady(t, model);
	await enter(none, '/mcp');
	await none.until(/No MCP servers are configured/);
	await leave(none);
});

test('/copy and Ctrl-O put the Markdown on the clipboard', options, async (t) => {
	const model = await startModel(t, [say('**bold** words')]);
	const term = await startReady(t, model, ['go'], { env: { TMUX: '/tmp/x,1,0' } });
	await term.until(/bold words/);
	await idle(term);
	const code = Buffer.from('**bold** words').toString('base64');
	await enter(term, '/copy');
	await term.until(/Sent the last answer to the terminal/);
	assert.ok(term.raw().includes(`\x1b]52;c;${code}\x07`));
	assert.ok(term.raw().includes(`\x1bPtmux;\x1b\x1b]52;c;${code}\x07\x1b\\`));
	term.type('\x0f');
	await term.until(/Sent the last answer[^]*Sent the last answer/);
	await leave(term);
});

test('during a turn some commands wait for its end, and others work', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I work' }, { gate: 'a' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I work/);
	for (const name of ['model', 'permissions', 'review', 'new', 'init', 'compact', 'logout', 'clear']) {
		await enter(term, `/${name}`);
		await term.until(new RegExp(`'/${name}' is disabled while a task is in progress`));
		term.type('\x15');
		await term.until(/^›$/m);
	}
	await enter(term, '/status');
	await term.until(/Session: [0-9a-f-]{36}/);
	await enter(term, '/ps');
	await term.until(/Background terminals/);
	assert.equal(model.requests().length, 1);
	await model.openGate('a');
	await idle(term);
	await leave(term);
});

test('/ps names a background command, and /stop ends it', options, async (t) => {
	const background = reply({ call: 'exec_command', arguments: { cmd: 'echo up; sleep 1000', yield_time_ms: 300 } });
	const model = await startModel(t, [background, say('Started.')]);
	const term = await startReady(t, model, ['go'], { config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' });
	await term.until(/Started\./);
	await idle(term);
	await enter(term, '/ps');
	await term.until(/• Background terminals\n {4}echo up; sleep 1000/);
	await enter(term, '/stop');
	await term.until(/Stopping all background terminals/);
	await term.until(/^›$/m);
	await enter(term, '/ps');
	await term.until(/None is running/);
	await leave(term);
});

test('a mistyped command of the program is not sent to a model', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model);
	const wrong = await startTerminal(t, model, ['exce'], { home });
	assert.notEqual((await wrong.done).status, 0);
	assert.match(wrong.raw(), /exec/);
	assert.equal(model.requests().length, 0);
	const right = await startReady(t, model, ['--', 'exce'], { home });
	await right.until(/› exce[^]*• ok/);
	await idle(right);
	await leave(right);
});

test('/goal sets, shows, pauses and removes a goal, whose turns run by themselves', options, async (t) => {
	const end = reply({ call: 'update_goal', arguments: { status: 'complete' }, call_id: 'u' });
	const model = await startModel(t, [say('One step.'), end, forever(say('Done.'))]);
	const term = await startReady(t, model);
	await enter(term, '/goal');
	await term.until(/No goal is set; \/goal WHAT TO REACH sets one/);
	await enter(term, '/goal make it work');
	await term.until(/Goal: make it work\n +Status: active[^]*• One step\.[^]*• Done\./);
	await idle(term);
	await enter(term, '/goal');
	await term.until(/Done\.[^]*Goal: make it work\n +Status: complete\n +Tokens: \d+/);
	await enter(term, '/goal pause');
	await term.until(/Status: paused/);
	await enter(term, '/goal clear');
	await term.until(/The goal was removed/);
	await enter(term, '/goal clear');
	await term.until(/The goal was removed[^]*No goal is set/);
	await enter(term, '/goal resume');
	await term.until(/cannot update goal/);
	await leave(term);
});

test('/side asks without a trace in the session, and Esc withdraws the question; /recap is a turn', options, async (t) => {
	const model = await startModel(t, [say('First.'), say('**Blue**, `#00f`.'), reply({ delta: 'Ne' }, { hang: true }), forever(say('Recap.'))]);
	const term = await startReady(t, model, ['hello']);
	await term.until(/• First\./);
	await idle(term);
	await enter(term, '/side');
	await term.until(/\/side takes a question/);
	await enter(term, '/side which colour?');
	await term.until(/Asked aside: which colour\?[^]*Aside, not part of the session:\n +Blue, #00f\./);
	await enter(term, '/side and now?');
	await term.until(/Asked aside: and now\?/);
	await enter(term, '/side a third');
	await term.until(/the last question has no answer yet; esc withdraws it/);
	await term.until(/^›$/m);
	term.type(ESC);
	await term.until(/The question aside was withdrawn/);
	await enter(term, '/recap');
	await term.until(/• Recap\./);
	await idle(term);
	const [, aside, , recap] = model.requests().map(({ body }) => JSON.stringify(body.input));
	assert.match(aside, /hello[^]*First\.[^]*which colour/);
	assert.doesNotMatch(recap, /which colour|Blue|and now/);
	assert.match(recap, /Summarize this session/);
	await leave(term);
});
