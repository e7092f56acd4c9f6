/* Each type that is used in a message has a file with all definitions that it refers to, so that every file can be
 * used alone; two more files contain all types. The JSON-RPC envelope has no rows because the server's rpc.c parses
 * and writes it by hand, so its schema is text here. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/schema/schema.h"

#define DRAFT "http://json-schema.org/draft-07/schema#"
#define REF(name) "{\"$ref\":\"#/definitions/" name "\"}"
#define OBJECT(properties, required) "\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]"

/* A schema of an envelope type. */
static const struct envelope {
	const char *name, *members;
	bool is_alone; /* the schema refers to no other */
	bool has_file;
} envelopes[] = {
	{"JSONRPCError", OBJECT("\"error\":" REF("JSONRPCErrorError") ",\"id\":" REF("RequestId"), "\"error\",\"id\""),
         false, true},
	{"JSONRPCErrorError",
         OBJECT("\"code\":{\"type\":\"integer\",\"format\":\"int64\"},\"data\":true,\"message\":{\"type\":\"string\"}",
                "\"code\",\"message\""),
         true, true},
	{"JSONRPCMessage",
         "\"anyOf\":[" REF("JSONRPCRequest") "," REF("JSONRPCNotification") "," REF("JSONRPCResponse") "," REF(
		 "JSONRPCError") "]",
         false, true},
	{"JSONRPCNotification", OBJECT("\"method\":{\"type\":\"string\"},\"params\":true", "\"method\""), true, true},
	{"JSONRPCRequest",
         OBJECT("\"id\":" REF("RequestId") ",\"method\":{\"type\":\"string\"},\"params\":true,\"trace\":{\"anyOf\":"
                                           "[" REF("W3cTraceContext") ",{\"type\":\"null\"}]}",
                "\"id\",\"method\""),
         false, true},
	{"JSONRPCResponse", OBJECT("\"id\":" REF("RequestId") ",\"result\":true", "\"id\",\"result\""), false, true},
	{"RequestId", "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"integer\",\"format\":\"int64\"}]", true, true},
	{"W3cTraceContext",
         "\"type\":\"object\",\"properties\":{\"traceparent\":{\"type\":[\"string\",\"null\"]},"
         "\"tracestate\":{\"type\":[\"string\",\"null\"]}}",
         true, false},
};

struct files {
	bool is_experimental;
	app_message_file_fn write;
	struct error *err;
	void *self;
	struct buf text, indented;
	struct json_writer w;
};

/* ---- one file ---- */

static void begin_file(struct files *files, const char *title)
{
	buf_clear(&files->text);
	files->w = json_writer(&files->text);
	jw_object(&files->w);
	jw_member_cstr(&files->w, "$schema", DRAFT);
	jw_member_cstr(&files->w, "title", title);
}

static int end_file(struct files *files, const char *folder, const char *title)
{
	char path[FIELD_NAME_SIZE * 2];
	jw_object_end(&files->w);
	buf_clear(&files->indented);
	json_indent(&files->indented, buf_str(&files->text));
	buf_append_char(&files->indented, '\n');
	if (files->text.over || files->indented.over)
		return error_set(files->err, ERR_limit, "the schema of %s is too large", title);
	snprintf(path, sizeof(path), "%s%s.json", folder, title);
	return files->write(path, buf_str(&files->indented), files->err, files->self);
}

static void write_envelope(struct files *files, const struct envelope *envelope)
{
	jw_raw(&files->w, str_of(envelope->members)); /* jw_raw writes the comma before "key":value */
}

static void define_envelope(struct files *files, const struct envelope *envelope)
{
	jw_key(&files->w, envelope->name);
	jw_object(&files->w);
	write_envelope(files, envelope);
	jw_object_end(&files->w);
}

static void define_request_id(struct files *files)
{
	for (size_t i = 0; i < countof(envelopes); i++) {
		if (strcmp(envelopes[i].name, "RequestId") == 0)
			define_envelope(files, &envelopes[i]);
	}
}

static void define_envelopes(struct files *files)
{
	for (size_t i = 0; i < countof(envelopes); i++)
		define_envelope(files, &envelopes[i]);
}

static void define_type(const struct schema *schema, const struct named_type *type)
{
	jw_key(schema->w, type->name);
	jw_object(schema->w);
	schema_write_members(schema, type->kind, type->type);
	jw_object_end(schema->w);
}

static void begin_definitions(struct files *files)
{
	jw_key(&files->w, "definitions");
	jw_object(&files->w);
}

static int write_type_file(struct files *files, const struct named_type *type)
{
	struct type_set parts = {.is_experimental = files->is_experimental};
	struct schema schema = {.w = &files->w, .set = &parts};
	type_set_add_parts(&parts, type->kind, type->type);
	type_set_sort(&parts);
	begin_file(files, type->name);
	schema_write_members(&schema, type->kind, type->type);
	if (parts.types.count) {
		begin_definitions(files);
		vec_for_each(it, &parts.types)
			define_type(&schema, it);
		jw_object_end(&files->w);
	}
	type_set_finish(&parts);
	return end_file(files, type_schema_folder(type->name), type->name);
}

/* ---- messages ---- */

static void write_params(const struct schema *schema, const struct app_message *message)
{
	struct json_writer *w = schema->w;
	char name[FIELD_NAME_SIZE];
	jw_key(w, "params");
	if (message->params && !message->is_optional) {
		schema_write_ref(schema, record_type_name(message->params, name));
		return;
	}
	jw_object(w);
	if (message->params) {
		jw_key(w, "anyOf");
		jw_array(w);
		schema_write_ref(schema, record_type_name(message->params, name));
		jw_raw(w, STR("{\"type\":\"null\"}"));
		jw_array_end(w);
	} else {
		jw_member_cstr(w, "type", "null");
	}
	jw_object_end(w);
}

static void write_method(const struct schema *schema, const char *wire, const char *title)
{
	struct json_writer *w = schema->w;
	jw_key(w, "method");
	jw_object(w);
	jw_key(w, "title");
	jw_strf(w, "%sMethod", title);
	jw_member_cstr(w, "type", "string");
	jw_key(w, "enum");
	jw_array(w);
	jw_cstr(w, wire);
	jw_array_end(w);
	jw_object_end(w);
}

static void write_message(const struct schema *schema, enum app_message_kind kind, const struct app_message *message)
{
	struct json_writer *w = schema->w;
	bool has_id = app_message_has_id(kind);
	char title[FIELD_NAME_SIZE * 2];
	char first = message->wire[0];
	snprintf(title, sizeof(title), "%c%s%s", first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first,
	         message->wire + 1, has_id ? "Request" : "Notification");
	jw_object(w);
	jw_member_cstr(w, "title", title);
	if (message->doc[0])
		jw_member_cstr(w, "description", message->doc);
	jw_member_cstr(w, "type", "object");
	jw_key(w, "properties");
	jw_object(w);
	if (has_id) {
		jw_key(w, "id");
		schema_write_ref(schema, "RequestId");
	}
	write_method(schema, message->wire, title);
	if (message->params || has_id)
		write_params(schema, message);
	jw_object_end(w);
	jw_key(w, "required");
	jw_array(w);
	if (has_id)
		jw_cstr(w, "id");
	jw_cstr(w, "method");
	if (message->params && !message->is_optional)
		jw_cstr(w, "params");
	jw_array_end(w);
	jw_object_end(w);
}

static void write_messages(const struct schema *schema, enum app_message_kind kind)
{
	jw_key(schema->w, "oneOf");
	jw_array(schema->w);
	for (size_t i = 0; i < app_message_count(kind); i++) {
		struct app_message message = app_message_get(kind, i);
		if (schema->set->is_experimental || !message.is_experimental)
			write_message(schema, kind, &message);
	}
	jw_array_end(schema->w);
}

static int write_messages_file(struct files *files, enum app_message_kind kind)
{
	struct type_set parts = {.is_experimental = files->is_experimental};
	struct schema schema = {.w = &files->w, .set = &parts};
	const char *name = app_message_kind_name(kind);
	app_message_add_types(kind, false, &parts);
	type_set_sort(&parts);
	begin_file(files, name);
	write_messages(&schema, kind);
	begin_definitions(files);
	vec_for_each(it, &parts.types)
		define_type(&schema, it);
	define_request_id(files);
	jw_object_end(&files->w);
	type_set_finish(&parts);
	return end_file(files, "", name);
}

/* ---- everything in one ---- */

static void define_messages(const struct schema *schema, enum app_message_kind kind)
{
	jw_key(schema->w, app_message_kind_name(kind));
	jw_object(schema->w);
	write_messages(schema, kind);
	jw_object_end(schema->w);
}

static bool is_inner(const struct named_type *type)
{
	return strcmp(type_schema_folder(type->name), "v2/") == 0;
}

static int write_whole(struct files *files, const struct type_set *all)
{
	struct schema schema = {.w = &files->w, .set = all, .is_nested = true};
	begin_file(files, "CodexAppServerProtocol");
	jw_member_cstr(&files->w, "type", "object");
	begin_definitions(files);
	for (int kind = 0; kind < MESSAGE_kind_count; kind++)
		define_messages(&schema, (enum app_message_kind)kind);
	define_envelopes(files);
	vec_for_each(it, &all->types) {
		if (!is_inner(it))
			define_type(&schema, it);
	}
	jw_key(&files->w, "v2");
	jw_object(&files->w);
	vec_for_each(it, &all->types) {
		if (is_inner(it))
			define_type(&schema, it);
	}
	jw_object_end(&files->w);
	jw_object_end(&files->w);
	return end_file(files, "", "codex_app_server_protocol.schemas");
}

/* Writes the file of all v2 types, without server requests and with flat definitions. */
static int write_whole_v2(struct files *files, const struct type_set *all)
{
	struct type_set set = {.is_experimental = files->is_experimental};
	struct schema schema = {.w = &files->w, .set = &set};
	app_message_add_types(MESSAGE_client_request, true, &set);
	app_message_add_types(MESSAGE_server_notification, true, &set);
	vec_for_each(it, &all->types) {
		if (is_inner(it))
			type_set_add(&set, it->kind, it->type);
	}
	type_set_sort(&set);
	begin_file(files, "CodexAppServerProtocolV2");
	jw_member_cstr(&files->w, "type", "object");
	begin_definitions(files);
	define_messages(&schema, MESSAGE_client_request);
	define_messages(&schema, MESSAGE_server_notification);
	define_request_id(files);
	vec_for_each(it, &set.types)
		define_type(&schema, it);
	jw_object_end(&files->w);
	type_set_finish(&set);
	return end_file(files, "", "codex_app_server_protocol.v2.schemas");
}

/* ---- all files ---- */

static int write_envelope_file(struct files *files, const struct envelope *envelope)
{
	begin_file(files, envelope->name);
	write_envelope(files, envelope);
	if (!envelope->is_alone) {
		begin_definitions(files);
		define_envelopes(files);
		jw_object_end(&files->w);
	}
	return end_file(files, "", envelope->name);
}

static int write_envelope_files(struct files *files)
{
	int status = 0;
	for (size_t i = 0; i < countof(envelopes) && status == 0; i++) {
		if (envelopes[i].has_file)
			status = write_envelope_file(files, &envelopes[i]);
	}
	return status;
}

static int write_message_files(struct files *files)
{
	int status = 0;
	for (int kind = 0; kind < MESSAGE_kind_count && status == 0; kind++)
		status = write_messages_file(files, (enum app_message_kind)kind);
	return status;
}

/* Adds the types that messages contain. Optional params have no file, as in codex 0.169. */
static void add_carried(enum app_message_kind kind, struct type_set *carried)
{
	for (size_t i = 0; i < app_message_count(kind); i++) {
		struct app_message message = app_message_get(kind, i);
		if (message.is_experimental && !carried->is_experimental)
			continue;
		if (message.params && !message.is_optional)
			type_set_add(carried, TYPE_record, message.params);
		if (message.result)
			type_set_add(carried, TYPE_record, message.result);
	}
}

static int write_carried_files(struct files *files)
{
	struct type_set carried = {.is_experimental = files->is_experimental, .is_flat = true};
	for (int kind = 0; kind < MESSAGE_kind_count; kind++)
		add_carried((enum app_message_kind)kind, &carried);
	int status = 0;
	vec_for_each(it, &carried.types) {
		if (status == 0)
			status = write_type_file(files, it);
	}
	type_set_finish(&carried);
	return status;
}

static int write_all(struct files *files)
{
	struct type_set all = {.is_experimental = files->is_experimental};
	for (int kind = 0; kind < MESSAGE_kind_count; kind++)
		app_message_add_types((enum app_message_kind)kind, true, &all);
	type_set_sort(&all);
	int status = write_envelope_files(files);
	if (status == 0)
		status = write_message_files(files);
	if (status == 0)
		status = write_carried_files(files);
	if (status == 0)
		status = write_whole(files, &all);
	if (status == 0)
		status = write_whole_v2(files, &all);
	type_set_finish(&all);
	return status;
}

int schema_write_files(bool is_experimental, app_message_file_fn write, struct error *err, void *self)
{
	struct files files = {.is_experimental = is_experimental, .write = write, .err = err, .self = self};
	buf_init(&files.text, LIMIT_SCHEMA_FILE);
	buf_init(&files.indented, LIMIT_SCHEMA_FILE);
	int status = write_all(&files);
	buf_finish(&files.text);
	buf_finish(&files.indented);
	return status;
}
