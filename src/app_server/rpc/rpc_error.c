/* Messages quote texts of clients, which may be as long as a line, so LIMIT_RPC_ERROR bounds the response. */
#include "app_server/rpc/rpc_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

/* Truncates between characters. */
static struct str truncate_message(struct str text)
{
	size_t len = LIMIT_RPC_ERROR;
	if (text.len <= len)
		return text;
	while (len && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
		len--;
	return str_n(text.ptr, len);
}

static const struct rpc_error *create(struct arena *arena, enum app_error_code code, struct str data,
                                      const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = arena_alloc(arena, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, format, args);
	struct rpc_error *error = arena_new(arena, struct rpc_error);
	error->code = code;
	error->message = truncate_message(str_n(text, (size_t)len));
	error->data = data.ptr ? arena_str(arena, data) : STR_NONE;
	return error;
}

const struct rpc_error *rpc_error_format(struct arena *arena, enum app_error_code code, const char *format,
                                         va_list args)
{
	return create(arena, code, STR_NONE, format, args);
}

const struct rpc_error *rpc_error(struct arena *arena, enum app_error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const struct rpc_error *error = create(arena, code, STR_NONE, format, args);
	va_end(args);
	return error;
}

const struct rpc_error *rpc_error_data(struct arena *arena, enum app_error_code code, struct str data,
                                       const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const struct rpc_error *error = create(arena, code, data, format, args);
	va_end(args);
	return error;
}

const struct rpc_error *rpc_error_from(struct arena *arena, const struct error *err)
{
	bool is_system = err->sys || err->code == ERR_internal;
	return rpc_error(arena, is_system ? APP_INTERNAL_ERROR : APP_INVALID_REQUEST, "%s", err->text);
}

const struct rpc_error *rpc_error_from_system(struct arena *arena, const char *what, const struct error *err)
{
	if (!err->sys)
		return rpc_error_from(arena, err);
	return rpc_error(arena, APP_INTERNAL_ERROR, "%s%s%s (os error %d)", what ? what : "", what ? ": " : "",
	                 strerror(err->sys), err->sys);
}

const struct rpc_error *rpc_error_from_submit(struct arena *arena, const struct error *err)
{
	if (err->code == ERR_limit)
		return rpc_error(arena, APP_OVERLOADED, "Server overloaded; retry later.");
	return rpc_error_from(arena, err);
}

/* The error texts are those of codex 0.169. */
const struct rpc_error *rpc_error_bad_id(struct arena *arena, enum app_error_code code, const char *kind, struct str id)
{
	static const char digits[] = "0123456789abcdefABCDEF-";
	for (size_t i = 0; i < id.len; i++) {
		if (!id.ptr[i] || !strchr(digits, id.ptr[i]))
			return rpc_error(arena, code,
			                 "invalid %s id: invalid character: expected an optional prefix of "
			                 "`urn:uuid:` followed by [0-9a-fA-F-], found `%c` at %zu",
			                 kind, id.ptr[i] >= ' ' && id.ptr[i] <= '~' ? id.ptr[i] : '?', i + 1);
	}
	return rpc_error(arena, code, "invalid %s id: invalid length: expected length 32 for simple format, found %zu",
	                 kind, id.len);
}
