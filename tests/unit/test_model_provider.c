/* Providers: URL, headers, credentials, and the errors if one is missing. */
#include "temp.h"

#include "config/auth.h"
#include "config/aws_key.h"
#include "config/config.h"
#include "config/model_provider.h"

static const char *const variables[] = {"OPENAI_API_KEY",
                                        "CODEX_API_KEY",
                                        "OPENAI_BASE_URL",
                                        "OPENAI_ORGANIZATION",
                                        "OPENAI_PROJECT",
                                        "CODEX_OSS_BASE_URL",
                                        "CODEX_OSS_PORT",
                                        "TEST_KEY",
                                        "TEST_HEADER",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_BEARER_TOKEN_BEDROCK",
                                        "AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_PROFILE",
                                        "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_CONFIG_FILE"};

static int set_up(void **state)
{
	for (size_t i = 0; i < countof(variables); i++)
		unsetenv(variables[i]);
	int status = temp_make(state);
	setenv("AWS_SHARED_CREDENTIALS_FILE", temp_path("aws/credentials"), 1);
	setenv("AWS_CONFIG_FILE", temp_path("aws/config"), 1);
	return status;
}

static struct config *load(const char *file)
{
	struct error err = {0};
	temp_put("config.toml", str_of(file));
	struct config_source source = {.codex_home = temp_root, .system_file = "/nonexistent/x", .cwd = temp_root};
	struct config *config = config_load(&source, &err);
	if (!config)
		fail_msg("%s", err.text);
	return config;
}

static struct model_provider *resolve(const char *file, const char *id)
{
	struct error err = {0};
	struct config *config = load(file);
	struct model_provider *provider = model_provider_create(config, id, &err);
	config_unref(config); /* the provider holds copies */
	if (!provider)
		fail_msg("%s", err.text);
	return provider;
}

static const char *failure(const char *file, const char *id)
{
	static struct error err;
	err = (struct error){0};
	struct config *config = load(file);
	struct model_provider *provider = model_provider_create(config, id, &err);
	config_unref(config);
	model_provider_destroy(provider);
	assert_null(provider);
	assert_int_equal(err.code, ERR_config);
	return err.text;
}

static bool has_header(const struct model_provider *p, const char *line)
{
	for (size_t i = 0; i < p->header_count; i++)
		if (str_is(p->headers[i], line))
			return true;
	return false;
}

static void openai_is_the_default(void **state)
{
	(void)state;
	setenv("OPENAI_API_KEY", " sk-env\n", 1);
	setenv("OPENAI_ORGANIZATION", "org-1", 1);
	struct model_provider *p = resolve("", NULL);
	assert_string_equal(p->id, "openai");
	assert_string_equal(p->name, "OpenAI");
	assert_string_equal(p->base_url, "https://api.openai.com/v1");
	assert_string_equal(p->url, "https://api.openai.com/v1/responses");
	assert_string_equal(p->authorization, "Authorization: Bearer sk-env");
	assert_string_equal(p->key_source, "OPENAI_API_KEY");
	assert_int_equal(p->header_count, 2);
	assert_true(has_header(p, "OpenAI-Organization: org-1"));
	assert_true(has_header(p, "version: " CODEX_VERSION));
	assert_int_equal(p->request_max_retries, 4);
	assert_int_equal(p->stream_max_retries, 5);
	assert_int_equal(p->stream_idle_timeout_ms, 300000);
	assert_true(p->is_openai);
	assert_false(p->stores_responses);
	model_provider_destroy(p);
}

static void keys_are_looked_for_in_order(void **state)
{
	(void)state;
	assert_int_equal(auth_write_api_key(auth_place_file(temp_root), STR("sk-file"), NULL), 0);
	struct model_provider *p = resolve("", NULL);
	assert_string_equal(p->authorization, "Authorization: Bearer sk-file");
	assert_string_equal(p->key_source, "auth.json");
	model_provider_destroy(p);

	setenv("OPENAI_API_KEY", "sk-openai", 1);
	p = resolve("", NULL);
	assert_string_equal(p->key_source, "OPENAI_API_KEY");
	model_provider_destroy(p);

	setenv("CODEX_API_KEY", "sk-codex", 1);
	p = resolve("", NULL);
	assert_string_equal(p->key_source, "CODEX_API_KEY");
	model_provider_destroy(p);

	p = resolve("[model_providers.openai]\nexperimental_bearer_token = \"sk-token\"\n", NULL);
	assert_string_equal(p->authorization, "Authorization: Bearer sk-token");
	model_provider_destroy(p);

	setenv("TEST_KEY", "sk-own", 1);
	p = resolve("[model_providers.openai]\nexperimental_bearer_token = \"sk-token\"\nenv_key = \"TEST_KEY\"\n",
	            NULL);
	assert_string_equal(p->authorization, "Authorization: Bearer sk-own");
	assert_string_equal(p->key_source, "TEST_KEY");
	model_provider_destroy(p);
}

static void an_account_is_used_unless_a_key_is_configured(void **state)
{
	(void)state;
	setenv("OPENAI_API_KEY", "sk-env", 1);
	setenv("OPENAI_BASE_URL", "http://gateway", 1);
	temp_put("auth.json", STR("{\"auth_mode\":\"chatgpt\",\"tokens\":{\"access_token\":\"t\"}}"));
	struct model_provider *p = resolve("", NULL);
	assert_true(p->uses_account);
	assert_null(p->authorization);
	assert_string_equal(p->url, "https://chatgpt.com/backend-api/codex/responses");
	model_provider_destroy(p);

	p = resolve("chatgpt_base_url = \"http://own/api/\"\n", NULL);
	assert_string_equal(p->url, "http://own/api/codex/responses");
	model_provider_destroy(p);

	p = resolve("openai_base_url = \"http://own/v1\"\n", NULL);
	assert_true(p->uses_account);
	assert_string_equal(p->url, "http://own/v1/responses");
	model_provider_destroy(p);

	p = resolve("cli_auth_credentials_store = \"ephemeral\"\n", NULL);
	assert_false(p->uses_account);
	model_provider_destroy(p);

	setenv("CODEX_API_KEY", "sk-codex", 1);
	p = resolve("", NULL);
	assert_false(p->uses_account);
	assert_string_equal(p->key_source, "CODEX_API_KEY");
	model_provider_destroy(p);
}

static void an_account_is_not_sent_to_other_providers(void **state)
{
	(void)state;
	static const char own[] = "[model_providers.own]\nbase_url = \"http://own\"\n";
	temp_put("auth.json", STR("{\"auth_mode\":\"chatgpt\",\"tokens\":{\"access_token\":\"t\"}}"));
	static const char *const ids[] = {"own", "ollama", "lmstudio"};
	for (size_t i = 0; i < countof(ids); i++) {
		struct model_provider *p = resolve(own, ids[i]);
		assert_false(p->uses_account);
		assert_null(p->authorization);
		model_provider_destroy(p);
	}
	static const char wants[] = "[model_providers.own]\nbase_url = \"http://own\"\nrequires_openai_auth = true\n";
	struct model_provider *p = resolve(wants, "own");
	assert_true(p->uses_account);
	assert_string_equal(p->url, "http://own/responses");
	model_provider_destroy(p);
}

static void without_a_key_three_ways_out_are_named(void **state)
{
	(void)state;
	const char *text = failure("", NULL);
	assert_non_null(strstr(text, "no API key for OpenAI: set OPENAI_API_KEY or CODEX_API_KEY"));
	assert_non_null(strstr(text, "`codex login --with-api-key`"));
	assert_non_null(strstr(text, "--oss"));
	assert_non_null(strstr(text, "[model_providers] in /tmp/"));
	temp_put("auth.json", STR("{\"auth_mode\":\"agentIdentity\"}"));
	assert_non_null(
		strstr(failure("", NULL), "the login is of the kind \"agentIdentity\", which is not supported"));
	temp_put("auth.json", STR("{"));
	assert_non_null(strstr(failure("", NULL), "/auth.json is not JSON"));
}

static void openai_may_be_reached_elsewhere(void **state)
{
	(void)state;
	setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1/", 1);
	struct model_provider *p = resolve("", NULL);
	assert_string_equal(p->base_url, "http://127.0.0.1:1/v1");
	assert_null(p->authorization);
	assert_true(p->is_openai);
	model_provider_destroy(p);
	p = resolve("openai_base_url = \"http://127.0.0.1:2/v1\"", NULL);
	assert_string_equal(p->url, "http://127.0.0.1:2/v1/responses");
	model_provider_destroy(p);
	p = resolve("openai_base_url = \"http://a\"\nmodel_providers.openai.base_url = \"http://127.0.0.1:3\"", NULL);
	assert_string_equal(p->base_url, "http://127.0.0.1:3");
	model_provider_destroy(p);
}

static void own_providers_are_read_in_full(void **state)
{
	(void)state;
	setenv("TEST_KEY", "k", 1);
	setenv("TEST_HEADER", "from env", 1);
	setenv("OPENAI_API_KEY", "sk-not-for-others", 1);
	struct model_provider *p =
		resolve("model_provider = \"mine\"\n[model_providers.mine]\nname = \"My provider\"\n"
	                "base_url = \"https://h/v1//?fixed=1\"\nenv_key = \"TEST_KEY\"\n"
	                "query_params = { \"api version\" = \"2024/10&x\", b = \"\\u00e9\" }\n"
	                "http_headers = { X-One = \"1\", Authorization = \"Basic x\" }\n"
	                "env_http_headers = { X-Two = \"TEST_HEADER\", X-Three = \"TEST_ABSENT\" }\n"
	                "request_max_retries = 0\nstream_max_retries = 1000\nstream_idle_timeout_ms = 7\n"
	                "stores_responses = true\n",
	                NULL);
	assert_string_equal(p->name, "My provider");
	assert_string_equal(p->base_url, "https://h/v1");
	assert_string_equal(p->url, "https://h/v1/responses?fixed=1&api%20version=2024%2F10%26x&b=%C3%A9");
	assert_string_equal(p->authorization, "Authorization: Bearer k");
	assert_int_equal(p->header_count, 2);
	assert_true(has_header(p, "X-One: 1"));
	assert_true(has_header(p, "X-Two: from env"));
	assert_int_equal(p->request_max_retries, 0);
	assert_int_equal(p->stream_max_retries, 100);
	assert_int_equal(p->stream_idle_timeout_ms, 7);
	assert_true(p->stores_responses);
	assert_false(p->is_openai);
	model_provider_destroy(p);
}

static void the_openai_key_stays_with_openai(void **state)
{
	(void)state;
	setenv("OPENAI_API_KEY", "sk-secret", 1);
	struct model_provider *p = resolve("model_providers.a.base_url = \"http://h\"", "a");
	assert_null(p->authorization);
	assert_int_equal(p->header_count, 0);
	assert_string_equal(p->name, "a");
	model_provider_destroy(p);
	p = resolve("", "ollama");
	assert_null(p->authorization);
	model_provider_destroy(p);
	p = resolve("[model_providers.a]\nbase_url = \"http://h\"\nrequires_openai_auth = true", "a");
	assert_string_equal(p->authorization, "Authorization: Bearer sk-secret");
	model_provider_destroy(p);
	unsetenv("OPENAI_API_KEY");
	assert_non_null(
		strstr(failure("[model_providers.a]\nbase_url = \"http://h\"\nrequires_openai_auth = true", "a"),
	               "no API key for a"));
}

static void local_providers_need_no_key(void **state)
{
	(void)state;
	struct model_provider *p = resolve("", "ollama");
	assert_string_equal(p->url, "http://localhost:11434/v1/responses");
	assert_string_equal(p->oss_model, "gpt-oss:20b");
	assert_true(p->is_local);
	model_provider_destroy(p);
	p = resolve("", "lmstudio");
	assert_string_equal(p->base_url, "http://localhost:1234/v1");
	model_provider_destroy(p);
	setenv("CODEX_OSS_PORT", "99", 1);
	p = resolve("", "lmstudio");
	assert_string_equal(p->base_url, "http://localhost:99/v1");
	model_provider_destroy(p);
	setenv("CODEX_OSS_BASE_URL", "http://box:1/v1", 1);
	p = resolve("", "ollama");
	assert_string_equal(p->base_url, "http://box:1/v1");
	model_provider_destroy(p);
}

static void errors_contain_advice(void **state)
{
	(void)state;
	static const struct {
		const char *file, *message;
	} rows[] = {
		{"model_provider = \"zz\"\n[model_providers.own]\n", "Model provider `zz` not found, named by /tmp/"},
		{"model_provider = \"zz\"\n[model_providers.own]\n",
	         "config.toml:1; known are `openai`, `ollama`, `lmstudio`, `llamacpp`, `vllm`, `sglang`, "
	         "`amazon-bedrock`, `own`"},
		{"model_provider = \"x\"\n[model_providers.x]\nname = \"X\"", "has no base_url; add one"},
		{"model_provider = \"x\"\nmodel_providers.x.base_url = \"ftp://user:secret@h\"",
	         "config.toml:2), must start with http:// or https:// and contain no whitespace"},
		{"model_provider = \"x\"\nmodel_providers.x.base_url = \"http://secret h\"", "contain no whitespace"},
		{"model_provider = \"x\"\nmodel_providers.x.base_url = \"https://\"", "must start with http://"},
		{"model_provider = \"x\"\n[model_providers.x]\nbase_url = \"http://h\"\nenv_key = \"TEST_KEY\"",
	         "Missing environment variable: `TEST_KEY`."},
		{"model_provider = \"x\"\n[model_providers.x]\nbase_url = \"http://h\"\nenv_key = \"TEST_KEY\"\n"
	         "env_key_instructions = \"Ask Ann.\"",
	         "Missing environment variable: `TEST_KEY`. Ask Ann."},
		{"model_provider = \"x\"\n[model_providers.x]\nbase_url = \"http://h\"\nhttp_headers = { X = "
	         "\"a\\r\\nsecret: b\" }",
	         "header `X` of model provider `x` cannot be sent: its value contains"},
		{"model_provider = \"x\"\n[model_providers.x]\nbase_url = \"http://h\"\nhttp_headers = { \"X Y\" = "
	         "\"secret\" }",
	         "header `X Y` of model provider `x` cannot be sent: its name contains"},
		{"model_provider = \"x\"\n[model_providers.x]\nbase_url = \"http://h\"\nexperimental_bearer_token = "
	         "\"secret\\nb\"",
	         "the API key from experimental_bearer_token is empty or contains"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		const char *text = failure(rows[i].file, NULL);
		if (!strstr(text, rows[i].message))
			fail_msg("got \"%s\", want \"…%s…\"", text, rows[i].message);
		assert_null(strstr(text, "secret"));
	}
}

static void check_key(const char *profile, const char *id, const char *secret, const char *session)
{
	struct error err;
	struct aws_key *key = aws_key_find(profile, &err);
	if (!key)
		fail_msg("%s", err.text);
	assert_string_equal(key->id, id);
	assert_string_equal(key->secret, secret);
	assert_true(str_is(str_of(key->session), session ? session : ""));
	aws_key_destroy(key);
}

static void a_key_of_aws_is_that_of_the_profile_the_environment_or_the_file(void **state)
{
	(void)state;
	struct error err;
	temp_put("aws/credentials",
	         STR("# mine\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=s/e=c+\n"
	             "\n [ work ] \r\naws_access_key_id=AKWORK\r\naws_secret_access_key = w\r\n"
	             "aws_session_token = t\r\n[half]\naws_access_key_id = AKHALF\n"
	             "[bad]\naws_access_key_id = A B\naws_secret_access_key = secret-x\n"));
	check_key(NULL, "AKDEFAULT", "s/e=c+", NULL);
	check_key("work", "AKWORK", "w", "t");
	setenv("AWS_PROFILE", "work", 1);
	check_key(NULL, "AKWORK", "w", "t");
	setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
	check_key(NULL, "AKWORK", "w", "t"); /* half a key does not count */
	setenv("AWS_SECRET_ACCESS_KEY", "e", 1);
	check_key(NULL, "AKENV", "e", NULL);
	check_key("default", "AKDEFAULT", "s/e=c+", NULL);
	static const char *const without[] = {"half", "bad", "none", "wor"};
	for (size_t i = 0; i < countof(without); i++) {
		assert_null(aws_key_find(without[i], &err));
		assert_non_null(strstr(err.text, without[i]));
		assert_null(strstr(err.text, "secret-x"));
	}
}

static void bedrock_takes_region_and_key_from_a_profile(void **state)
{
	(void)state;
	temp_put("aws/credentials", STR("[work]\naws_access_key_id=AKWORK\naws_secret_access_key=w\n"));
	temp_put("aws/config", STR("[work]\nregion=wrong\n[profile work]\nregion = eu-west-3\n"));
	struct model_provider *p =
		resolve("[model_providers.amazon-bedrock.aws]\nprofile = \"work\"\n", "amazon-bedrock");
	assert_string_equal(p->url, "https://bedrock-mantle.eu-west-3.api.aws/v1/responses");
	assert_string_equal(p->aws->id, "AKWORK");
	assert_string_equal(p->aws->region, "eu-west-3");
	assert_null(p->authorization);
	assert_false(p->has_sockets);
	model_provider_destroy(p);
}

static void bedrock_is_at_its_region(void **state)
{
	(void)state;
	static const char region[] = "[model_providers.amazon-bedrock.aws]\nregion = \"eu-west-1\"\n";
	const char *text = failure(region, "amazon-bedrock");
	assert_non_null(strstr(text, "no key for Amazon Bedrock: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID"));
	setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key", 1);
	setenv("OPENAI_API_KEY", "sk-other", 1);
	text = failure("", "amazon-bedrock");
	assert_non_null(strstr(text, "needs the region"));
	setenv("AWS_REGION", "evil.example/x", 1);
	text = failure("", "amazon-bedrock");
	assert_non_null(strstr(text, "needs the region"));
	setenv("AWS_REGION", "us-east-1", 1);
	struct model_provider *p = resolve("", "amazon-bedrock");
	assert_string_equal(p->url, "https://bedrock-mantle.us-east-1.api.aws/v1/responses");
	assert_string_equal(p->authorization, "Authorization: Bearer bedrock-key");
	assert_string_equal(p->key_source, "AWS_BEARER_TOKEN_BEDROCK");
	model_provider_destroy(p);
	p = resolve(region, "amazon-bedrock");
	assert_string_equal(p->base_url, "https://bedrock-mantle.eu-west-1.api.aws/v1");
	model_provider_destroy(p);
	text = failure("[model_providers.amazon-bedrock]\nenv_key = \"X\"\naws.region = \"us-east-1\"",
	               "amazon-bedrock");
	assert_non_null(strstr(text, "provider aws cannot be combined with env_key"));
}

static void azure_keeps_responses(void **state)
{
	(void)state;
	struct model_provider *p =
		resolve("model_providers.a.base_url = \"https://x.openai.azure.com/openai/v1\"", "a");
	assert_true(p->stores_responses);
	model_provider_destroy(p);
	p = resolve("[model_providers.a]\nbase_url = \"https://x.openai.azure.com/v1\"\nstores_responses = false", "a");
	assert_false(p->stores_responses);
	model_provider_destroy(p);
	model_provider_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(openai_is_the_default),
		TEST(keys_are_looked_for_in_order),
		TEST(an_account_is_used_unless_a_key_is_configured),
		TEST(an_account_is_not_sent_to_other_providers),
		TEST(without_a_key_three_ways_out_are_named),
		TEST(openai_may_be_reached_elsewhere),
		TEST(own_providers_are_read_in_full),
		TEST(the_openai_key_stays_with_openai),
		TEST(local_providers_need_no_key),
		TEST(errors_contain_advice),
		TEST(bedrock_is_at_its_region),
		TEST(a_key_of_aws_is_that_of_the_profile_the_environment_or_the_file),
		TEST(bedrock_takes_region_and_key_from_a_profile),
		TEST(azure_keeps_responses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
