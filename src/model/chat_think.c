/* At most one incomplete tag, and the blanks before the first one, are held back. */
#include "model/chat_think.h"

#include "base/limits.h"

static const struct str opening = {"<think>", 7}, closing = {"</think>", 8};

void chat_think_init(struct chat_think *think)
{
	*think = (struct chat_think){0};
	buf_init(&think->held, LIMIT_SSE_EVENT);
	buf_init(&think->before, KIB);
	buf_init(&think->after, KIB);
}

void chat_think_finish(struct chat_think *think)
{
	buf_finish(&think->held);
	buf_finish(&think->before);
	buf_finish(&think->after);
}

static void pass(chat_think_fn emit, bool is_thought, struct str text, void *self)
{
	if (text.len)
		emit(is_thought, text, self);
}

/* Returns the number of bytes at the end of the text that may begin the closing tag. */
static size_t count_begun(struct str text)
{
	size_t len = text.len < closing.len ? text.len : closing.len - 1;
	while (len && !str_eq(str_n(closing.ptr, len), str_skip(text, text.len - len)))
		len--;
	return len;
}

/* Each step returns the rest of the text, which has to wait if the state is unchanged. */
static struct str step_before(struct chat_think *think, struct str text)
{
	struct str begin = str_trim_start(text);
	size_t len = begin.len < opening.len ? begin.len : opening.len;
	if (text.len - begin.len > LIMIT_THINK_BLANKS || !str_eq(str_n(begin.ptr, len), str_n(opening.ptr, len))) {
		think->state = THINK_AFTER;
		return text;
	}
	if (len < opening.len)
		return text;
	think->state = THINK_BEGUN;
	begin = str_skip(begin, opening.len);
	buf_append_str(&think->before, str_n(text.ptr, text.len - begin.len));
	return begin;
}

static struct str step_inside(struct chat_think *think, struct str text, chat_think_fn emit, void *self)
{
	ptrdiff_t end = str_find(text, closing);
	size_t len = end < 0 ? text.len - count_begun(text) : (size_t)end;
	pass(emit, true, str_n(text.ptr, len), self);
	if (end < 0)
		return str_skip(text, len);
	think->state = THINK_GAP;
	buf_append_str(&think->after, closing);
	return str_skip(text, len + closing.len);
}

/* Keeps blanks; more than LIMIT_THINK_BLANKS belong to what follows. */
static struct str step_gap(struct chat_think *think, struct str text, struct buf *kept, enum chat_think_state next)
{
	size_t len = text.len - str_trim_start(text).len, kept_blanks = kept->len - str_trim_end(buf_str(kept)).len;
	if (len > LIMIT_THINK_BLANKS - kept_blanks)
		len = LIMIT_THINK_BLANKS - kept_blanks;
	buf_append_str(kept, str_n(text.ptr, len));
	if (text.len > len)
		think->state = next;
	return str_skip(text, len);
}

static struct str step(struct chat_think *think, struct str text, chat_think_fn emit, void *self)
{
	switch (think->state) {
	case THINK_BEFORE:
		return step_before(think, text);
	case THINK_BEGUN:
		return step_gap(think, text, &think->before, THINK_INSIDE);
	case THINK_INSIDE:
		return step_inside(think, text, emit, self);
	case THINK_GAP:
		return step_gap(think, text, &think->after, THINK_AFTER);
	case THINK_AFTER:
		break;
	}
	pass(emit, false, text, self);
	return STR_NONE;
}

void chat_think_feed(struct chat_think *think, struct str text, chat_think_fn emit, void *self)
{
	struct buf piece = think->held;
	enum chat_think_state before;
	buf_init(&think->held, LIMIT_SSE_EVENT);
	if (piece.len) {
		buf_append_str(&piece, text);
		text = buf_str(&piece);
	}
	do {
		before = think->state;
		text = step(think, text, emit, self);
	} while (text.len && before != think->state);
	buf_append_str(&think->held, text);
	buf_finish(&piece);
}

void chat_think_end(struct chat_think *think, chat_think_fn emit, void *self)
{
	pass(emit, think->state == THINK_INSIDE, buf_str(&think->held), self);
	buf_reuse(&think->held);
	think->state = THINK_AFTER;
}
