/* error.h — errors as values; each caller may add context.
 *
 * The caller owns a `struct error` and passes it last; NULL means that it does not need the text.
 * Functions return 0 or a negative code (pointers: NULL), so that
 *     return error_set(err, ERR_invalid, "…");
 *     return error_wrap(err, "reading %s", path);
 * are whole statements. Control characters of a text, except line ends and tabs, are made visible (^[).
 * Errors are printed in ui/, server/ and main/ only. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>

/* For functions that can fail: the compiler rejects a call that ignores the result. A call whose failure is
 * harmless, or is kept in *err for later, is marked best_effort(call). */
#define must_check __attribute__((warn_unused_result))
#define best_effort(call) ((void)!(call))

enum error_code {
	ERR_none,
#define ERROR(name, exit_code, text) ERR_##name,
#include "base/error_code.def"
#undef ERROR
	ERR_count
};

enum { ERROR_TEXT_MAX = 1024 };

struct error {
	enum error_code code;
	int sys;                   /* errno that caused it, or 0 */
	char text[ERROR_TEXT_MAX]; /* NUL-terminated; longer texts are truncated */
};

/* Fills err and returns -code. */
int error_set(struct error *err, enum error_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Fills err from errno value `sys`: text is "<format>: <strerror>", code follows from sys. */
int error_sys(struct error *err, int sys, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prepends "<format>: " to the text. Returns -err->code (-ERR_internal if err is NULL). */
int error_wrap(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Maps errno to a code. */
enum error_code error_code_of(int sys);

/* Returns the exit status of a process that fails with this code. */
int error_exit_status(enum error_code code);

#endif
