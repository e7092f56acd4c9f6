// Drives `codex acp` with the official SDK, and validates every message of the program with the SDK's JSON Schema.
//
//   const acp = await startAcp(t, model);
//   const { sessionId } = await acp.newSession();
//   const { stopReason } = await acp.prompt(sessionId, 'hi');
//   assert.equal(acp.text(sessionId), 'Hello.');
//   await acp.end();

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { PassThrough, Readable, Writable } from 'node:stream';

import * as sdk from '@agentclientprotocol/sdk/unstable';

import { cleanEnv, codexBin, launch, makeHome, tempDir } from './codex.mjs';

const require = createRequire(import.meta.url);
const { Ajv2020 } = require('ajv/dist/2020.js');
const schema = require('@agentclientprotocol/sdk/schema/v1/schema.unstable.json');
const ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
ajv.addSchema(schema, 'acp');
const validators = new Map();

/** Throws if the value does not conform to the type of the protocol. */
export function conform(type, value) {
	if (!validators.has(type)) validators.set(type, ajv.getSchema(`acp#/$defs/${type}`));
	const validate = validators.get(type);
	assert.ok(validate, `the schema has no ${type}`);
	assert.ok(validate(value), `${type}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(value).slice(0, 600)}`);
}

const RESULTS = {
	initialize: 'InitializeResponse', authenticate: 'AuthenticateResponse', logout: 'LogoutResponse',
	'session/new': 'NewSessionResponse', 'session/load': 'LoadSessionResponse', 'session/resume': 'ResumeSessionResponse',
	'session/fork': 'ForkSessionResponse', 'session/list': 'ListSessionsResponse', 'session/close': 'CloseSessionResponse',
	'session/delete': 'DeleteSessionResponse', 'session/set_mode': 'SetSessionModeResponse',
	'session/set_config_option': 'SetSessionConfigOptionResponse', 'session/prompt': 'PromptResponse',
};
const REQUESTS_OF_CLIENTS = new Set(Object.keys(RESULTS));
const REQUESTS = {
	'session/request_permission': 'RequestPermissionRequest', 'fs/read_text_file': 'ReadTextFileRequest',
	'fs/write_text_file': 'WriteTextFileRequest', 'elicitation/create': 'CreateElicitationRequest',
};

/** Checks one line of the program; methods are those of the client's requests by id. */
function check(message, methods) {
	assert.equal(message.jsonrpc, '2.0');
	if (message.method === 'session/update') conform('SessionNotification', message.params);
	else if (message.method === '$/cancel_request') conform('CancelRequestNotification', message.params);
	else if (message.method) {
		assert.ok(REQUESTS[message.method], `unexpected request ${message.method}`);
		conform(REQUESTS[message.method], message.params);
	} else if (message.result !== undefined) conform(RESULTS[methods.get(message.id)], message.result);
	else assert.ok(Number.isInteger(message.error.code) && message.error.message, JSON.stringify(message));
}

export const text = (words) => ({ type: 'text', text: words });
export const selected = (optionId) => ({ outcome: { outcome: 'selected', optionId } });
export const cancelled = { outcome: { outcome: 'cancelled' } };
const lines = (deliver) => {
	let rest = '';
	return (bytes) => {
		const parts = (rest + bytes).split('\n');
		rest = parts.pop();
		parts.filter(Boolean).forEach(deliver);
	};
};

/** The first request waits for all servers: scripted models call their tools in their first response. */
export const PATIENT = 'mcp_optional_startup_grace_ms = 60000\n';

/**
 * Options: config (TOML), home, cwd, env, args, bin, capabilities, permission(params) -> outcome, handlers {method: function},
 * initialize: false omits the handshake, lifetime (of launch).
 */
export async function startAcp(t, model, options = {}) {
	const home = options.home ?? makeHome(t, model, `${PATIENT}${options.config ?? ''}`);
	const cwd = options.cwd ?? tempDir(t, 'cwd');
	const { child, result, done } = launch(t, options.bin ?? codexBin, options.args ?? ['acp'],
		{ cwd, env: cleanEnv(home, options.env), lifetime: options.lifetime });
	const methods = new Map(), messages = [], failures = [], watchers = new Set();
	const toSdk = new PassThrough(), fromSdk = new PassThrough();
	child.stdout.on('data', lines((line) => {
		try {
			const message = JSON.parse(line);
			messages.push(message);
			if (!options.bin) check(message, methods);
		} catch (error) {
			failures.push(error);
		}
		toSdk.write(line + '\n');
		for (const look of [...watchers]) look();
	}));
	child.stdout.on('end', () => toSdk.end());
	done.then(() => [...watchers].forEach((look) => look()));
	/** Sends a line, which need not be JSON. The id of a request that runs keeps its method. */
	const write = (line, isRaw = true) => {
		let message = {};
		try { message = JSON.parse(line); } catch { /* tests write such lines */ }
		if (REQUESTS_OF_CLIENTS.has(message?.method) && !(isRaw && methods.has(message.id))) methods.set(message.id, message.method);
		child.stdin.write(line + '\n');
	};
	fromSdk.on('data', lines((line) => write(line, false)));
	const permissions = [];
	const app = sdk.client({ name: 'tests' });
	app.onRequest('session/request_permission', async ({ params }) => {
		permissions.push(params);
		return options.permission ? options.permission(params, permissions.length) : selected('allow_once');
	});
	app.onNotification('session/update', () => {});
	for (const [method, handler] of Object.entries(options.handlers ?? {}))
		app.onRequest(method, ({ params }) => handler(params));
	const connection = app.connect(sdk.ndJsonStream(Writable.toWeb(fromSdk), Readable.toWeb(toSdk)));
	const agent = connection.agent ?? connection;
	const request = (method, params) => agent.request(method, params);
	const updates = (sessionId, kind) => messages.filter(({ method, params }) => method === 'session/update' &&
		(!sessionId || params.sessionId === sessionId) && (!kind || params.update.sessionUpdate === kind))
		.map(({ params }) => params.update);
	const acp = {
		home, cwd, child, done, messages, permissions, request, updates,
		stderr: () => result.stderr,
		notify: (method, params) => agent.notify(method, params),
		write: (line) => write(line),
		newSession: (more) => request('session/new', { cwd, mcpServers: [], ...more }),
		prompt: (sessionId, prompt) => request('session/prompt',
			{ sessionId, prompt: typeof prompt === 'string' ? [text(prompt)] : prompt }),
		/** Resolves to the first message for which test is true. */
		until: (test, what = 'message') => new Promise((resolve, reject) => {
			const look = () => {
				const found = messages.find(test);
				if (!found && child.exitCode === null && child.signalCode === null) return;
				watchers.delete(look);
				if (found) resolve(found);
				else reject(new Error(`no ${what}: ${result.stderr}`));
			};
			watchers.add(look);
			look();
		}),
		text: (sessionId, kind = 'agent_message_chunk') => updates(sessionId, kind).map((it) => it.content.text ?? '').join(''),
		/** The tool calls of a session with their updates merged in. */
		calls: (sessionId) => {
			const calls = new Map();
			for (const it of updates(sessionId)) {
				if (it.sessionUpdate === 'tool_call') {
					assert.ok(!calls.has(it.toolCallId), `tool_call ${it.toolCallId} was sent twice`);
					calls.set(it.toolCallId, { ...it });
				} else if (it.sessionUpdate === 'tool_call_update') {
					assert.ok(calls.has(it.toolCallId), `an update of ${it.toolCallId} precedes its tool_call`);
					Object.assign(calls.get(it.toolCallId), it);
				}
			}
			return [...calls.values()];
		},
		/** Closes standard input, waits, and checks the exit status and every message. */
		end: async () => {
			child.stdin.end();
			const { code, stderr } = await done;
			assert.equal(code, 0, stderr);
			if (failures.length) throw failures[0];
		},
	};
	if (options.initialize !== false)
		acp.agent = await request('initialize', { protocolVersion: 1, clientCapabilities: options.capabilities ?? {},
			clientInfo: { name: 'tests', title: 'Tests', version: '1.0.0' } });
	return acp;
}

/** The error of a request. */
export const failure = (promise) => promise.then((value) => assert.fail(`no error but ${JSON.stringify(value)}`),
	(error) => ({ code: error.code, message: error.message, data: error.data }));
