/* Listings of the newest folders alone, and what a watched listing knows of its files: it must notice every change. */
#include "temp.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "rollout/rollout_facts.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_summary.h"
#include "rollout/rollout_watch.h"

enum { FILES = 20, LONG_AGO = 1000000000, QUEUED_EVENTS = 20000 };

static const char *relative_of(int number)
{
	static char paths[4][200];
	static int next;
	char *path = paths[next++ % 4];
	snprintf(path, 200, "sessions/2026/11/%02d/rollout-2026-11-%02dT10-00-00-01a1fb55-e849-7942-b12b-%012d.jsonl",
	         number + 1, number + 1, number);
	return path;
}

static void age_path(const char *path, int seconds)
{
	struct timespec times[2] = {{.tv_sec = LONG_AGO + seconds}, {.tv_sec = LONG_AGO + seconds}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* One session a day; each was changed a second after the one before. */
static void put_sessions(void)
{
	for (int i = 0; i < FILES; i++)
		age_path(temp_put(relative_of(i), STR("{}\n")), i);
	for (int i = 0; i < FILES; i++) {
		auto_free char *folder = str_dup(path_dir(temp_path(relative_of(i))));
		age_path(folder, 0);
	}
	age_path(temp_path("sessions/2026/11"), 0);
	age_path(temp_path("sessions/2026"), 0);
	age_path(temp_path("sessions"), 0);
}

/* Gets a listing that is watched: the second one that is read of unchanged folders. */
static const struct rollout_listing *get_watched(struct rollout_listings *listings)
{
	rollout_listing_unref(rollout_listings_get(listings, false, NULL));
	const struct rollout_listing *listing = rollout_listings_get(listings, false, NULL);
	assert_non_null(listing);
	assert_non_null(rollout_listing_facts(listing));
	return listing;
}

static void append(const char *path)
{
	FILE *file = fopen(path, "a");
	assert_non_null(file);
	fputs("{}\n", file);
	assert_int_equal(fclose(file), 0);
}

/* Returns the index of the file that was changed last. */
static size_t last_changed(const struct rollout_listing *listing)
{
	atomic_bool stop = false;
	struct rollout_listed order[FILES + 1];
	assert_true(rollout_listing_by_change(listing, order, &stop));
	for (size_t i = 1; i < listing->count; i++)
		assert_true(order[i - 1].created_ms <= order[i].created_ms);
	return order[listing->count - 1].at;
}

/* ---- the newest folders ---- */

static void the_newest_sessions_come_from_the_newest_folders(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *all = rollout_listings_get(listings, false, NULL);
	assert_int_equal(all->count, FILES);
	assert_true(all->complete_since_ms == INT64_MIN);
	rollout_listings_unref(listings);

	listings = rollout_listings_create(temp_root);
	const struct rollout_listing *newest = rollout_listings_newest(listings, 5, NULL);
	assert_true(newest->count >= 5 && newest->count < FILES);
	size_t trusted = 0;
	for (size_t i = 1; i <= newest->count; i++) {
		const struct rollout_listed *it = &newest->files[newest->count - i];
		if (it->created_ms <= newest->complete_since_ms)
			break;
		assert_string_equal(it->path, all->files[all->count - i].path);
		trusted++;
	}
	assert_true(trusted >= 5);
	/* Every session that was not read is older than what the listing claims to have. */
	for (size_t i = 0; i < all->count - newest->count; i++)
		assert_true(all->files[i].created_ms <= newest->complete_since_ms);
	rollout_listing_unref(newest);
	rollout_listing_unref(all);
	rollout_listings_unref(listings);
}

static void few_sessions_are_all_the_newest(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *newest = rollout_listings_newest(listings, FILES + 1, NULL);
	assert_int_equal(newest->count, FILES);
	assert_true(newest->complete_since_ms == INT64_MIN);
	rollout_listing_unref(newest);
	rollout_listings_unref(listings);
}

static void a_folder_without_a_date_is_always_read(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	temp_put("sessions/zz/11/x/rollout-2026-11-30T10-00-00-01a1fb55-e849-7942-b12b-000000000099.jsonl",
	         STR("{}\n"));
	const struct rollout_listing *newest = rollout_listings_newest(listings, 3, NULL);
	assert_non_null(strstr(newest->files[newest->count - 1].path, "/zz/11/x/"));
	assert_true(newest->count < FILES);
	rollout_listing_unref(newest);
	rollout_listings_unref(listings);
}

static void the_state_of_the_folders_needs_no_names_of_files(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = rollout_listings_get(listings, false, NULL);
	assert_true(listing->folders != 0);
	assert_true(rollout_listings_folders(listings, false) == listing->folders);
	rollout_listing_unref(listing);
	assert_int_equal(unlink(temp_path(relative_of(3))), 0);
	assert_true(rollout_listings_folders(listings, false) == 0); /* it changed a moment ago */
	rollout_listings_unref(listings);
}

/* ---- a watched listing ---- */

static void a_change_of_a_file_changes_the_order(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = get_watched(listings), *again;
	assert_int_equal(last_changed(listing), FILES - 1);
	for (int round = 0; round < 3; round++) {
		append(temp_path(relative_of(round + 2)));
		age_path(temp_path(relative_of(round + 2)), FILES + round);
		again = rollout_listings_get(listings, false, NULL);
		assert_ptr_equal(again, listing); /* the names are the same */
		assert_int_equal(last_changed(again), round + 2);
		rollout_listing_unref(again);
	}
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

static void a_new_name_makes_a_new_listing(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = get_watched(listings);
	assert_int_equal(unlink(temp_path(relative_of(4))), 0);
	const struct rollout_listing *again = rollout_listings_get(listings, false, NULL);
	assert_int_equal(again->count, FILES - 1);
	rollout_listing_unref(again);
	temp_put("sessions/2026/12/01/rollout-2026-12-01T10-00-00-01a1fb55-e849-7942-b12b-000000000077.jsonl",
	         STR("{}\n"));
	again = rollout_listings_get(listings, false, NULL);
	assert_int_equal(again->count, FILES);
	rollout_listing_unref(again);
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

static void a_file_with_two_names_is_looked_at_each_time(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	temp_put("elsewhere/linked", STR("{}\n"));
	temp_put("elsewhere/pointed-to", STR("{}\n"));
	auto_free char *linked = str_dup(str_of(temp_path("elsewhere/linked")));
	auto_free char *pointed = str_dup(str_of(temp_path("elsewhere/pointed-to")));
	assert_int_equal(unlink(temp_path(relative_of(2))), 0);
	assert_int_equal(link(linked, temp_path(relative_of(2))), 0);
	assert_int_equal(unlink(temp_path(relative_of(5))), 0);
	assert_int_equal(symlink(pointed, temp_path(relative_of(5))), 0);
	age_path(linked, 1);
	age_path(pointed, 2);
	for (int i = 0; i < FILES; i++) {
		auto_free char *folder = str_dup(path_dir(temp_path(relative_of(i))));
		age_path(folder, 1);
	}
	const struct rollout_listing *listing = get_watched(listings);
	struct rollout_facts facts = {.preview = STR("said")};
	struct rollout_facts_table *table = rollout_listing_facts(listing);
	assert_int_equal(last_changed(listing), FILES - 1);
	age_path(linked, FILES + 1);
	assert_int_equal(last_changed(listing), 2);
	age_path(pointed, FILES + 2);
	assert_int_equal(last_changed(listing), 5);
	rollout_facts_learn(table, 2, rollout_facts_version(table, 2, listing->files[2].path), &facts);
	assert_null(rollout_facts_find(table, 2));
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

static void facts_hold_until_the_file_changes(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = get_watched(listings);
	struct rollout_facts_table *table = rollout_listing_facts(listing);
	struct rollout_facts facts = {.cwd = STR("/w"), .preview = STR("said")};
	uint32_t version = rollout_facts_version(table, 6, listing->files[6].path);
	rollout_facts_learn(table, 6, version, &facts);
	assert_true(str_is(rollout_facts_find(table, 6)->preview, "said"));
	append(listing->files[6].path);
	rollout_listing_unref(rollout_listings_get(listings, false, NULL));
	assert_null(rollout_facts_find(table, 6));
	rollout_facts_learn(table, 6, version, &facts); /* was read before the change */
	assert_null(rollout_facts_find(table, 6));
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

static void a_long_preview_is_not_kept(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = get_watched(listings);
	struct rollout_facts_table *table = rollout_listing_facts(listing);
	char text[LIMIT_ROLLOUT_FACTS_PREVIEW + 1];
	memset(text, 'x', sizeof(text));
	struct rollout_facts facts = {.preview = str_n(text, sizeof(text))};
	rollout_facts_learn(table, 0, rollout_facts_version(table, 0, listing->files[0].path), &facts);
	assert_null(rollout_facts_find(table, 0));
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

/* Facts that are forgotten keep their memory until the table is replaced. */
static void a_worn_table_is_replaced(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = get_watched(listings), *again;
	struct rollout_facts_table *table = rollout_listing_facts(listing);
	struct rollout_facts facts = {.preview = STR("said")};
	while (!rollout_facts_is_worn(table)) {
		rollout_facts_learn(table, 1, rollout_facts_version(table, 1, listing->files[1].path), &facts);
		rollout_facts_forget(table, 1);
	}
	again = rollout_listings_get(listings, false, NULL);
	assert_ptr_not_equal(again, listing);
	rollout_listing_unref(again);
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

static void lost_events_make_a_new_listing(void **state)
{
	(void)state;
	struct rollout_listings *listings = rollout_listings_create(temp_root);
	put_sessions();
	const struct rollout_listing *listing = get_watched(listings), *again;
	for (int i = 0; i < QUEUED_EVENTS; i++) /* the kernel merges equal events that follow each other */
		age_path(listing->files[i % 2].path, i);
	again = rollout_listings_get(listings, false, NULL);
	assert_ptr_not_equal(again, listing);
	rollout_listing_unref(again);
	rollout_listing_unref(listing);
	rollout_listings_unref(listings);
}

static void some_folders_cannot_be_watched(void **state)
{
	(void)state;
	struct rollout_watch *watch = rollout_watch_create();
	put_sessions();
	assert_non_null(watch);
	assert_true(rollout_watch_add(watch, temp_path("sessions")));
	assert_true(rollout_watch_add(watch, temp_path("sessions/2026")));
	assert_false(rollout_watch_add(watch, temp_path("sessions/../sessions")));
	assert_false(rollout_watch_add(watch, temp_path("missing")));
	assert_false(rollout_watch_add(watch, temp_path(relative_of(1))));
	assert_false(rollout_watch_add(watch, "/proc/self")); /* not a disk of this machine */
	rollout_watch_destroy(watch);
}

#define ON_FILES(test) cmocka_unit_test_setup_teardown(test, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_FILES(the_newest_sessions_come_from_the_newest_folders),
		ON_FILES(few_sessions_are_all_the_newest),
		ON_FILES(a_folder_without_a_date_is_always_read),
		ON_FILES(the_state_of_the_folders_needs_no_names_of_files),
		ON_FILES(a_change_of_a_file_changes_the_order),
		ON_FILES(a_new_name_makes_a_new_listing),
		ON_FILES(a_file_with_two_names_is_looked_at_each_time),
		ON_FILES(facts_hold_until_the_file_changes),
		ON_FILES(a_long_preview_is_not_kept),
		ON_FILES(a_worn_table_is_replaced),
		ON_FILES(lost_events_make_a_new_listing),
		ON_FILES(some_folders_cannot_be_watched),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
