/* Authorization headers and the options of the policies. The signed tokens were created with another implementation
 * (Node's crypto). */
#include "temp.h"

#include "net/bearer.h"

enum { NOW = 1800000000 };

#define HEAD "eyJhbGciOiJIUzI1NiJ9."
/* {"exp":NOW,"iss":"me","aud":"you"}, and variations of it. */
#define GOOD HEAD "eyJleHAiOjE4MDAwMDAwMDAsImlzcyI6Im1lIiwiYXVkIjoieW91In0.jAmKPV0R4FaV3AlLX8ikRRxnqp5eTq_oueByFrquRfU"
#define LIST                                                                    \
	HEAD "eyJleHAiOjE4MDAwMDAwMDAsImlzcyI6Im1lIiwiYXVkIjpbIngiLCJ5b3UiXX0." \
	     "FZzBlB8nJ6Ehnmlb3yT5jHiyIs94I5uNj9QmJKFiFaE"
#define NO_EXP HEAD "eyJpc3MiOiJtZSIsImF1ZCI6InlvdSJ9.CdLbZaE4eYH05pNcjxLglkvQ5LDcAqAvOYDtGjIvffc"
#define TEXT_EXP HEAD "eyJleHAiOiI5IiwiaXNzIjoibWUifQ.-UkC6GVjF5aG4MasxwSUwTW2OxMZu6nh7STYbkUzAhk"
#define HUGE_EXP                                                                    \
	HEAD "eyJleHAiOjkwMDAwMDAwMDAwMDAwMDAwMDAsImlzcyI6Im1lIiwiYXVkIjoieW91In0." \
	     "-A2HMSulbSumRkSPMHjrlgnKzqTEhMYQVzqEAP2kBuE"
#define NOT_YET                                                                                \
	HEAD "eyJleHAiOjE4MDAwMDAwOTksIm5iZiI6MTgwMDAwMDA2MCwiaXNzIjoibWUiLCJhdWQiOiJ5b3UifQ." \
	     "K-4y0o-urpbq3HhcJxbgGI9YL-GfUJFOM8DnjC5DQvo"
#define OTHER_ISS \
	HEAD "eyJleHAiOjE4MDAwMDAwMDAsImlzcyI6IngiLCJhdWQiOiJ5b3UifQ.lMFDh2Al-Rv9k84vRhJS0OfKnaPkPuWlOAekvgUByak"
#define OTHER_AUD \
	HEAD "eyJleHAiOjE4MDAwMDAwMDAsImlzcyI6Im1lIiwiYXVkIjpbIngiXX0.8Wy77QoMe6JAisFz6_xPPxAujVCrJOrAOpL3E95NEMM"
#define OTHER_KEY \
	HEAD "eyJleHAiOjE4MDAwMDAwMDAsImlzcyI6Im1lIiwiYXVkIjoieW91In0.z1pcoHj1d1Qtm9NGtcGKAr7pJwRdIqyJNNHcZ1ilV8I"
#define ALG_NONE                                                                       \
	"eyJhbGciOiJub25lIn0.eyJleHAiOjE4MDAwMDAwMDAsImlzcyI6Im1lIiwiYXVkIjoieW91In0." \
	"wF4F14rUKa2HtluAgXuewwCPfpuv3dCtAgv3fPOmRfs"
#define NO_OBJECT HEAD "W10.JH49QuKtmIPFVL8Iz16dMuFHSmDNkPGpUYhZMjwZrQo"

static const char bad_token[] = "invalid websocket jwt";

static const char *put_secret(void)
{
	return temp_put("secret", STR("0123456789012345678901234567890123456789\n"));
}

static struct bearer *create(const struct bearer_options *options)
{
	struct bearer *bearer;
	struct error err = {0};
	if (bearer_create(options, &bearer, &err) != 0)
		fail_msg("%s", err.text);
	assert_non_null(bearer);
	return bearer;
}

static void expect(const struct bearer *bearer, const char *header, int64_t now_s, const char *refusal)
{
	const char *got = bearer_refusal(bearer, str_of(header), now_s);
	if (!got != !refusal || (got && strcmp(got, refusal) != 0))
		fail_msg("%s: got \"%s\", want \"%s\"", header ? header : "no header", got ? got : "",
		         refusal ? refusal : "");
}

static void test_capability_token(void **state)
{
	(void)state;
	struct bearer *bearer = create(&(struct bearer_options){
		.mode = "capability-token", .token_file = temp_put("token", STR(" sekret-token\n"))});
	expect(bearer, NULL, NOW, "missing websocket bearer token");
	expect(bearer, "", NOW, "invalid authorization header");
	expect(bearer, "Bearer", NOW, "invalid authorization header");
	expect(bearer, "Basic sekret-token", NOW, "invalid authorization header");
	expect(bearer, "Bearer wrong", NOW, "invalid websocket bearer token");
	expect(bearer, "Bearer sekret-toke", NOW, "invalid websocket bearer token");
	expect(bearer, "Bearer sekret-token", NOW, NULL);
	expect(bearer, "bearer   sekret-token ", NOW, NULL);
	bearer_destroy(bearer);
}

static void test_capability_digest(void **state)
{
	(void)state;
	struct bearer *bearer = create(&(struct bearer_options){
		.mode = "capability-token",
		.token_sha256 = "BA7816BF8F01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"});
	expect(bearer, "Bearer abc", NOW, NULL);
	expect(bearer, "Bearer abd", NOW, "invalid websocket bearer token");
	bearer_destroy(bearer);
}

static void test_signed_token(void **state)
{
	(void)state;
	struct bearer *bearer = create(&(struct bearer_options){
		.mode = "signed-bearer-token", .secret_file = put_secret(), .issuer = "me", .audience = "you"});
	expect(bearer, "Bearer " GOOD, NOW, NULL);
	expect(bearer, "Bearer " GOOD, NOW + 30, NULL);
	expect(bearer, "Bearer " GOOD, NOW + 31, "expired websocket jwt");
	expect(bearer, "Bearer " LIST, NOW, NULL);
	expect(bearer, "Bearer " NOT_YET, NOW, "websocket jwt is not valid yet");
	expect(bearer, "Bearer " NOT_YET, NOW + 30, NULL);
	expect(bearer, "Bearer " OTHER_ISS, NOW, "websocket jwt issuer mismatch");
	expect(bearer, "Bearer " OTHER_AUD, NOW, "websocket jwt audience mismatch");
	static const char *const bad[] = {
		NO_EXP,   TEXT_EXP, HUGE_EXP, OTHER_KEY, ALG_NONE, NO_OBJECT, GOOD "=",
		GOOD "A", "abc",    ".",      "..",      "...",    HEAD,      "a.b.c.d",
	};
	for (size_t i = 0; i < countof(bad); i++) {
		auto_free char *header = xasprintf("Bearer %s", bad[i]);
		expect(bearer, header, NOW, bad_token);
	}
	bearer_destroy(bearer);
}

static void test_signed_token_of_anybody(void **state)
{
	(void)state;
	struct bearer *bearer = create(&(struct bearer_options){
		.mode = "signed-bearer-token", .secret_file = put_secret(), .clock_skew_seconds = "0"});
	expect(bearer, "Bearer " OTHER_ISS, NOW, NULL);
	expect(bearer, "Bearer " OTHER_AUD, NOW, NULL);
	expect(bearer, "Bearer " GOOD, NOW + 1, "expired websocket jwt");
	bearer_destroy(bearer);
}

static void expect_error(struct bearer_options options, const char *text)
{
	struct bearer *bearer;
	struct error err = {0};
	assert_int_not_equal(bearer_create(&options, &bearer, &err), 0);
	assert_null(bearer);
	if (!strstr(err.text, text))
		fail_msg("got \"%s\", want \"%s\"", err.text, text);
}

static void test_options(void **state)
{
	(void)state;
	struct bearer *bearer;
	struct error err;
	const char *token = temp_put("token", STR("sekret-token")), *empty = temp_put("empty", STR(" \n"));
	assert_int_equal(bearer_create(&(struct bearer_options){0}, &bearer, &err), 0);
	assert_null(bearer);
	expect_error((struct bearer_options){.issuer = "x"}, "websocket auth flags require `--ws-auth");
	expect_error((struct bearer_options){.mode = "x"}, "unknown mode `--ws-auth x`");
	expect_error((struct bearer_options){.mode = "capability-token"}, "is required when");
	expect_error((struct bearer_options){.mode = "capability-token", .token_file = token, .token_sha256 = "aa"},
	             "mutually exclusive");
	expect_error((struct bearer_options){.mode = "capability-token", .token_sha256 = "aa"}, "64-character hex");
	expect_error((struct bearer_options){.mode = "capability-token", .token_file = empty}, "must not be empty");
	expect_error((struct bearer_options){.mode = "capability-token", .token_file = "/nonexistent"},
	             "failed to read websocket auth secret");
	expect_error((struct bearer_options){.mode = "capability-token", .token_file = token, .audience = "x"},
	             "require `--ws-auth signed-bearer-token`");
	expect_error((struct bearer_options){.mode = "signed-bearer-token"}, "`--ws-shared-secret-file` is required");
	expect_error((struct bearer_options){.mode = "signed-bearer-token", .secret_file = token}, "at least 32 bytes");
	expect_error((struct bearer_options){.mode = "signed-bearer-token", .token_file = token},
	             "not `signed-bearer-token`");
	expect_error((struct bearer_options){.mode = "signed-bearer-token", .secret_file = token, .issuer = ""},
	             "`--ws-issuer` must not be empty");
	expect_error((struct bearer_options){.mode = "signed-bearer-token",
	                                     .secret_file = token,
	                                     .clock_skew_seconds = "-1"},
	             "must be a number of seconds");
}

static void expect_file_error(const char *path, const char *text)
{
	expect_error((struct bearer_options){.mode = "capability-token", .token_file = path}, text);
	expect_error((struct bearer_options){.mode = "signed-bearer-token", .secret_file = path}, text);
}

/* A secret file that others can read is refused, and reading never blocks. */
static void test_files(void **state)
{
	(void)state;
	const char *open_to_group = temp_put("group", STR("0123456789012345678901234567890123456789"));
	assert_int_equal(chmod(open_to_group, 0640), 0);
	expect_file_error(open_to_group, "run chmod 600 on it first");
	const char *open_to_all = temp_put("all", STR("0123456789012345678901234567890123456789"));
	assert_int_equal(chmod(open_to_all, 0644), 0);
	expect_file_error(open_to_all, "run chmod 600 on it first");
	assert_int_equal(mkfifo(temp_path("fifo"), 0600), 0);
	expect_file_error(temp_path("fifo"), "is not a regular file");
	expect_file_error("/dev/zero", "is not a regular file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_capability_token, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_capability_digest, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_signed_token, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_signed_token_of_anybody, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_options, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(test_files, temp_make, temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
