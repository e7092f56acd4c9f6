/* A client that runs calls of its own asks for the review of one. The call would need an approval if the engine made
 * it. */
#include "engine/session/guardian_inquiry.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/guardian.h"
#include "engine/session/guardian_request.h"
#include "engine/session/guardian_review.h"
#include "engine/session/session.h"
#include "rollout/rollout_item.h"

struct guardian_inquiry {
	struct guardian_review review;
	bool is_running; /* the review; else the call needs none */
	struct loop_deferred done;
	char *call_id;
	guardian_inquiry_fn on_done;
	void *self;
};

static bool is_reviewable(const struct json *item)
{
	static const char *const names[] = {"exec_command", "shell_command", "shell", "apply_patch"};
	struct str name = json_get_str(item, "name");
	if (rollout_item_call(item) != ROLLOUT_CALL || !json_get_str(item, "call_id").len)
		return false;
	for (size_t i = 0; i < countof(names); i++) {
		if (str_is(name, names[i]))
			return true;
	}
	return str_has_prefix(json_get_str(item, "namespace"), "mcp__");
}

static struct str input_of(const struct json *item)
{
	struct str arguments = json_get_str(item, "arguments");
	return arguments.ptr ? arguments : json_get_str(item, "input");
}

/* True if the call would need an approval: a command that stays in the sandbox needs none. */
static bool needs_review(const struct session *session, const struct json *item)
{
	auto_arena struct arena arena = {0};
	enum ask_for_approval_tag policy = session->settings->approval_policy->tag;
	struct str name = json_get_str(item, "name");
	if (policy == ask_for_approval_never)
		return false;
	if (policy == ask_for_approval_untrusted || str_is(name, "apply_patch") || json_get_str(item, "namespace").len)
		return true;
	const struct json *arguments = json_parse(&arena, input_of(item), NULL);
	return str_is(json_get_str(arguments, "sandbox_permissions"), "require_escalated");
}

static void guardian_inquiry_destroy(struct guardian_inquiry *inquiry)
{
	if (inquiry->is_running)
		guardian_review_finish(&inquiry->review);
	loop_deferred_finish(&inquiry->done);
	free(inquiry->call_id);
	free(inquiry);
}

static void end(struct guardian_inquiry *inquiry, const struct ev_guardian_assessment *found, const struct error *err)
{
	inquiry->on_done(found, str_of(inquiry->call_id), err, inquiry->self);
	guardian_inquiry_destroy(inquiry);
}

static void on_no_review(void *self)
{
	end(self, NULL, NULL);
}

static void on_end(struct guardian_review *review, const struct guardian_verdict *verdict, enum guardian_status failed,
                   const char *why)
{
	struct guardian_inquiry *inquiry = container_of(review, struct guardian_inquiry, review);
	struct ev_guardian_assessment found = {.has_risk_level = true, .has_user_authorization = true};
	struct error err;
	(void)failed;
	if (!verdict) {
		error_set(&err, ERR_transport, "Guardian review failed: %s", why);
		end(inquiry, NULL, &err);
		return;
	}
	found.status = verdict->is_allowed ? guardian_status_approved : guardian_status_denied;
	found.risk_level = verdict->risk;
	found.user_authorization = verdict->authorization;
	found.rationale = verdict->rationale;
	end(inquiry, &found, NULL);
}

static void on_drop(struct guardian_review *review, bool is_closing)
{
	struct error err;
	(void)is_closing;
	error_set(&err, ERR_cancelled, "the session has ended");
	end(container_of(review, struct guardian_inquiry, review), NULL, &err);
}

static void start(struct guardian_inquiry *inquiry, struct session *session, const struct json *item)
{
	static const struct guardian_review_ops ops = {on_end, on_drop};
	auto_buf struct buf text = {0};
	buf_init(&text, LIMIT_GUARDIAN_ACTION);
	struct json_writer w = json_writer(&text);
	guardian_write_action(json_get_str(item, "name"), input_of(item), EV_count, NULL, &w);
	inquiry->is_running = true;
	guardian_review_init(&inquiry->review, session, &ops, &text, guardian_approved(session));
}

struct guardian_inquiry *guardian_inquire(struct session *session, guardian_inquiry_fn done, void *self,
                                          struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct context *context = &session->conversation.context;
	const struct json *item = NULL;
	if (context->items.count)
		item = json_parse(&arena, context_item_text(context, context->items.count - 1), NULL);
	if (!item || !is_reviewable(item)) {
		error_set(err, ERR_invalid,
		          "expected a completed plaintext exec_command, apply_patch, request_permissions, or MCP call "
		          "with a nonempty call ID");
		return NULL;
	}
	struct guardian_inquiry *inquiry = xnew(struct guardian_inquiry);
	*inquiry = (struct guardian_inquiry){.on_done = done, .self = self};
	inquiry->call_id = str_dup(json_get_str(item, "call_id"));
	loop_deferred_init(&inquiry->done, session->env->loop, on_no_review, inquiry);
	if (needs_review(session, item))
		start(inquiry, session, item);
	else
		loop_defer(&inquiry->done);
	return inquiry;
}

void guardian_inquiry_cancel(struct guardian_inquiry *inquiry)
{
	if (inquiry)
		guardian_inquiry_destroy(inquiry);
}
