/* Marks are unique within a text, so that each stands for one paste or image wherever it is moved. */
#include "base/mem.h"
#include "base/text.h"
#include "ui/exec/exec_prompt.h"
#include "ui/tui/tui_composer_priv.h"

enum { MARKS_MAX = 256 };

void composer_drop_marks(struct composer *composer)
{
	vec_for_each(mark, &composer->marks) {
		free(mark->mark);
		free(mark->text);
		free(mark->image);
	}
	composer->marks.count = 0;
}

static bool is_used(const struct composer *composer, const char *mark)
{
	vec_for_each(it, &composer->marks) {
		if (strcmp(it->mark, mark) == 0)
			return true;
	}
	return false;
}

static void add(struct composer *composer, struct composer_mark mark)
{
	vec_push(&composer->marks, mark);
	composer_insert(composer, str_of(mark.mark));
}

void composer_paste(struct composer *composer, struct str text)
{
	size_t count = text_char_count(text);
	if (count <= COMPOSER_PASTE_SHOWN || composer->marks.count == MARKS_MAX) {
		composer_insert(composer, text);
		return;
	}
	char *mark = xasprintf("[Pasted Content %zu chars]", count);
	for (unsigned number = 2; is_used(composer, mark); number++) {
		free(mark);
		mark = xasprintf("[Pasted Content %zu chars #%u]", count, number);
	}
	add(composer, (struct composer_mark){.mark = mark, .text = str_dup(text)});
}

/* Forgets images that were removed, so that their numbers are free. */
static void forget_images(struct composer *composer)
{
	for (size_t i = composer->marks.count; i-- > 0;) {
		struct composer_mark *mark = &composer->marks.items[i];
		struct str text = str_of(mark->mark);
		if (!mark->image || str_find(composer_text(composer), text) >= 0 ||
		    str_find(buf_str(&composer->killed), text) >= 0 ||
		    str_find(buf_str(&composer->vim.undo), text) >= 0)
			continue;
		free(mark->mark);
		free(mark->image);
		*mark = composer->marks.items[--composer->marks.count];
	}
}

void composer_attach(struct composer *composer, const char *path)
{
	unsigned number = 1;
	forget_images(composer);
	if (composer->marks.count == MARKS_MAX)
		return;
	vec_for_each(mark, &composer->marks)
		number = mark->image && mark->number >= number ? mark->number + 1 : number;
	add(composer,
	    (struct composer_mark){.mark = xasprintf("[Image #%u]", number), .image = xstrdup(path), .number = number});
}

/* Returns the mark that stands first in text; NULL: none. */
static const struct composer_mark *first_mark(const struct composer *composer, struct str text, size_t *ret_at)
{
	const struct composer_mark *first = NULL;
	vec_for_each(mark, &composer->marks) {
		ptrdiff_t at = str_find(text, str_of(mark->mark));
		if (at < 0 || (first && (size_t)at >= *ret_at))
			continue;
		first = mark;
		*ret_at = (size_t)at;
	}
	return first;
}

static void append_expanded(const struct composer *composer, struct buf *out, struct exec_images *images)
{
	struct str rest = composer_text(composer);
	const struct composer_mark *mark;
	size_t at = 0;
	while ((mark = first_mark(composer, rest, &at))) {
		buf_append(out, rest.ptr, at);
		buf_append_c(out, mark->text ? mark->text : mark->mark);
		if (mark->image && images)
			vec_push(images, (struct input_local_image){.path = str_of(xstrdup(mark->image))});
		rest = str_skip(rest, at + strlen(mark->mark));
	}
	buf_append_str(out, rest);
}

void composer_take(struct composer *composer, struct buf *out, struct exec_images *images)
{
	size_t from = out->len;
	if (composer->is_shell)
		buf_append_char(out, '!');
	append_expanded(composer, out, images);
	composer_remember(composer, str_skip(buf_str(out), from));
	composer_drop_marks(composer);
	composer_set(composer, STR(""));
	composer_vim_reset(composer);
}
