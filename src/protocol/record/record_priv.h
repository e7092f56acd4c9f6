/* record_priv.h — how the files of the codec reach a field of a struct. Private to protocol/. */
#ifndef PROTOCOL_RECORD_PRIV_H
#define PROTOCOL_RECORD_PRIV_H

#include "protocol/record/record.h"

#define SLOT(type, base, offset) ((type *)(void *)((char *)(base) + (offset)))
#define CONST_SLOT(type, base, offset) ((const type *)(const void *)((const char *)(base) + (offset)))

enum { UNION_SIZE = sizeof(struct union_head) };

/* Nobody gave it a value: NULL, no items, or has_NAME is false. */
bool field_is_absent(const struct field *field, const void *value);

#endif
