/* A thousand small changes to a 10 MB file become two thousand slices for writev instead of a second 10 MB buffer. */
#include "patch/edit.h"

#include <string.h>

size_t edits_new_len(const struct edits *edits, struct str old)
{
	size_t len = old.len;
	vec_for_each(it, &edits->list)
		len = len - it->len + it->text.len;
	return len;
}

static size_t add_part(struct iovec *parts, size_t count, const char *ptr, size_t len)
{
	if (len == 0)
		return count;
	parts[count] = (struct iovec){.iov_base = (void *)(uintptr_t)ptr, .iov_len = len};
	return count + 1;
}

size_t edits_parts(const struct edits *edits, struct str old, struct iovec *parts)
{
	size_t count = 0, at = 0;
	vec_for_each(it, &edits->list) {
		count = add_part(parts, count, old.ptr + at, it->at - at);
		count = add_part(parts, count, it->text.ptr, it->text.len);
		at = it->at + it->len;
	}
	return add_part(parts, count, old.ptr + at, old.len - at);
}

void edits_apply(const struct edits *edits, struct str old, char *out)
{
	size_t at = 0;
	vec_for_each(it, &edits->list) {
		memcpy(out, old.ptr + at, it->at - at);
		out += it->at - at;
		if (it->text.len)
			memcpy(out, it->text.ptr, it->text.len);
		out += it->text.len;
		at = it->at + it->len;
	}
	memcpy(out, old.ptr + at, old.len - at);
}
