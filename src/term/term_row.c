/* Terminals disagree about the width of many clusters, so the column is set after each one that is not ASCII. */
#include "term/term_row.h"

#include "base/limits.h"
#include "base/mem.h"
#include "term/term_limits.h"
#include "term/term_sgr.h"
#include "term/term_theme.h"
#include "term/term_width.h"

void term_row_init(struct term_row *row, size_t width, bool has_color)
{
	*row = (struct term_row){.width = width, .has_color = has_color};
	buf_init(&row->text, LIMIT_TERM_ROW);
}

void term_row_finish(struct term_row *row)
{
	buf_finish(&row->text);
}

void term_row_clear(struct term_row *row)
{
	buf_clear(&row->text);
	row->columns = 0;
	row->is_cut = false;
}

/* Puts the ellipsis into the last column. */
static void cut(struct term_row *row)
{
	row->is_cut = true;
	if (row->columns == row->width && row->width) {
		buf_truncate(&row->text, row->last);
		row->columns = row->last_column;
	}
	if (row->columns < row->width)
		buf_printf(&row->text, "…\x1b[%zuG\x1b[0m", ++row->columns + 1);
}

void term_row_add(struct term_row *row, enum term_style style, struct str text)
{
	const char *sgr = style < TERM_CUSTOM ? term_theme_sgr(style, row->has_color) : term_sgr_parameters(style);
	if (row->is_cut)
		return;
	if (*sgr && text.len)
		buf_printf(&row->text, "\x1b[%sm", sgr);
	while (text.len) {
		struct term_cluster cluster = term_cluster_next(text);
		if (row->columns + cluster.width > row->width) {
			if (!str_is_blank(text)) /* blanks at the end are not missed */
				cut(row);
			break;
		}
		if (row->columns + cluster.width == row->width) {
			row->last = row->text.len;
			row->last_column = row->columns;
		}
		term_cluster_append(&row->text, &cluster);
		row->columns += cluster.width;
		if (row->width != SIZE_MAX && (cluster.bytes.ptr[0] & 0x80 || cluster.bytes.len > 1))
			buf_printf(&row->text, "\x1b[%zuG", row->columns + 1);
		text = str_skip(text, cluster.bytes.len);
	}
	if (*sgr && row->text.len && !row->is_cut)
		buf_append_c(&row->text, "\x1b[0m");
}

void term_row_add_c(struct term_row *row, enum term_style style, const char *text)
{
	term_row_add(row, style, str_of(text));
}

/* ---- wrapping ---- */

/* Returns how many bytes of text fit into the columns: at least one cluster. */
static size_t fit(struct str text, size_t columns)
{
	size_t at = 0, width = 0;
	while (at < text.len) {
		struct term_cluster cluster = term_cluster_next(str_skip(text, at));
		if (width + cluster.width > columns && at)
			break;
		width += cluster.width;
		at += cluster.bytes.len;
	}
	return at;
}

bool term_cut_next(struct str *rest, size_t columns, struct str *ret_row)
{
	if (!rest->len)
		return false;
	*ret_row = str_n(rest->ptr, fit(*rest, columns));
	*rest = str_skip(*rest, ret_row->len);
	return true;
}

bool term_wrap_next(struct str *rest, size_t columns, struct str *ret_row)
{
	if (!rest->len)
		return false;
	size_t len = fit(*rest, columns);
	*ret_row = str_n(rest->ptr, len);
	if (len < rest->len && rest->ptr[len] != ' ') {
		ptrdiff_t blank = str_rfind_char(*ret_row, ' ');
		if (blank > 0 && !str_is_blank(str_n(rest->ptr, (size_t)blank)))
			ret_row->len = (size_t)blank;
	}
	bool is_broken = ret_row->len < rest->len;
	*rest = str_skip(*rest, ret_row->len);
	while (is_broken && rest->len && rest->ptr[0] == ' ')
		*rest = str_skip(*rest, 1);
	return true;
}
