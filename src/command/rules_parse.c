/* A recursive descent parser over bytes: the format is too small for a tokenizer. Blanks, comments and line ends are
 * skipped anywhere inside parentheses. Between calls a line end or a semicolon is required. */
#include "command/rules_parse.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/vec.h"

struct parser {
	struct str rest;
	const char *source;
	const char *start;
	struct arena *arena;
	struct error *err;
	char *out; /* where the next text is written */
	unsigned depth;
};

static unsigned line_at(const struct parser *parser, const char *at)
{
	unsigned line = 1;
	for (const char *c = parser->start; c < at; c++)
		line += *c == '\n';
	return line;
}

static int fail(struct parser *parser, const char *what)
{
	return error_set(parser->err, ERR_config, "%s:%u: %s", parser->source, line_at(parser, parser->rest.ptr), what);
}

static char peek(const struct parser *parser)
{
	return parser->rest.len > 0 ? parser->rest.ptr[0] : '\0';
}

static bool take(struct parser *parser, char c)
{
	if (parser->rest.len == 0 || parser->rest.ptr[0] != c)
		return false;
	parser->rest = str_skip(parser->rest, 1);
	return true;
}

static void skip_line(struct parser *parser)
{
	while (parser->rest.len > 0 && peek(parser) != '\n')
		take(parser, peek(parser));
}

static void skip_blanks(struct parser *parser)
{
	for (;;) {
		char c = peek(parser);
		if (c == '#')
			skip_line(parser);
		else if (parser->rest.len == 0 || !strchr(" \t\r\n", c) || c == '\0')
			return;
		else
			take(parser, c);
	}
}

static bool is_name_byte(char c, bool is_first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!is_first && c >= '0' && c <= '9');
}

static struct str take_name(struct parser *parser)
{
	struct str name = {parser->rest.ptr, 0};
	while (name.len < parser->rest.len && is_name_byte(name.ptr[name.len], name.len == 0))
		name.len++;
	parser->rest = str_skip(parser->rest, name.len);
	return name;
}

/* --- values --------------------------------------------------------------------------------------------------- */

/* Decodes the character after a backslash. As in Starlark, an unknown escape keeps its backslash. */
static size_t unescape(char c, char *out)
{
	static const char from[] = "nrt\\'\"", to[] = "\n\r\t\\'\"";
	const char *known = c ? strchr(from, c) : NULL;
	if (known) {
		out[0] = to[known - from];
		return 1;
	}
	out[0] = '\\';
	out[1] = c;
	return 2;
}

static int parse_text(struct parser *parser, struct str *ret)
{
	char quote = peek(parser);
	const char triple[] = {quote, quote, quote, '\0'};
	bool is_long = str_cut_prefix(&parser->rest, triple);
	if (!is_long)
		take(parser, quote);
	char *text = parser->out;
	size_t length = 0;
	while (parser->rest.len > 0) {
		char c = peek(parser);
		if (is_long ? str_cut_prefix(&parser->rest, triple) : take(parser, quote)) {
			*ret = str_n(text, length);
			parser->out += length;
			return text_is_utf8(*ret) && !memchr(text, '\0', length)
			               ? 0
			               : fail(parser, "the file is not UTF-8, or contains a NUL byte");
		}
		if (c == '\n' && !is_long)
			break;
		take(parser, c);
		if (c == '\\' && parser->rest.len > 0) {
			c = peek(parser);
			take(parser, c);
			length += unescape(c, text + length);
		} else {
			text[length++] = c;
		}
	}
	return fail(parser, "a string has no closing quote");
}

static int parse_value(struct parser *parser, struct rules_value *ret);

static int parse_list(struct parser *parser, char end, struct rules_value *ret)
{
	VEC(struct rules_value) items = {0};
	int code = 0;
	ret->kind = RULES_list;
	for (skip_blanks(parser); !code && !take(parser, end); skip_blanks(parser)) {
		struct rules_value item = {0};
		code = parse_value(parser, &item);
		vec_push(&items, item);
		skip_blanks(parser);
		if (!code && !take(parser, ',') && peek(parser) != end)
			code = fail(parser, "expected a comma or the end of the list");
	}
	ret->count = items.count;
	ret->items = arena_array(parser->arena, struct rules_value, items.count + 1);
	if (items.count > 0)
		memcpy(ret->items, items.items, items.count * sizeof(*items.items));
	vec_finish(&items);
	return code;
}

static int parse_word(struct parser *parser, struct rules_value *ret)
{
	struct str name = take_name(parser);
	ret->kind = str_is(name, "None") ? RULES_none : RULES_bool;
	ret->is_true = str_is(name, "True");
	if (ret->kind == RULES_none || ret->is_true || str_is(name, "False"))
		return 0;
	parser->rest = str_n(name.ptr, parser->rest.len + name.len);
	return fail(parser,
	            "expected a string, a list, a number, True, False or None; names and calls are not supported");
}

static int parse_number(struct parser *parser, struct rules_value *ret)
{
	size_t length = 0;
	while (length < parser->rest.len && strchr("0123456789", parser->rest.ptr[length]) && parser->rest.ptr[length])
		length++;
	*ret = (struct rules_value){.kind = RULES_number, .text = str_n(parser->rest.ptr, length)};
	parser->rest = str_skip(parser->rest, length);
	return length > 0 ? 0 : fail(parser, "expected a value");
}

static int parse_value(struct parser *parser, struct rules_value *ret)
{
	skip_blanks(parser);
	char c = peek(parser);
	if (c == '"' || c == '\'') {
		ret->kind = RULES_text;
		return parse_text(parser, &ret->text);
	}
	if (is_name_byte(c, true))
		return parse_word(parser, ret);
	if (c != '[' && c != '(')
		return parse_number(parser, ret);
	if (parser->depth == LIMIT_RULES_DEPTH)
		return fail(parser, "lists are nested too deeply");
	take(parser, c);
	parser->depth++;
	int code = parse_list(parser, c == '[' ? ']' : ')', ret);
	parser->depth--;
	return code;
}

/* --- calls ---------------------------------------------------------------------------------------------------- */

/* Consumes "name =" if it is next. */
static struct str take_keyword(struct parser *parser)
{
	struct str before = parser->rest, name = take_name(parser);
	skip_blanks(parser);
	if (name.len > 0 && take(parser, '='))
		return name;
	parser->rest = before;
	return STR_NONE;
}

static int parse_arguments(struct parser *parser, struct rules_call *call)
{
	VEC(struct rules_argument) arguments = {0};
	int code = 0;
	for (skip_blanks(parser); !code && !take(parser, ')'); skip_blanks(parser)) {
		struct rules_argument argument = {.name = take_keyword(parser)};
		code = parse_value(parser, &argument.value);
		vec_push(&arguments, argument);
		skip_blanks(parser);
		if (!code && !take(parser, ',') && peek(parser) != ')')
			code = fail(parser, "expected a comma or a closing parenthesis after an argument");
	}
	call->count = arguments.count;
	call->arguments = arena_array(parser->arena, struct rules_argument, arguments.count + 1);
	if (arguments.count > 0)
		memcpy(call->arguments, arguments.items, arguments.count * sizeof(*arguments.items));
	vec_finish(&arguments);
	return code;
}

static int parse_call(struct parser *parser, struct rules_call *call)
{
	call->line = line_at(parser, parser->rest.ptr);
	call->name = take_name(parser);
	while (take(parser, ' ') || take(parser, '\t'))
		;
	if (call->name.len == 0 || !take(parser, '('))
		return fail(parser, "expected a call such as prefix_rule(pattern = [\"git\", \"status\"])");
	int code = parse_arguments(parser, call);
	while (!code && (take(parser, ' ') || take(parser, '\t') || take(parser, '\r')))
		;
	char c = peek(parser);
	if (!code && parser->rest.len > 0 && c != '\n' && c != '#' && !take(parser, ';'))
		code = fail(parser, "expected the end of the line after a rule");
	return code;
}

int rules_parse(struct str text, const char *source, struct arena *arena, struct rules_call **ret_calls,
                size_t *ret_count, struct error *err)
{
	struct parser parser = {.rest = text, .source = source, .start = text.ptr, .arena = arena, .err = err};
	parser.out = arena_alloc_raw(arena, text.len + 1); /* a decoded text is not longer than its source */
	VEC(struct rules_call) calls = {0};
	int code = 0;
	for (skip_blanks(&parser); !code && parser.rest.len > 0; skip_blanks(&parser)) {
		struct rules_call call = {0};
		code = parse_call(&parser, &call);
		vec_push(&calls, call);
	}
	*ret_count = calls.count;
	*ret_calls = arena_array(arena, struct rules_call, calls.count + 1);
	if (calls.count > 0)
		memcpy(*ret_calls, calls.items, calls.count * sizeof(*calls.items));
	vec_finish(&calls);
	return code;
}

const struct rules_value *rules_argument_find(const struct rules_call *call, const char *name, size_t position)
{
	for (size_t i = 0; i < call->count; i++) {
		const struct rules_argument *argument = &call->arguments[i];
		if (argument->name.ptr ? str_is(argument->name, name) : i == position)
			return &argument->value;
	}
	return NULL;
}
