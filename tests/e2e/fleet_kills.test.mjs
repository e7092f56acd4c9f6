// SIGKILL of workers at random moments; `./dev kills fleet` does the same hundreds of times.

import test from 'node:test';

import { needsRedis } from './lib/fleet.mjs';
import { killWorkers } from './lib/fleet_kills.mjs';

test('12 workers killed at random moments: no event is lost or doubled, no command runs twice', needsRedis(), async (t) => {
	await killWorkers(t, 12, 1);
});
