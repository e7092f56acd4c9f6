/* docs/config.md is generated from config.def, so that it documents exactly the keys that the program reads. The test
 * generates it and compares; with CODEX_WRITE_DOCS=1 it writes the file instead. */
#include "test.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config_record.h"
#include "protocol/record/types.h"

enum { DOC_MAX = 1024 * 1024 };

static const char intro[] =
	"# config.toml: all keys\n"
	"\n"
	"Generated from `src/config/config.def`; do not edit. After a change there:\n"
	"`CODEX_WRITE_DOCS=1 ./dev test config_doc`.\n"
	"\n"
	"`config.toml` is TOML 1.0. A later source in this list overrides an earlier one: the defaults below,\n"
	"`/etc/codex/config.toml`, `$CODEX_HOME/config.toml` (`~/.codex`), the profile (`[profiles.NAME]`, then\n"
	"`$CODEX_HOME/NAME.config.toml`), `.codex/config.toml` of trusted projects from the outermost folder\n"
	"inwards, `-c key=value`, options of the command line. Tables are merged key by key; everything else is\n"
	"replaced.\n"
	"\n"
	"A value of the wrong type is an error that names file, line and key. Unknown keys are warnings. Relative\n"
	"paths are relative to the folder of their file, and `~` is the home folder.\n"
	"\n"
	"A project's file can narrow what commands and the model may do, but not widen it beyond your own settings:\n"
	"sandbox, network, shell environment, `approval_policy = \"untrusted\"`, web search,\n"
	"`collaboration_mode = \"plan\"`, every tool or feature that you turned off (`multi_agent = false` includes\n"
	"`collab` and `subagent_tools`), and the limits of subagents that you set;\n"
	"`project_doc_max_bytes`, `history.persistence = \"none\"` and the settings in `skills`, if you set them;\n"
	"further `skills.extra_roots`. `trusted_hashes` of\n"
	"`[projects.\"FOLDER\"]` lists files that are exempt. Keys that select providers, keys or programs are\n"
	"ignored in project files.\n"
	"\n"
	"Two defaults depend on `trust_level` of the folder: if it is set, `sandbox_mode` defaults to\n"
	"`\"workspace-write\"`; if it is `\"untrusted\"`, `approval_policy` defaults to `\"untrusted\"`.\n";

/* ---- one key ---- */

static const char *const types[CONFIG_kind_count] = {
	[CONFIG_bool] = "true or false",
	[CONFIG_switch] = "true, false, or a table with `enabled`",
	[CONFIG_int] = "integer",
	[CONFIG_number] = "number",
	[CONFIG_string] = "string",
	[CONFIG_path] = "path",
	[CONFIG_strings] = "list of strings",
	[CONFIG_paths] = "list of paths",
	[CONFIG_pairs] = "table of strings",
	[CONFIG_table] = "table",
};

static const char *inert_type(int kind)
{
	return kind == -1 ? "any" : toml_kind_name((enum toml_kind)kind);
}

static void write_words(struct buf *out, const struct enum_type *type)
{
	const char *before = "";
	for (size_t i = 0; i < type->count; i++) {
		if (!type->words[i].wire[0])
			continue;
		buf_printf(out, "%s`\"%s\"`", before, type->words[i].wire);
		before = ", ";
	}
}

static void write_variants(struct buf *out, const struct union_type *type)
{
	for (size_t i = 0; i < type->count; i++)
		buf_printf(out, "%s%s%s%s", i ? ", " : "", type->variants[i].body ? "table `" : "`\"",
		           type->variants[i].wire, type->variants[i].body ? "`" : "\"`");
}

static void write_type(struct buf *out, const char *path, const struct config_row *row)
{
	switch (row->kind) {
	case CONFIG_choice:
		write_words(out, row->words);
		return;
	case CONFIG_one_of:
		write_variants(out, row->variants);
		return;
	case CONFIG_section:
		buf_printf(out, "table, see `[%s%s]`", path, row->key);
		return;
	case CONFIG_named:
		buf_printf(out, "tables `[%s%s.NAME]`", path, row->key);
		return;
	case CONFIG_list:
		buf_printf(out, "list of tables, see `[[%s%s]]`", path, row->key);
		return;
	default:
		assert_non_null(types[row->kind]);
		buf_append_c(out, types[row->kind]);
		if (row->kind == CONFIG_int && row->high == INT64_MAX)
			buf_printf(out, ", at least %" PRId64, row->low);
		else if (row->kind == CONFIG_int)
			buf_printf(out, ", %" PRId64 " to %" PRId64, row->low, row->high);
		else if (row->kind == CONFIG_number)
			buf_printf(out, ", %g to %g", row->real_low, row->real_high);
	}
}

/* A default below the minimum stands for "unset". */
static void write_default(struct buf *out, const struct config_row *row)
{
	const char *word = row->kind == CONFIG_choice ? enum_wire(row->words, (int)row->number) : "";
	if (row->kind == CONFIG_bool || row->kind == CONFIG_switch)
		buf_append_c(out, row->number ? "`true`" : "`false`");
	else if (row->kind == CONFIG_int && row->number >= row->low)
		buf_printf(out, "`%" PRId64 "`", row->number);
	else if (row->kind == CONFIG_number)
		buf_printf(out, "`%g`", row->real);
	else if (*word)
		buf_printf(out, "`\"%s\"`", word);
	else if (row->kind == CONFIG_one_of)
		buf_printf(out, "`\"%s\"`", row->variants->variants[0].wire);
	else if (row->text)
		buf_printf(out, row->kind == CONFIG_strings ? "`[\"%s\"]`" : "`\"%s\"`", row->text);
	else if (row->kind == CONFIG_strings || row->kind == CONFIG_paths || row->kind == CONFIG_list)
		buf_append_c(out, "`[]`");
	else
		buf_append_c(out, "–");
}

/* ---- tables ---- */

static void write_record(struct buf *out, const struct config_record *record, const char *path, const char *title);

static void write_rows(struct buf *out, const struct config_record *record, const char *path)
{
	buf_append_c(out, "\n| key | type | default | |\n|---|---|---|---|\n");
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		if (row->kind == CONFIG_inert)
			continue;
		buf_printf(out, "| `%s` | ", row->key);
		write_type(out, path, row);
		buf_append_c(out, " | ");
		write_default(out, row);
		buf_printf(out, " | %s |\n", row->doc);
	}
}

static void write_inert(struct buf *out, const struct config_record *record)
{
	size_t count = 0;
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		if (row->kind != CONFIG_inert)
			continue;
		if (!count++)
			buf_append_c(out, "\nAccepted without effect in this version:\n\n"
			                  "| key | type | |\n|---|---|---|\n");
		buf_printf(out, "| `%s` | %s | %s |\n", row->key, inert_type(row->toml_kind), row->doc);
	}
}

/* Profiles have the same keys, which are not repeated. */
static void write_inner(struct buf *out, const struct config_record *record, const char *path)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		char inner[256], title[256];
		if (!row->inner || row->inner == record)
			continue;
		bool is_named = row->kind == CONFIG_named;
		snprintf(inner, sizeof(inner), "%s%s%s.", path, row->key, is_named ? ".NAME" : "");
		const char *format = row->kind == CONFIG_list ? "[[%s%s]]" : "[%s%s%s]";
		snprintf(title, sizeof(title), format, path, row->key, is_named ? ".NAME" : "");
		write_record(out, row->inner, inner, title);
	}
}

static void write_record(struct buf *out, const struct config_record *record, const char *path, const char *title)
{
	buf_printf(out, *path ? "\n## `%s`\n" : "\n## %s\n", title);
	write_rows(out, record, path);
	write_inert(out, record);
	write_inner(out, record, path);
}

static void write_user_only(struct buf *out)
{
	static const char *const keys[] = {
#define USER_ONLY(key) #key,
#include "config/config.def"
	};
	buf_append_c(out, "\n## Keys that project files cannot set\n\n"
	                  "These keys of a project's `.codex/config.toml` are ignored: ");
	for (size_t i = 0; i < countof(keys); i++)
		buf_printf(out, "%s`%s`", i ? ", " : "", keys[i]);
	buf_append_c(out, ".\n");
}

static void the_document_matches_the_table(void **state)
{
	(void)state;
	struct error err;
	auto_buf struct buf doc, there;
	const char *path = source_path("docs/config.md");
	buf_init(&doc, DOC_MAX);
	buf_init(&there, DOC_MAX);
	buf_append_c(&doc, intro);
	write_record(&doc, &config_keys, "", "The file itself");
	write_user_only(&doc);
	assert_false(doc.over);
	if (getenv("CODEX_WRITE_DOCS"))
		assert_int_equal(file_write_atomic(path, buf_str(&doc), 0644, false, &err), 0);
	if (file_read(path, &there, &err) != 0)
		fail_msg("%s", err.text);
	if (!str_eq(buf_str(&doc), buf_str(&there)))
		fail_msg("docs/config.md is not what config.def says: CODEX_WRITE_DOCS=1 ./dev test config_doc");
}

/* A sentence begins with a capital letter and ends with a full stop; a bar would end its cell of the table. */
static void check_sentences(const struct config_record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		struct str doc = str_of(row->doc);
		if (doc.len < 5 || !str_has_suffix(doc, ".") || strchr(row->doc, '|'))
			fail_msg("%s.%s: \"%s\" is no sentence", record->name, row->key, row->doc);
		if (row->inner && row->inner != record)
			check_sentences(row->inner);
	}
}

static void every_key_has_a_sentence(void **state)
{
	(void)state;
	check_sentences(&config_keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_a_sentence),
		cmocka_unit_test(the_document_matches_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
