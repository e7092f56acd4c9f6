/* Signatures of AWS: the examples of its documentation and of its test suite. */
#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "net/aws_sign.h"

static const struct aws_signer example = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", NULL, "us-east-1",
                                          "service"};
enum { WHEN = 1440938160 }; /* 20150830T123600Z */

static void check(const char *method, const char *url, const char *signature)
{
	auto_arena struct arena arena = {0};
	struct aws_signature made = aws_sign(&example, str_of(method), str_of(url), NULL, 0, WHEN, &arena);
	const char *want = arena_printf(&arena,
	                                "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/"
	                                "service/aws4_request, SignedHeaders=host;x-amz-date, Signature=%s",
	                                signature);
	assert_true(str_is(made.authorization, want));
	assert_str(made.date, "x-amz-date: 20150830T123600Z");
	assert_null(made.session.ptr);
}

static void the_examples_of_the_suite(void **state)
{
	(void)state;
	static const char vanilla[] = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";
	check("GET", "https://example.amazonaws.com/", vanilla);
	check("GET", "https://example.amazonaws.com", vanilla);
	check("GET", "https://example.amazonaws.com:443/", vanilla);
	check("POST", "https://example.amazonaws.com/",
	      "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
	static const char ordered[] = "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500";
	check("GET", "https://example.amazonaws.com/?Param2=value2&Param1=value1", ordered);
	check("GET", "https://example.amazonaws.com/?Param1=value1&Param2=value2", ordered);
}

static void the_body_may_be_in_parts_and_a_session_is_signed(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	const struct str whole[] = {STR("{\"a\":1}")}, parts[] = {STR("{\"a\""), STR(""), STR(":1}")};
	struct aws_signer with = example;
	with.session = "SESSION";
	struct str url = STR("http://127.0.0.1:8080/v1/responses?b=2&a");
	struct aws_signature one = aws_sign(&with, STR("POST"), url, whole, 1, WHEN, &arena);
	struct aws_signature three = aws_sign(&with, STR("POST"), url, parts, 3, WHEN, &arena);
	struct aws_signature without = aws_sign(&example, STR("POST"), url, whole, 1, WHEN, &arena);
	assert_true(str_eq(one.authorization, three.authorization));
	assert_false(str_eq(one.authorization, without.authorization));
	assert_str(one.session, "x-amz-security-token: SESSION");
	assert_true(str_find(one.authorization, STR("SignedHeaders=host;x-amz-date;x-amz-security-token,")) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_of_the_suite),
		cmocka_unit_test(the_body_may_be_in_parts_and_a_session_is_signed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
