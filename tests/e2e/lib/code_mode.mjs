// Scripts of the tool exec, with each JavaScript engine that codex-code-mode-host finds here.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { startAppServer, text } from './app_server.mjs';
import { codexBin, makeHome, reply, say, startModel } from './codex.mjs';

/** The program that runs scripts: $CODEX_CODE_MODE_HOST_PATH, or the one beside the program under test. */
export const hostBin = [process.env.CODEX_CODE_MODE_HOST_PATH, path.join(path.dirname(codexBin), 'codex-code-mode-host'),
	path.join(path.dirname(codexBin), 'src/code_mode_host/codex-code-mode-host')].find((file) => file && fs.existsSync(file));

export function frame(value) {
	const bytes = Buffer.from(JSON.stringify(value)), head = Buffer.alloc(4);
	head.writeUInt32LE(bytes.length);
	return Buffer.concat([head, bytes]);
}

/** The frames that a host sends for a script without calls. */
export function runHost(engine, source, { tools = [], stored = {} } = {}) {
	const run = spawnSync(hostBin, { input: frame({ t: 'start', source, tools, stored }), maxBuffer: 1 << 28, timeout: 60_000,
		env: { PATH: process.env.PATH, CODEX_CODE_MODE_ENGINE: engine } });
	const frames = [];
	for (let at = 0; at + 4 <= run.stdout.length;) {
		const size = run.stdout.readUInt32LE(at);
		frames.push(JSON.parse(run.stdout.toString('utf8', at + 4, at + 4 + size)));
		at += 4 + size;
	}
	return { frames, status: run.status, stderr: run.stderr.toString() };
}

export const engines = hostBin ? ['quickjs', 'javascriptcore', 'node'].filter((engine) =>
	runHost(engine, 'exit()').frames.some(({ t }) => t === 'done')) : [];

export const script = (input, more) => reply({ custom: 'exec', input, ...more });
export const wait = (args) => reply({ call: 'wait', arguments: args });

/** The environment of the engine for one back end. */
export const hostEnv = (engine) => ({ CODEX_CODE_MODE_HOST_PATH: hostBin, ...(engine && { CODEX_CODE_MODE_ENGINE: engine }) });

/** A thread on a model of code mode. turn() runs one turn; outputs() are the outputs of calls, in order. */
export async function startThread(t, replies, { engine, config = '', hooks, params = {}, ...options } = {}) {
	const model = await startModel(t, [...replies, { ...say('Done.'), times: 'forever' }]);
	const home = makeHome(t, model, `model = "gpt-6-sol"\n${config.includes('[mcp_') ? 'mcp_optional_startup_grace_ms = 60000' : config}`);
	if (config.includes('[mcp_')) fs.appendFileSync(path.join(home, 'config.toml'), config);
	if (hooks) fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks }));
	const server = await startAppServer(t, model, { home, env: hostEnv(engine), ...options });
	if (hooks) await trustHooks(server);
	const { thread } = await server.request('thread/start', { sandbox: 'danger-full-access', ...params });
	const last = () => model.requests().at(-1).body.input;
	return {
		model, server, thread,
		start: (words = 'go') => server.request('turn/start', { threadId: thread.id, input: [text(words)] }),
		async turn(words) {
			await this.start(words);
			return (await server.next('turn/completed')).params.turn;
		},
		outputs: () => last().filter(({ type }) => /_call_output$/.test(type)),
	};
}

/** Head and texts of an output: {head, texts}. */
export const shown = ({ output }) => typeof output === 'string' ? { head: output, texts: [] }
	: { head: output[0].text, texts: output.slice(1).map((item) => item.text ?? item.image_url) };

/** Trusts all hooks of the configuration. */
async function trustHooks(server) {
	const [{ hooks }] = (await server.request('hooks/list', {})).data;
	const value = Object.fromEntries(hooks.map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]));
	await server.request('config/batchWrite', { edits: [{ keyPath: 'hooks.state', value, mergeStrategy: 'upsert' }], reloadUserConfig: true });
}

/** Runs one script in a turn of its own, and returns what the model got. */
export async function runScript(t, source, options) {
	const thread = await startThread(t, [script(source)], options);
	await thread.turn();
	return { ...shown(thread.outputs()[0]), thread };
}

/** The command line of a process, '' after its end. */
export function commandOf(pid) {
	try {
		return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
	} catch {
		return '';
	}
}

/** All descendants of a process. */
export function children(pid) {
	const all = [];
	const list = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
	const parents = Object.fromEntries(list.map((name) => {
		try {
			return [name, / (\d+)/.exec(fs.readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) ./, ''))?.[1]];
		} catch {
			return [name, undefined];
		}
	}));
	const add = (of) => Object.keys(parents).filter((name) => parents[name] === String(of)).forEach((name) => {
		all.push(Number(name));
		add(name);
	});
	add(pid);
	return all;
}

/** The hosts of scripts that an engine runs: with node they have its name. */
export const isHost = (pid) => /code-mode-|^node\0/.test(commandOf(pid));
export const hostsOf = (pid) => children(pid).filter(isHost);
