/* A history is as large as the text from which it is copied. The pages of that text are returned to the system while it
 * is copied, so that a resume does not need both at once. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_reader_priv.h"

static void forget_bytes(struct rollout_reader *reader)
{
	vec_for_each(it, &reader->segments) {
		free(it->text);
		free(it->path);
	}
	vec_finish(&reader->segments);
}

void rollout_reader_forget(struct rollout_reader *reader)
{
	forget_bytes(reader);
	vec_finish(&reader->records);
	vec_finish(&reader->history);
	vec_finish(&reader->marks);
	vec_finish(&reader->open_calls);
	vec_finish(&reader->scripts);
}

void rollout_segment_release(const struct rollout_segment *segment, size_t from, size_t to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)segment->text + from + page - 1) / page * page;
	uintptr_t end = ((uintptr_t)segment->text + to) / page * page;
	if (!segment->is_disordered && first < end)
		madvise((void *)first, end - first, MADV_DONTNEED);
}

/* NULL: the item was made by the reader. */
static struct rollout_segment *segment_of(struct rollout_reader *reader, struct str item)
{
	vec_for_each(it, &reader->segments) {
		if (item.ptr >= it->text && item.ptr < it->text + it->len)
			return it;
	}
	return NULL;
}

/* False if an item lies before an earlier one of its file, whose pages would take it along. */
static bool is_in_order(struct rollout_reader *reader)
{
	vec_for_each(it, &reader->history) {
		struct rollout_segment *segment = segment_of(reader, *it);
		size_t at = segment ? (size_t)(it->ptr - segment->text) : 0;
		if (segment && at < segment->taken)
			return false;
		if (segment)
			segment->taken = at;
	}
	vec_for_each(it, &reader->segments)
		it->taken = 0;
	return true;
}

static void release_before(struct rollout_reader *reader, struct str item)
{
	struct rollout_segment *segment = segment_of(reader, item);
	size_t at = segment ? (size_t)(item.ptr - segment->text) : 0;
	if (!segment || at - segment->taken < ROLLOUT_RELEASE)
		return;
	rollout_segment_release(segment, segment->taken, at);
	segment->taken = at;
}

static void thin_records(struct rollout_reader *reader, rollout_keeps_fn keeps)
{
	size_t records = 0;
	vec_for_each(it, &reader->records) {
		if (!keeps(it->type, it->payload))
			continue;
		it->payload = arena_str(&reader->arena, it->payload);
		reader->records.items[records++] = *it;
	}
	reader->records.count = records;
}

void rollout_reader_thin(struct rollout_reader *reader, rollout_keeps_fn keeps, rollout_take_fn take, void *self)
{
	size_t items = 0;
	thin_records(reader, keeps);
	bool releases = is_in_order(reader);
	vec_for_each(it, &reader->history) {
		if (releases)
			release_before(reader, *it);
		take(*it, self);
		if (keeps(LINE_response_item, *it))
			reader->history.items[items++] = arena_str(&reader->arena, *it);
	}
	reader->history.count = items;
	reader->marks.count = reader->open_calls.count = reader->scripts.count = 0;
	forget_bytes(reader);
}
