/* app_message.h — all messages of the app-server in one form, for the generators of schemas and types. */
#ifndef PROTOCOL_APP_MESSAGE_H
#define PROTOCOL_APP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct error;
struct record;
struct type_set;

enum app_message_kind {
	MESSAGE_client_request,
	MESSAGE_client_notification,
	MESSAGE_server_request,
	MESSAGE_server_notification,
	MESSAGE_kind_count
};

struct app_message {
	const char *wire;
	const struct record *params; /* NULL: no parameters */
	const struct record *result; /* NULL: a notification */
	bool is_optional;            /* params may be absent */
	bool is_experimental;
	const char *doc;
};

/* Returns "ClientRequest", …. */
const char *app_message_kind_name(enum app_message_kind kind);
bool app_message_has_id(enum app_message_kind kind);
size_t app_message_count(enum app_message_kind kind);
struct app_message app_message_get(enum app_message_kind kind, size_t index);
/* Receives one generated file; path is relative to the output folder. */
typedef int (*app_message_file_fn)(const char *path, struct str text, struct error *err, void *self);

/* Adds the parameter types, and with has_results the result types, of all messages of a kind that the set includes. */
void app_message_add_types(enum app_message_kind kind, bool has_results, struct type_set *set);

#endif
