/* rpc_error.h — an error response as a value: code, message and data.
 *
 * A function that checks a request returns an error or NULL and answers nothing:
 * 	const struct rpc_error *error = check_length(request, input);
 * 	if (error)
 * 		return rpc_refuse(request, error);
 * Only rpc_refuse (rpc_request.h) turns an error into a response. An error lives in an arena, usually that of its
 * request. A message longer than LIMIT_RPC_ERROR is truncated. Any thread. */
#ifndef APP_SERVER_RPC_ERROR_H
#define APP_SERVER_RPC_ERROR_H

#include <stdarg.h>

#include "base/error.h"
#include "base/str.h"
#include "protocol/message/app.h"

struct arena;

struct rpc_error {
	enum app_error_code code;
	struct str message;
	struct str data; /* JSON text, or STR_NONE */
};

must_check const struct rpc_error *rpc_error(struct arena *arena, enum app_error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4), returns_nonnull));
must_check const struct rpc_error *rpc_error_format(struct arena *arena, enum app_error_code code, const char *format,
                                                    va_list args) __attribute__((returns_nonnull));
/* Copies data, which is JSON text. */
must_check const struct rpc_error *rpc_error_data(struct arena *arena, enum app_error_code code, struct str data,
                                                  const char *format, ...)
	__attribute__((format(printf, 4, 5), returns_nonnull));
/* Returns an error with the text of err: APP_INTERNAL_ERROR if the system failed, else APP_INVALID_REQUEST. */
must_check const struct rpc_error *rpc_error_from(struct arena *arena, const struct error *err)
	__attribute__((returns_nonnull));
/* The words of the system, as codex 0.169 has them: "no such file … (os error 2)", after `what` and a colon unless it
 * is NULL. As rpc_error_from if err is no failure of the system. */
must_check const struct rpc_error *rpc_error_from_system(struct arena *arena, const char *what, const struct error *err)
	__attribute__((returns_nonnull));
/* Returns the error of a failed submission: APP_OVERLOADED if the submission queue is full, else as rpc_error_from. */
must_check const struct rpc_error *rpc_error_from_submit(struct arena *arena, const struct error *err)
	__attribute__((returns_nonnull));
/* Returns an error that gives the position of the mistake in an id that is not a UUID. kind: "thread" or "session". */
must_check const struct rpc_error *rpc_error_bad_id(struct arena *arena, enum app_error_code code, const char *kind,
                                                    struct str id) __attribute__((returns_nonnull));

#endif
