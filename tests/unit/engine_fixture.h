/* engine_fixture.h — an engine on its own loop with a scripted model, for the tests of engine/.
 *
 * Ops are submitted as JSON, like a client's. Emitted events are collected as type names (log) and as JSON (wire). */
#ifndef TESTS_UNIT_ENGINE_FIXTURE_H
#define TESTS_UNIT_ENGINE_FIXTURE_H

#include "test.h"

#include <signal.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "server/mock/mock_model.h"
#include "temp.h"

struct fixture {
	struct loop *loop;
	struct mock_model *mock;
	struct services *services;
	struct config *config;
	struct codex *codex;
	struct buf log;   /* tags of the events, except those whose number varies */
	struct buf notes; /* mismatches that the scripted model reported */
	struct buf wire;  /* the events as JSON, one per line */
	const char *wanted;
	size_t left; /* number of events until the loop stops */
	unsigned next_id;
	bool steers; /* input joins a running task; set before the codex is opened */
	/* called for each event, may submit; NULL: not used */
	void (*hook)(struct fixture *f, const struct event *event);
	size_t events; /* number of events that the hook was called with */
	size_t say_at; /* used by hooks */
};

/* ---- the fixture ---- */

static inline int set_up(void **state)
{
	if (temp_make(state) != 0)
		return -1;
	signal(SIGPIPE,
	       SIG_IGN); /* the scripted model runs in this process, and clients disconnect in the middle of answers */
	setenv("HOME", temp_root, 1); /* login shells must not read the profile of the developer */
	struct fixture *f = xnew(struct fixture);
	f->loop = loop_create(NULL);
	buf_init(&f->log, MIB);
	buf_init(&f->notes, MIB);
	buf_init(&f->wire, 64 * MIB);
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	codex_close(f->codex);
	services_destroy(f->services);
	config_unref(f->config);
	mock_model_destroy(f->mock);
	process_reaper_stop();
	loop_destroy(f->loop);
	buf_finish(&f->log);
	buf_finish(&f->notes);
	buf_finish(&f->wire);
	free(f);
	return temp_remove(state);
}

static inline void on_note(const char *text, void *self)
{
	struct fixture *f = self;
	buf_printf(&f->notes, "%s\n", text);
}

static inline bool comes_often(enum event_tag tag)
{
	return tag == EV_mcp_startup_complete || tag == EV_token_count || tag == EV_exec_command_output_delta ||
	       tag == EV_agent_message_content_delta;
}

static inline void on_event(const struct event *event, void *self)
{
	struct fixture *f = self;
	const char *name = union_find_tag(&union_event_msg, (int)event->msg.tag)->wire;
	struct json_writer w = json_writer(&f->wire);
	event_encode(event, &w);
	buf_append_char(&f->wire, '\n');
	if (!comes_often(event->msg.tag))
		buf_printf(&f->log, "%s%s", f->log.len ? " " : "", name);
	f->events++;
	if (f->hook)
		f->hook(f, event);
	if (f->wanted && f->left && strcmp(name, f->wanted) == 0 && --f->left == 0)
		loop_stop(f->loop);
}

static inline void open_codex(struct fixture *f)
{
	struct codex_options options = {
		.services = f->services,
		.config = f->config,
		.source = session_source_exec,
		.cwd = temp_root,
		.is_interactive = true,
		.steers = f->steers,
		.on_event = on_event,
		.self = f,
	};
	f->codex = codex_open(&options);
}

/* Opens an engine with the configuration `more` (TOML, or NULL) and a model that follows the script. */
static inline void start(struct fixture *f, const char *script, const char *more)
{
	struct error err = {0};
	struct mock_options mock = {.script = str_of(script), .on_note = on_note, .self = f};
	f->mock = mock_model_create(f->loop, &mock, &err);
	if (!f->mock)
		fail_msg("%s", err.text);
	auto_free char *base_url = xasprintf("model_providers.mock.base_url=\"http://127.0.0.1:%u/v1\"",
	                                     (unsigned)mock_model_port(f->mock));
	struct str overrides[] = {
		STR("model_provider=\"mock\""),
		STR("model_providers.mock.name=\"mock\""),
		str_of(base_url),
		STR("sandbox_mode=\"danger-full-access\""),
		STR("approval_policy=\"never\""),
		str_of(more ? more : "model=\"gpt-5.5\""),
	};
	struct config_source source = {
		.codex_home = temp_path("home"),
		.system_file = temp_path("none.toml"),
		.cwd = temp_root,
		.overrides = overrides,
		.override_count = countof(overrides),
	};
	f->config = config_load(&source, &err);
	if (!f->config)
		fail_msg("%s", err.text);
	f->services = services_create(f->loop, "test");
	open_codex(f);
}

static inline void submit(struct fixture *f, const char *op)
{
	struct error err;
	auto_free char *text = xasprintf("{\"id\":\"%u\",\"op\":%s}", f->next_id++, op);
	struct submission *submission = submission_decode(str_of(text), &err);
	if (!submission)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(codex_submit_op(f->codex, submission->id, &submission->op, NULL), 0);
	submission_destroy(submission);
}

static inline void configure(struct fixture *f)
{
	submit(f, "{\"type\":\"configure_session\"}");
}

static inline void say(struct fixture *f, const char *text)
{
	auto_free char *op =
		xasprintf("{\"type\":\"user_input\",\"items\":[{\"type\":\"text\",\"text\":\"%s\"}]}", text);
	submit(f, op);
}

/* Runs the loop until the n-th such event, counted from now. */
static inline void run_until(struct fixture *f, const char *event, size_t n)
{
	f->wanted = event;
	f->left = n;
	loop_run(f->loop);
	assert_int_equal(f->left, 0);
	f->wanted = NULL;
}

/* Runs the work that is ready, without waiting. */
static inline void settle(struct fixture *f)
{
	for (int i = 0; i < 20; i++)
		uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

/* Runs the loop until nothing is pending. */
static inline void run_until_idle(struct fixture *f)
{
	while (codex_get_state(f->codex) != CODEX_IDLE)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
}

static inline void expect_log(struct fixture *f, const char *want)
{
	assert_string_equal(f->log.data ? f->log.data : "", want);
	buf_clear(&f->log);
}

/* Asserts that the requests matched the script. */
static inline void expect_fit(struct fixture *f, uint64_t requests)
{
	if (f->notes.len)
		fail_msg("%s", f->notes.data);
	assert_int_equal(mock_model_requests(f->mock), requests);
}

static inline bool was_told(const struct fixture *f, const char *text)
{
	return str_find(buf_str(&f->wire), str_of(text)) >= 0;
}

static inline void expect_emitted(const struct fixture *f, const char *text)
{
	if (!was_told(f, text))
		fail_msg("\"%s\" is not in:\n%s", text, f->wire.data);
}

/* Returns a string member of the last event that has it. */
static inline void last_member(const struct fixture *f, const char *name, char *ret, size_t size)
{
	auto_free char *key = xasprintf("\"%s\":\"", name);
	struct str text = buf_str(&f->wire);
	ptrdiff_t at, found = -1;
	for (size_t from = 0; (at = str_find(str_skip(text, from), str_of(key))) >= 0; from = (size_t)found + 1)
		found = (ptrdiff_t)from + at;
	assert_true(found >= 0);
	struct str value = str_skip(text, (size_t)found + strlen(key));
	ptrdiff_t end = str_find_char(value, '"');
	assert_true(end >= 0 && (size_t)end < size);
	memcpy(ret, value.ptr, (size_t)end);
	ret[end] = '\0';
}

#define FIRST "session_configured task_started item_started item_completed"
#define TASK "task_started item_started item_completed"
#define SPOKE "item_started item_completed model_turn_complete"

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
