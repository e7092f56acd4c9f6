/* The permissions message: each combination includes the texts of the rules in effect. */
#include "test.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "model/model_permissions.h"

static bool has(const struct buf *text, const char *part)
{
	return str_find(buf_str(text), str_of(part)) >= 0;
}

/* Asserts that out contains the text of a file in src/model/prompt. */
static void assert_has_file(const struct buf *out, const char *name)
{
	char path[128];
	auto_buf struct buf file;
	buf_init(&file, MIB);
	snprintf(path, sizeof(path), "src/model/prompt/%s.md", name);
	assert_int_equal(file_read(source_path(path), &file, NULL), 0);
	assert_true(file.len > 0);
	if (!has(out, file.data))
		fail_msg("%s is not in: %s", name, out->data);
}

static void write_permissions(struct buf *out, enum sandbox_mode sandbox, enum ask_for_approval_tag approval,
                              bool network)
{
	struct granular_approval granular = {.rules = true};
	struct ask_for_approval policy = {.tag = approval, .granular = &granular};
	struct str folders[] = {STR("/home/me/project"), STR("/tmp")};
	struct model_permissions permissions = {sandbox, &policy, network, folders, 2};
	buf_init(out, MIB);
	model_permissions_write(out, &permissions);
}

static void each_mode_is_described(void **state)
{
	(void)state;
	static const char *const names[] = {"sandbox_read_only", "sandbox_workspace_write",
	                                    "sandbox_danger_full_access", "sandbox_external_sandbox"};
	for (int mode = 0; mode < sandbox_mode_count; mode++) {
		auto_buf struct buf out;
		write_permissions(&out, mode, ask_for_approval_untrusted, mode % 2);
		assert_true(str_has_prefix(buf_str(&out), "<permissions instructions>\n"));
		assert_true(str_has_suffix(buf_str(&out), "\n</permissions instructions>"));
		assert_true(text_is_utf8(buf_str(&out)));
		assert_has_file(&out, names[mode]);
		assert_has_file(&out, mode % 2 ? "network_enabled" : "network_restricted");
		assert_has_file(&out, "approval_untrusted");
		assert_true(has(&out, "- /home/me/project\n- /tmp\n") == (mode == sandbox_mode_workspace_write));
	}
}

static void each_policy_is_described(void **state)
{
	(void)state;
	static const char *const names[] = {"approval_on_request", "approval_untrusted", "approval_on_failure",
	                                    "approval_never", "approval_granular"};
	for (int policy = 0; policy < ask_for_approval_reject; policy++) {
		auto_buf struct buf out;
		write_permissions(&out, sandbox_mode_read_only, policy, false);
		assert_has_file(&out, names[policy]);
	}
}

static void granular_lists_permitted_and_refused_requests(void **state)
{
	(void)state;
	auto_buf struct buf out;
	write_permissions(&out, sandbox_mode_read_only, ask_for_approval_granular, false);
	assert_true(has(&out, "- asked: commands for which a rule"));
	assert_true(has(&out, "- refused: leaving the sandbox"));
	assert_false(has(&out, "require_escalated"));
}

static void no_questions_where_nothing_is_restricted(void **state)
{
	(void)state;
	auto_buf struct buf out;
	write_permissions(&out, sandbox_mode_danger_full_access, ask_for_approval_on_request, true);
	assert_has_file(&out, "approval_unneeded");
	assert_false(has(&out, "require_escalated"));
}

static void the_reviewer_is_described_where_requests_are_possible(void **state)
{
	(void)state;
	for (int tag = 0; tag < ask_for_approval_reject; tag++) {
		auto_buf struct buf out;
		struct granular_approval granular = {.rules = true};
		struct ask_for_approval policy = {.tag = tag, .granular = &granular};
		struct model_permissions permissions = {.approval = &policy, .has_reviewer = true};
		buf_init(&out, MIB);
		model_permissions_write(&out, &permissions);
		assert_true(has(&out, "automatic reviewer") == (tag != ask_for_approval_never));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mode_is_described),
		cmocka_unit_test(each_policy_is_described),
		cmocka_unit_test(granular_lists_permitted_and_refused_requests),
		cmocka_unit_test(no_questions_where_nothing_is_restricted),
		cmocka_unit_test(the_reviewer_is_described_where_requests_are_possible),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
