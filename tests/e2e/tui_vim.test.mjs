// The terminal: vim's normal mode in the composer. Each key of tui_vim.def, the operators, and what stays as it is.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { forever, needs, reply, say, startModel, textsOf } from './lib/codex.mjs';
import { enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const ESC = '\x1b[27u', config = '[tui]\nvim_mode_default = true\n';

/** Key of the table: keys typed in normal mode on the last cluster of "one two three", and the text, with a bar typed in
 * insert mode at the caret. */
const EDITS = [
	['h', 'hhi', 'one two th|ree'], ['l', '0lli', 'on|e two three'], ['0', '0i', '|one two three'], ['^', '0i  \x1b^i', '  |one two three'],
	['$', '0$i', 'one two thre|e'], ['w', '0wi', 'one |two three'], ['b', 'bi', 'one two |three'], ['e', '0ei', 'on|e two three'],
	['e on the last letter', '0eei', 'one tw|o three'], ['G', '0Gi', 'one two thre|e'], ['gg', 'oab\x1bggi', '|one two three\n  ab'],
	['j', '0oab\x1bggji', 'one two three\n  |ab'], ['k', 'oab\x1bki', 'o|ne two three\n  ab'],
	['i', 'i', 'one two thre|e'], ['I', 'I', '|one two three'], ['a', 'a', 'one two three|'], ['A', '0A', 'one two three|'],
	['o', 'o', 'one two three\n  |'], ['O', 'Oab', 'ab|\n  one two three'],
	['x', '0xxi', '|e two three'], ['X', 'Xi', 'one two thr|e'], ['s', '0s', '|ne two three'], ['D', '0wDi', 'one| '],
	['C', '0wC', 'one |'], ['u', '0xui', '|one two three'], ['u twice', '0xuui', '|ne two three'],
	['dw', '0dwi', '|two three'], ['d$', '0wd$i', 'one| '], ['de', '0dei', '| two three'], ['db', 'dbi', 'one two |e'],
	['d0', 'wd0i', '|e'], ['cw', '0cw', '| two three'], ['c2w', '0c2w', '| three'], ['yw, P', '0ywPi', 'one| one two three'],
	['p', '0xpi', 'n|oe two three'], ['dd', 'oab\x1bddi', '|one two three'], ['dd, P', 'oab\x1bddPi', '|ab\n  one two three'],
	['yy, p', 'yypi', 'one two three\n  |one two three'], ['cc', 'cc', '|'], ['2dd', 'oab\x1bgg2ddi', '|'],
	['a count', '0 3xi'.replace(' ', ''), '| two three'], ['2w', '02wi', 'one two |three'],
	['an unknown key', 'zqi', 'one two thre|e'], ['Esc drops an operator', `d${ESC}0i`, '|one two three'],
];

test('each key of vim’s normal mode does what the table says', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config });
	for (const [name, keys, wanted] of EDITS) {
		term.type('one two three');
		await term.until(/^› one two three$/m);
		term.type(ESC);
		await term.until(/ · NORMAL$/m);
		for (const part of keys.split(/(\x1b(?:\[27u)?)/)) {
			if (part) term.type(part.startsWith('\x1b') ? ESC : part);
		}
		await term.untilGone(/ · NORMAL$/m);
		term.type('|');
		await term.until(new RegExp(`^› ${escaped(wanted).replace(/ +(?=\n|$)/g, ' *')}\n\n`, 'm'))
			.catch((err) => assert.fail(`${name}: ${err.message}`));
		term.type('\x03');
		await term.until(/^›$/m);
	}
	await leave(term);
	const table = fs.readFileSync(fileURLToPath(new URL('../../src/ui/tui/tui_vim.def', import.meta.url)), 'utf8');
	for (const [, key] of table.matchAll(/^VIM_\w+\('(.)'/gm))
		assert.ok(EDITS.some(([, keys]) => keys.includes(key)), `no row has the key ${key}`);
});

test('/vim turns it on and off; a sent message begins in insert mode, and Esc in normal mode interrupts', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half' }, { hang: true }), forever(say('ok'))]);
	const term = await startReady(t, model);
	await enter(term, '/vim');
	await term.until(/Vim mode on[^]*vim_mode_default/);
	term.type('one');
	await term.until(/^› one$/m);
	term.type(ESC);
	await term.until(/ · NORMAL$/m);
	term.type('\r');
	await term.until(/• Half/);
	await term.untilGone(/ · NORMAL$/m);
	term.type('ab');
	await term.until(/^› ab$/m);
	term.type(ESC);
	await term.until(/ · NORMAL$/m);
	assert.match(term.screen().join('\n'), /esc to interrupt/);
	term.type(ESC);
	await term.until(/Conversation interrupted/);
	term.type('dd');
	await term.until(/^›$/m);
	term.type('/st');
	await term.until(/^› \/status +show/m);
	term.type('\x03');
	await term.until(/^›$/m);
	await enter(term, '/vim');
	await term.until(/Vim mode off/);
	await leave(term);
	assert.deepEqual(textsOf(model.requests()[0], 'user').at(-1), 'one');
});

test('clusters and marks are one unit in normal mode', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config });
	term.type('ae\u0301b');
	await term.until(/^› ae\u0301b$/mu);
	term.type(ESC);
	await term.until(/ · NORMAL$/m);
	term.type('hx');
	await term.until(/^› ab$/m);
	term.type('A');
	await term.untilGone(/ · NORMAL$/m);
	term.type(`\x1b[200~${'x'.repeat(2000)}\x1b[201~`);
	await term.until(/\[Pasted Content 2000 chars\]/);
	term.type(ESC);
	await term.until(/ · NORMAL$/m);
	term.type('x');
	await term.until(/^› ab$/m);
	term.type('u');
	await term.until(/^› ab\[Pasted Content 2000 chars\]$/m);
	term.type('\r');
	await term.until(/• ok/);
	await term.untilGone(/esc to interrupt/);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), `ab${'x'.repeat(2000)}`);
	await leave(term);
});

test('a motion into a mark ends beside it, and an undo brings back the mode as well', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model, [], { config });
	assert.doesNotMatch(term.lines().join('\n'), /have no effect/, 'the terminal reads tui');
	term.type(`\x1b[200~${'x'.repeat(2000)}\x1b[201~`);
	await term.until(/^› \[Pasted Content 2000 chars\]$/m);
	term.type(`${ESC}0wx`);
	await term.until(/^›$/m);
	term.type('u');
	await term.until(/^› \[Pasted Content 2000 chars\]$/m);
	term.type('A\x03');
	await term.until(/^›$/m);
	term.type('!true');
	await term.until(/^! true$/m);
	term.type('\r');
	await term.until(/You ran true/);
	await term.untilGone(/esc to interrupt/);
	term.type('rm notes');
	await term.until(/^› rm notes$/m);
	term.type(`${ESC}x`);
	await term.until(/^› rm note$/m);
	term.type('k');
	await term.until(/^! true$/m);
	term.type('u');
	await term.until(/^› rm notes$/m);
	term.type('A\x03');
	await term.until(/^›$/m);
	await leave(term);
});
