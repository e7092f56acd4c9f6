/* A response ends where an item follows that is not the model's: an output, a message of the user or of the program. To
 * answer from the record, a call becomes a command that prints the recorded output, so that nothing runs or changes. */
#include "ui/sessions/script.h"

#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "rollout/rollout_reader.h"

struct script {
	const struct rollout_reader *reader;
	const struct script_options *options;
	struct arena arena; /* the tree of one item */
	struct buf *out;
	bool is_open; /* a reply has begun */
};

/* ---- masks ---- */

static bool is_word_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       strchr("_-./+=", c) != NULL;
}

/* The beginnings of well-known keys, and of words that precede a secret. */
static const char *const key_heads[] = {"sk-",   "ghp_", "gho_", "github_pat_", "xoxb-",
                                        "xoxp-", "AKIA", "AIza", "glpat-",      "hf_"};
static const char *const before_secret[] = {"Bearer ", "API_KEY=", "TOKEN=", "SECRET=", "PASSWORD="};
enum { SECRET_MIN = 12 };

static size_t word_length(struct str text)
{
	size_t len = 0;
	while (len < text.len && is_word_char(text.ptr[len]))
		len++;
	return len;
}

/* Returns the length of a secret at the beginning of the text; *ret_kept: the part of it that is shown. */
static size_t secret_length(struct str text, size_t *ret_kept)
{
	for (size_t i = 0; i < countof(key_heads); i++) {
		*ret_kept = strlen(key_heads[i]);
		if (str_has_prefix(text, key_heads[i]) && word_length(text) >= SECRET_MIN)
			return word_length(text);
	}
	for (size_t i = 0; i < countof(before_secret); i++) {
		*ret_kept = strlen(before_secret[i]);
		if (str_has_prefix(text, before_secret[i]) && word_length(str_skip(text, *ret_kept)))
			return *ret_kept + word_length(str_skip(text, *ret_kept));
	}
	return 0;
}

static bool replace_path(struct buf *out, struct str *text, const char *path, const char *with)
{
	size_t len = path ? strlen(path) : 0;
	bool is_path = len > 1 && str_has_prefix(*text, path) &&
	               (text->len == len || !is_word_char(text->ptr[len]) || text->ptr[len] == '/');
	if (!is_path)
		return false;
	buf_append_c(out, with);
	*text = str_skip(*text, len);
	return true;
}

static void append_masked(const struct script *script, struct str text, struct buf *out)
{
	auto_free char *cwd = str_dup(script->reader->meta.cwd);
	char before = ' ';
	while (text.len) {
		size_t kept, len = is_word_char(before) && before != '=' ? 0 : secret_length(text, &kept);
		if (len) {
			buf_append_str(out, str_n(text.ptr, kept));
			buf_append_c(out, "***");
			text = str_skip(text, len);
		} else if (!replace_path(out, &text, cwd, "/workspace") &&
		           !replace_path(out, &text, script->options->home, "/home/user")) {
			before = text.ptr[0];
			buf_append_char(out, before);
			text = str_skip(text, 1);
		}
	}
}

static struct str shown(struct script *script, struct str text)
{
	auto_buf struct buf masked;
	buf_init(&masked, LIMIT_ROLLOUT_FILE);
	if (!script->options->is_masked || !text.ptr)
		return text;
	append_masked(script, text, &masked);
	return arena_str(&script->arena, buf_str(&masked));
}

/* ---- replies ---- */

static void end_reply(struct script *script)
{
	if (script->is_open)
		buf_append_c(script->out, "]}\n");
	script->is_open = false;
}

static struct json_writer begin_step(struct script *script)
{
	buf_append_c(script->out, script->is_open ? ", " : "{\"reply\": [");
	script->is_open = true;
	struct json_writer w = json_writer(script->out);
	jw_object(&w);
	return w;
}

/* Writes a text as comment lines. */
static void write_comment(struct script *script, const char *what, struct str text)
{
	struct str line;
	end_reply(script);
	buf_printf(script->out, "# %s\n", what);
	while (str_next_line(&text, &line))
		buf_printf(script->out, "#   %.*s\n", STR_ARG(line));
}

static struct str text_of(struct script *script, const struct json *content)
{
	auto_buf struct buf text;
	struct str plain;
	buf_init(&text, LIMIT_ROLLOUT_LINE);
	if (json_to_str(content, &plain))
		return plain;
	json_for_each(it, content)
		buf_append_str(&text, json_get_str(it, "text"));
	return arena_str(&script->arena, buf_str(&text));
}

/* ---- calls ---- */

static const struct rollout_record *find_output(const struct script *script, const struct rollout_record *call)
{
	vec_for_each(it, &script->reader->records) {
		if (it > call && it->call == ROLLOUT_CALL_OUTPUT && str_eq(it->call_id, call->call_id))
			return it;
	}
	return NULL;
}

/* Writes a command that prints the text: it is quoted for the shell. */
static void write_print(struct json_writer *w, struct str text)
{
	auto_buf struct buf cmd, arguments;
	buf_init(&cmd, LIMIT_ROLLOUT_LINE);
	buf_init(&arguments, 2 * LIMIT_ROLLOUT_LINE);
	buf_append_c(&cmd, "printf %s '");
	for (size_t i = 0; i < text.len; i++)
		buf_append_c(&cmd, text.ptr[i] == '\'' ? "'\\''" : (char[]){text.ptr[i], '\0'});
	buf_append_char(&cmd, '\'');
	struct json_writer inner = json_writer(&arguments);
	jw_object(&inner);
	jw_member_str(&inner, "cmd", buf_str(&cmd));
	jw_object_end(&inner);
	jw_member_cstr(w, "call", "exec_command");
	jw_member_str(w, "arguments", buf_str(&arguments));
}

/* The output of a command follows a head about it, which the new command has as well. */
static struct str bare_output(struct str text)
{
	ptrdiff_t at = str_find(text, STR("\nOutput:\n"));
	return at < 0 ? text : str_skip(text, (size_t)at + strlen("\nOutput:\n"));
}

static bool write_answer(struct script *script, const struct rollout_record *record, struct json_writer *w)
{
	const struct rollout_record *output = find_output(script, record);
	const struct json *json = output ? json_parse(&script->arena, output->payload, NULL) : NULL;
	const struct json *value = json_get(json, "output");
	if (!value)
		return false;
	struct str text = text_of(script, json_is(value, JSON_object) ? json_get(value, "content") : value);
	write_print(w, shown(script, bare_output(text)));
	return true;
}

static void write_call(struct script *script, const struct rollout_record *record, const struct json *item)
{
	bool is_custom = str_is(json_get_str(item, "type"), "custom_tool_call");
	struct json_writer w = begin_step(script);
	if (!script->options->answers || !write_answer(script, record, &w)) {
		jw_member_str(&w, is_custom ? "custom" : "call", json_get_str(item, "name"));
		jw_member_str(&w, is_custom ? "input" : "arguments",
		              shown(script, json_get_str(item, is_custom ? "input" : "arguments")));
	}
	jw_member_str(&w, "call_id", json_get_str(item, "call_id"));
	jw_object_end(&w);
}

/* ---- items ---- */

static void write_message(struct script *script, const struct json *item)
{
	struct str role = json_get_str(item, "role"), text = shown(script, text_of(script, json_get(item, "content")));
	if (str_is(role, "assistant")) {
		struct json_writer w = begin_step(script);
		jw_member_str(&w, "message", text);
		jw_object_end(&w);
	} else {
		end_reply(script);
	}
}

/* Reasoning is not repeated: its encrypted content is of use to the provider alone. */
static void write_item(struct script *script, const struct rollout_record *record, const struct json *item)
{
	struct str type = json_get_str(item, "type");
	if (str_is(type, "message"))
		write_message(script, item);
	else if ((str_is(type, "function_call") && !json_get_str(item, "namespace").ptr) ||
	         str_is(type, "custom_tool_call"))
		write_call(script, record, item);
	else if (record->call == ROLLOUT_CALL_OUTPUT)
		end_reply(script);
	else if (!str_is(type, "reasoning")) {
		struct json_writer w = begin_step(script);
		jw_key(&w, "item");
		jw_raw(&w, shown(script, record->payload));
		jw_object_end(&w);
	}
}

void script_write(const struct rollout_reader *reader, const struct script_options *options, struct buf *out)
{
	struct script script = {.reader = reader, .options = options, .out = out};
	buf_printf(out, "# Session %.*s as a script: codex mock-model --script FILE\n",
	           STR_ARG(reader->meta.thread_id));
	vec_for_each(it, &reader->records) {
		arena_reset(&script.arena);
		const struct json *item =
			it->type == LINE_response_item ? json_parse(&script.arena, it->payload, NULL) : NULL;
		if (item && it->role == ROLLOUT_USER)
			write_comment(&script, "prompt:", shown(&script, text_of(&script, json_get(item, "content"))));
		else if (item)
			write_item(&script, it, item);
	}
	end_reply(&script);
	arena_finish(&script.arena);
}
