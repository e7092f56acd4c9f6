/* Notes of a thread are read back from their file; a damaged file contains none. */
#include "test.h"

#include <sys/stat.h>

#include "app_server/threads/thread_note.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

#define ID "00000000-0000-7000-8000-000000000001"

/* Creates a folder that exists until the end of the test run. */
static int setup(void **state)
{
	static char home[] = "/tmp/codex-note-XXXXXX";
	*state = mkdtemp(home);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	auto_free char *folder = path_join(*state, "thread_notes");
	thread_note_remove(*state, STR(ID));
	rmdir(folder);
	return rmdir(*state);
}

static void write_raw(const char *home, const char *text)
{
	struct error err;
	auto_free char *path = xasprintf("%s/thread_notes/%s.json", home, ID);
	assert_int_equal(file_write_atomic(path, str_of(text), 0600, false, &err), 0);
}

static void a_note_is_read_back(void **state)
{
	auto_arena struct arena arena = {0};
	const char *home = *state;
	struct app_git_info git = {.branch = STR("main")};
	struct thread_note note = {.git = &git, .has_daybreak = true, .daybreak = true}, back;
	struct error err;
	thread_note_mark_unread(&note, STR("turn"), &arena);
	assert_int_equal(thread_note_write(home, STR(ID), &note, &err), 0);
	auto_free char *path = xasprintf("%s/thread_notes/%s.json", home, ID);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	thread_note_read(home, STR(ID), &arena, &back);
	assert_true(back.has_daybreak && back.daybreak);
	assert_true(str_is(back.git->branch, "main") && !back.git->sha.ptr);
	assert_true(str_eq(back.read->revision, note.read->revision));
	assert_true(str_is(back.read->first_unread->turn->turn_id, "turn"));
	thread_note_remove(home, STR(ID));
	thread_note_read(home, STR(ID), &arena, &back);
	assert_true(!back.git && !back.read && !back.has_daybreak);
}

static void each_change_has_a_revision_of_its_own(void **state)
{
	auto_arena struct arena arena = {0};
	struct thread_note note = {0};
	(void)state;
	struct app_thread_read_state first = thread_note_state(&note, STR(ID), &arena);
	assert_true(str_is(first.revision, "initial:00000000-0000-7000-8000-000000000001") && !first.first_unread);
	thread_note_mark_unread(&note, STR_NONE, &arena);
	struct app_thread_read_state second = thread_note_state(&note, STR(ID), &arena);
	assert_int_equal(second.first_unread->tag, app_thread_unread_position_thread_start);
	thread_note_mark_read(&note, &arena);
	struct app_thread_read_state third = thread_note_state(&note, STR(ID), &arena);
	assert_true(!third.first_unread && !str_eq(second.revision, third.revision));
}

static void damaged_files_say_nothing(void **state)
{
	static const char *const texts[] = {
		"", "{", "[]", "{\"readState\":5,\"gitInfo\":\"x\",\"daybreakEnabled\":null}",
		"{\"readState\":{\"firstUnread\":{\"type\":\"later\"},\"revision\":\"x\"}}"};
	auto_arena struct arena arena = {0};
	const char *home = *state;
	struct thread_note note = {0};
	struct error err;
	assert_int_equal(thread_note_write(home, STR(ID), &note, &err), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		write_raw(home, texts[i]);
		thread_note_read(home, STR(ID), &arena, &note);
		assert_true(!note.git && !note.read && !note.has_daybreak);
	}
	thread_note_read(home, STR("../thread_notes/x"), &arena, &note);
	assert_null(note.read);
}

static void a_view_is_corrected(void **state)
{
	struct app_git_info git = {.sha = STR("a")}, none = {0};
	struct app_thread view = {.git_info = &git};
	struct thread_note note = {.git = &none, .has_daybreak = true};
	(void)state;
	thread_note_apply(&note, &view);
	assert_null(view.git_info); /* all data was unknown */
	assert_true(view.has_daybreak_enabled && !view.daybreak_enabled);
	note = (struct thread_note){0};
	view = (struct app_thread){.git_info = &git};
	thread_note_apply(&note, &view);
	assert_ptr_equal(view.git_info, &git);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_note_is_read_back),
		cmocka_unit_test(each_change_has_a_revision_of_its_own),
		cmocka_unit_test(damaged_files_say_nothing),
		cmocka_unit_test(a_view_is_corrected),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
