// The gRPC service of codex proto --listen http://, used by @grpc/grpc-js with the .proto that the program prints.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { codexBin, run, say, startModel } from './lib/codex.mjs';
import { collect, grpc, grpcClient, loadCodex, loader, needsGrpc, serveHttp, unary } from './lib/grpc.mjs';
import { userInput } from './lib/proto.mjs';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const hasType = (type) => (events) => events.some((event) => event.type === type);
const submission = (id, op) => ({ id, op_json: JSON.stringify(op) });

test(
	'--print-proto prints the file that is served and installed, with the types of all Ops and events',
	needsGrpc,
	async (t) => {
		const printed = execFileSync(codexBin, ['proto', '--print-proto'], { encoding: 'utf8' });
		assert.equal(printed, fs.readFileSync(path.join(source, 'server/codex.proto'), 'utf8'));
		const server = await serveHttp(t, await startModel(t, [say('Unused.')]));
		assert.equal(await (await fetch(`${server.url}/v1/codex.proto`)).text(), printed);
		const comment = (from, to) =>
			printed.slice(printed.indexOf(from) + from.length, printed.indexOf(to)).match(/[a-z_]+/g);
		const rows = (file, macro) =>
			[
				...fs
					.readFileSync(path.join(source, 'protocol/op', file), 'utf8')
					.matchAll(
						new RegExp(`^${macro}(?:_UNIT)?(?:_LACKS)?\\(\\w+, "(\\w+)"`, 'gm')
					)
			].map(([, name]) => name);
		assert.deepEqual(comment('The types of `op_json`:', '// Event.type'), rows('op.def', 'OP'));
		assert.deepEqual(comment('the type of `msg_json`:', 'syntax'), rows('event_msg.def', 'EVENT'));
	}
);

test('grpc-js holds a conversation in a Session', needsGrpc, async (t) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]));
	const stream = grpcClient(t, server).Session();
	const metadata = new Promise((resolve) => stream.on('metadata', resolve));
	const { events, until, end } = collect(stream);
	assert.match((await metadata).get('codex-session-id')[0], /^[0-9a-f-]{36}$/);
	stream.write(submission('1', userInput('hi')));
	await until(hasType('task_complete'));
	stream.end();
	assert.equal((await end).code, 0);
	assert.deepEqual(
		events.map((event) => event.seq),
		events.map((_, i) => i + 1)
	);
	assert.equal(events.at(-1).type, 'shutdown_complete');
	const { id, msg_json } = events.find((event) => event.type === 'task_complete');
	assert.deepEqual([id, JSON.parse(msg_json).last_agent_message], ['1', 'Hello.']);
});

test('payloads may be Structs in both directions, and say the same', needsGrpc, async (t) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello "you" \u00e9.')]));
	const value = (it) =>
		it === null
			? { nullValue: 0 }
			: typeof it === 'string'
				? { stringValue: it }
				: typeof it === 'number'
					? { numberValue: it }
					: typeof it === 'boolean'
						? { boolValue: it }
						: Array.isArray(it)
							? { listValue: { values: it.map(value) } }
							: { structValue: struct(it) };
	const struct = (object) => ({
		fields: Object.fromEntries(Object.entries(object).map(([key, it]) => [key, value(it)]))
	});
	const plain = ({ fields }) =>
		Object.fromEntries(Object.entries(fields).map(([key, it]) => [key, unwrap(it)]));
	const unwrap = (it) => {
		const [kind, inner] = Object.entries(it).find(([name]) => name !== 'kind');
		return /null/i.test(kind)
			? null
			: /struct/.test(kind)
				? plain(inner)
				: /list/.test(kind)
					? inner.values.map(unwrap)
					: inner;
	};
	const client = grpcClient(t, server),
		metadata = new grpc.Metadata();
	const { session_id } = await unary(client, 'OpenSession');
	metadata.set('codex-payload', 'struct');
	const trees = collect(client.Watch({ session_id }, metadata)),
		texts = collect(client.Watch({ session_id }));
	await unary(client, 'Submit', { session_id, submission: { id: '1', op: struct(userInput('hi')) } });
	for (const { until } of [trees, texts]) await until(hasType('task_complete'));
	assert.ok(
		trees.events.every(({ msg, msg_json: text }) => msg && !text) &&
			texts.events.every(({ msg }) => !msg)
	);
	assert.deepEqual(
		trees.events.map(({ msg }) => plain(msg)),
		texts.events.slice(0, trees.events.length).map(({ msg_json: text }) => JSON.parse(text))
	);
	for (const wrong of [
		{ id: '2' },
		{ id: '2', op: struct({}) },
		{ id: '2', op: struct(userInput('x')), op_json: '{"type":"interrupt"}' },
		{ id: '2', op: struct({ type: 'user_input', items: Infinity }) }
	])
		await assert.rejects(unary(client, 'Submit', { session_id, submission: wrong }), { code: 3 });
});

test('a session that belongs to a stream loses no events, however few are kept of others', needsGrpc, async (t) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]), { args: ['--keep-events', '1'] });
	const stream = grpcClient(t, server).Session(),
		{ events, end } = collect(stream);
	stream.write(submission('1', userInput('hi')));
	stream.end();
	assert.equal((await end).code, 0);
	assert.deepEqual(
		events.map((event) => event.seq),
		events.map((_, i) => i + 1)
	);
	assert.equal(events.at(-1).type, 'shutdown_complete');
});

test('grpc-js opens, watches, repeats and closes a kept session', needsGrpc, async (t) => {
	const server = await serveHttp(t, await startModel(t, [say('Hello.')]));
	const client = grpcClient(t, server);
	const { session_id } = await unary(client, 'OpenSession');
	const watch = collect(client.Watch({ session_id }));
	const submit = () => unary(client, 'Submit', { session_id, submission: submission('1', userInput('hi')) });
	assert.deepEqual([await submit(), await submit()], [{ duplicate: false }, { duplicate: true }]);
	await watch.until(hasType('task_complete'));
	const { sessions } = await unary(client, 'ListSessions');
	assert.deepEqual(
		sessions.map((info) => [info.session_id, info.watchers]),
		[[session_id, 1]]
	);
	const { last_seq } = await unary(client, 'CloseSession', { session_id });
	assert.equal((await watch.end).code, 0);
	assert.equal(watch.events.at(-1).seq, last_seq);
	await assert.rejects(
		unary(client, 'Submit', { session_id, submission: submission('2', userInput('hi')) }),
		{ code: 5 }
	);
});

test('a cancel of grpc-js ends the task and its commands', needsGrpc, async (t) => {
	const server = await serveHttp(
		t,
		await startModel(t, [run('echo $$ > pid; exec sleep 1000'), say('Never.')]),
		{ config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' }
	);
	const stream = grpcClient(t, server).Session(),
		{ until, end } = collect(stream);
	stream.write(submission('1', userInput('go')));
	await until(hasType('exec_command_begin'));
	const file = path.join(server.cwd, 'pid'),
		pause = () => new Promise((resolve) => setTimeout(resolve, 20));
	while (!fs.existsSync(file) || !fs.readFileSync(file, 'utf8').trim()) await pause();
	const pid = Number(fs.readFileSync(file, 'utf8'));
	stream.cancel();
	assert.equal((await end).code, grpc.status.CANCELLED);
	for (let isAlive = true; isAlive; await pause()) {
		try {
			process.kill(pid, 0);
		} catch {
			isAlive = false;
		}
	}
});

// ---- reflection ----

/** The messages of the reflection service that the tests need. */
const REFLECTION = (version) => `syntax = "proto3"; package grpc.reflection.${version};
service ServerReflection { rpc ServerReflectionInfo(stream Request) returns (stream Answer); }
message Request { string host = 1; oneof kind { string file_by_filename = 3; string file_containing_symbol = 4;
  int32 all_extension_numbers_of_type = 6; string list_services = 7; } }
message Files { repeated bytes file_descriptor_proto = 1; }
message Service { string name = 1; }
message Services { repeated Service service = 1; }
message Error { int32 error_code = 1; string error_message = 2; }
message Answer { Request original_request = 2; Files file_descriptor_response = 4; Services list_services_response = 6;
  Error error_response = 7; }`;

function reflect(t, server, version) {
	const file = path.join(path.dirname(loadCodex(t).file), `${version}.proto`);
	fs.writeFileSync(file, REFLECTION(version));
	const { ServerReflection } = grpc.loadPackageDefinition(loader.loadSync(file, { keepCase: true })).grpc
		.reflection[version];
	const client = new ServerReflection(server.host, grpc.credentials.createInsecure());
	t.after(() => client.close());
	const stream = client.ServerReflectionInfo(),
		{ events, until, end } = collect(stream);
	return {
		stream,
		end,
		ask: async (question) => {
			const count = events.length;
			stream.write(question);
			return (await until(() => events.length > count))[count];
		}
	};
}

for (const version of ['v1', 'v1alpha'])
	test(`reflection ${version} describes what the .proto has`, needsGrpc, async (t) => {
		const server = await serveHttp(t, await startModel(t, [say('Unused.')]));
		const { ask, stream, end } = reflect(t, server, version);
		const {
			list_services_response: { service }
		} = await ask({ list_services: '' });
		assert.deepEqual(
			service.map(({ name }) => name),
			['codex.v1.Codex', 'grpc.health.v1.Health']
		);
		const files = new Map();
		for (const name of [
			'codex/v1/codex.proto',
			'google/protobuf/struct.proto',
			'grpc/health/v1/health.proto'
		])
			files.set(
				name,
				(await ask({ file_by_filename: name })).file_descriptor_response
					.file_descriptor_proto[0]
			);
		for (const [symbol, name] of [
			['codex.v1.Codex', 0],
			['codex.v1.Codex.Session', 0],
			['codex.v1.Event', 0],
			['codex.v1.Event.seq', 0],
			['google.protobuf.Struct', 1],
			['google.protobuf.NullValue', 1],
			['grpc.health.v1.HealthCheckResponse.ServingStatus', 2]
		])
			assert.deepEqual(
				(await ask({ file_containing_symbol: symbol })).file_descriptor_response
					.file_descriptor_proto,
				[[...files.values()][name]],
				symbol
			);
		for (const symbol of ['', 'codex.v1', 'codex.v1.Code', 'Codex', 'codex.v1.Codex.Session.x'])
			assert.equal(
				(await ask({ file_containing_symbol: symbol })).error_response.error_code,
				5,
				symbol
			);
		assert.equal((await ask({ file_by_filename: 'codex.proto' })).error_response.error_code, 5);
		assert.equal((await ask({ all_extension_numbers_of_type: 1 })).error_response.error_code, 12);
		stream.end();
		assert.equal((await end).code, 0);
		compare(loadCodex(t), [...files.values()]);
	});

/** Compares the services and messages made from descriptors with those made from the printed text. */
function compare({ definition }, descriptors) {
	// A FileDescriptorSet has its files as field 1.
	const head = (bytes) => Buffer.from([0x0a, (bytes.length % 128) | 128, bytes.length >> 7]);
	const set = Buffer.concat(descriptors.flatMap((bytes) => [head(bytes), bytes]));
	const described = loader.loadFileDescriptorSetFromBuffer(set, {
		keepCase: true,
		longs: Number,
		defaults: true
	});
	const plain = (method) => [method.path, method.requestStream, method.responseStream];
	assert.deepEqual(
		Object.values(described['codex.v1.Codex']).map(plain),
		Object.values(definition['codex.v1.Codex']).map(plain)
	);
	const names = Object.keys(definition).filter((name) => name !== 'codex.v1.Codex');
	for (const name of names) {
		// protobufjs has its own struct.proto, with other names for fields and for the entry of a map.
		const fields = ({ type: { field } }) =>
			field?.map((one) => [
				one.name.replace(/_/g, '').toLowerCase(),
				one.number,
				one.label,
				one.type,
				one.typeName
					.split('.')
					.at(-1)
					.replace(/Entry$/, ''),
				one.oneofIndex
			]);
		assert.deepEqual(fields(described[name]), fields(definition[name]), name);
	}
}
