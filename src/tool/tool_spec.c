/* The schemas are made from the argument rows, so that they cannot differ from what the tools accept. */
#include "tool/tool_spec.h"

#include <string.h>

#include "base/json.h"
#include "protocol/record/enum.h"
#include "tool/tool_impl.h"

/* The grammar for constrained sampling, which accepts what patch_parse reads. */
static const char place_grammar[] = "start: begin_patch environment_id? hunk+ end_patch\n"
				    "environment_id: \"*** Environment ID: \" filename LF\n";
static const char apply_patch_grammar[] = "start: begin_patch hunk+ end_patch\n"
					  "begin_patch: \"*** Begin Patch\" LF\n"
					  "end_patch: \"*** End Patch\" LF?\n"
					  "hunk: add_hunk | delete_hunk | update_hunk\n"
					  "add_hunk: \"*** Add File: \" filename LF add_line+\n"
					  "delete_hunk: \"*** Delete File: \" filename LF\n"
					  "update_hunk: \"*** Update File: \" filename LF change_move? change?\n"
					  "filename: /(.+)/\n"
					  "add_line: \"+\" /(.*)/ LF -> line\n"
					  "change_move: \"*** Move to: \" filename LF\n"
					  "change: (change_context | change_line)+ eof_line?\n"
					  "change_context: (\"@@\" | \"@@ \" /(.+)/) LF\n"
					  "change_line: (\"+\" | \"-\" | \" \") /(.*)/ LF\n"
					  "eof_line: \"*** End of File\" LF\n"
					  "%import common.LF\n";

/* One property of a tool whose description ends with a note; without a note it is left out. */
struct noted {
	const char *property;
	struct str note;
};

static void write_object(const struct record *record, const struct noted *noted, struct json_writer *w);

static void write_enum(const struct enum_type *type, struct json_writer *w)
{
	jw_key(w, "enum");
	jw_array(w);
	for (size_t i = 0; i < type->count; i++) {
		if (!type->words[i].is_alias && enum_word_wire(type, i)[0])
			jw_cstr(w, enum_word_wire(type, i));
	}
	jw_array_end(w);
}

static void write_type(const struct field *field, struct json_writer *w)
{
	static const char *const names[] = {
		[FIELD_str] = "string",  [FIELD_bool] = "boolean", [FIELD_i64] = "number",    [FIELD_f64] = "number",
		[FIELD_enum] = "string", [FIELD_strs] = "array",   [FIELD_records] = "array", [FIELD_ints] = "array",
	};
	if (field->kind == FIELD_record) {
		write_object(field_type(field), NULL, w);
		return;
	}
	jw_member_cstr(w, "type", names[field->kind]);
	if (field->kind == FIELD_enum)
		write_enum(field_type(field), w);
	if (field->kind != FIELD_strs && field->kind != FIELD_records && field->kind != FIELD_ints)
		return;
	jw_key(w, "items");
	jw_object(w);
	if (field->kind == FIELD_strs)
		jw_member_cstr(w, "type", "string");
	else if (field->kind == FIELD_ints)
		jw_member_cstr(w, "type", "number");
	else
		write_object(field_type(field), NULL, w);
	jw_object_end(w);
}

static void write_object(const struct record *record, const struct noted *noted, struct json_writer *w)
{
	jw_member_cstr(w, "type", "object");
	jw_key(w, "properties");
	jw_object(w);
	record_for_each(field, record) {
		bool is_noted = noted && strcmp(field_name(record, field), noted->property) == 0;
		struct str note = is_noted ? noted->note : STR("");
		if (!note.ptr)
			continue;
		jw_key(w, field_name(record, field));
		jw_object(w);
		write_type(field, w);
		jw_key(w, "description");
		jw_strf(w, "%s%.*s", field_doc(record, field), STR_ARG(note));
		jw_object_end(w);
	}
	jw_object_end(w);
	jw_key(w, "required");
	jw_array(w);
	record_for_each(field, record) {
		/* DEF is listed as required, too; the tool decides whether a call may omit it */
		if (field->presence == REQ || field->presence == DEF)
			jw_cstr(w, field_name(record, field));
	}
	jw_array_end(w);
	jw_member_bool(w, "additionalProperties", false);
}

static void write_freeform(const struct tool_type *type, bool has_places, struct json_writer *w)
{
	jw_member_cstr(w, "type", "custom");
	jw_member_cstr(w, "name", type->wire);
	jw_member_str(w, "description", *type->description);
	jw_key(w, "format");
	jw_object(w);
	jw_member_cstr(w, "type", "grammar");
	jw_member_cstr(w, "syntax", "lark");
	jw_key(w, "definition");
	jw_strf(w, "%s%s", has_places ? place_grammar : "",
	        has_places ? strchr(apply_patch_grammar, '\n') + 1 : apply_patch_grammar);
	jw_object_end(w);
}

static void write_function(const struct tool_type *type, const char *note, const struct noted *noted,
                           struct json_writer *w)
{
	jw_member_cstr(w, "type", "function");
	jw_member_cstr(w, "name", type->wire);
	jw_key(w, "description");
	jw_strf(w, "%.*s%s", STR_ARG(*type->description), note);
	jw_member_bool(w, "strict", false);
	jw_key(w, "parameters");
	jw_object(w);
	write_object(type->args, noted, w);
	jw_object_end(w);
}

static const struct noted without_places = {"environment_id", {NULL, 0}};

void tool_spec_write(const struct tool_type *type, bool freeform, bool has_places, struct json_writer *w)
{
	jw_object(w);
	if (freeform && (type->flags & TOOL_FREEFORM))
		write_freeform(type, has_places, w);
	else
		write_function(type, "", has_places ? NULL : &without_places, w);
	jw_object_end(w);
}

void tool_spec_write_noted(const struct tool_type *type, const char *note, bool has_places, struct json_writer *w)
{
	jw_object(w);
	write_function(type, note, has_places ? NULL : &without_places, w);
	jw_object_end(w);
}

static void begin_namespace(struct json_writer *w, const char *name, const char *description)
{
	jw_object(w);
	jw_member_cstr(w, "type", "namespace");
	jw_member_cstr(w, "name", name);
	jw_member_cstr(w, "description", description);
	jw_key(w, "tools");
	jw_array(w);
}

void tool_spec_write_clock(struct json_writer *w)
{
	struct tool_type sleep = *tool_get(TOOL_clock_sleep);
	sleep.wire += strlen("clock__");
	begin_namespace(w, "clock", "");
	tool_spec_write(&sleep, false, false, w);
	jw_array_end(w);
	jw_object_end(w);
}

void tool_spec_write_agents(bool is_team, struct str roles, struct json_writer *w)
{
	const struct noted noted = {"agent_type", roles};
	unsigned flag = is_team ? TOOL_OF_TEAM : TOOL_OF_AGENTS;
	begin_namespace(w, is_team ? TOOL_TEAM : TOOL_AGENTS,
	                "Agents that work beside you: start them, "
	                "tell them things, wait for them."); /* words: quoted */
	for (int tag = 0; tag < TOOL_count; tag++) {
		if (!(tool_get((enum tool_tag)tag)->flags & flag))
			continue;
		jw_object(w);
		write_function(tool_get((enum tool_tag)tag), "", &noted, w);
		jw_object_end(w);
	}
	jw_array_end(w);
	jw_object_end(w);
}
