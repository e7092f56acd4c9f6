// A command that resists termination in every way it can, and checks for what is left of it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

/** Leaves processes that are hard to terminate, then writes `ready`; each writes its pid to a file. */
export const NEST = `
note() { echo $1 >$2.new && mv $2.new $2; }
(trap '' TERM INT HUP; note $BASHPID stubborn; while :; do sleep 600; done) &
setsid sh -c 'trap "" TERM INT; (echo $(exec sh -c "echo \\$PPID") >daemon.new; mv daemon.new daemon; exec sleep 600) & exit 0' &
setsid env -i /bin/sh -c '
	trap "" TERM HUP
	(echo $(exec /bin/sh -c "echo \\$PPID") >bare.new; mv bare.new bare; while :; do sleep 600; done) &
	exit 0' >/dev/null 2>&1 &
(exec -a renamed env -i sleep 600) & note $! nameless
while ! [ -e stubborn -a -e daemon -a -e bare ]; do sleep 0.01; done
note $$ ready
`;
const NAMES = ['ready', 'stubborn', 'daemon', 'bare', 'nameless'];

export const isAlive = (pid) => {
	try {
		process.kill(pid, 0);
		return true;
	} catch {
		return false;
	}
};

const pidsIn = (cwd) => NAMES.map((name) => {
	const pid = Number(fs.readFileSync(path.join(cwd, name), 'utf8'));
	assert.ok(pid > 1, name);
	return [name, pid];
});

/** Resolves once the condition holds; the test's time limit, or that of the file (./dev), ends the wait. */
export async function until(holds) {
	while (!holds()) await new Promise((wake) => setTimeout(wake, 10));
}

/** Resolves once all processes of the nest run. */
export async function nestIsBuilt(cwd) {
	while (!fs.existsSync(path.join(cwd, 'ready'))) await new Promise((wake) => setTimeout(wake, 10));
	for (const [name, pid] of pidsIn(cwd)) assert.ok(isAlive(pid), `${name} (${pid}) has not lived`);
}

/** True if no process of it runs. */
export function assertGone(cwd) {
	for (const [name, pid] of pidsIn(cwd)) assert.equal(isAlive(pid), false, `${name} (${pid}) still lives`);
}

/** Resolves once no process of it runs; the test's time limit, or that of the file, ends the wait. */
export async function nestIsGone(cwd) {
	for (const [, pid] of pidsIn(cwd)) {
		while (isAlive(pid)) await new Promise((wake) => setTimeout(wake, 10));
	}
}
