/* The events of libyaml are converted to JSON text, which is then parsed, so that the program has one type of tree; the
 * JSON parser limits the depth. */
#include "skill/yaml.h"

#include <yaml.h>

#include "base/error.h"
#include "base/library.h"
#include "base/limits.h"

/* ---- the library ---- */

/* library.parser_parse is yaml_parser_parse, and so on. */
struct libyaml {
#define YAML(name) __typeof__(&yaml_##name) name;
#include "skill/yaml_libyaml.def"
#undef YAML
};

/* Loaded with the first front matter: most sessions have none. */
static struct libyaml library;

static const char *const names[] = {
#define YAML(name) "yaml_" #name,
#include "skill/yaml_libyaml.def"
#undef YAML
};

LIBRARY(libyaml, library, names, LIBRARY_ROW(libyaml), .purpose = "libyaml, which reads front matter");

/* ---- documents ---- */

struct reader {
	yaml_parser_t parser;
	struct json_writer w;
	unsigned depth;
	struct error *err;
};

static int fail_at(struct reader *reader, const char *what, yaml_mark_t mark)
{
	return error_set(reader->err, ERR_invalid, "%s at line %zu column %zu", what, mark.line + 1, mark.column + 1);
}

static int next(struct reader *reader, yaml_event_t *event)
{
	if (library.parser_parse(&reader->parser, event))
		return 0;
	const char *problem = reader->parser.problem ? reader->parser.problem : "it cannot be read";
	if (reader->parser.error == YAML_READER_ERROR) /* for text that is not UTF-8 no line number is known */
		return error_set(reader->err, ERR_invalid, "%s at byte %zu", problem, reader->parser.problem_offset);
	return fail_at(reader, problem, reader->parser.problem_mark);
}

static struct str scalar_text(const yaml_event_t *event)
{
	return str_n((const char *)event->data.scalar.value, event->data.scalar.length);
}

static void write_scalar(struct reader *reader, const yaml_event_t *event)
{
	struct str text = scalar_text(event);
	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE ||
	    (text.len && !str_is(text, "~") && !str_is(text, "null")))
		jw_str(&reader->w, text);
	else
		jw_null(&reader->w);
}

static int write_node(struct reader *reader, const yaml_event_t *event);

static int write_items(struct reader *reader, yaml_event_type_t end)
{
	for (;;) {
		yaml_event_t event;
		if (next(reader, &event) != 0)
			return -1;
		bool is_end = event.type == end;
		int status = is_end ? 0 : write_node(reader, &event);
		library.event_delete(&event);
		if (is_end || status != 0)
			return status;
	}
}

/* Returns true if a key was written; otherwise *ret_status is set. */
static bool write_key(struct reader *reader, int *ret_status)
{
	yaml_event_t event;
	*ret_status = next(reader, &event);
	if (*ret_status != 0)
		return false;
	bool is_key = event.type == YAML_SCALAR_EVENT;
	if (is_key)
		jw_key_str(&reader->w, scalar_text(&event));
	else if (event.type != YAML_MAPPING_END_EVENT)
		*ret_status = fail_at(reader, "a key must be plain text", event.start_mark);
	library.event_delete(&event);
	return is_key;
}

static int write_members(struct reader *reader)
{
	int status;
	while (write_key(reader, &status)) {
		yaml_event_t event;
		if (next(reader, &event) != 0)
			return -1;
		status = write_node(reader, &event);
		library.event_delete(&event);
		if (status != 0)
			return status;
	}
	return status;
}

static int write_inner(struct reader *reader, const yaml_event_t *event)
{
	bool is_list = event->type == YAML_SEQUENCE_START_EVENT;
	if (++reader->depth > LIMIT_FRONT_MATTER_DEPTH)
		return fail_at(reader, "nested too deep", event->start_mark);
	if (is_list)
		jw_array(&reader->w);
	else
		jw_object(&reader->w);
	int status = is_list ? write_items(reader, YAML_SEQUENCE_END_EVENT) : write_members(reader);
	if (is_list)
		jw_array_end(&reader->w);
	else
		jw_object_end(&reader->w);
	reader->depth--;
	return status;
}

static int write_node(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		write_scalar(reader, event);
		return 0;
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return write_inner(reader, event);
	case YAML_ALIAS_EVENT:
		return fail_at(reader, "an alias (*name) cannot be used here", event->start_mark);
	default:
		return fail_at(reader, "a value was expected", event->start_mark);
	}
}

/* stream start, document start, the node, document end, stream end */
static int write_stream(struct reader *reader)
{
	bool has_node = false;
	for (;;) {
		yaml_event_t event;
		int status = 0;
		if (next(reader, &event) != 0)
			return -1;
		yaml_event_type_t type = event.type;
		bool is_frame = type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT ||
		                type == YAML_DOCUMENT_END_EVENT || type == YAML_STREAM_END_EVENT;
		if (!is_frame && has_node)
			status = fail_at(reader, "a second document", event.start_mark);
		else if (!is_frame)
			status = write_node(reader, &event);
		has_node |= !is_frame;
		library.event_delete(&event);
		if (status != 0 || type == YAML_STREAM_END_EVENT)
			return status;
	}
}

const struct json *yaml_read(struct arena *arena, struct str text, struct error *err)
{
	auto_buf struct buf out;
	struct error failure;
	struct reader reader = {.w = json_writer(&out), .err = err ? err : &failure};
	buf_init(&out, (size_t)LIMIT_FRONT_MATTER * 6 + KIB);
	if (library_load(&libyaml, err) != 0)
		return NULL;
	if (text.len > LIMIT_FRONT_MATTER) {
		error_set(err, ERR_limit, "more than %d KiB of front matter", LIMIT_FRONT_MATTER / KIB);
		return NULL;
	}
	if (!library.parser_initialize(&reader.parser)) {
		error_set(err, ERR_internal, "no memory for YAML");
		return NULL;
	}
	library.parser_set_input_string(&reader.parser, (const unsigned char *)text.ptr, text.len);
	int status = write_stream(&reader);
	library.parser_delete(&reader.parser);
	if (status != 0)
		return NULL;
	return json_parse_copy(arena, out.len ? buf_str(&out) : STR("null"), err);
}

/* ---- front matter ---- */

/* Blanks around the delimiters are ignored, because editors and Windows leave them. */
static bool is_delimiter(struct str line)
{
	return str_is(str_trim(line), "---");
}

bool yaml_split_front_matter(struct str text, struct str *ret_yaml, struct str *ret_body)
{
	struct str rest = text, line;
	str_cut_prefix(&rest, "\xef\xbb\xbf");
	if (!str_next_line(&rest, &line) || !is_delimiter(line))
		return false;
	const char *from = rest.ptr;
	while (str_next_line(&rest, &line)) {
		if (!is_delimiter(line))
			continue;
		*ret_yaml = str_n(from, (size_t)(line.ptr - from));
		*ret_body = rest;
		return str_trim(*ret_yaml).len > 0;
	}
	return false;
}

struct str yaml_get_line(const struct json *front, const char *key, struct arena *arena)
{
	struct str text = str_trim(json_get_str(front, key));
	if (!text.len)
		return STR_NONE;
	char *to = arena_alloc(arena, text.len + 1);
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		bool is_blank = strchr(" \t\n\v\f\r", text.ptr[i]) && text.ptr[i];
		if (!is_blank)
			to[len++] = text.ptr[i];
		else if (to[len - 1] != ' ')
			to[len++] = ' ';
	}
	return str_n(to, len);
}
