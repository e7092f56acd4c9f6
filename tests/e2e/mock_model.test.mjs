// `codex mock-model`: the line that it prints, its exit status, its help.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, expecting, needs, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

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

for (const api of ['chat', 'messages'])
	test(`the same script is played on ${api}`, { ...mock, skip: mock.skip || needs('exec').skip }, async (t) => {
		const patch = '*** Begin Patch\n*** Add File: made.txt\n+"made"\n*** End Patch\n';
		const model = await startModel(t, [
			{ reply: [{ reasoning: 'I think so.', chunks: 3 }, { message: 'I will look.', chunks: 2 },
				{ call: 'exec_command', arguments: { cmd: 'echo hello' }, chunks: 4, call_id: 'c1' }, { custom: 'apply_patch', input: patch },
				{ usage: { input_tokens: 100, cached_tokens: 60, output_tokens: 7, reasoning_tokens: 3 } }] },
			{ reply: [{ delta: 'Do' }, { delta: 'ne.' }], expect: { contains: ['hello', 'I will look.'] } },
		]);
		const run = await codexExec(t, model, ['-c', `model_providers.mock.wire_api="${api}"`, 'go'], { json: true });
		assert.equal(run.code, 0, run.stderr);
		assert.equal(run.events.findLast(({ item }) => item?.type === 'agent_message').item.text, 'Done.');
		assert.equal(fs.readFileSync(path.join(run.cwd, 'made.txt'), 'utf8'), '"made"\n');
		const [first, second] = model.requests();
		assert.match(first.path, api === 'chat' ? /chat\/completions$/ : /messages$/);
		assert.ok(JSON.stringify(second.body).includes(api === 'chat' ? '"reasoning_content":"I think so."' : '"c1"'));
		const { usage } = run.events.findLast(({ type }) => type === 'turn.completed');
		assert.ok(usage.input_tokens > 100 && usage.cached_input_tokens === 60, JSON.stringify(usage));
		assert.equal((await model.stop()).code, 0);
	});
