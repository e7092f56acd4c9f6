/* docs/config.md is generated from config.def, as is codex-config(5), so that it documents exactly the keys that the
 * program reads. The test generates it and compares; with CODEX_WRITE_DOCS=1 it writes the file instead. */
#include "test.h"

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config_record.h"
#include "config_text.h"

enum { DOC_MAX = 1024 * 1024 };

static const char intro[] = "# config.toml: all keys\n"
			    "\n"
			    "Generated from `src/config/config.def`; do not edit. After a change there:\n"
			    "`CODEX_WRITE_DOCS=1 ./dev test config_doc`.\n"
			    "\n";

/* ---- tables ---- */

/* file: of which file the tables are, if another one has tables with their names; else "". */
static void write_record(struct buf *out, const struct config_record *record, const char *path, const char *title,
                         const char *file);

static void write_rows(struct buf *out, const struct config_record *record, const char *path)
{
	buf_append_c(out, "\n| key | type | default | |\n|---|---|---|---|\n");
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		if (row->kind == CONFIG_inert)
			continue;
		buf_printf(out, "| `%s` | ", row->key);
		config_text_type(out, path, row);
		buf_append_c(out, " | ");
		config_text_default(out, row);
		buf_printf(out, " | %s |\n", config_text_doc(record, row));
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
		buf_printf(out, "| `%s` | %s | %s |\n", row->key, config_text_inert(row), config_text_doc(record, row));
	}
}

/* Profiles have the same keys, which are not repeated, as are providers in the second file. */
static void write_inner(struct buf *out, const struct config_record *record, const char *path, const char *file)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct config_row *row = &record->rows[i];
		char inner[256], title[256];
		const struct config_record *below = config_row_inner(row);
		if (!below || below == record || (*file && below == &config_provider_keys))
			continue;
		bool is_named = row->kind == CONFIG_named;
		snprintf(inner, sizeof(inner), "%s%s%s.", path, row->key, is_named ? ".NAME" : "");
		const char *format = row->kind == CONFIG_list ? "[[%s%s]]" : "[%s%s%s]";
		snprintf(title, sizeof(title), format, path, row->key, is_named ? ".NAME" : "");
		write_record(out, below, inner, title, file);
	}
}

static void write_record(struct buf *out, const struct config_record *record, const char *path, const char *title,
                         const char *file)
{
	if (*path)
		buf_printf(out, "\n## `%s`%s\n", title, file);
	else
		buf_printf(out, "\n## %s\n", title);
	write_rows(out, record, path);
	write_inert(out, record);
	write_inner(out, record, path, file);
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
	buf_append_c(&doc, config_text_intro);
	write_record(&doc, &config_keys, "", "The file itself", "");
	write_record(&doc, &config_agent_role_keys, "agents.NAME.", "[agents.NAME]", "");
	write_user_only(&doc);
	buf_append_c(&doc, "\n# requirements.toml: the limits of an administrator\n");
	buf_append_c(&doc, config_text_requirements);
	write_record(&doc, &config_requirements_keys, "", "/etc/codex/requirements.toml", " of requirements.toml");
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
		struct str doc = str_of(config_text_doc(record, row));
		if (doc.len < 5 || !str_has_suffix(doc, ".") || strchr(config_text_doc(record, row), '|'))
			fail_msg("%s.%s: \"%s\" is no sentence", record->name, row->key, config_text_doc(record, row));
		const struct config_record *below = config_row_inner(row);
		if (below && below != record)
			check_sentences(below);
	}
}

static void every_key_has_a_sentence(void **state)
{
	(void)state;
	check_sentences(&config_keys);
	check_sentences(&config_requirements_keys);
	check_sentences(&config_agent_role_keys);
}

static void no_heading_occurs_twice(void **state)
{
	(void)state;
	struct error err;
	auto_buf struct buf there, seen;
	buf_init(&there, DOC_MAX);
	buf_init(&seen, DOC_MAX);
	if (file_read(source_path("docs/config.md"), &there, &err) != 0)
		fail_msg("%s", err.text);
	struct str rest = buf_str(&there), line;
	while (str_next_part(&rest, '\n', &line)) {
		if (!str_has_prefix(line, "## "))
			continue;
		if (str_find(buf_str(&seen), line) >= 0 && line.ptr[line.len - 1] == '`')
			fail_msg("docs/config.md has two sections %.*s", STR_ARG(line));
		buf_append_str(&seen, line);
		buf_append_c(&seen, "\n");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_a_sentence),
		cmocka_unit_test(the_document_matches_the_table),
		cmocka_unit_test(no_heading_occurs_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
