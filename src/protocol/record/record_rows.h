/* record_rows.h — turns rows into field descriptions: included before a .def list in one .c file, in which the same
 * list has been expanded with record_text.h before. Each RECORD opens a function so that `Self` can name the struct
 * inside offsetof, and `Text` the layout of its text. The function is never called, and the linker drops it: the name
 * for the assembler makes its rows visible outside. RECORD_FAMILY, if defined, is the family of the records. It has
 * no include guard because each inclusion is an expansion. */
/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define SHOWN_flag .shown_kind = FIELD_bool
#define SHOWN_list .shown_kind = FIELD_jsons
#define SHOWN_flag_map .is_shown_map = true, .shown_kind = FIELD_bool
#define SHOWN_number_map .is_shown_map = true, .shown_kind = FIELD_f64
#define SHOWN_text_map .is_shown_map = true, .shown_kind = FIELD_strs
#define SHOWN_path_map .is_shown_map = true, .shown_kind = FIELD_paths
#define SHOWN_json_map .is_shown_map = true, .shown_kind = FIELD_json
#define SHOWN_enum .shown_kind = FIELD_enum
#define SHOWN_enums .shown_kind = FIELD_enums
#define SHOWN_enum_map .is_shown_map = true, .shown_kind = FIELD_enums
#define SHOWN_record .shown_kind = FIELD_record
#define SHOWN_records .shown_kind = FIELD_records
#define SHOWN_record_map .is_shown_map = true, .shown_kind = FIELD_records
#define SHOWN_union .shown_kind = FIELD_union
#define SHOWN_unions .shown_kind = FIELD_unions
#define SHOWN_union_map .is_shown_map = true, .shown_kind = FIELD_map
#define SHOWN_TYPE_enum(t) enum_##t
#define SHOWN_TYPE_enums(t) enum_##t
#define SHOWN_TYPE_enum_map(t) enum_##t
#define SHOWN_TYPE_record(t) record_##t
#define SHOWN_TYPE_records(t) record_##t
#define SHOWN_TYPE_record_map(t) record_##t
#define SHOWN_TYPE_union(t) union_##t
#define SHOWN_TYPE_unions(t) union_##t
#define SHOWN_TYPE_union_map(t) union_##t
#ifndef RECORD_DOC
#define RECORD_DOC(doc) doc "\0"
#endif
#ifndef FIELD_TEXT
#define FIELD_TEXT(f) offsetof(Text, f)
#endif
#ifndef HAS_DOC
#define HAS_DOC (sizeof("" RECORD_DOC("")) > 1)
#endif
#ifndef RECORD_FAMILY
#define RECORD_FAMILY RECORD_SNAKE
#endif
#define RECORD(name, doc)                                             \
	extern const union field_word name##_rows[]                   \
		__asm__("rows." #name) __attribute__((visibility("hidden"))); \
	__attribute__((used)) static void name##_scope(void)          \
	{                                                             \
		typedef struct name Self;                             \
		typedef struct name##_layout Text __attribute__((unused)); \
		static const union field_word words[] __asm__("rows." #name) __attribute__((used)) = {
#define RECORD_END(name)                                              \
		};                                                    \
		_Static_assert(countof(words) == sizeof(struct name##_words), "all words are counted"); \
	}                                                             \
	const struct record record_##name = {name##_text, {name##_rows}, sizeof(struct name), \
	                                     sizeof(struct name##_words), RECORD_FAMILY, false, HAS_DOC};
#define AT(f) offsetof(Self, f)
#define HAS_KEYS(f) .is_map = AT(f) - AT(f##_keys) == sizeof(struct str *)
#define FIELD(f, kind_, p, ...) \
	{.field = {.text = FIELD_TEXT(f), .kind = FIELD_##kind_, .presence = p, .offset = AT(f), __VA_ARGS__}},
#define TYPED(f, kind_, p, type_, ...) \
	FIELD(f, kind_, p, .has_type = true, __VA_ARGS__) {.type = &type_},
#define PRESENT(f) .aux = AT(has_##f) + 1
#define COUNTED(f) .aux = AT(f##_count)
#define STRING(f, p, doc) FIELD(f, str, p)
#define STRING_NAMED(f, name, p, doc) FIELD(f, str, p)
#define STRING_ALIAS(f, alias, doc) \
	{.field = {.text = FIELD_TEXT(f##_alias), .kind = FIELD_str, .presence = OPT | ALIAS_NAME, .offset = AT(f)}},
#define PATH(f, p, doc) FIELD(f, path, p)
#define BOOL(f, p, doc) FIELD(f, bool, p)
#define OPT_BOOL(f, p, doc) FIELD(f, bool, p, PRESENT(f))
#define INT(f, p, doc) FIELD(f, i64, p)
#define OPT_INT(f, p, doc) FIELD(f, i64, p, PRESENT(f))
#define FLOAT(f, p, doc) FIELD(f, f64, p)
#define OPT_FLOAT(f, p, doc) FIELD(f, f64, p, PRESENT(f))
#define CHOICE(f, t, p, doc) TYPED(f, enum, p, enum_##t)
#define OPT_CHOICE(f, t, p, doc) TYPED(f, enum, p, enum_##t, PRESENT(f))
#define JSON(f, p, doc) FIELD(f, json, p)
#define JSON_AS(f, as, p, doc) FIELD(f, json, p, SHOWN_##as)
#define JSON_OF(f, as, t, p, doc) TYPED(f, json, p, SHOWN_TYPE_##as(t), SHOWN_##as)
#define STRING_OF(f, t, p, doc) TYPED(f, str, p, enum_##t, SHOWN_enum)
#define SUB(f, t, p, doc) TYPED(f, record, p, record_##t)
#define ONE_OF(f, t, p, doc) TYPED(f, union, p, union_##t)
#define STRINGS(f, p, doc) FIELD(f, strs, p, COUNTED(f))
#define STRINGS_OF(f, t, p, doc) TYPED(f, strs, p, union_##t, COUNTED(f), SHOWN_union)
#define PATHS(f, p, doc) FIELD(f, paths, p, COUNTED(f))
#define INTS(f, p, doc) FIELD(f, ints, p, COUNTED(f))
#define CHOICES(f, t, p, doc) TYPED(f, enums, p, enum_##t, COUNTED(f))
#define LIST(f, t, p, doc) TYPED(f, records, p, record_##t, COUNTED(f))
#define LIST_OF(f, t, p, doc) TYPED(f, unions, p, union_##t, COUNTED(f))
#define MAP_OF(f, t, p, doc) TYPED(f, map, p, union_##t, COUNTED(f), HAS_KEYS(f))
#define MAP(f, t, p, doc) TYPED(f, records, p, record_##t, COUNTED(f), HAS_KEYS(f))
#define RECORD_EMPTY(name, doc) \
	const struct record record_##name = {#name "\0" RECORD_DOC(doc), {NULL}, sizeof(struct name), 0, \
	                                     RECORD_FAMILY, false, HAS_DOC};
#define RECORD_OPEN(name, doc) \
	const struct record record_##name = {#name "\0" RECORD_DOC(doc), {NULL}, sizeof(struct name), 0, \
	                                     RECORD_FAMILY, true, HAS_DOC};
#define RECORD_SHOWN(name, as, doc) \
	const struct record record_##name = {#name "\0" RECORD_DOC(doc), {.shown = &union_##as}, \
	                                     sizeof(struct name), 0, RECORD_FAMILY, true, HAS_DOC};
/* clang-format on */
