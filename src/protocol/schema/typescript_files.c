/* Each file imports its direct parts by relative paths. The index of a folder exports all types of one version. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/schema/typescript.h"

struct files {
	bool is_experimental;
	app_message_file_fn write;
	struct error *err;
	void *self;
	struct type_set all;
	struct type_set sent; /* the types that the server sends */
	struct buf body, text;
};

static const char first_line[] = "// Made from the tables of codex. Edits are lost when it is made again.\n\n";

/* ---- one file ---- */

static bool is_inner(const char *name)
{
	return *type_script_folder(name) != '\0';
}

static void begin_file(struct files *files)
{
	buf_clear(&files->body);
	buf_clear(&files->text);
	buf_append_c(&files->text, first_line);
}

/* Appends an import from a file in one folder of a type in either folder. */
static void append_import(struct files *files, const char *name, bool from_inner)
{
	const char *way = is_inner(name) == from_inner ? "./" : from_inner ? "../" : "./v2/";
	name = type_script_name(name);
	buf_printf(&files->text, "import type { %s } from \"%s%s\";\n", name, way, name);
}

/* Appends an import of a type that has no row but occurs in the body. */
static void append_plain_import(struct files *files, const char *name, const char *path, bool from_inner)
{
	if (str_find(buf_str(&files->body), str_of(name)) >= 0)
		buf_printf(&files->text, "import type { %s } from \"%s%s\";\n", name, from_inner ? "../" : "./", path);
}

static int end_file(struct files *files, const char *folder, const char *name)
{
	char path[FIELD_NAME_SIZE * 2];
	buf_append_str(&files->text, buf_str(&files->body));
	if (files->body.over || files->text.over)
		return error_set(files->err, ERR_limit, "the TypeScript of %s is too large", name);
	snprintf(path, sizeof(path), "%s%s.ts", folder, name);
	return files->write(path, buf_str(&files->text), files->err, files->self);
}

static const char *type_doc(const struct named_type *type)
{
	if (type->kind == TYPE_record)
		return ((const struct record *)type->type)->is_open ? "" : record_doc(type->type);
	return type->kind == TYPE_union ? ((const struct union_type *)type->type)->doc : "";
}

static void append_imports(struct files *files, struct type_set *parts, const char *own, bool from_inner)
{
	type_set_sort(parts);
	vec_for_each(it, &parts->types) {
		if (strcmp(it->name, own) != 0)
			append_import(files, it->name, from_inner);
	}
	append_plain_import(files, "JsonValue", "serde_json/JsonValue", from_inner);
	buf_append_char(&files->text, '\n');
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);
	return len >= end_len && strcmp(name + len - end_len, end) == 0;
}

static bool is_input(const struct files *files, const struct named_type *type)
{
	vec_for_each(it, &files->sent.types) {
		if (it->kind == type->kind && it->type == type->type)
			return ends_with(type->name, "Params");
	}
	return true;
}

/* Adds the types of responses, notifications and server requests, but not answers to server requests, which clients
 * send. */
static void add_sent(struct type_set *sent)
{
	for (size_t i = 0; i < app_message_count(MESSAGE_client_request); i++) {
		struct app_message message = app_message_get(MESSAGE_client_request, i);
		if (message.result)
			type_set_add(sent, TYPE_record, message.result);
	}
	app_message_add_types(MESSAGE_server_request, false, sent);
	app_message_add_types(MESSAGE_server_notification, false, sent);
}

static int write_type(struct files *files, const struct named_type *type)
{
	struct type_set parts = {.is_experimental = files->is_experimental, .is_flat = true, .has_bodies = true};
	begin_file(files);
	if (*type_doc(type))
		buf_printf(&files->body, "/** %s */\n", type_doc(type));
	buf_printf(&files->body, "export type %s = ", type_script_name(type->name));
	typescript_append(&files->body, &files->all, type, is_input(files, type));
	buf_append_c(&files->body, ";\n");
	type_set_add_parts(&parts, type->kind, type->type);
	append_imports(files, &parts, type->name, is_inner(type->name));
	type_set_finish(&parts);
	return end_file(files, type_script_folder(type->name), type_script_name(type->name));
}

/* ---- messages ---- */

static void append_message(struct files *files, enum app_message_kind kind, const struct app_message *message)
{
	char name[FIELD_NAME_SIZE];
	bool has_id = app_message_has_id(kind);
	if (message->doc[0])
		buf_printf(&files->body, "\n/** %s */", message->doc);
	buf_printf(&files->body, "\n| { method: \"%s\"", message->wire);
	if (has_id)
		buf_append_c(&files->body, "; id: RequestId");
	if (message->params)
		buf_printf(&files->body, "; params%s: %s%s", message->is_optional ? "?" : "",
		           record_type_name(message->params, name), message->is_optional ? " | null" : "");
	else if (has_id)
		buf_append_c(&files->body, "; params?: null");
	buf_append_c(&files->body, " }");
}

static int write_messages(struct files *files, enum app_message_kind kind)
{
	struct type_set parts = {.is_experimental = files->is_experimental, .is_flat = true, .has_bodies = true};
	const char *name = app_message_kind_name(kind);
	begin_file(files);
	buf_printf(&files->body, "export type %s =", name);
	for (size_t i = 0; i < app_message_count(kind); i++) {
		struct app_message message = app_message_get(kind, i);
		if (files->is_experimental || !message.is_experimental)
			append_message(files, kind, &message);
	}
	buf_append_c(&files->body, ";\n");
	app_message_add_types(kind, false, &parts);
	if (app_message_has_id(kind))
		append_import(files, "RequestId", false);
	append_imports(files, &parts, name, false);
	type_set_finish(&parts);
	return end_file(files, "", name);
}

/* ---- what has no rows, indexes ---- */

static const struct plain {
	const char *folder, *name, *text;
} plains[] = {
	{"", "RequestId",
         "/** What an answer repeats, so that its request is found. */\n"
         "export type RequestId = string | number;\n"},
	{"", "ServerNotificationEnvelope",
         "import type { ServerNotification } from \"./ServerNotification\";\n\n"
         "/** A notification as it comes: with the Unix milliseconds at which it was sent. */\n"
         "export type ServerNotificationEnvelope = { emittedAtMs?: number } & ServerNotification;\n"},
	{"serde_json/", "JsonValue",
         "/** Anything that JSON can say. */\n"
         "export type JsonValue = null | boolean | number | string | Array<JsonValue> | "
         "{ [key in string]?: JsonValue };\n"},
	/* Clients import these types from both folders. */
	{"v2/", "ExecPolicyAmendment", "export type { ExecPolicyAmendment } from \"../ExecPolicyAmendment\";\n"},
	{"v2/", "NetworkPolicyAmendment",
         "export type { NetworkPolicyAmendment } from \"../NetworkPolicyAmendment\";\n"},
	{"v2/", "NetworkPolicyRuleAction",
         "export type { NetworkPolicyRuleAction } from \"../NetworkPolicyRuleAction\";\n"},
};

static int write_plains(struct files *files)
{
	int status = 0;
	for (size_t i = 0; i < countof(plains) && status == 0; i++) {
		begin_file(files);
		buf_append_c(&files->body, plains[i].text);
		status = end_file(files, plains[i].folder, plains[i].name);
	}
	return status;
}

static void append_export(struct files *files, const char *name)
{
	buf_printf(&files->body, "export type { %s } from \"./%s\";\n", name, name);
}

static int write_index(struct files *files, bool inner)
{
	begin_file(files);
	for (int kind = 0; kind < MESSAGE_kind_count && !inner; kind++)
		append_export(files, app_message_kind_name((enum app_message_kind)kind));
	for (size_t i = 0; i < countof(plains); i++) {
		if (strcmp(plains[i].folder, inner ? "v2/" : "") == 0)
			append_export(files, plains[i].name);
	}
	vec_for_each(it, &files->all.types) {
		if (is_inner(it->name) == inner)
			append_export(files, type_script_name(it->name));
	}
	if (!inner)
		buf_append_c(&files->body, "export * as v2 from \"./v2\";\n");
	return end_file(files, inner ? "v2/" : "", "index");
}

/* ---- all files ---- */

static int write_all(struct files *files)
{
	for (int kind = 0; kind < MESSAGE_kind_count; kind++)
		app_message_add_types((enum app_message_kind)kind, true, &files->all);
	add_sent(&files->sent);
	type_set_sort(&files->all);
	int status = write_plains(files);
	for (int kind = 0; kind < MESSAGE_kind_count && status == 0; kind++)
		status = write_messages(files, (enum app_message_kind)kind);
	vec_for_each(it, &files->all.types) {
		if (status == 0)
			status = write_type(files, it);
	}
	if (status == 0)
		status = write_index(files, false);
	return status == 0 ? write_index(files, true) : status;
}

int typescript_write_files(bool is_experimental, app_message_file_fn write, struct error *err, void *self)
{
	struct files files = {.is_experimental = is_experimental, .write = write, .err = err, .self = self};
	files.all.is_experimental = is_experimental;
	files.sent.is_experimental = true; /* include types that are sent only to clients that opted in */
	files.all.has_bodies = files.sent.has_bodies = true;
	buf_init(&files.body, LIMIT_SCHEMA_FILE);
	buf_init(&files.text, LIMIT_SCHEMA_FILE);
	int status = write_all(&files);
	type_set_finish(&files.all);
	type_set_finish(&files.sent);
	buf_finish(&files.body);
	buf_finish(&files.text);
	return status;
}
