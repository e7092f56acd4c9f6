/* Any text becomes rows that are no wider than the window, and frames whose only controls are the painter's own
 * sequences. Lines of the input are finished lines and live rows in turns; the colours of the latter are kept. */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_paint.h"
#include "term/term_row.h"
#include "term/term_sgr.h"
#include "term/term_width.h"

/* Cuts one of the painter's sequences off: CSI, parameters, and a final of this list. */
static bool cut_sequence(struct str *rest)
{
	size_t at = 2;
	if (!str_has_prefix(*rest, "\x1b["))
		return false;
	while (at < rest->len && strchr("?;0123456789", rest->ptr[at]))
		at++;
	if (at == rest->len || !strchr("ABGJKhlm", rest->ptr[at]))
		return false;
	*rest = str_skip(*rest, at + 1);
	return true;
}

static void check_safe(struct str out)
{
	fuzz_check(text_is_utf8(out));
	while (out.len) {
		unsigned char c = (unsigned char)out.ptr[0];
		if (cut_sequence(&out))
			continue;
		fuzz_check((c >= 0x20 && c != 0x7f) || c == '\r' || c == '\n');
		fuzz_check(c != 0xc2 || (unsigned char)out.ptr[1] >= 0xa0);
		out = str_skip(out, 1);
	}
}

static void draw(struct term_paint *paint, struct term_row *row, struct str line, size_t columns, bool is_live)
{
	struct str part;
	struct term_sgr sgr = {0};
	while (term_wrap_next(&line, columns, &part)) {
		struct str rest = part, run;
		term_row_clear(row);
		while (is_live && term_sgr_next(&sgr, &rest, &run))
			term_row_add(row, term_sgr_style(&sgr, TERM_red, true), run);
		term_row_add(row, TERM_red, rest);
		fuzz_check(row->columns <= columns);
		if (is_live)
			term_paint_caret(paint, term_paint_live(paint, row), row->columns);
		else
			term_paint_commit(paint, row);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = str_n((const char *)data, size), line;
	struct term_paint *paint = term_paint_create();
	struct term_row row;
	auto_buf struct buf out;
	size_t columns = size ? 2 + data[0] % 90 : 2, count = 0;
	buf_init(&out, 64 * MIB);
	term_row_init(&row, columns, true);
	while (str_next_line(&text, &line)) {
		draw(paint, &row, line, columns, count++ % 3 == 1);
		if (count % 7 == 0)
			term_paint_resize(paint, 1 + count % 50);
		if (count % 2)
			term_paint_frame(paint, &out);
	}
	term_paint_frame(paint, &out);
	term_paint_leave(paint, &out);
	check_safe(buf_str(&out));
	term_row_finish(&row);
	term_paint_destroy(paint);
	return 0;
}
