/* record_default.h — defines all row macros that an expansion did not define as empty.
 * No include guard: included before each expansion, with record_undef.h after it. */
#ifndef RECORD
#define RECORD(...)
#endif
#ifndef RECORD_END
#define RECORD_END(...)
#endif
#ifndef RECORD_EMPTY
#define RECORD_EMPTY(...)
#endif
#ifndef RECORD_OPEN
#define RECORD_OPEN(...)
#endif
#ifndef STRING
#define STRING(...)
#endif
#ifndef STRING_NAMED
#define STRING_NAMED(...)
#endif
#ifndef STRING_ALIAS
#define STRING_ALIAS(...)
#endif
#ifndef PATH
#define PATH(...)
#endif
#ifndef BOOL
#define BOOL(...)
#endif
#ifndef OPT_BOOL
#define OPT_BOOL(...)
#endif
#ifndef INT
#define INT(...)
#endif
#ifndef OPT_INT
#define OPT_INT(...)
#endif
#ifndef FLOAT
#define FLOAT(...)
#endif
#ifndef OPT_FLOAT
#define OPT_FLOAT(...)
#endif
#ifndef CHOICE
#define CHOICE(...)
#endif
#ifndef OPT_CHOICE
#define OPT_CHOICE(...)
#endif
#ifndef JSON
#define JSON(...)
#endif
#ifndef STRINGS_OF
#define STRINGS_OF(...)
#endif
#ifndef SUB
#define SUB(...)
#endif
#ifndef ONE_OF
#define ONE_OF(...)
#endif
#ifndef STRINGS
#define STRINGS(...)
#endif
#ifndef PATHS
#define PATHS(...)
#endif
#ifndef INTS
#define INTS(...)
#endif
#ifndef CHOICES
#define CHOICES(...)
#endif
#ifndef LIST
#define LIST(...)
#endif
#ifndef LIST_OF
#define LIST_OF(...)
#endif
#ifndef MAP
#define MAP(...)
#endif
#ifndef MAP_OF
#define MAP_OF(...)
#endif
#ifndef RECORD_SHOWN
#define RECORD_SHOWN(...)
#endif
#ifndef JSON_AS
#define JSON_AS(...)
#endif
#ifndef JSON_OF
#define JSON_OF(...)
#endif
#ifndef STRING_OF
#define STRING_OF(...)
#endif
#ifndef UNION
#define UNION(...)
#endif
#ifndef VARIANT
#define VARIANT(...)
#endif
#ifndef NAMED
#define NAMED(...)
#endif
#ifndef UNIT
#define UNIT(...)
#endif
#ifndef VALUE_OF
#define VALUE_OF(...)
#endif
#ifndef VARIANT_ALIAS
#define VARIANT_ALIAS(...)
#endif
#ifndef UNIT_ALIAS
#define UNIT_ALIAS(...)
#endif
#ifndef UNION_END
#define UNION_END(...)
#endif
