// The MCP client with programs of the protocol's authors: server-everything, and a server on the official SDK.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexExec, needs, outputOf, reply, say, startModel, tempDir } from './lib/codex.mjs';

const modules = fileURLToPath(new URL('node_modules/@modelcontextprotocol/', import.meta.url));
const everything = path.join(modules, 'server-everything/dist/index.js');
const exec = { ...needs('exec'), ...(!fs.existsSync(everything) && { skip: 'npm ci in tests/e2e installs the packages' }) };
const toml = (value) => JSON.stringify(value);
const configOf = (...args) => `mcp_optional_startup_grace_ms = 30000
[mcp_servers.s]
command = ${toml(process.execPath)}
args = ${JSON.stringify(args)}
`;
const step = (name, args, id) => ({ item: { type: 'function_call', name, namespace: 'mcp__s', arguments: JSON.stringify(args), call_id: id } });

test('server-everything starts, its tools and resources can be used', exec, async (t) => {
	const model = await startModel(t, [reply(step('echo', { message: 'hello' }, 'a'), step('get_sum', { a: 2, b: 3 }, 'b'),
		step('get_tiny_image', {}, 'c'), { call: 'list_mcp_resources', arguments: {}, call_id: 'd' }), say('done')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf(everything, 'stdio') });
	assert.equal(result.code, 0, result.stderr);
	const [first, second] = model.requests();
	const names = first.body.tools.find(({ name }) => name === 'mcp__s').tools.map(({ name }) => name);
	for (const name of ['echo', 'get_sum', 'get_tiny_image']) assert.ok(names.includes(name), `${name}: ${names}`);
	assert.match(outputOf(second, 'a'), /hello/);
	assert.match(outputOf(second, 'b'), /5/);
	const image = second.body.input.find(({ call_id, type }) => call_id === 'c' && type === 'function_call_output').output;
	assert.ok(image.some(({ type, image_url }) => type === 'input_image' && image_url.startsWith('data:image/png;base64,')));
	assert.ok(JSON.parse(outputOf(second, 'd')).resources.length > 0);
});

test('a server on the official SDK is called', exec, async (t) => {
	const file = path.join(tempDir(t, 'sdk'), 'server.mjs');
	const sdk = (name) => toml(path.join(modules, 'sdk/dist/esm/server', name));
	fs.writeFileSync(file, `import { McpServer } from ${sdk('mcp.js')};
import { StdioServerTransport } from ${sdk('stdio.js')};
const server = new McpServer({ name: 'sdk', version: '1' }, { instructions: 'From the SDK.' });
server.registerTool('where', { description: 'd', annotations: { readOnlyHint: true } }, () => ({ content: [{ type: 'text', text: 'here' }] }));
await server.connect(new StdioServerTransport());
`);
	const model = await startModel(t, [reply(step('where', {}, 'a')), say('done')]);
	const result = await codexExec(t, model, ['-m', 'gpt-5.2', 'go'], { config: configOf(file) });
	assert.equal(result.code, 0, result.stderr);
	const [first, second] = model.requests();
	assert.equal(first.body.tools.find(({ name }) => name === 'mcp__s').description, 'From the SDK.');
	assert.match(outputOf(second, 'a'), /here$/);
});
