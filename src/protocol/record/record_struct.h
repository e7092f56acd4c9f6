/* record_struct.h — included by types.h with a .def list: turns rows into C structs. It has no include guard because
 * each inclusion is an expansion. */
/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define RECORD(name, doc) struct name {
#define RECORD_END(name) };
#define STRING(field, presence, doc) struct str field;
/* A wire name that C reserves: stdin, stdout and stderr are macros in some C libraries. */
#define STRING_NAMED(field, name, presence, doc) struct str field;
#define STRING_ALIAS(field, alias, doc)
#define PATH(field, presence, doc) struct str field;
#define BOOL(field, presence, doc) bool field;
#define OPT_BOOL(field, presence, doc) bool has_##field, field;
#define INT(field, presence, doc) int64_t field;
#define OPT_INT(field, presence, doc) bool has_##field; int64_t field;
#define FLOAT(field, presence, doc) double field;
#define OPT_FLOAT(field, presence, doc) bool has_##field; double field;
#define CHOICE(field, type, presence, doc) enum type field;
#define OPT_CHOICE(field, type, presence, doc) bool has_##field; enum type field;
#define JSON(field, presence, doc) struct str field;
#define JSON_AS(field, as, presence, doc) struct str field;
#define JSON_OF(field, as, type, presence, doc) struct str field;
#define STRING_OF(field, type, presence, doc) struct str field;
#define SUB(field, type, presence, doc) struct type *field;
#define ONE_OF(field, type, presence, doc) struct type *field;
#define STRINGS(field, presence, doc) struct str *field; size_t field##_count;
#define STRINGS_OF(field, type, presence, doc) struct str *field; size_t field##_count;
#define PATHS(field, presence, doc) struct str *field; size_t field##_count;
#define INTS(field, presence, doc) int64_t *field; size_t field##_count;
#define CHOICES(field, type, presence, doc) enum type *field; size_t field##_count;
#define LIST(field, type, presence, doc) struct type *field; size_t field##_count;
#define LIST_OF(field, type, presence, doc) struct type *field; size_t field##_count;
#define MAP(field, type, presence, doc) struct str *field##_keys; struct type *field; size_t field##_count;
#define MAP_OF(field, type, presence, doc) struct str *field##_keys; struct type *field; size_t field##_count;
#define RECORD_EMPTY(name, doc) struct name { char unused; };
#define RECORD_OPEN(name, doc) struct name { struct str json; };
#define RECORD_SHOWN(name, as, doc) struct name { struct str json; };
/* clang-format on */
