// Keys of docs/config.md whose effect no other file tests.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { startAppServer, text } from './lib/app_server.mjs';
import { codexExec, forever, needs, run, say, startModel, tempDir } from './lib/codex.mjs';

const options = needs('exec');

/** The first request of `codex exec` with these settings. */
async function request(t, ...settings) {
	const model = await startModel(t, [forever(say('ok'))]);
	const cwd = tempDir(t, 'cwd');
	fs.writeFileSync(path.join(cwd, 'NOTES.md'), 'Notes about pears.');
	const { code, stderr } = await codexExec(t, model, [...settings.flatMap((it) => ['-c', it]), 'hi'], { cwd });
	assert.equal(code, 0, stderr);
	return model.requests()[0].body;
}

for (const [name, settings, part, before] of [
	['plan_mode_reasoning_effort counts in plan mode alone', ['plan_mode_reasoning_effort="high"', 'collaboration_mode="plan"'],
		({ reasoning }) => reasoning?.effort === 'high', ['plan_mode_reasoning_effort="high"']],
	['model_supports_reasoning_summaries sends reasoning for an unknown model', ['model="unknown"', 'model_supports_reasoning_summaries=true'],
		({ reasoning }) => reasoning?.summary === 'auto', ['model="unknown"']],
	['project_doc_fallback_filenames are read if there is no AGENTS.md', ['project_doc_fallback_filenames=["NOTES.md"]'],
		({ input }) => JSON.stringify(input).includes('Notes about pears.'), []],
	['include_permissions_instructions = false leaves the sandbox out', [],
		({ input }) => JSON.stringify(input).includes('<permissions instructions>'), ['include_permissions_instructions=false']],
	['features.request_permissions_tool offers the tool', ['features.request_permissions_tool=true'],
		({ tools }) => tools.some(({ name }) => name === 'request_permissions'), []],
]) {
	test(name, options, async (t) => {
		assert.equal(part(await request(t, ...settings)), true);
		assert.equal(part(await request(t, ...before)), false);
	});
}

test('app_server.legacy_approvals asks with the requests of old clients', needs('app-server'), async (t) => {
	for (const [setting, method] of [['', 'item/commandExecution/requestApproval'], ['[app_server]\nlegacy_approvals = true\n', 'execCommandApproval']]) {
		const model = await startModel(t, [run('touch made'), say('done')]);
		const server = await startAppServer(t, model, { config: `approval_policy = "untrusted"\n${setting}` });
		const { thread } = await server.request('thread/start', { cwd: tempDir(t, 'cwd') });
		await server.request('turn/start', { threadId: thread.id, input: [text('go')] });
		const asked = await server.next(method);
		server.answer(asked, { decision: setting ? 'denied' : 'decline' });
		await server.next('turn/completed');
	}
});
