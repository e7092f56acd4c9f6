/* One growing array; what is no longer kept is cut off in pieces, so that the rest moves rarely. */
#include "fleet/fleet_rows.h"

#include <string.h>

#include "fleet/fleet_limits.h"

void fleet_rows_init(struct fleet_rows *rows, uint64_t seq, uint64_t lines)
{
	*rows = (struct fleet_rows){.seq = seq,
	                            .lines = lines,
	                            .from_seq = seq,
	                            .from_lines = lines,
	                            .stored_seq = seq,
	                            .stored_lines = lines};
}

void fleet_rows_finish(struct fleet_rows *rows)
{
	vec_for_each(row, &rows->rows)
		str_free(&row->text);
	vec_finish(&rows->rows);
}

static void push(struct fleet_rows *rows, enum fleet_row_kind kind, struct str text)
{
	vec_push(&rows->rows, (struct fleet_row){str_copy(text), kind, false});
	rows->kept += text.len;
	rows->events += kind == FLEET_EVENT;
}

/* ---- what is kept ---- */

/* Drops the oldest stored rows, down to three quarters of the limits, when one is exceeded. */
static void trim(struct fleet_rows *rows)
{
	size_t count = 0;
	if (rows->events <= LIMIT_FLEET_EVENTS && rows->kept <= LIMIT_FLEET_KEPT)
		return;
	for (; count < rows->stored; count++) {
		struct fleet_row *row = &rows->rows.items[count];
		if (rows->events <= LIMIT_FLEET_EVENTS / 4 * 3 && rows->kept <= LIMIT_FLEET_KEPT / 4 * 3 &&
		    (count == 0 || rows->rows.items[count - 1].ends_group))
			break;
		rows->kept -= row->text.len;
		rows->events -= row->kind == FLEET_EVENT;
		rows->from_seq += row->kind == FLEET_EVENT;
		rows->from_lines += row->kind == FLEET_LINE;
		str_free(&row->text);
	}
	memmove(rows->rows.items, rows->rows.items + count, (rows->rows.count - count) * sizeof(*rows->rows.items));
	rows->rows.count -= count;
	rows->stored -= count;
	rows->sent -= count;
	rows->dropped += count;
}

/* ---- adding ---- */

void fleet_rows_add(struct fleet_rows *rows, enum fleet_row_kind kind, struct str text)
{
	push(rows, kind, text);
	rows->waiting += text.len;
	rows->seq += kind == FLEET_EVENT;
	rows->lines += kind == FLEET_LINE;
}

void fleet_rows_add_stored(struct fleet_rows *rows, struct str line)
{
	push(rows, FLEET_LINE, line);
	rows->from_lines -= rows->from_lines > 0;
	rows->rows.items[rows->rows.count - 1].ends_group = true;
	rows->stored = rows->sent = rows->rows.count;
	trim(rows);
}

bool fleet_rows_has_tail(const struct fleet_rows *rows)
{
	return rows->rows.count && !rows->rows.items[rows->rows.count - 1].ends_group;
}

void fleet_rows_cut(struct fleet_rows *rows)
{
	if (rows->rows.count)
		rows->rows.items[rows->rows.count - 1].ends_group = true;
}

void fleet_rows_drop_tail(struct fleet_rows *rows)
{
	while (fleet_rows_has_tail(rows)) {
		struct fleet_row *row = &rows->rows.items[--rows->rows.count];
		rows->waiting -= row->text.len;
		rows->kept -= row->text.len;
		rows->events -= row->kind == FLEET_EVENT;
		rows->seq -= row->kind == FLEET_EVENT;
		rows->lines -= row->kind == FLEET_LINE;
		str_free(&row->text);
	}
}

uint64_t fleet_rows_position(const struct fleet_rows *rows)
{
	return rows->dropped + rows->rows.count;
}

bool fleet_rows_is_stored(const struct fleet_rows *rows, uint64_t position)
{
	return rows->dropped + rows->stored >= position;
}

/* ---- batches ---- */

/* Returns the index after the groups that make the next batch. */
static size_t find_end(const struct fleet_rows *rows)
{
	size_t bytes = 0, end = rows->stored;
	for (size_t i = rows->stored; i < rows->rows.count && bytes < LIMIT_FLEET_BATCH; i++) {
		bytes += rows->rows.items[i].text.len;
		if (rows->rows.items[i].ends_group)
			end = i + 1;
		else if (bytes >= LIMIT_FLEET_BATCH && end == rows->stored)
			bytes = 0; /* a group is never split */
	}
	return end;
}

bool fleet_rows_next(struct fleet_rows *rows, struct fleet_rows_batch *ret)
{
	*ret = (struct fleet_rows_batch){0};
	size_t end = find_end(rows);
	if (end == rows->stored)
		return false;
	ret->seq = rows->stored_seq;
	ret->lines_before = rows->stored_lines;
	for (size_t i = rows->stored; i < end; i++) {
		const struct fleet_row *row = &rows->rows.items[i];
		if (row->kind == FLEET_EVENT)
			vec_push(&ret->events, row->text);
		else if (row->kind == FLEET_LINE)
			vec_push(&ret->lines, row->text);
		else
			ret->applied = row->text;
	}
	rows->sent = end;
	return true;
}

void fleet_rows_batch_finish(struct fleet_rows_batch *batch)
{
	vec_finish(&batch->events);
	vec_finish(&batch->lines);
}

/* ---- what was stored ---- */

static void count_waiting(struct fleet_rows *rows)
{
	rows->waiting = 0;
	for (size_t i = rows->stored; i < rows->rows.count; i++)
		rows->waiting += rows->rows.items[i].text.len;
}

size_t fleet_rows_on_stored(struct fleet_rows *rows)
{
	size_t bytes = 0;
	for (; rows->stored < rows->sent; rows->stored++) {
		const struct fleet_row *row = &rows->rows.items[rows->stored];
		rows->waiting -= row->text.len;
		rows->stored_seq += row->kind == FLEET_EVENT;
		rows->stored_lines += row->kind == FLEET_LINE;
		bytes += row->kind == FLEET_LINE ? row->text.len : 0;
	}
	trim(rows);
	return bytes;
}

bool fleet_rows_rewind(struct fleet_rows *rows, uint64_t seq, uint64_t lines)
{
	uint64_t at_seq = rows->from_seq, at_lines = rows->from_lines;
	for (size_t i = 0; i <= rows->rows.count; i++) {
		bool is_border = i == 0 || rows->rows.items[i - 1].ends_group;
		bool is_next_applied = i < rows->rows.count && rows->rows.items[i].kind == FLEET_APPLIED;
		if (is_border && !is_next_applied && at_seq == seq && at_lines == lines) {
			rows->stored = rows->sent = i;
			rows->stored_seq = seq;
			rows->stored_lines = lines;
			count_waiting(rows);
			return true;
		}
		if (i < rows->rows.count) {
			at_seq += rows->rows.items[i].kind == FLEET_EVENT;
			at_lines += rows->rows.items[i].kind == FLEET_LINE;
		}
	}
	return false;
}

void fleet_rows_restart(struct fleet_rows *rows)
{
	rows->stored = rows->sent = 0;
	rows->stored_seq = rows->from_seq;
	rows->stored_lines = rows->from_lines;
	count_waiting(rows);
}
