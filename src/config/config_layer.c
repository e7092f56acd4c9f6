/* Layers stay separate until everything is read, because a lower layer (profile, trust) decides which other layers
 * exist. A missing file costs one call of open. */
#include "config/config_layer.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config_record.h"

void config_layers_init(struct config_layers *layers, struct arena *arena)
{
	*layers = (struct config_layers){.arena = arena};
}

void config_layers_finish(struct config_layers *layers)
{
	vec_finish(&layers->items);
	vec_finish(&layers->folders);
	vec_finish(&layers->warnings);
	vec_finish(&layers->files);
}

void config_layer_warn(struct config_layers *layers, const char *format, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	vec_push(&layers->warnings, arena_cstr(layers->arena, str_of(text)));
}

void config_layer_push(struct config_layers *layers, enum config_layer_kind kind, struct toml *root)
{
	vec_push(&layers->items, (struct config_layer){kind, root});
}

/* Inode, size and both times together reveal every way in which editors and programs write files. */
static bool add_stamp(uint64_t *stamp, const char *path)
{
	struct stat info;
	bool exists = stat(path, &info) == 0;
	struct {
		uint64_t before, device, inode, size, seconds, nanoseconds, changed, changed_ns;
	} facts = {.before = *stamp};
	if (exists) {
		facts.device = (uint64_t)info.st_dev;
		facts.inode = (uint64_t)info.st_ino;
		facts.size = (uint64_t)info.st_size;
		facts.seconds = (uint64_t)info.st_mtim.tv_sec;
		facts.nanoseconds = (uint64_t)info.st_mtim.tv_nsec;
		facts.changed = (uint64_t)info.st_ctim.tv_sec;
		facts.changed_ns = (uint64_t)info.st_ctim.tv_nsec;
	}
	*stamp = str_hash(str_n((const char *)&facts, sizeof(facts)));
	return exists;
}

/* True if a change of the file is noticed already: it, or its folder that does not exist, was noted. */
static bool is_noted(const struct config_layers *layers, const char *path)
{
	struct str folder = path_dir(path);
	vec_for_each(it, &layers->files)
		if (str_is(str_of(path), *it) || (str_is(folder, *it) && access(*it, F_OK) != 0))
			return true;
	return false;
}

void config_layer_note(struct config_layers *layers, const char *path)
{
	if (is_noted(layers, path))
		return;
	vec_push(&layers->files, arena_cstr(layers->arena, str_of(path)));
	add_stamp(&layers->stamp, path);
}

/* Most folders do not exist, which costs one system call for all of their files. */
static void watch_folder(struct config_layers *layers, const char *folder, const char *const *names)
{
	uint64_t stamp = layers->stamp;
	if (!add_stamp(&stamp, folder)) {
		vec_push(&layers->files, arena_cstr(layers->arena, str_of(folder)));
		layers->stamp = stamp;
		return;
	}
	for (; *names; names++) {
		auto_free char *path = path_join(folder, *names);
		config_layer_note(layers, path);
	}
}

void config_layer_watch(struct config_layers *layers, const char *system, const char *home, const char *cwd)
{
	static const char *const system_names[] = {"config.toml", "managed_config.toml", "requirements.toml", NULL};
	static const char *const user_names[] = {"config.toml", "plugins", "agents", NULL};
	static const char *const project_names[] = {"config.toml", "agents", NULL};
	auto_free char *dir = xstrdup(cwd);
	watch_folder(layers, system, system_names);
	watch_folder(layers, home, user_names);
	for (char *end = dir + strlen(dir); end; end = strrchr(dir, '/')) {
		*end = '\0';
		auto_free char *folder = path_join(dir[0] ? dir : "/", ".codex");
		watch_folder(layers, folder, project_names);
	}
}

bool config_layers_changed(const struct config_layers *layers)
{
	uint64_t stamp = 0;
	vec_for_each(path, &layers->files)
		add_stamp(&stamp, *path);
	return stamp != layers->stamp;
}

int config_layer_text(struct config_layers *layers, enum config_layer_kind kind, struct str text, const char *path,
                      struct toml **ret_root, struct error *err)
{
	struct toml *root =
		toml_parse(layers->arena, arena_str(layers->arena, text), arena_cstr(layers->arena, str_of(path)), err);
	if (!root)
		return -ERR_config;
	config_layer_push(layers, kind, root);
	if (ret_root)
		*ret_root = root;
	return 0;
}

int config_layer_read(struct config_layers *layers, enum config_layer_kind kind, const char *path,
                      struct toml **ret_root, struct error *err)
{
	auto_buf struct buf text;
	struct error failure = {0};
	struct stat info;
	buf_init(&text, LIMIT_CONFIG_FILE);
	config_layer_note(layers, path);
	if (stat(path, &info) == 0 && S_ISFIFO(info.st_mode)) /* reading would wait for a writer */
		return error_set(err, ERR_config, "%s is not a regular file", path);
	if (file_read(path, &text, &failure) != 0) {
		if (failure.code == ERR_not_found)
			return 0;
		return error_set(err, failure.code, "%s", failure.text);
	}
	return config_layer_text(layers, kind, buf_str(&text), path, ret_root, err);
}

/* Returns the position of the "=" that ends the key, or -1; quoted parts of the key may contain other ones. */
static ptrdiff_t find_equals(struct str option)
{
	char quote = '\0';
	for (size_t i = 0; i < option.len; i++) {
		char c = option.ptr[i];
		if (quote ? c == quote : c == '"' || c == '\'')
			quote = quote ? '\0' : c;
		else if (!quote && c == '=')
			return (ptrdiff_t)i;
	}
	return str_find_char(option, '=');
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static struct toml *option_value(struct arena *arena, struct str text, const char *source)
{
	struct toml *value = toml_parse_value(arena, text, source, NULL);
	if (value)
		return value;
	while (text.len && is_quote(text.ptr[0]))
		text = str_skip(text, 1);
	while (text.len && is_quote(text.ptr[text.len - 1]))
		text.len--;
	value = toml_new(arena, TOML_string, source, 1);
	value->text = text;
	return value;
}

/* Keys that are not valid TOML, such as projects./home/me.trust_level, are split at their dots. */
static struct toml *key_by_dots(struct arena *arena, struct str key, struct toml *value)
{
	struct toml *root = toml_new(arena, TOML_table, value->source, 1), *table = root;
	struct str part;
	while (str_next_part(&key, '.', &part)) {
		if (part.len == 0 || table->depth >= LIMIT_TOML_DEPTH)
			return NULL;
		struct toml *inner = key.ptr ? toml_new(arena, TOML_table, value->source, 1) : value;
		toml_add(arena, table, part, inner);
		table = inner;
	}
	return root;
}

static int push_value(struct config_layers *layers, enum config_layer_kind kind, struct str key, struct toml *value,
                      struct error *err)
{
	struct toml *root = toml_parse_key(layers->arena, key, value, NULL);
	if (!root)
		root = key_by_dots(layers->arena, key, value);
	if (!root)
		return error_set(err, ERR_config, "%s: `%.*s` is not a key of the form a.b.c", value->source,
		                 STR_ARG(key));
	if (layers->items.count >= LIMIT_CONFIG_OPTIONS)
		return error_set(err, ERR_limit, "more than %d options that set configuration", LIMIT_CONFIG_OPTIONS);
	config_layer_push(layers, kind, root);
	return 0;
}

static int push_option(struct config_layers *layers, enum config_layer_kind kind, struct str option, bool is_whole,
                       struct error *err)
{
	if (!text_is_utf8(option))
		return error_set(err, ERR_config, "-c: the option is not UTF-8 text");
	option = arena_str(layers->arena, option);
	ptrdiff_t at = find_equals(option);
	if (at < 0)
		return error_set(err, ERR_config, "-c: expected key=value, but `%.*s` has no `=`", STR_ARG(option));
	struct str key = str_trim(str_n(option.ptr, (size_t)at));
	if (key.len == 0)
		return error_set(err, ERR_config, "-c: expected key=value, but there is no key before the `=`");
	struct toml *value = option_value(layers->arena, str_trim(str_skip(option, (size_t)at + 1)), "-c");
	value->is_whole = is_whole;
	return push_value(layers, kind, key, value, err);
}

int config_layer_option(struct config_layers *layers, struct str option, struct error *err)
{
	return push_option(layers, CONFIG_LAYER_option, option, false, err);
}

int config_layer_server(struct config_layers *layers, struct str option, struct error *err)
{
	return push_option(layers, CONFIG_LAYER_option, option, true, err);
}

int config_layer_default(struct config_layers *layers, struct str option, struct error *err)
{
	return push_option(layers, CONFIG_LAYER_process, option, false, err);
}

int config_layer_flag(struct config_layers *layers, const char *flag, const char *key, struct str value,
                      struct error *err)
{
	if (!text_is_utf8(value))
		return error_set(err, ERR_config, "%s: the value is not UTF-8 text", flag);
	struct toml *node = toml_new(layers->arena, TOML_string, arena_cstr(layers->arena, str_of(flag)), 1);
	node->text = arena_str(layers->arena, value);
	return push_value(layers, CONFIG_LAYER_flag, arena_str(layers->arena, str_of(key)), node, err);
}

const struct toml *config_layer_top(const struct config_layers *layers, const char *key)
{
	for (int kind = CONFIG_LAYER_kind_count - 1; kind >= 0; kind--) {
		for (size_t i = layers->items.count; i-- > 0;) {
			const struct config_layer *layer = &layers->items.items[i];
			const struct toml *found = (int)layer->kind == kind ? toml_get(layer->root, key) : NULL;
			if (found)
				return found;
		}
	}
	return NULL;
}

struct toml *config_layer_merge(const struct config_layers *layers)
{
	struct toml *merged = toml_new(layers->arena, TOML_table, "", 1);
	for (int kind = 0; kind < CONFIG_LAYER_kind_count; kind++)
		vec_for_each(it, &layers->items)
			if ((int)it->kind == kind)
				toml_merge(layers->arena, merged, it->root);
	return merged;
}

/* ---- the location in an error ---- */

/* An error about a setting begins with its location, in the form of compilers (toml.h, config_record.h). A struct
 * error has no field for it, so it is parsed from the text. */
enum { NUMBER_MAX = 9 }; /* most digits of a line or column */

/* Cuts a number and its colon ("12:") off the beginning; returns 0 if the text begins otherwise. */
static int64_t cut_number(struct str *text)
{
	int64_t number = 0;
	size_t len = 0;
	while (len < text->len && len < NUMBER_MAX && text->ptr[len] >= '0' && text->ptr[len] <= '9')
		number = number * 10 + (text->ptr[len++] - '0');
	if (!len || len == text->len || text->ptr[len] != ':')
		return 0;
	*text = str_skip(*text, len + 1);
	return number;
}

struct config_mistake config_mistake_read(struct str text)
{
	if (!str_has_prefix(text, "/"))
		return (struct config_mistake){0};
	for (size_t i = 0; i < text.len; i++) {
		struct str rest = str_skip(text, i + 1);
		int64_t line = text.ptr[i] == ':' ? cut_number(&rest) : 0;
		if (!line)
			continue;
		int64_t column = cut_number(&rest);
		return (struct config_mistake){str_n(text.ptr, i), line, column ? column : 1};
	}
	return (struct config_mistake){0};
}
