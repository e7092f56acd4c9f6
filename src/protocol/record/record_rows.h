/* record_rows.h — turns rows into field descriptions: included before a .def list in one .c file. Each RECORD opens
 * a function so that `Self` can name the struct inside offsetof. RECORD_FAMILY, if defined, is the family of the
 * records. It has no include guard because each inclusion is an expansion. */
/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define SHOWN_flag false, FIELD_bool
#define SHOWN_list false, FIELD_jsons
#define SHOWN_flag_map true, FIELD_bool
#define SHOWN_number_map true, FIELD_f64
#define SHOWN_text_map true, FIELD_strs
#define SHOWN_path_map true, FIELD_paths
#define SHOWN_json_map true, FIELD_json
#define SHOWN_enum false, FIELD_enum
#define SHOWN_enums false, FIELD_enums
#define SHOWN_enum_map true, FIELD_enums
#define SHOWN_record false, FIELD_record
#define SHOWN_records false, FIELD_records
#define SHOWN_record_map true, FIELD_records
#define SHOWN_union false, FIELD_union
#define SHOWN_unions false, FIELD_unions
#define SHOWN_union_map true, FIELD_map
#define SHOWN_TYPE_enum(t) enum_##t
#define SHOWN_TYPE_enums(t) enum_##t
#define SHOWN_TYPE_enum_map(t) enum_##t
#define SHOWN_TYPE_record(t) record_##t
#define SHOWN_TYPE_records(t) record_##t
#define SHOWN_TYPE_record_map(t) record_##t
#define SHOWN_TYPE_union(t) union_##t
#define SHOWN_TYPE_unions(t) union_##t
#define SHOWN_TYPE_union_map(t) union_##t
#ifndef RECORD_FAMILY
#define RECORD_FAMILY RECORD_SNAKE
#endif
#define RECORD(name, doc)                                             \
	static const char name##_text[] = #name "\0" doc;             \
	static const struct field *name##_fields(size_t *ret_count)   \
	{                                                             \
		typedef struct name Self;                             \
		static const struct field fields[] = {
#define RECORD_END(name)                                              \
		};                                                    \
		*ret_count = countof(fields);                         \
		return fields;                                        \
	}                                                             \
	const struct record record_##name = {name##_text, name##_fields, NULL, sizeof(struct name), RECORD_FAMILY, \
	                                     false};
#define AT(f) offsetof(Self, f)
#define HAS_KEYS(f) (AT(f) - AT(f##_keys) == sizeof(struct str *))
#define STRING(f, p, doc) {#f "\0" doc, NULL, FIELD_str, p, AT(f), 0, 0},
#define STRING_NAMED(f, name, p, doc) {name "\0" doc, NULL, FIELD_str, p, AT(f), 0, 0},
#define STRING_ALIAS(f, alias, doc) {alias "\0" doc, NULL, FIELD_str, OPT | ALIAS_NAME, AT(f), 0, 0},
#define PATH(f, p, doc) {#f "\0" doc, NULL, FIELD_path, p, AT(f), 0, 0},
#define BOOL(f, p, doc) {#f "\0" doc, NULL, FIELD_bool, p, AT(f), 0, 0},
#define OPT_BOOL(f, p, doc) {#f "\0" doc, NULL, FIELD_bool, p, AT(f), AT(has_##f) + 1, 0},
#define INT(f, p, doc) {#f "\0" doc, NULL, FIELD_i64, p, AT(f), 0, 0},
#define OPT_INT(f, p, doc) {#f "\0" doc, NULL, FIELD_i64, p, AT(f), AT(has_##f) + 1, 0},
#define FLOAT(f, p, doc) {#f "\0" doc, NULL, FIELD_f64, p, AT(f), 0, 0},
#define OPT_FLOAT(f, p, doc) {#f "\0" doc, NULL, FIELD_f64, p, AT(f), AT(has_##f) + 1, 0},
#define CHOICE(f, t, p, doc) {#f "\0" doc, &enum_##t, FIELD_enum, p, AT(f), 0, 0},
#define OPT_CHOICE(f, t, p, doc) {#f "\0" doc, &enum_##t, FIELD_enum, p, AT(f), AT(has_##f) + 1, 0},
#define JSON(f, p, doc) {#f "\0" doc, NULL, FIELD_json, p, AT(f), 0, 0},
#define JSON_AS(f, as, p, doc) {#f "\0" doc, NULL, FIELD_json, p, AT(f), 0, 0, true, SHOWN_##as},
#define JSON_OF(f, as, t, p, doc) {#f "\0" doc, &SHOWN_TYPE_##as(t), FIELD_json, p, AT(f), 0, 0, true, SHOWN_##as},
#define STRING_OF(f, t, p, doc) {#f "\0" doc, &enum_##t, FIELD_str, p, AT(f), 0, 0, true, SHOWN_enum},
#define SUB(f, t, p, doc) {#f "\0" doc, &record_##t, FIELD_record, p, AT(f), 0, 0},
#define ONE_OF(f, t, p, doc) {#f "\0" doc, &union_##t, FIELD_union, p, AT(f), 0, 0},
#define STRINGS(f, p, doc) {#f "\0" doc, NULL, FIELD_strs, p, AT(f), AT(f##_count), 0},
#define STRINGS_OF(f, t, p, doc) \
	{#f "\0" doc, &union_##t, FIELD_strs, p, AT(f), AT(f##_count), 0, true, SHOWN_union},
#define PATHS(f, p, doc) {#f "\0" doc, NULL, FIELD_paths, p, AT(f), AT(f##_count), 0},
#define INTS(f, p, doc) {#f "\0" doc, NULL, FIELD_ints, p, AT(f), AT(f##_count), 0},
#define CHOICES(f, t, p, doc) {#f "\0" doc, &enum_##t, FIELD_enums, p, AT(f), AT(f##_count), 0},
#define LIST(f, t, p, doc) {#f "\0" doc, &record_##t, FIELD_records, p, AT(f), AT(f##_count), 0},
#define LIST_OF(f, t, p, doc) {#f "\0" doc, &union_##t, FIELD_unions, p, AT(f), AT(f##_count), 0},
#define MAP_OF(f, t, p, doc) {#f "\0" doc, &union_##t, FIELD_map, p, AT(f), AT(f##_count), HAS_KEYS(f)},
#define MAP(f, t, p, doc) {#f "\0" doc, &record_##t, FIELD_records, p, AT(f), AT(f##_count), HAS_KEYS(f)},
#define RECORD_EMPTY(name, doc) \
	const struct record record_##name = {#name "\0" doc, NULL, NULL, sizeof(struct name), RECORD_FAMILY, false};
#define RECORD_OPEN(name, doc) \
	const struct record record_##name = {#name "\0" doc, NULL, NULL, sizeof(struct name), RECORD_FAMILY, true};
#define RECORD_SHOWN(name, as, doc) \
	const struct record record_##name = {#name "\0" doc, NULL, &union_##as, \
	                                     sizeof(struct name), RECORD_FAMILY, true};
/* clang-format on */
