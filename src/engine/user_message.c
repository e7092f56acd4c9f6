/* An image file becomes three parts, so that the model can match it with the words around it:
 * a label, the image, and the label's end (core 1.3). */
#include "engine/user_message.h"

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

static void write_local_image(struct json_writer *w, const char *cwd, struct str path, int number)
{
	auto_free char *name = str_dup(path);
	auto_free char *full = path_join(cwd, name);
	auto_buf struct buf file;
	struct error err;
	buf_init(&file, LIMIT_IMAGE_FILE);
	if (file_read_regular(full, &file, &err) != 0) {
		write_textf(w, "Codex could not read the local image at `%s`: %s", full, err.text);
		return;
	}
	const char *mime = image_mime(buf_str(&file));
	if (!mime) {
		write_textf(w, "Codex could not read the local image at `%s`: not a PNG, JPEG, GIF or WebP file", full);
		return;
	}
	write_textf(w, "<image name=[Image #%d]>", number);
	write_image_bytes(w, mime, buf_str(&file));
	write_text(w, STR("</image>"));
}

void user_message_write(struct buf *out, const char *cwd, const struct user_input *items, size_t count)
{
	struct json_writer w = json_writer(out);
	int images = 0;
	jw_object(&w);
	jw_member_cstr(&w, "type", "message");
	jw_member_cstr(&w, "role", "user");
	jw_key(&w, "content");
	jw_array(&w);
	for (size_t i = 0; i < count; i++) {
		if (items[i].tag == user_input_text)
			write_text(&w, items[i].text->text);
		else if (items[i].tag == user_input_image)
			write_image_url(&w, items[i].image->image_url);
		else if (items[i].tag == user_input_local_image)
			write_local_image(&w, cwd, items[i].local_image->path, ++images);
	}
	jw_array_end(&w);
	jw_object_end(&w);
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
