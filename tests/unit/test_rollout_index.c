/* The index changes no answer: not if it is new, complete, damaged anywhere, locked, read-only, of another version,
 * deleted, or not a file. Each case is compared with answers without an index, before and after a fill. */
#include "temp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_server/store/store_index.h"
#include "base/limits.h"
#include "loop/loop.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_sqlite.h"

enum { FILES = 30, LONG_AGO = 1000000000 };

static const char *path_of(int number)
{
	static char paths[4][200];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, 200, "sessions/2026/11/%02d/rollout-2026-11-%02dT10-00-00-01a1fb55-e849-7942-b12b-%012d.jsonl",
	         number % 9 + 10, number % 9 + 10, number);
	return path;
}

static void age(const char *relative)
{
	struct timespec times[2] = {{.tv_sec = LONG_AGO}, {.tv_sec = LONG_AGO}};
	assert_int_equal(utimensat(AT_FDCWD, temp_path(relative), times, 0), 0);
}

static void put_session(int number, const char *said)
{
	char text[600];
	snprintf(text, sizeof(text),
	         "{\"type\":\"session_meta\",\"payload\":{\"id\":\"01a1fb55-e849-7942-b12b-%012d\",\"cwd\":\"/w%d\","
	         "\"source\":\"cli\"}}\n{\"type\":\"turn_context\",\"payload\":{\"model\":\"m\"}}\n"
	         "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"%s\"}}\n",
	         number, number, said);
	temp_put(path_of(number), str_of(text));
	age(path_of(number));
}

static void put_sessions(void)
{
	char said[64];
	for (int i = 0; i < FILES; i++) {
		snprintf(said, sizeof(said), "Say \\\"%d\\\" and 100%%_ of x%d \xc3\x84pfel", i, i);
		put_session(i, said);
	}
}

/* Fills the index like the background job. */
static bool fill(struct rollout_index *index)
{
	struct stat st;
	if (!rollout_index_begin(index))
		return false;
	for (int i = 0; i < FILES; i++) {
		char *path = xstrdup(temp_path(path_of(i)));
		auto_arena struct arena arena = {0};
		struct rollout_summary summary;
		if (stat(path, &st) == 0 && rollout_summary_read(path, &arena, &summary, NULL) == 0)
			rollout_index_learn_text(index, path, &st, summary.preview);
		else
			rollout_index_learn(index, path);
		free(path);
	}
	return rollout_index_end(index);
}

static void append_summaries(struct rollout_index *index, struct buf *out)
{
	for (int i = 0; i < FILES; i++) {
		auto_arena struct arena arena = {0};
		struct rollout_summary it = {0};
		struct error err = {0};
		int status = rollout_index_summary(index, temp_path(path_of(i)), &arena, &it, NULL, &err);
		if (status != 0)
			it = (struct rollout_summary){0};
		buf_printf(out, "%d %d %.*s %.*s %.*s %.*s %d %lld %lld\n", i, status != 0, STR_ARG(it.meta.thread_id),
		           STR_ARG(it.meta.cwd), STR_ARG(it.preview), STR_ARG(it.model), (int)it.meta.source,
		           (long long)it.created_at_ms, (long long)it.updated_at_ms);
	}
}

static bool has_words(struct rollout_index *index, const struct rollout_index_search *search, int number,
                      const char *words)
{
	auto_arena struct arena arena = {0};
	struct rollout_summary it;
	const char *path = temp_path(path_of(number));
	if (index && rollout_index_search_excludes(search, path))
		return false;
	if (rollout_summary_read(path, &arena, &it, NULL) != 0 || !it.preview.ptr)
		return false;
	for (size_t i = 0; i + strlen(words) <= it.preview.len; i++) {
		if (str_equal_fold(str_n(it.preview.ptr + i, strlen(words)), str_of(words)))
			return true;
	}
	return false;
}

static void append_found(struct rollout_index *index, const char *words, struct buf *out)
{
	struct rollout_index_search *search = rollout_index_search_create(index, str_of(words));
	buf_printf(out, "%s:", words);
	for (int i = 0; i < FILES; i++) {
		if (has_words(index, search, i, words))
			buf_printf(out, " %d", i);
	}
	buf_append_char(out, '\n');
	rollout_index_search_destroy(search);
}

/* Collects all answers, with the index or, for NULL, without it. */
static char *answers(struct rollout_index *index)
{
	static const char *const words[] = {"say",        "SAY \"1",    "x2",     "x",  "%",   "_", "100%_ of x1",
	                                    "\xc3\x84pf", "\xc3\xa4pf", "nobody", "\"", "AND", "a", "of x1 \xc3\x84"};
	struct buf out;
	buf_init(&out, MIB);
	append_summaries(index, &out);
	for (size_t i = 0; i < countof(words); i++)
		append_found(index, words[i], &out);
	buf_append_char(&out, '\0');
	return buf_take(&out);
}

static void assert_no_difference(struct rollout_index *index)
{
	auto_free char *with = answers(index);
	auto_free char *without = answers(NULL);
	assert_string_equal(with, without);
}

/* Compares the answers of a newly opened index, fills it, and compares again. */
static void assert_harmless(void)
{
	struct rollout_index *index = rollout_index_create(temp_root);
	assert_no_difference(index);
	fill(index);
	assert_no_difference(index);
	rollout_index_unref(index);
}

static void make_index(void)
{
	struct rollout_index *index = rollout_index_create(temp_root);
	assert_true(fill(index));
	rollout_index_unref(index);
}

static void a_complete_index_excludes_most_files(void **state)
{
	(void)state;
	put_sessions();
	make_index();
	struct rollout_index *index = rollout_index_create(temp_root);
	struct rollout_index_search *search = rollout_index_search_create(index, STR("of x7"));
	auto_arena struct arena arena = {0};
	struct rollout_summary summary;
	size_t excluded = 0;
	bool is_known = false;
	for (int i = 0; i < FILES; i++) {
		const char *path = temp_path(path_of(i));
		assert_int_equal(rollout_index_summary(index, path, &arena, &summary, &is_known, NULL), 0);
		assert_true(is_known);
		excluded += rollout_index_search_excludes(search, path);
	}
	assert_int_equal(excluded, FILES - 1);
	rollout_index_search_destroy(search);
	assert_no_difference(index);
	rollout_index_unref(index);
}

static void changed_files_are_read_again(void **state)
{
	(void)state;
	put_sessions();
	make_index();
	put_session(3, "other words now");
	assert_int_equal(unlink(temp_path(path_of(4))), 0);
	temp_put(path_of(5), STR("no session at all\n"));
	put_session(6, "same length..");
	assert_harmless();
	assert_harmless();
	put_session(6, "SAME length!!"); /* same size and time, but another inode */
	assert_harmless();
}

static void damage_anywhere_changes_nothing(void **state)
{
	(void)state;
	struct stat st;
	put_sessions();
	make_index();
	auto_buf struct buf whole;
	buf_init(&whole, 16 * MIB);
	assert_int_equal(file_read(temp_path(ROLLOUT_INDEX_NAME), &whole, NULL), 0);
	assert_int_equal(stat(temp_path(ROLLOUT_INDEX_NAME), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (size_t at = 5; at < whole.len; at += 517) {
		whole.data[at] ^= 0x20;
		temp_put(ROLLOUT_INDEX_NAME, buf_str(&whole));
		whole.data[at] ^= 0x20;
		struct rollout_index *index = rollout_index_create(temp_root);
		assert_no_difference(index);
		rollout_index_unref(index);
	}
	for (size_t len = 0; len < whole.len; len += 3001) {
		temp_put(ROLLOUT_INDEX_NAME, str_n(whole.data, len));
		assert_harmless();
	}
}

static void damage_while_it_is_open_changes_nothing(void **state)
{
	(void)state;
	put_sessions();
	make_index();
	struct rollout_index *index = rollout_index_create(temp_root);
	assert_no_difference(index);
	auto_buf struct buf noise;
	buf_init(&noise, MIB);
	for (int i = 0; i < 40000; i++)
		buf_append_char(&noise, (char)(i * 7 + i / 256));
	int fd = open(temp_path(ROLLOUT_INDEX_NAME), O_WRONLY);
	assert_true(pwrite(fd, noise.data, noise.len, 0) > 0);
	close(fd);
	assert_no_difference(index);
	assert_true(fill(index)); /* fill rebuilds the index */
	assert_no_difference(index);
	assert_int_equal(unlink(temp_path(ROLLOUT_INDEX_NAME)), 0);
	assert_no_difference(index);
	assert_true(fill(index));
	assert_true(file_exists(temp_path(ROLLOUT_INDEX_NAME)));
	assert_no_difference(index);
	rollout_index_unref(index);
}

static void a_permanent_lock_does_not_change_answers(void **state)
{
	(void)state;
	const struct rollout_sqlite *sqlite = rollout_sqlite_load(NULL);
	sqlite3 *other;
	put_sessions();
	make_index();
	assert_int_equal(rollout_sqlite_open(sqlite, temp_path(ROLLOUT_INDEX_NAME), &other), SQLITE_OK);
	assert_int_equal(sqlite->exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	struct rollout_index *index = rollout_index_create(temp_root);
	assert_no_difference(index);
	assert_false(fill(index));
	assert_no_difference(index);
	sqlite->exec(other, "ROLLBACK", NULL, NULL, NULL);
	sqlite->close_v2(other);
	rollout_index_unref(index);
	index = rollout_index_create(temp_root);
	assert_true(fill(index));
	assert_no_difference(index);
	rollout_index_unref(index);
}

static void a_damaged_index_is_ignored(void **state)
{
	(void)state;
	const struct rollout_sqlite *sqlite = rollout_sqlite_load(NULL);
	sqlite3 *other;
	put_sessions();
	temp_put(ROLLOUT_INDEX_NAME "/a-file-in-a-folder", STR("x")); /* can be neither opened nor deleted */
	assert_harmless();
	assert_int_equal(unlink(temp_path(ROLLOUT_INDEX_NAME "/a-file-in-a-folder")), 0);
	assert_int_equal(rmdir(temp_path(ROLLOUT_INDEX_NAME)), 0);
	assert_int_equal(mkfifo(temp_path(ROLLOUT_INDEX_NAME), 0600), 0);
	assert_harmless();
	assert_int_equal(unlink(temp_path(ROLLOUT_INDEX_NAME)), 0);
	make_index();
	assert_int_equal(rollout_sqlite_open(sqlite, temp_path(ROLLOUT_INDEX_NAME), &other), SQLITE_OK);
	assert_int_equal(sqlite->exec(other, "PRAGMA user_version = 99; DROP TABLE file", NULL, NULL, NULL), SQLITE_OK);
	sqlite->close_v2(other);
	assert_harmless();
}

static void rows_of_deleted_files_are_removed(void **state)
{
	(void)state;
	struct rollout_index_state seen;
	put_sessions();
	make_index();
	assert_int_equal(unlink(temp_path(path_of(4))), 0);
	struct rollout_index *index = rollout_index_create(temp_root);
	assert_true(rollout_index_begin(index));
	rollout_index_sweep(index);
	assert_true(rollout_index_end(index));
	rollout_index_examine(index, &seen);
	assert_true(seen.exists && seen.is_sound && !seen.problem);
	assert_int_equal(seen.files, FILES - 1);
	assert_int_equal(seen.texts, FILES - 1);
	assert_int_equal(rollout_index_remove(index, NULL), 0);
	rollout_index_examine(index, &seen);
	assert_false(seen.exists);
	rollout_index_unref(index);
}

/* ---- which files there are ---- */

static void age_folders(void)
{
	for (int i = 0; i < 9; i++) {
		char folder[64];
		snprintf(folder, sizeof(folder), "sessions/2026/11/%02d", i + 10);
		age(folder);
	}
	age("sessions/2026/11");
	age("sessions/2026");
	age("sessions");
}

static void a_listing_is_kept_as_long_as_it_is_true(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	const struct rollout_listing *first, *second;
	first = rollout_listings_get(listings, false, NULL); /* the folder does not exist yet */
	assert_int_equal(first->count, 0);
	rollout_listing_unref(first);
	put_sessions();
	age_folders();
	first = rollout_listings_get(listings, false, NULL);
	second = rollout_listings_get(listings, false, NULL);
	assert_int_equal(first->count, FILES);
	assert_ptr_equal(first, second);
	for (size_t i = 1; i < first->count; i++)
		assert_true(first->files[i - 1].created_ms <= first->files[i].created_ms);
	rollout_listing_unref(second);
	assert_int_equal(unlink(temp_path(path_of(7))), 0);
	second = rollout_listings_get(listings, false, NULL);
	assert_int_equal(second->count, FILES - 1);
	assert_int_equal(first->count, FILES); /* a listing is immutable */
	rollout_listing_unref(first);
	rollout_listing_unref(second);
	put_session(7, "back"); /* at once: the folder's mtime may be equal */
	second = rollout_listings_get(listings, false, NULL);
	assert_int_equal(second->count, FILES);
	rollout_listing_unref(second);
	rollout_listings_unref(listings);
}

static uint64_t folders_now(void)
{
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	const struct rollout_listing *listing = rollout_listings_get(listings, false, NULL);
	uint64_t folders = listing->folders;
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
	return folders;
}

static void the_state_of_the_folders_changes_with_their_names(void **state)
{
	(void)state;
	put_sessions();
	assert_int_equal(folders_now(), 0); /* the folders were changed just now */
	age_folders();
	uint64_t before = folders_now();
	assert_true(before != 0);
	assert_int_equal(folders_now(), before);
	assert_int_equal(unlink(temp_path(path_of(3))), 0);
	assert_int_equal(folders_now(), 0);
	age("sessions/2026/11/13");
	assert_true(folders_now() != 0 && folders_now() != before);
}

static void a_complete_index_is_complete_until_the_folders_change(void **state)
{
	(void)state;
	struct rollout_index *index = rollout_index_create(temp_root);
	assert_false(rollout_index_is_complete(index, false, 5)); /* there is no database yet */
	put_sessions();
	assert_true(fill(index));
	assert_false(rollout_index_is_complete(index, false, 5)); /* as an earlier version left it */
	assert_true(rollout_index_begin(index));
	rollout_index_set_complete(index, false, 5);
	assert_true(rollout_index_end(index));
	rollout_index_unref(index);
	index = rollout_index_create(temp_root);
	assert_true(rollout_index_is_complete(index, false, 5));
	assert_false(rollout_index_is_complete(index, true, 5));
	assert_false(rollout_index_is_complete(index, false, 6));
	assert_false(rollout_index_is_complete(index, false, 0));
	assert_true(rollout_index_begin(index));
	rollout_index_set_complete(index, true, 7);
	assert_true(rollout_index_end(index));
	assert_true(rollout_index_is_complete(index, true, 7));
	assert_true(rollout_index_is_complete(index, false, 7)); /* a fill with text reads the summaries, too */
	assert_no_difference(index);
	rollout_index_unref(index);
}

/* ---- the fill ---- */

static void fill_in_the_background(void)
{
	struct loop *loop = loop_create(NULL);
	struct store_index *store = store_index_create(loop, temp_root);
	const char *missed = temp_path(path_of(0));
	store_index_fill(store, &missed, 1, false);
	loop_run(loop); /* returns when the fill has ended */
	assert_null(store->running);
	store_index_destroy(store);
	loop_destroy(loop);
}

static uint64_t rows(void)
{
	struct rollout_index_state seen;
	struct rollout_index *index = rollout_index_create(temp_root);
	rollout_index_examine(index, &seen);
	rollout_index_unref(index);
	return seen.files;
}

static void remove_a_row(void)
{
	const struct rollout_sqlite *sqlite = rollout_sqlite_load(NULL);
	sqlite3 *db;
	assert_int_equal(rollout_sqlite_open(sqlite, temp_path(ROLLOUT_INDEX_NAME), &db), SQLITE_OK);
	assert_int_equal(sqlite->exec(db, "DELETE FROM file WHERE path LIKE '%7.jsonl'", NULL, NULL, NULL), SQLITE_OK);
	sqlite->close_v2(db);
}

static void files_are_looked_at_again_only_when_folders_have_changed(void **state)
{
	(void)state;
	put_sessions();
	age_folders();
	fill_in_the_background();
	assert_int_equal(rows(), FILES);
	remove_a_row(); /* the next process trusts the index and does not notice */
	uint64_t left = rows();
	assert_true(left < FILES);
	fill_in_the_background();
	assert_int_equal(rows(), left);
	assert_int_equal(unlink(temp_path(path_of(4))), 0);
	fill_in_the_background();
	assert_int_equal(rows(), FILES - 1);
	assert_harmless();
}

static void a_fill_that_has_not_begun_leaves_no_trace(void **state)
{
	(void)state;
	put_sessions();
	struct loop *loop = loop_create(NULL);
	struct store_index *store = store_index_create(loop, temp_root);
	const char *missed = temp_path(path_of(0));
	store_index_fill(store, &missed, 1, false);
	assert_true(store->is_delayed);
	store_index_destroy(store); /* as of a program whose client leaves with the answer */
	loop_run(loop);
	loop_destroy(loop);
	assert_false(file_exists(temp_path(ROLLOUT_INDEX_NAME)));
}

static void a_request_that_missed_no_file_wants_no_fill(void **state)
{
	(void)state;
	put_sessions();
	struct loop *loop = loop_create(NULL);
	struct store_index *store = store_index_create(loop, temp_root);
	store_index_fill(store, NULL, 0, false);
	assert_null(store->running);
	store_index_fill(store, NULL, 0, true); /* the first search wants all words */
	assert_non_null(store->running);
	loop_run(loop);
	store_index_destroy(store);
	loop_destroy(loop);
	assert_int_equal(rows(), FILES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_complete_index_excludes_most_files, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(changed_files_are_read_again, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(damage_anywhere_changes_nothing, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(damage_while_it_is_open_changes_nothing, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_permanent_lock_does_not_change_answers, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_damaged_index_is_ignored, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(rows_of_deleted_files_are_removed, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_listing_is_kept_as_long_as_it_is_true, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(the_state_of_the_folders_changes_with_their_names, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(a_complete_index_is_complete_until_the_folders_change, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(a_fill_that_has_not_begun_leaves_no_trace, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_request_that_missed_no_file_wants_no_fill, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(files_are_looked_at_again_only_when_folders_have_changed, temp_make,
	                                        temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
