/* Bytes that were never sent are joined to one request. A request that was sent once keeps its bytes and its number, so
 * that the server recognizes it. */
#include "remote/remote_input.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "remote/exec_link.h"

int remote_input_add(struct remote_input *input, struct str bytes, struct error *err)
{
	size_t count = input->writes.count;
	if (bytes.len > LIMIT_EXEC_STDIN - input->pending)
		return error_set(err, ERR_busy, "the command does not read its input: %zu bytes are already pending",
		                 input->pending);
	if (!count || input->writes.items[count - 1].number) {
		struct remote_write fresh = {0};
		buf_init(&fresh.bytes, LIMIT_EXEC_STDIN);
		vec_push(&input->writes, fresh);
		count++;
	}
	buf_append_str(&input->writes.items[count - 1].bytes, bytes);
	input->pending += bytes.len;
	return 0;
}

void remote_input_send(struct remote_input *input, struct exec_link *link, const char *process)
{
	auto_buf struct buf params;
	buf_init(&params, 2 * LIMIT_EXEC_STDIN + LIMIT_LINE);
	vec_for_each(it, &input->writes) {
		if (it->id)
			continue;
		if (!it->number)
			it->number = ++input->count;
		buf_clear(&params);
		buf_printf(&params, "{\"processId\":\"%s\",\"chunk\":\"", process);
		text_base64(&params, it->bytes.data, it->bytes.len);
		buf_printf(&params, "\",\"writeId\":\"%u\"}", it->number);
		it->id = exec_link_request(link, "process/write", buf_str(&params));
	}
}

void remote_input_answer(struct remote_input *input, int64_t id)
{
	for (size_t i = 0; i < input->writes.count; i++) {
		struct remote_write *it = &input->writes.items[i];
		if (it->id != id)
			continue;
		input->pending -= it->bytes.len;
		buf_finish(&it->bytes);
		memmove(it, it + 1, (--input->writes.count - i) * sizeof(*it));
		return;
	}
}

void remote_input_lose(struct remote_input *input)
{
	vec_for_each(it, &input->writes)
		it->id = 0;
}

void remote_input_finish(struct remote_input *input)
{
	vec_for_each(it, &input->writes)
		buf_finish(&it->bytes);
	vec_finish(&input->writes);
}

/* ---- other requests ---- */

int64_t remote_request_read(struct exec_link *link, const char *process, int64_t after)
{
	auto_buf struct buf params;
	buf_init(&params, LIMIT_LINE);
	buf_printf(&params, "{\"processId\":\"%s\",\"afterSeq\":%lld,\"maxBytes\":%d,\"waitMs\":0}", process,
	           (long long)after, LIMIT_ENVIRONMENT_MISSED);
	return exec_link_request(link, "process/read", buf_str(&params));
}

void remote_request_end(struct exec_link *link, const char *process)
{
	auto_buf struct buf params;
	buf_init(&params, LIMIT_LINE);
	buf_printf(&params, "{\"processId\":\"%s\"}", process);
	exec_link_request(link, "process/terminate", buf_str(&params));
}
