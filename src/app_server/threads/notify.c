/* Dispatches events, and sends the notifications about threads and turns. The order is that of codex 0.169: the
 * status precedes the notification that caused it, and an error precedes the end of the turn that it ended. */
#include "app_server/threads/notify.h"

#include <string.h>

#include "app_server/history/item_view.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/process_settings.h"
#include "app_server/threads/notify_handlers.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_queue_send.h"
#include "app_server/threads/thread_turn.h"
#include "app_server/threads/thread_unload.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex/codex.h"

typedef void (*event_fn)(struct thread *thread, const struct event *event);

static const event_fn handlers[EV_count] = {
#define NOTIFIES(tag) [EV_##tag] = on_event_##tag,
#define SILENT(tag, why) [EV_##tag] = NULL,
#include "app_server/threads/notify.def"
#undef NOTIFIES
#undef SILENT
};

enum {
	ROWS = 0
#define NOTIFIES(tag) +1
#define SILENT(tag, why) +1
#include "app_server/threads/notify.def"
#undef NOTIFIES
#undef SILENT
};
_Static_assert((int)ROWS == (int)EV_count, "notify.def has a row for every event");

void notify_event(struct thread *thread, const struct event *event)
{
	event_fn handler = handlers[event->msg.tag];
	if (handler)
		handler(thread, event);
}

static struct str turn_id(const struct thread *thread, const struct event *event)
{
	return thread->turn ? str_of(thread->turn->id) : event->id;
}

/* ---- the turn ---- */

void on_event_task_started(struct thread *thread, const struct event *event)
{
	if (!thread->turn) /* input for a turn that has just ended starts a new one */
		thread_turn_create(thread, event->id);
	thread_turn_begin(thread->turn);
}

static void end_turn(struct thread *thread, enum app_turn_status status)
{
	thread_turn_end(thread->turn, status);
	if (status == app_turn_status_completed)
		thread_queue_send_next(thread);
	thread_unload_when_idle(thread);
}

void on_event_task_complete(struct thread *thread, const struct event *event)
{
	(void)event;
	if (thread->turn)
		end_turn(thread, thread->turn->error ? app_turn_status_failed : app_turn_status_completed);
}

void on_event_turn_aborted(struct thread *thread, const struct event *event)
{
	(void)event;
	if (thread->turn)
		end_turn(thread, app_turn_status_interrupted);
}

/* ---- failures ---- */

static void notify_error(struct thread *thread, struct str turn, struct app_turn_error *error, bool will_retry)
{
	struct app_error_notification event = {error, will_retry, str_of(thread->id), turn};
	thread_notify(thread, NOTIFY_error, &event);
}

/* An error before the turn has started rejects its submission: the turn will not start. */
void on_event_error(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	struct thread_turn *turn = thread->turn;
	const struct ev_error *body = event->msg.error;
	struct app_turn_error error = {
		.message = body->message,
		.codex_error_info = item_view_error_info(body->codex_error_info, &arena),
	};
	if (turn) {
		thread_turn_keep_error(turn, &error);
		thread->has_failed = true;
		thread_notify_status(thread);
	}
	notify_error(thread, turn_id(thread, event), &error, false);
	if (turn && !turn->is_started && str_is(event->id, turn->id))
		end_turn(thread, app_turn_status_failed);
}

void on_event_stream_error(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_stream_error *body = event->msg.stream_error;
	struct app_turn_error error = {
		.message = body->message,
		.codex_error_info = item_view_error_info(body->codex_error_info, &arena),
		.additional_details = body->additional_details,
	};
	notify_error(thread, turn_id(thread, event), &error, true);
}

/* Updates the path. The warning may be about a replaced file, after which the rollout has another path. */
static void update_path(struct thread *thread)
{
	const char *path = thread->path ? codex_record_path(thread->codex) : NULL;
	if (!path || strcmp(path, thread->path) == 0)
		return;
	free(thread->path);
	thread->path = xstrdup(path);
}

void on_event_warning(struct thread *thread, const struct event *event)
{
	update_path(thread);
	struct app_warning_notification warning = {str_of(thread->id), event->msg.warning->message};
	thread_notify(thread, NOTIFY_warning, &warning);
}

/* The protocol has a single reason. */
void on_event_model_reroute(struct thread *thread, const struct event *event)
{
	const struct ev_model_reroute *body = event->msg.model_reroute;
	struct app_model_rerouted_notification rerouted = {
		.thread_id = str_of(thread->id),
		.turn_id = turn_id(thread, event),
		.from_model = body->from_model,
		.to_model = body->to_model,
		.reason = app_model_reroute_reason_high_risk_cyber_activity,
	};
	thread_notify(thread, NOTIFY_model_rerouted, &rerouted);
}

void on_event_deprecation_notice(struct thread *thread, const struct event *event)
{
	const struct ev_deprecation_notice *body = event->msg.deprecation_notice;
	struct app_deprecation_notice_notification notice = {body->summary, body->details};
	vec_for_each(it, &thread->subscribers)
		connection_notify(it->connection, NOTIFY_deprecation_notice, &notice);
}

void on_event_skills_update_available(struct thread *thread, const struct event *event)
{
	(void)event;
	process_settings_skills_changed(thread->server->settings);
}

/* ---- usage, name, plan ---- */

static struct app_rate_limit_window *window(const struct rate_limit_window *from, struct app_rate_limit_window *to)
{
	if (!from)
		return NULL;
	*to = (struct app_rate_limit_window){
		.used_percent = (int64_t)(from->used_percent + 0.5),
		.has_window_duration_mins = from->has_window_minutes,
		.window_duration_mins = from->window_minutes,
		.has_resets_at = from->has_resets_at,
		.resets_at = from->resets_at,
	};
	return to;
}

static void notify_limits(struct thread *thread, const struct rate_limits *limits)
{
	struct app_rate_limit_window primary, secondary;
	struct app_credits_snapshot credits;
	struct app_rate_limit_snapshot snapshot = {.limit_id = STR("codex")};
	if (limits) {
		snapshot.primary = window(limits->primary, &primary);
		snapshot.secondary = window(limits->secondary, &secondary);
		snapshot.plan_type = limits->plan_type;
	}
	if (limits && limits->credits) {
		credits = (struct app_credits_snapshot){limits->credits->has_credits, limits->credits->unlimited,
		                                        limits->credits->balance};
		snapshot.credits = &credits;
	}
	struct app_account_rate_limits_updated_notification event = {&snapshot};
	thread_notify(thread, NOTIFY_account_rate_limits_updated, &event);
}

/* The engine also emits the usage when a response starts; clients are notified only of changes. */
void on_event_token_count(struct thread *thread, const struct event *event)
{
	const struct ev_token_count *body = event->msg.token_count;
	int64_t total = body->info ? body->info->total_token_usage->total_tokens : 0;
	int64_t last = body->info ? body->info->last_token_usage->total_tokens : 0;
	if (total == thread->usage_total && last == thread->usage_last)
		return;
	thread->usage_total = total;
	thread->usage_last = last;
	thread_notify_usage(thread, turn_id(thread, event), body->info, NULL);
	notify_limits(thread, body->rate_limits);
}

void on_event_thread_name_updated(struct thread *thread, const struct event *event)
{
	struct str name = event->msg.thread_name_updated->thread_name;
	free(thread->name);
	thread->name = name.ptr ? str_dup(name) : NULL;
	struct app_thread_name_updated_notification updated = {str_of(thread->id), name};
	thread_notify(thread, NOTIFY_thread_name_updated, &updated);
}

void on_event_turn_diff(struct thread *thread, const struct event *event)
{
	struct app_turn_diff_updated_notification diff = {str_of(thread->id), turn_id(thread, event),
	                                                  event->msg.turn_diff->unified_diff};
	thread_notify(thread, NOTIFY_turn_diff_updated, &diff);
}

void on_event_plan_update(struct thread *thread, const struct event *event)
{
	static const enum app_turn_plan_step_status statuses[] = {
		[step_status_pending] = app_turn_plan_step_status_pending,
		[step_status_in_progress] = app_turn_plan_step_status_in_progress,
		[step_status_completed] = app_turn_plan_step_status_completed,
	};
	auto_arena struct arena arena = {0};
	const struct ev_plan_update *body = event->msg.plan_update;
	struct app_turn_plan_step *steps = arena_array(&arena, struct app_turn_plan_step, body->plan_count);
	for (size_t i = 0; i < body->plan_count; i++)
		steps[i] = (struct app_turn_plan_step){body->plan[i].step, statuses[body->plan[i].status]};
	struct app_turn_plan_updated_notification plan = {
		.thread_id = str_of(thread->id),
		.turn_id = turn_id(thread, event),
		.explanation = body->explanation,
		.plan = steps,
		.plan_count = body->plan_count,
	};
	thread_notify(thread, NOTIFY_turn_plan_updated, &plan);
}
