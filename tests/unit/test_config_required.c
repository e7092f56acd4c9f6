/* requirements.toml and managed_config.toml: which settings they replace, which requests they refuse, and which of
 * their own mistakes are errors. */
#include "temp.h"

#include "base/buf.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/config_required.h"

static int set_up(void **state)
{
	(void)state;
	return temp_make(NULL);
}

static int tear_down(void **state)
{
	(void)state;
	return temp_remove(NULL);
}

/* Loads these files of the administrator and the user with a flag that turns the sandbox off, if is_bypass. */
static struct config *load(const char *requirements, const char *user, bool is_bypass, struct error *err)
{
	static const struct config_flag bypass[] = {
		{"--dangerously-bypass-approvals-and-sandbox", "sandbox_mode", {"danger-full-access", 18}}};
	struct config_source source = {
		.codex_home = temp_path("home"),
		.system_file = "/nonexistent/config.toml",
		.admin_folder = temp_path("admin"),
		.cwd = temp_root,
		.flags = bypass,
		.flag_count = is_bypass,
	};
	temp_put("admin/requirements.toml", str_of(requirements));
	temp_put("home/config.toml", str_of(user));
	return config_load(&source, err);
}

static struct config *load_fine(const char *requirements, const char *user)
{
	struct error err = {0};
	struct config *config = load(requirements, user, false, &err);
	if (!config)
		fail_msg("%s", err.text);
	return config;
}

static size_t count_warnings(const struct config *config)
{
	size_t count;
	config_warnings(config, &count);
	return count;
}

static bool warns(const struct config *config, const char *text)
{
	size_t count;
	const char *const *warnings = config_warnings(config, &count);
	for (size_t i = 0; i < count; i++) {
		if (strstr(warnings[i], text))
			return true;
	}
	return false;
}

static void assert_refused(const char *requirements, const char *text)
{
	struct error err = {0};
	struct config *config = load(requirements, "", false, &err);
	config_unref(config);
	if (config)
		fail_msg("accepted: %s", requirements);
	if (!strstr(err.text, text) || !strstr(err.text, "admin/requirements.toml:"))
		fail_msg("%s", err.text);
	assert_int_equal(err.code, ERR_config);
}

static void a_sandbox_outside_the_list_becomes_read_only(void **state)
{
	(void)state;
	struct error err;
	struct config *config = load_fine("allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\n",
	                                  "sandbox_mode = \"danger-full-access\"\n");
	assert_int_equal(config->sandbox_mode, sandbox_mode_read_only);
	assert_true(warns(config, "sandbox_mode is read-only"));
	assert_true(warns(config, "`read-only`, `workspace-write`"));
	const struct config_required *required = config_required(config);
	assert_int_equal(config_required_check_sandbox(required, sandbox_mode_workspace_write, &err), 0);
	assert_int_equal(config_required_check_sandbox(required, sandbox_mode_danger_full_access, &err), -ERR_denied);
	assert_int_equal(config_required_check_sandbox(required, sandbox_mode_external_sandbox, &err), -ERR_denied);
	config_unref(config);
}

static void a_flag_that_turns_the_sandbox_off_is_refused(void **state)
{
	(void)state;
	struct error err;
	assert_null(load("allowed_sandbox_modes = [\"read-only\"]\n", "", true, &err));
	assert_int_equal(err.code, ERR_denied);
	assert_non_null(strstr(err.text, "--dangerously-bypass-approvals-and-sandbox: "));
	struct config *config =
		load("allowed_sandbox_modes = [\"read-only\", \"danger-full-access\"]\n", "", true, &err);
	assert_non_null(config);
	assert_int_equal(config->sandbox_mode, sandbox_mode_danger_full_access);
	config_unref(config);
}

static void a_policy_outside_the_list_becomes_its_first(void **state)
{
	(void)state;
	static const struct ask_for_approval never = {.tag = ask_for_approval_never};
	struct config *config = load_fine("allowed_approval_policies = [\"untrusted\", \"on-request\"]\n",
	                                  "approval_policy = \"never\"\n");
	assert_int_equal(config->approval_policy->tag, ask_for_approval_untrusted);
	assert_true(warns(config, "approval_policy is untrusted"));
	assert_int_equal(config_required_check_approval(config_required(config), &never, NULL), -ERR_denied);
	config_unref(config);
	/* A default outside the list is replaced without a warning. */
	config = load_fine("allowed_approval_policies = [\"granular\"]\n", "");
	assert_int_equal(config->approval_policy->tag, ask_for_approval_granular);
	assert_int_equal(count_warnings(config), 0);
	config_unref(config);
}

static void web_search_has_a_ceiling(void **state)
{
	(void)state;
	static const struct {
		const char *list;
		enum web_search_mode live, cached;
	} cases[] = {
		{"[\"live\"]", web_search_mode_live, web_search_mode_disabled},
		{"[\"cached\"]", web_search_mode_cached, web_search_mode_cached},
		{"[\"disabled\"]", web_search_mode_disabled, web_search_mode_disabled},
		{"[]", web_search_mode_disabled, web_search_mode_disabled},
	};
	for (size_t i = 0; i < countof(cases); i++) {
		auto_free char *text = xasprintf("allowed_web_search_modes = %s\n", cases[i].list);
		struct config *config = load_fine(text, "web_search = \"live\"\n");
		assert_int_equal(config->web_search, cases[i].live);
		assert_int_equal(count_warnings(config), cases[i].live != web_search_mode_live);
		assert_int_equal(config_required_limit_search(config_required(config), web_search_mode_cached),
		                 cases[i].cached);
		config_unref(config);
	}
}

static void features_and_keys_are_fixed(void **state)
{
	(void)state;
	struct config *config = load_fine("allow_login_shell = false\nchatgpt_base_url = \"https://gate.example\"\n"
	                                  "[features]\nmulti_agent = false\npersonality = false\n",
	                                  "allow_login_shell = true\nchatgpt_base_url = \"https://other.example\"\n"
	                                  "[features]\nmulti_agent = true\n");
	assert_false(config->features.multi_agent);
	assert_false(config->features.personality);
	assert_false(config->allow_login_shell);
	assert_string_equal(config->chatgpt_base_url, "https://gate.example");
	assert_true(warns(config, "features.multi_agent is false"));
	assert_false(warns(config, "features.personality"));
	config_unref(config);
}

static void other_mcp_servers_are_disabled(void **state)
{
	(void)state;
	struct config *config =
		load_fine("[mcp_servers.docs]\nidentity = { command = \"docs-mcp\" }\n"
	                  "[mcp_servers.web]\nidentity = { url = \"https://mcp.example\" }\n",
	                  "[mcp_servers.docs]\ncommand = \"docs-mcp\"\n"
	                  "[mcp_servers.web]\nurl = \"https://evil.example\"\n"
	                  "[mcp_servers.own]\ncommand = \"docs-mcp\"\nenabled = true\nrequired = true\n");
	static const struct {
		const char *name;
		bool is_enabled;
	} servers[] = {{"docs", true}, {"web", false}, {"own", false}};
	for (size_t i = 0; i < countof(servers); i++) {
		const struct toml *server = toml_get(config->mcp_servers, servers[i].name);
		const struct toml *enabled = toml_get(server, "enabled");
		assert_int_equal(!enabled || enabled->boolean, servers[i].is_enabled);
		assert_null(toml_get(server, "required"));
	}
	assert_true(warns(config, "MCP server `web` is disabled"));
	assert_true(warns(config, "MCP server `own` is disabled"));
	config_unref(config);
	config = load_fine("mcp_servers = {}\n", "[mcp_servers.docs]\ncommand = \"docs-mcp\"\n");
	assert_true(warns(config, "MCP server `docs` is disabled"));
	config_unref(config);
}

static void servers_of_a_client_are_limited(void **state)
{
	(void)state;
	struct error err;
	struct config *config = load_fine("mcp_servers = {}\n", "");
	struct config *changed = config_with_servers(config, STR("{\"own\":{\"command\":\"x\"}}"), &err);
	assert_non_null(changed);
	const struct toml *enabled = toml_get(toml_get(changed->mcp_servers, "own"), "enabled");
	assert_true(enabled && !enabled->boolean);
	config_unref(config);
	config_unref(changed);
}

static void login_methods_are_limited(void **state)
{
	(void)state;
	struct config *config =
		load_fine("allowed_login_methods = [\"chatgpt\"]\nallowed_chatgpt_workspaces = \"w1\"\n", "");
	assert_int_equal(config_required_check_login(config_required(config), login_method_chatgpt, NULL), 0);
	assert_int_equal(config_required_check_login(config_required(config), login_method_api, NULL), -ERR_denied);
	assert_int_equal(config->forced_chatgpt_workspace_id.count, 1);
	assert_true(str_is(config->forced_chatgpt_workspace_id.items[0], "w1"));
	config_unref(config);
}

static void rules_are_written_as_a_rules_file(void **state)
{
	(void)state;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_RULES_FILE);
	struct config *config =
		load_fine("[rules]\nprefix_rules = [\n"
	                  "{ pattern = [{ token = \"rm\" }, { any_of = [\"-rf\", \"-fr\"] }], decision = "
	                  "\"forbidden\", justification = \"say \\\"no\\\"\" } ]\n",
	                  "");
	config_required_write_rules(config_required(config), &out);
	auto_free char *text = str_dup(buf_str(&out));
	assert_string_equal(text, "prefix_rule(pattern = [ \"rm\",[\"-rf\",\"-fr\",],], decision = \"forbidden\", "
	                          "justification = \"say \\\"no\\\"\")\n");
	config_unref(config);
}

static void mistakes_name_file_and_key(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"allowed_sandbox_modes = [\"workspace-write\"]\n", "the list must contain `read-only`"},
		{"allowed_sandbox_modes = [\"read-only\", \"root\"]\n", "unknown value `root`"},
		{"allowed_sandbox_modes = \"read-only\"\n", "allowed_sandbox_modes"},
		{"allowed_sandbox_modes = []\n", "the list must contain `read-only`"},
		{"allowed_approval_policies = []\n", "the list is empty"},
		{"allowed_approval_policies = [\"sometimes\"]\n", "unknown value `sometimes`"},
		{"allowed_approval_policies = [\"reject\"]\n", "unknown value `reject`"},
		{"allowed_approval_policies = [7]\n", "allowed_approval_policies"},
		{"allowed_approvals_reviewers = [\"nobody\"]\n", "unknown value `nobody`"},
		{"allowed_approvals_reviewers = []\n", "the list is empty"},
		{"[auto_review]\nrequired_on_models = [\"openai/gpt-5.5\"]\n", "without blanks and provider"},
		{"[auto_review]\nrequired_on_models = [\" gpt-5.5\"]\n", "without blanks and provider"},
		{"[auto_review]\nrequired_on_models = [\"\"]\n", "without blanks and provider"},
		{"[auto_review]\nrequired_on_models = 7\n", "required_on_models"},
		{"[auto_review]\nignore_rules = [\"a\"]\n", "this version cannot enforce it"},
		{"allowed_approvals_reviewers = [\"user\"]\n[auto_review]\nrequired_on_models = [\"gpt-5.5\"]\n",
	         "lacks `auto_review`"},
		{"allowed_web_search_modes = [\"\"]\n", "unknown value ``"},
		{"allowed_login_methods = [\"password\"]\n", "unknown value `password`"},
		{"features = 1\n", "expected a table"},
		{"[features]\nmulti_agent = \"off\"\n", "each value must be true or false"},
		{"[mcp_servers.a]\n", "each server needs `identity"},
		{"[mcp_servers.a]\nidentity = { command = 1 }\n", "each server needs `identity"},
		{"[mcp_servers.a]\nidentity = { command = \"a\", url = \"b\" }\n", "each server needs `identity"},
		{"[rules]\nprefix_rules = [{ pattern = [], decision = \"prompt\" }]\n",
	         "must be a list that is not empty"},
		{"[rules]\nprefix_rules = [{ pattern = [\"rm\"], decision = \"prompt\" }]\n", "each part of `pattern`"},
		{"[rules]\nprefix_rules = [{ pattern = [{ any_of = [] }], decision = \"prompt\" }]\n",
	         "each part of `pattern`"},
		{"[rules]\nprefix_rules = [{ pattern = [{ token = \"rm\" }], decision = \"allow\" }]\n",
	         "`decision` must be"},
		{"[rules]\nprefix_rules = [{ pattern = [{ token = \"\" }], decision = \"prompt\" }]\n",
	         "each part of `pattern`"},
		{"[rules]\nprefix_rules = [{ pattern = [{ token = \"a\\nb\" }], decision = \"prompt\" }]\n",
	         "each part of `pattern`"},
		{"[hooks]\nPreToolUse = 1\n", "must be a list"},
		{"[hooks]\nNoEvent = []\n", "there is no event"},
		{"[filesystem]\ndeny_read = [\"/srv\"]\n", "cannot limit which files"},
		{"[network]\nenabled = true\n", "cannot limit commands to certain hosts"},
		{"[experimental_network]\nenabled = true\n", "cannot limit commands to certain hosts"},
		{"config_server = { base_url = \"http://x\" }\n", "does not read settings of a server"},
		{"[[remote_sandbox_config]]\nhostname_patterns = [\"*\"]\n", "does not distinguish host names"},
		{"[permissions.own]\n", "has no permission profiles of the administrator"},
		{"features = {}\nfeature_requirements = {}\n", "another name of `features`"},
		{"feature_requirements = { goals = 1 }\n", "`feature_requirements`: each value must be true or false"},
		{"allowed_permission_profiles = {}\n", "default_permissions is needed"},
		{"allowed_permission_profiles = 1\n", "expected a table"},
		{"default_permissions = \":read-only\"\n", "it needs allowed_permission_profiles"},
		{"allowed_permission_profiles = { \":workspace\" = true }\n", "default_permissions is needed"},
		{"allowed_permission_profiles = { \":workspace\" = 1 }\n", "each value must be true or false"},
		{"allowed_permission_profiles = { own = true }\n", "the built-in profiles only"},
		{"default_permissions = \":workspace\"\nallowed_permission_profiles = { \":read-only\" = true }\n",
	         "does not permit it"},
		{"allowed_sandbox_modes = [\"read-only\"]\n"
	         "allowed_permission_profiles = { \":read-only\" = true, \":workspace\" = true }\n",
	         "allowed_sandbox_modes does not permit the profile"},
		{"a = [\n", "requirements.toml:"},
	};
	for (size_t i = 0; i < countof(cases); i++)
		assert_refused(cases[i].text, cases[i].message);
}

#define BOTH_PROFILES                                                                                              \
	"allowed_permission_profiles = { \":read-only\" = true, \":workspace\" = true, \":danger-full-access\" = " \
	"false }\n"
#define NETWORK "[sandbox_workspace_write]\nnetwork_access = true\n"

static void a_permitted_profile_stays_as_it_is(void **state)
{
	(void)state;
	static const struct {
		const char *requirements, *user;
		enum sandbox_mode mode;
		const char *warning;
	} rows[] = {
		{BOTH_PROFILES, "", sandbox_mode_workspace_write, NULL},
		{BOTH_PROFILES, "sandbox_mode = \"read-only\"\n", sandbox_mode_read_only, NULL},
		{BOTH_PROFILES, "sandbox_mode = \"danger-full-access\"\n", sandbox_mode_workspace_write,
	         "does not permit `:danger-full-access`"},
		{"default_permissions = \":read-only\"\n" BOTH_PROFILES, "", sandbox_mode_read_only, NULL},
		{BOTH_PROFILES, NETWORK, sandbox_mode_workspace_write, "sandbox_workspace_write is limited"},
		{BOTH_PROFILES, "default_permissions = \":workspace\"\n" NETWORK, sandbox_mode_workspace_write,
	         "sandbox_workspace_write is limited"},
		{BOTH_PROFILES, "[sandbox_workspace_write]\nwritable_roots = [\"/\"]\n", sandbox_mode_workspace_write,
	         "further writable folders"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct config *config = load_fine(rows[i].requirements, rows[i].user);
		assert_int_equal(config->sandbox_mode, rows[i].mode);
		assert_false(config->sandbox_workspace_write.network_access);
		assert_int_equal(config->sandbox_workspace_write.writable_roots.count, 0);
		assert_int_equal(count_warnings(config), rows[i].warning != NULL);
		assert_true(!rows[i].warning || warns(config, rows[i].warning));
		config_unref(config);
	}
}

static void a_policy_of_a_client_adds_nothing_to_a_permitted_profile(void **state)
{
	(void)state;
	struct error err;
	struct str root = STR("/");
	struct workspace_write write = {.writable_roots = &root, .writable_roots_count = 1}, plain = {0};
	struct config *config = load_fine(BOTH_PROFILES, "");
	struct sandbox policy = {.tag = sandbox_workspace_write, .workspace_write = &write};
	assert_int_equal(config_required_check_policy(config_required(config), &policy, &err), -ERR_denied);
	assert_non_null(strstr(err.text, "allowed_permission_profiles"));
	policy.workspace_write = &plain;
	assert_int_equal(config_required_check_policy(config_required(config), &policy, &err), 0);
	config_unref(config);
}

static void members_of_the_administrator_replace_those_of_the_user(void **state)
{
	(void)state;
	struct config *config =
		load_fine("model_catalog_json = \"models.json\"\n[otel]\nexporter = { otlp-http = { endpoint = "
	                  "\"http://a\", protocol = \"json\" } }\n"
	                  "[model_providers.own]\nbase_url = \"http://a\"\n",
	                  "model_catalog_json = \"/x.json\"\n[otel.exporter.otlp-grpc]\nendpoint = \"http://b\"\n"
	                  "[otel.exporter.otlp-http.headers]\nHost = \"b\"\n[model_providers.own]\nhttp_headers = { "
	                  "Host = \"b\" }\n");
	const struct toml *exporter = toml_get(config->otel, "exporter");
	assert_int_equal(exporter->count, 1);
	assert_null(toml_get(toml_get(exporter, "otlp-http"), "headers"));
	assert_null(toml_get(toml_get(config->model_providers, "own"), "http_headers"));
	assert_true(str_has_suffix(str_of(config->model_catalog_json), "/admin/models.json"));
	config_unref(config);
}

static void rules_that_are_too_long_are_an_error(void **state)
{
	(void)state;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	buf_append_c(
		&text,
		"[rules]\nprefix_rules = [{ pattern = [{ token = \"a\" }], decision = \"prompt\", justification = \"");
	for (size_t i = 0; i < LIMIT_RULES_FILE; i++)
		buf_append_char(&text, 'x');
	buf_append_c(&text, "\" }]\n");
	auto_free char *file = str_dup(buf_str(&text));
	assert_false(text.over);
	assert_refused(file, "the rules are too long");
}

static void unknown_keys_are_warnings(void **state)
{
	(void)state;
	struct config *config = load_fine("allow_appshots = false\nspelt_wrong = 1\n", "");
	assert_int_equal(count_warnings(config), 1);
	assert_true(warns(config, "requirements.toml:2: `spelt_wrong`"));
	config_unref(config);
}

static void managed_settings_override_flags(void **state)
{
	(void)state;
	struct error err;
	temp_put("admin/managed_config.toml", STR("sandbox_mode = \"read-only\"\nmodel = \"managed\"\n"));
	struct config *config = load("", "model = \"own\"\n", true, &err);
	assert_non_null(config);
	assert_int_equal(config->sandbox_mode, sandbox_mode_read_only);
	assert_string_equal(config->model, "managed");
	config_unref(config);
	temp_put("admin/managed_config.toml", STR("sandbox_mode = 5\n"));
	assert_null(load("", "", false, &err));
	assert_non_null(strstr(err.text, "admin/managed_config.toml:1"));
}

static void without_the_file_nothing_is_limited(void **state)
{
	(void)state;
	struct config_source source = {
		.codex_home = temp_root,
		.system_file = "/nonexistent/config.toml",
		.admin_folder = temp_path("none"),
		.cwd = temp_root,
	};
	struct config *config = config_load(&source, NULL);
	assert_non_null(config);
	assert_null(config_required(config));
	assert_int_equal(config_required_check_sandbox(NULL, sandbox_mode_danger_full_access, NULL), 0);
	assert_int_equal(config_required_limit_search(NULL, web_search_mode_live), web_search_mode_live);
	config_unref(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_sandbox_outside_the_list_becomes_read_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_flag_that_turns_the_sandbox_off_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_policy_outside_the_list_becomes_its_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(web_search_has_a_ceiling, set_up, tear_down),
		cmocka_unit_test_setup_teardown(features_and_keys_are_fixed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_mcp_servers_are_disabled, set_up, tear_down),
		cmocka_unit_test_setup_teardown(servers_of_a_client_are_limited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(login_methods_are_limited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rules_are_written_as_a_rules_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(mistakes_name_file_and_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_permitted_profile_stays_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_policy_of_a_client_adds_nothing_to_a_permitted_profile, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(members_of_the_administrator_replace_those_of_the_user, set_up,
	                                        tear_down),
		cmocka_unit_test_setup_teardown(rules_that_are_too_long_are_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unknown_keys_are_warnings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(managed_settings_override_flags, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_the_file_nothing_is_limited, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
