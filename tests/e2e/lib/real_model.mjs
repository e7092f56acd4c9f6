// Runs a turn with a call of a tool against a real llama-server on each wire: `./dev real-model`.
//
//   node real_model.mjs CODEX LLAMA_SERVER MODEL
//
// The model (tools/tiny-gguf) always calls `echo real-model`, and answers the output with "Done.".
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

const [codex, llama, model] = process.argv.slice(2).map((name) => path.resolve(name));
const START_MS = 60_000;

async function freePort() {
	const server = net.createServer().listen(0, '127.0.0.1');
	await new Promise((done) => server.on('listening', done));
	const { port } = server.address();
	await new Promise((done) => server.close(done));
	return port;
}

async function startServer() {
	const port = await freePort();
	const child = spawn(llama, ['-m', model, '--host', '127.0.0.1', '--port', port, '--jinja', '-c', '131072', '-np', '1'], { stdio: 'ignore' });
	const exited = new Promise((done) => child.on('exit', done));
	for (const until = Date.now() + START_MS; ; await new Promise((wake) => setTimeout(wake, 200))) {
		const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null);
		if (answer?.ok) return { port, stop: () => (child.kill(), exited) };
		assert.ok(Date.now() < until && child.exitCode === null, `${llama} does not serve`);
	}
}

function runTurn(wire, port, dir) {
	const home = path.join(dir, wire), tables = `[model_providers.llama]\nname = "llama-server"\nwire_api = "${wire}"
base_url = "http://127.0.0.1:${port}/v1"\n`;
	fs.mkdirSync(home);
	fs.writeFileSync(path.join(home, 'instructions.md'), 'Be brief.');
	fs.writeFileSync(path.join(home, 'config.toml'), `model = "tiny"\nmodel_provider = "llama"\nmodel_context_window = 131072
model_instructions_file = "${home}/instructions.md"\n[features]\nmulti_agent = false\n${tables}`);
	const run = (...args) => spawnSync(codex, ['exec', ...args, '--json', '--skip-git-repo-check'],
		{ cwd: home, encoding: 'utf8', input: '', env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home }, timeout: 500_000 });
	return [run('-s', 'danger-full-access', 'say it'), run('resume', '--last', 'say it again')];
}

function check(wire, { status, stdout, stderr }) {
	const events = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
	const items = events.filter((event) => event.type === 'item.completed').map((event) => event.item);
	const command = items.find((item) => item.type === 'command_execution'), answer = items.findLast((item) => item.type === 'agent_message');
	assert.equal(status, 0, `${wire}: ${stderr}${stdout}`);
	assert.match(command?.aggregated_output ?? '', /real-model/, `${wire}: no output of the command`);
	assert.equal(answer?.text, 'Done.', wire);
	return events.find((event) => event.type === 'turn.completed').usage;
}

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'codex-real-'));
const server = await startServer();
try {
	for (const wire of ['responses', 'chat', 'messages']) {
		for (const [i, run] of runTurn(wire, server.port, dir).entries()) {
			const usage = check(wire, run);
			console.log(`ok - ${wire}, ${i ? 'resumed' : 'first turn'}: call, output, answer; ${usage.input_tokens} tokens in ` +
				`(${usage.cached_input_tokens} cached), ${usage.output_tokens} out`);
		}
	}
} finally {
	await server.stop();
	fs.rmSync(dir, { recursive: true, force: true });
}
