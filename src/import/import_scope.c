/* Each source is read once for a scope, and ~/.claude.json once for all of them. */
#include "import/import_scope.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"

const char *import_ours(const struct import_scope *scope, const char *name)
{
	return scope->cwd ? arena_printf(scope->arena, ".codex/%s", name) : name;
}

const char *import_ours_folder(const struct import_scope *scope, const char *name)
{
	return name[0] ? import_ours(scope, name) : scope->cwd ? ".codex" : ".";
}

mode_t import_mode(const struct import_scope *scope)
{
	return scope->cwd ? 0666 : 0600;
}

int import_add_keys(const struct import_scope *scope, struct import_names *names, const struct json *object,
                    struct error *err)
{
	if (!json_is(object, JSON_object))
		return 0;
	if (object->count > LIMIT_IMPORT_ENTRIES)
		return error_set(err, ERR_limit, "a file of %s has more than %d of them", scope->theirs.path,
		                 LIMIT_IMPORT_ENTRIES);
	json_for_each(it, object) {
		bool is_known = false;
		for (size_t i = 0; i < names->count && !is_known; i++)
			is_known = str_eq(names->items[i], it->key);
		if (!is_known)
			vec_push(names, arena_str(scope->arena, it->key));
	}
	return 0;
}

int import_lock(const struct import_scope *scope, struct error *err)
{
	char path[PATH_MAX];
	auto_close int folder =
		import_tree_folder(&scope->ours, import_ours_folder(scope, ""), scope->cwd ? 0777 : 0700, err);
	if (folder < 0)
		return -(int)err->code;
	if (!host_fd_path(folder, path, sizeof(path)))
		return error_sys(err, errno, "cannot find the folder to lock: is /proc mounted?");
	return config_file_lock(path, err);
}

/* The user's file may be a link to where he keeps such files. */
static void secure(const char *home)
{
	struct stat st;
	auto_free char *path = path_join(home, "config.toml");
	if (stat(path, &st) == 0 && st.st_mode & 077)
		chmod(path, st.st_mode & 0700);
}

struct user_change {
	const char *home;
	config_file_change_fn change;
	void *self;
};

static int change_user(struct toml_edit *edit, void *self, struct error *err)
{
	const struct user_change *change = self;
	if (change->change(edit, change->self, err) != 0)
		return -(int)err->code;
	secure(change->home);
	return 0;
}

/* The same steps as config_file_change for a folder that may be full of links. */
static int change_project(const struct import_scope *scope, config_file_change_fn change, void *self, struct error *err)
{
	struct toml_edit edit;
	auto_arena struct arena arena = {0};
	struct str before = STR("");
	struct import_file file = {.folder = ".codex", .name = "config.toml", .mode = 0666, .replaces = true};
	auto_close int lock = import_lock(scope, err);
	if (lock < 0)
		return -(int)err->code;
	struct error failure;
	if (import_tree_read(&scope->ours, ".codex/config.toml", LIMIT_CONFIG_FILE, &arena, &before, &file.mode,
	                     &failure) != 0) {
		if (failure.code != ERR_not_found)
			return error_set(err, failure.code, "%s", failure.text);
		file.replaces = false;
	}
	int status = toml_edit_init(&edit, before, ".codex/config.toml", err);
	if (status == 0)
		status = change(&edit, self, err);
	if (status == 0)
		status = import_tree_write(&scope->ours, &file, buf_str(&edit.text), err);
	toml_edit_finish(&edit);
	return status;
}

int import_change_config(const struct import_scope *scope, bool is_user, config_file_change_fn change, void *self,
                         struct error *err)
{
	if (scope->cwd && !is_user)
		return change_project(scope, change, self, err);
	struct user_change of_user = {scope->codex, change, self};
	return config_file_change(scope->codex, change_user, &of_user, err);
}
