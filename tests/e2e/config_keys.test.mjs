// docs/config.md key by key: each value that it documents is accepted, shown with its place by `codex help KEY`, and a
// value of another type is refused with the name of the key.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { needs, runCodex, tempDir } from './lib/codex.mjs';

const options = needs('exec');
const doc = fs.readFileSync(fileURLToPath(new URL('../../docs/config.md', import.meta.url)), 'utf8').split('\n# requirements.toml')[0];

/** The keys of the document: {table, key, type, value (the documented default), isInert}. */
function* keysOf(text) {
	let table = '';
	for (const line of text.split('\n')) {
		const title = /^## (?:`(\[.*\])`|.*)$/.exec(line);
		if (title) table = title[1] ?? '';
		const row = /^\| `(\w+)` \| (.+)$/.exec(line);
		if (!row) continue;
		const cells = row[2].split(' | ');
		const value = cells.length > 2 ? cells[1].replaceAll('`', '') : '–';
		yield { table, key: row[1], type: cells[0], value: value === '–' ? undefined : value, isInert: cells.length === 2 };
	}
}
const keys = [...keysOf(doc)];
const name = ({ table, key }) => `${table && `${table.replaceAll(/[[\]]/g, '').replaceAll('NAME', 'mock')}.`}${key}`;

/** These words are commands, too, which help explains. */
const COMMANDS = ['features', 'debug', 'agents', 'hooks', 'cloud'];
/** Values where the type alone does not say what is valid here. */
const SPECIAL = { 'profile': '"mock"', 'default_permissions': '":workspace"', 'permissions': '{}', 'marketplaces': '{}', 'otel': '{}', 'hooks': '{}',
	'projects.mock.trust_level': '"trusted"', 'mcp_servers.mock.env_vars': '["A"]', 'skills.config.path': '"/x"', 'skills.config.name': '"x"',
	'tools.experimental_request_user_input': '{}', 'client_search_provider': '"x"', 'model_providers.mock.auth': '{ command = "true" }',
	'model_catalog_json': '"CATALOG"', 'model_providers.mock.client_certificate': '"/x"' };
const BY_KIND = [[/^(string|path|a string)/, '"x"'], [/^(list of|an array)/, '[]'], [/^(a boolean|true)/, 'true'], [/^(an )?integer|^number/, '1'],
	[/^(table|a table)/, '{}'], [/^any/, '{}'], [/^`"/, null]];
function valueOf(row) {
	const special = SPECIAL[name(row)];
	if (special) return special;
	if (row.value !== undefined) return row.value;
	const [, value] = BY_KIND.find(([kind]) => kind.test(row.type)) ?? assert.fail(`${name(row)}: ${row.type}`);
	return value ?? /`(".*?")`/.exec(row.type)[1];
}
/** The lines that a table needs beside the key: [pattern of the name, lines before the table, lines in it]. */
const NEEDS = [
	[/^mcp_servers\.mock\.(oauth|tools)\./, '[mcp_servers.mock]\nurl = "http://127.0.0.1"\n', ''],
	[/^mcp_servers\.mock\.(command|url)$/, '', ''],
	[/^mcp_servers\.mock\..*(http|bearer|scopes|auth)/, '', 'url = "http://127.0.0.1"\n'],
	[/^mcp_servers\.mock\./, '', 'command = "true"\n'],
	[/^model_providers\.mock\.auth\.(?!command)/, '', 'command = "true"\n'],
	[/^skills\.config\.enabled/, '', 'name = "x"\n'],
	[/^agents\.mock\.(?!description)/, '', 'description = "x"\n'],
	[/./, '', ''],
];
/** A file with this key, and what its table needs. */
function fileOf(row, value) {
	const [, before, inside] = NEEDS.find(([pattern]) => pattern.test(name(row)));
	const after = row.key === 'profile' ? '[profiles.mock]\n' : '';
	return `${before}${row.table.replaceAll('NAME', 'mock')}\n${inside}${row.key} = ${value}\n${after}`;
}
async function each(rows, run) {
	const left = [...rows];
	await Promise.all(Array(4).fill().map(async () => {
		for (let row; (row = left.shift());) await run(row);
	}));
}
function write(home, text) {
	fs.writeFileSync(path.join(home, 'catalog.json'), '{"models":[]}');
	fs.writeFileSync(path.join(home, 'config.toml'), text.replace('CATALOG', path.join(home, 'catalog.json')));
}

test('the document has all tables', () => {
	assert.ok(keys.length > 200, `${keys.length}`);
	assert.ok(new Set(keys.map(({ table }) => table)).size > 20);
	assert.deepEqual(Object.keys(SPECIAL).filter((key) => !keys.some((row) => name(row) === key)), []);
});

test('each key is accepted with its documented value, and codex help KEY shows it with its place', options, async (t) => {
	const wrong = [];
	await each(keys, async (row) => {
		const home = tempDir(t, 'home'), value = valueOf(row), text = fileOf(row, value);
		write(home, text);
		const strict = await runCodex(t, ['archive', '--strict-config', 'nothing'], { home });
		if (!/nothing/.test(strict.stderr) || /config\.toml/.test(strict.stderr.replace(/^note: .*$/gm, '')))
			wrong.push(`${name(row)} = ${value}: ${strict.stderr}`);
		if (row.table.startsWith('[[') || COMMANDS.includes(name(row))) return;
		const { code, stdout, stderr } = await runCodex(t, ['help', name(row)], { home });
		const line = text.split('\n').findIndex((it) => it.startsWith(`${row.key} =`)) + 1;
		const shown = new RegExp(`Set by ${home}/config\\.toml:${line}: (.*)`).exec(stdout)?.[1];
		if (code !== 0 || !shown) wrong.push(`help ${name(row)}: ${stdout}${stderr}`);
		else if (/^["\d[tf]/.test(value) && !/not shown/.test(shown) && !/CATALOG/.test(value) && shown !== value)
			wrong.push(`help ${name(row)}: ${shown}, not ${value}`);
		if (row.isInert !== /accepted without effect/.test(stdout)) wrong.push(`help ${name(row)}: ${stdout}`);
	});
	assert.deepEqual(wrong, []);
});

test('each key with a value of another type is refused with its name', options, async (t) => {
	const wrong = [];
	await each(keys.filter(({ type }) => type !== 'any'), async (row) => {
		const home = tempDir(t, 'home'), value = /integer|number/.test(row.type) ? '"x"' : '5';
		write(home, fileOf(row, value));
		const { code, stderr } = await runCodex(t, ['features', 'list'], { home });
		if (code !== 1 || !/config\.toml:\d+: /.test(stderr) || !stderr.includes(row.key)) wrong.push(`${name(row)} = ${value}: ${code} ${stderr}`);
	});
	assert.deepEqual(wrong, []);
});
