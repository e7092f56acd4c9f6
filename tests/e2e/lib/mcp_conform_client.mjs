// The client of the official MCP conformance suite: `node mcp_conform_client.mjs URL` lets `codex app-server` use the server
// at that URL, logs in where the server requires it, and calls each of its tools once. A user is played by this program:
// it opens the URLs of logins, and accepts every question.

import { startAppServer } from './app_server.mjs';

const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const ends = []; // what a test would do at its end
const t = { after: (end) => ends.push(end) };
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json'; // as the suite expects it
const ARGUMENTS = { add_numbers: { a: 5, b: 3 } };

/** The settings of the server; registered clients come from the scenario. */
function config() {
	const isByDocument = process.env.MCP_CONFORMANCE_SCENARIO === 'auth/basic-cimd';
	const { client_id: id = isByDocument ? CLIENT_DOCUMENT : undefined, client_secret: secret } = context;
	const oauth = [id && `client_id = ${JSON.stringify(id)}`, secret && `client_secret = ${JSON.stringify(secret)}`].filter(Boolean);
	return `[mcp_servers.web]\nurl = ${JSON.stringify(url)}\n${oauth.length ? `[mcp_servers.web.oauth]\n${oauth.join('\n')}\n` : ''}`;
}

/** Logs in as `codex mcp login` would; scopes: as an error has named them. */
async function login(server, scopes) {
	const { authorizationUrl } = await server.request('mcpServer/oauth/login', { name: 'web', ...(scopes && { scopes }) });
	await fetch(authorizationUrl); // the scripted authorization server redirects to the callback at once
	const { params } = await server.next('mcpServer/oauthLogin/completed');
	if (!params.success) throw new Error(params.error);
}

const errorOf = (promise) => promise.then(() => null, ({ message }) => message);

/** Calls a tool; logs in again when the error says so, at most twice. */
async function call(server, threadId, tool) {
	for (let tries = 0; tries < 3; tries++) {
		const error = await errorOf(server.request('mcpServer/tool/call', { threadId, server: 'web', tool, arguments: ARGUMENTS[tool] ?? {} }));
		const advice = /codex mcp login web(?: --scopes ([^`\s]+))?/.exec(error ?? '');
		if (!advice) return console.log(tool, error ?? 'ok');
		await login(server, advice[1]?.split(','));
	}
	return console.log(tool, 'gave up');
}

/** Accepts every question of the server, with an empty form. */
function acceptAll(server) {
	const seen = new Set();
	server.take((message) => {
		if (message.method === 'mcpServer/elicitation/request' && !seen.has(message.id))
			server.answer(message, { action: 'accept', content: {} });
		seen.add(message.id);
		return false;
	}, 'end').catch(() => {});
}

async function main() {
	const server = await startAppServer(t, undefined, { config: config() });
	acceptAll(server);
	const { thread } = await server.request('thread/start', {});
	const status = async () => (await server.request('mcpServerStatus/list', { threadId: thread.id })).data[0];
	let { authStatus, tools, toolsError } = await status();
	if (authStatus === 'notLoggedIn') {
		await login(server);
		({ tools, toolsError } = await status());
	}
	if (toolsError) throw new Error(toolsError);
	for (const name of Object.keys(tools)) await call(server, thread.id, name);
	await server.end();
}

main().catch((error) => {
	console.error(error.message);
	process.exitCode = 1;
}).finally(async () => {
	for (const end of ends.reverse()) await end();
});
