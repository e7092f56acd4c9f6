/* The notes of the log, and which submissions they keep. */
#include "base/json.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_log.h"
#include "fleet/fleet_log_priv.h"
#include "protocol/record/types.h"

const struct fleet_kept_op fleet_kept_ops[] = {
	{"user_input", true},
	{"user_turn", true},
	{"review", true},
	{"compact", true},
	{"run_user_shell_command", true},
	{"configure_session", false},
	{"override_turn_context", false},
	{NULL, false},
};

static struct json_writer begin(struct buf *out, const char *kind)
{
	buf_append_c(out, FLEET_NOTE);
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "kind", kind);
	return w;
}

static void end(struct buf *out, struct json_writer *w)
{
	jw_object_end(w);
	buf_append_char(out, '}');
}

static bool is_kept(struct str type)
{
	for (const struct fleet_kept_op *op = fleet_kept_ops; op->type; op++) {
		if (str_is(type, op->type))
			return true;
	}
	return false;
}

/* A submission may be written over several lines; a note has one. */
static void write_on_one_line(struct json_writer *w, struct str text)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_REDIS_REPLY);
	buf_append_str(&line, text);
	for (size_t i = 0; i < line.len; i++)
		line.data[i] = line.data[i] == '\n' || line.data[i] == '\r' ? ' ' : line.data[i];
	jw_member_raw(w, "submission", buf_str(&line));
}

void fleet_note_submission(struct buf *out, struct str id, struct str text)
{
	auto_arena struct arena arena = {0};
	struct json_writer w = begin(out, "submission");
	const struct json *json = text.ptr ? json_parse(&arena, text, NULL) : NULL;
	jw_member_str(&w, "id", id);
	if (json && is_kept(json_get_str(json_get(json, "op"), "type")))
		write_on_one_line(&w, json->span);
	end(out, &w);
}

void fleet_note_task(struct buf *out, struct str id, bool is_end)
{
	struct json_writer w = begin(out, is_end ? "end" : "task");
	jw_member_str(&w, "id", id);
	end(out, &w);
}

void fleet_note_begin(struct buf *out, const char *thread_id, struct str call_id)
{
	struct json_writer w = begin(out, "begin");
	jw_member_cstr(&w, "thread", thread_id);
	jw_member_str(&w, "call_id", call_id);
	end(out, &w);
}

void fleet_note_event(struct buf *out, const struct event_msg *event)
{
	struct json_writer w = begin(out, "event");
	jw_key(&w, "event");
	union_encode(&union_event_msg, event, &w);
	end(out, &w);
}

void fleet_note_line(struct buf *out, const char *thread_id, struct str line)
{
	struct json_writer w = begin(out, "line");
	jw_member_cstr(&w, "thread", thread_id);
	jw_member_raw(&w, "line", line);
	end(out, &w);
}
