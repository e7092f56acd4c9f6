// The rows of the reference for MCP and the tests that hold them. Rows without a test of their own have it here.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { makeHome, needs, outputOf, reply, say, startModel } from './lib/codex.mjs';
import { configOf, ECHO, itemCall, startThread } from './lib/mcp.mjs';

const options = needs('app-server');
const E2E = ['bad_input', 'cache', 'client', 'command', 'conformance', 'http', 'kills', 'login', 'oauth', 'official', 'protocol', 'reload', 'rows',
	'search', 'server', 'server_hard', 'start'].map((name) => `mcp_${name}`);
const UNIT = ['mcp_client', 'mcp_server', 'mcp_tools'];

// [section, row, words of the names of its tests]
const ROWS = [
	[1, 'command, args, env, cwd', ['the_keys_of_a_stdio_server_are_read', 'the server gets a small environment']],
	[1, 'env_vars', ['the server gets a small environment']],
	[1, 'bearer_token_env_var, http_headers, env_http_headers', ['tokens and headers are sent']],
	[1, 'http_headers_helper', ['http_headers_helper prints', 'a helper ']],
	[1, 'startup_timeout_sec, startup_timeout_ms', ['failures of the start are reported', 'the_keys_of_a_stdio_server']],
	[1, 'tool_timeout_sec', ['a call has a time limit', 'questions of a server reach']],
	[1, 'enabled', ['a_project_may_only_disable_servers', 'one server is shown']],
	[1, 'required', ['without a required server there is no session']],
	[1, 'enabled_tools, disabled_tools', ['enabled_tools and disabled_tools']],
	[1, 'default_tools_approval_mode, approval_mode', ['annotations decide which calls']],
	[1, 'supports_parallel_tool_calls', ['their outputs are in the order of the calls']],
	[1, 'scopes, oauth_resource, oauth.*', ['scopes of the user count', 'a registered client is used']],
	[1, 'startup_readiness', ['with startup_readiness']],
	[1, 'tool_input_schema_max_bytes', ['a_long_schema_loses_details']],
	[1, 'environment_id, auth', ['a server of another environment', 'auth = "chatgpt"']],
	[1, 'store, callback, grace', ['a login that must be stored in a keyring', 'one with a grace is']],
	[1, 'refusals', ['mistakes_name_the_server_and_the_key', 'options count, and a wrong server fails']],
	[2, 'handshake, revisions', ['the_handshake_has_the_documented_form', 'every_revision_with_a_handshake', 'servers of each revision']],
	[2, 'repeated cursor', ['a_start_fails_with_the_reason']],
	[2, 'lines that are no messages', ['what_is_no_message_is_skipped', 'lines that are no messages']],
	[2, 'no tools', ['a server without tools is ready']],
	[2, 'ping, roots, other requests, ids', ['requests_are_answered_under_their_ids', 'requests of the server are answered']],
	[2, 'progress', ['progress of a call is reported']],
	[2, 'list_changed', ['a changed list of tools is followed', 'a list that changes without end']],
	[2, 'tools/call', ['a_call_has_its_token_and_ends_once']],
	[2, 'child', ['the server gets a small environment']],
	[2, 'end', ['no server and no child of it survives', 'a server ends with the last thread', 'no process is left']],
	[2, 'death during a call', ['a server that dies during a call']],
	[3, 'side by side, grace', ['the first request does not wait for a slow server', 'the first request does not wait for a server']],
	[3, 'required', ['the first request waits for a required server', 'a required server is waited for']],
	[3, 'startup events', ['the start of each server is reported', 'the raw protocol has events', 'reports it as cancelled']],
	[3, 'error texts', ['failures of the start are reported', 'failures of the start name']],
	[4, 'functions for resources', ['resources are listed and read', 'without servers no tool for resources']],
	[4, 'namespaces', ['a tool is offered in a namespace']],
	[4, 'unknown tools', ['calls of tools that do not exist']],
	[4, 'schema', ['a schema that refers to itself']],
	[4, 'tool search', ['tools are found by name', 'a tool that was never searched for']],
	[4, 'names', ['names are made of letters', 'equal_names_end_in_a_hash', 'long_names_are_cut', 'characters_are_replaced']],
	[5, 'results', ['each kind of result reaches', 'results_become_what_the_model_reads']],
	[5, 'isError, errors', ['a failed result of a tool', 'an_error_counts_more_than_a_result']],
	[5, 'time-out', ['a call has a time limit']],
	[5, 'arguments', ['arguments that are no JSON']],
	[5, 'large text', ['a_long_text_is_cut', 'a result of 8 MB']],
	[5, 'items, protocol v1, exec', ['calls are part of the history', 'the raw protocol has events', 'a tool is offered in a namespace']],
	[5, 'parallel', ['their outputs are in the order of the calls']],
	[5, 'interrupt', ['an interrupted call is cancelled', 'a_cancelled_call_is_cancelled']],
	[6, 'annotations', ['annotations decide which calls']],
	[6, 'never', ['without approvals a call that needs one']],
	[6, 'question, persist', ['a call that may change something', 'an approval for the session']],
	[7, 'forms and URLs', ['questions of a server reach', 'an_accepted_form_has_the_defaults']],
	[7, 'ids', ['questions of two servers are told apart']],
	[7, 'withdrawn', ['a question that the server withdraws', 'a_question_ends_with_its_call']],
	[8, 'resources', ['resources are listed and read']],
	[9, 'mcpServerStatus/list, resource/read, tool/call', ['clients list the servers', 'clients call tools and read', 'questions during a call']],
	[9, 'reload', ['config/mcpServer/reload adds', 'a call in progress ends on the old']],
	[9, 'oauth/login', ['a client of the app-server starts a login']],
	[10, 'headers, sessions, GET', ['the SDK server is used', 'a session ends with DELETE']],
	[10, '404', ['a lost session is opened again']],
	[10, 'resumption', ['a stream that breaks off']],
	[10, 'errors', ['HTTP ${status} fails its call only', 'a server that is overloaded at first']],
	[10, '401', ['a refusal without a login names the login']],
	[11, 'discovery', ['a login finds the server', 'a server that challenges POST only', 'a server without any metadata']],
	[11, 'store, refresh', ['an expired token is refreshed', 'processes that share a home refresh']],
	[11, 'scopes', ['a missing scope names the login']],
	[12, 'list, get', ['a list shows names', 'one server is shown']],
	[12, 'add, remove', ['servers are added and removed', 'a command line that names no server']],
	[12, 'add with OAuth', ['mcp add starts the login', 'mcp add says why']],
	[12, 'login, logout', ['a login finds the server', 'servers of this machine and unknown ones have no login']],
	[13, 'tools', ['a task is run, and its thread continues', 'settings of a call count', 'wrong calls are errors']],
	[13, 'wire', ['raw messages are answered by the rules', 'the end of the input ends commands']],
	[13, 'approvals', ['accepting an elicitation approves', 'an elicitation denies a command', 'a client that cannot ask denies']],
	[13, 'cancel, side by side', ['a cancelled call is interrupted', 'calls run side by side']],
	[14, 'batches', ['batches_are_for_the_older_revisions', 'an array of messages']],
];

test('each row of the reference has a test', () => {
	const read = (path) => fs.readFileSync(new URL(path, import.meta.url), 'utf8');
	const names = [...E2E.flatMap((name) => read(`${name}.test.mjs`).match(/^\s*test\(['`].*/gm)),
		...UNIT.flatMap((name) => read(`../unit/test_${name}.c`).match(/^static void \w+\(void \*\*state\)/gm))].join('\n');
	for (const [section, row, tests] of ROWS)
		for (const words of tests) assert.ok(names.includes(words), `${section} ${row}: no test "${words}"`);
});

test('a server without tools is ready, and is no namespace', options, async (t) => {
	const { model, server, begin } = await startThread(t, { tools: [] }, [say('Done.')]);
	await begin('go');
	await server.next('turn/completed');
	assert.deepEqual(server.all('mcpServer/startupStatus/updated').map(({ params }) => params.status), ['starting', 'ready']);
	assert.ok(!JSON.stringify(model.requests()[0].body.tools).includes('mcp__s'));
});

test('calls of tools that do not exist are answered as such', options, async (t) => {
	const flat = { item: { type: 'function_call', name: 'mcp__s__echo', arguments: '{}', call_id: 'c2' } };
	const { model, server, begin } = await startThread(t, { tools: [ECHO] }, [reply(itemCall('nope', {}), flat), say('Done.')]);
	await begin('go');
	await server.next('turn/completed');
	const outputs = model.requests()[1].body.input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output);
	assert.deepEqual(outputs, ['unsupported call: mcp__snope', 'unsupported call: mcp__s__echo']);
});

test('questions of two servers are told apart, although their ids are equal', options, async (t) => {
	const asks = (message) => ({ tools: [ECHO], answers: { echo: { ask: { message, requestedSchema: { type: 'object',
		properties: { word: { type: 'string' } } } } } } });
	const model = await startModel(t, [reply(itemCall('echo', {}, 'one'), itemCall('echo', {}, 'two', 'z')), say('Done.')]);
	const home = makeHome(t, model, 'model = "gpt-5.2"\nmcp_optional_startup_grace_ms = 60000\n');
	fs.appendFileSync(path.join(home, 'config.toml'), configOf({ s: asks('first?'), z: asks('second?') }));
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', { sandbox: 'workspace-write', approvalPolicy: 'on-request' });
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const questions = [await server.next('mcpServer/elicitation/request'), await server.next('mcpServer/elicitation/request')];
	assert.notEqual(questions[0].id, questions[1].id);
	for (const { id, params } of questions.reverse())
		server.answer({ id }, { action: 'accept', content: { word: `to ${params.serverName}` } });
	await server.next('turn/completed');
	assert.deepEqual(['one', 'two'].map((id) => outputOf(model.requests()[1], id).split('Output:')[1]),
		['s', 'z'].map((name) => `{"action":"accept","content":{"word":"to ${name}"}}`));
});
