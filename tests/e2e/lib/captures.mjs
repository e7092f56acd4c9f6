// Reads captured wire traffic of the reference, if the captures are next to the checkout.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../../../shared/reference/captures/app-server/', import.meta.url));

/** The kinds of values: {"a":[1]} has the shape {"a":["number"]}. */
export function shapeOf(value) {
	if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
	if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
	return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

/** null if the captures do not exist. */
export function captured(name) {
	const file = path.join(folder, `${name}.jsonl`);
	if (!fs.existsSync(file)) return null;
	const text = fs.readFileSync(file, 'utf8');
	const parse = (all) => all.trim().split('\n').map((line) => JSON.parse(line));
	const lines = parse(text);
	return {
		/** Requests of a family, in order, each with its answer; $NAMES in the texts are replaced. */
		requests: (prefix, names = {}) => {
			const filled = Object.entries(names).reduce((all, [key, value]) => all.replaceAll(`$${key}`, value), text);
			const messages = parse(filled);
			const answers = new Map(messages.filter(({ dir }) => dir === '<').map(({ msg }) => [msg.id, msg]));
			return messages.filter(({ dir, msg }) => dir === '>' && msg.method?.startsWith(prefix))
				.map(({ msg }) => ({ ...msg, answer: answers.get(msg.id) }));
		},
		/** The first notification of that name. */
		notification: (method) => lines.find(({ dir, msg }) => dir === '<' && msg.method === method)?.msg,
	};
}
