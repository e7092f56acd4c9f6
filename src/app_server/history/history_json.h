/* history_json.h — the turns of a thread as JSON text, made on a worker for a response that is too large to be encoded
 * on the loop.
 *
 * Owns: the text. Any thread, one at a time. */
#ifndef APP_SERVER_HISTORY_JSON_H
#define APP_SERVER_HISTORY_JSON_H

#include <stdbool.h>

#include "app_server/history/thread_history.h"
#include "base/buf.h"

struct error;

struct history_json {
	struct buf text; /* the turns, separated by commas */
	/* private */
	size_t *ends; /* in text, of each turn; in the arena */
	size_t count;
};

/* Encodes all turns. Zeroed or finished before. */
void history_json_write(const struct thread_history *history, struct arena *arena, struct history_json *ret);
/* ERR_limit if the text is larger than LIMIT_RPC_LIST: nothing of it can be sent. */
int history_json_check(const struct history_json *json, struct error *err);
/* Encodes the turn at index of the history again. Fast if it is the last one. */
void history_json_replace(struct history_json *json, size_t index, const struct app_turn *turn);
void history_json_finish(struct history_json *json); /* a zeroed one is fine */

#endif
