/* Protocol Buffers: a message is a sequence of fields, each a number and a wire type, then a value. The messages here
 * have fewer than five fields, so a table of the wanted ones takes the place of generated code. */
#include "server/grpc_wire.h"

#include "base/mem.h"
#include "base/text.h"

/* ---- reading ---- */

static bool read_varint(struct str *rest, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift < 70 && rest->len; shift += 7) {
		uint8_t byte = (uint8_t)*rest->ptr;
		*rest = str_skip(*rest, 1);
		if (shift == 63 && byte > 1)
			return false;
		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool read_bytes(struct str *rest, uint64_t len, struct str *ret)
{
	if (len > rest->len)
		return false;
	*ret = str_n(rest->ptr, (size_t)len);
	*rest = str_skip(*rest, (size_t)len);
	return true;
}

bool grpc_next(struct str *rest, struct grpc_value *ret)
{
	uint64_t tag, len;
	if (!read_varint(rest, &tag) || tag < 8 || tag > UINT32_MAX)
		return false;
	ret->number = (uint32_t)tag >> 3;
	ret->type = tag & 7;
	switch (ret->type) {
	case GRPC_VARINT:
		return read_varint(rest, &ret->varint);
	case GRPC_BYTES:
		return read_varint(rest, &len) && read_bytes(rest, len, &ret->bytes);
	case GRPC_FIXED64:
		return read_bytes(rest, 8, &ret->bytes);
	case GRPC_FIXED32:
		return read_bytes(rest, 4, &ret->bytes);
	}
	return false; /* groups are not part of proto3 */
}

static enum grpc_status store(const struct grpc_field *field, const struct grpc_value *value)
{
	if ((field->kind == GRPC_NUMBER) != (value->type == GRPC_VARINT) ||
	    (field->kind != GRPC_NUMBER && value->type != GRPC_BYTES))
		return GRPC_OK; /* another type than the field's: skipped as an unknown field */
	if (field->kind == GRPC_NUMBER)
		*(uint64_t *)field->target = value->varint;
	else if (field->kind == GRPC_TEXT && !text_is_utf8(value->bytes))
		return GRPC_INVALID_ARGUMENT;
	else
		*(struct str *)field->target = value->bytes;
	return GRPC_OK;
}

enum grpc_status grpc_read(struct str message, const struct grpc_field *fields, size_t count)
{
	enum grpc_status status = GRPC_OK;
	struct grpc_value value;
	while (message.len && status == GRPC_OK) {
		if (!grpc_next(&message, &value))
			return GRPC_INTERNAL;
		for (size_t i = 0; i < count && status == GRPC_OK; i++)
			if (fields[i].number == value.number)
				status = store(&fields[i], &value);
	}
	return status;
}

bool grpc_read_timeout(struct str text, uint64_t *ret_ms)
{
	static const struct {
		char unit;
		uint64_t ms;
	} units[] = {{'H', 3600 * 1000}, {'M', 60 * 1000}, {'S', 1000}, {'m', 1}, {'u', 0}, {'n', 0}};
	uint64_t number;
	if (text.len < 2 || text.len > 9 || text.ptr[0] == '+' || !str_to_u64(str_n(text.ptr, text.len - 1), &number))
		return false;
	for (size_t i = 0; i < countof(units); i++) {
		if (units[i].unit != text.ptr[text.len - 1])
			continue;
		*ret_ms = units[i].ms ? number * units[i].ms : number / (units[i].unit == 'u' ? 1000 : 1000 * 1000);
		return true;
	}
	return false;
}

/* ---- writing ---- */

size_t grpc_begin(struct buf *out)
{
	size_t mark = out->len;
	buf_append(out, "\0\0\0\0", GRPC_FRAME_HEAD);
	return mark;
}

void grpc_end(struct buf *out, size_t mark)
{
	if (out->len < mark + GRPC_FRAME_HEAD)
		return; /* over its maximum */
	size_t len = out->len - mark - GRPC_FRAME_HEAD;
	for (size_t i = 4; i > 0; i--, len >>= 8)
		out->data[mark + i] = (char)len;
}

static void put_varint(struct buf *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_append_char(out, (char)(value | 0x80));
	buf_append_char(out, (char)value);
}

void grpc_put_number(struct buf *out, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	put_varint(out, field << 3 | GRPC_VARINT);
	put_varint(out, value);
}

void grpc_put_zero(struct buf *out, uint32_t field)
{
	put_varint(out, field << 3 | GRPC_VARINT);
	put_varint(out, 0);
}

void grpc_put_text(struct buf *out, uint32_t field, struct str text)
{
	if (text.len)
		grpc_put_bytes(out, field, text);
}

void grpc_put_bytes(struct buf *out, uint32_t field, struct str bytes)
{
	put_varint(out, field << 3 | GRPC_BYTES);
	put_varint(out, bytes.len);
	buf_append_str(out, bytes);
}

void grpc_put_status_text(struct buf *out, const char *text)
{
	buf_append_c(out, "grpc-message: ");
	for (; *text; text++) {
		bool is_plain = *text >= ' ' && *text <= '~' && *text != '%';
		if (is_plain)
			buf_append_char(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}
