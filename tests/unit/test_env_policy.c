/* The environment of commands. */
#include "test.h"

#include "base/mem.h"
#include "command/env_policy.h"

/* Returns the value that a command reads, or NULL. */
static const char *env_find(const struct env *env, const char *name)
{
	for (const char *const *it = env_vars(env); *it; it++) {
		struct str var = str_of(*it);
		if (str_cut_prefix(&var, name) && str_cut_prefix(&var, "="))
			return var.ptr;
	}
	return NULL;
}

static const char *const ours[] = {"HOME=/home/me",    "PATH=/bin", "LANG=de_DE",     "API_KEY=k",
                                   "my_Secret_word=s", "EMPTY=",    "GITHUB_TOKEN=t", "TMPDIR=/var/tmp",
                                   "no equals sign",   NULL};

static void expect_vars(const struct env *env, const char *want)
{
	char got[1024] = "";
	for (size_t i = 0; i < env->count; i++) {
		strncat(got, env->vars[i], sizeof(got) - strlen(got) - 1);
		strncat(got, "|", sizeof(got) - strlen(got) - 1);
	}
	assert_string_equal(got, want);
	assert_null(env->vars[env->count]);
}

static void expect_policy(const struct env_policy *policy, const char *want)
{
	auto_env struct env env;
	env_init(&env);
	env_policy_apply(policy, ours, &env);
	expect_vars(&env, want);
}

static void inherits_all_but_default_excludes(void **state)
{
	(void)state;
	expect_policy(&(struct env_policy){0}, "HOME=/home/me|PATH=/bin|LANG=de_DE|EMPTY=|TMPDIR=/var/tmp|");
}

static void default_excludes_can_be_ignored(void **state)
{
	(void)state;
	expect_policy(
		&(struct env_policy){.ignore_default_excludes = true},
		"HOME=/home/me|PATH=/bin|LANG=de_DE|API_KEY=k|my_Secret_word=s|EMPTY=|GITHUB_TOKEN=t|TMPDIR=/var/tmp|");
}

static void inherits_core_or_nothing(void **state)
{
	(void)state;
	expect_policy(&(struct env_policy){.inherit = env_inherit_core},
	              "HOME=/home/me|PATH=/bin|LANG=de_DE|TMPDIR=/var/tmp|");
	expect_policy(&(struct env_policy){.inherit = env_inherit_none}, "");
}

static void excludes_then_sets_then_filters(void **state)
{
	(void)state;
	const struct str exclude[] = {STR("lang"), STR("E*")};
	const struct env_var set[] = {
		{STR("LANG"), STR("C")}, {STR("PATH"), STR("/opt/bin")}, {STR("MY_KEY"), STR("mine")}};
	struct env_policy policy = {.exclude = exclude, .exclude_count = 2, .set = set, .set_count = 3};
	expect_policy(&policy, "HOME=/home/me|PATH=/opt/bin|TMPDIR=/var/tmp|LANG=C|MY_KEY=mine|");
	const struct str only[] = {STR("path"), STR("*key")};
	policy.include_only = only;
	policy.include_only_count = 2;
	expect_policy(&policy, "PATH=/opt/bin|MY_KEY=mine|");
}

static void invalid_variables_are_skipped(void **state)
{
	(void)state;
	const struct env_var set[] = {
		{STR(""), STR("x")}, {STR("A=B"), STR("x")}, {STR("NUL"), STR("a\0b")}, {STR("OK"), STR("")}};
	expect_policy(&(struct env_policy){.inherit = env_inherit_none, .set = set, .set_count = 4}, "OK=|");
}

static void our_own_environment_is_the_default_source(void **state)
{
	(void)state;
	setenv("CODEX_TEST_SOURCE", "here", 1);
	auto_env struct env env;
	env_init(&env);
	env_policy_apply(&(struct env_policy){0}, NULL, &env);
	assert_string_equal(env_find(&env, "CODEX_TEST_SOURCE"), "here");
	assert_string_equal(env_own("CODEX_TEST_SOURCE"), "here");
	assert_null(env_find(&env, "CODEX_TEST"));
}

static void the_engine_adds_its_own(void **state)
{
	(void)state;
	auto_env struct env env;
	env_init(&env);
	env_set(&env, STR("LANG"), STR("de_DE"));
	env_engine_apply(&(struct env_engine){.thread_id = "t-1", .network_disabled = true}, &env);
	expect_vars(&env, "LANG=de_DE|CODEX_SANDBOX_NETWORK_DISABLED=1|CODEX_THREAD_ID=t-1|CODEX_SESSION_ID=t-1|CODEX_"
	                  "VERSION=" CODEX_VERSION "|");
	env_engine_apply(&(struct env_engine){.plain_terminal = true}, &env);
	assert_string_equal(env_find(&env, "LANG"), "C.UTF-8");
	assert_string_equal(env_find(&env, "TERM"), "dumb");
	assert_string_equal(env_find(&env, "COLORTERM"), "");
	assert_string_equal(env_find(&env, "CODEX_CI"), "1");
	assert_int_equal(env.count, 14);
}

static void many_variables_fit(void **state)
{
	(void)state;
	auto_env struct env env;
	env_init(&env);
	for (int i = 0; i < 1000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "V%d", i);
		env_set(&env, str_of(name), str_of(name));
	}
	assert_int_equal(env.count, 1000);
	assert_string_equal(env_find(&env, "V999"), "V999");
	assert_null(env.vars[1000]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inherits_all_but_default_excludes),
		cmocka_unit_test(default_excludes_can_be_ignored),
		cmocka_unit_test(inherits_core_or_nothing),
		cmocka_unit_test(excludes_then_sets_then_filters),
		cmocka_unit_test(invalid_variables_are_skipped),
		cmocka_unit_test(our_own_environment_is_the_default_source),
		cmocka_unit_test(the_engine_adds_its_own),
		cmocka_unit_test(many_variables_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
