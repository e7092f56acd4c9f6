// The terminal: what the user chooses about it (colours, keys, footer, title, raw output), long texts on the alternate
// screen, and what happens to the recorded session.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { atEnd, call, cleanEnv, codexBin, forever, makeHome, needs, reply, rollouts, run, say, startModel, tempDir } from './lib/codex.mjs';
import { isAlive, until } from './lib/nest.mjs';
import { answer, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);
const config = (term) => fs.readFileSync(path.join(term.home, 'config.toml'), 'utf8');
const text = (term) => term.lines().join('\n');
const ESC = '\x1b', F2 = '\x1bOQ', F3 = '\x1bOR';

async function talk(term, prompt, answer) {
	await enter(term, prompt);
	await term.until(new RegExp(`• ${answer}`));
	await idle(term);
}

test('/theme: colours of a theme, exact ones where the terminal has them, and kept for new sessions', options, async (t) => {
	const model = await startModel(t, [forever(say('`x`'))]);
	const term = await startReady(t, model, [], { env: { COLORTERM: 'truecolor' } });
	await talk(term, 'go', 'x');
	assert.match(term.raw(), /\x1b\[36mx/);
	await enter(term, '/theme');
	await term.until(/Select the colours\n\n?› 1\. terminal\n[^]*dracula/);
	term.type('4');
	await term.until(/Saved in config\.toml/);
	assert.match(config(term), /^\[tui\]\ntheme = "dracula"$/m);
	await talk(term, 'more', 'x[^]*• x');
	assert.match(term.raw(), /\x1b\[38;2;139;233;253mx/);
	await leave(term);
	const again = await startReady(t, model, [], { home: term.home, cwd: term.cwd, env: { COLORTERM: '' } });
	await talk(again, 'go', 'x');
	assert.match(again.raw(), /\x1b\[38;5;\d+mx/);
	await leave(again);
	const plain = await startReady(t, model, [], { home: term.home, cwd: term.cwd, env: { COLORTERM: 'truecolor', NO_COLOR: '1' } });
	await talk(plain, 'go', 'x');
	assert.doesNotMatch(plain.raw(), /\x1b\[(3\d|38;[0-9;]*)m/);
	await leave(plain);
});

test('a terminal with a light background gets colours for it, unless a theme is chosen or it says nothing', options, async (t) => {
	const model = await startModel(t, [forever(say('`x`'))]);
	const answer = async (color, wanted, config = '') => {
		const term = await startTerminal(t, model, [], { config, env: { COLORTERM: 'truecolor' } });
		let asked = 0;
		term.emulator.parser.registerOscHandler(11, () => {
			asked++;
			if (color) term.type(`\x1b]11;rgb:${color}\x1b\\`);
			return true;
		});
		await term.until(/^ {2}gpt\S+ · /m);
		await talk(term, 'go', 'x');
		assert.ok(term.raw().includes(`\x1b[${wanted}mx`), `${color} ${config}`);
		assert.doesNotMatch(text(term), /rgb|11;/);
		await leave(term);
		return asked;
	};
	assert.equal(await answer('ffff/ffff/eeee', '38;2;9;105;218'), 1);
	assert.equal(await answer('1e1e/1e1e/1e1e', '36'), 1);
	assert.equal(await answer(null, '36'), 1);
	assert.equal(await answer('ffff/ffff/ffff', '38;2;139;233;253', '[tui]\ntheme = "dracula"\n'), 1); // for the outputs of commands
});

test('a command that writes black text on a dark background, or white on a light one, can be read', options, async (t) => {
	const output = 'printf "\\033[30mblack\\033[0m \\033[97mwhite\\033[0m \\033[37mgrey\\033[0m \\033[30;47mboth\\033[0m\\n"';
	for (const [background, lost, kept] of [['1e1e/1e1e/1e1e', ['30'], ['97', '37', '30;47']], ['ffff/ffff/eeee', ['97', '37'], ['30', '30;47']],
		[null, [], ['30', '97', '37', '30;47']]])
		for (const theme of ['', '[tui]\ntheme = "dracula"\n']) {
			const model = await startModel(t, [run(output), forever(say('Done.'))]);
			const config = `sandbox_mode = "danger-full-access"\napproval_policy = "never"\n${theme}`;
			const term = await startTerminal(t, model, [], { config });
			term.emulator.parser.registerOscHandler(11, () => {
				if (background) term.type(`\x1b]11;rgb:${background}\x1b\\`);
				return true;
			});
			await term.until(/^ {2}gpt\S+ · /m);
			await talk(term, 'go', 'Done.');
			await term.until(/└ black white grey both$/m);
			for (const sgr of lost) assert.ok(!term.raw().includes(`\x1b[${sgr}m`), `${sgr} on ${background}`);
			for (const sgr of kept) assert.ok(term.raw().includes(`\x1b[${sgr}m`), `${sgr} on ${background}`);
			await leave(term);
		}
});

test('/skills turns a skill off and on again, and keeps the other rules', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model, '[[skills.config]]\npath = "/nowhere/SKILL.md"\nenabled = false\n[[skills.config]]\nname = "roasting"\n');
	for (const name of ['brewing', 'roasting']) {
		fs.mkdirSync(path.join(home, 'skills', name), { recursive: true });
		fs.writeFileSync(path.join(home, 'skills', name, 'SKILL.md'), `---\nname: ${name}\ndescription: About ${name}.\n---\nSteps of ${name}.\n`);
	}
	const term = await startReady(t, model, [], { home });
	const toggle = async (before, after) => {
		await term.until(/^›$/m);
		await enter(term, '/skills');
		await term.until(new RegExp(`^Skills$[^]*\\[${before}\\] brewing +About brewing\\.`, 'm'));
		term.type('brew');
		await term.until(new RegExp(`^› \\[${before}\\] brewing`, 'm'));
		term.type('\r');
		await term.until(after);
	};
	await toggle('x', /Saved in config\.toml, for new sessions/);
	assert.match(config(term), /"\/nowhere\/SKILL\.md"/);
	assert.match(config(term), /name = "brewing"/);
	await leave(term);
	const again = await startReady(t, model, [], { home, cwd: term.cwd });
	again.type('use $');
	await again.until(/\$roasting/);
	assert.doesNotMatch(again.screen().join('\n'), /\$brewing/);
	again.type('\x03');
	await again.until(/^›$/m);
	await enter(again, '/skills');
	await again.until(/\[ \] brewing/);
	again.type('brew');
	await again.until(/^› \[ \] brewing/m);
	again.type('\r');
	await again.until(/Saved in config\.toml/);
	assert.match(config(again), /name = "brewing", enabled = true/);
	assert.match(config(again), /name = "roasting", enabled = true/);
	assert.match(config(again), /"\/nowhere\/SKILL\.md"/);
	await leave(again);
});

test('tui.keymap: bound keys, released ones, and one that is not reported', options, async (t) => {
	const keymap = '[tui.keymap.composer]\nsubmit = "ctrl-x"\n[tui.keymap.editor]\ninsert_newline = ["enter", "alt-enter"]\n' +
		'[tui.keymap.global]\nopen_transcript = "f12"\n[tui.keymap.pager]\nclose = "x"\nscroll_up = "f24"\n';
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config: keymap });
	await term.until(/tui\.keymap\.pager\.scroll_up: a key that the terminal does not report/);
	term.type('one');
	await term.until(/^› one$/m);
	term.type('\r');
	await term.until(/^› one\n {2}$|^› one\n\n\n/m);
	term.type('two');
	await term.until(/^› one\n {2}two$/m);
	term.type('\x18');
	await term.until(/• ok/);
	await idle(term);
	term.type('\x14'); // Ctrl-T is free now
	term.type('\x1b[24~');
	await term.until(/T R A N S C R I P T[^]*ok/);
	term.type('q');
	term.type('x');
	await term.untilGone(/T R A N S C R I P T/);
	await leave(term);
});

test('/keymap lists the keys and binds another one, for a request, too', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Finished.')]);
	const term = await startReady(t, model, ['-a', 'untrusted']);
	await enter(term, '/keymap');
	await term.until(/^Keys$[^]*global\.open_transcript +ctrl-t/m);
	term.type('approval.approve');
	await term.until(/› approval\.approve +y/);
	term.type('\r');
	await term.until(/Press the key for approval\.approve/);
	term.type('\x07');
	await term.until(/Saved in config\.toml/);
	assert.match(config(term), /^\[tui\.keymap\.approval\]\napprove = "ctrl-g"$/m);
	await enter(term, 'go');
	await term.until(/Would you like to run/);
	term.type('y');
	await answer(term, '\x07');
	await term.until(/You approved codex to run[^]*Finished\./);
	await idle(term);
	await leave(term);
});

test('/statusline and /title: items, their order, and Esc', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	await enter(term, '/statusline');
	await term.until(/ · esc back · ↓ \d+ more$/m);
	await term.until(/^Select the items and their order\n› \[x\] model-with-reasoning\n {2}\[x\] current-dir\n {2}\[ \] model$/m);
	term.type(`${ESC}[B${ESC}[B `);
	await term.until(/^› \[x\] model$/m);
	term.type(`${ESC}[D${ESC}[D`);
	await term.until(/^› \[x\] model\n {2}\[x\] model-with-reasoning$/m);
	term.type(`${ESC}[A`);
	await term.until(/^› \[ \] codex-version$/m);
	term.type(' \r');
	await term.until(/Saved in config\.toml[^]*^ {2}(gpt-\S+) · \1 · \/tmp/m);
	assert.match(config(term), /status_line = \["model", "model-with-reasoning", "current-dir", "codex-version"\]/);
	await enter(term, '/title');
	await term.until(/^› \[x\] project-name$/m);
	term.type(ESC);
	await term.until(/^›$/m);
	assert.doesNotMatch(config(term), /terminal_title/);
	await enter(term, '/title');
	await term.until(/^› \[x\] project-name$/m);
	term.type(`${ESC}[B \r`);
	await term.until(/Saved in config\.toml[^]*Saved in config\.toml/);
	assert.match(config(term), /terminal_title = \["project-name", "model-with-reasoning"\]/);
	await leave(term);
});

test('/statusline keeps items that it does not know, after the chosen ones', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config: '[tui]\nstatus_line = ["daybreak", "model", "current-dir", "x\\"y"]\n' });
	await enter(term, '/statusline');
	await term.until(/^› \[x\] model$/m);
	term.type(`${ESC}[B${ESC}[B \r`);
	await term.until(/Saved in config\.toml/);
	assert.match(config(term), /status_line = \["model", "current-dir", "model-with-reasoning", "daybreak", "x\\"y"\]/);
	await leave(term);
});

test('/raw and Alt-R: text as it came, in one piece', options, async (t) => {
	const long = `${'word '.repeat(40)}**end**`;
	const model = await startModel(t, [forever(say(`- one\n${long}`))]);
	const term = await startReady(t, model, [], { columns: 60 });
	await enter(term, '/raw on');
	await term.until(/Raw output mode on/);
	await enter(term, 'go');
	await term.until(/\*\*end\*\*/);
	await idle(term);
	assert.ok(term.raw().includes(`- one\r\n${long}\r\n`));
	term.type(`${ESC}r`);
	await term.until(/Raw output mode off/);
	await talk(term, 'more', 'one');
	assert.ok(!term.lines().slice(-12).join('\n').includes('**end**'));
	await enter(term, '/raw sideways');
	await term.until(/\/raw takes on or off/);
	await leave(term);
	const set = await startReady(t, model, [], { config: '[tui]\nraw_output_mode = true\n' });
	await set.until(/Raw output mode on/);
	await leave(set);
});

test('/warnings and F2 show the warnings; F3 and / find a text in the transcript', options, async (t) => {
	const model = await startModel(t, [forever(say(Array.from({ length: 60 }, (_, i) => `- line ${i}`).join('\n')))]);
	const term = await startReady(t, model, [], { config: 'no_such_key = 1\n' });
	for (const open of [() => enter(term, '/warnings'), () => term.type(F2)]) {
		await open();
		await term.until(/W A R N I N G S[^]*⚠ [^]*no_such_key/);
		term.type('q');
		await term.untilGone(/W A R N I N G S/);
	}
	await talk(term, 'go', 'line');
	term.type(F3);
	await term.until(/T R A N S C R I P T[^]*enter to find/);
	term.type('LINE 1');
	await term.until(/\/ LINE 1/);
	term.type('\r');
	await term.until(/T R A N S C R I P T.*\n[^\n]*line 1$[^]*n N next/m);
	term.type('n');
	await term.until(/T R A N S C R I P T.*\n[^\n]*line 10$/m);
	term.type('N');
	await term.until(/T R A N S C R I P T.*\n[^\n]*line 1$/m);
	term.type('/nothing like it\r');
	await term.until(/not found/);
	term.type('/abc');
	await term.until(/\/ abc/);
	term.type('\x7f');
	await term.until(/\/ ab +enter/);
	term.type(ESC);
	await term.until(/\/ ab +not found/);
	term.type(ESC);
	await term.untilGone(/T R A N S C R I P T/);
	await leave(term);
});

test('/diff is a pager: it begins at the top, and what a file says cannot drive the terminal', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const git = (...args) => assert.equal(spawnSync('git', ['-C', cwd, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args]).status, 0);
	git('init', '-q');
	fs.writeFileSync(path.join(cwd, 'old.txt'), 'one\n');
	git('add', '.');
	git('commit', '-qm', 'first');
	fs.writeFileSync(path.join(cwd, 'old.txt'), `\x1b[31mred\u202e\n${'x\n'.repeat(100)}`);
	const term = await startReady(t, await startModel(t, [forever(say('ok'))]), [], { cwd });
	await enter(term, '/diff');
	await term.until(/D I F F[^]*diff --git a\/old\.txt[^]*-one[^]*\+\^\[\[31mred\\u\{202e\}/);
	term.type('G');
	await term.until(/100%/);
	term.type('g');
	await term.until(/D I F F.*\ndiff --git/);
	term.type('q');
	await term.untilGone(/D I F F/);
	await term.until(/^›$/m);
	await leave(term);
});

test('/archive and /delete put a new session in its place; /export writes it', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	await enter(term, '/archive');
	await term.until(/nothing of this session is recorded yet/);
	term.type('\x15');
	await talk(term, 'first words', 'ok');
	await enter(term, '/export out.md');
	await term.until(/Exported to \S+\/out\.md/);
	const file = path.join(term.cwd, 'out.md');
	assert.match(fs.readFileSync(file, 'utf8'), /first words[^]*ok/);
	fs.writeFileSync(file, 'my own work');
	fs.symlinkSync('nowhere', path.join(term.cwd, 'link'));
	for (const name of ['out.md', 'link']) {
		await enter(term, `/export ${name}`);
		await term.until(new RegExp(`${name} exists: name another file`));
	}
	assert.deepEqual([fs.readFileSync(file, 'utf8'), fs.existsSync(path.join(term.cwd, 'nowhere'))], ['my own work', false]);
	await enter(term, '/archive');
	await term.until(/Archived [0-9a-f-]{36}/);
	const archived = fs.readdirSync(path.join(term.home, 'archived_sessions'), { recursive: true }).filter((name) => name.endsWith('.jsonl'));
	assert.equal(archived.length, 1);
	assert.equal(rollouts(term.home).filter((file) => !file.includes('archived')).length, 0);
	await talk(term, 'second words', 'ok[^]*› second words[^]*• ok');
	assert.doesNotMatch(JSON.stringify(model.requests().at(-1).body.input), /first words/);
	await enter(term, '/delete');
	await term.until(/Delete this session\?[^]*› 2\. Cancel/);
	term.type('\r');
	await term.until(/^›$/m);
	await enter(term, '/delete');
	await term.until(/Delete this session\?/);
	term.type('1');
	await term.until(/Deleted [0-9a-f-]{36}/);
	const [, gone] = /Deleted ([0-9a-f-]{36})/.exec(term.lines().join('\n'));
	assert.doesNotMatch(term.lines().join('\n'), new RegExp(`codex resume ${gone}`));
	assert.equal(rollouts(term.home).filter((file) => !file.includes('archived')).length, 0);
	await leave(term);
});

test('/cd, /pwd, /hooks, /config, /collab', options, async (t) => {
	const model = await startModel(t, [run('pwd'), say('ok')]);
	const home = makeHome(t, model, '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n');
	const term = await startReady(t, model, [], { home });
	fs.mkdirSync(path.join(term.cwd, 'below'));
	await enter(term, '/cd nowhere');
	await term.until(/there is no folder \/\S+\/nowhere$/m);
	await enter(term, '/cd below');
	await term.until(/• \S+\/below$/m);
	await talk(term, 'go', 'ok');
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /\/below/);
	await enter(term, '/pwd');
	await term.until(/\/below[^]*• \S+\/below$/m);
	await enter(term, '/hooks');
	await term.until(/• Hooks\n {4}\S+: true/);
	await enter(term, '/config');
	await term.until(/• Settings[^]*config\.toml: .*hooks/);
	await enter(term, '/collab');
	await term.until(/Plan mode/);
	await leave(term);
});

test('/worktree continues in a checkout of its own; it says why there is none', options, async (t) => {
	const dir = path.join(tempDir(t, 'repo'), 'it\'s a project');
	fs.mkdirSync(path.join(dir, 'inner'), { recursive: true });
	const git = (...args) => execFileSync('git', ['-C', dir, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });
	git('init', '-q', '-b', 'main');
	const model = await startModel(t, [run('pwd; cat file; echo new >made'), say('ok')]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\n');
	const term = await startReady(t, model, [], { home, cwd: path.join(dir, 'inner') });
	await enter(term, '/worktree');
	await term.until(/\/worktree: git could not make\s+\S+\/worktrees\/[^]*fatal/);
	fs.writeFileSync(path.join(dir, 'inner/file'), 'committed\n');
	git('add', '.');
	git('commit', '-qm', 'one');
	fs.writeFileSync(path.join(dir, 'inner/file'), 'edited\n');
	await enter(term, '/worktree');
	await term.until(/A checkout of HEAD; the files of/);
	await talk(term, 'go', 'ok');
	assert.match(JSON.stringify(model.requests().at(-1).body.input.at(-1)), /\/worktrees\/[0-9a-f]{8}\/it's a project\/inner\\ncommitted/);
	assert.deepEqual(fs.readdirSync(path.join(dir, 'inner')), ['file']);
	assert.equal(fs.readFileSync(path.join(dir, 'inner/file'), 'utf8'), 'edited\n');
	git('config', 'filter.x.smudge', 'touch ran');
	await enter(term, '/worktree');
	await term.until(/git configuration names/);
	await leave(term);
});

test('the program ends while git makes a checkout, and ends git', options, async (t) => {
	const dir = tempDir(t, 'repo'), bin = tempDir(t, 'bin');
	execFileSync('git', ['-C', dir, 'init', '-q']);
	fs.writeFileSync(path.join(bin, 'git'), `#!/bin/sh\necho $$ >${bin}/pid.tmp\nmv ${bin}/pid.tmp ${bin}/pid\nexec sleep 1000\n`, { mode: 0o755 });
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { cwd: dir, env: { PATH: `${bin}:${process.env.PATH}` } });
	await enter(term, '/worktree');
	await term.until(/Checking out HEAD/);
	await until(() => fs.existsSync(`${bin}/pid`));
	await leave(term);
	await until(() => !isAlive(Number(fs.readFileSync(`${bin}/pid`, 'utf8'))));
});

test('Ctrl-V takes an image from the clipboard; without one it says so', options, async (t) => {
	const bin = tempDir(t, 'bin'), model = await startModel(t, [forever(say('ok'))]);
	const script = (text) => {
		fs.writeFileSync(path.join(bin, 'wl-paste'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
	};
	const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
	script('exit 1');
	const term = await startReady(t, model, [], { env: { PATH: `${bin}:${process.env.PATH}`, TMPDIR: bin } });
	term.type('\x16');
	await term.until(/no image could be read from the clipboard/);
	script(`echo ${pixel} | base64 -d`);
	term.type('look \x16');
	await term.until(/^› look \[Image #1\]/m);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	assert.deepEqual(term.lines().filter((line) => /\[image/i.test(line)), ['› look [Image #1]']);
	assert.match(JSON.stringify(model.requests()[0].body.input), /data:image\/png;base64,iVBOR/);
	await leave(term);
	assert.equal(fs.readdirSync(bin).filter((name) => name.startsWith('codex-clipboard')).length, 1);
});

test('a narrow window: what is cut ends with an ellipsis, a wrapped hint is indented, a pager has the keys', options, async (t) => {
	const ask = call('request_user_input', { questions: ['One', 'Two'].map((header) => (
		{ id: header, header, question: `${header}?`,
			options: [{ label: 'Yes', description: 'of course' }, { label: 'No', description: 'not now' }] })) });
	const model = await startModel(t, [ask, say('ok')]);
	for (const columns of [58, 40, 20]) {
		const term = await startReady(t, model, [], { rows: 16, columns });
		const rows = () => term.screen().filter((row) => row.length);
		const cut = (row) => row.length === columns - 1 && row.endsWith('…');
		if (columns < 40) assert.ok(cut(rows().at(-1)), rows().at(-1)); // the footer
		term.type('/');
		await term.until(/^› \/model/m);
		assert.ok(rows().some((row) => row.startsWith('  /') && cut(row)), rows().join('\n'));
		assert.ok(rows().every((row) => row.length < columns), rows().join('\n'));
		term.type('\x1b');
		await term.untilGone(/\/model/);
		term.type('\x03');
		await term.until(/^›$/m);
		term.type('?');
		await term.until(/S H O R T C U T[^]*New\s+line/);
		term.type(columns === 40 ? '?' : 'q');
		await term.untilGone(/S H O R T/);
		term.type('\x1b[Z');
		await term.until(columns < 40 ? /^ {2}.*…$/m : /Plan|…/);
		if (columns === 40) {
			await enter(term, 'ask');
			await term.until(/^ {2}enter to submit answer[^\n]*\n {2}\S[^\n]*$/m);
			const hint = rows().slice(rows().findIndex((row) => /enter to submit/.test(row)));
			assert.ok(hint.length > 1 && hint.every((row) => /^ {2}\S/.test(row)), hint.join('\n'));
			await answer(term, '\r', '\r');
			await term.until(/• ok/);
			await term.untilGone(/esc to interrupt/);
		}
		await leave(term);
	}
});

test('the cause of a broken stream is shown whole, also by /warnings; without warnings there is no sign of one', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { gate: 'a' }, { drop: 'reset' }), forever(say('Whole.'))]);
	const term = await startReady(t, model, [], { rows: 15, columns: 60 });
	term.type(F2);
	await term.until(/W A R N I N G S[^]*^There are no warnings\.$/m);
	term.type('q');
	await term.until(/^›$/m);
	await enter(term, 'go');
	await term.until(/• Half/); // else the reset discards it, and the request is sent again without a word
	await model.openGate('a');
	await term.until(/• Whole\./);
	await idle(term);
	const cause = /the\s+connection\s+to\s+\S+\s+was\s+lost:[^]*reset\s+the\s+connection/;
	assert.match(text(term), cause);
	term.type(F2);
	await term.until(/W A R N I N G S/);
	await term.until(cause);
	assert.match(text(term), /^⚠ Reconnecting/m);
	term.type('q');
	await term.until(/^›$/m);
	await leave(term);
});

test('/model without an effort keeps the one of the session, and shows it', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	await enter(term, '/model gpt-5.5 high');
	await term.until(/Model changed to gpt-5\.5 high/);
	await enter(term, '/model gpt-5.4');
	await term.until(/Model changed to gpt-5\.4 high[^]*^ {2}gpt-5\.4 high · /m);
	await talk(term, 'go', 'ok');
	assert.equal(model.requests().at(-1).body.reasoning.effort, 'high');
	await leave(term);
});

test('Esc Esc without a message is no error', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	term.type(ESC);
	await term.until(/esc again/);
	term.type(ESC);
	await term.until(/There is no recorded message to go back to/);
	assert.doesNotMatch(text(term), /■/);
	await leave(term);
});

test('a field that the user opens is no question', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, []);
	await enter(term, '/rename');
	await term.until(/^Name this session\n› *\n {2}enter save · esc back$/m);
	assert.doesNotMatch(text(term), /unanswered|submit/);
	term.type('pears');
	await term.until(/^› pears$/m);
	term.type('\r');
	await term.until(/Thread renamed to pears/);
	await leave(term);
});

test('the footer abbreviates the home folder and what is below it, and no other folder', options, async (t) => {
	const cwd = tempDir(t, 'cwd'), name = path.basename(cwd);
	for (const [HOME, shown] of [[path.dirname(cwd), `~/${name}`], [cwd, '~'], [cwd.slice(0, -2), cwd]]) {
		const model = await startModel(t, [forever(say('ok'))]);
		const term = await startReady(t, model, [], { cwd, columns: 120, env: { HOME } });
		await term.until({ test: () => term.screen().at(-1).endsWith(` · ${shown}`), toString: () => shown });
		await leave(term);
	}
});

const tmux = { ...options, skip: options.skip || (spawnSync('tmux', ['-V']).error && 'tmux is not installed') };

test('in tmux, too, nothing of the rows at the bottom stands in the scrollback', tmux, async (t) => {
	const model = await startModel(t, [forever(say('The answer.'))]), home = makeHome(t, model), cwd = tempDir(t, 'cwd');
	fs.appendFileSync(path.join(home, 'config.toml'), `\n[projects.${JSON.stringify(cwd)}]\ntrust_level = "trusted"\n`);
	const call = (...args) => {
		const command = ['-f', '/dev/null', '-S', path.join(home, 'tmux'), ...args];
		const { status, stdout, stderr } = spawnSync('tmux', command, { cwd, encoding: 'utf8', env: cleanEnv(home, { TERM: 'xterm-256color' }) });
		assert.equal(status, 0, stderr);
		return stdout.split('\n').map((line) => line.trimEnd());
	};
	atEnd(t, () => call('kill-server'));
	const all = () => call('capture-pane', '-p', '-S', '-').join('\n'), screen = () => call('capture-pane', '-p').join('\n');
	call('new-session', '-d', '-x', '80', '-y', '20', codexBin);
	await until(() => /^ {2}gpt/m.test(screen()));
	for (const words of ['one', 'two']) {
		call('send-keys', 'C-l');
		await until(() => /^\n?›\n/.test(screen()));
		call('send-keys', words);
		await until(() => screen().includes(`› ${words}`));
		call('send-keys', 'Enter');
		await until(() => /The answer\.[^]*^›\n/m.test(screen()) && !/esc to interrupt/.test(screen()));
	}
	const lines = all().split('\n');
	for (const [part, count] of [[/^›$/, 1], [/^ {2}gpt/, 1], [/Working/, 0], [/^› one$/, 1], [/^› two$/, 1], [/^• The answer\.$/, 2]])
		assert.equal(lines.filter((line) => part.test(line)).length, count, `${part} in:\n${lines.join('\n')}`);
});
