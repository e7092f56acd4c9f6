/* Server reflection: a client without a .proto file asks which services there are and how their messages look. Each
 * request has one answer; one that cannot be served is answered by an error, and the stream continues. */
#include "base/limits.h"
#include "base/mem.h"
#include "server/grpc_descriptor.h"
#include "server/grpc_text.h"
#include "server/http_proto_priv.h"

static const struct {
	const struct str *text;
	const char *path;
} files[] = {
#define FILE(name, path) {&grpc_text_##name, path},
#include "server/grpc_files.def"
#undef FILE
};

/* Numbers of fields. */
enum { BY_NAME = 3, BY_SYMBOL = 4, LIST = 7 };                                       /* of the request */
enum { ORIGINAL = 2, DESCRIPTORS = 4, SERVICES = 6, ERROR = 7, CODE = 1, TEXT = 2 }; /* of the answer */

struct wanted {
	struct str name, symbol, list;
};

static void append_service(struct str name, void *self)
{
	auto_buf struct buf service;
	buf_init(&service, KIB);
	grpc_put_text(&service, 1, name);
	grpc_put_text(self, 1, buf_str(&service));
}

static void append_services(struct buf *out)
{
	auto_buf struct buf services;
	buf_init(&services, LIMIT_PROTO_FILE);
	for (size_t i = 0; i < countof(files); i++)
		grpc_list_services(*files[i].text, append_service, &services);
	grpc_put_text(out, SERVICES, buf_str(&services));
}

static void append_error(struct buf *out, enum grpc_status code, struct str text)
{
	auto_buf struct buf error;
	buf_init(&error, KIB);
	grpc_put_number(&error, CODE, code);
	grpc_put_text(&error, TEXT, text);
	grpc_put_text(out, ERROR, buf_str(&error));
}

static bool is_wanted(size_t i, const struct wanted *wanted)
{
	return wanted->name.ptr ? str_is(wanted->name, files[i].path) : grpc_declares(*files[i].text, wanted->symbol);
}

static void append_file(struct buf *out, const struct wanted *wanted)
{
	auto_buf struct buf file, answer;
	size_t i = 0;
	buf_init(&file, LIMIT_PROTO_FILE);
	buf_init(&answer, LIMIT_PROTO_FILE);
	while (i < countof(files) && !is_wanted(i, wanted))
		i++;
	if (i == countof(files)) {
		append_error(out, GRPC_NOT_FOUND, STR("there is no such file or symbol"));
		return;
	}
	grpc_describe(*files[i].text, files[i].path, &file);
	grpc_put_text(&answer, 1, buf_str(&file));
	grpc_put_text(out, DESCRIPTORS, buf_str(&answer));
}

void on_grpc_reflection(struct grpc_call *call, struct str message)
{
	struct wanted wanted = {STR_NONE, STR_NONE, STR_NONE};
	const struct grpc_field fields[] = {{BY_NAME, GRPC_TEXT, &wanted.name},
	                                    {BY_SYMBOL, GRPC_TEXT, &wanted.symbol},
	                                    {LIST, GRPC_TEXT, &wanted.list}};
	enum grpc_status status = grpc_read(message, fields, countof(fields));
	if (status != GRPC_OK)
		grpc_call_end(call, status, "the message cannot be decoded");
	else if (message.len > LIMIT_PROTO_FILE)
		grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED, "the request is too long");
	if (call->has_ended)
		return;
	size_t mark = grpc_begin(&call->out);
	grpc_put_text(&call->out, ORIGINAL, message);
	if (wanted.list.ptr)
		append_services(&call->out);
	else if (wanted.name.ptr || wanted.symbol.ptr)
		append_file(&call->out, &wanted);
	else
		append_error(&call->out, GRPC_UNIMPLEMENTED, STR("this request is not supported"));
	grpc_end(&call->out, mark);
	grpc_call_send(call);
}
