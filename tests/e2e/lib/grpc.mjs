// codex proto --listen http:// and @grpc/grpc-js, with the .proto that the program prints.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnv, codexBin, launch, makeHome, needs, tempDir, waitFor } from './codex.mjs';

export const grpc = await import('@grpc/grpc-js').catch(() => null);
export const loader = await import('@grpc/proto-loader').catch(() => null);
/** Options for a test that needs the package. */
export const needsGrpc = grpc && loader ? needs('proto') : { skip: '@grpc/grpc-js is not installed' };

/** Starts the server: {child, result, done, url, host, cwd, home}. */
export async function serveHttp(t, model, { config, args = [], listen = 'http://127.0.0.1:0', home, cwd } = {}) {
	home ??= makeHome(t, model, config);
	cwd ??= tempDir(t, 'cwd');
	const program = launch(t, codexBin, ['proto', '--listen', listen, ...args], { cwd, env: cleanEnv(home) });
	const url = await waitFor(program.child.stderr, () => program.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	return { ...program, url, host: url.replace(/^\w+:\/\//, ''), cwd, home };
}

const OPTIONS = { keepCase: true, longs: Number, defaults: true };

/** The package codex.v1, made from the text that `codex proto --print-proto` prints. */
export function loadCodex(t) {
	const file = path.join(tempDir(t, 'proto'), 'codex.proto');
	fs.writeFileSync(file, execFileSync(codexBin, ['proto', '--print-proto']));
	const definition = loader.loadSync(file, OPTIONS);
	return { file, definition, codex: grpc.loadPackageDefinition(definition).codex.v1 };
}

/** A client of the service; it is closed with the test. */
export function grpcClient(t, server, credentials = grpc.credentials.createInsecure(), address = server.host) {
	const client = new (loadCodex(t).codex.Codex)(address, credentials,
		{ 'grpc.max_receive_message_length': 64 << 20 });
	t.after(() => client.close());
	return client;
}

/** Calls a unary method; rejects with the error of grpc-js, which has a code. */
export const unary = (client, method, request = {}, metadata = new grpc.Metadata()) =>
	new Promise((resolve, reject) =>
		client[method](request, metadata, (error, answer) => (error ? reject(error) : resolve(answer))));

/** Collects the events of a stream: {events, until(test), end}; end resolves to the status. */
export function collect(stream) {
	const events = [];
	const end = new Promise((resolve) => stream.on('status', resolve));
	stream.on('error', () => {}); // `end` has it
	stream.on('data', (event) => events.push(event));
	const until = (test) => new Promise((resolve, reject) => {
		const look = () => {
			if (!test(events)) return false;
			stream.off('data', look);
			resolve(events);
			return true;
		};
		stream.on('data', look);
		end.then((status) => look() || reject(new Error(`the stream has ended: ${status.code} ${status.details}`)));
		look();
	});
	return { events, end, until };
}
