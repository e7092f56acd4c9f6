/* The text is put together from pieces so that each rule is written once and only what holds is said: a model that
 * reads about questions it cannot ask will try to ask them. */
#include "model/model_permissions.h"

#include "model/prompt.h"

static const struct str *const sandbox_text[sandbox_mode_count] = {
	[sandbox_mode_read_only] = &prompt_sandbox_read_only,
	[sandbox_mode_workspace_write] = &prompt_sandbox_workspace_write,
	[sandbox_mode_danger_full_access] = &prompt_sandbox_danger_full_access,
	[sandbox_mode_external_sandbox] = &prompt_sandbox_external_sandbox,
};

static const struct str *const approval_text[approval_policy_count] = {
	[approval_policy_never] = &prompt_approval_never,
	[approval_policy_on_request] = &prompt_approval_on_request,
	[approval_policy_on_failure] = &prompt_approval_on_failure,
	[approval_policy_untrusted] = &prompt_approval_untrusted,
};

static const struct str *approval_of(const struct model_permissions *permissions)
{
	bool is_unrestricted = permissions->sandbox == sandbox_mode_danger_full_access ||
			       permissions->sandbox == sandbox_mode_external_sandbox;
	if (is_unrestricted && permissions->approval != approval_policy_untrusted)
		return &prompt_approval_unneeded;
	return approval_text[permissions->approval];
}

static void write_line(struct buf *out, struct str text)
{
	buf_append_str(out, text);
	buf_append_char(out, '\n');
}

void model_permissions_write(struct buf *out, const struct model_permissions *permissions)
{
	buf_append_c(out, "<permissions instructions>\n");
	write_line(out, *sandbox_text[permissions->sandbox]);
	if (permissions->sandbox == sandbox_mode_workspace_write && permissions->writable_count) {
		buf_append_c(out, "Writable folders:\n");
		for (size_t i = 0; i < permissions->writable_count; i++) {
			buf_append_c(out, "- ");
			write_line(out, permissions->writable[i]);
		}
	}
	write_line(out, permissions->has_network ? prompt_network_enabled : prompt_network_restricted);
	write_line(out, *approval_of(permissions));
	buf_append_c(out, "</permissions instructions>");
}
