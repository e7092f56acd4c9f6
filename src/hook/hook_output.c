/* Text that begins as JSON is read as JSON, so that a hook with a mistake in it fails instead of adding the text to the
 * conversation. */
#include "hook/hook_output.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

struct reader {
	const struct hook_event_type *event;
	enum hook_event tag;
	struct arena *arena;
	struct hook_effect *to;
};

static __attribute__((format(printf, 2, 3))) void fail(const struct reader *r, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_HOOK_COMPLAINT * 2);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	*r->to = (struct hook_effect){.status = hook_status_failed, .error = arena_str(r->arena, buf_str(&text))};
}

static struct str clean(const struct reader *r, struct str text)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_HOOK_OUTPUT * 4);
	text_append_utf8_lossy(&out, str_trim(text));
	return arena_str(r->arena, buf_str(&out));
}

/* ---- JSON ---- */

enum kind { KIND_text, KIND_bool, KIND_object };

struct member {
	const char *name;
	enum kind kind;
};

static bool is_of(const struct json *value, enum kind kind)
{
	static const enum json_type types[] = {JSON_string, JSON_bool, JSON_object};
	return json_is(value, types[kind]) || json_is(value, JSON_null);
}

/* Checks that an object has known members of the right kinds only. */
static bool check(const struct reader *r, const struct json *object, const struct member *members, size_t count)
{
	json_for_each(it, object) {
		size_t i = 0;
		while (i < count && !str_is(it->key, members[i].name))
			i++;
		if (i == count)
			fail(r, "its output has the unknown member `%.*s`", (int)(it->key.len < 64 ? it->key.len : 64),
			     it->key.ptr);
		else if (!is_of(it, members[i].kind))
			fail(r, "the member `%s` of its output has the wrong type", members[i].name);
		if (i == count || !is_of(it, members[i].kind))
			return false;
	}
	return true;
}

static struct str text_of(const struct reader *r, const struct json *object, const char *key)
{
	struct str text = json_get_str(object, key);
	return text.ptr ? clean(r, text) : STR_NONE;
}

static void block(const struct reader *r, struct str reason)
{
	if (!(r->event->flags & HOOK_BLOCKS))
		fail(r, "%s hooks cannot block", r->event->name);
	else if (!reason.len)
		fail(r, "it blocks without a reason");
	else
		*r->to = (struct hook_effect){.status = hook_status_blocked,
		                              .reason = reason,
		                              .context = r->to->context,
		                              .message = r->to->message};
}

static void read_permission(const struct reader *r, const struct json *decision)
{
	static const struct member members[] = {{"behavior", KIND_text}, {"message", KIND_text}};
	struct str behavior = json_get_str(decision, "behavior");
	if (!check(r, decision, members, countof(members)))
		return;
	if (!(r->event->flags & HOOK_ASKS))
		fail(r, "only PermissionRequest hooks decide about permissions");
	else if (str_is(behavior, "allow"))
		r->to->permission = HOOK_PERMISSION_allow;
	else if (str_is(behavior, "deny"))
		r->to->permission = HOOK_PERMISSION_deny;
	else
		fail(r, "`behavior` must be `allow` or `deny`");
	if (r->to->permission == HOOK_PERMISSION_deny)
		r->to->permission_message = text_of(r, decision, "message");
}

static void read_tool_decision(const struct reader *r, const struct json *object)
{
	const struct json *updated = json_get(object, "updatedInput");
	struct str word = json_get_str(object, "permissionDecision");
	bool is_allowed = str_is(word, "allow");
	if (!word.ptr && !json_is(updated, JSON_object))
		return;
	if (r->tag != hook_event_pre_tool_use)
		fail(r, "only PreToolUse hooks decide about tools");
	else if (str_is(word, "deny"))
		block(r, text_of(r, object, "permissionDecisionReason"));
	else if (!is_allowed)
		fail(r, "`permissionDecision` must be `allow` or `deny`, and `updatedInput` needs `allow`");
	else if (json_is(updated, JSON_object))
		r->to->updated_input = arena_str(r->arena, updated->span);
}

static void read_specific(const struct reader *r, const struct json *object)
{
	static const struct member members[] = {
		{"hookEventName", KIND_text},      {"additionalContext", KIND_text},
		{"permissionDecision", KIND_text}, {"permissionDecisionReason", KIND_text},
		{"updatedInput", KIND_object},     {"decision", KIND_object},
	};
	enum hook_event named;
	struct str name = json_get_str(object, "hookEventName");
	struct str context = text_of(r, object, "additionalContext");
	if (!check(r, object, members, countof(members)))
		return;
	if (name.ptr && !hook_event_find(name, &named)) { /* codex 0.169 accepts the name of another event, too */
		fail(r, "`hookEventName` must be the name of an event, such as `%s`", r->event->name);
		return;
	}
	if (context.len && !(r->event->flags & HOOK_CONTEXT)) {
		fail(r, "%s hooks cannot add context", r->event->name);
		return;
	}
	r->to->context = context.len ? context : STR_NONE;
	if (json_is(json_get(object, "decision"), JSON_object))
		read_permission(r, json_get(object, "decision"));
	else
		read_tool_decision(r, object);
}

/* Applies `decision`, `reason` and `continue` to an effect that has not failed. */
static void read_decision(const struct reader *r, const struct json *object)
{
	struct str decision = json_get_str(object, "decision"), reason = text_of(r, object, "reason");
	bool is_stop = !json_get_bool(object, "continue", true);
	if (decision.ptr && !str_is(decision, "block") && !str_is(decision, "approve"))
		fail(r, "`decision` must be `block`");
	else if (is_stop && !(r->event->flags & HOOK_STOPS))
		fail(r, "%s hooks cannot stop the turn with `continue`", r->event->name);
	else if (is_stop)
		*r->to = (struct hook_effect){.status = hook_status_stopped,
		                              .reason = text_of(r, object, "stopReason"),
		                              .message = r->to->message};
	else if (str_is(decision, "block"))
		block(r, reason);
}

static void read_json(const struct reader *r, struct str text)
{
	static const struct member members[] = {
		{"continue", KIND_bool},
		{"stopReason", KIND_text},
		{"suppressOutput", KIND_bool},
		{"systemMessage", KIND_text},
		{"decision", KIND_text},
		{"reason", KIND_text},
		{"hookSpecificOutput", KIND_object},
	};
	struct error err;
	auto_arena struct arena arena = {0};
	const struct json *object = json_parse(&arena, text, &err);
	if (!object) {
		fail(r, "its output is not valid JSON: %s", err.text);
		return;
	}
	if (object->type != JSON_object) {
		fail(r, "its output is JSON, but not an object");
		return;
	}
	if (!check(r, object, members, countof(members)))
		return;
	r->to->message = text_of(r, object, "systemMessage");
	if (json_is(json_get(object, "hookSpecificOutput"), JSON_object))
		read_specific(r, json_get(object, "hookSpecificOutput"));
	if (r->to->status == hook_status_completed)
		read_decision(r, object);
}

/* ---- the end ---- */

static void read_failure(const struct reader *r, const struct hook_end *end)
{
	struct str complaint = clean(r, end->complaint);
	const char *colon = complaint.len ? ": " : "";
	if (end->failure)
		fail(r, "%s", end->failure);
	else if (end->signal)
		fail(r, "it was ended by signal %d%s%.*s", end->signal, colon, STR_ARG(complaint));
	else if (end->exit_code == 2 && (r->event->flags & HOOK_BLOCKS))
		block(r, complaint);
	else
		fail(r, "it exited with status %d%s%.*s", end->exit_code, colon, STR_ARG(complaint));
}

void hook_output_read(enum hook_event event, const struct hook_end *end, struct arena *arena, struct hook_effect *ret)
{
	const struct reader r = {&hook_events[event], event, arena, ret};
	struct str out = str_trim(end->out);
	*ret = (struct hook_effect){.status = hook_status_completed};
	if (end->failure || end->signal || end->exit_code)
		read_failure(&r, end);
	else if (out.len && (out.ptr[0] == '{' || out.ptr[0] == '['))
		read_json(&r, out);
	else if (out.len && (r.event->flags & HOOK_TEXT))
		ret->context = clean(&r, out);
}
