// Input that no well-behaved client sends: each request gets one answer, each malformed line a note, and the server continues.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { call, cleanEnv, codexBin, launch, makeHome, needs, say, startModel, tempDir, waitFor }
	from './lib/codex.mjs';
import { connectRpc, dial, frame } from './lib/websocket.mjs';

const options = needs('app-server');
const MIB = 1024 * 1024;
const NOBODY = '00000000-0000-7000-8000-000000000000';
const ECHO = 'mock/experimentalMethod';
const nested = (depth) => '['.repeat(depth) + ']'.repeat(depth);
const line = (id, method, params) => `{"id":${id},"method":"${method}","params":${params}}\n`;

/** The server runs and has processed everything that was sent before. */
const goesOn = async (server) => assert.deepEqual(await server.request(ECHO, { value: 'on' }), { echoed: 'on' });
const refusalOf = (server, id) => server.take((it) => it.id === id && it.error, `refusal of ${id}`).then(({ error }) => error);

/** Resolves once a server accepts connections there. */
async function served(file) {
	const isServed = () => new Promise((resolve) => {
		const socket = net.connect(file).on('error', () => resolve(false)).on('connect', () => {
			socket.destroy();
			resolve(true);
		});
	});
	while (!(await isServed())) await new Promise((wake) => setTimeout(wake, 5));
}

/** A server for WebSockets: {where (for dial), child, done, stderr}. */
async function listen(t, transport, model, config) {
	const file = path.join(tempDir(t, 'socket'), 's');
	const url = transport === 'unix' ? `unix://${file}` : 'ws://127.0.0.1:0';
	const program = launch(t, codexBin, ['app-server', '--listen', url],
		{ cwd: tempDir(t, 'cwd'), env: cleanEnv(makeHome(t, model, config)) });
	const stderr = () => program.result.stderr;
	if (transport === 'unix') await served(file);
	const port = transport !== 'unix' && await waitFor(program.child.stderr, stderr,
		(it) => /note: .*\n/.test(it) && /listening on: ws:\/\/\S+:(\d+)\n/.exec(it)?.[1]);
	return { ...program, stderr, where: port ? { port: Number(port) } : { path: file } };
}

// ---- lines ----

test('lines that cannot be read have a note that says where they break', options, async (t) => {
	const server = await startAppServer(t, null);
	const bytes = (...parts) => Buffer.concat(parts.map((it) => Buffer.from(it)));
	const cases = [
		[bytes('{"id":1,"method":"x","params":{"value":"', [0xff], '"}}\n'), 'line 1 column 41: byte 0xff is not valid UTF-8'],
		[bytes('{"id":1,"method":"x', [0], '"}\n'), 'line 1 column 20: control character 0x00 must be escaped in a string'],
		[bytes([0, 0], '\n'), 'line 1 column 1: expected a value, found byte 0x00'],
		['{"id":1,"method":"\\ud800"}\n', 'line 1 column 19: half of a surrogate pair'],
		['{"id":1,"method":"x"} y\n', "line 1 column 23: expected nothing after the value, found 'y'"],
		[line(1, ECHO, nested(200)), 'nested deeper than 128 levels'],
		[line(1, ECHO, nested(100_000)), 'nested deeper than 128 levels'],
		['[{"id":1,"method":"x"}]\n', 'a message must be an object, not array'],
		['{"id":1,"method":null}\n', '`method` must be a string'],
		['{"id":1}\n', 'it has neither `method`, nor `id` with `result` or `error`'],
		['"x"\n', 'a message must be an object, not string'],
	];
	for (const [sent] of cases) {
		server.write(sent);
		await goesOn(server);
	}
	const { code, stderr } = await server.end();
	assert.equal(code, 0);
	const notes = stderr.split('\n').filter((it) => it.includes('was ignored'));
	assert.equal(notes.length, cases.length, stderr);
	cases.forEach(([, note], i) => assert.ok(notes[i].includes(note), `${notes[i]}\nshould say: ${note}`));
});

test('a line may have 16 MiB, and one that is longer is answered with an error', options, async (t) => {
	const server = await startAppServer(t, null);
	const head = `{"id":"long","method":"${ECHO}","params":{"value":"x","more":"`, tail = '"}}';
	const pad = (size) => head + 'y'.repeat(size - head.length - tail.length) + tail + '\n';
	server.write(pad(16 * MIB));
	assert.deepEqual((await server.take(({ id }) => id === 'long', 'answer')).result, { echoed: 'x' });
	server.write(pad(16 * MIB + 1));
	const isRefusal = (id) => (message) => message.id === id && message.error;
	const refusal = { code: -32600, message: 'Invalid request: it is longer than 16 MiB' };
	assert.deepEqual((await server.take(isRefusal('long'), 'refusal')).error, refusal);
	await goesOn(server);
	server.write('z'.repeat(40 * MIB) + '\n');
	assert.deepEqual((await server.take(isRefusal(null), 'refusal')).error, refusal);
	server.write(`{"params":{"value":"${'y'.repeat(17 * MIB)}"},"id":7,"method":"${ECHO}"}\n`); // its id comes too late
	assert.deepEqual((await server.take(isRefusal(null), 'refusal')).error, refusal);
	server.write(`{"id":7,"result":{"value":"${'y'.repeat(17 * MIB)}"}}\n`); // no request
	await server.take(isRefusal(null), 'refusal');
	await goesOn(server);
	const { code, stderr } = await server.end();
	assert.equal(code, 0);
	assert.equal(stderr.match(/message \d+ of a client is longer than 16 MiB and was ignored/g).length, 4, stderr);
	assert.equal(server.messages.filter(({ id }) => id === 'long').length, 2);
	assert.equal(server.messages.filter(({ id, error }) => id === 7 && error).length, 0);
});

test('input that ends inside a line ends the server, without an answer', options, async (t) => {
	const server = await startAppServer(t, null);
	server.write(line('"cut"', ECHO, '{}').slice(0, -10));
	const { code, stdout } = await server.end();
	assert.equal(code, 0);
	assert.doesNotMatch(stdout, /cut/);
});

// ---- ids ----

test('a request with an invalid id is refused, with the id null', options, async (t) => {
	const server = await startAppServer(t, null);
	for (const id of ['1.5', '1e3', 'null', 'true', '[]', '{"a":1}', '99999999999999999999']) {
		server.write(line(id, ECHO, '{}'));
		const { code, message } = await refusalOf(server, null);
		assert.equal(code, -32600);
		assert.equal(message, `Invalid request: \`id\` must be a string or an integer, not ${id}`);
	}
	await goesOn(server);
});

test('ids may be long, empty and used twice at once', options, async (t) => {
	const server = await startAppServer(t, null);
	for (const id of ['""', '"twice"', '"twice"', `"${'i'.repeat(100_000)}"`]) {
		server.write(line(id, ECHO, '{}'));
		await server.take((it) => it.id === JSON.parse(id) && it.result, `answer to ${id.slice(0, 20)}`);
	}
});

test('of members that stand twice the last one counts', options, async (t) => {
	const server = await startAppServer(t, null);
	server.write(`{"id":"a","id":"b","method":"no/such","method":"${ECHO}","params":{"value":"1","value":"2"}}\n`);
	assert.deepEqual((await server.take(({ id }) => id === 'b', 'answer')).result, { echoed: '2' });
	assert.equal(server.messages.some(({ id }) => id === 'a'), false);
});

// ---- answers ----

const command = call('exec_command', { cmd: 'touch done', sandbox_permissions: 'require_escalated', justification: 'x' });

test('unsolicited and repeated answers are ignored', options, async (t) => {
	const model = await startModel(t, [command, say('end')]);
	const server = await startAppServer(t, model, { config: 'sandbox_mode = "workspace-write"\n' });
	const { thread } = await server.request('thread/start', {});
	server.write('{"id":77,"result":{}}\n{"id":"x","error":{"code":1,"message":"no"}}\n{"id":0,"result":{"decision":"accept"}}\n');
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const asked = await server.next('item/commandExecution/requestApproval');
	server.answer({ id: asked.id + 1 }, { decision: 'accept' });
	server.answer({ id: String(asked.id) }, { decision: 'accept' });
	await goesOn(server);
	assert.equal(server.all('serverRequest/resolved').length, 0);
	server.answer(asked, { decision: 'decline' });
	server.answer(asked, { decision: 'accept' });
	const { item } = (await server.take((it) => it.method === 'item/completed' && it.params.item.type === 'commandExecution', 'item')).params;
	assert.equal(item.status, 'declined');
	await server.next('turn/completed');
	assert.equal(server.all('serverRequest/resolved').length, 1);
	assert.equal(fs.existsSync(path.join(server.cwd, 'done')), false);
	const { code, stderr } = await server.end();
	assert.equal(code, 0);
	for (const id of ['77', 'x', '0', `${asked.id + 1}`]) assert.match(stderr, new RegExp(`an answer to request "?${id}"? was ignored`));
});

for (const [what, answer] of Object.entries({
	'of the wrong kind': { decision: 5 }, 'that is unknown': { decision: 'perhaps' }, 'without a decision': {}, 'that is null': null,
})) {
	test(`an answer ${what} is a no`, options, async (t) => {
		const model = await startModel(t, [command, say('end')]);
		const server = await startAppServer(t, model, { config: 'sandbox_mode = "workspace-write"\n' });
		const { thread } = await server.request('thread/start', {});
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		server.answer(await server.next('item/commandExecution/requestApproval'), answer);
		const { turn } = (await server.next('turn/completed')).params;
		assert.equal(turn.status, 'completed');
		assert.equal(fs.existsSync(path.join(server.cwd, 'done')), false);
		assert.match((await server.end()).stderr, /the client's answer cannot be used/);
	});
}

test('a client cannot answer the request of another one', options, async (t) => {
	const model = await startModel(t, [command, say('end')]);
	const server = await listen(t, 'unix', model, 'sandbox_mode = "workspace-write"\n');
	const asked = await connectRpc(t, server.where), other = await connectRpc(t, server.where);
	const { thread } = await asked.request('thread/start', {});
	await asked.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const question = await asked.next('item/commandExecution/requestApproval');
	other.answer(question, { decision: 'accept' });
	await goesOn(other);
	assert.equal(asked.all('serverRequest/resolved').length, 0);
	await waitFor(server.child.stderr, server.stderr, (it) => it.includes(`an answer to request ${question.id} was ignored`));
	asked.answer(question, { decision: 'decline' });
	assert.equal((await asked.next('turn/completed')).params.turn.status, 'completed');
	// The number of a request is its client's own: both may use the same one at the same time.
	const answers = await Promise.all([asked.request(ECHO, { value: 'a' }, 'same'), other.request(ECHO, { value: 'b' }, 'same')]);
	assert.deepEqual(answers, [{ echoed: 'a' }, { echoed: 'b' }]);
});

// ---- parameters ----

const words = (list) => `Invalid request: unknown variant \`bogus\`, expected one of ${list}`;
const relative = 'Invalid request: AbsolutePathBuf deserialized without a base path';
const nul = 'file name contained an unexpected NUL byte';
const noId = (first) => new RegExp(`^invalid (thread|session) id: invalid character: .*found \`${first}\` at 1$`);

const refused = [
	// unknown words
	['thread/start', { sandbox: 'bogus' }, words('`read-only`, `workspace-write`, `danger-full-access`')],
	['thread/start', { approvalPolicy: 'bogus' }, /^Invalid request: unknown variant `bogus`, expected one of `untrusted`, /],
	['thread/start', { personality: 'bogus' }, words('`none`, `friendly`, `pragmatic`')],
	['thread/list', { sortKey: 'bogus' }, /^Invalid request: unknown variant `bogus`, expected one of `created_at`, /],
	['thread/list', { sourceKinds: ['cli', 'bogus'] }, /^Invalid request: unknown variant `bogus`, expected one of `cli`, /],
	['config/value/write', { keyPath: 'model', value: 'm', mergeStrategy: 'bogus' },
		'Invalid request: unknown variant `bogus`, expected `replace` or `upsert`'],
	['', {}, /^Invalid request: unknown variant ``, expected one of `initialize`, /],
	['x'.repeat(200_000), {}, /^Invalid request: unknown variant `x{200}`, expected one of `initialize`, /],
	// other kinds
	['thread/read', [], 'Invalid request: invalid type: sequence, expected struct ThreadReadParams'],
	['thread/read', 'x', 'Invalid request: invalid type: string "x", expected struct ThreadReadParams'],
	['thread/start', { cwd: 5 }, 'Invalid request: invalid type: integer `5`, expected a string'],
	['thread/list', { limit: 1.5 }, 'Invalid request: invalid type: floating point `1.5`, expected an integer'],
	['thread/list', { cursor: 'bogus' }, 'invalid cursor: bogus'],
	// ids that are not threads
	['turn/start', { threadId: NOBODY, input: [] }, `thread not found: ${NOBODY}`],
	['turn/steer', { threadId: NOBODY, input: [], expectedTurnId: 'x' }, `thread not found: ${NOBODY}`],
	['turn/interrupt', { threadId: NOBODY, turnId: 'x' }, `thread not found: ${NOBODY}`],
	['thread/resume', { threadId: NOBODY }, `no rollout found for thread id ${NOBODY}`],
	['thread/read', { threadId: NOBODY }, `thread not loaded: ${NOBODY}`],
	['thread/archive', { threadId: '../..' }, noId('\\.')],
	['thread/resume', { threadId: '../../etc/passwd' }, noId('\\.')],
	['thread/delete', { threadId: '' }, 'invalid thread id: invalid length: expected length 32 for simple format, found 0'],
	// paths that are relative, missing, outside, or something else
	['fs/readFile', { path: 'here' }, relative],
	['fs/readFile', { path: '' }, relative],
	['fs/readFile', { path: '/no/such' }, 'No such file or directory (os error 2)', -32603],
	['fs/readFile', { path: `/${'a'.repeat(6000)}` }, 'File name too long (os error 36)', -32603],
	['fs/readFile', { path: '/dev/zero' }, 'path `/dev/zero` is not a file'],
	['fs/readDirectory', { path: '/dev/null' }, 'Not a directory (os error 20)', -32603],
	['fs/writeFile', { path: '../x', dataBase64: '' }, relative],
	['fs/copy', { sourcePath: 'a', destinationPath: '/b' }, relative],
	['fs/copy', { sourcePath: '/a\0', destinationPath: '/b' }, nul],
	['fs/remove', { path: 'x' }, relative],
	['fs/watch', { watchId: 'w', path: 'x' }, relative],
	['thread/resume', { threadId: NOBODY, path: 'here.jsonl' }, /^cannot open .*\/here\.jsonl: No such file or directory$/],
	['thread/resume', { threadId: NOBODY, path: '/etc/passwd' }, /no line has the session's id/],
	['thread/resume', { threadId: NOBODY, path: '/tmp' }, '/tmp is not a regular file'],
	['thread/resume', { threadId: NOBODY, path: '/dev/zero' }, '/dev/zero is not a regular file'],
	['thread/fork', { threadId: NOBODY, path: '/no/such' }, 'cannot open /no/such: No such file or directory'],
	['command/exec', { command: ['true'], cwd: '/no/such' }, 'failed to spawn command: No such file or directory (os error 2)', -32603],
	['command/exec', { command: [] }, 'command must not be empty'],
	['command/exec', { command: ['true\0'] }, "arguments and environment variables must not contain a NUL byte"],
	['config/value/write', { keyPath: 'a..b', value: 1, mergeStrategy: 'replace' }, 'keyPath segments must not be empty'],
	['config/value/write', { keyPath: 'model', value: 'm', mergeStrategy: 'replace', filePath: '/tmp/other.toml' },
		'Only writes to the user config are allowed'],
	// of a path with a NUL the system would see the beginning only
	['thread/start', { cwd: '/tmp\0/x' }, nul],
	['thread/resume', { threadId: NOBODY, path: '/etc/passwd\0.jsonl' }, nul],
	['thread/fork', { threadId: NOBODY, path: '/etc/passwd\0.jsonl' }, nul],
	['command/exec', { command: ['true'], cwd: '/tmp\0/x' }, nul],
	['process/spawn', { command: ['true'], processHandle: 'h', cwd: '/tmp\0' }, nul],
	['config/read', { cwd: '/tmp\0' }, nul],
	['fs/watch', { watchId: 'w', path: '/tmp\0' }, nul],
	['fuzzyFileSearch', { query: 'a', roots: ['/tmp', '/tmp\0'] }, nul],
];

test('parameters that cannot be meant are refused, and the next request is served', options, async (t) => {
	const server = await startAppServer(t, null);
	for (const [method, params, message, code = -32600] of refused)
		await assert.rejects(server.request(method, params), { message, code }, `${method} ${JSON.stringify(params)}`.slice(0, 200));
	await goesOn(server);
	assert.equal((await server.end()).code, 0);
});

test('the input of a turn is validated before it starts', options, async (t) => {
	const server = await startAppServer(t, null);
	const { thread: { id: threadId } } = await server.request('thread/start', {});
	const cases = [
		[{ cwd: '/no/such' }, 'cwd is not a folder: /no/such'],
		[{ cwd: '/etc/passwd' }, 'cwd is not a folder: /etc/passwd'],
		[{ cwd: '/tmp\0/x' }, nul],
		[{ effort: 'bogus' }, /^Invalid request: unknown variant `bogus`/],
		[{ sandboxPolicy: { type: 'bogus' } }, /^Invalid request: unknown variant `bogus`/],
		[{ input: [{ type: 'bogus' }] }, /^Invalid request: unknown variant `bogus`/],
		[{ input: 'hi' }, 'Invalid request: invalid type: string "hi", expected a sequence'],
	];
	for (const [params, message] of cases)
		await assert.rejects(server.request('turn/start', { threadId, input: [text('x')], ...params }), { message, code: -32600 });
	await assert.rejects(server.request('turn/steer', { threadId, input: [text('x')], expectedTurnId: NOBODY }),
		{ message: 'no active turn to steer' });
	await assert.rejects(server.request('turn/interrupt', { threadId, turnId: NOBODY }), { message: 'no active turn to interrupt' });
	assert.equal(server.all('turn/started').length, 0);
});

// ---- floods ----

test('a burst is answered in its order', options, async (t) => {
	const server = await startAppServer(t, null);
	const kinds = [[ECHO, '{}'], ['no/such', '{}'], ['thread/read', '{}'], ['thread/loaded/list', '{}'], ['model/list', '{"limit":1}']];
	const sent = Array.from({ length: 1000 }, (_, i) => [i, ...kinds[i % kinds.length]]);
	server.write(sent.map(([id, method, params]) => line(`"b${id}"`, method, params)).join(''));
	await server.take(({ id }) => id === 'b999', 'last answer');
	const answered = server.messages.filter(({ id }) => /^b\d/.test(id)).map(({ id }) => id);
	assert.deepEqual(answered, sent.map(([id]) => `b${id}`));
});

test('a client that sends 10,000 requests before it reads gets 10,000 answers', options, async (t) => {
	const count = 10_000;
	const child = spawn(codexBin, ['app-server'], { cwd: tempDir(t, 'cwd'), env: cleanEnv(makeHome(t, null)), stdio: ['pipe', 'pipe', 'inherit'] });
	t.after(() => child.kill('SIGKILL'));
	const done = new Promise((resolve) => child.on('close', (code) => resolve({ code })));
	child.stdout.setEncoding('utf8');
	const hello = { id: 'hello', method: 'initialize', params: { clientInfo: { name: 'tests', version: '1' }, capabilities: { experimentalApi: true } } };
	const all = Array.from({ length: count }, (_, i) => line(i, ECHO, `{"value":"${'v'.repeat(300)}"}`)).join('');
	child.stdin.write(`${JSON.stringify(hello)}\n`);
	child.stdin.write(all);
	// It stops reading while its responses are queued; unread input stays in the pipe.
	for (let left = -1; left !== child.stdin.writableLength;) {
		left = child.stdin.writableLength;
		await new Promise((wake) => setTimeout(wake, 50));
	}
	let rest = '';
	const ids = [];
	for await (const bytes of child.stdout) {
		const lines = (rest + bytes).split('\n');
		rest = lines.pop();
		ids.push(...lines.map((it) => JSON.parse(it)).filter(({ id }) => Number.isInteger(id)).map(({ id }) => id));
		if (ids.length === count) child.stdin.end();
	}
	assert.deepEqual(ids, Array.from({ length: count }, (_, i) => i));
	assert.equal((await done).code, 0);
});

// ---- WebSockets ----

for (const transport of ['ws', 'unix']) {
	test(`${transport}: bytes of other protocols are refused, and other clients are served`, options, async (t) => {
		const server = await listen(t, transport);
		const tell = (bytes) => new Promise((resolve) => {
			const socket = net.connect(server.where);
			let answer = '';
			socket.on('data', (more) => (answer += more)).on('error', () => {}).on('close', () => resolve(answer));
			socket.end(bytes);
		});
		assert.equal(await tell(''), '');
		assert.doesNotMatch(await tell(line(1, ECHO, '{}')), /result/);
		assert.match(await tell('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'), /^HTTP\/1\.1 400 /);
		assert.match(await tell('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\nOrigin: http://x\r\n\r\n'),
			/^HTTP\/1\.1 403 /);
		assert.doesNotMatch(await tell(`GET / HTTP/1.1\r\n${'A: b\r\n'.repeat(100_000)}`), /^HTTP\/1\.1 101/);
		await goesOn(await connectRpc(t, server.where));
	});

	test(`${transport}: frames that break the rules close their own connection alone`, options, async (t) => {
		const server = await listen(t, transport);
		const bystander = await connectRpc(t, server.where);
		const cases = [
			[frame(1, 'x', { masked: false }), 1002], // a client masks
			[frame(1, [0xff, 0xfe]), 1007], // no UTF-8
			[frame(3, 'x'), 1002], // no such opcode
			[frame(0, 'x'), 1002], // continues nothing
			[frame(9, 'x'.repeat(126)), 1002], // a ping is short
			[Buffer.concat([frame(1, 'a', { fin: false }), frame(1, 'b')]), 1002], // a message in a message
		];
		for (const [bytes, code] of cases) {
			const socket = await dial(server.where);
			socket.send(bytes);
			assert.equal((await socket.closed).code, code, `${bytes.subarray(0, 4).toString('hex')}`);
		}
		const large = await dial(server.where);
		large.socket.on('error', () => {});
		large.send(frame(1, 'x'.repeat(16 * MIB + 1)));
		assert.ok([1009, 1006].includes((await large.closed).code));
		const cut = await dial(server.where);
		cut.send(frame(1, line(1, ECHO, '{}')).subarray(0, 20));
		cut.socket.destroy();
		await goesOn(bystander);
	});

	test(`${transport}: messages of a WebSocket may be junk, nested and binary`, options, async (t) => {
		const server = await listen(t, transport);
		const client = await connectRpc(t, server.where);
		for (const junk of ['junk', '', '[]', '{"id":2}', line(1, ECHO, nested(100_000)), '\0']) client.write(junk);
		await goesOn(client);
		await waitFor(server.child.stderr, server.stderr, (it) => it.includes('nested deeper than 128 levels'));
		assert.equal(server.child.exitCode, null);
	});

	test(`${transport}: an invalid id, and one used twice, have an answer each`, options, async (t) => {
		const server = await listen(t, transport);
		const client = await connectRpc(t, server.where);
		for (const id of ['null', '1.5', '{}', '[1]', 'true', '1e400']) {
			client.write(line(id, ECHO, '{}'));
			assert.equal((await client.take((it) => it.id === null, `refusal of ${id}`)).error.code, -32600, id);
		}
		for (const id of ['"twice"', '"twice"', `"${'i'.repeat(100_000)}"`]) {
			client.write(line(id, ECHO, '{}'));
			await client.take((it) => it.id === JSON.parse(id) && it.result, `answer to ${id.slice(0, 20)}`);
		}
		await goesOn(client);
	});

	test(`${transport}: a message may have 16 MiB, in one frame or in many`, options, async (t) => {
		const server = await listen(t, transport);
		const client = await connectRpc(t, server.where);
		const wrap = (more) => `{"id":"big","method":"${ECHO}","params":{"value":"x","more":"${more}"}}`;
		const bytes = Buffer.from(wrap('v'.repeat(16 * MIB - wrap('').length)));
		client.write(bytes.toString());
		assert.deepEqual((await client.take((it) => it.id === 'big', 'the echo')).result, { echoed: 'x' });
		const pieces = await dial(server.where);
		for (let at = 0; at <= bytes.length; at += MIB)
			pieces.send(frame(at ? 0 : 1, bytes.subarray(at, at + MIB), { fin: false }));
		pieces.send(frame(0, 'x'));
		pieces.socket.on('error', () => {});
		assert.ok([1009, 1006].includes((await pieces.closed).code), 'the pieces are counted together');
		await goesOn(client);
	});

	test(`${transport}: a client that sends 10,000 requests before it reads gets 10,000 answers`, options, async (t) => {
		const count = 10_000;
		const server = await listen(t, transport);
		const client = await connectRpc(t, server.where), bystander = await connectRpc(t, server.where);
		const { socket } = client.socket;
		const before = client.messages.length;
		socket.pause();
		for (let i = 0; i < count; i++) client.write(line(`"f${i}"`, ECHO, `{"value":"${'v'.repeat(300)}"}`));
		for (let left = -1; left !== socket.writableLength;) { // it is read no further while its answers wait
			left = socket.writableLength;
			await goesOn(bystander);
			await new Promise((wake) => setTimeout(wake, 50));
		}
		socket.resume();
		await client.take((it) => it.id === `f${count - 1}`, 'the last answer');
		const ids = client.messages.slice(before).map(({ id }) => id).filter((id) => /^f/.test(id));
		assert.deepEqual(ids, Array.from({ length: count }, (_, i) => `f${i}`));
	});
}
