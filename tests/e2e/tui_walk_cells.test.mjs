// The terminal: each piece of a conversation, the transcript and going back, in windows of 20 by 6, 80 by 24 and 200 by 60.
// After each step its effect is on the screen, no row is wider than the window, the cursor is inside, and what has left
// the screen is as it was; at the end each line stands there once.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { makeHome, needs, reply, say, sharedPath, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { lacksEmulator } from './lib/terminal.mjs';
import { SIZES, startWalk } from './lib/walk.mjs';
import { CELLS } from './lib/walk_cells.mjs';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 300_000 };
const CONFIG = 'model = "gpt-5.2"\nsandbox_mode = "danger-full-access"\napproval_policy = "never"\n[features]\nmulti_agent = true\n';

function prepare(t, model) {
	const cwd = tempDir(t, 'cwd');
	fs.mkdirSync(path.join(cwd, 'below'));
	fs.writeFileSync(path.join(cwd, 'below/pear.txt'), 'one\n');
	fs.writeFileSync(path.join(cwd, 'pixel.png'), Buffer.from(PIXEL, 'base64'));
	return { cwd, home: makeHome(t, model, CONFIG) };
}

for (const size of SIZES)
	test(`each piece of a conversation at ${size[1]} by ${size[0]}`, options, async (t) => {
		const child = { when: { contains: 'count pears', lacks: 'rootword' }, reply: [{ start: true }, { hang: true }] }; // an end would join a turn
		const model = await startModel(t, [child, ...Object.values(CELLS).flatMap(({ replies }) => replies)]);
		const walk = await startWalk(t, model, size, [], prepare(t, model));
		for (const [row, { steps, wide = [], once = [], absent = [] }] of Object.entries(CELLS)) {
			const from = walk.emulator.buffer.normal.baseY;
			for (const step of steps) {
				await walk.take(row, step);
				const [, pattern] = wide.find(([line]) => line === step[0]) ?? [];
				if (pattern && size[1] > 20) await walk.until(pattern);
			}
			await walk.untilGone(/^• .*\(\d+s/m);
			await walk.until(/^›$/m);
			const lines = walk.lines().slice(from);
			for (const pattern of once) {
				const found = lines.filter((line) => pattern.test(line)).length;
				assert.equal(found, 1, `${row} in ${size}: ${pattern} occurs ${found} times in:\n${lines.join('\n')}`);
			}
			for (const pattern of absent)
				assert.ok(!lines.some((line) => pattern.test(line)), `${row} in ${size}: ${pattern} in:\n${lines.join('\n')}`);
		}
		const asked = textsOf(model.requests().at(-1), 'user');
		assert.ok(asked.includes('an apple') && asked.includes('a pear') && !asked.includes('a bear'), asked.join('|'));
		walk.type('\x03');
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

const reference = sharedPath('reference/tui.md');

test('each row of section 5 of the reference is a step of the walk', { skip: !reference && 'there is no reference' }, () => {
	const [, section, prose] = /\n## 5\. [^\n]*\n([^]*?\n)\n([^]*?)\n## 6/.exec(fs.readFileSync(reference, 'utf8'));
	const rows = [...section.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell).filter((cell) => cell !== 'piece');
	assert.ok(/^Transcript/.test(prose) && /Backtrack/.test(prose));
	assert.deepEqual(Object.keys(CELLS).sort(), [...rows, 'Transcript', 'Backtrack'].sort());
});

for (const rows of [5, 7, 9, 10, 12, 15])
	test(`in a window of ${rows} rows the live ones have their place: nothing of them goes to the scrollback`, options, async (t) => {
		const begun = reply({ delta: 'Line 1.\n\nLine 2.\n\nLine 3 goes' }, { gate: 'a' }, { delta: ' on.' });
		const model = await startModel(t, [begun, say('Line 4.'), say('Line 5.')]);
		const walk = await startWalk(t, model, [rows, 40], [], prepare(t, model));
		await walk.step('go', 'Line 3 goes');
		await walk.step('steered', '↳ steered');
		await walk.keys('a message', 'queued', '› queued');
		await walk.keys('Tab', '\t', '↳ queued');
		await walk.keys('a draft of four lines', '\x1b[200~one\ntwo\nthree\nfour @\x1b[201~', 'four @');
		await model.openGate('a');
		await walk.until(/Line 5\.[^]*four @\n/);
		await walk.untilGone(/^• .*\(\d+s/m);
		const lines = walk.lines();
		const count = (part) => lines.filter((line) => part.test(line)).length;
		for (let i = 1; i <= 5; i++) assert.equal(count(new RegExp(`Line ${i}`)), 1, `Line ${i} in:\n${lines.join('\n')}`);
		for (const part of [/↳/, /^Queued/, /^Read with/, /esc to/]) assert.equal(count(part), 0, `${part} in:\n${lines.join('\n')}`);
		for (const part of [/^[ ›↑] one$/, /^[ ↑↓] two$/, /^[ ↑↓] four @$/]) assert.ok(count(part) <= 1, `${part} in:\n${lines.join('\n')}`);
		walk.type('\x03');
		await walk.until(/^›$/m);
		walk.type('\x03');
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});
