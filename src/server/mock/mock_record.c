/* Lines are written synchronously in the loop's thread: an append to a local file takes microseconds, and the line must
 * be in the file before the response is sent. */
#include "server/mock/mock_record.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_head.h"
#include "server/mock/mock_match.h"

struct mock_record {
	int fd;
};

struct mock_record *mock_record_create(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0) {
		error_sys(err, errno, "cannot write %s", path);
		return NULL;
	}
	struct mock_record *record = xnew(struct mock_record);
	record->fd = fd;
	return record;
}

void mock_record_destroy(struct mock_record *record)
{
	if (!record)
		return;
	close(record->fd);
	free(record);
}

static bool is_secret(struct str name)
{
	static const char *const names[] = {"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie"};
	for (size_t i = 0; i < countof(names); i++)
		if (str_equal_fold(name, str_of(names[i])))
			return true;
	return false;
}

/* "Bearer sk-…" becomes "Bearer ***", so that tests can assert the presence and the kind of a key. */
static void write_masked(struct json_writer *w, struct str value)
{
	ptrdiff_t blank = str_find_char(value, ' ');
	jw_strf(w, "%.*s***", (int)(blank < 0 || blank > 32 ? 0 : blank + 1), value.ptr);
}

static void write_headers(struct json_writer *w, const struct http_head *head)
{
	char name[256];
	jw_key(w, "headers");
	jw_object(w);
	vec_for_each(header, &head->headers) {
		size_t len = header->name.len < sizeof(name) ? header->name.len : sizeof(name);
		for (size_t i = 0; i < len; i++)
			name[i] = header->name.ptr[i] >= 'A' && header->name.ptr[i] <= 'Z'
			                  ? (char)(header->name.ptr[i] | 0x20)
			                  : header->name.ptr[i];
		jw_key_str(w, str_n(name, len));
		if (is_secret(header->name))
			write_masked(w, header->value);
		else
			jw_str(w, header->value);
	}
	jw_object_end(w);
}

/* JSON is written on one line: line ends outside of its strings are white space, and strings contain none. */
static void write_body(struct json_writer *w, const struct mock_request *request)
{
	jw_key(w, "body");
	if (!request->json) {
		jw_str(w, request->body);
		return;
	}
	size_t from = w->out->len;
	jw_value(w, request->json);
	for (char *at = w->out->data + from; at < w->out->data + w->out->len; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
}

int mock_record_write(struct mock_record *record, uint64_t number, const struct mock_request *request, uint64_t at_ms,
                      struct error *err)
{
	auto_buf struct buf line;
	buf_init(&line, 2 * (size_t)LIMIT_HTTP_SERVER_BODY);
	struct json_writer w = json_writer(&line);
	jw_object(&w);
	jw_key(&w, "n");
	if (number)
		jw_u64(&w, number);
	else
		jw_null(&w);
	jw_member_i64(&w, "at_ms", (int64_t)at_ms);
	jw_member_str(&w, "method", request->head->method);
	jw_member_str(&w, "path", request->head->target);
	write_headers(&w, request->head);
	write_body(&w, request);
	jw_object_end(&w);
	buf_append_char(&line, '\n');
	if (line.over)
		return error_set(err, ERR_limit, "request %llu is too large to be recorded",
		                 (unsigned long long)number);
	return fd_write_all(record->fd, line.data, line.len, err);
}
