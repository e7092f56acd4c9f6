/* A goal outlives turns and the process, so it is recorded with each change and after each response that it pays for.
 * A resumed session does not begin to work by itself: its goal continues after the user's next turn. */
#include "engine/session/session_goal.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
#include "model/prompt.h"

struct session_goal {
	char *objective;
	enum goal_status status;
	int64_t budget; /* 0: no limit */
	int64_t tokens_used;
	uint64_t used_ms;
	int64_t created_at, updated_at; /* Unix seconds */
	unsigned turns;                 /* turns that the goal has started since the user set it active */
	bool is_heard;                  /* the user has written since the goal was set */
};

bool session_goal_view(const struct session *session, struct thread_goal *ret)
{
	const struct session_goal *goal = session->goal;
	if (!goal)
		return false;
	*ret = (struct thread_goal){
		.threadId = str_of(session->id),
		.objective = str_of(goal->objective),
		.status = goal->status,
		.has_tokenBudget = goal->budget > 0,
		.tokenBudget = goal->budget,
		.tokensUsed = goal->tokens_used,
		.timeUsedSeconds = (int64_t)(goal->used_ms / 1000),
		.createdAt = goal->created_at,
		.updatedAt = goal->updated_at,
	};
	return true;
}

static void emit(struct session *session)
{
	struct thread_goal view;
	struct str turn_id = session->task ? session->host.turn_id : STR_NONE;
	struct ev_thread_goal_updated event = {.threadId = str_of(session->id), .turnId = turn_id};
	if (session_goal_view(session, &view))
		event.goal = &view;
	session_emit(session, turn_id.ptr ? turn_id : STR(""), EV_thread_goal_updated, &event);
}

void session_goal_destroy(struct session *session)
{
	if (session->goal)
		free(session->goal->objective);
	free(steal(session->goal));
}

/* ---- changes ---- */

static int check(const struct session *session, const struct goal_change *change, struct error *err)
{
	int64_t most = session->env->config->goals.max_goal_token_budget;
	if (!session->goal && !change->objective.ptr)
		return error_set(err, ERR_not_found, "cannot update goal for thread %s: no goal exists", session->id);
	if (change->objective.ptr && !str_trim(change->objective).len)
		return error_set(err, ERR_invalid, "goal objective must not be empty");
	if (change->objective.len > LIMIT_GOAL_OBJECTIVE)
		return error_set(err, ERR_invalid, "goal objective must be at most %d bytes", LIMIT_GOAL_OBJECTIVE);
	if (change->has_token_budget && change->token_budget <= 0)
		return error_set(err, ERR_invalid, "goal budgets must be positive when provided");
	if (change->has_token_budget && most && change->token_budget > most)
		return error_set(err, ERR_invalid, "goal token budget %lld exceeds goals.max_goal_token_budget = %lld",
		                 (long long)change->token_budget, (long long)most);
	return 0;
}

static void create(struct session *session)
{
	session->goal = xnew(struct session_goal);
	session->goal->created_at = clock_unix_ms() / 1000;
	session->goal->budget = session->env->config->goals.max_goal_token_budget;
}

/* A goal that is used up cannot become active before its budget grows. */
static enum goal_status limited(const struct session_goal *goal, enum goal_status status)
{
	bool is_used_up = goal->budget && goal->tokens_used >= goal->budget;
	return status == goal_status_active && is_used_up ? goal_status_budget_limited : status;
}

/* Replaces a complete goal. If the model does so on its own, the new goal has the turns and tokens that the old one
 * left: a model cannot extend its work by one goal after another. */
static int replace(struct session *session, bool is_free, struct error *err)
{
	int64_t left = session->goal->budget - session->goal->tokens_used;
	unsigned turns = session->goal->turns;
	bool has_budget = session->goal->budget > 0;
	if (!is_free && has_budget && left <= 0)
		return error_set(err, ERR_limit,
		                 "the last goal has used up its budget; the user has to write before a further goal");
	session_goal_destroy(session);
	create(session);
	if (!is_free) {
		session->goal->turns = turns;
		session->goal->budget = has_budget ? left : 0;
	}
	return 0;
}

int session_goal_change(struct session *session, const struct goal_change *change, bool is_user, struct error *err)
{
	if (check(session, change, err) != 0)
		return -(int)err->code;
	bool is_new = change->objective.ptr && change->has_status && change->status == goal_status_active &&
	              session->goal && session->goal->status == goal_status_complete;
	bool is_free = is_user || !session->goal || session->goal->is_heard;
	if (is_new && replace(session, is_free, err) != 0)
		return -(int)err->code;
	if (!session->goal)
		create(session);
	struct session_goal *goal = session->goal;
	if (change->objective.ptr) {
		free(goal->objective);
		goal->objective = str_dup(str_trim(change->objective));
	}
	if (change->has_token_budget && (is_free || !goal->budget || change->token_budget < goal->budget))
		goal->budget = change->token_budget;
	if (change->has_status)
		goal->status = change->status;
	goal->status = limited(goal, goal->status);
	goal->updated_at = clock_unix_ms() / 1000;
	if (is_user)
		goal->turns = 0;
	emit(session);
	return 0;
}

void session_goal_hear(struct session *session)
{
	if (session->goal)
		session->goal->is_heard = true;
}

bool session_goal_clear(struct session *session)
{
	if (!session->goal)
		return false;
	session_goal_destroy(session);
	emit(session);
	return true;
}

/* The goal of a session that was forked from another stays with that one. */
void session_goal_restore(struct session *session, struct str json)
{
	auto_arena struct arena arena = {0};
	struct thread_goal goal = {0};
	const struct json *value = json.ptr ? json_parse(&arena, json, NULL) : NULL;
	if (!json_is(value, JSON_object) || record_decode(&record_thread_goal, value, &arena, &goal, NULL) != 0 ||
	    !str_is(goal.threadId, session->id) || !goal.objective.len || goal.objective.len > LIMIT_GOAL_OBJECTIVE)
		return;
	create(session);
	session->goal->objective = str_dup(goal.objective);
	session->goal->status = goal.status;
	session->goal->budget = goal.has_tokenBudget && goal.tokenBudget > 0 ? goal.tokenBudget : 0;
	session->goal->tokens_used = goal.tokensUsed > 0 ? goal.tokensUsed : 0;
	session->goal->used_ms = goal.timeUsedSeconds > 0 ? (uint64_t)goal.timeUsedSeconds * 1000 : 0;
	session->goal->created_at = goal.createdAt;
	session->goal->updated_at = goal.updatedAt;
}

/* ---- use ---- */

static bool is_active(const struct session *session)
{
	return session->goal && session->goal->status == goal_status_active;
}

void session_goal_stop(struct session *session, enum goal_status status)
{
	if (!is_active(session))
		return;
	session->goal->status = status;
	session->goal->updated_at = clock_unix_ms() / 1000;
	emit(session);
}

void session_goal_count(struct session *session, const struct token_usage *usage)
{
	struct session_goal *goal = session->goal;
	int64_t used = usage->input_tokens - usage->cached_input_tokens + usage->output_tokens;
	if (!is_active(session) || used <= 0)
		return;
	goal->tokens_used = used < INT64_MAX - goal->tokens_used ? goal->tokens_used + used : INT64_MAX;
	goal->status = limited(goal, goal->status);
	goal->updated_at = clock_unix_ms() / 1000;
	emit(session);
}

void session_goal_add_time(struct session *session, uint64_t started_ns)
{
	if (is_active(session))
		session->goal->used_ms += (clock_now_ns() - started_ns) / 1000000;
}

bool session_goal_takes_turn(struct session *session)
{
	if (!is_active(session))
		return false;
	if (session->goal->turns++ < LIMIT_GOAL_TURNS)
		return true;
	session_goal_stop(session, goal_status_paused);
	session_warn(session, STR(""), "The goal has started %d turns and was paused. Set it active to continue.",
	             LIMIT_GOAL_TURNS);
	return false;
}

void session_goal_write_prompt(const struct session *session, struct buf *out)
{
	struct thread_goal goal;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_GOAL_OBJECTIVE + 8 * KIB);
	if (!session_goal_view(session, &goal))
		return;
	buf_printf(&text, "<codex_internal_context source=\"goal\">\n%.*s\nGoal: %.*s\n\nTokens used: %lld\n",
	           STR_ARG(prompt_goal), STR_ARG(goal.objective), (long long)goal.tokensUsed);
	if (goal.has_tokenBudget)
		buf_printf(&text, "Token budget: %lld\n", (long long)goal.tokenBudget);
	buf_append_c(&text, "</codex_internal_context>");
	text_message_write(out, "developer", buf_str(&text));
}

/* ---- the host of its tool calls ---- */

static struct session *session_of(struct tool_host *host)
{
	return container_of(host, struct session, host);
}

static bool host_goal(struct tool_host *host, struct thread_goal *ret)
{
	return session_goal_view(session_of(host), ret);
}

static int host_change_goal(struct tool_host *host, const struct goal_change *change, struct error *err)
{
	return session_goal_change(session_of(host), change, false, err);
}

void session_goal_lend(struct session *session)
{
	session->host.goal = host_goal;
	session->host.change_goal = host_change_goal;
}
