/* The tail is a ring, so a command that prints gigabytes costs one copy of each byte and no more memory than the cap.
 * Head and tail are in one buffer that grows: most commands print a few lines, which are then contiguous text. */
#include "process/output.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"

void output_init(struct output *output, size_t cap)
{
	*output = (struct output){.head_max = cap / 2};
	buf_init(&output->kept, cap);
}

void output_finish(struct output *output)
{
	buf_finish(&output->kept);
}

static struct str head_of(const struct output *output)
{
	struct str all = buf_str(&output->kept);
	return str_n(all.ptr, all.len < output->head_max ? all.len : output->head_max);
}

static struct str tail_of(const struct output *output)
{
	return str_skip(buf_str(&output->kept), head_of(output).len);
}

static struct str take_front(struct str *bytes, size_t count)
{
	struct str front = str_n(bytes->ptr, bytes->len < count ? bytes->len : count);
	*bytes = str_skip(*bytes, front.len);
	return front;
}

/* Called when the ring is full: bytes replace its oldest ones. */
static void ring_append(struct output *output, struct str bytes)
{
	char *ring = output->kept.data + output->head_max;
	size_t size = tail_of(output).len;
	output->dropped += bytes.len;
	if (size == 0)
		return;
	if (bytes.len > size)
		bytes = str_skip(bytes, bytes.len - size);
	while (bytes.len) {
		struct str part = take_front(&bytes, size - output->oldest);
		memcpy(ring + output->oldest, part.ptr, part.len);
		output->oldest = (output->oldest + part.len) % size;
	}
}

void output_append(struct output *output, struct str bytes)
{
	output->total += bytes.len;
	buf_append_str(&output->kept, take_front(&bytes, output->kept.max - output->kept.len));
	if (bytes.len)
		ring_append(output, bytes);
}

void output_copy(struct output *output, const struct output *from)
{
	buf_append_str(&output->kept, buf_str(&from->kept));
	output->total = from->total;
	output->oldest = from->oldest;
	output->dropped = from->dropped;
}

void output_skip(struct output *output, uint64_t count)
{
	output->total += count;
	output->dropped += count + tail_of(output).len;
	buf_truncate(&output->kept, head_of(output).len);
	output->oldest = 0;
}

bool output_is_full(const struct output *output)
{
	return output->dropped || output->kept.len == output->kept.max;
}

/* Returns the length of s without an incomplete character at its end. */
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

/* The tail in two parts, from its oldest byte on. */
struct ring {
	struct str parts[2];
};

static struct ring ring_of(const struct output *output)
{
	struct str all = tail_of(output);
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

/* Returns the number of leading continuation bytes, at most 3: their character's first byte was dropped. */
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

/* Replaces ill-formed UTF-8 in out after the offset `from`. Nearly all output is well-formed and stays in place. */
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

/* Head and tail are cut at the end of a character, so that the cut adds no U+FFFD. */
struct gap {
	size_t head, skipped; /* bytes of the head that are kept, and bytes of the tail that are skipped */
	char note[OUTPUT_NOTE_MAX];
	size_t note_len;
};

static struct gap gap_of(const struct output *output, const struct ring *tail)
{
	struct str head = head_of(output);
	struct gap gap = {.head = whole_characters(head), .skipped = leading_continuations(tail)};
	uint64_t gone = output->dropped + (head.len - gap.head) + gap.skipped;
	gap.note_len =
		(size_t)snprintf(gap.note, sizeof(gap.note), "\n[%" PRIu64 " bytes of output left out here]\n", gone);
	return gap;
}

/* Appends head, note and tail without the last held_back bytes. If no bytes were dropped, the tail is contiguous. */
static void append_kept(const struct output *output, size_t held_back, struct buf *out)
{
	struct str all = buf_str(&output->kept);
	size_t from = out->len;
	if (!output->dropped) {
		buf_append(out, all.ptr, all.len - held_back);
		mend(out, from);
		return;
	}
	struct ring tail = ring_of(output);
	ring_take_back(&tail, held_back);
	struct gap gap = gap_of(output, &tail);
	ring_take_front(&tail, gap.skipped);
	buf_reserve(out, all.len + gap.note_len);
	buf_append(out, all.ptr, gap.head);
	buf_append(out, gap.note, gap.note_len);
	buf_append_str(out, tail.parts[0]);
	buf_append_str(out, tail.parts[1]);
	mend(out, from);
}

void output_text(const struct output *output, struct buf *out)
{
	append_kept(output, 0, out);
}

/* Rotates the ring so that its oldest byte comes first. */
static void straighten(struct output *output)
{
	struct str ring = tail_of(output);
	size_t size = ring.len, count = output->oldest;
	char *to = output->kept.data + output->head_max;
	if (count == 0)
		return;
	auto_free char *front = str_dup(str_n(to, count));
	memmove(to, to + count, size - count);
	memcpy(to + size - count, front, count);
	output->oldest = 0;
}

void output_take(struct output *output, struct buf *out)
{
	size_t max = out->max;
	struct gap gap = {0};
	if (output->dropped) {
		straighten(output);
		struct ring tail = ring_of(output);
		gap = gap_of(output, &tail);
	}
	*out = output->kept;
	buf_init(&output->kept, out->max);
	out->max = max;
	if (gap.note_len && buf_reserve(out, gap.note_len)) {
		size_t to = gap.head + gap.note_len, from = output->head_max + gap.skipped;
		memmove(out->data + to, out->data + from, out->len - from);
		memcpy(out->data + gap.head, gap.note, gap.note_len);
		out->len += to - from;
		out->data[out->len] = '\0';
	}
	mend(out, 0);
}

/* Copies the last bytes that are contiguous in the output, oldest first; returns their number, at most 3. */
static size_t last_bytes(const struct output *output, char out[3])
{
	struct str all = buf_str(&output->kept), tail = tail_of(output);
	struct str piece = output->dropped ? tail : all;
	size_t count = piece.len < 3 ? piece.len : 3;
	for (size_t i = 0; i < count; i++) {
		size_t at = piece.len - count + i;
		out[i] = output->dropped ? tail.ptr[(at + output->oldest) % tail.len] : all.ptr[at];
	}
	return count;
}

void output_drain(struct output *output, struct buf *out, bool is_last)
{
	char end[3];
	size_t count = last_bytes(output, end);
	size_t held_back = is_last ? 0 : count - whole_characters(str_n(end, count));
	append_kept(output, held_back, out);
	buf_clear(&output->kept);
	output->oldest = 0;
	output->dropped = 0;
	output_append(output, str_n(end + count - held_back, held_back));
	output->total -= held_back;
}
