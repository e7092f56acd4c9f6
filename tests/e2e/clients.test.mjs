// Third-party clients use this program unchanged: two providers of the AI SDK and an ACP adapter for editors
// complete sessions with tools, approvals and interrupts. Each skips where its package is not installed. (The first
// provider never answers a question.)

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { rpcClient } from './lib/app_server.mjs';
import {
	call, cleanEnv, codexBin, forever, launch,
	makeHome, patch, reply, run, say, startModel, tempDir,
} from './lib/codex.mjs';

const load = (name) => import(name).catch(() => null);
const appServer = await load('ai-sdk-provider-codex-app-server');
const cli = await load('ai-sdk-provider-codex-cli');
const missing = (name) => `${name} is not installed: run npm ci in tests/e2e`;
const words = (text) => [{ role: 'user', content: [{ type: 'text', text }] }];

async function collect(stream, onPart = () => {}) {
	const parts = [];
	for await (const part of stream) {
		parts.push(part);
		await onPart(part, parts);
	}
	return parts;
}

const textOf = (parts) => parts.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join('');
const typesOf = (parts) => [...new Set(parts.map(({ type }) => type))];

/** Resolves once the process whose id is in the file has exited. */
async function gone(file) {
	const pid = Number(fs.readFileSync(file, 'utf8'));
	const lives = () => {
		try {
			return process.kill(pid, 0);
		} catch {
			return false;
		}
	};
	while (lives()) await new Promise((wake) => setTimeout(wake, 20));
}

/** Resolves once the file is not empty. */
async function written(file) {
	while (!fs.existsSync(file) || !fs.statSync(file).size) await new Promise((wake) => setTimeout(wake, 20));
}

// --- ai-sdk-provider-codex-app-server ---------------------------------------------------------------------------------

async function openAppServer(t, replies, settings) {
	const model = await startModel(t, replies);
	const cwd = tempDir(t, 'work');
	const provider = appServer.createCodexAppServer({ defaultSettings: {
		codexPath: codexBin, cwd, env: cleanEnv(makeHome(t, model)), approvalMode: 'never',
		sandboxMode: 'danger-full-access', logger: false, ...settings,
	} });
	const chat = provider('mock-model');
	t.after(() => chat.dispose());
	return { model, cwd, chat };
}

const noAppServer = { skip: appServer ? false : missing('ai-sdk-provider-codex-app-server'), timeout: 60_000 };

test('ai-sdk-provider-codex-app-server: a turn with a tool, streamed', noAppServer, async (t) => {
	const { chat, model } = await openAppServer(t, [run('echo from the shell'), say('All done.')]);
	const { stream } = await chat.doStream({ prompt: words('do it') });
	const parts = await collect(stream);
	assert.equal(textOf(parts), 'All done.');
	assert.equal(parts.find(({ type }) => type === 'tool-result').result.aggregatedOutput, 'from the shell\n');
	assert.deepEqual(typesOf(parts).slice(-2), ['text-end', 'finish']);
	assert.ok(JSON.stringify(model.requests()[0].body.input).includes('do it'));
});

test('ai-sdk-provider-codex-app-server: a patch is a tool, too', noAppServer, async (t) => {
	const { chat, cwd } = await openAppServer(t, [patch('*** Add File: new.txt', '+one line'), say('Patched.')]);
	const { stream } = await chat.doStream({ prompt: words('write') });
	const parts = await collect(stream);
	assert.equal(textOf(parts), 'Patched.');
	assert.equal(fs.readFileSync(path.join(cwd, 'new.txt'), 'utf8'), 'one line\n');
	assert.equal(parts.filter(({ type }) => type === 'tool-result').length, 1);
});

test('ai-sdk-provider-codex-app-server: a second call continues the thread', noAppServer, async (t) => {
	const { chat, model } = await openAppServer(t, [say('One.'), reply({ gate: 'two' }, { delta: 'Two.' })],
		{ threadMode: 'persistent' });
	await collect((await chat.doStream({ prompt: words('first') })).stream);
	const second = collect((await chat.doStream({ prompt: words('second') })).stream);
	// This client waits for ever if the end of a turn arrives together with the answer that names it.
	while (model.requests().length < 2) await new Promise((wake) => setTimeout(wake, 20));
	await model.openGate('two');
	await second;
	const texts = JSON.stringify(model.requests()[1].body.input);
	for (const text of ['first', 'One.', 'second']) assert.ok(texts.includes(text), text);
});

test('ai-sdk-provider-codex-app-server: input during a turn joins it; an interrupt ends it', noAppServer, async (t) => {
	let session;
	const mark = path.join(tempDir(t, 'mark'), 'pid');
	const onSessionCreated = (it) => (session = it);
	const { chat } = await openAppServer(t, [run(`echo $$ > ${mark}; sleep 600`), say('never')], { onSessionCreated });
	const { stream } = await chat.doStream({ prompt: words('wait') });
	const ended = collect(stream);
	await written(mark);
	await session.injectMessage('and this');
	await session.interrupt();
	const parts = await ended;
	assert.equal(parts.at(-1).type, 'finish');
	assert.equal(textOf(parts), '');
	await gone(mark);
});

// --- ai-sdk-provider-codex-cli: codex exec, and an app-server with approvals ------------------------------------------

const noCli = { skip: cli ? false : missing('ai-sdk-provider-codex-cli'), timeout: 60_000 };

/** Settings that both providers accept. */
async function openCli(t, replies) {
	const model = await startModel(t, replies);
	const cwd = tempDir(t, 'work');
	return { model, cwd, settings: { codexPath: codexBin, cwd, env: cleanEnv(makeHome(t, model)), logger: false } };
}

test('ai-sdk-provider-codex-cli: codex exec, whole and streamed', noCli, async (t) => {
	const { settings } = await openCli(t, [run('echo hi'), say('Whole.'), run('echo hi'), say('Streamed.')]);
	const exec = cli.createCodexExec({ defaultSettings: { ...settings, skipGitRepoCheck: true,
		sandboxMode: 'danger-full-access', approvalMode: 'never' } });
	const whole = await exec('mock-model').doGenerate({ prompt: words('do it') });
	assert.equal(whole.content.find(({ type }) => type === 'text').text, 'Whole.');
	const parts = await collect((await exec('mock-model').doStream({ prompt: words('again') })).stream);
	assert.equal(textOf(parts), 'Streamed.');
	assert.equal(parts.filter(({ type }) => type === 'tool-result').length, 1);
	assert.ok(parts.at(-1).usage.inputTokens.total > 0);
});

test('ai-sdk-provider-codex-cli: codex exec is stopped by an abort, with its command', noCli, async (t) => {
	const mark = path.join(tempDir(t, 'mark'), 'pid');
	const { settings } = await openCli(t, [run(`echo $$ > ${mark}; sleep 600`), say('never')]);
	const exec = cli.createCodexExec({ defaultSettings: { ...settings, skipGitRepoCheck: true,
		sandboxMode: 'danger-full-access', approvalMode: 'never' } });
	const controller = new AbortController();
	const { stream } = await exec('mock-model').doStream({ prompt: words('wait'), abortSignal: controller.signal });
	const ended = collect(stream).catch(() => {});
	await written(mark);
	controller.abort();
	await ended;
	await gone(mark);
});

function openCliServer(t, { settings }, more) {
	const provider = cli.createCodexAppServer({ defaultSettings: { ...settings, ...more } });
	t.after(() => provider.close?.() ?? provider.dispose?.());
	return provider('mock-model');
}

test('ai-sdk-provider-codex-cli: requests of the app-server are answered', noCli, async (t) => {
	const asked = [];
	const session = await openCli(t, [run('echo one > one.txt'), run('echo two > two.txt'), say('Asked twice.')]);
	const chat = openCliServer(t, session, {
		approvalPolicy: 'untrusted', sandboxPolicy: 'danger-full-access',
		serverRequests: {
			onCommandExecutionApproval: async ({ params }) => {
				asked.push(params.command);
				return { decision: asked.length === 1 ? 'accept' : 'decline' };
			},
		},
	});
	const parts = await collect((await chat.doStream({ prompt: words('write') })).stream);
	assert.equal(textOf(parts), 'Asked twice.');
	assert.equal(asked.length, 2);
	assert.deepEqual(fs.readdirSync(session.cwd), ['one.txt']);
});

test('ai-sdk-provider-codex-cli: a turn of an app-server is interrupted', noCli, async (t) => {
	const mark = path.join(tempDir(t, 'mark'), 'pid');
	let live;
	const session = await openCli(t, [run(`echo $$ > ${mark}; sleep 600`), say('never')]);
	const chat = openCliServer(t, session, { approvalPolicy: 'never', sandboxPolicy: 'danger-full-access',
		onSessionCreated: (it) => (live = it) });
	const ended = collect((await chat.doStream({ prompt: words('wait') })).stream).catch(() => {});
	await written(mark);
	await live.interrupt();
	await ended;
	await gone(mark);
});

// --- @agentclientprotocol/codex-acp: an adapter for editors that speak ACP ---------------------------------------------

const adapter = fileURLToPath(new URL('node_modules/@agentclientprotocol/codex-acp/dist/index.js', import.meta.url));
const noAdapter = { skip: fs.existsSync(adapter) ? false : missing('@agentclientprotocol/codex-acp'), timeout: 60_000 };

/** An editor's session: prompt(text) resolves to its answer, updates(kind) are those of a kind so far. */
async function openEditor(t, replies, config) {
	const model = await startModel(t, replies);
	const cwd = tempDir(t, 'work');
	const env = cleanEnv(makeHome(t, model, config), { CODEX_PATH: codexBin, MODEL_PROVIDER: 'mock' });
	const { child, done } = launch(t, process.execPath, [adapter], { cwd, env });
	const client = rpcClient({
		send: (line) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...JSON.parse(line) }) + '\n'),
		onLine: (deliver) => createInterface({ input: child.stdout }).on('line', deliver),
		onEnd: (tell) => done.then(tell),
	});
	await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
	const { sessionId } = await client.request('session/new', { cwd, mcpServers: [] });
	await client.request('session/set_mode', { sessionId, modeId: 'workspace-write' }); // its default asks the reviewer
	return Object.assign(client, {
		cwd, sessionId,
		prompt: (text) => client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
		updates: (kind) => client.all('session/update').map(({ params }) => params.update)
			.filter(({ sessionUpdate }) => sessionUpdate === kind),
	});
}

const saidTo = (editor) => editor.updates('agent_message_chunk').map(({ content }) => content.text).join('');

/** Answers the next question with the first choice of that kind. */
async function choose(editor, kind) {
	const question = await editor.next('session/request_permission');
	const { optionId } = question.params.options.find((it) => kind.test(it.kind));
	editor.answer(question, { outcome: { outcome: 'selected', optionId } });
}

test('@agentclientprotocol/codex-acp: turns with tools, one after the other', noAdapter, async (t) => {
	// The adapter also requests a title, in a fork of the thread.
	const editor = await openEditor(t, [run('echo from the shell'), say('First.'), forever(say('Second.'))],
		'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n');
	assert.equal((await editor.prompt('one')).stopReason, 'end_turn');
	assert.match(saidTo(editor), /First\.$/);
	assert.equal(editor.updates('tool_call').length, 1);
	assert.equal(editor.updates('tool_call_update').at(-1).status, 'completed');
	await editor.prompt('two');
	assert.match(saidTo(editor), /Second\.$/);
});

test('@agentclientprotocol/codex-acp: the user is asked, allows and refuses', noAdapter, async (t) => {
	const escalated = (file) => call('exec_command',
		{ cmd: `echo yes > ${file}`, sandbox_permissions: 'require_escalated', justification: 'May I?' });
	const editor = await openEditor(t, [escalated('one'), escalated('two'), say('Asked.')]);
	const ended = editor.prompt('write');
	for (const kind of [/^allow_once/, /^reject/]) await choose(editor, kind);
	await ended;
	assert.deepEqual(fs.readdirSync(editor.cwd).filter((name) => /^(one|two)$/.test(name)), ['one']);
});

test('@agentclientprotocol/codex-acp: a cancel ends the turn with its command', noAdapter, async (t) => {
	const mark = path.join(tempDir(t, 'mark'), 'pid');
	const editor = await openEditor(t, [call('exec_command', { cmd: `echo $$ > ${mark}; sleep 600`,
		sandbox_permissions: 'require_escalated', justification: 'May I?' }), say('never')]);
	const ended = editor.prompt('wait');
	await choose(editor, /^allow_once/);
	await written(mark);
	editor.notify('session/cancel', { sessionId: editor.sessionId });
	assert.equal((await ended).stopReason, 'cancelled');
	await gone(mark);
});
