// SIGKILL while agents exchange messages loses no message and duplicates none; `./dev kills agents` repeats this more often.

import test from 'node:test';

import { killAgentsOnce } from './lib/agent_kills.mjs';
import { needs } from './lib/codex.mjs';

for (const seed of [4, 7, 22, 23, 29, 43]) {
	test(`killed at a random moment (seed ${seed}): every message is read once`, needs('proto'), async (t) => {
		await killAgentsOnce(t, seed);
	});
}
