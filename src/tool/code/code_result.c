/* Texts over the budget become one, cut in the middle. Between pictures each is cut by itself, so that a text stays
 * beside its picture. */
#include "tool/code/code_result.h"

#include <stdio.h>

#include "base/json.h"
#include "tool/code/code_limits.h"
#include "base/text.h"
#include "tool/tool_image.h"

enum { SNIFFED = 64, ERROR_MAX = 64 * KIB };

static void clear(struct code_result *result)
{
	vec_for_each(item, &result->items)
		str_free(&item->text);
	result->items.count = 0;
	result->text_bytes = result->image_bytes = 0;
	result->is_full = false;
}

void code_result_finish(struct code_result *result)
{
	clear(result);
	vec_finish(&result->items);
}

static void add(struct code_result *result, struct str text, bool is_image)
{
	vec_push(&result->items, (struct code_item){str_copy(text), is_image});
}

void code_result_add_text(struct code_result *result, struct str text)
{
	if (result->is_full || !text.len)
		return;
	if (result->items.count < LIMIT_CODE_ITEMS && result->text_bytes + text.len <= LIMIT_CODE_TEXT) {
		result->text_bytes += text.len;
		add(result, text, false);
		return;
	}
	result->is_full = true;
	add(result, STR("[further output was dropped: one result holds 1 MB of text and 4096 items]"), false);
}

static bool is_base64(struct str data)
{
	for (size_t i = 0; i < data.len; i++) {
		char c = data.ptr[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!is_letter && c != '+' && c != '/' && c != '=')
			return false;
	}
	return data.len % 4 == 0;
}

/* Returns the type of a picture by its first bytes; NULL if it has no known type. */
static const char *mime_of(struct str data)
{
	auto_buf struct buf bytes;
	struct str head = data.len > SNIFFED ? str_n(data.ptr, SNIFFED) : data;
	buf_init(&bytes, SNIFFED);
	return is_base64(data) && text_base64_decode(&bytes, head) ? image_mime(buf_str(&bytes)) : NULL;
}

void code_result_add_image(struct code_result *result, struct str url)
{
	auto_buf struct buf clean;
	ptrdiff_t comma = str_find(url, STR(";base64,"));
	struct str data = comma < 0 ? STR("") : str_skip(url, (size_t)comma + 8);
	const char *mime = mime_of(data);
	buf_init(&clean, LIMIT_CODE_IMAGES);
	if (!mime) {
		code_result_add_text(result, STR("[image omitted: its data is no PNG, JPEG, GIF or WebP picture]"));
		return;
	}
	buf_printf(&clean, "data:%s;base64,", mime);
	buf_append_str(&clean, data);
	if (clean.over || clean.len > LIMIT_CODE_IMAGES - result->image_bytes ||
	    result->items.count >= LIMIT_CODE_ITEMS) {
		code_result_add_text(result, STR("[image omitted: the pictures of one result are too large]"));
		return;
	}
	result->image_bytes += clean.len;
	add(result, buf_str(&clean), true);
}

void code_result_add_error(struct code_result *result, struct str text)
{
	if (text.len > ERROR_MAX)
		text.len = text_floor_boundary(text, ERROR_MAX);
	result->text_bytes += text.len;
	add(result, text, false);
}

/* ---- the output ---- */

static void write_item(struct json_writer *w, struct str text, bool is_image)
{
	jw_object(w);
	jw_member_cstr(w, "type", is_image ? "input_image" : "input_text");
	jw_member_str(w, is_image ? "image_url" : "text", text);
	jw_object_end(w);
}

static void append_cut(struct buf *out, struct str text, size_t tokens)
{
	buf_printf(out, "Warning: truncated output (original token count: %zu)\n", text_tokens(text.len));
	text_append_output(out, text, (struct text_budget){TEXT_TOKENS, tokens});
}

static void write_joined(struct json_writer *w, const struct code_result *result, size_t tokens)
{
	auto_buf struct buf all, cut;
	buf_init(&all, 2 * (size_t)LIMIT_CODE_TEXT);
	buf_init(&cut, 2 * (size_t)LIMIT_CODE_TEXT);
	vec_for_each(item, &result->items) {
		if (all.len)
			buf_append_char(&all, '\n');
		buf_append_str(&all, item->text);
	}
	append_cut(&cut, buf_str(&all), tokens);
	write_item(w, buf_str(&cut), false);
}

static void write_with_images(struct json_writer *w, const struct code_result *result, size_t tokens)
{
	size_t left = tokens, omitted = 0;
	char note[64];
	vec_for_each(item, &result->items) {
		auto_buf struct buf cut;
		size_t size = text_tokens(item->text.len);
		buf_init(&cut, 2 * (size_t)LIMIT_CODE_TEXT);
		if (item->is_image || size <= left) {
			write_item(w, item->text, item->is_image);
		} else if (left) {
			append_cut(&cut, item->text, left);
			write_item(w, buf_str(&cut), false);
		} else {
			omitted++;
		}
		if (!item->is_image)
			left -= size < left ? size : left;
	}
	if (!omitted)
		return;
	snprintf(note, sizeof(note), "[%zu text items were omitted]", omitted);
	write_item(w, str_of(note), false);
}

void code_result_write(struct code_result *result, struct str head, size_t tokens, struct buf *text, struct buf *parts)
{
	if (!result->items.count) {
		buf_append_str(text, head);
		return;
	}
	struct json_writer w = json_writer(parts);
	bool is_over = result->text_bytes > 0 && (tokens == 0 || text_tokens(result->text_bytes) > tokens);
	jw_array(&w);
	write_item(&w, head, false);
	if (is_over && !result->image_bytes) {
		write_joined(&w, result, tokens);
	} else if (is_over) {
		write_with_images(&w, result, tokens);
	} else {
		vec_for_each(item, &result->items)
			write_item(&w, item->text, item->is_image);
	}
	jw_array_end(&w);
	clear(result);
}
