// `codex archive`, `codex unarchive` and `codex delete`.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer, text } from './lib/app_server.mjs';
import { atEnd, codexExec, makeHome, needs, rollouts, runCodex, say, startModel, tempDir } from './lib/codex.mjs';

const { skip } = needs('archive');
const options = { skip };

/** A home with one recorded session of `codex exec`. */
async function recorded(t) {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const home = makeHome(t, model);
	assert.equal((await codexExec(t, model, ['hi'], { home })).code, 0);
	const [file] = rollouts(home);
	return { model, home, file, id: /([0-9a-f-]{36})\.jsonl$/.exec(file)[1] };
}

test('a session moves to the archive and back', options, async (t) => {
	const { home, file, id } = await recorded(t);
	const content = fs.readFileSync(file, 'utf8');
	const archived = await runCodex(t, ['archive', id], { home });
	assert.deepEqual([archived.code, archived.stdout], [0, `Archived session ${id}.\n`]);
	assert.deepEqual(rollouts(home), []);
	assert.equal(fs.readFileSync(path.join(home, 'archived_sessions', path.basename(file)), 'utf8'), content);
	const again = await runCodex(t, ['archive', id], { home });
	assert.deepEqual([again.code, again.stderr], [1, `codex archive: no rollout found for thread id ${id}\n`]);
	const back = await runCodex(t, ['unarchive', id.slice(0, 30)], { home });
	assert.deepEqual([back.code, back.stdout], [0, `Unarchived session ${id}.\n`]);
	assert.equal(fs.readFileSync(file, 'utf8'), content);
	assert.deepEqual(fs.readdirSync(path.join(home, 'archived_sessions')), []);
});

test('a name selects the session', options, async (t) => {
	const { model, home } = await recorded(t);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start');
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await server.next('turn/completed');
	await server.request('thread/name/set', { threadId: thread.id, name: 'My work' });
	assert.equal((await server.end()).code, 0);
	const { code, stdout } = await runCodex(t, ['archive', 'My work'], { home });
	assert.deepEqual([code, stdout], [0, `Archived session ${thread.id}.\n`]);
	const unknown = await runCodex(t, ['archive', 'No work'], { home });
	assert.equal(unknown.code, 1);
	assert.match(unknown.stderr, /No work/);
});

test('delete asks on a terminal alone, and otherwise needs --force', options, async (t) => {
	const { home, file, id } = await recorded(t);
	const refused = await runCodex(t, ['delete', id], { home, input: 'y\n' });
	assert.equal(refused.code, 1);
	assert.match(refused.stderr, /use --force/);
	assert.ok(fs.existsSync(file));
	const deleted = await runCodex(t, ['delete', '--force', id], { home });
	assert.deepEqual([deleted.code, deleted.stdout], [0, `Deleted session ${id}.\n`]);
	assert.ok(!fs.existsSync(file));
	assert.equal((await runCodex(t, ['delete', '--force', id], { home })).code, 1);
});

test('a session that a process writes is left alone', options, async (t) => {
	const { model, home } = await recorded(t);
	const server = await startAppServer(t, model, { home });
	const { thread } = await server.request('thread/start');
	await server.request('turn/start', { threadId: thread.id, input: [text('hi')] });
	await server.next('turn/completed');
	const before = rollouts(home);
	for (const args of [['archive'], ['delete', '--force']]) {
		const { code, stderr } = await runCodex(t, [...args, thread.id], { home });
		assert.equal(code, 1, stderr);
		assert.match(stderr, /process \d+|is open|in use|writ/);
	}
	assert.deepEqual(rollouts(home), before);
	assert.equal((await server.end()).code, 0);
});

test('a command line without a session is wrong', options, async (t) => {
	for (const name of ['archive', 'unarchive', 'delete']) {
		const { code, stderr } = await runCodex(t, [name]);
		assert.equal(code, 2);
		assert.match(stderr, /SESSION/);
	}
});

test('--strict-config and --cd check the configuration before anything changes', options, async (t) => {
	const { home, id, file } = await recorded(t);
	const project = tempDir(t, 'project');
	fs.mkdirSync(path.join(project, '.codex'));
	fs.writeFileSync(path.join(project, '.codex', 'config.toml'), 'nonsense = 1\n');
	fs.appendFileSync(path.join(home, 'config.toml'), `[projects."${fs.realpathSync(project)}"]\ntrust_level = "trusted"\n`);
	for (const command of [['archive'], ['unarchive'], ['delete', '--force']]) {
		const refused = async (message, ...args) => {
			const { code, stderr } = await runCodex(t, [...command, ...args, id], { home });
			assert.equal(code, 1);
			assert.match(stderr, message);
			assert.ok(fs.existsSync(file));
		};
		await refused(/nonsense/, '--strict-config', '-c', 'nonsense=1');
		await refused(/config\.toml:1: .*nonsense/, '--strict-config', '-C', project);
		await refused(/config\.toml:1: .*nonsense/, '--strict-config', '-C', project, '--remote', 'unix:///nowhere');
		await refused(/cannot work in .*nowhere/, '-C', '/nowhere', '--remote', 'unix:///nowhere');
		await refused(/cannot work in .*nowhere/, '-C', path.join(project, 'nowhere'));
		await refused(/it is not a folder/, '--cd', file);
	}
	assert.equal((await runCodex(t, ['archive', '--strict-config', '-C', home, id], { home })).code, 0);
	assert.equal((await runCodex(t, ['delete', '--force', '-C', project, id], { home })).code, 0);
});

test('--remote has an app-server archive, restore and delete; its session is an id', options, async (t) => {
	const { home, file, id } = await recorded(t);
	const elsewhere = makeHome(t, null);
	const daemon = (word) => runCodex(t, ['app-server', 'daemon', word], { home });
	atEnd(t, () => daemon('stop')); // before its home is removed
	assert.equal((await daemon('start')).code, 0);
	const remote = ['--remote', `unix://${path.join(home, 'app-server-control/app-server-control.sock')}`];
	const run = (...args) => runCodex(t, [...args, ...remote], { home: elsewhere });
	for (const [args, words] of [[['archive', id], 'Archived'], [['unarchive', id], 'Unarchived'], [['delete', '--force', id], 'Deleted']]) {
		const { code, stdout, stderr } = await run(...args);
		assert.deepEqual([code, stdout, stderr], [0, `${words} session ${id}.\n`, '']);
		assert.equal(fs.existsSync(file), words === 'Unarchived');
	}
	const gone = await run('archive', id);
	assert.deepEqual([gone.code, gone.stderr.includes('the server refused thread/archive')], [1, true], gone.stderr);
	assert.match((await run('delete', id)).stderr, /use --force/);
	assert.deepEqual(await run('archive', 'a name').then(({ code, stderr }) => [code, /must be the id/.test(stderr)]), [2, true]);
	const token = await runCodex(t, ['archive', id, '--remote-auth-token-env', 'T'], { home });
	assert.deepEqual([token.code, /there is no --remote/.test(token.stderr)], [2, true]);
});
