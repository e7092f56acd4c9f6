// Scripted MCP servers (mcp_server.mjs) in the configuration of a test.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { startAppServer, text } from './app_server.mjs';
import { makeHome, readLines, startModel, tempDir } from './codex.mjs';

export const SERVER = fileURLToPath(new URL('mcp_server.mjs', import.meta.url));
export const ECHO = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object',
	properties: { say: { type: 'string' } } }, annotations: { readOnlyHint: true } };

const toml = (value) => JSON.stringify(value);

/** The configuration of scripted servers {NAME: SCRIPT}; keys: further lines of each table. */
export function configOf(servers, keys = '') {
	return Object.entries(servers).map(([name, script]) => `[mcp_servers.${toml(name)}]
command = ${toml(process.execPath)}
args = [${toml(SERVER)}, ${toml(JSON.stringify(script))}]
${keys}
`).join('');
}

export const itemCall = (tool, args, id = 'c1', server = 's') => ({ item: { type: 'function_call', name: tool,
	namespace: `mcp__${server}`, arguments: typeof args === 'string' ? args : JSON.stringify(args), call_id: id } });

export const WRITE = { ...ECHO, name: 'write', annotations: undefined };
export const mcpItems = (server, method) => server.all(method).map(({ params }) => params.item).filter(({ type }) => type === 'mcpToolCall');

/** A thread with one scripted server; begin(words) starts a turn. */
export async function startThread(t, script, replies, { keys, thread: more, config = '' } = {}) {
	const model = await startModel(t, replies);
	const log = path.join(tempDir(t, 'log'), 'log');
	const home = makeHome(t, model, // a model that searches for no tools
		`model = "gpt-5.2"\nmcp_optional_startup_grace_ms = 60000\n${config}`);
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { log, ...script } }, keys));
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', { sandbox: 'workspace-write', approvalPolicy: 'on-request', ...more });
	const begin = (words) => server.request('turn/start', { threadId: thread.id, input: [text(words)] });
	return { model, server, thread, begin, home, log: () => readLines(log) };
}
