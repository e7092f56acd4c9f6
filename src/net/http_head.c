/* Two parsers for two kinds of peers: requests come from any program that finds the port and are parsed strictly;
 * answers have passed through libcurl, which refuses malformed ones. */
#include "net/http_head.h"

#include <ctype.h>

static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_token_char(s.ptr[i]))
			return false;
	return s.len > 0;
}

static bool is_value_char(char c)
{
	return ((unsigned char)c >= 0x20 && c != 0x7f) || c == '\t';
}

static bool is_value(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_value_char(s.ptr[i]))
			return false;
	return true;
}

static bool is_target(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] <= 0x20 || s.ptr[i] == 0x7f)
			return false;
	return s.len > 0;
}

bool http_header_parse(struct str line, struct http_header *ret_header)
{
	size_t len = 0;
	while (len < line.len && is_token_char(line.ptr[len]))
		len++;
	*ret_header = (struct http_header){.name = str_n(line.ptr, len)};
	if (len == 0 || len == line.len || line.ptr[len] != ':' || !is_value(line))
		return false;
	ret_header->value = str_trim(str_skip(line, len + 1));
	return true;
}

bool http_line_is(struct str line)
{
	struct http_header header;
	struct str method, target;
	if (http_header_parse(line, &header) || str_has_prefix(line, "HTTP/"))
		return true;
	return str_next_part(&line, ' ', &method) && is_token(method) && str_next_part(&line, ' ', &target) &&
	       str_has_prefix(line, "HTTP/");
}

/* Cuts a line that ends with CRLF off *rest. */
static bool next_crlf_line(struct str *rest, struct str *ret_line)
{
	ptrdiff_t end = str_find_char(*rest, '\n');
	if (end < 1 || rest->ptr[end - 1] != '\r')
		return false;
	*ret_line = str_n(rest->ptr, (size_t)end - 1);
	*rest = str_skip(*rest, (size_t)end + 1);
	return true;
}

static int parse_request_line(struct http_head *head, struct str line)
{
	if (!str_next_part(&line, ' ', &head->method) || !is_token(head->method))
		return 400;
	if (!str_next_part(&line, ' ', &head->target) || !is_target(head->target))
		return 400;
	head->is_http_1_0 = str_is(line, "HTTP/1.0");
	if (head->is_http_1_0 || str_is(line, "HTTP/1.1"))
		return 0;
	return str_has_prefix(line, "HTTP/") ? 505 : 400;
}

int http_head_parse_request(struct http_head *head, struct str bytes)
{
	*head = (struct http_head){0};
	struct str line;
	if (!next_crlf_line(&bytes, &line))
		return 400;
	int refused = parse_request_line(head, line);
	if (refused)
		return refused;
	while (next_crlf_line(&bytes, &line)) {
		if (line.len == 0)
			return bytes.len == 0 ? 0 : 400;
		struct http_header header;
		if (!http_header_parse(line, &header))
			return 400;
		vec_push(&head->headers, header);
	}
	return 400;
}

static bool parse_status_line(struct http_head *head, struct str line)
{
	struct str version, status;
	uint64_t number;
	if (!str_has_prefix(line, "HTTP/") || !str_next_part(&line, ' ', &version))
		return false;
	if (!str_next_part(&line, ' ', &status) || !str_to_u64(str_trim(status), &number) || number > 999)
		return false;
	head->status = (int)number;
	head->reason = line.ptr ? str_trim(line) : STR("");
	return true;
}

bool http_head_parse_answer(struct http_head *head, struct str bytes)
{
	*head = (struct http_head){0};
	struct str line;
	if (!str_next_line(&bytes, &line) || !parse_status_line(head, line))
		return false;
	while (str_next_line(&bytes, &line)) {
		struct http_header header;
		if (http_header_parse(str_trim_end(line), &header))
			vec_push(&head->headers, header);
	}
	return true;
}

struct str http_head_get(const struct http_head *head, const char *name)
{
	struct str want = str_of(name);
	vec_for_each(header, &head->headers)
		if (str_equal_fold(header->name, want))
			return header->value;
	return STR_NONE;
}

unsigned http_head_count(const struct http_head *head, const char *name)
{
	unsigned count = 0;
	vec_for_each(header, &head->headers)
		count += str_equal_fold(header->name, str_of(name));
	return count;
}

bool http_list_has(struct str list, const char *token)
{
	struct str part;
	while (str_next_part(&list, ',', &part))
		if (str_equal_fold(str_trim(part), str_of(token)))
			return true;
	return false;
}

bool http_head_has_token(const struct http_head *head, const char *name, const char *token)
{
	vec_for_each(header, &head->headers)
		if (str_equal_fold(header->name, str_of(name)) && http_list_has(header->value, token))
			return true;
	return false;
}

const char *http_status_reason(int status)
{
	switch (status) {
#define STATUS(number, text) \
	case number:         \
		return text;
#include "net/http_status.def"
#undef STATUS
	default:
		return "Unknown";
	}
}

void http_head_finish(struct http_head *head)
{
	vec_finish(&head->headers);
}
