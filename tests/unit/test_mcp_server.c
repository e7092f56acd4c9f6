/* [mcp_servers]: values, refusals, and what a project may set. */
#include "temp.h"

#include "config/config.h"
#include "config/mcp_server.h"

static struct config *load(const char *text, const char *option, struct error *err)
{
	struct str user = str_of(text), overrides[] = {str_of(option)};
	auto_free char *cwd = path_join(temp_root, "repo");
	const struct config_source source = {
		.codex_home = temp_root,
		.system_file = "/nonexistent/config.toml",
		.cwd = cwd,
		.user_text = &user,
		.overrides = overrides,
		.override_count = option != NULL,
	};
	return config_load(&source, err);
}

static int set_up(void **state)
{
	int status = temp_make(state);
	temp_put("repo/.git/HEAD", STR("ref"));
	return status;
}

static void assert_refused(const char *text, const char *option, const char *expected)
{
	struct error err = {0};
	struct config *config = load(text, option, &err);
	if (config || !strstr(err.text, expected))
		fail_msg("got \"%s\", want \"…%s\"", err.text, expected);
}

static void the_keys_of_a_stdio_server_are_read(void **state)
{
	(void)state;
	struct error err;
	size_t count;
	auto_arena struct arena arena = {0};
	struct config *config =
		load("[mcp_servers.b]\ncommand = \"prog\"\nargs = [\"x\"]\nenv_vars = [\"ONE\", {name = "
	             "\"TWO\", source = \"local\"}]\ntool_timeout_sec = 1.5\nrequired = true\n"
	             "[mcp_servers.b.tools.t]\napproval_mode = \"approve\"\n[mcp_servers.a]\nurl = "
	             "\"http://h/\"\nstartup_timeout_ms = 20\n",
	             "mcp_servers.c.command=\"p\"", &err);
	assert_non_null(config);
	struct config_binder binder = config_binder(config, &arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	assert_int_equal(count, 3);
	assert_str(servers[0].name, "a");
	assert_int_equal(servers[0].transport, MCP_TRANSPORT_http);
	assert_int_equal(servers[0].startup_timeout_ms, 20);
	assert_int_equal(servers[0].tool_timeout_ms, 60000);
	assert_str(servers[1].name, "b");
	assert_int_equal(servers[1].transport, MCP_TRANSPORT_stdio);
	assert_int_equal(servers[1].startup_timeout_ms, 10000);
	assert_int_equal(servers[1].tool_timeout_ms, 1500);
	assert_true(servers[1].keys.required);
	assert_int_equal(servers[1].env_vars.count, 2);
	assert_str(servers[1].env_vars.items[1], "TWO");
	assert_str(servers[2].name, "c");
	config_unref(config);
}

static void mistakes_name_the_server_and_the_key(void **state)
{
	static const char *const rows[][2] = {
		{"command = \"p\"\nurl = \"http://h/\"", "`mcp_servers.s`: url is not supported for stdio"},
		{"enabled = false", "`mcp_servers.s`: invalid transport"},
		{"url = \"http://h/\"\nbearer_token = \"t\"", "`mcp_servers.s`: bearer_token is not supported"},
		{"command = \"p\"\nbearer_token_env_var = \"T\"", "bearer_token_env_var is not supported for stdio"},
		{"url = \"http://h/\"\nargs = []", "args is not supported for streamable_http"},
		{"command = \"p\"\nstartup_timeout_sec = \"10\"",
	         "`mcp_servers.s.startup_timeout_sec` must be a number"},
		{"command = \"p\"\ndefault_tools_approval_mode = \"maybe\"", "s.default_tools_approval_mode` must be"},
		{"command = \"p\"\ntools.t.approval_mode = \"maybe\"", "`mcp_servers.s.tools.t.approval_mode` must be"},
		{"command = \"p\"\nenv_vars = [{source = \"local\"}]", "env_vars must be a list of names"},
		{"command = \"p\"\nenv_vars = [{name = \"A\", source = \"remote\"}]", "env_vars must be a list"},
		{"command = \"\"", "`mcp_servers.s`: command is empty"},
	};
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		auto_free char *text = xasprintf("[mcp_servers.s]\n%s\n", rows[i][0]);
		assert_refused(text, NULL, rows[i][1]);
	}
	assert_refused("[mcp_servers.s]\ncommand = \"p\"\n", "mcp_servers.s.url=\"http://h/\"",
	               "-c: `mcp_servers.s`: url is not supported for stdio");
	assert_refused("[mcp_servers.s]\n\ncommand = \"p\"\nurl = \"http://h/\"\n", NULL, "config.toml:4: ");
}

/* Servers run outside the sandbox, so that a repository must not bring its own. */
static void a_project_may_only_disable_servers(void **state)
{
	(void)state;
	struct error err;
	size_t count;
	auto_arena struct arena arena = {0};
	auto_free char *user = xasprintf("[mcp_servers.own]\ncommand = \"p\"\n[mcp_servers.other]\ncommand = \"q\"\n"
	                                 "[projects.\"%s/repo\"]\ntrust_level = \"trusted\"\n",
	                                 temp_root);
	temp_put("repo/.codex/config.toml",
	         STR("mcp_oauth_callback_port = 1\n[mcp_servers.evil]\ncommand = \"rm\"\n[mcp_servers.own]\nenabled = "
	             "false\n[mcp_servers.other]\nenabled = false\ncommand = \"rm\"\n"));
	struct config *config = load(user, NULL, &err);
	assert_non_null(config);
	struct config_binder binder = config_binder(config, &arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	assert_int_equal(count, 2);
	assert_str(servers[0].name, "other");
	assert_true(servers[0].keys.enabled);
	assert_string_equal(servers[0].keys.command, "q");
	assert_str(servers[1].name, "own");
	assert_false(servers[1].keys.enabled);
	assert_int_equal(config->mcp_oauth_callback_port, 0);
	config_unref(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_keys_of_a_stdio_server_are_read, set_up, temp_remove),
		cmocka_unit_test_setup_teardown(mistakes_name_the_server_and_the_key, set_up, temp_remove),
		cmocka_unit_test_setup_teardown(a_project_may_only_disable_servers, set_up, temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
