// The rows of the protocol's reference and the tests that hold them, with the official SDK as the client. Rows without a test
// of their own have it here: tool calls of other kinds than commands, patches and MCP tools, and the ends of a prompt.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { needs, reply, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { startAcp } from './lib/acp.mjs';

const options = needs('acp');
const FILES = ['acp_basic', 'acp_sessions', 'acp_mcp', 'acp_bad_input', 'acp_rows', 'guardian'];

// [section, row, words of the names of its tests]
const ROWS = [
	[1, '-32700, id null', ['lines that are not requests', 'bytes that are not text']],
	[1, '-32600, id null', ['lines that are not requests']],
	[1, '-32601', ['unknown methods are refused']],
	[1, '-32602', ['wrong parameters are refused']],
	[1, '-32603', ['at most 256 sessions are open']],
	[1, '-32002', ['unknown sessions are -32002']],
	[1, '-32000 / -32800', ['a provider without a key needs authentication', '$/cancel_request answers the prompt']],
	[2, 'initialize', ['initialize answers version 1', 'methods before initialize']],
	[2, 'authenticate, logout', ['authenticate stores a key']],
	[3, 'session/new', ['a prompt is answered after its last update', 'additionalDirectories are writable']],
	[3, 'session/load', ['session/load sends the history', 'a stored session keeps its title']],
	[3, 'session/resume', ['session/resume opens']],
	[3, 'session/list', ['session/list pages']],
	[3, 'session/fork', ['session/fork has the history']],
	[3, 'session/close', ['session/close frees']],
	[3, 'session/delete', ['session/delete of an open session']],
	[3, 'session/set_mode', ['a mode takes effect with the next prompt']],
	[3, 'session/set_config_option', ['options take effect with the next prompt']],
	[3, 'mcpServers', ['a server over stdio is started', 'a server over HTTP gets its headers', 'servers of the client join']],
	[3, 'two sessions', ['two sessions run at once']],
	[4, 'modes', ['the mode at the start is that of config.toml', 'ACP: the mode follows']],
	[4, 'agent', ['ACP: the mode agent reviews']],
	[5, 'blocks', ['all blocks of a prompt reach']],
	[5, 'end_turn, cancelled', ['a prompt is answered after', 'session/cancel ends a prompt']],
	[5, 'refusal, max_tokens', ['a filtered and a full response']],
	[5, 'a failing model', ['a failing model is an error']],
	[5, 'session/cancel', ['session/cancel ends a running command', 'waits for a permission', 'cancels without a running prompt']],
	[6, 'message chunks', ['a prompt is answered after']],
	[6, 'tool_call, tool_call_update', ['a command is one tool call']],
	[6, 'plan', ['a plan is sent whole']],
	[6, 'available_commands_update', ['a prompt is answered after', 'a skill is announced']],
	[6, 'current_mode_update, config_option_update', ['a mode takes effect', 'options take effect']],
	[6, 'session_info_update, usage_update', ['a prompt is answered after']],
	[6, 'command', ['a command is one tool call', 'a client that shows terminals']],
	[6, 'patch', ['a patch is one tool call', 'a patch that does not fit']],
	[6, 'MCP call', ['session/load keeps the input and the output of MCP calls']],
	[6, 'web search, image', ['a web search and an image are tool calls']],
	[7, 'command', ['a command outside the sandbox', 'an answer that is not an offered permission', 'allow_always is not asked again']],
	[7, 'patch', ['a patch in read-only mode asks']],
	[7, 'MCP tool', ['a call of a tool that writes asks', 'allow_session is valid for the session']],
	[7, 'elicitation', ['a form of a server reaches', 'a client without forms makes the server receive cancel']],
	[8, 'fs/read_text_file', ['the model reads unsaved text']],
	[8, 'fs/write_text_file', ['a write through the editor needs a permission']],
	[9, 'status, mcp, skills', ['/status, /mcp and /skills', '/mcp reconnect starts']],
	[9, 'plan, rename', ['/rename sets the title']],
	[9, 'review, compact, unknown ones', ['/compact and /review run']],
	[9, 'review-branch, review-commit', ['/review-branch and /review-commit']],
	[9, 'goal', ['/goal works turn after turn', 'session/cancel pauses a goal']],
	[9, 'logout', ['a logout by']],
	[9, '$skill', ['a skill is announced']],
	[10, 'EOF', ['an editor that vanishes while a command runs', 'an editor that ends while a session is opened']],
];

test('each row of the reference has a test', () => {
	const names = FILES.map((name) => fs.readFileSync(new URL(`${name}.test.mjs`, import.meta.url), 'utf8')).join('\n')
		.match(/^\s*test\(['`].*/gm).join('\n');
	for (const [section, row, tests] of ROWS)
		for (const words of tests) assert.ok(names.includes(words), `${section} ${row}: no test "${words}"`);
});

test('a filtered and a full response have their own stop reasons', options, async (t) => {
	const cut = (reason) => reply({ delta: 'Half' }, { event: { type: 'response.incomplete',
		response: { id: 'resp_1', status: 'incomplete', incomplete_details: { reason } } } });
	const model = await startModel(t, [cut('content_filter'), cut('max_output_tokens')]);
	const acp = await startAcp(t, model);
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, 'one')).stopReason, 'refusal');
	assert.equal((await acp.prompt(sessionId, 'two')).stopReason, 'max_tokens');
	await acp.end();
});

test('a web search and an image are tool calls of their kinds', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
	fs.writeFileSync(path.join(cwd, 'a.png'), Buffer.from(png, 'base64'));
	const model = await startModel(t, [reply({ item: { type: 'web_search_call', id: 'ws_1', status: 'completed',
		action: { type: 'search', query: 'weather' } } }, { call: 'view_image', arguments: { path: 'a.png' } }), say('Done.')]);
	const acp = await startAcp(t, model, { cwd });
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, 'go')).stopReason, 'end_turn');
	assert.deepEqual(acp.calls(sessionId).map((it) => [it.kind, it.status]), [['fetch', 'completed'], ['read', 'completed']]);
	assert.equal(acp.calls(sessionId)[1].locations[0].path, path.join(cwd, 'a.png'));
	await acp.end();
});

test('/review-branch and /review-commit review what they name', options, async (t) => {
	const cwd = tempDir(t, 'repo');
	const git = (...args) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd, encoding: 'utf8' });
	git('init', '-q', '-b', 'main');
	git('commit', '-q', '--allow-empty', '-m', 'first');
	const finding = JSON.stringify({ findings: [], overall_correctness: 'patch is correct', overall_explanation: 'All good.',
		overall_confidence_score: 1 });
	const model = await startModel(t, [say(finding), say(finding)]);
	const acp = await startAcp(t, model, { cwd });
	const { sessionId } = await acp.newSession();
	assert.equal((await acp.prompt(sessionId, '/review-branch')).stopReason, 'end_turn');
	assert.match(acp.text(sessionId), /Name the branch/);
	assert.equal((await acp.prompt(sessionId, '/review-branch main')).stopReason, 'end_turn');
	assert.equal((await acp.prompt(sessionId, `/review-commit ${git('rev-parse', 'HEAD').trim()}`)).stopReason, 'end_turn');
	const asked = model.requests().map((request) => textsOf(request, 'user').at(-1));
	assert.match(asked[0], /main/);
	assert.match(asked[1], new RegExp(git('rev-parse', 'HEAD').trim()));
	await acp.end();
});

test('a skill is announced as a command, and reaches the model by its name', options, async (t) => {
	const cwd = tempDir(t, 'cwd'), folder = path.join(cwd, '.codex/skills/greet');
	fs.mkdirSync(folder, { recursive: true });
	fs.writeFileSync(path.join(folder, 'SKILL.md'), '---\nname: greet\ndescription: Greets people.\n---\nSay good day.\n');
	const model = await startModel(t, [say('Good day.')]);
	const acp = await startAcp(t, model, { cwd });
	const { sessionId } = await acp.newSession();
	await acp.until(({ params }) => params?.update?.availableCommands?.some(({ name }) => name === '$greet'));
	assert.equal((await acp.prompt(sessionId, '$greet')).stopReason, 'end_turn');
	assert.match(JSON.stringify(model.requests()[0].body.input), /Say good day/);
	await acp.end();
});
