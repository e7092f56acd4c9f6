/* A row of the table is as many rows of the screen as its tallest cell. */
#include "term/term_table.h"

#include "base/mem.h"
#include "term/term_width.h"

enum { GAP = 3, LEAST = 4 }; /* columns between cells; of a narrowed cell */

void term_table_init(struct term_table *table)
{
	*table = (struct term_table){0};
}

static void clear(struct term_table *table)
{
	vec_for_each(cell, &table->cells)
		term_text_finish(&cell->text);
	table->cells.count = 0;
}

void term_table_finish(struct term_table *table)
{
	clear(table);
	vec_finish(&table->cells);
}

void term_table_begin(struct term_table *table, size_t columns)
{
	clear(table);
	table->columns = columns ? columns : 1;
}

void term_table_add(struct term_table *table, enum term_align align, struct term_text *text)
{
	vec_push(&table->cells, (struct term_cell){*text, align});
	term_text_init(text);
}

/* ---- widths ---- */

static size_t sum(const size_t *widths, size_t count)
{
	size_t total = (count - 1) * GAP;
	for (size_t i = 0; i < count; i++)
		total += widths[i];
	return total;
}

/* Narrows the widest columns until all fit. False: they cannot. */
static bool narrow(size_t *widths, size_t count, size_t room)
{
	size_t total = sum(widths, count);
	while (total > room) {
		size_t widest = 0;
		for (size_t i = 1; i < count; i++)
			widest = widths[i] > widths[widest] ? i : widest;
		if (widths[widest] <= LEAST)
			return false;
		size_t excess = total - room, spare = widths[widest] - LEAST;
		size_t less = excess / count + 1; /* so that equal columns stay about equal */
		less = less < spare ? less : spare;
		widths[widest] -= less;
		total -= less;
	}
	return true;
}

static void measure(const struct term_table *table, size_t *widths)
{
	for (size_t i = 0; i < table->cells.count; i++) {
		size_t width = term_width(buf_str(&table->cells.items[i].text.bytes));
		size_t *column = &widths[i % table->columns];
		*column = width > *column ? width : *column;
	}
}

/* ---- rows ---- */

static void pad(struct term_row *row, size_t columns)
{
	for (; columns; columns--)
		term_row_add_c(row, TERM_plain, " ");
}

static void add_part(const struct term_cell *cell, struct str part, size_t width, struct term_row *row)
{
	size_t used = term_width(part), spare = width > used ? width - used : 0, left = 0;
	if (cell->align != TERM_LEFT)
		left = cell->align == TERM_RIGHT ? spare : spare / 2;
	pad(row, left);
	if (part.len) {
		size_t from = (size_t)(part.ptr - cell->text.bytes.data);
		term_text_append(&cell->text, from, from + part.len, row);
	}
	pad(row, spare - left);
}

static void start(struct term_margin *margin, struct term_row *row)
{
	const struct term_text *lead = margin->is_begun ? &margin->rest : &margin->first;
	margin->is_begun = true;
	term_row_clear(row);
	term_text_append(lead, 0, lead->bytes.len, row);
}

/* Writes one row of the screen. False: no cell has text left. */
static bool write_screen_row(const struct term_table *table, size_t first, const size_t *widths, struct str *rests,
                             struct term_margin *margin, const struct term_sink *sink)
{
	bool has_text = false;
	for (size_t i = 0; i < table->columns; i++)
		has_text = has_text || rests[i].len;
	if (!has_text)
		return false;
	start(margin, sink->row);
	for (size_t i = 0; i < table->columns; i++) {
		struct str part = STR("");
		if (i)
			term_row_add_c(sink->row, TERM_dim, " │ ");
		if (!term_wrap_next(&rests[i], widths[i], &part))
			part = STR("");
		add_part(&table->cells.items[first + i], part, widths[i], sink->row);
	}
	sink->on_row(sink->row, sink->self);
	return true;
}

static void write_rule(const struct term_table *table, const size_t *widths, struct term_margin *margin,
                       const struct term_sink *sink)
{
	start(margin, sink->row);
	for (size_t i = 0; i < table->columns; i++) {
		if (i)
			term_row_add_c(sink->row, TERM_dim, "─┼─");
		for (size_t at = 0; at < widths[i]; at++)
			term_row_add_c(sink->row, TERM_dim, "─");
	}
	sink->on_row(sink->row, sink->self);
}

static void write_grid(const struct term_table *table, const size_t *widths, struct term_margin *margin,
                       const struct term_sink *sink)
{
	auto_free struct str *rests = xcalloc(table->columns, sizeof(*rests));
	for (size_t first = 0; first + table->columns <= table->cells.count; first += table->columns) {
		for (size_t i = 0; i < table->columns; i++)
			rests[i] = buf_str(&table->cells.items[first + i].text.bytes);
		while (write_screen_row(table, first, widths, rests, margin, sink))
			continue;
		if (first == 0)
			write_rule(table, widths, margin, sink);
	}
}

static void write_list(const struct term_table *table, struct term_margin *margin, const struct term_sink *sink)
{
	struct term_text line;
	term_text_init(&line);
	for (size_t i = table->columns; i < table->cells.count; i++) {
		const struct term_text *name = &table->cells.items[i % table->columns].text;
		const struct term_text *text = &table->cells.items[i].text;
		term_text_clear(&line);
		term_text_add(&line, TERM_bold, buf_str(&name->bytes));
		term_text_add_c(&line, TERM_dim, ": ");
		size_t from = 0;
		vec_for_each(span, &text->spans) {
			term_text_add(&line, span->style, str_n(text->bytes.data + from, span->end - from));
			from = span->end;
		}
		term_text_write(&line, false, margin, sink);
		if ((i + 1) % table->columns == 0 && i + 1 < table->cells.count) {
			start(margin, sink->row);
			sink->on_row(sink->row, sink->self);
		}
	}
	term_text_finish(&line);
}

void term_table_write(const struct term_table *table, struct term_margin *margin, const struct term_sink *sink)
{
	size_t lead = term_width(buf_str(&margin->rest.bytes)), width = sink->row->width;
	auto_free size_t *widths = xcalloc(table->columns, sizeof(*widths));
	measure(table, widths);
	if (narrow(widths, table->columns, width > lead ? width - lead : 0))
		write_grid(table, widths, margin, sink);
	else
		write_list(table, margin, sink);
}
