/* Servers of the same API use different words for the same failure, so the type, the code and the message are compared
 * with a table (model_phrase.def). A failure that no row knows is final, unless its status says that a retry may help.
 */
#include "model/model_error_priv.h"

#include "base/json.h"
#include "base/mem.h"
#include "model/model_backoff.h"

static const struct {
	enum model_error_kind kind;
	bool is_word;
	const char *text;
} rows[] = {
#define PHRASE(kind, words) {MODEL_ERROR_##kind, false, words},
#define WORD(kind, word) {MODEL_ERROR_##kind, true, word},
#include "model/model_phrase.def"
#undef PHRASE
#undef WORD
};

static ptrdiff_t find_fold(struct str text, struct str words)
{
	for (size_t at = 0; at + words.len <= text.len; at++) {
		if (str_equal_fold(str_n(text.ptr + at, words.len), words))
			return (ptrdiff_t)at;
	}
	return -1;
}

/* True if the text has these words, in any case; "*" stands for anything between them. */
static bool has_phrase(struct str text, struct str phrase)
{
	struct str part;
	while (str_next_part(&phrase, '*', &part)) {
		ptrdiff_t at = find_fold(text, part);
		if (at < 0)
			return false;
		text = str_skip(text, (size_t)at + part.len);
	}
	return true;
}

enum model_error_kind model_error_kind_of(const struct model_refusal *refusal)
{
	for (size_t i = 0; i < countof(rows); i++) {
		struct str row = str_of(rows[i].text);
		bool matches = rows[i].is_word ? str_eq(refusal->type, row) || str_eq(refusal->code, row)
		                               : has_phrase(refusal->message, row);
		if (matches)
			return rows[i].kind;
	}
	return MODEL_ERROR_none;
}

static enum model_error_kind kind_of_status(int status)
{
	if (status == 429)
		return MODEL_ERROR_rate_limited;
	return status >= 500 || status == 408 || status == 409 ? MODEL_ERROR_server_error : MODEL_ERROR_invalid_request;
}

/* True if the text of the kind ends where the server's message follows. */
static bool says_message(enum model_error_kind kind)
{
	return kind == MODEL_ERROR_invalid_request || kind == MODEL_ERROR_rate_limited || kind == MODEL_ERROR_busy;
}

void model_error_from_refusal(struct model_error *error, const struct model_refusal *refusal)
{
	enum model_error_kind kind = model_error_kind_of(refusal);
	struct str message =
		refusal->message.len ? refusal->message : STR("the server sent an error without a message");
	if (kind == MODEL_ERROR_none)
		kind = kind_of_status(refusal->status);
	model_error_set(error, kind, says_message(kind) ? message : STR_NONE);
	if (!says_message(kind))
		model_error_set_detail(error, message);
	if (error->is_retryable)
		error->retry_after_ms = model_backoff_message_ms(message);
	error->http_status = refusal->status;
}

bool model_error_read_refusal(const struct json *root, struct model_refusal *ret_refusal)
{
	const struct json *error = json_get(root, "error");
	int64_t status;
	*ret_refusal = (struct model_refusal){0};
	if (str_is(json_get_str(root, "object"), "error"))
		error = root;
	if (!error || error->type == JSON_null)
		return false;
	if (json_to_str(error, &ret_refusal->message))
		return true;
	ret_refusal->message = json_get_str(error, "message");
	ret_refusal->type = json_get_str(error, "type");
	ret_refusal->code = json_get_str(error, "code");
	if (json_to_i64(json_get(error, "code"), &status) && status >= 100 && status < 600)
		ret_refusal->status = (int)status;
	return true;
}
