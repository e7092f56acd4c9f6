/* hooks.json and [hooks] have the same form, so both are read as a TOML tree. A definition is read once: what is hashed
 * and what runs are the same bytes in memory, even if the file changes meanwhile. */
#include "config/hook_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/sha.h"
#include "config/config.h"
#include "config/config_required.h"
#include "config/toml/toml.h"

#define HOOK_EVENT(tag, name, matched, flags, doc) [hook_event_##tag] = {name, matched, flags, doc},
const struct hook_event_type hook_events[hook_event_count] = {
#include "config/hook_event.def"
};
#undef HOOK_EVENT

bool hook_event_find(struct str name, enum hook_event *ret)
{
	int value;
	for (int event = 0; event < hook_event_count; event++) {
		if (!str_is(name, hook_events[event].name))
			continue;
		*ret = (enum hook_event)event;
		return true;
	}
	if (!enum_parse(&enum_hook_event, name, &value))
		return false;
	*ret = (enum hook_event)value;
	return true;
}

/* ---- reading a table ---- */

struct reader {
	struct hook_config *to; /* NULL: only the form is checked */
	bool is_strict;
	enum hook_source source;
	const char *path;
	struct error *err;
};

/* One handler and its position in the file. */
struct place {
	enum hook_event event;
	size_t group, handler;
};

static __attribute__((format(printf, 2, 3))) void warn(struct hook_config *to, const char *format, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (to && to->warnings.count < LIMIT_HOOKS)
		vec_push(&to->warnings, arena_cstr(&to->arena, str_of(text)));
}

static int fail(const struct reader *r, const struct toml *node, const char *what)
{
	char where[CONFIG_PLACE_SIZE], key[TOML_KEY_SHOWN];
	return error_set(r->err, ERR_config, "%s: `hooks`: `%s` must be %s", config_place(node, where),
	                 toml_key_shown(node->key, key), what);
}

/* Reports something that cannot be used: an error of requirements.toml, else a warning. */
static int reject(const struct reader *r, const struct toml *node, const char *what)
{
	char where[CONFIG_PLACE_SIZE];
	if (r->is_strict)
		return error_set(r->err, ERR_config, "%s: `hooks`: %s", config_place(node, where), what);
	warn(r->to, "%s: a hook is ignored: %s", config_place(node, where), what);
	return 0;
}

/* A member under its name in JSON or in TOML. */
static const struct toml *member(const struct toml *table, const char *camel, const char *snake)
{
	const struct toml *found = toml_get(table, camel);
	return found ? found : toml_get(table, snake);
}

/* Computes the hash of a definition: each part with its length, so that no two definitions have the same text. */
static void hash_of(const struct hook *hook, char ret[HOOK_HASH_SIZE])
{
	auto_buf struct buf text;
	uint8_t digest[SHA256_SIZE];
	const char *parts[] = {hook_events[hook->event].name, hook->matcher, hook->command, hook->status_message};
	buf_init(&text, LIMIT_CONFIG_FILE * 2);
	for (size_t i = 0; i < countof(parts); i++)
		buf_printf(&text, "%zd:%s\n", parts[i] ? (ssize_t)strlen(parts[i]) : -1, parts[i] ?: "");
	buf_printf(&text, "%lld %d", (long long)hook->timeout_s, hook->is_async);
	sha256(buf_str(&text), digest);
	memcpy(ret, "sha256:", 8);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 7 + 2 * i, 3, "%02x", digest[i]);
}

static const char *text_of(const struct reader *r, const struct toml *node)
{
	return node ? arena_cstr(&r->to->arena, node->text) : NULL;
}

static void add(const struct reader *r, const struct place *place, const struct toml *matcher,
                const struct toml *handler)
{
	struct hook_config *to = r->to;
	const struct toml *timeout = member(handler, "timeout", "timeoutSec");
	const struct toml *async = toml_get(handler, "async");
	if (to->hooks.count >= LIMIT_HOOKS) {
		warn(to, "%s: more than %d hooks; the others are ignored", r->path, LIMIT_HOOKS);
		return;
	}
	struct hook hook = {
		.event = place->event,
		.matcher = text_of(r, matcher),
		.command = text_of(r, toml_get(handler, "command")),
		.timeout_s = timeout ? timeout->integer : HOOK_TIMEOUT_S,
		.is_async = async && async->boolean,
		.status_message = text_of(r, member(handler, "statusMessage", "status_message")),
		.path = r->path,
		.source = r->source,
		.order = (int64_t)to->hooks.count,
	};
	hook.key = arena_printf(&to->arena, "%s:%s:%zu:%zu", r->path, enum_wire(&enum_hook_event, (int)place->event),
	                        place->group, place->handler);
	hash_of(&hook, hook.hash);
	vec_push(&to->hooks, hook);
}

static int read_handler(const struct reader *r, const struct place *place, const struct toml *matcher,
                        const struct toml *handler)
{
	const struct toml *type = toml_get(handler, "type"), *command = toml_get(handler, "command");
	const struct toml *timeout = member(handler, "timeout", "timeoutSec"), *async = toml_get(handler, "async");
	const struct toml *status = member(handler, "statusMessage", "status_message");
	if (handler->kind != TOML_table)
		return reject(r, handler, "each item of `hooks` must be a table");
	if (!toml_is(type, TOML_string))
		return type ? fail(r, type, "a string") : reject(r, handler, "it has no `type`");
	if (!str_is(type->text, "command"))
		return reject(r, type, "this version supports the type `command` only");
	if (command && command->kind != TOML_string)
		return fail(r, command, "a string");
	if (!command || str_is_blank(command->text) || str_has_nul(command->text))
		return reject(r, handler, "its `command` is empty");
	if (timeout && (timeout->kind != TOML_integer || timeout->integer < 1 || timeout->integer > INT32_MAX))
		return fail(r, timeout, "a number of seconds, at least 1");
	if (async && async->kind != TOML_bool)
		return fail(r, async, "true or false");
	if (status && status->kind != TOML_string)
		return fail(r, status, "a string");
	if (r->to)
		add(r, place, matcher, handler);
	return 0;
}

static int read_group(const struct reader *r, struct place *place, const struct toml *group)
{
	const struct toml *matcher = toml_get(group, "matcher"), *handlers = toml_get(group, "hooks");
	int status = 0;
	if (group->kind != TOML_table)
		return reject(r, group, "each group must be a table with `hooks`");
	if (matcher && matcher->kind != TOML_string)
		return fail(r, matcher, "a string");
	if (handlers && handlers->kind != TOML_array)
		return fail(r, handlers, "a list");
	place->handler = 0;
	toml_for_each(it, handlers) {
		if (status == 0)
			status = read_handler(r, place, matcher, it);
		place->handler++;
	}
	return status;
}

static bool is_other_member(struct str key)
{
	return str_is(key, "state") || str_is(key, "managed_dir") || str_is(key, "windows_managed_dir");
}

static int read_table(const struct reader *r, const struct toml *table)
{
	int status = 0;
	toml_for_each(it, table) {
		char key[TOML_KEY_SHOWN], text[TOML_KEY_SHOWN + 64];
		struct place place = {0};
		if (status != 0 || is_other_member(it->key))
			continue;
		if (!hook_event_find(it->key, &place.event)) {
			snprintf(text, sizeof(text), "there is no event `%s`", toml_key_shown(it->key, key));
			status = reject(r, it, text);
			continue;
		}
		if (it->kind != TOML_array)
			return fail(r, it, "a list");
		toml_for_each(group, it) {
			if (status == 0)
				status = read_group(r, &place, group);
			place.group++;
		}
	}
	return status;
}

int hook_config_check(const struct toml *table, bool is_strict, struct error *err)
{
	const struct reader r = {.is_strict = is_strict, .err = err};
	char where[CONFIG_PLACE_SIZE];
	if (table && table->kind != TOML_table)
		return error_set(err, ERR_config, "%s: `hooks` must be a table", config_place(table, where));
	return read_table(&r, table);
}

/* ---- the sources ---- */

static enum hook_source source_of(enum config_layer_kind kind)
{
	switch (kind) {
	case CONFIG_LAYER_system:
		return hook_source_system;
	case CONFIG_LAYER_user:
	case CONFIG_LAYER_profile:
		return hook_source_user;
	case CONFIG_LAYER_project:
		return hook_source_project;
	case CONFIG_LAYER_managed:
	case CONFIG_LAYER_fixed:
		return hook_source_legacy_managed_config_file;
	default:
		return hook_source_session_flags;
	}
}

static void add_problem(struct hook_config *to, const char *path, const struct error *err)
{
	vec_push(&to->errors, (struct hook_problem){path, arena_cstr(&to->arena, str_of(err->text))});
	warn(to, "hooks are ignored: %s", err->text);
}

static void read_tree(struct hook_config *to, const struct toml *table, const char *path, enum hook_source source)
{
	struct error err;
	const struct reader r = {.to = to, .source = source, .path = arena_cstr(&to->arena, str_of(path)), .err = &err};
	if (toml_is(table, TOML_table) && read_table(&r, table) != 0)
		add_problem(to, r.path, &err);
}

static int read_json(struct hook_config *to, const char *path, const struct toml **ret, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	*ret = NULL;
	if (file_read_regular(path, &text, err) != 0)
		return err->code == ERR_not_found ? 0 : -(int)err->code;
	const struct json *json = json_parse_copy(&to->arena, buf_str(&text), err);
	if (!json)
		return error_wrap(err, path);
	const struct toml *root = toml_from_json(&to->arena, json, path, err);
	if (!root)
		return -(int)err->code;
	*ret = toml_get(root, "hooks");
	if (*ret && (*ret)->kind != TOML_table)
		return error_set(err, ERR_config, "%s: `hooks` must be an object", path);
	return 0;
}

/* Reads hooks.json of a folder. True if it has hooks. */
static bool read_file(struct hook_config *to, const char *folder, enum hook_source source)
{
	struct error err = {0};
	const char *path = arena_printf(&to->arena, "%s/hooks.json", folder);
	const struct toml *table;
	size_t before = to->hooks.count;
	if (read_json(to, path, &table, &err) != 0)
		add_problem(to, path, &err);
	else
		read_tree(to, table, path, source);
	return to->hooks.count > before;
}

static bool read_layers(struct hook_config *to, const struct config *config, enum config_layer_kind kind,
                        const char *folder)
{
	size_t count, before = to->hooks.count;
	const struct config_layer *layers = config_layers(config, &count);
	for (size_t i = 0; i < count; i++) {
		const struct toml *table = layers[i].kind == kind ? toml_get(layers[i].root, "hooks") : NULL;
		const char *source = table ? table->source : "";
		bool is_file = source[0] == '/';
		if (!table || (folder && (!is_file || !str_is(path_dir(source), folder))))
			continue;
		read_tree(to, table, is_file ? source : "/<session-flags>/config.toml", source_of(kind));
	}
	return to->hooks.count > before;
}

/* Reads both files of a folder. */
static void read_folder(struct hook_config *to, const struct config *config, const char *folder,
                        enum config_layer_kind kind)
{
	bool has_table = read_layers(to, config, kind, folder);
	bool has_file = read_file(to, folder, source_of(kind));
	if (has_table && has_file)
		warn(to, "%s: hooks are defined in hooks.json and in config.toml; both count", folder);
}

/* ---- trust ---- */

/* Returns the user's decision about a hook. A project's file must not contain one. */
static const struct toml *find_state(const struct config *config, const char *key)
{
	size_t count;
	const struct toml *found = NULL;
	const struct config_layer *layers = config_layers(config, &count);
	for (int kind = 0; kind < CONFIG_LAYER_kind_count; kind++) {
		for (size_t i = 0; i < count; i++) {
			if ((int)layers[i].kind != kind || kind == CONFIG_LAYER_project)
				continue;
			const struct toml *state = toml_get(toml_get(layers[i].root, "hooks"), "state");
			const struct toml *it = toml_find(state, str_of(key));
			found = it ? it : found;
		}
	}
	return found;
}

static bool is_managed(enum hook_source source)
{
	return source == hook_source_mdm || source == hook_source_legacy_managed_config_file;
}

static void judge(struct hook *hook, const struct config *config, bool managed_only)
{
	const struct toml *state = find_state(config, hook->key);
	const struct toml *hash = toml_get(state, "trusted_hash"), *enabled = toml_get(state, "enabled");
	if (is_managed(hook->source))
		hook->trust = app_hook_trust_status_managed;
	else if (!toml_is(hash, TOML_string))
		hook->trust = app_hook_trust_status_untrusted;
	else
		hook->trust =
			str_is(hash->text, hook->hash) ? app_hook_trust_status_trusted : app_hook_trust_status_modified;
	bool is_own = is_managed(hook->source);
	hook->is_enabled = is_own || (!managed_only && !(toml_is(enabled, TOML_bool) && !enabled->boolean));
	hook->is_usable =
		config->features.hooks && hook->is_enabled &&
		(is_own || hook->trust == app_hook_trust_status_trusted || config_bypasses_hook_trust(config));
}

void hook_config_init(struct hook_config *hooks, const struct config *config)
{
	size_t count, own;
	const struct config_required *required = config_required(config);
	const char *const *folders = config_folders(config, &count);
	*hooks = (struct hook_config){0};
	own = config_own_folders(config);
	if (required)
		read_tree(hooks, toml_get(required->root, "hooks"), required->path, hook_source_mdm);
	read_layers(hooks, config, CONFIG_LAYER_managed, NULL);
	for (size_t i = 0; i < count; i++)
		read_folder(hooks, config, folders[i],
		            i >= own       ? CONFIG_LAYER_project
		            : i + 1 == own ? CONFIG_LAYER_user
		                           : CONFIG_LAYER_system);
	read_layers(hooks, config, CONFIG_LAYER_profile, NULL);
	read_layers(hooks, config, CONFIG_LAYER_option, NULL);
	vec_for_each(hook, &hooks->hooks)
		judge(hook, config, required && required->keys.allow_managed_hooks_only);
}

void hook_config_finish(struct hook_config *hooks)
{
	vec_finish(&hooks->hooks);
	vec_finish(&hooks->warnings);
	vec_finish(&hooks->errors);
	arena_finish(&hooks->arena);
}
