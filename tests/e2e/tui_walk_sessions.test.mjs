// The terminal: the list of sessions, resumed and forked ones, in windows of 20 by 6, 80 by 24 and 200 by 60. After each
// step its effect is on the screen, no row is wider than the window, the cursor is inside, and what has left the screen
// is as it was.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexExec, makeHome, needs, reply, rollouts, say, sharedPath, startModel, tempDir } from './lib/codex.mjs';
import { lacksEmulator, startTerminal } from './lib/terminal.mjs';
import { sentencesOf, SIZES, startWalk } from './lib/walk.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 120_000 };
const ESC = '\x1b', ENTER = '\r', TAB = '\t', UP = '\x1b[A', DOWN = '\x1b[B', RIGHT = '\x1b[C', LEFT = '\x1b[D', CTRL_C = '\x03';
const HOME = '\x1b[H', CTRL_A = '\x01', CTRL_E = '\x05', CTRL_O = '\x0f', CTRL_T = '\x14', FOCUS_OUT = '\x1b[O';
const LONG = `talk three ${'and on '.repeat(40)}`;
const squeezed = (lines) => lines.join('').replace(/\s+/g, '');

/** Words of the sentences of section 8, by the test that walks them. */
const COVERS = {
	list: ['`codex resume` / `/resume`', 'Default filter is'],
	first: ['starts a new session', 'Ctrl-C quits'],
	resumed: ['A resumed session shows', '0.169 asks the model'],
	unknown: ['`codex resume UNKNOWN-ID`', 'No saved session found'],
	fork: ['`codex fork ID`'],
};

/**
 * A home with sessions, the latest change last: two, a long three, one of another folder, and one, which was begun first.
 * Returns the id of one, too.
 */
async function record(t, model) {
	const home = makeHome(t, model, 'model = "gpt-5.2"\n'), cwd = tempDir(t, 'cwd'), other = tempDir(t, 'other');
	const ids = [];
	for (const [prompt, folder] of [['talk one', cwd], ['talk two', cwd], [LONG, cwd], ['far away', other]]) {
		const { code, stderr, events } = await codexExec(t, model, [prompt], { home, cwd: folder, json: true });
		assert.equal(code, 0, stderr);
		ids.push(events.find(({ type }) => type === 'thread.started').thread_id);
	}
	assert.equal((await codexExec(t, model, ['resume', ids[0], 'more words'], { home, cwd })).code, 0);
	return { home, cwd, id: ids[0] };
}

const SCRIPT = ['Answer one.', 'Answer two.', 'Answer three.', 'Answer four.', 'Answer five.'].map((text) => say(text));

const steps = async (walk, name, list) => {
	for (const [i, step] of list.entries()) await walk.take(`${name} (${i})`, step);
};

for (const size of SIZES)
	test(`the list of sessions in a running one at ${size[1]} by ${size[0]}`, options, async (t) => {
		const model = await startModel(t, [...SCRIPT, say('Answer six.')]);
		const { home, cwd } = await record(t, model), isWide = size[1] > 20;
		const walk = await startWalk(t, model, size, [], { home, cwd });
		await walk.take('/resume', ['/resume', /^› .*talk one$/m]);
		assert.equal(walk.emulator.buffer.active.type, 'alternate');
		const filters = '\n {2}Filter: \\[Cwd\\] All {2,}Status: \\[Active\\] Archived {2,}Sort: \\[Updated\\] Created\n {2}Search:\n';
		const rows = '› +\\S+ +talk one\n +\\S+ +talk three[^]*\n {2}esc back · tab filter · ctrl-t view';
		if (isWide) assert.match(walk.screen().join('\n'), new RegExp(`^Resume a previous session${filters}${rows}`));
		await steps(walk, 'arrows and search', [[DOWN, /^› .*talk three/m], [UP, /^› .*talk one$/m], ['two', /^› .*talk two$/m, { isRaw: true }],
			['x', 'no session match'], ['\x7f', /^› .*talk two$/m], [ESC, /^› .*talk one$/m]]);
		assert.match(walk.screen().join('\n'), /^ {2}Search:$/m);
		await steps(walk, 'filters', [[TAB, /^› Filter: \[Cwd\]/m], [RIGHT, /^› Filter:.*\[All\]/m],
			['far', /Search: far\n› .*\n\n/, { isRaw: true }]]);
		if (isWide) await walk.until(/ far away$/m); // a narrow one has room for the folder alone
		await steps(walk, 'filters', [[ESC, /Search:\n› .*\n {2}.*\S/], [LEFT, /^› +\S+ +talk one$/m],
			[TAB, /› Status: \[Active\]/m], [RIGHT, 'no session match'], [LEFT, /^› .*talk one$/m],
			[TAB, /› Sort: \[Updated\]/m], [RIGHT, /^› .*talk three/m], [LEFT, /^› .*talk one$/m], [TAB, { gone: '› Sort:' }]]);
		await steps(walk, 'preview', [[CTRL_T, 'P R E V I E W']]);
		walk.type(HOME);
		await walk.until(/^› talk one$/m);
		await steps(walk, 'keys', [['q', /^› +\S+ +talk one$/m],
			[CTRL_O, /talk one\n\n/m], [CTRL_O, /talk one\n +\S/m],
			[DOWN, /^› .*talk three/m], [CTRL_E, /^› .*talk three.*\n {2}\S.*and/m], [CTRL_E, /^› .*talk three(?!.*\n {2}\S.*and)/m],
			['two', /^› .*talk two$/m, { isRaw: true }], [CTRL_A, { gone: 'talk two' }], ['', /no session match/], [ESC, /^› .*talk one$/m],
			[TAB, /^› Filter:/m], [TAB, /› Status:/m], [RIGHT, /^› .*talk two$/m], [CTRL_A, 'no session match'], [LEFT, /^› .*talk one$/m]]);
		await steps(walk, 'the ends', [[ESC, /^›$/m], ['/resume', /^› .*talk one$/m], [CTRL_C, /^›$/m]]);
		assert.equal(walk.emulator.buffer.active.type, 'normal');
		await steps(walk, 'Enter', [['/resume', /^› .*talk one$/m], ['two', /^› .*talk two$/m, { isRaw: true }], [ENTER, ['› talk two',
			'• Answer two.']],
			['', /^›$/m], ['go on', 'Answer six.'], ['', /^›$/m], ['/rename apples', 'Thread renamed'], ['/resume', /^› +\S+ +\[apples\]/m],
			[ESC, /^›$/m]]);
		assert.equal(rollouts(home).length, 4);
		walk.once('the session', ['› talk two', '• Answer two.', '› go on', '• Answer six.']);
		walk.absent('the session', ['talk one', 'talk three', 'far away', 'Search:']);
		assert.equal(model.requests().length, 6, 'nothing is spent unasked');
		walk.type(CTRL_C);
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

for (const size of SIZES)
	test(`codex resume without a session at ${size[1]} by ${size[0]}`, options, async (t) => {
		const model = await startModel(t, [...SCRIPT, say('Answer six.')]);
		const { home, cwd } = await record(t, model);
		const walk = await startWalk(t, model, size, ['resume'], { home, cwd });
		await walk.until(/^› .*talk one$/m);
		await steps(walk, 'Esc', [['two', /^› .*talk two$/m, { isRaw: true }], [ESC, /^› .*talk one$/m], [ESC, /^›$/m], ['hello', 'Answer six.'],
			['', /^›$/m]]);
		walk.absent('a new session', ['talk', 'Answer one.']);
		assert.equal(rollouts(home).length, 5);
		walk.type(CTRL_C);
		assert.deepEqual(await walk.done, { status: 0, restored: true });
		const other = await startWalk(t, model, size, ['resume'], { home, cwd });
		await other.until(/^› .*hello$/m);
		other.type(CTRL_C);
		assert.deepEqual(await other.done, { status: 0, restored: true });
		assert.equal(rollouts(home).length, 5);
	});

for (const [command, size] of ['resume', 'fork'].flatMap((name) => SIZES.map((size) => [name, size])))
	test(`codex ${command} of a session at ${size[1]} by ${size[0]}`, options, async (t) => {
		const model = await startModel(t, [...SCRIPT, reply({ reasoning: '**Weighing**' }, { message: 'Answer six.' })]);
		const { home, cwd, id } = await record(t, model), isFork = command === 'fork';
		const [file] = rollouts(home).filter((name) => name.includes(id)), before = fs.readFileSync(file, 'utf8');
		const walk = await startWalk(t, model, size, [command, id], { home, cwd });
		await walk.until(/^›$/m);
		walk.once('the conversation', ['› talk one', '• Answer one.', '› more words', '• Answer five.']);
		assert.equal(rollouts(home).length, isFork ? 5 : 4);
		walk.type(FOCUS_OUT);
		await steps(walk, 'a turn', [['go on', 'Answer six.'], ['', /^›$/m]]);
		assert.equal(rollouts(home).length, isFork ? 5 : 4);
		const after = fs.readFileSync(file, 'utf8');
		assert.ok(isFork ? after === before : after.startsWith(before) && after.includes('Answer six.'));
		walk.once('the conversation', ['› talk one', '• Answer one.', '› more words', '• Answer five.', '› go on', '• Answer six.']);
		await steps(walk, 'a name', [['/rename apples', 'Thread renamed'], ['', /^›$/m]]);
		assert.equal(model.requests().length, 6, 'nothing is spent unasked');
		walk.type(CTRL_C);
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

for (const [rows, columns] of SIZES)
	test(`a session that does not exist at ${columns} by ${rows}`, options, async (t) => {
		const id = '0199a213-81c0-7800-8aa1-bbab2a035a53', model = await startModel(t, [say('never')]);
		for (const command of ['resume', 'fork']) {
			const term = await startTerminal(t, model, [command, id], { rows, columns });
			assert.deepEqual(await term.done, { status: 1, restored: true });
			assert.ok(squeezed(term.lines()).includes(`NosavedsessionfoundwithID${id}`), term.lines().join('\n'));
		}
		assert.equal(model.requests().length, 0);
	});

const reference = sharedPath('reference/tui.md');

test('each sentence of section 8 of the reference is walked', { skip: !reference && 'there is no reference' }, () => {
	const [, section] = /\n## 8\. [^\n]*\n([^]*?)\n\n## 9/.exec(fs.readFileSync(reference, 'utf8'));
	const covered = Object.values(COVERS).flat();
	for (const words of covered) assert.ok(section.includes(words), `section 8 has no "${words}"`);
	for (const sentence of sentencesOf(section)) assert.ok(covered.some((words) => sentence.includes(words)), `no case walks: ${sentence}`);
});
