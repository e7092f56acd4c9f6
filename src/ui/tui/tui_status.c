/* The footer and the title are lists of items, which the user can choose. An unknown item is a warning: the same
 * config.toml may serve another version. */
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/toml/toml.h"
#include "protocol/message/approval.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_checklist.h"
#include "ui/tui/tui_priv.h"
#include "workspace/git_info.h"

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
	struct str cwd = str_of(tui->cwd), below = cwd;
	bool is_home = home && *home && home[1] && str_cut_prefix(&below, home) && (!below.len || *below.ptr == '/');
	buf_append_c(out, is_home ? "~" : "");
	buf_append_str(out, is_home ? below : cwd);
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

static void add_branch(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->branch ? tui->branch : "");
}

static void add_id(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->session_id ? tui->session_id : "");
}

static void add_title(const struct tui *tui, struct buf *out)
{
	if (tui->thread_name)
		add_name(tui, out);
	else
		add_id(tui, out);
}

/* ---- what it does, and may do ---- */

static void add_state(const struct tui *tui, struct buf *out)
{
	bool thinks = tui->is_running && tui_cells_thought(tui->cells).len;
	buf_append_c(out, thinks ? "Thinking" : tui->is_running ? "Working" : "Ready");
}

static void add_progress(const struct tui *tui, struct buf *out)
{
	if (tui->steps)
		buf_printf(out, "Tasks %zu/%zu", tui->steps_done, tui->steps);
}

static void add_permissions(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->permissions ? tui->permissions : tui->approval ? "Custom permissions" : "");
}

static void add_approval(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->approval ? tui->approval : "");
}

static void add_tier(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->config->service_tier ? tui->config->service_tier : "");
}

static void add_raw(const struct tui *tui, struct buf *out)
{
	buf_append_c(out, tui->is_raw ? "raw output" : "");
}

/* ---- counts ---- */

static void append_count(struct buf *out, int64_t count)
{
	if (count < 1000)
		buf_printf(out, "%lld", (long long)count);
	else if (count < 1000 * 1000)
		buf_printf(out, "%.3gK", (double)count / 1000);
	else
		buf_printf(out, "%.3gM", (double)count / 1e6);
}

static int64_t context_left(const struct tui *tui)
{
	double used = (double)tui->context_used / (double)tui->context_window;
	return used >= 1 ? 0 : used > 0 ? 100 - (int64_t)(100 * used) : 100;
}

static void add_context(const struct tui *tui, struct buf *out)
{
	if (tui->context_window > 0)
		buf_printf(out, "%lld%% context left", (long long)context_left(tui));
}

static void add_context_used(const struct tui *tui, struct buf *out)
{
	if (tui->context_window > 0)
		buf_printf(out, "%lld%% context used", (long long)(100 - context_left(tui)));
}

static void add_count(struct buf *out, int64_t count, const char *what)
{
	if (count <= 0)
		return;
	append_count(out, count);
	buf_append_c(out, what);
}

static void add_window(const struct tui *tui, struct buf *out)
{
	add_count(out, tui->context_window, " window");
}

static void add_tokens(const struct tui *tui, struct buf *out)
{
	if (tui->usage.total_tokens)
		buf_printf(out, "%lld tokens", (long long)tui->usage.total_tokens);
}

static void add_input(const struct tui *tui, struct buf *out)
{
	add_count(out, tui->usage.input_tokens, " in");
}

static void add_output(const struct tui *tui, struct buf *out)
{
	add_count(out, tui->usage.output_tokens, " out");
}

/* Appends "5h 80% left", or "weekly 80% left". */
static void add_limit(const struct rate_limit_window *limit, const char *usual, struct buf *out)
{
	enum { WEEK = 7 * 24 * 60 };
	int64_t minutes = limit->has_window_minutes ? limit->window_minutes : 0;
	double left = 100 - limit->used_percent;
	if (minutes == WEEK)
		buf_append_c(out, "weekly");
	else if (minutes > 0)
		buf_printf(out, minutes % 60 ? "%lldm" : "%lldh", (long long)(minutes % 60 ? minutes : minutes / 60));
	else
		buf_append_c(out, usual);
	buf_printf(out, " %.0f%% left", left > 0 ? left : 0);
}

static void add_short_limit(const struct tui *tui, struct buf *out)
{
	if (tui->has_limit[0])
		add_limit(&tui->limits[0], "5h", out);
}

static void add_long_limit(const struct tui *tui, struct buf *out)
{
	if (tui->has_limit[1])
		add_limit(&tui->limits[1], "weekly", out);
}

/* ---- where it runs ---- */

static void add_host(const struct tui *tui, struct buf *out)
{
	char name[256] = "";
	(void)tui;
	if (gethostname(name, sizeof(name) - 1) == 0)
		buf_append_c(out, name);
}

static void add_app(const struct tui *tui, struct buf *out)
{
	(void)tui;
	buf_append_c(out, "codex");
}

static void add_version(const struct tui *tui, struct buf *out)
{
	(void)tui;
	buf_append_c(out, "v" CODEX_VERSION);
}

/* ---- the lists ---- */

static const struct {
	const char *word;
	void (*add)(const struct tui *tui, struct buf *out);
} items[] = {
#define ITEM(word, add) {word, add},
#include "ui/tui/tui_status.def"
#undef ITEM
};

static const char *const absent[] = {
#define ITEM(word, add)
#define ABSENT(word) word,
#include "ui/tui/tui_status.def"
#undef ABSENT
#undef ITEM
};

_Static_assert(countof(items) <= CHECKS_MAX, "a checklist of the items has room for all");

static bool is_known(struct str word)
{
	for (size_t i = 0; i < countof(items); i++)
		if (str_is(word, items[i].word))
			return true;
	for (size_t i = 0; i < countof(absent); i++)
		if (str_is(word, absent[i]))
			return true;
	return false;
}

static void check(struct tui *tui, const char *key)
{
	const struct toml *list = config_find(tui->config, key);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	toml_for_each(it, toml_is(list, TOML_array) ? list : NULL) {
		if (!is_known(it->text))
			buf_printf(&text, "%s`%.*s`", text.len ? ", " : "", STR_ARG(it->text));
	}
	if (!text.len)
		return;
	buf_printf(&text, ": unknown items of %s, which are left out. The items are ", key);
	for (size_t i = 0; i < countof(items); i++)
		buf_printf(&text, "%s%s", i ? ", " : "", items[i].word);
	tui_warning_add(tui, buf_str(&text));
	tui_cells_fail(tui->cells, buf_str(&text));
}

void tui_status_check(struct tui *tui)
{
	check(tui, "tui.status_line");
	check(tui, "tui.terminal_title");
}

static bool wants_branch(const struct tui *tui, const char *key)
{
	const struct toml *list = config_find(tui->config, key);
	toml_for_each(it, toml_is(list, TOML_array) ? list : NULL) {
		if (str_is(it->text, "git-branch"))
			return true;
	}
	return false;
}

void tui_status_look(struct tui *tui)
{
	bool is_wanted = wants_branch(tui, "tui.status_line") || wants_branch(tui, "tui.terminal_title");
	free(tui->branch);
	tui->branch = is_wanted ? git_info_branch(tui->cwd) : NULL;
}

const char *tui_status_word(size_t index)
{
	return index < countof(items) ? items[index].word : NULL;
}

static void add_item(const struct tui *tui, struct str word, struct buf *out)
{
	size_t before = out->len;
	for (size_t i = 0; i < countof(items); i++) {
		if (!str_is(word, items[i].word))
			continue;
		if (before && out->data[before - 1] != ' ')
			buf_append_c(out, " · ");
		size_t begin = out->len;
		items[i].add(tui, out);
		if (out->len == begin)
			buf_truncate(out, before);
	}
}

bool tui_status_append(const struct tui *tui, const char *key, const char *usual, struct buf *out)
{
	const struct toml *list = config_find(tui->config, key);
	struct str rest = str_of(usual), word;
	bool has_list = toml_is(list, TOML_array);
	toml_for_each(it, has_list ? list : NULL) {
		if (toml_is(it, TOML_string))
			add_item(tui, it->text, out);
	}
	while (!has_list && str_next_part(&rest, ' ', &word))
		add_item(tui, word, out);
	return has_list;
}

/* ---- /status ---- */

static void append_tokens(struct buf *out, const struct tui *tui)
{
	buf_append_c(out, "Token usage: ");
	append_count(out, tui->usage.total_tokens);
	buf_append_c(out, " total  (");
	append_count(out, tui->usage.input_tokens);
	buf_append_c(out, " input + ");
	append_count(out, tui->usage.output_tokens);
	buf_append_c(out, " output)\n");
	if (tui->context_window <= 0)
		return;
	buf_printf(out, "Context window: %lld%% left (", (long long)context_left(tui));
	append_count(out, tui->context_used);
	buf_append_c(out, " used / ");
	append_count(out, tui->context_window);
	buf_append_c(out, ")\n");
}

static void append_limits(struct buf *out, const struct tui *tui)
{
	static const char *const words[] = {"five-hour-limit", "weekly-limit"};
	for (size_t i = 0; i < countof(words); i++) {
		if (!tui->has_limit[i])
			continue;
		buf_append_c(out, "Limit: ");
		add_item(tui, str_of(words[i]), out);
		buf_append_char(out, '\n');
	}
}

void tui_status_append_usage(const struct tui *tui, struct buf *out)
{
	append_tokens(out, tui);
	append_limits(out, tui);
}
