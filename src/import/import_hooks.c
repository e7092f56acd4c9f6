/* Hooks have the same form as ours. Those that are no commands are left out, as are events that this program lacks. The
 * commands stay where they are: one that names the project by CLAUDE_PROJECT_DIR gets the variable. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "import/import_scope.h"

static bool is_event(struct str name)
{
	static const char *const events[] = {
#define HOOK_EVENT(tag, wire, ...) wire,
#include "config/hook_event.def"
#undef HOOK_EVENT
	};
	for (size_t i = 0; i < countof(events); i++)
		if (str_is(name, events[i]))
			return true;
	return false;
}

/* The local file counts before the other. */
static bool are_off(const struct import_scope *scope)
{
	const struct json *local = json_get(scope->sources[IMPORT_local].json, "disableAllHooks");
	const struct json *shared = json_get(scope->sources[IMPORT_settings].json, "disableAllHooks");
	const struct json *value = json_is(local, JSON_bool) ? local : shared;
	return json_is(value, JSON_bool) && value->boolean;
}

/* The local file of a project is the user's own, which stays out of it. */
static const struct json *groups_of(const struct import_scope *scope, int source, struct str event)
{
	if ((source == IMPORT_local && scope->cwd) || are_off(scope))
		return NULL;
	json_for_each(it, json_get(scope->sources[source].json, "hooks"))
		if (str_eq(it->key, event))
			return json_is(it, JSON_array) ? it : NULL;
	return NULL;
}

static bool has_groups(const struct import_scope *scope, int source, struct str event)
{
	const struct json *groups = groups_of(scope, source, event);
	return groups && groups->count;
}

/* The settings report a fault of their file. */
int import_hooks_find(const struct import_scope *scope, struct import_names *names, struct error *err)
{
	struct import_names all = {0};
	int status = import_add_keys(scope, &all, json_get(scope->sources[IMPORT_settings].json, "hooks"), err);
	if (status == 0 && !scope->cwd)
		status = import_add_keys(scope, &all, json_get(scope->sources[IMPORT_local].json, "hooks"), err);
	vec_for_each(it, &all)
		if (is_event(*it) && (has_groups(scope, IMPORT_settings, *it) || has_groups(scope, IMPORT_local, *it)))
			vec_push(names, *it);
	vec_finish(&all);
	return status;
}

static const struct json *own_event(const struct json *root, struct str event)
{
	json_for_each(it, json_get(root, "hooks"))
		if (str_eq(it->key, event))
			return it;
	return NULL;
}

bool import_hooks_have(const struct import_scope *scope, struct str name)
{
	const struct json *own = own_event(scope->hooks.json, name);
	return own && own->count;
}

/* ---- writing ---- */

static void write_hook(struct json_writer *w, const struct json *hook)
{
	jw_object(w);
	json_for_each(it, hook) {
		jw_key_str(w, it->key);
		if (str_is(it->key, "command") && str_find(it->text, STR("CLAUDE_PROJECT_DIR")) >= 0)
			jw_strf(w,
			        "export CLAUDE_PROJECT_DIR=\"$(git rev-parse --show-toplevel 2>/dev/null || pwd)\"; "
			        "%.*s",
			        STR_ARG(it->text));
		else
			jw_raw(w, it->span);
	}
	jw_object_end(w);
}

/* A member that this program does not know, such as a condition, would be lost. */
static bool is_command(const struct json *hook)
{
	json_for_each(it, json_is(hook, JSON_object) ? hook : NULL)
		if (!str_is(it->key, "type") && !str_is(it->key, "command") && !str_is(it->key, "timeout") &&
		    !str_is(it->key, "statusMessage"))
			return false;
	return str_is(json_get_str(hook, "type"), "command") && json_get_str(hook, "command").len;
}

static size_t write_group(struct json_writer *w, const struct json *group, size_t *left)
{
	size_t kept = 0;
	json_for_each(it, json_get(group, "hooks"))
		is_command(it) ? kept++ : ++*left;
	if (!kept)
		return 0;
	jw_object(w);
	json_for_each(it, group)
		if (!str_is(it->key, "hooks"))
			jw_key_str(w, it->key), jw_raw(w, it->span);
	jw_key(w, "hooks");
	jw_array(w);
	json_for_each(it, json_get(group, "hooks"))
		if (is_command(it))
			write_hook(w, it);
	jw_array_end(w);
	jw_object_end(w);
	return kept;
}

/* Copies the file with the event in place of its empty list, if any. Returns the number of hooks that were added. */
static size_t write_file(const struct import_scope *scope, const struct json *old, struct str event, size_t *left,
                         struct buf *out)
{
	struct json_writer w = json_writer(out);
	size_t kept = 0;
	jw_object(&w);
	json_for_each(it, old)
		if (!str_is(it->key, "hooks"))
			jw_key_str(&w, it->key), jw_raw(&w, it->span);
	jw_key(&w, "hooks");
	jw_object(&w);
	json_for_each(it, json_get(old, "hooks"))
		if (!str_eq(it->key, event))
			jw_key_str(&w, it->key), jw_raw(&w, it->span);
	jw_key_str(&w, event);
	jw_array(&w);
	for (int source = 0; source < IMPORT_servers; source++)
		json_for_each(group, groups_of(scope, source, event))
			kept += write_group(&w, group, left);
	jw_array_end(&w);
	jw_object_end(&w);
	jw_object_end(&w);
	return kept;
}

/* With the folder locked. */
static int add_event(const struct import_scope *scope, struct str event, struct buf *note, struct error *err)
{
	struct str ignored;
	size_t left = 0;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text, shown;
	const char *path = import_ours(scope, "hooks.json");
	struct import_file file = {import_ours_folder(scope, ""), "hooks.json", import_mode(scope), false};
	struct import_source old = import_source_read(&scope->ours, path, LIMIT_CONFIG_FILE, &arena);
	buf_init(&text, LIMIT_IMPORT_TEXT);
	buf_init(&shown, LIMIT_IMPORT_TEXT);
	if (!old.json && old.err.code != ERR_not_found)
		return error_set(err, old.err.code, "%s", old.err.text);
	const struct json *hooks = json_get(old.json, "hooks"), *own = own_event(old.json, event);
	if ((hooks && hooks->type != JSON_object) || (own && own->count))
		return error_set(err, ERR_exists, "hooks.json has hooks for this event already");
	if (!write_file(scope, old.json, event, &left, &text))
		return error_set(err, ERR_unsupported, "only plain commands without conditions are supported");
	file.replaces = old.json;
	if (old.json && import_tree_read(&scope->ours, path, LIMIT_CONFIG_FILE, &arena, &ignored, &file.mode, err) != 0)
		return -(int)err->code;
	json_indent(&shown, buf_str(&text));
	buf_append_char(&shown, '\n');
	if (left)
		buf_printf(note, "%zu hooks that are no plain commands are left out. ", left);
	return import_tree_write(&scope->ours, &file, buf_str(&shown), err);
}

int import_hooks_carry(const struct import_scope *scope, struct str name, struct buf *note, struct error *err)
{
	auto_close int lock = import_lock(scope, err);
	return lock < 0 ? -(int)err->code : add_event(scope, name, note, err);
}
