/* Events are read as JSON, not into the structs of this version: a client for debugging must also show unknown
 * events, and those of every wire profile. */
#include "ui/debug/debug_event.h"

#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "ui/cli/terminal.h"

enum { VALUE_SHOWN = 4 * KIB, PATH_MAX_LEN = 64 };

static const struct row {
	const char *type;
	enum style style;
	const char *text; /* NULL: the event is hidden */
} rows[] = {
#define SHOWN(type, style, text) {type, style, text},
#define HIDDEN(type) {type, STYLE_plain, NULL},
#include "ui/debug/debug_event.def"
#undef SHOWN
#undef HIDDEN
};

static const struct row *find_row(struct str type)
{
	for (size_t i = 0; i < countof(rows); i++) {
		if (str_is(type, rows[i].type))
			return &rows[i];
	}
	return NULL;
}

/* Appends text with further lines indented, so that they cannot be mistaken for events. */
static void append_text(struct buf *out, struct str text)
{
	struct str line;
	text = str_trim_end(text);
	size_t len = text.len > VALUE_SHOWN ? text_floor_boundary(text, VALUE_SHOWN) : text.len, rest = text.len - len;
	text.len = len;
	for (const char *before = ""; str_next_line(&text, &line); before = "\n    ") {
		buf_append_c(out, before);
		terminal_text_append(out, terminal_text_line(line));
	}
	if (rest)
		buf_printf(out, " … %zu more bytes", rest);
}

static void append_words(struct buf *out, const struct json *list)
{
	auto_buf struct buf text;
	VEC(struct str) words = {0};
	struct str word;
	buf_init(&text, LIMIT_LINE);
	json_for_each(it, list) {
		if (json_to_str(it, &word))
			vec_push(&words, word);
	}
	terminal_command_append(&text, words.items, words.count);
	append_text(out, buf_str(&text));
	vec_finish(&words);
}

static void append_names(struct buf *out, const struct json *object)
{
	const char *before = "";
	json_for_each(it, object) {
		buf_append_c(out, before);
		append_text(out, it->key);
		before = ", ";
	}
}

static void append_member(struct buf *out, const struct json *msg, struct str name)
{
	char path[PATH_MAX_LEN];
	bool wants_names = str_cut_prefix(&name, "%");
	snprintf(path, sizeof(path), "%.*s", STR_ARG(name));
	const struct json *value = json_path(msg, path);
	if (wants_names)
		append_names(out, value);
	else if (json_is(value, JSON_array))
		append_words(out, value);
	else if (json_is(value, JSON_string))
		append_text(out, value->text);
	else if (value && value->type != JSON_null)
		append_text(out, value->span);
}

static void append_row(struct buf *out, const struct json *msg, struct str text)
{
	struct str part;
	for (bool is_member = false; text.len; is_member = !is_member) {
		ptrdiff_t end = str_find_char(text, is_member ? '}' : '{');
		part = str_n(text.ptr, end < 0 ? text.len : (size_t)end);
		text = str_skip(text, end < 0 ? text.len : (size_t)end + 1);
		if (is_member)
			append_member(out, msg, part);
		else
			buf_append_str(out, part);
	}
}

static void append_styled(struct buf *out, bool color, enum style style, struct str text)
{
	const char *start = style == STYLE_plain ? "" : terminal_style(color, style);
	buf_append_c(out, start);
	buf_append_str(out, text);
	buf_append_c(out, *start ? terminal_style(color, STYLE_plain) : "");
}

void debug_event_append(struct buf *out, const struct json *event, bool shows_all, bool color)
{
	const struct json *msg = json_get(event, "msg");
	struct str id = json_get_str(event, "id"), type = json_get_str(msg, "type");
	const struct row *row = find_row(type);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (row && !row->text && !shows_all)
		return;
	append_text(&text, id.len ? id : STR("-"));
	buf_append_char(&text, ' ');
	append_text(&text, type.len ? type : STR("?"));
	append_styled(out, color, STYLE_dim, buf_str(&text));
	buf_clear(&text);
	if (row && row->text)
		append_row(&text, msg, str_of(row->text));
	else
		append_text(&text, msg ? msg->span : event->span);
	struct str words = str_trim_end(buf_str(&text));
	buf_append_c(out, words.len ? " " : "");
	append_styled(out, color, row && words.len ? row->style : STYLE_plain, words);
	buf_append_char(out, '\n');
}
