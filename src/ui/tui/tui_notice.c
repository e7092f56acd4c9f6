/* The window's title, and notifications while the user looks elsewhere. Both are written only when something changes.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/toml/toml.h"
#include "config/toml/toml.h"
#include "term/term_tty.h"
#include "term/term_width.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_priv.h"

enum { NOTICE_CHARACTERS = 120 };

/* Appends the first line of a text without anything that could end the sequence or drive the terminal. */
static void append_plain(struct buf *out, struct str text)
{
	struct str line = STR("");
	text = str_trim_start(text);
	str_next_line(&text, &line);
	for (size_t i = 0; i < NOTICE_CHARACTERS && line.len; i++) {
		struct term_cluster cluster = term_cluster_next(line);
		term_cluster_append(out, &cluster);
		line = str_skip(line, cluster.bytes.len);
	}
}

/* ---- the title ---- */

static struct str folder_name(const struct tui *tui)
{
	struct str path = str_of(tui->cwd);
	return str_skip(path, (size_t)(str_rfind_char(path, '/') + 1));
}

void tui_title_update(struct tui *tui)
{
	auto_buf struct buf title, chosen;
	buf_init(&title, LIMIT_LINE);
	buf_init(&chosen, LIMIT_LINE);
	buf_append_c(&title, "\x1b]0;");
	if (tui_ask_has_request(tui->ask))
		buf_append_c(&title, "[ ! ] Action Required | ");
	else if (tui->is_running)
		buf_append_c(&title, "⠋ ");
	if (tui_status_append(tui, "tui.terminal_title", "", &chosen))
		append_plain(&title, buf_str(&chosen));
	else
		append_plain(&title, tui->thread_name ? str_of(tui->thread_name) : folder_name(tui));
	buf_append_c(&title, "\a");
	if (tui->title && str_is(buf_str(&title), tui->title))
		return;
	free(tui->title);
	tui->title = buf_take(&title);
	term_tty_write(tui->tty, str_of(tui->title));
}

void tui_title_clear(struct tui *tui)
{
	if (tui->title)
		term_tty_write(tui->tty, STR("\x1b]0;\a"));
	free(tui->title);
	tui->title = NULL;
}

/* ---- notifications ---- */

static bool is_word(const struct tui *tui, const char *key, const char *word)
{
	const struct toml *value = config_find(tui->config, key);
	return toml_is(value, TOML_string) && str_is(value->text, word);
}

/* True if tui.notifications, or its absence, means this kind. */
static bool is_wanted(const struct tui *tui, const char *kind)
{
	const struct toml *kinds = config_find(tui->config, "tui.notifications");
	if (toml_is(kinds, TOML_bool))
		return kinds->boolean;
	toml_for_each(it, toml_is(kinds, TOML_array) ? kinds : NULL) {
		if (toml_is(it, TOML_string) && str_is(it->text, kind))
			return true;
	}
	return !toml_is(kinds, TOML_array);
}

void tui_notify(struct tui *tui, const char *kind, struct str text)
{
	auto_buf struct buf out;
	bool is_away = tui->is_blurred || is_word(tui, "tui.notification_condition", "always");
	buf_init(&out, LIMIT_LINE);
	if (!is_away || !is_wanted(tui, kind))
		return;
	if (is_word(tui, "tui.notification_method", "bel")) {
		buf_append_c(&out, "\a");
	} else {
		buf_append_c(&out, "\x1b]9;");
		append_plain(&out, text);
		buf_append_c(&out, "\a");
	}
	term_tty_write(tui->tty, buf_str(&out));
}
