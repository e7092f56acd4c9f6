// Requirements on codex serve and its page, with the tests that hold them; a row whose tests are missing fails.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const unit = (name) => `../unit/test_${name}.c`;
const [page, parts, threats] = ['serve_page', 'serve_page_parts', 'serve_page_threats'];

/** [what, file of the tests, parts of their names] */
const ROWS = [
	// the command
	['--listen: refusals', 'serve', ['other machines need encryption or a word', 'a wildcard needs the name', 'https needs a certificate',
		'a name is no address']],
	['--listen: a port that is taken', 'serve', ['a taken port is named']],
	['https, plain text on its port', parts, ['the page over https']],
	['--url, --allow-host', 'serve', ['only this host and this origin', 'a base has no path', 'a host is a name']],
	['--token-file', 'serve', ['a fixed token is a bearer', 'a short token is refused']],
	['--open', 'serve', ['gives the browser a private file', '--open does not need the folder', '--open without a browser']],
	['--keep-events', 'serve', ['a stream that starts too late']],
	['links on standard output, one for each line of input; SIGTERM', 'serve', ['each line of input prints a fresh link', 'stays as it was']],
	['QR code', parts, ['has a QR code, on the page and in the terminal']],
	// who may ask
	['a code is spent once, and its number is limited', 'serve', ['a code is spent once', 'of nine open codes']],
	['a code ends after ten minutes', unit('page_access'), ['a_code_is_good_for_ten_minutes', 'attempts_are_forgotten_after_a_minute',
		'a_device_too_many']],
	['the token in the browser', page, ['a link signs in once']],
	['the token ends with the process', threats, ['has the port next']],
	['wrong codes and bearers', 'serve', ['a token counts as a bearer only']],
	['Host, Origin, Sec-Fetch-Site', 'serve', ['only this host and this origin']],
	['CORS, headers of every answer', 'serve', ['every answer has the headers']],
	['types of bodies, Upgrade, gRPC', 'serve', ['bodies have a type']],
	['codex proto has no page', 'serve', ['codex proto has no page']],
	['the log', 'serve', ['the log has sentences without secrets']],
	// endpoints
	['the files, below 60,000 bytes', 'serve', ['the page is five small files']],
	['INFO, /v1/watch', 'serve', ['one stream has the list and the events']],
	['an empty line after silence', 'serve', ['a silent stream has an empty line']],
	['/v1/threads, resume', 'serve', ['stored sessions are listed, resumed once']],
	['/v1/pair, /v1/devices, /v1/logout', 'serve', ['a device that is signed out']],
	['sessions of other processes', 'serve', ['a session that runs in another process', 'the socket of a process that is gone']],
	// roles and names
	['landmarks, announcements', parts, ['landmarks, language and what is announced']],
	['sign in', page, ['a link signs in once']],
	['sign in: alerts', threats, ['guesses in the form']],
	['list, stored sessions, More', parts, ['the list names the state', 'stored sessions are resumed with their past']],
	['New session', parts, ['a new session has the folder']],
	['entries', page, ['a task from prompt to answer']],
	['entries: tool, search, error', parts, ['each of several open requests', 'searches, warnings, errors and ends']],
	['command: output, states, Show all', parts, ['a command shows its output as it comes']],
	['cards: Approve, Deny', page, ['a task from prompt to answer', 'two browsers']],
	['cards: for session, always, stop', parts, ['Approve for session, Always allow and Deny and stop']],
	['cards: several at once', parts, ['each of several open requests has its card']],
	['questions', page, ['a question is answered, and a task is stopped']],
	['plan, Implement this plan, images, settings', page, ['a proposed plan is implemented']],
	['Changes', page, ['a task from prompt to answer']],
	['a message that is not sent keeps its id', page, ['a message is sent once']],
	['drafts, keys', parts, ['Enter sends and Shift+Enter begins a line']],
	['Pair a device, Devices, Sign out', page, ['a link signs in once']],
	['Copy', parts, ['code is copied by its button']],
	['notices', parts, ['the end of a session leads to the list']],
	['keyboard, targets, sizes at 360 pixels', parts, ['all controls are reached by Tab']],
	['axe-core in both themes', page, ['a task from prompt to answer']],
	// text to elements
	['Markdown', page, ['a task from prompt to answer']],
	['in pieces as whole', parts, ['a message that came in pieces']],
	['links, images, hidden characters', page, ['markup, addresses and hidden characters']],
	['images of messages', threats, ['pictures of messages are data']],
	['the past of resumed sessions', parts, ['stored sessions are resumed with their past']],
	['cards close in every browser', page, ['two browsers']],
	// connection, notifications
	['reconnect in the middle', page, ['after a lost connection nothing is missing']],
	['server gone, restarted', threats, ['has the port next']],
	['notifications', parts, ['a hidden page notifies once']],
	['no service worker, cache, database', threats, ['has the port next']],
	// speed
	['20,000 deltas', page, ['20,000 deltas of ${kind}']],
	['600 messages', page, ['a session of 600 messages']],
	// attacks
	['markup in all texts', page, ['markup, addresses and hidden characters']],
	['addresses that are no links', page, ['markup, addresses and hidden characters']],
	['images on other hosts', threats, ['pictures of messages are data']],
	['hidden characters, long commands', page, ['markup, addresses and hidden characters']],
	['programs that have the name of a shell', threats, ['names the program by its whole path']],
	['calls and messages with ids that were used before', threats, ['whose id was used before has an entry of its own']],
	['arguments of MCP tools', threats, ['shows the arguments of the call']],
	['texts that take long', threats, ['no text of a model keeps the page busy']],
	['taps meant for something else', parts, ['wait for half a second']],
	['frames', page, ['no other page can use this one']],
	['popups, referrer, cookies, opener', threats, ['links out carry no referrer']],
	['other sites and ports', page, ['no other page can use this one']],
	['forms, beacons, EventSource', threats, ['another port of this host can send nothing']],
	['DNS rebinding', 'serve', ['only this host and this origin']],
	['a stolen link', 'serve', ['a code is spent once']],
	['guessing', 'serve', ['guessing is slowed down']],
	['the port afterwards', threats, ['has the port next']],
	['a script that is there after all', page, ['the policy holds if a script is there']],
	['eval, handlers, styles, inline scripts', threats, ['refused by the page itself']],
	['nothing is loaded from elsewhere', 'serve', ['the page is five small files']],
	['the log of a device\'s name', 'serve', ['the log has sentences without secrets']],
	['other users of this machine', 'serve', ['a token counts as a bearer only', 'gives the browser a private file']],
	['the network', 'serve', ['other machines need encryption or a word']],
	// export
	['the same view as a file', 'export_html', ['no markup of theirs', 'a browser without scripts shows it']],
];

for (const [what, file, names] of ROWS)
	test(what, () => {
		const text = fs.readFileSync(path.join(import.meta.dirname, file.endsWith('.c') ? file : `${file}.test.mjs`), 'utf8');
		for (const name of names) assert.ok(text.includes(name), `${file} has no test "${name}"`);
	});
