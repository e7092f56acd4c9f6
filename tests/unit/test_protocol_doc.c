/* docs/protocol.md is generated from the tables. The test generates it and compares; with CODEX_WRITE_DOCS=1 it writes
 * the file instead. */
#include "test.h"

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "protocol/record/types.h"
#include "protocol_texts.h"

enum { DOC_MAX = 1024 * 1024 };

static const char intro[] =
	"# The protocol: Submissions in, Events out\n"
	"\n"
	"Made from the tables in `src/protocol/`; do not edit. After a change there:\n"
	"`CODEX_WRITE_DOCS=1 ./dev test protocol_doc`.\n"
	"\n"
	"A client sends Submissions and receives Events, each one JSON object:\n"
	"\n"
	"```json\n"
	"{\"id\": \"1\", \"op\": {\"type\": \"user_input\", \"items\": [{\"type\": \"text\", \"text\": \"hello\"}]}}\n"
	"{\"id\": \"1\", \"msg\": {\"type\": \"task_started\", \"model_context_window\": 258400}}\n"
	"```\n"
	"\n"
	"The client chooses the `id`. All events of a Task carry the id of the submission that started it; events\n"
	"that no submission caused carry `\"\"`. That id is also the Task's `turn_id`, unless one of the 4,096 Tasks "
	"before\n"
	"had it: then `turn_id` is a new UUID. Unknown fields are ignored. A submission that cannot be parsed, for\n"
	"example one with an unknown Op, has no effect and is not answered by an event.\n"
	"\n"
	"**Input while a Task runs** replaces the Task (`turn_aborted`, reason `replaced`) or steers it: the model\n"
	"then receives the input with the next Turn. The input's `mode` decides; if absent, `on_input_while_running`\n"
	"in config.toml; if unset, the front end: `codex proto` and libcodex replace, all others steer. No input is\n"
	"lost in either case.\n"
	"\n"
	"**Continuing from an earlier response.** `response_id` of `task_complete`, and in profile `doc` of each\n"
	"`model_turn_complete`, identifies the end of a Turn. Input with this id as `last_response_id` removes all\n"
	"later items from the history and replaces a running Task. An id that is unknown to the session is an error\n"
	"(`bad_request`), unless the provider stores responses: with `stores_responses = true` in its table of\n"
	"config.toml, each request names the response that it continues (`previous_response_id`) and sends only new\n"
	"items. In this case an unknown id is sent to the provider, and the session's earlier history is removed. If\n"
	"the provider no longer has a response, the whole history is sent again.\n"
	"\n"
	"Presence: *always*: required, always sent. *default*: may be absent, which means false, 0, empty or the\n"
	"first word; always sent. *optional*: absent and null are equivalent; omitted when absent. *nullable*: as\n"
	"optional, but sent as null when absent. Words after \"also\" and an *alias* are accepted and never sent.\n";

struct doc {
	struct buf out;
	VEC(const struct record *) records; /* records that are not described yet */
	VEC(const struct union_type *) unions;
};

static void want_record(struct doc *doc, const struct record *record)
{
	vec_for_each(it, &doc->records)
		if (*it == record)
			return;
	vec_push(&doc->records, record);
}

static void want_union(struct doc *doc, const struct union_type *type)
{
	vec_for_each(it, &doc->unions)
		if (*it == type)
			return;
	vec_push(&doc->unions, type);
}

/* Writes `word`, `word`. */
static void write_words(struct doc *doc, const struct enum_type *type)
{
	const char *before = "";
	for (size_t i = 0; i < type->count; i++) {
		if (type->words[i].is_alias || !enum_word_wire(type, i)[0])
			continue;
		buf_printf(&doc->out, "%s`%s`", before, enum_word_wire(type, i));
		before = ", ";
	}
}

static void write_type(struct doc *doc, const struct field *field)
{
	static const char *const names[] = {
		[FIELD_str] = "text",   [FIELD_bool] = "true or false", [FIELD_i64] = "integer",
		[FIELD_f64] = "number", [FIELD_json] = "any JSON",      [FIELD_strs] = "list of strings"};
	const struct record *record = field_type(field);
	const struct union_type *type = field_type(field);
	switch (field->kind) {
	case FIELD_enum:
		write_words(doc, field_type(field));
		return;
	case FIELD_record:
	case FIELD_records:
		want_record(doc, record);
		buf_printf(&doc->out, "%s[%s](#%s)", field->kind == FIELD_records ? "list of " : "", record->name,
		           record->name);
		return;
	case FIELD_union:
	case FIELD_unions:
	case FIELD_map:
		want_union(doc, type);
		buf_printf(&doc->out, "%s[%s](#%s)",
		           field->kind == FIELD_unions ? "list of "
		           : field->kind == FIELD_map  ? "map to "
		                                       : "",
		           type->name, type->name);
		return;
	default:
		buf_append_c(&doc->out, names[field->kind]);
	}
}

static void write_fields(struct doc *doc, const struct record *record)
{
	static const char *const presence[] = {
		[REQ] = "always", [DEF] = "default", [OPT] = "optional", [NUL] = "nullable"};
	if (!record_first(record)) {
		buf_append_c(&doc->out, "No fields.\n");
		return;
	}
	buf_append_c(&doc->out, "| field | type | presence | |\n|---|---|---|---|\n");
	record_for_each(field, record) {
		buf_printf(&doc->out, "| `%s` | ", field_name(record, field));
		write_type(doc, field);
		const char *word = field->presence & ALIAS_NAME ? "alias" : presence[field->presence];
		buf_printf(&doc->out, " | %s | %s |\n", word, protocol_text(record->name, field_name(record, field)));
	}
}

static void write_aliases(struct doc *doc, const struct union_type *type, int tag)
{
	const char *before = " Also ";
	for (size_t i = 0; i < type->count; i++) {
		if (!type->variants[i].is_alias || type->variants[i].tag != tag)
			continue;
		buf_printf(&doc->out, "%s`%s`", before, type->variants[i].wire);
		before = ", ";
	}
	if (before[0] == ',')
		buf_append_char(&doc->out, '.');
}

/* Returns what an Op lacks, from the rows that the error uses. */
static const char *lack_of(const struct union_type *type, int tag)
{
	static const char *const lacks[OP_count] = {
#define OP_LACKS(tag, wire, record, what, doc) [OP_##tag] = what,
#define OP_UNIT_LACKS(tag, wire, what, doc) [OP_##tag] = what,
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
	};
	return type == &union_op ? lacks[tag] : NULL;
}

static void write_variants(struct doc *doc, const struct union_type *type)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct variant *variant = &type->variants[i];
		if (variant->is_alias)
			continue;
		const char *lack = lack_of(type, variant->tag);
		buf_printf(&doc->out, "\n### `%s`\n\n%s", variant->wire, protocol_text(type->name, variant->wire));
		if (lack)
			buf_printf(&doc->out, " This version lacks %s and answers with `error`.", lack);
		write_aliases(doc, type, variant->tag);
		buf_append_c(&doc->out, "\n\n");
		write_fields(doc, variant->body);
	}
}

static void write_record(struct doc *doc, const struct record *record)
{
	buf_printf(&doc->out, "\n### %s\n\n%s.\n\n", record->name, protocol_text(record->name, NULL));
	write_fields(doc, record);
}

static void write_form(struct doc *doc, const struct union_type *type, const struct variant *variant)
{
	if (type->style == UNION_INTERNAL)
		buf_printf(&doc->out, "`{\"%s\": \"%s\"%s}`", type->key, variant->wire, variant->body ? ", …" : "");
	else if (variant->body)
		buf_printf(&doc->out, "`{\"%s\": …}`", variant->wire);
	else
		buf_printf(&doc->out, "`\"%s\"`", variant->wire);
}

static void write_body(struct doc *doc, const struct variant *variant)
{
	if (!variant->body)
		return;
	if (variant->is_value) {
		write_type(doc, record_first(variant->body));
		return;
	}
	want_record(doc, variant->body);
	buf_printf(&doc->out, "[%s](#%s)", variant->body->name, variant->body->name);
}

static void write_union(struct doc *doc, const struct union_type *type)
{
	buf_printf(&doc->out, "\n### %s\n\n%s.", type->name, protocol_text(type->name, NULL));
	if (type->alt_key)
		buf_printf(&doc->out, " The key may also be `%s`.", type->alt_key);
	buf_append_c(&doc->out, "\n\n| | fields | |\n|---|---|---|\n");
	for (size_t i = 0; i < type->count; i++) {
		const struct variant *variant = &type->variants[i];
		if (variant->is_alias)
			continue;
		buf_append_c(&doc->out, "| ");
		write_form(doc, type, variant);
		buf_append_c(&doc->out, " | ");
		write_body(doc, variant);
		buf_printf(&doc->out, " | %s.", protocol_text(type->name, variant->wire));
		write_aliases(doc, type, variant->tag);
		buf_append_c(&doc->out, " |\n");
	}
}

/* A description may add further records. */
static void write_types(struct doc *doc)
{
	size_t records = 0, unions = 0;
	while (records < doc->records.count || unions < doc->unions.count) {
		if (unions < doc->unions.count)
			write_union(doc, doc->unions.items[unions++]);
		else
			write_record(doc, doc->records.items[records++]);
	}
}

static void write_doc(struct doc *doc)
{
	buf_append_c(&doc->out, intro);
	buf_append_c(&doc->out, "\n## Ops\n");
	write_variants(doc, &union_op);
	buf_append_c(&doc->out, "\n## Events\n");
	write_variants(doc, &union_event_msg);
	buf_append_c(&doc->out, "\n## Types\n");
	write_types(doc);
}

static void the_document_matches_the_tables(void **state)
{
	(void)state;
	struct error err;
	struct doc doc = {0};
	auto_buf struct buf there;
	const char *path = source_path("docs/protocol.md");
	buf_init(&doc.out, DOC_MAX);
	buf_init(&there, DOC_MAX);
	write_doc(&doc);
	assert_false(doc.out.over);
	if (getenv("CODEX_WRITE_DOCS"))
		assert_int_equal(file_write_atomic(path, buf_str(&doc.out), 0644, false, &err), 0);
	if (file_read(path, &there, &err) != 0)
		fail_msg("%s", err.text);
	if (!str_eq(buf_str(&doc.out), buf_str(&there)))
		fail_msg("docs/protocol.md is not what the tables say: CODEX_WRITE_DOCS=1 ./dev test protocol_doc");
	buf_finish(&doc.out);
	vec_finish(&doc.records);
	vec_finish(&doc.unions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_matches_the_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
