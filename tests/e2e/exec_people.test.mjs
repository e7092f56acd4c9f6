// `codex exec` for people: its output, and its messages when something is wrong.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	codexBin, codexExec, makeHome, needs, patch, reply, rollouts, run, runCodex, say, signalWhenThere, startModel, tempDir,
} from './lib/codex.mjs';

const exec = needs('exec');
const inTerminal = exec.skip || spawnSync('script', ['--version']).error ? { skip: 'script is not installed' } : {};
const bash = exec.skip ? exec : { skip: spawnSync('bash', ['--version']).error ? 'bash is not installed' : false };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Runs a program with empty stdin and this model; resolves to {code, stdout, stderr}. */
function runProgram(t, model, program, args) {
	const home = makeHome(t, model);
	const env = { ...process.env, CODEX_HOME: home, HOME: home, TERM: 'xterm', LANG: 'C.UTF-8' };
	return new Promise((resolve) => {
		execFile(program, args, { cwd: tempDir(t, 'cwd'), env, encoding: 'utf8' }, (error, stdout, stderr) =>
			resolve({ code: error ? error.code : 0, stdout, stderr })).stdin.end();
	});
}

/** Runs a command of bash in which CODEX is `codex exec` with the flag that every run here needs. */
const shell = (t, model, command) =>
	runProgram(t, model, 'bash', ['-c', `CODEX() { '${codexBin}' exec --skip-git-repo-check "$@"; }; ${command}`]);

test('on a terminal the answer stands once, and the line that waits is taken back', inTerminal, async (t) => {
	const model = await startModel(t, [reply({ delay_ms: 500 }, { message: 'The answer.' })]);
	const command = `stty cols 40; exec '${codexBin}' exec --skip-git-repo-check question`;
	const { stdout } = await runProgram(t, model, 'script', ['-qec', command, '/dev/null']);
	assert.equal(stdout.split('The answer.').length, 2, stdout);
	const lines = stdout.split('\r').filter((line) => line.includes('Waiting'));
	assert.ok(lines.length > 0);
	for (const line of lines) assert.ok(line.replace(/\x1b\[\d*[mK]/g, '').length < 40, line);
	assert.ok(stdout.lastIndexOf('Waiting') < stdout.lastIndexOf('\r\x1b[K'));
});

test('output of commands is shown without control sequences and truncated', exec, async (t) => {
	const model = await startModel(t, [run("printf '\\033[2Jx\\r\\n10%%\\r100%%\\n'; seq 100"), say('ok')]);
	const { stderr } = await codexExec(t, model, ['hi']);
	assert.ok(stderr.includes('\n^[[2Jx\n100%\n1\n2\n'), stderr);
	assert.ok(stderr.includes('\n… 82 more lines\n'));
	assert.ok(!stderr.includes('\x1b'));
});

test('commands that end out of order are named again', exec, async (t) => {
	const model = await startModel(t, [
		reply({ call: 'exec_command', arguments: { cmd: 'while [ ! -e second ]; do sleep 0.01; done; echo slow' } },
			{ call: 'exec_command', arguments: { cmd: 'echo fast; touch second' } }),
		say('ok'),
	]);
	const { stderr } = await codexExec(t, model, ['hi']);
	assert.match(stderr, /touch second' in .*\n succeeded in \d+ms:\nfast\nexec\n.*echo slow' in .*\n succeeded in \d+ms:\nslow\n/);
});

test('a patch is shown as a diff', exec, async (t) => {
	const model = await startModel(t, [
		patch('*** Add File: new.txt', '+one', '+two'),
		patch('*** Update File: new.txt', '@@', '-two', '+three'), say('ok'),
	]);
	const { stderr } = await codexExec(t, model, ['hi']);
	assert.match(stderr, /file update\nA .*new\.txt\n\+one\n\+two\n/);
	assert.match(stderr, /file update\nM .*new\.txt\n@@ -1,2 \+1,2 @@\n one\n-two\n\+three\n/);
});

test('an answer that cannot be written is a failure', bash, async (t) => {
	const model = await startModel(t, [{ ...say('The answer.'), times: 3 }]);
	for (const [command, cause] of [
		['CODEX hi > /dev/full', /standard output: .*No space left/],
		['CODEX --json hi > /dev/full', /standard output: .*No space left/],
		['CODEX hi >&-', /standard output: .*Bad file descriptor/],
	]) {
		const { code, stderr } = await shell(t, model, command);
		assert.equal(code, 1, command);
		assert.match(stderr, cause);
	}
});

test('a closed terminal ends the run and its commands', exec, async (t) => {
	const cwd = tempDir(t, 'cwd');
	const model = await startModel(t, [run('echo $$ > pid; exec sleep 1000')]);
	const home = makeHome(t, model);
	const args = ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'hi'];
	const { code } = await runCodex(t, args, { home, cwd, onStart: signalWhenThere(path.join(cwd, 'pid'), 'SIGHUP') });
	assert.equal(code, 129);
	const pid = Number(fs.readFileSync(path.join(cwd, 'pid'), 'utf8'));
	assert.ok(!pid || !fs.existsSync(`/proc/${pid}`));
});

test('-o overwrites an existing file', exec, async (t) => {
	const model = await startModel(t, [{ ...say('The answer.'), times: 2 }]);
	const file = path.join(tempDir(t), 'answer.txt');
	fs.writeFileSync(file, 'something longer than the answer', { mode: 0o600 });
	await codexExec(t, model, ['-o', file, 'hi']);
	assert.equal(fs.readFileSync(file, 'utf8'), 'The answer.');
	assert.equal(fs.statSync(file).mode & 0o777, 0o600);
	const failed = await codexExec(t, model, ['-o', path.join(file, 'x'), 'hi']);
	assert.equal(failed.code, 1);
	assert.match(failed.stderr, /Failed to open last message file /);
	assert.equal(model.requests().length, 1);
});

test('an image is looked for where the command was typed, and missed aloud', exec, async (t) => {
	const model = await startModel(t, [{ ...say('A dot.'), times: 2 }]);
	const cwd = tempDir(t, 'cwd');
	const missed = await codexExec(t, model, ['hi', '-i', 'none.png,.'], { cwd });
	assert.equal(missed.code, 0);
	assert.match(missed.stderr, /^warning: --image none\.png: No such file or directory$/m);
	assert.match(missed.stderr, /^warning: --image \.: not a file$/m);
	for (const name of ['a.png', 'b,c.png']) fs.writeFileSync(path.join(cwd, name), Buffer.from(PIXEL, 'base64'));
	const found = await codexExec(t, model, ['hi', '-i', 'a.png,a.png', '-i', 'b,c.png', '-C', '/tmp'], { cwd });
	assert.ok(!found.stderr.includes('--image'));
	const parts = model.requests()[1].body.input.flatMap((item) => item.content ?? []);
	assert.equal(parts.filter((part) => part.type === 'input_image').length, 3);
});

test('an empty prompt is not sent', exec, async (t) => {
	const model = await startModel(t, [say('never')]);
	const { code, stderr } = await codexExec(t, model, ['']);
	assert.equal(code, 1);
	assert.match(stderr, /No prompt provided: the argument is empty\./);
	assert.equal(model.requests().length, 0);
});

test('resume --last without a session says that it starts one; an unknown one is refused', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const home = makeHome(t, model);
	const { code, stderr } = await codexExec(t, model, ['resume', '--last', 'hi'], { home });
	assert.equal(code, 0);
	assert.match(stderr, /no session to resume in this folder; a new one is started/);
	assert.equal(rollouts(home).length, 1);
	for (const id of ['a-name', '01a1fc24-1967-76ef-a6da-d27a12bde7dd']) {
		const unknown = await codexExec(t, model, ['resume', id, 'hi'], { home });
		assert.equal(unknown.code, 1);
		assert.match(unknown.stderr, new RegExp(`no session to resume: .*${id}`));
	}
});

test('options without effect are named', exec, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), times: 2 }]);
	const home = makeHome(t, model);
	const codex = (...args) => runCodex(t, ['exec', '--skip-git-repo-check', ...args, 'hi'], { home });
	assert.match((await codex('--yolo', '-s', 'read-only')).stderr, /--sandbox has no effect beside --danger/);
	assert.match((await codex('--add-dir', '/tmp')).stderr, /--add-dir has no effect in a read-only sandbox/);
});

test('the banner lists writable folders and network access', exec, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), times: 'forever' }]);
	const home = makeHome(t, model);
	const extra = tempDir(t, 'extra');
	const line = async (args, env) => {
		const { stderr } = await runCodex(t, ['exec', '--skip-git-repo-check', ...args, 'hi'], { home, env });
		return /^sandbox: (.*)$/m.exec(stderr)[1];
	};
	const network = ['-c', 'sandbox_workspace_write.network_access=true'];
	assert.equal(await line(['-s', 'workspace-write', '--add-dir', extra, ...network], { TMPDIR: '/var/tmp' }),
		`workspace-write [workdir, /tmp, $TMPDIR, ${extra}] (network access enabled)`);
	assert.equal(await line(['-s', 'workspace-write', '-c', 'sandbox_workspace_write.exclude_slash_tmp=true',
		'-c', 'sandbox_workspace_write.exclude_tmpdir_env_var=true']), 'workspace-write [workdir]');
	assert.equal(await line(['-s', 'read-only']), 'read-only');
});

test('tokens used have separators', exec, async (t) => {
	const usage = { input_tokens: 1_234_000, cached_tokens: 1000, output_tokens: 567 };
	const model = await startModel(t, [reply({ message: 'Much.' }, { usage }), reply({ message: 'Little.' }, { usage: { output_tokens: 7 } })]);
	assert.match((await codexExec(t, model, ['hi'])).stderr, /^tokens used\n1,233,567$/m);
	assert.match((await codexExec(t, model, ['hi'])).stderr, /^tokens used\n7$/m);
});

test('skills and AGENTS.md that the model sees a part of are warnings', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const cwd = tempDir(t, 'cwd');
	const home = makeHome(t, model);
	fs.writeFileSync(path.join(cwd, 'AGENTS.md'), 'x'.repeat(40_000));
	for (let i = 0; i < 100; i++) {
		const dir = path.join(home, 'skills', `skill-${i}`);
		fs.mkdirSync(dir, { recursive: true });
		fs.writeFileSync(path.join(dir, 'SKILL.md'), `---\nname: skill-${i}\ndescription: ${'word '.repeat(60)}\n---\n`);
	}
	const { stderr } = await codexExec(t, model, ['hi'], { home, cwd });
	assert.match(stderr, /warning: AGENTS\.md files hold more than project_doc_max_bytes \(32768\)/);
	const [, leftOut] = /warning: The list of skills for the model has room for \d+ bytes: (\d+) skills are left out/.exec(stderr);
	assert.match(JSON.stringify(model.requests()[0].body.input), new RegExp(`- and ${leftOut} more, which there is no room to list`));
});
