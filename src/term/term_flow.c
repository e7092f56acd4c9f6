/* Lines are classified once, when they are complete. A block is handed to the parser of Markdown alone, so what refers
 * to other blocks (definitions of links) is shown as it was written. */
#include "term/term_flow.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "term/term_limits.h"
#include "term/term_markdown.h"
#include "term/term_width.h"

enum { INDENT_MAX = 3, NUMBER_MAX = 9, FENCE_LEAST = 3 };

void term_flow_init(struct term_flow *flow, const char *mark, enum term_style style)
{
	*flow = (struct term_flow){0};
	buf_init(&flow->tail, LIMIT_TERM_TAIL);
	term_margin_init(&flow->margin);
	term_text_add_c(&flow->margin.first, style, mark);
	for (size_t width = term_width(str_of(mark)); width; width--)
		term_text_add_c(&flow->margin.rest, TERM_plain, " ");
}

void term_flow_finish(struct term_flow *flow)
{
	buf_finish(&flow->tail);
	term_margin_finish(&flow->margin);
}

void term_flow_add(struct term_flow *flow, struct str bytes)
{
	buf_append_str(&flow->tail, bytes);
	flow->changes++;
}

/* ---- kinds of lines ---- */

static size_t indent_of(struct str line)
{
	size_t at = 0;
	while (at < line.len && line.ptr[at] == ' ')
		at++;
	return at;
}

static size_t run_of(struct str text, char c)
{
	size_t at = 0;
	while (at < text.len && text.ptr[at] == c)
		at++;
	return at;
}

static bool is_blank_at(struct str text, size_t at)
{
	return at == text.len || text.ptr[at] == ' ' || text.ptr[at] == '\t';
}

static bool is_heading(struct str text)
{
	size_t level = run_of(text, '#');
	return level >= 1 && level <= 6 && is_blank_at(text, level);
}

static bool is_rule(struct str text)
{
	char c = text.len ? text.ptr[0] : ' ';
	size_t count = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] != c && text.ptr[i] != ' ')
			return false;
		count += text.ptr[i] == c;
	}
	return count >= 3 && strchr("-*_", c);
}

/* Returns the length of the marker of a list item, 0: none. */
static size_t marker_len(struct str text)
{
	size_t digits = 0;
	if (text.len && strchr("-*+", text.ptr[0]) && text.ptr[0])
		return is_blank_at(text, 1) ? 1 : 0;
	while (digits < text.len && text.ptr[digits] >= '0' && text.ptr[digits] <= '9')
		digits++;
	if (!digits || digits > NUMBER_MAX || digits == text.len || !strchr(".)", text.ptr[digits]))
		return 0;
	return is_blank_at(text, digits + 1) ? digits + 1 : 0;
}

/* Returns the number of delimiter characters that begin a code block, 0: none. */
static size_t fence_len(struct str text)
{
	size_t len = 0;
	if (!text.len || (text.ptr[0] != '`' && text.ptr[0] != '~'))
		return 0;
	len = run_of(text, text.ptr[0]);
	if (len < FENCE_LEAST || (text.ptr[0] == '`' && str_find_char(str_skip(text, len), '`') >= 0))
		return 0;
	return len;
}

static bool is_table_rule(struct str text)
{
	bool has_dash = false;
	for (size_t i = 0; i < text.len; i++) {
		if (!strchr("|-: ", text.ptr[i]))
			return false;
		has_dash = has_dash || text.ptr[i] == '-';
	}
	return has_dash && str_find_char(text, '|') >= 0;
}

static bool begins_item(const struct term_flow *flow, struct str text)
{
	size_t len = marker_len(text);
	if (!len || flow->kind == FLOW_none || flow->kind == FLOW_item || flow->has_blank)
		return len > 0;
	/* only a list that begins with 1 and has text interrupts a paragraph */
	return !str_is_blank(str_skip(text, len)) && (len == 1 || (len == 2 && text.ptr[0] == '1'));
}

/* Returns true if the line begins a block although the open one has not ended with an empty line. */
static bool interrupts(const struct term_flow *flow, struct str line)
{
	size_t indent = indent_of(line);
	struct str text = str_skip(line, indent);
	if (indent > INDENT_MAX || (flow->kind == FLOW_item && indent >= 2))
		return false;
	if (is_heading(text) || fence_len(text) || begins_item(flow, text))
		return true;
	if (is_rule(text))
		return flow->kind != FLOW_text || text.ptr[0] != '-'; /* below text it makes a heading */
	return flow->kind != FLOW_quote && flow->kind != FLOW_table && str_has_prefix(text, ">");
}

/* After an empty line, returns true if the line still belongs to the open block. */
static bool continues(const struct term_flow *flow, struct str line)
{
	return flow->kind == FLOW_item && indent_of(line) >= 2;
}

static enum term_flow_kind kind_of(const struct term_flow *flow, struct str line)
{
	struct str text = str_skip(line, indent_of(line));
	if (indent_of(line) > INDENT_MAX)
		return FLOW_text;
	if (fence_len(text))
		return FLOW_code;
	if (!is_rule(text) && begins_item(flow, text))
		return FLOW_item;
	return str_has_prefix(text, ">") ? FLOW_quote : FLOW_text;
}

/* ---- rows ---- */

static void write_gap(struct term_flow *flow, const struct term_sink *sink)
{
	if (flow->has_gap && flow->has_rows) {
		term_row_clear(sink->row);
		sink->on_row(sink->row, sink->self);
	}
	flow->has_gap = false;
	flow->has_rows = true;
}

static void drop(struct term_flow *flow, size_t count)
{
	buf_consume(&flow->tail, count);
	flow->seen = flow->lines = flow->head = 0;
	flow->changes++;
}

/* Writes the open block, which consists of `len` bytes, and forgets it. */
static void end_block(struct term_flow *flow, const struct term_sink *sink, size_t len)
{
	if (len && !str_is_blank(str_n(flow->tail.data, len))) {
		write_gap(flow, sink);
		term_markdown_write(str_n(flow->tail.data, len), &flow->margin, sink);
		flow->before = flow->kind;
	}
	flow->kind = FLOW_none;
	drop(flow, len);
}

static void write_code_line(struct term_code *code, struct term_margin *margin, const struct term_sink *sink,
                            struct str line)
{
	struct term_text text;
	term_text_init(&text);
	term_code_add(code, line, &text);
	term_text_write(&text, true, margin, sink);
	term_text_finish(&text);
}

static bool is_closing_fence(const struct term_flow *flow, struct str line)
{
	struct str text = str_trim(line);
	return indent_of(line) <= INDENT_MAX && text.len >= flow->fence_len && run_of(text, flow->fence) == text.len;
}

static struct str unindent(const struct term_flow *flow, struct str line)
{
	size_t indent = indent_of(line);
	return str_skip(line, indent < flow->fence_indent ? indent : flow->fence_indent);
}

/* A complete line in a code block. */
static void add_code_line(struct term_flow *flow, const struct term_sink *sink, struct str line, size_t len)
{
	if (is_closing_fence(flow, line)) {
		flow->kind = FLOW_none;
		flow->before = FLOW_code;
	} else {
		write_gap(flow, sink);
		write_code_line(&flow->code, &flow->margin, sink, unindent(flow, line));
	}
	drop(flow, len);
}

static void begin_code(struct term_flow *flow, struct str line, size_t len)
{
	struct str text = str_skip(line, indent_of(line)), word = STR("");
	flow->fence = text.ptr[0];
	flow->fence_len = fence_len(text);
	flow->fence_indent = indent_of(line);
	text = str_trim(str_skip(text, flow->fence_len));
	str_next_part(&text, ' ', &word);
	term_code_init(&flow->code, word);
	drop(flow, len);
}

/* ---- blocks ---- */

/* The first complete line of a block. */
static void begin_block(struct term_flow *flow, const struct term_sink *sink, struct str line, size_t len)
{
	struct str text = str_skip(line, indent_of(line));
	enum term_flow_kind kind = kind_of(flow, line);
	bool is_apart =
		kind == FLOW_code || is_heading(text) || flow->before == FLOW_code || flow->before == FLOW_table;
	flow->has_gap = flow->has_gap || flow->has_blank || is_apart;
	flow->has_blank = false;
	flow->kind = kind;
	if (kind == FLOW_code) {
		begin_code(flow, line, len);
		return;
	}
	flow->seen = len;
	flow->lines = 1;
	if (kind == FLOW_text && (is_heading(text) || is_rule(text))) {
		end_block(flow, sink, len);
		flow->before = FLOW_code; /* a gap follows, too */
	}
}

/* Returns true if a line can be a paragraph of its own for all that follows: no markup begins in it. */
static bool is_simple(struct str line)
{
	if (!line.len || line.ptr[0] == ' ' || marker_len(line))
		return false;
	for (size_t i = 0; i < line.len; i++) {
		if (strchr("*_`[]<>~\\|&!\t\r", line.ptr[i])) /* strchr finds NUL too */
			return false;
	}
	return true;
}

static bool begins_with_letter(struct str line)
{
	char c = line.len ? line.ptr[0] : ' ';
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* The first line of the open paragraph becomes rows before the next one is added to it. */
static void split_paragraph(struct term_flow *flow, const struct term_sink *sink, struct str line)
{
	struct str first = str_n(flow->tail.data, flow->seen);
	if (flow->kind != FLOW_text || flow->lines != 1 || !begins_with_letter(line) || !is_simple(str_trim_end(first)))
		return;
	end_block(flow, sink, flow->seen);
	flow->kind = FLOW_text;
}

/* A further line of the open block. */
static void continue_block(struct term_flow *flow, const struct term_sink *sink, struct str line, size_t len)
{
	size_t before = flow->seen;
	if (flow->kind == FLOW_text && flow->lines == 1 && is_table_rule(line)) {
		flow->kind = FLOW_table;
		flow->head = before + len;
		flow->has_gap = flow->has_gap || flow->has_rows;
	}
	split_paragraph(flow, sink, line);
	flow->has_blank = false;
	flow->seen += len;
	flow->lines++;
}

static void add_blank_line(struct term_flow *flow, const struct term_sink *sink, size_t len)
{
	flow->has_blank = true;
	if (flow->kind == FLOW_item) {
		flow->seen += len;
		return;
	}
	if (flow->seen)
		end_block(flow, sink, flow->seen);
	drop(flow, len);
}

static void add_line(struct term_flow *flow, const struct term_sink *sink, struct str line, size_t len)
{
	bool is_open = flow->kind != FLOW_none;
	if (flow->kind == FLOW_code) {
		add_code_line(flow, sink, line, len);
		return;
	}
	if (str_is_blank(line)) {
		add_blank_line(flow, sink, len);
		return;
	}
	if (is_open && (flow->has_blank ? !continues(flow, line) : interrupts(flow, line))) {
		end_block(flow, sink, flow->seen);
		is_open = false;
		line = str_n(flow->tail.data, line.len); /* the bytes before were dropped */
	}
	if (is_open)
		continue_block(flow, sink, line, len);
	else
		begin_block(flow, sink, line, len);
}

/* ---- limits ---- */

/* Divides a block that is too long after its last complete line; a table continues with its head. */
static void divide(struct term_flow *flow, const struct term_sink *sink)
{
	enum term_flow_kind kind = flow->kind;
	size_t head_len = kind == FLOW_table && flow->head < flow->seen / 2 ? flow->head : 0;
	auto_buf struct buf head;
	buf_init(&head, LIMIT_TERM_BLOCK);
	buf_append(&head, flow->tail.data, head_len);
	end_block(flow, sink, flow->seen);
	if (!head_len)
		return;
	buf_append_str(&head, buf_str(&flow->tail)); /* less than one line */
	buf_clear(&flow->tail);
	buf_append_str(&flow->tail, buf_str(&head));
	flow->kind = FLOW_table;
	flow->seen = flow->head = head_len;
	flow->lines = 2;
}

/* Writes the complete rows of a line that is too long to be markup; all rows if it has ended. */
static void write_long(struct term_flow *flow, const struct term_sink *sink, bool is_end)
{
	struct str tail = buf_str(&flow->tail), rest, part;
	ptrdiff_t end = str_find_char(tail, '\n');
	size_t lead = term_width(buf_str(&flow->margin.rest.bytes)), width = sink->row->width, taken = 0;
	rest = end >= 0 ? str_n(tail.ptr, (size_t)end) : tail;
	write_gap(flow, sink);
	while (term_wrap_next(&rest, width > lead + 2 ? width - lead : 2, &part)) {
		struct term_text text;
		if (!rest.len && end < 0 && !is_end)
			break; /* the last row may grow */
		term_text_init(&text);
		term_text_add(&text, TERM_plain, part);
		term_text_write(&text, true, &flow->margin, sink);
		term_text_finish(&text);
		taken = (size_t)(rest.ptr - tail.ptr);
	}
	flow->kind = end >= 0 ? FLOW_none : FLOW_long;
	drop(flow, end >= 0 ? (size_t)end + 1 : taken);
}

void term_flow_commit(struct term_flow *flow, const struct term_sink *sink, bool is_end)
{
	for (;;) {
		struct str rest = str_skip(buf_str(&flow->tail), flow->seen);
		ptrdiff_t end = str_find_char(rest, '\n');
		if (flow->kind == FLOW_long && flow->tail.len) {
			write_long(flow, sink, is_end);
			if (end < 0)
				break;
		} else if (end >= 0 && (size_t)end <= LIMIT_TERM_BLOCK) {
			add_line(flow, sink, str_n(rest.ptr, (size_t)end), (size_t)end + 1);
			if (flow->seen > LIMIT_TERM_BLOCK)
				divide(flow, sink);
		} else if (end >= 0 || rest.len > LIMIT_TERM_BLOCK) {
			if (flow->seen)
				end_block(flow, sink, flow->seen);
			write_long(flow, sink, is_end);
		} else if (is_end && rest.len) {
			buf_append_char(&flow->tail, '\n');
		} else {
			break;
		}
	}
	if (is_end && flow->seen)
		end_block(flow, sink, flow->seen);
}

/* ---- the open block ---- */

void term_flow_peek(const struct term_flow *flow, const struct term_sink *sink)
{
	struct term_flow copy = *flow; /* shares the texts, which are not changed */
	struct str tail = str_trim_end(buf_str(&flow->tail));
	if (!tail.len)
		return;
	copy.has_gap = flow->has_gap || flow->has_blank;
	write_gap(&copy, sink);
	if (flow->kind == FLOW_code)
		write_code_line(&copy.code, &copy.margin, sink, unindent(flow, tail));
	else if (flow->kind == FLOW_long) {
		copy.code = (struct term_code){0};
		write_code_line(&copy.code, &copy.margin, sink, tail);
	} else
		term_markdown_write(tail, &copy.margin, sink);
}
