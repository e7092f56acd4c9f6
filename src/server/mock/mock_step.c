/* A row of mock_script.def defines a step: its key, the type of its value and its other keys. The rules about the order
 * of steps are code. Unknown keys are errors, because a misspelt step without an effect could make a test pass for the
 * wrong reason. */
#include "server/mock/mock_step.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http_head.h"
#include "server/mock/mock_limits.h"

/* The destination of a value and its bounds. */
struct slot {
	struct arena *arena;
	void *field;
	uint64_t max;
	bool in_repeat;
};

typedef int (*value_read_fn)(const struct slot *slot, const struct json *node, struct error *err);

enum { STARTS = 1, LAST = 2, QUIET = 4, PLAIN = 8 };

enum member {
#define MEMBER(name, kind, field) MEMBER_##name,
#include "server/mock/mock_script.def"
	MEMBER_COUNT
};

static const struct mock_text default_pattern = {.text = {"abcdefghijklmnopqrstuvwxyz ", 27}};

static int read_yes(const struct slot *slot, const struct json *node, struct error *err)
{
	bool value = false;
	(void)slot;
	if (json_to_bool(node, &value) && value)
		return 0;
	return error_set(err, ERR_invalid, "must be true");
}

static int read_string(const struct slot *slot, const struct json *node, struct error *err)
{
	if (!json_is(node, JSON_string) || node->text.len == 0)
		return error_set(err, ERR_invalid, "must be a string that is not empty");
	*(struct str *)slot->field = node->text;
	return 0;
}

static int read_count(const struct slot *slot, const struct json *node, struct error *err)
{
	uint64_t value;
	if (!json_to_u64(node, &value) || value > slot->max)
		return error_set(err, ERR_invalid, "must be a whole number up to %llu", (unsigned long long)slot->max);
	*(uint64_t *)slot->field = value;
	return 0;
}

static int read_chunks(const struct slot *slot, const struct json *node, struct error *err)
{
	struct slot bounded = {.field = slot->field, .max = LIMIT_MOCK_CHUNKS};
	int rc = read_count(&bounded, node, err);
	return rc == 0 && *(uint64_t *)slot->field == 0 ? error_set(err, ERR_invalid, "must be at least 1") : rc;
}

static int read_object(const struct slot *slot, const struct json *node, struct error *err)
{
	if (!json_is(node, JSON_object))
		return error_set(err, ERR_invalid, "must be an object");
	*(const struct json **)slot->field = node;
	return 0;
}

static int check_header(const struct json *value, struct error *err)
{
	struct http_header header;
	auto_free char *line = xasprintf("%.*s: %.*s", STR_ARG(value->key), STR_ARG(value->text));
	if (!json_is(value, JSON_string) || !http_header_parse(str_of(line), &header))
		return error_set(err, ERR_invalid, "\"%.*s\" cannot be sent as a header", STR_ARG(value->key));
	if (str_equal_fold(header.name, STR("content-length")) || str_equal_fold(header.name, STR("transfer-encoding")))
		return error_set(err, ERR_invalid, "%.*s follows from the body; use \"wire\" to send a wrong one",
		                 STR_ARG(header.name));
	return 0;
}

int mock_headers_check(const struct json *headers, struct error *err)
{
	if (!json_is(headers, JSON_object))
		return error_set(err, ERR_invalid, "must be an object of strings");
	json_for_each(value, headers) {
		int rc = check_header(value, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_headers(const struct slot *slot, const struct json *node, struct error *err)
{
	*(const struct json **)slot->field = node;
	return mock_headers_check(node, err);
}

static bool is_token_count(const struct json *node)
{
	static const char *const names[] = {
#define TOKENS(name) #name,
#include "server/mock/mock_script.def"
	};
	uint64_t value;
	for (size_t i = 0; i < countof(names); i++)
		if (str_is(node->key, names[i]))
			return json_to_u64(node, &value) && value <= INT64_MAX / 4;
	return false;
}

static int read_usage(const struct slot *slot, const struct json *node, struct error *err)
{
	json_for_each(value, node)
		if (!is_token_count(value))
			return error_set(err, ERR_invalid,
			                 "takes input_tokens, cached_tokens, output_tokens and reasoning_tokens "
			                 "as whole numbers, but has \"%.*s\": %.*s",
			                 STR_ARG(value->key), STR_ARG(value->span));
	return read_object(slot, node, err);
}

static int read_drop(const struct slot *slot, const struct json *node, struct error *err)
{
	bool value = false;
	*(bool *)slot->field = json_is(node, JSON_string) && str_is(node->text, "reset");
	if (*(bool *)slot->field || (json_to_bool(node, &value) && value))
		return 0;
	return error_set(err, ERR_invalid, "must be true or \"reset\"");
}

static int read_pattern(const struct slot *slot, const struct json *node, struct error *err)
{
	struct mock_text *text = arena_new(slot->arena, struct mock_text);
	if (!json_is(node, JSON_string) || node->text.len == 0)
		return error_set(err, ERR_invalid, "must be a string that is not empty");
	text->text = node->text;
	*(struct mock_texts *)slot->field = (struct mock_texts){text, 1};
	return 0;
}

static int read_fill(const struct json *node, struct mock_text *text, struct error *err)
{
	const struct json *fill = json_get(node, "fill"), *with = json_get(node, "with");
	*text = default_pattern;
	if (!json_to_u64(fill, &text->fill) || text->fill == 0 || text->fill > LIMIT_MOCK_TEXT)
		return error_set(err, ERR_invalid, "\"fill\" inside a text must be a whole number from 1 to %d",
		                 LIMIT_MOCK_TEXT);
	if (with && (!json_is(with, JSON_string) || with->text.len == 0))
		return error_set(err, ERR_invalid, "\"with\" must be a string that is not empty");
	if (with)
		text->text = with->text;
	if (node->count > (with ? 2u : 1u))
		return error_set(err, ERR_invalid, "a filler text is {\"fill\": BYTES} or has a \"with\" beside it");
	return 0;
}

static int read_text(const struct json *node, struct mock_text *text, struct error *err)
{
	if (json_is(node, JSON_object))
		return read_fill(node, text, err);
	if (!json_is(node, JSON_string))
		return error_set(err, ERR_invalid, "must be a text: a string, {\"fill\": BYTES}, or a list of these");
	text->text = node->text;
	return 0;
}

static int read_pieces(const struct slot *slot, const struct json *node, struct error *err)
{
	const struct json *first = json_is(node, JSON_array) ? node->child : node;
	size_t count = json_is(node, JSON_array) ? node->count : 1;
	struct mock_text *items = arena_array(slot->arena, struct mock_text, count ? count : 1);
	struct mock_text *text = items;
	for (const struct json *it = first; it && text < items + count; it = it->next, text++) {
		int rc = read_text(it, text, err);
		if (rc < 0)
			return rc;
	}
	*(struct mock_texts *)slot->field = (struct mock_texts){items, count};
	return 0;
}

static int read_literal(const struct slot *slot, const struct json *node, struct error *err)
{
	struct mock_text *text = arena_new(slot->arena, struct mock_text);
	(void)err;
	text->is_json = !json_is(node, JSON_string);
	text->text = text->is_json ? node->span : node->text;
	*(struct mock_texts *)slot->field = (struct mock_texts){text, 1};
	return 0;
}

static int read_base64(const struct slot *slot, const struct json *node, struct error *err)
{
	struct mock_text *text = arena_new(slot->arena, struct mock_text);
	auto_buf struct buf bytes;
	buf_init(&bytes, LIMIT_MOCK_TEXT);
	if (!json_is(node, JSON_string) || !text_base64_decode(&bytes, node->text))
		return error_set(err, ERR_invalid, "must be a string of padded base64");
	text->text = arena_str(slot->arena, buf_str(&bytes));
	*(struct mock_texts *)slot->field = (struct mock_texts){text, 1};
	return 0;
}

static int read_step_list(const struct slot *slot, const struct json *list, struct mock_steps *ret, struct error *err);

static int read_steps(const struct slot *slot, const struct json *node, struct error *err)
{
	struct slot inner = {.arena = slot->arena, .in_repeat = true};
	return read_step_list(&inner, node, slot->field, err);
}

static const struct member_row {
	const char *name;
	value_read_fn read;
	size_t offset;
} members[] = {
#define MEMBER(name, kind, field) {#name, read_##kind, offsetof(struct mock_step, field)},
#include "server/mock/mock_script.def"
};

#define IN(name) (1u << MEMBER_##name)

static const struct step_row {
	const char *name;
	value_read_fn read;
	size_t offset;
	uint64_t max;
	unsigned members; /* a set of bits of enum member */
	unsigned flags;
} steps[] = {
#define STEP(name, kind, field, max, members, flags) \
	{#name, read_##kind, offsetof(struct mock_step, field), max, members, flags},
#include "server/mock/mock_script.def"
};

static const struct step_row *step_row_find(struct str name)
{
	for (size_t i = 0; i < countof(steps); i++)
		if (str_is(name, steps[i].name))
			return &steps[i];
	return NULL;
}

static const struct member_row *member_row_find(struct str name)
{
	for (size_t i = 0; i < countof(members); i++)
		if (str_is(name, members[i].name))
			return &members[i];
	return NULL;
}

bool mock_step_is_start(enum mock_step_kind kind)
{
	return steps[kind].flags & STARTS;
}

static int unknown_step(const struct json *node, struct error *err)
{
	auto_buf struct buf names;
	buf_init(&names, ERROR_TEXT_MAX);
	for (size_t i = 0; i < countof(steps); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", steps[i].name);
	return error_set(err, ERR_invalid, "%.*s is not a step; a step is an object with one of the keys %s",
	                 STR_ARG(node->span.len > 80 ? str_n(node->span.ptr, 80) : node->span), names.data);
}

/* Returns the row of the first key that names a step. */
static const struct step_row *step_row_of(const struct json *node, struct error *err)
{
	json_for_each(value, json_is(node, JSON_object) ? node : NULL) {
		const struct step_row *row = step_row_find(value->key);
		if (row)
			return row;
	}
	unknown_step(node, err);
	return NULL;
}

static int key_does_not_belong(const struct step_row *row, struct str key, struct error *err)
{
	auto_buf struct buf names;
	buf_init(&names, ERROR_TEXT_MAX);
	for (size_t i = 0; i < countof(members); i++)
		if (row->members & (1u << i))
			buf_printf(&names, "%s%s", names.len ? ", " : "", members[i].name);
	return error_set(err, ERR_invalid, "\"%.*s\" is not allowed in a \"%s\" step; allowed are %s", STR_ARG(key),
	                 row->name, names.len ? names.data : "nothing");
}

static int read_key(const struct slot *slot, const struct step_row *row, const struct json *value,
                    struct mock_step *step, struct error *err)
{
	const struct member_row *member = NULL;
	struct slot at = *slot;
	bool is_own = str_is(value->key, row->name);
	if (!is_own)
		member = member_row_find(value->key);
	if (!is_own && !(member && row->members & (1u << (member - members))))
		return key_does_not_belong(row, value->key, err);
	at.field = (char *)step + (is_own ? row->offset : member->offset);
	at.max = row->max;
	if ((is_own ? row->read : member->read)(&at, value, err) < 0)
		return error_wrap(err, "\"%.*s\"", STR_ARG(value->key));
	return 0;
}

static int read_step(const struct slot *slot, const struct json *node, struct mock_step *step, struct error *err)
{
	const struct step_row *row = step_row_of(node, err);
	if (!row)
		return -ERR_invalid;
	step->kind = (enum mock_step_kind)(row - steps);
	if (step->kind == MOCK_STEP_fill)
		step->texts = (struct mock_texts){&default_pattern, 1};
	json_for_each(value, node) {
		int rc = read_key(slot, row, value, step, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_last(const struct mock_step *step)
{
	return steps[step->kind].flags & LAST || (step->kind == MOCK_STEP_status && step->texts.count > 0);
}

static int check_in_repeat(const struct mock_step *step, struct error *err)
{
	if (step->kind == MOCK_STEP_repeat || step->kind == MOCK_STEP_status || is_last(step))
		return error_set(err, ERR_invalid, "\"%s\" cannot stand inside a repeat", steps[step->kind].name);
	return 0;
}

/* The state after the preceding steps. */
struct place {
	const struct mock_step *end; /* the step that ended the reply */
	bool has_sent;
};

static int check_place(struct place *place, const struct mock_step *step, struct error *err)
{
	if (place->end)
		return error_set(err, ERR_invalid, "\"%s\" is unreachable: \"%s\" before it ends the reply",
		                 steps[step->kind].name, steps[place->end->kind].name);
	if (step->kind == MOCK_STEP_status && step->count < 200)
		return error_set(err, ERR_invalid, "\"status\" must be a number from 200 to 599");
	if (step->kind == MOCK_STEP_status && place->has_sent)
		return error_set(err, ERR_invalid, "\"status\" must be the first step that sends anything");
	place->end = is_last(step) ? step : NULL;
	place->has_sent |= !(steps[step->kind].flags & QUIET);
	return 0;
}

static int read_step_list(const struct slot *slot, const struct json *list, struct mock_steps *ret, struct error *err)
{
	struct place place = {0};
	size_t at = 0;
	if (!json_is(list, JSON_array))
		return error_set(err, ERR_invalid, "must be a list of steps");
	struct mock_step *items = arena_array(slot->arena, struct mock_step, list->count ? list->count : 1);
	json_for_each(node, list) {
		struct mock_step *step = &items[at++];
		int rc = read_step(slot, node, step, err);
		if (rc == 0)
			rc = slot->in_repeat ? check_in_repeat(step, err) : check_place(&place, step, err);
		if (rc < 0)
			return error_wrap(err, "step %zu", at);
	}
	*ret = (struct mock_steps){items, at};
	return 0;
}

static const struct mock_step *find_http_step(const struct mock_steps *list)
{
	for (const struct mock_step *step = list->items; step < list->items + list->count; step++) {
		const struct mock_step *inner = find_http_step(&step->steps);
		if (inner || !(steps[step->kind].flags & PLAIN))
			return inner ? inner : step;
	}
	return NULL;
}

bool mock_steps_has(const struct mock_steps *list, enum mock_step_kind kind)
{
	for (const struct mock_step *step = list->items; step < list->items + list->count; step++)
		if (step->kind == kind || (step->kind == MOCK_STEP_repeat && mock_steps_has(&step->steps, kind)))
			return true;
	return false;
}

int mock_steps_parse(struct arena *arena, const struct json *list, struct mock_steps *ret, struct error *err)
{
	struct slot slot = {.arena = arena};
	int rc = read_step_list(&slot, list, ret, err);
	if (rc < 0)
		return rc;
	const struct mock_step *step = mock_steps_has(ret, MOCK_STEP_wire) ? find_http_step(ret) : NULL;
	return step ? error_set(err, ERR_invalid, "\"%s\" needs an HTTP answer, but this reply has \"wire\" steps",
	                        steps[step->kind].name)
	            : 0;
}
