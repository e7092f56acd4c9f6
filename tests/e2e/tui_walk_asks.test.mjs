// The terminal: approvals, questions, plans and subagents, in windows of 20 by 6, 80 by 24 and 200 by 60. After each step
// its effect is on the screen, no row is wider than the window, the cursor is inside, and what has left the screen is as
// it was; at the end each line of the conversation stands there once, and nothing of a request.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';

import { codexBin, makeHome, needs, sharedPath, startModel, tempDir } from './lib/codex.mjs';
import { lacksEmulator } from './lib/terminal.mjs';
import { sentencesOf, SIZES, startWalk } from './lib/walk.mjs';
import { ASKS, CONFIG, NEVER } from './lib/walk_asks.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 120_000 };
const probe = spawnSync(codexBin, ['sandbox', 'true'], { env: { PATH: process.env.PATH, HOME: '/nowhere' }, encoding: 'utf8' });
const noSandbox = probe.status !== 0 && { skip: options.skip || 'no sandbox' };

for (const [name, { replies, steps, wide = {}, once = [], absent = [], config = CONFIG, isEnded, needsSandbox }] of Object.entries(ASKS))
	for (const size of SIZES)
		test(`${name} at ${size[1]} by ${size[0]}`, { ...options, ...(needsSandbox && noSandbox) }, async (t) => {
			const cwd = tempDir(t, 'cwd'), dir = tempDir(t, 'dir');
			const model = await startModel(t, typeof replies === 'function' ? replies({ dir }) : replies);
			const walk = await startWalk(t, model, size, [], { cwd, home: makeHome(t, model, config) });
			for (const [i, step] of steps.entries()) {
				if (typeof step === 'function') await step(walk, model);
				else await walk.take(`${name} (${i})`, step);
				if (wide[i] && size[1] > 20) await walk.until(wide[i]);
			}
			if (isEnded) return;
			await walk.untilGone(/^• .*\(\d+s/m);
			await walk.until(/^›$/m);
			walk.once(name, once);
			walk.absent(name, [...NEVER, ...absent]);
			walk.type('\x03');
			assert.deepEqual(await walk.done, { status: 0, restored: true });
		});

const reference = sharedPath('reference/tui.md');

test('each sentence of section 6 of the reference is walked', { skip: !reference && 'there is no reference' }, () => {
	const [, section] = /\n## 6\. [^\n]*\n([^]*?)\n## 7/.exec(fs.readFileSync(reference, 'utf8'));
	const covered = Object.values(ASKS).flatMap(({ covers }) => covers);
	for (const words of covered) assert.ok(section.includes(words), `section 6 has no "${words}"`);
	for (const sentence of sentencesOf(section)) assert.ok(covered.some((words) => sentence.includes(words)), `no case walks: ${sentence}`);
});
