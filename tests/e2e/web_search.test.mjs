// The provider's web search: the tool that a request offers, and the items that describe a search.

import assert from 'node:assert/strict';
import test from 'node:test';
import { codexExec, reply, run, say, startModel } from './lib/codex.mjs';

/** The tool of the request of a run with these options, or undefined. */
async function offered(t, args, config) {
	const model = await startModel(t, [say('Done.')]);
	const { code, stderr } = await codexExec(t, model, [...args, 'hi'], { config });
	assert.equal(code, 0, stderr);
	return model.requests()[0].body.tools.find(({ type }) => type === 'web_search');
}

const unknown = { type: 'web_search', external_web_access: true };
const plain = { ...unknown, search_content_types: ['text', 'image'] };

test('the mode decides what the tool may reach', async (t) => {
	const cases = [
		[['-c', 'web_search="disabled"'], undefined],
		[['-c', 'web_search="cached"'], { ...plain, external_web_access: false }],
		[['-c', 'web_search="indexed"'], { ...plain, indexed_web_access: true }],
		[['-c', 'web_search="live"'], plain],
		[['-c', 'web_search="live"', '-m', 'a-model-of-mine'], unknown],
		[['--enable', 'web_search_request'], plain],
		[['--enable', 'web_search_cached'], { ...plain, external_web_access: false }],
		[['--enable', 'web_search_request', '-c', 'web_search="disabled"'], undefined],
		[['-c', 'tools.web_search=true'], plain],
		[['-s', 'read-only'], { ...plain, external_web_access: false }], // a gateway to a model of OpenAI
		[['-s', 'danger-full-access'], plain],
		[['-m', 'a-model-of-mine'], undefined], // its server may refuse the tool
		[['--enable', 'web_search_cached', '-m', 'a-model-of-mine'], { ...unknown, external_web_access: false }],
	];
	for (const [args, expected] of cases) assert.deepEqual(await offered(t, args), expected, args.join(' '));
});

test('details of the table are part of the tool, and do not turn it on', async (t) => {
	const details = 'tools.web_search={context_size="low",allowed_domains=["a.org","b.org"],location={country="DE",city="Ulm"}}';
	assert.equal(await offered(t, ['-c', details, '-m', 'a-model-of-mine']), undefined);
	assert.equal((await offered(t, ['-c', details])).search_context_size, 'low');
	assert.deepEqual(await offered(t, ['-c', details, '-c', 'web_search="live"']), {
		...plain, filters: { allowed_domains: ['a.org', 'b.org'] },
		user_location: { type: 'approximate', country: 'DE', city: 'Ulm' }, search_context_size: 'low',
	});
});

test('a mistake in the table names the key', async (t) => {
	const model = await startModel(t, [say('Unused.')]);
	const cases = [
		['context_size="huge"', 'context_size'], ['allowed_domains="a.org"', 'allowed_domains'], ['allowed_domains=[1]', 'allowed_domains'],
		['location="DE"', 'location'], ['location={planet="x"}', 'location'], ['location={city=1}', 'location'], ['colour=1', 'colour'],
	];
	for (const [text, key] of cases) {
		const { code, stderr } = await codexExec(t, model, ['-c', `tools.web_search={${text}}`, 'hi']);
		assert.equal(code, 1, text);
		assert.match(stderr, new RegExp(`tools.web_search.*${key}`));
	}
	assert.equal(model.requests().length, 0);
});

test('an item names the search, the page or the pattern, and the call is sent again with its id', async (t) => {
	const url = 'https://a.org/x';
	const actions = [
		[{ type: 'search', query: 'codex' }, 'codex'],
		[{ type: 'search', queries: ['one', 'two'] }, 'one ...'],
		[{ type: 'search', queries: ['one'] }, 'one'],
		[{ type: 'open_page', url }, url],
		[{ type: 'find_in_page', url, pattern: 'C17' }, `'C17' in ${url}`],
		[{ type: 'open_page' }, ''],
	];
	const calls = actions.map(([action], i) => ({ item: { type: 'web_search_call', id: `ws_${i}`, status: 'completed', action } }));
	const model = await startModel(t, [reply(...calls, ...run('true').reply), say('Done.')]);
	const { code, events, stderr } = await codexExec(t, model, ['-c', 'web_search="live"', 'hi'], { json: true });
	assert.equal(code, 0, stderr);
	const found = events.filter(({ type, item }) => type === 'item.completed' && item.type === 'web_search');
	assert.deepEqual(found.map(({ item }) => item.query), actions.map(([, query]) => query));
	assert.deepEqual(model.requests()[1].body.input.filter(({ type }) => type === 'web_search_call'), calls.map(({ item }) => item));
});
