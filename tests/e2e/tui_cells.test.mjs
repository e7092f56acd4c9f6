// The terminal: the cells of commands, patches, plans, tools, reviews and messages of the engine.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

import { FEW_RETRIES, call, failed, forever, makeHome, needs, patch, reply, run, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { answer, conversationOf, enter, lacksEmulator, leave, startReady, startTerminal } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
const SERVER = fileURLToPath(new URL('lib/mcp_server.mjs', import.meta.url));

/** Sends "go" to a model with these replies and then "Done."; returns the conversation between both. */
async function show(t, replies, { config = '', ...more } = {}) {
	const model = await startModel(t, [...replies, say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: FREE + config, ...more });
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	const text = conversationOf(term.lines());
	await leave(term);
	return { text: text.slice('› go\n\n'.length, text.indexOf('\n\n• Done.')), raw: term.raw(), term };
}

test('a command shows the ends of its output', options, async (t) => {
	const { text } = await show(t, [run('for i in $(seq 1 30); do echo line $i; done')]);
	assert.equal(text, '• Ran for i in $(seq 1 30); do echo line $i; done\n  └ line 1\n    line 2\n' +
		'    … +26 lines (ctrl-t to view transcript)\n    line 29\n    line 30');
});

test('of an output that was not kept whole the lines are not counted as all', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type('!yes | head -c 3000000');
	await term.until(/^! yes/m);
	term.type('\r');
	await term.until(/… more than \d+ lines \(ctrl-t to view transcript\)/);
	await leave(term);
});

test('a short output is shown whole; no output is said', options, async (t) => {
	assert.equal((await show(t, [run('for i in 1 2 3 4 5; do echo $i; done')])).text,
		'• Ran for i in 1 2 3 4 5; do echo $i; done\n  └ 1\n    2\n    3\n    4\n    5');
	assert.equal((await show(t, [run('true')])).text, '• Ran true\n  └ (no output)');
});

test('a command that fails shows its exit code and duration', options, async (t) => {
	const { text, raw } = await show(t, [run('echo oops; exit 7')]);
	assert.match(text, /^• Ran echo oops; exit 7\n {2}└ oops\n {4}✗ \(7\) • \d+ms$/);
	assert.match(raw, /\x1b\[31m✗/);
});

test('a line of output of 1 MB takes two rows', options, async (t) => {
	const { text } = await show(t, [run('head -c 1000000 /dev/zero | tr "\\0" x; echo; echo end')]);
	assert.match(text, /^• Ran head .*\n(.*\n)? {2}└ x{75}\n {4}x{7,75}…?\n {4}end$/m);
});

test('a running command is shown while it runs', options, async (t) => {
	const folder = tempDir(t, 'pipe');
	execFileSync('mkfifo', [path.join(folder, 'go')]);
	const model = await startModel(t, [run(`cat ${folder}/go >/dev/null; echo ran`), say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: FREE, columns: 120 });
	await term.until(/^• Running cat .*echo ran$/m);
	fs.writeFileSync(path.join(folder, 'go'), '');
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /Running/);
	await leave(term);
});

test('commands that only read are one cell: reads, lists, searches', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	for (const name of ['a.txt', 'b.txt']) fs.writeFileSync(path.join(cwd, name), 'needle\n');
	const { text } = await show(t, [run('cat a.txt'), run('cat b.txt'), run('ls'), run('grep -rn needle .'), run('echo other')], { cwd });
	assert.equal(text, '• Explored\n  └ Read a.txt, b.txt\n    List ls\n    Search needle in .\n\n• Ran echo other\n  └ other');
});

test('parallel commands that only read stand in the order of the calls, not of their ends', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('mkfifo', [path.join(cwd, 'slow.txt')]);
	fs.writeFileSync(path.join(cwd, 'fast.txt'), 'x\n');
	const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'cat slow.txt' } },
		{ call: 'exec_command', arguments: { cmd: 'cat fast.txt' } }), say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: FREE, cwd });
	await term.until(/^• Exploring Read fast\.txt$/m); // the second one has ended, the first one has not
	fs.writeFileSync(path.join(cwd, 'slow.txt'), 'x\n');
	await term.until(/^• Explored\n {2}└ Read slow\.txt, fast\.txt$/m);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
});

test('a command that was interrupted has words in place of an exit code', options, async (t) => {
	const model = await startModel(t, [run('echo begun; sleep 300')]);
	const term = await startReady(t, model, ['go'], { config: FREE });
	await term.until(/Running echo begun/);
	term.type('\x1b');
	await term.until(/✗ \(not finished\) • \d[^]*■ Conversation interrupted/);
	assert.doesNotMatch(term.lines().join('\n'), /\(-1\)/);
	await leave(term);
});

test('commands and patches that are refused before they begin are shown with the reason', options, async (t) => {
	const replies = [call('exec_command', { cmd: 'touch made', sandbox_permissions: 'require_escalated', justification: 'x' }),
		run('rm -rf x'), patch('*** Update File: nothere.txt', '@@', '-a', '+b'), patch('*** Add File: new.txt', '+x')];
	const model = await startModel(t, [...replies, say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: 'sandbox_mode = "read-only"\napproval_policy = "never"\n', rows: 40 });
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	const text = conversationOf(term.lines());
	for (const words of [/• The command was not run: `touch made`: approval policy is Never/,
		/• The command was not run: `rm\s-rf\sx`: it destroys what cannot be had back/,
		/• The patch was not applied: Failed to read file to update \S*nothere\.txt/,
		/• The patch was not applied: writing is blocked by read-only sandbox/])
		assert.match(text.replaceAll(/\n {2}/g, ' '), words);
	await leave(term);
});

test('a command whose second run outside the sandbox was declined keeps its output and exit code', options, async (t) => {
	const model = await startModel(t, [run('echo tried; touch made'), say('Done.')]);
	const home = makeHome(t, model, 'sandbox_mode = "read-only"\napproval_policy = "on-failure"\n'), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, ['go'], { home, cwd });
	await term.until(/retry without sandbox/);
	await answer(term, 'n');
	await term.until(/Conversation interrupted/);
	const shown = new RegExp('• Ran echo tried; touch made\n  └ tried\n    touch: .*\n' +
		'    The second run, outside the sandbox, was declined\\.\n    ✗ \\(1\\)');
	assert.match(term.lines().join('\n'), shown);
	await leave(term);
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd });
	await again.until(shown);
	assert.doesNotMatch(again.lines().join('\n'), /request to run/);
	await leave(again);
});

test('a read that fails is not hidden in a group', options, async (t) => {
	const { text } = await show(t, [run('cat nowhere.txt')]);
	assert.match(text, /^• Ran cat nowhere\.txt\n {2}└ cat: nowhere\.txt: No such file or directory\n {4}✗ \(1\)/);
});

test('output with every escape sequence is shown, and drives nothing', options, async (t) => {
	const bytes = [...Array(32).keys()].filter((code) => ![9, 10, 13].includes(code)).map((code) => `\\${code.toString(8).padStart(3, '0')}`);
	const script = `printf '${bytes.join('a')}\\n\\033[2J\\033]52;c;eA==\\007\\033P1$r\\033\\\\\\302\\233\\n\\342\\200\\256 \\342\\200\\213\\n'`;
	const { raw, text } = await show(t, [run(script)], { columns: 200 });
	assert.doesNotMatch(raw, /\x1b\[2J|\x1b\]52|\x1bP|[\x80-\x9f\u202e\u200b]/);
	assert.match(text, /\^@a\^Aa\^Ba/);
	assert.match(text, /\^\[\[2J\^\[\]52;c;eA==\^G\^\[P1\$r\^\[\\\\u\{9b\}/);
	assert.match(text, /\\u\{202e\} \\u\{200b\}/);
});

test('colours and looks of an output are kept in its cell, and in the transcript; NO_COLOR drops the colours', options, async (t) => {
	const text = String.raw`\033[31mred\n\033[1;38;5;208mbold\033[0m plain \033[48;2;0;0;255;4mline\033[m\n\033]0;evil\007\033[2Jleft\n\033[7mover\rlast`;
	const cells = [run(`printf '${text}'; exit 3`), forever(say('Finished.'))];
	for (const NO_COLOR of [undefined, '1']) {
		const model = await startModel(t, cells);
		const term = await startReady(t, model, ['go'], { config: FREE, env: { NO_COLOR } });
		const shown = await term.until(/^ {2}└ red\n {4}bold plain line\n {4}\^\[\]0;evil\^G\^\[\[2Jleft\n {4}last\n {4}✗ \(3\)[^]*Finished\./m);
		const buffer = term.emulator.buffer.active, y = shown.findIndex((line) => /└ red/.test(line));
		const cell = (row, x) => buffer.getLine(y + row).getCell(x);
		const colors = (one) => [one.isFgDefault() ? '' : one.getFgColor(), one.isBgDefault() ? '' : one.getBgColor()];
		assert.deepEqual(colors(cell(0, 4)), NO_COLOR ? ['', ''] : [1, '']);
		assert.deepEqual([...colors(cell(1, 4)), cell(1, 4).isBold() !== 0], NO_COLOR ? ['', '', true] : [208, '', true]);
		assert.deepEqual([...colors(cell(1, 9)), cell(1, 9).isDim() !== 0], ['', '', true]);
		assert.deepEqual([...colors(cell(1, 15)), cell(1, 15).isUnderline() !== 0], NO_COLOR ? ['', '', true] : ['', 21, true]);
		assert.deepEqual([...colors(cell(2, 4)), cell(2, 4).isUnderline()], ['', '', 0]);
		assert.notEqual(cell(3, 4).isInverse(), 0); // set by what was overwritten
		assert.equal(cell(4, 4).isInverse(), 0); // and not beyond the output
		await term.untilGone(/esc to interrupt/);
		term.type('\x14');
		await term.until(/T R A N S C R I P T[^]*└ red/);
		const pager = term.emulator.buffer.active, at = term.screen().findIndex((line) => /└ red/.test(line));
		assert.deepEqual(colors(pager.getLine(at).getCell(4)), NO_COLOR ? ['', ''] : [1, '']);
		term.type('q');
		await term.untilGone(/T R A N S C R I P T/);
		await leave(term);
	}
});

test('the last part of a line with carriage returns is shown, and tabs are columns', options, async (t) => {
	const { text } = await show(t, [run("printf ' 10%%\\r 50%%\\r100%%\\na\\tb\\n'")]);
	assert.match(text, /└ 100%\n {4}a {7}b$/);
});

test('a patch shows its files, counts, line numbers and signs', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	fs.writeFileSync(path.join(cwd, 'a.txt'), Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join(''));
	const { text, raw } = await show(t, [patch('*** Update File: a.txt', '@@', ' line 9', '-line 10', '+line ten', ' line 11')], { cwd });
	assert.equal(text, '• Edited a.txt (+1 -1)\n      9  line 9\n     10 -line 10\n     10 +line ten\n     11  line 11');
	assert.match(raw, /\x1b\[32m {5}10 \+/);
	assert.match(raw, /\x1b\[31m {5}10 -/);
});

test('several files are one cell with a block each; new, deleted and moved ones are named', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	for (const name of ['old.txt', 'gone.txt']) fs.writeFileSync(path.join(cwd, name), 'one\ntwo\n');
	const { text } = await show(t, [patch('*** Add File: new.txt', '+hello', '*** Delete File: gone.txt', '*** Update File: old.txt',
		'*** Move to: moved.txt', '@@', ' one', '-two', '+three')], { cwd });
	assert.match(text, /^• Edited 3 files \(\+2 -3\)$/m);
	assert.match(text, /^ {2}└ new\.txt \(\+1 -0\)\n {6}1 \+hello$/m);
	assert.match(text, /^ {2}└ Deleted gone\.txt \(\+0 -2\)\n {6}1 -one\n {6}2 -two$/m);
	assert.match(text, /^ {2}└ old\.txt → .*moved\.txt \(\+1 -1\)\n {6}1 {2}one\n {6}2 -two\n {6}2 \+three$/m);
});

test('one new file is added, with its lines', options, async (t) => {
	const { text } = await show(t, [patch('*** Add File: n.py', '+def f():', '+    return 1')]);
	assert.equal(text, '• Added n.py (+2 -0)\n      1 +def f():\n      2 +    return 1');
});

test('a patch of 1,000 lines is shortened', options, async (t) => {
	const { text } = await show(t, [patch('*** Add File: big.txt', ...Array.from({ length: 1000 }, (_, i) => `+row ${i}`))]);
	assert.match(text, /^• Added big\.txt \(\+1000 -0\)$/m);
	assert.match(text, /200 \+row 199\n {4}… \(1000 changed lines in all\)$/);
});

test('a patch of 200 lines is shown whole, and says so', options, async (t) => {
	const { text } = await show(t, [patch('*** Add File: big.txt', ...Array.from({ length: 200 }, (_, i) => `+row ${i}`))]);
	assert.match(text, / 200 \+row 199$/);
});

test('the message of an error with status 400 is shown, not its JSON', options, async (t) => {
	const error = { message: 'The model `x` is not for you.', type: 'invalid_request_error' };
	const model = await startModel(t, [reply({ status: 400, body: { error } }), reply({ status: 400, body: 'not JSON' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^■ The model `x` is not for you\. \(POST\s+\S+:\s+status\s+400;/m);
	await term.untilGone(/esc to interrupt/);
	await enter(term, 'again');
	await term.until(/^■ not JSON \(POST/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /invalid_request_error/);
	await leave(term);
	const again = await startReady(t, model, ['resume', '--last'], { home: term.home, cwd: term.cwd });
	await again.until(/› go\n\n■ The model `x` is not for you\. \(POST/);
	await leave(again);
});

test('a session that is continued shows a plan below the message that proposed it, as before', options, async (t) => {
	const model = await startModel(t, [say('I looked around.\n\n<proposed_plan>\n- the step\n</proposed_plan>\n')]);
	const term = await startReady(t, model);
	term.type('\x1b[Z');
	await term.until(/Plan mode/);
	await enter(term, 'go');
	const order = /› go\n\n• I looked around\.\n\n• Proposed Plan\n\n {2}• the step/;
	await term.until(/Implement this plan\?/);
	assert.match(term.lines().join('\n'), order);
	term.close();
	await term.done;
	const again = await startReady(t, model, ['resume', '--last'], { home: term.home, cwd: term.cwd });
	await again.until(order);
	await leave(again);
});

test('after many messages of one turn a plan is still shown once', options, async (t) => {
	const many = Array.from({ length: 4200 }, (_, i) => ({ message: `m${i}` }));
	const model = await startModel(t, [reply(...many, { message: '<proposed_plan>\n- the step\n</proposed_plan>' })]);
	const term = await startReady(t, model);
	term.type('\x1b[Z');
	await term.until(/Plan mode/);
	await enter(term, 'go');
	await term.until(/Implement this plan\?/);
	const lines = term.lines();
	assert.equal(lines.filter((line) => /the step/.test(line)).length, 1);
	assert.equal(lines.filter((line) => /^• m4199$/.test(line)).length, 1);
	term.close();
	await term.done;
});

test('a checklist shows what is done, current and to come', options, async (t) => {
	const { text, raw } = await show(t, [call('update_plan', { explanation: 'Because.', plan: [{ step: 'First', status: 'completed' },
		{ step: 'Second', status: 'in_progress' }, { step: 'Third', status: 'pending' }] })], { config: 'model = "gpt-5.2"\n' });
	assert.equal(text, '• Updated Plan\n  └ Because.\n  ✔ First\n  ▸ Second\n  □ Third');
	assert.match(raw, /\x1b\[1mSecond/);
});

test('the heading of the reasoning is in the working line', options, async (t) => {
	const model = await startModel(t, [reply({ reasoning: '**Weighing options** in detail', chunks: 3 }, { gate: 'a' }, { message: 'Done.' })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^• Weighing options \(\d+s • esc to interrupt\)$/m);
	await model.openGate('a');
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /in detail/);
	await leave(term);
});

test('hide_agent_reasoning: no heading in the working line, and no reasoning in the transcript', options, async (t) => {
	const model = await startModel(t, [reply({ reasoning: '**Weighing options** in detail' }, { gate: 'a' }, { message: 'Done.' })]);
	const term = await startReady(t, model, ['go'], { config: 'hide_agent_reasoning = true' });
	await term.until(/^• Working \(\d+s • esc to interrupt\)$/m);
	await model.openGate('a');
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	term.type('\x14');
	await term.until(/T R A N S C R I P T[^]*• Done\.[^]*100%/);
	assert.doesNotMatch(term.raw(), /Weighing|in detail/);
	term.type('q');
	await leave(term);
});

test('a tool of an MCP server shows its call and its answer; a failure its reason', options, async (t) => {
	const script = { tools: [{ name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] };
	const words = [SERVER, JSON.stringify(script)];
	const config = `[mcp_servers.s]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(words)}\n`;
	const item = { type: 'function_call', name: 'echo', namespace: 'mcp__s', arguments: '{"say":"hi"}', call_id: 'c1' };
	const { text } = await show(t, [reply({ item })], { config });
	assert.match(text, /^• Called s\.echo\(\{"say":"hi"\}\)\n {2}└ \{"say":"hi"\}$/);
});

// The failure may be known before the message is shown, during the turn or after it.
test('an MCP server that cannot be started is a warning', options, async (t) => {
	const model = await startModel(t, [forever(say('Done.'))]);
	const term = await startReady(t, model, ['go'], { config: `${FREE}[mcp_servers.absent]\ncommand = "/no/such/program"\n` });
	await term.until(/⚠ .*absent/);
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
	assert.equal(term.lines().join('\n').match(/⚠ .*absent/g).length, 1);
});

test('an MCP server that fails after the turn has ended is a warning, once', options, async (t) => {
	const gate = path.join(tempDir(t, 'pipe'), 'go');
	execFileSync('mkfifo', [gate]);
	const server = `[mcp_servers.late]\ncommand = "sh"\nargs = ["-c", ${JSON.stringify(`cat ${gate}; exit 3`)}]\n`;
	const model = await startModel(t, [forever(say('Done.'))]);
	const term = await startReady(t, model, ['go'], { config: `mcp_optional_startup_grace_ms = 0\n${FREE}${server}` });
	await term.until(/^• Done\.$/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /⚠/);
	fs.writeFileSync(gate, '');
	await term.until(/⚠ .*late/);
	await enter(term, 'more');
	await term.until(/› more[^]*• Done\./);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
	assert.equal(term.lines().join('\n').match(/⚠ .*late/g).length, 1);
});

test('a message in a body that is too long to be shown is shown without its JSON', options, async (t) => {
	const error = { message: `It began so. ${'word '.repeat(40)}`, param: 'x'.repeat(3000) };
	const model = await startModel(t, [reply({ status: 400, body: { error } })]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^■ It began so\. [^]*word[^]*\(POST\s+\S+:\s+status\s+400;/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /[{}]|param|xxx/);
	await leave(term);
});

test('edits that are declined are not called a failure', options, async (t) => {
	const model = await startModel(t, [patch('*** Add File: made.txt', '+one line')]);
	const term = await startReady(t, model, ['go', '-a', 'untrusted'], { config: FREE });
	await term.until(/Would you like to make the following edits\?/);
	await answer(term, 'n');
	await term.until(/^■ The edits were declined$/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /could not be applied|rejected/);
	assert.deepEqual(fs.readdirSync(term.cwd).filter((name) => name === 'made.txt'), []);
	await leave(term);
});

test('an output is shown from its first line that is not empty; the transcript has all of it', options, async (t) => {
	const model = await startModel(t, [run('printf "\\n\\r\\n\\nfirst\\n\\nlast\\n"'), say('Done.')]);
	const term = await startReady(t, model, ['go'], { config: FREE });
	await term.until(/^• Ran .*\n {2}└ first\n\n {4}last\n\n• Done\./m);
	await term.untilGone(/esc to interrupt/);
	term.type('\x14');
	await term.until(/^• Ran .*\n {2}└\n\n\n {4}first/m);
	term.type('q');
	await term.untilGone(/T R A N S C R I P T/);
	await leave(term);
});

test('attempts stand in the working line; a cause is shown once, and another one again', options, async (t) => {
	const busy = (message) => failed('server_error', message);
	const model = await startModel(t, [busy('Tired.'), busy('Tired.'), reply({ gate: 'a' }, ...busy('Asleep.').reply),
		reply({ gate: 'b' }, { message: 'Awake.' })]);
	const term = await startReady(t, model, ['go'], { config: FREE });
	await term.until(/^• Reconnecting\.\.\. 2\/\d \(\d+s • esc to interrupt\)$/m);
	assert.equal(term.lines().filter((line) => line.startsWith('⚠ ')).length, 1);
	await model.openGate('a');
	await term.until(/^• Reconnecting\.\.\. 3\/\d \(/m);
	await model.openGate('b');
	await term.until(/^• Awake\.$/m);
	await term.untilGone(/esc to interrupt/);
	const text = term.lines().join('\n');
	assert.match(text, /⚠ Reconnecting\.\.\. 1\/\d\n {2}└ [^\n]*: Tired\.\n\n⚠ Reconnecting\.\.\. 3\/\d\n {2}└ [^\n]*: Asleep\.\n\n• Awake\./);
	await leave(term);
});

test('a broken stream is a warning, and the turn continues', options, async (t) => {
	const { text } = await show(t, [reply({ delta: 'Half a sen' }, { drop: true })]);
	assert.match(text, /^• Half a sen\n\n⚠ Reconnecting\.\.\. 1\/\d/);
	assert.doesNotMatch(text, /■/);
});

test('a connection that was reset or closed is named in plain words', options, async (t) => {
	for (const [drop, words] of [['reset', 'the server, or a proxy on the way, reset the connection'],
		[true, 'the server closed the connection before the end of its answer']]) {
		const model = await startModel(t, [forever(reply({ start: true }, { drop }))]);
		const term = await startReady(t, model, ['go', ...FEW_RETRIES]);
		const text = (await term.until(/^■ stream disconnected[^]*continue/m)).join('\n').replace(/\n {2}/g, ' ');
		assert.match(text, new RegExp(`the connection to 127\\.0\\.0\\.1:\\d+ was lost: ${words}; what was received is kept; send "continue"`));
		await term.untilGone(/esc to interrupt/);
		await leave(term);
	}
});

test('a long message is shown by its ends, and whole in the transcript and in the request', options, async (t) => {
	const model = await startModel(t, [forever(say('Read.'))]);
	const term = await startReady(t, model, []);
	const text = Array.from({ length: 300 }, (_, i) => `row ${i + 1} of it`).join('\n');
	term.type(`\x1b[200~${text}\x1b[201~`);
	await term.until(/^› \[Pasted Content \d+ chars\]/m);
	term.type('\r');
	await term.until(/^• Read\.$/m);
	await term.untilGone(/esc to interrupt/);
	const shown = conversationOf(term.lines());
	assert.match(shown, /^› row 1 of it\n {2}row 2 of it\n[^]* {2}row 20 of it\n {4}… \+275 lines \(ctrl-t to view transcript\)\n {2}row 296 of it\n/);
	assert.equal(shown.match(/of it/g).length, 25);
	assert.equal(textsOf(model.requests()[0], 'user').at(-1), text);
	term.type('\x14');
	await term.until(/T R A N S C R I P T/);
	term.type('\x1b[H');
	await term.until(/row 21 of it/);
	term.type('q');
	await leave(term);
});

test('each line of a message of many lines has three rows at most', options, async (t) => {
	const model = await startModel(t, [say('Done.')]);
	const term = await startReady(t, model, ['x'.repeat(500) + '\nline'.repeat(31)]);
	await term.until(/^• Done\.$/m);
	const rows = term.lines().filter((line) => /^[› ] x+…?$/.test(line));
	assert.deepEqual(rows.map((row) => [row.slice(0, 2), row.at(-1)]), [['› ', 'x'], ['  ', 'x'], ['  ', '…']]);
	await term.untilGone(/esc to interrupt/);
	await leave(term);
});

test('a message of few long lines is shown by its ends, too; 4 KiB and blank lines at the end are no reason to cut', options, async (t) => {
	const model = await startModel(t, [forever(say('Read.'))]);
	const term = await startReady(t, model, []);
	const send = async (text, count) => {
		term.type(`\x1b[200~${text}\x1b[201~`);
		await term.until(/^› \[Pasted Content \d+ chars\]/m);
		term.type('\r');
		await term.until(new RegExp(`(^• Read\\.$[^]*){${count}}`, 'm'));
		await term.untilGone(/esc to interrupt/);
	};
	await send(`first ${'x'.repeat(5000)} last`, 1);
	assert.match(conversationOf(term.lines()), /^› first\n[x\n ]+ {4}… \+1427 bytes \(ctrl-t to view transcript\)\n {2}x[x\n ]+ last\n/);
	await send(`whole ${'z'.repeat(4096 - 6)}${'\n'.repeat(40)}`, 2);
	assert.equal(conversationOf(term.lines()).match(/z/g).length, 4090);
	await leave(term);
});

test('the counts of /status survive a request that exceeded the context window', options, async (t) => {
	const used = (input, output) => ({ usage: { input_tokens: input, cached_tokens: 0, output_tokens: output, reasoning_tokens: 0 } });
	const model = await startModel(t, [reply({ message: 'One.' }, used(1000, 34)), failed('context_length_exceeded', 'too long'),
		reply({ message: 'A summary.' }, used(100, 10)), reply({ message: 'Three.' }, used(500, 6))]);
	const term = await startReady(t, model, ['go']);
	const status = async (pattern) => {
		await term.untilGone(/esc to interrupt/);
		await enter(term, '/status');
		await term.until(pattern);
	};
	await term.until(/^• One\.$/m);
	await status(/Token usage: 1\.03K total {2}\(1K input \+ 34 output\)/);
	await enter(term, 'two');
	await term.until(/■ Codex ran out of room/);
	await status(/Token usage: 1\.03K total {2}\(1K input \+ 34 output\)\n {2}Context window: 0% left \((\S+) used \/ \1\)/);
	await enter(term, 'three');
	await term.until(/^• Three\.$/m);
	await status(/Token usage: 1\.65K total {2}\(1\.6K input \+ 50 output\)\n {2}Context window: 100% left \(506 used/);
	await leave(term);
	assert.match(term.lines().join('\n'), /^Token usage: total=1,650 input=1,600 output=50$/m);
});

test('a first request that exceeds the context window, and going back after it, leave true counts', options, async (t) => {
	const used = (input, output) => ({ usage: { input_tokens: input, cached_tokens: 0, output_tokens: output, reasoning_tokens: 0 } });
	const model = await startModel(t, [failed('context_length_exceeded', 'too long'), reply({ message: 'Two.' }, used(600, 16)),
		failed('context_length_exceeded', 'too long'), reply({ message: 'A summary.' }, used(30, 5)), reply({ message: 'Four.' }, used(100, 10))]);
	const term = await startReady(t, model, ['go']);
	const status = async (pattern) => {
		await term.untilGone(/esc to interrupt/);
		await enter(term, '/status');
		await term.until(pattern);
	};
	await term.until(/■ Codex ran out of room/);
	await status(/Token usage: 0 total[^]*Context window: 0% left/);
	term.type('\x1b');
	await term.until(/esc again to edit previous message/);
	term.type('\x1b');
	await term.until(/^Edit previous message$/m);
	term.type('\r');
	await term.until(/Went back before[^]*^› go$/m);
	term.type('\x15');
	await term.until(/^›$/m);
	await status(/Went back before[^]*Token usage: 0 total[^]*Context window: (9\d|100)% left/);
	await enter(term, 'two');
	await term.until(/^• Two\.$/m);
	await status(/Two\.[^]*Token usage: 616 total {2}\(600 input \+ 16 output\)/);
	await leave(term);
	assert.match(term.lines().join('\n'), /^Token usage: total=616 input=600 output=16$/m);
	const again = await startTerminal(t, model, ['resume', '--last'], { home: term.home, cwd: term.cwd });
	await again.until(/^• Two\.$/m);
	await enter(again, 'three');
	await again.until(/■ Codex ran out of room/);
	await again.untilGone(/esc to interrupt/);
	await enter(again, 'four');
	await again.until(/^• Four\.$/m);
	await again.untilGone(/esc to interrupt/);
	await enter(again, '/status');
	await again.until(/Token usage: 761 total {2}\(730 input \+ 31 output\)/);
	await leave(again);
});

test('usage without parts is counted, and counts that no field holds stop at the largest', options, async (t) => {
	const counted = (message, usage) => reply({ message }, { event: { type: 'response.completed', response: { id: 'r', usage } } });
	const most = { input_tokens: 0x7ffffffffffff000, output_tokens: 0 };
	const model = await startModel(t, [counted('One.', { total_tokens: 500 }), failed('context_length_exceeded', 'too long'),
		counted('A summary.', most), counted('Three.', most)]);
	const term = await startReady(t, model, ['go']);
	const status = async (pattern) => {
		await term.untilGone(/esc to interrupt/);
		await enter(term, '/status');
		await term.until(pattern);
	};
	await term.until(/^• One\.$/m);
	await status(/Token usage: 500 total {2}\(0 input \+ 0 output\)\n {2}Context window: (9\d|100)% left \(500 used/);
	await enter(term, 'two');
	await term.until(/■ Codex ran out of room/);
	await term.untilGone(/esc to interrupt/);
	await enter(term, 'three');
	await term.until(/^• Three\.$/m);
	await status(/Three\.[^]*Token usage: 9\.22e\+12M total[^]*Context window: 0% left/);
	await leave(term);
});

test('a review has its cells', options, async (t) => {
	const cwd = tempDir(t, 'cwd');
	execFileSync('git', ['init', '-q'], { cwd });
	fs.writeFileSync(path.join(cwd, 'a.c'), 'int x;\n');
	const output = { findings: [{ title: '[P1] Wrong type', body: 'Use **long**.', confidence_score: 0.9, priority: 1,
		code_location: { absolute_file_path: path.join(cwd, 'a.c'), line_range: { start: 1, end: 1 } } }],
	overall_correctness: 'patch is incorrect', overall_explanation: 'One problem.', overall_confidence_score: 0.8 };
	const model = await startModel(t, [say(JSON.stringify(output))]);
	const term = await startReady(t, model, [], { cwd, config: FREE });
	term.type('/review');
	await term.until(/^› \/review/m);
	term.type('\r');
	await term.until(/2\. Review uncommitted changes/);
	term.type('2');
	await term.until(/<< Code review finished >>[^]*Use long\./);
	await term.untilGone(/esc to interrupt/);
	const text = term.lines().join('\n');
	assert.match(text, />> Code review started: .* <</);
	assert.match(text, /^• One problem\.$/m);
	assert.match(text.replace(/\n {2}(?=\S)/g, ' '), /^- \[P1\] Wrong type — .*a\.c:1-1 Use long\.$/m);
	assert.equal(text.match(/One problem/g).length, 1);
	assert.doesNotMatch(text, /^› ./m);
	await leave(term);
});

test('a compaction is one line', options, async (t) => {
	const model = await startModel(t, [say('Long talk.'), say('A summary nobody sees.'), say('Next.')]);
	const term = await startReady(t, model, ['go']);
	await term.until(/^• Long talk\.$/m);
	await term.untilGone(/esc to interrupt/);
	term.type('/compact');
	await term.until(/^› \/compact/m);
	term.type('\r');
	await term.until(/^• Context compacted$/m);
	await term.untilGone(/esc to interrupt/);
	assert.doesNotMatch(term.lines().join('\n'), /A summary nobody sees/);
	await leave(term);
});
