/* Most lines are only copied to a file. Lines about unfinished work are found by their first bytes. */
#include "fleet/fleet_log.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_log_priv.h"
#include "protocol/message/message.h"
#include "rollout/rollout_path.h"

enum { WRITE_AT = 256 * KIB, PEEK = 256 };

struct fleet_log *fleet_log_create(const char *folder)
{
	struct fleet_log *log = xnew(struct fleet_log);
	log->folder = xstrdup(folder);
	buf_init(&log->configure, LIMIT_LINE);
	buf_init(&log->override, LIMIT_LINE);
	return log;
}

static void drop_begun(struct fleet_log_thread *thread)
{
	vec_for_each(id, &thread->begun)
		str_free(id);
	thread->begun.count = 0;
}

static void thread_finish(struct fleet_log_thread *thread)
{
	drop_begun(thread);
	vec_finish(&thread->begun);
	str_free(&thread->turn_id);
	buf_finish(&thread->pending);
	free(thread->path);
}

static void drop_inputs(struct fleet_log *log, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		str_free(&log->inputs.items[i].id);
		submission_destroy(log->inputs.items[i].submission);
	}
	log->inputs.count -= count;
	memmove(log->inputs.items, log->inputs.items + count, log->inputs.count * sizeof(*log->inputs.items));
}

static void drop_calls(struct fleet_log *log)
{
	vec_for_each(call, &log->calls) {
		str_free(&call->id);
		str_free(&call->output);
	}
	log->calls.count = 0;
	arena_reset(&log->arena);
}

void fleet_log_destroy(struct fleet_log *log)
{
	if (!log)
		return;
	vec_for_each(thread, &log->threads)
		thread_finish(thread);
	if (log->inputs.count)
		drop_inputs(log, log->inputs.count);
	drop_calls(log);
	vec_finish(&log->threads);
	vec_finish(&log->ids);
	vec_finish(&log->inputs);
	vec_finish(&log->calls);
	vec_finish(&log->given);
	vec_for_each(agent, &log->given_agents)
		free((void *)(uintptr_t)agent->calls);
	vec_finish(&log->given_calls);
	vec_finish(&log->given_agents);
	arena_finish(&log->arena);
	buf_finish(&log->configure);
	buf_finish(&log->override);
	str_free(&log->task);
	str_free(&log->turn_id);
	free(log->folder);
	free(log);
}

/* ---- files ---- */

static int write_out(struct fleet_log_thread *thread, struct error *err)
{
	auto_free char *folder = str_dup(path_dir(thread->path));
	if (!thread->pending.len)
		return 0;
	if (dir_make(folder, 0700, err) != 0)
		return -(int)err->code;
	auto_close int fd = open(thread->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot write %s", thread->path);
	int status = fd_write_all(fd, thread->pending.data, thread->pending.len, err);
	buf_clear(&thread->pending);
	return status;
}

/* The first line of a rollout has its id and its time, which make the file's name. */
static struct fleet_log_thread *add_thread(struct fleet_log *log, struct str id, struct str line)
{
	auto_arena struct arena arena = {0};
	int64_t started_ms = 0;
	const struct json *json = json_parse(&arena, line, NULL);
	if (!id.ptr)
		id = json_get_str(json_get(json, "payload"), "id");
	if (!uuid_is_valid(id))
		return NULL;
	clock_parse_rfc3339(json_get_str(json, "timestamp"), &started_ms);
	vec_push(&log->threads, (struct fleet_log_thread){.path = rollout_path(log->folder, started_ms, id)});
	struct fleet_log_thread *thread = &log->threads.items[log->threads.count - 1];
	memcpy(thread->id, id.ptr, id.len);
	buf_init(&thread->pending, (size_t)WRITE_AT + LIMIT_REDIS_REPLY);
	return thread;
}

static struct fleet_log_thread *find_thread(struct fleet_log *log, struct str id)
{
	vec_for_each(thread, &log->threads) {
		if (str_is(id, thread->id))
			return thread;
	}
	return NULL;
}

static int copy_line(struct fleet_log_thread *thread, struct str line, struct error *err)
{
	if (!thread) /* a damaged log: the reader of the rollout reports what is missing */
		return 0;
	buf_append_str(&thread->pending, line);
	buf_append_char(&thread->pending, '\n');
	return thread->pending.len < WRITE_AT ? 0 : write_out(thread, err);
}

int fleet_log_end(struct fleet_log *log, struct error *err)
{
	vec_for_each(thread, &log->threads) {
		if (write_out(thread, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

/* ---- what is unfinished ---- */

static bool has_task(struct str type)
{
	for (const struct fleet_kept_op *op = fleet_kept_ops; op->type; op++) {
		if (op->has_task && str_is(type, op->type))
			return true;
	}
	return false;
}

static struct fleet_log_call *get_call(struct fleet_log *log, struct str id)
{
	vec_for_each(call, &log->calls) {
		if (str_eq(call->id, id))
			return call;
	}
	vec_push(&log->calls, (struct fleet_log_call){.id = str_copy(id)});
	return &log->calls.items[log->calls.count - 1];
}

static void on_submission(struct fleet_log *log, const struct json *note)
{
	const struct json *json = json_get(note, "submission"), *op = json_get(json, "op");
	struct str id = json_get_str(note, "id");
	fleet_log_add_id(log, id);
	if (!op)
		return;
	fleet_log_take_settings(log, op);
	struct submission *submission = has_task(json_get_str(op, "type")) ? submission_decode(json->span, NULL) : NULL;
	if (submission)
		vec_push(&log->inputs, (struct fleet_log_input){str_copy(id), submission});
}

static void on_task(struct fleet_log *log, const struct json *note)
{
	struct str id = json_get_str(note, "id");
	size_t first = log->inputs.count;
	while (first > 0 && !str_eq(log->inputs.items[first - 1].id, id))
		first--;
	if (log->inputs.count)
		drop_inputs(log, first ? first - 1 : log->inputs.count);
	str_free(&log->task);
	log->task = str_copy(id);
}

static void on_end(struct fleet_log *log, const struct json *note)
{
	if (log->task.ptr && str_eq(json_get_str(note, "id"), log->task))
		str_free(&log->task);
}

static void on_begin(struct fleet_log *log, const struct json *note)
{
	struct str id = json_get_str(note, "call_id");
	struct fleet_log_thread *thread = find_thread(log, json_get_str(note, "thread"));
	if (thread && thread == log->threads.items)
		get_call(log, id)->has_begun = true;
	else if (thread && id.ptr)
		vec_push(&thread->begun, str_copy(id));
}

static void on_event(struct fleet_log *log, const struct json *note)
{
	struct event_msg *msg = arena_new(&log->arena, struct event_msg);
	const struct json *stored = json_get(note, "event");
	const struct json *event = stored ? json_parse_copy(&log->arena, stored->span, NULL) : NULL;
	struct str id = json_get_str(event, "call_id");
	if (id.ptr && union_decode(&union_event_msg, event, &log->arena, msg, NULL) == 0)
		get_call(log, id)->begin = msg;
}

/* Looks into a line of a subagent's rollout. */
static void look_below(struct fleet_log_thread *thread, struct str line)
{
	static const char *const words[] = {"\"task_started\"", "\"task_complete\"", "\"turn_aborted\"",
	                                    "\"item_completed\""};
	struct str head = str_n(line.ptr, line.len < PEEK ? line.len : PEEK);
	auto_arena struct arena arena = {0};
	size_t at = 0;
	while (at < countof(words) && str_find(head, str_of(words[at])) < 0)
		at++;
	if (at == countof(words))
		return;
	const struct json *payload = json_get(json_parse(&arena, line, NULL), "payload");
	struct str type = json_get_str(payload, "type");
	if (str_is(type, "task_started")) {
		drop_begun(thread);
		thread->is_open = true;
		thread->is_first_recorded = false;
		str_free(&thread->turn_id);
		thread->turn_id = str_copy(json_get_str(payload, "turn_id"));
	} else if (str_is(type, "task_complete") || str_is(type, "turn_aborted")) {
		thread->is_open = false;
	} else if (str_is(json_get_str(json_get(payload, "item"), "type"), "UserMessage")) {
		thread->is_first_recorded = true;
	}
}

static int on_line(struct fleet_log *log, const struct json *note, struct error *err)
{
	const struct json *line = json_get(note, "line");
	struct str id = json_get_str(note, "thread");
	if (!line || !uuid_is_valid(id))
		return 0;
	struct fleet_log_thread *thread = find_thread(log, id);
	if (!thread)
		thread = add_thread(log, id, line->span);
	if (thread)
		look_below(thread, line->span);
	return copy_line(thread, line->span, err);
}

static int take_note(struct fleet_log *log, struct str text, struct error *err)
{
	static const struct {
		const char *kind;
		void (*take)(struct fleet_log *log, const struct json *note);
	} rows[] = {
		{"submission", on_submission}, {"task", on_task},   {"end", on_end},
		{"begin", on_begin},           {"event", on_event},
	};
	auto_arena struct arena arena = {0};
	const struct json *note = json_get(json_parse(&arena, text, NULL), "payload");
	struct str kind = json_get_str(note, "kind");
	if (str_is(kind, "line"))
		return on_line(log, note, err);
	for (size_t i = 0; i < countof(rows); i++) {
		if (str_is(kind, rows[i].kind))
			rows[i].take(log, note);
	}
	return 0;
}

/* The end of a command or patch: what the model would have got. */
static void take_end(struct fleet_log *log, const struct json *item)
{
	auto_buf struct buf text;
	struct str out = json_get_str(item, "aggregated_output");
	int64_t code;
	struct fleet_log_call *call = get_call(log, json_get_str(item, "id"));
	buf_init(&text, LIMIT_REDIS_REPLY);
	if (json_to_i64(json_get(item, "exit_code"), &code))
		buf_printf(&text, "Exit code: %lld\nOutput:\n", (long long)code);
	if (!out.ptr)
		out = json_get_str(item, "stdout");
	if (out.ptr)
		buf_append_str(&text, out);
	else
		buf_append_str(&text, item->span);
	buf_append_str(&text, json_get_str(item, "stderr").ptr ? json_get_str(item, "stderr") : STR(""));
	call->has_begun = call->has_ended = true;
	str_free(&call->output);
	call->output = str_copy(buf_str(&text));
}

static bool is_call(struct str type)
{
	return str_is(type, "CommandExecution") || str_is(type, "FileChange") || str_is(type, "McpToolCall");
}

/* Looks into a line of the session's own rollout. The lines of a task's beginning precede its note. */
static void look(struct fleet_log *log, struct str line)
{
	struct str head = str_n(line.ptr, line.len < PEEK ? line.len : PEEK);
	bool is_start = str_find(head, STR("\"task_started\"")) >= 0;
	auto_arena struct arena arena = {0};
	if (!is_start && str_find(head, STR("\"item_completed\"")) < 0)
		return;
	const struct json *payload = json_get(json_parse(&arena, line, NULL), "payload"),
			  *item = json_get(payload, "item");
	if (is_start) {
		drop_calls(log);
		log->is_first_recorded = false;
		str_free(&log->turn_id);
		log->turn_id = str_copy(json_get_str(payload, "turn_id"));
	} else if (is_call(json_get_str(item, "type"))) {
		take_end(log, item);
	} else if (str_is(json_get_str(item, "type"), "UserMessage")) {
		log->is_first_recorded = true;
	}
}

int fleet_log_add(struct fleet_log *log, struct str line, struct error *err)
{
	if (str_has_prefix(line, FLEET_NOTE))
		return take_note(log, line, err);
	struct fleet_log_thread *own = log->threads.count ? &log->threads.items[0] : add_thread(log, STR_NONE, line);
	look(log, line);
	return copy_line(own, line, err);
}

/* ---- results ---- */

/* An empty id names no submission. */
void fleet_log_add_id(struct fleet_log *log, struct str id)
{
	if (id.len)
		vec_push(&log->ids, str_hash(id));
}

bool fleet_log_has_id(const struct fleet_log *log, struct str id)
{
	uint64_t hash = str_hash(id);
	vec_for_each(known, &log->ids) {
		if (id.len && *known == hash)
			return true;
	}
	return false;
}

/* A subagent whose prompt had not reached its history cannot be continued: the prompt is in no log. */
static void add_agent(struct fleet_log *log, const struct fleet_log_thread *thread, const char *worker)
{
	if (!thread->is_open || !thread->is_first_recorded || !thread->turn_id.ptr)
		return;
	struct unfinished_call *calls = xcalloc(thread->begun.count + 1, sizeof(*calls));
	for (size_t i = 0; i < thread->begun.count; i++)
		calls[i].call_id = thread->begun.items[i];
	vec_push(&log->given_agents, (struct unfinished){
					     .id = thread->turn_id,
					     .turn_id = thread->turn_id,
					     .worker = worker,
					     .is_first_recorded = true,
					     .calls = calls,
					     .call_count = thread->begun.count,
					     .thread_id = thread->id,
				     });
}

const struct unfinished *fleet_log_unfinished(struct fleet_log *log, const char *worker)
{
	for (size_t i = 1; i < log->threads.count; i++)
		add_agent(log, &log->threads.items[i], worker);
	if (!log->task.ptr && !log->given_agents.count)
		return NULL;
	vec_for_each(input, &log->inputs)
		vec_push(&log->given, input->submission);
	vec_for_each(call, &log->calls) {
		if (call->has_begun)
			vec_push(&log->given_calls,
			         (struct unfinished_call){call->id, call->begin, call->has_ended, call->output});
	}
	log->unfinished = (struct unfinished){
		.id = log->task,
		.turn_id = log->turn_id,
		.worker = worker,
		.inputs = log->given.items,
		.input_count = log->given.count,
		.is_first_recorded = log->is_first_recorded,
		.calls = log->given_calls.items,
		.call_count = log->given_calls.count,
		.agents = log->given_agents.items,
		.agent_count = log->given_agents.count,
	};
	return &log->unfinished;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info, (void)kind, (void)at;
	remove(path);
	return 0;
}

void fleet_folder_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
