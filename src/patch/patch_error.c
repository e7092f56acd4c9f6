/* One failure has two texts on which clients depend: the model receives that of the library, and the apply_patch
 * program prints its own. Both are made here from one value. */
#include "patch/patch_error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "patch/patch_limits.h"

void patch_error_finish(struct patch_error *err)
{
	if (!err)
		return;
	buf_finish(&err->text);
	*err = (struct patch_error){0};
}

static void set(struct patch_error *err, enum error_code code, const char *format, va_list args)
{
	patch_error_finish(err);
	err->code = code;
	buf_init(&err->text, LIMIT_PATCH_ERROR);
	buf_vprintf(&err->text, format, args);
}

int patch_error_set(struct patch_error *err, enum error_code code, const char *format, ...)
{
	if (!err)
		return -(int)code;
	va_list args;
	va_start(args, format);
	set(err, code, format, args);
	va_end(args);
	return -(int)code;
}

int patch_error_sys(struct patch_error *err, int sys, const char *format, ...)
{
	enum error_code code = error_code_of(sys);
	if (!err)
		return -(int)code;
	va_list args;
	va_start(args, format);
	set(err, code, format, args);
	va_end(args);
	err->sys = sys;
	return -(int)code;
}

int patch_error_grammar(struct patch_error *err, size_t line, const char *format, ...)
{
	if (!err)
		return -(int)ERR_invalid;
	va_list args;
	va_start(args, format);
	set(err, ERR_invalid, format, args);
	va_end(args);
	err->is_grammar = true;
	err->line = line;
	return -(int)ERR_invalid;
}

int patch_error_add(struct patch_error *err, struct str text)
{
	if (!err)
		return -(int)ERR_invalid;
	buf_append_str(&err->text, text);
	return -(int)err->code;
}

static void append_cause(const struct patch_error *err, struct buf *out)
{
	if (err->sys && err->cause != PATCH_CAUSE_IN_TEXT)
		buf_printf(out, ": %s (os error %d)", strerror(err->sys), err->sys);
}

void patch_error_note(struct patch_error *err, const char *format, ...)
{
	if (!err)
		return;
	append_cause(err, &err->text);
	err->cause = PATCH_CAUSE_IN_TEXT;
	buf_append_char(&err->text, '\n');
	va_list args;
	va_start(args, format);
	buf_vprintf(&err->text, format, args);
	va_end(args);
}

void patch_error_for_model(const struct patch_error *err, struct buf *out)
{
	if (err->is_grammar && err->line)
		buf_printf(out, "invalid hunk at line %zu, ", err->line);
	else if (err->is_grammar)
		buf_append_c(out, "invalid patch: ");
	buf_append_str(out, buf_str(&err->text));
	append_cause(err, out);
}

/* True for causes that the path itself shows; the program has never printed them for a write or removal. */
static bool is_evident(int sys)
{
	return sys == ENOENT || sys == ENOTDIR || sys == EISDIR || sys == EEXIST;
}

void patch_error_for_terminal(const struct patch_error *err, struct buf *out)
{
	if (err->is_grammar && err->line)
		buf_printf(out, "Invalid patch hunk on line %zu: ", err->line);
	else if (err->is_grammar)
		buf_append_c(out, "Invalid patch: ");
	buf_append_str(out, buf_str(&err->text));
	if (err->cause == PATCH_CAUSE_IN_BOTH || !is_evident(err->sys))
		append_cause(err, out);
}
