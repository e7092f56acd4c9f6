// The terminal: each editing key of the composer, and the keys of the program that no other file types.

import assert from 'node:assert/strict';
import test from 'node:test';

import { forever, needs, reply, say, startModel } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { enter, lacksEmulator, leave, startReady, timeless } from './lib/terminal.mjs';
import { SIZES, startWalk } from './lib/walk.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Keys typed after "one two three", and what the composer has then, with a bar typed at the caret. */
const EDITS = [
	['Ctrl-A', '\x01', '|one two three'], ['Ctrl-E', '\x01\x05', 'one two three|'],
	['Ctrl-B', '\x02', 'one two thre|e'], ['Ctrl-F', '\x01\x06', 'o|ne two three'],
	['Left', '\x1b[D', 'one two thre|e'], ['Right', '\x01\x1b[C', 'o|ne two three'],
	['Home', '\x1b[H', '|one two three'], ['End', '\x1b[H\x1b[F', 'one two three|'],
	['Alt-B', '\x1bb', 'one two |three'], ['Alt-F', '\x01\x1bf', 'one| two three'],
	['Ctrl-Left', '\x1b[1;5D', 'one two |three'], ['Ctrl-Right', '\x01\x1b[1;5C', 'one| two three'],
	['Alt-Left', '\x1b[1;3D', 'one two |three'], ['Alt-Right', '\x01\x1b[1;3C', 'one| two three'],
	['Backspace', '\x7f', 'one two thre|'], ['Ctrl-H', '\x08', 'one two thre|'],
	['Delete', '\x01\x1b[3~', '|ne two three'], ['Ctrl-D', '\x01\x04', '|ne two three'],
	['Ctrl-W', '\x17', 'one two |'], ['Alt-Backspace', '\x1b\x7f', 'one two |'],
	['Ctrl-Backspace', '\x1b[127;5u', 'one two |'], ['Alt-D', '\x01\x1bd', '| two three'],
	['Ctrl-U', '\x15', '|'], ['Ctrl-K', '\x01\x06\x0b', 'o|'], ['Ctrl-Y', '\x17\x01\x19', 'three|one two '],
	['kills that follow each other', '\x17\x1b\x7f\x01\x19', 'two three|one '], ['Alt-D twice', '\x01\x1bd\x1bd\x05\x19', ' threeone two|'],
	['Ctrl-J', '\x0asecond', 'one two three\n  second|'], ['Shift-Enter', '\x1b[13;2usecond', 'one two three\n  second|'],
	['Alt-Enter', '\x1b\rsecond', 'one two three\n  second|'], ['Ctrl-M', '\x1b[109;5usecond', 'one two three\n  second|'],
	['Ctrl-P', '\x0asecond\x10', 'one tw|o three\n  second'], ['Ctrl-N', '\x0asecond\x10\x0e', 'one two three\n  second|'],
	['Up', '\x0asecond\x1b[A', 'one tw|o three\n  second'], ['Down', '\x0asecond\x1b[A\x1b[B', 'one two three\n  second|'],
];

test('each editing key does what the table says, at three sizes', { ...options, timeout: 180_000 }, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	for (const size of SIZES) {
		const walk = await startWalk(t, model, size);
		for (const [name, keys, wanted] of EDITS) {
			await walk.keys(name, 'one two three', /^› one two three$/m);
			await walk.keys(name, `${keys}|`, new RegExp(`^› ${escaped(wanted.trimEnd())}\n`, 'm'));
			await walk.keys(name, '\x03', /^›$/m);
		}
		walk.type('\x04'); // on an empty composer Ctrl-D ends
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	}
	assert.equal(model.requests().length, 0);
});

test('a draft that does not fit shows where more rows are; a blank at the end of a row begins none', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type(`\x1b[200~${Array.from({ length: 60 }, (_, i) => `l${i}`).join('\n')}\x1b[201~`);
	await term.until(/^↑ l\d+\n( {2}l\d+\n)+ {2}l59\n/m);
	term.type('\x1b[A'.repeat(59));
	await term.until(/^› l0\n( {2}l\d+\n)+↓ l\d+\n/m);
	term.type('\x03');
	await term.until(/^›$/m);
	term.type(`${'x'.repeat(77)} after`);
	await term.until(/^› x{77}\n {2}after$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	term.type('\x12aft');
	await term.until(/^ {2}reverse-i-search: aft$/m);
	const [row, column] = term.caret();
	assert.match(term.screen()[row], /reverse-i-search/);
	assert.equal(column, '  reverse-i-search: aft'.length);
	term.type('\x1b');
	await term.until(/^›$/m);
	await leave(term);
});

test('Alt-Up and Shift-Left bring the newest queued message back', options, async (t) => {
	const model = await startModel(t, [reply({ gate: 'a' }, { message: 'Done.' }), forever(say('ok'))]);
	const term = await startReady(t, model, ['go']);
	await term.until(/esc to interrupt/);
	for (const word of ['first', 'second']) {
		term.type(word);
		await term.until(new RegExp(`^› ${word}$`, 'm'));
		term.type('\t');
		await term.until(new RegExp(`↳ ${word}$`, 'm'));
	}
	for (const key of ['\x1b[1;3A', '\x1b[1;2D']) {
		term.type(key);
		await term.until(/↳ first\n› second$/m);
		term.type('\t');
		await term.until(/↳ first\n {2}↳ second\n›$/m);
	}
	await model.openGate('a');
	await term.until(/› first\n\n• ok\n\n {2}Worked for [^\n]*\n\n› second\n\n• ok/);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
});

test('Ctrl-L clears the screen alone: the draft and the conversation stay', options, async (t) => {
	const model = await startModel(t, [say('First answer.'), say('Second answer.')]);
	const term = await startReady(t, model, ['one']);
	await term.until(/^• First answer\.$/m);
	await term.untilGone(/esc to interrupt/);
	term.type('a draft');
	await term.until(/^› a draft$/m);
	term.type('\x0c');
	await term.until(/^› a draft$/m);
	await until(() => !term.screen().some((line) => /First answer/.test(line)));
	assert.doesNotMatch(term.raw(), /\x1b\[2J/); // which some terminals do not keep
	const kept = timeless(term.lines().join('\n')).split('\n');
	assert.deepEqual(kept.slice(kept.indexOf('› one')), ['› one', '', '• First answer.', '', '› a draft', '', kept.at(-1)]);
	term.type('\r');
	await term.until(/^• Second answer\.$/m);
	await term.untilGone(/esc to interrupt/);
	assert.match(JSON.stringify(model.requests()[1].body.input), /First answer\./);
	await enter(term, '/personality');
	await term.until(/personality/i);
	term.type('\x1b');
	await term.until(/^›$/m);
	await enter(term, '/agents');
	await term.until(/This session has no subagents/);
	await enter(term, '/exit');
	assert.equal((await term.done).status, 0);
});

test('the end counts cached input and reasoning in brackets', options, async (t) => {
	const usage = { input_tokens: 12000, cached_tokens: 9000, output_tokens: 1800, reasoning_tokens: 100 };
	const model = await startModel(t, [reply({ message: 'counted' }, { usage })]);
	const term = await startReady(t, model, [], { columns: 100 });
	await enter(term, 'count');
	await term.until(/^• counted$/m);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
	const line = term.lines().find((row) => row.startsWith('Token usage'));
	assert.match(line, / input=3,000 \(\+ 9,000 cached\) output=1,800 \(reasoning 100\)$/);
});
