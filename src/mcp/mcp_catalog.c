/* A page is copied into the catalog's arena before it is parsed, so that the tools are slices of the copy. `order` has
 * the indexes of the tools by name: a page is sorted and merged into it, so that names that a server chooses cost no
 * more than others. */
#include "mcp/mcp_catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

struct mcp_catalog *mcp_catalog_ref(struct mcp_catalog *catalog)
{
	catalog->refs++;
	return catalog;
}

void mcp_catalog_unref(struct mcp_catalog *catalog)
{
	if (!catalog || --catalog->refs)
		return;
	vec_finish(&catalog->tools);
	vec_finish(&catalog->order);
	arena_finish(&catalog->arena);
	free(catalog);
}

const struct mcp_tool *mcp_catalog_find(const struct mcp_catalog *catalog, struct str name)
{
	size_t low = 0, high = catalog->order.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mcp_tool *tool = &catalog->tools.items[catalog->order.items[middle]];
		int order = str_compare(name, tool->name);
		if (!order)
			return tool;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* ---- the head ---- */

static struct str copy_span(struct mcp_catalog *catalog, const struct json *json, const char *key)
{
	const struct json *member = json_get(json, key);
	return member && member->type == JSON_object ? arena_str(&catalog->arena, member->span) : STR_NONE;
}

struct mcp_catalog *mcp_catalog_create(const struct json *result, struct error *err)
{
	struct str version = json_get_str(result, "protocolVersion");
	const struct json *capabilities = json_get(result, "capabilities");
	if (!version.len || version.len > LIMIT_TOOL_NAME || !json_is(capabilities, JSON_object)) {
		error_set(err, ERR_invalid, "the answer to initialize lacks protocolVersion or capabilities");
		return NULL;
	}
	struct mcp_catalog *catalog = xnew(struct mcp_catalog);
	catalog->refs = 1;
	catalog->version = arena_str(&catalog->arena, version);
	catalog->info = copy_span(catalog, result, "serverInfo");
	catalog->capabilities = copy_span(catalog, result, "capabilities");
	catalog->instructions = arena_str(&catalog->arena, json_get_str(result, "instructions"));
	catalog->has_tools = json_is(json_get(capabilities, "tools"), JSON_object);
	catalog->has_resources = json_is(json_get(capabilities, "resources"), JSON_object);
	return catalog;
}

struct mcp_catalog *mcp_catalog_copy_head(const struct mcp_catalog *from)
{
	struct mcp_catalog *catalog = xnew(struct mcp_catalog);
	catalog->refs = 1;
	catalog->version = arena_str(&catalog->arena, from->version);
	catalog->info = arena_str(&catalog->arena, from->info);
	catalog->capabilities = arena_str(&catalog->arena, from->capabilities);
	catalog->instructions = arena_str(&catalog->arena, from->instructions);
	catalog->has_tools = from->has_tools;
	catalog->has_resources = from->has_resources;
	return catalog;
}

/* ---- tools ---- */

/* A tool of a page that the catalog does not have yet. */
struct candidate {
	const struct json *json;
	struct str name;
	size_t index; /* in the page, then in the catalog */
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = str_compare(x->name, y->name);
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Fills ret with the tools that have a usable, new name, sorted by it; the first one of a name counts. */
static size_t find_new(const struct mcp_catalog *catalog, const struct json *page, struct candidate *ret)
{
	size_t count = 0, kept = 0, index = 0;
	json_for_each(it, page) {
		struct str name = json_get_str(it, "name");
		if (name.len && !str_has_nul(name) && !mcp_catalog_find(catalog, name))
			ret[count++] = (struct candidate){it, name, index};
		index++;
	}
	if (count)
		qsort(ret, count, sizeof(*ret), compare_candidates);
	for (size_t i = 0; i < count; i++) {
		if (!i || !str_eq(ret[i].name, ret[i - 1].name))
			ret[kept++] = ret[i];
	}
	return kept;
}

static struct mcp_tool read_tool(const struct json *json)
{
	const struct json *schema = json_get(json, "inputSchema"), *hints = json_get(json, "annotations");
	return (struct mcp_tool){
		.name = json_get_str(json, "name"),
		.title = json_get_str(json, "title"),
		.description = json_get_str(json, "description"),
		.schema = json_is(schema, JSON_object) ? schema : NULL,
		.json = json->span,
		.annotations = json_is(hints, JSON_object) ? hints->span : STR_NONE,
		.is_read_only = json_get_bool(hints, "readOnlyHint", false),
		.is_destructive = json_get_bool(hints, "destructiveHint", true),
		.is_open_world = json_get_bool(hints, "openWorldHint", true),
	};
}

/* Adds the tools in the order of the page, and sets their indexes. place: by index in the page, or NULL. */
static void add_tools(struct mcp_catalog *catalog, struct candidate *const *place, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!place[i])
			continue;
		place[i]->index = catalog->tools.count;
		if (catalog->tools.count < LIMIT_MCP_TOOLS)
			vec_push(&catalog->tools, read_tool(place[i]->json));
		else
			catalog->omitted++;
	}
}

/* Merges the added tools, which are sorted by name, into the order; those that were left out are not in it. */
static void merge(struct mcp_catalog *catalog, struct candidate *added, size_t count)
{
	size_t left = 0, old = catalog->order.count;
	for (size_t i = 0; i < count; i++) {
		if (added[i].index < LIMIT_MCP_TOOLS)
			added[left++] = added[i];
	}
	while (catalog->order.count < old + left)
		vec_push(&catalog->order, 0);
	uint32_t *order = catalog->order.items;
	for (size_t at = old + left; left; at--) {
		bool is_old = old && str_compare(catalog->tools.items[order[old - 1]].name, added[left - 1].name) > 0;
		order[at - 1] = is_old ? order[--old] : (uint32_t)added[--left].index;
	}
}

static void add_page(struct mcp_catalog *catalog, const struct json *page)
{
	auto_arena struct arena arena = {0};
	struct candidate *added = arena_array(&arena, struct candidate, page->count);
	struct candidate **place = arena_array(&arena, struct candidate *, page->count);
	size_t count = find_new(catalog, page, added);
	for (size_t i = 0; i < count; i++)
		place[added[i].index] = &added[i];
	add_tools(catalog, place, page->count);
	merge(catalog, added, count);
}

int mcp_catalog_add_page(struct mcp_catalog *catalog, const struct json *result, struct error *err)
{
	const struct json *tools = json_get(result, "tools");
	if (!json_is(tools, JSON_array))
		return error_set(err, ERR_invalid, "the answer to tools/list lacks tools");
	if (tools->span.len > LIMIT_MCP_LIST - catalog->bytes)
		return error_set(err, ERR_limit, "the server's tools have more than %d MiB", LIMIT_MCP_LIST / MIB);
	catalog->bytes += tools->span.len;
	const struct json *copy = json_parse_copy(&catalog->arena, tools->span, err);
	if (!copy)
		return -(int)err->code;
	add_page(catalog, copy);
	return 0;
}
