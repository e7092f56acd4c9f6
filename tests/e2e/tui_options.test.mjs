// The terminal: suspension, dumb terminals, the settings of [tui], subagents.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexBin, forever, makeHome, needs, reply, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { answer, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);
const LEFT = /\x1b\[<u\x1b\[>4;0m\x1b\[\?2004l\x1b\[\?1004l\x1b\[0 q\x1b\[\?25h/g;

test('Ctrl-Z gives the shell its terminal back; fg brings the draft back, also from the transcript', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startTerminal(t, model, [], { command: ['bash', '--norc', '--noprofile', '-i'] });
	await term.until(/^bash\S*[#$]/m);
	term.type(`${codexBin}\r`);
	await term.until(/^ {2}gpt-\S+.* · /m);
	term.type('my draft');
	await term.until(/^› my draft$/m);
	for (const inTranscript of [false, true]) {
		const before = term.raw().match(LEFT)?.length ?? 0;
		if (inTranscript) {
			term.type('\x14');
			await term.until(/T R A N S C R I P T/);
		}
		term.type('\x1a');
		await term.until(/Stopped.*codex/);
		term.type('stty -a | grep -o " icanon"; echo $((6 * 7))\r');
		await term.until(/^ icanon\n42$/m);
		assert.equal(term.raw().match(LEFT).length, before + 1);
		term.type('clear; fg\r');
		if (inTranscript) {
			await term.until(/T R A N S C R I P T/);
			term.type('q');
		}
		await term.until(/^› my draft$/m);
		await term.until(/ · /); // the footer is the last row
		assert.equal(term.screen().filter((line) => line.startsWith('›')).length, 1, term.screen().join('\n'));
		assert.ok(term.raw().lastIndexOf('\x1b[?2004h') > term.raw().lastIndexOf('\x1b[?2004l'));
		term.type(inTranscript ? '\x7f' : '!');
		await term.until(inTranscript ? /^› my draft$/m : /^› my draft!$/m);
		if (!inTranscript) term.type('\x7f');
		await term.until(/^› my draft$/m);
	}
	term.type('\x03');
	await term.until(/^›$/m);
	term.type('\x03');
	await term.until(/Session ID: [^]*bash\S*[#$]$/);
	term.type('exit\r');
	assert.ok((await term.done).restored);
});

test('after fg the live rows stand there once, and nothing of them is left at the end', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { hang: true })]);
	const term = await startTerminal(t, model, [], { command: ['bash', '--norc', '--noprofile', '-i'] });
	await term.until(/^bash\S*[#$]/m);
	term.type(`${codexBin} go\r`);
	await term.until(/I begin[^]*esc to interrupt/);
	for (const word of ['one', 'two']) {
		term.type(word);
		await term.until(new RegExp(`^› ${word}$`, 'm'));
		term.type('\t');
		await term.until(new RegExp(`↳ ${word}$`, 'm'));
	}
	term.type('\x1a');
	await term.until(/Stopped/);
	assert.doesNotMatch(term.lines().join('\n'), /Queued follow-up/);
	term.type('fg\r');
	await term.until(/Queued follow-up inputs\n {2}↳ one\n {2}↳ two\n›\n\n {2}gpt/);
	assert.equal(term.lines().join('\n').split('Queued follow-up').length, 2);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted/);
	await term.until(/^› one\n {2}two$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	term.type('\x03');
	await term.until(/codex resume [^]*bash\S*[#$]$/);
	assert.doesNotMatch(term.lines().join('\n'), /Queued follow-up|↳/);
	term.type('exit\r');
	assert.ok((await term.done).restored);
});

test('Ctrl-Z in an approval stops the program and answers nothing', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Finished.')]);
	const term = await startTerminal(t, model, [], { config: 'sandbox_mode = "danger-full-access"', command: ['bash', '--norc', '--noprofile', '-i'] });
	await term.until(/^bash\S*[#$]/m);
	term.type(`${codexBin} -a untrusted go\r`);
	await term.until(/› 1\. Yes, proceed/);
	await answer(term, '\x1a');
	await term.until(/Stopped.*codex/);
	term.type('fg\r');
	await term.until(/Stopped[^]*› 1\. Yes, proceed/);
	assert.ok(!fs.existsSync(path.join(term.cwd, 'made')));
	await answer(term, 'n');
	await term.until(/✗ You canceled the request to run touch made/);
	await term.until(/^›$/m);
	term.type('\x03');
	await term.until(/codex resume [^]*bash\S*[#$]$/);
	term.type('exit\r');
	assert.ok((await term.done).restored);
});

for (const TERM of ['dumb', ''])
	test(`codex resume and codex fork with TERM="${TERM}" ask as well, and run nothing by themselves`, options, async (t) => {
		const model = await startModel(t, [forever(say('ok'))]);
		for (const args of [['resume', '--last'], ['fork', '--last']]) {
			const term = await startTerminal(t, model, args, { env: { TERM } });
			await term.until(/^WARNING: TERM is set to "[^]*Continue anyway\? \[y\/N\]:/m);
			term.type('n\r');
			assert.equal((await term.done).status, 1);
			assert.match(term.lines().join('\n'), /^Error: Refusing to start/m);
		}
		assert.equal(model.requests().length, 0);
	});

test('a dumb terminal is asked about first, without a control sequence; only y continues', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	for (const key of ['n\r', '\r', '\x04']) {
		const term = await startTerminal(t, model, [], { env: { TERM: 'dumb' } });
		await term.until(/^WARNING: TERM is set to "dumb"\.[^]*Continue anyway\? \[y\/N\]:/m);
		assert.doesNotMatch(term.raw(), /\x1b/);
		term.type(key);
		assert.equal((await term.done).status, 1);
		assert.match(term.lines().join('\n'), /^Error: Refusing to start/m);
		assert.doesNotMatch(term.raw(), /\x1b/);
	}
	const term = await startTerminal(t, model, [], { env: { TERM: 'dumb' } });
	await term.until(/\[y\/N\]:/);
	term.type('y\r');
	await term.until(/^ {2}gpt-\S+.* · /m);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

test('tui.status_line and tui.terminal_title choose what is shown; unknown items are left out', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const config = '[tui]\nstatus_line = ["project-name", "pet", "model", "thread-name", "used-tokens"]\n' +
		'terminal_title = ["model", "project-name"]\n';
	const term = await startReady(t, model, [], { config });
	const folder = path.basename(term.cwd);
	await term.until(new RegExp(`^ {2}${folder} · gpt-\\S+$`, 'm'));
	await enter(term, 'go');
	await term.until(new RegExp(`^ {2}${folder} · gpt-\\S+ · \\d+ tokens$`, 'm'));
	await idle(term);
	await enter(term, '/rename apples');
	await term.until(new RegExp(`^ {2}${folder} · gpt-\\S+ · apples · \\d+ tokens$`, 'm'));
	assert.match(term.raw(), new RegExp(`\\x1b\\]0;gpt-\\S+ · ${folder}\\x07`));
	await leave(term);
	const bare = await startTerminal(t, model, [], { config: '[tui]\nstatus_line = []\n' });
	await bare.until(/^›$/m);
	await enter(bare, 'go');
	await bare.until(/• ok/);
	await idle(bare);
	assert.doesNotMatch(bare.screen().join('\n'), /gpt-/);
	await leave(bare);
});

test('the footer shows the branch, the limits of the account, permissions, counts and the checklist', options, async (t) => {
	const limits = { 'x-codex-primary-used-percent': '20', 'x-codex-primary-window-minutes': '300',
		'x-codex-secondary-used-percent': '55.5', 'x-codex-secondary-window-minutes': '10080' };
	const cwd = tempDir(t, 'cwd');
	execFileSync('git', ['init', '-q', '-b', 'apples'], { cwd });
	const steps = ['completed', 'pending'].map((status) => ({ step: 's', status }));
	const model = await startModel(t, [{ ...reply({ call: 'update_plan', arguments: { plan: steps } }), headers: limits },
		reply({ message: 'ok' }, { usage: { input_tokens: 5000, cached_tokens: 0, output_tokens: 40, reasoning_tokens: 0 } })]);
	const items = ['git-branch', 'five-hour-limit', 'weekly-limit', 'run-state', 'task-progress',
		'permissions', 'approval-mode', 'total-output-tokens', 'codex-version'];
	const config = `sandbox_mode = "read-only"\napproval_policy = "on-request"\n[tui]\nstatus_line = ${JSON.stringify(items)}\n` +
		'terminal_title = ["git-branch"]\n';
	const term = await startTerminal(t, model, [], { config, cwd, columns: 120 });
	await term.until(/^ {2}apples · Ready · Read Only · on-request · v\d/m);
	await enter(term, 'go');
	await term.until(/^ {2}apples · 5h 80% left · weekly 4[45]% left · Ready · Tasks 1\/2 · Read Only · on-request · \d+ out · v\d/m);
	execFileSync('git', ['symbolic-ref', 'HEAD', 'refs/heads/pears'], { cwd });
	term.type('\x1b[O\x1b[I'); // the window has the focus again
	await term.until(/^ {2}pears · /m);
	assert.match(term.raw(), /\x1b\]0;[^\x07]*pears\x07/);
	await enter(term, '/permissions');
	await answer(term, '1');
	await term.until(/^ {2}pears · .* · Ask for approval · on-request · /m);
	await enter(term, '/status');
	await term.until(/Limit: 5h 80% left\n {2}Limit: weekly 4[45]% left/);
	await leave(term);
});

test('unknown items of the footer and the title are a warning with the list of items; those of 0.169 are none', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const config = '[tui]\nstatus_line = ["model", "bogus", "git-brunch", "daybreak"]\nterminal_title = ["nope", "activity", "app-name"]\n';
	const term = await startTerminal(t, model, [], { config });
	const text = (await term.until(/^ {2}gpt-\S+$/m)).join('\n').replace(/\n {2}/g, ' ');
	assert.match(text, /`bogus`, `git-brunch`: unknown items of tui\.status_line, which are left out\. The items are model-with-reasoning, /);
	assert.match(text, /, git-branch, .*, codex-version$/m);
	assert.match(text, /`nope`: unknown items of tui\.terminal_title/);
	assert.doesNotMatch(text, /`daybreak`|`activity`|`app-name`/);
	assert.match(term.raw(), /\x1b\]0;codex\x07/);
	await leave(term);
});

test('with tui.animations = false nothing changes by itself while a turn waits', options, async (t) => {
	const model = await startModel(t, [reply({ gate: 'a' }, { message: 'Done.' })]);
	const term = await startReady(t, model, ['go'], { config: '[tui]\nanimations = false\n' });
	await term.until(/^• Working \(esc to interrupt\)$/m);
	await term.rests();
	const before = term.raw(), rest = await term.rests();
	assert.ok(rest < 0 || rest > 5000, `it wakes up after ${rest} ms`);
	assert.equal(term.raw(), before);
	await model.openGate('a');
	await term.until(/^• Done\.$/m);
	await idle(term);
	await leave(term);
});

test('/subagents lists them, and shows what the chosen one did', options, async (t) => {
	const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n[features]\nmulti_agent = true\n';
	const model = await startModel(t, [
		{ when: { contains: 'count pears', lacks: 'rootword' }, reply: [{ message: 'Seven pears.' }] },
		reply({ call: 'spawn_agent', arguments: { message: 'count pears' } }), say('Asked.')]);
	const term = await startReady(t, model, [], { config });
	await enter(term, '/subagents');
	await term.until(/This session has no subagents/);
	await enter(term, 'rootword');
	await term.until(/^• Spawned /m);
	await term.until(/^• Asked\.$/m);
	await idle(term);
	term.type('/agent');
	await term.until(/^› \/agent$/m);
	term.type('\r');
	await term.until(/^Subagents\n\n?› 1\. Main \[default\] \(current\)\n {2}2\. \S+ .*[0-9a-f-]{36}/m);
	term.type('2');
	await term.until(/• Watching \S+ [^]*› count pears\n\n• Seven pears\./);
	await leave(term);
});

test('a key of [tui] with a value of the wrong type is refused with its file and line', options, async (t) => {
	const wrong = [
		['notifications = 5', 'tui.notifications', 'true, false or a list of strings'],
		['notifications = [5]', 'tui.notifications', 'true, false or a list of strings'],
		['animations = "x"', 'tui.animations', 'true or false'],
		['keymap = "x"', 'tui.keymap', 'a table'],
	];
	for (const [line, key, expected] of wrong) {
		const term = await startTerminal(t, { url: 'x y' }, [], { config: `[tui]\n${line}\n` });
		const { status } = await term.done;
		const text = term.lines().join('').replaceAll(' ', ''); // without the terminal's line ends
		const fault = `config\\.toml:(\\d+):\`${key}\`mustbe${expected.replaceAll(' ', '')},not`;
		const at = new RegExp(`^Error:/\\S+${fault}`).exec(text)?.[1];
		assert.ok(at, text);
		const config = fs.readFileSync(path.join(term.home, 'config.toml'), 'utf8').split('\n');
		assert.equal(config[Number(at) - 1], line);
		assert.equal(status, 1);
	}
});

test('words and ranges of [tui] that codex 0.169 refuses are refused with file, line and the nearest word', options, async (t) => {
	const home = makeHome(t, { url: 'http://127.0.0.1:9/v1' });
	const file = path.join(home, 'config.toml'), base = fs.readFileSync(file, 'utf8');
	const line = base.split('\n').length + 1;
	for (const [text, fault] of [
		['notification_method = "bell"', '`tui.notification_method` must be one of these words: auto osc9 osc777 bel, not `bell`. Did you mean `bel`?'],
		['notification_condition = "allways"', 'unfocused always, not `allways`. Did you mean `always`?'],
		['alternate_screen = "x"', '`tui.alternate_screen` must be one of these words: auto always never, not `x`\n'],
		['session_picker_view = "x"', 'comfortable dense'],
		['pet_anchor = "x"', 'composer screen-bottom'],
		['resume_cwd = "x"', 'current session'],
		['pet = 5', '`tui.pet` must be a string, not an integer'],
		['terminal_resize_reflow_max_rows = -1', 'must be an integer from 0 on, not -1'],
		['mouse_scroll_speed = 0', 'must be a number above 0, not 0'],
		['mouse_scroll_speed = -1.5', 'must be a number above 0, not -1.5'],
		['mouse_scroll_speed = inf', 'must be a number above 0, not inf'],
		['presets = { 1 = { input = 5 } }', '`tui.presets.1.input` must be a string, not an integer'],
		['presets = { 1 = "x" }', '`tui.presets.1` must be a table, not a string'],
		['model_availability_nux = { x = -1 }', '`tui.model_availability_nux.x` must be an integer from 0 to 4294967295, not -1'],
		['pet_anchor = "\\u001b]0;x\\u0007y"', 'not `?]0;x?y`'],
		[`pet_anchor = "composer${'é'.repeat(40)}"`, 'ééé...`'],
		['model_availability_nux = { x = "y" }', '`tui.model_availability_nux.x` must be an integer from 0 to 4294967295, not a string'],
		['keymap = { global = { open_transcript = 5 } }', 'open_transcript` must be the name of a key or a list of such names, not an'],
		['keymap = { pager = { close = ["x", "no-such-key"] } }', 'close` must be the name of a key, not `no-such-key`; names are like'],
	]) {
		fs.writeFileSync(file, `${base}\n[tui]\n${text}\n`);
		const { code, stderr } = await runCodex(t, ['features', 'list'], { home });
		assert.equal(code, 1, text);
		assert.ok(stderr.includes(`config.toml:${line + 1}: `) && stderr.includes(fault), `${line} ${stderr}`);
		assert.doesNotMatch(stderr, /[\x00-\x09\x0b-\x1f\x7f]/);
	}
	fs.writeFileSync(file, `${base}\n[tui]\nnotification_method = "auto"\nmouse_scroll_speed = 1.5\n` +
		`keymap.global = { open_transcript = ["ctrl-t"], undo = [] }\npet_anchor = "composer"\npresets = { 1 = { input = "x", anything = 5 } }\n`);
	assert.equal((await runCodex(t, ['features', 'list'], { home })).code, 0);
});

test('codex exec refuses the same value, and the app-server uses defaults, both with its file and line', options, async (t) => {
	for (const [words, status] of [[['exec', '--skip-git-repo-check', 'go'], 1], [['app-server'], 0]]) {
		const home = makeHome(t, { url: 'http://127.0.0.1:9/v1' });
		fs.appendFileSync(path.join(home, 'config.toml'), '[tui]\nanimations = 5\n');
		const line = fs.readFileSync(path.join(home, 'config.toml'), 'utf8').split('\n').indexOf('animations = 5') + 1;
		const { code, stderr } = await runCodex(t, words, { home });
		assert.equal(code, status, stderr);
		assert.match(stderr, new RegExp(`config\\.toml:${line}: \`tui\\.animations\` must be true or false, not`));
	}
});

test('without a session a message is not kept waiting: it returns to the composer', options, async (t) => {
	const term = await startTerminal(t, { url: 'x y' }, ['first']);
	await term.until(/■ the address of model provider[^]*^› first$/m);
	term.type('\r');
	await term.until(/■ there is no session: correct the error above[^]*^› first$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});
