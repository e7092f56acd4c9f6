// Drives the program through a real terminal emulator (xterm.js without a browser) on a pseudo terminal.
//
//   const term = await startTerminal(t, model, ['hello']);
//   await term.until(/› hello/);
//   term.type('\r');
//   assert.deepEqual(term.lines(), […]);

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { cleanEnv, codexBin, launch, makeHome, tempDir } from './codex.mjs';

const bridge = fileURLToPath(new URL('terminal_bridge.py', import.meta.url));
const require = createRequire(import.meta.url);

/** Reason to skip, or false. */
export function lacksEmulator() {
	try {
		require.resolve('@xterm/headless');
		return false;
	} catch {
		return '@xterm/headless is not installed';
	}
}

const PATIENCE_MS = 20_000;

/** Trusts the folder, so that nothing is asked at the start. */
function trust(home, cwd) {
	const file = path.join(home, 'config.toml');
	const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
	if (!text.includes(`[projects.${JSON.stringify(cwd)}]`))
		fs.writeFileSync(file, `${text}\n[projects.${JSON.stringify(cwd)}]\ntrust_level = "trusted"\n`);
}

/**
 * Starts `codex ARGS` in a terminal. Options: rows, columns, config (TOML), home, cwd, env, command (in place of codex).
 * type(text), resize(rows, columns), signal(name), close(): what a user does. A text is typed once the one before was read.
 * rests(): resolves once the program has read what was typed, has drawn it and sleeps, to the milliseconds until it wakes up by
 * itself, -1: never; or once it has ended. stop(): the terminal reads nothing, until go(); full(): resolves once it can take no more.
 * lines(): scrollback and screen as text, without trailing empty lines; screen(): the screen only; raw(): all bytes.
 * until(pattern): resolves once the lines match, joined with newlines; untilGone(pattern).
 * done: resolves to {status, restored} when the program has ended.
 */
export async function startTerminal(t, model, args = [], options = {}) {
	const { Terminal } = require('@xterm/headless');
	const { rows = 24, columns = 80 } = options;
	const home = options.home ?? makeHome(t, model, options.config);
	const cwd = options.cwd ?? tempDir(t, 'cwd');
	if (options.trust !== false) trust(home, cwd);
	const command = options.command ?? [codexBin, ...args];
	const env = cleanEnv(home, { TERM: 'xterm-256color', ...options.env });
	const program = launch(t, 'python3', [bridge, String(rows), String(columns), ...command], { cwd, env });
	const emulator = new Terminal({ rows, cols: columns, scrollback: 100_000, allowProposedApi: true });
	const waiting = new Set();
	let raw = '', isDue = false, isStale = false, writes = 0, bytes = 0, lastMs = 0;
	/** Looks soon, and not more often than costs a fifth of the time: a long scrollback takes long to read. */
	const lookSoon = () => {
		isStale = true;
		if (isDue) return;
		isDue = true;
		setTimeout(() => {
			const start = performance.now();
			isStale = false;
			waiting.forEach((look) => look());
			setTimeout(() => {
				isDue = false;
				if (isStale) lookSoon();
			}, (performance.now() - start) * 4);
		}, 5);
	};
	program.child.stdout.on('data', (text) => {
		raw += text;
		bytes += Buffer.byteLength(text);
		lastMs = performance.now();
		writes++;
		emulator.write(text, () => {
			writes--;
			lookSoon();
		});
	});
	const send = (line) => program.child.stdin.write(`${line}\n`);
	const rowsOf = (from, to) => {
		const found = [];
		for (let y = from; y < to; y++) found.push(emulator.buffer.active.getLine(y)?.translateToString(true).trimEnd() ?? '');
		while (found.at(-1) === '') found.pop();
		return found;
	};
	const term = {
		home, cwd, emulator,
		type: (text) => send(`i ${Buffer.from(text).toString('base64')}`),
		resize: (newRows, newColumns) => {
			emulator.resize(newColumns, newRows);
			send(`r ${newRows} ${newColumns}`);
		},
		signal: (name) => send(`s ${name}`),
		close: () => send('c'),
		stop: () => send('p'),
		go: () => send('u'),
		full: async () => {
			send('f');
			await term.rests();
		},
		rests: () => new Promise((resolve, reject) => {
			const since = program.result.stderr.length, timer = setTimeout(() => end('it does not rest'), PATIENCE_MS);
			const end = (problem, ms) => {
				clearTimeout(timer);
				waiting.delete(look);
				program.child.stderr.off('data', look);
				if (problem) reject(new Error(`${problem}:\n${term.lines().join('\n')}`));
				else resolve(ms);
			};
			const look = () => {
				const [, ms, count] = /^rests (-?\d+) (\d+)$/m.exec(program.result.stderr.slice(since)) ?? [];
				if (ms && !writes && bytes >= Number(count)) end(null, Number(ms));
			};
			program.done.then(() => end());
			program.child.stderr.on('data', look);
			waiting.add(look);
			send('w');
		}),
		lastMs: () => lastMs,
		raw: () => raw,
		lines: () => rowsOf(0, emulator.buffer.active.length),
		screen: () => rowsOf(emulator.buffer.active.baseY, emulator.buffer.active.baseY + emulator.rows),
		caret: () => [emulator.buffer.active.cursorY, emulator.buffer.active.cursorX],
		until: (pattern, wanted = true) => new Promise((resolve, reject) => {
			const timer = setTimeout(() => {
				waiting.delete(look);
				reject(new Error(`${wanted ? 'never' : 'always'} ${pattern} in:\n${term.lines().join('\n')}`));
			}, PATIENCE_MS);
			const look = () => {
				const isInFrame = raw.lastIndexOf('\x1b[?2026h') > raw.lastIndexOf('\x1b[?2026l');
				if (writes || isInFrame) return; // half a frame is not visible
				if (pattern.test(term.lines().join('\n')) !== wanted) return;
				clearTimeout(timer);
				waiting.delete(look);
				resolve(term.lines());
			};
			waiting.add(look);
			look();
		}),
		untilGone: (pattern) => term.until(pattern, false),
		done: program.done.then(({ stderr }) => new Promise((resolve) => emulator.write('', () => {
			const [, status, modes] = /status (\d+) (\w+)\n$/.exec(stderr) ?? [, stderr, stderr];
			resolve({ status: Number(status), restored: modes === 'restored' });
		}))),
	};
	return term;
}

/** Waits until the composer is ready: the footer names the model, or a request has taken its place. */
export async function startReady(t, model, args, options) {
	const term = await startTerminal(t, model, args, options);
	await term.until(/^ {2}\S+.* · |^› 1\. /m);
	await term.untilGone(/^ {2}starting · /m);
	return term;
}

/** Leaves with Ctrl-C on an empty composer. */
export async function leave(term) {
	term.type('\x03');
	return term.done;
}

/** Types a line, waits until it stands in the composer, and sends it: keys that arrive at once would be a paste. */
export async function enter(term, text) {
	term.type(text);
	await term.until(new RegExp(`^› ${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'm'));
	term.type('\r');
}

const READ_MS = 200;

/** Waits until a request that stands on the screen takes keys: READ_MS after it was drawn, before which they are typing ahead. */
export async function takesKeys(term) {
	await term.rests(); // what was pending is drawn
	await new Promise((wake) => setTimeout(wake, term.lastMs() + READ_MS + 1 - performance.now()));
}

/** Answers a request that stands on the screen. */
export async function answer(term, ...keys) {
	await takesKeys(term);
	for (const key of keys) {
		term.type(key);
		await term.rests();
	}
}

/** Drops the rows that end turns, which name times. */
export const timeless = (text) => text.replace(/\n\n {2}Worked\s+for\s[\s\d<hms]*•\s+\d\d:\d\d(?=\n|$)/g, '');

/** The lines between the header and the live rows, without the rows that end turns. */
export const conversationOf = (lines) => timeless(lines.slice(lines.findIndex((line) => line.startsWith('› ')),
	lines.findLastIndex((line) => line.startsWith('›'))).join('\n')).trim();
