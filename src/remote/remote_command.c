/* A destroyed command is kept in the list `leaving` until its server has ended the process, or
 * LIMIT_ENVIRONMENT_ANSWER_MS have passed, and until no callback of it can be running. */
#include "remote/remote_command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "remote/environment.h"
#include "remote/exec_link.h"
#include "remote/remote_start.h"
#include "sandbox/sandbox.h"

enum { PIECE = 64 * KIB }; /* of output for on_output */

struct sent_write {
	int64_t id;
	size_t len;
};

struct command_away {
	struct environment *environment;
	const struct command_run_handler *handler; /* NULL: destroyed */
	void *self;
	struct exec_link *link;     /* NULL when the command has ended */
	struct loop_timer *timer;   /* after an exit, a kill or the destruction: the time to wait for the rest */
	struct loop_deferred later; /* reports an end without a link, or frees a destroyed command */
	struct list leaving;
	char id[UUID_TEXT_SIZE];
	struct buf params; /* of process/start */
	struct buf probe;  /* of the start without effect; empty: none is needed */
	struct buf typed;  /* input before the start */
	int64_t start_id, probe_id;
	VEC(struct sent_write) sent; /* unanswered writes */
	size_t writing;              /* their bytes */
	unsigned writes, pauses;
	uint64_t started_ns, drain_ms;
	bool is_boxed; /* it needs a sandbox */
	bool merges;   /* stderr is reported as stdout */
	bool is_started, is_killed, has_exited, is_ended;
	struct process_result result;
	struct error error;
};

/* ---- the end ---- */

static void away_free(struct command_away *away)
{
	exec_link_close(away->link);
	list_remove(&away->leaving);
	loop_deferred_finish(&away->later);
	loop_timer_destroy(away->timer);
	buf_finish(&away->params);
	buf_finish(&away->probe);
	buf_finish(&away->typed);
	vec_finish(&away->sent);
	environment_unref(away->environment);
	free(away);
}

void remote_commands_abandon(struct list *leaving)
{
	struct command_away *it;
	list_for_each(it, leaving, leaving)
		away_free(it);
}

/* Reports the result. Must be the last step of its caller. */
static void finish(struct command_away *away)
{
	if (away->is_ended)
		return;
	away->is_ended = true;
	loop_timer_stop(away->timer);
	exec_link_close(steal(away->link));
	away->result.wall_ms = (clock_now_ns() - away->started_ns) / 1000000u;
	if (away->handler)
		away->handler->on_end(&away->result, away->self);
	else
		loop_defer(&away->later);
}

static void fail(struct command_away *away, const struct error *err)
{
	away->error = *err;
	away->result = (struct process_result){.exit_code = -1, .error = &away->error};
	finish(away);
}

static void on_later(void *self)
{
	struct command_away *away = self;
	if (away->handler)
		finish(away);
	else
		away_free(away);
}

static void tell_output(struct command_away *away, enum exec_stream stream, struct str bytes)
{
	while (bytes.len && away->handler && !away->is_ended) {
		struct str piece = str_n(bytes.ptr, bytes.len < PIECE ? bytes.len : PIECE);
		bytes = str_skip(bytes, piece.len);
		away->handler->on_output(away->merges ? exec_stream_stdout : stream, piece, away->self);
	}
}

/* The process may still run, or may have ended with any code. */
static void lose(struct command_away *away, const struct error *err)
{
	auto_buf struct buf words;
	buf_init(&words, LIMIT_LINE);
	buf_printf(&words, "\n%s; the end of the command is not known\n", err->text);
	away->result = (struct process_result){.exit_code = -1};
	tell_output(away, exec_stream_stderr, buf_str(&words));
	finish(away);
}

static void on_timer(void *self)
{
	struct command_away *away = self;
	if (!away->has_exited) /* the server does not end what was killed */
		away->result = (struct process_result){.exit_code = -1, .signal = SIGKILL};
	away->result.is_cut = away->has_exited;
	finish(away);
}

/* ---- requests ---- */

static int64_t ask(struct command_away *away, const char *method, struct str chunk)
{
	auto_buf struct buf params;
	buf_init(&params, 2 * LIMIT_EXEC_STDIN + LIMIT_LINE);
	buf_printf(&params, "{\"processId\":\"%s\"", away->id);
	if (chunk.ptr) {
		buf_append_c(&params, ",\"chunk\":\"");
		text_base64(&params, chunk.ptr, chunk.len);
		buf_printf(&params, "\",\"writeId\":\"%u\"", ++away->writes);
	}
	buf_append_char(&params, '}');
	int64_t id = exec_link_request(away->link, method, buf_str(&params));
	if (chunk.ptr) {
		struct sent_write write = {id, chunk.len};
		vec_push(&away->sent, write);
		away->writing += chunk.len;
	}
	return id;
}

/* Called for each answer, a refusal included: an answered write leaves room for others. */
static void take_written(struct command_away *away, int64_t id)
{
	for (size_t i = 0; i < away->sent.count; i++) {
		if (away->sent.items[i].id != id)
			continue;
		away->writing -= away->sent.items[i].len;
		away->sent.items[i] = away->sent.items[--away->sent.count];
		return;
	}
}

static void away_kill(struct command_away *away)
{
	if (away->is_ended || away->is_killed || !away->link) /* without a link its error is about to be reported */
		return;
	away->is_killed = true;
	if (away->pauses) /* the end is not held back */
		exec_link_resume(away->link);
	if (away->has_exited) { /* only the rest of its output is missing */
		loop_timer_start(away->timer, away->drain_ms);
		return;
	}
	if (!away->start_id) {
		away->result = (struct process_result){.exit_code = -1, .signal = SIGKILL};
		exec_link_close(steal(away->link));
		loop_defer(&away->later);
		return;
	}
	ask(away, "process/terminate", STR_NONE); /* again after an answer that is still due (take_start) */
	loop_timer_start(away->timer,
	                 away->is_started && away->handler ? LIMIT_KILL_GRACE_MS : LIMIT_ENVIRONMENT_ANSWER_MS);
}

/* After the exit: waits for more output, unless its reader is slow. A kill sets the last wait. */
static void await_rest(struct command_away *away)
{
	if (!away->is_killed && !away->pauses)
		loop_timer_start(away->timer, away->drain_ms);
}

static void on_ready(void *self)
{
	struct command_away *away = self;
	if (away->probe.len && !away->environment->is_fenced) {
		away->probe_id = exec_link_request(away->link, "process/start", buf_str(&away->probe));
		return;
	}
	away->start_id = exec_link_request(away->link, "process/start", buf_str(&away->params));
	buf_finish(&away->params);
}

/* False if the server has started a process without the sandbox that it needs. */
static bool is_fenced(const struct command_away *away, const struct json *result)
{
	return !away->is_boxed || remote_start_has_sandbox(result);
}

static void refuse_unfenced(struct command_away *away)
{
	struct error err;
	if (away->start_id)
		ask(away, "process/terminate", STR_NONE);
	error_set(&err, ERR_unsupported,
	          "the exec-server of environment `%.*s` has no sandbox, which this command needs",
	          STR_ARG(away->environment->id));
	fail(away, &err);
}

static void take_start(struct command_away *away, const struct json *result)
{
	away->is_started = true;
	if (away->is_killed)
		ask(away, "process/terminate", STR_NONE);
	if (away->typed.len)
		ask(away, "process/write", buf_str(&away->typed));
	buf_finish(&away->typed);
	if (!is_fenced(away, result))
		refuse_unfenced(away);
}

static void on_answer(int64_t id, const struct json *result, const struct error *err, void *self)
{
	struct command_away *away = self;
	bool is_start = id == away->start_id, is_probe = id == away->probe_id;
	if ((is_start || is_probe) && !result) {
		struct error error = *err;
		error_wrap(&error, "the exec-server of environment `%.*s` refuses the command",
		           STR_ARG(away->environment->id));
		fail(away, &error);
	} else if (is_start) {
		take_start(away, result);
	} else if (is_probe && is_fenced(away, result)) {
		away->environment->is_fenced = true;
		on_ready(away);
	} else if (is_probe) {
		refuse_unfenced(away);
	} else {
		take_written(away, id);
	}
}

/* ---- notifications ---- */

static void take_output(struct command_away *away, const struct json *params)
{
	struct str chunk = json_get_str(params, "chunk");
	bool is_error = str_is(json_get_str(params, "stream"), "stderr");
	auto_buf struct buf bytes;
	buf_init(&bytes, chunk.len + 1);
	if (text_base64_decode(&bytes, chunk)) {
		tell_output(away, is_error ? exec_stream_stderr : exec_stream_stdout, buf_str(&bytes));
		if (away->has_exited && !away->is_ended)
			await_rest(away);
		return;
	}
	struct error err;
	error_set(&err, ERR_transport, "the exec-server of environment `%.*s` sent output that is not base64",
	          STR_ARG(away->environment->id));
	lose(away, &err);
}

static void take_exit(struct command_away *away, const struct json *params)
{
	int64_t code = json_get_i64(params, "exitCode", -1);
	away->has_exited = true;
	away->result = (struct process_result){.exit_code = code < INT32_MIN || code > INT32_MAX ? -1 : (int)code};
	if (away->is_killed)
		loop_timer_start(away->timer, away->drain_ms);
	await_rest(away);
}

static bool on_notify(struct str method, const struct json *params, void *self)
{
	struct command_away *away = self;
	if (!str_is(json_get_str(params, "processId"), away->id) || away->is_ended)
		return false;
	if (str_is(method, "process/output"))
		take_output(away, params);
	else if (str_is(method, "process/exited") && !away->has_exited)
		take_exit(away, params);
	else if (str_is(method, "process/closed") && away->has_exited)
		finish(away);
	else
		return false;
	return true;
}

static void on_lost(const struct error *err, void *self)
{
	struct command_away *away = self;
	if (away->has_exited)
		finish(away);
	else if (away->start_id) /* without its answer, too: it may have run */
		lose(away, err);
	else
		fail(away, err);
}

/* ---- the functions of the place ---- */

static int write_start(struct command_away *away, const struct command_run_spec *spec)
{
	if (remote_check(away->environment, spec->policy, &away->error) != 0)
		return -(int)away->error.code;
	if (remote_start_write(&away->params, away->id, spec, &away->error) != 0)
		return -(int)away->error.code;
	return away->is_boxed ? remote_start_write_probe(&away->probe, spec->policy, &away->error) : 0;
}

static struct command_away *away_start(struct command_place *place, const struct command_run_spec *spec,
                                       const struct command_run_handler *handler, void *self)
{
	static const struct exec_link_handler link_handler = {on_ready, on_answer, on_notify, on_lost};
	struct environment *environment = container_of(place, struct environment, place);
	struct command_away *away = xnew(struct command_away);
	away->environment = environment_ref(environment);
	away->handler = handler;
	away->self = self;
	away->drain_ms = spec->process.drain_ms;
	away->merges = spec->process.merge_output;
	away->is_boxed = sandbox_is_needed(spec->policy->mode);
	away->started_ns = clock_now_ns();
	away->timer = loop_timer_create(environment->loop, on_timer, away);
	loop_deferred_init(&away->later, environment->loop, on_later, away);
	list_init(&away->leaving);
	uuid_v7(away->id);
	buf_init(&away->params, LIMIT_WEBSOCKET_MESSAGE);
	buf_init(&away->probe, LIMIT_WEBSOCKET_MESSAGE);
	buf_init(&away->typed, LIMIT_EXEC_STDIN);
	away->result = (struct process_result){.exit_code = -1, .error = &away->error};
	if (write_start(away, spec) != 0)
		loop_defer(&away->later);
	else
		away->link = exec_link_open(environment, &link_handler, away);
	return away;
}

static void away_destroy(struct command_away *away)
{
	if (!away)
		return;
	away->handler = NULL;
	list_append(away->environment->leaving, &away->leaving);
	if (away->is_ended || !away->link)
		loop_defer(&away->later);
	else if (!away->is_killed)
		away_kill(away);
}

static bool away_is_running(const struct command_away *away)
{
	return away->is_started && !away->has_exited && !away->is_ended;
}

static int away_write(struct command_away *away, struct str bytes, struct error *err)
{
	size_t pending = away->writing + away->typed.len;
	if (away->is_ended || away->has_exited)
		return error_set(err, ERR_io, "the command's input is closed");
	if (pending > LIMIT_EXEC_STDIN || bytes.len > LIMIT_EXEC_STDIN - pending)
		return error_set(err, ERR_busy, "the command does not read its input: %zu bytes are already pending",
		                 pending);
	if (away->is_started)
		ask(away, "process/write", bytes);
	else
		buf_append_str(&away->typed, bytes);
	return 0;
}

static void away_pause(struct command_away *away)
{
	if (away->pauses++ || !away->link || away->is_killed)
		return;
	exec_link_pause(away->link);
	if (away->has_exited)
		loop_timer_stop(away->timer);
}

static void away_resume(struct command_away *away)
{
	if (!away->pauses || --away->pauses || !away->link || away->is_killed)
		return;
	if (away->has_exited)
		await_rest(away);
	exec_link_resume(away->link);
}

const struct command_place remote_command_place = {
	.start = away_start,
	.destroy = away_destroy,
	.is_running = away_is_running,
	.write = away_write,
	.kill = away_kill,
	.pause = away_pause,
	.resume = away_resume,
};
