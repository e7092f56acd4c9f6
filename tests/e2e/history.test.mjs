// `codex resume`, `codex fork` and `codex export`, on a terminal and in pipes.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { cleanEnv, codexBin, codexExec, forever, makeHome, needs, patch, readLines, rollouts, run, runCodex, say, startModel,
	tempDir, textsOf } from './lib/codex.mjs';

const options = needs('export');
const FREE = ['--skip-git-repo-check', '-s', 'danger-full-access'];

/** A session with these words; resolves to its id. */
async function talk(t, model, home, cwd, words, at) {
	const { events, code } = await codexExec(t, model, [words], { home, cwd, json: true });
	assert.equal(code, 0);
	const id = events[0].thread_id;
	const time = new Date(Date.now() - at * 1000);
	fs.utimesSync(rollouts(home).find((file) => file.includes(id)), time, time);
	return id;
}

const name = (home, id, thread_name) => fs.appendFileSync(path.join(home, 'session_index.jsonl'),
	`${JSON.stringify({ id, thread_name, updated_at: new Date().toISOString() })}\n`);

test('sessions are a table in a pipe: the last changed first, of this folder or of all', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const [home, here, there] = [makeHome(t, model), tempDir(t, 'here'), tempDir(t, 'there')];
	const old = await talk(t, model, home, here, 'the \x1b[31mold one\nand its second line', 3 * 86400 + 10);
	const other = await talk(t, model, home, there, 'elsewhere', 7300);
	const young = await talk(t, model, home, here, 'the young one', 130);
	name(home, old, 'my name');
	for (const command of ['resume', 'fork']) {
		const { code, stdout } = await runCodex(t, [command], { home, cwd: here });
		assert.equal(code, 0);
		assert.equal(stdout, `${young}    2m  the young one\n${old}    3d  [my name] the ^[[31mold one\n`);
	}
	const all = await runCodex(t, ['resume', '--all'], { home, cwd: here });
	assert.deepEqual(all.stdout.split('\n').filter(Boolean).map((line) => line.slice(0, 36)), [young, other, old]);
	assert.match(all.stdout, new RegExp(`${other}    2h  ${there}  elsewhere`));
	const none = await runCodex(t, ['resume'], { home });
	assert.deepEqual([none.code, none.stdout], [0, '']);
	assert.match(none.stderr, /--all/);
	assert.equal(model.requests().length, 3);
});

test('a session is resumed by id, by a prefix of it, by name, or as the latest', options, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const [home, cwd] = [makeHome(t, model), tempDir(t, 'cwd')];
	const id = await talk(t, model, home, cwd, 'first', 10);
	name(home, id, 'my work');
	for (const [words, input] of [[[id.slice(0, 20), 'a'], ''], [['my work', 'b'], ''], [['--last', 'c'], ''], [[id], 'd']]) {
		const { code, stderr } = await runCodex(t, ['resume', ...FREE, ...words], { home, cwd, input });
		assert.equal(code, 0, stderr);
	}
	const said = textsOf(model.requests().at(-1), 'user');
	assert.deepEqual(said.slice(-5).map((words) => words.trim()), ['first', 'a', 'b', 'c', 'd']);
	assert.equal(rollouts(home).length, 1);
	await talk(t, model, home, cwd, 'another', 5);
	const both = await runCodex(t, ['resume', ...FREE, id.slice(0, 4), 'x'], { home, cwd });
	assert.equal(both.code, 1);
	assert.match(both.stderr, /several sessions .* begins with/);
	const none = await runCodex(t, ['resume', ...FREE, 'ffff', 'x'], { home, cwd });
	assert.match(none.stderr, /no session to resume: no session is named ffff/);
});

test('a fork continues a copy', options, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.'), say('Four.')]);
	const [home, cwd] = [makeHome(t, model), tempDir(t, 'cwd')];
	const id = await talk(t, model, home, cwd, 'first', 10);
	const [file] = rollouts(home);
	const before = fs.readFileSync(file);
	assert.equal((await runCodex(t, ['fork', ...FREE, '--last', 'second'], { home, cwd })).code, 0);
	assert.deepEqual(textsOf(model.requests()[1], 'assistant'), ['One.']);
	const { events } = await codexExec(t, model, ['fork', id, 'third'], { home, cwd, json: true });
	assert.notEqual(events[0].thread_id, id);
	assert.deepEqual(textsOf(model.requests()[2], 'assistant'), ['One.']);
	assert.deepEqual(fs.readFileSync(file), before);
	const copies = rollouts(home).filter((it) => it !== file).map((it) => readLines(it)[0].payload);
	assert.deepEqual(copies.map((meta) => meta.forked_from_id), [id, id]);
	const { code } = await codexExec(t, model, ['--ephemeral', 'fork', id, 'fourth'], { home, cwd });
	assert.deepEqual([code, rollouts(home).length], [0, 3]);
	assert.deepEqual(fs.readFileSync(file), before);
});

test('a session is chosen from a list if the output is no terminal', { ...options, skip: options.skip || !fs.existsSync('/usr/bin/script') }, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const [home, cwd] = [makeHome(t, model), tempDir(t, 'cwd')];
	const old = await talk(t, model, home, cwd, 'the old one', 500);
	await talk(t, model, home, cwd, 'the young one', 10);
	const typed = (input) => spawnSync('script', ['-qec', `"${codexBin}" resume ${FREE.join(' ')} | cat`, '/dev/null'],
		{ input, cwd, env: { ...cleanEnv(home), TERM: 'dumb' }, encoding: 'utf8' });
	const chosen = typed('7\n2\nand now this\n');
	assert.match(chosen.stdout, / 1 +\S+ +the young one\r?\n +2 +\S+ +the old one/);
	assert.equal(chosen.status, 0, chosen.stdout);
	assert.deepEqual(textsOf(model.requests()[2], 'user').slice(-2), ['the old one', 'and now this']);
	assert.equal(rollouts(home).filter((file) => file.includes(old)).length, 1);
	assert.equal(typed('\n').status, 0);
	assert.equal(model.requests().length, 3);
});

test('a session is exported as Markdown, and as JSON', options, async (t) => {
	const model = await startModel(t, [run("printf 'out ``` put\\n'; exit 3"),
		patch('*** Add File: new.txt', '+added'), say('All **done**.')]);
	const [home, cwd] = [makeHome(t, model), tempDir(t, 'cwd')];
	const id = await talk(t, model, home, cwd, 'do it', 10);
	name(home, id, 'the work');
	const { code, stdout } = await runCodex(t, ['export', 'the work'], { home, cwd });
	assert.equal(code, 0);
	assert.ok(stdout.startsWith(`# the work\n\n- Session: \`${id}\`\n`), stdout);
	assert.match(stdout, /\n## User\n\ndo it\n\n### Command /);
	assert.match(stdout, /\nExit code 3\n\n````text\nout ``` put\n````\n/);
	assert.match(stdout, /\n### Patch\n\n`[^`]*new\.txt`, new\n\n```text\nadded\n```\n/);
	assert.ok(stdout.endsWith('\n## Agent\n\nAll **done**.\n\n'), stdout);
	const file = path.join(cwd, 'out.json');
	const written = await runCodex(t, ['export', '--last', '--format', 'json', '-o', file], { home, cwd });
	assert.deepEqual([written.code, written.stdout], [0, '']);
	const session = JSON.parse(fs.readFileSync(file, 'utf8'));
	assert.deepEqual([session.id, session.name, session.cwd], [id, 'the work', cwd]);
	assert.deepEqual(session.turns[0].items.map((item) => item.type), ['userMessage', 'commandExecution', 'fileChange', 'agentMessage']);
	const none = await runCodex(t, ['export', 'nothing of that name'], { home, cwd });
	assert.equal(none.code, 1);
	assert.match(none.stderr, /^codex export: no session is named nothing of that name/);
	assert.equal((await runCodex(t, ['export'], { home })).code, 2);
});
