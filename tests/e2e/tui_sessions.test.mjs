// The terminal: resumed and forked sessions, the transcript.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexExec, forever, makeHome, needs, patch, reply, rollouts, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { answer, conversationOf, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
const UP = '\x1b[A', DOWN = '\x1b[B', PAGE_UP = '\x1b[5~', HOME = '\x1b[H', END = '\x1b[F';

/** A home and a folder with one recorded session: a question, a command, an answer. Returns its id, too. */
async function recorded(t, model, prompt = 'first question') {
	const home = makeHome(t, model, FREE), cwd = tempDir(t, 'cwd');
	const { code, stderr, events } = await codexExec(t, model, [prompt], { home, cwd, json: true });
	assert.equal(code, 0, stderr);
	return { home, cwd, id: events.find(({ type }) => type === 'thread.started').thread_id };
}

const FIRST = [run('for i in $(seq 1 9); do echo out $i; done'), say('The **first** answer.')];
const SHOWN = '› first question\n\n• Ran for i in $(seq 1 9); do echo out $i; done\n  └ out 1\n    out 2\n' +
	'    … +5 lines (ctrl-t to view transcript)\n    out 8\n    out 9\n\n• The first answer.';

for (const [name, argsOf] of [['by its id', (id) => [id]], ['by a prefix', (id) => [id.slice(0, 24)]], ['with --last', () => ['--last']]]) {
	test(`a session is resumed ${name}: its conversation stands there and continues in the same file`, options, async (t) => {
		const model = await startModel(t, [...FIRST, say('The second answer.')]);
		const { home, cwd, id } = await recorded(t, model);
		const term = await startReady(t, model, ['resume', ...argsOf(id)], { home, cwd });
		assert.equal(conversationOf(term.lines()), SHOWN);
		await enter(term, 'second question');
		await term.until(/The second answer\./);
		await term.untilGone(/esc to interrupt/);
		await leave(term);
		assert.match(term.lines().join('\n'), new RegExp(`codex resume ${id}`));
		assert.equal(rollouts(home).length, 1);
		assert.deepEqual(textsOf(model.requests().at(-1), 'user').filter((text) => text.endsWith('question')), ['first question', 'second question']);
	});
}

test('a prompt after the session is sent at once', options, async (t) => {
	const model = await startModel(t, [...FIRST, say('The second answer.')]);
	const { home, cwd, id } = await recorded(t, model);
	const term = await startReady(t, model, ['resume', id, 'go on'], { home, cwd });
	await term.until(/The second answer\./);
	await term.untilGone(/esc to interrupt/);
	assert.equal(conversationOf(term.lines()), `${SHOWN}\n\n› go on\n\n• The second answer.`);
	await leave(term);
});

test('a session without a name is chosen from a list; none starts a new one', options, async (t) => {
	const model = await startModel(t, [...FIRST, forever(say('ok'))]);
	const { home, cwd } = await recorded(t, model);
	const term = await startTerminal(t, model, ['resume'], { home, cwd });
	await term.until(/Resume a previous session[^]*^› .*first question$/m);
	term.type('\r');
	await term.until(/^• The first answer\.$/m);
	await term.until(/^ {2}gpt\S+ · /m);
	await leave(term);
	const other = await startTerminal(t, model, ['resume'], { home, cwd });
	await other.until(/Resume a previous session[^]*esc new session/);
	other.type('\x1b');
	await other.until(/^ {2}gpt\S+ · /m);
	assert.doesNotMatch(other.lines().join('\n'), /first answer/);
	await leave(other);
});

test('a session that is open elsewhere is not resumed: the error names the command that watches it', options, async (t) => {
	const model = await startModel(t, [...FIRST, forever(say('ok'))]);
	const { home, cwd, id } = await recorded(t, model);
	const open = await startReady(t, model, ['resume', id], { home, cwd });
	const words = new RegExp(`session ${id} runs in another process; watch it with:\\s+codex attach ${id}`);
	const second = await startTerminal(t, model, ['resume', '--last'], { home, cwd, columns: 200 });
	assert.deepEqual(await second.done, { status: 1, restored: true });
	assert.match(second.lines().join('\n'), words);
	assert.doesNotMatch(second.raw(), /\x1b/);
	const other = await startReady(t, model, ['hello'], { home, cwd, columns: 200 });
	await other.until(/^• ok$/m);
	await other.untilGone(/esc to interrupt/);
	await enter(other, '/resume');
	await other.until(/^[› ] .*first question$/m);
	other.type('first');
	await other.until(/^› .*first question$/m);
	other.type('\r');
	await other.until(words);
	await enter(other, 'go on'); // its own session continues
	await other.until(/› go on\n\n• ok/);
	await other.untilGone(/esc to interrupt/);
	await leave(other);
	await leave(open);
	const first = await startTerminal(t, model, ['resume', '--last'], { home, cwd });
	await first.until(/^ {2}gpt\S+ · /m);
	await leave(first);
});

test('an unknown session is refused with status 1', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startTerminal(t, model, ['resume', '0199a213-81c0-7800-8aa1-bbab2a035a53']);
	assert.deepEqual(await term.done, { status: 1, restored: true });
	assert.match(term.lines().join('\n'), /No saved session found with ID 0199a213-81c0-7800-8aa1-bbab2a035a53/);
	assert.doesNotMatch(term.raw(), /\x1b/);
});

test('a fork continues in a file of its own, and the session is unchanged', options, async (t) => {
	const model = await startModel(t, [...FIRST, say('The other answer.')]);
	const { home, cwd, id } = await recorded(t, model);
	const [file] = rollouts(home);
	const before = fs.readFileSync(file);
	const term = await startReady(t, model, ['fork', id], { home, cwd });
	assert.equal(conversationOf(term.lines()), SHOWN);
	await enter(term, 'another question');
	await term.until(/The other answer\./);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
	assert.equal(rollouts(home).length, 2);
	assert.deepEqual(fs.readFileSync(file), before);
	assert.doesNotMatch(term.lines().join('\n'), new RegExp(`codex resume ${id}`));
});

test('of a large file only the end is read at first; the transcript has all of it', options, async (t) => {
	const words = 'word '.repeat(300);
	const model = await startModel(t, [reply(...Array.from({ length: 400 }, (_, i) => ({ message: `Message ${i}. ${words}` }))), forever(say('ok'))]);
	const { home, cwd, id } = await recorded(t, model);
	assert.ok(fs.statSync(rollouts(home)[0]).size > 1024 * 1024);
	const term = await startReady(t, model, ['resume', id], { home, cwd, columns: 200 });
	const lines = term.lines().join('\n');
	assert.match(lines, /^• … earlier items \(ctrl-t to view transcript\)$/m);
	const shown = lines.match(/^• Message \d+\./gm).map((line) => Number(/\d+/.exec(line)[0]));
	assert.equal(shown.at(-1), 399);
	assert.deepEqual(shown, Array.from({ length: shown.length }, (_, i) => 400 - shown.length + i));
	assert.ok(shown.length > 20 && shown.length < 400, `${shown.length} messages`);
	term.type('\x14');
	await term.until(/T R A N S C R I P T/);
	term.type(HOME);
	await term.until(/^› first question$/m);
	term.type('q');
	await term.untilGone(/T R A N S C R I P T/);
	await enter(term, 'and now?');
	await term.until(/› and now\?[^]*• ok/);
	await term.untilGone(/esc to interrupt/);
	assert.match(JSON.stringify(model.requests().at(-1).body.input), /Message 0\./); // the engine has read all of it
	await leave(term);
});

test('a long session shows its end, and says how much is before', options, async (t) => {
	const model = await startModel(t, [reply(...Array.from({ length: 1200 }, (_, i) => ({ message: `Message ${i}.` }))), forever(say('ok'))]);
	const { home, cwd, id } = await recorded(t, model);
	const term = await startReady(t, model, ['resume', id], { home, cwd });
	const text = conversationOf(term.lines());
	const lines = term.lines().join('\n');
	assert.match(lines, /^• … \d+ earlier items \(ctrl-t to view transcript\)$/m);
	assert.match(text || lines, /^• Message 1199\.$/m);
	assert.doesNotMatch(lines, /Message 100\.$/m);
	term.type('\x14');
	await term.until(/T R A N S C R I P T/);
	term.type(HOME);
	await term.until(/^› first question$/m);
	term.type('q');
	await leave(term);
});

test('a damaged line of the session is skipped', options, async (t) => {
	const model = await startModel(t, [...FIRST, forever(say('ok'))]);
	const { home, cwd, id } = await recorded(t, model);
	const [file] = rollouts(home);
	fs.appendFileSync(file, '{"half":');
	const term = await startReady(t, model, ['resume', id], { home, cwd });
	assert.match(term.lines().join('\n'), /The first answer\./);
	await leave(term);
});

test('the transcript unfolds everything, scrolls, and leaves the screen as it was', options, async (t) => {
	const model = await startModel(t, [reply({ reasoning: '**Thinking** it through.' }, { call: 'exec_command', arguments: { cmd: 'seq 1 60; exit 3' } }),
		say('The end of it.')]);
	const term = await startReady(t, model, ['go'], { config: FREE });
	await term.until(/^• The end of it\.$/m);
	await term.untilGone(/esc to interrupt/);
	const before = term.screen();
	term.type('\x14');
	await term.until(/T R A N S C R I P T[^]*The end of it\.[^]*100%/);
	assert.equal(term.emulator.buffer.active.type, 'alternate');
	assert.match(term.screen().join('\n'), /✗ \(3\) • \d+ms/);
	term.type(UP);
	await term.until(/9\d%$/m);
	term.type(DOWN);
	await term.until(/100%$/m);
	term.type(PAGE_UP);
	await term.until(/^ {4}40$/m);
	term.type(HOME);
	await term.until(/^› go\n\n {2}Thinking it through\.[^]*• Ran seq 1 60; exit 3\n {2}└ 1\n {4}2$/m);
	await term.until(/ 0%$/m);
	term.type(END);
	await term.until(/100%$/m);
	term.resize(20, 60);
	await term.until(/T R A N S C R I P T \/{10}/);
	term.resize(24, 80);
	await term.until(/T R A N S C R I P T \/{40}/);
	term.type('q');
	await term.until(/^›$/m);
	assert.equal(term.emulator.buffer.active.type, 'normal');
	assert.deepEqual(term.screen(), before);
	await leave(term);
});

test('text that arrives while the transcript is shown stands in the conversation afterwards', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'One.\n\n' }, { gate: 'a' }, { delta: 'Two.\n\nThree.' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^• One\.$/m);
	term.type('\x14');
	await term.until(/T R A N S C R I P T/);
	await model.openGate('a');
	await until(() => !/⠋/.test(term.raw().slice(term.raw().lastIndexOf('\x1b]0;')))); // the title says that the turn has ended
	term.type('\x1b');
	await term.until(/^ {2}Three\.$/m);
	await term.untilGone(/esc to interrupt/);
	assert.equal(conversationOf(term.lines()), '› go\n\n• One.\n\n  Two.\n\n  Three.');
	await leave(term);
});

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGSEGV']) {
	test(`${signal} in the transcript returns to the main screen and restores the modes`, options, async (t) => {
		const model = await startModel(t, [forever(say('ok'))]);
		const term = await startReady(t, model);
		term.type('\x14');
		await term.until(/T R A N S C R I P T/);
		term.signal(signal);
		const { status, restored } = await term.done;
		assert.ok(restored);
		assert.ok(status > 0);
		assert.equal(term.emulator.buffer.active.type, 'normal');
		assert.match(term.raw(), /\x1b\[\?1049l[^]*\x1b\[\?2004l\x1b\[\?1004l/);
	});
}

for (const signal of ['SIGABRT', 'SIGBUS', 'SIGFPE']) {
	test(`a crash by ${signal} says how the session is resumed, and it can be`, options, async (t) => {
		const model = await startModel(t, [say('Kept answer.'), forever(say('Again.'))]);
		const home = makeHome(t, model, FREE), cwd = tempDir(t, 'cwd');
		const term = await startReady(t, model, ['go'], { home, cwd });
		await term.until(/^• Kept answer\.$/m);
		await term.untilGone(/esc to interrupt/);
		term.signal(signal);
		const { status, restored } = await term.done;
		assert.ok(restored);
		assert.ok(status > 0);
		const [, id] = /crashed\. To continue this session, run:\n {2}codex resume (\S+)/.exec(term.lines().join('\n'));
		const again = await startReady(t, model, ['resume', id], { home, cwd });
		assert.equal(conversationOf(again.lines()), '› go\n\n• Kept answer.');
		await leave(again);
	});
}

test('SIGTERM says how the session is resumed', options, async (t) => {
	const model = await startModel(t, [say('Kept answer.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^• Kept answer\.$/m);
	await term.untilGone(/esc to interrupt/);
	term.signal('SIGTERM');
	assert.equal((await term.done).status, 143);
	assert.match(term.lines().join('\n'), /To continue this session, run:\n {2}codex resume \S+$/);
});

test('a session that was killed is resumed with all that was said', options, async (t) => {
	const model = await startModel(t, [say('Kept answer.'), forever(say('Again.'))]);
	const home = makeHome(t, model, FREE), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd });
	await term.until(/^• Kept answer\.$/m);
	await term.untilGone(/esc to interrupt/);
	term.signal('SIGKILL');
	await term.done;
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd });
	assert.equal(conversationOf(again.lines()), '› go\n\n• Kept answer.');
	await leave(again);
});

test('a session that was killed during an approval says so when it is resumed', options, async (t) => {
	const model = await startModel(t, [reply({ message: 'I shall run it.' }, { call: 'exec_command', arguments: { cmd: 'touch made' } }),
		forever(say('Again.'))]);
	const home = makeHome(t, model, FREE), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { home, cwd });
	await term.until(/› 1\. Yes, proceed/);
	term.signal('SIGKILL');
	await term.done;
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd });
	assert.match(conversationOf(again.lines()), /^› go\n\n• I shall run it\.[^]*■ The turn was cut off before its end$/);
	again.type('\x14');
	await again.until(/T R A N S C R I P T/);
	again.type('q');
	await again.until(/^›$/m);
	await leave(again);
});

test('without a terminal, resume runs one task', options, async (t) => {
	const model = await startModel(t, [...FIRST, say('The second answer.')]);
	const { home, cwd, id } = await recorded(t, model);
	const { runCodex } = await import('./lib/codex.mjs');
	const { code, stdout } = await runCodex(t, ['resume', '--skip-git-repo-check', id, 'go on'], { home, cwd });
	assert.equal(code, 0);
	assert.equal(stdout.trim(), 'The second answer.');
	assert.ok(fs.existsSync(path.join(home, 'sessions')));
});

/** The text of the screen after `codex resume --last`, and of its transcript. */
async function replayed(t, model, { home, cwd }) {
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd, rows: 50 });
	const shown = conversationOf(again.lines());
	again.type('\x14');
	await again.until(/T R A N S C R I P T/);
	const transcript = again.screen().join('\n');
	again.type('q');
	await leave(again);
	return { shown, transcript };
}

test('a resumed session and the transcript show checklists and declined requests in their places', options, async (t) => {
	const plan = (explanation, ...states) => ({ call: 'update_plan', arguments: {
		explanation, plan: states.map((status, i) => ({ step: `step ${i + 1}`, status })) } });
	const model = await startModel(t, [
		reply(plan('Why so', 'completed', 'in_progress', 'pending'), { call: 'update_plan', arguments: { plan: 'wrong' } },
			{ call: 'exec_command', arguments: { cmd: 'touch made\ntouch more' } }),
		patch('*** Add File: new.txt', '+x'),
		reply({ message: 'Reading.' }, { call: 'exec_command', arguments: { cmd: 'cat a.txt' } }, plan('', 'completed')),
		say('All done.'),
	]);
	const home = makeHome(t, model, 'sandbox_mode = "read-only"\napproval_policy = "untrusted"\n'), cwd = tempDir(t, 'cwd');
	fs.writeFileSync(path.join(cwd, 'a.txt'), 'a\n');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 50 });
	await term.until(/› 1\. Yes, proceed/);
	await answer(term, 'n');
	await term.until(/Conversation interrupted/);
	await enter(term, 'again');
	await term.until(/following edits/);
	await answer(term, 'n');
	await term.until(/edits were declined[^]*Conversation interrupted/);
	await enter(term, 'more');
	await term.until(/^• All done\./m);
	await term.untilGone(/esc to interrupt/);
	const live = conversationOf(term.lines());
	await leave(term);
	assert.ok(!fs.existsSync(path.join(cwd, 'made')));
	const { shown, transcript } = await replayed(t, model, { home, cwd });
	const expected = live.replace('You canceled the request to run touch made …', 'The request to run touch made … was declined')
		.replaceAll(' - describe what to do differently', '');
	assert.equal(shown, expected);
	for (const mark of [/• Updated Plan\n  └ Why so\n  ✔ step 1\n  ▸ step 2\n  □ step 3\n\n• ✗ The request to run touch made\n  touch more was declined/,
		/■ The edits were declined\n\n■ Conversation interrupted/, /• Updated Plan\n  ✔ step 1/]) assert.match(transcript, mark);
});

test('of checklists with one call id in several responses the accepted ones are shown', options, async (t) => {
	const plan = (list) => reply({ call: 'update_plan', arguments: { plan: list }, call_id: 'call_0' });
	const pending = (step) => plan([{ step, status: 'pending' }]);
	const model = await startModel(t, [plan('wrong'), pending('second one'), pending('third one'), say('All done.')]);
	const home = makeHome(t, model, 'sandbox_mode = "read-only"\napproval_policy = "untrusted"\n'), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 50 });
	await term.until(/^• All done\./m);
	await term.untilGone(/esc to interrupt/);
	const live = conversationOf(term.lines());
	await leave(term);
	const { shown } = await replayed(t, model, { home, cwd });
	assert.match(shown, /second one[^]*third one/);
	assert.equal(shown, live);
});

test('a command that was approved is no declined request, also while it runs in the background', options, async (t) => {
	const model = await startModel(t, [
		reply({ call: 'exec_command', arguments: { cmd: 'touch made; sleep 300', yield_time_ms: 250 } }), say('It runs.'), forever(say('ok'))]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n'), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd });
	await term.until(/› 1\. Yes, proceed/);
	await answer(term, 'y');
	await term.until(/^• It runs\./m);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
	const { shown } = await replayed(t, model, { home, cwd });
	assert.doesNotMatch(shown, /declined/);
	assert.match(shown, /• It runs\./);
});

test('the transcript of a session without a message says that nothing is recorded', options, async (t) => {
	const term = await startReady(t, await startModel(t, [forever(say('ok'))]));
	term.type('\x14');
	await term.until(/T R A N S C R I P T[^]*Nothing has been recorded yet\./);
	assert.doesNotMatch(term.screen().join('\n'), /No such file/);
	term.type('q');
	await term.until(/^›$/m);
	await leave(term);
});
