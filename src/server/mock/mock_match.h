/* mock_match.h — a condition on one request: the script's "when" and "expect".
 *
 * Borrows: the JSON it was parsed from. Thread: any, one at a time. An all-zero match holds for every request.
 * A path is "input.-1.output": members and indices, negative ones from the end, * for any child. */
#ifndef SERVER_MOCK_MATCH_H
#define SERVER_MOCK_MATCH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct http_head;
struct json;

struct mock_match {
	/* Private; each member is NULL or was checked by mock_match_parse. */
	const struct json *contains;
	const struct json *lacks;
	const struct json *path;
	const struct json *equal;
	const struct json *header;
};

/* The request that a condition is applied to; borrowed. */
enum mock_api { MOCK_RESPONSES, MOCK_CHAT, MOCK_MESSAGES };

struct mock_request {
	enum mock_api api;
	const struct http_head *head;
	struct str body;
	const struct json *json; /* the parsed body */
};

must_check int mock_match_parse(struct mock_match *match, const struct json *node, struct error *err);
/* True if the request matches; else false, and err describes the difference. */
must_check bool mock_match_check(const struct mock_match *match, const struct mock_request *request, struct error *err);

/* Returns the first node at path whose text contains needle (decoded for strings), or NULL. */
const struct json *mock_path_find(const struct json *root, struct str path, struct str needle);

#endif
