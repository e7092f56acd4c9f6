// Interrupted commands of any kind leave no process; `./dev interrupts` does the same a thousand times.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needs } from './lib/codex.mjs';
import { interruptMany } from './lib/interrupts.mjs';

test('25 interrupted commands that do not want to end: no descendant, no zombie, no descriptor more',
	{ ...needs('app-server'), timeout: 120_000 }, async (t) => {
		const { warm, last } = await interruptMany(t, 25);
		for (const who of ['engine', 'supervisor']) assert.equal(last[who].fds, warm[who].fds, who);
	});
