// Compares command_parse with the grammar of the shell (tree-sitter-bash): a script that it accepts as plain words must
// consist of exactly these words in the grammar. It may reject scripts that the grammar accepts.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexBin } from './lib/codex.mjs';

const reader = path.join(path.dirname(codexBin), 'tests/e2e/command_reader');
const grammar = fileURLToPath(new URL('node_modules/tree-sitter-bash/tree-sitter-bash.wasm', import.meta.url));
const missing = [reader, grammar].find((file) => !fs.existsSync(file));
const options = { skip: missing ? `${missing} is not there` : false };

/** Our reader's result for each script: { commands, safe, dangerous }. */
function read(scripts) {
	const { status, stdout, stderr } = spawnSync(reader, { input: scripts.map((script) => script + '\0').join(''), maxBuffer: 1 << 28 });
	assert.equal(status, 0, String(stderr));
	const answers = String(stdout).split('\n').slice(0, -1).map((line) => JSON.parse(line));
	assert.equal(answers.length, scripts.length);
	return answers;
}

// --- the grammar ----------------------------------------------------------------------------------------------------

const { Parser, Language } = options.skip ? {} : await import('web-tree-sitter');
let parser;
if (Parser) {
	await Parser.init();
	parser = new Parser();
	parser.setLanguage(await Language.load(grammar));
}

const PLAIN = new Set(['program', 'list', 'pipeline', 'command', 'command_name', 'word', 'number', 'string', 'string_content',
	'raw_string', 'concatenation', 'comment', '"', "'", '&&', '||', ';', '|', '\n', ',', '=', '==', '#', '[', ']', '?', '*', '^']);

/** The text of a word's node, without its quotes. */
function textOf(node) {
	if (node.type === 'raw_string') return node.text.slice(1, -1);
	if (node.type === 'string') return node.text.slice(1, -1);
	if (node.type === 'concatenation') return node.children.map(textOf).join('');
	return node.text;
}

/** The commands of a script by the grammar, or the first node that is not plain. */
function parse(script) {
	const tree = parser.parse(script);
	const commands = [];
	let odd = tree.rootNode.hasError ? 'ERROR' : null;
	const walk = (node) => {
		if (!PLAIN.has(node.type)) odd ??= node.type;
		if (node.type === 'command') commands.push(node.namedChildren.map((child) =>
			textOf(child.type === 'command_name' ? child.firstChild : child)));
		node.children.forEach(walk);
	};
	walk(tree.rootNode);
	tree.delete();
	return { commands, odd };
}

/** Every script that command_parse accepts is plain in the grammar, with the same words. */
function compare(scripts) {
	let known = 0;
	const wrong = [];
	read(scripts).forEach(({ commands, safe }, at) => {
		const script = scripts[at];
		if (safe && !commands) wrong.push({ script, safe });
		if (!commands) return;
		known++;
		const theirs = parse(script);
		if (theirs.odd) wrong.push({ script, odd: theirs.odd });
		else if (JSON.stringify(theirs.commands) !== JSON.stringify(commands)) wrong.push({ script, ours: commands, theirs: theirs.commands });
	});
	assert.deepEqual(wrong.slice(0, 20), []);
	return known;
}

// --- scripts --------------------------------------------------------------------------------------------------------

/** Numbers below n, the same ones in each run (xorshift). */
function dice(seed) {
	let state = seed;
	return (n) => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) % n;
	};
}

const NAMES = ['ls', 'cat', 'echo', 'git', 'rg', './x', 'a-b', 'wc', '/bin/ls', "'ls'", 'l"s"'];
const WORDS = ['ls', 'cat', 'echo', 'git', 'status', '-l', '-la', '--all', 'a.txt', 'src/a.c', '../b', '*.c', '**/x?', 'a[1]', '~', '~/a',
	'HEAD~1', 'HEAD^', 'a=b', '--x=y', '-k1,2', 'a:b', 'u@h', '%s', '50%', '+x', '1,20p', '\'a b\'', '"a b"', '"a"\'b\'c', "''", '""',
	'x#y', '-', '--', '.', 'a\'b\'', '[', ']', '=', '==', 'if', 'then', 'fi', 'do', 'done', 'time', 'test', '0', '1', '12'];
const NASTY = ['$HOME', '${a}', '$(id)', '`id`', '$((1))', "$'a'", '$"a"', '"$a"', '"$(id)"', '"`id`"', '{a,b}', '{1..3}', '>x', '> x',
	'2>&1', '>>x', '<x', '<<<x', '<(id)', '>(id)', '&>x', '\\a', '"\\a"', '!', '!!', '(', ')', '{', '}', '$', '\\\n', '=x', 'a=', 'A=b',
	'@(a|b)', '!(a)', '\\', '\'', '"', '`', '#', '\t', '\r', 'é', '~user', 'a:~', 'a=~', '<<E\nx\nE\n', '[[ a ]]', 'x()', '\u00a0', '$?'];
const JOINS = [' && ', ' || ', '; ', ' | ', '\n', '&&', '||', ';', '|', ' & ', ' |& ', ' ;; ', ' \n ', ';\n', '&& \n'];

function generated(count, seed, nastiness) {
	const roll = dice(seed);
	const pick = (list) => list[roll(list.length)];
	const word = () => roll(100) < nastiness ? pick(NASTY) : pick(WORDS);
	const name = () => roll(100) < nastiness || !roll(10) ? word() : pick(NAMES);
	const command = () => [name(), ...Array.from({ length: roll(5) }, word)].join(roll(30) ? ' ' : '');
	return Array.from({ length: count }, () => {
		let script = roll(40) ? '' : pick([' ', '\n', '#x\n', '\t']);
		script += command();
		for (let more = roll(4); more > 0; more--) script += pick(JOINS) + command();
		return script + (roll(20) ? '' : pick([';', '\n', ' # end', '&', ' \\', '|']));
	});
}

/** Valid scripts with one random insertion. */
function spoiled(count, seed) {
	const roll = dice(seed);
	const bytes = '$`"\'\\(){}[]<>&|;!#~*?=^%@+,:. \t\n\r-azAZ09_\u0001\u007f';
	return generated(count, seed, 0).map((script) => {
		const at = roll(script.length + 1);
		return script.slice(0, at) + (roll(3) ? bytes[roll(bytes.length)] : NASTY[roll(NASTY.length)]) + script.slice(at + roll(2));
	});
}

test('twenty thousand scripts of all kinds are read as the grammar has them, or not at all', options, () => {
	const plain = compare(generated(6000, 1, 0));
	assert.ok(plain > 1500, `only ${plain} of the plain ones are understood`); // else this test says nothing
	compare(generated(6000, 2, 8));
	compare(generated(2000, 3, 50));
	compare(spoiled(6000, 4));
});

test('everyday commands match the grammar', options, () => {
	const source = fs.readFileSync(new URL('../unit/test_command_safety.c', import.meta.url), 'utf8');
	const literals = [...source.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, text]) => text).filter((text) => !/\\x/.test(text));
	const scripts = literals.map((text) => JSON.parse(`"${text}"`));
	assert.ok(scripts.length > 300);
	assert.ok(compare(scripts) > 150);
});

test('text with expansions is never parsed as plain commands', options, () => {
	const holes = ['$HOME', '${a:-b}', '$(id)', '`id`', '$((1+1))', "$'\\n'", '>x', '2>x', '<x', '<<<x', '<(id)', '&', '(id)', '{ id; }',
		'A=b id', '!id', 'if id; then id; fi', 'for a in b; do id; done', 'id()\n{ id; }', '[[ a ]]', '((a=1))', '{a,b}', '"$a"', '"`id`"'];
	const frames = ['#', 'ls #', 'ls # x', '# ls', 'ls && #', '# || ls', 'ls | #', 'ls; #', 'ls\n#', 'a#', 'ls "x" # \'y\''];
	const scripts = holes.flatMap((hole) => frames.map((frame) => frame.replace('#', () => hole))).filter((script) => parse(script).odd);
	assert.ok(scripts.length > 200);
	const answers = read(scripts);
	assert.deepEqual(scripts.filter((script, at) => answers[at].commands || answers[at].safe), []);
});
