/* A review is a request of its own beside the running turn, whose call waits for it. An answer of another form and a
 * failure that may pass are tried again, within one time limit for the whole review. */
#include "engine/session/guardian_review.h"

#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "engine/history/history_item.h"
#include "engine/session/conversation_usage.h"
#include "engine/session/guardian_request.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "model/model_backoff.h"
#include "model/model_client.h"

enum { TRIES = 3 };

static void fail(struct guardian_review *review, enum guardian_status status, const char *why)
{
	review->ops->end(review, NULL, status, why);
}

/* ---- the answer ---- */

static void ask(struct guardian_review *review);

static void on_event(const struct response_event *event, void *self)
{
	struct guardian_review *review = self;
	auto_buf struct buf spare = {0};
	if (event->type == RESPONSE_completed && event->usage)
		conversation_add_aside(&review->session->conversation, event->usage);
	if (event->type != RESPONSE_item_done)
		return;
	struct str type = json_get_str(event->item, "type");
	buf_init(&spare, LIMIT_SSE_EVENT);
	if (str_is(type, "message")) { /* the last one is the answer */
		buf_clear(&review->text);
		buf_append_str(&review->text, response_item_text(&spare, event->item));
	} else {
		review->has_call |= json_get_str(event->item, "call_id").len > 0;
	}
}

static void ask_later(struct guardian_review *review, const struct model_error *failure)
{
	int64_t wait = failure->retry_after_ms >= 0 ? failure->retry_after_ms
	                                            : model_backoff_ms(review->tries, model_backoff_random());
	loop_timer_start(review->pause, (uint64_t)wait);
}

static void on_done(const struct model_error *failure, void *self)
{
	struct guardian_review *review = self;
	struct guardian_verdict verdict;
	struct error err;
	review->model = NULL;
	if (failure && failure->is_retryable && review->tries < TRIES) {
		ask_later(review, failure);
		return;
	}
	if (failure) {
		fail(review, guardian_status_denied, failure->text);
		return;
	}
	bool is_read = !review->has_call && !review->text.over &&
	               guardian_verdict_read(buf_str(&review->text), &review->arena, &verdict, &err) == 0;
	if (is_read)
		review->ops->end(review, &verdict, guardian_status_denied, NULL);
	else if (review->tries < TRIES)
		ask(review);
	else
		fail(review, guardian_status_denied, "guardian assessment was not valid JSON");
}

/* ---- the request ---- */

static void ask(struct guardian_review *review)
{
	static const struct model_handler handler = {.on_event = on_event, .on_done = on_done};
	const struct session *session = review->session;
	const struct settings *settings = review->judge;
	struct session_kin kin = session_kin(session);
	struct model_prompt prompt = {
		.info = &settings->info,
		.instructions = review->is_lite ? STR_NONE : buf_str(&review->instructions),
		.is_lite = review->is_lite,
		.avoids_socket = true, /* which the running turn continues on */
		.input = &review->input,
		.input_count = 1,
		.effort = settings->effort,
		.effort_word = settings->effort_word,
		.summary = settings->summary,
		.has_summary = settings->has_summary,
		.is_serial = true,
		.output_schema = guardian_verdict_schema,
		.thread_id = str_of(session->id),
		.root_thread_id = kin.root_id,
		.parent_thread_id = kin.parent_id.len ? kin.parent_id : str_of(session->id),
		.subagent = STR("guardian"),
		.is_private = true,
	};
	buf_clear(&review->text);
	review->has_call = false;
	review->tries++;
	review->model = model_client_stream(session->model, &prompt, &handler, review);
}

static void on_pause(void *self)
{
	struct guardian_review *review = self;
	if (review->is_too_long)
		fail(review, guardian_status_denied, "the action is too long for a review");
	else
		ask(review);
}

static void on_deadline(void *self)
{
	fail(self, guardian_status_timed_out, "the time limit of the review has passed");
}

/* The lite form has the instructions in its input. */
static void write_request(struct guardian_review *review, const struct buf *action, struct str approved)
{
	const struct session *session = review->session;
	guardian_write_instructions(session, &review->instructions);
	review->is_lite = conversation_wants_lite(&session->conversation, review->judge);
	if (review->is_lite) {
		text_message_write(&review->item, "developer", buf_str(&review->instructions));
		buf_append_char(&review->item, ',');
	}
	if (!action->over)
		guardian_write_item(session, review->settings, buf_str(action), approved, &review->item);
	review->is_too_long = action->over || review->item.over || review->instructions.over;
	review->input = buf_str(&review->item);
}

/* A model chooses the models of its subagents, and could choose a weak one: the configuration's judges their actions.
 */
static struct settings *choose_judge(const struct session *session, struct settings *used)
{
	if (!session_kin(session).parent_id.len)
		return settings_ref(used);
	return settings_create(session->env->config, used->cwd, session->provider->oss_model);
}

void guardian_review_init(struct guardian_review *review, struct session *session,
                          const struct guardian_review_ops *ops, const struct buf *action, struct str approved)
{
	*review = (struct guardian_review){.session = session, .ops = ops};
	list_init(&review->link);
	list_append(&session->reviews, &review->link);
	review->settings = settings_ref(session->lent ? session->lent : session->settings);
	review->judge = choose_judge(session, review->settings);
	review->deadline = loop_timer_create(session->env->loop, on_deadline, review);
	review->pause = loop_timer_create(session->env->loop, on_pause, review);
	buf_init(&review->instructions, LIMIT_GUARDIAN_REQUEST);
	buf_init(&review->item, (size_t)LIMIT_GUARDIAN_REQUEST * 12 + KIB);
	buf_init(&review->text, LIMIT_SSE_EVENT);
	write_request(review, action, approved);
	loop_timer_start(review->deadline, (uint64_t)session->env->config->auto_review.timeout_ms);
	if (review->is_too_long)
		loop_timer_start(review->pause, 0);
	else
		ask(review);
}

void guardian_review_finish(struct guardian_review *review)
{
	list_remove(&review->link);
	model_call_cancel(review->model);
	loop_timer_destroy(review->deadline);
	loop_timer_destroy(review->pause);
	buf_finish(&review->item);
	buf_finish(&review->instructions);
	buf_finish(&review->text);
	settings_unref(review->settings);
	settings_unref(review->judge);
	arena_finish(&review->arena);
}
