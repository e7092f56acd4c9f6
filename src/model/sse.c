/* Most feeds hold whole events, so lines and fields are slices of the fed bytes; bytes are copied only if a feed ends
 * inside an event. The fields parsed so far are then kept, and the incomplete line is carried to the next feed. The
 * positions of the next "\n" and the next "\r" are cached until passed, so that each byte is examined a constant number
 * of times for any mix of line endings. */
#include "model/sse.h"

#include <assert.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

static_assert(LIMIT_SSE_LINE <= LIMIT_SSE_EVENT, "data of one line must fit an event");

void sse_init(struct sse *sse, sse_event_fn on_event, void *self)
{
	*sse = (struct sse){.retry_ms = -1, .on_event = on_event, .self = self};
	buf_init(&sse->line, LIMIT_SSE_LINE);
	buf_init(&sse->event.kept, LIMIT_SSE_EVENT);
	buf_init(&sse->data.kept, LIMIT_SSE_EVENT);
	buf_init(&sse->id.kept, LIMIT_SSE_EVENT);
}

void sse_finish(struct sse *sse)
{
	if (!sse)
		return;
	buf_finish(&sse->line);
	buf_finish(&sse->event.kept);
	buf_finish(&sse->data.kept);
	buf_finish(&sse->id.kept);
	sse->is_stopped = true;
}

static int refuse(struct sse *sse, struct error *err, const char *what, const char *limit, int bytes)
{
	sse->is_stopped = true;
	return error_set(err, ERR_limit, "the server sent %s of more than %d bytes (%s)", what, bytes, limit);
}

/* ---- fields ---- */

/* Copies the field, so that it no longer depends on the fed bytes and the carried line. */
static void field_keep(struct sse_field *field)
{
	if (!field->text.ptr || field->text.ptr == field->kept.data)
		return;
	buf_clear(&field->kept);
	buf_append_str(&field->kept, field->text);
	field->text = buf_str(&field->kept);
}

static int take_event(struct sse *sse, struct str value, struct error *err)
{
	(void)err;
	sse->event.text = value;
	return 0;
}

static int take_data(struct sse *sse, struct str value, struct error *err)
{
	struct sse_field *data = &sse->data;
	if (!data->text.ptr) {
		data->text = value;
		return 0;
	}
	field_keep(data);
	buf_append_char(&data->kept, '\n');
	buf_append_str(&data->kept, value);
	if (data->kept.over)
		return refuse(sse, err, "an event", "LIMIT_SSE_EVENT", LIMIT_SSE_EVENT);
	data->text = buf_str(&data->kept);
	return 0;
}

static int take_id(struct sse *sse, struct str value, struct error *err)
{
	(void)err;
	if (str_find_char(value, '\0') < 0)
		sse->id.text = value;
	return 0;
}

static int take_retry(struct sse *sse, struct str value, struct error *err)
{
	int64_t ms;
	(void)err;
	if (value.len && value.ptr[0] >= '0' && value.ptr[0] <= '9' && str_to_i64(value, &ms))
		sse->retry_ms = ms;
	return 0;
}

static const struct {
	struct str name;
	int (*take)(struct sse *sse, struct str value, struct error *err);
} fields[] = {
	{{"data", 4}, take_data},
	{{"event", 5}, take_event},
	{{"id", 2}, take_id},
	{{"retry", 5}, take_retry},
};

/* ---- lines ---- */

static void dispatch(struct sse *sse)
{
	struct sse_event event = {.event = sse->event.text, .data = sse->data.text, .id = sse->id.text};
	sse->event.text = STR_NONE;
	sse->data.text = STR_NONE;
	if (!event.data.ptr)
		return;
	if (event.event.len == 0)
		event.event = STR("message");
	if (!event.id.ptr)
		event.id = STR("");
	if (!sse->on_event(&event, sse->self))
		sse->is_stopped = true;
}

static int take_field(struct sse *sse, struct str line, struct error *err)
{
	ptrdiff_t colon = str_find_char(line, ':');
	struct str name = colon < 0 ? line : str_n(line.ptr, (size_t)colon);
	struct str value = str_skip(line, colon < 0 ? line.len : (size_t)colon + 1);
	str_cut_prefix(&value, " ");
	for (size_t i = 0; i < countof(fields); i++) {
		if (str_eq(name, fields[i].name))
			return fields[i].take(sse, value, err);
	}
	return 0; /* a comment (empty name), or an unknown field */
}

static int take_line(struct sse *sse, struct str line, struct error *err)
{
	if (line.len > LIMIT_SSE_LINE)
		return refuse(sse, err, "a line", "LIMIT_SSE_LINE", LIMIT_SSE_LINE);
	if (!sse->is_begun)
		str_cut_prefix(&line, "\xef\xbb\xbf");
	sse->is_begun = true;
	if (line.len)
		return take_field(sse, line, err);
	dispatch(sse);
	return 0;
}

/* ---- feeds ---- */

struct feed {
	const char *at, *end;
	const char *lf, *cr; /* the next "\n" and "\r" at or after `at`, or end */
};

static const char *find(const char *at, const char *end, char c)
{
	const char *hit = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
	return hit ? hit : end;
}

/* False if no line ends in the rest of the feed. */
static bool next_line(struct sse *sse, struct feed *in, struct str *ret)
{
	if (in->lf < in->at)
		in->lf = find(in->at, in->end, '\n');
	if (in->cr < in->at)
		in->cr = find(in->at, in->end, '\r');
	const char *eol = in->lf < in->cr ? in->lf : in->cr;
	if (eol == in->end)
		return false;
	*ret = str_n(in->at, (size_t)(eol - in->at));
	in->at = eol + 1;
	sse->is_after_cr = *eol == '\r' && in->at == in->end;
	if (*eol == '\r' && in->at < in->end && *in->at == '\n')
		in->at++;
	return true;
}

static int carry(struct sse *sse, struct str bytes, struct error *err)
{
	buf_append_str(&sse->line, bytes);
	return sse->line.over ? refuse(sse, err, "a line", "LIMIT_SSE_LINE", LIMIT_SSE_LINE) : 0;
}

/* The first line of a feed completes the carried one, if any. Fields may point into sse->line until keep_fields. */
static int take_first_line(struct sse *sse, struct str line, struct error *err)
{
	if (sse->line.len == 0)
		return take_line(sse, line, err);
	int result = carry(sse, line, err);
	return result < 0 ? result : take_line(sse, buf_str(&sse->line), err);
}

static void keep_fields(struct sse *sse)
{
	field_keep(&sse->event);
	field_keep(&sse->data);
	field_keep(&sse->id);
	buf_reuse(&sse->line);
}

int sse_feed(struct sse *sse, struct str bytes, struct error *err)
{
	if (sse->is_after_cr && bytes.len) {
		sse->is_after_cr = false;
		str_cut_prefix(&bytes, "\n");
	}
	if (sse->is_stopped || bytes.len == 0)
		return 0;
	const char *end = bytes.ptr + bytes.len;
	struct feed in = {bytes.ptr, end, find(bytes.ptr, end, '\n'), find(bytes.ptr, end, '\r')};
	struct str line;
	if (next_line(sse, &in, &line)) {
		int result = take_first_line(sse, line, err);
		while (result == 0 && !sse->is_stopped && next_line(sse, &in, &line))
			result = take_line(sse, line, err);
		keep_fields(sse);
		if (result < 0 || sse->is_stopped)
			return result;
	}
	return carry(sse, str_n(in.at, (size_t)(end - in.at)), err);
}

int sse_end(struct sse *sse, struct error *err)
{
	int result = 0;
	if (sse->is_stopped)
		return 0;
	/* An incomplete line could corrupt the data of its event, so it is used only if there is no data yet. */
	if (sse->line.len && !sse->data.text.ptr)
		result = take_line(sse, buf_str(&sse->line), err);
	if (result == 0)
		dispatch(sse);
	sse->is_stopped = true;
	return result;
}
