/* The watched folder is the path itself, its parent, or, while that does not exist, the deepest existing ancestor.
 * `next` is the name below it to watch: the last component of the path, or the first missing one. When that appears,
 * a worker examines the path again and the watch moves down. */
#include "app_server/host/fs_watch.h"

#include <errno.h>
#include <sys/stat.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/watch.h"
#include "loop/loop.h"

/* The result of examining the path on a worker; it may outlive its watch. */
struct place {
	struct fs_watch *owner; /* NULL after the watch was destroyed */
	char *wanted;           /* the path as the client gave it */
	char *folder;           /* the existing folder to watch */
	char *path;             /* wanted, with links resolved in the part that exists */
	char *next;             /* the name to watch in folder; NULL: all names */
	bool is_there;
};

struct fs_watch {
	struct client_resource resource;
	struct connection *client;
	char *id;
	struct place *place, *looking; /* the current place; and the one being examined, or NULL */
	bool looks_again;
	struct watch *watch;
	struct loop_timer *timer;   /* runs while changes are collected */
	VEC(char *) changed;        /* names that changed in the folder */
	bool is_overfull;           /* there are too many names: report the path instead */
	fs_watch_ready_fn on_ready; /* NULL after the watch is ready */
	void *self;
};

static void place_destroy(struct place *place)
{
	if (!place)
		return;
	free(place->wanted);
	free(place->folder);
	free(place->path);
	free(place->next);
	free(place);
}

/* ---- on a worker ---- */

/* Returns the deepest existing folder above the path, with links resolved; *ret_rest is the remaining part of the
 * path. */
static char *find_above(const char *path, const char **ret_rest)
{
	auto_free char *at = xstrdup(path);
	for (;;) {
		size_t len = path_dir(at).len;
		char *above = str_dup(path_dir(at));
		free(at);
		at = above;
		char *real = realpath(at, NULL);
		*ret_rest = path + (len == 1 ? 1 : len + 1);
		if (real || len <= 1)
			return real ? real : xstrdup("/");
	}
}

static void look(void *self)
{
	struct place *place = self;
	struct stat st;
	const char *rest;
	char *real = realpath(place->wanted, NULL);
	place->is_there = real != NULL;
	if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode)) {
		place->folder = xstrdup(real);
		place->path = real;
		return;
	}
	const char *named = real ? real : place->wanted;
	place->folder = find_above(named, &rest);
	place->path = real ? xstrdup(real) : path_join(place->folder, rest);
	place->next = xstrndup(rest, strcspn(rest, "/"));
	free(real);
}

/* ---- changes ---- */

static void forget_changes(struct fs_watch *watch)
{
	vec_for_each(name, &watch->changed)
		free(*name);
	watch->changed.count = 0;
	watch->is_overfull = false;
}

static void on_held(void *self)
{
	struct fs_watch *watch = self;
	auto_arena struct arena arena = {0};
	size_t count = watch->is_overfull ? 1 : watch->changed.count;
	struct str *paths = arena_array(&arena, struct str, count + 1);
	paths[0] = str_of(watch->place->path);
	for (size_t i = 0; i < count && !watch->is_overfull; i++) {
		if (watch->changed.items[i][0])
			paths[i] = str_of(arena_printf(&arena, "%s/%s",
			                               strcmp(watch->place->path, "/") == 0 ? "" : watch->place->path,
			                               watch->changed.items[i]));
		else
			paths[i] = str_of(watch->place->path);
	}
	struct app_fs_changed_notification changed = {str_of(watch->id), paths, count};
	connection_notify(watch->client, NOTIFY_fs_changed, &changed);
	forget_changes(watch);
}

/* Collects a change. name is an entry of the watched folder; "" means the path itself. */
static void gather(struct fs_watch *watch, const char *name)
{
	if (!loop_timer_is_active(watch->timer))
		loop_timer_start(watch->timer, LIMIT_WATCH_HOLD_MS);
	vec_for_each(known, &watch->changed) {
		if (strcmp(*known, name) == 0)
			return;
	}
	if (watch->changed.count == LIMIT_WATCH_PATHS)
		watch->is_overfull = true;
	else
		vec_push(&watch->changed, xstrdup(name));
}

static void look_again(struct fs_watch *watch);

static bool is_direct(const struct place *place)
{
	return !place->next || strcmp(path_name(place->path).ptr, place->next) == 0;
}

static void on_change(const char *name, void *self)
{
	struct fs_watch *watch = self;
	const struct place *place = watch->place;
	bool is_whole = !place->next;
	if (!is_whole && name && strcmp(name, place->next) != 0)
		return;
	if (is_whole && name && strcmp(name, path_name(place->folder).ptr) != 0) {
		gather(watch, name);
		return;
	}
	if (is_direct(place))
		gather(watch, "");
	look_again(watch); /* the path may have been replaced, removed or created */
}

/* ---- changing the watched folder ---- */

static void report_ready(struct fs_watch *watch, const struct error *err)
{
	fs_watch_ready_fn on_ready = steal(watch->on_ready);
	void *self = watch->self;
	if (on_ready)
		on_ready(str_of(watch->place->path), err, self);
	if (on_ready && err)
		fs_watch_destroy(watch);
}

/* True if one watch serves both. */
static bool is_same_place(const struct place *a, const struct place *b)
{
	return a && strcmp(a->folder, b->folder) == 0 && !a->next == !b->next && strcmp(a->path, b->path) == 0;
}

static void move_to(struct fs_watch *watch, struct place *place)
{
	struct error err;
	bool has_come = watch->place && !watch->place->is_there && place->is_there;
	bool stays = is_same_place(watch->place, place) && watch->watch;
	place_destroy(watch->place);
	watch->place = place;
	if (has_come)
		gather(watch, "");
	if (stays)
		return;
	watch_destroy(steal(watch->watch));
	watch->watch = watch_create(watch->client->server->loop, place->folder, on_change, watch, &err);
	if (watch->watch)
		look_again(watch); /* changes between the examination and the watch were not reported */
	report_ready(watch, watch->watch ? NULL : &err);
}

static void on_looked(void *self)
{
	struct place *place = self;
	struct fs_watch *watch = place->owner;
	if (!watch) {
		place_destroy(place);
		return;
	}
	bool looks_again = watch->looks_again;
	watch->looking = NULL;
	watch->looks_again = false;
	if (looks_again) {
		place_destroy(place);
		look_again(watch);
		return;
	}
	move_to(watch, place);
}

static void look_again(struct fs_watch *watch)
{
	if (watch->looking) {
		watch->looks_again = true;
		return;
	}
	struct place *place = xnew(struct place);
	place->owner = watch;
	place->wanted = xstrdup(watch->place->wanted);
	watch->looking = place;
	worker_run(watch->client->server->loop, look, on_looked, place);
}

/* ---- life ---- */

static void on_client_gone(struct client_resource *resource)
{
	fs_watch_destroy(list_entry(resource, struct fs_watch, resource));
}

static const struct client_resource_type resource_type = {.end = on_client_gone};

struct fs_watch *fs_watch_create(struct connection *client, struct str id, struct str path, fs_watch_ready_fn on_ready,
                                 void *self)
{
	struct fs_watch *watch = xnew(struct fs_watch);
	struct loop *loop = client->server->loop;
	auto_free char *text = str_dup(path);
	watch->client = client;
	watch->id = str_dup(id);
	watch->timer = loop_timer_create(loop, on_held, watch);
	watch->on_ready = on_ready;
	watch->self = self;
	connection_add_resource(client, &watch->resource, &resource_type);
	struct place *place = xnew(struct place);
	place->owner = watch;
	place->wanted = path_normalize(text);
	watch->looking = place;
	worker_run(loop, look, on_looked, place);
	return watch;
}

void fs_watch_destroy(struct fs_watch *watch)
{
	if (!watch)
		return;
	list_remove(&watch->resource.link);
	if (watch->looking)
		watch->looking->owner = NULL;
	place_destroy(watch->place);
	watch_destroy(watch->watch);
	loop_timer_destroy(watch->timer);
	forget_changes(watch);
	vec_finish(&watch->changed);
	free(watch->id);
	free(watch);
}

struct fs_watch *fs_watch_find(struct connection *client, struct str id)
{
	struct client_resource *it;
	list_for_each(it, &client->resources, link) {
		struct fs_watch *watch = list_entry(it, struct fs_watch, resource);
		if (it->type == &resource_type && str_is(id, watch->id))
			return watch;
	}
	return NULL;
}

bool fs_watch_is_full(struct connection *client)
{
	return connection_count_resources(client, &resource_type) >= LIMIT_CLIENT_WATCHES;
}
