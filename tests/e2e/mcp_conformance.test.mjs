// The official conformance suite for clients, all of its scenarios, against lib/mcp_conform_client.mjs.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { cleanEnv, codexBin, launch, needs, tempDir } from './lib/codex.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const SUITE = here('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const NO_USER = 'an extension for programs without a user; a login of Codex has one';
const SKIPPED = {
	'auth/client-credentials-jwt': NO_USER,
	'auth/client-credentials-basic': NO_USER,
	'auth/cross-app-access-complete-flow': 'an extension for identity providers of companies',
};

/** Runs the suite with these options; resolves to its output. */
async function conformance(t, ...options) {
	const dir = tempDir(t, 'conform');
	const command = `${process.execPath} ${here('lib/mcp_conform_client.mjs')}`;
	const { done } = launch(t, process.execPath, ['--import', here('lib/glob_sync.mjs'), SUITE, 'client', '--command', command,
		'-o', path.join(dir, 'results'), ...options], { cwd: dir, env: cleanEnv(dir, { CODEX_BIN: codexBin }) });
	const { code, stdout, stderr } = await done;
	return { code, text: stdout + stderr };
}

test('all applicable scenarios of the official suite pass', needs('app-server'), async (t) => {
	const listed = launch(t, process.execPath, ['--import', here('lib/glob_sync.mjs'), SUITE, 'list', '--client'], { env: cleanEnv('/') });
	const scenarios = [...(await listed.done).stdout.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
	assert.ok(scenarios.length >= 26, `${scenarios.length} scenarios`);
	const baseline = path.join(tempDir(t, 'baseline'), 'baseline.yml');
	fs.writeFileSync(baseline, `client:\n${Object.keys(SKIPPED).map((name) => `  - ${name}\n`).join('')}`);
	const { text } = await conformance(t, '--suite', 'all', '--expected-failures', baseline);
	const outcomes = new Map([...text.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed/gm)]
		.map(([, mark, name, passed]) => [name, mark === '✓' && Number(passed) > 0]));
	// All scenarios run at once in one process, which then measures its own delays, too.
	if (outcomes.get('sse-retry') === false) outcomes.set('sse-retry', (await conformance(t, '--scenario', 'sse-retry')).code === 0);
	for (const name of scenarios)
		await t.test(name, { skip: SKIPPED[name] ?? false }, () => assert.equal(outcomes.get(name), true, text));
});
