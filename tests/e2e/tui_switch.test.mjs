// The terminal goes elsewhere in its sessions: back to an earlier message, to another session, to a copy.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { forever, makeHome, needs, rollouts, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { answer, enter, lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 60_000 };

const idle = (term) => term.untilGone(/esc to interrupt/);
const asked = (model) => textsOf(model.requests().at(-1), 'user').filter((text) => !text.startsWith('<'));

async function talk(term, prompt, answer) {
	await enter(term, prompt);
	await term.until(new RegExp(`• ${answer}`));
	await idle(term);
}

/** Esc twice: the first one is decided before the second one is sent. */
async function openEarlier(term) {
	term.type('\x1b');
	await term.until(/esc again to edit previous message/);
	term.type('\x1b');
	await term.until(/^Edit previous message$/m);
}

test('Esc Esc goes back before an earlier message, which can be edited', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('beta answered'), say('gamma answered'), say('again answered')]);
	const term = await startReady(t, model);
	for (const word of ['alpha', 'beta', 'gamma']) await talk(term, word, `${word} answered`);
	await openEarlier(term);
	await term.until(/^ {2}alpha\n {2}beta\n› gamma\n {2}esc or ← older/m);
	term.type('\x1b');
	await term.until(/^› beta\n {2}gamma\n/m);
	term.type('\x1b[D');
	await term.until(/^› alpha\n/m);
	term.type('\x1b[C');
	await term.until(/^› beta\n {2}gamma\n/m);
	term.type('\r');
	await term.until(/Went back before the last 2 messages[^]*^› beta$/m);
	await term.untilGone(/^Edit previous message$/m);
	term.type(' edited');
	await term.until(/^› beta edited$/m);
	term.type('\r');
	await term.until(/• again answered/);
	assert.deepEqual(asked(model), ['alpha', 'beta edited']);
	await idle(term);
	await leave(term);
});

test('letters and pastes close the list of earlier messages and reach the composer', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('beta answered'), say('gamma answered')]);
	const term = await startReady(t, model);
	await talk(term, 'alpha', 'alpha answered');
	await openEarlier(term);
	await enter(term, 'quick question');
	await term.until(/beta answered/);
	await idle(term);
	await openEarlier(term);
	term.type('\x1b[200~pasted\rlines\x1b[201~');
	await term.until(/^› pasted\n {2}lines$/m);
	await term.untilGone(/^Edit previous message$/m);
	term.type('\r');
	await term.until(/gamma answered/);
	assert.deepEqual(asked(model), ['alpha', 'quick question', 'pasted\nlines']);
	assert.doesNotMatch(term.lines().join('\n'), /Went back/);
	await idle(term);
	await leave(term);
});

test('Esc at the oldest message and Ctrl-C leave the conversation as it is', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('beta answered')]);
	const term = await startReady(t, model);
	await talk(term, 'alpha', 'alpha answered');
	for (const key of ['\x1b', '\x03']) {
		await openEarlier(term);
		term.type(key);
		await term.untilGone(/^Edit previous message$/m);
	}
	term.type('\x1b');
	await term.until(/esc again to edit/);
	term.type('b');
	await term.until(/^› b$/m);
	await term.untilGone(/esc again to edit/);
	term.type('\x7f');
	await term.untilGone(/^› b$/m);
	await talk(term, 'beta', 'beta answered');
	assert.deepEqual(asked(model), ['alpha', 'beta']);
	await leave(term);
});

test('without a message there is nothing to go back to', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	term.type('\x1b');
	await term.until(/esc again to edit/);
	term.type('\x1b');
	await term.until(/no recorded message to go back to/);
	await leave(term);
});

test('messages of a resumed session can be edited, too', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('again answered')]);
	const home = makeHome(t, model), cwd = tempDir(t, 'cwd');
	const first = await startReady(t, model, [], { home, cwd });
	await talk(first, 'alpha', 'alpha answered');
	await leave(first);
	const term = await startReady(t, model, ['resume', '--last'], { home, cwd });
	await term.until(/• alpha answered/);
	await openEarlier(term);
	term.type('\r');
	await term.until(/Went back before the last 1 message$/m);
	term.type('!!');
	await term.until(/^› alpha!!$/m);
	term.type('\r');
	await term.until(/• again answered/);
	assert.deepEqual(asked(model), ['alpha!!']);
	await idle(term);
	await leave(term);
});

test('/resume finds a session by typing and continues it; Esc keeps the running one', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('beta answered'), say('more of alpha')]);
	const home = makeHome(t, model), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, [], { home, cwd });
	await talk(term, 'alpha words', 'alpha answered');
	await enter(term, '/new');
	await term.until(/• New session/);
	await talk(term, 'beta words', 'beta answered');
	await enter(term, '/resume');
	await term.until(/^Resume a previous session$/m);
	term.type('\x1b');
	await term.untilGone(/^Resume a previous session$/m);
	await enter(term, '/resume');
	await term.until(/Filter: \[Cwd\] All +Status: \[Active\] Archived +Sort: \[Updated\] Created\n[^\n]*\n› +\S+ +beta words\n +\S+ +alpha words$/m);
	term.type('alpha');
	await term.until(/Search: alpha\n› +\S+ +alpha words\n\n/);
	term.type('\r');
	await term.until(/To continue this session, run: codex resume[^]*› alpha words\n\n• alpha answered/);
	await talk(term, 'go on', 'more of alpha');
	assert.deepEqual(asked(model), ['alpha words', 'go on']);
	assert.equal(rollouts(home).length, 2);
	await leave(term);
});

test('a fork and a resumed session without a new turn can be exported, and the end says how to resume them', options, async (t) => {
	const model = await startModel(t, [say('alpha answered')]);
	const home = makeHome(t, model), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, [], { home, cwd });
	await talk(term, 'alpha words', 'alpha answered');
	await enter(term, '/fork');
	await term.until(/Thread forked[^]*^›$/m);
	await term.untilGone(/starting · /);
	await enter(term, '/export fork.md');
	await term.until(/Exported to \S+\/fork\.md/);
	assert.match(fs.readFileSync(`${cwd}/fork.md`, 'utf8'), /alpha words[^]*alpha answered/);
	await leave(term);
	const again = await startReady(t, model, ['resume', '--last'], { home, cwd });
	await leave(again);
	for (const end of [term, again]) assert.match(end.lines().join('\n'), /To continue this session, run:\n {2}codex resume [0-9a-f-]{36}$/);
});

test('/resume lists the sessions of other folders on demand', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), forever(say('ok'))]);
	const home = makeHome(t, model), elsewhere = tempDir(t, 'cwd');
	const first = await startReady(t, model, [], { home, cwd: elsewhere });
	await talk(first, 'alpha words', 'alpha answered');
	await leave(first);
	const term = await startReady(t, model, [], { home });
	await enter(term, '/resume');
	await term.until(/no session matches/);
	term.type('\t\x1b[C');
	await term.until(/› Filter: Cwd \[All\]/);
	await term.until(new RegExp(`^› +\\S+ +${elsewhere} +alpha words$`, 'm'));
	term.type('\r');
	await term.until(/› alpha words\n\n• alpha answered/);
	await leave(term);
});

test('the list of sessions: preview, archive and back, order, rows, and Ctrl-C', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('beta answered'), say('more of alpha')]);
	const home = makeHome(t, model), cwd = tempDir(t, 'cwd');
	const term = await startReady(t, model, [], { home, cwd, columns: 100 });
	await talk(term, 'alpha words', 'alpha answered');
	await enter(term, '/new');
	await term.until(/• New session/);
	await talk(term, `beta ${'words '.repeat(15)}`.trim(), 'beta answered');
	await enter(term, '/resume');
	await term.until(/^› +\S+ +beta words[^\n]*\n +\S+ +alpha words$/m);
	term.type('\x05');
	await term.until(/^› +\S+ +beta words[^\n]*\n +\S+\n +\S+ +alpha words$/m);
	term.type('\x05\x0f');
	await term.until(/^› +\S+ +beta words[^\n]*\n\n +\S+ +alpha words$/m);
	term.type('\x0f\x1b[B');
	await term.until(/^› +\S+ +alpha words$/m);
	term.type('\x14');
	await term.until(/P R E V I E W[^]*› alpha words[^]*• alpha answered/);
	term.type('q');
	await term.until(/^› +\S+ +alpha words$/m);
	term.type('\x01');
	await term.untilGone(/alpha words/);
	await term.until(/^› +\S+ +beta words/m);
	assert.equal(fs.readdirSync(`${home}/archived_sessions`, { recursive: true }).filter((name) => name.endsWith('.jsonl')).length, 1);
	term.type('\t\t\x1b[C');
	await term.until(/› Status: Active \[Archived\][^]*› +\S+ +alpha words$/m);
	await term.untilGone(/beta words/);
	term.type('\x01');
	await term.until(/no session matches/);
	term.type('\x1b[D\t\x1b[C');
	await term.until(/› Sort: Updated \[Created\][^]*› +\S+ +beta words[^\n]*\n +\S+ +alpha words$/m);
	term.type('\x03');
	await term.until(/• beta answered[^]*^›$/m);
	await leave(term);
});

test('/fork continues in a copy, and the first session is unchanged', options, async (t) => {
	const model = await startModel(t, [say('alpha answered'), say('beta answered')]);
	const home = makeHome(t, model);
	const term = await startReady(t, model, [], { home });
	await enter(term, '/fork');
	await term.until(/there is nothing recorded to fork yet/);
	await talk(term, 'alpha', 'alpha answered');
	const [before] = rollouts(home);
	await enter(term, '/fork');
	await term.until(/run: codex\s+resume\s+(\S+)\s+• Thread forked from\s+\1$/m);
	await talk(term, 'beta', 'beta answered');
	assert.deepEqual(asked(model), ['alpha', 'beta']);
	const after = rollouts(home);
	assert.equal(after.length, 2);
	assert.doesNotMatch(fs.readFileSync(before, 'utf8'), /beta/);
	assert.equal(term.lines().filter((line) => line === '• alpha answered').length, 1);
	await leave(term);
});

test('a plan: a new session implements it with the plan alone', options, async (t) => {
	const model = await startModel(t, [say('<proposed_plan>\n- first step\n</proposed_plan>'), say('Done.')]);
	const term = await startReady(t, model);
	await enter(term, '/plan think');
	await term.until(/2\. Yes, clear context and implement/);
	await answer(term, '2');
	await term.until(/• Done\./);
	assert.deepEqual(asked(model), ['Implement this plan:\n\n- first step']);
	await idle(term);
	await leave(term);
});

test('? shows the keys, and a letter closes the card and is typed', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const term = await startReady(t, model);
	for (const key of ['?', '\x1b']) {
		term.type('?');
		await term.until(/^Shortcuts\n[^]*New line[^]*transcript/m);
		term.type(key);
		await term.untilGone(/^Shortcuts$/m);
	}
	term.type('?');
	await term.until(/^Shortcuts$/m);
	term.type('a?');
	await term.until(/^› a\?$/m);
	await term.untilGone(/^Shortcuts$/m);
	term.type('\x03\x03');
	await term.done;
});

test('Alt-period and Alt-comma change the reasoning effort', options, async (t) => {
	const model = await startModel(t, [say('one'), say('two')]);
	const term = await startReady(t, model, [], { config: 'model_reasoning_effort = "low"' });
	term.type('\x1b.');
	await term.until(/Model changed to \S+ medium/);
	await talk(term, 'go', 'one');
	assert.equal(model.requests().at(-1).body.reasoning.effort, 'medium');
	term.type('\x1b,');
	await term.until(/Model changed to \S+ low/);
	await talk(term, 'go', 'two');
	assert.equal(model.requests().at(-1).body.reasoning.effort, 'low');
	await leave(term);
});
