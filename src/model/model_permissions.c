/* The text is composed of parts, so that each rule is written once and only rules in effect are included: a model that
 * reads about approval requests will send them even if they are disabled. */
#include "model/model_permissions.h"

#include "base/text.h"
#include "model/prompt.h"

static const struct str *const sandbox_text[sandbox_mode_count] = {
	[sandbox_mode_read_only] = &prompt_sandbox_read_only,
	[sandbox_mode_workspace_write] = &prompt_sandbox_workspace_write,
	[sandbox_mode_danger_full_access] = &prompt_sandbox_danger_full_access,
	[sandbox_mode_external_sandbox] = &prompt_sandbox_external_sandbox,
};

static const struct str *const approval_text[ask_for_approval_tag_count] = {
	[ask_for_approval_never] = &prompt_approval_never,
	[ask_for_approval_on_request] = &prompt_approval_on_request,
	[ask_for_approval_on_failure] = &prompt_approval_on_failure,
	[ask_for_approval_untrusted] = &prompt_approval_untrusted,
	[ask_for_approval_granular] = &prompt_approval_granular,
};

static const char *const question_text[QUESTION_count] = {
	[QUESTION_sandbox] = "leaving the sandbox, and commands that destroy",
	[QUESTION_rules] = "commands for which a rule requires an approval",
	[QUESTION_skill] = "scripts of skills",
	[QUESTION_permissions] = "more permissions",
	[QUESTION_mcp] = "questions of MCP servers",
};

static bool is_sandboxed(const struct model_permissions *permissions)
{
	return permissions->sandbox != sandbox_mode_danger_full_access &&
	       permissions->sandbox != sandbox_mode_external_sandbox;
}

static const struct str *approval_of(const struct model_permissions *permissions)
{
	enum ask_for_approval_tag tag = permissions->approval->tag;
	bool may_matter = tag == ask_for_approval_untrusted || tag == ask_for_approval_granular;
	return is_sandboxed(permissions) || may_matter ? approval_text[tag] : &prompt_approval_unneeded;
}

static void write_line(struct buf *out, struct str text)
{
	buf_append_str(out, text);
	buf_append_char(out, '\n');
}

/* Lists the approval requests that a granular policy permits and those that it denies. */
static void write_questions(struct buf *out, const struct ask_for_approval *policy)
{
	for (int question = 0; question < QUESTION_count; question++)
		buf_printf(out, "- %s: %s\n", approval_may_ask(policy, question) ? "asked" : "refused",
		           question_text[question]);
	if (approval_may_ask(policy, QUESTION_sandbox))
		write_line(out, prompt_approval_escalate);
}

static void write_folders(struct buf *out, const struct model_permissions *permissions)
{
	buf_append_c(out, "Writable folders:\n");
	for (size_t i = 0; i < permissions->writable_count; i++) {
		buf_append_c(out, "- ");
		text_append_line(out, permissions->writable[i]);
		buf_append_char(out, '\n');
	}
}

void model_permissions_write(struct buf *out, const struct model_permissions *permissions)
{
	buf_append_c(out, "<permissions instructions>\n");
	write_line(out, *sandbox_text[permissions->sandbox]);
	if (permissions->sandbox == sandbox_mode_workspace_write && permissions->writable_count)
		write_folders(out, permissions);
	write_line(out, permissions->has_network ? prompt_network_enabled : prompt_network_restricted);
	write_line(out, *approval_of(permissions));
	if (permissions->approval->tag == ask_for_approval_on_request && is_sandboxed(permissions))
		write_line(out, prompt_approval_escalate);
	if (permissions->approval->tag == ask_for_approval_granular)
		write_questions(out, permissions->approval);
	if (permissions->has_reviewer && permissions->approval->tag != ask_for_approval_never)
		write_line(out, prompt_approval_reviewed);
	buf_append_c(out, "</permissions instructions>");
}
