// A conversation over any transport: lines of submissions out, events in.
//
//   const talk = await openTalk(t, 'tcp', home, cwd);
//   talk.send('{"id":"1","op":{…}}');
//   const event = await talk.next();      // null at the end
//   await talk.end();                     // closes the input and waits; throws if the program fails
//
// A conversation starts without a configured session.

import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { cleanEnv, codexBin, launch, tempDir, waitFor } from './codex.mjs';

/** The use of the library by examples/ and other C programs, as a program (library_client.c). */
const libraryClient = path.join(path.dirname(codexBin), 'tests/e2e/library_client');

export const transports = ['stdio', 'unix', 'tcp', 'library'];
/** The reason to skip this transport, or false. */
export const lacks = (transport) =>
	transport === 'library' && !fs.existsSync(libraryClient) && 'the library client is not built';

/** A queue of the lines of a stream. */
function readEvents(stream) {
	const events = [], waiting = [];
	let text = '', ended = false;
	const settle = () => {
		while (waiting.length && (events.length || ended)) waiting.shift()(events.shift() ?? null);
	};
	stream.setEncoding('utf8').on('data', (more) => {
		const lines = (text += more).split('\n');
		text = lines.pop();
		events.push(...lines.map((line) => JSON.parse(line)));
		settle();
	});
	const over = new Promise((resolve) => stream.on('close', resolve));
	over.then(() => {
		ended = true;
		settle();
	});
	return { over, next: () => new Promise((resolve) => (waiting.push(resolve), settle())) };
}

function checkEnd({ code, signal, stderr }) {
	if (code !== 0) throw new Error(`it ended with ${signal ?? code}: ${stderr}`);
}

function openProgram(t, bin, args, home, cwd) {
	const program = launch(t, bin, args, { cwd, env: cleanEnv(home) });
	const { over, next } = readEvents(program.child.stdout);
	return {
		next,
		send: (line) => program.child.stdin.write(line + '\n'),
		stderr: () => program.result.stderr,
		end: async () => {
			program.child.stdin.end();
			await over;
			checkEnd(await program.done);
		},
	};
}

async function openSocket(t, address, home, cwd) {
	const args = ['proto', '--no-auto-configure', '--listen', address];
	const server = launch(t, codexBin, args, { cwd, env: cleanEnv(home) });
	const url = await waitFor(server.child.stderr, () => server.result.stderr,
		(text) => /^listening on (\S+)\n/m.exec(text)?.[1]);
	const { protocol, hostname, port, pathname } = new URL(url);
	const socket = protocol === 'unix:' ? net.connect(pathname) : net.connect(Number(port), hostname);
	const { over, next } = readEvents(socket);
	return {
		next,
		send: (line) => socket.write(line + '\n'),
		stderr: () => server.result.stderr,
		end: async () => {
			socket.end();
			await over;
			server.child.kill('SIGTERM');
			checkEnd(await server.done);
		},
	};
}

/** The settings are those of config.toml in home. */
export async function openTalk(t, transport, home, cwd) {
	switch (transport) {
	case 'stdio': return openProgram(t, codexBin, ['proto', '--no-auto-configure'], home, cwd);
	case 'unix': return openSocket(t, `unix://${path.join(tempDir(t, 'socket'), 's')}`, home, cwd);
	case 'tcp': return openSocket(t, 'tcp://127.0.0.1:0', home, cwd);
	case 'library': return openProgram(t, libraryClient, ['{"originator":"cases"}'], home, cwd);
	}
}
