// The steps of the walk through requests: each sentence of section 6 of the reference, with the replies of the model, the
// keys and the words that must appear.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { call, outputOf, patch, reply, rollouts, run, say, textsOf } from './codex.mjs';
import { until } from './nest.mjs';

const ESC = '\x1b', ENTER = '\r', UP = '\x1b[A', DOWN = '\x1b[B', RIGHT = '\x1b[C', LEFT = '\x1b[D', HOME = '\x1b[H', END = '\x1b[F';
const PAGE_DOWN = '\x1b[6~', SHIFT_TAB = '\x1b[Z', ALT_LEFT = '\x1b[1;3D', ALT_RIGHT = '\x1b[1;3C', FOCUS_OUT = '\x1b[O';
export const CONFIG = 'model = "gpt-5.2"\nsandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n[features]\nmulti_agent = true\n' +
	'default_mode_request_user_input = true\n';
export const NEVER = ['Would you like', '1. Yes', 'ctrl-a', 'R E Q U', 'Working', 'esc to'];

/** A pattern of rows, each a pattern. */
const rows = (...patterns) => new RegExp(`^${patterns.map(({ source }) => source).join('\\n')}`, 'm');
const touch = (name) => ({ call: 'exec_command', arguments: { cmd: `touch ${name}` } });
const READY = (walk) => walk.ready('the request');
const READ = (...texts) => (walk) => walk.read('the request', ...texts);
const made = (file) => (walk) => until(() => fs.existsSync(path.join(walk.cwd, file)));
const absent = (...files) => (walk) => assert.deepEqual(files.filter((file) => fs.existsSync(path.join(walk.cwd, file))), []);
const shows = (text) => new RegExp(`^.*${text.replace(/[$+]/g, '\\$&')}`, 'm');
/** Waits for the request, and makes sure that it takes keys and was read. */
const asked = (cmd, more) => [['', shows(`$ ${cmd}`), more], READY, READ(`$ ${cmd}`)];
const requested = (count) => (walk, model) => until(() => model.requests().length === count);

const CHOICES = [{ label: 'C (Recommended)', description: 'small' }, { label: 'Rust', description: 'safe' }];
const question = (id, text, more) => ({ id, header: 'Choice', question: text, options: CHOICES, ...more });
const ask = (...questions) => call('request_user_input', { questions }, { call_id: 'q' });
const answers = (model) => JSON.parse(outputOf(model.requests().at(-1), 'q')).answers;

const permissions = (call_id, wanted) => reply({ call: 'request_permissions', call_id, arguments: { reason: 'to build', permissions: wanted } });
const granted = (model, id) => JSON.parse(outputOf(model.requests().at(-1), id));

const PLAN = ['Intro.\n<proposed_plan>\n# Plan\n- first step\n', '- second step\n</proposed_plan>\n'];
const plans = reply({ delta: PLAN[0] }, { gate: 'plan' }, { delta: PLAN[1] });

const child = (contains, ...steps) => ({ when: { contains, lacks: 'rootword' }, reply: steps });

/**
 * Each case has: `covers`, words of the sentences of the reference that it walks; `replies` of the model, or a function
 * of the folder `dir` that makes them; `steps`, each [keys, wanted, more] of walk.take, or a function of walk and model;
 * `wide`: as many patterns for windows of 80 columns and more, by the index of the step after which each must hold;
 * `once` and `absent`: words of the conversation at the end; `config`; `isEnded`: the steps end the program.
 */
export const ASKS = {
	'a command': {
		covers: ['Would you like to run', 'saves `rules', 'Keys: y a p', 'any other key', 'After:'],
		replies: [run('touch made'), run('touch more'), run('touch more'),
			run('touch third'), run('touch fourth'), run('touch fifth'), run('touch sixth'), say('Over.')],
		steps: [['go', '1. Yes, proceed'], READY,
			READ('Would you', '$ touch made', '1. Yes, pro', '(y)', '(a)', '(p)', '4. No, and', '(esc)'),
			[DOWN, /^› 2\. /m], [UP, /^› 1\. /m], absent('made'),
			['y', '✔ You approved codex to run touch made this time'], ...asked('touch more'), made('made'),
			[DOWN, /^› 2\. /m], [ENTER, '✔ You approved codex to run touch more for this session'], ...asked('touch third'),
			(walk) => assert.equal(walk.lines().join('').split('touch more').length, 4), // the second one asks nothing
			['3', '✔ You approved codex to run touch third and all commands like it'], ...asked('touch fourth'),
			(walk) => assert.match(fs.readFileSync(path.join(walk.home, 'rules/default.rules'), 'utf8'), /touch.*third/),
			...['x', '7', 'm'].map((key) => (walk) => walk.type(key)), [DOWN, /^› 2\. /m], [UP, /^› 1\. /m],
			['n', ['✗ You canceled the request to run touch fourth', '■ Conversation interrupted']], ['', /^›$/m],
			['again', '$ touch fifth'], READY, [ESC, '✗ You canceled the request to run touch fifth'], ['', /^›$/m],
			['more', '$ touch sixth'], READY, [END, /^› 4\. /m], [ENTER, '✗ You canceled the request to run touch sixth'], ['', /^›$/m],
			['end', 'Over.'], absent('fourth', 'fifth', 'sixth')],
		wide: { 0: rows(/Would you like to run the following command\?/, /(?:)/, /\$ touch made/, /(?:)/, /› 1\. Yes, proceed \(y\)/,
			/ {2}2\. Yes, and don't ask again for this command in this session \(a\)/,
			/ {2}3\. Yes, and don't ask again for commands that start with `touch made` \(p\)/,
			/ {2}4\. No, and tell Codex what to do differently \(esc\)$/) },
		once: ['You approved codex to run touch made', 'to run touch fourth', 'Ran touch made', '• Over.'],
	},
	'a command with a reason': {
		covers: ['Would you like to run'],
		config: 'approval_policy = "on-request"\nsandbox_mode = "read-only"\n',
		replies: [run('touch made', { sandbox_permissions: 'require_escalated', justification: 'It is needed.' }), say('Over.')],
		steps: [['go', '1. Yes, proceed'], READY, READ('Would you', 'Reason: It', '$ touch made'), absent('made'), ['y', 'Over.'], made('made')],
		wide: { 0: /^Would you like to run the following command\?\n\nReason: It is needed\.\n\n\$ touch made\n\n› 1\. Yes/m },
		once: ['You approved codex to run touch made', '• Over.'],
		absent: ['Reason:'],
	},
	'requests one after the other, the title, a notification and the draft': {
		covers: ['Several requests', 'Title `[ ! ]', 'The draft stays'],
		replies: [reply({ start: true }, { gate: 'ask' }, touch('one'), touch('two'), touch('three')), say('All of them.')],
		steps: [['go', 'Working'], (walk) => walk.type(FOCUS_OUT), ['my draft', '› my draft', { isRaw: true }],
			...asked('touch one', { gate: 'ask' }), (walk) => assert.match(walk.raw(), /\x1b\]0;\[ ! \] Action Required \| [^\x07]+\x07/),
			(walk) => assert.match(walk.raw(), /\x1b\]9;[^\x07]+\x07/), absent('two'), ['y', '$ touch two'], READY, READ('$ touch two'),
			absent('three'), ['y', '$ touch three'], READY, READ('$ touch three'), ['y', 'All of them.'], ['', /^› my draft$/m],
			made('one'), made('two'), made('three'),
			(walk) => assert.doesNotMatch(walk.raw().slice(walk.raw().lastIndexOf('\x1b]0;')), /Action Required/),
			['\x03', /^›$/m]],
		once: ['to run touch one', 'to run touch two', 'to run touch three', 'All of them.'],
		absent: ['my draft'],
	},
	'a patch': {
		covers: ['Patch: the diff first'],
		replies: [patch('*** Add File: made.txt', '+one line'), patch('*** Update File: made.txt', '@@', '-one line', '+a line'),
			patch('*** Update File: made.txt', '@@', '-a line', '+no line'), patch('*** Add File: other.txt', '+two'), say('Over.')],
		steps: [['go', '1. Yes, proceed'], (walk) => walk.once('the patch', ['Added made.txt (+1 -0)', '1 +one line']), READY,
			READ('Would you', 'edits?', 'made.txt', '1. Yes, pro', '(y)', '(a)', '(esc)', '+one line'), absent('made.txt'),
			['y', '1 +a line'], READY, READ('made.txt'), made('made.txt'), ['a', '1 +no line'], ['', shows('1 +two')], READY, READ('other.txt'),
			(walk) => assert.equal(fs.readFileSync(path.join(walk.cwd, 'made.txt'), 'utf8'), 'no line\n'), // without a request
			[ESC, ['The edits were declined', '■ Conversation interrupted']], ['', /^›$/m], absent('other.txt'), ['end', 'Over.']],
		wide: { 0: rows(/• Added made\.txt \(\+1 -0\)/, / +1 \+one line/, /(?:)/, /Would you like to make the following edits\?/, /(?:)/,
			/\/\S+\/made\.txt/, /(?:)/, /› 1\. Yes, proceed \(y\)/, / {2}2\. .* these files \(a\)/, / {2}3\. No, .* \(esc\)$/) },
		once: ['Added made.txt (+1 -0)', '1 +one line', '1 -one line', '1 +no line', 'Added other.txt', 'edits were declined', '• Over.'],
	},
	'permissions and the network': {
		covers: ['Network and permission'], needsSandbox: true,
		config: 'approval_policy = "on-request"\nsandbox_mode = "read-only"\n[features]\nrequest_permissions_tool = true\n',
		replies: ({ dir }) => [permissions('a', { file_system: { write: [dir] } }), permissions('b', { network: { enabled: true } }),
			permissions('c', { file_system: { write: [dir] } }), permissions('d', { network: { enabled: true } }), say('Over.')],
		steps: [['go', '1. Yes, until'], READY, READ('Allow comma', 'to build', '(y)', '2. Yes, for', '(a)', '3. No, and', '(d)'),
			(walk) => walk.type('y'),
			requested(2), READY, READ('network'), (walk) => walk.type('a'), requested(3), READY, READ('write to'), (walk) => walk.type('d'),
			requested(4), READY, [ESC, 'Over.'],
			(walk, model) => {
				assert.deepEqual(['a', 'b', 'c', 'd'].map((id) => granted(model, id).scope), ['turn', 'session', 'turn', 'turn']);
				assert.deepEqual(granted(model, 'b').permissions, { network: { enabled: true } });
				assert.equal(granted(model, 'a').permissions.file_system.write.length, 1);
				for (const id of ['c', 'd']) assert.deepEqual(granted(model, id).permissions, {});
			}],
		once: ['• Over.'],
	},
	'a whole request in a pager': {
		covers: ['Ctrl-A: full screen', 'what is approved is what is seen'],
		replies: [run(`touch made; cat <<E >/dev/null\n${Array.from({ length: 90 }, (_, i) => `row ${i}`).join('\n')}\nE`),
			run('echo \u202ea\u200b'), say('Over.')],
		steps: [['go', '1. Yes, proceed'], READY, ['y', 'R E Q U E S T'], absent('made'), ['q', { gone: 'R E Q U E S T' }],
			READ('touch made', 'row 0', 'row 45', 'row 89'), ['y', '✔ You approved'], ['', shows('$ echo')], READY, READ('\\u{202e}a\\u'),
			['n', '✗ You canceled'], (walk) => assert.doesNotMatch(walk.raw(), /[\u202e\u200b]/), ['', /^›$/m], made('made'), ['end', 'Over.']],
		once: ['You approved codex to run', 'to run echo \\u{202e}a\\u{200b}', '• Over.'],
	},
	'keys that were typed before a request': {
		covers: ['Typing ahead must never', '0.169 holds the prompt', 'the exact delay', 'Ours: prompt appears'],
			// the times: tests/unit/test_tui_ask.c
		replies: [reply({ start: true }, { gate: 'ask' }, { call: 'exec_command', arguments: { cmd: 'touch made' } }), say('Over.')],
		steps: [['go', 'Working'], ['y1ya', '› y1ya', { isRaw: true }], ['', '$ touch made', { gate: 'ask' }], absent('made'),
			READY, READ('$ touch made'),
			['n', '✗ You canceled the request'], ['', /^› y1ya$/m], absent('made'), ['\x03', /^›$/m], ['end', 'Over.']],
		once: ['✗ You canceled the request', '• Over.'],
		absent: ['✔', 'y1ya'],
	},
	...Object.fromEntries([['closing', (walk) => walk.close()], ['SIGHUP', (walk) => walk.signal('SIGHUP')]].map(([name, end]) => [`${name} denies`, {
		covers: ['Closing the terminal', 'EOF, SIGHUP'], isEnded: true,
		replies: [run('touch made'), say('never')],
		steps: [['go', '$ touch made'], READY, end, (walk) => walk.done, absent('made'),
			(walk, model) => assert.equal(model.requests().length, 1),
			(walk) => assert.doesNotMatch(fs.readFileSync(rollouts(walk.home)[0], 'utf8'), /"approved"/)],
	}])),
	'questions': {
		covers: ['`request_user_input`', 'Tab opens notes', 'Afterwards', 'Answer shapes'],
		replies: [ask(question('lang', 'Which language?'), question('size', 'Which size?')), say('Thanks.')],
		steps: [['go', /^Question 1\/2/m], READY, READ('Choice', 'Which langu', '1. C (Recom', 'small', '2. Rust', 'safe', '3. None of'),
			[DOWN, /^› 2\. Rust/m], [UP, /^› 1\. C/m], [END, /^› 3\. None/m], [HOME, /^› 1\. /m], [PAGE_DOWN, /^› [23]\. /m], [HOME, /^› 1\. /m],
			[RIGHT, /^Question 2\/2/m], [LEFT, /^Question 1\/2/m], [DOWN, /^› 2\. Rust/m], [ENTER, /^Question 2\/2/m],
			READ('Which size?', '3. None of'), [END, /^› 3\. None/m], ['\t', /^› *$/m], ['about 3 MB', '› about 3 MB', { isRaw: true }],
			[ENTER, ['• Questions 2/2 answered', 'answer: Rust', 'answer: None of the above', 'note: about 3 MB', 'Thanks.']],
			(walk, model) => assert.deepEqual(answers(model), { lang: { answers: ['Rust'] }, size: { answers: ['None of the above',
			'user_note: about 3 MB'] } })],
		wide: { 0: rows(/Question 1\/2 \(2 unanswered\) · Choice/, /Which language\?/, /› 1\. C \(Recommended\) +small/, / {2}2\. Rust +safe/,
			/ {2}3\. None of the above .*/, / {2}enter to submit answer · tab to add notes · ←\/→ questions · esc to interrupt$/),
			12: /^Question 2\/2 \(1 unanswered\)[^]*enter to submit all/m },
		once: ['Questions 2/2 answered', 'Which language?', 'Which size?', '• Thanks.'],
	},
	'questions: digits, a secret, and Esc': {
		covers: ['secret ones are typed masked'],
		replies: [ask(question('a', 'First?')), say('One.'), ask(question('b', 'Password?', { isSecret: true })), say('Two.'),
			ask(question('c', 'Third?')), say('Over.')],
		steps: [['go', 'First?'], READY, READ('First?'), ['2', 'One.'], (walk, model) => assert.deepEqual(answers(model),
			{ a: { answers: ['Rust'] } }), ['', /^›$/m],
			['again', 'Password?'], READY, READ('Password?'), ['\t', /^› *$/m], ['hunter2', '› •••••••', { isRaw: true }], [ENTER, 'Two.'],
			(walk, model) => assert.match(JSON.stringify(model.requests().at(-1).body), /user_note: hunter2/),
			(walk) => assert.doesNotMatch(walk.raw(), /hunter2/), ['', /^›$/m],
			['more', 'Third?'], READY, [ESC, '■ Conversation interrupted'], ['', /^›$/m], ['end', 'Over.']],
		once: ['• One.', '• Two.', '• Over.', '■ Conversation interrupted'],
	},
	'a proposed plan': {
		covers: ['Plan: footer', '`• Proposed Plan`', 'Turn ends with', 'digits, arrows, Enter', 'Esc stays in Plan mode', 'No plan item',
			'lacks choice 2'],
		replies: [say('Just words.'), plans, plans, plans, say('Built.'), plans, say('Built again.')],
		steps: [(walk) => walk.type(SHIFT_TAB), ['talk', 'Just words.'], ['', /^›$/m], // a question would stand in its place
			['plan it', ['Proposed Plan', 'first step']], (walk) => assert.ok(!walk.lines().join('').includes('second step')),
			['', ['second step', 'Implement this plan?'], { gate: 'plan' }], READY, READ('Implement t', '1. Yes, imp', '2. Yes, cle',
			'3. No, stay'), ['3', /^›$/m],
			['plan two', 'Proposed Plan'], ['', 'Implement this plan?', { gate: 'plan' }], READY, [ESC, /^›$/m],
			['plan three', 'Proposed Plan'], ['', 'Implement this plan?', { gate: 'plan' }], READY, READ('1. Yes, imp'), [DOWN, /^› 2\. /m],
			[UP, /^› 1\. /m],
			[ENTER, ['› Implement the plan.', 'Built.']], (walk, model) => assert.equal(textsOf(model.requests().at(-1), 'user').at(-1),
			'Implement the plan.'),
			(walk, model) => assert.equal(model.requests().length, 5), ['', /^›$/m], (walk) => walk.absent('plan', ['Plan mode (',
			'proposed_plan']),
			(walk) => walk.type(SHIFT_TAB), ['plan four', 'Proposed Plan'], ['', 'Implement this plan?', { gate: 'plan' }],
			READY, READ('2. Yes, cle'),
			['2', ['› Implement this plan:', 'Built again.']],
			(walk, model) => assert.ok(!JSON.stringify(model.requests().at(-1).body.input).includes('plan four'))],
		wide: { 3: /Plan mode \(shift\+tab to cycle\)$/m, 5: rows(/Implement this plan\?/, /› 1\. Yes, implement this plan +\S.*/,
			/ {2}2\. Yes, clear context and implement +\S.*/, / {2}3\. No, stay in Plan mode/) },
		once: ['Just words.', '› Implement the plan.', '• Built.', '• Built again.'],
		absent: ['proposed_plan', 'Implement this plan?', '3. No, stay'],
	},
	'subagents': {
		config: `${CONFIG}[agents.scout]\ndescription = "Looks around."\n`,
		covers: ['Subagents:', '`/subagents`', 'Main [default]', 'go round', 'the footer names', 'approvals of a child'],
		replies: [child('function_call_output', { message: 'It ran.' }), child('count pears', touch('made')),
			reply({ call: 'spawn_agent', arguments: { message: 'count pears', agent_type: 'scout' } }),
			reply({ gate: 'a' }, { message: 'Asked.' }), say('Noted.')],
		steps: [['rootword', ['Spawned', '└ count pears']], ['', /^[A-Z]\w+ asks: Would/m], READY,
			READ(' asks: Wou', '$ touch made', '(y)', '(esc)'), absent('made'), ['y', '✔ You approved codex to run touch made this time'],
			['', 'Asked.', { gate: 'a' }], ['', /^›$/m], made('made'), ['/subagents', '1. Main [default'], [DOWN, /^› 2\. [A-Z]\w+ \[scout\]/m],
			[ENTER, ['Watching', '› count pears', 'Ran touch made', 'It ran.']], ['', /^›$/m], ['/agent', /^› 2\. [A-Z]\w+ \[scout\]/m],
			[HOME, /^› 1\. Main/m], [ESC, /^›$/m], [ALT_RIGHT, 'Main thread'], [ALT_LEFT, 'Watching'], ['', /^›$/m], [ESC, 'Main thread']],
		wide: { 0: /^• Spawned [A-Z]\w+ \(\S+\)\n {2}└ count pears$/m,
			1: rows(/[A-Z]\w+ asks: Would you like to run the following command\?/, /(?:)/, /\$ touch made/),
			9: rows(/Subagents/, /› 1\. Main \[default\] \(current\)/, / {2}2\. [A-Z]\w+ \[scout\] +[0-9a-f-]{36}/),
			11: / · Watching [A-Z]\w+ \(alt-left, alt-right\)/m, 13: / \[scout\] \(current\) +[0-9a-f-]{36}/ },
		once: ['Spawned', '• Asked.', 'It ran.', '✔ You approved codex'],
		absent: ['asks:'],
	},
};
