/* app_message.h — the messages of the app-server's tables in one form: what goes which way, for whom writes them down
 * in another language. Owns nothing. Thread: any. */
#ifndef PROTOCOL_APP_MESSAGE_H
#define PROTOCOL_APP_MESSAGE_H

#include "base/str.h"
#include "protocol/record/type_set.h"

struct error;

enum app_message_kind {
	MESSAGE_client_request,
	MESSAGE_client_notification,
	MESSAGE_server_request,
	MESSAGE_server_notification,
	MESSAGE_kind_count
};

struct app_message {
	const char *wire;
	const struct record *params; /* NULL: none */
	const struct record *result; /* NULL: a notification */
	bool is_optional;            /* params may be absent */
	bool is_experimental;
	const char *doc;
};

/* "ClientRequest", … */
const char *app_message_kind_name(enum app_message_kind kind);
bool app_message_has_id(enum app_message_kind kind);
size_t app_message_count(enum app_message_kind kind);
struct app_message app_message_get(enum app_message_kind kind, size_t index);
/* Takes one finished file of such a language; path is relative to the folder of them all. */
typedef int (*app_message_file_fn)(const char *path, struct str text, struct error *err, void *self);

/* Adds the params, and the results if wanted, of all messages of a kind that the set shows. */
void app_message_add_types(enum app_message_kind kind, bool has_results, struct type_set *set);

#endif
