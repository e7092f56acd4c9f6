// Walks through keys and commands of the terminal at several sizes, and looks at the whole screen after each step.
//
//   const walk = await startWalk(t, model, [6, 20]);
//   await walk.step('/pwd', walk.cwd);             // its folder must appear once more than before
//   await walk.keys('Ctrl-T', '\x14', 'TRANSCRIPT');

import assert from 'node:assert/strict';

import { codexBin } from './codex.mjs';
import { startTerminal } from './terminal.mjs';

/** Rows and columns: the smallest window that the program promises to work in, the usual one, and a large one. */
export const SIZES = [[6, 20], [24, 80], [60, 200]];

const SHELL_LINES = Array.from({ length: 70 }, (_, i) => `shell ${i + 1}`);

/** Rows are wrapped at other places in each width, so only what is no blank is compared. */
const squeezed = (text) => text.replace(/\s+/g, '');
const occurrences = (text, part) => squeezed(text).split(squeezed(part)).length - 1;

/**
 * Starts the program after 70 lines of a shell, which must stay. Options: those of startTerminal.
 * The result is a terminal with:
 * keys(name, keys, wanted, more): types keys at once, or none (''), and waits until `wanted` is there once more than
 * before. wanted: words, an array of them, a pattern for the lines, or {gone: words}; keys must change whether it holds.
 * more.raw: the step writes rows that the terminal wraps. step(line, wanted, more): types a line, and Enter once it
 * stands in the composer. insist(name, key, pattern): types a key, which a list may take for typing ahead, until its
 * effect is there.
 */
export async function startWalk(t, model, [rows, columns], args = [], options = {}) {
	const shell = `i=1; while [ $i -le ${SHELL_LINES.length} ]; do echo "shell $i"; i=$((i + 1)); done; exec "$0" "$@"`;
	const term = await startTerminal(t, model, args, { rows, columns, command: ['sh', '-c', shell, codexBin, ...args], ...options });
	const { normal } = term.emulator.buffer;
	const rowsOf = (from, to) => Array.from({ length: to - from }, (_, i) => normal.getLine(from + i)?.translateToString(true).trimEnd() ?? '');
	let wrappedTo = 0; // rows above were wrapped by the terminal on purpose
	const assertWhole = (name, before) => {
		const where = `${name} in ${columns} by ${rows}`;
		const { active } = term.emulator.buffer;
		for (let y = active === normal ? wrappedTo : 0; y < active.length; y++)
			assert.ok(!active.getLine(y).isWrapped, `${where}: row ${y} is wider than the window: ${term.lines().slice(y - 1, y + 1)}`);
		assert.ok(active.cursorX < columns && active.cursorY < rows, `${where}: the cursor is outside`);
		assert.deepEqual(rowsOf(0, before.length), before, `${where}: the scrollback has changed`);
		assert.doesNotMatch(term.raw(), /\x1b\[3J/, where);
	};
	const appears = (wanted) => {
		if (wanted instanceof RegExp) return wanted;
		if (wanted.gone) return { test: () => !occurrences(term.screen().join(''), wanted.gone), toString: () => `no ${wanted.gone}` };
		const texts = [wanted].flat(), counts = texts.map((text) => occurrences(term.lines().join(''), text));
		return { test: (lines) => texts.every((text, i) => occurrences(lines, text) > counts[i]), toString: () => texts.join(' … ') };
	};
	const walk = Object.assign(term, {
		async keys(name, keys, wanted, more = {}) {
			const before = rowsOf(0, normal.baseY), pattern = appears(wanted);
			if (keys) {
				const held = pattern.test(term.lines().join('\n'));
				assert.ok(!held, `${name} in ${columns} by ${rows}: ${pattern} holds before the key in:\n${term.screen().join('\n')}`);
				term.type(keys);
			}
			const miss = () => assert.fail(`${name} in ${columns} by ${rows}: never ${pattern} in:\n${term.screen().join('\n')}`);
			await term.until(pattern).catch(miss);
			if (more.raw) wrappedTo = normal.baseY + normal.cursorY;
			assertWhole(name, before);
		},
		async step(line, wanted, more) {
			await walk.keys(line, line, line);
			await walk.keys(line, '\r', wanted, more);
		},
		async insist(name, key, pattern) {
			assert.doesNotMatch(term.lines().join('\n'), pattern, name);
			const timer = setInterval(term.type, 50, key);
			await term.until(pattern).finally(() => clearInterval(timer));
		},
	});
	await term.until(/^ {2}(?!starting)\S+.* [·…]|^ {2}gpt\S*/m);
	assertWhole('the start', []);
	assert.deepEqual(rowsOf(0, SHELL_LINES.length), SHELL_LINES);
	return walk;
}
