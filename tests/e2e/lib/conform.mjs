// Runs a scenario of the capture kit against this program, with the kit's driver and scripted model.
//
// The kit writes into its own folder, so each test runs a copy of it.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { codexBin } from './codex.mjs';

const PATIENCE_MS = 90_000;

export const readTranscript = (file) =>
	fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));

/** Scenarios as {file, name}, in order, for which a transcript of the reference exists. */
export async function scenarios(kit, captures) {
	const files = fs.readdirSync(path.join(kit, 'scenarios')).sort();
	const found = await Promise.all(files.map(async (file) => {
		const { default: all } = await import(path.join(kit, 'scenarios', file));
		return Object.keys(all).map((name) => ({ file, name }));
	}));
	return found.flat().filter(({ name }) => fs.existsSync(path.join(captures, `${name}.jsonl`)));
}

/** A copy of the kit below that folder, with the schema that one of its scenarios reads beside it. */
export function copyKit(kit, dir) {
	const copy = path.join(dir, 'capture-kit');
	fs.cpSync(kit, copy, { recursive: true });
	for (const place of [copy, ...fs.readdirSync(copy, { recursive: true }).map((name) => path.join(copy, name))])
		fs.chmodSync(place, fs.statSync(place).isDirectory() ? 0o700 : 0o600);
	fs.symlinkSync(path.resolve(kit, '../schema'), path.join(dir, 'schema'));
	return copy;
}

/** Runs one scenario; resolves to its transcript. */
export function play(kit, { file, name }) {
	const out = path.join(kit, 'transcripts');
	const temporary = path.join(kit, 'tmp', name);
	fs.mkdirSync(temporary, { recursive: true });
	const env = { PATH: process.env.PATH, HOME: temporary, TMPDIR: temporary, CODEX_BIN: codexBin, OUT: out,
		REQ: path.join(kit, 'requests') };
	const args = [path.join(kit, 'drive.mjs'), `${path.join(kit, 'scenarios', file)}:${name}`];
	return new Promise((resolve, reject) => {
		const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
		const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
		let words = '';
		for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (words += bytes));
		child.on('error', reject);
		child.on('close', (code) => {
			clearTimeout(timer);
			if (code !== 0) reject(new Error(`the driver ended with ${code}: ${words}`));
			else resolve(readTranscript(path.join(out, `${name}.jsonl`)));
		});
	});
}
