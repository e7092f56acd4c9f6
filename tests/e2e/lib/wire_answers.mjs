// The same answers in the form of each API, and its strict server.
//
//   const { say, calls } = ANSWERS[wire], server = await startStrict(t, wire, [calls([['exec_command', { cmd: 'ls' }, 'c1']]), say('Done.')]);

import { chat, chunk, messages as m, startWire } from './wires.mjs';

const event = (type, more) => ({ type, ...more });
const responses = (...items) => [...items.map((item) => event('response.output_item.done', { item })),
	event('response.completed', { response: { id: 'r', usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 } } })];

/** The same answers on each wire. A call is [name, arguments, id]. */
export const ANSWERS = {
	chat: {
		say: (text, thought) => [...(thought ? [chunk({ reasoning_content: thought })] : []), ...chat.say(text)],
		calls: (calls, thought) => [...(thought ? [chunk({ reasoning_content: thought })] : []),
			...chat.calls(...calls.map(([name, args, id], index) => chat.call(name, args, { id, index })))],
	},
	messages: {
		say: (text) => m.say(text),
		calls: (calls, thought) => [m.start(), ...(thought ? m.thinking(0, thought, 'sig') : []),
			...calls.flatMap(([name, args, id], i) => m.tool(i + 1, id, name, args)), ...m.stop('tool_use')],
	},
	responses: {
		say: (text) => responses({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }),
		calls: (calls, thought) => responses(...(thought ? [{ type: 'reasoning', summary: [], encrypted_content: thought }] : []),
			...calls.map(([name, args, id]) => ({ type: 'function_call', name, arguments: JSON.stringify(args), call_id: id }))),
	},
};

/** Refuses members and items that only other wires know, like a strict Responses server. */
function checkResponses({ body }) {
	const open = new Set();
	for (const item of body.input) {
		if (item.wire || item.extra_content) throw new Error(`unknown member in ${JSON.stringify(item)}`);
		if (item.type === 'reasoning' && !item.encrypted_content) throw new Error('reasoning without encrypted_content');
		if (item.type === 'function_call') open.add(item.call_id);
		if (item.type === 'function_call_output' && !open.delete(item.call_id)) throw new Error(`no call for ${item.call_id}`);
	}
	if (open.size) throw new Error(`No tool output found for ${[...open]}`);
}
/** Starts the strict server of this API. */
export const startStrict = (t, wire, answers) => startWire(t, wire, answers, wire === 'responses' ? { check: checkResponses } : {});

/** The output of that call as a request of this API has it, as text. */
export function outputOn(wire, { body }, id) {
	const found = {
		responses: () => body.input.find((item) => item.type === 'function_call_output' && item.call_id === id)?.output,
		chat: () => body.messages.find((message) => message.tool_call_id === id)?.content,
		messages: () => body.messages.flatMap(({ content }) => content).find((block) => block.tool_use_id === id)?.content,
	}[wire]();
	return Array.isArray(found) ? found.map((part) => part.text ?? '').join('') : found;
}

/** The name of each tool that a request of this API offers, as its model calls it. */
export function toolsOn(wire, { body }) {
	if (wire === 'chat') return body.tools.map((tool) => tool.function.name);
	return body.tools.flatMap((tool) => (tool.type === 'namespace' ? tool.tools.map((inner) => inner.name) : [tool.name ?? tool.type]));
}
