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
#include "loop/loop.h"
#include "remote/environment.h"
#include "remote/exec_link.h"
#include "remote/remote_input.h"
#include "remote/remote_start.h"
#include "sandbox/sandbox.h"

enum { PIECE = 64 * KIB }; /* of output for on_output */

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
	struct remote_input input;
	int64_t start_id, probe_id;
	int64_t read_id;  /* of a read of what was missed; 0: none is pending */
	int64_t last_seq; /* number of the last message that was taken */
	bool is_behind;   /* a later one than is read was skipped */
	unsigned pauses;
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
	remote_input_finish(&away->input);
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

/* True while there can be output that was not read yet. */
static bool is_catching_up(const struct command_away *away)
{
	return !exec_link_is_ready(away->link) || away->read_id;
}

/* True if the process runs there and cannot be ended now: the link ends if that lasts. A destroyed command has its own
 * time. */
static bool is_unreachable(const struct command_away *away)
{
	return away->handler && !away->has_exited && !exec_link_is_ready(away->link);
}

static void on_timer(void *self)
{
	struct command_away *away = self;
	if ((!away->is_killed && is_catching_up(away)) || is_unreachable(away)) {
		loop_timer_start(away->timer, away->is_killed ? LIMIT_KILL_GRACE_MS : away->drain_ms);
		return;
	}
	if (!away->has_exited) /* the server does not end what was killed */
		away->result = (struct process_result){.exit_code = -1, .signal = SIGKILL};
	away->result.is_cut = away->has_exited;
	finish(away);
}

/* ---- requests ---- */

static void ask_to_end(struct command_away *away)
{
	remote_request_end(away->link, away->id);
}

/* Until the output after that which was taken is known, later messages are skipped, and read, too. */
static void read_missed(struct command_away *away)
{
	away->is_behind = false;
	exec_link_allow_file(away->link, true);
	away->read_id = remote_request_read(away->link, away->id, away->last_seq);
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
	if (exec_link_is_ready(away->link))
		ask_to_end(away); /* again after an answer that is still due (take_start) */
	loop_timer_start(away->timer,
	                 away->is_started && away->handler ? LIMIT_KILL_GRACE_MS : LIMIT_ENVIRONMENT_ANSWER_MS);
}

/* After the exit: waits for more output, unless its reader is slow. A kill sets the last wait. */
static void await_rest(struct command_away *away)
{
	if (!away->is_killed && !away->pauses)
		loop_timer_start(away->timer, away->drain_ms);
}

static void on_resumed(struct command_away *away)
{
	if (away->is_killed) /* while the connection was lost */
		ask_to_end(away);
	remote_input_lose(&away->input);
	remote_input_send(&away->input, away->link, away->id);
	read_missed(away);
}

static void on_ready(void *self)
{
	struct command_away *away = self;
	if (away->is_started) {
		on_resumed(away);
		return;
	}
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
		ask_to_end(away);
	error_set(&err, ERR_unsupported,
	          "the exec-server of environment `%.*s` has no sandbox, which this command needs",
	          STR_ARG(away->environment->id));
	fail(away, &err);
}

static void take_start(struct command_away *away, const struct json *result)
{
	away->is_started = true;
	exec_link_keep(away->link);
	if (away->is_killed)
		ask_to_end(away);
	remote_input_send(&away->input, away->link, away->id);
	if (!is_fenced(away, result))
		refuse_unfenced(away);
}

/* ---- output and exit ---- */

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
	int64_t seq = json_get_i64(params, "seq", 0);
	if (!str_is(json_get_str(params, "processId"), away->id) || away->is_ended)
		return false;
	if (away->read_id) {
		away->is_behind |= seq > away->last_seq;
		return true;
	}
	if (seq > 0 && seq <= away->last_seq)
		return false;
	if (seq > 0)
		away->last_seq = seq;
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
	if (away->has_exited) { /* only output is missing */
		away->result.is_cut = true;
		finish(away);
	} else if (away->start_id) { /* without its answer, too: it may have run */
		lose(away, err);
	} else {
		fail(away, err);
	}
}

/* ---- what was missed ---- */

/* The server keeps a part of the output. An exit has a number, too, but is in no chunk. */
static void take_gap(struct command_away *away, const struct json *result, const struct json *first)
{
	int64_t seq = json_get_i64(first, "seq", 0);
	bool is_exit_between = json_get_bool(result, "exited", false) && !away->has_exited;
	if (seq > away->last_seq + 1 + is_exit_between)
		tell_output(away, exec_stream_stderr,
		            STR("\n[output is missing here: the exec-server did not keep it while the connection was "
		                "lost]\n"));
}

static void take_chunks(struct command_away *away, const struct json *result)
{
	const struct json *chunks = json_get(result, "chunks");
	take_gap(away, result, chunks ? chunks->child : NULL);
	json_for_each(it, chunks) {
		int64_t seq = json_get_i64(it, "seq", 0);
		if (seq <= away->last_seq || away->is_ended)
			continue;
		away->last_seq = seq;
		take_output(away, it);
	}
}

static void take_read(struct command_away *away, const struct json *result, const struct error *err)
{
	int64_t known = away->last_seq;
	away->read_id = 0;
	exec_link_allow_file(away->link, false);
	if (!result) {
		struct error error = *err;
		error_wrap(&error, "the connection to the exec-server `%.*s` was lost: it does not resume the command",
		           STR_ARG(away->environment->name));
		on_lost(&error, away);
		return;
	}
	take_chunks(away, result);
	if (away->is_ended)
		return;
	if (away->last_seq > known || away->is_behind) {
		read_missed(away);
		return;
	}
	if (json_get_bool(result, "exited", false) && !away->has_exited)
		take_exit(away, result);
	if (json_get_bool(result, "closed", false) && away->has_exited)
		finish(away);
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
	} else if (id == away->read_id) {
		take_read(away, result, err);
	} else {
		remote_input_answer(&away->input, id);
	}
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
	if (away->is_ended || away->has_exited)
		return error_set(err, ERR_io, "the command's input is closed");
	int status = remote_input_add(&away->input, bytes, err);
	if (status == 0 && away->is_started && exec_link_is_ready(away->link))
		remote_input_send(&away->input, away->link, away->id);
	return status;
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
