/* Entries of earlier sessions come first. A search shows its match in the composer; its state is a text and an entry.
 */
#include "base/mem.h"
#include "term/term_width.h"
#include "ui/tui/tui_composer_priv.h"
#include "ui/tui/tui_limits.h"

void composer_remember(struct composer *composer, struct str text)
{
	size_t count = composer->history.count;
	bool is_new = text.len && !(count && str_is(text, composer->history.items[count - 1]));
	if (is_new && count == LIMIT_TUI_HISTORY) {
		free(composer->history.items[0]);
		memmove(composer->history.items, composer->history.items + 1, (count - 1) * sizeof(char *));
		composer->history.count--;
	}
	if (is_new)
		vec_push(&composer->history, str_dup(text));
	composer->at = composer->history.count;
}

void composer_add_older(struct composer *composer, char **texts, size_t count)
{
	size_t room = LIMIT_TUI_HISTORY - composer->history.count, kept = count < room ? count : room;
	for (size_t i = 0; i < count - kept; i++)
		free(texts[i]);
	for (size_t i = 0; i < kept; i++)
		vec_push(&composer->history, NULL);
	if (!composer->history.count)
		return;
	memmove(composer->history.items + kept, composer->history.items,
	        (composer->history.count - kept) * sizeof(char *));
	for (size_t i = 0; i < kept; i++)
		composer->history.items[i] = texts[count - kept + i];
	composer->at += kept;
	composer->found += kept;
}

static void keep_draft(struct composer *composer)
{
	if (composer->at != composer->history.count)
		return;
	buf_clear(&composer->draft);
	buf_append_str(&composer->draft, composer_text(composer));
	composer->draft_is_shell = composer->is_shell;
}

void composer_recall(struct composer *composer, size_t at)
{
	keep_draft(composer);
	composer->at = at;
	if (at < composer->history.count) {
		composer_set(composer, str_of(composer->history.items[at]));
	} else {
		composer_set(composer, STR(""));
		composer->is_shell = composer->draft_is_shell;
		composer_insert(composer, buf_str(&composer->draft));
	}
}

/* ---- the search ---- */

void composer_search_begin(struct composer *composer)
{
	keep_draft(composer);
	buf_clear(&composer->search);
	composer->is_searching = true;
	composer->found = composer->history.count;
}

static bool matches(const struct composer *composer, size_t at)
{
	return str_contains_fold(str_of(composer->history.items[at]), buf_str(&composer->search));
}

static void show(struct composer *composer, size_t at)
{
	size_t old = composer->at;
	composer->at = composer->found = at;
	if (old != at)
		composer_set(composer, str_of(composer->history.items[at]));
}

/* Shows the next match before (or after) the entry `from`, which is not looked at. */
static void search_older(struct composer *composer, size_t from)
{
	while (from-- > 0) {
		if (!matches(composer, from))
			continue;
		show(composer, from);
		return;
	}
}

static void search_newer(struct composer *composer)
{
	for (size_t at = composer->found + 1; at < composer->history.count; at++) {
		if (!matches(composer, at))
			continue;
		show(composer, at);
		return;
	}
}

static void search_again(struct composer *composer)
{
	composer_recall(composer, composer->history.count);
	composer->found = composer->history.count;
	if (composer->search.len)
		search_older(composer, composer->history.count);
}

static void end_search(struct composer *composer, bool is_taken)
{
	composer->is_searching = false;
	if (!is_taken)
		composer_recall(composer, composer->history.count);
}

/* Ctrl-R and Ctrl-S go to other matches, Ctrl-C and Ctrl-G restore the draft. */
static bool search_ctrl(struct composer *composer, char c)
{
	if (c == 'r')
		search_older(composer, composer->found);
	else if (c == 's')
		search_newer(composer);
	else
		end_search(composer, c != 'c' && c != 'g');
	return strchr("rscg", c) != NULL;
}

bool composer_search_key(struct composer *composer, const struct term_key *key)
{
	if (key->kind == TERM_CHAR && key->mods == TERM_CTRL)
		return search_ctrl(composer, key->text.ptr[0]);
	if (key->kind == TERM_CHAR && !key->mods) {
		buf_append_str(&composer->search, key->text);
		search_again(composer);
	} else if (key->kind == TERM_NAMED && key->name == KEY_backspace) {
		buf_truncate(&composer->search, composer->search.len - term_cluster_last(buf_str(&composer->search)));
		search_again(composer);
	} else {
		bool is_enter = key->kind == TERM_NAMED && (key->name == KEY_enter || key->name == KEY_tab);
		bool is_escape = key->kind == TERM_NAMED && key->name == KEY_escape;
		end_search(composer, !is_escape);
		return is_enter || is_escape;
	}
	return true;
}
