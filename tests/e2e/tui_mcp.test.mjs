// The terminal asks for MCP servers: approval of calls, forms, URLs.

import assert from 'node:assert/strict';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { needs, outputOf, reply, say, startModel } from './lib/codex.mjs';
import { answer, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const SERVER = fileURLToPath(new URL('lib/mcp_server.mjs', import.meta.url));
const idle = (term) => term.untilGone(/esc to interrupt/);

const TOOL = { name: 'ask', inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true } };
const WRITE = { name: 'write', inputSchema: { type: 'object', properties: { say: { type: 'string' } } } };
const toml = JSON.stringify;
const configOf = (script) =>
	`[mcp_servers.s]\ncommand = ${toml(process.execPath)}\nargs = [${toml(SERVER)}, ${toml(toml(script))}]\n`;
const itemCall = (tool, args = {}) => reply({ item: {
	 type: 'function_call', name: tool, namespace: 'mcp__s', arguments: JSON.stringify(args), call_id: 'c' } });

/** A session whose server asks this during a call. */
async function elicited(t, params) {
	const model = await startModel(t, [itemCall('ask'), say('Finished.')]);
	const term = await startReady(t, model, ['go'], { config: configOf({ tools: [TOOL], answers: { ask: { ask: params } } }) });
	return { model, term, result: () => outputOf(model.requests()[1], 'c').split('Output:')[1] };
}

const FORM = { message: 'Who are you?', requestedSchema: { type: 'object', required: ['name'], properties: {
	name: { type: 'string', title: 'Name' }, age: { type: 'integer', minimum: 18 }, admin: { type: 'boolean' },
	colour: { type: 'string', enum: ['red', 'blue'], enumNames: ['Red', 'Blue'], default: 'blue' },
	tags: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] } } } } };

test('a form of a server: texts, numbers, choices and lists; bad values are named', options, async (t) => {
	const { term, result } = await elicited(t, FORM);
	await term.until(/Field 1\/5 \(5 unanswered\) · s\nWho are you\?\n\nName \(required\)/);
	await answer(term, '\r');
	await term.until(/an answer is required here/);
	await answer(term, 'Ada', '\r');
	await term.until(/^age/m);
	await answer(term, '7', '\r');
	await term.until(/this number is too small/);
	await answer(term, '\x15', '36', '\r');
	await term.until(/› 1\. true +yes/);
	await answer(term, '\r');
	await term.until(/› 2\. blue +Blue/);
	await answer(term, '\r');
	await term.until(/› 1\. \[ \] x/);
	await answer(term, ' ', '\x1b[B', '\x1b[B', ' ');
	await term.until(/› 3\. \[x\] z/);
	await answer(term, '\r');
	await term.until(/Finished\./);
	assert.deepEqual(JSON.parse(result()), { action: 'accept', content: { name: 'Ada', age: 36, admin: true, colour: 'blue', tags: ['x', 'z'] } });
	await idle(term);
	await leave(term);
});

test('a form of a server that does not fit is not answered unseen', options, async (t) => {
	const { term, result } = await elicited(t, { message: `Agree?\n${'clause\n'.repeat(80)}the end`, requestedSchema: { type: 'object', properties: {
		name: { type: 'string', default: 'one\ntwo\nthree\nfour\nfive\nsix\nseven\nlast' },
		tags: { type: 'array', items: { type: 'string', enum: Array.from({ length: 40 }, (_, i) => `tag${i}`) }, default: ['tag39'] } } } });
	await term.until(/Agree\?[^]*… ctrl-a shows all/);
	await answer(term, '\r');
	await term.until(/R E Q U E S T/);
	term.type('\x1b[F');
	await term.until(/the end[^]*\nseven\nlast/);
	term.type('q');
	await term.until(/Field 1\/2/);
	await answer(term, '\r');
	await term.until(/Field 2\/2 \(1 unanswered\)[^]*… ctrl-a shows all/);
	await answer(term, '\r');
	await term.until(/R E Q U E S T/);
	term.type('\x1b[F');
	await term.until(/40\. \[x\] tag39/);
	term.type('q');
	await term.until(/Field 2\/2/);
	await answer(term, '\r');
	await term.until(/Finished\./);
	assert.match(result(), /"action":"accept"[^]*"tags":\["tag39"\]/);
	await idle(term);
	await leave(term);
});

for (const [name, key, action] of [['Esc cancels', '\x1b', 'cancel'], ['Ctrl-D declines', '\x04', 'decline']]) {
	test(`a form of a server: ${name}`, options, async (t) => {
		const { term, result } = await elicited(t, FORM);
		await term.until(/Who are you\?/);
		await answer(term, key);
		await term.until(/Finished\./);
		assert.equal(JSON.parse(result()).action, action);
		await idle(term);
		await leave(term);
	});
}

test('a URL of a server is shown, and opened by the user alone', options, async (t) => {
	const { term, result } = await elicited(t, { mode: 'url', message: 'Log in.', url: 'https://example.org/\u202ex', elicitationId: 'e1' });
	await term.until(/The MCP server s asks you to open a page\n\nLog in\.\n\nhttps:\/\/example\.org\/\\u\{202e\}x/);
	await answer(term, 'y');
	await term.until(/Finished\./);
	assert.equal(JSON.parse(result()).action, 'accept');
	await idle(term);
	await leave(term);
});

test('a call of a tool whose server config.toml does not have is not allowed for ever', options, async (t) => {
	const model = await startModel(t, [itemCall('write', { say: 'hi' }), say('Finished.')]);
	const term = await startReady(t, model, ['-c', `mcp_servers.s.command=${toml(process.execPath)}`,
		'-c', `mcp_servers.s.args=[${toml(SERVER)}, ${toml(toml({ tools: [WRITE] }))}]`, 'go'], { config: 'mcp_optional_startup_grace_ms = 60000\n' });
	await term.until(/1\. Yes, run the tool \(y\).*\n.*in this session \(a\)\n +3\. No, and continue without it \(d\)/);
	await answer(term, '3');
	await term.until(/Finished\./);
	assert.match(outputOf(model.requests()[1], 'c'), /user rejected MCP tool call/);
	await idle(term);
	await leave(term);
});

for (const [name, key, wanted] of [['y runs it', 'y', /\{"say":"hi"\}/],
	['d goes on without it', 'd', /user rejected MCP tool call/], ['Esc cancels it', '\x1b', /user cancelled MCP tool call/]]) {
	test(`a call of a server's tool: ${name}`, options, async (t) => {
		const model = await startModel(t, [itemCall('write', { say: 'hi' }), say('Finished.')]);
		const term = await startReady(t, model, ['go'], { config: configOf({ tools: [WRITE] }) });
		await term.until(/Allow the s MCP server to run tool "write"\?\n\n {2}say: hi\n\n› 1\. Yes, run the tool \(y\)/);
		await answer(term, key);
		await term.until(/Finished\./);
		assert.match(outputOf(model.requests()[1], 'c'), wanted);
		await idle(term);
		await leave(term);
	});
}

test('a form that is asked for during the call of a subagent names it, here and in an attached terminal', options, async (t) => {
	const script = { tools: [TOOL], answers: { ask: { ask: FORM } } };
	const child = (contains, ...steps) => ({ when: { contains, lacks: 'rootword' }, reply: steps });
	const model = await startModel(t, [child('function_call_output', { message: 'Asked.' }),
		{ ...itemCall('ask'), when: { contains: 'ask them', lacks: 'rootword' } },
		reply({ call: 'spawn_agent', arguments: { message: 'ask them' } }), reply({ gate: 'a' }, { message: 'Finished.' })]);
	const term = await startReady(t, model, ['rootword'], { config: `features.multi_agent = true\n${configOf(script)}` });
	const named = /^\S+ asks: Field 1\/5 \(5 unanswered\) · s$/m;
	await term.until(named);
	const guest = await startReady(t, model, ['attach'], { home: term.home, cwd: term.cwd });
	await guest.until(named);
	await answer(guest, '\x1b');
	for (const each of [term, guest]) await each.untilGone(named);
	await model.openGate('a');
	await term.until(/• Finished\./);
	guest.close();
	await guest.done;
	await idle(term);
	await leave(term);
});

test('/approve shows the arguments of a call that the reviewer denied', options, async (t) => {
	const denied = say(JSON.stringify({ outcome: 'deny', risk_level: 'high', user_authorization: 'low', rationale: 'Why?' }));
	const model = await startModel(t, [itemCall('write', { say: 'a\u202eb', to: 'all' }), denied, say('No.')]);
	const config = `approvals_reviewer = "auto_review"\napproval_policy = "on-request"\n${configOf({ tools: [WRITE], answers: { write: {} } })}`;
	const term = await startReady(t, model, ['go'], { config, rows: 40 });
	await term.until(/• No\./);
	await idle(term);
	await enter(term, '/approve');
	await term.until(/The tool write of the MCP server s, with the arguments\n\{"say":"a\\u\{202e\}b","to":"all"\}\n\nCall c/);
	term.type('\x1b');
	await term.until(/^›$/m);
	await leave(term);
});
