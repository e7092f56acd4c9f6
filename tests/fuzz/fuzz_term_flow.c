/* Markdown becomes the same rows however it is divided into pieces; no row is wider than the window, and the open block
 * stays within its limit. The first byte of the input is the width, the second the size of the pieces. */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "term/term_flow.h"
#include "term/term_limits.h"

static void on_row(const struct term_row *row, void *self)
{
	struct buf *out = self;
	fuzz_check(row->columns <= row->width);
	buf_append_str(out, buf_str(&row->text));
	buf_append_char(out, '\n');
}

static void on_open_row(const struct term_row *row, void *self)
{
	(void)self;
	fuzz_check(row->columns <= row->width);
}

static void flow_in_pieces(struct str text, size_t columns, size_t piece, struct buf *out)
{
	struct term_flow flow;
	struct term_row row;
	struct term_sink sink = {&row, on_row, out}, open = {&row, on_open_row, NULL};
	term_row_init(&row, columns, true);
	term_flow_init(&flow, "* ", TERM_dim);
	while (text.len) {
		size_t len = text.len < piece ? text.len : piece;
		term_flow_add(&flow, str_n(text.ptr, len));
		term_flow_commit(&flow, &sink, false);
		term_flow_peek(&flow, &open);
		fuzz_check(flow.tail.len <= 2 * LIMIT_TERM_BLOCK + piece);
		text = str_skip(text, len);
	}
	term_flow_commit(&flow, &sink, true);
	fuzz_check(flow.tail.len == 0);
	term_flow_finish(&flow);
	term_row_finish(&row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_n((const char *)data, size);
	if (size < 2)
		return 0;
	auto_buf struct buf whole, pieces;
	size_t columns = 3 + data[0] % 90, piece = 1 + data[1] % 32;
	buf_init(&whole, 64 * MIB);
	buf_init(&pieces, 64 * MIB);
	text = str_skip(text, 2);
	flow_in_pieces(text, columns, text.len + 1, &whole);
	flow_in_pieces(text, columns, piece, &pieces);
	fuzz_check(text.len > LIMIT_TERM_BLOCK || str_eq(buf_str(&whole), buf_str(&pieces)));
	return 0;
}
