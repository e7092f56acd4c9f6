// Roles of subagents: [agents.NAME] and agents/NAME.toml, from the configuration to the subagent's requests.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer, text } from './lib/app_server.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { codexExec, makeHome, needs, outputOf, rollouts, runCodex, say, startModel, tempDir, textsOf } from './lib/codex.mjs';

const exec = needs('exec'), server = needs('app-server');
const spawn = (args) => ({ call: 'spawn_agent', arguments: { message: 'count pears', ...args } });
const asks = (model) => model.requests().filter(({ body }) => JSON.stringify(body.input).includes('count pears') &&
	!JSON.stringify(body.input).includes('ROOT'));
const root = (model) => model.requests().findLast(({ body }) => JSON.stringify(body.input).includes('ROOT'));
const agentTypes = (model) => model.requests()[0].body.tools.find(({ type }) => type === 'namespace').tools
	.find(({ name }) => name === 'spawn_agent').parameters.properties.agent_type;

/** A model whose root makes these calls, waits for the first agent, and ends; each subagent takes these steps. */
const script = (t, calls, child = [{ message: 'Five.' }]) => startModel(t, [
	{ when: { contains: 'count pears', lacks: 'ROOT' }, reply: child, times: 'forever' },
	{ reply: calls },
	{ take: { agent: { from: 'input', after: '"agent_id\\":\\"' } },
		reply: [{ call: 'wait_agent', arguments: { targets: ['{agent}'] } }] },
	{ ...say('Done.'), times: 'forever' },
]);

/** CODEX_HOME with these files beside config.toml. */
function home(t, model, config, files = {}) {
	const dir = makeHome(t, model, `model = "gpt-5.4"\nmodel_reasoning_effort = "medium"\n${config}`);
	for (const [name, content] of Object.entries(files)) {
		fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
		fs.writeFileSync(path.join(dir, name), content);
	}
	return dir;
}

const SCOUT = `[agents.scout]
description = "Looks around."
config_file = "scout.toml"
nickname_candidates = ["Vasco da Gama"]
`;
const scout = `model = "gpt-5.5"
model_reasoning_effort = "high"
developer_instructions = "Be a scout."
sandbox_mode = "danger-full-access"
approval_policy = "on-request"
`;

test('a subagent gets the settings of its role, above those of the call; the sandbox stays that of its parent', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'scout', model: 'gpt-5.4', reasoning_effort: 'low' })]);
	const dir = home(t, model, SCOUT, { 'scout.toml': scout });
	const run = await codexExec(t, model, ['-s', 'read-only', 'ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	assert.equal(run.stdout, 'Done.\n');
	assert.match(agentTypes(model).description,
		/\nscout: \{\nLooks around\.\n- Its model is always `gpt-5\.5`\.\n- Its reasoning effort is always `high`\.\n\}/);
	assert.match(agentTypes(model).description, /\nworker: \{/);
	const [first] = asks(model);
	assert.equal(first.body.model, 'gpt-5.5');
	assert.equal(first.body.reasoning.effort, 'high');
	assert.ok(textsOf(first, 'developer').includes('Be a scout.'));
	assert.ok(!textsOf(root(model), 'developer').includes('Be a scout.'));
	assert.deepEqual([first, root(model)].map((it) => /Sandbox: `([a-z-]*)`/.exec(textsOf(it, 'developer').join('\n'))?.[1]), ['read-only', 'read-only']);
	const spawned = root(model).body.input.find(({ name }) => name === 'spawn_agent');
	assert.equal(JSON.parse(outputOf(root(model), spawned.call_id)).nickname, 'Vasco da Gama');
	const source = rollouts(dir).map((file) => JSON.parse(fs.readFileSync(file, 'utf8').split('\n')[0]).payload)
		.find(({ agent_role }) => agent_role);
	assert.equal(source.agent_role, 'scout');
	assert.equal(source.source.subagent.thread_spawn.agent_role, 'scout');
});

test('a role narrows the sandbox', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'reader' })]);
	const dir = home(t, model, '[agents.reader]\ndescription = "reads"\nconfig_file = "r.toml"\n', { 'r.toml': 'sandbox_mode = "read-only"\n' });
	const run = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	assert.match(textsOf(asks(model)[0], 'developer').join('\n'), /Sandbox: `read-only`/);
});

test('an unknown role, and a role for a copy of the conversation, are errors; the built-in roles have no settings', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'worker' }), spawn({ agent_type: 'nosuch' }),
		spawn({ agent_type: 'scout', fork_context: true })]);
	const dir = home(t, model, SCOUT, { 'scout.toml': scout });
	const run = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	const calls = root(model).body.input.filter(({ name }) => name === 'spawn_agent');
	const [worker, nosuch, fork] = calls.map(({ call_id: id }) => outputOf(root(model), id));
	assert.match(worker, /agent_id/);
	assert.match(nosuch, /^unknown agent_type 'nosuch'\. Choose a known one \(`scout`, `default`, `explorer`, `worker`\), or omit agent_type/);
	assert.match(fork, /^A fork with the history keeps the role of its parent/);
	assert.deepEqual(asks(model).map(({ body }) => body.model), ['gpt-5.4']);
});

test('a role in a file of its own; without roles there is no argument for them', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'pears' })]);
	const dir = home(t, model, '', { 'agents/b.toml': 'name = "pears"\ndescription = "Counts."\nmodel = "gpt-5.5"\n',
		'agents/plain.toml': 'description = "Plain."\n', 'agents/.hidden.toml': 'x', 'agents/note.txt': 'x' });
	const run = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	assert.doesNotMatch(run.stderr, /role/);
	assert.match(agentTypes(model).description, /\npears: \{\nCounts\.[^}]*\}\nplain: \{\nPlain\.\n\}\ndefault/);
	assert.equal(asks(model)[0].body.model, 'gpt-5.5');
	const plain = await startModel(t, [say('ok')]);
	assert.equal((await codexExec(t, plain, ['--ignore-user-config', '-c', 'model_provider="mock"',
		'-c', `model_providers.mock={name="mock",base_url="${plain.url}"}`, 'ROOT'], { home: dir })).code, 0);
	assert.equal(agentTypes(plain), undefined);
});

test('a role of the user that is left out keeps its name; a file that commands may write to only narrows', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'open' })]);
	const cwd = tempDir(t, 'project'), shared = fs.mkdtempSync('/var/tmp/codex-roles-');
	t.after(() => fs.rmSync(shared, { recursive: true }));
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.mkdirSync(path.join(cwd, '.codex/agents'), { recursive: true });
	fs.writeFileSync(path.join(cwd, '.codex/agents/scout.toml'), 'description = "Theirs."\n');
	fs.writeFileSync(path.join(shared, 'open.toml'), 'model_provider = "mock"\n');
	const config = `[agents.scout]\n[agents.open]\ndescription = "x"\nconfig_file = "${shared}/open.toml"\n` +
		`[projects."${cwd}"]\ntrust_level = "trusted"\n`;
	const asked = async (more) => {
		const run = await codexExec(t, model, ['ROOT'], { home: home(t, model, config + more), cwd });
		assert.equal(run.code, 0, run.stderr);
		assert.match(run.stderr, /the agent role `scout` is ignored: there is another one of this name/);
		return run.stderr;
	};
	assert.match(await asked(`[sandbox_workspace_write]\nwritable_roots = ["${shared}"]\n`), /open\.toml:1: `model_provider` is ignored/);
	assert.doesNotMatch(agentTypes(model).description, /Theirs/);
	assert.doesNotMatch(await asked(''), /open\.toml/);
});

test('a role that cannot be used is left out, and a warning says why', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const config = `[agents.none]
[agents.blank]
description = " "
[agents.names]
description = "x"
nickname_candidates = []
[agents.twice]
description = "x"
nickname_candidates = ["A", "A"]
[agents.sign]
description = "x"
nickname_candidates = ["A!"]
[agents.gone]
description = "x"
config_file = "gone.toml"
[agents.pipe]
description = "x"
config_file = "pipe"
[agents.folder]
description = "x"
config_file = "agents"
[agents.typed]
description = "x"
config_file = "typed.toml"
[agents.large]
description = "x"
config_file = "large.toml"
[agents.nomodel]
description = "x"
config_file = "nomodel.toml"
[agents."s/ign"]
description = "x"
[agents.good]
description = "x"
`;
	const dir = home(t, model, config, { 'typed.toml': 'model = 3\n', 'large.toml': '#'.repeat(64 * 1024 + 1),
		'nomodel.toml': 'model = ""\n', 'agents/torn.toml': 'description = "x\n' });
	spawnSync('mkfifo', [path.join(dir, 'pipe')]);
	const run = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	const ignored = [...run.stderr.matchAll(/the agent role `([\w/]+)` is ignored: (.*)/g)].map(([, name, why]) => [name, why]);
	assert.deepEqual(ignored.map(([name]) => name).toSorted(),
		['blank', 'folder', 'gone', 'large', 'names', 'nomodel', 'none', 'pipe', 's/ign', 'sign', 'torn', 'twice', 'typed']);
	assert.match(ignored.find(([name]) => name === 'typed')[1], /typed\.toml:1: `model` must be a string/);
	assert.match(ignored.find(([name]) => name === 'gone')[1], /gone\.toml/);
	for (const name of ['pipe', 'folder'])
		assert.match(ignored.find((it) => it[0] === name)[1], new RegExp(`/${name === 'pipe' ? name : 'agents'} is not a regular file$`));
	assert.match(agentTypes(model).description, /\nRoles:\ngood: /);
	const wrong = await codexExec(t, model, ['-c', 'agents.x={description=3}', 'ROOT'], { home: dir });
	assert.equal(wrong.code, 1);
	assert.match(wrong.stderr, /agents\.x\.description/);
});

test('an unknown word of agents.default_subagent_reasoning_effort is ignored with a warning', exec, async (t) => {
	const model = await script(t, [spawn()]);
	const dir = home(t, model, '[agents]\ndefault_subagent_reasoning_effort = "huge"\n', {});
	const { code, stderr } = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(code, 0, stderr);
	assert.match(stderr, /agents\.default_subagent_reasoning_effort is ignored: `huge` is not one of none, minimal, low, [^\n]* ultra\n/);
	const known = await codexExec(t, model, ['-c', 'agents.default_subagent_reasoning_effort="low"', 'ROOT'], { home: dir });
	assert.doesNotMatch(known.stderr, /default_subagent_reasoning_effort/);
});

test('hooks, servers, features and unknown keys have no effect in a role, and a warning says so', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'sly' })]);
	const dir = home(t, model, '[features]\nview_image = true\n', { 'agents/sly.toml': `description = "Sly."
developer_instructions = "SLY"
features.hooks = false
model_catalog_json = "/x"
moodel = "y"
[hooks.state."/x:pre_tool_use:0:0"]
trusted_hash = "sha256:00"
[mcp_servers.evil]
command = "touch"
[auto_review]
policy = "Allow all."
` });
	const run = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	assert.deepEqual([...run.stderr.matchAll(/sly\.toml:\d+: `(\w+)` has no effect in the role of an agent/g)].map(([, key]) => key),
		['features', 'model_catalog_json', 'hooks', 'mcp_servers', 'auto_review']);
	assert.match(run.stderr, /sly\.toml: unknown settings are ignored: `moodel` \(line 5\)\n/);
	assert.ok(textsOf(asks(model)[0], 'developer').includes('SLY'));
	assert.ok(!JSON.stringify(asks(model)[0].body.tools).includes('list_mcp_resources'));
});

test('an unknown provider is found when the configuration is read; an effort is any word', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'b' })]);
	const dir = home(t, model, '', { 'agents/a.toml': 'description = "x"\nmodel_provider = "nope"\n',
		'agents/b.toml': 'description = "x"\nmodel_reasoning_effort = "hard"\n', 'agents/c.toml': 'description = "x"\nmodel_provider = "mock"\n' });
	const run = await codexExec(t, model, ['ROOT'], { home: dir });
	assert.equal(run.code, 0, run.stderr);
	assert.match(run.stderr, /the agent role `a` is ignored: .*a\.toml:2: model provider `nope` not found; add \[model_providers\.nope\]/);
	assert.match(agentTypes(model).description, /\nRoles:\nb: \{\nx\n- Its reasoning effort is always `hard`\.\n\}\nc: \{\nx\n\}\ndefault/);
	assert.deepEqual([root(model).body.reasoning.effort, asks(model)[0].body.reasoning.effort], ['medium', 'hard']);
});

test('a subagent searches no more widely than its parent, by its role, its model or a replaced table', exec, async (t) => {
	const searchOf = (request) => request.body.tools.find(({ type }) => type === 'web_search');
	const ask = async (config, role) => {
		const model = await script(t, [spawn({ agent_type: 'r' })]);
		const dir = home(t, model, config, { 'agents/r.toml': `description = "x"\n${role}` });
		const run = await codexExec(t, model, ['-s', 'read-only', 'ROOT'], { home: dir });
		assert.equal(run.code, 0, run.stderr);
		return { run, own: searchOf(root(model)), child: searchOf(asks(model)[0]) };
	};
	const unknown = await ask('profile = "p"\n[profiles.p]\nmodel = "nobody"\n', 'model = "gpt-5.5"\n');
	assert.deepEqual([unknown.own, unknown.child], [undefined, undefined]);
	const capped = await ask('', 'web_search = "live"\n');
	assert.deepEqual([capped.own.external_web_access, capped.child.external_web_access], [false, false]);
	assert.doesNotMatch((await ask('', 'web_search = "cached"\n')).run.stderr, /ignored/);
	const domains = '[tools.web_search]\nenabled = true\nallowed_domains = ["a.example"]\n';
	for (const more of ['', 'web_search = "live"\n']) {
		const off = await ask(more + domains, '[tools]\nweb_search = false\n');
		assert.deepEqual([off.child, off.own.filters], [undefined, { allowed_domains: ['a.example'] }]);
		assert.doesNotMatch(off.run.stderr, /ignored/);
		assert.deepEqual((await ask(more + domains, '[tools]\nweb_search = true\n')).child.filters, { allowed_domains: ['a.example'] });
	}
	assert.match((await ask(domains, '[tools.web_search]\nallowed_domains = ["b.example"]\n')).run.stderr, /`tools\.web_search` is ignored/);
});

test('unknown keys of a role are warnings, and errors with --strict-config', exec, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), times: 'forever' }]);
	const strict = async (config, files) => {
		const dir = home(t, model, config, files);
		const lenient = await codexExec(t, model, ['ROOT'], { home: dir });
		assert.equal(lenient.code, 0, lenient.stderr);
		const run = await codexExec(t, model, ['--strict-config', 'ROOT'], { home: dir });
		assert.equal(run.code, 1);
		return [run.stderr, lenient.stderr];
	};
	const [table, warned] = await strict('[agents.x]\ndescription = "x"\nnicknames = ["A"]\n');
	assert.match(table, /unknown configuration field `agents\.x\.nicknames`/);
	assert.match(warned, /unknown settings are ignored: `agents\.x\.nicknames`/);
	assert.match((await strict('', { 'agents/x.toml': 'description = "x"\nmodell = "y"\n' }))[0],
		/x\.toml:2: unknown configuration field `modell`/);
	assert.match((await strict('', { 'agents/x.toml': 'description = "x"\n[skills]\nextra = 1\n' }))[0],
		/x\.toml:3: unknown configuration field `skills\.extra`/);
	const fine = await codexExec(t, model, ['--strict-config', 'ROOT'],
		{ home: home(t, model, '', { 'agents/x.toml': 'description = "x"\nhooks = {}\n' }) });
	assert.equal(fine.code, 0, fine.stderr);
});

test('search, tools and skills of a role narrow those of its parent, at each depth', exec, async (t) => {
	const off = 'description = "x"\nweb_search = "disabled"\n[tools]\nview_image = false\n';
	const on = 'description = "x"\nweb_search = "live"\n[tools]\nview_image = true\n[skills]\nextra_roots = ["/opt"]\n';
	const toolsOf = (request) => request.body.tools.map(({ name, type }) => name ?? type);
	const first = await script(t, [spawn({ agent_type: 'off' })]);
	const files = { 'agents/off.toml': off, 'agents/on.toml': on };
	const config = 'web_search = "cached"\nagents.max_depth = 3\n';
	const run = await codexExec(t, first, ['ROOT'], { home: home(t, first, config, files) });
	assert.equal(run.code, 0, run.stderr);
	for (const key of ['web_search', 'skills.extra_roots'])
		assert.ok(run.stderr.includes(`\`${key}\` is ignored: a role may not allow more than its parent has`), key);
	assert.ok(['view_image', 'web_search'].every((name) => toolsOf(root(first)).includes(name)));
	assert.ok(!['view_image', 'web_search'].some((name) => toolsOf(asks(first)[0]).includes(name)));

	const deep = await startModel(t, [
		{ when: { contains: 'count plums', lacks: ['ROOT', 'MIDDLE'] }, ...say('Six.'), times: 'forever' },
		{ when: { contains: 'MIDDLE', lacks: 'ROOT' }, reply: [spawn({ agent_type: 'on', message: 'count plums' })] },
		{ reply: [spawn({ agent_type: 'off', message: 'MIDDLE' })] },
		{ ...say('Done.'), times: 'forever' },
	]);
	const nested = await startAppServer(t, deep, { home: home(t, deep, config, files) });
	const { thread } = await nested.request('thread/start', {});
	await nested.request('turn/start', { threadId: thread.id, input: [text('ROOT')] });
	const isPlums = ({ body }) => JSON.stringify(body.input).includes('count plums') && !JSON.stringify(body.input).includes('MIDDLE');
	while (!deep.requests().some(isPlums)) await new Promise((wake) => setTimeout(wake, 5));
	assert.ok(!['view_image', 'web_search'].some((name) => toolsOf(deep.requests().find(isPlums)).includes(name)));
	assert.equal((await nested.end()).code, 0);
});

test('a folder with too many entries, and descriptions that are too long together, are bounded', exec, async (t) => {
	const model = await startModel(t, [say('ok')]);
	const many = Object.fromEntries(Array.from({ length: 1023 }, (_, i) => [`agents/n${i}.txt`, '']));
	const most = { ...many, 'agents/a.toml': 'description = "x"\n', 'agents/.hidden': '' };
	const full = await startModel(t, [say('ok')]);
	await codexExec(t, full, ['ROOT'], { home: home(t, full, '', most) });
	assert.match(agentTypes(full).description, /\na: \{/);
	const crowd = await codexExec(t, model, ['ROOT'], { home: home(t, model, '', { ...most, 'agents/more': '' }) });
	assert.equal(crowd.code, 0, crowd.stderr);
	assert.match(crowd.stderr, /agents has more than 1024 entries, so no role is read from it/);
	assert.equal(agentTypes(model), undefined);
	const long = await startModel(t, [say('ok')]);
	const files = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`agents/r${i}.toml`, `description = "${'x'.repeat(8000)}"\n`]));
	const run = await codexExec(t, long, ['ROOT'], { home: home(t, long, '', files) });
	assert.equal(run.code, 0, run.stderr);
	assert.match(run.stderr, /the agent role `r4` is ignored: the descriptions of all roles have more than 32768 bytes together/);
	assert.ok(agentTypes(long).description.includes('\nr3: {'));
	assert.ok(!agentTypes(long).description.includes('\nr4: {'));
});

test('a thread that starts after a role was edited in place has the new role', server, async (t) => {
	const model = await startModel(t, [{ ...say('ok'), times: 'forever' }]);
	const dir = home(t, model, `profile = "p"\n${SCOUT}`, { 'scout.toml': scout,
		'p.config.toml': 'model = "gpt-5.4"\n',
		'agents/own.toml': 'description = "Aaa"\n' });
	const app = await startAppServer(t, model, { home: dir });
	const seen = async () => {
		const { thread } = await app.request('thread/start', {});
		await app.request('turn/start', { threadId: thread.id, input: [text('hi')] });
		await app.next('turn/completed');
		const { body } = model.requests().at(-1);
		const { tools } = body.tools.find(({ type }) => type === 'namespace');
		return `${body.model} ${tools.find(({ name }) => name === 'spawn_agent').parameters.properties.agent_type.description}`;
	};
	assert.match(await seen(), /^gpt-5\.4 .*always `gpt-5\.5`.*own: \{\nAaa\n/s);
	fs.writeFileSync(path.join(dir, 'agents/own.toml'), 'description = "Bbb"\n');
	assert.match(await seen(), /own: \{\nBbb\n/);
	fs.writeFileSync(path.join(dir, 'scout.toml'), scout.replace('gpt-5.5', 'gpt-5.2'));
	assert.match(await seen(), /always `gpt-5\.2`/);
	fs.writeFileSync(path.join(dir, 'p.config.toml'), 'model = "gpt-5.5"\n');
	assert.match(await seen(), /^gpt-5\.5 /);
	fs.writeFileSync(path.join(dir, 'agents/new.toml'), 'description = "Ccc"\n');
	assert.match(await seen(), /new: \{\nCcc\n/);
	assert.equal((await app.end()).code, 0);
});

test('a project cannot replace or change a role of the user', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'scout' })]);
	const cwd = tempDir(t, 'project');
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.mkdirSync(path.join(cwd, '.codex/agents'), { recursive: true });
	fs.writeFileSync(path.join(cwd, '.codex/agents/scout.toml'), 'description = "Theirs."\ndeveloper_instructions = "THEIRS"\n');
	fs.writeFileSync(path.join(cwd, '.codex/config.toml'), '[agents.scout]\ndescription = "Theirs."\nconfig_file = "agents/scout.toml"\n');
	const dir = home(t, model, `${SCOUT}[projects."${cwd}"]\ntrust_level = "trusted"\n`, { 'scout.toml': scout });
	const run = await codexExec(t, model, ['ROOT'], { home: dir, cwd });
	assert.equal(run.code, 0, run.stderr);
	assert.equal([...run.stderr.matchAll(/the agent role `scout` is ignored: there is another one of this name/g)].length, 2);
	assert.match(agentTypes(model).description, /\nscout: \{\nLooks around\./);
	assert.doesNotMatch(agentTypes(model).description, /Theirs/);
	assert.ok(textsOf(asks(model)[0], 'developer').includes('Be a scout.'));
});

test('the sandbox of a role keeps the exclusions of its parent, and drops the network only', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'writer' })]);
	const dir = home(t, model, '[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\nnetwork_access = true\n',
		{ 'agents/writer.toml': 'description = "Writes."\nsandbox_mode = "workspace-write"\n' });
	const cwd = tempDir(t, 'cwd');
	const run = await runCodex(t, ['exec', '--skip-git-repo-check', '-s', 'workspace-write', 'ROOT'], { home: dir, cwd });
	assert.equal(run.code, 0, run.stderr);
	const [own, theirs] = [root(model), asks(model)[0]].map((it) => textsOf(it, 'developer').join('\n'));
	assert.match(own, /Network: on/);
	assert.match(theirs, /Network: off/);
	const writable = (it) => /^Sandbox: .*$/m.exec(it)[0];
	assert.equal(writable(theirs), writable(own));
});

test('roles of a trusted project narrow only; those of another project do not exist', exec, async (t) => {
	const model = await script(t, [spawn({ agent_type: 'local' })]);
	const cwd = tempDir(t, 'project');
	fs.mkdirSync(path.join(cwd, '.git'));
	fs.mkdirSync(path.join(cwd, '.codex/agents'), { recursive: true });
	fs.writeFileSync(path.join(cwd, '.codex/agents/local.toml'), `description = "Local."
developer_instructions = "LOCAL"
model_provider = "other"
[shell_environment_policy]
set = { PATH = "/evil" }
`);
	const dir = home(t, model, `[projects."${cwd}"]\ntrust_level = "trusted"\n`);
	const run = await codexExec(t, model, ['ROOT'], { home: dir, cwd });
	assert.equal(run.code, 0, run.stderr);
	assert.match(run.stderr, /local\.toml:3: `model_provider` is ignored: a project may not set it/);
	assert.match(run.stderr, /local\.toml:\d: `shell_environment_policy` is ignored/);
	assert.ok(textsOf(asks(model)[0], 'developer').includes('LOCAL'));

	const other = await startModel(t, [say('ok')]);
	assert.equal((await codexExec(t, other, ['ROOT'], { home: home(t, other, ''), cwd })).code, 0);
	assert.equal(agentTypes(other), undefined);
});

test('clients see the role of a thread; a subagent that is resumed has it again', server, async (t) => {
	const model = await startModel(t, [
		{ when: { contains: 'count pears', lacks: 'ROOT' }, reply: [{ message: 'Five.' }], times: 'forever' },
		{ reply: [spawn({ agent_type: 'scout' })] },
		{ take: { agent: { from: 'input.-1.output', after: '"agent_id":"' } }, reply: [
			{ call: 'wait_agent', arguments: { targets: ['{agent}'] } }, { call: 'close_agent', arguments: { target: '{agent}' } },
			{ call: 'resume_agent', arguments: { id: '{agent}' } },
			{ call: 'send_input', arguments: { target: '{agent}', message: 'count pears again' } },
			{ call: 'wait_agent', arguments: { targets: ['{agent}'] } }] },
		{ ...say('Done.'), times: 'forever' },
	]);
	const app = await startAppServer(t, model, { home: home(t, model, SCOUT, { 'scout.toml': scout }) });
	const { thread } = await app.request('thread/start', {});
	await app.request('turn/start', { threadId: thread.id, input: [text('ROOT')] });
	await app.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
	const [{ params }] = app.all('item/completed').filter(({ params: { item } }) => item.tool === 'spawnAgent');
	const { thread: child } = await app.request('thread/read', { threadId: params.item.receiverThreadIds[0] });
	assert.equal(child.agentRole, 'scout');
	assert.equal(child.agentNickname, 'Vasco da Gama');
	assert.equal((await app.end()).code, 0);
	assert.deepEqual(asks(model).map(({ body }) => `${body.model} ${body.reasoning.effort}`), ['gpt-5.5 high', 'gpt-5.5 high']);
});

test('the first event of a subagent has the nickname and the role, from which a resume restores them', needs('proto'), async (t) => {
	const model = await script(t, [spawn({ agent_type: 'scout' })]);
	const codex = startProto(t, model, { home: home(t, model, `features.subagent_tools = true\n${SCOUT}`, { 'scout.toml': scout }) });
	codex.submit('1', userInput('ROOT'));
	await codex.next('task_complete');
	assert.equal((await codex.end()).code, 0);
	const { subagent } = codex.events().map(({ msg }) => msg).find(({ event }) => event === 'created');
	assert.deepEqual([subagent.label, subagent.role], ['Vasco da Gama', 'scout']);
});

test('agents.interrupt_message = false: the model does not read that it was interrupted', server, async (t) => {
	for (const is of [true, false]) {
		const model = await startModel(t, [
			{ reply: [{ call: 'exec_command', arguments: { cmd: 'sleep 60' } }] },
			{ ...say('ok'), times: 'forever' },
		]);
		const app = await startAppServer(t, model, { config: `agents.interrupt_message = ${is}\nsandbox_mode = "danger-full-access"\n` });
		const { thread } = await app.request('thread/start', {});
		const { turn } = await app.request('turn/start', { threadId: thread.id, input: [text('ROOT')] });
		await app.take(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution', 'command');
		await app.request('turn/interrupt', { threadId: thread.id, turnId: turn.id });
		await app.next('turn/completed');
		await app.request('turn/start', { threadId: thread.id, input: [text('again')] });
		await app.next('turn/completed');
		assert.equal(textsOf(model.requests().at(-1), 'user').some((it) => it.startsWith('<turn_aborted>')), is);
		assert.equal((await app.end()).code, 0);
	}
});
