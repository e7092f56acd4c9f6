// A keyring of its own for a test: a session bus with a Secret Service.
//
//   const keyring = await startKeyring(t);
//   await runCodex(t, [...], { env: keyring.env });
//   await keyring.items() // [{attributes, secret}, …]
import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { tempDir } from './codex.mjs';

const has = (program, args) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;
const python = ['python3', '/usr/bin/python3'].find((program) => has(program, ['-c', 'import dbus, gi']));
const missing = !python || !has('dbus-daemon', ['--version']) || !has(python, ['-c', 'import ctypes; ctypes.CDLL("libsecret-1.so.0")']);

/** Options of a test that needs a keyring. */
export const needsKeyring = (options) => ({ ...options, skip: options.skip || (missing && 'needs dbus, python3-dbus, python3-gi and libsecret-1-0') });

/** Starts a program and resolves to {child, next}: next() is its next line. */
async function start(t, program, args, env) {
	const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	t.after(() => child.kill('SIGKILL'));
	return { child, next: async () => (await lines.next()).value };
}

export async function startKeyring(t) {
	const runtime = tempDir(t, 'runtime');
	const bus = await start(t, 'dbus-daemon', ['--session', '--nofork', '--print-address', `--address=unix:path=${runtime}/bus`], process.env);
	const env = { DBUS_SESSION_BUS_ADDRESS: await bus.next() };
	const service = await start(t, python, [path.join(import.meta.dirname, 'secret_service.py')], { ...process.env, ...env });
	if (await service.next() !== 'ready') throw new Error('the Secret Service does not start');
	const ask = async (line) => {
		service.child.stdin.write(`${line}\n`);
		return JSON.parse(await service.next());
	};
	return { env, ask, items: () => ask('list'), lock: () => ask('lock'), unlock: () => ask('unlock'), held: () => ask('held') };
}
