// Case files: recorded conversations that are played over every transport (cases/README.md).

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

/** How often these come depends on how bytes happen to be split. */
const UNCERTAIN = ['exec_command_output_delta'];

const readers = {
	'#': (it, rest) => (it.title ??= rest),
	config: (it, rest) => it.config.push(rest),
	provider: (it, rest) => it.provider.push(rest),
	model: (it, rest) => it.model.push(JSON.parse(rest)),
	send: (it, rest) => it.steps.push({ send: rest }),
	gate: (it, rest) => it.steps.push({ gate: rest }),
	file: (it, rest) => {
		const [, name, text] = /^(\S+) (.*)$/.exec(rest);
		it.steps.push({ file: name, text: JSON.parse(text) });
	},
	event: (it, rest) => {
		const [, id, type, more] = /^(\S+) (\S+)(?: (.*))?$/.exec(rest);
		it.steps.push({ event: `${id} ${type}`, with: JSON.parse(more ?? '{}') });
	},
	refusal: (it, rest) => it.steps.push({ event: `${rest} error`, with: { codex_error_info: 'bad_request' }, isRefusal: true }),
};

/** {title, config, provider, model, steps} of a case file; throws if it is invalid. */
export function readCase(file) {
	const it = { title: null, config: [], provider: [], model: [], steps: [] };
	const lines = fs.readFileSync(file, 'utf8').split('\n');
	for (const [i, line] of lines.entries()) {
		let [, word, rest] = /^(\S*)\s*(.*)$/.exec(line);
		if (!word) continue;
		for (let next = i + 1; /^\s+\S/.test(lines[next]); next++) rest += lines[next].replace(/^\s+/, ' ');
		try {
			readers[word](it, rest);
		} catch (error) {
			throw new Error(`${file}:${i + 1}: ${line}`, { cause: error });
		}
		if (it.steps.length) it.steps.at(-1).line ??= i + 1;
	}
	return it;
}

/** True if `have` contains everything of `want`. */
function assertHas(have, want, where) {
	if (want === null || typeof want !== 'object') {
		assert.deepEqual(have, want, where);
		return;
	}
	assert.ok(have !== null && typeof have === 'object', `${where} is ${JSON.stringify(have)}`);
	for (const [key, value] of Object.entries(want)) assertHas(have[key], value, `${where}.${key}`);
}

const nameOf = ({ id, msg }) => `${id === '' ? '-' : id} ${msg.type}`;

async function nextCertain(talk) {
	for (;;) {
		const event = await talk.next();
		if (!event || !UNCERTAIN.includes(event.msg.type)) return event;
	}
}

/** Plays the conversation; the model opens gates, and files are read from cwd. */
export async function playCase(it, talk, model, cwd) {
	const told = [];
	for (const step of it.steps) {
		const where = `line ${step.line}, after\n  ${told.slice(-12).join('\n  ')}\n${talk.stderr()}`;
		if (step.send) talk.send(step.send.replaceAll('{url}', model.url));
		if (step.gate) await model.openGate(step.gate);
		if (step.file) assert.equal(fs.readFileSync(path.join(cwd, step.file), 'utf8'), step.text, where);
		if (!step.event || (step.isRefusal && !talk.reportsRefusals)) continue;
		const event = await nextCertain(talk);
		assert.equal(event && nameOf(event), step.event, `${JSON.stringify(event)} at ${where}`);
		assertHas(event.msg, step.with, `${step.event} at ${where}`);
		told.push(step.event);
	}
	const ended = talk.end();
	if (!told.at(-1)?.endsWith(' shutdown_complete')) {
		const last = await nextCertain(talk);
		assert.equal(last && nameOf(last), '- shutdown_complete', `behind\n  ${told.slice(-12).join('\n  ')}`);
	}
	assert.equal(await talk.next(), null);
	await ended;
}
