/* record_pooled.h — included before an expansion of rows with record_text.h and record_rows.h: their records do without
 * documentation, and their field names are those of the pool that all such records share (tools/field-names). It has
 * no include guard because types.c needs it in several expansions. */
#include "protocol/record/fields.h"

#undef RECORD_DOC
#undef FIELD_TEXT
#undef FIELD_NAME
#define RECORD_DOC(doc)
#define FIELD_TEXT(f) (NAME_##f)
#define FIELD_NAME(name)
