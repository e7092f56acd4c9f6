/* Rules that match commands by their first words. */
#include "test.h"

#include "../command_read.h"
#include "base/buf.h"
#include "base/error.h"
#include "command/exec_policy.h"

static const char *decide(const struct exec_policy *policy, const char *script)
{
	static char text[256];
	auto_arena struct arena arena = {0};
	struct command_list list;
	struct exec_match match;
	assert_true(script_read(script, &arena, &list));
	if (!exec_policy_decide(policy, &list.commands[0], &match))
		return "-";
	snprintf(text, sizeof(text), "%s %zu%s%.*s", exec_decision_name(match.decision), match.length,
	         match.justification.ptr ? " " : "", STR_ARG(match.justification));
	return text;
}

static struct exec_policy *policy_of(const char *text)
{
	struct error err = {0};
	struct exec_policy *policy = exec_policy_create();
	if (exec_policy_add(policy, str_of(text), "x.rules", &err) != 0)
		fail_msg("%s", err.text);
	return policy;
}

static void the_strictest_match_decides(void **state)
{
	(void)state;
	struct exec_policy *policy = policy_of("# what git may do\n"
	                                       "prefix_rule(pattern = ['git', ['push', 'pull']], decision=\"prompt\",\n"
	                                       "            justification = \"ask me\") # said twice\n"
	                                       "prefix_rule([\"git\"],);prefix_rule(('rm', '-rf',), 'forbidden')\n");
	assert_int_equal(exec_policy_count(policy), 3);
	assert_string_equal(decide(policy, "git push origin"), "prompt 2 ask me");
	assert_string_equal(decide(policy, "git status"), "allow 1");
	assert_string_equal(decide(policy, "rm -rf /"), "forbidden 2");
	assert_string_equal(decide(policy, "rm"), "-");
	assert_string_equal(decide(policy, "gitk"), "-");
	exec_policy_destroy(policy);
}

/* The shell expands such a word by file names that an earlier command may have created. */
static void a_pattern_cannot_hide_a_word_from_a_rule_that_restricts(void **state)
{
	(void)state;
	struct exec_policy *policy = policy_of("prefix_rule(['git', ['push', 'fetch']], 'forbidden')\n"
	                                       "prefix_rule(['git', 'log', '--all'], 'prompt')\n"
	                                       "prefix_rule(['ls', '-[l]'])\n"
	                                       "prefix_rule(['make', 'a', 'b'])");
	static const char *const forbidden[] = {"git p[u]sh",    "git p?sh",  "git *",      "git [p]* origin",
	                                        "git [x]y push", "git '*'p*", "git F[E]TCH"};
	static const char *const prompted[] = {"git log -[-]all", "git log* --all", "git l[o]g --all", "git log * x"};
	static const char *const others[] = {"git status *.c",    "git x*",    "git 'p[u]sh'",
	                                     "git *.c",           "git",       "git diff p[u]sh",
	                                     "git log x --al[l]", "make [a] b"};
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
		assert_string_equal(decide(policy, forbidden[i]), "forbidden 2");
	for (size_t i = 0; i < sizeof(prompted) / sizeof(*prompted); i++)
		assert_string_equal(decide(policy, prompted[i]), "prompt 3");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_string_equal(decide(policy, others[i]), "-");
	assert_string_equal(decide(policy, "ls -[l]"), "allow 2"); /* the rule shows the allowed prefix */
	exec_policy_destroy(policy);
}

/* Judges a script like the engine: as an argument vector, if it cannot be read as plain commands. */
static const char *decide_script(const struct exec_policy *policy, const char *script)
{
	struct command_word words[] = {{"bash", false}, {"-lc", false}, {script, false}};
	struct exec_match match;
	return exec_policy_decide(policy, &(struct plain_command){words, 3}, &match)
	               ? exec_decision_name(match.decision)
	               : "-";
}

static void a_restricting_rule_finds_its_command_in_any_script(void **state)
{
	(void)state;
	struct exec_policy *policy = policy_of("prefix_rule(['git', ['push', 'fetch']], 'forbidden')\n"
	                                       "prefix_rule(['curl'], 'prompt')\n"
	                                       "prefix_rule(['timeout'], 'allow')");
	static const char *const forbidden[] = {
		"git push",
		"timeout 5 git push",
		"env -S 'git push'",
		"sudo -Z x git push",
		"bash -c 'git push'",
		"git pus\\h",
		"git \"pu\"sh > x",
		"git $'push'",
		"git $\"push\"",
		"git {push,}",
		"{git,push}",
		"git pu\\\nsh",
		"git push > x",
		"X=1 git push",
		"(git push)",
		"echo $(git fetch)",
		"ls | xargs git push $x",
		"for x in a; do git push; done",
		"curl x; git push $x",
		"git $x push > y; git push",
		"echo `echo \\`git push\\``",
		"`true # x`; git push",
		"coproc git push",
		"coproc NAME { git push; }",
		"trap 'git push' EXIT",
		"source /dev/stdin <<< 'git push'",
		". /dev/stdin << END\ngit push\nEND",
		"bash << A; cat << B\ngit push\nA\nB",
		"cat << B; bash << A\nB\ngit push\nA",
		"cat << E\"N\"D\nx\nEND\ngit push",
		"cat << E\\ND\nx\nEND\ngit push",
		"cat << \"it's\"\nx\nit's\ngit push",
		"cat << -END\nx\n-END\ngit push",
		"cat <<- END\nx\n\t\tEND\ngit push",
		"cat << END\n\tEND\n'\nEND\ngit push",
	};
	static const char *const prompted[] = {"git $x",  "git $x push", "$x push", "git \"$@\"",        "git $(x)",
	                                       "curl $x", "X=1 curl x",  "c$x",     "bash -c \"git $x\""};
	/* text that ends in the middle of something may have been misread */
	static const char *const broken[] = {"ls > x; echo 'git",        "ls > x; echo \"git",
	                                     "ls > x; echo $(git",       "ls > x; echo ${x",
	                                     "ls > x; echo `git",        "ls << END\ngit push",
	                                     "((x = 1 << 2))\ngit push", "echo ${x:-'}'}; git push; echo ''"};
	static const char *const others[] = {"git log > x",
	                                     "git log $x",
	                                     "echo git push > x",
	                                     "$x",
	                                     "$x log",
	                                     "\"$@\"",
	                                     "ls $x",
	                                     "git status\\",
	                                     "git '$x'",
	                                     "cat << END > x\ngit push\nEND",
	                                     "cat << 'END' | x\n'\nEND"};
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
		if (strcmp(decide_script(policy, forbidden[i]), "forbidden") != 0)
			fail_msg("%s: %s", forbidden[i], decide_script(policy, forbidden[i]));
	for (size_t i = 0; i < sizeof(prompted) / sizeof(*prompted); i++)
		if (strcmp(decide_script(policy, prompted[i]), "prompt") != 0)
			fail_msg("%s: %s", prompted[i], decide_script(policy, prompted[i]));
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		if (strcmp(decide_script(policy, broken[i]), "prompt") != 0)
			fail_msg("%s: %s", broken[i], decide_script(policy, broken[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(decide_script(policy, others[i]), "-") != 0)
			fail_msg("%s: %s", others[i], decide_script(policy, others[i]));
	assert_string_equal(decide(policy, "timeout 5 ls"), "allow 1");
	assert_string_equal(decide(policy, "timeout 5 git push"), "forbidden 2");
	exec_policy_destroy(policy);
}

/* Padding cannot hide a command. */
static void a_restricting_rule_asks_about_a_script_that_is_too_long_to_read(void **state)
{
	(void)state;
	static char script[100000];
	memset(script, ' ', sizeof(script) - 1);
	memcpy(script, "ls $x", 5);
	struct exec_policy *policy = policy_of("prefix_rule(['git', 'push'], 'forbidden')");
	assert_string_equal(decide_script(policy, script), "prompt");
	for (size_t i = 0; i + 2 < 60000; i += 2)
		memcpy(script + i, "${", 2);
	script[60000] = '\0';
	assert_string_equal(decide_script(policy, script), "prompt");
	exec_policy_destroy(policy);
	policy = policy_of("prefix_rule(['git', 'push'], 'allow')");
	assert_string_equal(decide_script(policy, script), "-");
	exec_policy_destroy(policy);
}

static void a_restricting_rule_has_a_limit_of_words(void **state)
{
	(void)state;
	auto_buf struct buf text;
	struct error err;
	struct exec_policy *policy = exec_policy_create();
	buf_init(&text, 4096);
	for (size_t i = 0; i < 2; i++) {
		buf_clear(&text);
		buf_append_c(&text, "prefix_rule([");
		for (size_t at = 0; at < 63 + i; at++)
			buf_append_c(&text, "'a',");
		buf_append_c(&text, "], 'prompt')");
		assert_int_equal(exec_policy_add(policy, buf_str(&text), "x.rules", &err), i ? -(int)ERR_config : 0);
	}
	assert_string_equal(err.text, "x.rules:1: a pattern that prompts or forbids has at most 63 words");
	exec_policy_destroy(policy);
}

static void examples_are_tried(void **state)
{
	(void)state;
	struct exec_policy *policy =
		policy_of("prefix_rule(pattern=['ls', 'a b'], match=[\"ls 'a b' c\", 'ls a\\\\ b', ['ls', 'a b']],\n"
	                  "            not_match=['ls', 'cat'])");
	assert_string_equal(decide(policy, "ls 'a b'"), "allow 2");
	exec_policy_destroy(policy);
}

static void other_rules_are_passed_over(void **state)
{
	(void)state;
	struct exec_policy *policy = policy_of("host_executable(name = 'git', paths = ['/usr/bin/git'])\n"
	                                       "network_rule(host='x', protocol='https', decision='allow', n=3)\n"
	                                       "prefix_rule(pattern=['a'], match=None, justification=None)");
	assert_int_equal(exec_policy_count(policy), 1);
	exec_policy_destroy(policy);
}

static void a_wrong_file_adds_nothing_and_names_the_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"prefix_rule(pattern=['a'])\nprefix_rule(pattern=[])", "x.rules:2: invalid pattern element: "},
		{"prefix_rule()", "x.rules:1: prefix_rule needs pattern"},
		{"prefix_rule(pattern='ls')", "x.rules:1: prefix_rule needs pattern"},
		{"prefix_rule(pattern=[[]])", "x.rules:1: a pattern's alternatives"},
		{"prefix_rule(pattern=[1])", "x.rules:1: a pattern is a list; each"},
		{"prefix_rule(pattern=[['a', ['b']]])", "x.rules:1: a pattern is a list; each"},
		{"prefix_rule(pattern=['a'], decision='maybe')", "x.rules:1: invalid decision: maybe"},
		{"prefix_rule(pattern=['a'], decision=['allow'])", "x.rules:1: invalid decision"},
		{"prefix_rule(pattern=['a'], justification=' ')", "x.rules:1: invalid rule: justification"},
		{"prefix_rule(pattern=['a'], match=['b'])", "x.rules:1: an example of match"},
		{"prefix_rule(pattern=['a'], not_match=['a b'])", "x.rules:1: an example of not_match"},
		{"prefix_rule(pattern=['a'], match=['\"a'])", "x.rules:1: an example has an unclosed"},
		{"prefix_rule(pattern=['a'], match=[''])", "x.rules:1: an example cannot be empty"},
		{"prefix_rule(pattern=['a'], match='a')", "x.rules:1: match and not_match must be lists"},
		{"prefix_rule(pattern=['a'], why='b')", "x.rules:1: prefix_rule has no argument `why`"},
		{"\n\nfoo()", "x.rules:3: unknown rule; only"},
		{"x = ['a']", "x.rules:1: expected a call"},
		{"prefix_rule(pattern=x)", "x.rules:1: expected a string"},
		{"prefix_rule(pattern=['a'] + ['b'])", "x.rules:1: expected a comma or a closing parenthesis"},
		{"prefix_rule(pattern=['a' 'b'])", "x.rules:1: expected a comma"},
		{"prefix_rule(pattern=['a\nb'])", "x.rules:1: a string has no closing quote"},
		{"prefix_rule(pattern=['a", "x.rules:1: a string has no closing quote"},
		{"prefix_rule(pattern=['a'", "x.rules:1: expected a comma"},
		{"prefix_rule(pattern=['a']", "x.rules:1: expected a comma or a closing parenthesis"},
		{"prefix_rule(pattern=['\xff'])", "x.rules:1: the file is not UTF-8"},
		{"prefix_rule(pattern=['a']) prefix_rule(pattern=['b'])", "x.rules:1: expected the end"},
		{"f([[[[[[[[[[[[[[[[[[[[[[", "x.rules:1: lists are nested too deeply"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = {0};
		struct exec_policy *policy = exec_policy_create();
		assert_int_not_equal(exec_policy_add(policy, str_of(rows[i].text), "x.rules", &err), 0);
		if (strncmp(err.text, rows[i].error, strlen(rows[i].error)) != 0)
			fail_msg("\"%s\": %s", rows[i].text, err.text);
		assert_int_equal(exec_policy_count(policy), 0);
		exec_policy_destroy(policy);
	}
}

static void a_written_rule_is_read_back(void **state)
{
	(void)state;
	static const struct str words[] = {STR("a\"b\\"), STR("c\nd\te")};
	auto_buf struct buf out;
	buf_init(&out, 1024);
	exec_policy_write_allow(&out, words, 2);
	assert_str(buf_str(&out), "prefix_rule(pattern=[\"a\\\"b\\\\\", \"c\\nd\\te\"], decision=\"allow\")\n");
	struct exec_policy *policy = exec_policy_create();
	assert_int_equal(exec_policy_add(policy, buf_str(&out), "x", NULL), 0);
	assert_string_equal(decide(policy, "'a\"b\\' 'c\nd\te' f"), "allow 2");
	exec_policy_destroy(policy);
}

static void the_user_adds_rules(void **state)
{
	(void)state;
	static const struct str words[] = {STR("npm"), STR("test")};
	struct exec_policy *policy = exec_policy_create();
	exec_policy_allow(policy, words, 2);
	assert_string_equal(decide(policy, "npm test x"), "allow 2");
	assert_string_equal(decide(policy, "npm run"), "-");
	exec_policy_destroy(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_strictest_match_decides),
		cmocka_unit_test(a_pattern_cannot_hide_a_word_from_a_rule_that_restricts),
		cmocka_unit_test(a_restricting_rule_finds_its_command_in_any_script),
		cmocka_unit_test(a_restricting_rule_asks_about_a_script_that_is_too_long_to_read),
		cmocka_unit_test(a_restricting_rule_has_a_limit_of_words),
		cmocka_unit_test(examples_are_tried),
		cmocka_unit_test(other_rules_are_passed_over),
		cmocka_unit_test(a_wrong_file_adds_nothing_and_names_the_place),
		cmocka_unit_test(a_written_rule_is_read_back),
		cmocka_unit_test(the_user_adds_rules),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
