// Hooks: commands that run on the events of a session (docs/hooks.md).

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startAppServer, text } from './lib/app_server.mjs';
import { call, codexBin, codexExec, forever, itemsOf, makeHome, needs, outputOf, patch, readLines, rollouts, run, runCodex, say,
	signalWhenThere, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { isAlive } from './lib/nest.mjs';
import { approve, startProto, userInput } from './lib/proto.mjs';

const BYPASS = '--dangerously-bypass-hook-trust';
const hook = (command, more) => ({ type: 'command', command, ...more });
const group = (command, more) => ({ hooks: [hook(command)], ...more });
const specific = (event, more) => JSON.stringify({ hookSpecificOutput: { hookEventName: event, ...more } });
/** A shell command that prints this text. */
const print = (words) => `printf '%s' '${words.replaceAll("'", `'\\''`)}'`;

/** A home with these hooks: {EVENT: [GROUP…]}. */
function homeWith(t, model, hooks, config = '') {
	const home = makeHome(t, model, config);
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks }));
	return home;
}

/** Hooks that append their input to a file, for these events. */
function spies(t, ...events) {
	const file = path.join(tempDir(t, 'spy'), 'log');
	fs.writeFileSync(file, '');
	const command = `x=$(cat); printf '%s\\n' "$x" >> ${file}`; // one write, because hooks of several agents run at once
	return { file, hooks: Object.fromEntries(events.map((event) => [event, [group(command)]])), inputs: () => readLines(file) };
}

const exec = (t, model, home, args = ['go'], more) => codexExec(t, model, [BYPASS, ...args], { home, ...more });
const messagesOf = (request, role) => request.body.input.filter((item) => item.role === role)
	.flatMap((item) => item.content.map((part) => part.text));

test('every event of a turn runs its hooks, in order, with its input', needs('exec'), async (t) => {
	const model = await startModel(t, [run('echo out'), say('Done.')]);
	const spy = spies(t, 'SessionStart', 'UserPromptSubmit', 'PreModelRequest', 'PostModelRequest', 'PreToolUse', 'PostToolUse', 'Stop',
		'SessionEnd');
	const { code, stderr, cwd } = await exec(t, model, homeWith(t, model, spy.hooks), ['the prompt']);
	assert.equal(code, 0, stderr);
	const inputs = spy.inputs();
	assert.deepEqual(inputs.map((it) => it.hook_event_name), ['SessionStart', 'UserPromptSubmit', 'PreModelRequest', 'PostModelRequest',
		'PreToolUse', 'PostToolUse', 'PreModelRequest', 'PostModelRequest', 'Stop', 'SessionEnd']);
	const [start, prompt, , post, pre, done] = inputs;
	assert.deepEqual([start.source, 'turn_id' in start, start.permission_mode], ['startup', false, 'bypassPermissions']);
	assert.equal(start.cwd, cwd);
	assert.match(start.transcript_path, /\.jsonl$/);
	assert.equal(prompt.prompt, 'the prompt');
	assert.equal(post.status, 'completed');
	assert.ok(post.token_usage.total_tokens > 0);
	assert.deepEqual([pre.tool_name, pre.tool_input, pre.tool_use_id], ['Bash', { command: 'echo out' }, 'call_1_1']);
	assert.equal(done.tool_response, 'out\n');
	assert.deepEqual([inputs[8].stop_hook_active, inputs[8].last_assistant_message], [false, 'Done.']);
	assert.deepEqual(Object.keys(inputs[9]).sort(), ['cwd', 'hook_event_name', 'reason', 'session_id', 'transcript_path']);
	assert.equal(new Set(inputs.map((it) => it.session_id)).size, 1);
});

test('text of SessionStart precedes the prompt, and that of UserPromptSubmit follows it', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const home = homeWith(t, model, { SessionStart: [group('echo before')], UserPromptSubmit: [group('echo behind')] });
	await exec(t, model, home, ['middle']);
	const input = model.requests()[0].body.input;
	assert.deepEqual(input.slice(-3).map((item) => [item.role, item.content[0].text]),
		[['developer', 'before'], ['user', 'middle'], ['developer', 'behind']]);
});

test('a blocked prompt and a stopped session send no request', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Never.')]);
	for (const hooks of [{ UserPromptSubmit: [group('echo no secrets >&2; exit 2')] },
		{ UserPromptSubmit: [group(print('{"decision":"block","reason":"no secrets"}'))] },
		{ SessionStart: [group(print('{"continue":false,"stopReason":"no secrets"}'))] }]) {
		const home = homeWith(t, model, hooks);
		const { code, stdout, stderr } = await exec(t, model, home, ['my key is 123']);
		assert.deepEqual([code, stdout.trim()], [0, ''], stderr);
		assert.match(stderr, /no secrets/);
		assert.ok(!rollouts(home).some((file) => fs.readFileSync(file, 'utf8').includes('my key is')), 'the prompt is not recorded');
	}
	assert.equal(model.requests().length, 0);
});

test('PreToolUse blocks a command, in both forms, and the model learns why', needs('exec'), async (t) => {
	const deny = specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'not here' });
	for (const command of ['echo not here >&2; exit 2', print(deny), print('{"decision":"block","reason":"not here"}')]) {
		const model = await startModel(t, [run('touch made'), say('Done.')]);
		const home = homeWith(t, model, { PreToolUse: [group(command, { matcher: 'Bash' })] });
		const { code, events, cwd } = await exec(t, model, home, ['go'], { json: true });
		assert.equal(code, 0);
		assert.ok(!fs.existsSync(path.join(cwd, 'made')));
		assert.equal(outputOf(model.requests()[1], 'call_1_1'), 'Command blocked by PreToolUse hook: not here. Command: touch made');
		assert.deepEqual(itemsOf(events, 'command_execution'), []);
	}
});

test('PreToolUse blocks a command that is larger than its output may be, and the model learns why', needs('exec'), async (t) => {
	const model = await startModel(t, [run(`touch made # ${'x'.repeat(4_200_000)}`), forever(say('Done.'))]);
	const home = homeWith(t, model, { PreToolUse: [group('echo not here >&2; exit 2', { matcher: 'Bash' })] });
	const { code, stderr } = await exec(t, model, home, ['go']);
	assert.equal(code, 0, stderr.slice(-400));
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /Command blocked by PreToolUse hook: its input would exceed 1 MiB\. Command: touch made # x/);
});

test('PreToolUse replaces a command; the new one runs and is judged', needs('exec'), async (t) => {
	const model = await startModel(t, [run('echo old'), run('echo old'), say('Done.')]);
	const home = homeWith(t, model, { PreToolUse: [group(print(specific('PreToolUse', { permissionDecision: 'allow',
		updatedInput: { command: 'echo new; touch made' }, additionalContext: 'it was replaced' })))] });
	const { stderr, cwd } = await exec(t, model, home, ['-s', 'read-only', 'go']);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /new/);
	assert.ok(!fs.existsSync(path.join(cwd, 'made')), 'the sandbox applies to it');
	assert.ok(messagesOf(model.requests()[1], 'developer').includes('it was replaced'));
	assert.match(stderr, /PreToolUse hook replaced the arguments/);
});

test('PostToolUse replaces the output of a tool', needs('exec'), async (t) => {
	const model = await startModel(t, [run('echo secret'), say('Done.')]);
	const home = homeWith(t, model, { PostToolUse: [group('echo withheld >&2; exit 2')] });
	await exec(t, model, home);
	assert.equal(outputOf(model.requests()[1], 'call_1_1'), 'withheld');
});

test('matchers select tools; a patch answers to Edit and Write as well', needs('exec'), async (t) => {
	const model = await startModel(t, [patch('*** Add File: a', '+x'), run('true'), say('Done.')]);
	const dir = tempDir(t, 'seen');
	const mark = (name, matcher) => group(`echo >> ${dir}/${name}`, { matcher });
	const home = homeWith(t, model, { PreToolUse: [mark('all', '*'), mark('none', 'Read'), mark('edit', 'Edit|Write'), mark('bash', '^Bash$'),
		mark('mcp', 'mcp__.*'), mark('empty', '')] });
	await exec(t, model, home);
	const counts = Object.fromEntries(fs.readdirSync(dir).map((name) => [name, fs.readFileSync(path.join(dir, name), 'utf8').length]));
	assert.deepEqual(counts, { all: 2, edit: 1, bash: 1, empty: 2 });
});

test('a Stop hook continues the task once with its reason', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Half.'), say('Whole.')]);
	const home = homeWith(t, model, { Stop: [group(
		`case $(cat) in *'"stop_hook_active":false'*) echo run the tests >&2; exit 2;; esac`)] });
	const { code, stdout } = await exec(t, model, home);
	assert.deepEqual([code, stdout], [0, 'Whole.\n']);
	assert.match(textsOf(model.requests()[1], 'user').at(-1),
		/^<hook_prompt hook_run_id="stop:0:.*hooks\.json">run the tests<\/hook_prompt>$/);
});

test('a Stop hook that always blocks ends at a limit', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Again.'))]);
	const home = homeWith(t, model, { Stop: [group('echo again >&2; exit 2')] });
	const { code, stderr } = await exec(t, model, home);
	assert.equal(code, 0);
	assert.match(stderr, /Stop hooks have continued this task 100 times/);
	assert.equal(model.requests().length, 101);
});

test('a failed hook has no effect and is reported', needs('exec'), async (t) => {
	const cases = {
		'exit 7': /exited with status 7/, 'kill -9 $$': /ended by signal 9/, "echo '{'": /not valid JSON/, "echo '[]'": /not an object/,
		'echo \'{"unknown":1}\'': /unknown member `unknown`/, 'exit 2': /blocks without a reason/, 'no-such-program': /exited with status 127/,
		'echo \'{"continue":"yes"}\'': /wrong type/,
		[print(specific('PreToolUse', { permissionDecision: 'ask' }))]: /`allow` or `deny`/,
		[print(specific('NoEvent', {}))]: /`hookEventName` must be the name of an event, such as `PreToolUse`/,
		[print('{"continue":false}')]: /cannot stop the turn/,
		'yes': /printed more than 1 MiB/,
	};
	const model = await startModel(t, [run('echo ran'), say('Done.')]);
	const home = homeWith(t, model, { PreToolUse: Object.keys(cases).map((command) => group(command)) });
	const { code, stderr } = await exec(t, model, home);
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /ran/);
	for (const reason of Object.values(cases)) assert.match(stderr, reason);
});

test('a hook that does not end is killed with its descendants at its time limit', needs('exec'), async (t) => {
	const model = await startModel(t, [run('echo ran'), say('Done.')]);
	const pids = path.join(tempDir(t, 'pids'), 'pids');
	const home = homeWith(t, model, { PreToolUse: [{ hooks: [hook(
		`trap '' TERM; echo $$ >> ${pids}; (trap '' TERM; setsid sh -c 'echo $$ >> ${pids}; sleep 600') & sleep 600`, { timeout: 1 })] }] });
	const { code, stderr } = await exec(t, model, home);
	assert.equal(code, 0);
	assert.match(stderr, /did not end within 1 s/);
	for (const pid of fs.readFileSync(pids, 'utf8').trim().split('\n'))
		assert.ok(!fs.existsSync(`/proc/${pid}`), `process ${pid} is left`);
});

test('a hook at the end of the session has a short time limit, unless it sets one', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const home = homeWith(t, model, { SessionEnd: [{ hooks: [hook('sleep 600')] }] });
	const { code, stdout } = await exec(t, model, home);
	assert.deepEqual([code, stdout], [0, 'Done.\n']);
	const limits = async (file) => {
		fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: file }));
		return JSON.parse((await runCodex(t, ['hooks', 'list', '--json'], { home })).stdout).hooks.map((it) => it.timeoutSec);
	};
	const with5 = { hooks: [hook('true', { timeout: 5 })] };
	assert.deepEqual(await limits({ Stop: [group('true')], Interrupt: [group('true')], SessionEnd: [with5] }), [600, 1, 5]);
	const stop = (timeout) => limits({ Stop: [{ hooks: [hook('true', { timeout })] }] });
	assert.deepEqual([await stop(0), await stop(-1)], [[1], []]);
});

test('a killed engine leaves no hook behind', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Never.')]);
	const file = path.join(tempDir(t, 'pids'), 'pids');
	const home = homeWith(t, model, { SessionStart: [group(`setsid sleep 600 & echo $$ $! > ${file}.new; mv ${file}.new ${file}; sleep 600`)] });
	await exec(t, model, home, ['go'], { onStart: signalWhenThere(file, 'SIGKILL') });
	for (const pid of fs.readFileSync(file, 'utf8').trim().split(' '))
		while (fs.existsSync(`/proc/${pid}`)) await new Promise((done) => setTimeout(done, 20));
});

test('hooks of one event run at the same time', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const dir = tempDir(t, 'meet');
	execFileSync('mkfifo', [path.join(dir, 'fifo')]);
	const home = homeWith(t, model, { UserPromptSubmit: [group(`echo hi > ${dir}/fifo`), group(`cat ${dir}/fifo`)] });
	const { code } = await exec(t, model, home);
	assert.equal(code, 0);
	assert.ok(messagesOf(model.requests()[0], 'developer').includes('hi'));
});

test('an asynchronous hook cannot decide, and its text is no context', needs('exec'), async (t) => {
	const model = await startModel(t, [run('echo ran'), say('Done.')]);
	const done = path.join(tempDir(t, 'done'), 'fifo');
	execFileSync('mkfifo', [done]);
	const late = (command) => ({ hooks: [hook(command, { async: true })] });
	const home = homeWith(t, model, { SessionStart: [late('echo text')], PreToolUse: [late(`echo no >&2; echo $$ > ${done}; exit 2`)],
		PostToolUse: [group(`pid=$(cat ${done}); while kill -0 $pid; do sleep 0.01; done 2> /dev/null`)] });
	const { code, stderr } = await exec(t, model, home);
	assert.equal(code, 0);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /ran/);
	assert.match(stderr, /PreToolUse hook failed and has no effect: it is asynchronous, and cannot decide/);
	assert.doesNotMatch(stderr, /hook blocked/);
	assert.ok(!model.requests().some((request) => messagesOf(request, 'developer').includes('text')));
});

test('codex hooks test lists the events if it does not know one', needs('hooks'), async (t) => {
	const { code, stderr } = await runCodex(t, ['hooks', 'test', 'PreTool']);
	assert.equal(code, 2);
	assert.match(stderr, /there is no event `PreTool`; the events are PreModelRequest, .*PreToolUse, .*SessionEnd/);
});

test('a hook may name another event in its output', needs('exec'), async (t) => {
	const model = await startModel(t, [run('echo ran'), say('Done.')]);
	const denial = { permissionDecision: 'deny', permissionDecisionReason: 'not here' };
	await exec(t, model, homeWith(t, model, { PreToolUse: [group(print(specific('PostToolUse', denial)))] }));
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /blocked by PreToolUse hook: not here/);
});

test('a wrong state in hooks.json does not switch its guards off', needs('exec'), async (t) => {
	const model = await startModel(t, [run('touch made'), say('Done.')]);
	const home = homeWith(t, model, {});
	const unknown = Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [`x${i}`, 1]));
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ ...unknown,
		hooks: { state: { x: 1 }, PreToolUse: [group('echo no >&2; exit 2'), { hooks: [{ type: 'prompt' }] }] } }));
	const { stderr } = await exec(t, model, home);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /blocked by PreToolUse hook: no/);
	assert.match(stderr, /the member `state` has no effect/);
	assert.match(stderr, /supports the type `command` only/, 'and other warnings are not lost');
});

test('an unknown member of hooks.json is reported, and its hooks run', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const home = homeWith(t, model, {});
	fs.writeFileSync(path.join(home, 'hooks.json'),
		JSON.stringify({ Stop: [group('true')], description: 'mine', hooks: { UserPromptSubmit: [group('echo kept')] } }));
	const file = path.join(home, 'plugins/desk/hooks/hooks.json');
	fs.mkdirSync(path.dirname(file), { recursive: true });
	fs.mkdirSync(path.join(home, 'plugins/desk/.codex-plugin'));
	fs.writeFileSync(path.join(home, 'plugins/desk/.codex-plugin/plugin.json'), '{"name":"desk"}');
	fs.writeFileSync(file, JSON.stringify({ PreCompact: [] }));
	const { code, stderr } = await exec(t, model, home);
	assert.equal(code, 0);
	assert.match(stderr, new RegExp(`${path.join(home, 'hooks.json')}: the member .Stop. has no effect; events are in .hooks.`));
	assert.match(stderr, /desk\/hooks\/hooks\.json: the member `PreCompact` has no effect/);
	assert.doesNotMatch(stderr, /description/);
	assert.ok(messagesOf(model.requests()[0], 'developer').includes('kept'));
});

test('nothing waits for an asynchronous hook, and it ends with the session', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const pid = path.join(tempDir(t, 'pid'), 'pid');
	const home = homeWith(t, model, { SessionStart: [{ hooks: [hook(`echo $$ > ${pid}; exec sleep 600`, { async: true })] }],
		Stop: [group(`until [ -s ${pid} ]; do sleep 0.01; done`)] });
	const { code, stdout } = await exec(t, model, home);
	assert.deepEqual([code, stdout], [0, 'Done.\n']);
	assert.ok(!fs.existsSync(`/proc/${fs.readFileSync(pid, 'utf8').trim()}`));
});

test('an interrupt leaves no hook behind, and runs the Interrupt hooks', needs('proto'), async (t) => {
	const model = await startModel(t, [run('echo never'), say('Next.')]);
	const dir = tempDir(t, 'pid');
	const home = homeWith(t, model, { PreToolUse: [group(`echo $$ > ${dir}/pid; exec sleep 600`)],
		Interrupt: [group(`cat > ${dir}/interrupt`)], Stop: [group(`until [ -s ${dir}/interrupt ]; do sleep 0.01; done`)] });
	const trusted = await trust(t, home);
	assert.equal(trusted.code, 0, trusted.stderr);
	const codex = startProto(t, model, { home });
	codex.submit('1', userInput('go'));
	await codex.next('task_started');
	while (!fs.existsSync(`${dir}/pid`) || !fs.readFileSync(`${dir}/pid`, 'utf8').trim()) await new Promise((done) => setTimeout(done, 5));
	codex.submit('i', { type: 'interrupt' });
	await codex.next('turn_aborted');
	codex.submit('2', userInput('again'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	assert.ok(!fs.existsSync(`/proc/${fs.readFileSync(`${dir}/pid`, 'utf8').trim()}`));
	const input = JSON.parse(fs.readFileSync(`${dir}/interrupt`, 'utf8'));
	assert.deepEqual([input.hook_event_name, input.turn_id], ['Interrupt', '1']);
});

/** Trusts all hooks of a home, as the user does. */
const trust = (t, home, cwd) => runCodex(t, ['hooks', 'trust', '--all'], { home, cwd });

test('PermissionRequest hooks allow and deny; without a decision the user is asked', needs('proto'), async (t) => {
	const answer = (decision) => print(specific('PermissionRequest', { decision }));
	const model = await startModel(t, [run('touch allowed'), run('touch denied'), run('touch asked'), say('Done.')]);
	const home = homeWith(t, model, { PermissionRequest: [group(`case $(cat) in
		*'touch allowed'*) ${answer({ behavior: 'allow' })};;
		*'touch denied'*) ${answer({ behavior: 'deny', message: 'not this one' })};; esac`, { matcher: 'Bash' })] },
	'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n');
	assert.equal((await trust(t, home)).code, 0);
	const codex = startProto(t, model, { home });
	codex.submit('1', userInput('go'));
	const request = await codex.next('exec_approval_request');
	assert.match(JSON.stringify(request.msg.command), /touch asked/);
	codex.submit('a', approve(request.id, 'approved'));
	await codex.next('task_complete');
	const { cwd } = codex;
	await codex.end();
	assert.match(outputOf(model.requests()[2], 'call_2_1'), /^not this one$/);
	assert.match(outputOf(model.requests()[1], 'call_1_1'), /exited with code 0/);
	assert.ok(!cwd || (fs.existsSync(path.join(cwd, 'allowed')) && !fs.existsSync(path.join(cwd, 'denied'))));
});

test('compaction runs its hooks, and the session starts again', needs('proto'), async (t) => {
	const model = await startModel(t, [say('One.'), say('A summary.'), say('Two.')]);
	const spy = spies(t, 'PreCompact', 'PostCompact', 'SessionStart');
	const home = homeWith(t, model, spy.hooks);
	assert.equal((await trust(t, home)).code, 0);
	const codex = startProto(t, model, { home });
	for (const [id, op] of [['1', userInput('go')], ['2', { type: 'compact' }], ['3', userInput('on')]]) {
		codex.submit(id, op);
		await codex.next('task_complete');
	}
	await codex.end();
	assert.deepEqual(spy.inputs().map((it) => [it.hook_event_name, it.source ?? it.trigger]),
		[['SessionStart', 'startup'], ['PreCompact', 'manual'], ['PostCompact', 'manual'], ['SessionStart', 'compact']]);
});

test('subagents have their own start and stop', needs('exec'), async (t) => {
	const spy = spies(t, 'SessionStart', 'Stop', 'SubagentStart', 'SubagentStop', 'UserPromptSubmit', 'PreModelRequest');
	const model = await startModel(t, [
		{ when: { contains: ['the work of the child'], lacks: ['zebra'] }, reply: [{ message: 'Child done.' }] },
		call('subagent_spawn', { prompt: 'the work of the child' }), call('subagent_await'), forever(say('Done.'))]);
	await exec(t, model, homeWith(t, model, spy.hooks, 'features.subagent_tools = true\n'), ['zebra']);
	const inputs = spy.inputs(), of = (name) => inputs.filter((it) => it.hook_event_name === name);
	assert.equal(of('SubagentStart').length, 1);
	assert.equal(of('SubagentStop').length, 1);
	assert.equal(of('SessionStart').length, 1);
	assert.equal(of('UserPromptSubmit').length, 1);
	assert.equal(of('SubagentStart')[0].agent_id, of('SubagentStart')[0].session_id);
	assert.equal(of('SubagentStop')[0].last_assistant_message, 'Child done.');
	assert.match(of('SubagentStop')[0].agent_transcript_path, /\.jsonl$/);
});

test('the source of a start: startup, resume, and fork once', needs('exec'), async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.'), say('Four.')]);
	const spy = spies(t, 'SessionStart');
	const home = homeWith(t, model, spy.hooks);
	const first = await exec(t, model, home);
	await exec(t, model, home, ['resume', '--last', 'on'], { cwd: first.cwd });
	const forked = await exec(t, model, home, ['fork', '--last', 'other way'], { cwd: first.cwd });
	assert.equal(forked.code, 0, forked.stderr);
	await exec(t, model, home, ['resume', '--last', 'on'], { cwd: first.cwd });
	assert.deepEqual(spy.inputs().map((it) => it.source), ['startup', 'resume', 'fork', 'resume']);
});

test('a client names the source clear', needs('app-server'), async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const spy = spies(t, 'SessionStart');
	const home = homeWith(t, model, spy.hooks);
	assert.equal((await trust(t, home)).code, 0);
	const server = await startAppServer(t, model, { home });
	for (const more of [{ sessionStartSource: 'clear' }, { sessionStartSource: 'startup' }]) {
		const { thread } = await server.request('thread/start', more);
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await server.next('turn/completed');
	}
	assert.deepEqual(spy.inputs().map((it) => it.source), ['clear', 'startup']);
});

for (const how of ['the end of its input', 'SIGTERM']) {
	test(`an app-server runs the SessionEnd hooks of all its threads at once on ${how}`, needs('app-server'), async (t) => {
		const model = await startModel(t, [forever(say('Done.'))]);
		const spy = spies(t, 'SessionEnd');
		const dir = tempDir(t, 'meeting'); // each hook waits there for that of the other thread
		const meet = `mkdir ${dir}/$$; while [ $(ls ${dir} | wc -l) -lt 2 ]; do sleep .01; done`;
		spy.hooks.SessionEnd.push({ hooks: [hook(meet, { timeout: 60 })] });
		const home = homeWith(t, model, spy.hooks);
		assert.equal((await trust(t, home)).code, 0);
		const server = await startAppServer(t, model, { home });
		const ids = [];
		for (let i = 0; i < 2; i++)
			ids.push((await server.request('thread/start', {})).thread.id);
		if (how === 'SIGTERM') server.child.kill('SIGTERM');
		assert.equal((await (how === 'SIGTERM' ? server.done : server.end())).code, 0);
		assert.deepEqual(spy.inputs().map((it) => it.session_id).sort(), ids.sort());
		assert.equal(fs.readdirSync(dir).length, 2);
	});
}

test('an app-server that ends kills a SessionEnd hook at its time limit', needs('app-server'), async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const home = homeWith(t, model, { SessionEnd: [{ hooks: [hook('sleep 600')] }] });
	assert.equal((await trust(t, home)).code, 0);
	const server = await startAppServer(t, model, { home });
	await server.request('thread/start', {});
	assert.equal((await server.end()).code, 0);
});

const pipeIn = (dir, name) => {
	execFileSync('mkfifo', [path.join(dir, name)]);
	return path.join(dir, name);
};

test('the turns of all threads end before the SessionEnd hooks of one', needs('app-server'), async (t) => {
	const dir = tempDir(t, 'pipes'), commands = pipeIn(dir, 'commands'), release = pipeIn(dir, 'release'), ended = path.join(dir, 'ended');
	const model = await startModel(t, [forever(run(`echo $$ > ${commands}; exec sleep 600`))]);
	const home = homeWith(t, model, { SessionEnd: [{ hooks: [hook(`read x < ${release}; echo > ${ended}`, { timeout: 60 })] }] },
		'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n');
	assert.equal((await trust(t, home)).code, 0);
	const server = await startAppServer(t, model, { home });
	const pids = [];
	for (const config of [{}, { 'features.hooks': false }]) {
		const { thread } = await server.request('thread/start', { config });
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		pids.push(Number(await fs.promises.readFile(commands, 'utf8')));
	}
	const end = server.end();
	while (pids.some(isAlive)) await pause(5); // the hook is killed with the server if a command lives as long
	const pipe = fs.openSync(release, 'r+'); // does not wait for a reader, which a killed hook is not
	fs.writeSync(pipe, '\n');
	assert.equal((await end).code, 0);
	fs.closeSync(pipe);
	assert.ok(fs.existsSync(ended));
	assert.equal((await model.requests()).length, 2);
});

test('SessionEnd hooks of many threads do not all run at once, and all run', needs('app-server'), async (t) => {
	const LIMIT = 16, dir = tempDir(t, 'many'), model = await startModel(t, [say('Unused.')]);
	const count = `$(ls ${dir}/in | wc -l)`;
	fs.mkdirSync(`${dir}/in`);
	const command = `mkdir ${dir}/in/$$; until [ ${count} -ge ${LIMIT} ]; do sleep .05; done; ` +
		`[ ${count} -le ${LIMIT} ] || [ -e ${dir}/out ] || echo > ${dir}/early; echo >> ${dir}/out`;
	const home = homeWith(t, model, { SessionEnd: [{ hooks: [hook(command, { timeout: 60 })] }] });
	assert.equal((await trust(t, home)).code, 0);
	const server = await startAppServer(t, model, { home });
	for (let i = 0; i <= LIMIT; i++)
		await server.request('thread/start', {});
	assert.equal((await server.end()).code, 0);
	assert.equal(fs.readdirSync(`${dir}/in`).length, LIMIT + 1);
	assert.equal(fs.readFileSync(`${dir}/out`, 'utf8').length, LIMIT + 1);
	assert.ok(!fs.existsSync(`${dir}/early`));
});

test('the end of a session waits for its SessionEnd hooks, asynchronous ones as well', needs('app-server'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const ended = path.join(tempDir(t, 'ended'), 'ended');
	const home = homeWith(t, model, { SessionEnd: [{ hooks: [hook(`cat > /dev/null; sleep .1; echo >> ${ended}`, { async: true, timeout: 60 })] }] });
	assert.equal((await trust(t, home)).code, 0);
	const server = await startAppServer(t, model, { home });
	await server.request('thread/start', {});
	assert.equal((await server.end()).code, 0);
	assert.equal((await codexExec(t, model, ['go'], { home })).code, 0);
	assert.equal(fs.readFileSync(ended, 'utf8'), '\n\n');
});

test('a second signal ends an app-server that waits for SessionEnd hooks, and the hooks', needs('app-server'), async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const pipe = path.join(tempDir(t, 'started'), 'pipe');
	execFileSync('mkfifo', [pipe]);
	const home = homeWith(t, model, { SessionEnd: [{ hooks: [hook(`echo $$ > ${pipe}; exec sleep 600`, { timeout: 600 })] }] });
	assert.equal((await trust(t, home)).code, 0);
	const server = await startAppServer(t, model, { home });
	await server.request('thread/start', {});
	server.child.kill('SIGTERM');
	const pid = Number(await fs.promises.readFile(pipe, 'utf8'));
	server.child.kill('SIGTERM');
	assert.equal((await server.done).code, 0);
	assert.equal(isAlive(pid), false);
});

// ---- trust ----

test('a hook does not run before it is trusted, nor after it was changed', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const file = path.join(tempDir(t, 'ran'), 'ran');
	const home = homeWith(t, model, { SessionStart: [group(`echo >> ${file}`)] });
	const plain = () => codexExec(t, model, ['go'], { home });
	assert.match((await plain()).stderr, /1 hook of .*hooks\.json is not trusted and does not run/);
	assert.ok(!fs.existsSync(file));
	assert.equal((await trust(t, home)).code, 0);
	assert.doesNotMatch((await plain()).stderr, /not trusted/);
	assert.equal(fs.readFileSync(file, 'utf8'), '\n');
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { SessionStart: [group(`echo changed >> ${file}`)] } }));
	assert.match((await plain()).stderr, /not trusted/);
	assert.equal(fs.readFileSync(file, 'utf8'), '\n');
});

test('a project runs no hook of its own before the user trusts both, and cannot grant trust itself', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const file = path.join(tempDir(t, 'ran'), 'ran'), cwd = tempDir(t, 'project'), home = makeHome(t, model);
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.writeFileSync(path.join(cwd, '.codex/hooks.json'), JSON.stringify({ hooks: { SessionStart: [group(`echo >> ${file}`)] } }));
	await codexExec(t, model, [BYPASS, 'go'], { home, cwd });
	assert.ok(!fs.existsSync(file), 'the bypass does not apply to an untrusted project');
	fs.appendFileSync(path.join(home, 'config.toml'), `\n[projects."${cwd}"]\ntrust_level = "trusted"\n`);
	const listed = JSON.parse((await runCodex(t, ['hooks', 'list', '--json'], { home, cwd })).stdout);
	const { key, currentHash, trustStatus, source } = listed.hooks[0];
	assert.deepEqual([trustStatus, source], ['untrusted', 'project']);
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), `[hooks.state."${key}"]\ntrusted_hash = "${currentHash}"\n`);
	await codexExec(t, model, ['go'], { home, cwd });
	assert.ok(!fs.existsSync(file), 'a project cannot trust its own hooks');
	assert.equal((await trust(t, home, cwd)).code, 0);
	await codexExec(t, model, ['go'], { home, cwd });
	assert.ok(fs.existsSync(file));
});

test('a project cannot switch off the hooks of the user', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const file = path.join(tempDir(t, 'ran'), 'ran'), cwd = tempDir(t, 'project');
	const home = homeWith(t, model, { SessionStart: [group(`echo >> ${file}`)] });
	fs.appendFileSync(path.join(home, 'config.toml'), `\n[projects."${cwd}"]\ntrust_level = "trusted"\n`);
	fs.mkdirSync(path.join(cwd, '.codex'));
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'),
		`features.hooks = false\n[hooks.state."${home}/hooks.json:session_start:0:0"]\nenabled = false\n`);
	assert.equal((await trust(t, home, cwd)).code, 0);
	await codexExec(t, model, ['go'], { home, cwd });
	assert.ok(fs.existsSync(file));
});

test('a switched-off hook stays off under the bypass, and --disable hooks wins', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const file = path.join(tempDir(t, 'ran'), 'ran');
	const home = homeWith(t, model, { SessionStart: [group(`echo >> ${file}`)] });
	await exec(t, model, home, ['--disable', 'hooks', 'go']);
	assert.ok(!fs.existsSync(file));
	fs.appendFileSync(path.join(home, 'config.toml'), `\n[hooks.state."${home}/hooks.json:session_start:0:0"]\nenabled = false\n`);
	await exec(t, model, home);
	assert.ok(!fs.existsSync(file));
});

test('a hook that runs codex does not recurse without end', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const home = makeHome(t, model);
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { SessionStart: [group(
		`${codexBin} exec --skip-git-repo-check ${BYPASS} again </dev/null >/dev/null 2>${home}/stderr-$CODEX_HOOK_DEPTH; true`)] } }));
	const { code } = await exec(t, model, home, ['go'], { env: { CODEX_HOME: home } });
	assert.equal(code, 0);
	assert.equal(model.requests().length, 3);
	assert.match(fs.readFileSync(path.join(home, 'stderr-3'), 'utf8'), /started by a hook/);
});

test('hooks.json that is broken, huge or a link to a device is reported and the turn goes on', needs('exec'), async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const file = (home) => path.join(home, 'hooks.json');
	const cases = [
		[(home) => fs.writeFileSync(file(home), '{"hooks":'), /hooks\.json/],
		[(home) => fs.writeFileSync(file(home), '{"hooks":[]}'), /`hooks` must be an object/],
		[(home) => fs.writeFileSync(file(home), ' '.repeat(5 << 20)), /hooks\.json/],
		[(home) => fs.symlinkSync('/dev/zero', file(home)), /hooks\.json/],
		[(home) => fs.writeFileSync(file(home), '{"hooks":{"NoEvent":[]}}'), /no event `NoEvent`/],
		[(home) => fs.writeFileSync(file(home), JSON.stringify({ hooks: { Stop: [group(' ')] } })), /`command` is empty/],
		[(home) => fs.writeFileSync(file(home), JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] } })),
			/supports the type `command` only/],
		[(home) => fs.writeFileSync(file(home), JSON.stringify({ hooks: { PreToolUse: [group('x', { matcher: '(' })] } })),
			/not a regular expression/],
		[(home) => fs.writeFileSync(file(home), JSON.stringify({ hooks: { PreToolUse: [group('x', { matcher: '((a{1,255}){1,255}){1,255}' })] } })),
			/not a regular expression/],
	];
	for (const [prepare, warning] of cases) {
		const home = makeHome(t, model);
		prepare(home);
		const { code, stderr } = await exec(t, model, home);
		assert.equal(code, 0, stderr);
		assert.match(stderr, warning);
	}
	const home = makeHome(t, model, 'hooks = 5\n');
	const { code, stderr } = await exec(t, model, home);
	assert.equal(code, 1);
	assert.match(stderr, /`hooks` must be a table/);
});

test('hooks of config.toml run, beside those of hooks.json', needs('exec'), async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const home = homeWith(t, model, { SessionStart: [group('echo from json')] },
		'[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = "command"\ncommand = "echo from toml"\n');
	const { stderr } = await exec(t, model, home);
	const texts = messagesOf(model.requests()[0], 'developer');
	assert.ok(texts.includes('from json') && texts.includes('from toml'));
	assert.match(stderr, /both count/);
});

// ---- app-server ----

test('the app-server lists hooks, takes trust, and notifies of runs', needs('app-server'), async (t) => {
	const model = await startModel(t, [run('true'), say('Done.')]);
	const home = homeWith(t, model, { PreToolUse: [{ matcher: 'Bash', hooks: [hook(print('{"systemMessage":"looked at it"}'),
		{ timeout: 5, statusMessage: 'looking' })] }] });
	const server = await startAppServer(t, model, { home });
	const list = async () => (await server.request('hooks/list', {})).data[0];
	const { hooks: [listed], warnings, errors } = await list();
	assert.deepEqual([warnings, errors], [[], []]);
	const key = `${home}/hooks.json:pre_tool_use:0:0`;
	assert.deepEqual({ ...listed, currentHash: '', command: '' }, { key, eventName: 'preToolUse', handlerType: 'command', command: '',
		async: false, matcher: 'Bash', timeoutSec: 5, statusMessage: 'looking', additionalContextLimit: null,
		sourcePath: `${home}/hooks.json`, source: 'user', pluginId: null, environmentId: null, displayOrder: 0, enabled: true,
		isManaged: false, currentHash: '', trustStatus: 'untrusted' });
	await server.request('config/batchWrite', { edits: [{ keyPath: 'hooks.state', value: { [key]: { trusted_hash: listed.currentHash } },
		mergeStrategy: 'upsert' }], reloadUserConfig: true });
	assert.equal((await list()).hooks[0].trustStatus, 'trusted');
	const { thread } = await server.request('thread/start', {});
	await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
	const started = await server.next('hook/started');
	const { run: ended, turnId } = (await server.next('hook/completed')).params;
	assert.equal(started.params.run.status, 'running');
	assert.equal(turnId, started.params.turnId);
	assert.deepEqual([ended.id, ended.status, ended.scope, ended.entries],
		[`pre-tool-use:0:${home}/hooks.json:call_1_1`, 'completed', 'turn', [{ kind: 'warning', text: 'looked at it' }]]);
	await server.next('turn/completed');
	await server.end();
});

test('reloadUserConfig gives loaded threads the hooks and MCP servers of the changed file', needs('app-server'), async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const spy = spies(t, 'UserPromptSubmit');
	const home = homeWith(t, model, spy.hooks);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start', {});
	const turn = async () => {
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		await server.next('turn/completed');
	};
	await turn();
	const { key, currentHash } = (await server.request('hooks/list', {})).data[0].hooks[0];
	await server.request('config/batchWrite', { reloadUserConfig: true, edits: [
		{ keyPath: 'hooks.state', value: { [key]: { trusted_hash: currentHash } }, mergeStrategy: 'upsert' },
		{ keyPath: 'mcp_servers.added', value: { command: '/nonexistent' }, mergeStrategy: 'replace' }] });
	assert.equal(spy.inputs().length, 0);
	await turn();
	assert.equal(spy.inputs().length, 1);
	const { data } = await server.request('mcpServerStatus/list', { threadId: thread.id });
	assert.deepEqual(data.map(({ name }) => name), ['added']);
});
