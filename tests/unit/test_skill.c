/* Skills: discovery, scope, mentions, hostile folders and front matter. */
#include "temp.h"

#include "base/json.h"
#include "base/limits.h"
#include "skill/custom_prompt.h"
#include "skill/skill_brief.h"
#include "skill/skill_scan.h"
#include "skill/yaml.h"

static struct arena arena;
static struct skill_places places;

static int setup(void **state)
{
	if (temp_make(state) != 0)
		return -1;
	auto_free char *home = realpath(temp_root, NULL);
	static const char *markers[] = {".git"};
	places = (struct skill_places){.markers = markers, .marker_count = 1};
	places.home = arena_printf(&arena, "%s/home", home);
	places.user_home = arena_printf(&arena, "%s/user", home);
	return 0;
}

static int teardown(void **state)
{
	arena_finish(&arena);
	return temp_remove(state);
}

static void put_skill(const char *folder, const char *name, const char *description)
{
	auto_free char *text = xasprintf("---\nname: %s\ndescription: %s\n---\nBody of %s.\n", name, description, name);
	auto_free char *path = xasprintf("%s/SKILL.md", folder);
	temp_put(path, str_of(text));
}

static struct skills_list_entry scan(const char *cwd)
{
	return skill_scan(&places, str_of(temp_path(cwd)), &arena);
}

/* Writes "scope:name …", and "!" for each error. */
static const char *names_of(const struct skills_list_entry *entry)
{
	static char text[4096];
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < entry->skills_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:%.*s", i ? " " : "",
		                        enum_wire(&enum_skill_scope, (int)entry->skills[i].scope),
		                        STR_ARG(entry->skills[i].name));
	for (size_t i = 0; i < entry->errors_count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, " !");
	return text;
}

/* ---- where they are ---- */

static void the_nearest_folders_and_those_of_the_project_come_first(void **state)
{
	(void)state;
	put_skill("p/.codex/skills/root", "zroot", "d");
	put_skill("p/a/.agents/skills/inner", "inner", "d");
	put_skill("home/skills/mine", "mine", "d");
	put_skill("user/.agents/skills/everywhere", "everywhere", "d");
	put_skill("home/skills/.system/ours", "ours", "d");
	put_skill("more/extra", "extra", "d");
	put_skill(".codex/skills/above", "above", "d");
	temp_put("p/.git/HEAD", STR(""));
	const char *extra[] = {temp_path("more")};
	places.extra_roots = extra;
	places.extra_root_count = 1;
	struct skills_list_entry entry = scan("p/a");
	assert_string_equal(names_of(&entry), "repo:inner repo:zroot user:everywhere user:extra user:mine system:ours");
	entry = scan("p");
	assert_string_equal(names_of(&entry), "repo:zroot user:everywhere user:extra user:mine system:ours");
	entry = skill_scan(&places, STR("not/absolute"), &arena);
	assert_string_equal(names_of(&entry), "user:everywhere user:extra user:mine system:ours");
	assert_str(entry.cwd, "not/absolute");
}

static void links_are_followed_once(void **state)
{
	(void)state;
	put_skill("home/skills/a/b", "deep", "d");
	put_skill("elsewhere/linked", "linked", "d");
	assert_int_equal(symlink("..", temp_path("home/skills/a/up")), 0);
	assert_int_equal(symlink(".", temp_path("home/skills/self")), 0);
	auto_free char *elsewhere = xstrdup(temp_path("elsewhere"));
	assert_int_equal(symlink(elsewhere, temp_path("home/skills/link")), 0);
	assert_int_equal(symlink(elsewhere, temp_path("home/skills/again")), 0);
	assert_int_equal(symlink("gone", temp_path("home/skills/nowhere")), 0);
	struct skills_list_entry entry = scan("p");
	assert_string_equal(names_of(&entry), "user:deep user:linked");
}

static void too_deep_or_hidden_is_not_looked_at(void **state)
{
	(void)state;
	put_skill("home/skills/1/2/3/4/5/6", "six", "d");
	put_skill("home/skills/1/2/3/4/5/6/7", "seven", "d");
	put_skill("home/skills/.hidden", "hidden", "d");
	temp_put("home/skills/SKILL.md/oops", STR("a folder of that name"));
	struct skills_list_entry entry = scan("p");
	assert_string_equal(names_of(&entry), "user:six");
}

static void a_folder_of_ten_thousand_entries_is_an_error(void **state)
{
	(void)state;
	put_skill("home/skills", "first", "d");
	for (int i = 0; i < 10000; i++) {
		char name[64];
		snprintf(name, sizeof(name), "home/skills/many-%d", i);
		assert_int_equal(mkdir(temp_path(name), 0700), 0);
	}
	struct skills_list_entry entry = scan("p");
	assert_string_equal(names_of(&entry), "user:first !");
	assert_str(entry.errors[0].message, "too many folders or skills: some were not read");
}

static void rules_switch_off(void **state)
{
	(void)state;
	put_skill("home/skills/a", "a", "d");
	put_skill("home/skills/b", "b", "d");
	struct skill_rule rules[] = {
		{.path = arena_printf(&arena, "%s/skills/a/SKILL.md", places.home)},
		{.name = STR("b")},
		{.path = arena_printf(&arena, "%s/skills/b", places.home), .enabled = true},
	};
	places.rules = rules;
	places.rule_count = countof(rules);
	struct skills_list_entry entry = scan("p");
	assert_false(entry.skills[0].enabled);
	assert_true(entry.skills[1].enabled);
	assert_null(skill_find(&entry, entry.skills[0].path));
	assert_ptr_equal(skill_find(&entry, entry.skills[1].path), &entry.skills[1]);
	assert_null(skill_find(&entry, STR("/nowhere/SKILL.md")));
}

/* ---- skill files ---- */

/* Returns the description of a skill with that text, or its error. */
static const char *tell(const char *text)
{
	static char told[4096];
	temp_put("home/skills/one/SKILL.md", str_of(text));
	struct skills_list_entry entry = scan("p");
	assert_int_equal(entry.skills_count + entry.errors_count, 1);
	struct str message = entry.skills_count ? entry.skills[0].description : entry.errors[0].message;
	snprintf(told, sizeof(told), "%s%.*s", entry.errors_count ? "! " : "", STR_ARG(message));
	return told;
}

static void front_matter_describes_the_skill(void **state)
{
	(void)state;
	assert_string_equal(tell("---\nname: a\ndescription: >\n  two\n  lines\n---\n"), "two lines");
	assert_string_equal(tell("--- \r\ndescription: \"q: x\"\r\n---\r\nbody"), "q: x");
	assert_string_equal(tell("---\nname: a\n---\n"), "! invalid YAML: missing field `description`");
	assert_string_equal(tell("---\nname: a\ndescription: ''\n---\n"),
	                    "! invalid YAML: missing field `description`");
	assert_string_equal(tell("no front matter"), "! missing YAML frontmatter delimited by ---");
	assert_string_equal(tell("---\nname: a\n"), "! missing YAML frontmatter delimited by ---");
	assert_string_equal(tell(""), "! missing YAML frontmatter delimited by ---");
	assert_string_equal(tell("---\n- a\n---\n"), "! invalid YAML: keys and values were expected");
	assert_string_equal(tell("---\nname: [\n---\n"),
	                    "! invalid YAML: did not find expected node content at line 2 column 1");
	assert_string_equal(tell("---\ndescription: a: b\n---\n"),
	                    "! invalid YAML: mapping values are not allowed in this context at line 1 column 15");
}

static void values_over_their_maximum_are_refused(void **state)
{
	(void)state;
	char long_text[1200], text[2000];
	memset(long_text, 'x', sizeof(long_text));
	snprintf(text, sizeof(text), "---\nname: %.65s\ndescription: d\n---\n", long_text);
	assert_string_equal(tell(text), "! invalid name: exceeds maximum length of 64 characters");
	snprintf(text, sizeof(text), "---\nname: a\ndescription: %.1025s\n---\n", long_text);
	assert_string_equal(tell(text), "! invalid description: exceeds maximum length of 1024 characters");
}

static void the_name_defaults_to_the_folder(void **state)
{
	(void)state;
	temp_put("home/skills/one/SKILL.md", STR("---\ndescription: d\n---\n"));
	struct skills_list_entry entry = scan("p");
	assert_string_equal(names_of(&entry), "user:one");
}

static void openai_yaml_is_for_lists(void **state)
{
	(void)state;
	put_skill("home/skills/a", "a", "d");
	temp_put("home/skills/a/agents/openai.yaml",
	         STR("interface:\n  display_name: A skill\n  icon_small: ./assets/a.png\n"
	             "  icon_large: assets/../../x\n  brand_color: '#12aBcd'\n"
	             "dependencies:\n  tools:\n    - {type: mcp, value: server}\n    - {}\n"));
	struct skills_list_entry entry = scan("p");
	const struct skill_metadata *skill = &entry.skills[0];
	auto_free char *icon = xasprintf("%s/skills/a/assets/a.png", places.home);
	assert_str(skill->interface->display_name, "A skill");
	assert_true(str_is(skill->interface->icon_small, icon));
	assert_null(skill->interface->icon_large.ptr);
	assert_str(skill->interface->brand_color, "#12aBcd");
	assert_int_equal(skill->dependencies->tools_count, 1);
}

/* ---- YAML ---- */

static void check_yaml(const char *text, const char *want)
{
	struct error err = {0};
	const struct json *root = yaml_read(&arena, str_of(text), &err);
	struct str got = root ? root->span : str_of(err.text);
	if (!str_is(got, want))
		fail_msg("%s: got %.*s, want %s", text, STR_ARG(got), want);
}

static void yaml_becomes_a_tree(void **state)
{
	(void)state;
	check_yaml("a: &x 1\nb: {c: [}", "did not find expected node content at line 2 column 9");
	check_yaml("a: 1\nb: [x, 'y', ~]\nc: {d: \"\"}", "{\"a\":\"1\",\"b\":[\"x\",\"y\",null],\"c\":{\"d\":\"\"}}");
	check_yaml("", "null");
	check_yaml("a\n---\nb", "a second document at line 3 column 1");
	check_yaml("? [a]\n: b", "a key must be plain text at line 1 column 3");
	check_yaml("a: \xff", "invalid leading UTF-8 octet at byte 3");
}

static void bombs_do_not_go_off(void **state)
{
	(void)state;
	check_yaml("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
	           "an alias (*name) cannot be used here at line 2 column 8");
	check_yaml("a: &a [*a]", "an alias (*name) cannot be used here at line 1 column 8");
	auto_buf struct buf deep;
	buf_init(&deep, LIMIT_FRONT_MATTER + 1);
	for (int i = 0; i < 20000; i++)
		buf_append_char(&deep, '[');
	check_yaml(deep.data, "nested too deep at line 1 column 17");
	while (!deep.over)
		buf_append_char(&deep, 'x');
	check_yaml(deep.data, "more than 64 KiB of front matter");
}

/* ---- mentions ---- */

static void on_mention(const struct skill_metadata *skill, void *self)
{
	buf_printf(self, "%.*s ", STR_ARG(skill->name));
}

static void check_mentions(const struct skills_list_entry *entry, const char *text, const char *want)
{
	auto_buf struct buf got;
	buf_init(&got, 4096);
	skill_mention_each(entry, str_of(text), on_mention, &got);
	assert_string_equal(got.data ? got.data : "", want);
}

static void dollars_name_skills(void **state)
{
	(void)state;
	put_skill("home/skills/a", "a-b", "d");
	put_skill("home/skills/p", "PATH", "d");
	put_skill("home/skills/t1", "twice", "d");
	put_skill("home/skills/t2", "twice", "d");
	struct skills_list_entry entry = scan("p");
	auto_free char *link = xasprintf("see [$any](%s/skills/t1/SKILL.md) and [$x](skill://%s/skills/a/SKILL.md)",
	                                 places.home, places.home);
	check_mentions(&entry, "$a-b", "a-b ");
	check_mentions(&entry, "use ($a-b), twice $a-b.", "a-b a-b ");
	check_mentions(&entry, "$a-bc $a $A-b $ $$ a-b", "");
	check_mentions(&entry, "$PATH $twice", "");
	check_mentions(&entry, link, "twice a-b ");
	check_mentions(&entry, "[$a-b](mcp://docs) [$a-b](app://x) [$a-b](/tmp/f) [$a-b](skill://team/skill)", "");
	check_mentions(&entry, "[$a-b] [$a-b](", "a-b a-b ");
}

/* ---- the preamble ---- */

static void the_list_has_a_budget(void **state)
{
	(void)state;
	struct skill_metadata skills[500];
	struct skills_list_entry entry = {.skills = skills, .skills_count = 2};
	char long_text[1025] = {0};
	auto_buf struct buf out;
	buf_init(&out, MIB);
	memset(long_text, 'x', 1024);
	for (size_t i = 0; i < countof(skills); i++)
		skills[i] = (struct skill_metadata){.name = STR("name"),
		                                    .description = str_of(long_text),
		                                    .path = STR("/a/SKILL.md"),
		                                    .enabled = true};
	struct skill_brief_cut cut = skill_brief_write(&entry, &out);
	assert_int_equal(cut.shortened + cut.left_out, 0);
	assert_non_null(strstr(out.data, long_text));
	buf_clear(&out);
	entry.skills_count = countof(skills);
	cut = skill_brief_write(&entry, &out);
	assert_true(cut.left_out > 0 && cut.shortened > 0);
	assert_int_equal(cut.left_out + cut.shortened, countof(skills));
	assert_true(out.len < LIMIT_SKILL_LIST + 4 * KIB);
	assert_non_null(strstr(out.data, "more, which there is no room to list"));
	buf_clear(&out);
	skills[0].enabled = false;
	entry.skills_count = 1;
	skill_brief_write(&entry, &out);
	assert_int_equal(out.len, 0);
}

/* ---- custom prompts ---- */

static void check_prompt(const char *call, const char *want)
{
	struct error err = {0};
	auto_buf struct buf out;
	buf_init(&out, MIB);
	int status = custom_prompt_expand(places.home, str_of(call), &out, &err);
	assert_string_equal(status == 0 ? (out.data ? out.data : "") : err.text, want);
}

static void prompts_take_arguments(void **state)
{
	(void)state;
	temp_put("home/prompts/pos.md", STR("---\ndescription: by place\nargument_hint: A B\n---\n\n"
	                                    "$1 and $2: $ARGUMENTS $$1 $x"));
	temp_put("home/prompts/named.md", STR("fix $FILE in $LANG_2"));
	temp_put("home/prompts/bad.md", STR("\xff"));
	temp_put("home/prompts/note.txt", STR("no"));
	struct ev_list_custom_prompts list = custom_prompt_list(places.home, &arena);
	assert_int_equal(list.custom_prompts_count, 2);
	assert_str(list.custom_prompts[0].name, "named");
	assert_null(list.custom_prompts[0].description.ptr);
	assert_str(list.custom_prompts[1].description, "by place");
	assert_str(list.custom_prompts[1].argument_hint, "A B");
	check_prompt("/prompts:pos one \"two 2\"", "one and two 2: one two 2 $$1 $x");
	check_prompt("/prompts:pos", " and :  $$1 $x");
	temp_put("home/secret.md", STR("a prompt is a file of its folder and of no other"));
	auto_free char *nowhere =
		xasprintf("prompt ../secret not found: %s/prompts has no readable ../secret.md", places.home);
	check_prompt("/prompts:../secret", nowhere);
	check_prompt("/prompts:named FILE=a.c LANG_2='C 17'", "fix a.c in C 17");
	check_prompt("/prompts:named x",
	             "Could not parse /prompts:named: expected key=value but found 'x'. Wrap values in double quotes "
	             "if they contain spaces.");
	check_prompt("/prompts:named =x", "Could not parse /prompts:named: expected a name before '=' in '=x'.");
	check_prompt("/prompts:named FILE=x",
	             "Missing required args for /prompts:named: LANG_2. Provide as key=value (quote values with "
	             "spaces).");
	check_prompt("/prompts:pos \"x", "/prompts:pos: a quote is not closed");
	assert_true(custom_prompt_is_called(STR(" /prompts:x")));
	assert_false(custom_prompt_is_called(STR("see /prompts:x")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_nearest_folders_and_those_of_the_project_come_first, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(links_are_followed_once, setup, teardown),
		cmocka_unit_test_setup_teardown(too_deep_or_hidden_is_not_looked_at, setup, teardown),
		cmocka_unit_test_setup_teardown(a_folder_of_ten_thousand_entries_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(rules_switch_off, setup, teardown),
		cmocka_unit_test_setup_teardown(front_matter_describes_the_skill, setup, teardown),
		cmocka_unit_test_setup_teardown(values_over_their_maximum_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_name_defaults_to_the_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(openai_yaml_is_for_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(yaml_becomes_a_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(bombs_do_not_go_off, setup, teardown),
		cmocka_unit_test_setup_teardown(dollars_name_skills, setup, teardown),
		cmocka_unit_test_setup_teardown(the_list_has_a_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(prompts_take_arguments, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
