/* The form is checked on the merged configuration, too, so that a mistake in config.toml ends the start. */
#include "config/hook_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "config/config_record.h"
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
	struct hook_list *to; /* NULL: only the form is checked */
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

void hook_list_warn(struct hook_list *to, const char *format, ...)
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
	hook_list_warn(r->to, "%s: a hook is ignored: %s", config_place(node, where), what);
	return 0;
}

/* A member under its name in JSON or in TOML. */
static const struct toml *member(const struct toml *table, const char *camel, const char *snake)
{
	const struct toml *found = toml_get(table, camel);
	return found ? found : toml_get(table, snake);
}

/* Computes the hash of a definition: each part with its length, so that no two definitions have the same text. */
static void hash_of(const struct hook *hook, char ret[CONFIG_HASH_SIZE])
{
	auto_buf struct buf text;
	const char *parts[] = {hook_events[hook->event].name, hook->matcher, hook->command, hook->status_message};
	buf_init(&text, LIMIT_CONFIG_FILE * 2);
	for (size_t i = 0; i < countof(parts); i++)
		buf_printf(&text, "%zd:%s\n", parts[i] ? (ssize_t)strlen(parts[i]) : -1, parts[i] ?: "");
	buf_printf(&text, "%lld %d", (long long)hook->timeout_s, hook->is_async);
	config_content_hash(buf_str(&text), ret);
}

static const char *text_of(const struct reader *r, const struct toml *node)
{
	return node ? arena_cstr(&r->to->arena, node->text) : NULL;
}

/* Returns the time limit. The user waits for hooks that run when a turn or the program ends, so theirs is short. */
static int64_t timeout_of(enum hook_event event, const struct toml *value)
{
	if (value)
		return value->integer ? value->integer : 1;
	return hook_events[event].flags & HOOK_BRIEF ? HOOK_TIMEOUT_BRIEF_S : HOOK_TIMEOUT_S;
}

static void add(const struct reader *r, const struct place *place, const struct toml *matcher,
                const struct toml *handler)
{
	struct hook_list *to = r->to;
	const struct toml *timeout = member(handler, "timeout", "timeoutSec");
	const struct toml *async = toml_get(handler, "async");
	if (to->hooks.count >= LIMIT_HOOKS) {
		hook_list_warn(to, "%s: more than %d hooks; the others are ignored", r->path, LIMIT_HOOKS);
		return;
	}
	struct hook hook = {
		.event = place->event,
		.matcher = text_of(r, matcher),
		.command = text_of(r, toml_get(handler, "command")),
		.timeout_s = timeout_of(place->event, timeout),
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
	if (timeout && (timeout->kind != TOML_integer || timeout->integer < 0 || timeout->integer > INT32_MAX))
		return fail(r, timeout, "a number of seconds, not negative");
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
	return str_is(key, "managed_dir") || str_is(key, "windows_managed_dir");
}

static int check_state(const struct reader *r, const struct toml *state)
{
	if (state->kind != TOML_table)
		return fail(r, state, "a table");
	toml_for_each(it, state) {
		if (it->kind != TOML_table)
			return fail(r, it, "a table");
	}
	return 0;
}

static int read_table(const struct reader *r, const struct toml *table)
{
	int status = 0;
	toml_for_each(it, table) {
		char key[TOML_KEY_SHOWN], text[TOML_KEY_SHOWN + 64];
		struct place place = {0};
		if (status != 0 || is_other_member(it->key))
			continue;
		if (str_is(it->key, "state")) {
			status = r->to ? 0 : check_state(r, it); /* of config.toml only */
			continue;
		}
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

int hook_table_check(const struct toml *table, bool is_strict, struct error *err)
{
	const struct reader r = {.is_strict = is_strict, .err = err};
	char where[CONFIG_PLACE_SIZE];
	if (table && table->kind != TOML_table)
		return error_set(err, ERR_config, "%s: `hooks` must be a table", config_place(table, where));
	return read_table(&r, table);
}

int hook_list_read(struct hook_list *list, const struct toml *table, const char *path, enum hook_source source,
                   struct error *err)
{
	const struct reader r = {
		.to = list, .source = source, .path = arena_cstr(&list->arena, str_of(path)), .err = err};
	return read_table(&r, table);
}
