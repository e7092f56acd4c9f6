/* A Struct is a map of Values, and a Value a message with one of six fields. An entry without a key has the key "", and
 * a Value without a field is null, as Protocol Buffers leave out defaults. */
#include "server/grpc_struct.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "server/grpc_wire.h"

/* The fields of the messages. */
enum { FIELDS = 1, ENTRY_KEY = 1, ENTRY_VALUE = 2, VALUES = 1 };
enum { NULL_VALUE = 1, NUMBER_VALUE, STRING_VALUE, BOOL_VALUE, STRUCT_VALUE, LIST_VALUE };

/* ---- to JSON ---- */

static bool write_value(struct str message, struct json_writer *w, unsigned depth);

static bool write_entry(struct str message, struct json_writer *w, unsigned depth)
{
	struct str key = STR(""), value = STR("");
	const struct grpc_field fields[] = {{ENTRY_KEY, GRPC_TEXT, &key}, {ENTRY_VALUE, GRPC_MESSAGE, &value}};
	if (grpc_read(message, fields, countof(fields)) != GRPC_OK)
		return false;
	jw_key_str(w, key);
	return write_value(value, w, depth);
}

static bool write_items(struct str message, struct json_writer *w, unsigned depth, bool is_list)
{
	struct grpc_value item;
	while (message.len) {
		if (!grpc_next(&message, &item))
			return false;
		if (item.number != FIELDS || item.type != GRPC_BYTES)
			continue;
		if (!(is_list ? write_value(item.bytes, w, depth) : write_entry(item.bytes, w, depth)))
			return false;
	}
	return true;
}

static bool write_object(struct str message, struct json_writer *w, unsigned depth)
{
	jw_object(w);
	bool is_good = depth < LIMIT_JSON_DEPTH && write_items(message, w, depth + 1, false);
	jw_object_end(w);
	return is_good;
}

static bool write_list(struct str message, struct json_writer *w, unsigned depth)
{
	jw_array(w);
	bool is_good = depth < LIMIT_JSON_DEPTH && write_items(message, w, depth + 1, true);
	jw_array_end(w);
	return is_good;
}

static bool write_text(struct str text, struct json_writer *w)
{
	jw_str(w, text.len ? text : STR(""));
	return text_is_utf8(text);
}

/* JSON has no infinity. */
static bool write_number(struct str bytes, struct json_writer *w)
{
	double number;
	memcpy(&number, bytes.ptr, sizeof(number));
	jw_double(w, number);
	return isfinite(number);
}

static bool write_field(const struct grpc_value *value, struct json_writer *w, unsigned depth)
{
	switch (value->number) {
	case NUMBER_VALUE:
		return value->type == GRPC_FIXED64 && write_number(value->bytes, w);
	case STRING_VALUE:
		return value->type == GRPC_BYTES && write_text(value->bytes, w);
	case BOOL_VALUE:
		jw_bool(w, value->varint);
		return value->type == GRPC_VARINT;
	case STRUCT_VALUE:
		return value->type == GRPC_BYTES && write_object(value->bytes, w, depth);
	case LIST_VALUE:
		return value->type == GRPC_BYTES && write_list(value->bytes, w, depth);
	}
	jw_null(w);
	return true;
}

static bool write_value(struct str message, struct json_writer *w, unsigned depth)
{
	struct grpc_value value, last = {0};
	while (message.len) {
		if (!grpc_next(&message, &value))
			return false;
		if (value.number >= NULL_VALUE && value.number <= LIST_VALUE)
			last = value; /* of a oneof the last one counts */
	}
	return write_field(&last, w, depth);
}

int grpc_struct_to_json(struct str message, struct buf *out, struct error *err)
{
	struct json_writer w = json_writer(out);
	if (write_object(message, &w, 0) && !out->over)
		return 0;
	return error_set(err, ERR_invalid, "`op` is not a Struct that stands for a JSON object");
}

/* ---- from JSON ---- */

static void put_value(struct buf *out, uint32_t field, const struct json *node);

static void put_items(struct buf *out, uint32_t field, const struct json *node)
{
	auto_buf struct buf items;
	buf_init(&items, LIMIT_STREAM_QUEUE_HARD);
	for (const struct json *it = node->child; it; it = it->next) {
		auto_buf struct buf entry;
		buf_init(&entry, LIMIT_STREAM_QUEUE_HARD);
		if (node->type == JSON_array) {
			put_value(&items, VALUES, it);
			continue;
		}
		grpc_put_text(&entry, ENTRY_KEY, it->key);
		put_value(&entry, ENTRY_VALUE, it);
		grpc_put_bytes(&items, FIELDS, buf_str(&entry));
	}
	grpc_put_bytes(out, field, buf_str(&items));
}

static void put_number(struct buf *out, const struct json *node)
{
	double number = 0;
	json_to_double(node, &number);
	buf_append_char(out, NUMBER_VALUE << 3 | GRPC_FIXED64);
	buf_append(out, &number, sizeof(number));
}

static void put_value(struct buf *out, uint32_t field, const struct json *node)
{
	auto_buf struct buf value;
	buf_init(&value, LIMIT_STREAM_QUEUE_HARD);
	switch (node->type) {
	case JSON_null:
		grpc_put_zero(&value, NULL_VALUE);
		break;
	case JSON_bool:
		grpc_put_zero(&value, BOOL_VALUE);
		if (node->boolean)
			value.data[value.len - 1] = 1;
		break;
	case JSON_number:
		put_number(&value, node);
		break;
	case JSON_string:
		grpc_put_bytes(&value, STRING_VALUE, node->text);
		break;
	case JSON_array:
	case JSON_object:
		put_items(&value, node->type == JSON_array ? LIST_VALUE : STRUCT_VALUE, node);
		break;
	}
	grpc_put_bytes(out, field, buf_str(&value));
}

int grpc_struct_from_json(struct str json, struct buf *out, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, json, err);
	if (!root)
		return -(int)ERR_invalid;
	if (root->type != JSON_object)
		return error_set(err, ERR_invalid, "only a JSON object has a Struct");
	auto_buf struct buf field;
	buf_init(&field, LIMIT_STREAM_QUEUE_HARD);
	put_items(&field, FIELDS, root);
	/* put_items writes a field; a Struct is its content */
	struct str rest = buf_str(&field);
	struct grpc_value value;
	if (grpc_next(&rest, &value))
		buf_append_str(out, value.bytes);
	return 0;
}
