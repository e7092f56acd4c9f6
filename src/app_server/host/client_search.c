/* The worker's half (struct seeker) and the loop's half alternate: while a worker runs a slice, the loop touches only
 * the stop flag, and new queries wait for its end. */
#include "app_server/host/client_search.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"

struct seeker {
	struct client_search *owner; /* NULL after the owner was destroyed */
	struct file_search *search;
	atomic_bool stop;
	bool is_complete;
};

struct client_search {
	struct client_resource resource;
	struct connection *client;
	char *id;      /* NULL: the client chose no id */
	char *query;   /* never NULL */
	bool is_asked; /* the query has changed since the last slice */
	bool is_running, is_cut;
	struct seeker *seeker;
	client_search_progress_fn on_progress;
	void *self;
};

static void seeker_destroy(struct seeker *seeker)
{
	file_search_destroy(seeker->search);
	free(seeker);
}

static void on_work(void *self)
{
	struct seeker *seeker = self;
	seeker->is_complete = file_search_step(seeker->search, &seeker->stop);
}

static void on_slice(void *self);

static void run_on(struct client_search *search)
{
	struct seeker *seeker = search->seeker;
	if (search->is_asked)
		file_search_set_query(seeker->search, str_of(search->query));
	search->is_asked = false;
	search->is_running = true;
	atomic_store(&seeker->stop, false);
	worker_run(search->client->server->loop, on_work, on_slice, seeker);
}

static void on_slice(void *self)
{
	struct seeker *seeker = self;
	struct client_search *search = seeker->owner;
	if (!search) {
		seeker_destroy(seeker);
		return;
	}
	search->is_running = false;
	if (search->is_asked && !search->is_cut) {
		run_on(search);
		return;
	}
	bool is_complete = seeker->is_complete || search->is_cut;
	search->on_progress(search, is_complete, search->self); /* on_progress may destroy a complete search */
	if (!is_complete)
		run_on(search);
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
	search->client = client;
	search->id = id.ptr ? str_dup(id) : NULL;
	search->query = xstrdup("");
	search->on_progress = on_progress;
	search->self = self;
	search->seeker = xnew(struct seeker);
	search->seeker->owner = search;
	search->seeker->search = file_search_create(places, root_count);
	connection_add_resource(client, &search->resource, &resource_type);
	return search;
}

void client_search_destroy(struct client_search *search)
{
	if (!search)
		return;
	list_remove(&search->resource.link);
	search->seeker->owner = NULL;
	atomic_store(&search->seeker->stop, true);
	if (!search->is_running)
		seeker_destroy(search->seeker);
	free(search->id);
	free(search->query);
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
	free(search->query);
	search->query = query.ptr ? str_dup(query) : NULL;
	search->is_asked = true;
	if (search->is_running)
		atomic_store(&search->seeker->stop, true);
	else
		run_on(search);
}

void client_search_cut(struct client_search *search)
{
	search->is_cut = true;
	atomic_store(&search->seeker->stop, true);
}

struct str client_search_query(const struct client_search *search)
{
	return str_of(search->query);
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
	bool is_changed = file_search_results(search->seeker->search, &results, ret_count);
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
