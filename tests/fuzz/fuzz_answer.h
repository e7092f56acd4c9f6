/* fuzz_answer.h — an answer of any bytes, on any wire, ends in an outcome, and an error in texts that a UI can show and
 * that do not quote the key. The input is a whole HTTP answer, head and body, ended by a close or (first byte odd) by a
 * break. */
#ifndef FUZZ_ANSWER_H
#define FUZZ_ANSWER_H

#include "fuzz.h"

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "config/model_provider.h"
#include "model/model_exchange.h"
#include "model/model_secrets.h"
#include "net/http_head.h"
#include "protocol/record/types.h"

#define KEY "sk-fuzz-4b1d"

static void on_event(const struct response_event *event, void *self)
{
	size_t *events = self;
	++*events;
	fuzz_check(event->type < RESPONSE_count);
	fuzz_check(text_is_utf8(event->text) || event->type == RESPONSE_turn_state);
	if (event->limits && event->limits->credits)
		fuzz_check(text_is_utf8(event->limits->credits->balance));
	if (event->type == RESPONSE_item_done)
		fuzz_check(event->item && event->item->span.len >= 2);
	if (event->usage)
		fuzz_check(event->usage->input_tokens >= 0 && event->usage->total_tokens >= 0);
}

static void check_json(void (*write)(const struct model_error *, struct buf *), const struct model_error *error)
{
	auto_buf struct buf text;
	auto_arena struct arena arena = {0};
	buf_init(&text, 64 * 1024);
	write(error, &text);
	fuzz_check(json_parse(&arena, buf_str(&text), NULL) != NULL);
}

static void check_error(struct model_error *error, const struct model_secrets *secrets)
{
	static const struct model_place place = {{"http://h/v1/responses", 21}, {"p", 1}, {"KEY", 3}};
	auto_buf struct buf text;
	buf_init(&text, 64 * 1024);
	fuzz_check(error->kind != MODEL_ERROR_none && error->kind < MODEL_ERROR_count);
	model_secrets_mask(secrets, error->text, MODEL_ERROR_TEXT_MAX);
	model_secrets_mask(secrets, error->detail, MODEL_ERROR_DETAIL_MAX);
	model_error_advise(error, &place);
	model_error_write(error, &text);
	fuzz_check(str_find(buf_str(&text), STR(KEY)) < 0);
	fuzz_check(text.len && text.len <= MODEL_ERROR_TEXT_MAX && text_is_utf8(buf_str(&text)));
	check_json(model_error_write_info, error);
	check_json(model_error_write_retry_info, error);
}

static void end_answer(struct model_exchange *exchange, const struct error *cause)
{
	struct model_error error;
	if (model_exchange_end(exchange, cause, STR("http://h/v1/responses"), &error) != MODEL_OUTCOME_completed)
		check_error(&error, exchange->secrets);
}

/* The start of the body, or the whole length. */
static size_t head_length(struct str input)
{
	ptrdiff_t end = str_find(input, STR("\r\n\r\n"));
	return end < 0 ? input.len : (size_t)end + 4;
}

static void feed_answer(struct model_exchange *exchange, struct str input, const struct error *cause)
{
	struct http_head head;
	struct error err;
	size_t length = head_length(input);
	bool has_head = http_head_parse_answer(&head, str_n(input.ptr, length));
	if (has_head)
		model_exchange_head(exchange, head.status, &head);
	http_head_finish(&head);
	if (has_head && !model_exchange_data(exchange, str_skip(input, length), &err))
		cause = &err;
	end_answer(exchange, cause);
}

typedef void (*feed_fn)(struct model_exchange *exchange, struct str input, const struct error *cause);

/* feed: reads the input and ends the answer; cause: with this error, or NULL. */
static void fuzz_answer_by(const uint8_t *data, size_t size, enum wire_api wire, feed_fn feed)
{
	static const struct model_provider provider = {.authorization = "Authorization: Bearer " KEY};
	struct model_request request = {.wire = wire};
	struct model_secrets secrets;
	struct model_exchange exchange;
	struct error broken;
	size_t events = 0;
	if (size == 0)
		return;
	model_secrets_init(&secrets, &provider);
	error_set(&broken, ERR_transport, "the connection was lost");
	model_exchange_init(&exchange, &request, &secrets, on_event, &events);
	feed(&exchange, str_n((const char *)data + 1, size - 1), data[0] & 1 ? &broken : NULL);
	model_exchange_finish(&exchange);
	model_secrets_finish(&secrets);
}

static inline void fuzz_answer(const uint8_t *data, size_t size, enum wire_api wire)
{
	fuzz_answer_by(data, size, wire, feed_answer);
}

#endif
