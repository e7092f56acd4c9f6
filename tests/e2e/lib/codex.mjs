// Runs the program against the scripted model: the base of all end-to-end tests.
//
//   const model = await startModel(t, [say('Hello.')]);
//   const run = await codexExec(t, model, ['hi']);
//   assert.equal(run.stdout, 'Hello.\n');
//
// The program is $CODEX_BIN, or build/codex. $CODEX_MOCK_BIN, if set, is the program that runs the scripted model, so that the same
// tests can run against another implementation of Codex. Everything that is started or created here ends with the test.

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const codexBin = process.env.CODEX_BIN ?? path.join(root, 'build/codex');
const mockBin = process.env.CODEX_MOCK_BIN ?? codexBin;

/** A path below the folder of reference data next to the repository, or null if it does not exist. */
export function sharedPath(relative) {
	const full = path.join(root, '../shared', relative);
	return fs.existsSync(full) ? full : null;
}

const PATIENCE_MS = 60_000; // a program that has not ended by then is killed, and the test fails

/**
 * Options for a test that needs this command. If $CODEX_BIN names the program under test, as `./dev test` does, it must
 * have it; otherwise the test is skipped if the command or the scripted model is missing.
 */
export function needs(command) {
	if (process.env.CODEX_BIN) return { skip: false };
	const lacks = (bin, name) => {
		const { error, status, stdout } = spawnSync(bin, [name, '--help'], { encoding: 'utf8' });
		return (error || status !== 0 || !/^usage:/im.test(stdout)) && `${bin} has no command "${name}"`;
	};
	// codex itself prints the help; codex-fleet must be there, and have the model, for another answer than these.
	const lacksModel = () => {
		const { stderr } = spawnSync(mockBin, ['mock-model'], { encoding: 'utf8' });
		return !/--script FILE is required/.test(stderr) && `${mockBin} has no scripted model`;
	};
	return { skip: lacks(codexBin, command) || lacksModel() };
}

// --- replies of a script (docs/mock-model.md) -----------------------------------------------------------------------

export const reply = (...steps) => ({ reply: steps });
export const say = (message, more) => reply({ message, ...more });
export const call = (name, args, more) => reply({ call: name, arguments: args, ...more });
export const run = (cmd, more) => call('exec_command', { cmd, ...more });
export const patch = (...lines) =>
	reply({ custom: 'apply_patch', input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') });
export const httpError = (status, body, headers) => reply({ status, body, ...(headers && { headers }) });
export const failed = (code, message) =>
	reply({ start: true }, { event: { type: 'response.failed', response: { id: 'resp_f', error: { code, message } } } });
/** The same reply, to every request. */
export const forever = (answer) => ({ ...answer, times: 'forever' });
/** Flags for a run without retries. */
export const FEW_RETRIES = ['request_max_retries', 'stream_max_retries']
	.flatMap((key) => ['-c', `model_providers.mock.${key}=1`]);
/** The same reply, but only for a request that meets the conditions. */
export const expecting = (conditions, answer) => ({ expect: conditions, ...answer });

// --- folders and processes ------------------------------------------------------------------------------------------

const endings = new WeakMap();

/** Runs end() after the test, in reverse order of registration, so that a process ends before its folders are removed. */
export function atEnd(t, end) {
	if (!endings.has(t)) {
		const ends = [];
		endings.set(t, ends);
		t.after(async () => {
			const failures = [];
			while (ends.length) await Promise.resolve().then(ends.pop()).catch((error) => failures.push(error));
			if (failures.length) throw failures[0];
		});
	}
	endings.get(t).push(end);
}

/** An empty folder that is removed with the test. */
export function tempDir(t, name = 'dir') {
	const base = process.env.CODEX_E2E_DIR ?? os.tmpdir();
	const dir = fs.realpathSync(fs.mkdtempSync(path.join(base, `codex-e2e-${name}-`)));
	atEnd(t, () => fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
	return dir;
}

/** A process whose output is collected; `done` resolves to {code, signal, stdout, stderr}. lifetime: limit in ms. */
export function launch(t, bin, args, { lifetime = PATIENCE_MS, ...options } = {}) {
	const child = spawn(bin, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
	const result = { code: null, signal: null, stdout: '', stderr: '' };
	for (const name of ['stdout', 'stderr']) {
		child[name].setEncoding('utf8');
		child[name].on('data', (text) => (result[name] += text));
	}
	child.stdin?.on('error', () => {}); // a program may exit before it has read its input
	const timer = setTimeout(() => child.kill('SIGKILL'), lifetime);
	const done = new Promise((resolve, reject) => {
		child.on('error', reject);
		child.on('close', (code, signal) => {
			clearTimeout(timer);
			resolve(Object.assign(result, { code, signal }));
		});
	});
	done.catch(() => {});
	const exited = new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
	atEnd(t, () => {
		child.kill('SIGKILL');
		return exited;
	});
	return { child, result, done };
}

/** Resolves to the result of test(text so far) once it is truthy; rejects if the stream ends first. */
export function waitFor(stream, text, test) {
	return new Promise((resolve, reject) => {
		const look = () => {
			const found = test(text());
			if (found) resolve(found);
		};
		stream.on('data', look);
		stream.on('close', () => reject(new Error(`ended too early: ${text()}`)));
		look();
	});
}

// --- the scripted model ---------------------------------------------------------------------------------------------

/**
 * Starts the model on a script of these replies.
 * requests() returns the recorded requests that took a reply; stop() ends it and returns its exit status and stderr.
 * Options: lifetime, as of launch.
 */
export async function startModel(t, replies, { lifetime } = {}) {
	const dir = tempDir(t, 'model');
	const script = path.join(dir, 'script.jsonl');
	const record = path.join(dir, 'record.jsonl');
	fs.writeFileSync(script, replies.map((line) => JSON.stringify(line) + '\n').join(''));
	const server = launch(t, mockBin, ['mock-model', '--script', script, '--record', record], { lifetime });
	const url = await waitFor(server.child.stdout, () => server.result.stdout, (text) =>
		/^listening on (\S+)\n/.exec(text)?.[1]).catch(async () => {
		throw new Error(`the scripted model did not start: ${(await server.done).stderr}`);
	});
	return {
		url,
		requests: () => readLines(record).filter((request) => request.n),
		openGate: (name) => fetch(`${url}/gate/${name}`, { method: 'POST' }),
		stop: () => {
			server.child.kill('SIGTERM');
			return server.done;
		},
	};
}

/** The values of a file of JSON lines; [] if it does not exist. */
export function readLines(file) {
	if (!fs.existsSync(file)) return [];
	const text = fs.readFileSync(file, 'utf8');
	return text.slice(0, text.lastIndexOf('\n') + 1).split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

// --- the program ----------------------------------------------------------------------------------------------------

/** A CODEX_HOME whose only provider is this model; `config` is TOML that comes before the tables. */
export function makeHome(t, model, config = '') {
	const home = tempDir(t, 'home');
	// A scripted model calls the tools of a server in its first response, so the first request waits for them.
	const waits = config.includes('mcp_servers') && !config.includes('mcp_optional_startup_grace_ms');
	fs.writeFileSync(path.join(home, 'config.toml'), `model_provider = "mock"
${waits ? 'mcp_optional_startup_grace_ms = 60000' : ''}
${config}
[model_providers.mock]
name = "mock"
base_url = "${model?.url ?? 'http://127.0.0.1:9/v1'}"
`);
	return home;
}

/** Only the variables that the program needs, so that no key or setting of the developer has an effect. */
export function cleanEnv(home, extra) {
	const kept = ['PATH', 'TMPDIR', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'LD_LIBRARY_PATH'];
	const env = Object.fromEntries(kept.filter((name) => process.env[name]).map((name) => [name, process.env[name]]));
	return { ...env, HOME: home, CODEX_HOME: home, LANG: 'C.UTF-8', ...extra };
}

/**
 * Runs the program with these arguments to its end.
 * Options: home, cwd, env, input (for stdin; none: stdin is empty), onStart(child).
 */
export async function runCodex(t, args, { home, cwd, env, input = '', onStart } = {}) {
	home ??= tempDir(t, 'home');
	cwd ??= tempDir(t, 'cwd');
	const program = launch(t, codexBin, args, { cwd, env: cleanEnv(home, env) });
	program.child.stdin.end(input);
	if (onStart) await onStart(program.child);
	return { ...(await program.done), home, cwd };
}

/**
 * `codex exec` against the model, outside a git repository and without a sandbox.
 * Options: those of runCodex, config (TOML), json (adds --json and events).
 */
export async function codexExec(t, model, args, { json = false, config, home, ...options } = {}) {
	home ??= makeHome(t, model, config);
	const flags = ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', ...(json ? ['--json'] : [])];
	const result = await runCodex(t, [...flags, ...args], { home, ...options });
	if (json) result.events = result.stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
	return result;
}

/** For onStart: waits until the file is there, then sends the program a signal. */
export const signalWhenThere = (file, signal) => async (child) => {
	while (!fs.existsSync(file) && child.exitCode === null && child.signalCode === null) await new Promise((wake) => setTimeout(wake, 10));
	child.kill(signal);
};

/** All rollout files below a CODEX_HOME. */
export function rollouts(home) {
	const dir = path.join(home, 'sessions');
	if (!fs.existsSync(dir)) return [];
	return fs.readdirSync(dir, { recursive: true }).filter((name) => /rollout-.*\.jsonl$/.test(name))
		.map((name) => path.join(dir, name)).sort();
}

// --- contents of requests and events -----------------------------------------------------------------------------------

/** All texts of a request's messages with that role, in order. */
export const textsOf = (request, role) => request.body.input
	.filter((item) => item.type === 'message' && item.role === role)
	.flatMap((item) => item.content.map((part) => part.text ?? ''));

/** The output that a request gives back for a call, as text. */
export function outputOf(request, callId) {
	const item = request.body.input.find((it) => it.call_id === callId && it.type.endsWith('_output'));
	return typeof item?.output === 'string' ? item.output : item?.output?.map((part) => part.text ?? '').join('');
}

export const typesOf = (events) => events.map((event) => event.type);
/** The completed items of one type. */
export const itemsOf = (events, type) =>
	events.filter((event) => event.type === 'item.completed' && event.item.type === type).map((event) => event.item);
