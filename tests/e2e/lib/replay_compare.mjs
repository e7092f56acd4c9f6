// Compares two sequences of events and lists missing events, extra events and fields that differ.
//
// The comparison ignores ids, times, paths of rollouts, prose, and the order of independent events: in captures of one version the
// token count of a response comes before or after the tools of that response.

import { align } from './align.mjs';

const masked = new Set(['session_id', 'conversation_id', 'thread_id', 'item_id', 'call_id', 'process_id', 'rollout_path',
	'history_log_id', 'log_id', 'ts', 'duration', 'parsed_cmd', 'unified_diff', 'response_id', 'resets_at',
	'resets_in_seconds']);
const prose = new Set(['error', 'stream_error', 'warning', 'background_event', 'deprecation_notice']);

/** Of a text for people only what a program could rely on: which try it was. */
const proseOf = (text) => (typeof text === 'string' ? /\b\d+\/\d+\b/.exec(text)?.[0] ?? '*' : text);

function maskIn(value, key) {
	if (masked.has(key)) return '*';
	if (Array.isArray(value)) return value.map((it) => maskIn(it));
	if (typeof value === 'string') return value.replace(/sessions\/.*rollout-\S*/, '*');
	if (value && typeof value === 'object')
		return Object.fromEntries(Object.keys(value).sort().map((name) => [name, maskIn(value[name], name)]));
	return value;
}

function maskMsg(msg) {
	const result = maskIn(msg);
	if (prose.has(msg.type)) {
		for (const name of ['message', 'summary', 'details', 'additional_details'])
			if (name in result) result[name] = proseOf(result[name]);
	}
	if (msg.type === 'exec_command_end') {
		const isCut = msg.exit_code < 0 || msg.exit_code === 124;
		const mixes = isCut || (msg.stdout && msg.stderr); // both streams, in any order
		for (const name of isCut ? ['stderr', 'aggregated_output', 'formatted_output'] : ['aggregated_output',
			'formatted_output'])
			if (mixes && name in result) result[name] = '*';
	}
	if (result.command) result.command[0] = result.command[0].replace(/^\S*\b(ba|z|da|fi)?sh$/, 'SHELL'); // the user's
	if (/^item_/.test(msg.type)) {
		const item = result.item.type ? result.item : Object.values(result.item)[0];
		item.id = '*';
	}
	if (msg.type === 'raw_response_item') result.item = { type: msg.item.type, role: msg.item.role };
	return result;
}

const isTool = ({ type, item }) => /^(exec_|patch_|apply_patch_|plan_update|turn_diff|view_image|mcp_tool|terminal_)/
	.test(type) || type === 'user_message' || (/^item_/.test(type) && (item.type ?? Object.keys(item)[0]) === 'UserMessage');

/** Moves token counts before the tools and the user messages of their response. */
function settleCounts(events) {
	const result = [];
	for (const event of events) {
		let at = result.length;
		if (event.msg.type === 'token_count')
			while (at > 0 && isTool(result[at - 1].msg)) at--;
		result.splice(at, 0, event);
	}
	return result;
}

/** Merges a command's output deltas into one per stream, standard output first. */
function joinOutput(events) {
	const result = [];
	let group = [];
	const flush = () => {
		for (const stream of ['stdout', 'stderr']) {
			const parts = group.filter(({ msg }) => msg.stream === stream);
			if (!parts.length) continue;
			const chunk = parts.map(({ msg }) => Buffer.from(msg.chunk, Array.isArray(msg.chunk) ? undefined : 'base64'));
			const kind = Array.isArray(parts[0].msg.chunk) ? 'bytes' : 'base64';
			result.push({ ...parts[0], msg: { ...parts[0].msg, chunk: `${kind}:${Buffer.concat(chunk)}` } });
		}
		group = [];
	};
	for (const event of events) {
		if (event.msg.type === 'exec_command_output_delta') {
			group.push(event);
		} else {
			flush();
			result.push(event);
		}
	}
	flush();
	return result;
}

const prepare = (events) => settleCounts(joinOutput(events)).map((event) =>
	({ ...event, key: `${event.id} ${event.msg.type}`.trim(), msg: maskMsg(event.msg) }));

/** Merges differences of numbers that depend on each other. */
function foldUsage(msg) {
	if (!msg.info) return msg;
	const { total_token_usage: total, last_token_usage: last, ...info } = msg.info;
	return { ...msg, info: { ...info, used: `${total.total_tokens} (${last.total_tokens})` } };
}

function fieldDifferences(theirs, ours, at, add) {
	const isObject = (value) => value && typeof value === 'object';
	if (!isObject(theirs) || !isObject(ours)) {
		if (theirs !== ours) add(`${at}: ${JSON.stringify(theirs)} -> ${JSON.stringify(ours)}`);
		return;
	}
	for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)]))
		fieldDifferences(theirs[name], ours[name], `${at}.${name}`, add);
}

/**
 * The differences as {line, what}: "missing TYPE", "extra TYPE", or "TYPE.FIELD: theirs -> ours"; `line` is that of the
 * capture, or for an extra event the one of the event that it follows.
 */
export function differences(captured, ours) {
	const a = prepare(captured), b = prepare(ours);
	const found = [];
	let line = 0;
	for (const [i, j] of align(a, b)) {
		line = i < 0 ? line : a[i].line;
		if (j < 0) found.push({ line, what: `missing ${a[i].msg.type}` });
		else if (i < 0) found.push({ line, what: `extra ${b[j].msg.type}` });
		else fieldDifferences(foldUsage(a[i].msg), foldUsage(b[j].msg), a[i].msg.type,
			(what) => found.push({ line: a[i].line, what }));
	}
	return found;
}
