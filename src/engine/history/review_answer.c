/* Read by hand instead of by the record's decoder, which wants every field: a list of findings without a verdict is
 * still a list of findings. */
#include "engine/history/review_answer.h"

#include "base/json.h"

static struct str text_of(const struct json *object, const char *key)
{
	struct str text = json_get_str(object, key);
	return text.ptr ? text : STR("");
}

static double score_of(const struct json *object, const char *key)
{
	double score = 0;
	json_to_double(json_get(object, key), &score);
	return score;
}

static struct review_code_location *read_location(const struct json *json, struct arena *arena)
{
	struct review_code_location *location = arena_new(arena, struct review_code_location);
	struct review_line_range *range = arena_new(arena, struct review_line_range);
	const struct json *lines = json_get(json, "line_range");
	location->absolute_file_path = text_of(json, "absolute_file_path");
	location->line_range = range;
	range->start = json_get_i64(lines, "start", 0);
	range->end = json_get_i64(lines, "end", range->start);
	return location;
}

static bool read_finding(const struct json *json, struct arena *arena, struct review_finding *ret)
{
	*ret = (struct review_finding){
		.title = text_of(json, "title"),
		.body = text_of(json, "body"),
		.confidence_score = score_of(json, "confidence_score"),
		.priority = json_get_i64(json, "priority", 0),
		.code_location = read_location(json_get(json, "code_location"), arena),
	};
	return ret->title.len || ret->body.len;
}

static bool read_output(const struct json *json, struct arena *arena, struct review_output *ret)
{
	const struct json *findings = json_get(json, "findings");
	*ret = (struct review_output){
		.overall_correctness = text_of(json, "overall_correctness"),
		.overall_explanation = text_of(json, "overall_explanation"),
		.overall_confidence_score = score_of(json, "overall_confidence_score"),
	};
	if (!json_is(findings, JSON_array) && !ret->overall_explanation.len)
		return false;
	ret->findings = arena_array(arena, struct review_finding, findings ? findings->count : 0);
	json_for_each(it, findings)
		ret->findings_count += read_finding(it, arena, &ret->findings[ret->findings_count]);
	return ret->findings_count || ret->overall_explanation.len || ret->overall_correctness.len;
}

/* What stands between the first brace and the last, for models that explain or sandbox their JSON. */
static struct str inner_object(struct str text)
{
	ptrdiff_t first = str_find_char(text, '{'), last = str_rfind_char(text, '}');
	return first >= 0 && last > first ? str_n(text.ptr + first, (size_t)(last - first) + 1) : STR_NONE;
}

void review_answer_read(struct str text, struct arena *arena, struct review_output *ret)
{
	const struct json *json = json_parse(arena, text, NULL);
	struct str inner = json ? STR_NONE : inner_object(text);
	if (inner.ptr)
		json = json_parse(arena, inner, NULL);
	if (json_is(json, JSON_object) && read_output(json, arena, ret))
		return;
	*ret = (struct review_output){.overall_correctness = STR(""), .overall_explanation = str_trim(text)};
	if (!ret->overall_explanation.ptr)
		ret->overall_explanation = STR("");
}
