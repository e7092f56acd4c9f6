// The terminal: each command and each key, in windows of 20 by 6, 80 by 24 and 200 by 60. After each step its effect is on
// the screen, no row is wider than the window, the cursor is inside, and what has left the screen is as it was.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexBin, forever, makeHome, needs, reply, say, startModel, tempDir } from './lib/codex.mjs';
import { lacksEmulator } from './lib/terminal.mjs';
import { SIZES, startWalk } from './lib/walk.mjs';
import { COMMANDS, KEYS, TURN_KEYS } from './lib/walk_rows.mjs';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const options = { skip: lacksEmulator() || needs('exec').skip, timeout: 300_000 };

/** A folder with a commit, a change, a folder below, AGENTS.md and a skill; and the home for it. */
function prepare(t, model, config = '') {
	const cwd = tempDir(t, 'cwd'), home = makeHome(t, model, config);
	const git = (...args) => assert.equal(spawnSync('git', ['-C', cwd, '-c', 'user.name=A', '-c', 'user.email=a@b', ...args]).status, 0);
	git('init', '-q', '-b', 'main');
	fs.mkdirSync(path.join(cwd, 'below'));
	for (const name of ['AGENTS.md', 'below/pear.txt']) fs.writeFileSync(path.join(cwd, name), 'one\n');
	git('add', '.');
	git('commit', '-qm', 'first');
	fs.writeFileSync(path.join(cwd, 'below/pear.txt'), 'two\n');
	fs.mkdirSync(path.join(home, 'skills/brewing'), { recursive: true });
	fs.writeFileSync(path.join(home, 'skills/brewing/SKILL.md'), '---\nname: brewing\ndescription: Makes tea.\n---\nBoil water.\n');
	return { cwd, home };
}

for (const size of SIZES)
	test(`each command at ${size[1]} by ${size[0]}`, options, async (t) => {
		const model = await startModel(t, [forever(say('The answer.'))]);
		const walk = await startWalk(t, model, size, [], prepare(t, model));
		await walk.step('hello', 'The answer.');
		await walk.untilGone(/esc to interrupt/);
		for (const [line, wanted, close, more] of COMMANDS) {
			await walk.step(line, wanted, more);
			if (more?.ahead) await walk.insist(line, ...more.ahead);
			if (close) await walk.keys(`the end of ${line}`, close, /^›$/m);
			await walk.keys(`after ${line}`, '', /^›$/m);
		}
		await walk.step('/quit', 'Session ID:', { raw: true });
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

/** Types the keys of each row, and looks at the screen after each. */
async function walkKeys(walk, table) {
	for (const [row, steps] of Object.entries(table))
		for (const [keys, wanted, more] of steps)
			if (keys.length > 1 && keys.endsWith('\r')) await walk.step(keys.slice(0, -1), wanted, more);
			else await walk.keys(`${row}: ${JSON.stringify(keys)}`, keys, wanted, more);
}

/** The programs that Ctrl-G and Ctrl-V run. */
function helpers(t) {
	const bin = tempDir(t, 'bin');
	const script = (name, text) => fs.writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
	script('editor', 'echo edited >"$1"');
	script('wl-paste', `echo ${PIXEL} | base64 -d`);
	return { PATH: `${bin}:${process.env.PATH}`, VISUAL: path.join(bin, 'editor'), TMPDIR: bin };
}

for (const size of SIZES)
	test(`each key at ${size[1]} by ${size[0]}`, options, async (t) => {
		const model = await startModel(t, [forever(say('The answer.'))]);
		const walk = await startWalk(t, model, size, [], { ...prepare(t, model), env: helpers(t) });
		await walkKeys(walk, KEYS);
		walk.type('\x04'); // Ctrl-D ends it
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

for (const size of SIZES)
	test(`each key during a turn at ${size[1]} by ${size[0]}`, options, async (t) => {
		const hang = reply({ start: true }, { hang: true });
		const model = await startModel(t, [reply({ call: 'exec_command', arguments: { cmd: 'true' } }, { gate: 'a' }), say('Read both.'), say('Third.'),
			hang, hang]);
		const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n';
		const walk = await startWalk(t, model, size, [], prepare(t, model, config));
		await walk.step('go', 'Working');
		await walkKeys(walk, TURN_KEYS);
		await model.openGate('a');
		await walk.keys('the end of the turn', '', 'Third.');
		for (const [name, key] of [['Esc', '\x1b'], ['Ctrl-C', '\x03']]) {
			await walk.step('wait', 'Working');
			await walk.keys(name, key, 'Conversation interrupted');
		}
		walk.type('\x03');
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

for (const size of SIZES)
	test(`subagents: Left, Alt-Left and Alt-Right at ${size[1]} by ${size[0]}`, options, async (t) => {
		const child = { when: { contains: 'count pears', lacks: 'rootword' }, reply: [{ message: 'Four pears.' }] };
		const model = await startModel(t, [child, reply({ call: 'spawn_agent', arguments: { message: 'count pears' } }), say('Asked.')]);
		const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n[features]\nmulti_agent = true\n';
		const walk = await startWalk(t, model, size, [], prepare(t, model, config));
		await walk.step('rootword', 'Asked.');
		await walk.untilGone(/Working/);
		await walk.keys('Left', '\x1b[D', '1. Main [default');
		await walk.keys('the second row', '2', ['Watching', 'Four pears.']);
		await walk.keys('Alt-Right', '\x1b[1;3C', 'Main thread');
		await walk.keys('Alt-Left', '\x1b[1;3D', 'Watching');
		await walk.keys('Esc', '\x1b', 'Main thread');
		await walk.step('/exit', 'codex resume', { raw: true });
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});

for (const size of SIZES)
	test(`Ctrl-Z and fg at ${size[1]} by ${size[0]}`, options, async (t) => {
		const model = await startModel(t, [forever(say('The answer.'))]);
		const job = 'set -m; seq -f "shell %g" 70; "$0"; echo stopped; read line; fg >/dev/null';
		const command = ['bash', '--norc', '--noprofile', '-ic', job, codexBin];
		const walk = await startWalk(t, model, size, [], { ...prepare(t, model), command });
		await walk.keys('a draft', 'my draft', '› my draft');
		await walk.keys('Ctrl-Z', '\x1a', 'stopped', { raw: true });
		await walk.keys('fg', '\r', '› my draft', { raw: true });
		await walk.keys('the draft goes on', '!', '› my draft!');
		await walk.keys('Ctrl-C', '\x03', /^›$/m);
		walk.type('\x03');
		assert.deepEqual(await walk.done, { status: 0, restored: true });
	});
