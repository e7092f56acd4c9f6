// Terminals of the model: exec_command with tty, write_stdin, the events for clients, the limit on their number.

import assert from 'node:assert/strict';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, needs, outputOf, reply, run, say, startModel } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const options = { ...needs('proto'), timeout: 60_000 };
const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
const MEGABYTE = 1_000_000;
const tty = (cmd, more) => run(cmd, { tty: true, ...more });
/** write_stdin to the session of the last answer. */
const type = (chars, more) => ({
	take: { session: { from: 'input.-1.output', after: 'session ID ' } },
	reply: [{ call: 'write_stdin', arguments: `{"session_id":{session},${JSON.stringify({ chars, ...more }).slice(1)}` }],
});

/** One turn; returns the requests. */
async function turn(t, replies, more) {
	const model = await startModel(t, [...replies, say('Done.')]);
	const proto = startProto(t, model, { config, ...more });
	proto.submit('1', userInput('go'));
	await proto.next('task_complete');
	return { requests: model.requests(), proto, model };
}

test('a terminal is one: of 24 by 80 cells, the command\'s own, in its lines and its colours', options, async (t) => {
	const look = 'test -t 0 -a -t 1 -a -t 2 && stty size && tty </dev/tty && echo $TERM';
	for (const sandbox of ['danger-full-access', 'workspace-write', 'read-only']) {
		const { requests } = await turn(t, [tty(look)], { config: `sandbox_mode = "${sandbox}"\napproval_policy = "never"\n` });
		assert.match(outputOf(requests[1], 'call_1_1'), /code 0\n[^]*Output:\n24 80\r\n\/dev\/\S+\r\ndumb\r\n$/, sandbox);
	}
	const { requests } = await turn(t, [run('test -t 0 || test -t 1 || echo none; read x || echo no input')]);
	assert.match(outputOf(requests[1], 'call_1_1'), /Output:\nnone\nno input\n$/);
});

test('input is read; Ctrl-C interrupts, Ctrl-D ends the input, Ctrl-Z stops', options, async (t) => {
	const { requests, proto } = await turn(t, [
		tty('trap "echo interrupted; exit 7" INT; echo waiting; while :; do sleep 0.05; done', { yield_time_ms: 250 }), type('\u0003'),
		tty('cat; echo "cat: $?"', { yield_time_ms: 250 }), type('a line\n\u0004'),
		tty('set -m; sleep 600; jobs; exit 3', { yield_time_ms: 250 }), type('\u001a'),
	]);
	assert.match(outputOf(requests[2], 'call_2_1'), /exited with code 7\n[^]*\^Cinterrupted\r\n$/);
	assert.match(outputOf(requests[4], 'call_4_1'), /exited with code 0\n[^]*Output:\na line\r\na line\r\ncat: 0\r\n$/);
	assert.match(outputOf(requests[6], 'call_6_1'), /exited with code 3\n[^]*Stopped +sleep 600\r\n$/);
	const typed = proto.events().filter(({ msg }) => msg.type === 'terminal_interaction').map(({ msg }) => msg);
	assert.deepEqual(typed.map(({ stdin }) => stdin), ['\u0003', 'a line\n\u0004', '\u001a']);
	const begun = proto.events().filter(({ msg }) => msg.type === 'exec_command_begin').map(({ msg }) => msg);
	assert.deepEqual(typed.map(({ call_id, process_id }) => [call_id, process_id]),
		begun.map(({ call_id, process_id }) => [call_id, process_id]));
});

test('commands without a terminal take no input; ended ones are unknown', options, async (t) => {
	const { requests } = await turn(t, [
		run('sleep 600', { yield_time_ms: 250 }), type('x'), call('write_stdin', { session_id: 1, chars: 'x' }),
	]);
	assert.match(outputOf(requests[2], 'call_2_1'), /^write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true/);
	assert.equal(outputOf(requests[3], 'call_3_1'), 'write_stdin failed: Unknown process id 1');
});

for (const has_tty of [false, true]) {
	const flood = 'echo first; yes "$(printf \'\\1\\2\\3%0100d\' 7)" | head -c 50000000; echo; echo last';
	const name = has_tty ? 'a terminal' : 'a pipe';
	const check = (told, text_of) => {
		assert.ok(told.reduce((sum, line) => sum + line.length, 0) < MEGABYTE);
		assert.match(text_of(told[0]), /^first\r?\n/);
		assert.match(text_of(told.at(-2)), /^\n\[output goes on, and is left out from here\]\n$/);
		const [, left_out] = /^\n\[(\d+) bytes of output left out here\]\n$/.exec(text_of(told.at(-1)));
		assert.ok(Number(left_out) > 40_000_000, left_out);
	};

	test(`50 MB through ${name} cost a client of events less than a megabyte`, options, async (t) => {
		const { proto, requests } = await turn(t, [run(flood, { tty: has_tty, yield_time_ms: 30_000 })]);
		check(proto.events().filter(({ msg }) => msg.type === 'exec_command_output_delta').map((event) => JSON.stringify(event)),
			(line) => Buffer.from(JSON.parse(line).msg.chunk, 'base64').toString());
		const output = outputOf(requests[1], 'call_1_1');
		assert.match(output.slice(0, 300), /Output:\n[^]*first\r?\n/);
		assert.match(output.slice(-100), /\nlast\r?\n$/);
	});

	test(`50 MB through ${name} cost a client of the app-server less than a megabyte`, options, async (t) => {
		const model = await startModel(t, [run(flood, { tty: has_tty, yield_time_ms: 30_000 }), say('Done.')]);
		const server = await startAppServer(t, model, { config });
		const { thread } = await server.request('thread/start', { cwd: server.cwd });
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await server.next('turn/completed');
		check(server.all('item/commandExecution/outputDelta').map((message) => JSON.stringify(message)),
			(line) => JSON.parse(line).params.delta);
	});
}

test('slow output is emitted in batches', options, async (t) => {
	const { proto } = await turn(t, [run('for i in $(seq 20000); do echo $i; done', { yield_time_ms: 30_000 })]);
	const chunks = proto.events().filter(({ msg }) => msg.type === 'exec_command_output_delta').map(({ msg }) => msg.chunk);
	const all = chunks.map((chunk) => Buffer.from(chunk, 'base64').toString()).join('');
	assert.equal(all, Array.from({ length: 20000 }, (_, i) => `${i + 1}\n`).join(''));
	assert.ok(chunks.length < 500, `${chunks.length} events`);
});

test('of 70 sessions the oldest are terminated, each with its end event, and the model is warned', options, async (t) => {
	const many = reply(...Array.from({ length: 70 }, (_, i) => (
		{ call: 'exec_command', arguments: { cmd: 'exec sleep 600', yield_time_ms: 250 }, call_id: `c${i}` })));
	const { proto, requests } = await turn(t, [many]);
	const outputs = Array.from({ length: 70 }, (_, i) => outputOf(requests[1], `c${i}`));
	for (const output of outputs) assert.match(output, /Process running with session ID \d+\n/);
	assert.doesNotMatch(outputs[30], /Warning/);
	assert.match(outputs[69], /\nWarning: 6\d sessions are open; from 64 on the one unused for longest is ended\n/);
	const ended = proto.events().filter(({ msg }) => msg.type === 'exec_command_end').map(({ msg }) => msg);
	assert.deepEqual(ended.map(({ exit_code }) => exit_code), Array(6).fill(-1));
	proto.submit('clean', { type: 'clean_background_terminals' });
	for (let i = 0; i < 64; i++) await proto.next('exec_command_end');
	assert.equal((await proto.end()).code, 0);
});
