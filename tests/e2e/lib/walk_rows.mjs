// The steps of the walk: each command of tui_command.def and each row of the keys in docs/tui.md, with the words that it
// shows. Words are compared without blanks, so they may be wrapped, but they must not be cut at 20 columns.

const ESC = '\x1b', ENTER = '\r', CTRL_C = '\x03', F2 = '\x1bOQ', F3 = '\x1bOR';
const UP = '\x1b[A', DOWN = '\x1b[B';

/** Each row: the line, the words that it shows, the keys that close it, and more: the terminal wraps these
 * rows (raw), or keys right after they appear are typing ahead, and this key and its effect show when that is over (ahead). */
export const COMMANDS = [
	['/model', 'Select Model', ESC],
	['/model gpt-5.5 low', 'Model changed to gpt-5.5 low'],
	['/presets', 'Presets', ESC],
	['/permissions', '1. Ask for appro', ESC],
	['/approvals', '1. Ask for appro', ESC],
	['/approve', 'reviewer has denied nothing'],
	['/personality', 'Select the tone of', ESC],
	['/vim', 'vim_mode_default = true'],
	['/vim', 'Vim mode off'],
	['/experimental', 'Experimental featu', ESC],
	['/skills', '] brewing', ESC],
	['/review', '1. Review agains', ESC],
	['/import', 'There is nothing to import'],
	['/hooks', 'No hooks apply'],
	['/rename apples', 'Thread renamed to apples'],
	['/init', 'AGENTS.md already exists'],
	['/compact', 'Context compacted'],
	['/config', 'config.toml:'],
	['/recap', 'The answer.'],
	['/collab', /^›$/m],
	['/status', 'Collaboration mode: Plan'],
	['/plan hi', ['› hi', 'The answer.']],
	['/collab', /^›$/m],
	['/status', 'Collaboration mode: Default'],
	['/goal', 'No goal is set'],
	['/side what', 'Aside, not part of the session: The answer.'],
	['/copy', 'Sent the last answer'],
	['/export out.md', 'Exported to'],
	['/raw on', 'Raw output mode on', '', { raw: true }],
	['/raw off', 'Raw output mode off', '', { raw: true }],
	['/diff', 'D I F F', 'q'],
	['/mention', 'type a part of t', CTRL_C],
	['/status', 'Attached terminals: 0'],
	['/warnings', 'W A R N I N G S', 'q'],
	['/daemon', '1. Start it', ESC, { ahead: [DOWN, /^› 2\. /m] }],
	['/cd below', '/below'],
	['/pwd', '/below'],
	['/title', '[x] project-name', ESC],
	['/statusline', '[x] current-dir', ESC],
	['/theme', 'Select the colours', ESC],
	['/keymap', 'global.open_tran', ESC],
	['/mcp', 'No MCP servers are configured'],
	['/plugins', 'Add another one', ESC, { ahead: ['a', /^ *Search: a/m] }],
	['/logout', 'no key or login is stored'],
	['/feedback', 'Nothing is uploaded'],
	['/ps', 'None is running'],
	['/stop', 'Stopping all background terminals'],
	['/subagents', 'This session has no subagents'],
	['/agent', 'This session has no subagents'],
	['/agents', 'This session has no subagents'],
	['/help', 'choose the model and its'],
	['/ide', 'a terminal has no editor', CTRL_C],
	['/voice', 'only text is read', CTRL_C],
	['/resume', 'Search:', ESC],
	['/fork', 'Thread forked from'],
	['/archive', 'Archived'],
	['/new', 'New session'],
	['/clear', 'New session'],
	['/worktree', 'A checkout of HEAD'],
	['first words', 'The answer.'],
	['/delete', '1. Yes, delete it', '1', { ahead: [UP, /^› 1\. /m] }],
];

/** By the first cell of the row in docs/tui.md: keys (with Enter at their end: a line), the words that they show, and more. */
export const KEYS = {
	'Enter': [['hello', '› hello'], [ENTER, 'The answer.']],
	'Tab': [['by tab', '› by tab'], ['\t', 'The answer.']],
	'Ctrl-C': [['half', '› half'], [CTRL_C, /^›$/m], [UP, '› half'], [CTRL_C, /^›$/m]],
	'Up, Down': [[UP, '› half'], [UP, '› by tab'], [DOWN, '› half'], [DOWN, /^›$/m]],
	'Ctrl-R, Ctrl-S': [['\x12', 'reverse-i-search'], ['h', '› half'], ['\x12', '› hello'], ['\x13', '› half'], [ENTER, { gone: 'reverse-i' }],
		[CTRL_C, /^›$/m]],
	'Ctrl-G': [['draft', '› draft'], ['\x07', '› edited'], [CTRL_C, /^›$/m]],
	'Ctrl-V': [['\x16', '› [Image #1]'], [CTRL_C, /^›$/m]],
	'Ctrl-O': [['\x0f', 'Sent the last answer']],
	'`/`, `@`, `$`': [['/stat', '/statusline'], [ESC, { gone: '/statusline' }], [CTRL_C, /^›$/m],
		['@pea', '› below/pear.txt'], ['\t', { gone: '@pea' }], [CTRL_C, /^›$/m],
		['$bre', '› $brewing'], ['\t', /^› \$brewing$/m], [CTRL_C, /^›$/m]],
	'`!`': [['!echo shell-$((1+1))', '! echo shell'], [ENTER, 'shell-2']],
	'Shift-Tab': [['\x1b[Z/status', '› /status'], [ENTER, 'Collaboration mode: Plan'],
		['\x1b[Z/status', '› /status'], [ENTER, 'Collaboration mode: Default']], // at 20 columns the footer has no room for the mode
	'Alt-, and Alt-.': [['\x1b.', 'Model changed to'], ['\x1b,', 'Model changed to']],
	'`?`': [['?', 'New line'], ['?', { gone: 'New line' }]],
	'Ctrl-L': [['again\r', 'The answer.'], ['\x0c', { gone: 'The answer.' }]],
	'Ctrl-T, F3': [['\x14', 'T R A N S C R I'], ['q', /^›$/m], [F3, 'T R A N S C R I'], ['hello', '/ hello'],
		[ENTER, /hello {2,3}(n N n|q to cl)/], ['q', /^›$/m]],
	'F2': [[F2, 'W A R N I N G S'], ['q', /^›$/m]],
	'Alt-R': [['\x1br', 'Raw output mode on', { raw: true }], ['\x1br', 'Raw output mode off', { raw: true }]],
	'Esc Esc': [[ESC, 'esc again to edi'], [ESC, 'Edit previous mes'], [ENTER, 'Went back before'], [CTRL_C, /^›$/m]],
};

/** During a turn that waits. */
export const TURN_KEYS = {
	'Tab': [['later', '› later'], ['\t', '↳ later']],
	'Alt-Up, Shift-Left': [['\x1b[1;3A', '› later'], ['\t', '↳ later'], ['\x1b[1;2D', '› later'], ['\t', '↳ later']],
	'Enter': [['steer', '› steer'], [ENTER, '↳ steer']],
};

/** In other tests of tui_walk.test.mjs, tui_lists.test.mjs and tui_keys.test.mjs, also at these sizes. */
export const APART = ['Up, Down, PgUp, PgDn, Home, End', 'Ctrl-J, Shift-Enter, Alt-Enter', 'Ctrl-D', 'Esc, Ctrl-C', 'Left, Alt-Left, Alt-Right', 'Ctrl-Z',
	'Ctrl-A, Ctrl-E, Ctrl-B, Ctrl-F, Ctrl-P, Ctrl-N, Home, End, Alt-B, Alt-F, Ctrl-Left, Ctrl-Right',
	'Ctrl-W, Alt-Backspace, Alt-D, Ctrl-U, Ctrl-K, Ctrl-Y'];
