#include "config_text.h"

#include <inttypes.h>

#include "base/mem.h"
#include "protocol/record/types.h"

/* One text for each row, in the order of the rows. */
#define RECORD(record) static const char *const record##_docs[] = {
#define KEY(record, name, c_type, type, about, ...) about,
#define INERT(record, name, type, about) about,
#define RECORD_END(record) \
	}                  \
	;
#include "config/config.def"

static const struct {
	const struct config_record *record;
	const char *const *docs;
} all_docs[] = {
#define RECORD(record) {&record##_keys, record##_docs},
#include "config/config.def"
};

const char config_text_intro[] =
	"`config.toml` is TOML 1.0. A later source in this list overrides an earlier one: the defaults below,\n"
	"`/etc/codex/config.toml`, `$CODEX_HOME/config.toml` (`~/.codex`), the profile (`[profiles.NAME]`, then\n"
	"`$CODEX_HOME/NAME.config.toml`), `.codex/config.toml` of trusted projects from the outermost folder\n"
	"inwards, `-c key=value`, options of the command line, `/etc/codex/managed_config.toml`. Tables are merged\n"
	"key by key; everything else is replaced. `/etc/codex/requirements.toml` limits the result; its keys are\n"
	"at the end.\n"
	"\n"
	"A value of the wrong type is an error that names file, line and key. Unknown keys are warnings. Relative\n"
	"paths are relative to the folder of their file, and `~` is the home folder. `codex help KEY` shows the value\n"
	"of a key and where it is set (`agents`, `cloud`, `debug`, `features` and `hooks` alone name commands).\n"
	"\n"
	"A project's file can narrow what commands and the model may do, but not widen it beyond your own settings:\n"
	"sandbox, network, shell environment, `approval_policy = \"untrusted\"`, web search,\n"
	"`collaboration_mode = \"plan\"`, every tool or feature that you turned off (`multi_agent = false` includes\n"
	"`collab` and `subagent_tools`), and the limits of subagents that you set;\n"
	"`project_doc_max_bytes`, `history.persistence = \"none\"` and the settings in `skills`, if you set them;\n"
	"further `skills.extra_roots`; MCP servers, except that it may disable one. `trusted_hashes` of\n"
	"`[projects.\"FOLDER\"]` lists files that are exempt. Keys that select providers, keys or programs are\n"
	"ignored in project files.\n"
	"\n"
	"Two defaults depend on `trust_level` of the folder: if it is set, `sandbox_mode` defaults to\n"
	"`\"workspace-write\"`; if it is `\"untrusted\"`, `approval_policy` defaults to `\"untrusted\"`.\n";

const char config_text_requirements[] =
	"\n"
	"With `/etc/codex/requirements.toml` an administrator limits every session of the machine, in every front\n"
	"end, subagents included. A setting outside the limits is replaced, with a warning that names the limit;\n"
	"`--dangerously-bypass-approvals-and-sandbox` and a request of a client are refused instead. Without the\n"
	"file nothing is limited. A file that cannot be read or has an error is an error of every command that\n"
	"reads the configuration. A limit that this version cannot enforce is an error too, so that none is\n"
	"ignored. `configRequirements/read` of the app-server returns the limits.\n"
	"\n"
	"The limits apply to the model. Commands that you run yourself (`!` in the terminal, `thread/shellCommand`,\n"
	"`process/spawn`) and MCP servers run without the sandbox, as does a command that you approve.\n"
	"\n"
	"`managed_config.toml` has the keys of config.toml and takes precedence over all other sources when a session "
	"starts;\n"
	"a client can change these settings later, within the requirements.\n";

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
	[CONFIG_any] = "any",
};

const char *config_text_doc(const struct config_record *record, const struct config_row *row)
{
	for (size_t i = 0; i < countof(all_docs); i++) {
		if (all_docs[i].record == record)
			return all_docs[i].docs[row - record->rows];
	}
	return "";
}

const char *config_text_inert(const struct config_row *row)
{
	return row->toml_kind == -1 ? "any" : toml_kind_name((enum toml_kind)row->toml_kind);
}

static void write_words(struct buf *out, const struct enum_type *type)
{
	const char *before = "";
	for (size_t i = 0; i < type->count; i++) {
		if (!enum_word_wire(type, i)[0])
			continue;
		buf_printf(out, "%s`\"%s\"`", before, enum_word_wire(type, i));
		before = ", ";
	}
}

static void write_variants(struct buf *out, const struct union_type *type)
{
	for (size_t i = 0; i < type->count; i++)
		buf_printf(out, "%s%s%s%s", i ? ", " : "", type->variants[i].body ? "table `" : "`\"",
		           type->variants[i].wire, type->variants[i].body ? "`" : "\"`");
}

void config_text_type(struct buf *out, const char *path, const struct config_row *row)
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
		buf_append_c(out, types[row->kind]);
		if (row->kind == CONFIG_int && row->integers->high == INT64_MAX)
			buf_printf(out, ", at least %" PRId64, row->integers->low);
		else if (row->kind == CONFIG_int)
			buf_printf(out, ", %" PRId64 " to %" PRId64, row->integers->low, row->integers->high);
		else if (row->kind == CONFIG_number)
			buf_printf(out, ", %g to %g", row->reals->low, row->reals->high);
	}
}

void config_text_default(struct buf *out, const struct config_row *row)
{
	const char *word = row->kind == CONFIG_choice ? enum_wire(row->words, row->number) : "";
	if (row->kind == CONFIG_bool || row->kind == CONFIG_switch)
		buf_append_c(out, row->number ? "`true`" : "`false`");
	else if (row->kind == CONFIG_int && row->integers->value >= row->integers->low)
		buf_printf(out, "`%" PRId64 "`", row->integers->value);
	else if (row->kind == CONFIG_number)
		buf_printf(out, "`%g`", row->reals->value);
	else if (*word)
		buf_printf(out, "`\"%s\"`", word);
	else if (row->kind == CONFIG_one_of)
		buf_printf(out, "`\"%s\"`", row->variants->variants[0].wire);
	else if (config_row_text(row))
		buf_printf(out, row->kind == CONFIG_strings ? "`[\"%s\"]`" : "`\"%s\"`", row->text);
	else if (row->kind == CONFIG_strings || row->kind == CONFIG_paths || row->kind == CONFIG_list)
		buf_append_c(out, "`[]`");
	else
		buf_append_c(out, "–");
}
