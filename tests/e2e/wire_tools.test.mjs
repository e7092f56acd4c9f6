// Features of sessions that need several tools or threads, on each API: questions, skills, subagents, plan mode, compaction.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { codexExec, needs, tempDir } from './lib/codex.mjs';
import { startProto, userInput } from './lib/proto.mjs';
import { ANSWERS, outputOn, startStrict, toolsOn } from './lib/wire_answers.mjs';
import { wireHome } from './lib/wires.mjs';

const proto = needs('proto'), exec = needs('exec');
const override = (mode) => ({ type: 'override_turn_context', collaboration_mode: { mode, settings: { model: 'm', reasoning_effort: null,
	developer_instructions: null } } });

/** An answer that depends on the request: that of the first row whose test accepts its text. Each row is used once. */
function choose(rows) {
	const left = [...rows];
	return (got) => {
		const at = left.findIndex(([test]) => test(got.text));
		if (at < 0) throw new Error(`no answer to ${got.text.slice(-500)}`);
		const [[, answer]] = left.splice(at, 1);
		return typeof answer === 'function' ? answer(got) : answer;
	};
}

for (const wire of ['responses', 'chat', 'messages']) {
	const { say, calls } = ANSWERS[wire];

	test(`${wire}: plan mode asks a question, gets the answer and proposes a plan`, proto, async (t) => {
		const options = [{ label: 'Small (Recommended)', description: 'less' }, { label: 'Large', description: 'more' }];
		const questions = [{ id: 'size', header: 'Size', question: 'Which?', options }];
		const server = await startStrict(t, wire, [calls([['request_user_input', { questions }, 'q1']]),
			say('Here it is:\n<proposed_plan>\n- build it\n</proposed_plan>\n'), say('Built.')]);
		const it = startProto(t, null, { home: wireHome(t, server) });
		it.submit('mode', override('plan'));
		it.submit('t1', userInput('plan it'));
		const asked = (await it.next('request_user_input')).msg;
		assert.deepEqual([asked.call_id, asked.questions.map(({ id, options: list }) => [id, list.length])], ['q1', [['size', 2]]]);
		const answers = { size: { answers: ['Large'] } };
		it.submit('a', { type: 'user_input_answer', id: 't1', response: { answers } });
		await it.next('task_complete');
		it.submit('mode2', override('default'));
		it.submit('t2', userInput('build it'));
		assert.equal((await it.next('task_complete')).msg.last_agent_message, 'Built.');
		await it.end();
		const plans = it.events().filter(({ msg }) => msg.type === 'item_completed' && msg.item.type === 'Plan');
		assert.deepEqual(plans.map(({ msg }) => msg.item.text.trim()), ['- build it']);
		assert.equal(outputOn(wire, server.requests[1], 'q1'), JSON.stringify({ answers }));
		assert.ok(toolsOn(wire, server.requests[0]).includes('request_user_input'));
		assert.ok(server.requests[0].text.includes('<collaboration_mode>'));
		assert.ok(server.requests[2].text.includes('- build it'));
		assert.deepEqual(server.faults, []);
	});

	test(`${wire}: skills are listed, and one that the prompt names is sent`, exec, async (t) => {
		const server = await startStrict(t, wire, [say('Done.')]), home = wireHome(t, server);
		const file = path.join(home, 'skills/greet/SKILL.md');
		fs.mkdirSync(path.dirname(file), { recursive: true });
		fs.writeFileSync(file, '---\nname: greet\ndescription: Greets people\n---\n\nSay hello in Latin.\n');
		const run = await codexExec(t, null, ['use $greet'], { home });
		assert.equal(run.stdout, 'Done.\n', run.stderr);
		const { text } = server.requests[0];
		assert.ok(text.includes('<skills_instructions>') && text.includes('- greet: Greets people'), text);
		assert.ok(text.includes('<skill>') && text.includes('Say hello in Latin.'), text);
		assert.deepEqual(server.faults, []);
	});

	test(`${wire}: a subagent is spawned, sent more input, awaited and closed`, proto, async (t) => {
		const name = (got, tool) => toolsOn(wire, got).find((it) => it.endsWith(tool));
		let agent;
		const isRoot = (text) => text.includes('ROOT');
		const root = (answer) => [isRoot, answer], child = (answer) => [(text) => !isRoot(text), answer];
		const tool = (called, args, id) => (got) => {
			const answer = calls([[name(got, called), args, id]]);
			if (wire === 'responses') answer[0].item.namespace = 'multi_agent_v1';
			return answer;
		};
		const server = await startStrict(t, wire, [choose([
			root(tool('spawn_agent', { message: 'count pears' }, 's1')),
			child(say('Two pears.')),
			root((got) => {
				agent = JSON.parse(outputOn(wire, got, 's1')).agent_id;
				return tool('wait_agent', { targets: [agent] }, 'w1')(got);
			}),
			root((got) => tool('send_input', { target: agent, message: 'and plums' }, 'i1')(got)),
			child(say('Three plums.')),
			root((got) => tool('wait_agent', { targets: [agent] }, 'w2')(got)),
			root((got) => tool('close_agent', { target: agent }, 'c1')(got)),
			root(say('Five fruits.')),
		])]);
		const it = startProto(t, null, { home: wireHome(t, server) });
		it.submit('t1', userInput('ROOT'));
		assert.equal((await it.next('task_complete')).msg.last_agent_message, 'Five fruits.');
		await it.end();
		const last = server.requests.filter(({ text }) => isRoot(text)).at(-1);
		assert.match(outputOn(wire, last, 'w1'), /Two pears\./);
		assert.match(outputOn(wire, last, 'w2'), /Three plums\./);
		assert.doesNotMatch(outputOn(wire, last, 'c1'), /unsupported|fail/);
		const children = server.requests.filter(({ text }) => !isRoot(text));
		assert.equal(children.length, 2);
		assert.ok(children[1].text.includes('Two pears.') && children[1].text.includes('and plums'));
		assert.deepEqual(server.faults, []);
	});

	test(`${wire}: a history is compacted on request, with calls in it, and goes on`, proto, async (t) => {
		const server = await startStrict(t, wire, [calls([['exec_command', { cmd: 'echo the-old-output' }, 'c1']], 'A thought.'), say('Ran it.'),
			say('SUMMARY OF ALL'), say('Going on.')]);
		const it = startProto(t, null, { home: wireHome(t, server, 'approval_policy = "never"\nsandbox_mode = "danger-full-access"') });
		it.submit('t1', userInput('first words'));
		await it.next('task_complete');
		it.submit('c', { type: 'compact' });
		await it.next('task_complete');
		it.submit('t2', userInput('second words'));
		assert.equal((await it.next('task_complete')).msg.last_agent_message, 'Going on.');
		await it.end();
		const [, , asked, after] = server.requests.map(({ text }) => text);
		assert.ok(asked.includes('the-old-output'));
		for (const kept of ['first words', 'SUMMARY OF ALL', 'second words']) assert.ok(after.includes(kept), kept);
		for (const gone of ['the-old-output', 'A thought.', 'Ran it.']) assert.ok(!after.includes(gone), gone);
		assert.deepEqual(server.faults, []);
	});
}
