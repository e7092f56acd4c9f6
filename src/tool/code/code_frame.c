/* Bytes are collected until a frame is whole. The frames of a stream are the same however it was cut: a wrong length
 * counts when its turn comes. */
#include "tool/code/code_frame.h"

#include "tool/code/code_limits.h"
#include "tool/code/code_tools.h"

enum { HEAD = 4 };

void code_frames_init(struct code_frames *frames)
{
	*frames = (struct code_frames){0};
	buf_init(&frames->rest, 2 * (size_t)LIMIT_CODE_FRAME + HEAD + 64 * (size_t)KIB);
}

void code_frames_finish(struct code_frames *frames)
{
	buf_finish(&frames->rest);
}

static struct str unread(const struct code_frames *frames)
{
	return str_skip(buf_str(&frames->rest), frames->at);
}

static size_t length_of(struct str frame)
{
	const unsigned char *head = (const unsigned char *)frame.ptr;
	return head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24;
}

/* Bytes move only when half of them have been read, so that a backlog of small frames costs each byte once. */
void code_frames_add(struct code_frames *frames, struct str bytes)
{
	if (frames->at && frames->at >= frames->rest.len / 2) {
		buf_consume(&frames->rest, frames->at);
		frames->at = 0;
	}
	buf_append_str(&frames->rest, bytes);
	frames->is_broken = frames->is_broken || frames->rest.over;
}

static bool is_too_long(struct str rest)
{
	return rest.len >= HEAD && length_of(rest) > LIMIT_CODE_FRAME;
}

bool code_frames_next(struct code_frames *frames, struct str *ret)
{
	struct str rest = unread(frames);
	if (rest.len < HEAD || is_too_long(rest) || rest.len - HEAD < length_of(rest))
		return false;
	*ret = str_n(rest.ptr + HEAD, length_of(rest));
	return true;
}

bool code_frames_are_broken(const struct code_frames *frames)
{
	return frames->is_broken || is_too_long(unread(frames));
}

void code_frames_drop(struct code_frames *frames)
{
	frames->at += HEAD + length_of(unread(frames));
	if (frames->at == frames->rest.len) {
		buf_reuse(&frames->rest);
		frames->at = 0;
	}
}

struct json_writer code_frame_begin(struct buf *out, const char *type)
{
	buf_init(out, LIMIT_CODE_FRAME);
	buf_append(out, "\0\0\0\0", HEAD);
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "t", type);
	return w;
}

bool code_frame_end(struct buf *out, struct json_writer *w)
{
	jw_object_end(w);
	if (out->over)
		return false;
	size_t len = out->len - HEAD;
	for (size_t i = 0; i < HEAD; i++)
		out->data[i] = (char)(len >> (8 * i));
	return true;
}

bool code_frame_write_start(struct buf *out, struct str source, const struct code_tools *tools,
                            const struct code_value *values, size_t count)
{
	struct json_writer w = code_frame_begin(out, "start");
	jw_member_str(&w, "source", source);
	jw_key(&w, "tools");
	code_tools_write(tools, &w);
	jw_key(&w, "stored");
	jw_object(&w);
	for (size_t i = 0; i < count; i++) {
		jw_key_str(&w, values[i].key);
		jw_str(&w, values[i].json);
	}
	jw_object_end(&w);
	return code_frame_end(out, &w);
}
