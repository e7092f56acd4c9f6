// Kills the engine while subagents and their root exchange messages, and checks that no message is lost or duplicated.
//
//   node tests/e2e/lib/agent_kills.mjs [N [SEED]]        N kills with $CODEX_BIN or build/codex; ./dev kills agents [N]
//
// Three subagents and the root exchange messages. The seed determines the event or the delay after which SIGKILL is sent. Another
// engine then resumes the root and continues all agents. Every message that the root's rollout records as put into an inbox must
// be in the history of its receiver exactly once.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { makeHome, readLines, rollouts, startModel } from './codex.mjs';
import { randomOf, scope } from './kills.mjs';
import { startProto, userInput } from './proto.mjs';

const config = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\nfeatures.subagent_tools = true\n';
const KIDS = [1, 2, 3];
const call = (name, args = {}) => ({ call: name, arguments: args });
const send = (id, prompt, more) => call('subagent_send_message', { agent_id: id, prompt, ...more });
const reply = (...steps) => ({ reply: steps });
const kid = (contains, lacks, ...steps) => ({ when: { contains, lacks: ['You are agent 0', ...lacks] }, reply: steps, times: 'forever' });

const script = () => [
	...KIDS.flatMap((n) => [
		kid([`kid ${n}`], [`note ${n}-1`], send(0, `note ${n}-1.`), send(0, `note ${n}-2.`)),
		kid([`kid ${n}`, `note ${n}-2`], [`note ${n}-3`], { delay_ms: 5 * n }, send(0, `note ${n}-3.`), call('exec_command', { cmd: 'sleep 0.01' })),
		kid([`kid ${n}`, `note ${n}-3`], [], { delay_ms: 3 }, { message: `End of kid ${n}.` }),
	]),
	reply(...KIDS.map((n) => call('subagent_spawn', { prompt: `You are kid ${n}.` }))),
	reply(...KIDS.map((n) => send(n, `word ${n}-1.`)), call('subagent_await'), call('exec_command', { cmd: 'sleep 0.02' })),
	reply(...KIDS.map((n) => send(n, `word ${n}-2.`)), call('subagent_await')),
	reply(send(1, 'word 1-3.', { interrupt: true }), send(2, 'word 2-3.'), { delay_ms: 5 }),
	{ reply: [{ message: 'Enough.' }], times: 'forever' },
];

const after = () => [
	kid([], [], { message: 'Gone on.' }),
	reply(...KIDS.map((n) => send(n, `go on ${n}.`))),
	...KIDS.map((n) => reply(call('subagent_await', { agent_id: n }))),
	{ reply: [{ message: 'ok' }], times: 'forever' },
];

async function killSometime(codex, random) {
	const kill = () => codex.child.kill('SIGKILL');
	if (random() < 0.3) {
		setTimeout(kill, random() * 250);
	} else {
		let left = 10 + Math.floor(random() * 130);
		codex.child.stdout.on('data', (bytes) => {
			left -= String(bytes).split('\n').length - 1;
			if (left <= 0) kill();
		});
		setTimeout(kill, 2000);
	}
	await codex.done;
}

const count = (text, part) => text.split(part).length - 1;

/** The items of a file, without compactions, as one text. */
const history = (file) => readLines(file).filter(({ type }) => type === 'response_item')
	.filter(({ payload }) => payload.type === 'function_call_output' || payload.role === 'user')
	.map(({ payload }) => JSON.stringify(payload)).join('\n');

/** Messages that were put into an inbox, with their number of occurrences in the receiver's history. */
function check(home, thread) {
	const files = rollouts(home);
	const lines = readLines(files.find((file) => file.includes(thread))).map(({ payload }) => payload);
	const threads = new Map([[0, thread]]);
	for (const { subagent } of lines.filter(({ event }) => event === 'created')) threads.set(subagent.agent_id, subagent.session_id);
	const sent = lines.filter(({ type, message }) => type === 'agent_inbox' && message?.outcome === '').map(({ message }) => message);
	for (const { recipient_agent_id: to, prompt } of sent) {
		const file = files.find((name) => name.includes(threads.get(to)));
		const own = file ? history(file) : '';
		const heard = count(own, to === 0 ? `\\"prompt\\":\\"${prompt}\\"` : `"text":"${prompt}"`);
		assert.equal(heard, 1, `"${prompt}" for agent ${to} came ${heard} times`);
	}
	return sent.length;
}

/** One kill; resolves to the number of messages. */
export async function killAgentsOnce(t, seed) {
	const random = randomOf(seed);
	const model = await startModel(t, script());
	const home = makeHome(t, model, config);
	const first = startProto(t, model, { home });
	first.submit('1', userInput('go'));
	const { session_id: thread } = (await first.next('session_configured')).msg;
	await killSometime(first, random);
	await model.stop();
	if (!rollouts(home).some((file) => file.includes(thread))) return 0;

	const next = await startModel(t, after());
	const file = path.join(home, 'config.toml');
	fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(model.url, next.url));
	const second = startProto(t, next, { home, cwd: first.cwd, args: ['--resume', thread] });
	second.submit('1', userInput('go on'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	return check(home, thread);
}

async function main(kills, seed) {
	let failures = 0, messages = 0;
	for (let at = seed; at < seed + kills; at++) {
		const one = scope();
		try {
			messages += await killAgentsOnce(one, at);
		} catch (error) {
			failures++;
			console.error(`kill ${at}: ${error.message}`);
		}
		await one.end();
	}
	console.log(`${kills} kills from seed ${seed}, ${messages} messages: ${kills - failures} passed, ${failures} failed`);
	process.exitCode = failures ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	await main(Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 1));
