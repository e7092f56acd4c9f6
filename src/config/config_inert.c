/* The file has one key a line. Without it every run would repeat the note, so a home that cannot be written gets none.
 */
#include "config/config_inert.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/feature.h"

/* Features of codex 0.169 that this version lacks are no mistakes: they have no effect. Nor are the roles of subagents,
 * [agents.NAME] (agent_role.h). */
void config_unknown_sort(struct config_binder *binder)
{
	size_t kept = 0;
	vec_for_each(it, &binder->unknown) {
		struct str path = str_of(it->path);
		bool is_role = str_has_prefix(path, "agents.") && toml_is(it->node, TOML_table);
		bool is_feature = str_cut_prefix(&path, "features.") && feature_is_known(it->node->key);
		if (!is_feature && !is_role)
			binder->unknown.items[kept++] = *it;
	}
	binder->unknown.count = kept;
}

void config_inert_features(struct config_binder *binder, const struct toml *features)
{
	toml_for_each(it, toml_is(features, TOML_table) ? features : NULL) {
		if (it->kind != TOML_bool || !feature_is_idle(it->key, it->boolean))
			continue;
		const char *path = arena_printf(binder->arena, "features.%.*s", STR_ARG(it->key));
		vec_push(&binder->inert, (struct config_unknown){.path = path, .node = it});
	}
}

int config_unknown_refuse(const struct config_binder *binder, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	if (!binder->unknown.count)
		return 0;
	const struct config_unknown *first = &binder->unknown.items[0];
	if (first->node->source[0] == '-')
		return error_set(err, ERR_config, "unknown configuration field `%s` in -c/--config override",
		                 first->path);
	return error_set(err, ERR_config, "%s: unknown configuration field `%s`", config_place(first->node, where),
	                 first->path);
}

static bool is_first(const struct config_binder *binder, const struct config_unknown *at)
{
	for (const struct config_unknown *it = binder->unknown.items; it < at; it++)
		if (it->node->source == at->node->source)
			return false;
	return true;
}

/* True for an unknown key that was seen before: a profile's keys are visited in their table and again in the merged
 * tree. */
static bool is_repeated(const struct config_binder *binder, const struct config_unknown *at)
{
	for (const struct config_unknown *it = binder->unknown.items; it < at; it++)
		if (it->node->source == at->node->source && it->node->line == at->node->line &&
		    str_eq(it->node->key, at->node->key))
			return true;
	return false;
}

static void list_unknown(struct buf *out, const struct config_binder *binder, const char *source)
{
	size_t named = 0, more = 0;
	vec_for_each(it, &binder->unknown) {
		if (it->node->source != source || is_repeated(binder, it))
			continue;
		if (named++ >= LIMIT_CONFIG_NAMED) {
			more++;
			continue;
		}
		buf_printf(out, "%s`%s`", named > 1 ? ", " : "", it->path);
		if (source[0] == '/')
			buf_printf(out, " (line %u)", it->node->line);
	}
	if (more)
		buf_printf(out, " and %zu more", more);
}

void config_unknown_warn(const struct config_binder *binder, struct config_layers *layers)
{
	vec_for_each(it, &binder->unknown) {
		if (!is_first(binder, it))
			continue;
		auto_buf struct buf list;
		buf_init(&list, ERROR_TEXT_MAX);
		list_unknown(&list, binder, it->node->source);
		config_layer_warn(layers, "%s: unknown settings are ignored: %.*s", it->node->source,
		                  STR_ARG(buf_str(&list)));
	}
}

/* ---- keys without effect ---- */

static bool has_line(struct str text, const char *key)
{
	struct str line;
	while (str_next_line(&text, &line))
		if (str_is(line, key))
			return true;
	return false;
}

/* The terminal reads these: docs/tui.md names what is in effect of them. */
static bool is_read_by_terminal(const char *key)
{
	return strcmp(key, "tui") == 0 || strcmp(key, "disable_paste_burst") == 0;
}

bool config_inert_report(const char *home, const char *const *keys, size_t count, struct buf *out)
{
	size_t named = 0;
	struct error ignored;
	auto_buf struct buf known;
	auto_free char *path = path_join(home, "inert_keys");
	buf_init(&known, LIMIT_INERT_KEYS);
	if (count && file_read_regular(path, &known, &ignored) != 0)
		buf_clear(&known);
	for (size_t i = 0; i < count; i++) {
		if (is_read_by_terminal(keys[i]) || has_line(buf_str(&known), keys[i]))
			continue;
		buf_printf(out, "%s`%s`", named++ ? ", " : "These settings have no effect in this version: ", keys[i]);
		buf_printf(&known, "%s\n", keys[i]);
	}
	buf_append_c(out, named ? ". `codex help KEY` explains each; this note is not repeated." : "");
	return named && !known.over && file_write_atomic(path, buf_str(&known), 0600, false, &ignored) == 0;
}
