/* A client's bytes: lines are the same lines however they are cut; what is read as a submission or an event survives
 * being written and read again, in every profile; and an engine that receives the submissions emits valid
 * JSON, ends every task that it began, runs no command, and says shutdown_complete last.
 *
 * The first byte of an input chooses the places of the cuts, and 255 puts a line that is too long before the first;
 * the second says how many submissions go in at once. The engine is real, its model's port is closed, and spawn_start
 * is replaced by the linker: any attempt to run a program is a finding. */
#include "fuzz.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/supervisor.h"
#include "process/spawn.h"
#include "server/wire_profile.h"
#include "transport/frame_lines.h"

enum { SUBMISSIONS_MAX = 12, LINES_MAX = 64 };

struct lines {
	struct buf text; /* each with a newline */
	size_t count, too_long;
};

struct engine {
	struct codex *codex;
	size_t running;      /* tasks that have begun and not ended */
	size_t empty_inputs; /* submitted, and perhaps not yet told as complete */
	bool has_ended;
};

static struct {
	char folder[64];
	struct loop *loop;
	struct services *services;
	struct config *config;
} world;

/* Named by the linker's --wrap, in the places of spawn_start and supervisor_spawn. */
int __wrap_spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err);

int __wrap_spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err)
{
	(void)ret_pid, (void)err;
	fprintf(stderr, "a submission runs %s\n", plan->paths[0]);
	abort();
}

int __wrap_supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                            const struct supervisor_handler *handler, void *self, struct error *err);

int __wrap_supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                            const struct supervisor_handler *handler, void *self, struct error *err)
{
	(void)loop, (void)child, (void)handler, (void)self;
	return __wrap_spawn_start(plan, NULL, err);
}

/* ---- the world, once ---- */

static void remove_world(void)
{
	config_unref(world.config);
	services_destroy(world.services);
	loop_destroy(world.loop);
	rmdir(world.folder);
}

static void make_world(void)
{
	struct str overrides[] = {
		STR("model_provider=\"closed\""),
		STR("model_providers.closed.name=\"closed\""),
		STR("model_providers.closed.base_url=\"http://127.0.0.1:9/v1\""),
		STR("model_providers.closed.request_max_retries=0"),
		STR("model_providers.closed.stream_max_retries=0"),
		STR("history.persistence=\"none\""),
	};
	struct config_source source = {
		.codex_home = world.folder,
		.system_file = "/nonexistent/config.toml",
		.cwd = world.folder,
		.overrides = overrides,
		.override_count = countof(overrides),
	};
	snprintf(world.folder, sizeof(world.folder), "/tmp/codex-fuzz-XXXXXX");
	fuzz_check(mkdtemp(world.folder));
	setenv("NO_PROXY", "*", 1);
	world.loop = loop_create(NULL);
	world.config = config_load(&source, NULL);
	fuzz_check(world.loop && world.config);
	world.services = services_create(world.loop, "fuzz");
	atexit(remove_world);
}

/* ---- lines ---- */

static void take_lines(struct frame_lines *frames, struct lines *ret)
{
	struct str line;
	enum frame frame;
	while ((frame = frame_lines_next(frames, &line)) != FRAME_NONE) {
		ret->too_long += frame == FRAME_LONG;
		if (frame == FRAME_LONG)
			continue;
		fuzz_check(line.len && line.len <= LIMIT_LINE && str_eq(line, str_trim(line)));
		fuzz_check(!memchr(line.ptr, '\n', line.len));
		buf_append_str(&ret->text, line);
		buf_append_char(&ret->text, '\n');
		ret->count++;
	}
}

static void add_long_line(struct frame_lines *frames, struct lines *ret)
{
	char bytes[64 * KIB];
	memset(bytes, ' ', sizeof(bytes));
	for (size_t sent = 0; sent <= LIMIT_LINE; sent += sizeof(bytes)) {
		frame_lines_add(frames, str_n(bytes, sizeof(bytes)));
		take_lines(frames, ret);
	}
	frame_lines_add(frames, STR("\r\n"));
}

/* Pieces of 1 to `longest` bytes. */
static void read_lines(struct str bytes, size_t longest, uint32_t seed, bool has_long, struct lines *ret)
{
	struct frame_lines frames;
	*ret = (struct lines){0};
	buf_init(&ret->text, MIB);
	frame_lines_init(&frames, LIMIT_LINE);
	if (has_long)
		add_long_line(&frames, ret);
	while (bytes.len) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > bytes.len)
			len = bytes.len;
		frame_lines_add(&frames, str_n(bytes.ptr, len));
		take_lines(&frames, ret);
		bytes = str_skip(bytes, len);
	}
	frame_lines_end(&frames);
	take_lines(&frames, ret);
	frame_lines_finish(&frames);
	fuzz_check(ret->too_long == has_long);
}

/* ---- submissions and events as values ---- */

static void write_submission(const struct submission *submission, struct buf *out)
{
	struct json_writer w = json_writer(out);
	buf_init(out, 16 * MIB);
	jw_object(&w);
	jw_member_str(&w, "id", submission->id);
	jw_key(&w, "op");
	union_encode(&union_op, &submission->op, &w);
	jw_object_end(&w);
	fuzz_check(!out->over);
}

static void check_submission(const struct submission *submission)
{
	struct error err;
	auto_buf struct buf first, second, third;
	write_submission(submission, &first);
	struct submission *back = submission_decode(buf_str(&first), &err);
	fuzz_check(back && back->op.tag == submission->op.tag);
	write_submission(back, &second);
	struct submission *copy = submission_create(back->id, &back->op);
	submission_destroy(back);
	write_submission(copy, &third);
	submission_destroy(copy);
	fuzz_check(str_eq(buf_str(&first), buf_str(&second)) && str_eq(buf_str(&first), buf_str(&third)));
}

/* In every profile an event is lines of JSON, each with an id and the name of an event. */
static void check_event(const struct event *event)
{
	for (int profile = 0; profile < wire_profile_count; profile++) {
		struct wire_style style = {(enum wire_profile)profile, profile & 1};
		auto_arena struct arena arena = {0};
		auto_buf struct buf out;
		struct str rest, line;
		buf_init(&out, 64 * MIB);
		wire_profile_write(&style, event, &out);
		fuzz_check(!out.over && (!out.len || str_has_suffix(buf_str(&out), "\n")));
		for (rest = buf_str(&out); str_next_line(&rest, &line);) {
			const struct json *json = json_parse(&arena, line, NULL);
			fuzz_check(json && json_get_str(json, "id").ptr);
			fuzz_check(json_get_str(json_get(json, "msg"), "type").len);
		}
	}
}

static void check_as_event(struct str line)
{
	auto_arena struct arena arena = {0};
	struct event_msg msg = {0};
	const struct json *json = json_parse(&arena, line, NULL);
	const struct json *body = json_get(json, "msg");
	if (!body || union_decode(&union_event_msg, body, &arena, &msg, NULL) != 0)
		return;
	struct event *event = event_create(STR("e"), msg.tag, msg.body);
	check_event(event);
	event_destroy(event);
}

/* ---- the engine ---- */

static void on_event(const struct event *event, void *self)
{
	struct engine *engine = self;
	fuzz_check(!engine->has_ended);
	switch (event->msg.tag) {
	case EV_task_started:
		engine->running++;
		break;
	case EV_task_complete:
	case EV_turn_aborted:
		fuzz_check(engine->running + engine->empty_inputs > 0);
		if (engine->running > 0)
			engine->running--;
		else
			engine->empty_inputs--;
		break;
	case EV_shutdown_complete:
		fuzz_check(engine->running == 0);
		engine->has_ended = true;
		break;
	default:
		break;
	}
	check_event(event);
}

static void run_engine(const struct engine *engine)
{
	while (codex_get_state(engine->codex) != CODEX_IDLE)
		uv_run(loop_uv(world.loop), UV_RUN_ONCE);
}

static void open_engine(struct engine *engine)
{
	struct codex_options options = {
		.services = world.services,
		.config = world.config,
		.source = session_source_cli,
		.cwd = world.folder,
		.ephemeral = true,
		.is_interactive = true,
		.on_event = on_event,
		.self = engine,
	};
	static const struct op_configure_session configure;
	struct op op = {.tag = OP_configure_session, .body = (void *)(uintptr_t)&configure};
	engine->codex = codex_open(&options);
	fuzz_check(codex_submit_op(engine->codex, STR("c"), &op, NULL) == 0);
}

static void close_engine(struct engine *engine)
{
	struct op op = {.tag = OP_shutdown};
	run_engine(engine);
	fuzz_check(codex_submit_op(engine->codex, STR("s"), &op, NULL) == 0);
	run_engine(engine);
	fuzz_check(engine->has_ended);
	codex_close(engine->codex);
}

/* Leaves out programs that run by design (a user command, MCP servers) and files of the user's choice. */
static bool is_harmless(const struct op *op)
{
	if (op->tag == OP_configure_session)
		return !op->configure_session->resume_path.ptr;
	return op->tag != OP_run_user_shell_command && op->tag != OP_refresh_mcp_servers && op->tag != OP_undo;
}

/* It starts no task and is reported as complete. */
static bool is_empty_input(const struct op *op)
{
	return (op->tag == OP_user_input && op->user_input->items_count == 0) ||
	       (op->tag == OP_user_turn && op->user_turn->items_count == 0);
}

static void submit_line(struct engine *engine, struct str line, size_t *submitted, size_t together)
{
	struct error err = {0};
	struct submission *submission = submission_decode(line, &err);
	fuzz_check(submission || (err.code && err.text[0]));
	if (!submission)
		return;
	check_submission(submission);
	if (*submitted < SUBMISSIONS_MAX && is_harmless(&submission->op)) {
		engine->empty_inputs += is_empty_input(&submission->op);
		fuzz_check(codex_submit_op(engine->codex, submission->id, &submission->op, NULL) == 0);
		if (++*submitted % together == 0)
			run_engine(engine);
	}
	submission_destroy(submission);
}

static void check_lines(struct str text, size_t together)
{
	struct engine engine = {0};
	size_t submitted = 0, count = 0;
	struct str line;
	open_engine(&engine);
	while (count++ < LINES_MAX && str_next_line(&text, &line)) {
		check_as_event(line);
		submit_line(&engine, line, &submitted, together);
	}
	close_engine(&engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines whole, pieces;
	if (size < 2)
		return 0;
	if (!world.loop)
		make_world();
	struct str bytes = {(const char *)data + 2, size - 2};
	bool has_long = data[0] == 255;
	read_lines(bytes, bytes.len + 1, 0, has_long, &whole);
	read_lines(bytes, 1 + data[0] % 61, data[0], has_long, &pieces);
	fuzz_check(whole.count == pieces.count && str_eq(buf_str(&whole.text), buf_str(&pieces.text)));
	check_lines(buf_str(&whole.text), 1 + data[1] % SUBMISSIONS_MAX);
	buf_finish(&whole.text);
	buf_finish(&pieces.text);
	return 0;
}
