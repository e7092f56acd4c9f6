/* The request names the git command that shows the change, so no command is run here, and the diff is current when
 * the reviewer reads it. Names of branches and commits come from the client and are quoted for the shell.
 *
 * The answer is not read by the record's decoder, which requires every field: a list of findings without a verdict
 * is still usable. */
#include "engine/history/review.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

/* ---- the request ---- */

/* Quotes a name for the shell. Valid names in git neither begin with a dash, which would look like an option, nor
 * contain line ends, which are replaced. */
static void quote(struct str word, struct buf *out)
{
	if (str_has_prefix(word, "-"))
		buf_append_c(out, "--end-of-options ");
	auto_buf struct buf line;
	buf_init(&line, LIMIT_CONTEXT_TEXT);
	text_append_line(&line, word);
	word = buf_str(&line);
	buf_append_char(out, '\'');
	for (size_t i = 0; i < word.len; i++) {
		if (word.ptr[i] == '\'')
			buf_append_c(out, "'\\''");
		else
			buf_append_char(out, word.ptr[i]);
	}
	buf_append_char(out, '\'');
}

static void ask_branch(struct str branch, struct buf *out)
{
	buf_append_c(out, "Review what this working tree changes against the branch ");
	text_append_line(out, branch);
	buf_append_c(out, ". The change is what ");
	buf_append_c(out, "`git diff \"$(git merge-base HEAD ");
	quote(branch, out);
	buf_append_c(out, ")\"` shows, from where the two parted; if that branch exists only on a remote, use its "
	                  "remote name.");
}

static void ask_commit(const struct review_commit *commit, struct buf *out)
{
	struct str sha = str_trim(commit->sha), title = str_trim(commit->title);
	buf_append_c(out, "Review the commit ");
	text_append_line(out, sha);
	if (title.len) {
		buf_append_c(out, " (\"");
		text_append_line(out, title);
		buf_append_c(out, "\")");
	}
	buf_append_c(out, ": the change is what `git show ");
	quote(sha, out);
	buf_append_c(out, "` shows.");
}

void review_prompt_write(const struct review_target *target, struct buf *out)
{
	switch (target->tag) {
	case review_target_base_branch:
		ask_branch(str_trim(target->base_branch->branch), out);
		break;
	case review_target_commit:
		ask_commit(target->commit, out);
		break;
	case review_target_custom:
		buf_append_str(out, str_trim(target->custom->instructions));
		break;
	default:
		buf_append_c(out, "Review what is not committed yet in this working tree: what is staged, what is not, "
		                  "and the files that git does not track (`git status --porcelain`, "
		                  "`git diff HEAD`).");
	}
}

void review_prompt_write_report(struct str outcome, const struct buf *results, struct buf *out)
{
	buf_printf(out, "<user_action>\n  <context>%.*s</context>\n  <action>review</action>\n  <results>\n",
	           STR_ARG(str_trim(outcome)));
	buf_append_str(out, results ? buf_str(results) : STR("None."));
	buf_append_c(out, "\n  </results>\n</user_action>");
}

/* ---- the answer ---- */

static struct str text_of(const struct json *object, const char *key)
{
	struct str text = json_get_str(object, key);
	return text.ptr ? text : STR("");
}

static double score_of(const struct json *object, const char *key)
{
	double score = 0;
	json_to_double(json_get(object, key), &score);
	return score;
}

static struct review_code_location *read_location(const struct json *json, struct arena *arena)
{
	struct review_code_location *location = arena_new(arena, struct review_code_location);
	struct review_line_range *range = arena_new(arena, struct review_line_range);
	const struct json *lines = json_get(json, "line_range");
	location->absolute_file_path = text_of(json, "absolute_file_path");
	location->line_range = range;
	range->start = json_get_i64(lines, "start", 0);
	range->end = json_get_i64(lines, "end", range->start);
	return location;
}

static bool read_finding(const struct json *json, struct arena *arena, struct review_finding *ret)
{
	*ret = (struct review_finding){
		.title = text_of(json, "title"),
		.body = text_of(json, "body"),
		.confidence_score = score_of(json, "confidence_score"),
		.priority = json_get_i64(json, "priority", 0),
		.code_location = read_location(json_get(json, "code_location"), arena),
	};
	return ret->title.len || ret->body.len;
}

static bool read_output(const struct json *json, struct arena *arena, struct review_output *ret)
{
	const struct json *findings = json_get(json, "findings");
	*ret = (struct review_output){
		.overall_correctness = text_of(json, "overall_correctness"),
		.overall_explanation = text_of(json, "overall_explanation"),
		.overall_confidence_score = score_of(json, "overall_confidence_score"),
	};
	if (!json_is(findings, JSON_array) && !ret->overall_explanation.len)
		return false;
	ret->findings = arena_array(arena, struct review_finding, findings ? findings->count : 0);
	json_for_each(it, findings)
		ret->findings_count += read_finding(it, arena, &ret->findings[ret->findings_count]);
	return ret->findings_count || ret->overall_explanation.len || ret->overall_correctness.len;
}

/* Returns the text from the first brace to the last, because some models write prose or a Markdown block around
 * their JSON. */
static struct str inner_object(struct str text)
{
	ptrdiff_t first = str_find_char(text, '{'), last = str_rfind_char(text, '}');
	return first >= 0 && last > first ? str_n(text.ptr + first, (size_t)(last - first) + 1) : STR_NONE;
}

void review_answer_read(struct str text, struct arena *arena, struct review_output *ret)
{
	const struct json *json = json_parse(arena, text, NULL);
	struct str inner = json ? STR_NONE : inner_object(text);
	if (inner.ptr)
		json = json_parse(arena, inner, NULL);
	if (json_is(json, JSON_object) && read_output(json, arena, ret))
		return;
	*ret = (struct review_output){.overall_correctness = STR(""), .overall_explanation = str_trim(text)};
	if (!ret->overall_explanation.ptr)
		ret->overall_explanation = STR("");
}
