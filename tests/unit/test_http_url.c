#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "net/http_url.h"

static void test_parts(void **state)
{
	(void)state;
	struct http_url url;
	assert_true(http_url_parse(STR("https://me:secret@api.example.com:8443/v1/responses?key=s#x"), &url));
	assert_true(url.is_https);
	assert_str(url.host, "api.example.com");
	assert_str(url.port, "8443");
	assert_str(url.path, "/v1/responses");
	assert_true(http_url_parse(STR("HTTP://localhost"), &url));
	assert_false(url.is_https);
	assert_str(url.port, "80");
	assert_str(url.path, "");
	assert_true(http_url_parse(STR("https://[::1]?q"), &url));
	assert_str(url.host, "[::1]");
	assert_str(url.port, "443");
	assert_true(http_url_parse(STR("https://[::1]:1/"), &url));
	assert_str(url.port, "1");
}

static void test_invalid_urls(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",          "api.example.com", "ftp://host/",       "http://", "http:///path",
		"http://?q", "http://a b/",     "http://a/\r\nX: y", "://host", "http://me@/"};
	struct http_url url;
	for (size_t i = 0; i < countof(texts); i++)
		assert_false(http_url_parse(str_of(texts[i]), &url));
}

static void test_public_form_has_no_secrets(void **state)
{
	(void)state;
	static const struct {
		const char *url, *shown;
	} cases[] = {
		{"https://me:secret@api.example.com:443/v1?key=secret", "https://api.example.com/v1"},
		{"http://secret@127.0.0.1:8080/a/b#secret", "http://127.0.0.1:8080/a/b"},
		{"http://user:sec@ret@host/", "http://host/"},
		{"secret", "(not an http URL)"},
	};
	for (size_t i = 0; i < countof(cases); i++) {
		auto_buf struct buf out;
		buf_init(&out, 1000);
		http_url_append_public(&out, str_of(cases[i].url));
		assert_true(str_is(buf_str(&out), cases[i].shown));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_invalid_urls),
		cmocka_unit_test(test_public_form_has_no_secrets),
	};
	return cmocka_run_group_tests_name("http_url", tests, NULL, NULL);
}
