/* An image file becomes three parts, so that the model can match it with the words around it:
 * a label, the image, and the label's end (core 1.3). */
#include "engine/history/user_message.h"

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

/* A message that is being written. */
struct message {
	struct json_writer w;
	const char *cwd;
	size_t room; /* bytes that its images may still have */
	int images;  /* files so far */
	bool has_part;
};

/* For a name or path within a text of ours; owned. */
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

/* What a data: URL holds is three quarters of it; any other is fetched by the provider. */
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
	default: /* skills come as messages of their own, and a mention is for whoever connects apps */
		return;
	}
	to->has_part = true;
}

static void write_name(struct message *to, struct str name)
{
	auto_free char *shown = one_line(name);
	write_textf(&to->w, "$%s", shown);
}

/* Providers take no message without a part: who says nothing but which skill or app he means, says its name. */
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
