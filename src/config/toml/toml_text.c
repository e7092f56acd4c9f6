/* JSON strings and numbers are valid TOML; braces differ, and TOML requires one more character to be escaped, DEL. */
#include "config/toml/toml_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/toml/toml_priv.h"

static void write_text(struct buf *out, struct str text)
{
	size_t from = out->len;
	json_quote(out, text);
	if (str_find_char(text, 0x7f) < 0)
		return;
	auto_buf struct buf quoted;
	buf_init(&quoted, LIMIT_CONFIG_FILE);
	buf_append(&quoted, out->data + from, out->len - from);
	buf_truncate(out, from);
	for (size_t i = 0; i < quoted.len; i++) {
		if (quoted.data[i] == 0x7f)
			buf_append_c(out, "\\u007F");
		else
			buf_append_char(out, quoted.data[i]);
	}
}

static void write_members(struct buf *out, const struct json *value)
{
	const char *before = "";
	json_for_each(it, value) {
		if (it->type == JSON_null)
			continue;
		buf_append_c(out, before);
		before = ", ";
		if (value->type == JSON_object) {
			toml_write_key(out, it->key);
			buf_append_c(out, " = ");
		}
		toml_write_json(out, it);
	}
}

void toml_write_json(struct buf *out, const struct json *value)
{
	switch (value->type) {
	case JSON_string:
		write_text(out, value->text);
		return;
	case JSON_array:
		buf_append_char(out, '[');
		write_members(out, value);
		buf_append_char(out, ']');
		return;
	case JSON_object:
		buf_append_char(out, '{');
		write_members(out, value);
		buf_append_char(out, '}');
		return;
	default:
		buf_append_str(out, value->span);
	}
}

/* ---- nodes ---- */

static bool is_bare(struct str key)
{
	for (size_t i = 0; i < key.len; i++) {
		char c = key.ptr[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
		      c == '-'))
			return false;
	}
	return key.len > 0;
}

void toml_write_key(struct buf *out, struct str key)
{
	if (is_bare(key))
		buf_append_str(out, key);
	else
		write_text(out, key);
}

void toml_write_path(struct buf *out, const struct str *path, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_char(out, '.');
		toml_write_key(out, path[i]);
	}
}

static void write_number(struct buf *out, double number)
{
	size_t from = out->len;
	struct json_writer w = json_writer(out);
	if (!isfinite(number)) {
		buf_append_c(out, isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
		return;
	}
	jw_double(&w, number);
	for (size_t i = from; i < out->len; i++) {
		if (out->data[i] == '.' || out->data[i] == 'e' || out->data[i] == 'E')
			return;
	}
	buf_append_c(out, ".0");
}

static void write_time(struct buf *out, const struct toml *node)
{
	const struct toml_time *time = &node->time;
	bool has_date = node->kind != TOML_time_local, has_time = node->kind != TOML_date_local;
	if (has_date)
		buf_printf(out, "%04u-%02u-%02u", time->year, time->month, time->day);
	if (has_date && has_time)
		buf_append_char(out, 'T');
	if (has_time)
		buf_printf(out, "%02u:%02u:%02u", time->hour, time->minute, time->second);
	if (has_time && time->nanosecond)
		buf_printf(out, ".%09" PRIu32, time->nanosecond);
	if (node->kind != TOML_datetime)
		return;
	int offset = time->offset_minutes;
	if (offset == 0)
		buf_append_char(out, 'Z');
	else
		buf_printf(out, "%c%02d:%02d", offset < 0 ? '-' : '+', abs(offset) / 60, abs(offset) % 60);
}

static void write_children(struct buf *out, const struct toml *node)
{
	const char *before = "";
	toml_for_each(it, node) {
		buf_append_c(out, before);
		before = ", ";
		if (node->kind == TOML_table) {
			toml_write_key(out, it->key);
			buf_append_c(out, " = ");
		}
		toml_write_value(out, it);
	}
}

void toml_write_value(struct buf *out, const struct toml *node)
{
	switch (node->kind) {
	case TOML_table:
		buf_append_c(out, node->child ? "{ " : "{");
		write_children(out, node);
		buf_append_c(out, node->child ? " }" : "}");
		return;
	case TOML_array:
		buf_append_char(out, '[');
		write_children(out, node);
		buf_append_char(out, ']');
		return;
	case TOML_string:
		write_text(out, node->text);
		return;
	case TOML_integer:
		buf_printf(out, "%" PRId64, node->integer);
		return;
	case TOML_float:
		write_number(out, node->number);
		return;
	case TOML_bool:
		buf_append_c(out, node->boolean ? "true" : "false");
		return;
	default:
		write_time(out, node);
	}
}

static bool has_pairs(const struct toml *table)
{
	toml_for_each(it, table) {
		if (it->kind != TOML_table)
			return true;
	}
	return !table->child;
}

void toml_write_section(struct buf *out, const struct str *path, size_t count, const struct toml *table,
                        const char *newline)
{
	struct str inner[LIMIT_TOML_DEPTH + 1];
	const char *before = "";
	if (has_pairs(table)) {
		buf_append_char(out, '[');
		toml_write_path(out, path, count);
		buf_printf(out, "]%s", newline);
		before = newline;
	}
	toml_for_each(it, table) {
		if (it->kind == TOML_table)
			continue;
		toml_write_key(out, it->key);
		buf_append_c(out, " = ");
		toml_write_value(out, it);
		buf_append_c(out, newline);
	}
	if (count >= countof(inner))
		return;
	memcpy(inner, path, count * sizeof(*path));
	toml_for_each(it, table) {
		if (it->kind != TOML_table)
			continue;
		inner[count] = it->key;
		buf_append_c(out, before);
		before = newline;
		toml_write_section(out, inner, count + 1, it, newline);
	}
}

/* ---- as JSON ---- */

static int by_key(const void *a, const void *b)
{
	return str_compare((*(const struct toml *const *)a)->key, (*(const struct toml *const *)b)->key);
}

static void to_json(struct json_writer *w, const struct toml *node, bool is_sorted);

static void write_object(struct json_writer *w, const struct toml *table, bool is_sorted)
{
	VEC(const struct toml *) members = {0};
	toml_for_each(it, table)
		vec_push(&members, it);
	if (is_sorted && members.count)
		qsort(members.items, members.count, sizeof(*members.items), by_key);
	jw_object(w);
	vec_for_each(it, &members) {
		jw_key_str(w, (*it)->key);
		to_json(w, *it, is_sorted);
	}
	jw_object_end(w);
	vec_finish(&members);
}

static void write_array(struct json_writer *w, const struct toml *array, bool is_sorted)
{
	jw_array(w);
	toml_for_each(it, array)
		to_json(w, it, is_sorted);
	jw_array_end(w);
}

static void write_time_json(struct json_writer *w, const struct toml *node)
{
	auto_buf struct buf text;
	buf_init(&text, 64);
	write_time(&text, node);
	jw_str(w, buf_str(&text));
}

static void to_json(struct json_writer *w, const struct toml *node, bool is_sorted)
{
	switch (node->kind) {
	case TOML_table:
		write_object(w, node, is_sorted);
		return;
	case TOML_array:
		write_array(w, node, is_sorted);
		return;
	case TOML_string:
		jw_str(w, node->text);
		return;
	case TOML_integer:
		jw_i64(w, node->integer);
		return;
	case TOML_float:
		jw_double(w, node->number);
		return;
	case TOML_bool:
		jw_bool(w, node->boolean);
		return;
	default:
		write_time_json(w, node);
	}
}

void toml_to_json(struct json_writer *w, const struct toml *node)
{
	to_json(w, node, false);
}

void toml_to_sorted_json(struct json_writer *w, const struct toml *node)
{
	to_json(w, node, true);
}
