// Models with tool search get the tools of MCP servers when they search for them, not in every request.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { codexExec, needs, outputOf, reply, rollouts, say, startModel, makeHome } from './lib/codex.mjs';
import { configOf, ECHO, itemCall } from './lib/mcp.mjs';

const exec = needs('exec');
const search = (id, args) => ({ item: { type: 'tool_search_call', call_id: id, execution: 'client', status: 'completed', arguments: args } });
const tool = (name, description, properties = {}) => ({ name, description, inputSchema: { type: 'object', properties }, annotations: { readOnlyHint: true } });
const TOOLS = [tool('create_issue', 'Opens a ticket in the tracker.', { title: { type: 'string', description: 'Headline' } }),
	tool('listIssues', 'Shows the tickets that are open.'), tool('get_weather', 'Forecast for a city.', { cityName: { type: 'string' } })];
const found = (request, id) => request.body.input.find(({ type, call_id: call }) => type === 'tool_search_output' && call === id);

/** Runs a session with these steps of the model; resolves to its requests. */
async function run(t, servers, steps, { model: name = 'gpt-5.5', config = '' } = {}) {
	const model = await startModel(t, [...steps, say('done')]);
	const home = makeHome(t, model, `${config}\n${configOf(servers)}`);
	const result = await codexExec(t, model, ['-m', name, 'go'], { json: true, home });
	assert.equal(result.code, 0, result.stderr);
	return { requests: model.requests(), events: result.events, home };
}

test('tools are found by name, description and schema, and can then be called', exec, async (t) => {
	const { requests, events, home } = await run(t, { tracker: { tools: TOOLS, initialize: { instructions: 'Tickets and weather.\nMore.' } } },
		[reply(search('a', { query: 'create a new issue' }), search('b', { query: 'city names', limit: 1 }), search('c', { query: 'zebra' })),
			reply(itemCall('create_issue', { title: 'x' }, 'd', 'tracker'))]);
	const offered = requests[0].body.tools;
	assert.ok(!offered.some(({ name }) => name?.startsWith('mcp__')));
	const [spec] = offered.filter(({ type }) => type === 'tool_search');
	assert.deepEqual([spec.execution, spec.parameters.required, Object.keys(spec.parameters.properties)], ['client', ['query'], ['limit', 'query']]);
	assert.match(spec.description, /\n- tracker: Tickets and weather\.$/);
	const first = found(requests[1], 'a');
	assert.deepEqual([first.status, first.execution, first.tools.length], ['completed', 'client', 1]);
	const [group] = first.tools;
	assert.deepEqual([group.type, group.name, group.description], ['namespace', 'mcp__tracker', 'Tickets and weather.\nMore.']);
	assert.deepEqual(group.tools[0], { type: 'function', name: 'create_issue', description: TOOLS[0].description, strict: false,
		parameters: TOOLS[0].inputSchema, defer_loading: true });
	assert.deepEqual(group.tools.map(({ name }) => name), ['create_issue', 'listIssues']);
	assert.deepEqual(found(requests[1], 'b').tools[0].tools.map(({ name }) => name), ['get_weather']);
	assert.deepEqual(found(requests[1], 'c').tools, []);
	assert.match(JSON.stringify(outputOf(requests[2], 'd')), /title/);
	assert.deepEqual(requests[2].body.input.filter(({ type }) => type === 'tool_search_call').length, 3, 'the searches stay in the history');
	assert.equal(events.filter(({ item }) => item && item.type !== 'agent_message' && item.type !== 'mcp_tool_call').length, 0);
	assert.match(fs.readFileSync(rollouts(home)[0], 'utf8'), /"tool_search_output"/);
});

test('a tool that was never searched for can be called, and a wrong search finds nothing', exec, async (t) => {
	const { requests } = await run(t, { s: { tools: [ECHO] } },
		[reply(itemCall('echo', { say: 'hi' }, 'a'), search('b', { query: 7 }), search('c', 'no object'), search('d', { query: 'echo', limit: -1 }))]);
	assert.match(JSON.stringify(outputOf(requests[1], 'a')), /hi/);
	assert.deepEqual(['b', 'c'].map((id) => found(requests[1], id).tools), [[], []]);
	assert.equal(found(requests[1], 'd').tools.length, 1);
});

test('models without tool search, and other wires, have the tools in the request', exec, async (t) => {
	const { requests } = await run(t, { s: { tools: [ECHO] } }, [], { model: 'plain' });
	assert.ok(requests[0].body.tools.some(({ name }) => name === 'mcp__s__echo'));
	assert.ok(!requests[0].body.tools.some(({ type }) => type === 'tool_search'));
});

test('without a tool there is no search', exec, async (t) => {
	const { requests } = await run(t, { s: { tools: [] } }, []);
	assert.ok(!requests[0].body.tools.some(({ type }) => type === 'tool_search'));
});

test('among 10,000 tools the right ones are found, in a small request', exec, async (t) => {
	const { requests } = await run(t, { s: { many: 10000, page: 1000 } },
		[reply(search('a', { query: 'tool4000' }), search('b', { query: 'tool9995 tool17', limit: 1000 }))],
		{ config: 'mcp_optional_startup_grace_ms = 30000' });
	assert.ok(JSON.stringify(requests[0].body.tools).length < 20000);
	assert.deepEqual(found(requests[1], 'a').tools.flatMap(({ tools }) => tools.map(({ name }) => name)), ['tool4000']);
	assert.deepEqual(found(requests[1], 'b').tools.flatMap(({ tools }) => tools.map(({ name }) => name)).sort(), ['tool17', 'tool9995']);
});
