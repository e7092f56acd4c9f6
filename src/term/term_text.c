/* Rows are cut out of the whole text, so that a cluster may consist of spans with several styles. */
#include "term/term_text.h"

#include "base/limits.h"
#include "base/mem.h"
#include "term/term_limits.h"
#include "term/term_width.h"

enum { LEAST_COLUMNS = 2 };

void term_text_init(struct term_text *text)
{
	*text = (struct term_text){0};
	buf_init(&text->bytes, LIMIT_TERM_TEXT);
}

void term_text_finish(struct term_text *text)
{
	buf_finish(&text->bytes);
	vec_finish(&text->spans);
}

void term_text_clear(struct term_text *text)
{
	buf_clear(&text->bytes);
	text->spans.count = 0;
}

void term_text_add(struct term_text *text, enum term_style style, struct str bytes)
{
	size_t count = text->spans.count;
	if (!bytes.len)
		return;
	buf_append_str(&text->bytes, bytes);
	if (count && text->spans.items[count - 1].style == style)
		text->spans.items[count - 1].end = text->bytes.len;
	else
		vec_push(&text->spans, (struct term_span){text->bytes.len, style});
}

void term_text_add_c(struct term_text *text, enum term_style style, const char *bytes)
{
	term_text_add(text, style, str_of(bytes));
}

/* Returns the index of the span that has this byte. */
static size_t find_span(const struct term_text *text, size_t at)
{
	size_t low = 0, high = text->spans.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (text->spans.items[middle].end <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void term_text_cut(struct term_text *text, size_t len)
{
	size_t count = len < text->bytes.len ? find_span(text, len) : text->spans.count;
	if (count == text->spans.count)
		return;
	buf_truncate(&text->bytes, len);
	text->spans.items[count].end = len;
	text->spans.count = count + (len > (count ? text->spans.items[count - 1].end : 0));
}

/* Returns the end of the cluster that a span, which ends at `end`, divides: a part of one has another width. */
static size_t cluster_end(const struct term_text *text, size_t from, size_t end, size_t to)
{
	const char *bytes = text->bytes.data;
	if (end >= to || !((bytes[end] | bytes[end - 1]) & 0x80))
		return end < to ? end : to;
	while (from < end)
		from += term_cluster_next(str_n(bytes + from, to - from)).bytes.len;
	return from;
}

void term_text_append(const struct term_text *text, size_t from, size_t to, struct term_row *row)
{
	for (size_t i = find_span(text, from); from < to && i < text->spans.count; i++) {
		const struct term_span *span = &text->spans.items[i];
		if (span->end <= from)
			continue;
		size_t end = cluster_end(text, from, span->end, to);
		term_row_add(row, span->style, str_n(text->bytes.data + from, end - from));
		from = end;
	}
}

void term_margin_init(struct term_margin *margin)
{
	term_text_init(&margin->first);
	term_text_init(&margin->rest);
	margin->is_begun = false;
}

void term_margin_finish(struct term_margin *margin)
{
	term_text_finish(&margin->first);
	term_text_finish(&margin->rest);
}

static void write_row(const struct term_text *text, struct str part, struct term_margin *margin,
                      const struct term_sink *sink)
{
	const struct term_text *lead = margin->is_begun ? &margin->rest : &margin->first;
	margin->is_begun = true;
	term_row_clear(sink->row);
	if (part.len || !str_is_blank(buf_str(&lead->bytes)))
		term_text_append(lead, 0, lead->bytes.len, sink->row);
	if (part.len) {
		size_t from = (size_t)(part.ptr - text->bytes.data);
		term_text_append(text, from, from + part.len, sink->row);
	}
	sink->on_row(sink->row, sink->self);
}

void term_text_write(const struct term_text *text, bool is_code, struct term_margin *margin,
                     const struct term_sink *sink)
{
	size_t lead = term_width(buf_str(&margin->rest.bytes)), width = sink->row->width;
	size_t columns = width > lead + LEAST_COLUMNS ? width - lead : LEAST_COLUMNS;
	struct str rest = buf_str(&text->bytes), line, part;
	if (!rest.len)
		write_row(text, rest, margin, sink);
	while (str_next_line(&rest, &line)) {
		if (!line.len)
			write_row(text, line, margin, sink);
		while (is_code ? term_cut_next(&line, columns, &part) : term_wrap_next(&line, columns, &part))
			write_row(text, part, margin, sink);
	}
}
