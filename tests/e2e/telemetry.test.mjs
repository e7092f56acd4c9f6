// [otel]: log records for an OpenTelemetry collector.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';

import { engines, script, startThread } from './lib/code_mode.mjs';
import { FEW_RETRIES, codexExec, failed, httpError, makeHome, needs, reply, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { startIssuer } from './lib/issuer.mjs';
import { ECHO, configOf, itemCall } from './lib/mcp.mjs';
import { approve, startProto, userInput } from './lib/proto.mjs';
import { answerOf, errorOf, runOf, sayOf, startSocketModel } from './lib/socket_model.mjs';
import { wireHome } from './lib/wires.mjs';

const options = needs('exec');
const SECRET = 'sk-proj-0123456789abcdef';

/** A collector that keeps the requests; answer(response) ends each. */
async function startCollector(t, answer = (response) => response.end('{}')) {
	const received = [];
	const server = http.createServer((request, response) => {
		let text = '';
		request.on('data', (bytes) => (text += bytes));
		request.on('end', () => {
			received.push({ url: request.url, headers: request.headers, text, body: JSON.parse(text) });
			answer(response);
		});
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.closeAllConnections() ?? server.close());
	const url = `http://127.0.0.1:${server.address().port}/v1/logs`;
	const exporter = (more = '') => `otel = { environment = "test", ${more} exporter = { otlp-http = { endpoint = "${url}", ` +
		'protocol = "json", headers = { "x-team" = "tools" } } } }';
	return { received, url, exporter };
}

const plain = (attributes) => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const recordsOf = (received) => received.flatMap(({ body }) => body.resourceLogs[0].scopeLogs[0].logRecords)
	.map(({ attributes, body, timeUnixNano }) => ({ name: body.stringValue, time: timeUnixNano, ...plain(attributes) }));

const steps = [run(`echo ${SECRET}; false`), say('done')];

test('a run sends its records by its end, without prompts, outputs and keys', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const model = await startModel(t, steps);
	const { code } = await codexExec(t, model, ['the private prompt'], { config: exporter() });
	assert.equal(code, 0);
	assert.ok(received.length >= 1);
	assert.equal(received[0].url, '/v1/logs');
	assert.equal(received[0].headers['x-team'], 'tools');
	assert.equal(received[0].headers['content-type'], 'application/json');
	const resource = plain(received[0].body.resourceLogs[0].resource.attributes);
	assert.deepEqual([resource['service.name'], resource.env], ['codex_exec', 'test']);
	const records = recordsOf(received);
	const names = records.map(({ name }) => name);
	for (const name of ['codex.conversation_starts', 'codex.user_prompt', 'codex.startup_phase', 'codex.turn_ttft', 'codex.sse_event',
		'codex.api_request', 'codex.tool_decision', 'codex.tool_result'])
		assert.ok(names.includes(name), `${name} in ${names}`);
	const prompt = records.find(({ name }) => name === 'codex.user_prompt');
	assert.deepEqual([prompt.prompt, prompt.prompt_length], ['[REDACTED]', '18']);
	const request = records.find(({ name }) => name === 'codex.api_request');
	assert.deepEqual([request.success, request['http.response.status_code']], [true, '200']);
	assert.deepEqual([request.attempt, request.endpoint], ['0', '/responses']);
	assert.match(request.duration_ms, /^\d+$/);
	const phase = records.find(({ name }) => name === 'codex.startup_phase');
	assert.deepEqual([phase['startup.phase'], phase['startup.status']], ['thread_start_total', 'ready']);
	const decision = records.find(({ name }) => name === 'codex.tool_decision');
	assert.deepEqual([decision.tool_name, decision.tool_namespace, decision.decision, decision.source],
		['exec_command', 'functions', 'approved', 'Config']);
	const tool = records.find(({ name }) => name === 'codex.tool_result');
	assert.deepEqual([tool.tool_name, tool.success, 'output' in tool, 'arguments' in tool], ['exec_command', true, false, false]);
	assert.deepEqual([tool.tool_namespace, tool.tool_result_seq, tool.agent_name, tool.mcp_server, tool.mcp_server_origin],
		['functions', '1', '/root', '', '']);
	for (const record of records) {
		assert.equal(record['event.name'], record.name);
		assert.match(record['conversation.id'], /^[0-9a-f-]{36}$/);
		assert.match(record.time, /^\d{19}$/);
	}
	assert.ok(!received.some(({ text }) => text.includes(SECRET) || text.includes('private')));
});

test('records name the terminal, the summaries and the MCP servers', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const config = `${exporter()}\nmodel_reasoning_summary = "concise"\nmcp_servers = { a = { command = "/bin/false" }, b = { command = "/bin/false" } }\n`;
	await codexExec(t, await startModel(t, [say('ok')]), ['hi'], { config, env: { TERM_PROGRAM: 'iTerm.app' } });
	const records = recordsOf(received);
	const start = records.find(({ name }) => name === 'codex.conversation_starts');
	assert.deepEqual([start.reasoning_summary, start.mcp_servers], ['concise', 'a, b']);
	assert.match(records.find(({ name }) => name === 'codex.sse_event').duration_ms, /^\d+$/);
	assert.ok(records.every((it) => it['terminal.type'] === 'iTerm.app'));
});

test('log_user_prompt = true sends prompts and outputs', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	await codexExec(t, await startModel(t, steps), ['shown'], { config: exporter('log_user_prompt = true,') });
	const records = recordsOf(received);
	assert.equal(records.find(({ name }) => name === 'codex.user_prompt').prompt, 'shown');
	const result = records.find(({ name }) => name === 'codex.tool_result');
	assert.match(result.output, new RegExp(`exited with code 1\\n[^]*${SECRET}\\n$`), 'as the model has it');
	assert.equal(result.output_truncated, false);
	assert.equal(JSON.parse(result.arguments).cmd, `echo ${SECRET}; false`);
});

const resultsOf = (received) => recordsOf(received).filter(({ name }) => name === 'codex.tool_result');
const decisionsOf = (received) => recordsOf(received).filter(({ name }) => name === 'codex.tool_decision');

test('all tools have results, those that do not exist or fail, too', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n';
	const call = (name, args, more = {}) => reply({ call: name, arguments: args, ...more });
	const plan = { plan: [{ step: 'x', status: 'pending' }] }, found = { type: 'tool_search_call', call_id: 't', status: 'completed',
		execution: 'client', arguments: { query: 'agents' } };
	const agent = { item: { type: 'function_call', name: 'spawn_agent', namespace: 'multi_agent_v1', arguments: '{}', call_id: 's' } };
	const calls = [call('update_plan', plan), call('view_image', { path: 'none.png' }), call('no_such', { a: 1 }),
		call('exec_command', 'not json'),
		call('get_goal', {}), call('request_user_input', { questions: [] }), call('write_stdin', { session_id: 7, chars: 'x' }),
		reply({ custom: 'apply_patch', input: PATCH }), reply({ custom: 'apply_patch', input: 'rubbish' }),
		reply({ custom: 'no_custom', input: 'text' }),
		reply({ item: found }), reply(itemCall('foo', {}, 'n', 'ns')), reply(agent), say('done')];
	const config = `model = "gpt-5.5"\n${exporter('log_user_prompt = true,')}`;
	await codexExec(t, await startModel(t, calls), ['-s', 'workspace-write', 'go'], { config });
	const results = resultsOf(received);
	assert.deepEqual(results.map((it) => [it.tool_name, it.success]), [['update_plan', true], ['view_image', false], ['no_such', false],
		['exec_command', false], ['get_goal', true], ['request_user_input', false], ['write_stdin', false], ['apply_patch', true],
		['apply_patch', false], ['no_custom', false], ['tool_search', true], ['foo', false], ['spawn_agent', false]]);
	assert.deepEqual(results.map((it) => it.tool_result_seq), results.map((it, i) => `${i + 1}`));
	assert.deepEqual(results.slice(-3).map((it) => it.tool_namespace), ['functions', 'mcp__ns', 'multi_agent_v1']);
	assert.deepEqual([0, 2, 7].map((i) => results[i].arguments), [JSON.stringify(plan), '{"a":1}', PATCH]);
	assert.deepEqual([0, 2, 9].map((i) => results[i].output), ['Plan updated', 'unsupported call: no_such', 'unsupported custom tool call: no_custom']);
	assert.ok(results.every((it) => /^\d+$/.test(it.duration_ms)));
	assert.deepEqual(decisionsOf(received).map((it) => [it.tool_name, it.decision, it.source]), [['apply_patch', 'approved', 'Config']],
		'a patch that is none, and calls of other tools, need no decision');
});

test('a result has the output before hooks replace it, and calls that hooks block have none', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const hook = (event, command) => `[[hooks.${event}]]\nmatcher = "Bash"\n[[hooks.${event}.hooks]]\ntype = "command"\n` +
		`command = ${JSON.stringify(command)}\n`;
	const model = await startModel(t, [run('echo BLOCKED'), run('echo original'), say('done')]);
	const home = makeHome(t, model, exporter('log_user_prompt = true,'));
	fs.appendFileSync(`${home}/config.toml`, hook('PreToolUse', 'if grep -q BLOCKED; then echo no >&2; exit 2; fi') +
		hook('PostToolUse', 'echo replaced >&2; exit 2'));
	await codexExec(t, model, ['--dangerously-bypass-hook-trust', 'go'], { home });
	assert.match(JSON.stringify(model.requests().at(-1).body), /replaced/);
	assert.deepEqual(resultsOf(received).map((it) => /Output:\noriginal\n$/.test(it.output)), [true]);
});

test('a script has a result, and so have its calls', { skip: options.skip || !engines.length }, async (t) => {
	const { received, exporter } = await startCollector(t);
	const lines = [script('text((await tools.exec_command({ cmd: "echo inner" })).output)'), script('throw new Error("no")')];
	const thread = await startThread(t, lines, { engine: engines[0], config: exporter('log_user_prompt = true,') });
	await thread.turn();
	assert.equal((await thread.turn()).status, 'completed');
	await thread.server.end();
	const results = resultsOf(received);
	assert.deepEqual(results.map((it) => [it.tool_name, it.success]), [['exec_command', true], ['exec', true], ['exec', false]]);
	assert.match(results[0].call_id, /^exec-/);
	assert.deepEqual(results.map((it) => /inner/.test(it.output)), [true, true, false]);
	assert.match(results[1].output, /^Script completed/);
});

test('the answer to a secret question is not in its result', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const questions = [{ id: 'key', header: 'Key', question: 'Which?', isSecret: true, options: [{ label: 'a', description: 'b' }] }];
	const model = await startModel(t, [reply({ call: 'request_user_input', arguments: { questions } }), say('ok')]);
	const proto = startProto(t, model, { config: `${exporter('log_user_prompt = true,')}\nfeatures = { default_mode_request_user_input = true }` });
	proto.submit('1', userInput('go'));
	await proto.next('request_user_input');
	proto.submit('2', { type: 'user_input_answer', id: '1', response: { answers: { key: { answers: [SECRET] } } } });
	await proto.next('task_complete');
	await proto.end();
	assert.match(JSON.stringify(model.requests()[1].body), new RegExp(SECRET), 'the model has it');
	const [{ output }] = resultsOf(received);
	assert.deepEqual([output.includes('[secret]'), output.includes(SECRET)], [true, false]);
});

test('a long output is cut, and marked', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	await codexExec(t, await startModel(t, [run('seq 1 9999'), say('done')]), ['go'], { config: exporter('log_user_prompt = true,') });
	assert.deepEqual(resultsOf(received).map((it) => [it.output_truncated, it.output.length]), [[true, 16384]]);
});

test('nothing is sent by default, and a collector that fails changes nothing', options, async (t) => {
	const { received } = await startCollector(t);
	await codexExec(t, await startModel(t, [say('ok')]), ['hi']);
	assert.equal(received.length, 0);
	const broken = await startCollector(t, (response) => response.socket.destroy());
	const silent = await startCollector(t, () => {});
	for (const { exporter } of [broken, silent]) {
		const { code, stdout } = await codexExec(t, await startModel(t, [say('ok')]), ['hi'], { config: exporter() });
		assert.deepEqual([code, stdout], [0, 'ok\n']);
	}
});

test('a failed response is an event of its stream', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const { code } = await codexExec(t, await startModel(t, [failed('invalid_prompt', 'no')]), ['hi'], { config: exporter() });
	assert.equal(code, 1);
	const records = recordsOf(received);
	assert.equal(records.find(({ name }) => name === 'codex.api_request').success, true);
	const failure = records.find((it) => it['event.kind'] === 'response.failed');
	assert.deepEqual([failure.name, failure['error.message']], ['codex.sse_event', '[REDACTED]']);
});

test('each attempt is a record, with its status, its number and the endpoint without query parameters', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const model = await startModel(t, [httpError(503, { error: { message: 'private' } }), say('ok')]);
	const provider = `query_params = { key = "${SECRET}" }\n`;
	const home = makeHome(t, model, exporter());
	fs.appendFileSync(`${home}/config.toml`, provider); // the provider is the last table of the file
	assert.equal((await codexExec(t, model, ['hi'], { home })).code, 0);
	const attempts = recordsOf(received).filter(({ name }) => name === 'codex.api_request');
	assert.deepEqual(attempts.map((it) => [it.attempt, it['http.response.status_code'], it['error.message'], it.success, it.endpoint]),
		[['0', '503', 'http 503', false, '/responses'], ['1', '200', undefined, true, '/responses']]);
	assert.ok(!received.some(({ text }) => text.includes(SECRET) || text.includes('private')));
});

test('a server that cannot be reached is a record without a status', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const model = await startModel(t, [say('unused')]);
	const home = makeHome(t, model, exporter());
	await model.stop();
	assert.equal((await codexExec(t, model, [...FEW_RETRIES, 'hi'], { home })).code, 1);
	const attempts = recordsOf(received).filter(({ name }) => name === 'codex.api_request');
	assert.ok(attempts.length >= 1);
	assert.deepEqual([attempts[0].success, attempts[0]['error.message'], 'http.response.status_code' in attempts[0]], [false, '[REDACTED]', false]);
});

test('the events of a response are records, equal ones in a row one record', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	await codexExec(t, await startModel(t, [reply({ message: ['a', 'b', 'c'] })]), ['hi'], { config: exporter() });
	const events = recordsOf(received).filter(({ name }) => name === 'codex.sse_event');
	assert.deepEqual(events.map((it) => it['event.kind']), ['response.created', 'response.output_item.added', 'response.output_text.delta',
		'response.output_item.done', 'response.completed', 'response.completed']);
	assert.deepEqual(events.map((it) => it.count), [undefined, undefined, '3', undefined, undefined, undefined]);
	assert.deepEqual(events.map((it) => 'duration_ms' in it), [true, true, true, true, true, false]);
	assert.match(events.at(-1).input_token_count, /^\d+$/);
});

/** The records of attempts over a WebSocket, and of responses that failed there. */
async function attemptsOnSocket(t, answers) {
	const { received, exporter } = await startCollector(t);
	const server = await startSocketModel(t, answers);
	const home = wireHome(t, server, `${exporter()}\n`, 'supports_websockets = true\nrequest_max_retries = 0\nstream_max_retries = 0\n');
	await codexExec(t, null, ['go'], { home });
	assert.equal(server.posts.length, 0);
	return recordsOf(received).filter((it) => it.name === 'codex.api_request' || it['event.kind'] === 'response.failed')
		.map((it) => it['event.kind'] ?? [it.attempt, it['http.response.status_code'], it['error.message'], it.success]);
}

test('an attempt over a WebSocket has the status of its first message, and a later failure is a failed response', options, async (t) => {
	const good = ['0', '101', undefined, true], error = errorOf(429, { message: 'private' });
	assert.deepEqual(await attemptsOnSocket(t, [runOf('true', 'c1'), sayOf('Done.')]), [good, good]);
	assert.deepEqual(await attemptsOnSocket(t, [error]), [['0', '429', 'http 429', false]]);
	assert.deepEqual(await attemptsOnSocket(t, [[answerOf()[0], ...error]]), [good, 'response.failed']);
	assert.deepEqual(await attemptsOnSocket(t, [{ drop: true }]), [['0', undefined, '[REDACTED]', false]]);
	const forgotten = errorOf(400, { type: 'invalid_request_error', code: 'previous_response_not_found', message: 'gone' });
	assert.deepEqual(await attemptsOnSocket(t, [forgotten, sayOf('Done.')]), [['0', '400', 'http 400', false], good]);
});

test('an attempt that failed is not recorded again when the next one has no login', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const issuer = await startIssuer(t);
	const home = issuer.home(tempDir(t, 'home'), { config: exporter() });
	issuer.overrides.set('/backend/codex/responses', (request) => {
		fs.rmSync(path.join(home, 'auth.json'), { force: true }); // libcurl sends a request again if a connection made in advance is lost
		request.socket.destroy();
		return [500, {}];
	});
	const args = ['request_max_retries=1', 'stream_max_retries=0', 'supports_websockets=false'].flatMap((it) => ['-c', `model_providers.openai.${it}`]);
	assert.equal((await runCodex(t, ['exec', '--skip-git-repo-check', ...args, 'hi'], { home, env: issuer.env })).code, 1);
	const attempts = recordsOf(received).filter(({ name }) => name === 'codex.api_request');
	assert.deepEqual(attempts.map((it) => [it.attempt, it.success]), [['0', false]]);
});

test('exporters that this version lacks are errors before the model is asked', options, async (t) => {
	const model = await startModel(t, [say('unused')]);
	const refused = async (otel, message) => {
		const { code, stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', 'hi'], { home: makeHome(t, model, `otel = ${otel}`) });
		assert.equal(code, 1);
		assert.match(stderr, message);
	};
	await refused('{ exporter = { otlp-grpc = { endpoint = "http://127.0.0.1:1" } } }', /config\.toml:\d+: `otlp-grpc` .*use otlp-http/);
	await refused('{ exporter = { otlp-http = { endpoint = "http://127.0.0.1:1", protocol = "binary" } } }', /protocol = "json"/);
	await refused('{ exporter = { otlp-http = { protocol = "json" } } }', /needs an endpoint/);
	await refused('{ exporter = { otlp-http = { endpoint = "http://h/", protocol = "json", tls = {} } } }', /`tls` .*SSL_CERT_FILE/);
	await refused('{ exporter = { otlp-http = { endpoint = "http://h/", protocol = "json", headers = { a = "x\\ny" } } } }', /`a` .*line ends/);
	await refused('{ exporter = 5 }', /`exporter`/);
	await refused('{ environment = 5 }', /`environment` .*string/);
	await refused('{ log_user_prompt = "yes" }', /`log_user_prompt` .*true or false/);
	assert.equal(model.requests().length, 0);
	const { code, stderr } = await codexExec(t, await startModel(t, [say('ok')]), ['hi'],
		{ config: 'otel = { trace_exporter = { otlp-http = {} }, exporter = "none" }' });
	assert.deepEqual([code, /traces and metrics are not sent/.test(stderr)], [0, true]);
});

test('the decisions of the user are recorded', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const ask = (call_id) => reply({ call: 'exec_command', call_id,
		arguments: { cmd: call_id === 'stop' ? 'touch y' : 'touch x', sandbox_permissions: 'require_escalated', justification: 'why' } });
	const model = await startModel(t, [ask('yes'), ask('no'), ask('for'), ask('again'), ask('stop')]);
	const proto = startProto(t, model, { config: `approval_policy = "on-request"\nsandbox_mode = "read-only"\n${exporter()}` });
	proto.submit('1', userInput('go'));
	for (const decision of ['approved', 'denied', 'approved_for_session', 'abort']) {
		const { msg } = await proto.next('exec_approval_request');
		proto.submit(`a-${decision}`, approve(msg.call_id, decision));
	}
	await proto.next('turn_aborted');
	await proto.end();
	assert.deepEqual(decisionsOf(received).map((it) => [it.call_id, it.decision, it.source]), [
		['yes', 'approved', 'User'], ['no', 'denied', 'User'],
		['for', 'approved_for_session', 'User'], ['again', 'approved_for_session', 'User'], ['stop', 'abort', 'User']]);
	assert.deepEqual(resultsOf(received).map((it) => [it.call_id, it.success]), [['yes', true], ['no', false], ['for', true], ['again', true]]);
});

test('records say where keys could come from, and have none', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const model = await startModel(t, [say('ok'), say('ok')]), home = makeHome(t, model, exporter());
	const authOf = (records, name) => Object.fromEntries(Object.entries(records.find((it) => it.name === name)).filter(([key]) => key.startsWith('auth.'))
		.map(([key, value]) => [key.slice(5), value]));
	const bare = { env_openai_api_key_present: false, env_codex_api_key_present: false, env_codex_api_key_enabled: true,
		env_refresh_token_url_override_present: false };
	const sent = { header_attached: false, retry_after_unauthorized: false };
	await codexExec(t, model, ['hi'], { home });
	assert.deepEqual(authOf(recordsOf(received), 'codex.conversation_starts'), bare);
	assert.deepEqual(authOf(recordsOf(received), 'codex.api_request'), { ...bare, ...sent });
	received.length = 0;
	fs.appendFileSync(`${home}/config.toml`, 'env_key = "TEAM_KEY"\n'); // the provider is the last table of the file
	await codexExec(t, model, ['hi'], { home, env: { OPENAI_API_KEY: SECRET, TEAM_KEY: SECRET } });
	const keyed = { ...bare, env_openai_api_key_present: true, env_provider_key_name: 'configured', env_provider_key_present: true };
	assert.deepEqual(authOf(recordsOf(received), 'codex.conversation_starts'), keyed);
	assert.deepEqual(authOf(recordsOf(received), 'codex.api_request'), { ...keyed, ...sent, header_attached: true, header_name: 'authorization' });
	assert.ok(!received.some(({ text }) => text.includes(SECRET) || text.includes('TEAM_KEY')));
	received.length = 0;
	fs.appendFileSync(`${home}/config.toml`, 'wire_api = "messages"\nrequest_max_retries = 0\n');
	await codexExec(t, model, ['hi'], { home, env: { TEAM_KEY: SECRET } });
	assert.equal(authOf(recordsOf(received), 'codex.api_request').header_name, 'x-api-key');
});

test('a new token after a refused one is a retry', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const issuer = await startIssuer(t), home = issuer.home(tempDir(t, 'home'), { config: exporter() });
	let refusals = 1;
	issuer.overrides.set('/backend/codex/responses', () => refusals-- > 0 ? [401, { error: { message: 'old' } }] : [400, { error: { message: 'no' } }]);
	await runCodex(t, ['exec', '--skip-git-repo-check', '-c', 'model_providers.openai.supports_websockets=false', 'hi'], { home, env: issuer.env });
	const attempts = recordsOf(received).filter(({ name }) => name === 'codex.api_request');
	assert.deepEqual(attempts.map((it) => [it['http.response.status_code'], it['auth.header_attached'], it['auth.retry_after_unauthorized']]),
		[['401', true, false], ['400', true, true]]);
});

test('the tokens of a response have its effort, the time to its first output, and what went to the cache', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const event = { type: 'response.completed', response: { id: 'r', usage: { input_tokens: 9, output_tokens: 1, total_tokens: 10,
		input_tokens_details: { cached_tokens: 2, cache_write_tokens: 5 } } } };
	const model = await startModel(t, [reply({ message: 'ok' }, { event })]);
	await codexExec(t, model, ['hi'], { config: `model = "gpt-5.5"\nmodel_reasoning_effort = "high"\n${exporter()}` });
	const tokensOf = () => recordsOf(received).find((it) => it.input_token_count);
	const { cache_write_token_count: writes, cached_token_count: reads, model_reasoning_effort: effort, ttft_ms: ttft } = tokensOf();
	assert.deepEqual([writes, reads, effort], ['5', '2', 'high']);
	assert.match(ttft, /^\d+$/);
	assert.equal(recordsOf(received).find(({ name }) => name === 'codex.conversation_starts').reasoning_effort, 'high');
	received.length = 0;
	const found = { type: 'web_search_call', id: 'w', status: 'completed', action: { type: 'search', query: 'x' } };
	await codexExec(t, await startModel(t, [reply({ item: found })]), ['hi'], { config: `model = "unknown"\n${exporter()}` });
	assert.deepEqual(['ttft_ms', 'model_reasoning_effort'].map((it) => it in tokensOf()), [false, false], 'nothing is made up');
});

test('calls of MCP servers have a result with the server and the origin of its URL', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const results = { initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
		'tools/list': { tools: [ECHO] }, 'tools/call': { content: [{ type: 'text', text: '"isError":true' }], structuredContent: { isError: true } } };
	const web = http.createServer((request, response) => {
		let body = '';
		request.on('data', (bytes) => (body += bytes)).on('end', () => {
			const { id, method } = body ? JSON.parse(body) : {};
			if (!results[method]) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
			response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
		});
	});
	await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
	t.after(() => web.closeAllConnections() ?? web.close());
	const origin = `127.0.0.1:${web.address().port}`;
	const model = await startModel(t, [reply(itemCall('echo', {}, 'c1', 's')), reply(itemCall('echo', {}, 'c2', 'w')), run('true'), say('ok')]);
	const servers = configOf({ s: { tools: [ECHO], answers: { echo: { result: { isError: true, content: [] } } } } }) +
		`[mcp_servers.w]\nurl = "http://eve:${SECRET}@${origin}/mcp?key=${SECRET}"\n`;
	const home = makeHome(t, model, `model = "gpt-5.2"\nmcp_optional_startup_grace_ms = 60000\n${exporter()}`);
	fs.appendFileSync(`${home}/config.toml`, servers);
	await codexExec(t, model, ['go'], { home });
	const calls = recordsOf(received).filter(({ name }) => name === 'codex.tool_result');
	assert.deepEqual(calls.map((it) => [it.tool_result_seq, it.tool_name, it.tool_namespace, it.success, it.mcp_server, it.mcp_server_origin]),
		[['1', 'echo', 'mcp__s', false, 's', 'stdio'], ['2', 'echo', 'mcp__w', true, 'w', `http://${origin}`],
			['3', 'exec_command', 'functions', true, '', '']]);
	assert.ok(!received.some(({ text }) => text.includes(SECRET)));
});

test('the calls of a subagent have its name', options, async (t) => {
	const { received, exporter } = await startCollector(t);
	const model = await startModel(t, [{ when: { contains: 'count pears', lacks: 'ROOT' }, ...run('echo sub') },
		{ when: { contains: 'count pears', lacks: 'ROOT' }, ...say('Five.') },
		reply({ call: 'spawn_agent', arguments: { task_name: 'pears', message: 'count pears', fork_turns: 'none' } }),
		reply({ call: 'wait_agent', arguments: {} }), run('echo root'), say('done')]);
	const home = makeHome(t, model, exporter());
	fs.appendFileSync(`${home}/config.toml`, '[features]\nmulti_agent_v2 = true\n');
	await codexExec(t, model, ['ROOT'], { home });
	const results = recordsOf(received).filter(({ name }) => name === 'codex.tool_result');
	assert.deepEqual(results.map((it) => [it.agent_name, it.tool_result_seq]).sort(),
		[['/root', '1'], ['/root', '2'], ['/root', '3'], ['/root/pears', '1']]);
});
