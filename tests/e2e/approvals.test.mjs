// Commands that run, need approval or are refused: policies, rules, and permanent approvals.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	call, codexExec, makeHome, needs, readLines, rollouts, run, runCodex, say, startModel, tempDir,
} from './lib/codex.mjs';
import { startAppServer } from './lib/app_server.mjs';
import { approve, startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const settings = (policy, sandbox = 'danger-full-access') =>
	`approval_policy = "${policy}"\nsandbox_mode = "${sandbox}"\n`;

/** One task of these calls and an answer, in a home with these rules; questions are answered in turn by `answers`. */
async function play(t, calls, { config = settings('untrusted'), rules, answers = [], home, cwd, until = 'task_complete' }) {
	const model = await startModel(t, [...calls, say('Done.')]);
	home ??= makeHome(t, model, config);
	for (const [name, text] of Object.entries(rules ?? {})) {
		fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
		fs.writeFileSync(path.join(home, name), text);
	}
	const codex = startProto(t, model, { home, cwd });
	codex.submit('1', userInput('go'));
	for (const decision of answers)
		codex.submit('a', approve((await codex.next('exec_approval_request')).msg.call_id, decision));
	await codex.next(until);
	assert.equal((await codex.end()).code, 0);
	const of = (type) => codex.events().filter(({ msg }) => msg.type === type).map(({ msg }) => msg);
	const outputs = (await model.requests()).at(-1).body.input.filter((item) => item.type === 'function_call_output');
	return {
		home, cwd: codex.cwd,
		asked: of('exec_approval_request'),
		warnings: of('warning').map(({ message }) => message),
		notes: of('background_event').map(({ message }) => message),
		begins: of('exec_command_begin'),
		ends: of('exec_command_end'),
		outputs: outputs.map(({ output }) => output),
		made: (name) => fs.existsSync(path.join(codex.cwd, name)),
	};
}

test('a read-only command needs no approval', proto, async (t) => {
	const { asked, outputs } = await play(t, [run('ls -la | wc -l && pwd')], {});
	assert.deepEqual(asked, []);
	assert.match(outputs[0], /exited with code 0/);
});

/** A repository whose settings make git run `program` when it examines the files. */
function repository(folder, program) {
	fs.mkdirSync(folder, { recursive: true });
	const git = (...args) => execFileSync('git', args, { cwd: folder });
	git('init', '-q');
	fs.writeFileSync(path.join(folder, 'a'), '1\n');
	git('add', 'a');
	if (program) git('config', 'core.fsmonitor', program);
}

test('git needs approval where the repository can choose a program', proto, async (t) => {
	const cwd = tempDir(t, 'work');
	const mark = path.join(cwd, 'ran');
	repository(cwd);
	repository(path.join(cwd, 'sub'), `touch ${mark};false`);
	const calls = ['git status && git diff', 'git -C sub status', 'cd sub && git status'];
	const top = await play(t, calls.map((text) => run(text)), { cwd, answers: ['denied', 'denied'] });
	assert.deepEqual(top.asked.map((msg) => msg.command[2]), calls.slice(1));
	assert.match(top.outputs[0], /exited with code 0/);
	const inside = await play(t, [run('git status')], { cwd: path.join(cwd, 'sub'), answers: ['denied'] });
	assert.equal(inside.asked.length, 1);
	assert.ok(!fs.existsSync(mark));
	const nested = await play(t, [run('git status', { workdir: 'sub' })], { cwd, answers: ['denied'] });
	assert.equal(nested.asked.length, 1);
	assert.ok(!fs.existsSync(mark));
});

test('a repository that commands in the sandbox can write is not trusted by its looks', proto, async (t) => {
	const cwd = tempDir(t, 'work');
	repository(cwd);
	repository(path.join(cwd, 'sub'));
	const config = settings('untrusted', 'workspace-write');
	const { asked } = await play(t, [run('git status'), run('git diff', { workdir: 'sub' })],
		{ cwd, config, answers: ['denied'] });
	assert.deepEqual(asked.map((msg) => msg.command[2]), ['git diff']);
});

test('a destructive command needs approval, and is refused if the policy forbids asking', proto, async (t) => {
	const on = await play(t, [run('touch x; rm -rf x')], { config: settings('on-request'), answers: ['approved'] });
	assert.deepEqual(on.asked[0].proposed_execpolicy_amendment, ['rm', '-rf', 'x']);
	assert.ok(!on.made('x'));
	const never = await play(t, [run('touch x; rm -rf x')], { config: settings('never') });
	assert.deepEqual(never.asked, []);
	assert.ok(!never.made('x')); // not even begun
	assert.match(never.outputs[0], /`\/bin\/bash -lc 'touch x; rm -rf x'` rejected: /);
});

test('rules allow, ask and forbid; the strictest of all commands counts', proto, async (t) => {
	const rules = {
		'rules/b.rules': 'prefix_rule(pattern=["touch", "asked"], decision="prompt", justification="it is mine")',
		'rules/a.rules': 'prefix_rule(pattern=["touch"])\n' +
			'prefix_rule(pattern=["mkdir"], decision="forbidden", justification="make no folders")\n',
		'rules/ignored.txt': 'nonsense',
	};
	const calls = [run('touch free'), run('touch asked'), run('touch free2 && mkdir never')];
	const { asked, outputs, made, warnings } = await play(t, calls, { rules, answers: ['denied'] });
	assert.deepEqual(asked.map(({ command }) => command.at(-1)), ['touch asked']);
	assert.match(asked[0].reason, /requires approval: it is mine$/);
	assert.equal(asked[0].proposed_execpolicy_amendment, undefined); // a rule asked: it is not to be undone here
	assert.deepEqual(['free', 'asked', 'free2', 'never'].map(made), [true, false, false, false]);
	assert.match(outputs[2], /rejected: make no folders/);
	assert.deepEqual(warnings, []);
});

test('a command that a rule allows runs without a sandbox', proto, async (t) => {
	const home = tempDir(t, 'outside');
	const rules = { 'rules/a.rules': 'prefix_rule(pattern=["touch"])' };
	const calls = [run(`touch ${home}/there`)];
	await play(t, calls, { config: settings('on-request', 'read-only'), rules });
	assert.ok(fs.existsSync(path.join(home, 'there')));
});

test('a command whose rule requires approval is refused if the policy forbids asking', proto, async (t) => {
	const rules = { 'rules/a.rules': 'prefix_rule(pattern=["touch"], decision="prompt")' };
	const { asked, made, outputs } = await play(t, [run('touch x')], { config: settings('never'), rules });
	assert.deepEqual(asked, []);
	assert.ok(!made('x'));
	assert.match(outputs[0], /rejected: a rule about commands requires an approval, which cannot be requested/);
});

test('a command that a rule forbids is refused, with the reason if there is one', proto, async (t) => {
	const rules = { 'rules/a.rules': 'prefix_rule(pattern=["touch"], decision="forbidden")' };
	const { asked, made, outputs } = await play(t, [run('touch x')], { config: settings('on-request'), rules });
	assert.deepEqual([asked, made('x')], [[], false]);
	assert.match(outputs[0], /rejected: a rule about commands forbids it$/);
});

test('no session is opened with a rules file that has an error, because it may forbid', proto, async (t) => {
	const model = await startModel(t, [say('Never.')]);
	const home = makeHome(t, model, settings('never'));
	fs.mkdirSync(path.join(home, 'rules'));
	fs.writeFileSync(path.join(home, 'rules/a.rules'), 'prefix_rule(pattern=["touch"], decision="forbidden")\nprefix_rule(pattern=touch)\n');
	const { code, stdout, stderr } = await codexExec(t, model, ['go'], { home });
	assert.deepEqual([code, stdout], [1, '']);
	assert.match(stderr, /cannot read the rules about commands: \/.*\/rules\/a\.rules:2: /);
	const server = await startAppServer(t, model, { home });
	await assert.rejects(server.request('thread/start', {}), /\/rules\/a\.rules:2: /);
	fs.rmSync(path.join(home, 'rules/a.rules'));
	fs.mkdirSync(path.join(home, 'rules/b.rules')); // not a file
	await assert.rejects(server.request('thread/start', {}), /\/rules\/b\.rules/);
	fs.rmdirSync(path.join(home, 'rules/b.rules'));
	await server.request('thread/start', {});
	assert.equal((await server.end()).code, 0);
	assert.deepEqual(await model.requests(), []);
});

test('a permanent approval applies at once and in the next session', proto, async (t) => {
	const amend = { approved_execpolicy_amendment: { proposed_execpolicy_amendment: ['touch', 'a"b'] } };
	const first = await play(t, [run(`touch 'a"b'`), run(`touch 'a"b' c`)], { answers: [amend] });
	assert.deepEqual(first.asked[0].proposed_execpolicy_amendment, ['touch', 'a"b']);
	assert.ok(first.made('c'));
	assert.equal(fs.readFileSync(path.join(first.home, 'rules/default.rules'), 'utf8'),
		'prefix_rule(pattern=["touch", "a\\"b"], decision="allow")\n');
	const text = fs.readFileSync(path.join(first.home, 'rules/default.rules'), 'utf8');
	const second = await play(t, [run(`touch 'a"b' d`)], { rules: { 'rules/default.rules': text } });
	assert.deepEqual(second.asked, []);
	assert.ok(second.made('d'));
});

test('a rule is appended on its own line to a file without a final newline', proto, async (t) => {
	const amend = { approved_execpolicy_amendment: { proposed_execpolicy_amendment: ['touch'] } };
	const rules = { 'rules/default.rules': 'prefix_rule(pattern=["mkdir"], decision="forbidden")' };
	const { home } = await play(t, [run('touch x')], { rules, answers: [amend] });
	assert.equal(fs.readFileSync(path.join(home, 'rules/default.rules'), 'utf8'),
		'prefix_rule(pattern=["mkdir"], decision="forbidden")\nprefix_rule(pattern=["touch"], decision="allow")\n');
});

test('the model may propose a prefix, but not an interpreter alone', proto, async (t) => {
	const ask = { sandbox_permissions: 'require_escalated', justification: 'Why?' };
	const calls = [run('touch x y', { ...ask, prefix_rule: ['touch', 'x'] }), run('python3 -V', ask), run('bash', ask)];
	const config = settings('on-request', 'read-only');
	const { asked } = await play(t, calls, { config, answers: ['denied', 'denied', 'denied'] });
	assert.deepEqual(asked.map((msg) => [msg.reason, msg.proposed_execpolicy_amendment]),
		[['Why?', ['touch', 'x']], ['Why?', ['python3', '-V']], ['Why?', undefined]]);
});

test('a proposed prefix must match the command and must not allow everything', proto, async (t) => {
	const ask = { sandbox_permissions: 'require_escalated', justification: 'Why?' };
	const proposals = [
		['touch x', ['rm'], ['touch', 'x']],
		['touch x; mkdir y', ['touch'], ['touch', 'x']],
		['ls && touch x', ['touch'], ['touch']],
		['python3.11 -c 1', ['python3.11', '-c'], ['python3.11', '-c', '1']],
		['python3 -m pytest a', ['python3', '-m', 'pytest'], ['python3', '-m', 'pytest']],
		['sudo touch x', ['sudo', 'touch'], ['sudo', 'touch', 'x']],
		['touch $x', ['touch'], undefined],
	];
	const calls = proposals.map(([cmd, prefix_rule]) => run(cmd, { ...ask, prefix_rule }));
	const { asked } = await play(t, calls,
		{ config: settings('on-request', 'read-only'), answers: proposals.map(() => 'denied') });
	assert.deepEqual(asked.map((msg) => msg.proposed_execpolicy_amendment), proposals.map(([, , want]) => want));
});

const granular = (flags) => ({ sandbox_approval: false, rules: false, mcp_elicitations: false, ...flags });
const granularConfig = (flags, sandbox = 'danger-full-access') => `sandbox_mode = "${sandbox}"\n` +
	`approval_policy = { granular = { ${Object.entries(granular(flags)).map((pair) => pair.join(' = ')).join(', ')} } }\n`;

test('a granular policy permits some requests and refuses others with the reason', proto, async (t) => {
	const rules = { 'rules/a.rules': 'prefix_rule(pattern=["touch", "ruled"], decision="prompt")' };
	const calls = [run('touch gone; rm -f gone'), run('touch ruled'), run('touch plain')];
	const sandbox = await play(t, calls, { config: granularConfig({ sandbox_approval: true }), rules, answers: ['approved'] });
	assert.deepEqual(sandbox.asked.map(({ command }) => command.at(-1)), ['touch gone; rm -f gone']);
	assert.deepEqual(['gone', 'ruled', 'plain'].map(sandbox.made), [false, false, true]);
	assert.match(sandbox.outputs[1], /rejected: a rule about commands requires an approval, .*granular, rules = false/);
	const mixed = await play(t, [run('touch ruled && rm -f gone')], { config: granularConfig({ rules: true }), rules });
	assert.match(mixed.outputs[0], /rejected: it needs an approval, .*granular, sandbox_approval = false/);
	const ruled = await play(t, calls, { config: granularConfig({ rules: true }), rules, answers: ['approved'] });
	assert.deepEqual(ruled.asked.map(({ command }) => command.at(-1)), ['touch ruled']);
	assert.deepEqual(['gone', 'ruled', 'plain'].map(ruled.made), [false, true, true]);
	assert.match(ruled.outputs[0], /rejected: it needs an approval, .*granular, sandbox_approval = false/);
	const both = 'touch ruled && rm -f ruled'; // two kinds of question in one: both must be allowed
	const none = await play(t, [run(both)], { config: granularConfig({ rules: true }), rules });
	assert.deepEqual([none.asked, none.made('ruled')], [[], false]);
});

test('whether a model may ask to leave the sandbox is a flag of a granular policy', proto, async (t) => {
	const ask = { sandbox_permissions: 'require_escalated', justification: 'Why?' };
	const may = await play(t, [run('touch out', ask)],
		{ config: granularConfig({ sandbox_approval: true }, 'read-only'), answers: ['approved'] });
	assert.deepEqual([may.asked.length, may.made('out')], [1, true]);
	const not = await play(t, [run('touch out', ask)], { config: granularConfig({ rules: true }, 'read-only') });
	assert.deepEqual([not.asked, not.made('out')], [[], false]);
	assert.match(not.outputs[0], /^approval policy is Granular\(sandbox_approval = false\); reject command/);
});

test('a granular policy is the same value in Ops, events and rollouts, and after a resume', proto, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.'), say('Three.')]);
	const home = makeHome(t, model, granularConfig({ rules: true }));
	const whole = (flags) => ({ granular: { ...granular(flags), skill_approval: false, request_permissions: false } });
	const first = startProto(t, model, { home });
	first.submit('1', userInput('go'));
	assert.deepEqual((await first.next('session_configured')).msg.approval_policy, whole({ rules: true }));
	await first.next('task_complete');
	first.submit('2', { type: 'override_turn_context', approval_policy: { reject: { rules: true, mcp_elicitations: true } } });
	first.submit('3', userInput('go on'));
	await first.next('task_complete');
	assert.equal((await first.end()).code, 0);
	const [file] = rollouts(home);
	const contexts = readLines(file).filter(({ type }) => type === 'turn_context').map(({ payload }) => payload.approval_policy);
	assert.deepEqual(contexts, [whole({ rules: true }),
		{ granular: { sandbox_approval: true, rules: false, mcp_elicitations: false, skill_approval: false, request_permissions: false } }]);
	const second = startProto(t, model, { home });
	second.submit('1', { type: 'configure_session', resume_path: file });
	assert.deepEqual((await second.next('session_configured')).msg.approval_policy, whole({ rules: true }));
	second.submit('2', userInput('again'));
	await second.next('task_complete');
	assert.equal((await second.end()).code, 0);
	const told = (await model.requests()).at(-1).body.input.filter(({ role }) => role === 'developer');
	assert.match(JSON.stringify(told.at(-1)), /- asked: commands for which a rule requires an approval/);
});

test('exec accepts a granular policy, but never asks', needs('exec'), async (t) => {
	const model = await startModel(t, [run('touch x; rm -f x'), say('Done.')]);
	const policy = 'approval_policy={ granular = { sandbox_approval = true, rules = true, mcp_elicitations = true } }';
	const { code, stderr } = await codexExec(t, model, ['-c', policy, 'go']);
	assert.equal(code, 0);
	assert.match(stderr, /approval: never/);
	const bad = await codexExec(t, model, ['-c', 'approval_policy={ granular = { rules = 1 } }', 'go']);
	assert.equal(bad.code, 1);
	assert.match(bad.stderr, /`approval_policy` must be on-request, .*granular/);
});

test('a command that the sandbox blocked runs again outside only with approval', proto, async (t) => {
	const calls = [run('touch free'), run('touch never'), call('shell', { command: ['touch', 'old'] })];
	const answers = ['approved', 'denied', 'approved'];
	const { asked, made, outputs, notes } = await play(t, calls, { config: settings('on-failure', 'read-only'), answers });
	assert.deepEqual(asked.map(({ reason }) => reason), Array(3).fill('command failed; retry without sandbox?'));
	assert.deepEqual(asked[0].proposed_execpolicy_amendment, ['touch', 'free']);
	assert.deepEqual(['free', 'never', 'old'].map(made), [true, false, true]);
	assert.match(outputs[0], /exited with code 0/);
	assert.match(outputs[1], /rejected by user/);
	assert.match(notes[0], /^The sandbox stopped `.*touch free.*: touch: cannot touch 'free': Read-only file system$/);
	assert.equal(notes.length, 3);
});

test('a command that ran twice is one item with one begin and one end, with the output of the second run', proto, async (t) => {
	const { begins, ends } = await play(t, [run('touch free && echo made')],
		{ config: settings('on-failure', 'read-only'), answers: ['approved'] });
	assert.equal(begins.length, 1);
	assert.deepEqual(ends.map((end) => [end.exit_code, end.aggregated_output]), [[0, 'made\n']]);
});

test('a command whose second run was declined keeps its output, NUL included', proto, async (t) => {
	const { ends } = await play(t, [run("printf 'a\\0b\\n'; touch x")],
		{ config: settings('on-failure', 'read-only'), answers: ['denied'] });
	assert.match(ends[0].aggregated_output, /^a\0b\ntouch: .*\nThe second run, outside the sandbox, was declined\.$/);
});

test('an approved command needs no second approval when the sandbox blocks it', proto, async (t) => {
	const { asked, made } = await play(t, [run('touch x')],
		{ config: settings('untrusted', 'read-only'), answers: ['approved'] });
	assert.deepEqual(asked.map(({ reason }) => reason), [undefined]);
	assert.ok(made('x'));
});

test('approved for the session, the same command in the same folder runs again without a question', proto, async (t) => {
	const { asked, outputs } = await play(t, [run('rm x; touch x'), run('rm x; touch x'), run('touch y')],
		{ config: settings('on-failure', 'read-only'), answers: ['approved_for_session', 'denied'] });
	assert.deepEqual(asked.map(({ command }) => command.at(-1)), ['rm x; touch x', 'touch y']);
	assert.match(outputs[1], /exited with code 0/);
});

test('a granular policy asks to run again if it lets that be asked', proto, async (t) => {
	const may = await play(t, [run('touch x')],
		{ config: granularConfig({ sandbox_approval: true }, 'read-only'), answers: ['approved'] });
	assert.deepEqual([may.asked.length, may.made('x')], [1, true]);
	const not = await play(t, [run('touch x')], { config: granularConfig({ rules: true }, 'read-only') });
	assert.deepEqual([not.asked, not.made('x')], [[], false]);
	assert.match(not.outputs[0], /^Sandbox: it seems to have stopped this command, and nobody may be asked/m);
});

test('without approval requests the model is informed that the sandbox blocked the command', proto, async (t) => {
	const calls = [run('touch x'), call('shell', { command: ['touch', 'y'] }), run('exit 3')];
	const on = await play(t, calls, { config: settings('on-request', 'read-only') });
	assert.deepEqual([on.asked, on.made('x')], [[], false]);
	assert.match(on.outputs[0], /^Process exited with code 1\nSandbox: .* again with sandbox_permissions "require_escalated"/m);
	assert.match(on.outputs[1], /^Sandbox: .*\nOutput:\n.*Read-only/m);
	assert.doesNotMatch(on.outputs[2], /Sandbox/); // it failed by itself
	assert.deepEqual([on.notes.length, on.ends.map(({ exit_code }) => exit_code)], [2, [1, 1, 3]]);
	const never = await play(t, [run('touch x')], { config: settings('never', 'read-only') });
	assert.match(never.outputs[0], /^Sandbox: .* nobody may be asked/m);
	const bare = await play(t, [run('echo permission denied; exit 1')], { config: settings('on-failure') });
	assert.deepEqual([bare.asked, bare.notes], [[], []]); // there was no sandbox to stop it
});

test('a program that is not there was not stopped by the sandbox', proto, async (t) => {
	const { asked, outputs } = await play(t, [call('shell', { command: ['no-such-program'] })],
		{ config: `${settings('on-failure', 'read-only')}sandbox_backend = "landlock"\n` });
	assert.deepEqual(asked, []);
	assert.doesNotMatch(outputs[0], /^Sandbox: /m);
});

test('an interrupt during a pending approval leaves no file', proto, async (t) => {
	const { asked, ends, made } = await play(t, [run('touch x')],
		{ config: settings('on-failure', 'read-only'), answers: ['abort'], until: 'turn_aborted' });
	assert.deepEqual([asked.length, ends.length, made('x')], [1, 1, false]);
});

test("a project's rules ask and forbid where the user trusts it, and allow only by their hash", proto, async (t) => {
	const cwd = tempDir(t, 'project');
	const text = 'prefix_rule(pattern=["touch"])\nprefix_rule(pattern=["touch", "no"], decision="forbidden")\n';
	fs.mkdirSync(path.join(cwd, '.codex/rules'), { recursive: true });
	fs.writeFileSync(path.join(cwd, '.codex/rules/x.rules'), text);
	const untrusted = await play(t, [run('touch no')], { cwd, answers: ['denied'] });
	assert.equal(untrusted.asked.length, 1);
	const config = `${settings('untrusted')}[projects."${cwd}"]\ntrust_level = "trusted"\n`;
	const trusted = await play(t, [run('touch y'), run('touch no')], { cwd, config, answers: ['denied'] });
	assert.deepEqual([trusted.asked.length, trusted.made('y'), trusted.made('no')], [1, false, false]);
	const hash = /trusted_hashes = \["(sha256:[0-9a-f]{64})"\]/.exec(trusted.warnings.join('\n'))?.[1];
	assert.equal(hash, `sha256:${createHash('sha256').update(text).digest('hex')}`);
	const known = await play(t, [run('touch y'), run('touch no')], { cwd, config: `${config}trusted_hashes = ["${hash}"]\n` });
	assert.deepEqual([known.asked.length, known.made('y'), known.made('no')], [0, true, false]);
});

test('a warning about rules names the hash in a project whose path is long', proto, async (t) => {
	const cwd = path.join(tempDir(t, 'project'), 'a'.repeat(200), 'b'.repeat(200), 'c'.repeat(200));
	const text = 'prefix_rule(pattern=["touch"])\n';
	fs.mkdirSync(path.join(cwd, '.codex/rules'), { recursive: true });
	fs.writeFileSync(path.join(cwd, '.codex/rules/x.rules'), text);
	const config = `${settings('untrusted')}[projects."${cwd}"]\ntrust_level = "trusted"\n`;
	const { warnings } = await play(t, [run('touch y')], { cwd, config, answers: ['denied'] });
	const hash = createHash('sha256').update(text).digest('hex');
	const remedy = new RegExp(`trusted_hashes = \\["sha256:${hash}"\\] to \\[projects\\."${cwd}"\\] in /.*/config\\.toml$`, 'm');
	assert.match(warnings.join('\n'), remedy);
});

test('a sandboxed command cannot write settings or rules that let a later session out', needs('exec'), async (t) => {
	const cwd = tempDir(t, 'project'), outside = path.join(tempDir(t, 'outside'), 'made');
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.writeFileSync(path.join(cwd, '.git/HEAD'), 'ref: refs/heads/main\n');
	const evil = 'mkdir -p sub/.codex/rules sub/deep && cd sub/.codex && '
		+ `printf 'sandbox_mode = "danger-full-access"\\n[sandbox_workspace_write]\\nwritable_roots = ["/"]\\n' > config.toml && `
		+ `printf 'prefix_rule(pattern=["touch"])\\n' > rules/x.rules`;
	const model = await startModel(t, [run(evil), say('ok'), run(`touch ${outside}`), say('ok')]);
	const home = makeHome(t, model, `[projects."${cwd}"]\ntrust_level = "trusted"\n[sandbox_workspace_write]\n`
		+ 'exclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n');
	await runCodex(t, ['exec', 'write'], { home, cwd });
	assert.ok(fs.existsSync(path.join(cwd, 'sub/.codex/rules/x.rules')), 'the command may write there');
	const later = await runCodex(t, ['exec', 'go'], { home, cwd: path.join(cwd, 'sub/deep') });
	assert.equal(fs.existsSync(outside), false, later.stderr);
	assert.match(later.stderr, /sandbox: workspace-write/);
	assert.match(later.stderr, /`sandbox_mode` is ignored/);
});

test('rules can be tried without running anything', needs('execpolicy'), async (t) => {
	const file = path.join(tempDir(t, 'rules'), 'a.rules');
	fs.writeFileSync(file, 'prefix_rule(["git", ["push", "pull"]], "prompt", justification="say \\"why\\"")\n' +
		'prefix_rule(["git"])\n');
	const check = (...args) => runCodex(t, ['execpolicy', 'check', ...args]);
	const matches = {
		matchedRules: [
			{ prefixRuleMatch: { matchedPrefix: ['git', 'push'], decision: 'prompt', justification: 'say "why"' } },
			{ prefixRuleMatch: { matchedPrefix: ['git'], decision: 'allow' } },
		],
		decision: 'prompt',
	};
	const { code, stdout } = await check('--rules', file, 'git', 'push', '--force');
	assert.deepEqual([code, JSON.parse(stdout)], [0, matches]);
	assert.deepEqual(JSON.parse((await check('--rules', file, '--', 'git', 'push')).stdout), matches);
	assert.equal((await check('--rules', file, '--')).code, 2);
	const pretty = await check('--pretty', '-r', file, 'git', 'push');
	assert.equal(pretty.stdout, JSON.stringify(matches, null, 2) + '\n');
	assert.equal((await check('--rules', file, 'ls', '-l')).stdout, '{"matchedRules":[]}\n');
	assert.equal((await check('--rules', file + 'x', 'ls')).code, 1);
	assert.equal((await check('ls')).code, 2);
	fs.appendFileSync(file, 'prefix_rule()\n');
	assert.match((await check('--rules', file, 'ls')).stderr, /a\.rules:3: /);
});
