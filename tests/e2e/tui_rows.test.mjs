// Every key and every command of docs/tui.md has a test, which this table names.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import * as walk from './lib/walk_rows.mjs';

const read = (name) => fs.readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');

/** The first cell of a row, as docs/tui.md has it, and the beginning of a test's name. */
const KEYS = {
	'Enter': 'input steers the running turn',
	'Tab': 'input steers the running turn',
	'Alt-Up, Shift-Left': 'Alt-Up and Shift-Left bring',
	'Ctrl-J, Shift-Enter, Alt-Enter': 'each editing key',
	'Esc Esc': 'Esc Esc goes back',
	'Esc, Ctrl-C': 'Esc interrupts; what was queued',
	'Ctrl-C': 'history: a cleared draft is kept',
	'Ctrl-D': 'each editing key',
	'Up, Down': 'the composer edits by clusters',
	'Ctrl-R, Ctrl-S': 'history: of earlier sessions',
	'Ctrl-G': 'the editor gets the draft',
	'Ctrl-V': 'Ctrl-V takes',
	'Ctrl-O': '/copy and Ctrl-O',
	'`/`, `@`, `$`': 'lists: commands are filtered',
	'Up, Down, PgUp, PgDn, Home, End': 'the list of sessions counts',
	'`!`': 'shell mode: runs',
	'Ctrl-A, Ctrl-E, Ctrl-B, Ctrl-F, Ctrl-P, Ctrl-N, Home, End, Alt-B, Alt-F, Ctrl-Left, Ctrl-Right': 'each editing key',
	'Ctrl-W, Alt-Backspace, Alt-D, Ctrl-U, Ctrl-K, Ctrl-Y': 'each editing key',
	'Shift-Tab': 'a plan: proposed once',
	'Alt-, and Alt-.': 'Alt-period and Alt-comma',
	'`?`': '? shows the keys',
	'Ctrl-L': 'Ctrl-L clears the screen',
	'Ctrl-T, F3': '/warnings and F2 show',
	'F2': '/warnings and F2 show',
	'Alt-R': '/raw and Alt-R',
	'Left, Alt-Left, Alt-Right': 'a subagent is watched live',
	'Ctrl-Z': 'Ctrl-Z gives the shell',
};

/** Rows of tui_command.def. */
const COMMANDS = {
	model: '/model:', permissions: '/permissions:', approvals: '/permissions:', personality: 'Ctrl-L clears',
	skills: '/skills turns', vim: '/vim turns', goal: '/goal sets', side: '/side asks', recap: '/side asks',
	hooks: '/cd, /pwd', review: '/review:', rename: '/mcp lists', new: '/new:',
	archive: '/archive and /delete', delete: '/archive and /delete', resume: '/resume finds', fork: '/fork continues',
	init: '/init sends', compact: 'a compaction is one line', config: '/cd, /pwd', plan: '/init sends', copy: '/copy and',
	export: '/archive and /delete', raw: '/raw and', diff: '/diff is a pager', mention: '/init sends', status: '/status, /help',
	warnings: '/warnings and', cd: '/cd, /pwd', pwd: '/cd, /pwd', worktree: '/worktree continues', title: '/statusline and', statusline: '/statusline and',
	theme: '/theme:', keymap: '/keymap lists', mcp: '/mcp lists', logout: '/status, /help', exit: 'Ctrl-L clears',
	quit: 'a conversation stands', feedback: '/status, /help', ps: '/ps names', stop: '/ps names', subagents: '/subagents lists',
	agent: '/subagents lists', agents: 'Ctrl-L clears', collab: '/cd, /pwd', clear: '/new:', help: '/status, /help',
	approve: '/approve approves one', experimental: '/experimental turns', presets: '/presets keeps', plugins: '/plugins adds',
	import: '/import shows', daemon: '/daemon starts',
};

const titles = fs.readdirSync(fileURLToPath(new URL('.', import.meta.url)))
	.filter((name) => /^tui.*\.test\.mjs$/.test(name))
	.flatMap((name) => [...read(name).matchAll(/^test\('((?:[^'\\]|\\.)*)'/gm)].map(([, title]) => title));

function verify(rows, table) {
	for (const row of rows) {
		assert.ok(table[row], `no test is named for ${row}`);
		assert.ok(titles.some((title) => title.startsWith(table[row])), `there is no test "${table[row]}…" for ${row}`);
	}
	assert.deepEqual(Object.keys(table).filter((row) => !rows.includes(row)), []);
}

test('each row of the keys in docs/tui.md has a test', () => {
	const [, section] = /^## Keys\n([^]*?)\n## /m.exec(read('../../docs/tui.md'));
	verify([...section.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell).filter((cell) => cell !== 'key'), KEYS);
});

test('each command has a test, and each one that is listed is in docs/tui.md', () => {
	const rows = [...read('../../src/ui/tui/tui_command.def').matchAll(/^SLASH\((\w+), \w+, (NULL|")/gm)];
	const docs = read('../../docs/tui.md');
	verify(rows.map(([, name]) => name), COMMANDS);
	for (const [, name, doc] of rows.filter(([, , text]) => text !== 'NULL')) assert.match(docs, new RegExp(`\`/${name}[ \`]`), doc);
});

test('each row of the keys and each command is a step of the walk at three sizes', () => {
	const keys = [...Object.keys(walk.KEYS), ...Object.keys(walk.TURN_KEYS), ...walk.APART];
	assert.deepEqual(Object.keys(KEYS).filter((row) => !keys.includes(row)), []);
	assert.deepEqual(keys.filter((row) => !KEYS[row]), []);
	const lines = walk.COMMANDS.map(([line]) => line.split(' ')[0].slice(1)).concat('quit', 'exit');
	assert.deepEqual(Object.keys(COMMANDS).filter((name) => !lines.includes(name)), []);
});
