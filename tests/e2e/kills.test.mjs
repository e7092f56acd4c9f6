// SIGKILL during work loses nothing that a client has received; `./dev kills` does the same hundreds of times.

import test from 'node:test';

import { needs, say, startModel } from './lib/codex.mjs';
import { killOnce } from './lib/kills.mjs';

for (let seed = 1; seed <= 12; seed++) {
	test(`killed at a random moment (seed ${seed}): all emitted items are stored, and work continues`, needs('app-server'), async (t) => {
		const after = await startModel(t, [{ ...say('After.'), times: 'forever' }]);
		await killOnce(t, seed, after);
	});
}
