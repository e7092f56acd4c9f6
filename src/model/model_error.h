/* model_error.h — why a call to the model failed, for users, for programs and for retries.
 *
 * Owns: nothing; an error is a plain value, and setting one leaves no allocation. Thread: any.
 * Texts begin like those of codex 0.169, because clients match them; the error that ends a task (model_error_write)
 * adds the URL and advice. */
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
#define STATUS_RETRY(status, responses, others)
#include "model/model_error.def"
#undef MODEL_ERROR
#undef STATUS_ADVICE
#undef STATUS_RETRY
	MODEL_ERROR_count
};

/* Limits of the displayed text: 2 KiB including the advice. */
enum { MODEL_ERROR_TEXT_MAX = 2048, MODEL_ERROR_DETAIL_MAX = 200, MODEL_ERROR_ADVICE_MAX = 768 };

struct model_error {
	enum model_error_kind kind;              /* MODEL_ERROR_none: no error */
	int http_status;                         /* 0: no response */
	bool is_retryable;                       /* a retry of the turn may succeed */
	bool lacks_response;                     /* the server does not know the request's previous_response_id */
	bool lacks_socket;                       /* the server wants a new WebSocket */
	int64_t retry_after_ms;                  /* delay that the server requested; -1: none */
	char text[MODEL_ERROR_TEXT_MAX + 1];     /* what happened; also the detail of a retry notice */
	char detail[MODEL_ERROR_DETAIL_MAX + 1]; /* the message of the server or the system, unless it is in text */
	char advice[MODEL_ERROR_ADVICE_MAX + 1]; /* the URL, and what to do next */
};

/* Sets kind and text: the kind's text followed by `more`, truncated. */
void model_error_set(struct model_error *error, enum model_error_kind kind, struct str more);

/* A response with a status other than 2xx. Slices may be STR_NONE. */
struct model_answer {
	int status;
	struct str body;
	struct str retry_after; /* header values */
	struct str request_id;
	struct str cf_ray;
	struct str url;
	int64_t now_unix_ms;
	struct str retry_after_ms; /* header value */
	/* the API is not Responses: the message of a refused request is quoted, not its whole body, and fewer
	 * statuses are worth a retry */
	bool is_other_api;
};
void model_error_from_answer(struct model_error *error, const struct model_answer *answer);

/* Sets the error from the `error` object of response.failed or of an `error` event; NULL if it is missing. */
void model_error_from_failure(struct model_error *error, const struct json *failure);

/* A failure as servers of other APIs describe it. Slices may be STR_NONE. */
struct model_refusal {
	int status;      /* HTTP, or a number given as the code; 0: unknown */
	struct str type; /* words such as "overloaded_error" or "insufficient_quota" */
	struct str code;
	struct str message;
};
/* Sets the error for a failure in a stream; one that may be temporary is retryable. */
void model_error_from_refusal(struct model_error *error, const struct model_refusal *refusal);
/* Reads a refusal from JSON: {"error":{…}}, {"error":"…"}, or {"object":"error","message":…}. False for other JSON. */
bool model_error_read_refusal(const struct json *root, struct model_refusal *ret_refusal);

/* Sets a transport failure before or after the head of the response. */
void model_error_from_transport(struct model_error *error, const struct error *cause, bool has_head);
/* Sets the error for a local server that cannot be reached; the advice is to start it. */
void model_error_from_absence(struct model_error *error, const struct error *cause);
/* Sets the error for an exchange that was cancelled because no event arrived for waited_ms. */
void model_error_from_silence(struct model_error *error, uint64_t waited_ms);

/* The destination of a call; slices may be STR_NONE. */
struct model_place {
	struct str url;
	struct str provider; /* the provider's name */
	struct str key;      /* the source of the key: "OPENAI_API_KEY", … */
	struct str start;    /* explains how to start the server */
	struct str api;      /* the API that the server should speak */
};
/* Writes the advice. Call it when kind, status and detail are set. */
void model_error_advise(struct model_error *error, const struct model_place *place);

/* Writes the text of the error that ends a task: "<text> (POST <url>: <detail>; <advice>)", at most
 * MODEL_ERROR_TEXT_MAX bytes. */
void model_error_write(const struct model_error *error, struct buf *out);
/* Writes CodexErrorInfo as JSON, in the words of protocol v1. */
void model_error_write_info(const struct model_error *error, struct buf *out);
/* As model_error_write_info, for the event that reports a retry of the turn. */
void model_error_write_retry_info(const struct model_error *error, struct buf *out);

#endif
