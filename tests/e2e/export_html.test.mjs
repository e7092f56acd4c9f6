// codex export --format html: one file without scripts, in which all text of a session is text.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeHome, needs, patch, reply, run, runCodex, say, startModel, tempDir } from './lib/codex.mjs';
import { browser, closeBrowser, needsBrowser } from './lib/serve.mjs';

const exporting = needs('export');
const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>';
after(closeBrowser);

async function exported(t) {
	const answer = `## Found\n\n**bold** \`code\` ${EVIL}\n\n- one\n\n[ok](https://example.org/) ` +
		`[bad](javascript:alert(1)) ![p](https://evil.example/p.png)\n\n\`\`\`\n${EVIL}\n\`\`\``;
	const model = await startModel(t, [
		reply(
			{ reasoning: EVIL },
			{ message: answer, phase: 'commentary' },
			{ call: 'exec_command', arguments: { cmd: `printf '%s' '${EVIL}\u202e'` } }
		),
		patch('*** Add File: new.txt', `+${EVIL}`),
		say('Done.')
	]);
	const home = makeHome(t, model, 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n');
	const cwd = tempDir(t, 'cwd'),
		file = path.join(cwd, 'session.html');
	assert.equal(
		(await runCodex(t, ['exec', '--skip-git-repo-check', `fix ${EVIL} \u202e`], { home, cwd })).code,
		0
	);
	const { code, stderr } = await runCodex(t, ['export', '--last', '--format', 'html', '-o', file], {
		home,
		cwd
	});
	assert.equal(code, 0, stderr);
	return file;
}

test('the file has the messages, and no markup of theirs', exporting, async (t) => {
	const text = fs.readFileSync(await exported(t), 'utf8');
	assert.match(text, /^<!doctype html>/);
	assert.match(text, /content-security-policy" content="default-src 'none'/);
	assert.doesNotMatch(text, /<script|<img|<[^>]*\son\w+=|\u202e/);
	assert.match(text, /fix &#60;img src=x/);
	assert.match(text, /\\u202e/);
	assert.match(text, /<strong>bold<\/strong>/);
	assert.match(text, /href="https:\/\/example.org\/"/);
	assert.deepEqual(
		[...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href),
		['https://example.org/', 'https://evil.example/p.png']
	);
	assert.match(text, /bad \(javascript:alert\(1\)\)/);
});

test(
	'a browser without scripts shows it, and asks for nothing',
	{ ...needsBrowser, ...(exporting.skip && exporting) },
	async (t) => {
		const file = await exported(t);
		const context = await (
			await browser()
		).newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 640 } });
		t.after(() => context.close());
		const window = await context.newPage(),
			requests = [];
		window.on('request', (request) => requests.push(request.url()));
		await window.goto(pathToFileURL(file).href);
		const names = await window
			.getByRole('article')
			.evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label')));
		for (const name of ['You', 'Codex', 'Command', 'File change'])
			assert.ok(names.includes(name), `${name} in ${names}`);
		assert.equal(
			await window.getByRole('article', { name: 'File change' }).getByText('Applied').count(),
			1
		);
		assert.deepEqual(requests, [pathToFileURL(file).href]);
	}
);
