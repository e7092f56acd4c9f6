/* Clients parse this layout: a heading, then a list of "- title — file:first-last", each with its body indented by
 * two spaces. A missing location is omitted instead of being written as ":0-0". */
#include "protocol/message/review_text.h"

#include <inttypes.h>

void review_write_hint(const struct review_target *target, struct buf *out)
{
	enum { SHORT_SHA = 7 };
	switch (target->tag) {
	case review_target_base_branch:
		buf_printf(out, "changes against '%.*s'", STR_ARG(str_trim(target->base_branch->branch)));
		break;
	case review_target_commit: {
		struct str sha = str_trim(target->commit->sha), title = str_trim(target->commit->title);
		buf_printf(out, "commit %.*s", STR_ARG(str_n(sha.ptr, sha.len < SHORT_SHA ? sha.len : SHORT_SHA)));
		if (title.len)
			buf_printf(out, ": %.*s", STR_ARG(title));
		break;
	}
	case review_target_custom:
		buf_append_str(out, str_trim(target->custom->instructions));
		break;
	default:
		buf_append_c(out, "current changes");
	}
}

static void write_location(const struct review_code_location *location, struct buf *out)
{
	if (!location || !location->absolute_file_path.len)
		return;
	buf_append_c(out, " — ");
	buf_append_str(out, location->absolute_file_path);
	if (location->line_range && location->line_range->start > 0)
		buf_printf(out, ":%" PRId64 "-%" PRId64, location->line_range->start, location->line_range->end);
}

static void write_finding(const struct review_finding *finding, struct buf *out)
{
	struct str rest = finding->body, line;
	buf_append_c(out, "\n\n- ");
	buf_append_str(out, finding->title);
	write_location(finding->code_location, out);
	while (str_next_line(&rest, &line)) {
		buf_append_c(out, "\n  ");
		buf_append_str(out, line);
	}
}

void review_write_output(const struct review_output *output, struct buf *out)
{
	struct str explanation = output ? str_trim(output->overall_explanation) : STR_NONE;
	size_t count = output ? output->findings_count : 0;
	if (!explanation.len && !count) {
		buf_append_c(out, "The review ended without a result.");
		return;
	}
	buf_append_str(out, explanation);
	if (!count)
		return;
	buf_append_c(out, explanation.len ? "\n\n" : "");
	buf_append_c(out, count == 1 ? "Review comment:" : "Full review comments:");
	for (size_t i = 0; i < count; i++)
		write_finding(&output->findings[i], out);
}
