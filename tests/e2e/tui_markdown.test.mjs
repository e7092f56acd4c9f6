// The terminal: answers as Markdown, whole and streamed; long ones; hostile ones.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needs, reply, say, startModel } from './lib/codex.mjs';
import { answer, conversationOf, enter, lacksEmulator, leave, startReady, timeless } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };

/** Answers one message with this text and returns the conversation after it. */
async function show(t, answer, startOptions) {
	const model = await startModel(t, [typeof answer === 'string' ? say(answer) : answer]);
	const term = await startReady(t, model, ['go'], startOptions);
	await term.until(/^› go\n\n[^]*^• /m);
	await term.untilGone(/esc to interrupt/);
	const text = conversationOf(term.lines());
	await leave(term);
	return { text: text.slice(text.indexOf('\n\n') + 2), raw: term.raw(), term };
}

const shapes = [
	['headings and emphasis lose their marks', '# Title\n\nSome **bold**, *slanted*, `code` and ~~gone~~ words.\n\n## Next\nText',
		'• Title\n\n  Some bold, slanted, code and gone words.\n\n  Next\n\n  Text'],
	['lists keep their bullets, numbers, boxes and nesting', '- one\n- two\n  - inner\n\n1. first\n2. second\n\n- [x] done\n- [ ] open',
		'• • one\n  • two\n    • inner\n\n  1. first\n  2. second\n\n  ✔ done\n  □ open'],
	['code keeps its blanks and has no fences', 'Run:\n\n```python\ndef f(x):\n    return x  # **no**\n\nf(1)\n```\n\nDone.',
		'• Run:\n\n  def f(x):\n      return x  # **no**\n\n  f(1)\n\n  Done.'],
	['tables are aligned, also with wide characters', '| name | count |\n|---|---:|\n| 漢字 | 1 |\n| `x` | 22 |\n\nend',
		'• name │ count\n  ─────┼──────\n  漢字 │     1\n  x    │    22\n\n  end'],
	['a link shows where it leads', 'See [the docs](https://docs.example/a) or https://b.example.',
		'• See the docs (https://docs.example/a) or https://b.example.'],
	['a link that claims another address shows the real one', '[https://good.example](https://evil.example)',
		'• https://good.example (https://evil.example)'],
	['quotes and rules', '> said\n> again\n\n---\n\nafter', '• │ said\n  │ again\n\n  ──────────────────────────────────────\n\n  after'],
	['HTML and entities in code are text', 'a <b>b</b> &lt;c&gt; `&lt;`', '• a <b>b</b> <c> &lt;'],
	['a definition of a link is not hidden', '[a]: https://hidden.example\n\nuses [a]', '• [a]: https://hidden.example\n\n  uses [a]'],
];
for (const [name, source, wanted] of shapes) {
	test(`${name}, at once and in pieces`, options, async (t) => {
		assert.equal((await show(t, source)).text, wanted);
		const pieces = source.match(/[^]{1,3}/g).map((delta) => ({ delta }));
		assert.equal((await show(t, reply(...pieces))).text, wanted);
	});
}

test('code is coloured by its language, a diff by its signs', options, async (t) => {
	const { raw } = await show(t, '```c\nreturn 1; // end\n```\n```diff\n+new\n-old\n```');
	assert.match(raw, /\x1b\[35mreturn\x1b\[0m \x1b\[33m1\x1b\[0m; \x1b\[2m\/\/ end\x1b\[0m/);
	assert.match(raw, /\x1b\[32m\+new\x1b\[0m/);
	assert.match(raw, /\x1b\[31m-old\x1b\[0m/);
});

test('without colour, emphasis remains and no colour is sent', options, async (t) => {
	const { raw, text } = await show(t, '**bold** `code`\n```c\nreturn 1;\n```', { env: { NO_COLOR: '1' } });
	assert.match(raw, /\x1b\[1mbold\x1b\[0m code/);
	assert.doesNotMatch(raw, /\x1b\[[\d;]*\b(3[0-8]|4[0-8]|9\d|10[0-7])m/);
	assert.equal(text, '• bold code\n\n  return 1;');
});

test('nothing in Markdown drives the terminal, also split over deltas', options, async (t) => {
	const evil = '**\x1b[31mred** `\u202eabc` [l\u2066k](https://x.example/\u200b) &#27;[2J &#x202e; \x9b31m\x1b]8;;http://x\x07end';
	const { raw, text } = await show(t, reply(...[...evil].map((delta) => ({ delta }))), { columns: 120 });
	assert.doesNotMatch(raw, /\x1b\[2J|\x1b\]8|[\u202a-\u202e\u2066-\u2069\u200b\x80-\x9f]/);
	assert.match(text, /\^\[\[2J \\u\{202e\} \\u\{9b\}31m\^\[\]8;;http:\/\/x\^Gend$/);
	assert.match(text,
		/^• \^\[\[31mred \\u\{202e\}abc l\\u\{2066\}k \(https:\/\/x\.example\/\\u\{200b\}\)/);
});

test('a block that is complete goes to the scrollback while the next one streams', options, async (t) => {
	const model = await startModel(t, [reply({ delta: '- first\n- sec' }, { gate: 'a' }, { delta: 'ond\n\n| a | b |\n|---|---|\n| 1' }, { gate: 'b' },
		{ delta: '1 | 2 |\n\nEnd.' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^• • first\n {2}• sec$/m);
	await model.openGate('a');
	await term.until(/^ {2}a │ b\n {2}──┼──\n {2}1/m);
	await model.openGate('b');
	await term.until(/^ {2}End\.$/m);
	await term.untilGone(/esc to interrupt/);
	assert.equal(conversationOf(term.lines()), '› go\n\n• • first\n  • second\n\n  a  │ b\n  ───┼──\n  11 │ 2\n\n  End.');
	await leave(term);
});

test('a code block of 400 lines scrolls by in a small window, each line once', options, async (t) => {
	const model = await startModel(t, [reply({ delta: '```js\n' },
		{ repeat: 400, steps: [{ delta: 'let x{i}' }, { delta: ' = 1;\n' }] }, { delta: '```\n' })]);
	const term = await startReady(t, model, ['go'], { rows: 10 });
	await term.until(/x400 = 1/);
	await term.untilGone(/esc to interrupt/);
	assert.deepEqual(term.lines().filter((line) => / = 1;$/.test(line)),
		Array.from({ length: 400 }, (_, i) => `${i ? ' ' : '•'} let x${i + 1} = 1;`));
	assert.doesNotMatch(term.lines().slice(0, -8).join('\n'), /interrupt|test-model/);
	await leave(term);
});

test('a table that is taller than the window is shown by its end, and written once', options, async (t) => {
	const rows = Array.from({ length: 60 }, (_, i) => `| row ${i + 1} | ${'x'.repeat(i % 7)} |`);
	const model = await startModel(t, [reply({ delta: `| a | b |\n|---|---|\n${rows.slice(0, 40).join('\n')}\n` }, { gate: 'a' },
		{ delta: rows.slice(40).join('\n') })]);
	const term = await startReady(t, model, ['go'], { rows: 12 });
	await term.until(/^ {2}row 40 /m);
	assert.doesNotMatch(term.lines().join('\n'), /row 20 /);
	await model.openGate('a');
	await term.until(/^ {2}row 60 /m);
	await term.untilGone(/esc to interrupt/);
	const shown = term.lines().filter((line) => /^ {2}row \d+ /.test(line));
	assert.deepEqual(shown.map((line) => Number(/row (\d+)/.exec(line)[1])), Array.from({ length: 60 }, (_, i) => i + 1));
	await leave(term);
});

test('a line of 1 MB is shown whole', options, async (t) => {
	const { text } = await show(t, 'y'.repeat(1_000_000), { columns: 200 });
	assert.ok(text.replace(/[\s•]/g, '') === 'y'.repeat(1_000_000));
});

test('an answer of 2 MB and 20,000 lines stands there once and in order', options, async (t) => {
	const model = await startModel(t, [reply({ repeat: 20_000, steps: [{ delta: `{i} word **${'word '.repeat(18)}end**\n` }] })]);
	const term = await startReady(t, model, ['go'], { columns: 120 });
	await term.until(/^ {2}20000 word/m);
	await term.untilGone(/esc to interrupt/);
	const numbers = term.lines().map((line) => /^[ •] (\d+) word/.exec(line)?.[1]).filter(Boolean).map(Number);
	assert.deepEqual(numbers, Array.from({ length: 20_000 }, (_, i) => i + 1));
	await leave(term);
});

test('a window that changes its size while text streams keeps every line once', options, async (t) => {
	const model = await startModel(t, [reply({ repeat: 200, steps: [{ delta: 'part {i} of the text\n\n' }, { delay_ms: 5 }] })]);
	const term = await startReady(t, model, ['go'], { rows: 20, columns: 90 });
	for (let i = 0; i < 12; i++) {
		term.resize(10 + (i % 5) * 4, 60 + (i % 4) * 17);
		await term.until(new RegExp(`part ${(i + 1) * 15} of`));
	}
	await term.until(/part 200 of/);
	await term.untilGone(/esc to interrupt/);
	const numbers = term.lines().map((line) => /part (\d+) of/.exec(line)?.[1]).filter(Boolean).map(Number);
	assert.deepEqual(numbers, Array.from({ length: 200 }, (_, i) => i + 1));
	await leave(term);
});

/** Part n of a block that stays open, with the words pNwI. */
const words = (n, count, write) => Array.from({ length: count }, (_, i) => write(`p${n}w${i}`, i)).join('');
const openParagraph = (n) => words(n, 60, (word) => `${word} `);
const openList = (n) => words(n, 12, (word, i) => `${n * 12 + i + 1}. item ${word}\n`);
const openTable = (n) => (n ? '' : '| a | b |\n|---|---|\n') + words(n, 12, (word) => `| row ${n} | ${word} |\n`);

/** Streams one open block in parts, and changes the window's size before each. Returns the words, as often as they stand there. */
async function resized(t, make, last, sizes) {
	const steps = sizes.map((_, i) => [{ gate: `g${i}` }, { delta: make(i + 1) }]);
	const model = await startModel(t, [reply({ delta: make(0) }, ...steps.flat(), { gate: 'end' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(new RegExp(`p0w${last}`));
	for (const [i, [rows, columns]] of sizes.entries()) {
		term.resize(rows, columns);
		await model.openGate(`g${i}`);
		await term.until(new RegExp(`p${i + 1}w${last}(?!\\d)`));
	}
	await model.openGate('end');
	await term.untilGone(/esc to interrupt/);
	const text = term.lines().join('\n');
	assert.equal(text.match(/^›$/gm).length, 1);
	await leave(term);
	return text.match(/p\d+w\d+/g);
}

for (const [name, make, last] of [['a paragraph', openParagraph, 59], ['a list', openList, 11], ['a table', openTable, 11]]) {
	test(`resizes that leave room for the live rows leave no copy of ${name} that streams`, options, async (t) => {
		const sizes = [[24, 60], [24, 120], [30, 50], [20, 80], [18, 80], [24, 45], [24, 80], [40, 160], [30, 100]];
		const found = await resized(t, make, last, sizes);
		assert.equal(found.length, (last + 1) * (sizes.length + 1));
		assert.equal(new Set(found).size, found.length);
	});

	test(`resizes that leave no room for the live rows lose nothing of ${name}, which is whole below the copies`, options, async (t) => {
		const sizes = [[6, 20], [50, 200], [24, 40], [12, 80], [24, 80]];
		const found = await resized(t, make, last, sizes);
		const all = sizes.flatMap((_, n) => Array.from({ length: last + 1 }, (__, i) => `p${n}w${i}`));
		assert.deepEqual(all.filter((word) => !found.includes(word)), []);
		const end = Array.from({ length: last + 1 }, (_, i) => `p${sizes.length}w${i}`);
		assert.deepEqual(found.slice(-end.length), end);
	});
}

test('a window of 500 columns and one of 20 by 6 show lists and tables', options, async (t) => {
	const source = '- an item with some words in it\n\n| a | b |\n|---|---|\n| first cell | second cell |';
	assert.equal((await show(t, source, { columns: 500 })).text,
		'• • an item with some words in it\n\n  a          │ b\n  ───────────┼────────────\n  first cell │ second cell');
	assert.equal((await show(t, source, { rows: 6, columns: 20 })).text,
		'• • an item with\n    some words in\n    it\n\n  a       │ b\n  ────────┼────────\n  first   │ second\n  cell    │ cell');
});

test('a terminal that reads nothing for a while holds the engine, and gets everything afterwards', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Begin.\n\n' }, { gate: 'a' },
		{ repeat: 6000, steps: [{ delta: `row {i} ${'of text '.repeat(8)}\n\n` }] }, { delta: 'The end.' })]);
	const term = await startReady(t, model, ['go'], { columns: 100 });
	await term.until(/^• Begin\.$/m);
	term.stop();
	await model.openGate('a');
	await term.full();
	term.type('typed meanwhile');
	await term.rests();
	term.go();
	await term.until(/The end\./);
	await term.until(/^› typed meanwhile$/m);
	const numbers = term.lines().map((line) => /^ {2}row (\d+) of/.exec(line)?.[1]).filter(Boolean).map(Number);
	assert.deepEqual(numbers, Array.from({ length: 6000 }, (_, i) => i + 1));
	await term.untilGone(/esc to interrupt/);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('a resize storm leaves one composer, one footer and every line', options, async (t) => {
	const model = await startModel(t, [say(Array.from({ length: 30 }, (_, i) => `Line ${i + 1}.`).join('\n\n'))]);
	const term = await startReady(t, model, ['go'], { rows: 24, columns: 100 });
	await term.until(/Line 30\./);
	await term.untilGone(/esc to interrupt/);
	for (let i = 0; i < 60; i++) term.resize(12 + (i * 7) % 20, 50 + (i * 13) % 60);
	term.resize(24, 100);
	await term.rests();
	term.type('still here');
	await term.until(/^› still here$/m);
	const lines = term.lines().join('\n');
	assert.equal(lines.split('still here').length, 2);
	assert.deepEqual(lines.match(/Line \d+\./g).map((line) => Number(line.slice(5, -1))), Array.from({ length: 30 }, (_, i) => i + 1));
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

// --- what happens while text arrives ----------------------------------------------------------------------------------

const TABLE = ['| n | row |\n', '|---|---|\n', ...Array.from({ length: 6 }, (_, i) => `| ${i} | row ${i} |\n`), '\n'];
const CODE = ['```c\n', ...Array.from({ length: 6 }, (_, i) => `int v${i}; /* *line* ${i} */\n`), '```\n\n'];
const gated = (pieces) => pieces.flatMap((delta, i) => [{ delta }, { gate: `g${i}` }]);
const TABLE_ROWS = Array.from({ length: 6 }, (_, i) => `  ${i} │ row ${i}`).join('\n');
const CODE_ROWS = Array.from({ length: 6 }, (_, i) => `  int v${i}; /* *line* ${i} */`);

for (const [name, pieces] of [['a table', TABLE], ['a code block', CODE]]) {
	test(`${name} keeps its shape while notes, messages and commands come between`, options, async (t) => {
		const model = await startModel(t, [reply({ delta: 'Intro.\n\n' }, { gate: 'go' }, ...gated(pieces), { delta: 'The end.' }), say('I read it.')]);
		const term = await startReady(t, model, ['begin']);
		await term.until(/• Intro\./);
		await model.openGate('go');
		for (let i = 0; i < 4; i++) await model.openGate(`g${i}`);
		await term.until(pieces === CODE ? /v3; \/\* \*line\* 3/ : /2 │ row 2/);
		await enter(term, '/pwd');
		await term.until(new RegExp(`^• ${term.cwd}`, 'm'));
		await enter(term, '/nosuch');
		await term.until(/\/nosuch.*\n/);
		term.type('\x15');
		await term.until(/^›$/m);
		term.type('!');
		await term.until(/^!/m);
		term.type('echo from-shell');
		await term.until(/^! echo from-shell$/m);
		term.type('\r');
		await term.until(/You ran echo from-shell/);
		await enter(term, 'steered text');
		await term.until(/Read with the next request \(esc sends it now\)\n {2}↳ steered text/);
		for (let i = 4; i < pieces.length; i++) await model.openGate(`g${i}`);
		await term.until(/I read it\./);
		await term.untilGone(/esc to interrupt/);
		const text = term.lines().join('\n');
		if (pieces === CODE)
			for (const row of CODE_ROWS) assert.ok(text.includes(`\n${row}\n`), `${row} in ${text}`);
		else
			assert.ok(text.includes(TABLE_ROWS), text);
		assert.match(text, /The end\.\n\n› steered text\n\n• I read it\./);
		assert.doesNotMatch(text, /• (\||int|row)|\n\n\n+[•›] /);
		assert.equal(text.split('Intro.').length, 2);
		await leave(term);
	});
}

test('a message that joined a turn which is interrupted stands before the interruption, once', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { hang: true })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I begin/);
	await enter(term, 'steered text');
	await term.until(/Read with the next request \(esc sends it now\)\n {2}↳ steered text/);
	term.type('\x1b');
	await term.until(/• I begin\n\n› steered text\n\n■ Conversation interrupted/);
	await term.until(/^›$/m);
	await leave(term);
});

for (const [name, steps] of [['at once', { message: '' }], ['in pieces', { chunks: 25 }]]) {
	test(`a plan between two texts is shown once, and so are they, ${name}`, options, async (t) => {
		const plan = 'Intro text.\n\n<proposed_plan>\n# Plan\n\n- first step\n</proposed_plan>\nOutro text.\n';
		const model = await startModel(t, [reply({ ...steps, message: plan })]);
		const term = await startReady(t, model);
		term.type('\x1b[Z');
		await term.until(/Plan mode/);
		await enter(term, 'plan it');
		await term.until(/Implement this plan\?/);
		const plain = timeless(term.lines().join('\n'));
		assert.match(plain, /• Intro text\.\n\n• Proposed Plan\n\n {2}Plan\n\n {2}• first step\n\n• Outro text\.\n\n\n?Implement/);
		for (const word of ['Intro text', 'first step', 'Outro text', 'Proposed Plan'])
			assert.equal(term.lines().join('\n').split(word).length, 2, word);
		await answer(term, '\x1b');
		await term.until(/^›$/m);
		await leave(term);
	});
}
