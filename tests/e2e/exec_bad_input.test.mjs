// Bad input to `codex exec`: each case ends as documented, with a helpful message, and nothing lost that
// was already written. A crash or a finding of a sanitizer is a signal, and no expected exit status.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	cleanEnv, codexBin, codexExec, FEW_RETRIES, forever, httpError, itemsOf, launch, makeHome, needs, outputOf, readLines, reply,
	rollouts, run, runCodex, say, startModel, tempDir, textsOf, waitFor,
} from './lib/codex.mjs';

const exec = needs('exec');

const bytes = (text) => ({ raw_base64: Buffer.from(text, 'latin1').toString('base64') });

/** Runs against a model that always replies like this; returns the final error and the number of requests. */
async function failure(t, answer, args = []) {
	const model = await startModel(t, [forever(answer)]);
	const { code, events, home } = await codexExec(t, model, [...FEW_RETRIES, ...args, 'hi'], { json: true });
	assert.equal(code, 1);
	const { type, error } = events.at(-1);
	assert.equal(type, 'turn.failed');
	assert.equal(events.at(-2).message, error.message);
	assert.ok(error.message.includes(`${model.url}/responses`), `names the address: ${error.message}`);
	return { text: error.message, asked: model.requests().length, events, home };
}

// --- the model ------------------------------------------------------------------------------------------------------

test('malformed events are skipped, and the answer counts', exec, async (t) => {
	const model = await startModel(t, [reply(
		{ raw: ':\n\n\n\ndata\n\nid: 7\nretry: soon\n\nevent: x\ndata: not json\n\n' },
		{ raw: 'data: {"type":5}\n\ndata: []\n\ndata: {}\n\n' },
		{ raw: 'data: {"type":"response.output_item.done"}\n\ndata: {"type":"response.output_item.done","item":7}\n\n' },
		{ raw: `data: ${'['.repeat(100_000)}\n\n` },
		bytes('\xff\xfe\x00data: \xff\n\n\x80\n\n'),
		{ event: { type: 'response.from_the_future', a: [1, 2] } },
		{ item: { type: 'item_from_the_future', id: 'x' } },
		{ message: 'Survived.' }, { raw: 'data: [DONE]\n\n' },
	)]);
	const { code, stdout } = await codexExec(t, model, ['hi']);
	assert.equal(code, 0);
	assert.equal(stdout, 'Survived.\n');
});

test('bytes that are not UTF-8 go no further', exec, async (t) => {
	const item = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a\xff\xc3(b"}]}';
	const model = await startModel(t, [
		reply({ start: true }, bytes(`data: {"type":"response.output_item.done","item":${item}}\n\n`)), say('And again.'),
	]);
	const first = await codexExec(t, model, ['hi'], { json: true });
	assert.equal(first.code, 0);
	assert.match(itemsOf(first.events, 'agent_message')[0].text, /^a.*b$/);
	new TextDecoder('utf-8', { fatal: true }).decode(fs.readFileSync(rollouts(first.home)[0]));
	const second = await codexExec(t, model, ['resume', '--last', 'more'], { home: first.home, cwd: first.cwd });
	assert.equal(second.stdout, 'And again.\n');
});

test('a line of 100 MB is given up at its limit', exec, async (t) => {
	const { text, asked } = await failure(t, reply({ raw: 'data: ' }, { fill: 100_000_000, with: '[' }, { raw: '\n\n' }));
	assert.match(text, /line of more than \d+ bytes/);
	assert.equal(asked, 2);
});

test('a page of HTML is shown, and asked for once', exec, async (t) => {
	const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Sign in to the wifi</html>' };
	const { text, asked } = await failure(t, reply(page));
	assert.match(text, /text\/html.*Sign in to the wifi.*base_url/);
	assert.equal(asked, 1);
});

test('an answer that is not HTTP is reported', exec, async (t) => {
	const { text } = await failure(t, reply({ wire: 'SSH-2.0-OpenSSH_9.2\r\n' }));
	assert.match(text, /error sending request/);
});

test('a response that ends too early is asked for again, then given up', exec, async (t) => {
	const { text, asked, events } = await failure(t, reply({ message: 'Half.' }, { delta: 'a wh' }, { eof: true }));
	assert.match(text, /^stream disconnected before completion: stream closed before response\.completed/);
	assert.equal(asked, 2);
	assert.match(events.find((event) => event.type === 'error').message, /^Reconnecting\.\.\. 1\/1 \(stream disconnected/);
});

test('silence ends by stream_idle_timeout_ms', exec, async (t) => {
	const { text, asked } = await failure(t, reply({ start: true }, { hang: true }),
		['-c', 'model_providers.mock.stream_idle_timeout_ms=100']);
	assert.match(text, /idle timeout waiting for SSE.*stream_idle_timeout_ms/);
	assert.equal(asked, 2);
});

test('each status has its own text and its own number of attempts', exec, async (t) => {
	const body = { error: { message: 'words of the server' } };
	for (const [status, pattern, attempts] of [
		[400, /words of the server/, 1],
		[401, /^unexpected status 401 Unauthorized: words of the server, url: .*key/, 2], // as codex 0.169, which repeats all but 400
		[429, /^exceeded retry limit, last status: 429 Too Many Requests/, 2],
		[500, /^We're currently experiencing high demand.*words of the server/, 4],
	]) {
		const { text, asked } = await failure(t, httpError(status, body));
		assert.match(text, pattern);
		assert.equal(asked, attempts, `attempts after ${status}`);
	}
});

test('a refused connection ends by the limits of retries', exec, async (t) => {
	const home = makeHome(t, { url: 'http://127.0.0.1:9/v1' });
	const { code, events } = await codexExec(t, null, [...FEW_RETRIES, 'hi'], { home, json: true });
	assert.equal(code, 1);
	assert.equal(events.filter((event) => /^Reconnecting/.test(event.message)).length, 1);
	assert.match(events.at(-1).error.message, /http:\/\/127\.0\.0\.1:9\/v1\/responses.*(refused|nobody listens).*;/i);
});

test('invalid calls are answered, and the turn continues', exec, async (t) => {
	const model = await startModel(t, [reply(
		{ call: 'no_such_tool', arguments: {}, call_id: 'c1' },
		{ call: 'exec_command', arguments: '{"cmd":', call_id: 'c2' },
		{ call: 'exec_command', arguments: '[]', call_id: 'c3' },
		{ call: 'exec_command', arguments: { cmd: 7 }, call_id: 'c4' },
		{ call: 'exec_command', arguments: {}, call_id: 'c5' },
		{ call: 'write_stdin', arguments: { session_id: 1e300 }, call_id: 'c6' },
		{ call: 'update_plan', arguments: { plan: [{ step: 'x', status: 'flying' }] }, call_id: 'c7' },
		{ call: 'view_image', arguments: { path: 'nowhere.png' }, call_id: 'c8' },
		{ custom: 'no_such_custom', input: 'x', call_id: 'c9' },
		{ custom: 'apply_patch', input: 'not a patch', call_id: 'c10' },
		{ item: { type: 'function_call', name: 'exec_command', arguments: '{}' } },
		{ call: 'exec_command', arguments: { cmd: 'true\u0000; echo no' }, call_id: 'c11' },
		{ call: 'exec_command', arguments: { cmd: 'true', workdir: '/no/such/folder' }, call_id: 'c12' },
	), say('Well.')]);
	const { code, stdout } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	assert.equal(stdout, 'Well.\n');
	const answerTo = (id) => outputOf(model.requests()[1], id);
	assert.equal(answerTo('c1'), 'unsupported call: no_such_tool');
	for (const id of ['c2', 'c3', 'c4', 'c5', 'c6', 'c7'])
		assert.match(answerTo(id), /^failed to parse function arguments: ./, id);
	assert.match(answerTo('c8'), /^unable to locate image at `.*nowhere\.png`/);
	assert.equal(answerTo('c9'), 'unsupported custom tool call: no_such_custom');
	assert.match(answerTo('c10'), /^apply_patch verification failed: invalid patch: The first line of the patch must be/);
	assert.match(answerTo('c11'), /NUL/);
	assert.match(answerTo('c12'), /\/no\/such\/folder.*No such file or directory/);
});

/** That shows after the start only: it is an end of each tool's own form, with the reason. */
test('a file that cannot be executed is a failed call', exec, async (t) => {
	const broken = path.join(tempDir(t, 'broken'), 'program');
	fs.writeFileSync(broken, '\x7fELF and nothing else', { mode: 0o755 });
	const model = await startModel(t, [reply(
		{ call: 'shell', arguments: { command: [broken] }, call_id: 'c1' },
		{ call: 'exec_command', arguments: { cmd: 'true', shell: broken }, call_id: 'c2' },
		{ call: 'exec_command', arguments: { cmd: 'echo fine' }, call_id: 'c3' },
	), say('Well.')]);
	const { code, stdout } = await codexExec(t, model, ['-s', 'danger-full-access', 'go']);
	assert.equal(code, 0);
	assert.equal(stdout, 'Well.\n');
	const answerTo = (id) => outputOf(model.requests()[1], id);
	assert.equal(answerTo('c1'), `execution error: cannot run ${broken}: Exec format error`);
	assert.equal(answerTo('c2'), `exec_command failed: cannot run ${broken}: Exec format error`);
	assert.match(answerTo('c3'), /fine/);
});

test('a hundred thousand deltas and a thousand calls are only work', exec, async (t) => {
	const model = await startModel(t, [
		reply({ repeat: 100_000, steps: [{ delta: 'w{i} ' }] },
			{ repeat: 1000, steps: [{ call: 'no_such_tool', arguments: {}, call_id: 'c{i}' }] }),
		say('Done.'),
	]);
	const { code, stdout } = await codexExec(t, model, ['go']);
	assert.equal(code, 0);
	assert.equal(stdout, 'Done.\n');
	const outputs = model.requests()[1].body.input.filter((item) => item.type === 'function_call_output');
	assert.deepEqual(outputs.map((item) => item.call_id), [...Array(1000).keys()].map((i) => `c${i + 1}`));
});

// --- files ----------------------------------------------------------------------------------------------------------

test('a config.toml that cannot be used is named with line and key', exec, async (t) => {
	const cases = [
		[(file) => fs.mkdirSync(file), 'cannot read FILE: Is a directory'],
		['a = 1\nb = \n', 'FILE:2:5: expected a value'],
		[Buffer.from('a="\xff"\n', 'latin1'), 'FILE:1:4: not UTF-8 text'],
		['# a comment\nmodel = 5\n', 'FILE:2: `model` must be a string, not an integer'],
		['[model_providers.x]\nname = "x"\nrequest_max_retries = "many"\n',
			'FILE:3: `model_providers.x.request_max_retries` must be an integer, not a string'],
		['approval_policy = "perhaps"\n', 'FILE:1: `approval_policy`'],
		['a = "' + 'x'.repeat(5_000_000) + '"\n', 'FILE is larger than'],
	];
	for (const [content, words] of cases) {
		const home = tempDir(t, 'home');
		const file = path.join(home, 'config.toml');
		if (typeof content === 'function') content(file);
		else fs.writeFileSync(file, content);
		const { code, stdout, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'], { home });
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.ok(stderr.includes(words.replace('FILE', file)), `${words}: ${stderr}`);
	}
});

test('an unknown setting is a warning', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const { code, stderr } = await codexExec(t, model, ['hi'], { config: 'colour = "red"' });
	assert.equal(code, 0);
	assert.match(stderr, /warning: .*config\.toml.*`colour`/);
});

test('a key of -c with a wrong type is named', exec, async (t) => {
	const { code, stderr } = await runCodex(t, ['exec', '-c', 'model=[1,2]', 'hi']);
	assert.equal(code, 1);
	assert.match(stderr, /-c: `model` must be a string/);
	const noValue = await runCodex(t, ['exec', '-c', 'model', 'hi']);
	assert.equal(noValue.code, 1);
	assert.match(noValue.stderr, /key=value/);
});

test('a CODEX_HOME that is not there is said', exec, async (t) => {
	const { code, stderr } = await runCodex(t, ['exec', 'hi'], { env: { CODEX_HOME: '/no/such/folder' } });
	assert.equal(code, 1);
	assert.match(stderr, /CODEX_HOME.*\/no\/such\/folder.*does not exist/);
});

test('a torn rollout is resumed without its last line', exec, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const { home, cwd } = await codexExec(t, model, ['first'], {});
	const [file] = rollouts(home);
	fs.appendFileSync(file, '\x00\xff{"timestamp":"2026-01-01T00:00:00.000Z","type":"response_item","payl');
	const { code, stdout, stderr } = await codexExec(t, model, ['resume', '--last', 'second'], { home, cwd });
	assert.equal(code, 0);
	assert.equal(stdout, 'Two.\n');
	assert.match(stderr, /warning: /);
	assert.deepEqual(textsOf(model.requests()[1], 'assistant'), ['One.']);
	assert.ok(readLines(file).length > 5, 'every line of the file is JSON');
});

// --- a full disk ----------------------------------------------------------------------------------------------------

/* A limit on the size of files stands in for the end of the disk, and can be taken away while the program runs. */
const limits = { skip: exec.skip || (spawnSync('prlimit', ['--version']).status !== 0 && 'needs prlimit') };

/** Starts a program that can write at most `room` bytes to a file. */
function onSmallDisk(t, model, room, args) {
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n');
	const cwd = tempDir(t, 'cwd');
	const program = launch(t, 'prlimit', [`--fsize=${room}:unlimited`, '--', codexBin, ...args], { cwd, env: cleanEnv(home) });
	program.child.stdin.end();
	const stdout = (test) => waitFor(program.child.stdout, () => program.result.stdout, test);
	return {
		...program, home, cwd, stdout,
		isPaused: () => stdout((text) => text.includes('The disk is full')),
		makeRoom: () => spawnSync('prlimit', ['--pid', `${program.child.pid}`, '--fsize=unlimited']),
	};
}

const EXEC = ['exec', '--json', '--skip-git-repo-check', 'go'];
const eventsOf = ({ stdout }) => stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
const big = (i) => run(`head -c 20000 /dev/zero | tr '\\0' ${i}`);

test('a full disk pauses the turn, which continues without loss when there is room', limits, async (t) => {
	const model = await startModel(t, [big(1), big(2), big(3), big(4), say('Done.')]);
	const codex = onSmallDisk(t, model, 65536, EXEC);
	await codex.isPaused();
	const asked = model.requests().length;
	assert.ok(asked < 5, 'the model is not asked for more');
	assert.ok(!codex.result.stdout.includes('Done.'));
	const told = itemsOf(eventsOf(codex.result), 'command_execution').filter(({ status }) => status !== 'in_progress');
	const [file] = rollouts(codex.home);
	const record = fs.readFileSync(file, 'utf8');
	assert.equal(fs.statSync(file).size, 65536);
	for (const { aggregated_output: output } of told) assert.ok(record.includes(JSON.stringify(output).slice(1, -1)));
	codex.makeRoom();
	const { code } = await codex.done;
	assert.equal(code, 0);
	const errors = itemsOf(eventsOf(codex.result), 'error').map(({ message }) => message)
		.concat(eventsOf(codex.result).filter(({ type }) => type === 'error').map(({ message }) => message));
	assert.equal(errors.length, 1, errors.join('\n'));
	assert.match(errors[0], /File too large.*is paused until space is free/);
	const lines = readLines(file);
	assert.deepEqual(lines.map(({ ordinal }) => ordinal), lines.map((_, index) => index));
	const outputs = lines.filter(({ payload }) => payload.type === 'function_call_output');
	assert.equal(outputs.length, 4);
	assert.equal(lines.at(-1).payload.type, 'task_complete');
});

test('a session that is paused by a full disk can be shut down', limits, async (t) => {
	const model = await startModel(t, [big(1), big(2), big(3), big(4), say('Done.')]);
	const codex = onSmallDisk(t, model, 65536, EXEC);
	await codex.isPaused();
	codex.child.kill('SIGINT');
	const { code, stdout } = await codex.done;
	assert.equal(code, 130);
	assert.match(stdout, /cannot be recorded: .*File too large/);
	const [file] = rollouts(codex.home);
	const again = await codexExec(t, model, ['resume', '--last', 'more'], codex);
	assert.equal(again.code, 0);
	assert.ok(readLines(file).length > 5, 'every line of the file is JSON');
});

test('a disk that is full from the start says so before anything is shown', limits, async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const codex = onSmallDisk(t, model, 100, EXEC);
	await codex.isPaused();
	assert.ok(!codex.result.stdout.includes('Done.'));
	codex.makeRoom();
	assert.equal((await codex.done).code, 0);
	assert.match(codex.result.stdout, /Done\./);
});

test('-o to a path that cannot be written is said before the model is asked', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	const { code, stderr } = await codexExec(t, model, ['-o', '/no/such/folder/x', 'hi']);
	assert.equal(code, 1);
	assert.match(stderr, /\/no\/such\/folder\/x.*No such file or directory/);
	assert.equal(model.requests().length, 0);
});

test('-o to a device writes into it', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const full = await codexExec(t, model, ['-o', '/dev/full', 'hi']);
	assert.equal(full.code, 1);
	assert.match(full.stderr, /\/dev\/full.*No space left on device/);
	assert.ok(fs.statSync('/dev/full').isCharacterDevice());
});

test('a prompt of more characters than an input may have is refused before a session begins', exec, async (t) => {
	const model = await startModel(t, [say('Taken.')]);
	const longest = '\u00e9'.repeat(1_048_576);
	const refused = await codexExec(t, model, ['-'], { input: `${longest}x` });
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /maximum length of 1048576 characters: the prompt has 1048577 \(input_too_large\)/);
	assert.deepEqual(rollouts(refused.home), []);
	assert.equal(model.requests().length, 0);
	assert.equal((await codexExec(t, model, ['-'], { input: longest })).stdout, 'Taken.\n');
});

test('a failure before the thread begins is an event, and on stderr too', exec, async (t) => {
	for (const [args, reason] of [
		[['-c', 'model_providers.mock.env_key="NOT_SET"'], 'Missing environment variable: `NOT_SET`.'],
		[['-c', 'model_provider="nowhere"'], 'Model provider `nowhere` not found'],
		[['-c', 'model_provider="openai"'], 'no API key for OpenAI'],
	]) {
		const { code, events, stderr } = await codexExec(t, null, [...args, 'hi'], { json: true });
		assert.equal(code, 1);
		assert.deepEqual(events.map((event) => event.type), ['error']);
		assert.ok(events[0].message.startsWith(reason), events[0].message);
		assert.ok(stderr.split('\n').includes(events[0].message), stderr);
	}
});
