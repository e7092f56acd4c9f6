// Lists and requests in windows of several sizes: what is not shown is counted, the keys of a page, and the choice that
// denies is always in view.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { call, codexExec, forever, makeHome, needs, run, say, startModel, tempDir } from './lib/codex.mjs';
import { answer, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 120_000 };
const ESC = '\x1b', UP = '\x1b[A', DOWN = '\x1b[B', PAGE_UP = '\x1b[5~', PAGE_DOWN = '\x1b[6~', HOME = '\x1b[H', END = '\x1b[F';
const SIZES = [[24, 100], [8, 40], [6, 20]];
const idle = (term) => term.untilGone(/esc to interrupt/);

/** Returns which item of a list is chosen, how many items it has, and how many are shown: by its rows and its counts. */
function stateOf(term, { title, row }) {
	const screen = term.screen(), head = title ? screen.findLastIndex((line) => title.test(line)) : 0;
	const rows = head < 0 ? [] : screen.slice(head).filter((line) => row.test(line));
	const counts = /(?:↑ ?(\d+))?(?: ?↓ ?(\d+))?( more|$| [a-z^])/, line = screen.find((text) => /[↑↓] ?\d/.test(text)) ?? '';
	const [above, below] = counts.exec(line.slice(line.search(/[↑↓] ?\d/))).slice(1, 3).map((count) => Number(count ?? 0));
	return { at: above + rows.findIndex((text) => text.startsWith('›')), total: above + rows.length + below, shown: rows.length };
}

/** Walks through an open list. Its counts are exact at each step. */
async function walkList(term, name, list) {
	const wait = (wanted, step) => term.until({
		test: () => {
			const { at, total } = stateOf(term, list);
			return at === wanted.at && total === (wanted.total ?? total);
		},
		toString: () => `${name}: ${JSON.stringify(wanted)} after ${step}, but ${JSON.stringify(stateOf(term, list))}`,
	});
	term.type(HOME);
	await wait({ at: 0 }, 'Home');
	const { total } = stateOf(term, list);
	assert.ok(total >= list.least, `${name} has ${total} items`);
	for (let at = 1; at < Math.min(total, 20); at++) {
		term.type(DOWN);
		await wait({ at, total }, `Down to ${at}`);
	}
	for (let at = Math.min(total, 20) - 2; at >= 0; at--) {
		term.type(UP);
		await wait({ at, total }, `Up to ${at}`);
	}
	term.type(END);
	await wait({ at: total - 1, total }, 'End');
	const back = Math.max(0, total - 1 - stateOf(term, list).shown);
	term.type(PAGE_UP);
	await wait({ at: back, total }, 'PgUp');
	term.type(PAGE_DOWN);
	await wait({ at: total - 1, total }, 'PgDn');
	term.type(HOME);
	await wait({ at: 0, total }, 'Home');
	const { shown } = stateOf(term, list);
	term.type(PAGE_DOWN);
	await wait({ at: Math.min(shown, total - 1), total }, 'PgDn');
	term.type(PAGE_UP);
	await wait({ at: 0, total }, 'PgUp');
	if (list.foot) assert.match(term.screen().join('\n'), list.foot, name);
}

const LISTS = {
	'/statusline': { title: /^Select the ite/, row: /^[› ] \[[x ]\] /, foot: /esc back/, least: 20 },
	'/keymap': { title: /^ {2}Search:/, row: /^[› ] [a-z]+\.[a-z]/, foot: /esc back/, least: 50 },
	'/presets': { title: /^Presets/, row: /^[› ] \d+\. /, foot: /esc back/, least: 14 },
	'/': { row: /^[› ] \/[a-z]/, least: 30, isInText: true },
};

for (const [rows, columns] of SIZES)
	test(`lists count what is above and below, and have keys for pages, at ${columns} by ${rows}`, options, async (t) => {
		const model = await startModel(t, [forever(say('ok'))]);
		const term = await startReady(t, model, [], { rows, columns });
		for (let i = 1; i <= 7; i++) {
			await enter(term, `m${i}`);
			await term.until(new RegExp(`› m${i}\\s+• ok`));
			await idle(term);
		}
		for (const [name, list] of Object.entries(LISTS)) {
			term.type(name);
			await term.until(new RegExp(`^› ${name}$`, 'm'));
			if (!list.isInText) term.type('\r');
			await walkList(term, name, list);
			term.type(list.isInText ? '\x03' : ESC);
			await term.until(/^›$/m);
		}
		term.type(ESC);
		await term.until(/esc again/);
		term.type(ESC);
		await walkList(term, 'earlier messages', { title: /^Edit previous/, row: /^[› ] m\d$/, foot: /ctrl-c back/, least: 7 });
		term.type('\x03');
		await term.until(/^›$/m);
		await leave(term);
	});

test('the shell mode is named in 20 by 6, too, while a list of files is open', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]), cwd = tempDir(t, 'cwd');
	for (let i = 0; i < 9; i++) fs.writeFileSync(`${cwd}/pear${i}`, '');
	const term = await startReady(t, model, [], { cwd, rows: 6, columns: 20 });
	term.type('!cat @pear');
	await term.until(/^› pear\d\n[^]*^ {2}Shell mode ↓\d+$/m);
	term.type('\x1b');
	await term.until(/^ {2}Shell mode · run…$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('the list of sessions counts what is above and below, and has keys for pages', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model), cwd = tempDir(t, 'cwd');
	for (let i = 1; i <= 6; i++) assert.equal((await codexExec(t, model, [`talk ${i}`], { home, cwd })).code, 0);
	for (const [rows, columns] of SIZES) {
		const term = await startReady(t, model, [], { home, cwd, rows, columns });
		await enter(term, '/resume');
		await term.until(/^› .*talk 6$/m);
		await walkList(term, `sessions at ${columns}`, { title: /^ {2}Search:/, row: /^[› ] +\d*[a-z]+ +talk/, foot: /esc back/, least: 6 });
		term.type(ESC);
		await term.until(/^›$/m);
		await leave(term);
	}
});

test('the options of a question are counted, and have keys for pages', options, async (t) => {
	const fields = Array.from({ length: 12 }, (_, i) => ({ label: `pear ${i}`, description: '' }));
	const questions = ['first', 'second'].map((id) => ({ id, header: 'Pears', question: 'Which?', options: fields }));
	for (const [rows, columns] of SIZES) {
		const model = await startModel(t, [call('request_user_input', { questions }, { call_id: 'q' }), say('Thanks.')]);
		const config = 'features.default_mode_request_user_input = true';
		const term = await startReady(t, model, ['go'], { config, rows, columns });
		await term.until(/^› 1\. pear 0/m);
		await answer(term, DOWN);
		await walkList(term, `options at ${columns}`, { title: /^Question 1\/2/, row: /^[› ] \d+\. /, least: 13 });
		term.type('\x1b[C'); // the keys for pages leave the question to the arrows
		await term.until(/^Question 2\/2/m);
		term.type('\tabc'); // in a note they go to the other question
		await term.until(/^› abc$/m);
		term.type(PAGE_DOWN);
		await term.until(/^Question 1\/2/m);
		await answer(term, ESC);
		await term.until(/■ Conversation\s+interrupted/);
		await idle(term);
		await leave(term);
	}
});

const FREE = 'sandbox_mode = "danger-full-access"\n';

for (const [rows, columns] of SIZES)
	test(`a request: No is in view at ${columns} by ${rows}, and a prefix of more than a row is not offered`, options, async (t) => {
		const words = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ');
		const model = await startModel(t, [run(`touch ${words}`), run('touch made'), forever(say('Finished.'))]);
		const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE, rows, columns });
		const walk = async (count) => {
			await term.until(new RegExp(`^› 1\\. Yes[^]*^ {2}${count}\\. No`, 'm'));
			assert.match(term.screen().join('\n'), /ctrl-a shows all|4\. No, and tell Codex what to do differently \(esc\)$/);
			for (let at = 2; at <= count; at++) {
				await answer(term, DOWN);
				await term.until(new RegExp(`^› ${at}\\. `, 'm'));
				assert.match(term.screen().join('\n'), new RegExp(`^[› ] ${count}\\. No, and`, 'm'));
			}
		};
		await walk(3);
		assert.doesNotMatch(term.lines().join('\n'), /commands that/);
		await answer(term, '\r');
		await term.until(/You canceled\s+the\s+request/);
		await term.until(/^›$/m);
		await enter(term, 'again');
		await walk(4);
		await answer(term, '\r');
		await term.until(/You canceled[^]*You canceled/);
		await idle(term);
		await leave(term);
	});
