/* The writer opens first and takes the lock, so no other process adds a line between reading and appending. Items
 * are copied to the history unchanged. */
#include "engine/session/resume_load.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/session/conversation.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_writer.h"

struct resume_load *resume_load_create(struct str path)
{
	struct resume_load *load = xnew(struct resume_load);
	load->path = str_dup(path);
	context_init(&load->context);
	buf_init(&load->events, LIMIT_INITIAL_MESSAGES);
	return load;
}

void resume_load_destroy(struct resume_load *load)
{
	if (!load)
		return;
	rollout_writer_destroy(load->rollout);
	rollout_reader_destroy(load->reader);
	context_finish(&load->context);
	open_calls_finish(&load->open_calls);
	buf_finish(&load->events);
	free(load->path);
	free(load);
}

struct filling {
	struct context *context;
	const struct rollout_reader *reader;
	size_t items, marks; /* number of those that the context has */
};

/* Adds the marks that follow the items so far. */
static void add_marks(struct filling *filling)
{
	struct context *context = filling->context;
	for (; filling->marks < filling->reader->marks.count; filling->marks++) {
		const struct rollout_mark *mark = &filling->reader->marks.items[filling->marks];
		if (mark->item_count != filling->items)
			return;
		context->user_turns = mark->user_turns;
		context_mark_response(context, mark->response_id);
		if (mark->ends_task)
			context_mark_task_end(context);
	}
}

static void take_item(struct str item, void *self)
{
	struct filling *filling = self;
	context_append(filling->context, item);
	filling->items++;
	add_marks(filling);
}

/* True for lines from which subagents are restored: their events, calls that set a watchdog, and the outputs of such
 * calls. */
static bool is_about_agents(enum rollout_line_type type, struct str payload)
{
	if (type != LINE_response_item)
		return rollout_is_about_agents(type, payload);
	if (str_has_prefix(payload, "{\"type\":\"message\"")) /* most items are messages */
		return false;
	return str_find(payload, STR("\"subagent_watchdog\"")) >= 0 || str_find(payload, STR("interval_s")) >= 0;
}

/* The lines of a new fork are older than its id. */
static bool is_fresh_fork(const struct rollout_reader *reader)
{
	size_t count = reader->records.count;
	return reader->meta.forked_from_id.ptr &&
	       (!count || reader->records.items[count - 1].at_ms <= uuid_v7_ms(reader->meta.thread_id));
}

static int read_file(struct resume_load *load, struct error *err)
{
	const char *file = load->rollout ? rollout_writer_path(load->rollout) : load->path;
	load->reader = rollout_reader_create_for(file, load->shows_events ? ROLLOUT_ALL : ROLLOUT_HISTORY, err);
	if (!load->reader)
		return error_wrap(err, "cannot resume"); /* err contains the path */
	if (load->reader->meta.thread_id.len != UUID_TEXT_SIZE - 1)
		return error_set(err, ERR_invalid, "failed to parse thread ID from rollout file %s", load->path);
	if (load->shows_events) {
		struct json_writer w = json_writer(&load->events);
		rollout_reader_write_events(load->reader, &w);
	}
	load->is_fork = is_fresh_fork(load->reader);
	struct filling filling = {.context = &load->context, .reader = load->reader};
	add_marks(&filling);
	rollout_reader_thin(load->reader, is_about_agents, take_item, &filling);
	load->context.user_turns = load->reader->user_turns;
	open_calls_find(&load->open_calls, &load->context);
	return 0;
}

void resume_load_run(void *self)
{
	struct resume_load *load = self;
	load->err.code = ERR_none;
	if (load->opens)
		load->rollout = rollout_writer_open(load->path, load->fsync, &load->err);
	if (load->opens && !load->rollout)
		return;
	if (read_file(load, &load->err) == 0)
		load->err.code = ERR_none;
}
