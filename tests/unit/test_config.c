/* Configuration: precedence of layers, origin of values, invalid values and their errors. */
#include "temp.h"

#include "base/limits.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_key.h"
#include "config/config_narrow.h"

/* Each test has its own home and repository. */
struct place {
	char *root, *home, *repo, *sub;
};

static void write_file(const char *dir, const char *name, const char *text)
{
	auto_free char *path = path_join(dir, name);
	temp_put(path + strlen(temp_root) + 1, str_of(text));
}

static int set_up(void **state)
{
	if (temp_make(NULL) != 0)
		return -1;
	struct place *p = xnew(struct place);
	p->root = xstrdup(temp_root);
	p->home = path_join(p->root, "home");
	p->repo = path_join(p->root, "repo");
	p->sub = path_join(p->repo, "a/b");
	assert_int_equal(dir_make(p->home, 0700, NULL), 0);
	assert_int_equal(dir_make(p->sub, 0700, NULL), 0);
	write_file(p->repo, ".git/HEAD", "ref");
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;
	free(p->root);
	free(p->home);
	free(p->repo);
	free(p->sub);
	free(p);
	return temp_remove(NULL);
}

static struct config_source source_of(const struct place *p)
{
	return (struct config_source){.codex_home = p->home, .system_file = "/nonexistent/config.toml", .cwd = p->sub};
}

static struct config *load(const struct config_source *source)
{
	struct error err = {0};
	struct config *config = config_load(source, &err);
	if (!config)
		fail_msg("%s", err.text);
	return config;
}

static struct config *load_with(const struct place *p, const char *user_file)
{
	write_file(p->home, "config.toml", user_file);
	struct config_source source = source_of(p);
	return load(&source);
}

/* Returns the error message without the temporary folder. */
static const char *failure(const struct config_source *source)
{
	static struct error err;
	err = (struct error){0};
	struct config *config = config_load(source, &err);
	config_unref(config);
	assert_null(config);
	return err.text;
}

static void assert_fails(const struct place *p, const char *user_file, const char *expected)
{
	write_file(p->home, "config.toml", user_file);
	struct config_source source = source_of(p);
	const char *text = failure(&source);
	if (!strstr(text, expected))
		fail_msg("got \"%s\", want \"…%s\"", text, expected);
}

static size_t warning_count(const struct config *config)
{
	size_t count;
	config_warnings(config, &count);
	return count;
}

static bool has_warning(const struct config *config, const char *part)
{
	size_t count;
	const char *const *warnings = config_warnings(config, &count);
	for (size_t i = 0; i < count; i++)
		if (strstr(warnings[i], part))
			return true;
	return false;
}

static void defaults_without_any_file(void **state)
{
	struct place *p = *state;
	struct config_source source = source_of(p);
	struct config *c = load(&source);
	assert_null(c->model);
	assert_string_equal(c->model_provider, "openai");
	assert_int_equal(c->approval_policy->tag, ask_for_approval_on_request);
	assert_int_equal(c->sandbox_mode, sandbox_mode_read_only);
	assert_int_equal(c->project_doc_max_bytes, 32768);
	assert_int_equal(c->project_root_markers.count, 1);
	assert_str(c->project_root_markers.items[0], ".git");
	assert_true(c->shell_environment_policy.ignore_default_excludes);
	assert_true(c->features.unified_exec);
	assert_true(c->debug.clock_scale == 1);
	assert_false(c->is_set.model_provider);
	assert_null(config_find(c, "model_provider"));
	assert_int_equal(warning_count(c), 0);
	assert_string_equal(config_binder(c, NULL).cwd, p->sub);
	assert_string_equal(config_home(c), p->home);
	config_unref(c);
}

static void a_policy_may_be_a_table(void **state)
{
	struct place *p = *state;
	struct config *c = load_with(p, "[approval_policy.granular]\n"
	                                "sandbox_approval = true\nrules = false\nmcp_elicitations = true\n");
	assert_int_equal(c->approval_policy->tag, ask_for_approval_granular);
	assert_true(c->approval_policy->granular->sandbox_approval);
	assert_false(c->approval_policy->granular->rules);
	assert_false(c->approval_policy->granular->skill_approval);
	config_unref(c);
	c = load_with(p, "approval_policy = { reject = { rules = true } }\n");
	assert_int_equal(c->approval_policy->tag, ask_for_approval_reject);
	assert_true(c->approval_policy->reject->rules);
	config_unref(c);
}

static void every_kind_of_value_is_taken(void **state)
{
	struct place *p = *state;
	struct config *c = load_with(p, "model = \"m\"\n"
	                                "model_context_window = 1_000\n"
	                                "hide_agent_reasoning = true\n"
	                                "approval_policy = \"never\"\n"
	                                "notify = [\"say\", \"done\"]\n"
	                                "model_instructions_file = \"prompt.md\"\n"
	                                "debug.clock_scale = 0.5\n"
	                                "[sandbox_workspace_write]\n"
	                                "writable_roots = [\"/abs/../x\", \"~/y\", \"z\"]\n"
	                                "[shell_environment_policy]\n"
	                                "inherit = \"core\"\n"
	                                "set = { A = \"1\", B = \"\" }\n"
	                                "[features]\n"
	                                "unified_exec = false\n"
	                                "multi_agent = { max = 3, enabled = true }\n"
	                                "[model_providers.x]\n"
	                                "name = \"X\"\n");
	auto_free char *prompt = path_join(p->home, "prompt.md");
	auto_free char *inner = path_join(p->home, "z");
	auto_free char *own = path_join(getenv("HOME"), "y");
	assert_string_equal(c->model, "m");
	assert_int_equal(c->model_context_window, 1000);
	assert_true(c->hide_agent_reasoning);
	assert_int_equal(c->approval_policy->tag, ask_for_approval_never);
	assert_int_equal(c->notify.count, 2);
	assert_str(c->notify.items[1], "done");
	assert_string_equal(c->model_instructions_file, prompt);
	assert_true(c->debug.clock_scale == 0.5);
	assert_int_equal(c->sandbox_workspace_write.writable_roots.count, 3);
	assert_str(c->sandbox_workspace_write.writable_roots.items[0], "/x");
	assert_string_equal(c->sandbox_workspace_write.writable_roots.items[1].ptr, own);
	assert_string_equal(c->sandbox_workspace_write.writable_roots.items[2].ptr, inner);
	assert_int_equal(c->shell_environment_policy.inherit, env_inherit_core);
	assert_int_equal(c->shell_environment_policy.set.count, 2);
	assert_str(c->shell_environment_policy.set.items[0].key, "A");
	assert_str(c->shell_environment_policy.set.items[0].value, "1");
	assert_false(c->features.unified_exec);
	assert_true(c->features.multi_agent);
	assert_true(c->is_set.sandbox_workspace_write);
	assert_true(c->sandbox_workspace_write.is_set.writable_roots);
	assert_false(c->sandbox_workspace_write.is_set.network_access);
	assert_int_equal(c->model_providers->count, 1);
	assert_int_equal(warning_count(c), 0);
	config_unref(c);
}

static void wrong_types_name_file_line_and_key(void **state)
{
	struct place *p = *state;
	static const struct {
		const char *file, *message;
	} rows[] = {
		{"\nmodel = 3", "config.toml:2: `model` must be a string, not an integer"},
		{"sandbox_mode = \"open\"", ":1: `sandbox_mode` must be one of `read-only`, "},
		{"sandbox_mode = \"open\"", ", not `open`"},
		{"approval_policy = true", "not a boolean"},
		{"approval_policy = \"sometimes\"",
	         "`approval_policy` must be on-request, untrusted, on-failure or never, or "},
		{"approval_policy = \"sometimes\"", "or a table granular or reject; not `sometimes`"},
		{"approval_policy = { gran = 1 }", "reject; not a table `gran`"},
		{"approval_policy = { granular = { rules = 1 } }", "`approval_policy` must be on-request, "},
		{"approval_policy = { granular = { rules = true } }", "missing field `sandbox_approval`"},
		{"[approval_policy.granular]", "missing field `sandbox_approval`"},
		{"[sandbox_workspace_write]\nnetwork_access = \"yes\"",
	         "config.toml:2: `sandbox_workspace_write.network_access` must be true or false, not a string"},
		{"sandbox_workspace_write = 1", "`sandbox_workspace_write` must be a table, not an integer"},
		{"notify = \"x\"", "`notify` must be a list of strings, not a string"},
		{"notify = [\n\"x\",\n1]", "config.toml:3: `notify` must be a list of strings, not an integer"},
		{"tool_output_token_limit = 0", "`tool_output_token_limit` must be between 1 and 2147483647, not 0"},
		{"model_context_window = -1", "`model_context_window` must be at least 1, not -1"},
		{"debug.clock_scale = nan", "`debug.clock_scale` must be between 0.001 and 100000, not nan"},
		{"shell_environment_policy.set = { A = 1 }", "`shell_environment_policy.set.A` must be a string"},
		{"[model_providers.x]\nwire_api = \"soap\"",
	         "`model_providers.x.wire_api` must be one of `responses`, `chat`, `messages`, not `soap`"},
		{"model_providers.x = 1", "`model_providers.x` must be a table"},
		{"[profiles.p]\n\nmodel = []", "config.toml:3: `profiles.p.model` must be a string, not an array"},
		{"projects.\"/x\".trust_level = \"yes\"", "`projects./x.trust_level` must be `trusted` or `untrusted`"},
		{"features.undo = 1", "`features.undo` must be true, false or a table"},
		{"tui = 1", "`tui` must be a table, not an integer"},
		{"permissions = 1", "config.toml:1: `permissions` must be a table"},
		{"permissions.x = 1", "`permissions.x` must be a table"},
		{"permissions.x.filesystem = 1", "`permissions.x.filesystem` must be a table"},
		{"permissions.x.extends = 1", "`permissions.x.extends` must be a string"},
		{"permissions.x.filesystem.\"/a\" = 1",
	         "`permissions.x.filesystem./a` must be a string or a table of strings"},
		{"[permissions.x.filesystem]\n\":cwd\" = { \".\" = 1 }",
	         "config.toml:2: `permissions.x.filesystem.:cwd..` must be a string, not an integer"},
		{"permissions.x.network.enabled = \"yes\"",
	         "config.toml:1: `permissions.x.network.enabled` must be true or false, not a string"},
		{"permissions.x.network.domains = []", "`permissions.x.network.domains` must be a table, not an array"},
		{"permissions.x.workspace_roots = [\"a\"]",
	         "`permissions.x.workspace_roots` must be a table of booleans, not an array"},
		{"permissions.x.filesystem.glob_scan_max_depth = \"read\"",
	         "`permissions.x.filesystem.glob_scan_max_depth` must be an integer from 0 on, not a string"},
		{"permissions.x.filesystem.glob_scan_max_depth = -1", "must be an integer from 0 on, not -1"},
		{"permissions.x.filesystem.\"/a\" = \"Read\"",
	         "`permissions.x.filesystem./a` must be one of these words: read write deny none, not `Read`"},
		{"permissions.x.filesystem.\"/a\" = { b = \"all\" }", "read write deny none, not `all`"},
		{"permissions.x.filesystem.\"/a\" = 2026-01-01", "read write deny none, not `2026-01-01`"},
		{"permissions.x.network.domains.a = 1", "`permissions.x.network.domains.a` must be a string"},
		{"permissions.x.network.domains.a = \"none\"", "must be one of these words: allow deny, not `none`"},
		{"permissions.x.network.unix_sockets.\"/a\" = \"none\"", "allow deny, not `none`"},
		{"permissions.x.network.mode = 1", "`permissions.x.network.mode` must be a string"},
		{"permissions.x.network.mode = \"off\"", "must be one of these words: limited full, not `off`"},
		{"permissions.x.network.allow_local_binding = \"x\"", "allow_local_binding` must be true or false"},
		{"permissions.x.network.proxy_url = true", "`permissions.x.network.proxy_url` must be a string"},
		{"permissions.x.network.mitm.hooks = 1", "`permissions.x.network.mitm.hooks` must be a table"},
		{"model_context_window = 2026-01-01", "`model_context_window` must be an integer, not a string"},
		{"sandbox_mode = 2026-01-01", "danger-full-access`, `external-sandbox`, not `2026-01-01`"},
		{"tui.notifications = 2026-01-01", "`tui.notifications` must be true, false or a list of strings"},
		{"permissions.x.network.mitm = { hocks = {} }",
	         "`permissions.x.network.mitm.hocks` must be one of these words: version hooks actions, not `hocks`. "
	         "Did you "
	         "mean `hooks`?"},
		{"permissions.x.network.mitm.hooks.a = 1", "`permissions.x.network.mitm.hooks.a` must be a table"},
		{"permissions.x.network.mitm.hooks.a = { host = \"b\", path = 1 }",
	         "`permissions.x.network.mitm.hooks.a.path` must be one of these words: host methods path_prefixes "},
		{"permissions.x.network.mitm.hooks.a = { methods = [], path_prefixes = [], action = [] }",
	         "`permissions.x.network.mitm.hooks.a` must be a table with `host`, not one without it"},
		{"permissions.x.network.mitm.hooks.a = { host = \"b\", path_prefixes = [], action = [] }",
	         "must be a table with `methods`, not"},
		{"permissions.x.network.mitm.hooks.a = { host = \"b\", methods = [], action = [] }",
	         "must be a table with `path_prefixes`, not"},
		{"permissions.x.network.mitm.hooks.a = { host = \"b\", methods = [], path_prefixes = [] }",
	         "must be a table with `action`, not"},
		{"permissions.x.network.mitm.hooks.a = { host = 1 }", "hooks.a.host` must be a string"},
		{"permissions.x.network.mitm.hooks.a = { methods = \"GET\" }",
	         "hooks.a.methods` must be a list of strings"},
		{"permissions.x.network.mitm.hooks.a = { query = 1 }", "hooks.a.query` must be a table"},
		{"permissions.x.network.mitm.actions.a = { strip_request_headers = \"a\" }",
	         "actions.a.strip_request_headers` must be a list of strings"},
		{"tui.model_availability_nux.a = 4294967296",
	         "`tui.model_availability_nux.a` must be an integer from 0 to 4294967295, not 4294967296"},
		{"permissions.x.network.mitm.actions.a = { inject = 1 }",
	         "mitm.actions.a.inject` must be one of these words"},
		{"[tui]\ntheme = 1", "config.toml:2: `tui.theme` must be a string, not an integer"},
		{"tui.status_line = [\"a\", 1]", "`tui.status_line` must be a list of strings, not an integer"},
		{"tui.keymap.composer = 1", "`tui.keymap.composer` must be a table"},
		{"tui.keymap.composer.submit = 1",
	         "`tui.keymap.composer.submit` must be the name of a key or a list of such names, not an integer"},
		{"tui.keymap.composer.submit = [\"enter\", 1]", "a list of such names, not an integer"},
		{"tui.keymap.composer.submit = [\"enter\", \"zzz\"]",
	         "must be the name of a key, not `zzz`; names are"},
		{"tui.keymap.composer.submit = \"ctrl-zzz\"",
	         "submit` must be the name of a key or a list of such names, not"},
		{"permissions.x.workspace_roots.\"/a\" = 1",
	         "`permissions.x.workspace_roots./a` must be true or false"},
		{"marketplaces = 1", "`marketplaces` must be a table"},
		{"marketplaces.x = 1", "`marketplaces.x` must be a table"},
		{"[marketplaces.x]\n\nsource = 1",
	         "config.toml:3: `marketplaces.x.source` must be a string, not an integer"},
		{"marketplaces.x.source_type = []", "`marketplaces.x.source_type` must be a string"},
		{"marketplaces.x.source_type = \"npm\"",
	         ":1: `marketplaces.x.source_type` must be one of these words: git local, not `npm`"},
		{"marketplaces.x.source_type = 2026-01-01",
	         "`marketplaces.x.source_type` must be one of these words: git local, not `2026-01-01`"},
		{"marketplaces.x.last_updated = 1", "`marketplaces.x.last_updated` must be a string, not an integer"},
		{"marketplaces.x.sparse_paths = \"a\"", "`marketplaces.x.sparse_paths` must be a list of strings"},
		{"marketplaces.x.sparse_paths = [1]",
	         "`marketplaces.x.sparse_paths` must be a list of strings, not an integer"},
		{"hooks.state = 1", "`hooks`: `state` must be a table"},
		{"hooks.state.x = 1", "`hooks`: `x` must be a table"},
		{"otel = 1", "config.toml:1: `otel` must be a table"},
		{"model_instructions_file = \"\"", "`model_instructions_file` must be a path, not empty"},
		{"model = \"a\\u0000b\"", "`model` must be text, not text with a NUL character"},
		{"model = ", "config.toml:1:9: expected a value"},
	};
	for (size_t i = 0; i < countof(rows); i++)
		assert_fails(p, rows[i].file, rows[i].message);
}

static void nested_values_that_codex_accepts_load(void **state)
{
	struct place *p = *state;
	config_unref(load_with(p,
	                       "[permissions.x]\ndescription = 2026-01-01\nanything = 1\n"
	                       "[permissions.x.workspace_roots]\n\"/a\" = true\n"
	                       "[permissions.x.filesystem]\nglob_scan_max_depth = 3\n\"/a\" = \"none\"\n"
	                       "\"/b\" = { \".\" = \"write\", c = \"deny\" }\n"
	                       "[permissions.x.network]\nmode = \"full\"\nenable_socks5 = true\nmitm = { hooks = {} }\n"
	                       "domains = { a = \"allow\" }\nunix_sockets = { \"/a\" = \"deny\" }\nanything = 1\n"
	                       "[marketplaces.x]\nsource_type = \"git\"\nsource = \"https://a.example/b\"\n"
	                       "last_updated = 2026-01-01T00:00:00Z\nlast_revision = 12:00:00\nanything = 1\n"
	                       "[tui]\ntheme = 2026-01-01\nnotifications = [2026-01-01]\nanything = 1\n"
	                       "[tui.keymap.composer]\nsubmit = \"ctrl-x\"\nqueue = [\"enter\", \"f24\"]\n"
	                       "[tui.presets.1]\ninput = 2026-01-01\nanything = 1\n"
	                       "[permissions.y.network.mitm]\nversion = 1\nactions.a.aws_sigv4 = {}\n"
	                       "hooks.a = { host = \"b\", methods = [], path_prefixes = [], action = [], body = 1 }\n"
	                       "[tui.model_availability_nux]\na = 4294967295\n"
	                       "[marketplaces.y]\nref = 2026-01-01T00:00:00\nsparse_paths = [\"a\", 2026-01-01]\n"));
}

static void a_date_is_text_where_text_is_read(void **state)
{
	struct place *p = *state;
	struct config *c = load_with(p, "model = 2026-01-01\ndeveloper_instructions = 12:00:00.5\n"
	                                "notify = [\"a\", 2026-01-01T01:02:03Z]\n"
	                                "shell_environment_policy.set = { A = 2026-01-01T01:02:03 }\n"
	                                "[mcp_servers.m]\ncommand = 2026-01-01\nenabled = false\n");
	assert_string_equal(c->model, "2026-01-01");
	assert_string_equal(c->developer_instructions, "12:00:00.500000000");
	assert_true(str_is(c->notify.items[1], "2026-01-01T01:02:03Z"));
	assert_true(str_is(c->shell_environment_policy.set.items[0].value, "2026-01-01T01:02:03"));
	config_unref(c);
}

/* The verdicts are those of codex 0.169, except for names that only this program has. */
static void names_of_keys_are_read(void **state)
{
	static const struct {
		const char *text, *name;
		unsigned mods;
	} rows[] = {
		{"enter", "enter", 0},
		{"Return", "enter", 0},
		{"esc", "escape", 0},
		{"del", "delete", 0},
		{"page-up", "pageup", 0},
		{"PgUp", "pageup", 0},
		{"page_down", "pagedown", 0},
		{"back-tab", "backtab", 0},
		{"f1", "f1", 0},
		{"f24", "f24", 0},
		{"space", "space", 0},
		{"minus", "minus", 0},
		{"a", "a", 0},
		{"A", "A", 0},
		{"\xc3\xa4", "\xc3\xa4", 0},
		{"-", "-", 0},
		{"/", "/", 0},
		{" ctrl-x ", "x", CONFIG_KEY_ctrl},
		{"Ctrl-X", "x", CONFIG_KEY_ctrl},
		{"ctrl--", "-", CONFIG_KEY_ctrl},
		{"control-alt-x", "x", CONFIG_KEY_ctrl | CONFIG_KEY_alt},
		{"option-shift-super-home", "home", CONFIG_KEY_alt | CONFIG_KEY_shift | CONFIG_KEY_super},
		{"cmd-x", "x", CONFIG_KEY_super},
	};
	static const char *const wrong[] = {"",
	                                    " ",
	                                    "zzz",
	                                    "f0",
	                                    "f25",
	                                    "f01",
	                                    "f1x",
	                                    "ctrl-",
	                                    "ctrl+x",
	                                    "meta-x",
	                                    "plus",
	                                    "ctrl-ctrl-x",
	                                    "ctrl-control-x",
	                                    "pageupp",
	                                    "enterenterenter",
	                                    "\x01",
	                                    "\xff",
	                                    "a b",
	                                    "\xc3\xa4\xc3\xa4",
	                                    "-a-"};
	struct config_key key;
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		if (!config_key_read(str_of(rows[i].text), &key) || strcmp(key.name, rows[i].name) != 0)
			fail_msg("%s: %s", rows[i].text, key.name);
		assert_int_equal(key.mods, rows[i].mods);
	}
	for (size_t i = 0; i < countof(wrong); i++)
		if (config_key_read(str_of(wrong[i]), &key))
			fail_msg("%s is read as %s", wrong[i], key.name);
	assert_false(config_key_read(STR("a\0b"), &key));
}

static void unknown_keys_are_one_warning_a_file(void **state)
{
	struct place *p = *state;
	struct config *c = load_with(p, "modell = \"x\"\n[tui]\nanything = 1\n[features]\nwarp = true\n");
	assert_int_equal(warning_count(c), 1);
	assert_true(has_warning(
		c, "config.toml: unknown settings are ignored: `modell` (line 1), `features.warp` (line 5)"));
	config_unref(c);
}

static void a_profile_is_not_warned_about_twice(void **state)
{
	struct place *p = *state;
	struct config *c = load_with(p, "profile = \"p\"\n[profiles.p]\nnope = 1\n");
	assert_int_equal(warning_count(c), 1);
	assert_true(has_warning(c, "ignored: `nope` (line 3)") ||
	            has_warning(c, "ignored: `profiles.p.nope` (line 3)"));
	config_unref(c);
}

static void endless_unknown_keys_stay_short(void **state)
{
	struct place *p = *state;
	auto_buf struct buf file;
	buf_init(&file, LIMIT_CONFIG_FILE);
	for (int i = 0; i < 5000; i++)
		buf_printf(&file, "unknown_%d = 1\n", i);
	struct config *c = load_with(p, file.data);
	assert_int_equal(warning_count(c), 1);
	assert_true(has_warning(c, "`unknown_19` (line 20) and "));
	config_unref(c);
}

static void layers_win_in_order(void **state)
{
	struct place *p = *state;
	auto_free char *system_file = path_join(p->root, "system.toml");
	auto_free char *user = xasprintf("model = \"user\"\nreview_model = \"user\"\n[projects.\"%s\"]\n"
	                                 "trust_level = \"trusted\"\n"
	                                 "[profiles.p]\nmodel = \"profile\"\ninstructions = \"profile\"\n"
	                                 "sandbox_workspace_write.network_access = true\n",
	                                 p->repo);
	write_file(p->root, "system.toml", "model = \"system\"\noss_provider = \"system\"\n");
	write_file(p->home, "config.toml", user);
	write_file(p->repo, ".codex/config.toml",
	           "instructions = \"repo\"\ndeveloper_instructions = \"repo\"\n"
	           "[sandbox_workspace_write]\nexclude_slash_tmp = true\n");
	write_file(p->sub, ".codex/config.toml",
	           "developer_instructions = \"sub\"\ncompact_prompt = \"sub\"\n"
	           "model_instructions_file = \"x.md\"\n");
	static const struct str overrides[] = {{"compact_prompt=option", 21}, {"model_verbosity=low", 19}};
	static const struct config_flag flags[] = {{"--verbosity", "model_verbosity", {"high", 4}}};
	struct config_source source = source_of(p);
	source.system_file = system_file;
	source.profile = "p";
	source.overrides = overrides;
	source.override_count = 2;
	source.flags = flags;
	source.flag_count = 1;
	struct config *c = load(&source);
	assert_string_equal(c->oss_provider, "system");
	assert_string_equal(c->model, "profile");
	assert_string_equal(c->instructions, "repo");
	assert_string_equal(c->developer_instructions, "sub");
	assert_string_equal(c->compact_prompt, "option");
	assert_int_equal(c->model_verbosity, verbosity_high);
	assert_true(c->sandbox_workspace_write.network_access);
	assert_true(c->sandbox_workspace_write.exclude_slash_tmp);
	assert_string_equal(config_profile(c), "p");
	auto_free char *inner = path_join(p->sub, ".codex/x.md");
	assert_string_equal(c->model_instructions_file, inner);

	auto_free char *sub_file = path_join(p->sub, ".codex/config.toml");
	const struct toml *origin = config_find(c, "developer_instructions");
	assert_string_equal(origin->source, sub_file);
	assert_int_equal(origin->line, 1);
	assert_string_equal(config_find(c, "compact_prompt")->source, "-c");
	assert_string_equal(config_find(c, "model_verbosity")->source, "--verbosity");
	assert_int_equal(config_find(c, "sandbox_workspace_write.network_access")->line, 8);
	config_unref(c);
}

static void profiles_come_from_tables_files_and_both(void **state)
{
	struct place *p = *state;
	write_file(p->home, "p.config.toml", "model = \"file\"\n");
	struct config *c = load_with(
		p, "profile = \"p\"\nmodel = \"user\"\n[profiles.p]\nmodel = \"table\"\ninstructions = \"table\"\n");
	assert_string_equal(c->model, "file");
	assert_string_equal(c->instructions, "table");
	config_unref(c);

	struct config_source source = source_of(p);
	static const struct str override = {"profile=q", 9};
	source.overrides = &override;
	source.override_count = 1;
	assert_non_null(strstr(failure(&source), "config profile `q` not found: there is neither [profiles.q] in "));
	source.override_count = 0;
	source.profile = "../p";
	assert_non_null(strstr(failure(&source), "invalid profile name '../p'"));
}

/* Returns the trust level, derived from its effects. */
static enum trust_level trust_of(const struct config *c)
{
	if (config_trusts_folder(c, config_binder(c, NULL).cwd))
		return trust_level_trusted;
	return c->approval_policy->tag == ask_for_approval_untrusted ? trust_level_untrusted : trust_level_unset;
}

static void projects_count_only_when_trusted(void **state)
{
	struct place *p = *state;
	write_file(p->repo, ".codex/config.toml", "model = \"repo\"\n");
	write_file(p->sub, ".codex/config.toml", "this is not even toml");
	struct config *c = load_with(p, "model = \"user\"\n");
	auto_free char *warning =
		xasprintf("%s/.codex/config.toml is ignored because this project is not trusted; to "
	                  "apply it, add [projects.\"%s\"] with trust_level = \"trusted\" to %s/config.toml",
	                  p->repo, p->repo, p->home);
	assert_string_equal(c->model, "user");
	assert_int_equal(warning_count(c), 1);
	assert_true(has_warning(c, warning));
	assert_int_equal(trust_of(c), trust_level_unset);
	config_unref(c);

	auto_free char *untrusted = xasprintf("projects.\"%s\".trust_level = \"untrusted\"", p->repo);
	c = load_with(p, untrusted);
	assert_null(c->model);
	assert_int_equal(warning_count(c), 0);
	assert_int_equal(trust_of(c), trust_level_untrusted);
	assert_int_equal(c->approval_policy->tag, ask_for_approval_untrusted);
	assert_int_equal(c->sandbox_mode, sandbox_mode_workspace_write);
	config_unref(c);

	auto_free char *trusted = xasprintf("projects.\"%s\".trust_level = \"trusted\"", p->repo);
	assert_fails(p, trusted, "a/b/.codex/config.toml:1:6: expected `=` after the key");
}

static void the_nearest_entry_decides_about_trust(void **state)
{
	struct place *p = *state;
	write_file(p->repo, ".codex/config.toml", "model = \"repo\"\n");
	write_file(p->sub, ".codex/config.toml", "model = \"sub\"\n");
	auto_free char *user = xasprintf(
		"[projects.\"%s\"]\ntrust_level = \"trusted\"\n[projects.\"%s\"]\ntrust_level = \"untrusted\"\n",
		p->repo, p->sub);
	struct config *c = load_with(p, user);
	assert_string_equal(c->model, "repo");
	assert_int_equal(trust_of(c), trust_level_untrusted);
	config_unref(c);
}

static void a_linked_worktree_is_trusted_with_its_repository(void **state)
{
	struct place *p = *state;
	auto_free char *tree = path_join(p->root, "tree");
	auto_free char *pointer = xasprintf("gitdir: %s/.git/worktrees/tree\n", p->repo);
	auto_free char *back = xasprintf("%s/.git\n", tree);
	auto_free char *user = xasprintf("projects.\"%s\".trust_level = \"trusted\"", p->repo);
	write_file(tree, ".git", pointer);
	write_file(tree, ".codex/config.toml", "model = \"tree\"\n");
	write_file(p->home, "config.toml", user);
	struct config_source source = source_of(p);
	source.cwd = tree;
	struct config *c = load(&source); /* only the tree contains it at this point */
	assert_null(c->model);
	assert_int_equal(trust_of(c), trust_level_unset);
	config_unref(c);

	write_file(p->repo, ".git/worktrees/tree/gitdir", back);
	c = load(&source);
	assert_string_equal(c->model, "tree");
	assert_int_equal(trust_of(c), trust_level_trusted);
	config_unref(c);
}

static void a_trusted_project_works_in_its_folder(void **state)
{
	struct place *p = *state;
	auto_free char *option = xasprintf("projects.\"%s\".trust_level=\"trusted\"", p->repo);
	struct str override = str_of(option);
	struct config_source source = source_of(p);
	source.overrides = &override;
	source.override_count = 1;
	struct config *c = load(&source);
	assert_int_equal(c->sandbox_mode, sandbox_mode_workspace_write);
	assert_int_equal(c->approval_policy->tag, ask_for_approval_on_request);
	config_unref(c);
}

static void a_project_may_not_redirect_the_user(void **state)
{
	struct place *p = *state;
	auto_free char *user = xasprintf("model_provider = \"mine\"\n[projects.\"%s\"]\ntrust_level = \"trusted\"\n"
	                                 "[model_providers.mine]\nname = \"M\"\n",
	                                 p->repo);
	write_file(p->repo, ".codex/config.toml",
	           "model = \"repo\"\nmodel_provider = \"evil\"\nnotify = [\"rm\"]\nopenai_base_url = \"http://evil\"\n"
	           "[model_providers.evil]\nname = \"E\"\n[projects.\"/\"]\ntrust_level = \"trusted\"\n");
	struct config *c = load_with(p, user);
	assert_string_equal(c->model, "repo");
	assert_string_equal(c->model_provider, "mine");
	assert_null(c->openai_base_url);
	assert_int_equal(c->notify.count, 0);
	assert_null(config_find(c, "model_providers.evil"));
	assert_int_equal(warning_count(c), 5);
	assert_true(has_warning(c, ".codex/config.toml:3: `notify` is ignored: a project may not set it"));
	config_unref(c);
}

/* Loads a user's file and a project's file. */
static struct config *load_wide(const struct place *p, const char *user, const char *project, const char *hash)
{
	auto_free char *text = xasprintf("%s\n[projects.\"%s\"]\ntrust_level = \"trusted\"\n"
	                                 "trusted_hashes = [\"%s\"]\n",
	                                 user, p->repo, hash);
	write_file(p->sub, ".codex/config.toml", project);
	return load_with(p, text);
}

#define WIDE                                                                                             \
	"sandbox_mode = \"danger-full-access\"\napproval_policy = \"never\"\nallow_login_shell = true\n" \
	"[sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = [\"/etc\", \"/opt\"]\n"      \
	"exclude_slash_tmp = false\nexclude_tmpdir_env_var = false\n"                                    \
	"[shell_environment_policy]\nset = { PATH = \"/evil\" }\n"

static void a_project_may_not_widen_what_commands_may_do(void **state)
{
	struct place *p = *state;
	const char *user = "approval_policy = \"untrusted\"\nallow_login_shell = false\nsandbox_workspace_write = "
			   "{ writable_roots = [\"/opt\"], exclude_slash_tmp = true, exclude_tmpdir_env_var = true }";
	struct config *c = load_wide(p, user, WIDE, "");
	assert_int_equal(c->sandbox_mode, sandbox_mode_workspace_write);
	assert_int_equal(c->approval_policy->tag, ask_for_approval_untrusted);
	assert_false(c->allow_login_shell);
	assert_false(c->sandbox_workspace_write.network_access);
	assert_int_equal(c->sandbox_workspace_write.writable_roots.count, 1);
	assert_true(c->sandbox_workspace_write.exclude_slash_tmp);
	assert_true(c->sandbox_workspace_write.exclude_tmpdir_env_var);
	assert_int_equal(c->shell_environment_policy.set.count, 0);
	assert_int_equal(warning_count(c), 8);
	assert_true(has_warning(c, "config.toml:1: `sandbox_mode` is ignored: a project may not allow more"));
	config_unref(c);

	c = load_wide(p, "sandbox_mode = \"read-only\"", "sandbox_mode = \"workspace-write\"\n", "");
	assert_int_equal(c->sandbox_mode, sandbox_mode_read_only);
	config_unref(c);
}

static void a_project_may_narrow_what_commands_may_do(void **state)
{
	struct place *p = *state;
	const char *user = "sandbox_mode = \"danger-full-access\"\n"
			   "[sandbox_workspace_write]\nnetwork_access = true\n"
			   "writable_roots = [\"/opt\", \"/etc\"]";
	struct config *c = load_wide(p, user,
	                             "sandbox_mode = \"workspace-write\"\napproval_policy = \"never\"\n"
	                             "[sandbox_workspace_write]\nnetwork_access = false\nexclude_slash_tmp = true\n"
	                             "writable_roots = [\"/opt\"]\n",
	                             "");
	assert_int_equal(warning_count(c), 0);
	assert_int_equal(c->sandbox_mode, sandbox_mode_workspace_write);
	assert_int_equal(c->approval_policy->tag, ask_for_approval_never);
	assert_false(c->sandbox_workspace_write.network_access);
	assert_true(c->sandbox_workspace_write.exclude_slash_tmp);
	assert_int_equal(c->sandbox_workspace_write.writable_roots.count, 1);
	config_unref(c);
}

struct widening {
	const char *user, *project, *ignored; /* ignored NULL: the project's value is used */
};

static void check_widening(const struct place *p, const struct widening *row)
{
	struct config *c = load_wide(p, row->user, row->project, "");
	assert_int_equal(warning_count(c), row->ignored ? 1 : 0);
	if (row->ignored) {
		auto_free char *warning = xasprintf("`%s` is ignored: a project may not allow more", row->ignored);
		assert_true(has_warning(c, warning));
	}
	config_unref(c);
}

static void a_project_may_not_widen_what_the_model_may_do(void **state)
{
	static const struct widening rows[] = {
		{"", "web_search = \"live\"", "web_search"},
		{"", "web_search = \"cached\"", NULL},
		{"model_provider = \"mine\"", "web_search = \"cached\"", "web_search"},
		{"web_search = \"disabled\"", "web_search = \"cached\"", "web_search"},
		{"web_search = \"disabled\"", "web_search = \"\"", "web_search"},
		{"web_search = \"live\"", "web_search = \"disabled\"", NULL},
		{"tools.web_search = false", "web_search = \"cached\"", "web_search"},
		{"tools.web_search = true", "web_search = \"live\"", NULL},
		{"", "tools.web_search = true", "tools.web_search"},
		{"", "tools.web_search = { enabled = true }", "tools.web_search"},
		{"", "tools.web_search = false", NULL},
		{"tools.web_search = { enabled = true, allowed_domains = [\"a\"] }", "tools.web_search = false", NULL},
		{"web_search = \"live\"", "tools.web_search = true", NULL},
		{"collaboration_mode = \"plan\"", "collaboration_mode = \"default\"", "collaboration_mode"},
		{"", "collaboration_mode = \"plan\"", NULL},
		{"features.shell_tool = false", "features.shell_tool = true", "features.shell_tool"},
		{"features.shell_tool = false", "features.shell_tool = {}", "features.shell_tool"},
		{"features.shell_tool = true", "features.shell_tool = false", NULL},
		{"tools.view_image = false", "tools.view_image = true", "tools.view_image"},
		{"", "features.subagent_tools = true", NULL},
		{"features.multi_agent = true", "features.collab = true", NULL},
		{"features.multi_agent = false", "features.collab = true", "features.collab"},
		{"features.multi_agent = false", "features.collab = false", NULL},
		{"features.multi_agent = { enabled = false }", "features.subagent_tools = true",
	         "features.subagent_tools"},
		{"features = { multi_agent = false, collab = true }", "features.collab = true", NULL},
		{"agents.max_depth = 0", "agents.max_depth = 1", "agents.max_depth"},
		{"agents.max_depth = 2", "agents.max_depth = 1", NULL},
		{"", "agents.max_depth = 5", NULL},
		{"agents.max_threads = 1", "agents.max_threads = 2", "agents.max_threads"},
		{"agents.max_threads = 1", "max_active_subagents = 2", "max_active_subagents"},
		{"max_active_subagents = 1", "max_active_subagents = 2", "max_active_subagents"},
		{"max_active_subagents = 2", "max_active_subagents = 1", NULL},
		{"", "max_active_subagents = 20", NULL},
		{"project_doc_max_bytes = 0", "project_doc_max_bytes = 1", "project_doc_max_bytes"},
		{"project_doc_max_bytes = 2", "project_doc_max_bytes = 1", NULL},
		{"history.persistence = \"none\"", "history.persistence = \"save-all\"", "history.persistence"},
		{"history.persistence = \"none\"", "history.persistence = \"\"", "history.persistence"},
		{"", "history.persistence = \"none\"", NULL},
		{"", "skills.extra_roots = [\"/opt\"]", "skills.extra_roots"},
		{"skills.extra_roots = [\"/opt\"]", "skills.extra_roots = [\"/opt\"]", NULL},
		{"skills.include_instructions = false", "skills.include_instructions = true",
	         "skills.include_instructions"},
		{"", "skills.include_instructions = false", NULL},
		{"skills.config = [{ name = \"a\", enabled = false }]", "skills.config = []", "skills.config"},
		{"", "skills.config = [{ name = \"a\", enabled = false }]", NULL},
	};
	for (size_t i = 0; i < countof(rows); i++)
		check_widening(*state, &rows[i]);
	struct config *c = load_wide(*state, "web_search = \"disabled\"\ncollaboration_mode = \"plan\"",
	                             "web_search = \"live\"\ncollaboration_mode = \"default\"\n", "");
	assert_int_equal(c->web_search, web_search_mode_disabled);
	assert_int_equal(c->collaboration_mode, mode_kind_plan);
	config_unref(c);
}

static void a_project_may_widen_with_a_content_that_the_user_trusts(void **state)
{
	struct place *p = *state;
	char hash[CONFIG_HASH_SIZE];
	config_content_hash(STR(WIDE), hash);
	struct config *c = load_wide(p, "", WIDE, hash);
	assert_int_equal(warning_count(c), 0);
	assert_int_equal(c->sandbox_mode, sandbox_mode_danger_full_access);
	assert_true(c->sandbox_workspace_write.network_access);
	assert_int_equal(c->shell_environment_policy.set.count, 1);
	config_unref(c);

	c = load_wide(p, "", WIDE "# one byte more\n", hash);
	assert_int_equal(c->sandbox_mode, sandbox_mode_workspace_write);
	config_unref(c);

	auto_free char *above = xasprintf("projects.\"/\".trusted_hashes = [\"%s\"]\n", hash);
	write_file(p->repo, ".codex/config.toml", above);
	c = load_wide(p, "", WIDE, "");
	assert_int_equal(c->sandbox_mode, sandbox_mode_workspace_write);
	config_unref(c);
}

static void the_home_folder_is_no_project(void **state)
{
	struct place *p = *state;
	auto_free char *home = path_join(p->repo, ".codex");
	write_file(p->repo, ".codex/config.toml", "model_provider = \"mine\"\n");
	struct config_source source = source_of(p);
	source.codex_home = home;
	struct config *c = load(&source);
	assert_string_equal(c->model_provider, "mine");
	assert_int_equal(warning_count(c), 0);
	config_unref(c);
}

static void check_option(const struct place *p, const char *text, const char *key, const char *expected)
{
	struct str override = str_of(text);
	struct config_source source = source_of(p);
	source.overrides = &override;
	source.override_count = 1;
	struct config *c = load(&source);
	const struct toml *node = config_find(c, key);
	if (!toml_is(node, TOML_string) || !str_is(node->text, expected))
		fail_msg("%s: `%s` is not \"%s\"", text, key, expected);
	config_unref(c);
}

static void options_are_toml_or_text(void **state)
{
	struct place *p = *state;
	check_option(p, "model=gpt-5", "model", "gpt-5");
	check_option(p, "model = \"gpt 5\" ", "model", "gpt 5");
	check_option(p, "model='gpt 5", "model", "gpt 5");
	check_option(p, "model=a=b", "model", "a=b");
	check_option(p, "review_model=", "review_model", "");
	check_option(p, "model_providers.x.base_url=http://h/v1", "model_providers.x.base_url", "http://h/v1");
	check_option(p, "model_providers.x.query_params={a=\"b\"}", "model_providers.x.query_params.a", "b");
	check_option(p, "projects./p q.trust_level=trusted", "projects./p q.trust_level", "trusted");

	static const struct {
		const char *option, *message;
	} rows[] = {
		{"foo", "-c: expected key=value, but `foo` has no `=`"},
		{"=foo", "-c: expected key=value, but there is no key before the `=`"},
		{"a..b=1", "-c: `a..b` is not a key of the form a.b.c"},
		{"model=", "`model` must not be empty"},
		{"model=3", "-c: `model` must be a string, not an integer"},
		{"hide_agent_reasoning=maybe", "-c: `hide_agent_reasoning` must be true or false, not a string"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct str override = str_of(rows[i].option);
		struct config_source source = source_of(p);
		source.overrides = &override;
		source.override_count = 1;
		assert_string_equal(failure(&source), rows[i].message);
	}
}

static void an_option_turns_on_the_search_that_a_project_turns_off(void **state)
{
	struct place *p = *state;
	static const struct str overrides[] = {{"tools.web_search=true", 21}};
	static const char *const users[] = {"", "web_search = \"live\""};
	for (size_t i = 0; i < countof(users); i++) {
		config_unref(load_wide(p, users[i], "tools.web_search = false", "")); /* writes the files */
		struct config_source source = source_of(p);
		source.overrides = overrides;
		source.override_count = countof(overrides);
		struct config *c = load(&source);
		assert_true(c->tools.web_search);
		assert_int_equal(c->web_search, users[i][0] ? web_search_mode_disabled : web_search_mode_unset);
		config_unref(c);
	}
}

static void later_options_win(void **state)
{
	struct place *p = *state;
	static const struct str overrides[] = {
		{"model=a", 7}, {"tools.web_search=true", 21}, {"model=b", 7}, {"nope=1", 6}};
	struct config_source source = source_of(p);
	source.overrides = overrides;
	source.override_count = 4;
	struct config *c = load(&source);
	assert_string_equal(c->model, "b");
	assert_true(c->tools.web_search);
	assert_true(has_warning(c, "-c: unknown settings are ignored: `nope`"));
	config_unref(c);
}

static void flags_are_named_in_messages(void **state)
{
	struct place *p = *state;
	static const struct config_flag flag = {"--sandbox", "sandbox_mode", {"open", 4}};
	struct config_source source = source_of(p);
	source.flags = &flag;
	source.flag_count = 1;
	assert_non_null(strstr(failure(&source), "--sandbox: `sandbox_mode` must be one of"));
}

static void a_text_can_stand_for_the_user_file(void **state)
{
	struct place *p = *state;
	struct str text = STR("model = \"new\"");
	struct config_source source = source_of(p);
	write_file(p->home, "config.toml", "model = 3");
	source.user_text = &text;
	struct config *config = load(&source);
	assert_string_equal(config->model, "new");
	config_unref(config);
	text = STR("model = 4");
	assert_non_null(strstr(failure(&source), "/config.toml:1: `model` must be a string"));
}

static void projects_can_be_left_out(void **state)
{
	struct place *p = *state;
	struct config_source source = source_of(p);
	write_file(p->repo, ".codex/config.toml", "model = 3");
	auto_free char *trust = xasprintf("[projects.\"%s\"]\ntrust_level = \"trusted\"\n", p->repo);
	write_file(p->home, "config.toml", trust);
	source.ignore_project = true;
	struct config *config = load(&source);
	assert_null(config->model);
	config_unref(config);
}

static void runtime_settings_have_lower_precedence_than_files(void **state)
{
	struct place *p = *state;
	struct str switches[] = {STR("features.unified_exec=false"), STR("features.shell_tool=false")};
	struct config_source source = source_of(p);
	size_t count;
	write_file(p->home, "config.toml", "[features]\nshell_tool = true\n");
	source.defaults = switches;
	source.default_count = 2;
	struct config *config = load(&source);
	assert_false(config->features.unified_exec);
	assert_true(config->features.shell_tool);
	const struct config_layer *layers = config_layers(config, &count);
	assert_int_equal(count, 3);
	assert_int_equal(layers[0].kind, CONFIG_LAYER_process);
	assert_int_equal(layers[2].kind, CONFIG_LAYER_user);
	config_unref(config);
}

static void the_user_file_can_be_left_out(void **state)
{
	struct place *p = *state;
	write_file(p->home, "config.toml", "model = 3");
	struct config_source source = source_of(p);
	source.ignore_user_config = true;
	struct config *c = load(&source);
	assert_null(c->model);
	config_unref(c);
}

static void an_unreadable_file_is_an_error(void **state)
{
	struct place *p = *state;
	auto_free char *path = path_join(p->home, "config.toml");
	assert_int_equal(mkdir(path, 0700), 0);
	struct config_source source = source_of(p);
	assert_non_null(strstr(failure(&source), "/home/config.toml: Is a directory"));
	rmdir(path);

	auto_buf struct buf big;
	buf_init(&big, LIMIT_CONFIG_FILE + 2);
	while (big.len <= LIMIT_CONFIG_FILE)
		buf_append_char(&big, '\n');
	write_file(p->home, "config.toml", big.data);
	assert_non_null(strstr(failure(&source), "/home/config.toml is larger than"));
}

static void a_config_is_shared(void **state)
{
	struct place *p = *state;
	struct config *c = load_with(p, "model = \"m\"");
	struct config *other = config_ref(c);
	config_unref(c);
	assert_string_equal(other->model, "m");
	config_unref(other);
	config_unref(NULL);
}

static void home_comes_from_the_environment(void **state)
{
	struct place *p = *state;
	auto_free char *file = path_join(p->home, "file");
	auto_free char *before = getenv("HOME") ? xstrdup(getenv("HOME")) : NULL;
	struct error err = {0};
	write_file(p->home, "file", "");
	setenv("CODEX_HOME", p->home, 1);
	auto_free char *named = config_env_home(&err);
	assert_string_equal(named, p->home);
	setenv("CODEX_HOME", file, 1);
	assert_null(config_env_home(&err));
	assert_non_null(strstr(err.text, "CODEX_HOME points to \""));
	assert_non_null(strstr(err.text, "but that path is not a directory"));
	setenv("CODEX_HOME", "/nonexistent/x", 1);
	assert_null(config_env_home(&err));
	assert_non_null(strstr(err.text, "CODEX_HOME points to \"/nonexistent/x\", but that path does not exist"));
	setenv("CODEX_HOME", "", 1);
	setenv("HOME", p->root, 1);
	auto_free char *usual = config_env_home(&err);
	auto_free char *expected = path_join(p->root, ".codex");
	assert_string_equal(usual, expected);
	unsetenv("HOME");
	assert_null(config_env_home(&err));
	unsetenv("CODEX_HOME");
	if (before)
		setenv("HOME", before, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* Returns a config whose files are watched, in place of the earlier one. */
static struct config *watch_again(const struct place *p, struct config *before)
{
	auto_free char *admin = path_join(p->root, "admin");
	struct config_source source = source_of(p);
	source.admin_folder = admin;
	source.is_watched = true;
	config_unref(before);
	struct config *config = load(&source);
	assert_false(config_files_changed(config));
	return config;
}

/* Two changes of equal length within one second: only the nanoseconds differ. */
static void every_change_of_a_file_is_seen(void **state)
{
	const struct place *p = *state;
	write_file(p->home, "config.toml", "model = \"a\"\n");
	auto_free char *path = path_join(p->home, "config.toml");
	const struct timespec first[] = {{1000, 1}, {1000, 1}}, second[] = {{1000, 1}, {1000, 2}};
	assert_int_equal(utimensat(AT_FDCWD, path, first, 0), 0);
	struct config *config = watch_again(p, NULL);
	assert_int_equal(utimensat(AT_FDCWD, path, second, 0), 0);
	assert_true(config_files_changed(config));
	config_unref(config);
}

/* Each file, where its folder does not exist and where it does. */
static void every_new_file_is_seen(void **state)
{
	static const char *const names[] = {
		"home/plugins/a",          "home/agents/a.toml",        "home/config.toml",
		"admin/requirements.toml", "admin/managed_config.toml", "repo/.codex/config.toml",
		"repo/.codex/agents/a",    "repo/a/b/.codex/agents/a",  "repo/a/b/.codex/config.toml",
	};
	const struct place *p = *state;
	struct config *config = watch_again(p, NULL);
	for (size_t i = 0; i < countof(names); i++) {
		write_file(p->root, names[i], "");
		if (!config_files_changed(config))
			fail_msg("%s was not seen", names[i]);
		config = watch_again(p, config);
	}
	config_unref(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults_without_any_file),
		TEST(a_policy_may_be_a_table),
		TEST(every_kind_of_value_is_taken),
		TEST(wrong_types_name_file_line_and_key),
		TEST(nested_values_that_codex_accepts_load),
		TEST(a_date_is_text_where_text_is_read),
		cmocka_unit_test(names_of_keys_are_read),
		TEST(unknown_keys_are_one_warning_a_file),
		TEST(a_profile_is_not_warned_about_twice),
		TEST(endless_unknown_keys_stay_short),
		TEST(layers_win_in_order),
		TEST(profiles_come_from_tables_files_and_both),
		TEST(projects_count_only_when_trusted),
		TEST(the_nearest_entry_decides_about_trust),
		TEST(a_linked_worktree_is_trusted_with_its_repository),
		TEST(a_trusted_project_works_in_its_folder),
		TEST(a_project_may_not_redirect_the_user),
		TEST(a_project_may_not_widen_what_commands_may_do),
		TEST(a_project_may_not_widen_what_the_model_may_do),
		TEST(an_option_turns_on_the_search_that_a_project_turns_off),
		TEST(a_project_may_narrow_what_commands_may_do),
		TEST(a_project_may_widen_with_a_content_that_the_user_trusts),
		TEST(the_home_folder_is_no_project),
		TEST(options_are_toml_or_text),
		TEST(later_options_win),
		TEST(flags_are_named_in_messages),
		TEST(a_text_can_stand_for_the_user_file),
		TEST(projects_can_be_left_out),
		TEST(runtime_settings_have_lower_precedence_than_files),
		TEST(the_user_file_can_be_left_out),
		TEST(an_unreadable_file_is_an_error),
		TEST(a_config_is_shared),
		TEST(every_change_of_a_file_is_seen),
		TEST(every_new_file_is_seen),
		TEST(home_comes_from_the_environment),
	};
	setenv("HOME", "/home/tester", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
