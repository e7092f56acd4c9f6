// Clones of plugins and marketplaces: their limits of time and size, and what a host or a signal can do to them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import test from 'node:test';

import { codexBin, launch, makeHome, needs, runCodex, tempDir, waitFor } from './lib/codex.mjs';

const options = needs('plugin');
const plugin = (t, home, args, more) => runCodex(t, ['plugin', ...args], { home, ...more });

/** A folder with a marketplace of these plugins, and with the plugin desk in it. */
function makeMarket(t, plugins = []) {
	const root = fs.realpathSync(tempDir(t, 'market'));
	for (const [file, json] of [['.agents/plugins/marketplace.json', { name: 'shop', plugins: [{ name: 'desk', source: './desk' }, ...plugins] }],
		['desk/.codex-plugin/plugin.json', { name: 'desk', version: '1.0' }], ['.codex-plugin/plugin.json', { name: 'whole', version: '1.0' }]]) {
		fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
		fs.writeFileSync(path.join(root, file), JSON.stringify(json));
	}
	return root;
}

/** git in a folder, which becomes a repository. */
function gitIn(root) {
	const git = (args, input = '') => execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args],
		{ input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] }).trim();
	git(['init', '-q', '-b', 'main']);
	for (const [key, value] of [['uploadpack.allowFilter', 'true'], ['core.compression', '0']]) git(['config', key, value]);
	git(['add', '-A']);
	git(['commit', '-qm', 'one']);
	return git;
}

/** Replaces the folder `all` of the repository by this tree. */
function addTree(git, tree) {
	const others = git(['ls-tree', 'HEAD']).split('\n').filter((row) => !row.endsWith('\tall'));
	const whole = git(['mktree'], [...others, `040000 tree ${tree}\tall\n`].join('\n'));
	git(['update-ref', 'refs/heads/main', git(['commit-tree', '-m', 'two', whole])]);
}

/** A host that accepts connections and says nothing. */
async function startSilent(t) {
	const open = new Set();
	const server = net.createServer((socket) => {
		open.add(socket);
		socket.on('error', () => {}).on('close', () => open.delete(socket)).resume();
	});
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	return { url: `https://127.0.0.1:${server.address().port}/x`, server, open };
}

const foldersOf = (home) => ['plugins', 'plugins/cache', '.tmp/marketplaces'].map((it) => path.join(home, it))
	.flatMap((it) => fs.existsSync(it) ? fs.readdirSync(it) : []);
const freshOf = (home) => foldersOf(home).filter((it) => it.startsWith('.new-'));

/** Resolves when the host has lost all its connections. */
async function allClosed({ open }) {
	for (const socket of open) await once(socket, 'close');
}

test('a host that says nothing has a limit of time, and git ends with it', options, async (t) => {
	const host = await startSilent(t), home = makeHome(t, null), env = { CODEX_CLONE_TIMEOUT_MS: '300' };
	await plugin(t, home, ['marketplace', 'add', makeMarket(t, [{ name: 'far', source: { source: 'url', url: host.url } }])]);
	for (const args of [['add', 'far@shop'], ['add', host.url], ['marketplace', 'add', host.url]]) {
		const { code, stderr } = await plugin(t, home, args, { env });
		assert.deepEqual([code, /`git clone` was ended: a clone has 300 ms \(CODEX_CLONE_TIMEOUT_MS/.test(stderr)], [1, true], stderr);
		await allClosed(host);
		assert.deepEqual(freshOf(home), []);
	}
	assert.doesNotMatch(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /plugins/);
	fs.appendFileSync(path.join(home, 'config.toml'), `\n[marketplaces.away]\nsource_type = "git"\nsource = "${host.url}"\n`);
	const { code, stderr } = await plugin(t, home, ['marketplace', 'upgrade', 'away'], { env });
	assert.deepEqual([code, /`git clone` was ended: a clone has 300 ms/.test(stderr)], [1, true], stderr);
	await allClosed(host);
	assert.deepEqual(freshOf(home), []);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL']) {
	test(`other changes do not wait for a host, and nothing is left after ${signal}`, options, async (t) => {
		const host = await startSilent(t), home = makeHome(t, null);
		await plugin(t, home, ['marketplace', 'add', makeMarket(t, [{ name: 'far', source: { source: 'url', url: host.url } }])]);
		let child;
		const adding = plugin(t, home, ['add', 'far@shop'], { onStart: (it) => { child = it; } });
		await once(host.server, 'connection');
		assert.equal(freshOf(home).length, 1);
		assert.equal((await plugin(t, home, ['add', 'desk@shop'])).code, 0);
		assert.equal(freshOf(home).length, 1, 'what another process uses is not removed');
		child.kill(signal);
		await once(child, 'exit');
		await allClosed(host);
		assert.equal((await adding).signal, signal);
		if (signal === 'SIGKILL') assert.equal((await plugin(t, home, ['remove', 'desk@shop'])).code, 0);
		assert.deepEqual(freshOf(home), [], 'nothing is left');
	});
}

/** A git that stops at the clone: `runs` resolves when it has begun, go() lets it continue. `checked` resolves after the checkout. */
function gate(t) {
	const bin = tempDir(t, 'bin'), [runs, goes, done] = ['runs', 'goes', 'done'].map((it) => path.join(bin, it));
	execFileSync('mkfifo', [runs, goes, done]);
	fs.writeFileSync(path.join(bin, 'git'), `#!/bin/sh\ncase "$*" in *clone*) echo > ${runs}; cat ${goes};; esac
PATH=\${PATH#*:} git "$@" || exit\ncase "$*" in *\\ checkout\\ *) [ ! -e ${bin}/tells ] || echo > ${done};; esac\n`, { mode: 0o755 });
	return { env: { PATH: `${bin}:${process.env.PATH}` }, runs: fs.promises.readFile(runs), go: () => fs.promises.writeFile(goes, ''),
		checked: () => { fs.writeFileSync(path.join(bin, 'tells'), ''); return fs.promises.readFile(done); } };
}

test('a plugin whose marketplace was removed, taken or changed meanwhile is not installed', options, async (t) => {
	const root = makeMarket(t), whole = { name: 'whole', source: { source: 'url', url: `file://${root}` } };
	gitIn(root);
	const rows = [[/marketplace `shop` is already added from/, async (home) => {
		assert.equal((await plugin(t, home, ['marketplace', 'remove', 'shop'])).code, 0);
		assert.equal((await plugin(t, home, ['marketplace', 'add', makeMarket(t)])).code, 0);
	}], [/names another source for `whole@shop` now/, (home, market) => {
		const other = { ...whole, source: { ...whole.source, ref: 'main' } };
		fs.writeFileSync(path.join(market, '.agents/plugins/marketplace.json'), JSON.stringify({ name: 'shop', plugins: [other] }));
	}]];
	for (const [why, change] of rows) {
		const home = makeHome(t, null), market = makeMarket(t, [whole]), { env, runs, go } = gate(t);
		await plugin(t, home, ['marketplace', 'add', market]);
		const adding = plugin(t, home, ['add', 'whole@shop'], { env });
		await runs;
		await change(home, market);
		await go();
		const { code, stderr } = await adding;
		assert.deepEqual([code, why.test(stderr)], [1, true], stderr);
		assert.deepEqual(foldersOf(home), ['cache']);
	}
});

test('a signal ends the wait for the lock of another process, and nothing is left', options, async (t) => {
	const root = makeMarket(t), home = makeHome(t, null), { env, runs, go, checked } = gate(t);
	gitIn(root);
	await plugin(t, home, ['marketplace', 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url: `file://${root}` } }])]);
	let child, told = '';
	const adding = plugin(t, home, ['add', 'whole@shop'], { env, onStart: (it) => {
		child = it;
		it.stderr.on('data', (bytes) => (told += bytes));
	} });
	await runs;
	const holder = launch(t, 'flock', [path.join(home, '.tmp/marketplaces'), 'sh', '-c', 'echo held; exec cat']);
	await once(holder.child.stdout, 'data');
	const ready = checked();
	await go();
	await ready; // from here on it waits for the lock
	await waitFor(child.stderr, () => told, (text) => /another process changes plugins or marketplaces: waiting/.exec(text));
	child.kill('SIGINT');
	assert.equal((await adding).signal, 'SIGINT');
	assert.deepEqual(foldersOf(home), ['cache']);
	holder.child.stdin.end();
	assert.doesNotMatch(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /plugins/);
});

test('a clone waits for the lock of another process, and has it afterwards', options, async (t) => {
	const root = makeMarket(t), home = makeHome(t, null), { env, runs, go, checked } = gate(t);
	gitIn(root);
	await plugin(t, home, ['marketplace', 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url: `file://${root}` } }])]);
	const adding = plugin(t, home, ['add', 'whole@shop'], { env });
	await runs;
	const holder = launch(t, 'flock', [path.join(home, '.tmp/marketplaces'), 'sh', '-c', 'echo held; exec cat']);
	await once(holder.child.stdout, 'data');
	const ready = checked();
	await go();
	await ready;
	holder.child.stdin.end();
	assert.equal((await adding).code, 0);
	assert.match(fs.readFileSync(path.join(home, 'config.toml'), 'utf8'), /plugins/);
});

test('a change waits for the lock of another process no longer than a clone may take', options, async (t) => {
	const home = makeHome(t, null);
	assert.equal((await plugin(t, home, ['marketplace', 'add', makeMarket(t)])).code, 0);
	const holder = launch(t, 'flock', [path.join(home, '.tmp/marketplaces'), 'sh', '-c', 'echo held; exec cat']);
	await once(holder.child.stdout, 'data');
	const { code, stderr } = await plugin(t, home, ['marketplace', 'remove', 'shop'], { env: { CODEX_CLONE_TIMEOUT_MS: '1500' } });
	assert.deepEqual([code, /changes plugins or marketplaces: waiting/.test(stderr), /changes plugins or marketplaces: try again/.test(stderr)],
		[1, true, true], stderr);
	holder.child.stdin.end();
	assert.equal((await plugin(t, home, ['marketplace', 'remove', 'shop'])).code, 0);
});

test('git that fails is noticed by a program that was started with ignored children', options, async (t) => {
	const home = makeHome(t, null), root = tempDir(t, 'none');
	const args = ['-c', 'trap "" CHLD; exec "$0" plugin marketplace add "$1"', codexBin, `file://${root}/absent.git`];
	const { code, stderr } = await launch(t, 'bash', args, { env: { ...process.env, CODEX_HOME: home } }).done;
	assert.deepEqual([code, /`git clone` failed|`git fetch` failed/.test(stderr)], [1, true], stderr);
});

test('each process of git has a limit of memory', options, async (t) => {
	const home = makeHome(t, null), bin = tempDir(t, 'bin');
	fs.writeFileSync(path.join(bin, 'git'), `#!/bin/sh\nulimit -d > ${bin}/limit\nexit 1\n`, { mode: 0o755 });
	const { code } = await plugin(t, home, ['add', 'https://127.0.0.1:1/x'], { env: { PATH: `${bin}:${process.env.PATH}` } });
	assert.deepEqual([code, fs.readFileSync(path.join(bin, 'limit'), 'utf8')], [1, `${1 << 20}\n`]);
});

test('attributes of a repository do not make its files larger', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t), file = '$Id$\n'.repeat(1000);
	fs.writeFileSync(path.join(root, '.gitattributes'), 'b.txt text ident eol=crlf working-tree-encoding=UTF-32LE\n');
	gitIn(root); // without b.txt, which git would read as UTF-32
	fs.writeFileSync(path.join(root, '.git/info/attributes'), '* -text -ident -eol -working-tree-encoding\n');
	fs.writeFileSync(path.join(root, 'b.txt'), file);
	gitIn(root);
	assert.equal((await plugin(t, home, ['add', `file://${root}`])).stdout, 'Added plugin whole.\n');
	assert.equal(fs.readFileSync(path.join(home, 'plugins/whole/b.txt'), 'utf8'), file);
});

test('a limit of time that is no number of milliseconds is refused', options, async (t) => {
	for (const ms of ['x', '-1', '2147483648']) {
		const { code, stderr } = await plugin(t, makeHome(t, null), ['add', 'https://127.0.0.1:1/x'], { env: { CODEX_CLONE_TIMEOUT_MS: ms } });
		assert.deepEqual([code, /CODEX_CLONE_TIMEOUT_MS must be a number of milliseconds, at most 2147483647/.test(stderr)], [1, true], stderr);
	}
});

test('git asks nobody for a password', options, async (t) => {
	const home = makeHome(t, null), bin = tempDir(t, 'bin'), ran = path.join(bin, 'ran'), ask = path.join(bin, 'ask');
	fs.writeFileSync(ask, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
	fs.writeFileSync(path.join(bin, 'ssh'), `#!/bin/sh\ncat /proc/$$/stat > ${bin}/session\nenv > ${bin}/env\nexit 1\n`, { mode: 0o755 });
	const server = http.createServer((request, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end());
	await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
	t.after(() => server.close());
	const env = { GIT_ASKPASS: ask, SSH_ASKPASS: ask, DISPLAY: ':0', PATH: `${bin}:${process.env.PATH}` };
	const { code, stderr } = await plugin(t, home, ['add', `http://127.0.0.1:${server.address().port}/x`], { env });
	assert.deepEqual([code, /could not read Username.*terminal prompts disabled/.test(stderr)], [1, true], stderr);
	assert.equal((await plugin(t, home, ['add', 'ssh://127.0.0.1/x'], { env })).code, 1);
	assert.ok(!fs.existsSync(ran));
	const sessionOf = (file) => fs.readFileSync(file, 'utf8').split(') ')[1].split(' ')[3];
	assert.notEqual(sessionOf(path.join(bin, 'session')), sessionOf('/proc/self/stat'), 'ssh has no terminal');
	assert.match(fs.readFileSync(path.join(bin, 'env'), 'utf8'), /^SSH_ASKPASS_REQUIRE=never$/m);
});

test('variables that name another repository do not reach git', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t), env = { GIT_DIR: '/none', GIT_WORK_TREE: '/none', GIT_INDEX_FILE: '/none' };
	gitIn(root);
	assert.equal((await plugin(t, home, ['add', `file://${root}`], { env })).stdout, 'Added plugin whole.\n');
});

test('a repository with too many files or bytes is refused before it is checked out', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t), git = gitIn(root), url = `file://${root}`;
	const whole = { source: 'url', url }, part = { source: 'git-subdir', url, path: 'all' };
	await plugin(t, home, ['marketplace', 'add', makeMarket(t, [{ name: 'whole', source: whole }, { name: 'part', source: part }])]);
	const refused = async (why) => {
		for (const args of [['add', 'whole@shop'], ['add', 'part@shop'], ['add', url], ['marketplace', 'add', url]]) {
			const { code, stderr } = await plugin(t, home, args);
			assert.deepEqual([code, why.test(stderr)], [1, true], `${args}: ${stderr}`);
			assert.deepEqual(freshOf(home), []);
		}
	};
	const blob = git(['hash-object', '-w', '--stdin'], 'x');
	const repeat = (count, type, id) => git(['mktree'], Array.from({ length: count }, (_, i) => `${type} ${id}\tf${i}\n`).join(''));
	const files = repeat(100, '100644 blob', blob), folders = repeat(30, '040000 tree', files);
	addTree(git, repeat(6, '040000 tree', folders)); // 18,000 files with four names each
	await refused(/more than 65536 files and folders/);
	addTree(git, repeat(100, '040000 tree', folders));
	await refused(/more files than a list of 4 MiB can name/);
	addTree(git, repeat(65, '100644 blob', git(['hash-object', '-w', '--stdin'], '\0'.repeat(4 << 20))));
	await refused(/or 256 MiB/);
});

test('what one transfer brings is bounded', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t);
	fs.writeFileSync(path.join(root, 'large'), crypto.randomBytes(129 << 20));
	gitIn(root);
	const { code, stderr } = await plugin(t, home, ['add', `file://${root}`]);
	assert.deepEqual([code, /File too large/.test(stderr), /`git clone` failed/.test(stderr)], [1, true, true], stderr);
	assert.deepEqual(foldersOf(home), []);
});

test('what the commit of a marketplace brings is bounded, whatever number of objects it has', options, async (t) => {
	const home = makeHome(t, null), root = makeMarket(t), git = gitIn(root);
	for (const name of ['a', 'b', 'c']) fs.writeFileSync(path.join(root, name), crypto.randomBytes(45 << 20));
	git(['add', '-A']);
	git(['commit', '-qm', 'large']);
	const sha = git(['rev-parse', 'HEAD']);
	git(['update-ref', 'refs/heads/main', git(['rev-parse', 'HEAD~'])]);
	await plugin(t, home, ['marketplace', 'add', makeMarket(t, [{ name: 'whole', source: { source: 'url', url: `file://${root}`, sha } }])]);
	const { code, stderr } = await plugin(t, home, ['add', 'whole@shop']);
	assert.deepEqual([code, /File too large/.test(stderr), /`git fetch` failed/.test(stderr)], [1, true, true], stderr);
	assert.deepEqual(foldersOf(home), ['cache']);
});
