// Kinds of user input: texts with elements, images, image files, skills, mentions. Through every front end.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { startAppServer } from './lib/app_server.mjs';
import { forever, needs, say, startModel, tempDir, textsOf } from './lib/codex.mjs';
import { startProto } from './lib/proto.mjs';

const proto = needs('proto');
const appServer = needs('app-server');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const DATA = `data:image/png;base64,${PNG.toString('base64')}`;

/** A png that claims any name, one of 15 MB, and a text that claims to be a png. */
function files(t) {
	const dir = tempDir(t, 'images');
	const put = (name, bytes) => {
		fs.writeFileSync(path.join(dir, name), bytes);
		return path.join(dir, name);
	};
	const large = Buffer.alloc(15 << 20);
	PNG.copy(large);
	return { dir, named: put('photo.jpg', PNG), text: put('fake.png', 'hello'), a: put('a.png', large), b: put('b.png', large) };
}

const lastOf = (request) => request.body.input.filter((item) => item.role === 'user').at(-1).content;
const say_ = async (it, id, ...items) => {
	it.submit(id, { type: 'user_input', items });
	await it.next('task_complete');
};

test('all kinds, in their order; elements are for the UI', proto, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const { named } = files(t);
	const it = startProto(t, model);
	const element = { byte_range: { start: 0, end: 4 }, placeholder: null };
	await say_(it, '1', { type: 'text', text: 'look here', text_elements: [element] }, { type: 'image', image_url: DATA },
		{ type: 'local_image', path: named }, { type: 'mention', name: 'Demo App', path: 'app://demo-app' },
		{ type: 'skill', name: 'gone', path: '/gone/SKILL.md' });
	await it.end();
	assert.deepEqual(lastOf(model.requests()[0]), [{ type: 'input_text', text: 'look here' },
		{ type: 'input_image', image_url: DATA }, { type: 'input_text', text: '<image name=[Image #1]>' },
		{ type: 'input_image', image_url: DATA }, { type: 'input_text', text: '</image>' }]);
	const { msg } = it.events().find(({ msg: { type } }) => type === 'user_message');
	assert.deepEqual(msg, { type: 'user_message', message: 'look here', images: [DATA], local_images: [named],
		text_elements: [element] });
	const { item } = it.events().find(({ msg: { type } }) => type === 'item_completed').msg;
	assert.deepEqual(item.content.map(({ type }) => type), ['text', 'image', 'local_image', 'mention', 'skill']);
});

test('invalid, missing or oversized images are replaced by a text', proto, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const { dir, text, a, b } = files(t);
	const it = startProto(t, model);
	await say_(it, '1', ...[text, path.join(dir, 'none.png'), dir, '/dev/zero'].map((file) => ({ type: 'local_image', path: file })));
	await say_(it, '2', ...[a, b].map((file) => ({ type: 'local_image', path: file })));
	const image_url = `data:image/png;base64,${'A'.repeat(8 << 20)}`;
	await it.end();
	const next = startProto(t, model); // such a history would be compacted
	await say_(next, '3', { type: 'local_image', path: a }, { type: 'image', image_url }, { type: 'text', text: 'x' });
	await next.end();
	const [first, second, third] = model.requests().map(lastOf);
	assert.deepEqual(first.map((part) => part.type), Array(4).fill('input_text'));
	assert.match(first[0].text, /^Codex could not read the local image at `.*fake\.png`: not a PNG, JPEG, GIF or WebP file$/);
	assert.match(first[1].text, /none\.png`: .*No such file or directory$/);
	assert.deepEqual(second.map((part) => part.type), ['input_text', 'input_image', 'input_text', 'input_text']);
	assert.match(second[3].text, /^Codex left out the local image at `.*b\.png`: .* 20 MB together/);
	assert.match(third[3].text, /^Codex left out an image: /);
	assert.equal(third[4].text, 'x');
});

test('nothing but a skill or an app is said by name', proto, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const it = startProto(t, model);
	await say_(it, '1', { type: 'mention', name: 'calendar', path: 'app://calendar' }, { type: 'skill', name: 's', path: '/s' });
	await it.end();
	assert.deepEqual(lastOf(model.requests()[0]), [{ type: 'input_text', text: '$calendar' }, { type: 'input_text', text: '$s' }]);
});

test('mentions of apps add nothing to the prompt', proto, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const it = startProto(t, model);
	const words = ['use [$calendar](app://calendar)', '[$docs](mcp://docs) [$s](skill://team/skill) [$f](/tmp/f)', 'x', '$calendar'];
	const mentions = ['app://calendar', 'mcp://x', 'app://', 'app://calendar'];
	for (const [i, text] of words.entries())
		await say_(it, `${i}`, { type: 'text', text }, { type: 'mention', name: 'm', path: mentions[i] });
	await it.end();
	const told = textsOf(model.requests()[3], 'user').filter((it) => !it.startsWith('<environment_context>'));
	assert.deepEqual(told, words);
	const tools = model.requests().map((request) => JSON.stringify(request.body.tools));
	assert.equal(new Set(tools).size, 1);
});

test('the same through the app-server', appServer, async (t) => {
	const model = await startModel(t, [forever(say('ok'))]);
	const { named } = files(t);
	const server = await startAppServer(t, model);
	const { thread } = await server.request('thread/start', {});
	const elements = [{ byteRange: { start: 0, end: 4 }, placeholder: '[x]' }];
	await server.request('turn/start', { threadId: thread.id, input: [
		{ type: 'text', text: 'look', text_elements: elements }, { type: 'image', url: DATA }, { type: 'localImage', path: named },
		{ type: 'skill', name: 's', path: '/s/SKILL.md' }, { type: 'mention', name: 'Demo App', path: 'app://demo-app' }] });
	const { params } = await server.take(({ method, params }) => method === 'item/completed' && params.item.type === 'userMessage', 'item');
	assert.deepEqual(params.item.content[0], { type: 'text', text: 'look', text_elements: elements });
	assert.deepEqual(params.item.content.slice(3),
		[{ type: 'skill', name: 's', path: '/s/SKILL.md' }, { type: 'mention', name: 'Demo App', path: 'app://demo-app' }]);
	await server.next('turn/completed');
	await server.end();
	assert.deepEqual(lastOf(model.requests()[0]).map((part) => part.text ?? part.image_url),
		['look', DATA, '<image name=[Image #1]>', DATA, '</image>']);
});
