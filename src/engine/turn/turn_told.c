/* A model rarely says the same twice. From the first difference on everything is passed on: clients go on to show
 * something, and the finished item replaces it. */
#include "engine/turn/turn_told.h"

#include "base/limits.h"
#include "base/text.h"

void turn_told_finish(struct turn_told *told)
{
	buf_finish(&told->text);
	*told = (struct turn_told){0};
}

void turn_told_again(struct turn_told *told)
{
	told->repeated = 0;
	told->is_repeating = told->text.len > 0;
}

static size_t common_prefix(struct str a, struct str b)
{
	size_t len = 0;
	while (len < a.len && len < b.len && a.ptr[len] == b.ptr[len])
		len++;
	return text_floor_boundary(a, len);
}

struct str turn_told_add(struct turn_told *told, struct str text)
{
	if (told->is_repeating) {
		struct str rest = str_skip(buf_str(&told->text), told->repeated);
		size_t same = common_prefix(text, rest);
		told->repeated += same;
		text = str_skip(text, same);
		told->is_repeating = text.len == 0 && same < rest.len;
	}
	if (!told->text.max)
		buf_init(&told->text, LIMIT_TOLD);
	if (!told->text.over) /* without a gap */
		buf_append_str(&told->text, text);
	return text;
}
