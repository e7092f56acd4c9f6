// `codex mcp`: the servers of config.toml on the command line.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { cleanEnv, codexBin, launch, needs, tempDir } from './lib/codex.mjs';

function place(t, text = '') {
	const home = tempDir(t, 'home');
	const file = path.join(home, 'config.toml');
	if (text) fs.writeFileSync(file, text);
	const codex = (...args) => launch(t, codexBin, args, { env: { ...cleanEnv(), CODEX_HOME: home }, cwd: home }).done;
	return { codex, file, read: () => fs.readFileSync(file, 'utf8') };
}

test('servers are added and removed, and the rest of the file stays as it is', needs('mcp'), async (t) => {
	const before = '# mine\nmodel = "m" # keep\n\n# about a\n[mcp_servers.a]\ncommand = "prog"\n';
	const { codex, read } = place(t, before);
	assert.equal((await codex('mcp', 'add', 'bad.name', '--env', 'K=v=w', '--', 'run', '-y', 'it')).stdout,
		"Added global MCP server 'bad.name'.\n");
	assert.equal(read(), `${before}\n[mcp_servers."bad.name"]\ncommand = "run"\nargs = ["-y", "it"]\n\n` +
		'[mcp_servers."bad.name".env]\nK = "v=w"\n');
	assert.equal((await codex('mcp', 'remove', 'bad.name')).stdout, "Removed global MCP server 'bad.name'.\n");
	assert.equal(read().trimEnd(), before.trimEnd());
	const again = await codex('mcp', 'remove', 'bad.name');
	assert.deepEqual([again.code, again.stdout], [0, "No MCP server named 'bad.name' found.\n"]);
});

test('a list shows names of variables and no values', needs('mcp'), async (t) => {
	const { codex } = place(t, '[mcp_servers.b]\nurl = "https://h.example/mcp"\nbearer_token_env_var = "TOKEN"\n' +
		'[mcp_servers.a]\ncommand = "prog"\nargs = ["x", "y"]\nenabled = false\nenv = { K = "secret" }\nenv_vars = ["V"]\n');
	const { stdout } = await codex('mcp', 'list');
	assert.equal(stdout, `Name  Command  Args  Env               Cwd  Status    Auth
a     prog     x y   K=*****, V=*****  -    disabled  Unsupported

Name  Url                    Bearer Token Env Var  Status   Auth
b     https://h.example/mcp  TOKEN                 enabled  Bearer token
`);
	const list = JSON.parse((await codex('mcp', 'list', '--json')).stdout);
	assert.deepEqual(list, [
		{ name: 'a', enabled: false, disabled_reason: null, transport: { type: 'stdio', command: 'prog', args: ['x', 'y'],
			env: { K: 'secret' }, env_vars: ['V'], cwd: null }, startup_timeout_sec: null, tool_timeout_sec: null,
		auth_status: 'unsupported' },
		{ name: 'b', enabled: true, disabled_reason: null, transport: { type: 'streamable_http', url: 'https://h.example/mcp',
			bearer_token_env_var: 'TOKEN', http_headers: null, env_http_headers: null, http_headers_helper: null },
		startup_timeout_sec: null, tool_timeout_sec: null, auth_status: 'bearer_token' },
	]);
});

test('a URL is shown without its password and the values of its query', needs('mcp'), async (t) => {
	const { codex } = place(t, '[mcp_servers.b]\nurl = "https://eve:secret@h.example:8443/mcp?key=secret"\n');
	for (const args of [['list'], ['get', 'b']]) {
		const { code, stdout } = await codex('mcp', ...args);
		assert.equal(code, 0);
		assert.match(stdout, /https:\/\/h\.example:8443\/mcp\?\*\*\*\*\*\s/);
		assert.doesNotMatch(stdout, /secret|eve/);
	}
	assert.match((await codex('mcp', 'get', 'b', '--json')).stdout, /eve:secret@/);
});

test('one server is shown with all that is set', needs('mcp'), async (t) => {
	const { codex } = place(t, '[mcp_servers.a]\ncommand = "prog"\nargs = ["x"]\nenv = { K = "secret" }\ntool_timeout_sec = 1.5\n' +
		'disabled_tools = ["p", "q"]\n');
	assert.equal((await codex('mcp', 'get', 'a')).stdout, 'a\n  enabled: true\n  transport: stdio\n  command: prog\n  args: x\n' +
		'  cwd: -\n  env: K=*****\n  disabled_tools: p, q\n  tool_timeout_sec: 1.5\n  remove: codex mcp remove a\n');
	const json = JSON.parse((await codex('mcp', 'get', 'a', '--json')).stdout);
	assert.deepEqual([json.disabled_tools, json.enabled_tools, 'auth_status' in json], [['p', 'q'], null, false]);
	const unknown = await codex('mcp', 'get', 'b');
	assert.deepEqual([unknown.code, unknown.stderr], [1, "Error: No MCP server named 'b' found.\n"]);
});

test('options count, and a wrong server fails every command', needs('mcp'), async (t) => {
	const { codex } = place(t);
	assert.match((await codex('mcp', 'list')).stdout, /^No MCP servers configured yet\. Try `codex mcp add my-tool -- my-command`\.$/m);
	assert.match((await codex('-c', 'mcp_servers.x.command="p"', 'mcp', 'list')).stdout, /^x\s+p /m);
	const wrong = await codex('mcp', 'list', '-c', 'mcp_servers.x={command="p",url="http://h/"}');
	assert.equal(wrong.code, 1);
	assert.match(wrong.stderr, /`mcp_servers\.x`: url is not supported for stdio/);
});

test('a command line that names no server or two kinds is refused', needs('mcp'), async (t) => {
	const { codex, file } = place(t);
	for (const args of [['x'], ['x', '--url', 'http://h/', '--', 'c'], [], ['x', '--env', 'novalue', '--', 'c'],
		['x', '--env', 'A=b', '--url', 'http://h/'], ['x', '--bearer-token-env-var', 'T', '--', 'c']])
		assert.equal((await codex('mcp', 'add', ...args)).code, 2, args.join(' '));
	for (const name of ['a b', 'a!', 'é']) {
		const { code, stderr } = await codex('mcp', 'add', name, '--', 'c');
		assert.deepEqual([code, /invalid server name/.test(stderr)], [1, true], name);
	}
	assert.equal(fs.existsSync(file), false);
});

test('a server with OAuth is added with its client', needs('mcp'), async (t) => {
	const { codex, read } = place(t);
	const { code } = await codex('mcp', 'add', 'web', '--url', 'http://127.0.0.1:9/mcp', '--oauth-client-id', 'mine', '--oauth-client-secret', 's',
		'--oauth-resource', 'https://h.example/', '--oauth-client-registration', 'dcr');
	assert.equal(code, 0);
	assert.equal(read().trim(), '[mcp_servers.web]\nurl = "http://127.0.0.1:9/mcp"\noauth_resource = "https://h.example/"\n\n' +
		'[mcp_servers.web.oauth]\nclient_id = "mine"\nclient_secret = "s"');
	for (const args of [['x', '--url', 'https://h/', '--oauth-client-registration', 'all'], ['x', '--oauth-client-registration', 'dcr', '--', 'c'],
		['x', '--url', 'https://h/', '--oauth-client-secret', 's']])
		assert.equal((await codex('mcp', 'add', ...args)).code, 2, args.join(' '));
});

test('a file with an error is not changed', needs('mcp'), async (t) => {
	const { codex, read } = place(t, 'model = \n');
	const { code, stderr } = await codex('mcp', 'add', 'x', '--', 'c');
	assert.equal(code, 1);
	assert.match(stderr, /config\.toml:1:/);
	assert.equal(read(), 'model = \n');
});

test('servers added at the same time are all there', needs('mcp'), async (t) => {
	const { codex } = place(t);
	const names = Array.from({ length: 8 }, (_, i) => `s${i}`);
	await Promise.all(names.map((name) => codex('mcp', 'add', name, '--', 'c')));
	const list = JSON.parse((await codex('mcp', 'list', '--json')).stdout);
	assert.deepEqual(list.map(({ name }) => name), names);
});
