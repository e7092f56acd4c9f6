/* Errors are values of fixed size: setting one does not allocate, so it works when memory, disk or descriptors are
 * exhausted. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int exit_statuses[ERR_count] = {
	[ERR_none] = 0,
#define ERROR(name, exit_code, text) [ERR_##name] = exit_code,
#include "base/error_code.def"
#undef ERROR
};

/* Errors quote files, repositories and servers, and many are printed on a terminal: control characters, C1 included,
 * become visible (^[). */
static void show_controls(char text[ERROR_TEXT_MAX])
{
	char shown[ERROR_TEXT_MAX];
	size_t len = 0;
	for (const unsigned char *c = (const unsigned char *)text; *c && len < sizeof(shown) - 2; c++) {
		unsigned flip = 0x40;
		if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
			c++;
			flip = 0xc0;
		} else if ((*c >= ' ' && *c != 0x7f) || *c == '\n' || *c == '\t') {
			flip = 0;
		}
		if (flip)
			shown[len++] = '^';
		shown[len++] = (char)(*c ^ flip);
	}
	memcpy(text, shown, len);
	text[len] = '\0';
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
	if (!err)
		return -(int)code;
	err->code = code;
	err->sys = 0;
	va_list args;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	show_controls(err->text);
	return -(int)code;
}

enum error_code error_code_of(int sys)
{
	switch (sys) {
	case ENOENT:
	case ENOTDIR:
	case ESRCH:
		return ERR_not_found;
	case EEXIST:
		return ERR_exists;
	case EACCES:
	case EPERM:
	case EROFS:
		return ERR_denied;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return ERR_no_space;
	case EBUSY:
	case EAGAIN:
		return ERR_busy;
	case ETIMEDOUT:
		return ERR_timeout;
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return ERR_connect;
	default:
		return ERR_io;
	}
}

int error_sys(struct error *err, int sys, const char *format, ...)
{
	enum error_code code = error_code_of(sys);
	if (!err)
		return -(int)code;
	err->code = code;
	err->sys = sys;
	va_list args;
	va_start(args, format);
	int len = vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(err->text))
		snprintf(err->text + len, sizeof(err->text) - (size_t)len, ": %s", strerror(sys));
	show_controls(err->text);
	return -(int)code;
}

int error_wrap(struct error *err, const char *format, ...)
{
	if (!err)
		return -(int)ERR_internal;
	char text[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len >= 0 && (size_t)len < sizeof(text))
		snprintf(text + len, sizeof(text) - (size_t)len, ": %s", err->text);
	memcpy(err->text, text, sizeof(text));
	show_controls(err->text);
	return -(int)err->code;
}

int error_exit_status(enum error_code code)
{
	return code < ERR_count ? exit_statuses[code] : 1;
}
