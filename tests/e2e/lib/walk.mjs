// Walks through keys and commands of the terminal at several sizes, and looks at the whole screen after each step.
//
//   const walk = await startWalk(t, model, [6, 20]);
//   await walk.step('/pwd', walk.cwd);             // its folder must appear once more than before
//   await walk.keys('Ctrl-T', '\x14', 'TRANSCRIPT');

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { codexBin } from './codex.mjs';
import { startTerminal } from './terminal.mjs';

/** Rows and columns: the smallest window that the program promises to work in, the usual one, and a large one. */
export const SIZES = [[6, 20], [24, 80], [60, 200]];

const SHELL_LINES = Array.from({ length: 70 }, (_, i) => `shell ${i + 1}`);

const FOUND_MAX = 11; // columns for a text in the footer of a narrow window, with the first letter of what follows
const DOWN = '\x1b[B', HOME = '\x1b[H', CTRL_A = '\x01', ENTER = '\r';

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
 * effect is there. take(row, [keys, wanted, more]): a step of a table; keys are a key, a line, a line after a tab that Tab
 * queues, or '' for none; more.gate is opened and more.write, a file, is made once the step has begun; more.isRaw: keys
 * that are no line. ready(name): waits until a list that was opened by itself takes keys. read(name, ...texts): finds
 * each text in the pager that shows all of a request. once(row, texts), absent(row, texts): how often they stand there.
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
	Object.assign(walk, stepsOf(walk, model), requestsOf(walk), endsOf(walk));
	await term.until(/^ {2}(?!starting)\S+.* [·…]|^ {2}gpt\S*/m);
	assertWhole('the start', []);
	assert.deepEqual(rowsOf(0, SHELL_LINES.length), SHELL_LINES);
	return walk;
}

const stepsOf = (walk, model) => ({
	async take(row, [keys, wanted, more = {}]) {
		const isControl = keys.length === 1 || /^[\x1b\x7f]/.test(keys), done = (...args) => walk.keys(`${row}: ${JSON.stringify(keys)}`, ...args);
		if (!keys) {
			const shown = done('', wanted, more);
			if (more.gate) await model.openGate(more.gate);
			if (more.write) fs.writeFileSync(path.join(walk.cwd, more.write), '');
			await shown;
		} else if (keys.startsWith('\t') && keys.length > 1) {
			await done(keys.slice(1), `› ${keys.slice(1)}`);
			await done('\t', wanted, more);
		} else if (isControl || more.isRaw) {
			await done(keys, wanted, more);
		} else {
			await walk.step(keys, wanted, more);
		}
	},
});

const requestsOf = (walk) => ({
	async ready(name) {
		await walk.until(/^› 1\. /m);
		await walk.insist(name, DOWN, /^› [2-9]\. /m);
		await walk.keys(`${name}: Home`, HOME, /^› 1\. /m);
	},
	async read(name, ...texts) {
		await walk.keys(`${name}: Ctrl-A`, CTRL_A, 'R E Q U E S T');
		for (const text of texts.map((whole) => whole.slice(0, FOUND_MAX))) {
			const footer = (part) => ({ test: () => walk.screen().at(-1).startsWith(`  / ${text}  ${part}`), toString: () => `${name}: ${text}` });
			walk.type(`/${text}`);
			await walk.until(footer('e')); // "enter to find"
			walk.type(ENTER);
			await walk.until(footer('q')); // or "not found"
		}
		await walk.keys(`${name}: q`, 'q', { gone: 'R E Q U E S T' });
	},
});

const endsOf = (walk) => {
	const count = (text) => occurrences(walk.lines().join(''), text), all = () => walk.lines().join('\n');
	return {
		once: (row, texts) => texts.forEach((text) => assert.equal(count(text), 1, `${row}: ${text} occurs ${count(text)} times in:\n${all()}`)),
		absent: (row, texts) => texts.forEach((text) => assert.equal(count(text), 0, `${row}: ${text} stands in:\n${all()}`)),
	};
};

/** The sentences and clauses of a section of the reference; a full stop or semicolon within quoted words ends none. */
export function sentencesOf(text) {
	const quoted = [];
	const masked = text.replace(/`[^`]*`/g, (words) => `\0${quoted.push(words) - 1}\0`).replace(/\n {2}/g, ' ');
	return masked.split(/(?<=[.;])\s|\n\* |^\* /).map((part) => part.replace(/\0(\d+)\0/g, (_, at) => quoted[at])).filter((part) => part.trim());
}
