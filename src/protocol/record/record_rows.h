/* record_rows.h — turns rows into field descriptions: included before a .def list in one .c file.
 * Each RECORD opens a function so that `Self` can name the struct inside offsetof.
 * RECORD_FAMILY, if defined, is the family of the records.
 * No include guard: it is the expansion itself. */
/* The macros open and close the braces of each other. */
/* clang-format off */
#define SHOWN_flag {true, false, FIELD_bool}
#define SHOWN_list {true, false, FIELD_jsons}
#define SHOWN_flag_map {true, true, FIELD_bool}
#define SHOWN_number_map {true, true, FIELD_f64}
#define SHOWN_text_map {true, true, FIELD_strs}
#define SHOWN_path_map {true, true, FIELD_paths}
#define SHOWN_json_map {true, true, FIELD_json}
#define SHOWN_enum {true, false, FIELD_enum}
#define SHOWN_enums {true, false, FIELD_enums}
#define SHOWN_enum_map {true, true, FIELD_enums}
#define SHOWN_record {true, false, FIELD_record}
#define SHOWN_records {true, false, FIELD_records}
#define SHOWN_record_map {true, true, FIELD_records}
#define SHOWN_union {true, false, FIELD_union}
#define SHOWN_unions {true, false, FIELD_unions}
#define SHOWN_union_map {true, true, FIELD_map}
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
	static const char name##_doc[] = doc;                         \
	static const struct field *name##_fields(size_t *ret_count)   \
	{                                                             \
		typedef struct name Self;                             \
		static const struct field fields[] = {
#define RECORD_END(name)                                              \
		};                                                    \
		*ret_count = countof(fields);                         \
		return fields;                                        \
	}                                                             \
	const struct record record_##name = {#name, name##_doc, sizeof(struct name), name##_fields, RECORD_FAMILY, \
                                             false, NULL};
#define AT(f) offsetof(Self, f)
#define STRING(f, p, doc) {#f, FIELD_str, p, AT(f), 0, 0, NULL, doc},
#define STRING_ALIAS(f, alias, doc) {alias, FIELD_str, OPT | ALIAS_NAME, AT(f), 0, 0, NULL, doc},
#define PATH(f, p, doc) {#f, FIELD_path, p, AT(f), 0, 0, NULL, doc},
#define BOOL(f, p, doc) {#f, FIELD_bool, p, AT(f), 0, 0, NULL, doc},
#define OPT_BOOL(f, p, doc) {#f, FIELD_bool, p, AT(f), AT(has_##f) + 1, 0, NULL, doc},
#define INT(f, p, doc) {#f, FIELD_i64, p, AT(f), 0, 0, NULL, doc},
#define OPT_INT(f, p, doc) {#f, FIELD_i64, p, AT(f), AT(has_##f) + 1, 0, NULL, doc},
#define FLOAT(f, p, doc) {#f, FIELD_f64, p, AT(f), 0, 0, NULL, doc},
#define OPT_FLOAT(f, p, doc) {#f, FIELD_f64, p, AT(f), AT(has_##f) + 1, 0, NULL, doc},
#define CHOICE(f, t, p, doc) {#f, FIELD_enum, p, AT(f), 0, 0, &enum_##t, doc},
#define OPT_CHOICE(f, t, p, doc) {#f, FIELD_enum, p, AT(f), AT(has_##f) + 1, 0, &enum_##t, doc},
#define JSON(f, p, doc) {#f, FIELD_json, p, AT(f), 0, 0, NULL, doc},
#define JSON_AS(f, as, p, doc) {#f, FIELD_json, p, AT(f), 0, 0, NULL, doc, SHOWN_##as},
#define JSON_OF(f, as, t, p, doc) {#f, FIELD_json, p, AT(f), 0, 0, &SHOWN_TYPE_##as(t), doc, SHOWN_##as},
#define STRING_OF(f, t, p, doc) {#f, FIELD_str, p, AT(f), 0, 0, &enum_##t, doc, SHOWN_enum},
#define SUB(f, t, p, doc) {#f, FIELD_record, p, AT(f), 0, 0, &record_##t, doc},
#define ONE_OF(f, t, p, doc) {#f, FIELD_union, p, AT(f), 0, 0, &union_##t, doc},
#define STRINGS(f, p, doc) {#f, FIELD_strs, p, AT(f), AT(f##_count), 0, NULL, doc},
#define PATHS(f, p, doc) {#f, FIELD_paths, p, AT(f), AT(f##_count), 0, NULL, doc},
#define INTS(f, p, doc) {#f, FIELD_ints, p, AT(f), AT(f##_count), 0, NULL, doc},
#define CHOICES(f, t, p, doc) {#f, FIELD_enums, p, AT(f), AT(f##_count), 0, &enum_##t, doc},
#define LIST(f, t, p, doc) {#f, FIELD_records, p, AT(f), AT(f##_count), 0, &record_##t, doc},
#define LIST_OF(f, t, p, doc) {#f, FIELD_unions, p, AT(f), AT(f##_count), 0, &union_##t, doc},
#define MAP_OF(f, t, p, doc) {#f, FIELD_map, p, AT(f), AT(f##_count), AT(f##_keys) + 1, &union_##t, doc},
#define MAP(f, t, p, doc) {#f, FIELD_records, p, AT(f), AT(f##_count), AT(f##_keys) + 1, &record_##t, doc},
#define RECORD_EMPTY(name, doc) \
	const struct record record_##name = {#name, doc, sizeof(struct name), NULL, RECORD_FAMILY, false, NULL};
#define RECORD_OPEN(name, doc) \
	const struct record record_##name = {#name, doc, sizeof(struct name), NULL, RECORD_FAMILY, true, NULL};
#define RECORD_SHOWN(name, as, doc) \
	const struct record record_##name = {#name, doc, sizeof(struct name), NULL, RECORD_FAMILY, true, &union_##as};
/* clang-format on */
