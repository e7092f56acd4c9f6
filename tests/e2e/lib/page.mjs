// The page of codex serve, as its tests use it: parts are found by role and name.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';

export const button = (window, name) => window.getByRole('button', { name, exact: true });
export const article = (window, name) => window.getByRole('article', { name, exact: true });
export const box = (window) => window.getByRole('textbox', { name: 'Message' });

export async function begin(window) {
	await button(window, 'New session').click();
	await button(window, 'Start').click();
	await box(window).waitFor();
}
export async function send(window, text) {
	await box(window).fill(text);
	await button(window, 'Send').click();
}
export async function axe(window, what) {
	await window.evaluate(
		fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
	);
	const { violations } = await window.evaluate(() =>
		globalThis.axe.run(document, {
			runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa']
		})
	);
	assert.deepEqual(
		violations.map(({ id, nodes }) => `${what} ${id}: ${nodes.map(({ html }) => html).join(' ')}`),
		[]
	);
}
export const sidewise = (window) => window.evaluate(() => document.documentElement.scrollWidth - innerWidth);

export const region = (window, name) => window.getByRole('region', { name, exact: true });
export const announced = (window, text) =>
	window.getByRole('status', { name: 'Announcements' }).filter({ hasText: text }).waitFor({ state: 'attached' });

/** Changes a part of the settings and closes them. */
export async function withSettings(window, change) {
	await button(window, 'Settings').click();
	await change(window.getByRole('dialog', { name: 'Settings' }));
	await button(window, 'Close').click();
}

/** The longest task of the page's main thread during run(), in milliseconds of its CPU: others may use the machine. */
export async function longestTask(context, window, run) {
	const client = await context.newCDPSession(window), events = [];
	client.on('Tracing.dataCollected', ({ value }) => events.push(...value));
	const complete = new Promise((resolve) => client.on('Tracing.tracingComplete', resolve));
	await client.send('Tracing.start', { categories: 'toplevel', transferMode: 'ReportEvents' });
	await run();
	await client.send('Tracing.end');
	await complete;
	await client.detach();
	const main = new Set(events.filter(({ args }) => args?.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`));
	const tasks = events.filter(({ name, pid, tid }) => name === 'ThreadControllerImpl::RunTask' && main.has(`${pid} ${tid}`));
	assert.ok(tasks.length, 'no task was recorded');
	return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

/** The text of a QR code of versions 1 to 5 with the lowest correction, which is one block: rows of 0 and 1. */
export function readQr(rows) {
	const size = rows.length, bits = [];
	const mask = parseInt(rows[8].slice(0, 5), 2) ^ 0b10101 & 0b11111;
	const masks = [(y, x) => (y + x) % 2, (y) => y % 2, (y, x) => x % 3, (y, x) => (y + x) % 3,
		(y, x) => ((y >> 1) + Math.floor(x / 3)) % 2, (y, x) => y * x % 2 + y * x % 3,
		(y, x) => (y * x % 2 + y * x % 3) % 2, (y, x) => ((y + x) % 2 + y * x % 3) % 2];
	const isDrawn = (y, x) => y === 6 || x === 6 || y < 9 && (x < 9 || x >= size - 8) || x < 9 && y >= size - 8 ||
		size > 21 && Math.abs(y - size + 7) < 3 && Math.abs(x - size + 7) < 3;
	for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
		if (right === 6) right--;
		for (let n = 0; n < size; n++)
			for (const x of [right, right - 1]) {
				const y = up ? size - 1 - n : n;
				if (!isDrawn(y, x)) bits.push(Number(rows[y][x]) ^ Number(masks[mask & 7](y, x) === 0));
			}
	}
	const take = (count) => parseInt(bits.splice(0, count).join(''), 2);
	const ALNUM = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:';
	const parts = {
		1: (left) => String(take([0, 4, 7, 10][Math.min(3, left)])).padStart(Math.min(3, left), '0'),
		2: (left) => left > 1 ? ((pair) => ALNUM[Math.floor(pair / 45)] + ALNUM[pair % 45])(take(11)) : ALNUM[take(6)],
		4: () => String.fromCharCode(take(8)),
	};
	let text = '';
	for (let mode; (mode = take(4)) in parts;) {
		const end = text.length + take({ 1: 10, 2: 9, 4: 8 }[mode]);
		while (text.length < end) text += parts[mode](end - text.length);
	}
	return text;
}
