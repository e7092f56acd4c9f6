/* Okapi BM25. A document consists of the names of a tool and its server, its description, and the names and
 * descriptions in its schema. Nothing is indexed: searches are rare, and lists of tools change. */
#include "tool/mcp/mcp_search.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/mcp_server.h"
#include "mcp/mcp_catalog.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/mcp/mcp_await.h"
#include "tool/tool.h"
#include "tool/tool_impl.h"
#include "tool/tool_text.h"

/* FOUND and FOUND_MAX are the numbers of tools that a search returns, if the model does not set it, and at most.
 * QUERY_WORDS and TOOL_TEXT bound the work for each tool: the words of a query, and the bytes that are read. */
enum { FOUND = 8, FOUND_MAX = 64, QUERY_WORDS = 32, TOOL_TEXT = 4 * KIB, SCHEMA_DEPTH = 4, SOURCE_TEXT = 200 };
static const double K1 = 1.2, B = 0.75;

struct query {
	struct str words[QUERY_WORDS];
	size_t count;
	size_t with[QUERY_WORDS]; /* tools that contain the word */
};

struct document {
	uint16_t found[QUERY_WORDS]; /* occurrences of each word of the query */
	uint32_t length;
	size_t room; /* bytes that may still be read */
	double score;
	size_t index;
};

/* ---- words ---- */

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* Takes the next word: letters and digits, where a capital after a small letter begins another one. */
static bool next_word(struct str *rest, struct str *ret)
{
	size_t len = 0;
	while (rest->len && !is_word_char(rest->ptr[0]))
		*rest = str_skip(*rest, 1);
	while (len < rest->len && is_word_char(rest->ptr[len])) {
		bool is_capital = rest->ptr[len] >= 'A' && rest->ptr[len] <= 'Z';
		if (len && is_capital && rest->ptr[len - 1] >= 'a' && rest->ptr[len - 1] <= 'z')
			break;
		len++;
	}
	*ret = str_n(rest->ptr, len);
	*rest = str_skip(*rest, len);
	return len > 0;
}

static bool has_word(const struct query *query, struct str word)
{
	for (size_t i = 0; i < query->count; i++) {
		if (str_equal_fold(query->words[i], word))
			return true;
	}
	return false;
}

static void read_query(struct query *query, struct str text)
{
	struct str word;
	while (query->count < QUERY_WORDS && next_word(&text, &word)) {
		if (word.len > 1 && !has_word(query, word)) /* "a" is in every description */
			query->words[query->count++] = word;
	}
}

/* A word of a tool matches a word of the query, or its plural. */
static bool matches(struct str word, struct str wanted)
{
	struct str longer = word.len > wanted.len ? word : wanted, shorter = word.len > wanted.len ? wanted : word;
	if (longer.len == shorter.len + 1 && shorter.len > 2 && (longer.ptr[longer.len - 1] | 0x20) == 's')
		longer.len--;
	return str_equal_fold(longer, shorter);
}

static void read_text(struct document *document, const struct query *query, struct str text)
{
	struct str word;
	text.len = text.len < document->room ? text.len : document->room;
	document->room -= text.len;
	while (next_word(&text, &word)) {
		document->length++;
		for (size_t i = 0; i < query->count; i++)
			document->found[i] += matches(word, query->words[i]) && document->found[i] < UINT16_MAX;
	}
}

static void read_schema(struct document *document, const struct query *query, const struct json *schema, int depth)
{
	const struct json *properties = json_get(schema, "properties");
	json_for_each(it, json_is(properties, JSON_object) ? properties : NULL) {
		if (!document->room)
			return;
		read_text(document, query, it->key);
		read_text(document, query, json_get_str(it, "description"));
		if (depth < SCHEMA_DEPTH)
			read_schema(document, query, it, depth + 1);
	}
}

static void read_tool(struct document *document, struct query *query, const struct mcp_offered *offered)
{
	const struct mcp_tool *tool = offered->tool;
	document->room = TOOL_TEXT;
	read_text(document, query, tool->name);
	read_text(document, query, offered->server->name);
	read_text(document, query, tool->title);
	read_text(document, query, tool->description);
	read_schema(document, query, tool->schema, 0);
	for (size_t i = 0; i < query->count; i++)
		query->with[i] += document->found[i] > 0;
}

/* ---- the ranking ---- */

/* Of a number of at least 1, precise to five digits, so that the program needs no library for it. */
static double natural_log(double x)
{
	double sum = 0;
	for (; x >= 2; x /= 2)
		sum += 0.69314718055994531;
	double y = (x - 1) / (x + 1), power = y;
	for (int i = 1; i < 12; i += 2, power *= y * y)
		sum += 2 * power / i;
	return sum;
}

static double score(const struct document *document, const struct query *query, size_t count, double average)
{
	double sum = 0;
	for (size_t i = 0; i < query->count; i++) {
		double n = (double)query->with[i], f = document->found[i];
		double rarity = natural_log(1 + ((double)count - n + 0.5) / (n + 0.5));
		double length = average > 0 ? document->length / average : 1;
		sum += rarity * f * (K1 + 1) / (f + K1 * (1 - B + B * length));
	}
	return sum;
}

static int compare(const void *a, const void *b)
{
	const struct document *x = a, *y = b;
	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

/* ret receives up to limit indexes of mcp_offer_tools, the best first. Returns their number. */
static size_t search(const struct mcp_offer *offer, struct str text, size_t limit, size_t *ret)
{
	auto_arena struct arena arena = {0};
	struct query query = {0};
	size_t count = 0, found = 0;
	double total = 0;
	const struct mcp_offered *tools = offer ? mcp_offer_tools(offer, &count) : NULL;
	struct document *documents = arena_array(&arena, struct document, count);
	read_query(&query, text);
	for (size_t i = 0; i < count; i++) {
		documents[i].index = i;
		read_tool(&documents[i], &query, &tools[i]);
		total += documents[i].length;
	}
	for (size_t i = 0; i < count; i++)
		documents[i].score = score(&documents[i], &query, count, total / (double)count);
	if (count)
		qsort(documents, count, sizeof(*documents), compare);
	while (found < count && found < limit && documents[found].score > 0) {
		ret[found] = documents[found].index;
		found++;
	}
	return found;
}

/* ---- the tool ---- */

static void describe(const struct mcp_offer *offer, struct str starting, struct buf *out)
{
	size_t count = 0;
	const struct mcp_offer_source *sources = mcp_offer_sources(offer, &count);
	buf_append_str(out, str_trim(tool_text_tool_search));
	buf_append_c(out, "\n\nServers:");
	for (size_t i = 0; i < count; i++) {
		struct str rest = sources[i].catalog->instructions, about = STR("");
		if (!sources[i].catalog->tools.count)
			continue;
		if (rest.ptr)
			str_next_part(&rest, '\n', &about);
		about.len = about.len < SOURCE_TEXT ? about.len : text_floor_boundary(about, SOURCE_TEXT);
		buf_printf(out, "\n- %.*s%s%.*s", STR_ARG(sources[i].server->name), about.len ? ": " : "",
		           (int)about.len, about.len ? about.ptr : "");
	}
	if (starting.len)
		buf_printf(out, "\n\nServers that are still starting; a search waits for them: %.*s",
		           STR_ARG(starting));
}

void mcp_search_write(const struct mcp_offer *offer, struct str starting, struct json_writer *w)
{
	size_t count = 0;
	auto_buf struct buf text = {0};
	if (offer)
		mcp_offer_tools(offer, &count);
	if (!count && !starting.len)
		return;
	buf_init(&text, LIMIT_MCP_OFFER);
	describe(offer, starting, &text);
	jw_object(w);
	jw_member_cstr(w, "type", "tool_search");
	jw_member_cstr(w, "execution", "client");
	jw_member_str(w, "description", buf_str(&text));
	jw_member_raw(
		w, "parameters",
		STR("{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"number\",\"description\":\"Number of "
	            "tools to return; 8 if absent.\"},\"query\":{\"type\":\"string\",\"description\":\"Words that "
	            "describe the wanted tools.\"}},\"required\":[\"query\"],\"additionalProperties\":false}"));
	jw_object_end(w);
}

static void run_search(struct tool_call *call)
{
	const struct args_tool_search *args = call->args;
	const struct mcp_offer *offer = call->host->mcp_offer ? call->host->mcp_offer(call->host) : NULL;
	auto_arena struct arena arena = {0};
	size_t found[FOUND_MAX], limit = FOUND;
	const struct json *number = args->limit.ptr ? json_parse(&arena, args->limit, NULL) : NULL;
	double wanted = 0;
	if (json_to_double(number, &wanted) && wanted >= 1)
		limit = wanted < FOUND_MAX ? (size_t)wanted : FOUND_MAX;
	size_t count = search(offer, args->query, limit, found);
	struct json_writer w = json_writer(&call->parts);
	jw_array(&w);
	mcp_offer_write_found(offer, found, count, &w);
	jw_array_end(&w);
	if (call->parts.over)
		tool_call_finishf(call, false, "the tools that were found are too large; use a smaller limit");
	else
		tool_call_finish_output(call, true);
}

void tool_tool_search_start(struct tool_call *call)
{
	if (!call->is_search)
		tool_call_finishf(call, false, "unsupported call: %.*s", STR_ARG(call->name));
	else if (!mcp_await_begin(call, STR_NONE, run_search))
		run_search(call);
}
