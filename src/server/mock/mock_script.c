/* A script is read and validated completely before the first request is answered. The text is copied once into the
 * arena and the JSON trees borrow from the copy. Line ends inside a reply are replaced by spaces, because the data line
 * of an event must not contain them; in JSON they are only white space. */
#include "server/mock/mock_script.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "server/mock/mock_limits.h"

struct reader {
	struct arena *arena;
	char *at;
	char *end;
	unsigned line; /* the line of `at` */
};

typedef int (*key_read_fn)(struct arena *arena, const struct json *node, void *field, struct error *err);

static int read_steps(struct arena *arena, const struct json *node, void *field, struct error *err)
{
	return mock_steps_parse(arena, node, field, err);
}

static int read_match(struct arena *arena, const struct json *node, void *field, struct error *err)
{
	(void)arena;
	return mock_match_parse(field, node, err);
}

static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!(name.ptr[i] == '_' || (name.ptr[i] >= 'a' && name.ptr[i] <= 'z')))
			return false;
	return name.len > 0 && !str_is(name, "i");
}

static int read_takes(struct arena *arena, const struct json *node, void *field, struct error *err)
{
	struct mock_take *take = arena_array(arena, struct mock_take, node->count ? node->count : 1);
	*(struct mock_takes *)field = (struct mock_takes){take, node->count};
	if (!json_is(node, JSON_object))
		return error_set(err, ERR_invalid, "must be an object: {\"name\": {\"from\": PATH, \"after\": TEXT}}");
	json_for_each(value, node) {
		*take = (struct mock_take){value->key, json_get_str(value, "from"), json_get_str(value, "after")};
		if (!is_name(take->name))
			return error_set(err, ERR_invalid,
			                 "\"%.*s\" is not a valid name: use letters a to z and _, and not i alone",
			                 STR_ARG(take->name));
		if (!take->from.ptr || !take->after.ptr || value->count != 2)
			return error_set(err, ERR_invalid, "\"%.*s\" must be {\"from\": PATH, \"after\": TEXT}",
			                 STR_ARG(take->name));
		take++;
	}
	return 0;
}

static int read_times(struct arena *arena, const struct json *node, void *field, struct error *err)
{
	uint64_t times = MOCK_FOREVER;
	bool is_forever = json_is(node, JSON_string) && str_is(node->text, "forever");
	(void)arena;
	if (!is_forever && (!json_to_u64(node, &times) || times == 0))
		return error_set(err, ERR_invalid, "must be a whole number from 1 or \"forever\"");
	*(uint64_t *)field = times;
	return 0;
}

static int read_headers(struct arena *arena, const struct json *node, void *field, struct error *err)
{
	(void)arena;
	*(const struct json **)field = node;
	return mock_headers_check(node, err);
}

static const struct key_row {
	const char *name;
	key_read_fn read;
	size_t offset;
} keys[] = {
#define KEY(name, kind) {#name, read_##kind, offsetof(struct mock_reply, name)},
#include "server/mock/mock_script.def"
};

static const struct key_row *key_row_find(struct str name)
{
	for (size_t i = 0; i < countof(keys); i++)
		if (str_is(name, keys[i].name))
			return &keys[i];
	return NULL;
}

static int read_key(struct arena *arena, const struct json *value, struct mock_reply *reply, struct error *err)
{
	const struct key_row *row = key_row_find(value->key);
	if (!row)
		return error_set(err, ERR_invalid,
		                 "\"%.*s\" is unknown here; a reply has \"reply\": [STEPS] and may have when, expect, "
		                 "take, times and headers",
		                 STR_ARG(value->key));
	if (row->read(arena, value, (char *)reply + row->offset, err) < 0)
		return error_wrap(err, "\"%s\"", row->name);
	return 0;
}

static int read_reply(struct arena *arena, const struct json *node, struct mock_reply *reply, struct error *err)
{
	if (!json_is(node, JSON_object))
		return error_set(err, ERR_invalid, "a reply is an object: {\"reply\": [STEPS]}");
	reply->times = 1;
	json_for_each(value, node) {
		int rc = read_key(arena, value, reply, err);
		if (rc < 0)
			return rc;
	}
	if (!json_get(node, "reply"))
		return error_set(err, ERR_invalid, "\"reply\" is missing: {\"reply\": [STEPS]}");
	reply->has_when = json_get(node, "when");
	reply->is_wire = mock_steps_has(&reply->reply, MOCK_STEP_wire);
	return 0;
}

/* Overwrites a comment with spaces. Returns the end of its line. */
static char *blank_comment(struct reader *reader, char *at)
{
	while (at < reader->end && *at != '\n')
		*at++ = ' ';
	return at;
}

/* Overwrites the line at `at` if it contains nothing but a comment. Returns the end of the line. */
static char *skip_comment_line(struct reader *reader, char *at)
{
	char *text = at;
	while (text < reader->end && (*text == ' ' || *text == '\t'))
		text++;
	return text < reader->end && *text == '#' ? blank_comment(reader, text) : at;
}

/* Skips white space and comments up to the first byte of a reply. False at the end of the script. */
static bool find_reply(struct reader *reader)
{
	for (; reader->at < reader->end; reader->at++) {
		if (*reader->at == '#')
			reader->at = blank_comment(reader, reader->at);
		if (reader->at == reader->end)
			break;
		reader->line += *reader->at == '\n';
		if (*reader->at != ' ' && *reader->at != '\t' && *reader->at != '\r' && *reader->at != '\n')
			return true;
	}
	return false;
}

/* Returns the position after the bracket that closes the one at `at`, or the end of the script. */
static char *find_end(struct reader *reader, char *at)
{
	unsigned depth = 0;
	bool in_string = false;
	for (; at < reader->end; at++) {
		if (in_string && *at == '\\' && at + 1 < reader->end)
			at++;
		else if (*at == '"')
			in_string = !in_string;
		else if (*at == '\n')
			at = skip_comment_line(reader, at + 1) - 1;
		else if (!in_string && (*at == '{' || *at == '['))
			depth++;
		else if (!in_string && (*at == '}' || *at == ']') && --depth == 0)
			return at + 1;
	}
	return reader->end;
}

/* Finds the text of the next reply: from its bracket to the one that closes it, or the rest of the line if there is
 * no bracket. */
static bool next_text(struct reader *reader, struct str *ret)
{
	if (!find_reply(reader))
		return false;
	char *start = reader->at;
	if (*start == '{' || *start == '[') {
		reader->at = find_end(reader, start);
	} else {
		char *newline = memchr(start, '\n', (size_t)(reader->end - start));
		reader->at = newline ? newline : reader->end;
	}
	*ret = str_n(start, (size_t)(reader->at - start));
	return true;
}

/* Parses the invalid text again after as many empty lines as precede it, so that the error names the script's line. */
static int json_error_at(struct str text, unsigned line, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf lines;
	buf_init(&lines, 2 * (size_t)LIMIT_MOCK_SCRIPT);
	for (unsigned i = 1; i < line; i++)
		buf_append_char(&lines, '\n');
	buf_append_str(&lines, text);
	best_effort(json_parse(&arena, buf_str(&lines), err));
	return -ERR_invalid;
}

static unsigned join_lines(struct str text)
{
	unsigned count = 0;
	for (char *at = (char *)text.ptr; at < text.ptr + text.len; at++) {
		count += *at == '\n';
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	}
	return count;
}

static int read_next(struct reader *reader, struct str text, struct mock_reply *reply, struct error *err)
{
	const struct json *node = json_parse(reader->arena, text, NULL);
	if (!node)
		return json_error_at(text, reader->line, err);
	reply->line = reader->line;
	if (read_reply(reader->arena, node, reply, err) < 0)
		return error_wrap(err, "line %u", reply->line);
	reader->line += join_lines(text);
	return 0;
}

/* Rejects an ordered reply after one that answers all further requests, because it would never be used. */
static int check_order(const struct mock_reply *replies, size_t count, struct error *err)
{
	const struct mock_reply *forever = NULL;
	for (const struct mock_reply *reply = replies; reply < replies + count; reply++) {
		if (reply->has_when)
			continue;
		if (forever)
			return error_set(err, ERR_invalid, "line %u: never reached: line %u repeats forever",
			                 reply->line, forever->line);
		if (reply->times == MOCK_FOREVER)
			forever = reply;
	}
	return 0;
}

int mock_script_parse(struct mock_script *script, struct str text, struct error *err)
{
	VEC(struct mock_reply) replies = {0};
	struct str chunk;
	int rc = 0;
	*script = (struct mock_script){0};
	if (text.len > LIMIT_MOCK_SCRIPT)
		return error_set(err, ERR_limit, "larger than %d bytes", LIMIT_MOCK_SCRIPT);
	struct str copy = arena_str(&script->arena, text);
	struct reader reader = {&script->arena, (char *)copy.ptr, (char *)copy.ptr + copy.len, 1};
	while (rc == 0 && next_text(&reader, &chunk)) {
		vec_push(&replies, (struct mock_reply){0});
		rc = read_next(&reader, chunk, &replies.items[replies.count - 1], err);
	}
	script->replies = replies.items;
	script->count = replies.count;
	if (rc == 0 && script->count == 0)
		rc = error_set(err, ERR_invalid,
		               "no reply in it; a reply looks like {\"reply\": [{\"message\": \"Hello.\"}]}");
	return rc < 0 ? rc : check_order(script->replies, script->count, err);
}

int mock_script_read(struct mock_script *script, const char *path, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_MOCK_SCRIPT);
	*script = (struct mock_script){0};
	int rc = file_read(path, &text, err);
	if (rc < 0)
		return rc;
	return mock_script_parse(script, buf_str(&text), err) < 0 ? error_wrap(err, "%s", path) : 0;
}

void mock_script_finish(struct mock_script *script)
{
	free(script->replies);
	arena_finish(&script->arena);
	*script = (struct mock_script){0};
}

static bool is_candidate(const struct mock_reply *reply, const struct mock_request *request, bool has_when)
{
	return reply->times > 0 && reply->has_when == has_when &&
	       (!has_when || mock_match_check(&reply->when, request, NULL));
}

const struct mock_reply *mock_script_take(struct mock_script *script, const struct mock_request *request)
{
	for (int has_when = 1; has_when >= 0; has_when--) {
		for (size_t i = 0; i < script->count; i++) {
			struct mock_reply *reply = &script->replies[i];
			if (!is_candidate(reply, request, has_when))
				continue;
			if (reply->times != MOCK_FOREVER)
				reply->times--;
			return reply;
		}
	}
	return NULL;
}
