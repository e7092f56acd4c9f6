// Sessions of Claude Code: found by `codex import` and externalAgentConfig/detect, imported as sessions that lists show
// and that continue with their whole conversation.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer } from './lib/app_server.mjs';
import { codexExec, makeHome, needs, readLines, rollouts, runCodex, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { lacksEmulator, leave, startReady } from './lib/terminal.mjs';

const options = needs('app-server');
const DAY = 86_400_000, FOLDER = '.claude/projects/-repo', LEDGER = 'external_agent_session_imports.json';
const user = (content, more = {}) => ({ type: 'user', message: { role: 'user', content }, ...more });
const agent = (content, more = {}) => ({ type: 'assistant', message: { role: 'assistant', content }, ...more });
const use = (name, input) => agent([{ type: 'tool_use', id: 'toolu_1', name, input }]);
const output = (content, more = {}) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content, ...more });
const title = (customTitle) => ({ type: 'custom-title', customTitle });

/** A home of Claude Code; put writes a session of these lines, whose file was changed some days ago. */
async function begin(t, config = '') {
	const home = tempDir(t, 'user'), repo = fs.realpathSync(tempDir(t, 'repo')), codex = makeHome(t, null, config);
	const write = (file, lines, days = 0) => {
		let at = Date.now() - days * DAY - 3_600_000;
		const text = lines.map((line) => typeof line === 'string' ? line
			: JSON.stringify({ cwd: repo, timestamp: new Date(at += 1000).toISOString(), ...line })).join('\n');
		fs.mkdirSync(path.dirname(file), { recursive: true });
		fs.appendFileSync(file, `${text}\n`);
		const changed = new Date(Date.now() - days * DAY);
		fs.utimesSync(file, changed, changed);
		return file;
	};
	const put = (name, lines, days) => write(path.join(home, FOLDER, `${name}.jsonl`), lines, days);
	const server = await startAppServer(t, null, { home: codex, env: { HOME: home } });
	const detect = async (params = {}) => (await server.request('externalAgentConfig/detect', { includeHome: true, ...params })).items;
	const carry = async (details) => {
		await server.request('externalAgentConfig/import', { migrationItems: [{ itemType: 'SESSIONS', description: '', cwd: null, details }] });
		const { params } = await server.next('externalAgentConfig/import/completed');
		return params.itemTypeResults[0];
	};
	return { home, repo, codex, put, server, detect, carry };
}
const sessionsOf = (items) => items.flatMap(({ details }) => details.sessions);
const titles = (items) => sessionsOf(items).map((session) => session.title);
const events = (file) => readLines(file).filter(({ type }) => type === 'event_msg').map(({ payload }) => payload);
const saidIn = (file) => events(file).filter(({ message }) => message).map(({ message }) => message);
const failuresOf = ({ failures }) => failures.map(({ failureStage, source, message }) => `${failureStage} ${path.basename(source)}: ${message}`);

test('a session is found with its folder and title, imported, listed, read and continued', options, async (t) => {
	const { home, repo, codex, put, server, detect, carry } = await begin(t);
	const file = put('one', [user('First question\nmore'), use('Bash', { command: 'ls', description: 'List' }), user([output('a.txt')]),
		agent([{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'First answer.' }]), user('Second question'), agent('Second answer.'),
		title('old'), title(' The  title ')], 3);
	const items = await detect();
	assert.deepEqual(items, [{ itemType: 'SESSIONS', description: `Migrate recent sessions from ${home}/.claude/projects to ${codex}/sessions`, cwd: null,
		details: { plugins: [], sessions: [{ path: file, cwd: repo, title: 'The  title' }], mcpServers: [], hooks: [], skills: [], commands: [],
			subagents: [] } }]);
	const before = fs.readFileSync(file);
	const { successes, failures } = await carry(items[0].details);
	const id = successes[0].target;
	assert.deepEqual([successes, failures], [[{ itemType: 'SESSIONS', cwd: repo, source: file, target: id, title: 'The  title' }], []]);
	assert.deepEqual(fs.readFileSync(file), before, 'the original stays as it is');
	const [record] = JSON.parse(fs.readFileSync(path.join(codex, LEDGER))).records;
	assert.deepEqual([record.source_path, record.imported_thread_id, record.title], [file, id, 'The  title']);
	assert.deepEqual(await detect(), [], 'it is not offered again');

	const { data: [listed] } = await server.request('thread/list', {});
	assert.deepEqual([listed.id, listed.name, listed.cwd, listed.preview, listed.modelProvider], [id, 'The  title', repo, 'First question\nmore', 'mock']);
	assert.ok(Math.abs(listed.updatedAt * 1000 - (Date.now() - 3 * DAY)) < DAY / 2, 'it was last used when it was last used there');
	const { thread } = await server.request('thread/read', { threadId: id, includeTurns: true });
	assert.deepEqual(thread.turns.map(({ id, status }) => [id, status]), [1, 2].map((n) => [`external-import-turn-${n}`, 'completed']));
	assert.deepEqual(thread.turns[1].items.map(({ type, text, content }) => text ?? content[0].text ?? type),
		['Second question', 'Second answer.', '<EXTERNAL SESSION IMPORTED>']);
	assert.equal((await server.end()).code, 0);

	const model = await startModel(t, [say('Third answer.')]);
	fs.writeFileSync(path.join(codex, 'config.toml'), fs.readFileSync(path.join(makeHome(t, model), 'config.toml')));
	const { code, stderr } = await codexExec(t, model, ['resume', id, 'Third question'], { home: codex, cwd: repo });
	assert.equal(code, 0, stderr);
	const [request] = model.requests();
	assert.deepEqual(textsOf(request, 'user').filter((text) => text.includes('question')), ['First question\nmore', 'Second question', 'Third question']);
	assert.deepEqual(textsOf(request, 'assistant'), ['[external_agent_tool_call: Bash]\ndescription: List\ncommand: ls\n[/external_agent_tool_call]',
		'[external_agent_tool_result]\na.txt\n[/external_agent_tool_result]', 'First answer.', 'Second answer.'], 'without the marker');
});

test('an imported session continues in the terminal', { skip: lacksEmulator() || options.skip, timeout: 60_000 }, async (t) => {
	const { codex, repo, put, server, carry } = await begin(t);
	put('one', [user('How many pears?'), agent('Seven pears.')]);
	const { successes: [{ target }] } = await carry(null);
	await server.end();
	const model = await startModel(t, [say('unused')]);
	fs.writeFileSync(path.join(codex, 'config.toml'), fs.readFileSync(path.join(makeHome(t, model), 'config.toml')));
	const term = await startReady(t, model, ['resume', target], { home: codex, cwd: repo });
	await term.until(/› How many pears\?\n\n• Seven pears\./);
	await leave(term);
});

test('a title is the user’s, the agent’s or the first line that the user has written', options, async (t) => {
	const { put, detect } = await begin(t);
	const long = `${'é'.repeat(70)}\nx`;
	const rows = [[[title('mine'), { type: 'ai-title', aiTitle: 'theirs' }], 'mine'], [[{ type: 'ai-title', aiTitle: 'theirs' }], 'theirs'],
		[[{ type: 'summary', summary: 's' }], 'Question'], [[title('   ')], 'Question'], [[title(5)], 'Question']];
	rows.forEach(([more], i) => put(`${i}`, [user(' \n Question \nline'), agent('A'), ...more], i / 10));
	put('command', [user('<command-name>/init</command-name>'), user('After it'), agent('A')], 0.7);
	put('long', [user(long), agent('A')], 0.8);
	put('image', [user([{ type: 'image', source: {} }]), agent('A')], 0.9);
	assert.deepEqual(titles(await detect()), [...rows.map(([, wanted]) => wanted), 'After it', `${'é'.repeat(58)}...`,
		'[external unsupported block: image]']);
});

test('the newest files of the last 30 days are found; a client asks for others', options, async (t) => {
	const { put, detect, carry, server } = await begin(t);
	for (let i = 0; i < 60; i++)
		put(`n${i}`, [user(`${i}`), agent('A')], i / 100);
	put('old', [user('old'), agent('A')], 40);
	assert.deepEqual(titles(await detect()), Array(50).fill().map((_, i) => `${i}`));
	assert.deepEqual(titles(await detect({ maxSessions: 2 })), ['0', '1']);
	assert.deepEqual(await detect({ maxSessions: 0 }), []);
	assert.equal(titles(await detect({ maxSessions: 1000, maxSessionAgeDays: 0 })).length, 60, 'a day is the least');
	for (const maxSessionAgeDays of [50, Number.MAX_SAFE_INTEGER])
		assert.equal(titles(await detect({ maxSessions: 1000, maxSessionAgeDays })).at(-1), 'old');
	await assert.rejects(server.request('externalAgentConfig/detect', { includeHome: true, maxSessions: -1 }), /cannot be negative/);
	assert.deepEqual(await detect({ includeHome: false, cwds: ['/'] }), []);
	assert.equal((await carry(null)).successes.length, 50, 'without a list, those that a detection finds');
	assert.equal(titles(await detect()).length, 10, 'the next ones');
});

test('files without a session do not count, and a folder that is too large does not hide the others', options, async (t) => {
	const { home, put, detect, server } = await begin(t);
	put('real', [user('Real'), agent('A')], 1);
	for (let i = 0; i < 60; i++)
		put(`agent-${i}`, [user('side', { isSidechain: true })]);
	assert.deepEqual(titles(await detect()), ['Real']);
	for (let i = 0; i < 600; i++) {
		fs.mkdirSync(path.join(home, '.claude/projects/-a', `${i}`), { recursive: true });
		fs.writeFileSync(path.join(home, '.claude/projects/-a', `${i}.jsonl`), '');
	}
	assert.equal((await detect())[0].description.slice(0, 7), 'Migrate', '600 files and 600 folders are not too many');
	for (let i = 600; i < 1030; i++)
		fs.writeFileSync(path.join(home, '.claude/projects/-a', `${i}.jsonl`), '');
	for (let i = 0; i < 1030; i++)
		fs.utimesSync(path.join(home, '.claude/projects/-a', `${i}.jsonl`), new Date(0), new Date(0));
	const [item] = await detect();
	assert.match(item.description, /^Cannot migrate all recent sessions: .*-a has more than 1024 entries/);
	assert.deepEqual(titles([item]), ['Real']);
	const sessions = Array(1025).fill({ path: '/x', cwd: '/' });
	await server.request('externalAgentConfig/import', { migrationItems: [{ itemType: 'SESSIONS', description: '', cwd: null, details: { sessions } }] });
	const { params } = await server.next('externalAgentConfig/import/completed');
	assert.equal(params.itemTypeResults[0].failures[0].message, 'the list of its parts is too long');
});

test('a long list of long titles is shown, imported and recorded; two imports at once import each session once', options, async (t) => {
	const { home, codex, put, server } = await begin(t);
	for (let i = 0; i < 50; i++)
		put(`n${i}`, [user('Q'), agent('A'), title(`${i} ${'T"'.repeat(500)}`)], i / 100);
	const run = (...args) => runCodex(t, ['import', ...args], { home: codex, env: { HOME: home } });
	const shown = await run();
	assert.deepEqual([shown.code, shown.stderr, shown.stdout.match(/^ {2}\d+ T"/gm).length], [0, '', 50]);
	await server.request('externalAgentConfig/import', { migrationItems: [{ itemType: 'SESSIONS', description: '', cwd: null, details: null }] });
	await server.next('externalAgentConfig/import/completed');
	const { data } = await server.request('externalAgentConfig/import/readHistories', {});
	assert.equal(data[0].successes.length, 50);

	for (let i = 0; i < 30; i++)
		put(`more${i}`, [user('Q'), agent('A')]);
	const both = await Promise.all([run('--apply'), run('--apply')]);
	assert.equal(both.map(({ stdout }) => stdout.match(/^ {2}imported: /gm)?.length ?? 0).reduce((a, b) => a + b), 30);
	assert.equal(rollouts(codex).length, 80);
	assert.equal(JSON.parse(fs.readFileSync(path.join(codex, LEDGER))).records.length, 80);
});

test('what is no conversation of the user is not found, and broken lines are left out', options, async (t) => {
	const { home, repo, put, detect, carry, codex } = await begin(t);
	put('empty', ['']);
	put('garbage', ['garbage', '{"type":"user"', '[]', '5', '{"type":"user","message":{"content":{"a":1}}}', '\u0000']);
	put('agent-only', [agent('A'), user([output('x')])]);
	put('meta', [user('meta', { isMeta: true }), user('side', { isSidechain: true })]);
	put('gone', [user('Q', { cwd: '/nowhere/x' })]);
	put('relative', [user('Q', { cwd: 'x' })]);
	put('nul', [user('Q', { cwd: '/tmp\0x' })]);
	put('none', [user('Q', { cwd: undefined })]);
	fs.mkdirSync(path.join(home, FOLDER, 'folder.jsonl'));
	fs.mkdirSync(path.join(home, FOLDER, 'sub'));
	fs.writeFileSync(path.join(home, FOLDER, 'sub/x.jsonl'), '');
	fs.writeFileSync(path.join(home, FOLDER, 'text.txt'), '');
	fs.writeFileSync(path.join(home, '.claude/projects/file'), '');
	const good = put('good', ['garbage', agent('before'), user('Real', { cwd: repo }), '{"type":', { type: 'system', content: 's' }, user('  '),
		user('meta', { isMeta: true }), user('side', { isSidechain: true }), agent([{ type: 'text', text: '' }]), agent('Answer'),
		agent('x'.repeat(9 << 20)),
		user('later', { cwd: '/', timestamp: 'x' })]);
	assert.deepEqual(sessionsOf(await detect()), [{ path: good, cwd: repo, title: 'Real' }]);
	await carry(null);
	const [file] = rollouts(codex);
	assert.deepEqual(saidIn(file), ['Real', 'Answer', 'later', '<EXTERNAL SESSION IMPORTED>']);
	assert.equal(events(file).filter(({ type }) => type === 'task_started').at(-1).started_at, undefined, 'an unknown time');
	assert.equal(fs.statSync(file).mode & 0o777, 0o600);
});

test('calls and outputs become text of bounded length', options, async (t) => {
	const { put, carry, codex } = await begin(t);
	const parts = [{ type: 'text', text: 'r1' }, { type: 'image' }, { type: 'text', text: 'r2' }];
	put('one', [user('Q'), use('Edit', { file_path: '/a', old_string: 'x' }), user([output(parts)]),
		use('Grep', { pattern: 'p'.repeat(9000) }),
		user([output('é'.repeat(9000), { is_error: true })]), user([output('')]),
	agent([{ type: 'text', text: 'a' }, { type: 'redacted_thinking' }, { type: `u${'n'.repeat(99)}` }]),
	user([output('both'), { type: 'text', text: 'and words' }]),
	agent([5, null, {}, { type: 'tool_use', name: 7, input: [] }])]);
	await carry(null);
	const said = events(rollouts(codex)[0]).filter(({ message }) => message).map(({ type, message }) => `${type[0]} ${message}`);
	assert.equal(said[1], 'a [external_agent_tool_call: Edit]\nfile: /a\n[/external_agent_tool_call]');
	assert.equal(said[2], 'a [external_agent_tool_result]\nr1\nr2\n[/external_agent_tool_result]');
	assert.match(said[3], /^a \[external_agent_tool_call: Grep\]\ninput: \{"pattern":"p{3985}\.\.\.\n\[\/external/);
	assert.match(said[4], /^a \[external_agent_tool_result: error\]\né{1998}\.\.\.\n\[\/external/, 'no half character');
	assert.equal(said[5], 'a [external_agent_tool_result]\n[/external_agent_tool_result]');
	assert.match(said[6], /^a a\n\n\[external unsupported block: redacted_thinking\]\n\n\[external unsupported block: un{63}\]$/);
	assert.deepEqual(said.slice(7, 9), ['a [external_agent_tool_result]\nboth\n[/external_agent_tool_result]', 'u and words'],
		'an output is not the user’s words');
	assert.match(said[9], /\[external_agent_tool_call: \]\ninput: \[\]\n/);
	const { info } = events(rollouts(codex)[0]).find(({ type }) => type === 'token_count');
	assert.ok(info.total_token_usage.total_tokens > 2000, 'the next turn knows the length of the history');
});

test('what was added to a session is imported once more into the same one, unless it was continued here', options, async (t) => {
	const { repo, codex, put, server, detect, carry } = await begin(t);
	put('one', [user('Q1'), agent('A1')], 1);
	const { successes: [{ target }] } = await carry(null);
	assert.deepEqual(failuresOf(await carry({ sessions: [{ path: path.join(repo, 'x'), cwd: repo }] })),
		['session_missing x: there is no session of Claude Code at this path']);
	put('one', [agent('A2'), user('Q3'), agent('A3')], 0.5);
	assert.deepEqual(titles(await detect()), ['Q1']);
	const { successes: [again] } = await carry((await detect())[0].details);
	assert.equal(again.target, target);
	assert.equal(rollouts(codex).length, 1);
	assert.deepEqual(saidIn(rollouts(codex)[0]),
		['Q1', 'A1', '<EXTERNAL SESSION IMPORTED>', 'A2', 'Q3', 'A3']);
	assert.deepEqual(events(rollouts(codex)[0]).filter(({ type }) => type === 'task_started').map(({ turn_id }) => turn_id.slice(-1)), ['1', '2', '3']);
	assert.equal(JSON.parse(fs.readFileSync(path.join(codex, LEDGER))).records.length, 1);
	assert.deepEqual(await detect(), []);
	await server.end();

	const model = await startModel(t, [say('ours')]);
	fs.writeFileSync(path.join(codex, 'config.toml'), fs.readFileSync(path.join(makeHome(t, model), 'config.toml')));
	assert.equal((await codexExec(t, model, ['resume', target, 'here'], { home: codex, cwd: repo })).code, 0);
	const file = put('one', [user('Q4'), agent('A4')]), length = fs.statSync(rollouts(codex)[0]).size;
	const run = (...args) => runCodex(t, ['import', ...args], { home: codex, cwd: repo, env: { HOME: path.resolve(file, '../../../..') } });
	assert.match((await run()).stdout, /^Migrate recent sessions from .*\n {2}Q1\n/);
	assert.match((await run('--apply')).stdout, /not all: \S+one\.jsonl: it was continued here since it was imported; nothing was added/);
	assert.equal(fs.statSync(rollouts(codex)[0]).size, length);
	fs.rmSync(rollouts(codex)[0]);
	assert.match((await run('--apply')).stdout, / {2}imported: \S+one\.jsonl\n/, 'a session that the user deleted is a new one');
	assert.equal(rollouts(codex).length, 1);
});

test('an unusable list of imports, files beyond the limits, and links in place of ours are refused with the reason', options, async (t) => {
	const { home, codex, put, detect, carry } = await begin(t);
	const large = put('large', [user('Q')]), small = put('small', [user('Small'), agent('A')], 0.1);
	fs.truncateSync(large, (64 << 20) + 1);
	const [item] = await detect();
	assert.match(item.description, /^Cannot migrate all recent sessions: .*large\.jsonl is larger than 67108864 bytes/);
	assert.deepEqual(item.details.sessions.map((session) => session.path), [small]);
	assert.match(failuresOf(await carry({ sessions: [{ path: large, cwd: '/' }] }))[0], /^import large\.jsonl: .* is larger than 67108864 bytes/);
	fs.truncateSync(large, 0);

	const ledger = path.join(codex, LEDGER);
	for (const text of ['{"records":', '[]']) {
		fs.writeFileSync(ledger, text);
		assert.match((await detect())[0].description, /^Cannot migrate all recent sessions: .*external_agent_session_imports\.json/);
		assert.equal((await carry(null)).successes.length, 0);
		assert.equal(fs.readFileSync(ledger, 'utf8'), text, 'it is not replaced');
	}
	const theirs = { records: [{ source_path: '/x', more: 1 }], detected_connector_records: [{ a: 1 }] };
	fs.writeFileSync(ledger, JSON.stringify(theirs));
	assert.equal((await carry(null)).successes.length, 1);
	const now = JSON.parse(fs.readFileSync(ledger));
	assert.deepEqual([now.records.length, now.records[0], now.detected_connector_records], [2, theirs.records[0], theirs.detected_connector_records]);
	assert.equal(fs.statSync(ledger).mode & 0o777, 0o600);

	fs.renameSync(ledger, path.join(home, 'ledger'));
	fs.symlinkSync(path.join(home, 'ledger'), ledger);
	assert.match((await detect())[0].description, /^Cannot migrate all recent sessions: .*reached by a symbolic link/);
	fs.unlinkSync(ledger);

	for (let i = 0; i < 1030; i++)
		fs.writeFileSync(path.join(home, FOLDER, `${i}.jsonl`), '');
	assert.match((await detect())[0].description, /^Cannot migrate all recent sessions: .*-repo has more than 1024 entries/);
});

test('a folder of sessions that is no folder, and an import without a place to write, change nothing', options, async (t) => {
	const { home, codex, put, carry, detect } = await begin(t);
	put('one', [user('Q'), agent('A')]);
	fs.writeFileSync(path.join(codex, 'sessions'), '');
	assert.match(failuresOf(await carry(null))[0], /^import one\.jsonl: .*sessions/);
	assert.ok(!fs.existsSync(path.join(codex, LEDGER)));
	fs.rmSync(path.join(home, '.claude/projects'), { recursive: true });
	fs.writeFileSync(path.join(home, '.claude/projects'), 'text');
	assert.deepEqual(await detect(), []);
});
