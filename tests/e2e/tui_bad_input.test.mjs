// The terminal lives with what models, files and terminals send: much, long, strange, late, or nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { forever, makeHome, needs, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 180_000 };
const idle = (term) => term.untilGone(/esc to interrupt/);

test('an answer of 10 MB is written whole and once', options, async (t) => {
	const lines = Array.from({ length: 5_000 }, (_, i) => `${i} ${'word '.repeat(400)}`);
	const model = await startModel(t, [say(lines.map((line) => `- ${line}`).join('\n')), forever(say('And now?'))]);
	const term = await startReady(t, model, [], { columns: 200 });
	await enter(term, 'go');
	await term.until(/• 4999 word/);
	await idle(term);
	const seen = term.lines().map((line) => /• (\d+) word/.exec(line)?.[1]).filter(Boolean);
	assert.deepEqual(seen, lines.map((_, i) => `${i}`));
	await enter(term, 'and?');
	await term.until(/• And now\?/);
	await leave(term);
});

test('100,000 deltas: each line once, and few bytes for each byte of the text', options, async (t) => {
	const deltas = Array.from({ length: 100_000 }, (_, i) => ({ delta: i % 20 === 19 ? 'w  \n' : 'w ' }));
	const model = await startModel(t, [reply(...deltas)]);
	const term = await startReady(t, model);
	const before = term.raw().length;
	await enter(term, 'go');
	await term.until(/• w w/);
	await idle(term);
	assert.equal(term.lines().filter((line) => /^[• ] (w ){19}w$/.test(line)).length, 5_000);
	assert.ok(term.raw().length - before < 40 * 200_000);
	await leave(term);
});

test('CJK, emoji, combining marks and right-to-left text: columns, the caret, and Backspace by clusters', options, async (t) => {
	const model = await startModel(t, [forever(say('漢字 👨‍👩‍👧 é שלום ❤️'))]);
	const term = await startReady(t, model);
	term.type('漢字é👨‍👩‍👧');
	await term.until(/^› 漢字é👨/m);
	term.type('\x7f');
	await term.until(/^› 漢字é$/m);
	assert.equal(term.caret()[1], 2 + 5);
	term.type('\x7f');
	await term.until(/^› 漢字$/m);
	term.type('\r');
	await term.until(/• 漢字 👨.* é שלום/);
	await idle(term);
	await leave(term);
});

test('answers to queries that come late, at once or in pieces, are never text', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	const answers = ['\x1b[?7u', '\x1b[?62;4c', '\x1b[24;80R', '\x1b]11;rgb:ffff/ffff/ffff\x1b\\', '\x1b]10;rgb:0/0/0\x07',
		'\x1bP1+r\x1b\\', '\x1b[?2026;2$y'];
	for (const late of answers)
		term.type(late);
	for (const piece of ['\x1b]11;rgb:ff', 'ff/0000/00', '00\x07', '\x1b[?6', '2;4', 'c']) {
		term.type(piece);
		await term.until(/^›$/m);
	}
	term.type('typed');
	await term.until(/^› typed$/m);
	term.type('\r');
	await term.until(/› typed\n\n• ok/);
	await idle(term);
	await leave(term);
});

test('without HOME, and with a folder that cannot be written, a conversation is held', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { env: { HOME: '' } });
	await enter(term, 'go');
	await term.until(/• ok/);
	await idle(term);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

test('a text of which pieces are lost is complete at its end', options, async (t) => {
	const message = (text) => ({ type: 'message', role: 'assistant', id: 'm', content: text ? [{ type: 'output_text', text }] : [] });
	/** The pieces, and then the item with the whole text, as a server that cuts characters in two sends them. */
	const pieces = (whole, ...deltas) => reply({ start: true }, { event: { type: 'response.output_item.added', item: message() } },
		...deltas.map((delta) => ({ event: { type: 'response.output_text.delta', item_id: 'm', delta } })),
		{ event: { type: 'response.output_item.done', item: message(whole) } });
	const cut = pieces('One two three.\n\nFour 👍.', 'One two ');
	const gap = pieces('Alpha beta gamma.', 'Alpha ', 'gamma.');
	const whole = pieces(' Just so.\n', 'Just ', 'so.');
	const model = await startModel(t, [cut, gap, whole]);
	const term = await startReady(t, model);
	const wanted = [/• One two three\.\n\n {2}Four 👍 ?\.\n/,
		/• Pieces of this text were lost on their way\. The whole text:\n\n• Alpha beta gamma\.\n/, /• Just so\.\n/];
	for (const [i, pattern] of wanted.entries()) {
		await enter(term, `go${i}`);
		await term.until(pattern);
		await term.untilGone(/esc to interrupt/);
	}
	assert.doesNotMatch(term.lines().join('\n').split('go2')[1], /Pieces/);
	assert.equal(term.lines().join('\n').match(/One two/g).length, 1);
	await leave(term);
});

test('sequences that are no keys are swallowed whole, at once and byte by byte', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	const KEYS = 'ABCDEFHIOPQRSZu~Mmt'; // finals of keys, of the focus and of the mouse
	const csi = Array.from({ length: 0x7f - 0x40 }, (_, i) => String.fromCharCode(0x40 + i)).filter((final) => !KEYS.includes(final) && final !== '[')
		.flatMap((final) => ['', '?1', '>0;276;0', '38:2:255', '1;2;3;4;5;6;7;8', ' ', '$', '99999999999'].map((body) => `\x1b[${body}${final}`));
	const strings = [']0;title\x07', ']52;c;AAAA\x1b\\', 'P1$r0m\x1b\\', '_G;payload\x1b\\', '^private\x1b\\'].map((body) => `\x1b${body}`);
	const mouse = ['\x1b[<0;10;10M', '\x1b[<0;10;10m', '\x1b[99~', '\x1b[57441u'];
	term.type('x');
	await term.until(/^› x$/m);
	for (const sequence of [...csi, ...strings, ...mouse]) term.type(sequence);
	term.type('y');
	await term.until(/^› xy$/m);
	for (const sequence of [...strings, '\x1b[?62;4c', '\x1b[38:2:255n', ...mouse]) for (const byte of sequence) term.type(byte);
	term.type('z');
	await term.until(/^› xyz$/m);
	for (const begun of ['\x1bP', '\x1b]', '\x1b_', '\x1b^', '\x1b[', '\x1bO']) { // Alt and a letter, in a terminal that sends ESC
		term.type(begun);
		term.type('\x03');
		await term.until(/^›$/m);
		term.type('xyz');
		await term.until(/^› xyz$/m);
	}
	term.type('\x03');
	await term.until(/^›$/m);
	assert.equal(model.requests().length, 0);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

/** Resizes the window, and waits for the frame that draws all live rows again: the one that the program makes for the new size. */
async function resized(term, rows, columns) {
	const from = term.raw().length;
	term.resize(rows, columns);
	const test = () => /\x1b\[\?2026h\x1b\[\?25l(\x1b\[\d+[AB])?\r\x1b\[K\x1b\[2G\x1b\[J[^]*\x1b\[\?2026l/.test(term.raw().slice(from));
	await term.until({ test, toString: () => `a frame of ${rows} by ${columns}` });
}

const CALM = 'tui.animations = false\n'; // else the time of the working line is drawn while the window changes

test('windows of one row and of two columns: each line that streams there stands in the scrollback once', options, async (t) => {
	const sizes = [[1, 2], [1, 80], [24, 2], [2, 2], [3, 500], [200, 3], [24, 80]]; // the emulator has no window of one column
	const parts = sizes.flatMap((_, i) => [{ gate: `g${i}` }, { delta: `item${i}.\n\n` }]);
	const model = await startModel(t, [reply({ delta: 'First.\n\n' }, ...parts, { gate: 'end' }, { delta: 'Last.\n\n' }), forever(say('ok'))]);
	const term = await startReady(t, model, [], { config: CALM });
	await enter(term, 'go');
	await term.until(/First\./);
	for (const [i, [rows, columns]] of sizes.entries()) {
		await resized(term, rows, columns);
		const from = term.raw().length;
		await model.openGate(`g${i}`);
		await term.until({ test: () => term.raw().includes(`item${i}.`, from), toString: () => `item${i}. in ${rows} by ${columns}` });
	}
	await model.openGate('end');
	await term.until(/Last\.\n\n {2}Worked for [^\n]*\n\n›\n\n {2}gpt\S* · [^\n]*$/); // above are copies of rows that had no room
	await enter(term, 'on');
	await term.until(/^› on\n\n• ok\n\n {2}Worked for [^\n]*\n\n›\n\n {2}gpt\S* · [^\n]*$/m);
	const text = term.lines().join('\n');
	for (const line of ['› go', '• First.', ...sizes.map((_, i) => `  item${i}.`), '  Last.', '› on', '• ok'])
		assert.equal(text.split(`${line}\n`).length - 1, 1, `${line} in:\n${text}`);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

test('windows of no size and of one cell, each drawn and all at once: what comes after them is whole', options, async (t) => {
	const sizes = [[1, 1], [1, 80], [24, 1], [0, 0], [2, 2], [3, 500], [200, 3], [24, 80]];
	const model = await startModel(t, [reply({ delta: 'First.\n\n' }, { gate: 'a' }, { delta: 'Second.\n\n' }, { gate: 'b' }, { delta: 'Last.\n\n' }),
		forever(say('ok'))]);
	const term = await startReady(t, model);
	await enter(term, 'go');
	await term.until(/First\./);
	for (const [rows, columns] of sizes) await resized(term, rows, columns);
	await model.openGate('a');
	await term.until(/^ {2}Second\.$/m);
	term.type('d'.repeat(40));
	await term.until(/^› d{40}$/m);
	const from = term.raw().length;
	for (const [rows, columns] of [...sizes, [24, 30]]) term.resize(rows, columns);
	await term.until({ test: () => /[^d]d{27}[^d]/.test(term.raw().slice(from)), toString: () => 'the draft in 30 columns' });
	await resized(term, 24, 80);
	await model.openGate('b');
	await term.until(/^ {2}Last\.\n\n {2}Worked for [^\n]*\n\n› d{40}\n\n {2}gpt\S* · [^\n]*$/m);
	term.type('\x15');
	await term.until(/\n›\n\n {2}gpt\S* · [^\n]*$/);
	await enter(term, 'on');
	await term.until(/^› on\n\n• ok\n\n {2}Worked for [^\n]*\n\n›\n\n {2}gpt\S* · [^\n]*$/m);
	assert.deepEqual(await leave(term), { status: 0, restored: true });
});

test('history.jsonl that is a folder, a pipe, or one line of 3 MB: a conversation is held', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const kinds = {
		folder: (file) => fs.mkdirSync(file),
		pipe: (file) => execFileSync('mkfifo', [file]),
		'a long line': (file) => fs.writeFileSync(file, `{"text":"${'x'.repeat(3 << 20)}"}\n{"session_id":"s","ts":1,"text":"kept"}\n`),
		zeros: (file) => fs.writeFileSync(file, Buffer.concat([Buffer.alloc(100_000), Buffer.from('\n{"session_id":"s","ts":1,"text":"kept"}\n')])),
	};
	for (const [kind, make] of Object.entries(kinds)) {
		const home = makeHome(t, model), file = path.join(home, 'history.jsonl');
		make(file);
		const term = await startReady(t, model, [], { home });
		if (fs.statSync(file).isFile()) {
			term.type('\x1b[A');
			await term.until(/^› kept$/m);
			term.type('\x03');
			await term.until(/^›$/m);
		}
		await enter(term, 'go');
		await term.until(/• ok/);
		await idle(term);
		assert.deepEqual(await leave(term), { status: 0, restored: true }, kind);
	}
});

const EDITORS = [['is killed', 'kill -9 $$', /■ The editor[^]*^› my draft$/m], ['removes the file', 'rm "$1"', /■ [^]*^› my draft$/m],
	['fails after a change', 'echo other >"$1"; exit 3', /■ The editor failed[^]*^› my draft$/m],
	['leaves the terminal raw', 'stty raw -echo; printf "\\033[?1049h\\033[?25l\\033[?2004l"; echo fine >"$1"', /^› fine$/m],
	['writes zeros and sequences', 'printf "a\\000b\\033[31mc" >"$1"', /^› a.*b.*c$/m],
	['leaves nothing', ': >"$1"', /^›$/m]];

for (const [name, script, wanted] of EDITORS)
	test(`an editor that ${name}: the composer is usable, and the terminal is restored`, options, async (t) => {
		const model = await startModel(t, [forever(say('ok'))]);
		const editor = path.join(tempDir(t, 'bin'), 'editor');
		fs.writeFileSync(editor, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
		const term = await startReady(t, model, [], { env: { VISUAL: editor } });
		term.type('my draft');
		await term.until(/^› my draft$/m);
		term.type('\x07');
		await term.until(wanted);
		term.type('\x15!');
		await term.until(/^(› .*)?!/m);
		term.type('\x03');
		await term.until(/^›$/m);
		await enter(term, 'go');
		await term.until(/• ok/);
		await idle(term);
		assert.deepEqual(await leave(term), { status: 0, restored: true });
	});

test('without HOME and CODEX_HOME nothing is drawn, and the error names them', options, async (t) => {
	const term = await startTerminal(t, null, [], { home: tempDir(t, 'home'), env: { HOME: '', CODEX_HOME: '' } });
	assert.equal((await term.done).status, 1);
	assert.match(term.lines().join('\n'), /CODEX_HOME/);
	assert.doesNotMatch(term.raw(), /\x1b/);
});
