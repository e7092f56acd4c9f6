/* Values, the right side of "=". The first byte determines the kind. Arrays and inline tables recurse; the depth
 * stored in every node bounds that. */
#include "config/toml/toml_priv.h"

static bool read_element(struct toml_reader *r, struct toml *array)
{
	struct toml *node = toml_read_new(r, array, TOML_bool);
	if (!node)
		return false;
	toml_append(array, node);
	return toml_read_value(r, node);
}

static bool read_array(struct toml_reader *r, struct toml *array)
{
	array->kind = TOML_array;
	array->state = TOML_SEALED;
	array->count = 0;
	r->at++;
	for (;;) {
		toml_skip_lines(r);
		if (toml_at(r, ']'))
			break;
		if (!read_element(r, array))
			return false;
		toml_skip_lines(r);
		if (toml_at(r, ']'))
			break;
		if (!toml_at(r, ','))
			return toml_fail(r, "expected `,` or `]` in the array of line %u", array->line);
		r->at++;
	}
	r->at++;
	return true;
}

/* Marks an inline table and those inside it as complete: no dotted key or header may extend them. */
static void seal(struct toml *table)
{
	table->state = TOML_SEALED;
	for (struct toml *it = table->child; it; it = it->next)
		if (it->kind == TOML_table && it->state != TOML_SEALED)
			seal(it);
}

static bool read_inline_table(struct toml_reader *r, struct toml *table)
{
	table->kind = TOML_table;
	table->count = 0;
	r->at++;
	toml_skip_blanks(r);
	for (bool is_first = true; !toml_at(r, '}') || !is_first; is_first = false) {
		if (!toml_read_pair(r, table))
			return false;
		toml_skip_blanks(r);
		if (toml_at(r, '}'))
			break;
		if (!toml_at(r, ','))
			return toml_fail(r, "expected `,` or `}` in the inline table of line %u", table->line);
		r->at++;
	}
	r->at++;
	seal(table);
	return true;
}

static bool read_bool(struct toml_reader *r, struct toml *node)
{
	struct str rest = toml_rest(r);
	node->kind = TOML_bool;
	node->boolean = str_has_prefix(rest, "true");
	if (!node->boolean && !str_has_prefix(rest, "false"))
		return toml_fail(r, "not a value; text needs quotes around it");
	r->at += node->boolean ? 4 : 5;
	return true;
}

static bool read_value(struct toml_reader *r, struct toml *node)
{
	switch (r->at < r->end ? *r->at : '\0') {
	case '"':
	case '\'':
		node->kind = TOML_string;
		return toml_read_string(r, &node->text);
	case '[':
		return read_array(r, node);
	case '{':
		return read_inline_table(r, node);
	case 't':
	case 'f':
		return read_bool(r, node);
	default:
		return toml_is_time(toml_rest(r)) ? toml_read_time(r, node) : toml_read_number(r, node);
	}
}

bool toml_read_value(struct toml_reader *r, struct toml *node)
{
	node->from = toml_offset(r);
	if (!read_value(r, node))
		return false;
	node->to = toml_offset(r);
	return true;
}
