/* The clock of the gpt-6 models: the time for scripts, and a sleep, which ends early if the user adds something to the
 * task: the model would otherwise read it hours later. */
#include "tool/tool_clock.h"

#include <time.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "tool/tool.h"
#include "tool/tool_impl.h"

struct sleep {
	struct list link; /* in tool_host.sleeps */
	struct tool_call *call;
	struct loop_timer *timer;
};

static void emit_item(struct tool_call *call, enum event_tag tag)
{
	const struct args_clock_sleep *args = call->args;
	struct sleep_item sleep = {.id = call->call_id, .duration_ms = args->duration_ms};
	tool_call_emit_item(call, tag, &(struct turn_item){.tag = turn_item_sleep, .sleep = &sleep});
}

static void stop(struct tool_call *call)
{
	struct sleep *sleep = steal(call->state);
	if (!sleep)
		return;
	list_remove(&sleep->link);
	loop_timer_destroy(sleep->timer);
	free(sleep);
	emit_item(call, EV_item_completed);
}

static void end(struct tool_call *call, const char *how)
{
	double seconds = (double)(clock_now_ns() - call->started_ns) / 1e9;
	stop(call);
	tool_call_finishf(call, true, "Wall time: %.4f seconds\nSleep %s.", seconds, how);
}

static void on_timer(void *self)
{
	const struct sleep *sleep = self;
	end(sleep->call, "completed");
}

void tool_clock_sleep_start(struct tool_call *call)
{
	const struct args_clock_sleep *args = call->args;
	struct tool_host *host = call->host;
	if (args->duration_ms < 1 || args->duration_ms > LIMIT_SLEEP_MS) {
		tool_call_finishf(call, false, "duration_ms must be between 1 and %d", LIMIT_SLEEP_MS);
		return;
	}
	struct sleep *sleep = xnew(struct sleep);
	sleep->call = call;
	sleep->timer = loop_timer_create(host->loop, on_timer, sleep);
	list_init(&sleep->link);
	list_append(&host->sleeps, &sleep->link);
	call->state = sleep;
	call->stop = stop;
	loop_timer_start(sleep->timer, (uint64_t)args->duration_ms);
	emit_item(call, EV_item_started);
}

void tool_clock_wake(struct tool_host *host)
{
	struct sleep *sleep;
	while ((sleep = list_first(&host->sleeps, struct sleep, link)))
		end(sleep->call, "interrupted by new input");
}

void tool_clock_curr_time_start(struct tool_call *call)
{
	char text[64];
	struct tm utc;
	time_t now = time(NULL);
	strftime(text, sizeof(text), "{\"current_time\":\"%Y-%m-%d %H:%M:%S UTC\"}", gmtime_r(&now, &utc));
	tool_call_finish(call, true, str_of(text));
}
