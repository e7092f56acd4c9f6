// The page of codex serve. Everything that a model, a file or a user says becomes text nodes; no markup is made from
// strings. docs/serve.md describes the rules, docs/protocol.md the events.
'use strict';

const $ = id => document.getElementById(id);
const put = (id, text) => {
	$(id).textContent = text;
};

/** What the list says about the session that is shown, if any. */
const infoOf = view => sessions.find(one => one.session_id === view?.id);
const dim = text => el('p', { class: 'dim', text });
const fill = (at, ...nodes) => ($(at) ?? at).replaceChildren(...nodes);
const fail = (id, what, error) => put(id, `Not ${what}: ${error.message}`);

/** Makes an element. Properties are attributes, except text, class and on (listeners). */
function el(tag, props = {}, ...children) {
	const node = document.createElement(tag);
	for (const [key, value] of Object.entries(props)) {
		if (key === 'text') node.textContent = value;
		else if (key === 'label') node.setAttribute('aria-label', value);
		else if (key === 'on') for (const name in value) node.addEventListener(name, value[name]);
		else if (value !== undefined && value !== false)
			node.setAttribute(key, value === true ? '' : value);
	}
	node.append(...children.filter(child => child != null && child !== false));
	return node;
}
const button = (text, click, kind = '') => el('button', { type: 'button', class: kind, text, on: { click } });

/** Control, zero-width and bidirectional characters become visible, so that what is approved is what is read. */
const shown = text =>
	String(text ?? '').replace(
		/[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
		c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')
	);
const output = text => shown(text.replace(/\r\n/g, '\n'));
const oneLine = text =>
	shown(
		String(text ?? '')
			.replace(/\s+/g, ' ')
			.trim()
	);

/** A new id of a submission. */
const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map(b => b.toString(16).padStart(2, '0')).join('');

const store = (area, key, value) => {
	try {
		if (value === undefined) return area.getItem(key);
		if (value === null) area.removeItem(key);
		else area.setItem(key, value);
	} catch {
		/* storage may be full or off: nothing but comfort is lost */
	}
	return null;
};
const local = (key, value) => store(localStorage, key, value);
const tab = (key, value) => store(sessionStorage, key, value);

function announce(text) {
	put('said', '');
	setTimeout(() => {
		put('said', text);
	}, 50);
}

// ---- Markdown: a subset, in elements ----

const MD_LONGEST = 40000,
	MD_DEEPEST = 8;
const isAddress = text => /^(https?:\/\/|mailto:)[^\s]+$/i.test(text);

function link(text, address) {
	return el(
		'a',
		{ href: address, target: '_blank', rel: 'noopener noreferrer nofollow' },
		...[].concat(text)
	);
}

const SPECIAL = /[\\`*![]|https?:\/\//g;
const NAMED_LINK =
	/!?\[([^[\]\n]{0,999})\]\( ?<?([^\s<>()]{0,999}(?:\([^\s<>()]{0,99}\))?)>?(?: "[^"\n]{0,99}")? ?\)/y;
const BARE_LINK = /https?:\/\/[^\s<>"'`*]{1,999}/y;

/** Text with code, **strong**, *emphasis* and links, as a list of nodes. */
function inline(text, depth = 0) {
	const out = [],
		none = {};
	let from = 0,
		at = 0;
	const take = (node, end) => {
		if (at > from) out.push(text.slice(from, at));
		out.push(node);
		from = at = SPECIAL.lastIndex = end;
	};
	/** The end mark of a span that begins at `at`; a mark that was not found is not looked for again. */
	const closing = (mark, start) => {
		if (none[mark]) return -1;
		const end = text.indexOf(mark, start);
		if (end < 0) none[mark] = true;
		return end;
	};
	SPECIAL.lastIndex = 0;
	for (let match; depth < MD_DEEPEST && ((SPECIAL.lastIndex = at), (match = SPECIAL.exec(text)));) {
		at = match.index;
		const c = text[at];
		if (c === '\\') {
			if (/[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) take(text[at + 1], at + 2);
			else at++;
		} else if (c === '`') {
			const mark = /`+/y;
			mark.lastIndex = at;
			const run = mark.exec(text)[0],
				start = at + run.length;
			let end = closing(run, start);
			while (end >= 0 && text[end + run.length] === '`') {
				let after = end;
				while (text[after] === '`') after++;
				end = closing(run, after);
			}
			if (end < 0) at = start;
			else
				take(
					el('code', {
						text: text.slice(start, end).replace(/^ ([^]+) $/, '$1')
					}),
					end + run.length
				);
		} else if (c === '*') {
			const mark = text[at + 1] === '*' ? '**' : '*',
				start = at + mark.length;
			const end = /\S/.test(text[start] ?? '') ? closing(mark, start + 1) : -1;
			if (end < 0 || /\s/.test(text[end - 1])) {
				at = start;
				continue;
			}
			take(
				el(
					mark === '*' ? 'em' : 'strong',
					{},
					...inline(text.slice(start, end), depth + 1)
				),
				end + mark.length
			);
		} else if (c === '[' || c === '!') {
			NAMED_LINK.lastIndex = at;
			const found = (c === '[' || text[at + 1] === '[') && NAMED_LINK.exec(text);
			if (!found) {
				at++;
				continue;
			}
			const label = found[1] || found[2];
			if (isAddress(found[2])) take(link(label, found[2]), at + found[0].length);
			else take(`${label} (${found[2]})`, at + found[0].length);
		} else {
			BARE_LINK.lastIndex = at;
			const address = BARE_LINK.exec(text)?.[0].replace(/[.,;:!?)\]]+$/, '');
			if (address && address.length > 8) take(link(address, address), at + address.length);
			else at += 7;
		}
	}
	if (from < text.length) out.push(text.slice(from));
	return out;
}

const FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+([^]*)$/;
const RULE = /^ {0,3}([-*_])([ \t]*\1){2,}[ \t]*$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+|$)(.*)$/;
const DASHES = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

function codeBlock(text, language) {
	const copy = button('Copy', () => copyText(text), 'small quiet');
	return el(
		'section',
		{ class: 'code', role: 'region', label: language ? `Code: ${language}` : 'Code' },
		el('div', { class: 'row' }, el('span', { text: language }), copy),
		el('pre', { tabindex: 0 }, el('code', { text }))
	);
}

const cells = line =>
	line
		.trim()
		.replace(/^\||\|$/g, '')
		.split('|')
		.map(cell => cell.trim());

function table(head, rows) {
	const row = (line, tag) =>
		el('tr', {}, ...cells(line).slice(0, cells(head).length).map(c => el(tag, {}, ...inline(c))));
	return el(
		'div',
		{ class: 'wide', tabindex: 0, role: 'group', label: 'Table' },
		el(
			'table',
			{},
			el('thead', {}, row(head, 'th')),
			el('tbody', {}, ...rows.map(line => row(line, 'td')))
		)
	);
}

const begins = line =>
	FENCE.test(line) ||
	HEADING.test(line) ||
	RULE.test(line) ||
	/^ {0,3}>/.test(line) ||
	/^ {0,3}([-*+]|1[.)])[ \t]+\S/.test(line);

const markdown = (text, depth) => [...blocks(text, depth)];

/** Makes the blocks of a text, one element at a time. */
function* blocks(text, depth = 0) {
	const lines = text.split('\n');
	for (let i = 0; i < lines.length;) {
		const line = lines[i];
		let found;
		if (!line.trim()) i++;
		else if ((found = FENCE.exec(line))) {
			const [, mark, language] = found,
				code = [];
			const end = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}[ \\t]*$`);
			for (i++; i < lines.length && !end.test(lines[i]); i++) code.push(lines[i]);
			i++;
			yield codeBlock(code.join('\n'), oneLine(language).slice(0, 40));
		} else if ((found = HEADING.exec(line))) {
			yield el(
				'h' + Math.min(6, found[1].length + 2),
				{},
				...inline(found[2].replace(/\s#+\s*$/, ''))
			);
			i++;
		} else if (RULE.test(line)) {
			yield el('hr');
			i++;
		} else if (depth < MD_DEEPEST && /^ {0,3}>/.test(line)) {
			const inner = [];
			for (
				;
				i < lines.length &&
				lines[i].trim() &&
				(/^ {0,3}>/.test(lines[i]) || !begins(lines[i]));
				i++
			)
				inner.push(lines[i].replace(/^ {0,3}> ?/, ''));
			yield el('blockquote', {}, ...markdown(inner.join('\n'), depth + 1));
		} else if (depth < MD_DEEPEST && (found = ITEM.exec(line))) {
			i = yield* list(lines, i, found, depth);
		} else if (
			line.includes('|') &&
			(line + lines[i + 1]).length < 999 &&
			DASHES.test(lines[i + 1] ?? '') &&
			cells(line).length === cells(lines[i + 1]).length
		) {
			const rows = [];
			for (i += 2; i < lines.length && lines[i].includes('|') && lines[i].trim(); i++)
				rows.push(lines[i]);
			yield table(line, rows);
		} else {
			const words = [line];
			for (i++; i < lines.length && lines[i].trim() && !begins(lines[i]); i++)
				words.push(lines[i]);
			yield el('p', {}, ...inline(words.map(word => word.trim()).join('\n')));
		}
	}
}

/** Makes a list that begins in lines[i]; returns the index after it. */
function* list(lines, i, first, depth) {
	const isOrdered = /\d/.test(first[2]),
		items = [];
	let isLoose = false,
		found;
	while (
		i < lines.length &&
		(found = ITEM.exec(lines[i])) &&
		isOrdered === /\d/.test(found[2]) &&
		!RULE.test(lines[i])
	) {
		const width = found[1].length + found[2].length + Math.max(1, Math.min(4, found[3].length));
		const inner = [found[4]];
		for (i++; i < lines.length; i++) {
			const line = lines[i],
				indent = /^ */.exec(line)[0].length;
			if (!line.trim()) {
				const next = lines.slice(i + 1, i + 3).find(more => more.trim());
				const isOver =
					next === undefined ||
					(/^ */.exec(next)[0].length < width && !ITEM.test(next));
				if (isOver) break;
				if (/^ */.exec(next)[0].length < width) {
					isLoose = true;
					i++;
					break;
				}
				isLoose = true;
				inner.push('');
			} else if (indent >= width) inner.push(line.slice(width));
			else if (indent >= 2 && ITEM.test(line.slice(indent)) && indent > found[1].length)
				inner.push(line.slice(Math.min(indent, width)));
			else if (ITEM.test(line) || begins(line) || !inner.at(-1).trim()) break;
			else inner.push(line.trim());
		}
		items.push(inner.join('\n'));
	}
	const start = isOrdered ? parseInt(first[2], 10) : 1;
	yield el(
		isOrdered ? 'ol' : 'ul',
		{ start: start === 1 ? undefined : start },
		...items.map(item => {
			const nodes = markdown(item, depth + 1);
			if (!isLoose && nodes[0]?.tagName === 'P') nodes.splice(0, 1, ...nodes[0].childNodes);
			return el('li', {}, ...nodes);
		})
	);
	return i;
}

const raw = text => el('div', { class: 'raw' }, text);

/** Makes the blocks of a message; what is beyond MD_LONGEST characters is plain text. */
function* wholeMarkdown(text) {
	yield* blocks(text.slice(0, MD_LONGEST));
	for (const part of text.slice(MD_LONGEST).match(/[^]{1,4000}(?:\n|$)|[^]{4000}/g) ?? [])
		yield raw(part);
}

/**
 * Text that grows: what is before a blank line outside of a fence is made once, the rest anew, and as plain text beyond
 * 8,000 characters.
 */
class Growing {
	constructor() {
		this.text = '';
		this.done = this.scanned = this.raw = 0; // raw: the part of the tail that is shown as plain text
		this.blanks = [];
		this.fence = null;
		this.stable = el('div');
		this.tail = el('div');
		this.node = el('div', { class: 'md' }, this.stable, this.tail);
	}

	scan() {
		for (let end; (end = this.text.indexOf('\n', this.scanned)) >= 0; this.scanned = end + 1) {
			const line = this.text.slice(this.scanned, end),
				found = FENCE.exec(line);
			if (this.fence) {
				if (
					found &&
					found[1][0] === this.fence[0] &&
					found[1].length >= this.fence.length &&
					!found[2].trim()
				)
					this.fence = null;
			} else if (found) this.fence = found[1];
			else if (!line.trim()) this.blanks.push(end + 1);
		}
	}

	show() {
		this.scan();
		let at = 0;
		for (; this.blanks[at] < Math.min(MD_LONGEST, this.done + 8000) && !isLate(); at++) {
			this.stable.append(...blocks(this.text.slice(this.done, this.blanks[at])));
			this.done = this.raw = this.blanks[at];
			fill(this.tail);
		}
		this.blanks.splice(0, at);
		if (this.text.length - this.done > 8000) this.showRaw();
		else fill(this.tail, ...blocks(this.text.slice(this.done)));
	}

	/** Plain text is appended in pieces, and to short elements, so that little is laid out again. */
	showRaw() {
		let last = this.tail.lastChild;
		if (last?.className !== 'raw') fill(this.tail, (last = raw('')));
		while (this.raw < this.text.length) {
			const size = last.firstChild.length;
			if (size > 8000 || (size > 4000 && this.text[this.raw - 1] === '\n'))
				this.tail.append((last = raw('')));
			const piece = this.text.slice(this.raw, this.raw + 4000),
				end = piece.lastIndexOf('\n') + 1 || piece.length;
			last.firstChild.appendData(piece.slice(0, end));
			this.raw += end;
		}
	}
}

async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		const area = el('textarea', { class: 'hidden', 'aria-hidden': true });
		area.value = text;
		(document.querySelector('dialog[open]') ?? document.body).append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
	}
	announce('Copied');
}

// ---- diffs, commands and output ----

const DIFF_LINES = 500,
	OUTPUT_LINES = 200;

function showAll(node, lines, limit, make) {
	if (lines.length <= limit) return node;
	const more = button(
		`Show all ${lines.length} lines`,
		() => {
			more.remove();
			fill(node, ...make(lines));
		},
		'small'
	);
	return el('div', {}, node, more);
}

const kindOf = line => (line[0] === '+' ? 'add' : line[0] === '-' ? 'del' : line[0] === '@' ? 'hunk' : '');

/** Neighbouring lines of one kind share an element. */
function diffRuns(lines) {
	const out = [];
	let kind,
		run = [];
	const end = () => run.length && out.push(el('span', { class: kind, text: output(run.join('\n')) || ' ' }));
	for (const line of lines) {
		if (kindOf(line) !== kind) {
			end();
			run = [];
			kind = kindOf(line);
		}
		run.push(line || ' ');
	}
	end();
	return out;
}

function diff(text) {
	const lines = text.replace(/\n$/, '').split('\n');
	const node = el('pre', { class: 'diff', tabindex: 0 }, ...diffRuns(lines.slice(0, DIFF_LINES)));
	return showAll(node, lines, DIFF_LINES, diffRuns);
}

const prefixed = (text, mark) =>
	text
		.replace(/\n$/, '')
		.split('\n')
		.map(line => mark + line)
		.join('\n');

function fileGroup(path, change) {
	const text =
		change.type === 'add'
			? prefixed(change.content ?? '', '+')
			: change.type === 'delete'
				? prefixed(change.content ?? '', '-')
				: (change.unified_diff ?? '');
	const name = change.move_path ? `${shown(path)} → ${shown(change.move_path)}` : shown(path);
	return el(
		'div',
		{ class: 'file', role: 'group', label: shown(path) },
		el('div', {
			class: 'mono',
			text:
				name +
				(change.type === 'delete' ? ' (deleted)' : change.type === 'add' ? ' (new)' : '')
		}),
		diff(text)
	);
}
const fileGroups = changes => Object.entries(changes ?? {}).map(([path, change]) => fileGroup(path, change));

/** The files of a diff in git's format. */
function splitDiff(text) {
	const files = [];
	for (const part of text.split(/^(?=diff --git )/m)) {
		if (!part.trim()) continue;
		const path =
			/^\+\+\+ (?:b\/)?(?!\/dev\/null)(.+)$/m.exec(part)?.[1] ??
			/^--- (?:a\/)?(?!\/dev\/null)(.+)$/m.exec(part)?.[1] ??
			/^diff --git a\/.* b\/(.*)$/m.exec(part)?.[1] ??
			'file';
		const start = part.search(/^@@/m);
		files.push([path.replace(/\t$/, ''), start < 0 ? part : part.slice(start)]);
	}
	return files;
}

// Other programs of such a name are shown with their path.
const SHELL = /^((\/usr(\/local)?)?\/bin\/)?(ba|z|da|k)?sh$/;

function commandText(argv) {
	const words = argv ?? [];
	if (words.length === 3 && SHELL.test(words[0]) && /^-l?c$/.test(words[1]))
		return words[2];
	return words
		.map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`))
		.join(' ');
}

// ---- requests ----

let token = local('token'),
	code = null;

const send = (method, path, body, signal) =>
	fetch(path, {
		method,
		signal,
		cache: 'no-store',
		credentials: 'omit',
		redirect: 'error',
		headers: {
			...(body && { 'content-type': 'application/json' }),
			...(token && { authorization: `Bearer ${token}` })
		},
		body: body && JSON.stringify(body)
	});

/** Resolves to the answer's object; throws an Error whose message is for people. */
async function api(method, path, body) {
	let answer;
	try {
		answer = await send(method, path, body);
	} catch {
		throw new Error('no connection to codex');
	}
	if (answer.status === 401) {
		signedOut();
		throw new Error('sign in again');
	}
	const object = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
	if (!answer.ok) throw new Error(object.error?.message ?? `status ${answer.status}`);
	return object;
}

function deviceName() {
	const agent = navigator.userAgent;
	const browser = /Edg|Firefox|Chrome|Safari/.exec(agent)?.[0] ?? 'Browser';
	const system = /Android|iPhone|iPad|Mac OS|Windows|Linux/.exec(agent)?.[0];
	return system ? `${browser} on ${system}` : browser;
}

async function signIn(text) {
	const alert = $('code-alert');
	alert.textContent = '';
	try {
		const answer = await send('POST', '/v1/login', { code: text, name: deviceName() });
		if (answer.ok) {
			({ token } = await answer.json());
			local('token', token);
			$('code').value = '';
			route();
			return;
		}
		alert.textContent =
			answer.status === 429
				? 'Too many attempts.'
				: answer.status === 401
					? 'This code is wrong, was used, or is too old.'
					: `Sign-in failed: status ${answer.status}.`;
	} catch {
		alert.textContent = 'No connection.';
	}
	showView('sign-in');
}

function signedOut() {
	stopWatching();
	chat = token = null;
	local('token', null);
	for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
	setConnection('');
	if (code) {
		signIn(code);
		code = null;
	} else showView('sign-in');
}

// ---- views ----

let sessions = [],
	chat = null,
	leaving = '';

function showView(name) {
	for (const id of ['sign-in', 'list', 'conversation']) $(id).hidden = id !== name;
	for (const id of ['back', 'changing', 'setting']) $(id).hidden = name === 'sign-in';
	$('changing').disabled = name !== 'conversation';
	if (name !== 'conversation') {
		put('title', 'Codex');
		showChanges(false);
	}
	showTitle();
}

/** The view that the address names. */
function route() {
	const found = /^#code=([^&]+)/.exec(location.hash);
	if (found) {
		code = found[1];
		history.replaceState(null, '', location.pathname + '#/');
	}
	if (!token) {
		const first = code;
		code = null;
		if (first) signIn(first);
		else showView('sign-in');
		return;
	}
	const id = /^#\/s\/([\w-]+)$/.exec(location.hash)?.[1];
	if (id) openSession(id);
	else openList();
}

const LOST = 'Reconnecting…';

function setConnection(text) {
	const node = $('connection');
	if (node.textContent === text) return;
	if (text === LOST && node.textContent) announce('Connection lost');
	node.textContent = text;
	if (text === LOST) node.setAttribute('data-lost', '');
	else node.removeAttribute('data-lost');
}

function showTitle() {
	const info = infoOf(chat);
	const title = chat ? oneLine(info?.title) || 'New session' : 'Codex';
	const waiting = sessions.reduce((sum, one) => sum + (one.waiting?.length ?? 0), 0);
	const count = Math.max(waiting, chat?.cards.size ?? 0);
	if ($('title').textContent !== title) put('title', title);
	document.title = (token && count ? `(${count}) ` : '') + title;
}

// ---- the list ----

const STATES = { idle: 'Idle', running: 'Running', blocked: 'Waiting for you' };
let cursor = null;

function openList() {
	chat = null;
	watch(null);
	put('list-notice', leaving);
	leaving = '';
	showView('list');
	showSessions();
	fill('stored');
	cursor = null;
	loadThreads();
}

function showSessions() {
	if ($('list').hidden) return;
	$('none').hidden = sessions.length > 0;
	const focused = document.activeElement?.getAttribute?.('href');
	fill(
		'sessions',
		...sessions.map(one =>
			el(
				'li',
				{},
				el(
					'a',
					{ href: `#/s/${one.session_id}` },
					el('span', { class: 'name', text: oneLine(one.title) || 'New session' }),
					el('span', {
						class: one.state === 'blocked' ? 'needs' : 'dim',
						text: STATES[one.state] ?? one.state
					}),
					el('span', {
						class: 'dim',
						text:
							shown(one.cwd) +
							(one.process ? ` · open in ${shown(one.process)}` : '')
					})
				)
			)
		)
	);
	if (focused)
		$('sessions')
			.querySelector(`a[href="${CSS.escape(focused)}"]`)
			?.focus();
}

const when = seconds => new Date(seconds * 1000).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

async function loadThreads() {
	const at = cursor;
	try {
		const page = await api(
			'GET',
			'/v1/threads?limit=50' + (cursor ? `&cursor=${encodeURIComponent(cursor)}` : '')
		);
		$('stored')[at ? 'append' : 'replaceChildren'](
			...page.threads.map(thread => {
				const title = oneLine(thread.name || thread.preview).slice(0, 80);
				const { process } = thread;
				const state = process ? `running in ${shown(process)}` : when(thread.updated_at);
				const node = button('', () => resume(thread.id, node));
				node.setAttribute('aria-label', `Resume ${title}`);
				node.append(
					el('span', { class: 'name', text: title }),
					el('span', {
						class: 'dim',
						text: `${shown(thread.cwd)} · ${state}`
					})
				);
				return el('li', {}, node);
			})
		);
		cursor = page.next_cursor;
		$('more').hidden = !cursor;
	} catch (error) {
		fail('list-notice', 'listed', error);
	}
}

async function openNew(body, after) {
	const { session_id: id } = await api('POST', '/v1/sessions', body);
	if (after) await submit(after, newId(), id);
	location.hash = `#/s/${id}`;
}

async function resume(id, node) {
	node.disabled = true;
	try {
		await openNew({ resume: id });
	} catch (error) {
		fail('list-notice', 'resumed', error);
	}
	node.disabled = false;
}

async function startNew(event) {
	event.preventDefault();
	const value = id => $(id).value.trim();
	const op = { type: 'configure_session' };
	if (value('new-folder')) op.cwd = value('new-folder');
	if (value('new-model')) op.model = value('new-model');
	if (value('new-approvals')) op.approval_policy = value('new-approvals');
	if (value('new-sandbox')) op.sandbox_policy = { type: value('new-sandbox') };
	put('new-alert', '');
	try {
		const isPlain = Object.keys(op).length === 1;
		await openNew(isPlain ? undefined : { no_auto_configure: true }, isPlain ? undefined : op);
		$('new-session').close();
		$('new-form').reset();
	} catch (error) {
		fail('new-alert', 'started', error);
	}
}

// ---- a conversation ----

const WINDOW_LEAST = 200,
	WINDOW_MOST = 300;

function openSession(id) {
	if (chat?.id === id) {
		showView('conversation');
		return;
	}
	chat = {
		id,
		seq: 0,
		live: null,
		entries: [],
		byId: new Map(),
		first: 0,
		last: 0,
		cards: new Map(),
		settings: {},
		plan: null,
		diff: '',
		follow: true,
		isPlan: false,
		dirty: new Set(),
		pending: null,
		running: false
	};
	fill('entries');
	fill('waiting');
	for (const part of ['plan', 'changes', 'waiting', 'earlier', 'latest']) $(part).hidden = true;
	$('side').hidden = true;
	put('sent-alert', '');
	images.length = 0;
	showImages();
	$('message').value = tab(`draft:${id}`) ?? '';
	showView('conversation');
	showState();
	watch(id);
}

/** Adds an entry. make(entry) fills entry.el anew whenever it is dirty and in the document. */
function addEntry(name, kind, id, make, data = {}) {
	const entry = { name, kind, make, ...data };
	chat.entries.push(entry);
	if (id) chat.byId.set(id, entry);
	touch(entry);
	return entry;
}

/** The entry of an item or call. Ids are the model's: another kind, or a call that is over, may have the same one. */
function entryOf(id, make) {
	const entry = chat.byId.get(id);
	return entry?.make === make && !entry.isOver ? entry : undefined;
}

function touch(entry) {
	if (entry) chat.dirty.add(entry);
	schedule();
}

/** Returns true if the time did not suffice. */
function render(entry) {
	if (!entry.el) {
		entry.el = el(
			'article',
			{ class: entry.kind, label: entry.name },
			el('div', { class: 'who', text: entry.name })
		);
		entry.body = el('div');
		entry.el.append(entry.body);
	}
	const isPart = entry.make(entry);
	if (entry.busy || isPart) entry.el.setAttribute('aria-busy', 'true');
	else entry.el.removeAttribute('aria-busy');
	return isPart;
}

const FLUSH_MS = 20;
let flushing = false,
	lastFlush = 0; // the time when it began
const isLate = () => performance.now() - lastFlush > FLUSH_MS;

function schedule() {
	if (flushing) return;
	flushing = true;
	const wait = Math.max(0, 60 - (performance.now() - lastFlush));
	if (document.hidden) setTimeout(flush, 500);
	else setTimeout(() => requestAnimationFrame(flush), wait);
}

/** Brings the document up to date: new entries, changed ones, and the end of the log if the reader is there. */
function flush() {
	flushing = false;
	lastFlush = performance.now();
	const view = chat;
	if (!view || $('conversation').hidden) return;
	const log = $('log'),
		box = $('entries'),
		total = view.entries.length;
	if (view.follow && total - view.first > WINDOW_MOST) {
		const first = total - WINDOW_LEAST;
		for (let i = view.first; i < Math.min(first, view.last); i++) view.entries[i].el?.remove();
		view.first = first;
		view.last = Math.max(view.last, first);
	}
	const added = [];
	for (; view.last < total && !isLate(); view.last++) {
		const entry = view.entries[view.last];
		if (!render(entry)) view.dirty.delete(entry);
		added.push(entry.el);
	}
	box.append(...added);
	for (const entry of view.last < total ? [] : view.dirty) {
		if (isLate()) break;
		if (!entry.el?.isConnected || !render(entry)) view.dirty.delete(entry);
	}
	if (view.last < total || view.dirty.size) schedule();
	$('earlier').hidden = view.first === 0;
	if (view.follow) log.scrollTop = log.scrollHeight;
	view.top = log.scrollTop;
	$('latest').hidden = view.follow;
}

function showEarlier() {
	const view = chat,
		log = $('log'),
		height = log.scrollHeight,
		first = Math.max(0, view.first - WINDOW_LEAST);
	const added = [];
	for (let i = first; i < view.first; i++) {
		render(view.entries[i]);
		added.push(view.entries[i].el);
	}
	$('entries').prepend(...added);
	view.first = first;
	view.follow = false;
	$('earlier').hidden = first === 0;
	log.scrollTop += log.scrollHeight - height;
	view.top = log.scrollTop;
}

/** Only a reader scrolls up: a page that grows does not. */
function onScroll() {
	const view = chat,
		log = $('log');
	if (!view) return;
	const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
	if (isAtEnd) view.follow = true;
	else if (log.scrollTop < (view.top ?? 0) - 4) view.follow = false;
	view.top = log.scrollTop;
	$('latest').hidden = view.follow;
}

// Bodies of entries.

const makeText = entry => fill(entry.body, el('p', { text: entry.text }));

function makeUser(entry) {
	fill(entry.body,
		...(entry.text ? [el('p', { text: shown(entry.text) })] : []),
		...entry.images.map(address =>
			/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(address)
				? el('img', { src: address, alt: 'Attached image' })
				: dim(`Image: ${shown(address.slice(0, 200))}`)
		)
	);
}

function makeGrowing(entry) {
	if (entry.busy) {
		entry.growing ??= new Growing();
		entry.growing.text = entry.text;
		if (!entry.growing.node.isConnected) fill(entry.body, entry.growing.node);
		entry.growing.show();
		return false;
	}
	if (entry.made !== entry.text) {
		entry.made = entry.text;
		entry.whole = el('div', { class: 'md' });
		entry.rest = wholeMarkdown(entry.text);
	}
	for (let next; !(next = entry.rest.next()).done;) {
		entry.whole.append(next.value);
		if (isLate()) return true;
	}
	entry.growing = null;
	fill(entry.body, entry.whole);
	if (entry.kind === 'box plan' && entry.text)
		entry.body.append(button('Implement this plan', () => implementPlan(entry.body.lastChild), 'main'));
	return false;
}

function makeReasoning(entry) {
	if (!entry.fold) {
		entry.fold = el('details', {}, el('summary', { text: 'Show reasoning' }));
		entry.inner = raw('');
		entry.fold.append(entry.inner);
		entry.body.append(entry.fold);
	}
	entry.inner.textContent = shown(entry.text);
}

const stateLine = (text, kind = '') => el('div', { class: `state ${kind}`, text });

function commandState(entry) {
	if (entry.exit === undefined)
		return entry.waits ? stateLine('Waiting for approval', 'needs') : stateLine('Running');
	return entry.exit === 0 ? stateLine('Succeeded', 'good') : stateLine(`Exit status ${entry.exit}`, 'bad');
}

function makeCommand(entry) {
	if (!entry.parts) {
		entry.parts = {
			out: el('pre', { class: 'output', tabindex: 0 }),
			more: el('div'),
			state: el('div')
		};
		entry.body.append(
			el('pre', { class: 'wrap command', text: shown(entry.command) }),
			entry.parts.more,
			entry.parts.out,
			entry.parts.state
		);
	}
	const lines = output(entry.text).replace(/\n$/, '').split('\n');
	const isCut = lines.length > OUTPUT_LINES && !entry.isWhole;
	entry.parts.out.textContent = (isCut ? lines.slice(-OUTPUT_LINES) : lines).join('\n');
	entry.parts.out.hidden = !entry.text;
	fill(entry.parts.more,
		...(isCut
			? [
					button(
						`Show all ${lines.length} lines`,
						() => {
							entry.isWhole = true;
							render(entry);
						},
						'small'
					)
				]
			: [])
	);
	fill(entry.parts.state, commandState(entry));
}

function makePatch(entry) {
	if (entry.shownChanges !== entry.changes) {
		entry.state = el('div');
		fill(entry.body, ...fileGroups(entry.changes), entry.state);
		entry.shownChanges = entry.changes;
	}
	fill(entry.state,
		entry.success === undefined
			? entry.waits
				? stateLine('Waiting for approval', 'needs')
				: stateLine('Applying')
			: entry.success
				? stateLine('Applied', 'good')
				: stateLine(`Not applied${entry.why ? `: ${entry.why}` : ''}`, 'bad')
	);
}

function makeTool(entry) {
	fill(entry.body,
		el('pre', { class: 'wrap mono', text: entry.title }),
		...(entry.text ? [el('pre', { class: 'output', tabindex: 0, text: entry.text })] : []),
		stateLine(
			entry.done === undefined ? 'Running' : entry.done ? 'Succeeded' : 'Failed',
			entry.done === false ? 'bad' : entry.done ? 'good' : ''
		)
	);
}

const note = (text, name = 'Notice') =>
	addEntry(name, `note ${name.toLowerCase()}`, null, makeText, { text: shown(text) });

// ---- events ----

const decoders = new Map(),
	OUTPUT_LONGEST = 1 << 20;

function decode(callId, base64) {
	if (!decoders.has(callId)) decoders.set(callId, new TextDecoder());
	return decoders.get(callId).decode(
		Uint8Array.from(atob(base64), c => c.charCodeAt(0)),
		{ stream: true }
	);
}

const textOf = item => (item.content ?? []).map(part => part.text ?? '').join('');

const ITEMS = {
	__proto__: null, // the types are not ours
	UserMessage: ['You', 'you', makeUser],
	AgentMessage: ['Codex', 'answer', makeGrowing],
	Reasoning: ['Reasoning', 'reasoning', makeReasoning],
	Plan: ['Proposed plan', 'box plan', makeGrowing],
	WebSearch: ['Web search', 'note', makeText]
};

function itemText(item) {
	if (item.type === 'Reasoning')
		return [...(item.summary_text ?? []), ...(item.raw_content ?? [])].join('\n\n');
	if (item.type === 'WebSearch') return shown(item.query || item.action?.query || item.action?.url || '…');
	return item.type === 'Plan' ? item.text : textOf(item);
}

function onItem(item, isDone) {
	if (item.type === 'CommandExecution') return onPastCommand(item);
	if (item.type === 'FileChange') return onPastChange(item);
	const row = ITEMS[item.type];
	if (!row) return undefined;
	let entry = entryOf(item.id, row[2]);
	if (!entry) {
		if (item.type === 'UserMessage' && !isDone) return undefined;
		entry = addEntry(...row.slice(0, 2), item.id, row[2], { text: '', images: [], busy: false });
	}
	entry.busy = !isDone && item.type !== 'WebSearch';
	entry.isOver = isDone;
	if (isDone || item.type === 'WebSearch') entry.text = itemText(item) || entry.text;
	if (item.type === 'UserMessage')
		entry.images = item.content.filter(part => part.image_url).map(part => part.image_url);
	touch(entry);
	return entry;
}

function onPastCommand(item) {
	addEntry('Command', 'box', item.id, makeCommand, {
		command: commandText(item.command),
		text: item.aggregated_output ?? '',
		exit: item.exit_code ?? -1,
		isOver: true
	});
}

function onPastChange(item) {
	addEntry('File change', 'box', item.id, makePatch, {
		changes: item.changes,
		success: item.status === 'completed',
		why: item.status === 'declined' ? 'declined' : oneLine(item.stderr),
		isOver: true
	});
}

function grow(id, text, type) {
	const entry =
		entryOf(id, ITEMS[type][2]) ?? onItem({ type, id, content: [], text: '', summary_text: [] }, false);
	entry.text += text;
	entry.busy = true;
	touch(entry);
}

/** Notes whether a call of a task waits for an approval. */
function setWaits(callId, id) {
	const entry = chat.byId.get(callId),
		waits = chat.cards.has(keyOf(callId, id));
	if (entry?.task !== id || entry.waits === waits) return;
	entry.waits = waits;
	touch(entry);
}

function endTask(msg, isAborted) {
	chat.running = false;
	closeCards(() => true);
	for (const entry of chat.entries.slice(-50)) {
		if (!entry.busy) continue;
		entry.busy = false;
		touch(entry);
	}
	if (isAborted) note(msg.reason === 'interrupted' ? 'Stopped' : `Ended: ${msg.reason}`);
	tell(isAborted ? 'Stopped' : 'Codex has answered');
}

const isLive = () => chat.live !== null && chat.seq > chat.live;
const tell = text => {
	if (isLive()) announce(text);
};

function tool(id, title, data = {}) {
	const entry = entryOf(id, makeTool) ?? addEntry('Tool call', 'box', id, makeTool, { text: '' });
	Object.assign(entry, { title, isOver: data.done !== undefined, ...data });
	touch(entry);
}

function toolResult(result) {
	const answer = result?.Ok ?? {};
	if (result?.Err !== undefined)
		return shown(typeof result.Err === 'string' ? result.Err : JSON.stringify(result.Err));
	return output((answer.content ?? []).map(part => part.text ?? `[${part.type}]`).join('\n')).slice(0, 20000);
}

const EVENTS = {
	__proto__: null,
	session_configured(msg) {
		const isFirst = !chat.settings.model;
		chat.settings = {
			model: msg.model,
			effort: msg.reasoning_effort ?? '',
			approvals: word(msg.approval_policy),
			sandbox: word(msg.sandbox_policy),
			cwd: msg.cwd
		};
		for (const past of isFirst ? (msg.initial_messages ?? []) : []) EVENTS[past.type]?.(past, '');
	},
	task_started(msg) {
		chat.running = true;
		chat.isPlan = msg.collaboration_mode_kind === 'plan';
		tell('Codex is working');
	},
	task_complete: msg => endTask(msg, false),
	turn_aborted: msg => endTask(msg, true),
	item_started: msg => onItem(msg.item, false),
	item_completed: msg => onItem(msg.item, true),
	agent_message_content_delta: msg => grow(msg.item_id, msg.delta, 'AgentMessage'),
	plan_delta: msg => grow(msg.item_id, msg.delta, 'Plan'),
	reasoning_content_delta: msg => grow(msg.item_id, msg.delta, 'Reasoning'),
	reasoning_raw_content_delta: msg => grow(msg.item_id, msg.delta, 'Reasoning'),
	exec_command_begin(msg, id) {
		const command = commandText(msg.command);
		if (entryOf(msg.call_id, makeCommand)?.command !== command)
			addEntry('Command', 'box', msg.call_id, makeCommand, { command, text: '', task: id });
		setWaits(msg.call_id, id);
	},
	exec_command_output_delta(msg) {
		const entry = entryOf(msg.call_id, makeCommand);
		if (!entry) return;
		entry.text = (entry.text + decode(msg.call_id, msg.chunk)).slice(-OUTPUT_LONGEST);
		entry.waits = false;
		touch(entry);
	},
	exec_command_end(msg, id) {
		EVENTS.exec_command_begin(msg, id);
		closeCard(msg, id);
		const entry = chat.byId.get(msg.call_id);
		decoders.delete(msg.call_id);
		entry.isOver = true;
		entry.exit = msg.exit_code;
		entry.text ||= msg.aggregated_output || msg.formatted_output || '';
		touch(entry);
	},
	patch_apply_begin(msg, id) {
		if (!entryOf(msg.call_id, makePatch))
			addEntry('File change', 'box', msg.call_id, makePatch, { changes: msg.changes, task: id });
		setWaits(msg.call_id, id);
	},
	patch_apply_end(msg, id) {
		EVENTS.patch_apply_begin(msg, id);
		closeCard(msg, id);
		const entry = chat.byId.get(msg.call_id);
		entry.isOver = true;
		entry.success = msg.success;
		entry.why = oneLine(msg.stderr);
		touch(entry);
	},
	exec_approval_request: (msg, id) =>
		addCard(msg, 'Approval: command', commandCard, id, 'exec_approval'),
	apply_patch_approval_request: (msg, id) =>
		addCard(msg, 'Approval: file change', patchCard, id, 'patch_approval'),
	request_user_input: (msg, id) => addCard(msg, 'Question', questionCard, id, 'user_input_answer'),
	request_user_input_expired: closeCard,
	elicitation_request: (msg, id) =>
		addCard({ ...msg, call_id: JSON.stringify(msg.id) }, 'Question', elicitationCard, id),
	plan_update(msg) {
		chat.plan = msg.plan;
		showPlan();
	},
	turn_diff(msg) {
		chat.diff = msg.unified_diff;
		if ($('changing').getAttribute('aria-expanded') === 'true') showDiff();
	},
	error: msg => {
		note(msg.message, 'Error');
		tell('Error');
	},
	warning: msg => note(msg.message, 'Warning'),
	stream_error: msg => note(msg.message),
	background_event: msg => note(msg.message),
	context_compacted: () => note('The conversation was summarised.'),
	thread_rolled_back: msg => note(`${msg.num_turns} turns were taken back.`),
	model_reroute: msg => note(`${msg.to_model} answers instead of ${msg.from_model}.`),
	view_image_tool_call: msg => tool(msg.call_id, `view ${shown(msg.path)}`, { done: true }),
	mcp_tool_call_begin: msg => tool(msg.call_id, callTitle(msg.invocation)),
	mcp_tool_call_end: msg =>
		tool(msg.call_id, callTitle(msg.invocation), {
			text: toolResult(msg.result),
			done: msg.result?.Ok !== undefined && !msg.result.Ok.isError
		}),
	shutdown_complete() {
		leaving = 'This session has ended';
		location.hash = '#/';
	}
};

const word = value => (typeof value === 'string' ? value : (value?.type ?? Object.keys(value ?? {})[0] ?? ''));
const callTitle = call =>
	`${shown(call.server)}.${shown(call.tool)} ${shown(JSON.stringify(call.arguments ?? {}).slice(0, 20000))}`;

function onEvent({ seq, id, msg }) {
	if (seq <= chat.seq) return;
	chat.seq = seq;
	EVENTS[msg.type]?.(msg, id);
	if (/^(session_configured|task_|turn_aborted|.*request)/.test(msg.type)) showState();
}

function showState() {
	const view = chat;
	if (!view) return;
	const info = infoOf(view);
	const isBusy = view.running || view.cards.size > 0 || info?.state === 'blocked';
	$('stop').hidden = !isBusy;
	put('state', oneLine([view.settings.model, view.isPlan ? 'plan mode' : ''].filter(Boolean).join(' · ')));
	showTitle();
}

function showPlan() {
	const steps = chat.plan ?? [],
		names = { completed: ['Done', 'done'], in_progress: ['In progress', 'now'] };
	fill(
		'plan',
		el('h2', { text: 'Plan' }),
		el(
			'ul',
			{ role: 'list' },
			...steps.map(({ step, status }) => {
				const [name, kind] = names[status] ?? ['To do', ''];
				return el('li', { class: kind, text: `${name}: ${shown(step)}` });
			})
		)
	);
	$('plan').hidden = !steps.length;
	$('side').hidden = $('plan').hidden && $('changes').hidden;
}

function showDiff() {
	const files = splitDiff(chat?.diff ?? '');
	fill(
		'changes',
		el('h2', { text: 'Changes' }),
		...(files.length
			? files.map(([path, text]) =>
					el(
						'div',
						{ class: 'file', role: 'group', label: shown(path) },
						el('div', { class: 'mono', text: shown(path) }),
						diff(text)
					)
				)
			: [dim('No file has changed in this task.')])
	);
}

function showChanges(isOpen) {
	$('changing').setAttribute('aria-expanded', String(isOpen));
	$('changes').hidden = !isOpen;
	if (isOpen) showDiff();
	$('side').hidden = $('plan').hidden && !isOpen;
}

// ---- cards: what waits for the user ----

/** Agents use the same call ids at once, and one agent may again: key finds a card, seq tells its request. */
const keyOf = (callId, id) => `${id} ${callId}`;
const isOpen = (info, card) => info.last_seq < card.seq || info.waiting_seq.includes(card.seq);

function addCard(msg, name, describe, id, op) {
	const callId = msg.call_id,
		key = keyOf(callId, id),
		info = infoOf(chat);
	const card = { key, callId, id, op, seq: chat.seq, submission: newId() };
	if (info && !isOpen(info, card)) return;
	closeCards(one => one.key === key);
	card.alert = el('p', { role: 'alert' });
	card.buttons = el('div', { class: 'buttons' });
	card.el = el('div', { class: 'card', role: 'group', label: name }, el('h2', { text: name }));
	describe(card, msg);
	card.el.append(card.alert, card.buttons);
	chat.cards.set(key, card);
	setEnabled(card, false); // a tap that was meant for something else must not decide
	setTimeout(() => setEnabled(card, true), 500);
	$('waiting').append(card.el);
	$('waiting').hidden = false;
	showTitle();
	tell(name === 'Question' ? 'Question: an answer is needed' : `Approval needed: ${name.slice(10)}`);
	setWaits(callId, id);
	notify(key + chat.seq);
}

function setEnabled(card, isEnabled) {
	for (const one of card.buttons.children) one.disabled = !isEnabled;
}

function closeCards(test) {
	for (const card of [...chat.cards.values()].filter(test)) {
		card.el.remove();
		chat.cards.delete(card.key);
		setWaits(card.callId, card.id);
	}
	$('waiting').hidden = !chat.cards.size;
	showState();
}

function closeCard(msg, id) {
	closeCards(card => card.key === keyOf(msg.call_id, id));
}

const sortOf = ({ op }) => op?.slice(-8); // approvals of commands and patches are one kind

/** The id of an answer: of the call, or of its task, which means the oldest request of that. */
function idOf(card) {
	const others = [...chat.cards.values()].filter(one => one !== card && sortOf(one) === sortOf(card));
	if (others.every(one => one.callId !== card.callId)) return card.callId;
	if (others.some(one => one.id === card.id && one.seq < card.seq)) throw new Error('answer those above first');
	return card.id;
}

async function answer(card, op) {
	setEnabled(card, false);
	card.alert.textContent = '';
	try {
		if (card.op) Object.assign(op, { type: card.op, id: idOf(card) });
		await submit(op, card.submission, chat.id, `?answers=${card.seq}`);
	} catch (error) {
		card.alert.textContent = `Not sent: ${error.message}`;
		setEnabled(card, true);
	}
}

function decisions(card, amendment) {
	const decide = decision => () => answer(card, { decision });
	card.buttons.append(
		button('Approve', decide('approved'), 'main'),
		button('Approve for session', decide('approved_for_session'))
	);
	if (amendment?.length)
		card.buttons.append(
			button(
				`Always allow ${shown(commandText(amendment))}`,
				decide({
					approved_execpolicy_amendment: { proposed_execpolicy_amendment: amendment }
				})
			)
		);
	card.buttons.append(
		button('Deny', decide('denied'), 'bad'),
		button('Deny and stop', decide('abort'), 'bad')
	);
}

const reasonLine = msg => msg.reason && dim(`Reason: ${shown(msg.reason)}`);

function commandCard(card, msg) {
	card.el.append(
		el('pre', { class: 'wrap command', text: shown(commandText(msg.command)) }),
		dim(`in ${shown(msg.cwd)}`),
		...[reasonLine(msg)].filter(Boolean)
	);
	decisions(card, msg.proposed_execpolicy_amendment);
}

function patchCard(card, msg) {
	card.el.append(
		...[reasonLine(msg), msg.grant_root && dim(`Makes ${shown(msg.grant_root)} writable`)].filter(
			Boolean
		),
		...fileGroups(msg.changes)
	);
	decisions(card, null);
}

function questionCard(card, msg) {
	const fields = (msg.questions ?? []).map((question, at) => {
		const name = `${card.key}-${at}`,
			options = question.options ?? [];
		const other = el('input', {
			type: question.isSecret ? 'password' : 'text',
			autocomplete: 'off',
			label: 'Other answer',
			placeholder: options.length ? 'Other answer' : 'Answer',
			on: {
				input: () => {
					if (other.value)
						for (const radio of set.querySelectorAll('input[type=radio]'))
							radio.checked = false;
				}
			}
		});
		const set = el(
			'fieldset',
			{},
			el('legend', { text: shown(question.question) }),
			...options.map(({ label, description }) =>
				el(
					'label',
					{ class: 'check' },
					el('input', {
						type: 'radio',
						name,
						value: label,
						label: shown(label),
						on: {
							change: () => {
								other.value = '';
							}
						}
					}),
					el(
						'span',
						{},
						shown(label),
						description
							? el('span', {
									class: 'dim',
									text: ` ${shown(description)}`
								})
							: null
					)
				)
			)
		);
		if (question.isOther || !options.length) set.append(other);
		card.el.append(set);
		return { id: question.id, get: () => other.value || set.querySelector('input:checked')?.value };
	});
	card.buttons.append(
		button(
			'Answer',
			() => {
				const missing = fields.some(field => !field.get());
				if (missing) {
					card.alert.textContent = 'Choose or write an answer first.';
					return;
				}
				answer(card, {
					response: {
						answers: Object.fromEntries(
							fields.map(field => [field.id, { answers: [field.get()] }])
						)
					}
				});
			},
			'main'
		)
	);
}

/** A question of an MCP server: a form, an address to open, or the approval of a call. */
function elicitationCard(card, msg) {
	card.el.append(
		el('p', { text: `${oneLine(msg.server_name)}: ${shown(msg.message)}` }),
		...(msg.url
			? [el('p', {}, isAddress(msg.url) ? link(shown(msg.url), msg.url) : shown(msg.url))]
			: [])
	);
	if (msg._meta?.tool_params) // the approval of a call
		card.el.append(
			el('pre', { class: 'wrap', text: shown(JSON.stringify(msg._meta.tool_params, null, 1)) })
		);
	const fields = Object.entries(msg.requested_schema?.properties ?? {}).map(([name, schema]) => {
		const choices = schema.enum ?? (schema.type === 'boolean' ? [true, false] : null);
		const isNumber = /number|integer/.test(schema.type);
		const input = choices
			? el(
					'select',
					{},
					...['', ...choices].map((one, i) =>
						el('option', { value: i || '', text: shown(one) })
					)
				)
			: el('input', { type: isNumber ? 'number' : 'text' });
		card.el.append(el('label', {}, shown(schema.title ?? name), input));
		return () =>
			input.value && [
				name,
				choices ? choices[input.value - 1] : isNumber ? Number(input.value) : input.value
			];
	});
	const decide = decision => () =>
		answer(card, {
			type: 'resolve_elicitation',
			server_name: msg.server_name,
			request_id: msg.id,
			decision,
			...(decision === 'accept' && {
				content: Object.fromEntries(fields.map(field => field()).filter(Boolean))
			})
		});
	card.buttons.append(
		button('Accept', decide('accept'), 'main'),
		button('Decline', decide('decline'), 'bad'),
		button('Cancel', decide('cancel'))
	);
}

const notified = new Set();

function notify(key) {
	if (!document.hidden || !isLive() || notified.has(key) || local('notify') !== '1') return;
	notified.add(key);
	try {
		if (Notification.permission === 'granted') new Notification('Codex waits for you');
	} catch {
		/* Android has notifications of service workers only */
	}
	if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(200);
}

// ---- messages ----

const images = [];
const IMAGE_LARGEST = 5 * 1024 * 1024,
	IMAGES_LARGEST = 11 * 1024 * 1024;
let attempt = null; // {text, images, id} of a message whose answer did not come

const submit = (op, id = newId(), session = chat.id, query = '') =>
	api('POST', `/v1/sessions/${session}/submissions${query}`, { id, op });

async function sendMessage() {
	const view = chat,
		text = $('message').value,
		urls = images.map(image => image.url);
	if ((!text.trim() && !urls.length) || view.pending) return;
	const key = JSON.stringify([view.id, text, urls]);
	if (attempt?.key !== key) attempt = { key, id: newId() };
	const items = urls.map(image_url => ({ type: 'image', image_url }));
	if (text.trim()) items.unshift({ type: 'text', text });
	put('sent-alert', '');
	view.pending = attempt.id;
	$('send').disabled = true;
	try {
		await submit({ type: 'user_input', mode: 'steer', items }, attempt.id);
		attempt = null;
		tab(`draft:${view.id}`, null);
		if (chat === view) {
			$('message').value = '';
			images.length = 0;
			showImages();
			resize();
			view.follow = true;
			schedule();
		}
	} catch (error) {
		if (chat === view) fail('sent-alert', 'sent', error);
	}
	view.pending = null;
	$('send').disabled = false;
}

async function implementPlan(node) {
	node.disabled = true;
	try {
		await setMode('default');
		await submit({
			type: 'user_input',
			mode: 'steer',
			items: [{ type: 'text', text: 'Implement the plan.' }]
		});
	} catch (error) {
		fail('sent-alert', 'sent', error);
		node.disabled = false;
	}
}

function resize() {
	if (CSS.supports('field-sizing', 'content')) return;
	$('message').rows = Math.min(8, $('message').value.split('\n').length);
}

function addImages(files) {
	for (const file of files) {
		const alert = $('sent-alert');
		const total = images.reduce((sum, image) => sum + image.size, file.size);
		if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type))
			alert.textContent = 'Not sent: images must be PNG, JPEG, GIF or WebP.';
		else if (file.size > IMAGE_LARGEST || total > IMAGES_LARGEST)
			alert.textContent = 'Not sent: images may have 5 MB, together 11 MB.';
		else {
			const reader = new FileReader();
			reader.onload = () => {
				images.push({ url: reader.result, size: file.size });
				showImages();
			};
			reader.readAsDataURL(file);
		}
	}
}

function showImages() {
	$('images').hidden = !images.length;
	fill(
		'images',
		...images.map((image, i) =>
			el(
				'span',
				{},
				el('img', { src: image.url, alt: 'Image to send' }),
				button(
					'Remove',
					() => {
						images.splice(i, 1);
						showImages();
					},
					'small'
				)
			)
		)
	);
}

// ---- settings ----

const APPROVALS = ['untrusted', 'on-failure', 'on-request', 'never'];
const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'];
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra'];

function fillSelect(id, values, first) {
	fill(id, ...[...first, ...values].map(value => el('option', { value, text: value || 'As configured' })));
}

function setSelect(id, values, value) {
	fillSelect(id, values.includes(value) ? values : [value, ...values], []);
	$(id).value = value;
}

function applyTheme() {
	const theme = local('theme');
	if (theme) document.documentElement.setAttribute('data-theme', theme);
	else document.documentElement.removeAttribute('data-theme');
}

function openSettings() {
	const now = chat?.settings ?? {};
	$('set-session').hidden = !chat;
	$('set-model').value = now.model ?? '';
	setSelect('set-effort', EFFORTS, now.effort ?? '');
	setSelect('set-approvals', APPROVALS, now.approvals ?? '');
	setSelect('set-sandbox', SANDBOXES, now.sandbox ?? '');
	$('set-plan').checked = chat?.isPlan ?? false;
	$('set-theme').value = local('theme') ?? '';
	$('set-notify').checked = local('notify') === '1';
	put('set-alert', '');
	$('pairing').hidden = true;
	$('settings').showModal();
	showDevices();
}

async function change(fields, apply) {
	put('set-alert', '');
	try {
		await submit({ type: 'override_turn_context', ...fields });
		apply(chat.settings);
		showState();
		announce('Saved');
	} catch (error) {
		fail('set-alert', 'saved', error);
	}
}

async function setMode(mode) {
	const { model, effort } = chat.settings;
	await submit({
		type: 'override_turn_context',
		collaboration_mode: {
			mode,
			settings: { model, reasoning_effort: effort || null, developer_instructions: null }
		}
	});
	chat.isPlan = mode === 'plan';
	showState();
}

async function showDevices() {
	try {
		const { devices } = await api('GET', '/v1/devices');
		fill(
			'devices',
			...devices.map(device =>
				el(
					'li',
					{},
					el('span', {
						text: `${shown(device.name)}${device.current ? ' (this one)' : ''}`
					}),
					button(
						`Sign out ${shown(device.name)}`,
						async () => {
							await api('DELETE', `/v1/devices/${device.id}`).catch(
								error => {
									put('set-alert', error.message);
								}
							);
							if (device.current) signedOut();
							else showDevices();
						},
						'small'
					)
				)
			)
		);
	} catch (error) {
		fail('set-alert', 'listed', error);
	}
}

function qrImage(rows) {
	const make = (tag, props) => {
		const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
		for (const key in props) node.setAttribute(key, props[key]);
		return node;
	};
	const size = rows.length + 4;
	const svg = make('svg', {
		viewBox: `-2 -2 ${size} ${size}`,
		role: 'img',
		'aria-label': 'QR code of the link',
		'shape-rendering': 'crispEdges'
	});
	const d = rows
		.flatMap((row, y) => [...row].map((c, x) => (c === '1' ? `M${x} ${y}h1v1h-1z` : '')))
		.join('');
	svg.append(make('path', { d, fill: '#000' }));
	return svg;
}

async function pair() {
	try {
		const { url, qr } = await api('POST', '/v1/pair');
		put('pairing-link', url);
		fill('qr', ...(qr ? [qrImage(qr)] : []));
		$('pairing').hidden = false;
	} catch (error) {
		fail('set-alert', 'made', error);
	}
}

async function wantNotifications() {
	const box = $('set-notify');
	if (
		box.checked &&
		(!('Notification' in window) || (await Notification.requestPermission()) !== 'granted')
	) {
		box.checked = false;
		put('set-alert', 'Notifications are not allowed here.');
	}
	local('notify', box.checked ? '1' : null);
	announce('Saved');
}

// ---- the connection ----

let watching = null;

function stopWatching() {
	watching?.stop();
	watching = null;
}

/** Watches the list of sessions and one session, until another one is watched. */
function watch(id) {
	stopWatching();
	const abort = { now: () => {} };
	watching = {
		stop() {
			this.isOver = true;
			abort.now();
			wake();
		},
		isOver: false,
		hurry: () => wake()
	};
	let wake = () => {};
	const self = watching;
	const pause = ms =>
		new Promise(resolve => {
			wake = resolve;
			setTimeout(resolve, ms);
		});
	self.restart = () => abort.now();
	(async () => {
		for (let delay = 0; !self.isOver;) {
			const wasGood = await readStream(id, abort, self);
			if (self.isOver) return;
			setConnection(LOST);
			delay = wasGood ? 0 : Math.min(5000, delay * 2 || 300);
			if (delay) await pause(delay * (0.75 + Math.random() / 2));
		}
	})();
}

const LINE_SLICE_MS = 25,
	SILENCE_MS = 40000;
const channel = new MessageChannel(),
	turns = [];
channel.port1.onmessage = () => turns.shift()?.();
const breathe = () =>
	new Promise(resolve => {
		turns.push(resolve);
		channel.port2.postMessage(0);
	});

/** Reads one stream to its end. Resolves to true if anything came. */
async function readStream(id, abort, self) {
	const control = new AbortController();
	let timer,
		isGood = false;
	abort.now = () => control.abort();
	const feed = () => {
		clearTimeout(timer);
		timer = setTimeout(() => control.abort(), SILENCE_MS);
	};
	feed();
	try {
		const query = id ? `?session=${id}&after=${chat.seq}` : '';
		const answer = await send('GET', '/v1/watch' + query, undefined, control.signal);
		if (self.isOver) return false;
		if (answer.status === 401) {
			signedOut();
			return false;
		}
		if (answer.status === 404) EVENTS.shutdown_complete();
		if (!answer.ok) return false;
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		let rest = '',
			since = performance.now();
		for (;;) {
			const { value, done } = await reader.read();
			if (done || self.isOver) break;
			feed();
			isGood = true;
			setConnection('Connected');
			const lines = (rest + value).split('\n');
			rest = lines.pop();
			for (const line of lines) {
				try {
					if (line) onLine(JSON.parse(line));
				} catch (error) {
					console.error(error); // one bad event must not end the stream
				}
				if (self.isOver) return true;
				if (performance.now() - since < LINE_SLICE_MS) continue;
				await breathe();
				since = performance.now();
				if (self.isOver) return true;
			}
		}
	} catch {
		/* the connection is lost, or was given up */
	} finally {
		clearTimeout(timer);
		control.abort();
	}
	return isGood;
}

function onLine(line) {
	if (line.sessions) onSessions(line.sessions);
	else if (line.gone && chat) note('Earlier events are no longer kept.');
	else if (line.msg && chat) onEvent(line);
}

function onSessions(list) {
	sessions = list;
	const info = infoOf(chat);
	if (info) {
		chat.live ??= info.last_seq;
		closeCards(card => !isOpen(info, card));
	}
	showSessions();
	showState();
	showTitle();
}

function comeBack() {
	if (document.hidden || !watching) return;
	schedule();
	if ($('connection').textContent === LOST) watching.hurry();
}

// ---- the keys and buttons ----

function listen() {
	const on = (id, type, run) => $(id).addEventListener(type, run);
	on('sign-in', 'submit', event => {
		event.preventDefault();
		const text = $('code').value.trim();
		signIn(/code=([^&\s]+)/.exec(text)?.[1] ?? text);
	});
	on('back', 'click', () => {
		location.hash = '#/';
	});
	on('changing', 'click', () => showChanges($('changes').hidden));
	on('setting', 'click', openSettings);
	on('new', 'click', () => {
		put('new-alert', '');
		$('new-session').showModal();
	});
	on('new-cancel', 'click', () => $('new-session').close());
	on('new-form', 'submit', startNew);
	on('more', 'click', loadThreads);
	on('earlier', 'click', showEarlier);
	on('latest', 'click', () => {
		chat.follow = true;
		schedule();
	});
	on('log', 'scroll', onScroll);
	on('composer', 'submit', event => {
		event.preventDefault();
		sendMessage();
	});
	on('message', 'input', () => {
		resize();
		if (chat) tab(`draft:${chat.id}`, $('message').value || null);
	});
	on('message', 'keydown', event => {
		if (event.key !== 'Enter' || event.isComposing) return;
		const isTouch = matchMedia('(pointer: coarse)').matches;
		if (!(event.ctrlKey || event.metaKey) && (event.shiftKey || isTouch)) return;
		event.preventDefault();
		sendMessage();
	});
	on('message', 'paste', event => {
		if (event.clipboardData.files.length) addImages(event.clipboardData.files);
	});
	on('attach', 'click', () => $('file').click());
	on('file', 'change', () => {
		addImages($('file').files);
		$('file').value = '';
	});
	on('stop', 'click', () =>
		submit({ type: 'interrupt' }).catch(error => {
			fail('sent-alert', 'sent', error);
		})
	);
	const setting = (name, field, wrap = value => value) =>
		on(`set-${name}`, 'change', () => {
			const value = $(`set-${name}`).value.trim();
			if (value)
				change({ [field]: wrap(value) }, now => {
					now[name] = value;
				});
		});
	setting('model', 'model');
	setting('effort', 'effort');
	setting('approvals', 'approval_policy');
	setting('sandbox', 'sandbox_policy', type => ({ type }));
	on('set-plan', 'change', () =>
		setMode($('set-plan').checked ? 'plan' : 'default').then(
			() => announce('Saved'),
			error => {
				fail('set-alert', 'saved', error);
			}
		)
	);
	on('set-theme', 'change', () => {
		local('theme', $('set-theme').value || null);
		applyTheme();
		announce('Saved');
	});
	on('set-notify', 'change', wantNotifications);
	on('pair', 'click', pair);
	on('closing', 'click', () => $('settings').close());
	on('sign-out', 'click', async () => {
		await api('POST', '/v1/logout').catch(() => {});
		signedOut();
	});
	addEventListener('hashchange', route);
	addEventListener('online', () => watching?.hurry());
	document.addEventListener('visibilitychange', comeBack);
}

applyTheme();
fillSelect('new-approvals', APPROVALS, ['']);
fillSelect('new-sandbox', SANDBOXES, ['']);
listen();
route();
