// Code mode: scripts that call tools, with every JavaScript engine that is installed here.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

import { engines, hostsOf, runScript, script, shown, startThread, wait } from './lib/code_mode.mjs';
import { needs, patch, reply, say } from './lib/codex.mjs';

const server = needs('app-server');
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const json = (text) => JSON.parse(text);

test('the newest models get exec and wait, and scripts get the other tools', server, async (t) => {
	const thread = await startThread(t, []);
	await thread.turn();
	const { tools } = thread.model.requests()[0].body.input[0];
	assert.ok(tools.every(({ type }) => type === 'namespace'), 'no web_search beside them');
	const names = tools[0].tools.map(({ name }) => name);
	assert.deepEqual(names.slice(0, 2), ['exec', 'wait']);
	for (const name of ['exec_command', 'write_stdin', 'apply_patch', 'view_image']) assert.ok(!names.includes(name), name);
	assert.ok(names.includes('request_user_input'));
	const [exec, waits] = tools[0].tools;
	assert.equal(exec.type, 'custom');
	assert.match(exec.format.definition, /start:[^]*@exec:/);
	for (const word of ['text(', 'image(', 'store(', 'load(', 'notify(', 'exit(', 'yield_control(', 'setTimeout(', 'clearTimeout(',
		'tools', 'ALL_TOOLS', '@exec:', 'exec_command(', 'write_stdin(', 'apply_patch(', 'view_image(', 'workdir', 'tty',
		'sandbox_permissions', 'justification', 'session_id', 'wall_time_seconds'])
		assert.ok(exec.description.includes(word), word);
	assert.deepEqual(Object.keys(waits.parameters.properties).sort(), ['cell_id', 'max_tokens', 'terminate', 'yield_time_ms']);
	assert.deepEqual(waits.parameters.required, ['cell_id']);
});

test('features offer code mode to other models, with a warning', server, async (t) => {
	for (const [feature, has] of [['code_mode', true], ['code_mode_only', false]]) {
		const options = { config: `[features]\n${feature} = true`, params: { model: 'gpt-5.5' } };
		const thread = await startThread(t, [script('text(1)')], options);
		await thread.turn();
		const names = thread.model.requests()[0].body.tools.map(({ name }) => name);
		assert.deepEqual(names.slice(0, 2), ['exec', 'wait']);
		assert.equal(names.includes('exec_command'), has);
		assert.match(JSON.stringify(thread.server.all('warning')), /gpt-5\.5[^]*code mode/);
		assert.deepEqual(shown(thread.outputs()[0]).texts, ['1']);
	}
});

test('without the host a warning and a refusal say so', server, async (t) => {
	const off = await startThread(t, [script('text(1)')], { config: '[features]\ncode_mode_host = false' });
	await off.turn();
	assert.match(off.outputs()[0].output, /disabled/);
	assert.match(JSON.stringify(off.server.all('warning')), /code_mode_host/);
	const none = await startThread(t, [script('text(1)')], { env: { CODEX_CODE_MODE_HOST_PATH: '/nowhere' } });
	await none.turn();
	assert.match(none.outputs()[0].output, /codex-c-code-mode/);
	const mute = await startThread(t, [script('text(1)')], { engine: 'no-such-engine' });
	await mute.turn();
	assert.match(mute.outputs()[0].output, /libjavascriptcoregtk-4\.1-0 or nodejs/);
});

test('what is no script is refused before it starts', server, async (t) => {
	const cases = [['', /JavaScript/], [' \n', /JavaScript/], ['// @exec: nope\ntext(1)', /JSON/], ['// @exec: [1]\ntext(1)', /JSON/],
		['// @exec:\ntext(1)', /pragma/], ['// @exec: {"fast":1}\ntext(1)', /fast/], ['// @exec: {"yield_time_ms":-1}\ntext(1)', /yield_time_ms/],
		['// @exec: {"max_output_tokens":"5"}\ntext(1)', /max_output_tokens/], ['// @exec: {"yield_time_ms":5}\n  ', /source/]];
	const thread = await startThread(t, cases.map(([source]) => script(source)));
	await thread.turn();
	cases.forEach(([source, words], i) => {
		assert.equal(typeof thread.outputs()[i].output, 'string', source);
		assert.match(thread.outputs()[i].output, words);
	});
});

for (const engine of engines) {
	describe(engine, server, () => {
		const options = { engine };

		test('values are shown as the model expects them', async (t) => {
			const { head, texts } = await runScript(t, `text('a'); text(undefined); text(null); text(-0); text(3n); text({a: [1]});
				text(() => 1); text(Symbol()); text(new Error('x')); text(''); text('\\ud800x\\0'); text(true, 'no')`, options);
			assert.match(head, /^Script completed\nWall time \d+\.\d seconds\nOutput:\n$/);
			assert.deepEqual(texts, ['a', 'undefined', 'null', '0', '3', '{"a":[1]}', 'undefined', 'undefined', '{}', '\ufffdx\0', 'true']);
		});

		test('errors name the line', async (t) => {
			const { head, texts } = await runScript(t, '// @exec: {"yield_time_ms": 9000}\ntext("one");\n\nthrow new RangeError("boo")', options);
			assert.match(head, /^Script failed\n/);
			assert.equal(texts[0], 'one');
			assert.match(texts[1], /^Script error:\nRangeError: boo\n[^]*exec_main\.mjs:4/);
			for (const source of ['return 1', 'let x =', "import a from 'b'; text(1)"]) {
				const run = await runScript(t, source, options);
				assert.match(run.head, /^Script failed/);
				assert.equal(run.texts.length, 1, 'nothing has run');
			}
		});

		test('the language is there, and nothing of Node', async (t) => {
			const { texts } = await runScript(t, `class A { #p = 1; static s = 2; get p() { return this.#p } } text(new A().p + A.s);
				const q = {}; q.a ??= 4; text(q?.a); text('a1'.replace(/(?<=a)(?<n>\\d)/u, '[$<n>]')); text([3, 1].toSorted());
				for await (const x of (async function* () { yield 1 })()) text(x); text(await Promise.any([1])); text(this === undefined);
				text(['require','process','fetch','console','fs','module','exports','Buffer','WebAssembly','setInterval','setImmediate',
					'queueMicrotask','structuredClone','URL','TextEncoder','atob','performance','crypto','SharedArrayBuffer','Atomics']
					.filter((name) => name in globalThis).join());
				Promise.reject(new Error('nobody awaits this')); function f() { return 1 + f() } try { f() } catch { text('deep') }
				try { await import('fs') } catch { text('no import') } try { exit() } finally { text('no') }`, options);
			assert.deepEqual(texts, ['3', '4', 'a[1]', '[1,3]', '1', '1', 'true', 'deep', 'no import']);
		});

		test('pictures, sound and wrong ones', async (t) => {
			const url = `data:image/png;base64,${PNG}`;
			const { thread } = await runScript(t, `image('${url}'); image({type: 'image', data: '${PNG}', mimeType: 'image/png'});
				image('data:image/png;base64,AAAA'); audio('data:audio/wav;base64,AAAA');
				generatedImage({image_url: '${url}', output_hint: 'hint'});
				for (const bad of ['http://x/y.png', 'file:///x', '', 7]) try { image(bad) } catch (e) { text(typeof e) }`, options);
			const items = thread.outputs()[0].output.slice(1);
			assert.deepEqual(items.slice(0, 2), [{ type: 'input_image', image_url: url }, { type: 'input_image', image_url: url }]);
			assert.match(items[2].text, /image.*omitted/);
			assert.match(items[3].text, /audio/);
			assert.deepEqual([items[4].image_url, items[5].text], [url, 'hint']);
			assert.deepEqual(items.slice(6).map((item) => item.text), ['string', 'string', 'string', 'string']);
		});

		test('stored values outlive failures, other threads have their own', async (t) => {
			const thread = await startThread(t, [script("store('a', {n: [1]}); store('b', 2); throw 1"),
				script(`text(load('a')); text(load('b')); text(load('c'));
					for (const bad of [undefined, () => 1, 1n]) try { store('x', bad) } catch (e) { text(typeof e) }`),
				say('End.'), script("text(load('a'))")], options);
			await thread.turn();
			assert.deepEqual(shown(thread.outputs()[1]).texts, ['{"n":[1]}', '2', 'undefined', 'string', 'string', 'string']);
			const { thread: other } = await thread.server.request('thread/start', {});
			await thread.server.request('turn/start', { threadId: other.id, input: [{ type: 'text', text: 'x' }] });
			await thread.server.next('turn/completed');
			assert.deepEqual(shown(thread.outputs()[0]).texts, ['undefined']);
		});

		test('commands run side by side and return values', async (t) => {
			const { texts, thread } = await runScript(t, `const r = await tools.exec_command({cmd: 'echo out; echo err >&2; exit 3'});
				text(Object.keys(r).sort().join()); text(r.output); text(r.exit_code);
				const meet = '; while [ $(ls m | wc -l) -lt 3 ]; do sleep 0.02; done; echo ';
				const all = await Promise.all([1, 2, 3].map((n) => tools.exec_command({cmd: 'mkdir -p m; touch m/' + n + meet + n})));
				text(all.map((x) => x.output.trim()).join());
				for (const bad of [() => tools.exec_command('ls'), () => tools.exec_command({}), () => tools.exec_command({cmd: 7}),
					() => tools.exec_command({cmd: '\\ud800'})])
					try { await bad(); text('no') } catch (e) { text(typeof e + ' ' + e) }
				try { tools.request_user_input({}) } catch (e) { text(e instanceof TypeError) }
				text(ALL_TOOLS.map((x) => x.name).sort().join() === Object.keys(tools).sort().join())`, options);
			assert.deepEqual(texts.slice(0, 4), ['chunk_id,exit_code,original_token_count,output,wall_time_seconds', 'out\nerr\n', '3', '1,2,3']);
			assert.match(texts[5], /^string .*cmd/);
			assert.ok(texts.slice(4, 8).every((text) => text.startsWith('string ')), texts.join('\n'));
			assert.deepEqual(texts.slice(8), ['true', 'true']);
			const items = thread.server.all('item/started').map(({ params }) => params.item);
			const commands = items.filter(({ type }) => type === 'commandExecution');
			assert.equal(new Set(commands.map(({ id }) => id)).size, 4);
			assert.ok(commands.every(({ id }) => /^exec-[0-9a-f-]{36}$/.test(id)));
			assert.deepEqual([...new Set(items.map(({ type }) => type))].sort(), ['agentMessage', 'commandExecution', 'userMessage']);
		});

		test('patches, pictures and background commands', async (t) => {
			const { texts, thread } = await runScript(t, `
				const patch = (...lines) => tools.apply_patch(['*** Begin Patch', ...lines, '*** End Patch', ''].join('\\n'));
				text(await patch('*** Add File: a.txt', '+hi'));
				try { await tools.apply_patch({}) } catch (e) { text(typeof e) }
				try { await patch('*** Update File: nope.txt', '@@', '-x', '+y') } catch (e) { text(e) }
				await tools.exec_command({cmd: 'echo ${PNG} | base64 -d > p.png'});
				const { image_url } = await tools.view_image({path: 'p.png'}); image(image_url);
				try { await tools.view_image({path: 'gone.png'}) } catch (e) { text(e) }
				const s = await tools.exec_command({cmd: 'read x; echo got $x', tty: true, yield_time_ms: 250}); text('exit_code' in s);
				const end = await tools.write_stdin({session_id: s.session_id, chars: 'word\\n', yield_time_ms: 5000});
				text(end.output.includes('got word'));
				try { await tools.write_stdin({session_id: 99}) } catch (e) { text(e) }`,
				{ ...options, params: { sandbox: 'danger-full-access' } });
			assert.deepEqual(texts.slice(0, 2), ['{}', 'string']);
			assert.match(texts[2], /nope\.txt/);
			assert.match(texts[3], /^data:image\/png;base64,/);
			assert.match(texts[4], /gone\.png/);
			assert.deepEqual(texts.slice(5, 7), ['false', 'true']);
			assert.match(texts[7], /99/);
			assert.equal(fs.readFileSync(path.join(thread.server.cwd, 'a.txt'), 'utf8'), 'hi\n');
		});

		test('a long script yields, and wait gets the rest', async (t) => {
			const thread = await startThread(t, [
				script(`// @exec: {"yield_time_ms": 0}\ntext('first');
						await tools.exec_command({cmd: 'while [ ! -e go ]; do sleep 0.02; done'});
						text('second')`),
				wait({ cell_id: '1', yield_time_ms: 0 }), script("await tools.exec_command({cmd: 'touch go'})"),
				wait({ cell_id: '1', yield_time_ms: 60000 }), wait({ cell_id: '1' }), wait({})], options);
			await thread.turn();
			const [one, two, , four, five, six] = thread.outputs().map(shown);
			assert.match(one.head, /^Script running with cell ID 1\n/);
			assert.match(two.head, /^Script running with cell ID 1\n/);
			assert.match(four.head, /^Script completed\n/);
			assert.deepEqual([...one.texts, ...two.texts, ...four.texts], ['first', 'second']);
			assert.match(five.head, /^Script failed/);
			assert.match(five.texts[0], /\b1\b/);
			assert.match(six.head, /cell_id/);
		});

		test('an endless loop holds nobody, and is terminated', async (t) => {
			const thread = await startThread(t, [script("// @exec: {\"yield_time_ms\": 100}\ntext('in'); store('k', 1); for (;;);"),
				script("text('other'); text(load('k'))"), wait({ cell_id: '1', terminate: true }), wait({ cell_id: '1' })], options);
			await thread.turn();
			const [loop, other, end, gone] = thread.outputs().map(shown);
			assert.match(loop.head, /running with cell ID 1/);
			assert.deepEqual(other.texts, ['other', 'undefined']);
			assert.match(end.head, /^Script terminated\n/);
			assert.match(gone.head, /^Script failed/);
		});

		test('notes follow the output, timers run, yield_control hands over', async (t) => {
			const thread = await startThread(t, [script(`notify('a note');
					notify('  ');
					setTimeout(() => text('timer'), 5);
					clearTimeout(setTimeout(() => text('no'), 1));
					await new Promise((r) => setTimeout(r, 30));
					yield_control();
					text('rest');
					await new Promise((r) => setTimeout(r, 20))`),
				wait({ cell_id: '1' }), script("setTimeout(() => { throw new TypeError('late') }); await new Promise(() => {})"),
				script("try { setTimeout(1) } catch (e) { text(e) }")], options);
			await thread.turn();
			const all = thread.outputs();
			const note = all.find(({ output }) => output === 'a note');
			assert.deepEqual([note.type, note.name, note.call_id], ['custom_tool_call_output', 'exec', all[0].call_id]);
			assert.equal(all.filter(({ output }) => output === 'a note').length, 1);
			assert.ok(all.indexOf(note) > 0);
			const outputs = all.filter((item) => item !== note).map(shown);
			assert.deepEqual([...outputs[0].texts, ...outputs[1].texts], ['timer', 'rest']);
			assert.match(outputs[2].texts[0], /TypeError: late/);
			assert.match(outputs[3].texts[0], /setTimeout/);
		});

		test('the budget cuts, a flood is bounded', async (t) => {
			const thread = await startThread(t, [script(`// @exec: {\"max_output_tokens\": 10}\nfor (let i = 0;
					i < 100;
					i++) text('line ' + i)`),
				script("// @exec: {\"max_output_tokens\": 0}\ntext('secret')"),
					script("for (let i = 0; i < 20; i++) text('x'.repeat(1e6)); text('y'.repeat(5e7))")], options);
			await thread.turn();
			const [cut, none, flood] = thread.outputs().map(shown);
			assert.equal(cut.texts.length, 1);
			assert.match(cut.texts[0], /^Warning: truncated output \(original token count: \d+\)\nTotal output lines: 100\n\n[^]*tokens truncated/);
			assert.doesNotMatch(none.texts.join(), /secret/);
			assert.ok(flood.texts.join('').length < 60000);
		});

		test('bombs end the script, not the engine', async (t) => {
			const thread = await startThread(t, [script("const a = []; for (;;) a.push('x'.repeat(1000) + a.length)"),
				script(`let n = 0;
					for (let i = 0; i < 1e5; i++) setTimeout(() => n++);
					await Promise.all(Array.from({length: 1e5}, async () => 1));
					await new Promise((r) => setTimeout(r));
					text(n)`),
				script(`Object.prototype.t = 1;
						Array.prototype.push = JSON.stringify = String.prototype.slice = null;
						Map.prototype.get = 0;
						text({a: 1});
						text(await tools.exec_command({cmd: 'echo fine'}))`)], options);
			await thread.turn();
			const [bomb, many, tricks] = thread.outputs().map(shown);
			assert.match(bomb.head + bomb.texts, /^Script failed[^]*(out of memory|allocation failed)/i);
			assert.deepEqual(many.texts, ['100000']);
			assert.match(tricks.texts.join(), /fine/);
		});

		test('an interrupt ends every cell and what they have started', async (t) => {
			const thread = await startThread(t, [script("// @exec: {\"yield_time_ms\": 0}\nfor (;;);"),
				script("store('kept', 1)"),
					script("await tools.exec_command({cmd: 'touch begun; sleep 600; touch ended'})"),
					wait({ cell_id: '1' }),
					script("text(load('kept'))")], options);
			await thread.start();
			const begun = path.join(thread.server.cwd, 'begun');
			const started = await thread.server.take((m) => m.method === 'item/started' && m.params.item.type === 'commandExecution', 'command');
			while (!fs.existsSync(begun)) await new Promise((wake) => setTimeout(wake, 10));
			await thread.server.request('turn/interrupt', { threadId: thread.thread.id, turnId: started.params.turnId });
			await thread.server.next('turn/completed');
			await thread.turn('again');
			const outputs = thread.outputs().map(shown);
			assert.match(outputs[2].head, /^aborted/);
			assert.match(outputs[3].head, /^Script failed/);
			assert.deepEqual(outputs[4].texts, ['1']);
		});
	});
}

test('two calls of one response run one after the other', server, async (t) => {
	const both = reply({ custom: 'exec', input: "text(1); store('a', 5)", call_id: 'one' }, { custom: 'exec', input: "text(load('a'))", call_id: 'two' });
	const thread = await startThread(t, [both]);
	await thread.turn();
	assert.deepEqual(thread.outputs().map((output) => shown(output).texts), [['1'], ['5']]);
});

test('an approval holds the answer, and a refusal is an exception', server, async (t) => {
	const config = 'approval_policy = "untrusted"';
	const source = `// @exec: {\"yield_time_ms\": 0}\n
		try { text((await tools.exec_command({cmd: 'touch asked'})).exit_code) } catch (e) { text('refused ' + typeof e) }`;
	const thread = await startThread(t, [script(source),
		wait({ cell_id: '1', yield_time_ms: 60000 }),
		script(source),
		wait({ cell_id: '2', yield_time_ms: 60000 })], { config });
	await thread.start();
	for (const decision of ['accept', 'decline']) {
		const asked = await thread.server.next('item/commandExecution/requestApproval');
		assert.match(asked.params.itemId, /^exec-/);
		thread.server.answer(asked, { decision });
	}
	await thread.server.next('turn/completed');
	const texts = thread.outputs().flatMap((output) => shown(output).texts);
	assert.deepEqual(texts, ['0', 'refused string']);
});

test('calls between turns wait for the next turn', server, async (t) => {
	const thread = await startThread(t, [script(`// @exec: {\"yield_time_ms\": 0}\nawait new Promise((r) => setTimeout(r, 50));
			text((await tools.exec_command({cmd: 'echo late'})).output)`),
		say('End.'), wait({ cell_id: '1', yield_time_ms: 60000 })]);
	await thread.turn();
	await thread.turn('next');
	assert.deepEqual(shown(thread.outputs()[1]).texts, ['late\n']);
});

test('items of the history are on disk as they were sent', server, async (t) => {
	const thread = await startThread(t, [script("text('kept'); notify('note')", { call_id: 'c1' })]);
	await thread.turn();
	const before = thread.model.requests().at(-1).body.input;
	const id = thread.thread.id;
	await thread.server.request('thread/fork', { threadId: id }).then(async ({ thread: forked }) => {
		await thread.server.request('turn/start', { threadId: forked.id, input: [{ type: 'text', text: 'x' }] });
		await thread.server.next('turn/completed');
	});
	const after = thread.model.requests().at(-1).body.input;
	assert.deepEqual(after.slice(0, before.length), before);
});

test('the number of stored keys is bounded', server, async (t) => {
	const thread = await startThread(t, [script(`let n = 0;
			try { for (;; n++) store('k' + n, 1); } catch (error) { text(typeof error + n); }`)]);
	await thread.turn();
	assert.deepEqual(shown(thread.outputs()[0]).texts, ['string4096']);
});

test('ended scripts whose output nobody gets are bounded by number and size', server, async (t) => {
	const brief = Array.from({ length: 9 }, (_, i) => script(`yield_control(); text('of ${i}')`));
	const large = script(`yield_control(); image('data:image/png;base64,${PNG.slice(0, 40)}' + 'A'.repeat(2e7))`);
	const get = (...ids) => ids.map((id) => wait({ cell_id: String(id), yield_time_ms: 60000 }));
	const thread = await startThread(t, [...brief, say('Half.'), ...brief, say('All.'), ...get(1, 2, 3, 18), say('Seen.'),
		large, say('One.'), large, say('Two.'), ...get(4, 17, 19)]);
	for (let i = 0; i < 5; i++) {
		await thread.turn();
		while (hostsOf(thread.server.child.pid).length) await new Promise((wake) => setTimeout(wake, 20));
	}
	await thread.turn();
	const outputs = thread.outputs().filter(({ type }) => type === 'function_call_output').map(shown);
	assert.deepEqual(outputs.map(({ head }) => /^Script (\w+)/.exec(head)[1]),
		['failed', 'failed', 'completed', 'completed', 'failed', 'failed', 'failed']);
	assert.deepEqual([outputs[2].texts, outputs[3].texts], [['of 2'], ['of 8']]);
});

test('namespaces of calls are understood and kept', server, async (t) => {
	const named = reply({ item: { type: 'custom_tool_call', call_id: 'n1', namespace: 'functions', name: 'exec', input: 'text(7)' } });
	const thread = await startThread(t, [named]);
	await thread.turn();
	const item = thread.model.requests().at(-1).body.input.find(({ type }) => type === 'custom_tool_call');
	assert.equal(item.namespace, 'functions');
	assert.deepEqual(shown(thread.outputs()[0]).texts, ['7']);
});
