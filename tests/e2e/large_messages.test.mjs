// A large message of the model is in memory once as the item of the history, to which events and the data of the turn
// refer, and once in the one frame that the client reads: the next one is made when that has been written.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { startAppServer, text } from './lib/app_server.mjs';
import { cleanEnv, codexBin, launch, makeHome, needs, readLines, reply, rollouts, say, startModel, waitFor } from './lib/codex.mjs';
import { connectRpc } from './lib/websocket.mjs';

const MIB = 1 << 20;
const SIZE = 16 * MIB;
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
const options = needs('app-server');
const kinds = [['plain', 'x'], ['escaped', 'line\n']];

const message = (pattern, size) => reply({ repeat: size / 65536, steps: [{ delta: { fill: 65536, with: pattern } }] });
const expected = (pattern, size) => pattern.repeat(Math.ceil(65536 / pattern.length)).slice(0, 65536).repeat(size / 65536);

async function start(t, replies) {
	const model = await startModel(t, replies);
	const home = makeHome(t, model, FREE);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', {});
	const turn = async (words) => {
		await server.request('turn/start', { threadId: thread.id, input: [text(words)] });
		return (await server.next('turn/completed')).params.turn;
	};
	return { model, home, server, turn };
}

for (const [name, pattern] of kinds) {
	test(`a large ${name} message reaches the client, the file and the next request whole`, options, async (t) => {
		const { model, home, server, turn } = await start(t, [message(pattern, MIB / 2), say('Next.')]);
		const want = expected(pattern, MIB / 2);
		const { items, itemsView } = await turn('go');
		assert.equal(itemsView, 'summary');
		assert.ok(items[0].text === want);
		const completed = server.messages.find(({ method, params }) =>
			method === 'item/completed' && params.item.type === 'agentMessage');
		assert.ok(completed.params.item.text === want);
		await turn('more');
		const sent = model.requests().at(-1).body.input.find(({ role }) => role === 'assistant');
		assert.ok(sent.content[0].text === want);
		assert.equal((await server.end()).code, 0);
		const lines = readLines(rollouts(home)[0]);
		const recorded = lines.filter(({ payload }) =>
			[payload.message, payload.last_agent_message, payload.item?.content?.[0]?.text, payload.content?.[0]?.text]
				.some((words) => words === want));
		assert.ok(recorded.length >= 3, recorded.map(({ type, payload }) => `${type} ${payload.type}`).join());
	});
}

test('two clients at ws:// both get a large message whole, twice', options, async (t) => {
	const model = await startModel(t, [say('Hello.'), message('line\n', MIB / 2)]);
	const program = launch(t, codexBin, ['app-server', '--listen', 'ws://127.0.0.1:0'], { env: cleanEnv(makeHome(t, model, FREE)) });
	const port = await waitFor(program.child.stderr, () => program.result.stderr,
		(words) => /note: .*\n/.test(words) && /listening on: ws:\/\/\S+:(\d+)\n/.exec(words)?.[1]);
	const [first, second] = [await connectRpc(t, { port: Number(port) }), await connectRpc(t, { port: Number(port) })];
	const { thread } = await first.request('thread/start', {});
	await first.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await first.next('turn/completed');
	await second.request('thread/resume', { threadId: thread.id });
	await first.request('turn/start', { threadId: thread.id, input: [text('go')] });
	for (const client of [first, second]) {
		const { params } = await client.take(({ method, params }) =>
			method === 'item/completed' && params.item.type === 'agentMessage', 'item/completed');
		assert.ok(params.item.text === expected('line\n', MIB / 2));
		assert.ok((await client.next('turn/completed')).params.turn.items[0].text === params.item.text);
	}
});

test('a client that wants no turn/completed gets what follows a large one', options, async (t) => {
	const model = await startModel(t, [message('x', MIB / 2), say('Next.')]);
	const server = await startAppServer(t, model, { config: FREE,
		capabilities: { experimentalApi: true, optOutNotificationMethods: ['turn/completed'] } });
	const { thread } = await server.request('thread/start', {});
	for (const want of [expected('x', MIB / 2), 'Next.']) {
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		const { params } = await server.take(({ method, params }) =>
			method === 'item/completed' && params.item.type === 'agentMessage', 'item/completed');
		assert.ok(params.item.text === want);
		await server.take(({ method, params }) => method === 'thread/status/changed' && params.status.type === 'idle', 'idle');
	}
	assert.equal((await server.end()).code, 0);
	assert.equal(server.all('turn/completed').length, 0);
});

test('a large message is in memory as the item and one frame of its turn, and not again', options, async (t) => {
	const { server, turn } = await start(t, [say('Hello.'), message('x', SIZE)]);
	await turn('warm');
	const proc = (file) => fs.readFileSync(`/proc/${server.child.pid}/${file}`, 'utf8');
	if (proc('maps').includes('libasan')) return t.skip('a sanitizer keeps freed memory');
	const peak = () => Number(/VmHWM:\s*(\d+)/.exec(proc('status'))[1]);
	const before = peak();
	await turn('go');
	assert.ok(peak() - before < 2.6 * SIZE / 1024, `grew by ${peak() - before} KiB`);
});

test('the item of an interrupted message has the first 512 KiB of a large delta', options, async (t) => {
	const step = (delta) => ({ delta: { fill: delta, with: 'é' } });
	const { server } = await start(t, [reply(step(3), step(600_000), { gate: 'never' })]);
	const { thread } = await server.request('thread/start', {});
	const { turn } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	while ((await server.next('item/agentMessage/delta')).params.delta.length < 1000);
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	const { params } = await server.next('item/completed');
	const size = Buffer.byteLength(params.item.text);
	assert.ok(size <= 512 * 1024 && size > 512 * 1024 - 4, String(size));
	assert.ok(!params.item.text.includes('\ufffd'));
});
