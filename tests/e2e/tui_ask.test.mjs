// The terminal asks: approvals, the model's questions, the proposed plan; input at the end of a turn.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import test from 'node:test';

import { call, makeHome, needs, outputOf, patch, reply, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { until } from './lib/nest.mjs';
import { answer, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const ASKS = 'features.default_mode_request_user_input = true';
const OPTIONS = [{ label: 'C (Recommended)', description: 'small' }, { label: 'Rust', description: 'safe' }];
const question = (id, text, more) => ({ id, header: 'Choice', question: text, options: OPTIONS, ...more });
const ask = (...questions) => call('request_user_input', { questions }, { call_id: 'q' });
const FREE = 'sandbox_mode = "danger-full-access"';

const idle = (term) => term.untilGone(/esc to interrupt/);
const answers = (model) => JSON.parse(outputOf(model.requests()[1], 'q')).answers;

test('questions: an option, a note, and the answers that the model gets', options, async (t) => {
	const model = await startModel(t, [ask(question('lang', 'Which language?'), question('size', 'Which size?')),
		say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS });
	await term.until(/Question 1\/2 \(2 unanswered\) · Choice\nWhich language\?\n› 1\. C \(Recommended\) +small\n {2}2\. Rust +safe\n {2}3\. None of/);
	await term.until(/^ {2}enter to submit answer · tab to add notes · ←\/→ questions · esc to interrupt$/m);
	await answer(term, '\x1b[B', '\r');
	await term.until(/Question 2\/2 \(1 unanswered\)[^]*Which size\?[^]*enter to submit all/);
	await answer(term, '\x1b[B', '\x1b[B', '\t', 'about 3 MB');
	await term.until(/› about 3 MB/);
	term.type('\r');
	await term.until(/Thanks\./);
	await idle(term);
	assert.deepEqual(answers(model), { lang: { answers: ['Rust'] }, size: { answers: ['None of the above', 'user_note: about 3 MB'] } });
	const lines = term.lines();
	assert.deepEqual(lines.slice(lines.indexOf('• Questions 2/2 answered')).slice(1, 6).map((line) => line.trim()),
		['Which language?', 'answer: Rust', 'Which size?', 'answer: None of the above', 'note: about 3 MB']);
	await leave(term);
});

test('answered questions are shown in the transcript and after a resume, without secrets', options, async (t) => {
	const model = await startModel(t, [ask(question('lang', 'Which language?'), question('key', 'Which key?', { isSecret: true })), say('Thanks.'),
		ask(question('last', 'Anything else?')), say('Stopped.')]);
	const home = makeHome(t, model, ASKS), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd, rows: 40 });
	await term.until(/Which language\?/);
	await answer(term, '\x1b[B', '\r');
	await term.until(/Which key\?/);
	await answer(term, '\t', 'hunter2');
	await term.until(/^› •{7}$/m);
	term.type('\r');
	await term.until(/Thanks\./);
	await idle(term);
	await enter(term, 'more');
	await term.until(/Anything else\?/);
	await answer(term, '\x1b'); // without an answer there is no cell
	await term.until(/■ Conversation interrupted/);
	await idle(term);
	const cellWith = (secret) => new RegExp('› go\n\n• Questions 2/2 answered\n {4}Which language\\?\n {6}answer: Rust\n' +
		` {4}Which key\\?\n {6}answer: ${secret}\n\n• Thanks\\.`);
	const cell = cellWith('\\[secret\\]'); // as the file has it
	assert.match(term.lines().join('\n'), cellWith('C .*\n {6}note: ••'));
	term.type('\x14');
	await term.until(/T R A N S C R I P T/);
	await term.until(cell);
	term.type('q');
	await term.untilGone(/T R A N S C R I P T/);
	await leave(term);
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd, rows: 40 });
	await again.until(cell);
	assert.doesNotMatch(again.raw(), /hunter2|Anything else/);
	await leave(again);
});

test('questions: a digit answers, arrows go between questions, and a note returns to the list', options, async (t) => {
	const model = await startModel(t, [ask(question('a', 'First?'), question('b', 'Second?')), say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS });
	await term.until(/First\?/);
	await answer(term, '\x1b[C');
	await term.until(/Question 2\/2 \(2 unanswered\)/);
	await answer(term, '\t', 'kept', '\x1b');
	await term.until(/note: kept/);
	await answer(term, '2');
	await term.until(/Question 1\/2 \(1 unanswered\)/);
	await answer(term, '1');
	await term.until(/Thanks\./);
	assert.deepEqual(answers(model), { a: { answers: ['C (Recommended)'] }, b: { answers: ['Rust', 'user_note: kept'] } });
	await idle(term);
	await leave(term);
});

test('questions: a secret note is not shown', options, async (t) => {
	const model = await startModel(t, [ask(question('a', 'Password?', { isSecret: true })), say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS });
	await term.until(/Password\?/);
	await answer(term, '\t', 'hunter2');
	await term.until(/^› •{7}$/m);
	term.type('\r');
	await term.until(/Thanks\./);
	await idle(term);
	assert.doesNotMatch(term.raw(), /hunter2/);
	const { answers: given } = answers(model).a;
	assert.equal(given.at(-1), 'user_note: hunter2');
	await leave(term);
});

test('questions: Esc interrupts, and the next message works', options, async (t) => {
	const model = await startModel(t, [ask(question('a', 'First?')), say('Again.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS });
	await term.until(/First\?/);
	await answer(term, '\x1b');
	await term.until(/■ Conversation interrupted/);
	await enter(term, 'next');
	await term.until(/Again\./);
	await idle(term);
	await leave(term);
});

test('questions: typing ahead answers nothing, and the draft comes back', options, async (t) => {
	const asks = { call: 'request_user_input', arguments: { questions: [question('a', 'First?')] }, call_id: 'q' };
	const model = await startModel(t, [reply({ gate: 'ask' }, asks), say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS });
	await term.until(/esc to interrupt/);
	term.type('1 and 2');
	await term.until(/^› 1 and 2$/m);
	await model.openGate('ask');
	await term.until(/First\?/);
	term.type('1\r'); // at once after its first frame, or before: never an answer
	await term.until(/First\?/);
	await answer(term, '2');
	await term.until(/Thanks\./);
	await idle(term);
	assert.deepEqual(answers(model), { a: { answers: ['Rust'] } });
	await term.until(/^› 1 and 2$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('closing the terminal answers no question', options, async (t) => {
	const model = await startModel(t, [ask(question('a', 'First?')), say('never')]);
	const term = await startReady(t, model, ['go'], { config: ASKS });
	await term.until(/First\?/);
	term.close();
	await term.done;
	assert.equal(model.requests().length, 1);
});

test('a question in a window of 20 by 6 shows its options', options, async (t) => {
	const model = await startModel(t, [ask(question('a', 'Which of these two languages do you like better?')), say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS, rows: 6, columns: 20 });
	await term.until(/› 1\. C/);
	await answer(term, '\r'); // the question is not wholly visible
	await term.until(/R E Q U E S T[^]*q to close/);
	term.type('\x1b[6~');
	await term.until(/better\?/);
	term.type('q');
	await term.until(/› 1\. C/);
	await answer(term, '\r');
	await term.until(/Thanks\./);
	await idle(term);
	await leave(term);
});

const LONG = `Delete it?\n${Array.from({ length: 60 }, (_, i) => `point ${i}`).join('\n')}`;

for (const [key, notes] of [['\r', ''], ['2', ''], ['\x01', ''], ['\r', '\tsure'], ['\x01', '\tsure']]) {
	test(`a question that does not fit is not answered unseen: ${JSON.stringify(notes + key)}`, options, async (t) => {
		const model = await startModel(t, [ask(question('a', LONG)), say('Thanks.')]);
		const term = await startReady(t, model, ['go'], { config: ASKS });
		await term.until(/Delete it\?[^]*… ctrl-a shows all[^]*point 59[^]*› 1\. C/);
		if (notes) {
			await answer(term, '\t', 'sure');
			await term.until(/^› sure$/m);
		}
		await answer(term, key);
		await term.until(/R E Q U E S T[^]*Choice\nDelete it\?/);
		term.type('\r'); // no answer here
		term.type('/point 30\r');
		await term.until(/^point 30$/m);
		term.type('\x1b[F');
		await term.until(/2\. Rust\n {3}safe/);
		term.type('q');
		await term.until(/› \d\. C|^› sure$|› \d\. Rust/m);
		assert.equal(model.requests().length, 1);
		await answer(term, '\r');
		await term.until(/Thanks\./);
		await idle(term);
		await leave(term);
	});
}

test('a question: an option that is out of view is not taken by its digit, and long descriptions are shown', options, async (t) => {
	const many = Array.from({ length: 9 }, (_, i) => ({ label: `option ${i + 1}`, description: `what ${'it does '.repeat(15)}${i + 1}.` }));
	const model = await startModel(t, [ask(question('a', 'Which?', { options: many })), say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: ASKS, rows: 20, columns: 60 });
	await term.until(/› 1\. option 1\n {5}what (it does )+it does\n {5}it does [^]*does 1\.\n/);
	assert.doesNotMatch(term.screen().join('\n'), /option 9/);
	await answer(term, '9');
	await term.until(/R E Q U E S T/);
	term.type('q');
	await term.until(/› 9\. option 9/);
	assert.equal(model.requests().length, 1);
	await answer(term, '\x1b[A');
	await term.until(/› 8\. option 8/);
	await answer(term, '\r');
	await term.until(/Thanks\./);
	assert.deepEqual(answers(model), { a: { answers: ['option 8'] } });
	await idle(term);
	await leave(term);
});

const PLAN = 'Intro.\n<proposed_plan>\n# Plan\n- first step\n</proposed_plan>\n';

test('a plan: proposed once, without tags; yes implements it in default mode', options, async (t) => {
	const model = await startModel(t, [say(PLAN), say('Built.')]);
	const term = await startReady(t, model);
	term.type('\x1b[Z');
	await term.until(/Plan mode \(shift\+tab to cycle\)/);
	await enter(term, 'plan it');
	await term.until(/• Proposed Plan[^]*first step[^]*Implement this plan\?\n\n?› 1\. Yes, implement this plan/);
	await answer(term, '\r');
	await term.until(/› Implement the plan\.[^]*Built\./);
	await idle(term);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'Implement the plan.');
	assert.match(textsOf(model.requests()[1], 'developer').at(-1), /<collaboration_mode>/);
	assert.doesNotMatch(term.lines().join('\n'), /proposed_plan|Plan mode \(/);
	assert.equal(term.lines().filter((line) => /first step/.test(line)).length, 1);
	await leave(term);
});

for (const [name, key] of [['Esc', '\x1b'], ['no', '\x1b[A\r']]) {
	test(`a plan: ${name} stays in plan mode`, options, async (t) => {
		const model = await startModel(t, [say(PLAN)]);
		const term = await startReady(t, model);
		term.type('\x1b[Z');
		await term.until(/Plan mode/);
		await enter(term, 'plan it');
		await term.until(/Implement this plan\?/);
		await answer(term, key.slice(0, 3), ...(key.slice(3) ? [key.slice(3)] : []));
		await term.until(/^›$/m);
		assert.match(term.screen().join('\n'), /Plan mode/);
		assert.equal(model.requests().length, 1);
		await leave(term);
	});
}

test('no plan, no question', options, async (t) => {
	const model = await startModel(t, [say('Just words.')]);
	const term = await startReady(t, model);
	term.type('\x1b[Z');
	await term.until(/Plan mode/);
	await enter(term, 'plan it');
	await term.until(/Just words\./);
	await idle(term);
	assert.equal(await term.rests(), -1); // no question waits until the keys rest
	assert.doesNotMatch(term.lines().join('\n'), /Implement this plan/);
	await leave(term);
});

test('a command: (p) allows its prefix, which is saved', options, async (t) => {
	const model = await startModel(t, [run('touch made'), run('touch again'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/3\. Yes, and don't ask again for commands that start with `touch[^]*\(p\)/);
	await answer(term, 'p');
	await term.until(/✔ You approved codex to run touch made and all commands like it/);
	await term.until(/Finished\.|touch again/);
	assert.match(fs.readFileSync(`${term.home}/rules/default.rules`, 'utf8'), /touch/);
	term.close();
	await term.done;
});

test('a command: what is approved is what is seen', options, async (t) => {
	const model = await startModel(t, [run('echo \u202efdp\u200b.exe'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/\$ echo \\u\{202e\}fdp\\u\{200b\}\.exe/);
	await answer(term, 'x', '7', 'n');
	await term.until(/✗ You canceled the request to run echo/);
	await idle(term);
	assert.equal(model.requests().length, 1);
	assert.doesNotMatch(term.raw(), /[\u202e\u200b]/);
	await leave(term);
});

for (const [rows, columns] of [[24, 80], [10, 80], [10, 30], [6, 20]]) {
	test(`a command: in ${columns} by ${rows} none is approved that was not visible`, options, async (t) => {
		const lines = Array.from({ length: 60 }, (_, i) => `line ${i}`);
		const model = await startModel(t, [run(`touch made; cat >/dev/null <<E\n${lines.join('\n')}\nE`), say('Finished.')]);
		const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE, rows, columns });
		await term.until(/touch made[^]*… ctrl-a shows all[^]*› 1\. Yes, proceed\s+\(y\)/);
		await answer(term, 'y');
		await term.until(/R E Q U E S T/);
		term.type('y\r'); // neither is an answer here
		for (const text of ['touch made', 'line 0', 'line 30', 'line 59', '1. Yes']) {
			term.type(`/${text}`);
			await term.until(new RegExp(`/ ${text}`));
			term.type('\r');
			await term.until(new RegExp(`^(\\$ )?${text}`, 'm'));
		}
		assert.ok(!fs.existsSync(`${term.cwd}/made`));
		term.type('q');
		await term.until(/› 1\. Yes, proceed/);
		await answer(term, '\r');
		await term.until(/Finished\./);
		assert.ok(fs.existsSync(`${term.cwd}/made`));
		await idle(term);
		await leave(term);
	});
}

test('a command: in a window of two rows none is approved', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/\$ touch made[^]*› 1\. Yes, proceed/);
	term.resize(2, 40);
	await answer(term, 'y');
	await until(() => term.raw().includes('\x1b[?1049h')); // the whole text is opened instead
	assert.ok(!fs.existsSync(`${term.cwd}/made`));
	term.type('q');
	term.resize(24, 80);
	await term.until(/\$ touch made[^]*› 1\. Yes, proceed/);
	await answer(term, 'y');
	await term.until(/Finished\./);
	await idle(term);
	await leave(term);
});

test('a command: in a small window it is visible, and so is what a choice saves', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE, rows: 10, columns: 30 });
	const second = /\n {2}2\. Yes, and don't ask again\n {5}for this command in this\n {5}session \(a\)/.source;
	await term.until(new RegExp(`^\\$ touch made\\n› 1\\. Yes, proceed \\(y\\)${second}\\n {2}3\\. [^]*\\n {2}4\\. No, and tell Codex what…$`, 'm'));
	await answer(term, '\x1b[B', '\x1b[B');
	await term.until(/^› 3\. Yes, and don't ask again\n {5}for commands that start\n {5}with `touch made` \(p\)/m);
	await answer(term, '\r');
	await term.until(/Finished\./);
	assert.match(fs.readFileSync(`${term.home}/rules/default.rules`, 'utf8'), /touch/);
	await idle(term);
	await leave(term);
});

test('a block of keys that arrives at once approves nothing, and answers no question', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('Finished.'), ask(question('a', 'First?')), say('Thanks.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: `${FREE}\n${ASKS}` });
	await term.until(/› 1\. Yes, proceed/);
	for (const block of ['/permissions read only', 'y yes', 'hello\r', '1\r', 'p3']) {
		await answer(term, block, '\x1b[B');
		await term.until(/^› 2\. /m);
		await answer(term, '\x1b[A');
		await term.until(/^› 1\. /m);
	}
	assert.ok(!fs.existsSync(`${term.cwd}/made`) && !fs.existsSync(`${term.home}/rules/default.rules`));
	await answer(term, '4');
	await term.until(/You canceled the request[^]*^›$/m);
	await enter(term, 'more');
	await term.until(/Finished\./);
	await idle(term);
	await enter(term, 'ask');
	await term.until(/First\?/);
	for (const block of ['2 pears', 'hello\r']) {
		await answer(term, block, '\x1b[C');
		await term.until(/Question 1\/1 \(1 unanswered\)/);
	}
	await answer(term, '2');
	await term.until(/Thanks\./);
	assert.match(term.lines().join('\n'), /answer: Rust/);
	await idle(term);
	await leave(term);
});

test('a deletion is named and shown before it is approved, also among other files', options, async (t) => {
	const cwd = tempDir(t, 'cwd'), rows = Array.from({ length: 250 }, (_, i) => `row ${i}`);
	fs.writeFileSync(`${cwd}/old.txt`, 'first\nlast\n');
	fs.writeFileSync(`${cwd}/long.txt`, `${rows.join('\n')}\n`);
	const model = await startModel(t, [patch('*** Add File: new.txt', '+one', '*** Delete File: old.txt'),
		patch('*** Delete File: long.txt'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE, cwd });
	await term.until(/^• Edited 2 files \(\+1 -2\)\n[^]*^ {2}└ Deleted old\.txt \(\+0 -2\)\n +1 -first\n +2 -last\n[^]*following edits\?/m);
	await answer(term, 'y');
	await term.until(/^• Deleted long\.txt \(\+0 -250\)\n +1 -row 0\n[^]*… ctrl-a shows all/m);
	await answer(term, 'y'); // it has folded rows
	await term.until(/R E Q U E S T/);
	term.type('/row 249\r');
	await term.until(/^-row 249$/m);
	assert.ok(fs.existsSync(`${cwd}/long.txt`) && !fs.existsSync(`${cwd}/old.txt`));
	term.type('q');
	await term.until(/› 1\. Yes, proceed/);
	await answer(term, 'y');
	await term.until(/Finished\./);
	assert.ok(!fs.existsSync(`${cwd}/long.txt`));
	await idle(term);
	await leave(term);
});

test('a patch: the change, the question, and the file', options, async (t) => {
	const model = await startModel(t, [patch('*** Add File: made.txt', '+one line'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/Added .*made\.txt \(\+1 -0\)[^]*Would you like to make the following edits\?[^]*made\.txt/);
	await answer(term, 'y');
	await term.until(/Finished\./);
	assert.equal(fs.readFileSync(`${term.cwd}/made.txt`, 'utf8'), 'one line\n');
	await idle(term);
	await leave(term);
});

test('a patch that the session approved is shown as it is applied, and a renamed file has no rows of its own', options, async (t) => {
	const model = await startModel(t, [patch('*** Add File: made.txt', '+one line'), say('Finished.'),
		patch('*** Update File: made.txt', '@@', '-one line', '+a second line'), say('Edited again.'),
		patch('*** Update File: made.txt', '*** Move to: moved.txt', '@@', '-a second line', '+a third line'), say('Moved.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/Would you like to make the following edits\?/);
	await answer(term, 'a');
	await term.until(/Finished\./);
	await idle(term);
	term.type('again');
	await term.until(/› again/);
	term.type('\r');
	await term.until(/Edited made\.txt \(\+1 -1\)\n +1 -one line\n +1 \+a second line\n[^]*Edited again\./);
	await idle(term);
	term.type('move');
	await term.until(/› move/);
	term.type('\r');
	await term.until(/Would you like to make the following edits\?/);
	await answer(term, 'y');
	await term.until(/Moved\./);
	await idle(term);
	const moved = /moved\.txt \(\+1 -1\)\n +1 -a second line\n +1 \+a third line\n\n/;
	assert.match(term.lines().join('\n'), moved);
	term.type('\x14');
	await term.until(/T R A N S C R I P T/);
	assert.match(term.screen().join('\n'), moved);
	term.type('q');
	await idle(term);
	await leave(term);
});

test('a patch with folded rows is approved once all of them were shown', options, async (t) => {
	const rows = Array.from({ length: 900 }, (_, i) => `+row ${i}${i === 700 ? ' \x1b[8m\u202ehidden' : ''}`);
	const model = await startModel(t, [patch('*** Add File: big.txt', ...rows, '*** Add File: small.txt', '+one'), say('Finished.')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/\(900 changed lines in all\)[^]*big\.txt\n.*small\.txt\n… ctrl-a shows all\n\n› 1\. Yes, proceed/);
	await answer(term, 'y');
	await term.until(/R E Q U E S T/);
	for (const text of ['row 199', 'row 450', 'row 700 ^[[8m\\u{202e}hidden', 'row 899', 'one']) {
		term.type(`/${text}`);
		await term.until(new RegExp(`/ ${text.replace(/[\^[\\{}]/g, '\\$&')}`));
		term.type('\r');
		await term.until(new RegExp(`^\\+${text.replace(/[\^[\\{}]/g, '\\$&')}`, 'm'));
	}
	assert.ok(!fs.existsSync(`${term.cwd}/big.txt`));
	term.type('q');
	await term.until(/› 1\. Yes, proceed/);
	await answer(term, 'y');
	await term.until(/Finished\./);
	assert.equal(fs.readFileSync(`${term.cwd}/small.txt`, 'utf8'), 'one\n');
	await idle(term);
	await leave(term);
});

// --- input and the end of a turn --------------------------------------------------------------------------------------

test('a message that joined a turn which fails starts the next one', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { gate: 'a' },
		{ event: { type: 'response.failed', response: { id: 'r', error: { code: 'invalid_prompt', message: 'no' } } } }), say('I read it.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I begin/);
	await enter(term, 'and this');
	await term.until(/Read with the next request \(esc sends it now\)\n {2}↳ and this\n[^]*›$/m);
	await model.openGate('a');
	await term.until(/I read it\./);
	await idle(term);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'and this');
	assert.equal(term.lines().filter((line) => /› and this/.test(line)).length, 1);
	await leave(term);
});

/** A turn that hangs, a message that joined it and another one that is queued. */
async function startSteered(t) {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { hang: true }), say('I read it.'), say('And that.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I begin/);
	await enter(term, 'and this');
	await term.until(/↳ and this/);
	term.type('then that');
	await term.until(/^› then that$/m);
	term.type('\t');
	await term.until(/↳ then that/);
	return { model, term };
}

test('Esc interrupts a turn and sends what joined it; what is queued follows', options, async (t) => {
	const { model, term } = await startSteered(t);
	term.type('\x1b');
	await term.until(/And that\./);
	await idle(term);
	const [, second, third] = model.requests().map((request) => textsOf(request, 'user').map((text) => text.slice(0, 14)));
	assert.deepEqual(second.slice(-3), ['go', '<turn_aborted>', 'and this']);
	assert.deepEqual(third.slice(-2), ['and this', 'then that']);
	const lines = term.lines().join('\n');
	assert.match(lines, /› and this[^]*■ Conversation interrupted[^]*• I read it\.[^]*› then that[^]*• And that\./);
	assert.equal(lines.split('› and this').length, 2);
	await leave(term);
});

test('Esc sends no message again that a request contains', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [`${cwd}/gate`]);
	const model = await startModel(t, [run('touch began; cat gate'), reply({ delta: 'I read it' }, { hang: true }), say('Thanks.')]);
	const term = await startReady(t, model, ['go'], { config: FREE, cwd });
	await until(() => fs.existsSync(`${cwd}/began`));
	await enter(term, 'and this');
	await term.until(/› and this[^]*^›$/m);
	fs.writeFileSync(`${cwd}/gate`, '');
	await term.until(/I read it/);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted/);
	await idle(term);
	await enter(term, 'next');
	await term.until(/Thanks\./);
	await idle(term);
	assert.equal(model.requests().length, 3);
	assert.deepEqual(textsOf(model.requests()[2], 'user').slice(-1), ['next']);
	await leave(term);
});

test('Esc sends a message that joined before a command which it stops', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { gate: 'a' }, { call: 'exec_command', arguments: { cmd: 'sleep 300' } }),
		say('I read it.')]);
	const term = await startReady(t, model, ['go'], { config: FREE });
	await term.until(/I begin/);
	await enter(term, 'and this');
	await term.until(/↳ and this/);
	await model.openGate('a');
	await term.until(/Running sleep 300/);
	term.type('\x1b');
	await term.until(/I read it\./);
	await idle(term);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'and this');
	await leave(term);
});

test('Ctrl-C interrupts and sends nothing: what joined the turn is read with the next message', options, async (t) => {
	const { model, term } = await startSteered(t);
	term.type('\x03');
	await term.until(/■ Conversation interrupted[^]*^› then that$/m);
	await idle(term);
	assert.equal(model.requests().length, 1);
	term.type('\r');
	await term.until(/I read it\./);
	await idle(term);
	assert.deepEqual(textsOf(model.requests()[1], 'user').slice(-2), ['and this', 'then that']);
	await leave(term);
});

test('Ctrl-C closes a list above the composer before it interrupts a turn', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { gate: 'a' }, { delta: '. Done.' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I begin/);
	term.type('/stat');
	await term.until(/› \/status/);
	term.type('\x03');
	await term.untilGone(/› \/status/);
	await term.until(/esc to interrupt[^]*^› \/stat$/m);
	await model.openGate('a');
	await term.until(/Done\./);
	await idle(term);
	assert.doesNotMatch(term.lines().join('\n'), /interrupted/);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('input during /compact waits for its end and is then sent', options, async (t) => {
	const model = await startModel(t, [say('One.'), reply({ gate: 'c' }, { message: 'A summary.' }), say('Two.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/One\./);
	await idle(term);
	await enter(term, '/compact');
	await term.until(/esc to interrupt/);
	await enter(term, 'next');
	await term.until(/Queued follow-up inputs/);
	await model.openGate('c');
	await term.until(/replaced by a summary[^]*› next[^]*Two\./);
	await idle(term);
	assert.equal(model.requests().length, 3);
	await leave(term);
});
