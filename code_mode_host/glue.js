// The globals of a script, and its part of the protocol with the engine. Evaluated before the script, in its realm:
// everything that is used later is taken now, because the script may change every prototype.
(function (host) {
	'use strict';
	const { parse, stringify } = JSON;
	const P = Promise, S = String, E = Error;
	const uncurry = Function.prototype.bind.bind(Function.prototype.call);
	const then = uncurry(P.prototype.then);
	const slice = uncurry(S.prototype.slice);
	const startsWith = uncurry(S.prototype.startsWith);
	const wellFormed = uncurry(S.prototype.toWellFormed);
	const isWellFormed = uncurry(S.prototype.isWellFormed);
	const trim = uncurry(S.prototype.trim);
	const exec = uncurry(RegExp.prototype.exec);
	const get = uncurry(Map.prototype.get), put = uncurry(Map.prototype.set), drop = uncurry(Map.prototype.delete);
	const define = Object.defineProperty;
	const send = host.send, leave = host.exit, now = host.now;
	// Only some hosts have these; a script could put others in their place later.
	const { random, isFull } = host;
	const TEXT_MAX = 1048576, IMAGE_MAX = 28000000, STORE_MAX = 16777216, KEYS_MAX = 4096, TIMERS_MAX = 200000;
	const noMemory = 'RangeError: out of memory: a script may use 256 MB';
	const loneEscape = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

	const stored = { __proto__: null }, changed = { __proto__: null };
	const calls = new Map(), timers = new Map();
	let storedSize = 0, keys = 0, lastCall = 0, lastTimer = 0;
	let isOver = false;

	const quote = (text) => stringify(wellFormed(text));
	const shown = (value) => {
		if (typeof value === 'string') return value;
		const type = typeof value;
		const isPlain = value === null || (type !== 'object' && type !== 'function' && type !== 'symbol');
		return isPlain ? S(value) : S(stringify(value));
	};
	const describe = (error) => {
		try {
			// QuickJS has no object for an exception for which no memory is left.
			if (typeof error === 'unknown') return noMemory;
			if (error === null && isFull !== undefined && isFull()) return noMemory;
			if (!(error instanceof E)) return S(error);
			const name = S(error.name), message = S(error.message);
			const head = message ? name + ': ' + message : name;
			const stack = S(error.stack ?? '');
			const { sourceURL, line } = error;
			const place = sourceURL && line ? '\n    at ' + sourceURL + ':' + line : '';
			return startsWith(stack, head) ? stack : head + '\n' + stack + place;
		} catch {
			return 'the script threw a value that has no text';
		}
	};
	// Memory may have run out: the host then reports the end.
	const finish = (error) => {
		if (isOver) return;
		isOver = true;
		try {
			let values = '', comma = '';
			for (const key in changed) {
				values += comma + quote(key) + ':' + stringify(stored[key]);
				comma = ',';
			}
			const text = error === undefined ? 'null' : quote(slice(error, 0, TEXT_MAX));
			send('{"t":"done","error":' + text + ',"stored":{' + values + '}}');
		} catch {
			leave(true);
		}
		leave();
	};

	// ---- items

	const addText = (text) => {
		if (text === '') return;
		const size = text.length;
		if (size > TEXT_MAX)
			text = slice(text, 0, TEXT_MAX) + '\n[' + (size - TEXT_MAX) + ' more characters were dropped]';
		send('{"t":"text","text":' + quote(text) + '}');
	};
	const mediaUrl = (value, kind) => {
		let url = value;
		if (value !== null && typeof value === 'object') {
			if (value.type === kind && typeof value.data === 'string')
				url = 'data:' + S(value.mimeType ?? kind + '/*') + ';base64,' + value.data;
			else url = value[kind + '_url'];
			if (url !== null && typeof url === 'object') url = url.url;
		}
		if (typeof url !== 'string' || !startsWith(url, 'data:'))
			throw kind + ' expects a data: URL, an object with ' + kind + '_url, or an MCP block';
		if (url.length > IMAGE_MAX) throw kind + ': the data has more than 20 MB';
		return url;
	};
	const addImage = (value) => send('{"t":"image","url":' + quote(mediaUrl(value, 'image')) + '}');

	const helpers = {
		text(value) { addText(shown(value)); },
		image(value) { addImage(value); },
		audio(value) {
			mediaUrl(value, 'audio');
			addText('[audio omitted: this model takes no audio input]');
		},
		generatedImage(value) {
			addImage(value);
			const hint = value !== null && typeof value === 'object' ? value.output_hint : undefined;
			if (typeof hint === 'string') addText(hint);
		},
		notify(value) {
			const text = shown(value);
			if (trim(text) !== '') send('{"t":"notify","text":' + quote(slice(text, 0, TEXT_MAX)) + '}');
		},
		store(key, value) {
			let json;
			try {
				json = stringify(value);
			} catch (error) {
				throw 'store: the value has no JSON form: ' + S(error && error.message);
			}
			if (json === undefined) throw 'store: a value of type ' + typeof value + ' has no JSON form';
			const name = wellFormed(S(key));
			const before = stored[name] === undefined ? 0 : stored[name].length;
			const size = storedSize + json.length - before;
			if (stored[name] === undefined && keys >= KEYS_MAX) throw 'store: a thread may have 4096 keys';
			if (size > STORE_MAX) throw 'store: the values of a thread may have 16 MB together';
			storedSize = size;
			if (stored[name] === undefined) keys++;
			stored[name] = json;
			changed[name] = true;
		},
		load(key) {
			const json = stored[wellFormed(S(key))];
			return json === undefined ? undefined : parse(json);
		},
		setTimeout(callback, delay) {
			if (typeof callback !== 'function') throw 'setTimeout expects a function';
			if (heap.length >= TIMERS_MAX) throw 'setTimeout: ' + TIMERS_MAX + ' timers are pending';
			const ms = +delay;
			const timer = { __proto__: null, id: ++lastTimer, at: now() + (ms > 0 ? ms : 0), callback };
			put(timers, lastTimer, timer);
			pushTimer(timer);
			return lastTimer;
		},
		clearTimeout(id) {
			const timer = get(timers, id);
			if (timer === undefined) return;
			timer.callback = undefined;
			drop(timers, id);
		},
		exit() { finish(); },
		yield_control() { send('{"t":"yield"}'); },
	};

	// ---- timers: a heap by time, then by age; a cleared one stays until it is on top

	const heap = [];
	const isBefore = (a, b) => a.at < b.at || (a.at === b.at && a.id < b.id);
	const swap = (i, k) => {
		const timer = heap[i];
		heap[i] = heap[k];
		heap[k] = timer;
	};
	const pushTimer = (timer) => {
		let i = heap.length;
		heap[i] = timer;
		for (let up; i > 0 && isBefore(heap[i], heap[up = (i - 1) >> 1]); i = up) swap(i, up);
	};
	const popTimer = () => {
		const first = heap[0], last = heap[heap.length - 1];
		heap.length--;
		if (!heap.length) return first;
		heap[0] = last;
		for (let i = 0, next; (next = 2 * i + 1) < heap.length; i = next) {
			if (next + 1 < heap.length && isBefore(heap[next + 1], heap[next])) next++;
			if (!isBefore(heap[next], heap[i])) break;
			swap(i, next);
		}
		return first;
	};

	// ---- tools

	const argumentsOf = (value) => {
		if (typeof value === 'string') return isWellFormed(value) ? value : undefined;
		const json = stringify(value === undefined ? {} : value);
		return json === undefined || exec(loneEscape, json) ? undefined : json;
	};
	const makeTool = (name) => (argument) => new P((resolve, reject) => {
		let text;
		try {
			text = argumentsOf(argument);
		} catch (error) {
			reject(name + ': the argument has no JSON form: ' + S(error && error.message));
			return;
		}
		if (text === undefined) {
			reject(name + ': the argument has no JSON form, or holds half of a surrogate pair');
			return;
		}
		if (text.length > STORE_MAX) {
			reject(name + ': the argument has more than 16 MB');
			return;
		}
		put(calls, ++lastCall, { resolve, reject });
		const isText = typeof argument === 'string';
		send('{"t":"call","id":' + lastCall + ',"name":' + quote(name) + ',"is_text":' + isText +
			',"args":' + stringify(text) + '}');
	});

	// The realm was made before the fork, and its own generator would give each script the same numbers.
	if (random !== undefined) define(Math, 'random', { value: random });
	const setGlobal = (name, value) =>
		define(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
	const absent = [
		'require', 'process', 'fetch', 'console', 'fs', 'module', 'exports', 'Buffer',
		'WebAssembly', 'setInterval', 'clearInterval', 'setImmediate', 'queueMicrotask',
		'structuredClone', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'atob',
		'btoa', 'performance', 'crypto', 'SharedArrayBuffer', 'Atomics', 'print', 'gc',
		'navigator',
	];

	return {
		/** Reads the first frame and returns the source. */
		start(frame) {
			const { source, tools: list, stored: values } = parse(frame);
			for (const name of absent) delete globalThis[name];
			for (const name in helpers) setGlobal(name, helpers[name]);
			for (const key in values) {
				stored[key] = values[key];
				keys++;
				storedSize += values[key].length;
			}
			const tools = {};
			for (const { name } of list)
				define(tools, name, {
					value: makeTool(name), writable: true, configurable: true, enumerable: true,
				});
			setGlobal('tools', tools);
			setGlobal('ALL_TOOLS', list);
			return source;
		},
		/** Takes the promise of the module. */
		run(promise) {
			then(promise, () => finish(), (error) => finish(describe(error)));
		},
		/** The source cannot be run. */
		fail(error) {
			finish(describe(error));
		},
		frame(text) {
			const frame = parse(text), call = get(calls, frame.id);
			if (call === undefined) return;
			drop(calls, frame.id);
			if (frame.error !== undefined) call.reject(frame.error);
			else call.resolve(frame.value);
		},
		/** Runs a timer that is due; returns the milliseconds until the next one, or -1. */
		tick() {
			while (heap.length && heap[0].callback === undefined) popTimer();
			if (!heap.length) return -1;
			const wait = heap[0].at - now();
			if (wait > 0) return wait;
			const { callback, id } = popTimer();
			drop(timers, id);
			try {
				callback();
			} catch (error) {
				finish(describe(error));
			}
			return 0;
		},
	};
})
