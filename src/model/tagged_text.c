/* A line is examined byte by byte only while it may be a tag; nearly all lines fail at the first byte, and the rest is
 * found by memchr and passed on as a slice of the piece. Only a possible tag at the end of a piece is copied. The
 * position in the tag is kept between pieces, so the cost of a line does not depend on the number of pieces. */
#include "model/tagged_text.h"

#include "base/limits.h"
#include "base/mem.h"

void tagged_text_init(struct tagged_text *tagged, const struct tagged_block *blocks, size_t count,
                      tagged_segment_fn on_segment, void *self)
{
	*tagged = (struct tagged_text){
		.blocks = blocks, .count = count, .on_segment = on_segment, .self = self, .may_be_tag = true};
	buf_init(&tagged->held, 2 * LIMIT_SSE_EVENT);
}

void tagged_text_finish(struct tagged_text *tagged)
{
	buf_finish(&tagged->held);
}

/* ---- output ---- */

static void emit(struct tagged_text *tagged, enum tagged_segment segment, struct str text)
{
	tagged->on_segment(segment, tagged->active, text, tagged->self);
}

/* Emits text: first the bytes that were held back, then `text`. */
static void emit_text(struct tagged_text *tagged, struct str text)
{
	enum tagged_segment segment = tagged->active ? TAGGED_INNER : TAGGED_TEXT;
	if (tagged->held.len) {
		buf_append_str(&tagged->held, text);
		text = buf_str(&tagged->held);
	}
	if (text.len)
		emit(tagged, segment, text);
	buf_reuse(&tagged->held);
}

/* ---- the line ---- */

static void begin_line(struct tagged_text *tagged)
{
	tagged->may_be_tag = true;
	tagged->line_len = tagged->at = 0;
	tagged->partial = 0;
	tagged->is_trailing = false;
	tagged->live = 0;
}

/* Returns the tag that is valid in the current state. */
static struct str tag_of(const struct tagged_text *tagged, size_t index)
{
	const struct tagged_block *block = &tagged->blocks[index];
	return tagged->active ? block->close : block->open;
}

static bool is_candidate(const struct tagged_text *tagged, size_t index)
{
	if (tagged->active && tagged->active != &tagged->blocks[index])
		return false;
	return tagged->at == 0 || (tagged->live >> index & 1);
}

/* Returns true if the line including this byte may still be a tag. */
static bool take_tag_byte(struct tagged_text *tagged, char c)
{
	unsigned live = 0;
	for (size_t i = 0; i < tagged->count && !tagged->is_trailing; i++) {
		struct str tag = tag_of(tagged, i);
		if (is_candidate(tagged, i) && tagged->at < tag.len && tag.ptr[tagged->at] == c)
			live |= 1U << i;
	}
	if (!live)
		return false;
	tagged->live = live;
	tagged->at++;
	return true;
}

/* Returns the block whose tag is the whole line, or NULL. */
static const struct tagged_block *whole_tag(const struct tagged_text *tagged)
{
	for (size_t i = 0; i < tagged->count && tagged->at; i++) {
		if ((tagged->live >> i & 1) && tag_of(tagged, i).len == tagged->at)
			return &tagged->blocks[i];
	}
	return NULL;
}

enum white { WHITE_no, WHITE_part, WHITE_yes };

/* Unicode's White_Space characters in UTF-8, and prefixes of the longer ones. */
static const uint32_t white_parts[] = {0xc2, 0xe1, 0xe2, 0xe3, 0xe19a, 0xe280, 0xe281, 0xe380};
static const uint32_t whites[] = {0xc285,   0xc2a0,   0xe19a80, 0xe28080, 0xe28081, 0xe28082, 0xe28083,
                                  0xe28084, 0xe28085, 0xe28086, 0xe28087, 0xe28088, 0xe28089, 0xe2808a,
                                  0xe280a8, 0xe280a9, 0xe280af, 0xe2819f, 0xe38080};

static bool is_among(uint32_t bytes, const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i] == bytes)
			return true;
	}
	return false;
}

/* bytes: those of the character that were read so far. */
static enum white white_of(uint32_t bytes)
{
	if (bytes < 0x80)
		return bytes == ' ' || (bytes >= '\t' && bytes <= '\r') ? WHITE_yes : WHITE_no;
	if (is_among(bytes, whites, countof(whites)))
		return WHITE_yes;
	return is_among(bytes, white_parts, countof(white_parts)) ? WHITE_part : WHITE_no;
}

/* Examines a byte before the end of the line; false if the line is not a tag. */
static bool take_byte(struct tagged_text *tagged, char c)
{
	if (++tagged->line_len > LIMIT_TAG_LINE)
		return false;
	if (!tagged->partial && take_tag_byte(tagged, c))
		return true;
	uint32_t bytes = tagged->partial << 8 | (unsigned char)c;
	enum white white = white_of(bytes);
	tagged->partial = white == WHITE_part ? bytes : 0;
	if (white == WHITE_no || (tagged->at && !whole_tag(tagged)))
		return false;
	tagged->is_trailing = tagged->at > 0;
	return true;
}

/* Ends a line. If it was a tag, emits it and returns true. */
static bool take_line(struct tagged_text *tagged)
{
	const struct tagged_block *block = tagged->partial ? NULL : whole_tag(tagged);
	if (!block)
		return false;
	buf_clear(&tagged->held);
	if (tagged->active) {
		emit(tagged, TAGGED_END, STR(""));
		tagged->active = NULL;
	} else {
		tagged->active = block;
		emit(tagged, TAGGED_START, STR(""));
	}
	return true;
}

/* ---- pieces ---- */

/* Skips the rest of a line that is not a tag. Returns the start of the next line, or the end. */
static size_t skip_line(struct tagged_text *tagged, struct str piece, size_t at)
{
	const char *end = memchr(piece.ptr + at, '\n', piece.len - at);
	if (!end)
		return piece.len;
	begin_line(tagged);
	return (size_t)(end - piece.ptr) + 1;
}

void tagged_text_feed(struct tagged_text *tagged, struct str piece)
{
	size_t from = 0, line = 0; /* first byte that was not emitted; start of the current line */
	for (size_t at = 0; at < piece.len;) {
		if (!tagged->may_be_tag) {
			line = at = skip_line(tagged, piece, at);
		} else if (piece.ptr[at] != '\n') {
			tagged->may_be_tag = take_byte(tagged, piece.ptr[at]);
			/* if it is not a tag, the byte is skipped with the rest of its line */
			at += tagged->may_be_tag;
		} else if (!whole_tag(tagged) || tagged->partial) {
			begin_line(tagged);
			line = ++at;
		} else {
			if (line > from)
				emit_text(tagged, str_n(piece.ptr + from, line - from));
			take_line(tagged);
			begin_line(tagged);
			from = line = ++at;
		}
	}
	if (tagged->may_be_tag && line < piece.len) {
		if (line > from)
			emit_text(tagged, str_n(piece.ptr + from, line - from));
		buf_append(&tagged->held, piece.ptr + line, piece.len - line);
	} else if (from < piece.len) {
		emit_text(tagged, str_n(piece.ptr + from, piece.len - from));
	}
}

void tagged_text_end(struct tagged_text *tagged)
{
	if (!tagged->may_be_tag || !take_line(tagged))
		emit_text(tagged, STR(""));
	if (tagged->active)
		emit(tagged, TAGGED_END, STR(""));
	tagged->active = NULL;
	begin_line(tagged);
}
