// Responses of a server that is not OpenAI's: it knows functions alone, so tools in namespaces are sent under flat names.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, needs } from './lib/codex.mjs';
import { configOf, ECHO } from './lib/mcp.mjs';
import { ANSWERS, startStrict } from './lib/wire_answers.mjs';
import { wireHome } from './lib/wires.mjs';

const exec = needs('exec');
const { say, calls } = ANSWERS.responses;

const rolloutOf = (home) => fs.readdirSync(path.join(home, 'sessions'), { recursive: true }).filter((name) => name.endsWith('.jsonl'))
	.map((name) => fs.readFileSync(path.join(home, 'sessions', name), 'utf8')).join('');
const callIn = ({ body }) => body.input.find(({ type }) => type === 'function_call');

test('functions alone, under flat names; the history keeps both parts of a name', exec, async (t) => {
	const server = await startStrict(t, 'responses', [calls([['mcp__s__echo', { say: 'hi' }, 'c1']]), say('Done.'), say('Again.')]);
	const home = wireHome(t, server, 'mcp_optional_startup_grace_ms = 60000', ''), long = 'n'.repeat(70);
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: { tools: [ECHO, { ...ECHO, name: long }] } }));
	const run = await codexExec(t, null, ['-m', 'some-model', 'go'], { home, json: true });
	assert.equal(run.code, 0, run.stderr);
	const { tools } = server.requests[0].body;
	assert.deepEqual([...new Set(tools.map(({ type }) => type))], ['function']);
	assert.ok(tools.every(({ name, parameters }) => /^[A-Za-z0-9_-]{1,64}$/.test(name) && parameters.type === 'object'));
	assert.ok(tools.some(({ name }) => name === 'mcp__s__echo'));
	assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length);
	assert.ok(tools.some(({ name }) => name.startsWith('mcp__s__nnn')));
	const done = run.events.filter(({ type, item }) => type === 'item.completed' && item.type === 'mcp_tool_call').map(({ item }) => item);
	assert.deepEqual(done.map(({ server: name, tool, status }) => [name, tool, status]), [['s', 'echo', 'completed']]);
	const { name, namespace } = callIn(server.requests[1]);
	assert.deepEqual([name, namespace], ['mcp__s__echo', undefined]);
	assert.match(rolloutOf(home), /"namespace":"mcp__s"/);
	assert.deepEqual(server.requests[1].body.tools, tools);

	const id = /"thread_id":"([^"]+)"/.exec(run.stdout)[1];
	const later = await codexExec(t, null, ['-m', 'gpt-5.2', 'resume', id, 'again'], { home });
	assert.equal(later.code, 0, later.stderr);
	const call = callIn(server.requests[2]);
	assert.deepEqual([call.name, call.namespace], ['echo', 'mcp__s']);
	assert.ok(server.requests[2].body.tools.some(({ type }) => type === 'namespace'));
	assert.deepEqual(server.faults, []);
});

test('without tools in namespaces the request is as before', exec, async (t) => {
	const server = await startStrict(t, 'responses', [calls([['exec_command', { cmd: 'echo hello' }, 'c1']]), say('Done.')]);
	const run = await codexExec(t, null, ['-m', 'some-model', 'go'], { home: wireHome(t, server) });
	assert.deepEqual([run.code, run.stdout], [0, 'Done.\n'], run.stderr);
	assert.equal(callIn(server.requests[1]).name, 'exec_command');
	assert.ok(server.requests[0].body.tools.some(({ name }) => name === 'apply_patch'));
	assert.ok(server.requests[0].body.tools.every(({ type }) => type === 'function'));
});
