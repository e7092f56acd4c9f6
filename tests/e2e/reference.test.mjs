// Sessions are exchanged between this program and the reference: each resumes what the other has written, and its next
// request contains the whole history.
//
// Runs with the programs in $CODEX_REFS (several, separated by colons) or $CODEX_REF; skipped without one.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import {
	cleanEnv, codexBin, launch, makeHome, needs, patch, readLines, reply, rollouts, say, startModel, tempDir,
} from './lib/codex.mjs';
import { collaborative, collaborativeScript, eventful, plain, script } from './lib/eventful.mjs';

const refs = (process.env.CODEX_REFS ?? process.env.CODEX_REF ?? '').split(':').filter(Boolean);
const versionOf = (bin) => spawnSync(bin, ['--version'], { encoding: 'utf8' }).stdout?.trim().split(' ').pop() ?? '';
const FREE = 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\nmodel = "gpt-5.5"\n';

/** The parts of an item that the model reads, without the writer's notes. */
function gist(item) {
	const texts = (parts) => (Array.isArray(parts) ? parts.map((part) => part.text ?? part.type) : parts);
	const { type = 'message', role, name, call_id } = item;
	return JSON.stringify({ type, role, name, call_id, said: texts(item.content) ?? undefined, summary: texts(item.summary),
		input: item.arguments ?? item.input, output: texts(item.output), secret: item.encrypted_content });
}

/** All of `part`, in its order, stands in `whole`. */
function assertHas(whole, part, what) {
	const gists = whole.map(gist);
	let from = 0;
	for (const item of part.map(gist)) {
		const at = gists.indexOf(item, from);
		assert.ok(at >= 0, `${what}: lost ${item}\nis ${gists.join('\n')}`);
		from = at + 1;
	}
}

/** The history of a request, without the general instructions that 0.169 prepends for some models. */
const historyOf = ({ instructions, input }) => (instructions || input[0].role !== 'developer' ? input : input.slice(1));

/** Runs `exec` of that program; resolves to the history in its last request. */
async function exec(t, bin, model, { home, cwd }, args) {
	const env = cleanEnv(home, { TMPDIR: '/var/tmp' });
	const program = launch(t, bin, ['exec', ...args], { cwd, env });
	program.child.stdin.end();
	const { code, stderr } = await program.done;
	assert.equal(code, 0, `${bin} exec ${args.join(' ')}: ${stderr}`);
	return historyOf(model.requests().at(-1).body);
}

/** A home, and a folder that is a repository, because not every version can run without one. */
function place(t, model) {
	const base = process.env.CODEX_E2E_DIR ?? os.homedir(); // 0.169 wants no home below the folder for temporary files
	process.env.CODEX_E2E_DIR ??= fs.existsSync(base) ? base : os.tmpdir();
	const cwd = tempDir(t, 'cwd');
	spawnSync('git', ['init', '-q', cwd]);
	const home = makeHome(t, model, FREE);
	fs.appendFileSync(path.join(home, 'config.toml'), 'wire_api = "responses"\n'); // once there was another
	return { home, cwd };
}

const idOf = (home) => readLines(rollouts(home)[0])[0].payload.id;
const work = () => [
	reply({ reasoning: 'hm', encrypted: 'c2VjcmV0' }, { message: 'I will.' }, { call: 'exec_command', arguments: { cmd: 'echo hi' } }),
	patch('*** Add File: a.txt', '+one'), say('Done.'),
];
const answerOf = (words) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: words }] });

for (const bin of refs.length ? refs : [null]) {
	const version = bin && versionOf(bin);
	const options = bin ? needs('exec') : { skip: 'no reference program: CODEX_REFS names none' };

	test(`${version}: resumes our sessions, and we resume them again`, options, async (t) => {
		const model = await startModel(t, [...work(), say('Two.'), say('Three.'), say('Four.')]);
		const at = place(t, model);
		const first = await exec(t, codexBin, model, at, ['one']);
		const second = await exec(t, bin, model, at, ['resume', idOf(at.home), 'two']);
		assertHas(second, [...first, answerOf('Done.')], 'theirs');
		const third = await exec(t, codexBin, model, at, ['resume', idOf(at.home), 'three']);
		assertHas(third, [...first, answerOf('Done.'), answerOf('Two.')], 'ours');
		const fourth = await exec(t, bin, model, at, ['resume', idOf(at.home), 'four']);
		assertHas(fourth, [...first, answerOf('Done.'), answerOf('Two.'), answerOf('Three.')], 'theirs again');
		assert.equal(rollouts(at.home).length, 1);
	});

	test(`${version}: its sessions are resumed, and it resumes them again`, options, async (t) => {
		const model = await startModel(t, [...work(), say('Two.'), say('Three.')]);
		const at = place(t, model);
		const first = await exec(t, bin, model, at, ['one']);
		const second = await exec(t, codexBin, model, at, ['resume', idOf(at.home), 'two']);
		assertHas(second, [...first, answerOf('Done.')], 'ours');
		const third = await exec(t, bin, model, at, ['resume', idOf(at.home), 'three']);
		assertHas(third, [...first, answerOf('Done.'), answerOf('Two.')], 'theirs');
	});

	/* Turns and items of stored threads have been kept since 0.169. */
	const stored = options.skip || parseInt(version.split('.')[1]) >= 169 ? options : { skip: 'keeps no items' };
	test(`${version}: reads the turns and items that we emitted`, stored, async (t) => {
		const model = await startModel(t, script());
		const at = place(t, model);
		const server = await startAppServer(t, model, at);
		const { thread, live } = await eventful(server);
		await server.end();
		const theirs = await startAppServer(t, model, { ...at, bin, env: { TMPDIR: '/var/tmp' } });
		const resumed = await theirs.request('thread/resume', { threadId: thread.id });
		assert.equal(resumed.thread.historyMode, 'paginated');
		const { data } = await theirs.request('thread/turns/list', { threadId: thread.id, itemsView: 'full' });
		const told = (turns) => turns.map(({ id, status, error, items }) => ({ id, status, error: error?.message,
			items: items.map(({ id, type, status, text, command, changes }) => ({ id, type, status, text, command, changes })) }));
		assert.deepEqual(told(data.reverse()), told(live));
		await theirs.end(); // else it writes into the home that is removed
	});

	test(`${version}: reads our calls of subagents, and resumes the session`, stored, async (t) => {
		const model = await startModel(t, [...collaborativeScript(), say('Five.')]);
		const at = place(t, model);
		const server = await startAppServer(t, model, at);
		const { thread, live } = await collaborative(server);
		await server.end();
		const theirs = await startAppServer(t, model, { ...at, bin, env: { TMPDIR: '/var/tmp' } });
		await theirs.request('thread/resume', { threadId: thread.id });
		const { data } = await theirs.request('thread/turns/list', { threadId: thread.id, itemsView: 'full' });
		const calls = (turns) => plain(turns).map(({ id, status, items }) => ({ id, status,
			items: items.filter(({ type }) => type === 'collabAgentToolCall') }));
		assert.deepEqual(calls(data.reverse()), calls(live));
		await theirs.request('turn/start', { threadId: thread.id, input: [text('five')] });
		assert.equal((await theirs.next('turn/completed')).params.turn.status, 'completed');
		await theirs.end();
	});

	test(`${version}: resumes our forks, and we resume its forks`, stored, async (t) => {
		const model = await startModel(t, ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((words) => say(words)));
		const at = place(t, model);
		const said = () => historyOf(model.requests().at(-1).body)
			.flatMap(({ content }) => content.map(({ text: words }) => words)).filter((words) => /^\w+$/.test(words));
		const ours = await startAppServer(t, model, at);
		const run = async (server, threadId, words) => {
			await server.request('turn/start', { threadId, input: [text(words)] });
			return (await server.next('turn/completed')).params.turn;
		};
		const { thread } = await ours.request('thread/start', {});
		const first = await run(ours, thread.id, 'a');
		const second = await run(ours, thread.id, 'b');
		const { thread: short } = await ours.request('thread/fork', { threadId: thread.id, lastTurnId: first.id });
		const { thread: whole } = await ours.request('thread/fork', { threadId: thread.id });
		const third = await run(ours, whole.id, 'c');
		await ours.end();
		const theirs = await startAppServer(t, model, { ...at, bin, env: { TMPDIR: '/var/tmp' } });
		const turnsOf = async (server, threadId) => (await server.request('thread/read', { threadId, includeTurns: true })).thread.turns;
		/* It lists what a fork began with, of its own forks as of ours, only if it has opened the parent before: its index
		 * follows no history_base. The model's input does not depend on that. */
		await theirs.request('thread/resume', { threadId: thread.id });
		await assert.rejects(theirs.request('thread/delete', { threadId: thread.id }), /forked history still references it/);
		await theirs.request('thread/resume', { threadId: short.id });
		const fourth = await run(theirs, short.id, 'd');
		assert.deepEqual(said(), ['a', 'one', 'd']);
		await theirs.request('thread/resume', { threadId: whole.id });
		const fifth = await run(theirs, whole.id, 'e');
		assert.deepEqual(said(), ['a', 'one', 'b', 'two', 'c', 'three', 'e']);
		assert.deepEqual((await turnsOf(theirs, short.id)).map(({ id }) => id), [first.id, fourth.id]);
		assert.deepEqual((await turnsOf(theirs, whole.id)).map(({ id }) => id), [first.id, second.id, third.id, fifth.id]);
		const { thread: fork } = await theirs.request('thread/fork', { threadId: whole.id, lastTurnId: second.id });
		await run(theirs, fork.id, 'f');
		await theirs.end();
		const again = await startAppServer(t, model, at);
		await again.request('thread/resume', { threadId: fork.id });
		await run(again, fork.id, 'g');
		assert.deepEqual(said(), ['a', 'one', 'b', 'two', 'f', 'six', 'g']);
	});
}

/* The lines of versions that do not number theirs stand among those that are numbered. 0.169 refuses a session that such
 * a version wrote last, its own as well as ours; once we have gone on in it, it does not. */
const many = refs.length > 1 ? needs('exec') : { skip: 'needs two reference programs or more in CODEX_REFS' };
test('one session goes through all versions', many, async (t) => {
	const chain = refs.flatMap((bin) => [codexBin, bin]).concat(codexBin);
	const model = await startModel(t, chain.map((_, index) => say(`Answer ${index}.`)));
	const at = place(t, model);
	let before = [];
	for (const [index, bin] of chain.entries()) {
		const history = await exec(t, bin, model, at, [...(index ? ['resume', idOf(at.home)] : []), `question ${index}`]);
		assertHas(history, before, `${index}: ${bin}`);
		before = [...history, answerOf(`Answer ${index}.`)];
	}
	const server = await startAppServer(t, model, at);
	const { thread } = await server.request('thread/read', { threadId: idOf(at.home), includeTurns: true });
	const said = thread.turns.map(({ items }) => items.find(({ type }) => type === 'agentMessage')?.text);
	assert.deepEqual(said, chain.map((_, index) => `Answer ${index}.`));
});
