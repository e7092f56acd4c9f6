/* The table of keys has types and defaults, the layers of the configuration have the places, and codex-config(5) has
 * the meanings. Values that may be secrets are not shown. */
#include "ui/tools/explain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/toml/toml_text.h"
#include "ui/cli/terminal.h"

enum { EXIT_FAILED = 1 };

static const char *const kinds[CONFIG_kind_count] = {
	[CONFIG_bool] = "true or false",
	[CONFIG_int] = "integer",
	[CONFIG_number] = "number",
	[CONFIG_string] = "string",
	[CONFIG_path] = "path",
	[CONFIG_choice] = "one of some words",
	[CONFIG_one_of] = "word or table",
	[CONFIG_strings] = "list of strings",
	[CONFIG_paths] = "list of paths",
	[CONFIG_pairs] = "table of strings",
	[CONFIG_switch] = "true, false, or a table",
	[CONFIG_section] = "table",
	[CONFIG_named] = "tables by name",
	[CONFIG_list] = "list of tables",
	[CONFIG_any] = "any value",
	[CONFIG_inert] = "accepted without effect in this version",
};

static const struct config_row *find_in(const struct config_record *record, struct str key)
{
	for (size_t i = 0; record && i < record->count; i++) {
		if (str_is(key, record->rows[i].key))
			return &record->rows[i];
	}
	return NULL;
}

/* A part after a NAMED key is a name that the user has chosen, as is one of [agents] that is no key. */
static const struct config_row *find_row(const char *path)
{
	const struct config_record *record = &config_keys;
	const struct config_row *row = NULL;
	struct str rest = str_of(path), part;
	while (str_next_part(&rest, '.', &part)) {
		if (row && row->kind == CONFIG_named && record) {
			record = config_row_inner(row);
			row = rest.ptr && str_next_part(&rest, '.', &part) ? find_in(record, part) : row;
		} else if (record == &config_agents_keys && rest.ptr && !find_in(record, part)) {
			str_next_part(&rest, '.', &part);
			row = find_in(&config_agent_role_keys, part);
		} else {
			row = find_in(record, part);
		}
		if (!row)
			return NULL;
		record = config_row_inner(row);
	}
	return row;
}

bool explain_knows(const char *path)
{
	return path[0] && find_row(path);
}

/* ---- values ---- */

/* True for values that hold keys; tables of such values show the names only. */
static bool is_secret(const struct toml *node)
{
	static const char *const keys[] = {
		"experimental_bearer_token", "client_secret", "http_headers", "query_params", "env", "headers", "set"};
	for (size_t i = 0; i < countof(keys); i++) {
		if (str_is(node->key, keys[i]))
			return true;
	}
	return false;
}

static void write_value(struct buf *out, const struct toml *node)
{
	if (is_secret(node) && node->kind != TOML_table) {
		buf_append_c(out, "(not shown)");
	} else if (node->kind != TOML_table) {
		toml_write_value(out, node);
	} else {
		buf_append_c(out, "a table with ");
		toml_for_each(it, node)
			buf_printf(out, "%s%.*s", it == node->child ? "" : ", ", STR_ARG(it->key));
		buf_append_c(out, node->child ? "" : "no keys");
	}
}

static const struct toml *find_at(const struct toml *root, const char *path)
{
	struct str rest = str_of(path), part;
	while (root && str_next_part(&rest, '.', &part))
		root = toml_find(root, part);
	return root;
}

static void write_places(struct buf *out, const struct config *config, const char *path)
{
	size_t count;
	bool is_first = true;
	char where[CONFIG_PLACE_SIZE];
	const struct config_layer *layers = config_layers(config, &count);
	for (int kind = CONFIG_LAYER_kind_count - 1; kind >= 0; kind--) {
		for (size_t i = count; i-- > 0;) {
			const struct toml *node = (int)layers[i].kind == kind ? find_at(layers[i].root, path) : NULL;
			if (!node)
				continue;
			buf_printf(out, "%s %s: ", is_first ? "Set by" : "Also in", config_place(node, where));
			write_value(out, node);
			buf_append_char(out, '\n');
			is_first = false;
		}
	}
	if (is_first)
		buf_append_c(out, "Not set here: the default applies.\n");
}

static void write_default(struct buf *out, const struct config_row *row)
{
	if (row->kind == CONFIG_bool || row->kind == CONFIG_switch)
		buf_printf(out, "; default: %s", row->number ? "true" : "false");
	else if (row->kind == CONFIG_int)
		buf_printf(out, "; default: %lld", (long long)row->integers->value);
	else if (row->kind == CONFIG_choice && enum_wire(row->words, (int)row->number)[0])
		buf_printf(out, "; default: \"%s\"", enum_wire(row->words, (int)row->number));
	else if (config_row_text(row))
		buf_printf(out, "; default: \"%s\"", config_row_text(row));
}

int explain_print(const char *path)
{
	struct error err;
	char words[ERROR_TEXT_MAX];
	auto_buf struct buf text, shown;
	const struct config_row *row = find_row(path);
	const struct config_source source = {0};
	struct config *config = config_load(&source, &err);
	buf_init(&text, LIMIT_LINE);
	buf_init(&shown, 2 * LIMIT_LINE);
	buf_printf(&text, "%s (%s", path, kinds[row->kind]);
	write_default(&text, row);
	buf_append_c(&text, ")\n");
	if (row->kind == CONFIG_choice) {
		enum_expected(row->words, words, sizeof(words));
		buf_printf(&text, "  Values: %s\n", words);
	}
	if (config)
		write_places(&text, config, path);
	buf_append_c(&text, "Its meaning is in docs/config.md and codex-config(5).\n");
	terminal_text_append(&shown, buf_str(&text));
	int status = fd_write_all(STDOUT_FILENO, shown.data, shown.len, NULL) == 0 ? 0 : EXIT_FAILED;
	if (!config) {
		fprintf(stderr, "Error: %s\n", err.text);
		status = EXIT_FAILED;
	}
	config_unref(config);
	return status;
}
