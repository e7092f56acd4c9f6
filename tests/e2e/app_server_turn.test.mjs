// Threads and turns of `codex app-server`: notifications and their order.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, story, text } from './lib/app_server.mjs';
import { call, forever, httpError, needs, outputOf, patch, reply, run, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('app-server');
const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Waits until something stands in the file. */
async function until(file) {
	while (!fs.existsSync(file) || !fs.statSync(file).size) await new Promise((wake) => setTimeout(wake, 20));
}

/** Waits until the process whose id is in the file has exited and was reaped. */
async function untilGone(file) {
	const pid = Number(fs.readFileSync(file, 'utf8'));
	for (;;) {
		try {
			process.kill(pid, 0);
		} catch (error) {
			assert.equal(error.code, 'ESRCH');
			return;
		}
		await new Promise((wake) => setTimeout(wake, 20));
	}
}

/** Starts a thread and runs a turn; resolves to its turn/completed. */
async function turn(server, thread, words, more) {
	const started = await server.request('turn/start', { threadId: thread.id, input: [text(words)], ...more });
	const { params } = await server.next('turn/completed');
	assert.equal(params.turn.id, started.turn.id);
	return params.turn;
}

test('a thread starts with the configured settings', options, async (t) => {
	const model = await startModel(t, [say('unused')]);
	const server = await startAppServer(t, model, { config: 'model = "mock-model"' });
	fs.writeFileSync(path.join(server.cwd, 'AGENTS.md'), 'Be brief.');
	const result = await server.request('thread/start', {});
	const { thread } = result;
	assert.match(thread.id, UUID);
	assert.deepEqual(Object.keys(result), ['thread', 'model', 'modelProvider', 'serviceTier', 'disabledPluginIds', 'cwd',
		'runtimeWorkspaceRoots', 'instructionSources', 'approvalPolicy', 'approvalsReviewer', 'sandbox',
		'activePermissionProfile', 'reasoningEffort', 'multiAgentMode']);
	assert.deepEqual({ ...result, thread: null }, {
		thread: null, model: 'mock-model', modelProvider: 'mock', serviceTier: null, disabledPluginIds: [], cwd: server.cwd,
		runtimeWorkspaceRoots: [server.cwd], instructionSources: [path.join(server.cwd, 'AGENTS.md')],
		approvalPolicy: 'on-request', approvalsReviewer: 'user', sandbox: { type: 'readOnly', networkAccess: false },
		activePermissionProfile: { id: ':read-only', extends: null }, reasoningEffort: null,
		multiAgentMode: 'explicitRequestOnly',
	});
	assert.deepEqual(Object.keys(thread), ['id', 'environments', 'extra', 'sessionId', 'forkedFromId',
		'attachedToThreadId', 'parentThreadId', 'preview', 'ephemeral', 'section', 'sectionEnteredAt', 'projectId',
		'historyMode', 'modelProvider', 'model', 'reasoningEffort', 'createdAt', 'updatedAt', 'recencyAt', 'status', 'path',
		'cwd', 'cliVersion', 'originator', 'source', 'canAcceptDirectInput', 'threadSource', 'agentNickname', 'agentRole',
		'gitInfo', 'name', 'daybreakEnabled', 'turns']);
	assert.equal(thread.originator, 'tests');
	assert.equal(fs.existsSync(thread.path), false); // nothing is written before the first turn
	assert.deepEqual((await server.next('thread/started')).params, { thread });
	const others = await server.request('thread/start', { ephemeral: true });
	assert.equal(others.thread.path, null);
	assert.deepEqual(await server.request('thread/loaded/list', {}), { data: [thread.id, others.thread.id], nextCursor: null });
});

test('the wishes of a client come before the configuration', options, async (t) => {
	const server = await startAppServer(t, null);
	const start = (params) => server.request('thread/start', params);
	assert.deepEqual((await start({ sandbox: 'workspace-write' })).sandbox, { type: 'workspaceWrite', writableRoots: [],
		networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false });
	assert.equal((await start({ sandbox: 'workspace-write' })).activePermissionProfile, null);
	assert.deepEqual((await start({ permissions: ':workspace' })).activePermissionProfile, { id: ':workspace', extends: null });
	assert.deepEqual((await start({ config: { 'sandbox_mode': 'danger-full-access' } })).sandbox, { type: 'dangerFullAccess' });
	assert.equal((await start({ config: { model_reasoning_effort: 'high' }, model: 'gpt-5.5' })).reasoningEffort, 'high');
	assert.deepEqual((await start({ cwd: 'below' })).cwd, path.join(server.cwd, 'below'));
	const granular = { sandbox_approval: true, rules: false, mcp_elicitations: false };
	assert.deepEqual((await start({ approvalPolicy: { granular } })).approvalPolicy,
		{ granular: { ...granular, skill_approval: false, request_permissions: false } });
	assert.deepEqual((await start({ approvalPolicy: { reject: { sandbox_approval: true, rules: true } } })).approvalPolicy,
		{ granular: { sandbox_approval: false, rules: false, skill_approval: false, request_permissions: false,
			mcp_elicitations: true } });
	await assert.rejects(start({ sandbox: 'read-only', permissions: ':workspace' }),
		{ code: -32600, message: '`permissions` cannot be combined with `sandbox`' });
	await assert.rejects(start({ modelProvider: 'nope' }), { code: -32600, message: /^failed to load configuration: .*nope/ });
	await assert.rejects(start({ config: { sandbox_mode: 5 } }), { code: -32600, message: /^failed to load configuration: / });
});

test('a turn notifies in the order of codex 0.169', options, async (t) => {
	const model = await startModel(t, [
		reply({ message: 'Hello world', chunks: 3 }, { usage: { input_tokens: 100, output_tokens: 30 } }), say('second')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	const started = await server.request('turn/start',
		{ threadId: thread.id, input: [text('first prompt')], clientUserMessageId: 'mine', title: 'ignored' });
	assert.deepEqual(started.turn, { id: started.turn.id, rootTurnId: started.turn.id, items: [], itemsView: 'notLoaded',
		status: 'inProgress', error: null, startedAt: null, completedAt: null, durationMs: null });
	const { params: { turn: ended } } = await server.next('turn/completed');
	assert.deepEqual(story(server.messages), [
		'thread/started', 'thread/status/changed active', 'turn/started',
		'item/started userMessage', 'item/completed userMessage', 'item/started agentMessage', 'item/agentMessage/delta',
		'item/agentMessage/delta', 'item/agentMessage/delta', 'item/completed agentMessage', 'thread/readState/changed',
		'thread/status/changed idle', 'turn/completed']);
	const [user, agent] = server.all('item/completed').map(({ params }) => params);
	assert.deepEqual(user.item, { type: 'userMessage', id: user.item.id, clientId: 'mine',
		content: [{ type: 'text', text: 'first prompt', text_elements: [] }], startedAtMs: user.item.startedAtMs,
		completedAtMs: user.completedAtMs });
	assert.equal(agent.turnId, started.turn.id);
	assert.equal(agent.item.text, 'Hello world');
	assert.equal(server.all('item/agentMessage/delta').map(({ params }) => params.delta).join(''), 'Hello world');
	assert.deepEqual(ended.items, [agent.item]);
	assert.equal(ended.itemsView, 'summary');
	assert.equal(ended.status, 'completed');
	assert.ok(ended.durationMs >= 0 && ended.completedAt >= ended.startedAt);
	const usage = server.all('thread/tokenUsage/updated')[0].params;
	assert.equal(usage.turnId, started.turn.id);
	assert.equal(usage.tokenUsage.total.totalTokens, 130);
	assert.ok(usage.tokenUsage.modelContextWindow > 0);
	assert.equal(server.all('account/rateLimits/updated')[0].params.rateLimits.limitId, 'codex');
	assert.equal((await turn(server, thread, 'again')).items[0].text, 'second');
	const [{ headers }] = model.requests();
	assert.equal(headers.originator, 'tests');
	const ofProgram = server.server.userAgent.replace('/0.169.0 ', `/${thread.cliVersion} `); // not of the interface
	assert.equal(headers['user-agent'], ofProgram);
});

test('a command is an item from begin to end', options, async (t) => {
	const model = await startModel(t, [run('echo one; sleep 0.3; echo zwö; exit 3'), say('done')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread, 'go');
	const begun = server.all('item/started').map(({ params }) => params.item).find(({ type }) => type === 'commandExecution');
	const ended = server.all('item/completed').map(({ params }) => params.item).find(({ type }) => type === 'commandExecution');
	assert.match(begun.command, /^\S+ -lc 'echo one/);
	assert.deepEqual([begun.status, begun.aggregatedOutput, begun.exitCode, begun.cwd], ['inProgress', null, null, server.cwd]);
	assert.deepEqual([ended.id, ended.status, ended.exitCode], [begun.id, 'failed', 3]);
	assert.match(ended.aggregatedOutput, /^one\n/);
	assert.ok(ended.durationMs >= 300 && ended.completedAtMs >= ended.startedAtMs);
	const deltas = server.all('item/commandExecution/outputDelta').map(({ params }) => params);
	assert.equal(deltas.map(({ delta }) => delta).join(''), ended.aggregatedOutput);
	assert.ok(deltas.every(({ itemId, threadId }) => itemId === begun.id && threadId === thread.id));
});

const ask = (cmd) => call('exec_command', { cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' });

test('a command that must be asked for runs, or does not, as the user decides', options, async (t) => {
	const decisions = ['accept', 'decline', 'acceptForSession'];
	const model = await startModel(t, decisions.flatMap((word) => [ask(`echo ${word}`), say(`after ${word}`)]));
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { approvalPolicy: 'on-request', sandbox: 'read-only' });
	for (const [index, decision] of decisions.entries()) {
		const done = turn(server, thread, 'go');
		const request = await server.next('item/commandExecution/requestApproval');
		assert.equal(request.id, index);
		assert.equal(request.emittedAtMs, undefined);
		assert.equal(request.params.kind, 'command');
		assert.equal(request.params.reason, 'May I?');
		assert.match(request.params.command, new RegExp(`-lc 'echo ${decision}'`));
		assert.deepEqual(server.all('thread/status/changed').at(-1).params.status,
			{ type: 'active', activeFlags: ['waitingOnApproval'] });
		server.answer(request, { decision });
		await done;
		assert.deepEqual(server.all('serverRequest/resolved').at(-1).params, { threadId: thread.id, requestId: index });
		const item = server.all('item/completed').map(({ params }) => params.item)
			.filter(({ type }) => type === 'commandExecution').at(-1);
		assert.equal(item.id, request.params.itemId);
		assert.equal(item.status, decision === 'decline' ? 'declined' : 'completed');
		assert.equal(item.aggregatedOutput, decision === 'decline' ? null : `${decision}\n`);
	}
});

test('a command that the sandbox blocked needs a second approval and stays one item', options, async (t) => {
	const model = await startModel(t, [run('touch yes'), run('touch no'), say('after')]);
	const server = await startAppServer(t, model);
	const granular = { sandbox_approval: true, rules: true, mcp_elicitations: true };
	const { thread } = await server.request('thread/start', { approvalPolicy: { granular }, sandbox: 'read-only' });
	const done = turn(server, thread, 'go');
	for (const decision of ['accept', 'decline']) {
		const { id, params } = await server.next('item/commandExecution/requestApproval');
		assert.equal(params.reason, 'command failed; retry without sandbox?');
		server.answer({ id }, { decision });
	}
	await done;
	const items = (method) => server.all(method).map(({ params }) => params.item).filter(({ type }) => type === 'commandExecution');
	assert.deepEqual(items('item/started').map(({ status }) => status), ['inProgress', 'inProgress']);
	assert.deepEqual(items('item/completed').map(({ status }) => status), ['completed', 'declined']);
	assert.deepEqual(['yes', 'no'].map((name) => fs.existsSync(path.join(server.cwd, name))), [true, false]);
});

test('an answer about a host is a yes only if it says so', options, async (t) => {
	const actions = ['allow', 'deny', 'perhaps'];
	const model = await startModel(t, [...actions.map((word) => ask(`echo ${word}`)), say('after')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { approvalPolicy: 'on-request', sandbox: 'read-only' });
	const done = turn(server, thread, 'go');
	for (const action of actions) {
		const request = await server.next('item/commandExecution/requestApproval');
		const amendment = { network_policy_amendment: { host: 'example.com', action } };
		server.answer(request, { decision: { applyNetworkPolicyAmendment: amendment } });
	}
	await done;
	const items = server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'commandExecution');
	assert.deepEqual(items.map(({ status }) => status), ['completed', 'declined', 'declined']);
});

test('an unusable answer is a denial, and unexpected answers change nothing', options, async (t) => {
	const model = await startModel(t, [ask('echo no'), say('after')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { approvalPolicy: 'on-request', sandbox: 'read-only' });
	const done = turn(server, thread, 'go');
	const request = await server.next('item/commandExecution/requestApproval');
	server.answer({ id: 99 }, { decision: 'accept' });
	server.answer(request, { decision: 'perhaps' });
	server.answer(request, { decision: 'accept' });
	assert.equal((await done).status, 'completed');
	const item = server.all('item/completed').map(({ params }) => params.item).find(({ type }) => type === 'commandExecution');
	assert.equal(item.status, 'declined');
	const { stderr } = await server.end();
	assert.match(stderr, /request 99 was ignored[\s\S]*the client's answer cannot be used: unknown variant `perhaps`[\s\S]*request 0 was ignored/);
});

test('a patch is an item with its changes, asked for where it must be', options, async (t) => {
	const add = patch('*** Add File: new.txt', '+hello');
	const model = await startModel(t, [add, say('one'), add, say('two')]);
	const server = await startAppServer(t, model, { config: 'model = "gpt-5.5"' });
	const { thread } = await server.request('thread/start', { approvalPolicy: 'on-request', sandbox: 'read-only' });
	for (const decision of ['decline', 'accept']) {
		const done = turn(server, thread, 'go');
		const request = await server.next('item/fileChange/requestApproval');
		assert.deepEqual({ ...request.params, startedAtMs: 0 }, { threadId: thread.id, turnId: request.params.turnId,
			itemId: request.params.itemId, startedAtMs: 0, reason: null, grantRoot: null });
		server.answer(request, { decision });
		await done;
		const items = server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'fileChange');
		assert.deepEqual(items.at(-1).changes,
			[{ path: path.join(server.cwd, 'new.txt'), kind: { type: 'add' }, diff: 'hello\n' }]);
		assert.equal(items.at(-1).status, decision === 'accept' ? 'completed' : 'declined');
		assert.equal(server.all('item/started').filter(({ params }) => params.item.type === 'fileChange').length, items.length);
	}
	assert.equal(fs.readFileSync(path.join(server.cwd, 'new.txt'), 'utf8'), 'hello\n');
});

test('an interrupt ends the turn, its command and its items', options, async (t) => {
	const model = await startModel(t, [run('echo $$ > pid; sleep 600', ), say('second')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	const { turn: { id } } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await until(path.join(server.cwd, 'pid'));
	await assert.rejects(server.request('turn/interrupt', { threadId: thread.id, turnId: 'other' }),
		{ message: `expected active turn id \`other\` but found \`${id}\`` });
	assert.deepEqual(await server.request('turn/interrupt', { threadId: thread.id, turnId: id }), {});
	const { params } = await server.next('turn/completed');
	assert.deepEqual([params.turn.status, params.turn.error, params.turn.items], ['interrupted', null, []]);
	const started = server.all('item/started').map(({ params: { item } }) => item.id);
	const completed = server.all('item/completed').map(({ params: { item } }) => item.id);
	assert.deepEqual(completed.sort(), started.sort());
	await untilGone(path.join(server.cwd, 'pid'));
	await assert.rejects(server.request('turn/interrupt', { threadId: thread.id, turnId: id }),
		{ message: 'no active turn to interrupt' });
	assert.equal((await turn(server, thread, 'again')).status, 'completed');
});

test('input during a turn joins it', options, async (t) => {
	const model = await startModel(t, [run('while ! test -e go; do sleep 0.05; done'), say('heard')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await assert.rejects(server.request('turn/steer', { threadId: thread.id, expectedTurnId: 'x', input: [text('?')] }),
		{ message: 'no active turn to steer' });
	const { turn: { id } } = await server.request('turn/start', { threadId: thread.id, input: [text('one')] });
	await server.take(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution', 'command');
	await assert.rejects(server.request('turn/steer', { threadId: thread.id, expectedTurnId: id, input: [] }),
		{ message: 'input must not be empty' });
	await assert.rejects(server.request('turn/steer', { threadId: thread.id, expectedTurnId: 'x', input: [text('?')] }),
		{ message: `expected active turn id \`x\` but found \`${id}\`` });
	assert.deepEqual(await server.request('turn/steer',
		{ threadId: thread.id, expectedTurnId: id, input: [text('two')], clientUserMessageId: 'c2' }), { turnId: id });
	assert.equal((await server.request('turn/start', { threadId: thread.id, input: [text('three')] })).turn.id, id);
	fs.writeFileSync(path.join(server.cwd, 'go'), '');
	await server.next('turn/completed');
	const said = server.all('item/completed').map(({ params }) => params.item).filter(({ type }) => type === 'userMessage');
	assert.deepEqual(said.map(({ content, clientId }) => [content[0].text, clientId]),
		[['one', null], ['two', 'c2'], ['three', null]]);
	assert.equal(server.all('turn/started').length, 1);
});

test('a failure is reported before the end of its turn, and as an outcome to clients with the capability', options, async (t) => {
	const model = await startModel(t, [forever(httpError(400, { error: { message: 'no such thing' } }))]);
	const server = await startAppServer(t, model, { args: ['-c', 'app_server.turn_outcome_events=true'] });
	const { thread } = await server.request('thread/start', FREE);
	const ended = await turn(server, thread, 'go');
	assert.deepEqual(story(server.messages).slice(-5),
		['thread/status/changed systemError', 'error', 'thread/readState/changed', 'turn/failed', 'turn/completed']);
	const { params } = server.all('error')[0];
	assert.equal(params.willRetry, false);
	assert.deepEqual(ended.error, params.error);
	assert.equal(ended.status, 'failed');
	assert.deepEqual(Object.keys(params.error), ['message', 'codexErrorInfo', 'additionalDetails', 'misalignment']);
	const { params: { turn: failed } } = server.all('turn/failed')[0];
	assert.deepEqual(failed, ended);
});

test('settings that come with a turn stay', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { model: 'gpt-5.5' });
	await turn(server, thread, 'go', { model: 'gpt-5.4', effort: 'high', sandboxPolicy: { type: 'dangerFullAccess' } });
	await turn(server, thread, 'again', { model: 'gpt-5.4' });
	const changes = server.all('thread/settings/updated');
	assert.equal(changes.length, 1);
	const { threadSettings } = changes[0].params;
	assert.deepEqual([threadSettings.model, threadSettings.effort, threadSettings.sandboxPolicy],
		['gpt-5.4', 'high', { type: 'dangerFullAccess' }]);
	assert.deepEqual(model.requests().map(({ body }) => [body.model, body.reasoning.effort]),
		[['gpt-5.4', 'high'], ['gpt-5.4', 'high']]);
});

test('threads and ids that do not exist are named', options, async (t) => {
	const server = await startAppServer(t, null);
	const unknown = '00000000-0000-7000-8000-000000000000';
	await assert.rejects(server.request('turn/start', { threadId: 'nope', input: [] }), { message: 'invalid thread id: invalid character: '
		+ 'expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1' });
	await assert.rejects(server.request('turn/start', { threadId: unknown, input: [] }), { message: `thread not found: ${unknown}` });
	assert.deepEqual(await server.request('thread/unsubscribe', { threadId: unknown }), { status: 'notLoaded' });
	const { thread } = await server.request('thread/start', {});
	assert.deepEqual(await server.request('thread/unsubscribe', { threadId: thread.id }), { status: 'unsubscribed' });
	assert.deepEqual(await server.request('thread/unsubscribe', { threadId: thread.id }), { status: 'notSubscribed' });
});

test('the end of the input ends the program and its commands at once', options, async (t) => {
	const model = await startModel(t, [run('echo $$ > pid; sleep 600')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await until(path.join(server.cwd, 'pid'));
	const { code } = await server.end();
	assert.equal(code, 0);
	await untilGone(path.join(server.cwd, 'pid'));
	assert.equal(server.all('turn/completed').length, 0);
});

test('a client that does not read for a while misses nothing', options, async (t) => {
	const words = 'a line that many are made of\n'.repeat(150_000);
	const model = await startModel(t, [reply({ message: words, chunks: 3000 })]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('item/agentMessage/delta');
	server.child.stdout.pause();
	const answers = Array.from({ length: 2000 }, () => server.request('mock/experimentalMethod', { value: 'x'.repeat(1000) }));
	await new Promise((wake) => setTimeout(wake, 300));
	server.child.stdout.resume();
	await server.next('turn/completed');
	assert.equal((await Promise.all(answers)).length, 2000);
	assert.ok(server.all('item/agentMessage/delta').map(({ params }) => params.delta).join('') === words);
});

test('the diff of a turn combines its patches', options, async (t) => {
	const model = await startModel(t, [
		patch('*** Add File: new.txt', '+hello', '+world'),
		patch('*** Update File: old.txt', '@@', ' one', '-two', '+TWO'),
		patch('*** Delete File: new.txt', '*** Update File: old.txt', '*** Move to: moved.txt', '@@', '-three', '+THREE'),
		say('done')]);
	const server = await startAppServer(t, model, { config: 'model = "gpt-5.5"' });
	fs.writeFileSync(path.join(server.cwd, 'old.txt'), 'one\ntwo\nthree\n');
	const { thread } = await server.request('thread/start', FREE);
	const { id } = await turn(server, thread, 'go');
	const diffs = server.all('turn/diff/updated').map(({ params }) => params);
	const old = '4cb29ea38f70d7c61b2a3a25b02e3bdf44905402';
	const added = 'diff --git a/new.txt b/new.txt\nnew file mode 100644\n'
		+ 'index 0000000000000000000000000000000000000000..94954abda49de8615a048f8d2e64b5de848e27a1\n'
		+ '--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+hello\n+world\n';
	const changed = `diff --git a/old.txt b/old.txt\nindex ${old}..ddc897f039f57aa91e16efa6dfde386c4255206f\n`
		+ '--- a/old.txt\n+++ b/old.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n';
	const moved = `diff --git a/old.txt b/moved.txt\nindex ${old}..7c4ec5671d14165336c417bfa6633f00307a8043\n`
		+ '--- a/old.txt\n+++ b/moved.txt\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+TWO\n+THREE\n';
	assert.deepEqual(diffs.map(({ diff }) => diff),
		[added, added, added + changed, added + changed, moved, moved, moved]);
	assert.ok(diffs.every(({ threadId, turnId }) => threadId === thread.id && turnId === id));
	assert.deepEqual(story(server.messages).filter((word) => /diff|fileChange/.test(word)).slice(0, 4),
		['item/started fileChange', 'item/completed fileChange', 'turn/diff/updated', 'turn/diff/updated']);
});

test('a message says whether it is on the way or the answer', options, async (t) => {
	const phases = [{ message: 'Looking.', chunks: 2, phase: 'commentary' }, { message: 'Found.', phase: 'final_answer' },
		{ message: 'Odd.', phase: 'other' }];
	const server = await startAppServer(t, await startModel(t, [reply(...phases)]));
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread, 'go');
	const of = (name) => server.all(name).map(({ params }) => params.item).filter(({ type }) => type === 'agentMessage')
		.map(({ phase }) => phase);
	assert.deepEqual(of('item/completed'), ['commentary', 'final_answer', null]);
	assert.deepEqual(of('item/started'), ['commentary', 'final_answer', null]);
	const { thread: stored } = await server.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.deepEqual(stored.turns[0].items.slice(1).map(({ phase }) => phase), ['commentary', 'final_answer', null]);
});

test('without the plan tool there are no plans', options, async (t) => {
	const plan = { plan: [{ step: 'one', status: 'pending' }] };
	const model = await startModel(t, [reply({ call: 'update_plan', arguments: plan, call_id: 'p' }), say('done')]);
	const server = await startAppServer(t, model, { args: ['-c', 'tools.update_plan=false'] });
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread, 'go');
	assert.equal(outputOf(model.requests()[1], 'p'), 'unsupported call: update_plan');
	assert.equal(server.all('turn/plan/updated').length, 0);
});

test('an answer is not lost among more steers than the queue takes', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('done')], { unmatched: 'ok' });
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { ...FREE, approvalPolicy: 'untrusted' });
	const { turn: { id } } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const asked = await server.next('item/commandExecution/requestApproval');
	const steer = (n) => ({ id: 1000 + n, method: 'turn/steer',
		params: { threadId: thread.id, expectedTurnId: id, input: [text(`${n}`)] } });
	const lines = [...Array(70).keys()].map(steer);
	lines.push({ id: asked.id, result: { decision: 'accept' } });
	server.write(lines.map((line) => JSON.stringify(line) + '\n').join(''));
	assert.equal((await server.next('serverRequest/resolved')).params.requestId, asked.id);
	const { params } = await server.take(({ method, params }) => method === 'item/completed' &&
		params.item.type === 'commandExecution', 'end of the command');
	assert.deepEqual([params.item.status, params.item.exitCode], ['completed', 0]);
});

test('a command can be allowed for good with all that starts alike', options, async (t) => {
	const model = await startModel(t, [run('git init one'), run('git init two'), say('done')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { ...FREE, approvalPolicy: 'untrusted' });
	const done = turn(server, thread, 'go');
	const asked = await server.next('item/commandExecution/requestApproval');
	const { proposedExecpolicyAmendment: words, availableDecisions } = asked.params;
	assert.deepEqual(words.slice(0, 2), ['git', 'init']);
	const allows = (prefix) => ({ acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } });
	assert.deepEqual(availableDecisions, ['accept', 'acceptForSession', allows(words), 'decline', 'cancel']);
	server.answer(asked, { decision: allows(['git', 'init']) });
	assert.equal((await done).status, 'completed');
	assert.equal(server.all('item/commandExecution/requestApproval').length, 1);
	assert.match(fs.readFileSync(path.join(server.home, 'rules/default.rules'), 'utf8'), /\["git", "init"\]/);
});

test('outcomes are sent only to clients with the capability', options, async (t) => {
	const model = await startModel(t, [httpError(400, 'no'), reply({ delta: 'half' }, { hang: true })]);
	const server = await startAppServer(t, model, { args: ['-c', 'model_providers.mock.request_max_retries=0'],
		capabilities: { turnOutcomeEvents: true } });
	const { thread } = await server.request('thread/start', FREE);
	assert.equal((await turn(server, thread, 'go')).status, 'failed');
	assert.deepEqual(story(server.messages).slice(-2), ['turn/failed', 'turn/completed']);
	const { turn: { id: turnId } } = await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('item/agentMessage/delta');
	await server.request('turn/interrupt', { threadId: thread.id, turnId });
	const { params } = await server.next('turn/completed');
	assert.deepEqual(server.all('turn/cancelled').map(({ params }) => params.turn), [params.turn]);

	const plain = await startAppServer(t, await startModel(t, [httpError(400, 'no')]),
		{ args: ['-c', 'model_providers.mock.request_max_retries=0'] });
	const { thread: other } = await plain.request('thread/start', FREE);
	await turn(plain, other, 'go');
	assert.equal(plain.all('turn/failed').length, 0);
});

test('a granular policy is accepted and returned wherever a policy is', options, async (t) => {
	const server = await startAppServer(t, await startModel(t, [say('one'), say('two')]));
	const granular = (sandbox_approval, rules) => ({ granular: { sandbox_approval, rules, mcp_elicitations: true } });
	const whole = (sandbox_approval, rules) => ({ granular: { sandbox_approval, rules, skill_approval: false,
		request_permissions: false, mcp_elicitations: true } });
	const { thread, approvalPolicy } = await server.request('thread/start', { ...FREE, approvalPolicy: granular(true, false) });
	assert.deepEqual(approvalPolicy, whole(true, false));
	await turn(server, thread, 'go', { approvalPolicy: { reject: { sandbox_approval: true, rules: false } } });
	assert.deepEqual(server.all('thread/settings/updated')[0].params.threadSettings.approvalPolicy, whole(false, true));
	await server.request('thread/settings/update', { threadId: thread.id, approvalPolicy: granular(true, true) });
	const told = await server.take(({ method, params }) => method === 'thread/settings/updated' &&
		params.threadSettings.approvalPolicy.granular.sandbox_approval, 'settings');
	assert.deepEqual(told.params.threadSettings.approvalPolicy, whole(true, true));
	await turn(server, thread, 'again');
	const fork = await server.request('thread/fork', { threadId: thread.id, approvalPolicy: granular(false, false) });
	assert.deepEqual(fork.approvalPolicy, whole(false, false));
	await server.end();
	const later = await startAppServer(t, await startModel(t, [say('unheard')]), { home: server.home });
	assert.deepEqual((await later.request('thread/resume', { threadId: thread.id })).approvalPolicy, whole(true, true));
	const changed = await later.request('thread/resume', { threadId: fork.thread.id, approvalPolicy: granular(true, false) });
	assert.deepEqual(changed.approvalPolicy, whole(true, false));
});

test('an answer by another model is reported once per turn', options, async (t) => {
	const headers = { 'openai-model': 'small-1' };
	const model = await startModel(t, [{ ...run('true'), headers }, { ...say('one'), headers },
		{ ...say('two'), headers: { 'openai-model': 'gpt-5.5-2026-01-01' } }]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', { ...FREE, model: 'gpt-5.5' });
	const { id: turnId } = await turn(server, thread, 'go');
	await turn(server, thread, 'again'); // the same model, of some date
	assert.deepEqual(server.all('model/rerouted').map(({ params }) => params), [{ threadId: thread.id, turnId,
		fromModel: 'gpt-5.5', toModel: 'small-1', reason: 'highRiskCyberActivity' }]);
	assert.match(server.all('warning').map(({ params }) => params.message).join(), /small-1 in place of gpt-5.5/);
});

test('an input of more than 1,048,576 characters is refused, also in several parts', options, async (t) => {
	const model = await startModel(t, [say('Taken.')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	const most = 1_048_576;
	const refusal = (actual_chars) => ({
		code: -32602, message: 'Input exceeds the maximum length of 1048576 characters.',
		data: { input_error_code: 'input_too_large', max_chars: most, actual_chars },
	});
	const sayParts = (...parts) => server.request('turn/start', { threadId: thread.id, input: parts.map(text) });
	await assert.rejects(sayParts('x'.repeat(most + 1)), refusal(most + 1));
	await assert.rejects(sayParts('x'.repeat(most), 'yz'), refusal(most + 2));
	await assert.rejects(server.request('turn/steer', { threadId: thread.id, expectedTurnId: 'any', input: [text('x'.repeat(most + 1))] }),
		refusal(most + 1));
	await sayParts('\u00e9'.repeat(most));
	assert.equal((await server.next('turn/completed')).params.turn.status, 'completed');
	assert.equal(model.requests().length, 1);
});

test('a message whose stream broke continues in the same item and is stored once', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'after th' }, { drop: true }), say('after the fix')]);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', FREE);
	await turn(server, thread, 'go');
	const messages = (method) => server.all(method).map(({ params }) => params.item)
		.filter(({ type }) => type === 'agentMessage').map(({ id, text: words }) => [id, words]);
	const [[id]] = messages('item/started');
	assert.deepEqual(messages('item/started'), [[id, '']]);
	assert.deepEqual(messages('item/completed'), [[id, 'after the fix']]);
	const deltas = server.all('item/agentMessage/delta').map(({ params }) => params);
	assert.ok(deltas.every(({ itemId }) => itemId === id));
	assert.equal(deltas.map(({ delta }) => delta).join(''), 'after the fix');
	const read = await server.request('thread/read', { threadId: thread.id, includeTurns: true });
	assert.deepEqual(read.thread.turns[0].items.filter(({ type }) => type === 'agentMessage')
		.map(({ id: stored, text: words }) => [stored, words]), [[id, 'after the fix']]);
});

const LINES = Array.from({ length: 100 }, (_, i) => `line ${i}`);
const STREAMED = ['*** Begin Patch', '*** Add File: b.txt', ...LINES.map((line) => `+${line}`),
	'*** Update File: a.txt', '*** Move to: c.txt', '@@ top', ' one', '-two', '+TWO', '*** Delete File: d.txt', '*** End Patch', ''].join('\n');

test('with apply_patch_streaming_events a patch is reported while the model writes it', options, async (t) => {
	for (const [config, isOn] of [['[features]\napply_patch_streaming_events = true\n', true], ['', false]]) {
		const model = await startModel(t, [reply({ custom: 'apply_patch', input: STREAMED, chunks: STREAMED.length }), say('Done.')]);
		const cwd = tempDir(t, 'cwd');
		fs.writeFileSync(path.join(cwd, 'a.txt'), 'top\none\ntwo\n');
		fs.writeFileSync(path.join(cwd, 'd.txt'), 'gone\n');
		const server = await startAppServer(t, model, { config: `approval_policy = "never"\nsandbox_mode = "danger-full-access"\n${config}` });
		const { thread } = await server.request('thread/start', { cwd });
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		const { turn } = (await server.next('turn/completed')).params;
		const updates = server.all('item/fileChange/patchUpdated').map(({ params }) => params);
		assert.equal(updates.length > 0, isOn);
		assert.equal(fs.readFileSync(path.join(cwd, 'c.txt'), 'utf8'), 'top\none\nTWO\n');
		if (!isOn) continue;
		const [item] = server.all('item/started').map(({ params }) => params.item).filter(({ type }) => type === 'fileChange');
		assert.ok(updates.every(({ threadId, turnId, itemId }) => threadId === thread.id && turnId === turn.id && itemId === item.id));
		assert.deepEqual(updates[0].changes, [{ path: 'b.txt', kind: { type: 'add' }, diff: '' }]);
		assert.deepEqual(updates.at(-1).changes, [{ path: 'a.txt', kind: { type: 'update', move_path: 'c.txt' },
			diff: '@@ top\n one\n-two\n+TWO\n\n\nMoved to: c.txt' },
			{ path: 'b.txt', kind: { type: 'add' }, diff: `${LINES.join('\n')}\n` }, { path: 'd.txt', kind: { type: 'delete' }, diff: '' }]);
		const at = (method, test = () => true) => server.messages.findLastIndex((it) => it.method === method && test(it));
		assert.ok(at('item/fileChange/patchUpdated') < at('item/started', ({ params }) => params.item.id === item.id), 'before the item');
		assert.ok(updates.length < LINES.length / 2, `${updates.length} updates`);
	}
});

test('a patch that is none, or breaks off, is not reported as one', options, async (t) => {
	const none = { custom: 'apply_patch', input: 'no\npatch\n\0\n*** Begin\n', chunks: 9 };
	const long = `*** Begin Patch\n*** Add File: x\n${'+long\n'.repeat(150000)}*** End Patch\n`;
	const model = await startModel(t, [reply(none), reply({ custom: 'apply_patch', input: long, chunks: 40 }), say('Done.')]);
	const config = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n[features]\napply_patch_streaming_events = true\n';
	const server = await startAppServer(t, model, { config });
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	await server.next('turn/completed');
	const updates = server.all('item/fileChange/patchUpdated').map(({ params }) => params);
	assert.ok(updates.length > 0 && updates.every(({ itemId }) => itemId === 'call_2_1'));
	assert.ok(updates.every(({ changes }) => changes[0].diff.length <= 512 * 1024), 'of a longer patch the begin is reported');
	assert.equal((await server.end()).code, 0);
});
