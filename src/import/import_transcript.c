/* Calls of tools have names and arguments that no tool here has, so they become text between markers, which are those
 * of codex 0.169: its threads and ours look the same to a client. */
#include "import/import_transcript.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "import/import_limits.h"

struct reading {
	import_message_fn take;
	void *self;
	struct arena *arena;
	struct import_transcript *result;
	struct str first;   /* the beginning of the first message of the user */
	bool has_own_title; /* the user has named the session */
	bool has_begun;     /* there was a message of the user */
	struct buf text;    /* of the message */
	struct error *err;
};

/* ---- text ---- */

/* Appends the beginning of a text; a longer one ends with dots. */
static void add_short(struct buf *out, struct str text, size_t most)
{
	bool is_long = text.len > most;
	buf_append_str(out, is_long ? str_n(text.ptr, text_floor_boundary(text, most - 3)) : text);
	buf_append_c(out, is_long ? "..." : "");
}

static void begin_block(struct buf *out)
{
	if (out->len)
		buf_append_c(out, "\n\n");
}

static void add_call(struct buf *out, const struct json *block)
{
	static const struct {
		const char *key, *shown;
	} known[] = {{"description", "description"}, {"command", "command"}, {"file_path", "file"}};
	const struct json *input = json_get(block, "input");
	bool is_shown = false;
	buf_append_c(out, "[external_agent_tool_call: ");
	add_short(out, json_get_str(block, "name"), LIMIT_IMPORT_NAME);
	buf_append_c(out, "]\n");
	for (size_t i = 0; i < countof(known); i++) {
		struct str value = json_get_str(input, known[i].key);
		if (!value.len)
			continue;
		buf_printf(out, "%s: ", known[i].shown);
		buf_append_str(out, value);
		buf_append_char(out, '\n');
		is_shown = true;
	}
	if (!is_shown) {
		buf_append_c(out, "input: ");
		add_short(out, input ? input->span : STR("{}"), LIMIT_IMPORT_SESSION_OUTPUT);
		buf_append_char(out, '\n');
	}
	buf_append_c(out, "[/external_agent_tool_call]");
}

static void add_output(struct buf *out, const struct json *block)
{
	auto_buf struct buf text;
	const struct json *content = json_get(block, "content");
	buf_init(&text, LIMIT_IMPORT_SESSION);
	buf_append_str(&text, json_is(content, JSON_string) ? content->text : STR(""));
	json_for_each(part, json_is(content, JSON_array) ? content : NULL) {
		struct str words = json_get_str(part, "text");
		if (text.len && words.len)
			buf_append_char(&text, '\n');
		buf_append_str(&text, words);
	}
	buf_printf(out, "[external_agent_tool_result%s]\n", json_get_bool(block, "is_error", false) ? ": error" : "");
	add_short(out, buf_str(&text), LIMIT_IMPORT_SESSION_OUTPUT);
	buf_append_c(out, text.len ? "\n[/external_agent_tool_result]" : "[/external_agent_tool_result]");
}

static void add_unknown(struct buf *out, struct str type)
{
	size_t len = type.len > LIMIT_IMPORT_NAME ? text_floor_boundary(type, LIMIT_IMPORT_NAME) : type.len;
	buf_printf(out, "[external unsupported block: %.*s]", STR_ARG(str_n(type.ptr, len)));
}

static bool is_output(const struct json *block)
{
	return str_is(json_get_str(block, "type"), "tool_result");
}

/* Appends a part of a message. */
static void add_block(struct buf *out, const struct json *block)
{
	struct str type = json_get_str(block, "type"), text = json_get_str(block, "text");
	if (str_is(type, "thinking") || (str_is(type, "text") && str_is_blank(text)))
		return;
	begin_block(out);
	if (is_output(block))
		add_output(out, block);
	else if (str_is(type, "tool_use"))
		add_call(out, block);
	else if (str_is(type, "text"))
		buf_append_str(out, text);
	else
		add_unknown(out, type);
}

/* ---- messages ---- */

/* True for what a command of the other agent has left, which makes no title. */
static bool is_command(struct str text)
{
	return str_has_prefix(text, "<command-") || str_has_prefix(text, "<local-command-");
}

static void take_title(struct reading *reading, struct str text)
{
	struct str line, rest = str_trim(text);
	auto_buf struct buf title;
	buf_init(&title, LIMIT_IMPORT_SESSION_TITLE + 8);
	if (reading->first.ptr || is_command(rest) || !str_next_line(&rest, &line))
		return;
	add_short(&title, str_trim(line), LIMIT_IMPORT_SESSION_TITLE);
	reading->first = arena_str(reading->arena, buf_str(&title));
	reading->result->is_named = reading->has_begun;
}

static int take_text(struct reading *reading, bool is_user, int64_t at_ms)
{
	const struct import_message message = {is_user, buf_str(&reading->text), at_ms};
	if (!message.text.len || reading->text.over || (!reading->has_begun && !is_user))
		return 0;
	if (is_user)
		take_title(reading, message.text);
	reading->has_begun = true;
	return reading->take ? reading->take(&message, reading->self, reading->err) : 0;
}

/* Outputs of tools are in messages of the user there. They become messages of the agent, because a model trusts the
 * words of the user. */
static int take_message(struct reading *reading, const struct json *line, bool is_user)
{
	int status = 0;
	int64_t at_ms = 0;
	const struct json *content = json_path(line, "message.content");
	if (!clock_parse_rfc3339(json_get_str(line, "timestamp"), &at_ms))
		at_ms = 0;
	for (int wants_output = is_user; wants_output >= 0 && status == 0; wants_output--) {
		buf_reuse(&reading->text);
		if (!wants_output && json_is(content, JSON_string) && !str_is_blank(content->text))
			buf_append_str(&reading->text, content->text);
		json_for_each(block, json_is(content, JSON_array) ? content : NULL) {
			if (!is_user || is_output(block) == wants_output)
				add_block(&reading->text, block);
		}
		status = take_text(reading, is_user && !wants_output, at_ms);
	}
	return status;
}

/* Takes the title that the user or the agent has given, of which the user's counts. */
static void take_name(struct reading *reading, const struct json *line, bool is_own)
{
	struct str name = str_trim(json_get_str(line, is_own ? "customTitle" : "aiTitle"));
	if (!name.len || (reading->has_own_title && !is_own))
		return;
	reading->has_own_title |= is_own;
	name.len =
		name.len > LIMIT_IMPORT_SESSION_NAME ? text_floor_boundary(name, LIMIT_IMPORT_SESSION_NAME) : name.len;
	reading->result->title = arena_str(reading->arena, name);
}

static int take_line(struct reading *reading, const struct json *line)
{
	struct str type = json_get_str(line, "type"), cwd = json_get_str(line, "cwd");
	bool is_user = str_is(type, "user"), is_own = str_is(type, "custom-title");
	if (is_own || str_is(type, "ai-title"))
		take_name(reading, line, is_own);
	if ((!is_user && !str_is(type, "assistant")) || json_get_bool(line, "isMeta", false) ||
	    json_get_bool(line, "isSidechain", false))
		return 0;
	if (!reading->result->cwd.ptr && cwd.len)
		reading->result->cwd = arena_str(reading->arena, cwd);
	return take_message(reading, line, is_user);
}

int import_transcript_read(struct str text, import_message_fn take, void *self, struct arena *arena,
                           struct import_transcript *ret, struct error *err)
{
	int status = 0;
	struct str rest = text, line;
	struct reading reading = {.take = take, .self = self, .arena = arena, .result = ret, .err = err};
	*ret = (struct import_transcript){0};
	buf_init(&reading.text, LIMIT_IMPORT_SESSION);
	while (status == 0 && str_next_line(&rest, &line)) {
		struct error ignored;
		auto_arena struct arena own = {0};
		const struct json *json =
			line.len <= LIMIT_IMPORT_SESSION_LINE ? json_parse(&own, line, &ignored) : NULL;
		if (json)
			status = take_line(&reading, json);
	}
	buf_finish(&reading.text);
	if (!reading.has_begun)
		ret->title = STR_NONE;
	else if (ret->title.ptr)
		ret->is_named = true;
	else
		ret->title = reading.first.ptr ? reading.first : STR("Session of Claude Code");
	return status;
}
