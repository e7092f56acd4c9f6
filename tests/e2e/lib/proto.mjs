// Drives `codex proto`: writes submissions and reads events.
//
//   const proto = startProto(t, model);
//   proto.submit('1', userInput('hi'));
//   await proto.next('task_complete');
//   assert.equal((await proto.end()).code, 0);

import { cleanEnv, codexBin, launch, makeHome, tempDir } from './codex.mjs';

export const userInput = (text, more) => ({ type: 'user_input', items: [{ type: 'text', text }], ...more });
export const approve = (id, decision = 'approved') => ({ type: 'exec_approval', id, decision });

/** Options: args, config (TOML), home, cwd, env. */
export function startProto(t, model, { args = [], config, home, cwd, env } = {}) {
	home ??= makeHome(t, model, config);
	cwd ??= tempDir(t, 'cwd');
	const program = launch(t, codexBin, ['proto', ...args], { cwd, env: cleanEnv(home, env) });
	const { child, result, done } = program;
	let taken = 0; // events before this index were returned or skipped by next()
	const events = () => result.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line));
	return {
		home, cwd, child, done, events,
		stderr: () => result.stderr,
		write: (bytes) => child.stdin.write(bytes),
		submit: (id, op) => child.stdin.write(JSON.stringify({ id, op }) + '\n'),
		/** The next untaken event of that type; rejects if the program ends first. */
		next: (type) => new Promise((resolve, reject) => {
			const look = () => {
				const all = events();
				const at = all.findIndex((event, index) => index >= taken && event.msg.type === type);
				if (at < 0) return false;
				taken = at + 1;
				child.stdout.off('data', look);
				resolve(all[at]);
				return true;
			};
			if (look()) return;
			child.stdout.on('data', look);
			done.then(() => look() || reject(new Error(`no ${type}: ${result.stdout}\n${result.stderr}`)));
		}),
		/** Closes standard input and waits. */
		end: () => {
			child.stdin.end();
			return done;
		},
	};
}

/** "id type" of all events except counts and duplicates. */
export function story(events) {
	const noise = /_delta$|^token_count$|^item_|^user_message$|^turn_diff$|^mcp_startup_/;
	return events.filter(({ msg }) => !noise.test(msg.type)).map(({ id, msg }) => `${id} ${msg.type}`.trim());
}
