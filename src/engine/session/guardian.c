/* The calls that wait for the reviewer, and how its verdicts end them. */
#include "engine/session/guardian.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "engine/history/history_item.h"
#include "engine/session/guardian_request.h"
#include "engine/session/guardian_review.h"
#include "engine/session/session.h"
#include "protocol/message/approval.h"

enum { DENIALS_IN_A_ROW = 3, DENIALS_OF_WINDOW = 10, WINDOW = 50, DENIED_KEPT = 16 };

/* A denied action as it was judged: events have less of it, and a client could change them. */
struct denied {
	char id[UUID_TEXT_SIZE];
	char *call;       /* the tool and its arguments */
	char *action;     /* both NULL: too long for an approval */
	bool is_approved; /* by the user, once */
};

struct guardian {
	VEC(struct denied) denied; /* the latest of this session, at most DENIED_KEPT */
	struct buf approved;       /* those that the user approved, comma-separated */
	/* of the task `turn_id` */
	char *turn_id;
	unsigned in_a_row;
	uint64_t window; /* the latest reviews, one bit each: a denial */
};

struct call_review {
	struct guardian_review review;
	struct tool_call *call;
	tool_answer_fn answer;
	enum event_tag tag;
	struct guardian_action action;
	struct arena arena;
	char id[UUID_TEXT_SIZE];
	char *text; /* the action in JSON, or NULL if it is too long */
	int64_t started_ms;
};

/* Turning the reviewer off counts at once, turning it on from the next task. */
static bool is_on(const struct session *session)
{
	bool is_lent = !session->lent || session->lent->reviewer == approvals_reviewer_auto_review;
	return is_lent && session->settings->reviewer == approvals_reviewer_auto_review;
}

static struct guardian *get(struct session *session)
{
	if (session->guardian)
		return session->guardian;
	struct guardian *guardian = xnew(struct guardian);
	*guardian = (struct guardian){0};
	buf_init(&guardian->approved, LIMIT_GUARDIAN_APPROVED);
	return session->guardian = guardian;
}

static void guardian_destroy(struct guardian *guardian)
{
	if (!guardian)
		return;
	vec_for_each(it, &guardian->denied) {
		free(it->call);
		free(it->action);
	}
	vec_finish(&guardian->denied);
	buf_finish(&guardian->approved);
	free(guardian->turn_id);
	free(guardian);
}

struct str guardian_approved(const struct session *session)
{
	return session->guardian ? buf_str(&session->guardian->approved) : STR("");
}

/* ---- denied actions ---- */

static char *call_text(const struct tool_call *call)
{
	return xasprintf("%.*s %.*s", STR_ARG(call->name), STR_ARG(call->input));
}

/* The latest first; one that does not fit is left out. */
static void list_approved(struct guardian *guardian)
{
	struct buf *list = &guardian->approved;
	buf_clear(list);
	for (size_t i = guardian->denied.count; i-- > 0;) {
		const struct denied *it = &guardian->denied.items[i];
		if (it->is_approved && list->len + strlen(it->action) < list->max)
			buf_printf(list, "%s%s", list->len ? "," : "", it->action);
	}
}

static void forget_denied(struct guardian *guardian, size_t at)
{
	free(guardian->denied.items[at].call);
	free(guardian->denied.items[at].action);
	memmove(&guardian->denied.items[at], &guardian->denied.items[at + 1],
	        (--guardian->denied.count - at) * sizeof(guardian->denied.items[0]));
}

static void keep_denied(struct guardian *guardian, struct call_review *it)
{
	struct denied denied = {0};
	if (it->text && strlen(it->text) < LIMIT_GUARDIAN_APPROVED)
		denied = (struct denied){.call = call_text(it->call), .action = steal(it->text)};
	memcpy(denied.id, it->id, sizeof(denied.id));
	if (guardian->denied.count == DENIED_KEPT)
		forget_denied(guardian, 0);
	vec_push(&guardian->denied, denied);
	list_approved(guardian);
}

/* An approval by hand covers one repetition. */
static void use_approval(struct guardian *guardian, const struct tool_call *call)
{
	auto_free char *text = call_text(call);
	for (size_t i = guardian->denied.count; i-- > 0;) {
		if (guardian->denied.items[i].is_approved && strcmp(guardian->denied.items[i].call, text) == 0)
			forget_denied(guardian, i);
	}
	list_approved(guardian);
}

/* ---- a review ---- */

static void call_review_destroy(struct call_review *it)
{
	free(it->text);
	guardian_review_finish(&it->review);
	arena_finish(&it->arena);
	free(it);
}

static void emit(const struct call_review *it, enum guardian_status status, const struct guardian_verdict *verdict,
                 struct str rationale)
{
	struct ev_guardian_assessment event = {
		.id = str_of(it->id),
		.target_item_id = it->call->call_id,
		.turn_id = it->call->turn_id,
		.started_at_ms = it->started_ms,
		.has_completed_at_ms = status != guardian_status_in_progress,
		.completed_at_ms = clock_unix_ms(),
		.status = status,
		.has_risk_level = verdict != NULL,
		.has_user_authorization = verdict != NULL,
		.rationale = rationale,
		.decision_source = status != guardian_status_in_progress ? STR("agent") : STR_NONE,
		.action = (struct guardian_action *)(uintptr_t)&it->action,
	};
	if (verdict) {
		event.risk_level = verdict->risk;
		event.user_authorization = verdict->authorization;
	}
	session_emit(it->review.session, it->call->turn_id, EV_guardian_assessment, &event);
}

static void warn(struct session *session, struct str turn_id, struct str text)
{
	struct ev_warning event = {text};
	session_emit(session, turn_id, EV_guardian_warning, &event);
}

/* ---- repeated denials ---- */

static void count(struct guardian *guardian, struct str turn_id, bool is_denied)
{
	if (!guardian->turn_id || !str_is(turn_id, guardian->turn_id)) {
		free(guardian->turn_id);
		guardian->turn_id = str_dup(turn_id);
		guardian->in_a_row = 0;
		guardian->window = 0;
	}
	guardian->in_a_row = is_denied ? guardian->in_a_row + 1 : 0;
	guardian->window = (guardian->window << 1 | is_denied) & ((1ULL << WINDOW) - 1);
}

/* Interrupts the task if the model repeats what is denied. */
static void check_denials(struct session *session, struct str turn_id)
{
	const struct guardian *guardian = session->guardian;
	unsigned denied = (unsigned)__builtin_popcountll(guardian->window);
	if (guardian->in_a_row < DENIALS_IN_A_ROW && denied < DENIALS_OF_WINDOW)
		return;
	auto_buf struct buf text = {0};
	buf_init(&text, LIMIT_WARNING);
	buf_printf(&text,
	           "Automatic approval review rejected too many approval requests for this turn (%u consecutive, %u in "
	           "the last %d reviews); interrupting the turn.",
	           guardian->in_a_row, denied, WINDOW);
	warn(session, turn_id, buf_str(&text));
	if (session->env->config->auto_review.circuit_break_action == circuit_break_action_strict) {
		struct ev_error error = {.message = buf_str(&text)};
		session_emit(session, turn_id, EV_error, &error);
	}
	session->host.interrupt(&session->host);
}

/* ---- the end ---- */

static void answer_call(struct call_review *it, bool is_allowed)
{
	struct tool_call *call = it->call;
	tool_answer_fn answer = it->answer;
	enum event_tag tag = it->tag;
	struct review_decision decision = {.tag = is_allowed ? review_decision_approved : review_decision_denied};
	struct op_resolve_elicitation elicited = {
		.decision = is_allowed ? elicitation_action_accept : elicitation_action_decline,
	};
	session_record_decision(it->review.session, call, &decision, "AutomatedReviewer");
	loop_defer(&it->review.session->asked);
	call_review_destroy(it);
	answer(call, tag == EV_elicitation_request ? (void *)&elicited : &decision);
}

/* Sets the text for the model in place of the call's output. */
static void deny(struct tool_call *call, struct str reason, const char *advice)
{
	call->denial = str_of(arena_printf(&call->arena, "%.*s\n%s", STR_ARG(reason), advice));
	call->is_denial_shown = true;
}

static void decide(struct call_review *it, const struct guardian_verdict *verdict)
{
	struct session *session = it->review.session;
	struct tool_call *call = it->call;
	auto_buf struct buf text = {0};
	auto_free char *turn_id = str_dup(call->turn_id);
	bool is_ending = loop_deferred_is_waiting(&session->interrupt);
	bool is_allowed = verdict->is_allowed && !is_ending; /* nothing begins once the task ends */
	buf_init(&text, LIMIT_WARNING);
	buf_printf(&text, "Automatic approval review %s (risk: %s, authorization: %s): %.*s",
	           is_allowed ? "approved" : "denied", enum_wire(&enum_guardian_risk_level, (int)verdict->risk),
	           enum_wire(&enum_guardian_user_authorization, (int)verdict->authorization),
	           STR_ARG(verdict->rationale));
	warn(session, call->turn_id, buf_str(&text));
	emit(it, is_allowed ? guardian_status_approved : guardian_status_denied, verdict, verdict->rationale);
	if (!is_allowed)
		deny(call, buf_str(&text),
		     "The action did not run. Do not reach the same effect in another way. Take a safer path, or name "
		     "the risk to the user and ask for explicit approval.");
	if (is_allowed)
		use_approval(get(session), call);
	else
		keep_denied(get(session), it);
	count(get(session), call->turn_id, !is_allowed);
	answer_call(it, is_allowed);
	if (!is_allowed && !is_ending)
		check_denials(session, str_of(turn_id));
}

/* A failure is no evidence against the action, but it does not run. */
static void fail(struct call_review *it, enum guardian_status status, const char *why)
{
	auto_buf struct buf text = {0};
	buf_init(&text, LIMIT_WARNING);
	if (status == guardian_status_timed_out)
		buf_append_c(&text, "Automatic approval review timed out while evaluating the requested approval.");
	else
		buf_printf(&text, "Automatic approval review failed: %s", why);
	warn(it->review.session, it->call->turn_id, buf_str(&text));
	emit(it, status, NULL, buf_str(&text));
	keep_denied(get(it->review.session), it);
	deny(it->call, buf_str(&text),
	     "The action did not run, because it could not be reviewed; this means nothing about its risk. Do not go "
	     "around the approval. Try once more if it matters, or ask the user.");
	answer_call(it, false);
}

static void on_end(struct guardian_review *review, const struct guardian_verdict *verdict, enum guardian_status failed,
                   const char *why)
{
	struct call_review *it = container_of(review, struct call_review, review);
	if (verdict)
		decide(it, verdict);
	else
		fail(it, failed, why);
}

static void on_drop(struct guardian_review *review, bool is_closing)
{
	struct call_review *it = container_of(review, struct call_review, review);
	if (!is_closing)
		emit(it, guardian_status_aborted, NULL, STR_NONE);
	call_review_destroy(it);
}

/* ---- the start ---- */

bool guardian_start(struct session *session, struct tool_call *call, enum event_tag tag, const void *body,
                    tool_answer_fn answer)
{
	static const struct guardian_review_ops ops = {on_end, on_drop};
	auto_buf struct buf text = {0};
	if (!is_on(session))
		return false;
	struct call_review *it = xnew(struct call_review);
	*it = (struct call_review){.call = call, .answer = answer, .tag = tag, .started_ms = clock_unix_ms()};
	if (!guardian_action_of(call, tag, body, &it->arena, &it->action)) {
		free(it);
		return false;
	}
	uuid_v7(it->id);
	buf_init(&text, LIMIT_GUARDIAN_ACTION);
	struct json_writer w = json_writer(&text);
	guardian_write_action(call->name, call->input, tag, body, &w);
	guardian_review_init(&it->review, session, &ops, &text, guardian_approved(session));
	it->text = text.over ? NULL : buf_take(&text);
	it->review.call = call;
	emit(it, guardian_status_in_progress, NULL, STR_NONE);
	return true;
}

void guardian_drop(struct session *session, const struct tool_call *call)
{
	struct guardian_review *it;
	list_for_each(it, &session->reviews, link) {
		if (!call || it->call == call)
			it->ops->drop(it, call == NULL);
	}
	if (!call)
		guardian_destroy(steal(session->guardian));
}

void guardian_fail_all(struct session *session, const char *why)
{
	struct guardian_review *it;
	while ((it = list_first(&session->reviews, struct guardian_review, link)))
		it->ops->end(it, NULL, guardian_status_denied, why);
}

/* ---- approval by hand ---- */

static struct denied *find_denied(struct guardian *guardian, struct str id)
{
	vec_for_each(it, &guardian->denied) {
		if (str_is(id, it->id))
			return it;
	}
	return NULL;
}

static void tell_model(struct session *session, const struct denied *denied)
{
	auto_buf struct buf text = {0}, item = {0};
	buf_init(&text, LIMIT_GUARDIAN_APPROVED + KIB);
	buf_init(&item, (size_t)LIMIT_GUARDIAN_APPROVED * 6 + KIB);
	buf_append_c(&text, "The user has approved by hand an action that the automatic reviewer had denied. It may be "
	                    "repeated once, exactly as it was; the approval covers nothing else, and the repetition is "
	                    "reviewed again. The action: ");
	buf_append_c(&text, denied->action);
	text_message_write(&item, "developer", buf_str(&text));
	session->host.add_item(&session->host, buf_str(&item));
}

static const char *approve(struct guardian *guardian, struct denied *denied)
{
	if (!denied)
		return "Nothing was approved: the action is not among the last 16 that were denied in this session.";
	if (!denied->action)
		return "Nothing was approved: the action has more than 64 KiB. Ask Codex to do it in smaller steps.";
	if (denied->is_approved)
		return "One retry of this action was approved before; nothing was added.";
	denied->is_approved = true;
	list_approved(guardian);
	return NULL;
}

void guardian_approve(struct session *session, struct str sub_id, const struct ev_guardian_assessment *event)
{
	struct guardian *guardian = get(session);
	struct denied *denied = find_denied(guardian, event->id);
	const char *why_not = approve(guardian, denied);
	if (!why_not)
		tell_model(session, denied);
	warn(session, sub_id,
	     str_of(why_not ? why_not : "You approved one retry of the denied action. Ask for it again."));
}
