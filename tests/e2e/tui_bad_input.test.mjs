// The terminal lives with what models, files and terminals send: much, long, strange, late, or nothing.

import assert from 'node:assert/strict';
import test from 'node:test';

import { forever, needs, reply, say, startModel } from './lib/codex.mjs';
import { enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

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
