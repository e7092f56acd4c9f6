/* Types for other languages, of small records whose whole output is compared. */
#include "test.h"

#include <stddef.h>

#include "base/error.h"
#include "base/mem.h"
#include "protocol/message/app.h"
#include "protocol/schema/schema.h"
#include "protocol/schema/typescript.h"

struct leaf {
	int64_t size;
};

struct tree {
	struct str name, note;
	bool is_green;
	struct leaf *leaves;
	size_t leaves_count;
	struct tree *next;
	enum app_sandbox_mode mode;
};

/* The text of each record, in the order of record_text.h. */
#define LEAF_TEXT "app_leaf\0\0size__mm\0"
#define TREE_NAME "app_tree\0a tree\0"
#define TREE_TEXT TREE_NAME "name\0how it is called\0note\0\0is_green\0\0leaves\0\0next\0\0mode\0"
#define TEXT_AT(before) sizeof(before) - 1

static const union field_word leaf_words[] = {
	{{.text = TEXT_AT("app_leaf\0\0"), .kind = FIELD_i64, .offset = offsetof(struct leaf, size)}},
};
static const struct record record_leaf = {LEAF_TEXT, {leaf_words}, sizeof(struct leaf), 1, RECORD_CAMEL, false, true};

enum {
	NAME = TEXT_AT(TREE_NAME),
	NOTE = NAME + sizeof("name\0how it is called"),
	IS_GREEN = NOTE + sizeof("note\0"),
	LEAVES = IS_GREEN + sizeof("is_green\0"),
	NEXT = LEAVES + sizeof("leaves\0"),
	MODE = NEXT + sizeof("next\0"),
};
static const struct record record_tree;
static const union field_word tree_words[] = {
	{{NAME, FIELD_str, REQ, .offset = offsetof(struct tree, name)}},
	{{NOTE, FIELD_str, OPT | EXPERIMENTAL, .offset = offsetof(struct tree, note)}},
	{{IS_GREEN, FIELD_bool, DEF, .offset = offsetof(struct tree, is_green)}},
	{{LEAVES, FIELD_records, DEF, .offset = offsetof(struct tree, leaves),
          .aux = offsetof(struct tree, leaves_count), .has_type = true}},
	{.type = &record_leaf},
	{{NEXT, FIELD_record, NUL, .offset = offsetof(struct tree, next), .has_type = true}},
	{.type = &record_tree},
	{{MODE, FIELD_enum, REQ, .offset = offsetof(struct tree, mode), .has_type = true}},
	{.type = &enum_app_sandbox_mode},
};
static const struct record record_tree = {
	TREE_TEXT, {tree_words}, sizeof(struct tree), countof(tree_words), RECORD_CAMEL, false, true,
};

static const struct variant choice_variants[] = {
	{"none\0", NULL, 0, false, false},
	{"oneLeaf\0", &record_leaf, 1, false, false},
	{"bare\0", &record_leaf, 2, false, true},
	{"old\0", NULL, 0, true, false},
};
static const struct union_type internal = {
	"app_choice", UNION_INTERNAL, "type", NULL, choice_variants, 2, "a choice",
};
static const struct union_type external = {
	"app_choice", UNION_EXTERNAL, NULL, NULL, choice_variants, countof(choice_variants), "",
};

static void check_schema(enum type_kind kind, const void *type, bool is_experimental, const char *want)
{
	struct type_set set = {.is_experimental = is_experimental};
	auto_buf struct buf out;
	buf_init(&out, 64 * 1024);
	struct json_writer w = json_writer(&out);
	struct schema schema = {.w = &w, .set = &set};
	jw_object(&w);
	schema_write_members(&schema, kind, type);
	jw_object_end(&w);
	assert_string_equal(out.data, want);
}

#define TREE_BEGIN                                                         \
	"{\"description\":\"a tree\",\"type\":\"object\",\"properties\":{" \
	"\"name\":{\"description\":\"how it is called\",\"type\":\"string\"},"
#define TREE_END                                                                                      \
	"\"isGreen\":{\"default\":false,\"type\":\"boolean\"},"                                       \
	"\"leaves\":{\"default\":[],\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/Leaf\"}}," \
	"\"next\":{\"anyOf\":[{\"$ref\":\"#/definitions/Tree\"},{\"type\":\"null\"}]},"               \
	"\"mode\":{\"allOf\":[{\"$ref\":\"#/definitions/SandboxMode\"}]}},\"required\":[\"name\",\"mode\"]}"

static void a_record_has_required_and_nullable_fields(void **state)
{
	(void)state;
	check_schema(TYPE_record, &record_tree, true, TREE_BEGIN "\"note\":{\"type\":[\"string\",\"null\"]}," TREE_END);
	check_schema(TYPE_record, &record_tree, false, TREE_BEGIN TREE_END);
}

static void a_record_without_rows_says_so(void **state)
{
	(void)state;
	static const struct record empty = {"app_empty\0", {NULL}, 1, 0, RECORD_CAMEL, false, true};
	static const struct record open = {"app_open\0", {NULL}, sizeof(struct str), 0, RECORD_CAMEL, true, true};
	check_schema(TYPE_record, &empty, true, "{\"type\":\"object\"}");
	check_schema(TYPE_record, &open, true, "{\"type\":\"object\",\"additionalProperties\":true}");
}

static void unions_have_the_tags_of_the_wire(void **state)
{
	(void)state;
	check_schema(TYPE_union, &internal, true,
	             "{\"description\":\"a choice\",\"oneOf\":["
	             "{\"title\":\"NoneChoice\",\"type\":\"object\",\"properties\":{\"type\":{\"title\":"
	             "\"NoneChoiceType\",\"type\":\"string\",\"enum\":[\"none\"]}},\"required\":[\"type\"]},"
	             "{\"title\":\"OneLeafChoice\",\"type\":\"object\",\"properties\":{\"type\":{\"title\":"
	             "\"OneLeafChoiceType\",\"type\":\"string\",\"enum\":[\"oneLeaf\"]},\"size_mm\":{\"type\":"
	             "\"integer\",\"format\":\"int64\"}},\"required\":[\"type\",\"size_mm\"]}]}");
	check_schema(TYPE_union, &external, true,
	             "{\"oneOf\":[{\"type\":\"string\",\"enum\":[\"none\"]},"
	             "{\"title\":\"OneLeafChoice\",\"type\":\"object\",\"additionalProperties\":false,\"properties\":"
	             "{\"oneLeaf\":{\"type\":\"object\",\"properties\":{\"size_mm\":{\"type\":\"integer\",\"format\":"
	             "\"int64\"}},\"required\":[\"size_mm\"]}},\"required\":[\"oneLeaf\"]},"
	             "{\"title\":\"BareChoice\",\"type\":\"object\",\"additionalProperties\":false,\"properties\":"
	             "{\"bare\":{\"type\":\"integer\",\"format\":\"int64\"}},\"required\":[\"bare\"]}]}");
}

static void check_script(enum type_kind kind, const void *type, bool is_input, const char *want)
{
	struct type_set set = {0};
	struct named_type named = {.kind = kind, .type = type};
	auto_buf struct buf out;
	buf_init(&out, 64 * 1024);
	typescript_append(&out, &set, &named, is_input);
	assert_string_equal(out.data, want);
}

#define TREE_SCRIPT(leave_out)                                                              \
	"{\n  /** how it is called */\n  name: string;\n  isGreen" leave_out ": boolean;\n" \
	"  leaves" leave_out ": Array<Leaf>;\n  next: Tree | null;\n  mode: SandboxMode;\n}"

static void typescript_says_the_same(void **state)
{
	(void)state;
	check_script(TYPE_record, &record_tree, false, TREE_SCRIPT(""));
	check_script(TYPE_record, &record_tree, true, TREE_SCRIPT("?"));
	check_script(TYPE_enum, &enum_app_sandbox_mode, false,
	             "\"read-only\" | \"workspace-write\" | \"danger-full-access\"");
	check_script(TYPE_union, &internal, false,
	             "\n| {\n  type: \"none\";\n}\n| {\n  type: \"oneLeaf\";\n  size_mm: number;\n}");
	check_script(TYPE_union, &external, false,
	             "\n| \"none\"\n| { \"oneLeaf\": {\n  size_mm: number;\n} }\n| { \"bare\": number }");
}

static void a_set_has_each_part_once_and_ends_where_types_contain_themselves(void **state)
{
	(void)state;
	struct type_set set = {0};
	type_set_add(&set, TYPE_record, &record_tree);
	type_set_add(&set, TYPE_record, &record_tree);
	type_set_sort(&set);
	assert_int_equal(set.types.count, 3);
	assert_string_equal(set.types.items[0].name, "Leaf");
	assert_string_equal(set.types.items[1].name, "SandboxMode");
	assert_string_equal(set.types.items[2].name, "Tree");
	type_set_finish(&set);
}

static void no_two_types_share_a_name(void **state)
{
	(void)state;
	struct type_set set = {.is_experimental = true};
	for (int kind = 0; kind < MESSAGE_kind_count; kind++)
		app_message_add_types((enum app_message_kind)kind, true, &set);
	type_set_sort(&set);
	for (size_t i = 1; i < set.types.count; i++) {
		if (strcmp(set.types.items[i - 1].name, set.types.items[i].name) == 0)
			fail_msg("two types are called %s", set.types.items[i].name);
	}
	assert_true(set.types.count > 100);
	type_set_finish(&set);
}

static void types_stand_in_the_folders_of_the_table(void **state)
{
	(void)state;
	assert_string_equal(type_schema_folder("InitializeParams"), "v1/");
	assert_string_equal(type_script_folder("InitializeParams"), "");
	assert_string_equal(type_schema_folder("ThreadStartParams"), "v2/");
	assert_string_equal(type_script_folder("AbsolutePathBuf"), "");
}

static int fail_third(const char *path, struct str text, struct error *err, void *self)
{
	int *count = self;
	assert_true(*path && text.len);
	return ++*count == 3 ? error_set(err, ERR_io, "full") : 0;
}

static void the_first_file_that_fails_is_the_last(void **state)
{
	(void)state;
	struct error err;
	int count = 0;
	assert_int_equal(schema_write_files(true, fail_third, &err, &count), -ERR_io);
	assert_int_equal(count, 3);
	count = 0;
	assert_int_equal(typescript_write_files(false, fail_third, &err, &count), -ERR_io);
	assert_int_equal(count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_required_and_nullable_fields),
		cmocka_unit_test(a_record_without_rows_says_so),
		cmocka_unit_test(unions_have_the_tags_of_the_wire),
		cmocka_unit_test(typescript_says_the_same),
		cmocka_unit_test(a_set_has_each_part_once_and_ends_where_types_contain_themselves),
		cmocka_unit_test(no_two_types_share_a_name),
		cmocka_unit_test(types_stand_in_the_folders_of_the_table),
		cmocka_unit_test(the_first_file_that_fails_is_the_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
