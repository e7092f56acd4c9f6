/* The footer and the title are lists of items, which the user can choose. An unknown item is left out: the same
 * config.toml may serve another version. */
#include "base/limits.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/toml/toml.h"
#include "ui/tui/tui_priv.h"

static void add_model(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->model ? tui->model : "starting");
}

static void add_effort(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->effort ? tui->effort : "");
}

static void add_model_with_effort(const struct tui *tui, struct buf *out)
{
	add_model(tui, out);
	if (tui->effort)
		buf_printf(out, " %s", tui->effort);
}

/* Appends "~/proj" for a folder below the home folder. */
static void add_folder(const struct tui *tui, struct buf *out)
{
	const char *home = config_env("HOME");
	struct str cwd = str_of(tui->cwd);
	if (home && *home && home[1] && str_cut_prefix(&cwd, home))
		buf_append_char(out, '~');
	buf_append_str(out, cwd);
}

static void add_project(const struct tui *tui, struct buf *out)
{
	struct str path = str_of(tui->cwd);
	buf_append_str(out, str_skip(path, (size_t)(str_rfind_char(path, '/') + 1)));
}

static void add_name(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->thread_name ? tui->thread_name : "");
}

static void add_context(const struct tui *tui, struct buf *out)
{
	if (tui->context_window <= 0)
		return;
	int64_t left = 100 - 100 * tui->context_used / tui->context_window;
	buf_printf(out, "%lld%% context left", (long long)(left < 0 ? 0 : left));
}

static void add_tokens(const struct tui *tui, struct buf *out)
{
	if (tui->usage.total_tokens)
		buf_printf(out, "%lld tokens", (long long)tui->usage.total_tokens);
}

static const struct {
	const char *word;
	void (*add)(const struct tui *tui, struct buf *out);
} items[] = {
#define ITEM(word, add) {word, add},
#include "ui/tui/tui_status.def"
#undef ITEM
};

const char *tui_status_word(size_t index)
{
	return items[index].word;
}

static void add_item(const struct tui *tui, struct str word, struct buf *out)
{
	size_t before = out->len;
	for (size_t i = 0; i < countof(items); i++) {
		if (!str_is(word, items[i].word))
			continue;
		if (before)
			buf_append_c(out, " · ");
		size_t begin = out->len;
		items[i].add(tui, out);
		if (out->len == begin)
			buf_truncate(out, before);
	}
}

bool tui_status_append(const struct tui *tui, const char *key, struct buf *out)
{
	const struct toml *list = config_find(tui->config, key);
	if (!toml_is(list, TOML_array))
		return false;
	toml_for_each(it, list) {
		if (toml_is(it, TOML_string))
			add_item(tui, it->text, out);
	}
	return true;
}

void tui_status_append_usual(const struct tui *tui, struct buf *out)
{
	add_item(tui, STR("model-with-reasoning"), out);
	add_item(tui, STR("current-dir"), out);
}
