// Output of the model in plan mode and the expected result: {name, deltas, stream, plan, agent}. `stream` lists the emitted
// deltas: "msg" belongs to the message, "plan" to the plan. `plan` and `agent` are the completed items, or null.
// Instead of `deltas`, a row can have `items`: the events of the model, one array for each message.

const OPEN = '<proposed_plan>\n';
const CLOSE = '</proposed_plan>\n';
const msg = (text) => ['msg', text];
const plan = (text) => ['plan', text];

/** A text that is no plan: the message is all of it. */
const plain = (name, text) => ({ name, deltas: [text], stream: [msg(text)], plan: null, agent: text });

const textPart = (text) => ({ type: 'output_text', text });
const item = (id, text) => ({ type: 'message', role: 'assistant', id, content: text === '' ? [] : [textPart(text)] });
const added = (id, text = '') => ({ event: { type: 'response.output_item.added', output_index: 0, item: item(id, text) } });
const delta = (id, text) =>
	({ event: { type: 'response.output_text.delta', item_id: id, output_index: 0, content_index: 0, delta: text } });
const done = (id, text) => ({ event: { type: 'response.output_item.done', output_index: 0, item: item(id, text) } });

export const rows = [
	{ name: 'C1', deltas: ['Preface\n<proposed_plan>\n# Final plan\n- first\n- second\n</proposed_plan>\nPostscript'],
		stream: [msg('Preface\n'), plan('# Final plan\n- first\n- second\n'), msg('Postscript')],
		plan: '# Final plan\n- first\n- second\n', agent: 'Preface\nPostscript' },
	{ name: 'C2', deltas: ['Intro\n<proposed', '_plan>\n- Step 1\n</proposed_plan>\nOutro'],
		stream: [msg('Intro\n'), plan('- Step 1\n'), msg('Outro')], plan: '- Step 1\n', agent: 'Intro\nOutro' },
	{ name: 'C3', deltas: ['Intro\n<proposed_plan>\n- Step 1\n'], stream: [msg('Intro\n'), plan('- Step 1\n')],
		plan: '- Step 1\n', agent: 'Intro\n' },
	{ name: 'C4', deltas: ['<', 'p', 'r', 'oposed_plan>', '\n', '- a', '\n- b\n', '</prop', 'osed_plan>'],
		stream: [plan('- a'), plan('\n- b\n')], plan: '- a\n- b\n', agent: null },
	plain('C5', '  <proposed_plan> extra\nhello'),
	{ name: 'C6', deltas: ['   <proposed_plan>  \nX\n\t</proposed_plan> \nY'], stream: [plan('X\n'), msg('Y')],
		plan: 'X\n', agent: 'Y' },
	{ name: 'C7', deltas: [`${OPEN}A\n${CLOSE}mid\n${OPEN}B\n${CLOSE}end`],
		stream: [plan('A\n'), msg('mid\n'), plan('B\n'), msg('end')], plan: 'B\n', agent: 'mid\nend' },
	plain('C8', `text ${OPEN}A\n${CLOSE}end`),
	{ name: 'C9', deltas: [`${OPEN}A\n${OPEN}B\n${CLOSE}end`], stream: [plan('A\n<proposed_plan>\nB\n'), msg('end')],
		plan: 'A\n<proposed_plan>\nB\n', agent: 'end' },
	plain('C10', `${CLOSE}end`),
	{ name: 'C11', deltas: [`${OPEN}${CLOSE}`], stream: [], plan: '', agent: null },
	plain('C12', 'plain <b> text\n<x>\n'),
	plain('C13', '<proposed_plan>only one line</proposed_plan>'),
	{ name: 'C14', deltas: ['<proposed_plan>\r\nA\r\n</proposed_plan>\r\nend'], stream: [plan('A\r\n'), msg('end')],
		plan: 'A\r\n', agent: 'end' },
	{ name: 'C15', deltas: [`${OPEN}éè <\n  <prop\n</proposed_plan> x\n</proposed_plan>`],
		stream: [plan('éè <\n  <prop\n</proposed_plan> x\n')], plan: 'éè <\n  <prop\n</proposed_plan> x\n', agent: null },
	plain('C16', 'Done'),
	plain('C17', '<Proposed_Plan>\nA\n</Proposed_Plan>\n'),
	{ name: 'C18', deltas: ['<proposed_plan>'], stream: [], plan: '', agent: null },

	{ name: 'D1', deltas: ['  \n', '\nHello\n', OPEN, 'A\n', CLOSE], stream: [msg('  \n\nHello\n'), plan('A\n')],
		plan: 'A\n', agent: '  \n\nHello\n' },
	{ name: 'D2', deltas: [OPEN, 'A\n', CLOSE, '\n', '\n', 'Tail'], stream: [plan('A\n'), msg('\n\nTail')],
		plan: 'A\n', agent: '\n\nTail' },
	{ name: 'D3', deltas: ['Hi\n\n', OPEN, 'A\n', CLOSE, '\n'], stream: [msg('Hi\n\n'), plan('A\n'), msg('\n')],
		plan: 'A\n', agent: 'Hi\n\n\n' },
	{ name: 'D4', deltas: ['Intro <oai-mem-', 'citation>outer</oai-mem-citation>\n<proposed',
		'_plan>\n- Step 1<oai-mem-', 'citation>inner</oai-mem-citation>\n- Step 2\n</proposed_plan>\nOu', 'tro'],
	stream: [msg('Intro '), msg('\n'), plan('- Step 1'), plan('\n- Step 2\n'), msg('Ou'), msg('tro')],
	plan: '- Step 1\n- Step 2\n', agent: 'Intro \nOutro' },
	plain('D5', `<proposed_plan >\nA\n${CLOSE}`),
	{ name: 'D6', deltas: ['abc\n<prop'], stream: [msg('abc\n'), msg('<prop')], plan: null, agent: 'abc\n<prop' },
	{ name: 'D7', deltas: [OPEN, 'A\n</prop'], stream: [plan('A\n'), plan('</prop')], plan: 'A\n</prop', agent: null },
	{ name: 'D8', deltas: [OPEN, 'A'], stream: [plan('A')], plan: 'A', agent: null },
	{ name: 'D9', deltas: ['\u00a0<proposed_plan>\u2003\nA\n</proposed_plan>\nz'], stream: [plan('A\n'), msg('z')],
		plan: 'A\n', agent: 'z' },
	{ name: 'D10', deltas: ['x\n', '   \n', 'y'], stream: [msg('x\n'), msg('   \n'), msg('y')], plan: null,
		agent: 'x\n   \ny' },
	{ name: 'D11', deltas: [OPEN, '\n\n  A\n\n', CLOSE], stream: [plan('\n\n  A\n\n')], plan: '\n\n  A\n\n', agent: null },

	{ name: 'E1, another end than the stream', items: [[added('m'), delta('m', `Intro\n${OPEN}STREAMED\n${CLOSE}`),
		done('m', `Intro\n${OPEN}FINAL\n${CLOSE}tail`)]],
	stream: [msg('Intro\n'), plan('STREAMED\n')], plan: 'FINAL\n', agent: 'Intro\ntail' },
	{ name: 'E2, no deltas', items: [[done('m', `Intro\n${OPEN}N\n${CLOSE}tail`)]], stream: [], plan: 'N\n',
		agent: 'Intro\ntail' },
	{ name: 'E3, the item begins with text', items: [[added('m', 'Intro\n<proposed'),
		delta('m', '_plan>\n- Step 1\n</proposed_plan>\nOutro'), done('m', `Intro\n${OPEN}- Step 1\n${CLOSE}Outro`)]],
	stream: [msg('Intro\n'), plan('- Step 1\n'), msg('Outro')], plan: '- Step 1\n', agent: 'Intro\nOutro' },
	{ name: 'E4, two messages with a plan', items: [
		[added('a'), delta('a', `one\n${OPEN}A\n${CLOSE}`), done('a', `one\n${OPEN}A\n${CLOSE}`)],
		[added('b'), delta('b', `two\n${OPEN}B\n${CLOSE}`), done('b', `two\n${OPEN}B\n${CLOSE}`)]],
	stream: [msg('one\n'), plan('A\n'), msg('two\n')], plan: 'A\n', agent: ['one\n', 'two\n'], last: 'two\n' },
	{ name: 'E5, a message and then a plan alone', items: [
		[added('a'), delta('a', 'first'), done('a', 'first')],
		[added('b'), delta('b', `${OPEN}B\n${CLOSE}`), done('b', `${OPEN}B\n${CLOSE}`)]],
	stream: [msg('first'), plan('B\n')], plan: 'B\n', agent: 'first' },
	{ name: 'E6, blanks around a plan', deltas: [`\n  \n${OPEN}A\n${CLOSE}\n \n`], stream: [plan('A\n')], plan: 'A\n',
		agent: null },
	{ name: 'a plan inside a code fence', deltas: [`\`\`\`\n${OPEN}A\n${CLOSE}\`\`\`\n`],
		stream: [msg('```\n'), plan('A\n'), msg('```\n')], plan: 'A\n', agent: '```\n```\n' },
	plain('a NUL in the tag', '<proposed\0_plan>\nA\n'),
	{ name: 'a NUL in the plan', deltas: [`${OPEN}A\0B\n${CLOSE}`], stream: [plan('A\0B\n')], plan: 'A\0B\n', agent: null },
	{ name: 'a message that takes its plan back', items: [[added('m'), delta('m', `${OPEN}A\n`), done('m', 'No plan.')]],
		stream: [plan('A\n')], plan: '', agent: 'No plan.' },
];

/** The script's replies for these rows, in order. */
export const replies = (some = rows) => some.map(({ deltas, items }) =>
	({ reply: items ? [{ start: true }, ...items.flat()] : [{ message: deltas, id: 'm' }] }));

/** The final texts of a row's messages, in order; the last is the turn's. */
export const agentsOf = ({ agent }) => (Array.isArray(agent) ? agent : agent === null ? [] : [agent]);
