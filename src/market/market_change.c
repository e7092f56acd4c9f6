/* Something new is made beside its place and moved there when it is complete; what was there before goes last. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/plugin_files.h"
#include "config/toml/toml_edit.h"
#include "market/market_priv.h"

/* ---- config.toml ---- */

static void add_text(struct arena *arena, struct toml *table, const char *key, const char *text)
{
	struct toml *value = toml_new(arena, TOML_string, "", 1);
	value->text = str_of(text);
	toml_add(arena, table, str_of(key), value);
}

static void add_sparse(struct arena *arena, struct toml *table, const struct market *market)
{
	struct toml *list = toml_new(arena, TOML_array, "", 1);
	for (size_t i = 0; i < market->sparse_count; i++) {
		struct toml *path = toml_new(arena, TOML_string, "", 1);
		path->text = market->sparse[i];
		toml_append(list, path);
	}
	toml_add(arena, table, STR("sparse_paths"), list);
}

static int apply(struct toml_edit *edit, void *self, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct market_record *change = self;
	const struct str path[] = {str_of(change->table), str_of(change->name)};
	struct toml *value = toml_new(&arena, TOML_table, "", 1);
	if (change->removes && !toml_get(toml_get(edit->root, change->table), change->name))
		return error_set(err, ERR_not_found, "your config.toml has no [%s.\"%s\"]", change->table,
		                 change->name);
	if (change->removes)
		return toml_edit_remove(edit, path, countof(path), err);
	if (change->market) {
		add_text(&arena, value, "source_type", change->market->is_git ? "git" : "local");
		add_text(&arena, value, "source", change->market->source);
		if (change->market->ref)
			add_text(&arena, value, "ref", change->market->ref);
		if (change->market->sparse_count)
			add_sparse(&arena, value, change->market);
		return toml_edit_set(edit, path, countof(path), value, err);
	}
	struct toml *enabled = toml_new(&arena, TOML_bool, "", 1);
	enabled->boolean = true;
	toml_add(&arena, value, STR("enabled"), enabled);
	return toml_edit_merge(edit, path, countof(path), value, err);
}

int market_record(const char *home, struct market_record *change, struct error *err)
{
	return config_file_change(home, apply, change, err);
}

/* ---- folders ---- */

const char *market_beside(const char *path, struct arena *arena)
{
	char id[UUID_TEXT_SIZE];
	struct str dir = path_dir(path);
	uuid_v7(id);
	return arena_printf(arena, "%.*s/" PLUGIN_FRESH "%s", STR_ARG(dir), id);
}

int market_lock(const char *home, const struct plugin_clone *clone, struct error *err)
{
	auto_free char *folder = xasprintf("%s/.tmp/marketplaces", home), *cache = xasprintf("%s/plugins/cache", home);
	if (dir_make(folder, 0700, err) != 0)
		return -(int)err->code;
	auto_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", folder);
	if ((clone ? plugin_clone_lock(clone, fd, err) : plugin_lock(fd, err)) != 0)
		return -(int)err->code;
	plugin_clone_sweep(folder);
	plugin_clone_sweep(cache);
	return steal_fd(&fd);
}

/* The two change places at once, so that a session that starts meanwhile finds one of them. */
int market_move_in(const char *from, const char *to, struct error *err)
{
	struct error ignored;
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 2 /* RENAME_EXCHANGE */) == 0)
		best_effort(plugin_remove_tree(from, &ignored));
	else if (errno != ENOENT || rename(from, to) != 0)
		return error_sys(err, errno, "cannot create %s", to);
	return 0;
}

int market_make_parent(const char *path, struct error *err)
{
	auto_free char *dir = str_dup(path_dir(path));
	return dir_make(dir, 0700, err);
}

int market_clone(const char *home, const char *parent, const struct market *market, const char *sha,
                 struct plugin_clone *clone, int *lock, struct error *err)
{
	auto_close int held = *lock;
	*lock = -1;
	if (plugin_clone_open(clone, parent, err) != 0)
		return -(int)err->code;
	close(held);
	held = -1;
	if (market_source_clone(market, sha, clone, err) != 0)
		return -(int)err->code;
	*lock = market_lock(home, clone, err);
	return *lock < 0 ? -(int)err->code : 0;
}

/* ---- marketplaces ---- */

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same(const struct market *a, const struct market *b)
{
	if (a->is_git != b->is_git || !is_same_text(a->source, b->source) || !is_same_text(a->ref, b->ref) ||
	    a->sparse_count != b->sparse_count)
		return false;
	for (size_t i = 0; i < a->sparse_count; i++) {
		if (!str_eq(a->sparse[i], b->sparse[i]))
			return false;
	}
	return true;
}

struct check {
	const struct config *config;
	const struct market *market;
	bool has; /* the same one is there */
};

/* The configuration was read before the lock was free, and may lack what another process has written since. */
static int check_file(struct toml_edit *edit, void *self, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct error ignored;
	struct check *check = self;
	const struct market *market = check->market;
	const char *home = config_home(check->config);
	const struct market *old = market_find(home, edit->root, str_of(market->name), &arena, &ignored);
	if (!old)
		old = market_find(home, config_tree(check->config), str_of(market->name), &arena, &ignored);
	check->has = old && is_same(old, market);
	if (old && !check->has)
		return error_set(err, ERR_exists,
		                 "marketplace `%s` is already added from %s, or another branch or part of it: `codex "
		                 "plugin marketplace remove %s` removes it",
		                 market->name, old->source, market->name);
	return 0;
}

int market_check_new(const struct config *config, const struct market *market, bool *ret_has, struct error *err)
{
	struct check check = {config, market, false};
	int status = config_file_change(config_home(config), check_file, &check, err);
	*ret_has = check.has;
	return status;
}

static int record(const struct config *config, const struct market *market, struct error *err)
{
	struct market_record change = {"marketplaces", market->name, market, false};
	return market_record(config_home(config), &change, err);
}

static int add_folder(const struct config *config, struct arena *arena, struct market *market, bool *ret_has,
                      struct error *err)
{
	struct market_catalog catalog;
	if (market_read(market->source, arena, &catalog, err) != 0)
		return -(int)err->code;
	market->name = arena_cstr(arena, catalog.name);
	market->root = market->source;
	if (market_check_new(config, market, ret_has, err) != 0)
		return -(int)err->code;
	return *ret_has ? 0 : record(config, market, err);
}

/* Returns the same marketplace of the configuration, if its clone is there; else NULL. */
static const struct market *find_same(const struct config *config, const struct market *market, struct arena *arena)
{
	const struct market *list;
	size_t count = market_list(config_home(config), config_tree(config), arena, &list);
	for (size_t i = 0; i < count; i++) {
		if (is_same(&list[i], market) && dir_exists(list[i].root))
			return &list[i];
	}
	return NULL;
}

static int add_clone(const struct config *config, struct arena *arena, struct market *market, int *lock, bool *ret_has,
                     struct error *err)
{
	struct plugin_clone clone;
	struct market_catalog catalog;
	const char *parent = arena_printf(arena, "%s/.tmp/marketplaces", config_home(config));
	int status = market_clone(config_home(config), parent, market, NULL, &clone, lock, err);
	if (status == 0)
		status = market_read(clone.folder, arena, &catalog, err);
	if (status == 0) {
		market->name = arena_cstr(arena, catalog.name);
		market->root = arena_printf(arena, "%s/%s", parent, market->name);
		status = market_check_new(config, market, ret_has, err);
	}
	if (status == 0)
		status = market_move_in(clone.folder, market->root, err);
	if (status == 0)
		status = record(config, market, err);
	plugin_clone_close(&clone);
	return status;
}

int market_add(const struct config *config, struct arena *arena, struct market *market, bool *ret_has,
               struct error *err)
{
	*ret_has = false;
	if (market_check_source(config, market, err) != 0)
		return -(int)err->code;
	auto_close int lock = market_lock(config_home(config), NULL, err);
	if (lock < 0)
		return -(int)err->code;
	if (!market->is_git)
		return add_folder(config, arena, market, ret_has, err);
	const struct market *same = find_same(config, market, arena);
	if (!same)
		return add_clone(config, arena, market, &lock, ret_has, err);
	*market = *same;
	return market_check_new(config, market, ret_has, err);
}

int market_remove(const struct config *config, const char *name, struct error *err)
{
	auto_arena struct arena arena = {0};
	const char *home = config_home(config);
	const struct market *market = market_find(home, config_tree(config), str_of(name), &arena, err);
	struct market_record change = {.table = "marketplaces", .name = name, .removes = true};
	auto_close int lock = market ? market_lock(home, NULL, err) : -1;
	if (lock < 0 || market_record(home, &change, err) != 0)
		return -(int)err->code;
	return market->is_git && dir_exists(market->root) ? plugin_remove_tree(market->root, err) : 0;
}

/* Another process may change the marketplace while it is cloned. */
static int check_upgrade(const struct config *config, const struct market *market, bool had_clone, struct error *err)
{
	bool ignored;
	return had_clone && !dir_exists(market->root)
	               ? error_set(err, ERR_not_found, "marketplace `%s` was removed meanwhile", market->name)
	               : market_check_new(config, market, &ignored, err);
}

static int upgrade_clone(const struct market *market, const char *folder, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct market_catalog catalog;
	if (market_read(folder, &arena, &catalog, err) != 0)
		return -(int)err->code;
	if (!str_is(catalog.name, market->name))
		return error_set(err, ERR_invalid, "the repository of marketplace `%s` calls itself `%.*s` now",
		                 market->name, STR_ARG(catalog.name));
	return market_move_in(folder, market->root, err);
}

int market_upgrade(const struct config *config, const struct market *market, struct error *err)
{
	struct plugin_clone clone;
	const char *home = config_home(config);
	auto_free char *parent = str_dup(path_dir(market->root));
	if (!market->is_git)
		return error_set(err, ERR_invalid, "marketplace `%s` is a folder, which is used as it is",
		                 market->name);
	if (market_check_source(config, market, err) != 0)
		return -(int)err->code;
	bool had_clone = dir_exists(market->root);
	auto_close int lock = market_lock(home, NULL, err);
	if (lock < 0 || check_upgrade(config, market, had_clone, err) != 0)
		return -(int)err->code;
	int status = market_clone(home, parent, market, NULL, &clone, &lock, err);
	if (status == 0)
		status = check_upgrade(config, market, had_clone, err);
	if (status == 0)
		status = upgrade_clone(market, clone.folder, err);
	plugin_clone_close(&clone);
	return status;
}
