/* The names are made in three steps: replace characters, separate equal names, shorten long ones. */
#include "tool/mcp/mcp_offer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/sha.h"
#include "base/text.h"
#include "base/vec.h"
#include "config/mcp_server.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "tool/mcp/mcp_schema.h"

enum { HASH_DIGITS = 12, TAIL = 1 + HASH_DIGITS };

struct offer_group {
	struct str namespace;
	struct mcp_client *client;
	struct mcp_catalog *catalog;
};

struct mcp_offer {
	struct arena arena;
	VEC(struct mcp_offered) tools;
	struct offer_group *groups;
	size_t group_count;
	struct mcp_offer_source *sources; /* borrow the references of the groups */
};

/* ---- names ---- */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static struct str plain_name(struct arena *arena, const char *prefix, struct str name)
{
	size_t len = strlen(prefix);
	char *text = arena_alloc(arena, len + name.len + 1);
	memcpy(text, prefix, len);
	while (name.len) {
		size_t step = text_utf8_len(name);
		text[len++] = is_plain(name.ptr[0]) ? name.ptr[0] : '_';
		name = str_skip(name, step ? step : 1);
	}
	return str_n(text, len);
}

/* Returns at most max bytes that end in a hash of the original name. */
static struct str hashed_name(struct arena *arena, struct str plain, struct str original, size_t max)
{
	uint8_t hash[SHA256_SIZE];
	size_t keep = plain.len + TAIL > max ? max - TAIL : plain.len;
	char *text = arena_alloc(arena, keep + TAIL + 1);
	sha256(original, hash);
	memcpy(text, plain.ptr, keep);
	text[keep] = '_';
	for (size_t i = 0; i < HASH_DIGITS / 2; i++)
		snprintf(text + keep + 1 + 2 * i, 3, "%02x", hash[i]);
	return str_n(text, keep + TAIL);
}

/* True for a name of the form that hashed_name returns. A server could otherwise name a tool like another one's result.
 */
static bool is_like_hashed(struct str name)
{
	if (name.len < TAIL || name.ptr[name.len - TAIL] != '_')
		return false;
	for (size_t i = name.len - HASH_DIGITS; i < name.len; i++) {
		if (str_hex_digit(name.ptr[i]) < 0)
			return false;
	}
	return true;
}

struct named {
	struct str original, name;
};

static int compare_named(const void *a, const void *b)
{
	return str_compare(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Makes the names different and at most max bytes long; sorts them. */
static void separate(struct arena *arena, struct named *names, size_t count, size_t max)
{
	if (!count)
		return;
	bool *is_twin = arena_array(arena, bool, count);
	qsort(names, count, sizeof(*names), compare_named);
	for (size_t i = 1; i < count; i++) {
		if (str_eq(names[i].name, names[i - 1].name))
			is_twin[i] = is_twin[i - 1] = true;
	}
	for (size_t i = 0; i < count; i++) {
		if (is_twin[i] || names[i].name.len > max || is_like_hashed(names[i].name))
			names[i].name = hashed_name(arena, names[i].name, names[i].original, max);
	}
	qsort(names, count, sizeof(*names), compare_named);
}

/* ---- the offer ---- */

static bool has_word(const struct config_strings *list, struct str word)
{
	for (size_t i = 0; i < list->count; i++) {
		if (str_eq(list->items[i], word))
			return true;
	}
	return false;
}

static bool is_allowed(const struct config_mcp_server *keys, struct str tool)
{
	return (!keys->is_set.enabled_tools || has_word(&keys->enabled_tools, tool)) &&
	       !has_word(&keys->disabled_tools, tool);
}

static void add_server(struct mcp_offer *offer, const struct mcp_offer_source *source, struct str namespace)
{
	struct arena *arena = &offer->arena;
	size_t count = 0;
	struct named *names = arena_array(arena, struct named, source->catalog->tools.count);
	vec_for_each(tool, &source->catalog->tools) {
		if (is_allowed(&source->server->keys, tool->name))
			names[count++] = (struct named){tool->name, plain_name(arena, "", tool->name)};
	}
	separate(arena, names, count, LIMIT_TOOL_NAME - 2 - namespace.len);
	for (size_t i = 0; i < count; i++) {
		if (i && str_eq(names[i].name, names[i - 1].name)) /* the short hashes are equal, too */
			continue;
		struct mcp_offered offered = {
			.namespace = namespace,
			.name = names[i].name,
			.tool = mcp_catalog_find(source->catalog, names[i].original),
			.server = source->server,
			.client = source->client,
		};
		vec_push(&offer->tools, offered);
	}
	offer->groups[offer->group_count++] = (struct offer_group){
		.namespace = namespace,
		.client = mcp_client_ref(source->client),
		.catalog = mcp_catalog_ref(source->catalog),
	};
}

struct mcp_offer *mcp_offer_create(const struct mcp_offer_source *sources, size_t count)
{
	struct mcp_offer *offer = xnew(struct mcp_offer);
	struct named *names = arena_array(&offer->arena, struct named, count);
	offer->groups = arena_array(&offer->arena, struct offer_group, count);
	offer->sources = arena_array(&offer->arena, struct mcp_offer_source, count);
	for (size_t i = 0; i < count; i++) {
		struct str name = sources[i].server->name;
		offer->sources[i] = sources[i];
		names[i] = (struct named){name, plain_name(&offer->arena, "mcp__", name)};
	}
	separate(&offer->arena, names, count, LIMIT_TOOL_NAMESPACE);
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;
		while (!str_eq(sources[at].server->name, names[i].original))
			at++;
		add_server(offer, &sources[at], names[i].name);
	}
	return offer;
}

void mcp_offer_destroy(struct mcp_offer *offer)
{
	if (!offer)
		return;
	for (size_t i = 0; i < offer->group_count; i++) {
		mcp_client_unref(offer->groups[i].client);
		mcp_catalog_unref(offer->groups[i].catalog);
	}
	vec_finish(&offer->tools);
	arena_finish(&offer->arena);
	free(offer);
}

const struct mcp_offered *mcp_offer_find(const struct mcp_offer *offer, struct str namespace, struct str name)
{
	for (size_t i = 0; offer && i < offer->tools.count; i++) {
		const struct mcp_offered *it = &offer->tools.items[i];
		if (str_eq(it->name, name) && str_eq(it->namespace, namespace))
			return it;
	}
	return NULL;
}

const struct mcp_offered *mcp_offer_tools(const struct mcp_offer *offer, size_t *ret_count)
{
	*ret_count = offer->tools.count;
	return offer->tools.items;
}

const struct mcp_offer_source *mcp_offer_sources(const struct mcp_offer *offer, size_t *ret_count)
{
	*ret_count = offer ? offer->group_count : 0;
	return offer ? offer->sources : NULL;
}

/* ---- descriptions for the model ---- */

static void write_tool(const struct mcp_offered *offered, bool is_found, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "function");
	jw_member_str(w, "name", offered->name);
	jw_member_str(w, "description", offered->tool->description.ptr ? offered->tool->description : STR(""));
	jw_member_bool(w, "strict", false);
	jw_key(w, "parameters");
	mcp_schema_write(offered->tool->schema, (size_t)offered->server->keys.tool_input_schema_max_bytes, w);
	if (is_found)
		jw_member_bool(w, "defer_loading", true);
	jw_object_end(w);
}

static struct str instructions_of(const struct mcp_offer *offer, struct str namespace)
{
	for (size_t i = 0; i < offer->group_count; i++) {
		if (str_eq(offer->groups[i].namespace, namespace))
			return offer->groups[i].catalog->instructions;
	}
	return STR_NONE;
}

static void begin_group(const struct mcp_offer *offer, struct str namespace, struct json_writer *w)
{
	struct str instructions = instructions_of(offer, namespace);
	jw_object(w);
	jw_member_cstr(w, "type", "namespace");
	jw_member_str(w, "name", namespace);
	jw_key(w, "description");
	if (instructions.len)
		jw_str(w, instructions);
	else
		jw_strf(w, "Tools in the %.*s namespace.", STR_ARG(namespace));
	jw_key(w, "tools");
	jw_array(w);
}

/* Writes the tools of a namespace as long as they fit into `room`; false if not even the description does. */
static bool write_fitting(const struct mcp_offer *offer, size_t from, size_t to, size_t room, size_t *ret_written,
                          struct buf *out)
{
	auto_buf struct buf tool = {0};
	struct json_writer w = json_writer(out);
	buf_init(out, LIMIT_TOOLS_JSON);
	begin_group(offer, offer->tools.items[from].namespace, &w);
	for (*ret_written = 0; from < to; from++, ++*ret_written) {
		buf_init(&tool, LIMIT_MCP_LIST);
		struct json_writer own = json_writer(&tool);
		write_tool(&offer->tools.items[from], false, &own);
		if (tool.over || out->len + tool.len + 8 > room)
			break;
		jw_raw(&w, buf_str(&tool));
		buf_finish(&tool);
	}
	jw_array_end(&w);
	jw_object_end(&w);
	return *ret_written > 0 && !out->over;
}

size_t mcp_offer_write(const struct mcp_offer *offer, struct json_writer *w)
{
	size_t room = LIMIT_MCP_OFFER, omitted = 0, written;
	for (size_t from = 0, to; offer && from < offer->tools.count; from = to) {
		auto_buf struct buf group = {0};
		struct str namespace = offer->tools.items[from].namespace;
		for (to = from; to < offer->tools.count && str_eq(offer->tools.items[to].namespace, namespace);)
			to++;
		bool fits = write_fitting(offer, from, to, room, &written, &group);
		omitted += to - from - (fits ? written : 0);
		if (!fits)
			continue;
		jw_raw(w, buf_str(&group));
		room -= group.len < room ? group.len : room;
	}
	return omitted;
}

static bool is_first_of_namespace(const struct mcp_offer *offer, const size_t *tools, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		if (str_eq(offer->tools.items[tools[i]].namespace, offer->tools.items[tools[at]].namespace))
			return false;
	}
	return true;
}

void mcp_offer_write_found(const struct mcp_offer *offer, const size_t *tools, size_t count, struct json_writer *w)
{
	for (size_t i = 0; i < count; i++) {
		struct str namespace = offer->tools.items[tools[i]].namespace;
		if (!is_first_of_namespace(offer, tools, i))
			continue;
		begin_group(offer, namespace, w);
		for (size_t n = i; n < count; n++) {
			if (str_eq(offer->tools.items[tools[n]].namespace, namespace))
				write_tool(&offer->tools.items[tools[n]], true, w);
		}
		jw_array_end(w);
		jw_object_end(w);
	}
}
