/* auth.json: reading, writing, permissions. */
#include "temp.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/json.h"
#include "config/auth.h"
#include "config/auth_memory.h"

static struct auth read_text(const char *text)
{
	struct auth auth;
	struct error err = {0};
	temp_put("auth.json", str_of(text));
	if (auth_read(auth_place_file(temp_root), &auth, &err) != 0)
		fail_msg("%s", err.text);
	return auth;
}

static void no_file_is_no_credentials(void **state)
{
	(void)state;
	auto_auth struct auth auth;
	assert_int_equal(auth_read(auth_place_file(temp_root), &auth, NULL), 0);
	assert_int_equal(auth.kind, AUTH_none);
	assert_null(auth.api_key);
	assert_int_equal(auth_read(auth_place_file(temp_path("no/such/folder")), &auth, NULL), 0);
}

static void each_kind_is_recognised(void **state)
{
	(void)state;
	auto_auth struct auth key = read_text("{\"OPENAI_API_KEY\":\"sk-1\",\"tokens\":null,\"last_refresh\":null}");
	assert_int_equal(key.kind, AUTH_api_key);
	assert_string_equal(key.api_key, "sk-1");
	auto_auth struct auth padded = read_text("{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\" sk-2\\n\"}");
	assert_string_equal(padded.api_key, "sk-2");
	auto_auth struct auth chatgpt = read_text("{\"OPENAI_API_KEY\":null,\"tokens\":{\"access_token\":\"t\"}}");
	assert_int_equal(chatgpt.kind, AUTH_chatgpt);
	auto_auth struct auth empty = read_text("{}");
	assert_int_equal(empty.kind, AUTH_none);
}

static void broken_files_are_named_without_their_content(void **state)
{
	(void)state;
	static const char *const texts[] = {"sk-secret", "[\"sk-secret\"]",
	                                    "{\"OPENAI_API_KEY\":\"sk-secret\\u0007x\"}",
	                                    "{\"OPENAI_API_KEY\":\"sk-secret", ""};
	for (size_t i = 0; i < countof(texts); i++) {
		struct auth auth;
		struct error err = {0};
		temp_put("auth.json", str_of(texts[i]));
		assert_int_equal(auth_read(auth_place_file(temp_root), &auth, &err), -ERR_config);
		assert_non_null(strstr(err.text, "/auth.json"));
		assert_null(strstr(err.text, "secret"));
		assert_null(auth.api_key);
	}
}

static void a_written_key_is_private_and_reads_back(void **state)
{
	(void)state;
	struct error err = {0};
	struct stat st;
	const char *home = temp_path("new/home");
	umask(0);
	assert_int_equal(auth_write_api_key(auth_place_file(home), STR("  sk-\"quoted\"\n"), &err), 0);
	assert_int_equal(stat(temp_path("new/home/auth.json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(home, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	auto_auth struct auth auth = {0};
	assert_int_equal(auth_read(auth_place_file(home), &auth, &err), 0);
	assert_string_equal(auth.api_key, "sk-\"quoted\"");

	auto_arena struct arena arena = {0};
	auto_free char *text = temp_get(temp_path("new/home/auth.json"));
	assert_str(json_get_str(json_parse(&arena, str_of(text), &err), "auth_mode"), "apikey");
}

static void bad_keys_are_refused(void **state)
{
	(void)state;
	static const struct str keys[] = {{"", 0}, {" \n", 2}, {"a b", 3}, {"a\nb", 3}, {"a\0b", 3}, {"\xc3\xa9", 2}};
	for (size_t i = 0; i < countof(keys); i++) {
		struct error err = {0};
		assert_int_equal(auth_write_api_key(auth_place_file(temp_root), keys[i], &err), -ERR_invalid);
		assert_false(file_exists(temp_path("auth.json")));
	}
}

static void removing_forgets(void **state)
{
	(void)state;
	auto_free char *removed = NULL;
	bool was_there = false;
	assert_int_equal(auth_write_api_key(auth_place_file(temp_root), STR("sk"), NULL), 0);
	assert_int_equal(auth_remove(auth_place_file(temp_root), &removed, &was_there, NULL), 0);
	assert_true(was_there);
	assert_int_equal(auth_remove(auth_place_file(temp_root), &removed, &was_there, NULL), 0);
	assert_false(was_there);
}

static void tokens_are_kept_in_memory_if_configured(void **state)
{
	(void)state;
	auto_free char *removed = NULL;
	bool was_there = false;
	struct auth_place memory = {temp_root, credentials_store_ephemeral};
	auto_auth struct auth login = {.kind = AUTH_chatgpt, .access_token = xstrdup("t"), .account_id = xstrdup("a")};
	assert_int_equal(auth_write(memory, &login, NULL), 0);
	assert_false(file_exists(temp_path("auth.json")));
	auto_auth struct auth read = {0};
	assert_int_equal(auth_read(memory, &read, NULL), 0);
	assert_int_equal(read.kind, AUTH_chatgpt);
	assert_string_equal(read.access_token, "t");
	assert_int_equal(auth_remove(memory, &removed, &was_there, NULL), 0);
	assert_true(was_there);
	auto_auth struct auth none = {0};
	assert_int_equal(auth_read(memory, &none, NULL), 0);
	assert_int_equal(none.kind, AUTH_none);
}

static void a_keyring_that_is_absent_is_an_error(void **state)
{
	(void)state;
	struct error err = {0};
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1); /* never that of the developer */
	struct auth_place keyring = {temp_root, credentials_store_keyring};
	assert_int_equal(auth_write_api_key(keyring, STR("sk"), &err), -ERR_unsupported);
	assert_non_null(strstr(err.text, "failed to write OAuth tokens to keyring: "));
	assert_false(file_exists(temp_path("auth.json")));
}

static void another_account_replaces_the_whole_file(void **state)
{
	(void)state;
	auto_auth struct auth login = {.kind = AUTH_chatgpt, .access_token = xstrdup("t"), .account_id = xstrdup("b")};
	temp_put("auth.json", STR("{\"auth_mode\":\"chatgpt\",\"other\":1,\"tokens\":{\"account_id\":\"a\"}}"));
	assert_int_equal(auth_write(auth_place_file(temp_root), &login, NULL), 0);
	auto_free char *text = temp_get(temp_path("auth.json"));
	assert_null(strstr(text, "other"));
}

/* {"email":"e","exp":12,"https://api.openai.com/auth":{"chatgpt_account_id":"acc"}} */
static const char token[] =
	"e30.eyJlbWFpbCI6ImUiLCJleHAiOjEyLCJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW"
	"50X2lkIjoiYWNjIn19.c2ln";

static void claims_are_read_from_tokens(void **state)
{
	(void)state;
	static const char *const others[] = {"", ".", "..", "a.b", "e30.!.x", "e30.W10.x", "e30.e30"};
	auto_arena struct arena arena = {0};
	struct id_claims claims;
	assert_true(auth_read_claims(&arena, str_of(token), &claims));
	assert_str(claims.email, "e");
	assert_str(claims.account_id, "acc");
	assert_null(claims.plan.ptr);
	assert_int_equal(auth_token_expiry(str_of(token)), 12);
	for (size_t i = 0; i < countof(others); i++) {
		assert_false(auth_read_claims(&arena, str_of(others[i]), &claims));
		assert_int_equal(auth_token_expiry(str_of(others[i])), -1);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

/* ---- refreshed tokens ---- */

static struct auth login_with(const char *refresh_token)
{
	return (struct auth){
		.kind = AUTH_chatgpt,
		.access_token = xstrdup("access"),
		.refresh_token = xstrdup(refresh_token),
		.account_id = xstrdup("acc-1"),
	};
}

static void new_tokens_replace_only_those_that_they_were_made_of(void **state)
{
	(void)state;
	struct auth_place place = auth_place_file(temp_root);
	auto_auth struct auth first = login_with("r1"), second = login_with("r2"), third = login_with("r3");
	struct error err;
	auto_free char *removed = NULL;
	bool is_outdated, was_there;
	assert_int_equal(auth_write(place, &first, &err), 0);
	assert_int_equal(auth_renew(place, &second, "r1", &is_outdated, &err), 0);
	assert_false(is_outdated);
	assert_int_equal(auth_renew(place, &third, "r1", &is_outdated, &err), 0);
	assert_true(is_outdated);
	auto_auth struct auth stored = {0};
	assert_int_equal(auth_read(place, &stored, &err), 0);
	assert_string_equal(stored.refresh_token, "r2");
	assert_int_equal(auth_remove(place, &removed, &was_there, &err), 0);
	assert_int_equal(auth_renew(place, &third, "r2", &is_outdated, &err), 0);
	assert_true(is_outdated);
	assert_int_equal(access(temp_path("auth.json"), F_OK), -1);
}

struct renewal {
	const char *lock;
	bool is_outdated;
};

static void *renew(void *self)
{
	struct renewal *renewal = self;
	auto_auth struct auth login = login_with("r2");
	struct error err;
	assert_int_equal(auth_renew(auth_place_file(temp_root), &login, "r1", &renewal->is_outdated, &err), 0);
	close(open(renewal->lock, O_RDWR)); /* for the watch below, if it did not wait */
	return NULL;
}

static void wait_for_events(int watch, size_t wanted)
{
	char events[512];
	for (size_t count = 0; count < wanted;) {
		ssize_t len = read(watch, events, sizeof(events));
		assert_true(len > 0);
		count += (size_t)len / sizeof(struct inotify_event);
	}
}

/* The test is the other process: it has the lock while it removes the login. */
static void new_tokens_wait_for_a_logout_of_another_process(void **state)
{
	(void)state;
	auto_auth struct auth login = login_with("r1");
	struct error err;
	struct renewal renewal = {.lock = temp_path("auth-store.lock")};
	pthread_t thread;
	assert_int_equal(auth_write(auth_place_file(temp_root), &login, &err), 0);
	int fd = open(renewal.lock, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	int watch = inotify_init1(IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, renewal.lock, IN_OPEN) >= 0);
	assert_int_equal(pthread_create(&thread, NULL, renew, &renewal), 0);
	wait_for_events(watch, 2); /* it has tried, and tries again */
	assert_int_equal(unlink(temp_path("auth.json")), 0);
	close(watch);
	close(fd);
	pthread_join(thread, NULL);
	assert_true(renewal.is_outdated);
	assert_int_equal(access(temp_path("auth.json"), F_OK), -1);
}

static void assert_refresh_token(const char *expected)
{
	auto_auth struct auth stored = {0};
	struct error err;
	assert_int_equal(auth_read(auth_place_file(temp_root), &stored, &err), 0);
	assert_string_equal(stored.refresh_token ?: "none", expected);
}

/* The test is the other process, which has the lock for longer than LIMIT_AUTH_RENEW_MS. */
static void new_tokens_without_the_lock_are_stored_later(void **state)
{
	(void)state;
	struct auth_place place = auth_place_file(temp_root);
	auto_auth struct auth first = login_with("r1"), second = login_with("r2"), third = login_with("r3");
	struct error err;
	bool is_outdated = true;
	assert_int_equal(auth_write(place, &first, &err), 0);
	int fd = open(temp_path("auth-store.lock"), O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(auth_renew(place, &second, "r1", &is_outdated, &err), 0);
	assert_false(is_outdated);
	assert_refresh_token("r2");
	assert_true(auth_store_is_slow(place));
	auth_store_fetch(place);
	assert_true(auth_store_is_slow(place));
	close(fd);
	assert_int_equal(auth_renew(place, &third, "r2", &is_outdated, &err), 0);
	assert_false(is_outdated);
	assert_false(auth_store_is_slow(place));
	assert_refresh_token("r3");
}

/* No file can be written for now. */
static void renew_without_space(const char *refresh_token, const char *spent)
{
	auto_auth struct auth login = login_with(refresh_token);
	struct rlimit old, none = {.rlim_cur = 16};
	struct error err;
	bool is_outdated;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	none.rlim_max = old.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	int status = auth_renew(auth_place_file(temp_root), &login, spent, &is_outdated, &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(status, 0);
	assert_false(is_outdated);
	assert_refresh_token(refresh_token);
}

static void new_tokens_that_a_full_disk_does_not_take_are_stored_later(void **state)
{
	(void)state;
	struct auth_place place = auth_place_file(temp_root);
	auto_auth struct auth first = login_with("r1");
	struct error err;
	assert_int_equal(auth_write(place, &first, &err), 0);
	renew_without_space("r2", "r1");
	renew_without_space("r3", "r2");
	assert_int_equal(auth_store_flush(&err), 0);
	assert_false(auth_store_is_slow(place));
	assert_refresh_token("r3");
}

static void new_tokens_that_were_kept_do_not_replace_another_login(void **state)
{
	(void)state;
	struct auth_place place = auth_place_file(temp_root);
	auto_auth struct auth first = login_with("r1"), second = login_with("r3");
	struct error err;
	bool is_outdated = false;
	assert_int_equal(auth_write(place, &first, &err), 0);
	renew_without_space("r2", "r1");
	temp_put("auth.json", STR("{\"tokens\":{\"refresh_token\":\"other\"}}"));
	assert_int_equal(auth_renew(place, &second, "r2", &is_outdated, &err), 0);
	assert_true(is_outdated);
	assert_refresh_token("other");
	assert_int_equal(auth_write(place, &first, &err), 0);
	renew_without_space("r2", "r1");
	assert_int_equal(unlink(temp_path("auth.json")), 0);
	auth_store_fetch(place);
	assert_refresh_token("none");
	assert_int_equal(access(temp_path("auth.json"), F_OK), -1);
}

static void a_logout_removes_tokens_that_were_kept(void **state)
{
	(void)state;
	auto_auth struct auth first = login_with("r1");
	auto_free char *removed = NULL;
	struct error err;
	bool was_there;
	assert_int_equal(auth_write(auth_place_file(temp_root), &first, &err), 0);
	renew_without_space("r2", "r1");
	assert_int_equal(auth_remove(auth_place_file(temp_root), &removed, &was_there, &err), 0);
	assert_refresh_token("none");
}

/* The login of a client is in the memory of the process only. */
static void a_login_of_a_client_leaves_tokens_that_were_kept(void **state)
{
	(void)state;
	auto_auth struct auth first = login_with("r1"), client = login_with("client");
	auto_free char *removed = NULL;
	auto_buf struct buf text;
	struct error err;
	bool was_there;
	client.kind = AUTH_client;
	assert_int_equal(auth_write(auth_place_file(temp_root), &first, &err), 0);
	renew_without_space("r2", "r1");
	assert_int_equal(auth_write(auth_place_file(temp_root), &client, &err), 0);
	assert_refresh_token("client");
	assert_int_equal(auth_store_flush(&err), 0);
	buf_init(&text, 10000);
	assert_int_equal(file_read(temp_path("auth.json"), &text, &err), 0);
	assert_true(str_find(buf_str(&text), STR("\"r2\"")) >= 0);
	assert_int_equal(auth_remove(auth_place_file(temp_root), &removed, &was_there, &err), 0);
}

/* There is no keyring any more. */
static void members_of_a_keyring_that_does_not_answer_are_kept(void **state)
{
	(void)state;
	struct auth_place place = {temp_root, credentials_store_keyring};
	auto_auth struct auth login = login_with("r2");
	auto_buf struct buf text;
	struct error err = {0};
	bool is_outdated;
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
	memory_keep_keyring(temp_root,
	                    STR("{\"tokens\":{\"refresh_token\":\"r1\",\"account_id\":\"acc-1\"},\"more\":1}"), &err);
	assert_int_equal(auth_renew(place, &login, "r1", &is_outdated, &err), 0);
	assert_false(is_outdated);
	buf_init(&text, 1000);
	assert_int_equal(auth_store_read(place, &text, &err), 0);
	assert_true(str_find(buf_str(&text), STR("\"more\": 1")) >= 0);
	assert_true(str_find(buf_str(&text), STR("\"r2\"")) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_file_is_no_credentials),
		TEST(each_kind_is_recognised),
		TEST(broken_files_are_named_without_their_content),
		TEST(a_written_key_is_private_and_reads_back),
		TEST(bad_keys_are_refused),
		TEST(removing_forgets),
		TEST(tokens_are_kept_in_memory_if_configured),
		TEST(a_keyring_that_is_absent_is_an_error),
		TEST(another_account_replaces_the_whole_file),
		TEST(claims_are_read_from_tokens),
		TEST(new_tokens_replace_only_those_that_they_were_made_of),
		TEST(new_tokens_wait_for_a_logout_of_another_process),
		TEST(new_tokens_without_the_lock_are_stored_later),
		TEST(new_tokens_that_a_full_disk_does_not_take_are_stored_later),
		TEST(new_tokens_that_were_kept_do_not_replace_another_login),
		TEST(a_logout_removes_tokens_that_were_kept),
		TEST(a_login_of_a_client_leaves_tokens_that_were_kept),
		TEST(members_of_a_keyring_that_does_not_answer_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
