// `codex export --format script`: a recorded session runs again without a model.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { codexExec, itemsOf, makeHome, needs, outputOf, patch, reply, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('export');
const SECRET = 'sk-proj-0123456789abcdef';

/** A session that runs a command, writes a file and ends; returns its home and folder. */
async function recorded(t) {
	const model = await startModel(t, [
		reply({ reasoning: 'hm' }, { message: "I'll look.", phase: 'commentary' },
			{ call: 'exec_command', arguments: { cmd: `echo "it's ${SECRET}" && pwd && echo ran >>ran` }, call_id: 'a' }),
		patch('*** Add File: made', '+text'), say('Done: {i} "quoted".')]);
	const { code, home, cwd } = await codexExec(t, model, ['first prompt']);
	assert.equal(code, 0);
	return { home, cwd };
}

const exported = async (t, home, ...args) => {
	const { code, stdout, stderr } = await runCodex(t, ['export', '--last', '--all', '--format', 'script', ...args], { home });
	assert.equal(code, 0, stderr);
	return stdout;
};

const repliesOf = (script) => script.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));

/** Plays a script in a fresh folder. */
async function play(t, script) {
	const model = await startModel(t, repliesOf(script));
	const result = await codexExec(t, model, ['again'], { json: true, home: makeHome(t, model) });
	return { ...result, model };
}

test('a script has one reply for each response, and the prompts as comments', options, async (t) => {
	const { home } = await recorded(t);
	const script = await exported(t, home);
	assert.match(script, /^# Session [0-9a-f-]{36} as a script: codex mock-model --script FILE\n# prompt:\n# {3}first prompt\n/);
	const replies = repliesOf(script);
	assert.deepEqual(replies.map(({ reply: steps }) => steps.map((step) => Object.keys(step)[0])), [['message', 'call'], ['custom'], ['message']]);
	assert.equal(replies[2].reply[0].message, 'Done: {i} "quoted".');
});

test('a script runs the commands and patches again', options, async (t) => {
	const { home } = await recorded(t);
	const { code, cwd, events } = await play(t, await exported(t, home));
	assert.equal(code, 0);
	assert.equal(fs.readFileSync(path.join(cwd, 'ran'), 'utf8'), 'ran\n');
	assert.equal(fs.readFileSync(path.join(cwd, 'made'), 'utf8'), 'text\n');
	assert.equal(itemsOf(events, 'agent_message').at(-1).text, 'Done: {i} "quoted".');
});

test('--answer record prints the recorded outputs and changes nothing', options, async (t) => {
	const { home, cwd: before } = await recorded(t);
	const { code, cwd, model } = await play(t, await exported(t, home, '--answer', 'record'));
	assert.equal(code, 0);
	assert.deepEqual(fs.readdirSync(cwd), []);
	assert.match(outputOf(model.requests()[1], 'a'), new RegExp(`it's ${SECRET}\n.*${path.basename(before)}`));
});

test('--mask replaces secrets and folders', options, async (t) => {
	const { home, cwd } = await recorded(t);
	const script = await exported(t, home, '--mask', '--answer', 'record');
	assert.ok(!script.includes(SECRET) && !script.includes(cwd) && !script.includes(home), script);
	assert.match(script, /sk-\*\*\*/);
	assert.match(script, /\/workspace/);
});

test('options of a script need the format', options, async (t) => {
	for (const args of [['--mask'], ['--answer', 'run']]) {
		const { code, stderr } = await runCodex(t, ['export', '--last', ...args], { home: tempDir(t) });
		assert.equal(code, 2);
		assert.match(stderr, /requires --format script/);
	}
});
