// `codex agents` shows the tree of a stored session and of a running one.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';

import { cleanEnv, codexBin, launch, needs, rollouts, startModel, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const options = needs('agents');
const config = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\nfeatures.subagent_tools = true\n';
const call = (name, args = {}) => ({ call: name, arguments: args });
const child = (contains, ...steps) => ({ when: { contains, lacks: 'You are agent 0' }, reply: steps });

function run(t, home, ...args) {
	return launch(t, codexBin, ['agents', ...args], { cwd: tempDir(t, 'cwd'), env: cleanEnv(home) });
}

/** The lines as cells; the last cell is the indented summary of the agent. */
const table = (text) => text.split('\n').slice(2, -1).map((line) => {
	const [, id, parent, status, inbox, tokens, age, name] = /^ *(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) {2}(.*)$/.exec(line);
	assert.match(age, /^\d+[smhd]$/);
	assert.match(tokens, /^(\d+|-)$/);
	return [id, parent, status, inbox, name];
});

async function start(t) {
	const model = await startModel(t, [
		child(['in between', 'call_mid'], { hang: true }),
		child('in between', { reasoning: '**Looking \u001b[2Jaround** here' },
			{ ...call('subagent_spawn', { prompt: 'at the bottom' }), call_id: 'call_mid' }),
		child('at the bottom', { message: 'Done.' }, { usage: { input_tokens: 1000, output_tokens: 234 } }),
		{ reply: [call('subagent_spawn', { prompt: 'in between', label: 'middle' })] },
		{ reply: [call('subagent_await')] },
		{ reply: [{ message: 'ok' }] },
	]);
	const codex = startProto(t, model, { config });
	codex.submit('1', userInput('go'));
	const { session_id: id } = (await codex.next('session_configured')).msg;
	for (;;) {
		const { msg } = await codex.next('subagent_lifecycle');
		if (msg.agent_id === 2 && msg.status === 'idle') return { codex, id };
	}
}

test('a tree is shown while it works, and when it is stored', options, async (t) => {
	const { codex, id } = await start(t);
	const live = await run(t, codex.home).done;
	assert.deepEqual([live.code, live.stderr], [0, '']);
	assert.match(live.stdout, new RegExp(`^Session ${id}, in use\n`));
	assert.deepEqual(table(live.stdout), [
		['0', '-', 'running', '0', 'the root'],
		['1', '0', 'running', '1', '  middle · Looking ^[[2Jaround'],
		['2', '1', 'idle', '0', '    at the bottom']]);
	codex.child.kill('SIGKILL');
	await codex.done;
	for (const words of [[], ['--last'], [id], [id.slice(0, 20)]]) {
		const { stdout } = await run(t, codex.home, ...words).done;
		assert.match(stdout, new RegExp(`^Session ${id}, stored\n`), words);
		assert.deepEqual(table(stdout).map(([number, , status]) => [number, status]), [['0', 'idle'], ['1', 'stopped'], ['2', 'idle']]);
	}
	const json = JSON.parse((await run(t, codex.home, '--json', id).done).stdout);
	assert.deepEqual([json.session_id, json.is_live, json.path], [id, false, rollouts(codex.home).find((it) => it.includes(id))]);
	assert.deepEqual(json.agents.map((it) => [it.agent_id, it.parent_agent_id, it.status, it.pending_messages]),
		[[0, null, 'idle', 0], [1, 0, 'stopped', 1], [2, 1, 'idle', 0]]);
	assert.equal(json.agents[2].tokens, 1234);
});

test('it follows changes', options, async (t) => {
	const { codex, id } = await start(t);
	const watching = run(t, codex.home, '--watch', '--json', id);
	const states = () => watching.result.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line).agents[1].status);
	const until = (state) => new Promise((resolve) => {
		const look = () => states().at(-1) === state && resolve();
		watching.child.stdout.on('data', look);
		look();
	});
	await until('running');
	codex.submit('2', { type: 'interrupt' });
	await until('canceled');
	watching.child.kill('SIGTERM');
	await watching.done;
});

test('missing sessions and agents', options, async (t) => {
	const { codex, id } = await start(t);
	codex.child.kill('SIGKILL');
	await codex.done;
	for (const [words, text] of [[['nonsense'], /no session is named nonsense/], [[''], /./],
		[['00000000-0000-7000-8000-000000000000'], /./]]) {
		const { code, stdout, stderr } = await run(t, codex.home, ...words).done;
		assert.deepEqual([code, stdout], [1, '']);
		assert.match(stderr, text);
	}
	assert.match((await run(t, codex.home, id.slice(0, 4)).done).stderr, /several sessions have an id that begins with/);
	fs.rmSync(codex.home, { recursive: true });
	fs.mkdirSync(codex.home);
	const { code, stderr } = await run(t, codex.home).done;
	assert.equal(code, 1);
	assert.notEqual(stderr, '');
});
