// The back end that runs in node, as `node -e`: the pipes, the timers and the module. The script runs in a context of
// its own; that is no barrier, the lock is.
'use strict';
{
	const vm = require('node:vm');
	const fs = require('node:fs');
	const net = require('node:net');
	const [, glueSource, lock] = process.argv;
	const exitNow = process.reallyExit.bind(process);
	const send = (text) => {
		const bytes = Buffer.from(text), head = Buffer.alloc(4);
		head.writeUInt32LE(bytes.length);
		for (const part of [head, bytes])
			for (let at = 0; at < part.length;) at += fs.writeSync(1, part, at);
	};
	const context = vm.createContext({}, { codeGeneration: { strings: true, wasm: false } });
	const glue = vm.runInContext(glueSource, context, { filename: 'glue.js' })({
		send,
		exit: (isFailed) => exitNow(isFailed ? 1 : 0),
		now: () => performance.now(),
	});
	process.on('unhandledRejection', () => {});
	process.on('uncaughtException', (error) => glue.fail(error));

	let timer;
	const tick = () => {
		const wait = glue.tick();
		clearTimeout(timer);
		if (wait === 0) setImmediate(tick);
		else if (wait > 0) timer = setTimeout(tick, Math.min(wait, 2147483647));
	};
	const start = async (text) => {
		const source = glue.start(text);
		const refuse = () => {
			throw new Error('a script cannot import modules');
		};
		try {
			const options = { identifier: 'exec_main.mjs', context, importModuleDynamically: refuse };
			const script = new vm.SourceTextModule(source, options);
			await script.link(refuse);
			glue.run(script.evaluate());
		} catch (error) {
			glue.fail(error);
		}
	};
	let rest = Buffer.alloc(0), hasStarted = false;
	const input = new net.Socket({ fd: 0, readable: true, writable: false });
	input.on('data', (bytes) => {
		rest = rest.length ? Buffer.concat([rest, bytes]) : bytes;
		while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0)) {
			const size = rest.readUInt32LE(0), text = rest.toString('utf8', 4, 4 + size);
			rest = rest.subarray(4 + size);
			if (hasStarted) glue.frame(text);
			else start(text);
			hasStarted = true;
		}
		setImmediate(tick);
	});
	input.on('close', () => exitNow(0));
	const marker = { exports: {} };
	try {
		process.dlopen(marker, lock);
	} catch {} // it is no module of node: loading it has locked the process
	try {
		fs.openSync('/dev/null');
		exitNow(4);
	} catch {}
}
