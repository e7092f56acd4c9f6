/* model_error.h — why a call to the model failed, for people, for programs and for the retry.
 *
 * Owns: nothing outside itself; an error is a plain value, setting one never allocates for good. Thread: any.
 * Texts begin as the reference's do, because clients look for them; the error that ends a task (model_error_write)
 * goes on to say which URL was tried and what to do next. Source: app-server-wire 14; core 1.7 to 1.9. */
#ifndef MODEL_MODEL_ERROR_H
#define MODEL_MODEL_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct error;
struct json;

enum model_error_kind {
#define MODEL_ERROR(kind, wire, form, retry, text, advice) MODEL_ERROR_##kind,
#define STATUS_ADVICE(status, advice)
#include "model/model_error.def"
#undef MODEL_ERROR
#undef STATUS_ADVICE
	MODEL_ERROR_count
};

/* What is shown of an error, with its advice: core 1.9 caps it at 2 KiB. */
enum { MODEL_ERROR_TEXT_MAX = 2048, MODEL_ERROR_DETAIL_MAX = 200, MODEL_ERROR_ADVICE_MAX = 768 };

struct model_error {
	enum model_error_kind kind;              /* MODEL_ERROR_none: no error */
	int http_status;                         /* 0: there was none */
	bool is_retryable;                       /* another attempt of the same turn may succeed */
	bool lacks_response;                     /* the server does not have the request's previous_response_id */
	int64_t retry_after_ms;                  /* how long the server asked to wait; -1: it did not */
	char text[MODEL_ERROR_TEXT_MAX + 1];     /* what happened; also the detail of a retry notice */
	char detail[MODEL_ERROR_DETAIL_MAX + 1]; /* the server's or the system's own words, if text hides them */
	char advice[MODEL_ERROR_ADVICE_MAX + 1]; /* where, and what to do next */
};

/* Sets kind and text: the kind's own words, then `more`, cut to fit. */
void model_error_set(struct model_error *error, enum model_error_kind kind, struct str more);

/* An answer that is not 2xx. Slices may be absent. */
struct model_answer {
	int status;
	struct str body;
	struct str retry_after; /* header values */
	struct str request_id;
	struct str cf_ray;
	struct str url;
	int64_t now_unix_ms;
};
void model_error_from_answer(struct model_error *error, const struct model_answer *answer);

/* The `error` object of response.failed, of an `error` event, or NULL. */
void model_error_from_failure(struct model_error *error, const struct json *failure);

/* An exchange that broke off: before the head of an answer, or after it. */
void model_error_from_transport(struct model_error *error, const struct error *cause, bool has_head);
/* A server of this machine that cannot be reached: only starting it helps. */
void model_error_from_absence(struct model_error *error, const struct error *cause);
/* An exchange given up because no event came for so long. */
void model_error_from_silence(struct model_error *error, uint64_t waited_ms);

/* Whom the call went to; slices may be absent. */
struct model_place {
	struct str url;
	struct str provider; /* its name */
	struct str key;      /* "OPENAI_API_KEY", … */
	struct str start;    /* how its server is started */
};
/* Writes the advice; call it when kind, status and detail are set. */
void model_error_advise(struct model_error *error, const struct model_place *place);

/* The text of the error that ends a task: "<text> (POST <url>: <detail>; <advice>)", at most MODEL_ERROR_TEXT_MAX
 * bytes. */
void model_error_write(const struct model_error *error, struct buf *out);
/* CodexErrorInfo as JSON, in the words of protocol v1. */
void model_error_write_info(const struct model_error *error, struct buf *out);
/* The same for the notice that says the turn is retried. */
void model_error_write_retry_info(const struct model_error *error, struct buf *out);

/* "10:26 PM" on the same local day, else "Nov 21st, 2026 10:26 PM". */
enum { MODEL_RESET_SIZE = 40 };
void model_error_format_reset(int64_t resets_at, int64_t now_unix_ms, char out[MODEL_RESET_SIZE]);

#endif
