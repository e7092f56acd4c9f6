/* One walk over the declarations serves all three functions: it writes the descriptor and reports each declared name.
 * A nested message has its own buffer, because its length precedes it. */
#include "server/grpc_descriptor.h"

#include <ctype.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "server/grpc_wire.h"

enum field_label { OPTIONAL = 1, REPEATED = 3 };
enum field_type { TYPE_MESSAGE = 11, TYPE_ENUM = 14 };

/* Numbers of fields in descriptor.proto. */
enum { FILE_NAME = 1, FILE_PACKAGE, FILE_DEPENDENCY, FILE_MESSAGE, FILE_ENUM, FILE_SERVICE, FILE_SYNTAX = 12 };
enum { NAME = 1 }; /* of all declarations */
enum { MESSAGE_FIELD = 2, MESSAGE_NESTED, MESSAGE_ENUM, MESSAGE_OPTIONS = 7, MESSAGE_ONEOF };
enum { FIELD_NUMBER = 3, FIELD_LABEL, FIELD_TYPE, FIELD_TYPE_NAME, FIELD_ONEOF = 9 };
enum { METHOD_INPUT = 2, METHOD_OUTPUT, METHOD_CLIENT_STREAMS = 5, METHOD_SERVER_STREAMS };

struct walk {
	struct str text, rest; /* rest: not yet read */
	struct str package;
	struct buf scope; /* the full name of the declaration that is read */
	void (*on_name)(struct walk *walk, bool is_service);
	struct str symbol; /* of grpc_declares */
	bool is_found;
	void (*on_service)(struct str name, void *self);
	void *self;
};

/* ---- words ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static void skip_blanks(struct str *rest)
{
	struct str line;
	for (;;) {
		*rest = str_trim_start(*rest);
		if (!str_has_prefix(*rest, "//"))
			return;
		str_next_line(rest, &line);
	}
}

/* Returns the next word, quoted text with its quotes, or character; an empty one at the end. */
static struct str next(struct walk *walk)
{
	skip_blanks(&walk->rest);
	struct str rest = walk->rest;
	size_t len = rest.len > 0;
	if (len && rest.ptr[0] == '"')
		len = (size_t)(str_find_char(str_skip(rest, 1), '"') + 2);
	else if (len && is_word(rest.ptr[0]))
		while (len < rest.len && is_word(rest.ptr[len]))
			len++;
	walk->rest = str_skip(rest, len);
	return str_n(rest.ptr, len);
}

static bool take(struct walk *walk, const char *word)
{
	struct walk before = *walk;
	if (str_is(next(walk), word))
		return true;
	walk->rest = before.rest;
	return false;
}

static struct str next_quoted(struct walk *walk)
{
	struct str word = next(walk);
	return word.len < 2 ? STR("") : str_n(word.ptr + 1, word.len - 2);
}

static uint64_t next_number(struct walk *walk)
{
	uint64_t number = 0;
	str_to_u64(next(walk), &number);
	return number;
}

/* ---- names ---- */

/* Enters the declaration of a name; returns a mark for leave. */
static size_t enter(struct walk *walk, struct str name, bool is_service)
{
	size_t mark = walk->scope.len;
	if (mark)
		buf_append_char(&walk->scope, '.');
	buf_append_str(&walk->scope, name);
	if (walk->on_name)
		walk->on_name(walk, is_service);
	return mark;
}

static void leave(struct walk *walk, size_t mark)
{
	buf_truncate(&walk->scope, mark);
}

static void declare(struct walk *walk, struct str name)
{
	leave(walk, enter(walk, name, false));
}

static bool is_enum(const struct walk *walk, struct str type)
{
	char text[80];
	ptrdiff_t dot = str_rfind_char(type, '.');
	snprintf(text, sizeof(text), "enum %.*s {", (int)(type.len - (size_t)(dot + 1)), type.ptr + dot + 1);
	return str_find(walk->text, str_of(text)) >= 0;
}

/* Appends the field of a type's full name. */
static void put_type_name(struct walk *walk, struct buf *out, uint32_t field, struct str type)
{
	auto_buf struct buf name;
	buf_init(&name, KIB);
	buf_append_char(&name, '.');
	if (!islower((unsigned char)type.ptr[0])) {
		buf_append_str(&name, walk->package);
		buf_append_char(&name, '.');
	}
	buf_append_str(&name, type);
	grpc_put_text(out, field, buf_str(&name));
}

static void put_type(struct walk *walk, struct buf *out, struct str type)
{
	static const struct {
		const char *name;
		unsigned type;
	} scalars[] = {{"double", 1}, {"uint64", 4}, {"int32", 5}, {"bool", 8}, {"string", 9}, {"uint32", 13}};
	for (size_t i = 0; i < countof(scalars); i++) {
		if (str_is(type, scalars[i].name)) {
			grpc_put_number(out, FIELD_TYPE, scalars[i].type);
			return;
		}
	}
	grpc_put_number(out, FIELD_TYPE, is_enum(walk, type) ? TYPE_ENUM : TYPE_MESSAGE);
	put_type_name(walk, out, FIELD_TYPE_NAME, type);
}

/* ---- declarations ---- */

struct field {
	struct str type, name;
	uint64_t number;
	enum field_label label;
	bool is_in_oneof;
};

static void put_field(struct walk *walk, struct buf *out, const struct field *field)
{
	auto_buf struct buf text;
	buf_init(&text, KIB);
	grpc_put_text(&text, NAME, field->name);
	grpc_put_number(&text, FIELD_NUMBER, field->number);
	grpc_put_number(&text, FIELD_LABEL, field->label);
	put_type(walk, &text, field->type);
	if (field->is_in_oneof)
		grpc_put_zero(&text, FIELD_ONEOF);
	grpc_put_text(out, MESSAGE_FIELD, buf_str(&text));
}

/* A map is a list of messages with the fields key and value, whose type is nested in the map's message. */
static void read_map(struct walk *walk, struct buf *out, const char *message)
{
	auto_buf struct buf entry;
	char name[80], type[160];
	buf_init(&entry, KIB);
	next(walk); /* < */
	struct field key = {.type = next(walk), .name = STR("key"), .number = 1, .label = OPTIONAL};
	next(walk); /* , */
	struct field value = {.type = next(walk), .name = STR("value"), .number = 2, .label = OPTIONAL};
	next(walk); /* > */
	struct field field = {.name = next(walk), .label = REPEATED};
	snprintf(name, sizeof(name), "%c%.*sEntry", toupper((unsigned char)field.name.ptr[0]), (int)field.name.len - 1,
	         field.name.ptr + 1);
	snprintf(type, sizeof(type), "%s.%s", message, name);
	next(walk); /* = */
	field.number = next_number(walk);
	field.type = str_of(type);
	grpc_put_text(&entry, NAME, str_of(name));
	put_field(walk, &entry, &key);
	put_field(walk, &entry, &value);
	grpc_put_text(&entry, MESSAGE_OPTIONS, STR("\x38\x01")); /* map_entry */
	grpc_put_text(out, MESSAGE_NESTED, buf_str(&entry));
	put_field(walk, out, &field);
	declare(walk, field.name);
}

static void read_field(struct walk *walk, struct buf *out, bool is_in_oneof)
{
	struct field field = {.label = take(walk, "repeated") ? REPEATED : OPTIONAL, .is_in_oneof = is_in_oneof};
	field.type = next(walk);
	field.name = next(walk);
	next(walk); /* = */
	field.number = next_number(walk);
	next(walk); /* ; */
	put_field(walk, out, &field);
	declare(walk, field.name);
}

static bool is_at_end(struct walk *walk)
{
	return take(walk, "}") || !walk->rest.len;
}

static void read_oneof(struct walk *walk, struct buf *out)
{
	auto_buf struct buf oneof;
	buf_init(&oneof, KIB);
	grpc_put_text(&oneof, NAME, next(walk));
	grpc_put_text(out, MESSAGE_ONEOF, buf_str(&oneof));
	next(walk); /* { */
	while (!is_at_end(walk))
		read_field(walk, out, true);
}

static void read_enum(struct walk *walk, struct buf *out, uint32_t place)
{
	auto_buf struct buf text, value;
	buf_init(&text, KIB);
	buf_init(&value, KIB);
	struct str name = next(walk);
	grpc_put_text(&text, NAME, name);
	declare(walk, name);
	next(walk); /* { */
	while (!is_at_end(walk)) {
		buf_clear(&value);
		grpc_put_text(&value, NAME, next(walk));
		next(walk); /* = */
		uint64_t number = next_number(walk);
		next(walk); /* ; */
		if (number)
			grpc_put_number(&value, 2, number);
		else
			grpc_put_zero(&value, 2);
		grpc_put_text(&text, 2, buf_str(&value));
	}
	grpc_put_text(out, place, buf_str(&text));
}

static void read_message(struct walk *walk, struct buf *out)
{
	auto_buf struct buf text;
	char name[80];
	buf_init(&text, LIMIT_PROTO_FILE);
	struct str word = next(walk);
	snprintf(name, sizeof(name), "%.*s", (int)word.len, word.ptr);
	grpc_put_text(&text, NAME, word);
	size_t mark = enter(walk, word, false);
	next(walk); /* { */
	while (!is_at_end(walk)) {
		if (take(walk, "map"))
			read_map(walk, &text, name);
		else if (take(walk, "oneof"))
			read_oneof(walk, &text);
		else if (take(walk, "enum"))
			read_enum(walk, &text, MESSAGE_ENUM);
		else if (!take(walk, ";"))
			read_field(walk, &text, false);
	}
	leave(walk, mark);
	grpc_put_text(out, FILE_MESSAGE, buf_str(&text));
}

/* Reads "(stream Type)". */
static void read_side(struct walk *walk, struct buf *out, uint32_t type, uint32_t streams)
{
	next(walk); /* ( */
	bool is_stream = take(walk, "stream");
	put_type_name(walk, out, type, next(walk));
	next(walk); /* ) */
	grpc_put_number(out, streams, is_stream);
}

static void read_method(struct walk *walk, struct buf *out)
{
	auto_buf struct buf text;
	buf_init(&text, KIB);
	struct str name = next(walk);
	grpc_put_text(&text, NAME, name);
	declare(walk, name);
	read_side(walk, &text, METHOD_INPUT, METHOD_CLIENT_STREAMS);
	next(walk); /* returns */
	read_side(walk, &text, METHOD_OUTPUT, METHOD_SERVER_STREAMS);
	next(walk); /* ; */
	grpc_put_text(out, 2, buf_str(&text));
}

static void read_service(struct walk *walk, struct buf *out)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROTO_FILE);
	struct str name = next(walk);
	grpc_put_text(&text, NAME, name);
	size_t mark = enter(walk, name, true);
	next(walk); /* { */
	while (!is_at_end(walk))
		if (str_is(next(walk), "rpc"))
			read_method(walk, &text);
	leave(walk, mark);
	grpc_put_text(out, FILE_SERVICE, buf_str(&text));
}

static void read_package(struct walk *walk, struct buf *out)
{
	walk->package = next(walk);
	buf_append_str(&walk->scope, walk->package);
	grpc_put_text(out, FILE_PACKAGE, walk->package);
}

static void read_file(struct walk *walk, struct buf *out)
{
	buf_init(&walk->scope, KIB);
	for (struct str word = next(walk); word.len; word = next(walk)) {
		if (str_is(word, "syntax")) {
			next(walk); /* = */
			grpc_put_text(out, FILE_SYNTAX, next_quoted(walk));
		} else if (str_is(word, "package"))
			read_package(walk, out);
		else if (str_is(word, "import"))
			grpc_put_text(out, FILE_DEPENDENCY, next_quoted(walk));
		else if (str_is(word, "message"))
			read_message(walk, out);
		else if (str_is(word, "enum"))
			read_enum(walk, out, FILE_ENUM);
		else if (str_is(word, "service"))
			read_service(walk, out);
	}
	buf_finish(&walk->scope);
}

/* ---- questions ---- */

void grpc_describe(struct str text, const char *path, struct buf *out)
{
	struct walk walk = {.text = text, .rest = text};
	grpc_put_text(out, FILE_NAME, str_of(path));
	read_file(&walk, out);
}

static void look_for_symbol(struct walk *walk, bool is_service)
{
	(void)is_service;
	walk->is_found |= str_eq(buf_str(&walk->scope), walk->symbol);
}

bool grpc_declares(struct str text, struct str symbol)
{
	auto_buf struct buf unused;
	struct walk walk = {.text = text, .rest = text, .symbol = symbol, .on_name = look_for_symbol};
	buf_init(&unused, LIMIT_PROTO_FILE);
	read_file(&walk, &unused);
	return walk.is_found;
}

static void report_service(struct walk *walk, bool is_service)
{
	if (is_service)
		walk->on_service(buf_str(&walk->scope), walk->self);
}

void grpc_list_services(struct str text, void (*on_service)(struct str name, void *self), void *self)
{
	auto_buf struct buf unused;
	struct walk walk = {
		.text = text, .rest = text, .on_name = report_service, .on_service = on_service, .self = self};
	buf_init(&unused, LIMIT_PROTO_FILE);
	read_file(&walk, &unused);
}
