// Converts the recorded output of the model to replies of the scripted model (docs/mock-model.md).
//
// A capture identifies each request by its scene and the number of earlier requests of that scene ("exec", 1). The models of the
// older versions called the tools of their time: `shell` with a list of words, later `shell_command` with a script.

const usage = { usage: { input_tokens: 100, cached_tokens: 20, output_tokens: 10, reasoning_tokens: 4 } };
const reply = (...steps) => ({ reply: [...steps, usage] });

/** A message without deltas, as most of the captures have it. */
const text = (words) => ({ item: { type: 'message', role: 'assistant', id: 'msg', content: [
	{ type: 'output_text', text: words }] } });
const say = (words) => reply(text(words));
const call = (name, args, id) => ({ call: name, arguments: args, call_id: id });
const patchOf = (...lines) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const fails = (error) => ({ reply: [{ start: true },
	{ event: { type: 'response.failed', response: { id: 'resp_f', error } } }] });
const answers = (status, error, more) => ({ reply: [{ status, body: { error: { ...error } }, ...more }] });
const dropped = { reply: [{ start: true }, { eof: true }] };

const script = { echo: 'echo out; echo err >&2; exit 3', slow: 'echo start; sleep 2; echo end',
	long: 'echo begun; sleep 60' };
const patches = {
	add: patchOf('*** Add File: new.txt', '+hello', '+world'),
	change: patchOf('*** Update File: a.txt', '@@', '-one', '+ONE', ' two', '*** Delete File: gone.txt'),
	all: patchOf('*** Add File: new.txt', '+hello', '*** Update File: a.txt', '@@', '-one', '+ONE', ' two',
		'*** Delete File: gone.txt'),
	bad: patchOf('*** Update File: missing.txt', '@@', '-x', '+y'),
};
const steps = (...states) => ['one', 'two', 'three'].slice(0, states.length).map((step, i) =>
	({ step, status: states[i] }));

/** Tool calls of the versions up to 0.42: all use `shell`. */
const olden = {
	run: (key, id) => call('shell', { command: ['bash', '-lc', script[key]] }, id),
	touch: (file, id) => call('shell', { command: ['touch', file] }, id),
	patch: (key, id) => call('shell', { command: ['apply_patch', patches[key]] }, id),
	patches: { patch: 'add', patch2: 'change', patchbad: 'bad' },
	plan: steps('completed', 'in_progress', 'pending'),
	badtool: [reply(call('no_such_tool', {}, 'call_b1')), reply(call('shell', '{not json', 'call_b2')),
		say('All done.')],
	deltas: { reason: ['**Plan', 'ning**\n', 'first', 'second', ' part'] },
};

/** Tool calls of 0.55 and 0.93. */
const newer = {
	run: (key, id) => call('shell_command', { command: script[key] }, id),
	touch: (file, id) => call('shell_command', { command: `touch ${file}` }, id),
	patch: (key, id) => ({ custom: 'apply_patch', input: patches[key], call_id: id }),
	patches: { patch: 'all', patchbad: 'bad' },
	plan: steps('completed', 'in_progress'),
	badtool: [reply(call('no_such_tool', {}, 'call_b1')), say('All done.')],
	deltas: { reason: ['**Plan', 'ning**', 'second'] },
};

const event = (type, more) => ({ event: { type, ...more } });

/** Two parts of a summary and raw reasoning, all streamed as deltas. */
function thinking({ deltas: { reason } }) {
	const cut = reason.length > 3 ? 3 : 2;
	const parts = [reason.slice(0, cut), reason.slice(cut)];
	const item_id = 'rs';
	const said = parts.flatMap((words, summary_index) => [
		event('response.reasoning_summary_part.added', { item_id, summary_index }),
		...words.map((delta) => event('response.reasoning_summary_text.delta', { item_id, summary_index, delta }))]);
	const thought = ['raw ', 'thought'].map((delta) =>
		event('response.reasoning_text.delta', { item_id, content_index: 0, delta }));
	const item = { type: 'reasoning', id: item_id,
		summary: parts.map((words) => ({ type: 'summary_text', text: words.join('') })),
		content: [{ type: 'reasoning_text', text: 'raw thought' }] };
	const begun = event('response.output_item.added', { output_index: 0, item: { ...item, summary: [], content: [] } });
	return reply({ start: true }, begun, ...said, ...thought, { item }, { message: ['Ans', 'wer.'] });
}

const review = JSON.stringify({ findings: [{ title: '[P1] Bug', body: 'Off by one.', confidence_score: 0.9, priority: 1,
	code_location: { absolute_file_path: '/WORK/a.txt', line_range: { start: 1, end: 2 } } }],
overall_correctness: 'patch is incorrect', overall_explanation: 'One bug.', overall_confidence_score: 0.8 });
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'weather' } };
const limits = { 'x-codex-primary-used-percent': '12.5', 'x-codex-primary-window-minutes': '300',
	'x-codex-secondary-used-percent': '40', 'x-codex-secondary-window-minutes': '10080' };

/** scene -> replies of its first, second, … request; the last one answers all later ones. */
const scenesOf = (ways) => ({
	default: [say('summary text')],
	hello: [reply({ message: ['Hello', ' there', '.'] })],
	reason: [thinking(ways)],
	exec: [reply(ways.run('echo', 'call_e')), say('All done.')],
	exec2: [reply(ways.touch('x1', 'call_x1'), ways.touch('x2', 'call_x2')), say('All done.')],
	execslow: [reply(ways.run('slow', 'call_s')), say('After slow.')],
	execlong: [reply(ways.run('long', 'call_l')), say('After long.')],
	patch: [reply(ways.patch(ways.patches.patch, 'call_p')), say('All done.')],
	patch2: [reply(ways.patch('change', 'call_q')), say('All done.')],
	patchbad: [reply(ways.patch('bad', 'call_r')), say('All done.')],
	badtool: ways.badtool,
	plan: [reply(call('update_plan', { explanation: 'why', plan: ways.plan }, 'call_u')), say('All done.')],
	pplan: [reply({ message: ['Intro line.\n<propo', 'sed_plan>\n# Plan\n- st', 'ep 1\n- step 2\n</propose', 'd_plan>\nOutro.'] })],
	ask: [reply(call('request_user_input', { questions: [{ id: 'q1', header: 'Pick', question: 'Which?', options: [
		{ label: 'A', description: '<text>' }, { label: 'B', description: '<text>' }] }] }, 'call_0045')), say('All done.')],
	dyn: [reply(call('my_tool', { x: 1 }, 'call_0048')), say('All done.')],
	uexec: [reply(call('exec_command', { cmd: 'cat', tty: true, yield_time_ms: 300 }, 'call_c')),
		{ take: { session: { from: 'input.-1.output', after: 'session ID ' } }, ...reply(call('write_stdin',
			'{"session_id":{session},"chars":"hey\\n","yield_time_ms":300}', 'call_w')) }, say('All done.')],
	image: [reply(call('view_image', { path: 'p.png' }, 'call_i')), say('summary text')],
	web: [reply({ start: true }, event('response.output_item.added', { output_index: 0, item: { ...search, action: null } }),
		{ item: search }, text('Sunny.'))],
	schema: [say('{"answer":"x"}')],
	limits: [{ ...say('ok'), headers: limits }],
	hang: [{ reply: [{ delta: 'par' }, { hang: true }] }],
	drop1: [dropped, say('Recovered.')],
	dropall: [dropped],
	incomplete: [{ reply: [{ start: true }, event('response.incomplete',
		{ response: { id: 'resp_i', incomplete_details: { reason: 'max_output_tokens' } } })] }],
	failed: [fails({ code: 'server_error', message: 'mock failure' })],
	ctx: [fails({ code: 'context_length_exceeded', message: 'too long' })],
	e400: [answers(400, { message: 'bad request from mock', type: 'invalid_request_error', code: 'x' })],
	e401: [answers(401, { message: 'no auth' })],
	e429: [answers(429, { type: 'usage_limit_reached', message: 'limit', plan_type: 'plus', resets_in_seconds: 60 })],
	e500: [answers(500, { message: 'oops' })],
	review: [say(review)],
	mcpserver: [reply({ message: ['Hel', 'lo.'] })],
	reviewplain: [say('plain text review')],
});

/** Failures without retries: this program sends one request where older versions sent three. */
const finals = new Set(['e400', 'e429', 'ctx', 'incomplete']);

/** The script for a capture: its requests in order, and a default message for requests that it lacks. */
export function scriptOf(requests, isOld) {
	const scenes = scenesOf(isOld ? olden : newer);
	const replies = requests.filter(({ scenario, n }) => n === 1 || !finals.has(scenario)).map(({ scenario, n }) => {
		const scene = scenes[scenario] ?? scenes.default;
		return scene[Math.min(n, scene.length) - 1];
	});
	return [...replies, { ...scenes.default[0], times: 'forever' }];
}
