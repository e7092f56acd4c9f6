// Requirements on the APIs of models, local servers and accounts, with the tests that hold them. A row whose tests are missing fails.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const unit = (name) => `../unit/test_${name}.c`;

/** [what, file of the tests, parts of their names] */
const ROWS = [
	// settings of a provider
	['wire_api: three values; another is refused', unit('model_provider'), ['errors_contain_advice', 'own_providers_are_read_in_full']],
	['path, key and headers of each provider of the documents', 'providers', ['${row.name}: path and key', 'built in']],
	['env_key and its instructions', unit('model_provider'), ['errors_contain_advice']],
	['a bearer token on each API', 'wire_messages', ['a bearer token is sent as such']],
	['auth.command: cache, age, refusal, limits, combinations', 'token_command', ['until its age', 'is replaced once',
		'${name} ends the turn', 'auth excludes']],
	['query parameters, headers of the environment', 'provider_network', ['Azure:']],
	['retries and time-outs of a provider', 'exec_errors', ['retries are counted']],
	['nothing stored leaves to other providers', 'accounts', ['nothing of the login leaves']],
	['aws: signature, profiles, region', 'providers', ['each attempt is signed']],
	['aws: keys and regions', unit('model_provider'), ['a_key_of_aws_is', 'bedrock_takes_region']],
	['aws: the examples of the signature', unit('aws_sign'), ['the_examples_of_the_suite']],
	['order of keys, OPENAI_ORGANIZATION, OPENAI_PROJECT', unit('model_provider'), ['keys_are_looked_for_in_order', 'openai_is_the_default']],
	['service_tier, model_max_output_tokens, effort: only if set', 'wire_chat', ['options are sent only if they are set']],
	// Responses
	['headers, body, tools of a known and of an unknown model', unit('model_request'), ['a_request_for_a_known_model',
		'for_an_unknown_model_has_common_fields_only', 'headers_name_the_thread']],
	['servers that are not OpenAI\'s get functions alone', 'wire_flat', ['functions alone, under flat names']],
	['the account and a hint for routing', 'accounts', ['a request carries the token and the account']],
	['openai-model, limits, request ids of an answer', unit('model_client'), ['the_head_is_passed_on', 'the_model_that_answers']],
	['incomplete, failed, statuses, retry-after', unit('model_error'), ['answers_with_an_error_status', 'failures_in_a_stream']],
	['a list of models in a file, also that of codex 0.169', 'lite', ['wins over the built-in ones', 'codex 0.169 has stored can be used']],
	['what a provider has compacted', 'wire_session', ['what a provider has compacted']],
	['a redirect gets no key', 'exec_bad_input', ['each status has its own text']],
	// WebSocket
	['only with supports_websockets or openai', 'wire_websocket', ['never an upgrade', 'the built-in openai provider uses']],
	['warm-up and incremental input', 'wire_websocket', ['sends only its new items', 'a session is warmed up']],
	['refused handshake: HTTP at once', 'wire_websocket', ['is tried once, and HTTP is used at once']],
	['age limit, forgotten response, lost socket, idle close', 'wire_websocket', ['a socket that is lost',
		'closes between two responses', 'the whole history goes over a new socket']],
	['errors with a status', 'wire_websocket', ['treated like an answer']],
	['binary frames and other bad input', 'wire_websocket', ['bad input: ${name}', 'byte by byte']],
	['proxies, certificates, slow readers, close frame', 'wire_websocket_network', ['wss through a proxy', 'not trusted',
		'throttles the server', 'closes its socket']],
	// Chat Completions
	['the body', 'wire_chat', ['a request of Chat Completions', 'apply_patch as a function']],
	['one message for a response; outputs after it; equal answers', 'wire_chat', ['text and parallel calls', 'equals the one before']],
	['broken arguments; images of tools', 'wire_chat', ['broken arguments', 'an image of a tool']],
	['reasoning under its name, in the content, details, extra_content', 'wire_chat', ['reasoning comes back as ${',
		'beginning of the content', 'both names',
		'reasoning_details', 'extra_content']],
	['thoughts in the content: their bytes, without an end, beside empty reasoning', 'wire_chat', ['comes back as it came',
		'that is not closed', 'beside empty reasoning', 'comes back as one']],
	['quirks of fragments', 'wire_chat', ['quirk: ${', 'a missing id', 'what surrounds', 'list of parts', 'an empty answer', 'without [DONE]']],
	['usage', 'wire_chat', ['usage: the last one counts']],
	['length, filter, error chunks, JSON, HTML, overflow', 'wire_chat', ['failure: ${']],
	// Messages
	['the body, versions, max_tokens', 'wire_messages', ['a request of Messages', 'max_tokens: as configured']],
	['thinking: adaptive, budgets, none', 'wire_messages', ['thinking of ${']],
	['thoughts with signatures', 'wire_messages', ['thoughts come back unmodified', 'does not end with a thought']],
	['cache marks', 'wire_messages', ['charged for its new part only']],
	['images, structured output', 'wire_messages', ['an image stays', 'structured output']],
	['unknown events, empty input, usage, pause_turn', 'wire_messages', ['a tool without fragments', 'cached parts count', 'a paused turn']],
	['stop reasons, errors, overload', 'wire_messages', ['failure: ${', 'without message_stop']],
	// sessions
	['a whole session on each API', 'wire_session', ['a whole session on ${']],
	['a session that changes its API twice', 'wire_session', ['changes its wire twice']],
	['answers in single bytes, cut and damaged anywhere; floods', 'wire_session', ['single bytes', 'a flood of calls']],
	['plan mode, questions, skills, subagents, compaction on each API', 'wire_tools', ['plan mode asks',
		'skills are listed', 'a subagent is spawned', 'a history is compacted']],
	['a kept history gives the bodies of a new conversion', unit('model_memo'), ['gives_the_same_bodies', 'keeps_its_text']],
	// local servers
	['Ollama: version, models, pull, small context', 'oss', ['with the model', 'before 0.13.4', 'fetches a missing model', 'a small context']],
	['LM Studio; llama-server, vLLM, SGLang', 'oss', ['LM Studio without the model', 'without a named provider']],
	['unknown providers, floods', 'oss', ['refused by its name', 'never ends']],
	['the window of an unknown model', 'window', ['decides when the history', 'is asked there', 'nothing is asked', 'holds nothing up',
		'at once, once for each model']],
	// network
	['certificates, CA files, client certificates', 'provider_network', ['a private CA', 'not trusted', 'cannot be read',
		'a client certificate identifies']],
	['proxies', 'provider_network', ['is asked for a tunnel', 'NO_PROXY', 'a proxy that refuses']],
	['the first request finds its connection open', 'provider_network', ['the first request finds']],
	// accounts
	['login status, keys', 'cli', ['login']],
	['browser flow: PKCE, state, origin, ports, escaping', 'login', ['stores tokens that requests use', 'a callback of somebody else',
		'its words are escaped', 'takes its port', 'is replaced by the second one']],
	['an issuer that lies', 'login', ['an issuer that lies']],
	['device flow', 'login', ['a device code is shown', 'refuses says why']],
	['personal access tokens', 'access_token', ['after the issuer has said whose', 'CODEX_ACCESS_TOKEN precedes', 'is not stored',
		'rules of the configuration']],
	['workspaces and forced_login_method', 'login', ['the rules exclude', 'forced_login_method']],
	['auth.json in both directions', 'login', ['a login is shared with']],
	['refresh: before expiry, after 401, another account, refusals', 'accounts', ['refreshed once', 'decides', 'repeated once',
		'another account', 'names its reason', 'while the issuer fails']],
	['ten processes refresh once', 'accounts', ['ten processes with one expired login', 'ten processes whose token']],
	['a logout or login during a refresh', 'accounts', ['is not undone', 'is kept']],
	['revoking', 'login', ['logout revokes', 'revokes the one that it replaces']],
	['keyring, auto, file', 'keyring', ['is kept in the keyring', 'is absent', 'auto:', 'never answers ends',
		'what another process stores', 'app-server: a keyring that never answers', 'hangs during a turn', 'ACP: a keyring', 'does not replace it']],
	['a keyring that is slow: no token is lost, nothing else waits', 'keyring', ['does not take in time', 'that it refuses are used',
		'are not stored after a logout', 'does not undo a later one', 'is not taken for', 'do not wait for the keyring', 'leave all threads',
		'that is configured again']],
	['changes of the credentials are one after the other', unit('auth'), ['wait_for_a_logout_of_another_process', 'only_those_that']],
	['logins and logouts of an editor keep their order', 'acp_sessions', ['in the order in which they were sent']],
	['the keys and defaults that the page names', 'providers', ['names only keys that exist']],
	['account/* of the app-server and its notifications', 'app_server_login', ['reported at its end', 'is cancelled frees its port',
		'rate limits are read', 'tokens of the client']],
	['the same with a key', 'app_server_account', ['an API key is stored, reported']],
];

for (const [what, file, names] of ROWS)
	test(what, () => {
		const text = fs.readFileSync(path.join(import.meta.dirname, file.endsWith('.c') ? file : `${file}.test.mjs`), 'utf8');
		for (const name of names) assert.ok(text.includes(name), `${file} has no test "${name}"`);
	});
