// `codex mock-model`: the line that it prints, its exit status, its help.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { expecting, needs, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const mock = needs('mock-model');

const post = (model, body) => fetch(`${model.url}/responses`, { method: 'POST', body: JSON.stringify(body) });

test('a request that fits leaves exit status 0', mock, async (t) => {
	const model = await startModel(t, [expecting({ equal: { model: 'm' } }, say('Hello.'))]);
	const answer = await post(model, { model: 'm' });
	assert.equal(answer.headers.get('content-type'), 'text/event-stream');
	assert.match(await answer.text(), /event: response\.completed\n/);
	const { code, stderr } = await model.stop();
	assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

test('a request that does not fit is said three times', mock, async (t) => {
	const model = await startModel(t, [expecting({ equal: { model: 'm' } }, say('Hello.'))]);
	const answer = await post(model, { model: 'x' });
	assert.equal(answer.status, 400);
	assert.match((await answer.json()).error.message, /model should equal "m"; it is "x"/);
	const { code, stderr } = await model.stop();
	assert.equal(code, 1);
	assert.match(stderr, /request 1: does not fit script line 1: model should equal "m"/);
	assert.match(stderr, /1 of 1 requests did not fit the script/);
});

test('a gate lets the test decide', mock, async (t) => {
	const model = await startModel(t, [{ reply: [{ delta: 'half' }, { gate: 'rest' }, { delta: ' all' }] }]);
	const answer = await post(model, {});
	assert.equal((await model.openGate('rest')).status, 204);
	assert.match(await answer.text(), /"text":"half all"/);
});

test('a mistake in the script is named and nothing is served', mock, async (t) => {
	const script = path.join(tempDir(t), 'bad.jsonl');
	fs.writeFileSync(script, '{"reply": [{"mesage": "x"}]}\n');
	const { code, stdout, stderr } = await runCodex(t, ['mock-model', '--script', script]);
	assert.equal(code, 1);
	assert.equal(stdout, '');
	assert.match(stderr, /bad\.jsonl: line 1: "reply": step 1: .* is not a step; a step is an object with one of the keys/);
});

test('help shows an example', mock, async (t) => {
	const { code, stdout } = await runCodex(t, ['mock-model', '--help']);
	assert.equal(code, 0);
	assert.match(stdout, /listening on http:/);
});
