// Replays the captures of old versions: our events are the same, except for differences that replay-exceptions.json lists with reasons.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { needs, sharedPath } from './lib/codex.mjs';
import { captureNames, profiles, readCapture, replay } from './lib/replay.mjs';
import { differences } from './lib/replay_compare.mjs';
import { Exceptions } from './lib/replay_exceptions.mjs';

const root = sharedPath('reference/captures/protocol-v1');
const proto = needs('proto');
const options = root ? proto : { skip: 'the captures are not beside this repository' };
const exceptions = new Exceptions(fileURLToPath(new URL('replay-exceptions.json', import.meta.url)));
const names = root ? captureNames(root) : [];

async function check(t, name) {
	const capture = readCapture(root, name);
	const captured = capture.steps.filter(({ event }) => event).map(({ line, event }) => ({ line, ...event }));
	const ours = await replay(t, capture);
	const found = differences(captured, ours.events);
	if (ours.rejected !== capture.rejected)
		found.push({ line: 0, what: `rejected lines: ${capture.rejected} -> ${ours.rejected}` });
	const { unlisted, stale } = exceptions.judge(name, found);
	const why = exceptions.wholeOf(name);
	if (why) {
		t.diagnostic(`not comparable: ${why}`);
		assert.notEqual(unlisted.length, 0, 'it is the same now: take it off the list');
		return;
	}
	assert.deepEqual(unlisted, [], 'differences that no exception gives a reason for');
	assert.deepEqual(stale, [], 'exceptions that do not occur any more');
}

test('captures of protocol v1', { ...options, concurrency: 4 }, async (t) => {
	await Promise.all(names.map((name) => t.test(`${name} (${profiles[name.split('/')[0]]})`,
		{ skip: proto.skip, timeout: 120_000 }, (each) => check(each, name))));
	await t.test('every exception still occurs', () => assert.deepEqual(exceptions.stale(names), []));
});
