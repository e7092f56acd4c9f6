// The terminal: conversation, composer, interrupt, exit; the scrollback compared as a whole.

import assert from 'node:assert/strict';
import test from 'node:test';

import { codexBin, forever, needs, reply, run, runCodex, say, startModel, textsOf } from './lib/codex.mjs';
import { answer, conversationOf, lacksEmulator, leave, startReady, timeless } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };

test('a conversation stands in the scrollback once, and the shell\'s lines stay above it', options, async (t) => {
	const model = await startModel(t, [say('First answer.'), say('Second answer.')]);
	const term = await startReady(t, model, [], { command: ['sh', '-c', `seq 1 40; exec "${codexBin}"`] });
	term.type('one');
	await term.until(/^› one/m);
	term.type('\r');
	await term.until(/First answer\./);
	await term.untilGone(/esc to interrupt/);
	term.type('two');
	await term.until(/^› two/m);
	term.type('\r');
	await term.until(/Second answer\./);
	await term.untilGone(/esc to interrupt/);
	const { status, restored } = await leave(term);
	const lines = timeless(term.lines().join('\n')).split('\n');
	assert.deepEqual(lines.slice(0, 40), Array.from({ length: 40 }, (_, i) => String(i + 1)));
	assert.deepEqual(lines.slice(40, 50), [`• >_ Codex in C (v0.1.0)`, `  ${term.cwd}`, '', '› one', '', '• First answer.', '',
		'› two', '', '• Second answer.']);
	assert.match(lines.slice(50).join('\n'), new RegExp('^\nToken usage: total=\\S+ input=\\S+ output=\\S+\n' +
		'To continue this session, run:\n {2}codex resume [0-9a-f-]{36}$'));
	assert.equal(status, 0);
	assert.ok(restored);
	assert.doesNotMatch(term.raw(), /\x1b\[[23]J|\x1b\[\d*;\d*r/);
	assert.match(term.raw(), /\x1b\[<u\x1b\[>4;0m\x1b\[\?2004l\x1b\[\?1004l/);
});

test('an answer is visible while it arrives, and stands there once', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'Half a line' }, { gate: 'a' },
		{ delta: ' is whole.\nNext line' }, { gate: 'b' }, { delta: ' ends.' })]);
	const term = await startReady(t, model, ['say it']);
	await term.until(/^• Half a line$/m);
	assert.match(term.screen().join('\n'), /esc to interrupt/);
	await model.openGate('a');
	await term.until(/^ {2}Next line$/m);
	await model.openGate('b');
	await term.until(/Next line ends\./);
	await term.untilGone(/esc to interrupt/);
	assert.equal(conversationOf(term.lines()), '› say it\n\n• Half a line is whole.\n  Next line ends.');
	assert.equal((await leave(term)).status, 0);
});

test('a long answer scrolls by, each line once; the live part stays at the bottom', options, async (t) => {
	const model = await startModel(t, [reply({ repeat: 300, steps: [{ delta: 'line {i} ' }, { delta: 'of many\n' }] })]);
	const term = await startReady(t, model, ['many'], { rows: 10 });
	await term.until(/line 300 of many/);
	await term.untilGone(/esc to interrupt/);
	const wanted = Array.from({ length: 300 }, (_, i) => `${i ? '  ' : '• '}line ${i + 1} of many`);
	assert.deepEqual(term.lines().filter((line) => / of many$/.test(line)), wanted);
	assert.equal(term.lines().filter((line) => /interrupt/.test(line)).length, 0);
	assert.equal((await leave(term)).status, 0);
});

test('a paragraph is wrapped at words; a long word and wide characters at their columns', options, async (t) => {
	const model = await startModel(t, [say(`one two three four five six\n${'x'.repeat(30)}\n漢字漢字漢字漢字漢字漢字`)]);
	const term = await startReady(t, model, ['go'], { columns: 20 });
	await term.until(/漢字漢字$/m);
	await term.untilGone(/Working/);
	assert.equal(conversationOf(term.lines()), ['› go', '', '• one two three', '  four five six', `  ${'x'.repeat(17)}`, `  ${'x'.repeat(13)}`,
		'  漢字漢字漢字漢字', '  漢字漢字'].join('\n'));
	await leave(term);
});

test('nothing that a model or a command says drives the terminal', options, async (t) => {
	const evil = '\x1b]0;owned\x07\x1b[2J\x1b[31mred \u202eabc\u2066 \u200bzero \x9b31m\x07 end';
	const model = await startModel(t, [run('printf "\\033]0;owned\\007\\033[2Jshown\\r progress 100%%\\n"'), say(evil)]);
	const term = await startReady(t, model, ['go'], { config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' });
	await term.until(/ end$/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.raw(), /owned\x07|\x1b\[2J|[\u202a-\u202e\u2066-\u2069\u200b\x80-\x9f]/);
	assert.match(conversationOf(term.lines()), /• \^\[\]0;owned\^G\^\[\[2J\^\[\[31mred \\u\{202e\}abc\\u\{2066\} \\u\{200b\}zero/);
	assert.match(conversationOf(term.lines()), /• Ran printf .*\n[^]* {2}└ {2}progress 100%/);
	await leave(term);
});

test('Esc interrupts; what was queued returns to the composer, and the next prompt works', options, async (t) => {
	const model = await startModel(t, [reply({ delta: 'I begin' }, { hang: true }), say('Again.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/I begin/);
	term.type('next one');
	await term.until(/^› next one/m);
	term.type('\t');
	await term.until(/Queued follow-up inputs\n {2}↳ next one/);
	term.type('\x1b');
	await term.until(/■ Conversation interrupted/);
	await term.until(/^› next one/m);
	assert.match(conversationOf(term.lines()), /• I begin\n\n■ Conversation interrupted/);
	term.type('\r');
	await term.until(/Again\./);
	assert.equal(textsOf(model.requests()[1], 'user').at(-1), 'next one');
	await term.untilGone(/esc to interrupt/);
	assert.equal((await leave(term)).status, 0);
});

test('input steers the running turn, and queued input starts the next', options, async (t) => {
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'true' } }, { gate: 'a' }),
		say('Read both.'), say('Third.')]);
	const term = await startReady(t, model, ['go'], { config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' });
	await term.until(/esc to interrupt/);
	term.type('later');
	await term.until(/^› later/m);
	term.type('\t');
	await term.until(/↳ later/);
	term.type('steer');
	await term.until(/^› steer/m);
	term.type('\r');
	await term.until(/↳ steer/);
	await model.openGate('a');
	await term.until(/Third\./);
	await term.untilGone(/esc to interrupt/);
	const [, second, third] = model.requests();
	assert.equal(textsOf(second, 'user').at(-1), 'steer');
	assert.equal(textsOf(third, 'user').at(-1), 'later');
	assert.match(conversationOf(term.lines()), /• Ran true\n[^]*• Read both\.\n\n› later\n\n• Third\.$/);
	assert.deepEqual(conversationOf(term.lines()).match(/^› .*/gm), ['› go', '› steer', '› later']);
	await leave(term);
});

test('the composer edits by clusters, words and lines, kills and yanks, and recalls', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	const steps = [
		['hello world', /^› hello world$/m], ['\x17', /^› hello$/m], ['\x19', /^› hello world$/m],
		['\x01\x1b[C\x1b[C\x0b', /^› he$/m], ['\x05\x1b\rsecond', /^› he\n {2}second$/m], ['\x15', /^› he\n {2}· |^› he\n\n/m],
		['\x7f\x15', /^›$/m], ['e\u0301 漢👨‍👩‍👧', /^› e\u0301 漢👨/m], ['\x7f', /^› e\u0301 漢$/m], ['\x7f\x7f\x7f', /^›$/m],
	];
	for (const [keys, wanted] of steps) {
		term.type(keys);
		await term.until(wanted);
	}
	term.type('keep this');
	await term.until(/^› keep this/m);
	term.type('\x03');
	await term.until(/^›$/m);
	term.type('\x1b[A');
	await term.until(/^› keep this/m);
	term.type('\x1b[B');
	await term.until(/^›$/m);
	assert.equal((await leave(term)).status, 0);
	assert.equal(model.requests().length, 0);
});

test('a paste sends nothing and runs nothing; a large one is a unit; a block of keys with Enter is lines', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type('\x1b[200~first\rsecond\r\nthird\x1b[31m\x07\x1b[201~');
	await term.until(/^› first\n {2}second\n {2}third\[31m$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	term.type('line one\rline two\r');
	await term.until(/^› line one\n {2}line two/m);
	term.type('\x03');
	await term.until(/^›$/m);
	term.type(`\x1b[200~${'y'.repeat(1500)}\x1b[201~`);
	await term.until(/^› \[Pasted Content 1500 chars\]$/m);
	term.type('\x7f');
	await term.until(/^›$/m);
	assert.equal(model.requests().length, 0);
	term.type(`see \x1b[200~${'z'.repeat(1001)}\x1b[201~`);
	await term.until(/Pasted Content 1001 chars/);
	term.type('\r');
	await term.until(/• ok/);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), `see ${'z'.repeat(1001)}`);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
});

for (const [name, keys] of [['yes', 'y'], ['Enter', '\r'], ['digit', '1']]) {
	test(`a command is approved by ${name}, and runs`, options, async (t) => {
		const model = await startModel(t, [run('touch made; echo done here'), say('Finished.')]);
		const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: 'sandbox_mode = "danger-full-access"' });
		await term.until(/Would you like to run the following command\?[^]*\$ touch made; echo done here[^]*› 1\. Yes, proceed \(y\)/);
		await answer(term, keys);
		await term.until(/Finished\./);
		assert.match(conversationOf(term.lines()), /• Ran touch made; echo done here\n {2}└ done here/);
		await term.untilGone(/esc to interrupt/);
		await leave(term);
	});
}

test('typing ahead answers nothing; Esc denies and interrupts; the draft stays', options, async (t) => {
	const model = await startModel(t, [reply({ gate: 'ask' }, { call: 'exec_command', arguments: { cmd: 'touch made' } }), say('no')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: 'sandbox_mode = "danger-full-access"' });
	await term.until(/esc to interrupt/);
	term.type('y'.repeat(20));
	await term.until(/^› y{20}$/m);
	await model.openGate('ask');
	await term.until(/Would you like to run/);
	await answer(term, '\x1b');
	await term.until(/■ Conversation interrupted/);
	await term.until(/^› y{20}$/m);
	assert.equal(model.requests().length, 1);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('closing the terminal denies, and ends the program', options, async (t) => {
	const model = await startModel(t, [run('touch made'), say('no')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: 'sandbox_mode = "danger-full-access"' });
	await term.until(/Would you like to run/);
	term.close();
	await term.done;
	assert.equal(model.requests().length, 1);
	const { existsSync } = await import('node:fs');
	assert.equal(existsSync(`${term.cwd}/made`), false);
});

for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGABRT', 'SIGSEGV']) {
	test(`${signal} leaves the terminal as it was`, options, async (t) => {
		const model = await startModel(t, [forever(say('ok'))]);
		const term = await startReady(t, model);
		term.signal(signal);
		const { status, restored } = await term.done;
		assert.ok(restored);
		assert.ok(status > 0);
		assert.match(term.raw(), /\x1b\[<u\x1b\[>4;0m\x1b\[\?2004l\x1b\[\?1004l\x1b\[0 q\x1b\[\?25h/);
	});
}

test('a resized window keeps every line once and leaves no piece of the live rows', options, async (t) => {
	const text = Array.from({ length: 30 }, (_, i) => `word${i}`).join(' ');
	const model = await startModel(t, [forever(say(text))]);
	const term = await startReady(t, model, ['go'], { columns: 100 });
	await term.until(/word29/);
	await term.untilGone(/esc to interrupt/);
	term.type('a draft');
	await term.until(/^› a draft/m);
	for (const columns of [60, 130, 90]) {
		term.resize(24, columns);
		await term.rests(); // it is drawn after the last change
	}
	term.type('!');
	await term.until(/^› a draft!/m);
	const lines = term.lines().join('\n');
	assert.equal(lines.split('› a draft').length, 2);
	assert.equal(lines.split('word29').length, 2);
	assert.equal(lines.split(' · ').length, 2);
	term.type('\x03');
	await term.until(/^›$/m);
	await leave(term);
});

test('a window of 20 by 6 shows the answer and the composer', options, async (t) => {
	const model = await startModel(t, [say('Small but whole.')]);
	const term = await startReady(t, model, ['go'], { rows: 6, columns: 20 });
	await term.until(/• Small but whole\./);
	await term.untilGone(/esc to/);
	assert.match(term.screen().join('\n'), /• Small but whole\.[^]*›/);
	await leave(term);
});

test('an error of the model is shown, and the composer is ready again', options, async (t) => {
	const model = await startModel(t, [reply({ status: 400, body: { error: { message: 'the moon is full' } } }), say('Now.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/■ .*the moon is full/);
	await term.untilGone(/esc to interrupt/);
	term.type('go on');
	await term.until(/^› go on/m);
	term.type('\r');
	await term.until(/• Now\./);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
});

test('commands: status, help, rename, unknown ones; a path is a message', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	const run_command = async (text, wanted) => {
		term.type(text);
		await term.until(new RegExp(`^› ${text}`, 'm'));
		term.type('\r');
		await term.until(wanted);
	};
	await run_command('/status', /Model: [^]*Directory: [^]*Session: [0-9a-f-]{36}/);
	await run_command('/help', /\/compact {2}/);
	await run_command('/rename apples', /Thread renamed to apples/);
	await run_command('/nope', /Unrecognized command '\/nope'/);
	assert.match(term.screen().join('\n'), /^› \/nope$/m);
	term.type('\x03');
	await term.until(/^›$/m);
	await run_command('/etc/hosts says what?', /• ok/);
	await term.untilGone(/esc to interrupt/);
	await run_command('/quit', /To continue this session/);
	assert.deepEqual(await term.done, { status: 0, restored: true });
});

test('without a terminal nothing starts and no control sequence is written', options, async (t) => {
	for (const args of [[], ['do something']]) {
		const { code, stdout, stderr } = await runCodex(t, args);
		assert.equal(code, 1);
		assert.equal(stdout, '');
		assert.match(stderr, /^Error: stdin is not a terminal/);
	}
});

test('nothing is written while the program waits', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	await term.rests();
	const before = term.raw();
	assert.equal(await term.rests(), -1); // no timer wakes it
	assert.equal(term.raw(), before);
	await leave(term);
});

test('NO_COLOR: no colour is sent', options, async (t) => {
	const model = await startModel(t, [run('false'), say('ok')]);
	const term = await startReady(t, model, ['go'], { env: { NO_COLOR: '1' }, config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"' });
	await term.until(/• ok/);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
	assert.doesNotMatch(term.raw(), /\x1b\[[\d;]*\b(3[0-8]|4[0-8]|9\d|10[0-7])m/);
});
