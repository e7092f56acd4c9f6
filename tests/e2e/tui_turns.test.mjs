// The terminal: what belongs to one turn is counted, named and shown as of that turn, and a resumed session shows it as it
// was.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { engines, hostEnv, script } from './lib/code_mode.mjs';
import { atEnd, cleanEnv, codexBin, forever, makeHome, needs, patch, readLines, reply, rollouts, run, runCodex,
	say, startModel, tempDir } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { answer, conversationOf, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
const REVIEWED = 'approvals_reviewer = "auto_review"\napproval_policy = "on-request"\nsandbox_mode = "workspace-write"\n';
const SERVER = fileURLToPath(new URL('lib/mcp_server.mjs', import.meta.url));
const WRITE = { name: 'write', inputSchema: { type: 'object', properties: { say: { type: 'string' } } } };
const serverOf = (tools, answers) => `[mcp_servers.s]\ncommand = ${JSON.stringify(process.execPath)}\n` +
	`args = [${JSON.stringify(SERVER)}, ${JSON.stringify(JSON.stringify({ tools, answers }))}]\n`;
const mcpCall = (args) => reply({ item: { type: 'function_call', name: 'write', namespace: 'mcp__s', arguments: JSON.stringify(args), call_id: 'c' } });
const escalated = (cmd) => run(cmd, { sandbox_permissions: 'require_escalated', justification: 'It is needed.' });
const deny = say('{"outcome":"deny","risk_level":"high","user_authorization":"low","rationale":"Nobody asked."}');
const idle = (term) => term.untilGone(/esc to interrupt/);
const text = (term) => term.lines().join('\n');

/** The conversation of a resumed session, and its transcript. */
async function replayed(t, model, { home, cwd }, ...more) {
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd, rows: 60, ...more });
	const shown = conversationOf(again.lines());
	again.type('\x14');
	await again.until(/T R A N S C R I P T/);
	const transcript = text(again);
	again.type('q');
	await again.untilGone(/T R A N S C R I P T/);
	await leave(again);
	return { shown, transcript };
}

// ---- ids ----

/** Trusts all hooks of a home, as the user does. */
const trust = async (t, home) => assert.equal((await runCodex(t, ['hooks', 'trust', '--all'], { home })).code, 0);
const hooksOf = (out) => ({ UserPromptSubmit: [{ hooks: [{ type: 'command', command: `cat >> ${out}; echo >> ${out}` }] }] });

test('denials of the reviewer are counted in each turn of the terminal', options, async (t) => {
	const turns = [1, 2, 3, 4].flatMap((n) => [escalated(`touch made${n}`), deny, say(`Answer ${n}.`)]);
	const model = await startModel(t, turns);
	const term = await startReady(t, model, [], { config: REVIEWED, rows: 50 });
	for (const n of [1, 2, 3, 4]) {
		await enter(term, `words ${n}`);
		await term.until(new RegExp(`Answer ${n}\\.`));
		await idle(term);
	}
	assert.doesNotMatch(text(term), /too many|interrupted/);
	const turnsOf = new Set(readLines(rollouts(term.home)[0]).filter((line) => line.type === 'turn_context').map(({ payload }) => payload.turn_id));
	assert.equal(turnsOf.size, 4);
	await leave(term);
});

test('a client of proto that repeats an id: each turn has an id of its own, events have the one of the submission', options, async (t) => {
	const out = path.join(tempDir(t, 'out'), 'hook');
	const turns = [1, 2, 3, 4].flatMap((n) => [escalated(`touch made${n}`), deny, say(`Answer ${n}.`)]);
	const model = await startModel(t, turns);
	const home = makeHome(t, model, REVIEWED);
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: hooksOf(out) }));
	await trust(t, home);
	const proto = startProto(t, model, { home });
	for (let n = 1; n <= 4; n++) {
		proto.submit('same', userInput(`words ${n}`));
		await proto.next('task_complete');
	}
	await proto.end();
	const events = proto.events().filter(({ msg }) => /^(task_|exec_|item_|guardian)/.test(msg.type));
	assert.deepEqual([...new Set(events.map(({ id }) => id))], ['same']);
	assert.equal(events.filter(({ msg }) => msg.type === 'turn_aborted').length, 0);
	const ids = readLines(out).filter(Boolean).map(({ turn_id }) => turn_id);
	assert.equal(new Set(ids).size, 4);
	assert.equal(ids[0], 'same');
	const named = proto.events().filter(({ msg }) => msg.type === 'item_completed' && msg.item.type === 'UserMessage').map(({ msg }) => msg.turn_id);
	assert.deepEqual(named, ids);
});

test('an answer names a turn by its own id or by that of its submission, also when a client repeats ids', options, async (t) => {
	const model = await startModel(t, [run('touch first'), say('One.'), run('touch second'), say('Two.')]);
	const proto = startProto(t, model, { config: 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n' });
	for (const name of ['first', 'second']) {
		proto.submit('same', userInput('go'));
		await proto.next('exec_approval_request');
		proto.submit('answer', { type: 'exec_approval', id: 'same', decision: 'approved' });
		await proto.next('task_complete');
		assert.ok(fs.existsSync(path.join(proto.cwd, name)));
	}
	await proto.end();
});

// ---- refused ----

/** A hook that answers each request for an approval with this decision. */
function decides(home, decision) {
	const file = path.join(home, 'decision.json');
	fs.writeFileSync(file, JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }));
	const hooks = { PermissionRequest: [{ hooks: [{ type: 'command', command: `cat ${file}` }] }] };
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks }));
}

test('a command that the reviewer denied is named, live, in the transcript and after a resume', options, async (t) => {
	const model = await startModel(t, [escalated('touch made; echo "it\'s"'), deny, say('Done.')]);
	const home = makeHome(t, model, REVIEWED), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/• Done\./);
	await idle(term);
	assert.match(text(term), /• Automatic approval review denied .*\s+asked\.\n\n• The command was not run: `touch made; echo "it's"`\n\n• Done/);
	await leave(term);
	const { shown, transcript } = await replayed(t, model, { home, cwd });
	const reason = 'Automatic approval review denied \\(risk: high, authorization: low\\): Nobody asked\\.'.replaceAll(' ', '\\s+');
	for (const seen of [shown, transcript])
		assert.match(seen, new RegExp(`› go\n\n• ✗ The request to run touch made; echo "it's" was declined:\\s+${reason}\n\n• Done\\.`));
});

for (const reviewer of ['', 'approvals_reviewer = "auto_review"\n'])
	test(`a command that a hook denied is named with the reason, and after a resume: ${reviewer}`, options, async (t) => {
		const model = await startModel(t, [run('touch made'), say('Done.')]);
		const home = makeHome(t, model, `${reviewer}approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n`), cwd = tempDir(t, 'cwd');
		decides(home, { behavior: 'deny', message: 'Not here.' });
		await trust(t, home);
		const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
		await term.until(/• Done\./);
		await idle(term);
		assert.match(text(term), /• The command was not run: `touch made`: Not here\./);
		await leave(term);
		const { shown, transcript } = await replayed(t, model, { home, cwd });
		for (const seen of [shown, transcript]) assert.match(seen, /• ✗ The request to run touch made was declined: Not here\.\n\n• Done/);
	});

test('of parallel commands that a hook denied each keeps its own reason after a resume, also with ids that repeat', options, async (t) => {
	const touch = (file, id) => ({ call: 'exec_command', arguments: { cmd: `touch ${file}` }, call_id: id });
	const model = await startModel(t, [reply(touch('one', 'a'), touch('two', 'b')), say('Once.'), reply(touch('three', 'a')), say('Twice.')]);
	const home = makeHome(t, model, 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n'), cwd = tempDir(t, 'cwd');
	const decision = (message) => JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message } } });
	const script = path.join(home, 'hook.sh'), command = `sh ${script}`;
	fs.writeFileSync(script, `cat ${home}/$(grep -o 'touch [a-z]*' | head -1 | cut -c7-)\n`);
	for (const name of ['one', 'two', 'three']) fs.writeFileSync(path.join(home, name), decision(`No ${name}.\nAnd more.`));
	fs.writeFileSync(path.join(home, 'hooks.json'), JSON.stringify({ hooks: { PermissionRequest: [{ hooks: [{ type: 'command', command }] }] } }));
	await trust(t, home);
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/• Once\./);
	await idle(term);
	await enter(term, 'again');
	await term.until(/• Twice\./);
	await idle(term);
	await leave(term);
	const { shown } = await replayed(t, model, { home, cwd });
	const found = [...shown.matchAll(/run touch (\w+) was declined: No (\w+)\.\n\n/g)].map(([, file, reason]) => [file, reason]);
	assert.deepEqual(found.sort(), ['one', 'three', 'two'].map((name) => [name, name]));
});

test('a command that a hook allowed is no declined request, also while it runs in the background', options, async (t) => {
	const model = await startModel(t, [run('sleep 300', { yield_time_ms: 250 }), say('Done.')]);
	const home = makeHome(t, model, 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n'), cwd = tempDir(t, 'cwd');
	decides(home, { behavior: 'allow' });
	await trust(t, home);
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/• Done\./);
	await idle(term);
	await leave(term);
	assert.doesNotMatch((await replayed(t, model, { home, cwd })).shown, /declined/);
});

test('a shell around a script is not shown: refused, stopped by the sandbox, in /approve; another program is', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: 'sandbox_mode = "read-only"\napproval_policy = "on-failure"\n', rows: 40 });
	await term.until(/• The sandbox stopped `touch made`: /);
	await term.until(/retry without sandbox/);
	await answer(term, 'n');
	await idle(term);
	await leave(term);
	const other = await startModel(t, [reply({ call: 'shell', arguments: { command: ['python3', '-c', 'print(1)'] } }), say('Done.')]);
	const asked = await startReady(t, other, ['go'], { config: 'model = "codex-mini-latest"\napproval_policy = "untrusted"\n', rows: 40 });
	await asked.until(/\$ python3 -c 'print\(1\)'/);
	await answer(asked, 'n');
	await idle(asked);
	await leave(asked);
});

test('a second run that is asked about is not called running, other commands are', options, async (t) => {
	const model = await startModel(t, [run('sleep 300', { yield_time_ms: 250 }), run('touch made'), say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: 'sandbox_mode = "read-only"\napproval_policy = "on-failure"\n', rows: 40 });
	const asked = 'Would you like to run the following command\\?\n\nReason: command failed; retry without sandbox\\?\n\n\\$ touch made';
	await term.until(new RegExp(`^• Running sleep 300\n\n${asked}`, 'm'));
	assert.doesNotMatch(text(term), /Running touch/);
	await answer(term, 'n');
	await idle(term);
	await leave(term);
});

// ---- after a resume ----

test('a call of an MCP server is shown with server, arguments and result in the transcript and after a resume', options, async (t) => {
	const content = [{ type: 'text', text: Array.from({ length: 8 }, (_, i) => `row ${i + 1}`).join('\n') }];
	const model = await startModel(t, [mcpCall({ say: 'word '.repeat(100) }), say('Done.')]);
	const tool = { ...WRITE, annotations: { readOnlyHint: true } };
	const home = makeHome(t, model, serverOf([tool], { write: { result: { content } } })), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 60 });
	await term.until(/• Done\./);
	await idle(term);
	const live = conversationOf(term.lines());
	assert.match(live, /• Called s\.write\(\{"say":"word [^]*…\)\n {2}└ row 1\n {4}row 2\n[^]*row 5\n {4}…/);
	await leave(term);
	const { shown, transcript } = await replayed(t, model, { home, cwd });
	assert.equal(shown, live);
	assert.match(transcript, /• Called s\.write\([^]*word "\}\)\n {2}└ row 1\n[^]* {4}row 8\n/);
});

test('a failed call of an MCP server keeps its reason', options, async (t) => {
	const model = await startModel(t, [mcpCall({ say: 'x' }), say('Done.')]);
	const home = makeHome(t, model, serverOf([WRITE], {})), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/Allow the s MCP server/);
	assert.doesNotMatch(text(term), /Calling s\.write/); // it waits for the approval
	await answer(term, 'd');
	await term.until(/• Done\./);
	await idle(term);
	const live = conversationOf(term.lines());
	assert.match(live, /• Called s\.write\(\{"say":"x"\}\)\n {2}└ .*rejected/);
	await leave(term);
	assert.equal((await replayed(t, model, { home, cwd })).shown, live);
});

for (const [name, key] of [['Ctrl-C', '\x03'], ['Esc', '\x1b']])
	test(`a message that joined while text arrived stands after that text when the session is resumed: ${name}`, options, async (t) => {
		const model = await startModel(t, [reply({ delta: 'First part of it.' }, { hang: true }), forever(say('Read.'))]);
		const home = makeHome(t, model), cwd = tempDir(t, 'cwd');
		const term = await startReady(t, model, ['go'], { home, cwd });
		await term.until(/First part/);
		await enter(term, 'and this');
		await term.until(/↳ and this/);
		term.type(key);
		await term.until(key === '\x1b' ? /• Read\./ : /■ Conversation interrupted/);
		await idle(term);
		const shape = /› go\n\n• First part of it\.\n\n› and this\n\n■ Conversation interrupted/;
		assert.match(text(term), shape);
		await leave(term);
		const { shown, transcript } = await replayed(t, model, { home, cwd });
		assert.match(shown, shape);
		assert.match(transcript, shape);
	});

test('a message that joined during a command waits for its end, with a note, and stands after it when the session is resumed', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [`${cwd}/gate`]);
	const model = await startModel(t, [run('touch began; cat gate; echo ended'), say('Read.')]);
	const home = makeHome(t, model, FREE);
	const term = await startReady(t, model, ['go'], { home, cwd });
	await until(() => fs.existsSync(`${cwd}/began`));
	await enter(term, 'and this');
	await term.until(/• Running touch began[^]*Read with the next request \(esc sends it now\)\n {2}↳ and this/);
	assert.doesNotMatch(text(term), /^› and this/m);
	fs.writeFileSync(`${cwd}/gate`, '');
	await term.until(/• Read\./);
	await idle(term);
	const live = conversationOf(term.lines());
	assert.match(live, /• Ran touch began; cat gate; echo ended\n {2}└ ended\n\n› and this\n\n• Read\./);
	await leave(term);
	assert.equal((await replayed(t, model, { home, cwd })).shown, live);
});

test('Explored has the order of the calls after a resume, too', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [path.join(cwd, 'slow.txt')]);
	fs.writeFileSync(path.join(cwd, 'fast.txt'), 'x\n');
	const read = (file) => ({ call: 'exec_command', arguments: { cmd: `cat ${file}` } });
	const model = await startModel(t, [reply(read('slow.txt'), read('fast.txt')), say('Done.')]);
	const home = makeHome(t, model, FREE);
	const term = await startReady(t, model, ['go'], { home, cwd });
	await term.until(/^• Exploring Read fast\.txt$/m);
	fs.writeFileSync(path.join(cwd, 'slow.txt'), 'x\n');
	await term.until(/• Done\./);
	await idle(term);
	await leave(term);
	assert.match((await replayed(t, model, { home, cwd })).shown, /• Explored\n {2}└ Read slow\.txt, fast\.txt/);
});

test('a patch of several files keeps its order after a resume', options, async (t) => {
	const model = await startModel(t, [patch('*** Add File: z.txt', '+z', '*** Add File: dir/m.txt', '+m', '*** Add File: a.txt', '+a'), say('Done.')]);
	const home = makeHome(t, model, FREE), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/• Done\./);
	await idle(term);
	const live = conversationOf(term.lines());
	assert.match(live, /z\.txt[^]*dir\/m\.txt[^]*a\.txt/);
	await leave(term);
	assert.equal((await replayed(t, model, { home, cwd })).shown, live);
});

test('checklists of scripts and of the model are shown once, and after a resume', { ...options, skip: options.skip || !engines.length }, async (t) => {
	const list = (step) => ({ plan: [{ step, status: 'pending' }] });
	const model = await startModel(t, [script(`await tools.update_plan(${JSON.stringify(list('of the script'))}); text('ok');`),
		reply({ call: 'update_plan', arguments: list('of the model') }), say('Done.')]);
	const home = makeHome(t, model, `model = "gpt-6-sol"\n${FREE}`), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40, env: hostEnv(engines[0]) });
	await term.until(/• Done\./);
	await idle(term);
	const live = conversationOf(term.lines());
	assert.match(live, /□ of the script/);
	await leave(term);
	assert.equal((await replayed(t, model, { home, cwd })).shown, live);
});

test('a background command keeps its line when a later response repeats its call id', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [`${cwd}/gate`]);
	const again = (cmd, more) => reply({ call: 'exec_command', arguments: { cmd, ...more }, call_id: 'same' });
	const model = await startModel(t, [again('cat gate; echo behind; exit 3', { yield_time_ms: 250 }), again('echo before; exit 4'),
		reply({ gate: 'a' }, { message: 'It runs.' }), forever(say('Read.'))]);
	const home = makeHome(t, model, FREE);
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/✗ \(4\)[^]*• Running cat gate; echo behind; exit 3/);
	await model.openGate('a');
	await term.until(/• It runs\./);
	await idle(term);
	await term.until(/^ {2}1 background terminal running · \/ps to view · \/stop to close$/m);
	await enter(term, '/ps');
	await term.until(/Background terminals\n {2,}cat gate; echo behind; exit 3\n/);
	fs.writeFileSync(`${cwd}/gate`, '');
	await term.until(/behind\n {4}✗ \(3\)/);
	await term.untilGone(/background terminal running/);
	await leave(term);
	const items = readLines(rollouts(home)[0]).map(({ payload }) => payload).filter(({ item }) => item?.type === 'CommandExecution');
	assert.deepEqual(items.map(({ item }) => item.exit_code), [4, 3]);
	assert.ok(items[1].started_at_ms < items[0].started_at_ms);
});

test('a command in the background that ends while a later call has its id leaves the later one running', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	for (const name of ['first', 'second']) execFileSync('mkfifo', [`${cwd}/${name}`]);
	const again = (cmd, more) => reply({ call: 'exec_command', arguments: { cmd, ...more }, call_id: 'same' });
	const model = await startModel(t, [again('read x < first; echo behind', { yield_time_ms: 250 }), again('read x < second; echo before'),
		forever(say('Read.'))]);
	const home = makeHome(t, model, FREE);
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/• Running read x < first; echo behind\n• Running read x < second; echo before/);
	await enter(term, 'and this');
	await term.until(/↳ and this/);
	fs.writeFileSync(`${cwd}/first`, '\n');
	await term.until(/• Ran read x < first; echo behind[^]*• Running read x < second; echo before[^]*↳ and this/);
	fs.writeFileSync(`${cwd}/second`, '\n');
	await term.until(/• Ran read x < second; echo before\n {2}└ before\n\n› and this\n\n• Read\./);
	await idle(term);
	await leave(term);
});

test('a background command that ends after a joined message was read stands below it, also after a resume', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [`${cwd}/gate`]);
	const model = await startModel(t, [run('read x < gate; echo behind', { yield_time_ms: 250 }), reply({ delta: 'First.' }, { gate: 'a' }),
		reply({ delta: 'Read.' }, { gate: 'b' })]);
	const home = makeHome(t, model, FREE);
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/• First\./);
	await enter(term, 'and this');
	await term.until(/↳ and this/);
	await model.openGate('a');
	await term.until(/› and this\n\n• Read\./);
	fs.writeFileSync(`${cwd}/gate`, '\n');
	await term.until(/└ behind/);
	await model.openGate('b');
	await idle(term);
	const shape = /• First\.\n\n› and this\n\n• (Read\.\n\n• )?Ran read x < gate; echo behind/;
	assert.match(conversationOf(term.lines()), shape);
	await leave(term);
	assert.match((await replayed(t, model, { home, cwd })).shown, shape);
});

test('a call that outlives the response of its script is shown once after a resume', { ...options, skip: options.skip || !engines.length }, async (t) => {
	const source = 'const { content } = await tools.mcp__s__write({ say: "hi" }); text(content[0].text);';
	const model = await startModel(t, [script(`// @exec: {"yield_time_ms": 0}\n${source}`), reply({ delta: 'It runs.' }, { gate: 'a' }),
		forever(say('ok'))]);
	const tool = { ...WRITE, annotations: { readOnlyHint: true } };
	const home = makeHome(t, model, `model = "gpt-6-sol"\n${FREE}${serverOf([tool], { write: { delay: 500, content: [{ type: 'text', text: 'hi' }] } })}`);
	const cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40, env: hostEnv(engines[0]) });
	await term.until(/• Called s\.write/);
	await model.openGate('a');
	await idle(term);
	await leave(term);
	const { shown } = await replayed(t, model, { home, cwd });
	assert.equal(shown.split('Called s.write').length, 2);
});

// ---- the live rows ----

for (const [rows, columns] of [[8, 80], [6, 20], [5, 20]])
	test(`in a window of ${columns} by ${rows} the footer counts background terminals`, options, async (t) => {
		const model = await startModel(t, [run('sleep 300', { yield_time_ms: 250 }), say('It runs.'), reply({ start: true }, { hang: true })]);
		const term = await startReady(t, model, ['go'], { config: FREE, rows, columns });
		await term.until(/It runs\.[^]*^ {2}gpt.* · \/ps: 1$/m);
		await enter(term, 'more');
		await term.until(/^• Working[^]*^ {2}gpt.* · \/ps: 1$/m);
		term.type('\x1b');
		await term.until(/Conversation\s+interrupted[^]*^›$/m);
		await enter(term, '/stop');
		await term.until(/^ {2}gpt(?!.*\/ps)/m);
		await leave(term);
	});

test('a background terminal of an earlier turn is counted in the working line', options, async (t) => {
	const model = await startModel(t, [run('sleep 300', { yield_time_ms: 250 }), say('It runs.'), reply({ delta: 'More' }, { hang: true })]);
	const term = await startReady(t, model, ['go'], { config: FREE, columns: 120 });
	await term.until(/• It runs\./);
	await idle(term);
	await term.until(/^ {2}1 background terminal running/m);
	await enter(term, 'more');
	await term.until(/esc to interrupt\) {2}1 background terminal running · \/ps to view/);
	term.type('\x1b');
	await idle(term);
	await leave(term);
});

test('Esc with a joined message does not ask what to do differently', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { hang: true }), reply({ delta: 'I read it' }, { hang: true })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I begin/);
	await enter(term, 'and this');
	await term.until(/↳ and this/);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted - your message is sent now\n[^]*I read it/);
	assert.doesNotMatch(text(term), /describe what/);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted - describe what to do differently/);
	await leave(term);
});

const server = { ...options, skip: options.skip || needs('app-server').skip };

test('in the background server a command that waits for its approval is not called running', server, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [`${cwd}/gate`]);
	fs.writeFileSync(path.join(cwd, 'a.txt'), 'x\n');
	const model = await startModel(t, [run('cat a.txt'), run('touch made; cat gate'), forever(say('Finished.'))]);
	const home = makeHome(t, model);
	atEnd(t, () => spawnSync(codexBin, ['app-server', 'daemon', 'stop'], { env: cleanEnv(home) }));
	const term = await startReady(t, model, ['--daemon', '-a', 'untrusted', '-s', 'read-only'], { home, cwd, rows: 40 });
	await enter(term, 'go');
	await term.until(/Would you like to run the following command\?\n\n\$ touch made/);
	assert.match(text(term), /› go\n\n• Explored\n {2}└ Read a\.txt\n\nWould/);
	assert.doesNotMatch(text(term), /Running|Exploring/);
	const asked = Date.now();
	await answer(term, 'y');
	const waited = Date.now() - asked;
	await term.until(/\n\n• Running touch made/);
	fs.writeFileSync(`${cwd}/gate`, '');
	await term.until(/• Finished\./);
	await idle(term);
	term.type('\x03');
	await term.done;
	const { item, started_at_ms: from, completed_at_ms: to } = readLines(rollouts(home)[0]).map(({ payload }) => payload)
		.find((payload) => payload.item?.type === 'CommandExecution' && /touch/.test(payload.item.command.at(-1)));
	const ran = item.duration.secs * 1000 + item.duration.nanos / 1e6;
	assert.ok(ran > 0 && ran <= to - from - waited + 50, `${ran} of ${to - from}, ${waited} of it before the answer`);
});

/** The rows that end turns. */
const worked = (term) => term.lines().filter((line) => /Worked for/.test(line));

test('a turn with an answer ends with its run time and the hour, also after a resume; other turns do not', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [say('One.'), reply({ delta: 'I begin' }, { hang: true }),
		reply({ event: { type: 'response.failed', response: { id: 'r', error: { code: 'invalid_prompt', message: 'no' } } } }), say('Two.')]);
	const home = makeHome(t, model, FREE);
	const term = await startReady(t, model, ['one'], { home, cwd, env: { TZ: 'UTC' } });
	await term.until(/• One\.\n\n {2}Worked for <1s • \d\d:\d\d\n\n›/);
	await enter(term, 'two');
	await term.until(/I begin/);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted/);
	await idle(term);
	term.type('!true');
	await term.until(/^! true$/m);
	term.type('\r');
	await term.until(/• You ran true\n {2}└ \(no output\)/);
	await idle(term);
	await enter(term, 'three');
	await term.until(/■ .*no/);
	await idle(term);
	await enter(term, 'four');
	await term.until(/• Two\.\n\n {2}Worked for <1s • \d\d:\d\d\n\n›/);
	assert.equal(worked(term).length, 2);
	await leave(term);
	const shown = [];
	for (const TZ of ['UTC', 'EAST-5']) {
		const again = await startReady(t, model, ['resume', '--last'], { home, cwd, rows: 60, env: { TZ } });
		shown.push(worked(again));
		await leave(again);
	}
	assert.deepEqual(shown[0].map((row) => row.slice(0, -5)), Array(2).fill('  Worked for <1s • '));
	const minutes = (row) => row.slice(-5).split(':').reduce((hours, rest) => hours * 60 + Number(rest), 0);
	assert.deepEqual(shown[1].map(minutes), shown[0].map((row) => (minutes(row) + 300) % 1440));
});
