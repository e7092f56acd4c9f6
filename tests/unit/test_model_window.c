/* The context window in the answers of local servers, and the addresses that are asked. */
#include "test.h"

#include "base/arena.h"
#include "base/json.h"
#include "config/model_provider.h"
#include "model/model_catalog.h"
#include "model/model_window.h"

enum { MODELS, PROPS, LM_STUDIO, OLLAMA };

static int64_t read_window(unsigned index, const char *text)
{
	auto_arena struct arena arena = {0};
	return model_catalog_read_window(index, json_parse(&arena, str_of(text), NULL), STR("m"));
}

static void each_server_names_it_in_its_place(void **state)
{
	(void)state;
	assert_int_equal(read_window(MODELS, "{\"data\":[{\"id\":\"other\",\"max_model_len\":1},"
	                                     "{\"id\":\"m\",\"max_model_len\":32768}]}"),
	                 32768);
	assert_int_equal(read_window(MODELS, "{\"data\":[{\"id\":\"m\",\"context_length\":4096}]}"), 4096);
	assert_int_equal(read_window(PROPS, "{\"default_generation_settings\":{\"n_ctx\":8192}}"), 8192);
	assert_int_equal(read_window(LM_STUDIO, "{\"data\":[{\"id\":\"m\",\"max_context_length\":131072,"
	                                        "\"loaded_context_length\":16384}]}"),
	                 16384);
	assert_int_equal(read_window(OLLAMA, "{\"models\":[{\"name\":\"m\",\"context_length\":65536}]}"), 65536);
}

static void what_is_no_window_is_none(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"x",
		"[]",
		"{}",
		"{\"data\":{}}",
		"{\"data\":[1,null,\"m\"]}",
		"{\"data\":[{\"id\":\"other\",\"max_model_len\":1}]}",
		"{\"data\":[{\"id\":\"m\",\"max_model_len\":-5}]}",
		"{\"data\":[{\"id\":\"m\",\"max_model_len\":0,\"context_length\":\"8\"}]}",
		"{\"data\":[{\"id\":\"m\",\"max_model_len\":1e400}]}",
	};
	for (size_t i = 0; i < countof(texts); i++)
		for (unsigned index = MODELS; index <= OLLAMA; index++)
			assert_int_equal(read_window(index, texts[i]), 0);
}

static void only_servers_on_this_machine_are_near(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		bool is_near;
	} rows[] = {
		{"http://localhost:8000/v1", true},     {"http://127.0.0.1:1/v1", true},
		{"http://127.8.9.1/v1", true},          {"http://[::1]:8080", true},
		{"https://localhost/v1", true},         {"http://localhost.example/v1", false},
		{"http://127.0.0.1.example/v1", false}, {"http://192.168.0.7:8000/v1", false},
		{"https://api.example.com/v1", false},  {"http://user@127.0.0.1@evil.example/v1", false},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct model_provider provider = {.base_url = rows[i].url};
		if (model_window_is_near(&provider) != rows[i].is_near)
			fail_msg("%s", rows[i].url);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_server_names_it_in_its_place),
		cmocka_unit_test(what_is_no_window_is_none),
		cmocka_unit_test(only_servers_on_this_machine_are_near),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
