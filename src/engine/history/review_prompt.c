/* The reviewer finds the change itself, with git: what a branch has in common with another is asked when the diff is
 * made, in one command, so that nothing is run here and a commit made meanwhile is in it. Names come from the client
 * and stand in that command, so they are quoted for the shell. */
#include "engine/history/review_prompt.h"

#include "base/limits.h"
#include "base/text.h"

/* No name of git's begins with a dash; what does, is not to be taken for an option. Nor does one hold a line end: what
 * text_append_line makes of it is as unknown to git as the name was. */
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

void review_prompt_write_report(struct str what_happened, const struct buf *results, struct buf *out)
{
	buf_printf(out, "<user_action>\n  <context>%.*s</context>\n  <action>review</action>\n  <results>\n",
	           STR_ARG(str_trim(what_happened)));
	buf_append_str(out, results ? buf_str(results) : STR("None."));
	buf_append_c(out, "\n  </results>\n</user_action>");
}
