// Reads replay-exceptions.json, which lists every intended difference from the captures with its reason.
//
//   {"whole": [{"why", "captures": ["folder/name", …]}],          the capture needs a feature that this program lacks
//    "versions": [{"why", "folders": […], "what": [pattern, …]}],   applies to all captures of a version
//    "lines": [{"why", "at": {"folder/name": ["LINE what", …]}}]}   applies to one line
//
// A row of "versions" with "pending": true belongs to a feature in development and may match nothing.
// A folder is "folder", one of its captures "folder/name", or "*" for all. A pattern is the text of a difference ("extra
// item_started"), in which * matches any text. Each entry of "lines" excuses one difference, and an entry that matches no
// difference is reported as stale.

import fs from 'node:fs';

/** A pattern in which * matches any text, including a literal *. */
function matches(pattern, what) {
	const [first, ...rest] = pattern.split('*');
	if (!rest.length) return what === pattern;
	const last = rest.pop();
	let at = first.length;
	const isInOrder = rest.every((part) => (at = what.indexOf(part, at) + part.length) >= part.length);
	return what.startsWith(first) && isInOrder && what.length - last.length >= at && what.endsWith(last);
}

export class Exceptions {
	constructor(file) {
		const { whole, versions, lines } = JSON.parse(fs.readFileSync(file, 'utf8'));
		Object.assign(this, { whole, versions, lines });
		this.used = new Set(); // patterns of versions that matched
	}

	/** The reason why the capture as a whole is excluded, or undefined. */
	wholeOf(name) {
		return this.whole.find(({ captures }) => captures.includes(name))?.why;
	}

	isOfVersion(name, what) {
		let found = false;
		for (const [i, row] of this.versions.entries()) {
			for (const folder of ['*', name.split('/')[0], name].filter((it) => row.folders.includes(it))) {
				for (const pattern of row.what.filter((it) => matches(it, what))) {
					this.used.add(`${i} ${folder} ${pattern}`);
					found = true;
				}
			}
		}
		return found;
	}

	/** Splits the differences of a capture: {unlisted, stale}, both as texts. */
	judge(name, found) {
		const listed = this.lines.flatMap(({ at }) => at[name] ?? []);
		const unlisted = [];
		for (const { line, what } of found) {
			const at = listed.findIndex((text) => matches(text, `${line} ${what}`));
			if (at >= 0) listed.splice(at, 1);
			else if (!this.isOfVersion(name, what)) unlisted.push(`${line} ${what}`);
		}
		return { unlisted, stale: listed };
	}

	/** Entries for whole versions that match nothing in them, and captures that do not exist. */
	stale(names) {
		const known = new Set(names);
		const rows = this.versions.flatMap(({ folders, what, pending }, i) => (pending ? [] : folders).flatMap((folder) => what
			.filter((pattern) => !this.used.has(`${i} ${folder} ${pattern}`)).map((pattern) => `${folder}: ${pattern}`)));
		const listed = [...this.whole.flatMap(({ captures }) => captures), ...this.lines.flatMap(({ at }) => Object.keys(at))];
		return [...rows, ...listed.filter((name) => !known.has(name))];
	}
}
