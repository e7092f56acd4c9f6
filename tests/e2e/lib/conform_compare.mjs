// Compares two transcripts of one scenario and lists the messages that differ or that only one server sent.
//
// Responses are compared with the responses to the same requests, in any order; notifications and server requests are compared as
// sequences. The comparison ignores ids, times, versions, paths of rollouts, prose, and the positions of token counts.

import { align } from './align.mjs';

/** A recorder shortened or replaced these texts: any text is the same as they are. */
const isElided = (text) => typeof text === 'string' && (text === '<text>' || /<elided len=\d+ sha256=/.test(text));

const masked = new Set(['processId', 'residentMemoryBytes', 'installationId', 'serverName', 'cliVersion', 'environmentId']);
const prose = new Set(['warning', 'configWarning', 'error', 'deprecationNotice', 'guardianWarning']);
const free = new Set(['thread/tokenUsage/updated', 'account/rateLimits/updated', 'remoteControl/status/changed', 'warning',
	'configWarning', 'thread/settings/updated']);
/** For commands that end soon the reference emits no output deltas; each end event has all output. */
const passedOver = new Set(['item/commandExecution/outputDelta']);

const textRules = [
	[/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID'],
	[/\b(msg|resp|rs|fc|ctc)_[0-9a-f]+\b/g, '$1_ID'],
	[/\$CODEX_HOME\/(archived_)?sessions\/\S*?rollout-\S*?\.jsonl/g, 'ROLLOUT'],
	[/\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(\.\d+)?Z?/g, 'TIME'],
	[/sha256:[0-9a-f]{64}/g, 'sha256:HASH'],
	[/\b[0-9a-f]{40}\b/g, 'COMMIT'],
	[/\b0\.(169\.0|1\.0)\b/g, 'VERSION'],
	[/^\/\S*\/(ba|da|z)?sh -l?c /, 'SHELL -c '],
	[/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'],
	[/\/dev\/pts\/\d+/g, '/dev/pts/N'],
	[/("rolloutOrdinal":)\d+/g, '$1N'], // cursors are opaque
];

const isId = (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
const isTime = (key) => /(At|AtMs|durationMs|resetsAt)$/.test(key ?? '');

function maskIn(value, key) {
	if (typeof value === 'number' && isTime(key)) return '#';
	if (masked.has(key) && value !== null) return '*';
	if (Array.isArray(value)) return value.map((it) => maskIn(it));
	if (typeof value === 'string') return textRules.reduce((text, [from, to]) => text.replace(from, to), value);
	if (value && typeof value === 'object')
		return Object.fromEntries(Object.entries(value).map(([name, it]) =>
			[isId(name) ? 'UUID' : name, key === 'process' && name === 'id' ? '#' : maskIn(it, name)]));
	return value;
}

/** Reduces a text for people to the part that a program could use: the number of the attempt. */
const proseOf = (text) => (typeof text === 'string' ? /\b\d+\/\d+\b/.exec(text)?.[0] ?? '*' : text);

/** Error texts, which are masked everywhere. */
function maskProse(value) {
	if (Array.isArray(value)) return value.map(maskProse);
	if (!value || typeof value !== 'object') return value;
	return Object.fromEntries(Object.entries(value).map(([name, it]) =>
		[name, /^(message|summary|details|additionalDetails)$/.test(name) ? proseOf(it) : maskProse(it)]));
}

const nameOf = ({ method, params }) =>
	[method, params?.item?.type ?? params?.status?.type ?? params?.turn?.status].filter((it) => typeof it === 'string')
		.join(' ');

/** Tool calls are matched by their ids, which come from the scenario; ids made by a server are ignored. */
function keyOf({ method, params }) {
	const isTool = /^(command|file)/.test(params?.item?.type ?? method.slice(5));
	const id = isTool ? params.item?.id ?? params.itemId : '';
	return `${nameOf({ method, params })} ${isId(id) ? '' : id}`;
}

/** Merges the deltas of one item at the position of the first one. */
function joinDeltas(rows) {
	const firsts = new Map();
	return rows.filter(({ msg }) => {
		const text = ['delta', 'deltaBase64', 'chunk'].find((name) => typeof msg.params?.[name] === 'string');
		if (!msg.method || !text || msg.id !== undefined) return true;
		const { itemId, processId, processHandle, stream, summaryIndex, contentIndex } = msg.params;
		const key = JSON.stringify([msg.method, itemId, processId, processHandle, stream, summaryIndex, contentIndex]);
		const first = firsts.get(key);
		const plain = text === 'deltaBase64' ? Buffer.from(msg.params[text], 'base64').toString() : msg.params[text];
		if (first) first.params[text] += plain;
		else firsts.set(key, Object.assign(msg, { params: { ...msg.params, [text]: plain } }));
		return !first;
	});
}

/** A server's messages to one client: {answers: Map of request ordinal, said: the rest in order}. */
function read(lines, client) {
	const rows = joinDeltas(lines.map((it, index) => ({ ...it, line: index + 1 })).filter(({ c }) => c === client));
	const asked = [];
	const ordinals = new Map(); // of threads and turns in order of appearance, to name the owner of a token count
	const ordinalOf = (id) => ordinals.get(id) ?? ordinals.set(id, ordinals.size).size - 1;
	const answers = [];
	const said = [];
	for (const { line, dir, msg } of rows) {
		const { threadId, turnId } = msg?.params ?? {};
		const turn = dir === '<' && turnId ? [threadId, turnId].map(ordinalOf).join('.') : '';
		if (dir === '>' && msg?.method && msg.id !== undefined) asked.push({ id: msg.id, method: msg.method });
		if (dir === '!' && /^exit /.test(msg)) said.push({ line, key: 'exit', name: 'exit', msg: { exit: msg } });
		if (dir !== '<' || msg.RAW !== undefined) continue; // raw bytes are not messages
		if (passedOver.has(msg.method)) continue;
		if (msg.WSFRAME !== undefined) {
			said.push({ line, key: `frame ${msg.WSFRAME}`, name: `frame ${msg.WSFRAME}`, msg: {} });
		} else if (msg.method) {
			const body = maskIn(msg);
			const hasProse = prose.has(msg.method) || /^turn\//.test(msg.method);
			const key = free.has(msg.method) ? `${keyOf(msg)} ${turn}` : keyOf(msg);
			said.push({ line, key, name: nameOf(msg), msg: hasProse ? maskProse(body) : body });
		} else {
			const at = asked.findIndex((it) => it.id === msg.id);
			const method = at < 0 ? 'nothing' : asked.splice(at, 1)[0].method;
			answers.push({ line, key: `${method} ${JSON.stringify(msg.id)}`, msg: maskIn(msg), name: `= ${method}` });
		}
	}
	for (const row of said) {
		delete row.msg.emittedAtMs;
		if (row.msg.id !== undefined) row.msg.id = '*'; // the server's own numbers
	}
	return { answers, said };
}

/** Pairs equal messages at different positions: [theirs, ours, "moved"]. */
function pairMoved(pairs) {
	const extra = pairs.filter(([theirs]) => !theirs);
	return pairs.flatMap((pair) => {
		const [theirs, ours] = pair;
		if (!theirs) return extra.includes(pair) ? [pair] : [];
		if (ours) return [pair];
		const at = extra.findIndex(([, it]) => it.key === theirs.key);
		return at < 0 ? [pair] : [[theirs, extra.splice(at, 1)[0][1], 'moved']];
	}).filter(([theirs, ours]) => theirs || extra.some(([, it]) => it === ours));
}

const shorten = (value) => {
	const text = JSON.stringify(value) ?? 'nothing';
	return text.length > 160 ? `${text.slice(0, 160)}…` : text;
};

function fieldDifferences(theirs, ours, at, add) {
	const isObject = (value) => value && typeof value === 'object';
	if (!isObject(theirs) || !isObject(ours)) {
		if (theirs !== ours && !(isElided(theirs) && typeof ours === 'string'))
			add(`${at}: ${shorten(theirs)} -> ${shorten(ours)}`);
		return;
	}
	for (const name of new Set([...Object.keys(theirs), ...Object.keys(ours)]))
		fieldDifferences(theirs[name], ours[name], `${at}.${name}`, add);
}

function compareAnswers(theirs, ours, found) {
	const rest = [...ours];
	for (const { line, key, name, msg } of theirs) {
		const at = rest.findIndex((it) => it.key === key);
		const mine = at < 0 ? null : rest.splice(at, 1)[0].msg;
		if (!mine) found.push({ line, what: `missing ${name}` });
		else if (/^This version of Codex /.test(mine.error?.message)) found.push({ line, what: `not served ${name}` });
		else fieldDifferences(msg, mine, name, (what) => found.push({ line, what }));
	}
	for (const { name } of rest) found.push({ line: 0, what: `extra ${name}` });
}

/** Pairs token counts and hints with an equal one at any position, else with the next one of the same kind. */
function compareFree(theirs, ours, found) {
	const rest = [...ours];
	const isLike = (a, b) => a.key === b.key && JSON.stringify(a.msg) === JSON.stringify(b.msg);
	const differing = theirs.filter((a) => {
		const at = rest.findIndex((b) => isLike(a, b));
		if (at >= 0) rest.splice(at, 1);
		return at < 0;
	});
	for (const a of differing) {
		const at = rest.findIndex(({ key }) => key === a.key);
		if (at < 0) found.push({ line: a.line, what: `missing ${a.name}` });
		else fieldDifferences(a.msg.params, rest.splice(at, 1)[0].msg.params, a.name,
			(what) => found.push({ line: a.line, what }));
	}
	for (const { name } of rest) found.push({ line: 0, what: `extra ${name}` });
}

function compareSaid(theirs, ours, found) {
	let line = 0;
	for (const [a, b, moved] of pairMoved(align(theirs, ours).map(([i, j]) => [theirs[i] ?? null, ours[j] ?? null]))) {
		line = a?.line ?? line;
		if (!b) found.push({ line, what: `missing ${a.name}` });
		else if (!a) found.push({ line, what: `extra ${b.name}` });
		else {
			if (moved) found.push({ line, what: `moved ${a.name}` });
			fieldDifferences(a.msg.params ?? a.msg, b.msg.params ?? b.msg, a.name, (what) => found.push({ line, what }));
		}
	}
}

/** The differences as {line, what}; `line` is the line of their transcript, or the one that an extra message follows. */
export function differences(theirs, ours) {
	const found = [];
	const clients = new Set([...theirs, ...ours].map(({ c }) => c).filter((c) => c !== '-'));
	for (const client of clients) {
		const a = read(theirs, client), b = read(ours, client);
		compareAnswers(a.answers, b.answers, found);
		const isFree = ({ msg }) => free.has(msg.method), isOrdered = (row) => !isFree(row);
		compareSaid(a.said.filter(isOrdered), b.said.filter(isOrdered), found);
		compareFree(a.said.filter(isFree), b.said.filter(isFree), found);
	}
	return found;
}
