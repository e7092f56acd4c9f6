// A client that does not read holds its own session, and nothing else: memory stays small and nothing is lost.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { cleanEnv, codexBin, launch, makeHome, needs, reply, run, say, startModel, tempDir, waitFor }
	from './lib/codex.mjs';
import { story, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
const DELTAS = 16_000;
const FILLER = 'x'.repeat(2000);
// Each delta is emitted twice, so an engine that buffers unread output would grow by more than 64 MB.
const flood = reply({ start: true }, { event: { type: 'response.output_item.added', output_index: 0,
	item: { type: 'message', id: 'msg', role: 'assistant', content: [] } } }, { repeat: DELTAS, steps: [{ event:
	{ type: 'response.output_text.delta', item_id: 'msg', output_index: 0, content_index: 0, delta: `{i} ${FILLER}` } }] });
const GROWTH_KIB = 12_288; // of memory that a test may add to an engine that has finished a turn

/** An engine that listens. No more than a little of freed memory is kept back by a sanitizer, if there is one. */
async function listen(t, model) {
	const home = makeHome(t, model, FREE);
	const env = { ...cleanEnv(home), ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=1` };
	const url = `unix://${path.join(tempDir(t, 'socket'), 's')}`;
	const program = launch(t, codexBin, ['proto', '--listen', url], { cwd: tempDir(t, 'cwd'), env });
	await waitFor(program.child.stderr, () => program.result.stderr, (text) => text.includes('listening on'));
	const proc = `/proc/${program.child.pid}`;
	const peak = () => Number(/VmHWM:\s*(\d+)/.exec(fs.readFileSync(`${proc}/status`, 'utf8'))[1]);
	return {
		...program, peak,
		connect: () => connect(t, new URL(url).pathname),
		sockets: () => fs.readdirSync(`${proc}/fd`).filter((fd) => {
			try {
				return fs.readlinkSync(`${proc}/fd/${fd}`).startsWith('socket:');
			} catch {
				return false; // closed meanwhile
			}
		}).length,
	};
}

/** A client that reads on demand. */
function connect(t, file) {
	const socket = net.connect(file).setEncoding('utf8').pause();
	const lines = [];
	let rest = '', isGone = false;
	socket.on('error', () => {});
	socket.on('close', () => (isGone = true));
	t.after(() => socket.destroy());
	const take = (text) => {
		const parts = (rest + text).split('\n');
		rest = parts.pop();
		for (const part of parts) lines.push(part);
	};
	/** Reads until a line holds this, or, without it, to the end; then stops. */
	const read = (mark) => new Promise((resolve, reject) => {
		let looked = 0;
		const finish = (settle, value) => {
			socket.pause().off('data', look).off('close', look);
			settle(value);
		};
		const look = (text) => {
			if (typeof text === 'string') take(text);
			while (mark && looked < lines.length) {
				if (lines[looked++].includes(mark)) return finish(resolve);
			}
			if (isGone) finish(mark ? reject : resolve, mark && new Error(`no ${mark}`));
		};
		looked = mark ? lines.length : 0;
		socket.on('data', look).on('close', look).resume();
		if (isGone) look();
	});
	return {
		socket, read,
		submit: (id, op) => socket.write(JSON.stringify({ id, op }) + '\n'),
		events: () => lines.map((line) => JSON.parse(line)),
		numbers: () => lines.filter((line) => line.includes('"type":"agent_message_content_delta"'))
			.map((line) => parseInt(JSON.parse(line).msg.delta, 10)),
	};
}

/** Finishes a turn, so that libraries are loaded, and gives a function for the memory that the engine adds to that. */
async function warm(server) {
	await finishTurn(server, 'warm');
	const before = server.peak();
	return () => server.peak() - before;
}

/** A client whose model has begun to flood it and that has stopped reading. */
async function stalled(server) {
	const client = server.connect();
	client.submit('1', userInput('go'));
	await client.read('"type":"agent_message_content_delta"');
	return client;
}

async function finishTurn(server, id) {
	const client = server.connect();
	client.submit(id, userInput('hi'));
	await client.read('task_complete');
	client.socket.end();
	await client.read();
	assert.ok(story(client.events()).includes(`${id} task_complete`));
}

/** Resolves once the condition holds, for states without an event; the test's timeout ends the wait. */
async function until(isReached) {
	while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a reader that pauses and continues gets every event, and memory stays small', proto, async (t) => {
	const model = await startModel(t, [say('Hello.'), flood, say('Hello.'), say('Hello.')]);
	const server = await listen(t, model);
	const growthKiB = await warm(server);
	const slow = await stalled(server);
	await finishTurn(server, 'b'); // and no other client waits for it
	await finishTurn(server, 'c');
	await slow.read('task_complete');
	const numbers = slow.numbers();
	assert.equal(numbers.length, DELTAS);
	assert.ok(numbers.every((number, index) => number === index + 1));
	assert.ok(growthKiB() < GROWTH_KIB, `grew by ${growthKiB()} KiB`);
	slow.socket.end();
	await slow.read();
	assert.equal(slow.events().at(-1).msg.type, 'shutdown_complete');
});

test('an interrupt reaches a session that is held', proto, async (t) => {
	const model = await startModel(t, [flood, say('Hello.')]);
	const server = await listen(t, model);
	const slow = await stalled(server);
	slow.submit('2', { type: 'interrupt' });
	await finishTurn(server, 'b');
	await slow.read('turn_aborted');
	assert.ok(slow.numbers().length < DELTAS);
});

test('an interrupt is carried out while its client reads nothing', proto, async (t) => {
	const model = await startModel(t, [say('Hello.'), flood]);
	const server = await listen(t, model);
	await finishTurn(server, 'a'); // what is made once is there
	const idle = server.sockets();
	const slow = await stalled(server);
	for (let i = 0; i < 40; i++) // more answers than all queues on the way hold
		slow.submit(`${i}${'x'.repeat(1 << 19)}`, { type: 'get_path' });
	slow.submit('2', { type: 'interrupt' });
	await until(() => server.sockets() <= idle + 2); // its own, twice: the model's has been closed
	await slow.read('turn_aborted');
});

test('the output of a command waits for its reader, to the last byte', proto, async (t) => {
	const size = 700_000; // the bound on streamed output is a little above
	const model = await startModel(t, [run(`yes 0123456789 | head -c ${size}; echo end`), say('Hello.'), say('Hello.')]);
	const server = await listen(t, model);
	const slow = server.connect();
	slow.submit('1', userInput('go'));
	await slow.read('exec_command_begin');
	await slow.read('task_complete');
	const told = slow.events().filter(({ msg }) => msg.type === 'exec_command_output_delta')
		.reduce((sum, { msg }) => sum + Buffer.from(msg.chunk, 'base64').length, 0);
	assert.equal(told, size + 4);
	const end = slow.events().find(({ msg }) => msg.type === 'exec_command_end').msg;
	assert.equal(end.exit_code, 0);
	assert.equal(end.stdout.length, size + 4);
});

for (const hasSaidAll of [false, true]) {
	test(`a client that vanishes while held${hasSaidAll ? ', having said all,' : ''} leaves nothing behind`, proto,
		async (t) => {
			const model = await startModel(t, [say('Hello.'), flood, say('Hello.')]);
			const server = await listen(t, model);
			await finishTurn(server, 'a'); // what is made once is there
			const before = server.sockets();
			const slow = await stalled(server);
			if (hasSaidAll) await new Promise((resolve) => slow.socket.end(resolve));
			slow.socket.destroy();
			await until(() => server.sockets() <= before); // the client's and the model's are closed
			await finishTurn(server, 'b');
			server.child.kill('SIGTERM');
			assert.equal((await server.done).code, 0);
		});
}

test('a shutdown during backpressure is reported when the reader continues', proto, async (t) => {
	const model = await startModel(t, [flood]);
	const server = await listen(t, model);
	const slow = await stalled(server);
	server.child.kill('SIGTERM');
	await slow.read();
	assert.deepEqual(story(slow.events()).slice(-2), ['1 turn_aborted', 'shutdown_complete']);
	assert.equal((await server.done).code, 0);
});

test('10,000 submissions at once are answered, each, also to a client that writes before it reads', proto, async (t) => {
	const model = await startModel(t, [say('Hello.'), say('Hello.')]);
	const server = await listen(t, model);
	const growthKiB = await warm(server);
	const client = server.connect();
	for (let i = 0; i < 10_000; i++)
		client.submit(`s${i}`, { type: 'get_history_entry_request', offset: i, log_id: 1 });
	client.submit('last', userInput('hi'));
	await client.read('task_complete');
	const answers = client.events().filter(({ msg }) => msg.type === 'get_history_entry_response');
	assert.deepEqual(answers.map(({ id }) => id), Array.from({ length: 10_000 }, (_, i) => `s${i}`));
	assert.ok(growthKiB() < GROWTH_KIB, `grew by ${growthKiB()} KiB`);
});
