/* record_text.h — turns rows into the text of their records: name and documentation of the record, then those of each
 * field, each ended by a NUL. Expanded three times, before record_rows.h: with RECORD_LAYOUT defined the rows become a
 * struct whose offsets locate these texts, with RECORD_WORDS one whose size is the number of words that the rows have
 * there, and without both the string. record_pooled.h leaves out documentation and names of fields. It has
 * no include guard because each inclusion is an expansion. */
/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#undef TEXT
#undef TYPED_TEXT
#ifndef RECORD_DOC
#define RECORD_DOC(doc) doc "\0"
#define FIELD_NAME(name) name "\0"
#endif
#ifdef RECORD_LAYOUT
#define RECORD(name, doc) struct name##_layout { char record_text[sizeof(#name "\0" RECORD_DOC(doc)) - 1];
#define TEXT(member, name, doc) char member[sizeof("" FIELD_NAME(name) RECORD_DOC(doc)) - 1];
#define TYPED_TEXT TEXT
#define RECORD_END(name) };
#elif defined(RECORD_WORDS)
#define RECORD(name, doc) struct name##_words {
#define TEXT(member, name, doc) char member;
#define TYPED_TEXT(member, name, doc) char member[2];
#define RECORD_END(name) };
#else
/* Compilers align large arrays for vectors of registers. */
#define RECORD(name, doc) __attribute__((aligned(1))) \
	static const char name##_text[sizeof(struct name##_layout)] = #name "\0" RECORD_DOC(doc)
#define TEXT(member, name, doc) FIELD_NAME(name) RECORD_DOC(doc)
#define TYPED_TEXT TEXT
#define RECORD_END(name) ;
#endif
#define STRING(f, p, doc) TEXT(f, #f, doc)
#define STRING_NAMED(f, name, p, doc) TEXT(f, name, doc)
#define STRING_ALIAS(f, alias, doc) TEXT(f##_alias, alias, doc)
#define PATH(f, p, doc) TEXT(f, #f, doc)
#define BOOL(f, p, doc) TEXT(f, #f, doc)
#define OPT_BOOL(f, p, doc) TEXT(f, #f, doc)
#define INT(f, p, doc) TEXT(f, #f, doc)
#define OPT_INT(f, p, doc) TEXT(f, #f, doc)
#define FLOAT(f, p, doc) TEXT(f, #f, doc)
#define OPT_FLOAT(f, p, doc) TEXT(f, #f, doc)
#define CHOICE(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define OPT_CHOICE(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define JSON(f, p, doc) TEXT(f, #f, doc)
#define JSON_AS(f, as, p, doc) TEXT(f, #f, doc)
#define JSON_OF(f, as, t, p, doc) TYPED_TEXT(f, #f, doc)
#define STRING_OF(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define SUB(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define ONE_OF(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define STRINGS(f, p, doc) TEXT(f, #f, doc)
#define STRINGS_OF(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define PATHS(f, p, doc) TEXT(f, #f, doc)
#define INTS(f, p, doc) TEXT(f, #f, doc)
#define CHOICES(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define LIST(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define LIST_OF(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define MAP_OF(f, t, p, doc) TYPED_TEXT(f, #f, doc)
#define MAP(f, t, p, doc) TYPED_TEXT(f, #f, doc)
/* clang-format on */
