// The files of codex app-server generate-json-schema and generate-ts: consistent in themselves, and compared with the schema of
// the reference (../shared/reference/schema, where that is there). How far the tables agree with it stands in
// docs/app-server.md; after a change: CODEX_WRITE_DOCS=1 node --test tests/e2e/app_server_schema.test.mjs
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { codexBin, needs, sharedPath, tempDir } from './lib/codex.mjs';
import { Comparison } from './lib/schema_compare.mjs';

const WHOLE = 'codex_app_server_protocol.schemas.json';
const document = fileURLToPath(new URL('../../docs/app-server.md', import.meta.url));
const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', import.meta.url));
const exec = needs('app-server');
const reference = sharedPath('reference/schema');
const compared = exec.skip ? exec : { skip: reference ? false : 'no schema of the reference beside the repository' };

/** Intended contradictions, with reasons. */
const EXCEPTIONS = {
	'Account:chatgpt.email: is required in theirs': 'always sent; null if the token does not name it',
	'ReasoningEffort: ours is words, theirs string': 'this version knows all efforts that it can send',
	'LoginAccountParams: ours is record, theirs union': 'fields of all ways to log in are read; `type` decides which count',
	'LoginAccountResponse: ours is record, theirs union': 'the one answer that is given is written field by field',
	'McpResourceReadTarget.linkId: is required in theirs': 'absent is read as null is',
	'Thread.projectId: is required in theirs': 'it is always told, as null too; a nullable field is never marked required here',
	'ThreadProjectUpdatedNotification.projectId: is required in theirs': 'the same',
	'ThreadSectionChangedNotification.sectionId: is required in theirs': 'the same',
	'ThreadSectionMoveParams.sectionId: is required in theirs': 'the same, and the method is refused either way',
	'ThreadItemEntry.outputDeferred: null is more': 'it is left out, never null; a field left out is read as null is',
	'UserInput:image.url: null is more': 'null is read as absent; one of url and fileId must be there in either',
	'UserInput:image.fileId: null is more': 'the same',
	'UserInput:audio.url: null is more': 'the same',
	'ContentItem:input_image.image_url: null is more': 'the same; these are published and not decoded',
	'ContentItem:input_image.file_id: null is more': 'the same; these are published and not decoded',
	'ContentItem:input_audio.audio_url: null is more': 'the same; these are published and not decoded',
	'ContentItem:input_audio.file_id: null is more': 'the same; these are published and not decoded',
	'FunctionCallOutputContentItem:input_image.image_url: null is more': 'the same; these are published and not decoded',
	'FunctionCallOutputContentItem:input_image.file_id: null is more': 'the same; these are published and not decoded',
	'FunctionCallOutputContentItem:input_audio.audio_url: null is more': 'the same; these are published and not decoded',
	'FunctionCallOutputContentItem:input_audio.file_id: null is more': 'the same; these are published and not decoded',
	'ThreadItem:imageGeneration.fileId: null is more': 'the same',
	'ThreadItem:imageGeneration.result: null is more': 'the same',
	'ReviewDecision:denied: only theirs has a body': 'clients of earlier versions say the word alone; a body is read over',
};

/** Types of the reference that are missing, with reasons. */
const MISSING = Object.fromEntries([
	['they are in the members of AppsConfig named by the user; the tables describe its `_default` alone', ['AppConfig',
		'AppLinkConfig', 'AppLinksConfig', 'AppToolConfig', 'AppToolsConfig', 'ToolExposureSurface']],
	['data of errors that this version never returns; no method or notification has them', ['ModelProviderError',
		'UserVerificationCancellationReason', 'UserVerificationErrorDetails', 'UserVerificationFailureReason',
		'UserVerificationInvalidRequestReason', 'UserVerificationRpcError']],
	['internal notifications that no row has', ['RawResponseCompletedNotification', 'RawResponseItemCompletedNotification',
		'ResponseUsageMetadata']],
	['copies of types, for parameters that may be null; here the method says so', ['NullableGatewayOAuthLoginParams',
		'NullableGatewayOAuthReadParams', 'NullableGetAccountRateLimitsParams', 'NullableGetAccountTokenUsageParams',
		'NullableRemoteControlDisableParams', 'NullableRemoteControlEnableParams']],
].flatMap(([reason, names]) => names.map((name) => [name, reason])));

function generate(t, word, ...more) {
	const dir = path.join(tempDir(t, word), 'made/out');
	const { status, stderr } = spawnSync(codexBin, ['app-server', word, '--out', dir, ...more], { encoding: 'utf8' });
	assert.equal(status, 0, stderr);
	return dir;
}

const filesOf = (dir) => fs.readdirSync(dir, { recursive: true }).filter((name) => path.extname(name)).sort();
const readJson = (...parts) => JSON.parse(fs.readFileSync(path.join(...parts), 'utf8'));

/** All references of a schema, as keys from its root. */
function references(node) {
	if (node === null || typeof node !== 'object') return [];
	return Object.entries(node).flatMap(([key, value]) =>
		(key === '$ref' ? [value.slice(2).split('/')] : references(value)));
}

test('every file of the JSON Schema is whole: named by its title, with all that it refers to', exec, (t) => {
	const dir = generate(t, 'generate-json-schema', '--experimental');
	const files = filesOf(dir);
	assert.ok(files.includes('v1/InitializeParams.json') && files.includes('v2/ThreadStartParams.json'));
	for (const file of files) {
		const schema = readJson(dir, file);
		assert.equal(schema.$schema, 'http://json-schema.org/draft-07/schema#', file);
		if (!file.includes('.schemas.')) assert.equal(schema.title, path.basename(file, '.json'));
		for (const keys of references(schema))
			assert.ok(keys.reduce((node, key) => node?.[key], schema), `${file} has no ${keys.join('/')}`);
	}
});

test('the document names the types that have descriptions, and no description is empty', exec, (t) => {
	const { definitions } = readJson(generate(t, 'generate-json-schema', '--experimental'), WHOLE);
	const described = new Set();
	const visit = (node, name) => {
		if (node === null || typeof node !== 'object') return;
		if (typeof node.description === 'string') {
			assert.notEqual(node.description, '', name);
			described.add(name);
		}
		for (const value of Object.values(node)) visit(value, name);
	};
	for (const [name, node] of Object.entries({ ...definitions, ...definitions.v2, v2: null })) visit(node, name);
	assert.deepEqual([...described].sort(), ['AbsolutePathBuf', 'ClientNotification', 'FileChange', 'ParsedCommand', 'ReviewDecision']);
	for (const name of described)
		if (name !== 'ClientNotification') assert.ok(fs.readFileSync(document, 'utf8').includes(`\`${name}\``), name);
	const dir = generate(t, 'generate-ts', '--experimental');
	for (const file of filesOf(dir)) assert.doesNotMatch(fs.readFileSync(path.join(dir, file), 'utf8'), /\/\*\* *\*\//, file);
});

test('experimental types require the option', exec, (t) => {
	const stable = generate(t, 'generate-json-schema');
	const all = generate(t, 'generate-json-schema', '--experimental');
	const fields = (dir) => Object.keys(readJson(dir, 'v2/ThreadStartParams.json').properties);
	const methods = (dir) => readJson(dir, 'ClientRequest.json').oneOf.map(({ properties }) => properties.method.enum[0]);
	assert.ok(fields(all).includes('historyMode') && !fields(stable).includes('historyMode'));
	assert.ok(fields(stable).includes('model'));
	assert.ok('toolOutput' in readJson(stable, 'v2/TurnStartParams.json').properties);
	assert.ok(methods(all).includes('mock/experimentalMethod') && !methods(stable).includes('mock/experimentalMethod'));
	assert.ok(!filesOf(stable).includes('v2/MockExperimentalMethodParams.json'));
	assert.ok(methods(stable).includes('turn/start'));
});

test('without a folder to write to, or with one that cannot be made, nothing is written and it says why', exec, (t) => {
	for (const word of ['generate-json-schema', 'generate-ts']) {
		const none = spawnSync(codexBin, ['app-server', word], { encoding: 'utf8' });
		assert.equal(none.status, 2);
		assert.match(none.stderr, /--out <DIR>/);
		const file = path.join(tempDir(t, 'file'), 'file');
		fs.writeFileSync(file, '');
		const bad = spawnSync(codexBin, ['app-server', word, '--out', path.join(file, 'x')], { encoding: 'utf8' });
		assert.notEqual(bad.status, 0);
		assert.match(bad.stderr, /^codex app-server generate-.*file/);
	}
});

test('the TypeScript files stand where clients import them, and refer only to each other', exec, (t) => {
	const dir = generate(t, 'generate-ts', '--experimental');
	const files = new Set(filesOf(dir));
	for (const name of ['index', 'ClientRequest', 'ServerNotification', 'InitializeParams', 'v2/index', 'v2/Thread'])
		assert.ok(files.has(`${name}.ts`), name);
	for (const file of files) {
		const text = fs.readFileSync(path.join(dir, file), 'utf8');
		for (const [, from] of text.matchAll(/from "(\.[^"]*)"/g)) {
			const target = path.join(path.dirname(file), from);
			assert.ok(files.has(`${target}.ts`) || files.has(`${target}/index.ts`), `${file} imports ${from}`);
		}
	}
});

const CLIENT = `
import type { ClientRequest, InitializeParams, ServerNotification, v2 } from './out/index.ts';
export const init: InitializeParams = { clientInfo: { name: 'c', title: null, version: '1' },
	capabilities: { experimentalApi: true, requestAttestation: false } };
const input: v2.UserInput = { type: 'text', text: 'hi', text_elements: [] };
export const request: ClientRequest = { method: 'turn/start', id: 1, params: { threadId: 't', input: [input] } };
export function said(note: ServerNotification): string {
	return note.method === 'item/agentMessage/delta' ? note.params.delta : '';
}
// @ts-expect-error a turn needs a thread
export const wrong: ClientRequest = { method: 'turn/start', id: 1, params: { input: [] } };
`;

/** Names in the folders where the reference has them, also where two folders share a name. */
const EXPERIMENTAL_CLIENT = `
import type { ExecPolicyAmendment, GitSha, ImageGenerationItem, LocalShellAction, LocalShellExecAction, Resource,
	ResponseItemId, SessionSource, SleepItem, Tool, WebSearchAction, WebSearchItem, v2 } from './out/index.ts';
import type { NetworkPolicyAmendment } from './out/NetworkPolicyAmendment.ts';
import type { NetworkPolicyRuleAction } from './out/v2/NetworkPolicyRuleAction.ts';
export const prefix: ExecPolicyAmendment & v2.ExecPolicyAmendment = ['git', 'status'];
export const host: NetworkPolicyAmendment & v2.NetworkPolicyAmendment = { host: 'h', action: 'allow' };
export const action: NetworkPolicyRuleAction & v2.NetworkPolicyRuleAction = host.action;
export const texts: [GitSha, ResponseItemId] = ['a sha', 'an id'];
export const called: WebSearchAction = { type: 'open_page', url: null };
export const shown: v2.WebSearchAction = { type: 'openPage', url: null };
// @ts-expect-error the word of the other folder's type
export const wrong: v2.WebSearchAction = { type: 'open_page', url: null };
export const uri = (resource: Resource, tool: Tool) => resource.uri + tool.name;
export const shell = (body: LocalShellExecAction): LocalShellAction => ({ type: 'exec', ...body });
export const search = (body: WebSearchItem): v2.ThreadItem => ({ type: 'webSearch', ...body });
export const sleep = (body: SleepItem): v2.ThreadItem => ({ type: 'sleep', ...body });
export const image = (body: ImageGenerationItem): v2.ThreadItem => ({ type: 'imageGeneration', ...body });
export const tool = (body: v2.DynamicToolFunctionSpec): v2.DynamicToolSpec & v2.DynamicToolNamespaceTool =>
	({ type: 'function', ...body });
export const space = (body: v2.DynamicToolNamespaceSpec): v2.DynamicToolSpec => ({ type: 'namespace', ...body });
export const patches = (a: v2.CustomGatewaySettingsParams, b: v2.BedrockSettingsParams, c: v2.GcpSettingsParams):
	v2.ProviderSettingsPatch[] => [{ type: 'customGateway', ...a }, { type: 'bedrock', ...b }, { type: 'gcp', ...c }];
export const streams: [v2.CommandExecOutputStream, v2.ProcessOutputStream] = ['stdout', 'stderr'];
export const source: SessionSource = { internal: 'guardian' };
export const brand: v2.LoginAppBrand = 'chatgpt';
export const output: v2.TurnToolOutput = { name: 'n', namespace: null, output: 'text' };
// @ts-expect-error a search is not sorted by section
export const key: v2.ThreadSearchSortKey = 'section_position';
`;

const typed = fs.existsSync(tsc) ? exec : { skip: 'typescript is not installed: run npm ci in tests/e2e' };
test('the TypeScript compiler accepts the types, and they detect errors', typed, (t) => {
	const clients = [[CLIENT], [EXPERIMENTAL_CLIENT, '--experimental']].map(([text, ...options]) => {
		const client = path.join(generate(t, 'generate-ts', ...options), '../client.ts');
		fs.writeFileSync(client, text);
		return client;
	});
	const { status, stdout } = spawnSync(process.execPath, [tsc, '--noEmit', '--strict', '--target', 'es2022', '--module',
		'esnext', '--moduleResolution', 'bundler', '--allowImportingTsExtensions', ...clients], { encoding: 'utf8' });
	assert.equal(status, 0, stdout);
});

// --- against the reference ------------------------------------------------------------------------------------------

/** A row of the table in the document. */
const row = (name, same, missing, more) => `| ${name} | ${same} | ${missing.length} | ${more.length} |`;

function report(difference, excepted) {
	const { same, missing, more, open, loose } = difference;
	return [
		'| | in both | only in the reference | only here |',
		'|---|---|---|---|',
		row('methods, notifications, questions', same.messages, missing.messages, more.messages),
		row('types', same.types + open.length, missing.types, more.types),
		row('fields of types in both', same.fields, missing.fields, more.fields),
		row('words of enums and unions', '', missing.words, more.words),
		'',
		`Of the types in both, ${open.length} are still open here: any object. ${loose.length} fields say less than in the`,
		`reference (any JSON, any text). Contradictions: 0, besides ${excepted} with a reason in the test.`,
	].join('\n');
}

test('the tables contradict the reference nowhere, and the document says how far they go', compared, (t) => {
	const dir = generate(t, 'generate-json-schema', '--experimental');
	const difference = new Comparison(readJson(dir, WHOLE), readJson(reference, WHOLE));
	assert.deepEqual([...difference.missing.types].sort(), Object.keys(MISSING).sort(), 'the missing types are those with a reason');
	const found = difference.contradictions;
	assert.deepEqual(found.filter((line) => !(line in EXCEPTIONS)), [], 'a contradiction without a reason');
	assert.deepEqual(Object.keys(EXCEPTIONS).filter((line) => !found.includes(line)), [], 'a reason without a contradiction');
	for (const [what, lists] of Object.entries({ missing: difference.missing, more: difference.more }))
		for (const [kind, lines] of Object.entries(lists)) t.diagnostic(`${what} ${kind}: ${lines.join(', ')}`);
	t.diagnostic(`open: ${difference.open.join(', ')}`);
	t.diagnostic(`loose: ${difference.loose.join(', ')}`);

	const block = /(<!-- counts of app_server_schema -->\n).*?(\n<!-- end -->)/s;
	const text = fs.readFileSync(document, 'utf8');
	assert.match(text, block);
	const now = text.replace(block, (_, begin, end) => begin + report(difference, found.length) + end);
	if (process.env.CODEX_WRITE_DOCS) fs.writeFileSync(document, now);
	else assert.equal(text, now, 'docs/app-server.md has other counts; run this test with CODEX_WRITE_DOCS=1');
});

test('files and folders are those of the reference', compared, (t) => {
	const ours = filesOf(generate(t, 'generate-json-schema', '--experimental'));
	const theirs = new Set(filesOf(reference));
	const known = ['GetAuthStatus', 'GetConversationSummary', 'GitDiffToRemote'] // theirs are in TypeScript alone
		.flatMap((name) => [`v2/${name}Params.json`, `v2/${name}Response.json`]);
	assert.deepEqual(ours.filter((name) => !theirs.has(name)),
		[...known, 'v2/TurnCancelledNotification.json', 'v2/TurnFailedNotification.json']);
	const own = new Set(ours);
	t.diagnostic(`only in the reference: ${[...theirs].filter((name) => !own.has(name)).join(', ')}`);
});
