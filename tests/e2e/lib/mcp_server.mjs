// A scripted MCP server over stdio: `node mcp_server.mjs SCRIPT`, where SCRIPT is JSON. Every message that it receives is
// appended to the file `log`, as a line of JSON.
//   tools        the tools that it offers, in pages of `page`; many: that number of them
//   answers      {TOOL: RESULT | {error} | {raw: TEXT} | {before: [MESSAGES], result} | {exit: CODE} | {hang: true}
//                  | {ask: PARAMS, withdraw: RESULT} | {after: TOOL}, when that one has been called
//                  | {fill: BYTES} | {flood: MESSAGES}}; a list is used one after the other
//   endless      'same' or 'new': lists of tools and resources have a further page without end, under that cursor
//   initialize   members of the answer to initialize, or {error}, {exit}, {hang}
//   gate         a file that must exist before initialize is answered
//   on_start     texts that are printed first
//   stubborn     ignores SIGTERM and the end of input;  escapes: starts a child in its own session

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import readline from 'node:readline';

const script = JSON.parse(process.argv[2] ?? '{}');
const log = (line) => script.log && fs.appendFileSync(script.log, `${JSON.stringify(line)}\n`);
const put = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = new Map();
const used = new Map();
let tools = script.tools ?? [];
if (script.many) // that many tools
	tools = Array.from({ length: script.many }, (_, i) => ({ name: `tool${i}`, inputSchema: { type: 'object' },
		annotations: { readOnlyHint: true } }));
let asked = 0;
const called = new Set();
const delayed = new Map(); // answers that wait for the call of a tool

log({ started: process.pid, env: Object.keys(process.env).sort(), cwd: process.cwd() });
for (const text of script.on_start ?? [])
	process.stdout.write(text);
if (script.stderr)
	process.stderr.write(script.stderr);
if (script.stubborn) {
	process.on('SIGTERM', () => {});
	setInterval(() => {}, 1000);
}
if (script.escapes) {
	const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
	log({ child: child.pid });
}

// Plays one of the special outcomes; false if `what` is an ordinary result.
function play(id, what) {
	if (what?.exit !== undefined)
		process.exit(what.exit);
	if (what?.hang)
		return true;
	if (what?.raw !== undefined) {
		process.stdout.write(what.raw.replaceAll('ID', String(id)));
		return true;
	}
	if (what?.error) {
		put({ id, error: what.error });
		return true;
	}
	return false;
}

function page(cursor) {
	if (script.endless)
		return { tools: [{ name: `t${cursor ?? 0}`, inputSchema: { type: 'object' } }],
			nextCursor: script.endless === 'same' ? 'again' : String(Number(cursor ?? 0) + 1) };
	const size = script.page ?? tools.length;
	const from = Number(cursor ?? 0);
	const nextCursor = from + size < tools.length ? String(from + size) : undefined;
	return { tools: tools.slice(from, from + size), nextCursor };
}

function callTool(id, { name, arguments: args, _meta }) {
	const list = [script.answers?.[name]].flat();
	const at = Math.min(used.get(name) ?? 0, list.length - 1);
	used.set(name, at + 1);
	const what = list[at];
	if (what?.tools) {
		tools = what.tools;
		put({ method: 'notifications/tools/list_changed' });
	}
	for (const message of what?.before ?? [])
		put(JSON.parse(JSON.stringify(message).replaceAll('"TOKEN"', String(_meta.progressToken))));
	for (let i = 0; i < (what?.flood ?? 0); i++) put({ method: 'notifications/message', params: { level: 'info', data: `line ${i}` } });
	if (what?.fill) { // a text of that many bytes
		put({ id, result: { content: [{ type: 'text', text: 'x'.repeat(what.fill) }] } });
		return;
	}
	if (what?.after && !called.has(what.after)) {
		delayed.set(what.after, () => put({ id, result: { content: [{ type: 'text', text: `after ${what.after}` }] } }));
		return;
	}
	called.add(name);
	delayed.get(name)?.();
	if (what?.ask) {
		asked++;
		waiting.set(`ask${asked}`, (answer) =>
			put({ id, result: { content: [{ type: 'text', text: JSON.stringify(answer) }] } }));
		put({ id: `ask${asked}`, method: 'elicitation/create', params: what.ask });
		if (what.withdraw) {
			put({ method: 'notifications/cancelled', params: { requestId: `ask${asked}` } });
			setTimeout(() => put({ id, result: what.withdraw }), what.linger ?? 0);
		}
		return;
	}
	if (play(id, what))
		return;
	const result = what?.result ?? what ?? { content: [{ type: 'text', text: JSON.stringify(args ?? null) }] };
	setTimeout(() => put({ id, result }), what?.delay ?? 0);
}

function initialize(id, params) {
	if (script.gate && !fs.existsSync(script.gate)) {
		setTimeout(initialize, 10, id, params);
		return;
	}
	if (play(id, script.initialize))
		return;
	put({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: { listChanged: true } },
		serverInfo: { name: 'scripted', version: '1' }, ...script.initialize } });
}

const handlers = {
	initialize,
	'tools/list': (id, params) => {
		if (!play(id, script.list)) put({ id, result: page(params?.cursor) });
		if (script.restless) put({ method: 'notifications/tools/list_changed' }); // as often as it is asked
	},
	'tools/call': callTool,
	'resources/list': (id, params) => put({ id, result: script.endless
		? { resources: [{ uri: `x://${params?.cursor ?? 0}`, name: 'r' }], nextCursor: page(params?.cursor).nextCursor }
		: { resources: script.resources ?? [] } }),
	'resources/templates/list': (id) => put({ id, result: { resourceTemplates: script.templates ?? [] } }),
	'resources/read': (id, { uri }) => (script.contents?.[uri]
		? put({ id, result: { contents: script.contents[uri] } })
		: put({ id, error: { code: -32002, message: `no ${uri}` } })),
};

function onMessage(message) {
	log(message);
	if (message.method === undefined)
		waiting.get(message.id)?.(message.result ?? message.error);
	else if (message.id !== undefined)
		handlers[message.method]?.(message.id, message.params ?? {});
}

const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => setTimeout(() => onMessage(JSON.parse(line)), script.delay ?? 0));
lines.on('close', () => script.stubborn || process.exit(0));
