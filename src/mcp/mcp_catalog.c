/* A page is copied into the catalog's arena before it is parsed, so that the tools are slices of the copy. */
#include "mcp/mcp_catalog.h"

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
	arena_finish(&catalog->arena);
	free(catalog);
}

const struct mcp_tool *mcp_catalog_find(const struct mcp_catalog *catalog, struct str name)
{
	vec_for_each(it, &catalog->tools) {
		if (str_eq(it->name, name))
			return it;
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

static void add_tool(struct mcp_catalog *catalog, const struct json *json)
{
	struct str name = json_get_str(json, "name");
	const struct json *schema = json_get(json, "inputSchema"), *hints = json_get(json, "annotations");
	if (!name.len || str_has_nul(name) || mcp_catalog_find(catalog, name))
		return;
	if (catalog->tools.count == LIMIT_MCP_TOOLS) {
		catalog->omitted++;
		return;
	}
	struct mcp_tool tool = {
		.name = name,
		.title = json_get_str(json, "title"),
		.description = json_get_str(json, "description"),
		.schema = json_is(schema, JSON_object) ? schema : NULL,
		.json = json->span,
		.annotations = json_is(hints, JSON_object) ? hints->span : STR_NONE,
		.is_read_only = json_get_bool(hints, "readOnlyHint", false),
		.is_destructive = json_get_bool(hints, "destructiveHint", true),
		.is_open_world = json_get_bool(hints, "openWorldHint", true),
	};
	vec_push(&catalog->tools, tool);
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
	json_for_each(it, copy)
		add_tool(catalog, it);
	return 0;
}
