// `codex doctor`: reports what works and what does not, changes nothing, contacts no server unless requested.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { codexBin } from './lib/codex.mjs';

const PROVIDER = (port) => `model_provider = "near"\n[model_providers.near]\nname = "Near"\nbase_url = "http://user:secret@127.0.0.1:${port}/v1"\n`;

function makeHome(t, config) {
	const home = fs.mkdtempSync('/var/tmp/codex-doctor-');
	t.after(() => fs.rmSync(home, { recursive: true, force: true }));
	if (config !== undefined)
		fs.writeFileSync(path.join(home, 'config.toml'), config);
	return home;
}

function examine(home, ...options) {
	const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home };
	const run = spawnSync(codexBin, ['doctor', '--json', ...options], { env, encoding: 'utf8', cwd: home });
	return { ...JSON.parse(run.stdout), exit: run.status, text: run.stdout };
}

test('a working machine passes all checks without network access', (t) => {
	const home = makeHome(t, PROVIDER(1));
	const report = examine(home);
	assert.equal(report.schemaVersion, 1);
	assert.equal(report.checks['config.load'].status, 'ok');
	assert.equal(report.checks['auth.credentials'].status, 'ok');
	assert.match(report.checks['network.provider_reachability'].summary, /not checked/);
	assert.equal(report.checks['network.provider_reachability'].details.endpoint, '127.0.0.1:1');
	assert.equal(report.exit, report.overallStatus === 'fail' ? 1 : 0);
	for (const [id, check] of Object.entries(report.checks)) {
		assert.equal(check.id, id);
		assert.ok(['ok', 'warning', 'fail'].includes(check.status));
		assert.ok(check.summary.length > 0, id);
	}
	assert.doesNotMatch(report.text, /secret/);
	assert.deepEqual(fs.readdirSync(home), ['config.toml']);
});

test('a configuration that cannot be read is named with its place', (t) => {
	const report = examine(makeHome(t, 'model = [\n'));
	assert.equal(report.exit, 1);
	assert.equal(report.checks['config.load'].status, 'fail');
	assert.match(report.checks['config.load'].summary, /config\.toml:\d+:\d+/);
});

test('a missing key is a failure with advice', (t) => {
	const report = examine(makeHome(t));
	assert.equal(report.checks['auth.credentials'].status, 'fail');
	assert.match(report.checks['auth.credentials'].summary, /OPENAI_API_KEY/);
});

test('each backend of the sandbox says whether it works, and commands run in the first that does', (t) => {
	const { checks } = examine(makeHome(t, PROVIDER(1)));
	for (const name of ['bubblewrap', 'landlock'])
		assert.match(checks[`sandbox.${name}`].summary, /^(works|does not work: )/);
	const first = ['bubblewrap', 'landlock'].find((name) => checks[`sandbox.${name}`].status === 'ok');
	if (first)
		assert.equal(checks['sandbox.helpers'].summary, `commands run in ${first}`);
	else
		assert.equal(checks['sandbox.helpers'].status, 'fail');
	const open = examine(makeHome(t, PROVIDER(1)), '-c', 'sandbox_mode=danger-full-access').checks['sandbox.helpers'];
	assert.equal(open.status, 'warning');
});

test('the provider is checked on request', async (t) => {
	const server = net.createServer().listen(0, '127.0.0.1');
	await new Promise((resolve) => server.on('listening', resolve));
	const port = server.address().port;
	const home = makeHome(t, PROVIDER(port));
	assert.equal(examine(home, '--network').checks['network.provider_reachability'].status, 'ok');
	await new Promise((resolve) => server.close(resolve));
	const gone = examine(home, '--network').checks['network.provider_reachability'];
	assert.deepEqual([gone.status, gone.summary, gone.remediation],
		['fail', 'cannot be reached: Connection refused', 'is the server running?']);
});

test('a session in use is reported with its process', (t) => {
	const home = makeHome(t, PROVIDER(1));
	const folder = path.join(home, 'thread-writer-locks');
	fs.mkdirSync(folder);
	fs.writeFileSync(path.join(folder, 'free.lock'), '');
	const locked = path.join(folder, 'held.lock');
	const script = `exec 9>"${locked}"; flock 9; "${codexBin}" doctor --json`;
	const run = spawnSync('sh', ['-c', script], { env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: home }, encoding: 'utf8' });
	const check = JSON.parse(run.stdout).checks['state.locks'];
	assert.equal(check.summary, '1 sessions are open in running processes; 1 lock files are unused');
	assert.match(check.details['held.lock'], /^process \d+$/);
});

test('the index of sessions is checked, and rebuilt on request', (t) => {
	const home = makeHome(t, PROVIDER(1));
	const folder = path.join(home, 'sessions/2026/11/20');
	const index = path.join(home, 'rollout_index.sqlite');
	const id = '01a1fb55-e849-7942-b12b-582c7876dc93';
	fs.mkdirSync(folder, { recursive: true });
	fs.writeFileSync(path.join(folder, `rollout-2026-11-20T10-00-00-${id}.jsonl`),
		`{"type":"session_meta","payload":{"id":"${id}"}}\n{"type":"event_msg","payload":{"type":"user_message","message":"hi"}}\n`);
	const check = (...options) => examine(home, ...options).checks['state.index'];
	assert.match(check().summary, /not created yet/);
	assert.equal(fs.existsSync(index), false);
	assert.equal(check('--rebuild-index').summary, '1 sessions, of which 1 with their text');
	assert.equal(check().status, 'ok');
	fs.writeFileSync(index, Buffer.alloc(100000, 'noise'));
	assert.deepEqual([check().status, check().summary], ['warning', 'not in use: it is damaged']);
	assert.equal(check('--rebuild-index').status, 'ok');
	fs.rmSync(index);
	fs.mkdirSync(path.join(index, 'in the way'), { recursive: true });
	assert.equal(check('--rebuild-index').status, 'warning');
});

test('MCP servers that cannot start are named with the reason, and none is started', (t) => {
	const home = makeHome(t, `${PROVIDER(1)}[mcp_servers.local]\ncommand = "sh"\nargs = ["-c", "touch started"]
[mcp_servers.missing]\ncommand = "no-such-program"\n[mcp_servers.off]\ncommand = "no-such-program"\nenabled = false
[mcp_servers.web]\nurl = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "NO_SUCH_TOKEN"\n`);
	const { status, summary, details } = examine(home).checks['mcp.config'];
	assert.deepEqual([status, summary], ['warning', '2 of 3 MCP servers cannot start']);
	assert.equal(details.local, 'stdio, unsupported');
	assert.match(details.missing, /^stdio, unsupported: .*no-such-program/);
	assert.equal(details.off, 'disabled, unsupported');
	assert.match(details.web, /^streamable_http, bearer_token: environment variable NO_SUCH_TOKEN is not set$/);
	assert.equal(fs.existsSync(path.join(home, 'started')), false);
	assert.equal(examine(makeHome(t, PROVIDER(1))).checks['mcp.config'].summary, '0 MCP servers enabled');
});
