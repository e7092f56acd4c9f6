// A thread with many kinds of items, and the notifications that clients received.

import fs from 'node:fs';
import path from 'node:path';

import { text } from './app_server.mjs';
import { call, httpError, patch, reply, say } from './codex.mjs';

export const FREE = { sandbox: 'danger-full-access', approvalPolicy: 'never' };
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAC0lEQVR4nGNgQAYAAA4AAamRc7EAAAAASUVORK5CYII=';

/** Completed items by turn, and the status of each turn. */
export function told(messages, threadId) {
	const turns = new Map();
	const turnOf = (id) => turns.get(id) ?? turns.set(id, { id, items: [] }).get(id);
	for (const { method, params } of messages) {
		if (params?.threadId !== threadId) continue;
		if (method === 'item/completed') turnOf(params.turnId).items.push(params.item);
		if (method === 'turn/completed') Object.assign(turnOf(params.turn.id), { status: params.turn.status, error: params.turn.error });
	}
	return [...turns.values()];
}

/** Removes the times, which can differ between the live item and the stored one. */
export const plain = (turns) => turns.map(({ id, status, error, items }) => ({ id, status, error: error ?? null,
	items: items.map(({ startedAtMs, completedAtMs, durationMs, ...item }) => item) }));

async function turn(server, threadId, words, more) {
	await server.request('turn/start', { threadId, input: [text(words)], ...more });
	return (await server.next('turn/completed')).params.turn;
}

/** A thread with many kinds of items; resolves to it and to its notifications. */
export async function eventful(server) {
	const { thread } = await server.request('thread/start', FREE);
	fs.writeFileSync(path.join(server.cwd, 'i m.png'), Buffer.from(PIXEL, 'base64'));
	await turn(server, thread.id, 'work', { clientUserMessageId: 'mine' });
	await turn(server, thread.id, 'fail');
	await server.request('turn/start', { threadId: thread.id, input: [text('long'), { type: 'image', url: 'data:image/png;base64,' + PIXEL }] });
	const delta = await server.next('item/agentMessage/delta');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: delta.params.turnId });
	await server.next('turn/completed');
	await server.request('thread/compact/start', { threadId: thread.id });
	await server.next('turn/completed');
	await server.request('thread/shellCommand', { threadId: thread.id, command: 'echo mine' });
	await server.next('turn/completed');
	await turn(server, thread.id, 'end');
	return { thread, live: told(server.messages, thread.id) };
}

/** The model's replies in it. */
export const script = () => [
	reply({ reasoning: ['think', 'ing'] }, { message: 'First:' }, { call: 'exec_command', arguments: { cmd: 'echo hi; exit 3' } },
		{ call: 'exec_command', arguments: { cmd: 'sleep 0.6; echo late', yield_time_ms: 250 } }),
	patch('*** Add File: a b.txt', '+one', '*** Add File: gone.txt', '+two'),
	patch('*** Update File: a b.txt', '*** Move to: c.txt', '@@', '-one', '+uno', '*** Delete File: gone.txt'),
	call('view_image', { path: 'i m.png' }),
	reply({ item: { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } } },
		{ call: 'exec_command', arguments: { cmd: 'sleep 0.7' } }),
	say('Done.'),
	httpError(400, { error: { message: 'bad thing' } }),
	reply({ delta: 'As far as ' }, { gate: 'never' }),
	say('SUMMARY'),
	say('The end.'),
];

const take = { agent: { from: 'input.-1.output', after: '"agent_id":"' } };
const NOBODY = '00000000-0000-7000-8000-000000000000';

/** Like eventful(), for a thread whose model uses every subagent tool and is interrupted while it waits. */
export async function collaborative(server) {
	const { thread } = await server.request('thread/start', FREE);
	const started = (words, more) => server.request('turn/start', { threadId: thread.id, input: [text(words)], ...more });
	const ended = () => server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	await started('ROOT', { effort: 'high' });
	await ended();
	const { turn } = await started('ROOT again');
	await server.take(({ method, params }) => method === 'item/started' && params.item.tool === 'wait', 'wait');
	await server.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
	await ended();
	return { thread, live: told(server.messages, thread.id) };
}

/** The replies of all its models. */
export const collaborativeScript = () => {
	const child = (words, lacks, ...steps) => ({ when: { contains: words, lacks: ['ROOT', ...lacks] }, reply: steps, times: 'forever' });
	const calls = (...list) => list.map(([name, args]) => ({ call: name, arguments: args }));
	return [
		child('count plums', [], { message: 'Plums.' }),
		child('count pears', ['count plums'], { message: 'Pears.' }),
		child('hang here', [], { hang: true }),
		{ reply: calls(['spawn_agent', { message: 'count pears', reasoning_effort: 'low' }]) },
		{ take, reply: calls(['wait_agent', { targets: ['{agent}'] }], ['close_agent', { target: '{agent}' }],
			['resume_agent', { id: '{agent}' }], ['send_input', { target: '{agent}', message: 'count plums' }],
			['wait_agent', { targets: ['{agent}'] }]) },
		{ reply: calls(['wait_agent', { targets: [NOBODY] }], ['close_agent', { target: NOBODY }],
			['spawn_agent', { message: 'x', model: 'gpt-x' }]) },
		{ reply: [{ message: 'Counted.' }] },
		{ reply: calls(['spawn_agent', { message: 'hang here' }]) },
		{ take, reply: calls(['wait_agent', { targets: ['{agent}'] }]) },
	];
};
