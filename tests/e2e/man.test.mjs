// The manual pages beside the program: each is compared with what the program itself reports.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexBin } from './lib/codex.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.join(path.dirname(codexBin), 'man');
const source = (file) => fs.readFileSync(path.join(root, file), 'utf8');
const lacks = (program) => spawnSync(program, ['--version']).error && `${program} is not installed`;
const needsPages = { skip: lacks('groff') || (!fs.existsSync(folder) && 'this build has no manual pages') };

/** A page as a terminal shows it, without overstriking. */
function render(page) {
	const run = spawnSync('groff', ['-man', '-Tascii', '-P-cbou', path.join(folder, page)], { encoding: 'utf8' });
	assert.equal(run.status, 0, run.stderr);
	return run.stdout;
}

/** One section of a page's source. */
function section(page, title) {
	const [, body] = fs.readFileSync(path.join(folder, page), 'utf8').split(`.SH ${title}\n`);
	assert.ok(body !== undefined, `${page} has no section ${title}`);
	return body.split(/^\.SH /m)[0];
}

/** The tags of a section's paragraphs as they are printed. */
const tags = (page, title) => [...section(page, title).matchAll(/^\.TP\n(.*)$/gm)].map(([, tag]) =>
	tag.replace(/^\.BR? /, '').replaceAll(/\\f[BIR]/g, '').replaceAll('\\-', '-'));
const help = (words) => spawnSync(codexBin, [...words, '--help'], { encoding: 'utf8' }).stdout;
const helpRows = (text, title) => {
	const part = text.split(`\n${title}:\n`)[1] ?? '';
	return part.split('\n\n')[0].split('\n');
};
const words = (text) => helpRows(text, 'Commands').map((row) => /^ {2}([a-z][\w-]*)/.exec(row)?.[1]).filter(Boolean);

/** Every command with a --help of its own, as lists of words; [] is the program itself. */
function commands(prefix = []) {
	const text = help(prefix);
	if (!new RegExp(`^Usage: ${['codex', ...prefix].join(' ')}\\b`, 'm').test(text)) return [];
	const isOwn = prefix.length < 2 || text !== help(prefix.slice(0, -1));
	const inner = prefix[0] === 'help' ? [] : words(text);
	return isOwn ? [prefix, ...inner.flatMap((word) => commands([...prefix, word]))] : [];
}

test('every page is sound for groff', needsPages, () => {
	const pages = fs.readdirSync(folder).filter((name) => /\.\d$/.test(name));
	assert.ok(pages.length > 20, pages.join(' '));
	for (const page of pages) {
		const { status, stderr } = spawnSync('groff', ['-man', '-ww', '-z', path.join(folder, page)], { encoding: 'utf8' });
		assert.deepEqual([status, stderr], [0, ''], page);
	}
});

test('man finds no fault either', { skip: needsPages.skip || lacks('man') }, () => {
	for (const page of fs.readdirSync(folder).filter((name) => /\.\d$/.test(name))) {
		const { status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', path.join(folder, page)],
			{ encoding: 'utf8', env: { ...process.env, LC_ALL: 'C', MANWIDTH: '80', PAGER: 'cat' } });
		assert.deepEqual([status, stderr], [0, ''], page);
		assert.match(stdout, /^CODEX|^LIBCODEX/m);
	}
});

test('every command has a page, and every page a command', needsPages, () => {
	const pages = fs.readdirSync(folder).filter((name) => name.endsWith('.1')).map((name) => name.slice(0, -2));
	assert.deepEqual(commands().map((command) => ['codex', ...command].join('-')).sort(), pages.sort());
});

test('a page has the options, commands and arguments of --help, and no others', needsPages, () => {
	for (const command of commands()) {
		const text = help(command), page = `${['codex', ...command].join('-')}.1`;
		const options = helpRows(text, 'Options').map((row) => /^ {2}(?:-\w, | {4})--.*?(?= {2}|$)/.exec(row)?.[0])
			.filter(Boolean).map((row) => row.trim().replace(/[<>]/g, ''));
		assert.ok(options.length >= 2, page);
		assert.deepEqual(tags(page, 'OPTIONS'), options, page);
		const listed = words(text);
		if (listed.length) assert.deepEqual(tags(page, 'COMMANDS').map((tag) => tag.split(',')[0]), listed, page);
		const names = helpRows(text, 'Arguments').map((row) => /^ {2}(\S+)/.exec(row)?.[1]).filter(Boolean);
		if (names.length) assert.deepEqual(tags(page, 'ARGUMENTS').map((tag) => tag.replace('...', '…')), names, page);
	}
});

test('codex-config(5) has every key of docs/config.md, and no other', needsPages, () => {
	let table = '', keys = [];
	const own = keys, limits = [];
	for (const line of source('docs/config.md').split('\n')) {
		const heading = /^## (?:`\[+(.*?)\]+`|The file itself|\/etc\/codex)/.exec(line), row = /^\| `([^`]+)` \|/.exec(line);
		if (line.startsWith('# requirements.toml')) keys = limits;
		if (heading) table = heading[1] ? `${heading[1]}.` : '';
		if (row) keys.push(table + row[1]);
	}
	assert.ok(own.length > 200, `${own.length} keys`);
	assert.ok(limits.length > 20, `${limits.length} requirements`);
	assert.deepEqual(tags('codex-config.5', 'KEYS'), own);
	assert.deepEqual(tags('codex-config.5', 'REQUIREMENTS OF AN ADMINISTRATOR').slice(-limits.length), limits);
	const features = [...source('src/config/feature.def').matchAll(/^FEATURE\((\w+)/gm)].map((match) => match[1]);
	const stages = section('codex-config.5', 'FEATURES');
	for (const feature of features) assert.match(stages, new RegExp(`\\b${feature}\\b`));
});

test('codex-mock-model(1) has every key of a script', needsPages, () => {
	const page = render('codex-mock-model.1');
	const keys = [...source('src/server/mock/mock_script.def').matchAll(/^(?:KEY|CONDITION|TOKENS|MEMBER|STEP)\((\w+)/gm)];
	assert.ok(keys.length > 30);
	for (const [, key] of keys) assert.match(page, new RegExp(`\\b${key}\\b`), key);
});

test('libcodex(3) has every function and constant of the header', needsPages, () => {
	const page = 'libcodex.3', header = source('include/codex/codex.h');
	const functions = [...header.matchAll(/^CODEX_EXPORT .*?\b(codex_\w+)\(/gm)].map((match) => match[1]);
	const exported = [...source('src/codex.map').matchAll(/\b(codex_\w+);/g)].map((match) => match[1]);
	assert.ok(functions.length >= 7);
	for (const name of exported) assert.ok(functions.includes(name), name);
	for (const name of functions) assert.equal(tags(page, 'FUNCTIONS').filter((tag) => tag.includes(`${name}(`)).length, 1, name);
	const constants = [...header.matchAll(/^\t(CODEX_\w+) =/gm)].map((match) => match[1]);
	assert.deepEqual(tags(page, 'CONSTANTS').map((tag) => tag.split(' ')[0]), constants);
});

// --- libraries ------------------------------------------------------------------------------------------------------

/** Run-time libraries of compilers, the loader, and parts of the C library that older systems have apart. */
const OF_COMPILER = /^(ld-linux|linux-vdso|libasan|libubsan|libtsan|libgcc_s|libm\.|libdl\.|libpthread\.|libstdc\+\+)/;

/** The libraries without which a program does not start. */
function needed(program) {
	const { stdout } = spawnSync('readelf', ['-d', path.join(path.dirname(codexBin), program)], { encoding: 'utf8' });
	return [...stdout.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map((match) => match[1]).filter((name) => !OF_COMPILER.test(name)).sort();
}

test('the bill of materials has the libraries that each program links and loads, and no others',
	{ skip: needsPages.skip || lacks('readelf') }, () => {
		const bom = JSON.parse(fs.readFileSync(path.join(folder, 'codex.cdx.json'), 'utf8'));
		assert.deepEqual([bom.bomFormat, bom.specVersion, bom.metadata.component.name], ['CycloneDX', '1.5', 'codex']);
		const property = (component, name) => component.properties.find((row) => row.name === `codex:${name}`)?.value;
		const named = Object.fromEntries(bom.components.map((it) => [it['bom-ref'], it]));
		const sonames = (program, use) => bom.dependencies.find(({ ref }) => ref === program).dependsOn.map((name) => named[name])
			.filter((it) => property(it, 'use') === use).map((it) => property(it, 'soname')).sort();

		for (const program of ['codex', 'codex-fleet', 'codex-code-mode-host']) {
			const found = needed(program);
			// libuv may be in the program.
			assert.deepEqual(found, sonames(program, 'linked').filter((name) => name !== 'libuv.so.1' || found.includes(name)), program);
		}

		// The sources open libraries by the table alone, whose names the program carries in its notes.
		for (const file of fs.readdirSync(path.join(root, 'src'), { recursive: true })) {
			if (file.endsWith('.c'))
				assert.doesNotMatch(source(path.join('src', file)), /"lib[\w+-]+\.so(?:\.\d+)*"/, file);
		}
		for (const program of ['codex', 'codex-fleet']) {
			const bytes = fs.readFileSync(path.join(path.dirname(codexBin), program), 'latin1');
			const noted = [...bytes.matchAll(/"soname":\["([^"]+)"\]/g)].map((match) => match[1]);
			assert.deepEqual(sonames(program, 'loaded'), [...new Set(noted)].sort(), program);
		}
		// The host of scripts opens one engine, in one of two versions.
		const opened = [...source('code_mode_host/host_jsc.c').matchAll(/dlopen\("([^"]+)"/g)].map((match) => match[1]);
		assert.deepEqual(sonames('codex-code-mode-host', 'loaded'), opened.slice(0, 1));

		const libraries = bom.components.filter(({ type }) => type === 'library');
		for (const component of libraries) {
			assert.match(component.licenses[0].license.id, /^[A-Za-z0-9.-]+$/);
			assert.match(component.externalReferences[0].url, /^https:/);
			assert.ok(bom.dependencies.some(({ dependsOn }) => dependsOn.includes(component['bom-ref'])), component.name);
		}
		assert.deepEqual(bom.components.filter(({ type }) => type === 'application').map(({ name }) => name),
			['codex-fleet', 'codex-code-mode-host']);
	});

test('the list of licences names every component', needsPages, () => {
	const bom = JSON.parse(fs.readFileSync(path.join(folder, 'codex.cdx.json'), 'utf8'));
	const list = fs.readFileSync(path.join(folder, 'THIRD-PARTY'), 'utf8');
	for (const component of bom.components.filter(({ type }) => type === 'library')) {
		const [, entry] = list.split(`\n${component.name} (`);
		assert.ok(entry?.split('\n\n')[0].includes(component.licenses[0].license.id), component.name);
	}
});
