// The clients of examples/ that use gRPC, against a server with a token.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { expecting, launch, needs, run, say, startModel, tempDir, waitFor } from './lib/codex.mjs';
import { grpc, loadCodex, loader, serveHttp } from './lib/grpc.mjs';

const here = fileURLToPath(new URL('.', import.meta.url)), examples = path.join(here, '../../examples');
const token = 'a-token-of-the-tests-0123456789';
const python = '/usr/bin/python3';
const hasGrpcio = () => spawnSync(python, ['-c', 'import grpc, google.protobuf']).status === 0;

const clients = {
	'grpc_prompt.mjs': {
		skip: !(grpc && loader) && '@grpc/grpc-js is not installed',
		command: (t, name) => {
			const dir = tempDir(t, 'client'), file = path.join(dir, name);
			fs.copyFileSync(path.join(examples, name), file);
			fs.symlinkSync(path.join(here, 'node_modules'), path.join(dir, 'node_modules'));
			return [process.execPath, '--preserve-symlinks', '--preserve-symlinks-main', file];
		},
	},
	'grpc_prompt.py': {
		skip: !hasGrpcio() && 'python3-grpcio is not installed',
		command: (t, name) => [python, path.join(examples, name)],
	},
};

async function prompt(t, name, address, secret = token) {
	const [bin, ...args] = clients[name].command(t, name);
	const env = { ...process.env, CODEX_TOKEN: secret, CODEX_PROTO: loader ? loadCodex(t).file : '' };
	return launch(t, bin, [...args, address, 'make a file'], { env });
}

async function serve(t, replies) {
	const file = path.join(tempDir(t, 'token'), 'token');
	fs.writeFileSync(file, token, { mode: 0o600 });
	return serveHttp(t, await startModel(t, replies), { args: ['--token-file', file],
		config: 'sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"' });
}

for (const [name, { skip }] of Object.entries(clients)) {
	const options = { skip: skip || needs('proto').skip };

	test(`${name} is short`, () =>
		assert.ok(fs.readFileSync(path.join(examples, name), 'utf8').split('\n').length <= 60));

	for (const [answer, isMade, outcome] of [['y', true, 'done'], ['n', false, 'rejected']])
		test(`${name} asks, is answered ${answer}, and prints the answer`, options, async (t) => {
			const server = await serve(t, [run('touch made; echo done', { call_id: 'c1' }),
				expecting({ path: { 'input.-1.output': outcome } }, say('All is well.'))]);
			const program = await prompt(t, name, server.host);
			await waitFor(program.child.stdout, () => program.result.stdout, (text) => text.includes('Allow this? (y/n) '));
			assert.ok(!fs.existsSync(path.join(server.cwd, 'made')), 'nothing runs before the answer');
			program.child.stdin.write(`${answer}\n`);
			const { code, stdout, stderr } = await program.done;
			assert.equal(code, 0, stderr);
			assert.match(stdout, /touch made/);
			assert.match(stdout, /All is well\.\n$/);
			assert.equal(fs.existsSync(path.join(server.cwd, 'made')), isMade);
		});

	test(`${name} reports a wrong token`, options, async (t) => {
		const server = await serve(t, [say('Unused.')]);
		const { code, stderr } = await (await prompt(t, name, server.host, 'wrong')).done;
		assert.equal(code, 1);
		assert.match(stderr, /authorization: Bearer TOKEN/);
	});
}
