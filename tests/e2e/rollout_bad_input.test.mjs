// Damage to a session's file and its folder: each session is resumed as far as possible, reported in one
// warning, and the next request is one that a model accepts.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
	codexExec, itemsOf, makeHome, needs, patch, readLines, rollouts, run, say, startModel, tempDir, textsOf,
} from './lib/codex.mjs';

const exec = needs('exec');
const isRoot = process.getuid() === 0;

/** A session with calls in it; resolves to its home, folder, file and the lines of that. */
async function recorded(t, ...more) {
	const model = await startModel(t, [run('echo hi'), patch('*** Add File: a.txt', '+a'), say('One.'), ...more]);
	const home = makeHome(t, model);
	const first = await codexExec(t, model, ['first'], { home });
	const [file] = rollouts(home);
	return { model, home, cwd: first.cwd, file, lines: fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) };
}

/** Continues it; resolves to the request's input, the warnings, and the run. */
async function goOn(t, { model, home, cwd }, options = {}) {
	const done = await codexExec(t, model, ['resume', options.id ?? '--last', 'more'], { home, cwd, json: true, ...options });
	assert.equal(done.code, 0, done.stderr);
	const { input } = model.requests().at(-1).body;
	const open = new Set();
	for (const { type, call_id: id } of input) {
		if (/_call$/.test(type)) assert.ok(!open.has(id) && open.add(id), `${id} is called twice`);
		if (/_output$/.test(type)) assert.ok(open.delete(id), `${id} is answered without a call`);
	}
	assert.deepEqual([...open], [], 'calls without output');
	return { ...done, input, warnings: itemsOf(done.events, 'error').map(({ message }) => message).join('\n') };
}

const write = (file, lines) => fs.writeFileSync(file, lines.join('\n') + '\n');
const kindsOf = (input) => input.map(({ type, role }) => role ?? type).filter((kind) => kind !== 'developer');

test('duplicate and disordered lines are sorted by number', exec, async (t) => {
	const at = await recorded(t, say('Two.'));
	const [head, ...rest] = at.lines;
	write(at.file, [head, ...rest.toReversed(), ...rest]);
	const { input, warnings } = await goOn(t, at);
	assert.match(warnings, new RegExp(`have been sorted.*${rest.length} repeated lines`));
	assert.deepEqual(kindsOf(input).slice(1), ['user', 'function_call', 'function_call_output', 'custom_tool_call',
		'custom_tool_call_output', 'assistant', 'user']);
});

test('without numbers: repeated and displaced lines make no request that would be refused', exec, async (t) => {
	const at = await recorded(t, say('Two.'));
	const bare = at.lines.map((line) => JSON.stringify({ ...JSON.parse(line), ordinal: undefined }).replace('"history_mode":"paginated",', ''));
	const isOutput = (line) => /_output"/.test(line) && /response_item/.test(line);
	write(at.file, [bare[0], ...bare.filter(isOutput), ...bare.slice(1).flatMap((line) => [line, line])]);
	const { input, warnings } = await goOn(t, at);
	assert.match(warnings, /without (its|their) counterparts?/);
	assert.equal(input.filter(({ type }) => type === 'function_call').length, 1);
});

test('a file cut anywhere is resumed', exec, async (t) => {
	const at = await recorded(t, ...Array.from({ length: 7 }, (_, i) => say(`After ${i}.`)));
	const bytes = fs.readFileSync(at.file);
	for (let part = 1; part <= 7; part++) {
		const metaEnd = bytes.indexOf('\n') + 1;
		fs.writeFileSync(at.file, bytes.subarray(0, metaEnd + Math.floor(((bytes.length - metaEnd) * part) / 7) - 3));
		const { warnings } = await goOn(t, at);
		assert.match(warnings, /last line .* incomplete|^$/);
		assert.ok(readLines(at.file).length, 'every line is JSON');
	}
	assert.ok(fs.readdirSync(path.dirname(at.file)).some((name) => /\.torn-1$/.test(name)), 'what was torn is kept');
});

test('foreign lines, invalid UTF-8, and a line of 100 MB', exec, async (t) => {
	const at = await recorded(t, say('Two.'));
	const huge = Buffer.alloc(100 * 1024 * 1024, 'x');
	const [head, ...rest] = at.lines;
	fs.writeFileSync(at.file, Buffer.concat([Buffer.from(head + '\nDear diary,\n{"type":"response_item","payload":{"type":"message","role":"\xff'),
		Buffer.from([0xff, 0xfe, 0, 10]), Buffer.from('{"timestamp":"2026-01-01T00:00:00.000Z","type":"log","payload":{"text":"'),
		huge, Buffer.from('"}}\n' + rest.join('\n') + '\n')]));
	const { input, warnings } = await goOn(t, at);
	assert.match(warnings, /2 damaged lines, 1 line of an unknown kind/);
	assert.deepEqual(textsOf({ body: { input } }, 'assistant'), ['One.']);
});

test('a file from the future is read as far as it can be understood', exec, async (t) => {
	const at = await recorded(t, say('Two.'));
	const [head, ...rest] = at.lines.map((line) => JSON.parse(line));
	const future = (line) => JSON.stringify({ ...line, timestamp: line.timestamp.replace(/^\d+/, '2099'), era: 3,
		payload: { ...line.payload, newly: { found: [1] } } });
	const meta = { ...head, payload: { ...head.payload, cli_version: '7.0.0', source: { telepathy: {} }, model_provider: 'mock' } };
	write(at.file, [future(meta), ...rest.map(future),
		future({ timestamp: '2026-01-01T00:00:00.000Z', type: 'hologram', payload: {} }),
		future({ timestamp: '2026-01-01T00:00:00.000Z', type: 'response_item', payload: { type: 'dream', text: 'x' } })]);
	const { input, warnings } = await goOn(t, at, { id: head.payload.id });
	assert.match(warnings, /1 line of an unknown kind, 1 item of an unknown kind/);
	assert.ok(!input.some(({ type }) => type === 'dream'));
	assert.equal(textsOf({ body: { input } }, 'assistant').length, 1);
});

test('a session whose folder was deleted continues in another', exec, async (t) => {
	const at = await recorded(t, say('Two.'));
	const { id } = readLines(at.file)[0].payload;
	fs.rmSync(at.cwd, { recursive: true });
	const { input } = await goOn(t, { ...at, cwd: tempDir(t, 'other') }, { id });
	assert.deepEqual(textsOf({ body: { input } }, 'assistant'), ['One.']);
});

test('a clock that was set back changes nothing in the order', exec, async (t) => {
	const at = await recorded(t, say('Two.'), say('Three.'));
	write(at.file, at.lines.map((line, index) => JSON.stringify({ ...JSON.parse(line),
		timestamp: new Date(Date.UTC(2030, 0, 1) - index * 60_000).toISOString() })));
	await goOn(t, at);
	const { input } = await goOn(t, at);
	assert.deepEqual(textsOf({ body: { input } }, 'assistant'), ['One.', 'Two.']);
});

test('the sessions folder may be a link', exec, async (t) => {
	const model = await startModel(t, [say('One.'), say('Two.')]);
	const home = makeHome(t, model);
	const elsewhere = tempDir(t, 'elsewhere');
	fs.symlinkSync(elsewhere, path.join(home, 'sessions'));
	const { cwd } = await codexExec(t, model, ['first'], { home });
	const { input } = await goOn(t, { model, home, cwd });
	assert.deepEqual(textsOf({ body: { input } }, 'assistant'), ['One.']);
	assert.equal(fs.readdirSync(elsewhere, { recursive: true }).filter((name) => name.endsWith('.jsonl')).length, 1);
});

test('a read-only home is reported, and work continues', { skip: exec.skip || (isRoot && 'root may write everywhere') }, async (t) => {
	const model = await startModel(t, [say('One.')]);
	const home = makeHome(t, model);
	fs.chmodSync(home, 0o500);
	t.after(() => fs.chmodSync(home, 0o700));
	const { code, stdout, stderr } = await codexExec(t, model, ['first'], { home });
	assert.equal(code, 0);
	assert.equal(stdout, 'One.\n');
	assert.match(stderr, /cannot be recorded: .*Permission denied/);
});

test('a home without permission to create folders is reported, and work continues', exec, async (t) => {
	const model = await startModel(t, [say('One.')]);
	const home = makeHome(t, model);
	fs.writeFileSync(path.join(home, 'sessions'), 'a file');
	const { code, stdout, stderr } = await codexExec(t, model, ['first'], { home });
	assert.equal(code, 0);
	assert.equal(stdout, 'One.\n');
	assert.match(stderr, /cannot be recorded: .*sessions/);
});
