/* `codex import`, for people and, with --rpc, for the app-server: it reads {"importId":…,"params":{…}} on standard
 * input and prints the items that it detects, separated by commas; an import prints an empty line when it begins, one
 * line for each item when it is done, and a last one with all of them, as the notifications have them. */
#include "ui/import/import_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "import/import.h"
#include "import/import_history.h"
#include "ui/cli/terminal.h"
#include "ui/fleet/fleet_options.h"

enum { EXIT_FAILED = 1 };

static int fail(const struct error *err)
{
	fprintf(stderr, "%s: %s\n", import_command.name, err->text);
	return EXIT_FAILED;
}

static int print(const struct buf *out, struct error *err)
{
	if (out->over)
		return error_set(err, ERR_limit, "the report is larger than %d MiB; what it is about was done",
		                 (int)(LIMIT_IMPORT_TEXT / MIB));
	return fd_write_all(STDOUT_FILENO, out->data, out->len, err);
}

/* Reads items that are separated by commas; NULL and err if they are no JSON. */
static const struct json *read_list(struct arena *arena, struct str items, struct error *err)
{
	auto_buf struct buf list;
	buf_init(&list, LIMIT_IMPORT_TEXT + 2);
	buf_append_char(&list, '[');
	buf_append_str(&list, items);
	buf_append_char(&list, ']');
	return json_parse_copy(arena, buf_str(&list), err);
}

/* ---- for people ---- */

static void add_line(struct buf *out, const char *before, struct str text)
{
	buf_append_c(out, before);
	terminal_text_append(out, text);
	buf_append_char(out, '\n');
}

static void show_item(const struct json *item, struct buf *out)
{
	add_line(out, "", json_get_str(item, "description"));
	json_for_each(list, json_get(item, "details"))
		json_for_each(it, list) {
			struct str name = json_get_str(it, "name");
			add_line(out, "  ", name.ptr ? name : json_get_str(it, "title"));
		}
}

static void show_result(struct import_result *result, struct arena *arena, struct buf *out)
{
	auto_buf struct buf text;
	struct error ignored;
	buf_init(&text, 3 * LIMIT_IMPORT_TEXT);
	import_report_write(result, &text);
	const struct json *json = json_parse_copy(arena, buf_str(&text), &ignored);
	json_for_each(it, json_get(json, "successes"))
		add_line(out, "  imported: ", json_get_str(it, "source"));
	json_for_each(it, json_get(json, "failures")) {
		struct str source = json_get_str(it, "source"), message = json_get_str(it, "message");
		add_line(out, "  not all: ",
		         str_of(arena_printf(arena, "%.*s%s%.*s", STR_ARG(source), source.len ? ": " : "",
		                             STR_ARG(message))));
	}
}

static int show(struct import *import, const struct import_options *options, struct error *err)
{
	auto_buf struct buf found, out;
	auto_free char *cwd = realpath(options->folder ? options->folder : ".", NULL);
	buf_init(&found, LIMIT_IMPORT_TEXT);
	buf_init(&out, 4 * LIMIT_IMPORT_TEXT);
	if (!cwd)
		return error_set(err, ERR_not_found, "%s does not exist", options->folder ? options->folder : ".");
	if (import_detect(import, NULL, &found, err) != 0)
		return -(int)err->code;
	if (import_detect(import, cwd, &found, err) != 0 && err->code != ERR_invalid)
		return -(int)err->code; /* the home is no project, and not an error either */
	const struct json *items = read_list(&import->arena, buf_str(&found), err);
	if (!items)
		return -(int)err->code;
	json_for_each(item, items) {
		struct import_result result;
		show_item(item, &out);
		if (!options->applies)
			continue;
		import_item(import, item, &result);
		show_result(&result, &import->arena, &out);
		import_report_finish(&result);
	}
	if (!items->count)
		buf_append_c(&out, "There is nothing to import from Claude Code.\n");
	else if (!options->applies)
		buf_append_c(&out, "To import this, run `codex import --apply`.\n");
	return print(&out, err);
}

/* ---- for the app-server ---- */

/* Prints the results as one line. The last one has "isLast". */
static int print_results(struct str id, struct str results, bool is_last, struct error *err)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_IMPORT_TEXT);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_str(&w, "importId", id);
	jw_key(&w, "itemTypeResults");
	jw_array(&w);
	if (results.len)
		jw_raw(&w, results);
	jw_array_end(&w);
	if (is_last)
		jw_member_bool(&w, "isLast", true);
	jw_object_end(&w);
	buf_append_char(&out, '\n');
	return print(&out, err);
}

/* Joins the results of one type, as codex 0.169 does. */
static void join(struct import_result *all, size_t *count, const struct import_result *result)
{
	size_t i = 0;
	while (i < *count && !str_eq(all[i].item_type, result->item_type))
		i++;
	if (i == *count) {
		all[(*count)++].item_type = result->item_type;
		buf_init(&all[i].successes, LIMIT_IMPORT_TEXT);
		buf_init(&all[i].failures, LIMIT_IMPORT_TEXT);
	}
	const struct buf *from[] = {&result->successes, &result->failures};
	struct buf *to[] = {&all[i].successes, &all[i].failures};
	for (size_t k = 0; k < countof(from); k++) {
		if (from[k]->len && to[k]->len)
			buf_append_char(to[k], ',');
		buf_append_str(to[k], buf_str(from[k]));
	}
}

/* Joined results of all types; each is freed as it is written. */
static void write_joined(struct import_result *all, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_char(out, ',');
		out->over |= all[i].successes.over || all[i].failures.over;
		import_report_write(&all[i], out);
		import_report_finish(&all[i]);
	}
}

/* Imports and prints item by item. all gets the results of those that were imported. A reader that has gone ends it. */
static int import_all(struct import *import, struct str id, const struct json *items, struct buf *all,
                      struct error *err)
{
	int status = 0;
	size_t count = 0;
	auto_buf struct buf text;
	struct import_result *joined = arena_array(&import->arena, struct import_result, items->count);
	buf_init(&text, 2 * LIMIT_IMPORT_TEXT);
	json_for_each(item, items) {
		struct import_result result;
		if (status != 0)
			break;
		import_item(import, item, &result);
		buf_clear(&text);
		import_report_write(&result, &text);
		status = print_results(id, buf_str(&text), false, err);
		join(joined, &count, &result);
		import_report_finish(&result);
	}
	write_joined(joined, count, all);
	return status;
}

/* A folder that is no project has nothing. */
static int detect_all(struct import *import, const struct json *params, struct buf *out, struct error *err)
{
	struct error ignored;
	import->most_sessions = json_get_i64(params, "maxSessions", import->most_sessions);
	import->most_days = json_get_i64(params, "maxSessionAgeDays", import->most_days);
	if (json_get_bool(params, "includeHome", false) && import_detect(import, NULL, out, err) != 0)
		return -(int)err->code;
	json_for_each(it, json_get(params, "cwds"))
		if (json_is(it, JSON_string) && !str_has_nul(it->text))
			best_effort(import_detect(import, arena_cstr(&import->arena, it->text), out, &ignored));
	return 0;
}

/* The other source that codex 0.169 knows; all further names mean the default. */
static bool is_other_source(const struct json *params)
{
	return str_is(json_get_str(params, "migrationSource"), "cursor");
}

static int on_detect(struct import *import, const struct json *request, struct buf *out, struct error *err)
{
	const struct json *params = json_get(request, "params");
	return is_other_source(params) ? 0 : detect_all(import, params, out, err);
}

static int on_read(struct import *import, const struct json *request, struct buf *out, struct error *err)
{
	(void)request;
	return import_history_read(import->codex, out, err);
}

static int on_record(struct import *import, const struct json *request, struct buf *out, struct error *err)
{
	const struct json *params = json_get(request, "params");
	const struct import_entry entry = {json_get_str(request, "importId"), json_get_str(params, "providerId"),
	                                   json_get(params, "itemTypeResults")};
	(void)out;
	return import_history_add(import->codex, &entry, err);
}

/* The files are imported even if the history cannot be written, so that is no failure of the import. */
static void record(struct import *import, struct str id, const struct json *params, struct str results)
{
	struct error err;
	const struct import_entry entry = {id, json_get_str(params, "providerId"),
	                                   read_list(&import->arena, results, &err)};
	if (!entry.results || import_history_add(import->codex, &entry, &err) != 0)
		fail(&err);
}

static int on_import(struct import *import, const struct json *request, struct buf *out, struct error *err)
{
	auto_buf struct buf all;
	const struct json *params = json_get(request, "params"), *items = json_get(params, "migrationItems");
	struct str id = json_get_str(request, "importId");
	(void)out;
	buf_init(&all, LIMIT_IMPORT_TEXT);
	if (is_other_source(params))
		return error_set(err, ERR_unsupported, "Cursor is not supported, only Claude Code");
	if (!items || !items->count)
		return 0; /* as codex 0.169, without a notification */
	if (fd_write_all(STDOUT_FILENO, "\n", 1, err) != 0)
		return -(int)err->code;
	int status = import_all(import, id, items, &all, err);
	if (all.over)
		return print(&all, err);
	record(import, id, params, buf_str(&all));
	return status == 0 ? print_results(id, buf_str(&all), true, err) : status;
}

static const struct {
	const char *method;
	int (*run)(struct import *import, const struct json *request, struct buf *out, struct error *err);
} methods[] = {
	{"externalAgentConfig/detect", on_detect},
	{"externalAgentConfig/import", on_import},
	{"externalAgentConfig/import/recordHistory", on_record},
	{"externalAgentConfig/import/readHistories", on_read},
};

static int serve(struct import *import, struct error *err)
{
	auto_buf struct buf text, out;
	buf_init(&text, LIMIT_IMPORT_TEXT);
	buf_init(&out, LIMIT_IMPORT_TEXT);
	if (fd_read_all(STDIN_FILENO, &text, "the request", err) != 0)
		return -(int)err->code;
	const struct json *request = json_parse(&import->arena, buf_str(&text), err);
	if (!request)
		return -(int)err->code;
	for (size_t i = 0; i < countof(methods); i++) {
		if (!str_is(json_get_str(request, "method"), methods[i].method))
			continue;
		return methods[i].run(import, request, &out, err) == 0 ? print(&out, err) : -(int)err->code;
	}
	return error_set(err, ERR_invalid, "the request has no known method");
}

/* ---- both ---- */

int import_main(int argc, char **argv)
{
	struct error err;
	struct import import = {0};
	struct import_options options = {0};
	struct cli_result result;
	int status = cli_read(&import_command, argc, argv, &options, &result);
	if (status < 0) {
		int failed = import_init(&import, &err);
		if (failed == 0)
			failed = options.is_rpc ? serve(&import, &err) : show(&import, &options, &err);
		status = failed ? fail(&err) : 0;
		import_finish(&import);
	}
	cli_finish(&import_command, &options, &result);
	return status;
}
