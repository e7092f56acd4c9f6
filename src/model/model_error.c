/* model_error.def lists the kinds of failures with their codes, texts and advice; the functions here map the reports of
 * servers and transports to kinds. Response bodies are untrusted: they are converted to valid UTF-8 and truncated
 * before they are included in a text. */
#include "model/model_error.h"

#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/model_backoff.h"
#include "model/model_error_priv.h"
#include "net/http_head.h"

/* Number of bytes that are quoted of a response's body: after its status and URL, and alone. ADVICE_400: the longest
 * advice that follows a body, with the request's URL. */
enum { QUOTE_MAX = 1000, ADVICE_400 = 460, QUOTED_BODY_MAX = MODEL_ERROR_TEXT_MAX - ADVICE_400 };

enum info_form { PLAIN, STATUS };
enum retry_form { FINAL, RETRY };

struct kind_row {
	const char *wire;
	enum info_form form;
	enum retry_form retry;
	const char *text;
	const char *advice;
};

static const struct kind_row kinds[MODEL_ERROR_count] = {
#define MODEL_ERROR(kind, wire, form, retry, text, advice) [MODEL_ERROR_##kind] = {wire, form, retry, text, advice},
#define STATUS_ADVICE(status, advice)
#define STATUS_RETRY(status, responses, others)
#include "model/model_error.def"
#undef MODEL_ERROR
#undef STATUS_ADVICE
#undef STATUS_RETRY
};

static const struct {
	int status;
	const char *advice;
} status_advice[] = {
#define MODEL_ERROR(kind, wire, form, retry, text, advice)
#define STATUS_ADVICE(status, advice) {status, advice},
#define STATUS_RETRY(status, responses, others)
#include "model/model_error.def"
#undef MODEL_ERROR
#undef STATUS_ADVICE
#undef STATUS_RETRY
};

static const struct {
	int status;
	enum retry_form responses, others;
} status_retry[] = {
#define MODEL_ERROR(kind, wire, form, retry, text, advice)
#define STATUS_ADVICE(status, advice)
#define STATUS_RETRY(status, responses, others) {status, responses, others},
#include "model/model_error.def"
#undef MODEL_ERROR
#undef STATUS_ADVICE
#undef STATUS_RETRY
};

/* Appends text as valid UTF-8 of at most max bytes. */
static void append_cut(struct buf *out, struct str text, size_t max)
{
	auto_buf struct buf clean;
	buf_init(&clean, 4 * MODEL_ERROR_TEXT_MAX);
	text.len = text_floor_boundary(text, max);
	text_append_utf8_lossy(&clean, text);
	struct str kept = buf_str(&clean);
	kept.len = text_floor_boundary(kept, max);
	buf_append_str(out, kept);
}

void model_error_set(struct model_error *error, enum model_error_kind kind, struct str more)
{
	auto_buf struct buf text;
	*error = (struct model_error){.kind = kind, .is_retryable = kinds[kind].retry == RETRY, .retry_after_ms = -1};
	buf_init(&text, MODEL_ERROR_TEXT_MAX);
	buf_append_c(&text, kinds[kind].text);
	append_cut(&text, more, MODEL_ERROR_TEXT_MAX - text.len);
	memcpy(error->text, buf_str(&text).ptr, text.len + 1);
}

void model_error_set_detail(struct model_error *error, struct str detail)
{
	auto_buf struct buf text;
	buf_init(&text, MODEL_ERROR_DETAIL_MAX);
	append_cut(&text, detail, MODEL_ERROR_DETAIL_MAX);
	memcpy(error->detail, buf_str(&text).ptr, text.len + 1);
}

/* ---- answers with an error status ---- */

/* Returns the error message in a body: error.message of JSON, or the body itself. Servers of APIs other than Responses
 * have it in other places as well. */
static struct str body_message(const struct json *json, const struct model_answer *answer)
{
	struct model_refusal refusal;
	struct str message = STR_NONE, body = str_trim(answer->body);
	if (json_to_str(json_path(json, "error.message"), &message))
		return message;
	if (answer->is_other_api && model_error_read_refusal(json, &refusal) && refusal.message.ptr)
		return refusal.message;
	if (answer->is_other_api &&
	    (json_to_str(json_get(json, "message"), &message) || json_to_str(json_get(json, "detail"), &message)))
		return message;
	return body.len ? body : STR("Unknown error");
}

static void append_named(struct buf *out, const char *name, struct str value)
{
	if (!value.len)
		return;
	buf_append_c(out, name);
	append_cut(out, value, 128);
}

static void append_status(struct buf *out, int status)
{
	const char *reason = http_status_reason(status);
	buf_printf(out, "%d %s", status, strcmp(reason, "Unknown") != 0 ? reason : "<unknown status code>");
}

static bool is_cloudflare_block(const struct model_answer *answer)
{
	return answer->status == 403 && str_find(answer->body, STR("Cloudflare")) >= 0 &&
	       str_find(answer->body, STR("blocked")) >= 0;
}

static bool has_code(const struct json *failure, const char *code)
{
	return str_is(json_get_str(failure, "code"), code) || str_is(json_get_str(failure, "type"), code);
}

static void set_unexpected_status(struct model_error *error, const struct model_answer *answer, const struct json *json)
{
	bool lacks_model = has_code(json_get(json, "error"), "model_not_found");
	enum model_error_kind kind = lacks_model ? MODEL_ERROR_model_not_found : MODEL_ERROR_unexpected_status;
	auto_buf struct buf more;
	buf_init(&more, MODEL_ERROR_TEXT_MAX);
	if (is_cloudflare_block(answer)) {
		buf_append_c(&more, "403 Forbidden: Cloudflare blocks access, usually because of the region");
	} else {
		append_status(&more, answer->status);
		buf_append_c(&more, ": ");
		append_cut(&more, body_message(json, answer), QUOTE_MAX);
	}
	buf_append_c(&more, ", url: ");
	append_cut(&more, answer->url, 512);
	append_named(&more, ", cf-ray: ", answer->cf_ray);
	append_named(&more, ", request id: ", answer->request_id);
	model_error_set(error, kind, buf_str(&more));
}

enum { RESET_SIZE = 40 };

/* Returns the "st" of "21st". */
static const char *ordinal_suffix(int day)
{
	static const char *const suffixes[] = {"th", "st", "nd", "rd"};
	bool is_teen = day % 100 >= 11 && day % 100 <= 13;
	return suffixes[is_teen || day % 10 > 3 ? 0 : day % 10];
}

/* Writes "10:26 PM" for the same local day, else "Nov 21st, 2026 10:26 PM". */
static void format_reset(int64_t resets_at, int64_t now_unix_ms, char out[RESET_SIZE])
{
	time_t at = (time_t)resets_at, now = (time_t)(now_unix_ms / 1000);
	struct tm reset, today;
	char date[16], clock[16];
	out[0] = '\0';
	if (!localtime_r(&at, &reset) || !localtime_r(&now, &today))
		return;
	strftime(clock, sizeof(clock), "%-I:%M %p", &reset);
	if (reset.tm_year == today.tm_year && reset.tm_yday == today.tm_yday) {
		snprintf(out, RESET_SIZE, "%s", clock);
		return;
	}
	strftime(date, sizeof(date), "%b %-d", &reset);
	snprintf(out, RESET_SIZE, "%s%s, %lld %s", date, ordinal_suffix(reset.tm_mday), 1900LL + reset.tm_year, clock);
}

static void set_usage_limit(struct model_error *error, const struct json *json, int64_t now_unix_ms)
{
	char when[RESET_SIZE] = "", more[160];
	int64_t resets_at;
	if (json_to_i64(json_path(json, "error.resets_at"), &resets_at))
		format_reset(resets_at, now_unix_ms, when);
	snprintf(more, sizeof(more), " See https://chatgpt.com/codex/settings/usage, or try again %s%s.",
	         when[0] ? "at " : "later", when);
	model_error_set(error, MODEL_ERROR_usage_limit_reached, str_of(more));
}

/* retry-after-ms is more exact than Retry-After. */
static int64_t requested_delay_ms(const struct model_answer *answer)
{
	int64_t ms;
	if (str_to_i64(str_trim(answer->retry_after_ms), &ms) && ms >= 0)
		return ms < LIMIT_RETRY_AFTER_MS ? ms : LIMIT_RETRY_AFTER_MS;
	return model_backoff_after_ms(answer->retry_after, answer->now_unix_ms);
}

static enum model_error_kind kind_of_body(const struct json *json)
{
	struct model_refusal refusal;
	return model_error_read_refusal(json, &refusal) ? model_error_kind_of(&refusal) : MODEL_ERROR_none;
}

/* Sets the error for a request that the server refuses for good. Its body may say that the history is too long. */
static void set_refused(struct model_error *error, const struct model_answer *answer, const struct json *json)
{
	enum model_error_kind kind = kind_of_body(json);
	if (kind == MODEL_ERROR_context_window_exceeded || kind == MODEL_ERROR_quota_exceeded) {
		model_error_set(error, kind, STR_NONE);
		model_error_set_detail(error, body_message(json, answer));
	} else if (answer->status == 400) {
		struct str body = str_trim(answer->body);
		struct model_answer lenient = *answer;
		lenient.is_other_api |= body.len > QUOTED_BODY_MAX; /* it would be cut, and be no JSON then */
		model_error_set(error, MODEL_ERROR_invalid_request,
		                lenient.is_other_api ? body_message(json, &lenient) : body);
	} else {
		set_unexpected_status(error, answer, json);
	}
}

static void set_too_many_requests(struct model_error *error, const struct model_answer *answer, const struct json *json)
{
	struct str type = json_get_str(json_get(json, "error"), "type");
	if (str_is(type, "usage_limit_reached")) {
		set_usage_limit(error, json, answer->now_unix_ms);
		return;
	}
	if (str_is(type, "usage_not_included")) {
		model_error_set(error, MODEL_ERROR_usage_not_included, STR_NONE);
		return;
	}
	if (kind_of_body(json) == MODEL_ERROR_quota_exceeded) {
		model_error_set(error, MODEL_ERROR_quota_exceeded, STR_NONE);
		model_error_set_detail(error, body_message(json, answer));
		return;
	}
	auto_buf struct buf more;
	buf_init(&more, MODEL_ERROR_TEXT_MAX);
	append_status(&more, answer->status);
	append_named(&more, ", request id: ", answer->request_id);
	model_error_set(error, MODEL_ERROR_retry_limit, buf_str(&more));
	error->retry_after_ms = requested_delay_ms(answer);
	if (error->retry_after_ms < 0)
		error->retry_after_ms = model_backoff_message_ms(body_message(json, answer));
}

static bool is_about_previous(const struct json *failure)
{
	return str_is(json_get_str(failure, "code"), "previous_response_not_found") ||
	       str_is(json_get_str(failure, "param"), "previous_response_id");
}

/* True if a WebSocket has reached the age at which the server ends it. */
static bool is_about_socket(const struct json *failure)
{
	return str_is(json_get_str(failure, "code"), "websocket_connection_limit_reached");
}

/* True for a status that the same request would get again. */
static bool is_final(const struct model_answer *answer)
{
	for (size_t i = 0; i < countof(status_retry); i++) {
		if (status_retry[i].status == answer->status)
			return (answer->is_other_api ? status_retry[i].others : status_retry[i].responses) == FINAL;
	}
	return false;
}

void model_error_from_answer(struct model_error *error, const struct model_answer *answer)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, answer->body, NULL);
	switch (answer->status) {
	case 400:
	case 413:
	case 422:
		set_refused(error, answer, json);
		break;
	case 429:
		set_too_many_requests(error, answer, json);
		break;
	case 500:
		model_error_set(error, MODEL_ERROR_server_error, STR_NONE);
		model_error_set_detail(error, body_message(json, answer));
		break;
	default:
		set_unexpected_status(error, answer, json);
		if (answer->status == 503 || answer->status == 529)
			error->retry_after_ms = requested_delay_ms(answer);
	}
	error->http_status = answer->status;
	if (is_final(answer))
		error->is_retryable = false;
	error->lacks_response = is_about_previous(json_get(json, "error"));
	error->lacks_socket = is_about_socket(json_get(json, "error"));
}

/* ---- failures inside a stream ---- */

static const struct {
	const char *code;
	enum model_error_kind kind;
	bool says_message; /* append the server's message to the kind's text */
} failure_codes[] = {
	{"context_length_exceeded", MODEL_ERROR_context_window_exceeded, false},
	{"insufficient_quota", MODEL_ERROR_quota_exceeded, false},
	{"usage_not_included", MODEL_ERROR_usage_not_included, false},
	{"invalid_prompt", MODEL_ERROR_invalid_request, true},
	{"model_not_found", MODEL_ERROR_invalid_request, true},
	{"server_is_overloaded", MODEL_ERROR_overloaded, false},
	{"slow_down", MODEL_ERROR_rate_limited, true},
	{"rate_limit_exceeded", MODEL_ERROR_rate_limited, true},
};

void model_error_from_failure(struct model_error *error, const struct json *failure)
{
	struct str code = json_get_str(failure, "code"), message = json_get_str(failure, "message");
	if (!message.ptr && !json_to_str(failure, &message))
		message = STR("response.failed event received");
	for (size_t i = 0; i < countof(failure_codes); i++) {
		if (!str_is(code, failure_codes[i].code))
			continue;
		model_error_set(error, failure_codes[i].kind, failure_codes[i].says_message ? message : STR_NONE);
		if (error->kind == MODEL_ERROR_quota_exceeded)
			model_error_set_detail(error, json_get_str(failure, "message"));
		if (error->kind == MODEL_ERROR_rate_limited)
			error->retry_after_ms = model_backoff_message_ms(message);
		return;
	}
	model_error_set(error, MODEL_ERROR_stream_lost, message);
	error->lacks_response = is_about_previous(failure);
	error->lacks_socket = is_about_socket(failure);
}

/* ---- broken exchanges ---- */

void model_error_from_silence(struct model_error *error, uint64_t waited_ms)
{
	char detail[MODEL_ERROR_DETAIL_MAX];
	model_error_set(error, MODEL_ERROR_stream_lost, STR("idle timeout waiting for SSE"));
	snprintf(detail, sizeof(detail), "no event for %g s; if the server is that slow, raise stream_idle_timeout_ms",
	         (double)waited_ms / 1000);
	model_error_set_detail(error, str_of(detail));
}

void model_error_from_absence(struct model_error *error, const struct error *cause)
{
	model_error_set(error, MODEL_ERROR_not_started, STR("error sending request"));
	model_error_set_detail(error, str_of(cause->text));
}

void model_error_from_transport(struct model_error *error, const struct error *cause, bool has_head)
{
	switch (cause->code) {
	case ERR_connect:
	case ERR_timeout:
		model_error_set(error, MODEL_ERROR_connection_failed, STR("error sending request"));
		break;
	case ERR_transport:
	case ERR_io:
		model_error_set(error, MODEL_ERROR_stream_lost,
		                has_head ? STR("Transport error: network error: error decoding response body")
		                         : STR("error sending request"));
		break;
	case ERR_limit:
		model_error_set(error, MODEL_ERROR_stream_lost, str_of(cause->text));
		break;
	default:
		model_error_set(error, MODEL_ERROR_setup, str_of(cause->text));
	}
	if (str_find(str_of(error->text), str_of(cause->text)) < 0)
		model_error_set_detail(error, str_of(cause->text));
}

/* ---- text ---- */

static const char *advice_of(const struct model_error *error)
{
	for (size_t i = 0; i < countof(status_advice); i++) {
		if (status_advice[i].status == error->http_status)
			return status_advice[i].advice;
	}
	return kinds[error->kind].advice;
}

/* Appends advice with {provider}, {key} and {start} filled in. */
static void append_advice(struct buf *out, const char *advice, const struct model_place *place)
{
	struct str rest = str_of(advice);
	while (rest.len) {
		if (str_cut_prefix(&rest, "{provider}")) {
			append_cut(out, place->provider.len ? place->provider : STR("the model"), 64);
		} else if (str_cut_prefix(&rest, "{key}")) {
			append_cut(out, place->key.len ? place->key : STR("the provider's settings"), 64);
		} else if (str_cut_prefix(&rest, "{api}")) {
			append_cut(out, place->api.len ? place->api : STR("Responses API"), 64);
		} else if (str_cut_prefix(&rest, "{start}")) {
			append_cut(out, place->start.len ? place->start : STR("start it"), 128);
		} else {
			buf_append_char(out, rest.ptr[0]);
			rest = str_skip(rest, 1);
		}
	}
}

void model_error_advise(struct model_error *error, const struct model_place *place)
{
	auto_buf struct buf out;
	buf_init(&out, MODEL_ERROR_ADVICE_MAX);
	const char *advice = advice_of(error);
	if (place->url.len && str_find(str_of(error->text), place->url) < 0) {
		buf_append_c(&out, "POST ");
		append_cut(&out, place->url, 256);
	}
	if (error->kind == MODEL_ERROR_invalid_request && error->http_status)
		buf_printf(&out, "%sstatus %d", out.len ? ": " : "", error->http_status);
	if (error->detail[0]) {
		struct str detail = str_of(error->detail);
		detail.len -= *advice && str_has_suffix(detail, ".");
		buf_append_c(&out, out.len ? ": " : "");
		buf_append_str(&out, detail);
	}
	if (*advice) {
		buf_append_c(&out, out.len ? "; " : "");
		append_advice(&out, advice, place);
	}
	memcpy(error->advice, buf_str(&out).ptr, out.len + 1);
}

void model_error_write(const struct model_error *error, struct buf *out)
{
	size_t advice = strlen(error->advice), around = advice ? strlen(" ()") : 0;
	struct str text = str_of(error->text);
	text.len = text_floor_boundary(text, MODEL_ERROR_TEXT_MAX - advice - around);
	buf_append_str(out, text);
	if (advice)
		buf_printf(out, text.len ? " (%s)" : "(%s)", error->advice);
}

static void write_status_info(struct buf *out, const char *wire, int status)
{
	char number[16] = "null";
	if (status)
		snprintf(number, sizeof(number), "%d", status);
	buf_printf(out, "{\"%s\":{\"http_status_code\":%s}}", wire, number);
}

void model_error_write_info(const struct model_error *error, struct buf *out)
{
	const struct kind_row *row = &kinds[error->kind];
	if (row->form == STATUS)
		write_status_info(out, row->wire, error->http_status);
	else
		buf_printf(out, "\"%s\"", row->wire);
}

void model_error_write_retry_info(const struct model_error *error, struct buf *out)
{
	bool says_status = kinds[error->kind].form == STATUS;
	write_status_info(out, "response_stream_disconnected", says_status ? error->http_status : 0);
}
