// A proxy between a worker and Redis that sees each command and can spoil it.
//
//   const faults = await startFaults(t, redis, (kind, words) => kind === 'emit' ? { error: 'OOM …' } : undefined);
//   const worker = await startWorker(t, faults, model, { name: 'a' });
//
// kind: the name of a script (take, emit, …), `read :sq` or `read :log` of a session's stream, or the name of the command.

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { tempDir } from './codex.mjs';
import { command, parse } from './fleet.mjs';

const scripts = fileURLToPath(new URL('../../../src/fleet/script/', import.meta.url));
const names = new Map(fs.readdirSync(scripts).map((file) => [
	createHash('sha1').update(embedded(fs.readFileSync(path.join(scripts, file), 'utf8'))).digest('hex'), path.basename(file, '.lua')]));

// A script as tools/embed.py puts it into the program: the first line, then neither comments nor indentation.
function embedded(text) {
	const [first, ...rest] = text.trimEnd().split('\n');
	return [first, ...rest.map((line) => line.trim()).filter((line) => !line.startsWith('--'))].join('\n');
}

/** The name of a command: see above. */
export function kindOf(words) {
	if (words[0] !== 'EVALSHA') return words[0];
	const name = names.get(words[1]) ?? words[1];
	return name === 'read' ? `read ${words[5]}` : name;
}

/**
 * decide(kind, words) returns what happens to a command: undefined (it passes), {error: 'OOM …'} (this reply instead of it),
 * {cut: 'before' | 'after'} (the connection ends, and the command was not or was carried out), {hold: promise} (its reply waits),
 * or {words} (this command instead of it). Returns what startWorker needs, and cut(), which ends all connections.
 */
export async function startFaults(t, redis, decide) {
	const socket = path.join(tempDir(t, 'faults'), 'faults.sock');
	const links = new Set();
	const server = net.createServer((near) => {
		const far = net.connect(redis.socket);
		let asked = Buffer.alloc(0);
		let answered = Buffer.alloc(0);
		let waiting = null; // the fault of the command whose reply is awaited
		const cut = () => {
			near.destroy();
			far.destroy();
			links.delete(cut);
		};
		links.add(cut);
		const ask = () => {
			for (let item; !waiting && (item = parse(asked, 0));) {
				const bytes = asked.subarray(0, item[1]);
				asked = asked.subarray(item[1]);
				const fault = decide(kindOf(item[0]), item[0]) ?? {};
				if (fault.cut === 'before') {
					cut();
					return;
				}
				if (fault.error) {
					near.write(`-${fault.error}\r\n`);
				} else {
					waiting = fault;
					far.write(fault.words ? command(fault.words) : bytes);
				}
			}
		};
		near.on('data', (more) => {
			asked = Buffer.concat([asked, more]);
			ask();
		}).on('error', cut).on('close', cut);
		far.on('data', async (more) => {
			answered = Buffer.concat([answered, more]);
			const item = parse(answered, 0);
			if (!item) return;
			const bytes = answered;
			answered = Buffer.alloc(0);
			await waiting.hold;
			if (waiting.cut) {
				cut();
				return;
			}
			near.write(bytes);
			waiting = null;
			ask();
		}).on('error', cut).on('close', cut);
	});
	await new Promise((resolve) => server.listen(socket, resolve));
	t.after(() => {
		links.forEach((cut) => cut());
		server.close();
	});
	return { ...redis, url: `unix://${socket}`, cut: () => links.forEach((cut) => cut()) };
}
