// Skills are found, listed, disabled, described to the model, and sent to it when the input names them. Custom prompts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, forever, makeHome, needs, readLines, rollouts, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';

const proto = needs('proto');
const appServer = needs('app-server');

/** Writes a skill below a folder; its path. */
function putSkill(root, name, { description = `About ${name}`, body = 'Do the thing.' } = {}) {
	const file = path.join(root, name, 'SKILL.md');
	fs.mkdirSync(path.dirname(file), { recursive: true });
	fs.writeFileSync(file, `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`);
	return fs.realpathSync(file);
}

/** A repository and a home with a skill each, and a file in the home that is not a skill. */
async function world(t, { config } = {}) {
	const model = await startModel(t, [forever(say('ok'))]);
	const home = makeHome(t, model, config), cwd = fs.realpathSync(tempDir(t, 'cwd'));
	fs.mkdirSync(path.join(cwd, '.git'));
	const repo = putSkill(path.join(cwd, '.codex/skills'), 'repo-skill');
	const demo = putSkill(path.join(home, 'skills'), 'demo');
	const broken = path.join(fs.realpathSync(home), 'skills/broken/SKILL.md');
	fs.mkdirSync(path.dirname(broken));
	fs.writeFileSync(broken, 'no front matter\n');
	return { model, home, cwd, repo, demo, broken };
}

const given = (request) => textsOf(request, 'user').filter((it) => it.startsWith('<skill>'));
const listed = (request) => textsOf(request, 'developer').filter((it) => it.startsWith('<skills_instructions>'));
const message = (name, file) => `<skill>\n<name>${name}</name>\n<path>${file}</path>\n${fs.readFileSync(file, 'utf8')}\n</skill>`;
const MISSING = 'missing YAML frontmatter delimited by ---';

test('list_skills: folders in the order asked, errors by file', proto, async (t) => {
	const { model, home, cwd, repo, demo, broken } = await world(t);
	const it = startProto(t, model, { home, cwd });
	const skill = (name, file, scope) => ({ name, description: `About ${name}`, path: file, scope, enabled: true });
	const errors = [{ path: broken, message: MISSING }];
	it.submit('l1', { type: 'list_skills' });
	assert.deepEqual(await it.next('list_skills_response'), { id: 'l1', msg: { type: 'list_skills_response', skills: [
		{ cwd, skills: [skill('repo-skill', repo, 'repo'), skill('demo', demo, 'user')], errors }] } });
	it.submit('l2', { type: 'list_skills', cwds: ['/nowhere', 'relative', cwd], force_reload: true });
	const { skills } = (await it.next('list_skills_response')).msg;
	assert.deepEqual(skills.map((entry) => [entry.cwd, entry.skills.map(({ name }) => name)]),
		[['/nowhere', ['demo']], ['relative', ['demo']], [cwd, ['repo-skill', 'demo']]]);
	assert.equal((await it.end()).code, 0);
});

test('skills_update_available is emitted when files change, and the next task has the new list', proto, async (t) => {
	const { model, home, cwd } = await world(t);
	const it = startProto(t, model, { home, cwd });
	it.submit('1', userInput('hi'));
	await it.next('task_complete');
	putSkill(path.join(home, 'skills'), 'late');
	assert.deepEqual((await it.next('skills_update_available')).msg, { type: 'skills_update_available' });
	it.submit('2', userInput('use $late'));
	await it.next('task_complete');
	it.submit('3', userInput('again'));
	await it.next('task_complete');
	await it.end();
	const [first, second, third] = model.requests();
	assert.equal(listed(first).length, 1);
	assert.match(listed(first)[0], /- demo: About demo \(file: .*demo\/SKILL\.md\)\n/);
	assert.equal(listed(second).length, 2);
	assert.match(listed(second)[1], /- late: /);
	assert.equal(given(second).length, 1);
	assert.equal(listed(third).length, 2);
});

test('a mentioned or chosen skill is sent once per turn, after the input', proto, async (t) => {
	const { model, home, cwd, repo, demo } = await world(t);
	const it = startProto(t, model, { home, cwd });
	const items = [{ type: 'text', text: 'use $demo and $demo, not $PATH' }, { type: 'skill', name: 'demo', path: demo },
		{ type: 'skill', name: 'gone', path: '/gone/SKILL.md' }];
	it.submit('1', { type: 'user_input', items });
	await it.next('task_complete');
	it.submit('2', userInput('use $repo-skill please'));
	await it.next('task_complete');
	it.submit('3', userInput('plain'));
	await it.next('task_complete');
	await it.end();
	const [first, second, third] = model.requests();
	assert.deepEqual(textsOf(first, 'user').slice(-2), ['use $demo and $demo, not $PATH', message('demo', demo)]);
	assert.deepEqual(textsOf(second, 'user').slice(-2), ['use $repo-skill please', message('repo-skill', repo)]);
	assert.equal(given(third).length, 2);
	const shown = it.events().filter(({ msg }) => msg.type === 'user_message').map(({ msg }) => msg.message);
	assert.deepEqual(shown, ['use $demo and $demo, not $PATH', 'use $repo-skill please', 'plain']);
	const resumed = startProto(t, model, { home, cwd });
	resumed.submit('c', { type: 'list_skills' });
	await resumed.next('list_skills_response');
	await resumed.end();
	const words = readLines(rollouts(home)[0]).filter(({ type, payload }) =>
		type === 'response_item' && payload.role === 'user' && payload.content[0].text.startsWith('<skill>'));
	assert.equal(words.length, 2);
});

test('skills disabled in config.toml are neither listed nor sent', proto, async (t) => {
	const { model, home, cwd, demo } = await world(t, { config: '[[skills.config]]\nname = "demo"\nenabled = false\n' });
	const it = startProto(t, model, { home, cwd });
	it.submit('1', { type: 'user_input', items: [{ type: 'text', text: '$demo' }, { type: 'skill', name: 'demo', path: demo }] });
	await it.next('task_complete');
	await it.end();
	assert.equal(given(model.requests()[0]).length, 0);
	assert.doesNotMatch(listed(model.requests()[0])[0], /- demo:/);
});

test('without skills, or by configuration, no list is sent', proto, async (t) => {
	const { model, home, cwd } = await world(t, { config: '[skills]\ninclude_instructions = false\n' });
	const it = startProto(t, model, { home, cwd });
	it.submit('1', userInput('hi $demo'));
	await it.next('task_complete');
	await it.end();
	assert.equal(listed(model.requests()[0]).length, 0);
	assert.equal(given(model.requests()[0]).length, 1);
});

test('codex exec gives skills as well, and a custom prompt by its name', needs('exec'), async (t) => {
	const { model, home, cwd, demo } = await world(t);
	fs.mkdirSync(path.join(home, 'prompts'));
	fs.writeFileSync(path.join(home, 'prompts/fix.md'), '---\ndescription: Fixes\n---\nFix $FILE with $demo');
	await codexExec(t, model, ['/prompts:fix FILE=a.c'], { home, cwd });
	assert.deepEqual(textsOf(model.requests()[0], 'user').slice(-2), ['Fix a.c with $demo', message('demo', demo)]);
	const bad = await codexExec(t, model, ['/prompts:fix'], { home, cwd });
	assert.notEqual(bad.code, 0);
	assert.match(bad.stderr, /Missing required args for \/prompts:fix: FILE/);
});

test('list_custom_prompts', proto, async (t) => {
	const { model, home, cwd } = await world(t);
	const file = path.join(fs.realpathSync(home), 'prompts/hi.md');
	const it = startProto(t, model, { home: fs.realpathSync(home), cwd });
	it.submit('p0', { type: 'list_custom_prompts' });
	assert.deepEqual((await it.next('list_custom_prompts_response')).msg.custom_prompts, []);
	fs.mkdirSync(path.dirname(file));
	fs.writeFileSync(file, '---\ndescription: Says hi\nargument-hint: "[who]"\n---\nHi $1\n');
	fs.writeFileSync(path.join(path.dirname(file), 'a.md'), 'bare');
	it.submit('p1', { type: 'list_custom_prompts' });
	assert.deepEqual(await it.next('list_custom_prompts_response'), { id: 'p1', msg: { type: 'list_custom_prompts_response',
		custom_prompts: [
			{ name: 'a', path: path.join(path.dirname(file), 'a.md'), content: 'bare', description: null, argument_hint: null },
			{ name: 'hi', path: file, content: 'Hi $1\n', description: 'Says hi', argument_hint: '[who]' },
		] } });
	await it.end();
});

test('app-server: listed, switched, watched, given', appServer, async (t) => {
	const { model, home, cwd, demo, broken } = await world(t);
	const server = await startAppServer(t, model, { home, cwd });
	const list = async (more) => (await server.request('skills/list', { cwds: [cwd], ...more })).data[0];
	const state = (entry) => Object.fromEntries(entry.skills.map(({ name, enabled }) => [name, enabled]));
	const entry = await list();
	assert.deepEqual(entry.errors, [{ path: broken, message: MISSING }]);
	assert.deepEqual(entry.skills[1],
		{ name: 'demo', description: 'About demo', path: demo, scope: 'user', enabled: true, pluginId: null });
	assert.deepEqual(await server.request('skills/config/write', { path: demo, enabled: false }), { effectiveEnabled: false });
	assert.deepEqual(state(await list({ forceReload: true })), { 'repo-skill': true, demo: false });
	assert.match(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /demo\/SKILL\.md/);
	assert.deepEqual(await server.request('skills/config/write', { name: 'repo-skill', enabled: false }), { effectiveEnabled: false });
	assert.deepEqual(state(await list()), { 'repo-skill': false, demo: false });
	for (const which of [{ path: demo }, { name: 'repo-skill' }])
		assert.deepEqual(await server.request('skills/config/write', { ...which, enabled: true }), { effectiveEnabled: true });
	assert.deepEqual(state(await list()), { 'repo-skill': true, demo: true });
	for (const params of [{ enabled: true }, { enabled: true, path: demo, name: 'demo' }])
		await assert.rejects(server.request('skills/config/write', params),
			{ code: -32602, message: 'skills/config/write requires exactly one of path or name' });
	const { thread } = await server.request('thread/start', { cwd });
	await server.request('turn/start', { threadId: thread.id,
		input: [text('$demo do it'), { type: 'skill', name: 'demo', path: demo }, { type: 'mention', name: 'App', path: 'app://x' }] });
	const { item } = (await server.take(({ method, params }) => method === 'item/completed' && params.item.type === 'userMessage', 'item')).params;
	assert.deepEqual(item.content.slice(1),
		[{ type: 'skill', name: 'demo', path: demo }, { type: 'mention', name: 'App', path: 'app://x' }]);
	await server.next('turn/completed');
	assert.deepEqual(textsOf(model.requests()[0], 'user').slice(-2), ['$demo do it', message('demo', demo)]);
	putSkill(path.join(cwd, '.codex/skills'), 'another');
	await server.next('skills/changed');
	assert.equal((await server.end()).code, 0);
});

test('app-server: more roots', appServer, async (t) => {
	const { model, home, cwd } = await world(t);
	const more = fs.realpathSync(tempDir(t, 'more'));
	const extra = putSkill(more, 'extra');
	const server = await startAppServer(t, model, { home, cwd });
	const names = async () => (await server.request('skills/list', {})).data[0].skills.map(({ name }) => name);
	assert.deepEqual(await server.request('skills/extraRoots/set', { extraRoots: [more, '/nowhere'] }), {});
	assert.deepEqual(await names(), ['repo-skill', 'demo', 'extra']);
	const { thread } = await server.request('thread/start', { cwd });
	await server.request('turn/start', { threadId: thread.id, input: [text('$extra')] });
	await server.next('turn/completed');
	assert.deepEqual(given(model.requests()[0]), [message('extra', extra)]);
	await server.request('skills/extraRoots/set', { extraRoots: [] });
	assert.deepEqual(await names(), ['repo-skill', 'demo']);
	await assert.rejects(server.request('skills/extraRoots/set', { extraRoots: ['relative'] }));
	await server.end();
});

test('app-server: roots that are set reach loaded threads and their subagents', appServer, async (t) => {
	const child = (contains, reply) => ({ when: { contains, lacks: 'You are agent 0' }, reply, times: 'forever' });
	const call = (name, args) => ({ reply: [{ call: name, arguments: args }] });
	const model = await startModel(t, [
		child('first task', [{ message: 'Ready.' }]),
		call('subagent_spawn', { prompt: 'first task' }), call('subagent_await', {}), { reply: [{ message: 'one' }] },
		call('subagent_send_message', { agent_id: 1, prompt: 'second task' }), call('subagent_await', {}),
		{ reply: [{ message: 'two' }] }, { reply: [{ message: 'three' }] },
	]);
	const home = makeHome(t, model, 'features.subagent_tools = true\n'), cwd = fs.realpathSync(tempDir(t, 'cwd'));
	const configured = fs.realpathSync(tempDir(t, 'configured')), more = fs.realpathSync(tempDir(t, 'more'));
	putSkill(configured, 'kept');
	const extra = putSkill(more, 'extra');
	const server = await startAppServer(t, model, { home, cwd });
	const { thread } = await server.request('thread/start', { cwd, config: { 'skills.extra_roots': [configured] } });
	const turn = async (words) => {
		const before = model.requests().length;
		await server.request('turn/start', { threadId: thread.id, input: [text(words)] });
		await server.take(({ method, params }) => method === 'turn/completed' && params.threadId === thread.id, 'end');
		return model.requests().slice(before);
	};
	const first = await turn('$extra');
	assert.ok(first.every((request) => given(request).length === 0));
	assert.match(listed(first[0]).at(-1), /- kept: /);
	assert.doesNotMatch(listed(first[0]).at(-1), /- extra: /);

	await server.request('skills/extraRoots/set', { extraRoots: [more] });
	const second = await turn('$extra');
	const [ofChild] = second.filter((request) => JSON.stringify(request.body).includes('second task') &&
		!JSON.stringify(request.body).includes('You are agent 0'));
	for (const request of [second[0], ofChild])
		assert.match(listed(request).at(-1), /- extra: [^]*- kept: /);
	assert.deepEqual(given(second[0]), [message('extra', extra)]);

	await server.request('skills/extraRoots/set', { extraRoots: [] });
	const [third] = await turn('$extra');
	assert.match(listed(third).at(-1), /- kept: /);
	assert.doesNotMatch(listed(third).at(-1), /- extra: /);
	assert.equal(given(third).length, 1); // that of the second turn
	await server.end();
});

test('app-server: more roots than the limit are refused, and those before stay', appServer, async (t) => {
	const { model, home, cwd } = await world(t);
	const more = fs.realpathSync(tempDir(t, 'more'));
	putSkill(more, 'extra');
	const server = await startAppServer(t, model, { home, cwd });
	await server.request('skills/extraRoots/set', { extraRoots: [more] });
	const many = Array.from({ length: 65 }, (_, index) => `/nowhere/${index}`);
	await assert.rejects(server.request('skills/extraRoots/set', { extraRoots: many }),
		{ code: -32602, message: 'extraRoots: more than 64 folders' });
	const [entry] = (await server.request('skills/list', {})).data;
	assert.ok(entry.skills.some(({ name }) => name === 'extra'));
	await server.request('skills/extraRoots/set', { extraRoots: many.slice(1) });
	await server.end();
});
