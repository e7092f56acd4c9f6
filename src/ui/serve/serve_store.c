/* A session that another process writes is refused here, before an engine is opened for it, so that the page can name
 * that process. */
#include "ui/serve/serve_store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "app_server/store/stored_list.h"
#include "attach/attach_find.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_path.h"

struct serve_store {
	char *home, *provider;
	struct rollout_listings *listings;
	struct rollout_index *index;
};

struct serve_store *serve_store_create(const char *home, const char *provider)
{
	struct serve_store *store = xnew(struct serve_store);
	store->home = xstrdup(home);
	store->provider = xstrdup(provider);
	store->listings = rollout_listings_create(home);
	store->index = rollout_index_create(home);
	return store;
}

void serve_store_destroy(struct serve_store *store)
{
	if (!store)
		return;
	rollout_listings_unref(store->listings);
	rollout_index_unref(store->index);
	free(store->home);
	free(store->provider);
	free(store);
}

/* ---- the list ---- */

/* The kind of the process that runs a thread; STR_NONE if none does. */
static struct str find_program(const struct attach_list *running, struct str thread_id)
{
	vec_for_each(it, &running->items) {
		if (str_eq(it->greeting.session_id, thread_id))
			return it->greeting.program;
	}
	return STR_NONE;
}

static void write_thread(struct json_writer *w, const struct app_thread *thread, struct str program)
{
	jw_object(w);
	jw_member_str(w, "id", thread->id);
	jw_member_str(w, "name", thread->name);
	jw_member_str(w, "preview", thread->preview);
	jw_member_str(w, "cwd", thread->cwd);
	jw_member_i64(w, "updated_at", thread->updated_at);
	if (program.len)
		jw_member_str(w, "process", program);
	jw_object_end(w);
}

static void write_list(struct json_writer *w, const struct stored_list *list, const struct attach_list *running)
{
	jw_object(w);
	jw_key(w, "threads");
	jw_array(w);
	for (size_t i = 0; i < list->count; i++)
		if (list->threads[i].preview.len)
			write_thread(w, &list->threads[i], find_program(running, list->threads[i].id));
	jw_array_end(w);
	jw_member_str(w, "next_cursor", list->next_cursor);
	jw_object_end(w);
}

int serve_store_list(struct serve_store *store, size_t limit, struct str cursor, const struct str *open,
                     size_t open_count, struct buf *out, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct str all_providers;
	enum app_thread_source_kind sources[] = {app_thread_source_kind_cli, app_thread_source_kind_vscode,
	                                         app_thread_source_kind_exec, app_thread_source_kind_app_server,
	                                         app_thread_source_kind_unknown};
	atomic_bool stop = false;
	struct stored_list list = {0};
	const struct app_thread_list_params params = {
		.cursor = cursor.len ? cursor : STR_NONE,
		.has_limit = true,
		.limit = (int64_t)limit,
		.has_sort_key = true,
		.sort_key = app_thread_sort_key_updated_at,
		.model_providers = &all_providers,
		.source_kinds = sources,
		.source_kinds_count = countof(sources),
		.excluded_thread_ids = (struct str *)(uintptr_t)open,
		.excluded_thread_ids_count = open_count,
	};
	const struct stored_list_query query = {
		.home = store->home,
		.provider = store->provider,
		.listings = store->listings,
		.index = store->index,
		.params = &params,
		.stop = &stop,
	};
	int status = stored_list_read(&query, &arena, &list, err);
	if (status != 0)
		return status;
	struct attach_list running = {0};
	attach_list_read(store->home, &running);
	struct json_writer w = json_writer(out);
	write_list(&w, &list, &running);
	attach_list_finish(&running);
	return 0;
}

/* ---- one session ---- */

char *serve_store_find_attachable(struct serve_store *store, struct str id)
{
	auto_free char *path = uuid_is_valid(id) ? attach_path(store->home, id) : NULL;
	return path && access(path, F_OK) == 0 ? xasprintf("unix://%s", path) : NULL;
}

static int check_free(const struct serve_store *store, const char *path, struct error *err)
{
	struct rollout_file_name name;
	const char *slash = strrchr(path, '/');
	long pid;
	if (!rollout_path_parse(str_of(slash ? slash + 1 : path), &name))
		return 0;
	auto_free char *lock = xasprintf("%s/thread-writer-locks/%.*s.lock", store->home, STR_ARG(name.thread_id));
	if (!rollout_lock_find_holder(lock, &pid))
		return 0;
	if (pid == getpid())
		return error_set(err, ERR_busy, "the session is open already");
	return error_set(err, ERR_busy, "the session is open in process %ld; close it there first", pid);
}

char *serve_store_find(struct serve_store *store, struct str id_or_name, struct error *err)
{
	auto_free char *path = uuid_is_valid(id_or_name) ? rollout_list_find_id(store->home, id_or_name, err)
	                                                 : rollout_list_find_name(store->home, id_or_name, err);
	if (!path || check_free(store, path, err) != 0)
		return NULL;
	return steal(path);
}
