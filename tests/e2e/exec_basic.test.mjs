// `codex exec` from the outside: what it prints, sends, writes and returns.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	codexExec, makeHome, needs, outputOf, readLines, reply, rollouts, runCodex, say, startModel, tempDir,
	textsOf, typesOf,
} from './lib/codex.mjs';

const exec = needs('exec');

test('the answer is all that stands on stdout', exec, async (t) => {
	const model = await startModel(t, [say('Hello there.', { chunks: 3 })]);
	const { code, stdout, stderr } = await codexExec(t, model, ['say hello']);
	assert.equal(code, 0);
	assert.equal(stdout, 'Hello there.\n');
	assert.match(stderr, /workdir: /);
	assert.match(stderr, /say hello/);
	assert.equal((await model.stop()).code, 0);
});

test('--json prints one event a line, in order', exec, async (t) => {
	const usage = { input_tokens: 100, cached_tokens: 20, output_tokens: 30, reasoning_tokens: 5 };
	const model = await startModel(t, [reply({ reasoning: '**Thinking**' }, { message: 'Hi.' }, { usage })]);
	const { code, events } = await codexExec(t, model, ['hi'], { json: true });
	assert.equal(code, 0);
	assert.deepEqual(typesOf(events),
		['thread.started', 'turn.started', 'item.completed', 'item.completed', 'turn.completed']);
	assert.match(events[0].thread_id, /^[0-9a-f-]{36}$/);
	assert.deepEqual(events[2].item, { id: 'item_0', type: 'reasoning', text: '**Thinking**' });
	assert.deepEqual(events[3].item, { id: 'item_1', type: 'agent_message', text: 'Hi.' });
	const { input_tokens, cached_input_tokens, output_tokens } = events[4].usage;
	assert.deepEqual([input_tokens, cached_input_tokens, output_tokens], [100, 20, 30]);
});

test('parts of a thought and a search of the web are items of --json', exec, async (t) => {
	const parts = ['**First**', '**Second**'].map((text) => ({ type: 'summary_text', text }));
	const action = { type: 'search', query: 'codex' };
	const model = await startModel(t, [reply({ item: { type: 'reasoning', id: 'rs_1', summary: parts } },
		{ item: { type: 'web_search_call', id: 'ws_1', status: 'completed', action } }, { message: 'Found.' })]);
	const { events } = await codexExec(t, model, ['hi'], { json: true });
	assert.deepEqual(events.slice(2, 5), [
		{ type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: '**First**\n**Second**' } },
		...['item.started', 'item.completed']
			.map((type) => ({ type, item: { id: 'item_1', type: 'web_search', query: 'codex', action } })),
	]);
});

test('the request carries prompt, instructions and tools', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	await codexExec(t, model, ['-m', 'gpt-5.5', 'count to three']);
	const [request] = model.requests();
	assert.equal(request.body.model, 'gpt-5.5');
	assert.equal(request.body.stream, true);
	assert.equal(request.body.store, false);
	assert.ok(request.body.instructions.length > 0);
	assert.equal(textsOf(request, 'user').at(-1), 'count to three');
	assert.ok(textsOf(request, 'user').some((text) => text.startsWith('<environment_context>')));
	const names = request.body.tools.map((tool) => tool.name);
	for (const name of ['exec_command', 'write_stdin', 'update_plan', 'apply_patch', 'view_image'])
		assert.ok(names.includes(name), `${name} is offered`);
	assert.equal(request.headers.accept, 'text/event-stream');
});

test('the prompt may come from stdin', exec, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), times: 3 }]);
	for (const args of [['-'], []]) await codexExec(t, model, args, { input: 'from stdin\n' });
	await codexExec(t, model, ['from the argument'], { input: 'more text' });
	const prompts = model.requests().map((request) => textsOf(request, 'user').at(-1));
	assert.equal(prompts[0].trim(), 'from stdin');
	assert.equal(prompts[1].trim(), 'from stdin');
	assert.match(prompts[2], /^from the argument\s+<stdin>\nmore text\n<\/stdin>$/);
});

test('-o writes the last message', exec, async (t) => {
	const model = await startModel(t, [reply({ message: 'First.' }, { message: 'Last.' })]);
	const file = path.join(tempDir(t), 'last.txt');
	const { code } = await codexExec(t, model, ['-o', file, 'hi']);
	assert.equal(code, 0);
	assert.equal(fs.readFileSync(file, 'utf8').trimEnd(), 'Last.');
});

test('--output-schema goes to the model as a strict format', exec, async (t) => {
	const model = await startModel(t, [say('{"n":1}')]);
	const file = path.join(tempDir(t), 'schema.json');
	const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false };
	fs.writeFileSync(file, JSON.stringify(schema));
	const { code, stdout } = await codexExec(t, model, ['--output-schema', file, 'hi']);
	assert.equal(code, 0);
	assert.equal(stdout, '{"n":1}\n');
	const { format } = model.requests()[0].body.text;
	assert.deepEqual({ ...format, name: 'any' }, { type: 'json_schema', strict: true, schema, name: 'any' });
});

test('--image goes to the model as a data URL', exec, async (t) => {
	const model = await startModel(t, [say('A dot.')]);
	const file = path.join(tempDir(t), 'dot.png');
	fs.writeFileSync(file, Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'));
	const { code } = await codexExec(t, model, ['what is this?', '--image', file]);
	assert.equal(code, 0);
	const content = model.requests()[0].body.input.flatMap((item) => item.content ?? []);
	assert.match(content.find((part) => part.type === 'input_image').image_url, /^data:image\/png;base64,iVBOR/);
});

test('a resume waits for a lock whose holder has died', exec, async (t) => {
	const model = await startModel(t, [say('First.'), say('Second.')]);
	const first = await codexExec(t, model, ['one'], { json: true });
	const { home } = first;
	const lock = path.join(home, 'thread-writer-locks', `${first.events[0].thread_id}.lock`);
	// flock(1) takes the lock and ends; its shell still has the descriptor, as a child of a killed engine may.
	const heir = spawn('bash', ['-c', 'exec 9>>"$1"; flock 9; echo locked; sleep 1.2', 'heir', lock]);
	t.after(() => heir.kill('SIGKILL'));
	await once(heir.stdout, 'data');
	const second = await codexExec(t, model, ['resume', first.events[0].thread_id, 'two'], { home, cwd: first.cwd });
	assert.deepEqual([second.code, second.stdout], [0, 'Second.\n'], second.stderr);
});

test('a session that a living process writes is refused', exec, async (t) => {
	const model = await startModel(t, [say('First.')]);
	const first = await codexExec(t, model, ['one'], { json: true });
	const { home } = first;
	const lock = path.join(home, 'thread-writer-locks', `${first.events[0].thread_id}.lock`);
	const holder = spawn('flock', [lock, '-c', 'echo locked; exec sleep 600'], { detached: true });
	t.after(() => process.kill(-holder.pid, 'SIGKILL'));
	await once(holder.stdout, 'data');
	const second = await codexExec(t, model, ['resume', first.events[0].thread_id, 'two'], { home, cwd: first.cwd });
	assert.equal(second.code, 1);
	assert.match(second.stderr, /is being written by (process \d+ \(flock\)|another process)/);
});

test('the session is written down and can be resumed', exec, async (t) => {
	const model = await startModel(t, [say('I am the first answer.'), say('And I the second.'), say('Third.')]);
	const cwd = tempDir(t, 'cwd');
	const first = await codexExec(t, model, ['remember 42'], { json: true, cwd });
	const { home } = first;
	assert.equal(rollouts(home).length, 1);
	const lines = readLines(rollouts(home)[0]);
	assert.equal(lines[0].type, 'session_meta');
	assert.equal(lines[0].payload.id, first.events[0].thread_id);
	const second = await codexExec(t, model, ['resume', '--last', 'and now?'], { json: true, home, cwd });
	assert.equal(second.code, 0);
	assert.equal(second.events[0].thread_id, first.events[0].thread_id);
	await codexExec(t, model, ['resume', first.events[0].thread_id, 'once more'], { home, cwd });
	const request = model.requests()[2];
	assert.deepEqual(textsOf(request, 'assistant'), ['I am the first answer.', 'And I the second.']);
	assert.deepEqual(textsOf(request, 'user').filter((text) => /^(remember|and now|once)/.test(text)),
		['remember 42', 'and now?', 'once more']);
	assert.equal(rollouts(home).length, 1);
});

test('--ephemeral leaves no session', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const { code, home } = await codexExec(t, model, ['--ephemeral', 'hi']);
	assert.equal(code, 0);
	assert.deepEqual(rollouts(home), []);
});

test('-c overrides the configuration with TOML values', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const args = ['-c', 'model="gpt-5.4"', '-c', 'model_reasoning_effort="high"', 'hi'];
	const { code } = await codexExec(t, model, args, { config: 'model = "gpt-5.5"' });
	assert.equal(code, 0);
	assert.equal(model.requests()[0].body.model, 'gpt-5.4');
	assert.equal(model.requests()[0].body.reasoning.effort, 'high');
});

test('a key named by env_key is sent as a bearer token', exec, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), expect: { header: { authorization: 'Bearer sk-test' } } }]);
	const args = ['-c', 'model_providers.mock.env_key="MOCK_KEY"', 'hi'];
	const { code } = await codexExec(t, model, args, { env: { MOCK_KEY: 'sk-test' } });
	assert.equal(code, 0);
	const missing = await codexExec(t, model, args);
	assert.equal(missing.code, 1);
	assert.match(missing.stderr, /MOCK_KEY/);
});

test('outside a git repository it asks for a flag', exec, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), times: 2 }]);
	const home = makeHome(t, model);
	const refused = await runCodex(t, ['exec', 'hi'], { home });
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /--skip-git-repo-check/);
	assert.equal(model.requests().length, 0);
	const cwd = tempDir(t, 'repo');
	execFileSync('git', ['init', '-q', cwd]);
	assert.equal((await runCodex(t, ['exec', 'hi'], { home, cwd })).code, 0);
});

test('without a prompt it says so', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	const { code, stderr } = await codexExec(t, model, ['-']);
	assert.equal(code, 1);
	assert.match(stderr, /No prompt provided/);
	assert.equal(model.requests().length, 0);
});

test('a flag that does not exist is a usage error', exec, async (t) => {
	const { code, stderr, stdout } = await runCodex(t, ['exec', '--no-such-flag', 'hi']);
	assert.equal(code, 2);
	assert.match(stderr, /--no-such-flag/);
	assert.equal(stdout, '');
});

test('-C sets where commands run', exec, async (t) => {
	const model = await startModel(t, [
		reply({ call: 'exec_command', arguments: { cmd: 'pwd' }, call_id: 'c1' }), say('ok'),
	]);
	const dir = tempDir(t, 'elsewhere');
	await codexExec(t, model, ['-C', dir, 'where?']);
	assert.ok(outputOf(model.requests()[1], 'c1').includes(dir));
});

// The libraries whose constructors ran, by name.
async function librariesOf(t, env) {
	const model = await startModel(t, [say('ok')]);
	const log = path.join(tempDir(t), 'files');
	const { code } = await codexExec(t, model, ['hi'], { env: { ...env, LD_DEBUG: 'files', LD_DEBUG_OUTPUT: log } });
	assert.equal(code, 0);
	const text = fs.readdirSync(path.dirname(log))
		.map((name) => fs.readFileSync(path.join(path.dirname(log), name), 'utf8')).join('');
	return [...text.matchAll(/calling init: (\S+)/g)].map((match) => path.basename(match[1]));
}

test('libraries of libcurl that no request uses are loaded only if they may be used', exec, async (t) => {
	const unused = /^(libldap|liblber|librtmp|libssh2|libgssapi_krb5|libpsl)/;
	const whole = await librariesOf(t, { CODEX_LIBCURL: 'whole' });
	if (!whole.some((name) => unused.test(name))) {
		t.skip('libcurl is linked to none of them');
		return;
	}
	const few = await librariesOf(t, {});
	assert.ok(few.some((name) => name.startsWith('libcurl')));
	assert.deepEqual(few.filter((name) => unused.test(name)), []);
	// A SOCKS proxy may ask for Kerberos; requests to this machine do not use the proxy.
	const proxied = await librariesOf(t, { all_proxy: 'socks5h://127.0.0.1:9', no_proxy: '127.0.0.1' });
	assert.deepEqual(proxied.filter((name) => unused.test(name)), whole.filter((name) => unused.test(name)));
	const other = await librariesOf(t, { https_proxy: 'http://127.0.0.1:9', no_proxy: '127.0.0.1' });
	assert.deepEqual(other.filter((name) => unused.test(name)), []);
});

test('GnuTLS, which libcurl loads and this program does not use, is not initialized', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const log = path.join(tempDir(t), 'bindings');
	const { code } = await codexExec(t, model, ['hi'], {
		env: { CODEX_LIBCURL: 'whole', LD_DEBUG: 'bindings', LD_DEBUG_OUTPUT: log },
	});
	assert.equal(code, 0);
	const bound = fs.readdirSync(path.dirname(log))
		.flatMap((name) => fs.readFileSync(path.join(path.dirname(log), name), 'utf8').split('\n'))
		.filter((line) => line.includes('_gnutls_global_init_skip'));
	// Some builds of libcurl do not depend on GnuTLS.
	for (const line of bound) assert.match(line, /libgnutls\S+ \[0\] to \S*codex \[0\]/);
});
