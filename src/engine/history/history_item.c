/* An image file becomes three parts, so that the model can match it with the text that refers to it: an opening label,
 * the image, a closing label.
 *
 * Items of a response are sent back byte for byte, unknown fields included, except their ids: with store=false a
 * provider does not recognize them. */
#include "engine/history/history_item.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "tool/tool_image.h"

static void write_text(struct json_writer *w, struct str text)
{
	jw_object(w);
	jw_member_cstr(w, "type", "input_text");
	jw_member_str(w, "text", text);
	jw_object_end(w);
}

static void write_textf(struct json_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write_textf(struct json_writer *w, const char *format, ...)
{
	auto_buf struct buf text;
	buf_init(&text, 16 * KIB);
	va_list args;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	write_text(w, buf_str(&text));
}

static void write_image_url(struct json_writer *w, struct str url)
{
	jw_object(w);
	jw_member_cstr(w, "type", "input_image");
	jw_member_str(w, "image_url", url);
	jw_object_end(w);
}

static void write_image_bytes(struct json_writer *w, const char *mime, struct str bytes)
{
	auto_buf struct buf url;
	buf_init(&url, LIMIT_IMAGE_FILE * 2);
	buf_printf(&url, "data:%s;base64,", mime);
	text_base64(&url, bytes.ptr, bytes.len);
	write_image_url(w, buf_str(&url));
}

struct message {
	struct json_writer w;
	const char *cwd;
	size_t room; /* bytes that are left for images of this message */
	int images;  /* number of image files so far */
	bool has_part;
};

/* Returns a name or path for use inside a text part, owned by the caller. */
static char *one_line(struct str name)
{
	auto_buf struct buf text;
	buf_init(&text, 64 * KIB);
	text_append_line(&text, name);
	return buf_take(&text);
}

static void write_too_large(struct message *to, const char *what)
{
	write_textf(&to->w,
	            "Codex left out %s: the images of one message may have %d MB together, and this one passes "
	            "that. Make it smaller, or show it by itself.",
	            what, LIMIT_IMAGE_FILE / MIB);
}

static void write_unreadable(struct message *to, const char *path, const char *why)
{
	write_textf(&to->w, "Codex could not read the local image at `%s`: %s", path, why);
}

static void write_local_image(struct message *to, struct str path)
{
	auto_free char *name = str_dup(path);
	auto_free char *full = path_join(to->cwd, name);
	auto_buf struct buf file;
	struct error err;
	int number = ++to->images;
	buf_init(&file, to->room);
	int status = file_read_regular(full, &file, &err);
	const char *mime = status == 0 ? image_mime(buf_str(&file)) : NULL;
	auto_free char *shown = one_line(str_of(full)), *why = one_line(str_of(status == 0 ? "" : err.text));
	if (status != 0 && err.code == ERR_limit) {
		auto_free char *what = xasprintf("the local image at `%s`", shown);
		write_too_large(to, what);
	} else if (status != 0) {
		write_unreadable(to, shown, why);
	} else if (!mime) {
		write_unreadable(to, shown, "not a PNG, JPEG, GIF or WebP file");
	} else {
		to->room -= file.len;
		write_textf(&to->w, "<image name=[Image #%d]>", number);
		write_image_bytes(&to->w, mime, buf_str(&file));
		write_text(&to->w, STR("</image>"));
	}
}

/* Writes an image. The data of a data: URL is three quarters of its length; any other URL is fetched by the
 * provider. */
static void write_image(struct message *to, struct str url)
{
	size_t size = str_has_prefix(url, "data:") ? url.len / 4 * 3 : 0;
	if (size > to->room) {
		write_too_large(to, "an image");
		return;
	}
	to->room -= size;
	write_image_url(&to->w, url);
}

static void write_item(struct message *to, const struct user_input *item)
{
	switch (item->tag) {
	case user_input_text:
		write_text(&to->w, item->text->text);
		break;
	case user_input_image:
		write_image(to, item->image->image_url);
		break;
	case user_input_local_image:
		write_local_image(to, item->local_image->path);
		break;
	default: /* skills are separate messages; mentions name apps, which are not supported */
		return;
	}
	to->has_part = true;
}

static void write_name(struct message *to, struct str name)
{
	auto_free char *shown = one_line(name);
	write_textf(&to->w, "$%s", shown);
}

/* Writes the names of skills or apps if the input contains nothing else, because providers reject a message without
 * parts. */
static void write_names(struct message *to, const struct user_input *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (items[i].tag == user_input_skill)
			write_name(to, items[i].skill->name);
		else if (items[i].tag == user_input_mention)
			write_name(to, items[i].mention->name);
	}
}

void user_message_write(struct buf *out, const char *cwd, const struct user_input *items, size_t count)
{
	struct message to = {.w = json_writer(out), .cwd = cwd, .room = LIMIT_IMAGE_FILE};
	jw_object(&to.w);
	jw_member_cstr(&to.w, "type", "message");
	jw_member_cstr(&to.w, "role", "user");
	jw_key(&to.w, "content");
	jw_array(&to.w);
	for (size_t i = 0; i < count; i++)
		write_item(&to, &items[i]);
	if (!to.has_part)
		write_names(&to, items, count);
	jw_array_end(&to.w);
	jw_object_end(&to.w);
}

void text_message_write(struct buf *out, const char *role, struct str text)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "type", "message");
	jw_member_cstr(&w, "role", role);
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", strcmp(role, "assistant") == 0 ? "output_text" : "input_text");
	jw_member_str(&w, "text", text);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
}

/* ---- items of a response ---- */

static bool is_sent_back(const struct json *item, const struct json *member)
{
	if (member->type == JSON_null)
		return false;
	if (str_is(member->key, "status"))
		return str_is(json_get_str(item, "type"), "local_shell_call") ||
		       str_is(json_get_str(item, "type"), "web_search_call");
	if (str_is(member->key, "id"))
		return str_is(json_get_str(item, "type"), "web_search_call");
	return true;
}

static bool is_inside(struct str text, const char *place)
{
	return place >= text.ptr && place < text.ptr + text.len;
}

size_t response_item_write(struct buf *out, const struct json *item, const char *place)
{
	size_t found = 0;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	json_for_each(member, item) {
		if (!is_sent_back(item, member))
			continue;
		jw_key_str(&w, member->key);
		if (is_inside(member->span, place))
			found = out->len + (size_t)(place - member->span.ptr);
		jw_value(&w, member);
	}
	jw_object_end(&w);
	return found;
}

static struct str part_text(const struct json *part)
{
	struct str text = json_get_str(part, "text");
	return text.ptr && !str_is(json_get_str(part, "type"), "refusal") ? text : json_get_str(part, "refusal");
}

struct str response_item_text(struct buf *spare, const struct json *message)
{
	const struct json *parts = json_get(message, "content");
	if (json_is(parts, JSON_array) && parts->count == 1) {
		struct str text = part_text(parts->child);
		return text.ptr ? text : STR("");
	}
	json_for_each(part, parts)
		buf_append_str(spare, part_text(part));
	return buf_str(spare);
}

struct str web_search_words(const struct json *action, struct arena *arena)
{
	struct str type = json_get_str(action, "type"), query = json_get_str(action, "query");
	struct str url = json_get_str(action, "url"), pattern = json_get_str(action, "pattern");
	const struct json *queries = json_get(action, "queries");
	if (str_is(type, "open_page"))
		return url.ptr ? url : STR("");
	if (str_is(type, "find_in_page") && pattern.ptr && url.ptr)
		return str_of(arena_printf(arena, "'%.*s' in %.*s", STR_ARG(pattern), STR_ARG(url)));
	if (str_is(type, "find_in_page"))
		return pattern.ptr ? pattern : url;
	if (query.len || !json_is(queries, JSON_array) || !json_is(queries->child, JSON_string))
		return query.ptr ? query : STR("");
	struct str first = queries->child->text;
	return queries->count > 1 && first.len ? str_of(arena_printf(arena, "%.*s ...", STR_ARG(first))) : first;
}
