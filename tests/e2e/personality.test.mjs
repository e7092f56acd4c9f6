// The personality is part of the first instructions, later a message when it changes, and only for models that support it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, forever, makeHome, needs, readLines, rollouts, say, startModel, textsOf } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const appServer = needs('app-server');
const KNOWS = 'gpt-5.4'; // has words for it
const FRIENDLY = /like a colleague/, PRAGMATIC = /like a senior engineer/;

const specs = (request) => textsOf(request, 'developer').filter((it) => it.startsWith('<personality_spec>'));
const override = (personality) => ({ type: 'override_turn_context', personality });

/** Says one thing for each of these settings (undefined: none are sent); the requests. */
async function talk(t, config, ...wishes) {
	const model = await startModel(t, [forever(say('ok'))]);
	const it = startProto(t, model, { config });
	for (const [i, wish] of wishes.entries()) {
		if (wish !== undefined) it.submit(`o${i}`, override(wish));
		it.submit(`t${i}`, userInput('hi'));
		await it.next('task_complete');
	}
	assert.equal((await it.end()).code, 0);
	return Object.assign(model.requests(), { home: it.home });
}

test('the configured one is part of the instructions, and no message', proto, async (t) => {
	const cases = [['', PRAGMATIC], ['personality = "friendly"', FRIENDLY], ['personality = "pragmatic"', PRAGMATIC]];
	for (const [line, want] of cases) {
		const [request] = await talk(t, `model = "${KNOWS}"\n${line}`, undefined);
		assert.match(request.body.instructions, want);
		assert.equal(specs(request).length, 0);
	}
	for (const config of [`model = "${KNOWS}"\npersonality = "none"`, `model = "${KNOWS}"\nfeatures.personality = false`]) {
		const [request] = await talk(t, config, undefined);
		assert.doesNotMatch(request.body.instructions, FRIENDLY);
		assert.doesNotMatch(request.body.instructions, PRAGMATIC);
		assert.doesNotMatch(request.body.instructions, /\{\{/);
		assert.equal(specs(request).length, 0);
	}
});

test('a change is sent once; the same value or none is not', proto, async (t) => {
	const requests = await talk(t, `model = "${KNOWS}"`, 'pragmatic', 'friendly', 'friendly', undefined, null, 'none');
	assert.deepEqual(requests.map((request) => specs(request).length), [0, 1, 1, 1, 1, 2]);
	assert.match(specs(requests[1])[0], FRIENDLY);
	assert.match(requests[5].body.instructions, PRAGMATIC);
	const turns = readLines(rollouts(requests.home)[0]).filter(({ type }) => type === 'turn_context');
	assert.deepEqual(turns.map(({ payload }) => payload.personality),
		['pragmatic', 'friendly', 'friendly', 'friendly', 'friendly', 'none']);
});

test('models without words for it, and instructions of the user\'s own, are left alone', proto, async (t) => {
	const [, other] = await talk(t, 'model = "gpt-5.5"\npersonality = "friendly"', undefined, 'pragmatic');
	assert.doesNotMatch(other.body.instructions, FRIENDLY);
	assert.equal(specs(other).length, 0);
	const model = await startModel(t, [forever(say('ok'))]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { model: KNOWS, baseInstructions: 'MINE' });
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')], personality: 'friendly' });
	await server.next('turn/completed');
	await server.end();
	assert.equal(model.requests()[0].body.instructions, 'MINE');
	assert.equal(specs(model.requests()[0]).length, 0);
});

test('a later model with personalities gets only a value other than its default', proto, async (t) => {
	const then = (personality) => ({ type: 'override_turn_context', model: KNOWS, personality });
	for (const [wish, count] of [[undefined, 0], ['pragmatic', 0], ['friendly', 1]]) {
		const model = await startModel(t, [forever(say('ok'))]);
		const it = startProto(t, model, { config: 'model = "gpt-5.5"' });
		it.submit('1', userInput('hi'));
		await it.next('task_complete');
		it.submit('o', then(wish));
		it.submit('2', userInput('hi'));
		await it.next('task_complete');
		assert.equal((await it.end()).code, 0);
		assert.equal(specs(model.requests()[1]).length, count, wish);
	}
});

test('user_turn and a resume', proto, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model, `model = "${KNOWS}"`);
	const it = startProto(t, model, { home });
	const turn = (personality) => ({ type: 'user_turn', items: [{ type: 'text', text: 'hi' }], cwd: it.cwd, model: KNOWS,
		approval_policy: 'never', sandbox_policy: { type: 'danger-full-access' }, summary: 'auto', personality });
	it.submit('1', turn('friendly'));
	await it.next('task_complete');
	it.submit('2', turn());
	await it.next('task_complete');
	it.submit('3', turn('weird'));
	await it.end();
	assert.match(it.stderr(), /unknown variant `weird`, expected one of `none`, `friendly`, `pragmatic`/);
	assert.deepEqual(model.requests().map((request) => specs(request).length), [1, 1]);
	await codexExec(t, model, ['resume', '--last', '--all', 'again'], { home });
	const last = model.requests()[2];
	assert.equal(specs(last).length, 2); // the session's own, and that it is as configured again
	assert.match(specs(last)[1], PRAGMATIC);
});

test('app-server: thread/start, turn/start, settings', appServer, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const server = await startAppServer(t, model, { config: `model = "${KNOWS}"` });
	const { thread } = await server.request('thread/start', { personality: 'friendly' });
	const say_ = async (more) => {
		await server.request('turn/start', { threadId: thread.id, input: [text('hi')], ...more });
		await server.next('turn/completed');
	};
	await say_({});
	await say_({ personality: 'friendly' });
	await say_({ personality: 'pragmatic' });
	await say_({});
	assert.equal(server.all('thread/settings/updated').at(-1).params.threadSettings.personality, 'pragmatic');
	await assert.rejects(server.request('turn/start', { threadId: thread.id, input: [], personality: 'weird' }),
		{ code: -32600, message: /unknown variant `weird`, expected one of `none`, `friendly`, `pragmatic`/ });
	const { data } = await server.request('model/list', { includeHidden: true });
	assert.equal(data.find(({ id }) => id === KNOWS).supportsPersonality, true);
	assert.equal(data.find(({ id }) => id === 'gpt-5.5').supportsPersonality, false);
	await server.end();
	const requests = model.requests();
	assert.match(requests[0].body.instructions, FRIENDLY);
	assert.deepEqual(requests.map((request) => specs(request).length), [0, 0, 1, 1]);
	assert.match(specs(requests[2])[0], PRAGMATIC);
});
