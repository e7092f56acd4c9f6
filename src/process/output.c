/* The tail is a ring so that a command that prints gigabytes costs one copy of each byte and no more
 * memory than the cap. Both halves start empty and grow: most commands print a few lines. */
#include "process/output.h"

#include <inttypes.h>

#include "base/text.h"

void output_init(struct output *output, size_t cap)
{
	*output = (struct output){0};
	buf_init(&output->head, cap / 2);
	buf_init(&output->tail, cap - cap / 2);
}

void output_finish(struct output *output)
{
	buf_finish(&output->head);
	buf_finish(&output->tail);
}

static struct str take_front(struct str *bytes, size_t count)
{
	struct str front = str_n(bytes->ptr, bytes->len < count ? bytes->len : count);
	*bytes = str_skip(*bytes, front.len);
	return front;
}

/* The ring is full: bytes take the place of its oldest ones. */
static void ring_append(struct output *output, struct str bytes)
{
	size_t size = output->tail.len;
	output->dropped += bytes.len;
	if (size == 0)
		return;
	if (bytes.len > size)
		bytes = str_skip(bytes, bytes.len - size);
	while (bytes.len) {
		struct str part = take_front(&bytes, size - output->oldest);
		memcpy(output->tail.data + output->oldest, part.ptr, part.len);
		output->oldest = (output->oldest + part.len) % size;
	}
}

void output_append(struct output *output, struct str bytes)
{
	output->total += bytes.len;
	buf_append_str(&output->head, take_front(&bytes, output->head.max - output->head.len));
	buf_append_str(&output->tail, take_front(&bytes, output->tail.max - output->tail.len));
	if (bytes.len)
		ring_append(output, bytes);
}

void output_copy(struct output *output, const struct output *from)
{
	buf_append_str(&output->head, buf_str(&from->head));
	buf_append_str(&output->tail, buf_str(&from->tail));
	output->total = from->total;
	output->oldest = from->oldest;
	output->dropped = from->dropped;
}

void output_skip(struct output *output, uint64_t count)
{
	output->total += count;
	output->dropped += count + output->tail.len;
	buf_clear(&output->tail);
	output->oldest = 0;
}

uint64_t output_dropped(const struct output *output)
{
	return output->dropped;
}

bool output_is_full(const struct output *output)
{
	return output->dropped || output->tail.len == output->tail.max;
}

bool output_is_empty(const struct output *output)
{
	return output->head.len + output->tail.len == 0;
}

/* Length of s without a character at its end whose last bytes are missing. */
static size_t whole_characters(struct str s)
{
	for (size_t back = 1; back <= 3 && back <= s.len; back++) {
		unsigned char c = (unsigned char)s.ptr[s.len - back];
		size_t want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
		if ((c & 0xc0) != 0x80)
			return want > back ? s.len - back : s.len;
	}
	return s.len;
}

/* The tail from its oldest byte on: two parts, as it is a ring. */
struct ring {
	struct str parts[2];
};

static struct ring ring_of(const struct output *output)
{
	struct str all = buf_str(&output->tail);
	return (struct ring){{str_skip(all, output->oldest), str_n(all.ptr, output->oldest)}};
}

static void ring_take_front(struct ring *ring, size_t count)
{
	count -= take_front(&ring->parts[0], count).len;
	take_front(&ring->parts[1], count);
}

static void ring_take_back(struct ring *ring, size_t count)
{
	size_t second = count < ring->parts[1].len ? count : ring->parts[1].len;
	ring->parts[1].len -= second;
	ring->parts[0].len -= count - second;
}

/* At most the three of a character whose first byte is gone. */
static size_t leading_continuations(const struct ring *ring)
{
	size_t count = 0;
	for (int i = 0; i < 2; i++) {
		for (size_t at = 0; at < ring->parts[i].len && count < 3; at++, count++) {
			if (((unsigned char)ring->parts[i].ptr[at] & 0xc0) != 0x80)
				return count;
		}
	}
	return count;
}

/* Nearly all output is UTF-8: it is put where it is wanted first, and only what turns out not to be takes a detour. */
static void mend(struct buf *out, size_t from)
{
	struct str text = str_skip(buf_str(out), from);
	size_t good = text_utf8_prefix(text);
	if (good == text.len)
		return;
	struct str bad = str_skip(text, good);
	auto_buf struct buf raw;
	buf_init(&raw, bad.len);
	buf_append_str(&raw, bad);
	buf_truncate(out, from + good);
	text_append_utf8_lossy(out, buf_str(&raw));
}

/* All that is kept but its last held_back bytes: head, note, tail; each cut where a character ends, so that the cut
 * itself shows no U+FFFD. */
static void append_kept(const struct output *output, size_t held_back, struct buf *out)
{
	struct str head = buf_str(&output->head);
	struct ring tail = ring_of(output);
	size_t from = out->len, in_tail = held_back < output->tail.len ? held_back : output->tail.len;
	buf_reserve(out, head.len + output->tail.len + OUTPUT_NOTE_MAX);
	ring_take_back(&tail, in_tail);
	head.len -= held_back - in_tail;
	if (output->dropped) {
		size_t whole = whole_characters(head), skipped = leading_continuations(&tail);
		buf_append(out, head.ptr, whole);
		buf_printf(out, "\n[%" PRIu64 " bytes of output left out here]\n",
		           output->dropped + (head.len - whole) + skipped);
		ring_take_front(&tail, skipped);
	} else {
		buf_append_str(out, head);
	}
	buf_append_str(out, tail.parts[0]);
	buf_append_str(out, tail.parts[1]);
	mend(out, from);
}

void output_text(const struct output *output, struct buf *out)
{
	append_kept(output, 0, out);
}

/* The last bytes of what is kept in one piece, oldest first; at most 3. */
static size_t last_bytes(const struct output *output, char out[3])
{
	size_t before = output->dropped ? 0 : output->head.len;
	size_t kept = before + output->tail.len, count = kept < 3 ? kept : 3;
	for (size_t i = 0; i < count; i++) {
		size_t at = kept - count + i;
		if (at < before)
			out[i] = output->head.data[at];
		else
			out[i] = output->tail.data[(at - before + output->oldest) % output->tail.len];
	}
	return count;
}

void output_drain(struct output *output, struct buf *out, bool is_last)
{
	char end[3];
	size_t count = last_bytes(output, end);
	size_t held_back = is_last ? 0 : count - whole_characters(str_n(end, count));
	append_kept(output, held_back, out);
	buf_clear(&output->head);
	buf_clear(&output->tail);
	output->oldest = 0;
	output->dropped = 0;
	output_append(output, str_n(end + count - held_back, held_back));
	output->total -= held_back;
}
