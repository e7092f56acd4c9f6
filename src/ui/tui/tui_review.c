/* /review: the subject is chosen from lists that git fills. */
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/message.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_git.h"
#include "ui/tui/tui_priv.h"

enum { LISTED_MAX = 200, SHA_LEN = 40 };

static void start_review(struct tui *tui, struct review_target target)
{
	struct review_request request = {.target = &target};
	struct op_review op = {.review_request = &request};
	tui->is_exclusive = true;
	tui_submit(tui, OP_review, &op);
}

static void review_custom(struct tui *tui, struct str text)
{
	struct review_custom custom = {text};
	start_review(tui, (struct review_target){.tag = review_target_custom, .custom = &custom});
}

/* ---- lists of git ---- */

static void on_branch_chosen(const struct tui_chosen *chosen, void *self)
{
	struct review_branch branch = {chosen->label};
	if (chosen->at >= 0)
		start_review(self, (struct review_target){.tag = review_target_base_branch, .base_branch = &branch});
}

/* The label of a commit is its id in full, a blank, and its subject. */
static void on_commit_chosen(const struct tui_chosen *chosen, void *self)
{
	if (chosen->at < 0 || chosen->label.len < SHA_LEN)
		return;
	struct review_commit commit = {str_n(chosen->label.ptr, SHA_LEN), str_trim(str_skip(chosen->label, SHA_LEN))};
	start_review(self, (struct review_target){.tag = review_target_commit, .commit = &commit});
}

static void open_list(struct tui *tui, struct str title, struct str lines, tui_chosen_fn on_chosen)
{
	VEC(struct tui_choice) items = {0};
	struct str line;
	while (items.count < LISTED_MAX && str_next_line(&lines, &line)) {
		if (line.len)
			vec_push(&items, (struct tui_choice){.label = str_dup(line)});
	}
	struct tui_choices what = {.title = title,
	                           .items = items.items,
	                           .count = items.count,
	                           .hint = "  type to search · enter select · esc back",
	                           .is_searched = true,
	                           .on_chosen = on_chosen,
	                           .self = tui};
	if (items.count)
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
	else
		tui_cells_fail(tui->cells, STR("there is nothing to choose from: is this folder in a git repository?"));
	vec_for_each(item, &items)
		free((char *)item->label);
	vec_finish(&items);
}

static void on_branches(struct str output, bool is_ok, void *self)
{
	struct tui *tui = self;
	tui->git = NULL;
	open_list(tui, STR("Select the base branch\n"), is_ok ? output : STR(""), on_branch_chosen);
}

static void on_commits(struct str output, bool is_ok, void *self)
{
	struct tui *tui = self;
	tui->git = NULL;
	open_list(tui, STR("Select a commit\n"), is_ok ? output : STR(""), on_commit_chosen);
}

static void list(struct tui *tui, const char *script, tui_git_done_fn on_done)
{
	tui_git_cancel(tui->git);
	tui->git = tui_git_start(tui->loop, tui->cwd, &(struct tui_git_script){.text = script}, on_done, tui);
}

/* ---- the command ---- */

static void on_preset(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	if (chosen->at == 0)
		list(tui, "$GIT branch --format='%(refname:short)' --sort=-committerdate", on_branches);
	else if (chosen->at == 1)
		start_review(tui, (struct review_target){.tag = review_target_uncommitted_changes});
	else if (chosen->at == 2)
		list(tui, "$GIT log -n 100 --no-show-signature --format='%H %s'", on_commits);
	else if (chosen->at == 3)
		composer_set(&tui->composer, STR("/review "));
}

void on_slash_review(struct tui *tui, struct str text)
{
	static const struct tui_choice items[] = {{"Review against a base branch", "as a pull request", 0},
	                                          {"Review uncommitted changes", NULL, 0},
	                                          {"Review a commit", NULL, 0},
	                                          {"Custom review instructions", NULL, 0}};
	struct tui_choices what = {.title = STR("Select a review preset\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .hint = "  enter select · esc back",
	                           .on_chosen = on_preset,
	                           .self = tui};
	if (text.len)
		review_custom(tui, text);
	else
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
}
