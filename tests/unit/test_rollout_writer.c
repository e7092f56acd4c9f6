/* Appended lines are in the file after a flush, once and complete, in all error cases. */
#include "temp.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "loop/loop.h"
#include "protocol/record/types.h"
#include "rollout/rollout_event.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_writer.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"
#define OLD_FILE "sessions/2026/11/20/rollout-2026-11-20T10-00-00-" THREAD ".jsonl"
#define META_LINE "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"" THREAD "\"}}\n"

static struct rollout_writer *create_writer(enum fsync_policy fsync)
{
	struct rollout_meta meta = {
		.thread_id = STR(THREAD),
		.started_at_ms = 1795218073724,
		.cwd = STR("/w"),
		.originator = STR("codex_exec"),
		.cli_version = STR("0.1.0"),
		.source = session_source_exec,
		.model_provider = STR("mock"),
		.base_instructions = STR("be good"),
		.git_branch = STR("main"),
	};
	return rollout_writer_create(temp_root, &meta, fsync);
}

static struct rollout_writer *open_writer(const char *path)
{
	struct error err = {0};
	struct rollout_writer *writer = rollout_writer_open(path, fsync_policy_none, &err);
	if (!writer)
		fail_msg("%s", err.text);
	return writer;
}

static void append(struct rollout_writer *writer, struct str payload)
{
	assert_int_equal(rollout_writer_append(writer, LINE_response_item, payload, NULL), 0);
}

static void flush(struct rollout_writer *writer)
{
	struct error err = {0};
	if (rollout_writer_flush(writer, &err) != 0)
		fail_msg("%s", err.text);
}

/* Parses line number `index` of a file; fails if it is invalid. */
static struct rollout_line line_at(struct arena *arena, const char *path, size_t index)
{
	auto_free char *bytes = temp_get(path);
	struct str rest = arena_str(arena, str_of(bytes)), line = {0};
	for (size_t i = 0; i <= index; i++)
		assert_true(str_next_line(&rest, &line));
	struct error err = {0};
	struct rollout_line parsed;
	if (rollout_line_parse(arena, line, &parsed, &err) != 0)
		fail_msg("%s: %.*s", err.text, STR_ARG(line));
	return parsed;
}

static size_t count_lines(const char *path)
{
	auto_free char *bytes = temp_get(path);
	size_t count = 0;
	for (const char *at = bytes; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

static void lines_are_numbered_where_the_file_is(void **state)
{
	(void)state;
	const char *path = temp_put("n.jsonl", STR("{\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{}}\n"
	                                           "{\"ordinal\":1,\"type\":\"world_state\",\"payload\":{}}\n"
	                                           "not a line\n"
	                                           "{\"type\":\"world_state\",\"payload\":{}}\n"));
	struct rollout_writer *writer = open_writer(path);
	assert_true(rollout_writer_is_paginated(writer));
	append(writer, STR("{}"));
	flush(writer);
	rollout_writer_destroy(writer);
	auto_arena struct arena arena = {0};
	struct rollout_line line = line_at(&arena, path, 4);
	assert_true(line.has_ordinal);
	assert_int_equal(line.ordinal, 4);
}

static void no_file_before_there_is_something_to_keep(void **state)
{
	(void)state;
	struct rollout_writer *writer = create_writer(fsync_policy_turn);
	flush(writer);
	assert_false(file_exists(temp_path("sessions")));
	assert_int_equal(rollout_writer_pending_bytes(writer), 0);
	append(writer, STR("{\"type\":\"message\"}"));
	assert_true(rollout_writer_pending_bytes(writer) > 0);
	flush(writer);
	assert_int_equal(rollout_writer_pending_bytes(writer), 0);
	struct stat st;
	assert_int_equal(stat(rollout_writer_path(writer), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(temp_path("sessions"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	rollout_writer_destroy(writer);
}

static void the_first_line_identifies_the_session(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{\"type\":\"message\"}"));
	flush(writer);
	struct rollout_meta meta;
	struct rollout_line line = line_at(&arena, rollout_writer_path(writer), 0);
	assert_int_equal(line.type, LINE_session_meta);
	assert_int_equal(rollout_meta_decode(line.payload, &arena, &meta, NULL), 0);
	assert_str(meta.thread_id, THREAD);
	assert_str(meta.timestamp, "2026-11-20T23:41:13.724Z");
	assert_str(meta.cwd, "/w");
	assert_str(meta.originator, "codex_exec");
	assert_str(meta.base_instructions, "be good");
	assert_str(meta.git_branch, "main");
	assert_null(meta.git_commit.ptr);
	assert_int_equal(meta.source, session_source_exec);
	assert_false(meta.is_paginated);
	line = line_at(&arena, rollout_writer_path(writer), 1);
	assert_int_equal(line.type, LINE_response_item);
	assert_false(line.has_ordinal);
	rollout_writer_destroy(writer);
}

static void names_follow_local_time(void **state)
{
	(void)state;
	setenv("TZ", "Asia/Tokyo", 1);
	tzset();
	auto_free char *path = rollout_path("/h", 1795218073724, STR(THREAD));
	setenv("TZ", "UTC", 1);
	tzset();
	assert_string_equal(path, "/h/sessions/2026/11/21/rollout-2026-11-21T08-41-13-" THREAD ".jsonl");
	struct rollout_file_name name;
	assert_true(rollout_path_parse(path_name(path), &name));
	assert_str(name.time, "2026-11-21T08-41-13");
	assert_str(name.rollout_id, THREAD);
	auto_free char *of = rollout_path_home(path);
	assert_string_equal(of, "/h");
	assert_null(rollout_path_home("/h/sessions/2026/11/rollout-x.jsonl"));
	assert_true(rollout_path_parse(
		STR("rollout-2026-11-21T08-41-13-" THREAD "_01a1fbce-f409-71a1-aa5c-5fbb73b0624f.jsonl.zst"), &name));
	assert_str(name.thread_id, THREAD);
	assert_str(name.rollout_id, "01a1fbce-f409-71a1-aa5c-5fbb73b0624f");
	assert_true(name.is_compressed);
	assert_false(rollout_path_parse(STR("rollout-2026-11-21T08-41-13-" THREAD ".json"), &name));
	assert_false(rollout_path_parse(STR("rollout-2026-11-21T08-41-13-../../../../../../../../etc/passwd00.jsonl"),
	                                &name));
}

static void a_payload_over_several_lines_becomes_one(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{\n\"type\":\r\n\"message\"\n}"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 2);
	struct rollout_line line = line_at(&arena, rollout_writer_path(writer), 1);
	assert_str(json_get_str(line.payload, "type"), "message");
	rollout_writer_destroy(writer);
}

static void a_line_that_does_not_fit_leaves_no_trace(void **state)
{
	(void)state;
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{}"));
	size_t before = rollout_writer_pending_bytes(writer);
	char *big = xmalloc(LIMIT_ROLLOUT_PENDING);
	memset(big, ' ', LIMIT_ROLLOUT_PENDING);
	struct error err = {0};
	int status = rollout_writer_append(writer, LINE_response_item, str_n(big, LIMIT_ROLLOUT_PENDING), &err);
	free(big);
	assert_int_equal(status, -ERR_limit);
	assert_non_null(strstr(err.text, rollout_writer_path(writer)));
	assert_int_equal(rollout_writer_pending_bytes(writer), before);
	append(writer, STR("{}"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 3);
	rollout_writer_destroy(writer);
}

/* A file size limit simulates a full disk: the write is truncated inside a line, then refused. */
static void a_full_disk_costs_nothing_but_time(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rlimit old, small;
	signal(SIGXFSZ, SIG_IGN);
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{\"type\":\"message\",\"n\":1}"));
	append(writer, STR("{\"type\":\"message\",\"n\":2}"));
	size_t all = rollout_writer_pending_bytes(writer);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){.rlim_cur = all - 10, .rlim_max = old.rlim_max};
	struct error err = {0};
	setrlimit(RLIMIT_FSIZE, &small);
	int status = rollout_writer_flush(writer, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(status, -ERR_no_space);
	assert_non_null(strstr(err.text, rollout_writer_path(writer)));
	assert_int_equal(rollout_writer_pending_bytes(writer), 10);
	append(writer, STR("{\"type\":\"message\",\"n\":3}"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 4);
	for (size_t i = 1; i < 4; i++) {
		struct rollout_line line = line_at(&arena, rollout_writer_path(writer), i);
		assert_int_equal(json_get_i64(line.payload, "n", 0), i);
	}
	rollout_writer_destroy(writer);
}

/* A process killed before its first batch is complete must not leave a session. */
static void a_file_has_its_name_when_the_first_batch_is_whole(void **state)
{
	(void)state;
	struct rlimit old, small;
	signal(SIGXFSZ, SIG_IGN);
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{\"type\":\"message\"}"));
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){.rlim_cur = 10, .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	int status = rollout_writer_flush(writer, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(status, -ERR_no_space);
	assert_false(file_exists(rollout_writer_path(writer)));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 2);
	rollout_writer_destroy(writer);
}

/* A large payload is not copied into the batch; a disk that becomes full in its middle must not matter. */
static void a_large_line_is_whole_whether_the_disk_takes_it_at_once_or_not(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf large;
	struct rlimit old, small;
	signal(SIGXFSZ, SIG_IGN);
	buf_init(&large, 4 * MIB);
	buf_append_c(&large, "{\"type\":\"message\",\"text\":\"");
	for (size_t i = 0; i < 200 * 1000; i++)
		buf_append_c(&large, "0123456789");
	buf_append_c(&large, "\"}");
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{\"type\":\"message\",\"text\":\"first\"}"));
	flush(writer);
	append(writer, buf_str(&large));
	assert_true(rollout_writer_pending_bytes(writer) < 10);
	flush(writer);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){.rlim_cur = 3 * MIB, .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	append(writer, buf_str(&large));
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(rollout_writer_pending_bytes(writer) > 512 * KIB);
	append(writer, STR("{\"type\":\"message\",\"text\":\"last\"}"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 5);
	for (size_t i = 2; i < 4; i++) {
		struct rollout_line line = line_at(&arena, rollout_writer_path(writer), i);
		assert_int_equal(json_get_str(line.payload, "text").len, 2 * 1000 * 1000);
	}
	rollout_writer_destroy(writer);
}

static void append_message(struct rollout_writer *writer, struct str text)
{
	struct ev_agent_message message = {text};
	struct event_msg event = {.tag = EV_agent_message, .agent_message = &message};
	struct rollout_note note = {.turn_id = STR("t1")};
	assert_int_equal(rollout_event_append(writer, &note, &event, NULL), 0);
}

static void check_message(struct arena *arena, struct rollout_writer *writer, size_t line, struct str text)
{
	const struct json *payload = line_at(arena, rollout_writer_path(writer), line).payload;
	assert_str(json_get_str(payload, "type"), "agent_message");
	assert_true(str_eq(json_get_str(payload, "message"), text));
}

/* A large text of an event is not copied into the batch either, even after other lines that wait there. */
static void a_large_event_is_whole_whether_the_disk_takes_it_at_once_or_not(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf plain, escaped;
	struct rlimit old, small;
	signal(SIGXFSZ, SIG_IGN);
	buf_init(&plain, 4 * MIB);
	buf_init(&escaped, 4 * MIB);
	for (size_t i = 0; i < 100 * 1000; i++)
		buf_append_c(&plain, "0123456789");
	buf_append_str(&escaped, buf_str(&plain));
	buf_append_c(&escaped, "\n\"");
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append_message(writer, buf_str(&plain)); /* there is no file yet */
	flush(writer);
	append_message(writer, STR("small"));
	append_message(writer, buf_str(&plain));
	assert_true(rollout_writer_pending_bytes(writer) < KIB);
	append_message(writer, buf_str(&escaped));
	flush(writer);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){.rlim_cur = 3 * MIB + 512 * KIB, .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	append_message(writer, buf_str(&plain));
	append_message(writer, buf_str(&plain));
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(rollout_writer_pending_bytes(writer) > MIB);
	append_message(writer, STR("last"));
	flush(writer);
	struct str texts[] = {buf_str(&plain), STR("small"),    buf_str(&plain), buf_str(&escaped),
	                      buf_str(&plain), buf_str(&plain), STR("last")};
	assert_int_equal(count_lines(rollout_writer_path(writer)), 1 + countof(texts));
	for (size_t i = 0; i < countof(texts); i++)
		check_message(&arena, writer, i + 1, texts[i]);
	rollout_writer_destroy(writer);
}

static void a_home_that_cannot_be_written_is_an_error_and_keeps_the_batch(void **state)
{
	(void)state;
	temp_put("sessions", STR("a file where a folder must be"));
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{}"));
	size_t pending = rollout_writer_pending_bytes(writer);
	struct error err = {0};
	assert_true(rollout_writer_flush(writer, &err) < 0);
	assert_non_null(strstr(err.text, "sessions"));
	assert_int_equal(rollout_writer_pending_bytes(writer), pending);
	unlink(temp_path("sessions"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 2);
	rollout_writer_destroy(writer);
}

static void half_a_line_is_set_aside_when_a_file_is_opened(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	const char *path = temp_put(OLD_FILE, STR(META_LINE "{\"timestamp\":\"t\",\"type\":\"resp"));
	temp_put(OLD_FILE ".torn-1", STR("an older one"));
	struct rollout_writer *writer = open_writer(path);
	auto_free char *torn = temp_get(rollout_writer_torn_path(writer));
	assert_string_equal(torn, "{\"timestamp\":\"t\",\"type\":\"resp");
	assert_non_null(strstr(rollout_writer_torn_path(writer), ".jsonl.torn-2"));
	append(writer, STR("{\"type\":\"message\"}"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 2);
	assert_int_equal(line_at(&arena, rollout_writer_path(writer), 1).type, LINE_response_item);
	rollout_writer_destroy(writer);
}

static void a_line_that_lacks_only_its_end_is_kept(void **state)
{
	(void)state;
	const char *path =
		temp_put(OLD_FILE, STR(META_LINE "{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{}}"));
	struct rollout_writer *writer = open_writer(path);
	assert_null(rollout_writer_torn_path(writer));
	append(writer, STR("{\"type\":\"message\"}"));
	flush(writer);
	assert_int_equal(count_lines(rollout_writer_path(writer)), 3);
	rollout_writer_destroy(writer);
}

static void numbering_continues_after_a_reopen(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	const char *path =
		temp_put(OLD_FILE, STR("{\"ordinal\":41,\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{}}\n"
	                               "not a line\n"));
	struct rollout_writer *writer = open_writer(path);
	assert_true(rollout_writer_is_paginated(writer));
	append(writer, STR("{}"));
	append(writer, STR("{}"));
	flush(writer);
	assert_int_equal(line_at(&arena, rollout_writer_path(writer), 2).ordinal, 43);
	assert_int_equal(line_at(&arena, rollout_writer_path(writer), 3).ordinal, 44);
	rollout_writer_destroy(writer);
}

static void odd_files_are_refused(void **state)
{
	(void)state;
	struct error err = {0};
	assert_null(rollout_writer_open(temp_path("absent.jsonl"), fsync_policy_none, &err));
	assert_int_equal(err.code, ERR_not_found);
	assert_int_equal(mkfifo(temp_path("pipe.jsonl"), 0600), 0);
	assert_null(rollout_writer_open(temp_path("pipe.jsonl"), fsync_policy_none, &err));
	assert_int_equal(err.code, ERR_invalid);
	assert_null(rollout_writer_open(temp_root, fsync_policy_none, &err));
	struct rollout_writer *writer = open_writer(temp_put("empty.jsonl", STR("")));
	assert_false(rollout_writer_is_paginated(writer));
	rollout_writer_destroy(writer);
}

static void a_second_writer_gets_the_pid_of_the_first(void **state)
{
	(void)state;
	const char *path = temp_put(OLD_FILE, STR(META_LINE));
	struct rollout_writer *first = open_writer(path);
	struct error err = {0};
	assert_null(rollout_writer_open(path, fsync_policy_none, &err));
	assert_int_equal(err.code, ERR_busy);
	char me[32];
	snprintf(me, sizeof(me), "process %d ", (int)getpid());
	if (!strstr(err.text, "another process")) /* if /proc/locks does not list the lock */
		assert_non_null(strstr(err.text, me));
	assert_non_null(strstr(err.text, THREAD));
	rollout_writer_destroy(first);
	rollout_writer_destroy(open_writer(path));
	assert_false(file_exists(temp_path("thread-writer-locks/" THREAD ".lock")));
}

static void the_lock_is_the_one_the_reference_takes(void **state)
{
	(void)state;
	const char *path = temp_put(OLD_FILE, STR(META_LINE));
	const char *lock = temp_put("thread-writer-locks/" THREAD ".lock", STR(""));
	int fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	struct error err = {0};
	assert_null(rollout_writer_open(path, fsync_policy_none, &err));
	assert_int_equal(err.code, ERR_busy);
	close(fd);
	rollout_writer_destroy(open_writer(path));
}

/* A writer killed between two flushes: flushed lines are in the file, others are not, and no line is torn. */
static void a_kill_loses_nothing_that_was_flushed(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		struct rollout_writer *writer = create_writer(fsync_policy_none);
		append(writer, STR("{\"type\":\"message\"}"));
		flush(writer);
		append(writer, STR("{\"type\":\"message\"}"));
		raise(SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	auto_free char *path = rollout_path(temp_root, 1795218073724, STR(THREAD));
	assert_int_equal(count_lines(path), 2);
	struct rollout_writer *writer = open_writer(path);
	assert_null(rollout_writer_torn_path(writer));
	rollout_writer_destroy(writer);
}

static void on_synced(const struct error *err, void *self)
{
	assert_null(err);
	*(bool *)self = true;
}

static void syncing_follows_the_policy_and_reports_on_the_loop(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct rollout_writer *writer = create_writer(fsync_policy_turn);
	bool is_synced = false;
	assert_false(rollout_writer_sync(writer, loop, on_synced, &is_synced));
	append(writer, STR("{}"));
	flush(writer);
	assert_true(rollout_writer_sync(writer, loop, on_synced, &is_synced));
	assert_false(rollout_writer_sync(writer, loop, on_synced, &is_synced));
	rollout_writer_destroy(writer);
	assert_false(is_synced);
	loop_run(loop);
	assert_true(is_synced);
	loop_destroy(loop);
}

/* The worker's copy of the descriptor is closed on the loop, which has not run: only the lock is released. */
static void the_lock_is_released_while_a_sync_is_pending(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct rollout_writer *writer = create_writer(fsync_policy_turn);
	bool is_synced = false;
	append(writer, STR("{}"));
	flush(writer);
	auto_free char *path = xstrdup(rollout_writer_path(writer));
	assert_true(rollout_writer_sync(writer, loop, on_synced, &is_synced));
	rollout_writer_destroy(writer);
	rollout_writer_destroy(open_writer(path));
	loop_run(loop);
	assert_true(is_synced);
	loop_destroy(loop);
}

/* No room for the copy: the torn bytes stay in the file. */
static void a_torn_line_that_cannot_be_saved_is_kept(void **state)
{
	(void)state;
	auto_buf struct buf text;
	struct error err = {0};
	struct rlimit old, small;
	buf_init(&text, 64 * KIB);
	buf_append_c(&text, META_LINE "{\"torn\":\"");
	while (text.len < 20 * KIB)
		buf_append_char(&text, 'x');
	const char *path = temp_put(OLD_FILE, buf_str(&text));
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){4 * KIB, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	struct rollout_writer *writer = rollout_writer_open(path, fsync_policy_none, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	assert_null(writer);
	auto_free char *kept = temp_get(temp_path(OLD_FILE));
	assert_string_equal(kept, text.data);
	assert_false(file_exists(temp_path(OLD_FILE ".torn-1")));
}

/* A lock file is removed with its lock: a process that opened it before and locks it afterwards holds nothing. */
struct contest {
	atomic_int holders, most, rounds;
};

static void *contend(void *self)
{
	struct contest *contest = self;
	while (atomic_fetch_add(&contest->rounds, 1) < 20000) {
		struct rollout_lock *lock = rollout_lock_create(temp_root, STR(THREAD), NULL);
		if (!lock)
			continue;
		int holders = atomic_fetch_add(&contest->holders, 1) + 1;
		if (holders > atomic_load(&contest->most))
			atomic_store(&contest->most, holders);
		sched_yield();
		atomic_fetch_sub(&contest->holders, 1);
		rollout_lock_destroy(lock);
	}
	return NULL;
}

static void a_session_has_one_holder_at_a_time(void **state)
{
	(void)state;
	struct contest contest = {0};
	pthread_t threads[4];
	for (size_t i = 0; i < countof(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, contend, &contest), 0);
	for (size_t i = 0; i < countof(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(contest.most, 1);
}

static void policy_always_leaves_nothing_to_sync(void **state)
{
	(void)state;
	struct loop *loop = loop_create(NULL);
	struct rollout_writer *writer = create_writer(fsync_policy_always);
	append(writer, STR("{}"));
	flush(writer);
	assert_false(rollout_writer_sync(writer, loop, on_synced, NULL));
	rollout_writer_destroy(writer);
	loop_destroy(loop);
}

/* A file whose name is not that of a rollout has no alternative names that lists know. */
static void a_replaced_file_continues_under_another_name_and_is_locked(void **state)
{
	(void)state;
	auto_free char *path = xstrdup(temp_put("elsewhere.jsonl", STR(META_LINE)));
	auto_free char *aside = xasprintf("%s.rescued-1", path);
	struct rollout_writer *writer = open_writer(path);
	append(writer, STR("{\"n\":1}"));
	flush(writer);
	assert_int_equal(rollout_writer_take_rescue(writer), ROLLOUT_UNTOUCHED);
	assert_int_equal(unlink(path), 0);
	temp_put("elsewhere.jsonl", STR("other"));
	append(writer, STR("{\"n\":2}"));
	flush(writer);
	assert_int_equal(rollout_writer_take_rescue(writer), ROLLOUT_REPLACED);
	assert_int_equal(rollout_writer_take_rescue(writer), ROLLOUT_UNTOUCHED);
	assert_string_equal(rollout_writer_path(writer), aside);
	auto_arena struct arena arena = {0};
	assert_int_equal(json_get_i64(line_at(&arena, aside, 1).payload, "n", 0), 1);
	assert_int_equal(json_get_i64(line_at(&arena, aside, 2).payload, "n", 0), 2);
	auto_free char *bytes = temp_get(path);
	assert_string_equal(bytes, "other");
	struct error err;
	assert_null(rollout_writer_open(aside, fsync_policy_none, &err));
	assert_int_equal(err.code, ERR_busy);
	rollout_writer_destroy(writer);
}

static void a_file_deleted_on_purpose_is_not_created_again(void **state)
{
	(void)state;
	struct rollout_writer *writer = create_writer(fsync_policy_none);
	append(writer, STR("{}"));
	flush(writer);
	rollout_writer_let_go(writer, true);
	assert_int_equal(unlink(rollout_writer_path(writer)), 0);
	append(writer, STR("{}"));
	flush(writer);
	assert_int_equal(access(rollout_writer_path(writer), F_OK), -1);
	rollout_writer_let_go(writer, false);
	append(writer, STR("{}"));
	flush(writer);
	assert_int_equal(access(rollout_writer_path(writer), F_OK), 0);
	assert_int_equal(rollout_writer_take_rescue(writer), ROLLOUT_DELETED);
	rollout_writer_destroy(writer);
}

#define TEMP_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMP_TEST(no_file_before_there_is_something_to_keep),
		TEMP_TEST(lines_are_numbered_where_the_file_is),
		TEMP_TEST(the_first_line_identifies_the_session),
		TEMP_TEST(names_follow_local_time),
		TEMP_TEST(a_payload_over_several_lines_becomes_one),
		TEMP_TEST(a_line_that_does_not_fit_leaves_no_trace),
		TEMP_TEST(a_full_disk_costs_nothing_but_time),
		TEMP_TEST(a_file_has_its_name_when_the_first_batch_is_whole),
		TEMP_TEST(a_large_line_is_whole_whether_the_disk_takes_it_at_once_or_not),
		TEMP_TEST(a_large_event_is_whole_whether_the_disk_takes_it_at_once_or_not),
		TEMP_TEST(a_home_that_cannot_be_written_is_an_error_and_keeps_the_batch),
		TEMP_TEST(half_a_line_is_set_aside_when_a_file_is_opened),
		TEMP_TEST(a_line_that_lacks_only_its_end_is_kept),
		TEMP_TEST(numbering_continues_after_a_reopen),
		TEMP_TEST(odd_files_are_refused),
		TEMP_TEST(a_second_writer_gets_the_pid_of_the_first),
		TEMP_TEST(the_lock_is_the_one_the_reference_takes),
		TEMP_TEST(a_kill_loses_nothing_that_was_flushed),
		TEMP_TEST(syncing_follows_the_policy_and_reports_on_the_loop),
		TEMP_TEST(the_lock_is_released_while_a_sync_is_pending),
		TEMP_TEST(a_torn_line_that_cannot_be_saved_is_kept),
		TEMP_TEST(a_session_has_one_holder_at_a_time),
		TEMP_TEST(policy_always_leaves_nothing_to_sync),
		TEMP_TEST(a_replaced_file_continues_under_another_name_and_is_locked),
		TEMP_TEST(a_file_deleted_on_purpose_is_not_created_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
