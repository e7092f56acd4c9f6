// Runs every attempt of tests/escape in every sandbox that works here, as root and as an ordinary user: none may
// succeed. Without a sandbox each must succeed, unless this machine or this user could not do it anyway.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { codexBin } from './lib/codex.mjs';

const escapeBin = path.join(path.dirname(codexBin), 'tests/escape/escape');
const skip = !fs.existsSync(escapeBin) && 'the program of the attempts is not built';
const isRoot = process.getuid() === 0;
const NOBODY = 65534;

/** The number of attempts that fail without a sandbox too, for lack of rights or kernel features: at most this many. */
const MOST_IMPOSSIBLE = { root: 12, user: 50 };

function command(user, words) {
	if (user === 'root' || !isRoot)
		return words;
	return ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', ...words];
}

/** A new workspace with a repository, a folder outside of it, and a home. */
function makePlace(user) {
	const home = fs.mkdtempSync('/var/tmp/codex-escape-');
	const at = (name) => path.join(home, name);
	const put = (name) => fs.writeFileSync(at(name), 'untouched\n', { mode: 0o644 });
	for (const folder of ['ws', 'ws/.git', 'ws/.git/hooks', 'ws/sub', 'ws/deep-root', 'out', 'out/folder', 'out/folder2', 'codex'])
		fs.mkdirSync(at(folder));
	for (const file of ['ws/.git/config', 'ws/.git/gone', 'ws/.git/hooks/sample', 'out/file', 'out/truncated', 'out/removed',
		'out/renamed', 'out/taken', 'out/exchanged'])
		put(file);
	if (user === 'user' && isRoot)
		spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home]);
	return { home, at };
}

/** The outside: a process of the same user. Ends with how often anything reached it. */
async function startVictim(place, user) {
	const [program, ...args] = command(user, [escapeBin, 'victim', place.at('ws'), place.at('out'), place.at('victim')]);
	const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
	let said = '';
	await new Promise((resolve, reject) => {
		child.on('error', reject);
		child.stdout.on('data', (bytes) => {
			said += bytes;
			if (said.startsWith('ready\n'))
				resolve();
		});
	});
	return async () => {
		const ended = new Promise((resolve) => child.on('close', resolve));
		child.stdin.end();
		await ended;
		return said.slice('ready\n'.length).trim();
	};
}

function sandboxed(place, backend, mode, words) {
	const options = ['sandbox', '--sandbox', mode, '--cd', place.at('ws'), '-c', `sandbox_backend="${backend}"`];
	return [codexBin, ...options, '--add-dir', place.at('ws/deep-root'), '--', ...words];
}

function run(place, user, words) {
	const [program, ...args] = command(user, words);
	const env = { PATH: process.env.PATH, HOME: place.home, CODEX_HOME: place.at('codex') };
	return spawnSync(program, args, { env, encoding: 'utf8', timeout: 280_000, cwd: place.at('ws') });
}

function works(place, user, backend) {
	const { status, stderr } = run(place, user, sandboxed(place, backend, 'workspace-write', ['true']));
	return status === 0 ? false : `${backend} does not work on this system: ${stderr.trim()}`;
}

async function attempt(t, user, backend, mode) {
	const place = makePlace(user);
	t.after(() => fs.rmSync(place.home, { recursive: true, force: true }));
	const reason = mode === 'danger-full-access' ? false : works(place, user, backend);
	if (reason)
		return { reason };
	const endVictim = await startVictim(place, user);
	const { stdout, stderr, status } = run(place, user,
		sandboxed(place, backend, mode, [escapeBin, 'try', place.at('ws'), place.at('out'), place.at('victim')]));
	const reached = await endVictim();
	assert.equal(status, 0, stderr);
	const rows = stdout.trim().split('\n').map((line) => line.split('\t'));
	return { place, reached, rows, out: rows.filter(([, how]) => how === 'out').map(([name]) => name) };
}

/** The files there with their contents: the attempts' own reports are not trusted. */
function snapshot(folder) {
	return fs.readdirSync(folder, { withFileTypes: true, recursive: true }).map((entry) => {
		const file = path.join(entry.parentPath ?? entry.path, entry.name);
		const { mode } = fs.lstatSync(file);
		return [file, mode, entry.isFile() ? fs.readFileSync(file, 'utf8') : ''];
	}).sort();
}

for (const user of isRoot ? ['root', 'user'] : ['user']) {
	for (const backend of ['bubblewrap', 'landlock']) {
		for (const mode of ['workspace-write', 'read-only']) {
			test(`nothing gets out of ${backend} in ${mode} as ${user}`, { skip, timeout: 300_000 }, async (t) => {
				const { reason, place, reached, rows, out } = await attempt(t, user, backend, mode);
				if (reason)
					return t.skip(reason);
				assert.ok(rows.length >= 60, `${rows.length} attempts`);
				assert.deepEqual(out, []);
				assert.equal(reached, '0 visits, 0 signals');
				const fresh = makePlace(user);
				t.after(() => fs.rmSync(fresh.home, { recursive: true, force: true }));
				const bare = (list, home) => list.map(([file, ...rest]) => [file.slice(home.length), ...rest])
					.filter(([file]) => !file.endsWith('.sock'));
				for (const folder of ['out', 'ws/.git', 'ws/deep-root'])
					assert.deepEqual(bare(snapshot(place.at(folder)), place.home), bare(snapshot(fresh.at(folder)), fresh.home));
				for (const name of ['.codex', '.agents'])
					assert.ok(!fs.existsSync(place.at(`ws/${name}`)), `${name} is left behind`);
			});
		}
	}

	test(`the same gets out where there is no sandbox, as ${user}`, { skip, timeout: 300_000 }, async (t) => {
		const { rows, out, reached } = await attempt(t, user, 'auto', 'danger-full-access');
		const impossible = rows.filter(([, how]) => how !== 'out');
		t.diagnostic(`${out.length} of ${rows.length} attempts work; not: ${impossible.map((row) => row.join(': ')).join('; ')}`);
		assert.ok(impossible.length <= MOST_IMPOSSIBLE[user], impossible.map((row) => row.join(': ')).join('\n'));
		assert.match(reached, /^[1-9]\d* visits, [1-9]\d* signals$/);
	});
}
