/* The settings of a session: those of all submissions that changed them, merged, become the ops that restore them. */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_log_priv.h"

/* Members that describe one task, not the settings. */
static bool is_of_task(struct str key)
{
	static const char *const names[] = {
		"type",        "items",        "final_output_json_schema", "last_response_id", "mode", "client_id",
		"resume_path", "dynamic_tools"};
	for (size_t i = 0; i < countof(names); i++) {
		if (str_is(key, names[i]))
			return true;
	}
	return false;
}

static bool has_member(const struct json *object, struct str key)
{
	json_for_each(member, object) {
		if (str_eq(member->key, key))
			return true;
	}
	return false;
}

static void write_members(struct json_writer *w, const struct json *from, const struct json *unless)
{
	json_for_each(member, from) {
		if (is_of_task(member->key) || has_member(unless, member->key) || member->type == JSON_null)
			continue;
		jw_key_str(w, member->key);
		jw_value(w, member);
	}
}

/* Replaces the object by its members without those of op, and the members of op if they are added. */
static void merge(struct buf *object, const struct json *op, bool adds)
{
	auto_arena struct arena arena = {0};
	struct buf fresh;
	buf_init(&fresh, LIMIT_LINE);
	struct json_writer w = json_writer(&fresh);
	jw_object(&w);
	write_members(&w, object->len ? json_parse(&arena, buf_str(object), NULL) : NULL, op);
	if (adds)
		write_members(&w, op, NULL);
	jw_object_end(&w);
	buf_finish(object);
	*object = fresh;
}

void fleet_log_take_settings(struct fleet_log *log, const struct json *op)
{
	struct str type = json_get_str(op, "type");
	if (str_is(type, "configure_session")) {
		merge(&log->configure, op, true);
		merge(&log->override, op, false);
	} else if (str_is(type, "override_turn_context") || str_is(type, "user_turn")) {
		merge(&log->override, op, true);
	}
}

static void write_op(const struct buf *settings, const char *type, struct str path, struct buf *out)
{
	auto_arena struct arena arena = {0};
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "id", "");
	jw_key(&w, "op");
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	write_members(&w, settings->len ? json_parse(&arena, buf_str(settings), NULL) : NULL, NULL);
	if (path.ptr)
		jw_member_str(&w, "resume_path", path);
	jw_object_end(&w);
	jw_object_end(&w);
}

void fleet_log_write_configure(const struct fleet_log *log, struct buf *out)
{
	write_op(&log->configure, "configure_session",
	         log->threads.count ? str_of(log->threads.items[0].path) : STR_NONE, out);
}

bool fleet_log_write_override(const struct fleet_log *log, struct buf *out)
{
	if (log->override.len <= 2)
		return false;
	write_op(&log->override, "override_turn_context", STR_NONE, out);
	return true;
}
