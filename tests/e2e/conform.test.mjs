// Runs the scenarios of the capture kit: this program must answer like the reference, except for differences that
// conform-exceptions.json lists with reasons.

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { needs, sharedPath, tempDir } from './lib/codex.mjs';
import { copyKit, play, readTranscript, scenarios } from './lib/conform.mjs';
import { differences } from './lib/conform_compare.mjs';
import { Exceptions } from './lib/replay_exceptions.mjs';

const kit = sharedPath('reference/capture-kit');
const captures = sharedPath('reference/captures/app-server');
const options = kit && captures ? needs('app-server') : { skip: 'the capture kit is not beside this repository' };
const exceptions = new Exceptions(fileURLToPath(new URL('conform-exceptions.json', import.meta.url)));
const all = options.skip ? [] : await scenarios(kit, captures);
const nameOf = ({ file, name }) => `${path.basename(file, '.mjs')}/${name}`;

async function check(copy, scenario) {
	const theirs = readTranscript(path.join(captures, `${scenario.name}.jsonl`));
	const found = differences(theirs, await play(copy, scenario));
	const { unlisted, stale } = exceptions.judge(nameOf(scenario), found);
	assert.deepEqual(unlisted, [], 'differences that no exception gives a reason for');
	assert.deepEqual(stale, [], 'exceptions that do not occur any more');
}

test('scenarios of the capture kit', { ...options, concurrency: 4 }, async (t) => {
	const copy = copyKit(kit, tempDir(t, 'kit'));
	await Promise.all(all.map((scenario) => {
		const name = nameOf(scenario);
		return t.test(name, { skip: exceptions.wholeOf(name), timeout: 120_000 }, () => check(copy, scenario));
	}));
	await t.test('every exception still occurs', () => assert.deepEqual(exceptions.stale(all.map(nameOf)), []));
});
