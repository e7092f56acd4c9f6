/* libcodex through its public API: JSON in and out, across threads, with a scripted model on its own loop. */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "codex/codex.h"
#include "loop/loop.h"
#include "server/mock/mock_model.h"
#include "temp.h"

struct fixture {
	struct loop *loop; /* the loop of the scripted model, on its own thread */
	struct mock_model *mock;
	pthread_t thread;
	uv_async_t stop;
	char *options;
	codex_t *codex;
};

static void on_stop(uv_async_t *stop)
{
	struct fixture *f = stop->data;
	mock_model_destroy(f->mock);
	uv_close((uv_handle_t *)stop, NULL);
	loop_stop(f->loop);
}

static void *serve(void *self)
{
	struct fixture *f = self;
	loop_run(f->loop);
	return NULL;
}

static int set_up(void **state)
{
	if (temp_make(state) != 0)
		return -1;
	setenv("CODEX_HOME", temp_root, 1);
	*state = xnew(struct fixture);
	return 0;
}

static void stop_model(struct fixture *f)
{
	if (!f->loop)
		return;
	uv_async_send(&f->stop);
	pthread_join(f->thread, NULL);
	loop_destroy(f->loop);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	codex_destroy(f->codex);
	stop_model(f);
	free(f->options);
	free(f);
	return temp_remove(state);
}

static void start_behind(struct fixture *f, const char *sandbox, const char *script)
{
	struct error err = {0};
	char *error = NULL;
	struct mock_options options = {.script = str_of(script)};
	f->loop = loop_create(NULL);
	f->mock = mock_model_create(f->loop, &options, &err);
	if (!f->mock)
		fail_msg("%s", err.text);
	uv_async_init(loop_uv(f->loop), &f->stop, on_stop);
	f->stop.data = f;
	f->options = xasprintf("{\"cwd\":\"%s\",\"config\":[\"model_provider=mock\",\"model_providers.mock.name="
	                       "mock\",\"model_providers.mock.base_url=\\\"http://127.0.0.1:%u/v1\\\"\","
	                       "\"sandbox_mode=%s\"]}",
	                       temp_root, (unsigned)mock_model_port(f->mock), sandbox);
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	f->codex = codex_create(f->options, &error);
	if (!f->codex)
		fail_msg("%s", error);
}

static void start(struct fixture *f, const char *script)
{
	start_behind(f, "danger-full-access", script);
}

static int submit(struct fixture *f, const char *text)
{
	return codex_submit(f->codex, text, strlen(text));
}

#define CONFIGURE "{\"id\":\"0\",\"op\":{\"type\":\"configure_session\"}}"
#define GO "{\"id\":\"1\",\"op\":{\"type\":\"user_input\",\"items\":[{\"type\":\"text\",\"text\":\"go\"}]}}"
#define SHUTDOWN "{\"id\":\"9\",\"op\":{\"type\":\"shutdown\"}}"

/* Takes events up to the first one of that type; false at the end. */
static bool wait_for(struct fixture *f, const char *type)
{
	auto_free char *want = xasprintf("\"msg\":{\"type\":\"%s\"", type);
	char *event;
	while (codex_next_event(f->codex, -1, &event) == CODEX_OK) {
		bool is_it = strstr(event, want) != NULL;
		codex_free(event);
		if (is_it)
			return true;
	}
	return false;
}

static void a_task_from_submit_to_shutdown(void **state)
{
	struct fixture *f = *state;
	char *event = NULL;
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	assert_int_equal(codex_next_event(f->codex, 0, &event), CODEX_TIMEOUT);
	assert_int_equal(codex_next_event(f->codex, 1, &event), CODEX_TIMEOUT);
	assert_int_equal(submit(f, "{"), CODEX_INVALID);
	assert_int_equal(submit(f, "{\"id\":\"1\",\"op\":{\"type\":\"dance\"}}"), CODEX_INVALID);
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	assert_int_equal(submit(f, GO), CODEX_OK);
	assert_true(wait_for(f, "session_configured"));
	assert_true(wait_for(f, "task_complete"));
	assert_int_equal(submit(f, SHUTDOWN), CODEX_OK);
	assert_true(wait_for(f, "shutdown_complete"));
	assert_int_equal(codex_next_event(f->codex, -1, &event), CODEX_ENDED);
	assert_int_equal(submit(f, GO), CODEX_ENDED);
	assert_null(event);
}

/* Every Op is refused before configure_session, with one event each, which accumulate while no events are taken. */
static void events_are_ordered(void **state)
{
	struct fixture *f = *state;
	char text[80], *event;
	start(f, "{\"reply\":[{\"hang\":true}]}");
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "{\"id\":\"n%d\",\"op\":{\"type\":\"interrupt\"}}", i);
		assert_int_equal(submit(f, text), CODEX_OK);
	}
	for (int i = 0; i < 40; i++) {
		assert_int_equal(codex_next_event(f->codex, -1, &event), CODEX_OK);
		snprintf(text, sizeof(text), "{\"id\":\"n%d\",", i);
		bool is_next = strncmp(event, text, strlen(text)) == 0;
		codex_free(event);
		assert_true(is_next);
	}
}

/* As in codex proto, clients of some versions receive legacy events. */
static void events_are_written_in_the_wire_profile(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	assert_int_equal(submit(f, GO), CODEX_OK);
	assert_true(wait_for(f, "item_completed"));
	assert_true(wait_for(f, "agent_message"));
	assert_true(wait_for(f, "task_complete"));
}

static bool is_raised(struct fixture *f, int timeout_ms)
{
	struct pollfd fd = {.fd = codex_event_fd(f->codex), .events = POLLIN};
	return poll(&fd, 1, timeout_ms) == 1;
}

static void the_descriptor_says_when_there_is_something(void **state)
{
	struct fixture *f = *state;
	char *event;
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	assert_false(is_raised(f, 0));
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	assert_true(is_raised(f, -1));
	assert_int_equal(codex_next_event(f->codex, 0, &event), CODEX_OK);
	codex_free(event);
	assert_true(wait_for(f, "mcp_startup_complete")); /* the last event without further Ops */
	assert_false(is_raised(f, 0));
	assert_int_equal(submit(f, SHUTDOWN), CODEX_OK);
	assert_true(is_raised(f, -1));
	assert_true(wait_for(f, "shutdown_complete"));
	assert_true(is_raised(f, 0));
}

#define DELTA "{\"repeat\":4000,\"steps\":[{\"delta\":{\"fill\":1000}}]}"

/* 8 MB of events, eight times the limit of the queue. */
static void a_host_that_reads_late_misses_nothing(void **state)
{
	struct fixture *f = *state;
	char *event;
	size_t deltas = 0, bytes = 0;
	bool is_complete = false;
	start(f, "{\"reply\":[" DELTA "]}");
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	assert_int_equal(submit(f, GO), CODEX_OK);
	while (!is_complete && codex_next_event(f->codex, -1, &event) == CODEX_OK) {
		is_complete = strstr(event, "\"type\":\"task_complete\"") != NULL;
		deltas += strstr(event, "\"type\":\"agent_message_content_delta\"") != NULL;
		bytes += strlen(event);
		codex_free(event);
	}
	assert_true(is_complete);
	assert_int_equal(deltas, 4000);
	assert_true(bytes > 4 * LIMIT_API_QUEUE);
}

/* No events are taken during a flood: the interrupt takes effect, and few events precede it. */
static void a_held_engine_can_be_interrupted(void **state)
{
	struct fixture *f = *state;
	char *event;
	size_t bytes = 0;
	bool is_aborted = false;
	start(f, "{\"reply\":[" DELTA "," DELTA "," DELTA "," DELTA "," DELTA "]}");
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	assert_int_equal(submit(f, GO), CODEX_OK);
	assert_true(wait_for(f, "agent_message_content_delta"));
	assert_int_equal(submit(f, "{\"id\":\"2\",\"op\":{\"type\":\"interrupt\"}}"), CODEX_OK);
	while (!is_aborted && codex_next_event(f->codex, -1, &event) == CODEX_OK) {
		is_aborted = strstr(event, "\"type\":\"turn_aborted\"") != NULL;
		bytes += strlen(event);
		codex_free(event);
	}
	assert_true(is_aborted);
	assert_true(bytes < 20 * 1000 * 1000);
}

/* Submissions of a host that takes no events are refused eventually; after reading, all accepted ones are answered. */
static void a_host_that_only_submits_is_refused(void **state)
{
	struct fixture *f = *state;
	char *event;
	size_t taken = 0, answered = 0;
	auto_free char *path = xasprintf("/%0900d", 0);
	auto_free char *op = xasprintf("{\"id\":\"%s\",\"op\":{\"type\":\"get_history_entry_request\","
	                               "\"offset\":0,\"log_id\":1}}",
	                               path);
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	for (int refusals = 0; refusals < 10000; sched_yield()) { /* a refusal may be temporary, so try again */
		int status = submit(f, op);
		assert_true(status == CODEX_OK || status == CODEX_FULL);
		taken += status == CODEX_OK;
		refusals = status == CODEX_FULL ? refusals + 1 : 0;
		assert_true(taken < 100000);
	}
	while (answered < taken && codex_next_event(f->codex, -1, &event) == CODEX_OK) {
		answered += strstr(event, "\"type\":\"get_history_entry_response\"") != NULL;
		codex_free(event);
	}
	assert_int_equal(answered, taken);
	assert_true(taken * 900 > LIMIT_API_QUEUE);
}

/* Records a session of one turn and ends its engine. Returns the path of its rollout, owned by the caller. */
static char *record_session(struct fixture *f)
{
	char *event, *path = NULL;
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	while (!path && codex_next_event(f->codex, -1, &event) == CODEX_OK) {
		char *from = strstr(event, "\"rollout_path\":\"");
		if (from)
			path = str_dup(str_n(from + 16, strcspn(from + 16, "\"")));
		codex_free(event);
	}
	assert_int_equal(submit(f, GO), CODEX_OK);
	assert_true(wait_for(f, "task_complete"));
	assert_int_equal(submit(f, SHUTDOWN), CODEX_OK);
	assert_true(wait_for(f, "shutdown_complete"));
	codex_destroy(f->codex);
	f->codex = NULL;
	return path;
}

/* A process that has exited holds the file's lock until `release` is closed: its child has the descriptor. */
static void lock_as_exited(const char *path, int *ret_release)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(flock(fd, LOCK_EX | LOCK_NB) != 0 || (fork() == 0 && read(ends[0], &fd, 1) < 0));
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	close(ends[0]);
	*ret_release = ends[1];
}

/* A resume that waits for a lock keeps the engine's queue full for a while. */
static void submissions_during_a_resume_are_carried_out(void **state)
{
	struct fixture *f = *state;
	char *event, *error = NULL;
	size_t taken = 0, answered = 0;
	int release;
	auto_free char *path = record_session(f);
	lock_as_exited(path, &release);
	f->codex = codex_create(f->options, &error);
	assert_non_null(f->codex);
	auto_free char *resume =
		xasprintf("{\"id\":\"0\",\"op\":{\"type\":\"configure_session\",\"resume_path\":\"%s\"}}", path);
	assert_int_equal(submit(f, resume), CODEX_OK);
	for (int refusals = 0; refusals < 10000 && taken < 1000; sched_yield()) { /* a refusal may be temporary, so
		                                                                   * try again */
		int status = submit(f, "{\"id\":\"1\",\"op\":{\"type\":\"get_path\"}}");
		assert_true(status == CODEX_OK || status == CODEX_FULL);
		taken += status == CODEX_OK;
		refusals = status == CODEX_FULL ? refusals + 1 : 0;
	}
	close(release);
	while (answered < taken && codex_next_event(f->codex, 20000, &event) == CODEX_OK) {
		answered += strstr(event, "\"type\":\"conversation_path\"") != NULL;
		codex_free(event);
	}
	assert_int_equal(answered, taken);
	assert_in_range(taken, LIMIT_SUBMISSIONS, 2 * LIMIT_SUBMISSIONS);
}

static void a_busy_engine_can_be_destroyed(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"sleep 600\"}},{\"delta\":\"x\"}]}");
	assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
	assert_int_equal(submit(f, GO), CODEX_OK);
	assert_true(wait_for(f, "exec_command_begin"));
}

static void an_engine_can_be_destroyed_before_it_did_anything(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	for (int i = 0; i < 10; i++)
		assert_int_equal(submit(f, CONFIGURE), CODEX_OK);
}

static void *submit_many(void *self)
{
	struct fixture *f = self;
	for (int i = 0; i < 500;) {
		int status = submit(f, "{\"id\":\"x\",\"op\":{\"type\":\"configure_session\"}}");
		if (status == CODEX_OK)
			i++;
		else if (status != CODEX_FULL)
			return NULL;
	}
	return f;
}

/* Each accepted submission is answered, at any speed. */
static void two_threads_lose_nothing(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[2];
	void *is_done;
	start(f, "{\"reply\":[{\"message\":\"hello\"}]}");
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, submit_many, f), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(wait_for(f, "session_configured"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &is_done), 0);
		assert_ptr_equal(is_done, f);
	}
	assert_int_equal(submit(f, SHUTDOWN), CODEX_OK);
	assert_true(wait_for(f, "shutdown_complete"));
}

static void *work(void *self)
{
	struct fixture *f = self;
	if (submit(f, CONFIGURE) != CODEX_OK || submit(f, GO) != CODEX_OK)
		return NULL;
	return wait_for(f, "exec_command_end") && wait_for(f, "task_complete") ? f : NULL;
}

/* Engines share only the process. */
static void several_engines_work_side_by_side(void **state)
{
	struct fixture *f = *state, others[3] = {0};
	pthread_t threads[3];
	void *is_done;
	static const char script[] =
		"{\"when\":{\"contains\":\"function_call_output\"},\"times\":\"forever\",\"reply\":[{\"message\":"
		"\"done\"}]}\n"
		"{\"times\":\"forever\",\"reply\":[{\"call\":\"shell_command\",\"arguments\":{\"command\":\"echo a\"},"
		"\"call_id\":\"call_x\"}]}";
	start_behind(f, "read-only", script);
	for (int i = 0; i < 3; i++) {
		others[i].codex = codex_create(f->options, NULL);
		assert_non_null(others[i].codex);
		assert_int_equal(pthread_create(&threads[i], NULL, work, &others[i]), 0);
	}
	assert_ptr_equal(work(f), f);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], &is_done), 0);
		assert_ptr_equal(is_done, &others[i]);
		codex_destroy(others[i].codex);
	}
}

static void bad_options_are_explained(void **state)
{
	(void)state;
	static const char *const options[] = {"{", "[]", "{\"cwd\":\"/no/such/folder\"}", "{\"config\":[\"model=1\"]}",
	                                      "{\"cwd\":\"a\\u0000b\"}"};
	for (size_t i = 0; i < countof(options); i++) {
		char *error = NULL;
		assert_null(codex_create(options[i], &error));
		assert_non_null(error);
		assert_int_not_equal(strlen(error), 0);
		codex_free(error);
		assert_null(codex_create(options[i], NULL));
	}
	codex_destroy(NULL);
	codex_free(NULL);
	assert_non_null(codex_version());
}

int main(void)
{
	signal(SIGPIPE,
	       SIG_IGN); /* the scripted model runs in this process, and clients disconnect in the middle of answers */
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_task_from_submit_to_shutdown),
		TEST(events_are_ordered),
		TEST(events_are_written_in_the_wire_profile),
		TEST(the_descriptor_says_when_there_is_something),
		TEST(a_host_that_reads_late_misses_nothing),
		TEST(a_held_engine_can_be_interrupted),
		TEST(a_host_that_only_submits_is_refused),
		TEST(submissions_during_a_resume_are_carried_out),
		TEST(a_busy_engine_can_be_destroyed),
		TEST(an_engine_can_be_destroyed_before_it_did_anything),
		TEST(two_threads_lose_nothing),
		TEST(several_engines_work_side_by_side),
		TEST(bad_options_are_explained),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
