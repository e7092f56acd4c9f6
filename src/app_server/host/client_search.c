/* A search is a query of the finder, which the first search makes, and its results as wire records. */
#include "app_server/host/client_search.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "workspace/file_finder.h"

struct client_search {
	struct client_resource resource;
	char *id;   /* NULL: the client chose no id */
	char *text; /* the query; NULL: the client has not asked */
	struct file_query *query;
	client_search_progress_fn on_progress;
	void *self;
};

static void on_slice(bool is_complete, void *self)
{
	struct client_search *search = self;
	search->on_progress(search, is_complete, search->self);
}

static void on_client_gone(struct client_resource *resource)
{
	client_search_destroy(list_entry(resource, struct client_search, resource));
}

static const struct client_resource_type resource_type = {.end = on_client_gone};

struct client_search *client_search_create(struct connection *client, struct str id, const struct str *roots,
                                           size_t root_count, client_search_progress_fn on_progress, void *self)
{
	auto_arena struct arena arena = {0};
	struct client_search *search = xnew(struct client_search);
	struct file_search_root *places = arena_array(&arena, struct file_search_root, root_count + 1);
	for (size_t i = 0; i < root_count; i++) {
		auto_free char *path = path_join(client->server->cwd, arena_cstr(&arena, roots[i]));
		places[i] = (struct file_search_root){roots[i], arena_cstr(&arena, str_of(path))};
	}
	if (!client->server->finder)
		client->server->finder = file_finder_create(client->server->loop);
	search->id = id.ptr ? str_dup(id) : NULL;
	search->on_progress = on_progress;
	search->self = self;
	search->query = file_query_create(client->server->finder, places, root_count, on_slice, search);
	connection_add_resource(client, &search->resource, &resource_type);
	return search;
}

void client_search_destroy(struct client_search *search)
{
	if (!search)
		return;
	list_remove(&search->resource.link);
	file_query_destroy(search->query);
	free(search->id);
	free(search->text);
	free(search);
}

struct client_search *client_search_find(struct connection *client, struct str id)
{
	struct client_resource *it;
	list_for_each(it, &client->resources, link) {
		struct client_search *search = list_entry(it, struct client_search, resource);
		if (it->type == &resource_type && search->id && str_is(id, search->id))
			return search;
	}
	return NULL;
}

size_t client_search_count(struct connection *client)
{
	return connection_count_resources(client, &resource_type);
}

struct str client_search_id(const struct client_search *search)
{
	return str_of(search->id);
}

void client_search_ask(struct client_search *search, struct str query)
{
	free(search->text);
	search->text = query.ptr ? str_dup(query) : NULL;
	file_query_ask(search->query, query);
}

void client_search_cut(struct client_search *search)
{
	file_query_cut(search->query);
}

struct str client_search_query(const struct client_search *search)
{
	return str_of(search->text);
}

void client_search_end_all(struct app_server *server)
{
	file_finder_destroy(steal(server->finder));
}

static struct str indices_json(const struct file_search_result *result, struct arena *arena)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_FUZZY_QUERY * 16);
	buf_append_char(&text, '[');
	for (size_t i = 0; i < result->index_count; i++)
		buf_printf(&text, "%s%u", i ? "," : "", result->indices[i]);
	buf_append_char(&text, ']');
	return arena_str(arena, buf_str(&text));
}

bool client_search_files(struct client_search *search, struct arena *arena, struct app_fuzzy_file_search_result **ret,
                         size_t *ret_count)
{
	const struct file_search_result *results;
	bool is_changed = file_query_results(search->query, &results, ret_count);
	struct app_fuzzy_file_search_result *files =
		arena_array(arena, struct app_fuzzy_file_search_result, *ret_count + 1);
	for (size_t i = 0; i < *ret_count; i++) {
		ptrdiff_t slash = str_rfind_char(results[i].path, '/');
		files[i] = (struct app_fuzzy_file_search_result){
			.root = results[i].root,
			.path = results[i].path,
			.match__type = results[i].is_folder ? app_fuzzy_file_search_match_type_directory
		                                            : app_fuzzy_file_search_match_type_file,
			.file__name = slash < 0 ? results[i].path : str_skip(results[i].path, (size_t)slash + 1),
			.score = results[i].score,
			.indices = indices_json(&results[i], arena),
		};
	}
	*ret = files;
	return is_changed;
}
