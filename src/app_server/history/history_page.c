/* A cursor has the shape that codex 0.169 uses, a JSON object in a string. Its ordinal is the entry's index in the
 * list, which only grows at its end. */
#include "app_server/history/history_page.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

enum { DEFAULT_PART = 25, LARGEST_PART = 100 };

struct str history_page_cursor(struct str thread_id, const char *kind, size_t index, bool includes, struct arena *arena)
{
	return str_of(arena_printf(arena,
	                           "{\"requestedThreadId\":\"%.*s\",\"rolloutOrdinal\":%zu,\"includeAnchor\":%s,"
	                           "\"scope\":{\"kind\":\"%s\"}}",
	                           STR_ARG(thread_id), index, includes ? "true" : "false", kind));
}

static int refuse_cursor(struct str cursor, struct error *err)
{
	return error_set(err, ERR_invalid, "invalid cursor: %.*s", (int)(cursor.len > 200 ? 200 : cursor.len),
	                 cursor.len ? cursor.ptr : "");
}

/* Finds the index of the page's first entry; count or SIZE_MAX if the page is empty. */
static int find_first(const struct history_page_query *query, struct arena *arena, size_t *ret, struct error *err)
{
	uint64_t ordinal;
	*ret = query->is_descending ? query->count - 1 : 0;
	if (!query->cursor.ptr)
		return 0;
	const struct json *root = json_parse(arena, query->cursor, NULL);
	if (!json_to_u64(json_get(root, "rolloutOrdinal"), &ordinal) || ordinal >= query->count ||
	    !str_eq(json_get_str(root, "requestedThreadId"), query->thread_id) ||
	    !str_is(json_get_str(json_get(root, "scope"), "kind"), query->kind))
		return refuse_cursor(query->cursor, err);
	*ret = (size_t)ordinal;
	if (!json_get_bool(root, "includeAnchor", false))
		*ret += query->is_descending ? SIZE_MAX : 1;
	return 0;
}

static size_t limit_of(const struct history_page_query *query)
{
	if (!query->has_limit)
		return DEFAULT_PART;
	if (query->limit < 1)
		return 1;
	return query->limit > LARGEST_PART ? LARGEST_PART : (size_t)query->limit;
}

size_t history_page_at(const struct history_page *page, size_t n)
{
	return page->is_descending ? page->first - n : page->first + n;
}

int history_page_make(const struct history_page_query *query, struct arena *arena, struct history_page *ret,
                      struct error *err)
{
	size_t limit = limit_of(query);
	*ret = (struct history_page){.is_descending = query->is_descending};
	int status = find_first(query, arena, &ret->first, err);
	if (status != 0 || ret->first >= query->count)
		return status;
	size_t rest = query->is_descending ? ret->first + 1 : query->count - ret->first;
	ret->count = rest < limit ? rest : limit;
	ret->backwards_cursor = history_page_cursor(query->thread_id, query->kind, ret->first, true, arena);
	if (rest > limit)
		ret->next_cursor = history_page_cursor(query->thread_id, query->kind,
		                                       history_page_at(ret, ret->count - 1), false, arena);
	return 0;
}

struct str history_turns_end(struct str thread_id, size_t turns, struct arena *arena)
{
	return turns ? history_page_cursor(thread_id, HISTORY_TURNS, turns - 1, true, arena) : STR_NONE;
}

struct str history_items_end(struct str thread_id, const struct app_turn *turns, size_t count, struct arena *arena)
{
	size_t items = 0;
	for (size_t i = 0; i < count; i++)
		items += turns[i].items_count;
	return items ? history_page_cursor(thread_id, HISTORY_ITEMS, items - 1, true, arena) : STR_NONE;
}

/* Keeps the first user message and the last agent message. */
static void summarise(struct app_turn *turn, struct arena *arena)
{
	const struct app_thread_item *user = NULL, *agent = NULL;
	for (size_t i = 0; i < turn->items_count; i++) {
		const struct app_thread_item *it = &turn->items[i];
		if (it->tag == app_thread_item_user_message && !user)
			user = it;
		else if (it->tag == app_thread_item_agent_message)
			agent = it;
	}
	struct app_thread_item *items = arena_array(arena, struct app_thread_item, 2);
	turn->items_count = 0;
	if (user)
		items[turn->items_count++] = *user;
	if (agent)
		items[turn->items_count++] = *agent;
	turn->items = items;
}

static struct app_turn turn_of(struct app_turn turn, enum app_turn_items_view view, struct arena *arena)
{
	turn.items_view = view;
	if (view == app_turn_items_view_summary)
		summarise(&turn, arena);
	else if (view == app_turn_items_view_not_loaded)
		turn.items_count = 0;
	return turn;
}

int history_turns_page(const struct history_turns_query *query, struct arena *arena, struct app_turns_page *ret,
                       struct error *err)
{
	struct history_page page;
	const struct history_page_query inner = {
		.thread_id = query->thread_id,
		.cursor = query->cursor,
		.kind = HISTORY_TURNS,
		.count = query->history->count,
		.has_limit = query->has_limit,
		.limit = query->limit,
		.is_descending = !query->is_ascending,
	};
	if (history_page_make(&inner, arena, &page, err) != 0)
		return -(int)err->code;
	*ret = (struct app_turns_page){
		.data = arena_array(arena, struct app_turn, page.count),
		.data_count = page.count,
		.next_cursor = page.next_cursor,
		.backwards_cursor = page.backwards_cursor,
	};
	for (size_t i = 0; i < page.count; i++)
		ret->data[i] = turn_of(query->history->turns[history_page_at(&page, i)], query->view, arena);
	return 0;
}

/* ---- the turns as JSON text ---- */

/* A running turn is encoded twice: on the worker as it is in the file, and on the loop as it is in the loaded thread
 * when the response is sent, so that the response includes its open items. */

static void write_turn(struct buf *text, const struct app_turn *turn)
{
	struct json_writer w = json_writer(text);
	record_encode(&record_app_turn, turn, &w);
}

void history_json_write(const struct thread_history *history, struct arena *arena, struct history_json *ret)
{
	buf_init(&ret->text, LIMIT_RPC_LIST);
	ret->ends = arena_array(arena, size_t, history->count);
	ret->count = history->count;
	for (size_t i = 0; i < history->count && !ret->text.over; i++) {
		if (i)
			buf_append_char(&ret->text, ',');
		write_turn(&ret->text, &history->turns[i]);
		ret->ends[i] = ret->text.len;
	}
}

int history_json_check(const struct history_json *json, struct error *err)
{
	if (!json->text.over)
		return 0;
	return error_set(
		err, ERR_limit,
		"the turns of this thread are larger than %d MiB: leave them out of the response and read them "
		"with thread/turns/list",
		LIMIT_RPC_LIST / MIB);
}

void history_json_replace(struct history_json *json, size_t index, const struct app_turn *turn)
{
	struct buf *text = &json->text;
	if (text->over || index >= json->count)
		return;
	size_t start = index ? json->ends[index - 1] + 1 : 0, end = json->ends[index];
	struct str rest = str_skip(buf_str(text), end);
	auto_free char *later = rest.len ? str_dup(rest) : NULL;
	buf_truncate(text, start);
	write_turn(text, turn);
	buf_append(text, later, rest.len);
	for (size_t i = index; i < json->count; i++)
		json->ends[i] += text->len - rest.len - end;
}

void history_json_finish(struct history_json *json)
{
	buf_finish(&json->text);
}
