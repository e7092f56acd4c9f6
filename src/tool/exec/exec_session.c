/* The model polls a command; the user sees one item from its begin to its end. `transcript` holds the output for the
 * user's item and for the first poll; after that poll `unread` collects the output between polls. Most commands end
 * before their first answer, so their output is kept only once. */
#include "tool/exec/exec_session.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "tool/exec/exec_gate.h"
#include "tool/exec/exec_session_priv.h"

enum {
	EXEC_PROTECTED = 8, /* the last used sessions, which are never evicted */
	EXEC_MANY = 60,     /* number of sessions from which on the model is warned */
	EXEC_DRAIN_MS = 50, /* time to collect output after the exit */
	EXEC_ID_FIRST = 1000,
	EXEC_ID_COUNT = 99000,
	EXEC_DEFAULT_TOKENS = 10000,
	EXEC_TEXT_MAX = LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX,
};

struct exec_sessions *exec_sessions_create(struct tool_host *host)
{
	struct exec_sessions *sessions = xnew(struct exec_sessions);
	sessions->host = host;
	list_init(&sessions->all);
	return sessions;
}

void exec_sessions_destroy(struct exec_sessions *sessions)
{
	struct exec_session *it;
	if (!sessions)
		return;
	while ((it = list_first(&sessions->all, struct exec_session, link)))
		exec_session_destroy(it);
	free(sessions);
}

bool exec_sessions_have_call(const struct exec_sessions *sessions, struct str call_id)
{
	struct exec_session *it;
	list_for_each(it, &sessions->all, link) {
		if (str_eq(it->command.call_id, call_id) && !it->has_ended)
			return true;
	}
	return false;
}

static struct exec_session *lookup(struct exec_sessions *sessions, int64_t id)
{
	struct exec_session *it;
	list_for_each(it, &sessions->all, link) {
		if (it->id == id)
			return it;
	}
	return NULL;
}

struct exec_session *exec_session_find(struct exec_sessions *sessions, int64_t id)
{
	struct exec_session *session = lookup(sessions, id);
	if (session) { /* move it to the end: the list is sorted by last use */
		list_remove(&session->link);
		list_append(&sessions->all, &session->link);
	}
	return session;
}

static int64_t pick_id(struct exec_sessions *sessions)
{
	for (;;) {
		uint32_t random;
		host_random(&random, sizeof(random));
		int64_t id = EXEC_ID_FIRST + random % EXEC_ID_COUNT;
		if (!lookup(sessions, id))
			return id;
	}
}

/* Returns the session to evict: the least recently used one, ended ones first; never one whose call waits for output
 * or for an approval. */
static struct exec_session *pick_victim(struct exec_sessions *sessions)
{
	struct exec_session *it, *oldest = NULL;
	size_t rank = 0;
	list_for_each(it, &sessions->all, link) {
		if (rank++ >= sessions->count - EXEC_PROTECTED)
			break;
		if (it->waiter || !it->command.run)
			continue;
		if (it->has_ended)
			return it;
		if (!oldest)
			oldest = it;
	}
	return oldest;
}

static void emit_end(struct exec_session *session);

/* Kills the command and emits its end event. */
static void end_now(struct exec_session *session)
{
	if (!session->has_ended) {
		session->exit_code = -1;
		emit_end(session);
	}
	exec_session_destroy(session);
}

static void make_room(struct exec_sessions *sessions)
{
	struct exec_session *victim;
	while (sessions->count >= LIMIT_EXEC_SESSIONS && (victim = pick_victim(sessions)))
		end_now(victim);
}

static void answer(void *self);
static void on_skim(void *self);

struct exec_session *exec_session_create(struct exec_sessions *sessions, struct tool_call *call,
                                         const char *const *argv, struct str workdir)
{
	make_room(sessions);
	struct exec_session *session = xnew(struct exec_session);
	session->sessions = sessions;
	session->id = pick_id(sessions);
	snprintf(session->id_text, sizeof(session->id_text), "%lld", (long long)session->id);
	exec_command_init(&session->command, call, argv, workdir, exec_source_unified_exec_startup);
	session->command.process_id = str_of(session->id_text);
	output_init(&session->unread, LIMIT_EXEC_CAPTURE);
	output_init(&session->transcript, LIMIT_EXEC_CAPTURE);
	buf_init(&session->text, EXEC_TEXT_MAX);
	session->skim = loop_timer_create(call->host->loop, on_skim, session);
	session->timer = loop_timer_create(call->host->loop, answer, session);
	list_append(&sessions->all, &session->link);
	sessions->count++;
	return session;
}

void exec_session_destroy(struct exec_session *session)
{
	list_remove(&session->link);
	session->sessions->count--;
	loop_timer_destroy(session->timer);
	loop_timer_destroy(session->skim);
	output_finish(&session->unread);
	output_finish(&session->transcript);
	buf_finish(&session->text);
	exec_command_finish(&session->command);
	free(session);
}

/* ---- output that is discarded unread ---- */

/* A command that prints fast would wake the loop for every few KiB. After ROUNDS_AFTER bytes its pipe is read once a
 * millisecond only, until it is empty or SKIM_KEEP bytes were read. When the head of the capture and the event budget
 * are full, only the tail of the capture can still change: its last SKIM_KEEP bytes stay in the pipe, and the bytes
 * before them are discarded unread, until the command prints more slowly.
 *
 * Output is not skimmed after the exit of the command: another process may hold the pipe and print without end, and
 * EXEC_DRAIN_MS counts from its last pause. */
enum {
	ROUNDS_AFTER = 128 * KIB,
	ROUNDS_SHORT = 32 * KIB, /* a read below this size has emptied the pipe */
	SKIM_KEEP = LIMIT_EXEC_CAPTURE / 2,
	SKIM_TICK_MS = 1,
};

static void stop_skim(struct exec_session *session)
{
	loop_timer_stop(session->skim);
	if (session->is_skimming)
		command_run_resume(session->command.run);
	session->is_skimming = false;
	session->read_on = SKIM_KEEP;
}

static bool can_skip(const struct exec_session *session)
{
	return command_run_is_running(session->command.run) && output_is_full(&session->transcript) &&
	       (!session->is_answered || output_is_full(&session->unread));
}

static void on_skim(void *self)
{
	struct exec_session *session = self;
	uint64_t gone = can_skip(session) ? command_run_skip(session->command.run, SKIM_KEEP) : 0;
	if (!gone) {
		stop_skim(session);
		return;
	}
	output_skip(&session->transcript, gone);
	exec_deltas_skip(&session->command.deltas, gone);
	if (session->is_answered)
		output_skip(&session->unread, gone);
	loop_timer_start(session->skim, SKIM_TICK_MS);
}

static void consider_skim(struct exec_session *session, size_t read)
{
	session->read_on -= read < session->read_on ? read : session->read_on;
	if (session->transcript.total < ROUNDS_AFTER || (session->read_on && read >= ROUNDS_SHORT))
		return;
	bool is_wanted = !session->is_skimming && !session->is_due && command_run_is_running(session->command.run);
	if (!is_wanted || !command_run_widen(session->command.run))
		return;
	session->is_skimming = true;
	command_run_pause(session->command.run);
	loop_timer_start(session->skim, SKIM_TICK_MS);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct exec_session *session = self;
	if (session->is_answered)
		output_append(&session->unread, bytes);
	output_append(&session->transcript, bytes);
	exec_command_emit_output(&session->command, stream, bytes);
	consider_skim(session, bytes.len);
}

/* Emits the typed text at the end of the wait, so that the event follows the program's immediate response, as in
 * codex 0.169. */
static void emit_typed(struct exec_session *session)
{
	struct exec_command *command = &session->command;
	struct ev_terminal_interaction event = {
		.call_id = command->call_id,
		.process_id = str_of(session->id_text),
		.standard_input = session->typed,
	};
	if (session->typed.len == 0)
		return;
	session->typed = STR("");
	exec_deltas_flush(&command->deltas);
	command->host->emit(command->host, command->turn_id, EV_terminal_interaction, &event);
}

static void emit_end(struct exec_session *session)
{
	emit_typed(session);
	struct buf *text = &session->text;
	auto_buf struct buf formatted;
	buf_init(&formatted, LIMIT_TOOL_OUTPUT);
	output_take(&session->transcript, text);
	text_append_output(&formatted, buf_str(text), session->command.host->output_budget);
	struct exec_outcome outcome = {
		.exit_code = session->exit_code,
		.standard_output = buf_str(text),
		.standard_error = STR(""),
		.aggregated = buf_str(text),
		.formatted = buf_str(&formatted),
	};
	exec_command_emit_end(&session->command, &outcome);
	if (session->is_answered) /* further output is in unread */
		buf_finish(text);
}

/* Handles a start that failed after the first answer. */
static void note_failure(struct exec_session *session, const struct error *err)
{
	struct str text = str_of(err->text);
	if (session->is_answered)
		output_append(&session->unread, text);
	output_append(&session->transcript, text);
}

static void on_end(const struct process_result *result, void *self)
{
	struct exec_session *session = self;
	bool is_early = session->waiter && !session->is_answered;
	if (is_early && session->on_early_end && session->on_early_end(session, result))
		return;
	if (result->error)
		note_failure(session, result->error);
	session->has_ended = true;
	session->exit_code = exec_exit_code(result);
	emit_end(session);
	if (session->waiter)
		answer(session);
}

/* The wait begins with the process: the time to try the sandbox backends does not count. */
static void begin_wait(struct exec_session *session)
{
	session->wait_started_ns = clock_now_ns();
	loop_timer_start(session->timer, session->has_ended ? 0 : session->yield_ms);
}

static void prepare(struct command_run_spec *spec, void *self)
{
	static const struct pty_size size = {PTY_ROWS, PTY_COLS};
	struct exec_session *session = self;
	spec->process.merge_output = true;
	spec->process.stdin_open = session->has_terminal;
	spec->process.terminal = session->has_terminal ? &size : NULL;
	spec->process.drain_ms = EXEC_DRAIN_MS;
	exec_command_prepare(&session->command, spec);
	begin_wait(session);
}

void exec_session_start(struct exec_session *session, struct tool_call *call, uint64_t yield_ms, int64_t max_tokens)
{
	static const struct command_run_handler handler = {prepare, on_output, on_end, NULL};
	session->waiter = call;
	session->yield_ms = yield_ms;
	session->max_tokens = max_tokens;
	call->state = session;
	exec_command_start(&session->command, &handler, session);
}

void exec_session_rewind(struct exec_session *session)
{
	exec_session_unwait(session);
	loop_timer_stop(session->skim);
	session->is_skimming = false;
	exec_command_rewind(&session->command);
	output_finish(&session->transcript);
	output_init(&session->transcript, LIMIT_EXEC_CAPTURE);
}

static struct text_budget budget_of(const struct exec_session *session)
{
	int64_t tokens = session->max_tokens > 0 ? session->max_tokens : EXEC_DEFAULT_TOKENS;
	return (struct text_budget){TEXT_TOKENS, (size_t)tokens};
}

/* Moves the output that no answer has contained yet to text. */
static void take_unread(struct exec_session *session, struct buf *text)
{
	bool is_first = !session->is_answered;
	session->is_answered = true;
	if (is_first && session->has_ended) {
		*text = session->text;
		buf_init(&session->text, EXEC_TEXT_MAX);
		return;
	}
	if (is_first)
		output_copy(&session->unread, &session->transcript);
	output_drain(&session->unread, text, session->has_ended);
}

/* The model reads this text; its wording is fixed. */
static void write_answer(struct exec_session *session, struct buf *out)
{
	auto_buf struct buf text;
	uint32_t chunk;
	host_random(&chunk, sizeof(chunk));
	buf_init(&text, EXEC_TEXT_MAX);
	take_unread(session, &text);
	double seconds = (double)(clock_now_ns() - session->wait_started_ns) / 1e9;
	buf_printf(out, "Chunk ID: %06x\nWall time: %.4f seconds\n", chunk & 0xffffff, seconds);
	if (session->has_ended)
		buf_printf(out, "Process exited with code %d\n", session->exit_code);
	else
		buf_printf(out, "Process running with session ID %s\n", session->id_text);
	if (session->has_ended)
		exec_retry_note(&session->command, out);
	if (session->sessions->count >= EXEC_MANY)
		buf_printf(out, "Warning: %zu sessions are open; from %d on the one unused for longest is ended\n",
		           session->sessions->count, LIMIT_EXEC_SESSIONS);
	buf_printf(out, "Original token count: %zu\nOutput:\n", text_tokens(text.len));
	text_append_output(out, buf_str(&text), budget_of(session));
}

/* As write_answer, for a script, which gets the whole output unless it has asked for less. */
static void write_value(struct exec_session *session, struct buf *out)
{
	auto_buf struct buf text, cut;
	char chunk[8];
	uint32_t number;
	host_random(&number, sizeof(number));
	snprintf(chunk, sizeof(chunk), "%06x", number & 0xffffff);
	buf_init(&text, EXEC_TEXT_MAX);
	buf_init(&cut, 2 * (size_t)EXEC_TEXT_MAX);
	take_unread(session, &text);
	size_t tokens = text_tokens(text.len);
	if (session->max_tokens > 0 && tokens > (size_t)session->max_tokens) {
		buf_printf(&cut, "Warning: truncated output (original token count: %zu)\n", tokens);
		text_append_output(&cut, buf_str(&text), budget_of(session));
	} else {
		buf_append_str(&cut, buf_str(&text));
	}
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "chunk_id", chunk);
	jw_key(&w, "wall_time_seconds");
	jw_double(&w, (double)(clock_now_ns() - session->wait_started_ns) / 1e9);
	jw_member_i64(&w, session->has_ended ? "exit_code" : "session_id",
	              session->has_ended ? session->exit_code : session->id);
	jw_member_i64(&w, "original_token_count", (int64_t)tokens);
	jw_member_str(&w, "output", buf_str(&cut));
	jw_object_end(&w);
}

/* Answers the waiting call. The session of a command that has ended is destroyed with its last output. */
static void answer(void *self)
{
	struct exec_session *session = self;
	struct tool_call *call = session->waiter;
	if (session->is_skimming) { /* read the newest output from the pipe before the answer */
		session->is_due = true;
		stop_skim(session);
		loop_timer_start(session->timer, SKIM_TICK_MS);
		return;
	}
	exec_session_unwait(session);
	if (call->is_nested)
		write_value(session, &call->value);
	else
		write_answer(session, &call->output);
	call->state = NULL;
	tool_call_finish_output(call, true);
	if (session->has_ended)
		exec_session_destroy(session);
}

void exec_session_wait(struct exec_session *session, struct tool_call *call, uint64_t yield_ms, int64_t max_tokens)
{
	session->waiter = call;
	session->yield_ms = yield_ms;
	session->max_tokens = max_tokens;
	call->state = session;
	begin_wait(session);
}

void exec_session_unwait(struct exec_session *session)
{
	emit_typed(session);
	session->waiter = NULL;
	session->is_due = false;
	loop_timer_stop(session->timer);
}

void exec_sessions_end(struct exec_sessions *sessions)
{
	struct exec_session *it;
	while ((it = list_first(&sessions->all, struct exec_session, link)))
		end_now(it);
}

bool exec_sessions_end_background(struct exec_sessions *sessions, int64_t id)
{
	bool has_ended = false;
	struct exec_session *it;
	list_for_each(it, &sessions->all, link) {
		if (!it->command.run || it->waiter || it->has_ended || (id && it->id != id))
			continue;
		end_now(it);
		has_ended = true;
	}
	return has_ended;
}
