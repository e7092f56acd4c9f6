/* Decoding (record_decode.c), encoding (record_encode.c) and copying (this file) each walk over the field rows and
 * switch on the kind of the field. A new Op, Event or method therefore needs rows but no code. */
#include "protocol/record/record.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "protocol/record/record_priv.h"

const struct variant *union_find_tag(const struct union_type *type, int tag)
{
	if (tag >= 0 && (size_t)tag < type->count && type->variants[tag].tag == tag && !type->variants[tag].is_alias)
		return &type->variants[tag]; /* usually the index is the tag, because aliases come last */
	for (size_t i = 0; i < type->count; i++) {
		if (type->variants[i].tag == tag && !type->variants[i].is_alias)
			return &type->variants[i];
	}
	return NULL;
}

const struct variant *union_find_wire(const struct union_type *type, struct str wire)
{
	for (size_t i = 0; i < type->count; i++) {
		if (str_is(wire, type->variants[i].wire))
			return &type->variants[i];
	}
	return NULL;
}

/* ---- names ---- */

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Converts snake_case to camelCase; a leading underscore is part of the name. */
static void write_camel(const char *snake, char buffer[FIELD_NAME_SIZE])
{
	size_t len = 0;
	while (*snake == '_' && len < FIELD_NAME_SIZE - 1)
		buffer[len++] = *snake++;
	for (; *snake && len < FIELD_NAME_SIZE - 1; snake++) {
		if (snake[0] == '_' && snake[1] == '_')
			buffer[len++] = *snake++;
		else if (snake[0] == '_' && snake[1])
			buffer[len++] = upper(*++snake);
		else if (snake[0] != '_')
			buffer[len++] = *snake;
	}
	buffer[len] = '\0';
}

const char *field_wire_name(const struct record *record, const struct field *field, char buffer[FIELD_NAME_SIZE])
{
	if (record->family == RECORD_SNAKE)
		return field_name(record, field);
	write_camel(field_name(record, field), buffer);
	return buffer;
}

const char *record_wire_name(const struct record *record, char buffer[FIELD_NAME_SIZE])
{
	static const char prefix[] = "app_";
	if (record->family == RECORD_SNAKE || strncmp(record->name, prefix, sizeof(prefix) - 1) != 0)
		return record->name;
	write_camel(record->name + sizeof(prefix) - 1, buffer);
	buffer[0] = upper(buffer[0]);
	return buffer;
}

struct field_shape field_as_shown(const struct field *field)
{
	if (field->shown_kind != FIELD_str)
		return (struct field_shape){field->shown_kind, field->is_shown_map};
	return (struct field_shape){field->kind, field->is_map};
}

const struct field *record_find_field(const struct record *record, const char *name)
{
	record_for_each(field, record) {
		if (strcmp(field_name(record, field), name) == 0)
			return field;
	}
	return NULL;
}

bool field_is_absent(const struct field *field, const void *value)
{
	switch (field->kind) {
	case FIELD_str:
	case FIELD_path:
	case FIELD_json:
		return !CONST_SLOT(struct str, value, field->offset)->ptr;
	case FIELD_record:
	case FIELD_union:
		return !*CONST_SLOT(void *, value, field->offset);
	case FIELD_strs:
	case FIELD_paths:
	case FIELD_enums:
	case FIELD_ints:
	case FIELD_records:
	case FIELD_unions:
	case FIELD_map:
		return *CONST_SLOT(size_t, value, field->aux) == 0;
	default:
		return field->aux && !*CONST_SLOT(bool, value, field->aux - 1);
	}
}

/* ---- copying ---- */

/* A long text that occurs twice in an event, such as a command's output: it is copied once and shared. */
struct twin {
	struct str from, copy;
};

enum { TWIN_MIN = 4 * KIB };

static struct str copy_text(struct arena *arena, struct str text, struct twin *last)
{
	if (text.len < TWIN_MIN)
		return arena_str(arena, text);
	if (text.ptr != last->from.ptr || text.len != last->from.len)
		*last = (struct twin){text, arena_str(arena, text)};
	return last->copy;
}

static void copy_strs(struct arena *arena, struct str **slot, size_t count)
{
	const struct str *from = *slot;
	struct str *items = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		items[i] = arena_str(arena, from[i]);
	*slot = items;
}

static void copy_enums(struct arena *arena, int **slot, size_t count)
{
	int *items = arena_array(arena, int, count);
	memcpy(items, *slot, sizeof(*items) * count);
	*slot = items;
}

static void copy_ints(struct arena *arena, int64_t **slot, size_t count)
{
	int64_t *items = arena_array(arena, int64_t, count);
	memcpy(items, *slot, sizeof(*items) * count);
	*slot = items;
}

static void copy_list(const struct field *field, struct arena *arena, void *out)
{
	size_t count = *SLOT(size_t, out, field->aux);
	const char *from = *SLOT(char *, out, field->offset);
	bool is_record = field->kind == FIELD_records;
	size_t size = is_record ? field_record_size(field) : UNION_SIZE;
	char *items = arena_alloc(arena, size * count);
	for (size_t i = 0; i < count; i++) {
		if (is_record)
			record_copy(field_type(field), from + size * i, arena, items + size * i);
		else
			union_copy(field_type(field), from + size * i, arena, items + size * i);
	}
	*SLOT(void *, out, field->offset) = items;
	if (field->is_map)
		copy_strs(arena, SLOT(struct str *, out, field_keys(field)), count);
}

static void copy_field(const struct field *field, struct arena *arena, void *out, struct twin *last)
{
	void **part = SLOT(void *, out, field->offset);
	void *copy;
	switch (field->kind) {
	case FIELD_str:
	case FIELD_path:
	case FIELD_json:
		*SLOT(struct str, out, field->offset) = copy_text(arena, *SLOT(struct str, out, field->offset), last);
		return;
	case FIELD_record:
		copy = arena_alloc(arena, field_record_size(field));
		record_copy(field_type(field), *part, arena, copy);
		*part = copy;
		return;
	case FIELD_union:
		copy = arena_alloc(arena, UNION_SIZE);
		union_copy(field_type(field), *part, arena, copy);
		*part = copy;
		return;
	case FIELD_enums:
		copy_enums(arena, SLOT(int *, out, field->offset), *SLOT(size_t, out, field->aux));
		return;
	case FIELD_ints:
		copy_ints(arena, SLOT(int64_t *, out, field->offset), *SLOT(size_t, out, field->aux));
		return;
	case FIELD_strs:
	case FIELD_paths:
		copy_strs(arena, SLOT(struct str *, out, field->offset), *SLOT(size_t, out, field->aux));
		return;
	case FIELD_records:
	case FIELD_unions:
	case FIELD_map:
		copy_list(field, arena, out);
		return;
	default:
		return; /* scalars were copied with the struct */
	}
}

void record_copy(const struct record *record, const void *from, struct arena *arena, void *out)
{
	struct twin last = {0};
	memcpy(out, from, record->size);
	if (record->is_open)
		*SLOT(struct str, out, 0) = arena_str(arena, *SLOT(struct str, out, 0));
	record_for_each(field, record) {
		if (!field_is_absent(field, out) && !(field->presence & ALIAS_NAME))
			copy_field(field, arena, out, &last);
	}
}

void union_copy(const struct union_type *type, const void *from, struct arena *arena, void *out)
{
	const struct union_head *head = from;
	struct union_head *copy = out;
	const struct variant *variant = union_find_tag(type, head->tag);
	*copy = *head;
	if (variant && variant->body && head->body) {
		copy->body = arena_alloc(arena, variant->body->size);
		record_copy(variant->body, head->body, arena, copy->body);
	}
}
