// The steps of the walk through a conversation: each row of section 5 of the reference, with the replies of the model
// and the words that must appear.

import { httpError, patch, reply, run, say } from './codex.mjs';

const ESC = '\x1b', ENTER = '\r';

export const MARKDOWN = `# The head

Some **bold** and \`coded\` words.

- an item
- [x] a task

1. the first

> a quote

\`\`\`js
let number = 1;
\`\`\`

| left | right |
|------|-------|
| 漢字 | two |

[a link](https://example.com/page) and <b>raw</b> text.
`;

/**
 * By the first cell of the row in the reference: `replies` of the model; `steps`, each the line that is sent (or the
 * key, or '' for none), the words that appear, and more: `gate` that is opened, or `write`, a file that is made, after
 * the step has begun, isRaw for keys that are no line, and the options of walk.keys. `once`: patterns of lines that the terminal has exactly once at the end.
 * `absent`: patterns that it does not have.
 */
export const CELLS = {
	'user message': {
		replies: [reply({ delta: 'Part one.' }, { gate: 'user' }, { call: 'exec_command', arguments: { cmd: 'true' } }), say('Part two.'),
			say('Part three.')],
		steps: [['sent one', 'Part one.'], ['steered two', '↳ steered two'], ['\tqueued three', '↳ queued three'],
			['', ['Part two.', 'Part three.', '› queued three'], { gate: 'user' }]],
		once: [/^› sent one$/, /^› steered two$/, /^› queued three$/, /^• Part one\.$/, /^• Part two\.$/, /^• Part three\.$/],
		absent: [/↳/, /^Queued follow/, /^Read with the/],
	},
	'answer': {
		replies: [say(MARKDOWN)],
		steps: [['show markdown', ['The head', 'Some bold and coded words.', '• an item', '1. the first', 'a quote', 'let number = 1;', '漢字',
			'https://example.com/page', '<b>raw</b>']]],
		once: [/The head$/, /let number = 1;/],
		absent: [/```/, /\*\*/, /# The/, /`coded`/],
	},
	'streaming': {
		replies: [reply({ delta: 'A whole line.\n\nHalf a' }, { gate: 'stream' }, { delta: ' line more.' })],
		steps: [['stream it', ['A whole line.', 'Half a']], ['', 'line more.', { gate: 'stream' }]],
		once: [/^• A whole line\.$/, /^ {2}Half a line more\.$/],
	},
	'reasoning': {
		replies: [reply({ reasoning: '**Weighing** the deep thoughts.' }, { gate: 'reason' }, { message: 'Weighed.' })],
		steps: [['think', 'Weighing'], ['', 'Weighed.', { gate: 'reason' }], ['\x14', 'T R A N S C R I'],
			['/thoughts', '/ thoughts', { isRaw: true }], [ENTER, /thoughts\.$[^]*thoughts {2,3}[nq]/m], ['q', /^›$/m]],
		once: [/^• Weighed\.$/],
		absent: [/deep thoughts/],
	},
	'working line': {
		replies: [reply({ call: 'exec_command', arguments: { cmd: 'sleep 300', yield_time_ms: 250 } }), say('It runs.'),
			reply({ start: true }, { gate: 'work' }, { message: 'Worked.' })],
		steps: [['leave it running', 'It runs.'], ['work', /^• Working \(\d+s • e/m], ['', 'Worked.', { gate: 'work' }], ['/ps', 'sleep 300'],
			['/stop', 'Stopping all']],
		wide: [['leave it running', /^ {2}1 background terminal running · \/ps to view · \/stop to close$/m],
			['work', /^• Working \(\d+s • esc to interrupt\) {2}1 background terminal running/m]],
		absent: [/^• Working/, /esc to interrupt/],
	},
	'command': {
		replies: [run('echo begun; while ! test -e go; do sleep 0.05; done; seq 101 109'), run('true'), run('echo bad; exit 7'),
			run('cat below/pear.txt'), say('All ran.')],
		steps: [['run commands', 'Running'], ['', ['Ran echo begun;', '101', '… +6 lines', '109', 'Ran true', '(no output)', 'bad', '✗ (7)', 'Explored',
			'Read pear.txt', 'All ran.'], { write: 'go' }]],
		once: [/^ {4}109$/, /✗ \(7\)/, /^• Explored$/, /^• All ran\.$/],
		absent: [/^• Running/, /^• Exploring/],
	},
	'patch': {
		replies: [patch('*** Add File: new.txt', '+fresh line'), patch('*** Update File: new.txt', '@@', '-fresh line', '+stale line'),
			patch('*** Add File: more.txt', '+more', '*** Update File: new.txt', '@@', '-stale line', '+last line'),
			patch('*** Delete File: new.txt'), say('Patched.')],
		steps: [['patch it', ['Added new.txt (+1 -0)', 'Edited new.txt (+1 -1)', '1 -fresh line', '1 +stale line', 'Edited 2 files (+2 -1)',
			'Deleted new.txt (+0 -1)', 'Patched.']]],
		once: [/^• Patched\.$/],
	},
	'checklist (`update_plan`, where offered)': {
		replies: [reply({ call: 'update_plan', arguments: { explanation: 'In order.', plan: [{ step: 'Boil', status: 'completed' },
			{ step: 'Pour', status: 'in_progress' }, { step: 'Drink', status: 'pending' }] } }), say('Planned.')],
		steps: [['make a plan', ['Updated Plan', 'In order.', '✔ Boil', '▸ Pour', '□ Drink', 'Planned.']]],
		once: [/^• Updated Plan$/, /✔ Boil$/],
	},
	'image': {
		replies: [reply({ call: 'view_image', arguments: { path: 'pixel.png' } }), say('A pixel.')],
		steps: [['look at it', ['Viewed image', 'pixel.png', 'A pixel.']]],
		once: [/^• Viewed/],
	},
	'warning, error': {
		replies: [httpError(400, { error: { message: 'No such model.' } }), reply({ delta: 'Half' }, { drop: true }), say('Whole again.')],
		steps: [['fail', ['■', 'No such model.']], ['break', ['⚠ Reconnecting', 'Whole again.']]],
		once: [/No such model\./, /^• Whole again\.$/],
	},
	'end of turn': {
		replies: [say('Ended.')],
		steps: [['end it', ['Ended.', 'Worked for <1s']]],
		once: [/^• Ended\.$/],
	},
	'interrupt': {
		replies: [reply({ delta: 'On my way' }, { hang: true }), reply({ call: 'exec_command', arguments: { cmd: 'echo $$ >pid; exec sleep 300' } }),
			say('Next one.')],
		steps: [['wait for me', 'On my way'], [ESC, '■ Conversation interrupted'],
			['run forever', 'Running'], ['\x03', ['■ Conversation interrupted', 'Ran echo', '✗ (not finished)']], ['go on', 'Next one.']],
		once: [/^• On my way$/, /^• Next one\.$/],
	},
	'compaction, fork, model change, cwd change, subagent': {
		replies: [say('A summary.'), reply({ call: 'spawn_agent', arguments: { message: 'count pears' } }), say('Asked.')],
		steps: [['/compact', 'Context compacted'], ['/model gpt-5.5 low', 'Model changed to'], ['/cd below', '/below'], ['/cd ..', 'cwd'],
			['rootword', ['Spawned', 'count pears', 'Asked.']], ['/fork', 'Thread forked from']],
		once: [/^• Context compacted$/, /^• Asked\.$/, /^• Thread forked/],
	},
	'Transcript': {
		replies: [run('seq 201 240; exit 3'), say('Counted.')],
		steps: [['count', 'Counted.'], ['\x14', 'T R A N S C R I'], ['\x1b[H', '› sent one'],
			['\x1b[6~', { gone: '› sent one' }], ['\x1b[5~', '› sent one'], ['\x1b[F', { gone: '› sent one' }],
			['/steered', '/ steered', { isRaw: true }], [ENTER, '› steered two'], ['q', /^›$/m]],
		once: [/^• Counted\.$/],
	},
	'Backtrack': {
		replies: [say('First fruit.'), say('Second fruit.'), say('Third fruit.')],
		steps: [['an apple', 'First fruit.'], ['a bear', 'Second fruit.'], [ESC, 'esc again'], [ESC, '› a bear'],
			['\x1b[D', /^› an apple\n {2}a bear$/m], ['\x1b[C', /^ {2}an apple\n› a bear$/m], [ENTER, 'Went back before'],
			['\x7f'.repeat(4), /^› a$/m], ['pear', '› a pear', { isRaw: true }], [ENTER, 'Third fruit.']],
	},
};
