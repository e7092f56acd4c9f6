// Replays a capture of an older Codex against this program, with the same client lines and the same model output, and compares
// the two sequences of events. The README next to the captures describes the recordings.
//
// A capture was recorded in one of two ways. For `codex proto` it contains submissions and events as they are; the app-server and
// the MCP server wrap them, so their requests are converted back to the Ops that they caused.

import fs from 'node:fs';
import path from 'node:path';
import { launch, makeHome, readLines, startModel, tempDir } from './codex.mjs';
import { startProto } from './proto.mjs';
import { scriptOf } from './replay_model.mjs';

// --- a capture ------------------------------------------------------------------------------------------------------

/** Folder of captures -> the matching wire profile; a version between two profiles is assigned by the shape of its events. */
export const profiles = {
	'proto-0.1.2505291658': 'legacy2025',
	'proto-0.8.0': 'legacy2025',
	'proto-0.22.0': 'legacy2025', // usage flat in token_count, an interrupt is an error
	'proto-0.42.0': 'v1-2025-10', // usage in token_count.info, turn_aborted; but no items yet
	'events-0.55.0': 'v1-2025-10',
	'events-0.93.0': 'v1-2026-01',
};

const old = /^proto-/;

/** All captures below that folder, as "folder/name". */
export function captureNames(root) {
	return Object.keys(profiles).flatMap((folder) => fs.readdirSync(path.join(root, folder))
		.filter((name) => name.endsWith('.jsonl')).sort().map((name) => `${folder}/${name.slice(0, -6)}`));
}

const decisions = { accept: 'approved', acceptForSession: 'approved_for_session', decline: 'denied', cancel: 'abort' };

const itemsOf = (input) => input.map(({ type, text, data }) => ({ type, text: text ?? data.text }));

/** The app-server's translation of a request; null for those that are not about the session. */
const opOf = {
	'thread/start': ({ dynamicTools }) => dynamicTools && { type: 'configure_session', dynamic_tools: dynamicTools },
	'turn/start': ({ input }) => ({ type: 'user_input', items: itemsOf(input) }),
	sendUserTurn: (p) => ({ type: 'user_turn', items: itemsOf(p.items), cwd: p.cwd, approval_policy: p.approvalPolicy,
		sandbox_policy: p.sandboxPolicy, model: p.model, effort: p.effort, summary: p.summary }),
	'turn/interrupt': () => ({ type: 'interrupt' }),
	interruptConversation: () => ({ type: 'interrupt' }),
	'thread/name/set': ({ name }) => ({ type: 'set_thread_name', name }),
	'thread/rollback': ({ numTurns }) => ({ type: 'thread_rollback', num_turns: numTurns }),
	'thread/compact/start': () => ({ type: 'compact' }),
	'review/start': ({ target }) => ({ type: 'review', review_request: { target } }),
	'tools/call': ({ arguments: { prompt } }) => ({ type: 'user_input', items: [{ type: 'text', text: prompt }] }),
};

function answerOp(lines, at) {
	const { id, result } = lines[at].data;
	const asked = lines.slice(0, at).findLast(({ dir, data }) => dir === 'server_request' && data.id === id);
	if (asked.data.method === 'item/tool/requestUserInput')
		return { type: 'user_input_answer', id: asked.data.params.turnId, response: result };
	if (asked.data.method === 'item/tool/call')
		return { type: 'dynamic_tool_response', id: asked.data.params.callId, response: result };
	const event = lines.slice(0, at).findLast(({ dir, data }) => dir === 'event' && /approval_request/.test(data.msg.type));
	if (!event) return null;
	const type = /fileChange|Patch/i.test(asked.data.method) ? 'patch_approval' : 'exec_approval';
	return { type, id: event.data.id, decision: decisions[result.decision] ?? result.decision };
}

/** The id that the server gave to the submission: that of the next task that starts, unless the input joined the running one. */
function idOf(lines, at, op) {
	const wanted = /^user_/.test(op.type) ? ['task_started'] : ['thread_name_updated', 'thread_rolled_back', 'task_started'];
	for (const { dir, data } of lines.slice(at + 1)) {
		if (dir === 'event' && data.id && wanted.includes(data.msg.type)) return data.id;
		if (dir === 'event' && data.msg.type === 'task_complete') break;
	}
	return `line-${at + 1}`;
}

function toSubmission(lines, at) {
	const { dir, data } = lines[at];
	if (dir === 'in') return data;
	if (dir === 'client_response') {
		const op = answerOp(lines, at);
		return op && { id: `line-${at + 1}`, op };
	}
	if (dir !== 'request' && dir !== 'rpc_in') return null;
	const op = opOf[data.method]?.(data.params);
	return op ? { id: idOf(lines, at, op), op } : null;
}

/** A capture as steps in their order: {line, submission | raw | close | signal | event}. */
export function readCapture(root, name) {
	const lines = readLines(path.join(root, `${name}.jsonl`));
	const steps = [];
	lines.forEach(({ t, dir, data }, at) => {
		const step = { line: at + 1, t };
		const submission = toSubmission(lines, at);
		const mode = data.params?.collaborationMode;
		if (mode)
			steps.push({ ...step, submission: { id: `line-${at + 1}`, op: { type: 'override_turn_context', collaboration_mode: mode } } });
		if (submission) steps.push({ ...step, submission });
		else if (dir === 'in_raw') steps.push({ ...step, raw: data });
		else if (dir === 'note' && data === 'stdin closed') steps.push({ ...step, close: true });
		else if (dir === 'note' && /^signal /.test(data)) steps.push({ ...step, signal: data.slice('signal '.length) });
		else if (dir === 'out' || dir === 'event') steps.push({ ...step, event: { id: data.id, msg: data.msg } });
	});
	const requests = lines.filter(({ dir }) => dir === 'model_request').map(({ data }) => data);
	const asks = steps.some(({ event }) => /_approval_request$/.test(event?.msg.type));
	const isServed = !old.test(name);
	const start = steps.find(({ event }) => event?.msg.type === 'session_configured')?.event.msg;
	if (name.endsWith('/mcpserver')) requests.push({ scenario: 'mcpserver', n: 1 }); // its model recorded no requests
	const rejected = lines.filter(({ dir, data }) => dir === 'stderr' && /invalid submission/.test(data)).length;
	const configures = steps.some(({ submission }) => submission?.op.dynamic_tools);
	return { name, rejected, configures, folder: name.split('/')[0], steps, requests, isOld: !isServed, isServed, hearsStart: !!start,
		policy: asks ? 'untrusted' : 'never', model: start?.model ?? requests[0]?.model ?? 'mock-1',
		sandbox: start?.sandbox_policy?.type ?? 'danger-full-access' };
}

// --- the replay -----------------------------------------------------------------------------------------------------

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

function makeWork(t) {
	const dir = tempDir(t, 'work');
	fs.writeFileSync(path.join(dir, 'a.txt'), 'one\ntwo\n');
	fs.writeFileSync(path.join(dir, 'gone.txt'), 'bye\n');
	fs.writeFileSync(path.join(dir, 'p.png'), Buffer.from(pixel, 'base64'));
	fs.mkdirSync(path.join(dir, 'sub'));
	return dir;
}

function makeReplayHome(t, model, capture) {
	const config = [`model = "${capture.model}"`, `approval_policy = "${capture.policy}"`,
		`sandbox_mode = "${capture.sandbox}"`, 'show_raw_agent_reasoning = true',
		'on_input_while_running = "steer"', 'model_context_window = 272000'].join('\n'); // every captured version did
	const home = makeHome(t, model, config);
	fs.appendFileSync(path.join(home, 'config.toml'), 'request_max_retries = 0\nstream_max_retries = 2\n');
	fs.mkdirSync(path.join(home, 'prompts'));
	fs.writeFileSync(path.join(home, 'prompts/fix.md'),
		'---\ndescription: Fix it\nargument-hint: "[file]"\n---\nFix $1\n');
	fs.writeFileSync(path.join(home, 'prompts/plain.md'), 'Just do it\n');
	return home;
}

/** The last of these events that the recorded client had received before it continued. */
const anchors = new RegExp(['session_configured', 'task_started', 'task_complete', 'turn_aborted', 'error', '.*_response',
	'exec_command_begin', '.*_approval_request', 'dynamic_tool_call_request', 'agent_message_delta', 'conversation_path',
	'request_user_input', 'entered_review_mode',
	'exited_review_mode'].map((type) => `^${type}$`).join('|'));
const SETTLE_MS = 150; // used where the recorded client waited without an event
const PATIENCE_MS = 6000;
const OUTPUT_MS = 1000; // less than commands that the client steers meanwhile take

const isDelta = ({ msg }) => msg.type === 'exec_command_output_delta';

/** The rest of the events after the count-th one of this id and type; null if there are fewer. The id of the first is not of a submission. */
function after(events, { id, msg }, count) {
	let seen = 0;
	const at = events.findIndex((it) => (it.id === id || msg.type === 'session_configured') && it.msg.type === msg.type && ++seen === count);
	return at < 0 ? null : events.slice(at + 1);
}

/** Looks again whenever the program has printed something. */
function waitUntil({ child }, holds, patience) {
	if (holds()) return true;
	return new Promise((resolve) => {
		const finish = () => {
			clearTimeout(timer);
			child.stdout.off('data', look);
			child.off('close', finish);
			resolve(holds());
		};
		const look = () => holds() && finish();
		const timer = setTimeout(finish, patience);
		child.stdout.on('data', look);
		child.on('close', finish);
	});
}

/** Output that the client had received since is waited for as well, however it is divided; the oldest profile emits none. */
async function waitForAnchor(codex, heard, missed, hasOutput) {
	const at = heard.findLastIndex(({ msg }) => anchors.test(msg.type)), anchor = heard[at];
	if (!anchor || missed.has(anchor)) return;
	const count = heard.filter(({ id, msg }) => id === anchor.id && msg.type === anchor.msg.type).length;
	if (!await waitUntil(codex, () => after(codex.events(), anchor, count), PATIENCE_MS)) missed.add(anchor);
	else if (hasOutput && heard.slice(at).some(isDelta))
		await waitUntil(codex, () => after(codex.events(), anchor, count).some(isDelta), OUTPUT_MS);
}

/** A submission with the paths, ports and ids of this run. */
function ofToday(text, codex, model) {
	const history = path.join(codex.home, 'history.jsonl');
	const inode = fs.existsSync(history) ? fs.statSync(history).ino : 0;
	return text.replaceAll('/WORK', codex.cwd).replaceAll('http://127.0.0.1:PORT/v1', model.url)
		.replace(/"log_id":[1-9]\d*/, `"log_id":${inode}`);
}

async function play(codex, model, capture) {
	const hasOutput = profiles[capture.folder] !== 'legacy2025';
	const heard = [];
	const missed = new Set(); // events that did not arrive are not waited for again
	let last = 0;
	for (const step of capture.steps) {
		if (step.event) {
			heard.push(step.event);
			continue;
		}
		await waitForAnchor(codex, heard, missed, hasOutput);
		const waited = step.t - (capture.steps.findLast((it) => it.event && it.line < step.line)?.t ?? step.t);
		if (waited > SETTLE_MS && step.line !== last + 1) await new Promise((wake) => setTimeout(wake, SETTLE_MS));
		last = step.line;
		if (step.submission) codex.write(ofToday(JSON.stringify(step.submission), codex, model) + '\n');
		else if (step.raw !== undefined) codex.write(step.raw + '\n');
		else if (step.signal) codex.child.kill(step.signal);
		else codex.child.stdin.end();
	}
	await waitForAnchor(codex, heard, missed, hasOutput);
}

/** A server does not forward the start and the end of a session. */
const isHeard = ({ isServed, hearsStart }, { type }) => !isServed || !/^(session_configured|shutdown_complete)$/.test(type)
	|| (hearsStart && type === 'session_configured');

/** Resolves to our events, and the number of lines that were reported as not being part of the protocol. */
export async function replay(t, capture) {
	const model = await startModel(t, scriptOf(capture.requests, capture.isOld));
	const codex = startProto(t, model, { home: makeReplayHome(t, model, capture), cwd: makeWork(t),
		args: ['--wire-profile', profiles[capture.folder], ...(capture.configures ? ['--no-auto-configure'] : [])] });
	await play(codex, model, capture);
	const { code, stderr } = await codex.end();
	if (code !== 0) throw new Error(`${capture.name}: ended with ${code}\n${stderr}`);
	const events = codex.events().filter(({ msg }) => isHeard(capture, msg)).map((event) =>
		JSON.parse(JSON.stringify(event).replaceAll(codex.cwd, '/WORK').replaceAll(codex.home, '/CODEX_HOME')));
	return { events, rejected: (codex.stderr().match(/^invalid submission: /gm) ?? []).length };
}
