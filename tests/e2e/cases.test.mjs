// Every conversation in cases/, event for event, over every transport.

import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeHome, needs, startModel, tempDir } from './lib/codex.mjs';
import { playCase, readCase } from './lib/case.mjs';
import { lacks, openTalk, transports } from './lib/transports.mjs';

const folder = fileURLToPath(new URL('cases', import.meta.url));
const proto = needs('proto');
const only = process.env.CODEX_CASE; // the name of one file

for (const name of fs.readdirSync(folder).filter((it) => it.endsWith('.case') && (!only || it === `${only}.case`))) {
	const it = readCase(path.join(folder, name));
	for (const transport of transports) {
		const skip = proto.skip || lacks(transport);
		test(`${it.title} (${name}, ${transport})`, { skip, timeout: 60_000 }, async (t) => {
			const model = await startModel(t, it.model);
			const home = makeHome(t, model, it.config.join('\n'));
			fs.appendFileSync(path.join(home, 'config.toml'), it.provider.join('\n'));
			const cwd = tempDir(t, 'cwd');
			const talk = await openTalk(t, transport, home, cwd);
			await playCase(it, talk, model, cwd);
			const { code, stderr } = await model.stop();
			if (code !== 0) throw new Error(`the model was not asked as the case says: ${stderr}`);
		});
	}
}
