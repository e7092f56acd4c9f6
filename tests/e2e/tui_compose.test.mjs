// The composer: lists for /, @ and $; shell mode; history and its search; images, large pastes, the editor.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { forever, makeHome, needs, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);
const UP = '\x1b[A', DOWN = '\x1b[B', ESC = '\x1b', CTRL = { r: '\x12', s: '\x13', g: '\x07', c: '\x03', u: '\x15' };
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** Empties the composer, which may hold a draft or an open list. */
async function clear(term) {
	term.type(ESC);
	await term.rests(); // the program waits for the rest of a sequence
	term.type(CTRL.u);
	await term.until(/^›$/m);
}

test('lists: commands are filtered, chosen, completed and run; Esc keeps the text', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type('/');
	await term.until(/^› \/\w+ +\w/m);
	term.type('st');
	await term.until(/^› \/status +show[^]*^ {2}\/stop +end[^]*^› \/st$/m);
	term.type(DOWN);
	await term.until(/^› \/statusline +choose/m);
	term.type(DOWN);
	await term.until(/^› \/stop +end/m);
	term.type(DOWN + DOWN);
	await term.until(/^› \/st(op|atus) /m);
	term.type(ESC);
	await term.untilGone(/^› \/stop +end/m);
	assert.match(term.screen().join('\n'), /^› \/st$/m);
	await clear(term);
	term.type('/stat');
	await term.until(/^› \/status +show/m);
	term.type('\t');
	await term.until(/^› \/status$/m);
	term.type(CTRL.u);
	await term.until(/^›$/m);
	term.type('/stat');
	await term.until(/^› \/status +show/m);
	term.type('\r');
	await term.until(/Session: [0-9a-f-]{36}/);
	await term.until(/^›$/m);
	term.type('/etc/hosts');
	await term.until(/^› \/etc\/hosts$/m);
	await clear(term);
	assert.equal(model.requests().length, 0);
	await leave(term);
});

test('lists: @ finds files below the folder, and not what git ignores', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	for (const name of ['src/parser.c', 'src/my file.txt', 'build/parser.o', 'docs/readme.md'])
		fs.mkdirSync(path.join(cwd, path.dirname(name)), { recursive: true }), fs.writeFileSync(path.join(cwd, name), '');
	assert.equal(spawnSync('git', ['init', '-q', cwd]).status, 0);
	fs.writeFileSync(path.join(cwd, '.gitignore'), 'build/\n');
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { cwd });
	term.type('read @pars');
	await term.until(/^› src\/parser\.c/m);
	assert.doesNotMatch(term.lines().join('\n'), /parser\.o/);
	term.type('\t');
	await term.until(/^› read src\/parser\.c$/m);
	term.type('and @myfi');
	await term.until(/^› src\/my file\.txt/m);
	term.type('\r');
	await term.until(/^› read src\/parser\.c and "src\/my file\.txt"$/m);
	assert.equal(model.requests().length, 0);
	term.type('now');
	await term.until(/txt" now$/m);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), 'read src/parser.c and "src/my file.txt" now');
	term.type('@pars');
	await term.until(/^› @pars\n/m);
	await term.until(/^› src\/parser\.c/m);
	term.type('\x03'); // clears the draft, not the list alone
	await term.until(/^›$/m);
	await leave(term);
});

test('lists: $ names the skills, whose text goes to the model', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model);
	fs.mkdirSync(path.join(home, 'skills/brewing'), { recursive: true });
	fs.writeFileSync(path.join(home, 'skills/brewing/SKILL.md'), '---\nname: brewing\ndescription: Makes tea.\n---\nBoil water.\n');
	const term = await startReady(t, model, [], { home });
	term.type('use $bre');
	await term.until(/^› \$brewing +Makes tea\./m);
	term.type('\t');
	await term.until(/^› use \$brewing$/m);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	assert.match(textsOf(model.requests()[0], 'user').join('\n'), /Boil water\./);
	await leave(term);
});

test('shell mode: runs without the model; its output is in the next request', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type('!');
	await term.until(/^!$[^]*Shell mode/m);
	term.type('\x7f');
	await term.until(/^›$/m);
	term.type('!echo shell-$((1+1))');
	await term.until(/^! echo shell/m);
	term.type('\r');
	await term.until(/• (You r|R)an echo shell[^]*└ shell-2/);
	await idle(term);
	assert.equal(model.requests().length, 0);
	await enter(term, 'what did it print?');
	await term.until(/• ok/);
	await idle(term);
	assert.match(JSON.stringify(model.requests()[0].body.input), /shell-2/);
	term.type(UP);
	await term.until(/^› what did/m);
	term.type(UP);
	await term.until(/^! echo shell/m);
	assert.match(fs.readFileSync(path.join(term.home, 'history.jsonl'), 'utf8'), /"text":"!echo shell/);
	term.type(DOWN + DOWN);
	await term.until(/^›$/m);
	await leave(term);
});

test('history: of earlier sessions, past damaged lines; Ctrl-R searches, Esc restores the draft', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model);
	const line = (text) => `${JSON.stringify({ session_id: 's', ts: 1, text })}\n`;
	fs.writeFileSync(path.join(home, 'history.jsonl'), `${line('first apple')}{"text":\n\xff\xfe\n${line('second pear')}${line('third apple')}{"sess`);
	const term = await startReady(t, model, [], { home });
	for (const [keys, wanted] of [[UP, /^› third apple$/m], [UP, /^› second pear$/m], [UP, /^› first apple$/m], [UP, /^› first apple$/m],
		[DOWN + DOWN + DOWN, /^›$/m], ['draft', /^› draft$/m], [CTRL.r, /reverse-i-search:/], ['app', /^› third apple$/m],
		[CTRL.r, /^› first apple$/m], [CTRL.s, /^› third apple$/m], ['x', /\(no match\)/], ['\x7f', /^› third apple$/m],
		[ESC, /^› draft$/m], [CTRL.r, /reverse-i-search:/], ['pear', /^› second pear$/m], ['\r', /^› second pear$[^]*gpt/m]]) {
		term.type(keys);
		await term.until(wanted);
	}
	assert.equal(model.requests().length, 0);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), 'second pear');
	assert.equal(fs.statSync(path.join(home, 'history.jsonl')).mode & 0o777, 0o644);
	await leave(term);
});

test('history: a cleared draft is kept; persistence = "none" writes nothing', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	for (const config of ['', '[history]\npersistence = "none"\n']) {
		const term = await startReady(t, model, [], { config });
		term.type('half a thought');
		await term.until(/^› half a thought$/m);
		term.type(CTRL.c);
		await term.until(/^›$/m);
		await leave(term);
		const file = path.join(term.home, 'history.jsonl');
		if (config) assert.equal(fs.existsSync(file), false);
		else assert.match(fs.readFileSync(file, 'utf8'), /half a thought/);
	}
});

test('history: a text of more than 64 KiB is not written, but can be taken back', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type(`\x1b[200~${'x'.repeat(70000)}\x1b[201~`);
	await term.until(/Pasted Content 70000 chars/);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	await enter(term, 'short');
	await term.until(/• ok[^]*• ok/);
	await idle(term);
	const written = fs.readFileSync(path.join(term.home, 'history.jsonl'), 'utf8');
	assert.match(written, /"text":"short"/);
	assert.ok(!written.includes('xxx'));
	term.type(UP + UP);
	await term.until(/^› .*(Pasted Content|xxx)/m);
	term.type(CTRL.c);
	await leave(term);
});

test('images: pasted paths become marks, which are units and are sent', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	for (const name of ['a.png', 'b c.jpg', 'd.webp']) fs.writeFileSync(path.join(cwd, name), PNG);
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { cwd });
	const paste = (text) => term.type(`\x1b[200~${text}\x1b[201~`);
	paste(`${cwd}/a.png`);
	await term.until(/^› \[Image #1\]$/m);
	paste(`'${cwd}/b c.jpg'`);
	await term.until(/^› \[Image #1\]\[Image #2\]$/m);
	term.type('\x7f');
	await term.until(/^› \[Image #1\]$/m);
	paste(`file://${cwd}/b%20c.jpg`);
	await term.until(/^› \[Image #1\]\[Image #2\]$/m);
	paste(`${cwd}/b\\ c.jpg`);
	await term.until(/\[Image #3\]$/m);
	paste(' missing.png');
	await term.until(/\[Image #3\] missing\.png$/m);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	const { content } = model.requests()[0].body.input.findLast(({ role }) => role === 'user');
	assert.equal(content.filter(({ type, image_url }) => type === 'input_image' && image_url.startsWith('data:image/')).length, 3);
	assert.match(content.filter(({ type }) => type === 'input_text').map((it) => it.text).join('\n'), /\[Image #1\]\[Image #2\]\[Image #3\] missing\.png/);
	await leave(term);
});

test('pastes: two of the same size keep their own text; 100,000 characters are fast and whole', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	const paste = (text) => term.type(`\x1b[200~${text}\x1b[201~`);
	paste('a'.repeat(1200));
	paste('b'.repeat(1200));
	await term.until(/^› \[Pasted Content 1200 chars\]\[Pasted Content 1200 chars #2\]$/m);
	term.type('\x1b[D\x7f');
	await term.until(/^› \[Pasted Content 1200 chars #2\]$/m);
	term.type('\x1b[Hstart ');
	await term.until(/^› start \[Pasted/m);
	term.type('\r');
	await term.until(/• ok/);
	await idle(term);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), `start ${'b'.repeat(1200)}`);
	paste('漢'.repeat(100_000));
	await term.until(/\[Pasted Content 100000 chars\]$/m);
	term.type('\r');
	await term.until(/• ok[^]*• ok/);
	await idle(term);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1).length, 100_000);
	await leave(term);
});

test('pastes: binary, and a block without brackets, reach the composer as text and run nothing', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type(`\x1b[200~${Buffer.from([0, 1, 2, 7, 8, 0x1b, 0x5b, 0x41, 0x9b, 0xc3, 0x28, 0xf0, 0x41]).toString('latin1')}end\x1b[201~`);
	await term.until(/end$/m);
	term.type(CTRL.u);
	await term.until(/^›$/m);
	term.type(`${'word '.repeat(10_000)}\rlast line\r`);
	await term.until(/last line/);
	assert.equal(model.requests().length, 0);
	term.type(CTRL.c);
	await term.until(/^›$/m);
	await leave(term);
});

test('the editor gets the draft and the terminal, and its text comes back; one that fails changes nothing', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const script = path.join(tempDir(t, 'bin'), 'ed it');
	const does = ['echo "in the editor: $(cat "$2")"', 'stty -a | grep -o " icanon"', 'printf "%s\\nline two\\n" "$1" > "$2"'];
	fs.writeFileSync(script, `#!/bin/sh\n${does.join('\n')}\n`, { mode: 0o755 });
	const term = await startReady(t, model, [], { env: { VISUAL: `'${script}' changed`, EDITOR: 'false' } });
	term.type('my draft');
	await term.until(/^› my draft$/m);
	term.type(CTRL.g);
	await term.until(/^in the editor: my draft\n icanon[^]*^› changed\n {2}line two$/m);
	term.type(CTRL.c);
	await term.until(/^›$/m);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
	const broken = await startReady(t, model, [], { env: { VISUAL: '', EDITOR: '/does/not/exist' } });
	broken.type('my draft');
	await broken.until(/^› my draft$/m);
	broken.type(CTRL.g);
	await broken.until(/■ The editor failed[^]*^› my draft$/m);
	broken.type(CTRL.c);
	await broken.until(/^›$/m);
	assert.deepEqual(await leave(broken), { status: 0, restored: true });
});

test('a long text is wrapped at blanks, and a long word within', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type('abcdefghi '.repeat(9) + 'end');
	await term.until(/^› (abcdefghi ?){7}\n {2}abcdefghi abcdefghi end$/m);
	assert.equal(term.caret()[1], 2 + 'abcdefghi abcdefghi end'.length);
	await clear(term);
	term.type('x'.repeat(100));
	await term.until(/^› x{70,78}\n {2}x{22,30}$/m);
	await clear(term);
	await leave(term);
});
