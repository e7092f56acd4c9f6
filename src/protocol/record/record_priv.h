/* record_priv.h — access to the fields of a struct for the codec. Private to protocol/. */
#ifndef PROTOCOL_RECORD_PRIV_H
#define PROTOCOL_RECORD_PRIV_H

#include "protocol/record/record.h"

#define SLOT(type, base, offset) ((type *)(void *)((char *)(base) + (offset)))
#define CONST_SLOT(type, base, offset) ((const type *)(const void *)((const char *)(base) + (offset)))

enum { UNION_SIZE = sizeof(struct union_head) };

/* Returns the size of the record that is the field's type. */
static inline size_t field_record_size(const struct field *field)
{
	return ((const struct record *)field_type(field))->size;
}

/* True if the field has no value: NULL, no items, or has_NAME is false. */
bool field_is_absent(const struct field *field, const void *value);

#endif
