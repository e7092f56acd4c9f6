/* The new text is checked by loading the whole configuration with it, which is the only check that finds every error
 * of a next start. A worker writes the file; if the client disconnects meanwhile, the file is written all the same.
 *
 * Other processes change the file as well. The worker holds a lock while it compares the file with what was read for
 * the edit and replaces it; if they differ, the request's handler runs again with the file as it is now, even for a
 * client that has left. The folder is locked, because each change replaces the file. */
#include "app_server/settings/config_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/settings/process_settings.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_file.h"
#include "config/toml/toml_edit.h"
#include "config/toml/toml_text.h"
#include "loop/loop.h"

struct changed_path {
	struct str keys[LIMIT_TOML_DEPTH];
	size_t count;
};

struct config_write {
	struct settings_job job;
	struct rpc_request *request; /* NULL after its client has disconnected; then orphan is set */
	struct rpc_request *orphan;  /* an owned copy without a connection */
	struct arena arena;
	struct toml_edit edit;
	struct buf before; /* the content of the file when it was read */
	bool is_stale;     /* the file has changed since it was read */
	char *path;        /* the path shown to clients */
	char *target;      /* with links resolved */
	mode_t mode;
	VEC(struct changed_path *) paths;
	struct config *config; /* the configuration with the changes */
	config_write_reply_fn reply;
	struct str subject;
	struct error err;
	const char *code; /* error code for clients; NULL: an internal error */
};

/* ---- requests of clients that have left ---- */

static struct rpc_request *orphan_create(const struct rpc_request *request)
{
	struct arena arena = {0};
	struct rpc_request *orphan = arena_new(&arena, struct rpc_request);
	const struct record *record = request->method->params;
	orphan->server = request->server;
	orphan->method = request->method;
	orphan->params = arena_alloc(&arena, record->size);
	record_copy(record, request->params, &arena, orphan->params);
	orphan->arena = arena;
	return orphan;
}

static void orphan_destroy(struct rpc_request *orphan)
{
	if (!orphan)
		return;
	struct arena arena = orphan->arena;
	arena_finish(&arena);
}

/* ---- begin and end ---- */

static void destroy(struct config_write *write)
{
	settings_job_finish(&write->job);
	orphan_destroy(write->orphan);
	toml_edit_finish(&write->edit);
	buf_finish(&write->before);
	vec_finish(&write->paths);
	config_unref(write->config);
	arena_finish(&write->arena);
	free(write->path);
	free(write->target);
	free(write);
}

struct config_write *config_write_create(struct rpc_request *request)
{
	struct config_write *write = xnew(struct config_write);
	settings_job_init(&write->job, request->server);
	write->request = request->connection ? request : NULL;
	write->orphan = request->connection ? NULL : request;
	write->path = path_join(config_home(request->server->config), "config.toml");
	write->target = realpath(write->path, NULL);
	if (!write->target)
		write->target = xstrdup(write->path);
	write->mode = 0600;
	buf_init(&write->before, LIMIT_CONFIG_FILE);
	return write;
}

int config_write_fail(struct config_write *write, const char *code, const char *format, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	write->code = code;
	return error_set(&write->err, ERR_config, "%s", text);
}

static int fail_invalid(struct config_write *write)
{
	write->code = "configValidationError";
	return -(int)write->err.code;
}

const struct toml *config_write_root(const struct config_write *write)
{
	return write->edit.root;
}

void config_write_name(struct config_write *write, struct str subject)
{
	write->subject = subject;
}

struct str config_write_subject(const struct config_write *write)
{
	return write->subject;
}

/* ---- the file ---- */

static bool is_user_file(const struct config_write *write, struct str file)
{
	auto_free char *text = str_dup(file);
	if (!file.ptr)
		return true;
	if (text[0] != '/' || strlen(text) != file.len)
		return false;
	auto_free char *normal = path_normalize(text);
	auto_free char *own = path_normalize(write->path);
	return strcmp(normal, own) == 0 || strcmp(normal, write->target) == 0;
}

static int read_file(struct config_write *write)
{
	struct error failure = {0};
	struct stat info;
	if (file_read_regular(write->target, &write->before, &failure) != 0 && failure.code != ERR_not_found)
		return error_set(&write->err, ERR_internal, "failed to load configuration: %s", failure.text);
	if (stat(write->target, &info) == 0)
		write->mode = info.st_mode & 0777;
	if (toml_edit_init(&write->edit, buf_str(&write->before), write->path, &write->err) == 0)
		return 0;
	error_wrap(&write->err, "failed to load configuration");
	return -ERR_config;
}

int config_write_open(struct config_write *write, struct str file, struct str version)
{
	if (!is_user_file(write, file))
		return config_write_fail(write, "configLayerReadonly", "Only writes to the user config are allowed");
	if (read_file(write) != 0)
		return -ERR_config;
	if (!version.ptr || str_eq(version, config_version(write->edit.root, &write->arena)))
		return 0;
	return config_write_fail(write, "configVersionConflict",
	                         "Configuration was modified since last read. Fetch latest version and retry.");
}

/* ---- the changes ---- */

static int add_key(struct config_write *write, struct changed_path *path, struct str key)
{
	if (key.len == 0)
		return config_write_fail(write, "configValidationError", "keyPath segments must not be empty");
	if (path->count == countof(path->keys))
		return config_write_fail(write, "configValidationError", "keyPath has more than %d segments",
		                         LIMIT_TOML_DEPTH);
	path->keys[path->count++] = key;
	return 0;
}

/* Splits a TOML key path. A text that is not valid is split at its dots, so that projects./home/me.trust_level
 * works. */
static int split_key_path(struct config_write *write, struct str text, struct changed_path *path)
{
	struct toml *leaf = toml_new(&write->arena, TOML_bool, "keyPath", 1);
	struct str rest = text, part;
	if (text.len == 0)
		return config_write_fail(write, "configValidationError", "keyPath must not be empty");
	const struct toml *root = toml_parse_key(&write->arena, text, leaf, NULL);
	for (const struct toml *it = root ? root->child : NULL; it; it = it == leaf ? NULL : it->child) {
		if (add_key(write, path, it->key) != 0)
			return -ERR_config;
	}
	while (!root && str_next_part(&rest, '.', &part)) {
		if (add_key(write, path, part) != 0)
			return -ERR_config;
	}
	return 0;
}

static bool has_null(const struct json *json)
{
	if (json->type == JSON_null)
		return true;
	json_for_each(it, json) {
		if (has_null(it))
			return true;
	}
	return false;
}

/* Parses the value as the member of an object, because only objects become trees. */
static int read_value(struct config_write *write, struct str value, const struct toml **ret)
{
	const char *text = arena_printf(&write->arena, "{\"value\":%.*s}", (int)value.len, value.ptr);
	const struct json *json = json_parse(&write->arena, str_of(text), &write->err);
	*ret = NULL;
	if (!json)
		return fail_invalid(write);
	if (json->child->type == JSON_null)
		return 0;
	if (has_null(json->child))
		return config_write_fail(write, "configValidationError",
		                         "invalid value: invalid type: null, expected any valid TOML value");
	const struct toml *root = toml_from_json(&write->arena, json, "value", &write->err);
	if (!root)
		return fail_invalid(write);
	*ret = root->child;
	return 0;
}

int config_write_edit(struct config_write *write, struct str key_path, struct str value, bool is_merge)
{
	struct changed_path *path = arena_new(&write->arena, struct changed_path);
	const struct toml *node;
	if (split_key_path(write, key_path, path) != 0 || read_value(write, value, &node) != 0)
		return -ERR_config;
	vec_push(&write->paths, path);
	int status = !node      ? toml_edit_remove(&write->edit, path->keys, path->count, &write->err)
	             : is_merge ? toml_edit_merge(&write->edit, path->keys, path->count, node, &write->err)
	                        : toml_edit_set(&write->edit, path->keys, path->count, node, &write->err);
	return status == 0 ? 0 : fail_invalid(write);
}

int config_write_set(struct config_write *write, const struct str *path, size_t count, const struct toml *value)
{
	int status = value ? toml_edit_set(&write->edit, path, count, value, &write->err)
	                   : toml_edit_remove(&write->edit, path, count, &write->err);
	return status == 0 ? 0 : fail_invalid(write);
}

/* ---- the end ---- */

static const struct rpc_error *error_of(const struct config_write *write, struct arena *arena)
{
	if (!write->code)
		return rpc_error(arena, APP_INTERNAL_ERROR, "%s", write->err.text);
	const char *data = arena_printf(arena, "{\"config_write_error_code\":\"%s\"}", write->code);
	return rpc_error_data(arena, APP_INVALID_REQUEST, str_of(data), "%s", write->err.text);
}

enum rpc_verdict config_write_refuse(struct config_write *write)
{
	struct rpc_request *request = write->request;
	if (request)
		rpc_refuse(request, error_of(write, &request->arena));
	else
		fprintf(stderr, "codex app-server: a change of %s for a disconnected client failed: %s\n", write->path,
		        write->err.text);
	destroy(write);
	return RPC_FAIL;
}

static void on_cancel(struct rpc_request *request)
{
	struct config_write *write = request->self;
	write->orphan = orphan_create(request);
	write->request = NULL;
}

static bool has_changed(const struct config_write *write)
{
	auto_buf struct buf now;
	buf_init(&now, LIMIT_CONFIG_FILE);
	best_effort(file_read_regular(write->target, &now, NULL));
	return !str_eq(buf_str(&now), buf_str(&write->before));
}

static void on_work(void *self)
{
	struct config_write *write = self;
	auto_free char *dir = str_dup(path_dir(write->target));
	if (dir_make(dir, 0700, &write->err) != 0)
		return;
	auto_close int lock = config_file_lock(dir, &write->err);
	if (lock < 0)
		return;
	write->is_stale = has_changed(write);
	if (!write->is_stale)
		best_effort(
			file_write_atomic(write->target, buf_str(&write->edit.text), write->mode, true, &write->err));
}

static void start_over(struct config_write *write)
{
	struct rpc_request *request = write->request ? write->request : steal(write->orphan);
	destroy(write);
	rpc_request_run_again(request);
}

static void on_written(void *self)
{
	struct config_write *write = self;
	struct app_server *server = write->job.server;
	if (write->is_stale && server) {
		start_over(write);
		return;
	}
	if (write->is_stale)
		error_set(&write->err, ERR_busy, "another process changed the file while this server shut down");
	if (write->err.code != ERR_none) {
		error_wrap(&write->err, "the configuration was not changed");
		config_write_refuse(write);
		return;
	}
	if (server)
		config_view_reload(server);
	if (write->request)
		write->reply(write, write->request, write->config);
	destroy(write);
}

enum rpc_verdict config_write_commit(struct config_write *write, config_write_reply_fn reply)
{
	struct str text = buf_str(&write->edit.text);
	write->reply = reply;
	if (config_view_check(&text, &write->err) == 0)
		write->config = config_view_load(write->job.server, NULL, &text, &write->err);
	if (!write->config) {
		error_wrap(&write->err, "Invalid configuration");
		fail_invalid(write);
		return config_write_refuse(write);
	}
	write->err = (struct error){0};
	worker_run(write->job.server->loop, on_work, on_written, write);
	return write->request ? rpc_wait(write->request, on_cancel, write) : RPC_WAIT;
}

/* ---- answers ---- */

static const struct toml *find_path(const struct toml *node, const struct changed_path *path)
{
	for (size_t i = 0; i < path->count; i++)
		node = toml_find(node, path->keys[i]);
	return node;
}

static struct str value_json(const struct toml *node, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_CONFIG_JSON);
	struct json_writer w = json_writer(&out);
	toml_to_sorted_json(&w, node);
	return arena_str(arena, buf_str(&out));
}

static const char *layer_words(const struct app_config_layer_source *name)
{
	return name->tag == app_config_layer_source_user ? "Overridden by a profile" : "Overridden by session flags";
}

/* Returns the highest layer that overrides the written value, or NULL. */
static struct app_overridden_metadata *find_overriding(struct config_write *write, const struct changed_path *path,
                                                       const struct layer_views *views, const struct config *config)
{
	const struct toml *written = find_path(write->edit.root, path), *found = find_path(config_tree(config), path);
	if (!written || !found)
		return NULL;
	struct str effective = value_json(found, &write->arena);
	if (str_eq(effective, value_json(written, &write->arena)))
		return NULL;
	vec_for_each(it, &views->items) {
		if (it == layer_views_user(views))
			break;
		if (!find_path(it->root, path))
			continue;
		struct app_overridden_metadata *metadata = arena_new(&write->arena, struct app_overridden_metadata);
		*metadata = (struct app_overridden_metadata){str_of(layer_words(it->metadata.name)), &it->metadata,
		                                             effective};
		return metadata;
	}
	return NULL;
}

void config_write_reply(struct config_write *write, struct rpc_request *request, const struct config *config)
{
	struct layer_views views;
	struct app_config_write_response response = {
		.version = config_version(write->edit.root, &write->arena),
		.file_path = str_of(write->path),
	};
	layer_views_init(&views, config, &write->arena);
	for (size_t i = 0; i < write->paths.count && !response.overridden_metadata; i++)
		response.overridden_metadata = find_overriding(write, write->paths.items[i], &views, config);
	response.status = response.overridden_metadata ? app_write_status_ok_overridden : app_write_status_ok;
	rpc_reply(request, &response);
	layer_views_finish(&views);
}
