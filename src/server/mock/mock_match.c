/* Conditions are kept as JSON: a script has few of them and each is evaluated once per request, so a conversion to
 * structs would not pay. When the script is read, keys must be known and values must have a type that can match. */
#include "server/mock/mock_match.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/http_head.h"
#include "server/mock/mock_limits.h"

/* The test that any_node applies to each node on a path. */
struct probe {
	bool (*test)(const struct json *node, struct probe *probe);
	const struct json *want;
	struct str needle;
	const struct json *found;
};

static const struct json *child_at(const struct json *node, struct str name)
{
	int64_t index;
	if (!json_is(node, JSON_array)) {
		json_for_each(child, node)
			if (json_is(node, JSON_object) && str_eq(child->key, name))
				return child;
		return NULL;
	}
	if (!str_to_i64(name, &index))
		return NULL;
	if (index < 0)
		index += (int64_t)node->count;
	return index < 0 ? NULL : json_at(node, (size_t)index);
}

static bool any_node(const struct json *node, struct str path, struct probe *probe)
{
	struct str name;
	if (!node)
		return false;
	if (path.len == 0)
		return probe->test(node, probe);
	struct str rest = path;
	str_next_part(&rest, '.', &name);
	if (!str_is(name, "*"))
		return any_node(child_at(node, name), rest, probe);
	json_for_each(child, node)
		if (any_node(child, rest, probe))
			return true;
	return false;
}

/* True if the text of node contains needle: the decoded text of strings, the JSON text of other values. */
static bool has_text(const struct json *node, struct str needle)
{
	return str_find(node->type == JSON_string ? node->text : node->span, needle) >= 0;
}

static bool is_wanted(const struct json *node, struct probe *probe)
{
	probe->found = has_text(node, probe->needle) ? node : NULL;
	return probe->found;
}

const struct json *mock_path_find(const struct json *root, struct str path, struct str needle)
{
	struct probe probe = {.test = is_wanted, .needle = needle};
	any_node(root, path, &probe);
	return probe.found;
}

static bool has_words(const struct json *node, struct str needle)
{
	if (node->type == JSON_string)
		return has_text(node, needle);
	json_for_each(child, node)
		if (has_words(child, needle))
			return true;
	return false;
}

/* True if the body as sent, or a decoded string in it, contains the word. */
static bool body_has(const struct mock_request *request, struct str needle)
{
	return str_find(request->body, needle) >= 0 || (request->json && has_words(request->json, needle));
}

static bool is_match(const struct json *node, struct probe *probe)
{
	return json_equal(node, probe->want) || (probe->want->type == JSON_string && has_text(node, probe->want->text));
}

static bool is_equal(const struct json *node, struct probe *probe)
{
	return json_equal(node, probe->want);
}

static int path_differs(const struct mock_request *request, const struct json *want, const char *verb,
                        struct error *err)
{
	const struct json *node = mock_path_find(request->json, want->key, STR(""));
	struct str seen = node ? node->span : STR("not there");
	bool is_cut = seen.len > LIMIT_MOCK_SHOWN;
	return error_set(err, ERR_invalid, "%.*s should %s %.*s; it is %.*s%s", STR_ARG(want->key), verb,
	                 STR_ARG(want->span), (int)(is_cut ? LIMIT_MOCK_SHOWN : seen.len), seen.ptr, is_cut ? "…" : "");
}

static bool check_paths(const struct json *wants, const struct mock_request *request, bool is_exact, struct error *err)
{
	json_for_each(want, wants) {
		struct probe probe = {.test = is_exact ? is_equal : is_match, .want = want};
		if (any_node(request->json, want->key, &probe))
			continue;
		if (want->type == JSON_null && !mock_path_find(request->json, want->key, STR("")))
			continue;
		path_differs(request, want, is_exact ? "equal" : "contain", err);
		return false;
	}
	return true;
}

static bool check_word(const struct mock_request *request, const struct json *word, bool is_wanted, struct error *err)
{
	if (body_has(request, word->text) == is_wanted)
		return true;
	error_set(err, ERR_invalid, "the request should %scontain %.*s", is_wanted ? "" : "not ", STR_ARG(word->span));
	return false;
}

static bool check_words(const struct json *words, const struct mock_request *request, bool is_wanted, struct error *err)
{
	if (json_is(words, JSON_string))
		return check_word(request, words, is_wanted, err);
	json_for_each(word, words)
		if (!check_word(request, word, is_wanted, err))
			return false;
	return true;
}

static bool check_headers(const struct json *wants, const struct mock_request *request, struct error *err)
{
	json_for_each(want, wants) {
		auto_free char *name = xstrndup(want->key.ptr, want->key.len);
		struct str value = http_head_get(request->head, name);
		if (want->type == JSON_null ? !value.ptr : value.ptr && str_find(value, want->text) >= 0)
			continue;
		error_set(err, ERR_invalid, "header %s should contain %.*s; it is %s", name, STR_ARG(want->span),
		          value.ptr ? "another" : "not there");
		return false;
	}
	return true;
}

bool mock_match_check(const struct mock_match *match, const struct mock_request *request, struct error *err)
{
	return check_words(match->contains, request, true, err) && check_words(match->lacks, request, false, err) &&
	       check_paths(match->path, request, false, err) && check_paths(match->equal, request, true, err) &&
	       check_headers(match->header, request, err);
}

static bool is_words(const struct json *node)
{
	if (json_is(node, JSON_string))
		return true;
	json_for_each(word, node)
		if (!json_is(word, JSON_string))
			return false;
	return json_is(node, JSON_array);
}

static bool is_paths(const struct json *node)
{
	return json_is(node, JSON_object);
}

static bool is_headers(const struct json *node)
{
	json_for_each(value, node)
		if (!json_is(value, JSON_string) && !json_is(value, JSON_null))
			return false;
	return json_is(node, JSON_object);
}

static const struct condition {
	const char *name;
	size_t offset;
	bool (*is_valid)(const struct json *node);
	const char *wants;
} conditions[] = {
#define WANTS_words "a string or a list of strings"
#define WANTS_paths "an object of paths and values"
#define WANTS_headers "an object of header names and strings (null: absent)"
#define CONDITION(name, kind) {#name, offsetof(struct mock_match, name), is_##kind, WANTS_##kind},
#include "server/mock/mock_script.def"
};

static const struct condition *condition_find(struct str name)
{
	for (size_t i = 0; i < countof(conditions); i++)
		if (str_is(name, conditions[i].name))
			return &conditions[i];
	return NULL;
}

int mock_match_parse(struct mock_match *match, const struct json *node, struct error *err)
{
	*match = (struct mock_match){0};
	if (!json_is(node, JSON_object))
		return error_set(err, ERR_invalid, "must be an object of conditions");
	json_for_each(value, node) {
		const struct condition *condition = condition_find(value->key);
		if (!condition)
			return error_set(err, ERR_invalid,
			                 "\"%.*s\" is not a condition; the conditions are contains, lacks, path, equal "
			                 "and header",
			                 STR_ARG(value->key));
		if (!condition->is_valid(value))
			return error_set(err, ERR_invalid, "\"%s\" must be %s", condition->name, condition->wants);
		*(const struct json **)(void *)((char *)match + condition->offset) = value;
	}
	return 0;
}
